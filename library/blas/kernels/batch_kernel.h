/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products in place, one or a batch of them, of one element type and instruction set (each_type.h).
 * No include guard.
 *
 * A tile is some vectors by some columns of sums that stay in registers while k runs. Each sum is
 * one chain of fused multiply-adds in the order of k, whatever tile it falls into, as in
 * product_kernel.h. A complex step is two real ones, with the column of A and with that times i.
 *
 * Each tile is a function of its own, made by one macro, so that compilers find registers for its
 * few pointers, and is called once for all items of a batch: with what it needs in registers it
 * goes from one to the next, and the processor begins an item while sums of the last are under
 * way. */

#define PARTS (1 + COMPLEX)
#include "blas/kernels/update_kernel.h"

#if VECTOR_REGISTERS == 32
#define MOST_SUMS 24   /* vectors, of a tile */
#define MOST_COLUMNS 8 /* of two vectors and more; of one, twice as many */
#else
#define MOST_SUMS 12
#define MOST_COLUMNS 4
#endif
#define WIDE 6                         /* vectors of the highest tile */
#define FEW (MOST_COLUMNS / 2 / PARTS) /* columns of it */
#define GROUP 4                        /* columns of B that are found from one pointer */
#define AHEAD 12                       /* columns of A */
#define UNROLLED(vectors) ((vectors) <= 2 ? 4 : 2) /* steps */

/* A tile: where it begins in each item, and what all items have in common; distances in bytes. */
typedef struct NAME(tile) {
    int64_t a, b, c;
    int64_t a_step, b_step, b_next, c_next, depth;
    const ji_batch_item_t *items;
    int64_t count;
    const NAME(scalars_t) * by;
    PART last; /* what the last vector has */
    int rows;
    bool conjugate; /* B */
    bool is_done;   /* sums need no product with alpha any more */
} NAME(tile_t);

/* ---- Steps ---- */

/* What a tile reads: places of the step at hand, and what is between them, bytes. Columns of B are
 * found in fours from one pointer: each has a place that the processor adds up as it loads. */
typedef struct NAME(walk) {
    const char *a, *b[4];
    int64_t a_step, b_step, b_next[4];
    PART last;
    VECTOR sign; /* of imaginary parts of B */
} NAME(walk_t);

/* One product for each sum. */
VECTOR_INLINE void NAME(multiply)(const NAME(walk_t) * walk, int vectors, int columns, int part,
                                  const VECTOR *column, VECTOR *acc) {
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        const REAL *const b = (const REAL *)(walk->b[j / GROUP] + walk->b_next[j % GROUP]);
        const VECTOR factor = V(splat)(b[part]);
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            acc[j * vectors + v] = V(fma)(column[v], factor, acc[j * vectors + v]);
    }
}

VECTOR_INLINE void NAME(step)(NAME(walk_t) * walk, int vectors, int columns, bool is_far,
                              VECTOR *acc) {
    VECTOR column[WIDE];
    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++) {
        const REAL *const from = (const REAL *)walk->a + v * LANES;
        column[v] = v < vectors - 1 ? V(load)(from) : V(load_part)(from, walk->last);
    }
    if (is_far) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            __builtin_prefetch(walk->a + AHEAD * walk->a_step + v * VECTOR_BYTES);
    }

    NAME(multiply)(walk, vectors, columns, 0, column, acc);
#if COMPLEX
    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        column[v] = walk->sign * V(turn)(column[v]);
    NAME(multiply)(walk, vectors, columns, 1, column, acc);
#endif

    walk->a += walk->a_step;
    VECTOR_UNROLL
    for (int group = 0; group * GROUP < columns; group++) {
        walk->b[group] += walk->b_step;
        VECTOR_PLAIN(walk->b[group]);
    }
    VECTOR_PLAIN(walk->a);
}

/* ---- To C ---- */

#if COMPLEX
/* By way of memory, for scalars with imaginary parts. */
VECTOR_INLINE void NAME(store_turned)(const NAME(tile_t) * tile, int vectors, int columns,
                                      const VECTOR *acc, char *c) {
    REAL sums[MOST_SUMS * LANES];

    VECTOR_UNROLL
    for (int j = 0; j < columns; j++, c += tile->c_next) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            V(store)(sums + (j * vectors + v) * LANES, acc[j * vectors + v]);
        NAME(update_column)
        (tile->rows * PARTS, sums + j * vectors * LANES, tile->by, (REAL *)c);
    }
}
#endif

