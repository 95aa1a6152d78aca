/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_JTEST_H
#define JALLOC_CLIENTS_GTEST_JTEST_H

/* GoogleTest for C files. A test is a function of a C file:
 *
 *     JTEST(Handle, ZeroSizeGivesNull) {
 *         jhandle_t *handle;
 *         JASSERT_OK(jhandle_create(NULL, &handle));
 *         ...
 *         JEXPECT_OK(jhandle_destroy(handle));
 *     }
 *
 * It is registered before main and handed to GoogleTest, so filters, sharding, repetition,
 * shuffling and XML work as ever. JEXPECT_* note a failure and go on, JASSERT_* also return from
 * the function (which must return void).
 *
 * Around every test stands one fixture: bookkeeping memory is counted and must all be given back,
 * the n-th allocation can be made to fail, log lines are kept (and shown when the test fails), and
 * what the jtest_* functions below made or changed is undone. JALLOC_* variables of the caller's
 * environment are removed, but for these:
 *     JALLOC_TEST_SEED    the seed of the random numbers, printed when a test that drew any fails
 *     JALLOC_TEST_SCALE   multiplies the counts given by jtest_iterations()
 *     JALLOC_TEST_KEEP    keeps the others, and leaves the log alone: for runs of this program by
 *                         itself */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/allocator.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tests ---- */

#define JTEST_MAX_NAME 127

typedef struct jtest_case {
    const char *suite, *name, *file;
    int line;
    void (*run)(const void *parameter);
    const void *parameters; /* NULL: runs once, without one */
    size_t parameter_bytes, parameter_count;
    void (*name_of)(const void *parameter, char *name); /* NULL: the index */
    /* Registered only when this variable is set; NULL: always. */
    const char *only_with;
    struct jtest_case *next;
} jtest_case_t;

void jtest_register(jtest_case_t *test);

#define JTEST_REGISTER_(suite_, name_, parameters_, bytes_, count_, name_of_, only_with_)          \
    static void jtest_call_##suite_##_##name_(const void *parameter);                              \
    static void __attribute__((constructor)) jtest_register_##suite_##_##name_(void) {             \
        static jtest_case_t test = {                                                               \
            #suite_,     #name_, __FILE__, __LINE__, jtest_call_##suite_##_##name_,                \
            parameters_, bytes_, count_,   name_of_, only_with_,                                   \
            NULL};                                                                                 \
        jtest_register(&test);                                                                     \
    }

#define JTEST_PLAIN_(suite, name, only_with)                                                       \
    static void jtest_body_##suite##_##name(void);                                                 \
    JTEST_REGISTER_(suite, name, NULL, 0, 1, NULL, only_with)                                      \
    static void jtest_call_##suite##_##name(const void *parameter) {                               \
        (void)parameter;                                                                           \
        jtest_body_##suite##_##name();                                                             \
    }                                                                                              \
    static void jtest_body_##suite##_##name(void)

/* A test. */
#define JTEST(suite, name) JTEST_PLAIN_(suite, name, NULL)

/* A test that exists only when the environment variable is set. */
#define JTEST_ONLY_WITH(variable, suite, name) JTEST_PLAIN_(suite, name, variable)

/* One test for each element of an array of this file, named Suite.Name/0, /1, ... or after a text
 * that `name_of` (void (const void *parameter, char *name)) writes into JTEST_MAX_NAME + 1
 * characters. In the body `param` points to the element. */
#define JTEST_P_NAMED(suite, name, type, array, name_of)                                           \
    static void jtest_body_##suite##_##name(const type *param);                                    \
    JTEST_REGISTER_(suite, name, array, sizeof(array)[0], sizeof(array) / sizeof(array)[0],        \
                    name_of, NULL)                                                                 \
    static void jtest_call_##suite##_##name(const void *parameter) {                               \
        jtest_body_##suite##_##name(parameter);                                                    \
    }                                                                                              \
    static void jtest_body_##suite##_##name(const type *param)
#define JTEST_P(suite, name, type, array) JTEST_P_NAMED(suite, name, type, array, NULL)

/* ---- Checks ---- */

/* Any scalar; comparisons are those of mathematics, so -1 < SIZE_MAX. */
typedef enum { JTEST_SIGNED, JTEST_UNSIGNED, JTEST_REAL, JTEST_POINTER } jtest_kind_t;
typedef struct jtest_value {
    jtest_kind_t kind;
    union {
        int64_t i;
        uint64_t u;
        double d;
        const volatile void *p;
    } as;
} jtest_value_t;

