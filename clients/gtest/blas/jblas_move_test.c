/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Matrices that are moved: what the tests over all routines do not see. Numbers here say where they
 * came from, so each element is known, whatever its type. */

#include "jblas_routines.h"

#include <math.h>
#include <string.h>

enum { ROOM = 40 * 40 };

/* Elements of the larger types have as many reals as a complex double. */
typedef struct matrix {
    double reals[2 * ROOM];
} matrix_t;

static jdatatype_t type_of(int i) { return (jdatatype_t)(JDATATYPE_F32 + i); }

static void *at(jdatatype_t type, matrix_t *a, int64_t place) {
    return (char *)a->reals + place * (int64_t)jhandle_sizeof_datatype(type);
}

static void number(jdatatype_t type, matrix_t *a) {
    for (int64_t place = 0; place < ROOM; ++place) {
        wide_t value = (long double)place + 1;
        if (wide_is_complex((int)type))
            __imag__ value = -(long double)place / 2;
        wide_put((unsigned char *)a->reals, (int)type, place, value);
    }
}

static jstatus_t omatcopy(jhandle_t *handle, jdatatype_t type, jblas_operation_t trans, int64_t m,
                          int64_t n, const void *alpha, matrix_t *a, int64_t lda, matrix_t *b,
                          int64_t ldb) {
    void *from = a->reals, *to = b->reals;
    switch (type) {
    case JDATATYPE_F32: return jblas_somatcopy(handle, trans, m, n, alpha, from, lda, to, ldb);
    case JDATATYPE_F64: return jblas_domatcopy(handle, trans, m, n, alpha, from, lda, to, ldb);
    case JDATATYPE_F32_C: return jblas_comatcopy(handle, trans, m, n, alpha, from, lda, to, ldb);
    default: return jblas_zomatcopy(handle, trans, m, n, alpha, from, lda, to, ldb);
    }
}

static jstatus_t imatcopy(jhandle_t *handle, jdatatype_t type, jblas_operation_t trans, int64_t m,
                          int64_t n, const void *alpha, matrix_t *a, int64_t lda, int64_t ldb) {
    void *data = a->reals;
    switch (type) {
    case JDATATYPE_F32: return jblas_simatcopy(handle, trans, m, n, alpha, data, lda, ldb);
    case JDATATYPE_F64: return jblas_dimatcopy(handle, trans, m, n, alpha, data, lda, ldb);
    case JDATATYPE_F32_C: return jblas_cimatcopy(handle, trans, m, n, alpha, data, lda, ldb);
    default: return jblas_zimatcopy(handle, trans, m, n, alpha, data, lda, ldb);
    }
}

/* What was moved out of place, laid over what was there before. */
static void lay_over(jdatatype_t type, matrix_t *from, int64_t rows, int64_t columns, int64_t ld,
                     matrix_t *to) {
    for (int64_t j = 0; j < columns; ++j)
        memcpy(at(type, to, j * ld), at(type, from, j * rows),
               (size_t)rows * jhandle_sizeof_datatype(type));
}

typedef struct shape {
    int64_t m, n, more_a, more_b; /* leading dimensions beyond the least */
} shape_t;

static bool in_place_is_out_of_place(jhandle_t *handle, int type_index, int operation, shape_t s,
                                     const double *alpha, jstatus_t *status) {
    static matrix_t a, copied, want;
    const jdatatype_t type = type_of(type_index);
    const jblas_operation_t trans = (jblas_operation_t)(JBLAS_NO_TRANSPOSE + operation);
    const bool transposed = ji_is_transposed(trans);
    const int64_t rows = transposed ? s.n : s.m, columns = transposed ? s.m : s.n;
    const int64_t lda = s.m + s.more_a, ldb = rows + s.more_b;
    unsigned char scalar[16];
    wide_t value = alpha[0];
    if (wide_is_complex((int)type))
        __imag__ value = alpha[1];
    wide_put(scalar, (int)type, 0, value);

    number(type, &a);
    memcpy(&want, &a, sizeof want);
    JEXPECT_OK(omatcopy(handle, type, trans, s.m, s.n, scalar, &a, lda, &copied, rows));
    lay_over(type, &copied, rows, columns, ldb, &want);
    *status = imatcopy(handle, type, trans, s.m, s.n, scalar, &a, lda, ldb);
    if (!jstatus_is_error(*status) && memcmp(&a, &want, sizeof want) == 0)
        return true;
    JFAIL("%s, operation %d, m = %ld, n = %ld, lda = %ld, ldb = %ld: %s", jdatatype_name(type),
          operation, (long)s.m, (long)s.n, (long)lda, (long)ldb, jstatus_name(*status));
    return false;
}

