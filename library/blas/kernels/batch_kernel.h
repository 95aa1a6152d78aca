/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products in place, one or a batch of them, of one element type and instruction set (each_type.h).
 * No include guard.
 *
 * A tile is some vectors by some columns of sums that stay in registers while k runs. Each sum is
 * one chain of fused multiply-adds in the order of k, whatever tile it falls into, as in
 * product_kernel.h. A complex step is two real ones, with the column of A and with that times i.
 *
 * Where a tile's rows end within a vector, its last vector ends there, too, and has rows in common
 * with the one before it, which are computed twice: only a tile of less than a vector has parts.
 *
 * Each tile is a function of its own, made by one macro, so that compilers find registers for its
 * few pointers, and is called once for all items of a batch: with what it needs in registers it
 * goes from one to the next, and the processor begins an item while sums of the last are under
 * way. */

#define PARTS (1 + COMPLEX)
#define ELEMENT (PARTS * (int64_t)sizeof(REAL))
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
#define LEAD_LEAST_BYTES 1024          /* of a column of C */
#define FAR_LEAST_BYTES 196608         /* of C that is not near, and */
#define FAR_LEAST_DEPTH 16             /* the steps that are worth asking for it */
#define AHEAD 12                       /* columns of A */
#define TALL_LEAST_DEPTH 16            /* steps, of which so many are done at once: */
#define TALL_STEPS 8
#define TALL_SUMS_BYTES 16384 /* half of a first cache */
#define TALL_MOST_COLUMNS 32  /* at once */
/* Columns of B that are found from one pointer. */
#define GROUP (VECTOR_REGISTERS == 32 ? 4 : 8)
/* Whether several columns of A stay in registers and those of B pass by one after the other: there
 * the address of an element has no index, with which Intel's processors issue a sum of products in
 * two parts. */
#define BY_COLUMNS(vectors) (VECTOR_REGISTERS == 32 && (vectors) == 1)
/* Tiles of plain products: the usual ones of a batch, real, alpha 1 and beta 0, B not transposed,
 * items by strides. Of an item, which may take 20 ns, nothing is looked at any more, and one tile
 * has all of its columns: they have at most two vectors, by so many columns. */
#define HAS_PLAIN (VECTOR_MASKS && !COMPLEX)
#define HAS_KNOWN (VECTOR_BYTES > 16 && !COMPLEX) /* batch_known_kernel.h */
#define PLAIN_VECTORS 2
#define PLAIN_COLUMNS(vectors) ((vectors) < 2 ? 16 : 14)
#define PLAIN_SUMS 28
_Static_assert(PLAIN_SUMS <= VECTOR_MOST_UNROLLED, "sums are registers");
#define MOST_UNROLLED 8 /* steps */
#define UNROLLED(vectors, columns, is_plain)                                                       \
    ((is_plain) && BY_COLUMNS(vectors) && (columns) <= 12 ? MOST_UNROLLED                          \
     : BY_COLUMNS(vectors) || (vectors) * (columns) < 12 || IS_HIGH(vectors, columns) ? 4          \
                                                                                      : 2)

/* v, which is zeros, is made so by itself, where compilers would copy it from one that is: that may
 * take as long as a product. */
#ifdef VECTOR_AVX512
#define CLEAR(v) __asm__ volatile("vpxord %0, %0, %0" : "=v"(v))
#else
#define CLEAR(v) (void)(v)
#endif

/* Tiles of four vectors; of complex elements 16 registers are too few. */
#define HAS_FOURS (VECTOR_REGISTERS == 32 || (VECTOR_BYTES == 32 && !COMPLEX))
/* Whether registers do not suffice for sums, a column of A and an element of B. */
#define IS_HIGH(vectors, columns)                                                                  \
    (!COMPLEX && (vectors) * (columns) + (vectors) + 1 > VECTOR_REGISTERS)

/* A tile: where it begins in each item, and what all items have in common; distances in bytes. */
typedef struct NAME(tile) {
    int64_t a, b, c;
    int64_t a_step, b_step, b_next, c_next, depth;
    int64_t last;                     /* from the first vector to the last one */
    int64_t blocks, b_block, c_block; /* so many side by side */
    const ji_product_direct_t *call;
    const NAME(scalars_t) * by;
    PART part; /* of less than a vector */
    int rows;
    bool asks;     /* for columns of A ahead */
    bool goes_on;  /* C holds sums that were begun */
    bool is_sum;   /* what C becomes, no more: alpha 1 and beta 0 */
    bool is_far;   /* C is read, and no near cache holds it */
    bool is_plain; /* HAS_PLAIN */
} NAME(tile_t);

/* ---- Steps ---- */

/* What a tile reads: places of the step at hand, and what is between them, bytes. Columns of B are
 * found in groups from one pointer: each has a place that the processor adds up as it loads. */
typedef struct NAME(walk) {
    const char *a, *b[2 * MOST_COLUMNS / GROUP];
    int64_t a_step, b_step, b_odd[GROUP / 2];
    int64_t last;
    PART part;
    bool asks;
    const VECTOR *signs; /* that a vector of A changes where i, or -i, turns it */
} NAME(walk_t);

