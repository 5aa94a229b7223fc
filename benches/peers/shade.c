// Runs the programs of ../src/shading.rs, from GLSL, on Mesa's software rasterizer without a window.
//
//   shade SECONDS
//
// prints a line for each: its name, ns of processor time per pixel, vertex or texel, and the means of the channels of
// its results. Every program runs for SECONDS.

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PICTURE = 2048, VERTICES = 1000, IMAGE = 1024, TEXELS = 64 };

static double seconds;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(const char *what) {
    GLenum error = glGetError();
    char code[16];
    snprintf(code, sizeof code, "0x%x", error);
    if (error != GL_NO_ERROR)
        fail(what, code);
}

// Seconds that all threads of this process have had a processor: others on the machine do not count.
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void open_context(void) {
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API))
        fail("EGL", "no display without a window");
    EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE};
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        fail("EGL", "no context of OpenGL ES 3.1");
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    if (!renderer || !strstr(renderer, "llvmpipe"))
        fail("the renderer is not llvmpipe", renderer ? renderer : "none");
    fprintf(stderr, "%s, %s\n", renderer, glGetString(GL_VERSION));
}

// Ends the run with the log of a shader or a program unless the step that `status` tells of succeeded.
static void must(GLuint object, GLenum status, void (*get)(GLuint, GLenum, GLint *),
                 void (*log_of)(GLuint, GLsizei, GLsizei *, GLchar *), const char *problem) {
    GLint done;
    get(object, status, &done);
    char log[4096] = "";
    log_of(object, sizeof log, NULL, log);
    if (!done)
        fail(problem, log);
}

static void add(GLuint program, GLenum stage, const char *body) {
    const char *version = "#version 310 es\nprecision highp float;\nprecision highp int;\nprecision highp image2D;\n";
    const char *text[] = {version, body};
    GLuint shader = glCreateShader(stage);
    glShaderSource(shader, 2, text, NULL);
    glCompileShader(shader);
    must(shader, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog, "a shader cannot be compiled");
    glAttachShader(program, shader);
}

static void use(GLuint program) {
    glLinkProgram(program);
    must(program, GL_LINK_STATUS, glGetProgramiv, glGetProgramInfoLog, "a program cannot be linked");
    glUseProgram(program);
}

// Runs something again and again, and prints the cost of one of `items` and the means of the `columns` of its results.
static void measure(const char *name, void (*run)(void), const float *(*results)(size_t *), double items, int columns) {
    run();
    glFinish();
    double start = now();
    int runs = 0;
    while (runs < 1 || now() - start < seconds) {
        run();
        glFinish();
        runs++;
    }
    double ns = (now() - start) * 1e9 / runs / items;
    check(name);
    size_t count;
    const float *numbers = results(&count);
    check(name);
    double sums[8] = {0};
    for (size_t i = 0; i < count; i++)
        sums[i % columns] += numbers[i];
    printf("%s\t%.4f\t", name, ns);
    for (int i = 0; i < columns; i++)
        printf("%s%.6f", i ? " " : "", sums[i] / count * columns);
    printf("\n");
    fflush(stdout);
}

// Four channels of the pixels of the bound framebuffer, from 0 to 1.
static const float *pixels(size_t side, size_t *count) {
    static uint8_t bytes[4 * PICTURE * PICTURE];
    static float channels[4 * PICTURE * PICTURE];
    glReadPixels(0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    *count = 4 * side * side;
    for (size_t i = 0; i < *count; i++)
        channels[i] = bytes[i] / 255.0f;
    return channels;
}

static uint32_t noise(uint32_t index) {
    uint32_t bits = index * 0x9e3779b1u;
    return (bits << 13 | bits >> 19) * 0x85ebca6bu;
}

static GLuint texture(int side, int levels) {
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, levels, GL_RGBA8, side, side);
    return name;
}

static void fill(int level, int side, const void *texels) {
    glTexSubImage2D(GL_TEXTURE_2D, level, 0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, texels);
}

static void draw_on(GLuint target, int side) {
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("the framebuffer", "incomplete");
    glViewport(0, 0, side, side);
}

// A triangle that covers the picture; `place` goes from -1 to 1 over it.
static const char *TRIANGLE =
    "out vec2 place;\n"
    "void main() {\n"
    "    place = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);\n"
    "    gl_Position = vec4(place, 0.0, 1.0);\n"
    "}\n";

