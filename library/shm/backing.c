/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where a segment's bytes are.
 *
 * A segment is mapped once, at the largest size it may have; what lies behind its present end is address space alone.
 * So growing is done to the file, and every process finds the new pages in the mapping that it has:
 *
 *     base, a multiple of 2^30 where the address space allows it
 *     | bookkeeping | table of present pages | (hole) | pages up to the present size | beyond the end of the file |
 *     |<--------- reserved ----------------->|        |<-------- reserved --------->|
 *
 * Space is reserved before anybody touches it, since a page of a file that the disk has no room for is a SIGBUS to
 * whoever touches it. A limit on the size of files is a signal too, so it is blocked meanwhile; and so are all others,
 * for a reservation that a signal interrupts begins anew, and under a timer would never end.
 *
 * A new segment is a file without a name until it is complete; then one call links it to its name, which fails if the
 * name is taken. Where the file system has no unnamed files, it has a name of its own until then.
 *
 * A file that exists is looked at before it is opened, because opening a device can do something; and again after,
 * because the name may mean another file by then. Only a regular file of this user that nobody else may write to is
 * mapped. Its owner could still make it shorter under those who have mapped it, and they would get a SIGBUS; a memfd is
 * sealed against that. */

#include "shm/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file_limit.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3 */
#endif

#define BACKING_POSIX_DIRECTORY "/dev/shm" /* where the C libraries put POSIX shared memory */
#define BACKING_LARGEST_ALIGNMENT ((size_t)1 << 30)
#define BACKING_MODE 0600

unsigned shm_backing_without;

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static const char *backing_label(const shm_backing_t *backing) {
    static const char *const labels[] = {"a private segment", "", "a memfd segment", "", "an array"};
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

static jstatus_t backing_fail(const shm_backing_t *backing, const char *what) {
    return ji_fail(backing_status(errno), "\"%s\": %s: %s", backing_label(backing), what, strerror(errno));
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static size_t backing_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Checks a name and keeps the path that it means. */
static jstatus_t backing_set_name(shm_backing_t *backing, const char *name) {
    const bool posix = backing->backend == JSEGMENT_POSIX;
    if (name == NULL)
        return ji_fail(JSTATUS_INVALID_VALUE, "the segment needs a name");
    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL ? slash + 1 : name;
    const size_t length = strlen(name), before = posix ? strlen(BACKING_POSIX_DIRECTORY) : 0;
    if (posix && slash != name)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "\"%s\" cannot name shared memory: it begins with a slash and has no other", name);
    if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "\"%s\" does not name a file", name);
    if (strlen(last) > NAME_MAX || before + length >= PATH_MAX)
        return ji_fail(JSTATUS_INVALID_VALUE, "\"%.64s...\": a name of %zu characters is too long", name, length);

    jstatus_t status = JSTATUS_SUCCESS;
    JTRY_ALLOC(backing->path = ji_metadata_alloc(before + length + 1));
    memcpy(backing->path, BACKING_POSIX_DIRECTORY, before);
    memcpy(backing->path + before, name, length + 1);
    backing->name = backing->path + before;
done:
    return status;
}

/* A name in the same directory that nobody else uses. */
static jstatus_t backing_set_temporary(shm_backing_t *backing) {
    const char *slash = strrchr(backing->path, '/');
    const int directory = slash != NULL ? (int)(slash + 1 - backing->path) : 0;
    const size_t bytes = strlen(backing->path) + 64;
    unsigned long long number = 0;
    (void)getrandom(&number, sizeof number, GRND_NONBLOCK);
    jstatus_t status = JSTATUS_SUCCESS;
    ji_metadata_free(backing->temporary);
    JTRY_ALLOC(backing->temporary = ji_metadata_alloc(bytes));
    snprintf(backing->temporary, bytes, "%.*s.%.200s.jalloc-%ld-%016llx", directory, backing->path,
             backing->path + directory, (long)getpid(), number);
done:
    return status;
}

static void backing_drop_temporary(shm_backing_t *backing) {
    if (backing->temporary != NULL)
        (void)unlink(backing->temporary);
    ji_metadata_free(backing->temporary);
    backing->temporary = NULL;
}

