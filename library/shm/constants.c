/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The constants at the front of a segment: how they are made, and how a copy of them is judged.
 *
 * All offsets in a segment follow from two numbers, how many pages it may have and how many slots:
 *
 *     0        4096 slots_offset allocators_offset roots_offset log_offset table_offset first_page
 *     | header |    | slots      | allocators      | roots      | undo log | page table | pages ...
 *
 * One function computes them. It makes the constants of a new segment, and judging others' means to
 * compute them again and to compare: whatever else they hold, offsets that overlap or are outside
 * are not among what is accepted.
 *
 * The order of judging matters, since each refusal has its own status: what the bytes are, whether
 * this library understands them, whether they are whole, and only then whether they are of this
 * start of the machine. */

#include "shm/backing.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define CONSTANTS_ALIGNMENT 128 /* of each table: the size of the largest structure in one */

_Static_assert(offsetof(shm_constants_t, checksum) + sizeof(uint64_t) == sizeof(shm_constants_t),
               "the checksum is of all before it, and nothing is behind it");

/* FNV-1a of 64 bits (Fowler, Noll, Vo): against accidents, not against intent. */
static uint64_t constants_checksum(const shm_constants_t *constants) {
    const unsigned char *bytes = (const unsigned char *)constants;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < offsetof(shm_constants_t, checksum); ++i)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Where a table of so many bytes begins; *end is then behind it. */
static uint64_t constants_table_offset(uint64_t *end, uint64_t bytes) {
    uint64_t offset = (*end + CONSTANTS_ALIGNMENT - 1) / CONSTANTS_ALIGNMENT * CONSTANTS_ALIGNMENT;
    *end = offset + bytes;
    return offset;
}

/* Fills in all offsets. False where the numbers are out of range or no page is left. They are small
 * enough that nothing overflows. */
static bool constants_set_offsets(shm_constants_t *constants) {
    if (constants->max_pages < JSEGMENT_MIN_BYTES / SHM_PAGE_BYTES ||
        constants->max_pages > SHM_MAX_PAGES || constants->slot_count == 0 ||
        constants->slot_count > SHM_MAX_SLOTS)
        return false;

    uint64_t end = SHM_PAGE_BYTES;

    constants->slots_offset =
        constants_table_offset(&end, constants->slot_count * sizeof(shm_slot_t));
    constants->allocators_offset =
        constants_table_offset(&end, SHM_ALLOCATORS * sizeof(shm_allocator_t));
    constants->roots_offset = constants_table_offset(&end, SHM_ROOTS * sizeof(shm_root_t));
    constants->log_offset = constants_table_offset(&end, SHM_LOG_ENTRIES * sizeof(shm_log_entry_t));
    constants->table_offset =
        constants_table_offset(&end, constants->max_pages * sizeof(shm_page_t));

    constants->first_page = (end + SHM_PAGE_BYTES - 1) / SHM_PAGE_BYTES;
    return constants->first_page < constants->max_pages;
}

/* The kernel's name for this start of the machine; "" where it has none. False where it could not
 * be asked, which is no reason to take a segment for a stale one. */
static bool constants_get_boot_id(char boot_id[sizeof((shm_constants_t *)0)->boot_id]) {
    char text[64];
    memset(boot_id, 0, sizeof((shm_constants_t *)0)->boot_id);
    if (!shm_system_read("/proc/sys/kernel/random/boot_id", text, sizeof text))
        return errno != EMFILE && errno != ENFILE && errno != ENOMEM;

    size_t length = strcspn(text, "\n");
    if (length < sizeof((shm_constants_t *)0)->boot_id)
        memcpy(boot_id, text, length);
    return true;
}

static uint64_t constants_random(void) {
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == (ssize_t)sizeof number)
        return number;

    /* Too early for the kernel's: what two segments made then do not share. */
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);

    return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) *
               UINT64_C(0x9E3779B97F4A7C15) ^
           (uint64_t)getpid() << 32;
}

bool shm_constants_make(shm_constants_t *constants, size_t size_bytes, size_t max_bytes,
                        unsigned slots, bool has_file) {
    memset(constants, 0, sizeof *constants); /* the checksum is of every byte */

    memcpy(constants->magic, SHM_MAGIC, sizeof constants->magic);
    constants->byte_order = SHM_BYTE_ORDER;
    constants->layout_version = SHM_LAYOUT_VERSION;
    constants->page_bytes = SHM_PAGE_BYTES;
    constants->constants_bytes = sizeof *constants;
    constants->max_pages = max_bytes >> SHM_PAGE_SHIFT;
    constants->slot_count = slots;

    if (size_bytes < JSEGMENT_MIN_BYTES || size_bytes > max_bytes ||
        !constants_set_offsets(constants) || size_bytes >> SHM_PAGE_SHIFT <= constants->first_page)
        return false;

    if (!constants_get_boot_id(constants->boot_id))
        return false;

    constants->has_file = has_file;
    constants->pid_namespace = shm_pid_namespace();
    constants->segment_id = constants_random();
    constants->created_at = time(NULL);
    constants->creator_pid = getpid();

    constants->checksum = constants_checksum(constants);
    return true;
}

jstatus_t shm_constants_check(const shm_constants_t *constants) {
    if (memcmp(constants->magic, SHM_MAGIC, sizeof constants->magic) != 0)
        return ji_fail(JSTATUS_NOT_A_SEGMENT, "not a segment of jalloc");
    if (constants->byte_order != SHM_BYTE_ORDER)
        return ji_fail(JSTATUS_INCOMPATIBLE, "a segment of another byte order");
    if (constants->layout_version != SHM_LAYOUT_VERSION)
        return ji_fail(JSTATUS_INCOMPATIBLE, "layout version %u; this library knows %u",
                       constants->layout_version, SHM_LAYOUT_VERSION);
    if (constants->page_bytes != SHM_PAGE_BYTES ||
        constants->constants_bytes != sizeof *constants || constants->features != 0)
        return ji_fail(
            JSTATUS_INCOMPATIBLE,
            "pages of %u bytes, constants of %u, features %#llx; this library knows %u, %zu, 0",
            constants->page_bytes, constants->constants_bytes,
            (unsigned long long)constants->features, (unsigned)SHM_PAGE_BYTES, sizeof *constants);

    if (constants->checksum != constants_checksum(constants))
        return ji_fail(JSTATUS_CORRUPTED, "the checksum of the header is wrong");

    shm_constants_t again = *constants;
    if (!constants_set_offsets(&again) || memcmp(&again, constants, sizeof again) != 0 ||
        constants->has_file > 1 ||
        memchr(constants->boot_id, '\0', sizeof constants->boot_id) == NULL)
        return ji_fail(
            JSTATUS_CORRUPTED, "the header does not hold together: %llu pages, %llu slots",
            (unsigned long long)constants->max_pages, (unsigned long long)constants->slot_count);

    char boot_id[sizeof constants->boot_id];
    if (!constants_get_boot_id(boot_id))
        return ji_fail(JSTATUS_MEMORY_ERROR, "cannot learn when the machine was started: %s",
                       strerror(errno));

    if (strcmp(constants->boot_id, boot_id) != 0)
        return ji_fail(JSTATUS_STALE, "made before the machine was started");
    return JSTATUS_SUCCESS;
}
