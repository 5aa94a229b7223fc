//! The front ends, with a Valhall program.

use std::io::BufReader;
use std::sync::mpsc::channel;

use isaforge_analysis::Set;
use isaforge_core::Tables;
use isaforge_debugger::{FrontEnd, Listing, Resume, Session, Source, Stop, dap, script, terminal};
use isaforge_runtime::machine::Machine;
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::{Launch, Memory};
use isaforge_valhall::{ISA, semantics::SEMANTICS};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Each thread counts to three, adds its index to the count, and stores the sum.
const SOURCE: &str = "\
    MOV.i32 r1, r60
    IADD_IMM.i32 r0, 0x0, #0x0
again:
    IADD_IMM.i32 r0, r0, #0x1
    ICMP.u32.lt.m1 r2, r0, u2, 0x0
    BRANCHZ.eq.reconverge r2, done
    BRANCHZ.eq r3, again
done:
    IADD.u32 r4, r0, r1
    U32_TO_F32 r5, r4
    STORE.i32.slot0.end @r4, u0, offset:0
";

fn machine() -> Watched<'static> {
    let program = isaforge_core::program::assemble(ISA, SOURCE).expect("it is a program");
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0; 64]).expect("nothing else is there");
    let launch = Launch { program, local_size: [4, 1, 1], uniforms: vec![0x1000, 0, 3], ..Launch::default() };
    Watched::launch(launch, memory, Resources::default())
}

fn listing(machine: &dyn Machine) -> Listing {
    let set = Set::new(Tables::Words(ISA), Some(SEMANTICS), None);
    let source = Source { path: Some("count.s".into()), text: SOURCE.to_owned(), first: 1, ..Source::default() };
    Listing::new(machine, &set, Some(&source))
}

/// The output and the errors of a script.
fn answers(commands: &str) -> (String, Vec<String>, script::Done) {
    let machine = machine();
    let mut session = Session::new(&machine, listing(&machine));
    let (mut out, mut mistakes) = (Vec::new(), Vec::new());
    let mut complain = |line: usize, message: &str| mistakes.push(format!("{line}: {message}"));
    let done = script::run(&mut session, &mut commands.as_bytes(), &mut out, &mut complain).expect("it starts");
    (String::from_utf8(out).expect("it is text"), mistakes, done)
}

#[test]
fn a_script_steps_and_goes_back() {
    let (out, mistakes, _) = answers("step\nstep 2\nback\nprint r0\nback 5\n");
    let places: Vec<&str> = out.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!((&places[..4], &mistakes[..]), (&["0", "1", "3", "2"][..], &[][..]), "{out}");
    assert!(out.contains("r0     = 00000000"), "{out}");
}

#[test]
fn a_breakpoint_at_a_label_stops_in_each_turn_and_going_back_finds_it_again() {
    let (out, mistakes, done) = answers("break again\nc\nc\nprint r0\nreverse\nprint r0\nreverse\nc\nc\nc\nc\n");
    assert_eq!(mistakes, Vec::<String>::new());
    assert!(!done.failed);
    let values: Vec<&str> = out.lines().filter(|line| line.contains("r0 ")).filter(|l| l.contains(" = ")).collect();
    assert_eq!(values.len(), 2, "{out}");
    assert!(values[0].ends_with("00000001") && values[1].ends_with("00000000"), "{out}");
    assert!(out.ends_with("the program has ended\n"), "{out}");
}

#[test]
fn conditions_and_watchpoints_name_what_happened() {
    let (out, mistakes, _) = answers(
        "break if r5 > 4.5 in any lane\nc\nprint r5 as f32\nrestart\ndelete 1\nwatch r0 lane 2\nc\nc\nwatch 0x1000\ndelete 2\nc\nmemory 0x1000 2\n",
    );
    assert_eq!(mistakes, Vec::<String>::new(), "{out}");
    for expected in [
        "breakpoint 1 if r5 > 4.5 in any lane",
        "0:3.0 1:4.0 2:5.0 3:6.0",
        "watchpoint 2: r0 in lane 2 was 00000000 and is 00000001, by `IADD_IMM.i32 r0, r0, #0x1` at 2",
        "watchpoint 3: memory at 0x1000 was 00000000 and is",
    ] {
        assert!(out.contains(expected), "{expected} in\n{out}");
    }
}

