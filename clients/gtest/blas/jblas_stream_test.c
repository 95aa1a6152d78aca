/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Calls on a created stream of the host, which behaves as a GPU's: the call returns before its work
 * is done, scalars and results go by pointer mode, and the answers are those of the inline stream,
 * bit for bit. A gate holds the stream, so that "before" is certain. */

#include "host_failures.h"
#include "jblas_routines.h"

#include "jalloc/provider.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blas/blas.h"
#include "blas/guest/guest.h"

typedef struct gate {
    atomic_bool open, timed_out;
} gate_t;

/* In the stream: waits to be opened, but not for ever: a call that waits for the stream must fail,
 * not hang. */
static void wait_at_gate(void *arguments) {
    gate_t *gate = *(gate_t **)arguments;
    for (int i = 0; i < 20000 && !atomic_load(&gate->open); ++i)
        usleep(100);
    if (!atomic_load(&gate->open))
        atomic_store(&gate->timed_out, true);
}

static void close_gate(gate_t *gate, jstream_t *stream) {
    atomic_store(&gate->open, false);
    atomic_store(&gate->timed_out, false);
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, wait_at_gate, &gate, sizeof gate));
}

static void open_gate(gate_t *gate, jstream_t *stream) {
    atomic_store(&gate->open, true);
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_FALSE(atomic_load(&gate->timed_out)); /* else the call waited for the stream */
}

static bool has_result(const blas_case_t *c) {
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        if (blas_is_by_mode(c->operand[which].kind))
            return true;
    return false;
}

static uint64_t synchronizations(jhandle_t *handle) {
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    return stats.synchronization_count;
}

static blas_wish_t wish_of(const blas_function_t *function, int64_t round) {
    static const int64_t low[] = {0, 3000, 20, 20}, high[] = {0, 12000, 120, 80};
    return round % 2 ? (blas_wish_t){.low = low[function->routine->level],
                                     .high = high[function->routine->level]}
                     : (blas_wish_t){0};
}

/* The inline answer, from a workspace as large as the query says; and that size, at least one
 * granule. */
static unsigned char *inline_answer(blas_case_t *c, jpointer_mode_t mode, size_t *bytes) {
    jhandle_t *handle = NULL;
    JEXPECT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, mode));
    JEXPECT_OK(jhandle_start_size_query(handle));
    (void)blas_call(handle, c);
    JEXPECT_OK(jhandle_stop_size_query(handle, bytes));
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_OK(jhandle_destroy(handle));
    blas_right(c);
    unsigned char *answer = blas_snapshot(c);
    blas_restore(c);
    *bytes = *bytes ? *bytes : 64;
    return answer;
}

/* A handle on a stream that a gate can hold. */
typedef struct scene {
    jstream_t *stream;
    jhandle_t *handle;
    jpointer_mode_t mode;
    gate_t gate;
} scene_t;

static void scene_begin(scene_t *scene, jpointer_mode_t mode) {
    *scene = (scene_t){.mode = mode};
    JASSERT_OK(jstream_create(jdevice_host(), &scene->stream));
    JASSERT_OK(jhandle_create(NULL, &scene->handle));
    JEXPECT_OK(jhandle_set_stream(scene->handle, scene->stream));
    JEXPECT_OK(jhandle_set_pointer_mode(scene->handle, mode));
}

static void scene_end(scene_t *scene) {
    JEXPECT_OK(jhandle_destroy(scene->handle));
    JEXPECT_OK(jstream_destroy(scene->stream));
}

/* A call on the scene's handle: its operands before, and the answer. */
typedef struct attempt {
    blas_case_t *c;
    unsigned char *untouched, *answer;
} attempt_t;

static void attempt_begin(attempt_t *attempt, scene_t *scene, const blas_function_t *function,
                          int64_t round) {
    const blas_wish_t wish = wish_of(function, round);
    size_t bytes;
    attempt->c = blas_case_create(function, &wish);
    attempt->untouched = blas_snapshot(attempt->c);
    attempt->answer = inline_answer(attempt->c, scene->mode, &bytes);
    JEXPECT_OK(jhandle_set_workspace_size(scene->handle, bytes));
    JEXPECT_OK(jhandle_clear_stats(scene->handle));
}

static void attempt_end(attempt_t *attempt) {
    free(attempt->answer);
    free(attempt->untouched);
    blas_case_free(attempt->c);
}

