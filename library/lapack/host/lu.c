/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* LU with partial pivoting on the host, and the solves with it.
 *
 * A = P L U: P is a product of interchanges of rows, L has ones on its diagonal, ipiv has the row
 * that each row was exchanged with, from 1 on. What follows from factored columns for those right
 * of them:
 *
 *     left | right         exchange rows of right
 *     -----+------         A12 := inv(L11) A12  a solve
 *      L11 | A12           A22 -= L21 A12       a product
 *      L21 | A22
 *
 * Columns are factored in one of two ways, by how many they are:
 *
 *     halves   many, and the columns of a panel: factor left, then what follows from it, factor
 *              right (Toledo 1997, Gustavson 1997). Down to a base of a few columns, of which each
 *              loses what those to its left have to take from it when its turn comes: it is read
 *              and written once. The products of many columns are as deep as they can be, and each
 *              is divided among threads.
 *     panels   some (ji_lu_panels): one panel after the other, from left to right. One thread does
 *              what follows to the next panel first, and factors that, while the others do it to
 *              chunks of the columns behind it; who is done takes the next chunk. So they wait for
 *              each other once a panel, and none idles while one factors, as long as there are
 *              columns enough. What is left of panels gets its exchanges at the end, in one pass.
 *
 * Many columns are not cut into panels at once: each panel goes over all that is right of it, by
 * which one thread would lose (Emerald Rapids, 3072 columns: 0.92 of the speed of halves).
 *
 * A pivot of 0 is left there, info has the first, and what is behind it is factored all the same,
 * as LAPACK does. Where panels begin and columns are halved is decided by the shape alone, and a
 * column's numbers do not depend on the others of its chunk, so every rung and any number of
 * threads have the same bits. */

#include <stdatomic.h>

#include "blas/host/woven.h"
#include "blas/kernels/factor.h"
#include "core/team.h"
#include "lapack/host/lu.h"
#include "lapack/lapack.h"

#define LU_BASE JI_LU_COLUMNS /* columns */
#define LU_PANEL 128          /* at most; in a room apart from A, where there is one */
#define LU_CHUNK 192          /* that a thread takes at once */

int64_t ji_lu_panels = 2048;

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

/* ---- What follows from factored columns ---- */

/* B := inv(L) B with the unit lower triangle of order m at (first, first). */
static void lu_solve(const ji_matmat_t *call, int64_t first, int64_t m, void *b, int64_t n) {
    ji_matmat_t lower = *call;
    lower.uplo = JBLAS_LOWER, lower.diag = JBLAS_UNIT;
    ji_factor_triangle(JI_TRSM, &lower, JBLAS_LEFT, JBLAS_NO_TRANSPOSE, 1,
                       lu_at(call, first, first), b, call->lda, m, n);
}

/* The exchanges [first, end) in columns [column, column + n). */
static void lu_exchange(const ji_matmat_t *call, int64_t column, int64_t n, int64_t first,
                        int64_t end) {
    ji_exchange(call->head.type, lu_at(call, 0, column), call->lda, n, call->ipiv, first, end,
                false);
}

/* What columns [column, column + n) owe to k factored ones from `first` on: exchanges of rows,
 * A12 := inv(L11) A12, and A22 -= L21 A12. */
static void lu_apply(const ji_matmat_t *call, int64_t first, int64_t k, int64_t column, int64_t n) {
    const int64_t below = first + k, m = call->m - below;
    void *const a12 = lu_at(call, first, column);
    lu_exchange(call, column, n, first, below);
    lu_solve(call, first, k, a12, n);
    if (m > 0)
        ji_factor_product(call, m, n, k, -1, lu_at(call, below, first), call->lda, a12, call->lda,
                          1, lu_at(call, below, column), call->lda);
}

/* ---- Room apart ---- */

