/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Every public function of libjalloc that makes an object, with the n-th allocation of bookkeeping
 * failing for each n: memory error and a message, the result as it was, and nothing left. What is
 * made of objects of several kinds at once has tests of its own. */

#include "jtest.h"

#include <stdio.h>
#include <string.h>

#include "jalloc/jalloc.h"

/* What is made beforehand, for others to be made of. */
typedef struct world {
    jhandle_t *handle;
    jallocator_t *below;
    jquota_t *quota;
    jsegment_t *segment;
    jshared_t *shared;
    jrequirement_t *part;
    jprogram_t *program; /* with a call */
    jplan_t plan;
    jlimit_options_t limit;
    jrecord_options_t record;
    jsegment_options_t private_segment;
    jtrack_options_t track;
    char *array, file[64];
} world_t;

static const size_t borrow_bytes[] = {64, 256};

static jstatus_t creation_callback(void *context, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, void **pointer) {
    (void)context, (void)size_bytes, (void)alignment, (void)stream, (void)pointer;
    return JSTATUS_MEMORY_ERROR;
}
static jstatus_t creation_give_back(void *context, void *pointer, size_t size_bytes,
                                    jstream_t *stream) {
    (void)context, (void)pointer, (void)size_bytes, (void)stream;
    return JSTATUS_SUCCESS;
}
static bool creation_failed(void *context, jallocator_t *allocator, size_t size_bytes,
                            jstatus_t status) {
    (void)context, (void)allocator, (void)size_bytes, (void)status;
    return false;
}
static const jallocator_ops_t creation_ops = {.struct_size = sizeof creation_ops,
                                              .allocate = creation_callback,
                                              .deallocate = creation_give_back};

/* X(function, type of the object, what ends it, arguments): `w` is the world, the result goes to
 * `made`. */
#define CREATION_LIST(X)                                                                           \
    X(jstream_create, jstream_t, jstream_destroy, (jdevice_host(), &made))                         \
    X(jevent_create, jevent_t, jevent_destroy, (jdevice_host(), &made))                            \
    X(jhandle_create, jhandle_t, jhandle_destroy, (NULL, &made))                                   \
    X(jquota_create, jquota_t, jquota_destroy, (4096, &made))                                      \
    X(jsegment_create, jsegment_t, jsegment_destroy, (&w->private_segment, &made))                 \
    X(jshared_create, jshared_t, jshared_destroy, (w->segment, 77, NULL, &made))                   \
    X(jprogram_create, jprogram_t, jprogram_destroy, (&made))                                      \
    X(jprogram_get_requirement, jrequirement_t, jrequirement_destroy, (w->program, &made))         \
    X(jrequirement_create_call, jrequirement_t, jrequirement_destroy,                              \
      (w->handle, &w->plan, &made))                                                                \
    X(jrequirement_create_borrow, jrequirement_t, jrequirement_destroy,                            \
      (w->handle, "borrow", 2, borrow_bytes, w->part, &made))                                      \
    X(jrequirement_create_in_order, jrequirement_t, jrequirement_destroy,                          \
      (2, (const jrequirement_t *[]){w->part, w->part}, &made))                                    \
    X(jrequirement_create_at_once, jrequirement_t, jrequirement_destroy,                           \
      (2, (const jrequirement_t *[]){w->part, w->part}, &made))                                    \
    X(jrequirement_create_repeated, jrequirement_t, jrequirement_destroy, (w->part, 3, &made))     \
    X(jallocator_create, jallocator_t, jallocator_destroy, (&creation_ops, NULL, NULL, &made))     \
    X(jallocator_compose, jallocator_t, jallocator_destroy, (NULL, "general+guard", &made))        \
    X(jallocator_compose_over, jallocator_t, jallocator_destroy, (w->below, "bfc+small", &made))   \
    X(jallocator_create_malloc, jallocator_t, jallocator_destroy, (&made))                         \
    X(jallocator_create_mmap, jallocator_t, jallocator_destroy, (&made))                           \
    X(jallocator_create_numa, jallocator_t, jallocator_destroy, (NULL, &made))                     \
    X(jallocator_create_huge, jallocator_t, jallocator_destroy, (NULL, &made))                     \
    X(jallocator_create_array, jallocator_t, jallocator_destroy, (NULL, w->array, 4096, &made))    \
    X(jallocator_create_device, jallocator_t, jallocator_destroy,                                  \
      (jdevice_host(), JMEMORY_DEVICE, &made))                                                     \
    X(jallocator_create_null, jallocator_t, jallocator_destroy, (NULL, &made))                     \
    X(jallocator_create_shared, jallocator_t, jallocator_destroy, (w->shared, &made))              \
    X(jallocator_create_stack, jallocator_t, jallocator_destroy, (w->below, NULL, &made))          \
    X(jallocator_create_slots, jallocator_t, jallocator_destroy, (w->below, NULL, &made))          \
    X(jallocator_create_pool, jallocator_t, jallocator_destroy, (w->below, NULL, &made))           \
    X(jallocator_create_bfc, jallocator_t, jallocator_destroy, (w->below, NULL, &made))            \
    X(jallocator_create_lru, jallocator_t, jallocator_destroy, (w->below, NULL, &made))            \
    X(jallocator_create_small, jallocator_t, jallocator_destroy, (w->below, NULL, &made))          \
    X(jallocator_create_general, jallocator_t, jallocator_destroy, (w->below, NULL, &made))        \
    X(jallocator_create_quota, jallocator_t, jallocator_destroy,                                   \
      (w->below, w->quota, NULL, &made))                                                           \
    X(jallocator_create_track, jallocator_t, jallocator_destroy, (w->below, &w->track, &made))     \
    X(jallocator_create_exact, jallocator_t, jallocator_destroy, (w->below, &made))                \
    X(jallocator_create_record, jallocator_t, jallocator_destroy, (w->below, &w->record, &made))   \
    X(jallocator_create_guard, jallocator_t, jallocator_destroy, (w->below, NULL, &made))          \
    X(jallocator_create_fill, jallocator_t, jallocator_destroy, (w->below, NULL, &made))           \
    X(jallocator_create_limit, jallocator_t, jallocator_destroy, (w->below, &w->limit, &made))     \
    X(jallocator_create_retry, jallocator_t, jallocator_destroy, (w->below, NULL, &made))          \
    X(jallocator_create_align, jallocator_t, jallocator_destroy, (w->below, NULL, &made))          \
    X(jallocator_create_lock, jallocator_t, jallocator_destroy, (w->below, &made))                 \
    X(jallocator_create_visit, jallocator_t, jallocator_destroy, (w->below, &made))                \
    X(jallocator_create_statistics, jallocator_t, jallocator_destroy, (w->below, &made))           \
    X(jallocator_create_failure, jallocator_t, jallocator_destroy,                                 \
      (w->below, creation_failed, NULL, &made))

