/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Weaving: the reals of as many items as a vector has lanes, by vectors. A part of
 * batch_triangle_kernel.h. No include guard.
 *
 * It goes by blocks: 16 bytes of each item, which are transposed. What is no whole number of blocks
 * ends with one that overlaps the one before, whose places it gives the same values; where the
 * reals that are wanted are fewer than a block, one is read that has others of the same column, and
 * nothing is done with these. Only what is wanted is written. */

#define BLOCK_REALS (16 / (int)sizeof(REAL))
#define BLOCK_ITEMS (BLOCK_REALS * NARROW_BYTES / 16) /* that are transposed at once */
#define HALVES (LANES / BLOCK_ITEMS)                  /* of a vector: 1, or 2 */
#define APART_REALS 16                                /* from so many on */
/* Items of more than so many bytes are asked for: with what is woven a first cache keeps no group
 * of them, and a second one is slow to follow as many as there are lanes. */
#define NEAR_BYTES 1536
#define LINE_REALS (64 / (int)sizeof(REAL))
#define AHEAD_REALS (8 * LINE_REALS)

/* A line of the cache of each of so many items, `at` reals behind where they begin. */
VECTOR_INLINE void NAME(ask)(const REAL *const *items, int64_t at, int lanes) {
    VECTOR_UNROLL
    for (int lane = 0; lane < lanes; lane++)
        __builtin_prefetch(items[lane] + at);
}

/* Half a vector of items: a block of each of their lines, `at` reals behind where it begins. */
VECTOR_INLINE void NAME(weave_half)(NARROW *to, const REAL *const *lines, int64_t at, int half) {
    const REAL *const *first = lines + half * BLOCK_ITEMS, *const *second =
                                                               first + BLOCK_ITEMS - BLOCK_REALS;
    VECTOR_UNROLL
    for (int i = 0; i < BLOCK_REALS; i++)
        to[i] = V(lanes)(first[i] + at, second[i] + at);
    V(transpose_lanes)(to);
}

/* A block of each line. */
VECTOR_INLINE void NAME(weave_block)(VECTOR *to, const REAL *const *lines, int64_t at) {
    NARROW rows[HALVES][BLOCK_REALS];

    VECTOR_UNROLL
    for (int half = 0; half < HALVES; half++)
        NAME(weave_half)(rows[half], lines, at, half);
    VECTOR_UNROLL
    for (int i = 0; i < BLOCK_REALS; i++)
        to[i] = V(wide)(rows[0][i], rows[HALVES - 1][i]);
}

/* The reverse, of one block or two, of which these are the halves. */
VECTOR_INLINE void NAME(unravel_half)(REAL *const *lines, int64_t at, int blocks, int half,
                                      NARROW (*rows)[BLOCK_REALS]) {
    REAL *const *first = lines + half * BLOCK_ITEMS, *const *second =
                                                         first + BLOCK_ITEMS - BLOCK_REALS;

    VECTOR_UNROLL
    for (int block = 0; block < blocks; block++)
        V(transpose_lanes)(rows[block]);
    VECTOR_UNROLL
    for (int i = 0; i < BLOCK_REALS; i++) {
        if (blocks == 2)
            V(store_two)(first[i] + at, second[i] + at, rows[0][i], rows[1][i]);
        else
            V(store_lanes)(first[i] + at, second[i] + at, rows[0][i]);
    }
}

VECTOR_INLINE void NAME(unravel_blocks)(REAL *const *lines, int64_t at, int blocks,
                                        const REAL *from) {
    VECTOR_UNROLL
    for (int half = 0; half < HALVES; half++) {
        NARROW rows[2][BLOCK_REALS];
        VECTOR_UNROLL
        for (int i = 0; i < blocks * BLOCK_REALS; i++)
            rows[i / BLOCK_REALS][i % BLOCK_REALS] =
                V(narrow_load)(from + i * LANES + half * BLOCK_ITEMS);
        NAME(unravel_half)(lines, at, blocks, half, rows);
    }
}

/* From registers. */
VECTOR_INLINE void NAME(unravel_rows)(REAL *const *lines, int64_t at, int blocks,
                                      const VECTOR *from) {
    VECTOR_UNROLL
    for (int half = 0; half < HALVES; half++) {
        NARROW rows[2][BLOCK_REALS];
        VECTOR_UNROLL
        for (int i = 0; i < blocks * BLOCK_REALS; i++)
            rows[i / BLOCK_REALS][i % BLOCK_REALS] = V(half)(from[i], half);
        NAME(unravel_half)(lines, at, blocks, half, rows);
    }
}

/* A block of each item, to memory. */
VECTOR_INLINE void NAME(weave_stored)(REAL *to, const REAL *const *lines, int64_t at) {
    VECTOR rows[BLOCK_REALS];
    NAME(weave_block)(rows, lines, at);
    VECTOR_UNROLL
    for (int i = 0; i < BLOCK_REALS; i++)
        V(store)(to + i * LANES, rows[i]);
}

