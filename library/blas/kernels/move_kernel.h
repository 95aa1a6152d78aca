/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The text of the kernels that move matrices (move.h), for one element type and instruction set:
 * included by each_type.h. No include guard.
 *
 * A is transposed by blocks that are a cache line high and wide, so that each line of A is read at
 * once and each of B written, whatever the leading dimensions are: of those that are powers of 2
 * few lines would stay in a cache. */

#define PARTS (1 + COMPLEX)
#define NARROW_LINES ((int)(NARROW_BYTES / (PARTS * sizeof(REAL))))
#define LINE ((int)(64 / (PARTS * sizeof(REAL)))) /* elements */

#if COMPLEX
#define TRANSPOSE V(transpose_complex)
#else
#define TRANSPOSE V(transpose)
#endif

/* ---- One element, one vector ---- */

VECTOR_INLINE void NAME(move_one)(const REAL *alpha, bool conjugate, const REAL *x, REAL *y) {
#if COMPLEX
    const REAL re = x[0], im = conjugate ? -x[1] : x[1];
    y[0] = alpha == NULL ? re : V(fma_one)(-alpha[1], im, alpha[0] * re);
    y[1] = alpha == NULL ? im : V(fma_one)(alpha[1], re, alpha[0] * im);
#else
    (void)conjugate;
    y[0] = alpha == NULL ? x[0] : alpha[0] * x[0];
#endif
}

/* alpha as vectors, of which a narrow takes the lower half. */
typedef struct NAME(move_factor) {
    VECTOR re;
#if COMPLEX
    VECTOR im;
#endif
} NAME(move_factor_t);

VECTOR_INLINE NAME(move_factor_t) NAME(move_factor)(const REAL *alpha) {
    NAME(move_factor_t) factor;
    factor.re = V(splat)(alpha == NULL ? 1 : alpha[0]);
#if COMPLEX
    factor.im = V(splat)(alpha == NULL ? 0 : alpha[1]);
#endif
    return factor;
}

VECTOR_INLINE VECTOR NAME(move_vector)(NAME(move_factor_t) alpha, bool scale, bool conjugate,
                                       VECTOR x) {
#if COMPLEX
    if (conjugate)
        x = V(conjugate)(x);
    if (scale)
        x = V(fma)(alpha.im, V(turn)(x), alpha.re * x);
    return x;
#else
    (void)conjugate;
    if (scale)
        x = alpha.re * x;
    return x;
#endif
}

VECTOR_INLINE NARROW NAME(move_narrow)(NAME(move_factor_t) alpha, bool scale, bool conjugate,
                                       NARROW x) {
    NARROW re;
    memcpy(&re, &alpha.re, sizeof re);
#if COMPLEX
    NARROW im;
    memcpy(&im, &alpha.im, sizeof im);
    if (conjugate)
        x = V(narrow_conjugate)(x);
    if (scale)
        x = V(narrow_fma)(im, V(narrow_turn)(x), re * x);
    return x;
#else
    (void)conjugate;
    if (scale)
        x = re * x;
    return x;
#endif
}

/* ---- Columns ---- */

VECTOR_INLINE void NAME(scale_as)(int64_t n, const REAL *alpha, bool conjugate, const REAL *x,
                                  REAL *y) {
    const NAME(move_factor_t) factor = NAME(move_factor)(alpha);
    const bool scale = alpha != NULL;
    int64_t left = PARTS * n;

    for (; left >= LANES; left -= LANES, x += LANES, y += LANES)
        V(store)(y, NAME(move_vector)(factor, scale, conjugate, V(load)(x)));
    for (; left > 0; left -= PARTS, x += PARTS, y += PARTS)
        NAME(move_one)(alpha, conjugate, x, y);
}

static void NAME(scale)(int64_t n, const void *alpha, bool conjugate, const void *x, void *y) {
    REAL by[PARTS];
    if (alpha != NULL)
        memcpy(by, alpha, sizeof by);

    if (alpha == NULL)
        NAME(scale_as)(n, NULL, conjugate, x, y);
    else if (conjugate)
        NAME(scale_as)(n, by, true, x, y);
    else
        NAME(scale_as)(n, by, false, x, y);
}

