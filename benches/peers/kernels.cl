// The kernels of ../src/kernels.rs. `mad`, not `fma`: where a peer has no fused instruction it may take two, and need
// not emulate one.

__kernel void mandelbrot(__global uint *out, float scale, float left, float low, uint steps) {
    uint i = get_global_id(0);
    float a = mad((float)(i & 255), scale, left), b = mad((float)(i >> 8), scale, low);
    float x = 0.0f, y = 0.0f;
    uint n = 0;
    do {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = mad(x + x, y, b);
        x = (xx - yy) + a;
        n++;
    } while (n < steps);
    out[i] = n;
}

__kernel void mixing(__global uint *out, uint rounds) {
    uint i = get_global_id(0), x = i;
    for (uint n = 0; n < rounds; n += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x *= 0x9e3779b1u;
        }
    }
    out[i] = x;
}

__kernel void saxpy(__global float *y, __global const float *x, float factor) {
    uint i = get_global_id(0);
    y[i] = mad(x[i], factor, y[i]);
}
