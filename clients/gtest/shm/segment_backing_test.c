/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where a segment's bytes are: what is made is reserved, aligned and seen whole or not at all; what
 * is not a sound file is refused, each with its status. Limits of the system:
 * segment_limits_test.c. */

#include "segment_backing_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define NOBODY 65534

/* ---- New segments ---- */

#define NAMED_KINDS                                                                                \
    {"posix", JSEGMENT_POSIX, 0}, {"posix_temporary", JSEGMENT_POSIX, SHM_WITHOUT_TMPFILE},        \
        {"file", JSEGMENT_FILE, 0}, {                                                              \
        "file_temporary_written", JSEGMENT_FILE, SHM_WITHOUT_TMPFILE | SHM_WITHOUT_FALLOCATE       \
    }
#define GROWING_KINDS                                                                              \
    {"private", JSEGMENT_PRIVATE, 0}, {"memfd", JSEGMENT_MEMFD, 0},                                \
        {"memfd_written", JSEGMENT_MEMFD, SHM_WITHOUT_FALLOCATE}, NAMED_KINDS
static const backing_kind_t new_named_kinds[] = {NAMED_KINDS};
static const backing_kind_t growing_kinds[] = {GROWING_KINDS};
static const backing_kind_t kinds[] = {{"array", JSEGMENT_ARRAY, 0}, GROWING_KINDS};

static bool is_zero(const char *begin, const char *end) {
    while (begin < end && *begin == 0)
        ++begin;
    return begin == end;
}

JTEST_P_NAMED(SegmentBacking, NewSegmentIsZeroReservedAndAligned, backing_kind_t, kinds,
              backing_kind_name) {
    WITHOUT(param->without);
    const resources_t before = resources_now();
    {
        SAMPLE(sample, param->backend);
        if (sample.options.array != NULL)
            memset(sample.options.array, 0x55, SAMPLE_BYTES);
        JASSERT_OK(sample_create(&sample));
        const shm_backing_t *backing = &sample.backing;
        const shm_constants_t *c = &sample.constants;
        JEXPECT_EQ(backing->backend, param->backend);
        JEXPECT_EQ(backing->has_file, sample_has_file(&sample));
        JEXPECT_EQ(backing->descriptor >= 0, backing->has_file);
        JEXPECT_EQ(backing->reserved_bytes, sample.max_bytes);
        JEXPECT_FALSE(backing->read_only);
        JEXPECT_TRUE(ji_is_power_of_two(backing->alignment));
        JEXPECT_EQ((uintptr_t)backing->base % backing->alignment, 0);
        if (param->backend != JSEGMENT_ARRAY)
            JEXPECT_EQ(backing->alignment, (size_t)1 << 30);
        else
            JEXPECT_EQ(backing->base, sample.options.array);

        /* Of the page table only the words of present pages are there. */
        const char *base = backing->base,
                   *words = base + c->table_offset + (SAMPLE_BYTES >> 12) * sizeof(shm_page_t);
        JEXPECT_TRUE(is_zero(base + sizeof *c, words));
        const uint64_t first = c->first_page << 12;
        if (backing->has_file) {
            JEXPECT_EQ(shm_backing_size(backing), SAMPLE_BYTES);
            JEXPECT_GE(bytes_set_aside(backing), SAMPLE_BYTES - first + (uint64_t)(words - base));
            JEXPECT_LT(bytes_set_aside(backing),
                       SAMPLE_BYTES - first + (uint64_t)(words - base) + (64 << 10));
        }
        memset(backing->base + first, 0xAA, SAMPLE_BYTES - first);
    }
    resources_check(&before);
}

JTEST(SegmentBacking, AlignmentCostsNoAddressSpace) {
    const resources_t before = resources_now();
    const size_t bytes = (size_t)256 << 20; /* no multiple of the alignment */
    sample_t samples[4];
    for (size_t i = 0; i < LEN(samples); ++i) {
        samples[i] = sample_of(i % 2 != 0 ? JSEGMENT_PRIVATE : JSEGMENT_MEMFD);
        samples[i].max_bytes = bytes;
        JEXPECT_OK(sample_create(&samples[i]));
        JEXPECT_EQ(samples[i].backing.alignment, (size_t)1 << 30);
    }
    JEXPECT_LT(resources_now().address_bytes,
               before.address_bytes + LEN(samples) * bytes + bytes / 4);
    for (size_t i = 0; i < LEN(samples); ++i)
        sample_end(&samples[i]);
    JEXPECT_LT(resources_now().address_bytes, before.address_bytes + bytes / 4);
}