#[test]
fn a_wrong_line_is_named_and_the_next_one_is_carried_out() {
    let (out, mistakes, done) =
        answers("# a comment\n\njump 3\nbreak nowhere\nbreak if r99 == 1\nback\nprint r60\nstep x\n");
    assert_eq!(done.mistakes, 5, "{mistakes:?}");
    assert!(mistakes[0].starts_with("3: there is no command `jump`"), "{mistakes:?}");
    assert!(mistakes[1].starts_with("4: there is no label `nowhere`; the labels are `again`, `done`"), "{mistakes:?}");
    assert!(mistakes[2].starts_with("5: there is no register `r99`"), "{mistakes:?}");
    assert!(mistakes[3].starts_with("6: this is the first instruction"), "{mistakes:?}");
    assert!(out.contains("r60    = 0:00000000 1:00000001 2:00000002 3:00000003"), "{out}");
}

#[test]
fn a_program_that_fails_stops_before_the_instruction() {
    let program =
        isaforge_core::program::assemble(ISA, "MOV.i32 r1, u0\nLOAD.i32.unsigned.slot0 @r0, r2, offset:0\nNOP.end");
    let launch = Launch { program: program.expect("it is a program"), ..Launch::default() };
    let machine = Watched::launch(launch, Memory::new(), Resources::default());
    let mut session = Session::new(&machine, Listing::default());
    let mut out = Vec::new();
    let done =
        script::run(&mut session, &mut "c\nwhere\nback\n".as_bytes(), &mut out, &mut |_, _| ()).expect("it starts");
    let out = String::from_utf8(out).expect("it is text");
    assert!(out.contains("the program failed: word 1 `LOAD.i32"), "{out}");
    assert!(!done.failed && out.lines().last().is_some_and(|line| line.starts_with("0 ")), "{out}");
}

/// The messages that a server sends in response to requests.
fn served(requests: &[(&str, serde_json::Value)]) -> Vec<serde_json::Value> {
    let (send, receive) = channel();
    for (sequence, (command, arguments)) in requests.iter().enumerate() {
        let request =
            serde_json::json!({ "seq": sequence + 1, "type": "request", "command": command, "arguments": arguments });
        send.send(request).expect("it is received below");
    }
    drop(send);
    let mut out = Vec::new();
    let mut open = |_: &dap::Wanted| {
        let machine = machine();
        Ok((listing(&machine), Box::new(machine) as Box<dyn Machine>))
    };
    dap::talk(&receive, &mut out, &mut open).expect("a vector takes everything");
    let mut input = BufReader::new(&out[..]);
    std::iter::from_fn(|| dap::read(&mut input).expect("the server speaks the protocol")).collect()
}

#[test]
fn an_editor_sets_a_breakpoint_on_a_line_and_looks_at_registers() {
    use serde_json::json;
    let none = json!({});
    let sent = served(&[
        ("initialize", json!({ "adapterID": "isaforge" })),
        ("launch", json!({ "program": "count.yaml", "stopOnEntry": false })),
        (
            "setBreakpoints",
            json!({ "source": { "path": "count.s" }, "breakpoints": [{ "line": 9, "condition": "r0 == 3" }] }),
        ),
        ("configurationDone", none.clone()),
        ("threads", none.clone()),
        ("stackTrace", json!({ "threadId": 1 })),
        ("scopes", json!({ "frameId": 1 })),
        ("variables", json!({ "variablesReference": 1 << 16 })),
        ("evaluate", json!({ "expression": "r0", "context": "hover" })),
        ("stepBack", json!({ "threadId": 1 })),
        ("stackTrace", json!({ "threadId": 1 })),
        ("nonsense", none.clone()),
        ("continue", json!({ "threadId": 1 })),
        ("continue", json!({ "threadId": 1 })),
        ("disconnect", none),
    ]);
    let answer =
        |command: &'static str| sent.iter().filter(move |m| m["type"] == "response" && m["command"] == command);
    let body = |command: &'static str| {
        answer(command).next().unwrap_or_else(|| panic!("{command} is answered"))["body"].clone()
    };
    assert_eq!(body("setBreakpoints")["breakpoints"][0]["verified"], true, "{sent:#?}");
    assert_eq!(body("stackTrace")["stackFrames"][0]["line"], 9, "{sent:#?}");
    assert_eq!(body("scopes")["scopes"][0]["name"], "registers");
    let variables = body("variables")["variables"].clone();
    assert!(
        variables.as_array().is_some_and(|all| all.iter().any(|one| one["name"] == "r0" && one["value"] == "00000003"))
    );
    assert_eq!(body("evaluate")["result"], "00000003");
    assert_ne!(answer("stackTrace").nth(1).expect("it is asked twice")["body"]["stackFrames"][0]["line"], 9);
    assert_eq!(answer("nonsense").next().expect("it is answered")["success"], false);
    let events: Vec<&str> = sent.iter().filter_map(|m| m["event"].as_str()).collect();
    assert_eq!(events, ["initialized", "stopped", "stopped", "stopped", "terminated"]);
    let sequence: Vec<u64> = sent.iter().filter_map(|m| m["seq"].as_u64()).collect();
    assert_eq!(sequence, (1..=sent.len() as u64).collect::<Vec<_>>());
}

