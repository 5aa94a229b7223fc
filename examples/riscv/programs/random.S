.globl _start
_start:
  .option norelax
  la x31, begin_signature
  li x1, 250318886
  li x2, 0
  li x3, 31253735
  li x4, 1
  li x5, 3936171156
  li x6, 3629413741
  li x7, 4232691043
  li x8, 1694998469
  li x9, 0
  li x10, 3000827018
  li x11, 0x7fffffff
  li x12, 3792832550
  li x13, 2552138783
  li x14, 1
  li x15, 1
  li x16, 2265060169
  li x17, 0x7fffffff
  li x18, 0x80000000
  li x19, 2608979569
  li x20, 3221221579
  li x21, 2707346571
  li x22, 2395508237
  li x23, 2780043684
  li x24, 2807463643
  li x25, 1480055428
  li x26, 2776821250
  li x27, 2767139990
  li x28, 401671403
  li x29, 2921968303
  li x30, 2685317890
  and x19, x27, x12
  sra x12, x4, x18
  auipc x1, 200926
  rem x20, x13, x9
  slt x6, x7, x0
  mul x17, x24, x30
  ori x24, x29, -1064
  mulhu x15, x1, x23
  srl x10, x15, x25
  mulhsu x21, x24, x30
  sw x19, 172(x31)
  rem x27, x22, x2
  mulhsu x14, x20, x14
  ori x30, x9, 1953
  xor x0, x24, x0
  sb x24, 176(x31)
  srai x8, x28, 19
  andi x2, x24, -1954
  srai x24, x26, 13
  add x28, x21, x1
  bltu x18, x16, 1f
  addi x21, x18, 20
1:
  sh x22, 210(x31)
  slti x0, x6, 1465
  rem x0, x21, x22
  sb x3, 204(x31)
  xori x20, x12, -1220
  xor x26, x13, x3
  sltiu x12, x17, -733
  lb x0, 228(x31)
  lui x29, 840765
  sh x19, 182(x31)
  xori x24, x28, 394
  sb x8, 234(x31)
  slt x2, x28, x23
  sub x8, x12, x20
  beq x2, x15, 1f
  addi x19, x2, 35
1:
  slli x22, x10, 10
  slli x11, x3, 30
  mulhu x15, x6, x4
  divu x28, x29, x14
  sb x28, 146(x31)
  slti x18, x5, -766
  andi x19, x14, -1267
  lui x21, 672914
  andi x17, x12, 545
  xor x19, x6, x30
  andi x19, x16, 235
  mulhsu x30, x11, x25
  ori x17, x12, 1450
  xori x15, x23, 549
  sw x23, 196(x31)
  srl x1, x28, x6
  sh x27, 142(x31)
  mul x22, x14, x13
  remu x14, x26, x12
  remu x21, x7, x15
  srai x15, x17, 6
  lhu x30, 216(x31)
  sb x29, 192(x31)
  mulhsu x6, x18, x23
  andi x28, x24, 35
  srl x4, x20, x11
  lbu x9, 248(x31)
  sltiu x0, x19, -1367
  or x8, x4, x4
  srli x21, x20, 7
  rem x0, x14, x30
  mulhsu x13, x11, x11
  auipc x30, 156969
  div x15, x13, x5
  div x13, x18, x27
  beq x2, x29, 1f
  addi x11, x2, 71
1:
  addi x24, x11, -1846
  beq x24, x8, 1f
  addi x14, x24, 73
1:
  auipc x29, 825571
  auipc x5, 116782
  lb x28, 152(x31)
  mulh x6, x27, x0
  sh x28, 214(x31)
  sltiu x11, x17, -1706
  auipc x30, 102324
  bltu x21, x5, 1f
  addi x19, x21, 81
1:
  lui x28, 753808
  beq x23, x21, 1f
  addi x8, x23, 83
