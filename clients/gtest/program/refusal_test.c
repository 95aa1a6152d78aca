/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Bad arguments, of one function of each kind of check: the message has the name that the header
 * gives the argument, its value, and no expression of the library's sources. And what no memory
 * could hold is refused before any of it is touched. */

#include "jtest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/jalloc.h"

/* What is in nobody's header. */
static void expect_clear(jstatus_t status, jstatus_t expected, const char *said) {
    static const char *const inside[] = {"requires", "->", "==", "(unsigned)", "given"};
    const char *message = jstatus_last_message();
    JSCOPED_TRACE("expected \"%s\"", said);
    JEXPECT_STATUS(status, expected);
    JEXPECT_SUBSTR(message, said);
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; ++i)
        JEXPECT_NULL(strstr(message, inside[i]));
}
#define EXPECT_VALUE(call, said) expect_clear(call, JSTATUS_INVALID_VALUE, said)
#define EXPECT_SIZE(call, said) expect_clear(call, JSTATUS_INVALID_SIZE, said)
#define EXPECT_POINTER(call, said) expect_clear(call, JSTATUS_INVALID_POINTER, said)

JTEST(Refusal, OfAnAllocatorsOptionsNamesThem) {
    jallocator_t *below = NULL, *mark = (jallocator_t *)&below, *out = mark;
    JASSERT_OK(jallocator_create_malloc(&below));

    EXPECT_VALUE(jallocator_compose(NULL, "guard(bytes=7)", &out),
                 "guard: guard_bytes is 7, must be a multiple of 16");
    EXPECT_VALUE(jallocator_create_guard(
                     below, &(jguard_options_t){sizeof(jguard_options_t), NULL, 24}, &out),
                 "guard: guard_bytes is 24, must be a multiple of 16");

    jfill_options_t fill = JFILL_OPTIONS_INIT;
    fill.on_allocate = (jfill_value_t)9;
    EXPECT_VALUE(jallocator_create_fill(below, &fill, &out), "fill: on_allocate = 9: ");
    fill.on_allocate = JFILL_ZERO;
    fill.on_deallocate = (jfill_value_t)-1;
    EXPECT_VALUE(jallocator_create_fill(below, &fill, &out), "fill: on_deallocate = -1: ");

    jpool_options_t pool = JPOOL_OPTIONS_INIT;
    pool.threads = (jallocator_threads_t)9;
    EXPECT_VALUE(jallocator_create_pool(below, &pool, &out), "pool: threads is 9, ");
    jsmall_options_t small = JSMALL_OPTIONS_INIT;
    small.threads = (jallocator_threads_t)-1;
    EXPECT_VALUE(jallocator_create_small(below, &small, &out), "small: threads is -1, ");

    EXPECT_VALUE(jallocator_create_device(jdevice_host(), (jmemory_kind_t)7, &out),
                 "jallocator_create_device: kind = 7: ");
    EXPECT_POINTER(jallocator_create_track(NULL, NULL, &out), "track: below is NULL");
    EXPECT_POINTER(jallocator_create_track(below, NULL, NULL), "track: no pointer for");
    EXPECT_SIZE(jallocator_create_array(NULL, &below, 0, &out),
                "jallocator_create_array: size_bytes = 0: ");

    jallocator_ops_t ops = JALLOCATOR_OPS_INIT;
    EXPECT_POINTER(jallocator_create(NULL, NULL, NULL, &out), "jallocator_create: ops is NULL");
    EXPECT_POINTER(jallocator_create(&ops, NULL, NULL, NULL), "allocator is NULL");

    JEXPECT_EQ(out, mark);
    JEXPECT_OK(jallocator_destroy(below));
}