JTEST_EACH_FUNCTION(JblasStream, DevicePointersAreUsedInStreamOrder) {
    scene_t scene;
    scene_begin(&scene, JPOINTER_MODE_DEVICE);
    for (int64_t round = jtest_iterations(4); round > 0 && !jtest_has_failure(); --round) {
        attempt_t attempt;
        attempt_begin(&attempt, &scene, param, round);
        blas_case_t *c = attempt.c;
        unsigned char scalars[sizeof c->scalar];
        JSCOPED_TRACE("%s", blas_describe(c));

        memcpy(scalars, c->scalar, sizeof scalars);
        memset(c->scalar, 0xff, sizeof scalars); /* not the values of the call */
        close_gate(&scene.gate, scene.stream);
        JEXPECT_OK(blas_call(scene.handle, c));
        JEXPECT_TRUE(blas_same_as(c, attempt.untouched));
        memcpy(c->scalar, scalars, sizeof scalars); /* but these */
        open_gate(&scene.gate, scene.stream);
        JEXPECT_TRUE(blas_same_as(c, attempt.answer));
        JEXPECT_EQ(synchronizations(scene.handle), 0);
        attempt_end(&attempt);
    }
    scene_end(&scene);
}

JTEST_EACH_FUNCTION(JblasStream, HostPointersAreUsedBeforeTheReturn) {
    scene_t scene;
    scene_begin(&scene, JPOINTER_MODE_HOST);
    for (int64_t round = jtest_iterations(4); round > 0 && !jtest_has_failure(); --round) {
        attempt_t attempt;
        attempt_begin(&attempt, &scene, param, round);
        blas_case_t *c = attempt.c;
        JSCOPED_TRACE("%s", blas_describe(c));

        if (has_result(c)) { /* there on return, so the call waits */
            JEXPECT_OK(blas_call(scene.handle, c));
            JEXPECT_TRUE(blas_same_as(c, attempt.answer));
            JEXPECT_EQ(synchronizations(scene.handle), c->batch_count > 0); /* and says so */
        } else {
            close_gate(&scene.gate, scene.stream);
            JEXPECT_OK(blas_call(scene.handle, c));
            JEXPECT_TRUE(blas_same_as(c, attempt.untouched));
            memset(c->scalar, 0xff, sizeof c->scalar); /* they were read */
            open_gate(&scene.gate, scene.stream);
            JEXPECT_TRUE(blas_same_as(c, attempt.answer));
            JEXPECT_EQ(synchronizations(scene.handle), 0);
        }
        attempt_end(&attempt);
    }
    scene_end(&scene);
}

/* Long enough for a call to return first. */
static void pause_shortly(void *unused) {
    (void)unused;
    usleep(500);
}

/* Whatever fails while a call enqueues its work, or waits for it, is the call's status; the borrow
 * ends with the call, and the next one is as ever, and no result is written behind it. Products go
 * by halvings and by three real ones too. */
JTEST_EACH_FUNCTION(JblasStream, EachFailureOfTheDeviceIsReported) {
    const ji_tuning_t saved = ji_host_tuning;
    jstream_t *stream = NULL;
    jhandle_t *handle = NULL;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    ji_host_tuning.strassen_least[0] = ji_host_tuning.strassen_least[1] =
        ji_host_tuning.gemm3m_least = 8;
    ji_tuning_complete(&ji_host_tuning);
    BLAS_CASE(c, param, .low = 45, .high = 45, .plain = true);
    const size_t bytes = blas_query(handle, c);
    JEXPECT_OK(jhandle_set_workspace_size(handle, bytes));
    bool failed = true;
    uint64_t n = 1;
    for (; failed && n < 1000 && !jtest_has_failure(); ++n) {
        JEXPECT_OK(jstream_launch(jdevice_host(), stream, pause_shortly, NULL, 0));
        host_fail_after(n);
        const jstatus_t status = blas_call(handle, c);
        failed = host_fail_no_more();
        /* Others may return before they are done. */
        unsigned char *returned = has_result(c) ? blas_snapshot(c) : NULL;
        JSCOPED_TRACE("%s, failure %d", blas_describe(c), (int)n);
        JEXPECT_STATUS(status, failed ? JSTATUS_DEVICE_ERROR : JSTATUS_SUCCESS);
        if (failed)
            JEXPECT_SUBSTR(jhandle_last_message(handle), "a test made it fail");
        jhandle_stats_t stats = {.struct_size = sizeof stats};
        JEXPECT_OK(jhandle_get_stats(handle, &stats));
        JEXPECT_EQ(stats.live_borrow_count, 0);
        JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
        JEXPECT_TRUE(returned == NULL ||
                     /* Nothing is written where the caller's result was. */
                     blas_same_as(c, returned));
        free(returned);
        blas_restore(c);
    }
    JEXPECT_GT(n, 2); /* something failed */
    ji_host_tuning = saved;
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_COMPONENTWISE));
    JEXPECT_OK(blas_call(handle, c));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    blas_right(c);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* Many calls one behind the other share one workspace; each must be done with it before the next
 * begins. */
