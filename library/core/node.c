/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The memory and the processors that this process may have of its machine: the machine's, or what
 * control groups (cgroups) and the scheduler's mask leave of it.
 *
 * /proc/self/cgroup names the process's group, once per hierarchy; the group and each one above it
 * may have a limit:
 *
 *     0::/user.slice/job7    version 2    /sys/fs/cgroup/user.slice/job7/memory.max, cpu.max,
 *                                         /sys/fs/cgroup/user.slice/memory.max, cpu.max
 *     9:memory:/job7         version 1    /sys/fs/cgroup/memory/job7/memory.limit_in_bytes
 *     4:cpu,cpuacct:/job7                 /sys/fs/cgroup/cpu/job7/cpu.cfs_quota_us
 *
 * In a container the group may be named as the host sees it and be mounted at the top; what is not
 * there is passed over, and the top is always looked at. Of a limit of memory what is used is taken
 * off, less the file cache that the kernel would give up first (inactive_file), as MemAvailable
 * counts it. A limit of processors is time in each period; threads that need more of it than there
 * is are all stopped until the next, so a part of a processor is none. */

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/core.h"
#include "core/node.h"

/* ---- Files ---- */

/* The beginning of a file as text; false where there is none. */
static bool node_read(const char *directory, const char *name, char *text, size_t size) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if ((size_t)length >= sizeof path)
        return false;

    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;

    size_t used = 0;
    ssize_t got;
    while (used < size - 1 && (got = read(file, text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    close(file);

    text[used] = '\0';
    return used > 0;
}

/* A file that is one number. "max" is none: no limit. */
static bool node_read_number(const char *directory, const char *name, size_t *number) {
    char text[64];
    uint64_t value;
    if (!node_read(directory, name, text, sizeof text) || sscanf(text, "%" SCNu64, &value) != 1)
        return false;
    *number = (size_t)value;
    return true;
}

/* The number behind a key at the beginning of a line of memory.stat; 0 where it is not there. */
static size_t node_read_statistic(const char *directory, const char *key) {
    char text[8192];
    uint64_t value = 0;
    if (node_read(directory, "memory.stat", text, sizeof text)) {
        for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (strncmp(line, key, strlen(key)) == 0) {
                (void)sscanf(line + strlen(key), "%" SCNu64, &value);
                break;
            }
        }
    }
    return (size_t)value;
}

/* ---- Groups ---- */

/* What groups limit. */
typedef struct node_resource {
    const char *controller; /* in a hierarchy of version 1, and the folder where that is mounted */
    /* Takes one group's limit to `context`. */
    void (*limit)(const char *group, bool is_version_2, void *context);
} node_resource_t;

/* Whether a list of names with commas between them has this one. */
static bool node_has(const char *list, size_t length, const char *name) {
    const size_t name_length = strlen(name);
    for (const char *item = list; item < list + length;) {
        const size_t left = (size_t)(list + length - item);
        const char *comma = memchr(item, ',', left);
        const size_t item_length = comma != NULL ? (size_t)(comma - item) : left;
        if (item_length == name_length && memcmp(item, name, name_length) == 0)
            return true;
        item += item_length + 1;
    }
    return false;
}

/* The group that is mounted at `top` (a length of `group`) and each one above it. */
static void node_climb(const node_resource_t *resource, char *group, size_t top, bool is_version_2,
                       void *context) {
    for (;;) {
        resource->limit(group, is_version_2, context);
        char *slash = strrchr(group + top, '/');
        if (slash == NULL)
            return;
        *slash = '\0';
    }
}

static void node_each_group(const char *root, const node_resource_t *resource, void *context) {
    char text[4096], group[PATH_MAX];
    if (!node_read(root, "proc/self/cgroup", text, sizeof text))
        return;

    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *controllers = strchr(line, ':');
        const char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL)
            continue;

        const size_t length = (size_t)(path - controllers - 1);
        const bool is_version_2 = length == 0;
        if (!is_version_2 && !node_has(controllers + 1, length, resource->controller))
            continue;

        const char *folder = is_version_2 ? "" : resource->controller;
        const char *slash = is_version_2 ? "" : "/";
        const int top = snprintf(group, sizeof group, "%s/sys/fs/cgroup%s%s", root, slash, folder);
        /* Cut short: is not there. */
        (void)snprintf(group, sizeof group, "%s/sys/fs/cgroup%s%s%s", root, slash, folder,
                       path + 1);
        node_climb(resource, group, (size_t)top, is_version_2, context);
    }
}

/* ---- Memory ---- */

typedef struct node_memory {
    size_t total, available;
} node_memory_t;

static void node_limit_memory(const char *group, bool is_version_2, void *context) {
    node_memory_t *memory = context;
    size_t limit, used = 0;
    if (!node_read_number(group, is_version_2 ? "memory.max" : "memory.limit_in_bytes", &limit) ||
        limit >= memory->total)
        return;

    (void)node_read_number(group, is_version_2 ? "memory.current" : "memory.usage_in_bytes", &used);
    const size_t cache =
        node_read_statistic(group, is_version_2 ? "inactive_file " : "total_inactive_file ");
    used -= cache < used ? cache : used;

    const size_t left = used < limit ? limit - used : 0;
    memory->total = limit;
    if (left < memory->available)
        memory->available = left;
}

void ji_node_confine(const char *root, size_t *total_bytes, size_t *available_bytes) {
    static const node_resource_t resource = {"memory", node_limit_memory};
    node_memory_t memory = {*total_bytes, *available_bytes};
    node_each_group(root, &resource, &memory);
    *total_bytes = memory.total;
    *available_bytes = memory.available;
}

/* ---- Processors ---- */

/* "max" and -1 are no limit. */
static bool node_read_quota(const char *group, bool is_version_2, uint64_t *quota,
                            uint64_t *period) {
    char text[64];
    if (is_version_2)
        return node_read(group, "cpu.max", text, sizeof text) &&
               sscanf(text, "%" SCNu64 " %" SCNu64, quota, period) == 2;

    int64_t signed_quota;
    size_t number;
    if (!node_read(group, "cpu.cfs_quota_us", text, sizeof text) ||
        sscanf(text, "%" SCNd64, &signed_quota) != 1 || signed_quota < 0 ||
        !node_read_number(group, "cpu.cfs_period_us", &number))
        return false;
    *quota = (uint64_t)signed_quota;
    *period = number;
    return true;
}

static void node_limit_processors(const char *group, bool is_version_2, void *context) {
    int *processors = context;
    uint64_t quota, period;
    if (!node_read_quota(group, is_version_2, &quota, &period) || period == 0)
        return;

    const uint64_t whole = quota / period;
    if (whole < (uint64_t)*processors)
        *processors = whole > 0 ? (int)whole : 1;
}

int ji_node_quota(const char *root) {
    static const node_resource_t resource = {"cpu", node_limit_processors};
    int processors = INT_MAX;
    node_each_group(root, &resource, &processors);
    return processors;
}

int ji_node_processors(void) {
    cpu_set_t mask[16] = {0}; /* of 1024 processors each */
    const bool known = sched_getaffinity(0, sizeof mask, mask) == 0;
    const long count = known ? CPU_COUNT_S(sizeof mask, mask) : sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

int64_t ji_node_second_cache_bytes(void) {
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? bytes : 0;
#else
    return 0;
#endif
}
