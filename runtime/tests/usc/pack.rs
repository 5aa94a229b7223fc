//! Every packed format in both directions, compared with tables and arithmetic of this file.

use half::f16;
use isaforge_runtime::usc::{Machine, Program, Software, Task};
use isaforge_usc::Parts;

/// A field of a format.
#[derive(Clone, Copy, Debug)]
enum Field {
    Unsigned(u32),
    Signed(u32),
    /// Signed, from -1 to 1 in equal steps without a zero.
    Ogl(u32),
    Offset(u32),
    /// A float of this width without a sign, with 5 exponent bits.
    Float(u32),
    Half,
    Whole,
}
use Field::{Float, Half, Offset, Ogl, Signed, Unsigned, Whole};

use crate::seed::seed;
use crate::support::{Random, register};

/// Formats with their fields, starting at the lowest bit.
const FORMATS: [(&str, &[Field]); 22] = [
    ("u8888", &[Unsigned(8), Unsigned(8), Unsigned(8), Unsigned(8)]),
    ("s8888", &[Signed(8), Signed(8), Signed(8), Signed(8)]),
    ("s8888ogl", &[Ogl(8), Ogl(8), Ogl(8), Ogl(8)]),
    ("o8888", &[Offset(8), Offset(8), Offset(8), Offset(8)]),
    ("u1616", &[Unsigned(16), Unsigned(16)]),
    ("s1616", &[Signed(16), Signed(16)]),
    ("s1616ogl", &[Ogl(16), Ogl(16)]),
    ("o1616", &[Offset(16), Offset(16)]),
    ("u32", &[Unsigned(32)]),
    ("s32", &[Signed(32)]),
    ("u1010102", &[Unsigned(10), Unsigned(10), Unsigned(10), Unsigned(2)]),
    ("s1010102", &[Signed(10), Signed(10), Signed(10), Signed(2)]),
    ("u111110", &[Unsigned(11), Unsigned(11), Unsigned(10)]),
    ("s111110", &[Signed(11), Signed(11), Signed(10)]),
    ("f111110", &[Float(11), Float(11), Float(10)]),
    ("2f10f10f10", &[Unsigned(2), Float(10), Float(10), Float(10)]),
    ("f16f16", &[Half, Half]),
    ("f32", &[Whole]),
    ("f32_mask", &[Whole]),
    ("u565u565", &[Unsigned(5), Unsigned(6), Unsigned(5), Unsigned(5)]),
    ("d24s8", &[Unsigned(24), Unsigned(8)]),
    ("s8d24", &[Unsigned(8), Unsigned(24)]),
];

impl Field {
    fn width(self) -> u32 {
        match self {
            Unsigned(w) | Signed(w) | Ogl(w) | Offset(w) | Float(w) => w,
            Half => 16,
            Whole => 32,
        }
    }

    /// The lowest and the highest value, and the offset that makes codes unsigned.
    fn range(self) -> (i64, i64, i64) {
        let w = self.width();
        let half = 1i64 << (w - 1);
        match self {
            Signed(_) | Ogl(_) => (-half, half - 1, 0),
            Offset(_) => (-half, half - 1, half),
            _ => (0, (1i64 << w) - 1, 0),
        }
    }

    /// Packs a float: integers by arithmetic, floats by a search among all codes.
    fn pack(self, bits: u32, scale: bool, to_zero: bool) -> u32 {
        let x = f32::from_bits(bits);
        match self {
            Whole => bits,
            Half => {
                let code = search(f64::from(x).abs(), 0x7c00, to_zero, |code| f16::from_bits(code as u16).to_f64());
                if x.is_nan() { code } else { code | u32::from(x.is_sign_negative()) << 15 }
            }
            Float(w) => {
                let x = if x.is_nan() || x > 0.0 { f64::from(x) } else { 0.0 };
                search(x, 31 << (w - 5), to_zero, |code| f16::from_bits((code << (15 - w)) as u16).to_f64())
            }
            _ => {
                let (low, high, offset) = self.range();
                let lowest = if low == 0 { 0.0 } else { -1.0 };
                let number = match (self, scale) {
                    _ if x.is_nan() => 0.0,
                    (Ogl(w), true) => (f64::from(x.clamp(-1.0, 1.0)) * ((1u64 << w) - 1) as f64 - 1.0) / 2.0,
                    // The multiplier is a 32-bit float.
                    (_, true) => f64::from(x.clamp(lowest, 1.0) * high as f32),
                    (_, false) => f64::from(x),
                };
                let whole = if to_zero { number.trunc() } else { number.round_ties_even() };
                let code = if whole <= low as f64 {
                    low
                } else if whole >= high as f64 {
                    high
                } else {
                    whole as i64
                };
                (code + offset) as u32 & ((1u64 << self.width()) - 1) as u32
            }
        }
    }

