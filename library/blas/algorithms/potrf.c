/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* potrf: the Cholesky factor of a symmetric or Hermitian matrix, in place, A = L L^H or U^H U,
 * which is the same with L = U^H.
 *
 * On the host the whole routine is one primitive, by halves (host/triangle_factor.c): each base
 * says by info whether there is a next step, and no caller waits for it.
 *
 * On a GPU, where a launch costs as much as a small product, it goes by blocks of factor_base
 * columns, from the left to the right in blocks of factor_wide. Each block takes out what its wide
 * block has to its left (a product), factors its diagonal block (one launch) and solves for the
 * panel below. Then all to the right of the wide block loses its share, at once: A22 -= A21 A21^H,
 * where nearly all of the flops are.
 *
 *          wide             wide
 *      +-----------+-----------------+
 *      | \         |                 |
 *      |  #\       |                 |
 *      |  ##.\     |                 |         #: done
 *      |  ##..\    |                 |         .: at work
 *      +-----------+-----------------+
 *      |  ##..     | \               |
 *      |  ##..     |    \            |
 *
 * With workspace each diagonal block is inverted when it is factored, by the same launch, and the
 * solve is a product:
 *
 *     panel := A's block column
 *     panel -= (#) (# beside the block)^H
 *     L11 and X = inv(L11)^H               the base
 *     A21 := panel X
 *
 * Of an upper triangle the panel holds the adjoint of a block row. A residual that is bounded in
 * each element no product with an inverse has, so this is for the accuracy normwise. Otherwise the
 * solve is JI_TRSM.
 *
 * All steps are given at once. Those behind a pivot that failed compute with what is there; but
 * they write to the right of it and below alone, so it and the factor before it stay, and in the
 * end info is found by looking for it: JI_PIVOT_INFO.
 *
 * Rungs of a GPU, with a matrix of more than one block:
 *
 *     "inverse"          X and a panel of all rows
 *     "inverse-strips"   X and a panel of at most factor_strip rows at once
 *     "substitution"     none */

#include "blas/algorithms/triangle.h"

/* One factorization: what all its steps know. */
typedef struct potrf_walk {
    jhandle_t *handle;
    const ji_matmat_t *call;
    const ji_tuning_t *tuning;
    bool upper;
    jblas_operation_t adjoint;
    void *inverse;     /* X, of order factor_base; NULL: there is no workspace */
    void *panel;       /* rows of a block column */
    int64_t strip, ld; /* how many at most; between its columns */
} potrf_walk_t;

/* Element (i, j) of L. */
static void *potrf_at(const potrf_walk_t *walk, int64_t i, int64_t j) {
    const ji_matmat_t *call = walk->call;
    return walk->upper ? ji_at(call->head.type, call->a, j, i, call->lda)
                       : ji_at(call->head.type, call->a, i, j, call->lda);
}

/* C -= rows of L from `first` on times those from `second` on, adjoint; of both the columns [left,
 * left + k). */
static jstatus_t potrf_product(const potrf_walk_t *walk, int64_t first, int64_t m, int64_t second,
                               int64_t n, int64_t left, int64_t k, void *c, int64_t ldc) {
    const ji_matmat_t *call = walk->call;
    const jdatatype_t type = call->head.type;

    ji_matmat_t product = {.head = call->head,
                           .transa = walk->upper ? walk->adjoint : JBLAS_NO_TRANSPOSE,
                           .transb = walk->upper ? JBLAS_NO_TRANSPOSE : walk->adjoint,
                           .m = m,
                           .n = n,
                           .k = k,
                           .alpha = ji_constant(type, -1),
                           .a = potrf_at(walk, first, left),
                           .lda = call->lda,
                           .b = potrf_at(walk, second, left),
                           .ldb = call->lda,
                           .beta = ji_constant(type, 1),
                           .c = c,
                           .ldc = ldc};

    return ji_run(walk->handle, JI_GEMM, &product);
}

/* The n x n block at `first` of A -= rows of L from there on times themselves, adjoint; columns
 * [left, left + k). */
static jstatus_t potrf_square(const potrf_walk_t *walk, int64_t first, int64_t n, int64_t left,
                              int64_t k) {
    const ji_matmat_t *call = walk->call;
    const jdatatype_t type = call->head.type, real = ji_real_of(type);

    ji_matmat_t update = {.head = call->head,
                          .uplo = call->uplo,
                          .transa = walk->upper ? walk->adjoint : JBLAS_NO_TRANSPOSE,
                          .n = n,
                          .k = k,
                          .alpha = ji_constant(real, -1),
                          .a = potrf_at(walk, first, left),
                          .lda = call->lda,
                          .beta = ji_constant(real, 1),
                          .c = potrf_at(walk, first, first),
                          .ldc = call->lda};

    return ji_run(walk->handle, ji_is_complex(type) ? JI_HERK : JI_SYRK, &update);
}

/* Factors the n x n block at `first`, which is in A or in the panel, and writes X if there is a
 * panel below. */
static jstatus_t potrf_base(const potrf_walk_t *walk, int64_t first, int64_t n, const void *panel,
                            void *inverse) {
    ji_matmat_t base = *walk->call;
    base.a = potrf_at(walk, first, first);
    base.n = n;
    base.b = panel;
    base.ldb = walk->ld;
    base.c = inverse;
    base.ldc = walk->tuning->factor_base;

    return ji_run(walk->handle, JI_POTRF_BASE, &base);
}

/* ---- A block without workspace ---- */

static jstatus_t potrf_solve(const potrf_walk_t *walk, int64_t first, int64_t n, int64_t rows) {
    ji_matmat_t solve = *walk->call;
    solve.side = walk->upper ? JBLAS_LEFT : JBLAS_RIGHT;
    solve.transa = walk->adjoint;
    solve.diag = JBLAS_NON_UNIT;
    solve.m = walk->upper ? n : rows;
    solve.n = walk->upper ? rows : n;
    solve.alpha = ji_constant(walk->call->head.type, 1);
    solve.a = potrf_at(walk, first, first);
    solve.b = potrf_at(walk, first + n, first);
    solve.ldb = solve.lda;

    return ji_run(walk->handle, JI_TRSM, &solve);
}

/* The block column at `first` of n columns, whose wide block begins at `left`. */
static jstatus_t potrf_block(const potrf_walk_t *walk, int64_t left, int64_t first, int64_t n) {
    const ji_matmat_t *call = walk->call;
    const int64_t below = first + n, rows = call->n - below, k = first - left;

    if (k > 0)
        JTRY_RETURN(potrf_square(walk, first, n, left, k));
    if (k > 0 && rows > 0) {
        void *c = potrf_at(walk, below, first);
        JTRY_RETURN(walk->upper
                        ? potrf_product(walk, first, n, below, rows, left, k, c, call->lda)
                        : potrf_product(walk, below, rows, first, n, left, k, c, call->lda));
    }

    JTRY_RETURN(potrf_base(walk, first, n, NULL, NULL));
    return rows > 0 ? potrf_solve(walk, first, n, rows) : JSTATUS_SUCCESS;
}

/* ---- A block by products ---- */

/* panel = A's block column at `column`, n columns, rows from `first` on. */
static jstatus_t potrf_copy(const potrf_walk_t *walk, int64_t first, int64_t rows, int64_t column,
                            int64_t n) {
    ji_matmat_t copy = *walk->call;
    copy.m = rows;
    copy.n = n;
    copy.k = first - column;
    copy.a = potrf_at(walk, first, column);
    copy.c = walk->panel;
    copy.ldc = walk->ld;

    return ji_run(walk->handle, JI_POTRF_PANEL, &copy);
}

/* A's rows from `first` on in the block column at `column` = the panel's, of which these are the
 * first, times X. */
static jstatus_t potrf_multiply(const potrf_walk_t *walk, const void *panel, int64_t first,
                                int64_t rows, int64_t column, int64_t n) {
    const ji_matmat_t *call = walk->call;
    const int64_t ldx = walk->tuning->factor_base;

    ji_matmat_t product = {.head = call->head,
                           .transa = walk->upper ? walk->adjoint : JBLAS_NO_TRANSPOSE,
                           .transb = walk->upper ? walk->adjoint : JBLAS_NO_TRANSPOSE,
                           .m = walk->upper ? n : rows,
                           .n = walk->upper ? rows : n,
                           .k = n,
                           .alpha = ji_constant(call->head.type, 1),
                           .a = walk->upper ? walk->inverse : panel,
                           .lda = walk->upper ? ldx : walk->ld,
                           .b = walk->upper ? panel : walk->inverse,
                           .ldb = walk->upper ? walk->ld : ldx,
                           .beta = ji_constant(call->head.type, 0),
                           .c = potrf_at(walk, first, column),
                           .ldc = call->lda};

    return ji_run(walk->handle, JI_GEMM, &product);
}

static jstatus_t potrf_block_by_products(const potrf_walk_t *walk, int64_t left, int64_t first,
                                         int64_t n) {
    const ji_matmat_t *call = walk->call;
    const int64_t below = first + n;

    for (int64_t strip = first; strip < call->n; strip += walk->strip) {
        const int64_t end = strip + ji_min(walk->strip, call->n - strip);
        const int64_t begin = strip == first ? below : strip; /* of what is multiplied by X */

        JTRY_RETURN(potrf_copy(walk, strip, end - strip, first, n));
        if (first > left)
            JTRY_RETURN(potrf_product(walk, strip, end - strip, first, n, left, first - left,
                                      walk->panel, walk->ld));

        if (strip == first) {
            void *inverse = below < call->n ? walk->inverse : NULL;
            JTRY_RETURN(potrf_base(walk, first, n, walk->panel, inverse));
        }
        if (begin < end) {
            const void *panel = ji_at(call->head.type, walk->panel, begin - strip, 0, 1);
            JTRY_RETURN(potrf_multiply(walk, panel, begin, end - begin, first, n));
        }
    }

    return JSTATUS_SUCCESS;
}

static jstatus_t potrf_by_blocks(const potrf_walk_t *walk) {
    const int64_t order = walk->call->n, wide = walk->tuning->factor_wide,
                  base = walk->tuning->factor_base;

    for (int64_t left = 0; left < order; left += wide) {
        const int64_t right = left + ji_min(wide, order - left);

        for (int64_t first = left; first < right; first += base) {
            const int64_t n = ji_min(base, right - first);
            JTRY_RETURN(walk->inverse != NULL ? potrf_block_by_products(walk, left, first, n)
                                              : potrf_block(walk, left, first, n));
        }

        if (right < order)
            JTRY_RETURN(potrf_square(walk, right, order - right, left, right - left));
    }

    return JSTATUS_SUCCESS;
}

/* ---- Plan and run ---- */

static int64_t potrf_panel_ld(const jhandle_t *handle, const ji_matmat_t *args, bool whole) {
    return ji_inverse_ld(whole ? args->n : ji_min(args->n, ji_tuning(handle)->factor_strip));
}

static void potrf_add_products(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args,
                               bool whole) {
    const int64_t base = ji_tuning(handle)->factor_base;
    const size_t bytes[2] = {
        jalloc_matrix_bytes(args->head.type, base, base),
        jalloc_matrix_bytes(args->head.type, potrf_panel_ld(handle, args, whole), base),
    };

    jplan_add(plan, whole ? JI_INVERSE : JI_INVERSE_STRIPS, whole ? 1 : 2, 0, 2, bytes);
}

void ji_potrf_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) {
    const ji_matmat_t *args = matmat;
    const ji_tuning_t *tuning = ji_tuning(handle);
    if (!tuning->triangle_products) {
        ji_factor_plan(plan, handle, args);
        return;
    }

    jplan_init(plan, handle, ji_routine_name(&args->head), "n", &args->n);
    if (args->n > tuning->factor_base && handle->accuracy == JACCURACY_NORMWISE) {
        potrf_add_products(plan, handle, args, true);
        if (args->n > tuning->factor_strip)
            potrf_add_products(plan, handle, args, false);
    }

    jplan_add(plan, "substitution", 0, 0, 0, NULL);
}

jstatus_t ji_potrf_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    ji_matmat_t block = *(const ji_matmat_t *)matmat;
    if (!ji_tuning(handle)->triangle_products)
        return ji_factor_run(handle, JI_POTRF, &block, ws);

    const bool whole = ji_is_way(ws, JI_INVERSE);
    const potrf_walk_t walk = {
        .handle = handle,
        .call = &block,
        .tuning = ji_tuning(handle),
        .upper = block.uplo == JBLAS_UPPER,
        .adjoint = ji_is_complex(block.head.type) ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE,
        .inverse = ws->ptr[0],
        .panel = ws->ptr[1],
        .strip = whole ? block.n : ji_tuning(handle)->factor_strip,
        .ld = potrf_panel_ld(handle, &block, whole),
    };

    JTRY_RETURN(ji_factor_begin(handle, &block));
    JTRY_RETURN(potrf_by_blocks(&walk));
    return ji_run(handle, JI_PIVOT_INFO, &block);
}
