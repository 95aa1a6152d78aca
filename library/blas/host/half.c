/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* JI_GEMM_HALF on the host: a product of floats whose operands are widened as they are packed. The
 * sums of a block of C stay in float, in workspace, until all of k has been added to them; then
 * they are scaled, added to C and rounded once. So the bits do not depend on the blocks:
 *
 *     packed         512 x 1024 sums, and the panels of such a product (product.c)
 *     packed-small   96 x 96
 *     in place       48 x 32, on the stack */

#include "blas/host/product.h"

typedef struct half_block {
    int64_t rows, columns;
} half_block_t;

static const half_block_t half_packed = {512, 1024}, half_small = {96, 96},
                          half_in_place = {48, 32};
#define HALF_STACK_SUMS (48 * 32)

#define HALF_DEFINE(name, T)                                                                       \
    static void widen_##name(float *to, int64_t to_ld, const T *from, int64_t from_ld,             \
                             int64_t rows, int64_t columns) {                                      \
        for (int64_t j = 0; j < columns; j++)                                                      \
            for (int64_t i = 0; i < rows; i++)                                                     \
                to[i + j * to_ld] = jalloc_f32_from_##name(from[i + j * from_ld]);                 \
    }                                                                                              \
    /* C = alpha sums + beta C, sums NULL: C = beta C; beta 0: C is not read */                    \
    static void narrow_##name(const float *sums, int64_t rows, int64_t columns, float alpha,       \
                              float beta, T *c, int64_t ldc) {                                     \
        for (int64_t j = 0; j < columns; j++, c += ldc)                                            \
            for (int64_t i = 0; i < rows; i++) {                                                   \
                const float product = sums == NULL ? 0 : alpha * sums[i + j * rows];               \
                c[i] = jalloc_##name##_from_f32(                                                   \
                    beta == 0 ? product : product + beta * jalloc_f32_from_##name(c[i]));          \
            }                                                                                      \
    }
HALF_DEFINE(f16, jfloat16_t)
HALF_DEFINE(bf16, jbfloat16_t)

void ji_widen(jdatatype_t type, float *to, int64_t to_ld, const void *from, int64_t from_ld,
              int64_t rows, int64_t columns) {
    if (type == JDATATYPE_F16)
        widen_f16(to, to_ld, from, from_ld, rows, columns);
    else
        widen_bf16(to, to_ld, from, from_ld, rows, columns);
}

static size_t half_sums_bytes(half_block_t block, int64_t m, int64_t n) {
    return ((size_t)(ji_min(m, block.rows) * ji_min(n, block.columns)) * sizeof(float) + 63) / 64 *
           64;
}

ji_panel_bytes_t ji_half_bytes(int64_t m, int64_t n, int64_t k, int threads) {
    const ji_panel_bytes_t packed = ji_product_bytes(JDATATYPE_F32, ji_min(m, half_packed.rows),
                                                     ji_min(n, half_packed.columns), k, threads),
                           small = ji_product_bytes(JDATATYPE_F32, ji_min(m, half_small.rows),
                                                    ji_min(n, half_small.columns), k, threads);
    return (ji_panel_bytes_t){packed.packed + half_sums_bytes(half_packed, m, n),
                              small.packed_small + half_sums_bytes(half_small, m, n)};
}

/* One block of C: its sums, and their way into it. */
static void half_multiply(const ji_matmat_t *args, ji_product_t *product, float *sums, int64_t i,
                          int64_t j) {
    const jdatatype_t type = args->head.type;
    product->a = ji_operand_a(type, args->a, args->lda, args->transa);
    product->b = ji_operand_b(type, args->b, args->ldb, args->transb);
    product->a.data = (const uint16_t *)args->a + i * product->a.line;
    product->b.data = (const uint16_t *)args->b + j * product->b.line;
    product->c = sums, product->ldc = product->m;

    ji_product(product);
}

void ji_host_gemm_half(void *block) {
    const ji_matmat_t *args = block;
    const float alpha = *(const float *)ji_scalar_data(&args->alpha),
                beta = *(const float *)ji_scalar_data(&args->beta);
    const bool multiply = alpha != 0 && args->k > 0;
    const ji_panel_bytes_t bytes =
        ji_half_bytes(args->m, args->n, args->k, args->head.threads.planned);

    _Alignas(64) float stack[HALF_STACK_SUMS];
    const bool on_stack = args->panels == NULL || args->panel_bytes < bytes.packed_small;
    const half_block_t size = on_stack                            ? half_in_place
                              : args->panel_bytes >= bytes.packed ? half_packed
                                                                  : half_small;

    float *const sums = on_stack ? stack : args->panels;
    const size_t sums_bytes = half_sums_bytes(size, args->m, args->n);
    ji_product_t product = {.type = JDATATYPE_F32,
                            .k = args->k,
                            .scalars = {.alpha = {1, 0}},
                            .threads = args->head.threads,
                            .panels = on_stack ? NULL : (char *)args->panels + sums_bytes,
                            .panel_bytes = on_stack ? 0 : args->panel_bytes - sums_bytes};

    for (int64_t j = 0; j < args->n; j += size.columns)
        for (int64_t i = 0; i < args->m; i += size.rows) {
            product.m = ji_min(size.rows, args->m - i);
            product.n = ji_min(size.columns, args->n - j);
            if (multiply)
                half_multiply(args, &product, sums, i, j);

            uint16_t *const c = (uint16_t *)args->c + i + j * args->ldc;
            if (args->head.type == JDATATYPE_F16)
                narrow_f16(multiply ? sums : NULL, product.m, product.n, alpha, beta,
                           (jfloat16_t *)(void *)c, args->ldc);
            else
                narrow_bf16(multiply ? sums : NULL, product.m, product.n, alpha, beta,
                            (jbfloat16_t *)(void *)c, args->ldc);
        }
}
