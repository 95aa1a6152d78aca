/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 for one element type and instruction set: the text of level1.h, see each_type.h. No
 * include guard.
 *
 * Of complex vectors side by side most loops see twice as many reals. Where a sum's or a search's
 * elements lie apart, they are first laid side by side, some at a time, in a room on the stack: so
 * there is one loop for each sum, and its order is the same for every increment. What writes
 * vectors that lie apart does it element by element.
 *
 * The sums of a block are in SUM_VECTORS vectors, which are SUM_BYTES whatever the set, and so many
 * that additions to one need not wait for each other. */

#ifndef LEVEL1_COMMON
#define LEVEL1_COMMON
enum {
    SUM_BYTES = 256,
    SUM_VECTORS = SUM_BYTES / VECTOR_BYTES,
    ROOM_BYTES = 4096,  /* whole rows of every type */
    AT_ONCE = 4,        /* vectors of one step of a loop without sums */
    SEARCH_VECTORS = 8, /* of one row of a search */
    WIDE_LANES = VECTOR_BYTES / sizeof(double)
};
#endif

#define PARTS (1 + COMPLEX)
#define ROOM ((int)(ROOM_BYTES / PARTS / sizeof(REAL))) /* elements */
/* Of a product of complex vectors there are two rows: straight and crossed. */
#define ROW_VECTORS (SUM_VECTORS / PARTS)
#define ROW (ROW_VECTORS * LANES)

/* What is left of a row for one vector: all of it, if there is as much. */
VECTOR_INLINE PART NAME(first_of)(int64_t reals) {
    return V(first)(reals < LANES ? (int)reals : LANES);
}

/* ---- Element by element ---- */

/* Up to here reals are done one by one: what a part of a vector was stored to cannot be loaded again
 * at once, and who calls for a few often calls for the same ones next. */
#define FEW (LANES / 2)

/* Does STEP(LOAD, STORE) for each vector of `count` reals, the last of which may be a part. */
#define OVER_VECTORS(count, STEP)                                                                  \
    int64_t reals = (count);                                                                       \
    for (; reals >= AT_ONCE * LANES; reals -= AT_ONCE * LANES)                                     \
        for (int k = 0; k < AT_ONCE; k++) {                                                        \
            STEP(V(load), V(store));                                                               \
        }                                                                                          \
    for (; reals >= LANES; reals -= LANES) {                                                       \
        STEP(V(load), V(store));                                                                   \
    }                                                                                              \
    if (reals > 0) {                                                                               \
        const PART part = V(first)((int)reals);                                                    \
        STEP(LOAD_REST, STORE_REST);                                                               \
    }
#define LOAD_REST(p) V(load_part)(p, part)
#define STORE_REST(p, vector) V(store_part)(p, vector, part)

/* alpha as the vectors want it: of a complex number Re everywhere, and -Im, Im in turn. */
typedef struct NAME(factor) {
    VECTOR re;
#if COMPLEX
    VECTOR im;
#endif
} NAME(factor_t);

VECTOR_INLINE NAME(factor_t) NAME(factor_of)(const REAL *alpha, bool is_real) {
    NAME(factor_t) factor;
    factor.re = V(splat)(alpha[0]);
#if COMPLEX
    REAL im[LANES];
    for (int i = 0; i < LANES; i += 2)
        im[i] = is_real ? 0 : -alpha[1], im[i + 1] = is_real ? 0 : alpha[1];
    factor.im = V(load)(im);
#else
    (void)is_real;
#endif
    return factor;
}

VECTOR_INLINE VECTOR NAME(axpy_vector)(NAME(factor_t) alpha, VECTOR x, VECTOR y) {
    y = V(fma)(alpha.re, x, y);
#if COMPLEX
    y = V(fma)(alpha.im, V(swap)(x), y);
#endif
    return y;
}

VECTOR_INLINE VECTOR NAME(scal_vector)(NAME(factor_t) alpha, bool is_real, VECTOR x) {
#if COMPLEX
    if (!is_real)
        return V(fma)(alpha.im, V(swap)(x), alpha.re * x);
#else
    (void)is_real;
#endif
    return alpha.re * x;
}

