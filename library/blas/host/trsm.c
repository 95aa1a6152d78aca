/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* trsm on the host: one primitive, by substitution in small triangles and products between them;
 * and trmm, unless its triangle is large.
 *
 * All cases of side, uplo and trans are one case: unknowns q = 0, 1, ... that are found in this
 * order from
 *
 *     sum_{p <= q} M(q,p) x(p) = alpha b(q)
 *
 * where M is op(A) or its transpose, with rows and columns reversed where that is needed to make it
 * lower. M and B are views: a first element and two strides, which may be negative.
 *
 *     +-----------+     A triangle above JI_TRIANGLE_MAX_ORDER unknowns is halved (here twice):
 *     | 1 \       |     solve the upper half, take its share out of the lower right-hand sides by
 *     | 2   3 \   |     one product (2, 4, 6), solve the lower half. Smaller ones (1, 3, 5, 7) are
 *     |       5 \ |     packed, and solved by kernels/triangle.h. The numbers are the order of
 *     |   4   6  7|     steps; 4 is one product for the lower half.
 *     +-----------+
 *
 * Whatever the triangle and the right-hand side the residual is that of substitution,
 * |alpha B - A X| <= gamma_k |A||X| element by element.
 *
 * Workspace. The panels of the products, between whose uses the same bytes hold packed triangles.
 * Where they do not hold a whole one, or there are none and it is packed on the stack, its rows are
 * packed and solved in pieces: those behind the first one bring the unknowns that are known with
 * them, which are read again.
 *
 *     +----+              The largest piece whose rows fit comes next.
 *     |  1 \
 *     +-----+--+
 *     |  2     \
 *     +--------+-+
 *     |  3       \
 *
 * For a few right-hand sides nothing is packed (kernels/triangle_few_kernel.h).
 *
 * trmm goes through B likewise, alpha M times it in place, from the last rows up. Triangles are as
 * large as a panel of the depth of products, whose sums are theirs (docs/bits.rst), and products
 * with what is beside them follow, panel after panel.
 *
 * Bits. Where triangles are halved is decided by the order alone; what is in a piece does not
 * matter (triangle_kernel.h), nor do threads, which divide the blocks of rows that are packed and
 * the strips of right-hand sides. So every rung has the same bits. */

#include "blas/host/product.h"
#include "blas/host/scale.h"
#include "blas/kernels/triangle.h"

#include "core/team.h"

#include <stdatomic.h>

/* What a thread is worth here, as so many products: it waits for the triangle to be packed. */
#define TRSM_THREAD_WORK 3
/* Long rows of B times so few columns are products as fast, for they lie as tiles want them. */
#define TRMM_FEW 4
#define TRMM_LONG 64
/* Above this order panels of products are packed too often. */
#define TRMM_MOST 1024
static_assert(JI_PRODUCT_DEPTH <= JI_TRIANGLE_MAX_ORDER, "a strip holds them");

/* One solve: what all its steps know. */
typedef struct trsm_walk {
    const ji_matmat_t *call;
    int64_t order, rhs;
    bool left;       /* M is op(A); otherwise its transpose */
    bool transposed; /* M against A as it is stored */
    bool reversed;   /* M is upper: the last unknown is found first */
} trsm_walk_t;

/* Where the unknowns [q, q + count), in the order in which they are found, begin in A. */
static int64_t trsm_first(const trsm_walk_t *walk, int64_t q, int64_t count) {
    return walk->reversed ? walk->order - q - count : q;
}

/* The rows (left) or columns of B that belong to the unknowns from `first` on. */
static void *trsm_rows(const trsm_walk_t *walk, int64_t first) {
    const ji_matmat_t *call = walk->call;
    return walk->left ? ji_at(call->head.type, call->b, first, 0, call->ldb)
                      : ji_at(call->head.type, call->b, 0, first, call->ldb);
}

/* ---- A small triangle ---- */

