/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What must be true when a process has been killed: the segment holds together, every byte of it is
 * in one account, the dead process owns nothing, what others had is as they left it, everything can
 * be allocated, and when all is given back the segment is as it was when it was made. */

#include "crash.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jalloc/status.h"

void crash_fault(crash_t *crash, crash_fault_t fault, const char *format, ...) {
    if (fault <= crash->fault)
        return;
    crash->fault = fault;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(crash->message, sizeof crash->message, format, arguments);
    va_end(arguments);
}

bool crash_succeeds(crash_t *crash, jstatus_t status, const char *what) {
    if (status == JSTATUS_SUCCESS)
        return true;
    crash_fault(crash, status == JSTATUS_BUSY ? FAULT_HANG : FAULT_INCONSISTENT, "%s: %s: %s", what,
                jstatus_name(status), jstatus_last_message());
    return false;
}

/* ---- Contents ---- */

/* Every word of a block tells where it is, and in whose name it was written. */
static uint64_t word_at(joffset_t offset, uint64_t salt) {
    return (offset ^ salt << 48) * 0x9e3779b97f4a7c15u;
}

void crash_fill(jsegment_t *segment, joffset_t offset, size_t size_bytes, uint64_t salt) {
    uint64_t *words = jsegment_pointer(segment, offset, size_bytes);
    for (size_t i = 0; words != NULL && i < size_bytes / 8; i++)
        words[i] = word_at(offset, salt) + i;
}

static bool words_follow(jsegment_t *segment, joffset_t offset, size_t size_bytes, uint64_t first) {
    const uint64_t *words = jsegment_pointer(segment, offset, size_bytes);
    if (words == NULL)
        return false;
    for (size_t i = 0; i < size_bytes / 8; i++)
        if (words[i] != first + i)
            return false;
    return true;
}

bool crash_is_filled(jsegment_t *segment, joffset_t offset, size_t size_bytes, uint64_t salt) {
    return words_follow(segment, offset, size_bytes, word_at(offset, salt));
}

bool crash_is_moved(jsegment_t *segment, joffset_t offset, size_t size_bytes, joffset_t from) {
    return words_follow(segment, offset, size_bytes, word_at(from, 0));
}

/* ---- Segments ---- */

jshared_t *crash_shared(crash_t *crash, unsigned id) {
    return id == ID_PAGES ? crash->pages : id == ID_STACK ? crash->stack : crash->general;
}

void *crash_share(size_t bytes) {
    /* At a multiple of 1 MiB, so that segments in it can be asked for large alignments. */
    const size_t multiple = 1 << 20;
    char *memory =
        mmap(NULL, bytes + multiple, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        tool_fail("no memory");
    }
    return memory + (multiple - (uintptr_t)memory % multiple) % multiple;
}

static jsegment_options_t segment_options(const crash_t *crash) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = crash->array != NULL ? JSEGMENT_ARRAY : JSEGMENT_MEMFD;
    options.array = crash->array;
    options.descriptor = crash->descriptor;
    options.size_bytes = crash->size_bytes;
    options.timeout_ms = CRASH_TIMEOUT_MS;
    return options;
}

jstatus_t crash_attach(crash_t *crash) {
    const jsegment_options_t options = segment_options(crash);
    jstatus_t status = jsegment_attach(&options, &crash->segment);
    if (status == JSTATUS_SUCCESS)
        status = jshared_open(crash->segment, ID_GENERAL, &crash->general);
    if (status == JSTATUS_SUCCESS)
        status = jshared_open(crash->segment, ID_PAGES, &crash->pages);
    if (status == JSTATUS_SUCCESS)
        status = jshared_open(crash->segment, ID_STACK, &crash->stack);
    return status;
}

bool crash_detach(crash_t *crash) {
    jstatus_t status = jsegment_detach(crash->segment);
    crash->segment = NULL;
    crash->general = crash->pages = crash->stack = NULL;
    return crash_succeeds(crash, status, "jsegment_detach");
}

