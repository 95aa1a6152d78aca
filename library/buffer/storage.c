/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The memory behind buffers, and where it comes from:
 *
 *     wrapped by the caller              stays the caller's
 *     replicated, one copy per machine   a segment that the machine's processes attach to
 *     32 MiB and more on the host,       mappings of the system: zeros that cost nothing
 *       no caller's allocator
 *     all else                           the buffer allocator's allocator
 *
 * A placeholder is all of a storage but that: storage_begin() without what follows, until
 * ji_storage_take().
 *
 * A segment holds one allocator whose header is the buffer. The first process of each machine makes
 * it and tells its name to the others there; when all have come, or one has failed, the name is
 * taken away: from then on the memory ends with the last process that has it, whoever dies. Each
 * step that can fail is agreed upon before anybody waits for what it would have given. */

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "buffer/buffer.h"
#include "memory/compose/compose.h"

/* From here on glibc's malloc maps, too, and never keeps what is freed. Below, memory that is used
 * again is three to twenty times as fast to fill as pages that come and go with each buffer. */
#define STORAGE_MAPPED_BYTES ((size_t)32 << 20)
#define STORAGE_SHARED_ID 1 /* of the allocator in a segment */
#define STORAGE_SEGMENT_BYTES ((size_t)128 << 10)
#define STORAGE_NAME_BYTES 64

/* ---- One copy per machine ---- */

/* Makes a segment with a buffer in it, under a name that is new. */
static jstatus_t storage_create_segment(ji_storage_t *storage, unsigned processes,
                                        char name[STORAGE_NAME_BYTES]) {
    static atomic_uint serial;
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_POSIX;
    options.name = name;
    options.max_processes = processes;

    /* The segment's own tables: 16 bytes for each page of 4 KiB, the tables' own among them, and
     * what has one size. */
    const size_t size_bytes = storage->size_bytes; /* fits 63 bits */
    options.size_bytes = size_bytes + size_bytes / 256 + size_bytes / 32768 + STORAGE_SEGMENT_BYTES;

    jstatus_t status;
    do {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(name, STORAGE_NAME_BYTES, "/jalloc-buffer-%ld-%u-%09ld", (long)getpid(),
                 atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed), now.tv_nsec);
        status = jsegment_create(&options, &storage->segment);
    } while (status == JSTATUS_EXISTS);

    if (status != JSTATUS_SUCCESS) {
        name[0] = '\0';
        return status;
    }

    jshared_options_t shared_options = JSHARED_OPTIONS_INIT;
    shared_options.header_bytes = storage->size_bytes;
    jshared_t *shared;

    status = jshared_create(storage->segment, STORAGE_SHARED_ID, &shared_options, &shared);
    if (status == JSTATUS_SUCCESS)
        storage->pointer = jshared_header(shared, NULL); /* zeroed */
    storage->zeroed = true;
    return status;
}

/* Attaches to the segment of this machine's first process. */
static jstatus_t storage_attach_segment(ji_storage_t *storage, const char *name) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_POSIX;
    options.name = name;

    jshared_t *shared;
    size_t size_bytes = 0;

    jstatus_t status = jsegment_attach(&options, &storage->segment);
    if (status == JSTATUS_SUCCESS)
        status = jshared_open(storage->segment, STORAGE_SHARED_ID, &shared);
    if (status != JSTATUS_SUCCESS)
        return status;

    storage->pointer = jshared_header(shared, &size_bytes);
    if (size_bytes != storage->size_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "a shared buffer of %zu bytes here, of %zu bytes on the first process",
                       storage->size_bytes, size_bytes);
    return JSTATUS_SUCCESS;
}

/* Collective; `status` is how far this process has come by itself. */
static jstatus_t storage_share(jruntime_t *runtime, ji_storage_t *storage, jstatus_t status) {
    const ji_runtime_ops_t *ops = runtime->ops;
    const bool first = runtime->info.node_rank == 0;
    char name[STORAGE_NAME_BYTES] = "";

    if (first && status == JSTATUS_SUCCESS)
        status = storage_create_segment(storage, (unsigned)runtime->info.node_processes, name);

    status = ops->agree(runtime, JI_SCOPE_NODE, status);
    if (status == JSTATUS_SUCCESS) {
        status = ops->broadcast(runtime, JI_SCOPE_NODE, 0, NULL, name, sizeof name);
        if (status == JSTATUS_SUCCESS && !first)
            status = storage_attach_segment(storage, name);
        status = ops->agree(runtime, JI_SCOPE_NODE, status);
    }

    if (first && name[0] != '\0')
        /* Ours, so not to be looked at first as jsegment_remove() does, which can fail. */
        (void)shm_unlink(name);
    return ops->agree(runtime, JI_SCOPE_ALL, status);
}

/* ---- One process's own ---- */

