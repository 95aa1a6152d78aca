/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where a segment's bytes are.
 *
 * A segment is mapped once, at the largest size it may have; what lies behind its present end is
 * address space alone. So growing is done to the file, and every process finds the new pages in the
 * mapping that it has:
 *
 *     base, a multiple of 2^30 where the address space allows it
 *     | bookkeeping | table of present pages | (hole) | pages that are there | beyond the end |
 *     |<------------- reserved ------------->|        |<----- reserved ----->|
 *
 * Beneath are file.c, which names and opens files and trusts none of them; space.c, which makes
 * room on the disk and among addresses; and life.c, which says who is alive. */

#include "shm/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/file.h"
#include "shm/space.h"

/* ---- Messages ---- */

const char *shm_backing_label(const shm_backing_t *backing) {
    static const char *const labels[] = {"a private segment", "", "a memfd segment", "",
                                         "an array"};
    return backing->name != NULL ? backing->name : labels[backing->backend];
}

/* What errno means to a caller. */
static jstatus_t backing_status(int error) {
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN: return JSTATUS_MEMORY_ERROR; /* the last: mmap under a limit on locked memory */
    case EACCES:
    case EPERM:
    case EROFS: return JSTATUS_PERMISSION;
    case EEXIST: return JSTATUS_EXISTS;
    case ENAMETOOLONG: return JSTATUS_INVALID_VALUE;
    default: return JSTATUS_IO_ERROR;
    }
}

jstatus_t shm_backing_fail(const shm_backing_t *backing, const char *what) {
    return ji_fail(backing_status(errno), "\"%s\": %s: %s", shm_backing_label(backing), what,
                   strerror(errno));
}

/* ---- Space ---- */

/* Makes bytes of a private segment accessible, in whole pages of the system; the kernel rounds the
 * end up. */
static int backing_open_pages(const shm_backing_t *backing, uint64_t begin, uint64_t end) {
    begin -= begin % shm_page_bytes();
    return mprotect(backing->base + begin, end - begin, PROT_READ | PROT_WRITE);
}

jstatus_t shm_backing_extend(shm_backing_t *backing, const shm_constants_t *constants,
                             size_t from_bytes, size_t to_bytes) {
    if (to_bytes > backing->reserved_bytes)
        return ji_fail(JSTATUS_MEMORY_ERROR, "\"%s\": %zu bytes are more than the %zu it may have",
                       shm_backing_label(backing), to_bytes, backing->reserved_bytes);
    if (backing->backend == JSEGMENT_ARRAY || from_bytes >= to_bytes)
        return JSTATUS_SUCCESS;

    const uint64_t first = constants->first_page << SHM_PAGE_SHIFT;
    /* The page table's words of these pages, with all that stands before the table if the segment
     * is new; and pages. */
    const uint64_t ranges[2][2] = {
        {from_bytes == 0
             ? 0
             : constants->table_offset + (from_bytes >> SHM_PAGE_SHIFT) * sizeof(shm_page_t),
         constants->table_offset + (to_bytes >> SHM_PAGE_SHIFT) * sizeof(shm_page_t)},
        {from_bytes < first ? first : from_bytes, to_bytes}};

    for (int i = 0; i < 2; ++i) {
        const uint64_t begin = ranges[i][0], end = ranges[i][1];
        if (backing->has_file ? shm_space_reserve(backing->descriptor, begin, end) != 0
                              : backing_open_pages(backing, begin, end) != 0) {
            jstatus_t status =
                errno == EACCES || errno == EPERM ? JSTATUS_IO_ERROR : JSTATUS_MEMORY_ERROR;
            status = ji_fail(status, "\"%s\": no room for bytes %llu to %llu: %s",
                             shm_backing_label(backing), (unsigned long long)begin,
                             (unsigned long long)end, strerror(errno));
            for (; i >= 0 && backing->has_file; --i)
                shm_space_give_back(backing->descriptor, ranges[i][0], ranges[i][1]);
            return status;
        }
    }
    return JSTATUS_SUCCESS;
}

