/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What control groups leave a process, of which the tests write files of their own. */

#include "core/node.h"
#include "jtest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GIB ((size_t)1 << 30)

typedef struct group_file {
    const char *path, *text;
} group_file_t;

/* ---- Memory ---- */

static const struct group_case {
    const char *name;
    size_t total, available; /* of the machine 64 and 32 GiB */
    group_file_t files[10];
} group_cases[] = {
    {"NothingIsKnown", 64 * GIB, 32 * GIB, {{NULL, NULL}}},
    {"Version2WithoutALimit",
     64 * GIB,
     32 * GIB,
     {{"proc/self/cgroup", "0::/a\n"},
      {"sys/fs/cgroup/a/memory.max", "max\n"},
      {"sys/fs/cgroup/a/memory.current", "1073741824\n"}}},
    {"Version2",
     8 * GIB,
     7 * GIB,
     {{"proc/self/cgroup", "0::/a\n"},
      {"sys/fs/cgroup/a/memory.max", "8589934592\n"},
      {"sys/fs/cgroup/a/memory.current", "1073741824\n"}}},
    {"TheFileCacheCountsAsAvailable",
     8 * GIB,
     7 * GIB,
     {{"proc/self/cgroup", "0::/a\n"},
      {"sys/fs/cgroup/a/memory.max", "8589934592\n"},
      {"sys/fs/cgroup/a/memory.current", "3221225472\n"},
      {"sys/fs/cgroup/a/memory.stat",
       "anon 5\ntotal_inactive_file 7\ninactive_file 2147483648\nactive_file 9\n"}}},
    {"NoFileCacheIsTold",
     8 * GIB,
     7 * GIB,
     {{"proc/self/cgroup", "0::/a\n"},
      {"sys/fs/cgroup/a/memory.max", "8589934592\n"},
      {"sys/fs/cgroup/a/memory.current", "1073741824\n"},
      {"sys/fs/cgroup/a/memory.stat", "anon 5\nfile 2147483648\n"}}},
    {"TheGroupAboveHasTheLimit",
     4 * GIB,
     2 * GIB,
     {{"proc/self/cgroup", "0::/a/b/c\n"},
      {"sys/fs/cgroup/a/b/c/memory.max", "max\n"},
      {"sys/fs/cgroup/a/b/memory.max", "8589934592\n"},
      {"sys/fs/cgroup/a/b/memory.current", "0\n"},
      {"sys/fs/cgroup/a/memory.max", "4294967296\n"},
      {"sys/fs/cgroup/a/memory.current", "2147483648\n"}}},
    {"TheTopIsLookedAtInAContainer",
     2 * GIB,
     2 * GIB,
     {{"proc/self/cgroup", "0::/docker/0123\n"}, {"sys/fs/cgroup/memory.max", "2147483648\n"}}},
    {"MoreIsUsedThanThereMayBe",
     1 * GIB,
     0,
     {{"proc/self/cgroup", "0::/\n"},
      {"sys/fs/cgroup/memory.max", "1073741824\n"},
      {"sys/fs/cgroup/memory.current", "1073741825\n"}}},
    {"TheMachineHasLess",
     60 * GIB,
     32 * GIB,
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.max", "64424509440\n"}}},
    {"Version1",
     16 * GIB,
     11 * GIB,
     {{"proc/self/cgroup", "12:cpu,cpuacct:/x\n9:memory:/job\n1:name=systemd:/y\n0::/z\n"},
      {"sys/fs/cgroup/memory/job/memory.limit_in_bytes", "17179869184\n"},
      {"sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6442450944\n"},
      {"sys/fs/cgroup/memory/job/memory.stat",
       "inactive_file 5368709120\ntotal_inactive_file 1073741824\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}}},
    {"TextThatIsNoNumber",
     64 * GIB,
     32 * GIB,
     {{"proc/self/cgroup", "\n:\n0:\nmemory\n0::/a\n"}, {"sys/fs/cgroup/a/memory.max", "much\n"}}},
};

static void group_name(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const struct group_case *)parameter)->name);
}

static void write_file(const char *root, const group_file_t *file) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, file->path);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *stream = fopen(path, "w");
    JASSERT_NOT_NULL(stream);
    JEXPECT_GE(fputs(file->text, stream), 0);
    JEXPECT_EQ(fclose(stream), 0);
}

JTEST_P_NAMED(NodeGroups, MemoryIsWhatControlGroupsLeave, struct group_case, group_cases,
              group_name) {
    char root[] = "/tmp/jalloc-groups-XXXXXX";
    JASSERT_NOT_NULL(mkdtemp(root));
    for (const group_file_t *file = param->files; file->path != NULL; ++file)
        write_file(root, file);
    size_t total = 64 * GIB, available = 32 * GIB;
    ji_node_confine(root, &total, &available);
    JEXPECT_EQ(total, param->total);
    JEXPECT_EQ(available, param->available);
    const char *const remove[] = {"/bin/rm", "-rf", root, NULL};
    JEXPECT_EQ(jtest_run_program(remove, NULL, NULL, 0), 0);
}

