/* Primes below 10000: how many there are, and the last. */
#include "runtime.h"

#define LIMIT 10000

static u8 composite[LIMIT];

int main(void) {
    u32 count = 0, last = 0;
    for (u32 n = 2; n < LIMIT; n++) {
        if (composite[n]) continue;
        count++;
        last = n;
        for (u32 multiple = n * n; multiple < LIMIT; multiple += n) composite[multiple] = 1;
    }
    number(count);
    text(" primes, the last is ");
    number(last);
    text("\n");
    return 0;
}
