/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CRASH_ENGINE_H
#define JALLOC_CRASH_ENGINE_H

/* Walks a child through an operation, one instruction at a time, and stops where it is told to.
 *
 * The child shows with engine_marker() where the operation begins, and says in the memory it shares
 * with its parent when it has ended. Point k is the state after k instructions from the marker. The
 * first walk is recorded; later ones come to a point by a breakpoint where that takes fewer stops,
 * and by single steps from there. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum engine_phase { PHASE_BEFORE, PHASE_READY, PHASE_ENDED, PHASE_FAILED } engine_phase_t;

/* How to come to a point. */
typedef struct engine_way {
    uint32_t anchor; /* a point that a breakpoint leads to by its first hit; 0: none */
    uint32_t leap;   /* a point after it that one leads to by so many hits; 0: none */
    uint32_t hits;
} engine_way_t;

/* What was executed: the address of the instruction that is next at each point. */
typedef struct engine_walk {
    uint64_t *addresses;
    engine_way_t *ways;
    size_t count, capacity;
} engine_walk_t;

typedef enum engine_result {
    ENGINE_THERE,   /* at the point, alive */
    ENGINE_ENDED,   /* the operation ended before */
    ENGINE_STRAYED, /* at an instruction, but not the one that was recorded for the point */
    ENGINE_FAILED   /* the child complained, was stopped by a signal or is gone */
} engine_result_t;

/* Why this user may not step a child through an operation on this machine; NULL: nothing is against
 * it. */
const char *engine_hindrance(void);

/* Forks a child that runs `body` and exits; it is stopped before the first instruction, and dies
 * with its parent. */
pid_t engine_fork(void (*body)(void *), void *context);

/* In the child: where the operation begins. Sets *phase to ready. */
static inline void engine_marker(volatile uint32_t *phase);

/* Lets the child run to its marker. False: it did not come there. */
bool engine_run_to_marker(pid_t child, const volatile uint32_t *phase);

/* From the marker to the end, recording; the child is left at the point after the last instruction.
 * *deepest: the first point at which *watch is largest. Both may be NULL. */
engine_result_t engine_record(pid_t child, const volatile uint32_t *phase, engine_walk_t *walk,
                              const volatile uint64_t *watch, size_t *deepest);

/* From the marker to point k. */
engine_result_t engine_walk_to(pid_t child, const volatile uint32_t *phase,
                               const engine_walk_t *walk, size_t k);

/* Lets the child run from where it is until it ends or fails; true if it ended. */
bool engine_run_to_end(pid_t child, const volatile uint32_t *phase);

/* SIGKILL, and waits until it is gone: its files are closed. */
void engine_kill(pid_t child);

void engine_walk_fini(engine_walk_t *walk);

/* Where an address of this program is in its file, for addr2line -e. */
uint64_t engine_file_address(uint64_t address);

#if defined __x86_64__
#define ENGINE_STOP_() __asm__ volatile("int3" ::: "memory")
#else
#include <signal.h>
#define ENGINE_STOP_() raise(SIGTRAP)
#endif
static inline void engine_marker(volatile uint32_t *phase) {
    *phase = PHASE_READY;
    ENGINE_STOP_();
}

#endif
