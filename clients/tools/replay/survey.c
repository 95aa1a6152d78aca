/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Memory over time. What is in use is counted here, after every operation. What is reserved is asked of the allocator,
 * and asking may cost it a walk over its lists; so on long traces it is asked SURVEY_LOOKS times, and at least once in
 * each part of the time. Its peak is the allocator's own count, which misses nothing. */

#include "survey.h"

#include <string.h>

#include "replay.h"

#define SURVEY_LOOKS 100000

size_t survey_part(const survey_t *survey, const trace_t *trace, size_t operation) {
    double all = survey->by_time ? (double)trace_duration_ns(trace) : (double)(trace->operation_count - 1);
    double here = survey->by_time ? (double)trace->times_ns[operation] : (double)operation;
    size_t part = all > 0 ? (size_t)(here / all * SURVEY_SAMPLES) : 0;
    return part < SURVEY_SAMPLES ? part : SURVEY_SAMPLES - 1;
}

/* Statistics of an allocator that is there cannot fail. */
static jallocator_stats_t survey_stats(jallocator_t *allocator) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    jallocator_get_stats(allocator, &stats);
    return stats;
}

static void survey_look(sample_t *sample, jallocator_t *allocator) {
    jallocator_stats_t stats = survey_stats(allocator);
    sample->reserved_bytes = stats.reserved_bytes;
    sample->fragmentation = stats.fragmentation;
    if (stats.reserved_bytes > sample->reserved_max_bytes)
        sample->reserved_max_bytes = stats.reserved_bytes;
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

void survey_take(survey_t *survey, const trace_t *trace, const play_options_t *options, const char *composition) {
    player_t player;
    size_t in_use = 0, part = 0;
    const size_t stride = trace->operation_count / SURVEY_LOOKS + 1;
    memset(survey, 0, sizeof *survey);
    survey->by_time = trace_duration_ns(trace) > 0;
    player_init(&player, trace, options, composition);
    player_reset(&player);
    for (size_t i = 0; i < trace->operation_count; i++) {
        size_t next_part = survey_part(survey, trace, i);
        if (next_part > part)
            survey_look(&survey->samples[part], player.allocator);
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
        if (i % stride == 0 || i + 1 == trace->operation_count)
            survey_look(sample, player.allocator);
        if (i % 65536 == 0)
            replay_progress("measuring memory", i, trace->operation_count);
    }
    replay_progress_end();
    survey_go_on(survey, part, SURVEY_SAMPLES - 1);
    survey->peak_reserved_bytes = survey_stats(player.allocator).peak_reserved_bytes;
    player_free_live(&player, trace->operation_count);
    survey->faults = player.faults;
    player_fini(&player);
}
