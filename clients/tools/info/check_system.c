/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the system leaves this process: processors, huge pages, memory that may be locked, and
 * shared memory for segments. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../common/units.h"
#include "info.h"
#include "jalloc/config.h"
#include "jalloc/handle.h"
#include "jalloc/segment.h"

enum { TEXT_BYTES = 512 };

/* ---- Processors ---- */

/* Processors that the scheduler may put this process on, of however many there are. */
static int allowed_processors(void) {
    for (int most = 1024; most <= 1 << 20; most *= 2) {
        cpu_set_t *set = CPU_ALLOC(most);
        const size_t bytes = CPU_ALLOC_SIZE(most);
        if (set == NULL)
            return 0;
        const bool known = sched_getaffinity(0, bytes, set) == 0;
        const int count = known ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (known)
            return count;
    }
    return 0;
}

/* What a handle uses for which the program says nothing. */
static jstatus_t threads_of_handles(int *threads) {
    jhandle_t *handle = NULL;
    const jstatus_t status = jhandle_create(NULL, &handle);
    if (!jstatus_is_error(status)) {
        (void)jhandle_get_threads(handle, threads);
        (void)jhandle_destroy(handle);
    }
    return status;
}

static void check_threads(void) {
    int threads = 0, granted = 0;
    if (jstatus_is_error(threads_of_handles(&threads))) {
        check_tell("threads", VERDICT_WRONG, "a program ends here, too: see above", "no handle: %s",
                   jstatus_last_message());
        return;
    }
    jconfig_entry_t asked = JCONFIG_ENTRY_INIT;
    (void)jconfig_get(JCONFIG_JALLOC_THREADS, &asked);
    (void)unsetenv(asked.name);
    (void)threads_of_handles(&granted); /* if the variable said nothing */

    const int online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int allowed = allowed_processors();
    if (asked.from_environment && threads < granted)
        check_tell("threads", VERDICT_NOTE, "unset JALLOC_THREADS, or set 0: all of them",
                   "%d, by JALLOC_THREADS, of %d processors that the process may use", threads,
                   granted);
    else if (asked.from_environment && threads > granted)
        check_tell("threads", VERDICT_SLOW, "unset JALLOC_THREADS, or set 0: as many as processors",
                   "%d, by JALLOC_THREADS, on %d processors", threads, granted);
    else if (granted < allowed)
        check_tell("threads", VERDICT_NOTE,
                   "give the control group more (docker run --cpus, limits.cpu of Kubernetes, "
                   "CPUQuota of systemd)",
                   "%d: its control group leaves the process no more of %d processors", threads,
                   allowed);
    else if (allowed > 0 && allowed < online)
        check_tell("threads", VERDICT_NOTE,
                   "allow it more (taskset, numactl, mpirun's --bind-to, the batch system's "
                   "--cpus-per-task)",
                   "%d: the process may run on %d of %d processors", threads, allowed, online);
    else
        check_tell("threads", VERDICT_GOOD, "", "%d, on %d processors", threads, online);
}

/* ---- Memory ---- */

/* The first line of a file of the system, without its end. False: it cannot be read. */
static bool read_line(const char *path, char text[TEXT_BYTES]) {
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const bool has = fgets(text, TEXT_BYTES, file) != NULL;
    (void)fclose(file);
    if (has)
        text[strcspn(text, "\n")] = '\0';
    return has;
}

static bool allocator_asks_for_huge_pages(void) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    (void)jconfig_get(JCONFIG_JALLOC_ALLOCATOR, &entry);
    return strstr(entry.value, "huge") != NULL;
}

static void check_huge_pages(void) {
    static const char name[] = "huge pages";
    char mode[TEXT_BYTES] = "", reserve[TEXT_BYTES] = "0";
    const bool is_known = read_line("/sys/kernel/mm/transparent_hugepage/enabled", mode);
    (void)read_line("/proc/sys/vm/nr_hugepages", reserve);
    const long reserved = strtol(reserve, NULL, 10);

    if (strstr(mode, "[always]") != NULL)
        check_tell(name, VERDICT_GOOD, "", "wherever they fit, and %ld in reserve", reserved);
    else if (strstr(mode, "[madvise]") != NULL && allocator_asks_for_huge_pages())
        check_tell(name, VERDICT_GOOD, "",
                   "where JALLOC_ALLOCATOR asks for them, and %ld in reserve", reserved);
    else if (strstr(mode, "[madvise]") != NULL)
        check_tell(name, VERDICT_NOTE,
                   "for large workspaces JALLOC_ALLOCATOR=huge; or echo always "
                   ">/sys/kernel/mm/transparent_hugepage/enabled",
                   "for those who ask (madvise), which handles do not by default; %ld in reserve",
                   reserved);
    else if (reserved > 0)
        check_tell(name, VERDICT_NOTE, "JALLOC_ALLOCATOR=huge takes from the reserve",
                   "%ld in reserve, transparent ones %s", reserved, is_known ? "off" : "unknown");
    else
        check_tell(name, VERDICT_SLOW,
                   "as root, echo madvise >/sys/kernel/mm/transparent_hugepage/enabled",
                   "there are none: %s", is_known ? "they are switched off" : "not in this kernel");
}

