//! Weighted stacks as a flame graph: the width of a frame is its share, and its callees are drawn next to it.
//!
//! The crate `inferno` would draw them too, but its licence (CDDL-1.0) is not among those of our dependencies; folded
//! stacks are for it.

use std::fmt::Write;

use super::escaped;

/// The width of the picture, of a row, of the margin and of a character in pixels.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 20.0;
const MARGIN: f64 = 12.0;
const CHARACTER: f64 = 7.3;
/// The distance of a label from the edges of its frame.
const PADDING: f64 = 3.0;
/// Narrower frames are omitted.
const LEAST: f64 = 0.5;
/// The colours of the frames, by depth.
const COLOURS: [&str; 4] = ["#fde68a", "#fdba74", "#fca5a5", "#f9a8d4"];

/// A node of the frame tree.
#[derive(Default)]
struct Frame {
    name: String,
    weight: u64,
    inside: Vec<Frame>,
}

impl Frame {
    fn add(&mut self, names: &[String], weight: u64) {
        self.weight += weight;
        let Some((name, rest)) = names.split_first() else { return };
        let at = self.inside.iter().position(|frame| frame.name == *name).unwrap_or_else(|| {
            self.inside.push(Frame { name: name.clone(), ..Frame::default() });
            self.inside.len() - 1
        });
        self.inside[at].add(rest, weight);
    }
}

/// Draws weighted stacks. Each stack starts with its outermost frame.
///
/// ```
/// use isaforge_analysis::picture::flame;
///
/// let stack = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
/// let svg = flame::write(&[(stack(&["a", "b"]), 3), (stack(&["a", "c"]), 1)], "title");
/// assert!(svg.contains("<title>b: 3 (75.0 %)</title>"));
/// ```
pub fn write(stacks: &[(Vec<String>, u64)], title: &str) -> String {
    let mut root = Frame::default();
    stacks.iter().for_each(|(names, weight)| root.add(names, *weight));
    let depth = stacks.iter().map(|(names, _)| names.len()).max().unwrap_or(0) as f64;
    let (width, height) = (WIDTH + 2.0 * MARGIN, (depth + 1.0) * ROW + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" font-family=\"ui-monospace,monospace\" font-size=\"12\">\n<title>{0}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"{MARGIN}\" y=\"{1}\" font-weight=\"bold\">{0}</text>\n",
        escaped(title),
        MARGIN + 0.7 * ROW,
    );
    draw(&root.inside, (MARGIN, 0), root.weight, &mut out);
    out.push_str("</svg>\n");
    out
}

fn draw(frames: &[Frame], (mut x, depth): (f64, usize), whole: u64, out: &mut String) {
    for frame in frames {
        let share = frame.weight as f64 / whole.max(1) as f64;
        let width = share * WIDTH;
        if width < LEAST {
            continue;
        }
        let y = MARGIN + (depth as f64 + 1.0) * ROW;
        let name = escaped(&frame.name);
        let room = ((width - 2.0 * PADDING) / CHARACTER) as usize;
        let shown: String = match frame.name.chars().count() <= room {
            true => name.clone(),
            false if room < 3 => String::new(),
            false => escaped(&frame.name.chars().take(room - 1).chain(['…']).collect::<String>()),
        };
        let _ = writeln!(
            out,
            "<g><title>{name}: {} ({:.1} %)</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
             fill=\"{}\" stroke=\"#fff\"/><text x=\"{:.1}\" y=\"{:.1}\">{shown}</text></g>",
            frame.weight,
            share * 100.0,
            ROW - 1.0,
            COLOURS[depth % COLOURS.len()],
            x + PADDING,
            y + 0.7 * ROW,
        );
        draw(&frame.inside, (x, depth + 1), whole, out);
        x += width;
    }
}
