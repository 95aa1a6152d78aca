/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The product's kernels, of one element type and instruction set (each_type.h). No include guard.
 *
 * A tile is TILE_REALS x TILE_COLUMNS sums that stay in registers while k runs; a step loads a
 * column of A, TILE_VECTORS vectors, and multiplies it by one number of B after the other. Each sum
 * is one chain of fused multiply-adds in the order of k, whatever tile it falls into.
 *
 * Complex sums are real ones of twice the depth: with a = (x, y) and b = (u, v) each step is first
 * (x, y) u and then (-y, x) v. Packed, A holds (x, y) and (-y, x) one behind the other and B holds
 * u and v, so the real tile does the rest, without knowing (the "1m" method, Van Zee 2020). What is
 * multiplied in place is batch_kernel.h's. */

#if VECTOR_REGISTERS == 32
#define TILE_COLUMNS 8
#else
#define TILE_COLUMNS 4
#endif
#define TILE_VECTORS 3
#define PARTS (1 + COMPLEX)
#define TILE_REALS (TILE_VECTORS * LANES) /* in a column */
#define TILE_ROWS (TILE_REALS / PARTS)
#define SQUARE (NARROW_BYTES / (int)sizeof(REAL) / PARTS)
#define AHEAD_STEPS 8 /* between requests for lines of a complex C */
/* Steps ahead of which a column of A is asked for, out of the second cache, where a vector is a
 * line (measured on Cascade Lake: products of order 700 take 0.95 of the time). */
#define A_AHEAD_STEPS 8
/* Columns ahead of which the rows of one are asked for when A is packed: processors do not foresee
 * what is pages apart (measured on Zen 3: dgemm of order 400 takes 0.89 of the time). */
#define PACKED_AHEAD_COLUMNS 8

#include "blas/kernels/update_kernel.h"

/* ---- To C ---- */

static void NAME(update)(int rows, int columns, const void *sums_,
                         const ji_product_scalars_t *scalars, void *c_, int64_t ldc) {
    const NAME(scalars_t) by = NAME(spread)(scalars);
    const REAL *sums = sums_;
    REAL *c = c_;

    for (; columns > 0; columns--, sums += TILE_REALS, c += ldc * PARTS)
        NAME(update_column)(rows * PARTS, sums, &by, c);
}

static void NAME(update_triangle)(int rows, int columns, const void *sums_,
                                  const ji_product_scalars_t *scalars, void *c_, int64_t ldc,
                                  int diagonal, bool lower) {
    const NAME(scalars_t) by = NAME(spread)(scalars);
    const REAL *sums = sums_;
    REAL *c = c_;

    for (; columns > 0; columns--, diagonal++, sums += TILE_REALS, c += ldc * PARTS) {
        const int from = lower && diagonal > 0 ? diagonal : 0,
                  end = lower || diagonal >= rows ? rows : diagonal + 1;
        NAME(update_column)((end - from) * PARTS, sums + from * PARTS, &by, c + from * PARTS);
    }
}

/* ---- Packed tiles ---- */

#if !COMPLEX

/* Vectors [from, TILE_VECTORS) or [0, end) of each column; the numbers are the compiler's. */
VECTOR_INLINE void NAME(accumulate)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int from, int end,
                                    int64_t depth, const REAL *a, int64_t a_step, const REAL *b) {
    VECTOR_UNROLL_STEPS
    for (; depth > 0; depth--, a += a_step, b += TILE_COLUMNS) {
        VECTOR column[TILE_VECTORS];
        VECTOR_UNROLL
        for (int v = from; v < end; v++) {
            column[v] = V(load)(a + v * LANES);
            if (sizeof column[v] == 64)
                __builtin_prefetch(a + A_AHEAD_STEPS * a_step + v * LANES);
        }

        VECTOR_UNROLL
        for (int j = 0; j < TILE_COLUMNS; j++) {
            const VECTOR factor = V(splat)(b[j]);
            VECTOR_UNROLL
            for (int v = from; v < end; v++)
                acc[j][v] = V(fma)(column[v], factor, acc[j][v]);
        }
    }
}

