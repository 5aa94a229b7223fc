use super::*;

/// A recorded case of the runtime's test data.
fn case(name: &str) -> String {
    format!("{}/../runtime/tests/data/valhall/images/{name}.json.gz", env!("CARGO_MANIFEST_DIR"))
}

/// The width, height and pixels of a PNG file.
fn picture(path: &Path) -> (u32, u32, Vec<[u8; 3]>) {
    let file = fs::File::open(path).expect("it is written");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("it is a picture");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it is small")];
    let frame = reader.next_frame(&mut bytes).expect("it is whole");
    let step = frame.color_type.samples();
    (frame.width, frame.height, bytes.chunks(step).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}

#[test]
fn recorded_cases_are_judged_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let (nearest, several) = (case("tex_nearest"), case("mrt4"));
    let run = isaforge(&["conform", "valhall", &nearest, &several]).expect(0);
    assert!(run.out().ends_with("2 passed, 0 failed\n"), "{}", run.out());
    let run = isaforge_in(folder.path(), &["run", &nearest], b"").expect(0);
    assert!(run.err.contains("wrote tex_nearest.png (32 x 32)"), "{}", run.err);
    let (width, height, pixels) = picture(&folder.path().join("tex_nearest.png"));
    assert_eq!((width, height), (32, 32));
    // The first texel, 3c5e81 in the recording, is drawn near the lower left.
    assert_eq!(pixels[31 * 32], [0x3c, 0x5e, 0x81]);
    isaforge_in(folder.path(), &["run", "--quiet", &several], b"").expect(0);
    let made = |name: &str| folder.path().join(name).exists();
    assert!((0..4).all(|target| made(&format!("mrt4-target{target}.png"))));
    let run = isaforge_in(folder.path(), &["run", "--sheet", "all.png", &nearest, &several], b"").expect(0);
    assert!(run.err.contains("tex_nearest, mrt4-target0, mrt4-target1, mrt4-target2, mrt4-target3"), "{}", run.err);
    let (width, height, pixels) = picture(&folder.path().join("all.png"));
    assert_eq!((width, height), (5 * 136 + 8, 144));
    assert_eq!(pixels[(8 + 127) * width as usize + 8], [0x3c, 0x5e, 0x81]);
}

#[test]
fn a_case_that_is_not_as_recorded_says_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    let file = fs::File::open(case("tex_nearest")).expect("it is there");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).expect("it is packed");
    // The first expected channel of the first row.
    let wrong = text.replacen("\"rows\":[\"3e70f0f2", "\"rows\":[\"3f70f0f2", 1);
    assert!(wrong != text);
    fs::write(folder.path().join("wrong.json"), wrong).expect("it is written");
    let run = isaforge_in(folder.path(), &["conform", "valhall", "wrong.json", "--failures", "1"], b"").expect(1);
    assert!(run.out().contains("1 pixels differ where 0 may; target 0 at (0, 0) is 0.23529"), "{}", run.out());
    let run = isaforge_in(folder.path(), &["run", "wrong.json"], b"").expect(1);
    assert!(run.err.contains("not as recorded: 1 pixels differ"), "{}", run.err);
    let broken = text.replacen("\"dim\":\"2d\"", "\"dim\":\"7d\"", 1);
    fs::write(folder.path().join("broken.json"), broken).expect("it is written");
    let run = isaforge_in(folder.path(), &["run", "broken.json"], b"").expect(1);
    assert!(run.err.contains("`7d` is not a kind of texture"), "{}", run.err);
}

/// Runs a launch file that draws.
fn draw(content: &str) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), content).expect("the file is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml"], b"");
    (folder, run)
}

/// Draws the varying at byte 0 unchanged.
const PLAIN: &str = "isa: valhall
size: [8, 4]
program: |
  LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.store @r0:r1:r2:r3, r61, index:0x0
  BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
targets: [{ file: out.png, clear: [0, 0, 1, 1] }]
";

/// The line that loads the varying.
const VARYING: &str = "  LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.store @r0:r1:r2:r3, r61, index:0x0\n";

#[test]
fn corners_and_triangles_are_drawn() {
    let corners = "varyings: [{ offset: 0, corners: [[0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 1]] }]";
    let (folder, run) = draw(&format!("{PLAIN}{corners}"));
    assert!(run.expect(0).err.contains("ran: 8 x 4 pixels, 64 instructions in "));
    let (_, _, pixels) = picture(&folder.path().join("out.png"));
    // Half a pixel from the edges: red increases to the right, green upwards.
    assert_eq!([pixels[24], pixels[31], pixels[0]], [[16, 32, 0], [239, 32, 0], [16, 223, 0]]);
    let triangle = "vertices: [[0, 0], [4, 0], [0, 4]]
varyings: [{ offset: 0, values: [[1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1]] }]";
    let (folder, run) = draw(&format!("{PLAIN}{triangle}"));
    run.expect(0);
    let (_, _, pixels) = picture(&folder.path().join("out.png"));
    let red = |row: usize| (0..8).filter(|x| pixels[8 * row + x] == [255, 0, 0]).count();
    assert_eq!([red(3), red(2), red(1), red(0)], [3, 2, 1, 0]);
    assert_eq!(pixels[7], [0, 0, 255]);
}

