/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Substitution, of one element type and instruction set (each_type.h). No include guard.
 *
 * Right-hand sides are independent of each other, so they are the lanes of vectors. A strip holds
 * as many as fill 128 bytes (or 96), and one row for each unknown; it stays in the first cache. The
 * solve walks down the strip by blocks of 8 rows:
 *
 *       M, packed            strip
 *     +----+               +--------+     1. rows of the block -= M(block, above) * rows above
 *     |diag|               | solved |        (8 rows x 2 vectors of sums, or 4 x 3 where registers
 *     +----+----+          |        |        are fewer; a step loads one row of the strip and a
 *     |    |diag|          +--------+        number of M for each row)
 *     +----+----+----+     | block  |     2. rows of the block: substitution in registers, each
 *     |  above  |diag|     +--------+        pivot a multiplication by its reciprocal
 *     +---------+----+
 *
 * The packed rows are read from front to back, once for each strip. Inside the 8 x 8 block each row
 * waits for the one before; a product with the block's inverse would not wait, and was measured to
 * be 0 to 3 % faster (orders 64 to 256): the sums of the next block do not wait either, and fill
 * the time. But an inverse multiplies rows of B that nearly cancel, and so loses digits that
 * substitution keeps whatever the condition of the block; it spreads a NaN or an infinity to rows
 * that do not depend on it; and it overflows where no unknown does. All that is kept here are the
 * reciprocals of pivots, which OpenBLAS's own kernels keep too: x (1 / d) is x / d within two
 * roundings where 1 / d is a normal number. Blocks with a pivot for which it is not are solved by
 * division (prepare()).
 *
 * Bits. An unknown is one chain of fused multiply-subtracts, from its right-hand side on, in the
 * order in which unknowns are found, and then one product. So neither in how many pieces the rows
 * are packed, nor which lane it is, nor the width of vectors matters. */

#include <math.h>

#define PARTS (1 + COMPLEX) /* reals in an element */
/* Sums are in registers: SUM_ROWS of the block's rows by as many vectors. */
#if VECTOR_REGISTERS == 32
#define SUM_ROWS 8
#define SUM_VECTORS 2
#define STRIP_ROW_BYTES 128
#elif COMPLEX
#define SUM_ROWS 4
#define SUM_VECTORS 2
#define STRIP_ROW_BYTES 128
#else
#define SUM_ROWS 4
#define SUM_VECTORS 3
#define STRIP_ROW_BYTES 96
#endif
#define EXPONENT_OF(x) _Generic((x), float : ilogbf, double : ilogb)(x)
#define TIMES_POWER(x, exponent) _Generic((x), float : scalbnf, double : scalbn)(x, exponent)
#define STRIP_ROW (STRIP_ROW_BYTES / (int)sizeof(REAL)) /* reals in a row of the strip */
#define STRIP_LANES (STRIP_ROW / PARTS)                 /* right-hand sides in a strip */
#define SUM_APART (COMPLEX ? STRIP_LANES : LANES)       /* reals between a sum's vectors */
#define BLOCK JI_TRIANGLE_BLOCK
/* Row 0, column 7: above the diagonal. */
#define BLOCK_MARK(block) ((block) + (BLOCK - 1) * BLOCK * PARTS)
#define MAGNITUDE(x) ((x) < 0 ? -(x) : (x))

/* ---- Packing ---- */

#if COMPLEX
/* 1 / a by Smith's algorithm. */
static inline void NAME(reciprocal)(const REAL *a, REAL *inverse) {
    const REAL re = a[0], im = a[1];

    if (MAGNITUDE(re) >= MAGNITUDE(im)) {
        const REAL ratio = im / re, scale = 1 / (re + im * ratio);
        inverse[0] = scale, inverse[1] = -ratio * scale;
    } else {
        const REAL ratio = re / im, scale = 1 / (im + re * ratio);
        inverse[0] = ratio * scale, inverse[1] = -scale;
    }
}

/* x / a where 1 / a is no normal number: a is brought near 1 first, by a power of two that comes
 * out again. */
