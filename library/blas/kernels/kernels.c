/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The sets of kernels, and which one runs. */

#include "blas/kernels/kernels.h"
#include "blas/kernels/batch.h"
#include "blas/kernels/factor.h"
#include "blas/kernels/level1.h"
#include "blas/kernels/matvec.h"
#include "blas/kernels/move.h"
#include "blas/kernels/product.h"
#include "blas/kernels/triangle.h"

#define FAMILIES(set)                                                                              \
    .product = ji_product_##set, .matvec = ji_matvec_##set, .level1 = ji_level1_##set,             \
    .triangle = ji_triangle_##set, .factor = ji_factor_##set, .batch = ji_batch_##set,             \
    .move = ji_move_##set

#if defined(__x86_64__)
#define KERNELS_ARE_FUSED false /* of the generic set */
static const ji_kernel_set_t kernels_avx512 = {"avx512", 64, true, FAMILIES(avx512)};
static const ji_kernel_set_t kernels_avx2 = {"avx2", 32, true, FAMILIES(avx2)};
#elif defined(__aarch64__)
#define KERNELS_ARE_FUSED true
#else
#define KERNELS_ARE_FUSED false
#endif
static const ji_kernel_set_t kernels_generic = {"generic", 16, KERNELS_ARE_FUSED,
                                                FAMILIES(generic)};

static const ji_kernel_set_t *const kernel_sets[] = {
#if defined(__x86_64__)
    &kernels_avx512, &kernels_avx2,
#endif
    &kernels_generic};

const ji_kernel_set_t *ji_kernels = &kernels_generic;

const ji_kernel_set_t *ji_kernel_set_at(size_t index) {
    return index < sizeof kernel_sets / sizeof kernel_sets[0] ? kernel_sets[index] : NULL;
}

bool ji_kernel_set_is_here(const ji_kernel_set_t *set) {
#if defined(__x86_64__)
    if (set == &kernels_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("fma");
    if (set == &kernels_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return set == &kernels_generic;
}

const ji_kernel_set_t *ji_kernel_set_best(void) {
    size_t index = 0;
    while (!ji_kernel_set_is_here(ji_kernel_set_at(index)))
        ++index;
    return ji_kernel_set_at(index);
}

void ji_kernel_set_use(const ji_kernel_set_t *set) { ji_kernels = set; }
