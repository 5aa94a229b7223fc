//! Draws a stop in a terminal.

use isaforge_runtime::machine::Register;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::{Prompt, Screen};
use crate::command::{help, words};
use crate::listing::format_pc;
use crate::session::{Session, Stop};

const HERE: Style = Style::new().add_modifier(Modifier::REVERSED);
const CHANGED: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
const QUIET: Style = Style::new().fg(Color::DarkGray);
const TITLE: Style = Style::new().fg(Color::Cyan);
/// The width of the memory view in columns: an address and four words, which may be signed.
pub(super) const MEMORY: u16 = 60;
/// The height of the answers, with their border.
const ANSWERS: u16 = 9;
/// The maximum number of lines for the keys, outside the help.
const MAX_KEY_LINES: usize = 3;
const KEYS: [&str; 14] = [
    "s step",
    "n next",
    "o out",
    "b back",
    "c continue",
    "r reverse",
    "←→ lane",
    "↑↓ registers",
    "PgUp PgDn answers",
    "f format",
    "m memory",
    ": command",
    "? help",
    "q quit",
];

/// Draws a stop.
pub fn draw(frame: &mut Frame<'_>, session: &Session<'_>, stop: &Stop<'_>, screen: &Screen) {
    let mut keys = key_lines(frame.area().width);
    keys.truncate(MAX_KEY_LINES);
    let rows = if screen.prompt.is_some() { 1 } else { keys.len() as u16 };
    let [head, middle, below, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(ANSWERS),
        Constraint::Length(rows),
    ])
    .areas(frame.area());
    let [program, right] = Layout::horizontal([Constraint::Percentage(50), Constraint::Fill(1)]).areas(middle);
    let [lanes, registers] = Layout::vertical([Constraint::Length(4), Constraint::Fill(1)]).areas(right);
    let at = stop.view.at();
    let origin = if stop.ended { "the program has ended".to_owned() } else { stop.view.origin() };
    let title = format!(" {origin}   {} executed   {} ", stop.count, session.format.name());
    frame.render_widget(Paragraph::new(title).style(HERE), head);
    draw_program(frame, session, stop, program);
    let inner = boxed(frame, lanes, &format!(" lanes: {} active of {} ", at.active.count_ones(), at.live.count_ones()));
    frame.render_widget(Paragraph::new(lane_lines(session, stop, screen)), inner);
    draw_registers(frame, session, stop, screen, registers);
    let below = match screen.memory {
        Some(address) => {
            let [below, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(MEMORY)]).areas(below);
            let inner = boxed(frame, right, &format!(" memory at {address} "));
            let text = words(session, stop, &format!("{address} {} lane {}", 4 * inner.height, screen.lane));
            frame.render_widget(Paragraph::new(text.unwrap_or_else(|error| error)), inner);
            below
        }
        None => below,
    };
    draw_answers(frame, screen, below);
    let foot_text = match &screen.prompt {
        Some(prompt) => Paragraph::new(prompt_line(prompt, frame.area().width)),
        None => Paragraph::new(keys.join("\n")).style(QUIET),
    };
    frame.render_widget(foot_text, foot);
    if let Some(first) = screen.help {
        draw_help(frame, first);
    }
}

/// The part of the prompt around its cursor, as far as it fits.
fn prompt_line(prompt: &Prompt, width: u16) -> Line<'static> {
    let (before, rest) = prompt.line.split_at(prompt.at);
    let under = rest.chars().next();
    let rest = &rest[under.map_or(0, char::len_utf8)..];
    // The sign of the prompt and the cursor take two columns.
    let hidden = (before.chars().count() + 2).saturating_sub(width.into());
    let before: String = before.chars().skip(hidden).collect();
    let sign = if hidden > 0 { "…" } else { ":" };
    let cursor = Span::styled(under.unwrap_or(' ').to_string(), HERE);
    Line::from(vec![Span::raw(format!("{sign}{before}")), cursor, Span::raw(rest.to_owned())])
}

