/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The order of checks in every entry: handle, enums, sizes, size query, quick return, pointers. The
 * faults of a call are made from its signature, one letter each, so no routine is forgotten. */

#include "jblas_routines.h"

#include <stdio.h>
#include <string.h>

/* Makes the argument wrong; what the entry must say, or success when the argument cannot be
 * wrong. */
static jstatus_t break_argument(blas_case_t *c, char letter) {
    const bool any = c->function->routine->operations == BLAS_ANY_OPERATION;
    const int above = any ? JBLAS_CONJUGATE + 1 : JBLAS_CONJUGATE;
    const int enums[] = {0, -1, 110, above, 120, 123, 130, 133, 140, 143, 999999};
    const int wrong = enums[jtest_random_between(0, sizeof enums / sizeof *enums - 1)];
    const int64_t negative = jtest_random_bool() ? -1 : -jtest_random_between(1, INT64_MAX);
    switch (letter) {
    case 'S': c->side = (jblas_side_t)wrong; return JSTATUS_INVALID_VALUE;
    case 'T': c->transa = (jblas_operation_t)wrong; return JSTATUS_INVALID_VALUE;
    case 'V': c->transb = (jblas_operation_t)wrong; return JSTATUS_INVALID_VALUE;
    case 'U': c->uplo = (jblas_uplo_t)wrong; return JSTATUS_INVALID_VALUE;
    case 'D': c->diag = (jblas_diagonal_t)wrong; return JSTATUS_INVALID_VALUE;
    case 'E':
    case 'F':
    case 'G':
    case 'H':
        *(letter == 'E' ? &c->compute_type : &c->types[letter - 'F']) =
            (jdatatype_t)(jtest_random_bool() ? -1 : jtest_random_between(8, INT32_MAX));
        return JSTATUS_INVALID_VALUE;
    case 'R': c->cs_type = (jdatatype_t)8; return JSTATUS_INVALID_VALUE;
    case 'm': c->m = negative; return JSTATUS_INVALID_SIZE;
    case 'n':
        c->n = negative;
        return c->function->routine->level == 1 ? JSTATUS_SUCCESS : JSTATUS_INVALID_SIZE;
    case 'k': c->k = negative; return JSTATUS_INVALID_SIZE;
    case 'l': c->ku = negative; return JSTATUS_INVALID_SIZE;
    case 'b': c->batch_count = negative; return JSTATUS_INVALID_SIZE;
    case 'x':
    case 'y':
    case 'z': {
        blas_operand_t *o = &c->operand[letter - 'x'];
        if (o->kind == BLAS_VECTOR && blas_takes_any_increment(c))
            return JSTATUS_SUCCESS;
        o->ld = o->kind == BLAS_VECTOR ? 0 : jtest_random_bool() ? o->height - 1 : 0;
        return JSTATUS_INVALID_SIZE;
    }
    case 'Y':
        c->operand[0].later.ld = jtest_random_bool() ? c->operand[0].later.rows - 1 : 0;
        return JSTATUS_INVALID_SIZE;
    case 'p':
    case 'q':
    case 's':
    case 't':
    case 'u': {
        blas_operand_t *o = &c->operand[strchr(BLAS_STRIDES, letter) - BLAS_STRIDES];
        const bool is_empty = o->kind == BLAS_VECTOR && c->n < 0;
        if (!o->written || (c->function->routine->level == 1 && is_empty))
            return JSTATUS_SUCCESS;
        o->stride = o->kind == BLAS_NUMBER ? 0 : 1; /* there are at least 2 elements */
        return JSTATUS_INVALID_SIZE;
    }
    case '0':
    case '1':
    case '2':
    case '3':
    case '4': c->pointer[letter - '0'] = NULL; return JSTATUS_INVALID_POINTER;
    case 'a':
    case 'A':
    case 'P': c->pointer[BLAS_ALPHA] = NULL; return JSTATUS_INVALID_POINTER;
    case 'c':
    case 'C': c->pointer[BLAS_BETA] = NULL; return JSTATUS_INVALID_POINTER;
    default: return JSTATUS_SUCCESS;
    }
}

/* Which of two faults is answered. */
static jstatus_t first_of(jstatus_t a, jstatus_t b) {
    static const jstatus_t order[] = {JSTATUS_INVALID_VALUE, JSTATUS_INVALID_SIZE,
                                      JSTATUS_INVALID_POINTER};
    for (size_t i = 0; i < 3; ++i)
        if (a == order[i] || b == order[i])
            return order[i];
    return JSTATUS_SUCCESS;
}

/* What the handle says of the argument that it refused: the number is its place in the signature,
 * and the message names it by the same name. */
static void expect_refused(jhandle_t *handle, const blas_function_t *function, int number) {
    const char *routine = NULL, *name = NULL;
    int actual = 0;
    char named[40];
    JASSERT_OK(jhandle_get_refused_argument(handle, &routine, &name, &actual));
    JEXPECT_STREQ(routine, function->name);
    JEXPECT_EQ(actual, number);
    snprintf(named, sizeof named, "%s: %s ", function->name, name);
    JEXPECT_SUBSTR(jhandle_last_message(handle), named);
}

