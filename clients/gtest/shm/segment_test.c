/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A segment's life over each backend: made, attached to, used, detached from, destroyed, removed;
 * and which options are refused. What attaching refuses is in segment_attach_test.c. */

#include "segment_helper.h"

#include "shm/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const backend_row_t backends[] = {ALL_BACKENDS}, shared_backends[] = {SHARED_BACKENDS};
#define EACH_BACKEND(name) JTEST_P_NAMED(Segment, name, backend_row_t, backends, backend_label)
#define EACH_SHARED_BACKEND(name)                                                                  \
    JTEST_P_NAMED(Segment, name, backend_row_t, shared_backends, backend_label)

/* ---- Creating ---- */

EACH_BACKEND(BeginsEmptyWithTheSizeAskedFor) {
    PLACE(place, param->backend, MIB - 5, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    const jsegment_stats_t stats = segment_books(segment);
    JEXPECT_EQ(stats.size_bytes, param->backend == JSEGMENT_ARRAY ? stats.size_bytes : MIB);
    JEXPECT_EQ(stats.max_bytes, stats.size_bytes);
    JEXPECT_EQ(stats.owned_bytes, 0);
    JEXPECT_EQ(stats.given_bytes, 0);
    JEXPECT_EQ(stats.processes, 1);
    JEXPECT_EQ(stats.max_processes, 64);
    JEXPECT_EQ(stats.allocators, 0);
    JEXPECT_EQ(stats.free_extents, 1);
    JEXPECT_LT(stats.metadata_bytes, 64 * KIB);
    JEXPECT_EQ(stats.growth_count + stats.rollback_count + stats.reaped_count, 0);
    const unsigned slot = jsegment_slot(segment);
    JEXPECT_TRUE(slot >= 1 && slot <= 64);
    const jsegment_process_t process = segment_process(segment, slot);
    JEXPECT_TRUE(process.attached && process.alive && process.liveness_known);
    JEXPECT_EQ(process.pid, getpid());
    JEXPECT_GT(process.attached_at, 1600000000);
    JEXPECT_OK(jsegment_destroy(segment));
}

EACH_BACKEND(TheSmallestSegmentHoldsSomething) {
    PLACE(place, param->backend, JSEGMENT_MIN_BYTES, 0);
    place.options.max_processes = 1;
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t offsets[2000];
    const size_t count = shared_take_all(shared, 100, offsets, COUNT_OF(offsets));
    JEXPECT_GT(count, 100);
    for (size_t i = 0; i < count; ++i)
        memset(shared_bytes(shared, offsets[i], 100), (int)i, 100);
    segment_books(segment);
    JEXPECT_OK(jshared_deallocate_many(shared, count, offsets));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(Segment, OptionsAreChecked) {
    static char array[2 * 65536] __attribute__((aligned(4096)));
    const jsegment_options_t init = JSEGMENT_OPTIONS_INIT;
    jsegment_t *segment = (jsegment_t *)array;
    jsegment_options_t options = init;
    JEXPECT_STATUS(jsegment_create(NULL, &segment), JSTATUS_INVALID_POINTER);
    options.size_bytes = MIB;
    JEXPECT_STATUS(jsegment_create(&options, NULL), JSTATUS_INVALID_POINTER);
#define REFUSED(status_, ...)                                                                      \
    do {                                                                                           \
        options = init;                                                                            \
        options.size_bytes = MIB;                                                                  \
        __VA_ARGS__;                                                                               \
        segment = (jsegment_t *)array;                                                             \
        JEXPECT_STATUS(jsegment_create(&options, &segment), status_);                              \
        JEXPECT_GT(strlen(jstatus_last_message()), 0);                                             \
        if (segment == (jsegment_t *)array)                                                        \
            segment = NULL; /* untouched is as good as NULL */                                     \
        JEXPECT_NULL(segment);                                                                     \
    } while (0)
    REFUSED(JSTATUS_INVALID_VALUE, options.struct_size = 8);
    REFUSED(JSTATUS_INVALID_VALUE, options.backend = (jsegment_backend_t)5);
    REFUSED(JSTATUS_INVALID_VALUE, options.backend = (jsegment_backend_t)-1);
    REFUSED(JSTATUS_INVALID_VALUE, options.max_processes = JSEGMENT_MAX_PROCESSES + 1);
    REFUSED(JSTATUS_INVALID_VALUE, options.threads = (jallocator_threads_t)17);
    REFUSED(JSTATUS_INVALID_VALUE, options.read_only = true);
    REFUSED(JSTATUS_INVALID_SIZE, options.size_bytes = 0);
    REFUSED(JSTATUS_INVALID_SIZE, options.size_bytes = JSEGMENT_MIN_BYTES - 4096);
    REFUSED(JSTATUS_INVALID_SIZE, options.size_bytes = SIZE_MAX);
    REFUSED(JSTATUS_INVALID_SIZE, options.size_bytes = SIZE_MAX - 4095);
    REFUSED(JSTATUS_INVALID_SIZE, options.max_bytes = MIB - 4096);
    REFUSED(JSTATUS_INVALID_SIZE, options.max_bytes = SIZE_MAX);
    REFUSED(JSTATUS_INVALID_SIZE, options.max_bytes = ((size_t)1 << 42) + 4096);
    REFUSED(JSTATUS_INVALID_POINTER, options.backend = JSEGMENT_ARRAY);
    REFUSED(JSTATUS_INVALID_POINTER, options.backend = JSEGMENT_ARRAY; options.size_bytes = 65536;
            options.array = array + 64);
    static const char *const posix_names[] = {NULL,         "",   "/",   "noslash",
                                              "/two/parts", "/.", "/..", "//x"};
    for (size_t i = 0; i < COUNT_OF(posix_names); ++i) {
        JSCOPED_TRACE("name %s", posix_names[i] ? posix_names[i] : "NULL");
        options = init;
        options.size_bytes = MIB;
        options.backend = JSEGMENT_POSIX;
        options.name = posix_names[i];
        const jstatus_t status = jsegment_create(&options, &segment);
        JEXPECT_TRUE(status == JSTATUS_INVALID_VALUE ||
                     (status == JSTATUS_INVALID_POINTER && i == 0));
        const jstatus_t attached = jsegment_attach(&options, &segment);
        JEXPECT_TRUE(attached == JSTATUS_INVALID_VALUE ||
                     (attached == JSTATUS_INVALID_POINTER && i == 0));
    }
    char longest[400];
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    REFUSED(JSTATUS_INVALID_VALUE, options.backend = JSEGMENT_POSIX; options.name = longest);
#undef REFUSED
}

EACH_SHARED_BACKEND(AttachersSeeTheSameBytes) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *first = place_create(&place);
    JASSERT_NOT_NULL(first);
    jsegment_t *second = place_attach(&place);
    JASSERT_NOT_NULL(second);
    JEXPECT_NE(jsegment_slot(first), jsegment_slot(second));
    JEXPECT_EQ(segment_books(first).processes, 2);
    jshared_t *made = shared_make(first, 7), *opened = shared_open(second, 7);
    const joffset_t offset = shared_take(made, 1000);
    strcpy((char *)shared_bytes(made, offset, 1000), "written by the first");
    JEXPECT_STREQ((char *)shared_bytes(opened, offset, 1000), "written by the first");
    JEXPECT_EQ(shared_owner(opened, offset), jsegment_slot(first));
    JEXPECT_OK(jshared_deallocate(opened, offset)); /* by the other */
    JEXPECT_FALSE(shared_is_live(made, offset));
    segment_expect_empty(first);
    JEXPECT_STATUS(jsegment_destroy(first), JSTATUS_BUSY);
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_EQ(segment_books(first).processes, 1);
    JEXPECT_OK(jsegment_destroy(first));
}

/* ---- Detaching, destroying, removing ---- */

EACH_SHARED_BACKEND(DetachingFreesWhatTheSlotOwnsAndKeepsWhatWasGiven) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *stays = place_create(&place);
    JASSERT_NOT_NULL(stays);
    jshared_t *shared = shared_make(stays, 1);
    const jsegment_stats_t before = segment_books(stays);
    jsegment_t *leaves = place_attach(&place);
    JASSERT_NOT_NULL(leaves);
    jshared_t *its = shared_open(leaves, 1);
    const joffset_t owned_small = shared_take(its, 40), owned_large = shared_take(its, 40000);
    const joffset_t given_small = shared_take(its, 40), given_large = shared_take(its, 40000);
    const joffset_t for_stays = shared_take(its, 3000);
    memset(shared_bytes(its, given_small, 40), 'g', 40);
    JEXPECT_OK(jshared_give(its, given_small, JSEGMENT_SLOT_SEGMENT));
    JEXPECT_OK(jshared_give(its, given_large, JSEGMENT_SLOT_SEGMENT));
    JEXPECT_OK(jshared_give(its, for_stays, jsegment_slot(stays)));
    JEXPECT_EQ(jsegment_detach(leaves), JSTATUS_SUCCESS);
    JEXPECT_FALSE(shared_is_live(shared, owned_small));
    JEXPECT_FALSE(shared_is_live(shared, owned_large));
    JEXPECT_EQ(shared_owner(shared, given_small), JSEGMENT_SLOT_SEGMENT);
    JEXPECT_EQ(shared_owner(shared, given_large), JSEGMENT_SLOT_SEGMENT);
    JEXPECT_EQ(shared_owner(shared, for_stays), jsegment_slot(stays));
    JEXPECT_EQ(shared_bytes(shared, given_small, 40)[39], 'g');
    const jsegment_stats_t with = segment_books(stays);
    JEXPECT_EQ(with.given_bytes,
               shared_usable(shared, given_small) + shared_usable(shared, given_large));
    JEXPECT_EQ(with.owned_bytes, shared_usable(shared, for_stays));
    JEXPECT_OK(jshared_deallocate(shared, given_small));
    JEXPECT_OK(jshared_deallocate(shared, given_large));
    JEXPECT_OK(jshared_deallocate(shared, for_stays));
    segment_expect_empty(stays);
    JEXPECT_OK(jshared_destroy(shared));
    const jsegment_stats_t after = segment_books(stays);
    JEXPECT_GE(segment_spare_bytes(&after), segment_spare_bytes(&before));
    JEXPECT_OK(jsegment_destroy(stays));
}

