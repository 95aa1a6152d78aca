/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <jalloc/cuda.h>

int main(void) {
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    jhandle_t *handle;
    cudaStream_t my_cuda_stream = NULL; /* the legacy stream; of a GPU, or of the fake one */
    if (jdevice_get("cuda:0", &options.device) != JSTATUS_SUCCESS) {
        fprintf(stderr, "%s\n", jstatus_last_message());
        return 77;
    }
    SNIPPET_TRY(jhandle_create(&options, &handle));
    /* snippet 1 */
    jstream_t *now;
    SNIPPET_TRY(jhandle_get_stream(handle, &now));
    EXPECT(now == stream);
    SNIPPET_TRY(jhandle_destroy(handle));
    SNIPPET_TRY(jstream_destroy(stream));
    return 0;
}
