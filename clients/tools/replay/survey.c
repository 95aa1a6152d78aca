/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Memory over time. What is in use is counted here, after every operation. What is reserved is
 * asked of the provider, whose peak misses nothing; on long traces it is asked SURVEY_LOOKS times,
 * and at least once in each part of the time.
 *
 * When most is in use is known beforehand, if the allocator serves what the trace was served. If
 * not, the trace is played again, up to the moment that the play before has found. */

#include "survey.h"

#include <string.h>

#include "../common/terminal.h"
#include "books.h"

#define SURVEY_LOOKS 100000
#define SURVEY_PLAYS 3 /* an allocator may refuse now what it served before */

size_t survey_part(const survey_t *survey, const trace_t *trace, size_t operation) {
    double all =
        survey->by_time ? (double)trace_duration_ns(trace) : (double)(trace->operation_count - 1);
    double here = survey->by_time ? (double)trace->times_ns[operation] : (double)operation;
    size_t part = all > 0 ? (size_t)(here / all * SURVEY_SAMPLES) : 0;
    return part < SURVEY_SAMPLES ? part : SURVEY_SAMPLES - 1;
}

static void survey_look(survey_t *survey, sample_t *sample, const player_t *player) {
    sample->reserved_bytes = player_reserved(player, &survey->peak_reserved_bytes);
    if (sample->reserved_bytes > sample->reserved_max_bytes)
        sample->reserved_max_bytes = sample->reserved_bytes;
}

/* A part begins as the one before it ended. */
static void survey_go_on(survey_t *survey, size_t from, size_t to) {
    for (size_t part = from + 1; part <= to; part++) {
        sample_t *sample = &survey->samples[part];
        *sample = survey->samples[part - 1];
        sample->in_use_max_bytes = sample->in_use_bytes;
        sample->reserved_max_bytes = sample->reserved_bytes;
    }
}

static void survey_play(survey_t *survey, snapshot_t *snapshot, const trace_t *trace,
                        const play_options_t *options, const char *composition, owner_by_t by,
                        size_t moment) {
    player_t player;
    size_t in_use = 0, part = 0;
    const size_t stride = trace->operation_count / SURVEY_LOOKS + 1;
    memset(survey, 0, sizeof *survey);
    survey->by_time = trace_duration_ns(trace) > 0;
    books_begin();
    player_init(&player, trace, options, composition);
    player_reset(&player);
    for (size_t i = 0; i < trace->operation_count; i++) {
        size_t next_part = survey_part(survey, trace, i);
        if (next_part > part)
            survey_look(survey, &survey->samples[part], &player);
        survey_go_on(survey, part, next_part);
        part = next_part;
        sample_t *sample = &survey->samples[part];
        in_use += (size_t)player_step(&player, i) * trace->operations[i].size_bytes;
        sample->in_use_bytes = in_use;
        if (in_use > sample->in_use_max_bytes)
            sample->in_use_max_bytes = in_use;
        if (in_use > survey->peak_in_use_bytes) {
            survey->peak_in_use_bytes = in_use;
            survey->peak_at = i;
        }
        if (i == moment)
            snapshot_take(snapshot, &player, i, by);
        if (i % stride == 0 || i + 1 == trace->operation_count)
            survey_look(survey, sample, &player);
        if (i % 65536 == 0)
            tool_progress("measuring memory", i, trace->operation_count);
    }
    tool_progress_end();
    survey_go_on(survey, part, SURVEY_SAMPLES - 1);
    if (trace->operation_count == 0)
        snapshot_take(snapshot, &player, 0, by);
    survey_look(survey, &survey->samples[SURVEY_SAMPLES - 1], &player);
    survey->peak_books_bytes = books_peak_bytes();
    player_free_live(&player, trace->operation_count);
    survey->faults = player.faults;
    player_fini(&player);
}

static double survey_fragmentation(const player_t *player) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    jallocator_get_stats(player->allocator, &stats);
    return stats.fragmentation;
}

/* Fragmentation at the end of each part, and at the peak. */
static void survey_look_inside(survey_t *survey, snapshot_t *snapshot, const trace_t *trace,
                               const play_options_t *options, const char *composition) {
    player_t player;
    size_t part = 0;
    player_init(&player, trace, options, composition);
    player_reset(&player);
    for (size_t i = 0; i < trace->operation_count; i++) {
        for (size_t next = survey_part(survey, trace, i); part < next; part++)
            survey->samples[part].fragmentation = survey_fragmentation(&player);
        player_step(&player, i);
        if (i == survey->peak_at)
            snapshot->fragmentation = survey_fragmentation(&player);
    }
    for (; part < SURVEY_SAMPLES; part++)
        survey->samples[part].fragmentation = survey_fragmentation(&player);
    player_free_live(&player, trace->operation_count);
    player_fini(&player);
}

void survey_take(survey_t *survey, snapshot_t *snapshot, const trace_t *trace,
                 const play_options_t *options, const char *composition, owner_by_t by) {
    size_t moment = trace->peak_at;
    survey_play(survey, snapshot, trace, options, composition, by, moment);
    for (int plays = 1; survey->peak_at != moment && plays < SURVEY_PLAYS; plays++) {
        moment = survey->peak_at;
        snapshot_free(snapshot);
        survey_play(survey, snapshot, trace, options, composition, by, moment);
    }
    survey->peak_at = moment;
    survey_look_inside(survey, snapshot, trace, options, composition);
}
