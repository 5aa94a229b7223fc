//! The terminal front end: the program, lanes, registers, memory, and a prompt for all commands.

use std::io;
use std::time::Duration;

use isaforge_runtime::machine::Register;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::command::{Answer, completions, execute, help, words};
use crate::listing::{format_pc, number};
use crate::session::{FrontEnd, Reason, Resume, Session, Stop};

const HERE: Style = Style::new().add_modifier(Modifier::REVERSED);
const CHANGED: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
const QUIET: Style = Style::new().fg(Color::DarkGray);
const TITLE: Style = Style::new().fg(Color::Cyan);
/// The width of the memory view in columns: an address and four words, which may be signed.
const MEMORY: u16 = 60;
const KEYS: &str = "s step  n next  b back  c continue  r reverse  ←→ lane  ↑↓ registers  f format  m memory  : command  ? help  q quit";

/// Debugs in the terminal until the user quits. The inner error is the reason why the program cannot start.
///
/// # Errors
/// When the terminal cannot be used.
pub fn run(session: &mut Session<'_>) -> io::Result<Result<(), String>> {
    let terminal = ratatui::try_init()?;
    let mut front_end = Terminal { terminal, screen: Screen::default(), failed: None };
    let ended = session.run(&mut front_end);
    ratatui::restore();
    match front_end.failed {
        Some(error) => Err(error),
        None => Ok(ended),
    }
}

/// The state of the screen, beyond that of the stop.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    /// The lane whose registers are shown individually.
    pub lane: usize,
    /// The first register shown.
    pub scroll: usize,
    /// The text at the prompt, if it is open.
    pub prompt: Option<String>,
    /// The start of the memory view, if it is open.
    pub memory: Option<u64>,
    /// The output of the last command.
    pub answer: String,
    /// Whether help is shown.
    pub help: bool,
    /// The output of the program.
    pub output: String,
}

struct Terminal {
    terminal: ratatui::DefaultTerminal,
    screen: Screen,
    failed: Option<io::Error>,
}

impl FrontEnd for Terminal {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        self.screen.answer = match &stop.reason {
            Reason::Start | Reason::Step => String::new(),
            reason => reason.to_string(),
        };
        loop {
            let screen = &self.screen;
            let drawn = self.terminal.draw(|frame| draw(frame, session, stop, screen)).map(drop);
            let next = drawn.and_then(|()| event::read());
            match next {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    if let Some(resume) = self.screen.press(session, stop, key) {
                        return resume;
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    self.failed = Some(error);
                    return Resume::Quit;
                }
            }
        }
    }

    fn output(&mut self, _: u64, bytes: &[u8]) {
        self.screen.output.push_str(&String::from_utf8_lossy(bytes));
    }

    fn wants_pause(&mut self) -> bool {
        // Any key pauses a running program.
        event::poll(Duration::ZERO).is_ok_and(|ready| ready && matches!(event::read(), Ok(Event::Key(_))))
    }
}

