/* Programs on grids, a part of programs.c: initial cells, a step, and sums of the cells of each. */

static void axpy_start(void) { a = grid(2, 0, 0), b = grid(2, 0, 1); }
static void axpy(void) {
#pragma omp parallel for
    for (long i = 0; i < n * n; i++) b[i] += 0.1f * a[i];
}
static void axpy_values(double values[2]) { add_grid(values, b, 2, 0); }

/* a is the solution, b the residual, c the direction, d the operator of it. */
static void cg_start(void) {
    a = grid(2, 1, -1), b = grid(2, 1, 0), c = grid(2, 1, 0), d = grid(2, 1, -1);
    squares = 0;
    for (long i = 0; i < (n + 2) * (n + 2); i++) squares += (double)b[i] * b[i];
}
static void cg(void) {
    long row = n + 2;
    double product = 0, sum = 0;
#pragma omp parallel for reduction(+ : product)
    for (long y = 1; y <= n; y++) {
        float part = 0;
        for (long i = y * row + 1; i <= y * row + n; i++)
            d[i] = 4 * c[i] - c[i - 1] - c[i + 1] - c[i - row] - c[i + row];
        for (long i = y * row + 1; i <= y * row + n; i++) part += c[i] * d[i];
        product += part;
    }
    float alpha = squares / product;
#pragma omp parallel for reduction(+ : sum)
    for (long y = 1; y <= n; y++) {
        float part = 0;
        for (long i = y * row + 1; i <= y * row + n; i++) a[i] += alpha * c[i], b[i] -= alpha * d[i];
        for (long i = y * row + 1; i <= y * row + n; i++) part += b[i] * b[i];
        sum += part;
    }
    float beta = sum / squares;
#pragma omp parallel for
    for (long y = 1; y <= n; y++)
        for (long i = y * row + 1; i <= y * row + n; i++) c[i] = b[i] + beta * c[i];
    last_read = squares = sum;
}
static void cg_values(double values[2]) { add_grid(values, a, 2, 1); }

static void wave_start(void) { a = grid(2, 1, 0), b = grid(2, 1, 1), c = grid(2, 1, -1); }
static void wave(void) {
    long row = n + 2;
#pragma omp parallel for
    for (long y = 1; y <= n; y++)
        for (long x = 1; x <= n; x++) {
            long i = x + y * row;
            int to_x = x - 1 < n - x ? x - 1 : n - x, to_y = y - 1 < n - y ? y - 1 : n - y;
            int edge = to_x < to_y ? to_x : to_y;
            float near = (edge < 20 ? 20 - edge : 0) / 20.0f, damping = 1 - 0.3f * near * near;
            float around = a[i - 1] + a[i + 1] + a[i - row] + a[i + row] - 4 * a[i];
            c[i] = damping * (2 * a[i] - damping * b[i] + 0.25f * around);
        }
    swap(&a, &b), swap(&a, &c);
}
static void wave_values(double values[2]) { add_grid(values, a, 2, 1); }

static void jacobi_start(void) { a = grid(3, 1, 1), b = grid(3, 1, -1), c = grid(3, 1, 0), d = grid(3, 1, -1); }
static void jacobi(void) {
    long row = n + 2, layer = row * row;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long z = 1; z <= n; z++)
        for (long y = 1; y <= n; y++) {
            long start = y * row + z * layer;
            float part = 0;
            for (long i = start + 1; i <= start + n; i++) {
                float residual =
                    c[i] + a[i - 1] + a[i + 1] + a[i - row] + a[i + row] + a[i - layer] + a[i + layer] - 6 * a[i];
                b[i] = a[i] + residual / 6;
                d[i] = residual;
            }
            for (long i = start + 1; i <= start + n; i++) part += d[i] * d[i];
            sum += part;
        }
    last_read = sqrt(sum);
    swap(&a, &b);
}
static void jacobi_values(double values[2]) { add_grid(values, a, 3, 1); }

static void gauss_seidel_start(void) { a = grid(2, 1, 1), b = grid(2, 1, 0); }
static void gauss_seidel(void) {
    long row = n + 2;
    for (int colour = 0; colour < 2; colour++)
#pragma omp parallel for
        for (long y = 1; y <= n; y++)
            for (long x = 1 + ((y - 1 + colour) & 1); x <= n; x += 2) {
                long i = x + y * row;
                a[i] = 0.25f * (b[i] + a[i - 1] + a[i + 1] + a[i - row] + a[i + row]);
            }
}
static void gauss_seidel_values(double values[2]) { add_grid(values, a, 2, 1); }