/* The same, of one element. */
VECTOR_INLINE void NAME(axpy_one)(const REAL *alpha, const REAL *x, REAL *y) {
#if COMPLEX
    const REAL re = x[0], im = x[1];
    y[0] = V(fma_one)(-alpha[1], im, V(fma_one)(alpha[0], re, y[0]));
    y[1] = V(fma_one)(alpha[1], re, V(fma_one)(alpha[0], im, y[1]));
#else
    y[0] = V(fma_one)(alpha[0], x[0], y[0]);
#endif
}

VECTOR_INLINE void NAME(scal_one)(const REAL *alpha, bool is_real, REAL *x) {
#if COMPLEX
    const REAL re = x[0], im = x[1];
    x[0] = is_real ? alpha[0] * re : V(fma_one)(-alpha[1], im, alpha[0] * re);
    x[1] = is_real ? alpha[0] * im : V(fma_one)(alpha[1], re, alpha[0] * im);
#else
    (void)is_real;
    x[0] = alpha[0] * x[0];
#endif
}

static void NAME(axpy)(int64_t n, const void *alpha_, const void *x_, int64_t incx, void *y_,
                       int64_t incy) {
    const REAL *x = x_;
    REAL *y = y_, alpha[PARTS];
    memcpy(alpha, alpha_, sizeof alpha);

    if (incx != 1 || incy != 1 || PARTS * n <= FEW) {
        for (; n > 0; n--, x += PARTS * incx, y += PARTS * incy)
            NAME(axpy_one)(alpha, x, y);
        return;
    }

    const NAME(factor_t) factor = NAME(factor_of)(alpha, false);
#define STEP(LOAD, STORE)                                                                          \
    STORE(y, NAME(axpy_vector)(factor, LOAD(x), LOAD(y)));                                         \
    x += LANES, y += LANES
    OVER_VECTORS(PARTS * n, STEP)
#undef STEP
}

VECTOR_INLINE void NAME(scal_by)(int64_t n, const void *alpha_, bool is_real, void *x_,
                                 int64_t incx) {
    REAL *x = x_, alpha[PARTS] = {0};
    memcpy(alpha, alpha_, is_real ? sizeof(REAL) : sizeof alpha);

    if (incx != 1 || PARTS * n <= FEW) {
        for (; n > 0; n--, x += PARTS * incx)
            NAME(scal_one)(alpha, is_real, x);
        return;
    }

    const NAME(factor_t) factor = NAME(factor_of)(alpha, is_real);
#define STEP(LOAD, STORE)                                                                          \
    STORE(x, NAME(scal_vector)(factor, is_real, LOAD(x)));                                         \
    x += LANES
    OVER_VECTORS(PARTS * n, STEP)
#undef STEP
}

static void NAME(scal)(int64_t n, const void *alpha, void *x, int64_t incx) {
    NAME(scal_by)(n, alpha, false, x, incx);
}

static void NAME(rscal)(int64_t n, const void *alpha, void *x, int64_t incx) {
    NAME(scal_by)(n, alpha, true, x, incx);
}

static void NAME(copy)(int64_t n, const void *x_, int64_t incx, void *y_, int64_t incy) {
    const REAL *x = x_;
    REAL *y = y_;

    if (incx == 1 && incy == 1) {
        memmove(y, x, (size_t)n * PARTS * sizeof(REAL));
        return;
    }
    for (; n > 0; n--, x += PARTS * incx, y += PARTS * incy)
        for (int part = 0; part < PARTS; part++)
            y[part] = x[part];
}

static void NAME(swap)(int64_t n, void *x_, int64_t incx, void *y_, int64_t incy) {
    REAL *x = x_, *y = y_;

    if (incx != 1 || incy != 1 || PARTS * n <= FEW) {
        for (; n > 0; n--, x += PARTS * incx, y += PARTS * incy)
            for (int part = 0; part < PARTS; part++) {
                const REAL before = x[part];
                x[part] = y[part];
                y[part] = before;
            }
        return;
    }

#define STEP(LOAD, STORE)                                                                          \
    const VECTOR before = LOAD(x);                                                                 \
    STORE(x, LOAD(y));                                                                             \
    STORE(y, before);                                                                              \
    x += LANES, y += LANES
    OVER_VECTORS(PARTS * n, STEP)
#undef STEP
}

/* ---- Sums ---- */