/* The group that the process is in cannot be looked at by its name; those above it can. */
JTEST(NodeGroups, NamesLongerThanAPathArePassedOver) {
    static char text[2 * PATH_MAX] = "0::/a/";
    const group_file_t limit = {"sys/fs/cgroup/a/memory.max", "2147483648\n"},
                       group = {"proc/self/cgroup", text};
    const size_t begin = strlen(text);
    char root[] = "/tmp/jalloc-groups-XXXXXX";
    JASSERT_NOT_NULL(mkdtemp(root));
    write_file(root, &limit);
    for (size_t length = PATH_MAX - 80; length < sizeof text - begin - 1;
         length += length < PATH_MAX + 80 ? 1 : 999) {
        JSCOPED_TRACE("a name of %zu", length);
        memset(text + begin, 'x', length);
        text[begin + length] = '\0';
        write_file(root, &group);
        size_t total = 64 * GIB, available = 32 * GIB;
        ji_node_confine(root, &total, &available);
        JEXPECT_EQ(total, 2 * GIB);
        JEXPECT_EQ(available, 2 * GIB);
    }
    const char *const remove[] = {"/bin/rm", "-rf", root, NULL};
    JEXPECT_EQ(jtest_run_program(remove, NULL, NULL, 0), 0);
}

/* ---- Processors ---- */

static const struct quota_case {
    const char *name;
    int processors;
    group_file_t files[10];
} quota_cases[] = {
    {"NothingIsKnown", INT_MAX, {{NULL, NULL}}},
    {"Version2WithoutALimit",
     INT_MAX,
     {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "max 100000\n"}}},
    {"Version2",
     3,
     {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "300000 100000\n"}}},
    {"PartsOfAProcessorAreNone",
     2,
     {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "299999 100000\n"}}},
    {"ThereIsOneAtLeast",
     1,
     {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "1000 100000\n"}}},
    {"TheGroupAboveHasLess",
     2,
     {{"proc/self/cgroup", "0::/a/b\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "800000 100000\n"},
      {"sys/fs/cgroup/a/cpu.max", "200000 100000\n"}}},
    {"TheTopIsLookedAtInAContainer",
     4,
     {{"proc/self/cgroup", "0::/docker/0123\n"}, {"sys/fs/cgroup/cpu.max", "20000 5000\n"}}},
    {"Version1",
     5,
     {{"proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/job\n3:cpuset:/s\n0::/z\n"},
      {"sys/fs/cgroup/cpuset/s/cpu.cfs_quota_us", "1000\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "500000\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"}}},
    {"Version1WithoutALimit",
     INT_MAX,
     {{"proc/self/cgroup", "4:cpuacct,cpu:/job\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"}}},
    {"TextThatIsNoNumber",
     INT_MAX,
     {{"proc/self/cgroup", "\n:\n0:\ncpu\n4:cpu:/c\n0::/a\n"},
      {"sys/fs/cgroup/a/cpu.max", "much\n"},
      {"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "1000\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "little\n"}}},
    {"NoPeriod",
     INT_MAX,
     {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "1000 0\n"}}},
    {"MoreThanANumberHolds",
     INT_MAX,
     {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "9223372036854775807 1\n"}}},
};

static void quota_name(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const struct quota_case *)parameter)->name);
}

JTEST_P_NAMED(NodeGroups, ProcessorsAreWhatControlGroupsLeave, struct quota_case, quota_cases,
              quota_name) {
    char root[] = "/tmp/jalloc-groups-XXXXXX";
    JASSERT_NOT_NULL(mkdtemp(root));
    for (const group_file_t *file = param->files; file->path != NULL; ++file)
        write_file(root, file);
    JEXPECT_EQ(ji_node_quota(root), param->processors);
    const char *const remove[] = {"/bin/rm", "-rf", root, NULL};
    JEXPECT_EQ(jtest_run_program(remove, NULL, NULL, 0), 0);
}

/* ---- Caches ---- */

JTEST(NodeCaches, TheSecondOneIsThatOfTheSystem) {
#define INDEX "/sys/devices/system/cpu/cpu0/cache/index2/"
    int level = 0;
    long kib = 0;
    FILE *const levels = fopen(INDEX "level", "r"), *const sizes = fopen(INDEX "size", "r");
    const bool known = levels != NULL && sizes != NULL && fscanf(levels, "%d", &level) == 1 &&
                       fscanf(sizes, "%ldK", &kib) == 1 && level == 2;
    if (levels != NULL)
        fclose(levels);
    if (sizes != NULL)
        fclose(sizes);
    if (!known)
        JSKIP("the system does not tell");

    const int64_t bytes = ji_node_second_cache_bytes();
    if (bytes != 0) /* nor does every C library */
        JEXPECT_EQ(bytes, (int64_t)kib * 1024);
#undef INDEX
}