bool crash_make(crash_t *crash) {
    jsegment_options_t options = segment_options(crash);
    options.max_bytes = crash->max_bytes;
    options.max_processes = crash->processes;
    jshared_options_t pages = JSHARED_OPTIONS_INIT, stack = JSHARED_OPTIONS_INIT;
    pages.kind = JSHARED_PAGES;
    pages.page_bytes = CRASH_PAGE_BYTES;
    stack.kind = JSHARED_STACK;
    stack.region_bytes = CRASH_REGION_BYTES;
    stack.header_bytes = 100;
    crash->fresh = (jsegment_stats_t)JSEGMENT_STATS_INIT;
    if (!crash_succeeds(crash, jsegment_create(&options, &crash->segment), "jsegment_create") ||
        (crash->array == NULL &&
         !crash_succeeds(crash, jsegment_export(crash->segment, &crash->descriptor),
                         "jsegment_export")) ||
        !crash_succeeds(crash, jshared_create(crash->segment, ID_GENERAL, NULL, &crash->general),
                        "general") ||
        !crash_succeeds(crash, jshared_create(crash->segment, ID_PAGES, &pages, &crash->pages),
                        "pages") ||
        !crash_succeeds(crash, jshared_create(crash->segment, ID_STACK, &stack, &crash->stack),
                        "stack") ||
        !crash_succeeds(crash, jsegment_get_stats(crash->segment, &crash->fresh),
                        "jsegment_get_stats"))
        return false;
    void *header = crash->array != NULL
                       ? crash->array
                       : mmap(NULL, SHM_PAGE_BYTES, PROT_READ, MAP_SHARED, crash->descriptor, 0);
    if (header == MAP_FAILED) {
        crash_fault(crash, FAULT_INCONSISTENT, "the header cannot be mapped");
        return false;
    }
    crash->header = header;
    return crash_detach(crash);
}

void crash_unmake(crash_t *crash) {
    if (crash->segment != NULL)
        (void)jsegment_detach(crash->segment);
    if (crash->header != NULL && crash->array == NULL)
        munmap((void *)(uintptr_t)crash->header, SHM_PAGE_BYTES);
    if (crash->descriptor >= 0)
        close(crash->descriptor);
    crash->segment = NULL;
    crash->header = NULL;
    crash->descriptor = -1;
}

void crash_allocate_own(crash_t *crash) {
    static const struct {
        unsigned id;
        size_t size_bytes;
    } wanted[] = {
        {ID_GENERAL, 16},   {ID_GENERAL, 64},    {ID_GENERAL, 64},    {ID_GENERAL, 1024},
        {ID_GENERAL, 8192}, {ID_GENERAL, 20000}, {ID_GENERAL, 65536}, {ID_PAGES, CRASH_PAGE_BYTES}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        crash_block_t *block = &crash->own[crash->own_count];
        *block = (crash_block_t){.size_bytes = wanted[i].size_bytes, .id = wanted[i].id};
        if (crash_succeeds(crash,
                           jshared_allocate(crash_shared(crash, block->id), block->size_bytes, 0,
                                            &block->offset),
                           "the survivor's own blocks")) {
            crash_fill(crash->segment, block->offset, block->size_bytes, 0);
            crash->own_count++;
        }
    }
}

/* ---- Checks ---- */

/* What has become of a block: false if it is gone. Its usable bytes are added to *bytes. */
static bool look_at(crash_t *crash, const crash_block_t *block, unsigned owner, bool may_be_gone,
                    const char *whose, size_t *bytes) {
    size_t usable_bytes = 0;
    unsigned found = 0;
    jstatus_t status =
        jshared_describe(crash_shared(crash, block->id), block->offset, &usable_bytes, &found);
    if (status == JSTATUS_NOT_FOUND && may_be_gone)
        return false;
    if (status != JSTATUS_SUCCESS || found != owner || usable_bytes < block->size_bytes)
        crash_fault(crash, FAULT_INCONSISTENT,
                    "%s block of %zu bytes at %llu is described as %zu bytes of %u, not of %u: %s",
                    whose, block->size_bytes, (unsigned long long)block->offset, usable_bytes,
                    found, owner, jstatus_name(status));
    else if (!crash_is_filled(crash->segment, block->offset, block->size_bytes, 0))
        crash_fault(crash, FAULT_INCONSISTENT,
                    "%s block of %zu bytes at %llu has lost its contents", whose, block->size_bytes,
                    (unsigned long long)block->offset);
    else
        *bytes += usable_bytes;
    return status == JSTATUS_SUCCESS;
}

/* Every block that anybody had: who has it now. Those that live on are the survivor's to give
 * back. */
