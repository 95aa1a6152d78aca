/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* JI_GEMM_HALF on the host: panels of A and B are widened to float as they are stored (sgemm
 * transposes),
 * multiplied into a float panel of C, and that is scaled, added to C and rounded once.
 *
 *     for each panel of columns of C
 *         for each panel of rows
 *             for each panel of k: widen, multiply
 *
 * A panel of C stays in float until all of k has been added to it. A panel of A is widened once for
 * each panel of columns, one of B once for each panel of rows: n / 512 times, and each is followed
 * by a product of 512 columns. */

#include "blas/host/host.h"
#include "blas/primitives/precision.h"

#define HALF_BLOCK 64 /* three blocks on the stack: 48 KiB */

#define HALF_DEFINE(name, T)                                                                       \
    static void widen_##name(float *to, const T *from, int64_t ld, int64_t rows,                   \
                             int64_t columns) {                                                    \
        for (int64_t j = 0; j < columns; j++, to += rows)                                          \
            for (int64_t i = 0; i < rows; i++)                                                     \
                to[i] = jalloc_f32_from_##name(from[i + j * ld]);                                  \
    }                                                                                              \
    /* C = alpha P + beta C; alpha 0: P counts as 0; beta 0: C is not read */                      \
    static void narrow_##name(const float *p, int64_t rows, int64_t columns, float alpha,          \
                              float beta, T *c, int64_t ldc) {                                     \
        for (int64_t j = 0; j < columns; j++, p += rows, c += ldc)                                 \
            for (int64_t i = 0; i < rows; i++) {                                                   \
                const float product = alpha == 0 ? 0 : alpha * p[i];                               \
                c[i] = jalloc_##name##_from_f32(                                                   \
                    beta == 0 ? product : product + beta * jalloc_f32_from_##name(c[i]));          \
            }                                                                                      \
    }
HALF_DEFINE(f16, jfloat16_t)
HALF_DEFINE(bf16, jbfloat16_t)

/* Rows [i, i + rows) and columns [j, j + columns) of op(X), as they are stored. Gives the leading
 * dimension. */
static int64_t widen(float *to, jdatatype_t type, const void *x, int64_t ld,
                     jblas_operation_t operation, int64_t i, int64_t j, int64_t rows,
                     int64_t columns) {
    const bool flat = operation == JBLAS_NO_TRANSPOSE;
    const int64_t high = flat ? rows : columns, wide = flat ? columns : rows;
    const uint16_t *from = (const uint16_t *)x + (flat ? i + j * ld : j + i * ld);

    if (type == JDATATYPE_F16)
        widen_f16(to, (const jfloat16_t *)(const void *)from, ld, high, wide);
    else
        widen_bf16(to, (const jbfloat16_t *)(const void *)from, ld, high, wide);
    return high;
}

void ji_host_gemm_half(void *block) {
    const ji_half_t *call = block;
    const ji_matmat_t *args = &call->product;
    const jdatatype_t type = args->head.type;
    const bool small = call->panels == NULL;
    const int64_t mc = small ? HALF_BLOCK : call->m_panel, nc = small ? HALF_BLOCK : call->n_panel;
    const int64_t kc = small ? HALF_BLOCK : call->k_panel;

    const float alpha = *(const float *)ji_scalar_data(&args->alpha),
                beta = *(const float *)ji_scalar_data(&args->beta);
    const bool multiply = alpha != 0 && args->k > 0;

    float blocks[3 * HALF_BLOCK * HALF_BLOCK];
    float *const a = small ? blocks : call->panels, *const b = a + mc * kc, *const c = b + kc * nc;

    for (int64_t j = 0; j < args->n; j += nc)
        for (int64_t i = 0; i < args->m; i += mc) {
            const int64_t rows = ji_min(mc, args->m - i), columns = ji_min(nc, args->n - j);

            for (int64_t p = 0; multiply && p < args->k; p += kc) {
                const int64_t depth = ji_min(kc, args->k - p);

                ji_matmat_t product = {.head = {.type = JDATATYPE_F32,
                                                .row = args->head.row,
                                                .threads = args->head.threads},
                                       .transa = args->transa,
                                       .transb = args->transb,
                                       .m = rows,
                                       .n = columns,
                                       .k = depth,
                                       .alpha = ji_constant(JDATATYPE_F32, 1),
                                       .a = a,
                                       .b = b,
                                       .beta = ji_constant(JDATATYPE_F32, p > 0),
                                       .c = c,
                                       .ldc = rows};

                product.lda = widen(a, type, args->a, args->lda, args->transa, i, p, rows, depth);
                if (p > 0 || depth < args->k || i == 0) /* else B's panel is there already */
                    product.ldb =
                        widen(b, type, args->b, args->ldb, args->transb, p, j, depth, columns);
                else
                    product.ldb = args->transb == JBLAS_NO_TRANSPOSE ? depth : columns;

                ji_host_run(JI_GEMM, &product);
            }

            const int64_t at = i + j * args->ldc;
            /* Without a product alpha counts as 0, and nothing in c is read. */
            if (!multiply)
                memset(c, 0, (size_t)(rows * columns) * sizeof(float));

            if (type == JDATATYPE_F16)
                narrow_f16(c, rows, columns, multiply ? alpha : 0, beta, (jfloat16_t *)args->c + at,
                           args->ldc);
            else
                narrow_bf16(c, rows, columns, multiply ? alpha : 0, beta,
                            (jbfloat16_t *)args->c + at, args->ldc);
        }
}
