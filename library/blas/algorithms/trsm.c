/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trsm by triangles that are inverted in workspace; where a device solves by itself, as the host
 * does (host/trsm.c), its plan and that one primitive.
 *
 * Substitution finds one unknown after the other, and each waits for the one before: the machine's
 * product units starve. So the triangle is halved, and most of the work is products; what is left
 * are small triangles, and products too, with their inverses.
 *
 *     +-----------+     A triangle above `leaf` unknowns is halved (here twice): solve the upper
 *     | 1 \       |     half, take its share out of the lower right-hand sides by one product
 *     | 2   3 \   |     (2, 4, 6), solve the lower half. A triangle of at most `leaf` (1, 3, 5, 7)
 *     |       5 \ |     is applied by a product. The numbers are the order of steps; 4 is one
 *     |   4   6  7|     product for the lower half.
 *     +-----------+
 *
 * The products are the device's gemm. A launch costs as much as a small product, so all leaves are
 * inverted together before the walk (inverses.c); a leaf is then one product into a solution in
 * workspace, the products between leaves read that, and in the end it is copied to B:
 *
 *     B   [ b0 | b1 | b2 ]    x0 = inverse 0 * b0;   b1, b2 -= A x0;   x1 = inverse 1 * b1;   ...
 *     X   [ x0 | x1 | x2 ]    -> B
 *
 * An inverse keeps the residual of substitution where the leaves are well conditioned (Du Croz and
 * Higham 1992), and then in the norm: |alpha B - A X| <= c |A||D^-1||A||X| with the leaves' own
 * inverses, which also spread what is not finite. A larger leaf may have a larger D^-1, but the
 * constant does not follow its order L: of random, LU's, Cholesky's and Kahan's leaves of 64, 128,
 * 256 and 512 in float, conditions 4 to 4e17, none had more than 2.2 rounding errors of that bound.
 * Nobody on the host sees how they are conditioned without waiting for it. So these rungs are for
 * the accuracy normwise; componentwise plans have substitution alone.
 *
 * The order L of the leaves. n unknowns are n/L products, n/L - 1 more between leaves, 1 and
 * 2 log2(L/32) launches for the inverses, and a copy: of 8192 unknowns 133 launches with leaves of
 * 128, 41 with 512. A leaf of L times r right-hand sides is L/128 times r/128 tiles of a
 * product. While these are fewer than the processors, a leaf twice as large takes its products no
 * longer than two took theirs, and a level of products between leaves is gone, of which the same
 * holds. What it costs is L/n of all work for the zeros in inverses. So L is the least of 128, 256
 * and 512 that fills the processors, and at most n/4.
 *
 * Rungs. On the host those of its products' panels: "packed", "packed-small", "in place". On a GPU
 *
 *     "inverse"          the inverses of all leaves, and the solution, as large as B
 *     "inverse-strips"   the inverses of all leaves, of 128, and one leaf's solution for at most
 *                        1024 right-hand sides, copied at once
 *     "inverse-64"       one inverse of 64, and such a solution
 *     "substitution"     none
 *
 * Each sums in an order of its own, so each has bits of its own. Where workspace does not pay,
 * substitution is the only rung. */

#include "blas/algorithms/product.h"
#include "blas/algorithms/triangle.h"

#define TRIANGLE_STRIP 1024 /* right-hand sides at once on the lower rungs, by products */
#define TRIANGLE_TILE 128   /* of a product, the work of one processor */
#define TRIANGLE_LEAVES 4   /* at least, where they are larger than they need be */

/* The workspace of a solve. */
typedef struct triangle_space {
    int64_t leaf;    /* order of the leaves */
    void *triangles; /* inverses */
    void *solution;  /* with the same shape as B or as a strip of it */
    /* Room for all, not for one leaf's and a strip of its part. */
    bool all_inverses, whole_solution;
} triangle_space_t;

/* One solve: what all its steps know. */
typedef struct triangle_walk {
    const ji_matmat_t *args;
    jhandle_t *handle;
    triangle_space_t space;
    int64_t order, rhs;
    bool left;       /* M is op(A); otherwise its transpose */
    bool transposed; /* M against A as it is stored */
    bool reversed;   /* M is upper: the last unknown is found first */
    int64_t solution_ld;
} triangle_walk_t;

/* Where the unknowns [q, q + count), in the order in which they are found, begin in A. */
static int64_t triangle_first(const triangle_walk_t *walk, int64_t q, int64_t count) {
    return walk->reversed ? walk->order - q - count : q;
}

/* The rows (left) or columns of a matrix like B that belong to the unknowns from `first` on,
 * right-hand sides from `rhs` on. */
