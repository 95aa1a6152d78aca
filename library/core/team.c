/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The process's team: worker threads that are made at set-up and leased to calls.
 *
 * Who is free stands in a bitmap, so a call takes several workers by one atomic operation, and the
 * lowest ones first, which have worked last and may still be awake. Each worker has one word, which
 * is also what it sleeps at:
 *
 *               the caller orders          the worker begins          it is done
 *        READY ------------------> ORDERED ------------------> RUNNING ---------> READY
 *         |  ^                        |                           |                 ^
 *         v  +-- the caller is free --+                           v                 |
 *       ASLEEP   before it begins, and does the part itself    AWAITED -------------+
 *
 * Whoever waits looks at the word for TEAM_SPIN_NS, about as long as it takes to be woken, giving
 * way to other threads of the processor, and then sleeps in the kernel (futex): the worker ASLEEP,
 * the caller AWAITED. Steps of one call follow each other faster than that, so an order costs two
 * cache lines' way there and back. A worker that is late, since it has to be woken or has lost its
 * processor to another program, keeps nobody waiting: the caller takes its order back. The worker
 * then looks out for the next order for longer: it would be late for that, too.
 *
 * A worker that is woken may run anywhere but on its caller's processor. Left to itself Linux puts
 * it right there where the others seem taken, as all do that a virtual machine has halted; the
 * caller then does all parts, one after the other, for milliseconds.
 *
 * Never are there more threads at work than processors, by handles that ask for no more: `busy`
 * counts the callers and the workers that they have, and a caller is lent what is missing to the
 * number of processors. When every processor has a caller of its own, each works alone, and workers
 * do not even look for orders. A program that asks for more threads than there are processors
 * (jhandle_set_threads) has them if nobody else works.
 *
 * A call in a forked child, which has none of the threads, does all parts by itself; the team of
 * the child begins empty. When the library is unloaded, those who are free are ended; one that is
 * at work then works for a thread that is still running. At the end of the program they are left to
 * the system: a thread that ends gives memory back, which a program that has sealed itself off from
 * the system (clients/samples/sealed.c) may not do. */

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/node.h"
#include "core/team.h"

#define TEAM_MAX_WORKERS (JI_TEAM_MAX_THREADS - 1)
#define TEAM_WORDS (TEAM_MAX_WORKERS / 64)
#define TEAM_STACK_BYTES ((size_t)2048 * 1024) /* of address space; a factorization keeps 256 KiB */
#define TEAM_SPIN_NS 50000
#define TEAM_LONG_SPIN_NS 2000000 /* longer than a part that is not worth more threads */
#define TEAM_LOOKS_PER_YIELD 32   /* a microsecond or two: as long as several yields take */

enum { READY, ASLEEP, ORDERED, RUNNING, AWAITED };

struct ji_team_worker {
    alignas(128) _Atomic(uint32_t) state; /* a pair of cache lines, which are fetched together */
    /* The order; NULL: to end. Set by whoever has leased the worker, while it is READY or ASLEEP,
     * and read by whoever claims the order. */
    void (*part)(void *argument, int index);
    void *argument;
    int index;
    ji_team_worker_t *next; /* in the lease */
    pthread_t thread;
    atomic_int id;     /* of the thread; 0: it has not begun */
    int apart_from;    /* processor; -1: none */
    cpu_set_t allowed; /* processors, that one included */
};

static ji_team_worker_t team_workers[TEAM_MAX_WORKERS];
static _Atomic(uint64_t) team_idle[TEAM_WORDS]; /* a bit for each worker that nobody has */
_Atomic(int) ji_team_processors = 1;
static atomic_int team_busy;  /* callers, and workers that they have */
static atomic_int team_count; /* workers that there are */

/* Of set-up, which one thread does at a time. */
static pthread_mutex_t team_lock = PTHREAD_MUTEX_INITIALIZER;
static bool team_is_closed;      /* the library is being unloaded */
static atomic_bool team_is_left; /* the program ends */

/* ---- Waiting ---- */

static inline void team_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* yield returns at once */
#endif
}

static int64_t team_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether a processor is there for one that only looks: a worker that is leased, or its caller, is
 * counted; one that is free would be one more. */