VECTOR_INLINE void NAME(begin_sums)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int vectors) {
    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        acc[j][v] = V(splat)(0);
}

VECTOR_INLINE void NAME(end_sums)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int vectors, REAL *sums) {
    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        V(store)(sums + j * TILE_REALS + v * LANES, acc[j][v]);
}

VECTOR_INLINE void NAME(vector_sums)(int vectors, int64_t depth, const REAL *a, const REAL *b,
                                     REAL *sums) {
    VECTOR acc[TILE_COLUMNS][TILE_VECTORS];
    NAME(begin_sums)(acc, vectors);
    NAME(accumulate)(acc, 0, vectors, depth, a, TILE_REALS, b);
    NAME(end_sums)(acc, vectors, sums);
}

static void NAME(tile_sums)(int64_t depth, const void *a_, const void *b, void *sums_, int first,
                            int rows) {
    const int from = first / LANES, end = (first + rows + LANES - 1) / LANES;
    const REAL *const a = (const REAL *)a_ + from * LANES;
    REAL *const sums = (REAL *)sums_ + from * LANES;

    switch (end - from) {
    case 1: NAME(vector_sums)(1, depth, a, b, sums); break;
    case 2: NAME(vector_sums)(2, depth, a, b, sums); break;
    default: NAME(vector_sums)(TILE_VECTORS, depth, a, b, sums); break;
    }
}

/* Of so many steps those before the one that is `distance` on. */
VECTOR_INLINE int64_t NAME(within)(int64_t distance, int64_t depth) {
    return distance < 0 ? 0 : distance > depth ? depth : distance;
}

/* Steps [p, end) by rows: the diagonal is in vector `on`, and those behind it count, too (lower),
 * or those before it. */
VECTOR_INLINE void NAME(wedge_steps)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int vectors, int on,
                                     ji_product_wedge_t wedge, int64_t p, int64_t end,
                                     const REAL *a, const REAL *b) {
    const int from = wedge.lower ? on : 0, past = wedge.lower ? vectors : on + 1;

    for (; p < end; p++) {
        const int place = wedge.first * wedge.parts + ((int)p & -wedge.parts) - on * LANES;
        const KEEP keep = wedge.lower ? V(keep_from)(place) : V(keep_before)(place + wedge.parts);
        VECTOR column[TILE_VECTORS];
        VECTOR_UNROLL
        for (int v = from; v < past; v++)
            column[v] = V(load)(a + p * wedge.a_step + v * LANES);

        VECTOR_UNROLL
        for (int j = 0; j < TILE_COLUMNS; j++) {
            const VECTOR factor = V(splat)(b[p * TILE_COLUMNS + j]);
            VECTOR_UNROLL
            for (int v = from; v < past; v++)
                acc[j][v] = v == on ? V(fma_where)(keep, column[v], factor, acc[j][v])
                                    : V(fma)(column[v], factor, acc[j][v]);
        }
    }
}

/* Before a lower triangle's corner, and behind an upper one's, all rows count. */
VECTOR_INLINE void NAME(wedge_of_rows)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int vectors,
                                       ji_product_wedge_t wedge, int64_t depth, const REAL *a,
                                       const REAL *b) {
    const int distance = wedge.first * wedge.parts; /* of the first step from the first row */
    const int64_t begin = NAME(within)(-distance, depth),
                  end = NAME(within)(vectors * LANES - distance, depth);

    if (wedge.lower)
        NAME(accumulate)(acc, 0, vectors, begin, a, wedge.a_step, b);
    VECTOR_UNROLL
    for (int on = 0; on < vectors; on++)
        NAME(wedge_steps)
    (acc, vectors, on, wedge, NAME(within)(on * LANES - distance, depth),
     NAME(within)((on + 1) * LANES - distance, depth), a, b);
    if (!wedge.lower)
        NAME(accumulate)
    (acc, 0, vectors, depth - end, a + end * wedge.a_step, wedge.a_step, b + end * TILE_COLUMNS);
}

