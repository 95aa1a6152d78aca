/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 3 by products: gemm and its batched forms, gemmt, symm, hemm, syrk, herk, herkx, syr2k,
 * her2k, and skewsymm and skewsyr2k. What each says of its operands to the kernel of level3.h. */

#include "gpu/blas/level3.h"

/* The primitive says what the block is; its head does not. */
template <typename T>
static jstatus_t level3_batch(const gpu_call_t *call, const ji_matmat_t *args, ji_form_t form) {
    ji_matmat_t all = *args;
    all.head.form = (int16_t)form;
    return level3_gemm<T>(call, &all, (jblas_uplo_t)0);
}

template <typename T>
static jstatus_t level3_symm(const gpu_call_t *call, const ji_matmat_t *args,
                             ji_symmetry_t symmetry) {
    level3_product<T> product = level3_product_of<T>(args);
    const bool left = args->side == JBLAS_LEFT, lower = args->uplo == JBLAS_LOWER;

    /* The strides of elements with line >= depth: where they are stored themselves, or the mirrored
     * ones. */
    product_operand<T> symmetric = level3_a<T>(args, lower ? JBLAS_NO_TRANSPOSE : JBLAS_TRANSPOSE);
    symmetric.symmetric = true;
    symmetric.hermitian = symmetry == JI_HERMITIAN;
    symmetric.skew = symmetry == JI_SKEW_SYMMETRIC;
    /* As a column of the product a line of A is its conjugate, or its negative. */
    symmetric.conjugate = symmetry != JI_SYMMETRIC && lower != left;

    product.k = left ? args->m : args->n;
    const product_operand<T> b = level3_b<T>(args, JBLAS_NO_TRANSPOSE);
    product.a = left ? symmetric : b;
    product.b = left ? level3_turned(b) : symmetric;
    return level3_run(call, product);
}

template <typename T>
static jstatus_t level3_syrk(const gpu_call_t *call, const ji_matmat_t *args, bool hermitian) {
    level3_product<T> product = level3_product_of<T>(args);
    product.m = args->n;
    product.a = product.b = level3_a<T>(args, args->transa);

    if (hermitian)
        product.b.conjugate = !product.a.conjugate;
    else
        product.a.conjugate = product.b.conjugate = false;
    product.hermitian = product.real_alpha = product.real_beta = hermitian;
    product.uplo = args->uplo;

    return level3_run(call, product);
}

/* op(A) op(B)^T, or with the conjugate transpose, on one triangle. */
template <typename T>
static level3_product<T> level3_syr2k_first(const ji_matmat_t *args, ji_symmetry_t symmetry) {
    const bool hermitian = symmetry == JI_HERMITIAN;
    level3_product<T> product = level3_product_of<T>(args);
    product.m = args->n;
    product.a = level3_a<T>(args, args->trans);
    product.b = level3_b<T>(args, args->trans);
    product.a.conjugate = hermitian && args->trans == JBLAS_CONJUGATE_TRANSPOSE;
    product.b.conjugate = hermitian && !product.a.conjugate;
    product.hermitian = product.real_beta = hermitian;
    product.strict = product.negate_alpha = symmetry == JI_SKEW_SYMMETRIC;
    product.uplo = args->uplo;
    return product;
}

template <typename T>
static jstatus_t level3_herkx(const gpu_call_t *call, const ji_matmat_t *args,
                              ji_symmetry_t symmetry) {
    return level3_run(call, level3_syr2k_first<T>(args, symmetry));
}

template <typename T>
static jstatus_t level3_syr2k(const gpu_call_t *call, const ji_matmat_t *args,
                              ji_symmetry_t symmetry) {
    const bool hermitian = symmetry == JI_HERMITIAN;
    level3_product<T> product = level3_syr2k_first<T>(args, symmetry);

    jstatus_t status = level3_run(call, product);
    if (status != JSTATUS_SUCCESS || args->k == 0)
        return status;

    const product_operand<T> first = product.a;
    product.a = product.b, product.b = first;
    product.b.conjugate = product.a.conjugate, product.a.conjugate = first.conjugate;
    product.conjugate_alpha = hermitian;
    product.negate_alpha = false;
    product.beta = ji_constant(hermitian ? ji_real_of(args->head.type) : args->head.type, 1);
    return level3_run(call, product);
}

#define LEVEL3(function, run, how)                                                                 \
    jstatus_t gpu_##function(const gpu_call_t *call, const void *block) {                          \
        const ji_matmat_t *args = (const ji_matmat_t *)block;                                      \
        jstatus_t status;                                                                          \
        GPU_BY_TYPE(args->head.type, status = run<T>(call, args, how))                             \
        return status;                                                                             \
    }
LEVEL3(gemm, level3_gemm, (jblas_uplo_t)0)
LEVEL3(gemmt, level3_gemm, args->uplo)
LEVEL3(gemm_batched, level3_batch, JI_FORM_POINTERS)
LEVEL3(gemm_strided, level3_batch, JI_FORM_STRIDED)
LEVEL3(symm, level3_symm, JI_SYMMETRIC)
LEVEL3(hemm, level3_symm, JI_HERMITIAN)
LEVEL3(skewsymm, level3_symm, JI_SKEW_SYMMETRIC)
LEVEL3(syrk, level3_syrk, false)
LEVEL3(herk, level3_syrk, true)
LEVEL3(herkx, level3_herkx, JI_HERMITIAN)
LEVEL3(syr2k, level3_syr2k, JI_SYMMETRIC)
LEVEL3(her2k, level3_syr2k, JI_HERMITIAN)
LEVEL3(skewsyr2k, level3_syr2k, JI_SKEW_SYMMETRIC)
