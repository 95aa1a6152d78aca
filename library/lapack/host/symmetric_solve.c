/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves with the factor of symmetric.c on the host: B := inv(L) P^T B, inv(D) B, P inv(L)^H B.
 *
 * L's columns have not the interchanges of those behind them, as LAPACK stores them: which of them
 * are rows of one triangle depends on the column. A panel of a few columns is made right by a few
 * rows: those of the panel and those that they were exchanged with, which are put together on the
 * stack. All others lie in A as they should, so nearly all of the work is products with A itself:
 *
 *     +-------+
 *     | \     |   the panel's rows             B1 := inv(L11) B1              a solve
 *     |-------|
 *     |   L   |   others                       B2 -= L21 B1                   a product
 *     |- - - -|   exchanged with one above     by the rows on the stack
 *     |       |
 *     +-------+
 *
 * The product is of all rows behind the panel, and what it does to the exchanged ones is replaced.
 * Neither A is written nor is there workspace besides that of products and solves.
 *
 * For up to three right-hand sides that would be mostly putting together: column after column of L,
 * as LAPACK stores it, is taken from them, or multiplied with them. */

#include "lapack/host/symmetric.h"

#define SOLVE_FEW 3 /* right-hand sides */

/* The panel's rows, as they lie, and behind them at most as many others. */
#define SOLVE_ROWS (2 * SYMMETRIC_BLOCK)

typedef struct solve_panel {
    int64_t first, end; /* columns */
    int count, others;
    int64_t other[SYMMETRIC_BLOCK]; /* rows behind the panel, apart */
    /* What each of its rows is exchanged with, counted from the panel's first one in memory as
     * pivots are. */
    int64_t exchanges[SYMMETRIC_BLOCK];
    _Alignas(64) char rows[SOLVE_ROWS * SYMMETRIC_BLOCK * sizeof(jcomplex_f64_t)];
} solve_panel_t;

/* ---- A panel's rows ---- */

/* Where row i of the panel or one that is exchanged with it is among `rows`. */
static int solve_place(const symmetric_t *s, solve_panel_t *panel, int64_t i) {
    if (i < panel->end)
        return (int)(s->lower ? i - panel->first : panel->end - 1 - i);
    int place = 0;
    while (place < panel->others && panel->other[place] != i)
        place++;
    if (place == panel->others)
        panel->other[panel->others++] = i;
    return panel->count + place;
}

static void *solve_row(const symmetric_t *s, const solve_panel_t *panel, int row, int column) {
    return ji_at(s->type, panel->rows, row, column, SOLVE_ROWS);
}

/* Row i of A's columns [first, end), as they lie: what is left of the diagonal. */
static void solve_take(const symmetric_t *s, const solve_panel_t *panel, int64_t i, int place) {
    const int64_t end = ji_min(i, panel->end), count = end - panel->first;
    const int column = s->lower ? 0 : panel->count - (int)count;
    if (count > 0)
        ji_kernels->level1[s->type]->copy(count, symmetric_part(s, i, i + 1, panel->first, end),
                                          s->call.lda, solve_row(s, panel, place, column),
                                          SOLVE_ROWS);
}

/* The exchange of a block from row k on, of the columns before it. */
static void solve_exchange(const symmetric_t *s, solve_panel_t *panel, int64_t k, int64_t last,
                           int64_t other) {
    const int64_t count = k - panel->first;
    const int column = s->lower ? 0 : panel->count - (int)count;
    const int one = solve_place(s, panel, last), two = solve_place(s, panel, other);
    if (count > 0 && one != two)
        ji_kernels->level1[s->type]->swap(count, solve_row(s, panel, one, column), SOLVE_ROWS,
                                          solve_row(s, panel, two, column), SOLVE_ROWS);
}