static void blur_start(void) { a = grid(2, 5, 0), b = grid(2, 5, -1); }
static void blur(void) {
    static const float weights[11] = {0.00878739f, 0.02706706f, 0.06493049f, 0.12130613f, 0.17649938f, 0.2f,
                                      0.17649938f, 0.12130613f, 0.06493049f, 0.02706706f, 0.00878739f};
    long row = n + 10;
#pragma omp parallel for
    for (long y = 5; y < n + 5; y++)
        for (long x = 5; x < n + 5; x++) {
            float sum = 0;
            for (int k = -5; k <= 5; k++) sum += weights[k + 5] * a[x + k + y * row];
            b[x + y * row] = sum;
        }
#pragma omp parallel for
    for (long y = 5; y < n + 5; y++)
        for (long x = 5; x < n + 5; x++) {
            float sum = 0;
            for (int k = -5; k <= 5; k++) sum += weights[k + 5] * b[x + (y + k) * row];
            a[x + y * row] = sum;
        }
}
static void blur_values(double values[2]) { add_grid(values, a, 2, 5); }

static float minmod(float first, float second) {
    return first * second > 0 ? (fabsf(first) < fabsf(second) ? first : second) : 0;
}
/* Flux through the face between `here` and `after`. */
static float flux(float before, float here, float after, float beyond, float speed) {
    float left = here + 0.5f * (1 - speed) * minmod(here - before, after - here);
    float right = after - 0.5f * (1 + speed) * minmod(after - here, beyond - after);
    return fmaxf(speed, 0) * left + fminf(speed, 0) * right;
}
static float inflow(const float *field, long i, long stride, float speed) {
    const float *at = field + i;
    return flux(at[-2 * stride], at[-stride], at[0], at[stride], speed) -
           flux(at[-stride], at[0], at[stride], at[2 * stride], speed);
}
static void advection_start(void) { a = grid(3, 2, 0), b = grid(3, 2, -1); }
static void advection(void) {
    long row = n + 4, layer = row * row;
#pragma omp parallel for
    for (long z = 2; z < n + 2; z++)
        for (long y = 2; y < n + 2; y++)
            for (long x = 2; x < n + 2; x++) {
                long i = x + y * row + z * layer;
                b[i] = a[i] + inflow(a, i, 1, 0.3f) + inflow(a, i, row, -0.2f) + inflow(a, i, layer, 0.1f);
            }
    swap(&a, &b);
}
static void advection_values(double values[2]) { add_grid(values, a, 3, 2); }

static const int VELOCITY_X[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, VELOCITY_Y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const float WEIGHT[9] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                                1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
static void lattice_start(void) {
    long row = n + 2, plane = row * row;
    a = floats(9 * plane), b = floats(9 * plane);
    for (long i = 0; i < 9 * plane; i++) a[i] = b[i] = WEIGHT[i / plane];
    for (long i = 0; i < 9 * n * n; i++) {
        long q = i / (n * n), y = i / n % n, x = i % n;
        a[x + 1 + (y + 1) * row + q * plane] = WEIGHT[q] * (1 + 0.1f * hash(0, i));
    }
}
static void lattice(void) {
    long row = n + 2, plane = row * row;
#pragma omp parallel for
    for (long y = 1; y <= n; y++)
        for (long x = 1; x <= n; x++) {
            float arrived[9], density = 0, flow_x = 0, flow_y = 0;
            for (int q = 0; q < 9; q++) {
                arrived[q] = a[x - VELOCITY_X[q] + (y - VELOCITY_Y[q]) * row + q * plane];
                density += arrived[q], flow_x += arrived[q] * VELOCITY_X[q], flow_y += arrived[q] * VELOCITY_Y[q];
            }
            float ux = flow_x / density, uy = flow_y / density, square = ux * ux + uy * uy;
            for (int q = 0; q < 9; q++) {
                float along = VELOCITY_X[q] * ux + VELOCITY_Y[q] * uy;
                float rest = WEIGHT[q] * density * (1 + 3 * along + 4.5f * along * along - 1.5f * square);
                b[x + y * row + q * plane] = arrived[q] + 1.2f * (rest - arrived[q]);
            }
        }
    swap(&a, &b);
}
static void lattice_values(double values[2]) {
    long row = n + 2, plane = row * row;
    for (long i = 0; i < 9 * n * n; i++) add(values, a[i % n + 1 + (i / n % n + 1) * row + i / (n * n) * plane], i);
}

static void life_start(void) {
    long row = n + 2;
    bytes = zeroed(row * row), next_bytes = zeroed(row * row);
    for (long i = 0; i < n * n; i++) bytes[i % n + 1 + (i / n + 1) * row] = hash(0, i) < 0.3f;
}
static void life(void) {
    long row = n + 2;
    const uint8_t *now = bytes;
#pragma omp parallel for
    for (long y = 1; y <= n; y++)
        for (long x = 1; x <= n; x++) {
            long i = x + y * row;
            uint8_t around = now[i - row - 1] + now[i - row] + now[i - row + 1] + now[i - 1] + now[i + 1] +
                             now[i + row - 1] + now[i + row] + now[i + row + 1];
            next_bytes[i] = (around == 3) | ((around == 2) & now[i]);
        }
    uint8_t *kept = bytes;
    bytes = next_bytes, next_bytes = kept;
}
static void life_values(double values[2]) {
    for (long i = 0; i < n * n; i++) add(values, bytes[i % n + 1 + (i / n + 1) * (n + 2)], i);
}
