/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The layers of call logging: a bench line says all of a call that jblas-bench needs to run it
 * again, a trace line the pointers as well, and the profile counts calls by routine and shape. */

#include "comma_locale.h"
#include "jblas_routines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jalloc/borrow.h"
#include "jalloc/log.h"
#include "pretend_gpu.h"

/* Whether the text has the option as a word of its own. */
static bool has_option(const char *text, const char *option) {
    const size_t length = strlen(option);
    for (const char *at = strstr(text, option); at; at = strstr(at + 1, option))
        if ((at == text || at[-1] == ' ') &&
            (at[length] == ' ' || at[length] == '\n' || at[length] == 0))
            return true;
    return false;
}

/* The option that jblas-bench has for a letter of the signature; "" where there is none. */
static void option_of(const blas_case_t *c, char letter, char *option, size_t bytes) {
    const blas_operand_t *o = letter >= 'x' ? &c->operand[letter - 'x'] : NULL;
    /* Of syrk, herk and dgmm, not of syrkx and herkx, the second matrix is C. */
    const bool rank =
        strncmp(c->function->routine->name, "dgmm", 4) == 0 ||
        (c->operand[2].kind == BLAS_NONE && (strncmp(c->function->routine->name, "syrk", 4) == 0 ||
                                             strncmp(c->function->routine->name, "herk", 4) == 0));
    int matrices = 0, vectors = 0;
    for (int which = 0; o && which < letter - 'x'; ++which) {
        matrices += c->operand[which].kind == BLAS_MATRIX;
        vectors += c->operand[which].kind == BLAS_VECTOR;
    }
    *option = 0;
    switch (letter) {
    case 'S': snprintf(option, bytes, "--side %c", c->side == JBLAS_LEFT ? 'L' : 'R'); break;
    case 'T': snprintf(option, bytes, "--transA %c", "NTCR"[c->transa - JBLAS_NO_TRANSPOSE]); break;
    case 'V': snprintf(option, bytes, "--transB %c", "NTCR"[c->transb - JBLAS_NO_TRANSPOSE]); break;
    case 'U': snprintf(option, bytes, "--uplo %c", c->uplo == JBLAS_UPPER ? 'U' : 'L'); break;
    case 'D': snprintf(option, bytes, "--diag %c", c->diag == JBLAS_UNIT ? 'U' : 'N'); break;
    case 'E': snprintf(option, bytes, "--compute_type %s", jdatatype_name(c->compute_type)); break;
    case 'R': snprintf(option, bytes, "--cs_type %s", jdatatype_name(c->cs_type)); break;
    case 'F':
    case 'G':
    case 'H':
        snprintf(option, bytes, "--%c_type %s",
                 (c->operand[0].kind == BLAS_VECTOR ? 'x' : 'a') + letter - 'F',
                 jdatatype_name(c->types[letter - 'F']));
        break;
    case 'm': snprintf(option, bytes, "-m %ld", (long)c->m); break;
    case 'n': snprintf(option, bytes, "-n %ld", (long)c->n); break;
    case 'k':
        snprintf(option, bytes, "%s %ld",
                 blas_has(c, 'l')                                       ? "--kl"
                 : strncmp(c->function->routine->name, "potrs", 5) == 0 ? "--nrhs"
                                                                        : "-k",
                 (long)c->k);
        break;
    case 'l': snprintf(option, bytes, "--ku %ld", (long)c->ku); break;
    case 'b': snprintf(option, bytes, "--batch_count %ld", (long)c->batch_count); break;
    case 'p':
    case 'q':
    case 's':
    case 't':
    case 'u': {
        const int which = (int)(strchr(BLAS_STRIDES, letter) - BLAS_STRIDES);
        if (c->operand[which].kind == BLAS_NUMBER) {
            static const char *const names[] = {"a", "b", "c", "s", "param"};
            snprintf(option, bytes, "--stride_%s %ld", names[which],
                     (long)c->operand[which].stride);
            break;
        }
        /* A packed triangle is AP, or BP beside A. */
        int before =
            c->operand[which].kind == BLAS_PACKED && c->operand[which ^ 1].kind == BLAS_MATRIX;
        for (int other = 0; other < which; ++other)
            before += c->operand[other].kind == c->operand[which].kind;
        snprintf(option, bytes, "--stride_%c %ld",
                 c->operand[which].kind == BLAS_VECTOR ? 'x' + before
                 : rank && c->operand[which].written   ? 'c'
                                                       : 'a' + before,
                 (long)c->operand[which].stride);
        break;
    }
    case 'Y': snprintf(option, bytes, "--ldb %ld", (long)c->operand[0].later.ld); break;
    case 'x':
    case 'y':
    case 'z':
        if (o->kind == BLAS_VECTOR)
            snprintf(option, bytes, "--inc%c %ld", 'x' + vectors, (long)o->ld);
        else
            snprintf(option, bytes, "--ld%c %ld", 'a' + (rank && matrices == 1 ? 2 : matrices),
                     (long)o->ld);
        break;
    default: break;
    }
}

