/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Iterative refinement on the host, a right-hand side at a time, and what is known of the error
 * then.
 *
 *     r = b - op(A) x, w = |b| + |op(A)||x|        componentwise: x is the solution of a problem of
 *     berr = max r_i / w_i                         which no element is off by more than berr
 *     x += inv(op(A)) r by the factor              while that halves berr, five times at most
 *     ferr = | |inv(op(A))| (|r| + (n + 1) u w) | / |x|
 *
 * in the precision of the matrix (Skeel 1980; Arioli, Demmel and Duff 1989). The last norm is that
 * of diag(|r| + ...) inv(op(A))^H, its largest sum of a column, and is estimated: estimate.h.
 * Absolute values of complex numbers are |Re| + |Im| here, as LAPACK has them. */

#include "lapack/refine.h"
#include "lapack/number.h"

#include <float.h>
#include <math.h>

#define REFINE_STEPS 5
#define REFINE_STRIP 8 /* columns of A that are read for both, r and w */

/* ---- Absolute values ---- */

#define SIZE_s(x, i) fabsf((x)[i])
#define SIZE_d(x, i) fabs((x)[i])
#define SIZE_c(x, i) (fabsf((x)[2 * (i)]) + fabsf((x)[2 * (i) + 1]))
#define SIZE_z(x, i) (fabs((x)[2 * (i)]) + fabs((x)[2 * (i) + 1]))

/* w += |a||by|, of m elements of a column and one of x; the sum of |a||x|, in eight lanes. */
#define REFINE_COLUMN(t, real)                                                                     \
    static void add_##t(int64_t m, const real *a, const real *by, real *w) {                       \
        const real size = SIZE_##t(by, 0);                                                         \
        for (int64_t i = 0; i < m; i++)                                                            \
            w[i] += SIZE_##t(a, i) * size;                                                         \
    }                                                                                              \
    static real sum_##t(int64_t m, const real *a, const real *x) {                                 \
        enum { LANES = 8 };                                                                        \
        real lane[LANES] = {0}, sum = 0;                                                           \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= m; i += LANES)                                                         \
            for (int l = 0; l < LANES; l++)                                                        \
                lane[l] += SIZE_##t(a, i + l) * SIZE_##t(x, i + l);                                \
        for (; i < m; i++)                                                                         \
            sum += SIZE_##t(a, i) * SIZE_##t(x, i);                                                \
        for (int l = 0; l < LANES; l++)                                                            \
            sum += lane[l];                                                                        \
        return sum;                                                                                \
    }
REFINE_COLUMN(s, float)
REFINE_COLUMN(d, double)
REFINE_COLUMN(c, float)
REFINE_COLUMN(z, double)

/* w[i] += |a[i]||by| */
static void refine_add(jdatatype_t type, int64_t m, const void *a, const void *by, void *w) {
    switch (type) {
    case JDATATYPE_F32: add_s(m, a, by, w); break;
    case JDATATYPE_F64: add_d(m, a, by, w); break;
    case JDATATYPE_F32_C: add_c(m, a, by, w); break;
    default: add_z(m, a, by, w);
    }
}

/* *w += |a|^T |x| */
static void refine_sum(jdatatype_t type, int64_t m, const void *a, const void *x, void *w) {
    switch (type) {
    case JDATATYPE_F32: *(float *)w += sum_s(m, a, x); break;
    case JDATATYPE_F64: *(double *)w += sum_d(m, a, x); break;
    case JDATATYPE_F32_C: *(float *)w += sum_c(m, a, x); break;
    default: *(double *)w += sum_z(m, a, x);
    }
}

static bool refine_is_hermitian(const ji_refine_t *call) { return call->uplo != 0; }

/* w = |b| */
static void refine_begin_sizes(const ji_refine_t *call, const void *b, void *w) {
    const ji_value_t one = ji_constant(call->head.type, 1).value;
    memset(w, 0, (size_t)call->n * ji_sizeof(ji_real_of(call->head.type)));
    refine_add(call->head.type, call->n, b, &one, w);
}

/* w += |op(A)||x|, of columns [first, end) of A. */
static void refine_add_sizes(const ji_refine_t *call, const void *x, void *w, int64_t first_column,
                             int64_t end) {
    const jdatatype_t type = call->head.type, real = ji_real_of(type);
    const int64_t n = call->n;
    for (int64_t j = first_column; j < end; j++) {
        const void *const x_j = ji_at(type, x, j, 0, 0);
        void *const w_j = ji_at(real, w, j, 0, 0);
        if (!refine_is_hermitian(call)) {
            const void *const column = ji_at(type, call->a, 0, j, call->lda);
            if (call->trans == JBLAS_NO_TRANSPOSE)
                refine_add(type, n, column, x_j, w);
            else
                refine_sum(type, n, column, x, w_j);
            continue;
        }

        /* Column j of the triangle beside its diagonal, of which the imaginary part is not read. */
        const bool upper = call->uplo == JBLAS_UPPER;
        const int64_t first = upper ? 0 : j + 1, count = upper ? j : n - j - 1;
        const void *const column = ji_at(type, call->a, first, j, call->lda);
        refine_add(type, count, column, x_j, ji_at(real, w, first, 0, 0));
        refine_sum(type, count, column, ji_at(type, x, first, 0, 0), w_j);
        const ji_value_t diagonal =
            ji_constant(type, ji_real_at(type, ji_at(type, call->a, j, j, call->lda), 0)).value;
        refine_add(type, 1, &diagonal, x_j, w_j);
    }
}