#[test]
fn triangles_are_blended_one_after_another() {
    let content = PLAIN.replace("clear: [0, 0, 1, 1] }", "clear: [0, 0, 1, 1], HOW }")
        + "vertices: [[0, 0], [8, 0], [0, 4], [0, 0], [8, 0], [0, 4]]
varyings: [{ offset: 0, flat: [0x3f800000, 0x3f000000, 0, 0x3f000000] }]";
    // The colour (1, 0.5, 0) with half opacity, over blue, twice.
    for (blend, expected) in [
        ("blend: {}", [191, 96, 64]),
        ("blend: { source: one, destination: one }", [255, 255, 255]),
        ("blend: { operation: reverse_subtract, source: src_alpha, destination: one }", [0, 0, 255]),
        ("blend: { operation: max }", [255, 128, 255]),
        ("blend: { source: constant_color, destination: zero, constant: [0, 1, 0, 0] }", [0, 128, 0]),
        ("format: RGBA8", [255, 128, 0]),
    ] {
        let (folder, run) = draw(&content.replace("HOW", blend));
        run.expect(0);
        let (_, _, pixels) = picture(&folder.path().join("out.png"));
        let near = pixels[24]
            .iter()
            .zip(expected)
            .all(|(&found, expected): (&u8, i32)| (i32::from(found) - expected).abs() <= 1);
        assert!(near, "{blend}: {:?}, not {expected:?}", pixels[24]);
    }
}

#[test]
fn textures_come_from_words_pictures_and_raw_files() {
    let head = PLAIN.replace(
        VARYING,
        "  LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store @r4:r5, r61, index:0x0
  IADD_IMM.i32 r6, 0x0, #0x20001800
  TEX_SINGLE.slot1.f.32.2d.zero @r0:r1:r2:r3, @r4:r5, r6\n",
    );
    let head = format!("{head}varyings: [{{ offset: 0, corners: [[0, 0], [1, 0], [0, 1]] }}]\n");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).expect("it is written");
    write("raw.bin", &[255, 0, 0, 255, 0, 255, 0, 255]);
    let file = fs::File::create(folder.path().join("two.png")).expect("it is created");
    let mut encoder = png::Encoder::new(file, 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("it begins");
    writer.write_image_data(&[255, 0, 0, 0, 255, 0]).expect("it is written");
    writer.finish().expect("it ends");
    for texture in ["words: [0xff0000ff, 0xff00ff00], size: [2, 1]", "file: raw.bin, size: [2, 1]", "file: two.png"] {
        write("launch.yaml", format!("{head}textures: [{{ {texture} }}]").as_bytes());
        isaforge_in(folder.path(), &["run", "launch.yaml", "--quiet"], b"").expect(0);
        let (_, _, pixels) = picture(&folder.path().join("out.png"));
        assert_eq!([pixels[3], pixels[4]], [[255, 0, 0], [0, 255, 0]], "{texture}");
    }
}

