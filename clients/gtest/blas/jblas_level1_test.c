/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 of the host bit for bit: what level1.h and docs/bits.rst define, as scalar loops, beside
 * what the kernels give: every set that the processor has, every type, any length, increment,
 * alignment and number of threads. And norms against long doubles. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/kernels/kernels.h"
#include "core/team.h"
#include "jtest.h"

#define MOST_THREADS 8
#define GAP 4 /* elements before and behind each vector, which nothing may touch */

/* ---- The definitions ---- */

/* Products and sums are rounded once by sets that are fused, and by them alone. volatile: no
 * compiler may think otherwise. */
static bool is_fused;
static double fma_d(double a, double b, double c) {
    const volatile double product = a * b;
    return is_fused ? fma(a, b, c) : product + c;
}
static float fma_s(float a, float b, float c) {
    const volatile float product = a * b;
    return is_fused ? fmaf(a, b, c) : product + c;
}

/* A strided sequence of reals: every second one of a complex vector, say. */
#define DEFINE(t, real)                                                                            \
    static real fold_##t(int lanes, real *lane) {                                                  \
        while ((lanes /= 2) > 0)                                                                   \
            for (int i = 0; i < lanes; i++)                                                        \
                lane[i] += lane[i + lanes];                                                        \
        return lane[0] + 0;                                                                        \
    }                                                                                              \
    static real products_##t(int lanes, int64_t n, const real *x, int64_t dx, const real *y,       \
                             int64_t dy) {                                                         \
        real lane[64] = {0};                                                                       \
        for (int64_t i = 0; i < n; i++)                                                            \
            lane[i % lanes] = fma_##t(x[i * dx], y[i * dy], lane[i % lanes]);                      \
        return fold_##t(lanes, lane);                                                              \
    }                                                                                              \
    static void dot_block_##t(int64_t n, const real *x, int64_t dx, const real *y, int64_t dy,     \
                              bool complex, bool conjugate, real sum[2]) {                         \
        const int lanes = 256 / (int)sizeof(real);                                                 \
        if (!complex) {                                                                            \
            sum[0] = products_##t(lanes, n, x, dx, y, dy), sum[1] = 0;                             \
            return;                                                                                \
        }                                                                                          \
        const real same_re = products_##t(lanes / 4, n, x, dx, y, dy);                             \
        const real same_im = products_##t(lanes / 4, n, x + 1, dx, y + 1, dy);                     \
        const real re_im = products_##t(lanes / 4, n, x, dx, y + 1, dy);                           \
        const real im_re = products_##t(lanes / 4, n, x + 1, dx, y, dy);                           \
        sum[0] = (conjugate ? same_re + same_im : same_re - same_im) + 0;                          \
        sum[1] = (conjugate ? re_im - im_re : re_im + im_re) + 0;                                  \
    }                                                                                              \
    static void dot_##t(int64_t blocks, int64_t n, const real *x, int64_t dx, const real *y,       \
                        int64_t dy, bool complex, bool conjugate, real sum[2]) {                   \
        if (blocks <= 1) {                                                                         \
            dot_block_##t(n, x, dx, y, dy, complex, conjugate, sum);                               \
            return;                                                                                \
        }                                                                                          \
        const int64_t left = blocks / 2, half = left * 4096;                                       \
        real right[2];                                                                             \
        dot_##t(left, half, x, dx, y, dy, complex, conjugate, sum);                                \
        dot_##t(blocks - left, n - half, x + half * dx, dx, y + half * dy, dy, complex, conjugate, \
                right);                                                                            \
        sum[0] += right[0], sum[1] += right[1];                                                    \
    }                                                                                              \
    static real asum_##t(int64_t blocks, int64_t n, int parts, const real *x, int64_t dx) {        \
        if (blocks <= 1) {                                                                         \
            const int lanes = 256 / (int)sizeof(real);                                             \
            real lane[64] = {0};                                                                   \
            for (int64_t i = 0; i < n * parts; i++)                                                \
                lane[i % lanes] += (real)fabs((double)x[i / parts * dx + i % parts]);              \
            return fold_##t(lanes, lane);                                                          \
        }                                                                                          \
        const int64_t left = blocks / 2, half = left * 4096;                                       \
        return asum_##t(left, half, parts, x, dx) +                                                \
               asum_##t(blocks - left, n - half, parts, x + half * dx, dx);                        \
    }                                                                                              \
    static double squares_of_##t(int64_t n, int parts, const real *x, int64_t dx, double least,    \
                                 double scale) {                                                   \
        double lane[32] = {0};                                                                     \
        for (int64_t i = 0; i < n * parts; i++) {                                                  \
            const double part = (double)x[i / parts * dx + i % parts];                             \
            const double value = fabs(part) <= least ? 0 : part * scale;                           \
            lane[i % 32] = fma_d(value, value, lane[i % 32]);                                      \
        }                                                                                          \
        return fold_d(32, lane);                                                                   \
    }                                                                                              \
    static double squares_##t(int64_t blocks, int64_t n, int parts, const real *x, int64_t dx,     \
                              int *exponent) {                                                     \
        *exponent = 0;                                                                             \
        if (blocks <= 1) {                                                                         \
            const double sum =                                                                     \
                squares_of_##t(n, parts, x, dx, sizeof(real) == 4 ? -1 : 0x1p-500, 1);             \
            if ((sum >= 0x1p-800 && sum <= 0x1p800) || isnan(sum) || sizeof(real) == 4)            \
                return sum;                                                                        \
            double largest = 0;                                                                    \
            for (int64_t i = 0; i < n * parts; i++)                                                \
                largest = fmax(largest, fabs((double)x[i / parts * dx + i % parts]));              \
            if (largest == 0 || isinf(largest))                                                    \
                return largest;                                                                    \
            frexp(largest, exponent);                                                              \
            *exponent = *exponent > 1000 ? 1000 : *exponent < -1000 ? -1000 : *exponent;           \
            return squares_of_##t(n, parts, x, dx, ldexp(1, *exponent - 500),                      \
                                  ldexp(1, -*exponent));                                           \
        }                                                                                          \
        const int64_t left = blocks / 2, half = left * 4096;                                       \
        int a, b;                                                                                  \
        const double one = squares_##t(left, half, parts, x, dx, &a);                              \
        const double two = squares_##t(blocks - left, n - half, parts, x + half * dx, dx, &b);     \
        *exponent = two == 0 ? a : one == 0 || b > a ? b : a;                                      \
        return two == 0   ? one                                                                    \
               : one == 0 ? two                                                                    \
                          : ldexp(one, 2 * (a - *exponent)) + ldexp(two, 2 * (b - *exponent));     \
    }                                                                                              \
    /* The first of the largest (sign 1) or of the smallest (-1). */                               \
    static int64_t extreme_##t(int64_t n, int parts, const real *x, int64_t dx, real sign) {       \
        int64_t found = 0;                                                                         \
        real best = 0;                                                                             \
        for (int64_t i = 0; i < n && !isnan(best); i++) {                                          \
            const volatile real first = (real)fabs((double)x[i * dx]);                             \
            const volatile real second = parts == 2 ? (real)fabs((double)x[i * dx + 1]) : 0;       \
            const volatile real size = first + second;                                             \
            if (found == 0 || !(sign * size <= best))                                              \
                best = sign * size, found = i + 1;                                                 \
        }                                                                                          \
        return found;                                                                              \
    }                                                                                              \
    static void axpy_##t(int64_t n, int parts, const real *alpha, const real *x, int64_t dx,       \
                         real *y, int64_t dy) {                                                    \
        for (int64_t i = 0; i < n; i++, x += dx, y += dy) {                                        \
            const real re = x[0], im = parts == 2 ? x[1] : 0;                                      \
            if (parts == 1) {                                                                      \
                y[0] = fma_##t(alpha[0], re, y[0]);                                                \
                continue;                                                                          \
            }                                                                                      \
            y[0] = fma_##t(-alpha[1], im, fma_##t(alpha[0], re, y[0]));                            \
            y[1] = fma_##t(alpha[1], re, fma_##t(alpha[0], im, y[1]));                             \
        }                                                                                          \
    }                                                                                              \
    static void scal_##t(int64_t n, int parts, bool real_alpha, const real *alpha, real *x,        \
                         int64_t dx) {                                                             \
        for (int64_t i = 0; i < n; i++, x += dx) {                                                 \
            const real re = x[0], im = parts == 2 ? x[1] : 0;                                      \
            const volatile real by_re = alpha[0] * re, by_im = alpha[0] * im;                      \
            x[0] = by_re;                                                                          \
            if (parts == 2)                                                                        \
                x[1] = by_im;                                                                      \
            if (parts == 1 || real_alpha)                                                          \
                continue;                                                                          \
            x[0] = fma_##t(-alpha[1], im, by_re);                                                  \
            x[1] = fma_##t(alpha[1], re, by_im);                                                   \
        }                                                                                          \
    }                                                                                              \
    static void axpby_##t(int64_t n, int parts, const real *alpha, const real *x, int64_t dx,      \
                          const real *beta, real *y, int64_t dy) {                                 \
        for (int64_t i = 0; i < n; i++, x += dx, y += dy) {                                        \
            scal_##t(1, parts, false, beta, y, 1);                                                 \
            axpy_##t(1, parts, alpha, x, 1, y, 1);                                                 \
        }                                                                                          \
    }                                                                                              \
    /* h: h11, h12, h21, h22 */                                                                    \
    static void rotate_##t(int64_t n, int parts, real *x, int64_t dx, real *y, int64_t dy,         \
                           const real *h) {                                                        \
        for (int64_t i = 0; i < n; i++, x += dx, y += dy)                                          \
            for (int part = 0; part < parts; part++) {                                             \
                const real a = x[part], b = y[part];                                               \
                const volatile real by_a = h[0] * a, by_b = h[3] * b;                              \
                x[part] = fma_##t(h[1], b, by_a);                                                  \
                y[part] = fma_##t(h[2], a, by_b);                                                  \
            }                                                                                      \
    }
