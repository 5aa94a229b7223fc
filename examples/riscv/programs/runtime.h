/* What a program without a library needs: a start, two calls, numbers as text. */

typedef unsigned int u32;
typedef unsigned char u8;

static char stack[4096] __attribute__((aligned(16), used));

int main(void);

__attribute__((naked, used, section(".text.start"))) void _start(void) {
    __asm__ volatile(
        ".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
        "la sp, stack + 4096\n"
        "call main\n"
        "li a7, 93\n"
        "ecall\n");
}

static u32 put(const char *text, u32 size) {
    register u32 a0 __asm__("a0") = 1;
    register const char *a1 __asm__("a1") = text;
    register u32 a2 __asm__("a2") = size;
    register u32 a7 __asm__("a7") = 64;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

static void text(const char *s) {
    u32 size = 0;
    while (s[size]) size++;
    put(s, size);
}

static void number(u32 n) {
    char digits[10];
    u32 at = 10;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    put(digits + at, 10 - at);
}

static void hex(u32 n) {
    char digits[8];
    for (int i = 7; i >= 0; i--, n >>= 4) digits[i] = "0123456789abcdef"[n & 15];
    put(digits, 8);
}

/* The compiler calls these for copies and clears of its own. */
__attribute__((used)) void *memcpy(void *to, const void *from, u32 size) {
    for (u32 i = 0; i < size; i++) ((volatile u8 *)to)[i] = ((const u8 *)from)[i];
    return to;
}

__attribute__((used)) void *memset(void *to, int value, u32 size) {
    for (u32 i = 0; i < size; i++) ((volatile u8 *)to)[i] = (u8)value;
    return to;
}
