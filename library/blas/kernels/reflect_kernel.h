/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The reflectors of a few columns that lie in the first cache, of one element type and instruction
 * set: factor_kernel.h includes it within its text (each_type.h). No include guard. PARTS is that
 * one's.
 *
 * With x what column j has below its diagonal, v = (1, f x), and H(j) is applied to the columns a
 * behind it:
 *
 *     s = -conj(tau) (a(j) + conj(f) x^H a)        a += v s        conj(tau f) = -1 / beta
 *
 * While a vector of rows is in registers for that, its products with the next column's x are added:
 * the norm of that, what H(j + 1) asks of the columns behind it, and what T asks of those before
 * it. So each reflector reads all columns once, and writes those that change.
 *
 * Meanwhile v has its zeros and its one in the column, and of R the column's part is elsewhere.
 *
 * A product's sums are as many as 64 bytes hold, added by halves, whatever the vectors: narrower
 * ones go over the rows of one set of sums after the other, which registers hold. */

#define REFLECT_LAST (JI_REFLECT_COLUMNS - 1)
#define REFLECT_SETS (64 / VECTOR_BYTES)
/* Reals, whole vectors, in which there is a diagonal element. */
#define REFLECT_TOP ((JI_REFLECT_COLUMNS * PARTS + LANES - 1) / LANES * LANES)
/* Squares and products from here to there lost nothing below the smallest numbers, nor above the
 * largest ones. */
#define REFLECT_LEAST (SINGLE ? 0x1p-80 : 0x1p-900)
#define REFLECT_MOST (SINGLE ? 0x1p+100 : 0x1p+1000)

typedef struct NAME(reflecting) {
    REAL *a;
    int64_t lda, reals; /* of a column */
    REAL factor[PARTS], sums[JI_REFLECT_COLUMNS * PARTS];
    REAL dots[JI_REFLECT_COLUMNS * PARTS]; /* x^H a, of the next column's x; its own: the square */
} NAME(reflecting_t);

/* What a column's rows are multiplied by, in registers. */
typedef struct NAME(reflect_scalars) {
    VECTOR factor[PARTS], sums[JI_REFLECT_COLUMNS * PARTS];
} NAME(reflect_scalars_t);

/* y += b x. */
VECTOR_INLINE VECTOR NAME(reflect_gain)(const VECTOR *b, VECTOR x, VECTOR y) {
    y = V(fma)(b[0], x, y);
#if COMPLEX
    y = V(fma)(b[1], V(turn)(x), y);
#endif
    return y;
}

/* v, of the vector whose first real is `at` reals in front of the diagonal, with zeros above that
 * and its one. */
VECTOR_INLINE VECTOR NAME(reflect_top)(const VECTOR *factor, VECTOR x, int at) {
    const KEEP below = V(keep_from)(at + PARTS);
    const VECTOR one = V(splat)(1);
    VECTOR v = V(fma_where)(V(keep_between)(at, at + 1), one, one, V(splat)(0));
    v = V(fma_where)(below, factor[0], x, v);
#if COMPLEX
    v = V(fma_where)(below, factor[1], V(turn)(x), v);
#endif
    return v;
}

VECTOR_INLINE void NAME(reflect_multiply)(VECTOR x, VECTOR y, VECTOR *sum) {
    sum[0] = V(fma)(x, y, sum[0]);
#if COMPLEX
    sum[1] = V(fma)(V(swap)(x), y, sum[1]);
#endif
}

/* One vector of rows, from real i on. The compiler knows j; whether the vector is whole; and
 * whether all of its rows are below the diagonals. */