/// The keys, in as many lines as the width requires.
fn key_lines(width: u16) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for key in KEYS {
        let last = lines.last_mut().filter(|line| {
            let length = line.chars().count() + 2 + key.chars().count();
            line.is_empty() || length <= usize::from(width)
        });
        match last {
            Some(line) if line.is_empty() => line.push_str(key),
            Some(line) => *line += &format!("  {key}"),
            None => lines.push(key.to_owned()),
        }
    }
    lines
}

/// The lines of the program's output, and after them those of the last answer, for a box of this width. Returns the
/// number of the former, too.
pub(super) fn answer_lines(screen: &Screen, width: u16) -> (usize, Vec<String>) {
    let width = usize::from(width.saturating_sub(2));
    let mut lines: Vec<String> = screen.output.lines().flat_map(|line| wrapped(line, width)).collect();
    let output = lines.len();
    lines.extend(screen.answer.lines().flat_map(|line| wrapped(line, width)));
    (output, lines)
}

/// The program's output and the last answer: the start of the answer, and above it as much of the output as fits.
fn draw_answers(frame: &mut Frame<'_>, screen: &Screen, area: Rect) {
    let (output, lines) = answer_lines(screen, area.width);
    let height = usize::from(area.height.saturating_sub(2));
    let most = lines.len().saturating_sub(height);
    let first = output.min(most).saturating_add_signed(screen.turned).min(most);
    let what = match (screen.output.is_empty(), screen.answer.is_empty()) {
        (false, true) => "output",
        (false, false) => "output and answers",
        _ => "answers",
    };
    let title = match most {
        0 => format!(" {what} "),
        _ => format!(" {what}: {} to {} of {} ", first + 1, (first + height).min(lines.len()), lines.len()),
    };
    let inner = boxed(frame, area, &title);
    frame.render_widget(Paragraph::new(lines[first..].join("\n")), inner);
}

/// The lines of the help in a terminal of this width.
fn help_lines(width: u16) -> Vec<String> {
    let width = width.saturating_sub(2);
    let commands = help();
    let head = key_lines(width).join("\n");
    let pauses = "A key pauses a running program; while it goes back, Esc does.";
    let text = format!("{head}\n\n{pauses}\n\nCommands after `:`, completed with Tab\n\n{commands}");
    text.lines().flat_map(|line| wrapped(line, width.into())).collect()
}

/// How far the help can be scrolled in a terminal of this size.
pub(super) fn last_of_help((width, height): (u16, u16)) -> usize {
    help_lines(width).len().saturating_sub(height.saturating_sub(2).into())
}

/// The help, from a line on or as far as it can be scrolled.
fn draw_help(frame: &mut Frame<'_>, first: usize) {
    let area = frame.area();
    frame.render_widget(Clear, area);
    let inner = boxed(frame, area, " help: ↑↓ PgUp PgDn scroll, any other key goes back ");
    let lines = help_lines(area.width);
    let first = first.min(last_of_help((area.width, area.height)));
    frame.render_widget(Paragraph::new(lines[first..].join("\n")), inner);
}

/// A line in pieces of a width, cut between words where possible.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let letters: Vec<char> = line.chars().collect();
    let (mut rest, mut pieces) = (&letters[..], Vec::new());
    while rest.len() > width {
        let blank = rest[..=width].iter().rposition(|letter| *letter == ' ').filter(|at| *at > 0);
        pieces.push(rest[..blank.unwrap_or(width)].iter().collect());
        rest = &rest[blank.map_or(width, |at| at + 1)..];
    }
    pieces.push(rest.iter().collect());
    pieces
}