#[test]
fn an_editor_watches_registers_and_memory() {
    use serde_json::json;
    let none = json!({});
    let lanes = json!(1u64 << 17);
    let sent = served(&[
        ("initialize", json!({ "adapterID": "isaforge" })),
        ("launch", json!({ "program": "count.yaml", "stopOnEntry": false })),
        ("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "again" }, { "name": "nowhere" }] })),
        // The breakpoint on the label stays when those on lines are replaced.
        ("setBreakpoints", json!({ "source": { "path": "count.s" }, "breakpoints": [] })),
        ("dataBreakpointInfo", json!({ "variablesReference": 1 << 16, "name": "r0" })),
        ("dataBreakpointInfo", json!({ "variablesReference": lanes, "name": "lane 1" })),
        ("dataBreakpointInfo", json!({ "name": "0x1000", "asAddress": true, "bytes": 8 })),
        ("dataBreakpointInfo", json!({ "name": "nothing" })),
        (
            "setDataBreakpoints",
            json!({ "breakpoints": [
            { "dataId": "r0 lane 1" }, { "dataId": "r0", "accessType": "read" }, { "dataId": "r0", "condition": "r0 > 1" },
        ] }),
        ),
        ("configurationDone", none.clone()),
        ("setFunctionBreakpoints", json!({ "breakpoints": [] })),
        ("continue", json!({ "threadId": 1 })),
        ("setDataBreakpoints", json!({ "breakpoints": [] })),
        ("continue", json!({ "threadId": 1 })),
    ]);
    let bodies = |command: &'static str| {
        let answers = sent.iter().filter(move |m| m["type"] == "response" && m["command"] == command);
        answers.map(|m| m["body"].clone()).collect::<Vec<_>>()
    };
    let ids: Vec<_> = bodies("dataBreakpointInfo").iter().map(|body| body["dataId"].clone()).collect();
    assert_eq!(ids, [json!("r0"), json!("r0 lane 1"), json!("0x1000 8"), json!(null)], "{sent:#?}");
    let verified = |body: &serde_json::Value| {
        let all = body["breakpoints"].as_array().into_iter().flatten();
        all.map(|one| one["verified"] == true).collect::<Vec<_>>()
    };
    assert_eq!(verified(&bodies("setFunctionBreakpoints")[0]), [true, false], "{sent:#?}");
    assert_eq!(verified(&bodies("setDataBreakpoints")[0]), [true, false, false], "{sent:#?}");
    let stops: Vec<&str> = sent.iter().filter_map(|m| m["body"]["reason"].as_str()).collect();
    assert_eq!(stops, ["breakpoint", "data breakpoint"], "{sent:#?}");
    assert_eq!(sent.last().expect("there are messages")["event"], "terminated");
}

/// Draws the first stop after a number of steps.
struct Picture(u64, String);

impl FrontEnd for Picture {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        if stop.count == 0 {
            session.stop_at(Some(2), None);
            return Resume::Step(self.0);
        }
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).expect("a buffer is a terminal");
        let screen = terminal::Screen { lane: 1, ..terminal::Screen::default() };
        terminal.draw(|frame| terminal::draw(frame, session, stop, &screen)).expect("a buffer can be drawn to");
        self.1 = terminal.backend().to_string();
        Resume::Quit
    }
}

