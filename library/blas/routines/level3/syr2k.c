/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* C = alpha A B^T + alpha B A^T + beta C on one triangle, its Hermitian form, whose beta is real,
 * and its skew one, C = -alpha A B^T + alpha B A^T + beta C without the diagonal. */

#include "blas/algorithms/product.h"
#include "blas/routine/entry.h"

JI_CALL syr2k_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(syr2k)
    JI_CHECK_WIDTH(syr2k, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_SYR2K, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(syr2k)
    JI_CHECK_OPERANDS(syr2k)
    return ji_run_product(handle, JI_SYR2K, args, args->n, args->n, args->k);
}

JI_CALL her2k_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(her2k)
    JI_CHECK_WIDTH(her2k, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_HER2K, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(her2k)
    JI_CHECK_OPERANDS(her2k)
    return ji_run_product(handle, JI_HER2K, args, args->n, args->n, args->k);
}

JI_CALL skewsyr2k_call(jhandle_t *handle, void *block) {
    ji_matmat_t *args = block;
    JI_CHECK_SIZES(skewsyr2k)

    if (ji_is_query(handle))
        return ji_answer_product(handle, JI_SKEWSYR2K, args, args->n, args->n, args->k);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(skewsyr2k)
    JI_CHECK_OPERANDS(skewsyr2k)
    return ji_run_product(handle, JI_SKEWSYR2K, args, args->n, args->n, args->k);
}

JI_ENTRIES(syr2k, matmat)
JI_ENTRIES(her2k, matmat)
JI_ENTRIES(skewsyr2k, matmat)
