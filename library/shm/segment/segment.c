/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Attachments: made, ended, taken through a fork; growth; conversions between offsets and
 * addresses.
 *
 * A new segment is made in memory that nobody else can find, and is published when it is complete:
 * the constants last, of them the magic number last, then the name. One that exists is attached
 * behind a gate, which keeps it from being removed meanwhile.
 *
 * Fork. The child's attachment shares the parent's description, which would say "alive" for a
 * parent that has died. So the fork handler opens another one and closes that, and the first use
 * takes a slot of its own. It knows the attachments in the list, so a description is opened and
 * comes into the list while no fork can happen. */

#include "shm/segment/segment.h"
#include "memory/memory.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_DEFAULT_PROCESSES 64
#define SEGMENT_DEFAULT_TIMEOUT_MS 60000

/* ---- All attachments of the process ---- */

/* Held from before a file is opened until its attachment is in the list. */
static ji_lock_t segment_opening_lock;
static ji_lock_t segment_list_lock;
static ji_list_t segment_list = JI_LIST_EMPTY(segment_list);

/* In the child: a description of its own instead of the parent's. What this cannot be had for stays
 * without a slot. */
static void segment_in_child(void) {
    JI_LIST_EACH(&segment_list, jsegment_t, segment, link) {
        if (segment->backing.backend == JSEGMENT_PRIVATE || segment->read_only)
            continue;

        ji_segment_set_ready(segment, false);
        segment->lock_held = false;
        segment->slot = 0;

        if (segment->backing.descriptor >= 0) {
            int descriptor = -1;
            (void)shm_backing_reopen(&segment->backing, &descriptor);
            close(segment->backing.descriptor);
            segment->backing.descriptor = descriptor;
        }
    }
}

static void segment_start(void) {
    static const ji_fork_handlers_t handlers = {NULL, NULL, segment_in_child};
    ji_lock_init(&segment_opening_lock);
    ji_lock_init(&segment_list_lock);
    ji_fork_hold(JI_FORK_SEGMENTS, &handlers);
}
static void segment_start_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, segment_start);
}

ji_list_t *ji_segment_list_acquire(void) {
    segment_start_once();
    ji_lock_acquire(&segment_list_lock);
    return &segment_list;
}
void ji_segment_list_release(void) { ji_lock_release(&segment_list_lock); }

static void segment_enlist(jsegment_t *segment) {
    ji_list_push_front(ji_segment_list_acquire(), &segment->link);
    ji_segment_list_release();
}
static void segment_delist(jsegment_t *segment) {
    (void)ji_segment_list_acquire();
    ji_list_remove(&segment->link);
    ji_segment_list_release();
}

/* ---- The private part ---- */

static jstatus_t segment_check_options(const jsegment_options_t *options, const char *caller) {
    JREQUIRE_VALUE((unsigned)options->backend <= JSEGMENT_ARRAY, JSTATUS_INVALID_VALUE, caller,
                   "backend", options->backend, "must be of jsegment_backend_t");
    JREQUIRE_VALUE((unsigned)options->threads <= JALLOCATOR_THREADS_SAFE, JSTATUS_INVALID_VALUE,
                   caller, "threads", options->threads, "must be of jallocator_threads_t");

    if (options->max_processes > JSEGMENT_MAX_PROCESSES)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: max_processes %u, at most %d", caller,
                       options->max_processes, JSEGMENT_MAX_PROCESSES);

    if ((options->backend == JSEGMENT_POSIX || options->backend == JSEGMENT_FILE) &&
        options->name == NULL)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: this backend needs a name", caller);
    if (options->backend == JSEGMENT_ARRAY && options->array == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: no array", caller);
    return JSTATUS_SUCCESS;
}

static jsegment_t *segment_new(const jsegment_options_t *options) {
    jsegment_t *segment = ji_metadata_zalloc(sizeof *segment);
    if (segment == NULL)
        return NULL;

    segment->backing.descriptor = -1;
    ji_list_init(&segment->keepers);
    segment->read_only = options->read_only;
    segment->locks = options->threads != JALLOCATOR_THREADS_NONE;
    segment->timeout_ms = ji_option(options->timeout_ms, SEGMENT_DEFAULT_TIMEOUT_MS);
    if (segment->timeout_ms > JI_LONGEST_MS)
        segment->timeout_ms = JI_LONGEST_MS;

    ji_lock_init(&segment->lock);
    return segment;
}