JTEST_EACH_FUNCTION(JblasLog, BenchLineSaysTheWholeCall) {
    jhandle_t *handle = NULL;
    char option[64];
    jtest_setenv("JALLOC_LAYER", "2");
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = jtest_iterations(3); round > 0; --round) {
        BLAS_CASE(c, param, .low = 2, .high = 30);
        jtest_log_clear();
        JEXPECT_OK(blas_call(handle, c));
        const char *line = jtest_log_text();
        JSCOPED_TRACE("%s: %s", blas_describe(c), line);
        JEXPECT_EQ(jtest_log_count(), 1);
        JEXPECT_SUBSTR(line, "jblas-bench -f ");
        snprintf(option, sizeof option, "-r %c", "sdczhb."[param->type]);
        JEXPECT_EQ(has_option(line, option), param->type != JI_TYPE_x);
        for (const char *letter = param->routine->signature; *letter; ++letter) {
            option_of(c, *letter, option, sizeof option);
            if (*option && !has_option(line, option))
                JFAIL("%s is missing", option);
        }
        const bool rotates = strncmp(param->routine->name, "rot", 3) == 0;
        if (blas_has(c, 'a') || blas_has(c, 'A'))
            JEXPECT_SUBSTR(line, rotates ? "--c " : "--alpha ");
        if (blas_has(c, 'c') || blas_has(c, 'C'))
            JEXPECT_SUBSTR(line, rotates ? "--s " : "--beta ");
        if (blas_has(c, 'P'))
            JEXPECT_SUBSTR(line, "--param ");
        blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST_EACH_FUNCTION(JblasLog, TraceLineNamesTheFunctionAndItsPointers) {
    jhandle_t *handle = NULL;
    char pointer[32];
    jtest_setenv("JALLOC_LAYER", "1");
    JASSERT_OK(jhandle_create(NULL, &handle));
    BLAS_CASE(c, param, .low = 2, .high = 9);
    jtest_log_clear();
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_SUBSTR(jtest_log_text(), param->name);
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        if (c->operand[which].kind != BLAS_NONE) {
            snprintf(pointer, sizeof pointer, "%p", c->pointer[which]);
            JEXPECT_SUBSTR(jtest_log_text(), pointer);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What the call is refused for stands in its line, too: enumerators that are none, pointers that
 * are NULL. It did no work, so the profile does not count it. */
JTEST(JblasLog, ARefusedCallIsLoggedAsItWas) {
    jhandle_t *handle = NULL;
    jtest_setenv("JALLOC_LAYER", "6");
    JASSERT_OK(jhandle_create(NULL, &handle));
    jlog_profile_flush();
    double a = 1, b = 1, one = 1;
    jtest_log_clear();
    JEXPECT_STATUS(jblas_dtrsm(handle, (jblas_side_t)78, JBLAS_LOWER, JBLAS_NO_TRANSPOSE,
                               JBLAS_UNIT, 1, 1, &one, &a, 1, &b, 1),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jtest_log_text(), "--side 78 --uplo L ");
    jtest_log_clear();
    JEXPECT_STATUS(jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_UNIT, 1,
                               1, &one, NULL, 1, &b, 1),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jtest_log_text(), "--null A ");
    jtest_log_clear();
    jlog_profile_flush();
    JEXPECT_TRUE(strstr(jtest_log_text(), "trsm") == NULL);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What the handle is like: its device, and what is borrowed of its workspace. */
JTEST(JblasLog, BenchLineSaysWhatTheHandleIsLike) {
    jhandle_t *handle = NULL;
    jborrow_t borrow;
    double x = 1, two = 2;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jtest_setenv("JALLOC_LAYER", "2");
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jborrow_begin(&borrow, handle, "a test", 1, (const size_t[]){100}));
    jtest_log_clear();
    JEXPECT_OK(jblas_dscal(handle, 1, &two, &x, 1));
    JEXPECT_SUBSTR(jtest_log_text(), " --borrowed 128 ");
    JEXPECT_TRUE(strstr(jtest_log_text(), "--device") == NULL);
    JEXPECT_OK(jborrow_end(&borrow));
    JEXPECT_OK(jhandle_destroy(handle));
    options.device = &pretend_gpu_make()->device;
    JASSERT_OK(jhandle_create(&options, &handle));
    jtest_log_clear();
    /* It has no BLAS. */
    JEXPECT_STATUS(jblas_dscal(handle, 1, &two, &x, 1), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_SUBSTR(jtest_log_text(), " --device pretended --mode default ");
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Handles have numbers in the order in which they are made, and a call's line has its handle's. One
 * that could not be made has none. */
JTEST(JblasLog, BenchLineSaysWhichHandleItWas) {
    jhandle_t *handles[2] = {NULL, NULL};
    long numbers[3] = {0, 0, 0};
    double x = 1, two = 2;
    jtest_setenv("JALLOC_LAYER", "2");
    JASSERT_OK(jhandle_create(NULL, &handles[0]));
    jhandle_options_t impossible = JHANDLE_OPTIONS_INIT;
    impossible.preallocate_bytes = SIZE_MAX / 2;
    JEXPECT_TRUE(jstatus_is_error(jhandle_create(&impossible, &handles[1])));
    JASSERT_OK(jhandle_create(NULL, &handles[1]));
    for (int call = 0; call < 3; ++call) {
        jtest_log_clear();
        JEXPECT_OK(jblas_dscal(handles[call == 1], 1, &two, &x, 1));
        const char *option = strstr(jtest_log_text(), " --handle ");
        JASSERT_TRUE(option != NULL);
        JASSERT_EQ(sscanf(option, " --handle %ld --mode default ", &numbers[call]), 1);
    }
    JEXPECT_GE(numbers[0], 1);
    JEXPECT_EQ(numbers[1], numbers[0] + 1);
    JEXPECT_EQ(numbers[2], numbers[0]);
    JEXPECT_OK(jhandle_destroy(handles[0]));
    JEXPECT_OK(jhandle_destroy(handles[1]));
}

/* A line that cannot be written is empty, and the call is as ever. */
JTEST(JblasLog, ALineThatCannotBeWrittenIsLeftOut) {
    jhandle_t *handle = NULL;
    double x = 1, two = 2;
    jtest_setenv("JALLOC_LAYER", "2");
    JASSERT_OK(jhandle_create(NULL, &handle));
    jtest_log_clear();
    jtest_fail_calls("vsnprintf", 1, 1000, 0);
    JEXPECT_OK(jblas_dscal(handle, 1, &two, &x, 1));
    jtest_fail_calls("vsnprintf", 1, 0, 0);
    JEXPECT_EQ(x, 2.0);
    JEXPECT_TRUE(strstr(jtest_log_text(), "-f scal") == NULL);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Without layers nothing is logged. */
JTEST(JblasLog, SilentUnlessAsked) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    BLAS_CASE(c, &blas_functions[BLAS_INDEX_dtrsm], .low = 2, .high = 40);
    jtest_log_clear();
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_EQ(jtest_log_count(), 0);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Rows of the profile: one for each routine and shape, with the number of calls and of those below
 * rung 0. */
JTEST(JblasLog, ProfileCountsCallsByShape) {
    jhandle_t *handle = NULL;
    jtest_setenv("JALLOC_LAYER", "4");
    JASSERT_OK(jhandle_create(NULL, &handle));
    jlog_profile_flush(); /* whatever tests before this left */
    BLAS_CASE(solve, &blas_functions[BLAS_INDEX_dtrsm], .low = 60, .high = 60);
    BLAS_CASE(product, &blas_functions[BLAS_INDEX_sgemm], .low = 11, .high = 11);
    for (int i = 0; i < 3; ++i)
        JEXPECT_OK(blas_call(handle, solve));
    JEXPECT_OK(blas_call(handle, product));
    jtest_log_clear();
    jlog_profile_flush();
    const char *table = jtest_log_text();
    JEXPECT_SUBSTR(table, "trsm");
    JEXPECT_SUBSTR(table, "gemm");
    JEXPECT_GE(jtest_log_count(), 2);
    jtest_log_clear();
    jlog_profile_flush(); /* emptied */
    JEXPECT_TRUE(strstr(jtest_log_text(), "trsm") == NULL);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A line and a profile are read by others, who read numbers as C writes them. */
JTEST(JblasLog, NumbersAreCsInAnyLocale) {
    jhandle_t *handle = NULL;
    double d[4] = {1, 2, 3, 4}, half[2] = {0.5, 1.5};
    if (!comma_locale_begin())
        JSKIP("no locale with a decimal comma");
    jtest_setenv("JALLOC_LAYER", "7"); /* all of them */
    JASSERT_OK(jhandle_create(NULL, &handle));
    jlog_profile_flush(); /* whatever tests before this left */
    jtest_log_clear();
    JEXPECT_OK(jblas_dscal(handle, 4, half, d, 1));
    JEXPECT_OK(
        jblas_zscal(handle, 2, (jcomplex_f64_t *)(void *)half, (jcomplex_f64_t *)(void *)d, 1));
    JEXPECT_SUBSTR(jtest_log_text(), "alpha=0.5,");
    JEXPECT_SUBSTR(jtest_log_text(), "--alpha 0.5 ");
    JEXPECT_SUBSTR(jtest_log_text(), "--alpha 0.5,1.5 ");
    jtest_log_clear();
    jlog_profile_flush();
    JEXPECT_TRUE(strstr(jtest_log_text(), "scal") != NULL);
    JEXPECT_TRUE(strchr(jtest_log_text(), ',') == NULL ||
                 strstr(jtest_log_text(), ",") > strstr(jtest_log_text(), "scal"));
    comma_locale_end();
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A scalar on the device that the call reads later, in stream order, has no value yet: the line
 * does not make one up. */
JTEST(JblasLog, BenchLineSaysWhichScalarsItCannotKnow) {
    jhandle_t *handle = NULL;
    jstream_t *stream = NULL;
    jtest_setenv("JALLOC_LAYER", "2");
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jstream_create(jhandle_device(handle), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    BLAS_CASE(c, &blas_functions[BLAS_INDEX_dgemv], .low = 5, .high = 5);
    double alpha = -0.0, beta = INFINITY;
    c->pointer[BLAS_ALPHA] = &alpha, c->pointer[BLAS_BETA] = &beta;

    jtest_log_clear(); /* in host pointer mode they are read at once */
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_SUBSTR(jtest_log_text(), "--alpha -0 ");
    JEXPECT_SUBSTR(jtest_log_text(), "--beta inf ");
    JEXPECT_SUBSTR(jtest_log_text(), "--pointer_mode host\n");

    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    jtest_log_clear();
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_SUBSTR(jtest_log_text(), "--alpha device ");
    JEXPECT_SUBSTR(jtest_log_text(), "--beta device ");
    JEXPECT_SUBSTR(jtest_log_text(), "--pointer_mode device\n");

    JEXPECT_OK(jstream_synchronize(jhandle_device(handle), stream)); /* y is the next call's, too */
    JEXPECT_OK(jhandle_set_stream(handle, NULL));
    jtest_log_clear();
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_SUBSTR(jtest_log_text(), "--alpha -0 ");
    c->pointer[BLAS_ALPHA] = NULL;
    jtest_log_clear();
    JEXPECT_STATUS(blas_call(handle, c), JSTATUS_INVALID_POINTER);
    JEXPECT_SUBSTR(jtest_log_text(), "--alpha null ");
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}
