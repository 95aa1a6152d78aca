/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Growth: seen by everybody in the mapping that they have, and where there is no more space a
 * status, never a signal. */

#include "segment_helper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const backend_row_t growing_backends[] = {{"private", JSEGMENT_PRIVATE},
                                                 {"posix", JSEGMENT_POSIX},
                                                 {"memfd", JSEGMENT_MEMFD},
                                                 {"file", JSEGMENT_FILE}};
#define EACH_GROWING_BACKEND(name)                                                                 \
    JTEST_P_NAMED(SegmentGrowth, name, backend_row_t, growing_backends, backend_label)

EACH_GROWING_BACKEND(OnDemandAndUpToTheLimit) {
    PLACE(place, param->backend, 256 * KIB, 4 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jsegment_stats_t stats = segment_books(segment);
    JEXPECT_EQ(stats.size_bytes, 256 * KIB);
    JEXPECT_EQ(stats.max_bytes, 4 * MIB);
    JEXPECT_NULL(jsegment_pointer(segment, 256 * KIB, 1));
    char *first = jsegment_pointer(segment, 256 * KIB - 1, 1);
    JASSERT_NOT_NULL(first);
    JEXPECT_OK(jsegment_grow(segment, 256 * KIB)); /* is so large */
    JEXPECT_OK(jsegment_grow(segment, 1));
    JEXPECT_EQ(segment_books(segment).growth_count, 0);
    JEXPECT_OK(jsegment_grow(segment, MIB - 100));
    stats = segment_books(segment);
    JEXPECT_EQ(stats.size_bytes, MIB);
    JEXPECT_EQ(stats.growth_count, 1);
    /* The mapping stays where it is. */
    JEXPECT_EQ(jsegment_pointer(segment, 256 * KIB, 1), (void *)(first + 1));
    memset(jsegment_pointer(segment, 256 * KIB, 768 * KIB), 0x11, 768 * KIB);
    JEXPECT_STATUS(jsegment_grow(segment, 4 * MIB + 1), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jsegment_grow(segment, SIZE_MAX), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(segment_books(segment).size_bytes, MIB);
    JEXPECT_OK(jsegment_grow(segment, 4 * MIB));
    JEXPECT_EQ(segment_books(segment).size_bytes, 4 * MIB);
    JEXPECT_OK(jsegment_destroy(segment));
}

EACH_GROWING_BACKEND(ByItself) {
    PLACE(place, param->backend, 256 * KIB, 8 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    static joffset_t offsets[20000];
    const size_t count = shared_take_all(shared, 1000, offsets, COUNT_OF(offsets));
    const jsegment_stats_t full = segment_books(segment);
    JEXPECT_EQ(full.size_bytes, 8 * MIB);
    JEXPECT_GT(full.growth_count, 1);
    JEXPECT_LT(full.growth_count, 100); /* in larger steps */
    JEXPECT_GE(count * 1000, 7 * MIB);
    for (size_t i = 0; i < count; ++i)
        memset(shared_bytes(shared, offsets[i], 1000), (int)i, 1000);
    for (size_t i = 0; i < count; ++i)
        JASSERT_EQ(shared_bytes(shared, offsets[i], 1000)[999], (unsigned char)i);
    JEXPECT_OK(jshared_deallocate_many(shared, count, offsets));
    joffset_t large; /* and everything joins again */
    JEXPECT_OK(jshared_allocate(shared, 7 * MIB, 0, &large));
    memset(shared_bytes(shared, large, 7 * MIB), 1, 7 * MIB);
    JEXPECT_OK(jshared_deallocate(shared, large));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

EACH_GROWING_BACKEND(ForOneBlockThatNeedsAllOfIt) {
    PLACE(place, param->backend, 64 * KIB, 64 * MIB);
    place.options.max_processes = 2;
    place.options.size_bytes = 1 * MIB; /* of a table for 64 MiB */
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t offset, more;
    JEXPECT_STATUS(jshared_allocate(shared, 64 * MIB, 0, &offset), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(segment_books(segment).owned_bytes, 0);
    JEXPECT_OK(jshared_allocate(shared, 63 * MIB, 0, &offset));
    JEXPECT_STATUS(jshared_allocate(shared, 2 * MIB, 0, &more), JSTATUS_MEMORY_ERROR);
    memset(shared_bytes(shared, offset, 63 * MIB), 3, 63 * MIB);
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

static void see_it_grow(peer_t *self, void *argument) {
    jsegment_t *segment = place_attach(argument);
    JASSERT_NOT_NULL(segment);
    JEXPECT_NULL(jsegment_pointer(segment, MIB, 1));
    const char *before = jsegment_pointer(segment, MIB - 1, 1);
    joffset_t offset;
    peer_tell(self);
    peer_await(self); /* the other one has grown it and written to the new part */
    JASSERT_OK(jsegment_get_root(segment, "new", &offset));
    const char *text = jsegment_pointer(segment, offset, 3 * MIB);
    JASSERT_NOT_NULL(text);
    JEXPECT_EQ(text - before, (long)(offset - (MIB - 1)));
    JEXPECT_STREQ(text + 3 * MIB - 10, "far away");
    JEXPECT_EQ(segment_stats(segment).size_bytes, 8 * MIB);
    jshared_t *shared = shared_open(segment, 1);
    JEXPECT_OK(jshared_deallocate(shared, offset)); /* what lies there is as good as anything */
    joffset_t own = shared_take(shared, 5 * MIB);
    memset(shared_bytes(shared, own, 5 * MIB), 1, 5 * MIB);
    segment_books(segment);
    JEXPECT_OK(jsegment_detach(segment));
}
static const backend_row_t with_files[] = {
    {"posix", JSEGMENT_POSIX}, {"memfd", JSEGMENT_MEMFD}, {"file", JSEGMENT_FILE}};
JTEST_P_NAMED(SegmentGrowth, IsSeenByOthersInTheMappingTheyHave, backend_row_t, with_files,
              backend_label) {
    PLACE(place, param->backend, MIB, 8 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    PEER(peer, see_it_grow, &place);
    JASSERT_TRUE(peer_await(&peer));
    JEXPECT_OK(jsegment_grow(segment, 8 * MIB));
    const joffset_t offset = shared_take(shared, 3 * MIB);
    strcpy((char *)shared_bytes(shared, offset, 3 * MIB) + 3 * MIB - 10, "far away");
    JEXPECT_OK(jsegment_set_root(segment, "new", offset));
    peer_tell(&peer);
    peer_end(&peer);
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentGrowth, AnArrayDoesNotGrow) {
    PLACE(place, JSEGMENT_ARRAY, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_STATUS(jsegment_grow(segment, MIB + 4096), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jsegment_grow(segment, MIB));
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Where there is no more space ---- */

/* A segment that should grow to 8 MiB where 2 MiB are allowed. */
static void run_into_limit(const jsegment_options_t *wanted) {
    jsegment_options_t options = *wanted;
    jsegment_t *segment = NULL;
    options.size_bytes = 8 * MIB;
    JEXPECT_STATUS(jsegment_create(&options, &segment), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(segment);
    options.size_bytes = MIB;
    options.max_bytes = 8 * MIB;
    JASSERT_OK(jsegment_create(&options, &segment)); /* the name is free: nothing was left there */
    jshared_t *shared = shared_make(segment, 1);
    const jsegment_stats_t before = segment_books(segment);
    JEXPECT_STATUS(jsegment_grow(segment, 8 * MIB), JSTATUS_MEMORY_ERROR);
    const jsegment_stats_t after = segment_books(segment);
    JEXPECT_EQ(after.size_bytes, before.size_bytes);
    JEXPECT_EQ(segment_spare_bytes(&after), segment_spare_bytes(&before));
    joffset_t offset = 1;
    JEXPECT_STATUS(jshared_allocate(shared, 4 * MIB, 0, &offset), JSTATUS_MEMORY_ERROR);
    JEXPECT_EQ(offset, JOFFSET_NULL);
    static joffset_t offsets[5000];
    const size_t count = shared_take_all(shared, 5000, offsets, COUNT_OF(offsets));
    JEXPECT_GE(count * 5000, MIB * 3 / 4); /* what is there can be used to the end */
    for (size_t i = 0; i < count; ++i)
        memset(shared_bytes(shared, offsets[i], 5000), (int)i, 5000);
    segment_books(segment);
    JEXPECT_OK(jshared_deallocate_many(shared, count, offsets));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

static void fill_file_system(peer_t *self, void *argument) {
    (void)self;
    const char *folder = argument;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=2M") != 0)
        _exit(77);
    char path[128];
    snprintf(path, sizeof path, "%s/segment", folder);
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_FILE;
    options.name = path;
    run_into_limit(&options);
}
JTEST(SegmentGrowth, AFullFileSystemIsAStatus) {
    char folder[] = "/tmp/jalloc-test-XXXXXX";
    JASSERT_NOT_NULL(mkdtemp(folder));
    PEER(peer, fill_file_system, folder);
    const int result = peer_wait(&peer);
    rmdir(folder);
    if (result == 77)
        JSKIP("a file system of 2 MiB could not be mounted");
    JEXPECT_EQ(result, 0);
}

static void exceed_file_size(peer_t *self, void *argument) {
    (void)self;
    const struct rlimit limit = {2 * MIB, 2 * MIB};
    signal(SIGXFSZ, SIG_DFL); /* kills, if it should come */
    JASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    run_into_limit(&((const place_t *)argument)->options);
    sigset_t pending;
    JEXPECT_EQ(sigpending(&pending), 0);
    JEXPECT_FALSE(sigismember(&pending, SIGXFSZ));
}
JTEST_P_NAMED(SegmentGrowth, ALimitOfTheProcessIsAStatus, backend_row_t, with_files,
              backend_label) {
    PLACE(place, param->backend, 0, 0);
    PEER(peer, exceed_file_size, &place);
    peer_end(&peer);
}

static void exceed_address_space(peer_t *self, void *argument) {
    (void)self, (void)argument;
    struct rlimit limit = {0, 0};
    JASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = (rlim_t)16 << 30;
    JASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment = NULL;
    options.size_bytes = 128 * MIB; /* and a table of 80 MiB */
    options.max_bytes = 20 * GIB;
    JEXPECT_STATUS(jsegment_create(&options, &segment), JSTATUS_MEMORY_ERROR);
    options.backend = JSEGMENT_MEMFD;
    JEXPECT_STATUS(jsegment_create(&options, &segment), JSTATUS_MEMORY_ERROR);
    options.size_bytes = MIB;
    options.max_bytes = 0;
    JEXPECT_OK(jsegment_create(&options, &segment));
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}
JTEST(SegmentGrowth, AnAddressSpaceThatIsTooSmallIsAStatus) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    JSKIP("sanitizers need the whole address space");
#endif
    PEER(peer, exceed_address_space, NULL);
    peer_end(&peer);
}