static const char *TILES =
    "in vec2 place;\n"
    "uniform vec2 wave;\n"
    "uniform sampler2D tiles;\n"
    "out vec4 colour;\n"
    "void main() {\n"
    "    vec2 at = place * 0.5 + 0.5;\n"
    "    float v = at.y * wave.x;\n"
    "    float part = v - floor(v);\n"
    "    float bend = (part - part * part) * wave.y;\n"
    "    vec4 texel = textureLod(tiles, vec2(at.x * wave.x + bend, v), 0.0);\n"
    "    vec2 d = at - 0.5;\n"
    "    float light = max(1.0 - 1.5 * dot(d, d), 0.2);\n"
    "    colour = vec4(texel.rgb * light, texel.a);\n"
    "}\n";

static const char *SPHERE =
    "in vec2 place;\n"
    "uniform float repeats;\n"
    "uniform vec3 light;\n"
    "uniform vec2 diffuse;\n"
    "uniform sampler2D skin;\n"
    "out vec4 colour;\n"
    "void main() {\n"
    "    float square = 1.0 - dot(place, place);\n"
    "    colour = vec4(0.1, 0.1, 0.2, 1.0);\n"
    "#ifdef BRANCHING\n"
    "    if (square <= 0.0)\n"
    "        return;\n"
    "#endif\n"
    "    float z = sqrt(max(square, 1e-6));\n"
    "    vec4 texel = texture(skin, place * (repeats / (1.0 + z)));\n"
    "    float facing = clamp(dot(vec3(place, z), light), 0.0, 1.0);\n"
    "    vec3 lit = texel.rgb * (facing * diffuse.x + diffuse.y);\n"
    "    colour.rgb = square > 0.0 ? lit : colour.rgb;\n"
    "}\n";

static void draw(void) {
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static const float *picture(size_t *count) {
    return pixels(PICTURE, count);
}

static void sample(GLenum min) {
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, min);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
}

static void tiles(void) {
    // Those of examples/valhall/tiles.yaml.
    static const uint32_t texels[16] = {
        0xff2b2b36, 0xff2b2b36, 0xff2b2b36, 0xff2b2b36, 0xff2b2b36, 0xff4f86e8, 0xff5c9bf2, 0xff78b0f5,
        0xff2b2b36, 0xff4a7ade, 0xff4f86e8, 0xff5c9bf2, 0xff2b2b36, 0xff3f69c8, 0xff4a7ade, 0xff4f86e8,
    };
    GLuint program = glCreateProgram();
    add(program, GL_VERTEX_SHADER, TRIANGLE);
    add(program, GL_FRAGMENT_SHADER, TILES);
    use(program);
    glUniform2f(glGetUniformLocation(program, "wave"), 6.0f, 0.5f);
    texture(4, 1);
    fill(0, 4, texels);
    sample(GL_LINEAR);
    measure("tiles 2,048², fragments", draw, picture, (double)PICTURE * PICTURE, 4);
}

static void fill_levels(void) {
    static uint8_t texels[4 * TEXELS * TEXELS];
    for (uint32_t at = 0; at < TEXELS * TEXELS; at++) {
        uint32_t bits = noise(at), square = (at % TEXELS / 8 + at / TEXELS / 8) % 2;
        uint32_t base = 0x38 + 0x90 * square, blue = 0xa0 - 0x50 * square;
        uint8_t texel[4] = {base + (bits & 31), base + (bits >> 5 & 31), blue + (bits >> 10 & 63), 0xff};
        memcpy(texels + 4 * at, texel, 4);
    }
    int level = 0;
    for (int size = TEXELS;; size /= 2) {
        fill(level++, size, texels);
        if (size == 1)
            return;
        // In place: what is written has been read.
        for (int at = 0; at < size * size; at++) {
            int half = size / 2, corner = at / half * 2 * size + at % half * 2;
            if (at >= half * half)
                break;
            for (int c = 0; c < 4; c++) {
                int sum = texels[4 * corner + c] + texels[4 * (corner + 1) + c];
                sum += texels[4 * (corner + size) + c] + texels[4 * (corner + size + 1) + c];
                texels[4 * at + c] = (sum + 2) / 4;
            }
        }
    }
}

static void sphere(const char *name, const char *define) {
    char body[4096];
    snprintf(body, sizeof body, "%s%s", define, SPHERE);
    GLuint program = glCreateProgram();
    add(program, GL_VERTEX_SHADER, TRIANGLE);
    add(program, GL_FRAGMENT_SHADER, body);
    use(program);
    glUniform1f(glGetUniformLocation(program, "repeats"), PICTURE / 64.0f);
    glUniform3f(glGetUniformLocation(program, "light"), -0.48f, 0.6f, 0.64f);
    glUniform2f(glGetUniformLocation(program, "diffuse"), 0.85f, 0.15f);
    texture(TEXELS, 7);
    fill_levels();
    sample(GL_LINEAR_MIPMAP_LINEAR);
    measure(name, draw, picture, (double)PICTURE * PICTURE, 4);
}

