//! The debugger as editors use it: requests and events of the Debug Adapter Protocol, also while a program runs.

use std::io::BufReader;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

/// A factorial, computed by a recursion.
pub(crate) const FACTORIAL: &str = "program: |
  start: addi x2, x0, 1024
         addi x10, x0, 4
         jal x1, f
  back:  addi x6, x10, 0
         beq x0, x0, fin
  f:     beq x10, x0, base
         addi x2, x2, -8
         sw x1, 0(x2)
         sw x10, 4(x2)
         addi x10, x10, -1
         jal x1, f
  ret:   lw x11, 4(x2)
         lw x1, 0(x2)
         addi x2, x2, 8
         mul x10, x10, x11
         jalr x0, 0(x1)
  base:  addi x10, x0, 1
         jalr x0, 0(x1)
  fin:   addi x0, x0, 0
buffers: { s: { address: 512, size: 512 } }
";

/// A call that takes long.
const SLOW: &str = "program: |
  start: addi x5, x0, 0
         jal x1, slow
  after: addi x6, x0, 7
         addi x7, x0, 8
         beq x0, x0, fin
  slow:  lui x9, 8
  loop:  addi x9, x9, -1
         bne x9, x0, loop
         jalr x0, 0(x1)
  fin:   addi x0, x0, 0
";

const ENDLESS: &str = "program: |
  l: addi x5, x5, 1
     addi x6, x6, 1
     beq x0, x0, l
";

/// Writes the two bytes of a character one by one, and then two letters; it ends after two more instructions.
const LETTERS: &str = "program: |
  addi x17, x0, 64
  addi x10, x0, 1
  addi x11, x0, 1024
  addi x12, x0, 1
  ecall
  addi x10, x0, 1
  addi x11, x0, 1025
  ecall
  addi x10, x0, 1
  addi x11, x0, 1026
  addi x12, x0, 2
  ecall
  addi x5, x0, 1
  addi x5, x0, 2
buffers: { s: { address: 1024, words: [0x4241a9c3] } }
";