DEFINE(d, double) /* first: norms of floats need its fold */
DEFINE(s, float)

/* ---- Vectors ---- */

static bool is_single(jdatatype_t type) { return ji_real_of(type) == JDATATYPE_F32; }
static int parts_of(jdatatype_t type) { return ji_is_complex(type) ? 2 : 1; }
static int64_t blocks_of(int64_t n) { return (n + 4095) / 4096; }

typedef struct vector {
    jdatatype_t type;
    int64_t n, increment;
    size_t bytes;
    char *memory, *start; /* start: what BLAS is given */
} vector_t;

/* What the numbers are like. */
typedef enum kind { ORDINARY, INTEGERS, HUGE_ONES, TINY, MIXED, SPECIAL, ZEROS, KINDS } kind_t;

static double random_number(kind_t kind, bool single) {
    const double x = jtest_random_double(-1, 1);
    const int far = single ? 100 : 1000;
    switch (kind) {
    case INTEGERS: return (double)jtest_random_between(-9, 9);
    case HUGE_ONES: return ldexp(x, far);
    case TINY: return ldexp(x, single ? -140 : -1060);
    case MIXED: return ldexp(x, (int)jtest_random_between(-far, far));
    case SPECIAL:
        switch (jtest_random_between(0, 40)) {
        case 0: return (double)NAN;
        case 1: return (double)INFINITY;
        case 2: return -(double)INFINITY;
        case 3: return -0.0;
        default: return x;
        }
    case ZEROS: return jtest_random_bool() ? 0.0 : -0.0;
    default: return x;
    }
}

