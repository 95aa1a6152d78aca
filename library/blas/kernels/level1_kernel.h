/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Level 1 for one element type and instruction set: the text of level1.h, see each_type.h. No
 * include guard.
 *
 * Of complex vectors side by side most loops see twice as many reals. What writes vectors that lie
 * apart does it element by element. What vectors come to is in level1_sums_kernel.h. */

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

/* Up to half of a vector reals are done one by one, if there is no narrower vector of so many: what
 * a part of a vector was stored to cannot be loaded again at once, and who calls for a few often
 * calls for the same ones next. */
VECTOR_INLINE bool NAME(are_few)(int64_t reals) {
    return reals <= LANES / 2 && !V(is_piece)(reals);
}

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
#define LOAD_REST(p) V(load_piece)(p, part)
#define STORE_REST(p, vector) V(store_piece)(p, vector, part)

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
#if COMPLEX
    VECTOR_HOLD(x);
#endif
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

    if (incx != 1 || incy != 1 || NAME(are_few)(PARTS * n)) {
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

    if (incx != 1 || NAME(are_few)(PARTS * n)) {
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

VECTOR_INLINE void NAME(axpby_by)(int64_t n, const REAL *alpha, const REAL *x, int64_t incx,
                                  const REAL *beta, bool reads_y, REAL *y, int64_t incy) {
    if (incx != 1 || incy != 1 || NAME(are_few)(PARTS * n)) {
        for (; n > 0; n--, x += PARTS * incx, y += PARTS * incy)
            if (reads_y) {
                NAME(scal_one)(beta, false, y);
                NAME(axpy_one)(alpha, x, y);
            } else {
                memmove(y, x, PARTS * sizeof(REAL));
                NAME(scal_one)(alpha, false, y);
            }
        return;
    }

    const NAME(factor_t) by_x = NAME(factor_of)(alpha, false), by_y = NAME(factor_of)(beta, false);
#define STEP(LOAD, STORE)                                                                          \
    if (reads_y)                                                                                   \
        STORE(y, NAME(axpy_vector)(by_x, LOAD(x), NAME(scal_vector)(by_y, false, LOAD(y))));       \
    else                                                                                           \
        STORE(y, NAME(scal_vector)(by_x, false, LOAD(x)));                                         \
    x += LANES, y += LANES
    OVER_VECTORS(PARTS * n, STEP)
#undef STEP
}

static void NAME(axpby)(int64_t n, const void *alpha_, const void *x, int64_t incx,
                        const void *beta_, void *y, int64_t incy) {
    REAL alpha[PARTS], beta[PARTS] = {0};
    memcpy(alpha, alpha_, sizeof alpha);

    if (beta_ == NULL) {
        NAME(axpby_by)(n, alpha, x, incx, beta, false, y, incy);
        return;
    }
    memcpy(beta, beta_, sizeof beta);
    NAME(axpby_by)(n, alpha, x, incx, beta, true, y, incy);
}

static void NAME(rotate)(int64_t n, void *x_, int64_t incx, void *y_, int64_t incy,
                         const void *h_) {
    REAL *x = x_, *y = y_, h[4];
    memcpy(h, h_, sizeof h);

    if (incx != 1 || incy != 1 || NAME(are_few)(PARTS * n)) {
        for (; n > 0; n--, x += PARTS * incx, y += PARTS * incy)
            for (int part = 0; part < PARTS; part++) {
                const REAL a = x[part], b = y[part];
                x[part] = V(fma_one)(h[1], b, h[0] * a);
                y[part] = V(fma_one)(h[2], a, h[3] * b);
            }
        return;
    }

    const VECTOR h11 = V(splat)(h[0]), h12 = V(splat)(h[1]);
    const VECTOR h21 = V(splat)(h[2]), h22 = V(splat)(h[3]);
#define STEP(LOAD, STORE)                                                                          \
    const VECTOR a = LOAD(x), b = LOAD(y);                                                         \
    STORE(x, V(fma)(h12, b, h11 * a));                                                             \
    STORE(y, V(fma)(h21, a, h22 * b));                                                             \
    x += LANES, y += LANES
    OVER_VECTORS(PARTS * n, STEP)
#undef STEP
}

static void NAME(scal)(int64_t n, const void *alpha, void *x, int64_t incx) {
    NAME(scal_by)(n, alpha, false, x, incx);
}

static void NAME(rscal)(int64_t n, const void *alpha, void *x, int64_t incx) {
    NAME(scal_by)(n, alpha, true, x, incx);
}

/* Copies at most 128 bytes, all of which are read before any is written: two pieces of a size that
 * the compiler knows, which overlap. */
#define COPY_TWO(type_bytes)                                                                       \
    {                                                                                              \
        char first[type_bytes], last[type_bytes];                                                  \
        memcpy(first, from, type_bytes);                                                           \
        memcpy(last, from + bytes - (type_bytes), type_bytes);                                     \
        memcpy(to, first, type_bytes);                                                             \
        memcpy(to + bytes - (type_bytes), last, type_bytes);                                       \
    }
VECTOR_INLINE void NAME(copy_few)(size_t bytes, const char *from, char *to) {
    if (bytes > 64)
        COPY_TWO(64)
    else if (bytes > 32)
        COPY_TWO(32)
    else if (bytes > 16)
        COPY_TWO(16)
    else if (bytes > 8)
        COPY_TWO(8)
    else if (bytes > 4)
        COPY_TWO(4 + (sizeof(REAL) == 8) * 4)
    else if (sizeof(REAL) == 4 && bytes == 4)
        COPY_TWO(4)
}
#undef COPY_TWO

static void NAME(copy)(int64_t n, const void *x_, int64_t incx, void *y_, int64_t incy) {
    const REAL *x = x_;
    REAL *y = y_;

    if (incx == 1 && incy == 1) {
        if (n * PARTS * (int64_t)sizeof(REAL) <= 128)
            NAME(copy_few)((size_t)n * PARTS * sizeof(REAL), x_, y_);
        else
            memmove(y, x, (size_t)n * PARTS * sizeof(REAL));
        return;
    }

    /* Some are read before they are written: no write is in the way of the next reads. */
    for (; n >= AT_ONCE; n -= AT_ONCE) {
        REAL some[AT_ONCE][PARTS];
        VECTOR_UNROLL
        for (int k = 0; k < AT_ONCE; k++, x += PARTS * incx)
            memcpy(some[k], x, sizeof some[k]);
        VECTOR_UNROLL
        for (int k = 0; k < AT_ONCE; k++, y += PARTS * incy)
            memcpy(y, some[k], sizeof some[k]);
    }
    for (; n > 0; n--, x += PARTS * incx, y += PARTS * incy)
        memmove(y, x, PARTS * sizeof(REAL));
}

static void NAME(swap)(int64_t n, void *x_, int64_t incx, void *y_, int64_t incy) {
    REAL *x = x_, *y = y_;

    if (incx != 1 || incy != 1 || NAME(are_few)(PARTS * n)) {
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

#include "blas/kernels/level1_sums_kernel.h"

static const ji_level1_t NAME(level1) = {
    NAME(axpy),  NAME(copy),    NAME(swap), NAME(scal),  NAME(rscal),
    NAME(axpby), NAME(rotate),  NAME(dot),  NAME(dotc),  DSDOT,
    NAME(asum),  NAME(squares), NAME(nrm2), NAME(iamax), NAME(iamin),
};
#undef DSDOT

#undef OVER_VECTORS
#undef LOAD_REST
#undef STORE_REST
#undef PARTS
#undef ROOM
#undef ROW_VECTORS
#undef ROW
