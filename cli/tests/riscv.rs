//! RISC-V programs on the specification in `examples/riscv`: the ones in the repository and, if a compiler and an
//! emulator are available, generated ones.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn programs() -> PathBuf {
    root().join("examples/riscv/programs")
}

/// Runs `isaforge run --spec examples/riscv` with these arguments.
fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
    command.current_dir(root()).args(["run", "--spec", "examples/riscv"]).args(arguments);
    command.output().expect("the command starts")
}

fn path(name: &str) -> String {
    programs().join(name).display().to_string()
}

#[track_caller]
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is text")
}

/// The programs and their exit statuses.
const PROGRAMS: [(&str, i32); 4] = [("sieve", 0), ("sort", 42), ("division", 3), ("crc", 0)];

#[test]
fn programs_of_a_compiler_give_what_the_emulator_gave() {
    for (name, status) in PROGRAMS {
        let found = run(&["--quiet", &path(&format!("{name}.elf"))]);
        let expected = fs::read(programs().join(format!("{name}.out"))).unwrap();
        assert_eq!(text(&found.stdout), text(&expected), "{name}");
        assert_eq!((found.status.code(), text(&found.stderr)), (Some(status), ""), "{name}");
    }
}

#[test]
fn a_random_program_leaves_the_signature_that_the_emulator_left() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("signature");
    let found = run(&["--quiet", "--signature", file.to_str().unwrap(), &path("random.elf")]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let expected = fs::read_to_string(programs().join("random.signature")).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    // The program also writes the same words.
    assert_eq!(words(&found.stdout), expected);
    let without = run(&["--signature", file.to_str().unwrap(), &path("sieve.elf")]);
    assert_eq!(without.status.code(), Some(2));
    assert!(text(&without.stderr).contains("has no symbols `begin_signature`"));
}

/// Formats bytes as words, eight digits each.
fn words(bytes: &[u8]) -> String {
    bytes.chunks(4).fold(String::new(), |mut text, word| {
        let _ = writeln!(text, "{:08x}", u32::from_le_bytes(word.try_into().expect("whole words")));
        text
    })
}

#[test]
fn a_program_is_said_to_have_run_unless_it_is_to_be_quiet() {
    let found = run(&[&path("sieve.elf")]);
    assert!(text(&found.stderr).starts_with("ran: 113,083 instructions in "), "{}", text(&found.stderr));
    assert!(text(&found.stderr).ends_with(", status 0\n"));
    assert_eq!(text(&found.stdout), "1229 primes, the last is 9973\n");
}

#[test]
fn a_program_runs_without_its_sections() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.elf");
    let mut content = fs::read(path("sieve.elf")).unwrap();
    // Where the section headers are.
    content[32..36].fill(0xff);
    fs::write(&damaged, content).unwrap();
    let found = run(&["--quiet", &damaged.display().to_string()]);
    assert_eq!((text(&found.stdout), text(&found.stderr)), ("1229 primes, the last is 9973\n", ""));
}

fn launch(folder: &Path, content: &str) -> String {
    let file = folder.join("launch.yaml");
    fs::write(&file, content).unwrap();
    file.display().to_string()
}

