/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Least squares and least solutions on the host.
 *
 * F is A where that has more rows than columns, or as many, and A^H elsewhere: F = Q R, by QR of A
 * or by LQ. Then op(A) is F, or F^H:
 *
 *     F X = B      least squares      B := Q^H B,  X = inv(R) B1
 *     F^H X = B    the least X        Y = inv(R^H) B1,  X = Q (Y; 0)
 *
 * What is so small or so large that squares would be lost is brought near 1 by a power of two
 * first. tau is the only thing that has no place in the arguments: all rungs have it. */

#include <math.h>

#include "lapack/lapack.h"

/* ---- Scaling ---- */

/* The largest part of an element; NaN is larger than all. */
static double gels_largest(const ji_matmat_t *call, int64_t m, int64_t n, const void *a,
                           int64_t lda) {
    const jdatatype_t type = call->head.type;
    double largest = 0;
    for (int64_t j = 0; j < n; j++) {
        const void *const column = ji_at(type, a, 0, j, lda);
        int64_t place = 0;
        ji_vector_t search = {.head = call->head, .n = m, .x = column, .incx = 1, .result = &place};
        ji_host_primitives[JI_IAMAX](&search);

        const void *const element = ji_at(type, column, place - 1, 0, 0);
        const double re = fabs(ji_real_at(type, element, 0)),
                     im = ji_is_complex(type) ? fabs(ji_real_at(type, element, 1)) : 0,
                     size = isnan(re) || re > im ? re : im;
        if (!(size <= largest || isnan(largest)))
            largest = size;
    }
    return largest;
}

/* The power of two that it is brought down by; 0 where it is neither tiny nor huge. */
static int gels_exponent(jdatatype_t type, double largest) {
    const double safe = ji_real_of(type) == JDATATYPE_F32 ? 0x1p+103 : 0x1p+970;
    int exponent = 0;
    if (isfinite(largest) && largest > 0 && (largest > safe || largest < 1 / safe))
        (void)frexp(largest, &exponent);
    return exponent;
}

/* B = 2^exponent B, in steps that numbers of the type can be. */
static void gels_scale(const ji_matmat_t *call, int64_t m, int64_t n, const void *b, int64_t ldb,
                       int exponent) {
    const int most = ji_real_of(call->head.type) == JDATATYPE_F32 ? 100 : 1000;
    while (exponent != 0) {
        const int step = exponent > most ? most : exponent < -most ? -most : exponent;
        ji_matmat_t scale = {.head = call->head,
                             .m = m,
                             .n = n,
                             .alpha = ji_constant(call->head.type, ldexp(1, step)),
                             .b = b,
                             .ldb = ldb};
        ji_host_primitives[JI_SCALE_MATRIX](&scale);
        exponent -= step;
    }
}

static void gels_clear(const ji_matmat_t *call, int64_t first, int64_t end) {
    const jdatatype_t type = call->head.type;
    for (int64_t j = 0; j < call->nrhs; j++)
        memset(ji_at(type, call->b, first, j, call->ldb), 0,
               (size_t)(end - first) * ji_sizeof(type));
}

/* ---- Steps ---- */

static size_t gels_tau_bytes(const ji_matmat_t *args) {
    return ji_whole_lines((size_t)ji_min(args->m, args->n) * ji_sizeof(args->head.type));
}

/* The first i of which R(i, i) is 0; 0: none. */
static int64_t gels_singular(const ji_matmat_t *call, int64_t k) {
    const jdatatype_t type = call->head.type;
    for (int64_t i = 0; i < k; i++)
        if (ji_real_at(type, ji_at(type, call->a, i, i, call->lda), 0) == 0)
            return i + 1;
    return 0;
}

static void gels_factor(const ji_matmat_t *call, bool wide, const void *tau) {
    ji_matmat_t factor = *call;
    factor.tau = tau;
    (wide ? ji_host_gelqf : ji_host_geqrf)(&factor);
}

/* B = Q^H B, or Q B, with the Q of F, which LQ's is the adjoint of. */
static void gels_multiply(const ji_matmat_t *call, bool wide, const void *tau, bool adjoint) {
    ji_matmat_t product = *call;
    product.side = JBLAS_LEFT;
    product.trans = adjoint != wide ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE;
    product.m = ji_max(call->m, call->n), product.n = call->nrhs;
    product.k = ji_min(call->m, call->n);
    product.tau = tau;
    product.c = ji_unconst(call->b), product.ldc = call->ldb;
    (wide ? ji_host_ormlq : ji_host_ormqr)(&product);
}

/* B1 = inv(R) B1, or inv(R^H) B1; wide matrices have R^H. */
static void gels_solve(const ji_matmat_t *call, bool wide, bool adjoint) {
    ji_lapack_solve(call, wide ? JBLAS_LOWER : JBLAS_UPPER,
                    adjoint != wide ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE,
                    JBLAS_NON_UNIT, ji_min(call->m, call->n));
}

/* ---- gels ---- */

void ji_host_gels(void *matmat) {
    ji_matmat_t call = *(const ji_matmat_t *)matmat;
    const jdatatype_t type = call.head.type;
    const bool wide = call.m < call.n, squares = (call.trans == JBLAS_NO_TRANSPOSE) != wide;
    const int64_t least = ji_min(call.m, call.n), most = ji_max(call.m, call.n),
                  given = squares ? most : least, found = squares ? least : most;
    *call.info = 0;

    const double largest = least > 0 ? gels_largest(&call, call.m, call.n, call.a, call.lda) : 0;
    if (largest == 0) {
        gels_clear(&call, 0, most);
        return;
    }

    call.panel_bytes -= gels_tau_bytes(&call);
    void *const tau = (char *)call.panels + call.panel_bytes;
    call.panels = call.panel_bytes > 0 ? call.panels : NULL;

    const int of_a = gels_exponent(type, largest),
              of_b = gels_exponent(type, gels_largest(&call, given, call.nrhs, call.b, call.ldb));
    gels_scale(&call, call.m, call.n, call.a, call.lda, -of_a);
    gels_scale(&call, given, call.nrhs, call.b, call.ldb, -of_b);

    gels_factor(&call, wide, tau);
    if (squares)
        gels_multiply(&call, wide, tau, true);
    *call.info = gels_singular(&call, least);
    if (*call.info != 0)
        return;

    gels_solve(&call, wide, !squares);
    if (!squares) {
        gels_clear(&call, least, most);
        gels_multiply(&call, wide, tau, false);
    }
    gels_scale(&call, found, call.nrhs, call.b, call.ldb, of_b - of_a);
    gels_scale(&call, most - found, call.nrhs, ji_at(type, call.b, found, 0, 0), call.ldb, of_b);
}

ji_panel_bytes_t ji_gels_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const bool wide = args->m < args->n;
    const size_t tau = gels_tau_bytes(args);
    const int64_t least = ji_min(args->m, args->n);
    ji_matmat_t product = *args;
    product.side = JBLAS_LEFT;
    product.m = ji_max(args->m, args->n), product.n = args->nrhs, product.k = least;

    ji_panel_bytes_t bytes =
        ji_panels_for_both((wide ? ji_gelqf_bytes : ji_geqrf_bytes)(handle, args),
                           ji_panels_for_both(ji_ormqr_bytes(handle, &product),
                                              ji_lapack_solve_bytes(handle, args, least)));
    bytes.packed += bytes.packed > 0 ? tau : 0;
    bytes.packed_small += bytes.packed_small > 0 ? tau : 0;
    bytes.in_place += tau;
    return bytes;
}
