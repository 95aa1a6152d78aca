/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What several policies promise in the same words, each test over the policies that do: they never
 * touch the memory, and what one stream has freed reaches another stream, or the allocator below,
 * only behind its work. */

#include "allocator_helper.h"
#include "jtest.h"

#include "jalloc/device.h"
#include "jalloc/provider.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ARRAY_BYTES ((size_t)4 << 20)

typedef const char *text_t;

/* ---- The memory itself ---- */

static const text_t untouching[] = {"pool", "slots"};

/* Memory that cannot be read or written: an access would end the program. */
JTEST_P(Policies, TheMemoryIsNeverTouched, text_t, untouching) {
    enum { COUNT = 190 };
    void *array = mmap(NULL, ARRAY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *pointers[COUNT];
    jallocator_t *below, *allocator;
    JASSERT_NE(array, MAP_FAILED);
    JASSERT_OK(jallocator_create_array(jdevice_host(), array, ARRAY_BYTES, &below));
    JASSERT_OK(jallocator_compose_over(below, *param, &allocator));
    for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < COUNT; ++i)
            pointers[i] = take(allocator, 100 * (i % 40 + 1));
        for (size_t i = 0; i < COUNT; ++i)
            give(allocator, pointers[i], 100 * (i % 40 + 1));
    }
    JEXPECT_OK(jallocator_check(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(below));
    munmap(array, ARRAY_BYTES);
}

/* ---- Streams ---- */

static void finish_late(void *argument) {
    jtest_sleep_ms(20);
    atomic_store(*(atomic_bool **)argument, true);
}

static const text_t returning[] = {"pool", "slots(slot=64,block=4)", "stack(block=1K)"};

/* What a stream still uses is not given to below before it is done. */
JTEST_P(Policies, TrimAndDestroyWaitForStreams, text_t, returning) {
    jdevice_t *host = jdevice_host();
    jstream_t *stream;
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose_over(jtest_failing_allocator(), *param, &allocator));
    JASSERT_OK(jstream_create(host, &stream));
    for (int round = 0; round < 2; ++round) {
        atomic_bool done = false, *argument = &done;
        void *pointer;
        JASSERT_OK(jallocator_allocate(allocator, 64, 0, stream, &pointer));
        JASSERT_OK(jstream_launch(host, stream, finish_late, &argument, sizeof argument));
        JASSERT_OK(jallocator_deallocate(allocator, pointer, 64, stream));
        JEXPECT_OK(round == 0 ? jallocator_trim(allocator, 0) : jallocator_destroy(allocator));
        JEXPECT_EQ(jtest_live_bytes(), 0);
        JEXPECT_TRUE(atomic_load(&done));
        JASSERT_OK(jstream_synchronize(host, stream));
    }
    JEXPECT_OK(jstream_destroy(stream));
}

static void note(void *argument) { **(int **)argument += 1; }

typedef struct full {
    text_t text;
    size_t again_bytes; /* all that there may be */
} full_t;
static const full_t full[] = {{"slots(slot=64,block=1,limit=1)", 64},
                              {"stack(block=256,limit=256)", 256}};

/* At the limit memory is handed on with its fence: the second stream waits, the host does not. */
JTEST_P(Policies, AtTheLimitAStreamWaits, full_t, full) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *first, *second;
    jevent_t *reached;
    jallocator_t *allocator;
    void *a, *b;
    bool done = true;
    int early = 0, *argument = &early;
    JASSERT_OK(jallocator_compose_over(jtest_failing_allocator(), param->text, &allocator));
    JASSERT_OK(jstream_create(host, &first));
    JASSERT_OK(jstream_create(host, &second));
    JASSERT_OK(jevent_create(host, &reached));

    JASSERT_OK(jallocator_allocate(allocator, 64, 0, first, &a));
    JASSERT_OK(jtest_gate_block(&gate, host, first));
    JASSERT_OK(jstream_launch(host, first, note, &argument, sizeof argument));
    JASSERT_OK(jallocator_deallocate(allocator, a, 64, first));
    JASSERT_OK(jallocator_allocate(allocator, param->again_bytes, 0, second, &b));
    JEXPECT_EQ(b, a);
    JASSERT_OK(jevent_record(reached, second));

    jtest_gate_await(&gate);
    jtest_sleep_ms(5); /* time for a second stream that does not wait to show it */
    JASSERT_OK(jevent_query(reached, &done));
    JEXPECT_FALSE(done);
    jtest_gate_open(&gate);
    JASSERT_OK(jstream_synchronize(host, second));
    JEXPECT_EQ(early, 1);

    JEXPECT_OK(jallocator_deallocate(allocator, b, param->again_bytes, second));
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jevent_destroy(reached));
    JEXPECT_OK(jstream_destroy(first));
    JEXPECT_OK(jstream_destroy(second));
}

