/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <math.h>
#include <string.h>

typedef struct vector {
    _Alignas(128) double elements[16];
} vector_t;

typedef struct card {
    size_t registered_bytes;
    int regions;
} card_t;
static void card_register(card_t *card, void *pointer, size_t size_bytes) {
    (void)pointer;
    card->registered_bytes += size_bytes;
    card->regions++;
}
static void card_forget(card_t *card, void *pointer, size_t size_bytes) {
    (void)pointer;
    card->registered_bytes -= size_bytes;
}
static bool cache_drop(int *cached, size_t size_bytes) {
    (void)size_bytes;
    return (*cached)-- > 0;
}

/* snippet functions */

/* An allocator of one's own, for one thread at a time. */
static jstatus_t own_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                              void **pointer) {
    (void)context, (void)stream;
    *pointer = aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
    return *pointer != NULL ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
}
static jstatus_t own_deallocate(void *context, void *pointer, size_t size_bytes,
                                jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    free(pointer);
    return JSTATUS_SUCCESS;
}
static jallocator_t *make_own(void) {
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = own_allocate, .deallocate = own_deallocate};
    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    jallocator_t *own;
    options.threads = JALLOCATOR_THREADS_NONE;
    SNIPPET_TRY(jallocator_create(&ops, NULL, &options, &own));
    return own;
}

static void exercise(jallocator_t *allocator) {
    double *x;
    SNIPPET_TRY(jallocator_allocate(allocator, 100 * sizeof *x, 0, NULL, (void **)&x));
    SNIPPET_TRY(jallocator_deallocate(allocator, x, 100 * sizeof *x, NULL));
}
#define assemble exercise

static void use_stages(void) {
    const size_t free_bytes = 4 << 20;
    jallocator_t *own = make_own(), *safe = own, *limited, *patient, *top;
    void *pointer;
    /* snippet stages */
    EXPECT(safe != own);
    SNIPPET_TRY(jallocator_allocate(top, 100, 0, NULL, &pointer));
    EXPECT((uintptr_t)pointer % 128 == 0);
    SNIPPET_TRY(jallocator_deallocate(top, pointer, 100, NULL));
    EXPECT(jallocator_allocate(top, 2 << 20, 0, NULL, &pointer) == JSTATUS_MEMORY_ERROR);
    SNIPPET_TRY(jallocator_destroy(top));
    SNIPPET_TRY(jallocator_destroy(safe));
    SNIPPET_TRY(jallocator_destroy(own));
}

static void use_watch(void) {
    card_t card = {0, 0};
    int cache = 1;
    void *pointer;
    jallocator_t *provider, *regions, *bfc, *patient, *parts;
    jallocator_stats_t of_assemble = JALLOCATOR_STATS_INIT;
    SNIPPET_TRY(jallocator_create_malloc(&provider));
    /* snippet watch */
    EXPECT(card.regions == 1 && card.registered_bytes == 0);
    EXPECT(of_assemble.in_use_bytes == 0 && of_assemble.peak_in_use_bytes == 800);
    EXPECT(jallocator_allocate(patient, SIZE_MAX / 4, 0, NULL, &pointer) == JSTATUS_MEMORY_ERROR &&
           cache == -1);
    SNIPPET_TRY(jallocator_destroy(parts));
    SNIPPET_TRY(jallocator_destroy(patient));
    SNIPPET_TRY(jallocator_destroy(bfc));
    SNIPPET_TRY(jallocator_destroy(regions));
    SNIPPET_TRY(jallocator_destroy(provider));
}

static void use_test(void) {
    jallocator_t *own = make_own(), *exact, *filled, *recorded;
    /* snippet test */
    FILE *file = fopen("calls.csv", "r");
    char line[200];
    int lines = 0;
    EXPECT(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        lines++;
    fclose(file);
    EXPECT(lines == 3); /* the heading, allocate, free */
    SNIPPET_TRY(jallocator_destroy(recorded));
    SNIPPET_TRY(jallocator_destroy(filled));
    SNIPPET_TRY(jallocator_destroy(exact));
    SNIPPET_TRY(jallocator_destroy(own));
}

int main(void) {
    use_stages();
    use_watch();
    use_test();
    return 0;
}
