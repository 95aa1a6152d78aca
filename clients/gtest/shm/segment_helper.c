/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "segment_helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Places ---- */

#define PREFIX "jalloc-test-" /* then the process and a count */

static const char *temporary_folder(void) {
    const char *folder = getenv("TMPDIR");
    return folder != NULL && strlen(folder) < 80 ? folder : "/tmp";
}

/* Takes away what runs that are no more left. */
static void sweep(const char *folder) {
    DIR *listing = opendir(folder);
    for (const struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        long pid;
        unsigned number;
        if (sscanf(entry->d_name, PREFIX "%ld-%u", &pid, &number) == 2 &&
            kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(listing), entry->d_name, 0);
    }
    if (listing != NULL)
        closedir(listing);
}

void place_begin(place_t *place, jsegment_backend_t backend, size_t size_bytes, size_t max_bytes) {
    static unsigned count;
    if (count == 0) {
        sweep("/dev/shm");
        sweep(temporary_folder());
    }
    memset(place, 0, sizeof *place);
    place->options = (jsegment_options_t)JSEGMENT_OPTIONS_INIT;
    place->options.backend = backend;
    place->options.size_bytes = size_bytes;
    place->options.max_bytes = max_bytes;
    place->owner = getpid();
    if (backend == JSEGMENT_POSIX) {
        snprintf(place->name, sizeof place->name, "/" PREFIX "%ld-%u", (long)getpid(), ++count);
        snprintf(place->path, sizeof place->path, "/dev/shm%s", place->name);
        place->options.name = place->name;
    } else if (backend == JSEGMENT_FILE) {
        snprintf(place->name, sizeof place->name, "%s/" PREFIX "%ld-%u", temporary_folder(),
                 (long)getpid(), ++count);
        snprintf(place->path, sizeof place->path, "%s", place->name);
        place->options.name = place->name;
    } else if (backend == JSEGMENT_ARRAY) {
        /* At a multiple of a large power of two, so that alignments above a page can be had. */
        enum { ALIGNMENT = 1 << 20 };
        char *base = mmap(NULL, size_bytes + ALIGNMENT, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED) {
            JFAIL("no array of %zu bytes", size_bytes);
            return;
        }
        const size_t head = -(uintptr_t)base % ALIGNMENT;
        if (head > 0)
            munmap(base, head);
        place->array = base + head;
        place->array_bytes = size_bytes + ALIGNMENT - head;
        place->options.array = place->array;
        place->options.max_bytes = 0; /* an array does not grow */
    }
}

void place_end(place_t *place) {
    if (place->owner != getpid())
        return;
    if (place->options.descriptor >= 0)
        close(place->options.descriptor);
    if (place->array != NULL)
        munmap(place->array, place->array_bytes);
    if (place->path[0] != '\0')
        unlink(place->path);
}

jsegment_t *place_create(place_t *place) {
    jsegment_t *segment = NULL;
    JEXPECT_OK(jsegment_create(&place->options, &segment));
    if (segment != NULL && place->options.backend == JSEGMENT_MEMFD)
        JEXPECT_OK(jsegment_export(segment, &place->options.descriptor));
    return segment;
}
jsegment_t *place_attach(const place_t *place) {
    jsegment_t *segment = NULL;
    JEXPECT_OK(jsegment_attach(&place->options, &segment));
    return segment;
}
jsegment_t *place_attach_reading(const place_t *place) {
    jsegment_options_t options = place->options;
    jsegment_t *segment = NULL;
    options.read_only = true;
    JEXPECT_OK(jsegment_attach(&options, &segment));
    return segment;
}

void backend_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const backend_row_t *)parameter)->label);
}

/* ---- Peers ---- */

#define PEER_TIMEOUT_S 500 /* a guard against hanging for ever, not an aim */