typedef struct creation {
    const char *name;
    jstatus_t (*make)(const world_t *w, void **out);
    jstatus_t (*end)(void *object);
} creation_t;

#define CREATION_FUNCTIONS(function, type, destroy, arguments)                                     \
    static jstatus_t make_by_##function(const world_t *w, void **out) {                            \
        type *made = (type *)*out;                                                                 \
        const jstatus_t status = function arguments;                                               \
        (void)w;                                                                                   \
        *out = made;                                                                               \
        return status;                                                                             \
    }                                                                                              \
    static jstatus_t end_of_##function(void *object) { return destroy((type *)object); }
CREATION_LIST(CREATION_FUNCTIONS)

static const creation_t creations[] = {
#define CREATION_ROW(function, type, destroy, arguments)                                           \
    {#function, make_by_##function, end_of_##function},
    CREATION_LIST(CREATION_ROW)};

static void creation_name(const void *param, char *name) {
    snprintf(name, 64, "%s", ((const creation_t *)param)->name);
}

static void world_begin(world_t *w) {
    *w = (world_t){.limit = JLIMIT_OPTIONS_INIT,
                   .record = JRECORD_OPTIONS_INIT,
                   .private_segment = JSEGMENT_OPTIONS_INIT,
                   .track = JTRACK_OPTIONS_INIT,
                   .array = jtest_guard_pages(4096)};
    snprintf(w->file, sizeof w->file, "%s/jalloc-creation-%p", P_tmpdir, (void *)w);
    w->limit.limit_bytes = 4096;
    w->record.file = w->file;
    w->track.record_count = 4;
    w->track.stacks = true;
    w->private_segment.size_bytes = 1 << 20;

    JASSERT_OK(jhandle_create(NULL, &w->handle));
    JASSERT_OK(jallocator_create_malloc(&w->below));
    JASSERT_OK(jquota_create(4096, &w->quota));
    JASSERT_OK(jsegment_create(&w->private_segment, &w->segment));
    JASSERT_OK(jshared_create(w->segment, 1, NULL, &w->shared));
    jplan_init(&w->plan, w->handle, "routine", "", NULL);
    jplan_add(&w->plan, "best", 1, 0, 2, borrow_bytes);
    jplan_add(&w->plan, "last", 1, 0, 0, NULL);
    JASSERT_OK(jrequirement_create_call(w->handle, &w->plan, &w->part));
    JASSERT_OK(jprogram_create(&w->program));
    JASSERT_OK(jprogram_record(w->program, w->handle));
    JASSERT_STATUS(jhandle_answer_plan(w->handle, &w->plan), JSTATUS_SIZE_INCREASED);
    JASSERT_OK(jprogram_stop(w->program, w->handle));
}

static void world_end(world_t *w) {
    JEXPECT_OK(jprogram_destroy(w->program));
    JEXPECT_OK(jrequirement_destroy(w->part));
    JEXPECT_OK(jshared_destroy(w->shared));
    JEXPECT_OK(jsegment_destroy(w->segment));
    JEXPECT_OK(jquota_destroy(w->quota));
    JEXPECT_OK(jallocator_destroy(w->below));
    JEXPECT_OK(jhandle_destroy(w->handle));
    remove(w->file);
}

JTEST_P_NAMED(Creation, EachFailedAllocationLeavesNothing, creation_t, creations, creation_name) {
    world_t world;
    world_begin(&world);
    void *const mark = &world;
    JFOR_EACH_FAILURE(n) {
        void *made = mark;
        const jstatus_t status = param->make(&world, &made);
        if (status == JSTATUS_SUCCESS) {
            JEXPECT_TRUE(made != mark && made != NULL);
            JEXPECT_OK(param->end(made));
        } else {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_TRUE(jtest_metadata_failed());
            JEXPECT_SUBSTR(jstatus_last_message(), "memory");
            JEXPECT_EQ(made, mark);
        }
    }
    world_end(&world);
}