/* ---- Space ------------------------------------------------------------------------------------------------------- */

static int space_write_zeros(int descriptor, uint64_t begin, uint64_t end) {
    static const char zeros[1 << 16];
    while (begin < end) {
        const uint64_t rest = end - begin;
        const ssize_t written =
            pwrite(descriptor, zeros, rest < sizeof zeros ? (size_t)rest : sizeof zeros, (off_t)begin);
        if (written < 0 && errno != EINTR)
            return -1;
        begin += written > 0 ? (uint64_t)written : 0;
    }
    return 0;
}

/* Sets bytes of a file aside that nobody uses yet; the file becomes so long. -1 and errno; never a signal. */
static int space_reserve(int descriptor, uint64_t begin, uint64_t end) {
    sigset_t all, before;
    ji_file_limit_t limit;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    ji_file_limit_begin(&limit);

    int result, error = EOPNOTSUPP;
    if ((shm_backing_without & SHM_WITHOUT_FALLOCATE) == 0) {
        do
            result = fallocate(descriptor, 0, (off_t)begin, (off_t)(end - begin));
        while (result != 0 && errno == EINTR);
        error = result == 0 ? 0 : errno;
    }
    if (error == EOPNOTSUPP || error == ENOSYS)
        error = space_write_zeros(descriptor, begin, end) == 0 ? 0 : errno;

    ji_file_limit_end(&limit);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0 ? 0 : -1;
}

/* The opposite, after a failure: many file systems keep what they had found room for, which may be all there was. */
static void space_give_back(int descriptor, uint64_t begin, uint64_t end) {
    (void)fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin, (off_t)(end - begin));
}

/* Makes bytes of a private segment accessible, in whole pages of the system; the kernel rounds the end up. */
static int space_open(const shm_backing_t *backing, uint64_t begin, uint64_t end) {
    begin -= begin % backing_page_bytes();
    return mprotect(backing->base + begin, end - begin, PROT_READ | PROT_WRITE);
}

jstatus_t shm_backing_extend(shm_backing_t *backing, const shm_constants_t *constants, size_t from_bytes,
                             size_t to_bytes) {
    if (to_bytes > backing->reserved_bytes)
        return ji_fail(JSTATUS_MEMORY_ERROR, "\"%s\": %zu bytes are more than the %zu it may have",
                       backing_label(backing), to_bytes, backing->reserved_bytes);
    if (backing->backend == JSEGMENT_ARRAY || from_bytes >= to_bytes)
        return JSTATUS_SUCCESS;
    const uint64_t first = constants->first_page << SHM_PAGE_SHIFT;
    /* The page table's words of these pages, with all that stands before the table if the segment is new; and pages. */
    const uint64_t ranges[2][2] = {
        {from_bytes == 0 ? 0 : constants->table_offset + (from_bytes >> SHM_PAGE_SHIFT) * sizeof(shm_page_t),
         constants->table_offset + (to_bytes >> SHM_PAGE_SHIFT) * sizeof(shm_page_t)},
        {from_bytes < first ? first : from_bytes, to_bytes}};
    for (int i = 0; i < 2; ++i) {
        const uint64_t begin = ranges[i][0], end = ranges[i][1];
        if (backing->has_file ? space_reserve(backing->descriptor, begin, end) != 0
                              : space_open(backing, begin, end) != 0) {
            jstatus_t status = errno == EACCES || errno == EPERM ? JSTATUS_IO_ERROR : JSTATUS_MEMORY_ERROR;
            status = ji_fail(status, "\"%s\": no room for bytes %llu to %llu: %s", backing_label(backing),
                             (unsigned long long)begin, (unsigned long long)end, strerror(errno));
            for (; i >= 0 && backing->has_file; --i)
                space_give_back(backing->descriptor, ranges[i][0], ranges[i][1]);
            return status;
        }
    }
    return JSTATUS_SUCCESS;
}

/* ---- Address space ----------------------------------------------------------------------------------------------- */

static size_t backing_alignment(const char *base) {
    const uintptr_t bit = (uintptr_t)base & -(uintptr_t)base;
    return bit < BACKING_LARGEST_ALIGNMENT ? (size_t)bit : BACKING_LARGEST_ALIGNMENT;
}

