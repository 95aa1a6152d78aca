/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What sgemm by split precision (../blas/gemm_split.c) is made of: how large the operands are, their parts, and
 * products of parts summed in float. Layouts stand in ../blas/precision.h. */

#include <stdlib.h>

#include "gpu/narrow.h"
#include "gpu/vendor_blas.h"

#define PRECISION_THREADS 256

static __device__ inline uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* The largest of all threads' values, for all of them. */
static __device__ inline uint32_t precision_largest(uint32_t *shared, uint32_t mine) {
    const int thread = (int)threadIdx.x;
    __syncthreads(); /* what stood there was read */
    shared[thread] = mine;
    __syncthreads();
    for (int half = PRECISION_THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            shared[thread] = larger(shared[thread], shared[thread + half]);
        __syncthreads();
    }
    return shared[0];
}

/* ---- How large ---- */

#define SCALE_ROWS 4096 /* of a column, at a time: a tall matrix of few columns keeps all blocks busy */

/* blockIdx.y: which operand. Bits of positive floats are in the order of the floats. */
static __global__ void __launch_bounds__(PRECISION_THREADS) split_scale_kernel(ji_split_scale_t call) {
    __shared__ uint32_t shared[PRECISION_THREADS];
    const int which = (int)blockIdx.y;
    const int64_t rows = call.rows[which], pieces = (rows + SCALE_ROWS - 1) / SCALE_ROWS;
    uint32_t largest = 0;
    if (gpu_scalar<float>(call.alpha) != 0)
        for (int64_t item = blockIdx.x; item < pieces * call.columns[which]; item += gridDim.x) {
            const int64_t first = item % pieces * SCALE_ROWS, column = item / pieces;
            const int64_t end = first + SCALE_ROWS < rows ? first + SCALE_ROWS : rows;
            const float *x = (const float *)call.matrix[which] + column * call.ld[which];
            for (int64_t i = first + threadIdx.x; i < end; i += PRECISION_THREADS) {
                const uint32_t bits = jalloc_f32_bits_(x[i]) & 0x7fffffffu;
                largest = larger(largest, bits < 0x7f800000u ? bits : 0);
            }
        }
    largest = precision_largest(shared, largest);
    if (threadIdx.x == 0)
        call.scratch->largest[which][blockIdx.x] = largest;
}

jstatus_t gpu_split_scale(const gpu_call_t *call, const void *block) {
    const ji_split_scale_t *args = (const ji_split_scale_t *)block;
    GPU_LAUNCH((split_scale_kernel), dim3(JI_SPLIT_MAXIMA, 2, 1), PRECISION_THREADS, call->stream, *args);
    return gpu_check_launch(call->device, "split_scale_kernel");
}

/* ---- Parts ---- */

#define SPLIT_LINES 32
#define SPLIT_DEPTH 64 /* two for each of 32 threads */

/* The power of two for an operand. None while its largest element is within 2^40 of 1: then no part of an element down
 * to 2^-100 underflows, and 2^40 squared, a million times, does not overflow. */
static __device__ inline int split_shift(uint32_t largest) {
    const int exponent = (int)(largest >> 23) - 127;
    if (largest == 0 || (exponent >= -40 && exponent <= 40))
        return 0;
    return exponent > 126 ? -126 : -exponent;
}

/* 2^exponent for -126 .. 127. */
static __device__ inline float split_power(int exponent) {
    return jalloc_f32_of_bits_((uint32_t)(exponent + 127) << 23);
}

/* All threads of the block call it. */
static __device__ inline int split_shift_of(const ji_split_scratch_t *scratch, int operand, uint32_t *shared) {
    static_assert(JI_SPLIT_MAXIMA == PRECISION_THREADS, "one for each thread");
    return split_shift(precision_largest(shared, scratch->largest[operand][threadIdx.x]));
}

