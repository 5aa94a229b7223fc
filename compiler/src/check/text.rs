//! Bits and counts as the text of messages.

/// `bits 7..4` or `bit 3`, for the highest and lowest set bits of a mask.
pub(crate) fn bits_text(mask: u64) -> String {
    let (high, low) = (63 - mask.leading_zeros().min(63), mask.trailing_zeros());
    if high == low { format!("bit {low}") } else { format!("bits {high}..{low}") }
}

/// The runs of set bits in a mask as text, from the top.
pub(crate) fn runs_text(mask: u64) -> String {
    let mut runs = Vec::new();
    let mut rest = mask;
    while rest != 0 {
        let low = rest.trailing_zeros();
        let width = (rest >> low).trailing_ones();
        let run = isaforge_core::bits::ones(width) << low;
        runs.push(bits_text(run));
        rest &= !run;
    }
    runs.reverse();
    runs.join(", ")
}

/// The number of entries omitted from a list that is cut at `shown`; `None` if all are shown.
pub(crate) fn more(total: usize, shown: usize) -> Option<usize> {
    total.checked_sub(shown).filter(|rest| *rest > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_written_from_the_top() {
        assert_eq!(bits_text(0b1000), "bit 3");
        assert_eq!(runs_text(0b1000), "bit 3");
        assert_eq!(runs_text(0b1011_0000), "bit 7, bits 5..4");
        assert_eq!(runs_text(u64::MAX), "bits 63..0");
    }
}
