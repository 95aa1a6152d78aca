/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Calls the library with every struct that begins with its size, as a program does that was
 * compiled with headers of another version: ABI_LESS (a member less at the end of each), ABI_MORE
 * (one more, added_), or ABI_SAME. check_abi.py makes those headers. The library is always the true
 * one.
 *
 * Each struct lies in front of bytes that the library must not touch, and is zero but for its size
 * and what the call needs. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jalloc/jalloc.h>
#ifdef ABI_MPI
#include <jalloc/mpi.h>
#endif

#define BEHIND_BYTES 4096
#define BEHIND 0xa5

static int failures;

#define FAIL(...) (failures += 1, printf(__VA_ARGS__), puts(""))
#define OK(call)                                                                                   \
    do {                                                                                           \
        jstatus_t needed_ = (call);                                                                \
        if (needed_ != JSTATUS_SUCCESS) {                                                          \
            printf("%s: %s: %s\n", #call, jstatus_name(needed_), jstatus_last_message());          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct call {
    const char *type;
    size_t bytes;                      /* of the struct, as it is compiled here */
    size_t added;                      /* where added_ is */
    jstatus_t (*function)(void *user); /* undoes what it does */
    bool fills;                        /* the library fills the struct in */
    jstatus_t less;                    /* what a member less gives, where that is no success */
} call_t;

/* ---- The calls ---- */

static jallocator_t *provider(void) {
    jallocator_t *allocator;
    OK(jallocator_create_malloc(&allocator));
    return allocator;
}

static jstatus_t call_handle_options(void *user) {
    jhandle_t *handle = NULL;
    jstatus_t status = jhandle_create(user, &handle);
    OK(jhandle_destroy(handle));
    return status;
}

static jstatus_t call_handle_stats(void *user) {
    jhandle_t *handle;
    OK(jhandle_create(NULL, &handle));
    {
        JALLOC_BORROW(ws, handle, 64);
        OK(ws.status);
    }
    jstatus_t status = jhandle_get_stats(handle, user);
    OK(jhandle_destroy(handle));
    return status;
}

/* jplan_init() leaves nothing of what was there, so what is added is put back. */
static jstatus_t call_plan(void *user) {
    jplan_t *plan = user;
    const size_t struct_size = plan->struct_size;
    jhandle_t *handle;
    OK(jhandle_create(NULL, &handle));
#ifdef ABI_MORE
    const size_t added = plan->added_;
    plan->added_ = 1;
#endif
    jplan_init_sized(plan, struct_size, handle, "planned", "n", (const int64_t[]){7});
#ifdef ABI_MORE
    if (struct_size == sizeof *plan && plan->added_ != 0)
        FAIL("jplan_init leaves the member that it does not know");
    plan->added_ = added;
#endif
    jplan_add(plan, "best", 0, 0, 1, (const size_t[]){64});
    jplan_price(plan, &(const jprice_t){1, 1, 1}); /* dropped where there is no room for it */
    jstatus_t borrowed;
    {
        JALLOC_BORROW_PLAN(ws, handle, plan);
        borrowed = ws.status;
    }
    OK(jhandle_start_size_query(handle));
    jstatus_t answered = jhandle_answer_plan(handle, plan);
    size_t bytes;
    OK(jhandle_stop_size_query(handle, &bytes));
    OK(jhandle_destroy(handle));
    return borrowed == JSTATUS_SUCCESS && answered == JSTATUS_SIZE_INCREASED && bytes == 64
               ? JSTATUS_SUCCESS
               : answered;
}

/* A program of one call that needs 64 bytes, with its choice. */
static jstatus_t make_program(jhandle_t **handle, jprogram_t **program,
                              jrequirement_t **requirement) {
    OK(jhandle_create(NULL, handle));
    OK(jprogram_create(program));
    OK(jprogram_record(*program, *handle));
    const size_t bytes = 64;
    jstatus_t answered = jhandle_set_optimal_size(*handle, 1, &bytes);
    if (answered != JSTATUS_SIZE_INCREASED)
        return answered;
    OK(jprogram_stop(*program, *handle));
    OK(jprogram_choose(*program, 64));
    OK(jprogram_get_requirement(*program, requirement));
    return JSTATUS_SUCCESS;
}
static jstatus_t with_program(jstatus_t (*call)(jprogram_t *program, jrequirement_t *requirement,
                                                void *user),
                              void *user) {
    jhandle_t *handle;
    jprogram_t *program;
    jrequirement_t *requirement;
    OK(make_program(&handle, &program, &requirement));
    const jstatus_t status = call(program, requirement, user);
    OK(jrequirement_destroy(requirement));
    OK(jprogram_destroy(program));
    OK(jhandle_destroy(handle));
    return status;
}
#define OF_PROGRAM(name, expression)                                                               \
    static jstatus_t name##_of(jprogram_t *program, jrequirement_t *requirement, void *user) {     \
        (void)program, (void)requirement;                                                          \
        return expression;                                                                         \
    }                                                                                              \
    static jstatus_t name(void *user) { return with_program(name##_of, user); }
OF_PROGRAM(call_program_info, jprogram_get_info(program, user))
OF_PROGRAM(call_program_call, jprogram_get_call(program, 0, user))
OF_PROGRAM(call_requirement_info, jrequirement_get_info(requirement, user))
OF_PROGRAM(call_requirement_step, jrequirement_get_step(requirement, 0, user))

static jstatus_t call_profile_info(void *user) { return jprofile_get_info(user); }

static jstatus_t ops_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                              void **pointer) {
    (void)context, (void)stream;
    *pointer = aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
    return *pointer != NULL ? JSTATUS_SUCCESS : JSTATUS_MEMORY_ERROR;
}
static jstatus_t ops_deallocate(void *context, void *pointer, size_t size_bytes,
                                jstream_t *stream) {
    (void)context, (void)size_bytes, (void)stream;
    free(pointer);
    return JSTATUS_SUCCESS;
}

static jstatus_t make_of_functions(const jallocator_ops_t *ops,
                                   const jallocator_options_t *options) {
    jallocator_t *allocator = NULL;
    void *pointer;
    jstatus_t status = jallocator_create(ops, NULL, options, &allocator);
    if (status == JSTATUS_SUCCESS) { /* what is behind a table of an older caller is not called */
        OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
        OK(jallocator_trim(allocator, 0));
        OK(jallocator_check(allocator));
        OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    }
    OK(jallocator_destroy(allocator));
    return status;
}
static jstatus_t call_ops(void *user) {
    jallocator_ops_t *ops = user;
    ops->allocate = ops_allocate;
    ops->deallocate = ops_deallocate;
    return make_of_functions(ops, NULL);
}
static jstatus_t call_allocator_options(void *user) {
    const jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = ops_allocate, .deallocate = ops_deallocate};
    return make_of_functions(&ops, user);
}

/* What both give of an allocator with one live block. */
static jstatus_t call_stats(void *user) {
    jallocator_t *below = provider(), *allocator;
    void *pointer;
    OK(jallocator_create_statistics(below, &allocator));
    OK(jallocator_statistics_push(allocator));
    OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    jstatus_t status = jallocator_get_stats(allocator, user);
    jstatus_t popped = jallocator_statistics_pop(allocator, user);
    OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    OK(jallocator_destroy(allocator));
    OK(jallocator_destroy(below));
    return status == JSTATUS_SUCCESS ? popped : status;
}

static jstatus_t call_allocation(void *user) {
    jallocator_t *allocator = provider();
    void *pointer;
    OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    jstatus_t status = jallocator_find(allocator, pointer, user),
              found = jallocation_find(pointer, user);
    OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    OK(jallocator_destroy(allocator));
    return status == JSTATUS_SUCCESS ? found : status;
}

#define KIND(name)                                                                                 \
    static jstatus_t call_##name(void *user) {                                                     \
        jallocator_t *below = provider(), *allocator = NULL;                                       \
        jstatus_t status = jallocator_create_##name(below, user, &allocator);                      \
        OK(jallocator_destroy(allocator));                                                         \
        OK(jallocator_destroy(below));                                                             \
        return status;                                                                             \
    }
