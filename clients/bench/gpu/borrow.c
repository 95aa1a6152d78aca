/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What a routine pays for temporary memory: a borrow and its end beside the runtime's own ways. On
 * the NULL stream, which cannot be captured, a borrow is inline; on another the handle asks whether
 * the stream is being captured, unless it was promised that it never is. */

#include "bench_gpu.h"

#define BYTES ((size_t)1 << 20)

typedef struct borrow_context {
    gpu_bench_t *bench;
    jhandle_t *handle;
} borrow_context_t;

static void borrow(void *context) {
    borrow_context_t *c = context;
    JALLOC_BORROW(ws, c->handle, BYTES);
    bench_keep(ws.ptr[0]);
}

static void plain(void *context) {
    borrow_context_t *c = context;
    void *pointer = NULL;
    gpu_expect_cuda(c->bench, cudaMalloc(&pointer, BYTES), "cudaMalloc");
    bench_keep(pointer);
    gpu_expect_cuda(c->bench, cudaFree(pointer), "cudaFree");
}

static void ordered(void *context) {
    borrow_context_t *c = context;
    void *pointer = NULL;
    gpu_expect_cuda(c->bench, cudaMallocAsync(&pointer, BYTES, c->bench->native),
                    "cudaMallocAsync");
    bench_keep(pointer);
    gpu_expect_cuda(c->bench, cudaFreeAsync(pointer, c->bench->native), "cudaFreeAsync");
}

void bench_gpu_borrow(gpu_bench_t *bench) {
    static const char *const names[] = {"NULL stream", "a stream, capture watched",
                                        "a stream, never captured"};
    printf("\nborrow + end of %zu bytes, nanoseconds\n%-28s %8s %14s %8s %14s %8s\n", BYTES,
           "handle on", "ours", "Malloc+Free", "ratio", "Async pair", "ratio");
    for (int i = 0; i < 3; i++) {
        jhandle_options_t options = JHANDLE_OPTIONS_INIT;
        borrow_context_t c = {.bench = bench};
        options.device = bench->device;
        options.stream = i > 0 ? bench->stream : NULL;
        options.preallocate_bytes = BYTES;
        options.never_captured = i == 2;
        gpu_expect(bench, jhandle_create(&options, &c.handle), "jhandle_create");
        if (!bench->good)
            return;
        bench_result_t slow = bench_compare(borrow, &c, plain, &c, bench->seconds);
        bench_result_t async = bench_compare(borrow, &c, ordered, &c, bench->seconds);
        printf("%-28s %8.1f %14.0f %8.0f %14.0f %8.0f\n", names[i], 1e9 * async.ours,
               1e9 * slow.peer, slow.ratio, 1e9 * async.peer, async.ratio);
        char what[72];
        snprintf(what, sizeof what, "borrow on %s over cudaMallocAsync/FreeAsync", names[i]);
        gpu_aim(what, async.ratio, 100, false);
        gpu_expect(bench, jhandle_destroy(c.handle), "jhandle_destroy");
    }
}
