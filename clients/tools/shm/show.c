/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* One segment in full: its books, who is attached, what belongs to which allocator, and a map.
 *
 * The map has at most MAP_ROWS rows of MAP_COLUMNS characters; each stands for as many pages as
 * that takes and shows what most of them are. What the picture shows besides, a file can take
 * (--svg). */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm.h"

enum {
    MAP_COLUMNS = 64,
    MAP_ROWS = 24,
    MAP_CELLS = MAP_COLUMNS * MAP_ROWS,
    EXTENT_STATES = JEXTENT_REGION + 1
};

static const char *const extent_names[EXTENT_STATES] = {"tables", "free",  "blocks",
                                                        "cached", "slabs", "regions"};
static const char map_letters[EXTENT_STATES] = {'=', '.', 'B', 'c', 's', 'r'};

typedef struct user {
    uint64_t id;
    uint64_t block_bytes, block_count; /* live: extents of their own, and in slabs */
    uint64_t slab_bytes, region_bytes;
} user_t;

typedef struct survey {
    uint64_t cell_bytes;
    uint64_t cells[MAP_CELLS][EXTENT_STATES];
    uint64_t bytes[EXTENT_STATES], count[EXTENT_STATES];
    user_t users[JSHARED_MAX_ALLOCATORS];
    size_t user_count;
} survey_t;

static user_t *survey_user(survey_t *survey, uint64_t id) {
    for (size_t i = 0; i < survey->user_count; i++)
        if (survey->users[i].id == id)
            return &survey->users[i];
    if (survey->user_count == JSHARED_MAX_ALLOCATORS)
        return NULL;
    user_t *user = &survey->users[survey->user_count++];
    user->id = id;
    return user;
}

static bool survey_see(void *context, const jextent_t *extent) {
    survey_t *survey = context;
    if ((unsigned)extent->state >= EXTENT_STATES)
        return true;
    survey->bytes[extent->state] += extent->size_bytes;
    survey->count[extent->state]++;
    const uint64_t end = extent->offset + extent->size_bytes, cell_bytes = survey->cell_bytes;
    for (uint64_t at = extent->offset; at < end;) {
        const uint64_t index = at / cell_bytes, cell_end = (index + 1) * cell_bytes;
        const uint64_t part = (end < cell_end ? end : cell_end) - at;
        if (index >= MAP_CELLS) /* it has grown meanwhile */
            break;
        survey->cells[index][extent->state] += part;
        at += part;
    }
    user_t *user = extent->allocator_id != 0 ? survey_user(survey, extent->allocator_id) : NULL;
    if (user == NULL)
        return true;
    if (extent->state == JEXTENT_BLOCK) {
        user->block_bytes += extent->size_bytes;
        user->block_count++;
    } else if (extent->state == JEXTENT_SLAB) {
        user->slab_bytes += extent->size_bytes;
        user->block_bytes += (uint64_t)extent->live_count * extent->block_bytes;
        user->block_count += extent->live_count;
    } else if (extent->state == JEXTENT_REGION) {
        user->region_bytes += extent->size_bytes;
    }
    return true;
}

static double fragmentation(const jsegment_stats_t *stats) {
    return stats->free_bytes ? 1 - (double)stats->largest_free_bytes / (double)stats->free_bytes
                             : 0;
}

/* ---- For programs ---- */

