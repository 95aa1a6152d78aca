/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What sgemm by split precision (blas/algorithms/gemm_split.c) is made of: the shifts of an
 * operand's lines, its parts, products of parts summed in float, and the result. Layouts are in
 * blas/primitives/precision.h.
 *
 * The first two are bound by memory. Both read an operand in squares of 32 lines x 32 of the depth,
 * a thread four neighbours in memory, which are along the depth or across the lines; with one load
 * of 16 bytes where the operand lies so. */

#include <stdlib.h>

#include "blas/primitives/precision.h"
#include "gpu/blas/level3.h"
#include "gpu/blas/vector.h"
#include "gpu/blas/vendor_blas.h"

#define SPLIT_THREADS 256
#define SPLIT_SIDE 32
#define SPLIT_EACH 4
#define SPLIT_ACROSS (SPLIT_SIDE / SPLIT_EACH)
static_assert(SPLIT_ACROSS * SPLIT_SIDE == SPLIT_THREADS, "a square is one load of each thread");

typedef pack<float> split_four;
static_assert(split_four::width == SPLIT_EACH, "16 bytes");

/* Where a thread's four stand in a square: the first, and how to go on. */
struct split_position {
    int line, at, line_step, at_step;

    __device__ inline split_position(bool along) {
        const int four = (int)threadIdx.x % SPLIT_ACROSS * SPLIT_EACH,
                  other = (int)threadIdx.x / SPLIT_ACROSS;
        line = along ? other : four;
        at = along ? four : other;
        line_step = along ? 0 : 1;
        at_step = along ? 1 : 0;
    }
};

/* Reads an operand by squares. With an alpha of 0 it has no depth. */
struct split_reader {
    const float *data;
    int64_t lines, depth, line_step, at_step;
    bool along, together; /* the four are neighbours along the depth; may be read at once */
    split_position position;

    __device__ inline explicit split_reader(const ji_split_operand_t &call)
        : data((const float *)call.matrix), lines(call.lines),
          depth(gpu_scalar<float>(call.alpha) != 0 ? call.depth : 0), line_step(call.line_step),
          at_step(call.at_step), along(call.at_step == 1), position(along) {
        together = (uintptr_t)data % sizeof(split_four) == 0 &&
                   (along ? line_step : at_step) % SPLIT_EACH == 0;
    }

    /* This thread's of the square that begins at (line, at); zeros beyond the operand. */
    __device__ inline void read(int64_t line, int64_t at, split_four *four) const {
        line += position.line;
        at += position.at;
        const int64_t left = line >= lines || at >= depth ? 0 : along ? depth - at : lines - line;
        const float *from = data + (line * line_step + at * at_step);

        if (together && left >= SPLIT_EACH) {
            *four = *(const split_four *)from;
            return;
        }

        GPU_UNROLL
        for (int i = 0; i < SPLIT_EACH; ++i)
            four->e[i] = i < left ? from[i] : 0.0f;
    }
};

/* ---- How large the lines are ---- */

/* A block takes 32 lines, all of their depth. Bits of positive floats are in the order of the
 * floats; a line with what is not finite is scaled down as by 2^128, and spoilt anyway. */
static __global__ void __launch_bounds__(SPLIT_THREADS)
    split_scale_kernel(ji_split_operand_t call, int exponent) {
    /* By line, and by what of the depth a thread has seen. */
    __shared__ uint32_t shared[SPLIT_SIDE][SPLIT_SIDE + 1];
    const split_reader reader(call);
    const split_position position = reader.position;

    for (int64_t line = (int64_t)blockIdx.x * SPLIT_SIDE; line < call.lines;
         line += (int64_t)gridDim.x * SPLIT_SIDE) {
        uint32_t largest[SPLIT_EACH] = {};
        GPU_UNROLL_FEW
        for (int64_t at = 0; at < reader.depth; at += SPLIT_SIDE) {
            split_four four;
            reader.read(line, at, &four);
            GPU_UNROLL
            for (int i = 0; i < SPLIT_EACH; ++i) {
                const uint32_t bits = jalloc_f32_bits_(four.e[i]) & 0x7fffffffu;
                largest[i] = bits > largest[i] ? bits : largest[i];
            }
        }

        __syncthreads(); /* the lines of before were looked at */
        GPU_UNROLL
        for (int i = 0; i < SPLIT_EACH; ++i)
            shared[position.line + i * position.line_step][position.at + i * position.at_step] =
                largest[i];
        __syncthreads();

        if (threadIdx.x < SPLIT_SIDE && line + threadIdx.x < call.lines) {
            uint32_t most = 0;
            for (int i = 0; i < SPLIT_SIDE; ++i)
                most = shared[threadIdx.x][i] > most ? shared[threadIdx.x][i] : most;

            /* Subnormals have few bits to lose. */
            const int of = most < 0x00800000u ? -126 : (int)(most >> 23) - 127;
            call.shifts[line + threadIdx.x] = most == 0 ? 0 : exponent - of;
        }
    }
}