/* A block of half of the items, to memory. */
VECTOR_INLINE void NAME(weave_half_stored)(REAL *to, const REAL *const *lines, int64_t at) {
    NARROW rows[BLOCK_REALS];
    NAME(weave_half)(rows, lines, at, 0);
    VECTOR_UNROLL
    for (int i = 0; i < BLOCK_REALS; i++)
        V(narrow_store)(to + (at + i) * LANES, rows[i]);
}

/* The same as weave(), half of the items after the other: of columns that are a power of two apart,
 * a first cache keeps a line of so many, but not of all; and there are registers for their lines.
 */
VECTOR_INLINE void NAME(weave_apart)(REAL *to, const REAL *const *items, int64_t at,
                                     int64_t count) {
    const bool is_far = count * (int)sizeof(REAL) > NEAR_BYTES;
    for (int half = 0; half < HALVES; half++, to += BLOCK_ITEMS, items += BLOCK_ITEMS) {
        const REAL *lines[BLOCK_ITEMS];
        VECTOR_UNROLL
        for (int lane = 0; lane < BLOCK_ITEMS; lane++)
            lines[lane] = items[lane] + at;

        int64_t p = 0;
        for (; p + BLOCK_REALS <= count; p += BLOCK_REALS) {
            if (is_far && p % LINE_REALS == 0)
                NAME(ask)(lines, p + AHEAD_REALS, BLOCK_ITEMS);
            NAME(weave_half_stored)(to, lines, p);
        }
        if (p < count)
            NAME(weave_half_stored)(to, lines, count - BLOCK_REALS);
    }
}

/* Reals [at, at + count) of each item. The lines are in registers: for all that a compiler knows a
 * vector may be stored over pointers that are in memory. */
VECTOR_INLINE void NAME(weave)(REAL *to, const REAL *const *items, int64_t at, int64_t count) {
    const REAL *lines[LANES];
    if (HALVES == 2 && count >= APART_REALS) {
        NAME(weave_apart)(to, items, at, count);
        return;
    }

    VECTOR_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        lines[lane] = items[lane] + at;

    if (count < BLOCK_REALS) {
        for (int64_t p = 0; p < count; p++)
            VECTOR_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            to[p * LANES + lane] = lines[lane][p];
        return;
    }

    int64_t p = 0;
    for (; p + BLOCK_REALS <= count; p += BLOCK_REALS)
        NAME(weave_stored)(to + p * LANES, lines, p);
    if (p < count)
        NAME(weave_stored)(to + (count - BLOCK_REALS) * LANES, lines, count - BLOCK_REALS);
}

/* A block or two of half of the items, from memory. */
VECTOR_INLINE void NAME(unravel_half_loaded)(REAL *const *lines, int64_t at, int blocks,
                                             const REAL *from) {
    NARROW rows[2][BLOCK_REALS];
    VECTOR_UNROLL
    for (int i = 0; i < blocks * BLOCK_REALS; i++)
        rows[i / BLOCK_REALS][i % BLOCK_REALS] = V(narrow_load)(from + (at + i) * LANES);
    NAME(unravel_half)(lines, at, blocks, 0, rows);
}

/* The same as unravel(), half of the items after the other. */
VECTOR_INLINE void NAME(unravel_apart)(REAL *const *items, int64_t at, int64_t count,
                                       const REAL *from) {
    const bool is_far = count * (int)sizeof(REAL) > NEAR_BYTES;
    for (int half = 0; half < HALVES; half++, from += BLOCK_ITEMS, items += BLOCK_ITEMS) {
        REAL *lines[BLOCK_ITEMS];
        VECTOR_UNROLL
        for (int lane = 0; lane < BLOCK_ITEMS; lane++)
            lines[lane] = items[lane] + at;

        int64_t p = 0;
        for (; p + 2 * BLOCK_REALS <= count; p += 2 * BLOCK_REALS) {
            if (is_far && p % LINE_REALS == 0)
                NAME(ask)((const REAL *const *)lines, p + AHEAD_REALS, BLOCK_ITEMS);
            NAME(unravel_half_loaded)(lines, p, 2, from);
        }
        for (; p + BLOCK_REALS <= count; p += BLOCK_REALS)
            NAME(unravel_half_loaded)(lines, p, 1, from);
        if (p < count)
            NAME(unravel_half_loaded)(lines, count - BLOCK_REALS, 1, from);
    }
}

/* The reverse; `is_long` where more than a block or two are likely. */
VECTOR_INLINE void NAME(unravel)(REAL *const *items, int64_t at, int64_t count, bool is_long,
                                 const REAL *from) {
    REAL *lines[LANES];
    if (HALVES == 2 && count >= APART_REALS) {
        NAME(unravel_apart)(items, at, count, from);
        return;
    }

    VECTOR_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        lines[lane] = items[lane] + at;

    if (count < BLOCK_REALS) {
        for (int64_t p = 0; p < count; p++)
            VECTOR_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            lines[lane][p] = from[p * LANES + lane];
        return;
    }

    int64_t p = 0;
    for (; is_long && p + 2 * BLOCK_REALS <= count; p += 2 * BLOCK_REALS)
        NAME(unravel_blocks)(lines, p, 2, from + p * LANES);
    for (; p + BLOCK_REALS <= count; p += BLOCK_REALS)
        NAME(unravel_blocks)(lines, p, 1, from + p * LANES);
    if (p < count)
        NAME(unravel_blocks)(lines, count - BLOCK_REALS, 1, from + (count - BLOCK_REALS) * LANES);
}