static void json_show(const shm_found_t *found, const survey_t *survey) {
    const jsegment_stats_t *stats = &found->stats;
    json_open(NULL, '{');
    json_text("name", found->name);
    json_text("path", found->path);
    json_text("state", shm_state_name(found->state));
    json_number("owner", found->owner);
    json_number("created_at", found->created_at);
    json_open("statistics", '{');
    json_number("size_bytes", (int64_t)stats->size_bytes);
    json_number("max_bytes", (int64_t)stats->max_bytes);
    json_number("metadata_bytes", (int64_t)stats->metadata_bytes);
    json_number("owned_bytes", (int64_t)stats->owned_bytes);
    json_number("given_bytes", (int64_t)stats->given_bytes);
    json_number("cached_bytes", (int64_t)stats->cached_bytes);
    json_number("free_bytes", (int64_t)stats->free_bytes);
    json_number("largest_free_bytes", (int64_t)stats->largest_free_bytes);
    json_number("free_extents", (int64_t)stats->free_extents);
    json_real("fragmentation", fragmentation(stats));
    json_number("processes", stats->processes);
    json_number("max_processes", stats->max_processes);
    json_number("allocators", stats->allocators);
    json_number("growth_count", (int64_t)stats->growth_count);
    json_number("rollback_count", (int64_t)stats->rollback_count);
    json_number("reaped_count", (int64_t)stats->reaped_count);
    json_bool("poisoned", stats->poisoned);
    json_close('}');
    json_open("extents", '{');
    for (int state = 0; state < EXTENT_STATES; state++) {
        json_open(extent_names[state], '{');
        json_number("bytes", (int64_t)survey->bytes[state]);
        json_number("count", (int64_t)survey->count[state]);
        json_close('}');
    }
    json_close('}');
    json_open("slots", '[');
    for (unsigned slot = 1; slot <= stats->max_processes; slot++) {
        jsegment_process_t process = JSEGMENT_PROCESS_INIT;
        if (shm_get_process(found->segment, slot, &process) != JSTATUS_SUCCESS || !process.attached)
            continue;
        json_open(NULL, '{');
        json_number("slot", slot);
        json_number("pid", process.pid);
        json_bool("alive", process.alive);
        json_bool("liveness_known", process.liveness_known);
        json_number("attached_at", process.attached_at);
        json_number("owned_bytes", (int64_t)process.owned_bytes);
        json_number("cached_bytes", (int64_t)process.cached_bytes);
        json_close('}');
    }
    json_close(']');
    json_open("allocators", '[');
    for (size_t i = 0; i < survey->user_count; i++) {
        const user_t *user = &survey->users[i];
        char id[24];
        /* Many readers of JSON have 53 bits. */
        snprintf(id, sizeof id, "%llu", (unsigned long long)user->id);
        json_open(NULL, '{');
        json_text("id", id);
        json_number("live_bytes", (int64_t)user->block_bytes);
        json_number("live_count", (int64_t)user->block_count);
        json_number("slab_bytes", (int64_t)user->slab_bytes);
        json_number("region_bytes", (int64_t)user->region_bytes);
        json_close('}');
    }
    json_close(']');
    json_open("roots", '[');
    for (unsigned i = 0; i < JSEGMENT_MAX_ROOTS; i++) {
        char name[JSEGMENT_ROOT_NAME_BYTES];
        joffset_t offset;
        if (jsegment_get_root_at(found->segment, i, name, &offset) != JSTATUS_SUCCESS)
            continue;
        json_open(NULL, '{');
        json_text("name", name);
        json_number("offset", (int64_t)offset);
        json_close('}');
    }
    json_close(']');
    json_close('}');
    json_end();
}

/* ---- For people ---- */

static void text_bytes(const char *name, uint64_t bytes, const char *note) {
    printf("  %-16s %14llu  %10s  %s\n", name, (unsigned long long)bytes, shm_size_text(bytes).text,
           note);
}

static void text_statistics(const shm_found_t *found) {
    const jsegment_stats_t *stats = &found->stats;
    shm_print_safe(stdout, found->name, 0);
    printf(": %s (%s)\n", shm_state_name(found->state), shm_state_text(found->state));
    printf("  made %s by %s; ", shm_time_text(found->created_at).text,
           shm_user_text(found->owner).text);
    shm_print_safe(stdout, found->path, 0);
    puts("\n\nBytes");
    text_bytes("size", stats->size_bytes, "");
    text_bytes("at most", stats->max_bytes, "");
    text_bytes("metadata", stats->metadata_bytes, "tables, headers, stacks");
    text_bytes("owned", stats->owned_bytes, "blocks of processes");
    text_bytes("given", stats->given_bytes, "blocks of the segment itself");
    text_bytes("cached", stats->cached_bytes, "free blocks that a process keeps ready");
    text_bytes("free", stats->free_bytes, "for anybody");
    char note[64];
    snprintf(note, sizeof note, "fragmentation %.2f, %zu extents", fragmentation(stats),
             stats->free_extents);
    text_bytes("largest free", stats->largest_free_bytes, note);
    printf("\nHistory\n  grown %llu times, %llu half-done changes undone, %llu dead processes "
           "cleared away\n",
           (unsigned long long)stats->growth_count, (unsigned long long)stats->rollback_count,
           (unsigned long long)stats->reaped_count);
}

static void text_slots(const shm_found_t *found) {
    printf("\nProcesses: %u of %u\n", found->alive + found->dead, found->stats.max_processes);
    if (found->alive + found->dead > 0)
        printf("  %4s %10s  %-7s  %-19s %12s %12s\n", "slot", "pid", "state", "attached", "owned",
               "cached");
    for (unsigned slot = 1; slot <= found->stats.max_processes; slot++) {
        jsegment_process_t process = JSEGMENT_PROCESS_INIT;
        if (shm_get_process(found->segment, slot, &process) != JSTATUS_SUCCESS || !process.attached)
            continue;
        printf("  %4u %10lld  %-7s  %-19s %12s %12s\n", slot, (long long)process.pid,
               !process.liveness_known ? "unknown"
               : process.alive         ? "alive"
                                       : "dead",
               shm_time_text(process.attached_at).text, shm_size_text(process.owned_bytes).text,
               shm_size_text(process.cached_bytes).text);
    }
}

