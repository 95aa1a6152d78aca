/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of one shape on matrices that follow each other at a constant stride.
 *
 * Matrices C that share elements are refused, those that merely interleave are not, and the
 * difference is told exactly: by one comparison where they follow each other, and by arithmetic of
 * residues, some divisions, where they do not. */

#include "blas/routine/entry.h"

__extension__ typedef unsigned __int128 wide_t;

/* The least x >= 0 with low <= a x mod m <= high, for a < m and low <= high < m, where there is
 * one: it is less than m. As Euclid's algorithm: a x passes m once in about m / a steps, and where
 * it lands then is the same question for m mod a and a. */
static uint64_t batch_first_landing(uint64_t a, uint64_t m, uint64_t low, uint64_t high) {
    if (low == 0)
        return 0;

    const uint64_t x = (low - 1) / a + 1;
    if ((wide_t)a * x <= high)
        return x;

    const uint64_t rounds = batch_first_landing(m % a, a, (a - high % a) % a, (a - low % a) % a);
    return (uint64_t)((low + (wide_t)m * rounds + a - 1) / a);
}

/* Whether two of the matrices C share an element. Matrix x begins x |stride| after the first and is
 * a block of m rows in columns ldc apart, so it meets the first where x |stride| is less than m
 * away from a multiple of ldc, up to the last column's. Matrices may interleave: rows
 * [2 x, 2 x + 2) of one tall matrix are a batch of stride 2. */
static bool batch_overlaps(const ji_matmat_t *args) {
    if (args->m == 0 || args->n == 0 || args->batch_count <= 1)
        return false;

    const uint64_t m = (uint64_t)args->m, ldc = (uint64_t)args->ldc,
                   stride = (uint64_t)ji_abs(args->stride_c);
    /* Element of a matrix, from its first. */
    const uint64_t last = ldc * (uint64_t)(args->n - 1) + m - 1;

    if (stride > last)
        return false;
    if (stride < m || 2 * m > ldc)
        return true; /* the next matrix; or whatever begins within one meets a column */

    /* (stride + x stride + m - 1) mod ldc is to land on [0, 2 m - 2]. In the end it does, on m - 1:
     * where (x + 1) stride is a multiple of ldc. */
    const uint64_t start = (stride + m - 1) % ldc, low = start == 0 ? 0 : ldc - start,
                   high = low + 2 * m - 2;
    const uint64_t next = high >= ldc ? 0 : batch_first_landing(stride % ldc, ldc, low, high);
    return next < (uint64_t)args->batch_count - 1 && next <= last / stride - 1;
}

JI_CALL gemm_strided_batched_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(gemm_strided_batched)
    JI_CHECK(!batch_overlaps(args), JSTATUS_INVALID_SIZE, "stride_c", args->stride_c,
             "lets the matrices C overlap, which none of %lld and more does",
             args->ldc * (args->n - 1) + args->m)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0 || args->batch_count == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(gemm_strided_batched)
    JI_CHECK_OPERANDS(gemm_strided_batched)
    return ji_run(handle, JI_GEMM_STRIDED, args);
}

JI_ENTRIES(gemm_strided_batched, matmat)
