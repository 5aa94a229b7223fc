//! Sets as bits.

/// Iterates over the numbers of a set's members, the bits that are set, in ascending order.
#[inline(always)]
pub(crate) fn members(set: impl Into<u64>) -> impl Iterator<Item = usize> {
    let mut left: u64 = set.into();
    std::iter::from_fn(move || {
        let next = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (next < u64::BITS).then_some(next as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn members_are_the_bits_that_are_set() {
        assert_eq!(members(0u8).count(), 0);
        assert_eq!(members(u64::MAX).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
        assert_eq!(members(1u64 << 63 | 0b1001).collect::<Vec<_>>(), [0, 3, 63]);
    }
}