static void vector_make(vector_t *v, jdatatype_t type, int64_t n, int64_t increment, kind_t kind) {
    const int64_t between = (n - 1) * ji_abs(increment) + 1,
                  reals = (between + 2 * GAP) * parts_of(type);
    const size_t size = ji_sizeof(ji_real_of(type)),
                 odd = size * (size_t)jtest_random_between(0, 7);

    *v = (vector_t){type, n, increment, (size_t)reals * size + odd, NULL, NULL};
    v->memory = calloc(1, v->bytes);
    v->start = v->memory + odd + GAP * ji_sizeof(type); /* any alignment of a real */
    for (int64_t i = 0; i < reals; i++) {
        const double x = random_number(kind, is_single(type));
        if (is_single(type))
            ((float *)(void *)(v->memory + odd))[i] = (float)x;
        else
            ((double *)(void *)(v->memory + odd))[i] = x;
    }
}

static vector_t vector_copy_of(const vector_t *v) {
    vector_t copy = *v;
    copy.memory = malloc(v->bytes);
    memcpy(copy.memory, v->memory, v->bytes);
    copy.start = copy.memory + (v->start - v->memory);
    return copy;
}

static void *first_of(const vector_t *v) {
    return v->start +
           (v->increment < 0 ? (1 - v->n) * v->increment : 0) * (int64_t)ji_sizeof(v->type);
}