#[test]
fn a_trap_ends_with_two_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let file = launch(folder.path(), "program: |\n  addi x2, x0, 16\n  lw x1, 3(x2)\naddress: 0x1000\n");
    let found = run(&["--quiet", &file]);
    assert_eq!((found.status.code(), text(&found.stdout)), (Some(2), ""));
    let message = "at 0x1004: 4 bytes at 0x13 cannot be read: nothing is mapped there (`lw ra, 3(sp)`)\n";
    assert!(text(&found.stderr).ends_with(message), "{}", text(&found.stderr));
    // The output written before the trap is kept.
    let file = launch(
        folder.path(),
        "program: |\n  sw x11, 4(x10)\n  lw x1, 3(x0)\nregisters: { x10: 0x2000, x11: 7 }\nbuffers: { b: { address: 0x2000, size: 8 } }\n",
    );
    let found = run(&["--json", &file]);
    assert!(
        text(&found.stdout).contains(r#""memory":[{"address":8196,"bytes":"07000000","space":null}]"#),
        "{}",
        text(&found.stdout)
    );
    assert!(text(&found.stdout).contains(r#","status":null,"#), "{}", text(&found.stdout));
    let file = launch(folder.path(), "program: |\n  addi x17, x0, 93\n  addi x10, x0, 7\n  ecall\n");
    let found = run(&["--json", &file]);
    assert!(text(&found.stdout).contains(r#","status":7,"#), "{}", text(&found.stdout));
    let found = run(&["--budget", "1000", &path("sieve.elf")]);
    assert_eq!(found.status.code(), Some(2));
    assert!(text(&found.stderr).contains("budget of 1000 instructions"), "{}", text(&found.stderr));
}

#[test]
fn a_launch_file_sets_registers_and_memory_and_shows_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let content = "program: |\n  lw x5, 0(x10)\n  add x5, x5, x11\n  sw x5, 4(x10)\nregisters: { x10: 0x2000, x11: -1 }\n\
                   buffers: { b: { address: 0x2000, words: [8, 0] } }\nshow: [x5]\noutputs: [{ print: { buffer: b, as: u32 } }]\n";
    let found = run(&["--quiet", &launch(folder.path(), content)]);
    assert_eq!(text(&found.stderr), "");
    assert_eq!(found.status.code(), Some(0));
    let lines: Vec<&str> = text(&found.stdout).lines().map(str::trim).collect();
    assert_eq!(lines[0], "t0 = 00000007");
    assert!(lines.last().unwrap().split_whitespace().eq(["0:", "8", "7"]), "{lines:?}");
    let path = run(&[&launch(folder.path(), "program: sieve.s\n")]);
    assert!(text(&path.stderr).contains("a file is `program: { file: sieve.s }`"), "{}", text(&path.stderr));
    let wrong = run(&[&launch(folder.path(), "program: nop9\nshow: [y1]\nregisters: { x1: [1, 2] }\n")]);
    assert_eq!(wrong.status.code(), Some(1));
    for expected in ["nop9", "there is no register or state `y1`", "`ra` takes one value, but there are 2"] {
        assert!(text(&wrong.stderr).contains(expected), "{expected}: {}", text(&wrong.stderr));
    }
    // The last address is one that the program counter does not leave.
    let last = run(&["--quiet", &launch(folder.path(), "program: nop\naddress: 0xfffffff8\n")]);
    assert_eq!((last.status.code(), text(&last.stderr)), (Some(0), ""));
    for (address, code) in [("0xfffffffc", "lui x5, 0x12345"), ("0x100000000", "ebreak"), ("0xffffffffffffffff", "nop")]
    {
        let beyond = run(&[&launch(folder.path(), &format!("program: {code}\naddress: {address}\n"))]);
        assert_eq!(beyond.status.code(), Some(1), "{address}");
        assert!(text(&beyond.stderr).contains("addresses up to 0xffffffff"), "{}", text(&beyond.stderr));
    }
}

#[test]
fn both_engines_give_the_same_and_machine_code_can_be_seen() {
    for (name, _) in PROGRAMS {
        let path = path(&format!("{name}.elf"));
        let [reference, compiled] =
            ["reference", "compiled"].map(|engine| run(&["--quiet", "--engine", engine, &path]));
        assert_eq!((compiled.status, compiled.stdout), (reference.status, reference.stdout), "{name}");
    }
    let found = run(&["--quiet", "--dump-jit", &path("sieve.elf")]);
    assert_eq!(text(&found.stdout).contains("region 0x"), cfg!(target_arch = "x86_64"), "{}", text(&found.stdout));
}

#[test]
fn one_can_look_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = launch(
        folder.path(),
        "program: |\n  addi x1, x0, 7\n  sw x1, 64(x0)\nbuffers: { b: { address: 64, size: 4 } }\n",
    );
    let found = run(&["--quiet", "--trace", &file]);
    let lines: Vec<String> =
        text(&found.stdout).lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines, ["0x0000 li ra, 7 | ra=00000007", "0x0004 sw ra, 64(zero) | [00000040]=00000007"]);
    let found = run(&["--break", "4", &file]);
    assert_eq!(text(&found.stdout), "0x4  warp 0  +  sw ra, 64(zero)\n*ra     = 00000007\n");
}

#[test]
fn a_file_that_is_no_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(programs().join("sieve.elf")).unwrap();
    let file = folder.path().join("a.elf");
    let refused = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let found = run(&[file.to_str().unwrap()]);
        assert_eq!(found.status.code(), Some(2), "{}", text(&found.stderr));
        text(&found.stderr).to_owned()
    };
    let changed = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    assert!(refused(&changed(4, 2)).contains("only ELF files of 32 bits"));
    assert!(refused(&changed(18, 40)).contains("for machine 40, not 243"));
    assert!(refused(&changed(16, 3)).contains("not a program with fixed addresses"));
    // The command handles the file truncated at any length.
    for length in (4..whole.len()).step_by(151) {
        fs::write(&file, &whole[..length]).unwrap();
        let code = run(&["--budget", "10", file.to_str().unwrap()]).status.code();
        assert_eq!(code, Some(2), "{length} bytes");
    }
}