JTEST_P_NAMED(SegmentBacking, IsSeenOnlyWhenItIsPublishedAndThenWhole, backing_kind_t, kinds,
              backing_kind_name) {
    WITHOUT(param->without);
    SAMPLE(sample, param->backend);
    if (!sample_has_name(&sample)) {
        JASSERT_OK(sample_create(&sample));
        JEXPECT_OK(shm_backing_publish(&sample.backing));
        return;
    }
    const unsigned temporary = (param->without & SHM_WITHOUT_TMPFILE) != 0;
    struct stat file;
    JASSERT_OK(sample_create(&sample));
    JEXPECT_STREQ(sample.backing.name, sample.name);
    JEXPECT_STREQ(sample.backing.path, sample.path);
    JEXPECT_NE(lstat(sample.path, &file), 0);
    JEXPECT_EQ(sample_file_count(&sample), temporary);
    JASSERT_OK(shm_backing_publish(&sample.backing));
    JEXPECT_EQ(sample_file_count(&sample), 1);
    JASSERT_EQ(lstat(sample.path, &file), 0);
    JEXPECT_TRUE(S_ISREG(file.st_mode));
    JEXPECT_EQ(file.st_mode & 07777, 0600);
    JEXPECT_EQ(file.st_nlink, 1);
    JEXPECT_EQ(file.st_size, SAMPLE_BYTES);
}

JTEST_P_NAMED(SegmentBacking, OneThatIsNeverPublishedLeavesNothing, backing_kind_t, kinds,
              backing_kind_name) {
    WITHOUT(param->without);
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create(&sample));
    shm_backing_close(&sample.backing);
    JEXPECT_EQ(sample_file_count(&sample), 0);
    JEXPECT_EQ(sample.backing.descriptor, -1);
    shm_backing_close(&sample.backing); /* of nothing: nothing */
}

JTEST(SegmentBacking, ModeIsWhatItShouldBeUnderAnyUmask) {
    static const mode_t masks[] = {0, 022, 0277, 0777};
    static const jsegment_backend_t backends[] = {JSEGMENT_POSIX, JSEGMENT_FILE, JSEGMENT_MEMFD};
    for (size_t i = 0; i < LEN(masks); ++i)
        for (size_t j = 0; j < 2 * LEN(backends); ++j) {
            JSCOPED_TRACE("umask %o, %zu", (unsigned)masks[i], j);
            WITHOUT(j < LEN(backends) ? 0 : SHM_WITHOUT_TMPFILE);
            SAMPLE(sample, backends[j % LEN(backends)]);
            const mode_t before = umask(masks[i]);
            const jstatus_t status = sample_create_and_publish(&sample);
            umask(before);
            JASSERT_OK(status);
            struct stat file;
            JASSERT_EQ(fstat(sample.backing.descriptor, &file), 0);
            JEXPECT_EQ(file.st_mode & 07777, 0600);
            JEXPECT_NE(fcntl(sample.backing.descriptor, F_GETFD) & FD_CLOEXEC, 0);
        }
}

/* What may stand where a segment is to be. */
typedef enum {
    STANDS_FILE,
    STANDS_LINK,
    STANDS_DANGLING,
    STANDS_DIRECTORY,
    STANDS_FIFO,
    STANDS_KINDS
} stands_t;
static void put_there(stands_t what, const char *path) {
    int file = -1, result = 0;
    switch (what) {
    case STANDS_FILE: file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600); break;
    case STANDS_LINK: result = symlink("/dev/null", path); break;
    case STANDS_DANGLING: result = symlink("/nowhere/at-all", path); break;
    case STANDS_DIRECTORY: result = mkdir(path, 0700); break;
    default: result = mkfifo(path, 0600); break;
    }
    JEXPECT_EQ(result, 0);
    if (file >= 0)
        close(file);
}

JTEST_P_NAMED(SegmentBacking, NameThatIsTakenStaysWhatItIs, backing_kind_t, new_named_kinds,
              backing_kind_name) {
    WITHOUT(param->without);
    const resources_t before = resources_now();
    for (stands_t what = STANDS_FILE; what < STANDS_KINDS; ++what)
        for (int late = 0; late < 2; ++late) {
            JSCOPED_TRACE("kind %d, taken %s", (int)what, late ? "meanwhile" : "before");
            SAMPLE(sample, param->backend);
            struct stat there, still;
            if (late)
                JASSERT_OK(sample_create(&sample));
            put_there(what, sample.path);
            JASSERT_EQ(lstat(sample.path, &there), 0);
            JEXPECT_STATUS(late ? shm_backing_publish(&sample.backing) : sample_create(&sample),
                           JSTATUS_EXISTS);
            shm_backing_close(&sample.backing);
            JASSERT_EQ(lstat(sample.path, &still), 0);
            JEXPECT_EQ(still.st_ino, there.st_ino);
            JEXPECT_EQ(still.st_mode, there.st_mode);
            JEXPECT_EQ(sample_file_count(&sample), 1);
        }
    resources_check(&before);
}