/* Reserves address space, which counts as memory only when it is made accessible, at a multiple of the largest
 * alignment for which there is enough of it. */
static char *space_find(size_t bytes) {
    const size_t page = backing_page_bytes();
    const size_t alignments[] = {BACKING_LARGEST_ALIGNMENT, (size_t)1 << 21, (size_t)1 << 16, page};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; ++i) {
        const size_t extra = alignments[i] > page ? alignments[i] - page : 0;
        char *found = mmap(NULL, bytes + extra, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (found == MAP_FAILED)
            continue;
        const size_t head = -(uintptr_t)found & (alignments[i] - 1);
        /* An end that cannot be unmapped, for want of mappings, stays and costs no memory. */
        if (head > 0)
            (void)munmap(found, head);
        if (extra > head)
            (void)munmap(found + head + bytes, extra - head);
        return found + head;
    }
    return NULL;
}

/* Maps the largest size that the segment may have. */
static jstatus_t backing_map(shm_backing_t *backing, const shm_constants_t *constants) {
    const size_t page = backing_page_bytes();
    const uint64_t bytes = ((constants->max_pages << SHM_PAGE_SHIFT) + page - 1) / page * page;
    backing->base = space_find(bytes);
    if (backing->base == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "\"%s\": no address space for %llu bytes: %s", backing_label(backing),
                       (unsigned long long)bytes, strerror(errno));
    backing->reserved_bytes = constants->max_pages << SHM_PAGE_SHIFT;
    backing->alignment = backing_alignment(backing->base);
    if (!backing->has_file)
        return JSTATUS_SUCCESS;
    /* A mapping keeps its description open, in a forked child too. So it is made of another description than the one
     * whose locks say "alive", which must end with its last descriptor. Without /proc there is but the one. */
    int mapped = -1;
    jstatus_t status = shm_backing_reopen(backing, &mapped);
    if (status != JSTATUS_SUCCESS && status != JSTATUS_NOT_IMPLEMENTED)
        return status;
    const int protection = backing->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    status = mmap(backing->base, bytes, protection, MAP_SHARED | MAP_FIXED, mapped >= 0 ? mapped : backing->descriptor,
                  0) == MAP_FAILED
                 ? backing_fail(backing, "mmap")
                 : JSTATUS_SUCCESS;
    if (mapped >= 0)
        close(mapped);
    return status;
}

/* Takes the caller's array. */
static jstatus_t backing_take_array(shm_backing_t *backing, const jsegment_options_t *options, size_t size_bytes) {
    if (options->array == NULL || ((uintptr_t)options->array & (SHM_PAGE_BYTES - 1)) != 0)
        return ji_fail(JSTATUS_INVALID_POINTER, "the array is at %p; it must be at a multiple of %u", options->array,
                       (unsigned)SHM_PAGE_BYTES);
    if (size_bytes > options->size_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE, "a segment of %zu bytes in an array of %zu", size_bytes,
                       options->size_bytes);
    backing->base = options->array;
    backing->reserved_bytes = size_bytes;
    backing->alignment = backing_alignment(backing->base);
    return JSTATUS_SUCCESS;
}

/* ---- A new segment ----------------------------------------------------------------------------------------------- */

/* Opens a new file without a name, or with a temporary one. */
static jstatus_t backing_open_new(shm_backing_t *backing) {
    struct stat there;
    if (lstat(backing->path, &there) == 0) /* asked again when it is published; this saves the work */
        return ji_fail(JSTATUS_EXISTS, "\"%s\" exists", backing->name);

    if ((shm_backing_without & SHM_WITHOUT_TMPFILE) == 0) {
        char directory[PATH_MAX], self[48];
        const char *slash = strrchr(backing->path, '/');
        if (slash == NULL)
            snprintf(directory, sizeof directory, ".");
        else
            snprintf(directory, sizeof directory, "%.*s", (int)(slash > backing->path ? slash - backing->path : 1),
                     backing->path);
        backing->descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, BACKING_MODE);
        if (backing->descriptor < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != ENOSYS && errno != EINVAL)
            return backing_fail(backing, "a new file in its directory");
        snprintf(self, sizeof self, "/proc/self/fd/%d", backing->descriptor);
        if (backing->descriptor >= 0 && access(self, F_OK) == 0)
            return JSTATUS_SUCCESS;
        if (backing->descriptor >= 0) /* without /proc it could never be given a name */
            close(backing->descriptor);
        backing->descriptor = -1;
    }
    for (int attempt = 0; attempt < 16 && backing->descriptor < 0; ++attempt) {
        JTRY_RETURN(backing_set_temporary(backing));
        backing->descriptor =
            open(backing->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, BACKING_MODE);
        if (backing->descriptor < 0) {
            int error = errno;
            ji_metadata_free(backing->temporary); /* it is not ours */
            backing->temporary = NULL;
            errno = error;
            if (error != EEXIST && error != EINTR)
                break;
        }
    }
    return backing->descriptor >= 0 ? JSTATUS_SUCCESS : backing_fail(backing, "a new file in its directory");
}