/// An editor at work.
struct Editor {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    requests: u64,
    events: Vec<Value>,
    folder: tempfile::TempDir,
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Editor {
    /// Starts the server beside a launch file for the example `riscv`.
    fn new(launch: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
        let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge"))
            .args(["debug", "--dap", "--spec", &format!("{EXAMPLES}/riscv")])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(Some(message)) = isaforge_debugger::dap::read(&mut output) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        Editor { child, input, messages, requests: 0, events: Vec::new(), folder }
    }

    /// Starts to debug the launch file.
    fn launched(launch: &str) -> Self {
        let mut editor = Editor::new(launch);
        editor.launch(true);
        editor.ask("configurationDone", json!({}));
        assert_eq!(editor.stop()["reason"], "entry");
        editor
    }

    fn launch(&mut self, entry: bool) {
        self.ask("initialize", json!({ "adapterID": "isaforge" }));
        self.ask("launch", json!({ "program": "launch.yaml", "stopOnEntry": entry }));
    }

    fn send(&mut self, command: &str, arguments: Value) -> u64 {
        self.requests += 1;
        let body = json!({ "seq": self.requests, "type": "request", "command": command, "arguments": arguments });
        let body = body.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
        self.requests
    }

    fn receive(&self) -> Value {
        self.messages.recv_timeout(Duration::from_secs(60)).expect("the server says something")
    }

    /// The response to a request. Events before it are kept.
    fn response(&mut self, command: &str, arguments: Value) -> Value {
        let number = self.send(command, arguments);
        loop {
            let message = self.receive();
            if message["request_seq"] == number {
                return message;
            }
            self.events.push(message);
        }
    }

    /// The body of the response to a request that succeeds.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let response = self.response(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// The body of the next event of a kind.
    fn event(&mut self, kind: &str) -> Value {
        loop {
            if let Some(found) = self.events.iter().position(|event| event["event"] == kind) {
                return self.events.remove(found)["body"].clone();
            }
            let message = self.receive();
            self.events.push(message);
        }
    }

    fn stop(&mut self) -> Value {
        self.event("stopped")
    }

    /// Resumes the program. Returns where and why it stops.
    fn resume(&mut self, command: &str) -> Value {
        self.ask(command, json!({ "threadId": 1 }));
        self.stop()
    }

    fn evaluate(&mut self, expression: &str, context: &str) -> Value {
        self.response("evaluate", json!({ "expression": expression, "context": context, "frameId": 1 }))
    }

    /// Sets breakpoints on lines of a file.
    fn set(&mut self, path: &str, lines: &[u64]) -> Vec<Value> {
        let lines: Vec<Value> = lines.iter().map(|line| json!({ "line": line })).collect();
        let body = self.ask("setBreakpoints", json!({ "source": { "path": path }, "breakpoints": lines }));
        body["breakpoints"].as_array().expect("a list").clone()
    }

    fn path(&self) -> String {
        self.folder.path().join("launch.yaml").display().to_string()
    }
}

fn place(stop: &Value) -> String {
    stop["text"].as_str().unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn breakpoints_in_another_file_are_refused_and_those_of_the_program_stay() {
    let mut editor = Editor::launched(FACTORIAL);
    let path = editor.path();
    assert_eq!(editor.set(&path, &[5])[0]["verified"], true);
    let other = editor.set("/nowhere/other.s", &[2, 3]);
    assert!(other.len() == 2 && other.iter().all(|one| one["verified"] == false), "{other:?}");
    let message = other[0]["message"].as_str().expect("a message");
    assert!(message.contains("`/nowhere/other.s` is not the source of this program, which is `"), "{message}");
    editor.set("/nowhere/other.s", &[]);
    assert_eq!(place(&editor.resume("continue")), "0xc");
    // The same file by another name.
    assert_eq!(editor.set("launch.yaml", &[]).len(), 0);
    editor.ask("continue", json!({}));
    editor.event("terminated");
}

#[test]
fn lines_of_a_source_that_is_not_known_are_not_those_of_the_disassembly() {
    let mut editor = Editor::new("");
    editor.ask("initialize", json!({}));
    editor.ask("launch", json!({ "program": format!("{EXAMPLES}/riscv/programs/sieve.elf") }));
    let set = editor.set("/nowhere/sieve.c", &[10]);
    assert!(set[0]["message"].as_str().is_some_and(|text| text.contains("only its disassembly")), "{set:?}");
    let source = json!({ "name": "disassembly", "sourceReference": 1 });
    let set = editor.ask("setBreakpoints", json!({ "source": source, "breakpoints": [{ "line": 3 }] }));
    assert_eq!((&set["breakpoints"][0]["verified"], &set["breakpoints"][0]["line"]), (&json!(true), &json!(3)));
}

#[test]
fn only_the_console_carries_out_commands() {
    let mut editor = Editor::launched(FACTORIAL);
    for context in ["watch", "hover", "variables", "clipboard"] {
        for command in ["s", "n", "step", "continue", "restart", "quit"] {
            let answer = editor.evaluate(command, context);
            assert_eq!(answer["success"], false, "{command} {answer}");
        }
    }
    assert_eq!(editor.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0]["line"], 2);
    assert_eq!(editor.evaluate("step 2", "repl")["success"], true);
    assert_eq!(editor.event("continued")["allThreadsContinued"], true);
    assert_eq!(place(&editor.stop()), "0x8");
    let answer = editor.evaluate("x2", "watch")["body"].clone();
    // The stack is empty: nothing is mapped where it would end.
    assert_eq!((&answer["result"], &answer["memoryReference"]), (&json!("00000400"), &Value::Null));
    assert_eq!(editor.evaluate("[0x200]", "watch")["body"]["memoryReference"], "0x200");
    assert_eq!(editor.evaluate("sp as u32", "hover")["body"]["result"], "1024");
    assert_eq!(editor.evaluate("[0x200]", "watch")["body"]["result"], "00000000");
}

#[test]
fn requests_during_a_step_over_a_call_do_not_end_it() {
    let mut editor = Editor::launched(SLOW);
    editor.resume("next");
    editor.ask("next", json!({ "threadId": 1 }));
    editor.ask("threads", json!({}));
    let path = editor.path();
    assert_eq!(editor.set(&path, &[6])[0]["verified"], true);
    let stop = editor.stop();
    assert_eq!((place(&stop), &stop["reason"]), ("0x8".to_owned(), &json!("step")));
}

#[test]
fn the_function_that_a_step_leaves_is_that_of_its_own_call() {
    let mut editor = Editor::launched(FACTORIAL);
    let label = json!({ "breakpoints": [{ "name": "f", "condition": "x10 == 2" }] });
    editor.ask("setFunctionBreakpoints", label);
    assert_eq!(place(&editor.resume("continue")), "0x14");
    assert_eq!(place(&editor.resume("stepOut")), "0x28");
    assert_eq!(editor.evaluate("x10 as u32", "watch")["body"]["result"], "2");
    assert_eq!(place(&editor.resume("stepOut")), "0x28");
    assert_eq!(editor.evaluate("x10 as u32", "watch")["body"]["result"], "6");
    assert_eq!(place(&editor.resume("stepOut")), "0xc");
    assert_eq!(place(&editor.resume("stepOut")), "0x10");
    let output = editor.event("output")["output"].clone();
    assert!(output.as_str().is_some_and(|text| text.contains("no call of this function has been seen")), "{output}");
}

#[test]
fn a_breakpoint_on_the_first_instruction_stops_there() {
    let mut editor = Editor::new(FACTORIAL);
    editor.launch(false);
    let path = editor.path();
    editor.set(&path, &[2]);
    editor.ask("configurationDone", json!({}));
    let stop = editor.stop();
    assert_eq!((place(&stop), &stop["reason"]), ("0x0".to_owned(), &json!("breakpoint")));
    assert_eq!(editor.resume("restart")["reason"], "breakpoint");
}

#[test]
fn registers_that_a_program_names_are_listed_and_refer_to_their_memory() {
    let mut editor = Editor::launched(
        "program: |\n  l: addi x5, x5, 1\n     bne x5, x6, l\nregisters: { x5: 0x7000, x6: 0x7000, x7: 512 }\nbuffers: { b: { address: 512, size: 4 } }\n",
    );
    let scope = editor.ask("scopes", json!({ "frameId": 1 }))["scopes"][0]["variablesReference"].clone();
    let listed = editor.ask("variables", json!({ "variablesReference": scope }))["variables"].clone();
    let listed = listed.as_array().expect("a list");
    let names: Vec<&str> = listed.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["t0", "t1", "t2"]);
    // Nothing is mapped at the values of the others.
    let references: Vec<&Value> = listed.iter().map(|one| &one["memoryReference"]).collect();
    assert_eq!(references, [&Value::Null, &Value::Null, &json!("0x200")]);
    for one in listed {
        let reference = one["variablesReference"].as_u64().expect("a reference");
        assert!(reference > 0 && reference < 1 << 31, "{reference}");
        let lanes = editor.ask("variables", json!({ "variablesReference": reference }));
        assert_eq!(lanes["variables"][0]["value"], one["value"], "{lanes}");
    }
}

