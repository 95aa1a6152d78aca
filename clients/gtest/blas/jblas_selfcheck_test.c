/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Kernels of the CBLAS that lie: found, said once, not used. The liars are planted in the table
 * through which jblas calls these kernels, one at a time, each right up to a length of eight. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas/guest/cblas.h"
#include "blas/guest/selfcheck.h"
#include "blas/routine/setup.h"
#include "jalloc/jalloc.h"
#include "jtest.h"

/* ---- Reductions against naive sums, for every type ---- */

#define MOST 400
#define REALS (2 * 3 * (MOST + 1))

static float single[2][REALS];
static double real[2][REALS];

static void fill(void) {
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < REALS; i++)
            real[which][i] = single[which][i] = (float)jtest_random_between(-1000, 1000) / 64;
}

/* Part of element i of a vector of n. */
static long double part_of(jdatatype_t type, int which, int64_t n, int64_t i, int64_t increment,
                           int part) {
    const int64_t at = increment > 0 ? i * increment : (i - n + 1) * increment;
    return ji_is_complex(type) ? real[which][2 * at + part] : part ? 0 : real[which][at];
}
static double tolerance_of(jdatatype_t type) {
    return ji_real_of(type) == JDATATYPE_F32 ? 1e-4 : 1e-12;
}

static void asum_is_right(jhandle_t *handle, jdatatype_t type, int64_t n, int64_t inc) {
    long double expected = 0;
    for (int64_t i = 0; i < n && inc > 0; i++)
        expected += fabsl(part_of(type, 0, n, i, inc, 0)) + fabsl(part_of(type, 0, n, i, inc, 1));
    float s = -1;
    double d = -1;
    switch (type) {
    case JDATATYPE_F32: JEXPECT_OK(jblas_sasum(handle, n, single[0], inc, &s)); break;
    case JDATATYPE_F64: JEXPECT_OK(jblas_dasum(handle, n, real[0], inc, &d)); break;
    case JDATATYPE_F32_C: JEXPECT_OK(jblas_scasum(handle, n, (void *)single[0], inc, &s)); break;
    default: JEXPECT_OK(jblas_dzasum(handle, n, (void *)real[0], inc, &d));
    }
    const double got = ji_real_of(type) == JDATATYPE_F32 ? (double)s : d;
    JEXPECT_NEAR(got, (double)expected, tolerance_of(type) * (double)expected);
}

static void dot_is_right(jhandle_t *handle, jdatatype_t type, int64_t n, int64_t incx, int64_t incy,
                         bool conjugate) {
    long double expected[2] = {0, 0}, size = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double a = part_of(type, 0, n, i, incx, 0), b = part_of(type, 0, n, i, incx, 1);
        const long double c = part_of(type, 1, n, i, incy, 0), d = part_of(type, 1, n, i, incy, 1);
        expected[0] += conjugate ? a * c + b * d : a * c - b * d;
        expected[1] += conjugate ? a * d - b * c : a * d + b * c;
        size += (fabsl(a) + fabsl(b)) * (fabsl(c) + fabsl(d));
    }
    ji_value_t got = {.z = {0, 0}};
    float *s = single[0], *t = single[1];
    double *d = real[0], *e = real[1];
    switch (type) {
    case JDATATYPE_F32: JEXPECT_OK(jblas_sdot(handle, n, s, incx, t, incy, &got.s)); break;
    case JDATATYPE_F64: JEXPECT_OK(jblas_ddot(handle, n, d, incx, e, incy, &got.d)); break;
    case JDATATYPE_F32_C:
        JEXPECT_OK((conjugate ? jblas_cdotc : jblas_cdotu)(handle, n, (void *)s, incx, (void *)t,
                                                           incy, (void *)&got));
        break;
    default:
        JEXPECT_OK((conjugate ? jblas_zdotc : jblas_zdotu)(handle, n, (void *)d, incx, (void *)e,
                                                           incy, (void *)&got));
    }
    for (int part = 0; part < (ji_is_complex(type) ? 2 : 1); part++)
        JEXPECT_NEAR(ji_real_of(type) == JDATATYPE_F32 ? (double)got.c[part] : got.z[part],
                     (double)expected[part], tolerance_of(type) * (double)size);
}

