; Tiles seen from above with a round light: the texture of the launch file, bent by a wave, times the light.
;
;   varying at byte 0: u and v, from 0 to 1 over the picture
;   u0  how often the texture repeats
;   u1  how strong the wave is

        LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store.wait0 @r0:r1, r61, index:0x0

        ; r4, r5: the place in the texture. The wave is x * (1 - x) for the part x of v behind the point, times 4 v.
        FMA.f32 r5, r1, u0, 0x0.neg
        FROUND.f32.rtn r6, r5
        FADD.f32 r6, r5, r6.neg
        FMA.f32 r7, r6.neg, r6, r6
        FMA.f32 r7, r7, u1, 0x0.neg
        FMA.f32 r4, r0, u0, r7

        IADD_IMM.i32 r8, 0x0, #0x20001800       ; texture 0 in table 4, sampler 0 in table 3
        MOV.i32 r9, 0x0
        TEX_SINGLE.slot1.f.32.2d.zero.wait1 @r12:r13:r14:r15, @r4:r5, r8

        ; r2: the light, 1 - 1.5 d^2 at distance d from the middle, at least a fifth.
        FADD_IMM.f32 r0, r0, #0xBF000000
        FADD_IMM.f32 r1, r1, #0xBF000000
        FMA.f32 r2, r0, r0, 0x0.neg
        FMA.f32 r2, r1, r1, r2
        IADD_IMM.i32 r3, 0x0, #0xBFC00000
        FMA.f32 r2, r2, r3, 0x3F800000
        IADD_IMM.i32 r3, 0x0, #0x3E4CCCCD
        FMAX.f32 r2, r2, r3

        FMA.f32 r12, r12, r2, 0x0.neg
        FMA.f32 r13, r13, r2, 0x0.neg
        FMA.f32 r14, r14, r2, 0x0.neg
        ATEST @r60, r60, r15, atest_datum.w0
        BLEND.slot0.v4.f32.end @r12:r13:r14:r15, blend_descriptor_0.w0, r60, target:0x0
