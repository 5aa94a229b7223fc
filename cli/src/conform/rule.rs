//! How the memory contents that a kernel leaves are compared with the expected ones.

/// A parsed comparison rule, such as `u32 exact`, `f32 within 2 ulp`, `f32, relative 1e-5` or `u32; >= 98% of pixels
/// must agree`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The fraction of words that must agree.
    share: f64,
    /// The width of the floats in a word; `None` for integers.
    floats: Option<Width>,
    /// The maximum error of a float in ulp.
    ulps: u64,
    /// The maximum absolute error.
    absolute: f64,
    /// The maximum relative error.
    relative: f64,
}

/// The width of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// One float per word.
    Single,
    /// Two floats per word.
    Half,
}

impl Rule {
    /// Parses a rule. Comparison is exact unless the rule says otherwise. A tolerance is relative to the number's
    /// magnitude, or to 1 if that is smaller, unless it is called absolute or relative.
    pub fn new(text: &str) -> Rule {
        let is = |part: &str| text.contains(part);
        let floats = match () {
            () if is("f32") || is("float") => Some(Width::Single),
            () if is("f16") || is("half") => Some(Width::Half),
            () => None,
        };
        let tolerance = numbers(text).find(|number| *number > 0.0 && *number < 1.0).unwrap_or(0.0);
        Rule {
            share: before(text, "%").map_or(1.0, |percent| (percent / 100.0).clamp(0.0, 1.0)),
            floats,
            ulps: before(text, "ulp").map_or(0, |ulps| ulps as u64),
            absolute: if is("rel") && !is("abs") { 0.0 } else { tolerance },
            relative: if is("abs") && !is("rel") { 0.0 } else { tolerance },
        }
    }

    /// Whether `agreeing` out of `total` words are enough.
    pub fn is_met_by(&self, agreeing: usize, total: usize) -> bool {
        agreeing as f64 >= self.share * total as f64
    }

    /// Whether a word is as expected. All NaNs are equal.
    pub fn agrees(&self, found: u32, expected: u32) -> bool {
        let halves = |word: u32| [word as u16, (word >> 16) as u16];
        found == expected
            || match self.floats {
                None => false,
                Some(Width::Single) => self.close(
                    [found, expected].map(|bits| f32::from_bits(bits).into()),
                    key(found.into(), 31).abs_diff(key(expected.into(), 31)),
                ),
                Some(Width::Half) => halves(found).into_iter().zip(halves(expected)).all(|(found, expected)| {
                    let apart = key(found.into(), 15).abs_diff(key(expected.into(), 15));
                    found == expected || self.close([found, expected].map(half), apart)
                }),
            }
    }

    fn close(&self, [found, expected]: [f64; 2], apart: u64) -> bool {
        if found.is_nan() || expected.is_nan() {
            return found.is_nan() && expected.is_nan();
        }
        let allowed = self.absolute.max(self.relative * expected.abs());
        // An infinity is not close to any finite number.
        let finite = found.is_finite() && expected.is_finite();
        let near = found == expected || finite && (found - expected).abs() <= allowed;
        allowed > 0.0 && near || finite && apart <= self.ulps
    }
}

/// An integer that orders like the float; zeros of different sign differ by one.
fn key(bits: u64, sign: u32) -> i64 {
    let magnitude = (bits & ((1 << sign) - 1)) as i64;
    if bits >> sign == 0 { magnitude } else { -1 - magnitude }
}

/// The value of a half-precision float.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * f64::powi(2.0, -24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * f64::powi(2.0, exponent - 25),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

/// The numbers of a text that have a decimal point or an exponent.
fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')));
    words.filter(|word| word.contains(['.', 'e'])).filter_map(|word| word.trim_end_matches('.').parse().ok())
}

/// The number before a word.
fn before(text: &str, word: &str) -> Option<f64> {
    let (before, _) = text.split_once(word)?;
    before.trim_end().rsplit(|c: char| !c.is_ascii_digit() && c != '.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_may_allow_some_words_to_differ() {
        for (text, share) in [
            ("u32 exact", 1.0),
            ("u32; >= 98% of pixels must agree (fma contraction)", 0.98),
            ("100 % of 3", 1.0),
            ("% of nothing", 1.0),
        ] {
            assert_eq!(Rule::new(text).share, share, "{text}");
            assert!(!Rule::new(text).agrees(0x3f80_0000, 0x3f80_0001));
        }
        assert!(Rule::new("98%").is_met_by(98, 100) && !Rule::new("98%").is_met_by(97, 100));
        assert!(Rule::new("").is_met_by(0, 0));
    }

    #[test]
    fn floats_may_be_off_as_far_as_the_rule_says() {
        let bits = f32::to_bits;
        let agree = |rule: &str, found: f32, expected: f32| Rule::new(rule).agrees(bits(found), bits(expected));
        assert!(!agree("f32 exact (fused multiply-add)", 1.0, 1.0000001));
        assert!(agree("f32 within 1 ulp", 1.0, 1.0000001) && !agree("f32 within 1 ulp", 1.0, 1.0000002));
        assert!(agree("f32, 4 ulps", -0.0, f32::from_bits(3)) && !agree("f32, 4 ulps", f32::INFINITY, f32::MAX));
        assert!(agree("f32 tolerance 1e-3", 1000.9, 1000.0) && agree("f32 tolerance 1e-3", 0.0009, 0.0));
        assert!(agree("f32 relative 1e-3", 1000.9, 1000.0) && !agree("f32 relative 1e-3", 0.0009, 0.0));
        assert!(agree("f32 abs <= 0.001", 0.0009, 0.0) && !agree("f32 abs <= 0.001", 1000.9, 1000.0));
        assert!(!agree("f32 exact", -0.0, 0.0) && agree("f32, 1e-9", -0.0, 0.0));
        assert!(agree("f32 exact", f32::NAN, -f32::NAN) && !agree("f32, 1e-3", f32::NAN, 1.0));
        assert!(
            !agree("f32 relative 1e-3", 1.0, f32::INFINITY) && !agree("f32 abs 0.5", -f32::INFINITY, f32::INFINITY)
        );
        assert!(!agree("u32, 1e-3", 1.0, 1.0001));
    }

    #[test]
    fn halves_are_compared_one_by_one() {
        let rule = Rule::new("f16 within 1 ulp");
        assert!(rule.agrees(0x3c00_0001, 0x3c01_0002) && !rule.agrees(0x3c00_0001, 0x3c02_0001));
        assert!(rule.agrees(0x7e00_8000, 0xfe01_0000) && !rule.agrees(0x7c00_0000, 0x7bff_0000));
        assert!(Rule::new("f16, abs 0.01").agrees(0xbc00_3c00, 0xbc01_3c05));
        assert_eq!([0x3c00, 0xc248, 0x0001, 0x7c00].map(half), [1.0, -3.140625, f64::powi(2.0, -24), f64::INFINITY]);
    }
}
