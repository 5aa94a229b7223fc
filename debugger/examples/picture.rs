//! Draws the debugger at a stop: `cargo run -p isaforge-debugger --example picture > docs/debugger.svg`.

use std::fmt::Write as _;

use isaforge_analysis::Set;
use isaforge_core::Tables;
use isaforge_debugger::condition::Condition;
use isaforge_debugger::value::Format;
use isaforge_debugger::{FrontEnd, Listing, Resume, Session, Source, Stop, terminal};
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::{Launch, Memory};
use isaforge_valhall::{ISA, semantics::SEMANTICS};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// Each thread doubles 1.0 as many times as its index, and stores the result.
const SOURCE: &str = "\
        U32_TO_F32 r0, 0x1000000.b3
        IADD_IMM.i32 r1, 0x0, #0x0
again:  ICMP.u32.lt.m1 r2, r1, r60, 0x0
        BRANCHZ.eq.reconverge r2, done
        FADD.f32 r0, r0, r0
        IADD_IMM.i32 r1, r1, #0x1
        BRANCHZ.eq r3, again
done:   IADD.u32 r4, r60, r60
        IADD.u32 r4, r4, r4
        IADD.u32 r4, r4, u0
        MOV.i32 r5, u1
        STORE.i32.slot0.end @r0, r4, offset:0
";

/// Columns and rows of the terminal.
const SIZE: (u16, u16) = (128, 32);

struct Picture(String);

impl FrontEnd for Picture {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        if stop.count == 0 {
            session.format = Format::F32;
            let pc = session.listing.place("again").ok();
            session.stop_at(pc, Condition::parse("r0 >= 8.0 in any lane", session.names()).ok());
            return Resume::Continue;
        }
        // Stop once more, to show the changes of an instruction.
        if stop.count == 18 {
            return Resume::Step(3);
        }
        let Ok(mut terminal) = Terminal::new(TestBackend::new(SIZE.0, SIZE.1));
        let answer = stop.reason.to_string() + "\nbreakpoint 1 at 2 if r0 >= 8.0 in any lane";
        let screen = terminal::Screen { lane: 3, answer, ..terminal::Screen::default() };
        let Ok(_) = terminal.draw(|frame| terminal::draw(frame, session, stop, &screen));
        self.0 = svg(terminal.backend().buffer());
        Resume::Quit
    }
}

fn colour(color: Color) -> &'static str {
    match color {
        Color::Red => "#ff6b6b",
        Color::Green => "#69db7c",
        Color::Yellow => "#ffd43b",
        Color::Cyan => "#66d9e8",
        Color::DarkGray => "#868e96",
        _ => "#e9ecef",
    }
}

/// Draws the cells of a terminal as a picture.
fn svg(buffer: &Buffer) -> String {
    const CELL: (f32, f32) = (8.4, 18.0);
    let (width, height) = (f32::from(SIZE.0) * CELL.0, f32::from(SIZE.1) * CELL.1);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#16191d\"/>\n"
    );
    let style = |cell: &Cell| (cell.fg, cell.modifier.contains(Modifier::REVERSED));
    for y in 0..SIZE.1 {
        let mut x = 0;
        while x < SIZE.0 {
            let (fg, reversed) = style(&buffer[(x, y)]);
            let start = x;
            let mut run = String::new();
            while x < SIZE.0 && style(&buffer[(x, y)]) == (fg, reversed) {
                run.push_str(buffer[(x, y)].symbol());
                x += 1;
            }
            let (left, top) = (f32::from(start) * CELL.0, f32::from(y) * CELL.1);
            let ink = if reversed { "#16191d" } else { colour(fg) };
            let long = f32::from(x - start) * CELL.0;
            if reversed {
                let _ = writeln!(
                    text,
                    r#"<rect x="{left:.1}" y="{top:.1}" width="{long:.1}" height="18" fill="{}"/>"#,
                    colour(fg)
                );
            }
            if !run.trim().is_empty() {
                let run = run.replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
                let _ = writeln!(
                    text,
                    r#"<text x="{left:.1}" y="{:.1}" textLength="{long:.1}" fill="{ink}">{run}</text>"#,
                    top + 13.5
                );
            }
        }
    }
    text + "</svg>\n"
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = isaforge_core::program::assemble(ISA, SOURCE).map_err(|errors| format!("{errors:?}"))?;
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0; 64])?;
    let launch = Launch { program, local_size: [6, 1, 1], uniforms: vec![0x1000, 0], ..Launch::default() };
    let machine = Watched::launch(launch, memory, Resources::default());
    let source = Source { path: None, text: SOURCE.to_owned(), first: 1, ..Source::default() };
    let listing = Listing::new(&machine, &Set::new(Tables::Words(ISA), Some(SEMANTICS), None), Some(&source));
    let mut picture = Picture(String::new());
    Session::new(&machine, listing).run(&mut picture)?;
    print!("{}", picture.0);
    Ok(())
}