/* The same of columns, each step of the corner with the columns that it has. */
VECTOR_INLINE void NAME(wedge_of_columns)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int vectors,
                                          ji_product_wedge_t wedge, int64_t depth, const REAL *a,
                                          const REAL *b) {
    const int64_t begin = NAME(within)(-wedge.first * wedge.parts, depth),
                  end = NAME(within)((TILE_COLUMNS - wedge.first) * wedge.parts, depth);

    if (wedge.lower)
        NAME(accumulate)(acc, 0, vectors, begin, a, wedge.a_step, b);
    VECTOR_UNROLL
    for (int on = 0; on < TILE_COLUMNS; on++) {
        const int64_t past = NAME(within)((on + 1 - wedge.first) * wedge.parts, depth);
        for (int64_t p = NAME(within)((on - wedge.first) * wedge.parts, depth); p < past; p++) {
            VECTOR column[TILE_VECTORS];
            VECTOR_UNROLL
            for (int v = 0; v < vectors; v++)
                column[v] = V(load)(a + p * wedge.a_step + v * LANES);

            VECTOR_UNROLL
            for (int j = 0; j < TILE_COLUMNS; j++)
                if (wedge.lower ? j >= on : j <= on) {
                    const VECTOR factor = V(splat)(b[p * TILE_COLUMNS + j]);
                    VECTOR_UNROLL
                    for (int v = 0; v < vectors; v++)
                        acc[j][v] = V(fma)(column[v], factor, acc[j][v]);
                }
        }
    }
    if (!wedge.lower)
        NAME(accumulate)
    (acc, 0, vectors, depth - end, a + end * wedge.a_step, wedge.a_step, b + end * TILE_COLUMNS);
}

/* What C becomes, of so many vectors in each column. All of it is read before anything is written:
 * columns that are multiples of a page apart would wait for each other. */
VECTOR_INLINE void NAME(write_tile)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int vectors,
                                    const ji_product_scalars_t *scalars, REAL *c, int64_t ldc) {
    const NAME(scalars_t) by = NAME(spread)(scalars);
    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        if (by.reads)
            acc[j][v] = V(fma)(by.alpha, acc[j][v], by.beta * V(load)(c + j * ldc + v * LANES));
        else
            acc[j][v] = by.alpha * acc[j][v];
    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        V(store)(c + j * ldc + v * LANES, acc[j][v]);
}

/* The same of fewer columns, or where the last vector has fewer rows. */
VECTOR_INLINE void NAME(write_part)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int vectors,
                                    const ji_product_tile_t *tile) {
    const NAME(scalars_t) by = NAME(spread)(tile->scalars);
    const PART part = V(first)(tile->rows - (vectors - 1) * LANES);
    REAL *c = tile->c;
    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++, c += tile->ldc) {
        if (j >= tile->columns)
            return;
        VECTOR_UNROLL
        for (int v = 0; v + 1 < vectors; v++)
            V(store)
        (c + v * LANES,
         NAME(added)(&by, acc[j][v], by.reads ? V(load)(c + v * LANES) : V(splat)(0)));

        REAL *const end = c + (vectors - 1) * LANES;
        const VECTOR old = by.reads ? V(load_part)(end, part) : V(splat)(0);
        V(store_part)(end, NAME(added)(&by, acc[j][vectors - 1], old), part);
    }
}

VECTOR_INLINE void NAME(vectors_of_wedge)(int vectors, const ji_product_tile_t *tile,
                                          ji_product_wedge_t wedge) {
    const REAL *const a = tile->a, *const b = tile->b;
    VECTOR acc[TILE_COLUMNS][TILE_VECTORS];
    NAME(begin_sums)(acc, vectors);
    if (wedge.by_rows)
        NAME(wedge_of_rows)(acc, vectors, wedge, tile->depth, a, b);
    else
        NAME(wedge_of_columns)(acc, vectors, wedge, tile->depth, a, b);
    if (tile->rows == vectors * LANES && tile->columns == TILE_COLUMNS)
        NAME(write_tile)(acc, vectors, tile->scalars, tile->c, tile->ldc);
    else
        NAME(write_part)(acc, vectors, tile);
}

