//! Kernels whose threads share memory, and the same computations as loops for the host.

use isaforge_runtime::Memory;

use super::kernels::{IN, Kernel, LOCAL, OUT, kernel};
use super::native::dispatched;

/// A kernel, and a function that computes the same from the kernel's input.
pub struct Shared {
    /// The kernel, with its input at [`IN`].
    pub kernel: Kernel,
    /// The words at [`IN`].
    pub input: Vec<u32>,
    /// Writes what the kernel leaves at [`OUT`], where all words are initially 0.
    pub native: fn(&mut [u32], &[u32]),
    /// The relative tolerance of results: the host divides and takes roots, where the kernel uses tables.
    pub tolerance: f32,
}

/// Pseudorandom words.
fn words(count: usize) -> impl Iterator<Item = u32> {
    (0..count as u32).map(|i| i.wrapping_mul(0x9e37_79b1).rotate_left(13).wrapping_mul(0x85eb_ca6b))
}

/// Pseudorandom floats from 0 to 1.
fn floats(count: usize) -> Vec<u32> {
    words(count).map(|word| ((word >> 8) as f32 / (1 << 24) as f32).to_bits()).collect()
}

/// Creates a kernel of `groups` workgroups that writes `out` words.
fn shared(
    name: &'static str,
    text: &str,
    (groups, local): (u32, u32),
    (out, bytes): (u32, u32),
    uniforms: &[u32],
    input: Vec<u32>,
    native: fn(&mut [u32], &[u32]),
) -> Shared {
    let mut kernel = kernel(name, text, out, uniforms);
    kernel.launch.groups = [groups, 1, 1];
    kernel.launch.local_size = [local, 1, 1];
    kernel.launch.shared_bytes = bytes;
    kernel.memory = Memory::new();
    kernel.memory.map(OUT, vec![0; 4 * out as usize]).expect("it fits");
    let bytes = input.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    kernel.memory.map(IN, bytes).expect("it fits");
    Shared { kernel, input, native, tolerance: 0.0 }
}

/// Computes the address of the thread's own word in workgroup memory in r46.
const PLACE: &str = "SHADDX.u64 r46, workgroup_local_pointer.w0, r55.w0, shift:0x2\n";

/// The number of words that each thread adds before the workgroup adds the sums of its threads.
const EACH: u32 = 16;

/// The sum of each workgroup's words: each thread adds some words, then half of the threads add the sums of the other
/// half, and so on.
pub fn reduction(groups: u32) -> Shared {
    let halves: String = (0..7)
        .map(|step| {
            let half = LOCAL >> (step + 1);
            format!(
                "ICMP.u32.ge.m1 r7, r55, u{}, 0x0
                BRANCHZ.reconverge r7, offset:to{half}
                LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:{}
                LOAD.i32.unsigned.slot0.wait0 @r0, r46, offset:0
                IADD.u32 r0, r0, r1
                STORE.i32.slot0.wait0 @r0, r46, offset:0
                to{half}: BARRIER.slot7.wait\n",
                8 + step,
                4 * half
            )
        })
        .collect();
    let text = format!(
        "IMUL.i32 r9, r57, u6
        SHADDX.u64 r58, u2, r9.w0, shift:0x2
        SHADDX.u64 r58, r58, r55.w0, shift:0x2
        MOV.i32 r10, 0x0
        MOV.i32 r0, 0x0
        again: LOAD.i32.unsigned.slot0.wait0 @r1, r58, offset:0
        IADD.u32 r0, r0, r1
        IADD.u64 r58, r58, u4.w0
        IADD_IMM.i32 r10, r10, #0x1
        ICMP.u32.lt.m1 r7, r10, u5, 0x0
        BRANCHZ.reconverge r7, offset:again
        {PLACE} STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        {halves}
        ICMP.u32.ne.m1 r7, r55, 0x0, 0x0
        BRANCHZ.reconverge r7, offset:done
        SHADDX.u64 r62, u0, r57.w0, shift:0x2
        STORE.i32.slot0.wait0 @r0, r62, offset:0
        done: NOP.end"
    );
    let all = LOCAL * EACH;
    let mut uniforms = vec![4 * LOCAL, EACH, all, 0];
    uniforms.extend((0..7).map(|step| LOCAL >> (step + 1)));
    let input = words((groups * all) as usize).collect();
    shared("reduction", &text, (groups, LOCAL), (groups, 4 * LOCAL), &uniforms, input, sums)
}

dispatched! {
    /// Computes the sum of each workgroup's words.
    sums(out: &mut [u32], input: &[u32]) = sums_lanes
}

#[inline(always)]
fn sums_lanes(out: &mut [u32], input: &[u32]) {
    for (out, words) in out.iter_mut().zip(input.chunks_exact((LOCAL * EACH) as usize)) {
        *out = words.iter().fold(0, |sum, word| sum.wrapping_add(*word));
    }
}

