//! Regenerates `generated/` when it, and therefore the `isaforge` command, does not compile because the tables of
//! `isaforge-core` have changed: `cargo run -p isaforge-macros --example regenerate`. Otherwise use `isaforge gen
//! --all`.

use std::error::Error;
use std::fs;
use std::path::Path;

use isaforge_compiler::build::write_if_changed;
use isaforge_compiler::{Settings, compile};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in fs::read_dir(root.join("specs"))? {
        let spec = folder?.path().join("isa.yaml");
        if !spec.is_file() {
            continue;
        }
        let compiled = compile(&Settings::new(spec)).map_err(|failure| failure.to_string())?;
        let name = &compiled.checked.isa.name;
        let file = root.join("generated").join(name).join("src/lib.rs");
        let crate_name = format!("isaforge_{}", name.replace('-', "_"));
        write_if_changed(&file, &compiled.source(Some(&crate_name))?)?;
        if let Some(semantics) = compiled.semantics_source(&crate_name)? {
            write_if_changed(&file.with_file_name("semantics.rs"), &semantics)?;
        }
    }
    Ok(())
}