static inline jtest_value_t jtest_signed_(int64_t x) {
    jtest_value_t value = {JTEST_SIGNED, {0}};
    value.as.i = x;
    return value;
}
static inline jtest_value_t jtest_unsigned_(uint64_t x) {
    jtest_value_t value = {JTEST_UNSIGNED, {0}};
    value.as.u = x;
    return value;
}
static inline jtest_value_t jtest_real_(double x) {
    jtest_value_t value = {JTEST_REAL, {0}};
    value.as.d = x;
    return value;
}
static inline jtest_value_t jtest_pointer_(const volatile void *x) {
    jtest_value_t value = {JTEST_POINTER, {0}};
    value.as.p = x;
    return value;
}

/* clang-format off */
#define JTEST_VALUE_(x)                                                                            \
    _Generic((x),                                                                                  \
        bool: jtest_unsigned_, unsigned char: jtest_unsigned_, unsigned short: jtest_unsigned_,    \
        unsigned int: jtest_unsigned_, unsigned long: jtest_unsigned_,                             \
        unsigned long long: jtest_unsigned_,                                                       \
        char: jtest_signed_, signed char: jtest_signed_, short: jtest_signed_, int: jtest_signed_, \
        long: jtest_signed_, long long: jtest_signed_, float: jtest_real_, double: jtest_real_,    \
        default: jtest_pointer_)(x)
/* clang-format on */

typedef enum { JTEST_EQ, JTEST_NE, JTEST_LT, JTEST_LE, JTEST_GT, JTEST_GE } jtest_relation_t;

bool jtest_compare(const char *file, int line, bool fatal, jtest_relation_t relation,
                   const char *a_text, const char *b_text, jtest_value_t a, jtest_value_t b);
bool jtest_condition(const char *file, int line, bool fatal, const char *text, bool actual,
                     bool expected);
bool jtest_null(const char *file, int line, bool fatal, const char *text,
                const volatile void *pointer, bool expected);
bool jtest_string(const char *file, int line, bool fatal, const char *a_text, const char *a,
                  const char *b);
bool jtest_substring(const char *file, int line, bool fatal, const char *a_text, const char *a,
                     const char *part);
bool jtest_near(const char *file, int line, bool fatal, const char *a_text, const char *b_text,
                double a, double b, double tolerance);
bool jtest_status(const char *file, int line, bool fatal, const char *text, jstatus_t actual,
                  jstatus_t expected);
void jtest_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void jtest_skip(const char *file, int line, const char *reason);
bool jtest_has_failure(void);       /* of the test that runs */
uint64_t jtest_failure_count(void); /* failures noted by this process */
const char *jtest_name(void);       /* "Suite.Name" of the test that runs */

#define JTEST_EXPECT_(check, ...) ((void)check(__FILE__, __LINE__, false, __VA_ARGS__))
#define JTEST_ASSERT_(check, ...)                                                                  \
    do {                                                                                           \
        if (!check(__FILE__, __LINE__, true, __VA_ARGS__))                                         \
            return;                                                                                \
    } while (0)