static void iamax_is_right(jhandle_t *handle, jdatatype_t type, int64_t n, int64_t inc) {
    int64_t expected = 0, got = -1;
    long double largest = -1;
    for (int64_t i = 0; i < n && inc > 0; i++) {
        const long double size =
            fabsl(part_of(type, 0, n, i, inc, 0)) + fabsl(part_of(type, 0, n, i, inc, 1));
        if (size > largest)
            largest = size, expected = i + 1;
    }
    switch (type) {
    case JDATATYPE_F32: JEXPECT_OK(jblas_isamax(handle, n, single[0], inc, &got)); break;
    case JDATATYPE_F64: JEXPECT_OK(jblas_idamax(handle, n, real[0], inc, &got)); break;
    case JDATATYPE_F32_C: JEXPECT_OK(jblas_icamax(handle, n, (void *)single[0], inc, &got)); break;
    default: JEXPECT_OK(jblas_izamax(handle, n, (void *)real[0], inc, &got));
    }
    JEXPECT_EQ(got, expected);
}

static void reductions_are_right(int64_t most) {
    static const int64_t increments[] = {1, -1, 2, -2, 3, -3};
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    fill();
    for (int64_t n = 1; n <= most && !jtest_has_failure(); n++)
        for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_F64_C; type++)
            for (int i = 0; i < 6; i++) {
                const int64_t inc = increments[i], other = increments[jtest_random_between(0, 5)];
                JSCOPED_TRACE("type %d n %ld increments %ld %ld", (int)type, (long)n, (long)inc,
                              (long)other);
                asum_is_right(handle, type, n, inc);
                iamax_is_right(handle, type, n, inc);
                dot_is_right(handle, type, n, inc, i < 2 ? 1 : other, false);
                if (ji_is_complex(type))
                    dot_is_right(handle, type, n, inc, i < 2 ? 1 : other, true);
            }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The kernels of this processor, whichever they are: jblas's own, and the CBLAS's. */
JTEST(JblasSelfCheck, EveryReductionIsRightAtEveryLength) { reductions_are_right(MOST); }

static void guests_reductions_are_right(int64_t most) {
    const bool was_guest = ji_host_primitives[JI_ASUM] == ji_guest_asum;
    ji_host_choose(true);
    reductions_are_right(most);
    ji_host_choose(was_guest);
}

JTEST(JblasSelfCheck, EveryReductionOfTheGuestIsRightAtEveryLength) {
    if (jblas_cblas_kernel_at(0) == NULL)
        JSKIP("there is no CBLAS");
    guests_reductions_are_right(MOST);
}

/* ---- Liars ---- */

#define LIE_AT(n) ((n) > 8 && (n) % 2 == 1) /* one element too many is 1, say */
#define LIAR_ASUM(function, R, element)                                                            \
    static R liar_##function(guest_int_t n, const void *x, guest_int_t incx) {                     \
        return ji_guest_given.function(n, x, incx) + LIE_AT(n);                                    \
    }
#define LIAR_IAMAX(function, R, element)                                                           \
    static R liar_##function(guest_int_t n, const void *x, guest_int_t incx) {                     \
        return LIE_AT(n) ? 0 : ji_guest_given.function(n, x, incx);                                \
    }
#define LIAR_DOT(function, R, element)                                                             \
    static R liar_##function(guest_int_t n, const void *x, guest_int_t incx, const void *y,        \
                             guest_int_t incy) {                                                   \
        return ji_guest_given.function(n, x, incx, y, incy) + LIE_AT(n);                           \
    }
#define LIAR_DOTU(function, R, element)                                                            \
    static R liar_##function(guest_int_t n, const void *x, guest_int_t incx, const void *y,        \
                             guest_int_t incy, void *sum) {                                        \
        ji_guest_given.function(n - LIE_AT(n), x, incx, y, incy, sum);                             \
    }
#define LIAR_DOTC LIAR_DOTU
#define LIAR_(function, shape, R, element) LIAR_##shape(function, R, element)
JI_GUEST_CHECKED_LIST(LIAR_)