static void check_blocks(crash_t *crash, size_t *owned_bytes, size_t *given_bytes) {
    const unsigned slot = jsegment_slot(crash->segment);
    for (size_t i = 0; i < crash->own_count;)
        if (look_at(crash, &crash->own[i], slot, crash->own[i].flags & BLOCK_MAY_BE_GONE,
                    "the survivor's", owned_bytes))
            i++;
        else
            crash->own[i] = crash->own[--crash->own_count];
    const crash_board_t *board = crash->board;
    for (size_t i = 0; i < board->count && i < CRASH_BLOCKS; i++) {
        const crash_block_t *block = &board->blocks[i];
        size_t usable_bytes;
        if (block->offset == JOFFSET_NULL)
            continue;
        if (block->flags & (BLOCK_IS_HERE | BLOCK_MAY_BE_HERE)) {
            const bool may_be_gone = (block->flags & (BLOCK_MAY_BE_GONE | BLOCK_MAY_BE_HERE)) != 0;
            if (look_at(crash, block, block->heir, may_be_gone, "a given",
                        block->heir == JSEGMENT_SLOT_SEGMENT ? given_bytes : owned_bytes) &&
                crash->own_count < CRASH_BLOCKS)
                crash->own[crash->own_count++] = *block;
        } else if (jshared_describe(crash_shared(crash, block->id), block->offset, &usable_bytes,
                                    NULL) != JSTATUS_NOT_FOUND) {
            crash_fault(crash, FAULT_LEAK,
                        "the dead process's block of %zu bytes at %llu is still there",
                        block->size_bytes, (unsigned long long)block->offset);
        }
    }
}

static void check_books(crash_t *crash, size_t owned_bytes, size_t given_bytes) {
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    if (!crash_succeeds(crash, jsegment_get_stats(crash->segment, &stats), "jsegment_get_stats"))
        return;
    const size_t sum = stats.metadata_bytes + stats.owned_bytes + stats.given_bytes +
                       stats.cached_bytes + stats.free_bytes;
    if (stats.poisoned)
        crash_fault(crash, FAULT_INCONSISTENT, "the segment is poisoned");
    if (sum != stats.size_bytes)
        crash_fault(crash, FAULT_LEAK, "the accounts come to %zu of %zu bytes", sum,
                    stats.size_bytes);
    if (stats.owned_bytes != owned_bytes || stats.given_bytes != given_bytes)
        crash_fault(crash, FAULT_LEAK, "%zu bytes owned and %zu given, where %zu and %zu are known",
                    stats.owned_bytes, stats.given_bytes, owned_bytes, given_bytes);
    if (stats.processes != 1)
        crash_fault(crash, FAULT_LEAK, "%u processes attached", stats.processes);
    for (unsigned slot = 1; slot <= crash->processes; slot++) {
        jsegment_process_t process = JSEGMENT_PROCESS_INIT;
        if (crash_succeeds(crash, jsegment_get_process(crash->segment, slot, &process),
                           "jsegment_get_process") &&
            process.attached != (slot == jsegment_slot(crash->segment)))
            crash_fault(crash, FAULT_LEAK, "slot %u is still taken", slot);
    }
}

/* The whole of a small block, both ends of a large one. */
enum { STAMPED = 64 };
static void stamp(crash_t *crash, joffset_t offset, size_t size_bytes, uint64_t salt) {
    crash_fill(crash->segment, offset, size_bytes <= 2 * STAMPED ? size_bytes : STAMPED, salt);
    if (size_bytes > 2 * STAMPED)
        crash_fill(crash->segment, offset + (size_bytes / 8 * 8 - STAMPED), STAMPED, salt);
}
static bool is_stamped(crash_t *crash, joffset_t offset, size_t size_bytes, uint64_t salt) {
    return crash_is_filled(crash->segment, offset, size_bytes <= 2 * STAMPED ? size_bytes : STAMPED,
                           salt) &&
           (size_bytes <= 2 * STAMPED ||
            crash_is_filled(crash->segment, offset + (size_bytes / 8 * 8 - STAMPED), STAMPED,
                            salt));
}

/* Allocates so many blocks of a size, or until there is no more; each must be a block of its own.
 * Gives them back. */
static void allocate_all(crash_t *crash, jshared_t *shared, size_t size_bytes, size_t most) {
    static joffset_t offsets[16384];
    size_t count = 0;
    for (jstatus_t status; count < most && count < sizeof offsets / sizeof *offsets; count++) {
        status = jshared_allocate(shared, size_bytes, 0, &offsets[count]);
        if (status == JSTATUS_MEMORY_ERROR)
            break;
        if (!crash_succeeds(crash, status, "allocating after the recovery"))
            return;
        stamp(crash, offsets[count], size_bytes, count + 1);
    }
    for (size_t i = 0; i < count; i++)
        if (!is_stamped(crash, offsets[i], size_bytes, i + 1)) {
            crash_fault(crash, FAULT_INCONSISTENT, "two blocks of %zu bytes are one", size_bytes);
            return;
        }
    crash_succeeds(crash, jshared_deallocate_many(shared, count, offsets),
                   "freeing after the recovery");
}