static size_t lu_room_bytes(jdatatype_t type, int64_t m, int64_t n, int64_t lda) {
    return ji_room_pays(type, m, n, lda)
               ? (size_t)(ji_room_ld(type, m) * LU_PANEL) * ji_sizeof(type)
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

/* ---- Panels ---- */

/* Columns [first, first + n) of A, from row `first` on; rows are at least as many. */
static void lu_factor(const ji_matmat_t *call, void *room, int64_t first, int64_t n);

/* Columns [first, end), a panel, are factored; what follows for those up to `last`. */
typedef struct lu_round {
    const ji_matmat_t *call;
    void *room;
    int threads;
    bool is_counted; /* who works alone is, by the lease */
    int64_t first, end, last;
    int64_t next;       /* columns of the next panel */
    atomic_llong taken; /* tasks */
} lu_round_t;

/* Whoever is free takes the next task. What tasks write, others see at the end of the round. */
static int64_t lu_take_task(atomic_llong *taken) {
    return atomic_fetch_add_explicit(taken, 1, memory_order_relaxed);
}

/* The first task is the next panel, since all wait for it; the others are chunks behind it. */
static void lu_round_part(void *argument, int index) {
    lu_round_t *const round = argument;
    const ji_matmat_t call = ji_factor_share(round->call, index, round->threads);
    const int64_t first = round->first, end = round->end, behind = end + round->next;
    const int64_t chunks = (round->last - behind + LU_CHUNK - 1) / LU_CHUNK;

    for (int64_t task; (task = lu_take_task(&round->taken)) <= chunks;)
        if (task == 0) {
            lu_apply(&call, first, end - first, end, round->next);
            lu_factor(&call, round->room, end, round->next);
        } else {
            const int64_t column = behind + (task - 1) * LU_CHUNK;
            lu_apply(&call, first, end - first, column, ji_min(LU_CHUNK, round->last - column));
        }
}

/* The same by one thread, with all columns at once. */
static void lu_round_alone(const lu_round_t *round) {
    ji_matmat_t call = ji_factor_share(round->call, 0, 1);
    if (round->is_counted)
        call.head.threads.count = 0;
    lu_apply(&call, round->first, round->end - round->first, round->end, round->last - round->end);
    lu_factor(&call, round->room, round->end, round->next);
}

/* The exchanges that panels get from those right of them. */
typedef struct lu_left {
    const ji_matmat_t *call;
    int64_t first, last; /* columns of all panels */
    int64_t width;       /* of a panel */
    atomic_llong taken;  /* tasks: each is a panel */
} lu_left_t;

static void lu_left_part(void *argument, int index) {
    lu_left_t *const left = argument;
    (void)index;

    for (;;) {
        const int64_t column = left->first + lu_take_task(&left->taken) * left->width,
                      end = column + left->width;
        if (end >= left->last)
            return;
        lu_exchange(left->call, column, left->width, end, left->last);
    }
}

/* Panels are of about the same width, so that none is a sliver. */
static int64_t lu_panel_width(int64_t n) {
    const int64_t panels = (n + LU_PANEL - 1) / LU_PANEL;
    return ((n + panels - 1) / panels + LU_BASE - 1) / LU_BASE * LU_BASE;
}

/* A guest has threads of its own. */
static int lu_threads(const ji_matmat_t *call, int64_t n) {
    const int64_t chunks = (n + LU_CHUNK - 1) / LU_CHUNK;
    return ji_host_has_guest() ? 1 : (int)ji_min(call->head.threads.planned, chunks);
}

/* lu_factor() of more than a panel. */
static void lu_factor_panels(const ji_matmat_t *call, void *room, int64_t first, int64_t n) {
    const int64_t last = first + n, width = lu_panel_width(n);
    const ji_matmat_t alone = ji_factor_share(call, 0, 1);
    lu_factor(&alone, room, first, width);

    ji_team_lease_t lease;
    ji_team_begin(&lease, &call->head.threads, lu_threads(call, n));
    for (int64_t column = first, end; end = column + width, end < last; column = end) {
        lu_round_t round = {.call = call,
                            .room = room,
                            .threads = lease.count,
                            .is_counted = lease.is_counted,
                            .first = column,
                            .end = end,
                            .last = last,
                            .next = ji_min(width, last - end)};
        if (lease.count == 1)
            lu_round_alone(&round);
        else
            ji_team_do(&lease, lu_round_part, &round);
    }

    lu_left_t left = {.call = call, .first = first, .last = last, .width = width};
    ji_team_do(&lease, lu_left_part, &left);
    ji_team_end(&lease);
}

/* ---- Any columns ---- */

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

static void lu_factor_halves(const ji_matmat_t *call, void *room, int64_t first, int64_t n) {
    const int64_t left = (n / 2 + LU_BASE - 1) / LU_BASE * LU_BASE, middle = first + left;
    lu_factor(call, room, first, left);
    lu_apply(call, first, left, middle, n - left);
    lu_factor(call, room, middle, n - left);
    lu_exchange(call, first, left, middle, first + n);
}

static void lu_factor(const ji_matmat_t *call, void *room, int64_t first, int64_t n) {
    if (n <= LU_BASE)
        lu_base(call, first, n);
    else if (n <= LU_PANEL && room != NULL)
        lu_factor_apart(call, room, first, n);
    else if (n <= LU_PANEL || n > ji_lu_panels)
        lu_factor_halves(call, room, first, n);
    else
        lu_factor_panels(call, room, first, n);
}

static void lu_factor_all(ji_matmat_t *call) {
    void *const room = lu_take_room(call);
    const int64_t square = ji_min(call->m, call->n);
    *call->info = 0;
    lu_factor(call, room, 0, square);
    if (call->n > square)
        lu_apply(call, 0, square, square, call->n - square);
}

/* ---- Calls ---- */

static void lu_solve_all(const ji_matmat_t *call) {
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
    lu_factor_all(&call);
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
    lu_solve_all(call);
}

void ji_host_gesv(void *matmat) {
    ji_matmat_t factor = ji_factor_call(matmat), solve = *(const ji_matmat_t *)matmat;
    factor.m = factor.n;
    lu_factor_all(&factor);

    solve.trans = JBLAS_NO_TRANSPOSE;
    if (*solve.info == 0)
        lu_solve_all(&solve);
}

/* ---- Panels ---- */

/* What follows from k factored columns of m rows, for so many others. */
static ji_panel_bytes_t lu_apply_bytes(const jhandle_t *handle, const ji_head_t *head, int64_t m,
                                       int64_t k, int64_t columns) {
    const ji_matmat_t solve = {.head = *head, .side = JBLAS_LEFT, .m = k, .n = columns};
    return ji_panels_for_both(ji_solve_bytes(handle, &solve),
                              ji_panel_bytes(handle, JI_GEMM, head, m, columns, k));
}

/* Of n columns in panels: one thread has all at once, several a chunk each. */
static ji_panel_bytes_t lu_factor_panels_bytes(const jhandle_t *handle, const ji_head_t *head,
                                               int64_t m, int64_t n) {
    const size_t threads = (size_t)ji_max(head->threads.planned, 1);
    ji_head_t alone = *head;
    alone.threads.planned = 1;

    const ji_panel_bytes_t chunk = lu_apply_bytes(handle, &alone, m, LU_PANEL, ji_min(n, LU_CHUNK));
    return ji_panels_for_both(
        lu_apply_bytes(handle, &alone, m, LU_PANEL, n),
        (ji_panel_bytes_t){.packed = threads * ji_whole_lines(chunk.packed),
                           .packed_small = threads * ji_whole_lines(chunk.packed_small)});
}

static ji_panel_bytes_t lu_bytes(const jhandle_t *handle, const ji_head_t *head, int64_t m,
                                 int64_t n, int64_t lda) {
    const int64_t square = ji_min(m, n), half = square / 2 + LU_BASE;
    ji_panel_bytes_t bytes = {0};
    if (square <= LU_PANEL || square > ji_lu_panels)
        bytes = lu_apply_bytes(handle, head, m, half, half);
    if (square > LU_PANEL)
        bytes = ji_panels_for_both(
            bytes, lu_factor_panels_bytes(handle, head, m, ji_min(square, ji_lu_panels)));
    if (n > square) {
        const ji_matmat_t rest = {.head = *head, .side = JBLAS_LEFT, .m = square, .n = n - square};
        bytes = ji_panels_for_both(bytes, ji_solve_bytes(handle, &rest));
    }
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
