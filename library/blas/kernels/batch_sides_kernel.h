/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves of a batch whose right-hand sides fill vectors: a part of batch_triangle_kernel.h. No
 * include guard.
 *
 * Items are done one after the other, and lanes are columns of B. So the triangle is not woven: an
 * element of it is loaded into all lanes. A tile, some unknowns of two strips or three of LANES
 * columns, is woven in registers, solved there, and goes back from there; only what later tiles
 * take from their sums is in memory, too.
 *
 *     +-----+          +----+----+     1, 2: tiles. One strip waits for each of its unknowns, and
 *     | 1 \            | 1    1  |     another fills the time: of the same item, or where items
 *     |    2  \        | 2    2  |     have one strip, of the next. Strips of a tile may have some
 *     +--------+       +----+----+     columns in common, which are found twice, then stored.
 *
 * What a step costs here is instructions, of which addresses are half: compilers keep more of them
 * than there are registers, unless strides are VECTOR_PLAIN in each tile.
 *
 * Each element is the same chain of operations as of items that are woven. */

#define ALONE_UNKNOWNS (COMPLEX ? 2 : 4)             /* of a tile */
#define LAST_UNKNOWNS (COMPLEX ? 1 : SINGLE ? 0 : 3) /* of the last one, where it has less */
#define HAS_8 (!COMPLEX) /* order 8 has code of its own, where 8 sides are two strips */
#define MOST_STRIPS 3
#define ALONE_ITEMS 8 /* whose pivots are inverted at once */
#define FEW_ITEMS 2   /* the same of triangles that are no longer in the first cache then */

/* Triangles of items: element (q, p) is at a + start + q * row + p * column. */
typedef struct NAME(alone) {
    const ji_woven_solve_t *call;
    ptrdiff_t start, row, column, ldb; /* reals */
    int64_t order;
    int64_t first, end;             /* items at hand */
    REAL (*inverses)[PARTS][ORDER]; /* of their pivots */
    VECTOR sign;                    /* of imaginary parts of A */
    bool scales, reversed;
    REAL alpha[2];
} NAME(alone_t);

/* An element in all lanes. */
VECTOR_INLINE void NAME(to_lanes)(VECTOR *factor, const REAL *from, VECTOR sign) {
    factor[0] = V(splat)(from[0]);
    if (COMPLEX)
        factor[PARTS - 1] = V(flip)(V(splat)(from[PARTS - 1]), sign);
}

/* The columns of a strip. */
VECTOR_INLINE void NAME(lines_of)(REAL **lines, REAL *b, ptrdiff_t ldb) {
    VECTOR_PLAIN(b);
    VECTOR_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        lines[lane] = b + lane * ldb;
}

/* Where row r of a tile is among its unknowns. */
#define PLACE_OF(r) (reversed ? width - 1 - (r) : (r))

/* So many rows of a strip, from b on, by unknowns. */
VECTOR_INLINE void NAME(weave_strip)(VECTOR (*x)[PARTS], REAL *b, ptrdiff_t ldb, int width,
                                     bool reversed) {
    const int count = width * PARTS, whole = count / BLOCK_REALS * BLOCK_REALS;
    VECTOR rows[ALONE_UNKNOWNS][PARTS];
    REAL *lines[LANES];

    NAME(lines_of)(lines, b, ldb);
    VECTOR_UNROLL
    for (int p = 0; p < whole; p += BLOCK_REALS)
        NAME(weave_block)(rows[0] + p, (const REAL *const *)lines, p);
    VECTOR_UNROLL
    for (int p = whole; p < count; p++)
        rows[p / PARTS][p % PARTS] = V(pick)((const REAL *const *)lines, p);
    VECTOR_UNROLL
    for (int p = 0; p < count; p++)
        x[PLACE_OF(p / PARTS)][p % PARTS] = rows[p / PARTS][p % PARTS];
}

/* The reverse. */
VECTOR_INLINE void NAME(unravel_strip)(VECTOR (*x)[PARTS], REAL *b, ptrdiff_t ldb, int width,
                                       bool reversed) {
    const int count = width * PARTS, whole = count / BLOCK_REALS * BLOCK_REALS,
              two = whole / (2 * BLOCK_REALS) * (2 * BLOCK_REALS);
    VECTOR rows[ALONE_UNKNOWNS * PARTS];
    REAL *lines[LANES];

    NAME(lines_of)(lines, b, ldb);
    VECTOR_UNROLL
    for (int p = 0; p < count; p++)
        rows[p] = x[PLACE_OF(p / PARTS)][p % PARTS];
    VECTOR_UNROLL
    for (int p = 0; p < two; p += 2 * BLOCK_REALS)
        NAME(unravel_rows)(lines, p, 2, rows + p);
    if (two < whole)
        NAME(unravel_rows)(lines, two, 1, rows + two);
    VECTOR_UNROLL
    for (int p = whole; p < count; p++) {
        REAL row[LANES];
        V(store)(row, rows[p]);
        VECTOR_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            lines[lane][p] = row[lane];
    }
}

