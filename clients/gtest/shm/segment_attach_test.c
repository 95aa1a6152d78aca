/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Attaching: whatever is not a sound segment of ours is refused, each with its own status;
 * attachments for reading alone; descriptors that go from process to process. */

#include "segment_helper.h"

#include "shm/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const backend_row_t shared_backends[] = {SHARED_BACKENDS};
#define EACH_SHARED_BACKEND(name)                                                                  \
    JTEST_P_NAMED(SegmentAttach, name, backend_row_t, shared_backends, backend_label)

/* Changes bytes of a segment that nobody is attached to. */
static void poke(const place_t *place, size_t offset, const void *bytes, size_t count) {
    if (place->array != NULL) {
        memcpy((char *)place->array + offset, bytes, count);
        return;
    }
    const int file = place->path[0] != '\0' ? open(place->path, O_WRONLY | O_CLOEXEC)
                                            : dup(place->options.descriptor);
    JEXPECT_EQ(pwrite(file, bytes, count, (off_t)offset), count);
    close(file);
}

static void expect_refused(const place_t *place, jstatus_t expected) {
    for (int reading = 0; reading < 2; ++reading) {
        jsegment_options_t options = place->options;
        jsegment_t *segment = NULL;
        options.read_only = reading;
        JEXPECT_STATUS(jsegment_attach(&options, &segment), expected);
        JEXPECT_NULL(segment);
        JEXPECT_GT(strlen(jstatus_last_message()), 10);
    }
}

static void create_and_detach(place_t *place) {
    jsegment_t *segment = place_create(place);
    JEXPECT_NOT_NULL(segment);
    shared_make(segment, 1);
    JEXPECT_OK(jsegment_detach(segment));
}

JTEST(SegmentAttach, OptionsAreChecked) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    create_and_detach(&place);
    jsegment_t *segment = NULL;
    jsegment_options_t options = place.options;
    JEXPECT_STATUS(jsegment_attach(NULL, &segment), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_attach(&options, NULL), JSTATUS_INVALID_POINTER);
    options.struct_size = 16;
    JEXPECT_STATUS(jsegment_attach(&options, &segment), JSTATUS_INVALID_VALUE);
    options = place.options;
    options.backend = (jsegment_backend_t)9;
    JEXPECT_STATUS(jsegment_attach(&options, &segment), JSTATUS_INVALID_VALUE);
    options.backend = JSEGMENT_PRIVATE; /* memory of one process is nobody else's */
    JEXPECT_STATUS(jsegment_attach(&options, &segment), JSTATUS_INVALID_VALUE);
    options.backend = JSEGMENT_MEMFD;
    JEXPECT_STATUS(jsegment_attach(&options, &segment), JSTATUS_INVALID_VALUE); /* descriptor -1 */
    options.descriptor = 1023;
    JEXPECT_STATUS(jsegment_attach(&options, &segment), JSTATUS_INVALID_VALUE);
    options = place.options;
    options.threads = (jallocator_threads_t)99;
    JEXPECT_STATUS(jsegment_attach(&options, &segment), JSTATUS_INVALID_VALUE);
    options = place.options;
    options.size_bytes = options.max_bytes = 0; /* sizes are the segment's own */
    options.max_processes = 0;
    JASSERT_OK(jsegment_attach(&options, &segment));
    JEXPECT_EQ(segment_books(segment).size_bytes, MIB);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SegmentAttach, NoSuchName) {
    PLACE(posix, JSEGMENT_POSIX, MIB, 0);
    PLACE(file, JSEGMENT_FILE, MIB, 0);
    expect_refused(&posix, JSTATUS_NOT_FOUND);
    expect_refused(&file, JSTATUS_NOT_FOUND);
}

/* ---- What is not safe ---- */