/* `count` elements side by side: where they are, or laid there. */
VECTOR_INLINE const REAL *NAME(lay)(int count, const REAL *x, int64_t increment, REAL *room) {
    if (increment == 1)
        return x;

    for (REAL *to = room; count > 0; count--, x += PARTS * increment, to += PARTS)
        for (int part = 0; part < PARTS; part++)
            to[part] = x[part];
    return room;
}

VECTOR_INLINE void NAME(clear)(VECTOR *sums) {
    for (int k = 0; k < SUM_VECTORS; k++)
        sums[k] = V(splat)(0);
}

VECTOR_INLINE VECTOR NAME(fold_row)(VECTOR *sums, int count) {
    while ((count /= 2) > 0)
        for (int k = 0; k < count; k++)
            sums[k] += sums[k + count];
    return sums[0];
}

VECTOR_INLINE void NAME(multiply)(VECTOR x, VECTOR y, VECTOR *sum) {
    sum[0] = V(fma)(x, y, sum[0]);
#if COMPLEX
    sum[ROW_VECTORS] = V(fma)(x, V(swap)(y), sum[ROW_VECTORS]);
#endif
}

VECTOR_INLINE void NAME(add_products)(int64_t reals, const REAL *x, const REAL *y, VECTOR *sums) {
    for (; reals >= ROW; reals -= ROW, x += ROW, y += ROW)
        for (int k = 0; k < ROW_VECTORS; k++)
            NAME(multiply)(V(load)(x + k * LANES), V(load)(y + k * LANES), sums + k);

    for (int k = 0; k < ROW_VECTORS; k++) {
        if (reals <= k * LANES)
            break;
        const PART part = NAME(first_of)(reals - k * LANES);
        const VECTOR next_x = V(load_part)(x + k * LANES, part);
        NAME(multiply)(next_x, V(load_part)(y + k * LANES, part), sums + k);
    }
}

/* From one vector of sums of each row. */
VECTOR_INLINE void NAME(store_product)(VECTOR straight, VECTOR crossed, bool conjugate, REAL *sum) {
#if COMPLEX
    REAL same[2], other[2]; /* Re Re, Im Im; Re Im, Im Re */
    V(fold_pairs)(straight, same);
    V(fold_pairs)(crossed, other);
    sum[0] = (conjugate ? same[0] + same[1] : same[0] - same[1]) + 0;
    sum[1] = (conjugate ? other[0] - other[1] : other[0] + other[1]) + 0;
#else
    (void)crossed, (void)conjugate;
    sum[0] = V(fold)(straight) + 0;
#endif
}

VECTOR_INLINE void NAME(store_products)(VECTOR *sums, bool conjugate, REAL *sum) {
    VECTOR *crossed = sums + SUM_VECTORS - ROW_VECTORS;
    const VECTOR left = NAME(fold_row)(sums, ROW_VECTORS);
    NAME(store_product)
    (left, COMPLEX ? NAME(fold_row)(crossed, ROW_VECTORS) : left, conjugate, sum);
}

static __attribute__((noinline)) void NAME(dot_apart)(int64_t n, const REAL *x, int64_t incx,
                                                      const REAL *y, int64_t incy, bool conjugate,
                                                      REAL *sum) {
    REAL room_x[PARTS * ROOM], room_y[PARTS * ROOM];
    VECTOR sums[SUM_VECTORS];
    NAME(clear)(sums);

    for (int count; n > 0; n -= count, x += PARTS * count * incx, y += PARTS * count * incy) {
        count = n < ROOM ? (int)n : ROOM;
        const REAL *next_x = NAME(lay)(count, x, incx, room_x);
        NAME(add_products)(PARTS * count, next_x, NAME(lay)(count, y, incy, room_y), sums);
    }

    NAME(store_products)(sums, conjugate, sum);
}

VECTOR_INLINE void NAME(dot_by)(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                                bool conjugate, void *sum) {
    if (incx != 1 || incy != 1) {
        NAME(dot_apart)(n, x, incx, y, incy, conjugate, sum);
        return;
    }

    if (PARTS * n <= LANES) { /* the other sums would be 0 */
        const PART part = NAME(first_of)(PARTS * n);
        VECTOR sums[1 + ROW_VECTORS];
        sums[0] = sums[ROW_VECTORS] = V(splat)(0);
        NAME(multiply)(V(load_part)(x, part), V(load_part)(y, part), sums);
        NAME(store_product)(sums[0], sums[ROW_VECTORS], conjugate, sum);
        return;
    }

    VECTOR sums[SUM_VECTORS];
    NAME(clear)(sums);
    NAME(add_products)(PARTS * n, x, y, sums);
    NAME(store_products)(sums, conjugate, sum);
}

