/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The least that a user does: a handle, a borrow, and a dot product where jblas is there. Exits with 0 when the numbers
 * are right. */

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
    printf("jalloc %s: %.0f\n", jalloc_version_string(), sum);
    return sum == (COUNT - 1.0) * COUNT ? 0 : 3;
}

int main(void) {
    jhandle_t *handle;
    if (jalloc_version() != JALLOC_VERSION || jhandle_create(NULL, &handle) != JSTATUS_SUCCESS)
        return 4;
    int result = use(handle);
    return jhandle_destroy(handle) == JSTATUS_SUCCESS ? result : 5;
}
