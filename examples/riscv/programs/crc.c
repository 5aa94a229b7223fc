/* CRC-32 of a text, bit by bit and by a table; halves and bytes with their signs. */
#include "runtime.h"

static const char data[] = "The quick brown fox jumps over the lazy dog";

static u32 table[256];

static u32 by_bits(const u8 *at, u32 size) {
    u32 crc = ~0u;
    while (size--) {
        crc ^= *at++;
        for (int i = 0; i < 8; i++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static u32 by_table(const u8 *at, u32 size) {
    for (u32 n = 0; n < 256; n++) {
        u32 c = n;
        for (int i = 0; i < 8; i++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        table[n] = c;
    }
    u32 crc = ~0u;
    while (size--) crc = crc >> 8 ^ table[(crc ^ *at++) & 255];
    return ~crc;
}

static volatile signed char bytes[] = {-1, 127, -128, 5};
static volatile short halves[] = {-1, 32767, -32768, 5};

int main(void) {
    hex(by_bits((const u8 *)data, sizeof data - 1));
    text(" ");
    hex(by_table((const u8 *)data, sizeof data - 1));
    text("\n");
    int sum = 0;
    for (int i = 0; i < 4; i++) sum = sum * 3 + bytes[i] * halves[i];
    hex((u32)sum);
    text("\n");
    halves[1] = (short)sum;
    bytes[2] = (signed char)sum;
    hex((u32)(int)halves[1]);
    hex((u32)(int)bytes[2]);
    text("\n");
    return 0;
}