JTEST(Segment, DetachingNothingIsNothing) {
    JEXPECT_OK(jsegment_detach(NULL));
    JEXPECT_OK(jshared_close(NULL));
    JEXPECT_EQ(jsegment_slot(NULL), 0);
}

EACH_SHARED_BACKEND(ASegmentOutlivesItsAttachments) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 5);
    const joffset_t offset = shared_take(shared, 100);
    memset(shared_bytes(shared, offset, 100), 0x5A, 100);
    JEXPECT_OK(jshared_give(shared, offset, JSEGMENT_SLOT_SEGMENT));
    JEXPECT_OK(jsegment_set_root(segment, "kept", offset));
    JEXPECT_OK(jsegment_detach(segment));
    segment = place_attach(&place);
    JASSERT_NOT_NULL(segment);
    joffset_t found = 0;
    JEXPECT_OK(jsegment_get_root(segment, "kept", &found));
    JEXPECT_EQ(found, offset);
    shared = shared_open(segment, 5);
    JEXPECT_EQ(shared_bytes(shared, offset, 100)[99], 0x5A);
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

static bool name_exists(const place_t *place) {
    struct stat status;
    return stat(place->path, &status) == 0;
}
static const backend_row_t named_backends[] = {{"posix", JSEGMENT_POSIX}, {"file", JSEGMENT_FILE}};
#define EACH_NAMED_BACKEND(name)                                                                   \
    JTEST_P_NAMED(Segment, name, backend_row_t, named_backends, backend_label)