1:
  andi x8, x26, -1114
  sub x20, x23, x25
  lui x21, 684376
  xor x6, x17, x4
  xor x13, x26, x0
  xori x24, x18, 641
  ori x29, x6, -62
  sh x26, 224(x31)
  sh x17, 206(x31)
  lbu x13, 84(x31)
  slli x19, x13, 8
  lb x30, 60(x31)
  and x11, x3, x15
  auipc x23, 99642
  slli x0, x23, 18
  andi x18, x21, -88
  div x6, x5, x9
  xor x18, x19, x1
  xor x18, x29, x29
  slt x2, x27, x26
  sll x24, x19, x15
  sltiu x7, x5, -440
  slli x29, x27, 25
  lui x26, 708352
  srai x3, x13, 11
  rem x8, x9, x18
  lw x0, 20(x31)
  sltu x3, x18, x10
  div x19, x18, x16
  andi x15, x2, -1698
  mul x5, x22, x7
  bltu x24, x12, 1f
  addi x27, x24, 115
1:
  mulhsu x10, x10, x11
  srl x29, x8, x3
  rem x20, x18, x13
  beq x9, x20, 1f
  addi x19, x9, 119
1:
  remu x19, x29, x5
  lh x10, 220(x31)
  or x16, x26, x28
  lbu x16, 168(x31)
  slti x29, x2, 1290
  slt x20, x10, x28
  lh x22, 112(x31)
  divu x6, x9, x10
  andi x0, x22, 615
  add x27, x21, x30
  ori x22, x18, -860
  bge x27, x11, 1f
  addi x20, x27, 131
1:
  mulhsu x26, x30, x0
  sb x21, 171(x31)
  slti x27, x22, 1153
  lui x23, 514470
  sh x10, 210(x31)
  slti x25, x15, -1210
  srl x15, x27, x17
  andi x25, x3, -2013
  sra x17, x30, x16
  and x9, x29, x23
  andi x2, x12, -854
  divu x22, x1, x23
  xori x8, x13, 1660
  or x9, x26, x9
  srl x26, x26, x6
  sll x14, x18, x7
  and x4, x21, x13
  auipc x14, 734510
  srai x18, x9, 3
  mul x18, x1, x16
  slt x26, x22, x19
  sub x15, x30, x0
  divu x26, x19, x8
  srl x27, x8, x14
  sltu x15, x0, x24
  slt x24, x19, x18
  xori x22, x23, 1972
  slt x14, x5, x26
  lbu x8, 92(x31)
  bne x12, x27, 1f
  addi x5, x12, 161
1:
  andi x21, x20, 1292
  lui x1, 1001715
  srai x6, x3, 26
  beq x21, x0, 1f
  addi x7, x21, 165
1:
  sb x9, 213(x31)
  sub x30, x17, x30
  sltiu x15, x14, -1230
  bge x15, x12, 1f
  addi x15, x15, 169
1:
  div x23, x25, x6
  bltu x12, x10, 1f
  addi x30, x12, 171
1:
  slt x12, x24, x21
  slli x25, x9, 29
  ori x20, x1, 1729
  slti x3, x4, 2031
  andi x7, x4, -925
  lhu x13, 100(x31)
  bge x29, x4, 1f
  addi x9, x29, 178
1:
  sw x26, 240(x31)
  mul x20, x12, x2
  mulhsu x23, x4, x11
  divu x1, x27, x28
  lb x18, 148(x31)
  lb x6, 20(x31)
  sub x26, x22, x20
  lh x26, 160(x31)
  or x10, x24, x29
  add x2, x22, x6
  lbu x30, 144(x31)
  auipc x25, 224102
  mulhu x28, x26, x22
  sltu x24, x22, x29
  rem x20, x21, x12
  blt x22, x14, 1f
  addi x23, x22, 194
1:
  xor x29, x6, x4
  remu x18, x14, x2
  srli x5, x13, 3
  lbu x0, 192(x31)
  slti x3, x5, -651
  lb x17, 160(x31)
  mul x24, x27, x24
  sb x22, 177(x31)
  slli x6, x6, 29
  xori x13, x18, 1583
  sra x6, x10, x10
  srli x22, x20, 30
  bne x20, x14, 1f
  addi x16, x20, 207
