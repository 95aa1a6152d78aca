/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_DROPIN_CALL_H
#define JALLOC_CLIENTS_GTEST_DROPIN_CALL_H

/* Calls of BLAS by name, for whoever has a table of signatures instead of a header.
 *
 * Arguments are kept as the ABI passes them: integers and pointers one after the other in registers
 * of their own and on the stack, real numbers in the vector registers (System V ABI, AMD64 3.2.3;
 * AAPCS64 6.8.2). So a call with
 * seventeen integers and four doubles is any call of BLAS, and of what there is of LAPACK. */

#include <stdint.h>

#define DROPIN_MOST_WORDS 17
#define DROPIN_MOST_REALS 4

typedef struct dropin_arguments {
    int words, reals;
    intptr_t word[DROPIN_MOST_WORDS];
    double real[DROPIN_MOST_REALS]; /* a float lies in the low half */
} dropin_arguments_t;

typedef enum {
    DROPIN_NOTHING,
    DROPIN_FLOAT,
    DROPIN_DOUBLE,
    DROPIN_FLOAT_COMPLEX,
    DROPIN_DOUBLE_COMPLEX,
    DROPIN_INT,
    DROPIN_SIZE
} dropin_result_t;

/* Calls `function`; `result` gets up to 16 bytes. */
void dropin_call(void *function, const dropin_arguments_t *arguments, dropin_result_t kind,
                 void *result);

#endif