typedef struct trsm_piece {
    ji_triangle_t triangle;
    const ji_triangle_kernels_t *kernels;
    atomic_llong next; /* block of rows to pack, or strip to solve */
} trsm_piece_t;

static void trsm_pack_part(void *argument, int index) {
    trsm_piece_t *piece = argument;
    const int64_t blocks = ji_triangle_blocks(piece->triangle.order);
    (void)index;

    for (int64_t block;
         (block = atomic_fetch_add_explicit(&piece->next, 1, memory_order_relaxed)) < blocks;)
        piece->kernels->pack(&piece->triangle, block);
}

static void trsm_apply_part(void *argument, int index) {
    trsm_piece_t *piece = argument;
    const int64_t strips = ji_triangle_strips(piece->kernels->strip, piece->triangle.count);
    (void)index;

    for (int64_t strip;
         (strip = atomic_fetch_add_explicit(&piece->next, 1, memory_order_relaxed)) < strips;)
        piece->kernels->apply(&piece->triangle, strip);
}

/* How many of `left` rows behind `known` unknowns are packed at once into so many bytes. */
static int64_t trsm_piece_rows(jdatatype_t type, int64_t known, int64_t left, size_t bytes) {
    int64_t rows = left;

    while (ji_triangle_bytes(type, known, rows) > bytes)
        rows = (rows - 1) / JI_TRIANGLE_BLOCK * JI_TRIANGLE_BLOCK;
    return rows;
}

/* Packs the piece's rows and solves with them, by those who are leased. */
static void trsm_solve_piece(trsm_piece_t *piece, ji_team_lease_t *lease) {
    if (lease->count == 1) {
        for (int64_t block = 0; block < ji_triangle_blocks(piece->triangle.order); block++)
            piece->kernels->pack(&piece->triangle, block);
        const int64_t strips = ji_triangle_strips(piece->kernels->strip, piece->triangle.count);
        for (int64_t strip = 0; strip < strips; strip++)
            piece->kernels->apply(&piece->triangle, strip);
        return;
    }

    atomic_store_explicit(&piece->next, 0, memory_order_relaxed);
    ji_team_do(lease, trsm_pack_part, piece);
    atomic_store_explicit(&piece->next, 0, memory_order_relaxed);
    ji_team_do(lease, trsm_apply_part, piece);
}

/* So few right-hand sides are solved one by one: to pack the triangle would take longer, and most
 * of a strip would be empty. */
static bool trsm_is_few(jdatatype_t type, int64_t count, int64_t rhs) {
    return rhs <= (ji_is_complex(type) ? 1 : 2) || (count <= 4 && rhs <= 4);
}

/* The triangle of `count` unknowns from q on, in order in which they are found. */
static ji_triangle_t trsm_triangle_at(const trsm_walk_t *walk, int64_t q, int64_t count,
                                      const double alpha[2], void *packed) {
    const ji_matmat_t *call = walk->call;
    const jdatatype_t type = call->head.type;
    const int64_t first = trsm_first(walk, q, count), sign = walk->reversed ? -1 : 1;
    const int64_t start = walk->reversed ? first + count - 1 : first; /* the unknown found first */

    return (ji_triangle_t){.unit = call->diag == JBLAS_UNIT,
                           .conjugate = ji_is_complex(type) && ji_is_conjugated(call->transa),
                           .order = count,
                           .a = ji_at(type, call->a, start, start, call->lda),
                           .a_q = sign * (walk->transposed ? call->lda : 1),
                           .a_p = sign * (walk->transposed ? 1 : call->lda),
                           .packed = packed,
                           .count = walk->rhs,
                           .alpha = {alpha[0], alpha[1]},
                           .b = trsm_rows(walk, start),
                           .b_q = sign * (walk->left ? 1 : call->ldb),
                           .b_rhs = walk->left ? call->ldb : 1};
}

