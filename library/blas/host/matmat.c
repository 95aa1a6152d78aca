/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 3 on the host: each routine is a choice of operands, and of what is written of C
 * (product.h). Where nothing is read, C is scaled (scale.h). */

#include "blas/host/product.h"
#include "blas/host/scale.h"

/* What every product takes from its block; alpha and beta are of these types. */
static ji_product_t product_of(const ji_matmat_t *args, jdatatype_t alpha_type,
                               jdatatype_t beta_type) {
    ji_product_t product = {.type = args->head.type,
                            .m = args->m,
                            .n = args->n,
                            .k = args->k,
                            .c = args->c,
                            .ldc = args->ldc,
                            .threads = args->head.threads,
                            .panels = args->panels,
                            .panel_bytes = args->panel_bytes};

    ji_read_scalar(alpha_type, &args->alpha, product.scalars.alpha);
    ji_read_scalar(beta_type, &args->beta, product.scalars.beta);
    return product;
}

/* A triangle of C, n x n. */
static ji_product_t triangle_of(const ji_matmat_t *args, jdatatype_t alpha_type,
                                jdatatype_t beta_type) {
    ji_product_t product = product_of(args, alpha_type, beta_type);
    product.m = args->n;
    product.written = args->uplo == JBLAS_LOWER ? JI_WRITTEN_LOWER : JI_WRITTEN_UPPER;
    return product;
}

/* A strip of A after the other, copied. Not inlined, lest others make room for the strip. */
static __attribute__((noinline)) void gemm_strips(const ji_matmat_t *args) {
    const jdatatype_t type = args->head.type;
    const ji_product_kernels_t *kernels = ji_kernels->product[type];
    const bool transposed = ji_is_transposed(args->transa);
    const int64_t line = transposed ? args->lda : 1, step = transposed ? 1 : args->lda;
    _Alignas(64) char strip[JI_PRODUCT_STRIP_BYTES];
    ji_product_direct_t direct;

    ji_gemm_direct(args, &direct);
    direct.a.at = strip, direct.a_step = kernels->rows;
    for (int64_t i = 0; i < args->m; i += kernels->rows) {
        direct.m = ji_min(kernels->rows, args->m - i);
        direct.c.at = ji_at(type, args->c, i, 0, args->ldc);
        kernels->pack_a(strip, ji_at(type, args->a, 0, i, line), line, step, (int)direct.m, args->k,
                        ji_is_conjugated(args->transa), false);
        ji_kernels->batch[type]->product(&direct);
    }
}

/* The shortest way for the smallest products: one panel of the depth, in place, one thread. The
 * same as ji_product() makes of it. */
static void gemm_small(const ji_matmat_t *args) {
    if (args->transa != JBLAS_NO_TRANSPOSE) {
        gemm_strips(args);
        return;
    }

    ji_product_direct_t direct;
    ji_gemm_direct(args, &direct);
    ji_kernels->batch[args->head.type]->product(&direct);
}

/* op(A) and op(B). */
static void take_operands(ji_product_t *product, const ji_matmat_t *args) {
    product->a = ji_operand_a(product->type, args->a, args->lda, args->transa);
    product->b = ji_operand_b(product->type, args->b, args->ldb, args->transb);
}

ji_product_t ji_gemm_product(const ji_matmat_t *args) {
    ji_product_t product = product_of(args, args->head.type, args->head.type);
    take_operands(&product, args);
    return product;
}

void ji_host_gemm(void *block) {
    const ji_matmat_t *args = block;
    if (ji_host_gemm_is_scaling(args))
        return;

    if (ji_gemm_is_small(args)) {
        gemm_small(args);
        return;
    }

    const ji_product_t product = ji_gemm_product(args);
    ji_product(&product);
}

void ji_host_gemmt(void *block) {
    const ji_matmat_t *args = block;
    if (ji_host_syrk_is_scaling(args))
        return;

    ji_product_t product = triangle_of(args, args->head.type, args->head.type);
    take_operands(&product, args);
    ji_product(&product);
}

/* ---- Symmetric operands ---- */

static void symmetric_product(const ji_matmat_t *args, ji_symmetry_t symmetry) {
    const jdatatype_t type = args->head.type;
    const bool left = args->side == JBLAS_LEFT;
    if (ji_host_symm_is_scaling(args))
        return;

    /* A's columns are its lines on the right, so its triangle is the other one. */
    ji_product_t product = product_of(args, type, type);
    product.k = left ? args->m : args->n;
    ji_operand_t symmetric = left ? ji_operand_a(type, args->a, args->lda, JBLAS_NO_TRANSPOSE)
                                  : ji_operand_b(type, args->a, args->lda, JBLAS_NO_TRANSPOSE);
    symmetric.kind = JI_OPERAND_SYMMETRIC;
    symmetric.lower = (args->uplo == JBLAS_LOWER) == left;
    symmetric.symmetry = symmetry;

    product.a = left ? symmetric : ji_operand_a(type, args->b, args->ldb, JBLAS_NO_TRANSPOSE);
    product.b = left ? ji_operand_b(type, args->b, args->ldb, JBLAS_NO_TRANSPOSE) : symmetric;
    ji_product(&product);
}

void ji_host_symm(void *block) { symmetric_product(block, JI_SYMMETRIC); }
void ji_host_hemm(void *block) { symmetric_product(block, JI_HERMITIAN); }
void ji_host_skewsymm(void *block) { symmetric_product(block, JI_SKEW_SYMMETRIC); }

/* ---- Symmetric results ---- */