static inline void NAME(divide)(const REAL *a, REAL *re, REAL *im) {
    const REAL largest = MAGNITUDE(a[0]) > MAGNITUDE(a[1]) ? a[0] : a[1];
    const int exponent = isfinite(largest) && largest != 0 ? EXPONENT_OF(largest) : 0;

    const REAL near[2] = {TIMES_POWER(a[0], -exponent), TIMES_POWER(a[1], -exponent)};
    REAL inverse[2];
    NAME(reciprocal)(near, inverse);

    const REAL x = inverse[0] * *re - inverse[1] * *im;
    *im = TIMES_POWER(inverse[0] * *im + inverse[1] * *re, -exponent);
    *re = TIMES_POWER(x, -exponent);
}
#endif

/* Gives 1 / pivot, and whether it is a normal number: multiplying by one is as accurate as
 * dividing. That of a zero, a subnormal, a huge or an infinite pivot is not. */
static inline bool NAME(invert)(const REAL *pivot, REAL *inverse) {
#if COMPLEX
    NAME(reciprocal)(pivot, inverse);
    const REAL largest = MAGNITUDE(inverse[0]) > MAGNITUDE(inverse[1]) ? inverse[0] : inverse[1];
    return isnormal(largest); /* then the smaller part is not NaN or infinite */
#else
    inverse[0] = 1 / pivot[0];
    return isnormal(inverse[0]);
#endif
}

/* Makes an 8 x 8 diagonal block, stored by columns, ready for solve(): reciprocals on its diagonal.
 * If one of them is not good enough, the block is left as it is and marked, in the triangle that is
 * not used. */
static inline void NAME(prepare)(REAL *block, bool unit) {
    REAL inverse[BLOCK * PARTS];

    if (unit)
        return;

    for (int r = 0; r < BLOCK; r++)
        if (!NAME(invert)(block + r * (BLOCK + 1) * PARTS, inverse + r * PARTS)) {
            *BLOCK_MARK(block) = 1;
            return;
        }

    for (int r = 0; r < BLOCK; r++)
        for (int part = 0; part < PARTS; part++)
            block[r * (BLOCK + 1) * PARTS + part] = inverse[r * PARTS + part];
}

typedef REAL NAME(quartet)
    __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

/* Four vectors of four, `stride` reals apart, transposed and stored at to, to + one, to + two and
 * to + two + one. */
VECTOR_INLINE void NAME(spread)(REAL *to, ptrdiff_t one, ptrdiff_t two, const REAL *from,
                                ptrdiff_t stride) {
    if (LANES < 4) { /* compilers take such vectors apart, slowly */
        for (int r = 0; r < 4; r++, from += stride, to++)
            to[0] = from[0], to[one] = from[1], to[two] = from[2], to[two + one] = from[3];
        return;
    }

    typedef NAME(quartet) quartet_t;
    const quartet_t a = *(const quartet_t *)from, b = *(const quartet_t *)(from + stride),
                    c = *(const quartet_t *)(from + 2 * stride),
                    d = *(const quartet_t *)(from + 3 * stride);

    const quartet_t ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                    ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                    cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                    cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);

    *(quartet_t *)to = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
    *(quartet_t *)(to + one) = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
    *(quartet_t *)(to + two) = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
    *(quartet_t *)(to + two + one) = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
}

/* The reverse: four vectors of four at from, from + one, from + two and from + two + one, stored
 * `stride` reals apart. */
VECTOR_INLINE void NAME(gather)(REAL *to, ptrdiff_t stride, const REAL *from, ptrdiff_t one,
                                ptrdiff_t two) {
    if (LANES < 4) {
        for (int r = 0; r < 4; r++, to += stride, from++)
            to[0] = from[0], to[1] = from[one], to[2] = from[two], to[3] = from[two + one];
        return;
    }

    typedef NAME(quartet) quartet_t;
    const quartet_t rows[4] = {*(const quartet_t *)from, *(const quartet_t *)(from + one),
                               *(const quartet_t *)(from + two),
                               *(const quartet_t *)(from + two + one)};
    NAME(spread)(to, stride, 2 * stride, (const REAL *)rows, 4);
}

