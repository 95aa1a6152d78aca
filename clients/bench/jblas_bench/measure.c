/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Measuring: the call through jblas and the same call made directly, in turn, each sample on fresh
 * operands; medians.
 *
 * A sample lasts at least some twenty microseconds, so that reading the clock does not count: a
 * short call is made several times per sample, each time on a slot of its own. The size query comes
 * first, with operands that are NULL: what it refuses for its enumerators or sizes needs none,
 * however large it says that they are. Counters are cleared after the warm-up, so what they show
 * was done by the timed calls. */

#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../quiet.h"
#include "blas/routine/price.h"
#include "jalloc/borrow.h"

enum { MAX_SLOTS = 64, MAX_SLOT_BYTES = 1 << 20 };

static jstatus_t make_handle(const options_t *o, size_t preallocate_bytes, jhandle_t **handle) {
    jhandle_options_t wanted = JHANDLE_OPTIONS_INIT;
    wanted.pointer_mode = (jpointer_mode_t)o->pointer_mode;
    wanted.result_policy = (jresult_policy_t)o->policy;
    wanted.accuracy = (jaccuracy_t)o->accuracy;
    wanted.preallocate_bytes = preallocate_bytes;
    jstatus_t status = jdevice_get(o->device, &wanted.device);
    if (status == JSTATUS_SUCCESS && jdevice_kind(wanted.device) != JDEVICE_HOST)
        status = JSTATUS_NOT_IMPLEMENTED; /* operands are made in host memory */
    return status == JSTATUS_SUCCESS ? jhandle_create(&wanted, handle) : status;
}

jstatus_t measure_query(jhandle_t *handle, const problem_t *p, size_t *bytes) {
    jstatus_t status = jhandle_start_size_query(handle);
    if (jstatus_is_error(status))
        return status;
    jstatus_t answer = p->routine->call(handle, p);
    status = jhandle_stop_size_query(handle, bytes);
    return jstatus_is_error(answer) ? answer : status;
}

/* A fixed workspace of `bytes` of ours, which may be none at all: then it has an address and
 * nothing in it. */
static jstatus_t lend_workspace(jhandle_t *handle, size_t bytes, void **memory) {
    size_t granules = bytes / 64 + 1;
    *memory = granules <= SIZE_MAX / 64 ? aligned_alloc(64, granules * 64) : NULL;
    return *memory ? jhandle_set_workspace(handle, *memory, bytes ? bytes : 1)
                   : JSTATUS_MEMORY_ERROR;
}

/* Default mode that holds `bytes`. */
static jstatus_t hold_workspace(jhandle_t *handle, size_t bytes) {
    jborrow_t borrow;
    /* JALLOC_DEVICE_MEMORY_SIZE may say otherwise */
    jstatus_t status = jhandle_set_workspace_size(handle, 0);
    if (jstatus_is_error(status) || bytes == 0)
        return status;
    status = jborrow_begin(&borrow, handle, "jblas-bench", 1, &bytes);
    return jstatus_is_error(status) ? status : jborrow_end(&borrow);
}

/* The workspace that a call finds. `memory` is to be freed after the handle. The handle may become
 * another one. */
static jstatus_t set_workspace(jhandle_t **handle, const options_t *o, size_t asked,
                               void **memory) {
    size_t bytes = o->workspace == WORKSPACE_QUERY  ? asked
                   : o->workspace == WORKSPACE_SIZE ? o->workspace_bytes
                                                    : 0;
    jstatus_t status = JSTATUS_SUCCESS;
    if (o->mode == JHANDLE_MODE_DEFAULT)
        status = hold_workspace(*handle, bytes);
    else if (o->mode == JHANDLE_MODE_USER_OWNED)
        status = lend_workspace(*handle, bytes, memory);
    else if (o->mode == JHANDLE_MODE_PREALLOCATE && bytes > 0) {
        status = jhandle_destroy(*handle);
        *handle = NULL;
        if (!jstatus_is_error(status))
            status = make_handle(o, bytes, handle);
    } else if (o->mode != MODE_UNSET || o->workspace != WORKSPACE_DEFAULT)
        status = jhandle_set_fixed_workspace_size(*handle, bytes);

    if (!jstatus_is_error(status) && (o->mode != MODE_UNSET || o->budget_bytes != JALLOC_UNLIMITED))
        status = jhandle_set_budget(*handle, o->budget_bytes);
    if (!jstatus_is_error(status) && o->sealed)
        status = jhandle_seal(*handle);
    return status;
}