#[test]
fn textures_have_shapes_layers_levels_and_samplers() {
    // A location beyond the lower edges, layer or slice 1, level 1.
    const BEYOND: u32 = 0xbf80_0000;
    const ONE: u32 = 0x3f80_0000;
    const LEVEL: u32 = 0x100;
    let levels = "words: [0xff, 0, 0, 0, 0xff00], size: [2, 2], levels: 2";
    let array = "words: [0, 0, 0, 0, 0xff, 0xff00], size: [2], shape: 1d, layers: 2, levels: 2, mip: nearest";
    // The high bits of the first word select the last face.
    let cube = "words: [0, 0, 0, 0, 0, 0xff00], size: [1, 1], shape: cube";
    let border = "words: [0], size: [1], shape: 1d, wrap: border, border: [0, 0, 1, 1]";
    let depth = "words: [0x3f000000], size: [1, 1], format: R32F, compare: gequal";
    for (dimension, words, texture, expected) in [
        ("1d", &[BEYOND, LEVEL][..], "words: [0xff], size: [1], shape: 1d", [255, 0, 0]),
        ("1d", &[BEYOND, LEVEL], border, [0, 0, 255]),
        ("2d", &[BEYOND, BEYOND, LEVEL], levels, [255, 0, 0]),
        ("2d", &[BEYOND, BEYOND, LEVEL], &format!("{levels}, mip: nearest"), [0, 255, 0]),
        ("2d", &[BEYOND, BEYOND, LEVEL], &format!("{levels}, mip: linear, bias: -0.5"), [128, 128, 0]),
        ("2d", &[BEYOND, BEYOND, LEVEL], &format!("{levels}, mip: linear, range: [0, 0.25]"), [191, 64, 0]),
        ("1d.array_enable", &[BEYOND, ONE, LEVEL], array, [0, 255, 0]),
        ("3d", &[BEYOND, BEYOND, ONE, 0], "words: [0xff, 0xff00], size: [1, 1, 2], shape: 3d", [0, 255, 0]),
        ("cube", &[5 << 29, 0, LEVEL], cube, [0, 255, 0]),
        ("2d.shadow", &[0, 0, ONE, LEVEL], depth, [255, 0, 0]),
    ] {
        let mut program = "  IADD_IMM.i32 r6, 0x0, #0x20001800\n".to_owned();
        for (register, word) in (8..).zip(words) {
            program += &format!("  IADD_IMM.i32 r{register}, 0x0, #{word:#x}\n");
        }
        let list: Vec<String> = (8..8 + words.len()).map(|register| format!("r{register}")).collect();
        program += &format!("  TEX_SINGLE.slot1.f.32.{dimension}.explicit @r0:r1:r2:r3, @{}, r6\n", list.join(":"));
        let (folder, run) = draw(&format!("{}textures: [{{ {texture} }}]", PLAIN.replace(VARYING, &program)));
        run.expect(0);
        let (_, _, pixels) = picture(&folder.path().join("out.png"));
        let near = pixels[0].iter().zip(expected).all(|(&found, expected): (&u8, u8)| found.abs_diff(expected) <= 1);
        assert!(near, "{texture}: {:?}, not {expected:?}", pixels[0]);
    }
}

#[test]
fn drawings_read_and_write_buffers() {
    let text = PLAIN.replace(
        VARYING,
        "  LD_BUFFER.i128.unsigned.slot0 @r0:r1:r2:r3, 0x0, 0x0
  IADD_IMM.i32 r8, 0x0, #0x5
  ATOM.i32.slot0.aadd @r8, u0, offset:0x4\n",
    );
    let more = "buffers: { colour: { f32: [0.0, 1.0, 0.0, 1.0] }, seen: { size: 8 } }
uniform buffers: [colour]
uniforms: [{ address: seen }]
outputs: [{ print: { buffer: seen, as: u32 } }]";
    let (folder, run) = draw(&format!("{text}{more}"));
    let run = run.expect(0);
    let printed: Vec<&str> = run.out().split_whitespace().collect();
    assert!(printed.ends_with(&["0", "160"]), "{printed:?}");
    assert_eq!(picture(&folder.path().join("out.png")).2, [[0, 255, 0]; 32]);
}

#[test]
fn numbers_on_a_curve_are_shown_on_it() {
    let text = PLAIN.replace(VARYING, "  IADD_IMM.i32 r0, 0x0, #0x3E800000\n");
    for (format, expected) in [("SRGB8_ALPHA8", 137), ("RGBA8", 64)] {
        let (folder, run) = draw(&text.replace("{ file: out.png", &format!("{{ format: {format}, file: out.png")));
        run.expect(0);
        assert_eq!(picture(&folder.path().join("out.png")).2[0], [expected, 0, 0], "{format}");
    }
}

