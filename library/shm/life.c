/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Who is alive.
 *
 * With a file, the kernel says: each attachment holds a lock on one byte of the file, which belongs
 * to its open file description and goes with the last descriptor of it, however the process ends.
 * So a process that lives always has its lock, in whatever namespace it is, and its pid may be used
 * again without any harm. The bytes lie far behind the end of every file, since nothing needs to be
 * there:
 *
 *     2^46        2^46 + 1    2^46 + 2 ...
 *     | gate      | slot 1    | slot 2 ...
 *
 * Descriptions survive fork and exec as long as somebody has the descriptor: it is close-on-exec,
 * and a child that goes on using the segment opens a description of its own. The gate's byte is
 * locked by those who attach, together, and by the one who removes, alone.
 *
 * Without a file, a slot holds a claim, by which others look for the process in /proc:
 *
 *     | foreign:1 | pid:31 | start time:32 |
 *
 * A pid that was used again has another start time. A claim is only understood where pids and start
 * times mean the same to both sides; one that was made in another pid namespace than the segment,
 * or in a time namespace that shifts start times, says "foreign" and its process is never taken for
 * dead. The same holds for the one who looks. */

#include "shm/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIFE_FIRST_BYTE ((off_t)1 << 46) /* beyond SHM_MAX_PAGES, below what a file may be long */
_Static_assert(((uint64_t)1 << 46) >= SHM_MAX_PAGES * SHM_PAGE_BYTES,
               "the locks are not on bytes of the segment");

#define LIFE_FOREIGN ((uint64_t)1 << 63)
#define LIFE_PID_SHIFT 32

/* ---- Locks of the file ---- */

static bool life_lock(int descriptor, short type, unsigned byte) {
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = LIFE_FIRST_BYTE + byte, .l_len = 1};
    int result;

    do
        result = fcntl(descriptor, F_OFD_SETLK, &lock);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

/* Whether another description has one of the bytes. */
static shm_life_t life_ask(int descriptor, unsigned first, unsigned count) {
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = LIFE_FIRST_BYTE + first,
                         .l_len = count};
    int result;

    do
        result = fcntl(descriptor, F_OFD_GETLK, &lock);
    while (result != 0 && errno == EINTR);

    if (result != 0)
        return SHM_LIFE_UNKNOWN;
    return lock.l_type == F_UNLCK ? SHM_DEAD_PROCESS : SHM_ALIVE;
}

bool shm_life_take(const shm_backing_t *backing, unsigned slot) {
    return backing->has_file && life_lock(backing->descriptor, F_WRLCK, slot);
}

void shm_life_release(const shm_backing_t *backing, unsigned slot) {
    if (backing->has_file)
        (void)life_lock(backing->descriptor, F_UNLCK, slot);
}

bool shm_life_of_any(const shm_backing_t *backing) {
    return backing->has_file && life_ask(backing->descriptor, 1, SHM_MAX_SLOTS) != SHM_DEAD_PROCESS;
}

static int64_t life_now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A wait for a lock cannot be given an end, so it is asked for again, less and less often. */
#define GATE_FIRST_SLEEP_US 50
#define GATE_LONGEST_SLEEP_US 5000

bool shm_gate_take(const shm_backing_t *backing, bool exclusive, uint64_t timeout_ms) {
    if (!backing->has_file)
        return true;

    const int64_t end_us = life_now_us() + (int64_t)timeout_ms * 1000;
    for (long sleep_us = GATE_FIRST_SLEEP_US;; sleep_us *= 2) {
        if (life_lock(backing->descriptor, exclusive ? F_WRLCK : F_RDLCK, 0))
            return true;

        if ((errno != EAGAIN && errno != EACCES) || life_now_us() >= end_us)
            return false;

        if (sleep_us > GATE_LONGEST_SLEEP_US)
            sleep_us = GATE_LONGEST_SLEEP_US;

        const struct timespec sleep = {0, sleep_us * 1000};
        (void)nanosleep(&sleep, NULL);
    }
}

void shm_gate_release(const shm_backing_t *backing) {
    if (backing->has_file)
        (void)life_lock(backing->descriptor, F_UNLCK, 0);
}

/* ---- Claims ---- */

