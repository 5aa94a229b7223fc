//! The `unsafe` code of loops over lanes: they are compiled for every processor and for AVX2.

#![allow(unsafe_code, reason = "calls of functions compiled for a processor that was detected")]

/// A computation in loops over lanes, which must be inlined together with everything that it calls.
pub(crate) trait Wide {
    /// Its result.
    type Result;
    /// Computes it.
    fn compute(self) -> Self::Result;
}

/// Computes with the widest vectors of this processor.
pub(crate) fn wide<W: Wide>(computation: W) -> W::Result {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<W: Wide>(computation: W) -> W::Result {
            computation.compute()
        }
        if crate::level::has_avx2() {
            // SAFETY: the processor has these features.
            return unsafe { avx2(computation) };
        }
    }
    computation.compute()
}

/// Converts a number to an integer, towards zero. Numbers beyond 2^30 become ±2^30, and NaN becomes -2^30. Unlike a
/// cast it is one instruction for several lanes.
#[inline(always)]
#[expect(clippy::manual_clamp, reason = "that would keep NaN")]
pub(crate) fn truncated(value: f32) -> i32 {
    const LIMIT: f32 = (1 << 30) as f32;
    // SAFETY: the number is finite and in range, since `max` returns its argument for NaN.
    unsafe { value.max(-LIMIT).min(LIMIT).to_int_unchecked() }
}

#[cfg(test)]
mod tests {
    use super::truncated;

    #[test]
    fn numbers_are_truncated_within_limits() {
        for value in [0.0f32, -0.0, 0.99, -0.99, 1e6, -1e6, 12345.678, -98765.43, 1e-40] {
            assert_eq!(truncated(value), value as i32, "{value}");
        }
        for (value, limit) in [(f32::INFINITY, 1), (3e9, 1), (-3e9, -1), (f32::NEG_INFINITY, -1), (f32::NAN, -1)] {
            assert_eq!(truncated(value), limit << 30, "{value}");
        }
    }
}
