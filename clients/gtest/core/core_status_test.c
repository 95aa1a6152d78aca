/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What every layer stands on: the statuses and their numbers, messages, the version, element types,
 * arithmetic that says when it would overflow. The expected numbers are written out again here: a
 * test that read them from the header's list would agree with any list. */

#include "jtest.h"

#include "core/core.h"
#include "jalloc/borrow.h"
#include "jalloc/datatype.h"
#include "jalloc/version.h"

#include <complex.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct status_row {
    jstatus_t status;
    int number;
    const char *name;
    bool error;
} status_rows[] = {
    {JSTATUS_SUCCESS, 0, "JSTATUS_SUCCESS", false},
    {JSTATUS_INVALID_HANDLE, 1, "JSTATUS_INVALID_HANDLE", true},
    {JSTATUS_NOT_IMPLEMENTED, 2, "JSTATUS_NOT_IMPLEMENTED", true},
    {JSTATUS_INVALID_POINTER, 3, "JSTATUS_INVALID_POINTER", true},
    {JSTATUS_INVALID_SIZE, 4, "JSTATUS_INVALID_SIZE", true},
    {JSTATUS_MEMORY_ERROR, 5, "JSTATUS_MEMORY_ERROR", true},
    {JSTATUS_INTERNAL_ERROR, 6, "JSTATUS_INTERNAL_ERROR", true},
    {JSTATUS_PERF_DEGRADED, 7, "JSTATUS_PERF_DEGRADED", false},
    {JSTATUS_SIZE_QUERY_MISMATCH, 8, "JSTATUS_SIZE_QUERY_MISMATCH", true},
    {JSTATUS_SIZE_INCREASED, 9, "JSTATUS_SIZE_INCREASED", false},
    {JSTATUS_SIZE_UNCHANGED, 10, "JSTATUS_SIZE_UNCHANGED", false},
    {JSTATUS_INVALID_VALUE, 11, "JSTATUS_INVALID_VALUE", true},
    {JSTATUS_NO_DEVICE, 101, "JSTATUS_NO_DEVICE", true},
    {JSTATUS_DEVICE_ERROR, 102, "JSTATUS_DEVICE_ERROR", true},
    {JSTATUS_BUSY, 103, "JSTATUS_BUSY", true},
    {JSTATUS_CORRUPTED, 104, "JSTATUS_CORRUPTED", true},
    {JSTATUS_LEAKED, 105, "JSTATUS_LEAKED", true},
    {JSTATUS_EXISTS, 106, "JSTATUS_EXISTS", true},
    {JSTATUS_NOT_FOUND, 107, "JSTATUS_NOT_FOUND", true},
    {JSTATUS_PERMISSION, 108, "JSTATUS_PERMISSION", true},
    {JSTATUS_OUT_OF_ORDER, 109, "JSTATUS_OUT_OF_ORDER", true},
    {JSTATUS_SEALED, 110, "JSTATUS_SEALED", true},
    {JSTATUS_FORKED, 111, "JSTATUS_FORKED", true},
    {JSTATUS_INVALID_CONFIGURATION, 112, "JSTATUS_INVALID_CONFIGURATION", true},
    {JSTATUS_IO_ERROR, 113, "JSTATUS_IO_ERROR", true},
    {JSTATUS_CAPTURING, 114, "JSTATUS_CAPTURING", true},
    {JSTATUS_NOT_A_SEGMENT, 115, "JSTATUS_NOT_A_SEGMENT", true},
    {JSTATUS_INCOMPATIBLE, 116, "JSTATUS_INCOMPATIBLE", true},
    {JSTATUS_TRUNCATED, 117, "JSTATUS_TRUNCATED", true},
    {JSTATUS_UNSAFE, 118, "JSTATUS_UNSAFE", true},
    {JSTATUS_STALE, 119, "JSTATUS_STALE", true},
    {JSTATUS_NO_SLOT, 120, "JSTATUS_NO_SLOT", true},
    {JSTATUS_READ_ONLY, 121, "JSTATUS_READ_ONLY", true},
};
#define STATUS_COUNT (sizeof status_rows / sizeof status_rows[0])