#[test]
fn memory_is_read_up_to_what_is_not_mapped() {
    let mut editor = Editor::launched(FACTORIAL);
    let mut read = |reference: &str, offset: i64, count: u64| {
        editor.response("readMemory", json!({ "memoryReference": reference, "offset": offset, "count": count }))
    };
    let body = read("0x3fc", 0, 8)["body"].clone();
    assert_eq!(body, json!({ "address": "0x3fc", "data": "AAAAAA==", "unreadableBytes": 4 }));
    assert_eq!(read("0x200", -2, 4)["body"], json!({ "address": "0x1fe", "unreadableBytes": 2 }));
    assert!(read("sp", 0, 4)["message"].as_str().is_some_and(|text| text.contains("`sp` is not an address")));
    assert!(read("0x0", -1, 4)["message"].as_str().is_some_and(|text| text.contains("is not an address")));
}

#[test]
fn an_editor_shows_the_disassembly_around_an_instruction() {
    let mut editor = Editor::new(FACTORIAL);
    let can = editor.ask("initialize", json!({ "adapterID": "isaforge" }));
    assert_eq!((&can["supportsDisassembleRequest"], &can["supportsSteppingGranularity"]), (&json!(true), &json!(true)));
    editor.ask("launch", json!({ "program": "launch.yaml" }));
    editor.ask("configurationDone", json!({}));
    editor.stop();
    let frame = editor.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0].clone();
    let reference = frame["instructionPointerReference"].as_str().expect("a reference").to_owned();
    let mut ask = |reference: &str, offset: i64, from: i64, count: u64| {
        let arguments = json!({
            "memoryReference": reference, "offset": offset, "instructionOffset": from, "instructionCount": count,
        });
        let body = editor.ask("disassemble", arguments);
        body["instructions"].as_array().expect("a list").clone()
    };
    let found = ask(&reference, 0, -2, 5);
    let of = |key: &str| found.iter().map(|one| one[key].clone()).collect::<Vec<Value>>();
    assert_eq!(of("address"), ["-1", "-1", "0x0", "0x4", "0x8"]);
    assert_eq!((of("presentationHint")[1].clone(), of("presentationHint")[2].clone()), (json!("invalid"), Value::Null));
    assert_eq!((&found[2]["symbol"], &found[2]["line"], &found[4]["line"]), (&json!("start"), &json!(2), &json!(4)));
    assert_eq!((&found[2]["instructionBytes"], &found[3]["symbol"]), (&json!("13010040"), &Value::Null));
    assert!(found[2]["instruction"].as_str().is_some_and(|text| text.starts_with("li sp, ")), "{}", found[2]);
    assert!(found[2]["location"]["path"].as_str().is_some_and(|path| path.ends_with("launch.yaml")), "{}", found[2]);
    let addresses = |found: &[Value]| found.iter().map(|one| one["address"].clone()).collect::<Vec<Value>>();
    assert_eq!(addresses(&ask("0x10", -4, 1, 2)), ["0x10", "0x14"]);
    // The program ends, and memory that is no program holds no instructions of it.
    assert_eq!(addresses(&ask("0x40", 0, 0, 3)), ["0x40", "-1", "-1"]);
    assert_eq!(addresses(&ask("0x40", 0, -19, 3)), ["-1", "0x0", "0x4"]);
    assert_eq!(addresses(&ask("0xffff0000", 0, -1, 2)), ["-1", "-1"]);
    let refused = editor.response("disassemble", json!({ "memoryReference": "start", "instructionCount": 1 }));
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("`start` is not the address")), "{refused}");
    editor.ask("stepIn", json!({ "threadId": 1, "granularity": "instruction" }));
    assert_eq!(place(&editor.stop()), "0x4");
}