/* In reals, for the definitions. */
static int64_t step_of(const vector_t *v) { return v->increment * parts_of(v->type); }

static bool same_bits(jdatatype_t real, const void *a, const void *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double x =
            real == JDATATYPE_F32 ? (double)((const float *)a)[i] : ((const double *)a)[i];
        const double y =
            real == JDATATYPE_F32 ? (double)((const float *)b)[i] : ((const double *)b)[i];
        if (isnan(x) != isnan(y) || (!isnan(x) && memcmp(&x, &y, sizeof x) != 0))
            return false;
    }
    return true;
}

static bool same_vectors(const vector_t *a, const vector_t *b) {
    const size_t size = ji_sizeof(ji_real_of(a->type)), odd = (size_t)(a->start - a->memory) % size;
    return same_bits(ji_real_of(a->type), a->memory + odd, b->memory + odd, a->bytes / size);
}

/* ---- The primitives beside them ---- */

static ji_vector_t block_of(const vector_t *x, const vector_t *y, int threads, void *result) {
    return (ji_vector_t){.head = {.type = x->type, .threads = {.count = threads}},
                         .n = x->n,
                         .x = x->start,
                         .incx = x->increment,
                         .y = y == NULL ? NULL : y->start,
                         .incy = y == NULL ? 1 : y->increment,
                         .result = result};
}

/* Of floats: the dot of doubles, which are their values. */
static void dsdot_is_as_defined(const vector_t *x, const vector_t *y, int threads) {
    double got = -1, expected[2], *wide = malloc(2 * (size_t)x->n * sizeof *wide);
    const float *from_x = first_of(x), *from_y = first_of(y);
    for (int64_t i = 0; i < x->n; i++)
        wide[i] = (double)from_x[i * x->increment],
        wide[x->n + i] = (double)from_y[i * y->increment];
    dot_d(blocks_of(x->n), x->n, wide, 1, wide + x->n, 1, false, false, expected);

    ji_vector_t block = block_of(x, y, threads, &got);
    ji_host_dsdot(&block);
    JEXPECT_TRUE(same_bits(JDATATYPE_F64, &got, expected, 1));
    free(wide);
}