static void status_row_name(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const struct status_row *)parameter)->name);
}
JTEST_P_NAMED(Status, NumberNameAndKind, struct status_row, status_rows, status_row_name) {
    JEXPECT_EQ(param->status, param->number);
    JEXPECT_STREQ(jstatus_name(param->status), param->name);
    JEXPECT_EQ(jstatus_is_error(param->status), param->error);
    JASSERT_NOT_NULL(jstatus_text(param->status));
    JEXPECT_GT(strlen(jstatus_text(param->status)), 3);
    for (size_t i = 0; i < STATUS_COUNT; ++i)
        if (status_rows[i].number != param->number)
            JEXPECT_NE(strcmp(jstatus_text(param->status), jstatus_text(status_rows[i].status)), 0);
}

JTEST(Status, ListIsComplete) {
#define COUNT_ONE(name, number, text) +1
    JEXPECT_EQ(0 JSTATUS_LIST(COUNT_ONE), STATUS_COUNT);
#undef COUNT_ONE
}

JTEST(Status, UnknownNumbersHaveANameToo) {
    static const int numbers[] = {-1, 12, 50, 100, 199, 1 << 30};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        JEXPECT_STREQ(jstatus_name((jstatus_t)numbers[i]), "JSTATUS_UNKNOWN");
        JEXPECT_NOT_NULL(jstatus_text((jstatus_t)numbers[i]));
        JEXPECT_TRUE(jstatus_is_error((jstatus_t)numbers[i]));
    }
}

static void *empty_message(void *argument) {
    *(bool *)argument = jstatus_last_message()[0] == '\0';
    ji_fail(JSTATUS_BUSY, "of the other thread");
    return NULL;
}
JTEST(Message, EachThreadHasItsOwn) {
    bool was_empty = false;
    pthread_t thread;
    JEXPECT_STATUS(ji_fail(JSTATUS_BUSY, "%d of %s", 3, "mine"), JSTATUS_BUSY);
    JASSERT_EQ(pthread_create(&thread, NULL, empty_message, &was_empty), 0);
    pthread_join(thread, NULL);
    JEXPECT_TRUE(was_empty);
    JEXPECT_STREQ(jstatus_last_message(), "3 of mine");
}

enum { MANY_THREADS = 100 }; /* more than there are buffers without memory */
static pthread_barrier_t all_have_failed;

static void *own_message(void *argument) {
    char expected[32];
    snprintf(expected, sizeof expected, "of thread %d", *(int *)argument);
    ji_fail(JSTATUS_BUSY, "%s", expected);
    pthread_barrier_wait(&all_have_failed);
    const char *kept = jstatus_last_message();
    *(int *)argument = strcmp(kept, expected) == 0                                    ? 1
                       : strcmp(kept, "there was no memory to keep the message") == 0 ? 2
                                                                                      : 0;
    return NULL;
}

/* Twice, so that buffers are used again; once more without bookkeeping memory: what cannot be kept
 * is said to be lost. */
JTEST(Message, ManyThreadsHaveTheirOwn) {
    for (int round = 0; round < 3; ++round) {
        pthread_t threads[MANY_THREADS];
        int numbers[MANY_THREADS], kept = 0;
        JASSERT_EQ(pthread_barrier_init(&all_have_failed, NULL, MANY_THREADS), 0);
        if (round == 2)
            jtest_fail_metadata_after(1);
        for (int i = 0; i < MANY_THREADS; ++i) {
            numbers[i] = i;
            JASSERT_EQ(pthread_create(&threads[i], NULL, own_message, &numbers[i]), 0);
        }
        for (int i = 0; i < MANY_THREADS; ++i) {
            pthread_join(threads[i], NULL);
            JEXPECT_NE(numbers[i], 0);
            kept += numbers[i] == 1;
        }
        JEXPECT_GE(kept, round == 2 ? MANY_THREADS - 1 : MANY_THREADS);
        pthread_barrier_destroy(&all_have_failed);
    }
}

static void *message_that_cannot_be_kept(void *argument) {
    jtest_fail_calls("pthread_setspecific", 1, 1, ENOMEM);
    ji_fail(JSTATUS_BUSY, "lost");
    *(bool *)argument = jtest_calls_failed();
    JEXPECT_STREQ(jstatus_last_message(), "there was no memory to keep the message");
    ji_fail(JSTATUS_BUSY, "the next");
    JEXPECT_STREQ(jstatus_last_message(), "the next");
    return NULL;
}
JTEST(Message, WithoutAPlaceInTheThreadItIsLostAndTheStatusIsNot) {
    bool failed = false;
    pthread_t thread;
    JASSERT_EQ(pthread_create(&thread, NULL, message_that_cannot_be_kept, &failed), 0);
    pthread_join(thread, NULL);
    JEXPECT_TRUE(failed);
}