/* Parts of x, the largest first. What is not finite has one part alone: the others would be NaN. */
static __device__ inline void split_parts(float x, jbfloat16_t (&part)[3]) {
    const bool finite = (jalloc_f32_bits_(x) & 0x7f800000u) != 0x7f800000u;
    for (int i = 0; i < 3; ++i) {
        part[i] = jalloc_bf16_from_f32(x);
        x = finite ? x - jalloc_f32_from_bf16(part[i]) : 0.0f; /* exact */
    }
}
static __device__ inline void split_parts(float x, float (&part)[3]) {
    const uint32_t bits = jalloc_f32_bits_(x);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    part[0] = finite ? jalloc_f32_of_bits_(tf32_round(bits)) : x;
    part[1] = finite ? jalloc_f32_of_bits_(tf32_round(jalloc_f32_bits_(x - part[0]))) : 0.0f;
    part[2] = 0.0f;
}

/* Two neighbours along the depth, stored at once. */
template <typename PART> struct alignas(2 * sizeof(PART)) split_pair { PART at[2]; };

/* A block takes tiles of 32 lines x 64 of the depth. It reads them along whichever lies in memory one after the other,
 * and writes along the depth; between the two they stand in shared memory, whose rows are one longer, so that neither
 * way makes threads want one bank. */
template <typename PART>
static __global__ void __launch_bounds__(PRECISION_THREADS)
    split_kernel(ji_split_precision_t call, ji_split_form_t form) {
    __shared__ float tile[SPLIT_LINES][SPLIT_DEPTH + 1];
    __shared__ uint32_t shared[PRECISION_THREADS];
    const int thread = (int)threadIdx.x;
    const float alpha = gpu_scalar<float>(call.alpha);
    const int shift = split_shift_of(call.scratch, call.operand, shared);
    if (call.operand == 0 && blockIdx.x == 0) { /* the whole block */
        const int other = split_shift_of(call.scratch, 1, shared);
        if (thread == 0) {
            /* In double, where nothing overflows; too large for a float becomes the largest, as infinity times an
             * exact 0 would be NaN. */
            const int down = -(shift + other);
            const double scale = down < -126  ? (double)split_power(down / 2) * split_power(down - down / 2)
                                 : down > 127 ? (double)split_power(127) * split_power(down - 127)
                                              : split_power(down);
            const double product = alpha * scale, most = 3.4028234663852886e38, least = 1.4012984643248171e-45;
            const bool finite = (jalloc_f32_bits_(alpha) & 0x7f800000u) != 0x7f800000u;
            /* Nobody says what a vendor's product does with an alpha of 0: the parts are 0 then, and alpha is 1. One
             * that is too small for a float is the least. */
            call.scratch->alpha = alpha == 0                        ? 1.0f
                                  : !finite                         ? alpha
                                  : product > most                  ? (float)most
                                  : product < -most                 ? (float)-most
                                  : product < least && product > 0  ? (float)least
                                  : product > -least && product < 0 ? (float)-least
                                                                    : (float)product;
            call.scratch->beta = gpu_scalar<float>(call.beta);
            call.scratch->one = 1;
        }
    }
    const float scale = split_power(shift);
    const bool along = call.at_step == 1;
    const int64_t panels = (call.depth + call.panel - 1) / call.panel;
    const int64_t down = (call.panel + SPLIT_DEPTH - 1) / SPLIT_DEPTH; /* tiles in a panel's depth */
    const int64_t across = (call.lines + SPLIT_LINES - 1) / SPLIT_LINES, line_parts = call.panel * form.products;
    for (int64_t item = blockIdx.x; item < panels * down * across; item += gridDim.x) {
        const int64_t panel = item / (down * across), first_line = item / down % across * SPLIT_LINES;
        const int64_t first = item % down * SPLIT_DEPTH; /* in the panel */
        __syncthreads();                                 /* the tile of before was written out */
        for (int i = 0; i < SPLIT_LINES * SPLIT_DEPTH / PRECISION_THREADS; ++i) {
            const int at = along ? thread % SPLIT_DEPTH : thread / SPLIT_LINES + i * (PRECISION_THREADS / SPLIT_LINES);
            const int line =
                along ? thread / SPLIT_DEPTH + i * (PRECISION_THREADS / SPLIT_DEPTH) : thread % SPLIT_LINES;
            const int64_t l = first_line + line, p = panel * call.panel + first + at;
            const bool there = l < call.lines && first + at < call.panel && p < call.depth && alpha != 0;
            tile[line][at] = there ? ((const float *)call.matrix)[l * call.line_step + p * call.at_step] * scale : 0.0f;
        }
        __syncthreads();
        const int pair = thread % (SPLIT_DEPTH / 2);
        if (first + 2 * pair >= call.panel) /* panels are even */
            continue;
        for (int line = thread / (SPLIT_DEPTH / 2); line < SPLIT_LINES && first_line + line < call.lines;
             line += PRECISION_THREADS / (SPLIT_DEPTH / 2)) {
            PART low[3], high[3];
            split_parts(tile[line][2 * pair], low);
            split_parts(tile[line][2 * pair + 1], high);
            PART *to = (PART *)call.parts + (panel * call.lines + first_line + line) * line_parts + first + 2 * pair;
            for (int product = 0; product < form.products; ++product, to += call.panel) {
                const int part = form.part[call.operand][product];
                split_pair<PART> both; /* chosen, not indexed: registers have no addresses */
                both.at[0] = part == 0 ? low[0] : part == 1 ? low[1] : low[2];
                both.at[1] = part == 0 ? high[0] : part == 1 ? high[1] : high[2];
                *(split_pair<PART> *)to = both;
            }
        }
    }
}