static void sums_are_as_defined(const vector_t *x, const vector_t *y, int threads) {
    const jdatatype_t type = x->type, real = ji_real_of(type);
    const int64_t n = x->n, dx = step_of(x), dy = step_of(y), blocks = blocks_of(n);
    const int parts = parts_of(type);
    ji_value_t got = {.z = {0, 0}}, expected = got;
    ji_vector_t block = block_of(x, y, threads, &got);

    for (int conjugate = 0; conjugate <= ji_is_complex(type); conjugate++) {
        (conjugate ? ji_host_dotc : ji_host_dot)(&block);
        if (is_single(type))
            dot_s(blocks, n, first_of(x), dx, first_of(y), dy, parts == 2, conjugate, expected.c);
        else
            dot_d(blocks, n, first_of(x), dx, first_of(y), dy, parts == 2, conjugate, expected.z);
        JEXPECT_TRUE(same_bits(real, &got, &expected, (size_t)parts));
    }

    ji_host_asum(&block);
    if (x->increment <= 0)
        expected = (ji_value_t){.z = {0, 0}};
    else if (is_single(type))
        expected.s = asum_s(blocks, n, parts, first_of(x), dx);
    else
        expected.d = asum_d(blocks, n, parts, first_of(x), dx);
    JEXPECT_TRUE(same_bits(real, &got, &expected, 1));

    int exponent;
    block.incx = ji_abs(x->increment);
    ji_host_nrm2(&block);
    if (is_single(type)) {
        const double sum = squares_s(blocks, n, parts, (void *)x->start, ji_abs(dx), &exponent);
        expected.s = (float)sqrt(sum);
    } else {
        const double sum = squares_d(blocks, n, parts, (void *)x->start, ji_abs(dx), &exponent);
        expected.d = ldexp(sqrt(sum), exponent);
    }
    JEXPECT_TRUE(same_bits(real, &got, &expected, 1));

    int64_t place = -1;
    block.incx = x->increment, block.result = &place;
    ji_host_iamax(&block);
    JEXPECT_EQ(place, x->increment <= 0 ? 0
                      : is_single(type) ? extreme_s(n, parts, (void *)x->start, dx, 1)
                                        : extreme_d(n, parts, (void *)x->start, dx, 1));
    ji_host_iamin(&block);
    JEXPECT_EQ(place, x->increment <= 0 ? 0
                      : is_single(type) ? extreme_s(n, parts, (void *)x->start, dx, -1)
                                        : extreme_d(n, parts, (void *)x->start, dx, -1));
}

typedef enum update { AXPY, COPY, SWAP, SCAL, RSCAL, AXPBY, ROT, ROTM, UPDATES } update_t;

/* The scalars: alpha and beta; c and s; a flag of -1 and the matrix by columns. */
static void rotate_by_definition(update_t update, const vector_t *x, const vector_t *y,
                                 const ji_vector_t *scalars) {
    const int parts = parts_of(x->type);
    const int64_t dx = step_of(x), dy = step_of(y);
    const double *d = scalars->param.value.d, c = scalars->c.value.d, s = scalars->s.value.d;
    const float *f = scalars->param.value.s, fc = scalars->c.value.s, fs = scalars->s.value.s;

    if (is_single(x->type))
        rotate_s(x->n, parts, first_of(x), dx, first_of(y), dy,
                 update == ROT ? (float[]){fc, fs, -fs, fc} : (float[]){f[1], f[3], f[2], f[4]});
    else
        rotate_d(x->n, parts, first_of(x), dx, first_of(y), dy,
                 update == ROT ? (double[]){c, s, -s, c} : (double[]){d[1], d[3], d[2], d[4]});
}

static void update_by_definition(update_t update, const vector_t *x, const vector_t *y,
                                 const ji_vector_t *scalars) {
    const ji_value_t *const alpha = &scalars->alpha.value, *const beta = &scalars->beta.value;
    const int parts = parts_of(x->type);
    const int64_t dx = step_of(x), dy = step_of(y);
    char *from = first_of(x), *to = first_of(y), before[sizeof(ji_value_t)];
    const size_t size = ji_sizeof(x->type);

    switch (update) {
    case AXPY:
        if (is_single(x->type))
            axpy_s(x->n, parts, alpha->c, (void *)from, dx, (void *)to, dy);
        else
            axpy_d(x->n, parts, alpha->z, (void *)from, dx, (void *)to, dy);
        return;
    case SCAL:
    case RSCAL:
        if (x->increment <= 0)
            return;
        if (is_single(x->type))
            scal_s(x->n, parts, update == RSCAL, alpha->c, (void *)from, dx);
        else
            scal_d(x->n, parts, update == RSCAL, alpha->z, (void *)from, dx);
        return;
    case AXPBY:
        if (is_single(x->type))
            axpby_s(x->n, parts, alpha->c, (void *)from, dx, beta->c, (void *)to, dy);
        else
            axpby_d(x->n, parts, alpha->z, (void *)from, dx, beta->z, (void *)to, dy);
        return;
    case ROT:
    case ROTM: rotate_by_definition(update, x, y, scalars); return;
    default:
        for (int64_t i = 0; i < x->n; i++) {
            char *a = from + i * x->increment * (int64_t)size;
            char *b = to + i * y->increment * (int64_t)size;
            memcpy(before, b, size);
            memmove(b, a, size);
            if (update == SWAP)
                memcpy(a, before, size);
        }
    }
}