JTEST(JblasStream, CallsInARowShareTheWorkspace) {
    enum { CALLS = 12 };
    jstream_t *stream = NULL;
    jhandle_t *handle = NULL;
    blas_case_t *cases[CALLS];
    unsigned char *answers[CALLS];
    size_t largest = 0;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    static const int functions[] = {BLAS_INDEX_dtrsm, BLAS_INDEX_zgemm, BLAS_INDEX_dpotrf,
                                    BLAS_INDEX_ztrtri};
    for (int i = 0; i < CALLS; ++i) {
        size_t bytes;
        cases[i] = blas_case_create(&blas_functions[functions[i % 4]],
                                    &(blas_wish_t){.low = 20, .high = 80});
        answers[i] = inline_answer(cases[i], JPOINTER_MODE_DEVICE, &bytes);
        largest = bytes > largest ? bytes : largest;
    }
    JEXPECT_OK(jhandle_set_workspace_size(handle, largest));
    for (int i = 0; i < CALLS; ++i)
        JEXPECT_OK(blas_call(handle, cases[i]));
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    for (int i = 0; i < CALLS; ++i) {
        JEXPECT_TRUE(blas_same_as(cases[i], answers[i]));
        free(answers[i]);
        blas_case_free(cases[i]);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* ---- Threads ---- */

typedef struct worker {
    jallocator_t *allocator;
    blas_case_t *cases[8];
    unsigned char *answers[8];
    int rounds, wrong;
} worker_t;

/* Growing, trimming and calling, all from the one allocator. Checks of GoogleTest belong to the
 * test's own thread. */
static void *work(void *argument) {
    worker_t *worker = argument;
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.allocator = worker->allocator;
    jhandle_t *handle = NULL;
    if (jhandle_create(&options, &handle) != JSTATUS_SUCCESS)
        return worker->wrong = 1000, NULL;
    for (int round = 0; round < worker->rounds; ++round)
        for (int i = 0; i < 8; ++i) {
            blas_restore(worker->cases[i]);
            worker->wrong += blas_call(handle, worker->cases[i]) != JSTATUS_SUCCESS;
            worker->wrong += !blas_same_as(worker->cases[i], worker->answers[i]);
            if (i % 3 == 0)
                worker->wrong += jhandle_trim(handle, 0) != JSTATUS_SUCCESS;
        }
    worker->wrong += jhandle_destroy(handle) != JSTATUS_SUCCESS;
    return NULL;
}

JTEST(JblasThreads, TwoHandlesShareAnAllocator) {
    static const int functions[] = {BLAS_INDEX_dtrsm,  BLAS_INDEX_ddot,  BLAS_INDEX_ztrtri,
                                    BLAS_INDEX_spotrf, BLAS_INDEX_zgemm, BLAS_INDEX_dnrm2,
                                    BLAS_INDEX_cgemv,  BLAS_INDEX_sgeam};
    worker_t workers[2] = {{.rounds = (int)jtest_iterations(6)},
                           {.rounds = (int)jtest_iterations(6)}};
    pthread_t threads[2];
    jallocator_t *allocator = NULL;
    JASSERT_OK(jallocator_create_malloc(&allocator));
    for (int t = 0; t < 2; ++t) {
        workers[t].allocator = allocator;
        for (int i = 0; i < 8; ++i) {
            size_t bytes;
            const blas_wish_t wish = wish_of(&blas_functions[functions[i]], 1);
            workers[t].cases[i] = blas_case_create(&blas_functions[functions[i]], &wish);
            workers[t].answers[i] = inline_answer(workers[t].cases[i], JPOINTER_MODE_HOST, &bytes);
        }
    }
    for (int t = 0; t < 2; ++t)
        JASSERT_EQ(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    for (int t = 0; t < 2; ++t) {
        pthread_join(threads[t], NULL);
        JEXPECT_EQ(workers[t].wrong, 0);
        for (int i = 0; i < 8; ++i) {
            free(workers[t].answers[i]);
            blas_case_free(workers[t].cases[i]);
        }
    }
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* The CBLAS's own setting, where it is OpenBLAS. */
typedef struct cblas_threads {
    void (*set)(int threads);
    int (*get)(void);
} cblas_threads_t;

static bool cblas_threads_of(cblas_threads_t *threads) {
    if (ji_guest_load() != JSTATUS_SUCCESS)
        return false;
    void *set = ji_guest_symbol("openblas_set_num_threads"),
         *get = ji_guest_symbol("openblas_get_num_threads");
    memcpy(&threads->set, &set, sizeof set);
    memcpy(&threads->get, &get, sizeof get);
    return set != NULL && get != NULL;
}

static bool is_sum(const blas_function_t *function) {
    static const char *const sums[] = {"dot", "dotu", "dotc", "nrm2", "asum"};
    bool found = false;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; ++i)
        found |= strcmp(function->routine->name, sums[i]) == 0;
    return found;
}

/* Sums are taken in a fixed order: the bits do not depend on who takes them. None needs workspace
 * for that. */
JTEST_EACH_FUNCTION(JblasThreads, SumsHaveTheSameBitsForAnyNumberOfThreads) {
    if (!is_sum(param))
        return;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int64_t round = jtest_iterations(4); round > 0; --round) {
        const int64_t n = (int64_t[]){4000, 4097, 120000, 500000}[round % 4];
        BLAS_CASE(c, param, .low = n, .high = n + 9);
        size_t bytes = 1;
        JEXPECT_OK(jhandle_start_size_query(handle));
        (void)blas_call(handle, c);
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
        JEXPECT_EQ(bytes, 0);
        unsigned char *answer = NULL;
        for (int count = 1; count <= 4; ++count) {
            JEXPECT_OK(jhandle_set_threads(handle, count));
            blas_restore(c);
            JEXPECT_OK(blas_call(handle, c));
            if (!answer)
                answer = blas_snapshot(c);
            JSCOPED_TRACE("%s, %d threads", blas_describe(c), count);
            JEXPECT_TRUE(blas_same_as(c, answer));
        }
        blas_right(c);
        free(answer);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The program's own setting is left as found. */
JTEST(JblasThreads, SettingsOfTheCblasAreLeftAsFound) {
    cblas_threads_t threads;
    if (!cblas_threads_of(&threads))
        JSKIP("the CBLAS is not OpenBLAS");
    const int before = threads.get();
    for (int count = 1; count <= 2; ++count) {
        threads.set(count);
        jhandle_t *handle = NULL;
        JASSERT_OK(jhandle_create(NULL, &handle));
        for (int i = 0; i < BLAS_FUNCTION_COUNT; i += 3) {
            BLAS_CASE(c, &blas_functions[i], .low = 20, .high = 60);
            JEXPECT_OK(blas_call(handle, c));
            JEXPECT_EQ(threads.get(), count);
        }
        JEXPECT_OK(jhandle_destroy(handle));
    }
    threads.set(before);
}

/* A handle that a child inherits is refused by every routine, before anything is looked at. */
static void call_all_forked(void *handle) {
    for (int i = 0; i < BLAS_FUNCTION_COUNT; ++i) {
        BLAS_CASE(c, &blas_functions[i], .low = 2, .high = 9);
        JSCOPED_TRACE("%s", blas_functions[i].name);
        JEXPECT_STATUS(blas_call(handle, c), JSTATUS_FORKED);
        JEXPECT_SUBSTR(jstatus_last_message(), blas_functions[i].name);
        blas_unchanged(c);
    }
    JEXPECT_STATUS(jhandle_destroy(handle), JSTATUS_FORKED);
}

JTEST(JblasFork, EveryRoutineRefusesAnInheritedHandle) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    jtest_in_child(60, call_all_forked, handle);
    JEXPECT_OK(jhandle_destroy(handle));
}
