/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* cblas_xerbla, the same for CBLAS; a file of its own for the same reason. Who calls it numbers
 * arguments as Fortran's routine does that computes a row-major call; what is printed numbers them
 * as the program's call does. It returns, where the reference's ends the process. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dropin/dropin.h"

int JI_GLOBAL(CBLAS_CallFromC), JI_GLOBAL(RowMajorStrg);

/* Pairs of arguments that a row-major call has the other way round. The first family whose text is
 * in the name counts. */
static const struct {
    const char *family;
    int pairs[2][2];
} swapped_arguments[] = {
    {"gemm", {{4, 5}, {9, 11}}}, {"symm", {{4, 5}}},        {"hemm", {{4, 5}}},
    {"trmm", {{6, 7}}},          {"trsm", {{6, 7}}},        {"gemv", {{3, 4}}},
    {"gbmv", {{3, 4}, {5, 6}}},  {"ger", {{2, 3}, {6, 8}}}, {"her2k", {{0}}},
    {"her2", {{6, 8}}},          {"hpr2", {{6, 8}}},
};

static blas_int_t number_in_call(blas_int_t info, const char *name) {
    for (size_t i = 0; i < sizeof swapped_arguments / sizeof *swapped_arguments; i++) {
        if (strstr(name, swapped_arguments[i].family) == NULL)
            continue;
        for (int pair = 0; pair < 2; pair++) {
            const int *numbers = swapped_arguments[i].pairs[pair];
            if (numbers[0] != 0 && (info == numbers[0] || info == numbers[1]))
                return numbers[0] + numbers[1] - info;
        }
        break;
    }
    return info;
}

void JI_CBLAS(xerbla)(blas_int_t info, const char *name, const char *format, ...) {
    if (JI_GLOBAL(RowMajorStrg))
        info = number_in_call(info, name);
    if (info != 0)
        fprintf(stderr, "Parameter %lld to routine %s was incorrect\n", (long long)info, name);

    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}
