/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A routine's call on a GPU: found by its row, checked as on the host, planned and run by its way.
 * And what the ways have in common. */

#include "lapack/vendor/vendor.h"

#include "core/core.h"

/* ---- Steps ---- */

static jstatus_t vendor_fail(jhandle_t *handle, const ji_head_t *head, jstatus_t status) {
    return jhandle_fail(handle, status, "%s: %s", ji_routine_name(head), jstatus_last_message());
}

jstatus_t ji_vendor_find(jhandle_t *handle, const ji_head_t *head, unsigned routines) {
    jdevice_t *device = handle->device;
    for (int i = 0; i < JI_SOLVER_ROUTINES; i++) {
        jstatus_t status = JSTATUS_SUCCESS;
        if ((routines >> i & 1) != 0)
            status = device->blas->solver_find(device, i);
        if (status != JSTATUS_SUCCESS)
            return vendor_fail(handle, head, status);
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t vendor_bytes(jhandle_t *handle, const ji_solver_t *step,
                              ji_solver_bytes_t *bytes) {
    jdevice_t *device = handle->device;
    const jstatus_t status = device->blas->solver_bytes(device, handle->stream, step, bytes);
    return status == JSTATUS_SUCCESS ? status : vendor_fail(handle, &step->head, status);
}

jstatus_t ji_vendor_ask(jhandle_t *handle, const ji_solver_t *step, size_t *bytes) {
    ji_solver_bytes_t wanted;
    JTRY_RETURN(vendor_bytes(handle, step, &wanted));
    if (wanted.device > *bytes)
        *bytes = wanted.device;
    if (ji_is_query(handle))
        ji_host_workspace_ask(handle, wanted.host);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_vendor_step(jhandle_t *handle, ji_solver_t step, const jborrow_t *ws) {
    ji_solver_bytes_t bytes; /* asked for again: of several steps each has its own */
    JTRY_RETURN(vendor_bytes(handle, &step, &bytes));
    JTRY_RETURN(
        ji_host_workspace_begin(handle, ji_routine_name(&step.head), bytes.host, &step.host_work));
    step.work = ws->ptr[JI_VENDOR_WORK];
    step.work_bytes = bytes.device, step.host_bytes = bytes.host;
    if (step.info == NULL)
        step.info = ws->ptr[JI_VENDOR_INFO];

    const jstatus_t status = ji_run(handle, JI_SOLVER, &step),
                    ended = ji_host_workspace_end(handle, step.host_work);
    return status == JSTATUS_SUCCESS ? ended : status;
}

/* ---- Plans, and what is no step ---- */

void ji_vendor_plan(jplan_t *plan, const jhandle_t *handle, const ji_head_t *head, int64_t m,
                    int64_t n, size_t work_bytes, size_t count, const size_t *bytes) {
    size_t all[JBORROW_MAX_BUFFERS] = {work_bytes, JI_VENDOR_INFO_BYTES};
    for (size_t i = 0; i < count; i++)
        all[JI_VENDOR_OWN + i] = bytes[i];

    jplan_init(plan, handle, ji_routine_name(head), "mn", (const int64_t[]){m, n});
    jplan_add(plan, "vendor", 0, 0, JI_VENDOR_OWN + count, all);
}

jstatus_t ji_vendor_finish(jhandle_t *handle, const ji_head_t *head, const jborrow_t *ws,
                           int64_t *info, int64_t m, int64_t n, const void *from, int64_t ld_from,
                           void *to, int64_t ld_to) {
    ji_matmat_t finish = {.head = *head,
                          .m = m,
                          .n = n,
                          .a = to,
                          .lda = ld_to,
                          .b = from,
                          .ldb = ld_from,
                          .c = ws->ptr[JI_VENDOR_INFO],
                          .info = info};
    return ji_run(handle, JI_SOLVER_FINISH, &finish);
}

jstatus_t ji_vendor_nothing(jhandle_t *handle, const ji_head_t *head, int64_t *info) {
    ji_matmat_t set = {.head = *head, .n = 0, .info = info};
    return ji_run(handle, JI_SET_INFO, &set);
}

jstatus_t ji_vendor_copy(jhandle_t *handle, const ji_head_t *head, bool adjoint, int64_t m,
                         int64_t n, const void *from, int64_t ld_from, void *to, int64_t ld_to) {
    ji_matmat_t copy = {.head = *head,
                        .trans = adjoint ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE,
                        .m = m,
                        .n = n,
                        .alpha = ji_constant(head->type, 1),
                        .a = from,
                        .lda = ld_from,
                        .b = to,
                        .ldb = ld_to};
    return ji_run(handle, JI_OMATCOPY, &copy);
}

jstatus_t ji_vendor_leave(jhandle_t *handle, const ji_head_t *head, const int64_t *info,
                          jstatus_t status) {
    if (jstatus_is_error(status) || info == NULL || !ji_host_pointers(handle) ||
        ji_is_batch(head) || *info >= 0)
        return status;
    return jhandle_fail(handle, JSTATUS_INTERNAL_ERROR,
                        "%s: the vendor's LAPACK refused its argument %lld", ji_routine_name(head),
                        (long long)-*info);
}

/* ---- Calls ---- */

/* As the macros of lapack.h and guest.h have it on the host. `info`: the block's, or NULL. */
#define VENDOR_CALL(routine, block, empty, info, nothing, ...)                                     \
    static jstatus_t vendor_call_##routine(jhandle_t *handle, void *given) {                       \
        ji_##block##_t *args = given;                                                              \
        const ji_vendor_way_t *way = &ji_vendor_##routine;                                         \
        JTRY_RETURN(ji_vendor_find(handle, &args->head, way->routines));                           \
        __VA_ARGS__ JI_CHECK_SIZES(routine) if (!(empty)) JTRY_RETURN(way->ask(handle, args));     \
        if (ji_is_query(handle))                                                                   \
            return ji_answer(handle, args, (empty) ? NULL : way->plan);                            \
        JI_TAKE_SCALARS(routine)                                                                   \
        if (empty)                                                                                 \
            return nothing;                                                                        \
        JI_CHECK_OPERANDS(routine)                                                                 \
        return ji_vendor_leave(handle, &args->head, info,                                          \
                               ji_run_plan(handle, args, way->plan, way->run));                    \
    }
/* A batch has an info of each item. */
#define VENDOR_NO_INFO (args->n = 0, ji_run(handle, JI_SET_INFO, args))

VENDOR_CALL(getrf, matmat, args->m == 0 || args->n == 0, args->info, VENDOR_NO_INFO, )
VENDOR_CALL(getrs, matmat, args->n == 0 || args->nrhs == 0, NULL, JSTATUS_SUCCESS, )
VENDOR_CALL(gesv, matmat, args->n == 0, args->info, VENDOR_NO_INFO, )
VENDOR_CALL(geqrf, matmat, args->m == 0 || args->n == 0, NULL, JSTATUS_SUCCESS, )
VENDOR_CALL(orgqr, matmat, args->n == 0, NULL, JSTATUS_SUCCESS, JI_LAPACK_ORGQR_CHECKS)
VENDOR_CALL(ormqr, matmat, JI_LAPACK_PRODUCT_IS_EMPTY, NULL, JSTATUS_SUCCESS,
            JI_LAPACK_PRODUCT_CHECKS)
VENDOR_CALL(gels, matmat, JI_LAPACK_GELS_IS_EMPTY, args->info, VENDOR_NO_INFO, )
VENDOR_CALL(syevd, driver, args->n == 0, args->info,
            ji_vendor_nothing(handle, &args->head, args->info), )
VENDOR_CALL(gesvd, driver, args->m == 0 || args->n == 0, args->info,
            ji_vendor_nothing(handle, &args->head, args->info), JI_LAPACK_GESVD_CHECKS)

#define VENDOR_PLAIN(routine)                                                                      \
    { &ji_row_##routine, vendor_call_##routine }
#define VENDOR_FORMS(routine)                                                                      \
    VENDOR_PLAIN(routine), {&ji_row_##routine##_batched, vendor_call_##routine}, {                 \
        &ji_row_##routine##_strided_batched, vendor_call_##routine                                 \
    }

jstatus_t ji_lapack_elsewhere(jhandle_t *handle, void *block) {
    static const struct {
        const ji_row_t *row;
        ji_call_function_t call;
    } calls[] = {VENDOR_FORMS(getrf), VENDOR_FORMS(getrs), VENDOR_FORMS(gesv),
                 VENDOR_FORMS(geqrf), VENDOR_PLAIN(orgqr), VENDOR_PLAIN(ormqr),
                 VENDOR_PLAIN(gels),  VENDOR_PLAIN(syevd), VENDOR_PLAIN(gesvd)};
    const ji_head_t *head = block;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && handle->device->blas != NULL; i++)
        if (calls[i].row == head->row)
            return calls[i].call(handle, block);
    return jhandle_fail(handle, JSTATUS_NOT_IMPLEMENTED, "%s is not offered on %s",
                        ji_routine_name(head), jdevice_name(handle->device));
}
