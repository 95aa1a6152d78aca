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
 * u and v, so the real tile does the rest, without knowing (the "1m" method, Van Zee 2020). In
 * place the second vector is made of the first in a register. */

#if VECTOR_REGISTERS == 32
#define TILE_COLUMNS 8
#else
#define TILE_COLUMNS 4
#endif
#define TILE_VECTORS 3
#define PARTS (1 + COMPLEX)
#define TILE_REALS (TILE_VECTORS * LANES) /* in a column */
#define TILE_ROWS (TILE_REALS / PARTS)
#define DIRECT_AHEAD 12 /* columns of A */

/* ---- To C ---- */

typedef struct NAME(scalars) {
    VECTOR alpha, alpha_i, beta, beta_i;
    bool turns_alpha, turns_beta, reads;
} NAME(scalars_t);

VECTOR_INLINE NAME(scalars_t) NAME(spread)(const ji_product_scalars_t *scalars) {
    const double *alpha = scalars->alpha, *beta = scalars->beta;
    return (NAME(scalars_t)){V(splat)((REAL)alpha[0]),
                             V(splat)((REAL)alpha[1]),
                             V(splat)((REAL)beta[0]),
                             V(splat)((REAL)beta[1]),
                             COMPLEX && alpha[1] != 0,
                             COMPLEX && beta[1] != 0,
                             beta[0] != 0 || (COMPLEX && beta[1] != 0)};
}

/* What C becomes where it held `old`, which is 0 where C is not read. */
VECTOR_INLINE VECTOR NAME(added)(const NAME(scalars_t) * by, VECTOR sum, VECTOR old) {
    VECTOR result;

    if (by->reads) {
        result = by->beta * old;
        if (by->turns_beta)
            result = V(fma)(by->beta_i, V(turn)(old), result);
        result = V(fma)(by->alpha, sum, result);
    } else {
        result = by->alpha * sum;
    }

    return by->turns_alpha ? V(fma)(by->alpha_i, V(turn)(sum), result) : result;
}

VECTOR_INLINE void NAME(update_column)(int64_t reals, const REAL *sums, const NAME(scalars_t) * by,
                                       REAL *c) {
    for (; reals >= LANES; reals -= LANES, sums += LANES, c += LANES)
        V(store)(c, NAME(added)(by, V(load)(sums), by->reads ? V(load)(c) : V(splat)(0)));

    if (reals > 0) {
        const PART part = V(first)((int)reals);
        const VECTOR old = by->reads ? V(load_part)(c, part) : V(splat)(0);
        V(store_part)(c, NAME(added)(by, V(load_part)(sums, part), old), part);
    }
}

static void NAME(update)(int rows, int columns, const void *sums_,
                         const ji_product_scalars_t *scalars, void *c_, int64_t ldc) {
    const NAME(scalars_t) by = NAME(spread)(scalars);
    const REAL *sums = sums_;
    REAL *c = c_;

    for (; columns > 0; columns--, sums += TILE_REALS, c += ldc * PARTS)
        NAME(update_column)(rows * PARTS, sums, &by, c);
}

/* ---- Packed tiles ---- */

#if !COMPLEX

VECTOR_INLINE void NAME(accumulate)(VECTOR acc[TILE_COLUMNS][TILE_VECTORS], int64_t depth,
                                    const REAL *a, const REAL *b) {
    for (; depth > 0; depth--, a += TILE_REALS, b += TILE_COLUMNS) {
        VECTOR column[TILE_VECTORS];
        VECTOR_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            column[v] = V(load)(a + v * LANES);

        VECTOR_UNROLL
        for (int j = 0; j < TILE_COLUMNS; j++) {
            const VECTOR factor = V(splat)(b[j]);
            VECTOR_UNROLL
            for (int v = 0; v < TILE_VECTORS; v++)
                acc[j][v] = V(fma)(column[v], factor, acc[j][v]);
        }
    }
}