JTEST(SegmentBacking, NamesThatCannotBeAreInvalid) {
    char longest[300], path[4200];
    memset(longest, 'n', sizeof longest);
    longest[0] = '/';
    longest[257] = '\0'; /* 256 characters behind the slash */
    memset(path, '/', sizeof path);
    memcpy(path + sizeof path - 3, "/a", 3);
    const struct {
        jsegment_backend_t backend;
        const char *name;
    } names[] = {
        {JSEGMENT_POSIX, NULL},       {JSEGMENT_POSIX, ""},         {JSEGMENT_POSIX, "/"},
        {JSEGMENT_POSIX, "name"},     {JSEGMENT_POSIX, "/a/b"},     {JSEGMENT_POSIX, "//a"},
        {JSEGMENT_POSIX, "/a/"},      {JSEGMENT_POSIX, "/."},       {JSEGMENT_POSIX, "/.."},
        {JSEGMENT_POSIX, longest},    {JSEGMENT_FILE, NULL},        {JSEGMENT_FILE, ""},
        {JSEGMENT_FILE, "/"},         {JSEGMENT_FILE, "/tmp/"},     {JSEGMENT_FILE, "/tmp/."},
        {JSEGMENT_FILE, ".."},        {JSEGMENT_FILE, longest},     {JSEGMENT_FILE, path},
        {JSEGMENT_PRIVATE + 5, NULL}, {(jsegment_backend_t)-1, ""},
    };
    shm_constants_t c, copy;
    JASSERT_TRUE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_BYTES, 64, true));
    for (size_t i = 0; i < LEN(names); ++i) {
        JSCOPED_TRACE("name %zu", i);
        shm_backing_t backing;
        jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
        options.backend = names[i].backend;
        options.name = names[i].name;
        JEXPECT_STATUS(shm_backing_create(&options, &c, SAMPLE_BYTES, &backing),
                       JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(shm_backing_attach(&options, &copy, &backing), JSTATUS_INVALID_VALUE);
        JEXPECT_STATUS(shm_backing_find(names[i].backend, names[i].name, &backing),
                       JSTATUS_INVALID_VALUE);
    }
}

JTEST(SegmentBacking, LongestNamesAndRelativePathsAreTaken) {
    char name[257];
    snprintf(name, sizeof name, "/jalloc-backing-%ld-", (long)getpid());
    memset(name + strlen(name), 'x', 256 - strlen(name));
    name[256] = '\0';
    for (unsigned without = 0; without <= SHM_WITHOUT_TMPFILE; ++without)
        for (int relative = 0; relative < 2; ++relative) {
            JSCOPED_TRACE("without %u, relative %d", without, relative);
            WITHOUT(without);
            SAMPLE(sample, JSEGMENT_FILE);
            const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (relative)
                JEXPECT_EQ(chdir(sample_directory(&sample)), 0);
            shm_constants_t c;
            ATTACHED(backing);
            jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
            options.backend = relative ? JSEGMENT_FILE : JSEGMENT_POSIX;
            options.name = relative ? sample_unique(&sample) : name;
            JEXPECT_TRUE(shm_constants_make(&c, SAMPLE_BYTES, SAMPLE_BYTES, 64, true));
            const jstatus_t created = shm_backing_create(&options, &c, SAMPLE_BYTES, &backing);
            JEXPECT_OK(created);
            if (created == JSTATUS_SUCCESS) {
                JEXPECT_OK(shm_backing_publish(&backing));
                JEXPECT_OK(shm_backing_unlink(&backing));
            }
            JEXPECT_EQ(sample_file_count(&sample), 0);
            JEXPECT_EQ(fchdir(here), 0);
            close(here);
        }
}

JTEST(SegmentBacking, DirectoryThatIsNotThereIsAnIoError) {
    const resources_t before = resources_now();
    for (unsigned without = 0; without <= SHM_WITHOUT_TMPFILE; ++without) {
        WITHOUT(without);
        SAMPLE(sample, JSEGMENT_FILE);
        snprintf(sample.name, sizeof sample.name, "/nowhere/at-all/segment");
        JEXPECT_STATUS(sample_create(&sample), JSTATUS_IO_ERROR);
        JEXPECT_SUBSTR(jstatus_last_message(), "/nowhere/at-all/segment");
        JEXPECT_SUBSTR(jstatus_last_message(), strerror(ENOENT));
    }
    resources_check(&before);
}

JTEST_P_NAMED(SegmentBacking, MissingBookkeepingMemoryLeavesNothing, backing_kind_t,
              new_named_kinds, backing_kind_name) {
    WITHOUT(param->without);
    const resources_t before = resources_now();
    JFOR_EACH_FAILURE(i) {
        SAMPLE(sample, param->backend);
        shm_constants_t c;
        ATTACHED(attached);
        jstatus_t status = sample_create_and_publish(&sample);
        if (status == JSTATUS_SUCCESS)
            status = sample_attach(&sample, false, &c, &attached);
        else
            JEXPECT_EQ(sample_file_count(&sample), 0);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
    }
    resources_check(&before);
}

/* ---- Arrays ---- */