/// The compiler invocation, as in `build.sh`.
fn build(source: &Path, program: &Path, architecture: &str, level: &str) {
    let mut compiler = Command::new("riscv64-linux-gnu-gcc");
    compiler.args([&format!("-march={architecture}"), level]);
    compiler.args(["-mabi=ilp32", "-ffreestanding", "-nostdlib", "-static", "-fno-pic"]);
    compiler.args(["-no-pie", "-Wl,--build-id=none", "-o"]).arg(program).arg(source);
    assert!(compiler.status().expect("the compiler starts").success(), "{}", source.display());
}

/// Compares a program's run with the emulator's. Returns its output.
fn compare(program: &Path) -> Vec<u8> {
    let expected = Command::new("qemu-riscv32").arg(program).output().expect("the emulator starts");
    let found = run(&["--quiet", program.to_str().unwrap()]);
    assert_eq!(found.status.code(), expected.status.code(), "{}: {}", program.display(), text(&found.stderr));
    assert!(found.stdout == expected.stdout, "{} writes something else", program.display());
    found.stdout
}

/// A random number generator: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A program of random instructions that writes its registers and memory, which lie between the signature symbols.
fn random_program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::from(".globl _start\n_start:\n  .option norelax\n  la x31, begin_signature\n");
    for register in 1..31 {
        let corner = ["0", "1", "-1", "0x80000000", "0x7fffffff"][random.below(5)];
        let value = if random.below(3) == 0 { corner.to_owned() } else { (random.0 >> 20 & 0xffff_ffff).to_string() };
        let _ = writeln!(text, "  li x{register}, {value}");
    }
    let three = [
        "add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and", "mul", "mulh", "mulhsu", "mulhu", "div",
        "divu", "rem", "remu",
    ];
    for at in 0..600 {
        // x31 holds the address of the memory.
        let [d, a, b] = [random.below(31), random.below(31), random.below(31)];
        let imm = random.below(4096) as i64 - 2048;
        let _ = match random.below(12) {
            0..=4 => writeln!(text, "  {} x{d}, x{a}, x{b}", random.pick(&three)),
            5..=6 => {
                let name = random.pick(&["addi", "slti", "sltiu", "xori", "ori", "andi"]);
                writeln!(text, "  {name} x{d}, x{a}, {imm}")
            }
            7 => writeln!(text, "  {} x{d}, x{a}, {}", random.pick(&["slli", "srli", "srai"]), imm & 31),
            8 => writeln!(text, "  {} x{d}, {}", random.pick(&["lui", "auipc"]), random.below(1 << 20)),
            9 => {
                let (name, size) = [("lb", 1), ("lh", 2), ("lw", 4), ("lbu", 1), ("lhu", 2)][random.below(5)];
                writeln!(text, "  {name} x{d}, {}(x31)", random.below(64) * 4 / size * size)
            }
            10 => {
                let (name, size) = [("sb", 1), ("sh", 2), ("sw", 4)][random.below(3)];
                writeln!(text, "  {name} x{a}, {}(x31)", 128 + random.below(128) / size * size)
            }
            _ => {
                let name = random.pick(&["beq", "bne", "blt", "bge", "bltu", "bgeu"]);
                writeln!(text, "  {name} x{a}, x{b}, 1f\n  addi x{d}, x{a}, {at}\n1:")
            }
        };
    }
    for register in 0..31 {
        let _ = writeln!(text, "  sw x{register}, {}(x31)", register * 4);
    }
    text.push_str("  li a0, 1\n  mv a1, x31\n  li a2, 256\n  li a7, 64\n  ecall\n  li a0, 0\n  li a7, 93\n  ecall\n");
    text.push_str(".data\n.balign 4\n.globl begin_signature\nbegin_signature:\n");
    for _ in 0..64 {
        let _ = writeln!(text, "  .word {}", random.0 as u32);
        random.below(2);
    }
    text.push_str(".globl end_signature\nend_signature:\n");
    text
}