/* So many columns on: the processor doubles and adds odd multiples of the distance. */
VECTOR_INLINE int64_t NAME(columns_on)(const int64_t *odd, int j) {
    return j == 0 ? 0 : odd[(j >> __builtin_ctz(j)) / 2] << __builtin_ctz(j);
}

VECTOR_INLINE VECTOR NAME(of_a)(const NAME(walk_t) * walk, int vectors, int v, bool is_part) {
    const int64_t from = v == 0 ? 0 : v == vectors - 1 ? walk->last : v * VECTOR_BYTES;
    const REAL *const at = (const REAL *)(walk->a + from);
    return is_part ? V(load_part)(at, walk->part) : V(load)(at);
}

VECTOR_INLINE VECTOR NAME(of_b)(const NAME(walk_t) * walk, int j, int part, int step) {
    const char *const from =
        walk->b[j / GROUP] + step * walk->b_step + NAME(columns_on)(walk->b_odd, j % GROUP);
    return V(splat)(((const REAL *)from)[part]);
}

#if COMPLEX
/* A vector of A by i, or -i where B is conjugated. The signs stay in memory where sums, a column of
 * A and an element of B are all registers; GCC would have them in one, and sums in memory. */
VECTOR_INLINE VECTOR NAME(turned)(const NAME(walk_t) * walk, VECTOR column) {
    VECTOR swapped = V(swap)(column);
#if defined(VECTOR_AVX2)
    __asm__("vxorps %1, %0, %0" : "+x"(swapped) : "m"(*walk->signs));
    return swapped;
#else
    return V(flip)(swapped, *walk->signs);
#endif
}
#endif

/* One product for each sum. */
VECTOR_INLINE void NAME(multiply)(const NAME(walk_t) * walk, int vectors, int columns, int part,
                                  int step, const VECTOR *column, VECTOR *acc) {
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        const VECTOR factor = NAME(of_b)(walk, j, part, step);
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            acc[j * vectors + v] = V(fma)(column[v], factor, acc[j * vectors + v]);
        if (vectors > 1)
            VECTOR_NEEDED(factor); /* of one vector it may be a part of the sum's instruction */
    }
    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        VECTOR_NEEDED(column[v]);
}

/* The same where the column's vectors and the sums are more than there are registers: those of B
 * stay, and vectors of A pass by. */
VECTOR_INLINE void NAME(multiply_high)(const NAME(walk_t) * walk, int vectors, int columns,
                                       int step, VECTOR *acc) {
    VECTOR factor[MOST_COLUMNS];
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++)
        factor[j] = NAME(of_b)(walk, j, 0, step);

    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++) {
        const VECTOR column = NAME(of_a)(walk, vectors, v, false);
        VECTOR_UNROLL
        for (int j = 0; j < columns; j++)
            V(gain)(&acc[j * vectors + v], column, factor[j]);
    }
}

VECTOR_INLINE void NAME(advance_step)(NAME(walk_t) * walk, int vectors, int columns, bool is_part,
                                      int step, VECTOR *acc) {
    if (IS_HIGH(vectors, columns)) {
        NAME(multiply_high)(walk, vectors, columns, step, acc);
        walk->a += walk->a_step;
        VECTOR_PLAIN(walk->a);
        return;
    }

    VECTOR column[WIDE];
    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        column[v] = NAME(of_a)(walk, vectors, v, is_part);
    walk->a += walk->a_step;
    VECTOR_PLAIN(walk->a);

    NAME(multiply)(walk, vectors, columns, 0, step, column, acc);
#if COMPLEX
    VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        column[v] = NAME(turned)(walk, column[v]);
    NAME(multiply)(walk, vectors, columns, 1, step, column, acc);
#endif
}

/* `steps` of one vector: all of them with one column of B after the other. */
VECTOR_INLINE void NAME(advance_columns)(NAME(walk_t) * walk, int columns, bool is_part, int steps,
                                         VECTOR *acc) {
    VECTOR column[MOST_UNROLLED][PARTS];
    VECTOR_UNROLL
    for (int step = 0; step < steps; step++) {
        column[step][0] = NAME(of_a)(walk, 1, 0, is_part);
#if COMPLEX
        column[step][1] = NAME(turned)(walk, column[step][0]);
#endif
        walk->a += walk->a_step;
        VECTOR_PLAIN(walk->a);
    }

    const char *b = walk->b[0];
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        VECTOR_UNROLL
        for (int s = 0; s < steps * PARTS; s++)
            acc[j] = V(fma)(column[s / PARTS][s % PARTS], V(splat)(((const REAL *)b)[s]), acc[j]);
        b += walk->b_odd[0];
        VECTOR_PLAIN(b);
    }
    VECTOR_UNROLL
    for (int s = 0; s < steps * PARTS; s++)
        VECTOR_NEEDED(column[s / PARTS][s % PARTS]);
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++)
        VECTOR_HOLD(acc[j]);
    VECTOR_UNROLL
    for (int group = 0; group * GROUP < columns; group++) {
        walk->b[group] += steps * walk->b_step;
        VECTOR_PLAIN(walk->b[group]);
    }
}