KIND(stack)
KIND(slots)
KIND(pool)
KIND(bfc)
KIND(lru)
KIND(small)
KIND(general)
KIND(track)
KIND(record)
KIND(guard)
KIND(fill)
KIND(retry)
KIND(align)
static jstatus_t call_limit(void *user) {
    jallocator_t *below = provider(), *allocator = NULL;
#ifndef ABI_LESS
    ((jlimit_options_t *)user)->limit_bytes = 1000;
#endif
    jstatus_t status = jallocator_create_limit(below, user, &allocator);
    OK(jallocator_destroy(allocator));
    OK(jallocator_destroy(below));
    return status;
}
static jstatus_t call_numa(void *user) {
    jallocator_t *allocator = NULL;
    jstatus_t status = jallocator_create_numa(user, &allocator);
    OK(jallocator_destroy(allocator));
    return status;
}
static jstatus_t call_huge(void *user) {
    jallocator_t *allocator = NULL;
    jstatus_t status = jallocator_create_huge(user, &allocator);
    OK(jallocator_destroy(allocator));
    return status;
}

/* With one live block. */
static jstatus_t call_counters(jstatus_t (*create)(jallocator_t *, jallocator_t **),
                               jstatus_t (*get)(jallocator_t *, void *), void *user) {
    jallocator_t *below = provider(), *allocator;
    void *pointer;
    OK(create(below, &allocator));
    OK(jallocator_allocate(allocator, 100, 0, NULL, &pointer));
    jstatus_t status = get(allocator, user);
    OK(jallocator_deallocate(allocator, pointer, 100, NULL));
    OK(jallocator_destroy(allocator));
    OK(jallocator_destroy(below));
    return status;
}
#define COUNTERS(name, getter)                                                                     \
    static jstatus_t create_##name(jallocator_t *below, jallocator_t **allocator) {                \
        return jallocator_create_##name(below, NULL, allocator);                                   \
    }                                                                                              \
    static jstatus_t get_##name(jallocator_t *allocator, void *user) {                             \
        return getter(allocator, user);                                                            \
    }                                                                                              \
    static jstatus_t call_##name##_counters(void *user) {                                          \
        return call_counters(create_##name, get_##name, user);                                     \
    }