/* What C becomes, of which all is read before anything is written: a column that was just written
 * beside the next one would be waited for. */
VECTOR_INLINE void NAME(add_to_sums)(const NAME(tile_t) * tile, int vectors, int columns,
                                     VECTOR *acc, const char *c) {
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++) {
            const REAL *const from = (const REAL *)c + v * LANES;
            const VECTOR old = v < vectors - 1 ? V(load)(from) : V(load_piece)(from, tile->last);
            VECTOR *const sum = &acc[j * vectors + v];
            *sum = V(fma)(tile->by->alpha, *sum, tile->by->beta * old);
        }
        c += tile->c_next;
        VECTOR_PLAIN(c);
    }
}

VECTOR_INLINE void NAME(store_sums)(const NAME(tile_t) * tile, bool is_done, int vectors,
                                    int columns, const VECTOR *acc, char *c) {
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++) {
            VECTOR result = acc[j * vectors + v];
            if (!is_done)
                result = tile->by->alpha * result;
            if (v < vectors - 1)
                V(store)((REAL *)c + v * LANES, result);
            else
                V(store_piece)((REAL *)c + v * LANES, result, tile->last);
        }
        c += tile->c_next;
        VECTOR_PLAIN(c);
    }
}

/* ---- Tiles ---- */

/* `vectors` x `columns` of one item. The numbers are the compiler's, after inlining. */
VECTOR_INLINE void NAME(one)(const NAME(tile_t) * tile, int vectors, int columns,
                             const int64_t *b_next, const ji_batch_item_t *item) {
    NAME(walk_t)
    walk = {.a = (const char *)item->a + tile->a,
            .a_step = tile->a_step,
            .b_step = tile->b_step,
            .b_next = {0, b_next[1], b_next[2], b_next[3]},
            .last = tile->last,
            .sign = V(splat)(tile->conjugate ? -1 : 1)};
    VECTOR acc[MOST_SUMS];

    VECTOR_UNROLL
    for (int group = 0; group * GROUP < columns; group++)
        walk.b[group] = (const char *)item->b + tile->b + group * GROUP * tile->b_next;
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        acc[j * vectors + v] = V(splat)(0);

    int64_t left = tile->depth;
    const int unrolled = UNROLLED(vectors);
    /* Columns that are pages apart are not foreseen by the processor. */
    if (walk.a_step >= 4096)
        for (; left > 0; left--)
            NAME(step)(&walk, vectors, columns, true, acc);
    for (; left >= unrolled; left -= unrolled)
        VECTOR_UNROLL
    for (int s = 0; s < unrolled; s++)
        NAME(step)(&walk, vectors, columns, false, acc);
    for (; left > 0; left--)
        NAME(step)(&walk, vectors, columns, false, acc);

    char *const c = (char *)item->c + tile->c;
    VECTOR_FENCE; /* the scalars are for what follows: no register holds them in the loop */
#if COMPLEX
    if (tile->by->turns_alpha || tile->by->turns_beta) { /* seldom */
        NAME(store_turned)(tile, vectors, columns, acc, c);
        return;
    }
#endif
    if (tile->by->reads)
        NAME(add_to_sums)(tile, vectors, columns, acc, c);
    if (tile->is_done)
        NAME(store_sums)(tile, true, vectors, columns, acc, c);
    else
        NAME(store_sums)(tile, false, vectors, columns, acc, c);
}

VECTOR_INLINE void NAME(all)(const NAME(tile_t) * tile, int vectors, int columns) {
    int64_t b_next[GROUP] = {0, tile->b_next, 2 * tile->b_next, 3 * tile->b_next};
    VECTOR_UNROLL
    for (int j = 1; j < GROUP; j++)
        VECTOR_PLAIN(b_next[j]);

    const ji_batch_item_t *const end = tile->items + tile->count;
    for (const ji_batch_item_t *item = tile->items; item != end; item++)
        NAME(one)(tile, vectors, columns, b_next, item);
}

#define TILE_NAME(vectors, columns) NAME(tile_##vectors##x##columns)
#define TILE(vectors, columns)                                                                     \
    static __attribute__((noinline)) void TILE_NAME(vectors, columns)(const NAME(tile_t) * tile) { \
        NAME(all)(tile, vectors, columns);                                                         \
    }
#define FOUR_TILES(X, vectors) X(vectors, 1) X(vectors, 2) X(vectors, 3) X(vectors, 4)
#define EIGHT_TILES(X, vectors)                                                                    \
    FOUR_TILES(X, vectors) X(vectors, 5) X(vectors, 6) X(vectors, 7) X(vectors, 8)