static bool team_may_spin(const ji_team_worker_t *worker) {
    const size_t number = (size_t)(worker - team_workers);
    const uint64_t idle =
        atomic_load_explicit(&team_idle[number / 64], memory_order_relaxed) >> number % 64 & 1;
    return atomic_load_explicit(&team_busy, memory_order_relaxed) + (int)idle <=
           atomic_load_explicit(&ji_team_processors, memory_order_relaxed);
}

/* Looks whether the state is another one. False: it has been the same for long. */
static bool team_spin(const ji_team_worker_t *worker, uint32_t state, int64_t spin_ns) {
    const int64_t begin = team_now_ns();
    do {
        for (int look = 0; look < TEAM_LOOKS_PER_YIELD; look++) {
            if (atomic_load_explicit(&worker->state, memory_order_acquire) != state)
                return true;
            team_pause();
        }
        if (!team_may_spin(worker))
            return false;
        (void)sched_yield();
    } while (team_now_ns() - begin < spin_ns);
    return false;
}

static void team_futex(_Atomic(uint32_t) *word, int operation, uint32_t value) {
    const int error = errno;
    (void)syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL);
    errno = error;
}

/* Returns when the state is neither of the two. */
static void team_wait(ji_team_worker_t *worker, uint32_t state, uint32_t sleeping,
                      int64_t spin_ns) {
    if (team_spin(worker, state, spin_ns) ||
        !atomic_compare_exchange_strong(&worker->state, &state, sleeping))
        return;
    while (atomic_load_explicit(&worker->state, memory_order_acquire) == sleeping)
        team_futex(&worker->state, FUTEX_WAIT, sleeping);
}

/* Changes the state, for the other side. True: it sleeps, and is to be woken. */
static bool team_tell(ji_team_worker_t *worker, uint32_t state, uint32_t sleeping) {
    return atomic_exchange(&worker->state, state) == sleeping;
}

static void team_wake(ji_team_worker_t *worker) { team_futex(&worker->state, FUTEX_WAKE, 1); }

/* An order has one who does it: false: it is the other. */
static bool team_claim(ji_team_worker_t *worker, uint32_t state) {
    uint32_t ordered = ORDERED;
    return atomic_compare_exchange_strong(&worker->state, &ordered, state);
}

/* ---- Workers ---- */

static void *team_serve(void *argument) {
    ji_team_worker_t *worker = argument;
    atomic_store(&worker->id, (int)syscall(SYS_gettid));
    int64_t spin_ns = TEAM_SPIN_NS;
    for (;;) {
        team_wait(worker, READY, ASLEEP, spin_ns);
        if (!team_claim(worker, RUNNING)) {
            spin_ns = TEAM_LONG_SPIN_NS;
            continue;
        }
        spin_ns = TEAM_SPIN_NS;
        if (worker->part == NULL)
            return NULL;
        worker->part(worker->argument, worker->index);
        if (team_tell(worker, READY, AWAITED))
            team_wake(worker);
    }
}

/* The worker may run on all processors that it was made with but the caller's. If somebody else has
 * changed them since, that is what it may have; a set of the caller's alone is left as it is. */
static void team_keep_apart(ji_team_worker_t *worker) {
    const int error = errno, id = atomic_load(&worker->id), here = sched_getcpu();
    if (id == 0 || here < 0 || here >= CPU_SETSIZE || here == worker->apart_from)
        return;

    cpu_set_t now, last = worker->allowed;
    if (worker->apart_from >= 0)
        CPU_CLR(worker->apart_from, &last);
    if (sched_getaffinity(id, sizeof now, &now) == 0) {
        if (worker->apart_from < 0 || !CPU_EQUAL(&now, &last))
            worker->allowed = now;
        now = worker->allowed;
        CPU_CLR(here, &now);
        if (sched_setaffinity(id, sizeof now, &now) == 0)
            worker->apart_from = here;
    }
    errno = error;
}

static void team_order(ji_team_worker_t *worker, void (*part)(void *, int), void *argument,
                       int index) {
    worker->part = part;
    worker->argument = argument;
    worker->index = index;
    if (team_tell(worker, ORDERED, ASLEEP)) {
        team_keep_apart(worker);
        team_wake(worker);
    }
}