static void NAME(tile_sums)(int64_t depth, const void *a, const void *b, void *sums_, bool more) {
    REAL *sums = sums_;
    VECTOR acc[TILE_COLUMNS][TILE_VECTORS];

    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < TILE_VECTORS; v++)
        acc[j][v] = more ? V(load)(sums + j * TILE_REALS + v * LANES) : V(splat)(0);

    NAME(accumulate)(acc, depth, a, b);

    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < TILE_VECTORS; v++)
        V(store)(sums + j * TILE_REALS + v * LANES, acc[j][v]);
}

/* The same, of a triangle: steps first, first + 1, ... count for the lines that are not before them
 * (lower), or not behind them. Lines are rows or columns, of `parts` reals. */
VECTOR_INLINE void NAME(corner_sums)(int64_t depth, const REAL *a, const REAL *b, REAL *sums,
                                     bool more, int first, int parts, bool rows, bool lower) {
    VECTOR acc[TILE_COLUMNS][TILE_VECTORS];

    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < TILE_VECTORS; v++)
        acc[j][v] = more ? V(load)(sums + j * TILE_REALS + v * LANES) : V(splat)(0);

    for (int64_t p = 0; p < depth; p++, a += TILE_REALS, b += TILE_COLUMNS) {
        const int step = first + (parts == 1 ? (int)p : (int)p / 2);
        VECTOR column[TILE_VECTORS];
        KEEP keep[TILE_VECTORS];
        VECTOR_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++) {
            column[v] = V(load)(a + v * LANES);
            keep[v] = !rows   ? V(keep_from)(0)
                      : lower ? V(keep_from)(step * parts - v * LANES)
                              : V(keep_before)((step + 1) * parts - v * LANES);
        }

        VECTOR_UNROLL
        for (int j = 0; j < TILE_COLUMNS; j++)
            if (rows || (lower ? j >= step : j <= step)) {
                const VECTOR factor = V(splat)(b[j]);
                VECTOR_UNROLL
                for (int v = 0; v < TILE_VECTORS; v++)
                    acc[j][v] = V(fma_where)(keep[v], column[v], factor, acc[j][v]);
            }
    }

    VECTOR_UNROLL
    for (int j = 0; j < TILE_COLUMNS; j++)
        VECTOR_UNROLL
    for (int v = 0; v < TILE_VECTORS; v++)
        V(store)(sums + j * TILE_REALS + v * LANES, acc[j][v]);
}

static void NAME(tile_corner)(int64_t depth, const void *a, const void *b, void *sums, bool more,
                              int first, int parts, bool rows, bool lower) {
    if (rows && lower)
        NAME(corner_sums)(depth, a, b, sums, more, first, parts, true, true);
    else if (rows)
        NAME(corner_sums)(depth, a, b, sums, more, first, parts, true, false);
    else if (lower)
        NAME(corner_sums)(depth, a, b, sums, more, first, parts, false, true);
    else
        NAME(corner_sums)(depth, a, b, sums, more, first, parts, false, false);
}

/* ldc in reals. */
VECTOR_INLINE void NAME(tile_reals)(int64_t depth, const void *a, const void *b,
                                    const ji_product_scalars_t *scalars, REAL *c, int64_t ldc) {
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

    NAME(accumulate)(acc, depth, a, b);

    const NAME(scalars_t) by = NAME(spread)(scalars);
    if (by.reads) {
        VECTOR_UNROLL
        for (int j = 0; j < TILE_COLUMNS; j++)
            VECTOR_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++) {
            REAL *const to = c + j * ldc + v * LANES;
            V(store)(to, V(fma)(by.alpha, acc[j][v], by.beta * V(load)(to)));
        }
    } else {
        VECTOR_UNROLL
        for (int j = 0; j < TILE_COLUMNS; j++)
            VECTOR_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            V(store)(c + j * ldc + v * LANES, by.alpha * acc[j][v]);
    }
}

static void NAME(tile)(int64_t depth, const void *a, const void *b,
                       const ji_product_scalars_t *scalars, void *c, int64_t ldc) {
    NAME(tile_reals)(depth, a, b, scalars, c, ldc);
}

#else /* what a complex tile is: a real one of twice the depth */

static void NAME(tile_sums)(int64_t depth, const void *a, const void *b, void *sums, bool more) {
    REAL_NAME(tile_sums)(2 * depth, a, b, sums, more);
}

