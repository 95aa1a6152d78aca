/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The memory that this process may have of its machine: the machine's, or what control groups
 * (cgroups) leave of it.
 *
 * /proc/self/cgroup names the process's group, once per hierarchy; the group and each one above it
 * may have a limit:
 *
 *     0::/user.slice/job7    version 2    /sys/fs/cgroup/user.slice/job7/memory.max,
 *                                         /sys/fs/cgroup/user.slice/memory.max
 *     9:memory:/job7         version 1    /sys/fs/cgroup/memory/job7/memory.limit_in_bytes
 *
 * In a container the group may be named as the host sees it and be mounted at the top; what is not
 * there is passed over, and the top is always looked at. Of a limit what is used is taken off, less
 * the file cache that the kernel would give up first (inactive_file), as MemAvailable counts it. */

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "buffer/buffer.h"

typedef struct node_hierarchy {
    const char *top;                  /* where it is mounted */
    const char *limit, *used, *cache; /* files, and the key in memory.stat */
} node_hierarchy_t;

static const node_hierarchy_t node_version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                                "memory.usage_in_bytes", "total_inactive_file "};
static const node_hierarchy_t node_version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                                "inactive_file "};

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

/* What one group leaves. */
static void node_limit(const char *group, const node_hierarchy_t *hierarchy, size_t *total,
                       size_t *available) {
    size_t limit, used = 0;
    if (!node_read_number(group, hierarchy->limit, &limit) || limit >= *total)
        return;

    (void)node_read_number(group, hierarchy->used, &used);
    const size_t cache = node_read_statistic(group, hierarchy->cache);
    used -= cache < used ? cache : used;

    const size_t left = used < limit ? limit - used : 0;
    *total = limit;
    if (left < *available)
        *available = left;
}

void ji_node_confine(const char *root, size_t *total_bytes, size_t *available_bytes) {
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

        const node_hierarchy_t *hierarchy = NULL;
        if (path == controllers + 1)
            hierarchy = &node_version_2;
        else if (strncmp(controllers, ":memory:", 8) == 0)
            hierarchy = &node_version_1;

        if (hierarchy == NULL)
            continue;
        const int top = snprintf(group, sizeof group, "%s%s", root, hierarchy->top);
        /* Cut short: is not there. */
        (void)snprintf(group, sizeof group, "%s%s%s", root, hierarchy->top, path + 1);

        for (;;) {
            node_limit(group, hierarchy, total_bytes, available_bytes);
            char *slash = strrchr(group + top, '/');
            if (slash == NULL)
                break;
            *slash = '\0';
        }
    }
}
