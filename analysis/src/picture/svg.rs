//! The graph as a self-contained SVG picture: no scripts, only the reader's fonts, light and dark themes.

use std::collections::HashMap;
use std::fmt::Write;

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend, Visible};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

use super::{Drawing, Kind, Line, escaped, heat};
use crate::graph::Edge;

/// The width of a character and the height of a line in pixels.
const CHARACTER: f64 = 7.3;
const LINE: f64 = 17.0;
/// The padding of a block and the margin of the picture in pixels.
const PADDING: f64 = 10.0;
const MARGIN: f64 = 24.0;
/// The distance between arrows that would cover each other.
const APART: f64 = 12.0;
/// Longer lines are truncated.
const MAX_CHARACTERS: usize = 72;
/// Longer blocks lose the lines in their middle.
const MAX_LINES: usize = 40;
/// With more places between the blocks that edges connect, edges are not untangled, which would take seconds.
const MAX_LONG: usize = 2000;
/// The opacity of the hottest block's colour; text must stay readable on it in both themes.
const HOTTEST: f64 = 0.55;

/// An arrow as the layout places it.
struct Drawn {
    /// Its points, each with a control point.
    path: Vec<(Point, Point)>,
    /// Whether the arrowhead is at the start.
    reversed: bool,
    /// Its kind: `next`, `branch` or `back`.
    kind: String,
}

/// Collects the arrows.
#[derive(Default)]
struct Arrows(Vec<Drawn>);

impl RenderBackend for Arrows {
    fn draw_rect(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>, _: Option<ClipHandle>) {}
    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}
    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}
    fn draw_text(&mut self, _: Point, _: &str, _: &StyleAttr) {}
    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        head: (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        let kind = properties.unwrap_or_default();
        self.0.push(Drawn { path: path.to_vec(), reversed: head.0, kind });
    }
    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

impl Arrows {
    /// Moves arrows between the same two points apart: a branch to the next block, or one back from it.
    fn part(&mut self) {
        let ends = |drawn: &Drawn| {
            let [first, .., last] = &drawn.path[..] else { return None };
            let mut ends = [first.0, last.0].map(|point| (point.x.round() as i64, point.y.round() as i64));
            ends.sort_unstable();
            Some(ends)
        };
        let mut seen: HashMap<_, u32> = HashMap::new();
        for drawn in &mut self.0 {
            let Some(ends) = ends(drawn) else { continue };
            let before = seen.entry(ends).or_default();
            let by = f64::from(*before) * APART;
            *before += 1;
            for point in drawn.path.iter_mut().flat_map(|(point, control)| [point, control]) {
                point.x += by;
            }
        }
    }
}

