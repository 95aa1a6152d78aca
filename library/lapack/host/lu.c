/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU with partial pivoting on the host, and the solves with it.
 *
 * A = P L U: P is a product of interchanges of rows, L has ones on its diagonal, ipiv has the row
 * that each row was exchanged with, from 1 on. By halves of the columns (Toledo 1997, Gustavson
 * 1997), so that nearly all of the work is products, whatever the shape:
 *
 *     left | right         factor left          (recursive)
 *     -----+------         exchange rows of right
 *      L11 | A12           A12 := inv(L11) A12  a solve
 *      L21 | A22           A22 -= L21 A12       a product
 *                          factor A22           (recursive)
 *                          exchange rows of L21
 *
 * down to a base of a few columns, of which each loses what those to its left have to take from it
 * when its turn comes: it is read and written once.
 *
 * A pivot of 0 is left there, info has the first, and what is behind it is factored all the same,
 * as LAPACK does. Where columns are halved is decided by the shape alone, so every rung has the
 * same bits. */

#include "blas/host/woven.h"
#include "blas/kernels/factor.h"
#include "lapack/lapack.h"

#define LU_BASE JI_WOVEN_LU_BASE /* columns */
#define LU_ROOM 128              /* that are factored apart from A, where there is room */

static void *lu_at(const ji_matmat_t *call, int64_t i, int64_t j) {
    return ji_at(call->head.type, call->a, i, j, call->lda);
}

/* ---- The base ---- */

static bool lu_is_zero(jdatatype_t type, const void *pivot) {
    return ji_real_at(type, pivot, 0) == 0 &&
           (!ji_is_complex(type) || ji_real_at(type, pivot, 1) == 0);
}

/* What was found in columns [first, first + n), counted from row and column `first`. */
static void lu_found(const ji_matmat_t *call, int64_t first, int64_t n, int64_t info) {
    if (info != 0 && *call->info == 0)
        *call->info = first + info;
    for (int64_t i = first; i < first + n; i++)
        call->ipiv[i] += first;
}

/* Columns [first, first + n), a few, from row `first` on; rows are at least as many. */
static void lu_base(const ji_matmat_t *call, int64_t first, int64_t n) {
    const jdatatype_t type = call->head.type;
    const ji_level1_t *const level1 = ji_kernels->level1[type];
    const ji_factor_kernels_t *const factor = ji_kernels->factor[type];
    const int64_t rows = call->m - first;
    void *const a = lu_at(call, first, first);
    int64_t *const ipiv = call->ipiv + first;
    int64_t info = 0;

    for (int64_t j = 0; j < n; j++) {
        const int64_t place = factor->lu_column(rows, j, a, call->lda);
        void *const pivot = ji_at(type, a, j, j, call->lda);
        ipiv[j] = place + 1;
        if (place > j)
            level1->swap(n, ji_at(type, a, j, 0, 1), call->lda, ji_at(type, a, place, 0, 1),
                         call->lda);
        if (lu_is_zero(type, pivot)) {
            info = info == 0 ? j + 1 : info;
            continue;
        }

        ji_value_t inverse;
        void *below = ji_at(type, pivot, 1, 0, 0);
        if (ji_invert(type, pivot, &inverse))
            level1->scal(rows - j - 1, &inverse, below, 1);
        else
            ji_divide_each(type, rows - j - 1, pivot, below, 1);
    }

    lu_found(call, first, n, info);
}

/* ---- Halves ---- */

/* B := inv(L) B with the unit lower triangle of order m at (first, first). */
static void lu_solve(const ji_matmat_t *call, int64_t first, int64_t m, void *b, int64_t n) {
    ji_matmat_t lower = *call;
    lower.uplo = JBLAS_LOWER, lower.diag = JBLAS_UNIT;
    ji_factor_triangle(JI_TRSM, &lower, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, 1,
                       lu_at(call, first, first), b, call->lda, m, n);
}

/* A22 -= L21 A12, where A11 is of order k at (first, first), and A22 has n columns. */
static void lu_update(const ji_matmat_t *call, int64_t first, int64_t k, int64_t n) {
    const int64_t rest = first + k, m = call->m - rest;
    if (m > 0)
        ji_factor_product(call, m, n, k, -1, lu_at(call, rest, first), call->lda,
                          lu_at(call, first, rest), call->lda, 1, lu_at(call, rest, rest),
                          call->lda);
}

/* ---- Room apart ---- */

static size_t lu_room_bytes(jdatatype_t type, int64_t m, int64_t n, int64_t lda) {
    return ji_room_pays(type, m, n, lda) ? (size_t)(ji_room_ld(type, m) * LU_ROOM) * ji_sizeof(type)
                                         : 0;
}

/* The room is the end of the panels, if they are large enough for both. */
static void *lu_take_room(ji_matmat_t *call) {
    const size_t bytes = lu_room_bytes(call->head.type, call->m, call->n, call->lda);
    if (bytes == 0 || call->panel_bytes < 2 * bytes)
        return NULL;
    call->panel_bytes -= bytes;
    return (char *)call->panels + call->panel_bytes;
}

static void lu_factor(const ji_matmat_t *call, void *room, int64_t first, int64_t n);

/* lu_factor() of a few columns, in the room: side by side they lie well in the caches, whatever A's
 * leading dimension. */
