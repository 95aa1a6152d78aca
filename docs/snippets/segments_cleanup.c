/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <sys/wait.h>
#include <unistd.h>

/* A process that dies leaves its segment behind, and this one, which comes after it, keeps its own
 * for the shell. */
int main(void) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment;
    jshared_t *heap;
    jstatus_t status;
    options.backend = JSEGMENT_POSIX;
    options.name = "/mesh";
    options.size_bytes = 1 << 20;
    pid_t child = fork();
    if (child == 0) {
        status = jsegment_create(&options, &segment);
        _exit(status != JSTATUS_SUCCESS);
    }
    int ended;
    EXPECT(child > 0 && waitpid(child, &ended, 0) == child && ended == 0);
    /* snippet */
    EXPECT(status == JSTATUS_SUCCESS);
    SNIPPET_TRY(jshared_create(segment, 1, NULL, &heap));
    SNIPPET_TRY(jsegment_detach(segment));
    options.backend = JSEGMENT_FILE;
    options.name = "segment.file";
    SNIPPET_TRY(jsegment_create(&options, &segment));
    SNIPPET_TRY(jsegment_detach(segment));
    return 0;
}