double measure_sample(jhandle_t *handle, problem_t *p, jstatus_t *status) {
    problem_restore(p);
    JALLOC_BORROW(callers, handle, p->options->borrowed_bytes);
    if (!callers.ok)
        *status = callers.status;
    double start = bench_now();
    for (size_t slot = 0; slot < p->slots && !jstatus_is_error(*status); slot++) {
        problem_select(p, slot);
        *status = p->routine->call(handle, p);
    }
    return (bench_now() - start) / (double)p->slots;
}

static double sample_direct(problem_t *p) {
    problem_restore(p);
    double start = bench_now();
    for (size_t slot = 0; slot < p->slots; slot++) {
        problem_select(p, slot);
        problem_call_direct(p);
    }
    return (bench_now() - start) / (double)p->slots;
}

/* How many calls make a sample long enough, within bounds of memory. */
static size_t slots_for(const problem_t *p, double seconds) {
    size_t bytes = 1;
    for (int i = 0; i < OPERANDS; i++)
        if (p->operand[i].written)
            bytes += p->operand[i].elements * type_bytes(p->operand[i].type);
    double slots = fmin(fmin(BENCH_SAMPLE_SECONDS / seconds, MAX_SLOTS),
                        (double)MAX_SLOT_BYTES / (double)bytes);
    return slots > 1 ? (size_t)slots : 1;
}

bool measure_init(problem_t *p, jhandle_t *handle, const routine_t *routine, const options_t *o,
                  jstatus_t *status) {
    if (!problem_init(p, routine, o, 1))
        return false;
    /* Default mode grows here, threads start, pages are touched. */
    double estimate = measure_sample(handle, p, status);
    if (estimate < MEASURE_LONG_SECONDS)
        estimate = measure_sample(handle, p, status);
    const size_t slots = slots_for(p, estimate);
    if (jstatus_is_error(*status) || slots == 1)
        return true;
    problem_fini(p);
    return problem_init(p, routine, o, slots);
}

jstatus_t measure_lend(jhandle_t *handle, size_t bytes) {
    static char memory[256 << 20] __attribute__((aligned(4096)));
    if (bytes > sizeof memory)
        return JSTATUS_MEMORY_ERROR;
    memset(memory, 0, bytes);
    return bytes > 0 ? jhandle_set_workspace(handle, memory, bytes)
                     : jhandle_set_fixed_workspace_size(handle, 0);
}

/* A timed sample of ours, or of the direct call. By `turns` it begins as quiet.h says: the other's
 * helpers are not in its way, and its own are awake. */
static double sample_ours_in_turn(jhandle_t *handle, problem_t *p, bool turns, jstatus_t *status) {
    if (turns) {
        bench_wait_for_quiet(0.25);
        measure_sample(handle, p, status);
    }
    return measure_sample(handle, p, status);
}
static double sample_direct_in_turn(problem_t *p, bool turns) {
    if (turns) {
        bench_wait_for_quiet(0.25);
        sample_direct(p);
    }
    return sample_direct(p);
}

static bool has_threads(const jhandle_t *handle) {
    int threads = 1;
    (void)jhandle_get_threads(handle, &threads);
    return threads != 1;
}