/* What a tile is of: where its rows of A and B begin. Strips are of one item, or (`apart`) of one
 * each. */
typedef struct NAME(strips) {
    const REAL *a[MOST_STRIPS], *inverses[MOST_STRIPS];
    REAL *b[MOST_STRIPS];
} NAME(strips_t);

VECTOR_INLINE void NAME(weave_tile)(const NAME(alone_t) * m, const NAME(strips_t) * at,
                                    ptrdiff_t ldb, int width, int strips,
                                    VECTOR (*x)[ALONE_UNKNOWNS][PARTS]) {
    if (m->reversed) {
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++)
            NAME(weave_strip)(x[v], at->b[v], ldb, width, true);
    } else {
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++)
            NAME(weave_strip)(x[v], at->b[v], ldb, width, false);
    }

    if (m->scales) {
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++)
            VECTOR_UNROLL
        for (int u = 0; u < width; u++)
            NAME(scale)(x[v][u], m->alpha);
    }
}

VECTOR_INLINE void NAME(unravel_tile)(const NAME(alone_t) * m, const NAME(strips_t) * at,
                                      ptrdiff_t ldb, int width, int strips,
                                      VECTOR (*x)[ALONE_UNKNOWNS][PARTS]) {
    if (m->reversed) {
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++)
            NAME(unravel_strip)(x[v], at->b[v], ldb, width, true);
    } else {
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++)
            NAME(unravel_strip)(x[v], at->b[v], ldb, width, false);
    }
}

/* Unknowns [q, q + width) of n. `known` has those before: of all strips, one after the other. */
VECTOR_INLINE void NAME(solve_alone_tile)(const NAME(alone_t) * m, const NAME(strips_t) * at,
                                          REAL *known, int64_t n, int64_t q, int width, int strips,
                                          bool apart) {
    ptrdiff_t row = m->row, column = m->column, ldb = m->ldb, from = 0;
    const VECTOR sign = m->sign;
    VECTOR x[MOST_STRIPS][ALONE_UNKNOWNS][PARTS], factor[PARTS];
    VECTOR_PLAIN(row);
    VECTOR_PLAIN(column);
    VECTOR_PLAIN(ldb);
    NAME(weave_tile)(m, at, ldb, width, strips, x);

    REAL *const end = known + q * strips * PARTS * LANES;
    for (; known != end; known += strips * PARTS * LANES, from += column) {
        VECTOR y[MOST_STRIPS][PARTS];
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++) {
            NAME(get)(y[v], known + v * PARTS * LANES);
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                if (strips * PARTS <= VECTOR_REGISTERS / 4)
                    VECTOR_HOLD(y[v][part]);
        }
        VECTOR_UNROLL
        for (int u = 0; u < width; u++)
            VECTOR_UNROLL
        for (int v = 0; v < strips; v++) {
            if (v == 0 || apart)
                NAME(to_lanes)(factor, at->a[v] + u * row + from, sign);
            NAME(take)(x[v][u], factor, y[v]);
        }
    }

    VECTOR_UNROLL
    for (int u = 0; u < width; u++, from += column) {
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++) {
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                if (v == 0 || apart)
                    factor[part] = V(splat)(at->inverses[v][part * ORDER + q + u]);
            NAME(divide)(x[v][u], factor);
        }
        VECTOR_UNROLL
        for (int t = u + 1; t < width; t++) {
            VECTOR_UNROLL
            for (int v = 0; v < strips; v++) {
                if (v == 0 || apart)
                    NAME(to_lanes)(factor, at->a[v] + t * row + from, sign);
                NAME(take)(x[v][t], factor, x[v][u]);
            }
        }
    }

    if (q + width < n) {
        VECTOR_UNROLL
        for (int u = 0; u < width; u++)
            VECTOR_UNROLL
        for (int v = 0; v < strips; v++)
            NAME(put)(known + (u * strips + v) * PARTS * LANES, x[v][u]);
    }
    NAME(unravel_tile)(m, at, ldb, width, strips, x);
}