jstatus_t gpu_split_scale(const gpu_call_t *call, const void *block) {
    const ji_split_operand_t *args = (const ji_split_operand_t *)block;
    GPU_LAUNCH((split_scale_kernel), gpu_blocks(args->lines, SPLIT_SIDE, GPU_GRID_MOST),
               SPLIT_THREADS, call->stream, *args, ji_split_form(args->way)->exponent);
    return gpu_check_launch(call->device, "split_scale_kernel");
}

/* ---- Parts ---- */

#define SPLIT_SQUARES 4 /* along the depth, on their way at once */
#define SPLIT_DEPTH (SPLIT_SQUARES * SPLIT_SIDE)
#define SPLIT_STORED 8 /* parts that are written at once */

typedef pack<uint32_t> split_eight; /* in pairs: compilers write numbers of 16 bits one by one */
static_assert(2 * split_eight::width == SPLIT_STORED, "16 bytes");

/* The next part of x, which becomes what is left of it; exact. */
template <typename PART, int GAP> static __device__ inline uint32_t split_next(float *x) {
    PART part;
    narrow(*x, &part);
    *x = (*x - widen(part)) * (float)(1 << GAP);
    return part.bits;
}

/* 2^exponent for -126 .. 127. */
static __device__ inline float split_power(int exponent) {
    return jalloc_f32_of_bits_((uint32_t)(exponent + 127) << 23);
}

/* A block takes tiles of 32 lines x 128 of the depth, neighbours those that are neighbours in
 * memory. It reads them as above and writes along the depth, 16 bytes of each part at once; between
 * the two they stand in shared memory, whose rows are one longer, so that neither way makes more
 * than two threads want one bank. The low parts of what is not finite are NaN. */