#[test]
fn lines_and_columns_count_from_where_an_editor_counts() {
    let mut editor = Editor::new(FACTORIAL);
    editor.ask("initialize", json!({ "linesStartAt1": false, "columnsStartAt1": false }));
    editor.ask("launch", json!({ "program": "launch.yaml" }));
    editor.ask("configurationDone", json!({}));
    editor.stop();
    let frame = editor.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0].clone();
    assert_eq!((&frame["line"], &frame["column"]), (&json!(1), &json!(0)));
    let path = editor.path();
    assert_eq!(editor.set(&path, &[4])[0]["line"], 4);
    assert_eq!(place(&editor.resume("continue")), "0xc");
    let targets = editor.ask("completions", json!({ "text": "to bas", "column": 6 }))["targets"].clone();
    assert_eq!(targets, json!([{ "label": "base", "start": 3, "length": 3 }]));
    let rest = editor.ask("stackTrace", json!({ "threadId": 1, "startFrame": 1, "levels": 20 }));
    assert_eq!(rest["stackFrames"], json!([]));
}

#[test]
fn requests_are_answered_while_a_program_goes_back() {
    let mut editor = Editor::launched(ENDLESS);
    for command in ["stepBack", "reverseContinue"] {
        editor.ask("continue", json!({ "threadId": 1 }));
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(editor.resume("pause")["reason"], "pause");
        editor.ask(command, json!({ "threadId": 1 }));
        assert_eq!(editor.resume("pause")["reason"], "pause", "{command}");
    }
    // What does not interrupt is answered where the program arrives.
    editor.ask("continue", json!({ "threadId": 1 }));
    std::thread::sleep(Duration::from_millis(500));
    editor.resume("pause");
    editor.ask("stepBack", json!({ "threadId": 1 }));
    editor.send("stepIn", json!({ "threadId": 1 }));
    let count = editor.evaluate("count", "repl")["body"]["result"].clone();
    assert!(count.as_str().is_some_and(|count| count.parse::<u64>().is_ok_and(|count| count % 4096 == 0)), "{count}");
    editor.ask("reverseContinue", json!({ "threadId": 1 }));
    editor.ask("disconnect", json!({}));
    assert!(editor.child.wait().expect("it ends").success());
}