static void *triangle_rows(const triangle_walk_t *walk, const void *b, int64_t ld, int64_t first,
                           int64_t rhs) {
    jdatatype_t type = walk->args->head.type;
    return walk->left ? ji_at(type, b, first, rhs, ld) : ji_at(type, b, rhs, first, ld);
}

/* ---- A leaf ---- */

/* Inverts the blocks of the unknowns [first, first + count) of A. */
static jstatus_t triangle_invert(const triangle_walk_t *walk, int64_t first, int64_t count) {
    const ji_matmat_t *args = walk->args;
    ji_inverses_t block = {.type = args->head.type,
                           .upper = args->uplo == JBLAS_UPPER,
                           .unit = args->diag == JBLAS_UNIT,
                           .order = count,
                           .a = ji_at(args->head.type, args->a, first, first, args->lda),
                           .lda = args->lda,
                           .block = walk->space.leaf,
                           .inverses = walk->space.triangles};

    return ji_triangle_inverses(walk->handle, &block, walk->space.solution);
}

/* solution = alpha * inverse * the leaf's part of B (or B's part times the inverse), for `rhs`
 * right-hand sides. */
static jstatus_t triangle_multiply(const triangle_walk_t *walk, const void *inverse, const void *b,
                                   void *solution, int64_t count, int64_t rhs,
                                   const ji_scalar_t *alpha) {
    const ji_matmat_t *args = walk->args;
    ji_matmat_t block = {.head = args->head,
                         .k = count,
                         .alpha = *alpha,
                         .beta = ji_constant(args->head.type, 0),
                         .c = solution,
                         .ldc = walk->solution_ld};

    if (walk->left) {
        block.transa = args->transa, block.transb = JBLAS_NO_TRANSPOSE;
        block.m = count, block.n = rhs;
        block.a = inverse, block.lda = walk->space.leaf;
        block.b = b, block.ldb = args->ldb;
    } else {
        block.transa = JBLAS_NO_TRANSPOSE, block.transb = args->transa;
        block.m = rhs, block.n = count;
        block.a = b, block.lda = args->ldb;
        block.b = inverse, block.ldb = walk->space.leaf;
    }

    return ji_run(walk->handle, JI_GEMM, &block);
}

static jstatus_t triangle_copy(const triangle_walk_t *walk, int64_t m, int64_t n,
                               const void *solution, void *b) {
    jdatatype_t type = walk->args->head.type;
    ji_matmat_t block = {.head = walk->args->head,
                         .transa = JBLAS_NO_TRANSPOSE,
                         .transb = JBLAS_NO_TRANSPOSE,
                         .m = m,
                         .n = n,
                         .alpha = ji_constant(type, 1),
                         .a = solution,
                         .lda = walk->solution_ld,
                         .beta = ji_constant(type, 0),
                         .b = solution,
                         .ldb = walk->solution_ld,
                         .c = b,
                         .ldc = walk->args->ldb};

    return ji_run(walk->handle, JI_GEAM, &block);
}

static jstatus_t triangle_product(const triangle_walk_t *walk, int64_t q, int64_t count,
                                  const ji_scalar_t *alpha) {
    const ji_matmat_t *args = walk->args;
    const triangle_space_t *space = &walk->space;
    int64_t first = triangle_first(walk, q, count);

    const void *inverse = space->triangles;
    if (space->all_inverses)
        inverse = ji_at(args->head.type, inverse,
                        JI_INVERSE_OFFSET(space->leaf, first / space->leaf), 0, 1);
    else
        JTRY_RETURN(triangle_invert(walk, first, count));

    if (space->whole_solution)
        return triangle_multiply(walk, inverse, triangle_rows(walk, args->b, args->ldb, first, 0),
                                 triangle_rows(walk, space->solution, walk->solution_ld, first, 0),
                                 count, walk->rhs, alpha);

    for (int64_t rhs = 0; rhs < walk->rhs; rhs += TRIANGLE_STRIP) {
        int64_t width = ji_min(walk->rhs - rhs, TRIANGLE_STRIP);
        void *b = triangle_rows(walk, args->b, args->ldb, first, rhs);

        JTRY_RETURN(triangle_multiply(walk, inverse, b, space->solution, count, width, alpha));
        JTRY_RETURN(triangle_copy(walk, walk->left ? count : width, walk->left ? width : count,
                                  space->solution, b));
    }

    return JSTATUS_SUCCESS;
}

/* ---- The walk ---- */

