/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

/* snippet */

int main(void) {
    jevent_t *ready;
    jstream_t *stream;
    SNIPPET_TRY(jstream_create(jdevice_host(), &stream));
    SNIPPET_TRY(jevent_create(jdevice_host(), &ready));
    SNIPPET_TRY(jevent_record(ready, NULL));
    EXPECT(after(ready, stream) == JSTATUS_SUCCESS && after(ready, NULL) == JSTATUS_SUCCESS);
    SNIPPET_TRY(jevent_destroy(ready));
    SNIPPET_TRY(jstream_destroy(stream));
    return 0;
}