1:
  ori x21, x14, 105
  sb x13, 212(x31)
  and x25, x18, x20
  auipc x13, 24365
  blt x2, x15, 1f
  addi x27, x2, 212
1:
  slt x15, x5, x14
  andi x9, x29, -741
  xori x28, x26, -43
  slli x29, x15, 17
  sll x9, x11, x19
  blt x18, x29, 1f
  addi x26, x18, 218
1:
  rem x21, x7, x20
  slti x21, x20, 1636
  sltu x23, x12, x29
  srai x5, x24, 30
  srl x15, x8, x30
  sb x6, 218(x31)
  slt x0, x15, x14
  mulh x4, x27, x22
  mulhsu x3, x15, x26
  add x7, x1, x6
  remu x18, x24, x24
  ori x1, x24, 1621
  and x0, x16, x19
  xor x8, x26, x18
  mulhu x26, x2, x24
  lhu x9, 68(x31)
  sub x22, x29, x29
  mulh x9, x27, x23
  sra x10, x6, x7
  mulhu x3, x30, x7
  slli x22, x23, 23
  lh x28, 152(x31)
  add x5, x2, x16
  and x15, x2, x23
  sb x16, 161(x31)
  mul x30, x0, x12
  and x17, x9, x12
  andi x5, x0, 2016
  andi x22, x0, -1140
  slli x25, x29, 10
  srai x29, x12, 4
  sltu x11, x21, x26
  sll x26, x6, x19
  and x21, x20, x22
  slli x2, x1, 10
  lui x26, 882250
  bltu x1, x26, 1f
  addi x14, x1, 255
1:
  srai x29, x22, 17
  bltu x1, x19, 1f
  addi x26, x1, 257
1:
  srai x17, x18, 24
  srai x11, x7, 13
  srai x12, x25, 25
  remu x18, x28, x0
  bgeu x26, x14, 1f
  addi x5, x26, 262
1:
  bgeu x2, x18, 1f
  addi x14, x2, 263
1:
  or x30, x30, x23
  slli x25, x2, 1
  lbu x13, 188(x31)
  or x19, x24, x1
  ori x15, x10, -554
  or x28, x24, x11
  addi x8, x5, 321
  mulhsu x7, x29, x8
  lhu x30, 60(x31)
  sh x28, 186(x31)
  lh x13, 180(x31)
  rem x23, x4, x17
  andi x1, x10, -773
  mulh x11, x13, x20
  slti x21, x1, 200
  mul x15, x19, x11
  bge x12, x30, 1f
  addi x1, x12, 280
1:
  xor x27, x17, x22
  sltu x22, x26, x4
  srl x25, x11, x15
  srai x6, x6, 14
  bltu x8, x30, 1f
  addi x2, x8, 285
1:
  slti x15, x15, 569
  lh x8, 56(x31)
  slti x7, x7, 1900
  srl x14, x19, x7
  lbu x17, 60(x31)
  slli x13, x4, 16
  addi x6, x27, 1456
  lui x15, 791259
  bgeu x30, x4, 1f
  addi x26, x30, 294
1:
  slli x0, x23, 5
  bge x14, x11, 1f
  addi x0, x14, 296
1:
  sll x15, x0, x15
  divu x1, x6, x0
  mulh x27, x10, x27
  mulhsu x1, x0, x22
  srli x23, x9, 8
  bltu x27, x26, 1f
  addi x5, x27, 302
1:
  mulhsu x13, x21, x19
  add x4, x2, x25
  blt x7, x25, 1f
  addi x28, x7, 305
1:
  sb x11, 161(x31)
  addi x26, x12, 1867
  srai x26, x21, 3
  slt x5, x16, x26
  sh x24, 208(x31)
  divu x26, x19, x6
  divu x20, x9, x30
  xori x10, x18, -7
  sll x1, x3, x14
  ori x28, x3, 1385
  mul x28, x15, x2
  bne x0, x28, 1f
  addi x16, x0, 317
