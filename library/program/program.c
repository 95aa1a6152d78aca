/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Programs, and the choice of rungs.
 *
 * With a share of the budget given, a handle's calls in a phase do not mind each other: each takes
 * the fastest rung that fits the share. So a part is a staircase of shares and times, and what is
 * chosen are the shares of a phase's parts, by the divisions that ladder.c makes of two parts at a
 * time; from the last of them back, each says what it gave to whom. */

#include "program/program.h"

#include <string.h>

jstatus_t jprogram_create(jprogram_t **program) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    jprogram_t *fresh = ji_metadata_zalloc(sizeof *fresh);
    if (fresh == NULL)
        return ji_no_bookkeeping(__func__);
    *program = fresh;
    return JSTATUS_SUCCESS;
}

jstatus_t jprogram_destroy(jprogram_t *program) {
    if (program == NULL)
        return JSTATUS_SUCCESS;
    JTRY_RETURN(jprogram_leave(program));

    for (ji_follower_t *follower = program->followers, *next; follower != NULL; follower = next) {
        next = follower->next;
        size_t bytes;
        if (ji_follower_is_recording(follower))
            (void)jhandle_stop_size_query(follower->handle, &bytes);
        ji_follower_destroy(follower);
    }
    for (size_t i = 0; i < program->part_count; ++i)
        ji_calls_fini(&program->parts[i].calls);
    ji_metadata_free(program->parts);
    ji_metadata_free(program);
    return JSTATUS_SUCCESS;
}

/* ---- Calls ---- */

static jstatus_t program_check_recorded(const jprogram_t *program, const char *caller) {
    for (const ji_follower_t *at = program->followers; at != NULL; at = at->next)
        if (ji_follower_is_recording(at))
            return ji_fail(JSTATUS_BUSY, "%s: a handle is being recorded", caller);
    return JSTATUS_SUCCESS;
}

jstatus_t jprogram_begin_phase(jprogram_t *program) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(program_check_recorded(program, __func__));
    JTRY_RETURN(jprogram_leave(program));
    const size_t count = program->part_count;
    if (count > 0 && program->parts[count - 1].phase == program->phase)
        ++program->phase;
    return JSTATUS_SUCCESS;
}

/* The part of a follower in the phase that was begun last, made where there is none; NULL: no
 * memory. */
static ji_part_t *program_part(jprogram_t *program, ji_follower_t *follower) {
    for (size_t i = 0; i < program->part_count; ++i)
        if (program->parts[i].follower == follower && program->parts[i].phase == program->phase)
            return &program->parts[i];

    if (program->part_count == program->part_room) {
        const size_t room = program->part_room == 0 ? 8 : 2 * program->part_room;
        ji_part_t *larger = ji_metadata_zalloc(room * sizeof *larger);
        if (larger == NULL)
            return NULL;
        if (program->part_count > 0)
            memcpy(larger, program->parts, program->part_count * sizeof *larger);
        ji_metadata_free(program->parts);
        program->parts = larger;
        program->part_room = room;
    }
    ji_part_t *part = &program->parts[program->part_count++];
    *part = (ji_part_t){.follower = follower, .phase = program->phase};
    return part;
}

jstatus_t jprogram_record(jprogram_t *program, jhandle_t *handle) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_handle_check_idle(handle, __func__));
    JTRY_RETURN(jprogram_leave(program));

    ji_follower_t *follower = ji_follower_of(program, handle);
    if (follower == NULL)
        return jhandle_fail(handle, JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping",
                            __func__);
    JTRY_RETURN(ji_recording_start(handle, follower, __func__));
    program->chosen = false;
    return JSTATUS_SUCCESS;
}