COUNTERS(pool, jallocator_pool_get_counters)
COUNTERS(lru, jallocator_lru_get_counters)
COUNTERS(track, jallocator_track_get_totals)

static jstatus_t call_quota_stats(void *user) {
    jquota_t *quota;
    OK(jquota_create(1000, &quota));
    jstatus_t status = jquota_get_stats(quota, user);
    OK(jquota_destroy(quota));
    return status;
}
static jstatus_t call_quota(void *user) {
    jquota_t *quota;
    jallocator_t *below = provider(), *allocator = NULL;
    OK(jquota_create(1000, &quota));
    jstatus_t status = jallocator_create_quota(below, quota, user, &allocator);
    OK(jallocator_destroy(allocator));
    OK(jallocator_destroy(below));
    OK(jquota_destroy(quota));
    return status;
}

static jstatus_t call_request(void *user) {
    jallocator_t *allocator;
    jstatus_t status = jprocess_get_allocator(user, &allocator);
    return status;
}

static void *hook_allocate(void *context, size_t size_bytes) {
    (void)context;
    return malloc(size_bytes);
}
static void hook_deallocate(void *context, void *pointer) {
    (void)context;
    free(pointer);
}
static jstatus_t call_hooks(void *user) {
    jmetadata_hooks_t *hooks = user;
    hooks->allocate = hook_allocate;
    hooks->deallocate = hook_deallocate;
    jstatus_t status = jmetadata_set_hooks(hooks);
    OK(jmetadata_set_hooks(NULL));
    return status;
}