/* `steps` of them. */
VECTOR_INLINE void NAME(advance)(NAME(walk_t) * walk, int vectors, int columns, bool is_part,
                                 int steps, VECTOR *acc) {
    VECTOR_UNROLL
    for (int step = 0; step < steps; step++) {
        VECTOR_UNROLL
        for (int j = 1; j < GROUP && j < columns; j += 2)
            VECTOR_PLAIN(walk->b_odd[j / 2]); /* else GCC adds distances before the loop */
        NAME(advance_step)(walk, vectors, columns, is_part, step, acc);

        if (vectors * columns >= 8 && !IS_HIGH(vectors, columns)) {
            VECTOR_UNROLL
            for (int s = 0; s < vectors * columns; s++)
                VECTOR_HOLD(acc[s]);
        }
    }

    VECTOR_UNROLL
    for (int group = 0; group * GROUP < columns; group++) {
        walk->b[group] += steps * walk->b_step;
        VECTOR_PLAIN(walk->b[group]);
    }
}

/* As many of the steps as are whole groups of `unrolled`; says how many are left. */
VECTOR_INLINE uint64_t NAME(advance_groups)(NAME(walk_t) * walk, int vectors, int columns,
                                            bool is_part, int unrolled, uint64_t depth,
                                            VECTOR *acc) {
    for (uint64_t some = depth / (unsigned)unrolled; some > 0; some--)
        if (BY_COLUMNS(vectors))
            NAME(advance_columns)(walk, columns, is_part, unrolled, acc);
        else
            NAME(advance)(walk, vectors, columns, is_part, unrolled, acc);
    return depth % (unsigned)unrolled;
}

/* All steps. The compiler knows the distances of the usual ones: of a B that is not transposed,
 * and of an A whose columns are near each other; pages apart they are not foreseen by the
 * processor. */
VECTOR_INLINE void NAME(advance_all)(NAME(walk_t) * walk, int vectors, int columns, bool is_part,
                                     bool is_plain, uint64_t depth, VECTOR *acc) {
    const int unrolled = UNROLLED(vectors, columns, is_plain);
    if (!walk->asks && walk->b_step == ELEMENT) {
        NAME(walk_t) plain = *walk;
        plain.b_step = ELEMENT;
        depth = NAME(advance_groups)(&plain, vectors, columns, is_part, unrolled, depth, acc);
        if (unrolled == MOST_UNROLLED)
            depth = NAME(advance_groups)(&plain, vectors, columns, is_part, 4, depth, acc);
        *walk = plain;
    }

    if (JI_LIKELY(depth == 0))
        return;
    do {
        if (walk->asks) {
            VECTOR_UNROLL
            for (int v = 0; v < vectors; v++)
                __builtin_prefetch(walk->a + AHEAD * walk->a_step + v * VECTOR_BYTES);
        }
        NAME(advance)(walk, vectors, columns, is_part, 1, acc);
    } while (--depth > 0);
}

/* ---- To C ---- */

VECTOR_INLINE REAL *NAME(of_c)(const NAME(tile_t) * tile, int vectors, int v, char *c) {
    return (REAL *)(c + (v == 0 ? 0 : v == vectors - 1 ? tile->last : v * VECTOR_BYTES));
}

#if COMPLEX
/* From memory, for scalars with imaginary parts, which are seldom; columns of `each` reals. */
static __attribute__((noinline)) void NAME(store_turned)(const NAME(scalars_t) * by,
                                                         const REAL *sums, int each, int columns,
                                                         int rows, char *c, int64_t c_next) {
    for (int j = 0; j < columns; j++)
        NAME(update_column)(rows * PARTS, sums + j * each, by, (REAL *)(c + j * c_next));
}
#endif

/* What C becomes, of which all is read before anything is written: a column that was just written
 * beside the next one would be waited for, and the last two vectors may have rows in common. */
VECTOR_INLINE void NAME(scale_sums)(const NAME(tile_t) * tile, int vectors, int columns,
                                    bool is_part, VECTOR *acc, char *c) {
    const NAME(scalars_t) *const by = tile->by;
    if (!by->reads) {
        VECTOR_UNROLL
        for (int s = 0; s < vectors * columns; s++)
            acc[s] = by->alpha * acc[s];
        return;
    }

    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++) {
            const REAL *const from = NAME(of_c)(tile, vectors, v, c);
            const VECTOR old = is_part ? V(load_piece)(from, tile->part) : V(load)(from);
            VECTOR *const sum = &acc[j * vectors + v];
            *sum = V(fma)(by->alpha, *sum, by->beta * old);
        }
        c += tile->c_next;
        VECTOR_PLAIN(c);
    }
}

VECTOR_INLINE void NAME(store_sums)(const NAME(tile_t) * tile, int vectors, int columns,
                                    bool is_part, const VECTOR *acc, char *c) {
    VECTOR_UNROLL
    for (int j = 0; j < columns; j++) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            if (is_part && VECTOR_MASKS && tile->is_sum) /* a C that is not read */
                V(store_part)((REAL *)c, acc[j], tile->part);
            else if (is_part)
                V(store_piece)((REAL *)c, acc[j], tile->part);
            else
                V(store)(NAME(of_c)(tile, vectors, v, c), acc[j * vectors + v]);
        c += tile->c_next;
        VECTOR_PLAIN(c);
    }
}

