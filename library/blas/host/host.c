/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host's tuning, and what is too short for a file of its own. */

#include "blas/host/host.h"
#include "blas/kernels/factor.h"
#include "blas/kernels/triangle.h"

void ji_host_set_info(void *block) {
    const ji_matmat_t *args = block;
    *args->info = args->n;
}

#define HOST_GEMM3M_LEAST 512 /* below, taking parts costs much of what is saved */
/* Measured on a busy machine, one halving was 0.97 to 1.03 times jblas's own dgemm and sgemm of
 * order 8192, with sums made while packing (gemm_3m.c), and 1.03 to 1.09 times a CBLAS's dgemm of
 * 2048 and 4096, with sums in workspace (clients/bench/bench_strassen.c), at 2.5 to 3 times the
 * error: too little for a way that is taken unasked. */
#define HOST_STRASSEN_LEAST INT64_MAX
int64_t ji_blas_int_max = INT64_MAX;
ji_tuning_t ji_host_tuning = {
    .integer_max = INT64_MAX, /* see ji_blas_int_max, which tests lower */
    .gemm_least = {HOST_STRASSEN_LEAST, HOST_STRASSEN_LEAST, HOST_GEMM3M_LEAST, HOST_GEMM3M_LEAST},
    .gemm3m_least = HOST_GEMM3M_LEAST,
    .gemm3m_k_panel = 1024,
    .gemm3m_n_panel = 512,
    .strassen_least = {HOST_STRASSEN_LEAST, HOST_STRASSEN_LEAST},
    .split_least = INT64_MAX, /* nothing narrower is faster */
    .factor_base = JI_FACTOR_ORDER,
    .factor_multiple = JI_TRIANGLE_BLOCK,
    .mixed_least = {(int64_t)1 << 20, (int64_t)8 << 20},
    .room_least = 524288,
};