static void transform(void) {
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, VERTICES * VERTICES);
    glEndTransformFeedback();
}

static const float *transformed(size_t *count) {
    *count = 8 * VERTICES * VERTICES;
    return glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 4 * *count, GL_MAP_READ_BIT);
}

static void vertices(void) {
    static struct {
        float place[3];
        uint32_t colour;
    } input[VERTICES * VERTICES];
    for (uint32_t at = 0; at < VERTICES * VERTICES; at++) {
        float numbers[] = {at % VERTICES, at / VERTICES, noise(at) >> 22}, of[] = {VERTICES, VERTICES, 1024};
        for (int axis = 0; axis < 3; axis++)
            input[at].place[axis] = numbers[axis] * (2.0f / of[axis]) - 1.0f;
        input[at].colour = noise(at);
    }
    GLuint program = glCreateProgram(), buffers[2];
    add(program, GL_VERTEX_SHADER,
        "layout(location = 0) in vec3 place;\n"
        "layout(location = 1) in vec4 given;\n"
        "uniform mat4 matrix;\n"
        "out vec4 moved, colour;\n"
        "void main() {\n"
        "    moved = matrix * vec4(place, 1.0);\n"
        "    colour = given;\n"
        "    gl_Position = moved;\n"
        "}\n");
    add(program, GL_FRAGMENT_SHADER, "void main() {}\n");
    const char *outputs[] = {"moved", "colour"};
    glTransformFeedbackVaryings(program, 2, outputs, GL_INTERLEAVED_ATTRIBS);
    use(program);
    const float rows[16] = {0.8f,  -0.36f, 0.48f, 0.1f, 0.0f,  0.8f,   0.6f,  -0.2f,
                            -0.6f, -0.48f, 0.64f, 3.0f, -0.6f, -0.48f, 0.64f, 4.0f};
    glUniformMatrix4fv(glGetUniformLocation(program, "matrix"), 1, GL_TRUE, rows);
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof input, input, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 16, (void *)0);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 16, (void *)12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffers[1]);
    glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 32 * VERTICES * VERTICES, NULL, GL_DYNAMIC_COPY);
    glEnable(GL_RASTERIZER_DISCARD);
    measure("vertices", transform, transformed, (double)VERTICES * VERTICES, 8);
    glDisable(GL_RASTERIZER_DISCARD);
}

static void dispatch(void) {
    glDispatchCompute(IMAGE / 16, IMAGE / 8, 1);
    glMemoryBarrier(GL_FRAMEBUFFER_BARRIER_BIT);
}

static const float *blurred(size_t *count) {
    return pixels(IMAGE, count);
}

static void blur(void) {
    static uint32_t texels[IMAGE * IMAGE];
    for (uint32_t at = 0; at < IMAGE * IMAGE; at++)
        texels[at] = noise(at);
    GLuint program = glCreateProgram();
    add(program, GL_COMPUTE_SHADER,
        "layout(local_size_x = 16, local_size_y = 8) in;\n"
        "layout(rgba8, binding = 0) readonly uniform image2D from;\n"
        "layout(rgba8, binding = 1) writeonly uniform image2D to;\n"
        "void main() {\n"
        "    ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
        "    vec4 sum = vec4(0.0);\n"
        "    for (int y = -1; y <= 1; y++)\n"
        "        for (int x = -1; x <= 1; x++)\n"
        "            sum += imageLoad(from, at + ivec2(x, y));\n"
        "    imageStore(to, at, sum * (1.0 / 9.0));\n"
        "}\n");
    use(program);
    GLuint from = texture(IMAGE, 1);
    fill(0, IMAGE, texels);
    GLuint to = texture(IMAGE, 1);
    glBindImageTexture(0, from, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
    glBindImageTexture(1, to, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
    draw_on(to, IMAGE);
    measure("image blur", dispatch, blurred, (double)IMAGE * IMAGE, 4);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "shade SECONDS\n");
        return 2;
    }
    seconds = atof(arguments[1]);
    open_context();
    draw_on(texture(PICTURE, 1), PICTURE);
    tiles();
    sphere("sphere 2,048², fragments", "");
    sphere("sphere 2,048², branching", "#define BRANCHING\n");
    vertices();
    blur();
    return 0;
}