static void lu_factor_apart(const ji_matmat_t *call, void *room, int64_t first, int64_t n) {
    const jdatatype_t type = call->head.type;
    void *const own = lu_at(call, first, first);
    int64_t info = 0;

    ji_matmat_t apart = *call;
    apart.m = call->m - first;
    apart.a = room, apart.lda = ji_room_ld(type, apart.m);
    apart.ipiv = call->ipiv + first;
    apart.info = &info;

    ji_room_copy(type, apart.m, n, own, call->lda, room, apart.lda);
    lu_factor(&apart, NULL, 0, n);
    ji_room_copy(type, apart.m, n, room, apart.lda, own, call->lda);
    lu_found(call, first, n, info);
}

/* Columns [first, first + n) of A, from row `first` on; rows are at least as many. */
static void lu_factor(const ji_matmat_t *call, void *room, int64_t first, int64_t n) {
    const jdatatype_t type = call->head.type;
    if (n <= LU_BASE) {
        lu_base(call, first, n);
        return;
    }
    if (n <= LU_ROOM && room != NULL) {
        lu_factor_apart(call, room, first, n);
        return;
    }

    const int64_t left = (n / 2 + LU_BASE - 1) / LU_BASE * LU_BASE, right = n - left,
                  middle = first + left;
    lu_factor(call, room, first, left);
    ji_exchange(type, lu_at(call, 0, middle), call->lda, right, call->ipiv, first, middle, false);
    lu_solve(call, first, left, lu_at(call, first, middle), right);
    lu_update(call, first, left, right);

    lu_factor(call, room, middle, right);
    ji_exchange(type, lu_at(call, 0, first), call->lda, left, call->ipiv, middle, middle + right,
                false);
}

/* ---- Calls ---- */

static void lu_do_factor(ji_matmat_t *call) {
    void *const room = lu_take_room(call);
    const int64_t square = ji_min(call->m, call->n), rest = call->n - square;
    *call->info = 0;
    lu_factor(call, room, 0, square);
    if (rest == 0)
        return;

    ji_exchange(call->head.type, lu_at(call, 0, square), call->lda, rest, call->ipiv, 0, square,
                false);
    lu_solve(call, 0, square, lu_at(call, 0, square), rest);
}

static void lu_do_solve(const ji_matmat_t *call) {
    const jdatatype_t type = call->head.type;
    const bool plain = call->trans == JBLAS_NO_TRANSPOSE;

    if (plain)
        ji_exchange(type, ji_unconst(call->b), call->ldb, call->nrhs, call->ipiv, 0, call->n,
                    false);
    for (int second = 0; second < 2; second++) {
        const bool lower = plain == (second == 0);
        ji_lapack_solve(call, lower ? JBLAS_LOWER : JBLAS_UPPER, call->trans,
                        lower ? JBLAS_UNIT : JBLAS_NON_UNIT, call->n);
    }
    if (!plain)
        ji_exchange(type, ji_unconst(call->b), call->ldb, call->nrhs, call->ipiv, 0, call->n, true);
}

void ji_host_getrf(void *matmat) {
    ji_matmat_t call = ji_factor_call(matmat);
    lu_do_factor(&call);
}

static int64_t lu_woven(const ji_matmat_t *item, int64_t count, void *const *a, void *const *b,
                        void *const *c) {
    (void)b;
    const ji_woven_lu_t call = {
        .m = item->m, .n = item->n, .a = a, .lda = item->lda, .ipiv = c, .count = count};
    return ji_kernels->batch[item->head.type]->lu(&call);
}

int64_t ji_host_getrf_items(ji_items_t *items, int64_t first, int64_t end) {
    const ji_matmat_t *item = &items->item.matmat;
    const int64_t order = ji_max(item->m, item->n);
    if (order > JI_WOVEN_LU_ORDER || ji_host_has_guest()) /* whose bits are its own */
        return first;

    return ji_host_weave_items(
        items, first, end,
        &(ji_woven_way_t){.each = ji_host_getrf, .many = lu_woven, .order = order});
}

void ji_host_getrs(void *matmat) {
    const ji_matmat_t *call = matmat;
    lu_do_solve(call);
}

void ji_host_gesv(void *matmat) {
    ji_matmat_t factor = ji_factor_call(matmat), solve = *(const ji_matmat_t *)matmat;
    factor.m = factor.n;
    lu_do_factor(&factor);

    solve.trans = JBLAS_NO_TRANSPOSE;
    if (*solve.info == 0)
        lu_do_solve(&solve);
}

/* ---- Panels ---- */

static ji_panel_bytes_t lu_bytes(const jhandle_t *handle, const ji_head_t *head, int64_t m,
                                 int64_t n, int64_t lda) {
    const int64_t square = ji_min(m, n), half = square / 2 + LU_BASE;
    const ji_matmat_t solve = {
        .head = *head, .side = JBLAS_LEFT, .m = square, .n = ji_max(n - square, half)};

    ji_panel_bytes_t bytes = ji_panels_for_both(
        ji_solve_bytes(handle, &solve), ji_panel_bytes(handle, JI_GEMM, head, m, half, half));
    if (bytes.packed > 0)
        bytes.packed += lu_room_bytes(head->type, m, n, lda);
    return bytes;
}

ji_panel_bytes_t ji_getrf_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return lu_bytes(handle, &args->head, args->m, args->n, args->lda);
}

ji_panel_bytes_t ji_getrs_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_lapack_solve_bytes(handle, args, args->n);
}

ji_panel_bytes_t ji_gesv_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_panels_for_both(lu_bytes(handle, &args->head, args->n, args->n, args->lda),
                              ji_getrs_bytes(handle, args));
}