#[test]
fn output_is_whole_characters_and_comes_again_after_a_restart() {
    let mut editor = Editor::launched(LETTERS);
    editor.ask("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "0x34" }] }));
    for command in ["continue", "restart", "continue"] {
        editor.resume(command);
    }
    let outputs = editor.events.iter().filter(|event| event["event"] == "output");
    let texts: Vec<&str> = outputs.filter_map(|event| event["body"]["output"].as_str()).collect();
    assert_eq!(texts, ["é", "AB", "é", "AB"]);
}

#[test]
fn a_second_launch_waits_for_its_own_breakpoints() {
    let mut editor = Editor::launched(FACTORIAL);
    editor.ask("terminate", json!({}));
    editor.event("terminated");
    editor.launch(true);
    editor.ask("threads", json!({}));
    assert!(editor.events.iter().all(|event| event["event"] != "stopped"), "{:?}", editor.events);
    editor.ask("configurationDone", json!({}));
    assert_eq!(editor.stop()["reason"], "entry");
}

#[test]
fn a_memory_of_its_own_is_read_and_watched() {
    let mut editor = Editor::new("program: |2\n  sts r1\n  stg r1\nregisters: { r1: 0x66 }\n");
    fs::write(editor.folder.path().join("isa.yaml"), spaces::SET).expect("it is written");
    editor.ask("launch", json!({ "program": "launch.yaml", "spec": "isa.yaml" }));
    editor.ask("configurationDone", json!({}));
    editor.stop();
    let mut read = |reference: &str, offset: i64| {
        editor.response("readMemory", json!({ "memoryReference": reference, "offset": offset, "count": 4 }))
    };
    assert_eq!(read("shared:0x100", 0)["body"], json!({ "address": "0x100", "data": "AAAAAA==" }));
    let end = json!({ "address": "0x3fe", "data": "AAA=", "unreadableBytes": 2 });
    assert_eq!(read("shared:0x100", 0x2fe)["body"], end);
    assert!(read("tile:0", 0)["message"].as_str().is_some_and(|text| text.contains("expected `shared`")));
    assert_eq!(editor.evaluate("[shared:0x100]", "watch")["body"]["memoryReference"], "shared:0x100");
    let targets = editor.ask("completions", json!({ "text": "watch sh", "column": 9 }))["targets"].clone();
    assert_eq!(targets[0]["label"], "shared:");
    let what = editor.ask("dataBreakpointInfo", json!({ "name": "shared:0x100", "bytes": 4 }))["dataId"].clone();
    assert_eq!(what, "shared:0x100 4");
    let set = editor.ask("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": what }] }));
    assert_eq!(set["breakpoints"][0]["verified"], true);
    let stop = editor.resume("continue");
    assert_eq!(stop["reason"], "data breakpoint");
    assert!(stop["description"].as_str().is_some_and(|text| text.contains("memory at shared:0x100 was")), "{stop}");
}

#[test]
fn an_editor_is_told_the_exit_status_of_a_program_that_has_one() {
    let mut editor = Editor::launched("program: |\n  addi x17, x0, 93\n  addi x10, x0, 7\n  ecall\n");
    editor.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(editor.event("exited"), json!({ "exitCode": 7 }));
    editor.event("terminated");
    for (launch, command) in [("program: addi x10, x0, 7\n", "continue"), (ENDLESS, "terminate")] {
        let mut editor = Editor::launched(launch);
        editor.ask(command, json!({ "threadId": 1 }));
        editor.event("terminated");
        assert!(editor.events.iter().all(|event| event["event"] != "exited"), "{:?}", editor.events);
    }
}

