/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of operands of several types: JI_GEMM_EX, and JI_GEMM_HALF, which is one of them. The
 * operands are converted as they are packed (product.c), so a product is one of the type that is
 * computed in. If C has that type, it is written as that product writes it. Otherwise the sums of a
 * block of C stay in the wider type, in workspace, until all of k has been added to them; then they
 * are scaled, added to C and rounded once. So the bits do not depend on the blocks:
 *
 *     packed         512 x 1024 sums of float, and the panels of such a product; of wider types as
 *                    many bytes
 *     packed-small   96 x 96
 *     in place       48 x 32, on the stack
 *
 * Integers of 8 bits are multiplied as floats. 1024 of their products have a sum of at most 2^24,
 * so that is exact in whatever order, and what is added up beyond it is added modulo 2^32, where
 * the order does not matter either. */

#include "blas/host/convert.h"
#include "blas/host/product.h"
#include "blas/host/scale.h"

typedef struct mixed_block {
    int64_t rows, columns;
} mixed_block_t;

static const mixed_block_t mixed_small = {96, 96}, mixed_in_place = {48, 32};
#define MIXED_STACK_SUMS (48 * 32)
#define MIXED_PIECE 128 /* elements of C that are converted at once */
#define MIXED_EXACT_DEPTH 1024

/* ---- The workspace ---- */

/* Integers are multiplied as floats. */
static jdatatype_t mixed_product_type(jdatatype_t computed) {
    return computed == JDATATYPE_I32 ? JDATATYPE_F32 : computed;
}

static mixed_block_t mixed_packed(jdatatype_t type) {
    return (mixed_block_t){type == JDATATYPE_F64_C ? 256 : 512, type == JDATATYPE_F32 ? 1024 : 512};
}

static size_t mixed_sums_bytes(jdatatype_t type, mixed_block_t block, int64_t m, int64_t n) {
    return ((size_t)(ji_min(m, block.rows) * ji_min(n, block.columns)) * ji_sizeof(type) + 63) /
           64 * 64;
}

ji_panel_bytes_t ji_blocked_bytes(jdatatype_t type, int64_t m, int64_t n, int64_t k, int threads) {
    const mixed_block_t large = mixed_packed(type);
    const ji_panel_bytes_t packed = ji_product_bytes(type, ji_min(m, large.rows),
                                                     ji_min(n, large.columns), k, threads),
                           small = ji_product_bytes(type, ji_min(m, mixed_small.rows),
                                                    ji_min(n, mixed_small.columns), k, threads);
    return (ji_panel_bytes_t){.packed = packed.packed + mixed_sums_bytes(type, large, m, n),
                              .packed_small =
                                  small.packed_small + mixed_sums_bytes(type, mixed_small, m, n)};
}

/* Whether the product is C itself. */
static bool mixed_writes_c(const ji_matmat_t *args) {
    return args->c_type == args->head.type && args->head.type != JDATATYPE_I32;
}

ji_panel_bytes_t ji_mixed_bytes(const ji_matmat_t *args, int threads) {
    const jdatatype_t type = mixed_product_type(args->head.type);
    return mixed_writes_c(args) ? ji_product_bytes(type, args->m, args->n, args->k, threads)
                                : ji_blocked_bytes(type, args->m, args->n, args->k, threads);
}

/* ---- The way into C ---- */

/* c = alpha sums + beta c, sums NULL: c = beta c; beta NULL: c is not read. */
#define MIXED_COMBINE_REAL(t, T)                                                                   \
    static void combine_##t(T *c, const T *sums, const T *alpha, const T *beta, int64_t n) {       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T product = sums == NULL ? 0 : *alpha * sums[i];                                 \
            c[i] = beta == NULL ? product : product + *beta * c[i];                                \
        }                                                                                          \
    }
MIXED_COMBINE_REAL(s, float)
MIXED_COMBINE_REAL(d, double)

static void combine_z(double *c, const double *sums, const double *alpha, const double *beta,
                      int64_t n) {
    for (int64_t i = 0; i < n; i++, c += 2) {
        const double *s = sums + 2 * i;
        double re = 0, im = 0;
        if (sums != NULL)
            re = alpha[0] * s[0] - alpha[1] * s[1], im = alpha[0] * s[1] + alpha[1] * s[0];
        if (beta != NULL) {
            re += beta[0] * c[0] - beta[1] * c[1];
            im += beta[0] * c[1] + beta[1] * c[0];
        }
        c[0] = re, c[1] = im;
    }
}

/* Modulo 2^32. Sums are integers. */
static void combine_i(int32_t *c, const float *sums, int32_t alpha, int32_t beta, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const uint32_t product = sums == NULL ? 0 : (uint32_t)alpha * (uint32_t)(int32_t)sums[i];
        const uint32_t more = beta == 0 ? 0 : (uint32_t)beta * (uint32_t)c[i];
        c[i] = (int32_t)(product + more);
    }
}

/* A column of n elements. */
static void mixed_write_column(const ji_matmat_t *args, const char *sums, void *c, int64_t n) {
    const jdatatype_t type = args->head.type;
    const void *alpha = ji_scalar_data(&args->alpha);
    const void *beta = host_is_zero(type, &args->beta) ? NULL : ji_scalar_data(&args->beta);
    const ji_conversion_t widen = ji_conversion(type, args->c_type),
                          narrow = ji_conversion(args->c_type, type);
    _Alignas(64) char wide[MIXED_PIECE * sizeof(ji_value_t)];

    for (int64_t i = 0; i < n; i += MIXED_PIECE) {
        const int64_t count = ji_min(MIXED_PIECE, n - i);
        char *const at = (char *)c + (size_t)i * jdatatype_bytes(args->c_type);
        const void *sum = sums == NULL ? NULL : sums + (size_t)i * ji_sizeof(type);

        if (beta != NULL)
            widen(wide, 1, at, 1, count);
        switch (type) {
        case JDATATYPE_F32: combine_s((void *)wide, sum, alpha, beta, count); break;
        case JDATATYPE_F64: combine_d((void *)wide, sum, alpha, beta, count); break;
        default: combine_z((void *)wide, sum, alpha, beta, count); break;
        }
        narrow(at, 1, wide, 1, count);
    }
}

