/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_PRIMITIVES_ROTATION_H
#define JALLOC_BLAS_PRIMITIVES_ROTATION_H

/* Plane rotations: rotg, and rotmg for the modified ones, for the host and, in the same words, for
 * kernels. All of it is computed in double, for floats, too, which then only have to be rounded:
 * nothing of theirs overflows or underflows on the way.
 *
 * Doubles might, so rotg scales each number by a power of 2 that brings its larger part to between
 * 1/2 and 1, of which nothing is rounded, and brings in the powers at the end: no constants, no
 * cases by size, and a few units in the last place for all numbers there are. What underflows when
 * the smaller of two numbers comes to the scale of the larger one is far below the last place of
 * what it is added to. c and s are right even where r overflows.
 *
 * Sources: of rotg's definition Anderson, Algorithm 978: Safe Scaling in the Level 1 BLAS, ACM TOMS
 * 44 (2017), which the reference BLAS has since 3.10; of rotmg Lawson, Hanson, Kincaid and Krogh,
 * Basic Linear Algebra Subprograms for Fortran usage, ACM TOMS 5 (1979). */

#include <math.h>

#include "blas/primitives/primitive.h"

/* ---- Numbers of any type ---- */

JI_KERNEL_INLINE bool rotation_is_float(const ji_rotation_t *args) {
    return args->head.type == JDATATYPE_F32 || args->head.type == JDATATYPE_F32_C;
}

JI_KERNEL_INLINE double rotation_load(const ji_rotation_t *args, const void *pointer, int i) {
    return rotation_is_float(args) ? (double)((const float *)pointer)[i]
                                   : ((const double *)pointer)[i];
}

/* Gives what is there now: the number rounded to the type. */
JI_KERNEL_INLINE double rotation_store(const ji_rotation_t *args, void *pointer, int i,
                                       double number) {
    if (rotation_is_float(args))
        ((float *)pointer)[i] = (float)number;
    else
        ((double *)pointer)[i] = number;
    return rotation_load(args, pointer, i);
}

/* ---- Givens rotations ---- */

/* The power of 2 that is taken out. Infinities and NaN go through the formulas as they are. */
JI_KERNEL_INLINE int rotation_exponent(double size) {
    int exponent = 0;
    if (isfinite(size))
        (void)frexp(size, &exponent);
    return exponent;
}

/* z stands for both: if |z| < 1, s is z; if |z| > 1, c is 1 / z; if z is 1, c is 0. */
JI_KERNEL_INLINE void rotation_of_reals(const ji_rotation_t *args) {
    const double a = rotation_load(args, args->a, 0), b = rotation_load(args, args->b, 0);
    if (b == 0 || a == 0) {
        (void)rotation_store(args, args->c, 0, b == 0);
        (void)rotation_store(args, args->s, 0, b != 0);
        (void)rotation_store(args, args->a, 0, b == 0 ? a : b);
        (void)rotation_store(args, args->b, 0, b != 0);
        return;
    }

    const bool a_leads = fabs(a) > fabs(b);
    const int exponent = rotation_exponent(fmax(fabs(a), fabs(b)));
    const double x = ldexp(a, -exponent), y = ldexp(b, -exponent);
    const double r = copysign(sqrt(x * x + y * y), a_leads ? a : b);

    const double c = rotation_store(args, args->c, 0, x / r);
    const double s = rotation_store(args, args->s, 0, y / r);
    (void)rotation_store(args, args->a, 0, ldexp(r, exponent));
    (void)rotation_store(args, args->b, 0, a_leads ? s : c != 0 ? 1 / c : 1);
}

/* (re + i im) 2^exponent, with parts that are at most 1. */
typedef struct rotation_complex {
    double re, im, square; /* of the size */
    int exponent;
} rotation_complex_t;

JI_KERNEL_INLINE rotation_complex_t rotation_take(const ji_rotation_t *args, const void *pointer) {
    const double re = rotation_load(args, pointer, 0), im = rotation_load(args, pointer, 1);
    rotation_complex_t z;
    z.exponent = rotation_exponent(fmax(fabs(re), fabs(im)));
    z.re = ldexp(re, -z.exponent), z.im = ldexp(im, -z.exponent);
    z.square = z.re * z.re + z.im * z.im;
    return z;
}

JI_KERNEL_INLINE void rotation_give(const ji_rotation_t *args, void *pointer, double re, double im,
                                    int exponent) {
    (void)rotation_store(args, pointer, 0, ldexp(re, exponent));
    (void)rotation_store(args, pointer, 1, ldexp(im, exponent));
}

/* c = |a| / h, s = sgn(a) conj(b) / h and r = sgn(a) h, with h = sqrt(|a|^2 + |b|^2) and sgn(a) = a
 * / |a|, or 1 where a is 0. */