/* The timed calls. */
static jstatus_t time_calls(jhandle_t *handle, problem_t *p, measurement_t *m) {
    const options_t *o = p->options;
    size_t count = (size_t)o->iterations;
    double *ours = calloc(count + 1, sizeof *ours), *direct = calloc(count + 1, sizeof *direct);
    jstatus_t status = ours && direct ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
    for (int64_t i = 0; i < o->warmups && !jstatus_is_error(status); i++) {
        measure_sample(handle, p, &status);
        if (problem_has_direct(p))
            sample_direct(p);
    }
    if (!jstatus_is_error(status))
        status = jhandle_clear_stats(handle);
    const bool turns = problem_has_direct(p) && has_threads(handle);
    for (size_t i = 0; i < count && !jstatus_is_error(status); i++) {
        ours[i] = sample_ours_in_turn(handle, p, turns, &status);
        if (problem_has_direct(p))
            direct[i] = sample_direct_in_turn(p, turns);
    }
    if (!jstatus_is_error(status) && count > 0) {
        m->seconds = bench_median(ours, count);
        m->direct_seconds = problem_has_direct(p) ? bench_median(direct, count) : 0;
    }
    free(ours);
    free(direct);
    return status;
}

static jstatus_t read_stats(jhandle_t *handle, measurement_t *m) {
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    jstatus_t status = jhandle_get_stats(handle, &stats);
    if (jstatus_is_error(status))
        return status;
    m->high_bytes = stats.high_watermark_bytes;
    m->allocations = stats.allocation_count;
    for (int rung = 0; rung < JHANDLE_MAX_RUNGS; rung++)
        if (stats.rung_count[rung] > 0)
            m->rung = rung;
    return jhandle_get_workspace_size(handle, &m->capacity_bytes);
}

/* The timed calls and their answer, on a handle that is as they find it. False: no memory for
 * operands. */
static bool run(jhandle_t *handle, const routine_t *routine, const options_t *o, measurement_t *m) {
    problem_t problem;
    jstatus_t status = JSTATUS_SUCCESS;
    if (!measure_init(&problem, handle, routine, o, &status))
        return false;
    if (!jstatus_is_error(status))
        status = time_calls(handle, &problem, m);
    if (!jstatus_is_error(status)) {
        jstatus_t read = read_stats(handle, m);
        if (jstatus_is_error(read))
            status = read;
    }
    if (!jstatus_is_error(status) && o->verify) {
        m->verified = true;
        m->error = problem_verify(&problem, handle, &m->bound);
    }
    m->status = status;
    problem_fini(&problem);
    return true;
}

double measure_flops(const routine_t *routine, const options_t *o, jdatatype_t type) {
    const ji_sizes_t sizes = {.m = (double)o->m,
                              .n = (double)o->n,
                              .k = (double)o->k,
                              .nrhs = (double)o->nrhs,
                              .kl = (double)o->kl,
                              .ku = (double)o->ku,
                              .kd = (double)o->kd,
                              .order = (double)(o->side == JBLAS_LEFT ? o->m : o->n)};
    return ji_flops(routine->name, &sizes) * (type_is_complex(type) ? 4 : 1);
}

bool measure(const options_t *o, const routine_t *routine, measurement_t *m) {
    const jdatatype_t type = routine_has_types(routine) ? (jdatatype_t)o->compute_type : o->type;
    *m = (measurement_t){.rung = -1, .flops = measure_flops(routine, o, type)};
    jhandle_t *handle = NULL;
    m->status = make_handle(o, 0, &handle);
    if (jstatus_is_error(m->status)) {
        tool_warn("device %s: %s: %s", o->device, jstatus_text(m->status), jstatus_last_message());
        return false;
    }

    problem_t described;
    problem_describe(&described, routine, o);
    m->flops *= (double)described.items;
    void *memory = NULL;
    bool ready = true;
    m->status = measure_query(handle, &described, &m->asked_bytes);
    if (!jstatus_is_error(m->status))
        m->status = set_workspace(&handle, o, m->asked_bytes, &memory);
    if (!jstatus_is_error(m->status))
        ready = run(handle, routine, o, m);
    if (jstatus_is_error(m->status))
        snprintf(m->message, sizeof m->message, "%s",
                 handle ? jhandle_last_message(handle) : jstatus_last_message());
    jhandle_destroy(handle);
    free(memory);
    return ready;
}

bool measurement_is_good(const measurement_t *m) {
    /* False for NaN. */
    return !jstatus_is_error(m->status) && (!m->verified || m->error <= m->bound);
}
