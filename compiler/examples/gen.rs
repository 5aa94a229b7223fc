//! Development aid: compiles a specification and writes the generated crate.
fn main() {
    let mut a = std::env::args().skip(1);
    let t = std::time::Instant::now();
    let settings = isaforge_compiler::Settings::new(a.next().unwrap());
    match isaforge_compiler::compile(&settings) {
        Ok(c) => {
            eprintln!("{}", c.checked.diagnostics.render(&c.checked.sources, Default::default()));
            eprintln!("forms {} enums {} {:?}", c.checked.isa.forms.len(), c.checked.isa.enums.len(), t.elapsed());
            let slow: Vec<_> = c
                .tables
                .fast
                .quick
                .iter()
                .zip(c.tables.isa.forms)
                .filter(|(q, _)| q.value & !q.mask != 0)
                .map(|(_, f)| f.name.str)
                .collect();
            eprintln!(
                "not quick: {slow:?}; planes {} nodes {} branches {}",
                c.tables.fast.planes.len(),
                c.tables.isa.decoder.nodes.len(),
                c.tables.isa.decoder.branches.len()
            );
            let s = c.source(true).unwrap();
            eprintln!("{} lines {} bytes {:?}", s.lines().count(), s.len(), t.elapsed());
            if let Some(o) = a.next() {
                std::fs::write(o, s).unwrap()
            }
        }
        Err(f) => {
            eprintln!("{f}");
            std::process::exit(1)
        }
    }
}