/* Lines of C below the tile, which is more columns than the processor foresees the lines of. */
VECTOR_INLINE void NAME(ask_below)(int vectors, int columns, const char *c, int64_t c_next) {
    const char *line = c + vectors * VECTOR_BYTES;
    for (int j = 0; j < columns; j++, line += c_next) {
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            __builtin_prefetch(line + v * VECTOR_BYTES, 0, 2);
    }
}

/* ---- How many at once ---- */

/* How many vectors are done at once of so many: none is left alone, it would wait for its sums and
 * may be part of one; where registers are enough four, with fewer columns. Six for a few columns.
 */
VECTOR_INLINE int NAME(vectors_of)(int64_t left, bool few) {
    if (few && left >= WIDE && left != WIDE + 1)
        return WIDE;
    if (HAS_FOURS)
        return left < 3 ? (int)left : left >= 4 * (left % 3) && left % 3 > 0 ? 4 : 3;
    return left == 4 ? 2 : left < 3 ? (int)left : 3;
}

/* How many columns are done at once of so many, by that many vectors. Those that are more than 8
 * and no tile are halved; plain tiles are alike. */
VECTOR_INLINE int NAME(columns_of)(int64_t left, int vectors, bool is_plain) {
    if (is_plain && left <= PLAIN_COLUMNS(vectors))
        return (int)left;
    if (is_plain) {
        const int64_t tiles = (left + PLAIN_COLUMNS(vectors) - 1) / PLAIN_COLUMNS(vectors);
        return (int)((left + tiles - 1) / tiles);
    }
    if (VECTOR_REGISTERS == 16 && vectors == 2)
        return left > 6 ? 4 : (int)left;
    if (VECTOR_REGISTERS == 16 && vectors == 4 && left == 4)
        return 2;
    const int most = vectors <= 1 ? 2 * MOST_COLUMNS : vectors == 4 ? MOST_SUMS / 4 : MOST_COLUMNS;
    if (left >= most)
        return most;
    return left <= 8 || left == 12 ? (int)left : (int)(left + 1) / 2;
}

/* ---- Tiles ---- */

/* `vectors` x `columns` of one item. The numbers are the compiler's, after inlining. */
VECTOR_INLINE void NAME(one)(const NAME(tile_t) * tile, int vectors, int columns, bool is_part,
                             const int64_t *b_odd, const char *a, const char *b, char *c) {
    const VECTOR signs =
        V(flip)(V(turn)(V(splat)(0)), V(splat)(tile->call->conjugate_b ? -(REAL)0 : (REAL)0));
    NAME(walk_t)
    walk = {.a = a,
            .a_step = tile->a_step,
            .b_step = tile->b_step,
            .last = tile->last,
            .part = tile->part,
            .asks = tile->asks,
            .signs = &signs};
    VECTOR acc[PLAIN_SUMS];

    VECTOR_UNROLL
    for (int odd = 0; odd < GROUP / 2; odd++)
        walk.b_odd[odd] = b_odd[odd];
    VECTOR_UNROLL
    for (int group = 0; group * GROUP < columns; group++)
        walk.b[group] = b + group * GROUP * tile->b_next;
    VECTOR_UNROLL
    for (int s = 0; s < vectors * columns; s++) {
        acc[s] = V(splat)(0);
        if (vectors == 1)
            CLEAR(acc[s]);
    }
    if (!is_part && tile->goes_on) {
        VECTOR_UNROLL
        for (int s = 0; s < vectors * columns; s++)
            acc[s] =
                V(load)(NAME(of_c)(tile, vectors, s % vectors, c + s / vectors * tile->c_next));
    }
    if (vectors * columns >= MOST_SUMS / 2 && tile->is_far)
        NAME(ask_below)(vectors, columns, c, tile->c_next);
    NAME(advance_all)(&walk, vectors, columns, is_part, tile->is_plain, (uint64_t)tile->depth, acc);

    if (!tile->is_sum) {
        VECTOR_FENCE; /* the scalars are for what follows: no register holds them in the loop */
#if COMPLEX
        if (tile->by->turns_alpha || tile->by->turns_beta) {
            REAL sums[MOST_SUMS * LANES];
            VECTOR_UNROLL
            for (int s = 0; s < vectors * columns; s++)
                V(store)
            (NAME(of_c)(tile, vectors, s % vectors, (char *)(sums + s / vectors * vectors * LANES)),
             acc[s]);
            NAME(store_turned)
            (tile->by, sums, vectors * LANES, columns, tile->rows, c, tile->c_next);
            return;
        }
#endif
        NAME(scale_sums)(tile, vectors, columns, is_part, acc, c);
    }
    NAME(store_sums)(tile, vectors, columns, is_part, acc, c);
}

/* The tile of all items. What it needs is copied: to registers, or where stores to C do not reach
 * as far as compilers know. */
