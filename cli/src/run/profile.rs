//! Profiles of executed instructions, as a table and as a picture.

use std::fmt::Write as _;
use std::io::Write;

use isaforge_runtime::Engine;
use isaforge_runtime::observe::{Profile, Row};

use crate::args::{ProfileForm, WatchArgs};
use crate::failure::Failure;
use crate::fidelity;
use crate::fidelity::entries::Entry;
use crate::output::{count, plain_stdout, say, stdout, thousands, write_whole};
use crate::paint::{HELP, paint};

/// Prints and draws a profile as requested. `by` is the engine that executes the program.
///
/// # Errors
/// When the picture or standard output cannot be written.
pub fn show(entries: &[Entry], profile: &Profile, by: &str, args: &WatchArgs) -> Result<(), Failure> {
    if args.profile == Some(ProfileForm::Table) {
        let mut out = plain_stdout();
        out.write_all(table(profile).as_bytes())?;
        let counted = if by == Engine::Reference.name() { "" } else { " (counted by the reference)" };
        writeln!(out, "\nexecuted by: {by}{counted}")?;
        out.flush()?;
    }
    if args.fidelity && entries.is_empty() {
        say(&format!("{}: the specification does not give the accuracy of its instructions", paint(HELP, "note")));
    } else if args.fidelity {
        let executed: Vec<(&str, u64)> = profile.rows().iter().map(|row| (row.mnemonic, row.threads)).collect();
        let mut out = stdout();
        out.write_all(fidelity::summary(entries, Some(&executed)).as_bytes())?;
        out.flush()?;
    }
    if let Some(path) = &args.profile_svg {
        write_whole(path, picture(profile).as_bytes())?;
        say(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// `part` of `whole` in percent; 0 if `whole` is 0.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// The average number of active lanes.
fn lanes(row: &Row) -> f64 {
    if row.warps == 0 { 0.0 } else { row.threads as f64 / row.warps as f64 }
}

/// The numbers of active lanes that occurred, and how often.
fn occupancy(profile: &Profile) -> impl Iterator<Item = (usize, u64)> {
    profile.occupancy.iter().copied().enumerate().filter(|(_, warps)| *warps > 0)
}

fn table(profile: &Profile) -> String {
    let (rows, total) = (profile.rows(), profile.total());
    let mut text = format!(
        "{:>7} {:>15} {:>13} {:>6} {:>14} {:>14}  {}\n",
        "share",
        format!("by {}s", profile.terms.thread),
        format!("by {}s", profile.terms.warp),
        "lanes",
        "bytes read",
        "bytes written",
        profile.terms.instruction,
    );
    for row in rows.iter().chain([&total]) {
        let bytes = |number| if number == 0 { "-".to_owned() } else { thousands(number) };
        let _ = writeln!(
            text,
            "{:>5.1} % {:>15} {:>13} {:>6.2} {:>14} {:>14}  {}",
            percent(row.threads, total.threads),
            thousands(row.threads),
            thousands(row.warps),
            lanes(row),
            bytes(row.traffic.read),
            bytes(row.traffic.written),
            row.mnemonic,
        );
    }
    let _ = writeln!(text, "\n  lanes {:>13}    share", format!("by {}s", profile.terms.warp));
    let whole = profile.occupancy.iter().sum();
    for (lanes, warps) in occupancy(profile) {
        let share = percent(warps, whole);
        let bar = "█".repeat((share / 2.5).round() as usize);
        let line = format!("{lanes:>7} {:>13}  {share:>5.1} %  {bar}", thousands(warps));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The number of instructions with a bar of their own; the others share one.
const BARS: usize = 24;
const WIDTH: u32 = 860;
const LINE: u32 = 20;
const NAMES: u32 = 200;
const BAR_WIDTH: f64 = 420.0;

/// Draws two bar charts: instructions by threads, and warp instructions by active lanes.
fn picture(profile: &Profile) -> String {
    let (rows, total, terms) = (profile.rows(), profile.total(), profile.terms);
    let (shown, rest) = rows.split_at(rows.len().min(BARS));
    let mut bars: Vec<Bar> = shown.iter().map(Bar::instruction).collect();
    if !rest.is_empty() {
        let threads = rest.iter().map(|row| row.threads).sum();
        bars.push(Bar {
            name: count(rest.len() as u64, &format!("other {}", terms.instruction)),
            value: threads,
            note: String::new(),
        });
    }
    let by_lanes = occupancy(profile).map(|(lanes, warps)| Bar {
        name: count(lanes as u64, "lane"),
        value: warps,
        note: String::new(),
    });
    let steps = profile.occupancy.iter().sum();
    let charts = [
        (format!("{} by {}s", count(total.threads, terms.instruction), terms.thread), bars, total.threads),
        (format!("{} by {}s, by lanes in use", count(steps, terms.step), terms.warp), by_lanes.collect(), steps),
    ];
    let mut body = String::new();
    let mut y = LINE;
    for (title, bars, whole) in charts {
        let _ = writeln!(body, r#"<text x="12" y="{}" font-weight="bold">{title}</text>"#, y + 4);
        y += LINE;
        let most = bars.iter().map(|bar| bar.value).max().unwrap_or(0).max(1);
        for bar in &bars {
            bar.draw(&mut body, y, most, whole);
            y += LINE;
        }
        y += LINE;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{y}\" viewBox=\"0 0 {WIDTH} {y}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// A bar and its labels.
struct Bar {
    name: String,
    value: u64,
    note: String,
}

impl Bar {
    fn instruction(row: &Row) -> Bar {
        let traffic = row.traffic.read + row.traffic.written;
        let moved = if traffic == 0 { String::new() } else { format!(", {}", count(traffic, "byte")) };
        Bar { name: row.mnemonic.to_owned(), value: row.threads, note: format!(", {:.1} lanes{moved}", lanes(row)) }
    }

    fn draw(&self, out: &mut String, y: u32, most: u64, whole: u64) {
        let length = self.value as f64 / most as f64 * BAR_WIDTH;
        let share = percent(self.value, whole);
        let Bar { name, value, note } = self;
        let (middle, at) = (y + 4, f64::from(NAMES) + length + 6.0);
        let _ = writeln!(out, r#"<text x="{}" y="{middle}" text-anchor="end">{name}</text>"#, NAMES - 8);
        let (top, height) = (y - 8, LINE - 4);
        let _ = writeln!(
            out,
            r##"<rect x="{NAMES}" y="{top}" width="{length:.1}" height="{height}" fill="#2b6cb0"><title>{value}</title></rect>"##
        );
        let _ = writeln!(out, r##"<text x="{at:.1}" y="{middle}" fill="#555">{share:.1} %{note}</text>"##);
    }
}