JTEST(Message, ThatCannotBeMadeIsTheStatuss) {
    jtest_fail_calls("vsnprintf", 1, 1, EOVERFLOW);
    JEXPECT_STATUS(ji_fail(JSTATUS_BUSY, "%s", "no"), JSTATUS_BUSY);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_STREQ(jstatus_last_message(), jstatus_text(JSTATUS_BUSY));
}

/* Where the process has no key left for it, no message is kept at all. */
JTEST_ONLY_WITH("JALLOC_TEST_KEEP", MessageChild, HasNoKey) {
    jtest_fail_calls("pthread_key_create", 1, 1, EAGAIN);
    JEXPECT_STATUS(ji_fail(JSTATUS_BUSY, "lost"), JSTATUS_BUSY);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_STREQ(jstatus_last_message(), "there was no memory to keep the message");
}
JTEST(Message, WithoutAKeyNoneIsKept) {
    static char output[8192];
    const char *const environment[] = {"JALLOC_TEST_KEEP=1", NULL};
    JEXPECT_EQ(jtest_run_self("MessageChild.HasNoKey", environment, output, sizeof output), 0);
    JEXPECT_SUBSTR(output, "[  PASSED  ] 1 test");
}

JTEST(Message, MayQuoteTheOneBefore) {
    ji_fail(JSTATUS_IO_ERROR, "inner");
    ji_fail(JSTATUS_MEMORY_ERROR, "outer: %s", jstatus_last_message());
    JEXPECT_STREQ(jstatus_last_message(), "outer: inner");
}

JTEST(Message, LongTextIsCutAndErrnoKept) {
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    errno = ENOSPC;
    JEXPECT_STATUS(ji_fail(JSTATUS_IO_ERROR, "%s", text), JSTATUS_IO_ERROR);
    JEXPECT_EQ(errno, ENOSPC);
    JEXPECT_GT(strlen(jstatus_last_message()), 100);
    JEXPECT_LT(strlen(jstatus_last_message()), sizeof text - 1);
    JEXPECT_EQ(strspn(jstatus_last_message(), "x"), strlen(jstatus_last_message()));
}

JTEST(Version, LibraryAndHeadersAgree) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", JALLOC_VERSION_MAJOR, JALLOC_VERSION_MINOR,
             JALLOC_VERSION_PATCH);
    JEXPECT_STREQ(jalloc_version_string(), text);
    JEXPECT_EQ(jalloc_version(),
               JALLOC_VERSION_MAJOR * 10000 + JALLOC_VERSION_MINOR * 100 + JALLOC_VERSION_PATCH);
}

static const struct datatype_row {
    jdatatype_t type;
    int number;
    size_t bytes;
    const char *name;
} datatype_rows[] = {
    {JDATATYPE_F32, 0, sizeof(float), "f32"},
    {JDATATYPE_F64, 1, sizeof(double), "f64"},
    {JDATATYPE_F32_C, 2, sizeof(float _Complex), "f32_c"},
    {JDATATYPE_F64_C, 3, sizeof(double _Complex), "f64_c"},
    {JDATATYPE_F16, 4, 2, "f16"},
    {JDATATYPE_BF16, 5, 2, "bf16"},
    {JDATATYPE_I8, 6, sizeof(int8_t), "i8"},
    {JDATATYPE_I32, 7, sizeof(int32_t), "i32"},
};
JTEST(Datatype, SizesAndNames) {
    for (size_t i = 0; i < sizeof datatype_rows / sizeof datatype_rows[0]; ++i) {
        const struct datatype_row *row = &datatype_rows[i];
        JSCOPED_TRACE("%s", row->name);
        JEXPECT_EQ(row->type, row->number);
        JEXPECT_EQ(jhandle_sizeof_datatype(row->type), row->bytes);
        JEXPECT_STREQ(jdatatype_name(row->type), row->name);
    }
    JEXPECT_EQ(sizeof(jcomplex_f32_t), 8);
    JEXPECT_EQ(sizeof(jcomplex_f64_t), 16);
}
JTEST(Datatype, UnknownHasSizeZero) {
    static const int numbers[] = {-1, 8, 1000, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        JEXPECT_EQ(jhandle_sizeof_datatype((jdatatype_t)numbers[i]), 0);
        JEXPECT_STREQ(jdatatype_name((jdatatype_t)numbers[i]), "unknown");
    }
}

