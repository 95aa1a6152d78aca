/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the calls of a LAPACK have in common: their rungs, the function of the host that runs in
 * stream order, and what becomes of its answer. */

#include <string.h>

#include "core/core.h"
#include "lapack/guest/guest.h"

/* ---- Before ---- */

jstatus_t ji_lapack_guest_enter(jhandle_t *handle, ji_driver_t *args) {
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)
        return jhandle_fail(handle, JSTATUS_NOT_IMPLEMENTED, "%s is computed by a LAPACK: %s",
                            ji_routine_name(&args->head), jstatus_last_message());
    if (ji_lapack_guest_function(args->which, args->head.type) == NULL)
        return jhandle_fail(handle, JSTATUS_NOT_IMPLEMENTED,
                            "%s is computed by a LAPACK: %s lacks it", ji_routine_name(&args->head),
                            ji_lapack_guest_name());
    return JSTATUS_SUCCESS;
}

/* ---- Rungs ---- */

static bool routine_has_m(const ji_driver_t *args) {
    return args->which == JI_GUEST_gesvd || args->which == JI_GUEST_gesdd ||
           args->which == JI_GUEST_gelsd;
}

/* work, rwork and iwork, one after the other, and room for one column more: kernels of OpenBLAS
 * 0.3.21 (cgemv) read one beyond those that they are given. */
static size_t routine_bytes(const ji_driver_t *args, ji_work_t work) {
    const jdatatype_t type = args->head.type;
    const int64_t column = routine_has_m(args) ? ji_max(args->m, args->n) : args->n;
    const int64_t counts[] = {work.work, work.rwork, work.iwork, column};
    const size_t sizes[] = {ji_sizeof(type), ji_sizeof(ji_real_of(type)),
                            (size_t)ji_lapack_guest_int_bits() / 8, ji_sizeof(type)};
    size_t sum = 0;
    for (int i = 0; i < 4; i++) {
        size_t bytes;
        if (!ji_size_mul((size_t)counts[i], sizes[i], &bytes) ||
            !ji_size_round_up(bytes, JI_ALIGNMENT, &bytes) || !ji_size_add(sum, bytes, &sum))
            return JALLOC_SIZE_OVERFLOW;
    }
    return sum;
}

void ji_lapack_guest_plan(jplan_t *plan, const jhandle_t *handle, const ji_driver_t *args,
                          ji_work_t least) {
    const ji_work_t best = {args->lwork, args->lrwork, args->liwork};
    const size_t best_bytes = routine_bytes(args, best), least_bytes = routine_bytes(args, least);
    const bool has_m = routine_has_m(args);

    jplan_init(plan, handle, ji_routine_name(&args->head), has_m ? "mn" : "n",
               has_m ? (const int64_t[]){args->m, args->n} : &args->n);
    if (best_bytes > least_bytes)
        jplan_add(plan, "optimal", 1, 0, 1, &best_bytes);
    jplan_add(plan, "minimal", 0, 0, 1, &least_bytes);
}

jstatus_t ji_lapack_guest_run(jhandle_t *handle, ji_host_function_t function,
                              const ji_driver_t *args, ji_work_t least, const jborrow_t *ws) {
    ji_driver_t call = *args;
    call.work = ws->ptr[0];
    if (!ji_is_way(ws, "optimal"))
        call.lwork = least.work, call.lrwork = least.rwork, call.liwork = least.iwork;
    return ji_enqueue_host(handle, function, &call, sizeof call);
}

/* ---- In stream order ---- */

/* What the LAPACK refused itself, which nothing that passed the checks should be, has an info below
 * those of jlapack's own: -1000 and the number. */
#define ROUTINE_REFUSED 1000

void ji_lapack_guest_do(ji_driver_t *call, bool empty, int wrong) {
    if (empty && call->count != NULL)
        *call->count = 0;
    int64_t info = wrong != 0 ? -wrong : empty ? 0 : ji_lapack_guest_call(call);
    if (info < 0 && wrong == 0)
        info -= ROUTINE_REFUSED;
    if (call->info != NULL)
        *call->info = info;
}

/* Exponents of all ones. The comparison of integers is one that compilers do several at a time. */
static bool routine_finite_s(const float *x, int64_t n) {
    uint32_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & UINT32_C(0x7f800000)) == UINT32_C(0x7f800000);
    }
    return bad == 0;
}
static bool routine_finite_d(const double *x, int64_t n) {
    uint64_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bad |= (bits & UINT64_C(0x7ff0000000000000)) == UINT64_C(0x7ff0000000000000);
    }
    return bad == 0;
}
static bool routine_finite(jdatatype_t type, const void *x, int64_t n) {
    const int64_t reals = ji_is_complex(type) ? 2 * n : n;
    return ji_real_of(type) == JDATATYPE_F32 ? routine_finite_s(x, reals)
                                             : routine_finite_d(x, reals);
}

bool ji_all_finite(jdatatype_t type, const void *a, int64_t rows, int64_t columns, int64_t ld) {
    for (int64_t j = 0; j < columns; j++)
        if (!routine_finite(type, ji_at(type, a, 0, j, ld), rows))
            return false;
    return true;
}

bool ji_triangle_is_finite(jdatatype_t type, jblas_uplo_t uplo, const void *a, int64_t n,
                           int64_t ld) {
    for (int64_t j = 0; j < n; j++) {
        const int64_t first = uplo == JBLAS_UPPER ? 0 : j, end = uplo == JBLAS_UPPER ? j + 1 : n;
        if (!routine_finite(type, ji_at(type, a, first, j, ld), end - first))
            return false;
    }
    return true;
}

int ji_lapack_guest_number(const ji_row_t *row, size_t offset) {
    for (const ji_argument_t *argument = row->arguments; argument->name != NULL; argument++)
        if (argument->offset == offset)
            return (int)(argument - row->arguments) + 1;
    return 0;
}

/* ---- After ---- */

/* In device pointer mode info comes later, and nobody waits for it. */
jstatus_t ji_lapack_guest_leave(jhandle_t *handle, const ji_driver_t *args, jstatus_t status) {
    if (args->info == NULL)
        return status;

    status = ji_return_result(handle, status);
    if (jstatus_is_error(status) || !ji_host_pointers(handle) || *args->info >= 0)
        return status;

    if (*args->info < -ROUTINE_REFUSED)
        return jhandle_fail(handle, JSTATUS_INTERNAL_ERROR, "%s: %s refused its argument %lld",
                            ji_routine_name(&args->head), ji_lapack_guest_name(),
                            (long long)(-*args->info - ROUTINE_REFUSED));

    const ji_argument_t *argument = &args->head.row->arguments[-*args->info - 1];
    return jhandle_fail(handle, JSTATUS_INVALID_VALUE, "%s: info = %lld: %s %s",
                        ji_routine_name(&args->head), (long long)*args->info, argument->name,
                        argument->kind == JI_ARGUMENT_POINTER ? "holds a NaN or an infinity"
                                                              : "is not above the one before it");
}
