/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The self-check: whether the reductions of the CBLAS are right on this processor.
 *
 * A CBLAS has kernels for each type of processor, chosen when it is loaded, and is tested on few of
 * them. OpenBLAS 0.3.21's cblas_scasum for Cooperlake is wrong at 339 of the lengths 1..399, from 9
 * on. Reductions are where such mistakes were found over the years (unrolled loops with remainders
 * of their own), and they are silent: no crash, no NaN, only another number.
 *
 * So each of them (selfcheck.h) is compared with what its definition says before it is called. The
 * samples are small integers: every sum is exact in every order, and one element too many or too
 * few shows. The lengths pass through all remainders of loops unrolled up to 32 times, and around
 * where a loop of 64 or 128 has run once or twice; a few of them again from a start that is not
 * aligned, and with an increment. What follows a vector is not zero. Together some 670 short calls:
 * 30 to 90 microseconds on a Zen 4, once.
 *
 * A kernel that is wrong is replaced in the table by a function of the same arguments: jblas's
 * own, or for scasum and dzasum the real sum over the parts where these are contiguous. It is
 * logged, and jblas_cblas_kernel_at() tells it. */

#include "blas/guest/selfcheck.h"

#include <math.h>

#include "blas/guest/cblas.h"

/* ---- What replaces a wrong kernel: the same arguments, another way ---- */

#define BLOCK_(element, x_, incx_, y_, incy_, result_)                                             \
    &(ji_vector_t) {                                                                               \
        .head = {.type = element}, .n = n, .x = x_, .incx = incx_, .y = ji_unconst(y_),            \
        .incy = incy_, .result = result_                                                           \
    }
#define STAND_IN_ASUM(function, R, element)                                                        \
    static R stand_in_##function(guest_int_t n, const void *x, guest_int_t incx) {                 \
        R sum;                                                                                     \
        if (ji_is_complex(element) && incx == 1 && n <= ji_blas_int_max / 2)                       \
            return ji_real_of(element) == JDATATYPE_F32 ? (R)ji_guest.sasum(2 * n, x, 1)           \
                                                        : (R)ji_guest.dasum(2 * n, x, 1);          \
        ji_host_asum(BLOCK_(element, x, incx, NULL, 1, &sum));                                     \
        return sum;                                                                                \
    }
#define STAND_IN_DOT(function, R, element)                                                         \
    static R stand_in_##function(guest_int_t n, const void *x, guest_int_t incx, const void *y,    \
                                 guest_int_t incy) {                                               \
        R sum;                                                                                     \
        ji_host_dot(BLOCK_(element, x, incx, y, incy, &sum));                                      \
        return sum;                                                                                \
    }
#define STAND_IN_DOT_SUB_(function, element, dot)                                                  \
    static void stand_in_##function(guest_int_t n, const void *x, guest_int_t incx, const void *y, \
                                    guest_int_t incy, void *sum) {                                 \
        ji_host_##dot(BLOCK_(element, x, incx, y, incy, sum));                                     \
    }
#define STAND_IN_DOTU(function, R, element) STAND_IN_DOT_SUB_(function, element, dot)
#define STAND_IN_DOTC(function, R, element) STAND_IN_DOT_SUB_(function, element, dotc)
#define STAND_IN_IAMAX(function, R, element)                                                       \
    static R stand_in_##function(guest_int_t n, const void *x, guest_int_t incx) {                 \
        int64_t found;                                                                             \
        ji_host_iamax(BLOCK_(element, x, incx, NULL, 1, &found));                                  \
        return (R)(found - 1); /* n is not 0 */                                                    \
    }
#define STAND_IN_(function, shape, R, element) STAND_IN_##shape(function, R, element)
JI_GUEST_CHECKED_LIST(STAND_IN_)

/* ---- Calling a kernel whose name is a value ---- */

typedef enum { SHAPE_ASUM, SHAPE_DOT, SHAPE_DOTU, SHAPE_DOTC, SHAPE_IAMAX } selfcheck_shape_t;

static void selfcheck_store(jdatatype_t type, const ji_value_t *value, double result[2]) {
    result[0] = ji_real_of(type) == JDATATYPE_F32 ? (double)value->c[0] : value->z[0];
    result[1] = ji_real_of(type) == JDATATYPE_F32 ? (double)value->c[1] : value->z[1];
}
#define CALL_ASUM(function, element) result[0] = (double)ji_guest.function(n, x, incx)
#define CALL_IAMAX(function, element) result[0] = (double)ji_guest.function(n, x, incx)
#define CALL_DOT(function, element) result[0] = (double)ji_guest.function(n, x, incx, y, incx)
#define CALL_DOTU(function, element)                                                               \
    ji_value_t sum;                                                                                \
    ji_guest.function(n, x, incx, y, incx, (void *)&sum);                                          \
    selfcheck_store(element, &sum, result)
#define CALL_DOTC(function, element) CALL_DOTU(function, element)

typedef struct selfcheck_row {
    jblas_cblas_kernel_t shown;
    selfcheck_shape_t shape;
    jdatatype_t type;
    void (*call)(guest_int_t n, const void *x, const void *y, guest_int_t incx, double result[2]);
    void (*replace)(void);
} selfcheck_row_t;

#define ROW_FUNCTIONS_(function, shape, R, element)                                                \
    static void call_##function(guest_int_t n, const void *x, const void *y, guest_int_t incx,     \
                                double result[2]) {                                                \
        (void)y;                                                                                   \
        CALL_##shape(function, element);                                                           \
    }                                                                                              \
    static void replace_##function(void) { ji_guest.function = stand_in_##function; }
