/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffer allocators: what was asked for, completed, with counted references to the runtime and to
 * where bytes come from.
 *
 * An allocator never changes, so it is read without a lock, and one that is rebound to what it is
 * already is given again. Grids of processes belong to the runtime, which makes each shape once:
 * rebinding shares them. */

#include "buffer/buffer.h"
#include "jalloc/process.h"

const char *jbuffer_kind_name(jbuffer_kind_t kind) {
    static const char *const names[] = {"local", "replicated", "distributed", "best"};
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

/* ---- Options ---- */

/* As square as can be over all processes; never more rows than columns. */
static void allocator_choose_grid(int processes, int grid[2]) {
    int rows = 1;
    for (int divisor = 1; divisor <= processes / divisor; ++divisor)
        if (processes % divisor == 0)
            rows = divisor;
    grid[0] = rows;
    grid[1] = processes / rows;
}

/* Whether the options can be had, and what they leave open. Those of a best allocator stay
 * wishes. */
static jstatus_t allocator_complete(const jruntime_t *runtime,
                                    jbuffer_allocator_options_t *options) {
    const int processes = runtime->info.processes;
    const int *grid = options->grid;

    if (jhandle_sizeof_datatype(options->type) == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "buffer allocator: %d is no element type",
                       (int)options->type);
    if ((grid[0] != 0 || grid[1] != 0) &&
        (grid[0] < 1 || grid[1] < 1 || grid[0] > processes / grid[1]))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "buffer allocator: a grid of %d x %d over %d process(es)", grid[0], grid[1],
                       processes);
    if (options->blocks[0] < 0 || options->blocks[1] < 0)
        return ji_fail(JSTATUS_INVALID_SIZE, "buffer allocator: blocks of %lld x %lld",
                       (long long)options->blocks[0], (long long)options->blocks[1]);

    const bool best = options->kind == JBUFFER_BEST;
    if (options->device == NULL && !best)
        options->device = jdevice_host();

    jdevice_t *device = options->device, *of = jallocator_device(options->allocator);
    if (of != NULL && device != NULL && of != device)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "buffer allocator: the allocator is of %s, the buffers of %s",
                       jdevice_name(of), jdevice_name(device));

    if (best)
        return JSTATUS_SUCCESS;
    if (ji_buffer_is_shared_kind(options) && jdevice_kind(device) != JDEVICE_HOST)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "buffer allocator: memory of %s cannot be shared on a node",
                       jdevice_name(device));
    if (options->kind == JBUFFER_DISTRIBUTED && runtime->ops->open_grid == NULL)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED,
                       "buffer allocator: distributed buffers need a runtime of MPI");

    if (options->kind == JBUFFER_DISTRIBUTED && grid[0] == 0)
        allocator_choose_grid(processes, options->grid);
    return JSTATUS_SUCCESS;
}

/* ---- Life ---- */

static jstatus_t allocator_free_parts(jbuffer_allocator_t *allocator) {
    jstatus_t status = JSTATUS_SUCCESS;
    if (allocator->bytes != NULL)
        (void)jallocator_release(allocator->bytes);
    if (allocator->runtime != NULL)
        status = ji_runtime_drop(allocator->runtime);
    ji_metadata_free(allocator);
    return status;
}

/* What each process does by itself: all but the grid. It is not among the live objects yet. */
static jstatus_t allocator_begin(jruntime_t *runtime, const jbuffer_allocator_options_t *options,
                                 jbuffer_allocator_t **out) {
    jstatus_t status = JSTATUS_SUCCESS;
    jbuffer_allocator_t *made;
    JTRY_ALLOC(made = ji_metadata_zalloc(sizeof *made));

    made->options = *options;
    JTRY(allocator_complete(runtime, &made->options));

    jallocator_t *bytes = options->allocator;
    if (bytes == NULL && options->kind != JBUFFER_BEST &&
        !ji_buffer_is_shared_kind(&made->options)) {
        jmemory_request_t request = JMEMORY_REQUEST_INIT;
        request.device = made->options.device;
        JTRY(jprocess_get_allocator(&request, &bytes));
    }

    if (bytes != NULL) {
        (void)jallocator_retain(bytes);
        made->bytes = bytes;
    }

    JTRY(ji_runtime_hold(runtime));
    made->runtime = runtime;

    *out = made;
    made = NULL;
done:
    if (made != NULL)
        (void)allocator_free_parts(made);
    return status;
}

