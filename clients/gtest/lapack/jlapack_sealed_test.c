/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* After set-up nothing allocates: each function of jlapack's own, from the rows, in each fixed mode
 * and with one thread and two, in a process that may not ask the system for memory or threads any
 * more (sealed_helper.h). What a call leaves is the same each time; that it is right other tests
 * say. A routine of a LAPACK is as sealed as that is (docs/lapack.rst). */

#include <string.h>

#include "jtest.h"
#include "sealed_helper.h"

#if JTEST_HAS_SEAL

#include "blas/blas.h"
#include "lapack/rows.h"

enum { ORDER = 150, SMALL = 7, ROOM = ORDER * ORDER };

/* Every operand of every row, by its name there: square, with a large diagonal, so it is a factor
 * as well as a matrix. */
typedef struct problem {
    double a[2 * ROOM], b[2 * ROOM], c[2 * ROOM], af[2 * ROOM], x[2 * ROOM], tau[2 * ORDER];
    double ferr[ORDER], berr[ORDER], anorm[1], rcond[1];
    int64_t ipiv[ORDER], jpvt[ORDER], info, iter;
    int64_t n; /* every size */
} problem_t;

static problem_t drawn, now;

#define PASS(t, kind, ...) PASS_##kind(t, __VA_ARGS__)
#define PASS_ENUM(t, name, which) , PASS_##which
#define PASS_SIDE JBLAS_LEFT
#define PASS_UPLO JBLAS_UPPER
#define PASS_DIAGONAL JBLAS_NON_UNIT
#define PASS_NORM JLAPACK_ONE_NORM
#define PASS_OPERATION JBLAS_CONJUGATE_TRANSPOSE
#define PASS_HERMITIAN_OPERATION JBLAS_CONJUGATE_TRANSPOSE
#define PASS_SIZE(t, name) , args->n
#define PASS_SCALAR(t, name, of) , (const JI_REAL_##t *)args->name
#define PASS_MATRIX(t, name, ld, access, ...) , (JI_##access(JI_ELEMENT_##t) *)args->name, ORDER
#define PASS_INDICES(t, name, ...) , args->name
#define PASS_FACTORS(t, name, access, ...) , (JI_##access(JI_ELEMENT_##t) *)args->name
#define PASS_RESULT(t, name, of) PASS_RESULT_##of(t, name)
#define PASS_RESULT_INDEX(t, name) , &args->name
#define PASS_RESULT_REAL(t, name) , (JI_REAL_##t *)args->name
#define PASS_NUMBER(t, name, of, access, read) , (JI_##access(JI_REAL_##t) *)args->name

#define CALL(routine, level) JI_FUNCTIONS_##routine(CALL_, )
#define CALL_(nothing, routine, t, function)                                                       \
    static jstatus_t call_##function(jhandle_t *handle, problem_t *args) {                         \
        return jlapack_##function(handle JI_ARGUMENTS_##routine(PASS, t));                         \
    }
JI_LAPACK_ROUTINE_LIST(CALL)

typedef struct function {
    const char *name;
    jdatatype_t type;
    jstatus_t (*call)(jhandle_t *handle, problem_t *args);
} function_t;

#define ROW(routine, level) JI_FUNCTIONS_##routine(ROW_, )
#define ROW_(nothing, routine, t, function) {"jlapack_" #function, JI_TYPE_##t, call_##function},
static const function_t functions[] = {JI_LAPACK_ROUTINE_LIST(ROW)};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static void put(jdatatype_t type, double *array, int64_t i, double value) {
    if (type == JDATATYPE_F32 || type == JDATATYPE_F32_C)
        ((float *)array)[i] = (float)value;
    else
        array[i] = value;
}