/* Of one kind, which the compiler knows. A triangle is packed. */
VECTOR_INLINE void NAME(wedge_of_kind)(bool by_rows, bool lower, const ji_product_tile_t *tile,
                                       ji_product_wedge_t wedge) {
    wedge.by_rows = by_rows, wedge.lower = lower;
    if (by_rows)
        wedge.a_step = TILE_REALS;
    switch ((tile->rows + LANES - 1) / LANES) {
    case 1: NAME(vectors_of_wedge)(1, tile, wedge); break;
    case 2: NAME(vectors_of_wedge)(2, tile, wedge); break;
    default: NAME(vectors_of_wedge)(TILE_VECTORS, tile, wedge);
    }
}

static void NAME(tile_wedge)(const ji_product_tile_t *tile, const ji_product_wedge_t *wedge) {
    if (wedge->lower && wedge->by_rows)
        NAME(wedge_of_kind)(true, true, tile, *wedge);
    else if (wedge->lower)
        NAME(wedge_of_kind)(false, true, tile, *wedge);
    else if (wedge->by_rows)
        NAME(wedge_of_kind)(true, false, tile, *wedge);
    else
        NAME(wedge_of_kind)(false, false, tile, *wedge);
}

/* A function, which reads alpha and beta behind the sums: inlined into a loop, GCC 12 keeps these,
 * and addresses, in registers, has too few for the step's vectors, and takes twice as long (Emerald
 * Rapids, AVX-512). */
static __attribute__((noinline)) void NAME(whole_tile)(int64_t depth, const REAL *a, const REAL *b,
                                                       const ji_product_scalars_t *scalars, REAL *c,
                                                       int64_t ldc) {
    VECTOR acc[TILE_COLUMNS][TILE_VECTORS];

    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++) {
        VECTOR_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            acc[j][v] = V(splat)(0);
        __builtin_prefetch(c + j * ldc, 1);
        __builtin_prefetch(c + j * ldc + TILE_REALS / 2, 1);
        __builtin_prefetch(c + j * ldc + TILE_REALS - 1, 1);
    }

    NAME(accumulate)(acc, 0, TILE_VECTORS, depth, a, TILE_REALS, b);

    NAME(write_tile)(acc, TILE_VECTORS, scalars, c, ldc);
}

static void NAME(tiles)(int64_t count, int64_t depth, const void *a_, const void *b,
                        const ji_product_scalars_t *scalars, void *c_, int64_t ldc) {
    const REAL *a = a_;
    REAL *c = c_;

    for (; count > 0; count--, a += depth * TILE_REALS, c += TILE_REALS)
        NAME(whole_tile)(depth, a, b, scalars, c, ldc);
}

/* What a column of a complex C becomes, by real sums. Where alpha has no part there is no infinity
 * that it would make NaN. */
VECTOR_INLINE void NAME(update_complex)(int rows, const REAL *sums, const NAME(scalars_t) * by,
                                        REAL *c) {
    const VECTOR zero = V(splat)(0);

    for (int i = 0; i < 2 * rows; i += LANES) {
        const PART part = V(first)(2 * rows - i < LANES ? 2 * rows - i : LANES);
        const VECTOR old = by->reads ? V(load_part)(c + i, part) : zero;
        const VECTOR sum =
            V(where)(V(exceeds)(V(abs)(by->alpha), zero), V(load_twice)(sums + i / 2));

        VECTOR result = by->beta * old;
        if (by->turns_beta)
            result = V(fma)(by->beta_i, V(turn)(old), result);
        V(store_part)(c + i, V(fma)(by->alpha, sum, result), part);
    }
}

