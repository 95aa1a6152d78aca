/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Single steps by ptrace. A step is a stop of the child and a wake of the parent, 2 us on bare
 * metal and up to 30 us in a virtual machine that sees each debug exception, so walking to each of
 * n points by steps alone, n^2 / 2 of them, takes hours. On x86-64 a debug register shortens the
 * way: the recorded walk tells which addresses lead to a point in the fewest stops. Where a walk
 * goes another way than the recorded one (the state of the heap of the C library may differ), the
 * child is still at some instruction of the operation: that is a point like any other, and is
 * counted as strayed. */

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"

/* ---- One stop ---- */

/* Resumes the child and waits for its next stop. *deliver: a signal it is to get first; afterwards
 * the one it stopped for that is not ours. False: it is gone, or stopped by a fault. */
static bool resume(pid_t child, int request, int *deliver) {
    if (ptrace(request, child, NULL, (void *)(intptr_t)*deliver) != 0)
        return false;
    int status;
    while (waitpid(child, &status, __WALL) < 0)
        if (errno != EINTR)
            return false;
    *deliver = 0;
    if (!WIFSTOPPED(status))
        return false;
    switch (WSTOPSIG(status)) {
    case SIGTRAP: return true;
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGABRT: return false;
    default: *deliver = WSTOPSIG(status); return true;
    }
}

static bool step(pid_t child, int *deliver) { return resume(child, PTRACE_SINGLESTEP, deliver); }

#if defined __x86_64__
static uint64_t next_address(pid_t child) {
    return (uint64_t)ptrace(PTRACE_PEEKUSER, child, (void *)offsetof(struct user, regs.rip), NULL);
}
static bool set_register(pid_t child, size_t number, uint64_t value) {
    void *where = (void *)(offsetof(struct user, u_debugreg) +
                           number * sizeof(((struct user *)0)->u_debugreg[0]));
    return ptrace(PTRACE_POKEUSER, child, where, (void *)(uintptr_t)value) == 0;
}
/* Debug register 0, local, on execution of one byte. Address 0: off. */
static bool set_breakpoint(pid_t child, uint64_t address) {
    if (address == 0)
        return set_register(child, 7, 0);
    return set_register(child, 0, address) && set_register(child, 7, 1);
}
#else
static uint64_t next_address(pid_t child) {
    (void)child;
    return 0; /* unknown: every point is reached by steps */
}
static bool set_breakpoint(pid_t child, uint64_t address) {
    (void)child;
    (void)address;
    return false;
}
#endif

static int add_base(struct dl_phdr_info *info, size_t size, void *base) {
    (void)size;
    *(uint64_t *)base = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

uint64_t engine_file_address(uint64_t address) {
    uint64_t base = 0;
    dl_iterate_phdr(add_base, &base);
    return address - base;
}

/* ---- Children ---- */

pid_t engine_fork(void (*body)(void *), void *context) {
    pid_t parent = getpid();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        body(context);
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
        return -1;
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL);
    return child;
}

void engine_kill(pid_t child) {
    int status;
    kill(child, SIGKILL);
    while (waitpid(child, &status, __WALL) == child && !WIFEXITED(status) && !WIFSIGNALED(status))
        ;
}

bool engine_run_to_marker(pid_t child, const volatile uint32_t *phase) {
    for (int deliver = 0; resume(child, PTRACE_CONT, &deliver);)
        if (*phase == PHASE_READY)
            return true;
    return false;
}

bool engine_run_to_end(pid_t child, const volatile uint32_t *phase) {
    for (int deliver = 0; resume(child, PTRACE_CONT, &deliver);)
        ;
    return *phase == PHASE_ENDED;
}

/* ---- Walks ---- */

static void *grow_array(void *array, size_t count, size_t element_bytes) {
    void *larger = realloc(array, count * element_bytes);
    if (!larger) {
        fputs("jalloc-crash: no memory for a walk\n", stderr);
        _exit(2);
    }
    return larger;
}

static void append(engine_walk_t *walk, uint64_t address) {
    if (walk->count == walk->capacity) {
        walk->capacity = walk->capacity ? 2 * walk->capacity : 4096;
        walk->addresses = grow_array(walk->addresses, walk->capacity, sizeof *walk->addresses);
        walk->ways = grow_array(walk->ways, walk->capacity, sizeof *walk->ways);
    }
    walk->addresses[walk->count++] = address;
}

/* Times an address was met, in a table of a power of two of places. */
typedef struct meeting {
    uint64_t address;
    uint32_t count, round; /* counted anew in each round */
} meeting_t;

static uint32_t meet(meeting_t *table, size_t places, uint64_t address, uint32_t round) {
    size_t place = (address * 0x9e3779b97f4a7c15u >> 20) & (places - 1);
    while (table[place].address != 0 && table[place].address != address)
        place = (place + 1) & (places - 1);
    if (table[place].round != round)
        table[place].count = 0;
    table[place].address = address;
    table[place].round = round;
    return ++table[place].count;
}

/* Chooses the way to each point: to the last address before it that had never been met (the
 * anchor), from there by hits of one breakpoint (the leap), the rest by steps. The first
 * instruction is always stepped over, and a breakpoint is never set where the child stands. An
 * instruction that repeats itself (rep movs) stops at a breakpoint once. */