/* The same for each call of a type. Draws nothing: a sealed process does no more than it must. */
static void set_up(jdatatype_t type, int64_t n) {
    double *const matrices[] = {drawn.a, drawn.b, drawn.c, drawn.af, drawn.x};
    const int64_t parts = type == JDATATYPE_F32_C || type == JDATATYPE_F64_C ? 2 : 1;
    uint64_t state = 1;
    for (int which = 0; which < 5; which++) {
        for (int64_t i = 0; i < parts * ROOM; i++)
            put(type, matrices[which], i, (double)(jtest_random_next(&state) % 1000) / 1000 - 0.5);
        for (int64_t i = 0; i < ORDER; i++) {
            put(type, matrices[which], parts * i * (ORDER + 1), ORDER + (double)(i % 7));
            if (parts == 2)
                put(type, matrices[which], parts * i * (ORDER + 1) + 1, 0);
        }
    }
    for (int64_t i = 0; i < parts * ORDER; i++)
        put(type, drawn.tau, i, 0.001 * (double)(i % 5));
    put(type, drawn.anorm, 0, 2 * ORDER);
    for (int i = 0; i < ORDER; i++)
        drawn.ipiv[i] = i + 1;
    drawn.n = n;
}

static uint64_t hash_of(const problem_t *p) {
    uint64_t hash = 0;
    const unsigned char *at = (const unsigned char *)p;
    for (size_t i = 0; i < sizeof *p / sizeof(uint64_t); i++) {
        uint64_t word;
        memcpy(&word, at + i * sizeof word, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* By size, function. */
static const int64_t sizes[] = {SMALL, ORDER};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static uint64_t hashes[SIZES][FUNCTIONS];

static size_t queried_bytes(int threads) {
    jhandle_t *handle = NULL;
    size_t most = 0;
    JEXPECT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_threads(handle, threads));
    for (int size = 0; size < SIZES; size++)
        for (int f = 0; f < FUNCTIONS; f++) {
            size_t bytes = 0;
            now.n = sizes[size];
            JEXPECT_OK(jhandle_start_size_query(handle));
            JEXPECT_FALSE(jstatus_is_error(functions[f].call(handle, &now)));
            JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
            most = bytes > most ? bytes : most;
        }
    JEXPECT_OK(jhandle_destroy(handle));
    return most;
}

JTEST_ONLY_WITH("JALLOC_TEST_KEEP", JlapackSealedChild, CallsEverything) {
    jhandle_t *handles[JTEST_SEALED_HANDLES];
    ji_host_tuning.mixed_least[0] = ji_host_tuning.mixed_least[1] = ji_host_tuning.room_least = 0;
    jtest_sealed_handles(handles, queried_bytes);
    if (jtest_has_failure())
        return;

    jtest_seal();
    for (int size = 0; size < SIZES; size++)
        for (int f = 0; f < FUNCTIONS; f++) {
            jtest_sealed_work = functions[f].name;
            set_up(functions[f].type, sizes[size]);
            for (int i = 0; i < JTEST_SEALED_HANDLES; i++) {
                now = drawn;
                if (functions[f].call(handles[i], &now) != JSTATUS_SUCCESS)
                    jtest_sealed_fail(" failed");
                const uint64_t hash = hash_of(&now);
                if (i == 0)
                    hashes[size][f] = hash;
                else if (hash != hashes[size][f])
                    jtest_sealed_fail(" gave other bits");
            }
        }
    jtest_sealed_end();
}

/* ---- Stack ---- */

/* What docs/threads.rst promises of stack. */
enum { MOST_STACK_BYTES = 384 << 10 };

/* Gives who failed. */
static void *call_each(void *handle) {
    for (int size = 0; size < SIZES; size++)
        for (int f = 0; f < FUNCTIONS; f++) {
            set_up(functions[f].type, sizes[size]);
            now = drawn;
            if (jstatus_is_error(functions[f].call(handle, &now)))
                return (void *)functions[f].name;
        }
    return NULL;
}

JTEST(JlapackSealed, EveryRoutineTakesLittleStack) {
    jhandle_t *handle = NULL;
    JEXPECT_OK(jhandle_create(NULL, &handle));
    JEXPECT_LE(jtest_stack_bytes(call_each, handle), MOST_STACK_BYTES);
    JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 131072)); /* lower rungs */
    JEXPECT_LE(jtest_stack_bytes(call_each, handle), MOST_STACK_BYTES);
    JEXPECT_OK(jhandle_destroy(handle));
}

#else

JTEST(JlapackSealed, EveryRoutineTakesLittleStack) { JSKIP("needs x86-64 without sanitizers"); }

#endif

JTEST(JlapackSealed, EveryRoutineInEachFixedModeAsksTheSystemForNothing) {
    jtest_expect_sealed("JlapackSealedChild.CallsEverything");
}
