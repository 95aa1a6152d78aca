/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A step of LU, of one element type and instruction set: factor_kernel.h includes it within its
 * text (each_type.h). No include guard. PARTS is that one's.
 *
 * A column of a narrow panel loses what the columns to its left take, when its turn comes: so it is
 * read and written once, and its largest element is found in passing. Each element is one chain of
 * fused multiply-adds in the order of the columns, whatever the vectors. */

#define LU_AT_ONCE 4 /* vectors */

VECTOR_INLINE VECTOR NAME(lu_sizes)(VECTOR x) {
    x = V(abs)(x);
#if COMPLEX
    x += V(swap)(x);
#endif
    return x;
}

/* y -= l u, of one element and one vector. */
VECTOR_INLINE VECTOR NAME(lu_lose)(const REAL *u, VECTOR l, VECTOR y) {
    y = V(fnma)(V(splat)(u[0]), l, y);
#if COMPLEX
    y = V(fnma)(V(splat)(u[1]), V(turn)(l), y);
#endif
    return y;
}

/* What is largest so far, and whether there was a NaN. */
typedef struct NAME(lu_search) {
    VECTOR largest;
    V(truth) is_nan;
} NAME(lu_search_t);

VECTOR_INLINE void NAME(lu_look_at)(VECTOR y, NAME(lu_search_t) * search) {
    const VECTOR sizes = NAME(lu_sizes)(y);
    search->is_nan = V(either)(search->is_nan, V(exceeds)(sizes, V(splat)((REAL)INFINITY)));
    search->largest = V(max)(sizes, search->largest);
}

/* The column's first elements become those of U: they are solved for, in registers. `known`, how
 * many they are, is a number of the compiler's. */
VECTOR_INLINE void NAME(lu_solve_known)(int known, const REAL *l, int64_t lda, REAL *y) {
    REAL u[(JI_LU_COLUMNS - 1) * PARTS];
    VECTOR_UNROLL
    for (int i = 0; i < known * PARTS; i++)
        u[i] = y[i];
    VECTOR_UNROLL
    for (int p = 0; p < known; p++) {
        VECTOR_UNROLL
        for (int i = p + 1; i < known; i++) {
            const REAL *const at = l + p * lda + i * PARTS;
            REAL *const x = u + i * PARTS;
            x[0] = V(fma_one)(-u[p * PARTS], at[0], x[0]);
#if COMPLEX
            x[1] = V(fma_one)(-u[p * PARTS], at[1], x[1]);
            x[0] = V(fma_one)(u[p * PARTS + 1], at[1], x[0]);
            x[1] = V(fma_one)(-u[p * PARTS + 1], at[0], x[1]);
#endif
        }
    }
    VECTOR_UNROLL
    for (int i = PARTS; i < known * PARTS; i++)
        y[i] = u[i];
}

_Static_assert(JI_LU_COLUMNS == 8, "the last column has 7 to its left");
static void NAME(lu_solve)(int64_t known, const REAL *l, int64_t lda, REAL *y) {
    switch (known) {
    case 2: NAME(lu_solve_known)(2, l, lda, y); break;
    case 3: NAME(lu_solve_known)(3, l, lda, y); break;
    case 4: NAME(lu_solve_known)(4, l, lda, y); break;
    case 5: NAME(lu_solve_known)(5, l, lda, y); break;
    case 6: NAME(lu_solve_known)(6, l, lda, y); break;
    case 7: NAME(lu_solve_known)(7, l, lda, y); break;
    default: break; /* 0 and 1 are as they were */
    }
}

/* One vector of the rest. */
VECTOR_INLINE VECTOR NAME(lu_rows)(int64_t known, VECTOR own, const REAL *l, int64_t lda,
                                   const REAL *u) {
    for (int64_t p = 0; p < known; p++)
        own = NAME(lu_lose)(u + p * PARTS, V(load)(l + p * lda), own);
    return own;
}