VECTOR_INLINE void NAME(reflect_rows)(const NAME(reflecting_t) * of, int j, int64_t i,
                                      bool is_whole, bool is_below,
                                      const NAME(reflect_scalars_t) * by, VECTOR *sum) {
    const int next = j + 1;
    const PART part = V(first)(is_whole ? 0 : (int)(of->reals - i));
    REAL *const a = of->a + i;
#define REFLECT_LOAD(c) (is_whole ? V(load)(a + (c)*of->lda) : V(load_part)(a + (c)*of->lda, part))
#define REFLECT_STORE(c, v)                                                                        \
    (is_whole ? V(store)(a + (c)*of->lda, v) : V(store_part)(a + (c)*of->lda, v, part))

    VECTOR v = V(splat)(0);
    if (j >= 0) {
        v = is_below ? NAME(reflect_gain)(by->factor, REFLECT_LOAD(j), v)
                     : NAME(reflect_top)(by->factor, REFLECT_LOAD(j), (int)(j * PARTS - i));
        REFLECT_STORE(j, v);
    }
    if (next > REFLECT_LAST)
        return;

    VECTOR x = REFLECT_LOAD(next);
    if (j >= 0) {
        x = NAME(reflect_gain)(by->sums + next * PARTS, v, x);
        REFLECT_STORE(next, x);
    }
    if (!is_below)
        x = V(fma_where)(V(keep_from)((int)((next + 1) * PARTS - i)), x, V(splat)(1), V(splat)(0));

    VECTOR_UNROLL
    for (int c = 0; c < JI_REFLECT_COLUMNS; c++) {
        VECTOR y = c == j ? v : c == next ? x : REFLECT_LOAD(c);
        if (c > next && j >= 0) {
            y = NAME(reflect_gain)(by->sums + c * PARTS, v, y);
            REFLECT_STORE(c, y);
        }
        NAME(reflect_multiply)(x, y, sum + c * PARTS);
    }
#undef REFLECT_LOAD
#undef REFLECT_STORE
}

/* All rows, for column j, of which the factor and the sums are known; j is a number of the
 * compiler's. Of -1 the first column's products alone are found. */
VECTOR_INLINE void NAME(reflect_sweep)(NAME(reflecting_t) * of, int j) {
    NAME(reflect_scalars_t) by;
    VECTOR sums[REFLECT_SETS][JI_REFLECT_COLUMNS * PARTS];
    VECTOR_UNROLL
    for (int c = 0; c < JI_REFLECT_COLUMNS * PARTS; c++) {
        by.sums[c] = V(splat)(of->sums[c]);
        by.factor[c % PARTS] = V(splat)(of->factor[c % PARTS]);
    }

    for (int set = 0; set < REFLECT_SETS; set++) {
        VECTOR sum[JI_REFLECT_COLUMNS * PARTS];
        VECTOR_UNROLL
        for (int c = 0; c < JI_REFLECT_COLUMNS * PARTS; c++)
            sum[c] = V(splat)(0);

        int64_t i = set * LANES;
        for (; i < REFLECT_TOP && i + LANES <= of->reals; i += REFLECT_SETS * LANES)
            NAME(reflect_rows)(of, j, i, true, false, &by, sum);
        for (; i + LANES <= of->reals; i += REFLECT_SETS * LANES)
            NAME(reflect_rows)(of, j, i, true, true, &by, sum);
        if (i < of->reals)
            NAME(reflect_rows)(of, j, i, false, false, &by, sum);

        VECTOR_UNROLL
        for (int c = 0; c < JI_REFLECT_COLUMNS * PARTS; c++)
            sums[set][c] = sum[c];
    }
    for (int half = REFLECT_SETS / 2; half > 0; half /= 2)
        for (int set = 0; set < half; set++)
            for (int c = 0; c < JI_REFLECT_COLUMNS * PARTS; c++)
                sums[set][c] += sums[set + half][c];

#if COMPLEX
    VECTOR_UNROLL
    for (int c = 0; c < 2 * JI_REFLECT_COLUMNS; c += 2) {
        REAL same[2], other[2]; /* Re Re, Im Im; Im Re, Re Im */
        V(fold_pairs)(sums[0][c], same);
        V(fold_pairs)(sums[0][c + 1], other);
        of->dots[c] = same[0] + same[1], of->dots[c + 1] = other[1] - other[0];
    }
#else
    VECTOR_UNROLL
    for (int c = 0; c < JI_REFLECT_COLUMNS; c += 4)
        V(fold_four)(sums[0] + c, of->dots + c);
#endif
}

static __attribute__((noinline)) void NAME(reflect_first)(NAME(reflecting_t) * of) {
    NAME(reflect_sweep)(of, -1);
}
static __attribute__((noinline)) void NAME(reflect_column)(NAME(reflecting_t) * of, int64_t j) {
    switch (j) {
    case 0: NAME(reflect_sweep)(of, 0); break;
    case 1: NAME(reflect_sweep)(of, 1); break;
    case 2: NAME(reflect_sweep)(of, 2); break;
    case 3: NAME(reflect_sweep)(of, 3); break;
    case 4: NAME(reflect_sweep)(of, 4); break;
    case 5: NAME(reflect_sweep)(of, 5); break;
    case 6: NAME(reflect_sweep)(of, 6); break;
    default: NAME(reflect_sweep)(of, REFLECT_LAST);
    }
}