static void solve_begin(const symmetric_t *s, solve_panel_t *panel, int64_t first, int64_t end) {
    const int64_t begin = symmetric_begin(s, first, end);
    panel->first = first, panel->end = end;
    panel->count = (int)(end - first), panel->others = 0;
    for (int64_t i = first; i < end; i++)
        solve_take(s, panel, i, solve_place(s, panel, i));

    for (int64_t k = first; k < end; k++) {
        const bool is_pair = symmetric_is_pair(s, k);
        const int64_t last = k + is_pair, other = symmetric_partner(s, last);
        const int own = solve_place(s, panel, last);
        panel->exchanges[solve_place(s, panel, k)] = symmetric_place(s, k) - begin + 1;
        panel->exchanges[own] = symmetric_place(s, other) - begin + 1;

        const int known = panel->others, place = solve_place(s, panel, other);
        if (panel->others > known)
            solve_take(s, panel, other, place);
        solve_exchange(s, panel, k, last, other);
        if (is_pair) /* D's, not L's */
            memset(solve_row(s, panel, own, solve_place(s, panel, k)), 0, ji_sizeof(s->type));
        k = last;
    }
}

/* ---- Steps, on columns of B ---- */

static void *solve_at(const symmetric_t *s, int64_t row, int64_t end, int64_t column) {
    return ji_at(s->type, s->call.b, symmetric_begin(s, row, end), column, s->call.ldb);
}

static void solve_interchange(const symmetric_t *s, const solve_panel_t *panel, bool undo) {
    ji_exchange(s->type, solve_at(s, panel->first, panel->end, 0), s->call.ldb, s->call.nrhs,
                panel->exchanges, 0, panel->count, s->lower == undo);
}

/* B1 := inv(op(L11)) B1. */
static void solve_triangle(const symmetric_t *s, const solve_panel_t *panel, jblas_operation_t op) {
    ji_matmat_t triangle = s->call;
    triangle.diag = JBLAS_UNIT;
    triangle.lda = SOLVE_ROWS;
    ji_factor_triangle(JI_TRSM, &triangle, JBLAS_LEFT, op, 1, panel->rows,
                       solve_at(s, panel->first, panel->end, 0), s->call.ldb, panel->count,
                       s->call.nrhs);
}

/* C -= op(A) B, m x n of depth k. */
static void solve_product(const symmetric_t *s, jblas_operation_t op, int64_t m, int64_t n,
                          int64_t k, const void *a, int64_t lda, const void *b, int64_t ldb,
                          void *c, int64_t ldc) {
    ji_matmat_t product = {.head = s->call.head,
                           .transa = op,
                           .transb = JBLAS_NO_TRANSPOSE,
                           .m = m,
                           .n = n,
                           .k = k,
                           .alpha = ji_constant(s->type, -1),
                           .a = a,
                           .lda = lda,
                           .b = b,
                           .ldb = ldb,
                           .beta = ji_constant(s->type, 1),
                           .c = c,
                           .ldc = ldc,
                           .panels = s->call.panels,
                           .panel_bytes = s->call.panel_bytes};
    ji_host_primitives[JI_GEMM](&product);
}

/* The exchanged rows of columns [j, j + count) of B: to the stack, or from there. */
static void solve_move(const symmetric_t *s, const solve_panel_t *panel, int64_t j, int64_t count,
                       void *strip, bool back) {
    const ji_level1_t *const level1 = ji_kernels->level1[s->type];
    for (int i = 0; i < panel->others; i++) {
        void *const own = solve_at(s, panel->other[i], panel->other[i] + 1, j), *const other =
                                                                                    ji_at(s->type,
                                                                                          strip, i,
                                                                                          0, 0);
        if (back)
            level1->copy(count, other, SYMMETRIC_BLOCK, own, s->call.ldb);
        else
            level1->copy(count, own, s->call.ldb, other, SYMMETRIC_BLOCK);
    }
}

/* So many columns of these rows are on the stack at once. */
static int64_t solve_columns(jdatatype_t type) {
    return SYMMETRIC_STRIP_BYTES / SYMMETRIC_BLOCK / (int64_t)ji_sizeof(type);
}

