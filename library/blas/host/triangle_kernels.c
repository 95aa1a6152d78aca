/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Triangles on the host: JI_TRIANGLE_PACK and JI_TRIANGLE_APPLY.
 *
 * Right-hand sides are independent of each other, so they are the lanes of vectors. A strip holds
 * as many as fill 128 bytes, and one row for each unknown; it stays in the first cache. The solve
 * walks down the strip by blocks of 8 rows:
 *
 *       M, packed            strip
 *     +----+               +--------+     1. rows of the block -= M(block, above) * rows above
 *     |diag|               | solved |        (8 rows x 2 vectors of accumulators; a step loads one
 *     +----+----+          |        |        row of the strip and 8 numbers of M)
 *     |    |diag|          +--------+     2. rows of the block: substitution in registers, each
 *     +----+----+----+     | block  |        pivot a multiplication by its reciprocal
 *     |  above  |diag|     +--------+
 *     +---------+----+
 *
 * The packed triangle is read from front to back, once for each strip. Inside the 8 x 8 block each
 * row waits for the one before; a product with the block's inverse would not wait, and was measured
 * to be 0 to 3 % faster (orders 64 to 256): the sums of the next block do not wait either, and fill
 * the time. But an inverse multiplies rows of B that nearly cancel, and so loses digits that
 * substitution keeps whatever the condition of the block; it spreads a NaN or an infinity to rows
 * that do not depend on it; and it overflows where no unknown does. All that is kept here are the
 * reciprocals of pivots, which OpenBLAS's own kernels keep too: x (1 / d) is x / d within two
 * roundings where 1 / d is a normal number. Blocks with a pivot for which it is not are solved by
 * division (prepare() in triangle_kernel.h).
 *
 * The code is written once, with the compilers' vector extension, and compiled for AVX-512 and for
 * AVX2 with FMA; the processor at hand chooses. On another processor this does not pay, so these
 * primitives are never run.
 *
 * One thread does it. Strips could be spread over threads of ours, but beside the threads of a
 * CBLAS, which spin for a while after each product, that was measured to be slower by far; the
 * products between the leaves are where more threads come in. */

#include "blas/algorithms/triangle.h"
#include "blas/host/host.h"
#include "blas/kernels/kernels.h"

#include <math.h>

#define TRIANGLE_ROW_BYTES 128
#define TRIANGLE_ABS(x) ((x) < 0 ? -(x) : (x))
#define TRIANGLE_EXPONENT(x) _Generic((x), float : ilogbf, double : ilogb)(x)
#define TRIANGLE_SCALE(x, exponent) _Generic((x), float : scalbnf, double : scalbn)(x, exponent)
#ifdef __clang__
#define TRIANGLE_UNROLL _Pragma("unroll")
#else
#define TRIANGLE_UNROLL _Pragma("GCC unroll 8")
#endif

typedef struct triangle_kernels {
    void (*pack)(const ji_triangle_t *call);
    void (*apply)(const ji_triangle_t *call, int64_t first);
} triangle_kernels_t;

#define TRIANGLE_TABLE(set)                                                                        \
    static const triangle_kernels_t triangle_##set[4] = {{s_##set##_pack, s_##set##_apply},        \
                                                         {d_##set##_pack, d_##set##_apply},        \
                                                         {c_##set##_pack, c_##set##_apply},        \
                                                         {z_##set##_pack, z_##set##_apply}};

#if defined(__x86_64__)
#define KERNEL_TARGET __attribute__((target("avx512f")))
#define KERNEL_VECTOR_BYTES 64
#define KERNEL_ROWS 8
#define KERNEL_SET avx512
#include "blas/host/triangle_types.h"
TRIANGLE_TABLE(avx512)
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_VECTOR_BYTES 32
#define KERNEL_ROWS 4
#define KERNEL_SET avx2
#include "blas/host/triangle_types.h"
TRIANGLE_TABLE(avx2)
#endif

static const triangle_kernels_t *triangle_choose(void) {
#if defined(__x86_64__)
    if (JI_LIKELY(ji_kernels->vector_bytes == 64))
        return triangle_avx512;
    if (ji_kernels->vector_bytes == 32)
        return triangle_avx2;
#endif
    return NULL;
}

static const triangle_kernels_t *triangle_for(jdatatype_t type) {
    return triangle_choose() + type; /* pays() was asked, so there are some */
}

/* Measured beside OpenBLAS. A part of a strip costs as much as a full one, so a few right-hand
 * sides do not pay; nor do triangles that are nearly all diagonal block. With AVX2 the registers
 * hold half as many accumulators: there a good substitution of floats is not beaten. Without
 * either, the vector extension gains nothing. */
bool ji_host_triangle_pays(const ji_matmat_t *args) {
    const triangle_kernels_t *kernels = triangle_choose();
    jdatatype_t type = args->head.type;
    int64_t order = args->side == JBLAS_LEFT ? args->m : args->n,
            rhs = args->side == JBLAS_LEFT ? args->n : args->m;
    int64_t strip = TRIANGLE_ROW_BYTES / (int64_t)ji_sizeof(type);

    if (kernels == NULL)
        return false;
#if defined(__x86_64__)
    if (kernels == triangle_avx2)
        return type != JDATATYPE_F32 && order >= 32 && rhs >= 2 * strip;
#endif
    return order >= 8 && rhs >= (ji_is_complex(type) ? strip : strip / 2);
}

/* A leaf is one thread's work, so where products use many threads the leaves are smaller and the
 * products larger. */
int64_t ji_host_triangle_leaf(int64_t largest) {
    int64_t leaf = ji_host_threads <= 2   ? JI_TRIANGLE_MAX_ORDER
                   : ji_host_threads <= 4 ? JI_TRIANGLE_MAX_ORDER / 2
                                          : JI_TRIANGLE_SMALL_LEAF;

    return leaf < largest ? leaf : largest;
}

void ji_host_triangle_pack(void *block) {
    const ji_triangle_t *call = block;
    triangle_for(call->type)->pack(call);
}

void ji_host_triangle_apply(void *block) {
    const ji_triangle_t *call = block;
    void (*apply)(const ji_triangle_t *, int64_t) = triangle_for(call->type)->apply;
    int64_t lanes = TRIANGLE_ROW_BYTES / (int64_t)ji_sizeof(call->type);

    for (int64_t first = 0; first < call->count; first += lanes)
        apply(call, first);
}

/* B := 0 if alpha is 0, which nobody knew until now. */
void ji_host_triangle_clear(void *block) {
    const ji_matmat_t *args = block;
    if (host_is_zero(args->head.type, &args->alpha))
        ji_host_scale_matrix(block);
}