static jstatus_t backing_open_memfd(shm_backing_t *backing, const char *name) {
    char label[128];
    snprintf(label, sizeof label, "%.120s", name != NULL ? name : "jalloc");
    /* Kernels that know the flag may insist on it; those that do not refuse it. */
    backing->descriptor = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (backing->descriptor < 0 && errno == EINVAL)
        backing->descriptor = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return backing->descriptor >= 0 ? JSTATUS_SUCCESS : backing_fail(backing, "memfd_create");
}

/* A backing of nothing. */
static shm_backing_t backing_begin(jsegment_backend_t backend, uint64_t segment_pid_namespace) {
    return (shm_backing_t){.backend = backend,
                           .descriptor = -1,
                           .has_file =
                               backend == JSEGMENT_POSIX || backend == JSEGMENT_MEMFD || backend == JSEGMENT_FILE,
                           .pid_namespace = shm_pid_namespace(),
                           .segment_pid_namespace = segment_pid_namespace};
}

jstatus_t shm_backing_create(const jsegment_options_t *options, const shm_constants_t *constants, size_t size_bytes,
                             shm_backing_t *backing) {
    jstatus_t status = JSTATUS_SUCCESS;
    shm_backing_t made = backing_begin(options->backend, constants->pid_namespace);
    switch (options->backend) {
    case JSEGMENT_PRIVATE: break;
    case JSEGMENT_ARRAY: JTRY(backing_take_array(&made, options, size_bytes)); break;
    case JSEGMENT_MEMFD: JTRY(backing_open_memfd(&made, options->name)); break;
    case JSEGMENT_POSIX:
    case JSEGMENT_FILE:
        JTRY(backing_set_name(&made, options->name));
        JTRY(backing_open_new(&made));
        break;
    default: status = ji_fail(JSTATUS_INVALID_VALUE, "backend %d is none", (int)options->backend); goto done;
    }
    /* The mode that it was made with has gone through the process's umask. */
    if (made.has_file && fchmod(made.descriptor, BACKING_MODE) != 0) {
        status = backing_fail(&made, "fchmod");
        goto done;
    }
    if (options->backend == JSEGMENT_ARRAY)
        memset(made.base, 0, constants->first_page << SHM_PAGE_SHIFT);
    else
        JTRY(backing_map(&made, constants));
    JTRY(shm_backing_extend(&made, constants, 0, size_bytes));
    if (options->backend == JSEGMENT_MEMFD && fcntl(made.descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        status = backing_fail(&made, "F_ADD_SEALS");
        goto done;
    }
    *backing = made;
    made = (shm_backing_t){.descriptor = -1};
done:
    shm_backing_close(&made);
    return status;
}

jstatus_t shm_backing_publish(shm_backing_t *backing) {
    if (backing->path == NULL)
        return JSTATUS_SUCCESS;
    char self[48];
    snprintf(self, sizeof self, "/proc/self/fd/%d", backing->descriptor);
    const int result = backing->temporary != NULL ? link(backing->temporary, backing->path)
                                                  : linkat(AT_FDCWD, self, AT_FDCWD, backing->path, AT_SYMLINK_FOLLOW);
    if (result != 0)
        return backing_fail(backing, "cannot be given its name");
    backing_drop_temporary(backing);
    return JSTATUS_SUCCESS;
}

/* ---- One that exists --------------------------------------------------------------------------------------------- */

static jstatus_t backing_judge(const shm_backing_t *backing, const struct stat *file) {
    const char *label = backing_label(backing);
    if (!S_ISREG(file->st_mode))
        return ji_fail(JSTATUS_UNSAFE, "\"%s\" is not a regular file", label);
    if (file->st_uid != geteuid())
        return ji_fail(JSTATUS_UNSAFE, "\"%s\" belongs to user %u, and this process is of user %u", label,
                       (unsigned)file->st_uid, (unsigned)geteuid());
    if ((file->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return ji_fail(JSTATUS_UNSAFE, "\"%s\" has mode %03o: others may write to it", label,
                       (unsigned)(file->st_mode & 0777));
    return JSTATUS_SUCCESS;
}

static jstatus_t backing_fail_open(const shm_backing_t *backing) {
    if (errno == ENOENT || errno == ENOTDIR)
        return ji_fail(JSTATUS_NOT_FOUND, "\"%s\": %s", backing_label(backing), strerror(errno));
    if (errno == ELOOP)
        return ji_fail(JSTATUS_UNSAFE, "\"%s\": %s", backing_label(backing), strerror(errno));
    return backing_fail(backing, "open");
}

/* Opens what has been judged, and judges what has been opened. */
static jstatus_t backing_open(shm_backing_t *backing, const char *path, int follow) {
    const int flags = (backing->read_only ? O_RDONLY : O_RDWR) | follow | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat file;
    do
        backing->descriptor = open(path, flags);
    while (backing->descriptor < 0 && errno == EINTR);
    if (backing->descriptor < 0)
        return backing_fail_open(backing);
    if (fstat(backing->descriptor, &file) != 0)
        return backing_fail(backing, "fstat");
    return backing_judge(backing, &file);
}

static jstatus_t backing_open_path(shm_backing_t *backing) {
    struct stat file;
    if (lstat(backing->path, &file) != 0)
        return backing_fail_open(backing);
    jstatus_t status = backing_judge(backing, &file);
    return status == JSTATUS_SUCCESS ? backing_open(backing, backing->path, O_NOFOLLOW) : status;
}

/* A description of its own of the file of somebody's descriptor. */
static jstatus_t backing_open_descriptor(shm_backing_t *backing, int descriptor) {
    struct stat file;
    char path[48];
    if (fstat(descriptor, &file) != 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "descriptor %d: %s", descriptor, strerror(errno));
    JTRY_RETURN(backing_judge(backing, &file));
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    jstatus_t status = backing_open(backing, path, 0);
    if (status == JSTATUS_NOT_FOUND)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "a descriptor can be opened anew only with /proc");
    return status;
}

/* Copies the constants of a file; what is not there is zero. *complete: all of them are there. */
static jstatus_t backing_read_constants(const shm_backing_t *backing, shm_constants_t *constants, bool *complete) {
    size_t length = 0;
    memset(constants, 0, sizeof *constants);
    while (length < sizeof *constants) {
        const ssize_t part =
            pread(backing->descriptor, (char *)constants + length, sizeof *constants - length, (off_t)length);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return backing_fail(backing, "read");
        if (part == 0)
            break;
        length += (size_t)part;
    }
    *complete = length == sizeof *constants;
    if (memcmp(constants->magic, SHM_MAGIC, sizeof constants->magic) != 0)
        return ji_fail(JSTATUS_NOT_A_SEGMENT, "\"%s\" is not a segment of jalloc", backing_label(backing));
    return JSTATUS_SUCCESS;
}

/* Judges constants and how much there is of the segment. */
static jstatus_t backing_check(const shm_backing_t *backing, const shm_constants_t *constants, uint64_t size_bytes) {
    const char *label = backing_label(backing);
    jstatus_t status = shm_constants_check(constants);
    if (status != JSTATUS_SUCCESS)
        return ji_fail(status, "\"%s\": %s", label, jstatus_last_message());
    if ((constants->has_file != 0) != backing->has_file)
        return ji_fail(JSTATUS_INCOMPATIBLE, "\"%s\" was made %s a file", label,
                       constants->has_file != 0 ? "in" : "without");
    const unsigned long long bookkeeping = constants->first_page << SHM_PAGE_SHIFT;
    if (size_bytes < bookkeeping + SHM_PAGE_BYTES)
        return ji_fail(JSTATUS_TRUNCATED, "\"%s\" has %llu bytes, its bookkeeping alone %llu", label,
                       (unsigned long long)size_bytes, bookkeeping);
    return JSTATUS_SUCCESS;
}

static jstatus_t backing_attach_file(shm_backing_t *backing, shm_constants_t *constants) {
    jstatus_t status = JSTATUS_SUCCESS;
    bool complete = false;
    JTRY(backing_read_constants(backing, constants, &complete));
    if (!complete) {
        status = ji_fail(JSTATUS_TRUNCATED, "\"%s\" ends within its header", backing_label(backing));
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
        status = ji_fail(JSTATUS_NOT_A_SEGMENT, "%zu bytes cannot be a segment", options->size_bytes);
        goto done;
    }
    memcpy(constants, backing->base, sizeof *constants);
    JTRY(backing_check(backing, constants, options->size_bytes));
done:
    return status;
}

jstatus_t shm_backing_attach(const jsegment_options_t *options, shm_constants_t *constants, shm_backing_t *backing) {
    jstatus_t status = JSTATUS_SUCCESS;
    shm_backing_t made = backing_begin(options->backend, 0);
    made.read_only = options->read_only;
    switch (options->backend) {
    case JSEGMENT_ARRAY: JTRY(backing_attach_array(&made, options, constants)); break;
    case JSEGMENT_MEMFD:
        JTRY(backing_open_descriptor(&made, options->descriptor));
        JTRY(backing_attach_file(&made, constants));
        break;
    case JSEGMENT_POSIX:
    case JSEGMENT_FILE:
        JTRY(backing_set_name(&made, options->name));
        JTRY(backing_open_path(&made));
        JTRY(backing_attach_file(&made, constants));
        break;
    default:
        status = ji_fail(JSTATUS_INVALID_VALUE, "nobody can attach to a segment of backend %d", (int)options->backend);
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
    JTRY(backing_set_name(&made, name));
    JTRY(backing_open_path(&made));
    JTRY(backing_read_constants(&made, &constants, &complete));
    if (complete) {
        status = backing_check(&made, &constants, shm_backing_size(&made));
        if (status != JSTATUS_SUCCESS && status != JSTATUS_CORRUPTED && status != JSTATUS_TRUNCATED &&
            status != JSTATUS_STALE)
            goto done;
        status = JSTATUS_SUCCESS;
    }
    *backing = made;
    made = (shm_backing_t){.descriptor = -1};
done:
    shm_backing_close(&made);
    return status;
}

jstatus_t shm_backing_unlink(const shm_backing_t *backing) {
    if (backing->path == NULL)
        return JSTATUS_SUCCESS;
    struct stat ours, named;
    if (fstat(backing->descriptor, &ours) != 0)
        return backing_fail(backing, "fstat");
    if (lstat(backing->path, &named) != 0)
        return backing_fail_open(backing);
    if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
        return ji_fail(JSTATUS_NOT_FOUND, "\"%s\" names another file by now", backing->name);
    return unlink(backing->path) == 0 ? JSTATUS_SUCCESS : backing_fail_open(backing);
}

/* ---- Any segment ------------------------------------------------------------------------------------------------- */

void shm_backing_close(shm_backing_t *backing) {
    if (backing->base != NULL && backing->backend != JSEGMENT_ARRAY)
        (void)munmap(backing->base, backing->reserved_bytes);
    if (backing->descriptor >= 0)
        close(backing->descriptor);
    backing_drop_temporary(backing);
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
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "%s has no file", backing_label(backing));
    shm_backing_t again = {.backend = backing->backend,
                           .name = backing->name,
                           .read_only = backing->read_only,
                           .has_file = true,
                           .descriptor = -1};
    jstatus_t status = backing_open_descriptor(&again, backing->descriptor);
    if (status == JSTATUS_SUCCESS)
        *descriptor = again.descriptor;
    else if (again.descriptor >= 0)
        close(again.descriptor);
    return status;
}
