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