static void NAME(tile_corner)(int64_t depth, const void *a, const void *b, void *sums, bool more,
                              int first, int parts, bool rows, bool lower) {
    REAL_NAME(tile_corner)(2 * depth, a, b, sums, more, first, 2 * parts, rows, lower);
}

static void NAME(tile)(int64_t depth, const void *a, const void *b,
                       const ji_product_scalars_t *scalars, void *c, int64_t ldc) {
    REAL_NAME(tile)(2 * depth, a, b, scalars, c, 2 * ldc);
}

#endif

/* ---- In place ---- */

/* A tile of `vectors` x `columns`, of which the last vector has what `last` says. The numbers are
 * the compiler's, after inlining. */
VECTOR_INLINE void NAME(direct_tile)(const ji_product_direct_t *call, int vectors, int columns,
                                     PART last, const REAL *a, const REAL *b, REAL *c, int rows) {
    const int64_t a_step = call->a_step * PARTS, b_step = call->b_row_step * PARTS,
                  b_next = call->b_column_step * PARTS, ldc = call->ldc * PARTS;
    VECTOR acc[TILE_COLUMNS][TILE_VECTORS];

    VECTOR_UNROLL
    for (int j = 0; j < columns; j++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        acc[j][v] = V(splat)(0);

#if COMPLEX
    const REAL sign = call->conjugate_b ? -1 : 1;
#endif
    for (int64_t p = 0; p < call->depth; p++, a += a_step, b += b_step) {
        VECTOR column[TILE_VECTORS];
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++) {
            column[v] =
                v < vectors - 1 ? V(load)(a + v * LANES) : V(load_part)(a + v * LANES, last);
            /* Few columns wait for A, whose columns may be pages apart. */
            if (columns <= 4)
                __builtin_prefetch(a + DIRECT_AHEAD * a_step + v * LANES);
        }
        VECTOR_UNROLL
        for (int j = 0; j < columns; j++) {
            const VECTOR factor = V(splat)(b[j * b_next]);
            VECTOR_UNROLL
            for (int v = 0; v < vectors; v++)
                acc[j][v] = V(fma)(column[v], factor, acc[j][v]);
        }
#if COMPLEX
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            column[v] = V(turn)(column[v]);
        VECTOR_UNROLL
        for (int j = 0; j < columns; j++) {
            const VECTOR factor = V(splat)(sign * b[j * b_next + 1]);
            VECTOR_UNROLL
            for (int v = 0; v < vectors; v++)
                acc[j][v] = V(fma)(column[v], factor, acc[j][v]);
        }
#endif
    }

    VECTOR_FENCE; /* the scalars are for what follows: no register holds them in the loop */
    const NAME(scalars_t) by = NAME(spread)(&call->scalars);
    (void)rows;
#if COMPLEX
    if (by.turns_alpha || by.turns_beta) { /* seldom */
        REAL sums[TILE_COLUMNS * TILE_REALS];
        VECTOR_UNROLL
        for (int j = 0; j < columns; j++)
            VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            V(store)(sums + j * TILE_REALS + v * LANES, acc[j][v]);
        NAME(update)(rows, columns, sums, &call->scalars, c, call->ldc);
        return;
    }
#endif

    VECTOR_UNROLL
    for (int j = 0; j < columns; j++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++) {
        REAL *const to = c + j * ldc + v * LANES;
        VECTOR result = by.alpha * acc[j][v];
        if (by.reads) {
            const VECTOR old = v < vectors - 1 ? V(load)(to) : V(load_piece)(to, last);
            result = V(fma)(by.alpha, acc[j][v], by.beta * old);
        }
        if (v < vectors - 1)
            V(store)(to, result);
        else
            V(store_piece)(to, result, last);
    }
}