static void NAME(dot)(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                      void *sum) {
    NAME(dot_by)(n, x, incx, y, incy, false, sum);
}

static void NAME(dotc)(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                       void *sum) {
    NAME(dot_by)(n, x, incx, y, incy, true, sum);
}

VECTOR_INLINE void NAME(add_sizes)(int64_t reals, const REAL *x, VECTOR *sums) {
    for (; reals >= SUM_VECTORS * LANES; reals -= SUM_VECTORS * LANES, x += SUM_VECTORS * LANES)
        for (int k = 0; k < SUM_VECTORS; k++)
            sums[k] += V(abs)(V(load)(x + k * LANES));

    for (int k = 0; k < SUM_VECTORS; k++) {
        if (reals <= k * LANES)
            break;
        sums[k] += V(abs)(V(load_part)(x + k * LANES, NAME(first_of)(reals - k * LANES)));
    }
}

static void NAME(asum)(int64_t n, const void *x_, int64_t incx, void *sum) {
    const REAL *x = x_;
    if (incx == 1 && PARTS * n <= LANES) {
        *(REAL *)sum = V(fold)(V(abs)(V(load_part)(x, NAME(first_of)(PARTS * n))));
        return;
    }

    REAL room[PARTS * ROOM];
    VECTOR sums[SUM_VECTORS];
    NAME(clear)(sums);

    if (incx == 1)
        NAME(add_sizes)(PARTS * n, x, sums);
    else
        for (int count; n > 0; n -= count, x += PARTS * count * incx) {
            count = n < ROOM ? (int)n : ROOM;
            NAME(add_sizes)(PARTS * count, NAME(lay)(count, x, incx, room), sums);
        }

    *(REAL *)sum = V(fold)(NAME(fold_row)(sums, SUM_VECTORS));
}

/* ---- Squares ---- */

VECTOR_INLINE d_vector NAME(add_square)(d_vector x, double scale, d_vector sum) {
    if (scale != 1)
        x *= d_splat(scale);
    return d_fma(x, x, sum);
}

/* Of x times scale. */
VECTOR_INLINE void NAME(add_squares)(int64_t reals, const REAL *x, double scale, d_vector *sums) {
    enum { WIDE_ROW = SUM_VECTORS * WIDE_LANES };
    for (; reals >= WIDE_ROW; reals -= WIDE_ROW, x += WIDE_ROW)
        for (int k = 0; k < SUM_VECTORS; k++)
            sums[k] = NAME(add_square)(V(widen)(x + k * WIDE_LANES), scale, sums[k]);

    for (int k = 0; k < SUM_VECTORS; k++, reals -= WIDE_LANES) {
        if (reals <= 0)
            break;
        const int some = reals < WIDE_LANES ? (int)reals : WIDE_LANES;
        sums[k] = NAME(add_square)(V(widen_first)(x + k * WIDE_LANES, some), scale, sums[k]);
    }
}

