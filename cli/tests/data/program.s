// A loop that counts to ten, to be read by people.
start:
    MOV.i32 r1, r2
again:  IADD_IMM.i32 r1, r1, #0xA   ; the case of digits does not matter
    BRANCHZ.reconverge ^r1, offset:again
    .word 0x0091c10000000002