static shape_t draw_shape(int64_t most) {
    const int64_t m = jtest_random_between(1, most), n = jtest_random_between(1, most);
    return (shape_t){m, jtest_random_between(0, 3) == 0 ? m : n, jtest_random_between(0, 3),
                     jtest_random_between(0, 3)};
}

/* Shapes whose leading dimensions make chains of all kinds, with workspace and with too little. */
JTEST(JblasMove, InPlaceIsAsOutOfPlaceOnEachRung) {
    static const double alphas[][2] = {{1, 0}, {-2, 0.5}, {0, 0}};
    jhandle_t *handle = blas_make_handle(NULL);
    const size_t least = jdevice_granule_bytes(jhandle_device(handle));
    int64_t degraded = 0;
    for (int64_t i = 0; i < jtest_iterations(4000) && !jtest_has_failure(); ++i) {
        const bool is_rich = jtest_random_bool();
        const int alpha = (int)jtest_random_between(0, 9);
        jstatus_t status;
        JEXPECT_OK(jhandle_set_workspace_size(handle, is_rich ? 1 << 20 : least));
        in_place_is_out_of_place(handle, (int)(i % 4), (int)(i / 4 % 4),
                                 draw_shape(i % 10 == 0 ? 37 : 9),
                                 alphas[alpha == 0  ? 2
                                        : alpha < 4 ? 0
                                                    : 1],
                                 &status);
        degraded += status == JSTATUS_PERF_DEGRADED;
        JEXPECT_TRUE(!is_rich || status == JSTATUS_SUCCESS);
    }
    JEXPECT_GT(degraded, 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An alpha of 1 leaves elements as they are, which times 1 + 0i they would not be. */
JTEST(JblasMove, InfinitiesAndNaNAreCopied) {
    const double im = -INFINITY;
    jhandle_t *handle = blas_make_handle(NULL);
    double a[] = {INFINITY, 1, -2, im, NAN, 3}, b[6];
    const double one[] = {1, 0};
    JEXPECT_OK(jblas_zomatcopy(handle, JBLAS_TRANSPOSE, 1, 3, (const void *)one, (const void *)a, 1,
                               (void *)b, 3));
    JEXPECT_EQ(memcmp(a, b, sizeof a), 0);
    JEXPECT_OK(jblas_zomatcopy(handle, JBLAS_CONJUGATE, 3, 1, (const void *)one, (const void *)a, 3,
                               (void *)b, 3));
    JEXPECT_TRUE(b[0] == INFINITY && b[1] == -1 && b[3] == INFINITY && isnan(b[4]) && b[5] == -3);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* C is A: the bits are those of another C. */
JTEST(JblasMove, ADiagonalIsAppliedInPlace) {
    static double a[2][67 * 71], x[71 * 3];
    const int64_t m = 67, n = 71;
    jhandle_t *handle = blas_make_handle(NULL);
    for (int i = 0; i < 71 * 3; ++i)
        x[i] = jtest_random_double(-1, 1);
    for (int side = 0; side < 2; ++side)
        for (int64_t incx = -3; incx <= 3; ++incx) {
            static double c[67 * 71];
            for (int i = 0; i < 67 * 71; ++i)
                a[side][i] = jtest_random_double(-1, 1);
            const jblas_side_t where = side == 0 ? JBLAS_LEFT : JBLAS_RIGHT;
            JEXPECT_OK(jblas_ddgmm(handle, where, m, n, a[side], m, x, incx, c, m));
            JEXPECT_OK(jblas_ddgmm(handle, where, m, n, a[side], m, x, incx, a[side], m));
            JEXPECT_EQ(memcmp(a[side], c, sizeof c), 0);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Whether b is alpha op(a), a sample of it. */
static bool is_moved(const double *a, int64_t m, int64_t n, int64_t lda, bool transposed,
                     double alpha, const double *b, int64_t ldb) {
    for (int64_t j = 0; j < n; j += 3)
        for (int64_t i = 0; i < m; i++)
            if (b[transposed ? j + i * ldb : i + j * ldb] != alpha * a[i + j * lda])
                return false;
    return true;
}

/* By several threads: matrices that are large enough, on each way. */
JTEST(JblasMove, ThreadsChangeNoBits) {
    enum { M = 700, N = 500, ROWS = 720 };
    const double alpha = -1.25;
    static double a[ROWS * ROWS], one[ROWS * ROWS], many[ROWS * ROWS];
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.threads = 1;
    jhandle_t *alone = blas_make_handle(&options);
    options.threads = 4;
    jhandle_t *together = blas_make_handle(&options);
    for (int i = 0; i < ROWS * ROWS; ++i)
        a[i] = jtest_random_double(-1, 1);

    static const struct {
        jblas_operation_t trans;
        int64_t m, n, lda, ldb;
    } shapes[] = {{JBLAS_TRANSPOSE, M, N, ROWS, ROWS},
                  {JBLAS_TRANSPOSE, M, M, ROWS, ROWS},
                  {JBLAS_NO_TRANSPOSE, M, N, ROWS, ROWS},
                  {JBLAS_TRANSPOSE, M, N, M, N},
                  {JBLAS_NO_TRANSPOSE, M, N, ROWS, M}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        const int64_t m = shapes[i].m, n = shapes[i].n, lda = shapes[i].lda, ldb = shapes[i].ldb;
        const bool transposed = shapes[i].trans == JBLAS_TRANSPOSE;
        memcpy(one, a, sizeof a), memcpy(many, a, sizeof a);
        JEXPECT_OK(jblas_dimatcopy(alone, shapes[i].trans, m, n, &alpha, one, lda, ldb));
        JEXPECT_OK(jblas_dimatcopy(together, shapes[i].trans, m, n, &alpha, many, lda, ldb));
        JEXPECT_EQ(memcmp(one, many, sizeof one), 0);
        JEXPECT_TRUE(is_moved(a, m, n, lda, transposed, alpha, many, ldb));

        memset(one, 0, sizeof one), memset(many, 0, sizeof many);
        JEXPECT_OK(jblas_domatcopy(alone, shapes[i].trans, m, n, &alpha, a, lda, one, ldb));
        JEXPECT_OK(jblas_domatcopy(together, shapes[i].trans, m, n, &alpha, a, lda, many, ldb));
        JEXPECT_EQ(memcmp(one, many, sizeof one), 0);
        JEXPECT_TRUE(is_moved(a, m, n, lda, transposed, alpha, many, ldb));
    }
    JEXPECT_OK(jhandle_destroy(alone));
    JEXPECT_OK(jhandle_destroy(together));
}

/* A triangle is packed and unpacked beside another triangle, which stays. */
JTEST(JblasMove, ATriangleComesBack) {
    enum { ORDER = 23, LD = 25 };
    jhandle_t *handle = blas_make_handle(NULL);
    for (int upper = 0; upper < 2; ++upper) {
        double a[LD * ORDER], back[LD * ORDER], want[LD * ORDER], packed[ORDER * (ORDER + 1) / 2];
        const jblas_uplo_t uplo = upper ? JBLAS_UPPER : JBLAS_LOWER;
        for (int i = 0; i < LD * ORDER; ++i) {
            const int row = i % LD, column = i / LD;
            const bool is_part = row < ORDER && (upper ? row <= column : row >= column);
            a[i] = i, back[i] = -i;
            want[i] = is_part ? i : -i;
        }
        JEXPECT_OK(jblas_dtrttp(handle, uplo, ORDER, a, LD, packed));
        JEXPECT_OK(jblas_dtpttr(handle, uplo, ORDER, packed, back, LD));
        JEXPECT_EQ(memcmp(back, want, sizeof want), 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
