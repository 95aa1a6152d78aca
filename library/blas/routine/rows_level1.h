/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ROWS_LEVEL1_H
#define JALLOC_BLAS_ROUTINE_ROWS_LEVEL1_H

/* The rows of level 1; rows.h, which includes this, says how to read them.
 * One argument to a line. */

/* clang-format off */

#define JI_FUNCTIONS_asum(X, context) \
    JI_SD(X, context, asum) X(context, asum, c, scasum) X(context, asum, z, dzasum)
#define JI_ARGUMENTS_asum(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, REAL)

#define JI_FUNCTIONS_axpy(X, context) JI_SDCZ(X, context, axpy)
#define JI_ARGUMENTS_axpy(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALPHA) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), ALWAYS)

#define JI_FUNCTIONS_axpby(X, context) JI_SDCZ(X, context, axpby)
#define JI_ARGUMENTS_axpby(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALPHA) \
    X(t, SCALAR, beta, ELEMENT) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), BETA)

#define JI_FUNCTIONS_copy(X, context) JI_SDCZ(X, context, copy)
#define JI_ARGUMENTS_copy(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), NEVER)

#define JI_FUNCTIONS_dot(X, context) JI_SD(X, context, dot)
#define JI_ARGUMENTS_dot(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, ELEMENT)

#define JI_FUNCTIONS_dotu(X, context) JI_CZ(X, context, dotu)
#define JI_ARGUMENTS_dotu(X, t) JI_ARGUMENTS_dot(X, t)

#define JI_FUNCTIONS_dotc(X, context) JI_CZ(X, context, dotc)
#define JI_ARGUMENTS_dotc(X, t) JI_ARGUMENTS_dot(X, t)

#define JI_FUNCTIONS_dsdot(X, context) X(context, dsdot, s, dsdot)
#define JI_ARGUMENTS_dsdot(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, WIDE)

#define JI_FUNCTIONS_sdsdot(X, context) X(context, sdsdot, s, sdsdot)
#define JI_ARGUMENTS_sdsdot(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, ELEMENT)

#define JI_FUNCTIONS_iamax(X, context) \
    X(context, iamax, s, isamax) X(context, iamax, d, idamax) \
    X(context, iamax, c, icamax) X(context, iamax, z, izamax)
#define JI_ARGUMENTS_iamax(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, INDEX)

#define JI_FUNCTIONS_iamin(X, context) \
    X(context, iamin, s, isamin) X(context, iamin, d, idamin) \
    X(context, iamin, c, icamin) X(context, iamin, z, izamin)
#define JI_ARGUMENTS_iamin(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, READ, LENGTH(n), ALWAYS) \
    X(t, RESULT, result, INDEX)

#define JI_FUNCTIONS_nrm2(X, context) \
    JI_SD(X, context, nrm2) X(context, nrm2, c, scnrm2) X(context, nrm2, z, dznrm2)
#define JI_ARGUMENTS_nrm2(X, t) JI_ARGUMENTS_asum(X, t)

#define JI_FUNCTIONS_rot(X, context) \
    JI_SD(X, context, rot) X(context, rot, c, csrot) X(context, rot, z, zdrot)
#define JI_ARGUMENTS_rot(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, SCALAR, c, REAL) \
    X(t, SCALAR, s, REAL)

#define JI_FUNCTIONS_rotg(X, context) JI_SDCZ(X, context, rotg)
#define JI_ARGUMENTS_rotg(X, t) \
    X(t, NUMBER, a, ELEMENT, WRITTEN, ALWAYS) \
    X(t, NUMBER, b, ELEMENT, WRITTEN, ALWAYS) \
    X(t, NUMBER, c, REAL, WRITTEN, NEVER) \
    X(t, NUMBER, s, ELEMENT, WRITTEN, NEVER)

#define JI_FUNCTIONS_rotmg(X, context) JI_SD(X, context, rotmg)
#define JI_ARGUMENTS_rotmg(X, t) \
    X(t, NUMBER, d1, ELEMENT, WRITTEN, ALWAYS) \
    X(t, NUMBER, d2, ELEMENT, WRITTEN, ALWAYS) \
    X(t, NUMBER, x1, ELEMENT, WRITTEN, ALWAYS) \
    X(t, NUMBER, y1, ELEMENT, READ, ALWAYS) \
    X(t, NUMBER, param, PARAMETERS, WRITTEN, ALWAYS)

#define JI_FUNCTIONS_rotm(X, context) JI_SD(X, context, rotm)
#define JI_ARGUMENTS_rotm(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, SCALAR, param, PARAMETERS)

#define JI_FUNCTIONS_scal(X, context) JI_SDCZ(X, context, scal)
#define JI_ARGUMENTS_scal(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, ELEMENT) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS)

#define JI_FUNCTIONS_csscal(X, context) X(context, csscal, c, csscal)
#define JI_ARGUMENTS_csscal(X, t) \
    X(t, LENGTH, n) \
    X(t, SCALAR, alpha, REAL) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS)

#define JI_FUNCTIONS_zdscal(X, context) X(context, zdscal, z, zdscal)
#define JI_ARGUMENTS_zdscal(X, t) JI_ARGUMENTS_csscal(X, t)

#define JI_FUNCTIONS_swap(X, context) JI_SDCZ(X, context, swap)
#define JI_ARGUMENTS_swap(X, t) \
    X(t, LENGTH, n) \
    X(t, VECTOR, x, incx, WRITTEN, LENGTH(n), ALWAYS) \
    X(t, VECTOR, y, incy, WRITTEN, LENGTH(n), ALWAYS)

/* clang-format on */

#endif