static void segment_free(jsegment_t *segment) {
    if (segment == NULL)
        return;

    for (unsigned i = 0; i < SHM_ALLOCATORS; ++i)
        if (segment->open[i] != NULL) {
            ji_heap_forget(segment->open[i]);
            ji_metadata_free(segment->open[i]);
        }

    if (segment->map != NULL)
        (void)munmap(segment->map, ji_segment_map_bytes(segment));
    shm_backing_close(&segment->backing);
    ji_lock_fini(&segment->lock);
    ji_metadata_free(segment);
}

/* Everything is where the constants say. The map is private memory that costs nothing where it is
 * not used. */
static jstatus_t segment_bind(jsegment_t *segment) {
    const shm_constants_t *constants = &segment->constants;
    char *base = segment->backing.base;

    segment->base = base;
    segment->header = (shm_header_t *)base;
    segment->slots = (shm_slot_t *)(base + constants->slots_offset);
    segment->allocators = (shm_allocator_t *)(base + constants->allocators_offset);
    segment->roots = (shm_root_t *)(base + constants->roots_offset);
    segment->log = (shm_log_entry_t *)(base + constants->log_offset);
    segment->table = (shm_page_t *)(base + constants->table_offset);
    segment->max_pages = constants->max_pages;

    void *map = mmap(NULL, ji_segment_map_bytes(segment), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return ji_fail(JSTATUS_MEMORY_ERROR, "no address space for the map of the segment: %s",
                       strerror(errno));
    segment->map = map;

    return JSTATUS_SUCCESS;
}

/* Creates (size 0: attaches) what is behind the segment, and puts the segment into the list. */
static jstatus_t segment_open(jsegment_t *segment, const jsegment_options_t *options,
                              size_t size_bytes) {
    segment_start_once();
    ji_lock_acquire(&segment_opening_lock);

    jstatus_t status =
        size_bytes != 0
            ? shm_backing_create(options, &segment->constants, size_bytes, &segment->backing)
            : shm_backing_attach(options, &segment->constants, &segment->backing);
    if (status == JSTATUS_SUCCESS)
        segment_enlist(segment);
    ji_lock_release(&segment_opening_lock);
    return status;
}

/* ---- Create, attach ---- */

static size_t segment_round(size_t bytes) {
    size_t rounded;
    return ji_size_round_up(bytes, SHM_PAGE_BYTES, &rounded) ? rounded : 0;
}

/* The size to begin with, and the largest: in whole pages; an array has all its bytes at once. */
static jstatus_t segment_choose_sizes(const jsegment_options_t *options, size_t *size,
                                      size_t *max) {
    const bool is_array = options->backend == JSEGMENT_ARRAY;
    const bool grows =
        !is_array && options->max_bytes != JALLOC_DEFAULT && options->max_bytes != JALLOC_NONE;
    *size =
        is_array ? options->size_bytes & ~(SHM_PAGE_BYTES - 1) : segment_round(options->size_bytes);
    *max = grows ? segment_round(options->max_bytes) : *size;

    if (*size < JSEGMENT_MIN_BYTES || *max < *size || *max >> SHM_PAGE_SHIFT > SHM_MAX_PAGES)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "a segment of %zu bytes that may grow to %zu: at least %d, at most 4 TiB",
                       options->size_bytes, options->max_bytes, JSEGMENT_MIN_BYTES);
    return JSTATUS_SUCCESS;
}

/* The magic number last: an array is one segment from then on. */
static void segment_write_constants(jsegment_t *segment) {
    const size_t magic_bytes = sizeof segment->constants.magic;
    memcpy((char *)segment->header + magic_bytes, (const char *)&segment->constants + magic_bytes,
           sizeof segment->constants - magic_bytes);

    uint64_t magic;
    memcpy(&magic, segment->constants.magic, sizeof magic);
    shm_store((uint64_t *)segment->header, magic);
}

