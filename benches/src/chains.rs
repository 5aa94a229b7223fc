//! The loops of the USC benchmark for the host, as vectorized by the compiler.

#![allow(unsafe_code, reason = "calls of functions compiled for processors that were detected")]

/// Parallel chains, each with a value for every instance.
pub type Chains<T> = [[T; 32]; 16];

macro_rules! levels {
    ($name:ident, $avx512:ident, $avx2:ident, $portable:ident, ($($arg:ident: $ty:ty),*), $value:ident: $of:ty, $f:expr) => {
        /// Runs the loop with the best vectors of this processor.
        pub fn $name(chains: Chains<$of>, $($arg: $ty,)* rounds: u32) -> Chains<$of> {
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the features have just been detected.
                    return unsafe { $avx512(chains, $($arg,)* rounds) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the features have just been detected.
                    return unsafe { $avx2(chains, $($arg,)* rounds) };
                }
            }
            $portable(chains, $($arg,)* rounds)
        }

        #[inline(always)]
        fn $portable(mut chains: Chains<$of>, $($arg: $ty,)* rounds: u32) -> Chains<$of> {
            // A part of the chains at a time fits into registers.
            for part in chains.chunks_exact_mut(4) {
                let [mut c0, mut c1, mut c2, mut c3] = [part[0], part[1], part[2], part[3]];
                for _ in 0..rounds {
                    for i in 0..32 {
                        let $value = c0[i];
                        c0[i] = $f;
                        let $value = c1[i];
                        c1[i] = $f;
                        let $value = c2[i];
                        c2[i] = $f;
                        let $value = c3[i];
                        c3[i] = $f;
                    }
                }
                part.copy_from_slice(&[c0, c1, c2, c3]);
            }
            chains
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx2,fma")]
        fn $avx512(chains: Chains<$of>, $($arg: $ty,)* rounds: u32) -> Chains<$of> {
            $portable(chains, $($arg,)* rounds)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $avx2(chains: Chains<$of>, $($arg: $ty,)* rounds: u32) -> Chains<$of> {
            $portable(chains, $($arg,)* rounds)
        }
    };
}

levels!(
    multiply_adds,
    multiply_adds_avx512,
    multiply_adds_avx2,
    multiply_adds_portable,
    (a: f32, b: f32),
    x: f32,
    x.mul_add(a, b)
);
levels!(
    integers,
    integers_avx512,
    integers_avx2,
    integers_portable,
    (a: u32, b: u32, c: u32),
    x: u32,
    x.wrapping_mul(a).wrapping_add(b) ^ c
);
