/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Finding a leak: who has not given back what.
 *
 * A solver keeps a buffer when it ends early. The tracking allocator counts, the tag says for whom,
 * and the report names both. Without a change to the program the same report comes at exit with
 * JALLOC_LEAK_REPORT=1, and with JALLOC_LEAK_REPORT=stacks it has the call traces. */

#include <string.h>

#include "sample.h"

/* Iterates towards the square root; forgets its buffer when there is nothing to iterate. */
static int solve(jallocator_t *allocator, double number, double *root) {
    JALLOC_TAG("solver.residuals");
    enum { STEPS = 50 };
    double *residuals;
    TRY(jallocator_allocate(allocator, STEPS * sizeof *residuals, 0, NULL, (void **)&residuals));
    *root = number;
    if (number == 0)
        return 0; /* the bug */
    for (int i = 0; i < STEPS; i++) {
        residuals[i] = *root - number / *root;
        *root -= 0.5 * residuals[i];
    }
    TRY(jallocator_deallocate(allocator, residuals, STEPS * sizeof *residuals, NULL));
    return 0;
}

/* Prints, and remembers the block's address as the report has it. */
static void print(void *context, const char *text, size_t length) {
    fwrite(text, 1, length, stdout);
    size_t *lines = context;
    *lines += length >= 16 && strstr(text, "solver.residuals") != NULL;
}

static bool take_live(void *context, const jallocation_t *block) {
    if (block->live)
        *(jallocation_t *)context = *block;
    return true;
}

int main(void) {
    jallocator_t *memory, *track;
    jtrack_options_t options = JTRACK_OPTIONS_INIT;
    options.record_count = 16;
    TRY(jallocator_create_malloc(&memory));
    TRY(jallocator_create_track(memory, &options, &track));

    for (int i = 2; i >= 0; i--) {
        double root;
        if (solve(track, i, &root))
            return 1;
        printf("sqrt(%d) = %.6f\n", i, root);
    }

    jtrack_totals_t totals = JTRACK_TOTALS_INIT;
    TRY(jallocator_track_get_totals(track, &totals));
    printf("%zu bytes in all, %zu at most at once, %zu still live\n", totals.total_bytes,
           totals.high_watermark_bytes, totals.live_bytes);
    CLAIM(totals.live_bytes == 400 && totals.high_watermark_bytes == 400);

    jtrack_record_t records[16];
    size_t count;
    TRY(jallocator_track_get_records(track, records, 16, &count));
    for (size_t i = 0; i < count; i++)
        printf("  %+5lld bytes  %s\n", (long long)records[i].bytes, jtag_name(records[i].tag));
    CLAIM(count == 5);

    CLAIM(jallocator_destroy(track) == JSTATUS_BUSY);
    printf("destroy: %s\n", jstatus_last_message());
    size_t lines = 0;
    CLAIM(jallocator_report_leaks(print, &lines) == JSTATUS_LEAKED);
    CLAIM(lines == 1);

    /* The tracking allocator can outlive its owner: it goes with its last allocation. */
    jallocation_t leaked = JALLOCATION_INIT;
    TRY(jallocator_visit(track, take_live, &leaked));
    TRY(jallocator_track_retire(track));
    TRY(jallocator_deallocate(track, leaked.pointer, leaked.size_bytes, NULL));
    TRY(jallocator_destroy(memory));
    puts("all is given back");
    return 0;
}
