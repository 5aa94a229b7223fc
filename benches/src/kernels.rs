//! Compute kernels for Valhall, with the parameters of their computations.

use isaforge_runtime::{Launch, Memory};

/// The address to which kernels write.
pub const OUT: u64 = 0x100_0000;
/// The address from which kernels read.
pub const IN: u64 = 0x1000_0000;

/// A kernel, ready to run.
pub struct Kernel {
    /// The name of the kernel.
    pub name: &'static str,
    /// The program with its threads and uniforms.
    pub launch: Launch,
    /// The memory that it accesses.
    pub memory: Memory,
}

/// The number of threads of a workgroup.
pub const LOCAL: u32 = 128;

/// Computes the address of the thread's own word in r62.
const OWN: &str = "SHADDX.u64 r62, u0, r60.w0, shift:0x2\n";

pub(crate) fn kernel(name: &'static str, text: &str, threads: u32, uniforms: &[u32]) -> Kernel {
    let program = isaforge_core::program::assemble(isaforge_valhall::ISA, text)
        .unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
    let uniforms = [OUT as u32, 0, IN as u32, 0].iter().chain(uniforms).copied().collect();
    let launch = Launch {
        program,
        groups: [threads / LOCAL, 1, 1],
        local_size: [LOCAL, 1, 1],
        uniforms,
        budget: u64::MAX,
        ..Launch::default()
    };
    let mut memory = Memory::new();
    memory.map(OUT, vec![0; 4 * threads as usize]).expect("it fits");
    Kernel { name, launch, memory }
}

/// The width and height of the picture of the Mandelbrot set in points.
pub const SIDE: u32 = 256;
/// The number of steps after which a point counts as a member of the set.
pub const STEPS: u32 = 256;

/// The Mandelbrot set over the whole picture, with divergent lanes. If `scale` is 0, all threads compute the same
/// point.
pub fn mandelbrot(name: &'static str, scale: f32, corner: [f32; 2], threads: u32) -> Kernel {
    let text = format!(
        "{OWN}
        MOV.i32 r11, u4
        LSHIFT_AND.i32 r4, r60, 0x0.b00, u8
        U32_TO_F32 r4, r4
        RSHIFT_OR.i32 r5, r60, 0x0B0A0908.b00, 0x0
        U32_TO_F32 r5, r5
        FMA.f32 r4, r4, r11, u5
        FMA.f32 r5, r5, r11, u6
        MOV.i32 r0, 0x0
        MOV.i32 r1, 0x0
        MOV.i32 r10, 0x0
   again: FMA.f32 r2, r0, r0, 0x0.neg
        FMA.f32 r3, r1, r1, 0x0.neg
        FADD.f32 r6, r2, r3
        FCMP.f32.gt.m1 r7, r6, u9, 0x0
        BRANCHZ.reconverge r7, offset:done
        FADD.f32 r8, r2, r3.neg
        FADD.f32 r9, r0, r0
        FMA.f32 r1, r9, r1, r5
        FADD.f32 r0, r8, r4
        IADD_IMM.i32 r10, r10, #0x1
        ICMP.u32.lt.m1 r7, r10, u7, 0x0
        BRANCHZ.reconverge r7, offset:again
    done: STORE.i32.slot0.end @r10, r62, offset:0
        "
    );
    let [x, y] = corner.map(f32::to_bits);
    kernel(name, &text, threads, &[scale.to_bits(), x, y, STEPS, SIDE - 1, 4.0f32.to_bits()])
}

/// The number of rounds of xorshift and multiplication in each thread.
pub const ROUNDS: u32 = 256;

/// A hash of the thread's number, in many rounds.
pub fn hash(threads: u32) -> Kernel {
    let round = "
        LSHIFT_XOR.i32 r0, r0, u4.b00, r0
        RSHIFT_XOR.i32 r0, r0, u5.b00, r0
        LSHIFT_XOR.i32 r0, r0, u6.b00, r0
        IMUL.i32 r0, r0, u7
    ";
    let text = format!(
        "{OWN}
        MOV.i32 r10, 0x0
        MOV.i32 r0, r60
        again: {}
        IADD_IMM.i32 r10, r10, #0x4
        ICMP.u32.lt.m1 r7, r10, u8, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.end @r0, r62, offset:0",
        round.repeat(4)
    );
    kernel("integer mixing", &text, threads, &[13, 17, 5, 0x9e37_79b1, ROUNDS])
}

/// Two halves per lane: `x = x · a + b`, in many rounds.
pub fn half_fma(threads: u32) -> Kernel {
    let text = format!(
        "{OWN}
        MOV.i32 r10, 0x0
        U32_TO_F32 r0, r60
        again: {}
        IADD_IMM.i32 r10, r10, #0x8
        ICMP.u32.lt.m1 r7, r10, u6, 0x0
        BRANCHZ.reconverge r7, offset:again
        STORE.i32.slot0.end @r0, r62, offset:0",
        "FMA.v2f16 r0, r0, u4, u5\n".repeat(8)
    );
    kernel("v2f16 FMA", &text, threads, &[0x3800_3bff, 0x3c00_2e66, ROUNDS])
}

/// The factor `a` of saxpy.
pub const FACTOR: f32 = 1.5;

/// `y = a · x + y`. Each workgroup has consecutive elements, and each thread `each` of them.
pub fn saxpy(name: &'static str, elements: u32, each: u32) -> Kernel {
    let threads = elements / each;
    let body = "
        LOAD.i32.unsigned.slot0 @r0, r62, offset:0
        LOAD.i32.unsigned.slot0 @r1, r58, offset:0
        FMA.f32 r0, r1, u4, r0
    ";
    let text = if each == 1 {
        format!("{OWN} SHADDX.u64 r58, u2, r60.w0, shift:0x2\n {body} STORE.i32.slot0.end @r0, r62, offset:0")
    } else {
        format!(
            "IMUL.i32 r9, r57, u7
            SHADDX.u64 r62, u0, r9.w0, shift:0x2
            SHADDX.u64 r62, r62, r55.w0, shift:0x2
            SHADDX.u64 r58, u2, r9.w0, shift:0x2
            SHADDX.u64 r58, r58, r55.w0, shift:0x2
            MOV.i32 r10, 0x0
            again: {body} STORE.i32.slot0 @r0, r62, offset:0
            IADD.u64 r62, r62, u5.w0
            IADD.u64 r58, r58, u5.w0
            IADD_IMM.i32 r10, r10, #0x1
            ICMP.u32.lt.m1 r7, r10, u6, 0x0
            BRANCHZ.reconverge r7, offset:again
            NOP.end"
        )
    };
    let mut kernel = kernel(name, &text, threads, &[FACTOR.to_bits(), 4 * LOCAL, each, LOCAL * each]);
    kernel.memory = Memory::new();
    for base in [OUT, IN] {
        let words = (0..elements).flat_map(|i| (i as f32).to_le_bytes()).collect::<Vec<u8>>();
        kernel.memory.map(base, words).expect("it fits");
    }
    kernel
}