#[test]
fn a_program_that_has_ended_goes_back_or_starts_again() {
    let mut editor = Editor::launched(FACTORIAL);
    let go_on = |editor: &mut Editor| {
        editor.ask("continue", json!({ "threadId": 1 }));
        editor.event("terminated");
    };
    go_on(&mut editor);
    for command in ["continue", "next", "stepIn", "stepOut"] {
        let refused = editor.response(command, json!({ "threadId": 1 }));
        assert!(refused["message"].as_str().is_some_and(|text| text.contains("has ended")), "{command}: {refused}");
    }
    assert_eq!(editor.ask("threads", json!({}))["threads"], json!([]));
    let last = editor.resume("stepBack");
    assert_eq!(last["reason"], "step");
    assert_ne!(editor.ask("threads", json!({}))["threads"], json!([]));
    assert_eq!(editor.ask("stackTrace", json!({ "threadId": 1 }))["totalFrames"], 1);
    go_on(&mut editor);
    assert_eq!(editor.resume("reverseContinue")["reason"], "entry");
    go_on(&mut editor);
    assert_eq!(editor.resume("restart")["reason"], "entry");
    editor.ask("terminate", json!({}));
    editor.event("terminated");
    assert_eq!(editor.resume("restart")["reason"], "entry");
    go_on(&mut editor);
    editor.ask("terminate", json!({}));
    editor.ask("disconnect", json!({}));
    assert!(editor.child.wait().expect("it ends").success());
    assert!(editor.events.iter().all(|event| event["event"] != "terminated"), "{:?}", editor.events);
}

#[test]
fn a_running_program_is_terminated_and_started_again() {
    let mut editor = Editor::launched(ENDLESS);
    editor.ask("continue", json!({ "threadId": 1 }));
    editor.ask("terminate", json!({}));
    editor.event("terminated");
    assert_eq!(editor.resume("restart")["reason"], "entry");
}

#[test]
fn threads_and_frames_that_do_not_exist_are_refused() {
    let mut editor = Editor::launched(FACTORIAL);
    for (command, arguments) in [
        ("stackTrace", json!({ "threadId": 99 })),
        ("next", json!({ "threadId": 77 })),
        ("stepIn", json!({ "threadId": 77 })),
        ("stepBack", json!({ "threadId": "1" })),
        ("scopes", json!({ "frameId": 77 })),
        ("evaluate", json!({ "frameId": 77, "expression": "x2" })),
        ("source", json!({ "sourceReference": 99 })),
        ("attach", json!({})),
    ] {
        let refused = editor.response(command, arguments);
        assert_eq!(refused["success"], false, "{refused}");
    }
    assert_eq!(editor.evaluate("count", "repl")["body"]["result"], "0");
}

#[test]
fn paths_are_uris_for_an_editor_that_writes_them_so() {
    let mut editor = Editor::new(FACTORIAL);
    let refused = editor.response("initialize", json!({ "pathFormat": "bytes" }));
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("`pathFormat` is `path` or `uri`")));
    editor.ask("initialize", json!({ "pathFormat": "uri" }));
    editor.ask("launch", json!({ "program": "launch.yaml" }));
    editor.ask("configurationDone", json!({}));
    editor.stop();
    let frame = editor.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0].clone();
    let uri = frame["source"]["path"].as_str().expect("a path").to_owned();
    assert!(uri.starts_with("file:///") && uri.ends_with("/launch.yaml"), "{uri}");
    assert_eq!(editor.set(&uri, &[5])[0]["verified"], true);
    assert_eq!(place(&editor.resume("continue")), "0xc");
}

#[test]
fn a_program_that_is_not_to_be_debugged_runs_to_its_end() {
    let mut editor = Editor::new(FACTORIAL);
    editor.ask("initialize", json!({}));
    editor.ask("launch", json!({ "program": "launch.yaml", "noDebug": true, "stopOnEntry": true }));
    let path = editor.path();
    let set = editor.set(&path, &[5]);
    assert_eq!(set[0]["verified"], false, "{set:?}");
    editor.ask("configurationDone", json!({}));
    editor.event("terminated");
    assert!(editor.events.iter().all(|event| event["event"] != "stopped"), "{:?}", editor.events);
}

