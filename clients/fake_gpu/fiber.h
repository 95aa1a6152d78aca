/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_GPU_FIBER_H
#define JALLOC_CLIENTS_FAKE_GPU_FIBER_H

/* Fibers: stacks that one thread of the operating system switches between. The sanitizers are told
 * of every switch. */

#include <cstddef>

#pragma GCC visibility push(hidden)

namespace fake {

struct fiber_t {
    void *context; /* stack pointer, while it does not run */
    char *stack;   /* lowest byte; NULL: the thread's own stack */
    size_t stack_bytes;
    void *asan_stack;
    void *tsan_fiber;
    unsigned thread; /* of the block */
};

/* The calling thread's own stack as a fiber, to switch back to. */
void fiber_adopt(fiber_t *fiber);
/* Stacks for `count` fibers that run `entry`, which never returns. */
void fiber_create(fiber_t *fibers, unsigned count, void (*entry)());
/* Begins again at `entry`, whatever the fiber was doing. */
void fiber_reset(fiber_t *fiber, void (*entry)());
void fiber_switch(fiber_t *from, fiber_t *to);
/* The first statement of `entry`. */
void fiber_arrived();

} // namespace fake

#pragma GCC visibility pop

#endif