/* What is left of the diagonal block of 8 rows, `columns` of them, column after column. */
static void NAME(pack_left)(REAL *to, const REAL *a, ptrdiff_t rs, ptrdiff_t cs, int rows,
                            int64_t columns) {
    if (!COMPLEX && rows == BLOCK && rs == 1) {
        for (int64_t p = 0; p < columns; p++, to += BLOCK)
            memcpy(to, a + p * cs, BLOCK * sizeof(REAL));
        return;
    }

    if (!COMPLEX && rows == BLOCK && (cs == 1 || cs == -1)) {
        /* Four columns at once; with cs = -1 the lowest address belongs to the last of them. */
        for (int64_t p = 0; p < columns; p += 4, to += 4 * BLOCK)
            for (int r = 0; r < BLOCK; r += 4)
                NAME(spread)
        (to + r + (cs > 0 ? 0 : 3 * BLOCK), cs * BLOCK, cs * 2 * BLOCK,
         a + r * rs + (cs > 0 ? p : -p - 3), rs);
        return;
    }

    for (int64_t p = 0; p < columns; p++, to += BLOCK * PARTS)
        for (int r = 0; r < BLOCK; r++)
            for (int part = 0; part < PARTS; part++)
                to[r * PARTS + part] = r < rows ? a[r * rs + p * cs + part] : 0;
}

/* A block of 8 rows: what is left of the diagonal block, then the diagonal block as solve() takes
 * it. Where there are fewer rows, rows of the unit matrix. */
static void NAME(pack)(const ji_triangle_t *call, int64_t block) {
    const ptrdiff_t rs = call->a_q * PARTS, cs = call->a_p * PARTS;
    const int64_t left = call->known + block * BLOCK; /* columns */
    const int rows =
        call->order - block * BLOCK < BLOCK ? (int)(call->order - block * BLOCK) : BLOCK;
    const REAL *a = (const REAL *)call->a + left * rs;
    REAL *const start = (REAL *)call->packed + ji_triangle_elements(call->known, block) * PARTS,
                *const diagonal = start + left * BLOCK * PARTS;

    NAME(pack_left)(start, a, rs, cs, rows, left);

    memset(diagonal, 0, BLOCK * BLOCK * PARTS * sizeof(REAL));
    for (int c = 0; c < BLOCK; c++) {
        REAL *const column = diagonal + c * BLOCK * PARTS;
        if (c >= rows || call->unit)
            column[c * PARTS] = 1;
        for (int r = c + call->unit; r < rows; r++)
            memcpy(column + r * PARTS, a + r * rs + (left + c) * cs, PARTS * sizeof(REAL));
    }

    if (COMPLEX && call->conjugate)
        for (REAL *imaginary = start + 1; imaginary < diagonal + BLOCK * BLOCK * 2; imaginary += 2)
            *imaginary = -*imaginary;

    if (!call->multiplies)
        NAME(prepare)(diagonal, call->unit);
}

/* ---- Solving ---- */

/* Substitution in a diagonal block whose pivots are divided by, for one right-hand side. Element
 * (r, c) is at block + r * row + c * column, unknown r at x + r * step, and its imaginary part
 * `apart` from that. Rare. */
static __attribute__((noinline, cold)) void
NAME(solve_by_division)(int rows, const REAL *block, ptrdiff_t row, ptrdiff_t column, REAL sign,
                        REAL *x, ptrdiff_t step, ptrdiff_t apart) {
    for (int r = 0; r < rows; r++, x += step, block += row + column) {
#if COMPLEX
        const REAL pivot[2] = {block[0], sign * block[1]};
        NAME(divide)(pivot, x, x + apart);
        for (int i = 1; i < rows - r; i++) {
            const REAL re = block[i * row], im = sign * block[i * row + 1];
            REAL *below = x + i * step;
            below[0] -= re * x[0] - im * x[apart];
            below[apart] -= re * x[apart] + im * x[0];
        }
#else
        (void)sign, (void)apart;
        *x /= *block;
        for (int i = 1; i < rows - r; i++)
            x[i * step] -= block[i * row] * *x;
#endif
    }
}