static void choose_ways(engine_walk_t *walk) {
    size_t places = 64;
    while (places < 2 * walk->count)
        places *= 2;
    meeting_t *ever = calloc(places, sizeof *ever), *since = calloc(places, sizeof *since);
    uint32_t anchor = 0, anchors = 0, cost = 0; /* stops from the anchor to the point before */
    for (size_t i = 0; i < walk->count; i++) {
        engine_way_t *way = &walk->ways[i];
        *way = i > 0 ? walk->ways[i - 1] : (engine_way_t){0};
        cost++;
        uint64_t address = walk->addresses[i];
        if (ever == NULL || since == NULL || i < 2 || address == 0 ||
            address == walk->addresses[i - 1])
            continue;
        bool first = meet(ever, places, address, 0) == 1 && address != walk->addresses[1];
        uint32_t hits = meet(since, places, address, anchors);
        if (first) {
            anchor = (uint32_t)i;
            anchors++;
            cost = 0;
            *way = (engine_way_t){.anchor = anchor};
        } else if (address != walk->addresses[anchor > 0 ? anchor : 1] && hits < cost) {
            *way = (engine_way_t){.anchor = anchor, .leap = (uint32_t)i, .hits = hits};
            cost = hits;
        }
    }
    free(ever);
    free(since);
}

engine_result_t engine_record(pid_t child, const volatile uint32_t *phase, engine_walk_t *walk,
                              const volatile uint64_t *watch, size_t *deepest) {
    uint64_t most = 0;
    walk->count = 0;
    append(walk, next_address(child));
    for (int deliver = 0; *phase == PHASE_READY;) {
        if (!step(child, &deliver))
            return ENGINE_FAILED;
        append(walk, next_address(child));
        if (watch != NULL && deepest != NULL && *watch > most) {
            most = *watch;
            *deepest = walk->count - 1;
        }
    }
    if (set_breakpoint(child, walk->addresses[0]) && set_breakpoint(child, 0))
        choose_ways(walk);
    else
        memset(walk->ways, 0, walk->count * sizeof *walk->ways);
    return *phase == PHASE_ENDED ? ENGINE_THERE : ENGINE_FAILED;
}

/* Runs until an address has been met so many times. */
static engine_result_t run_to(pid_t child, const volatile uint32_t *phase, uint64_t address,
                              uint32_t hits, int *deliver) {
    if (!set_breakpoint(child, address))
        return ENGINE_FAILED;
    for (; hits > 0; hits--)
        if (!resume(child, PTRACE_CONT, deliver)) /* it ran past the end, or died */
            return *phase == PHASE_ENDED ? ENGINE_ENDED : ENGINE_FAILED;
    return set_breakpoint(child, 0) ? ENGINE_THERE : ENGINE_FAILED;
}

engine_result_t engine_walk_to(pid_t child, const volatile uint32_t *phase,
                               const engine_walk_t *walk, size_t k) {
    int deliver = 0;
    size_t at = 0;
    if (k == 0)
        return ENGINE_THERE;
    engine_way_t way = k < walk->count ? walk->ways[k] : (engine_way_t){0};
    engine_result_t result = ENGINE_THERE;
    if (way.anchor != 0 || way.leap != 0) {
        if (!step(child, &deliver))
            return ENGINE_FAILED;
        at = 1;
        if (way.anchor != 0) {
            result = run_to(child, phase, walk->addresses[way.anchor], 1, &deliver);
            at = way.anchor;
        }
        if (way.leap != 0 && result == ENGINE_THERE) {
            result = run_to(child, phase, walk->addresses[way.leap], way.hits, &deliver);
            at = way.leap;
        }
        if (result != ENGINE_THERE)
            return result;
    }
    for (; at < k && *phase == PHASE_READY; at++)
        if (!step(child, &deliver))
            return *phase == PHASE_ENDED ? ENGINE_ENDED : ENGINE_FAILED;
    if (*phase == PHASE_FAILED)
        return ENGINE_FAILED;
    if (k >= walk->count)
        return ENGINE_ENDED;
    return next_address(child) == walk->addresses[k] ? ENGINE_THERE : ENGINE_STRAYED;
}

void engine_walk_fini(engine_walk_t *walk) {
    free(walk->addresses);
    free(walk->ways);
    *walk = (engine_walk_t){0};
}

/* Where an atomic operation is a loop around an exclusive load and its store (aarch64 without LSE),
 * the stop between the two undoes the first, so that a stepped process never leaves the loop. */
static void add_one(void *counter) { atomic_fetch_add((_Atomic unsigned *)counter, 1); }

enum { PROBE_MOST_STEPS = 100000 }; /* the probe takes some hundreds */

const char *engine_hindrance(void) {
    _Atomic unsigned counter = 0;
    const pid_t child = engine_fork(add_one, &counter);
    int steps = 0;
    for (int deliver = 0; child > 0 && steps < PROBE_MOST_STEPS && step(child, &deliver);)
        steps++;
    if (steps > 0 && steps < PROBE_MOST_STEPS)
        return NULL;

    if (child > 0)
        engine_kill(child);
    return steps == 0 ? "this user may not step a process here"
                      : "a stepped process does not come past an atomic operation here";
}
