/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What one element type's vectors come to: sums, norms, the largest. The second half of
 * level1_kernel.h, which includes it and says what the names mean. No include guard.
 *
 * Where elements lie apart they are first laid side by side, some at a time, in a room on the
 * stack: so there is one loop for each sum, and its order is the same for every increment.
 *
 * The sums of a block are in SUM_VECTORS vectors, which are SUM_BYTES whatever the set, and so many
 * that additions to one need not wait for each other. Loops over them are unrolled: what has no
 * constant number is kept in memory by GCC, which makes a short sum three times as long. */

/* ---- Sums ---- */

/* `count` elements side by side: where they are, or laid there. */
VECTOR_INLINE const REAL *NAME(lay)(int count, const REAL *x, int64_t increment, REAL *room) {
    if (increment == 1)
        return x;

    REAL *to = room;
    /* As vectors, which is how they are soon loaded again. */
    for (; count >= LANES / PARTS; count -= LANES / PARTS, to += LANES) {
        const REAL *lanes[LANES];
        VECTOR_UNROLL
        for (int k = 0; k < LANES; k += PARTS, x += PARTS * increment) {
            lanes[k] = x;
            lanes[k + PARTS - 1] = x + PARTS - 1;
        }
        V(store)(to, V(pick)(lanes, 0));
    }
    for (; count > 0; count--, x += PARTS * increment, to += PARTS)
        memcpy(to, x, PARTS * sizeof(REAL));
    return room;
}

VECTOR_INLINE void NAME(clear)(VECTOR *sums) {
    VECTOR_UNROLL
    for (int k = 0; k < SUM_VECTORS; k++)
        sums[k] = V(splat)(0);
}

/* By halves; `count` is a constant of at most 16. */
#define FOLD_ROW(sums, count)                                                                      \
    FOLD_HALF(sums, count, 8)                                                                      \
    FOLD_HALF(sums, count, 4) FOLD_HALF(sums, count, 2) FOLD_HALF(sums, count, 1)
#define FOLD_HALF(sums, count, half)                                                               \
    VECTOR_UNROLL                                                                                  \
    for (int k = 0; k < (half); k++)                                                               \
        if ((count) > (half))                                                                      \
            (sums)[k] += (sums)[k + (half)];

VECTOR_INLINE void NAME(multiply)(VECTOR x, VECTOR y, VECTOR *sum) {
#if COMPLEX
    VECTOR_HOLD(x);
    VECTOR_HOLD(y);
    sum[ROW_VECTORS] = V(fma)(x, V(swap)(y), sum[ROW_VECTORS]);
#endif
    sum[0] = V(fma)(x, y, sum[0]);
}

VECTOR_INLINE void NAME(add_products)(int64_t reals, const REAL *x, const REAL *y, VECTOR *sums) {
    for (; reals >= ROW; reals -= ROW, x += ROW, y += ROW)
        VECTOR_UNROLL
    for (int k = 0; k < ROW_VECTORS; k++)
        NAME(multiply)(V(load)(x + k * LANES), V(load)(y + k * LANES), sums + k);

    VECTOR_UNROLL
    for (int k = 0; k < ROW_VECTORS; k++) {
        if (reals >= (k + 1) * LANES) {
            NAME(multiply)(V(load)(x + k * LANES), V(load)(y + k * LANES), sums + k);
        } else if (reals > k * LANES) {
            const PART part = V(first)((int)reals - k * LANES);
            const VECTOR next_x = V(load_part)(x + k * LANES, part);
            NAME(multiply)(next_x, V(load_part)(y + k * LANES, part), sums + k);
        }
    }
}

#if defined(VECTOR_JOINS)
/* Reals before p in its cache line. */
VECTOR_INLINE int NAME(reals_before)(const REAL *p) {
    return (int)((uintptr_t)p % VECTOR_BYTES / sizeof(REAL));
}

/* The same for all but the last rows of vectors that begin amid cache lines: lines are loaded whole
 * and joined. From the second cache a load of parts of two lines takes twice the time of a whole
 * one. Gives how many reals it has added. */