static void trsm_lease(const trsm_walk_t *walk, int64_t count, ji_team_lease_t *lease) {
    const ji_head_t *head = &walk->call->head;
    const double work =
        (double)count * (double)count / 2 * (double)walk->rhs * (ji_is_complex(head->type) ? 4 : 1);
    ji_team_begin(lease, &head->threads, ji_product_threads(work / TRSM_THREAD_WORK));
}

/* Not inlined: what is on the stack here is not while products run. */
static __attribute__((noinline)) void trsm_triangle(const trsm_walk_t *walk, int64_t q,
                                                    int64_t count, const double alpha[2]) {
    _Alignas(64) char stack[JI_SOLVE_STACK_BYTES];
    const ji_matmat_t *call = walk->call;
    const jdatatype_t type = call->head.type;
    const bool apart = call->panel_bytes > sizeof stack;
    trsm_piece_t piece = {
        .triangle = trsm_triangle_at(walk, q, count, alpha, apart ? call->panels : stack),
        .kernels = ji_kernels->triangle[type],
    };

    if (trsm_is_few(type, count, walk->rhs)) {
        for (int64_t index = 0; index < walk->rhs; index++)
            piece.kernels->solve_one(&piece.triangle, index);
        return;
    }

    ji_team_lease_t lease;
    trsm_lease(walk, count, &lease);
    for (int64_t known = 0; known < count; known += piece.triangle.order) {
        piece.triangle.known = known;
        piece.triangle.order =
            trsm_piece_rows(type, known, count - known, apart ? call->panel_bytes : sizeof stack);
        trsm_solve_piece(&piece, &lease);
    }
    ji_team_end(&lease);
}

/* ---- The walk ---- */

/* B(lower) = alpha M(lower, upper) B(upper) + beta B(lower), or its transpose on the right. */
static void trsm_update(const trsm_walk_t *walk, int64_t upper, int64_t upper_count, int64_t lower,
                        int64_t lower_count, const double alpha[2], const double beta[2]) {
    const ji_matmat_t *call = walk->call;
    const jdatatype_t type = call->head.type;
    const int64_t from = trsm_first(walk, upper, upper_count),
                  to = trsm_first(walk, lower, lower_count);
    const void *a = walk->transposed ? ji_at(type, call->a, from, to, call->lda)
                                     : ji_at(type, call->a, to, from, call->lda);
    const void *x = trsm_rows(walk, from);

    const ji_product_t product = {
        .type = type,
        .m = walk->left ? lower_count : walk->rhs,
        .n = walk->left ? walk->rhs : lower_count,
        .k = upper_count,
        .a = walk->left ? ji_operand_a(type, a, call->lda, call->transa)
                        : ji_operand_a(type, x, call->ldb, JBLAS_NO_TRANSPOSE),
        .b = walk->left ? ji_operand_b(type, x, call->ldb, JBLAS_NO_TRANSPOSE)
                        : ji_operand_b(type, a, call->lda, call->transa),
        .scalars = {.alpha = {alpha[0], alpha[1]}, .beta = {beta[0], beta[1]}},
        .c = trsm_rows(walk, to),
        .ldc = call->ldb,
        .threads = call->head.threads,
        .panels = call->panels,
        .panel_bytes = call->panel_bytes};
    ji_product(&product);
}

/* How many of `count` unknowns, more than a small triangle, are in the first half: small triangles
 * are of about the same order, so that none is a sliver. */
static int64_t trsm_upper(int64_t count) {
    const int64_t leaves = (count + JI_TRIANGLE_MAX_ORDER - 1) / JI_TRIANGLE_MAX_ORDER;
    return ji_triangle_blocks(count / leaves) * JI_TRIANGLE_BLOCK * (leaves / 2);
}

static void trsm_walk(const trsm_walk_t *walk, int64_t q, int64_t count, const double alpha[2]) {
    static const double one[2] = {1, 0}, minus_one[2] = {-1, 0};
    if (count <= JI_TRIANGLE_MAX_ORDER) {
        trsm_triangle(walk, q, count, alpha);
        return;
    }

    const int64_t upper = trsm_upper(count);
    trsm_walk(walk, q, upper, alpha);
    trsm_update(walk, q, upper, q + upper, count - upper, minus_one, alpha);
    trsm_walk(walk, q + upper, count - upper, one);
}

