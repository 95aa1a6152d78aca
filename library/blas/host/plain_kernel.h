/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Loops of plain.c for one type; included once for each (no include guard).
 *
 *   REAL      float or double
 *   COMPLEX   0 or 1
 *   NAME(f)   gives the functions their own names */

#define PARTS (1 + COMPLEX)
/* Element i of a vector of the block. */
#define X(i) (x + PARTS * ((i)*v->incx))
#define Y(i) (y + PARTS * ((i)*v->incy))

/* A product is formed as it stands: no zero is skipped, and NaN is not tested for. */
static inline void NAME(multiply)(const REAL *alpha, const REAL *x, bool complex_alpha,
                                  REAL *product) {
#if COMPLEX
    product[0] = complex_alpha ? alpha[0] * x[0] - alpha[1] * x[1] : alpha[0] * x[0];
    product[1] = complex_alpha ? alpha[0] * x[1] + alpha[1] * x[0] : alpha[0] * x[1];
#else
    (void)complex_alpha;
    product[0] = alpha[0] * x[0];
#endif
}

static void NAME(axpy)(const ji_vector_t *v) {
    const REAL *x = plain_first(v, v->x, v->incx), *alpha = ji_scalar_data(&v->alpha);
    REAL *y = plain_first(v, v->y, v->incy);
    for (int64_t i = 0; i < v->n; i++) {
        REAL product[PARTS];
        NAME(multiply)(alpha, X(i), true, product);
        for (int part = 0; part < PARTS; part++)
            Y(i)[part] += product[part];
    }
}

static void NAME(copy)(const ji_vector_t *v) {
    const REAL *x = plain_first(v, v->x, v->incx);
    REAL *y = plain_first(v, v->y, v->incy);
    for (int64_t i = 0; i < v->n; i++)
        for (int part = 0; part < PARTS; part++)
            Y(i)[part] = X(i)[part];
}

static void NAME(swap)(const ji_vector_t *v) {
    REAL *x = plain_first(v, v->x, v->incx), *y = plain_first(v, v->y, v->incy);
    for (int64_t i = 0; i < v->n; i++)
        for (int part = 0; part < PARTS; part++) {
            const REAL before = X(i)[part];
            X(i)[part] = Y(i)[part];
            Y(i)[part] = before;
        }
}

static void NAME(scal)(const ji_vector_t *v, bool complex_alpha) {
    const REAL *alpha = ji_scalar_data(&v->alpha);
    REAL *x = plain_first(v, v->x, v->incx);
    for (int64_t i = 0; i < v->n; i++) {
        REAL product[PARTS];
        NAME(multiply)(alpha, X(i), complex_alpha, product);
        memcpy(X(i), product, sizeof product);
    }
}

static void NAME(asum)(const ji_vector_t *v) {
    const REAL *x = plain_first(v, v->x, v->incx);
    double sum = 0;
    for (int64_t i = 0; i < v->n; i++)
        for (int part = 0; part < PARTS; part++)
            sum += fabs((double)X(i)[part]);
    *(REAL *)v->result = (REAL)sum;
}

static void NAME(dot)(const ji_vector_t *v, bool conjugate) {
    const REAL *x = plain_first(v, v->x, v->incx), *y = plain_first(v, v->y, v->incy);
    double sum[2] = {0, 0};
    for (int64_t i = 0; i < v->n; i++) {
#if COMPLEX
        const double re = X(i)[0], im = conjugate ? -X(i)[1] : X(i)[1];
        sum[0] += re * Y(i)[0] - im * Y(i)[1];
        sum[1] += re * Y(i)[1] + im * Y(i)[0];
#else
        (void)conjugate;
        sum[0] += (double)X(i)[0] * Y(i)[0];
#endif
    }
    for (int part = 0; part < PARTS; part++)
        ((REAL *)v->result)[part] = (REAL)sum[part];
}

static void NAME(iamax)(const ji_vector_t *v) {
    const REAL *x = plain_first(v, v->x, v->incx);
    int64_t found = 0;
    REAL largest = -1;
    for (int64_t i = 0; i < v->n; i++) {
        REAL size = 0; /* in the precision of the elements, as the CBLAS compares */
        for (int part = 0; part < PARTS; part++)
            size += (REAL)fabs((double)X(i)[part]);
        if (!(size <= largest)) { /* or it is a NaN */
            largest = size, found = i + 1;
            if (isnan(size))
                break;
        }
    }
    *(int64_t *)v->result = found;
}

#undef X
#undef Y
#undef PARTS
#undef REAL
#undef COMPLEX
#undef NAME