jstatus_t jsegment_create(const jsegment_options_t *given, jsegment_t **out) {
    JREQUIRE_POINTER(given, "options");
    JREQUIRE_POINTER(out, "segment");
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jsegment_options_t, &options, given, backend));
    JTRY_RETURN(segment_check_options(&options, __func__));

    jstatus_t status = JSTATUS_SUCCESS;
    if (options.read_only)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: read_only is for attaching", __func__);

    size_t size, max;
    JTRY_RETURN(segment_choose_sizes(&options, &size, &max));
    const unsigned slots =
        options.max_processes != 0 ? options.max_processes : SEGMENT_DEFAULT_PROCESSES;
    const bool has_file = options.backend == JSEGMENT_POSIX || options.backend == JSEGMENT_MEMFD ||
                          options.backend == JSEGMENT_FILE;

    bool listed = false;
    jsegment_t *segment = NULL;

    JTRY_ALLOC(segment = segment_new(&options));
    if (!shm_constants_make(&segment->constants, size, max, slots, has_file)) {
        status = ji_fail(JSTATUS_INVALID_SIZE,
                         "%zu bytes have no room for the bookkeeping of %zu and %u processes", size,
                         max, slots);
        goto done;
    }

    JTRY(segment_open(segment, &options, size));
    listed = true;
    JTRY(segment_bind(segment));

    /* Nobody else sees it yet, or takes it for a segment: nothing is interrupted halfway. */
    JTRY(ji_pages_add(segment, segment->constants.first_page, size >> SHM_PAGE_SHIFT));
    JTRY(ji_commit(segment));
    JTRY(ji_slot_join(segment));
    segment_write_constants(segment);
    JTRY(shm_backing_publish(&segment->backing));

    *out = segment;
    segment = NULL;

done:
    if (segment != NULL && options.backend == JSEGMENT_ARRAY && segment->header != NULL)
        memset(segment->header, 0, sizeof segment->constants.magic);
    if (segment != NULL && listed)
        segment_delist(segment);
    segment_free(segment);
    return status;
}

/* Whether the memory is as long as the segment says, and the segment not damaged. */
static jstatus_t segment_check_found(jsegment_t *segment) {
    if (!ji_pages_refresh(segment)) {
        const uint64_t total = shm_load(&segment->header->total_pages);
        return total > segment->constants.first_page && total <= segment->max_pages
                   ? ji_fail(JSTATUS_TRUNCATED, "the segment has %llu pages, its memory fewer",
                             (unsigned long long)total)
                   : ji_fail(JSTATUS_CORRUPTED, "the segment says that it has %llu pages",
                             (unsigned long long)total);
    }
    if (!segment->read_only && ji_segment_is_poisoned(segment))
        return ji_fail(JSTATUS_CORRUPTED, "the segment was found damaged before");
    return JSTATUS_SUCCESS;
}

/* Takes a slot of a segment that nobody removes meanwhile, and has not removed before. */
static jstatus_t segment_join_found(jsegment_t *segment) {
    shm_backing_t *backing = &segment->backing;
    const bool has_name = backing->backend == JSEGMENT_POSIX || backing->backend == JSEGMENT_FILE;
    if (!shm_gate_take(backing, false, segment->timeout_ms))
        return ji_fail(JSTATUS_BUSY, "the segment is being removed");

    struct stat file;
    jstatus_t status = has_name && (fstat(backing->descriptor, &file) != 0 || file.st_nlink == 0)
                           ? ji_fail(JSTATUS_NOT_FOUND, "the segment was removed meanwhile")
                           : ji_slot_join(segment);
    shm_gate_release(backing);
    return status;
}

jstatus_t jsegment_attach(const jsegment_options_t *given, jsegment_t **out) {
    JREQUIRE_POINTER(given, "options");
    JREQUIRE_POINTER(out, "segment");
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jsegment_options_t, &options, given, backend));
    JTRY_RETURN(segment_check_options(&options, __func__));

    jstatus_t status = JSTATUS_SUCCESS;
    bool listed = false;
    jsegment_t *segment = NULL;

    JTRY_ALLOC(segment = segment_new(&options));
    JTRY(segment_open(segment, &options, 0));
    listed = true;
    JTRY(segment_bind(segment));

    JTRY(segment_check_found(segment));
    if (!options.read_only)
        JTRY(segment_join_found(segment));

    *out = segment;
    segment = NULL;