/* The sizes are at least 2, so that every leading dimension can be too small and every pointer is
 * needed (and increments are 1: scal leaves a vector with a negative one alone). */
JTEST_EACH_FUNCTION(JblasChecks, EachFaultIsNamed) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (const char *letter = param->routine->signature; *letter; ++letter) {
        BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true, .tight = true);
        const jstatus_t expected = break_argument(c, *letter);
        if (expected == JSTATUS_SUCCESS)
            continue;
        JSCOPED_TRACE("%s with a wrong '%c'", param->name, *letter);
        JEXPECT_STATUS(blas_call(handle, c), expected);
        JEXPECT_SUBSTR(jhandle_last_message(handle), param->name);
        expect_refused(handle, param, (int)(letter - param->routine->signature) + 1);
        blas_unchanged(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* So many items that their arrays of pointers, or their results, would be more than memory. */
JTEST_EACH_FUNCTION(JblasChecks, BatchesBeyondMemoryAreRefused) {
    static const int64_t counts[] = {INT64_MAX, INT64_MAX / 8, INT64_MAX / 16 + 1};
    if (strchr(param->routine->signature, 'b') == NULL)
        return;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true, .tight = true);
        c->batch_count = counts[i];
        JSCOPED_TRACE("%s with %lld items", param->name, (long long)counts[i]);
        JEXPECT_STATUS(blas_call(handle, c), JSTATUS_INVALID_SIZE);
        JEXPECT_SUBSTR(jhandle_last_message(handle), "is more than memory can hold");
        if (strpbrk(param->routine->signature, BLAS_STRIDES) == NULL)
            expect_refused(handle, param, (int)strlen(param->routine->signature));
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_STATUS(blas_call(handle, c), JSTATUS_INVALID_SIZE);
        size_t bytes;
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        blas_unchanged(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A success leaves the answer, another error takes it away, and so does one of another routine put
 * its own there. */
JTEST(JblasChecks, TheRefusedArgumentGoesWithTheLastMessage) {
    jhandle_t *handle = NULL;
    const char *routine = "none", *name = "none";
    int number = -1;
    double a[4] = {4, 0, 0, 4}, one = 1;
    int64_t info;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_STATUS(jhandle_get_refused_argument(handle, &routine, &name, &number),
                   JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jhandle_get_refused_argument(NULL, &routine, &name, &number),
                   JSTATUS_INVALID_HANDLE);
    JEXPECT_EQ(number, -1);
    JEXPECT_STREQ(name, "none");
    JEXPECT_STATUS(jlapack_dpotrf(handle, JBLAS_UPPER, 2, a, 1, &info), JSTATUS_INVALID_SIZE);
    for (int i = 0; i < 2; ++i) {
        JEXPECT_OK(jhandle_get_refused_argument(handle, &routine, &name, &number));
        JEXPECT_STREQ(routine, "jlapack_dpotrf");
        JEXPECT_STREQ(name, "lda");
        JEXPECT_EQ(number, 4);
        JEXPECT_OK(jlapack_dpotrf(handle, JBLAS_UPPER, 2, a, 2, &info));
    }
    JEXPECT_OK(jhandle_get_refused_argument(handle, NULL, NULL, NULL));
    JEXPECT_STATUS(jblas_dtrsm(handle, (jblas_side_t)0, JBLAS_UPPER, JBLAS_NO_TRANSPOSE, JBLAS_UNIT,
                               2, 2, &one, a, 2, a, 2),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jhandle_get_refused_argument(handle, &routine, NULL, &number));
    JEXPECT_STREQ(routine, "jblas_dtrsm");
    JEXPECT_EQ(number, 1);
    JEXPECT_STATUS(jhandle_set_budget(handle, JALLOC_UNLIMITED), JSTATUS_SUCCESS);
    /* Not of a routine. */
    JEXPECT_STATUS(jhandle_get_budget(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jhandle_get_refused_argument(handle, &routine, &name, &number),
                   JSTATUS_NOT_FOUND);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A number that is no enumerator is answered with those there are. */
JTEST(JblasChecks, ARefusedEnumeratorIsAnsweredWithThoseThereAre) {
    static const char *const said[] = {
        "side = 78: must be JBLAS_LEFT (141) or JBLAS_RIGHT (142)",
        "uplo = 78: must be JBLAS_UPPER (121) or JBLAS_LOWER (122)",
        ("trans = 78: must be JBLAS_NO_TRANSPOSE (111), JBLAS_TRANSPOSE (112), "
         "JBLAS_CONJUGATE_TRANSPOSE (113) or JBLAS_CONJUGATE (114)"),
        "diag = 78: must be JBLAS_NON_UNIT (131) or JBLAS_UNIT (132)",
    };
    jhandle_t *handle;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int wrong = 0; wrong < 4; ++wrong) {
        double one = 1, a = 1, b = 1;
        JEXPECT_STATUS(jblas_dtrsm(handle, wrong == 0 ? (jblas_side_t)78 : JBLAS_LEFT,
                                   wrong == 1 ? (jblas_uplo_t)78 : JBLAS_LOWER,
                                   wrong == 2 ? (jblas_operation_t)78 : JBLAS_NO_TRANSPOSE,
                                   wrong == 3 ? (jblas_diagonal_t)78 : JBLAS_UNIT, 1, 1, &one, &a,
                                   1, &b, 1),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jhandle_last_message(handle), said[wrong]);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST_EACH_FUNCTION(JblasChecks, FirstOfSeveralFaultsIsAnswered) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t i = jtest_iterations(20); i > 0 && !jtest_has_failure(); --i) {
        BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true, .tight = true);
        jstatus_t expected = JSTATUS_SUCCESS;
        char faults[32] = "";
        for (const char *letter = param->routine->signature; *letter; ++letter)
            if (jtest_random_between(0, 3) == 0) {
                expected = first_of(expected, break_argument(c, *letter));
                faults[strlen(faults)] = *letter;
            }
        if (c->n < 0 && expected == JSTATUS_INVALID_POINTER)
            continue; /* a vector without elements: which pointers are looked at is not said */
        JSCOPED_TRACE("%s with wrong \"%s\"", param->name, faults);
        JEXPECT_STATUS(blas_call(NULL, c), JSTATUS_INVALID_HANDLE); /* before everything else */
        if (expected != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(blas_call(handle, c), expected);
            blas_unchanged(c);
        }
        /* A query looks at enums and sizes, not at operands. */
        size_t bytes;
        JEXPECT_OK(jhandle_start_size_query(handle));
        const jstatus_t answer = blas_call(handle, c);
        if (expected == JSTATUS_SUCCESS || expected == JSTATUS_INVALID_POINTER)
            JEXPECT_TRUE(answer == JSTATUS_SIZE_INCREASED || answer == JSTATUS_SIZE_UNCHANGED);
        else
            JEXPECT_STATUS(answer, expected);
        JEXPECT_TRUE(jhandle_is_size_query(handle));
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        blas_unchanged(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST_EACH_FUNCTION(JblasChecks, WhatIsNoHandleIsRefused) {
    static uint64_t zeros[1024];
    BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true, .tight = true);
    JEXPECT_STATUS(blas_call(NULL, c), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(blas_call((jhandle_t *)(void *)zeros, c), JSTATUS_INVALID_HANDLE);
    JEXPECT_SUBSTR(jstatus_last_message(), param->name);
    blas_unchanged(c);
}

/* With nothing to do no operand is looked at; a result is still written, so it must be there, if
 * there is an item that has one. */
JTEST_EACH_FUNCTION(JblasChecks, NothingToDoTakesNullOperands) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (const char *letter = "mnb"; *letter; ++letter) {
        BLAS_CASE(c, param, .low = 2, .high = 9, .plain = true, .tight = true);
        if (!blas_has(c, *letter))
            continue;
        /* m of gemv: y is scaled all the same, and the solvers' right-hand sides are counted by
         * k */
        *(*letter == 'm' ? &c->m : *letter == 'n' ? &c->n : &c->batch_count) = 0;
        bool results = false;
        for (int which = 0; which < BLAS_OPERANDS; ++which)
            if (c->operand[which].kind == BLAS_RESULT && *letter != 'b')
                results = true;
            else
                c->pointer[which] = NULL;
        JSCOPED_TRACE("%s with %c = 0", param->name, *letter);
        JEXPECT_OK(blas_call(handle, c));
        for (int which = 0; which < BLAS_OPERANDS && results; ++which) {
            const blas_operand_t *o = &c->operand[which];
            if (o->kind != BLAS_RESULT)
                continue;
            /* Nothing but what sdsdot adds. */
            const wide_t rest = blas_has(c, 'a') && c->function->routine->level == 1 ? c->alpha : 0;
            JEXPECT_TRUE(wide_get(o->data, o->element, 0) == rest);
            c->pointer[which] = NULL;
            JEXPECT_STATUS(blas_call(handle, c), JSTATUS_INVALID_POINTER);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Inputs that are not read, as alpha is known to be 0, may be NULL. */
JTEST_EACH_FUNCTION(JblasChecks, UnreadOperandsMayBeNull) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    BLAS_CASE(c, param, .low = 2, .high = 9, .alpha_zero = true);
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        if (c->operand[which].unread && !c->operand[which].written)
            c->pointer[which] = NULL;
    JSCOPED_TRACE("%s", blas_describe(c));
    JEXPECT_OK(blas_call(handle, c));
    blas_right(c);
    JEXPECT_OK(jhandle_destroy(handle));
}
