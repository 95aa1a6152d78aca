// Copyright (c) 2026 the jalloc authors
// SPDX-License-Identifier: MIT

// The same as hello.c, as C++ sees it.

#include <jalloc/jalloc.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

static int use(jhandle_t *handle) {
    constexpr int count = 1000;
    double sum = 0;
    JALLOC_BORROW(ws, handle, count * sizeof(double), count * sizeof(double));
    if (!ws.ok)
        return 1;
    double *x = static_cast<double *>(ws.ptr[0]), *y = static_cast<double *>(ws.ptr[1]);
    std::iota(x, x + count, 0.0);
    std::fill_n(y, count, 2.0);
#if HAVE_JBLAS
    if (jstatus_is_error(jblas_ddot(handle, count, x, 1, y, 1, &sum)))
        return 2;
#else
    sum = std::inner_product(x, x + count, y, 0.0);
#endif
    std::printf("jalloc %s: %.0f\n", jalloc_version_string(), sum);
    return sum == (count - 1.0) * count ? 0 : 3;
}

int main() {
    jhandle_t *handle = nullptr;
    if (jalloc_version() != JALLOC_VERSION || jhandle_create(nullptr, &handle) != JSTATUS_SUCCESS)
        return 4;
    const int result = use(handle);
    return jhandle_destroy(handle) == JSTATUS_SUCCESS ? result : 5;
}