/* op(X) op(Y)^T, or with the conjugate transpose. */
static void rank_k(ji_product_t *product, const ji_matmat_t *args, const void *x, int64_t ldx,
                   const void *y, int64_t ldy, bool hermitian) {
    product->a = ji_operand_a(product->type, x, ldx, args->trans);
    product->b =
        ji_operand_b(product->type, y, ldy, ji_operation_of_second(args->trans, hermitian));
    ji_product(product);
}

void ji_host_syrk(void *block) {
    const ji_matmat_t *args = block;
    if (ji_host_syrk_is_scaling(args))
        return;

    ji_product_t product = triangle_of(args, args->head.type, args->head.type);
    rank_k(&product, args, args->a, args->lda, args->a, args->lda, false);
}

void ji_host_herk(void *block) {
    const ji_matmat_t *args = block;
    const jdatatype_t real = ji_real_of(args->head.type);
    if (ji_host_herk_is_scaling(args, real))
        return;

    ji_product_t product = triangle_of(args, real, real);
    rank_k(&product, args, args->a, args->lda, args->a, args->lda, true);
    ji_host_clear_diagonal(args);
}

void ji_host_herkx(void *block) {
    const ji_matmat_t *args = block;
    if (ji_host_herk_is_scaling(args, args->head.type))
        return;

    ji_product_t product = triangle_of(args, args->head.type, ji_real_of(args->head.type));
    rank_k(&product, args, args->a, args->lda, args->b, args->ldb, true);
    ji_host_clear_diagonal(args);
}

typedef struct pair {
    const void *a, *b;
} pair_t;

/* The second product, with A and B exchanged, is added to the first. What gives rows of C, and what
 * gives columns, is said apart. */
static void rank_2k(ji_product_t *product, const ji_matmat_t *args, pair_t rows, pair_t columns,
                    ji_symmetry_t symmetry) {
    const bool hermitian = symmetry == JI_HERMITIAN;
    double *const alpha = product->scalars.alpha;
    rank_k(product, args, rows.a, args->lda, columns.b, args->ldb, hermitian);

    if (hermitian)
        alpha[1] = -alpha[1];
    if (symmetry == JI_SKEW_SYMMETRIC)
        alpha[0] = -alpha[0];
    product->scalars.beta[0] = 1, product->scalars.beta[1] = 0;
    rank_k(product, args, rows.b, args->ldb, columns.a, args->lda, hermitian);
}

void ji_host_syr2k(void *block) {
    const ji_matmat_t *args = block;
    const pair_t operands = {args->a, args->b};
    if (ji_host_syrk_is_scaling(args))
        return;

    ji_product_t product = triangle_of(args, args->head.type, args->head.type);
    rank_2k(&product, args, operands, operands, JI_SYMMETRIC);
}

void ji_host_her2k(void *block) {
    const ji_matmat_t *args = block;
    const pair_t operands = {args->a, args->b};
    if (ji_host_herk_is_scaling(args, args->head.type))
        return;

    ji_product_t product = triangle_of(args, args->head.type, ji_real_of(args->head.type));
    rank_2k(&product, args, operands, operands, JI_HERMITIAN);
    ji_host_clear_diagonal(args);
}

/* A triangle without its diagonal is a whole one of order n - 1, whose rows, or columns where it is
 * the upper one, are C's from the second on. */
void ji_host_skewsyr2k(void *block) {
    const ji_matmat_t *args = block;
    const jdatatype_t type = args->head.type;
    const bool lower = args->uplo == JBLAS_LOWER, plain = args->trans == JBLAS_NO_TRANSPOSE;
    ji_matmat_t strict = *args;
    strict.n--, strict.c = ji_at(type, args->c, lower, !lower, args->ldc);
    if (strict.n == 0 || ji_host_syrk_is_scaling(&strict))
        return;

    const pair_t first = {args->a, args->b},
                 second = {ji_at(type, args->a, plain, !plain, args->lda),
                           ji_at(type, args->b, plain, !plain, args->ldb)};
    ji_product_t product = triangle_of(&strict, type, type);
    product.scalars.alpha[0] = -product.scalars.alpha[0];
    rank_2k(&product, args, lower ? second : first, lower ? first : second, JI_SKEW_SYMMETRIC);
}

/* ---- Triangular operands ---- */

void ji_host_trmm(void *block) {
    const ji_matmat_t *args = block;
    const jdatatype_t type = args->head.type;
    const bool left = args->side == JBLAS_LEFT, plain = !ji_is_transposed(args->transa);
    if (ji_host_trmm_is_scaling(args) || ji_host_trmm_by_strips(args))
        return;

    const ji_scalar_t zero = ji_constant(type, 0);
    ji_matmat_t in_place = *args;
    in_place.beta = zero, in_place.c = ji_unconst(args->b), in_place.ldc = args->ldb;
    in_place.k = left ? args->m : args->n;

    ji_product_t product = product_of(&in_place, type, type);
    ji_operand_t triangle = left ? ji_operand_a(type, args->a, args->lda, args->transa)
                                 : ji_operand_b(type, args->a, args->lda, args->transa);
    triangle.kind = JI_OPERAND_TRIANGULAR;
    triangle.lower = ((args->uplo == JBLAS_LOWER) == plain) == left;
    triangle.unit = args->diag == JBLAS_UNIT;

    product.a = left ? triangle : ji_operand_a(type, args->b, args->ldb, JBLAS_NO_TRANSPOSE);
    product.b = left ? ji_operand_b(type, args->b, args->ldb, JBLAS_NO_TRANSPOSE) : triangle;
    ji_product(&product);
}
