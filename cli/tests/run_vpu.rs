//! `isaforge run` for the VPU: pictures compared with pixels computed here, error locations, warnings, failures.

mod launched;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use launched::{Run, run, run_in, run_with};

/// Runs an example launch file in a temporary folder with its files.
fn example(name: &str) -> (tempfile::TempDir, Run) {
    let from = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/vpu"));
    let folder = tempfile::tempdir().expect("a folder");
    for extension in ["yaml", "vpu", "json"] {
        let file = format!("{name}.{extension}");
        fs::copy(from.join(&file), folder.path().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let run = run_in(folder.path(), &format!("{name}.yaml"));
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(!run.err.contains("warning"), "{}", run.err);
    (folder, run)
}

/// The width, channel count and bytes of a picture.
fn picture(path: &Path) -> (usize, usize, Vec<u8>) {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("it is a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut bytes).expect("it is whole");
    (info.width as usize, info.color_type.samples(), bytes)
}

#[test]
fn the_triangles_are_drawn() {
    const TRIANGLES: [[(i32, i32); 3]; 3] =
        [[(4, 6), (58, 14), (20, 58)], [(40, 4), (60, 40), (30, 50)], [(6, 60), (28, 34), (50, 62)]];
    let turn = |a: (i32, i32), b: (i32, i32), c: (i32, i32)| (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
    let (folder, run) = example("triangle");
    assert!(run.err.contains("ran: 1,024 groups on 1 core, 73,728 instructions"), "{}", run.err);
    let (width, channels, bytes) = picture(&folder.path().join("triangle.png"));
    assert_eq!((width, channels, bytes.len()), (256, 4, 256 * 256 * 4));
    for (at, pixel) in bytes.chunks_exact(4).enumerate() {
        let p = ((at % 256 / 4) as i32, (at / 256 / 4) as i32);
        let mut expected = [0.0; 4];
        for [a, b, c] in TRIANGLES {
            let weights = [turn(b, c, p), turn(c, a, p), turn(a, b, p)];
            if weights.iter().all(|weight| *weight >= 0) {
                let part = |weight: i32| f64::from(weight) / f64::from(turn(a, b, c)) * 255.0;
                expected = [part(weights[0]), part(weights[1]), part(weights[2]), 255.0];
            }
        }
        // With eleven bits of precision and rounding to a byte, channels are off by at most one.
        let close = pixel.iter().zip(expected).all(|(found, expected)| (f64::from(*found) - expected).abs() <= 1.0);
        assert!(close, "{p:?}: {pixel:?}, expected {expected:?}");
    }
}

#[test]
fn layers_textures_and_the_mandelbrot_set_are_drawn() {
    let (folder, run) = example("blend");
    assert!(run.out.starts_with("tile 0 as f16:\n       0:"), "{}", run.out);
    let (width, channels, bytes) = picture(&folder.path().join("blend.png"));
    assert_eq!((width, channels), (256, 3));
    for (at, pixel) in bytes.chunks_exact(3).enumerate() {
        let (x, y) = (at % 256 / 8, at / 256 / 8);
        // Four columns and three rows of layers, each with half of a multiple of 1/1024.
        let sum = |at: usize, count: usize| (0..count).map(|n| (at + 32 * n) & 0x7c).sum::<usize>();
        let byte = |of_2048ths: usize| (of_2048ths as f64 / 2048.0 * 255.0 + 0.5) as u8;
        assert_eq!(pixel, [byte(3 * sum(x, 4)), byte(4 * sum(y, 3)), byte(12 * 16)], "({x}, {y})");
    }

    let (folder, _) = example("texture");
    let external = fs::read_to_string(folder.path().join("texture.json")).expect("it is there");
    let (_, hex) = external.split_once("\"external\": \"").expect("the scene has memory");
    let byte = |at: usize| u16::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("it is hexadecimal");
    let (width, channels, bytes) = picture(&folder.path().join("texels.png"));
    assert_eq!(width, 128);
    for (at, pixel) in bytes.chunks_exact(channels).enumerate() {
        let texel = at / 128 / 8 * 16 + at % 128 / 8;
        let bits = byte(2 * texel) | byte(2 * texel + 1) << 8;
        let five = |shift: u16| (f64::from(bits >> shift & 31) * 255.0 / 31.0).round() as u8;
        assert_eq!(pixel[..3], [five(10), five(5), five(0)], "texel {texel}");
    }
    assert_eq!(picture(&folder.path().join("texture.png")).0, 512);

    let (folder, run) = example("mandelbrot");
    assert_eq!(run.out, "tile 0 as u16:\n   32832:  48  48  48  48  48  48  48  48\n");
    let (width, channels, bytes) = picture(&folder.path().join("mandelbrot.png"));
    let pixel = |x: usize, y: usize| &bytes[channels * (4 * y * width + 4 * x)..][..3];
    assert_eq!((pixel(96, 64), pixel(64, 64)), (&[0, 0, 0][..], pixel(96, 64)), "the inside is black");
    assert_ne!(pixel(50, 10), [0, 0, 0]);
}

const GOOD: &str = "\
isa: vpu
program: |
  LoadPosition r0.xyzw
  AddInt16 r0.x___, r0.xxxx, g0.xxxx
  WriteLocalTile1.xy__ r0.xyzw
  Exit
rectangle: [0, 0, 8, 4]
tile size: [8, 4]
globals: [[-1]]
tiles: [{ buffer: 2, fill: [1.5, 2] }]
memory: { words: [0x12345678, -1], size: 16 }
cores: 1
outputs:
  - print: { tile: 1, as: i16, from: 28, count: 8 }
  - print: { tile: 2, as: f16, count: 4 }
  - print: { address: 0, as: hex }
  - raw: { tile: 1, file: tile.bin }
  - raw: { address: 2, size: 3, file: memory.bin }
  - png: { tile: 2, format: grey, file: grey.png }
";

/// The contents of an eight by four tile after [`GOOD`].
fn tile(rows: std::ops::Range<u16>) -> Vec<u8> {
    let element = |at: u16| if rows.contains(&(at / 8)) { [(at % 8).wrapping_sub(1), at / 8, 0, 0] } else { [0; 4] };
    (0..32).flat_map(element).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn tiles_and_memory_are_printed_and_written() {
    let (folder, run) = run(GOOD);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let lines: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    // Element 7 is at (7, 0), element 8 at (0, 1).
    assert_eq!(lines[1], ["28:", "6", "0", "0", "0", "-1", "1", "0", "0"]);
    assert_eq!(lines[3], ["0:", "1.5", "0.00000011920929", "0", "0"]);
    assert_eq!(lines[4].join(" "), "memory from 0x0 as hex:");
    assert_eq!(lines[5], ["0:", "5678", "1234", "ffff", "ffff", "0000", "0000", "0000", "0000"]);
    let read = |name: &str| fs::read(folder.path().join(name)).expect("it is written");
    assert_eq!(read("tile.bin"), tile(0..4));
    assert_eq!(read("memory.bin"), [0x34, 0x12, 0xff]);
    assert_eq!(picture(&folder.path().join("grey.png")), (8, 3, vec![255; 96]));
}

#[test]
fn cores_share_the_rows_and_have_tiles_of_their_own() {
    let two = GOOD.replace("cores: 1", "cores: 2").replace("raw: { tile: 1,", "raw: { tile: 1, core: 1,");
    let (folder, run) = run(&two);
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(run.err.contains("ran: 8 groups on 2 cores"), "{}", run.err);
    assert_eq!(fs::read(folder.path().join("tile.bin")).expect("it is written"), tile(2..4));
    // With more cores than rows, some have no work.
    let (_, run) = self::run(&GOOD.replace("cores: 1", "cores: 64"));
    assert_eq!(run.status, Some(0), "{}", run.err);
}

#[test]
fn mistakes_are_located() {
    let mut different = Vec::new();
    for (from, to, place, message) in [
        ("AddInt16 r0.x___", "AddInt61 r0.x___", "launch.yaml:4:3", "AddInt61"),
        ("rectangle:", "rectangel:", "launch.yaml:7:1", "did you mean `rectangle`?"),
        ("rectangle: [0, 0, 8, 4]\n", "", "launch.yaml:1:1", "the positions that threads cover"),
        ("[0, 0, 8, 4]", "[0, 0, 8]", "launch.yaml:7:12", "four numbers"),
        ("[0, 0, 8, 4]", "[0, 0, 0, 4]", "launch.yaml:7:12", "covers something"),
        ("[0, 0, 8, 4]", "[65535, 0, 8, 4]", "launch.yaml:7:12", "coordinates end at 65535"),
        ("tile size: [8, 4]", "tile size: [7, 4]", "launch.yaml:8:12", "powers of two"),
        ("[[-1]]", "[[-1, 0, 0, 0, 0]]", "launch.yaml:9:11", "four components, not 5"),
        ("[[-1]]", "[[-32769]]", "launch.yaml:9:12", "out of range"),
        ("globals:", "bank: 48\nglobals:", "launch.yaml:9:7", "no global bank 48"),
        ("globals:", "entry: 1024\nglobals:", "launch.yaml:9:8", "the last is 1023"),
        ("globals:", "scene: none.json\nglobals:", "launch.yaml:9:8", "cannot be read"),
        ("globals:", "palettes: [{ number: 2, entries: [] }]\nglobals:", "launch.yaml:9:22", "no palette 2"),
        ("buffer: 2", "buffer: 4", "launch.yaml:10:19", "no tile buffer 4"),
        ("fill: [1.5, 2]", "file: none.bin", "launch.yaml:10:28", "cannot be read"),
        (", fill: [1.5, 2]", "", "launch.yaml:10:9", "one of `fill` and `file`"),
        ("size: 16", "size: 4", "launch.yaml:11:42", "8 bytes long, more than its size"),
        ("size: 16", "size: 999999999", "launch.yaml:11:42", "at most"),
        ("size: 16", "halves: [1]", "launch.yaml:11:9", "one of `words`"),
        ("cores: 1", "cores: 65", "launch.yaml:12:8", "1 to 64 cores"),
        ("count: 8", "count: 200", "launch.yaml:14:49", "only 128 numbers"),
        ("address: 0,", "address: 17,", "launch.yaml:16:23", "has 16 bytes"),
        ("address: 0,", "address: 0, tile: 1,", "launch.yaml:16:12", "one of them"),
        ("tile: 1, file", "tile: 1, core: 1, file", "launch.yaml:17:27", "no core 1"),
        ("size: 3", "size: 15", "launch.yaml:18:30", "only 14 bytes"),
        ("format: grey", "format: gray", "launch.yaml:19:29", "did you mean `grey`?"),
        ("tile: 2, format", "address: 0, width: 2, height: 2, format", "launch.yaml:19:10", "needs 32 bytes"),
        ("tile: 2, format", "address: 0, format", "launch.yaml:19:10", "`width` and `height`"),
        ("tile: 2, format", "tile: 2, scale: 65, format", "launch.yaml:19:10", "scale of 1 to 64"),
    ] {
        assert!(GOOD.contains(from), "nothing is changed by {from}");
        let (folder, run) = run(&GOOD.replacen(from, to, 1));
        assert_eq!((run.status, run.out.as_str()), (Some(1), ""), "{to}: {}", run.err);
        if !run.err.contains(&format!("{place}\n")) || !run.err.contains(message) {
            different.push(format!("{to}: {place}: {message}:\n{}", run.err));
        }
        assert!(run.err.contains("launch.yaml: failed: ") && !folder.path().join("tile.bin").exists());
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    let long = GOOD.replacen("  Exit\n", &"  Exit\n".repeat(1022), 1);
    let err = run(&long).1.err;
    assert!(err.contains("launch.yaml:3:3") && err.contains("program memory holds 1024"), "{err}");
}

#[test]
fn programs_come_from_files_of_any_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let (head, rest) = GOOD.split_once("program: |\n").expect("the program is inline");
    let (program, tail) = rest.split_once("rectangle:").expect("the rectangle follows");
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).expect("it is written");
    write("p.vpu", program);
    write("p.s", program);
    for (name, form) in [("p.hex", "hex"), ("p.bin", "bin")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
        command.args(["asm", "vpu", "p.s", "--out", form, "-o", name]).current_dir(folder.path());
        assert!(command.status().expect("it starts").success());
    }
    for name in ["p.vpu", "p.s", "p.hex", "p.bin"] {
        write("launch.yaml", &format!("{head}program: {{ file: {name} }}\nrectangle:{tail}"));
        let run = run_in(folder.path(), "launch.yaml");
        assert_eq!(run.status, Some(0), "{name}: {}", run.err);
        assert_eq!(fs::read(folder.path().join("tile.bin")).expect("it is written"), tile(0..4), "{name}");
        fs::remove_file(folder.path().join("tile.bin")).expect("it is there");
    }
}

#[test]
fn what_the_machine_forgives_is_a_warning() {
    let (_, run) = run("isa: vpu\nprogram: |\n  FinishExternalLoad r0.xyzw\n  Exit\nrectangle: [0, 0, 8, 1]\n");
    assert_eq!((run.status, run.out.as_str()), (Some(0), ""));
    let warning = "launch.yaml: warning: FinishExternalLoad with nothing pending: core 0 group 0, instruction 0";
    assert!(run.err.contains(warning) && run.err.contains("FinishExternalLoad r0.xyzw"), "{}", run.err);
}

#[test]
fn a_deadlock_and_the_end_of_the_budget_are_failures() {
    // Both groups lock the same element, and the first never releases it.
    let locked = "isa: vpu\nprogram: |\n  ReadLockLocalTile0 r0.xyzw\n  ReadLockLocalTile0 r0.xyzw\n  Exit\n\
                  rectangle: [0, 0, 4, 1]\noutputs: [{ raw: { tile: 0, file: tile.bin } }]\n";
    let endless = "isa: vpu\nprogram: |\n  again: Branch again\nrectangle: [0, 0, 4, 1]\nbudget: 1000\n\
                   outputs: [{ raw: { tile: 0, file: tile.bin } }]\n";
    for (launch, message) in [(locked, "deadlock: every live group is waiting"), (endless, "the budget of 1000 steps")]
    {
        let (folder, run) = run(launch);
        assert_eq!((run.status, run.out.as_str()), (Some(1), ""), "{}", run.err);
        assert!(run.err.contains("launch.yaml: the program failed: ") && run.err.contains(message), "{}", run.err);
        assert!(!folder.path().join("tile.bin").exists(), "nothing is written");
    }
}

#[test]
fn instructions_are_counted_by_name() {
    let (folder, _) = example("blend");
    let run = run_with(folder.path(), &["blend.yaml", "--profile", "--profile-svg", "profile.svg"]);
    let table = run.out;
    // 128 by 96 positions, four in each group.
    assert!(
        table.contains("          12,288         3,072   4.00              -              -  LoadPosition"),
        "{table}"
    );
    assert!(table.contains("100.0 %         135,168        33,792"), "{table}");
    let picture = fs::read_to_string(folder.path().join("profile.svg")).expect("it was drawn");
    assert!(picture.contains("LoadPosition"), "{picture}");
}
