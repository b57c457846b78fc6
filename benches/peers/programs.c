/* Ordinary programs in plain C as contenders of benches/ranks_programs.rs, which starts this program.
 *
 *     cc -O3 -march=native -ffast-math -fopenmp programs.c -o programs -lm
 *
 * One request a line on standard input, one answer a line on standard output, both JSON objects:
 *
 * {"do": "start", "program": NAME, "n": N}    initial values
 * {"do": "step", "steps": COUNT}              seconds of the steps
 * {"do": "values"}                            "values": weighted sum of the cells, weighted sum of their
 *                                             magnitudes, and the number that the last step has read
 *
 * The answer to a program that this file does not have is {"missing": true}.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long n, side, step_index;
static double last_read, squares;
static float *a, *b, *c, *d;
static uint8_t *bytes, *next_bytes;
static uint32_t *states, *next_states, *neighbours;

/* Memory of a program, released when the next one starts. */
static void *held[16];
static int held_count;

static void *zeroed(size_t size) {
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory) exit(1);
    memset(memory, 0, (size + 63) / 64 * 64);
    return held[held_count++] = memory;
}

static float *floats(long count) { return zeroed(4 * count); }

static float hash(uint64_t array, uint64_t i) {
    return (float)(((array << 40 | i) * 0x9E3779B97F4A7C15ull) >> 40) / 16777216.0f;
}

/* A grid of n cells along each axis with a border of zeros; axes are 2 or 3. */
static float *grid(int axes, int border, int array) {
    long row = n + 2 * border, layers = axes == 3 ? n : 1, layer = axes == 3 ? border : 0;
    float *field = floats(row * row * (axes == 3 ? row : 1));
    for (long z = 0; array >= 0 && z < layers; z++)
        for (long y = 0; y < n; y++)
            for (long x = 0; x < n; x++)
                field[x + border + (y + border) * row + (z + layer) * row * row] = hash(array, x + n * (y + n * z));
    return field;
}

static void add(double values[2], double value, long i) {
    double weight = 1 + i % 97;
    values[0] += weight * value;
    values[1] += weight * fabs(value);
}

static void add_grid(double values[2], const float *field, int axes, int border) {
    long row = n + 2 * border, layers = axes == 3 ? n : 1, layer = axes == 3 ? border : 0;
    for (long z = 0; z < layers; z++)
        for (long y = 0; y < n; y++)
            for (long x = 0; x < n; x++)
                add(values, field[x + border + (y + border) * row + (z + layer) * row * row], x + n * (y + n * z));
}

static void swap(float **first, float **second) {
    float *kept = *first;
    *first = *second;
    *second = kept;
}

#include "programs_grids.h"

static void matrix_start(void) {
    a = grid(2, 0, 0), b = floats(n), c = floats(n);
    for (long i = 0; i < n; i++) b[i] = hash(1, i);
}
static void matrix(void) {
#pragma omp parallel for
    for (long row = 0; row < n; row++) {
        float sum = 0;
        for (long column = 0; column < n; column++) sum += a[column + row * n] * b[column];
        c[row] = sum * (2.0f / n);
    }
    swap(&b, &c);
}
static void matrix_values(double values[2]) {
    for (long i = 0; i < n; i++) add(values, b[i], i);
}

/* Positions and masses by component in a; velocities in b. */
static void bodies_start(void) {
    a = floats(4 * n), b = floats(3 * n), c = floats(4 * n);
    for (long i = 0; i < n; i++)
        for (int k = 0; k < 4; k++) a[i + k * n] = hash(k, i) / (k == 3 ? n : 1);
    memcpy(c, a, 16 * n);
}
static void bodies(void) {
    const float *x = a, *y = a + n, *z = a + 2 * n, *mass = a + 3 * n;
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float pull_x = 0, pull_y = 0, pull_z = 0;
        for (long j = 0; j < n; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float pull = mass[j] * inverse * inverse * inverse;
            pull_x += pull * dx, pull_y += pull * dy, pull_z += pull * dz;
        }
        c[i] = x[i] + 0.001f * (b[i] += 0.001f * pull_x);
        c[i + n] = y[i] + 0.001f * (b[i + n] += 0.001f * pull_y);
        c[i + 2 * n] = z[i] + 0.001f * (b[i + 2 * n] += 0.001f * pull_z);
    }
    swap(&a, &c);
}
static void bodies_values(double values[2]) {
    for (long i = 0; i < 3 * n; i++) add(values, a[i / 3 + i % 3 * n], i / 3 * 4 + i % 3);
}

