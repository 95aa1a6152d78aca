/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Processes that work on one segment, and one that kills them at random moments.
 *
 * A worker allocates, frees, reallocates, gives, and hands blocks to others through mailboxes,
 * which lie beside the segment. A block that it only owns must not be in a mailbox when it dies, as
 * the block dies with it and its place is used again: before a worker is killed the supervisor
 * withdraws those. A mailbox that is being filled or emptied by a process that dies is put aside
 * ("lost"): nobody can tell whether its block was given, or freed, before.
 *
 * Every so many kills the workers are stopped between two operations and everything is compared:
 * each block that somebody knows is there, with its owner and contents, and the books have these
 * blocks and no others. */

#include "../common/json.h"
#include "../common/terminal.h"
#include "crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jalloc/status.h"

enum { HELD = 48, MAILBOXES = 64, LOST = 4096, EXTRA_BASE = 100 };

/* A mailbox's word: what goes on, what its block is, who put it in, who takes it out. */
typedef enum mail_phase { MAIL_EMPTY, MAIL_FILLING, MAIL_FULL, MAIL_TAKING } mail_phase_t;
/* The writer's; the segment's; a slot's. */
typedef enum mail_kind { MAIL_OWNED, MAIL_GIVEN, MAIL_GIFT } mail_kind_t;
#define MAIL(phase, kind, writer, taker)                                                           \
    ((uint32_t)(phase) | (kind) << 4 | (writer) << 8 | (taker) << 16)
#define MAIL_PHASE(word) ((mail_phase_t)((word)&15))
#define MAIL_KIND(word) ((mail_kind_t)((word) >> 4 & 15))
#define MAIL_WRITER(word) ((word) >> 8 & 255)
#define MAIL_TAKER(word) ((word) >> 16 & 255)

typedef struct held {
    volatile joffset_t offset;
    size_t size_bytes;
    unsigned id;
} held_t;

typedef struct mailbox {
    volatile uint32_t word;
    held_t block;
} mailbox_t;

typedef struct worker {
    pid_t pid;
    volatile uint32_t doomed, paused;
    volatile unsigned slot;
    volatile uint64_t operations;
    volatile unsigned doing;
    held_t held[HELD];
    char message[256];
} worker_t;

typedef struct world {
    volatile uint32_t pause, stop;
    unsigned worker_count;
    worker_t workers[RANDOM_PROCESSES];
    mailbox_t mailboxes[MAILBOXES];
} world_t;