void peer_tell(peer_t *peer) {
    const unsigned char byte = 1;
    if (write(peer->to, &byte, 1) != 1)
        JFAIL("the other side of a peer is gone");
}
bool peer_await(peer_t *peer) {
    unsigned char byte;
    struct pollfd wait = {peer->from, POLLIN, 0};
    if (poll(&wait, 1, PEER_TIMEOUT_S * 1000) == 1 && read(peer->from, &byte, 1) == 1)
        return true;
    JFAIL("a step of a peer did not come");
    return false;
}
void peer_stay(peer_t *self) {
    (void)self;
    for (;;)
        pause();
}

void peer_start(peer_t *peer, peer_work_t work, void *argument) {
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        JFAIL("no pipe");
    fflush(NULL);
    peer->pid = fork();
    if (peer->pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(PEER_TIMEOUT_S);
        close(down[1]);
        close(up[0]);
        peer_t self = {0, up[1], down[0]};
        const uint64_t before = jtest_failure_count();
        work(&self, argument);
        fflush(NULL);
        _exit(jtest_failure_count() == before ? 0 : 1);
    }
    close(down[0]);
    close(up[1]);
    peer->to = down[1];
    peer->from = up[0];
    if (peer->pid < 0)
        JFAIL("no child");
}
int peer_wait(peer_t *peer) {
    int status = 0, result = -1;
    if (peer->pid <= 0)
        return result;
    if (waitpid(peer->pid, &status, 0) == peer->pid)
        result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    peer->pid = 0;
    close(peer->to);
    close(peer->from);
    return result;
}
void peer_end(peer_t *peer) { JEXPECT_EQ(peer_wait(peer), 0); }
void peer_kill(peer_t *peer) {
    kill(peer->pid, SIGKILL);
    JEXPECT_EQ(peer_wait(peer), 128 + SIGKILL);
}
void peer_cleanup(peer_t *peer) {
    if (peer->pid <= 0)
        return;
    kill(peer->pid, SIGKILL);
    (void)peer_wait(peer);
}

/* ---- The books ---- */

jsegment_stats_t segment_stats(jsegment_t *segment) {
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    JEXPECT_OK(jsegment_get_stats(segment, &stats));
    JEXPECT_EQ(stats.metadata_bytes + stats.owned_bytes + stats.given_bytes + stats.cached_bytes +
                   stats.free_bytes,
               stats.size_bytes);
    return stats;
}

typedef struct sums {
    joffset_t next; /* where the next extent must begin */
    size_t block_bytes, cached_bytes, free_bytes, free_extents, largest_free_bytes;
    bool gap, free_neighbours;
    jextent_state_t last;
} sums_t;
static bool add_extent(void *context, const jextent_t *extent) {
    sums_t *sums = context;
    sums->gap |=
        extent->offset != sums->next || extent->size_bytes == 0 || extent->size_bytes % 4096 != 0;
    sums->free_neighbours |= extent->state == JEXTENT_FREE && sums->last == JEXTENT_FREE;
    sums->next = extent->offset + extent->size_bytes;
    sums->last = extent->state;
    if (extent->state == JEXTENT_FREE) {
        sums->free_bytes += extent->size_bytes;
        ++sums->free_extents;
        if (extent->size_bytes > sums->largest_free_bytes)
            sums->largest_free_bytes = extent->size_bytes;
    } else if (extent->state == JEXTENT_BLOCK) {
        sums->block_bytes += extent->size_bytes;
    } else if (extent->state == JEXTENT_CACHED) {
        sums->cached_bytes += extent->size_bytes;
    } else if (extent->state == JEXTENT_SLAB) {
        sums->block_bytes += extent->live_count * extent->block_bytes;
        sums->cached_bytes += (extent->block_count - extent->live_count) * extent->block_bytes;
    }
    return true;
}

