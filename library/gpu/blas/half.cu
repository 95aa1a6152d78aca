/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm of 16-bit numbers, summed in float: the vendor's on its matrix units, jalloc's kernels where
 * it has none. And gemm whose types are arguments: what is that product, or the same with a C of
 * floats, goes the same way, and all else is a kernel that learns the types when it runs.
 *
 * An alpha on the device may be 0, and then NaN in A and B must not reach C, which the vendor does
 * not promise: so that is ours as well, as for the other types. */

#include "blas/primitives/precision.h"
#include "gpu/blas/level3.h"
#include "gpu/blas/vendor_blas.h"

static bool half_is_known(const ji_matmat_t *args) {
    return args->head.form == JI_FORM_PLAIN && args->k > 0 && args->alpha.pointer == nullptr &&
           args->alpha.value.s != 0;
}

jstatus_t gpu_gemm_half(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    const bool f16 = args->head.type == JDATATYPE_F16;
    if (half_is_known(args)) {
        const jstatus_t status =
            gpu_vendor_gemm_ex(call, args, f16 ? GPU_NARROW_F16 : GPU_NARROW_BF16, true);
        if (status != JSTATUS_NOT_IMPLEMENTED)
            return status;
    }
    const jblas_uplo_t all = (jblas_uplo_t)0;
    return f16 ? level3_gemm<float, jfloat16_t, jfloat16_t>(call, args, all)
               : level3_gemm<float, jbfloat16_t, jbfloat16_t>(call, args, all);
}

/* ---- gemm_ex ---- */

template <typename T>
static product_operand<typed<T>> half_operand(const void *data, jdatatype_t type, int64_t ld,
                                              jblas_operation_t operation) {
    product_operand<typed<T>> operand = {};
    operand.data = typed_at<T>(data, type);
    return level3_rows(operand, ld, operation);
}

template <typename T>
static jstatus_t half_gemm_typed(const gpu_call_t *call, const ji_matmat_t *args) {
    level3_product<T, typed<T>, typed<T>> product = {};
    product.m = args->m, product.n = args->n, product.k = args->k;
    product.a = half_operand<T>(args->a, args->a_type, args->lda, args->transa);
    product.b = level3_turned(half_operand<T>(args->b, args->b_type, args->ldb, args->transb));
    product.c = typed_at<T>(args->c, args->c_type);
    product.ldc = args->ldc;
    product.alpha = args->alpha, product.beta = args->beta;
    product.batch_count = 1;
    return level3_run(call, product);
}

jstatus_t gpu_gemm_ex(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    const bool is_half = args->head.type == JDATATYPE_F32 && ji_is_half(args->a_type) &&
                         args->b_type == args->a_type;

    if (is_half && args->c_type == args->a_type) {
        ji_matmat_t half = *args;
        half.head.type = args->a_type;
        return gpu_gemm_half(call, &half);
    }
    if (is_half && args->c_type == JDATATYPE_F32 && half_is_known(args)) {
        const bool f16 = args->a_type == JDATATYPE_F16;
        const jstatus_t status =
            gpu_vendor_gemm_ex(call, args, f16 ? GPU_NARROW_F16 : GPU_NARROW_BF16, false);
        if (status != JSTATUS_NOT_IMPLEMENTED)
            return status;
    }

    if (args->head.type == JDATATYPE_I32)
        return half_gemm_typed<gpu_integer_t>(call, args);
    GPU_BY_TYPE(args->head.type, return half_gemm_typed<T>(call, args));
    return JSTATUS_INTERNAL_ERROR;
}