1:
  sh x23, 220(x31)
  xori x12, x26, -787
  andi x17, x2, -1123
  lui x10, 103028
  ori x25, x10, -391
  or x29, x17, x29
  sh x16, 222(x31)
  andi x14, x29, -786
  rem x29, x22, x11
  srli x22, x19, 15
  lui x6, 67904
  sh x23, 140(x31)
  sub x20, x17, x17
  ori x1, x23, -1446
  auipc x18, 381686
  sltiu x26, x22, -1713
  auipc x23, 1034510
  div x23, x10, x2
  div x13, x9, x15
  rem x19, x23, x9
  addi x16, x15, -468
  sh x1, 238(x31)
  sw x30, 188(x31)
  sltiu x9, x25, 691
  sll x23, x27, x29
  xor x24, x4, x16
  divu x18, x28, x6
  addi x0, x25, -542
  sll x6, x17, x5
  srl x26, x1, x11
  mulhsu x20, x16, x9
  lui x7, 632780
  mulhu x10, x24, x16
  beq x3, x28, 1f
  addi x23, x3, 351
1:
  sw x21, 132(x31)
  lb x0, 84(x31)
  sub x11, x15, x3
  lui x6, 108782
  xori x10, x5, -1915
  srli x16, x29, 4
  add x19, x10, x16
  srli x3, x30, 29
  remu x7, x22, x13
  slt x30, x30, x15
  sw x21, 196(x31)
  add x4, x20, x1
  mul x24, x3, x25
  addi x20, x15, -1456
  sra x11, x3, x28
  lui x4, 714892
  lbu x3, 180(x31)
  sltu x22, x29, x30
  bge x20, x4, 1f
  addi x3, x20, 370
1:
  and x12, x1, x19
  xor x5, x5, x20
  sh x6, 182(x31)
  sub x24, x4, x6
  beq x14, x1, 1f
  addi x20, x14, 375
1:
  mulhu x30, x28, x0
  sub x3, x13, x3
  sll x7, x18, x21
  srl x28, x15, x12
  addi x15, x15, -189
  or x15, x23, x18
  andi x28, x25, -1116
  rem x21, x30, x12
  remu x13, x8, x24
  srli x4, x20, 28
  bltu x24, x8, 1f
  addi x2, x24, 386
1:
  addi x13, x18, 505
  auipc x14, 84452
  and x21, x26, x8
  add x30, x11, x7
  xori x11, x12, 1511
  xori x10, x2, 1099
  bge x15, x27, 1f
  addi x2, x15, 393
1:
  add x29, x9, x3
  slti x15, x1, 37
  sh x16, 172(x31)
  ori x25, x14, -1996
  sll x11, x17, x20
  sub x7, x8, x14
  bge x26, x0, 1f
  addi x8, x26, 400
1:
  slti x19, x11, -1934
  bltu x24, x12, 1f
  addi x22, x24, 402
1:
  lui x11, 856731
  srai x21, x27, 16
  lhu x4, 152(x31)
  mulhu x25, x27, x29
  sh x4, 230(x31)
  srai x17, x26, 21
  add x21, x15, x30
  ori x2, x21, 443
  and x8, x25, x1
  sw x25, 196(x31)
  sltiu x20, x29, 1965
  remu x11, x25, x14
  mulhu x20, x13, x23
  remu x17, x30, x18
  lui x30, 130864
  blt x29, x7, 1f
  addi x15, x29, 418
1:
  mulh x21, x25, x10
  or x6, x12, x5
  srl x20, x19, x9
  or x7, x24, x15
  slt x4, x23, x25
  andi x10, x22, -9
  div x4, x3, x4
  divu x25, x5, x19
  sra x3, x26, x0
  xor x1, x0, x20
  sra x5, x17, x22
  lw x5, 8(x31)
  sltu x24, x29, x22
  lhu x8, 144(x31)
  sra x8, x29, x16
  sh x24, 206(x31)
  divu x26, x20, x7
  add x12, x30, x20
  lhu x29, 48(x31)
  mul x19, x8, x27
  mulhu x18, x28, x7
  sra x11, x18, x14
  slti x2, x10, 1145
  bltu x7, x26, 1f
  addi x30, x7, 442