/* B(lower) = alpha B(lower) - M(lower, upper) X(upper), or its transpose on the right. */
static jstatus_t triangle_update(const triangle_walk_t *walk, int64_t upper, int64_t upper_count,
                                 int64_t lower, int64_t lower_count, const ji_scalar_t *alpha) {
    const ji_matmat_t *args = walk->args;
    jdatatype_t type = args->head.type;
    int64_t from = triangle_first(walk, upper, upper_count),
            to = triangle_first(walk, lower, lower_count);
    const void *a = walk->transposed ? ji_at(type, args->a, from, to, args->lda)
                                     : ji_at(type, args->a, to, from, args->lda);

    const bool apart = walk->space.whole_solution; /* the solution is beside B */
    const int64_t ldx = apart ? walk->solution_ld : args->ldb;
    const void *x = triangle_rows(walk, apart ? walk->space.solution : args->b, ldx, from, 0);

    ji_matmat_t block = {.head = args->head,
                         .k = upper_count,
                         .alpha = ji_constant(type, -1),
                         .beta = *alpha,
                         .c = triangle_rows(walk, args->b, args->ldb, to, 0),
                         .ldc = args->ldb};

    if (walk->left) {
        block.transa = args->transa, block.transb = JBLAS_NO_TRANSPOSE;
        block.m = lower_count, block.n = walk->rhs;
        block.a = a, block.lda = args->lda;
        block.b = x, block.ldb = ldx;
    } else {
        block.transa = JBLAS_NO_TRANSPOSE, block.transb = args->transa;
        block.m = walk->rhs, block.n = lower_count;
        block.a = x, block.lda = ldx;
        block.b = a, block.ldb = args->lda;
    }

    return ji_run(walk->handle, JI_GEMM, &block);
}

/* How many of `count` unknowns, more than a leaf, are in the first half. */
static int64_t triangle_upper(const triangle_walk_t *walk, int64_t count) {
    /* Leaves are blocks of A, whose last one may be smaller: reversed it comes first. */
    const int64_t leaf = walk->space.leaf, leaves = (count + leaf - 1) / leaf;
    return walk->reversed ? count - (leaves + 1) / 2 * leaf : leaves / 2 * leaf;
}

static jstatus_t triangle_walk(const triangle_walk_t *walk, int64_t q, int64_t count,
                               const ji_scalar_t *alpha) {
    if (count <= walk->space.leaf)
        return triangle_product(walk, q, count, alpha);

    int64_t upper = triangle_upper(walk, count);
    ji_scalar_t one = ji_constant(walk->args->head.type, 1);

    jstatus_t status = triangle_walk(walk, q, upper, alpha);
    if (status == JSTATUS_SUCCESS)
        status = triangle_update(walk, q, upper, q + upper, count - upper, alpha);
    if (status == JSTATUS_SUCCESS)
        status = triangle_walk(walk, q + upper, count - upper, &one);

    return status;
}

static jstatus_t triangle_solve(jhandle_t *handle, const ji_matmat_t *args,
                                const triangle_space_t *space) {
    bool left = args->side == JBLAS_LEFT;
    bool transposed = ji_is_transposed(args->transa) == left;

    triangle_walk_t walk = {
        .args = args,
        .handle = handle,
        .space = *space,
        .order = left ? args->m : args->n,
        .rhs = left ? args->n : args->m,
        .left = left,
        .transposed = transposed,
        .reversed = (args->uplo == JBLAS_UPPER) != transposed,
    };

    int64_t rows = left                    ? walk.order
                   : space->whole_solution ? walk.rhs
                                           : ji_min(walk.rhs, TRIANGLE_STRIP);
    walk.solution_ld =
        ji_inverse_ld(left && !space->whole_solution ? ji_min(rows, space->leaf) : rows);

    jstatus_t status = JSTATUS_SUCCESS;
    if (space->all_inverses)
        status = triangle_invert(&walk, 0, walk.order);
    if (status == JSTATUS_SUCCESS)
        status = triangle_walk(&walk, 0, walk.order, &args->alpha);
    if (status == JSTATUS_SUCCESS && space->whole_solution)
        status = triangle_copy(&walk, args->m, args->n, space->solution, ji_unconst(args->b));
    if (status != JSTATUS_SUCCESS || args->alpha.pointer == NULL)
        return status;

    /* An alpha on the device may turn out to be 0, and then what A holds must not matter. */
    ji_matmat_t clear = *args;
    return ji_run(handle, JI_TRIANGLE_CLEAR, &clear);
}

/* ---- Rungs ---- */

bool ji_triangle_pays(const jhandle_t *handle, const ji_matmat_t *args) {
    const ji_tuning_t *tuning = ji_tuning(handle);
    if (!tuning->triangle_products)
        return ji_solve_bytes(handle, args).packed > 0;
    if (handle->accuracy != JACCURACY_NORMWISE)
        return false;

    const bool left = args->side == JBLAS_LEFT;
    return (left ? args->m : args->n) >= tuning->triangle_least_order &&
           (left ? args->n : args->m) >= tuning->triangle_least_rhs;
}

