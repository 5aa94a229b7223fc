// Each thread doubles 1.0 as often as its number says, and stores what it gets if it is above a limit.
        U32_TO_F32 r0, 0x1000000.b3
        IADD_IMM.i32 r1, 0x0, #0x0
again:  ICMP.u32.lt.m1 r2, r1, r60, 0x0
        BRANCHZ.eq.reconverge r2, done
        FADD.f32 r0, r0, r0
        IADD_IMM.i32 r1, r1, #0x1
        BRANCHZ.eq 0x0, again
done:   FCMP.f32.gt.m1 r2, r0, u2, 0x0
        BRANCHZ.eq.reconverge r2, end
        IADD.u32 r4, r60, r60
        IADD.u32 r4, r4, r4
        IADD.u32 r4, r4, u0
        MOV.i32 r5, u1
        STORE.i32.slot0.wait0 @r0, r4, offset:0
end:    NOP.end
