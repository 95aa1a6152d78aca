/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    jruntime_t *runtime;
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    SNIPPET_TRY(jruntime_create(&runtime));
    /* snippet */
    EXPECT(all.devices >= 1 && options.device != NULL);
    SNIPPET_TRY(jruntime_release(runtime));
    return 0;
}