/* r -= op(A) x, of columns [first, end) of A; of a Hermitian one of all. */
static void refine_subtract(const ji_refine_t *call, const void *x, void *r, int64_t first,
                            int64_t end) {
    const jdatatype_t type = call->head.type;
    const bool turned = call->trans != JBLAS_NO_TRANSPOSE;
    ji_matvec_t product = {.head = call->head,
                           .uplo = call->uplo,
                           .trans = call->trans,
                           .m = call->n,
                           .n = end - first,
                           .alpha = ji_constant(type, -1),
                           .a = ji_at(type, call->a, 0, first, call->lda),
                           .lda = call->lda,
                           .x = ji_at(type, x, turned ? 0 : first, 0, 0),
                           .incx = 1,
                           .beta = ji_constant(type, 1),
                           .y = ji_at(type, r, turned ? first : 0, 0, 0),
                           .incy = 1};
    ji_host_primitives[refine_is_hermitian(call) ? JI_SYMV : JI_GEMV](&product);
}

void ji_refine_residual(const ji_refine_t *call, const void *b, const void *x, void *r) {
    memcpy(r, b, (size_t)call->n * ji_sizeof(call->head.type));
    refine_subtract(call, x, r, 0, call->n);
}

void ji_refine_sizes(const ji_refine_t *call, const void *b, const void *x, void *w) {
    refine_begin_sizes(call, b, w);
    refine_add_sizes(call, x, w, 0, call->n);
}

/* A column comes into the cache for both at once, but for the residual of a Hermitian A, which
 * takes the matrix as a whole. */
void ji_refine_residual_and_sizes(const ji_refine_t *call, const void *b, const void *x, void *r,
                                  void *w) {
    const int64_t strip = refine_is_hermitian(call) ? call->n : REFINE_STRIP;
    memcpy(r, b, (size_t)call->n * ji_sizeof(call->head.type));
    refine_begin_sizes(call, b, w);
    for (int64_t first = 0; first < call->n; first += strip) {
        const int64_t end = ji_min(first + strip, call->n);
        refine_subtract(call, x, r, first, end);
        refine_add_sizes(call, x, w, first, end);
    }
}

/* ---- Errors ---- */

