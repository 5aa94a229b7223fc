//! The kernels of [`kernels`](super::kernels) as loops over lanes that the compiler vectorizes.

use super::kernels::{FACTOR, ROUNDS, SIDE, STEPS};

/// Compiles a loop for several levels, and calls the best version that the processor supports.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) = $body:ident) => {
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
                fn avx512($($arg: $ty),*) {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx2,fma,f16c")]
                fn avx2($($arg: $ty),*) {
                    $body($($arg),*)
                }
                if is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
                    // SAFETY: processors with these parts of AVX-512 have the other parts, and all earlier features.
                    return unsafe { avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the features were detected, and all such processors have F16C.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

pub(crate) use dispatched;

/// The number of lanes that advance together, which is enough to hide latencies.
const L: usize = 64;

dispatched! {
    /// Computes the number of steps of each point.
    mandelbrot(out: &mut [u32], scale: f32, corner: [f32; 2]) = mandelbrot_lanes
}

#[inline(always)]
fn mandelbrot_lanes(out: &mut [u32], scale: f32, corner: [f32; 2]) {
    for (block, out) in out.chunks_exact_mut(L).enumerate() {
        let at = |lane: usize| (block * L + lane) as u32;
        let cx: [f32; L] = std::array::from_fn(|l| ((at(l) & (SIDE - 1)) as f32).mul_add(scale, corner[0]));
        let cy: [f32; L] = std::array::from_fn(|l| ((at(l) >> 8) as f32).mul_add(scale, corner[1]));
        let (mut x, mut y) = ([0.0f32; L], [0.0f32; L]);
        let mut count = [0u32; L];
        let mut live = [u32::MAX; L];
        for _ in 0..STEPS {
            let mut any = 0;
            for l in 0..L {
                let (xx, yy) = (x[l] * x[l], y[l] * y[l]);
                let inside = if xx + yy > 4.0 { 0 } else { live[l] };
                live[l] = inside;
                any |= inside;
                y[l] = (x[l] + x[l]).mul_add(y[l], cy[l]);
                x[l] = xx - yy + cx[l];
                count[l] = count[l].wrapping_sub(inside);
            }
            if any == 0 {
                break;
            }
        }
        out.copy_from_slice(&count);
    }
}

dispatched! {
    /// Computes the hash of each thread's number.
    hash(out: &mut [u32]) = hash_lanes
}

#[inline(always)]
fn hash_lanes(out: &mut [u32]) {
    for (block, out) in out.chunks_exact_mut(L).enumerate() {
        let mut x: [u32; L] = std::array::from_fn(|lane| (block * L + lane) as u32);
        for _ in 0..ROUNDS {
            for x in &mut x {
                *x ^= *x << 13;
                *x ^= *x >> 17;
                *x ^= *x << 5;
                *x = x.wrapping_mul(0x9e37_79b1);
            }
        }
        out.copy_from_slice(&x);
    }
}

dispatched! {
    /// Computes `y = a · x + y`.
    saxpy(y: &mut [f32], x: &[f32]) = saxpy_lanes
}

#[inline(always)]
fn saxpy_lanes(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = x.mul_add(FACTOR, *y);
    }
}

/// Computes `x = x · a + b` on pairs of halves. Without half-precision arithmetic in the processor, single precision is
/// used, which does not always round correctly. Returns the name of the method.
#[cfg(target_arch = "x86_64")]
pub fn half_fma(out: &mut [u32], a: u32, b: u32) -> &'static str {
    use std::arch::x86_64::*;

    /// Applies all rounds to the words of each block, as vectors.
    macro_rules! rounds {
        ($vector:ty, $out:ident, $round:expr) => {
            for block in $out.as_chunks_mut::<L>().0 {
                // SAFETY: vectors of words accept any bits, and the sizes are equal.
                let mut x: [$vector; 4 * L / size_of::<$vector>()] = unsafe { std::mem::transmute(*block) };
                for _ in 0..ROUNDS {
                    x = x.map($round);
                }
                // SAFETY: as above.
                *block = unsafe { std::mem::transmute::<[$vector; 4 * L / size_of::<$vector>()], [u32; L]>(x) };
            }
        };
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512fp16")]
    fn fp16(out: &mut [u32], a: u32, b: u32) {
        let [a, b] = [a, b].map(|half| _mm512_castsi512_ph(_mm512_set1_epi32(half as i32)));
        rounds!(__m512h, out, |x| _mm512_fmadd_ph(x, a, b));
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn single(out: &mut [u32], a: u32, b: u32) {
        let widen = |x: __m256i| _mm512_cvtph_ps(x);
        let [a, b] = [a, b].map(|half| widen(_mm256_set1_epi32(half as i32)));
        rounds!(__m256i, out, |x| _mm512_cvtps_ph::<0>(_mm512_fmadd_ps(widen(x), a, b)));
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    fn single_of_avx2(out: &mut [u32], a: u32, b: u32) {
        let widen = |x: __m128i| _mm256_cvtph_ps(x);
        let [a, b] = [a, b].map(|half| widen(_mm_set1_epi32(half as i32)));
        rounds!(__m128i, out, |x| _mm256_cvtps_ph::<0>(_mm256_fmadd_ps(widen(x), a, b)));
    }

    if is_x86_feature_detected!("avx512fp16") {
        // SAFETY: the feature was detected.
        unsafe { fp16(out, a, b) };
        return "AVX512-FP16";
    }
    if is_x86_feature_detected!("avx512bw") {
        // SAFETY: the feature was detected.
        unsafe { single(out, a, b) };
        return "AVX-512, through f32";
    }
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c") {
        // SAFETY: the features were detected.
        unsafe { single_of_avx2(out, a, b) };
        return "AVX2, through f32";
    }
    "nothing"
}
