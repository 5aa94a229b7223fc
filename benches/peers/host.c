// Runs the kernels on one OpenCL platform.
//
//   host KERNELS.cl PLATFORM SECONDS THREADS
//
// prints a line for each: its name, ns of processor time per lane-iteration, and the sum of the first run's results.
// PLATFORM is a part of a platform's name. Every kernel runs for SECONDS; THREADS limits how many threads one run has.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOCAL = 128, PLATFORMS = 16 };

static void check(cl_int status, const char *what) {
    if (status != CL_SUCCESS) {
        fprintf(stderr, "%s: OpenCL error %d\n", what, status);
        exit(1);
    }
}

// Seconds that all threads of this process have had a processor: others on the machine do not count.
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static cl_platform_id platform(const char *wanted) {
    cl_platform_id all[PLATFORMS];
    cl_uint count = 0;
    check(clGetPlatformIDs(PLATFORMS, all, &count), "clGetPlatformIDs");
    for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
        char name[256] = "";
        clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strstr(name, wanted))
            return all[i];
    }
    fprintf(stderr, "no platform `%s`\n", wanted);
    exit(3);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    char *text = calloc(1, 1 << 16);
    if (!text || !fread(text, 1, (1 << 16) - 1, file)) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static cl_context context;
static cl_command_queue queue;
static double seconds;

static double sum_of(cl_mem out, size_t count, const char *name) {
    cl_uint *results = malloc(count * sizeof *results);
    if (!results)
        exit(1);
    check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, count * sizeof *results, results, 0, NULL, NULL), name);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += results[i];
    free(results);
    return sum;
}

// Runs a kernel whose arguments are set, again and again. `iterations` is how many a thread makes, or 0 when the results
// say it.
static void measure(const char *name, cl_kernel kernel, cl_mem out, size_t threads, double iterations) {
    size_t local = LOCAL;
    double sum = 0, start = 0;
    int runs = -1;
    // The first run is not counted: some compile only then.
    while (runs < 1 || now() - start < seconds) {
        check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, &local, 0, NULL, NULL), name);
        check(clFinish(queue), name);
        if (++runs == 0) {
            sum = sum_of(out, threads, name);
            start = now();
        }
    }
    double count = iterations > 0 ? iterations * threads : sum;
    printf("%s\t%.4f\t%.0f\n", name, (now() - start) / runs / count * 1e9, sum);
    fflush(stdout);
}

static cl_kernel kernel_of(cl_program program, const char *name) {
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    check(status, name);
    return kernel;
}

static cl_mem buffer(size_t size, void *content) {
    cl_int status;
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, content, &status);
    check(status, "clCreateBuffer");
    return memory;
}

static void argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    check(clSetKernelArg(kernel, index, size, value), "clSetKernelArg");
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "host KERNELS.cl PLATFORM SECONDS THREADS\n");
        return 2;
    }
    cl_platform_id chosen = platform(arguments[2]);
    seconds = atof(arguments[3]);
    size_t most = strtoul(arguments[4], NULL, 10) / LOCAL * LOCAL;
    if (most == 0) {
        fprintf(stderr, "at least %d threads are needed\n", LOCAL);
        return 2;
    }
    cl_device_id device;
    check(clGetDeviceIDs(chosen, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_int status;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    const char *source = read_file(arguments[1]);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "-cl-mad-enable", NULL, NULL), "clBuildProgram");

    size_t points = most < 65536 ? most : 65536, elements = most < (1 << 20) ? most : 1 << 20;
    float *numbers = malloc(elements * sizeof *numbers);
    if (!numbers)
        return 1;
    for (size_t i = 0; i < elements; i++)
        numbers[i] = i;
    cl_mem out = buffer(elements * sizeof *numbers, numbers), in = buffer(elements * sizeof *numbers, numbers);

    cl_kernel mandelbrot = kernel_of(program, "mandelbrot");
    float views[2][3] = {{0.0f, -0.1f, 0.1f}, {3.0f / 256.0f, -2.2f, -1.5f}};
    cl_uint steps = 256;
    argument(mandelbrot, 0, sizeof out, &out);
    argument(mandelbrot, 4, sizeof steps, &steps);
    for (int view = 0; view < 2; view++) {
        for (int i = 0; i < 3; i++)
            argument(mandelbrot, 1 + i, sizeof(float), &views[view][i]);
        measure(view ? "mandelbrot, divergent" : "mandelbrot, converged", mandelbrot, out, points, 0);
    }

    cl_kernel saxpy = kernel_of(program, "saxpy");
    cl_mem y = buffer(elements * sizeof *numbers, numbers);
    float factor = 1.5f;
    argument(saxpy, 0, sizeof y, &y);
    argument(saxpy, 1, sizeof in, &in);
    argument(saxpy, 2, sizeof factor, &factor);
    measure("saxpy, 8 MiB", saxpy, y, elements, 1);

    // Last, for not every peer can run it.
    cl_kernel mixing = kernel_of(program, "mixing");
    cl_uint rounds = 256;
    argument(mixing, 0, sizeof out, &out);
    argument(mixing, 1, sizeof rounds, &rounds);
    measure("integer mixing", mixing, out, points, rounds);
    return 0;
}