EACH_NAMED_BACKEND(ANameIsTakenOnceAndIsNobodyElses) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place), *other = NULL;
    JASSERT_NOT_NULL(segment);
    struct stat status;
    JASSERT_EQ(stat(place.path, &status), 0);
    JEXPECT_EQ(status.st_mode & 07777, 0600);
    JEXPECT_EQ(status.st_size, MIB);
    JEXPECT_GE(status.st_blocks * 512, MIB); /* reserved */
    JEXPECT_STATUS(jsegment_create(&place.options, &other), JSTATUS_EXISTS);
    JEXPECT_NULL(other);
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
    JEXPECT_FALSE(name_exists(&place));
    JEXPECT_STATUS(jsegment_attach(&place.options, &other), JSTATUS_NOT_FOUND);
    /* A file that is none of ours. */
    const int file = open(place.path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    JASSERT_GE(file, 0);
    close(file);
    JEXPECT_STATUS(jsegment_create(&place.options, &other), JSTATUS_EXISTS);
    JEXPECT_TRUE(name_exists(&place));
}

EACH_NAMED_BACKEND(RemovingAsksWhoIsAttached) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place), *late = NULL;
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    JEXPECT_STATUS(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_UNUSED),
                   JSTATUS_BUSY);
    JEXPECT_TRUE(name_exists(&place));
    JEXPECT_OK(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_ALWAYS));
    JEXPECT_FALSE(name_exists(&place));
    JEXPECT_STATUS(jsegment_attach(&place.options, &late), JSTATUS_NOT_FOUND);
    /* The memory is still there. */
    memset(shared_bytes(shared, shared_take(shared, 50000), 50000), 1, 50000);
    segment_books(segment);
    JEXPECT_OK(jsegment_detach(segment));
    JEXPECT_STATUS(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_UNUSED),
                   JSTATUS_NOT_FOUND);
}