/* What column j's reflector is, by what is known of it: its factor and sums; beta; tau; and what
 * V^H V has in that column above the diagonal. False, and nothing is changed: numbers are such
 * that too much may have been lost. */
static bool NAME(reflect_find)(NAME(reflecting_t) * of, int64_t j, REAL *beta, REAL *tau,
                               REAL *products) {
    const REAL *const row = of->a + j * PARTS;
    const double re = row[j * of->lda], im = COMPLEX ? row[j * of->lda + PARTS - 1] : 0,
                 rest = of->dots[j * PARTS], square = re * re + im * im + rest;
    bool usable = (rest >= REFLECT_LEAST) & (square <= REFLECT_MOST);
    for (int64_t c = j + 1; c < JI_REFLECT_COLUMNS; c++) {
        const REAL *const top = row + c * of->lda, *const dot = of->dots + c * PARTS;
        const double size = fabs((double)dot[0]) + (COMPLEX ? fabs((double)dot[PARTS - 1]) : 0);
        usable &= (size >= REFLECT_LEAST) & (size <= REFLECT_MOST) &
                  (fabs((double)top[0]) <= REFLECT_MOST) &
                  (fabs((double)top[PARTS - 1]) <= REFLECT_MOST);
    }
    if (!usable)
        return false;

    const double size = -copysign(sqrt(square), re), by = re - size, inverse = -1 / size,
                 divisor = COMPLEX ? by * by + im * im : by, f = (COMPLEX ? by : 1) / divisor,
                 f_im = -im / divisor, t = by * inverse, t_im = im * inverse;
    *beta = (REAL)size;
    tau[0] = (REAL)t, of->factor[0] = (REAL)f;
    if (COMPLEX)
        tau[PARTS - 1] = (REAL)t_im, of->factor[PARTS - 1] = (REAL)f_im;

    for (int64_t c = 0; c < JI_REFLECT_COLUMNS; c++) {
        const REAL *const top = row + c * of->lda, *const dots = of->dots + c * PARTS;
        const double dot = dots[0], dot_im = COMPLEX ? dots[PARTS - 1] : 0, own = top[0],
                     own_im = COMPLEX ? top[PARTS - 1] : 0;
        if (c < j) { /* v(c)^H v */
            REAL *const to = products + c * PARTS;
            to[0] = (REAL)(own + (f * dot + f_im * dot_im));
            if (COMPLEX)
                to[PARTS - 1] = (REAL)((f_im * dot - f * dot_im) - own_im);
        } else if (c > j) { /* conj(tau f) is real */
            REAL *const to = of->sums + c * PARTS;
            to[0] = (REAL) - (inverse * dot + (t * own + t_im * own_im));
            if (COMPLEX)
                to[PARTS - 1] = (REAL) - (inverse * dot_im + (t * own_im - t_im * own));
        }
    }
    return true;
}

static int64_t NAME(reflect)(int64_t m, void *panel, int64_t lda, void *taus, void *square,
                             void *products, int64_t ld) {
    NAME(reflecting_t) of = {.a = panel, .lda = lda * PARTS, .reals = m * PARTS};
    REAL r[JI_REFLECT_COLUMNS][JI_REFLECT_COLUMNS * PARTS], *const v1 = square;

    NAME(reflect_first)(&of);
    int64_t done = 0;
    for (REAL beta; done < JI_REFLECT_COLUMNS; done++) {
        if (!NAME(reflect_find)(&of, done, &beta, (REAL *)taus + done * PARTS,
                                (REAL *)products + done * ld * PARTS))
            break;
        memcpy(r[done], of.a + done * of.lda, sizeof r[done]);
        r[done][(done + 1) * PARTS - 1] = 0;
        r[done][done * PARTS] = beta;
        NAME(reflect_column)(&of, done);
    }

    for (int64_t j = 0; j < done; j++) {
        REAL *const column = of.a + j * of.lda;
        memcpy(v1 + j * ld * PARTS, column, sizeof r[j]);
        for (int64_t i = 0; i < JI_REFLECT_COLUMNS * PARTS; i++)
            column[i] = i < (j + 1) * PARTS ? r[j][i] : column[i];
    }
    return done;
}

#undef REFLECT_LAST
#undef REFLECT_SETS
#undef REFLECT_TOP
#undef REFLECT_LEAST
#undef REFLECT_MOST