static __attribute__((noinline)) int64_t NAME(add_joined_products)(int64_t reals, const REAL *x,
                                                                   const REAL *y, VECTOR *to) {
    const int before_x = NAME(reals_before)(x), before_y = NAME(reals_before)(y);
    const REAL *line_x = x - before_x, *line_y = y - before_y;
    const __m512i from_x = V(join_from)(before_x), from_y = V(join_from)(before_y);
    VECTOR own_x = V(load_between)(line_x, before_x, LANES),
           own_y = V(load_between)(line_y, before_y, LANES), sums[SUM_VECTORS];
    NAME(clear)(sums);

    int64_t done = 0;
    for (; reals - done >= ROW + LANES; done += ROW, line_x += ROW, line_y += ROW)
        VECTOR_UNROLL
    for (int k = 0; k < ROW_VECTORS; k++) {
        VECTOR next_x = V(load)(line_x + (k + 1) * LANES),
               next_y = V(load)(line_y + (k + 1) * LANES);
        VECTOR_HOLD(next_x);
        VECTOR_HOLD(next_y);
        NAME(multiply)
        (V(joined)(own_x, next_x, from_x), V(joined)(own_y, next_y, from_y), sums + k);
        own_x = next_x, own_y = next_y;
    }

    memcpy(to, sums, sizeof sums);
    return done;
}
#endif

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
    FOLD_ROW(sums, ROW_VECTORS)
    if (COMPLEX) {
        FOLD_ROW(crossed, ROW_VECTORS)
    }
    NAME(store_product)(sums[0], crossed[0], conjugate, sum);
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
    int64_t done = 0;
    NAME(clear)(sums);
#if defined(VECTOR_JOINS)
    /* Of each: measured. Complex ones have enough to do while both stay in the nearest cache. */
    enum { JOINED_LEAST_BYTES = COMPLEX ? 20480 : 4096 };
    if (PARTS * n >= JOINED_LEAST_BYTES / (int)sizeof(REAL) &&
        (NAME(reals_before)(x) != 0 || NAME(reals_before)(y) != 0))
        done = NAME(add_joined_products)(PARTS * n, x, y, sums);
#endif
    NAME(add_products)(PARTS * n - done, (const REAL *)x + done, (const REAL *)y + done, sums);
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

#if SINGLE && !COMPLEX
VECTOR_INLINE void NAME(add_exact_products)(int reals, const REAL *x, const REAL *y,
                                            d_vector *sums) {
    enum { WIDE_ROW = SUM_VECTORS * WIDE_LANES };
    for (; reals >= WIDE_ROW; reals -= WIDE_ROW, x += WIDE_ROW, y += WIDE_ROW)
        VECTOR_UNROLL
    for (int k = 0; k < SUM_VECTORS; k++)
        sums[k] = d_fma(V(widen)(x + k * WIDE_LANES), V(widen)(y + k * WIDE_LANES), sums[k]);

    VECTOR_UNROLL
    for (int k = 0; k < SUM_VECTORS; k++) {
        const int left = reals - k * WIDE_LANES, some = left < WIDE_LANES ? left : WIDE_LANES;
        if (left <= 0)
            continue;
        const d_vector next_x = V(widen_first)(x + k * WIDE_LANES, some);
        sums[k] = d_fma(next_x, V(widen_first)(y + k * WIDE_LANES, some), sums[k]);
    }
}

static void NAME(dsdot)(int64_t n, const void *x_, int64_t incx, const void *y_, int64_t incy,
                        void *sum) {
    const REAL *x = x_, *y = y_;
    REAL room_x[ROOM], room_y[ROOM];
    d_vector sums[SUM_VECTORS];
    VECTOR_UNROLL
    for (int k = 0; k < SUM_VECTORS; k++)
        sums[k] = d_splat(0);

    for (int count; n > 0; n -= count, x += count * incx, y += count * incy) {
        count = n < ROOM ? (int)n : ROOM;
        NAME(add_exact_products)
        (count, NAME(lay)(count, x, incx, room_x), NAME(lay)(count, y, incy, room_y), sums);
    }

    FOLD_ROW(sums, SUM_VECTORS)
    *(double *)sum = d_fold(sums[0]) + 0;
}
#define DSDOT NAME(dsdot)
#else
#define DSDOT NULL
#endif

