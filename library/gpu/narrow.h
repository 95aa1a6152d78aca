/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_NARROW_H
#define JALLOC_GPU_NARROW_H

/* Products of numbers narrower than float, without matrix units: the product of product.h, whose operands are widened
 * on their way into shared memory and whose result is rounded once, when it is written. */

#include "blas/precision.h"
#include "gpu/blas.h"
#include "gpu/product.h"

/* To float and back, by the processor's instructions where there are. */
#if defined(JALLOC_GPU_FAKE)
static inline float widen(jfloat16_t x) { return jalloc_f32_from_f16(x); }
static inline void narrow(float x, jfloat16_t *to) { *to = jalloc_f16_from_f32(x); }
#else
static __device__ inline float widen(jfloat16_t x) { return __half2float(__ushort_as_half(x.bits)); }
static __device__ inline void narrow(float x, jfloat16_t *to) { to->bits = __half_as_ushort(__float2half_rn(x)); }
#endif
static __device__ inline float widen(jbfloat16_t x) { return jalloc_f32_from_bf16(x); }
static __device__ inline float widen(float x) { return x; }
static __device__ inline void narrow(float x, jbfloat16_t *to) { *to = jalloc_bf16_from_f32(x); }
static __device__ inline void narrow(float x, float *to) { *to = x; }

template <typename IN, typename OUT> struct narrow_product {
    int64_t m, n, k;
    const IN *a, *b;
    int64_t a_line, a_depth, b_line,
        b_depth; /* strides, elements; lines of A are rows of op(A), of B columns of op(B) */
    OUT *c;
    int64_t ldc;
    ji_scalar_t alpha, beta; /* float */
};

/* As product_loader, from another type. */
template <typename IN, typename TILE> struct narrow_loader {
    const IN *data; /* this thread's first, of the slice that comes next */
    int64_t step, slice_step;
    int lines; /* that there are, of the tile's */
    int line, at, line_step, at_step;
    float next[TILE::LOADS];

    __device__ inline narrow_loader(const IN *matrix, int64_t line_stride, int64_t depth_stride, int64_t first_line,
                                    int64_t line_count)
        : lines(line_count - first_line < TILE::SIDE ? (int)(line_count - first_line) : TILE::SIDE) {
        const bool along_lines = line_stride == 1; /* neighbouring threads bring neighbouring lines, or depths */
        const int thread = (int)threadIdx.x;
        line = along_lines ? thread % TILE::SIDE : thread / TILE::DEPTH;
        at = along_lines ? thread / TILE::SIDE : thread % TILE::DEPTH;
        line_step = along_lines ? 0 : TILE::THREADS / TILE::DEPTH;
        at_step = along_lines ? TILE::THREADS / TILE::SIDE : 0;
        data = matrix + ((first_line + line) * line_stride + at * depth_stride);
        step = line_step * line_stride + at_step * depth_stride;
        slice_step = TILE::DEPTH * depth_stride;
    }
    /* Slices come one after the other; `left` of the depth are there. */
    __device__ inline void fetch(int64_t, int64_t left) {
        GPU_UNROLL
        for (int i = 0; i < TILE::LOADS; ++i)
            next[i] = line + i * line_step < lines && at + i * at_step < left ? widen(data[i * step]) : 0.0f;
        data += slice_step;
    }
    __device__ inline void put(float *slice) const {
        GPU_UNROLL
        for (int i = 0; i < TILE::LOADS; ++i)
            slice[(at + i * at_step) * TILE::ROW + line + i * line_step] = next[i];
    }
};

template <typename IN, typename OUT, typename TILE>
static __global__ void __launch_bounds__(TILE::THREADS) narrow_kernel(narrow_product<IN, OUT> call) {
    alignas(16) __shared__ float shared[TILE::SHARED];
    const float alpha = gpu_scalar<float>(call.alpha), beta = gpu_scalar<float>(call.beta);
    const bool product = call.k > 0 && alpha != 0;
    const int across = (int)threadIdx.x % TILE::ACROSS, down = (int)threadIdx.x / TILE::ACROSS;
    const int64_t high = (call.m + TILE::SIDE - 1) / TILE::SIDE, wide = (call.n + TILE::SIDE - 1) / TILE::SIDE;
    for (int64_t tile = blockIdx.x; tile < high * wide; tile += gridDim.x) {
        const int64_t top = tile % high * TILE::SIDE, left = tile / high * TILE::SIDE;
        float sum[TILE::EACH][TILE::EACH];
        product_clear<float, TILE::EACH>(sum);
        if (product) {
            narrow_loader<IN, TILE> a(call.a, call.a_line, call.a_depth, top, call.m);
            narrow_loader<IN, TILE> b(call.b, call.b_line, call.b_depth, left, call.n);
            product_accumulate<float, TILE>(shared, a, b, call.k, sum);
        }
        GPU_UNROLL
        for (int j = 0; j < TILE::EACH; ++j) {
            const int64_t column = left + TILE::line(down, j);
            GPU_UNROLL
            for (int i = 0; i < TILE::EACH; ++i) {
                const int64_t row = top + TILE::line(across, i);
                if (row >= call.m || column >= call.n)
                    continue;
                OUT *to = call.c + row + column * call.ldc;
                float value = product ? alpha * sum[j][i] : 0.0f;
                if (beta != 0)
                    value += beta * widen(*to);
                narrow(value, to);
            }
        }
    }
}

/* With fewer large tiles than this, small ones: about the number of multiprocessors of today's large GPUs. Not measured
 * on one yet. */
#define NARROW_ENOUGH_TILES 128
#define NARROW_MOST_BLOCKS 65535

/* C = alpha op(A) op(B) + beta C by kernels. */
template <typename IN, typename OUT> static jstatus_t narrow_gemm(const gpu_call_t *call, const ji_matmat_t *args) {
    typedef product_tile<float, 128, 8> large;
    typedef product_tile<float, 32, 4> small;
    const bool flat_a = args->transa == JBLAS_NO_TRANSPOSE, flat_b = args->transb == JBLAS_NO_TRANSPOSE;
    narrow_product<IN, OUT> product = {};
    product.m = args->m;
    product.n = args->n;
    product.k = args->k;
    product.a = (const IN *)args->a;
    product.b = (const IN *)args->b;
    product.a_line = flat_a ? 1 : args->lda;
    product.a_depth = flat_a ? args->lda : 1;
    product.b_line = flat_b ? args->ldb : 1;
    product.b_depth = flat_b ? 1 : args->ldb;
    product.c = (OUT *)args->c;
    product.ldc = args->ldc;
    product.alpha = args->alpha;
    product.beta = args->beta;
    const int64_t large_tiles = ((args->m - 1) / large::SIDE + 1) * ((args->n - 1) / large::SIDE + 1);
    const int64_t small_tiles = ((args->m - 1) / small::SIDE + 1) * ((args->n - 1) / small::SIDE + 1);
    if (large_tiles >= NARROW_ENOUGH_TILES)
        GPU_LAUNCH((narrow_kernel<IN, OUT, large>), gpu_blocks(large_tiles, 1, NARROW_MOST_BLOCKS), large::THREADS,
                   call->stream, product);
    else
        GPU_LAUNCH((narrow_kernel<IN, OUT, small>), gpu_blocks(small_tiles, 1, NARROW_MOST_BLOCKS), small::THREADS,
                   call->stream, product);
    return gpu_check_launch(call->device, "narrow_kernel");
}

#endif