/* B2 -= L21 B1, or with `back` B1 -= L21^H B2. */
static void solve_behind(const symmetric_t *s, const solve_panel_t *panel, bool back) {
    _Alignas(64) char strip[SYMMETRIC_STRIP_BYTES];
    const ji_matmat_t *call = &s->call;
    const jdatatype_t type = s->type;
    const int64_t rest = s->n - panel->end;
    const jblas_operation_t op = back ? symmetric_operation(s) : JBLAS_NO_TRANSPOSE;
    const void *const behind = symmetric_part(s, panel->end, s->n, panel->first, panel->end),
                      *const exchanged = solve_row(s, panel, panel->count, 0);
    if (rest == 0)
        return;

    const int64_t most = panel->others > 0 ? solve_columns(type) : call->nrhs;
    for (int64_t j = 0; j < call->nrhs; j += most) {
        const int64_t count = ji_min(most, call->nrhs - j);
        void *const b1 = solve_at(s, panel->first, panel->end, j), *const b2 = solve_at(
                                                                       s, panel->end, s->n, j);
        solve_move(s, panel, j, count, strip, false);
        if (!back) {
            solve_product(s, op, rest, count, panel->count, behind, call->lda, b1, call->ldb, b2,
                          call->ldb);
            if (panel->others > 0)
                solve_product(s, op, panel->others, count, panel->count, exchanged, SOLVE_ROWS, b1,
                              call->ldb, strip, SYMMETRIC_BLOCK);
        } else {
            for (int i = 0; i < panel->others; i++)
                for (int64_t c = j; c < j + count; c++)
                    memset(solve_at(s, panel->other[i], panel->other[i] + 1, c), 0,
                           ji_sizeof(type));
            solve_product(s, op, panel->count, count, rest, behind, call->lda, b2, call->ldb, b1,
                          call->ldb);
            if (panel->others > 0)
                solve_product(s, op, panel->count, count, panel->others, exchanged, SOLVE_ROWS,
                              strip, SYMMETRIC_BLOCK, b1, call->ldb);
        }
        solve_move(s, panel, j, count, strip, true);
    }
}

/* Row k of B, or with the next one, by its block of D. */
static void solve_divide(const symmetric_t *s, int64_t k, bool is_pair) {
    const symmetric_inverse_t inverse = ji_symmetric_invert(
        s->type, s->hermitian, symmetric_at(s, k, k), symmetric_at(s, k + is_pair, k),
        is_pair ? symmetric_at(s, k + 1, k + 1) : NULL);
    ji_symmetric_divide(s->type, &inverse, true, s->call.nrhs, solve_at(s, k, k + 1, 0),
                        is_pair ? solve_at(s, k + 1, k + 2, 0) : NULL, s->call.ldb);
}

/* B1 := inv(D) B1. */
static void solve_diagonal(const symmetric_t *s, const solve_panel_t *panel) {
    for (int64_t k = panel->first; k < panel->end; k++) {
        const bool is_pair = symmetric_is_pair(s, k);
        solve_divide(s, k, is_pair);
        k += is_pair;
    }
}

/* ---- A few columns of B ---- */

static void solve_swap(const symmetric_t *s, int64_t last) {
    const int64_t other = symmetric_partner(s, last);
    if (other != last)
        ji_kernels->level1[s->type]->swap(s->call.nrhs, solve_at(s, last, last + 1, 0), s->call.ldb,
                                          solve_at(s, other, other + 1, 0), s->call.ldb);
}

/* B's rows behind the block [k, end) of D lose what is theirs of column c of L, in it. */
static void solve_take_away(const symmetric_t *s, int64_t end, int64_t c) {
    const void *const l = symmetric_part(s, end, s->n, c, c + 1);
    for (int64_t j = 0; j < s->call.nrhs; j++) {
        const ji_number_t b = ji_number_load(s->type, solve_at(s, c, c + 1, j));
        const ji_value_t minus = symmetric_value(s->type, (ji_number_t){-b.re, -b.im});
        ji_kernels->level1[s->type]->axpy(s->n - end, &minus, l, 1, solve_at(s, end, s->n, j), 1);
    }
}