static jstatus_t call_segment_options(void *user) {
    static _Alignas(4096) char memory[1 << 20];
    jsegment_options_t *options = user;
    jsegment_t *segment = NULL, *other = NULL;
    options->backend = JSEGMENT_ARRAY;
    options->array = memory;
    options->size_bytes = sizeof memory;
    jstatus_t status = jsegment_create(options, &segment), attached = status;
    if (status == JSTATUS_SUCCESS)
        attached = jsegment_attach(options, &other);
    if (other != NULL)
        OK(jsegment_detach(other));
    OK(jsegment_detach(segment));
    return attached;
}
static jsegment_t *segment_of(void) {
    jsegment_options_t options = {.struct_size = sizeof options, .size_bytes = 1 << 20};
    jsegment_t *segment;
    OK(jsegment_create(&options, &segment));
    return segment;
}
static jstatus_t call_segment_stats(void *user) {
    jsegment_t *segment = segment_of();
    jstatus_t status = jsegment_get_stats(segment, user);
    OK(jsegment_detach(segment));
    return status;
}
static jstatus_t call_segment_process(void *user) {
    jsegment_t *segment = segment_of();
    jstatus_t status = jsegment_get_process(segment, jsegment_slot(segment), user);
    OK(jsegment_detach(segment));
    return status;
}
static jstatus_t call_shared(void *user) {
    jsegment_t *segment = segment_of();
    jshared_t *shared;
    jstatus_t status = jshared_create(segment, 7, user, &shared);
    OK(jsegment_detach(segment));
    return status;
}

static jstatus_t call_properties(void *user) {
    return jdevice_get_properties(jdevice_host(), user);
}
static jstatus_t call_config(void *user) { return jconfig_get(JCONFIG_JALLOC_LAYER, user); }

static jruntime_t *runtime_of(void) {
    jruntime_t *runtime;
    OK(jruntime_create(&runtime));
    return runtime;
}
static jstatus_t call_runtime_info(void *user) {
    jruntime_t *runtime = runtime_of();
    jstatus_t status = jruntime_get_info(runtime, user);
    OK(jruntime_release(runtime));
    return status;
}
static jstatus_t call_runtime_device(void *user) {
    jruntime_t *runtime = runtime_of();
    jstatus_t status = jruntime_get_device(runtime, 0, user);
    OK(jruntime_release(runtime));
    return status;
}
static jstatus_t call_buffer_allocator(void *user) {
    jbuffer_allocator_t *allocator = NULL;
    jruntime_t *runtime = runtime_of();
    jstatus_t status = jbuffer_allocator_create(runtime, user, &allocator), got = status;
    if (status == JSTATUS_SUCCESS)
        got = jbuffer_allocator_get_options(allocator, user);
    OK(jbuffer_allocator_release(allocator));
    OK(jruntime_release(runtime));
    return got;
}

/* A local buffer has no part: what is refused is the buffer, after the struct. */
static jstatus_t with_buffer(jstatus_t (*function)(jbuffer_t *buffer, void *user), void *user) {
    const jbuffer_allocator_options_t options = {.struct_size = sizeof options,
                                                 .type = JDATATYPE_F64};
    jbuffer_allocator_t *allocator;
    jruntime_t *runtime = runtime_of();
    jbuffer_t *buffer;
    jlayout_t layout;
    OK(jlayout_init(&layout, 1, (const int64_t[]){4}, JORDER_COLUMN_MAJOR));
    OK(jbuffer_allocator_create(runtime, &options, &allocator));
    OK(jbuffer_allocate(allocator, &layout, &buffer));
    jstatus_t status = function(buffer, user);
    if (status == JSTATUS_INVALID_VALUE && strstr(jstatus_last_message(), "local") != NULL)
        status = JSTATUS_SUCCESS;
    OK(jbuffer_release(buffer));
    OK(jbuffer_allocator_release(allocator));
    OK(jruntime_release(runtime));
    return status;
}
static jstatus_t as_part(jbuffer_t *buffer, void *user) { return jbuffer_as_part(buffer, user); }
static jstatus_t call_part(void *user) { return with_buffer(as_part, user); }
#ifdef ABI_MPI
static jstatus_t as_scalapack(jbuffer_t *buffer, void *user) {
    return jbuffer_as_scalapack(buffer, user);
}
static jstatus_t call_scalapack(void *user) { return with_buffer(as_scalapack, user); }
#endif

