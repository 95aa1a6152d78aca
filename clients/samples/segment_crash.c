/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A worker is killed in the middle of its work, and nothing is lost.
 *
 * The worker allocates and frees in a shared segment without end, has a result for its parent, and
 * is killed by SIGKILL at no particular moment. The parent gives back what it owned; the result,
 * which the worker had given to the segment, stays; and the books are what they were before. */

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

enum { BLOCKS = 1000, RESULT = 42 };

/* Does not return. */
static int work(jsegment_t *segment, jshared_t *heap) {
    joffset_t result;
    TRY(jshared_allocate(heap, sizeof(int), 0, &result));
    *JSEGMENT_AT(segment, int, result, 1) = RESULT;
    TRY(jshared_give(heap, result, JSEGMENT_SLOT_SEGMENT));
    TRY(jsegment_set_root(segment, "result", result));

    static joffset_t blocks[BLOCKS];
    for (unsigned random = 1;; random = random * 1664525 + 1013904223) {
        joffset_t *block = &blocks[(random >> 16) % BLOCKS];
        TRY(jshared_deallocate(heap, *block));
        TRY(jshared_allocate(heap, 1 + (random >> 8) % 20000, 0, block));
    }
}

static int show_books(jsegment_t *segment, const char *when, jsegment_stats_t *stats) {
    TRY(jsegment_get_stats(segment, stats));
    printf("%-18s %8zu owned %6zu given %8zu ready %8zu free of %8zu bytes\n", when,
           stats->owned_bytes, stats->given_bytes, stats->cached_bytes, stats->free_bytes,
           stats->size_bytes);
    CLAIM(stats->metadata_bytes + stats->owned_bytes + stats->given_bytes + stats->cached_bytes +
              stats->free_bytes ==
          stats->size_bytes);
    return 0;
}

int main(void) {
    /* Without a name: the child inherits it. */
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.size_bytes = (size_t)32 << 20;
    jsegment_t *segment;
    jshared_t *heap;
    TRY(jsegment_create(&options, &segment));
    TRY(jshared_create(segment, 1, NULL, &heap));
    jsegment_stats_t before = JSEGMENT_STATS_INIT, dead = JSEGMENT_STATS_INIT,
                     after = JSEGMENT_STATS_INIT;
    if (show_books(segment, "before", &before))
        return 1;

    const pid_t worker = fork();
    CLAIM(worker >= 0);
    if (worker == 0)
        _exit(work(segment, heap));
    joffset_t result;
    jstatus_t status;
    while ((status = jsegment_get_root(segment, "result", &result)) == JSTATUS_NOT_FOUND)
        usleep(1000);
    TRY(status);
    usleep(100000);
    kill(worker, SIGKILL);
    int how;
    CLAIM(waitpid(worker, &how, 0) == worker && WIFSIGNALED(how));
    if (show_books(segment, "the worker is dead", &dead))
        return 1;

    /* It would happen by itself, when memory runs out or somebody attaches. */
    unsigned count;
    TRY(jsegment_recover(segment, &count));
    TRY(jsegment_verify(segment));
    if (show_books(segment, "recovered", &after))
        return 1;
    CLAIM(after.reaped_count == before.reaped_count + 1 && after.processes == 1 &&
          after.owned_bytes == 0);
    CLAIM(*JSEGMENT_AT(segment, int, result, 1) == RESULT);

    TRY(jsegment_set_root(segment, "result", JOFFSET_NULL));
    TRY(jshared_deallocate(heap, result));
    TRY(jshared_destroy(heap));
    TRY(jsegment_detach(segment));
    return 0;
}