VECTOR_INLINE void NAME(all)(const NAME(tile_t) * from, int vectors, int columns, bool is_part,
                             bool is_plain) {
    NAME(tile_t) tile = *from;
    tile.is_plain = is_plain;
    if (is_plain) {
        tile.b_step = ELEMENT;
        tile.is_sum = true, tile.asks = tile.goes_on = tile.is_far = false;
    }

    int64_t b_odd[GROUP / 2];
    VECTOR_UNROLL
    for (int odd = 0; odd < GROUP / 2; odd++) {
        b_odd[odd] = (2 * odd + 1) * tile.b_next;
        VECTOR_PLAIN(b_odd[odd]);
    }

    const int64_t a_stride = tile.call->a.stride, b_stride = tile.call->b.stride,
                  c_stride = tile.call->c.stride;
    const bool by_pointers = !is_plain && tile.call->by_pointers;
    char *at_a = tile.call->a.at, *at_b = tile.call->b.at, *at_c = tile.call->c.at;
    if (!by_pointers)
        at_a += tile.a, at_b += tile.b, at_c += tile.c;

    for (int64_t left = tile.call->count;;) {
        const char *a = at_a, *b = at_b;
        char *c = at_c;
        if (by_pointers) {
            memcpy(&a, at_a, sizeof a), memcpy(&b, at_b, sizeof b), memcpy(&c, at_c, sizeof c);
            a += tile.a, b += tile.b, c += tile.c;
        }
        for (int64_t block = tile.blocks;;) {
            NAME(one)(&tile, vectors, columns, is_part, b_odd, a, b, c);
            if (NAME(columns_of)(2 * columns, vectors, is_plain) != columns || --block == 0)
                break;
            b += tile.b_block, c += tile.c_block;
        }
        if (--left == 0)
            break;
        at_a += a_stride, at_b += b_stride, at_c += c_stride;
    }
}

/* Those of no whole vector have part of one. */
#define TILE_NAME(vectors, columns) NAME(tile_##vectors##x##columns)
#define TILE(vectors, columns)                                                                     \
    static __attribute__((noinline)) void TILE_NAME(vectors, columns)(const NAME(tile_t) * tile) { \
        NAME(all)(tile, vectors > 0 ? vectors : 1, columns, vectors == 0, false);                  \
    }
#define FOUR_TILES(X, vectors) X(vectors, 1) X(vectors, 2) X(vectors, 3) X(vectors, 4)
#define EIGHT_TILES(X, vectors)                                                                    \
    FOUR_TILES(X, vectors) X(vectors, 5) X(vectors, 6) X(vectors, 7) X(vectors, 8)
#if FEW == 1
#define WIDE_TILES(X) X(6, 1)
#elif FEW == 2
#define WIDE_TILES(X) X(6, 1) X(6, 2)
#else
#define WIDE_TILES(X) FOUR_TILES(X, 6)
#endif
#if VECTOR_REGISTERS == 32
#define SIXTEEN_TILES(X, vectors) EIGHT_TILES(X, vectors) X(vectors, 12) X(vectors, 16)
#define TILES(X)                                                                                   \
    SIXTEEN_TILES(X, 0)                                                                            \
    SIXTEEN_TILES(X, 1)                                                                            \
    EIGHT_TILES(X, 2)                                                                              \
    EIGHT_TILES(X, 3) FOUR_TILES(X, 4) X(4, 5) X(4, 6) WIDE_TILES(X)
#else
#define TILES(X)                                                                                   \
    EIGHT_TILES(X, 0)                                                                              \
    EIGHT_TILES(X, 1)                                                                              \
    FOUR_TILES(X, 2) X(2, 5) X(2, 6) FOUR_TILES(X, 3) TILES_OF_FOUR(X) WIDE_TILES(X)
#if HAS_FOURS
#define TILES_OF_FOUR(X) X(4, 1) X(4, 2) X(4, 3)
#else
#define TILES_OF_FOUR(X)
#endif
#endif

TILES(TILE)

#define TILE_ENTRY(vectors, columns) [vectors][columns] = TILE_NAME(vectors, columns),
static void (*const NAME(tiles)[WIDE + 1][2 * MOST_COLUMNS + 1])(const NAME(tile_t) *) = {
    TILES(TILE_ENTRY)};

#if HAS_PLAIN
#define PLAIN_NAME(vectors, columns) NAME(plain_##vectors##x##columns)
#define PLAIN(vectors, columns)                                                                    \
    static __attribute__((noinline)) void PLAIN_NAME(vectors,                                      \
                                                     columns)(const NAME(tile_t) * tile) {         \
        NAME(all)(tile, vectors > 0 ? vectors : 1, columns, vectors == 0, true);                   \
    }
#define FOURTEEN_TILES(X, vectors)                                                                 \
    EIGHT_TILES(X, vectors)                                                                        \
    X(vectors, 9)                                                                                  \
    X(vectors, 10) X(vectors, 11) X(vectors, 12) X(vectors, 13) X(vectors, 14)
#define PLAIN_TILES(X)                                                                             \
    FOURTEEN_TILES(X, 0)                                                                           \
    X(0, 15) X(0, 16) FOURTEEN_TILES(X, 1) X(1, 15) X(1, 16) FOURTEEN_TILES(X, 2)

PLAIN_TILES(PLAIN)