/// The prefix sums of each workgroup's words, in steps of 1, 2, 4 and so on.
pub fn prefix_sum(groups: u32) -> Shared {
    let steps: String = (0..7)
        .map(|step| {
            let by = 1 << step;
            format!(
                "MOV.i32 r1, 0x0
                ICMP.u32.lt.m1 r7, r55, u{}, 0x0
                BRANCHZ.reconverge r7, offset:by{by}
                LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:{}
                by{by}: BARRIER.slot7.wait
                IADD.u32 r0, r0, r1
                STORE.i32.slot0.wait0 @r0, r46, offset:0
                BARRIER.slot7.wait\n",
                4 + step,
                -4 * by
            )
        })
        .collect();
    let text = format!(
        "SHADDX.u64 r58, u2, r60.w0, shift:0x2
        SHADDX.u64 r62, u0, r60.w0, shift:0x2
        LOAD.i32.unsigned.slot0.wait0 @r0, r58, offset:0
        {PLACE} STORE.i32.slot0.wait0 @r0, r46, offset:0
        BARRIER.slot7.wait
        {steps} STORE.i32.slot0.end @r0, r62, offset:0"
    );
    let uniforms: Vec<u32> = (0..7).map(|step| 1 << step).collect();
    let (all, input) = (groups * LOCAL, words((groups * LOCAL) as usize).collect());
    shared("prefix sum", &text, (groups, LOCAL), (all, 4 * LOCAL), &uniforms, input, prefixes)
}

dispatched! {
    /// Computes the prefix sums of each workgroup's words.
    prefixes(out: &mut [u32], input: &[u32]) = prefixes_lanes
}

#[inline(always)]
fn prefixes_lanes(out: &mut [u32], input: &[u32]) {
    for (out, words) in out.chunks_exact_mut(LOCAL as usize).zip(input.chunks_exact(LOCAL as usize)) {
        let mut sum = 0u32;
        for (out, word) in out.iter_mut().zip(words) {
            sum = sum.wrapping_add(*word);
            *out = sum;
        }
    }
}

/// The number of words for each low byte, counted in mapped memory with atomics; each thread has one word.
pub fn histogram(groups: u32) -> Shared {
    let text = "SHADDX.u64 r58, u2, r60.w0, shift:0x2
        LOAD.i32.unsigned.slot0.wait0 @r1, r58, offset:0
        LSHIFT_AND.i32 r1, r1, 0x0.b00, u4
        SHADDX.u64 r4, u0, r1.w0, shift:0x2
        MOV.i32 r50, u5
        ATOM.i32.slot0.aadd.wait0 @r50, r4, offset:0
        NOP.end";
    let input = words((groups * LOCAL) as usize).map(|word| word >> 11).collect();
    shared("histogram with atomics", text, (groups, LOCAL), (256, 0), &[255, 1], input, counts)
}

dispatched! {
    /// Counts the words for each low byte.
    counts(out: &mut [u32], input: &[u32]) = counts_lanes
}

#[inline(always)]
fn counts_lanes(out: &mut [u32], input: &[u32]) {
    for word in input {
        out[(word & 255) as usize] += 1;
    }
}

/// The number of rows and columns of the matrices, and of the tiles in workgroup memory.
const SIDE: usize = 128;
const TILE: usize = 16;

/// The product of two matrices. Each thread computes one element of the product.
pub fn matrix_product() -> Shared {
    let steps: String = (0..TILE)
        .map(|k| {
            format!(
                "LOAD.i32.unsigned.slot0.wait0 @r1, r40, offset:{}
                LOAD.i32.unsigned.slot0.wait0 @r2, r42, offset:{}
                FMA.f32 r0, r1, r2, r0\n",
                4 * k,
                4 * TILE * (TILE + k)
            )
        })
        .collect();
    // r20 and r21: row and column within the tile; r22 and r23: row and column of the tile, times its size.
    let text = format!(
        "RSHIFT_OR.i32 r20, r55, u4.b00, 0x0
        LSHIFT_AND.i32 r21, r55, 0x0.b00, u5
        RSHIFT_OR.i32 r22, r57, u6.b00, 0x0
        LSHIFT_AND.i32 r23, r57, 0x0.b00, u7
        IMUL.i32 r22, r22, u8
        IMUL.i32 r23, r23, u8
        IADD.u32 r24, r22, r20
        IMUL.i32 r24, r24, u9
        IADD.u32 r25, r24, r21
        IMUL.i32 r26, r20, u9
        IADD.u32 r26, r26, r23
        IADD.u32 r26, r26, r21
        IADD.u32 r27, r24, r23
        IADD.u32 r27, r27, r21
        SHADDX.u64 r30, u2, r25.w0, shift:0x2
        SHADDX.u64 r32, u12, r26.w0, shift:0x2
        SHADDX.u64 r62, u0, r27.w0, shift:0x2
        IMUL.i32 r28, r20, u8
        SHADDX.u64 r40, workgroup_local_pointer.w0, r28.w0, shift:0x2
        SHADDX.u64 r42, workgroup_local_pointer.w0, r21.w0, shift:0x2
        {PLACE}
        MOV.i32 r0, 0x0
        MOV.i32 r10, 0x0
        again: LOAD.i32.unsigned.slot0.wait0 @r1, r30, offset:0
        LOAD.i32.unsigned.slot0.wait0 @r2, r32, offset:0
        STORE.i32.slot0.wait0 @r1, r46, offset:0
        STORE.i32.slot0.wait0 @r2, r46, offset:{}
        BARRIER.slot7.wait
        {steps} BARRIER.slot7.wait
        IADD.u64 r30, r30, u10.w0
        IADD.u64 r32, r32, u11.w0
        IADD_IMM.i32 r10, r10, #0x1
        ICMP.u32.lt.m1 r7, r10, u14, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.end @r0, r62, offset:0",
        4 * TILE * TILE
    );
    let (side, tile, parts) = (SIDE as u32, TILE as u32, (SIDE / TILE) as u32);
    let other = IN as u32 + 4 * side * side;
    let uniforms = [
        tile.trailing_zeros(),
        tile - 1,
        parts.trailing_zeros(),
        parts - 1,
        tile,
        side,
        4 * tile,
        4 * side * tile,
        other,
        0,
        parts,
    ];
    let (input, local) = (floats(2 * SIDE * SIDE), tile * tile);
    let name = "matrix product in shared memory";
    shared(name, &text, (parts * parts, local), (side * side, 8 * local), &uniforms, input, product)
}