/* jalloc locks nothing; networks do, whose MPI registers the memory of messages. */
static void check_memory_lock(void) {
    static const char name[] = "memory lock";
    enum { ENOUGH = 64 << 20 };
    struct rlimit limit;
    char bytes[UNITS_BYTES];
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
        check_tell(name, VERDICT_NOTE, "", "the limit cannot be read: %s", strerror(errno));
        return;
    }
    if (limit.rlim_cur == RLIM_INFINITY) {
        check_tell(name, VERDICT_GOOD, "", "without a limit");
        return;
    }
    units_bytes(bytes, (double)limit.rlim_cur, 0);
    if (limit.rlim_cur >= ENOUGH)
        check_tell(name, VERDICT_GOOD, "", "up to %s", bytes);
    else
        check_tell(name, VERDICT_NOTE,
                   "ulimit -l unlimited, for an MPI over InfiniBand; jalloc itself locks nothing",
                   "up to %s", bytes);
}

static void check_memory(void) {
    size_t free_bytes, total_bytes;
    char left[UNITS_BYTES], all[UNITS_BYTES];
    if (jstatus_is_error(jdevice_get_memory_info(jdevice_host(), &free_bytes, &total_bytes))) {
        check_tell("memory", VERDICT_NOTE, "", "unknown: %s", jstatus_last_message());
        return;
    }
    units_bytes(left, (double)free_bytes, 1);
    units_bytes(all, (double)total_bytes, 1);
    const bool is_scarce = free_bytes < total_bytes / 10;
    check_tell("memory", is_scarce ? VERDICT_NOTE : VERDICT_GOOD,
               is_scarce ? "JALLOC_BUDGET bounds workspace; or end what takes the rest" : "",
               "%s can be had of %s", left, all);
}

/* ---- Segments ---- */

/* A small one, made and removed. */
static bool make_segment(char reason[TEXT_BYTES]) {
    char name[64];
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment = NULL;
    snprintf(name, sizeof name, "/jalloc-info-%ld", (long)getpid());
    options.backend = JSEGMENT_POSIX;
    options.name = name;
    options.size_bytes = 1 << 20;
    const bool made = !jstatus_is_error(jsegment_create(&options, &segment)) &&
                      !jstatus_is_error(jsegment_destroy(segment));
    if (!made)
        snprintf(reason, TEXT_BYTES, "%s", jstatus_last_message());
    return made;
}

static void check_segments(void) {
    static const char name[] = "segments", folder[] = "/dev/shm";
    enum { SMALL = 256 << 20 }; /* Docker's usual 64 MiB are below */
    struct statvfs space;
    char reason[TEXT_BYTES], left[UNITS_BYTES], all[UNITS_BYTES];
    if (statvfs(folder, &space) != 0) {
        check_tell(name, VERDICT_WRONG, "mount -t tmpfs tmpfs /dev/shm", "%s: %s", folder,
                   strerror(errno));
        return;
    }
    const double bytes = (double)space.f_blocks * (double)space.f_frsize;
    units_bytes(left, (double)space.f_bavail * (double)space.f_frsize, 1);
    units_bytes(all, bytes, 1);
    if (!make_segment(reason))
        check_tell(name, VERDICT_WRONG,
                   access(folder, W_OK) != 0
                       ? "chmod 1777 /dev/shm, or let the container have one of its own"
                       : "jalloc-shm list shows who fills it; docker run --shm-size=2g",
                   "none can be made: %s (%s has %s of %s left)", reason, folder, left, all);
    else if (bytes < SMALL)
        check_tell(name, VERDICT_NOTE,
                   "docker run --shm-size=2g; mount -o remount,size=2g /dev/shm",
                   "small ones: %s has %s of %s left", folder, left, all);
    else
        check_tell(name, VERDICT_GOOD, "", "%s has %s of %s left", folder, left, all);
}

void check_system(void) {
    check_threads();
    check_memory();
    check_huge_pages();
    check_memory_lock();
    check_segments();
}