/* Lines of C are asked for a few at a time, so that loads of A and B do not wait behind them. */
static void NAME(tile_complex)(int64_t depth, const void *a_, const void *b_, int rows, int columns,
                               const ji_product_scalars_t *scalars, void *c_, int64_t ldc) {
    const REAL *a = a_, *b = b_;
    REAL *c = c_, sums[TILE_COLUMNS * TILE_REALS];
    VECTOR acc[TILE_COLUMNS][TILE_VECTORS];
    NAME(begin_sums)(acc, TILE_VECTORS);

    for (int i = 0; i < 2 * rows; i += 64 / (int)sizeof(REAL)) {
        const int64_t steps = depth < AHEAD_STEPS ? depth : AHEAD_STEPS;
        for (int j = 0; j < columns; j++)
            __builtin_prefetch(c + i + j * 2 * ldc, 1);

        NAME(accumulate)(acc, 0, TILE_VECTORS, steps, a, TILE_REALS, b);
        a += steps * TILE_REALS, b += steps * TILE_COLUMNS, depth -= steps;
    }
    NAME(accumulate)(acc, 0, TILE_VECTORS, depth, a, TILE_REALS, b);
    NAME(end_sums)(acc, TILE_VECTORS, sums);

    const REAL alpha[2] = {(REAL)scalars->alpha[0], (REAL)scalars->alpha[1]};
    const NAME(scalars_t) by = {.alpha = V(splat_pair)(alpha),
                                .beta = V(splat)((REAL)scalars->beta[0]),
                                .beta_i = V(splat)((REAL)scalars->beta[1]),
                                .turns_beta = scalars->beta[1] != 0,
                                .reads = scalars->beta[0] != 0 || scalars->beta[1] != 0};
    for (int j = 0; j < columns; j++, c += 2 * ldc)
        NAME(update_complex)(rows, sums + j * TILE_REALS, &by, c);
}

#else /* what a complex tile is: a real one of twice the depth */

static void NAME(tile_sums)(int64_t depth, const void *a, const void *b, void *sums, int first,
                            int rows) {
    REAL_NAME(tile_sums)(2 * depth, a, b, sums, 2 * first, 2 * rows);
}

static void NAME(tiles)(int64_t count, int64_t depth, const void *a, const void *b,
                        const ji_product_scalars_t *scalars, void *c, int64_t ldc) {
    REAL_NAME(tiles)(count, 2 * depth, a, b, scalars, c, 2 * ldc);
}

#endif

/* ---- Packing ---- */

/* What is packed: `count` lines of `depth` steps, one of them contiguous. */
typedef struct NAME(lines) {
    const REAL *from;
    int64_t line, step; /* reals from one to the next */
    int64_t depth;
    int count;
    bool conjugate;
} NAME(lines_t);

VECTOR_INLINE NAME(lines_t) NAME(lines)(const void *from, int64_t line_step, int64_t step_step,
                                        int count, int64_t depth, bool conjugate) {
    return (NAME(lines_t)){from, line_step * PARTS, step_step * PARTS, depth, count, conjugate};
}

/* Asks for the lines of so many reals. */
VECTOR_INLINE void NAME(ask_for)(const REAL *from, int reals) {
    for (int i = 0; i < reals; i += 64 / (int)sizeof(REAL))
        __builtin_prefetch(from + i);
    __builtin_prefetch(from + reals - 1);
}

/* A column of a strip of A whose rows lie together, of `reals` and zeros up to the next vector. */
VECTOR_INLINE void NAME(pack_column)(REAL *to, const REAL *from, int reals, bool conjugate,
                                     bool turned) {
    for (; reals > 0; reals -= LANES, to += LANES, from += LANES) {
        VECTOR column = reals >= LANES ? V(load)(from) : V(load_part)(from, V(first)(reals));
#if COMPLEX
        if (conjugate)
            column = V(conjugate)(column);
        if (turned)
            V(store)(to + TILE_REALS, V(turn)(column));
#else
        (void)conjugate, (void)turned;
#endif
        V(store)(to, column);
    }
}

/* SQUARE steps from `at` of SQUARE lines, to places of a strip whose steps are `stride` apart. */
VECTOR_INLINE void NAME(pack_square)(REAL *to, int stride, const REAL *const *lines, int64_t at,
                                     bool conjugate, bool turned) {
    const REAL *line[SQUARE];
    NARROW row[SQUARE];
    VECTOR_UNROLL
    for (int i = 0; i < SQUARE; i++)
        line[i] = lines[i] + at * PARTS;

#if COMPLEX
    V(transpose_complex)(row, line);
#else
    V(transpose)(row, line);
#endif
    VECTOR_UNROLL
    for (int p = 0; p < SQUARE; p++) {
#if COMPLEX
        if (conjugate)
            row[p] = V(narrow_conjugate)(row[p]);
        if (turned)
            V(narrow_store)(to + p * stride + TILE_REALS, V(narrow_turn)(row[p]));
#else
        (void)conjugate, (void)turned;
#endif
        V(narrow_store)(to + p * stride, row[p]);
    }
}