#define PLAIN_ENTRY(vectors, columns) [vectors][columns] = PLAIN_NAME(vectors, columns),
static void (*const NAME(plain_tiles)[PLAIN_VECTORS + 1][PLAIN_COLUMNS(1) + 1])(
    const NAME(tile_t) *) = {PLAIN_TILES(PLAIN_ENTRY)};
#endif

#if HAS_KNOWN
#include "blas/kernels/batch_known_kernel.h"
#endif

/* ---- The smallest ---- */

/* Two rows and a depth of two, of float four, too: columns of A, B and C that are an eighth to half
 * of a vector. */
#define IS_LEAST(order)                                                                            \
    (!COMPLEX && VECTOR_BYTES > 16 && ((order) == 2 || (SINGLE && (order) == 4)))

#if !COMPLEX && VECTOR_BYTES > 16
/* A column, again and again. */
VECTOR_INLINE VECTOR NAME(repeat)(const REAL *column, int order) {
#if SINGLE
    if (order == 4)
        return (s_vector)d_splat_pair((const double *)column);
#endif
    (void)order;
    return V(splat_pair)(column);
}

/* Element k of each column, as often as the column has elements. */
VECTOR_INLINE VECTOR NAME(elements)(VECTOR columns, int order, int k) {
#if SINGLE
    if (order == 4)
        return s_of_four(columns, k);
#endif
    (void)order;
    return k == 0 ? V(even)(columns) : V(odd)(columns);
}

/* Of B and C without gaps, which are of one shape, several columns are a vector. */
VECTOR_INLINE void NAME(least)(const ji_product_direct_t *call, const NAME(scalars_t) * by,
                               bool is_sum, int order) {
    const int64_t reals = order * call->n;
    const PART part = V(first)((int)(reals % LANES));
    const char *at_a = call->a.at, *at_b = call->b.at;
    char *at_c = call->c.at;

    for (int64_t left = call->count;;) {
        const char *a = at_a, *b = at_b;
        char *c = at_c;
        if (call->by_pointers)
            memcpy(&a, at_a, sizeof a), memcpy(&b, at_b, sizeof b), memcpy(&c, at_c, sizeof c);

        VECTOR column[4];
        VECTOR_UNROLL
        for (int k = 0; k < order; k++)
            column[k] = NAME(repeat)((const REAL *)a + k * call->a_step, order);
        for (int64_t i = 0; i < reals; i += LANES) {
            const bool is_part = reals - i < LANES;
            const REAL *const from = (const REAL *)b + i;
            REAL *const to = (REAL *)c + i;
            const VECTOR factors = is_part ? V(load_part)(from, part) : V(load)(from);
            VECTOR sum = V(splat)(0);
            VECTOR_UNROLL
            for (int k = 0; k < order; k++)
                sum = V(fma)(column[k], NAME(elements)(factors, order, k), sum);

            if (!is_sum) {
                VECTOR old = V(splat)(0);
                if (by->reads)
                    old = is_part ? V(load_piece)(to, part) : V(load)(to);
                sum = NAME(added)(by, sum, old);
            }
            if (is_part)
                V(store_piece)(to, sum, part);
            else
                V(store)(to, sum);
        }
        if (--left == 0)
            break;
        at_a += call->a.stride, at_b += call->b.stride, at_c += call->c.stride;
    }
}

static __attribute__((noinline)) bool NAME(product_least)(const ji_product_direct_t *call,
                                                          const NAME(scalars_t) * by, bool is_sum) {
    const bool is_dense = call->n == 1 || (call->b_column_step == call->m && call->ldc == call->m);
    if (!is_dense || call->b_row_step != 1 || call->depth != call->m)
        return false;

    if (call->m == 2)
        NAME(least)(call, by, is_sum, 2);
    else
        NAME(least)(call, by, is_sum, 4);
    return true;
}
#endif

/* ---- The whole ---- */

/* Tiles of so many vectors, side by side, of `columns` columns from tile->b and tile->c on. */
static void NAME(multiply_columns)(NAME(tile_t) * tile, int vectors, int64_t columns) {
    const bool is_plain = HAS_PLAIN && tile->is_plain && vectors <= PLAIN_VECTORS;
    while (columns > 0) {
        const int some = NAME(columns_of)(columns, vectors, is_plain);
        int64_t blocks = 0;
        for (; columns > 0 && NAME(columns_of)(columns, vectors, is_plain) == some; columns -= some)
            blocks++;
        tile->blocks = blocks;
        tile->b_block = some * tile->b_next, tile->c_block = some * tile->c_next;
#if HAS_PLAIN
        if (is_plain)
            NAME(plain_tiles)[vectors][some](tile);
        else
#endif
            NAME(tiles)[vectors][some](tile);
        tile->b += blocks * tile->b_block, tile->c += blocks * tile->c_block;
    }
}

/* Rows of C from real `at` on by columns [j, j + columns): `count` tiles of `vectors`, one below
 * the other. A few steps of all of them are done before the next ones. */