static void text_roots(const shm_found_t *found) {
    unsigned shown = 0;
    for (unsigned i = 0; i < JSEGMENT_MAX_ROOTS; i++) {
        char name[JSEGMENT_ROOT_NAME_BYTES];
        joffset_t offset;
        if (jsegment_get_root_at(found->segment, i, name, &offset) != JSTATUS_SUCCESS)
            continue;
        if (shown++ == 0)
            puts("\nRoots");
        printf("  %20llu  ", (unsigned long long)offset);
        shm_print_safe(stdout, name, 0);
        putchar('\n');
    }
}

static void text_allocators(const shm_found_t *found, const survey_t *survey) {
    printf("\nAllocators: %u\n", found->stats.allocators);
    if (survey->user_count > 0)
        printf("  %20s %12s %10s %12s %12s\n", "id", "live", "blocks", "slabs", "regions");
    for (size_t i = 0; i < survey->user_count; i++) {
        const user_t *user = &survey->users[i];
        printf("  %20llu %12s %10llu %12s %12s\n", (unsigned long long)user->id,
               shm_size_text(user->block_bytes).text, (unsigned long long)user->block_count,
               shm_size_text(user->slab_bytes).text, shm_size_text(user->region_bytes).text);
    }
}

static void text_map(const shm_found_t *found, const survey_t *survey) {
    const uint64_t cell_bytes = survey->cell_bytes;
    const uint64_t count = (found->stats.size_bytes + cell_bytes - 1) / cell_bytes;
    printf("\nMap: a character is %s;", shm_size_text(cell_bytes).text);
    for (int state = 0; state < EXTENT_STATES; state++)
        printf(" %c %s", map_letters[state], extent_names[state]);
    putchar('\n');
    for (uint64_t i = 0; i < count && i < MAP_CELLS; i++) {
        if (i % MAP_COLUMNS == 0)
            printf("%s%12llx  ", i ? "\n" : "", (unsigned long long)i * cell_bytes);
        int most = 0;
        for (int state = 1; state < EXTENT_STATES; state++)
            if (survey->cells[i][state] > survey->cells[i][most])
                most = state;
        putchar(map_letters[most]);
    }
    putchar('\n');
}

static void write_file(void *context, const char *text, size_t length) {
    fwrite(text, 1, length, context);
}

static int draw(const shm_found_t *found, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        shm_complain(path, "", strerror(errno));
        return TOOL_FAILED;
    }
    jstatus_t status;
    int attempt = 0;
    do /* nothing is written unless it succeeds */
        status = jsegment_draw(found->segment, write_file, file);
    while (shm_again(status, &attempt));
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        shm_complain(path, "", "could not be written");
        return TOOL_FAILED;
    }
    if (status != JSTATUS_SUCCESS) {
        shm_complain(found->path, "", jstatus_last_message());
        return TOOL_FAILED;
    }
    return TOOL_GOOD;
}

int shm_show(shm_found_t *found, bool json, bool map, const char *svg) {
    survey_t *survey = calloc(1, sizeof *survey);
    if (survey == NULL) {
        fputs("jalloc-shm: no memory\n", stderr);
        return TOOL_FAILED;
    }
    uint64_t cell_bytes = 4096;
    while (cell_bytes * MAP_CELLS < found->stats.size_bytes)
        cell_bytes *= 2;
    jstatus_t status;
    int attempt = 0;
    do {
        memset(survey, 0, sizeof *survey);
        survey->cell_bytes = cell_bytes;
        status = jsegment_visit(found->segment, survey_see, survey);
    } while (shm_again(status, &attempt));
    int result = TOOL_GOOD;
    if (status != JSTATUS_SUCCESS) {
        shm_complain(found->path, "", jstatus_last_message());
        result = TOOL_FAILED;
    }
    if (json) {
        json_show(found, survey);
    } else {
        text_statistics(found);
        text_slots(found);
        text_allocators(found, survey);
        text_roots(found);
        if (map)
            text_map(found, survey);
    }
    free(survey);
    if (svg != NULL && draw(found, svg) != TOOL_GOOD)
        result = TOOL_FAILED;
    return result;
}
