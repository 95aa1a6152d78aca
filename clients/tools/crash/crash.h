/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CRASH_CRASH_H
#define JALLOC_CRASH_CRASH_H

/* What the parts of jalloc-crash share: the two sides of a point, and how they talk.
 *
 *     supervisor --forks--> survivor --forks, steps, kills--> victim
 *                              |                                 |
 *                              +------ segment, board -----------+
 *
 * The board is memory beside the segment: the victim writes down there which blocks it has, so that
 * the survivor can ask after each of them when the victim is dead. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/tool.h"
#include "engine.h"
#include "jalloc/allocator.h"
#include "jalloc/segment.h"
#include "shm/layout.h"

enum { CRASH_NOT_SUPPORTED = 77 }; /* an exit status, as test harnesses know it */

enum { RANDOM_PROCESSES = 32 };
enum { CRASH_BLOCKS = 768, CRASH_TIMEOUT_MS = 3000, CRASH_GUARD_S = 20 };

/* Ids of the allocators of every segment that is made here, and of one that scenarios make
 * themselves. */
enum { ID_GENERAL = 1, ID_PAGES = 2, ID_STACK = 3, ID_EXTRA = 9 };
#define CRASH_PAGE_BYTES 1000
#define CRASH_REGION_BYTES 32768

/* What may have become of a block once its process, or the one that was about to free it, is
 * dead. */
enum {
    BLOCK_MAY_BE_GONE = 1, /* somebody was to free it */
    BLOCK_MAY_BE_HERE = 2, /* somebody was to give it to `heir` */
    BLOCK_IS_HERE = 4      /* `heir` has it */
};
typedef struct crash_block {
    joffset_t offset;
    size_t size_bytes; /* written with the pattern of its offset */
    unsigned id;       /* of its allocator */
    unsigned heir, flags;
} crash_block_t;

typedef struct crash_board {
    volatile uint32_t phase; /* engine_phase_t */
    unsigned slot, survivor; /* slots: the victim's, the survivor's */
    size_t count;
    crash_block_t blocks[CRASH_BLOCKS];
    uint64_t numbers[4]; /* for the scenario */
    char message[256];
} crash_board_t;

/* What a check found; the worst of a point counts. */
typedef enum crash_fault { FAULT_NONE, FAULT_LEAK, FAULT_INCONSISTENT, FAULT_HANG } crash_fault_t;

typedef struct scenario scenario_t;

/* One side: survivor and victim each have their own. */
typedef struct crash {
    const scenario_t *scenario;
    crash_board_t *board;         /* the victim's */
    crash_board_t *other_board;   /* the second victim's, which recovers */
    size_t size_bytes, max_bytes; /* of the segment */
    unsigned processes;
    int descriptor; /* of the segment, without an attachment; or an array */
    void *array;
    const volatile shm_header_t *header;
    jsegment_stats_t fresh; /* nobody else attached, nothing allocated */
    size_t k;               /* the point */
    char name[64];          /* for segments with a name */
    char file[64];

    jsegment_t *segment;
    jshared_t *general, *pages, *stack;
    crash_block_t own[CRASH_BLOCKS]; /* the survivor's */
    size_t own_count;
    crash_fault_t fault;
    char message[512];
} crash_t;

