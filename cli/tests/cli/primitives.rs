//! Points, lines, triangles, samples, channels and compressed textures in launch files that draw, on every engine.

use super::*;

/// Draws the varying at byte 0 unchanged.
const PLAIN: &str = "isa: valhall
size: [8, 4]
program: |
  LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.store @r0:r1:r2:r3, r61, index:0x0
  BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
";

const TARGETS: &str = "targets: [{ file: out.png, clear: [0, 0, 1, 1] }]\n";
const RED: &str = "varyings: [{ offset: 0, flat: [0x3f800000, 0, 0, 0x3f800000] }]\n";

/// Draws and compares all engines. Returns the pixels from the top row down.
fn draw(content: &str) -> Vec<[u8; 3]> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), content).expect("the file is written");
    let compared = isaforge_in(folder.path(), &["run", "launch.yaml", "--compare"], b"").expect(0);
    assert!(compared.out().starts_with("the same, ") && compared.out().contains("handlers"), "{}", compared.out());
    isaforge_in(folder.path(), &["run", "launch.yaml", "--engine", "reference", "--quiet"], b"").expect(0);
    let by_reference = fs::read(folder.path().join("out.png")).expect("it is written");
    isaforge_in(folder.path(), &["run", "launch.yaml", "--level", "portable", "--quiet"], b"").expect(0);
    let file = fs::read(folder.path().join("out.png")).expect("it is written");
    assert_eq!(file, by_reference);
    let mut reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().expect("it is a picture");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it is small")];
    let frame = reader.next_frame(&mut bytes).expect("it is whole");
    bytes.chunks(frame.color_type.samples()).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

/// The picture as rows, with `#` at the pixels drawn.
fn shape(pixels: &[[u8; 3]]) -> Vec<String> {
    let mark = |pixel: &[u8; 3]| if *pixel == [0, 0, 255] { '.' } else { '#' };
    pixels.chunks(8).map(|row| row.iter().map(mark).collect()).collect()
}

#[test]
fn vertices_are_points_lines_and_strips() {
    for (primitive, expected) in [
        ("primitive: points\nvertices: [[1.5, 1.5], [6, 2]]", ["........", "........", ".#...#..", "........"]),
        (
            "primitive: points\npoint size: 2\nvertices: [[2, 2], [7.5, 0.5]]",
            ["........", ".##.....", ".##.....", "......##"],
        ),
        (
            "primitive: lines\nvertices: [[0.5, 0.5], [7.5, 0.5], [0.5, 3.5], [0.5, 1.5]]",
            ["#.......", "#.......", "........", "#######."],
        ),
        (
            "primitive: line strip\nvertices: [[0.5, 0.5], [3.5, 3.5], [7.5, 3.5]]",
            ["...####.", "..#.....", ".#......", "#......."],
        ),
        (
            "primitive: triangle strip\nvertices: [[0, 0], [0, 2], [4, 0], [4, 2]]",
            ["........", "........", "####....", "####...."],
        ),
        ("vertices: [[0, 0], [4, 0], [0, 4]]", ["........", "#.......", "##......", "###....."]),
    ] {
        let pixels = draw(&format!("{PLAIN}{TARGETS}{RED}{primitive}\n"));
        assert_eq!(shape(&pixels), expected, "{primitive}");
    }
}

#[test]
fn values_belong_to_the_vertices_of_primitives() {
    let values = "varyings: [{ offset: 0, values: [[1, 0, 0, 1], [0, 1, 0, 1]] }]\n";
    let pixels = draw(&format!("{PLAIN}{TARGETS}{values}primitive: lines\nvertices: [[0.5, 0.5], [5.5, 0.5]]\n"));
    assert_eq!(pixels[24..30], [[255, 0, 0], [204, 51, 0], [153, 102, 0], [102, 153, 0], [51, 204, 0], [0, 0, 255]]);
    let pixels = draw(&format!("{PLAIN}{TARGETS}{values}primitive: points\nvertices: [[0.5, 0.5], [5.5, 0.5]]\n"));
    assert_eq!([pixels[24], pixels[29]], [[255, 0, 0], [0, 255, 0]]);
    // The position within a point, from its upper left corner.
    let program = PLAIN.replace(
        "LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.store @r0:r1:r2:r3, r61, index:0x0",
        "LD_VAR_SPECIAL.f32.v2.center.clobber.slot0 @r0:r1, 0x0, index:0x0",
    );
    let pixels = draw(&format!("{program}{TARGETS}primitive: points\npoint size: 4\nvertices: [[4, 2]]\n"));
    assert_eq!([pixels[2], pixels[5], pixels[26]], [[32, 32, 0], [223, 32, 0], [32, 223, 0]]);
}

