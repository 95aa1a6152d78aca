/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Updates of rank one: A = alpha x y^T + A, or with y conjugated. */

#include "blas/blas.h"

JI_CALL ger_any(jhandle_t *handle, ji_matvec_t *args, ji_primitive_t primitive) {
    JI_CHECK_SIZE("m", m);
    JI_CHECK_SIZE("n", n);
    JI_CHECK_INCREMENT_NOT_0(incx, args->m);
    JI_CHECK_INCREMENT_NOT_0(incy, args->n);
    JI_CHECK_LD(lda, args->m, args->n);
    JI_CHECK_WIDTH(args->m > 0 && args->n > 0, args->m, args->n, args->lda, ji_abs(args->incx), ji_abs(args->incy));
    if (ji_is_query(handle))
        return ji_answer(handle, args, NULL);
    if (args->m == 0 || args->n == 0)
        return JSTATUS_SUCCESS;
    JI_CHECK_POINTER("alpha", args->alpha.pointer);
    ji_take(handle, &args->alpha, args->head.type);
    if (!ji_scalar_is(&args->alpha, args->head.type, 0)) {
        JI_CHECK_POINTER("x", args->x);
        JI_CHECK_POINTER("y", args->y);
    }
    JI_CHECK_POINTER("a", args->a);
    return ji_run_bytes(handle, primitive, args, sizeof *args);
}

JI_CALL ger_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GER); }
JI_CALL gerc_call(jhandle_t *handle, void *block) { return ger_any(handle, block, JI_GERC); }

#define GER_NAMED(name, call, t, T, TYPE)                                                                              \
    jstatus_t jblas_##t##name(jhandle_t *handle, int64_t m, int64_t n, const T *alpha, const T *x, int64_t incx,       \
                              const T *y, int64_t incy, T *a, int64_t lda) {                                           \
        ji_matvec_t args = {.head = {TYPE, 0, &ji_row_##name},                                                         \
                            .m = m,                                                                                    \
                            .n = n,                                                                                    \
                            .alpha = {.pointer = alpha},                                                               \
                            .x = x,                                                                                    \
                            .incx = incx,                                                                              \
                            .y = ji_unconst(y),                                                                        \
                            .incy = incy,                                                                              \
                            .a = a,                                                                                    \
                            .lda = lda};                                                                               \
        return ji_enter(handle, call, &args);                                                                          \
    }
#define GER(t, T, R, TYPE) GER_NAMED(ger, ger_call, t, T, TYPE)
#define GERU(t, T, R, TYPE) GER_NAMED(geru, ger_call, t, T, TYPE)
#define GERC(t, T, R, TYPE) GER_NAMED(gerc, gerc_call, t, T, TYPE)
JI_FOR_SD(GER)
JI_FOR_CZ(GERU)
JI_FOR_CZ(GERC)