/* Substitution in SUM_ROWS rows of a diagonal block, whose first pivot is at `diagonal`: what is in
 * the sums, so many vectors (of complex elements, real and imaginary parts), become unknowns. */
VECTOR_INLINE void NAME(solve)(const REAL *diagonal, int vectors,
                               VECTOR sums[SUM_ROWS][SUM_VECTORS]) {
    VECTOR_UNROLL
    for (int r = 0; r < SUM_ROWS; r++) {
        const REAL *const column = diagonal + r * BLOCK * PARTS;
#if COMPLEX
        (void)vectors;
        const VECTOR d_re = V(splat)(column[2 * r]), d_im = V(splat)(column[2 * r + 1]),
                     re = sums[r][0], im = sums[r][1], x_re = V(fnma)(d_im, im, d_re * re),
                     x_im = V(fma)(d_im, re, d_re * im);
        sums[r][0] = x_re, sums[r][1] = x_im;
        VECTOR_UNROLL
        for (int i = r + 1; i < SUM_ROWS; i++) {
            const VECTOR a_re = V(splat)(column[2 * i]), a_im = V(splat)(column[2 * i + 1]);
            sums[i][0] = V(fma)(a_im, x_im, V(fnma)(a_re, x_re, sums[i][0]));
            sums[i][1] = V(fnma)(a_im, x_re, V(fnma)(a_re, x_im, sums[i][1]));
        }
#else
        const VECTOR d = V(splat)(column[r]);
        VECTOR_UNROLL
        for (int v = 0; v < vectors; v++)
            sums[r][v] *= d;
        VECTOR_UNROLL
        for (int i = r + 1; i < SUM_ROWS; i++) {
            const VECTOR factor = V(splat)(column[i]);
            VECTOR_UNROLL
            for (int v = 0; v < vectors; v++)
                sums[i][v] = V(fnma)(factor, sums[r][v], sums[i][v]);
        }
#endif
    }
}

/* How sums take a column of M times a row of the strip: constants of the compiler's. */
typedef struct NAME(summing) {
    int vectors;
    bool subtracts;
    bool last_first; /* columns from the diagonal's on, backwards */
    bool x_before_m; /* imaginary parts begin with the strip's times M's real ones */
} NAME(summing_t);

VECTOR_INLINE VECTOR NAME(take)(bool subtracts, VECTOR a, VECTOR b, VECTOR sum) {
    return subtracts ? V(fnma)(a, b, sum) : V(fma)(a, b, sum);
}

/* Of rows [from, SUM_ROWS). */
VECTOR_INLINE void NAME(take_row)(NAME(summing_t) how, int from, const REAL *column,
                                  const REAL *row, VECTOR sums[SUM_ROWS][SUM_VECTORS]) {
    const bool minus = how.subtracts;
    VECTOR x[SUM_VECTORS];
    VECTOR_UNROLL
    for (int v = 0; v < how.vectors; v++)
        x[v] = V(load)(row + v * SUM_APART);

    VECTOR_UNROLL
    for (int r = from; r < SUM_ROWS; r++) {
        const VECTOR factor = V(splat)(column[r * PARTS]);
#if COMPLEX
        const VECTOR imaginary = V(splat)(column[r * PARTS + 1]);
        sums[r][0] = NAME(take)(minus, factor, x[0], sums[r][0]);
        sums[r][0] = NAME(take)(!minus, imaginary, x[1], sums[r][0]);
        if (how.x_before_m)
            sums[r][1] = NAME(take)(minus, factor, x[1], sums[r][1]);
        sums[r][1] = NAME(take)(minus, imaginary, x[0], sums[r][1]);
        if (!how.x_before_m)
            sums[r][1] = NAME(take)(minus, factor, x[1], sums[r][1]);
#else
        VECTOR_UNROLL
        for (int v = 0; v < how.vectors; v++)
            sums[r][v] = NAME(take)(minus, factor, x[v], sums[r][v]);
#endif
    }
}

/* SUM_ROWS rows of the block -= a times `above` rows of the strip, in so many vectors; then, where
 * there is a diagonal, they are solved for. */