enum {
    SCENARIO_FRESH = 1,       /* it makes the segment larger: a new one for each point */
    SCENARIO_GROWS = 2,       /* the segment may grow */
    SCENARIO_DETACHED = 4,    /* the victim attaches itself, or not at all */
    SCENARIO_INHERITS = 8,    /* the victim has the survivor's attachment */
    SCENARIO_ALONE = 16,      /* there is no survivor attached; `settle` is all the check */
    SCENARIO_RECOVERY = 32,   /* the victim dies at once, and who recovers is stepped and killed */
    SCENARIO_HALF_DONE = 64,  /* with RECOVERY: it dies where most is to be undone */
    SCENARIO_NO_SECOND = 128, /* nothing is to be recovered */
    SCENARIO_FILE = 256,      /* not over an array */
};
struct scenario {
    const char *name;
    unsigned flags;
    void (*before)(crash_t *crash);    /* in the survivor, before the victim attaches */
    void (*prepare)(crash_t *crash);   /* in the victim, before the operation */
    void (*meanwhile)(crash_t *crash); /* in the survivor, before the operation */
    void (*operate)(crash_t *crash);   /* in the victim: what is stepped */
    void (*settle)(crash_t *crash);    /* in the survivor, when all has been recovered */
};
extern const scenario_t scenarios[];
extern const size_t scenario_count;
const scenario_t *scenario_find(const char *name);

/* ---- books.c ---- */

/* Memory that children share, until the end of the program, which comes at once where there is
 * none. */
void *crash_share(size_t bytes);
/* Makes the segment that a scenario is played in, and what is needed to attach to it. False: a
 * fault is set. */
bool crash_make(crash_t *crash);
void crash_unmake(crash_t *crash);
/* Attaches and opens the allocators. */
jstatus_t crash_attach(crash_t *crash);
bool crash_detach(crash_t *crash);
/* The survivor's own blocks, some of each kind. */
void crash_allocate_own(crash_t *crash);
/* Everything that must hold when the victim is dead. True: the segment is as it was when it was
 * made. */
bool crash_check(crash_t *crash);
/* Notes the first fault of a point, or a worse one. */
void crash_fault(crash_t *crash, crash_fault_t fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A status that is not success is a fault: busy a hang, anything else inconsistent. */
bool crash_succeeds(crash_t *crash, jstatus_t status, const char *what);
/* Allocates of each class, and all there is of one, and frees it. page_bytes: of an allocator of
 * pages, else 0. */
bool crash_exercise(crash_t *crash, jshared_t *shared, size_t page_bytes);

/* Writes and reads the pattern of a block; another salt is another pattern. */
void crash_fill(jsegment_t *segment, joffset_t offset, size_t size_bytes, uint64_t salt);
bool crash_is_filled(jsegment_t *segment, joffset_t offset, size_t size_bytes, uint64_t salt);
/* Whether a block has what was written (without salt) where it lay before. */
bool crash_is_moved(jsegment_t *segment, joffset_t offset, size_t size_bytes, joffset_t from);

/* ---- In the victim ---- */

/* Leaves a message on the board and exits unless it is a success. */
void victim_must(crash_t *crash, jstatus_t status, const char *what);
/* Allocates, fills, and writes it on the board; the block's number there. */
size_t victim_take(crash_t *crash, unsigned id, size_t size_bytes);
jshared_t *crash_shared(crash_t *crash, unsigned id);

/* ---- sweep.c, random.c ---- */

typedef struct sweep_options {
    size_t stride, from, to, points, second;
    uint64_t seed;
    bool stop;  /* at the first fault of a scenario */
    bool quiet; /* no line for each scenario */
    bool json;  /* lines are members of a list, and what is found goes to standard error */
    /* Segments over an array instead of a file: death is told by the process, not by a lock. */
    bool array;
} sweep_options_t;
typedef struct sweep_totals {
    size_t instructions, tried, strayed, hangs, inconsistencies, leaks;
} sweep_totals_t;
/* Kills at the points of a scenario that the options ask for, prints a line, and adds to the
 * totals. */
void sweep_scenario(const scenario_t *scenario, const sweep_options_t *options,
                    sweep_totals_t *totals);

/* An element of a list of JSON. */
void sweep_json(const char *name, const sweep_totals_t *totals, double seconds);

/* True: the books were right at the end, and at each check. */
bool random_kills(size_t kills, unsigned processes, size_t check_every,
                  const sweep_options_t *options);

uint64_t crash_random(uint64_t *state);

#endif