/* And row c of B loses that column times those rows. */
static void solve_take_sum(const symmetric_t *s, int64_t end, int64_t c) {
    const ji_level1_t *const level1 = ji_kernels->level1[s->type];
    const void *const l = symmetric_part(s, end, s->n, c, c + 1);
    for (int64_t j = 0; j < s->call.nrhs; j++) {
        void *const own = solve_at(s, c, c + 1, j);
        ji_value_t sum;
        (s->hermitian ? level1->dotc : level1->dot)(s->n - end, l, 1, solve_at(s, end, s->n, j), 1,
                                                    &sum);
        const ji_number_t b = ji_number_load(s->type, own), less = ji_number_load(s->type, &sum);
        ji_number_store(s->type, own, b.re - less.re, b.im - less.im);
    }
}

static void solve_few(const symmetric_t *s) {
    for (int64_t k = 0, end; k < s->n; k = end) {
        const bool is_pair = symmetric_is_pair(s, k);
        end = k + 1 + is_pair;
        solve_swap(s, end - 1);
        for (int64_t c = k; c < end && end < s->n; c++)
            solve_take_away(s, end, c);
        solve_divide(s, k, is_pair);
    }
    for (int64_t end = s->n, k; end > 0; end = k) {
        k = end - 1 - symmetric_is_pair(s, end - 1);
        for (int64_t c = k; c < end && end < s->n; c++)
            solve_take_sum(s, end, c);
        solve_swap(s, end - 1);
    }
}

/* ---- Calls ---- */

void ji_symmetric_solve(const ji_matmat_t *call, bool hermitian) {
    const symmetric_t s = symmetric_of(call, hermitian);
    solve_panel_t panel;

    if (call->nrhs <= SOLVE_FEW) {
        solve_few(&s);
        return;
    }

    for (int64_t first = 0; first < s.n;) {
        int64_t end = first;
        while (end < s.n) {
            const int64_t step = 1 + symmetric_is_pair(&s, end);
            if (end + step > first + SYMMETRIC_BLOCK)
                break;
            end += step;
        }
        solve_begin(&s, &panel, first, end);
        solve_interchange(&s, &panel, false);
        solve_triangle(&s, &panel, JBLAS_NO_TRANSPOSE);
        solve_behind(&s, &panel, false);
        solve_diagonal(&s, &panel);
        first = end;
    }

    for (int64_t end = s.n; end > 0;) {
        int64_t first = end;
        while (first > 0) {
            const int64_t step = 1 + symmetric_is_pair(&s, first - 1);
            if (first - step < end - SYMMETRIC_BLOCK)
                break;
            first -= step;
        }
        solve_begin(&s, &panel, first, end);
        solve_behind(&s, &panel, true);
        solve_triangle(&s, &panel, symmetric_operation(&s));
        solve_interchange(&s, &panel, true);
        end = first;
    }
}

void ji_host_sytrs(void *matmat) { ji_symmetric_solve(matmat, false); }
void ji_host_hetrs(void *matmat) { ji_symmetric_solve(matmat, true); }

static void solve_both(const ji_matmat_t *call, bool hermitian) {
    const ji_matmat_t factor = ji_factor_call(call);
    ji_symmetric_factor(&factor, hermitian);
    if (*call->info == 0)
        ji_symmetric_solve(call, hermitian);
}
void ji_host_sysv(void *matmat) { solve_both(matmat, false); }
void ji_host_hesv(void *matmat) { solve_both(matmat, true); }

/* ---- Panels ---- */

ji_panel_bytes_t ji_sytrs_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    const ji_head_t *head = &args->head;
    return ji_panels_for_both(
        ji_panel_bytes(handle, JI_GEMM, head, args->n, args->nrhs, SYMMETRIC_BLOCK),
        ji_panel_bytes(handle, JI_GEMM, head, SYMMETRIC_BLOCK, args->nrhs, args->n));
}
ji_panel_bytes_t ji_hetrs_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_sytrs_bytes(handle, args);
}

ji_panel_bytes_t ji_sysv_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_panels_for_both(ji_sytrf_bytes(handle, args), ji_sytrs_bytes(handle, args));
}
ji_panel_bytes_t ji_hesv_bytes(const jhandle_t *handle, const ji_matmat_t *args) {
    return ji_sysv_bytes(handle, args);
}