JI_KERNEL_INLINE void rotation_of_complex(const ji_rotation_t *args) {
    const rotation_complex_t a = rotation_take(args, args->a), b = rotation_take(args, args->b);
    if (b.square == 0) {
        (void)rotation_store(args, args->c, 0, 1);
        rotation_give(args, args->s, 0, 0, 0);
        return;
    }
    if (a.square == 0) {
        const double size = sqrt(b.square);
        (void)rotation_store(args, args->c, 0, 0);
        rotation_give(args, args->s, b.re / size, -b.im / size, 0);
        rotation_give(args, args->a, size, 0, b.exponent);
        return;
    }

    const int exponent = a.exponent > b.exponent ? a.exponent : b.exponent;
    const int below_a = a.exponent - exponent, below_b = b.exponent - exponent;
    const double h = sqrt(ldexp(a.square, 2 * below_a) + ldexp(b.square, 2 * below_b));
    const double size = sqrt(a.square), both = size * h;

    (void)rotation_store(args, args->c, 0, ldexp(size / h, below_a));
    rotation_give(args, args->s, (a.re * b.re + a.im * b.im) / both,
                  (a.im * b.re - a.re * b.im) / both, below_b);
    rotation_give(args, args->a, a.re * (h / size), a.im * (h / size), exponent);
}

JI_KERNEL_INLINE void ji_rotg(const ji_rotation_t *args) {
    if (args->head.type == JDATATYPE_F32_C || args->head.type == JDATATYPE_F64_C)
        rotation_of_complex(args);
    else
        rotation_of_reals(args);
}

/* ---- Modified Givens transformations ---- */

/* H, which takes (x1, y1) to (x1', 0) where (sqrt(d1) x1, sqrt(d2) y1) is rotated. */
typedef struct rotation_modified {
    double d1, d2, x1, flag;
    double h11, h21, h12, h22;
} rotation_modified_t;

/* Where d1 or what would become it is negative: there is no such transformation. */
JI_KERNEL_INLINE rotation_modified_t rotation_none(void) {
    const rotation_modified_t none = {0, 0, 0, -1, 0, 0, 0, 0};
    return none;
}

JI_KERNEL_INLINE rotation_modified_t rotation_modify(rotation_modified_t m, double y1) {
    const double p1 = m.d1 * m.x1, p2 = m.d2 * y1, q1 = p1 * m.x1, q2 = p2 * y1;
    if (m.d1 < 0)
        return rotation_none();
    if (p2 == 0) {
        m.flag = -2;
        return m;
    }

    if (fabs(q1) > fabs(q2)) {
        m.flag = 0, m.h11 = m.h22 = 1;
        m.h21 = -y1 / m.x1, m.h12 = p2 / p1;
        const double u = 1 - m.h12 * m.h21;
        if (!(u > 0))
            return rotation_none();
        m.d1 /= u, m.d2 /= u, m.x1 *= u;
        return m;
    }
    if (q2 < 0)
        return rotation_none();

    m.flag = 1, m.h21 = -1, m.h12 = 1;
    m.h11 = p1 / p2, m.h22 = m.x1 / y1;
    const double u = 1 + m.h11 * m.h22, d1 = m.d1;
    m.d1 = m.d2 / u, m.d2 = d1 / u, m.x1 = y1 * u;
    return m;
}

/* Brings d between 2^-24 and 2^24 by an even power of gamma = 2^12; gives the power of gamma that
 * its row of H is to be multiplied with. 0: it was there. */
JI_KERNEL_INLINE int rotation_rescale(double *d) {
    int power = 0;
    if (*d == 0 || !isfinite(*d))
        return 0;

    for (; fabs(*d) <= 0x1p-24; power--)
        *d *= 0x1p24;
    for (; fabs(*d) >= 0x1p24; power++)
        *d *= 0x1p-24;
    return power;
}

JI_KERNEL_INLINE void rotation_rescale_both(rotation_modified_t *m) {
    const int power1 = rotation_rescale(&m->d1), power2 = rotation_rescale(&m->d2);
    if (power1 == 0 && power2 == 0)
        return;

    m->flag = -1;
    m->x1 = ldexp(m->x1, 12 * power1);
    m->h11 = ldexp(m->h11, 12 * power1), m->h12 = ldexp(m->h12, 12 * power1);
    m->h21 = ldexp(m->h21, 12 * power2), m->h22 = ldexp(m->h22, 12 * power2);
}

/* What the flag implies is not stored. */
JI_KERNEL_INLINE void ji_rotmg(const ji_rotation_t *args) {
    rotation_modified_t m = {rotation_load(args, args->d1, 0),
                             rotation_load(args, args->d2, 0),
                             rotation_load(args, args->x1, 0),
                             0,
                             0,
                             0,
                             0,
                             0};
    m = rotation_modify(m, rotation_load(args, args->y1, 0));
    if (m.flag != -2)
        rotation_rescale_both(&m);

    (void)rotation_store(args, args->param, 0, m.flag);
    if (m.flag == -2)
        return;
    (void)rotation_store(args, args->d1, 0, m.d1);
    (void)rotation_store(args, args->d2, 0, m.d2);
    (void)rotation_store(args, args->x1, 0, m.x1);
    if (m.flag != 0) {
        (void)rotation_store(args, args->param, 1, m.h11);
        (void)rotation_store(args, args->param, 4, m.h22);
    }
    if (m.flag != 1) {
        (void)rotation_store(args, args->param, 2, m.h21);
        (void)rotation_store(args, args->param, 3, m.h12);
    }
}

#endif
