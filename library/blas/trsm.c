/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trsm by inverted diagonal blocks.
 *
 * Substitution finds one unknown after the other, and each waits for the one before: the machine's product units
 * starve. If the diagonal blocks are inverted first, everything is products (Du Croz and Higham 1992 show that the
 * residual is as small as substitution's if the blocks, not the whole matrix, are well conditioned). That takes memory,
 * and the memory buys more: the triangle is kept in the order in which it will be read.
 *
 *     +-----------+              A triangle above `leaf` unknowns is halved (here twice). Solve the upper half, take
 *     | 1 \       |              its share out of the lower right-hand sides by one product (2, 4, 6), solve the
 *     | 2   3 \   |              lower half. A triangle of at most `leaf` (1, 3, 5, 7) is made ready in workspace and
 *     |       5 \ |              applied. Each is used once, so one place in workspace serves them all in turn.
 *     |   4   6  7|
 *     +-----------+              The numbers are the order of steps; 4 is one product for the lower half.
 *
 * The rungs differ in the order of the leaves: the workspace is one leaf. The products are the device's gemm.
 *
 * Rungs: "inverse" (leaves of up to 256), "inverse-64" (leaves of 64; a fifteenth of the bytes), "substitution" (none).
 * Each sums in an order of its own, so each has bits of its own. Where inversion does not pay, substitution is the only
 * rung. */

#include "blas/triangle.h"

/* The unknowns [q, q + count) in the order in which they are found, as indices of A. */
typedef struct triangle_walk {
    const ji_matmat_t *args;
    jhandle_t *handle;
    int64_t order, rhs, leaf;
    bool left, transposed, reversed; /* M is op(A) (left) or its transpose; transposed against A's storage */
    void *packed;
} triangle_walk_t;

static int64_t triangle_first(const triangle_walk_t *walk, int64_t q, int64_t count) {
    return walk->reversed ? walk->order - q - count : q;
}

static jstatus_t triangle_run(jhandle_t *handle, ji_primitive_t primitive, void *block, size_t block_bytes) {
    if (handle != NULL)
        return ji_run_bytes(handle, primitive, block, block_bytes);
    ji_host_primitives[primitive](block);
    return JSTATUS_SUCCESS;
}

static jstatus_t triangle_leaf(const triangle_walk_t *walk, int64_t q, int64_t count, const ji_scalar_t *alpha) {
    const ji_matmat_t *args = walk->args;
    jdatatype_t type = args->head.type;
    int64_t first = triangle_first(walk, q, count), sign = walk->reversed ? -1 : 1;
    int64_t start = walk->reversed ? first + count - 1 : first; /* the unknown found first */
    ji_triangle_t block = {
        .type = type,
        .unit = args->diag == JBLAS_UNIT,
        .conjugate = ji_is_complex(type) && args->transa == JBLAS_CONJUGATE_TRANSPOSE,
        .order = count,
        .a = ji_at(type, args->a, start, start, args->lda),
        .a_q = sign * (walk->transposed ? args->lda : 1),
        .a_p = sign * (walk->transposed ? 1 : args->lda),
        .packed = walk->packed,
        .count = walk->rhs,
        .alpha = *alpha,
        .b = walk->left ? ji_at(type, args->b, start, 0, args->ldb) : ji_at(type, args->b, 0, start, args->ldb),
        .b_q = sign * (walk->left ? 1 : args->ldb),
        .b_rhs = walk->left ? args->ldb : 1,
    };
    jstatus_t status = triangle_run(walk->handle, JI_TRIANGLE_INVERT, &block, sizeof block);
    if (status != JSTATUS_SUCCESS)
        return status;
    return triangle_run(walk->handle, JI_TRIANGLE_APPLY, &block, sizeof block);
}

/* B(lower) = alpha B(lower) - M(lower, upper) X(upper), or its transpose on the right. */
static jstatus_t triangle_update(const triangle_walk_t *walk, int64_t upper, int64_t upper_count, int64_t lower,
                                 int64_t lower_count, const ji_scalar_t *alpha) {
    const ji_matmat_t *args = walk->args;
    jdatatype_t type = args->head.type;
    int64_t from = triangle_first(walk, upper, upper_count), to = triangle_first(walk, lower, lower_count);
    const void *a =
        walk->transposed ? ji_at(type, args->a, from, to, args->lda) : ji_at(type, args->a, to, from, args->lda);
    ji_matmat_t block = {
        .head = args->head, .k = upper_count, .alpha = ji_constant(type, -1), .beta = *alpha, .ldc = args->ldb};
    if (walk->left) {
        block.transa = args->transa, block.transb = JBLAS_NO_TRANSPOSE;
        block.m = lower_count, block.n = walk->rhs;
        block.a = a, block.lda = args->lda;
        block.b = ji_at(type, args->b, from, 0, args->ldb), block.ldb = args->ldb;
        block.c = ji_at(type, args->b, to, 0, args->ldb);
    } else {
        block.transa = JBLAS_NO_TRANSPOSE, block.transb = args->transa;
        block.m = walk->rhs, block.n = lower_count;
        block.a = ji_at(type, args->b, 0, from, args->ldb), block.lda = args->ldb;
        block.b = a, block.ldb = args->lda;
        block.c = ji_at(type, args->b, 0, to, args->ldb);
    }
    return triangle_run(walk->handle, JI_GEMM, &block, sizeof block);
}

static jstatus_t triangle_walk(const triangle_walk_t *walk, int64_t q, int64_t count, const ji_scalar_t *alpha) {
    if (count <= walk->leaf)
        return triangle_leaf(walk, q, count, alpha);
    /* Leaves of about the same order, so that none is a sliver. */
    int64_t leaves = (count + walk->leaf - 1) / walk->leaf;
    int64_t upper = (count / leaves + JI_TRIANGLE_BLOCK - 1) / JI_TRIANGLE_BLOCK * JI_TRIANGLE_BLOCK * (leaves / 2);
    ji_scalar_t one = ji_constant(walk->args->head.type, 1);
    jstatus_t status = triangle_walk(walk, q, upper, alpha);
    if (status == JSTATUS_SUCCESS)
        status = triangle_update(walk, q, upper, q + upper, count - upper, alpha);
    if (status == JSTATUS_SUCCESS)
        status = triangle_walk(walk, q + upper, count - upper, &one);
    return status;
}

jstatus_t ji_triangle_solve(jhandle_t *handle, const ji_matmat_t *args, int64_t leaf, void *packed) {
    bool left = args->side == JBLAS_LEFT;
    bool transposed = (args->transa != JBLAS_NO_TRANSPOSE) == left;
    triangle_walk_t walk = {
        .args = args,
        .handle = handle,
        .order = left ? args->m : args->n,
        .rhs = left ? args->n : args->m,
        .leaf = leaf,
        .left = left,
        .transposed = transposed,
        .reversed = (args->uplo == JBLAS_UPPER) != transposed,
        .packed = packed,
    };
    jstatus_t status = triangle_walk(&walk, 0, walk.order, &args->alpha);
    if (status != JSTATUS_SUCCESS || args->alpha.pointer == NULL)
        return status;
    /* An alpha on the device may turn out to be 0, and then what A holds must not matter. */
    ji_matmat_t clear = *args;
    return triangle_run(handle, JI_TRIANGLE_CLEAR, &clear, sizeof clear);
}

void ji_triangle_add_rungs(jplan_t *plan, jdatatype_t type, int64_t order, bool pays) {
    if (pays) {
        size_t bytes = ji_triangle_bytes(type, order < JI_TRIANGLE_MAX_ORDER ? order : JI_TRIANGLE_MAX_ORDER);
        jplan_add(plan, "inverse", 1, 0, 1, &bytes);
        if (order > JI_TRIANGLE_SMALL_LEAF) {
            bytes = ji_triangle_bytes(type, JI_TRIANGLE_SMALL_LEAF);
            jplan_add(plan, "inverse-64", 2, 0, 1, &bytes);
        }
    }
    jplan_add(plan, "substitution", 0, 0, 0, NULL);
}

int64_t ji_triangle_rung_leaf(const jborrow_t *ws) {
    return ji_triangle_leaf(ws->rung == 0 ? JI_TRIANGLE_MAX_ORDER : JI_TRIANGLE_SMALL_LEAF);
}

void ji_trsm_plan(jplan_t *plan, const jhandle_t *handle, const void *matmat) {
    const ji_matmat_t *args = matmat;
    jplan_init(plan, handle, ji_routine_name(&args->head), "mn", (const int64_t[]){args->m, args->n});
    ji_triangle_add_rungs(plan, args->head.type, args->side == JBLAS_LEFT ? args->m : args->n, ji_triangle_pays(args));
}

jstatus_t ji_trsm_run(jhandle_t *handle, const void *matmat, const jborrow_t *ws) {
    ji_matmat_t args = *(const ji_matmat_t *)matmat;
    if (ji_scalar_is(&args.alpha, args.head.type, 0))
        return ji_run(handle, JI_SCALE_MATRIX, &args);
    if (ws->ptr[0] == NULL)
        return ji_run(handle, JI_TRSM, &args);
    return ji_triangle_solve(handle, &args, ji_triangle_rung_leaf(ws), ws->ptr[0]);
}
