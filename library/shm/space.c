/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Room for a segment: on the disk, and among addresses.
 *
 * Space of a file is reserved before anybody touches it, since a page that the disk has no room for
 * is a SIGBUS to whoever touches it. A limit on the size of files is a signal too, so it is blocked
 * meanwhile; and so are all others, for a reservation that a signal interrupts begins anew, and
 * under a timer would never end. */

#include "shm/space.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/file_limit.h"
#include "shm/backing.h"

unsigned shm_backing_without;

size_t shm_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* ---- Of a file ---- */

static int space_write_zeros(int descriptor, uint64_t begin, uint64_t end) {
    static const char zeros[1 << 16];
    while (begin < end) {
        const uint64_t rest = end - begin;
        const ssize_t written = pwrite(
            descriptor, zeros, rest < sizeof zeros ? (size_t)rest : sizeof zeros, (off_t)begin);
        if (written < 0 && errno != EINTR)
            return -1;
        begin += written > 0 ? (uint64_t)written : 0;
    }
    return 0;
}

int shm_space_reserve(int descriptor, uint64_t begin, uint64_t end) {
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

void shm_space_give_back(int descriptor, uint64_t begin, uint64_t end) {
    (void)fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
                    (off_t)(end - begin));
}

/* ---- Among addresses ---- */

char *shm_space_find(size_t bytes) {
    const size_t page = shm_page_bytes();
    const size_t alignments[] = {SHM_LARGEST_ALIGNMENT, (size_t)1 << 21, (size_t)1 << 16, page};
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