VECTOR_INLINE double NAME(sum_squares)(int64_t n, const REAL *x, int64_t incx, double scale) {
    REAL room[PARTS * ROOM];
    d_vector sums[SUM_VECTORS];
    for (int k = 0; k < SUM_VECTORS; k++)
        sums[k] = d_splat(0);

    if (incx == 1)
        NAME(add_squares)(PARTS * n, x, scale, sums);
    else
        for (int count; n > 0; n -= count, x += PARTS * count * incx) {
            count = n < ROOM ? (int)n : ROOM;
            NAME(add_squares)(PARTS * count, NAME(lay)(count, x, incx, room), scale, sums);
        }

    for (int half = SUM_VECTORS / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            sums[k] += sums[k + half];
    return d_fold(sums[0]);
}

/* The largest magnitude of any part; there is no NaN. */
static double NAME(largest_part)(int64_t n, const REAL *x, int64_t incx) {
    REAL room[PARTS * ROOM];
    VECTOR largest[AT_ONCE] = {V(splat)(0), V(splat)(0), V(splat)(0), V(splat)(0)};

    for (int count; n > 0; n -= count, x += PARTS * count * incx) {
        count = n < ROOM ? (int)n : ROOM;
        const REAL *next = NAME(lay)(count, x, incx, room);
        int reals = PARTS * count;

        for (; reals >= AT_ONCE * LANES; reals -= AT_ONCE * LANES, next += AT_ONCE * LANES)
            for (int k = 0; k < AT_ONCE; k++)
                largest[k] = V(max)(V(abs)(V(load)(next + k * LANES)), largest[k]);
        for (; reals > 0; reals -= LANES, next += LANES)
            largest[0] = V(max)(V(abs)(V(load_part)(next, NAME(first_of)(reals))), largest[0]);
    }

    for (int k = 1; k < AT_ONCE; k++)
        largest[0] = V(max)(largest[k], largest[0]);
    return (double)V(largest)(largest[0]);
}

/* Where the squares left the range in which nothing that matters is lost. */
static __attribute__((noinline)) void NAME(scaled_squares)(int64_t n, const REAL *x, int64_t incx,
                                                           ji_squares_t *sum) {
    const double largest = NAME(largest_part)(n, x, incx);
    if (largest == 0 || isinf(largest)) {
        sum->sum = largest;
        return;
    }

    int exponent;
    frexp(largest, &exponent);
    /* 2^-exponent must be a normal number. */
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
    sum->exponent = exponent;
    sum->sum = NAME(sum_squares)(n, x, incx, ldexp(1, -exponent));
}

/* Squares of floats are always well within doubles. */
VECTOR_INLINE bool NAME(is_within)(double sum) {
    return sizeof(REAL) == sizeof(float) || (sum >= 0x1p-900 && sum <= 0x1p900);
}

static void NAME(squares)(int64_t n, const void *x, int64_t incx, ji_squares_t *sum) {
    sum->exponent = 0;
    sum->sum = NAME(sum_squares)(n, x, incx, 1);
    if (!NAME(is_within)(sum->sum) && !isnan(sum->sum))
        NAME(scaled_squares)(n, x, incx, sum);
}

static void NAME(nrm2)(int64_t n, const void *x, int64_t incx, void *norm) {
    if (incx == 1) {
        double sum;
        if (PARTS * n <= WIDE_LANES) { /* the other sums would be 0 */
            const d_vector few = V(widen_first)(x, (int)(PARTS * n));
            sum = d_fold(d_fma(few, few, d_splat(0)));
        } else {
            sum = NAME(sum_squares)(n, x, 1, 1);
        }
        if (NAME(is_within)(sum)) {
            *(REAL *)norm = (REAL)sqrt(sum);
            return;
        }
    }

    ji_squares_t sum;
    NAME(squares)(n, x, incx, &sum);
    *(REAL *)norm = (REAL)ji_root_of(&sum);
}

/* ---- The largest ---- */

/* The sizes of elements, in their own precision; a complex one's at both its places. */
VECTOR_INLINE VECTOR NAME(sizes)(VECTOR x) {
    x = V(abs)(x);
#if COMPLEX
    x += V(swap)(x);
#endif
    return x;
}

VECTOR_INLINE bool NAME(one_exceeds)(const VECTOR *sizes, int count, VECTOR limit) {
    V(truth) exceeds = V(exceeds)(sizes[0], limit);
    for (int k = 1; k < count; k++)
        exceeds = V(either)(exceeds, V(exceeds)(sizes[k], limit));
    return V(any)(exceeds);
}

/* NaN, if there is one. */
VECTOR_INLINE REAL NAME(largest_of)(VECTOR *sizes, int count) {
    if (NAME(one_exceeds)(sizes, count, V(splat)((REAL)INFINITY)))
        return (REAL)NAN;
    for (int half = count / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            sizes[k] = V(max)(sizes[k], sizes[k + half]);
    return V(largest)(sizes[0]);
}

/* The same of what is less than a row. */
VECTOR_INLINE REAL NAME(largest_of_rest)(int64_t reals, const REAL *x) {
    const VECTOR infinity = V(splat)((REAL)INFINITY);
    VECTOR largest = V(splat)(0);
    V(truth) is_nan = V(exceeds)(largest, infinity);

    for (int64_t i = 0; i < reals; i += LANES) {
        const VECTOR sizes = NAME(sizes)(V(load_part)(x + i, NAME(first_of)(reals - i)));
        is_nan = V(either)(is_nan, V(exceeds)(sizes, infinity));
        largest = V(max)(sizes, largest);
    }
    return V(any)(is_nan) ? (REAL)NAN : V(largest)(largest);
}

VECTOR_INLINE V(truth) NAME(are_of_size)(VECTOR x, bool nan, VECTOR size) {
    return nan ? V(exceeds)(NAME(sizes)(x), size) : V(equals)(NAME(sizes)(x), size);
}

/* The first real whose size is this one, or a NaN (and then size is infinity); there is one. */
VECTOR_INLINE int64_t NAME(place_of)(int64_t reals, const REAL *x, bool nan, VECTOR size) {
    V(truth) here;
    int64_t i = 0;
    for (; reals - i >= LANES; i += LANES) {
        here = NAME(are_of_size)(V(load)(x + i), nan, size);
        if (V(any)(here))
            return i + V(place)(here);
    }
    here = NAME(are_of_size)(V(load_part)(x + i, V(first)((int)(reals - i))), nan, size);
    return i + V(place)(here);
}

/* A row is looked at closely only if something in it exceeds all before it: is larger, or a NaN.
 * Which element that was is found at the end. */
VECTOR_INLINE void NAME(search)(int64_t reals, const REAL *x, int64_t first, ji_found_t *found) {
    const REAL *const begin = x, *const end = x + reals, *row = NULL;
    REAL largest = (REAL)found->size;

    for (; end - x >= SEARCH_VECTORS * LANES; x += SEARCH_VECTORS * LANES) {
        VECTOR sizes[SEARCH_VECTORS];
        for (int k = 0; k < SEARCH_VECTORS; k++)
            sizes[k] = NAME(sizes)(V(load)(x + k * LANES));
        if (!NAME(one_exceeds)(sizes, SEARCH_VECTORS, V(splat)(largest)))
            continue;

        row = x;
        largest = NAME(largest_of)(sizes, SEARCH_VECTORS);
        if (isnan(largest))
            break;
    }
    if (x < end && !isnan(largest)) {
        const REAL rest = NAME(largest_of_rest)(end - x, x);
        if (!(rest <= largest))
            row = x, largest = rest;
    }

    if (row == NULL)
        return;
    found->size = (double)largest;
    const int64_t place = isnan(largest)
                              ? NAME(place_of)(end - row, row, true, V(splat)((REAL)INFINITY))
                              : NAME(place_of)(end - row, row, false, V(splat)(largest));
    found->place = first + (row - begin + place) / PARTS;
}

/* The same in one vector. */
VECTOR_INLINE void NAME(search_one)(int64_t reals, const REAL *x, int64_t first,
                                    ji_found_t *found) {
    const VECTOR sizes = NAME(sizes)(V(load_part)(x, NAME(first_of)(reals)));
    V(truth) here = V(exceeds)(sizes, V(splat)((REAL)INFINITY));
    REAL largest = (REAL)NAN;

    if (!V(any)(here)) {
        largest = V(largest)(sizes);
        if ((double)largest <= found->size)
            return;
        here = V(equals)(sizes, V(splat)(largest));
    }
    found->size = (double)largest;
    found->place = first + V(place)(here) / PARTS;
}

static void NAME(iamax)(int64_t n, const void *x_, int64_t incx, int64_t first, ji_found_t *found) {
    const REAL *x = x_;
    if (isnan(found->size))
        return;

    if (incx == 1) {
        if (PARTS * n <= LANES)
            NAME(search_one)(PARTS * n, x, first, found);
        else
            NAME(search)(PARTS * n, x, first, found);
        return;
    }

    REAL room[PARTS * ROOM];
    for (int count; n > 0 && !isnan(found->size);
         n -= count, first += count, x += PARTS * count * incx) {
        count = n < ROOM ? (int)n : ROOM;
        NAME(search)(PARTS * count, NAME(lay)(count, x, incx, room), first, found);
    }
}

static const ji_level1_t NAME(level1) = {
    NAME(axpy), NAME(copy), NAME(swap),    NAME(scal), NAME(rscal), NAME(dot),
    NAME(dotc), NAME(asum), NAME(squares), NAME(nrm2), NAME(iamax),
};

#undef FEW
#undef OVER_VECTORS
#undef LOAD_REST
#undef STORE_REST
#undef PARTS
#undef ROOM
#undef ROW_VECTORS
#undef ROW