#[test]
#[ignore = "needs gcc-riscv64-linux-gnu and qemu-user"]
fn new_programs_do_what_the_emulator_does() {
    let folder = tempfile::tempdir().unwrap();
    for (name, _) in PROGRAMS {
        for architecture in ["rv32im_zicsr", "rv32imc"] {
            let program = folder.path().join(name);
            build(&programs().join(format!("{name}.c")), &program, architecture, "-O2");
            assert_eq!(compare(&program), fs::read(programs().join(format!("{name}.out"))).unwrap(), "{name}");
        }
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or(since.as_nanos() as u64);
    let count = if given.is_some() { 1 } else { 100 };
    for seed in (0..count).map(|k| seed.wrapping_add(k)) {
        println!("a random program of seed {seed}; SEED={seed} repeats it");
        let (source, program) = (folder.path().join("random.S"), folder.path().join("random"));
        fs::write(&source, random_program(seed)).unwrap();
        build(&source, &program, ["rv32im", "rv32imc"][seed as usize & 1], "-O2");
        compare(&program);
        if let Ok(keep) = std::env::var("KEEP") {
            fs::copy(&source, Path::new(&keep).join("random.S")).unwrap();
        }
    }
}

/// The output of `isaforge` with these arguments for a text.
fn filter(arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
    let all = ["--spec", "examples/riscv", "--order", "memory", "--tsv", "-"];
    command.current_dir(root()).args(arguments).args(all);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || pipe.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer ends").expect("the input is taken");
    text_of(output)
}

fn text_of(output: Output) -> String {
    String::from_utf8(output.stdout).expect("output is text")
}

/// A line of `objdump` output: the address, the bytes in memory order, and the text without remarks, with the branch
/// target replaced by its distance.
fn listed(line: &str) -> Option<(String, String)> {
    let (address, rest) = line.trim_start().split_once(":\t")?;
    let address = i64::from_str_radix(address, 16).ok()?;
    let (word, text) = rest.split_once('\t')?;
    let word = u32::from_str_radix(word.trim(), 16).map(|bits| (bits, word.trim().len() / 2)).ok()?;
    let bytes: String = word.0.to_le_bytes()[..word.1].iter().map(|byte| format!("{byte:02x}")).collect();
    let text = text.split(['#', '<']).next().unwrap_or_default().replace('\t', " ").trim().to_owned();
    let register = text.starts_with("jr ") || text.starts_with("jalr ");
    if text.starts_with(['b', 'j']) && !register {
        let at = text.rfind([',', ' '])? + 1;
        let target = i64::from_str_radix(&text[at..], 16).ok()?;
        return Some((bytes, format!("{}{}", &text[..at], target - address)));
    }
    Some((bytes, text))
}

#[test]
fn a_line_may_be_a_whole_program() {
    let listing = "l0:\\nadd a0, a0, -1\\nbnez a0, l0\\nj l4\\nadd a1, a1, 1\\nl4:\\nret";
    let made = filter(&["asm"], listing);
    let read = filter(&["dis"], &made);
    assert_eq!(read.trim_end().split('\t').nth(2), Some(listing), "{made}");
    let wrong = filter(&["dis"], &format!("{}0000", made.trim_end()));
    assert!(wrong.contains("\tinvalid\tat byte "), "{wrong}");
}

#[test]
#[ignore = "needs gcc-riscv64-linux-gnu"]
fn whole_programs_read_and_write_as_binutils_does() {
    let folder = tempfile::tempdir().unwrap();
    let levels = ["-O0", "-O2", "-Os"];
    for (name, level) in PROGRAMS.iter().flat_map(|(name, _)| levels.map(|level| (name, level))) {
        let program = folder.path().join(name);
        build(&programs().join(format!("{name}.c")), &program, "rv32imc", level);
        let listing =
            Command::new("riscv64-linux-gnu-objdump").arg("-d").arg(&program).output().expect("objdump starts");
        let rows: Vec<(String, String)> = text(&listing.stdout).lines().filter_map(listed).collect();
        assert!(rows.len() > 50, "{name}: {} instructions", rows.len());
        let short = rows.iter().filter(|(bytes, _)| bytes.len() == 4).count();
        assert!(short * 3 > rows.len(), "{name}: {short} of {} instructions are compressed", rows.len());
        let (bytes, texts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let read = filter(&["dis"], &(bytes.join("\n") + "\n"));
        for (row, expected) in read.lines().zip(&texts) {
            assert_eq!(row.split('\t').nth(2).map(|text| text.replace(", ", ",")).as_ref(), Some(expected), "{row}");
        }
        let written = filter(&["asm"], &(texts.join("\n") + "\n"));
        for (row, (expected, text)) in written.lines().zip(bytes.iter().zip(&texts)) {
            assert_eq!(row.split('\t').next(), Some(expected.as_str()), "{text}");
        }
        assert_eq!((read.lines().count(), written.lines().count()), (texts.len(), texts.len()));
        // As a whole program, so that branches have labels; both assemblers produce the same program from the listing.
        let whole = bytes.concat();
        let read = filter(&["dis"], &whole);
        let listing = read.trim_end().split('\t').nth(2).expect("a listing").to_owned();
        assert!(listing.contains(":\\n"), "{name} has no labels");
        assert_eq!(filter(&["asm"], &listing).trim_end(), whole, "{name}");
        assert_eq!(by_binutils(folder.path(), &for_binutils(&listing, &bytes)), whole, "{name}");
    }
}

/// Adapts a listing for the GNU assembler, to which `jal` is four bytes, although objdump prints compressed jumps by
/// the same name.
fn for_binutils(listing: &str, bytes: &[String]) -> String {
    let mut bytes = bytes.iter();
    let lines = listing.split("\\n").map(|line| {
        let compressed = !line.ends_with(':') && bytes.next().is_some_and(|bytes| bytes.len() == 4);
        format!("{}{line}\n", if compressed && line.starts_with("jal ") { "c." } else { "" })
    });
    lines.collect()
}

/// Assembles a program with the GNU assembler.
fn by_binutils(folder: &Path, listing: &str) -> String {
    let [source, object, binary] = ["listing.s", "listing.o", "listing.bin"].map(|name| folder.join(name));
    fs::write(&source, format!(".option norelax\n{listing}\n")).unwrap();
    let run = |name: &str, arguments: &[&str]| {
        let status = Command::new(format!("riscv64-linux-gnu-{name}")).args(arguments).status();
        assert!(status.expect("binutils start").success(), "{name}");
    };
    let [source, object, written] = [&source, &object, &binary].map(|path| path.to_str().unwrap());
    run("as", &["-march=rv32imc_zicsr", "-mabi=ilp32", "-o", object, source]);
    run("objcopy", &["-O", "binary", "-j", ".text", object, written]);
    fs::read(&binary).unwrap().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn instructions_are_counted_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let bars = folder.path().join("bars.svg");
    let found = run(&["--profile", "--profile-svg", bars.to_str().unwrap(), &path("sieve.elf")]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let (table, output) =
        text(&found.stdout).split_once("\nexecuted by: compiled (counted by the reference)\n").expect("it has a table");
    assert_eq!(output, fs::read_to_string(programs().join("sieve.out")).unwrap());
    let column = |name: &str, index: usize| {
        let row = table.lines().find(|line| line.ends_with(&format!(" {name}"))).expect("it has a row");
        row.split_whitespace().nth(index).unwrap_or_default().to_owned()
    };
    let ran = format!("{} instructions in ", column("all", 2));
    assert!(text(&found.stderr).contains(&ran), "{ran}{}", text(&found.stderr));
    // Words are loaded four bytes at a time.
    let number = |text: String| text.replace(',', "").parse::<u64>().expect("a number");
    assert_eq!(number(column("lw", 5)), 4 * number(column("lw", 2)));
    assert!(fs::read_to_string(&bars).unwrap().contains("addi"));
    let found = run(&["--quiet", "--fidelity", &path("sieve.elf")]);
    assert_eq!(text(&found.stderr), "note: the specification does not give the accuracy of its instructions\n");
}