static const text_t dividing[] = {"slots(slot=64,block=1024)", "stack(block=64K)"};

/* What comes from below may be ready for one stream alone: the others do not get the rest of it
 * before that one's work. */
JTEST_P(Policies, TheRestOfANewBlockWaitsForTheStreamItWasTakenOn, text_t, dividing) {
    jdevice_t *host = jdevice_host();
    jtest_gate_t gate = JTEST_GATE_INIT;
    jstream_t *stream;
    jallocator_t *bfc = NULL, *allocator = NULL;
    void *before, *first, *second;
    JASSERT_OK(jallocator_compose(NULL, "bfc", &bfc));
    JASSERT_OK(jallocator_compose_over(bfc, *param, &allocator));
    JASSERT_OK(jstream_create(host, &stream));

    JASSERT_OK(jallocator_allocate(bfc, 65536, 0, stream, &before));
    JASSERT_OK(jtest_gate_block(&gate, host, stream));
    /* Still in use behind the gate. */
    JASSERT_OK(jallocator_deallocate(bfc, before, 65536, stream));
    JASSERT_OK(jallocator_allocate(allocator, 64, 0, stream, &first));
    JEXPECT_EQ(first, before); /* in order */
    JASSERT_OK(jallocator_allocate(allocator, 64, 0, NULL, &second));
    JEXPECT_TRUE((char *)second < (char *)before || (char *)second >= (char *)before + 65536);

    JEXPECT_OK(jallocator_deallocate(allocator, second, 64, NULL));
    JEXPECT_OK(jallocator_deallocate(allocator, first, 64, stream));
    jtest_gate_open(&gate);
    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jallocator_destroy(bfc));
    JEXPECT_OK(jstream_destroy(stream));
}

/* What fill writes when memory comes is written in the stream that asked: nobody else gets a part
 * of that memory before. */
JTEST(Policies, WaitForWhatIsWrittenBelowWhenMemoryComes) {
    static const char *const policies[] = {"bfc", "stack", "slots(slot=256)", "pool",
                                           "lru", "small", "general"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; ++i) {
        char text[128];
        snprintf(text, sizeof text, "device+fill(allocate=pattern,pattern=7)+%s", policies[i]);
        JSCOPED_TRACE("%s", text);
        jallocator_t *allocator = NULL;
        jstream_t *first = NULL, *second = NULL;
        jtest_gate_t gate = JTEST_GATE_INIT;
        JASSERT_OK(jallocator_compose(NULL, text, &allocator));
        JASSERT_OK(jstream_create(jdevice_host(), &first));
        JASSERT_OK(jstream_create(jdevice_host(), &second));
        JASSERT_OK(jtest_gate_block(&gate, jdevice_host(), first));

        void *a = NULL;
        unsigned char *b = NULL;
        JEXPECT_OK(jallocator_allocate(allocator, 200, 0, first, &a)); /* filled behind the gate */
        JEXPECT_OK(jallocator_allocate(allocator, 200, 0, second, (void **)&b));
        JEXPECT_OK(jstream_synchronize(jdevice_host(), second));
        memset(b, 1, 200);
        jtest_gate_open(&gate);
        JEXPECT_OK(jstream_synchronize(jdevice_host(), first));
        JEXPECT_EQ(b[0], 1);
        JEXPECT_EQ(b[199], 1);

        JEXPECT_OK(jallocator_deallocate(allocator, a, 200, first));
        JEXPECT_OK(jallocator_deallocate(allocator, b, 200, second));
        JEXPECT_OK(jallocator_destroy(allocator));
        JEXPECT_OK(jstream_destroy(first));
        JEXPECT_OK(jstream_destroy(second));
    }
}