static void NAME(multiply_tall)(const NAME(tile_t) * of, int vectors, int64_t count, int64_t at,
                                int64_t j, int64_t columns) {
    _Alignas(64) REAL sums[TALL_SUMS_BYTES / sizeof(REAL)];
    const ji_product_direct_t *const call = of->call;
    const int64_t high = vectors * LANES * (int64_t)sizeof(REAL), reals = count * vectors * LANES;
    ji_product_direct_t steps = *call;
    NAME(tile_t) tile = *of;
    steps.count = count;
    steps.a.stride = steps.c.stride = high, steps.b.stride = 0;
    steps.a.at += at * (int64_t)sizeof(REAL), steps.b.at += j * tile.b_next;
    steps.c.at = (char *)sums;
    tile.call = &steps;
    tile.c_next = count * high;
    tile.last = high - LANES * (int64_t)sizeof(REAL);
    tile.is_sum = true, tile.asks = tile.is_far = tile.is_plain = false;
    tile.a = 0;

    for (int64_t step = 0; step < call->depth; step += TALL_STEPS) {
        tile.depth = call->depth - step < TALL_STEPS ? call->depth - step : TALL_STEPS;
        tile.goes_on = step > 0;
        tile.b = tile.c = 0;
        NAME(multiply_columns)(&tile, vectors, columns);
        steps.a.at += TALL_STEPS * tile.a_step, steps.b.at += TALL_STEPS * tile.b_step;
    }

    REAL *c = (REAL *)call->c.at + at + j * call->ldc * PARTS;
    for (const REAL *from = sums; columns > 0; columns--, from += reals, c += call->ldc * PARTS)
        NAME(update_column)(reals, from, of->by, c);
}

/* One product of an A whose columns are pages apart. One tile after the other would read a line or
 * two of each page, and come back for the next; here columns are read in long pieces, and sums stay
 * in the first cache and go on in the order of k. Whole vectors of rows alone; says how many reals
 * of each column are done. */
static int64_t NAME(product_tall)(const NAME(tile_t) * tile) {
    const ji_product_direct_t *const call = tile->call;
    const int64_t whole = call->m * PARTS / LANES * LANES;
    int64_t at = 0;
    if (!tile->asks || call->count > 1 || call->by_pointers || call->depth < TALL_LEAST_DEPTH)
        return 0;

    const int64_t most = call->n < TALL_MOST_COLUMNS ? call->n : TALL_MOST_COLUMNS;
    for (int64_t count; at < whole;) {
        const int64_t left = (whole - at) / LANES;
        const int vectors = (int)(most <= FEW && left >= WIDE ? WIDE : left < 3 ? left : 3);
        const int64_t fit = TALL_SUMS_BYTES / (most * vectors * LANES * (int64_t)sizeof(REAL));
        count = left / vectors < fit ? left / vectors : fit;
        for (int64_t j = 0; j < call->n; j += most)
            NAME(multiply_tall)
        (tile, vectors, count, at, j, call->n - j < most ? call->n - j : most);
        at += count * vectors * LANES;
    }
    return at;
}

/* Reals of each column before its first whole line, where columns of A and C begin alike: a vector
 * on two lines is loaded, and stored, as two. Of one product of some height to which C is added,
 * whose operands are there (pointers to them tell nothing), and no complex element of which is on
 * two lines. */
static int64_t NAME(lead)(const ji_product_direct_t *call, bool reads) {
    const uintptr_t at = (uintptr_t)call->c.at, from = (uintptr_t)call->a.at;
    const bool alike = at % ELEMENT == 0 && (at - from) % VECTOR_BYTES == 0 &&
                       (call->ldc | call->a_step) * ELEMENT % VECTOR_BYTES == 0;
    if (!alike || !reads || call->count > 1 || call->by_pointers ||
        call->m * ELEMENT < LEAD_LEAST_BYTES)
        return 0;
    return (int64_t)(-at % VECTOR_BYTES / sizeof(REAL));
}

static bool NAME(is_plain)(const ji_product_direct_t *call) {
    return HAS_PLAIN && call->scalars.alpha[0] == 1 && call->scalars.beta[0] == 0 &&
           call->b_row_step == 1 && call->a_step * ELEMENT < JI_PAGE_BYTES && !call->by_pointers;
}

#if HAS_PLAIN
/* Products of plain tiles that are alike, side by side. What is found out about other ones would
 * take as long as one of 8 x 8. */
static bool NAME(product_plain)(const ji_product_direct_t *call) {
    const int64_t rows = call->m;
    const int vectors = rows < LANES ? 0 : rows <= LANES ? 1 : 2;
    const int columns = NAME(columns_of)(call->n, vectors, true);
    if (rows > PLAIN_VECTORS * LANES || columns == 0 || call->n % columns > 0 || IS_LEAST(rows))
        return false;

    NAME(tile_t) tile;
    tile.a = tile.b = tile.c = 0;
    tile.a_step = call->a_step * ELEMENT;
    tile.b_next = call->b_column_step * ELEMENT;
    tile.c_next = call->ldc * ELEMENT;
    tile.depth = call->depth;
    tile.last = (rows - LANES) * ELEMENT;
    tile.blocks = call->n / columns;
    tile.b_block = columns * tile.b_next, tile.c_block = columns * tile.c_next;
    tile.call = call;
    tile.part = V(first)(rows < LANES ? (int)rows : LANES);
    NAME(plain_tiles)[vectors][columns](&tile);
    return true;
}
#endif