static trsm_walk_t trsm_walk_of(const ji_matmat_t *call) {
    const bool left = call->side == JBLAS_LEFT, transposed = ji_is_transposed(call->transa) == left;
    return (trsm_walk_t){
        .call = call,
        .order = left ? call->m : call->n,
        .rhs = left ? call->n : call->m,
        .left = left,
        .transposed = transposed,
        .reversed = (call->uplo == JBLAS_UPPER) != transposed,
    };
}

void ji_host_trsm(void *block) {
    const ji_matmat_t *call = block;
    if (ji_host_trmm_is_scaling(call))
        return;

    const trsm_walk_t walk = trsm_walk_of(call);
    double alpha[2];
    ji_read_scalar(call->head.type, &call->alpha, alpha);
    trsm_walk(&walk, 0, walk.order, alpha);
}

/* ---- Products with triangles ---- */

/* The rows [first, end) of B times their triangle, in place, from the last ones up: those above are
 * read, and come next. Not inlined, as trsm_triangle(). */
static __attribute__((noinline)) void trmm_triangle(const trsm_walk_t *walk, int64_t first,
                                                    int64_t end, const double alpha[2]) {
    _Alignas(64) char stack[JI_SOLVE_STACK_BYTES];
    const ji_matmat_t *call = walk->call;
    const jdatatype_t type = call->head.type;
    const bool apart = call->panel_bytes > sizeof stack;
    const size_t bytes = apart ? call->panel_bytes : sizeof stack;
    trsm_piece_t piece = {
        .triangle = trsm_triangle_at(walk, first, end - first, alpha, apart ? call->panels : stack),
        .kernels = ji_kernels->triangle[type],
    };
    piece.triangle.multiplies = true;
    piece.triangle.last_first = walk->reversed, piece.triangle.from_right = !walk->left;

    ji_team_lease_t lease;
    trsm_lease(walk, end - first, &lease);
    for (int64_t left = end - first, known; left > 0; left = known) {
        known = 0;
        while (ji_triangle_bytes(type, known, left - known) > bytes)
            known += JI_TRIANGLE_BLOCK;
        piece.triangle.known = known, piece.triangle.order = left - known;
        trsm_solve_piece(&piece, &lease);
    }
    ji_team_end(&lease);
}

/* Where the panel of the product's depth begins that ends there. Panels are cut as A's columns and
 * rows are counted, whichever are found first. */
static int64_t trmm_panel(const trsm_walk_t *walk, int64_t depth, int64_t end) {
    if (!walk->reversed)
        return (end - 1) / depth * depth;
    const int64_t first = (walk->order - end) / depth * depth;
    return walk->order - ji_min(first + depth, walk->order);
}

bool ji_host_trmm_by_strips(const ji_matmat_t *call) {
    static const double one[2] = {1, 0};
    const jdatatype_t type = call->head.type;
    const trsm_walk_t walk = trsm_walk_of(call);
    const int64_t depth = JI_PRODUCT_DEPTH / (ji_is_complex(type) ? 2 : 1);
    const bool is_long = !walk.left && walk.order <= TRMM_FEW && walk.rhs > TRMM_LONG;
    if (walk.order > TRMM_MOST || is_long)
        return false;

    double alpha[2];
    ji_read_scalar(type, &call->alpha, alpha);
    for (int64_t end = walk.order, first; end > 0; end = first) {
        first = trmm_panel(&walk, depth, end);
        trmm_triangle(&walk, first, end, alpha);
        for (int64_t to = first, from; to > 0; to = from) {
            from = trmm_panel(&walk, depth, to);
            trsm_update(&walk, from, to - from, first, end - first, alpha, one);
        }
    }
    return true;
}