/* One element to its place in a strip of A (`turned`: and the element times i behind it). */
VECTOR_INLINE void NAME(pack_one)(REAL *to, const REAL *from, bool conjugate, bool turned) {
#if COMPLEX
    const REAL x = from[0], y = conjugate ? -from[1] : from[1];
    to[0] = x, to[1] = y;
    if (turned)
        to[TILE_REALS] = -y, to[TILE_REALS + 1] = x;
#else
    (void)conjugate, (void)turned;
    to[0] = from[0];
#endif
}

typedef REAL NAME(four)
    __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

#if !COMPLEX
/* Four steps of four lines. */
VECTOR_INLINE void NAME(pack_fours)(REAL *to, int stride, const REAL *const *lines, int64_t at) {
    typedef NAME(four) four_t;
    const four_t a = *(const four_t *)(lines[0] + at), b = *(const four_t *)(lines[1] + at),
                 c = *(const four_t *)(lines[2] + at), d = *(const four_t *)(lines[3] + at);
    const four_t ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                 ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                 cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                 cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);

    *(four_t *)to = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    *(four_t *)(to + stride) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    *(four_t *)(to + 2 * stride) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    *(four_t *)(to + 3 * stride) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}
#endif

/* Steps [p, p + steps) of SQUARE lines, from line i on: by squares, or what is less than one; of
 * that, lines [0, end). The last line is repeated. */
VECTOR_INLINE void NAME(pack_piece)(REAL *to, int stride, const NAME(lines_t) * lines, int i,
                                    int end, int64_t p, int64_t steps, bool turned) {
    const REAL *line[SQUARE];
    line[0] = lines->from + (i < lines->count ? i : lines->count - 1) * lines->line;
    VECTOR_UNROLL
    for (int l = 1; l < SQUARE; l++)
        line[l] = line[l - 1] + (i + l < lines->count ? lines->line : 0);

    for (; steps >= SQUARE; p += SQUARE, steps -= SQUARE, to += SQUARE * stride)
        NAME(pack_square)(to, stride, line, p, lines->conjugate, turned);
#if !COMPLEX
    if (SQUARE > 4 && steps >= 4) {
        for (int l = 0; l < SQUARE; l += 4)
            NAME(pack_fours)(to + l, stride, line + l, p);
        p += 4, steps -= 4, to += 4 * stride;
    }
#endif
    for (; steps > 0; p++, steps--, to += stride)
        for (int l = 0; l < SQUARE && i + l < end; l++)
            NAME(pack_one)(to + l * PARTS, line[l] + p * PARTS, lines->conjugate, turned);
}

/* Lines of contiguous steps become `padded` lines of a strip. A piece of the depth is whole cache
 * lines: the lines may be so far apart that a cache does not keep all. */
VECTOR_INLINE void NAME(pack_across)(REAL *to, int stride, const NAME(lines_t) * lines, int padded,
                                     bool turned) {
    enum { PIECE = 256 / (int)(PARTS * sizeof(REAL)) };

    for (int64_t p = 0, steps; p < lines->depth; p += steps) {
        steps = lines->depth - p < PIECE ? lines->depth - p : PIECE;
        for (int i = 0; i < padded; i += SQUARE)
            NAME(pack_piece)
        (to + p * stride + i * PARTS, stride, lines, i, padded, p, steps, turned);
    }
}

/* Rows of a strip, for a tile or (not `whole`) to be read in place: without columns times i, and
 * without what fills up a vector. */
VECTOR_INLINE void NAME(pack_rows)(REAL *to, const NAME(lines_t) * rows, bool whole) {
    const int stride = TILE_REALS * (whole ? PARTS : 1), reals = rows->count * PARTS;
    const int padded = whole ? (reals + LANES - 1) / LANES * (LANES / PARTS) : rows->count;

    if (rows->step == PARTS)
        NAME(pack_across)(to, stride, rows, padded, COMPLEX && whole);
    else
        for (int64_t p = 0; p < rows->depth; p++) {
            const REAL *const column = rows->from + p * rows->step;
            NAME(ask_for)(column + PACKED_AHEAD_COLUMNS * rows->step, reals);
            NAME(pack_column)(to + p * stride, column, reals, rows->conjugate, COMPLEX && whole);
        }
}

