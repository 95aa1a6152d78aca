/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Loops of matrix.c for one type; included once for each (no include guard).
 *
 *   REAL      float or double
 *   COMPLEX   0 or 1
 *   NAME(f)   gives the functions their own names */

/* sum += scalar op(x), one element. Complex numbers are pairs of reals, and products are formed as
 * written: the compiler's own complex product would test for NaN. */
static inline void NAME(geam_add)(REAL *sum, const REAL *scalar, const REAL *x, bool conjugate) {
#if COMPLEX
    const REAL im = conjugate ? -x[1] : x[1];
    sum[0] += scalar[0] * x[0] - scalar[1] * im;
    sum[1] += scalar[0] * im + scalar[1] * x[0];
#else
    (void)conjugate;
    sum[0] += scalar[0] * x[0];
#endif
}

static void NAME(geam)(const ji_matmat_t *args) {
    enum { PARTS = 1 + COMPLEX };
    const REAL *alpha = ji_scalar_data(&args->alpha), *beta = ji_scalar_data(&args->beta);
    const REAL *a = args->a, *b = args->b;
    REAL *c = args->c;

    const bool flat_a = !ji_is_transposed(args->transa), flat_b = !ji_is_transposed(args->transb);
    const bool conjugate_a = ji_is_conjugated(args->transa),
               conjugate_b = ji_is_conjugated(args->transb);

    const int64_t row_a = flat_a ? 1 : args->lda, column_a = flat_a ? args->lda : 1;
    const int64_t row_b = flat_b ? 1 : args->ldb, column_b = flat_b ? args->ldb : 1;

    const bool with_a = !host_is_zero(args->head.type, &args->alpha),
               with_b = !host_is_zero(args->head.type, &args->beta);
    const int64_t tile = (flat_a || !with_a) && (flat_b || !with_b) ? args->m : MATRIX_TILE;

    for (int64_t top = 0; top < args->m; top += tile)
        for (int64_t j = 0; j < args->n; j++)
            for (int64_t i = top; i < ji_min(args->m, top + tile); i++) {
                /* An element of A or B is read before the same of C is written. */
                REAL sum[PARTS] = {0};
                if (with_a)
                    NAME(geam_add)(sum, alpha, a + PARTS * (i * row_a + j * column_a), conjugate_a);
                if (with_b)
                    NAME(geam_add)(sum, beta, b + PARTS * (i * row_b + j * column_b), conjugate_b);
                memcpy(c + PARTS * (i + j * args->ldc), sum, sizeof sum);
            }
}

#undef REAL
#undef COMPLEX
#undef NAME