1:
  sh x25, 230(x31)
  and x6, x18, x10
  mulh x8, x10, x12
  srai x0, x21, 28
  and x29, x21, x20
  mul x7, x1, x14
  lb x24, 68(x31)
  andi x16, x15, -1493
  sltu x15, x1, x21
  sub x19, x14, x28
  lhu x25, 4(x31)
  sub x28, x4, x7
  srli x25, x26, 22
  sh x10, 190(x31)
  mulh x13, x1, x20
  slti x6, x3, 195
  beq x0, x3, 1f
  addi x3, x0, 459
1:
  sub x23, x5, x4
  ori x1, x19, -462
  auipc x6, 711447
  blt x9, x8, 1f
  addi x6, x9, 463
1:
  lui x12, 302231
  div x21, x0, x15
  sra x15, x5, x24
  mulhu x3, x13, x25
  or x20, x25, x20
  sw x26, 232(x31)
  sb x30, 220(x31)
  xori x16, x13, -1165
  sltu x15, x22, x20
  sb x23, 163(x31)
  srai x10, x11, 15
  lbu x22, 168(x31)
  lh x2, 92(x31)
  xori x20, x9, 412
  add x17, x7, x3
  beq x6, x17, 1f
  addi x28, x6, 479
1:
  auipc x17, 79766
  sltu x15, x23, x2
  sw x8, 200(x31)
  sra x4, x21, x15
  sltu x2, x15, x26
  slti x0, x4, 463
  or x6, x23, x22
  lui x10, 656765
  sh x12, 154(x31)
  auipc x5, 462719
  sltiu x17, x14, 1340
  sltiu x9, x28, -1183
  divu x11, x25, x20
  mulh x29, x23, x3
  rem x28, x2, x1
  srli x20, x11, 23
  srli x0, x17, 30
  sw x12, 156(x31)
  srl x6, x5, x29
  slti x21, x8, -1845
  rem x12, x27, x14
  sh x15, 182(x31)
  and x1, x21, x16
  ori x1, x9, 1048
  andi x0, x13, -291
  bgeu x14, x10, 1f
  addi x30, x14, 505
1:
  rem x5, x7, x5
  lhu x2, 160(x31)
  slt x8, x18, x2
  sub x7, x24, x13
  mulhu x15, x29, x5
  xor x28, x17, x27
  lhu x28, 124(x31)
  sltu x9, x20, x12
  slti x3, x29, 1491
  bltu x18, x6, 1f
  addi x21, x18, 515
1:
  sh x16, 156(x31)
  ori x7, x1, -1746
  slli x15, x30, 27
  sra x16, x11, x28
  and x21, x7, x26
  xori x0, x28, 527
  bne x14, x12, 1f
  addi x10, x14, 522
1:
  lw x1, 216(x31)
  lui x25, 34614
  slli x15, x26, 14
  rem x2, x30, x9
  bltu x22, x25, 1f
  addi x10, x22, 527
1:
  addi x10, x23, -1324
  xor x17, x11, x28
  div x20, x14, x6
  andi x6, x6, 1551
  mul x10, x28, x1
  sb x11, 201(x31)
  slli x30, x12, 27
  srai x8, x12, 14
  srl x7, x4, x2
  auipc x0, 992195
  beq x10, x12, 1f
  addi x29, x10, 538
1:
  or x10, x10, x29
  sh x8, 138(x31)
  sltu x2, x4, x12
  xor x7, x15, x10
  mulhsu x4, x27, x1
  auipc x30, 961126
  divu x6, x25, x21
  bltu x29, x15, 1f
  addi x9, x29, 546
1:
  lui x29, 932364
  sltiu x22, x26, 276
  srai x27, x14, 5
  mul x28, x7, x19
  mulhu x5, x20, x22
  mulhu x3, x1, x26
  sltiu x7, x20, -63
  srl x9, x5, x23
  div x14, x11, x22
  sw x0, 164(x31)
  xori x24, x11, 1136
  sh x7, 170(x31)
  slli x26, x24, 29
  divu x11, x22, x15
  mulhsu x24, x23, x14
  add x16, x29, x28
  auipc x3, 852535
  bgeu x4, x7, 1f
  addi x15, x4, 564
