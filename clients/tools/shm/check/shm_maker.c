/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* shm_maker NAME|FILE: makes a segment with blocks of every kind in it, says "ready", and detaches
 * when its input ends; or is killed before. */

#include <stdio.h>
#include <string.h>

#include "jalloc/segment.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) != JSTATUS_SUCCESS) {                                                           \
            fprintf(stderr, "shm_maker: %s: %s\n", #call, jstatus_last_message());                 \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = strrchr(argv[1], '/') == argv[1] ? JSEGMENT_POSIX : JSEGMENT_FILE;
    options.name = argv[1];
    options.size_bytes = 1 << 20;
    options.max_bytes = 4 << 20;
    options.max_processes = 8;
    jsegment_t *segment;
    TRY(jsegment_create(&options, &segment));

    jshared_t *general, *stack;
    jshared_options_t of_stack = JSHARED_OPTIONS_INIT;
    of_stack.kind = JSHARED_STACK;
    of_stack.region_bytes = 64 << 10;
    TRY(jshared_create(segment, 7, NULL, &general));
    TRY(jshared_create(segment, 8, &of_stack, &stack));
    joffset_t small[100], large, given, stacked;
    for (int i = 0; i < 100; i++)
        TRY(jshared_allocate(general, 64, 0, &small[i]));
    TRY(jshared_allocate(general, 100000, 0, &large));
    TRY(jshared_allocate(general, 50000, 0, &given));
    TRY(jshared_give(general, given, JSEGMENT_SLOT_SEGMENT));
    TRY(jshared_allocate(stack, 1000, 0, &stacked));
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    TRY(jsegment_detach(segment));
    return 0;
}