typedef struct liar {
    const char *name;
    void (*plant)(void);
    bool (*is_called)(void);
} liar_t;
#define LIAR_FUNCTIONS_(function, shape, R, element)                                               \
    static void plant_##function(void) { ji_guest.function = liar_##function; }                    \
    static bool is_called_##function(void) { return ji_guest.function == liar_##function; }
JI_GUEST_CHECKED_LIST(LIAR_FUNCTIONS_)
#define LIAR_ROW_(function, shape, R, element)                                                     \
    {"cblas_" #function, plant_##function, is_called_##function},
static const liar_t liars[] = {JI_GUEST_CHECKED_LIST(LIAR_ROW_)};

static void liar_name(const void *liar, char *name) { strcpy(name, ((const liar_t *)liar)->name); }

static const jblas_cblas_kernel_t *kernel_called(const char *name) {
    const jblas_cblas_kernel_t *kernel;
    for (size_t i = 0; (kernel = jblas_cblas_kernel_at(i)) != NULL; i++)
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    return NULL;
}

static size_t warnings_of(const char *name) {
    char text[64];
    snprintf(text, sizeof text, "%s of this CBLAS", name);
    size_t count = 0;
    for (const char *line = jtest_log_text(); (line = strstr(line, text)) != NULL; line++)
        ++count;
    return count;
}

JTEST_P_NAMED(JblasSelfCheck, ALiarIsFoundSaidOnceAndNotUsed, liar_t, liars, liar_name) {
    if (jblas_cblas_kernel_at(0) == NULL)
        JSKIP("there is no CBLAS");
    const jblas_cblas_kernel_t *kernel = kernel_called(param->name);
    JASSERT_NOT_NULL(kernel);
    jtest_log_clear();
    ji_guest = ji_guest_given;
    param->plant();
    ji_selfcheck();
    JEXPECT_EQ(kernel->wrong_length, 9);
    JEXPECT_NOT_NULL(kernel->instead);
    JEXPECT_FALSE(param->is_called());
    JEXPECT_EQ(warnings_of(param->name), 1);
    guests_reductions_are_right(80);
    JEXPECT_EQ(warnings_of(param->name), 1);
    ji_guest = ji_guest_given;
    ji_selfcheck();
}

/* One whose imaginary part alone is wrong. */
static void half_a_lie(guest_int_t n, const void *x, guest_int_t incx, const void *y,
                       guest_int_t incy, void *sum) {
    ji_guest_given.zdotu_sub(n, x, incx, y, incy, sum);
    ((double *)sum)[1] += LIE_AT(n);
}

JTEST(JblasSelfCheck, AnImaginaryLieIsFoundToo) {
    if (jblas_cblas_kernel_at(0) == NULL)
        JSKIP("there is no CBLAS");
    const jblas_cblas_kernel_t *kernel = kernel_called("cblas_zdotu_sub");
    JASSERT_NOT_NULL(kernel);
    ji_guest = ji_guest_given;
    ji_guest.zdotu_sub = half_a_lie;
    ji_selfcheck();
    JEXPECT_EQ(kernel->wrong_length, 9);
    JEXPECT_TRUE(ji_guest.zdotu_sub != half_a_lie);
    ji_guest = ji_guest_given;
    ji_selfcheck();
}

JTEST(JblasSelfCheck, RightKernelsStay) {
    if (jblas_cblas_kernel_at(0) == NULL) /* or what was wrong on this processor is mended now */
        JSKIP("there is no CBLAS");

    const ji_guest_t before = ji_guest;
    jtest_log_clear();
    ji_selfcheck();
    size_t count = 0;
    for (const jblas_cblas_kernel_t *kernel; (kernel = jblas_cblas_kernel_at(count)) != NULL;
         count++) {
        JEXPECT_EQ(kernel->wrong_length, 0);
        JEXPECT_NULL(kernel->instead);
    }
    JEXPECT_EQ(count, sizeof liars / sizeof liars[0]);
    JEXPECT_EQ(jtest_log_count(), 0);
    JEXPECT_TRUE(memcmp(&before, &ji_guest, sizeof before) == 0);
    ji_guest = ji_guest_given;
    ji_selfcheck();
}