#[test]
fn the_terminal_shows_program_lanes_and_registers() {
    let machine = machine();
    let mut session = Session::new(&machine, listing(&machine));
    let mut picture = Picture(3, String::new());
    session.run(&mut picture).expect("it starts");
    let expected = include_str!("terminal.txt");
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/terminal.txt");
        std::fs::write(path, &picture.1).expect("goldens can be written");
    } else {
        assert_eq!(picture.1, expected);
    }
}

/// A terminal at the first stop.
struct At80<'a, 'm, 'v> {
    session: &'a mut Session<'m>,
    stop: &'a Stop<'v>,
    screen: terminal::Screen,
}

impl At80<'_, '_, '_> {
    fn press(&mut self, code: KeyCode) -> Option<Resume> {
        self.screen.press(self.session, self.stop, KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn enter(&mut self, command: &str) {
        self.press(KeyCode::Char(':'));
        command.chars().for_each(|letter| _ = self.press(KeyCode::Char(letter)));
        self.press(KeyCode::Enter);
    }

    fn picture(&self) -> String {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a buffer is a terminal");
        let draw = |frame: &mut ratatui::Frame<'_>| terminal::draw(frame, self.session, self.stop, &self.screen);
        terminal.draw(draw).expect("a buffer can be drawn to");
        terminal.backend().to_string()
    }
}

type Look<'l> = &'l mut dyn FnMut(&mut At80<'_, '_, '_>);

struct Looks<'l>(Look<'l>);

impl FrontEnd for Looks<'_> {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        let screen = terminal::Screen { size: (80, 24), ..terminal::Screen::default() };
        (self.0)(&mut At80 { session, stop, screen });
        Resume::Quit
    }
}

/// Looks at the terminal at the first stop.
fn look(look: Look<'_>) {
    let machine = machine();
    Session::new(&machine, listing(&machine)).run(&mut Looks(look)).expect("it starts");
}

#[test]
fn a_small_terminal_shows_all_keys_and_all_of_the_help() {
    look(&mut |at| {
        let picture = at.picture();
        assert!(picture.contains("s step") && picture.contains("? help  q quit"), "{picture}");
        at.press(KeyCode::Char('?'));
        let mut seen = at.picture();
        for _ in 0..100 {
            at.press(KeyCode::Down);
            seen += &at.picture();
        }
        for expected in isaforge_debugger::command::COMMANDS {
            assert!(seen.contains(&format!("\"│{} ", expected.name)), "{}", expected.name);
        }
        assert!(seen.contains("view [[SPACE:]ADDRESS] ") && seen.contains("while it goes back, Esc does"), "{seen}");
        // Scrolling stops at the last line.
        let last = at.picture();
        at.press(KeyCode::Up);
        assert_ne!(at.picture(), last);
        at.press(KeyCode::Esc);
        assert_eq!(at.picture(), picture);
    });
}

#[test]
fn letters_with_control_are_no_letters() {
    look(&mut |at| {
        for letter in ['s', 'n', 'b', 'r', 'q', ':'] {
            let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
            assert_eq!(at.screen.press(at.session, at.stop, key), None, "{letter}");
        }
        at.press(KeyCode::Char(':'));
        let key = KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(at.screen.press(at.session, at.stop, key), None);
        assert_eq!(at.screen.prompt.as_ref().map(|prompt| prompt.line.as_str()), Some(""));
        let key = KeyEvent::new(KeyCode::Char('['), KeyModifiers::CONTROL | KeyModifiers::ALT);
        assert_eq!(at.screen.press(at.session, at.stop, key), None);
        assert_eq!(at.screen.prompt.as_ref().map(|prompt| prompt.line.as_str()), Some("["));
    });
}