template <typename PART, int PARTS, int GAP>
static __global__ void __launch_bounds__(SPLIT_THREADS) split_kernel(ji_split_operand_t call) {
    __shared__ float tile[SPLIT_SIDE][SPLIT_DEPTH + 1];
    const split_reader reader(call);
    const split_position position = reader.position;

    const int64_t down = (call.slab + SPLIT_DEPTH - 1) / SPLIT_DEPTH,
                  across = (call.lines + SPLIT_SIDE - 1) / SPLIT_SIDE;
    const int64_t eights = call.slab / SPLIT_STORED;

    for (int64_t item = blockIdx.x; item < down * across; item += gridDim.x) {
        const int64_t first_line = (reader.along ? item / down : item % across) * SPLIT_SIDE;
        const int64_t first = (reader.along ? item % down : item / across) * SPLIT_DEPTH;

        split_four fours[SPLIT_SQUARES];
        GPU_UNROLL
        for (int s = 0; s < SPLIT_SQUARES; ++s)
            reader.read(first_line, first + s * SPLIT_SIDE, &fours[s]);

        __syncthreads(); /* the tile of before was written out */
        GPU_UNROLL
        for (int s = 0; s < SPLIT_SQUARES; ++s) {
            GPU_UNROLL
            for (int i = 0; i < SPLIT_EACH; ++i)
                tile[position.line + i * position.line_step]
                    [s * SPLIT_SIDE + position.at + i * position.at_step] = fours[s].e[i];
        }
        __syncthreads();

        for (int i = (int)threadIdx.x; i < SPLIT_SIDE * SPLIT_DEPTH / SPLIT_STORED;
             i += SPLIT_THREADS) {
            const int row = i / (SPLIT_DEPTH / SPLIT_STORED),
                      at = i % (SPLIT_DEPTH / SPLIT_STORED) * SPLIT_STORED;
            const int64_t line = first_line + row;
            if (line >= call.lines || first + at >= call.slab)
                continue;

            /* May be more than a power of two can be: in two steps. */
            const int shift = call.shifts[line];
            const float some = split_power(shift / 2), rest = split_power(shift - shift / 2);

            split_eight parts[PARTS];
            GPU_UNROLL
            for (int e = 0; e < SPLIT_STORED / 2; ++e) {
                float low = tile[row][at + 2 * e] * some * rest,
                      high = tile[row][at + 2 * e + 1] * some * rest;
                GPU_UNROLL
                for (int p = 0; p < PARTS; ++p) {
                    parts[p].e[e] = split_next<PART, GAP>(&low);
                    parts[p].e[e] |= split_next<PART, GAP>(&high) << 16;
                }
            }

            split_eight *to =
                (split_eight *)call.parts + (line * PARTS * eights + (first + at) / SPLIT_STORED);
            GPU_UNROLL
            for (int p = 0; p < PARTS; ++p)
                to[(call.is_b ? p : PARTS - 1 - p) * eights] = parts[p];
        }
    }
}

template <typename PART, int PARTS, int GAP>
static jstatus_t split_launch(const gpu_call_t *call, const ji_split_operand_t *args) {
    const int64_t tiles = ((args->slab + SPLIT_DEPTH - 1) / SPLIT_DEPTH) *
                          ((args->lines + SPLIT_SIDE - 1) / SPLIT_SIDE);
    GPU_LAUNCH((split_kernel<PART, PARTS, GAP>), gpu_blocks(tiles, 1, GPU_GRID_MOST), SPLIT_THREADS,
               call->stream, *args);
    return gpu_check_launch(call->device, "split_kernel");
}

jstatus_t gpu_split_precision(const gpu_call_t *call, const void *block) {
    const ji_split_operand_t *args = (const ji_split_operand_t *)block;
    return args->way == JI_SPLIT_BF16 ? split_launch<jbfloat16_t, 3, 0>(call, args)
                                      : split_launch<jfloat16_t, 2, 11>(call, args);
}

/* ---- Products of parts ---- */

jstatus_t gpu_gemm_mixed(const gpu_call_t *call, const void *block) {
    const ji_matmat_t *args = (const ji_matmat_t *)block;
    const bool bf16 = args->head.type == JDATATYPE_BF16;
    const jstatus_t status =
        gpu_vendor_gemm_ex(call, args, bf16 ? GPU_NARROW_BF16 : GPU_NARROW_F16, false);
    if (status != JSTATUS_NOT_IMPLEMENTED)
        return status;

    return bf16 ? level3_gemm<float, jbfloat16_t, float>(call, args, (jblas_uplo_t)0)
                : level3_gemm<float, jfloat16_t, float>(call, args, (jblas_uplo_t)0);
}

/* ---- The result ---- */

#define RESULT_COLUMNS 8 /* of which a thread's numbers are on their way at once */