done:
    if (segment != NULL && listed)
        segment_delist(segment);
    segment_free(segment);
    return status;
}

/* ---- Detach, destroy ---- */

static jstatus_t segment_end(jsegment_t *segment, jstatus_t status) {
    ji_segment_end(segment);
    if (status != JSTATUS_SUCCESS)
        return status;

    segment_delist(segment);
    segment_free(segment);
    return JSTATUS_SUCCESS;
}

jstatus_t jsegment_detach(jsegment_t *segment) {
    if (segment == NULL)
        return JSTATUS_SUCCESS;

    if (segment->locks)
        ji_lock_acquire(&segment->lock);
    return segment_end(segment, ji_slot_leave(segment));
}

jstatus_t jsegment_destroy(jsegment_t *segment) {
    if (segment == NULL)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_segment_begin(segment));
    jstatus_t status = JSTATUS_SUCCESS;

    const bool at_gate = shm_gate_take(&segment->backing, true, segment->timeout_ms);
    if (!at_gate)
        status = ji_fail(JSTATUS_BUSY, "others are attaching to the segment");

    for (unsigned i = 1; i <= segment->constants.slot_count && status == JSTATUS_SUCCESS; ++i)
        if (i != segment->slot && shm_load(&segment->slots[i - 1].state) != SHM_SLOT_FREE &&
            !ji_slot_is_dead(segment, i))
            status =
                ji_fail(JSTATUS_BUSY,
                        "slot %u (process %lld) is attached: jsegment_detach leaves it to that", i,
                        (long long)__atomic_load_n(&segment->slots[i - 1].pid, __ATOMIC_RELAXED));

    if (status == JSTATUS_SUCCESS)
        status = ji_slot_leave(segment);

    if (status == JSTATUS_SUCCESS) {
        if (segment->backing.backend == JSEGMENT_ARRAY)
            memset(segment->header, 0, sizeof segment->constants.magic);
        const jstatus_t removed = shm_backing_unlink(&segment->backing);
        (void)segment_end(segment, JSTATUS_SUCCESS);
        return removed;
    }

    if (at_gate)
        shm_gate_release(&segment->backing);
    ji_segment_end(segment);
    return status;
}

jstatus_t jsegment_remove(jsegment_backend_t backend, const char *name, jsegment_remove_t how) {
    JREQUIRE(name != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(how == JSEGMENT_REMOVE_UNUSED || how == JSEGMENT_REMOVE_ALWAYS,
                   JSTATUS_INVALID_VALUE, __func__, "how", how,
                   "must be JSEGMENT_REMOVE_UNUSED (0) or JSEGMENT_REMOVE_ALWAYS (1)");

    shm_backing_t backing;
    JTRY_RETURN(shm_backing_find(backend, name, &backing));
    jstatus_t status = JSTATUS_SUCCESS;

    if (!shm_gate_take(&backing, true, SEGMENT_DEFAULT_TIMEOUT_MS))
        status = ji_fail(JSTATUS_BUSY, "\"%s\": others are attaching", name);
    else if (how == JSEGMENT_REMOVE_UNUSED && shm_life_of_any(&backing))
        status = ji_fail(JSTATUS_BUSY, "\"%s\": a living process is attached", name);
    else
        status = shm_backing_unlink(&backing);

    /* Not by closing: a child of another thread's fork may have the description as well. */
    shm_gate_release(&backing);
    shm_backing_close(&backing);
    return status;
}

/* ---- Growth, recovery ---- */

jstatus_t ji_segment_extend(jsegment_t *segment, uint64_t pages) {
    const uint64_t total = ji_pages_total(segment);
    if (pages > segment->max_pages)
        return ji_fail(JSTATUS_INVALID_SIZE, "the segment may not grow beyond %llu bytes",
                       (unsigned long long)segment->max_pages << SHM_PAGE_SHIFT);

    if (pages <= total)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(shm_backing_extend(&segment->backing, &segment->constants,
                                   (size_t)total << SHM_PAGE_SHIFT,
                                   (size_t)pages << SHM_PAGE_SHIFT));

    jstatus_t status = ji_pages_add(segment, total, pages);
    status = ji_finish(segment, status);

    if (status == JSTATUS_SUCCESS)
        shm_count(&segment->header->growth_count);
    else
        (void)ji_pages_refresh(segment);
    return status;
}

jstatus_t jsegment_grow(jsegment_t *segment, size_t size_bytes) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    const uint64_t pages = (size_bytes >> SHM_PAGE_SHIFT) + (size_bytes % SHM_PAGE_BYTES != 0);
    jstatus_t status = ji_segment_lock(segment);
    return status == JSTATUS_SUCCESS ? ji_segment_unlock(segment, ji_segment_extend(segment, pages))
                                     : status;
}