jstatus_t ji_buffer_allocator_make(jruntime_t *runtime, const jbuffer_allocator_options_t *options,
                                   jbuffer_allocator_t **out) {
    const bool distributed = options->kind == JBUFFER_DISTRIBUTED;
    const bool collective =
        runtime->info.processes > 1 && (distributed || options->kind == JBUFFER_REPLICATED);

    jbuffer_allocator_t *made = NULL;
    jstatus_t status = allocator_begin(runtime, options, &made);

    if (collective)
        status = ji_runtime_agree_on(
            runtime, status,
            ji_arguments_add_allocator(0, made != NULL ? &made->options : options));

    if (status == JSTATUS_SUCCESS && distributed) {
        status = runtime->ops->open_grid(runtime, made->options.grid, &made->grid);
        if (collective)
            status = jruntime_agree(runtime, status);
    }

    if (status != JSTATUS_SUCCESS) {
        if (made != NULL)
            (void)allocator_free_parts(made);
        return status;
    }

    ji_object_enter(&made->object, JI_OBJECT_BUFFER_ALLOCATOR);
    *out = made;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_buffer_allocator_make_alone(jruntime_t *runtime,
                                         const jbuffer_allocator_options_t *options,
                                         jbuffer_allocator_t **out) {
    const jstatus_t status = allocator_begin(runtime, options, out);
    if (status == JSTATUS_SUCCESS)
        ji_object_enter(&(*out)->object, JI_OBJECT_BUFFER_ALLOCATOR);
    return status;
}

jstatus_t jbuffer_allocator_create(jruntime_t *runtime, const jbuffer_allocator_options_t *given,
                                   jbuffer_allocator_t **allocator) {
    JREQUIRE_POINTER(given, "options");
    JREQUIRE_POINTER(allocator, "allocator");

    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jbuffer_allocator_options_t, &options, given, kind));

    JTRY_RETURN(ji_object_check(runtime, JI_OBJECT_RUNTIME, __func__));
    if ((unsigned)options.kind > JBUFFER_BEST)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: %d is no kind of buffer", __func__,
                       (int)options.kind);
    return ji_buffer_allocator_make(runtime, &options, allocator);
}

jstatus_t jbuffer_allocator_rebind(jbuffer_allocator_t *allocator, jbuffer_kind_t kind,
                                   jdatatype_t type, jbuffer_allocator_t **rebound) {
    JREQUIRE(rebound != NULL, JSTATUS_INVALID_POINTER);

    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));
    jstatus_t status = JSTATUS_SUCCESS;
    if ((unsigned)kind > JBUFFER_BEST)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: %d is no kind of buffer", __func__, (int)kind);

    if (kind == allocator->options.kind && type == allocator->options.type) {
        status = jbuffer_allocator_retain(allocator);
        if (status == JSTATUS_SUCCESS)
            *rebound = allocator;
        return status;
    }

    if (kind == JBUFFER_DISTRIBUTED && allocator->runtime->ops->open_grid == NULL)
        return ji_fail(JSTATUS_NOT_FOUND,
                       "%s: a runtime of transport \"%s\" has no distributed buffers", __func__,
                       allocator->runtime->ops->transport);

    jbuffer_allocator_options_t options = allocator->options;
    options.kind = kind;
    options.type = type;
    return ji_buffer_allocator_make(allocator->runtime, &options, rebound);
}

static jstatus_t allocator_release(jbuffer_allocator_t *allocator, ji_owner_t owner,
                                   const char *caller) {
    bool last;
    jstatus_t status =
        ji_object_release(allocator, JI_OBJECT_BUFFER_ALLOCATOR, owner, caller, &last);
    return last ? allocator_free_parts(allocator) : status;
}

jstatus_t jbuffer_allocator_retain(jbuffer_allocator_t *allocator) {
    return ji_object_retain(allocator, JI_OBJECT_BUFFER_ALLOCATOR, JI_OWNER_PROGRAM, __func__);
}

jstatus_t jbuffer_allocator_release(jbuffer_allocator_t *allocator) {
    return allocator == NULL ? JSTATUS_SUCCESS
                             : allocator_release(allocator, JI_OWNER_PROGRAM, __func__);
}

jstatus_t ji_buffer_allocator_hold(jbuffer_allocator_t *allocator) {
    return ji_object_retain(allocator, JI_OBJECT_BUFFER_ALLOCATOR, JI_OWNER_LIBRARY, __func__);
}

