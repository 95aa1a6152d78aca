/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_SEGMENT_HELPER_H
#define JALLOC_CLIENTS_GTEST_SEGMENT_HELPER_H

/* What tests of segments share: places for segments, other processes, and the books.
 *
 * A place is somewhere a segment can be: a name, a path, a descriptor, an array. Whatever a test
 * leaves there goes when the place does, also when a check returned from the test; names that a
 * crashed run left go when the next one begins.
 *
 *     PLACE(place, JSEGMENT_POSIX, MIB, 0);
 *     jsegment_t *segment = place_create(&place);
 *
 * A peer is another process: a function that runs in a forked child and exchanges steps with the
 * test.
 *
 *     PEER(peer, work, &place);       in the child: work(self, &place)
 *     peer_await(&peer);              until it has called peer_tell(self)
 *     peer_kill(&peer);               or peer_end(&peer), which expects that its checks held
 *
 * segment_books() is the check that everything else rests on: the segment verifies, its extents
 * follow each other without a gap, and the five kinds of bytes add up, by what visit shows and by
 * what the statistics say. */

#include "jtest.h"

#include "jalloc/segment.h"

#include <sys/types.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- Places ---- */

typedef struct place {
    jsegment_options_t options; /* to create with, and to attach with */
    char name[128];
    char path[160]; /* of the file behind the name; "": there is none */
    void *array;
    size_t array_bytes;
    pid_t owner; /* a child that leaves the scope does not end its parent's place */
} place_t;

void place_begin(place_t *place, jsegment_backend_t backend, size_t size_bytes, size_t max_bytes);
void place_end(place_t *place);
#define PLACE(place, backend, size_bytes, max_bytes)                                               \
    __attribute__((cleanup(place_end))) place_t place;                                             \
    place_begin(&place, backend, size_bytes, max_bytes)

/* Creates the segment and sees to it that place_attach() finds it. NULL: a failure has been noted,
 * as for the others. */
jsegment_t *place_create(place_t *place);
jsegment_t *place_attach(const place_t *place);
jsegment_t *place_attach_reading(const place_t *place);

/* Every backend, and those that other processes can attach to: rows of tests that run over each. */
typedef struct backend_row {
    const char *label;
    jsegment_backend_t backend;
} backend_row_t;
#define SHARED_BACKENDS                                                                            \
    {"posix", JSEGMENT_POSIX}, {"memfd", JSEGMENT_MEMFD}, {"file", JSEGMENT_FILE}, {               \
        "array", JSEGMENT_ARRAY                                                                    \
    }
#define ALL_BACKENDS {"private", JSEGMENT_PRIVATE}, SHARED_BACKENDS
void backend_label(const void *parameter, char *name);

/* ---- Peers ---- */

typedef struct peer {
    pid_t pid;
    int to, from; /* pipes of steps */
} peer_t;
typedef void (*peer_work_t)(peer_t *self, void *argument);

void peer_start(peer_t *peer, peer_work_t work, void *argument);
void peer_cleanup(peer_t *peer);
#define PEER(peer, work, argument)                                                                 \
    __attribute__((cleanup(peer_cleanup))) peer_t peer;                                            \
    peer_start(&peer, work, argument)

/* One step to the other side. */
void peer_tell(peer_t *peer);
/* Waits for one; false (a failure) where it does not come. */
bool peer_await(peer_t *peer);
/* Waits for the peer's end; its exit status, or 128 and the signal's number. */
int peer_wait(peer_t *peer);
void peer_end(peer_t *peer);  /* waits; its checks must have held */
void peer_kill(peer_t *peer); /* kill -9, and waits until it is gone */
/* In a peer: until it is killed. */
void peer_stay(peer_t *self);

/* ---- The books ---- */

jsegment_stats_t segment_stats(jsegment_t *segment);
/* Looks at everything while nobody else works in the segment; gives the statistics. */
jsegment_stats_t segment_books(jsegment_t *segment);
/* The same, and nothing is allocated. */
void segment_expect_empty(jsegment_t *segment);
/* Bytes that anybody could get, now or after caches have been given back. */
static inline size_t segment_spare_bytes(const jsegment_stats_t *stats) {
    return stats->free_bytes + stats->cached_bytes;
}
jsegment_process_t segment_process(jsegment_t *segment, unsigned slot);

/* ---- Calls that are expected to succeed ---- */

jshared_t *shared_make(jsegment_t *segment, uint64_t id);
jshared_t *shared_make_kind(jsegment_t *segment, uint64_t id, jshared_kind_t kind, size_t bytes);
jshared_t *shared_open(jsegment_t *segment, uint64_t id);
joffset_t shared_take(jshared_t *shared, size_t size_bytes);
unsigned char *shared_bytes(jshared_t *shared, joffset_t offset, size_t size_bytes);
unsigned shared_owner(jshared_t *shared, joffset_t offset);
size_t shared_usable(jshared_t *shared, joffset_t offset);
/* Whether an offset is the beginning of a live block. */
bool shared_is_live(jshared_t *shared, joffset_t offset);
/* Allocates blocks of one size until there is no more; how many. The offsets fill `offsets` up to
 * `capacity`. */
size_t shared_take_all(jshared_t *shared, size_t size_bytes, joffset_t offsets[], size_t capacity);

#endif