#[test]
fn pixels_have_samples_whose_mean_is_shown() {
    let triangle = "vertices: [[0, 0], [4, 0], [0, 4]]\n";
    let pixels = draw(&format!("{PLAIN}{TARGETS}{RED}{triangle}samples: 4\n"));
    // Two of four samples of a pixel on the slope are covered.
    assert_eq!([pixels[24], pixels[27], pixels[28]], [[255, 0, 0], [128, 0, 128], [0, 0, 255]]);
    // The samples at Vulkan's standard locations whose coordinates add up to less than one pixel: the slope is a right
    // edge, and samples on it are not covered.
    for (samples, covered) in [(2, 1), (8, 3), (16, 9)] {
        let pixels = draw(&format!("{PLAIN}{TARGETS}{RED}{triangle}samples: {samples}\n"));
        let [red, blue] =
            [covered, samples - covered].map(|count| (255.0 * f64::from(count) / f64::from(samples)).round());
        assert_eq!([pixels[17], pixels[18]], [[255, 0, 0], [red as u8, 0, blue as u8]], "{samples} samples");
    }
    // The program removes samples.
    let masked = PLAIN.replace(
        "  BLEND",
        "  IADD_IMM.i32 r8, 0x0, #0x1\n  LSHIFT_AND.i32 r60, r60, 0x0.b00, r8\n  ATEST @r60, r60, r3, atest_datum.w0\n  BLEND",
    );
    let pixels = draw(&format!("{masked}{TARGETS}{RED}samples: 4\n"));
    assert_eq!(pixels[24], [64, 0, 191]);
}

#[test]
fn channels_that_are_not_named_stay() {
    for (write, expected) in [
        ("[red, green, blue, alpha]", [255, 0, 0]),
        ("[red]", [255, 0, 255]),
        ("[green, blue]", [0, 0, 0]),
        ("[]", [0, 0, 255]),
    ] {
        let targets = TARGETS.replace(" }]", &format!(", write: {write} }}]"));
        assert_eq!(draw(&format!("{PLAIN}{targets}{RED}"))[0], expected, "{write}");
    }
}

#[test]
fn textures_are_compressed() {
    let program = PLAIN.replace(
        "LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.store @r0:r1:r2:r3, r61, index:0x0",
        "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store @r4:r5, r61, index:0x0
  IADD_IMM.i32 r6, 0x0, #0x20001800
  TEX_SINGLE.slot1.f.32.2d.zero @r0:r1:r2:r3, @r4:r5, r6",
    );
    let corners = "varyings: [{ offset: 0, corners: [[0, 0], [1, 0], [0, 1]] }]\n";
    for (texture, expected) in [
        // Red, blue and the mix of both, in columns.
        (
            "words: [0x001ff800, 0xe4e4e4e4], size: [4, 4], format: COMPRESSED_RGB_S3TC_DXT1_EXT",
            [[255, 0, 0], [85, 0, 170]],
        ),
        ("words: [0x03808080, 0], size: [4, 4], format: RGB8_ETC2", [[134; 3]; 2]),
        (
            "words: [0xfffffdfc, 0xffffffff, 0xff008000, 0xffff0000], size: [4, 4], format: RGBA_ASTC_4x4_KHR",
            [[128, 254, 0], [128, 254, 0]],
        ),
    ] {
        let pixels = draw(&format!("{program}{TARGETS}{corners}textures: [{{ {texture} }}]\n"));
        assert_eq!([pixels[0], pixels[7]], expected, "{texture}");
    }
}

