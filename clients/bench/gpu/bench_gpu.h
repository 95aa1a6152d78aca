/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_BENCH_GPU_BENCH_GPU_H
#define JALLOC_CLIENTS_BENCH_GPU_BENCH_GPU_H

/* What the parts of bench_gpu share: the device, its vendor's library beside ours, timing by
 * events, and the table of aims that is printed last.
 *
 * The stream does not wait for the legacy default stream, nor that for it, and a copy from pageable
 * memory may return before it has arrived. So all copies are gpu_copy()'s, in the stream. */

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "../bench.h"
#include "jalloc/cuda.h"
#include "jalloc/jalloc.h"

/* Which sizes: those that show only that it runs; two, of those that have an aim; all. */
typedef enum gpu_sizes { GPU_TINY, GPU_TWO, GPU_ALL } gpu_sizes_t;
#define GPU_MOST_SIZES 8
typedef int gpu_size_table_t[GPU_ALL + 1][GPU_MOST_SIZES]; /* each row ends with a 0 */

typedef struct gpu_bench {
    jdevice_t *device;
    jstream_t *stream;
    cudaStream_t native; /* the same stream */
    cublasHandle_t cublas;
    /* On the stream, default mode: what a call needs is there after its first run. */
    jhandle_t *handle;
    double seconds; /* for each comparison */
    gpu_sizes_t sizes;
    bool good; /* false: a call failed in this part, or an answer was wrong */
} gpu_bench_t;

/* Ours and the peer's in turn, timed by events in the stream; medians of seconds, and their
 * ratio. */
bench_result_t gpu_compare(gpu_bench_t *bench, bench_function_t ours, bench_function_t peer,
                           void *context);

/* Device memory filled with random numbers in [-1, 1); F32 or F64, complex counts as two. NULL and
 * bench->good = false where there is none. */
void *gpu_random(gpu_bench_t *bench, size_t reals, bool is_double, uint64_t seed);
/* A matrix with one number on the diagonal and random ones in [-beside, beside] beside it. */
void *gpu_matrix(gpu_bench_t *bench, int order, bool is_double, double diagonal, double beside);
void gpu_release(void *pointer);
/* In the stream, behind all that it was given; has been done on return. */
void gpu_copy(gpu_bench_t *bench, void *to, const void *from, size_t bytes,
              enum cudaMemcpyKind kind);
/* The largest difference between two results on the device, and the largest number of the
 * second. */
double gpu_difference(gpu_bench_t *bench, const void *x, const void *y, size_t reals,
                      bool is_double, double *largest);

/* Notes that a call of ours succeeded on its best rung, or that a vendor's succeeded. */
void gpu_expect(gpu_bench_t *bench, jstatus_t status, const char *what);
void gpu_expect_cuda(gpu_bench_t *bench, cudaError_t error, const char *what);
void gpu_expect_cublas(gpu_bench_t *bench, cublasStatus_t status, const char *what);
/* The name of the rung that the handle took most since its counters were cleared. */
int gpu_rung(gpu_bench_t *bench);

/* A line of the last table: reached where value >= aim, or value <= aim for an aim that is a bound.
 * Printed at once, too, with how much of the aim was reached, so that it stays when the program
 * does not end. */
void gpu_aim(const char *what, double value, double aim, bool bound);
void gpu_print_aims(void);

void bench_gpu_borrow(gpu_bench_t *bench);
void bench_gpu_products(gpu_bench_t *bench);
void bench_gpu_solves(gpu_bench_t *bench);
void bench_gpu_factors(gpu_bench_t *bench);
void bench_gpu_reductions(gpu_bench_t *bench);

#endif