/* A tile of ALONE_UNKNOWNS, and on to the next one. */
VECTOR_INLINE void NAME(solve_next_tile)(const NAME(alone_t) * m, NAME(strips_t) * at, REAL *known,
                                         int64_t n, int64_t q, int strips, bool apart) {
    const ptrdiff_t down = (m->reversed ? -ALONE_UNKNOWNS : ALONE_UNKNOWNS) * PARTS;
    NAME(solve_alone_tile)(m, at, known, n, q, ALONE_UNKNOWNS, strips, apart);
    VECTOR_UNROLL
    for (int v = 0; v < strips; v++)
        at->a[v] += ALONE_UNKNOWNS * m->row, at->b[v] += down;
}

/* So many strips, a compiler's number. Tiles of order 8 are two, and have code of their own. */
VECTOR_INLINE void NAME(alone_strips)(const NAME(alone_t) * m, NAME(strips_t) * at, REAL *known,
                                      int strips, bool apart, bool is_8) {
    const int64_t n = m->order;
    int64_t q = 0;
    if (is_8) {
        NAME(solve_next_tile)(m, at, known, 8, 0, strips, apart);
        NAME(solve_next_tile)(m, at, known, 8, 4, strips, apart);
        return;
    }

    for (; q + ALONE_UNKNOWNS <= n; q += ALONE_UNKNOWNS)
        NAME(solve_next_tile)(m, at, known, n, q, strips, apart);
    if (q < n && m->reversed) {
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++)
            at->b[v] += (ALONE_UNKNOWNS - (n - q)) * PARTS;
    }
    if (LAST_UNKNOWNS != 0 && q < n)
        NAME(solve_alone_tile)(m, at, known, n, q, LAST_UNKNOWNS, strips, apart);
}

/* Right-hand sides [first, first + sides) of all items. The last strip ends with the last of them
 * and may have some in common with the one before it. */
VECTOR_INLINE void NAME(alone_items)(const NAME(alone_t) * m, int64_t first, int64_t sides,
                                     int strips, bool is_8) {
    _Alignas(64) REAL known[ORDER * MOST_STRIPS * PARTS * LANES];
    const ji_woven_solve_t *call = m->call;
    const ptrdiff_t top = m->reversed ? (m->order - ALONE_UNKNOWNS) * PARTS : 0,
                    offset = first * m->ldb + top, last = (sides - LANES) * m->ldb;

    for (int64_t item = m->first; item < m->end; item++) {
        NAME(strips_t) at;
        REAL *const b = (REAL *)call->b[item] + offset;
        VECTOR_UNROLL
        for (int v = 0; v < strips; v++) {
            at.a[v] = (const REAL *)call->a[item] + m->start;
            at.inverses[v] = m->inverses[item - m->first][0];
            at.b[v] = b + (v == strips - 1 ? last : v * LANES * m->ldb);
        }
        NAME(alone_strips)(m, &at, known, strips, false, is_8);
    }
}

static __attribute__((noinline)) void NAME(alone_two)(const NAME(alone_t) * m, int64_t first,
                                                      int64_t sides) {
    if (HAS_8 && LANES <= 4 && m->order == 8)
        NAME(alone_items)(m, first, sides, 2, true);
    else
        NAME(alone_items)(m, first, sides, 2, false);
}

static __attribute__((noinline)) void NAME(alone_three)(const NAME(alone_t) * m, int64_t first,
                                                        int64_t sides) {
    NAME(alone_items)(m, first, sides, 3, false);
}

/* Two items at once, LANES right-hand sides of each; the last one twice where it has no other. */
VECTOR_INLINE void NAME(alone_item_pairs)(const NAME(alone_t) * m, bool is_8) {
    _Alignas(64) REAL known[ORDER * MOST_STRIPS * PARTS * LANES];
    const ji_woven_solve_t *call = m->call;
    const ptrdiff_t top = m->reversed ? (m->order - ALONE_UNKNOWNS) * PARTS : 0;

    for (int64_t item = m->first; item < m->end; item += 2) {
        NAME(strips_t) at;
        VECTOR_UNROLL
        for (int v = 0; v < 2; v++) {
            const int64_t which = item + v < m->end ? item + v : item;
            at.a[v] = (const REAL *)call->a[which] + m->start;
            at.inverses[v] = m->inverses[which - m->first][0];
            at.b[v] = (REAL *)call->b[which] + top;
        }
        NAME(alone_strips)(m, &at, known, 2, true, is_8);
    }
}

static __attribute__((noinline)) void NAME(alone_pairs)(const NAME(alone_t) * m) {
    if (HAS_8 && LANES == 8 && m->order == 8)
        NAME(alone_item_pairs)(m, true);
    else
        NAME(alone_item_pairs)(m, false);
}

/* The pivots of the items at hand in the order of unknowns, and their reciprocals. False: one of
 * these is no normal number. */