static void NAME(pack_a)(void *to, const void *from, int64_t row_step, int64_t column_step,
                         int count, int64_t depth, bool conjugate, bool turned) {
    const NAME(lines_t) rows =
        NAME(lines)(from, row_step, column_step, count, depth, COMPLEX && conjugate);
    if (turned)
        NAME(pack_rows)(to, &rows, true);
    else
        NAME(pack_rows)(to, &rows, false);
}

/* ---- Packing B ---- */

#if !COMPLEX

/* Columns whose steps are contiguous. Where a tile has fewer than are transposed at once, by
 * fours. */
static void NAME(pack_columns)(REAL *to, const NAME(lines_t) * columns) {
    const REAL *line[TILE_COLUMNS];
    int64_t p = 0;
    if (TILE_COLUMNS % SQUARE == 0) {
        NAME(pack_across)(to, TILE_COLUMNS, columns, TILE_COLUMNS, false);
        return;
    }

    for (int j = 0; j < TILE_COLUMNS; j++)
        line[j] = columns->from + (j < columns->count ? j : columns->count - 1) * columns->line;
    for (; p + 4 <= columns->depth; p += 4)
        NAME(pack_fours)(to + p * TILE_COLUMNS, TILE_COLUMNS, line, p);
    for (; p < columns->depth; p++)
        for (int j = 0; j < TILE_COLUMNS; j++)
            to[p * TILE_COLUMNS + j] = line[j][p];
}

#else

/* Real and imaginary parts by turns are steps of real columns. */
static void NAME(pack_columns)(REAL *to, const NAME(lines_t) * columns) {
    const REAL_NAME(lines_t)
        parts = {columns->from, columns->line, 1, 2 * columns->depth, columns->count, false};
    REAL_NAME(pack_columns)(to, &parts);

    if (columns->conjugate)
        for (int64_t p = 0; p < columns->depth; p++)
            for (int j = 0; j < TILE_COLUMNS; j++)
                to[(2 * p + 1) * TILE_COLUMNS + j] = -to[(2 * p + 1) * TILE_COLUMNS + j];
}

#endif

/* A step of four columns that lie together. */
VECTOR_INLINE void NAME(pack_four)(REAL *to, const REAL *from, bool conjugate) {
    typedef NAME(four) four_t;
#if COMPLEX
    const four_t a = *(const four_t *)from, b = *(const four_t *)(from + 4);
    const four_t imaginary = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    *(four_t *)to = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    *(four_t *)(to + TILE_COLUMNS) = conjugate ? -imaginary : imaginary;
#else
    (void)conjugate;
    *(four_t *)to = *(const four_t *)from;
#endif
}

/* The last column is repeated where there are fewer. */
static void NAME(pack_b)(void *to_, const void *from, int64_t column_step, int64_t row_step,
                         int count, int64_t depth, bool conjugate, bool turned) {
    const NAME(lines_t) columns =
        NAME(lines)(from, column_step, row_step, count, depth, COMPLEX && conjugate);
    REAL *to = to_;
    (void)turned;
    if (columns.step == PARTS) {
        NAME(pack_columns)(to, &columns);
        return;
    }

    const REAL *row = from;
    for (; depth > 0; depth--, to += TILE_COLUMNS * PARTS, row += columns.step) {
        int j = 0;
        for (; j + 4 <= count; j += 4)
            NAME(pack_four)(to + j, row + j * PARTS, columns.conjugate);
        for (; j < TILE_COLUMNS; j++) {
            const REAL *one = row + (j < count ? j : count - 1) * PARTS;
            to[j] = one[0];
#if COMPLEX
            to[TILE_COLUMNS + j] = conjugate ? -one[1] : one[1];
#endif
        }
    }
}

/* ---- Corners ---- */