/* All calls become the program's, each so many times, in the phase that was begun last; or none. */
static jstatus_t program_keep(jprogram_t *program, ji_follower_t *follower, const ji_calls_t *calls,
                              uint64_t times, const char *caller) {
    if (calls->count == 0)
        return JSTATUS_SUCCESS;
    uint64_t total;
    if (__builtin_mul_overflow(ji_calls_total(calls), times, &total) ||
        __builtin_add_overflow(program->total, total, &total))
        return jhandle_fail(follower->handle, JSTATUS_INVALID_SIZE,
                            "%s: more calls than 64 bits count", caller);

    ji_part_t *part = program_part(program, follower);
    if (part == NULL)
        return ji_no_bookkeeping(caller);
    if (!ji_calls_add_all(&part->calls, calls, times)) {
        if (part->calls.count == 0) /* it was made just now, the last */
            --program->part_count;
        return ji_no_bookkeeping(caller);
    }
    if (follower->handle->host.query_bytes > part->host_bytes)
        part->host_bytes = follower->handle->host.query_bytes;
    program->total = total;
    return JSTATUS_SUCCESS;
}

/* Ends a recording, whose calls count so many times. */
static jstatus_t program_stop(jprogram_t *program, jhandle_t *handle, uint64_t times,
                              const char *caller) {
    JTRY_RETURN(ji_handle_check(handle, caller));
    ji_follower_t *follower = ji_follower_of(program, handle);
    if (follower == NULL || !ji_follower_is_recording(follower))
        return jhandle_fail(handle, JSTATUS_SIZE_QUERY_MISMATCH,
                            "%s: the handle is not being recorded", caller);

    ji_recording_t *recording = NULL;
    JTRY_RETURN(ji_recording_stop(handle, caller, &recording));

    const jstatus_t status = program_keep(program, follower, &recording->calls, times, caller);
    ji_recording_destroy(recording);
    return status;
}

jstatus_t jprogram_stop(jprogram_t *program, jhandle_t *handle) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    return program_stop(program, handle, 1, __func__);
}

jstatus_t jprogram_stop_repeated(jprogram_t *program, jhandle_t *handle, uint64_t times) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(times > 0, JSTATUS_INVALID_VALUE, __func__, "times", times,
                   "must be at least 1");
    return program_stop(program, handle, times, __func__);
}

/* ---- The requirement ---- */

/* Of the parts [first, end), which are one phase. */
static jstatus_t phase_requirement(const jprogram_t *program, size_t first, size_t end,
                                   jrequirement_t **requirement) {
    jrequirement_t **parts = ji_metadata_zalloc((end - first) * sizeof *parts);
    if (parts == NULL)
        return ji_no_bookkeeping(__func__);

    jstatus_t status = JSTATUS_SUCCESS;
    for (size_t i = first; i < end && status == JSTATUS_SUCCESS; ++i)
        status = ji_requirement_of_calls(&program->parts[i].calls, program->parts[i].host_bytes,
                                         __func__, &parts[i - first]);
    if (status == JSTATUS_SUCCESS)
        status = jrequirement_create_at_once(end - first, (const jrequirement_t *const *)parts,
                                             requirement);
    for (size_t i = 0; i < end - first; ++i)
        (void)jrequirement_destroy(parts[i]);
    ji_metadata_free(parts);
    return status;
}

/* Where the phase of part `first` ends. */
static size_t phase_end(const jprogram_t *program, size_t first) {
    size_t end = first;
    while (end < program->part_count && program->parts[end].phase == program->parts[first].phase)
        ++end;
    return end;
}

jstatus_t jprogram_get_requirement(const jprogram_t *program, jrequirement_t **requirement) {
    JREQUIRE(program != NULL && requirement != NULL, JSTATUS_INVALID_POINTER);

    jrequirement_t *all = NULL;
    JTRY_RETURN(jrequirement_create_in_order(0, NULL, &all));
    for (size_t first = 0; first < program->part_count; first = phase_end(program, first)) {
        jrequirement_t *phase = NULL, *longer = NULL;
        jstatus_t status = phase_requirement(program, first, phase_end(program, first), &phase);
        if (status == JSTATUS_SUCCESS) {
            const jrequirement_t *const both[] = {all, phase};
            status = jrequirement_create_in_order(2, both, &longer);
        }
        (void)jrequirement_destroy(phase);
        (void)jrequirement_destroy(all);
        if (status != JSTATUS_SUCCESS)
            return status;
        all = longer;
    }
    *requirement = all;
    return JSTATUS_SUCCESS;
}

/* ---- The choice ---- */

/* A phase's parts being joined: sums[i] is of the parts up to i, by divisions[i] of sums[i - 1] and
 * part i. */
typedef struct joined {
    size_t count;
    ji_ladder_t *parts, *sums;
    ji_divisions_t *divisions;
} joined_t;

static void joined_fini(joined_t *joined) {
    for (size_t i = 0; i < joined->count; ++i) {
        if (joined->parts != NULL)
            ji_ladder_fini(&joined->parts[i]);
        if (joined->sums != NULL)
            ji_ladder_fini(&joined->sums[i]);
        if (joined->divisions != NULL)
            ji_divisions_fini(&joined->divisions[i]);
    }
    ji_metadata_free(joined->parts);
    ji_metadata_free(joined->sums);
    ji_metadata_free(joined->divisions);
}

static jstatus_t joined_init(joined_t *joined, size_t count, const ji_part_t *parts) {
    *joined = (joined_t){.count = count};
    joined->parts = ji_metadata_zalloc(count * sizeof *joined->parts);
    joined->sums = ji_metadata_zalloc(count * sizeof *joined->sums);
    joined->divisions = ji_metadata_zalloc(count * sizeof *joined->divisions);
    if (joined->parts == NULL || joined->sums == NULL || joined->divisions == NULL)
        return ji_no_bookkeeping(__func__);

    for (size_t i = 0; i < count; ++i) {
        ji_ladder_t *part = &joined->parts[i], *sum = &joined->sums[i];
        if (!ji_ladder_of_calls(part, &parts[i].calls, JI_TAKING_FASTEST))
            return ji_no_bookkeeping(__func__);
        if (i == 0) {
            if (!ji_ladder_copy(sum, part))
                return ji_no_bookkeeping(__func__);
            continue;
        }

        size_t most;
        const ji_ladder_t *before = &joined->sums[i - 1];
        if (!ji_size_add(before->steps[before->count - 1].size_bytes,
                         part->steps[part->count - 1].size_bytes, &most))
            return ji_fail(JSTATUS_INVALID_SIZE, "jprogram_choose: the sum overflows");
        if (!ji_ladder_divide(&joined->divisions[i], before, part) ||
            !ji_ladder_of_divisions(sum, &joined->divisions[i], before, part))
            return ji_no_bookkeeping(__func__);
    }
    return JSTATUS_SUCCESS;
}

/* The shares of a phase's parts. */
static jstatus_t choose_shares(size_t phase, size_t count, const ji_part_t *parts,
                               size_t budget_bytes, size_t *shares) {
    joined_t joined;
    jstatus_t status;
    JTRY(joined_init(&joined, count, parts));

    const ji_ladder_t *sum = &joined.sums[count - 1];
    size_t step = ji_ladder_find(sum, budget_bytes);
    if (step == sum->count) {
        const jrequirement_step_t *first = &sum->steps[0];
        JTRY(ji_fail(JSTATUS_MEMORY_ERROR,
                     "jprogram_choose: phase %zu needs %zu bytes of workspace, %zu more than the "
                     "budget; %s needs most",
                     phase, first->size_bytes, first->size_bytes - budget_bytes, first->call));
    }
    for (size_t i = count; i-- > 1;) {
        const ji_division_t *division = &joined.divisions[i].at[step];
        shares[i] = joined.parts[i].steps[division->b].size_bytes;
        step = division->a;
    }
    shares[0] = joined.sums[0].steps[step].size_bytes;
done:
    joined_fini(&joined);
    return status;
}