/* A block of C from its sums (NULL: of no terms), which are all of them, or of integers those of
 * the first or of another panel of the depth. */
static void mixed_write(const ji_matmat_t *args, const void *sums, int64_t rows, int64_t columns,
                        void *c, bool first) {
    const size_t c_bytes = (size_t)args->ldc * jdatatype_bytes(args->c_type),
                 sum_bytes = (size_t)rows * ji_sizeof(mixed_product_type(args->head.type));
    const char *sum = sums;

    for (int64_t j = 0; j < columns; j++) {
        char *const column = (char *)c + (size_t)j * c_bytes;
        if (args->head.type != JDATATYPE_I32)
            mixed_write_column(args, sum, column, rows);
        else
            combine_i((void *)column, (const void *)sum,
                      *(const int32_t *)ji_scalar_data(&args->alpha),
                      first ? *(const int32_t *)ji_scalar_data(&args->beta) : 1, rows);
        sum = sum == NULL ? NULL : sum + sum_bytes;
    }
}

/* ---- Products ---- */

/* All but what of C is written, and where the panels are. */
static ji_product_t mixed_product(const ji_matmat_t *args) {
    return (ji_product_t){.type = mixed_product_type(args->head.type),
                          .m = args->m,
                          .n = args->n,
                          .k = args->k,
                          .a = ji_operand_a(args->a_type, args->a, args->lda, args->transa),
                          .b = ji_operand_b(args->b_type, args->b, args->ldb, args->transb),
                          .threads = args->head.threads};
}

/* C is the product's. */
static void mixed_into_c(const ji_matmat_t *args) {
    if (ji_host_gemm_is_scaling(args))
        return;

    ji_product_t product = mixed_product(args);
    ji_read_scalar(args->head.type, &args->alpha, product.scalars.alpha);
    ji_read_scalar(args->head.type, &args->beta, product.scalars.beta);
    product.c = args->c, product.ldc = args->ldc;
    product.panels = args->panels, product.panel_bytes = args->panel_bytes;
    ji_product(&product);
}

/* One block of C, from (i, j) on: its sums, and their way into it. */
static void mixed_multiply(const ji_matmat_t *args, const ji_product_t *block, int64_t i, int64_t j,
                           void *c) {
    const int64_t depth = args->head.type == JDATATYPE_I32 ? MIXED_EXACT_DEPTH : args->k;

    for (int64_t step = 0; step < args->k; step += depth) {
        ji_product_t product = *block;
        product.k = ji_min(depth, args->k - step);
        product.a.data = (const char *)args->a + (i * block->a.line + step * block->a.step) *
                                                     (int64_t)jdatatype_bytes(args->a_type);
        product.b.data = (const char *)args->b + (j * block->b.line + step * block->b.step) *
                                                     (int64_t)jdatatype_bytes(args->b_type);
        ji_product(&product);
        mixed_write(args, product.c, product.m, product.n, c, step == 0);
    }
}

static bool mixed_multiplies(const ji_matmat_t *args) {
    if (args->head.type == JDATATYPE_I32)
        return args->k > 0 && *(const int32_t *)ji_scalar_data(&args->alpha) != 0;
    return args->k > 0 && !host_is_zero(args->head.type, &args->alpha);
}

/* C is not: block by block. */
static void mixed_by_blocks(const ji_matmat_t *args) {
    const ji_panel_bytes_t bytes = ji_mixed_bytes(args, args->head.threads.planned);
    const bool multiply = mixed_multiplies(args);
    ji_product_t product = mixed_product(args);
    product.scalars.alpha[0] = 1;

    _Alignas(64) char stack[MIXED_STACK_SUMS * sizeof(ji_value_t)];
    const bool on_stack = args->panels == NULL || args->panel_bytes < bytes.packed_small;
    const mixed_block_t size = on_stack                            ? mixed_in_place
                               : args->panel_bytes >= bytes.packed ? mixed_packed(product.type)
                                                                   : mixed_small;
    product.c = on_stack ? stack : args->panels;
    if (!on_stack) {
        const size_t sums_bytes = mixed_sums_bytes(product.type, size, args->m, args->n);
        product.panels = (char *)args->panels + sums_bytes;
        product.panel_bytes = args->panel_bytes - sums_bytes;
    }

    for (int64_t j = 0; j < args->n; j += size.columns)
        for (int64_t i = 0; i < args->m; i += size.rows) {
            char *const c =
                (char *)args->c + (size_t)(i + j * args->ldc) * jdatatype_bytes(args->c_type);
            product.m = product.ldc = ji_min(size.rows, args->m - i);
            product.n = ji_min(size.columns, args->n - j);
            if (multiply)
                mixed_multiply(args, &product, i, j, c);
            else
                mixed_write(args, NULL, product.m, product.n, c, true);
        }
}

void ji_host_gemm_ex(void *block) {
    const ji_matmat_t *args = block;
    if (mixed_writes_c(args))
        mixed_into_c(args);
    else
        mixed_by_blocks(args);
}

void ji_host_gemm_half(void *block) {
    ji_matmat_t args = *(const ji_matmat_t *)block;
    args.a_type = args.b_type = args.c_type = args.head.type;
    args.head.type = JDATATYPE_F32;
    mixed_by_blocks(&args);
}