    /// Unpacks a code.
    fn unpack(self, code: u32, scale: bool) -> f32 {
        let (low, high, offset) = self.range();
        let number = if low < 0 && offset == 0 {
            let unused = 64 - self.width();
            (i64::from(code) << unused) >> unused
        } else {
            i64::from(code) - offset
        };
        match self {
            Whole => f32::from_bits(code),
            Half => f16::from_bits(code as u16).to_f32(),
            Float(w) => f16::from_bits((code << (15 - w)) as u16).to_f32(),
            _ if !scale => number as f32,
            Ogl(w) => ((2 * number + 1) as f64 / ((1u64 << w) - 1) as f64) as f32,
            _ => (number as f64 / high as f64).max(-1.0) as f32,
        }
    }
}

/// The code of the value nearest to `x`, for codes in the order of their values up to infinity. Ties go to the even
/// code.
fn search(x: f64, infinity: u32, to_zero: bool, value: impl Fn(u32) -> f64) -> u32 {
    let mut below = 0;
    for bit in (0..16).rev() {
        let next = below | 1 << bit;
        if next < infinity && value(next) <= x {
            below = next;
        }
    }
    let step = value(infinity - 1) - value(infinity - 2);
    let above = if below + 1 == infinity { value(below) + step } else { value(below + 1) };
    match () {
        // Any NaN, since the caller only tests for NaN.
        () if x.is_nan() => infinity + 1,
        () if x.is_infinite() => infinity,
        () if to_zero || x - value(below) < above - x => below,
        () if x - value(below) > above - x => below + 1,
        () => below + below % 2,
    }
}

fn program(groups: &[&str]) -> Program {
    let parts =
        groups.iter().chain(&["nop.end"]).map(|text| text.parse::<Parts>().unwrap_or_else(|e| panic!("{text}: {e}")));
    Program::of_parts(&parts.collect::<Vec<_>>()).unwrap_or_else(|e| panic!("{groups:?}: {e}"))
}

/// Runs a program for 32 instances with these values of r0 to r3, and returns r8 to r11.
fn run(program: &Program, inputs: &[[u32; 4]; 32]) -> Vec<[u32; 4]> {
    let mut machine = Machine::new(Software::default());
    let mut task = Task::new(32).expect("32");
    for (i, values) in inputs.iter().enumerate() {
        for (n, value) in values.iter().enumerate() {
            task.set(register(&format!("r{n}")), i, *value).expect("a register");
        }
    }
    let mut tasks = [task];
    machine.run(program, &mut tasks, 100).unwrap_or_else(|e| panic!("{e}"));
    let value = |i: usize, n: usize| tasks[0].get(register(&format!("r{}", 8 + n)), i).expect("a register");
    (0..32).map(|i| std::array::from_fn(|n| value(i, n))).collect()
}

/// Floats near the ends of ranges, halfway between steps, and any bits.
fn input(random: &mut Random) -> u32 {
    let float = match random.below(6) {
        0 => random.below(600) as f32 * 0.5 - 100.0,
        1 => (random.below(2001) as f32 - 1000.0) / 1000.0,
        2 => (random.below(511) as f32 - 255.0) / 255.0,
        3 => (random.below(200_000) as f32 - 100_000.0) * 0.5,
        4 => f16::from_bits(random.below(0x1_0000) as u16).to_f32() * (1.0 + random.below(3) as f32 / 2048.0),
        _ => return random.word(),
    };
    float.to_bits()
}

