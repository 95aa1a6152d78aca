/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

enum { n = 2, m = 1 };

int main(void) {
    jhandle_t *handle;
    jdevice_t *gpu;
    const double one = 1, a[n * n] = {2, 1, 0, 4}, b[n] = {2, 9}; /* x: 1, 2 */
    double x[n];
    void *memory_a, *memory_b;
    if (jdevice_get("cuda:0", &gpu) != JSTATUS_SUCCESS) {
        fprintf(stderr, "%s\n", jstatus_last_message());
        return 77;
    }
    SNIPPET_TRY(jdevice_allocate(gpu, JMEMORY_DEVICE, sizeof a, 0, &memory_a));
    SNIPPET_TRY(jdevice_allocate(gpu, JMEMORY_DEVICE, sizeof b, 0, &memory_b));
    SNIPPET_TRY(jdevice_copy(gpu, NULL, memory_a, a, sizeof a));
    SNIPPET_TRY(jdevice_copy(gpu, NULL, memory_b, b, sizeof b));
    double *device_a = memory_a, *device_b = memory_b;
    /* snippet */
    SNIPPET_TRY(jdevice_copy(gpu, NULL, x, memory_b, sizeof x));
    SNIPPET_TRY(jstream_synchronize(gpu, NULL));
    EXPECT(x[0] == 1 && x[1] == 2);
    SNIPPET_TRY(jhandle_destroy(handle));
    SNIPPET_TRY(jdevice_deallocate(gpu, JMEMORY_DEVICE, memory_a, sizeof a));
    SNIPPET_TRY(jdevice_deallocate(gpu, JMEMORY_DEVICE, memory_b, sizeof b));
    return 0;
}