/// Draws a graph.
pub fn write(drawing: Drawing<'_>, name: &str) -> String {
    let graph = drawing.graph;
    let shares = drawing.shares();
    let heats = heat(&shares);
    let texts: Vec<Vec<Line>> = (0..graph.blocks.len()).map(|block| text(drawing, block, &shares)).collect();
    let mut layout = VisualGraph::new(Orientation::TopToBottom);
    // Its checks follow all paths.
    layout.dag.set_validate(false);
    let handles: Vec<_> = texts
        .iter()
        .map(|lines| {
            let widest = lines.iter().map(|line| line.text.chars().count()).max().unwrap_or(1).max(4) as f64;
            let size = Point::new(widest * CHARACTER + 2.0 * PADDING, lines.len() as f64 * LINE + 2.0 * PADDING);
            layout.add_node(Element::create(
                ShapeKind::new_box(""),
                StyleAttr::simple(),
                Orientation::TopToBottom,
                size,
            ))
        })
        .collect();
    // The layout turns around edges that close cycles, for which it follows all paths from an edge's end. There are none yet
    // where edges go down and are added from the top.
    let mut edges: Vec<(usize, usize, &str)> = Vec::new();
    for from in 0..handles.len() {
        edges.extend(graph.successors(from).map(|(to, edge)| match edge {
            _ if graph.goes_back(from, to) => (to, from, "back"),
            Edge::Branch => (from, to, "branch"),
            Edge::Next => (from, to, "next"),
        }));
    }
    edges.sort_by_key(|(upper, ..)| graph.place_of(*upper));
    let long: usize = edges.iter().map(|(upper, lower, _)| graph.place_of(*lower) - graph.place_of(*upper)).sum();
    for (upper, lower, kind) in edges {
        let arrow = Arrow { properties: Some(kind.to_owned()), ..Arrow::default() };
        let arrow = if kind == "back" && upper != lower { arrow.reverse() } else { arrow };
        layout.add_edge(arrow, handles[upper], handles[lower]);
    }
    let mut arrows = Arrows::default();
    let simple = long > MAX_LONG;
    layout.do_it(false, simple, simple, &mut arrows);
    arrows.part();
    let boxes: Vec<(Point, Point)> =
        handles.iter().map(|handle| layout.element(*handle).position().bbox(false)).collect();
    let points = arrows.0.iter().flat_map(|arrow| arrow.path.iter().flat_map(|(a, b)| [*a, *b]));
    let corners = boxes.iter().flat_map(|(a, b)| [*a, *b]).chain(points);
    let (mut low, mut high) = (Point::splat(f64::INFINITY), Point::splat(f64::NEG_INFINITY));
    for point in corners {
        low = Point::new(low.x.min(point.x), low.y.min(point.y));
        high = Point::new(high.x.max(point.x), high.y.max(point.y));
    }
    let (x, y) = (low.x - MARGIN, low.y - MARGIN);
    let (width, height) = (high.x - low.x + 2.0 * MARGIN, high.y - low.y + 2.0 * MARGIN);
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{x:.1} {y:.1} {width:.1} {height:.1}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>Control flow of {}</title>\n<style>{STYLE}</style>\n{MARKERS}<rect class=\"paper\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>\n",
        escaped(name),
    );
    for drawn in &arrows.0 {
        arrow(drawn, &mut out);
    }
    for (index, ((low, high), lines)) in boxes.iter().zip(&texts).enumerate() {
        let heat = heats.get(index).copied().filter(|heat| *heat > 0.0);
        block(drawing, (index, heat), (*low, *high), lines, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

const STYLE: &str = "
.paper{fill:#fff}
.block{fill:#f8fafc;stroke:#64748b;stroke-width:1.2}
.loop1{fill:#fff7ed;stroke:#ea580c}.loop2{fill:#ffedd5;stroke:#c2410c}.loop3{fill:#fed7aa;stroke:#9a3412}
.dead{stroke-dasharray:5 4;fill:#f1f5f9}
.heat{fill:#ef4444}.count{font-weight:700}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#0f172a;white-space:pre}
.label{font-weight:700;fill:#1d4ed8}.wrong{fill:#b91c1c}.meets{fill:#15803d}.more{fill:#64748b}
path.edge{fill:none;stroke:#64748b;stroke-width:1.6}
path.branch{stroke:#1d4ed8}path.back{stroke:#ea580c;stroke-width:2.2}
marker path{fill:#64748b}#branch path{fill:#1d4ed8}#back path{fill:#ea580c}
@media(prefers-color-scheme:dark){
.paper{fill:#0f172a}.block{fill:#1e293b;stroke:#94a3b8}.dead{fill:#172033}
.loop1{fill:#431407;stroke:#fb923c}.loop2{fill:#571c0a;stroke:#fb923c}.loop3{fill:#6c2710;stroke:#fdba74}
text{fill:#e2e8f0}.label{fill:#93c5fd}.wrong{fill:#fca5a5}.meets{fill:#86efac}.more{fill:#94a3b8}
path.edge{stroke:#94a3b8}path.branch{stroke:#60a5fa}path.back{stroke:#fb923c}
marker path{fill:#94a3b8}#branch path{fill:#60a5fa}#back path{fill:#fb923c}}
";

const MARKERS: &str = concat!(
    "<defs>",
    "<marker id=\"next\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 8 4 0 8z\"/></marker>",
    "<marker id=\"branch\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 8 4 0 8z\"/></marker>",
    "<marker id=\"back\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" orient=\"auto-start-reverse\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 8 4 0 8z\"/></marker>",
    "</defs>\n"
);

fn arrow(Drawn { path, reversed, kind }: &Drawn, out: &mut String) {
    let [first, second, rest @ ..] = &path[..] else { return };
    let _ = write!(
        out,
        "<path class=\"edge {kind}\" marker-{}=\"url(#{kind})\" d=\"M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
        if *reversed { "start" } else { "end" },
        first.0.x,
        first.0.y,
        first.1.x,
        first.1.y,
        second.0.x,
        second.0.y,
        second.1.x,
        second.1.y,
    );
    for (control, to) in rest {
        let _ = write!(out, "S{:.1} {:.1} {:.1} {:.1}", control.x, control.y, to.x, to.y);
    }
    out.push_str("\"/>\n");
}

fn block(
    drawing: Drawing<'_>,
    (index, heat): (usize, Option<f64>),
    (low, high): (Point, Point),
    lines: &[Line],
    out: &mut String,
) {
    let found = &drawing.graph.blocks[index];
    let class = match (found.reachable, found.depth) {
        (false, _) => "block dead".to_owned(),
        (true, 0) => "block".to_owned(),
        (true, depth) => format!("block loop{}", depth.min(3)),
    };
    let (width, height) = (high.x - low.x, high.y - low.y);
    let place = format!("x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"", low.x, low.y);
    let _ = writeln!(out, "<rect class=\"{class}\" {place}/>");
    if let Some(heat) = heat {
        let _ = writeln!(out, "<rect class=\"heat\" {place} fill-opacity=\"{:.3}\"/>", heat * HOTTEST);
    }
    for (number, Line { text, kind }) in lines.iter().enumerate() {
        let class = match kind {
            Kind::Count => " class=\"count\"",
            Kind::Label => " class=\"label\"",
            Kind::Invalid => " class=\"wrong\"",
            Kind::More => " class=\"more\"",
            Kind::Reconverges => " class=\"meets\"",
            Kind::Instruction => "",
        };
        let (x, y) = (low.x + PADDING, low.y + PADDING + LINE * (number as f64 + 0.75));
        let _ = writeln!(out, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
    }
}

/// The lines of a block, shortened to fit the picture.
fn text(drawing: Drawing<'_>, block: usize, shares: &[f64]) -> Vec<Line> {
    let mut lines = drawing.lines(block);
    if lines.len() > MAX_LINES {
        let half = MAX_LINES / 2;
        let left_out = lines.len() - 2 * half;
        lines.splice(half..half + left_out, [Line { text: format!("… {left_out} more"), kind: Kind::More }]);
    }
    for line in lines.iter_mut().map(|line| &mut line.text) {
        if line.chars().count() > MAX_CHARACTERS {
            let cut: String = line.chars().take(MAX_CHARACTERS - 1).collect();
            *line = format!("{cut}…");
        }
    }
    lines.extend(drawing.counts(block, shares));
    lines
}