fn is_nan(field: Field, code: u32) -> bool {
    match field {
        Half => code & 0x7fff > 0x7c00,
        Float(w) => code > 31 << (w - 5),
        _ => false,
    }
}

#[test]
fn every_format_packs_what_its_fields_say() {
    let mut random = Random::new(seed(21));
    for (format, fields) in FORMATS {
        for (scale, to_zero) in [(false, false), (true, false), (false, true), (true, true)] {
            let suffix = format!("{}{}", if scale { ".scale" } else { "" }, if to_zero { ".roundzero" } else { "" });
            let repeat = if fields.len() > 1 { format!("repeat {}\n", fields.len()) } else { String::new() };
            let program = program(&[&format!("{repeat}pck.{format}{suffix} ft2, r0\nmov r8, ft2")]);
            for _ in 0..40 {
                let inputs: [[u32; 4]; 32] = std::array::from_fn(|_| std::array::from_fn(|_| input(&mut random)));
                for (values, found) in inputs.iter().zip(run(&program, &inputs)) {
                    let mut at = 0;
                    for (field, bits) in fields.iter().zip(values) {
                        let wanted = field.pack(*bits, scale, to_zero);
                        let found = (u64::from(found[0]) >> at & ((1u64 << field.width()) - 1)) as u32;
                        let both = is_nan(*field, wanted) && is_nan(*field, found);
                        let x = f32::from_bits(*bits);
                        assert!(
                            both || found == wanted,
                            "{format}{suffix} {field:?} of {x:?}: {found:x}, not {wanted:x}"
                        );
                        at += field.width();
                    }
                }
            }
        }
    }
}

/// Values missing in a repetition are 0, and packing a constant reads no source.
#[test]
fn missing_values_are_nothing_and_constants_read_nothing() {
    let inputs = [[0x3f80_0000; 4]; 32];
    let packed = |text: &str| run(&program(&[text]), &inputs)[0][0];
    assert_eq!(packed("repeat 2\npck.u8888.scale ft2, r0\nmov r8, ft2"), 0xffff);
    assert_eq!(packed("pck.u565u565.scale ft2, r0\nmov r8, ft2"), 0x1f);
    assert_eq!(packed("pck.zero ft2, r0\nmov r8, ft2"), 0);
    assert_eq!(packed("pck.one ft2, r0\nmov r8, ft2"), 0x3f80_0000);
    // Coverage of one sample: any value other than 0 covers it.
    assert_eq!(packed("pck.cov ft2, r0\nmov r8, ft2"), 1);
}

/// Each instance has its own format in a register.
#[test]
fn a_register_names_the_format_of_each_instance() {
    let codes = [(0u32, "u8888"), (3, "u1616"), (4, "s1616"), (14, "f16f16")];
    let text = "repeat 2\nmbyp ft0, r0\npck.u8888.scale.prog ft2, ft0\nmov r8, ft2";
    let mut parts: Parts = text.parse().expect("parts");
    // The format is on FTE: source 3, which does not step since it is a constant.
    for (code, format) in codes {
        let fields = FORMATS.iter().find(|(name, _)| *name == format).expect("a format").1;
        let mut upper = parts.upper.unwrap_or_default();
        (upper.n, upper.sb3, upper.s3) = (1, isaforge_usc::Regbank::Special, code);
        parts.upper = Some(upper);
        let mut lower = parts.lower.expect("it reads r0");
        lower.is0 = isaforge_usc::Is0Sel::S3;
        parts.lower = Some(lower);
        let program = Program::of_parts(&[parts, "nop.end".parse().expect("the end")]).expect("a program");
        let mut random = Random::new(seed(22));
        let inputs: [[u32; 4]; 32] = std::array::from_fn(|_| std::array::from_fn(|_| input(&mut random)));
        for (values, found) in inputs.iter().zip(run(&program, &inputs)) {
            let (low, high) = (fields[0].pack(values[0], true, false), fields[1].pack(values[1], true, false));
            let nan = is_nan(fields[0], low) || is_nan(fields[1], high);
            assert!(nan || found[0] == low | high << fields[0].width(), "{format} of {values:x?}: {:08x}", found[0]);
        }
    }
    // An invalid code is an error.
    let mut upper = parts.upper.expect("it is set");
    upper.s3 = 13;
    parts.upper = Some(upper);
    let program = Program::of_parts(&[parts, "nop.end".parse().expect("the end")]).expect("a program");
    let mut tasks = [Task::new(1).expect("one")];
    let error = Machine::new(Software::default()).run(&program, &mut tasks, 10).expect_err("13 is no format");
    assert!(error.to_string().contains("packs to the format 13"), "{error}");
}