static void attach_as_nobody(peer_t *self, void *argument) {
    (void)self;
    const place_t *place = argument;
    JASSERT_EQ(setgid(65534), 0);
    JASSERT_EQ(setuid(65534), 0);
    expect_refused(place, JSTATUS_UNSAFE); /* another user's */
    JEXPECT_STATUS(jsegment_remove(place->options.backend, place->name, JSEGMENT_REMOVE_ALWAYS),
                   JSTATUS_UNSAFE);
    PLACE(own, place->options.backend, MIB, 0);
    char folder[sizeof own.path];
    snprintf(folder, sizeof folder, "%s", own.path);
    *strrchr(folder, '/') = '\0';
    if (access(folder, W_OK) != 0)
        return; /* a /dev/shm that is no mount point is root's alone */
    create_and_detach(&own);
    JASSERT_EQ(chmod(own.path, 0), 0);
    expect_refused(&own, JSTATUS_PERMISSION);
}
JTEST(SegmentAttach, WhatIsAnotherUsersOrUnreadable) {
    if (geteuid() != 0)
        JSKIP("only root can become another user");
    static const jsegment_backend_t backends[] = {JSEGMENT_POSIX, JSEGMENT_FILE};
    for (size_t i = 0; i < COUNT_OF(backends); ++i) {
        PLACE(place, backends[i], MIB, 0);
        create_and_detach(&place);
        PEER(peer, attach_as_nobody, &place);
        peer_end(&peer);
    }
}

JTEST(SegmentAttach, WhatOthersCouldWriteIsUnsafe) {
    PLACE(place, JSEGMENT_POSIX, MIB, 0);
    create_and_detach(&place);
    static const mode_t modes[] = {0666, 0620, 0602, 0660, 0777};
    for (size_t i = 0; i < COUNT_OF(modes); ++i) {
        JASSERT_EQ(chmod(place.path, modes[i]), 0);
        expect_refused(&place, JSTATUS_UNSAFE);
    }
    JASSERT_EQ(chmod(place.path, 0644), 0); /* others may read */
    jsegment_t *segment = place_attach(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_OK(jsegment_detach(segment));
    if (geteuid() == 0) {
        JASSERT_EQ(chown(place.path, 65534, 65534), 0);
        expect_refused(&place, JSTATUS_UNSAFE);
    }
}

JTEST(SegmentAttach, WhatIsNoRegularFileIsUnsafe) {
    PLACE(target, JSEGMENT_FILE, MIB, 0);
    create_and_detach(&target);
    PLACE(link, JSEGMENT_FILE, MIB, 0);
    JASSERT_EQ(symlink(target.path, link.path), 0);
    expect_refused(&link, JSTATUS_UNSAFE);
    JASSERT_EQ(unlink(link.path), 0);
    JASSERT_EQ(mkfifo(link.path, 0600), 0); /* opening one must not wait for its other end */
    expect_refused(&link, JSTATUS_UNSAFE);
    JASSERT_EQ(unlink(link.path), 0);
    JASSERT_EQ(mkdir(link.path, 0700), 0);
    expect_refused(&link, JSTATUS_UNSAFE);
    JASSERT_EQ(rmdir(link.path), 0);
    link.options.name = "/dev/null";
    expect_refused(&link, JSTATUS_UNSAFE);
    int ends[2];
    JASSERT_EQ(pipe(ends), 0);
    PLACE(pipe_end, JSEGMENT_MEMFD, MIB, 0);
    pipe_end.options.descriptor = ends[0];
    expect_refused(&pipe_end, JSTATUS_UNSAFE);
    close(ends[1]);
}

/* ---- What is not a segment ---- */

EACH_SHARED_BACKEND(BytesOfAnotherKindAreNoSegment) {
    static const size_t sizes[] = {0, 1, 8, 100, 4095, 4096, 65536, 100001};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        JSCOPED_TRACE("%zu bytes", sizes[i]);
        PLACE(place, param->backend, 128 * KIB, 0);
        unsigned char bytes[512];
        for (int text = 0; text < 2; ++text) {
            memset(bytes, text ? 'x' : 0, sizeof bytes);
            if (param->backend == JSEGMENT_ARRAY) {
                place.options.size_bytes = sizes[i];
                memset(place.array, bytes[0], 128 * KIB);
            } else {
                const int file =
                    param->backend == JSEGMENT_MEMFD
                        ? memfd_create("none", MFD_CLOEXEC)
                        : open(place.path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
                JASSERT_GE(file, 0);
                JASSERT_EQ(fchmod(file, 0600), 0);
                for (size_t done = 0; done < sizes[i]; done += sizeof bytes)
                    JASSERT_EQ(
                        write(file, bytes,
                              sizes[i] - done < sizeof bytes ? sizes[i] - done : sizeof bytes),
                        sizes[i] - done < sizeof bytes ? sizes[i] - done : sizeof bytes);
                if (param->backend != JSEGMENT_MEMFD)
                    close(file);
                else if (text == 1)
                    close(place.options.descriptor);
                if (param->backend == JSEGMENT_MEMFD)
                    place.options.descriptor = file;
            }
            expect_refused(&place, JSTATUS_NOT_A_SEGMENT);
        }
    }
}

EACH_SHARED_BACKEND(AnotherLayoutIsIncompatible) {
    static const struct {
        size_t offset, bytes;
        uint64_t value;
    } rows[] = {
        {offsetof(shm_constants_t, byte_order), 4, 0x04030201},
        {offsetof(shm_constants_t, layout_version), 4, SHM_LAYOUT_VERSION + 1},
        {offsetof(shm_constants_t, page_bytes), 4, 65536},
        {offsetof(shm_constants_t, constants_bytes), 4, sizeof(shm_constants_t) + 8},
        {offsetof(shm_constants_t, features), 8, 1},
    };
    PLACE(place, param->backend, 256 * KIB, 0);
    create_and_detach(&place);
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        PLACE(changed, param->backend, 256 * KIB, 0);
        create_and_detach(&changed);
        poke(&changed, rows[i].offset, &rows[i].value, rows[i].bytes);
        expect_refused(&changed, JSTATUS_INCOMPATIBLE);
    }
    poke(&place, 0, "jallocXX", 8);
    expect_refused(&place, JSTATUS_NOT_A_SEGMENT);
}