#if VECTOR_REGISTERS == 32
#define TILES(X)                                                                                   \
    EIGHT_TILES(X, 1)                                                                              \
    X(1, 12)                                                                                       \
    X(1, 16)                                                                                       \
    EIGHT_TILES(X, 2)                                                                              \
    X(2, 9)                                                                                        \
    X(2, 10) X(2, 11) X(2, 12) EIGHT_TILES(X, 3) FOUR_TILES(X, 4) X(4, 5) X(4, 6) FOUR_TILES(X, 6)
#else
#define TILES(X) EIGHT_TILES(X, 1) FOUR_TILES(X, 2) FOUR_TILES(X, 3) X(6, 1) X(6, 2)
#endif

TILES(TILE)

#define TILE_ENTRY(vectors, columns) [vectors][columns] = TILE_NAME(vectors, columns),
static void (*const NAME(tiles)[WIDE + 1][2 * MOST_COLUMNS + 1])(const NAME(tile_t) *) = {
    TILES(TILE_ENTRY)};

/* ---- The whole ---- */

/* How many vectors are done at once of so many: none is left alone, it would wait for its sums, and
 * where registers are enough four, with fewer columns. Six for a few columns. */
VECTOR_INLINE int NAME(vectors_of)(int64_t left, bool few) {
    if (few && left >= WIDE)
        return WIDE;
    if (VECTOR_REGISTERS == 32)
        return left < 3 ? (int)left : left >= 4 * (left % 3) && left % 3 > 0 ? 4 : 3;
    return left == 4 ? 2 : left < 3 ? (int)left : 3;
}

/* How many columns are done at once of so many, by that many vectors. */
VECTOR_INLINE int NAME(columns_of)(int64_t left, int vectors) {
    const int most = vectors == 1 ? 2 * MOST_COLUMNS : vectors == 4 ? MOST_SUMS / 4 : MOST_COLUMNS;
    if (left >= most)
        return most;
    return left <= 8 ? (int)left : left < 12 ? 8 : 12;
}

static void NAME(product)(const ji_product_direct_t *call) {
    const int64_t element = PARTS * (int64_t)sizeof(REAL), reals = call->m * PARTS;
    /* Member by member: to clear them before would take longer than a small product. */
    NAME(scalars_t) by;
    NAME(tile_t) tile;
#if COMPLEX
    by = NAME(spread)(&call->scalars);
#else
    by.alpha = V(splat)((REAL)call->scalars.alpha[0]);
    by.beta = V(splat)((REAL)call->scalars.beta[0]);
    by.reads = call->scalars.beta[0] != 0;
#endif
    tile.a_step = call->a_step * element;
    tile.b_step = call->b_row_step * element;
    tile.b_next = call->b_column_step * element;
    tile.c_next = call->ldc * element;
    tile.depth = call->depth;
    tile.items = call->items, tile.count = call->count;
    tile.by = &by;
    tile.conjugate = call->conjugate_b;
    tile.is_done = by.reads || call->scalars.alpha[0] == 1;

    for (int64_t at = 0, some; at < reals; at += some) {
        const int64_t left = reals - at;
        const int vectors =
            NAME(vectors_of)((left + LANES - 1) / LANES, call->n <= FEW && left >= WIDE * LANES);
        some = left < vectors * LANES ? left : vectors * LANES;
        tile.a = tile.c = at * (int64_t)sizeof(REAL);
        tile.b = 0;
        tile.last = V(first)((int)some - (vectors - 1) * LANES);
        tile.rows = (int)some / PARTS;

        for (int64_t rest = call->n, columns; rest > 0; rest -= columns) {
            columns = NAME(columns_of)(rest, vectors);
            NAME(tiles)[vectors][columns](&tile);
            tile.b += columns * tile.b_next, tile.c += columns * tile.c_next;
        }
    }
}

#include "blas/kernels/batch_triangle_kernel.h"

static const ji_batch_kernels_t NAME(batch) = {
    .lanes = LANES,
    .product = NAME(product),
    .cholesky = NAME(woven_cholesky),
    .solve = NAME(woven_solve),
};

#undef PARTS
#undef MOST_SUMS
#undef MOST_COLUMNS
#undef WIDE
#undef FEW
#undef GROUP
#undef AHEAD
#undef UNROLLED
#undef TILE_NAME
#undef TILE
#undef FOUR_TILES
#undef EIGHT_TILES
#undef TILES
#undef TILE_ENTRY
