/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Small triangles in place, for triangle_factor.c: included once for each element type (no include
 * guard).
 *
 *   BASE_REAL      float or double
 *   BASE_COMPLEX   0 or 1
 *   BASE_NAME(x)   gives the functions their own names
 *
 * Everything runs along columns, which are contiguous, so that the compiler vectorizes it. */

#define REAL BASE_REAL
#define PARTS (1 + BASE_COMPLEX)
#define AT(i, j) (a + ((i) + (j)*lda) * PARTS)

/* y += f x, or with the conjugate of f. */
static inline void BASE_NAME(axpy)(int64_t n, const REAL *f, bool conjugate, const REAL *restrict x,
                                   REAL *restrict y) {
#if BASE_COMPLEX
    REAL re = f[0], im = conjugate ? -f[1] : f[1];
    for (int64_t i = 0; i < n; i++) {
        y[2 * i] += re * x[2 * i] - im * x[2 * i + 1];
        y[2 * i + 1] += re * x[2 * i + 1] + im * x[2 * i];
    }
#else
    (void)conjugate;
    REAL factor = *f;
    for (int64_t i = 0; i < n; i++)
        y[i] += factor * x[i];
#endif
}

static inline void BASE_NAME(multiply)(const REAL *f, REAL *x) {
#if BASE_COMPLEX
    REAL re = f[0] * x[0] - f[1] * x[1];
    x[1] = f[0] * x[1] + f[1] * x[0], x[0] = re;
#else
    *x *= *f;
#endif
}

/* The sum of conj(x) y, in eight partial sums. */
static inline void BASE_NAME(dot)(int64_t n, const REAL *x, const REAL *y, REAL *sum) {
    REAL re[8] = {0}, im[8] = {0};
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) {
#if BASE_COMPLEX
            const REAL *u = x + 2 * (i + l), *v = y + 2 * (i + l);
            re[l] += u[0] * v[0] + u[1] * v[1];
            im[l] += u[0] * v[1] - u[1] * v[0];
#else
            re[l] += x[i + l] * y[i + l];
#endif
        }

    for (; i < n; i++) {
#if BASE_COMPLEX
        re[0] += x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
        im[0] += x[2 * i] * y[2 * i + 1] - x[2 * i + 1] * y[2 * i];
#else
        re[0] += x[i] * y[i];
#endif
    }

    sum[0] = ((re[0] + re[1]) + (re[2] + re[3])) + ((re[4] + re[5]) + (re[6] + re[7]));
    if (BASE_COMPLEX)
        sum[PARTS - 1] = ((im[0] + im[1]) + (im[2] + im[3])) + ((im[4] + im[5]) + (im[6] + im[7]));
}

static inline void BASE_NAME(reciprocal)(REAL *x) {
#if BASE_COMPLEX
    /* Smith's algorithm: nothing overflows on the way unless the result does. */
    REAL re = x[0], im = x[1];
    if (FACTOR_ABS(re) >= FACTOR_ABS(im)) {
        REAL ratio = im / re, scale = 1 / (re + im * ratio);
        x[0] = scale, x[1] = -ratio * scale;
    } else {
        REAL ratio = re / im, scale = 1 / (im + re * ratio);
        x[0] = ratio * scale, x[1] = -scale;
    }
#else
    *x = 1 / *x;
#endif
}

/* The 1-based index of the first zero on the diagonal, or 0. */
static int64_t BASE_NAME(find_zero)(int64_t n, const void *matrix, int64_t lda) {
    const REAL *a = matrix;

    for (int64_t j = 0; j < n; j++)
        if (AT(j, j)[0] == 0 && AT(j, j)[PARTS - 1] == 0)
            return j + 1;

    return 0;
}

/* Inverts in place: the lower triangle from the last column back, the upper from the first column
 * on. Column j of the inverse is -1/a(j,j) times the part already inverted times column j. */
static void BASE_NAME(invert)(bool upper, bool unit, int64_t n, void *matrix, int64_t lda) {
    REAL *a = matrix;

    for (int64_t step = 0; step < n; step++) {
        int64_t j = upper ? step : n - 1 - step;
        REAL factor[2] = {-1, 0};

        if (!unit) {
            BASE_NAME(reciprocal)(AT(j, j));
            for (int part = 0; part < PARTS; part++)
                factor[part] = -AT(j, j)[part];
        }

        for (int64_t s = 0; s < step; s++) {
            int64_t p = upper ? s : n - 1 - s;
            REAL x[2] = {AT(p, j)[0], AT(p, j)[PARTS - 1]};

            if (upper)
                BASE_NAME(axpy)(p, x, false, AT(0, p), AT(0, j));
            else
                BASE_NAME(axpy)(n - 1 - p, x, false, AT(p + 1, p), AT(p + 1, j));
            if (!unit)
                BASE_NAME(multiply)(AT(p, p), AT(p, j));
        }

        for (int64_t s = 0; s < step; s++)
            BASE_NAME(multiply)(factor, AT(upper ? s : n - 1 - s, j));
    }
}

/* Cholesky in place. 0, or the 1-based column whose pivot is not positive; columns before it are
 * done. */
static int64_t BASE_NAME(cholesky)(bool upper, int64_t n, void *matrix, int64_t lda) {
    REAL *a = matrix;

    for (int64_t j = 0; j < n; j++) {
        REAL sum[2];

        if (upper) {
            for (int64_t p = 0; p < j; p++) {
                BASE_NAME(dot)(p, AT(0, p), AT(0, j), sum);
                for (int part = 0; part < PARTS; part++)
                    AT(p, j)[part] = (AT(p, j)[part] - sum[part]) / AT(p, p)[0];
            }
            BASE_NAME(dot)(j, AT(0, j), AT(0, j), sum);
            AT(j, j)[0] -= sum[0];
        } else {
            for (int64_t p = 0; p < j; p++) {
                REAL x[2] = {-AT(j, p)[0], -AT(j, p)[PARTS - 1]};
                BASE_NAME(axpy)(n - j, x, true, AT(j, p), AT(j, j));
            }
        }

        if (BASE_COMPLEX)
            AT(j, j)[PARTS - 1] = 0;

        REAL pivot = AT(j, j)[0];
        if (!(pivot > 0)) /* also NaN */
            return j + 1;

        AT(j, j)[0] = pivot = FACTOR_SQRT(pivot);
        if (!upper)
            for (REAL *x = AT(j + 1, j); x < AT(n, j); x++)
                *x /= pivot;
    }

    return 0;
}

#undef AT
#undef PARTS
#undef REAL
#undef BASE_REAL
#undef BASE_COMPLEX
#undef BASE_NAME