static void epidemic_start(void) {
    states = zeroed(4 * n), next_states = zeroed(4 * n), neighbours = zeroed(32 * n);
    for (long i = 0; i < n; i++) states[i] = hash(1, i) < 0.01f;
    for (long i = 0; i < 8 * n; i++)
        neighbours[i] = i % 8 < 6 ? (i / 8 + i % 8 - 3 + n) % n : (uint32_t)(hash(0, i) * n);
}
static void epidemic(void) {
    long sick = 0;
    step_index++;
#pragma omp parallel for reduction(+ : sick)
    for (long i = 0; i < n; i++) {
        uint32_t state = states[i], around = 0;
        if (state == 0) {
            for (int k = 0; k < 8; k++) around += states[neighbours[8 * i + k]] == 1;
            uint32_t roll = ((uint32_t)i * 2654435761u + (uint32_t)step_index * 40503u) >> 24;
            state = around * 32 > roll;
        } else {
            state = 2;
        }
        next_states[i] = state;
        sick += state == 1;
    }
    last_read = sick;
    uint32_t *kept = states;
    states = next_states, next_states = kept;
}
static void epidemic_values(double values[2]) {
    for (long i = 0; i < n; i++) add(values, states[i], i);
}

static void particles_start(void) {
    side = (long)sqrt((double)n) / 4 > 16 ? (long)sqrt((double)n) / 4 : 16;
    a = floats(4 * n), states = zeroed(4 * side * side);
    for (long i = 0; i < 4 * n; i++) a[i] = i % 4 < 2 ? hash(i % 4, i / 4) * side : hash(i % 4, i / 4) - 0.5f;
}
static void particles(void) {
    memset(states, 0, 4 * side * side);
    for (long i = 0; i < n; i++) {
        float x = a[4 * i] + 0.5f * a[4 * i + 2], y = a[4 * i + 1] + 0.5f * a[4 * i + 3];
        x -= floorf(x / side) * side, y -= floorf(y / side) * side;
        a[4 * i] = x, a[4 * i + 1] = y;
        long column = x < side ? (long)x : side - 1, row = y < side ? (long)y : side - 1;
        states[column + row * side]++;
    }
}
static void particles_values(double values[2]) {
    for (long i = 0; i < side * side; i++) add(values, states[i], i);
}

static void masked_start(void) {
    a = grid(2, 0, 0), b = floats(n * n), bytes = zeroed(n * n);
    for (long i = 0; i < n * n; i++) bytes[i] = i / 7 % 3 == 0;
}
/* Index of the least cell, or of the largest where `sign` is -1: minima of blocks, then one block. */
static long first_least(const float *field, long count, float sign) {
    enum { BLOCK = 4096 };
    float least = 1e30f;
    long found = 0, blocks = (count + BLOCK - 1) / BLOCK;
    static float minima[1 << 16];
#pragma omp parallel for
    for (long block = 0; block < blocks; block++) {
        long end = (block + 1) * BLOCK < count ? (block + 1) * BLOCK : count;
        float part = 1e30f;
        for (long i = block * BLOCK; i < end; i++) part = sign * field[i] < part ? sign * field[i] : part;
        minima[block] = part;
    }
    for (long block = 0; block < blocks; block++)
        if (minima[block] < least) least = minima[block], found = block * BLOCK;
    while (sign * field[found] != least) found++;
    return found;
}
static void masked(void) {
    double sum = 0;
    long count = 0;
#pragma omp parallel for simd reduction(+ : sum, count)
    for (long i = 0; i < n * n; i++) {
        b[i] = bytes[i] ? a[i] : 0;
        sum += b[i], count += bytes[i];
    }
    last_read = sum + count + first_least(b, n * n, -1);
}
static void masked_values(double values[2]) { add_grid(values, b, 2, 0); }