static world_t *world;
static const scenario_t random_scenario = {.name = "random", .flags = SCENARIO_GROWS};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static void pause_us(unsigned us) {
    const struct timespec wait = {us / 1000000, 1000L * (us % 1000000)};
    nanosleep(&wait, NULL);
}
static bool swap(volatile uint32_t *word, uint32_t from, uint32_t to) {
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
static uint32_t load(const volatile uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}
static void store(volatile uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* ---- A worker ---- */

typedef struct work {
    crash_t *crash;
    worker_t *self;
    unsigned index;
    uint64_t random;
} work_t;

static unsigned below(work_t *work, unsigned bound) {
    return (unsigned)(crash_random(&work->random) >> 33) % bound;
}

static void give_up(work_t *work, const char *what, jstatus_t status) {
    snprintf(work->self->message, sizeof work->self->message, "%s: %s: %s", what,
             jstatus_name(status), jstatus_last_message());
    _exit(1);
}
/* No memory is an answer; anything else that is no success ends the test. */
static bool done(work_t *work, const char *what, jstatus_t status) {
    if (status != JSTATUS_SUCCESS && status != JSTATUS_MEMORY_ERROR)
        give_up(work, what, status);
    return status == JSTATUS_SUCCESS;
}

static size_t some_size(work_t *work) { /* log-uniform, 16 bytes to 64 KiB */
    const unsigned exponent = 4 + below(work, 12);
    return ((size_t)1 << exponent) + below(work, 1u << exponent);
}

static void fill(work_t *work, const held_t *block) {
    crash_fill(work->crash->segment, block->offset, block->size_bytes, 0);
}
static void look(work_t *work, const held_t *block) {
    if (!crash_is_filled(work->crash->segment, block->offset, block->size_bytes, 0))
        give_up(work, "a block has lost its contents", JSTATUS_CORRUPTED);
}
static jshared_t *shared_of(work_t *work, const held_t *block) {
    return crash_shared(work->crash, block->id);
}

static held_t *some_held(work_t *work) { return &work->self->held[below(work, HELD)]; }

static void work_allocate(work_t *work, held_t *block) {
    joffset_t offset;
    block->id = below(work, 4) == 0 ? ID_PAGES : ID_GENERAL;
    block->size_bytes = block->id == ID_PAGES ? CRASH_PAGE_BYTES : some_size(work);
    const size_t alignment =
        block->id == ID_GENERAL && below(work, 8) == 0 ? (size_t)16 << below(work, 13) : 0;
    if (!done(work, "allocate",
              jshared_allocate(shared_of(work, block), block->size_bytes, alignment, &offset)))
        return;
    block->offset = offset;
    fill(work, block);
}

static void work_free(work_t *work, held_t *block) {
    look(work, block);
    done(work, "deallocate", jshared_deallocate(shared_of(work, block), block->offset));
    block->offset = JOFFSET_NULL;
}

static void work_reallocate(work_t *work, held_t *block) {
    joffset_t offset = block->offset;
    const size_t size_bytes = some_size(work);
    if (block->id != ID_GENERAL ||
        !done(work, "reallocate",
              jshared_reallocate(shared_of(work, block), &offset, size_bytes, 0)))
        return;
    block->offset = offset;
    block->size_bytes = size_bytes;
    fill(work, block);
}

static void work_many(work_t *work) {
    joffset_t offsets[40];
    const size_t count = 1 + below(work, 40), size_bytes = 16 + below(work, 600);
    if (!done(work, "allocate many",
              jshared_allocate_many(work->crash->general, size_bytes, 0, count, offsets)))
        return;
    for (size_t i = 0; i < count; i++)
        crash_fill(work->crash->segment, offsets[i], size_bytes, 1);
    for (size_t i = 0; i < count; i++)
        if (!crash_is_filled(work->crash->segment, offsets[i], size_bytes, 1))
            give_up(work, "one of many has lost its contents", JSTATUS_CORRUPTED);
    done(work, "deallocate many", jshared_deallocate_many(work->crash->general, count, offsets));
}

/* Puts a block into an empty mailbox: as it is, or given to the segment, or given to another
 * worker's slot. */
static void work_send(work_t *work, held_t *block) {
    mailbox_t *mailbox = &world->mailboxes[below(work, MAILBOXES)];
    const mail_kind_t kind = below(work, 16) == 0 ? MAIL_GIFT
                             : below(work, 2)     ? MAIL_GIVEN
                                                  : MAIL_OWNED;
    const uint32_t word = MAIL(MAIL_FILLING, kind, work->index, 0);
    if (!swap(&mailbox->word, MAIL_EMPTY, word))
        return;
    bool sent = !load(&work->self->doomed);
    mailbox->block = *block;
    look(work, block);
    if (sent && kind != MAIL_OWNED) {
        unsigned slot = JSEGMENT_SLOT_SEGMENT;
        if (kind == MAIL_GIFT)
            slot = world->workers[below(work, world->worker_count)].slot;
        jstatus_t status = jshared_give(shared_of(work, block), block->offset, slot);
        /* Nobody has that slot at this moment. */
        if (kind == MAIL_GIFT && status == JSTATUS_INVALID_VALUE)
            sent = false;
        else
            done(work, "give", status);
    }
    if (sent)
        block->offset = JOFFSET_NULL;
    store(&mailbox->word, sent ? MAIL(MAIL_FULL, kind, work->index, 0) : MAIL_EMPTY);
}

/* Takes a block of somebody's out of a mailbox and frees it. */
static void work_receive(work_t *work) {
    for (unsigned i = 0; i < 8; i++) {
        mailbox_t *mailbox = &world->mailboxes[below(work, MAILBOXES)];
        const uint32_t word = load(&mailbox->word);
        if (MAIL_PHASE(word) != MAIL_FULL || MAIL_KIND(word) == MAIL_GIFT ||
            !swap(&mailbox->word, word,
                  MAIL(MAIL_TAKING, MAIL_KIND(word), MAIL_WRITER(word), work->index)))
            continue;
        held_t block = mailbox->block;
        look(work, &block);
        if (below(work, 2)) {
            done(work, "free another's", jshared_deallocate(shared_of(work, &block), block.offset));
        } else {
            const joffset_t offsets[1] = {block.offset};
            done(work, "free another's",
                 jshared_deallocate_many(shared_of(work, &block), 1, offsets));
        }
        store(&mailbox->word, MAIL_EMPTY);
        return;
    }
}

static void work_root(work_t *work) {
    char name[24];
    joffset_t offset = JOFFSET_NULL, set = 4096 * (1 + below(work, 20));
    snprintf(name, sizeof name, "worker%u", work->index);
    done(work, "set root", jsegment_set_root(work->crash->segment, name, set));
    done(work, "get root", jsegment_get_root(work->crash->segment, name, &offset));
    if (offset != set)
        give_up(work, "a root is another's", JSTATUS_CORRUPTED);
    if (below(work, 2))
        done(work, "remove root", jsegment_set_root(work->crash->segment, name, JOFFSET_NULL));
}

/* An allocator of its own, from its creation to its end. One that a predecessor has left is
 * destroyed. */
static void work_extra(work_t *work, bool leftover) {
    jshared_t *extra;
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    options.header_bytes = below(work, 5000);
    jstatus_t status =
        leftover ? jshared_open(work->crash->segment, EXTRA_BASE + work->index, &extra)
                 : jshared_create(work->crash->segment, EXTRA_BASE + work->index, &options, &extra);
    if ((leftover && status == JSTATUS_NOT_FOUND) || !done(work, "an allocator", status))
        return;
    for (int i = 0; i < 10; i++) {
        joffset_t offset;
        if (done(work, "allocate", jshared_allocate(extra, some_size(work), 0, &offset)) &&
            below(work, 3) == 0)
            done(work, "give", jshared_give(extra, offset, JSEGMENT_SLOT_SEGMENT));
    }
    done(work, "destroy an allocator", jshared_destroy(extra));
}

/* Detaches and attaches; what it owned is gone, so its mail is withdrawn first. */
static bool withdraw(unsigned index) {
    bool left = false;
    for (unsigned i = 0; i < MAILBOXES; i++) {
        const uint32_t word = load(&world->mailboxes[i].word);
        if (MAIL_PHASE(word) == MAIL_EMPTY || MAIL_KIND(word) != MAIL_OWNED ||
            MAIL_WRITER(word) != index)
            continue;
        if (MAIL_PHASE(word) != MAIL_FULL || !swap(&world->mailboxes[i].word, word, MAIL_EMPTY))
            left = true;
    }
    return !left;
}
static void work_attach(work_t *work) {
    jstatus_t status = crash_attach(work->crash);
    if (status != JSTATUS_SUCCESS)
        give_up(work, "attach", status);
    work->self->slot = jsegment_slot(work->crash->segment);
}
static void work_reattach(work_t *work) {
    while (!withdraw(work->index))
        pause_us(10);
    for (unsigned i = 0; i < HELD; i++)
        work->self->held[i].offset = JOFFSET_NULL;
    work->self->slot = 0;
    jstatus_t status = jsegment_detach(work->crash->segment);
    if (status != JSTATUS_SUCCESS)
        give_up(work, "detach", status);
    work_attach(work);
}

static void work_otherwise(work_t *work) {
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    joffset_t offset;
    switch (below(work, 8)) {
    case 0: work_reattach(work); break;
    case 1: done(work, "recover", jsegment_recover(work->crash->segment, NULL)); break;
    case 2: done(work, "verify", jsegment_verify(work->crash->segment)); break;
    case 3:
        done(work, "statistics", jsegment_get_stats(work->crash->segment, &stats));
        if (stats.size_bytes + 4096 <= stats.max_bytes)
            done(work, "grow", jsegment_grow(work->crash->segment, stats.size_bytes + 4096));
        break;
    case 4: work_extra(work, false); break;
    case 5: work_root(work); break;
    case 6: done(work, "stack", jshared_allocate(work->crash->stack, 100, 0, &offset)); break;
    default: done(work, "rewind", jshared_rewind(work->crash->stack, 0));
    }
}

static void operate(work_t *work) {
    held_t *block = some_held(work);
    const unsigned what = below(work, 100);
    work->self->doing = what;
    if (what >= 90)
        work_otherwise(work);
    else if (what >= 86)
        work_many(work);
    else if (what >= 78)
        work_receive(work);
    else if (block->offset == JOFFSET_NULL)
        work_allocate(work, block);
    else if (what >= 66)
        work_send(work, block);
    else if (what >= 50)
        work_reallocate(work, block);
    else
        work_free(work, block);
    work->self->operations++;
}

static void run_worker(crash_t *crash, unsigned index, uint64_t seed) {
    work_t work = {.crash = crash, .self = &world->workers[index], .index = index, .random = seed};
    /* By itself, or through the attachment inherited from the supervisor, which becomes its own. */
    if (below(&work, 2)) {
        jstatus_t status = jsegment_recover(crash->segment, NULL);
        if (status != JSTATUS_SUCCESS)
            give_up(&work, "the first use after fork", status);
        work.self->slot = jsegment_slot(crash->segment);
    } else {
        work_attach(&work);
    }
    work_extra(&work, true);
    while (!load(&world->stop)) {
        while (load(&world->pause)) {
            store(&work.self->paused, 1);
            pause_us(50);
        }
        store(&work.self->paused, 0);
        operate(&work);
    }
    if (index % 2 == 0) {
        while (!withdraw(index))
            pause_us(10);
        (void)jsegment_detach(crash->segment);
    }
}

/* ---- The supervisor ---- */

typedef struct supervisor {
    crash_t *crash;
    uint64_t random;
    held_t lost[LOST];
    size_t lost_count;
    size_t checks;
    uint64_t operations; /* of the dead */
    uint64_t rollbacks;  /* changes that were found half done */
} supervisor_t;

static bool start_worker(supervisor_t *supervisor, unsigned index) {
    worker_t *worker = &world->workers[index];
    const uint64_t seed = crash_random(&supervisor->random);
    memset(worker, 0, sizeof *worker);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_worker(supervisor->crash, index, seed);
        _exit(0);
    }
    worker->pid = pid;
    return pid > 0;
}

/* A worker that ended by itself has complained, or was stopped by a fault. */
static bool all_alive(supervisor_t *supervisor) {
    for (unsigned i = 0; i < world->worker_count; i++) {
        int status;
        if (world->workers[i].pid == 0 || waitpid(world->workers[i].pid, &status, WNOHANG) == 0)
            continue;
        world->workers[i].pid = 0;
        if (world->stop && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        crash_fault(supervisor->crash, FAULT_INCONSISTENT,
                    "worker %u ended (signal %d, doing %u): %s", i,
                    WIFSIGNALED(status) ? WTERMSIG(status) : 0, world->workers[i].doing,
                    world->workers[i].message);
        return false;
    }
    return true;
}

/* Waits until a condition of all workers holds. */
static bool wait_for(supervisor_t *supervisor, bool (*condition)(unsigned), const char *what) {
    const double begin = seconds_now();
    for (unsigned i = 0; i < world->worker_count;) {
        if (condition(i)) {
            i++;
            continue;
        }
        if (!all_alive(supervisor))
            return false;
        if (seconds_now() - begin > CRASH_GUARD_S) {
            crash_fault(supervisor->crash, FAULT_HANG,
                        "worker %u (process %d, doing %u) %s for %d s", i,
                        (int)world->workers[i].pid, world->workers[i].doing, what, CRASH_GUARD_S);
            return false;
        }
        pause_us(20);
    }
    return true;
}
static bool is_paused(unsigned index) { return load(&world->workers[index].paused) != 0; }
static unsigned victim_index;
static bool is_withdrawn(unsigned index) { return index != victim_index || withdraw(index); }

static void lose(supervisor_t *supervisor, mailbox_t *mailbox) {
    if (mailbox->block.offset != JOFFSET_NULL && supervisor->lost_count < LOST)
        supervisor->lost[supervisor->lost_count++] = mailbox->block;
    mailbox->block.offset = JOFFSET_NULL;
    store(&mailbox->word, MAIL_EMPTY);
}

static bool kill_one(supervisor_t *supervisor) {
    const unsigned index =
        (unsigned)(crash_random(&supervisor->random) >> 33) % world->worker_count;
    worker_t *worker = &world->workers[index];
    victim_index = index;
    pause_us((unsigned)(crash_random(&supervisor->random) >> 33) % 300);
    store(&worker->doomed, 1);
    if (!wait_for(supervisor, is_withdrawn, "has mail that is not taken"))
        return false;
    const uint64_t spins = (crash_random(&supervisor->random) >> 33) % 20000;
    for (volatile uint64_t i = 0; i < spins; i++)
        ;
    int status;
    kill(worker->pid, SIGKILL);
    waitpid(worker->pid, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        crash_fault(supervisor->crash, FAULT_INCONSISTENT,
                    "worker %u ended before it was killed (signal %d): %s", index,
                    WIFSIGNALED(status) ? WTERMSIG(status) : 0, worker->message);
        worker->pid = 0;
        return false;
    }
    for (unsigned i = 0; i < MAILBOXES; i++) {
        const uint32_t word = load(&world->mailboxes[i].word);
        if ((MAIL_PHASE(word) == MAIL_FILLING && MAIL_WRITER(word) == index) ||
            (MAIL_PHASE(word) == MAIL_TAKING && MAIL_TAKER(word) == index))
            lose(supervisor, &world->mailboxes[i]);
    }
    supervisor->operations += worker->operations;
    return start_worker(supervisor, index);
}

/* ---- Books ---- */

typedef struct known {
    joffset_t offset;
    size_t size_bytes;
    unsigned id, owner;
} known_t;

static int compare_known(const void *a, const void *b) {
    const known_t *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static size_t gather(known_t *known) {
    size_t count = 0;
    for (unsigned w = 0; w < world->worker_count; w++)
        for (unsigned i = 0; i < HELD; i++)
            if (world->workers[w].held[i].offset != JOFFSET_NULL)
                known[count++] = (known_t){world->workers[w].held[i].offset,
                                           world->workers[w].held[i].size_bytes,
                                           world->workers[w].held[i].id, world->workers[w].slot};
    for (unsigned i = 0; i < MAILBOXES; i++) {
        const mailbox_t *mailbox = &world->mailboxes[i];
        if (MAIL_PHASE(mailbox->word) == MAIL_FULL && MAIL_KIND(mailbox->word) != MAIL_GIFT)
            known[count++] =
                (known_t){mailbox->block.offset, mailbox->block.size_bytes, mailbox->block.id,
                          MAIL_KIND(mailbox->word) == MAIL_GIVEN
                              ? JSEGMENT_SLOT_SEGMENT
                              : world->workers[MAIL_WRITER(mailbox->word)].slot};
    }
    qsort(known, count, sizeof *known, compare_known);
    return count;
}

/* Frees a block that somebody may have lost, unless its place is known to be somebody's. */
static void free_lost(crash_t *crash, const known_t *known, size_t count, const held_t *block) {
    const known_t key = {.offset = block->offset};
    size_t usable_bytes;
    if (bsearch(&key, known, count, sizeof *known, compare_known) != NULL)
        return;
    if (jshared_describe(crash_shared(crash, block->id), block->offset, &usable_bytes, NULL) ==
        JSTATUS_SUCCESS)
        crash_succeeds(crash, jshared_deallocate(crash_shared(crash, block->id), block->offset),
                       "freeing a lost block");
}

/* With all workers stopped between operations. */
static void check_all(supervisor_t *supervisor) {
    static known_t known[RANDOM_PROCESSES * HELD + MAILBOXES];
    crash_t *crash = supervisor->crash;
    const size_t count = gather(known);
    size_t known_bytes = 0;
    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    supervisor->checks++;
    if (!crash_succeeds(crash, jsegment_recover(crash->segment, NULL), "jsegment_recover") ||
        !crash_succeeds(crash, jsegment_verify(crash->segment), "jsegment_verify"))
        return;
    for (size_t i = 0; i < supervisor->lost_count; i++)
        free_lost(crash, known, count, &supervisor->lost[i]);
    supervisor->lost_count = 0;
    for (unsigned i = 0; i < MAILBOXES; i++)
        if (MAIL_PHASE(world->mailboxes[i].word) == MAIL_FULL &&
            MAIL_KIND(world->mailboxes[i].word) == MAIL_GIFT) {
            free_lost(crash, known, count, &world->mailboxes[i].block);
            store(&world->mailboxes[i].word, MAIL_EMPTY);
        }
    for (size_t i = 0; i < count; i++) {
        size_t usable_bytes = 0;
        unsigned owner = 0;
        jstatus_t status = jshared_describe(crash_shared(crash, known[i].id), known[i].offset,
                                            &usable_bytes, &owner);
        if (status != JSTATUS_SUCCESS || owner != known[i].owner ||
            usable_bytes < known[i].size_bytes)
            crash_fault(crash, FAULT_INCONSISTENT,
                        "block of %zu bytes at %llu is described as %zu bytes of %u, not %u",
                        known[i].size_bytes, (unsigned long long)known[i].offset, usable_bytes,
                        owner, known[i].owner);
        else if (!crash_is_filled(crash->segment, known[i].offset, known[i].size_bytes, 0))
            crash_fault(crash, FAULT_INCONSISTENT,
                        "block of %zu bytes at %llu has lost its contents", known[i].size_bytes,
                        (unsigned long long)known[i].offset);
        if (i > 0 && known[i].offset < known[i - 1].offset + known[i - 1].size_bytes)
            crash_fault(crash, FAULT_INCONSISTENT, "the block at %llu is two",
                        (unsigned long long)known[i].offset);
        known_bytes += usable_bytes;
    }
    if (!crash_succeeds(crash, jsegment_get_stats(crash->segment, &stats), "jsegment_get_stats"))
        return;
    if (stats.owned_bytes + stats.given_bytes != known_bytes)
        crash_fault(crash, FAULT_LEAK, "%zu bytes are owned and %zu given, where %zu are known",
                    stats.owned_bytes, stats.given_bytes, known_bytes);
    if (stats.metadata_bytes + stats.owned_bytes + stats.given_bytes + stats.cached_bytes +
            stats.free_bytes !=
        stats.size_bytes)
        crash_fault(crash, FAULT_LEAK, "the accounts do not come to %zu bytes", stats.size_bytes);
    supervisor->rollbacks = stats.rollback_count;
    if (stats.processes != world->worker_count + 1)
        crash_fault(crash, FAULT_LEAK, "%u processes attached for %u", stats.processes,
                    world->worker_count + 1);
}

static bool check_paused(supervisor_t *supervisor) {
    store(&world->pause, 1);
    if (wait_for(supervisor, is_paused, "does not come to a pause"))
        check_all(supervisor);
    for (unsigned i = 0; i < world->worker_count; i++)
        store(&world->workers[i].paused, 0);
    store(&world->pause, 0);
    return supervisor->crash->fault == FAULT_NONE;
}

static bool is_gone(unsigned index) { return world->workers[index].pid == 0; }

/* All workers end; what the segment owns is freed; then it must be as it was. */
static void finish(supervisor_t *supervisor) {
    crash_t *crash = supervisor->crash;
    store(&world->stop, 1);
    if (!wait_for(supervisor, is_gone, "does not end"))
        return;
    crash_succeeds(crash, jsegment_recover(crash->segment, NULL), "jsegment_recover");
    for (unsigned i = 0; i < MAILBOXES; i++)
        if (MAIL_PHASE(world->mailboxes[i].word) == MAIL_FULL &&
            MAIL_KIND(world->mailboxes[i].word) == MAIL_GIVEN)
            crash_succeeds(crash,
                           jshared_deallocate(crash_shared(crash, world->mailboxes[i].block.id),
                                              world->mailboxes[i].block.offset),
                           "freeing what is given");
    for (unsigned i = 0; i < world->worker_count; i++) {
        char name[24];
        joffset_t offset;
        snprintf(name, sizeof name, "worker%u", i);
        if (jsegment_get_root(crash->segment, name, &offset) == JSTATUS_SUCCESS)
            crash_succeeds(crash, jsegment_set_root(crash->segment, name, JOFFSET_NULL),
                           "removing a root");
    }
    if (crash->fault == FAULT_NONE)
        crash_check(crash);
}

static void report(const supervisor_t *supervisor, size_t killed, double seconds, bool json) {
    const crash_t *crash = supervisor->crash;
    const char *found = crash->fault == FAULT_NONE           ? "nothing hung, inconsistent or lost"
                        : crash->fault == FAULT_LEAK         ? "LEAK"
                        : crash->fault == FAULT_INCONSISTENT ? "INCONSISTENT"
                                                             : "HANG";
    if (!json) {
        printf(
            "random: %zu kills of %u processes, %zu checks, %llu operations, %llu changes undone, "
            "%.1f s: %s%s%s\n",
            killed, world->worker_count, supervisor->checks,
            (unsigned long long)supervisor->operations, (unsigned long long)supervisor->rollbacks,
            seconds, found, crash->fault ? ": " : "", crash->message);
        return;
    }
    json_number("kills", (int64_t)killed);
    json_number("processes", world->worker_count);
    json_number("checks", (int64_t)supervisor->checks);
    json_number("operations", (int64_t)supervisor->operations);
    json_number("undone", (int64_t)supervisor->rollbacks);
    json_real("seconds", seconds);
    json_text("found", found);
    json_text("message", crash->message);
}

bool random_kills(size_t kills, unsigned processes, size_t check_every,
                  const sweep_options_t *options) {
    const bool array = options->array;
    const uint64_t seed = options->seed;
    static crash_t the_crash;
    static supervisor_t the_supervisor;
    crash_t *crash = &the_crash;
    supervisor_t *supervisor = &the_supervisor;
    const double begin = seconds_now();
    size_t killed = 0;
    *crash = (crash_t){.scenario = &random_scenario,
                       .board = crash_share(sizeof *crash->board),
                       .size_bytes = array ? 16 << 20 : 4 << 20,
                       .max_bytes = array ? 0 : 16 << 20,
                       .array = array ? crash_share(16 << 20) : NULL,
                       .descriptor = -1};
    /* The dead have one, too, until they are reaped. */
    crash->processes = processes + 1 + (unsigned)(seed % 4);
    *supervisor = (supervisor_t){.crash = crash, .random = seed};
    world = crash_share(sizeof *world);
    world->worker_count = processes;
    bool going = crash_make(crash) && crash_succeeds(crash, crash_attach(crash), "attaching");
    for (unsigned i = 0; i < processes; i++)
        going = going && start_worker(supervisor, i);
    while (going && killed < kills) {
        tool_progress("killing", killed, kills);
        going = kill_one(supervisor);
        killed += going;
        if (going && (killed % check_every == 0 || killed == kills))
            going = check_paused(supervisor);
    }
    if (going)
        finish(supervisor);
    for (unsigned i = 0; i < processes; i++) {
        supervisor->operations += world->workers[i].operations;
        if (world->workers[i].pid > 0) {
            kill(world->workers[i].pid, SIGKILL);
            waitpid(world->workers[i].pid, NULL, 0);
        }
    }
    tool_progress_end();
    report(supervisor, killed, seconds_now() - begin, options->json);
    const bool right = crash->fault == FAULT_NONE && killed == kills;
    crash_unmake(crash);
    return right;
}