bool shm_system_read(const char *path, char *text, size_t bytes) {
    int file;
    do
        file = open(path, O_RDONLY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);

    if (file < 0)
        return false;

    ssize_t length;
    do
        length = read(file, text, bytes - 1);
    while (length < 0 && errno == EINTR);

    int saved_errno = errno;
    close(file);
    errno = saved_errno;

    text[length > 0 ? length : 0] = '\0';
    return length >= 0;
}

/* Whether /proc is that of this process's pid namespace: it may be another's after unshare, until
 * it is mounted again, and then its numbers are other processes. */
static bool life_proc_is_ours(void) {
    char self[32], pid[32];
    ssize_t length = readlink("/proc/self", self, sizeof self - 1);
    if (length <= 0)
        return false;

    self[length] = '\0';
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    return strcmp(self, pid) == 0;
}

uint64_t shm_pid_namespace(void) {
    struct stat namespace;
    return life_proc_is_ours() && stat("/proc/self/ns/pid", &namespace) == 0
               ? (uint64_t) namespace.st_ino
               : 0;
}

/* Whether start times are the system's own here: a time namespace adds its offset to what its
 * processes read. */
static bool life_time_is_shifted(void) {
    char offsets[128];
    return shm_system_read("/proc/self/timens_offsets", offsets, sizeof offsets) &&
           strpbrk(offsets, "123456789") != NULL;
}

/* Whether this process and the segment's creator mean the same by a pid and a start time. */
static bool life_is_foreign(uint64_t segment_pid_namespace) {
    uint64_t mine = shm_pid_namespace();
    return mine == 0 || mine != segment_pid_namespace || life_time_is_shifted();
}

/* The state of a process, its threads and its start time, from /proc/PID/stat. False where that
 * cannot be read. */
typedef struct life_process {
    char state;
    long thread_count;
    uint32_t started; /* never 0: the low bits of the time since the machine's start */
} life_process_t;

static bool life_read_process(long pid, life_process_t *process) {
    enum { THREADS = 20, STARTED = 22 }; /* fields, as proc(5) counts them */
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);

    if (!shm_system_read(path, text, sizeof text))
        return false;

    char *cursor = strrchr(text, ')'); /* the name before it may hold anything */
    if (cursor == NULL || cursor[1] != ' ' || cursor[2] == '\0')
        return false;

    cursor += 2;
    process->state = *cursor;
    for (int field = 3; field < STARTED; ++field) {
        cursor = strchr(cursor, ' ');
        if (cursor == NULL)
            return false;
        ++cursor;
        if (field + 1 == THREADS)
            process->thread_count = strtol(cursor, NULL, 10);
    }

    process->started = (uint32_t)strtoull(cursor, NULL, 10);
    if (process->started == 0)
        process->started = 1;
    return true;
}

uint64_t shm_life_identity(const shm_backing_t *backing, const shm_constants_t *constants) {
    (void)backing;
    const long pid = (long)getpid();
    uint64_t claim = (uint64_t)pid << LIFE_PID_SHIFT;
    life_process_t self;

    if (life_is_foreign(constants->pid_namespace) || !life_read_process(pid, &self))
        return claim | LIFE_FOREIGN;
    return claim | self.started;
}

static shm_life_t life_of_claim(const shm_backing_t *backing, uint64_t claim) {
    if (claim == 0)
        return SHM_DEAD_PROCESS;

    const long pid = (long)(claim >> LIFE_PID_SHIFT & 0x7fffffff);
    if ((claim & LIFE_FOREIGN) != 0 || life_is_foreign(backing->segment_pid_namespace))
        return SHM_LIFE_UNKNOWN;

    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return SHM_DEAD_PROCESS;

    life_process_t process;
    if (!life_read_process(pid, &process))
        return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? SHM_DEAD_PROCESS : SHM_LIFE_UNKNOWN;

    if (process.started != (uint32_t)claim)
        return SHM_DEAD_PROCESS;

    /* The first thread may have ended before the others: a zombie of a process that lives. */
    bool ended = (process.state == 'Z' || process.state == 'X') && process.thread_count <= 1;
    return ended ? SHM_DEAD_PROCESS : SHM_ALIVE;
}

shm_life_t shm_life_of(const shm_backing_t *backing, unsigned slot, uint64_t claim) {
    return backing->has_file ? life_ask(backing->descriptor, slot, 1)
                             : life_of_claim(backing, claim);
}