jstatus_t jsegment_recover(jsegment_t *segment, unsigned *count) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status = ji_segment_lock(segment);
    return status == JSTATUS_SUCCESS ? ji_segment_unlock(segment, ji_reap_all(segment, count))
                                     : status;
}

jstatus_t jsegment_export(jsegment_t *segment, int *descriptor) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(descriptor != NULL, JSTATUS_INVALID_POINTER);
    return shm_backing_reopen(&segment->backing, descriptor);
}

jstatus_t jsegment_get_options(const jsegment_t *segment, jsegment_options_t *options) {
    JREQUIRE(segment != NULL && options != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jsegment_options_t, options, backend));
    JTRY_RETURN(ji_segment_begin_reading((jsegment_t *)segment));

    const shm_backing_t *backing = &segment->backing;
    const bool is_array = backing->backend == JSEGMENT_ARRAY;
    const jsegment_options_t present = {
        .struct_size = sizeof present,
        .backend = backing->backend,
        .name = backing->name,
        .array = is_array ? backing->base : NULL,
        .descriptor = backing->backend == JSEGMENT_MEMFD ? backing->descriptor : -1,
        .size_bytes = (size_t)ji_pages_total(segment) << SHM_PAGE_SHIFT,
        .max_bytes = (size_t)segment->max_pages << SHM_PAGE_SHIFT,
        .max_processes = (unsigned)segment->constants.slot_count,
        .read_only = segment->read_only,
        .timeout_ms = segment->timeout_ms != 0 ? segment->timeout_ms : JALLOC_NONE,
        .threads = segment->locks ? JALLOCATOR_THREADS_SAFE : JALLOCATOR_THREADS_NONE,
    };
    ji_segment_end((jsegment_t *)segment);

    JI_GIVE_RESULT(options, &present);
    return JSTATUS_SUCCESS;
}

unsigned jsegment_slot(const jsegment_t *segment) {
    if (segment == NULL || ji_segment_begin((jsegment_t *)segment) != JSTATUS_SUCCESS)
        return 0;

    const unsigned slot = segment->slot;
    ji_segment_end((jsegment_t *)segment);
    return slot;
}

/* ---- Offsets ---- */

static bool segment_holds(const jsegment_t *segment, uint64_t offset, uint64_t bytes) {
    const uint64_t size = ji_pages_total(segment) << SHM_PAGE_SHIFT;
    return offset <= size && bytes <= size - offset;
}

void *jsegment_pointer(jsegment_t *segment, joffset_t offset, size_t size_bytes) {
    if (segment == NULL || offset == JOFFSET_NULL)
        return NULL;

    if (JI_UNLIKELY(!segment_holds(segment, offset, size_bytes)) &&
        (!ji_pages_refresh(segment) || !segment_holds(segment, offset, size_bytes)))
        return NULL;
    return segment->base + offset;
}

joffset_t jsegment_offset(const jsegment_t *segment, const void *pointer) {
    if (segment == NULL || (uintptr_t)pointer < (uintptr_t)segment->base)
        return JOFFSET_NULL;

    const uint64_t offset = (uintptr_t)pointer - (uintptr_t)segment->base;
    /* What changes is what this process knows of the size, which another one has changed. */
    if (offset < segment->max_pages << SHM_PAGE_SHIFT && !segment_holds(segment, offset, 1))
        (void)ji_pages_refresh((jsegment_t *)segment);
    return segment_holds(segment, offset, 1) ? offset : JOFFSET_NULL;
}