static void vector_start(void) {
    a = floats(n);
    for (long i = 0; i < n; i++) a[i] = hash(5, i);
}
static void no_values(double values[2]) { (void)values; }
static void sum(void) {
    double total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (long i = 0; i < n; i++) total += a[i];
    last_read = total;
}
static void norm(void) {
    double total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (long i = 0; i < n; i++) total += (double)a[i] * a[i];
    last_read = sqrt(total);
}
static void argmin(void) { last_read = first_least(a, n, 1); }
static void extremes(void) {
    float least = 1e30f, most = -1e30f;
#pragma omp parallel for simd reduction(min : least) reduction(max : most)
    for (long i = 0; i < n; i++) least = a[i] < least ? a[i] : least, most = a[i] > most ? a[i] : most;
    last_read = (double)least + most;
}
static long counts[256];
static void histogram(void) {
    memset(counts, 0, sizeof counts);
#pragma omp parallel for reduction(+ : counts[:256])
    for (long i = 0; i < n; i++) {
        int bin = a[i] * 256;
        counts[bin < 0 ? 0 : bin > 255 ? 255 : bin]++;
    }
}
static void histogram_values(double values[2]) {
    for (long i = 0; i < 256; i++) add(values, counts[i], i);
}

static const struct Program {
    const char *name;
    void (*start)(void), (*step)(void), (*values)(double values[2]);
} PROGRAMS[] = {
    {"axpy", axpy_start, axpy, axpy_values},
    {"cg", cg_start, cg, cg_values},
    {"wave", wave_start, wave, wave_values},
    {"jacobi", jacobi_start, jacobi, jacobi_values},
    {"gauss_seidel", gauss_seidel_start, gauss_seidel, gauss_seidel_values},
    {"blur", blur_start, blur, blur_values},
    {"advection", advection_start, advection, advection_values},
    {"lattice", lattice_start, lattice, lattice_values},
    {"life", life_start, life, life_values},
    {"matrix", matrix_start, matrix, matrix_values},
    {"bodies", bodies_start, bodies, bodies_values},
    {"epidemic", epidemic_start, epidemic, epidemic_values},
    {"particles", particles_start, particles, particles_values},
    {"masked", masked_start, masked, masked_values},
    {"sum", vector_start, sum, no_values},
    {"norm", vector_start, norm, no_values},
    {"argmin", vector_start, argmin, no_values},
    {"extremes", vector_start, extremes, no_values},
    {"histogram", vector_start, histogram, histogram_values},
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* What follows a key in a line of JSON. */
static const char *after(const char *line, const char *key) {
    const char *found = strstr(line, key);
    return found ? found + strlen(key) : "";
}

int main(void) {
    static char line[4096];
    const struct Program *program = NULL;
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"do\":\"start\"")) {
            char name[32] = "";
            sscanf(after(line, "\"program\":\""), "%31[a-z_]", name);
            n = atol(after(line, "\"n\":"));
            while (held_count) free(held[--held_count]);
            program = NULL, last_read = 0, step_index = 0;
            for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++)
                if (!strcmp(PROGRAMS[i].name, name)) program = &PROGRAMS[i];
            if (program) program->start();
            printf("{\"missing\":%s,\"threads\":%d}\n", program ? "false" : "true", omp_get_max_threads());
        } else if (!program) {
            puts("{\"error\":\"no program has been started\"}");
        } else if (strstr(line, "\"do\":\"step\"")) {
            long steps = atol(after(line, "\"steps\":"));
            double start = now();
            for (long i = 0; i < steps; i++) program->step();
            printf("{\"secs\":%.9f}\n", now() - start);
        } else {
            double values[2] = {0, 0};
            program->values(values);
            printf("{\"values\":[%.17g,%.17g,%.17g]}\n", values[0], values[1], last_read);
        }
        fflush(stdout);
    }
    return 0;
}