static void team_free(const ji_team_worker_t *worker) {
    const size_t number = (size_t)(worker - team_workers);
    atomic_fetch_or(&team_idle[number / 64], UINT64_C(1) << number % 64);
}

/* The lowest `count` bits that are set. */
static uint64_t team_lowest(uint64_t set, int count) {
    uint64_t rest = set;
    while (rest != 0 && count-- > 0)
        rest &= rest - 1;
    return set ^ rest;
}

/* Takes free workers, at most so many, and links them in their order, so that a part of one call
 * and its like of the next are the same worker's. Says how many. */
static int team_take(int wanted, ji_team_worker_t **link) {
    const int words = (atomic_load_explicit(&team_count, memory_order_relaxed) + 63) / 64;
    int taken = 0;

    for (int word = 0; word < words && taken < wanted; word++) {
        uint64_t idle = atomic_load_explicit(&team_idle[word], memory_order_relaxed), mine;
        do
            mine = team_lowest(idle, wanted - taken);
        while (mine != 0 && !atomic_compare_exchange_weak(&team_idle[word], &idle, idle & ~mine));

        for (; mine != 0; mine &= mine - 1, taken++) {
            *link = &team_workers[word * 64 + __builtin_ctzll(mine)];
            link = &(*link)->next;
        }
    }
    *link = NULL;
    return taken;
}

/* ---- Leases ---- */

/* Counts the caller, and as many workers as would keep a processor busy that nobody else does; if
 * nobody is at work, as many as it asks for. Says how many. */
static int team_enter(int most) {
    const int processors = atomic_load_explicit(&ji_team_processors, memory_order_relaxed);
    int busy = atomic_load_explicit(&team_busy, memory_order_relaxed), workers;

    do {
        const int room = (busy == 0 && most > processors ? most : processors) - busy - 1;
        workers = most - 1 < room ? most - 1 : room;
        if (workers < 0)
            workers = 0;
    } while (!atomic_compare_exchange_weak(&team_busy, &busy, busy + 1 + workers));
    return workers;
}

static void team_begin_own(ji_team_lease_t *lease, int most) {
    const int there_are = atomic_load_explicit(&team_count, memory_order_relaxed) + 1;
    const int room = team_enter(most < there_are ? most : there_are);
    const int taken = room > 0 ? team_take(room, &lease->first) : 0;
    if (taken < room)
        atomic_fetch_sub(&team_busy, room - taken);
    lease->is_counted = true;
    lease->count = 1 + taken;
}

void ji_team_begin(ji_team_lease_t *lease, const ji_threads_t *threads, int wanted) {
    *lease = (ji_team_lease_t){.count = 1, .fork_generation = ji_fork_generation};
    if (wanted < 2 || threads->count < 1)
        return;

    const int most = threads->count < wanted ? threads->count : wanted;
    if (threads->executor == NULL) {
        /* A caller who works alone is counted, too: this is work that takes long. */
        team_begin_own(lease, most);
    } else if (most > 1) {
        const int available = threads->executor->available(threads->executor->context);
        lease->executor = threads->executor;
        lease->count = available < 1 ? 1 : available < most ? available : most;
    }
}

void ji_team_do(ji_team_lease_t *lease, void (*part)(void *argument, int index), void *argument) {
    const int count = lease->count;
    if (count > 1 && lease->executor != NULL) {
        lease->executor->run(lease->executor->context, count, part, argument);
        return;
    }

    ji_team_worker_t *const first =
        lease->fork_generation == ji_fork_generation ? lease->first : NULL;
    int index = 1;
    for (ji_team_worker_t *worker = first; worker != NULL; worker = worker->next)
        team_order(worker, part, argument, index++);

    part(argument, 0);
    for (; index < count && first == NULL; index++) /* a child's own */
        part(argument, index);
    for (ji_team_worker_t *worker = first; worker != NULL; worker = worker->next)
        if (team_claim(worker, READY)) {
            team_keep_apart(worker);
            part(argument, worker->index);
        }
    for (ji_team_worker_t *worker = first; worker != NULL; worker = worker->next)
        team_wait(worker, RUNNING, AWAITED, TEAM_LONG_SPIN_NS);
}

