/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

/* A library that takes hooks, and keeps numbers in a vector that grows. */
static void *(*library_malloc)(size_t);
static void *(*library_realloc)(void *, size_t);
static void (*library_free)(void *);
static void library_set_memory(void *(*malloc_hook)(size_t), void *(*realloc_hook)(void *, size_t),
                               void (*free_hook)(void *)) {
    library_malloc = malloc_hook;
    library_realloc = realloc_hook;
    library_free = free_hook;
}
static size_t *library_numbers(size_t count) {
    size_t *numbers = library_malloc(0);
    for (size_t i = 0; numbers != NULL && i < count; i++) {
        size_t *more = library_realloc(numbers, (i + 1) * sizeof *numbers);
        if (more == NULL)
            library_free(numbers);
        else
            more[i] = i;
        numbers = more;
    }
    return numbers;
}

/* snippet hooks */

static int said;
static void listen(void *context, jlog_level_t level, const char *line) {
    (void)context, (void)level, (void)line;
    said++;
}

int main(void) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    /* snippet use */
    size_t *numbers = library_numbers(1000);
    EXPECT(numbers != NULL);
    for (size_t i = 0; i < 1000; i++)
        EXPECT(numbers[i] == i);
    SNIPPET_TRY(jallocator_get_stats(pool, &stats));
    EXPECT(stats.live_count == 1 && stats.in_use_bytes == 1000 * sizeof *numbers);
    EXPECT(library_realloc(numbers, (size_t)65 << 20) == NULL && numbers[999] == 999);
    EXPECT(library_malloc(SIZE_MAX) == NULL);
    SNIPPET_TRY(jlog_set_sink(listen, NULL));
    library_free(numbers + 1);
    EXPECT(said == 1 && numbers[999] == 999);
    library_free(numbers);
    library_free(numbers);
    library_free(NULL);
    EXPECT(said == 2);
    SNIPPET_TRY(jlog_set_sink(NULL, NULL));
    SNIPPET_TRY(jallocator_get_stats(pool, &stats));
    EXPECT(stats.live_count == 0);
    SNIPPET_TRY(jallocator_destroy(pool));
    return 0;
}