impl Screen {
    /// Handles a key. Returns how to resume, if the key determines it.
    pub fn press(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, key: KeyEvent) -> Option<Resume> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Some(Resume::Quit);
        }
        if let Some(line) = &mut self.prompt {
            match key.code {
                KeyCode::Char(c) => line.push(c),
                KeyCode::Backspace => {
                    line.pop();
                }
                KeyCode::Tab => {
                    let (start, names) = completions(session, line);
                    line.replace_range(start.., &common(&names, &line[start..]));
                    if names.len() > 1 {
                        self.answer = names.join("  ");
                    }
                }
                KeyCode::Esc => self.prompt = None,
                KeyCode::Enter => {
                    let line = self.prompt.take().unwrap_or_default();
                    if let Some(address) = line.trim().strip_prefix("view") {
                        self.memory = number(address.trim());
                        return None;
                    }
                    match execute(session, stop, &line) {
                        Ok(Answer::Resume(resume)) => return Some(resume),
                        Ok(Answer::Text(text)) => self.answer = text,
                        Err(message) => self.answer = format!("error: {message}"),
                    }
                }
                _ => {}
            }
            return None;
        }
        if std::mem::take(&mut self.help) {
            return None;
        }
        let lanes = session.machine.lanes();
        match key.code {
            KeyCode::Char('q') => return Some(Resume::Quit),
            KeyCode::Char('s') | KeyCode::F(11) => return Some(Resume::Step(1)),
            KeyCode::Char('n') | KeyCode::F(10) => return Some(Resume::Over),
            KeyCode::Char('b') => return Some(Resume::Back(1)),
            KeyCode::Char('c') | KeyCode::F(5) => return Some(Resume::Continue),
            KeyCode::Char('r') => return Some(Resume::Reverse),
            KeyCode::Char('f') => session.format = session.format.next(),
            KeyCode::Char('m') => self.prompt = Some("view 0x".to_owned()),
            KeyCode::Char(':') => self.prompt = Some(String::new()),
            KeyCode::Char('?') => self.help = true,
            KeyCode::Right => self.lane = (self.lane + 1) % lanes,
            KeyCode::Left => self.lane = (self.lane + lanes - 1) % lanes,
            KeyCode::Down => self.scroll += 1,
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            _ => {}
        }
        None
    }
}

/// Draws a stop.
pub fn draw(frame: &mut Frame<'_>, session: &Session<'_>, stop: &Stop<'_>, screen: &Screen) {
    let [head, middle, below, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(9), Constraint::Length(1)])
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
            let inner = boxed(frame, right, &format!(" memory at {address:#x} "));
            let text = words(session, stop, &format!("{address} {} lane {}", 4 * inner.height, screen.lane));
            frame.render_widget(Paragraph::new(text.unwrap_or_else(|error| error)), inner);
            below
        }
        None => below,
    };
    let inner = boxed(frame, below, " answers ");
    let text = if screen.answer.is_empty() { &screen.output } else { &screen.answer };
    let lines: Vec<&str> = text.lines().collect();
    // Program output is shown from its end, a command's output from its start.
    let skip = if screen.answer.is_empty() { lines.len().saturating_sub(usize::from(inner.height)) } else { 0 };
    frame.render_widget(Paragraph::new(lines[skip..].join("\n")), inner);
    let line = match &screen.prompt {
        Some(line) => Line::from(format!(":{line}█")),
        None => Line::styled(KEYS, QUIET),
    };
    frame.render_widget(line, foot);
    if screen.help {
        let area = frame.area();
        frame.render_widget(Clear, area);
        let text = format!(
            "{KEYS}\n\nCommands after `:`, completed with Tab\n\n{}view ADDRESS keeps memory in view, view alone hides it\n",
            help()
        );
        let inner = boxed(frame, area, " help: any key goes back ");
        frame.render_widget(Paragraph::new(text), inner);
    }
}

/// The common prefix of names, or the word itself if there are none.
fn common(names: &[String], word: &str) -> String {
    let Some((first, rest)) = names.split_first() else { return word.to_owned() };
    let shared = |length: usize, other: &String| {
        first.chars().zip(other.chars()).take(length).take_while(|(a, b)| a == b).count()
    };
    let length = rest.iter().fold(first.chars().count(), shared);
    first.chars().take(length).collect()
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
    for line in &session.listing.lines {
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

/// Registers of a lane that are nonzero or have changed, each with its values in other lanes.
fn draw_registers(frame: &mut Frame<'_>, session: &Session<'_>, stop: &Stop<'_>, screen: &Screen, area: Rect) {
    let inner = boxed(frame, area, &format!(" registers of lane {}, and of all lanes ", screen.lane));
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
    let first = screen.scroll.min(lines.len().saturating_sub(1));
    frame.render_widget(Paragraph::new(lines.split_off(first)), inner);
}