JI_GUEST_CHECKED_LIST(ROW_FUNCTIONS_)

#define ROW_(function, shape, R, element)                                                          \
    {{"cblas_" #function, 0, NULL}, SHAPE_##shape, element, call_##function, replace_##function},
static selfcheck_row_t selfcheck_rows[] = {JI_GUEST_CHECKED_LIST(ROW_)};
#define ROW_COUNT (sizeof selfcheck_rows / sizeof selfcheck_rows[0])

/* ---- The samples, and what the kernels make of them by definition ---- */

/* Lengths that are tried, and where: the first `offset` elements are left out, then every step-th
 * counts. */
static const int16_t every_length[] = {
    1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,  17,  18,  19,  20,  21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
static const int16_t some_lengths[] = {7, 33, 129};
static const struct {
    int offset, step;
    const int16_t *lengths;
    size_t count;
} selfcheck_probes[] = {
    {0, 1, every_length, sizeof every_length / sizeof every_length[0]},
    {1, 1, some_lengths, sizeof some_lengths / sizeof some_lengths[0]},
    {0, 2, some_lengths, sizeof some_lengths / sizeof some_lengths[0]},
};
#define SAMPLE_REALS (2 * (2 * 129 + 64)) /* the longest vector, and something after it */

/* Of one check at a time. The same integers in both precisions. */
static _Alignas(64) float x_single[SAMPLE_REALS], y_single[SAMPLE_REALS];
static _Alignas(64) double x_double[SAMPLE_REALS], y_double[SAMPLE_REALS];

/* Growing, in equal fours and with mixed signs: iamax has to move on again and again, and to find
 * the first of equals. */
static int64_t sample_x(int64_t i) { return (i * 5 % 7 < 3 ? -1 : 1) * (i / 4 + 1); }
static int64_t sample_y(int64_t i) { return (i * 3 % 5 < 2 ? -1 : 1) * (i % 11 + 1); }

static void selfcheck_fill(void) {
    for (int64_t i = 0; i < SAMPLE_REALS; i++) {
        x_single[i] = (float)sample_x(i), y_single[i] = (float)sample_y(i);
        x_double[i] = (double)sample_x(i), y_double[i] = (double)sample_y(i);
    }
}

typedef struct selfcheck_sum {
    double part[2]; /* the result */
    double largest; /* iamax: the size that it belongs to */
} selfcheck_sum_t;

/* Takes element `sample` of the samples as element i of the vectors. */
static void selfcheck_add(const selfcheck_row_t *row, selfcheck_sum_t *sum, int64_t i,
                          int64_t sample) {
    const bool pairs = ji_is_complex(row->type);
    const int64_t k = pairs ? 2 * sample : sample;
    const double a = x_double[k], b = pairs ? x_double[k + 1] : 0;
    const double c = y_double[k], d = pairs ? y_double[k + 1] : 0;
    const double size = fabs(a) + fabs(b), sign = row->shape == SHAPE_DOTC ? -1 : 1;

    switch (row->shape) {
    case SHAPE_ASUM: sum->part[0] += size; break;
    case SHAPE_IAMAX:
        if (size > sum->largest)
            sum->largest = size, sum->part[0] = (double)i;
        break;
    default: sum->part[0] += a * c - sign * b * d; sum->part[1] += a * d + sign * b * c;
    }
}

/* The first length at which the kernel is wrong; 0 if there is none. */
static int64_t selfcheck_first_wrong(const selfcheck_row_t *row) {
    const bool single = ji_real_of(row->type) == JDATATYPE_F32;
    const void *x = single ? (const void *)x_single : x_double,
               *y = single ? (const void *)y_single : y_double;

    for (size_t p = 0; p < sizeof selfcheck_probes / sizeof selfcheck_probes[0]; p++) {
        const int offset = selfcheck_probes[p].offset, step = selfcheck_probes[p].step;
        selfcheck_sum_t sum = {{0, 0}, 0};
        int64_t taken = 0;

        for (size_t l = 0; l < selfcheck_probes[p].count; l++) {
            const int64_t n = selfcheck_probes[p].lengths[l];
            double result[2] = {0, 0};
            for (; taken < n; taken++)
                selfcheck_add(row, &sum, taken, offset + taken * step);

            row->call((guest_int_t)n, ji_at(row->type, x, offset, 0, 0),
                      ji_at(row->type, y, offset, 0, 0), step, result);
            if (!(result[0] == sum.part[0] && result[1] == sum.part[1]))
                return n;
        }
    }

    return 0;
}

void ji_selfcheck(void) {
    selfcheck_fill();

    for (size_t i = 0; i < ROW_COUNT; i++) {
        selfcheck_row_t *row = &selfcheck_rows[i];

        row->shown.wrong_length = selfcheck_first_wrong(row);
        row->shown.instead = NULL;
        if (row->shown.wrong_length == 0)
            continue;

        row->replace();
        row->shown.instead = row->shape == SHAPE_ASUM && ji_is_complex(row->type)
                                 ? "the real sum over the parts, jblas's own where they lie apart"
                                 : "jblas's own";

        jlog_write(JLOG_WARNING, NULL,
                   "%s of this CBLAS is wrong on this processor (n = %lld): jblas takes %s (%s)",
                   row->shown.name, (long long)row->shown.wrong_length, row->shown.instead,
                   ji_guest_name());
    }
}

const jblas_cblas_kernel_t *ji_selfcheck_kernel(size_t index) {
    return index < ROW_COUNT ? &selfcheck_rows[index].shown : NULL;
}
