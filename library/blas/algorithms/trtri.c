/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trtri: the inverse of a triangle, in place; and what it shares with potrf.
 *
 * On the host it is one primitive, which goes by halves (host/triangle_factor.c): a product and a
 * solve, for which there are panels: "packed", "packed-small". Small matrices have the last rung
 * alone, "in place".
 *
 * A GPU inverts as trsm's leaves are inverted, with the whole triangle for a leaf (inverses.c): 2
 * log2(n / 32) batches of products beside A. A zero on the diagonal must leave A as it was, and
 * whether there is one nobody on the host knows; so a first primitive looks for it, and the last
 * one, which copies the inverse back, does so only if there was none:
 *
 *     A --check--> index of the zero ------------------+
 *       --tiles--> inverse --products--> inverse ... --store--> A, info
 *
 * Rungs: normwise "inverse", with the inverse and the products in workspace, 1.25 n^2 elements;
 * componentwise "halves", n^2 elements, where pairs are joined by a product and a solve;
 * "substitution", one thread block in place, slow. Small matrices have the last alone. */

#include "blas/algorithms/product.h"
#include "blas/algorithms/triangle.h"

void ji_factor_plan(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args) {
    jplan_init(plan, handle, ji_routine_name(&args->head), "n", &args->n);
    ji_panel_add_rungs(plan, args, ji_factor_bytes(handle, args), 0);
}

jstatus_t ji_factor_run(jhandle_t *handle, ji_primitive_t primitive, const ji_matmat_t *args,
                        const jborrow_t *ws) {
    ji_matmat_t block = *args;
    ji_panel_take(&block, ji_factor_bytes(handle, args), ws);
    return ji_run(handle, primitive, &block);
}

jstatus_t ji_factor_begin(jhandle_t *handle, const ji_matmat_t *args) {
    uint64_t capture = 0;
    if (!ji_host_pointers(handle))
        return JSTATUS_SUCCESS;

    jstatus_t status = jstream_get_capture(handle->device, handle->stream, &capture);
    if (status == JSTATUS_SUCCESS && capture == 0)
        return JSTATUS_SUCCESS;

    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: %s", ji_routine_name(&args->head),
                            jstatus_last_message());

    return jhandle_fail(handle, JSTATUS_CAPTURING,
                        "%s: info cannot come to the host while the stream is being captured; use "
                        "device pointer mode",
                        ji_routine_name(&args->head));
}

/* By products: the inverse, what its products take, and the index of the zero. */
static void trtri_add_products(jplan_t *plan, const ji_matmat_t *args, bool normwise) {
    const int64_t ld = ji_inverse_ld(args->n);
    size_t bytes[3] = {jalloc_matrix_bytes(args->head.type, ld, args->n),
                       normwise ? ji_inverse_products_bytes(args->head.type, args->n, ld) : 0,
                       sizeof(int64_t)};

    jplan_add(plan, normwise ? "inverse" : "halves", 1, 0, 3, bytes);
}

void ji_trtri_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) {
    const ji_matmat_t *args = matmat;
    if (!ji_tuning(handle)->triangle_products) {
        ji_factor_plan(plan, handle, args);
        return;
    }

    jplan_init(plan, handle, ji_routine_name(&args->head), "n", &args->n);
    if (args->n > ji_tuning(handle)->triangle_least_order)
        trtri_add_products(plan, args, handle->accuracy == JACCURACY_NORMWISE);
    jplan_add(plan, "substitution", 0, 0, 0, NULL);
}

static jstatus_t trtri_by_products(jhandle_t *handle, const ji_matmat_t *args,
                                   const jborrow_t *ws) {
    ji_matmat_t check = *args;
    check.c = ws->ptr[2];

    JTRY_RETURN(ji_factor_begin(handle, args));
    JTRY_RETURN(ji_run(handle, JI_TRIANGLE_CHECK, &check));

    ji_inverses_t inverse = {.type = args->head.type,
                             .upper = args->uplo == JBLAS_UPPER,
                             .unit = args->diag == JBLAS_UNIT,
                             .order = args->n,
                             .a = args->a,
                             .lda = args->lda,
                             .block = ji_inverse_ld(args->n),
                             .inverses = ws->ptr[0]};

    JTRY_RETURN(ji_triangle_inverses(handle, &inverse, ws->ptr[1]));

    ji_matmat_t store = check;
    store.b = inverse.inverses;
    store.ldb = inverse.block;
    return ji_run(handle, JI_TRIANGLE_STORE, &store);
}

jstatus_t ji_trtri_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    ji_matmat_t block = *(const ji_matmat_t *)matmat;

    if (!ji_tuning(handle)->triangle_products)
        return ji_factor_run(handle, JI_TRTRI, &block, ws);
    if (ws->ptr[0] != NULL)
        return trtri_by_products(handle, &block, ws);
    return ji_run(handle, JI_TRTRI, &block);
}