static double refine_unit(jdatatype_t type) {
    return (ji_real_of(type) == JDATATYPE_F32 ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
}

/* What keeps a quotient of numbers that may have underflowed from being more than it is. */
static double refine_least(const ji_refine_t *call) {
    const double smallest =
        ji_real_of(call->head.type) == JDATATYPE_F32 ? (double)FLT_MIN : DBL_MIN;
    return (double)(call->n + 1) * smallest;
}

static double refine_size(jdatatype_t type, const void *x, int64_t i) {
    const void *const element = ji_at(type, x, i, 0, 0);
    return fabs(ji_real_at(type, element, 0)) +
           (ji_is_complex(type) ? fabs(ji_real_at(type, element, 1)) : 0);
}

double ji_refine_backward(const ji_refine_t *call, const void *r, const void *w) {
    const jdatatype_t type = call->head.type, real = ji_real_of(type);
    const double least = refine_least(call), small = least / refine_unit(type);
    double most = 0;
    for (int64_t i = 0; i < call->n; i++) {
        const double size = refine_size(type, r, i),
                     of = ji_refine_weight(real, size, refine_size(real, w, i)),
                     error = of > small ? size / of : (size + least) / (of + least);
        if (!(error <= most || isnan(most)))
            most = error;
    }
    return most;
}

/* ---- Calls ---- */

typedef struct refine_room {
    void *r, *w, *vectors;
} refine_room_t;

static refine_room_t refine_room(const ji_refine_t *call) {
    const jdatatype_t type = call->head.type;
    char *const at = call->panels;
    return (refine_room_t){at, at + ji_vectors_bytes(type, call->n, 1 + JI_ESTIMATE_VECTORS),
                           at + ji_vectors_bytes(type, call->n, 1)};
}

static size_t refine_room_bytes(const ji_refine_t *call) {
    return ji_vectors_bytes(call->head.type, call->n, 1 + JI_ESTIMATE_VECTORS) +
           ji_vectors_bytes(ji_real_of(call->head.type), call->n, 1);
}

/* r = inv(op(A)) r by the factor. */
static void refine_solve(const ji_refine_t *call, void *r) {
    ji_matmat_t solve = {.head = call->head,
                         .trans = call->trans,
                         .n = call->n,
                         .nrhs = 1,
                         .a = call->af,
                         .lda = call->ldaf,
                         .b = r,
                         .ldb = call->n,
                         .ipiv = call->ipiv};
    if (!refine_is_hermitian(call)) {
        ji_host_getrs(&solve);
        return;
    }
    for (int second = 0; second < 2; second++) {
        const bool plain = (call->uplo == JBLAS_LOWER) != second;
        ji_lapack_solve(&solve, call->uplo, plain ? JBLAS_NO_TRANSPOSE : JBLAS_CONJUGATE_TRANSPOSE,
                        JBLAS_NON_UNIT, call->n);
    }
}

/* Of inv(op(A))^H, as rows of weights. */
static ji_inverse_t refine_inverse(const ji_refine_t *call, const refine_room_t *room) {
    ji_inverse_t inverse = {.head = call->head,
                            .n = call->n,
                            .a = call->af,
                            .lda = call->ldaf,
                            .steps = 2,
                            .weights = room->w,
                            .vectors = room->vectors};
    if (refine_is_hermitian(call)) {
        const bool upper = call->uplo == JBLAS_UPPER;
        inverse.step[0] = (ji_step_t){call->uplo, JBLAS_NON_UNIT, upper};
        inverse.step[1] = (ji_step_t){call->uplo, JBLAS_NON_UNIT, !upper};
    } else {
        inverse.step[0] = (ji_step_t){JBLAS_LOWER, JBLAS_UNIT, false};
        inverse.step[1] = (ji_step_t){JBLAS_UPPER, JBLAS_NON_UNIT, false};
        inverse.ipiv = call->ipiv;
        inverse.adjoint = call->trans == JBLAS_NO_TRANSPOSE;
    }
    return inverse;
}

static void refine_put(jdatatype_t real, void *reals, int64_t i, double value) {
    ji_number_store(real, ji_at(real, reals, i, 0, 0), value, 0);
}

static double refine_forward(const ji_refine_t *call, const refine_room_t *room, const void *x) {
    const jdatatype_t type = call->head.type, real = ji_real_of(type);
    const double least = refine_least(call), small = least / refine_unit(type),
                 gamma = (double)(call->n + 1) * refine_unit(type);
    double largest = 0;
    for (int64_t i = 0; i < call->n; i++) {
        const double size = refine_size(type, room->r, i),
                     of = ji_refine_weight(real, size, refine_size(real, room->w, i));
        refine_put(real, room->w, i, size + gamma * of + (of > small ? 0 : least));
        largest = fmax(largest, refine_size(type, x, i));
    }

    const ji_inverse_t inverse = refine_inverse(call, room);
    const ji_scaled_t norm = ji_estimate(&inverse);
    const double error = ldexp(norm.value / (largest > 0 ? largest : 1), norm.exponent);
    return error;
}

static void refine_side(const ji_refine_t *call, int64_t j) {
    const jdatatype_t type = call->head.type, real = ji_real_of(type);
    const refine_room_t room = refine_room(call);
    const void *const b = ji_at(type, call->b, 0, j, call->ldb);
    void *const x = ji_at(type, call->x, 0, j, call->ldx);
    const ji_value_t one = ji_constant(type, 1).value;

    double error, last = 3;
    for (int step = 0;; step++) {
        ji_refine_residual_and_sizes(call, b, x, room.r, room.w);
        error = ji_refine_backward(call, room.r, room.w);
        if (!(error > refine_unit(type) && 2 * error <= last && step < REFINE_STEPS))
            break;
        refine_solve(call, room.r);
        ji_kernels->level1[type]->axpy(call->n, &one, room.r, 1, x, 1);
        last = error;
    }
    refine_put(real, call->berr, j, error);
    refine_put(real, call->ferr, j, refine_forward(call, &room, x));
}

void ji_host_gerfs(void *refine) {
    const ji_refine_t *call = refine;
    const jdatatype_t real = ji_real_of(call->head.type);
    for (int64_t j = 0; j < call->nrhs; j++)
        if (call->n > 0)
            refine_side(call, j);
        else
            refine_put(real, call->berr, j, 0), refine_put(real, call->ferr, j, 0);
}

void ji_host_porfs(void *refine) { ji_host_gerfs(refine); }

/* ---- Plans ---- */

ji_panel_bytes_t ji_gerfs_bytes(const jhandle_t *handle, const ji_refine_t *args) {
    (void)handle;
    return (ji_panel_bytes_t){.in_place = refine_room_bytes(args)};
}
ji_panel_bytes_t ji_porfs_bytes(const jhandle_t *handle, const ji_refine_t *args) {
    return ji_gerfs_bytes(handle, args);
}