jsegment_stats_t segment_books(jsegment_t *segment) {
    const jsegment_stats_t stats = segment_stats(segment);
    sums_t sums = {.last = JEXTENT_HEADER};
    JEXPECT_OK(jsegment_verify(segment));
    JEXPECT_OK(jsegment_visit(segment, add_extent, &sums));
    JEXPECT_FALSE(stats.poisoned);
    JEXPECT_FALSE(sums.gap);
    JEXPECT_FALSE(sums.free_neighbours);
    JEXPECT_EQ(sums.next, stats.size_bytes);
    JEXPECT_EQ(sums.block_bytes, stats.owned_bytes + stats.given_bytes);
    JEXPECT_EQ(sums.cached_bytes, stats.cached_bytes);
    JEXPECT_EQ(sums.free_bytes, stats.free_bytes);
    JEXPECT_EQ(sums.free_extents, stats.free_extents);
    JEXPECT_EQ(sums.largest_free_bytes, stats.largest_free_bytes);
    size_t owned_bytes = 0;
    unsigned attached = 0;
    for (unsigned slot = 1; slot <= stats.max_processes; ++slot) {
        const jsegment_process_t process = segment_process(segment, slot);
        owned_bytes += process.owned_bytes;
        attached += process.attached;
    }
    JEXPECT_EQ(owned_bytes, stats.owned_bytes);
    JEXPECT_EQ(attached, stats.processes);
    return stats;
}

void segment_expect_empty(jsegment_t *segment) {
    const jsegment_stats_t stats = segment_books(segment);
    JEXPECT_EQ(stats.owned_bytes, 0);
    JEXPECT_EQ(stats.given_bytes, 0);
}

jsegment_process_t segment_process(jsegment_t *segment, unsigned slot) {
    jsegment_process_t process = JSEGMENT_PROCESS_INIT;
    JEXPECT_OK(jsegment_get_process(segment, slot, &process));
    return process;
}

/* ---- Calls that are expected to succeed ---- */

jshared_t *shared_make_kind(jsegment_t *segment, uint64_t id, jshared_kind_t kind, size_t bytes) {
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    jshared_t *shared = NULL;
    options.kind = kind;
    options.page_bytes = kind == JSHARED_PAGES ? bytes : 0;
    options.region_bytes = kind == JSHARED_STACK ? bytes : 0;
    JEXPECT_OK(jshared_create(segment, id, &options, &shared));
    return shared;
}
jshared_t *shared_make(jsegment_t *segment, uint64_t id) {
    return shared_make_kind(segment, id, JSHARED_GENERAL, 0);
}
jshared_t *shared_open(jsegment_t *segment, uint64_t id) {
    jshared_t *shared = NULL;
    JEXPECT_OK(jshared_open(segment, id, &shared));
    return shared;
}
joffset_t shared_take(jshared_t *shared, size_t size_bytes) {
    joffset_t offset = JOFFSET_NULL;
    JEXPECT_OK(jshared_allocate(shared, size_bytes, 0, &offset));
    return offset;
}
unsigned char *shared_bytes(jshared_t *shared, joffset_t offset, size_t size_bytes) {
    unsigned char *bytes = jsegment_pointer(jshared_segment(shared), offset, size_bytes);
    JEXPECT_NOT_NULL(bytes);
    return bytes;
}
unsigned shared_owner(jshared_t *shared, joffset_t offset) {
    unsigned owner = 0;
    JEXPECT_OK(jshared_describe(shared, offset, NULL, &owner));
    return owner;
}
size_t shared_usable(jshared_t *shared, joffset_t offset) {
    size_t usable = 0;
    JEXPECT_OK(jshared_describe(shared, offset, &usable, NULL));
    return usable;
}
bool shared_is_live(jshared_t *shared, joffset_t offset) {
    const jstatus_t status = jshared_describe(shared, offset, NULL, NULL);
    if (status != JSTATUS_SUCCESS)
        JEXPECT_STATUS(status, JSTATUS_NOT_FOUND);
    return status == JSTATUS_SUCCESS;
}
size_t shared_take_all(jshared_t *shared, size_t size_bytes, joffset_t offsets[], size_t capacity) {
    for (size_t count = 0; count < capacity; ++count) {
        const jstatus_t status = jshared_allocate(shared, size_bytes, 0, &offsets[count]);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_EQ(offsets[count], JOFFSET_NULL);
            return count;
        }
    }
    JFAIL("memory does not run out");
    return capacity;
}