/* Each byte of what never changes is under the checksum, or decides earlier. */
EACH_SHARED_BACKEND(AChangedConstantIsNoticed) {
    PLACE(place, param->backend, 256 * KIB, 0);
    create_and_detach(&place);
    shm_constants_t constants;
    jsegment_t *segment = place_attach(&place);
    JASSERT_NOT_NULL(segment);
    memcpy(&constants, (char *)jsegment_pointer(segment, 4096, 1) - 4096, sizeof constants);
    JEXPECT_OK(jsegment_detach(segment));
    for (size_t i = 0; i < sizeof constants; ++i) {
        JSCOPED_TRACE("byte %zu", i);
        const unsigned char was = ((unsigned char *)&constants)[i];
        const unsigned char other = was ^ (unsigned char)(1u << (i % 8));
        poke(&place, i, &other, 1);
        jsegment_t *attached = NULL;
        const jstatus_t status = jsegment_attach(&place.options, &attached);
        JEXPECT_TRUE(status == (i < 8    ? JSTATUS_NOT_A_SEGMENT
                                : i < 32 ? JSTATUS_INCOMPATIBLE
                                         : JSTATUS_CORRUPTED));
        JEXPECT_NULL(attached);
        poke(&place, i, &was, 1);
    }
    segment = place_attach(&place);
    JASSERT_NOT_NULL(segment);
    segment_books(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

EACH_SHARED_BACKEND(LessThanTheSegmentIsTruncated) {
    if (param->backend == JSEGMENT_MEMFD)
        JSKIP("a memfd is sealed against shrinking");
    PLACE(place, param->backend, MIB, 0);
    create_and_detach(&place);
    for (size_t size = MIB - 4096; size >= 4096;
         size = size > 65536 ? size / 2 & ~(size_t)4095 : size - 4096) {
        JSCOPED_TRACE("%zu bytes", size);
        if (param->backend == JSEGMENT_ARRAY)
            place.options.size_bytes = size;
        else
            JASSERT_EQ(truncate(place.path, (off_t)size), 0);
        expect_refused(&place, JSTATUS_TRUNCATED);
    }
}

JTEST(SegmentAttach, AMemfdCannotBeShrunk) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 2 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    JEXPECT_NE(ftruncate(place.options.descriptor, 65536), 0);
    JEXPECT_OK(jsegment_grow(segment, 2 * MIB));
    JEXPECT_NE(ftruncate(place.options.descriptor, MIB), 0);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* A file that is longer than the segment may become, and a segment that says that it is so long:
 * nobody has mapped that. */
EACH_SHARED_BACKEND(MoreThanTheLargestSizeIsCorrupted) {
    PLACE(place, param->backend, 256 * KIB, 0);
    create_and_detach(&place);
    const uint64_t totals[] = {65, 66, 1000, UINT64_MAX, 0, 1};
    if (param->backend == JSEGMENT_MEMFD)
        JASSERT_EQ(ftruncate(place.options.descriptor, 8 * MIB), 0);
    else if (param->backend != JSEGMENT_ARRAY)
        JASSERT_EQ(truncate(place.path, 8 * MIB), 0);
    for (size_t i = 0; i < COUNT_OF(totals); ++i) {
        JSCOPED_TRACE("%llu pages", (unsigned long long)totals[i]);
        poke(&place, offsetof(shm_header_t, total_pages), &totals[i], sizeof totals[i]);
        expect_refused(&place, JSTATUS_CORRUPTED);
    }
}

EACH_SHARED_BACKEND(APoisonedOneIsCorrupted) {
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *inside = place_create(&place);
    JASSERT_NOT_NULL(inside);
    jshared_t *shared = shared_make(inside, 1);
    const joffset_t offset = shared_take(shared, 100);
    JEXPECT_OK(jsegment_set_root(inside, "here", offset));
    const uint32_t poisoned = 1;
    memcpy((char *)jsegment_pointer(inside, 4096, 1) - 4096 + offsetof(shm_header_t, poisoned),
           &poisoned, 4);
    jsegment_t *segment = NULL;
    JEXPECT_STATUS(jsegment_attach(&place.options, &segment), JSTATUS_CORRUPTED);
    /* Whoever is inside may look and leave, but not change what all share. */
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    JEXPECT_OK(jsegment_get_stats(inside, &stats));
    JEXPECT_TRUE(stats.poisoned);
    JEXPECT_STATUS(jsegment_set_root(inside, "more", offset), JSTATUS_CORRUPTED);
    joffset_t large = 1;
    JEXPECT_STATUS(jshared_allocate(shared, 500000, 0, &large), JSTATUS_CORRUPTED);
    JEXPECT_EQ(large, JOFFSET_NULL);
    JEXPECT_NOT_NULL(jsegment_pointer(inside, offset, 100));
    JEXPECT_OK(jsegment_detach(inside));
    if (place.path[0] != '\0')
        JEXPECT_OK(jsegment_remove(param->backend, place.name, JSEGMENT_REMOVE_UNUSED));
}

/* A holder of the lock that lives and does not let go: here the test itself, which writes the word
 * as a holder does. */
EACH_SHARED_BACKEND(ALockThatIsNotLetGoIsBusy) {
    PLACE(place, param->backend, MIB, 0);
    place.options.max_processes = 3;
    jsegment_t *holder = place_create(&place), *segment = NULL;
    JASSERT_NOT_NULL(holder);
    place.options.timeout_ms = 50;
    segment = place_attach(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    char *base = (char *)jsegment_pointer(holder, 4096, 1) - 4096;
    shm_header_t *header = (shm_header_t *)base;
    const shm_slot_t *slot =
        (const shm_slot_t *)(base + header->constants.slots_offset) + (jsegment_slot(holder) - 1);
    __atomic_store_n(&header->lock, SHM_LOCK_WORD(jsegment_slot(holder), slot->generation),
                     __ATOMIC_SEQ_CST);
    jsegment_t *late = NULL;
    joffset_t offset;
    unsigned count;
    const double begin = jtest_now_ms();
    JEXPECT_STATUS(jsegment_attach(&place.options, &late), JSTATUS_BUSY);
    JEXPECT_GE(jtest_now_ms() - begin, 45);
    JEXPECT_STATUS(jshared_allocate(shared, 300000, 0, &offset), JSTATUS_BUSY);
    JEXPECT_STATUS(jsegment_set_root(segment, "root", 4096), JSTATUS_BUSY);
    JEXPECT_STATUS(jsegment_recover(segment, &count), JSTATUS_BUSY);
    JEXPECT_STATUS(jsegment_verify(segment), JSTATUS_BUSY);
    __atomic_store_n(&header->lock, 0, __ATOMIC_SEQ_CST);
    JEXPECT_OK(jshared_allocate(shared, 300000, 0, &offset));
    JASSERT_NOT_NULL(late = place_attach(&place)); /* the one that came in vain has left its slot */
    JEXPECT_EQ(segment_books(segment).processes, 3);
    JEXPECT_OK(jsegment_detach(late));
    JEXPECT_OK(jsegment_detach(segment));
    JEXPECT_OK(jsegment_destroy(holder));
}

/* ---- For reading alone ---- */

static void write_to(peer_t *self, void *argument) {
    (void)self;
    signal(SIGSEGV, SIG_DFL);
    *(volatile char *)argument = 1;
}
EACH_SHARED_BACKEND(ReadersSeeAndChangeNothing) {
    PLACE(place, param->backend, MIB, 2 * MIB);
    jsegment_t *writer = place_create(&place);
    JASSERT_NOT_NULL(writer);
    jshared_t *shared = shared_make(writer, 3), *other = NULL;
    const joffset_t offset = shared_take(shared, 5000);
    strcpy((char *)shared_bytes(shared, offset, 5000), "to be read");
    JEXPECT_OK(jsegment_set_root(writer, "text", offset));
    jsegment_t *reader = place_attach_reading(&place);
    JASSERT_NOT_NULL(reader);
    joffset_t found = 0;
    JEXPECT_OK(jsegment_get_root(reader, "text", &found));
    const char *text = jsegment_pointer(reader, found, 5000);
    JASSERT_NOT_NULL(text);
    JEXPECT_STREQ(text, "to be read");
    JEXPECT_EQ(segment_books(reader).processes, 1);
    jshared_t *opened = shared_open(reader, 3);
    JEXPECT_EQ(shared_owner(opened, offset), jsegment_slot(writer));
    uint64_t mark;
    JEXPECT_STATUS(jshared_create(reader, 4, NULL, &other), JSTATUS_READ_ONLY);
    JEXPECT_STATUS(jshared_allocate(opened, 10, 0, &found), JSTATUS_READ_ONLY);
    JEXPECT_EQ(found, JOFFSET_NULL);
    JEXPECT_STATUS(jshared_allocate_many(opened, 10, 0, 1, &found), JSTATUS_READ_ONLY);
    found = offset;
    JEXPECT_STATUS(jshared_deallocate(opened, offset), JSTATUS_READ_ONLY);
    JEXPECT_STATUS(jshared_deallocate_many(opened, 1, &offset), JSTATUS_READ_ONLY);
    JEXPECT_STATUS(jshared_reallocate(opened, &found, 9000, 0), JSTATUS_READ_ONLY);
    JEXPECT_EQ(found, offset);
    JEXPECT_STATUS(jshared_give(opened, offset, JSEGMENT_SLOT_SEGMENT), JSTATUS_READ_ONLY);
    JEXPECT_STATUS(jshared_get_mark(opened, &mark), JSTATUS_NOT_IMPLEMENTED);
    JEXPECT_STATUS(jsegment_set_root(reader, "more", offset), JSTATUS_READ_ONLY);
    JEXPECT_STATUS(jsegment_grow(reader, 2 * MIB), JSTATUS_READ_ONLY);
    JEXPECT_STATUS(jsegment_recover(reader, NULL), JSTATUS_READ_ONLY);
    JEXPECT_STATUS(jshared_destroy(opened), JSTATUS_READ_ONLY);
    segment_books(writer);
    if (param->backend != JSEGMENT_ARRAY) { /* the pages themselves refuse */
        PEER(peer, write_to, (void *)(uintptr_t)text);
        JEXPECT_NE(peer_wait(&peer), 0);
        JEXPECT_STREQ(text, "to be read");
    }
    if (param->backend != JSEGMENT_ARRAY) { /* what grows is seen by readers too */
        const joffset_t large = shared_take(shared, MIB + 4096);
        shared_bytes(shared, large, MIB + 4096)[MIB + 4095] = 'z';
        const char *end = jsegment_pointer(reader, large, MIB + 4096);
        JASSERT_NOT_NULL(end);
        JEXPECT_EQ(end[MIB + 4095], 'z');
        JEXPECT_EQ(segment_stats(reader).size_bytes, segment_stats(writer).size_bytes);
    }
    JEXPECT_OK(jshared_close(opened));
    JEXPECT_OK(jsegment_detach(reader));
    JEXPECT_OK(jsegment_destroy(writer));
}

/* ---- Descriptors ---- */

typedef struct passing {
    int sockets[2];
} passing_t;
static void attach_to_what_comes(peer_t *self, void *argument) {
    const passing_t *passing = argument;
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    JASSERT_EQ(recvmsg(passing->sockets[1], &message, 0), 1);
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    memcpy(&options.descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    jsegment_t *segment = NULL;
    JASSERT_OK(jsegment_attach(&options, &segment));
    close(options.descriptor);
    joffset_t offset;
    JASSERT_OK(jsegment_get_root(segment, "greeting", &offset));
    JEXPECT_STREQ((char *)jsegment_pointer(segment, offset, 6), "hello");
    strcpy(jsegment_pointer(segment, offset, 6), "world");
    peer_tell(self);
    peer_await(self);
    JEXPECT_OK(jsegment_detach(segment));
}
static const backend_row_t with_descriptors[] = {
    {"posix", JSEGMENT_POSIX}, {"memfd", JSEGMENT_MEMFD}, {"file", JSEGMENT_FILE}};
JTEST_P_NAMED(SegmentAttach, AnExportedDescriptorIsImportedElsewhere, backend_row_t,
              with_descriptors, backend_label) {
    passing_t passing;
    JASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, passing.sockets), 0);
    /* Forked before there is a segment: it inherits nothing of it. */
    PEER(peer, attach_to_what_comes, &passing);
    PLACE(place, param->backend, MIB, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    const joffset_t offset = shared_take(shared, 6);
    strcpy((char *)shared_bytes(shared, offset, 6), "hello");
    JEXPECT_OK(jsegment_set_root(segment, "greeting", offset));
    int descriptor = -1;
    JASSERT_OK(jsegment_export(segment, &descriptor));
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec io = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(control), &descriptor, sizeof(int));
    JASSERT_EQ(sendmsg(passing.sockets[0], &message, 0), 1);
    close(descriptor);
    JASSERT_TRUE(peer_await(&peer));
    JEXPECT_STREQ((char *)shared_bytes(shared, offset, 6), "world");
    JEXPECT_EQ(segment_books(segment).processes, 2);
    JEXPECT_STATUS(jsegment_destroy(segment), JSTATUS_BUSY);
    peer_tell(&peer);
    peer_end(&peer);
    JEXPECT_OK(jsegment_destroy(segment));
    close(passing.sockets[0]);
    close(passing.sockets[1]);
}

JTEST(SegmentAttach, WhatHasNoFileIsNotExported) {
    PLACE(private, JSEGMENT_PRIVATE, MIB, 0);
    PLACE(array, JSEGMENT_ARRAY, MIB, 0);
    jsegment_t *segments[2] = {place_create(&private), place_create(&array)};
    for (int i = 0; i < 2; ++i) {
        int descriptor = 77;
        JASSERT_NOT_NULL(segments[i]);
        JEXPECT_STATUS(jsegment_export(segments[i], &descriptor), JSTATUS_NOT_IMPLEMENTED);
        JEXPECT_STATUS(jsegment_export(segments[i], NULL), JSTATUS_INVALID_POINTER);
        JEXPECT_OK(jsegment_destroy(segments[i]));
    }
}

/* ---- Each call of the system fails once ---- */

static const struct failing_call {
    const char *function;
    int error;
} failing_calls[] = {
    {"mmap", ENOMEM},         {"mprotect", ENOMEM},    {"open", EIO},         {"open", EACCES},
    {"open", EMFILE},         {"fallocate", ENOSPC},   {"fallocate", EFBIG},  {"fallocate", EACCES},
    {"fallocate", EIO},       {"fallocate", EINTR},    {"fallocate", ENOSYS}, {"pwrite", EINTR},
    {"ftruncate", EIO},       {"fstat", EIO},          {"pread", EIO},        {"pread", EINTR},
    {"memfd_create", ENFILE}, {"memfd_create", EPERM}, {"linkat", EIO},       {"linkat", EEXIST},
    {"getrandom", EAGAIN},    {"fchmod", EPERM},       {"read", EIO},         {"read", EINTR},
    {"readlink", EIO},
};
static const backend_row_t failing_backends[] = {ALL_BACKENDS};

/* What was made, or was not, is whole: an error leaves nothing, a success is a segment that holds
 * together. */
static void expect_whole(jstatus_t status, jsegment_t *segment) {
    JEXPECT_EQ(segment != NULL, status == JSTATUS_SUCCESS);
    if (status == JSTATUS_SUCCESS)
        segment_books(segment);
    else
        JEXPECT_NE(jstatus_last_message()[0], '\0');
}

JTEST_P_NAMED(SegmentAttach, EachFailedCallOfTheSystemIsAStatusAndLeavesNothing, backend_row_t,
              failing_backends, backend_label) {
    for (size_t i = 0; i < COUNT_OF(failing_calls); ++i)
        for (uint64_t n = 1, failed = 1; failed != 0 && n < 40; ++n) {
            const struct failing_call *call = &failing_calls[i];
            JSCOPED_TRACE("%s number %d: error %d", call->function, (int)n, call->error);
            const bool grows = param->backend != JSEGMENT_ARRAY;
            PLACE(place, param->backend, MIB, grows ? 4 * MIB : 0);
            jsegment_t *segment = NULL, *other = NULL;
            jtest_fail_calls(call->function, n, 1, call->error);
            jstatus_t status = jsegment_create(&place.options, &segment);
            failed = jtest_calls_failed();
            JEXPECT_TRUE(failed || status == JSTATUS_SUCCESS);
            expect_whole(status, segment);
            if (segment != NULL)
                JEXPECT_OK(jsegment_destroy(segment));

            segment = place_create(&place); /* nothing that has its name was left behind */
            JASSERT_NOT_NULL(segment);
            jshared_t *shared = shared_make(segment, 1);
            if (param->backend != JSEGMENT_PRIVATE) {
                jtest_fail_calls(call->function, n, 1, call->error);
                status = jsegment_attach(&place.options, &other);
                const bool attach_failed = jtest_calls_failed();
                failed += attach_failed;
                JEXPECT_TRUE(attach_failed || status == JSTATUS_SUCCESS);
                expect_whole(status, other);
                if (other != NULL)
                    JEXPECT_OK(jsegment_detach(other));
            }
            if (grows) {
                const jsegment_stats_t before = segment_stats(segment);
                joffset_t offset = 0;
                jtest_fail_calls(call->function, n, 1, call->error);
                status = jshared_allocate(shared, 2 * MIB, 0, &offset);
                const bool growth_failed = jtest_calls_failed();
                failed += growth_failed;
                JEXPECT_TRUE(growth_failed || status == JSTATUS_SUCCESS);
                JEXPECT_EQ(offset != 0, status == JSTATUS_SUCCESS);
                if (status != JSTATUS_SUCCESS)
                    JEXPECT_EQ(segment_stats(segment).size_bytes, before.size_bytes);
                segment_books(segment);
            }
            JEXPECT_OK(jsegment_detach(segment));
        }
}

JTEST_P_NAMED(SegmentAttach, EachFailedAllocationOfBookkeepingLeavesNothing, backend_row_t,
              failing_backends, backend_label) {
    JFOR_EACH_FAILURE(i) {
        PLACE(place, param->backend, MIB, 0);
        jsegment_t *segment = NULL;
        const jstatus_t status = jsegment_create(&place.options, &segment);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        expect_whole(status, segment);
        if (segment != NULL)
            JEXPECT_OK(jsegment_destroy(segment));
    }
}

JTEST_P_NAMED(SegmentAttach, ItsOptionsAttachAgain, backend_row_t, shared_backends, backend_label) {
    PLACE(place, param->backend, MIB, 4 * MIB);
    place.options.max_processes = 7;
    place.options.timeout_ms = 1234;
    jsegment_t *segment = place_create(&place), *again = NULL;
    JASSERT_NOT_NULL(segment);
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    JEXPECT_STATUS(jsegment_get_options(NULL, &options), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jsegment_get_options(segment, NULL), JSTATUS_INVALID_POINTER);
    options.struct_size = 1;
    JEXPECT_STATUS(jsegment_get_options(segment, &options), JSTATUS_INVALID_VALUE);
    options.struct_size = sizeof options;
    JASSERT_OK(jsegment_get_options(segment, &options));
    JEXPECT_EQ(options.backend, param->backend);
    JEXPECT_EQ(options.size_bytes, segment_stats(segment).size_bytes);
    JEXPECT_EQ(options.max_bytes, segment_stats(segment).max_bytes);
    JEXPECT_EQ(options.max_processes, 7);
    JEXPECT_EQ(options.timeout_ms, 1234);
    JEXPECT_EQ(options.threads, JALLOCATOR_THREADS_SAFE);
    JEXPECT_FALSE(options.read_only);
    JASSERT_OK(jsegment_attach(&options, &again));
    shared_make(again, 1);
    JEXPECT_EQ(segment_stats(segment).processes, 2);
    JEXPECT_OK(jsegment_detach(again));

    options.read_only = true;
    options.timeout_ms = JALLOC_NONE;
    options.threads = JALLOCATOR_THREADS_NONE;
    JASSERT_OK(jsegment_attach(&options, &again));
    JASSERT_OK(jsegment_get_options(again, &options));
    JEXPECT_TRUE(options.read_only);
    JEXPECT_EQ(options.timeout_ms, JALLOC_NONE);
    JEXPECT_EQ(options.threads, JALLOCATOR_THREADS_NONE);
    JEXPECT_OK(jsegment_detach(again));
    JEXPECT_OK(jsegment_destroy(segment));
}
