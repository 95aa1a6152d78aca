/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Loops of plain.c for one type; included once for each. REAL is float or double, COMPLEX 0 or 1, NAME(f) names what is
 * defined. No include guard: that is the point. */

#define PARTS (1 + COMPLEX)
/* Element i of a vector of the block. */
#define X(i) (x + PARTS * ((i)*v->incx))
#define Y(i) (y + PARTS * ((i)*v->incy))

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