#[test]
fn what_cannot_be_drawn_is_told() {
    for (line, code, message) in [
        ("varyings: [{ offset: 0, corners: [[1], [2]] }]", "L0003", "3 values are needed"),
        ("varyings: [{ offset: 0, values: [1, 2, 3] }]", "L0003", "values belong to `vertices`"),
        ("varyings: [{ offset: 0 }]", "L0003", "one of `corners`, `values` and `flat`"),
        ("vertices: [[0, 0], [1, 0]]", "L0003", "2 vertices make no whole triangles"),
        ("vertices: [[0, 0], [1, 0], [1]]", "L0003", "a vertex has two numbers"),
        ("textures: [{ words: [1, 2] }]", "L0003", "needs a `size`"),
        ("textures: [{ words: [1, 2], size: [4, 1] }]", "L0003", "level 0 has 8 bytes, not 16"),
        ("textures: [{ file: none.png }]", "L0005", "cannot be read"),
        ("textures: [{ words: [1], size: [1, 1], format: RGB9 }]", "L0003", "`RGB9` is not a format"),
        ("targets: [{ file: o.png, blend: { source: alpha } }]", "L0003", "nothing is blended by `alpha`"),
        ("targets: [{ file: o.png, blend: { constant: [1] } }]", "L0003", "a colour has four numbers"),
        ("textures: [{ words: [1], size: [1], shape: cube }]", "L0003", "is a width and a height, which are the same"),
        ("textures: [{ words: [1], size: [1], shape: 2D }]", "E0023", "`2D`"),
        ("textures: [{ words: [1], size: [1, 1], levels: 4000000000 }]", "L0003", "has 1 to 1 levels"),
        ("textures: [{ words: [1], size: [1, 1], layers: 4294967295, levels: 2 }]", "L0003", "1 to 4096 layers"),
        ("textures: [{ words: [1], size: [1, 1], shape: cube }]", "L0003", "level 0 has 4 bytes, not 24"),
        ("textures: [{ words: [1, 2, 3], size: [2, 1], levels: 2, range: [1] }]", "L0003", "a range of levels has two"),
        ("textures: [{ words: [1], size: [1, 1], border: [1] }]", "L0003", "a colour has four numbers"),
        ("uniforms: [{ address: b }]", "L0004", "there is no buffer `b`"),
        ("textures: [{ words: [1], size: [1, 1], levels: 0 }]", ":7:48", "a texture has at least one level"),
        ("textures: [{ words: [1], size: [1, 1], range: [3, 1] }]", ":7:47", "the least and the greatest"),
        ("textures: [{ words: [1], size: [1, 1], range: [.nan, 1] }]", ":7:47", "the least and the greatest"),
        ("textures: [{ words: [1], size: [1, 1], bias: .nan }]", ":7:46", "a bias is a number"),
        ("varyings: [{ offset: 0, flat: [1, 2] }, { offset: 4, flat: 3 }]", ":7:51", "two varyings overlap"),
        ("varyings: [{ offset: 2, flat: 3 }]", ":7:22", "a multiple of 4"),
        ("varyings: [{ offset: 0xfffffffc, flat: [3, 4] }]", ":7:22", "offsets below 2^32"),
        ("primitive: lines", ":7:12", "a primitive has `vertices`"),
        ("point size: 4\nvertices: [[0, 0], [1, 0], [1, 1]]", ":7:13", "only `primitive: points`"),
        ("vertices: [[0, 0], [1, 0], [.nan, 1]]", ":7:11", "a vertex has two numbers, x and y, both finite"),
        ("targets: [{ file: o.png }, { file: ./o.png }]", ":6:36", "two targets have the same file"),
        ("uniform buffers: [b]\nbuffers: { c: { size: 4 } }", "L0004", "expected `c`"),
        ("outputs: [{ print: { buffer: c, count: 2 } }]\nbuffers: { c: { size: 4 } }", "L0006", "only 1 words"),
    ] {
        // A line about targets replaces the existing one.
        let plain = if line.starts_with("targets") {
            PLAIN.split_once("targets").map_or(PLAIN, |(head, _)| head)
        } else {
            PLAIN
        };
        let (_, run) = draw(&format!("{plain}{line}"));
        let run = run.expect(1);
        assert!(run.err.contains(code) && run.err.contains(message), "{line}: {}", run.err);
    }
    // A file whose name or whose first bytes are those of a PNG.
    for (name, content) in [("bad.png", "no picture"), ("bad.raw", "\u{89}PNG")] {
        let folder = tempfile::tempdir().expect("a folder");
        let content: Vec<u8> = content.chars().map(|byte| byte as u8).collect();
        fs::write(folder.path().join(name), content).expect("it is written");
        fs::write(folder.path().join("launch.yaml"), format!("{PLAIN}textures: [{{ file: {name} }}]\n")).expect("too");
        let err = isaforge_in(folder.path(), &["run", "launch.yaml"], b"").expect(1).err;
        assert!(err.contains(":7:20") && err.contains(&format!("`{name}` is not a valid PNG file")), "{err}");
    }
    let (_, run) = draw(&PLAIN.replace("[8, 4]", "[100000, 100000]"));
    assert!(run.expect(1).err.contains("all targets together have at most 16777216 pixels"));
    // The program runs, but there is no varying.
    let (_, run) = draw(PLAIN);
    let run = run.expect(1);
    assert!(run.err.contains("pixel (0, 0), lane 0: there is no varying at byte 0x0"), "{}", run.err);
}

#[test]
fn the_example_draws_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["tiles.s", "tiles.yaml"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/valhall").join(name);
        fs::copy(from, folder.path().join(name)).expect("it is copied");
    }
    isaforge_in(folder.path(), &["run", "tiles.yaml"], b"").expect(0);
    let (width, height, pixels) = picture(&folder.path().join("tiles.png"));
    assert_eq!((width, height), (256, 256));
    // Bright orange in the middle of a tile near the centre, a fifth as bright in a corner of the picture.
    let at = |x: usize, y: usize| pixels[y * 256 + x];
    let [red, green, blue] = at(110, 108);
    assert!(red > 200 && red > green && green > blue, "{:?}", at(110, 108));
    assert!(at(2, 253).iter().all(|&channel| channel < 40), "{:?}", at(2, 253));
}
