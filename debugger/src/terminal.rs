//! The terminal front end: the program, lanes, registers, memory, and a prompt for all commands.

mod draw;
mod prompt;
mod signals;

pub use draw::draw;
pub use prompt::Prompt;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};

use crate::command::{Answer, completions, execute};
use crate::memory::Address;
use crate::pieces::Pieces;
use crate::session::{FrontEnd, Reason, Resume, Session, Stop};
use draw::{MEMORY, answer_lines, last_of_help, register_lines};

/// How far a page of answers or help is turned, in lines.
const PAGE: isize = 6;
const ALT_GR: KeyModifiers = KeyModifiers::CONTROL.union(KeyModifiers::ALT);
/// The maximum length of the program's output that is kept, in bytes.
const MAX_OUTPUT: usize = 1 << 18;

/// Debugs in the terminal until the user quits. Returns whether the program failed at the last stop; the inner error is
/// the reason why the program cannot start.
///
/// # Errors
/// When the terminal cannot be used.
pub fn run(session: &mut Session<'_>) -> io::Result<Result<bool, String>> {
    signals::restore_at_end()?;
    let terminal = ratatui::try_init()?;
    let mut front_end = Terminal {
        terminal,
        screen: Screen::default(),
        written: Default::default(),
        typed: VecDeque::new(),
        resized: false,
        has_failed: false,
        failed: None,
    };
    let ended = session.run(&mut front_end);
    restore();
    match front_end.failed {
        Some(error) => Err(error),
        None => Ok(ended.map(|()| front_end.has_failed)),
    }
}

/// Leaves the terminal as it was found. If it is gone, there is nobody to tell.
fn restore() {
    let _ = execute!(io::stdout(), Show);
    let _ = ratatui::try_restore();
}

/// The state of the screen, beyond that of the stop.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    /// The lane whose registers are shown individually.
    pub lane: usize,
    /// The first register shown.
    pub scroll: usize,
    /// The prompt, if it is open.
    pub prompt: Option<Prompt>,
    /// The lines that have been entered at the prompt.
    pub entered: Vec<String>,
    /// The start of the memory view, if it is open.
    pub memory: Option<Address>,
    /// The output of the last command.
    pub answer: String,
    /// How many lines the answers are scrolled down; negative if they are scrolled up.
    pub turned: isize,
    /// The first line of the help shown, if it is open.
    pub help: Option<usize>,
    /// The output of the program.
    pub output: String,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

struct Terminal {
    terminal: ratatui::DefaultTerminal,
    screen: Screen,
    /// Standard output and standard error of the program, up to the last whole character.
    written: [Pieces; 2],
    /// Keys that were pressed while the program was going back.
    typed: VecDeque<KeyEvent>,
    /// Whether the program is paused only because the terminal has another size.
    resized: bool,
    /// Whether the program failed at the last stop.
    has_failed: bool,
    failed: Option<io::Error>,
}

impl Terminal {
    fn draw(&mut self, session: &Session<'_>, stop: &Stop<'_>) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.screen.size = (size.width, size.height);
        let screen = &self.screen;
        self.terminal.draw(|frame| draw(frame, session, stop, screen)).map(drop)
    }

    /// Lets the shell continue until it resumes this process.
    fn suspend(&mut self) -> io::Result<()> {
        restore();
        let suspended = signals::suspend();
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen)?;
        self.terminal.clear()?;
        suspended
    }

    /// Draws and takes keys until one determines how to resume.
    fn ask(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> io::Result<Resume> {
        loop {
            let event = match self.typed.pop_front() {
                Some(key) => Event::Key(key),
                None => {
                    self.draw(session, stop)?;
                    event::read()?
                }
            };
            if let Event::Key(key) = event
                && is_suspend(key)
            {
                self.suspend()?;
            } else if let Event::Key(key) = event
                && key.kind != KeyEventKind::Release
                && let Some(resume) = self.screen.press(session, stop, key)
            {
                return Ok(resume);
            }
        }
    }
}

impl FrontEnd for Terminal {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        self.has_failed = match stop.reason {
            Reason::Failure(_) => true,
            // The program has not moved.
            Reason::Refused(_) => self.has_failed,
            _ => false,
        };
        let resumed = if std::mem::take(&mut self.resized) && stop.reason == Reason::Pause {
            self.draw(session, stop).map(|()| Resume::Unchanged)
        } else {
            self.screen.answer = match &stop.reason {
                Reason::Start | Reason::Step => String::new(),
                reason => reason.to_string(),
            };
            self.screen.turned = 0;
            if stop.reason == Reason::End {
                let rest = std::mem::take(&mut self.written).map(Pieces::end);
                self.screen.write(&rest.concat());
            }
            self.ask(session, stop)
        };
        if let Ok(Resume::Restart) = resumed {
            self.screen.output.clear();
            self.written = Default::default();
        }
        resumed.unwrap_or_else(|error| {
            self.failed = Some(error);
            Resume::Quit
        })
    }

    fn output(&mut self, stream: u64, bytes: &[u8]) {
        let text = self.written[usize::from(stream == 2)].add(bytes);
        self.screen.write(&text);
    }

    fn wants_pause(&mut self, goes_back: bool) -> bool {
        while event::poll(Duration::ZERO).unwrap_or(false) {
            match event::read() {
                Ok(Event::Key(key)) if is_suspend(key) => {
                    if let Err(error) = self.suspend() {
                        self.failed = Some(error);
                    }
                    self.resized = true;
                    return true;
                }
                // Any key pauses a running program. While it goes back, keys are for where it arrives.
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    if !goes_back || key.code == KeyCode::Esc || is_interrupt(key) {
                        self.typed.clear();
                        return true;
                    }
                    self.typed.push_back(key);
                }
                Ok(Event::Resize(..)) => {
                    self.resized = true;
                    return true;
                }
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }
}

