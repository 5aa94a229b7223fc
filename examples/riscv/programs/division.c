/* Every instruction of multiplication and division on the corners of its operands. */
#include "runtime.h"

#define TRY(name)                                                            \
    static u32 try_##name(u32 a, u32 b) {                                    \
        u32 d;                                                               \
        __asm__ volatile(#name " %0, %1, %2" : "=r"(d) : "r"(a), "r"(b));    \
        return d;                                                            \
    }

TRY(mul) TRY(mulh) TRY(mulhsu) TRY(mulhu) TRY(div) TRY(divu) TRY(rem) TRY(remu)

static const u32 corners[] = {0, 1, 2, 3, 7, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff9, 0xfffffffe, 0xffffffff};

#define COUNT (sizeof corners / sizeof *corners)

int main(void) {
    static u32 (*const tries[])(u32, u32) = {try_mul, try_mulh, try_mulhsu, try_mulhu,
                                             try_div, try_divu, try_rem,    try_remu};
    for (u32 k = 0; k < 8; k++) {
        u32 sum = 0;
        for (u32 i = 0; i < COUNT; i++)
            for (u32 j = 0; j < COUNT; j++) {
                u32 d = tries[k](corners[i], corners[j]);
                sum = (sum << 5 | sum >> 27) ^ d;
            }
        hex(sum);
        text("\n");
    }
    hex(try_div(0x80000000, 0xffffffff));
    text(" ");
    hex(try_rem(0x80000000, 0xffffffff));
    text(" ");
    hex(try_div(7, 0));
    text(" ");
    hex(try_remu(7, 0));
    text("\n");
    return 3;
}