/* ---- Triangles ---- */

/* A woven triangle, element (q, p) of a lower one, p <= q: at + row[q] + column[p]. It is A or its
 * transpose, from the first row and column on or from the last ones back. */
typedef struct NAME(woven) {
    REAL *at;
    ptrdiff_t row[ORDER], column[ORDER];
} NAME(woven_t);

VECTOR_INLINE REAL *NAME(place)(const NAME(woven_t) * matrix, int64_t q, int64_t p) {
    return matrix->at + matrix->row[q] + matrix->column[p];
}

/* Where (0, j) of A is, were it stored: of the whole square, or of columns of a triangle one behind
 * the other. */
VECTOR_INLINE int64_t NAME(column_start)(bool whole, bool upper, int64_t n, int64_t j) {
    return (whole ? j * n : upper ? j * (j + 1) / 2 : j * n - j * (j + 1) / 2) * PARTS * LANES;
}

/* A tiny matrix without gaps is one run of reals; of others the columns of the triangle alone are
 * woven. */
VECTOR_INLINE bool NAME(is_whole)(int64_t n, int64_t lda) {
    return lda == n && n <= WHOLE && n * n * PARTS >= BLOCK_REALS;
}

VECTOR_INLINE void NAME(lay_out)(NAME(woven_t) * matrix, REAL *at, bool upper, bool transposed,
                                 bool reversed, int64_t n, bool whole) {
    ptrdiff_t *const starts = transposed ? matrix->row : matrix->column, *const steps =
                                                                             transposed
                                                                                 ? matrix->column
                                                                                 : matrix->row;

    matrix->at = at;
    for (int64_t q = 0; q < n; q++) {
        const int64_t index = reversed ? n - 1 - q : q;
        starts[q] = NAME(column_start)(whole, upper, n, index);
        steps[q] = index * PARTS * LANES;
    }
}

VECTOR_INLINE void NAME(negate_imaginary)(REAL *column, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        V(store)(column + (2 * i + 1) * LANES, -V(load)(column + (2 * i + 1) * LANES));
}

/* The rows of column j that a triangle of order n has. */
VECTOR_INLINE void NAME(rows_of)(bool upper, int64_t n, int64_t j, int64_t *first, int64_t *count) {
    *first = upper ? 0 : j;
    *count = upper ? j + 1 : n - j;
}

/* Column j of a triangle of order n. A block that is larger than it has more of the same column,
 * in places of the column that comes next. */
VECTOR_INLINE void NAME(weave_column)(REAL *room, bool upper, int64_t n, const REAL *const *items,
                                      int64_t lda, int64_t j) {
    int64_t first, count;
    NAME(rows_of)(upper, n, j, &first, &count);
    if (count * PARTS < BLOCK_REALS && n * PARTS >= BLOCK_REALS) {
        count = BLOCK_REALS / PARTS;
        first = upper ? 0 : n - count;
    }
    NAME(weave)
    (room + NAME(column_start)(false, upper, n, j) + first * PARTS * LANES, items,
     (j * lda + first) * PARTS, count * PARTS);
}

/* A triangle; `conjugate` negates imaginary parts. */
VECTOR_INLINE void NAME(weave_triangle)(REAL *room, bool upper, bool conjugate, int64_t n,
                                        const REAL *const *items, int64_t lda, bool whole) {
    if (whole)
        NAME(weave)(room, items, 0, n * n * PARTS);
    else if (upper)
        for (int64_t j = 0; j < n; j++)
            NAME(weave_column)(room, true, n, items, lda, j);
    else
        for (int64_t j = n - 1; j >= 0; j--)
            NAME(weave_column)(room, false, n, items, lda, j);

    if (COMPLEX && conjugate)
        NAME(negate_imaginary)(room, whole ? n * n : n * (n + 1) / 2);
}

VECTOR_INLINE void NAME(unravel_triangle)(REAL *const *items, bool upper, bool conjugate, int64_t n,
                                          int64_t lda, bool whole, REAL *room) {
    if (COMPLEX && conjugate)
        NAME(negate_imaginary)(room, whole ? n * n : n * (n + 1) / 2);

    for (int64_t j = 0, first, count; j < n; j++) {
        NAME(rows_of)(upper, n, j, &first, &count);
        NAME(unravel)
        (items, (j * lda + first) * PARTS, count * PARTS, COMPLEX,
         room + NAME(column_start)(whole, upper, n, j) + first * PARTS * LANES);
    }
}

#undef BLOCK_ITEMS
#undef HALVES
#undef APART_REALS
#undef NEAR_BYTES
#undef LINE_REALS
#undef AHEAD_REALS
