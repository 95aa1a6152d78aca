/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A = alpha x y^T + alpha y x^T + A on one triangle; A = alpha x y^H + conj(alpha) y x^H + A where
 * it is Hermitian, A = -alpha x y^T + alpha y x^T + A, without the diagonal, where it is skew. */

#include "blas/routine/entry.h"

JI_CALL syr2_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(syr2)
    JI_CHECK_WIDTH(syr2, args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(syr2)
    JI_CHECK_OPERANDS(syr2)
    return ji_run(handle, primitive, args);
}

JI_CALL syr2_call(jhandle_t *handle, void *block) { return syr2_any(handle, block, JI_SYR2); }
JI_CALL her2_call(jhandle_t *handle, void *block) { return syr2_any(handle, block, JI_SYR2); }
JI_CALL syr2_complex_call(jhandle_t *handle, void *block) {
    return syr2_any(handle, block, JI_SYR2_COMPLEX);
}
JI_CALL skewsyr2_call(jhandle_t *handle, void *block) {
    return syr2_any(handle, block, JI_SKEWSYR2);
}

JI_ENTRIES(syr2, matvec)
JI_ENTRIES(her2, matvec)
JI_ENTRIES(syr2_complex, matvec)
JI_ENTRIES(skewsyr2, matvec)
