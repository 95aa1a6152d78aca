/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A composition of allocators from one line of text, and the same one made call by call.
 *
 * Best fit with coalescing, at most 64 MiB, over the host's memory; on top of it guard words, so
 * that a write past the end of a block is found, with the name of whoever the block was for. */

#include <string.h>

#include "sample.h"

static void print(void *context, const char *text, size_t length) {
    (void)context;
    fwrite(text, 1, length, stdout);
}

/* Allocates two vectors, writes one byte too many into one, and asks what the allocator says. */
static int use(jallocator_t *allocator) {
    enum { BYTES = 1000 };
    char *weights, *gradient;
    {
        JALLOC_TAG("weights");
        TRY(jallocator_allocate(allocator, BYTES, 0, NULL, (void **)&weights));
    }
    {
        JALLOC_TAG("gradient");
        TRY(jallocator_allocate(allocator, 4 * BYTES, 0, NULL, (void **)&gradient));
    }
    memset(gradient, 0, 4 * BYTES);
    memset(weights, 0, BYTES + 1); /* one too many */

    CLAIM(jallocator_check(allocator) == JSTATUS_CORRUPTED);
    printf("check: %s\n", jstatus_last_message());
    CLAIM(strstr(jstatus_last_message(), "weights") != NULL);

    /* Which allocator made this pointer, how large, for whom? Any address inside will do. */
    jallocation_t block = JALLOCATION_INIT;
    TRY(jallocation_find(gradient + 1234, &block));
    CLAIM(block.pointer == gradient && block.size_bytes == 4 * BYTES);
    printf("%p lies in %zu bytes of \"%s\" for \"%s\"\n", (void *)(gradient + 1234),
           block.size_bytes, jallocator_name(block.allocator), jtag_name(block.tag));
    TRY(jallocator_dump(allocator, JALLOCATOR_DUMP_TEXT, print, NULL));

    /* Reported, it stays live. */
    CLAIM(jallocator_deallocate(allocator, weights, BYTES, NULL) == JSTATUS_CORRUPTED);
    /* Freed again it goes. */
    TRY(jallocator_deallocate(allocator, weights, BYTES, NULL));
    TRY(jallocator_deallocate(allocator, gradient, 4 * BYTES, NULL));
    return 0;
}

int main(void) {
    /* One line: JALLOC_ALLOCATOR and jalloc-replay understand the same text. The result owns all
     * that is below it. */
    jallocator_t *composed;
    TRY(jallocator_compose(NULL, "bfc(limit=64MiB)+guard", &composed));
    if (use(composed))
        return 1;
    TRY(jallocator_destroy(composed));

    /* Call by call: each keeps the one below it, and is destroyed before it. */
    jallocator_t *memory, *bfc, *guard;
    jbfc_options_t options = JBFC_OPTIONS_INIT;
    options.limit_bytes = (size_t)64 << 20;
    TRY(jallocator_create_device(jdevice_host(), JMEMORY_DEVICE, &memory));
    TRY(jallocator_create_bfc(memory, &options, &bfc));
    TRY(jallocator_create_guard(bfc, NULL, &guard));
    if (use(guard))
        return 1;
    CLAIM(jallocator_destroy(bfc) == JSTATUS_BUSY); /* the guard keeps it */
    TRY(jallocator_destroy(guard));
    TRY(jallocator_destroy(bfc));
    TRY(jallocator_destroy(memory));
    return 0;
}