#define JEXPECT_EQ(a, b)                                                                           \
    JTEST_EXPECT_(jtest_compare, JTEST_EQ, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JEXPECT_NE(a, b)                                                                           \
    JTEST_EXPECT_(jtest_compare, JTEST_NE, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JEXPECT_LT(a, b)                                                                           \
    JTEST_EXPECT_(jtest_compare, JTEST_LT, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JEXPECT_LE(a, b)                                                                           \
    JTEST_EXPECT_(jtest_compare, JTEST_LE, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JEXPECT_GT(a, b)                                                                           \
    JTEST_EXPECT_(jtest_compare, JTEST_GT, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JEXPECT_GE(a, b)                                                                           \
    JTEST_EXPECT_(jtest_compare, JTEST_GE, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JASSERT_EQ(a, b)                                                                           \
    JTEST_ASSERT_(jtest_compare, JTEST_EQ, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JASSERT_NE(a, b)                                                                           \
    JTEST_ASSERT_(jtest_compare, JTEST_NE, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JASSERT_LT(a, b)                                                                           \
    JTEST_ASSERT_(jtest_compare, JTEST_LT, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JASSERT_LE(a, b)                                                                           \
    JTEST_ASSERT_(jtest_compare, JTEST_LE, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JASSERT_GT(a, b)                                                                           \
    JTEST_ASSERT_(jtest_compare, JTEST_GT, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))
#define JASSERT_GE(a, b)                                                                           \
    JTEST_ASSERT_(jtest_compare, JTEST_GE, #a, #b, JTEST_VALUE_(a), JTEST_VALUE_(b))

#define JEXPECT_TRUE(x) JTEST_EXPECT_(jtest_condition, #x, x, true)
#define JEXPECT_FALSE(x) JTEST_EXPECT_(jtest_condition, #x, x, false)
#define JASSERT_TRUE(x) JTEST_ASSERT_(jtest_condition, #x, x, true)
#define JASSERT_FALSE(x) JTEST_ASSERT_(jtest_condition, #x, x, false)

#define JEXPECT_NULL(pointer) JTEST_EXPECT_(jtest_null, #pointer, pointer, true)
#define JEXPECT_NOT_NULL(pointer) JTEST_EXPECT_(jtest_null, #pointer, pointer, false)
#define JASSERT_NULL(pointer) JTEST_ASSERT_(jtest_null, #pointer, pointer, true)
#define JASSERT_NOT_NULL(pointer) JTEST_ASSERT_(jtest_null, #pointer, pointer, false)

#define JEXPECT_STREQ(a, b) JTEST_EXPECT_(jtest_string, #a, a, b)
#define JASSERT_STREQ(a, b) JTEST_ASSERT_(jtest_string, #a, a, b)
#define JEXPECT_SUBSTR(text, part) JTEST_EXPECT_(jtest_substring, #text, text, part)
#define JASSERT_SUBSTR(text, part) JTEST_ASSERT_(jtest_substring, #text, text, part)

#define JEXPECT_NEAR(a, b, tolerance) JTEST_EXPECT_(jtest_near, #a, #b, a, b, tolerance)
#define JASSERT_NEAR(a, b, tolerance) JTEST_ASSERT_(jtest_near, #a, #b, a, b, tolerance)

/* A failure shows the status's name and jstatus_last_message(). */
#define JEXPECT_STATUS(status, expected) JTEST_EXPECT_(jtest_status, #status, status, expected)
#define JASSERT_STATUS(status, expected) JTEST_ASSERT_(jtest_status, #status, status, expected)
#define JEXPECT_OK(status) JTEST_EXPECT_(jtest_status, #status, status, JSTATUS_SUCCESS)
#define JASSERT_OK(status) JTEST_ASSERT_(jtest_status, #status, status, JSTATUS_SUCCESS)

/* A failure with a message of its own. */
#define JFAIL(...) jtest_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Ends the test as skipped. */
#define JSKIP(reason)                                                                              \
    do {                                                                                           \
        jtest_skip(__FILE__, __LINE__, reason);                                                    \
        return;                                                                                    \
    } while (0)

/* Failures until the end of the scope show this text too: which case of a loop it was. */
#define JSCOPED_TRACE(...)                                                                         \
    __attribute__((cleanup(jtest_trace_pop), unused)) void *JTEST_PASTE_(jtest_trace_, __LINE__) = \
        jtest_trace_push(__FILE__, __LINE__, __VA_ARGS__)
#define JTEST_PASTE_(a, b) JTEST_PASTE2_(a, b)
#define JTEST_PASTE2_(a, b) a##b
void *jtest_trace_push(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void jtest_trace_pop(void **trace);

/* ---- Bookkeeping memory ---- */

/* The n-th allocation of bookkeeping memory from now on fails, once; 0: none does any more. */
void jtest_fail_metadata_after(uint64_t n);
/* Whether the failure that was last asked for has happened. */
bool jtest_metadata_failed(void);
/* Allocations of bookkeeping memory since the test began, the failed one included. */
uint64_t jtest_metadata_allocation_count(void);
/* Blocks of bookkeeping that this test has taken and not given back. */
size_t jtest_metadata_live_count(void);
/* Gives the process jtest's functions again, after a test set others. */
jstatus_t jtest_metadata_install(void);

/* Runs its body with the first bookkeeping allocation failing, then the second, ... and once with
 * none failing. In the body jtest_metadata_failed() tells whether this round's failure has
 * happened. Each round must leave as many blocks live as it found, when the process's own
 * allocators are ended, as they are after each round. A body that allocates nothing is a failure:
 * it would prove nothing. */
#define JFOR_EACH_FAILURE(i)                                                                       \
    for (uint64_t i = jtest_failure_first(); i != 0; i = jtest_failure_next(__FILE__, __LINE__, i))
uint64_t jtest_failure_first(void);
uint64_t jtest_failure_next(const char *file, int line, uint64_t i);

/* ---- Memory under test ---- */

/* The test's own host allocator, made at the first call and destroyed after the test, which fails
 * if anything is live then, if a block's surroundings were written to, or if a pointer or size
 * given back is not one that was given out. */
jallocator_t *jtest_failing_allocator(void);
/* Its n-th allocation from now on fails, once; 0: none does. */
void jtest_fail_allocation_after(uint64_t n);
/* Allocations asked of it in this test, failed ones included. */
uint64_t jtest_allocation_count(void);
uint64_t jtest_deallocation_count(void);
size_t jtest_live_bytes(void); /* requested bytes that it has out */

/* Zeroed bytes with an inaccessible page right behind the last one, or right before the first;
 * released after the test. The start of the first kind is aligned as far as `bytes` is a multiple
 * (of 64, 256, ...); that of the second to a page. */
void *jtest_guard_pages(size_t bytes);
void *jtest_guard_pages_before(size_t bytes);

/* ---- The system's failures ---- */

/* Of the calls of one function of the system from now on, by any thread of this process, those
 * numbered first, first + 1, ... first + count - 1 do nothing and fail with this error; with 0 or
 * -n they return 0 or n. Of one function at a time, which is one of JTEST_SYSTEM_CALLS
 * (CMakeLists.txt). Undone after the test. */
void jtest_fail_calls(const char *function, uint64_t first, uint64_t count, int error);
/* No call fails from now on. Whether one has failed. */
bool jtest_calls_failed(void);

/* ---- Random numbers, repetition ---- */

/* Each test has its own sequence, made from the seed and its name; for the test's own thread. */
uint64_t jtest_random(void);
int64_t jtest_random_between(int64_t low, int64_t high); /* both ends possible */
double jtest_random_double(double low, double high);
bool jtest_random_bool(void);
/* One step of a caller's own sequence, for other threads. */
uint64_t jtest_random_next(uint64_t *state);

/* n times JALLOC_TEST_SCALE, at least 1. */
int64_t jtest_iterations(int64_t n);

/* ---- Surroundings ---- */

/* Sets (NULL: removes) an environment variable until the test ends. */
void jtest_setenv(const char *name, const char *value);

/* The lines that the library logged since the test began or since jtest_log_clear(), each with a
 * newline. */
const char *jtest_log_text(void);
size_t jtest_log_count(void);
void jtest_log_clear(void);
/* Sends lines to jtest again, after a test set another sink. */
void jtest_log_install(void);

/* Runs a function in a forked child. The test fails if a check fails there, if the child dies, or
 * if it takes longer than `timeout_s`. */
#define jtest_in_child(timeout_s, function, argument)                                              \
    jtest_in_child_at(__FILE__, __LINE__, timeout_s, function, argument)
void jtest_in_child_at(const char *file, int line, unsigned timeout_s,
                       void (*function)(void *argument), void *argument);

/* Runs a program (argv[0] its path), its output and errors into `output` (may be NULL). Gives its
 * exit status, 128 + the signal's number, or -1. `environment`: "NAME=value" texts added to the
 * present ones, NULL-terminated; may be NULL. */
int jtest_run_program(const char *const argv[], const char *const environment[], char *output,
                      size_t output_bytes);

/* The same with this program and a filter. */
int jtest_run_self(const char *filter, const char *const environment[], char *output,
                   size_t output_bytes);

/* A gate that work in a stream stops at, so that a test can see what happens meanwhile. Closed at
 * first. A passage that is not opened within 20 s fails the test and opens. */
typedef struct jtest_gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool open;
    unsigned waiting; /* have come to it */
} jtest_gate_t;
#define JTEST_GATE_INIT                                                                            \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 }
void jtest_gate_pass(jtest_gate_t *gate); /* waits until it is open */
void jtest_gate_open(jtest_gate_t *gate);
void jtest_gate_await(jtest_gate_t *gate); /* waits until somebody stands at it */
/* Work enqueued in the stream after this stops at the gate. */
jstatus_t jtest_gate_block(jtest_gate_t *gate, jdevice_t *device, jstream_t *stream);

void jtest_sleep_ms(unsigned milliseconds);
double jtest_now_ms(void);

/* ---- Between jtest.cpp, jtest_fixture.c and jtest_support.c ---- */

bool jtest_fixture_start(void);              /* once, before the first test */
void jtest_fixture_set_up(const char *name); /* before each test */
/* After each test; reports what is wrong as failures. */
void jtest_fixture_tear_down(void);
void jtest_support_start(void);
void jtest_support_set_up(const char *name);
void jtest_support_tear_down(void);
extern bool jtest_keeps; /* JALLOC_TEST_KEEP */
bool jtest_random_was_used(uint64_t *seed);

#ifdef __cplusplus
}
#endif
#endif