static void NAME(multiply)(int64_t n, const void *d_, const void *x_, void *y_) {
    const REAL *d = d_, *x = x_;
    REAL *y = y_;
    int64_t left = PARTS * n;

    for (; left >= LANES; left -= LANES, d += LANES, x += LANES, y += LANES) {
        const VECTOR by = V(load)(d), of = V(load)(x);
#if COMPLEX
        V(store)(y, V(fma)(V(odd)(by), V(turn)(of), V(even)(by) * of));
#else
        V(store)(y, by * of);
#endif
    }
    for (; left > 0; left -= PARTS, d += PARTS, x += PARTS, y += PARTS)
        NAME(move_one)(d, false, x, y);
}

/* ---- Transposition ---- */

/* NARROW_LINES rows and columns, in registers. */
VECTOR_INLINE void NAME(load_lines)(NARROW *row, const REAL *a, int64_t ld) {
    const REAL *line[NARROW_LINES];
    VECTOR_UNROLL
    for (int l = 0; l < NARROW_LINES; l++)
        line[l] = a + PARTS * l * ld;
    TRANSPOSE(row, line);
}

VECTOR_INLINE void NAME(store_lines)(NAME(move_factor_t) factor, bool scale, bool conjugate,
                                     const NARROW *row, REAL *b, int64_t ld) {
    VECTOR_UNROLL
    for (int l = 0; l < NARROW_LINES; l++) {
        const NARROW moved = NAME(move_narrow)(factor, scale, conjugate, row[l]);
        V(narrow_store)(b + PARTS * l * ld, moved);
    }
}

VECTOR_INLINE void NAME(transpose_narrow)(NAME(move_factor_t) factor, bool scale, bool conjugate,
                                          const REAL *a, int64_t lda, REAL *b, int64_t ldb) {
    NARROW row[NARROW_LINES];
    NAME(load_lines)(row, a, lda);
    NAME(store_lines)(factor, scale, conjugate, row, b, ldb);
}

/* LINE rows and columns. */
VECTOR_INLINE void NAME(transpose_lines)(NAME(move_factor_t) factor, bool scale, bool conjugate,
                                         const REAL *a, int64_t lda, REAL *b, int64_t ldb) {
    VECTOR_UNROLL
    for (int i = 0; i < LINE; i += NARROW_LINES)
        VECTOR_UNROLL
    for (int j = 0; j < LINE; j += NARROW_LINES)
        NAME(transpose_narrow)
    (factor, scale, conjugate, a + PARTS * (i + j * lda), lda, b + PARTS * (j + i * ldb), ldb);
}

/* At most as many. */
VECTOR_INLINE void NAME(transpose_few)(int m, int n, const REAL *alpha, NAME(move_factor_t) factor,
                                       bool conjugate, const REAL *a, int64_t lda, REAL *b,
                                       int64_t ldb) {
    const int whole_m = m - m % NARROW_LINES, whole_n = n - n % NARROW_LINES;

    for (int i = 0; i < whole_m; i += NARROW_LINES)
        for (int j = 0; j < whole_n; j += NARROW_LINES)
            NAME(transpose_narrow)
    (factor, alpha != NULL, conjugate, a + PARTS * (i + j * lda), lda, b + PARTS * (j + i * ldb),
     ldb);

    for (int i = 0; i < m; i++)
        for (int j = i < whole_m ? whole_n : 0; j < n; j++)
            NAME(move_one)(alpha, conjugate, a + PARTS * (i + j * lda), b + PARTS * (j + i * ldb));
}