static bool NAME(invert_some)(const NAME(alone_t) * m) {
    const VECTOR one = V(splat)(1);
    const int64_t n = m->order, vectors = (n + LANES - 1) / LANES;
    const ptrdiff_t step = m->row + m->column;
    TRUTH bad = V(exceeds)(one, one);

    for (int64_t item = m->first; item < m->end; item++) {
        const REAL *pivot = (const REAL *)m->call->a[item] + m->start;
        REAL(*const inverses)[ORDER] = m->inverses[item - m->first];
        for (int64_t q = 0; q < n; q++, pivot += step)
            VECTOR_UNROLL
        for (int part = 0; part < PARTS; part++)
            inverses[part][q] = pivot[part];
        for (int64_t q = n; q < vectors * LANES; q++)
            VECTOR_UNROLL
        for (int part = 0; part < PARTS; part++)
            inverses[part][q] = 1;
    }

    for (int64_t item = 0; item < m->end - m->first; item++)
        for (int64_t q = 0; q < n; q += LANES) {
            VECTOR pivot[PARTS];
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                pivot[part] = V(load)(m->inverses[item][part] + q);
            if (COMPLEX)
                pivot[PARTS - 1] = V(flip)(pivot[PARTS - 1], m->sign);

            bad = V(either)(bad, NAME(invert)(pivot, pivot));
            VECTOR_UNROLL
            for (int part = 0; part < PARTS; part++)
                V(store)(m->inverses[item][part] + q, pivot[part]);
        }
    return !V(any)(bad);
}

/* Of unit triangles. */
static void NAME(invert_ones)(const NAME(alone_t) * m) {
    for (int64_t item = 0; item < ALONE_ITEMS; item++)
        for (int64_t q = 0; q < m->order; q += LANES) {
            V(store)(m->inverses[item][0] + q, V(splat)(1));
            if (COMPLEX)
                V(store)(m->inverses[item][PARTS - 1] + q, V(flip)(V(splat)(0), m->sign));
        }
}

/* The items at hand. What is left in the end is more than a strip, which alone would wait. */
static void NAME(solve_some)(const NAME(alone_t) * m) {
    const int64_t sides = m->call->sides;
    if (sides == LANES) {
        NAME(alone_pairs)(m);
        return;
    }

    for (int64_t first = 0, took; first < sides; first += took) {
        const int64_t left = sides - first;
        const bool three = (left > 2 * LANES && left <= 3 * LANES) || left > 4 * LANES;
        const int64_t most = (three ? 3 : 2) * LANES;
        took = left < most ? left : most;
        (three ? NAME(alone_three) : NAME(alone_two))(m, first, took);
    }
}

/* Whether lanes are better columns of B than items: it has the tiles, and fills strips, all but a
 * quarter. */
VECTOR_INLINE bool NAME(fills_strips)(const ji_woven_solve_t *call) {
    const int64_t last = call->order % ALONE_UNKNOWNS,
                  lanes = (call->sides + LANES - 1) / LANES * LANES;
    return call->left && call->order >= ALONE_UNKNOWNS && (last == 0 || last == LAST_UNKNOWNS) &&
           call->sides >= LANES && 4 * call->sides > 3 * lanes;
}

static int64_t NAME(solve_alone)(const ji_woven_solve_t *call) {
    _Alignas(64) REAL inverses[ALONE_ITEMS][PARTS][ORDER];
    const int64_t n = call->order, sign = call->reversed ? -1 : 1,
                  most = n <= 8 ? ALONE_ITEMS : FEW_ITEMS;
    NAME(alone_t)
    m = {
        .call = call,
        .start = call->reversed ? (n - 1) * (call->lda + 1) * PARTS : 0,
        .row = sign * (call->transposed ? call->lda : 1) * PARTS,
        .column = sign * (call->transposed ? 1 : call->lda) * PARTS,
        .ldb = call->ldb * PARTS,
        .order = n,
        .inverses = inverses,
        .sign = V(splat)(call->conjugate ? (REAL)-0.0 : 0),
        .scales = call->alpha[0] != 1 || call->alpha[1] != 0,
        .reversed = call->reversed,
        .alpha = {(REAL)call->alpha[0], (REAL)call->alpha[1]},
    };
    if (call->unit)
        NAME(invert_ones)(&m);

    for (; m.first < call->count; m.first = m.end) {
        m.end = call->count - m.first < most ? call->count : m.first + most;
        if (!call->unit && !NAME(invert_some)(&m))
            return m.first;
        NAME(solve_some)(&m);
    }
    return call->count;
}

#undef ALONE_UNKNOWNS
#undef LAST_UNKNOWNS
#undef PLACE_OF
#undef ALONE_ITEMS
#undef HAS_8
#undef MOST_STRIPS
#undef FEW_ITEMS