1:
  lw x3, 228(x31)
  sh x9, 200(x31)
  sh x28, 128(x31)
  xori x9, x8, 1964
  xori x21, x12, -1758
  sh x7, 246(x31)
  mul x11, x18, x16
  sh x8, 246(x31)
  lh x7, 108(x31)
  bgeu x17, x20, 1f
  addi x16, x17, 574
1:
  ori x24, x10, 1455
  lb x22, 100(x31)
  sw x18, 160(x31)
  srai x30, x24, 3
  slli x22, x24, 5
  sltiu x30, x4, -128
  bgeu x12, x0, 1f
  addi x21, x12, 581
1:
  divu x3, x14, x25
  lbu x25, 96(x31)
  srli x24, x25, 13
  divu x25, x0, x0
  rem x1, x11, x27
  mulhu x9, x18, x20
  lb x15, 108(x31)
  sw x7, 148(x31)
  sltiu x22, x11, 1946
  ori x10, x18, -968
  sltiu x20, x11, -677
  sra x28, x16, x7
  lb x6, 100(x31)
  sltu x3, x3, x2
  slt x2, x10, x17
  beq x7, x28, 1f
  addi x18, x7, 597
1:
  auipc x26, 479560
  blt x21, x17, 1f
  addi x21, x21, 599
1:
  sw x0, 0(x31)
  sw x1, 4(x31)
  sw x2, 8(x31)
  sw x3, 12(x31)
  sw x4, 16(x31)
  sw x5, 20(x31)
  sw x6, 24(x31)
  sw x7, 28(x31)
  sw x8, 32(x31)
  sw x9, 36(x31)
  sw x10, 40(x31)
  sw x11, 44(x31)
  sw x12, 48(x31)
  sw x13, 52(x31)
  sw x14, 56(x31)
  sw x15, 60(x31)
  sw x16, 64(x31)
  sw x17, 68(x31)
  sw x18, 72(x31)
  sw x19, 76(x31)
  sw x20, 80(x31)
  sw x21, 84(x31)
  sw x22, 88(x31)
  sw x23, 92(x31)
  sw x24, 96(x31)
  sw x25, 100(x31)
  sw x26, 104(x31)
  sw x27, 108(x31)
  sw x28, 112(x31)
  sw x29, 116(x31)
  sw x30, 120(x31)
  li a0, 1
  mv a1, x31
  li a2, 256
  li a7, 64
  ecall
  li a0, 0
  li a7, 93
  ecall
.data
.balign 4
.globl begin_signature
begin_signature:
  .word 1151369981
  .word 4280736952
  .word 1090174721
  .word 894085695
  .word 597381291
  .word 1149840586
  .word 1509182483
  .word 3980443723
  .word 3501536011
  .word 1499724717
  .word 2557376282
  .word 13118836
  .word 3308281902
  .word 2356923246
  .word 604776312
  .word 231661878
  .word 2124673396
  .word 3080743830
  .word 405081793
  .word 2411123868
  .word 1373969973
  .word 1800796489
  .word 3760333051
  .word 2877373050
  .word 1187767950
  .word 3219657411
  .word 2558988838
  .word 4214379906
  .word 666046889
  .word 748240330
  .word 2807315761
  .word 346421515
  .word 3835793465
  .word 3115973977
  .word 1121515747
  .word 4242215378
  .word 3208549233
  .word 698618391
  .word 1029128179
  .word 1870925132
  .word 1365104214
  .word 3233036410
  .word 1109397130
  .word 425241623
  .word 2615015567
  .word 871989438
  .word 1301781567
  .word 954358983
  .word 2229291454
  .word 999696045
  .word 1241317792
  .word 2539426723
  .word 3282739780
  .word 2932729344
  .word 2746351052
  .word 794717495
  .word 2707913773
  .word 2639600021
  .word 2916579046
  .word 714842507
  .word 1544000520
  .word 2879101216
  .word 3274368530
  .word 2422962014
.globl end_signature
end_signature:
