/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How staircases add up. In order, the parts have the same bytes: the thresholds of all are the
 * thresholds of the whole, and times are added. At once, bytes are divided: of the sums of every
 * pair of steps those count that no other pair beats in bytes and in time (Pareto); with two parts
 * joined at a time this is the dynamic program of the multiple-choice knapsack (Dudzinski and
 * Walukiewicz 1987), kept whole instead of for one budget. */

#include "program/ladder.h"

#include <stdlib.h>
#include <string.h>

static bool ladder_make(ji_ladder_t *ladder, size_t room) {
    size_t bytes;
    *ladder = (ji_ladder_t){0};
    if (ji_size_mul(room, sizeof *ladder->steps, &bytes))
        ladder->steps = ji_metadata_zalloc(bytes);
    return ladder->steps != NULL;
}

void ji_ladder_fini(ji_ladder_t *ladder) {
    ji_metadata_free(ladder->steps);
    *ladder = (ji_ladder_t){0};
}

static jrequirement_step_t *ladder_push(ji_ladder_t *ladder, jrequirement_step_t step) {
    step.struct_size = sizeof step;
    ladder->steps[ladder->count] = step;
    return &ladder->steps[ladder->count++];
}

size_t ji_ladder_find(const ji_ladder_t *ladder, size_t bytes) {
    size_t below = 0, above = ladder->count; /* the first step with more bytes is in between */
    while (below < above) {
        const size_t middle = below + (above - below) / 2;
        if (ladder->steps[middle].size_bytes <= bytes)
            below = middle + 1;
        else
            above = middle;
    }
    return below == 0 ? ladder->count : below - 1;
}

bool ji_ladder_copy(ji_ladder_t *ladder, const ji_ladder_t *from) {
    if (!ladder_make(ladder, from->count))
        return false;
    memcpy(ladder->steps, from->steps, from->count * sizeof *from->steps);
    ladder->count = from->count;
    return true;
}

/* ---- A call ---- */

const ji_way_t *ji_call_way(const ji_call_t *call, size_t bytes, ji_taking_t taking) {
    const ji_way_t *best = NULL;
    for (uint32_t i = 0; i < call->way_count; ++i) {
        const ji_way_t *way = &call->ways[i];
        if (way->bytes > bytes || (best != NULL && way->seconds >= best->seconds))
            continue;
        if (taking == JI_TAKING_FIRST)
            return way;
        best = way;
    }
    return best;
}

bool ji_ladder_of_nothing(ji_ladder_t *ladder) {
    return ladder_make(ladder, 1) && ladder_push(ladder, (jrequirement_step_t){0}) != NULL;
}

bool ji_ladder_of_call(ji_ladder_t *ladder, const ji_call_t *call, ji_taking_t taking) {
    if (!ladder_make(ladder, call->way_count))
        return false;

    /* Each way that is taken with exactly its bytes, fewest first. */
    const ji_way_t *best = ji_call_way(call, SIZE_MAX, taking), *last = NULL;
    do {
        const ji_way_t *next = NULL;
        for (uint32_t i = 0; i < call->way_count; ++i) {
            const ji_way_t *way = &call->ways[i];
            if ((last == NULL || way->bytes > last->bytes) &&
                ji_call_way(call, way->bytes, taking) == way &&
                (next == NULL || way->bytes < next->bytes))
                next = way;
        }
        last = next;
        jrequirement_step_t *step = ladder_push(
            ladder, (jrequirement_step_t){.size_bytes = last->bytes,
                                          .seconds = last->seconds * (double)call->times,
                                          .degraded_count = last == best ? 0 : call->times,
                                          .rung = last->name});
        ji_call_text(call, step->call);
    } while (last != best);
    return true;
}

/* ---- In order ---- */

/* A part's next step. */
typedef struct event {
    size_t bytes;
    uint32_t part, step;
} event_t;

static int compare_events(const void *left, const void *right) {
    const event_t *a = left, *b = right;
    return a->bytes != b->bytes ? (a->bytes > b->bytes) - (a->bytes < b->bytes)
           : a->part != b->part ? (a->part > b->part) - (a->part < b->part)
                                : (a->step > b->step) - (a->step < b->step);
}

/* What the part gains by going one step up. */
static double gain(const ji_ladder_t *part, uint32_t step) {
    return part->steps[step - 1].seconds - part->steps[step].seconds;
}

/* The steps above the first, from events in order. */
static void in_order_rise(ji_ladder_t *ladder, const event_t *events, size_t count,
                          const ji_ladder_t *parts) {
    for (size_t i = 0; i < count;) {
        jrequirement_step_t next = ladder->steps[ladder->count - 1];
        const size_t bytes = events[i].bytes;
        double most = 0;
        bool named = false;

        for (; i < count && events[i].bytes == bytes; ++i) {
            const ji_ladder_t *part = &parts[events[i].part];
            const jrequirement_step_t *step = &part->steps[events[i].step];
            const double gained = gain(part, events[i].step);
            next.seconds -= gained;
            next.degraded_count -= step[-1].degraded_count;
            next.degraded_count += step->degraded_count;
            if (named && gained <= most)
                continue;
            named = true;
            most = gained;
            memcpy(next.call, step->call, sizeof next.call);
            next.rung = step->rung;
        }
        next.size_bytes = bytes;
        ladder_push(ladder, next);
    }
}

bool ji_ladder_in_order(ji_ladder_t *ladder, size_t count, const ji_ladder_t *parts) {
    if (count == 0)
        return ji_ladder_of_nothing(ladder);

    /* With the least bytes that all can run with, each part is on some step. */
    size_t hungriest = 0, rises = 0;
    for (size_t i = 0; i < count; ++i) {
        rises += parts[i].count;
        if (parts[i].steps[0].size_bytes > parts[hungriest].steps[0].size_bytes)
            hungriest = i;
    }
    jrequirement_step_t first = parts[hungriest].steps[0];
    first.seconds = 0, first.degraded_count = 0;

    size_t bytes, events_count = 0;
    event_t *events = ji_size_mul(rises, sizeof *events, &bytes) ? ji_metadata_zalloc(bytes) : NULL;
    if (events == NULL || !ladder_make(ladder, rises)) {
        ji_metadata_free(events);
        *ladder = (ji_ladder_t){0};
        return false;
    }

    for (size_t i = 0; i < count; ++i) {
        const size_t at = ji_ladder_find(&parts[i], first.size_bytes);
        first.seconds += parts[i].steps[at].seconds;
        first.degraded_count += parts[i].steps[at].degraded_count;
        for (size_t step = at + 1; step < parts[i].count; ++step)
            events[events_count++] =
                (event_t){parts[i].steps[step].size_bytes, (uint32_t)i, (uint32_t)step};
    }
    ladder_push(ladder, first);
    qsort(events, events_count, sizeof *events, compare_events);
    in_order_rise(ladder, events, events_count, parts);
    ji_metadata_free(events);
    return true;
}

bool ji_ladder_of_calls(ji_ladder_t *ladder, const ji_calls_t *calls, ji_taking_t taking) {
    ji_ladder_t *parts = NULL;
    size_t bytes, made = 0;
    *ladder = (ji_ladder_t){0};
    if (calls->count > 0 && ji_size_mul(calls->count, sizeof *parts, &bytes))
        parts = ji_metadata_zalloc(bytes);
    bool sound = calls->count == 0 || parts != NULL;
    for (; sound && made < calls->count; ++made)
        sound = ji_ladder_of_call(&parts[made], &calls->at[made], taking);
    if (sound)
        sound = ji_ladder_in_order(ladder, calls->count, parts);
    for (size_t i = 0; i < made; ++i)
        ji_ladder_fini(&parts[i]);
    ji_metadata_free(parts);
    return sound;
}

/* ---- At once ---- */

/* The steps of a ladder that take part: no time above that of fewer bytes, but for the last; of
 * many, those nearest to levels of time that are evenly apart. */
static uint32_t choose_steps(const ji_ladder_t *ladder, uint32_t *chosen) {
    const jrequirement_step_t *steps = ladder->steps;
    double least = steps[0].seconds;
    for (size_t i = 1; i < ladder->count; ++i)
        least = steps[i].seconds < least ? steps[i].seconds : least;

    const bool all = ladder->count <= JI_LADDER_MAX_STEPS;
    const double apart = all ? 0 : (steps[0].seconds - least) / (JI_LADDER_MAX_STEPS - 3);
    uint32_t count = 0;
    chosen[count++] = 0;
    double above = steps[0].seconds;
    for (size_t i = 1; i + 1 < ladder->count; ++i)
        if (steps[i].seconds < above - apart) {
            chosen[count++] = (uint32_t)i;
            above = steps[i].seconds;
        }
    if (ladder->count > 1)
        chosen[count++] = (uint32_t)ladder->count - 1;
    return count;
}

static int compare_divisions(const void *left, const void *right) {
    const ji_division_t *a = left, *b = right;
    return a->bytes != b->bytes       ? (a->bytes > b->bytes) - (a->bytes < b->bytes)
           : a->seconds != b->seconds ? (a->seconds > b->seconds) - (a->seconds < b->seconds)
           : a->a != b->a             ? (a->a > b->a) - (a->a < b->a)
                                      : (a->b > b->b) - (a->b < b->b);
}

void ji_divisions_fini(ji_divisions_t *divisions) {
    ji_metadata_free(divisions->at);
    *divisions = (ji_divisions_t){0};
}

bool ji_ladder_divide(ji_divisions_t *divisions, const ji_ladder_t *a, const ji_ladder_t *b) {
    uint32_t of_a[JI_LADDER_MAX_STEPS], of_b[JI_LADDER_MAX_STEPS];
    const uint32_t count_a = choose_steps(a, of_a), count_b = choose_steps(b, of_b);
    const size_t pairs = (size_t)count_a * count_b;

    *divisions = (ji_divisions_t){.at = ji_metadata_zalloc(pairs * sizeof *divisions->at)};
    if (divisions->at == NULL)
        return false;

    size_t count = 0;
    for (uint32_t i = 0; i < count_a; ++i)
        for (uint32_t j = 0; j < count_b; ++j) {
            const jrequirement_step_t *x = &a->steps[of_a[i]], *y = &b->steps[of_b[j]];
            divisions->at[count++] = (ji_division_t){.bytes = x->size_bytes + y->size_bytes,
                                                     .seconds = x->seconds + y->seconds,
                                                     .a = of_a[i],
                                                     .b = of_b[j]};
        }
    qsort(divisions->at, count, sizeof *divisions->at, compare_divisions);

    divisions->count = 1;
    for (size_t i = 1; i < count; ++i) {
        const ji_division_t *kept = &divisions->at[divisions->count - 1];
        const bool is_last = i + 1 == count && divisions->at[i].bytes > kept->bytes;
        if (divisions->at[i].seconds < kept->seconds || is_last)
            divisions->at[divisions->count++] = divisions->at[i];
    }
    return true;
}

/* What the division gives to the part that gains most over the one before. */
static const jrequirement_step_t *gaining(const ji_division_t *now, const ji_division_t *before,
                                          const ji_ladder_t *a, const ji_ladder_t *b) {
    const jrequirement_step_t *x = &a->steps[now->a], *y = &b->steps[now->b];
    if (before == NULL) /* the hungrier */
        return x->size_bytes >= y->size_bytes ? x : y;
    const double by_a = a->steps[before->a].seconds - x->seconds,
                 by_b = b->steps[before->b].seconds - y->seconds;
    if (now->a == before->a)
        return y;
    return now->b == before->b || by_a >= by_b ? x : y;
}

bool ji_ladder_of_divisions(ji_ladder_t *ladder, const ji_divisions_t *divisions,
                            const ji_ladder_t *a, const ji_ladder_t *b) {
    if (!ladder_make(ladder, divisions->count))
        return false;
    for (size_t i = 0; i < divisions->count; ++i) {
        const ji_division_t *now = &divisions->at[i];
        jrequirement_step_t step = *gaining(now, i == 0 ? NULL : now - 1, a, b);
        step.size_bytes = now->bytes;
        step.seconds = now->seconds;
        step.degraded_count = a->steps[now->a].degraded_count + b->steps[now->b].degraded_count;
        ladder_push(ladder, step);
    }
    return true;
}