VECTOR_INLINE void NAME(add_sizes)(int64_t reals, const REAL *x, VECTOR *sums) {
    for (; reals >= SUM_VECTORS * LANES; reals -= SUM_VECTORS * LANES, x += SUM_VECTORS * LANES)
        for (int k = 0; k < SUM_VECTORS; k++)
            sums[k] += V(abs)(V(load)(x + k * LANES));

    VECTOR_UNROLL
    for (int k = 0; k < SUM_VECTORS; k++) {
        if (reals >= (k + 1) * LANES)
            sums[k] += V(abs)(V(load)(x + k * LANES));
        else if (reals > k * LANES)
            sums[k] += V(abs)(V(load_part)(x + k * LANES, V(first)((int)reals - k * LANES)));
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

    FOLD_ROW(sums, SUM_VECTORS)
    *(REAL *)sum = V(fold)(sums[0]);
}

/* ---- Squares ---- */

/* How numbers are taken before they are squared. What is not above `least` would vanish or become
 * subnormal, which costs a processor a hundred times an addition, and matters to no sum that is
 * taken. A float's square is always well within doubles. */
typedef struct NAME(squaring) {
    double least, scale;
} NAME(squaring_t);

VECTOR_INLINE d_vector NAME(add_square)(d_vector x, NAME(squaring_t) how, d_vector sum) {
    if (sizeof(REAL) == sizeof(double)) /* NOLINT(misc-redundant-expression): for one of the two */
        x = d_where(d_exceeds(d_abs(x), d_splat(how.least)), x);
    if (how.scale != 1)
        x *= d_splat(how.scale);
    return d_fma(x, x, sum);
}

VECTOR_INLINE void NAME(add_squares)(int64_t reals, const REAL *x, NAME(squaring_t) how,
                                     d_vector *sums) {
    enum { WIDE_ROW = SUM_VECTORS * WIDE_LANES };
    for (; reals >= WIDE_ROW; reals -= WIDE_ROW, x += WIDE_ROW)
        for (int k = 0; k < SUM_VECTORS; k++)
            sums[k] = NAME(add_square)(V(widen)(x + k * WIDE_LANES), how, sums[k]);

    VECTOR_UNROLL
    for (int k = 0; k < SUM_VECTORS; k++) {
        const int64_t left = reals - k * WIDE_LANES;
        if (left >= WIDE_LANES)
            sums[k] = NAME(add_square)(V(widen)(x + k * WIDE_LANES), how, sums[k]);
        else if (left > 0)
            sums[k] = NAME(add_square)(V(widen_first)(x + k * WIDE_LANES, (int)left), how, sums[k]);
    }
}

/* Of at most a row; sums that are not there would be 0. */
VECTOR_INLINE double NAME(sum_row)(int vectors, const d_vector *row, NAME(squaring_t) how) {
    d_vector sums[SUM_VECTORS];
    VECTOR_UNROLL
    for (int k = 0; k < vectors; k++)
        sums[k] = NAME(add_square)(row[k], how, d_splat(0));
    if (vectors > 2)
        sums[0] += sums[2];
    if (vectors > 3)
        sums[1] += sums[3];
    if (vectors > 1)
        sums[0] += sums[1];
    return d_fold(sums[0]);
}

VECTOR_INLINE double NAME(sum_squares)(int64_t n, const REAL *x, int64_t incx,
                                       NAME(squaring_t) how) {
    REAL room[PARTS * ROOM];
    d_vector sums[SUM_VECTORS];
    VECTOR_UNROLL
    for (int k = 0; k < SUM_VECTORS; k++)
        sums[k] = d_splat(0);

    if (incx == 1)
        NAME(add_squares)(PARTS * n, x, how, sums);
    else
        for (int count; n > 0; n -= count, x += PARTS * count * incx) {
            count = n < ROOM ? (int)n : ROOM;
            NAME(add_squares)(PARTS * count, NAME(lay)(count, x, incx, room), how, sums);
        }

    FOLD_ROW(sums, SUM_VECTORS)
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

/* The exponent of the largest of numbers, and what is not above which is left out. 2^-exponent must
 * be a normal number, and then `largest` may be none. */
VECTOR_INLINE int NAME(exponent_of)(double largest, double *least) {
    uint64_t bits;
    memcpy(&bits, &largest, sizeof bits);
    int exponent = (int)(bits >> 52) - 1022;
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
    *least = exponent < -500 ? 0 : ji_power_of_2(exponent - 500);
    return exponent;
}

/* Where the squares left the range in which nothing that matters is lost. */
static __attribute__((noinline)) void NAME(scaled_squares)(int64_t n, const REAL *x, int64_t incx,
                                                           ji_squares_t *sum) {
    const double largest = NAME(largest_part)(n, x, incx);
    if (largest == 0 || isinf(largest)) {
        sum->sum = largest;
        return;
    }

    double least;
    const int exponent = NAME(exponent_of)(largest, &least);
    sum->exponent = exponent;
    sum->sum = NAME(sum_squares)(n, x, incx, (NAME(squaring_t)){least, ji_power_of_2(-exponent)});
}

/* As they are; and whether that was good enough. */
#define AS_THEY_ARE ((NAME(squaring_t)){0x1p-500, 1})
VECTOR_INLINE bool NAME(is_within)(double sum) {
    /* NOLINTNEXTLINE(misc-redundant-expression): for one of the two */
    return sizeof(REAL) == sizeof(float) || (sum >= 0x1p-800 && sum <= 0x1p800);
}

/* Of one row of doubles: they stay in registers if they are wanted again. */
VECTOR_INLINE ji_squares_t NAME(squares_of_row)(int vectors, int64_t reals, const REAL *x) {
    d_vector row[SUM_VECTORS], largest = d_splat(0);
    ji_squares_t result = {0, 0};
    VECTOR_UNROLL
    for (int k = 0; k < vectors; k++) {
        const int64_t left = reals - k * WIDE_LANES;
        const int some = left < WIDE_LANES ? (int)left : WIDE_LANES;
        row[k] = k + 1 < vectors ? V(widen)(x + k * WIDE_LANES)
                                 : V(widen_first)(x + k * WIDE_LANES, some);
    }
    result.sum = NAME(sum_row)(vectors, row, AS_THEY_ARE);
    if (NAME(is_within)(result.sum) || isnan(result.sum))
        return result;

    VECTOR_UNROLL
    for (int k = 0; k < vectors; k++)
        largest = d_max(d_abs(row[k]), largest);
    result.sum = d_largest(largest);
    if (result.sum == 0 || isinf(result.sum))
        return result;

    NAME(squaring_t) how;
    result.exponent = NAME(exponent_of)(result.sum, &how.least);
    how.scale = ji_power_of_2(-result.exponent);
    result.sum = NAME(sum_row)(vectors, row, how);
    return result;
}

VECTOR_INLINE ji_squares_t NAME(squares_of)(int64_t n, const REAL *x, int64_t incx) {
    const int64_t reals = PARTS * n;
    if (incx == 1 && reals <= WIDE_LANES)
        return NAME(squares_of_row)(1, reals, x);
    if (SUM_VECTORS == 4 && incx == 1 && reals <= 2 * WIDE_LANES)
        return NAME(squares_of_row)(2, reals, x);
    if (SUM_VECTORS == 4 && incx == 1 && reals <= 4 * WIDE_LANES)
        return reals <= 3 * WIDE_LANES ? NAME(squares_of_row)(3, reals, x)
                                       : NAME(squares_of_row)(4, reals, x);

    ji_squares_t sum = {NAME(sum_squares)(n, x, incx, AS_THEY_ARE), 0};
    if (!NAME(is_within)(sum.sum) && !isnan(sum.sum))
        NAME(scaled_squares)(n, x, incx, &sum);
    return sum;
}

static void NAME(squares)(int64_t n, const void *x, int64_t incx, ji_squares_t *sum) {
    *sum = NAME(squares_of)(n, x, incx);
}

static void NAME(nrm2)(int64_t n, const void *x, int64_t incx, void *norm) {
    if (PARTS * n == 1) { /* the root of its square, whatever its size */
        V(store_part)(norm, V(abs)(V(load_part)(x, V(first)(1))), V(first)(1));
        return;
    }

    const ji_squares_t sum = NAME(squares_of)(n, x, incx);
    *(REAL *)norm = (REAL)ji_root_of(&sum);
}

/* ---- The largest, or the smallest ---- */

/* The smallest element is the one whose negated size is the largest. So both are one search, whose
 * `smallest` is a constant. */

/* The sizes of elements, in their own precision; a complex one's at both its places. */
VECTOR_INLINE VECTOR NAME(sizes)(VECTOR x, bool smallest) {
    x = V(abs)(x);
#if COMPLEX
    x += V(swap)(x);
#endif
    return smallest ? -x : x;
}

/* Less than a vector of them, the rest filled up by what is not found: zeros, or where the smallest
 * is searched the first element again. */
VECTOR_INLINE VECTOR NAME(load_few)(int64_t reals, const REAL *x, bool smallest) {
    if (!smallest)
        return V(load_part)(x, V(first)((int)reals));

    REAL filled[LANES];
    for (int i = 0; i < LANES; i++)
        filled[i] = x[i < reals ? i : i % PARTS];
    return V(load)(filled);
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
VECTOR_INLINE REAL NAME(largest_of_rest)(int64_t reals, const REAL *x, bool smallest) {
    const VECTOR infinity = V(splat)((REAL)INFINITY);
    VECTOR largest = smallest ? -infinity : V(splat)(0);
    V(truth) is_nan = V(exceeds)(largest, infinity);

    int64_t i = 0;
    for (; reals - i >= LANES; i += LANES) {
        const VECTOR sizes = NAME(sizes)(V(load)(x + i), smallest);
        is_nan = V(either)(is_nan, V(exceeds)(sizes, infinity));
        largest = V(max)(sizes, largest);
    }
    if (i < reals) {
        const VECTOR sizes = NAME(sizes)(NAME(load_few)(reals - i, x + i, smallest), smallest);
        is_nan = V(either)(is_nan, V(exceeds)(sizes, infinity));
        largest = V(max)(sizes, largest);
    }
    return V(any)(is_nan) ? (REAL)NAN : V(largest)(largest);
}

VECTOR_INLINE V(truth) NAME(are_of_size)(VECTOR x, bool nan, VECTOR size, bool smallest) {
    const VECTOR sizes = NAME(sizes)(x, smallest);
    return nan ? V(exceeds)(sizes, size) : V(equals)(sizes, size);
}

/* The first real whose size is this one, or a NaN (and then size is infinity); there is one. */
VECTOR_INLINE int64_t NAME(place_of)(int64_t reals, const REAL *x, bool nan, VECTOR size,
                                     bool smallest) {
    V(truth) here;
    int64_t i = 0;
    for (; reals - i >= LANES; i += LANES) {
        here = NAME(are_of_size)(V(load)(x + i), nan, size, smallest);
        if (V(any)(here))
            return i + V(place)(here);
    }
    here = NAME(are_of_size)(NAME(load_few)(reals - i, x + i, smallest), nan, size, smallest);
    return i + V(place)(here);
}

/* A row is looked at closely only if something in it exceeds all before it: is larger, or a NaN.
 * Which element that was is found at the end. */
VECTOR_INLINE void NAME(search)(int64_t reals, const REAL *x, int64_t first, bool smallest,
                                ji_found_t *found) {
    const REAL *const begin = x, *const end = x + reals, *row = NULL;
    REAL largest = (REAL)found->size;

    for (; end - x >= SEARCH_VECTORS * LANES; x += SEARCH_VECTORS * LANES) {
        VECTOR sizes[SEARCH_VECTORS];
        for (int k = 0; k < SEARCH_VECTORS; k++)
            sizes[k] = NAME(sizes)(V(load)(x + k * LANES), smallest);
        if (!NAME(one_exceeds)(sizes, SEARCH_VECTORS, V(splat)(largest)))
            continue;

        row = x;
        largest = NAME(largest_of)(sizes, SEARCH_VECTORS);
        if (isnan(largest))
            break;
    }
    if (x < end && !isnan(largest)) {
        const REAL rest = NAME(largest_of_rest)(end - x, x, smallest);
        if (!(rest <= largest))
            row = x, largest = rest;
    }

    if (row == NULL)
        return;
    found->size = (double)largest;
    const VECTOR size = V(splat)(isnan(largest) ? (REAL)INFINITY : largest);
    const int64_t place = isnan(largest) ? NAME(place_of)(end - row, row, true, size, smallest)
                                         : NAME(place_of)(end - row, row, false, size, smallest);
    found->place = first + (row - begin + place) / PARTS;
}

/* The same in one vector. */
VECTOR_INLINE void NAME(search_one)(int64_t reals, const REAL *x, int64_t first, bool smallest,
                                    ji_found_t *found) {
    const VECTOR sizes = NAME(sizes)(NAME(load_few)(reals, x, smallest), smallest);
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

VECTOR_INLINE void NAME(find)(int64_t n, const REAL *x, int64_t incx, int64_t first, bool smallest,
                              ji_found_t *found) {
    if (isnan(found->size))
        return;

    if (incx == 1) {
        if (PARTS * n <= LANES)
            NAME(search_one)(PARTS * n, x, first, smallest, found);
        else
            NAME(search)(PARTS * n, x, first, smallest, found);
        return;
    }

    REAL room[PARTS * ROOM];
    for (int count; n > 0 && !isnan(found->size);
         n -= count, first += count, x += PARTS * count * incx) {
        count = n < ROOM ? (int)n : ROOM;
        NAME(search)(PARTS * count, NAME(lay)(count, x, incx, room), first, smallest, found);
    }
}

static void NAME(iamax)(int64_t n, const void *x, int64_t incx, int64_t first, ji_found_t *found) {
    NAME(find)(n, x, incx, first, false, found);
}

static void NAME(iamin)(int64_t n, const void *x, int64_t incx, int64_t first, ji_found_t *found) {
    NAME(find)(n, x, incx, first, true, found);
}

#undef AS_THEY_ARE
#undef FOLD_ROW
#undef FOLD_HALF