#[test]
fn mistakes_about_primitives_have_places() {
    let hint = "formats have names like";
    for (line, code, message) in [
        ("primitive: dots\nvertices: [[1, 1]]", "E0023", "`dots`"),
        ("primitive: lines\nvertices: [[1, 1]]", "L0003", "1 vertices make no whole lines"),
        ("primitive: triangle strip\nvertices: [[1, 1], [2, 2]]", "L0003", "2 vertices make no whole triangle strip"),
        ("primitive: points\nvertices: []", "L0003", "0 vertices make no whole points"),
        ("primitive: points\npoint size: 0\nvertices: [[1, 1]]", "L0003", "the size of a point is greater than 0"),
        ("samples: 3", "L0003", "a pixel has 1, 2, 4, 8 or 16 samples, not 3"),
        ("samples: 4000000000", "L0003", "a pixel has 1, 2, 4, 8 or 16 samples"),
        ("textures: [{ words: [1, 2], size: [4, 4], format: BC9 }]", "L0003", hint),
        ("textures: [{ words: [1, 2, 3], size: [4, 4], format: BC1 }]", "L0003", "level 0 has 12 bytes, not 8"),
        ("textures: [{ words: [1, 2], size: [4, 4], format: RGBA_ASTC_7x7 }]", "L0003", "is not a format"),
        ("targets: [{ file: out.png, format: BC1 }]", "L0003", "`BC1` is compressed"),
        ("targets: [{ file: out.png, write: [rouge] }]", "E0023", "`rouge`"),
    ] {
        let targets = if line.starts_with("targets") { "" } else { TARGETS };
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("launch.yaml"), format!("{PLAIN}{targets}{RED}{line}\n")).expect("it is written");
        let run = isaforge_in(folder.path(), &["run", "launch.yaml"], b"").expect(1);
        assert!(
            run.err.contains(code) && run.err.contains(message) && run.err.contains("launch.yaml:"),
            "{line}: {}",
            run.err
        );
    }
    let large = format!("{PLAIN}{TARGETS}{RED}samples: 16\n").replace("[8, 4]", "[4096, 4096]");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), large).expect("it is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml"], b"").expect(1);
    assert!(run.err.contains("at most 16777216 pixels, every sample counted"), "{}", run.err);
}

#[test]
fn primitives_that_cover_nothing_end_with_the_time() {
    let corners = "[0, 0], [1024, 1024], [512, 512], ".repeat(4096);
    let launch = format!("{PLAIN}{TARGETS}{RED}vertices: [{corners}]\n").replace("[8, 4]", "[1024, 1024]");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml", "--time-limit", "0.2"], b"").expect(1);
    assert!(run.err.contains("the time limit of 0.2 s has expired"), "{}", run.err);
}

#[test]
fn recorded_cases_and_computations_with_resources_are_compared() {
    let case =
        |name: &str| format!("{}/../runtime/tests/data/valhall/images/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
    for name in ["helper_lanes", "image_rw", "mrt4"] {
        let compared = isaforge(&["run", "--compare", &case(name)]).expect(0);
        assert!(compared.out().starts_with("the same, "), "{}", compared.out());
    }
    let launch = "isa: valhall
program: |
  LD_BUFFER.i32.unsigned.slot0 @r4, 0x0, 0x0
  IADD.u32 r4, r4, r60
  SHADDX.u64 r2, u0, r60.w0, shift:0x2
  STORE.i32.slot0.end @r4, r2, offset:0
local size: 8
uniforms: [{ address: out }]
buffers: { given: { words: [40] }, out: { size: 32 } }
uniform buffers: [given]
outputs: [{ print: { buffer: out, as: u32 } }]
";
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let compared = isaforge_in(folder.path(), &["run", "launch.yaml", "--compare"], b"").expect(0);
    assert!(compared.out().starts_with("the same, 32 instructions: reference; handlers"), "{}", compared.out());
    for engine in ["reference", "handlers"] {
        let run = isaforge_in(folder.path(), &["run", "launch.yaml", "--engine", engine], b"").expect(0);
        assert!(run.out().split_whitespace().any(|word| word == "47"), "{engine}: {}", run.out());
    }
}