#define SPLIT_MOST_BLOCKS 65535

jstatus_t gpu_split_precision(const gpu_call_t *call, const void *block) {
    const ji_split_precision_t *args = (const ji_split_precision_t *)block;
    const ji_split_form_t form = *ji_split_form(args->way);
    const int64_t panels = (args->depth + args->panel - 1) / args->panel;
    const int64_t tiles =
        panels * ((args->panel + SPLIT_DEPTH - 1) / SPLIT_DEPTH) * ((args->lines + SPLIT_LINES - 1) / SPLIT_LINES);
    const unsigned blocks = gpu_blocks(tiles, 1, SPLIT_MOST_BLOCKS);
    if (form.type == JDATATYPE_BF16)
        GPU_LAUNCH((split_kernel<jbfloat16_t>), blocks, PRECISION_THREADS, call->stream, *args, form);
    else
        GPU_LAUNCH((split_kernel<float>), blocks, PRECISION_THREADS, call->stream, *args, form);
    return gpu_check_launch(call->device, "split_kernel");
}

/* ---- Products of parts ---- */

jstatus_t gpu_gemm_mixed(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    const bool bf16 = args->head.type == JDATATYPE_BF16;
    const jstatus_t status = gpu_vendor_gemm_ex(call, args, bf16 ? GPU_NARROW_BF16 : GPU_NARROW_TF32, false);
    if (status != JSTATUS_NOT_IMPLEMENTED)
        return status;
    return bf16 ? narrow_gemm<jbfloat16_t, float>(call, args) : narrow_gemm<tf32, float>(call, args);
}

/* ---- Where it pays ---- */

/* Not measured on a GPU yet. On an H200 six products of bfloat16 have 2.5 times the peak of float; splitting and adding
 * panels to C take back some of it, the more the smaller the matrices. On AMD's (MI250: bfloat16 8 times the vector
 * rate of float, but 4 times that of its own float matrix units) it does not pay. */
void gpu_split_tuning(ji_tuning_t *tuning) {
    tuning->split_least = GPU_KIND == JDEVICE_CUDA ? 2048 : INT64_MAX;
    tuning->split_k_panel = 512;
    tuning->split_panels = 4;
    tuning->split_way = JI_SPLIT_BF16X6;
    tuning->split_by_kernels = false;
}

bool gpu_has_mixed(jdevice_t *device) {
    int major = 0; /* of "sm_90", "sm_100": bfloat16 units came with 8 */
    const char *digits = strchr(gpu_device(device)->properties.architecture, '_');
    if (GPU_KIND == JDEVICE_CUDA && digits != nullptr)
        major = atoi(digits + 1) / 10;
    if (major < 8)
        return false;
    gpu_current current(device);
    return current.status == JSTATUS_SUCCESS && gpu_vendor_blas_name(gpu_device(device)) != nullptr;
}