/* The order of the leaves of the best rung, by products, for so many right-hand sides. */
static int64_t triangle_leaf(const ji_tuning_t *tuning, int64_t order, int64_t rhs) {
    const int64_t columns = rhs / TRIANGLE_TILE + (rhs % TRIANGLE_TILE != 0);
    int64_t leaf = tuning->triangle_leaf;

    while (2 * leaf <= tuning->triangle_largest_leaf && order >= TRIANGLE_LEAVES * 2 * leaf &&
           leaf / TRIANGLE_TILE * columns < tuning->processors)
        leaf *= 2;

    return leaf;
}

/* No size here falls when the order or the right-hand sides grow. */
static void triangle_add_products(jplan_t *plan, const char *name, uint32_t bits_class,
                                  const ji_matmat_t *solve, int64_t leaf, bool all_inverses,
                                  bool whole_solution) {
    jdatatype_t type = solve->head.type;
    bool left = solve->side == JBLAS_LEFT;
    int64_t order = left ? solve->m : solve->n, rhs = left ? solve->n : solve->m;

    int64_t inverted = all_inverses ? order : ji_min(order, leaf);
    if (!whole_solution)
        order = ji_min(order, leaf), rhs = ji_min(rhs, TRIANGLE_STRIP);

    size_t products = ji_inverse_products_bytes(type, inverted, leaf);
    size_t solution =
        jalloc_matrix_bytes(type, ji_inverse_ld(left ? order : rhs), left ? rhs : order);
    size_t bytes[2] = {ji_inverses_bytes(type, inverted, leaf),
                       solution > products ? solution : products};

    jplan_add(plan, name, bits_class, 0, 2, bytes);
}

static void triangle_add_rungs(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *solve) {
    const ji_tuning_t *tuning = ji_tuning(handle);
    const int64_t order = solve->side == JBLAS_LEFT ? solve->m : solve->n;

    if (ji_triangle_pays(handle, solve)) {
        /* As large as for one right-hand side: with more of them leaves may be smaller. */
        triangle_add_products(plan, JI_INVERSE, 1, solve, triangle_leaf(tuning, order, 1), true,
                              true);
        if (order > tuning->triangle_small_leaf) {
            triangle_add_products(plan, JI_INVERSE_STRIPS, 2, solve, tuning->triangle_leaf, true,
                                  false);
            triangle_add_products(plan, JI_INVERSE_SMALL, 3, solve, tuning->triangle_small_leaf,
                                  false, false);
        }
    }

    jplan_add(plan, "substitution", 0, 0, 0, NULL);
}

/* The workspace, as a rung gives it. */
static triangle_space_t triangle_space(const ji_tuning_t *tuning, const ji_matmat_t *solve,
                                       const jborrow_t *ws) {
    const bool left = solve->side == JBLAS_LEFT, whole = ji_is_way(ws, JI_INVERSE),
               small = ji_is_way(ws, JI_INVERSE_SMALL);
    const int64_t best =
        triangle_leaf(tuning, left ? solve->m : solve->n, left ? solve->n : solve->m);

    return (triangle_space_t){.leaf = whole   ? best
                                      : small ? tuning->triangle_small_leaf
                                              : tuning->triangle_leaf,
                              .all_inverses = !small,
                              .whole_solution = whole,
                              .triangles = ws->ptr[0],
                              .solution = ws->ptr[1]};
}

void ji_trsm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) {
    const ji_matmat_t *args = matmat;
    jplan_init(plan, handle, ji_routine_name(&args->head), "mn",
               (const int64_t[]){args->m, args->n});

    if (ji_tuning(handle)->triangle_products)
        triangle_add_rungs(plan, handle, args);
    else
        ji_panel_add_rungs(plan, args, ji_solve_bytes(handle, args), 0);
}

jstatus_t ji_trsm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    ji_matmat_t args = *(const ji_matmat_t *)matmat;
    const ji_tuning_t *tuning = ji_tuning(handle);
    /* A GPU's kernel clears all items of a batch at once. */
    const bool clears = handle->device->kind != JDEVICE_HOST && ji_is_batch(&args.head);
    if (!clears && ji_scalar_is(&args.alpha, args.head.type, 0))
        return ji_run(handle, JI_SCALE_MATRIX, &args);

    if (!tuning->triangle_products)
        ji_panel_take(&args, ji_solve_bytes(handle, &args), ws);
    if (!tuning->triangle_products || ws->ptr[0] == NULL)
        return ji_run(handle, JI_TRSM, &args);

    const triangle_space_t space = triangle_space(tuning, &args, ws);
    return triangle_solve(handle, &args, &space);
}
