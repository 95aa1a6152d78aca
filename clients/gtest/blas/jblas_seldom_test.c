/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What random arguments meet seldom, each on purpose. Elements are small integers where answers are
 * exact. */

#include "jblas_routines.h"

#include "blas/routine/entry.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define MOST 64
static const jblas_operation_t N = JBLAS_NO_TRANSPOSE, T = JBLAS_TRANSPOSE;

static wide_t number(double re, double im) {
    wide_t value = re;
    __imag__ value = im;
    return value;
}
/* A small integer for a place; complex where the type is. */
static wide_t element(jdatatype_t type, int64_t i, int salt) {
    return number((double)((i * 7 + salt) % 5 - 2),
                  ji_is_complex(type) ? (double)((i * 3 + salt) % 7 - 3) : 0);
}
static void fill(void *data, jdatatype_t type, int64_t count, int salt) {
    for (int64_t i = 0; i < count; i++)
        wide_put(data, (int)type, i, element(type, i, salt));
}

/* ---- Products ---- */

/* One of square matrices. */
static ji_matmat_t square_product(jdatatype_t type, int64_t order, const void *alpha, const void *a,
                                  int64_t lda, const void *b, int64_t ldb, const void *beta,
                                  void *c, int64_t ldc) {
    return (ji_matmat_t){.head = {.type = type},
                         .transa = N,
                         .transb = N,
                         .m = order,
                         .n = order,
                         .k = order,
                         .alpha.pointer = alpha,
                         .a = a,
                         .lda = lda,
                         .b = b,
                         .ldb = ldb,
                         .beta.pointer = beta,
                         .c = c,
                         .ldc = ldc};
}