dispatched! {
    /// Computes the product of two matrices.
    product(out: &mut [u32], input: &[u32]) = product_lanes
}

#[inline(always)]
fn product_lanes(out: &mut [u32], input: &[u32]) {
    let (a, b) = input.split_at(SIDE * SIDE);
    for (out, a) in out.chunks_exact_mut(SIDE).zip(a.chunks_exact(SIDE)) {
        let mut row = [0f32; SIDE];
        for (a, b) in a.iter().zip(b.chunks_exact(SIDE)) {
            for (sum, b) in row.iter_mut().zip(b) {
                *sum = f32::from_bits(*a).mul_add(f32::from_bits(*b), *sum);
            }
        }
        out.iter_mut().zip(row).for_each(|(out, sum)| *out = sum.to_bits());
    }
}

/// Softening, which keeps the distance of bodies above 0.
const SOFT: f32 = 0.01;

/// The x component of the force on each body by all bodies, which have three coordinates and a mass.
pub fn n_body(bodies: u32) -> Shared {
    let text = "SHADDX.u64 r62, u0, r60.w0, shift:0x2
        SHADDX.u64 r58, u2, r60.w0, shift:0x4
        LOAD.i128.unsigned.slot0.wait0 @r20:r21:r22:r23, r58, offset:0
        MOV.i32 r40, u2
        MOV.i32 r41, u3
        MOV.i32 r30, 0x0
        MOV.i32 r10, 0x0
        again: LOAD.i128.unsigned.slot0.wait0 @r0:r1:r2:r3, r40, offset:0
        FADD.f32 r4, r0, r20.neg
        FADD.f32 r5, r1, r21.neg
        FADD.f32 r6, r2, r22.neg
        FMA.f32 r8, r4, r4, u4
        FMA.f32 r8, r5, r5, r8
        FMA.f32 r8, r6, r6, r8
        FRSQ.f32 r9, r8
        FMA.f32 r11, r9, r9, 0x0.neg
        FMA.f32 r11, r11, r9, 0x0.neg
        FMA.f32 r11, r11, r3, 0x0.neg
        FMA.f32 r30, r4, r11, r30
        IADD.u64 r40, r40, u6.w0
        IADD_IMM.i32 r10, r10, #0x1
        ICMP.u32.lt.m1 r7, r10, u7, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.end @r30, r62, offset:0";
    let (input, uniforms) = (floats(4 * bodies as usize), [SOFT.to_bits(), 0, 16, bodies]);
    let mut shared = shared("N-body", text, (bodies / LOCAL, LOCAL), (bodies, 0), &uniforms, input, forces);
    shared.tolerance = 1e-3;
    shared
}

dispatched! {
    /// Computes the force on each body.
    forces(out: &mut [u32], input: &[u32]) = forces_lanes
}

#[inline(always)]
fn forces_lanes(out: &mut [u32], input: &[u32]) {
    const L: usize = 64;
    let bodies = input.as_chunks::<4>().0;
    let float = f32::from_bits;
    for (own, out) in bodies.as_chunks::<L>().0.iter().zip(out.as_chunks_mut::<L>().0) {
        let mut sums = [0f32; L];
        let at = |k: usize| -> [f32; L] { std::array::from_fn(|lane| float(own[lane][k])) };
        let (x, y, z) = (at(0), at(1), at(2));
        for [other_x, other_y, other_z, mass] in bodies.iter().map(|body| body.map(float)) {
            for lane in 0..L {
                let (dx, dy, dz) = (other_x - x[lane], other_y - y[lane], other_z - z[lane]);
                let square = dz.mul_add(dz, dy.mul_add(dy, dx.mul_add(dx, SOFT)));
                let root = 1.0 / square.sqrt();
                sums[lane] = dx.mul_add(root * root * root * mass, sums[lane]);
            }
        }
        *out = sums.map(f32::to_bits);
    }
}