EACH_NAMED_BACKEND(RemovingTakesWhatNobodyIsAttachedTo) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_OK(jsegment_detach(segment));
    JEXPECT_TRUE(name_exists(&place));
    JEXPECT_OK(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_UNUSED));
    JEXPECT_FALSE(name_exists(&place));
}

EACH_NAMED_BACKEND(RemovingSparesWhatIsNoSegment) {
    PLACE(place, param->backend, MIB, 0);
    FILE *file = fopen(place.path, "w");
    JASSERT_NOT_NULL(file);
    for (int i = 0; i < 20000; ++i)
        fputs("not ours\n", file);
    fclose(file);
    chmod(place.path, 0600);
    JEXPECT_STATUS(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_ALWAYS),
                   JSTATUS_NOT_A_SEGMENT);
    JEXPECT_TRUE(name_exists(&place));
    chmod(place.path, 0666);
    JEXPECT_STATUS(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_ALWAYS),
                   JSTATUS_UNSAFE);
    JEXPECT_TRUE(name_exists(&place));
    unlink(place.path);
    JASSERT_EQ(symlink("/dev/null", place.path), 0);
    JEXPECT_STATUS(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_ALWAYS),
                   JSTATUS_UNSAFE);
    JEXPECT_EQ(unlink(place.path), 0);
    JEXPECT_STATUS(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_ALWAYS),
                   JSTATUS_NOT_FOUND);
}

EACH_NAMED_BACKEND(RemovingSparesWhatAnotherVersionMade) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_OK(jsegment_detach(segment));
    const uint32_t version = SHM_LAYOUT_VERSION + 1;
    const int file = open(place.path, O_WRONLY | O_CLOEXEC);
    JEXPECT_EQ(pwrite(file, &version, 4, offsetof(shm_constants_t, layout_version)), 4);
    close(file);
    JEXPECT_STATUS(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_ALWAYS),
                   JSTATUS_INCOMPATIBLE);
    JEXPECT_TRUE(name_exists(&place));
}

/* What can no longer be used must not have to stay for ever. */
EACH_NAMED_BACKEND(RemovingTakesATruncatedOne) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_OK(jsegment_detach(segment));
    JASSERT_EQ(truncate(place.path, 8192), 0);
    JEXPECT_STATUS(jsegment_attach(&place.options, &segment), JSTATUS_TRUNCATED);
    JEXPECT_OK(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_UNUSED));
    JEXPECT_FALSE(name_exists(&place));
}