void ji_team_end(ji_team_lease_t *lease) {
    if (!lease->is_counted || lease->fork_generation != ji_fork_generation)
        return;

    for (ji_team_worker_t *worker = lease->first, *next; worker != NULL; worker = next) {
        next = worker->next; /* before somebody else links it */
        team_free(worker);
    }
    atomic_fetch_sub(&team_busy, lease->count);
}

/* ---- Set-up ---- */

/* Control groups are looked at once: that takes several files. */
static int team_quota;
static void team_look_at_quota(void) { team_quota = ji_node_quota(""); }

int ji_team_default_count(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, team_look_at_quota);
    const int processors = ji_node_processors();
    return processors < team_quota ? processors : team_quota;
}

int ji_team_size(void) { return atomic_load(&team_count); }

/* Fork handlers. The child's one thread finds a team without members; its leases know by the
 * generation. */
static void team_before_fork(void) { pthread_mutex_lock(&team_lock); }
static void team_in_parent(void) { pthread_mutex_unlock(&team_lock); }
static void team_in_child(void) {
    for (int word = 0; word < TEAM_WORDS; word++)
        atomic_store(&team_idle[word], 0);
    atomic_store(&team_busy, 0);
    atomic_store(&team_count, 0);
    pthread_mutex_unlock(&team_lock);
}
/* At the end of the program such functions are called before destructors. When the library is
 * unloaded they are called behind its destructors, and then there is nobody left to leave. */
static void team_leave(void *unused) {
    (void)unused;
    atomic_store(&team_is_left, true);
}

/* What atexit() is made of (Itanium C++ ABI, 3.3.5), told whose function it is. The thread
 * sanitizer's atexit() forgets, and would call it when the library has gone. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

static void team_begin_to_watch(void) {
    static const ji_fork_handlers_t handlers = {team_before_fork, team_in_parent, team_in_child};
    ji_fork_hold(JI_FORK_TEAM, &handlers);
    /* If it cannot be had the team is ended, as by unloading. */
    (void)__cxa_atexit(team_leave, NULL, &__dso_handle);
}

/* With a small stack, if the C library can: it takes thread-local memory from it, of which a
 * program may have much. */
static int team_create_thread(ji_team_worker_t *worker) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;

    (void)pthread_attr_setstacksize(&attributes, TEAM_STACK_BYTES);
    error = pthread_create(&worker->thread, &attributes, team_serve, worker);
    (void)pthread_attr_destroy(&attributes);
    return error == EINVAL ? pthread_create(&worker->thread, NULL, team_serve, worker) : error;
}

/* With the lock held. Signals are the program's business: none is handled on a thread that it does
 * not know of. */
static void team_grow(int workers) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    for (int count = atomic_load(&team_count); count < workers; count++) {
        ji_team_worker_t *worker = &team_workers[count];
        atomic_store(&worker->state, READY);
        atomic_store(&worker->id, 0);
        worker->apart_from = -1;
        if (team_create_thread(worker) != 0)
            break;
        (void)pthread_setname_np(worker->thread, "jalloc-team");
        atomic_store(&team_count, count + 1);
        team_free(worker);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ji_team_make(int count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int workers = count - 1 < TEAM_MAX_WORKERS ? count - 1 : TEAM_MAX_WORKERS;
    const int processors = ji_team_default_count();
    if (workers <= atomic_load(&team_count) && processors <= atomic_load(&ji_team_processors))
        return;

    pthread_once(&once, team_begin_to_watch);
    pthread_mutex_lock(&team_lock);
    if (processors > atomic_load(&ji_team_processors))
        atomic_store(&ji_team_processors, processors);
    if (!team_is_closed)
        team_grow(workers);
    pthread_mutex_unlock(&team_lock);
}

/* ---- The end ---- */

__attribute__((destructor)) static void team_close(void) {
    ji_team_worker_t *first;
    if (atomic_load(&team_is_left))
        return;

    pthread_mutex_lock(&team_lock);
    team_is_closed = true;
    (void)team_take(TEAM_MAX_WORKERS, &first);
    for (ji_team_worker_t *worker = first; worker != NULL; worker = worker->next) {
        team_order(worker, NULL, NULL, 0);
        pthread_join(worker->thread, NULL);
    }
    pthread_mutex_unlock(&team_lock);
}
