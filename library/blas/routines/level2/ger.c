/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Updates of rank one: A = alpha x y^T + A, or with y conjugated. */

#include "blas/routine/entry.h"

JI_CALL ger_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZES(ger)
    JI_CHECK_WIDTH(ger, args->m > 0 && args->n > 0)

    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;

    JI_TAKE_SCALARS(ger)
    JI_CHECK_OPERANDS(ger)
    return ji_run(handle, primitive, args);
}

JI_CALL ger_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GER); }
JI_CALL geru_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GER); }
JI_CALL gerc_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GERC); }

static inline bool ger_any_at_once(jdatatype_t type, jhandle_t *handle, bool conjugate, int64_t m,
                                   int64_t n, const void *alpha, const void *x, int64_t incx,
                                   const void *y, int64_t incy, void *a, int64_t lda) {
    const ji_matvec_kernels_t *kernels =
        ji_matvec_at_once(handle, type, m, n, alpha, lda, incx, incy);
    if (JI_UNLIKELY(kernels == NULL || x == NULL || y == NULL || a == NULL ||
                    !(conjugate ? JI_IS_OWN(JI_GERC, gerc) : JI_IS_OWN(JI_GER, ger))))
        return false;

    ji_value_t scaled[JI_MATVEC_BLOCK];
    kernels->scale(n, alpha, y, 1, conjugate, scaled);
    kernels->update(m, n, x, scaled, a, lda);
    return true;
}

static inline bool ger_at_once(jdatatype_t type, jhandle_t *handle, int64_t m, int64_t n,
                               const void *alpha, const void *x, int64_t incx, const void *y,
                               int64_t incy, void *a, int64_t lda) {
    return ger_any_at_once(type, handle, false, m, n, alpha, x, incx, y, incy, a, lda);
}
#define geru_at_once ger_at_once

static inline bool gerc_at_once(jdatatype_t type, jhandle_t *handle, int64_t m, int64_t n,
                                const void *alpha, const void *x, int64_t incx, const void *y,
                                int64_t incy, void *a, int64_t lda) {
    return ger_any_at_once(type, handle, true, m, n, alpha, x, incx, y, incy, a, lda);
}

JI_ENTRIES_AT_ONCE(ger, matvec)
JI_ENTRIES_AT_ONCE(geru, matvec)
JI_ENTRIES_AT_ONCE(gerc, matvec)
