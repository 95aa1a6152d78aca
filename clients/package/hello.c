/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The least that a user does: a handle, a borrow, a dot product where jblas is there, a solve where
 * libjlapack is, and a layout where libjbuffer is. Exits with 0 when the numbers are right. */

#include <jalloc/jalloc.h>
#include <stdio.h>

static int use(jhandle_t *handle) {
    enum { COUNT = 1000 };
    double sum = 0;
    JALLOC_BORROW(ws, handle, COUNT * sizeof(double), COUNT * sizeof(double));
    if (!ws.ok)
        return 1;
    double *x = ws.ptr[0], *y = ws.ptr[1];
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        y[i] = 2;
    }
#if HAVE_JBLAS
    if (jstatus_is_error(jblas_ddot(handle, COUNT, x, 1, y, 1, &sum)))
        return 2;
#else
    for (int i = 0; i < COUNT; i++)
        sum += x[i] * y[i];
#endif
#if HAVE_JLAPACK
    double a[4] = {0, 1, 2, 0}, b[2] = {4, 3}; /* 2 x2 = 4, x1 = 3 */
    int64_t ipiv[2], info;
    if (jstatus_is_error(jlapack_dgesv(handle, 2, 1, a, 2, ipiv, b, 2, &info)) || info != 0 ||
        b[0] != 3 || b[1] != 2)
        return 8;
#endif
    printf("jalloc %s: %.0f\n", jalloc_version_string(), sum);
    return sum == (COUNT - 1.0) * COUNT ? 0 : 3;
}

#if HAVE_JBUFFER
static int lay_out(void) {
    jlayout_t layout;
    int64_t count;
    if (jlayout_init(&layout, 2, (const int64_t[]){3, 4}, JORDER_COLUMN_MAJOR) != JSTATUS_SUCCESS ||
        jlayout_get_count(&layout, &count) != JSTATUS_SUCCESS)
        return 6;
    return count == 12 ? 0 : 7;
}
#else
static int lay_out(void) { return 0; }
#endif

int main(void) {
    jhandle_t *handle;
    if (jalloc_version() != JALLOC_VERSION || jhandle_create(NULL, &handle) != JSTATUS_SUCCESS)
        return 4;
    int result = use(handle);
    if (result == 0)
        result = lay_out();
    return jhandle_destroy(handle) == JSTATUS_SUCCESS ? result : 5;
}