VECTOR_INLINE void NAME(transpose_as)(int64_t m, int64_t n, const REAL *alpha, bool conjugate,
                                      const REAL *a, int64_t lda, REAL *b, int64_t ldb) {
    const NAME(move_factor_t) factor = NAME(move_factor)(alpha);

    for (int64_t i = 0; i < m; i += LINE)
        for (int64_t j = 0; j < n; j += LINE) {
            const int rows = m - i < LINE ? (int)(m - i) : LINE;
            const int columns = n - j < LINE ? (int)(n - j) : LINE;
            const REAL *from = a + PARTS * (i + j * lda);
            REAL *to = b + PARTS * (j + i * ldb);

            if (rows == LINE && columns == LINE)
                NAME(transpose_lines)(factor, alpha != NULL, conjugate, from, lda, to, ldb);
            else
                NAME(transpose_few)(rows, columns, alpha, factor, conjugate, from, lda, to, ldb);
        }
}

static void NAME(transpose)(int64_t m, int64_t n, const void *alpha, bool conjugate, const void *a,
                            int64_t lda, void *b, int64_t ldb) {
    REAL by[PARTS];
    if (alpha != NULL)
        memcpy(by, alpha, sizeof by);

    if (alpha == NULL && !conjugate)
        NAME(transpose_as)(m, n, NULL, false, a, lda, b, ldb);
    else if (alpha == NULL)
        NAME(transpose_as)(m, n, NULL, true, a, lda, b, ldb);
    else if (!conjugate)
        NAME(transpose_as)(m, n, by, false, a, lda, b, ldb);
    else
        NAME(transpose_as)(m, n, by, true, a, lda, b, ldb);
}

/* ---- Two that change places ---- */

VECTOR_INLINE void NAME(exchange_one)(const REAL *alpha, bool conjugate, REAL *a, REAL *b) {
    REAL before[PARTS];
    memcpy(before, a, sizeof before);
    NAME(move_one)(alpha, conjugate, b, a);
    NAME(move_one)(alpha, conjugate, before, b);
}

/* Of the same square its lower triangle is gone through, block by block. */
VECTOR_INLINE void NAME(exchange_as)(int64_t m, int64_t n, const REAL *alpha, bool conjugate,
                                     REAL *a, REAL *b, int64_t ld) {
    const NAME(move_factor_t) factor = NAME(move_factor)(alpha);
    const int64_t whole_m = m - m % NARROW_LINES, whole_n = n - n % NARROW_LINES;
    const bool same = a == b;

    for (int64_t j = 0; j < whole_n; j += NARROW_LINES)
        for (int64_t i = same ? j : 0; i < whole_m; i += NARROW_LINES) {
            REAL *lower = a + PARTS * (i + j * ld), *upper = b + PARTS * (j + i * ld);
            NARROW of_lower[NARROW_LINES], of_upper[NARROW_LINES];
            NAME(load_lines)(of_lower, lower, ld);
            NAME(load_lines)(of_upper, upper, ld);
            NAME(store_lines)(factor, alpha != NULL, conjugate, of_upper, lower, ld);
            NAME(store_lines)(factor, alpha != NULL, conjugate, of_lower, upper, ld);
        }

    for (int64_t j = 0; j < n; j++) {
        const int64_t first = j < whole_n ? whole_m : 0;
        for (int64_t i = same && j > first ? j : first; i < m; i++)
            NAME(exchange_one)
        (alpha, conjugate, a + PARTS * (i + j * ld), b + PARTS * (j + i * ld));
    }
}

static void NAME(exchange)(int64_t m, int64_t n, const void *alpha, bool conjugate, void *a,
                           void *b, int64_t ld) {
    REAL by[PARTS];
    if (alpha != NULL)
        memcpy(by, alpha, sizeof by);

    if (alpha == NULL)
        NAME(exchange_as)(m, n, NULL, conjugate, a, b, ld);
    else
        NAME(exchange_as)(m, n, by, conjugate, a, b, ld);
}

static const ji_move_kernels_t NAME(move) = {NAME(scale), NAME(multiply), NAME(transpose),
                                             NAME(exchange)};

#undef PARTS
#undef NARROW_LINES
#undef LINE
#undef TRANSPOSE