/* ---- Address space ---- */

static size_t backing_alignment(const char *base) {
    const uintptr_t bit = (uintptr_t)base & -(uintptr_t)base;
    return bit < SHM_LARGEST_ALIGNMENT ? (size_t)bit : SHM_LARGEST_ALIGNMENT;
}

/* Maps the largest size that the segment may have. */
static jstatus_t backing_map(shm_backing_t *backing, const shm_constants_t *constants) {
    const size_t page = shm_page_bytes();
    const uint64_t bytes = ((constants->max_pages << SHM_PAGE_SHIFT) + page - 1) / page * page;
    backing->base = shm_space_find(bytes);
    if (backing->base == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "\"%s\": no address space for %llu bytes: %s",
                       shm_backing_label(backing), (unsigned long long)bytes, strerror(errno));
    backing->reserved_bytes = constants->max_pages << SHM_PAGE_SHIFT;
    backing->alignment = backing_alignment(backing->base);
    if (!backing->has_file)
        return JSTATUS_SUCCESS;

    /* A mapping keeps its description open, in a forked child too. So it is made of another
     * description than the one whose locks say "alive", which must end with its last descriptor.
     * Without /proc there is but the one. */
    int mapped = -1;
    jstatus_t status = shm_backing_reopen(backing, &mapped);
    if (status != JSTATUS_SUCCESS && status != JSTATUS_NOT_IMPLEMENTED)
        return status;

    const int protection = backing->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    status = mmap(backing->base, bytes, protection, MAP_SHARED | MAP_FIXED,
                  mapped >= 0 ? mapped : backing->descriptor, 0) == MAP_FAILED
                 ? shm_backing_fail(backing, "mmap")
                 : JSTATUS_SUCCESS;

    if (mapped >= 0)
        close(mapped);
    return status;
}

/* Takes the caller's array. */
static jstatus_t backing_take_array(shm_backing_t *backing, const jsegment_options_t *options,
                                    size_t size_bytes) {
    if (options->array == NULL || ((uintptr_t)options->array & (SHM_PAGE_BYTES - 1)) != 0)
        return ji_fail(JSTATUS_INVALID_POINTER,
                       "the array is at %p; it must be at a multiple of %u", options->array,
                       (unsigned)SHM_PAGE_BYTES);
    if (size_bytes > options->size_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE, "a segment of %zu bytes in an array of %zu",
                       size_bytes, options->size_bytes);

    backing->base = options->array;
    backing->reserved_bytes = size_bytes;
    backing->alignment = backing_alignment(backing->base);
    return JSTATUS_SUCCESS;
}

/* ---- A new segment ---- */

/* A backing of nothing. */
static shm_backing_t backing_begin(jsegment_backend_t backend, uint64_t segment_pid_namespace) {
    return (shm_backing_t){.backend = backend,
                           .descriptor = -1,
                           .has_file = backend == JSEGMENT_POSIX || backend == JSEGMENT_MEMFD ||
                                       backend == JSEGMENT_FILE,
                           .pid_namespace = shm_pid_namespace(),
                           .segment_pid_namespace = segment_pid_namespace};
}

