/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_LEVEL3_H
#define JALLOC_GPU_BLAS_LEVEL3_H

/* Products of matrices by kernels: the one kernel behind level 3 (level3.cu), 16-bit gemm and
 * gemm_ex (half.cu) and split precision where the vendor has none (precision.cu). It computes
 * C = alpha A B + beta C (product.h), and its users differ in what they say of the operands:
 *
 *   gemm          views of A and B; of 16-bit numbers, widened as they are read, and C narrowed as
 *                 it is written
 *   symm, hemm    one operand is read from a triangle; skewsymm as well
 *   gemmt         C is one triangle: tiles that lie in the other are not begun
 *   syrk, herk    so it is; and both operands are A
 *   herkx         A and B
 *   syr2k, her2k  A and B, and then B and A added to that; skewsyr2k as well
 *   batches       more tiles
 *
 * A block of threads takes tiles, counted through the whole batch, until there are none. Two sizes
 * of tile: the large ones read less memory for each product, the small ones are for products that
 * would leave most of a large tile, or of the machine, idle.
 *
 * Scalars may be on the device, so it is the kernel that sees whether they are 0 or 1: alpha 0
 * reads neither A nor B, beta 0 does not read C, and with alpha 0 and beta 1 nothing is touched. */

#include <type_traits>

#include "gpu/blas/blas.h"
#include "gpu/blas/product.h"

template <typename T> struct level3_tiles {
    typedef product_tile<T, 64, 4> large;
    typedef product_tile<T, 32, 4> small;
};
template <> struct level3_tiles<float> {
    typedef product_tile<float, 128, 8> large;
    typedef product_tile<float, 32, 4> small;
};

/* T is what is multiplied and added, STORED what A and B hold, RESULT what C holds; typed<T>: what
 * the call says. */
template <typename T, typename STORED = T, typename RESULT = T> struct level3_product {
    int64_t m, n, k;
    product_operand<STORED> a, b;
    typename stored_at<RESULT>::pointer c;
    int64_t ldc;
    ji_scalar_t alpha, beta;
    bool real_alpha, real_beta, conjugate_alpha, negate_alpha;
    bool hermitian;    /* the diagonal of C is real */
    bool strict;       /* C has none */
    jblas_uplo_t uplo; /* of C; 0: all of it */
    int64_t batch_count, stride_c;
    /* C of a batch by pointers; c is not used then. */
    const typename stored_at<RESULT>::pointer *array_c;
};

template <typename T>
static __device__ inline T level3_scalar(const ji_scalar_t &scalar, bool real) {
    return real ? make<T>(gpu_scalar<real_of<T>>(scalar)) : gpu_scalar<T>(scalar);
}

/* A real scalar must not multiply an infinite part by an imaginary 0. */
template <typename T> static __device__ inline T level3_scaled(T scalar, bool real, T value) {
    if constexpr (number<T>::is_complex)
        return real ? real_part(scalar) * value : scalar * value;
    else
        return scalar * value;
}

/* Whether any element of rows [row, row + size) and columns [column, column + size) is part of
 * C. */
static __device__ inline bool level3_is_part(jblas_uplo_t uplo, int64_t row, int64_t column,
                                             int64_t size) {
    if (uplo == JBLAS_UPPER)
        return row <= column + size - 1;
    return uplo != JBLAS_LOWER || column <= row + size - 1;
}

template <typename T, typename TILE, bool SYMMETRIC, typename STORED, typename RESULT>
static __global__ void __launch_bounds__(TILE::THREADS)
    level3_kernel(level3_product<T, STORED, RESULT> call) {
    alignas(16) __shared__ T shared[TILE::SHARED];
    const T given =
                conjugate_if(call.conjugate_alpha, level3_scalar<T>(call.alpha, call.real_alpha)),
            alpha = call.negate_alpha ? -given : given,
            beta = level3_scalar<T>(call.beta, call.real_beta);
    const bool product = call.k > 0 && !is_zero(alpha), read = !is_zero(beta);
    if (!product && beta == make<T>(1))
        return;

    const int across = (int)threadIdx.x % TILE::ACROSS, down = (int)threadIdx.x / TILE::ACROSS;
    const int64_t high = (call.m + TILE::SIDE - 1) / TILE::SIDE,
                  wide = (call.n + TILE::SIDE - 1) / TILE::SIDE;

    for (int64_t item = blockIdx.x; item < high * wide * call.batch_count; item += gridDim.x) {
        const int64_t matrix = item / (high * wide), tile = item % (high * wide);
        const int64_t top = tile % high * TILE::SIDE, left = tile / high * TILE::SIDE;
        if (!level3_is_part(call.uplo, top, left, TILE::SIDE))
            continue;

        T sum[TILE::EACH][TILE::EACH];
        product_clear<T, TILE::EACH>(sum);

        if (product) {
            product_loader<T, TILE, SYMMETRIC, STORED> a(call.a.of(matrix), top, call.m);
            product_loader<T, TILE, SYMMETRIC, STORED> b(call.b.of(matrix), left, call.n);
            product_accumulate<T, TILE>(shared, a, b, call.k, sum);
        }

        const typename stored_at<RESULT>::pointer c =
            call.array_c != nullptr ? call.array_c[matrix] : call.c + matrix * call.stride_c;
        GPU_UNROLL
        for (int j = 0; j < TILE::EACH; ++j) {
            const int64_t column = left + TILE::line(down, j);
            GPU_UNROLL
            for (int i = 0; i < TILE::EACH; ++i) {
                const int64_t row = top + TILE::line(across, i);
                if (row >= call.m || column >= call.n ||
                    !level3_is_part(call.uplo, row, column, 1) || (call.strict && row == column))
                    continue;

                const typename stored_at<RESULT>::pointer to = c + (row + column * call.ldc);
                T value = product ? level3_scaled(alpha, call.real_alpha, sum[j][i]) : make<T>(0);
                if (read)
                    value = value + level3_scaled(beta, call.real_beta, (T)widen(*to));
                narrow(call.hermitian && row == column ? make<T>(real_part(value)) : value, to);
            }
        }
    }
}