#[test]
fn every_format_unpacks_what_its_fields_say() {
    let mut random = Random::new(seed(23));
    for (format, fields) in FORMATS {
        for scale in [false, true] {
            let suffix = if scale { ".scale" } else { "" };
            let mut groups: Vec<String> = (0..fields.len())
                .map(|e| format!("unpck.{format}{suffix} ft0, r0.e{e}\nmov r{}, ft0", 8 + e))
                .collect();
            for repeated in [false, true] {
                if repeated {
                    // The element advances, the source stays, and the destination steps.
                    groups = vec![format!("repeat {}\nunpck.{format}{suffix} ft0, r0.e0\nmov r8, ft0", fields.len())];
                }
                let texts: Vec<&str> = groups.iter().map(String::as_str).collect();
                let program = program(&texts);
                for _ in 0..20 {
                    let inputs: [[u32; 4]; 32] = std::array::from_fn(|_| [random.word(), 0, 0, 0]);
                    for (values, found) in inputs.iter().zip(run(&program, &inputs)) {
                        let mut at = 0;
                        for (e, field) in fields.iter().enumerate() {
                            let code = (u64::from(values[0]) >> at & ((1u64 << field.width()) - 1)) as u32;
                            let wanted = field.unpack(code, scale);
                            let same =
                                found[e] == wanted.to_bits() || f32::from_bits(found[e]).is_nan() && wanted.is_nan();
                            assert!(same, "{format}{suffix} e{e} of {:08x}: {:08x}, not {wanted}", values[0], found[e]);
                            at += field.width();
                        }
                    }
                }
            }
        }
    }
}

/// Unpacking and packing returns every code of every field.
#[test]
fn codes_come_back() {
    for (format, fields) in FORMATS {
        for scale in [false, true] {
            let suffix = if scale { ".scale" } else { "" };
            let count = fields.len();
            let program = program(&[
                &format!("repeat {count}\nunpck.{format}{suffix} ft0, r0.e0\nmov r20, ft0"),
                &format!("repeat {count}\npck.{format}{suffix} ft2, r20\nmov r8, ft2"),
            ]);
            let mut random = Random::new(seed(24));
            for _ in 0..100 {
                let inputs: [[u32; 4]; 32] = std::array::from_fn(|_| [random.word(), 0, 0, 0]);
                for (values, found) in inputs.iter().zip(run(&program, &inputs)) {
                    let mut at = 0;
                    for field in fields {
                        let part = |word: u32| (u64::from(word) >> at & ((1u64 << field.width()) - 1)) as u32;
                        let (code, back) = (part(values[0]), part(found[0]));
                        at += field.width();
                        // Floats hold 24 bits, and the lowest code of a scaled signed field has the value of the next
                        // one.
                        let wide = field.width() > 24 && !matches!(field, Whole);
                        let lowest =
                            matches!(field, Signed(w) | Offset(w) if scale && (code == 1 << (w - 1) || code == 0));
                        let nan = is_nan(*field, code);
                        assert!(
                            wide || lowest || nan || code == back,
                            "{format}{suffix} {field:?}: {code:x} and {back:x}"
                        );
                    }
                }
            }
        }
    }
}