static __attribute__((noinline)) void NAME(product_by_tiles)(const ji_product_direct_t *call) {
    const int64_t reals = call->m * PARTS;
    /* Member by member: to clear them before would take longer than a small product. */
    NAME(scalars_t) by;
    NAME(tile_t) tile;
#if COMPLEX
    by = NAME(spread)(&call->scalars);
#else
    by.alpha = V(splat)((REAL)call->scalars.alpha[0]);
    by.beta = V(splat)((REAL)call->scalars.beta[0]);
    by.reads = call->scalars.beta[0] != 0;
    by.turns_alpha = by.turns_beta = false;
#endif
    tile.a_step = call->a_step * ELEMENT;
    tile.b_step = call->b_row_step * ELEMENT;
    tile.b_next = call->b_column_step * ELEMENT;
    tile.c_next = call->ldc * ELEMENT;
    tile.depth = call->depth;
    tile.call = call;
    tile.by = &by;
    tile.asks = tile.a_step >= JI_PAGE_BYTES;
    tile.goes_on = false;
    tile.is_far = by.reads && call->depth >= FAR_LEAST_DEPTH &&
                  call->m * call->n * ELEMENT >= FAR_LEAST_BYTES;
    tile.is_sum = !by.reads && call->scalars.alpha[0] == 1 && (!COMPLEX || !by.turns_alpha);
    tile.is_plain = NAME(is_plain)(call);
#if !COMPLEX && VECTOR_BYTES > 16
    if (IS_LEAST(call->m) && NAME(product_least)(call, &by, tile.is_sum))
        return;
#endif
    const int64_t tall = NAME(product_tall)(&tile),
                  lead = tall > 0 ? 0 : NAME(lead)(call, by.reads),
                  head = lead > 0 ? lead : reals - tall;
    tile.part = V(first)(head < LANES ? (int)head : LANES);

    for (int64_t at = tall, some; at < reals; at += some) {
        const int64_t left = at < lead ? lead : reals - at;
        const int vectors =
            left < LANES ? 0 : NAME(vectors_of)((left + LANES - 1) / LANES, call->n <= FEW);
        some = vectors == 0 || left < vectors * LANES ? left : vectors * LANES;
        tile.a = tile.c = at * (int64_t)sizeof(REAL);
        tile.b = 0;
        tile.last = (some - LANES) * (int64_t)sizeof(REAL);
        tile.rows = (int)some / PARTS;
        NAME(multiply_columns)(&tile, vectors, call->n);
    }
}

static __attribute__((noinline)) void NAME(product_by_chunks)(const ji_product_direct_t *call) {
    ji_product_direct_t some = *call;
    for (int64_t left = call->count; left > 0; left -= some.count) {
        some.count = left < call->chunk ? left : call->chunk;
        NAME(product_by_tiles)(&some);
        some.a.at += some.count * some.a.stride;
        some.b.at += some.count * some.b.stride;
        some.c.at += some.count * some.c.stride;
    }
}

static void NAME(product)(const ji_product_direct_t *call) {
#if HAS_KNOWN
    if (NAME(product_known)(call))
        return;
#endif
#if HAS_PLAIN
    if (NAME(is_plain)(call) && NAME(product_plain)(call))
        return;
#endif
    if (JI_LIKELY(call->chunk == 0 || call->count <= call->chunk))
        NAME(product_by_tiles)(call);
    else
        NAME(product_by_chunks)(call);
}

#include "blas/kernels/batch_triangle_kernel.h"

#include "blas/kernels/batch_lu_kernel.h"

static const ji_batch_kernels_t NAME(batch) = {
    .lanes = LANES,
    .masks = VECTOR_MASKS,
    .product = NAME(product),
    .cholesky = NAME(woven_cholesky),
    .solve = NAME(woven_solve),
    .lu = NAME(woven_lu),
};

#undef PARTS
#undef ELEMENT
#undef MOST_SUMS
#undef MOST_COLUMNS
#undef WIDE
#undef FEW
#undef GROUP
#undef BY_COLUMNS
#undef CLEAR
#undef MOST_UNROLLED
#undef HAS_PLAIN
#undef PLAIN_VECTORS
#undef PLAIN_COLUMNS
#undef PLAIN_SUMS
#undef PLAIN_NAME
#undef PLAIN
#undef FOURTEEN_TILES
#undef PLAIN_TILES
#undef PLAIN_ENTRY
#undef LEAD_LEAST_BYTES
#undef FAR_LEAST_BYTES
#undef FAR_LEAST_DEPTH
#undef AHEAD
#undef TALL_LEAST_DEPTH
#undef TALL_STEPS
#undef TALL_SUMS_BYTES
#undef TALL_MOST_COLUMNS
#undef UNROLLED
#undef HAS_FOURS
#undef IS_HIGH
#undef TILES_OF_FOUR
#undef IS_LEAST
#undef TILE_NAME
#undef TILE
#undef FOUR_TILES
#undef EIGHT_TILES
#undef WIDE_TILES
#undef SIXTEEN_TILES
#undef TILES
#undef TILE_ENTRY