#[test]
fn arguments_of_a_launch_have_their_types() {
    let mut editor = Editor::new(FACTORIAL);
    editor.ask("initialize", json!({}));
    for (key, value, expected) in [
        ("stopOnEntry", json!("yes"), "`stopOnEntry` is true or false, not `\"yes\"`"),
        ("noDebug", json!(1), "`noDebug` is true or false, not `1`"),
        ("program", json!(5), "`program` is a text, not `5`"),
        ("generation", json!(9), "`generation` is a text, not `9`"),
    ] {
        let mut arguments = json!({ "program": "launch.yaml", "type": "isaforge", "__sessionId": "1" });
        arguments[key] = value;
        assert_eq!(editor.response("launch", arguments)["message"], expected);
    }
    for (command, program, expected) in [
        ("attach", "launch.yaml", "use `launch`"),
        ("launch", &format!("{EXAMPLES}/valhall/tiles.s"), "tiles.s` is a program, not a launch file"),
    ] {
        let refused = editor.response(command, json!({ "program": program }));
        assert!(refused["message"].as_str().is_some_and(|text| text.contains(expected)), "{refused}");
    }
}

#[test]
fn an_elf_file_without_a_specification_is_refused_with_what_is_missing() {
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let elf = format!("{EXAMPLES}/riscv/programs/sieve.elf");
    let launch = json!({ "seq": 1, "type": "request", "command": "launch", "arguments": { "program": elf } });
    let run = isaforge_in(Path::new("."), &["debug", "--dap"], message(&launch.to_string()).as_bytes()).expect(0);
    assert!(run.out().contains("is an ELF file, not a launch file; add `spec`"), "{}", run.out());
}

#[test]
fn lines_that_do_not_exist_are_not_verified() {
    let mut editor = Editor::launched(FACTORIAL);
    let lines = json!([{ "line": 0 }, { "line": -4 }, { "line": "x" }, {}, { "line": 5 }]);
    let path = editor.path();
    let set = editor.ask("setBreakpoints", json!({ "source": { "path": path }, "breakpoints": lines }));
    let verified: Vec<&Value> =
        set["breakpoints"].as_array().expect("a list").iter().map(|one| &one["verified"]).collect();
    assert_eq!(verified, [false, false, false, false, true], "{set}");
}

#[test]
fn stops_that_are_hit_together_are_all_named() {
    let mut editor = Editor::launched(FACTORIAL);
    let path = editor.path();
    let ids: Vec<Value> = editor.set(&path, &[5, 5]).iter().map(|one| one["id"].clone()).collect();
    assert_eq!(editor.resume("continue")["hitBreakpointIds"], Value::Array(ids));
}

#[test]
fn what_is_watched_may_be_a_condition() {
    let mut editor = Editor::launched(FACTORIAL);
    editor.resume("next");
    let value = |editor: &mut Editor, text: &str| editor.evaluate(text, "watch")["body"]["result"].clone();
    editor.resume("next");
    assert_eq!(value(&mut editor, "sp == 1024 && x5 < 3"), "true");
    assert_eq!(value(&mut editor, "sp == 1"), "false");
    assert_eq!(editor.evaluate("sp == 1024", "repl")["body"]["result"], "true");
    assert_eq!(value(&mut editor, "sp:u32"), "1024");
    assert_eq!(value(&mut editor, "[0x200]:i32"), "0");
    let refused = editor.evaluate("sp == ", "watch");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("the condition ends")), "{refused}");
    let refused = editor.evaluate("", "watch");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("there is no expression")), "{refused}");
    let scopes = editor.ask("scopes", json!({ "frameId": 1 }));
    assert_eq!(scopes["scopes"][0]["presentationHint"], "registers");
}

#[test]
fn completions_are_what_a_command_takes() {
    let mut editor = Editor::launched(FACTORIAL);
    let mut complete = |text: &str| -> Vec<String> {
        let targets = editor.ask("completions", json!({ "text": text, "column": text.len() + 1 }))["targets"].clone();
        let labels = targets.as_array().expect("a list").iter().filter_map(|target| target["label"].as_str());
        labels.map(str::to_owned).collect()
    };
    for (text, expected) in [
        ("fo", &["format"][..]),
        ("format ", &["hex", "u32", "i32", "f32", "f16"]),
        ("format f", &["f32", "f16"]),
        ("to bas", &["base"]),
        ("break base i", &["if"]),
        ("break base if a0 == 1 in l", &["lane"]),
        ("registers ", &["x", "csr", "lane", "as"]),
        ("p sp a", &["as"]),
        ("print sp as h", &["hex"]),
        ("print s1", &["s1", "s10", "s11"]),
        ("step ", &[]),
        ("nothing ", &[]),
    ] {
        assert_eq!(complete(text), expected, "{text}");
    }
}
