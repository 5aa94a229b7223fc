//! binary16 by exact integer arithmetic: a value is an integer, and rounding searches for the nearest binary16 number.

/// Returns a number in units of 2⁻²⁴, of which every finite binary16 number is a multiple. `None` for infinities and
/// NaN.
pub fn units(bits: u16) -> Option<i128> {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), i128::from(bits & 1023));
    let magnitude = match exponent {
        31 => return None,
        0 => fraction,
        e => (1024 + fraction) << (e - 1),
    };
    Some(if bits >> 15 == 1 { -magnitude } else { magnitude })
}

pub fn is_nan(bits: u16) -> bool {
    bits & 0x7fff > 0x7c00
}

/// The binary16 number nearest to `numerator / denominator` units, with ties to even; both must be positive.
fn nearest(numerator: i128, denominator: i128) -> u16 {
    // Bisection for the greatest number that is not above the value: magnitudes are ordered like their bits.
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let at_most = units(middle).is_some_and(|m| m * denominator <= numerator);
        if at_most { low = middle } else { high = middle }
    }
    // Infinity takes the place of the next number.
    let above = units(high).unwrap_or(1 << 40);
    let below = units(low).expect("it is finite");
    match (2 * numerator).cmp(&((above + below) * denominator)) {
        std::cmp::Ordering::Less => low,
        std::cmp::Ordering::Greater => high,
        std::cmp::Ordering::Equal => low + (low & 1),
    }
}

const NAN: u16 = 0x7e00;

pub fn add(a: u16, b: u16) -> u16 {
    match (units(a), units(b)) {
        _ if is_nan(a) || is_nan(b) => NAN,
        (None, None) if a != b => NAN,
        (None, _) => a,
        (_, None) => b,
        (Some(x), Some(y)) => match x + y {
            0 if a == 0x8000 && b == 0x8000 => 0x8000,
            0 => 0,
            sum if sum < 0 => 0x8000 | nearest(-sum, 1),
            sum => nearest(sum, 1),
        },
    }
}

pub fn multiply(a: u16, b: u16) -> u16 {
    let sign = (a ^ b) & 0x8000;
    match (units(a), units(b)) {
        _ if is_nan(a) || is_nan(b) => NAN,
        (Some(x), Some(y)) if x * y == 0 => sign,
        (Some(x), Some(y)) => sign | nearest((x * y).abs(), 1 << 24),
        (Some(0), None) | (None, Some(0)) => NAN,
        _ => sign | 0x7c00,
    }
}

pub fn divide(a: u16, b: u16) -> u16 {
    let sign = (a ^ b) & 0x8000;
    match (units(a), units(b)) {
        _ if is_nan(a) || is_nan(b) => NAN,
        (Some(0), Some(0)) | (None, None) => NAN,
        (None, _) | (_, Some(0)) => sign | 0x7c00,
        (_, None) | (Some(0), _) => sign,
        (Some(x), Some(y)) => sign | nearest(x.abs() << 24, y.abs()),
    }
}

pub fn from_integer(a: u16) -> u16 {
    match i128::from(a as i16) << 24 {
        0 => 0,
        n if n < 0 => 0x8000 | nearest(-n, 1),
        n => nearest(n, 1),
    }
}

pub fn to_integer(a: u16) -> u16 {
    match units(a) {
        _ if is_nan(a) => 0,
        None if a >> 15 == 1 => 0x8000,
        None => 0x7fff,
        // Integer division truncates.
        Some(units) => (units / (1 << 24)).clamp(-32768, 32767) as i16 as u16,
    }
}