JTEST(SegmentBacking, ArrayIsJudged) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    char *array = sample.options.array;
    shm_constants_t c;
    sample.options.array = NULL;
    JEXPECT_STATUS(sample_create(&sample), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(sample_attach(&sample, false, &c, &sample.backing), JSTATUS_INVALID_POINTER);
    sample.options.array = array + 2048;
    JEXPECT_STATUS(sample_create(&sample), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(sample_attach(&sample, false, &c, &sample.backing), JSTATUS_INVALID_POINTER);
    sample.options.array = array;
    JEXPECT_STATUS(sample_attach(&sample, false, &c, &sample.backing), JSTATUS_NOT_A_SEGMENT);

    JASSERT_OK(sample_create(&sample));
    ATTACHED(attached);
    JASSERT_OK(sample_attach(&sample, false, &c, &attached));
    JEXPECT_EQ(attached.base, array);
    JEXPECT_EQ(shm_backing_size(&attached), SAMPLE_BYTES);
    JEXPECT_EQ(c.segment_id, sample.constants.segment_id);
    JEXPECT_EQ(attached.segment_pid_namespace, c.pid_namespace);
    JEXPECT_EQ(attached.pid_namespace, c.pid_namespace);
    /* There is no more of it than there is. */
    JEXPECT_OK(shm_backing_extend(&sample.backing, &c, SAMPLE_BYTES - 4096, SAMPLE_BYTES));
    JEXPECT_STATUS(shm_backing_extend(&sample.backing, &c, SAMPLE_BYTES, SAMPLE_BYTES + 4096),
                   JSTATUS_MEMORY_ERROR);
    int descriptor = -1;
    JEXPECT_STATUS(shm_backing_reopen(&sample.backing, &descriptor), JSTATUS_NOT_IMPLEMENTED);

    sample.options.size_bytes = sizeof c - 1;
    JEXPECT_STATUS(sample_attach(&sample, false, &c, &attached), JSTATUS_NOT_A_SEGMENT);
    sample.options.size_bytes = c.first_page << 12;
    JEXPECT_STATUS(sample_attach(&sample, false, &c, &attached), JSTATUS_TRUNCATED);
    sample.options.size_bytes = (c.first_page + 1) << 12;
    JEXPECT_OK(sample_attach(&sample, false, &c, &attached));
}

JTEST(SegmentBacking, ArrayIsNotWrittenBeyondTheSegment) {
    SAMPLE(sample, JSEGMENT_ARRAY);
    memset(sample.options.array, 0x55, SAMPLE_BYTES);
    shm_constants_t c;
    shm_backing_t backing;
    JASSERT_TRUE(shm_constants_make(&c, (size_t)1 << 20, (size_t)1 << 20, 64, false));
    JASSERT_OK(shm_backing_create(&sample.options, &c, (size_t)1 << 20, &backing));
    JEXPECT_TRUE(is_zero(backing.base, backing.base + (c.first_page << 12)));
    for (size_t i = c.first_page << 12; i < SAMPLE_BYTES; ++i)
        JASSERT_EQ(backing.base[i], 0x55);
    sample.options.size_bytes = ((size_t)1 << 20) - 1;
    JEXPECT_STATUS(shm_backing_create(&sample.options, &c, (size_t)1 << 20, &backing),
                   JSTATUS_INVALID_SIZE);
}

JTEST(SegmentBacking, PrivateSegmentHasNeitherNameNorAttachers) {
    SAMPLE(sample, JSEGMENT_PRIVATE);
    JASSERT_OK(sample_create(&sample));
    shm_constants_t c;
    shm_backing_t attached;
    int descriptor;
    JEXPECT_STATUS(sample_attach(&sample, false, &c, &attached), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(shm_backing_reopen(&sample.backing, &descriptor), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_OK(shm_backing_unlink(&sample.backing));
    JEXPECT_STATUS(shm_backing_find(JSEGMENT_PRIVATE, "/x", &attached), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(shm_backing_size(&sample.backing), SAMPLE_MAX_BYTES);
}

/* ---- Growth ---- */

JTEST_P_NAMED(SegmentBacking, GrowthIsSeenInMappingsThatExist, backing_kind_t, growing_kinds,
              backing_kind_name) {
    WITHOUT(param->without);
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    shm_constants_t c = sample.constants;
    ATTACHED(attached);
    const bool other = param->backend != JSEGMENT_PRIVATE;
    if (other)
        JASSERT_OK(sample_attach(&sample, false, &c, &attached));
    const shm_backing_t *seen = other ? &attached : &sample.backing;
    char *base = sample.backing.base;
    base[SAMPLE_BYTES - 1] = 7;
    char *const last_word = base + c.table_offset + (SAMPLE_BYTES >> 12) * sizeof(shm_page_t) - 1;
    *last_word = 9;
    size_t from = SAMPLE_BYTES;
    static const size_t sizes[] = {SAMPLE_BYTES + 4096, SAMPLE_BYTES + 3 * 4096, (size_t)9 << 20,
                                   (size_t)24 << 20};
    for (size_t i = 0; i < LEN(sizes); ++i) {
        const uint64_t before = sample_has_file(&sample) ? bytes_set_aside(&sample.backing) : 0;
        JASSERT_OK(shm_backing_extend(&sample.backing, &c, from, sizes[i]));
        /* As after a takeover. */
        JASSERT_OK(shm_backing_extend(&sample.backing, &c, from, sizes[i]));
        if (sample_has_file(&sample)) {
            JEXPECT_EQ(shm_backing_size(&sample.backing), sizes[i]);
            JEXPECT_EQ(shm_backing_size(&attached), sizes[i]);
            JEXPECT_GE(bytes_set_aside(&sample.backing), before + sizes[i] - from);
        }
        JEXPECT_TRUE(is_zero(base + from, base + sizes[i]));
        JEXPECT_TRUE(
            is_zero(last_word + 1, base + c.table_offset + (sizes[i] >> 12) * sizeof(shm_page_t)));
        memset(base + from, (int)i + 1, sizes[i] - from);
        JEXPECT_EQ(seen->base[from], (int)i + 1);
        JEXPECT_EQ(seen->base[sizes[i] - 1], (int)i + 1);
        /* Can be touched. */
        memset(last_word + 1, 0, ((sizes[i] - SAMPLE_BYTES) >> 12) * sizeof(shm_page_t));
        from = sizes[i];
    }
    JEXPECT_EQ(base[SAMPLE_BYTES - 1], 7);
    JEXPECT_EQ(*last_word, 9);
    JEXPECT_STATUS(shm_backing_extend(&sample.backing, &c, from, SAMPLE_MAX_BYTES + 4096),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(shm_backing_extend(&sample.backing, &c, from, from));
    JEXPECT_OK(shm_backing_extend(&sample.backing, &c, from, from - 4096)); /* never shorter */
    if (sample_has_file(&sample))
        JEXPECT_EQ(shm_backing_size(&sample.backing), from);
}

/* ---- Attaching ---- */

JTEST_P_NAMED(SegmentBacking, AttachSeesTheSameBytes, backing_kind_t, file_kinds,
              backing_kind_name) {
    const resources_t before = resources_now();
    for (int read_only = 0; read_only < 2; ++read_only) {
        SAMPLE(sample, param->backend);
        JASSERT_OK(sample_create_and_publish(&sample));
        ATTACHED(attached);
        shm_constants_t c;
        JASSERT_OK(sample_attach(&sample, read_only != 0, &c, &attached));
        JEXPECT_EQ(memcmp(&c, &sample.constants, sizeof c), 0);
        JEXPECT_EQ(attached.read_only, read_only != 0);
        JEXPECT_TRUE(attached.has_file);
        JEXPECT_EQ(attached.reserved_bytes, SAMPLE_MAX_BYTES);
        JEXPECT_EQ(attached.alignment, (size_t)1 << 30);
        JEXPECT_NE(attached.base, sample.backing.base);
        JEXPECT_NE(attached.descriptor, sample.backing.descriptor);
        JEXPECT_NE(fcntl(attached.descriptor, F_GETFD) & FD_CLOEXEC, 0);
        JEXPECT_EQ(fcntl(attached.descriptor, F_GETFL) & O_ACCMODE, read_only ? O_RDONLY : O_RDWR);
        sample.backing.base[SAMPLE_BYTES - 1] = 42;
        JEXPECT_EQ(attached.base[SAMPLE_BYTES - 1], 42);
        /* Whether it can be written to: the kernel reads a byte of a pipe into it. */
        int ends[2];
        JASSERT_EQ(pipe(ends), 0);
        JEXPECT_EQ(write(ends[1], "x", 1), 1);
        JEXPECT_EQ(read(ends[0], attached.base + SAMPLE_BYTES - 1, 1), read_only ? -1 : 1);
        close(ends[0]);
        close(ends[1]);
        JEXPECT_EQ(sample.backing.base[SAMPLE_BYTES - 1], read_only ? 42 : 'x');
    }
    resources_check(&before);
}

JTEST_P_NAMED(SegmentBacking, DescriptorOfAnyFileAttaches, backing_kind_t, file_kinds,
              backing_kind_name) {
    const resources_t before = resources_now();
    {
        SAMPLE(sample, param->backend);
        JASSERT_OK(sample_create_and_publish(&sample));
        int descriptor = -1;
        JASSERT_OK(shm_backing_reopen(&sample.backing, &descriptor));
        JEXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
        /* A description of its own: what one has locked the other has not. */
        shm_backing_t other = {.has_file = true, .descriptor = descriptor};
        JEXPECT_TRUE(shm_life_take(&sample.backing, 1));
        JEXPECT_FALSE(shm_life_take(&other, 1));
        if (sample_has_name(&sample)) /* nor is its name needed any more */
            JEXPECT_OK(shm_backing_unlink(&sample.backing));
        jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
        options.backend = JSEGMENT_MEMFD;
        options.descriptor = descriptor;
        ATTACHED(attached);
        shm_constants_t c;
        JASSERT_OK(shm_backing_attach(&options, &c, &attached));
        JEXPECT_EQ(c.segment_id, sample.constants.segment_id);
        JEXPECT_EQ(close(descriptor), 0); /* stays the caller's */
        attached.base[SAMPLE_BYTES - 1] = 11;
        JEXPECT_EQ(sample.backing.base[SAMPLE_BYTES - 1], 11);
    }
    resources_check(&before);
}

JTEST(SegmentBacking, MemfdCannotBeMadeShorter) {
    SAMPLE(sample, JSEGMENT_MEMFD);
    JASSERT_OK(sample_create(&sample));
    const int seals = fcntl(sample.backing.descriptor, F_GET_SEALS);
    JEXPECT_EQ(seals & (F_SEAL_SHRINK | F_SEAL_SEAL), F_SEAL_SHRINK | F_SEAL_SEAL);
    JEXPECT_EQ(seals & (F_SEAL_GROW | F_SEAL_WRITE), 0);
    JEXPECT_NE(ftruncate(sample.backing.descriptor, 4096), 0);
    JEXPECT_EQ(errno, EPERM);
    JEXPECT_EQ(shm_backing_size(&sample.backing), SAMPLE_BYTES);
}

/* What attach and find say to the sample as it is now; it must leave nothing. */
#define EXPECT_REFUSED(sample, attach_status, find_status)                                         \
    do {                                                                                           \
        const resources_t before_ = resources_now();                                               \
        for (int read_only_ = 0; read_only_ < 2; ++read_only_) {                                   \
            shm_constants_t copy_;                                                                 \
            ATTACHED(attached_);                                                                   \
            JEXPECT_STATUS(sample_attach(sample, read_only_ != 0, &copy_, &attached_),             \
                           attach_status);                                                         \
        }                                                                                          \
        if (sample_has_name(sample)) {                                                             \
            ATTACHED(found_);                                                                      \
            JEXPECT_STATUS(shm_backing_find((sample)->options.backend, (sample)->name, &found_),   \
                           find_status);                                                           \
            JEXPECT_NULL(found_.base);                                                             \
        }                                                                                          \
        resources_check(&before_);                                                                 \
    } while (0)

static const backing_kind_t named_kinds[] = {{"posix", JSEGMENT_POSIX, 0},
                                             {"file", JSEGMENT_FILE, 0}};

JTEST_P_NAMED(SegmentBacking, WhatIsNoSafeFileIsRefused, backing_kind_t, named_kinds,
              backing_kind_name) {
    for (stands_t what = STANDS_LINK; what < STANDS_KINDS; ++what) {
        JSCOPED_TRACE("kind %d", (int)what);
        SAMPLE(sample, param->backend);
        EXPECT_REFUSED(&sample, JSTATUS_NOT_FOUND, JSTATUS_NOT_FOUND);
        put_there(what, sample.path);
        EXPECT_REFUSED(&sample, JSTATUS_UNSAFE, JSTATUS_UNSAFE);
    }
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    static const mode_t modes[] = {0620, 0602, 0622, 0666, 0777, 0660};
    for (size_t i = 0; i < LEN(modes); ++i) {
        JSCOPED_TRACE("mode %o", (unsigned)modes[i]);
        JASSERT_EQ(chmod(sample.path, modes[i]), 0);
        EXPECT_REFUSED(&sample, JSTATUS_UNSAFE, JSTATUS_UNSAFE);
    }
    static const mode_t safe[] = {0600, 0644, 0755, 0640};
    for (size_t i = 0; i < LEN(safe); ++i) {
        JSCOPED_TRACE("mode %o", (unsigned)safe[i]);
        JASSERT_EQ(chmod(sample.path, safe[i]), 0);
        EXPECT_REFUSED(&sample, JSTATUS_SUCCESS, JSTATUS_SUCCESS);
    }
    /* A link to a segment is refused as well, also one to this user's own. */
    SAMPLE(link_to_it, param->backend);
    JASSERT_EQ(symlink(sample.path, link_to_it.path), 0);
    EXPECT_REFUSED(&link_to_it, JSTATUS_UNSAFE, JSTATUS_UNSAFE);
}

JTEST(SegmentBacking, SocketsAndPlacesInsideFilesAreRefused) {
    SAMPLE(sample, JSEGMENT_FILE);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s", sample.path);
    const int socket_end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    JEXPECT_EQ(bind(socket_end, (struct sockaddr *)&address, sizeof address), 0);
    EXPECT_REFUSED(&sample, JSTATUS_UNSAFE, JSTATUS_UNSAFE);
    strcat(sample.name, "/inside");
    EXPECT_REFUSED(&sample, JSTATUS_NOT_FOUND, JSTATUS_NOT_FOUND);
    close(socket_end);
    /* Never opened, for opening it could do something. */
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx"};
    for (size_t i = 0; i < LEN(devices); ++i) {
        SAMPLE(device, JSEGMENT_FILE);
        snprintf(device.name, sizeof device.name, "%s", devices[i]);
        if (access(devices[i], F_OK) == 0)
            EXPECT_REFUSED(&device, JSTATUS_UNSAFE, JSTATUS_UNSAFE);
    }
}

JTEST(SegmentBacking, FifoIsNotOpened) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_EQ(mkfifo(sample.path, 0600), 0);
    const int reader = open(sample.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_REFUSED(&sample, JSTATUS_UNSAFE, JSTATUS_UNSAFE);
    /* Once a writer had come and gone, a reader would be told of its end. */
    struct pollfd waiting = {.fd = reader, .events = POLLIN};
    JEXPECT_EQ(poll(&waiting, 1, 0), 0);
    close(reader);
}

JTEST_P_NAMED(SegmentBacking, FileOfAnotherUserIsRefused, backing_kind_t, named_kinds,
              backing_kind_name) {
    if (geteuid() != 0)
        JSKIP("only the superuser can give files away");
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    JASSERT_EQ(chown(sample.path, NOBODY, (gid_t)-1), 0);
    EXPECT_REFUSED(&sample, JSTATUS_UNSAFE, JSTATUS_UNSAFE);
    JEXPECT_SUBSTR(jstatus_last_message(), "65534");
    /* The group does not matter, as long as it may not write. */
    JASSERT_EQ(chown(sample.path, 0, NOBODY), 0);
    EXPECT_REFUSED(&sample, JSTATUS_SUCCESS, JSTATUS_SUCCESS);
}

static void as_nobody(void *argument) {
    sample_t *sample = argument;
    if (geteuid() == 0 && seteuid(NOBODY) != 0)
        return;
    EXPECT_REFUSED(sample, JSTATUS_PERMISSION, JSTATUS_PERMISSION);
    SAMPLE(other, JSEGMENT_FILE);
    snprintf(other.name, sizeof other.name, "/proc/segment"); /* where nobody can make a file */
    JEXPECT_NE(sample_create(&other), JSTATUS_SUCCESS);
    if (access("/", W_OK) != 0) {
        snprintf(other.name, sizeof other.name, "/jalloc-segment");
        JEXPECT_STATUS(sample_create(&other), JSTATUS_PERMISSION);
    }
}

JTEST(SegmentBacking, WhatTheSystemDeniesIsPermission) {
    SAMPLE(sample, JSEGMENT_POSIX);
    JASSERT_OK(sample_create_and_publish(&sample));
    JASSERT_EQ(chmod(sample.path, 0), 0);
    if (geteuid() == 0)
        JASSERT_EQ(chown(sample.path, NOBODY, (gid_t)-1), 0);
    jtest_in_child(20, as_nobody, &sample);
}

JTEST_P_NAMED(SegmentBacking, BytesThatAreNoWholeSegmentAreRefused, backing_kind_t, file_kinds,
              backing_kind_name) {
    SAMPLE(sample, param->backend);
    if (param->backend == JSEGMENT_MEMFD) {
        sample.backing =
            (shm_backing_t){.descriptor = memfd_create("test", MFD_CLOEXEC), .has_file = true};
        JASSERT_EQ(fchmod(sample.backing.descriptor, 0600), 0);
    } else {
        sample.backing.descriptor = open(sample.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    }
    const int file = sample.backing.descriptor;
    EXPECT_REFUSED(&sample, JSTATUS_NOT_A_SEGMENT, JSTATUS_NOT_A_SEGMENT); /* empty */
    JASSERT_EQ(pwrite(file, "jalloc", 6, 0), 6);
    EXPECT_REFUSED(&sample, JSTATUS_NOT_A_SEGMENT, JSTATUS_NOT_A_SEGMENT); /* part of the magic */
    JASSERT_EQ(pwrite(file, SHM_MAGIC, 8, 0), 8);
    EXPECT_REFUSED(&sample, JSTATUS_TRUNCATED, JSTATUS_SUCCESS);

    shm_constants_t sound;
    JASSERT_TRUE(shm_constants_make(&sound, SAMPLE_BYTES, SAMPLE_MAX_BYTES, 64, true));
    JASSERT_EQ(pwrite(file, &sound, sizeof sound - 1, 0), sizeof sound - 1);
    EXPECT_REFUSED(&sample, JSTATUS_TRUNCATED, JSTATUS_SUCCESS);
    JASSERT_EQ(pwrite(file, &sound, sizeof sound, 0), sizeof sound);
    EXPECT_REFUSED(&sample, JSTATUS_TRUNCATED, JSTATUS_SUCCESS); /* the header alone */
    const off_t bookkeeping = (off_t)(sound.first_page << 12);
    JASSERT_EQ(ftruncate(file, bookkeeping + 4095), 0);
    EXPECT_REFUSED(&sample, JSTATUS_TRUNCATED, JSTATUS_SUCCESS);
    JASSERT_EQ(ftruncate(file, bookkeeping + 4096), 0);
    EXPECT_REFUSED(&sample, JSTATUS_SUCCESS, JSTATUS_SUCCESS);

    for (size_t byte = 0; byte < sizeof sound; ++byte) {
        JSCOPED_TRACE("byte %zu", byte);
        const unsigned char changed = ((unsigned char *)&sound)[byte] ^ 0x41;
        JASSERT_EQ(pwrite(file, &changed, 1, (off_t)byte), 1);
        if (byte < 8)
            EXPECT_REFUSED(&sample, JSTATUS_NOT_A_SEGMENT, JSTATUS_NOT_A_SEGMENT);
        else if (byte < offsetof(shm_constants_t, max_pages))
            EXPECT_REFUSED(&sample, JSTATUS_INCOMPATIBLE, JSTATUS_INCOMPATIBLE);
        else
            EXPECT_REFUSED(&sample, JSTATUS_CORRUPTED, JSTATUS_SUCCESS);
        JASSERT_EQ(pwrite(file, (unsigned char *)&sound + byte, 1, (off_t)byte), 1);
        if (jtest_has_failure())
            return;
    }
    shm_constants_t other = sound;
    other.boot_id[0] ^= 1;
    other.checksum = checksum_of(&other);
    JASSERT_EQ(pwrite(file, &other, sizeof other, 0), sizeof other);
    EXPECT_REFUSED(&sample, JSTATUS_STALE, JSTATUS_SUCCESS);
    /* Made over an array: its slots are not told by locks of a file. */
    other = sound;
    other.has_file = 0;
    other.checksum = checksum_of(&other);
    JASSERT_EQ(pwrite(file, &other, sizeof other, 0), sizeof other);
    EXPECT_REFUSED(&sample, JSTATUS_INCOMPATIBLE, JSTATUS_INCOMPATIBLE);
}

JTEST(SegmentBacking, FileMappedAsAnArrayIsIncompatible) {
    SAMPLE(sample, JSEGMENT_FILE);
    JASSERT_OK(sample_create_and_publish(&sample));
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_ARRAY;
    options.array = sample.backing.base;
    options.size_bytes = SAMPLE_BYTES;
    shm_constants_t c;
    shm_backing_t attached;
    JEXPECT_STATUS(shm_backing_attach(&options, &c, &attached), JSTATUS_INCOMPATIBLE);
}

JTEST(SegmentBacking, DescriptorsOfOtherThingsAreRefused) {
    int ends[2];
    JASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
              null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int loose = memfd_create("loose", MFD_CLOEXEC); /* its mode lets everybody write */
    const struct {
        int descriptor;
        jstatus_t status;
    } cases[] = {{-1, JSTATUS_INVALID_VALUE}, {1 << 20, JSTATUS_INVALID_VALUE},
                 {ends[0], JSTATUS_UNSAFE},   {ends[1], JSTATUS_UNSAFE},
                 {directory, JSTATUS_UNSAFE}, {null, JSTATUS_UNSAFE},
                 {loose, JSTATUS_UNSAFE}};
    for (size_t i = 0; i < LEN(cases); ++i) {
        JSCOPED_TRACE("case %zu", i);
        SAMPLE(sample, JSEGMENT_MEMFD);
        sample.options.descriptor = cases[i].descriptor;
        shm_constants_t c;
        shm_backing_t attached;
        JEXPECT_STATUS(shm_backing_attach(&sample.options, &c, &attached), cases[i].status);
    }
    close(ends[0]);
    close(ends[1]);
    close(directory);
    close(null);
    close(loose);
}

/* ---- Removing ---- */

JTEST_P_NAMED(SegmentBacking, OnlyItsOwnNameIsTakenAway, backing_kind_t, named_kinds,
              backing_kind_name) {
    SAMPLE(sample, param->backend);
    JASSERT_OK(sample_create_and_publish(&sample));
    ATTACHED(found);
    JASSERT_OK(shm_backing_find(param->backend, sample.name, &found));
    JEXPECT_OK(shm_backing_unlink(&found));
    JEXPECT_EQ(sample_file_count(&sample), 0);
    JEXPECT_STATUS(shm_backing_unlink(&found), JSTATUS_NOT_FOUND);
    /* Another one of the same name stays. */
    sample_t next = sample;
    next.backing = (shm_backing_t){.descriptor = -1};
    JASSERT_OK(sample_create_and_publish(&next));
    JEXPECT_STATUS(shm_backing_unlink(&found), JSTATUS_NOT_FOUND);
    JEXPECT_EQ(sample_file_count(&sample), 1);
    JEXPECT_OK(shm_backing_unlink(&next.backing));
    shm_backing_close(&next.backing);
    sample.backing.base[SAMPLE_BYTES - 1] = 1; /* those who have it mapped keep it */
}