static void updates_are_as_defined(const vector_t *x, const vector_t *y, int threads) {
    static void (*const primitives[])(void *) = {
        [AXPY] = ji_host_axpy, [COPY] = ji_host_copy,   [SWAP] = ji_host_swap,
        [SCAL] = ji_host_scal, [RSCAL] = ji_host_rscal, [AXPBY] = ji_host_axpby,
        [ROT] = ji_host_rot,   [ROTM] = ji_host_rotm};
    ji_vector_t scalars = {.param.pointer = NULL};
    for (int part = 0; part < 5; part++)
        if (is_single(x->type))
            scalars.param.value.s[part] = part == 0 ? -1 : (float)jtest_random_double(-1, 1);
        else
            scalars.param.value.d[part] = part == 0 ? -1 : jtest_random_double(-1, 1);
    const size_t size = ji_sizeof(ji_real_of(x->type));
    memcpy(&scalars.alpha.value, (char *)&scalars.param.value + size, 2 * size);
    memcpy(&scalars.beta.value, (char *)&scalars.param.value + 3 * size, 2 * size);

    for (int update = 0; update < UPDATES; update++) {
        vector_t x1 = vector_copy_of(x), y1 = vector_copy_of(y);
        vector_t x2 = vector_copy_of(x), y2 = vector_copy_of(y);
        ji_vector_t block = block_of(&x1, &y1, threads, NULL);
        block.alpha = scalars.alpha, block.beta = scalars.beta, block.param = scalars.param;

        if (ji_is_complex(x->type) ? update != ROTM : update != RSCAL) {
            primitives[update](&block);
            update_by_definition(update, &x2, &y2, &scalars);
        }
        JSCOPED_TRACE("update %d", update);
        JEXPECT_TRUE(same_vectors(&x1, &x2));
        JEXPECT_TRUE(same_vectors(&y1, &y2));
        free(x1.memory), free(y1.memory), free(x2.memory), free(y2.memory);
    }
}

static void compare(const ji_kernel_set_t *set, jdatatype_t type, int64_t n, kind_t kind) {
    static const int increments[] = {1, 1, 1, -1, 2, 3, -2, 7, 0};
    const int64_t incx = increments[jtest_random_between(0, 8)];
    const int64_t incy = increments[jtest_random_between(0, 8)];
    const int threads = (int)jtest_random_between(1, MOST_THREADS);
    vector_t x, y;
    vector_make(&x, type, n, incx, kind);
    vector_make(&y, type, n, incy, kind);

    JSCOPED_TRACE("%s, type %d, n = %ld, incx = %ld, incy = %ld, numbers %d, %d threads", set->name,
                  (int)type, (long)n, (long)incx, (long)incy, (int)kind, threads);
    sums_are_as_defined(&x, &y, threads);
    if (type == JDATATYPE_F32)
        dsdot_is_as_defined(&x, &y, threads);
    updates_are_as_defined(&x, &y, threads);
    free(x.memory), free(y.memory);
}

static void compare_many(const ji_kernel_set_t *set) {
    for (int type = JDATATYPE_F32; type <= JDATATYPE_F64_C && !jtest_has_failure(); type++) {
        for (int64_t n = 1; n <= 150; n++)
            compare(set, type, n, (kind_t)(n % KINDS));
        for (int64_t i = jtest_iterations(30); i > 0; i--)
            compare(set, type, jtest_random_between(1, 10000), (kind_t)(i % KINDS));
        for (int64_t i = jtest_iterations(3); i > 0; i--)
            compare(set, type, jtest_random_between(20000, 150000), (kind_t)(i % KINDS));
    }
}