jstatus_t shm_backing_create(const jsegment_options_t *options, const shm_constants_t *constants,
                             size_t size_bytes, shm_backing_t *backing) {
    jstatus_t status = JSTATUS_SUCCESS;
    shm_backing_t made = backing_begin(options->backend, constants->pid_namespace);
    switch (options->backend) {
    case JSEGMENT_PRIVATE: break;
    case JSEGMENT_ARRAY: JTRY(backing_take_array(&made, options, size_bytes)); break;
    case JSEGMENT_MEMFD: JTRY(shm_file_open_memfd(&made, options->name)); break;
    case JSEGMENT_POSIX:
    case JSEGMENT_FILE:
        JTRY(shm_file_set_name(&made, options->name));
        JTRY(shm_file_open_new(&made));
        break;
    default:
        status = ji_fail(JSTATUS_INVALID_VALUE, "backend %d is none", (int)options->backend);
        goto done;
    }

    /* The mode that it was made with has gone through the process's umask. */
    if (made.has_file && fchmod(made.descriptor, SHM_FILE_MODE) != 0) {
        status = shm_backing_fail(&made, "fchmod");
        goto done;
    }

    if (options->backend == JSEGMENT_ARRAY)
        memset(made.base, 0, constants->first_page << SHM_PAGE_SHIFT);
    else
        JTRY(backing_map(&made, constants));
    JTRY(shm_backing_extend(&made, constants, 0, size_bytes));

    if (options->backend == JSEGMENT_MEMFD &&
        fcntl(made.descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        status = shm_backing_fail(&made, "F_ADD_SEALS");
        goto done;
    }

    *backing = made;
    made = (shm_backing_t){.descriptor = -1};
done:
    shm_backing_close(&made);
    return status;
}

/* ---- One that exists ---- */

/* Copies the constants of a file; what is not there is zero. *complete: all of them are there. */
static jstatus_t backing_read_constants(const shm_backing_t *backing, shm_constants_t *constants,
                                        bool *complete) {
    size_t length = 0;
    memset(constants, 0, sizeof *constants);
    while (length < sizeof *constants) {
        const ssize_t part = pread(backing->descriptor, (char *)constants + length,
                                   sizeof *constants - length, (off_t)length);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return shm_backing_fail(backing, "read");
        if (part == 0)
            break;
        length += (size_t)part;
    }

    *complete = length == sizeof *constants;

    if (memcmp(constants->magic, SHM_MAGIC, sizeof constants->magic) != 0)
        return ji_fail(JSTATUS_NOT_A_SEGMENT, "\"%s\" is not a segment of jalloc",
                       shm_backing_label(backing));
    return JSTATUS_SUCCESS;
}

/* Judges constants and how much there is of the segment. */
static jstatus_t backing_check(const shm_backing_t *backing, const shm_constants_t *constants,
                               uint64_t size_bytes) {
    const char *label = shm_backing_label(backing);
    jstatus_t status = shm_constants_check(constants);
    if (status != JSTATUS_SUCCESS)
        return ji_fail(status, "\"%s\": %s", label, jstatus_last_message());

    if ((constants->has_file != 0) != backing->has_file)
        return ji_fail(JSTATUS_INCOMPATIBLE, "\"%s\" was made %s a file", label,
                       constants->has_file != 0 ? "in" : "without");

    const unsigned long long bookkeeping = constants->first_page << SHM_PAGE_SHIFT;
    if (size_bytes < bookkeeping + SHM_PAGE_BYTES)
        return ji_fail(JSTATUS_TRUNCATED, "\"%s\" has %llu bytes, its bookkeeping alone %llu",
                       label, (unsigned long long)size_bytes, bookkeeping);
    return JSTATUS_SUCCESS;
}

static jstatus_t backing_attach_file(shm_backing_t *backing, shm_constants_t *constants) {
    jstatus_t status = JSTATUS_SUCCESS;
    bool complete = false;
    JTRY(backing_read_constants(backing, constants, &complete));
    if (!complete) {
        status =
            ji_fail(JSTATUS_TRUNCATED, "\"%s\" ends within its header", shm_backing_label(backing));
        goto done;
    }
    JTRY(backing_check(backing, constants, shm_backing_size(backing)));
    JTRY(backing_map(backing, constants));
done:
    return status;
}

static jstatus_t backing_attach_array(shm_backing_t *backing, const jsegment_options_t *options,
                                      shm_constants_t *constants) {
    jstatus_t status = JSTATUS_SUCCESS;
    JTRY(backing_take_array(backing, options, options->size_bytes));
    if (options->size_bytes < sizeof *constants) {
        status =
            ji_fail(JSTATUS_NOT_A_SEGMENT, "%zu bytes cannot be a segment", options->size_bytes);
        goto done;
    }
    memcpy(constants, backing->base, sizeof *constants);
    JTRY(backing_check(backing, constants, options->size_bytes));
done:
    return status;
}

jstatus_t shm_backing_attach(const jsegment_options_t *options, shm_constants_t *constants,
                             shm_backing_t *backing) {
    jstatus_t status = JSTATUS_SUCCESS;
    shm_backing_t made = backing_begin(options->backend, 0);
    made.read_only = options->read_only;
    switch (options->backend) {
    case JSEGMENT_ARRAY: JTRY(backing_attach_array(&made, options, constants)); break;
    case JSEGMENT_MEMFD:
        JTRY(shm_file_open_descriptor(&made, options->descriptor));
        JTRY(backing_attach_file(&made, constants));
        break;
    case JSEGMENT_POSIX:
    case JSEGMENT_FILE:
        JTRY(shm_file_set_name(&made, options->name));
        JTRY(shm_file_open_path(&made));
        JTRY(backing_attach_file(&made, constants));
        break;
    default:
        status = ji_fail(JSTATUS_INVALID_VALUE, "nobody can attach to a segment of backend %d",
                         (int)options->backend);
        goto done;
    }

    made.segment_pid_namespace = constants->pid_namespace;
    *backing = made;
    made = (shm_backing_t){.descriptor = -1};
done:
    shm_backing_close(&made);
    return status;
}

jstatus_t shm_backing_find(jsegment_backend_t backend, const char *name, shm_backing_t *backing) {
    jstatus_t status = JSTATUS_SUCCESS;
    shm_backing_t made = backing_begin(backend, 0);
    shm_constants_t constants;
    bool complete = false;
    if (backend != JSEGMENT_POSIX && backend != JSEGMENT_FILE)
        return ji_fail(JSTATUS_INVALID_VALUE, "segments of backend %d have no name", (int)backend);

    JTRY(shm_file_set_name(&made, name));
    JTRY(shm_file_open_path(&made));
    JTRY(backing_read_constants(&made, &constants, &complete));
    if (complete) {
        status = backing_check(&made, &constants, shm_backing_size(&made));
        if (status != JSTATUS_SUCCESS && status != JSTATUS_CORRUPTED &&
            status != JSTATUS_TRUNCATED && status != JSTATUS_STALE)
            goto done;
        status = JSTATUS_SUCCESS;
    }

    *backing = made;
    made = (shm_backing_t){.descriptor = -1};
done:
    shm_backing_close(&made);
    return status;
}

/* ---- Any segment ---- */

void shm_backing_close(shm_backing_t *backing) {
    if (backing->base != NULL && backing->backend != JSEGMENT_ARRAY)
        (void)munmap(backing->base, backing->reserved_bytes);
    if (backing->descriptor >= 0)
        close(backing->descriptor);
    shm_file_drop_temporary(backing);
    ji_metadata_free(backing->path);
    *backing = (shm_backing_t){.descriptor = -1};
}

size_t shm_backing_size(const shm_backing_t *backing) {
    if (!backing->has_file)
        return backing->reserved_bytes;
    struct stat file;
    return fstat(backing->descriptor, &file) == 0 && file.st_size > 0 ? (size_t)file.st_size : 0;
}

jstatus_t shm_backing_reopen(const shm_backing_t *backing, int *descriptor) {
    if (!backing->has_file)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s has no file", shm_backing_label(backing));

    shm_backing_t again = {.backend = backing->backend,
                           .name = backing->name,
                           .read_only = backing->read_only,
                           .has_file = true,
                           .descriptor = -1};

    jstatus_t status = shm_file_open_descriptor(&again, backing->descriptor);
    if (status == JSTATUS_SUCCESS)
        *descriptor = again.descriptor;
    else if (again.descriptor >= 0)
        close(again.descriptor);
    return status;
}