/* 2^exponent for -1022 .. 1023. */
static __device__ inline double split_power_wide(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* In double, which holds the products of two floats; so it is rounded once. Blocks take 256 rows of
 * 8 columns. */
static __global__ void __launch_bounds__(SPLIT_THREADS)
    split_result_kernel(ji_split_result_t call) {
    const float alpha = gpu_scalar<float>(call.alpha), beta = gpu_scalar<float>(call.beta);
    const int64_t high = (call.m + SPLIT_THREADS - 1) / SPLIT_THREADS;
    const int64_t wide = (call.n + RESULT_COLUMNS - 1) / RESULT_COLUMNS;

    for (int64_t item = blockIdx.x; item < high * wide; item += gridDim.x) {
        const int64_t row = item % high * SPLIT_THREADS + threadIdx.x,
                      left = item / high * RESULT_COLUMNS;
        if (row >= call.m)
            continue;

        const int row_shift = call.row_shifts[row];
        const float *product = call.product + (row + left * call.ld);
        float *c = (float *)call.c + (row + left * call.ldc), sum[RESULT_COLUMNS],
              before[RESULT_COLUMNS];
        int shift[RESULT_COLUMNS];

        GPU_UNROLL
        for (int j = 0; j < RESULT_COLUMNS; ++j) {
            sum[j] = left + j < call.n ? product[j * call.ld] : 0.0f;
            before[j] = left + j < call.n && beta != 0 ? c[j * call.ldc] : 0.0f;
            shift[j] = left + j < call.n ? row_shift + call.column_shifts[left + j] : 0;
        }

        GPU_UNROLL
        for (int j = 0; j < RESULT_COLUMNS; ++j) {
            if (left + j >= call.n)
                continue;
            const double value = (double)alpha * sum[j] * split_power_wide(-shift[j]);
            c[j * call.ldc] = (float)(beta != 0 ? value + (double)beta * before[j] : value);
        }
    }
}

jstatus_t gpu_split_result(const gpu_call_t *call, const void *block) {
    const ji_split_result_t *args = (const ji_split_result_t *)block;
    const int64_t items = ((args->m + SPLIT_THREADS - 1) / SPLIT_THREADS) *
                          ((args->n + RESULT_COLUMNS - 1) / RESULT_COLUMNS);
    GPU_LAUNCH((split_result_kernel), gpu_blocks(items, 1, GPU_GRID_MOST), SPLIT_THREADS,
               call->stream, *args);
    return gpu_check_launch(call->device, "split_result_kernel");
}

/* ---- The vendor's emulation of float ---- */

/* Where it is declined, the product of floats. */
jstatus_t gpu_gemm_emulated(const gpu_call_t *call, const void *block) {
    const jstatus_t status =
        gpu_vendor_gemm_ex(call, (const ji_matmat_t *)block, GPU_NARROW_BF16X9, false);
    if (status != JSTATUS_NOT_IMPLEMENTED)
        return status;

    return gpu_vendor_primitive(gpu_device(call->device), JI_GEMM)(call, block);
}

/* ---- Where it pays ---- */

/* 90 of "sm_90"; 0 for other vendors'. */
static int split_architecture(jdevice_t *device) {
    const char *text = gpu_device(device)->properties.architecture;
    return GPU_KIND == JDEVICE_CUDA && strncmp(text, "sm_", 3) == 0 ? atoi(text + 3) : 0;
}

/* Not measured on a GPU yet. On an H200 six products of bfloat16 have 2.5 times the peak of float;
 * splitting and adding panels take back some of it, the more the smaller the matrices. On AMD's
 * (MI250: bfloat16 8 times the vector rate of float, but 4 times that of its own float matrix
 * units) it does not pay. */
void gpu_split_tuning(jdevice_t *device, ji_tuning_t *tuning) {
    tuning->split_least = GPU_KIND == JDEVICE_CUDA ? 2048 : INT64_MAX;
    /* Older ones cut off more. */
    tuning->split_k_panel = split_architecture(device) >= 90 ? 1024 : 512;
    tuning->split_slab = 4096;
    tuning->split_way = JI_SPLIT_BF16;
    tuning->split_by_kernels = false;
}

bool gpu_has_mixed(jdevice_t *device) {
    if (split_architecture(device) < 80) /* the first with units for bfloat16 */
        return false;

    gpu_current current(device);
    return current.status == JSTATUS_SUCCESS && gpu_vendor_blas_name(gpu_device(device)) != nullptr;
}

/* NVIDIA's manual names two architectures, which scale sums on their way. */
bool gpu_has_emulated(jdevice_t *device) {
    const int architecture = split_architecture(device);
    if (architecture != 100 && architecture != 103)
        return false;

    gpu_current current(device);
    return current.status == JSTATUS_SUCCESS && gpu_vendor_has_bf16x9(gpu_device(device));
}