/* With every set that this processor has. */
static void with_each_set(void (*check)(const ji_kernel_set_t *set)) {
    const ji_kernel_set_t *const before = ji_kernels;
    const ji_kernel_set_t *set;
    ji_team_make(MOST_THREADS);
    for (size_t i = 0; (set = ji_kernel_set_at(i)) != NULL && !jtest_has_failure(); i++) {
        if (!ji_kernel_set_is_here(set))
            continue;
        ji_kernel_set_use(set);
        is_fused = set->fused;
        check(set);
    }
    ji_kernel_set_use(before);
}

JTEST(JblasLevel1, EveryBitIsAsDefined) { with_each_set(compare_many); }

/* ---- Norms ---- */

static void norms_are_accurate(const ji_kernel_set_t *set) {
    for (int64_t i = jtest_iterations(200); i > 0 && !jtest_has_failure(); i--) {
        const kind_t kind = (kind_t)(i % SPECIAL);
        const int64_t n = jtest_random_between(1, i % 10 == 0 ? 100000 : 5000);
        vector_t x;
        vector_make(&x, JDATATYPE_F64, n, jtest_random_between(1, 2), kind);
        /* Blocks of zeros and of very different sizes. */
        const double *numbers = (void *)x.start;
        double *written = (void *)x.start;
        for (int64_t k = 0; k < n && i % 3 == 0; k++)
            written[k * x.increment] = k / 4096 % 3 == 0   ? 0
                                       : k / 4096 % 3 == 1 ? ldexp(numbers[k * x.increment], -30)
                                                           : numbers[k * x.increment];

        long double sum = 0; /* whose exponents reach far beyond those of double */
        for (int64_t k = 0; k < n; k++)
            sum += (long double)numbers[k * x.increment] * numbers[k * x.increment];
        const double expected = (double)sqrtl(sum);

        double norm = -1;
        ji_vector_t block = block_of(&x, NULL, 1, &norm);
        ji_host_nrm2(&block);
        JSCOPED_TRACE("%s, n = %ld, numbers %d", set->name, (long)n, (int)kind);
        JEXPECT_NEAR(norm, expected, 8 * DBL_EPSILON * expected + 4 * DBL_TRUE_MIN);
        free(x.memory);
    }
}

JTEST(JblasLevel1, NormsAreAccurateAtEverySize) {
    const volatile long double huge = 0x1p1000; /* volatile: Valgrind's have no more, either */
    if (isinf(huge * huge))
        JSKIP("long double has no more exponents than double");
    with_each_set(norms_are_accurate);
}

/* ---- The first NaN, the first of the largest ---- */

static void the_first_is_found(const ji_kernel_set_t *set) {
    for (int64_t i = jtest_iterations(300); i > 0 && !jtest_has_failure(); i--) {
        const int64_t n = jtest_random_between(2, i % 20 == 0 ? 300000 : 700);
        const int64_t first = jtest_random_between(0, n - 1);
        const int64_t second = jtest_random_between(first, n - 1);
        const double size = i % 3 == 0 ? (double)NAN : i % 3 == 1 ? (double)INFINITY : 5;
        vector_t x;
        vector_make(&x, JDATATYPE_F64, n, jtest_random_between(1, 2), ORDINARY);
        ((double *)(void *)x.start)[first * x.increment] = size;
        ((double *)(void *)x.start)[second * x.increment] = -size;

        int64_t place = -1;
        ji_vector_t block = block_of(&x, NULL, (int)jtest_random_between(1, MOST_THREADS), &place);
        ji_host_iamax(&block);
        JSCOPED_TRACE("%s, n = %ld, %g", set->name, (long)n, size);
        JEXPECT_EQ(place, first + 1);

        /* The smallest is a zero, unless there is a NaN. */
        ((double *)(void *)x.start)[second * x.increment] = isnan(size) ? size : -0.0;
        ((double *)(void *)x.start)[first * x.increment] = isnan(size) ? size : 0.0;
        ji_host_iamin(&block);
        JEXPECT_EQ(place, first + 1);
        free(x.memory);
    }
}

JTEST(JblasLevel1, TheFirstNanOrLargestIsFound) { with_each_set(the_first_is_found); }