JTEST(Refusal, OfAnEnumeratorNamesTheArgument) {
    jhandle_t *handle = NULL, *second = NULL;
    jallocator_t *allocator = NULL, *process = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jallocator_create_malloc(&allocator));

    EXPECT_VALUE(jhandle_set_pointer_mode(handle, (jpointer_mode_t)5),
                 "jhandle_set_pointer_mode: mode = 5: must be JPOINTER_MODE_HOST (0) or ");
    EXPECT_VALUE(jhandle_set_result_policy(handle, JRESULT_POLICY_DEFAULT),
                 "jhandle_set_result_policy: policy = 0: must be JRESULT_POLICY_FAST (1) or ");
    EXPECT_VALUE(jhandle_set_accuracy(handle, (jaccuracy_t)3),
                 "jhandle_set_accuracy: accuracy = 3: must be JACCURACY_COMPONENTWISE (1) or ");
    EXPECT_VALUE(jhandle_set_degradation(handle, (jdegradation_t)-1),
                 "jhandle_set_degradation: degradation = -1: must be JDEGRADATION_ALLOWED (0) or ");

    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.pointer_mode = (jpointer_mode_t)2;
    EXPECT_VALUE(jhandle_create(&options, &second), "jhandle_create: pointer_mode = 2: ");
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.result_policy = (jresult_policy_t)-1;
    EXPECT_VALUE(jhandle_create(&options, &second), "jhandle_create: result_policy = -1: ");
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.accuracy = (jaccuracy_t)3;
    EXPECT_VALUE(jhandle_create(&options, &second), "jhandle_create: accuracy = 3: ");
    options = (jhandle_options_t)JHANDLE_OPTIONS_INIT;
    options.threads = -2;
    EXPECT_VALUE(jhandle_create(&options, &second), "jhandle_create: threads = -2: ");
    JEXPECT_NULL(second);

    int count;
    void *pointer;
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    request.numa_node = -2;
    EXPECT_VALUE(jdevice_get_count((jdevice_kind_t)3, &count), "jdevice_get_count: kind = 3: ");
    EXPECT_VALUE(jdevice_allocate(jdevice_host(), (jmemory_kind_t)4, 64, 0, &pointer),
                 "jdevice_allocate: kind = 4: ");
    EXPECT_VALUE(jlog_set_level((jlog_level_t)5), "jlog_set_level: level = 5: ");
    EXPECT_VALUE(jconfig_get((jconfig_t)-1, &entry), "jconfig_get: which = -1: ");
    EXPECT_VALUE(jallocator_dump(allocator, (jallocator_dump_format_t)2,
                                 (jallocator_writer_t)(void (*)(void))abort, NULL),
                 "jallocator_dump: format = 2: ");
    EXPECT_VALUE(jprocess_get_allocator(&request, &process),
                 "jprocess_get_allocator: numa_node = -2: ");

    EXPECT_POINTER(jevent_synchronize(NULL), "jevent_synchronize: event is NULL");

    JEXPECT_OK(jallocator_destroy(allocator));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Refusal, OfASegmentsArgumentsNamesThem) {
    jsegment_t *segment = NULL, *second = NULL;
    jshared_t *shared = NULL;
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.size_bytes = 1 << 20;
    JASSERT_OK(jsegment_create(&options, &segment));

    jsegment_options_t wrong = options;
    wrong.backend = (jsegment_backend_t)9;
    EXPECT_VALUE(jsegment_create(&wrong, &second), "jsegment_create: backend = 9: ");
    wrong = options;
    wrong.threads = (jallocator_threads_t)9;
    EXPECT_VALUE(jsegment_create(&wrong, &second), "jsegment_create: threads = 9: ");
    wrong = options;
    wrong.read_only = true;
    EXPECT_VALUE(jsegment_create(&wrong, &second), "jsegment_create: read_only is ");
    EXPECT_POINTER(jsegment_create(NULL, &second), "jsegment_create: options is NULL");
    EXPECT_POINTER(jsegment_attach(&options, NULL), "jsegment_attach: segment is NULL");
    EXPECT_VALUE(jsegment_remove(JSEGMENT_POSIX, "/none", (jsegment_remove_t)2),
                 "jsegment_remove: how = 2: ");
    JEXPECT_NULL(second);

    jsegment_process_t process = JSEGMENT_PROCESS_INIT;
    char name[JSEGMENT_ROOT_NAME_BYTES];
    joffset_t offset;
    EXPECT_VALUE(jsegment_get_process(segment, 0, &process),
                 "jsegment_get_process: slot = 0: must be 1 to 64");
    EXPECT_VALUE(jsegment_get_root_at(segment, JSEGMENT_MAX_ROOTS, name, &offset),
                 "jsegment_get_root_at: index = 128: must be below 128");
    (void)jsegment_get_root(segment, "another message", &offset);
    expect_clear(jsegment_get_root_at(segment, 3, name, &offset), JSTATUS_NOT_FOUND,
                 "there is no root with index 3");

    jshared_options_t kind = JSHARED_OPTIONS_INIT;
    kind.kind = (jshared_kind_t)3;
    EXPECT_VALUE(jshared_create(segment, 0, NULL, &shared), "jshared_create: id = 0: ");
    EXPECT_VALUE(jshared_create(segment, 1, &kind, &shared), "jshared_create: kind = 3: ");
    JASSERT_OK(jshared_create(segment, 1, NULL, &shared));
    EXPECT_SIZE(jshared_allocate(shared, SIZE_MAX, 0, &offset), "bytes are more than any segment");
    JEXPECT_OK(jshared_destroy(shared));
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Refusal, OfARequirementsPartsSaysWhich) {
    jhandle_t *handle = NULL;
    jrequirement_t *part = NULL, *made = NULL;
    jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
    const size_t bytes[] = {64};
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jrequirement_create_borrow(handle, "borrow", 1, bytes, NULL, &part));
    const jrequirement_t *const parts[] = {part, NULL};

    EXPECT_POINTER(jrequirement_create_in_order(2, parts, &made), "parts[1] is NULL");
    EXPECT_POINTER(jrequirement_create_at_once(1, NULL, &made), "parts is NULL");
    EXPECT_POINTER(jrequirement_create_at_once(1, parts, NULL), "requirement is NULL");
    EXPECT_VALUE(jrequirement_create_repeated(part, 0, &made), "times = 0: must be at least 1");
    EXPECT_VALUE(
        jrequirement_create_borrow(handle, "borrow", JBORROW_MAX_BUFFERS + 1, bytes, NULL, &made),
        "9 buffers, at most 8");
    EXPECT_VALUE(jrequirement_get_step(part, 77, &step), "there is no step 77: ");
    JEXPECT_NULL(made);
    JEXPECT_OK(jrequirement_destroy(part));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- More than memory can hold ---- */