/* The rest of the column, so many reals from y on, beside l. */
static NAME(lu_search_t) NAME(lu_update)(int64_t known, int64_t reals, const REAL *l, int64_t lda,
                                         const REAL *u, REAL *y) {
    NAME(lu_search_t) search = {V(splat)(0), V(exceeds)(V(splat)(0), V(splat)(0))};
    /* Where vectors do not come out even, the last one shares elements with the one before it: it
     * is read before that one is written, and both write the same to them. */
    VECTOR last = reals >= LANES ? V(load)(y + reals - LANES) : V(splat)(0);
    int64_t i = 0;

    for (; reals - i >= LU_AT_ONCE * LANES; i += LU_AT_ONCE * LANES) {
        VECTOR own[LU_AT_ONCE];
        VECTOR_UNROLL
        for (int v = 0; v < LU_AT_ONCE; v++)
            own[v] = V(load)(y + i + v * LANES);
        for (int64_t p = 0; p < known; p++) {
            VECTOR_UNROLL
            for (int v = 0; v < LU_AT_ONCE; v++)
                own[v] = NAME(lu_lose)(u + p * PARTS, V(load)(l + p * lda + i + v * LANES), own[v]);
        }
        VECTOR_UNROLL
        for (int v = 0; v < LU_AT_ONCE; v++) {
            V(store)(y + i + v * LANES, own[v]);
            NAME(lu_look_at)(own[v], &search);
        }
    }

    for (; reals - i >= LANES; i += LANES) {
        const VECTOR own = NAME(lu_rows)(known, V(load)(y + i), l + i, lda, u);
        V(store)(y + i, own);
        NAME(lu_look_at)(own, &search);
    }
    if (i == reals)
        return search;

    if (reals >= LANES) {
        last = NAME(lu_rows)(known, last, l + reals - LANES, lda, u);
        V(store)(y + reals - LANES, last);
    } else {
        const PART part = V(first)((int)reals);
        last = V(load_part)(y, part);
        for (int64_t p = 0; p < known; p++)
            last = NAME(lu_lose)(u + p * PARTS, V(load_part)(l + p * lda, part), last);
        V(store_part)(y, last, part);
        /* What fills up the vector is 0 again: an infinite u made it a NaN. */
        last = V(fma_where)(V(keep_before)((int)reals), last, V(splat)(1), V(splat)(0));
    }
    NAME(lu_look_at)(last, &search);
    return search;
}

/* The first NaN; there is one. */
static int64_t NAME(lu_place_of_nan)(const REAL *y) {
    int64_t i = 0;
    while (!isnan(y[i]) && !isnan(y[i + PARTS - 1]))
        i += PARTS;
    return i / PARTS;
}

/* The first element of that size; there is one, and what fills up the last vector is behind it. */
static int64_t NAME(lu_place)(int64_t reals, const REAL *y, VECTOR size) {
    int64_t i = 0;
    for (; reals - i >= LANES; i += LANES) {
        const V(truth) here = V(equals)(NAME(lu_sizes)(V(load)(y + i)), size);
        if (V(any)(here))
            return (i + V(place)(here)) / PARTS;
    }

    const VECTOR rest = V(load_part)(y + i, V(first)((int)(reals - i)));
    return (i + V(place)(V(equals)(NAME(lu_sizes)(rest), size))) / PARTS;
}

static int64_t NAME(lu_column)(int64_t m, int64_t j, void *panel, int64_t lda) {
    REAL *const a = panel, *const column = a + j * lda * PARTS, *const rest = column + j * PARTS;
    const int64_t reals = (m - j) * PARTS;

    NAME(lu_solve)(j, a, lda * PARTS, column);
    const NAME(lu_search_t) search =
        NAME(lu_update)(j, reals, a + j * PARTS, lda * PARTS, column, rest);
    return j + (V(any)(search.is_nan)
                    ? NAME(lu_place_of_nan)(rest)
                    : NAME(lu_place)(reals, rest, V(splat)(V(largest)(search.largest))));
}

#undef LU_AT_ONCE
