/* Sorts numbers of a generator by two methods; the status says whether they agree. */
#include "runtime.h"

#define COUNT 300

static u32 first[COUNT], second[COUNT];

static void quick(u32 *a, int low, int high) {
    if (low >= high) return;
    u32 pivot = a[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            u32 t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quick(a, low, j);
    quick(a, i, high);
}

static void insertion(u32 *a, int count) {
    for (int i = 1; i < count; i++) {
        u32 value = a[i];
        int j = i;
        for (; j > 0 && a[j - 1] > value; j--) a[j] = a[j - 1];
        a[j] = value;
    }
}

int main(void) {
    u32 seed = 12345;
    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1103515245u + 12345u;
        first[i] = second[i] = seed;
    }
    quick(first, 0, COUNT - 1);
    insertion(second, COUNT);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += first[i] != second[i];
    for (int i = 0; i < COUNT; i += 50) {
        hex(first[i]);
        text("\n");
    }
    return wrong ? 1 : 42;
}
