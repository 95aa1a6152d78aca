/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Reciprocal condition numbers on the host: 1 / (|A| |inv(A)|), of which the second is estimated
 * (host/estimate.c) by what there is of a factorization. An infinity-norm is the 1-norm of the
 * adjoint. Pivots of an LU are not needed: they exchange columns of the inverse, which changes
 * neither norm. Exponents are apart from numbers until the end, so that nothing but the result
 * overflows. */

#include <math.h>

#include "lapack/estimate.h"
#include "lapack/number.h"

static ji_inverse_t condition_of(const ji_matmat_t *call) {
    return (ji_inverse_t){
        .head = call->head, .n = call->n, .a = call->a, .lda = call->lda, .vectors = call->panels};
}

/* |A| is `norm`, |inv(A)| is `inverse`. */
static double condition_from(ji_scaled_t norm, ji_scaled_t inverse) {
    if (isnan(norm.value) || isnan(inverse.value) || norm.value < 0)
        return (double)NAN;
    if (norm.value == 0 || isinf(norm.value) || inverse.value == 0 || isinf(inverse.value))
        return 0;

    int of_norm, of_inverse;
    const double product = frexp(norm.value, &of_norm) * frexp(inverse.value, &of_inverse);
    return ldexp(1 / product, -(of_norm + norm.exponent + of_inverse + inverse.exponent));
}

static void condition_estimate(const ji_matmat_t *call, ji_scaled_t norm,
                               const ji_inverse_t *inverse) {
    /* Of what is known already nothing is estimated. */
    const bool decided = !(norm.value > 0) || isinf(norm.value);
    const ji_scaled_t one = {1, 0};
    const double rcond =
        call->n == 0 ? 1 : condition_from(norm, decided ? one : ji_estimate(inverse));
    ji_number_store(ji_real_of(call->head.type), call->rcond, rcond, 0);
}

static ji_scaled_t condition_anorm(const ji_matmat_t *call) {
    const jdatatype_t real = ji_real_of(call->head.type);
    return (ji_scaled_t){call->n == 0 ? 1 : ji_real_at(real, ji_scalar_data(&call->anorm), 0), 0};
}

void ji_host_gecon(void *matmat) {
    const ji_matmat_t *call = matmat;
    ji_inverse_t inverse = condition_of(call);
    inverse.step[0] = (ji_step_t){JBLAS_LOWER, JBLAS_UNIT, false};
    inverse.step[1] = (ji_step_t){JBLAS_UPPER, JBLAS_NON_UNIT, false};
    inverse.steps = 2;
    inverse.adjoint = call->norm == JLAPACK_INFINITY_NORM;
    condition_estimate(call, condition_anorm(call), &inverse);
}

void ji_host_pocon(void *matmat) {
    const ji_matmat_t *call = matmat;
    const bool upper = call->uplo == JBLAS_UPPER;
    ji_inverse_t inverse = condition_of(call);
    inverse.step[0] = (ji_step_t){call->uplo, JBLAS_NON_UNIT, upper};
    inverse.step[1] = (ji_step_t){call->uplo, JBLAS_NON_UNIT, !upper};
    inverse.steps = 2;
    condition_estimate(call, condition_anorm(call), &inverse);
}

/* ---- Triangles ---- */

/* The norm of the triangle's elements times 2^-exponent; sums of rows are in the workspace. */
static ji_scaled_t condition_triangle_norm(const ji_matmat_t *call, int exponent) {
    const jdatatype_t type = call->head.type;
    const bool by_rows = call->norm == JLAPACK_INFINITY_NORM, upper = call->uplo == JBLAS_UPPER,
               unit = call->diag == JBLAS_UNIT;
    double *const rows = call->panels, largest = 0;
    for (int64_t i = 0; by_rows && i < call->n; i++)
        rows[i] = 0;

    for (int64_t j = 0; j < call->n; j++) {
        const int64_t first = upper ? 0 : j, end = upper ? j + 1 : call->n;
        double column = 0;
        for (int64_t i = first; i < end; i++) {
            const void *const element = ji_at(type, call->a, i, j, call->lda);
            const double re = unit && i == j ? 1 : ji_real_at(type, element, 0),
                         im = !ji_is_complex(type) || (unit && i == j)
                                  ? 0
                                  : ji_real_at(type, element, 1),
                         size = hypot(ldexp(re, -exponent), ldexp(im, -exponent));
            column += size;
            if (by_rows)
                rows[i] += size;
        }
        if (!by_rows && !(column <= largest || isnan(largest)))
            largest = column;
    }
    for (int64_t i = 0; by_rows && i < call->n; i++)
        if (!(rows[i] <= largest || isnan(largest)))
            largest = rows[i];
    return (ji_scaled_t){largest, exponent};
}

void ji_host_trcon(void *matmat) {
    const ji_matmat_t *call = matmat;
    ji_inverse_t inverse = condition_of(call);
    inverse.step[0] = (ji_step_t){call->uplo, call->diag, false};
    inverse.steps = 1;
    inverse.adjoint = call->norm == JLAPACK_INFINITY_NORM;

    ji_scaled_t norm = {1, 0};
    if (call->n > 0)
        norm = condition_triangle_norm(call, 0);
    if (isinf(norm.value)) /* perhaps the sum alone is */
        norm = condition_triangle_norm(call, 64);
    condition_estimate(call, norm, &inverse);
}

/* ---- Panels ---- */

static ji_panel_bytes_t condition_bytes(const ji_matmat_t *args) {
    return (ji_panel_bytes_t){.in_place =
                                  ji_vectors_bytes(args->head.type, args->n, JI_ESTIMATE_VECTORS)};
}

ji_panel_bytes_t ji_gecon_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    (void)handle;
    return condition_bytes(args);
}
ji_panel_bytes_t ji_pocon_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_gecon_bytes(handle, args);
}
ji_panel_bytes_t ji_trcon_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_gecon_bytes(handle, args);
}