bool crash_exercise(crash_t *crash, jshared_t *shared, size_t page_bytes) {
    static const size_t classes[] = {16,   48,   64,   100,  128,  200,  500,
                                     1024, 3000, 5000, 8192, 8193, 40000};
    static const size_t all[] = {12288, 1024, 65536, 4096};
    for (size_t i = 0; page_bytes == 0 && i < sizeof classes / sizeof *classes; i++)
        allocate_all(crash, shared, classes[i], 2);
    allocate_all(crash, shared, page_bytes ? page_bytes : all[crash->k % 4], SIZE_MAX);
    return crash->fault == FAULT_NONE;
}

/* Gives everything back, and compares with the segment as it was. */
static void check_release(crash_t *crash) {
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    for (size_t i = 0; i < crash->own_count; i++)
        crash_succeeds(
            crash, jshared_deallocate(crash_shared(crash, crash->own[i].id), crash->own[i].offset),
            "giving back what lived on");
    crash->own_count = 0;
    crash_succeeds(crash, jshared_rewind(crash->stack, 0), "jshared_rewind");
    if (!crash_detach(crash) || !crash_succeeds(crash, crash_attach(crash), "attaching again") ||
        !crash_succeeds(crash, jsegment_get_stats(crash->segment, &stats), "jsegment_get_stats"))
        return;
    const size_t grown = stats.size_bytes - crash->fresh.size_bytes;
    if (stats.metadata_bytes != crash->fresh.metadata_bytes ||
        stats.free_bytes != crash->fresh.free_bytes + grown ||
        stats.owned_bytes + stats.given_bytes + stats.cached_bytes != 0 ||
        stats.allocators != crash->fresh.allocators)
        crash_fault(crash, FAULT_LEAK,
                    "in the end %zu bytes are metadata and %zu free, where %zu and %zu were at the "
                    "beginning; %zu owned, %zu given, %zu cached; %u allocators for %u",
                    stats.metadata_bytes, stats.free_bytes, crash->fresh.metadata_bytes,
                    crash->fresh.free_bytes + grown, stats.owned_bytes, stats.given_bytes,
                    stats.cached_bytes, stats.allocators, crash->fresh.allocators);
    crash_detach(crash);
}

bool crash_check(crash_t *crash) {
    size_t owned_bytes = 0, given_bytes = 0;
    if (crash_succeeds(crash, jsegment_recover(crash->segment, NULL), "jsegment_recover") &&
        crash_succeeds(crash, jsegment_verify(crash->segment), "jsegment_verify")) {
        check_blocks(crash, &owned_bytes, &given_bytes);
        if (crash->scenario->settle != NULL && crash->fault == FAULT_NONE)
            crash->scenario->settle(crash);
        check_books(crash, owned_bytes, given_bytes);
    }
    if (crash->fault == FAULT_NONE && crash_exercise(crash, crash->general, 0) &&
        crash_exercise(crash, crash->pages, CRASH_PAGE_BYTES) &&
        crash_succeeds(crash, jsegment_verify(crash->segment), "jsegment_verify, after use"))
        check_release(crash);
    return crash->fault == FAULT_NONE;
}

/* ---- In the victim ---- */

void victim_must(crash_t *crash, jstatus_t status, const char *what) {
    if (status == JSTATUS_SUCCESS)
        return;
    snprintf(crash->board->message, sizeof crash->board->message, "%s: %s: %s", what,
             jstatus_name(status), jstatus_last_message());
    crash->board->phase = PHASE_FAILED;
    _exit(1);
}

size_t victim_take(crash_t *crash, unsigned id, size_t size_bytes) {
    crash_board_t *board = crash->board;
    crash_block_t block = {.size_bytes = size_bytes, .id = id};
    victim_must(crash, board->count < CRASH_BLOCKS ? JSTATUS_SUCCESS : JSTATUS_INVALID_SIZE,
                "room on the board");
    victim_must(crash, jshared_allocate(crash_shared(crash, id), size_bytes, 0, &block.offset),
                "allocating");
    crash_fill(crash->segment, block.offset, size_bytes, 0);
    board->blocks[board->count] = block;
    return board->count++;
}