static jstatus_t storage_take_own(ji_storage_t *storage) {
    const jbuffer_allocator_options_t *options = &storage->allocator->options;
    jallocator_t *from = storage->allocator->bytes;
    if (options->allocator == NULL && jdevice_kind(options->device) == JDEVICE_HOST &&
        storage->size_bytes >= STORAGE_MAPPED_BYTES) {
        JTRY_RETURN(ji_process_get_mapped(&from));
        storage->zeroed = true;
    }

    jstatus_t status = jallocator_allocate(from, storage->size_bytes, 0, NULL, &storage->pointer);
    if (status == JSTATUS_SUCCESS)
        storage->from = from;
    return status;
}

static jstatus_t storage_wrap(ji_storage_t *storage, void *pointer) {
    const jdatatype_t type = storage->allocator->options.type;
    /* A complex number is aligned as its parts are. */
    const size_t element_bytes = jhandle_sizeof_datatype(type);
    const size_t alignment =
        type == JDATATYPE_F32_C || type == JDATATYPE_F64_C ? element_bytes / 2 : element_bytes;

    if ((uintptr_t)pointer % alignment != 0)
        return ji_fail(JSTATUS_INVALID_POINTER, "%p is not aligned to %zu bytes, as %s must be",
                       pointer, alignment, jdatatype_name(type));
    storage->pointer = pointer;
    return JSTATUS_SUCCESS;
}

/* ---- Life ---- */

jstatus_t ji_storage_return(ji_storage_t *storage) {
    jstatus_t status = JSTATUS_SUCCESS;
    if (storage->end_window != NULL)
        storage->end_window(storage->window);

    if (storage->segment != NULL)
        status = jsegment_detach(storage->segment);
    if (storage->from != NULL)
        status = jallocator_deallocate(storage->from, storage->pointer, storage->size_bytes, NULL);

    storage->end_window = NULL;
    storage->segment = NULL;
    storage->from = NULL;
    storage->pointer = storage->window = NULL;
    storage->placeholder = true;
    return status;
}

static jstatus_t storage_free_parts(ji_storage_t *storage) {
    const jstatus_t status = ji_storage_return(storage),
                    ended = ji_buffer_allocator_drop(storage->allocator);

    ji_metadata_free(storage);
    return status != JSTATUS_SUCCESS ? status : ended;
}

/* What a process does by itself before it takes memory. */
static jstatus_t storage_begin(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                               ji_storage_t **out) {
    jstatus_t status = JSTATUS_SUCCESS;
    ji_storage_t *storage;
    JTRY_ALLOC(storage = ji_metadata_zalloc(sizeof *storage));

    atomic_init(&storage->references, 1);
    JTRY(ji_buffer_part_bytes(allocator, layout, &storage->distribution, &storage->size_bytes));
    if (allocator->options.kind == JBUFFER_DISTRIBUTED) {
        const jdistribution_t *d = &storage->distribution;
        const int64_t rows = jdistribution_local_count(d, 0, d->coordinates[0], d->extents[0]);
        storage->leading_dimension = rows > 0 ? rows : 1;
    }

    JTRY(ji_buffer_allocator_hold(allocator));
    storage->allocator = allocator;

    *out = storage;
    storage = NULL;
done:
    ji_metadata_free(storage);
    return status;
}

jstatus_t ji_storage_create(jbuffer_allocator_t *allocator, const jlayout_t *layout, void *wrap,
                            ji_storage_t **out) {
    ji_storage_t *storage = NULL;
    const bool shared = ji_buffer_is_shared_kind(&allocator->options);
    if (shared && wrap != NULL)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED,
                       "a buffer that is shared on a node cannot wrap a caller's memory");

    jstatus_t status = storage_begin(allocator, layout, &storage);
    if (shared)
        status = storage_share(allocator->runtime, storage, status);
    else if (status == JSTATUS_SUCCESS && wrap != NULL)
        status = storage_wrap(storage, wrap);
    else if (status == JSTATUS_SUCCESS && storage->size_bytes > 0)
        status = storage_take_own(storage);

    if (status == JSTATUS_SUCCESS)
        *out = storage;
    else if (storage != NULL)
        (void)storage_free_parts(storage);
    return status;
}

jstatus_t ji_storage_promise(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                             ji_storage_t **out) {
    const jstatus_t status = storage_begin(allocator, layout, out);

    if (status == JSTATUS_SUCCESS)
        (*out)->placeholder = true;
    return status;
}

jstatus_t ji_storage_take(ji_storage_t *storage) {
    jstatus_t status = JSTATUS_SUCCESS;
    if (ji_buffer_is_shared_kind(&storage->allocator->options))
        status = storage_share(storage->allocator->runtime, storage, status);
    else if (storage->size_bytes > 0)
        status = storage_take_own(storage);
    if (status == JSTATUS_SUCCESS)
        storage->placeholder = false;
    else
        (void)ji_storage_return(storage);
    return status;
}

jstatus_t ji_storage_release(ji_storage_t *storage) {
    if (atomic_fetch_sub_explicit(&storage->references, 1, memory_order_acq_rel) != 1)
        return JSTATUS_SUCCESS;
    return storage_free_parts(storage);
}