fn boxed(frame: &mut Frame<'_>, area: Rect, title: &str) -> Rect {
    let block = Block::bordered().border_style(QUIET).title_style(TITLE).title(title.to_owned());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// The program around the current instruction, which is centred.
fn draw_program(frame: &mut Frame<'_>, session: &Session<'_>, stop: &Stop<'_>, area: Rect) {
    let inner = boxed(frame, area, " program ");
    let pc = stop.view.at().pc;
    let mut lines = Vec::new();
    let mut here = 0;
    for line in session.around(stop.view, pc, inner.height.into()) {
        if let Some(label) = &line.label {
            lines.push(Line::styled(format!("{label}:"), TITLE));
        }
        let is_here = !stop.ended && line.pc == pc;
        if is_here {
            here = lines.len();
        }
        let stops = session.breakpoints.iter().any(|known| known.pc == Some(line.pc));
        let mark = if stops { Span::styled("● ", Style::new().fg(Color::Red)) } else { Span::raw("  ") };
        let text = Span::styled(
            format!("{:>6}  {}", format_pc(session.machine, line.pc), line.text),
            if is_here { HERE } else { Style::new() },
        );
        lines.push(Line::from(vec![mark, text]));
    }
    let height = usize::from(inner.height);
    let first = here.saturating_sub(height / 2).min(lines.len().saturating_sub(height));
    frame.render_widget(Paragraph::new(lines.split_off(first)), inner);
}

/// The lanes as cells, and the thread of the selected lane.
fn lane_lines(session: &Session<'_>, stop: &Stop<'_>, screen: &Screen) -> Vec<Line<'static>> {
    let at = stop.view.at();
    let cell = |lane: usize| {
        let (sign, style) = match (at.active >> lane & 1 != 0, at.live >> lane & 1 != 0) {
            (true, _) => ("■", Style::new().fg(Color::Green)),
            (_, true) => ("□", Style::new().fg(Color::Yellow)),
            _ => ("·", QUIET),
        };
        Span::styled(sign, if lane == screen.lane { style.add_modifier(Modifier::REVERSED) } else { style })
    };
    let mut cells = Vec::new();
    for lane in 0..session.machine.lanes() {
        if lane > 0 && lane.is_multiple_of(4) {
            cells.push(Span::raw(" "));
        }
        cells.push(cell(lane));
    }
    let [x, y, z] = stop.view.thread(screen.lane);
    let who = format!("lane {}: {} ({x},{y},{z})", screen.lane, session.machine.terms().thread);
    vec![Line::from(cells), Line::from(who)]
}

/// Draws the registers of a lane.
fn draw_registers(frame: &mut Frame<'_>, session: &Session<'_>, stop: &Stop<'_>, screen: &Screen, area: Rect) {
    let inner = boxed(frame, area, &format!(" registers of lane {}, and of all lanes ", screen.lane));
    let mut lines = register_lines(session, stop, screen);
    let first = screen.scroll.min(lines.len().saturating_sub(1));
    frame.render_widget(Paragraph::new(lines.split_off(first)), inner);
}

/// Registers of a lane that are nonzero or have changed, each with its values in other lanes.
pub(super) fn register_lines(session: &Session<'_>, stop: &Stop<'_>, screen: &Screen) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (bank, known) in session.machine.banks().iter().enumerate().filter(|(_, known)| !known.constant) {
        for index in 0..known.count {
            let register = Register { bank: bank as u16, index };
            let Some(value) = stop.view.read(register, screen.lane) else { continue };
            let lanes = if known.uniform { 1 } else { session.machine.lanes() };
            let all: Vec<u64> = (0..lanes).filter_map(|lane| stop.view.read(register, lane)).collect();
            let changed = (0..lanes).any(|lane| session.has_changed(register, lane));
            if all.iter().all(|value| *value == 0) && !changed {
                continue;
            }
            let show = |value: u64| session.format.show(value, known.width);
            let mut spans = vec![
                Span::styled(format!("{}{:6}", if changed { '*' } else { ' ' }, known.name(index)), TITLE),
                Span::styled(format!("{:>12} ", show(value)), if changed { CHANGED } else { Style::new() }),
            ];
            if all.iter().any(|other| *other != value) {
                let is_new = |lane: usize| session.has_changed(register, lane);
                spans.extend(all.iter().enumerate().map(|(lane, value)| {
                    Span::styled(format!(" {}", show(*value)), if is_new(lane) { CHANGED } else { QUIET })
                }));
            }
            lines.push(Line::from(spans));
        }
    }
    lines
}