static const size_t beyond[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2 + 1};

JTEST(Refusal, BytesBeyondMemoryAreNotTouched) {
    jdevice_t *host = jdevice_host();
    const size_t page = 4096;
    unsigned char *from = jtest_guard_pages(page), *to = jtest_guard_pages(page);
    void *raw = NULL, *ordered = NULL;
    JASSERT_OK(jdevice_allocate(host, JMEMORY_DEVICE, page, 0, &raw));
    const bool is_ordered = jdevice_allocate_ordered(host, NULL, page, &ordered) == JSTATUS_SUCCESS;
    memset(from, 1, page);

    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; ++i) {
        JSCOPED_TRACE("%zu bytes", beyond[i]);
        EXPECT_SIZE(jdevice_copy(host, NULL, to, from, beyond[i]), "jdevice_copy: ");
        EXPECT_SIZE(jdevice_fill(host, NULL, to, from, 1, beyond[i]), "jdevice_fill: ");
        EXPECT_SIZE(jdevice_deallocate(host, JMEMORY_DEVICE, raw, beyond[i]),
                    "jdevice_deallocate: ");
        if (is_ordered)
            EXPECT_SIZE(jdevice_deallocate_ordered(host, NULL, ordered, beyond[i]),
                        "jdevice_deallocate_ordered: ");
    }
    EXPECT_SIZE(jdevice_fill(host, NULL, to, from, 8, SIZE_MAX / 16 + 1), "jdevice_fill: ");
    for (size_t i = 0; i < page; ++i)
        JASSERT_EQ(to[i], 0);

    if (is_ordered)
        JEXPECT_OK(jdevice_deallocate_ordered(host, NULL, ordered, page));
    JEXPECT_OK(jdevice_deallocate(host, JMEMORY_DEVICE, raw, page));
}

JTEST(Refusal, ArraysBeyondMemoryAreNotTouched) {
    jhandle_t *handle = NULL;
    jsegment_t *segment = NULL;
    jshared_t *shared = NULL;
    jrequirement_t *made = NULL;
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.size_bytes = 1 << 20;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JASSERT_OK(jsegment_create(&options, &segment));
    JASSERT_OK(jshared_create(segment, 1, NULL, &shared));

    joffset_t *offsets = jtest_guard_pages(sizeof *offsets);
    size_t *sizes = jtest_guard_pages(sizeof *sizes), bytes;
    const jrequirement_t **parts = jtest_guard_pages(sizeof *parts);
    JASSERT_OK(jrequirement_create_in_order(0, NULL, &made));
    jrequirement_t *part = made;
    made = NULL;
    *parts = part;
    JASSERT_OK(jshared_allocate(shared, 64, 0, offsets));
    const joffset_t offset = *offsets;
    JEXPECT_OK(jhandle_start_size_query(handle));

    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; ++i) {
        const size_t count = beyond[i] / sizeof(void *) + 1;
        JSCOPED_TRACE("%zu elements", count);
        EXPECT_SIZE(jshared_allocate_many(shared, 64, 0, count, offsets), "count = ");
        EXPECT_SIZE(jshared_deallocate_many(shared, count, offsets), "count = ");
        EXPECT_SIZE(jhandle_set_optimal_size(handle, count, sizes), "count = ");
        EXPECT_SIZE(jrequirement_create_in_order(count, parts, &made), "count = ");
        EXPECT_SIZE(jrequirement_create_at_once(count, parts, &made), "count = ");
    }
    JEXPECT_EQ(*offsets, offset);
    JEXPECT_NULL(made);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_EQ(bytes, 0);
    JEXPECT_OK(jshared_deallocate(shared, offset)); /* still there */
    JEXPECT_OK(jrequirement_destroy(part));
    JEXPECT_OK(jshared_destroy(shared));
    JEXPECT_OK(jsegment_destroy(segment));
    JEXPECT_OK(jhandle_destroy(handle));
}