#[test]
fn the_prompt_is_edited_and_remembers_lines() {
    look(&mut |at| {
        let line =
            |at: &At80<'_, '_, '_>| at.screen.prompt.as_ref().map(|prompt| prompt.line.clone()).unwrap_or_default();
        let control = |at: &mut At80<'_, '_, '_>, letter| {
            let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
            assert_eq!(at.screen.press(at.session, at.stop, key), None);
        };
        at.enter("print r0");
        at.enter("break é again");
        at.enter("break é again");
        at.press(KeyCode::Char(':'));
        at.press(KeyCode::Char('x'));
        for (code, expected) in [
            (KeyCode::Up, "break é again"),
            (KeyCode::Up, "print r0"),
            (KeyCode::Up, "print r0"),
            (KeyCode::Down, "break é again"),
            (KeyCode::Down, "x"),
            (KeyCode::Down, "x"),
            (KeyCode::Up, "break é again"),
            (KeyCode::Home, "break é again"),
            (KeyCode::Left, "break é again"),
            (KeyCode::Delete, "reak é again"),
            (KeyCode::Char('B'), "Break é again"),
            (KeyCode::End, "Break é again"),
            (KeyCode::Right, "Break é again"),
            (KeyCode::Backspace, "Break é agai"),
        ] {
            at.press(code);
            assert_eq!(line(at), expected, "{code:?}");
        }
        control(at, 'w');
        assert_eq!(line(at), "Break é ");
        at.press(KeyCode::Left);
        at.press(KeyCode::Backspace);
        assert_eq!(line(at), "Break  ");
        control(at, 'a');
        control(at, 'u');
        control(at, 'e');
        assert_eq!(line(at), "Break  ");
        control(at, 'u');
        assert_eq!(line(at), "");
        // What is longer than the screen is cut around the cursor.
        "0123456789".repeat(9).chars().for_each(|digit| _ = at.press(KeyCode::Char(digit)));
        at.press(KeyCode::Char('!'));
        assert!(at.picture().contains("789!"), "{}", at.picture());
        at.press(KeyCode::Home);
        assert!(at.picture().contains(":0123"), "{}", at.picture());
        // What follows the cursor stays when a word is completed.
        control(at, 'e');
        control(at, 'u');
        "to ag".chars().for_each(|letter| _ = at.press(KeyCode::Char(letter)));
        at.press(KeyCode::Left);
        at.press(KeyCode::Tab);
        assert_eq!(line(at), "to againg");
    });
}

#[test]
fn a_view_of_what_is_no_address_is_an_error() {
    look(&mut |at| {
        at.enter("view 0x1000");
        assert_eq!(at.screen.memory.map(|at| at.to_string()), Some("0x1000".to_owned()));
        at.enter("view zz");
        assert!(at.screen.memory.is_some_and(|at| at.at == 0x1000));
        assert_eq!(at.screen.answer, "error: `zz` is not an address");
        at.enter("view");
        assert_eq!((at.screen.memory, at.screen.answer.as_str()), (None, ""));
    });
}

#[test]
fn answers_leave_the_output_of_the_program_in_view_and_can_be_scrolled() {
    look(&mut |at| {
        at.screen.write("what it says\n");
        at.screen.answer = "the program has ended".to_owned();
        let picture = at.picture();
        assert!(picture.contains("what it says") && picture.contains("the program has ended"), "{picture}");
        at.enter("help");
        let picture = at.picture();
        assert!(picture.contains("│step [N]") && picture.contains(" output and answers: 2 to 8 of "), "{picture}");
        (0..10).for_each(|_| _ = at.press(KeyCode::PageDown));
        assert!(at.picture().contains("│quit "), "{}", at.picture());
        (0..10).for_each(|_| _ = at.press(KeyCode::PageUp));
        assert!(at.picture().contains("what it says"), "{}", at.picture());
        at.screen.answer = "word ".repeat(20) + "end";
        assert!(at.picture().contains("│word word word word word end "), "{}", at.picture());
    });
}

#[test]
fn registers_scroll_to_the_last_one() {
    look(&mut |at| {
        (0..1000).for_each(|_| _ = at.press(KeyCode::Down));
        let last = at.picture();
        at.press(KeyCode::Up);
        assert_ne!(at.picture(), last);
    });
}

#[test]
fn breakpoints_of_an_editor_on_labels_have_conditions() {
    use serde_json::json;
    let stops = |condition: &str| {
        let sent = served(&[
            ("initialize", json!({ "adapterID": "isaforge" })),
            ("launch", json!({ "program": "count.yaml", "stopOnEntry": false })),
            ("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "again", "condition": condition }] })),
            ("configurationDone", json!({})),
            ("continue", json!({ "threadId": 1 })),
        ]);
        sent.iter().filter(|m| m["body"]["reason"] == "breakpoint").count()
    };
    assert_eq!(stops("r0 == 0 in lane 1"), 1);
    assert_eq!(stops("r0 == 99 in any lane"), 0);
}