VECTOR_INLINE void NAME(sums)(REAL *rows, const REAL *a, const REAL *strip, int64_t above,
                              int vectors, const REAL *diagonal) {
    VECTOR sums[SUM_ROWS][SUM_VECTORS];

    VECTOR_UNROLL
    for (int r = 0; r < SUM_ROWS; r++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        sums[r][v] = V(load)(rows + r * STRIP_ROW + v * SUM_APART);

    const NAME(summing_t) how = {.vectors = vectors, .subtracts = true, .x_before_m = true};
    VECTOR_UNROLL_STEPS
    for (int64_t p = 0; p < above; p++, a += BLOCK * PARTS, strip += STRIP_ROW)
        NAME(take_row)(how, 0, a, strip, sums);

    if (diagonal != NULL)
        NAME(solve)(diagonal, vectors, sums);
    VECTOR_UNROLL
    for (int r = 0; r < SUM_ROWS; r++)
        VECTOR_UNROLL
    for (int v = 0; v < vectors; v++)
        V(store)(rows + r * STRIP_ROW + v * SUM_APART, sums[r][v]);
}

/* DO(first lane, vectors) for the strip's first `lanes` right-hand sides, by whole vectors. */
#if COMPLEX
#define OVER_LANES(lanes, DO)                                                                      \
    for (int v = 0; v < (lanes); v += LANES)                                                       \
        DO(v, 2);
#else
#define OVER_LANES(lanes, DO)                                                                      \
    int v = 0;                                                                                     \
    for (; v + (SUM_VECTORS - 1) * LANES < (lanes); v += SUM_VECTORS * LANES)                      \
        DO(v, SUM_VECTORS);                                                                        \
    if (v + LANES < (lanes))                                                                       \
        DO(v, 2);                                                                                  \
    else if (v < (lanes))                                                                          \
        DO(v, 1);
#endif

VECTOR_INLINE void NAME(sums_of_strip)(REAL *rows, const REAL *a, const REAL *strip, int64_t above,
                                       int lanes, const REAL *diagonal) {
#define SUMS(v, vectors) NAME(sums)(rows + (v), a, strip + (v), above, vectors, diagonal)
    OVER_LANES(lanes, SUMS)
#undef SUMS
}

/* The first `lanes` right-hand sides of the strip, by whole vectors. Not inlined: beside what moves
 * B, GCC has too few registers for both (1.02 to 1.25 times as long). */
static __attribute__((noinline)) void NAME(sweep)(const ji_triangle_t *call, REAL *restrict strip,
                                                  int lanes) {
    const int64_t blocks = ji_triangle_blocks(call->order);
    const REAL *packed = call->packed;

    for (int64_t block = 0; block < blocks; block++) {
        const int64_t above = call->known + block * BLOCK;
        REAL *const rows = strip + above * STRIP_ROW;

        const REAL *const diagonal = packed + above * BLOCK * PARTS;
        const bool divides = __builtin_expect(*BLOCK_MARK(diagonal) != 0, 0);

        /* The columns of the diagonal block follow those above. */
        for (int r = 0; r < BLOCK; r += SUM_ROWS)
            NAME(sums_of_strip)
        (rows + r * STRIP_ROW, packed + r * PARTS, strip, divides ? above : above + r, lanes,
         divides ? NULL : diagonal + r * (BLOCK + 1) * PARTS);
        for (int lane = 0; divides && lane < lanes; lane++)
            NAME(solve_by_division)
        (BLOCK, diagonal, PARTS, BLOCK * PARTS, 1, rows + lane, STRIP_ROW, STRIP_LANES);
        packed = diagonal + BLOCK * BLOCK * PARTS;
    }
}

/* ---- Multiplying ---- */

/* SUM_ROWS rows of the strip become alpha times their products with M: of `left` rows above them,
 * and of themselves. Columns of M are BLOCK elements apart. */
VECTOR_INLINE void NAME(products)(NAME(summing_t) how, const double alpha[2], const REAL *m,
                                  int64_t left, const REAL *strip, REAL *rows) {
    const REAL *const diagonal = m + left * BLOCK * PARTS;
    VECTOR sums[SUM_ROWS][SUM_VECTORS];
    VECTOR_UNROLL
    for (int r = 0; r < SUM_ROWS; r++)
        VECTOR_UNROLL
    for (int v = 0; v < how.vectors; v++)
        sums[r][v] = V(splat)(0);

    if (how.last_first) {
        VECTOR_UNROLL
        for (int c = SUM_ROWS - 1; c >= 0; c--)
            NAME(take_row)(how, c, diagonal + c * BLOCK * PARTS, rows + c * STRIP_ROW, sums);
        VECTOR_UNROLL_STEPS
        for (int64_t p = left - 1; p >= 0; p--)
            NAME(take_row)(how, 0, m + p * BLOCK * PARTS, strip + p * STRIP_ROW, sums);
    } else {
        VECTOR_UNROLL_STEPS
        for (int64_t p = 0; p < left; p++)
            NAME(take_row)(how, 0, m + p * BLOCK * PARTS, strip + p * STRIP_ROW, sums);
        VECTOR_UNROLL
        for (int c = 0; c < SUM_ROWS; c++)
            NAME(take_row)(how, c, diagonal + c * BLOCK * PARTS, rows + c * STRIP_ROW, sums);
    }

    const VECTOR alpha_re = V(splat)((REAL)alpha[0]);
    VECTOR_UNROLL
    for (int r = 0; r < SUM_ROWS; r++) {
        VECTOR scaled[SUM_VECTORS];
        VECTOR_UNROLL
        for (int v = 0; v < how.vectors; v++)
            scaled[v] = alpha_re * sums[r][v];
#if COMPLEX
        if (alpha[1] != 0) {
            const VECTOR alpha_im = V(splat)((REAL)alpha[1]);
            scaled[0] = V(fnma)(alpha_im, sums[r][1], scaled[0]);
            scaled[1] = V(fma)(alpha_im, sums[r][0], scaled[1]);
        }
#endif
        VECTOR_UNROLL
        for (int v = 0; v < how.vectors; v++)
            V(store)(rows + r * STRIP_ROW + v * SUM_APART, scaled[v]);
    }
}

/* From the last rows up, which are no longer needed when they are overwritten. */
VECTOR_INLINE void NAME(multiply_by)(const ji_triangle_t *call, REAL *restrict strip, int lanes,
                                     bool last_first, bool x_before_m) {
    for (int64_t block = ji_triangle_blocks(call->order) - 1; block >= 0; block--) {
        const REAL *const packed =
            (const REAL *)call->packed + ji_triangle_elements(call->known, block) * PARTS;
        for (int r = BLOCK - SUM_ROWS; r >= 0; r -= SUM_ROWS) {
            const int64_t left = call->known + block * BLOCK + r;
#define PRODUCTS(v, count)                                                                         \
    NAME(products)                                                                                 \
    ((NAME(summing_t)){count, false, last_first, x_before_m}, call->alpha, packed + r * PARTS,     \
     left, strip + (v), strip + left * STRIP_ROW + (v))
            OVER_LANES(lanes, PRODUCTS)
#undef PRODUCTS
        }
    }
}

static __attribute__((noinline)) void NAME(multiply)(const ji_triangle_t *call,
                                                     REAL *restrict strip, int lanes) {
    const bool x_before_m = COMPLEX && call->from_right;
    if (call->last_first && x_before_m)
        NAME(multiply_by)(call, strip, lanes, true, true);
    else if (call->last_first)
        NAME(multiply_by)(call, strip, lanes, true, false);
    else if (x_before_m)
        NAME(multiply_by)(call, strip, lanes, false, true);
    else
        NAME(multiply_by)(call, strip, lanes, false, false);
}

/* ---- Between B and the strip ---- */

/* One element of B, and its place in the strip. */
VECTOR_INLINE void NAME(move_one)(REAL *b, REAL *in_strip, bool load) {
    for (int part = 0; part < PARTS; part++) {
        if (load)
            in_strip[part * STRIP_LANES] = b[part];
        else
            b[part] = in_strip[part * STRIP_LANES];
    }
}

/* Unknowns [from, end) that lie side by side, of as many fours of lanes as there are: tiles of 4
 * lanes x 4 reals. Reversed, the lowest address holds the last unknown. */
VECTOR_INLINE int NAME(move_tiles)(const ji_triangle_t *call, REAL *b, int lanes, int64_t from,
                                   int64_t end, REAL *strip, bool load) {
    enum { IN_TILE = 4 / PARTS };
    const bool forward = call->b_q > 0;
    const ptrdiff_t rhs_stride = call->b_rhs * PARTS, step = forward ? STRIP_ROW : -STRIP_ROW,
                    one = COMPLEX ? STRIP_LANES : step, two = COMPLEX ? step : 2 * step;
    const int64_t lowest = forward ? from : end - 1, count = end - from;
    REAL *const low = b + lowest * call->b_q * PARTS, *const low_row = strip + lowest * STRIP_ROW;

    int lane = 0;
    for (; lane + 4 <= lanes; lane += 4) {
        REAL *column = low + lane * rhs_stride, *row = low_row + lane;

        int64_t q = 0;
        for (; q + IN_TILE <= count; q += IN_TILE, column += 4, row += IN_TILE * step) {
            if (load)
                NAME(spread)(row, one, two, column, rhs_stride);
            else
                NAME(gather)(column, rhs_stride, row, one, two);
        }
        for (; q < count; q++, column += PARTS, row += step)
            for (int l = 0; l < 4; l++)
                NAME(move_one)(column + l * rhs_stride, row + l, load);
    }

    return lane;
}

/* Four elements of B that lie side by side, and their places in the strip, or a vector of reals. */
#define MOVED_AT_ONCE (COMPLEX ? 4 : LANES)
/* In a strip that has a vector less than the widest, or of which a part is moved so. */
#define FEWER_LANES ((STRIP_LANES - LANES) / MOVED_AT_ONCE * MOVED_AT_ONCE)
VECTOR_INLINE void NAME(move_some)(REAL *b, REAL *in_strip, bool load) {
#if COMPLEX
    if (LANES < 4) { /* as in spread() */
        for (int l = 0; l < 4; l++)
            NAME(move_one)(b + 2 * l, in_strip + l, load);
        return;
    }

    typedef NAME(quartet) quartet_t;
    quartet_t *const low = (quartet_t *)b, *const high = low + 1, *const re = (quartet_t *)in_strip,
                     *const im = (quartet_t *)(in_strip + STRIP_LANES);
    const quartet_t x = load ? *low : *re, y = load ? *high : *im;
    if (load) {
        *re = __builtin_shufflevector(x, y, 0, 2, 4, 6);
        *im = __builtin_shufflevector(x, y, 1, 3, 5, 7);
    } else {
        *low = __builtin_shufflevector(x, y, 0, 4, 1, 5);
        *high = __builtin_shufflevector(x, y, 2, 6, 3, 7);
    }
#else
    if (load)
        V(store)(in_strip, V(load)(b));
    else
        V(store)(b, V(load)(in_strip));
#endif
}

/* Rows of so many elements that lie side by side; `lanes` is a number of the compiler's. */
VECTOR_INLINE int NAME(move_rows)(const ji_triangle_t *call, REAL *b, int lanes, int64_t from,
                                  int64_t end, REAL *strip, bool load) {
    const ptrdiff_t q_stride = call->b_q * PARTS;

    for (int64_t q = from; q < end; q++) {
        VECTOR_UNROLL
        for (int l = 0; l < lanes; l += MOVED_AT_ONCE)
            NAME(move_some)(b + q * q_stride + l * PARTS, strip + q * STRIP_ROW + l, load);
    }
    return lanes;
}

/* Unknowns [from, end) of `lanes` right-hand sides, from B into the strip, or back. Unknown q is
 * row q of the strip; the lanes are the right-hand sides, for complex elements all real parts
 * before all imaginary ones. */
VECTOR_INLINE void NAME(move)(const ji_triangle_t *call, REAL *b, int lanes, int64_t from,
                              int64_t end, REAL *strip, bool load) {
    const ptrdiff_t q_stride = call->b_q * PARTS, rhs_stride = call->b_rhs * PARTS;
    int done = 0;

    if (rhs_stride == PARTS && lanes == STRIP_LANES)
        done = NAME(move_rows)(call, b, STRIP_LANES, from, end, strip, load);
    else if (rhs_stride == PARTS && lanes >= FEWER_LANES)
        done = NAME(move_rows)(call, b, FEWER_LANES, from, end, strip, load);
    else if (q_stride == PARTS || q_stride == -PARTS)
        done = NAME(move_tiles)(call, b, lanes, from, end, strip, load);

    if (done < lanes)
        for (int64_t q = from; q < end; q++)
            for (int l = done; l < lanes; l++)
                NAME(move_one)(b + q * q_stride + l * rhs_stride, strip + q * STRIP_ROW + l, load);
}

VECTOR_INLINE void NAME(scale_one)(REAL alpha_re, REAL alpha_im, REAL *re, REAL *im) {
#if COMPLEX
    const REAL x = *re, y = *im;
    *re = alpha_re * x - alpha_im * y;
    *im = alpha_re * y + alpha_im * x;
#else
    (void)alpha_im, (void)im;
    *re *= alpha_re;
#endif
}

static __attribute__((noinline)) void NAME(scale)(const ji_triangle_t *call, int lanes,
                                                  REAL *rows) {
    const REAL re = (REAL)call->alpha[0], im = (REAL)call->alpha[1];
    if (re == 1 && im == 0)
        return;

    for (int64_t q = 0; q < call->order; q++, rows += STRIP_ROW)
        for (int l = 0; l < lanes; l++)
            NAME(scale_one)(re, im, rows + l, rows + (PARTS - 1) * STRIP_LANES + l);
}

/* A strip of right-hand sides: in, scaled, solved, and back. All have the same number of vectors,
 * or one less: sums of a single vector would wait for each other. */
static void NAME(apply)(const ji_triangle_t *call, int64_t index) {
    _Alignas(64) REAL strip[JI_TRIANGLE_MAX_ORDER * STRIP_ROW];
    const int64_t known = call->known, end = known + call->order,
                  rows = known + ji_triangle_blocks(call->order) * BLOCK;

    const int64_t strips = ji_triangle_strips(STRIP_LANES, call->count),
                  vectors = (call->count + LANES - 1) / LANES, least = vectors / strips;
    const int64_t wider = vectors % strips; /* so many strips, the first ones */
    const int64_t first = (index * least + (index < wider ? index : wider)) * LANES,
                  most = (least + (index < wider)) * LANES;
    const int lanes = (int)(call->count - first < most ? call->count - first : most);
    REAL *const b = (REAL *)call->b + first * call->b_rhs * PARTS;

    memset(strip + end * STRIP_ROW, 0, (size_t)(rows - end) * STRIP_ROW_BYTES);
    if (lanes % LANES != 0) {
        REAL *last = strip + lanes / LANES * LANES; /* vector */
        for (int64_t q = 0; q < end; q++, last += STRIP_ROW)
            for (int part = 0; part < PARTS; part++)
                V(store)(last + part * STRIP_LANES, V(splat)(0));
    }

    NAME(move)(call, b, lanes, 0, end, strip, true);
    if (call->multiplies) {
        NAME(multiply)(call, strip, lanes);
    } else {
        NAME(scale)(call, lanes, strip + known * STRIP_ROW);
        NAME(sweep)(call, strip, lanes);
    }
    NAME(move)(call, b, lanes, known, end, strip, false);
}

#include "blas/kernels/triangle_few_kernel.h"

static const ji_triangle_kernels_t NAME(triangle) = {
    .strip = STRIP_LANES,
    .pack = NAME(pack),
    .apply = NAME(apply),
    .solve_one = NAME(solve_one),
};

#undef PARTS
#undef STRIP_ROW_BYTES
#undef STRIP_ROW
#undef STRIP_LANES
#undef SUM_APART
#undef BLOCK
#undef SUM_ROWS
#undef SUM_VECTORS
#undef OVER_LANES
#undef MOVED_AT_ONCE
#undef FEWER_LANES
#undef BLOCK_MARK
#undef MAGNITUDE
#undef EXPONENT_OF
#undef TIMES_POWER