/* Where a leading dimension is beyond the CBLAS's integers the matrix is taken column by column. */
JTEST(JblasSeldom, ProductsAreCutByWhicheverLeadingDimensionIsTooLarge) {
    enum { SIZE = 5, NEAR = 6, FAR = 50 };
    static double a[2 * FAR * SIZE], b[2 * FAR * SIZE], c[2 * FAR * SIZE];
    const int64_t limit = ji_blas_int_max;
    jhandle_t *handle = blas_make_handle(NULL);
    for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_F64_C; type++)
        for (int round = 0; round < 64 && !jtest_has_failure(); round++) {
            const bool turn_a = round & 1, turn_b = round & 2;
            const int64_t lda = round & 4 ? FAR : NEAR, ldb = round & 8 ? FAR : NEAR,
                          ldc = round & 16 ? FAR : NEAR;
            const ji_value_t one = ji_constant(type, 1).value;
            fill(a, type, FAR * SIZE, 1);
            fill(b, type, FAR * SIZE, 2);
            fill(c, type, FAR * SIZE, 3);
            JSCOPED_TRACE("type %d, round %d", (int)type, round);
            ji_blas_int_max = round & 32 ? 3 : 20;
            ji_matmat_t product = square_product(type, SIZE, &one, a, lda, b, ldb, &one, c, ldc);
            product.transa = turn_a ? T : N;
            product.transb = turn_b ? T : N;
            const jstatus_t status = ji_call_gemm(handle, &product);
            ji_blas_int_max = limit;
            JEXPECT_OK(status);
            for (int64_t j = 0; j < SIZE; j++)
                for (int64_t i = 0; i < ldc; i++) {
                    wide_t want = element(type, i + j * ldc, 3);
                    for (int64_t p = 0; i < SIZE && p < SIZE; p++)
                        want += element(type, turn_a ? p + i * lda : i + p * lda, 1) *
                                element(type, turn_b ? j + p * ldb : p + j * ldb, 2);
                    JEXPECT_TRUE(wide_get(c, (int)type, i + j * ldc) == want);
                }
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Scalars by parts: 0, 1, i, 1 + i, 2, read by the call or in the stream. C is not read where beta
 * is 0. Parts and sums are made while packing, or in workspace. */
static const bool hidden[] = {false, true};
JTEST_P(JblasSeldom, ThreeRealProductsTakeEveryKindOfScalar, bool, hidden) {
    enum { SIZE = 9 };
    static double a[2 * SIZE * SIZE], b[2 * SIZE * SIZE], c[2 * SIZE * SIZE];
    static const double parts[5][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}};
    const ji_tuning_t saved = ji_host_tuning;
    ji_host_tuning.gemm3m_least = 8;
    ji_tuning_complete(&ji_host_tuning);
    blas_hide_own_gemm(*param);
    jhandle_t *handle = blas_make_handle(NULL);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    for (jdatatype_t type = JDATATYPE_F32_C; type <= JDATATYPE_F64_C; type++)
        for (int round = 0; round < 50 && !jtest_has_failure(); round++) {
            const double *alpha = parts[round % 5], *beta = parts[round / 5 % 5];
            const wide_t wide_alpha = number(alpha[0], alpha[1]),
                         wide_beta = number(beta[0], beta[1]);
            ji_value_t scalars[2];
            wide_put(&scalars[0], (int)type, 0, wide_alpha);
            wide_put(&scalars[1], (int)type, 0, wide_beta);
            fill(a, type, SIZE * SIZE, 1);
            fill(b, type, SIZE * SIZE, 2);
            fill(c, type, SIZE * SIZE, 3);
            if (round / 5 % 5 == 0)
                memset(c, 0xff, sizeof c);
            JSCOPED_TRACE("type %d, round %d", (int)type, round);
            JEXPECT_OK(jhandle_set_pointer_mode(handle, round < 25 ? JPOINTER_MODE_HOST
                                                                   : JPOINTER_MODE_DEVICE));
            ji_matmat_t product =
                square_product(type, SIZE, &scalars[0], a, SIZE, b, SIZE, &scalars[1], c, SIZE);
            JEXPECT_OK(ji_call_gemm(handle, &product));
            JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
            for (int64_t j = 0; j < SIZE; j++)
                for (int64_t i = 0; i < SIZE; i++) {
                    wide_t want = 0;
                    for (int64_t p = 0; p < SIZE; p++)
                        want += element(type, i + p * SIZE, 1) * element(type, p + j * SIZE, 2);
                    want = wide_alpha * want + wide_beta * element(type, i + j * SIZE, 3);
                    JEXPECT_TRUE(wide_get(c, (int)type, i + j * SIZE) == want);
                }
        }
    JEXPECT_OK(jhandle_set_stream(handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jhandle_destroy(handle));
    blas_hide_own_gemm(false);
    ji_host_tuning = saved;
}

/* A transpose of complex numbers is not their conjugate transpose: each routine has one of them. */
JTEST(JblasSeldom, RankUpdatesRefuseTheOtherTranspose) {
    const jblas_operation_t C = JBLAS_CONJUGATE_TRANSPOSE;
    jhandle_t *handle = blas_make_handle(NULL);
    float s = 1, a[2] = {1, 0}, c[2] = {1, 0};
    double d = 1, b[2] = {1, 0}, e[2] = {1, 0};
    JEXPECT_STATUS(
        jblas_csyrk(handle, JBLAS_UPPER, C, 1, 1, (void *)a, (void *)a, 1, (void *)a, (void *)c, 1),
        JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(handle),
                   "jblas_csyrk: trans = 113: is not for this routine and type");
    JEXPECT_STATUS(
        jblas_zsyrk(handle, JBLAS_UPPER, C, 1, 1, (void *)b, (void *)b, 1, (void *)b, (void *)e, 1),
        JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jblas_cherk(handle, JBLAS_UPPER, T, 1, 1, &s, (void *)a, 1, &s, (void *)c, 1),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jblas_zherk(handle, JBLAS_UPPER, T, 1, 1, &d, (void *)b, 1, &d, (void *)e, 1),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jblas_csyr2k(handle, JBLAS_UPPER, C, 1, 1, (void *)a, (void *)a, 1, (void *)a, 1,
                                (void *)a, (void *)c, 1),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jhandle_last_message(handle),
                   "jblas_csyr2k: trans = 113: is not for this routine and type");
    JEXPECT_STATUS(jblas_zher2k(handle, JBLAS_UPPER, T, 1, 1, (void *)b, (void *)b, 1, (void *)b, 1,
                                &d, (void *)e, 1),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_TRUE(c[0] == 1 && e[0] == 1);
    JEXPECT_OK(jblas_csyrk(handle, JBLAS_UPPER, T, 1, 1, (void *)a, (void *)a, 1, (void *)a,
                           (void *)c, 1));
    JEXPECT_OK(jblas_zherk(handle, JBLAS_UPPER, C, 1, 1, &d, (void *)b, 1, &d, (void *)e, 1));
    JEXPECT_TRUE(c[0] == 2 && e[0] == 2);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Also where C is multiplied by a beta that is not finite, and nothing is added: with alpha 0 where
 * there is something to add, else with k 0. */
JTEST(JblasSeldom, DiagonalsOfHermitianResultsAreReal) {
    enum { ORDER = 5 };
    const double betas[] = {INFINITY, NAN, -2};
    const jblas_uplo_t uplo = JBLAS_LOWER;
    jcomplex_f64_t a[ORDER], c[ORDER * ORDER];
    jhandle_t *handle = blas_make_handle(NULL);
    fill(a, JDATATYPE_F64_C, ORDER, 1);
    for (int i = 0; i < 18; i++) {
        const int routine = i % 3, k = i / 3 % 2;
        const double *const beta = &betas[i / 6], real_alpha = 1 - k;
        const jcomplex_f64_t alpha = real_alpha;
        fill(c, JDATATYPE_F64_C, (int64_t)ORDER * ORDER, 2);
        if (routine == 0)
            JEXPECT_OK(
                jblas_zherk(handle, uplo, N, ORDER, k, &real_alpha, a, ORDER, beta, c, ORDER));
        else
            JEXPECT_OK((routine == 1 ? jblas_zher2k : jblas_zherkx)(
                handle, uplo, N, ORDER, k, &alpha, a, ORDER, a, ORDER, beta, c, ORDER));
        for (int j = 0; j < ORDER; j++) {
            const double imaginary = cimag(c[j * (ORDER + 1)]);
            JEXPECT_TRUE(imaginary == 0 && !signbit(imaginary));
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What an element of x that is not finite reaches: each row but its own. */
JTEST(JblasSeldom, SkewSymmetricDiagonalsAddNothing) {
    static double a[MOST * MOST], x[MOST], y[MOST];
    const double one = 1, zero = 0;
    jhandle_t *handle = blas_make_handle(NULL);
    for (int i = 0; i < MOST * MOST; i++)
        a[i] = i % (MOST + 1) == 0 ? NAN : 1; /* the diagonal */
    for (int which = 0; which < MOST; which++)
        for (int lower = 0; lower < 2; lower++) {
            fill(x, JDATATYPE_F64, MOST, 1);
            x[which] = lower ? INFINITY : NAN;
            JEXPECT_OK(jblas_dskewsymv(handle, lower ? JBLAS_LOWER : JBLAS_UPPER, MOST, &one, a,
                                       MOST, x, 1, &zero, y, 1));
            for (int i = 0; i < MOST; i++)
                JEXPECT_EQ(isfinite(y[i]) != 0, i == which);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Solves ---- */

/* A diagonal matrix, so that each unknown is alpha b / pivot; orders for which a triangle is
 * packed. */
typedef struct diagonal {
    double a[2 * MOST * MOST], b[2 * MOST * MOST];
    ji_value_t alpha;
} diagonal_t;
static diagonal_t diagonal;

static void diagonal_make(jdatatype_t type, wide_t pivot, wide_t alpha) {
    memset(&diagonal, 0, sizeof diagonal);
    for (int64_t i = 0; i < MOST; i++)
        wide_put(diagonal.a, (int)type, i * (MOST + 1), pivot);
    fill(diagonal.b, type, (int64_t)MOST * MOST, 1);
    wide_put(&diagonal.alpha, (int)type, 0, alpha);
}
static jstatus_t diagonal_solve(jhandle_t *handle, jdatatype_t type) {
    ji_matmat_t solve = {.head = {.type = type},
                         .side = JBLAS_LEFT,
                         .uplo = JBLAS_LOWER,
                         .transa = N,
                         .diag = JBLAS_NON_UNIT,
                         .m = MOST,
                         .n = MOST,
                         .alpha.pointer = &diagonal.alpha,
                         .a = diagonal.a,
                         .lda = MOST,
                         .b = diagonal.b,
                         .ldb = MOST};
    return ji_call_trsm(handle, &solve);
}
static void diagonal_expect(jdatatype_t type, wide_t factor) {
    for (int64_t i = 0; i < MOST * MOST && !jtest_has_failure(); i++) {
        const wide_t want = factor * element(type, i, 1), got = wide_get(diagonal.b, (int)type, i);
        JEXPECT_LE((double)wide_abs(got - want),
                   16 * (double)wide_epsilon((int)type) * (double)wide_abs(want));
    }
}

/* alpha by parts, read by the call or in the stream; where it is 0 what A holds does not matter. */
JTEST(JblasSeldom, SolvesTakeEveryKindOfAlpha) {
    static const double parts[5][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}};
    jhandle_t *handle = blas_make_handle(NULL);
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_F64_C; type++)
        for (int round = 0; round < 10; round++) {
            const double *alpha = parts[round % 5];
            if (alpha[1] != 0 && !ji_is_complex(type))
                continue;
            diagonal_make(type, 2, number(alpha[0], alpha[1]));
            if (round % 5 == 0)
                memset(diagonal.a, 0xff, sizeof diagonal.a);
            JSCOPED_TRACE("type %d, round %d", (int)type, round);
            JEXPECT_OK(jhandle_set_pointer_mode(handle, round < 5 ? JPOINTER_MODE_HOST
                                                                  : JPOINTER_MODE_DEVICE));
            JEXPECT_OK(diagonal_solve(handle, type));
            JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
            diagonal_expect(type, number(alpha[0], alpha[1]) / 2);
        }
    JEXPECT_OK(jhandle_set_stream(handle, NULL));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Pivots whose reciprocal is no normal number, whichever of their parts is the larger. */
JTEST(JblasSeldom, HugePivotsAreDividedBy) {
    jhandle_t *handle = blas_make_handle(NULL);
    for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_F64_C; type++)
        for (int round = 0; round < 5; round++) {
            static const double parts[5][2] = {{1, 0}, {0, 1}, {1, 0.5}, {-0.5, 1}, {0, -1}};
            const bool single = ji_real_of(type) == JDATATYPE_F32;
            const double huge = ldexp(1, single ? 127 : 1023),
                         small = ldexp(1, single ? 100 : 1000);
            if (parts[round][1] != 0 && !ji_is_complex(type))
                continue;
            const wide_t pivot = number(huge * parts[round][0], huge * parts[round][1]);
            diagonal_make(type, pivot, small);
            JSCOPED_TRACE("type %d, round %d", (int)type, round);
            JEXPECT_OK(diagonal_solve(handle, type));
            diagonal_expect(type, (wide_t)(long double)small / pivot);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A pivot without a real part is not 0. */
JTEST(JblasSeldom, ImaginaryPivotsAreInverted) {
    jhandle_t *handle = blas_make_handle(NULL);
    int64_t info = -1;
    float c[2][2][2] = {{{0, 1}, {0, 0}}, {{0, 0}, {0, -2}}};
    double z[2][2][2] = {{{0, 1}, {0, 0}}, {{0, 0}, {0, -2}}};
    JEXPECT_OK(jlapack_ctrtri(handle, JBLAS_UPPER, JBLAS_NON_UNIT, 2, (void *)c, 2, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_TRUE(c[0][0][0] == 0 && c[0][0][1] == -1 && c[1][1][0] == 0 && c[1][1][1] == 0.5);
    info = -1;
    JEXPECT_OK(jlapack_ztrtri(handle, JBLAS_UPPER, JBLAS_NON_UNIT, 2, (void *)z, 2, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_TRUE(z[0][0][0] == 0 && z[0][0][1] == -1 && z[1][1][0] == 0 && z[1][1][1] == 0.5);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Vectors ---- */

static double norm_of(jhandle_t *handle, jdatatype_t type, int64_t n, const void *x,
                      int64_t increment) {
    float s = -1;
    double d = -1;
    switch (type) {
    case JDATATYPE_F32: JEXPECT_OK(jblas_snrm2(handle, n, x, increment, &s)); break;
    case JDATATYPE_F64: JEXPECT_OK(jblas_dnrm2(handle, n, x, increment, &d)); break;
    case JDATATYPE_F32_C: JEXPECT_OK(jblas_scnrm2(handle, n, x, increment, &s)); break;
    default: JEXPECT_OK(jblas_dznrm2(handle, n, x, increment, &d));
    }
    return ji_real_of(type) == JDATATYPE_F32 ? (double)s : d;
}

/* Squares overflow and underflow, in one block and in two, with gaps and backwards; zeros and
 * infinities. */
JTEST(JblasSeldom, NormsWithGapsNeitherOverflowNorUnderflow) {
    enum { LONG = 4100 };
    static double x[2 * 3 * LONG];
    static const int64_t increments[3] = {1, 3, -3}, sizes[2] = {5, LONG};
    jhandle_t *handle = blas_make_handle(NULL);
    for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_F64_C; type++)
        for (int round = 0; round < 24; round++) {
            const bool single = ji_real_of(type) == JDATATYPE_F32;
            const int64_t n = sizes[round / 3 % 2], increment = increments[round % 3];
            const double scales[4] = {single ? 1e30 : 1e300, single ? 1e-30 : 1e-300, 0, INFINITY};
            const double scale = scales[round / 6];
            for (int64_t i = 0; i < 3 * LONG; i++) /* of modulus `scale`; NaN in the gaps */
                wide_put(x, (int)type, i,
                         i % (increment == 1 ? 1 : 3) != 0 ? number(NAN, NAN)
                         : ji_is_complex(type) && i % 2    ? number(0, scale)
                                                           : number(-scale, 0));
            JSCOPED_TRACE("type %d, round %d", (int)type, round);
            const double norm = norm_of(handle, type, n, x, increment);
            if (isinf(scale) || scale == 0)
                JEXPECT_TRUE(norm == scale);
            else
                JEXPECT_NEAR(norm / scale, sqrt((double)n),
                             single ? 1e-3 * sqrt((double)n) : 1e-11 * (double)n);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

static int64_t iamax_of(jhandle_t *handle, jdatatype_t type, int64_t n, const void *x,
                        int64_t increment) {
    int64_t place = -1;
    switch (type) {
    case JDATATYPE_F32: JEXPECT_OK(jblas_isamax(handle, n, x, increment, &place)); break;
    case JDATATYPE_F64: JEXPECT_OK(jblas_idamax(handle, n, x, increment, &place)); break;
    case JDATATYPE_F32_C: JEXPECT_OK(jblas_icamax(handle, n, x, increment, &place)); break;
    default: JEXPECT_OK(jblas_izamax(handle, n, x, increment, &place));
    }
    return place;
}

/* The first NaN is the largest: in a loop, in a block behind others, and where the CBLAS does not
 * take the increment. */
JTEST(JblasSeldom, IamaxFindsTheFirstNan) {
    enum { LONG = 1200 };
    static double x[2 * 2 * LONG];
    static const int64_t sizes[3] = {10, 1200, 1200}, places[3] = {4, 700, 1100},
                         increments[3] = {1, 1, 2};
    const int64_t limit = ji_blas_int_max;
    jhandle_t *handle = blas_make_handle(NULL);
    for (jdatatype_t type = JDATATYPE_F32; type <= JDATATYPE_F64_C; type++)
        for (int round = 0; round < 6; round++) {
            const int64_t place = places[round % 3], increment = increments[round % 3];
            fill(x, type, (int64_t)2 * LONG, 1);
            wide_put(x, (int)type, (place - 1) * increment,
                     round % 2 ? number(NAN, 0) : number(NAN, NAN));
            wide_put(x, (int)type, place * increment, number(NAN, NAN));
            wide_put(x, (int)type, 0, number(1e30, 0)); /* larger than all others */
            JSCOPED_TRACE("type %d, round %d", (int)type, round);
            ji_blas_int_max = round >= 3 && increment == 2 ? 1 : limit;
            const int64_t found = iamax_of(handle, type, sizes[round % 3], x, increment);
            const int64_t before = iamax_of(handle, type, place - 1, x, increment);
            ji_blas_int_max = limit;
            JEXPECT_EQ(found, place);
            JEXPECT_EQ(before, 1);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Longer than the CBLAS's integers hold: in parts, forwards and backwards, and by increments that
 * they do not hold. */
JTEST(JblasSeldom, VectorsAreTakenInParts) {
    const int64_t limit = ji_blas_int_max;
    jhandle_t *handle = blas_make_handle(NULL);
    for (int f = 0; f < BLAS_FUNCTION_COUNT; f++)
        for (int round = 0;
             round < 10 && blas_functions[f].routine->level == 1 && !jtest_has_failure(); round++) {
            BLAS_CASE(c, &blas_functions[f], .low = 20, .high = 20, .plain = true,
                      .tight = round < 2);
            JSCOPED_TRACE("%s", blas_describe(c));
            ji_blas_int_max = round % 2 ? 7 : 19;
            const jstatus_t status = blas_call(handle, c);
            ji_blas_int_max = limit;
            JEXPECT_OK(status);
            blas_right(c);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- What is not offered, and sizes that nothing holds ---- */

/* Split precision lives on a device's tensor cores: where the host is told that it pays, it has no
 * such product. */
JTEST(JblasSeldom, TheHostHasNoSplitPrecision) {
    const ji_tuning_t saved = ji_host_tuning;
    size_t bytes = 1;
    jhandle_t *handle = blas_make_handle(NULL);
    ji_host_tuning.split_least = 8;
    ji_tuning_complete(&ji_host_tuning);
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(jblas_sgemm(handle, N, N, 32, 32, 32, NULL, NULL, 32, NULL, 32, NULL, NULL, 32),
                   JSTATUS_SIZE_UNCHANGED);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 0);
    ji_host_tuning = saved;
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Workspace beyond every size: the rungs that need it never fit, the last one needs none. */
JTEST(JblasSeldom, WorkspaceOfHugeProductsDoesNotWrap) {
    const ji_tuning_t saved = ji_host_tuning;
    const int64_t limit = ji_blas_int_max,
                  sizes[3] = {(int64_t)1 << 29, (int64_t)1 << 31, (int64_t)3 << 30};
    jhandle_t *handle = blas_make_handle(NULL);
    ji_host_tuning.strassen_least[0] = ji_host_tuning.strassen_least[1] = 8;
    ji_tuning_complete(&ji_host_tuning);
    ji_blas_int_max = INT64_MAX;
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    for (int i = 0; i < 3; i++) {
        const int64_t n = sizes[i];
        const ji_matmat_t block = {
            .head = {.type = JDATATYPE_F64, .row = &ji_row_gemm}, .m = n, .n = n, .k = n};
        jplan_t plan;
        ji_gemm_plan(&plan, handle, &block);
        const size_t bytes = jplan_bytes(&plan, handle);
        /* Three quarters of a matrix, and with the second halving three sixteenths more. */
        JSCOPED_TRACE("order %ld", (long)n);
        if (i == 0)
            JEXPECT_EQ(bytes, (size_t)n * (size_t)n / 16 * 15 * sizeof(double));
        else
            JEXPECT_GE(bytes, (size_t)1 << 62);
    }
    /* And there is nothing to halve in one row. */
    const ji_matmat_t thin = {
        .head = {.type = JDATATYPE_F64, .row = &ji_row_gemm}, .m = 1, .n = 99, .k = 99};
    jplan_t plan;
    ji_host_tuning.strassen_least[1] = 1;
    ji_gemm_plan(&plan, handle, &thin);
    JEXPECT_EQ(plan.rung_count, 1);
    ji_blas_int_max = limit;
    ji_host_tuning = saved;
    JEXPECT_OK(jhandle_destroy(handle));
}