impl Screen {
    /// Adds to the program's output.
    pub fn write(&mut self, text: &str) {
        self.output.push_str(text);
        let more = self.output.len().saturating_sub(MAX_OUTPUT);
        if more > 0 {
            let cut = (more..=self.output.len()).find(|at| self.output.is_char_boundary(*at));
            self.output.drain(..cut.unwrap_or(0));
        }
    }

    /// Handles a key. Returns how to resume, if the key determines it.
    pub fn press(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, key: KeyEvent) -> Option<Resume> {
        if is_interrupt(key) {
            return Some(Resume::Quit);
        }
        if let Some(prompt) = &mut self.prompt
            && key.modifiers & ALT_GR == KeyModifiers::CONTROL
        {
            prompt.control(key.code);
            return None;
        }
        let held = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        // Some keyboards report AltGr as both.
        if matches!(key.code, KeyCode::Char(_)) && held != KeyModifiers::NONE && held != ALT_GR {
            return None;
        }
        match key.code {
            KeyCode::PageDown => return self.turn(PAGE),
            KeyCode::PageUp => return self.turn(-PAGE),
            _ => {}
        }
        if self.prompt.is_some() {
            return self.edit(session, stop, key.code);
        }
        if self.help.is_some() {
            match key.code {
                KeyCode::Down => return self.turn(1),
                KeyCode::Up => return self.turn(-1),
                _ => self.help = None,
            }
            return None;
        }
        let lanes = session.machine.lanes();
        match key.code {
            KeyCode::Char('q') => return Some(Resume::Quit),
            KeyCode::Char('s') | KeyCode::F(11) => return Some(Resume::Step(1)),
            KeyCode::Char('n') | KeyCode::F(10) => return Some(Resume::Over),
            KeyCode::Char('o') => return self.carry_out(session, stop, "out"),
            KeyCode::Char('b') => return Some(Resume::Back(1)),
            KeyCode::Char('c') | KeyCode::F(5) => return Some(Resume::Continue),
            KeyCode::Char('r') => return Some(Resume::Reverse),
            KeyCode::Char('f') => session.format = session.format.next(),
            KeyCode::Char('m') => self.prompt = Some(Prompt::new("view 0x")),
            KeyCode::Char(':') => self.prompt = Some(Prompt::new("")),
            KeyCode::Char('?') => self.help = Some(0),
            KeyCode::Right => self.lane = (self.lane + 1) % lanes,
            KeyCode::Left => self.lane = (self.lane + lanes - 1) % lanes,
            KeyCode::Down => {
                let last = register_lines(session, stop, self).len().saturating_sub(1);
                self.scroll = (self.scroll + 1).min(last);
            }
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            _ => {}
        }
        None
    }

    /// Turns the page of what is shown last: help, or the answers.
    fn turn(&mut self, lines: isize) -> Option<Resume> {
        match &mut self.help {
            Some(first) => *first = first.saturating_add_signed(lines).min(last_of_help(self.size)),
            None => {
                let width = self.size.0.saturating_sub(if self.memory.is_some() { MEMORY } else { 0 });
                let most = answer_lines(self, width).1.len() as isize;
                self.turned = self.turned.saturating_add(lines).clamp(-most, most);
            }
        }
        None
    }

    /// Handles a key at the prompt.
    fn edit(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, code: KeyCode) -> Option<Resume> {
        let prompt = self.prompt.get_or_insert_default();
        match code {
            KeyCode::Tab => {
                let (start, names) = completions(session, prompt.before());
                let word = common(&names, &prompt.before()[start..]);
                prompt.complete(start, &word);
                if names.len() > 1 {
                    self.answer = names.join("  ");
                }
            }
            KeyCode::Esc => self.prompt = None,
            KeyCode::Enter => {
                let line = self.prompt.take().unwrap_or_default().line;
                if !line.trim().is_empty() && self.entered.last() != Some(&line) {
                    self.entered.push(line.clone());
                }
                return self.carry_out(session, stop, &line);
            }
            code => prompt.press(code, &self.entered),
        }
        None
    }

    /// Carries out a command: one of all front ends, or `view`.
    fn carry_out(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, line: &str) -> Option<Resume> {
        self.turned = 0;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match words[..] {
            ["view"] => {
                self.memory = None;
                Ok(Answer::Text(String::new()))
            }
            ["view", address] => Address::parse(address, session.machine.spaces()).map(|address| {
                self.memory = Some(address);
                Answer::Text(String::new())
            }),
            _ => execute(session, stop, line),
        };
        match answer {
            Ok(Answer::Resume(resume)) => return Some(resume),
            Ok(Answer::Text(text)) => self.answer = text,
            Err(message) => self.answer = format!("error: {message}"),
        }
        None
    }
}

/// Whether a key is Control-Z, where that suspends a process.
fn is_suspend(key: KeyEvent) -> bool {
    let is_key = key.modifiers & ALT_GR == KeyModifiers::CONTROL && key.code == KeyCode::Char('z');
    cfg!(unix) && is_key && key.kind != KeyEventKind::Release
}

/// Whether a key is Control-C.
fn is_interrupt(key: KeyEvent) -> bool {
    key.modifiers & ALT_GR == KeyModifiers::CONTROL && key.code == KeyCode::Char('c')
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