static int executor_offers(void *context) { return context == NULL; }
#ifndef ABI_LESS
static void executor_runs(void *context, int count, void (*part)(void *, int), void *argument) {
    (void)context;
    for (int i = 0; i < count; ++i)
        part(argument, i);
}
#endif
static jstatus_t call_executor(void *user) {
    jexecutor_t *executor = user;
    jhandle_t *handle = NULL;
    executor->available = executor_offers;
#ifndef ABI_LESS
    executor->run = executor_runs;
#endif
    OK(jhandle_create(NULL, &handle));
    jstatus_t status = jhandle_set_executor(handle, executor);
    OK(jhandle_destroy(handle));
    return status;
}

/* ---- All of them ---- */

#ifdef ABI_MORE
#define ADDED(type) offsetof(type, added_)
#else
#define ADDED(type) 0
#endif
#define CALL(type, function, fills)                                                                \
    { #type, sizeof(type), ADDED(type), function, fills, JSTATUS_SUCCESS }
#define CALL_LESS(type, function, less)                                                            \
    { #type, sizeof(type), ADDED(type), function, false, less }
#define RESULT true
#define OPTIONS false

static const call_t calls[] = {
    CALL(jmetadata_hooks_t, call_hooks, OPTIONS),
    CALL(jhandle_options_t, call_handle_options, OPTIONS),
    CALL(jhandle_stats_t, call_handle_stats, RESULT),
    CALL_LESS(jexecutor_t, call_executor, JSTATUS_INVALID_VALUE), /* run is required */
    CALL(jplan_t, call_plan, OPTIONS),
    CALL(jrequirement_info_t, call_requirement_info, RESULT),
    CALL(jrequirement_step_t, call_requirement_step, RESULT),
    CALL(jprofile_info_t, call_profile_info, RESULT),
    CALL(jprogram_info_t, call_program_info, RESULT),
    CALL(jprogram_call_t, call_program_call, RESULT),
    CALL(jallocator_ops_t, call_ops, OPTIONS),
    CALL(jallocator_options_t, call_allocator_options, OPTIONS),
    CALL(jallocator_stats_t, call_stats, RESULT),
    CALL(jallocation_t, call_allocation, RESULT),
    CALL(jstack_options_t, call_stack, OPTIONS),
    CALL(jslots_options_t, call_slots, OPTIONS),
    CALL(jpool_options_t, call_pool, OPTIONS),
    CALL(jbfc_options_t, call_bfc, OPTIONS),
    CALL(jlru_options_t, call_lru, OPTIONS),
    CALL(jsmall_options_t, call_small, OPTIONS),
    CALL(jgeneral_options_t, call_general, OPTIONS),
    CALL(jtrack_options_t, call_track, OPTIONS),
    CALL(jrecord_options_t, call_record, OPTIONS),
    CALL(jguard_options_t, call_guard, OPTIONS),
    CALL(jfill_options_t, call_fill, OPTIONS),
    CALL_LESS(jlimit_options_t, call_limit, JSTATUS_INVALID_VALUE), /* a limit is required */
    CALL(jretry_options_t, call_retry, OPTIONS),
    CALL(jalign_options_t, call_align, OPTIONS),
    CALL(jnuma_options_t, call_numa, OPTIONS),
    CALL(jhuge_options_t, call_huge, OPTIONS),
    CALL(jpool_counters_t, call_pool_counters, RESULT),
    CALL(jlru_counters_t, call_lru_counters, RESULT),
    CALL(jtrack_totals_t, call_track_counters, RESULT),
    CALL(jquota_stats_t, call_quota_stats, RESULT),
    CALL(jquota_share_options_t, call_quota, OPTIONS),
    CALL(jmemory_request_t, call_request, OPTIONS),
    CALL(jsegment_options_t, call_segment_options, OPTIONS),
    CALL(jsegment_stats_t, call_segment_stats, RESULT),
    CALL(jsegment_process_t, call_segment_process, RESULT),
    CALL(jshared_options_t, call_shared, OPTIONS),
    CALL(jdevice_properties_t, call_properties, RESULT),
    CALL(jconfig_entry_t, call_config, RESULT),
    CALL(jruntime_info_t, call_runtime_info, RESULT),
    CALL(jruntime_device_t, call_runtime_device, RESULT),
    CALL(jbuffer_allocator_options_t, call_buffer_allocator, OPTIONS),
    CALL(jbuffer_part_t, call_part, OPTIONS),
#ifdef ABI_MPI
    CALL(jbuffer_scalapack_t, call_scalapack, OPTIONS),
#endif
};

/* ---- What must be so ---- */

static char *fresh(const call_t *call, size_t struct_size) {
    static _Alignas(max_align_t) char memory[2 * BEHIND_BYTES];
    memset(memory, BEHIND, sizeof memory);
    memset(memory, 0, call->bytes);
    memcpy(memory, &struct_size, sizeof struct_size);
    return memory;
}

static bool names(const call_t *call) { return strstr(jstatus_last_message(), call->type) != NULL; }

static void expect_works(const call_t *call) {
#ifdef ABI_LESS
    const jstatus_t expected = call->less;
#else
    const jstatus_t expected = JSTATUS_SUCCESS;
#endif
    char *user = fresh(call, call->bytes);
    jstatus_t status = call->function(user);
    if (status != expected)
        FAIL("%s of %zu bytes: %s: %s", call->type, call->bytes, jstatus_name(status),
             jstatus_last_message());
    if (memcmp(user, &call->bytes, sizeof call->bytes) != 0)
        FAIL("%s: struct_size is not the caller's any more", call->type);
    bool written = false;
    for (size_t i = sizeof(size_t); i < call->bytes; ++i)
        written |= user[i] != 0;
    if (call->fills && !written)
        FAIL("%s: nothing is filled in", call->type);
    for (size_t i = 0; i < BEHIND_BYTES; ++i)
        if ((unsigned char)user[call->bytes + i] != BEHIND) {
            FAIL("%s: byte %zu behind it was written", call->type, i);
            break;
        }
}

static void expect_refused(const call_t *call, size_t struct_size, bool added) {
    char *user = fresh(call, struct_size);
    user[call->added] = added ? 1 : user[call->added];
    jstatus_t status = call->function(user);
    if (status != JSTATUS_INVALID_VALUE || !names(call))
        FAIL("%s of size %zu%s: %s: %s", call->type, struct_size, added ? " with more" : "",
             jstatus_name(status), jstatus_last_message());
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0); /* what was said before a crash is seen */
    const size_t count = sizeof calls / sizeof calls[0];
    for (size_t i = 0; i < count; ++i) {
        expect_works(&calls[i]);
#ifdef ABI_MORE
        expect_refused(&calls[i], calls[i].bytes, true);
#endif
        expect_refused(&calls[i], 0, false);
        expect_refused(&calls[i], sizeof(size_t), false);
        expect_refused(&calls[i], (size_t)-1, false);
    }
    printf("%zu structs, %d failures\n", count, failures);
    return failures != 0;
}