jstatus_t ji_buffer_allocator_drop(jbuffer_allocator_t *allocator) {
    return allocator_release(allocator, JI_OWNER_LIBRARY, __func__);
}

/* ---- Questions ---- */

jstatus_t jbuffer_allocator_get_options(const jbuffer_allocator_t *allocator,
                                        jbuffer_allocator_options_t *options) {
    JREQUIRE(options != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jbuffer_allocator_options_t, options, kind));
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));
    JI_GIVE_RESULT(options, &allocator->options);
    return JSTATUS_SUCCESS;
}

jruntime_t *jbuffer_allocator_runtime(const jbuffer_allocator_t *allocator) {
    return ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__) == JSTATUS_SUCCESS
               ? allocator->runtime
               : NULL;
}

jdistribution_t ji_buffer_distribution(const jbuffer_allocator_t *allocator,
                                       const jlayout_t *layout) {
    jdistribution_t d = {.extents = {1, 1}};
    for (int i = 0; i < layout->rank; ++i)
        d.extents[i] = layout->extents[i];
    for (int i = 0; i < 2; ++i) {
        d.grid[i] = allocator->grid->shape[i];
        d.coordinates[i] = allocator->grid->coordinates[i];
    }

    bool said = false; /* by the layout */
    for (int i = 0; i < layout->rank; ++i)
        said = said || layout->blocks[i] > 0;

    bool chosen[2] = {false, false};
    for (int i = 0; i < 2; ++i) {
        const int64_t whole = d.extents[i] > 0 ? d.extents[i] : 1;
        if (said) {
            d.blocks[i] = layout->blocks[i] > 0 ? layout->blocks[i] : whole;
        } else if (allocator->options.blocks[i] > 0) {
            d.blocks[i] = allocator->options.blocks[i];
        } else {
            const int64_t quarter = whole / d.grid[i] / 4;
            d.blocks[i] = quarter < 1 ? 1 : quarter < 64 ? quarter : 64;
            chosen[i] = true;
        }

        /* One that holds everything is no different for being larger, and a turn over the grid
         * stays countable. */
        if (d.blocks[i] > INT32_MAX && d.blocks[i] > whole)
            d.blocks[i] = whole;
    }

    /* Factorizations want square blocks of a square matrix. */
    if (chosen[0] && chosen[1] && d.extents[0] == d.extents[1])
        d.blocks[0] = d.blocks[1] = d.blocks[0] < d.blocks[1] ? d.blocks[0] : d.blocks[1];
    return d;
}

jstatus_t ji_buffer_part_bytes(const jbuffer_allocator_t *allocator, const jlayout_t *layout,
                               jdistribution_t *d, size_t *bytes) {
    JTRY_RETURN(jlayout_check(layout));
    if (allocator->options.kind != JBUFFER_DISTRIBUTED)
        return ji_layout_is_nested(layout)
                   ? jlayout_get_bytes(layout, allocator->options.type, bytes)
                   : ji_fail(JSTATUS_INVALID_VALUE,
                             "memory for a layout some elements of which share an address");

    if (layout->rank > 2)
        return ji_fail(JSTATUS_INVALID_VALUE, "a distributed buffer has rank 0 to 2, not %d",
                       layout->rank);

    *d = ji_buffer_distribution(allocator, layout);
    size_t part = jhandle_sizeof_datatype(allocator->options.type);
    for (int i = 0; i < 2; ++i)
        if (!ji_size_mul(part,
                         (size_t)jdistribution_local_count(d, i, d->coordinates[i], d->extents[i]),
                         &part) ||
            part > INT64_MAX)
            return ji_fail(JSTATUS_INVALID_SIZE,
                           "a part of %lld x %lld elements over %d x %d processes is too large",
                           (long long)d->extents[0], (long long)d->extents[1], d->grid[0],
                           d->grid[1]);

    *bytes = part;
    return JSTATUS_SUCCESS;
}

jstatus_t jbuffer_allocator_get_local_bytes(const jbuffer_allocator_t *allocator,
                                            const jlayout_t *layout, size_t *bytes) {
    JREQUIRE(layout != NULL && bytes != NULL, JSTATUS_INVALID_POINTER);

    jdistribution_t ignored;
    jstatus_t status = ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__);
    return status == JSTATUS_SUCCESS ? ji_buffer_part_bytes(allocator, layout, &ignored, bytes)
                                     : status;
}
