/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Recording what a program allocates, and playing it on another allocator.
 *
 * The first half is any program; `record` writes each call to a trace, as JALLOC_RECORD=FILE would
 * without a change to it. The second half reads the trace and asks the same of other compositions,
 * to see what they would have reserved. jalloc-replay does that with threads, streams, RMM's logs
 * and pictures; this shows that a trace is no more than lines of text. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"

enum { STEPS = 40, LAYERS = 6, LIVE = 64 };

/* Forward, layers are allocated; backward, they are freed; the sizes change from step to step. */
static int work(jallocator_t *allocator) {
    for (int step = 0; step < STEPS; step++) {
        void *layer[LAYERS];
        size_t bytes[LAYERS];
        for (int i = 0; i < LAYERS; i++) {
            JALLOC_TAG(i % 2 == 0 ? "weights" : "activations");
            bytes[i] = (size_t)(i + 1) * (size_t)(20000 + 900 * (step % 7));
            TRY(jallocator_allocate(allocator, bytes[i], 0, NULL, &layer[i]));
        }
        for (int i = LAYERS; i-- > 0;)
            TRY(jallocator_deallocate(allocator, layer[i], bytes[i], NULL));
    }
    return 0;
}

/* Plays the trace; only its pointers name the blocks here. */
static int replay(const char *path, const char *composition) {
    struct {
        unsigned long long name;
        void *pointer;
        size_t bytes;
    } live[LIVE] = {{0, NULL, 0}};
    jallocator_t *allocator;
    char line[512];
    int calls = 0;
    FILE *trace = fopen(path, "r");
    CLAIM(trace != NULL && fgets(line, sizeof line, trace) != NULL); /* the names of the columns */
    TRY(jallocator_compose(NULL, composition, &allocator));
    while (fgets(line, sizeof line, trace) != NULL) {
        char action[20];
        unsigned long long name;
        size_t bytes;
        CLAIM(sscanf(line, "%*d,%*d,%19[a-z ],0x%llx,%zu", action, &name, &bytes) == 3);
        /* The block, or an empty place. */
        const unsigned long long wanted = strcmp(action, "free") == 0 ? name : 0;
        int i = 0;
        while (i < LIVE && live[i].name != wanted)
            i++;
        CLAIM(i < LIVE);
        if (wanted != 0) {
            TRY(jallocator_deallocate(allocator, live[i].pointer, live[i].bytes, NULL));
            live[i].name = 0;
        } else {
            TRY(jallocator_allocate(allocator, bytes, 0, NULL, &live[i].pointer));
            live[i].name = name;
            live[i].bytes = bytes;
        }
        calls++;
    }
    fclose(trace);
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    TRY(jallocator_get_stats(allocator, &stats));
    printf("%-18s %d calls, peak in use %zu, peak reserved %zu (%.2f times)\n", composition, calls,
           stats.peak_in_use_bytes, stats.peak_reserved_bytes,
           (double)stats.peak_reserved_bytes / (double)stats.peak_in_use_bytes);
    CLAIM(calls == 2 * STEPS * LAYERS && stats.live_count == 0);
    TRY(jallocator_destroy(allocator));
    return 0;
}

int main(void) {
    char path[] = "/tmp/jalloc-trace-XXXXXX", composition[80];
    int file = mkstemp(path);
    CLAIM(file >= 0);
    close(file);

    jallocator_t *allocator;
    snprintf(composition, sizeof composition, "bfc+record(file=%s)", path);
    TRY(jallocator_compose(NULL, composition, &allocator));
    if (work(allocator))
        return 1;
    TRY(jallocator_destroy(allocator));

    int failed = replay(path, "bfc") || replay(path, "bfc(growth=100)") || replay(path, "lru") ||
                 replay(path, "general");
    remove(path);
    return failed;
}