VECTOR_INLINE void NAME(copy)(REAL *to, const REAL *from, int64_t stride, int count,
                              bool conjugate) {
    if (stride == PARTS && !(COMPLEX && conjugate)) {
        int left = count * PARTS;
        for (; left >= LANES; left -= LANES, to += LANES, from += LANES)
            V(store)(to, V(load)(from));
        if (left > 0)
            V(store_part)(to, V(load_part)(from, V(first)(left)), V(first)(left));
        return;
    }

    for (int i = 0; i < count; i++) {
        to[i * PARTS] = from[i * stride];
#if COMPLEX
        to[i * PARTS + 1] = conjugate ? -from[i * stride + 1] : from[i * stride + 1];
#else
        (void)conjugate;
#endif
    }
}

/* ---- Pieces ---- */

#if !COMPLEX
static void NAME(parts)(void *to_, const ji_product_parts_t *parts) {
    const REAL *from = parts->from;
    const REAL sign = parts->conjugate ? -1 : 1;
    REAL *to = to_;

    for (int64_t j = 0; j < parts->columns; j++, from += 2 * parts->ld, to += parts->rows)
        switch (parts->part) {
        case JI_PART_REAL:
            for (int64_t i = 0; i < parts->rows; i++)
                to[i] = from[2 * i];
            break;
        case JI_PART_IMAGINARY:
            for (int64_t i = 0; i < parts->rows; i++)
                to[i] = sign * from[2 * i + 1];
            break;
        default:
            for (int64_t i = 0; i < parts->rows; i++)
                to[i] = from[2 * i] + sign * from[2 * i + 1];
        }
}
#endif

/* The element on the diagonal, and zeros or mirror images on the side that is not stored. A unit
 * diagonal is not read. */
static void NAME(corner)(void *to_, const ji_product_corner_t *corner) {
    const int64_t line = corner->line_step * PARTS, step = corner->step_step * PARTS;
    const int count = corner->count;
    REAL *to = to_;

    for (int p = 0; p < corner->depth; p++, to += count * PARTS) {
        const int on = corner->first + p; /* the line on the diagonal */
        const int before = on < 0       ? 0
                           : on < count ? on
                                        : count,
                  behind = on < -1          ? 0
                           : on + 1 < count ? on + 1
                                            : count;
        const int from = !corner->lower ? 0 : corner->unit ? behind : before;
        const int end = corner->lower ? count : corner->unit ? before : behind;
        const int other = corner->lower ? 0 : end, others = count - (end - from);
        const REAL *const x = (const REAL *)corner->from + p * step;

        NAME(copy)(to + from * PARTS, x + from * line, line, end - from, corner->conjugate);
        if (corner->triangular)
            memset(to + other * PARTS, 0, (size_t)others * PARTS * sizeof(REAL));
        else
            NAME(copy)
        (to + other * PARTS, x + on * (line - step) + other * step, step, others,
         corner->conjugate != corner->hermitian);

        if (before == behind)
            continue;
        if (corner->unit)
            to[on * PARTS] = 1;
#if COMPLEX
        if (corner->unit || corner->hermitian)
            to[on * PARTS + 1] = 0;
#endif
    }
}

static const ji_product_kernels_t NAME(product) = {
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .vector_rows = TILE_ROWS / TILE_VECTORS,
    .row_bytes = PARTS * TILE_REALS * (int)sizeof(REAL),
    .column_bytes = PARTS * TILE_COLUMNS * (int)sizeof(REAL),
    .pack_a = NAME(pack_a),
    .pack_b = NAME(pack_b),
    .corner = NAME(corner),
    .tiles = NAME(tiles),
    .tile_sums = NAME(tile_sums),
    .tile_wedge = REAL_NAME(tile_wedge),
    .update = NAME(update),
    .update_triangle = NAME(update_triangle),
#if !COMPLEX
    .parts = NAME(parts),
    .tile_complex = NAME(tile_complex),
#endif
};

#undef TILE_COLUMNS
#undef TILE_VECTORS
#undef PARTS
#undef TILE_REALS
#undef TILE_ROWS
#undef SQUARE
#undef AHEAD_STEPS
#undef A_AHEAD_STEPS
#undef PACKED_AHEAD_COLUMNS