jstatus_t jprogram_choose(jprogram_t *program, size_t budget_bytes) {
    JREQUIRE(program != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(program_check_recorded(program, __func__));
    JTRY_RETURN(jprogram_leave(program));
    size_t *shares = ji_metadata_zalloc((program->part_count + 1) * sizeof *shares);
    if (shares == NULL)
        return ji_no_bookkeeping(__func__);

    jstatus_t status = JSTATUS_SUCCESS;
    for (size_t first = 0, end; first < program->part_count; first = end) {
        end = phase_end(program, first);
        JTRY(choose_shares(program->parts[first].phase, end - first, &program->parts[first],
                           budget_bytes, &shares[first]));
    }

    for (size_t i = 0; i < program->part_count; ++i)
        program->parts[i].share_bytes = shares[i];
    program->chosen = true;
    program->budget_bytes = budget_bytes;
done:
    ji_metadata_free(shares);
    return status;
}

/* ---- Reading ---- */

jstatus_t jprogram_get_info(const jprogram_t *program, jprogram_info_t *info) {
    JREQUIRE(program != NULL && info != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jprogram_info_t, info, call_count));

    jprogram_info_t now = {.budget_bytes = program->chosen ? program->budget_bytes : 0};
    size_t of_phase = 0;
    for (size_t i = 0; i < program->part_count; ++i) {
        const ji_part_t *part = &program->parts[i];
        const bool is_first = i == 0 || part->phase != part[-1].phase;
        now.phase_count += is_first;
        of_phase = is_first ? 0 : of_phase;
        of_phase += part->share_bytes;
        now.call_count += part->calls.count;
        if (program->chosen && of_phase > now.size_bytes)
            now.size_bytes = of_phase;

        for (size_t c = 0; c < part->calls.count && program->chosen; ++c) {
            const ji_call_t *call = &part->calls.at[c];
            const ji_way_t *way = ji_part_way(part, call), *best = ji_call_fastest(call);
            now.seconds += way->seconds * (double)call->times;
            now.best_seconds += best->seconds * (double)call->times;
            now.degraded_count += way == best ? 0 : call->times;
        }
    }
    JI_GIVE_RESULT(info, &now);
    return JSTATUS_SUCCESS;
}

jstatus_t jprogram_get_call(const jprogram_t *program, size_t index, jprogram_call_t *call) {
    JREQUIRE(program != NULL && call != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jprogram_call_t, call, times));

    const ji_part_t *part = program->parts, *end = part + program->part_count;
    for (; part != end && index >= part->calls.count; ++part)
        index -= part->calls.count;
    if (part == end)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: there is no such call", __func__);

    const ji_call_t *of = &part->calls.at[index];
    jprogram_call_t now = {
        .phase = part->phase, .handle = part->follower->handle, .times = of->times};
    ji_call_text(of, now.call);
    if (program->chosen) {
        const ji_way_t *way = ji_part_way(part, of), *best = ji_call_fastest(of);
        now.rung = way->name;
        now.size_bytes = way->bytes, now.seconds = way->seconds;
        now.best_size_bytes = best->bytes, now.best_seconds = best->seconds;
        now.degraded = way != best;
    }
    JI_GIVE_RESULT(call, &now);
    return JSTATUS_SUCCESS;
}

jstatus_t jprogram_get_share(const jprogram_t *program, size_t phase, const jhandle_t *handle,
                             size_t *size_bytes) {
    JREQUIRE(program != NULL && handle != NULL && size_bytes != NULL, JSTATUS_INVALID_POINTER);
    bool is_phase = false;
    for (size_t i = 0; i < program->part_count; ++i) {
        const ji_part_t *part = &program->parts[i];
        is_phase |= part->phase == phase;
        if (program->chosen && part->phase == phase && part->follower->handle == handle) {
            *size_bytes = part->share_bytes;
            return JSTATUS_SUCCESS;
        }
    }
    if (!is_phase)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: there is no phase %zu", __func__, phase);
    return ji_fail(JSTATUS_NOT_FOUND, "%s: %s", __func__,
                   program->chosen ? "the handle has no call in that phase"
                                   : "nothing was chosen yet");
}