/* A strip of at most TILE_VECTORS vectors of rows, column after column. */
VECTOR_INLINE void NAME(direct_strip)(const ji_product_direct_t *call, int vectors, PART last,
                                      int rows, const REAL *a, REAL *c) {
    const REAL *b = call->b;
    const int64_t b_next = call->b_column_step * PARTS, ldc = call->ldc * PARTS;
    int64_t left = call->n;

    for (; left >= TILE_COLUMNS; left -= TILE_COLUMNS) {
        NAME(direct_tile)(call, vectors, TILE_COLUMNS, last, a, b, c, rows);
        b += TILE_COLUMNS * b_next, c += TILE_COLUMNS * ldc;
    }
#if TILE_COLUMNS > 4
    if (left >= 4) {
        NAME(direct_tile)(call, vectors, 4, last, a, b, c, rows);
        left -= 4, b += 4 * b_next, c += 4 * ldc;
    }
#endif
    switch (left) {
    case 3: NAME(direct_tile)(call, vectors, 3, last, a, b, c, rows); break;
    case 2: NAME(direct_tile)(call, vectors, 2, last, a, b, c, rows); break;
    case 1: NAME(direct_tile)(call, vectors, 1, last, a, b, c, rows); break;
    default: break;
    }
}

/* Strips of three vectors; four that are left are two and two: one alone would wait. */
static void NAME(direct)(const ji_product_direct_t *call) {
    const REAL *a = call->a;
    REAL *c = call->c;
    int64_t left = call->m * PARTS;

    while (left > 0) {
        const int64_t vectors_left = (left + LANES - 1) / LANES;
        const int vectors = vectors_left == 4 ? 2 : vectors_left < 3 ? (int)vectors_left : 3;
        const int reals = left < vectors * LANES ? (int)left : vectors * LANES;
        const PART last = V(first)(reals - (vectors - 1) * LANES);

        switch (vectors) {
        case 3: NAME(direct_strip)(call, 3, last, reals / PARTS, a, c); break;
        case 2: NAME(direct_strip)(call, 2, last, reals / PARTS, a, c); break;
        default: NAME(direct_strip)(call, 1, last, reals / PARTS, a, c); break;
        }
        left -= reals, a += reals, c += reals;
    }
}

/* ---- Packing ---- */

/* Four steps of four lines: reals that are neighbours along the depth become neighbours in a strip
 * whose steps are `stride` reals apart. */
typedef REAL NAME(four)
    __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));
VECTOR_INLINE void NAME(transpose)(REAL *to, int64_t stride, const REAL *from, int64_t line_step) {
    typedef NAME(four) four_t;
    const four_t a = *(const four_t *)from, b = *(const four_t *)(from + line_step),
                 c = *(const four_t *)(from + 2 * line_step),
                 d = *(const four_t *)(from + 3 * line_step);
    const four_t ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                 ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                 cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                 cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);

    *(four_t *)to = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    *(four_t *)(to + stride) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    *(four_t *)(to + 2 * stride) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    *(four_t *)(to + 3 * stride) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

/* One element to its place in a strip of A (`turned`: and the element times i behind it), or of B,
 * whose imaginary parts are `apart` reals behind the real ones. */
VECTOR_INLINE void NAME(put)(REAL *to, const REAL *from, REAL sign, bool is_a, bool turned) {
#if COMPLEX
    const REAL x = from[0], y = sign * from[1];
    to[0] = x;
    to[is_a ? 1 : TILE_COLUMNS] = y;
    if (is_a && turned)
        to[TILE_REALS] = -y, to[TILE_REALS + 1] = x;
#else
    (void)sign, (void)is_a, (void)turned;
    to[0] = from[0];
#endif
}

/* What is packed: `count` lines of `depth` steps. */
typedef struct NAME(lines) {
    const REAL *from;
    int64_t line_step, step_step; /* elements */
    int64_t depth;
    int count;
    bool conjugate;
} NAME(lines_t);

/* A strip of `width` lines. `turned` is as for put(), and said of B, too: what is packed for tiles
 * is filled up with zeros; what is done in place reads no more rows than there are. */