/* All pairs of the values where 64-bit arithmetic turns, against 128 bits. */
static size_t edges(size_t *values) {
    size_t count = 0;
    for (size_t i = 0; i <= 20; ++i) {
        values[count++] = i;
        values[count++] = SIZE_MAX - i;
    }
    for (unsigned shift = 5; shift < 64; ++shift)
        for (int offset = -1; offset <= 1; ++offset)
            values[count++] = ((size_t)1 << shift) + (size_t)offset;
    return count;
}

__extension__ typedef unsigned __int128 wide_t;

JTEST(Arithmetic, SumsAndProductsAgainst128Bits) {
    size_t values[400];
    const size_t count = edges(values);
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < count; ++k) {
            const size_t a = values[i], b = values[k];
            const wide_t sum = (wide_t)a + b, product = (wide_t)a * b;
            size_t result = 77;
            bool ok = ji_size_add(a, b, &result);
            if (ok != (sum <= SIZE_MAX) || result != (ok ? (size_t)sum : 77))
                JFAIL("%zu + %zu gave %d, %zu", a, b, ok, result);
            result = 77;
            ok = ji_size_mul(a, b, &result);
            if (ok != (product <= SIZE_MAX) || result != (ok ? (size_t)product : 77))
                JFAIL("%zu * %zu gave %d, %zu", a, b, ok, result);
            if (a > INT64_MAX || b > INT64_MAX)
                continue;
            const size_t expected = product <= SIZE_MAX ? (size_t)product : JALLOC_SIZE_OVERFLOW;
            if (jalloc_mul((int64_t)a, (int64_t)b) != expected)
                JFAIL("jalloc_mul(%zu, %zu)", a, b);
            const wide_t bytes = product * 16;
            if (jalloc_matrix_bytes(JDATATYPE_F64_C, (int64_t)a, (int64_t)b) !=
                (product <= SIZE_MAX && bytes <= SIZE_MAX ? (size_t)bytes : JALLOC_SIZE_OVERFLOW))
                JFAIL("jalloc_matrix_bytes(%zu, %zu)", a, b);
        }
}

JTEST(Arithmetic, RoundingUpAgainst128Bits) {
    size_t values[400];
    const size_t count = edges(values);
    for (size_t i = 0; i < count; ++i)
        for (unsigned shift = 0; shift < 64; ++shift) {
            const size_t multiple = (size_t)1 << shift;
            const wide_t rounded = ((wide_t)values[i] + multiple - 1) / multiple * multiple;
            size_t result = 77;
            const bool ok = ji_size_round_up(values[i], multiple, &result);
            if (ok != (rounded <= SIZE_MAX) || result != (ok ? (size_t)rounded : 77))
                JFAIL("%zu up to a multiple of %zu gave %d, %zu", values[i], multiple, ok, result);
        }
}

JTEST(Arithmetic, PowersOfTwo) {
    size_t found = 0;
    JEXPECT_FALSE(ji_is_power_of_two(0));
    for (size_t i = 1; i <= 1 << 16; ++i)
        found += ji_is_power_of_two(i);
    JEXPECT_EQ(found, 17);
    JEXPECT_TRUE(ji_is_power_of_two((size_t)1 << 63));
    JEXPECT_FALSE(ji_is_power_of_two(SIZE_MAX));
}

JTEST(Arithmetic, NegativeExtentsHaveNoBytes) {
    JEXPECT_EQ(jalloc_mul(-1, 5), 0);
    JEXPECT_EQ(jalloc_mul(5, INT64_MIN), 0);
    JEXPECT_EQ(jalloc_mul(-3, -3), 0);
    JEXPECT_EQ(jalloc_matrix_bytes(JDATATYPE_F64, -1, 5), 0);
    JEXPECT_EQ(jalloc_matrix_bytes(JDATATYPE_F64, 3, 5), 120);
    JEXPECT_EQ(jalloc_matrix_bytes(JDATATYPE_F32, 0, 5), 0);
}

/* 0 would be borrowed, and give NULL. */
JTEST(Arithmetic, WhatIsNoElementTypeHasNoBytesThatCouldBeBorrowed) {
    static const int types[] = {-1, JDATATYPE_I32 + 1, 99, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        JEXPECT_EQ(jalloc_matrix_bytes((jdatatype_t)types[i], 3, 5), JALLOC_SIZE_OVERFLOW);
        JEXPECT_EQ(jalloc_matrix_bytes((jdatatype_t)types[i], 0, 5), JALLOC_SIZE_OVERFLOW);
    }
}
