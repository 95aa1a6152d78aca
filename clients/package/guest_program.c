/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A program that has a BLAS of its own, which is wrong, and calls jblas: for check_guest.py, which
 * makes that BLAS. It counts its calls in other_calls. Says what jblas computes with, and whether
 * the answers are right. */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <jalloc/jalloc.h>

#define ORDER 40

static double a[ORDER * ORDER], b[ORDER * ORDER], c[ORDER * ORDER];

/* Small integers: every product is exact. */
static double element(int i, int j) { return (i * 7 + j * 3) % 11 - 5; }

static const char *judge(jhandle_t *handle) {
    const double one = 1, zero = 0;
    jstatus_t status = jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, ORDER, ORDER,
                                   ORDER, &one, a, ORDER, b, ORDER, &zero, c, ORDER);
    if (status != JSTATUS_SUCCESS)
        return jhandle_last_message(handle);

    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++) {
            double expected = 0;
            for (int p = 0; p < ORDER; p++)
                expected += a[i + p * ORDER] * b[p + j * ORDER];
            if (c[i + j * ORDER] != expected)
                return "wrong";
        }

    double sum = 0;
    status = jblas_ddot(handle, ORDER * ORDER, a, 1, b, 1, &sum);
    for (int i = 0; i < ORDER * ORDER; i++)
        sum -= a[i] * b[i];
    return status == JSTATUS_SUCCESS && sum == 0 ? "right" : "wrong";
}

static int count_wrong_kernels(void) {
    const jblas_cblas_kernel_t *kernel;
    int wrong = 0;
    for (size_t i = 0; (kernel = jblas_cblas_kernel_at(i)) != NULL; i++)
        wrong += kernel->wrong_length != 0;
    return wrong;
}

int main(void) {
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++)
            a[i + j * ORDER] = element(i, j), b[i + j * ORDER] = element(j, i + 1);

    const char *blas = "none", *isa = "none";
    jhandle_t *handle;
    if (jhandle_create(NULL, &handle) != JSTATUS_SUCCESS) {
        printf("no handle: %s\n", jstatus_last_message());
        return 1;
    }

    const char *answer = judge(handle);
    (void)jblas_get_host_blas(&blas);
    (void)jblas_get_host_isa(&isa);
    printf("%s; blas %s, isa %s, cblas %s, %d bits, %d kernels wrong\n", answer, blas, isa,
           jblas_cblas_name(), jblas_cblas_int_bits(), count_wrong_kernels());

    const int *other_calls = dlsym(RTLD_DEFAULT, "other_calls");
    if (other_calls != NULL) {
        void (*own)(void);
        void *symbol = dlsym(RTLD_DEFAULT, "cblas_dgemm");
        memcpy(&own, &symbol, sizeof own);
        const int before = *other_calls;
        own();
        printf("other: %d calls by jblas, %d by the program\n", before, *other_calls - before);
    }

    (void)jhandle_destroy(handle);
    return strcmp(answer, "right") != 0;
}