VECTOR_INLINE void NAME(pack)(REAL *to, const NAME(lines_t) * lines, int width, bool is_a,
                              bool turned) {
    const REAL *const from = lines->from;
    const int stride = is_a ? TILE_REALS * (turned ? PARTS : 1) : TILE_COLUMNS * PARTS;
    const int place = is_a ? PARTS : 1; /* reals from line to line in a strip */
    const int64_t line = lines->line_step * PARTS, step = lines->step_step * PARTS;
    const int64_t depth = lines->depth;
    const int count = lines->count;
    const bool conjugate = lines->conjugate;
    const REAL sign = conjugate ? -1 : 1;
    int64_t p = 0;

    if (count < width && turned)
        memset(to, 0, (size_t)depth * (size_t)stride * sizeof(REAL));

    if (!COMPLEX && step == 1) {
        const int in_fours = count / 4 * 4;
        for (; p + 4 <= depth; p += 4) {
            for (int i = 0; i < in_fours; i += 4)
                NAME(transpose)(to + p * stride + i, stride, from + p + i * line, line);
            for (int i = in_fours; i < count; i++)
                for (int64_t q = p; q < p + 4; q++)
                    to[q * stride + i] = from[q + i * line];
        }
    } else if (count == width && lines->line_step == 1 && is_a) {
        for (; p < depth; p++)
            for (int v = 0; v < TILE_VECTORS; v++) {
                VECTOR column = V(load)(from + p * step + v * LANES);
#if COMPLEX
                if (conjugate)
                    column = V(conjugate)(column);
                if (turned)
                    V(store)(to + p * stride + TILE_REALS + v * LANES, V(turn)(column));
#endif
                V(store)(to + p * stride + v * LANES, column);
            }
    } else if (!COMPLEX && count == width && lines->line_step == 1) {
        for (; p < depth; p++)
            memcpy(to + p * stride, from + p * step, (size_t)width * sizeof(REAL));
    }

    for (; p < depth; p++)
        for (int i = 0; i < count; i++)
            NAME(put)(to + p * stride + i * place, from + p * step + i * line, sign, is_a, turned);
}

static void NAME(pack_a)(void *to, const void *from, int64_t row_step, int64_t column_step,
                         int count, int64_t depth, bool conjugate, bool turned) {
    const NAME(lines_t) rows = {from, row_step, column_step, depth, count, conjugate};
    if (turned)
        NAME(pack)(to, &rows, TILE_ROWS, true, true);
    else
        NAME(pack)(to, &rows, TILE_ROWS, true, false);
}

static void NAME(pack_b)(void *to, const void *from, int64_t column_step, int64_t row_step,
                         int count, int64_t depth, bool conjugate, bool turned) {
    const NAME(lines_t) columns = {from, column_step, row_step, depth, count, conjugate};
    (void)turned;
    NAME(pack)(to, &columns, TILE_COLUMNS, false, true);
}

/* A square on the diagonal, or a part of it, as it is meant: by lines that lie together. */
static void NAME(corner)(void *to_, const ji_product_corner_t *corner) {
    const REAL *const from = corner->from;
    const int64_t line = corner->line_step * PARTS, step = corner->step_step * PARTS;
    REAL *to = to_;

    for (int p = 0; p < corner->depth; p++)
        for (int i = 0; i < corner->count; i++, to += PARTS) {
            const int distance = i - (corner->first + p); /* below the diagonal */
            const bool stored = distance == 0 || (distance > 0) == corner->lower;
            const REAL *x = from + i * line + p * step;

            if (!stored) /* the element's mirror image */
                x += distance * (step - line);
            to[0] = x[0];
#if COMPLEX
            to[1] = corner->conjugate != (corner->hermitian && !stored) ? -x[1] : x[1];
            if (corner->hermitian && distance == 0)
                to[1] = 0;
#endif
            if (corner->triangular && (!stored || (distance == 0 && corner->unit))) {
                to[0] = stored;
#if COMPLEX
                to[1] = 0;
#endif
            }
        }
}

static const ji_product_kernels_t NAME(product) = {
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .row_bytes = PARTS * TILE_REALS * (int)sizeof(REAL),
    .column_bytes = PARTS * TILE_COLUMNS * (int)sizeof(REAL),
    .pack_a = NAME(pack_a),
    .pack_b = NAME(pack_b),
    .corner = NAME(corner),
    .tile = NAME(tile),
    .tile_sums = NAME(tile_sums),
    .tile_corner = NAME(tile_corner),
    .update = NAME(update),
    .direct = NAME(direct),
};

#undef TILE_COLUMNS
#undef TILE_VECTORS
#undef PARTS
#undef TILE_REALS
#undef TILE_ROWS
#undef DIRECT_AHEAD