template <typename T, typename TILE, typename STORED, typename RESULT>
static jstatus_t level3_launch(const gpu_call_t *call,
                               const level3_product<T, STORED, RESULT> &product) {
    const unsigned blocks =
        gpu_blocks(TILE::count(product.m, product.n, product.batch_count), 1, GPU_GRID_MOST);

    if constexpr (std::is_same_v<T, STORED>) /* no routine reads a narrow triangle */
        if (product.a.symmetric || product.b.symmetric) {
            GPU_LAUNCH((level3_kernel<T, TILE, true, STORED, RESULT>), blocks, TILE::THREADS,
                       call->stream, product);
            return gpu_check_launch(call->device, "level3_kernel");
        }
    GPU_LAUNCH((level3_kernel<T, TILE, false, STORED, RESULT>), blocks, TILE::THREADS, call->stream,
               product);
    return gpu_check_launch(call->device, "level3_kernel");
}

template <typename T, typename STORED, typename RESULT>
static jstatus_t level3_run(const gpu_call_t *call,
                            const level3_product<T, STORED, RESULT> &product) {
    typedef typename level3_tiles<T>::large large;
    typedef typename level3_tiles<T>::small small;

    if (product.m <= 0 || product.n <= 0 || product.batch_count <= 0)
        return JSTATUS_SUCCESS;
    if (large::suits(call->device, product.m, product.n, product.batch_count))
        return level3_launch<T, large>(call, product);
    return level3_launch<T, small>(call, product);
}

/* ---- gemm ---- */

/* op(A) with its rows as lines. */
template <typename T>
static product_operand<T> level3_rows(product_operand<T> operand, int64_t lda,
                                      jblas_operation_t operation) {
    const bool plain = !ji_is_transposed(operation);
    operand.line = plain ? 1 : lda;
    operand.depth = plain ? lda : 1;
    operand.conjugate = ji_is_conjugated(operation);
    return operand;
}
template <typename T>
static product_operand<T> level3_a(const ji_matmat_t *args, jblas_operation_t operation) {
    return level3_rows(product_items<T>(&args->head, (const T *)args->a, args->batch.stride_a),
                       args->lda, operation);
}
template <typename T>
static product_operand<T> level3_b(const ji_matmat_t *args, jblas_operation_t operation) {
    return level3_rows(product_items<T>(&args->head, (const T *)args->b, args->batch.stride_b),
                       args->ldb, operation);
}

/* The same with its columns as lines. */
template <typename T> static product_operand<T> level3_turned(product_operand<T> operand) {
    const int64_t line = operand.line;
    operand.line = operand.depth;
    operand.depth = line;
    return operand;
}

template <typename T, typename STORED = T, typename RESULT = T>
static level3_product<T, STORED, RESULT> level3_product_of(const ji_matmat_t *args) {
    level3_product<T, STORED, RESULT> product = {};
    product.m = args->m, product.n = args->n, product.k = args->k;
    product.c = (RESULT *)args->c;
    product.ldc = args->ldc;
    product.alpha = args->alpha, product.beta = args->beta;
    product.batch_count = args->head.form == JI_FORM_PLAIN ? 1 : args->batch.count;
    if (args->head.form == JI_FORM_STRIDED)
        product.stride_c = args->batch.stride_c;
    if (args->head.form == JI_FORM_POINTERS)
        product.array_c = (RESULT *const *)args->c;
    return product;
}

template <typename T, typename STORED = T, typename RESULT = T>
static jstatus_t level3_gemm(const gpu_call_t *call, const ji_matmat_t *args, jblas_uplo_t uplo) {
    level3_product<T, STORED, RESULT> product = level3_product_of<T, STORED, RESULT>(args);

    product.a = level3_a<STORED>(args, args->transa);
    product.b = level3_turned(level3_b<STORED>(args, args->transb));
    if (uplo != 0) { /* of C, which is of order n */
        product.m = args->n;
        product.uplo = uplo;
    }
    return level3_run(call, product);
}

#endif
