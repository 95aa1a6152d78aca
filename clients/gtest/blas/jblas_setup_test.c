/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the first call on the host decides: what computes, and by which kernels. Each test is a
 * child that has not decided yet. Which libraries can be loaded is check_guest.py's. */

#include <stdlib.h>
#include <string.h>

#include "blas/guest/cblas.h"
#include "blas/kernels/kernels.h"
#include "blas/routine/setup.h"
#include "jalloc/jalloc.h"
#include "jtest.h"

static jstatus_t first_call(jhandle_t *handle) {
    double x = 1;
    jstatus_t status = jblas_dscal(handle, 1, &(double){2}, &x, 1);
    JEXPECT_EQ(x, status == JSTATUS_SUCCESS ? 2.0 : 1.0);
    return status;
}

/* ---- What is not to be had ---- */

typedef struct refusal {
    const char *name, *value, *message;
} refusal_t;

/* A handle that was made before the variable was wrong: the call refuses, every one, until it is
 * mended, and so do those who ask. */
static void refuse_until_mended(void *argument) {
    const refusal_t *refusal = argument;
    const char *name = "untouched";
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    atomic_store(&ji_host_ready, false);
    setenv(refusal->name, refusal->value, 1);
    for (int call = 0; call < 2; call++) {
        JEXPECT_STATUS(first_call(handle), JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_SUBSTR(jhandle_last_message(handle), refusal->message);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "jblas_dscal: ");
        JEXPECT_STATUS(jblas_get_host_blas(&name), JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_STATUS(jblas_get_host_isa(&name), JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_STREQ(name, "untouched");
    }
    unsetenv(refusal->name);
    JEXPECT_OK(first_call(handle));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasSetUp, WhatIsNotUnderstoodIsRefusedUntilItIsMended) {
    refusal_t refusals[] = {
        {"JALLOC_HOST_BLAS", "mine", "\"mine\" is not understood: expected one of"},
        {"JALLOC_HOST_ISA", "sse9", "\"sse9\" is not understood: expected one of"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        jtest_in_child(60, refuse_until_mended, &refusals[i]);
}

JTEST(JblasSetUp, KernelsThatTheProcessorLacksAreRefused) {
    static const char *const names[] = {"avx512", "avx2"};
    int lacking = 0;
    for (int i = 0; i < 2; i++) {
        const ji_kernel_set_t *set = NULL;
        for (size_t k = 0; (set = ji_kernel_set_at(k)) != NULL && strcmp(set->name, names[i]) != 0;)
            k++;
        if (set != NULL && ji_kernel_set_is_here(set))
            continue;
        refusal_t refusal = {"JALLOC_HOST_ISA", names[i],
                             "this processor cannot run these kernels"};
        jtest_in_child(60, refuse_until_mended, &refusal);
        ++lacking;
    }
    if (lacking == 0)
        JSKIP("this processor has all");
}

/* ---- What is ---- */

static void takes_kernels(void *argument) {
    const ji_kernel_set_t *set = argument;
    const char *isa = NULL;
    jhandle_t *handle = NULL;
    atomic_store(&ji_host_ready, false);
    setenv("JALLOC_HOST_ISA", set->name, 1);
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(first_call(handle));
    JEXPECT_OK(jblas_get_host_isa(&isa));
    JEXPECT_STREQ(isa, set->name);
    JEXPECT_TRUE(ji_kernels == set);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasSetUp, EachSetOfKernelsCanBeForced) {
    ji_kernel_set_t *set;
    for (size_t i = 0; (set = ji_unconst(ji_kernel_set_at(i))) != NULL; i++)
        if (ji_kernel_set_is_here(set))
            jtest_in_child(60, takes_kernels, set);
}

static void takes_cblas(void *argument) {
    (void)argument;
    const char *blas = NULL;
    jhandle_t *handle = NULL;
    atomic_store(&ji_host_ready, false);
    setenv("JALLOC_HOST_BLAS", "cblas", 1);
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(first_call(handle));
    JEXPECT_OK(jblas_get_host_blas(&blas));
    JEXPECT_STREQ(blas, "cblas");
#define IS_OF_GUEST(enumerator, function)                                                          \
    JEXPECT_TRUE(ji_host_primitives[JI_##enumerator] == ji_guest_##function);
    JI_GUEST_PRIMITIVE_LIST(IS_OF_GUEST)
#undef IS_OF_GUEST
    const int64_t most = jblas_cblas_int_bits() == 32 ? INT32_MAX : INT64_MAX;
    JEXPECT_EQ(ji_blas_int_max, most);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(JblasSetUp, TheGuestComputesWhereItIsToldTo) {
    if (jblas_cblas_int_bits() == 0)
        JSKIP("there is no CBLAS");
    jtest_in_child(60, takes_cblas, NULL);
}

JTEST(JblasSetUp, NullIsRefused) {
    JEXPECT_STATUS(jblas_get_host_blas(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jblas_get_host_isa(NULL), JSTATUS_INVALID_POINTER);
}