JTEST(Segment, RemovingIsForNames) {
    JEXPECT_STATUS(jsegment_remove(JSEGMENT_POSIX, NULL, JSEGMENT_REMOVE_UNUSED),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_remove(JSEGMENT_PRIVATE, "/x", JSEGMENT_REMOVE_UNUSED),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_remove(JSEGMENT_MEMFD, "/x", JSEGMENT_REMOVE_UNUSED),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_remove(JSEGMENT_ARRAY, "/x", JSEGMENT_REMOVE_UNUSED),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jsegment_remove(JSEGMENT_POSIX, "/x", (jsegment_remove_t)2),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "how");
}

JTEST(Segment, DestroyingKeepsAForeignFileOfItsName) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JASSERT_EQ(unlink(place.path), 0); /* and somebody else takes the name */
    jsegment_t *usurper = NULL;
    JASSERT_OK(jsegment_create(&place.options, &usurper));
    (void)jsegment_destroy(segment);
    JEXPECT_TRUE(name_exists(&place));
    JEXPECT_OK(jsegment_destroy(usurper));
    JEXPECT_FALSE(name_exists(&place));
}

/* ---- Sizes, threads ---- */

EACH_BACKEND(ManyAttachmentsOfOneProcess) {
    if (param->backend == JSEGMENT_PRIVATE)
        JSKIP("has one attachment");
    PLACE(place, param->backend, MIB, 0);
    place.options.max_processes = 5;
    jsegment_t *segments[6] = {place_create(&place)};
    JASSERT_NOT_NULL(segments[0]);
    for (int i = 1; i < 5; ++i)
        JASSERT_NOT_NULL(segments[i] = place_attach(&place));
    JEXPECT_STATUS(jsegment_attach(&place.options, &segments[5]), JSTATUS_NO_SLOT);
    JEXPECT_EQ(segment_books(segments[4]).processes, 5);
    jsegment_t *reader = place_attach_reading(&place); /* takes none */
    JASSERT_NOT_NULL(reader);
    JEXPECT_EQ(jsegment_slot(reader), 0);
    JEXPECT_OK(jsegment_detach(segments[2]));
    JASSERT_NOT_NULL(segments[2] = place_attach(&place));
    JEXPECT_STATUS(jsegment_attach(&place.options, &segments[5]), JSTATUS_NO_SLOT);
    JEXPECT_OK(jsegment_detach(reader));
    for (int i = 4; i >= 1; --i)
        JEXPECT_OK(jsegment_detach(segments[i]));
    JEXPECT_OK(jsegment_destroy(segments[0]));
}

EACH_BACKEND(AttachmentsForOneThreadWorkTheSame) {
    PLACE(place, param->backend, MIB, 0);
    place.options.threads = JALLOCATOR_THREADS_NONE;
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    joffset_t offsets[100];
    JEXPECT_OK(jshared_allocate_many(shared, 200, 0, COUNT_OF(offsets), offsets));
    JEXPECT_OK(jsegment_set_root(segment, "one", offsets[0]));
    segment_books(segment);
    JEXPECT_OK(jshared_deallocate_many(shared, COUNT_OF(offsets), offsets));
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* A descriptor that leaks into a program started later would keep a slot alive for ever. */
EACH_BACKEND(DescriptorsAreClosedByExecAndByDetaching) {
    int before = 0, during = 0, after = 0;
    for (int fd = 0; fd < 256; ++fd)
        before += fcntl(fd, F_GETFD) >= 0;
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    for (int fd = 0; fd < 256; ++fd)
        during += fcntl(fd, F_GETFD) >= 0;
    for (int fd = 3; fd < 256; ++fd) {
        char path[64], target[256];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        if (strstr(target, "jalloc") != NULL)
            JEXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    JEXPECT_OK(jsegment_destroy(segment));
    if (place.options.descriptor >= 0) {
        JEXPECT_TRUE(fcntl(place.options.descriptor, F_GETFD) & FD_CLOEXEC);
        close(place.options.descriptor);
        place.options.descriptor = -1;
    }
    for (int fd = 0; fd < 256; ++fd)
        after += fcntl(fd, F_GETFD) >= 0;
    JEXPECT_EQ(after, before);
    JEXPECT_EQ(during > before,
               param->backend != JSEGMENT_PRIVATE && param->backend != JSEGMENT_ARRAY);
}
