/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Switching costs a few nanoseconds: the registers that a call must preserve go onto the stack and
 * the stack pointer changes. swapcontext() would make a system call for the signal mask each time,
 * and a kernel with barriers switches for every thread at every barrier. It is used where the
 * processor is neither x86-64 nor aarch64.
 *
 * All stacks lie in one mapping, each above a page that nobody can touch. They begin at different
 * offsets in their page, or the frames of a thousand threads would all fall into the same sets of
 * the caches. */

#include "fiber.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#define FIBER_PAGE 4096
/* Touched as far as used; debug builds under ASan use most. */
#define FIBER_STACK_BYTES ((size_t)252 << 10)

extern "C" __attribute__((visibility("hidden"))) void fake_gpu_switch(void **from, void *to);

#if defined(__x86_64__)

__asm__(".text\n"
        ".balign 16\n"
        ".hidden fake_gpu_switch\n"
        ".globl fake_gpu_switch\n"
        ".type fake_gpu_switch,@function\n"
        "fake_gpu_switch:\n"
        "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
        "    ret\n"
        ".size fake_gpu_switch,.-fake_gpu_switch\n");

static void *fiber_frame(char *top, void (*entry)()) {
    void **frame = (void **)((uintptr_t)top & ~(uintptr_t)15) - 8;
    memset(frame, 0, 8 * sizeof *frame);
    frame[6] = (void *)entry; /* above six registers; entry finds the stack as after a call */
    return frame;
}

#elif defined(__aarch64__)

__asm__(".text\n"
        ".balign 16\n"
        ".hidden fake_gpu_switch\n"
        ".globl fake_gpu_switch\n"
        ".type fake_gpu_switch,%function\n"
        "fake_gpu_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size fake_gpu_switch,.-fake_gpu_switch\n");

static void *fiber_frame(char *top, void (*entry)()) {
    void **frame = (void **)((uintptr_t)top & ~(uintptr_t)15) - 20;
    memset(frame, 0, 20 * sizeof *frame);
    frame[11] = (void *)entry; /* x30 */
    return frame;
}

#else

#include <ucontext.h>

/* A context is a ucontext_t at the top of the stack, or of the heap for a thread's own. */
void fake_gpu_switch(void **from, void *to) {
    ucontext_t here;
    *from = &here;
    swapcontext(&here, (ucontext_t *)to);
}

static void *fiber_frame(char *top, void (*entry)()) {
    ucontext_t *context = (ucontext_t *)(((uintptr_t)top - sizeof *context) & ~(uintptr_t)63);
    getcontext(context);
    context->uc_link = nullptr;
    context->uc_stack.ss_size = FIBER_STACK_BYTES / 2;
    context->uc_stack.ss_sp = (char *)context - FIBER_STACK_BYTES / 2;
    makecontext(context, entry, 0);
    return context;
}

#endif

namespace fake {

void fiber_adopt(fiber_t *fiber) {
    memset(fiber, 0, sizeof *fiber);
#ifdef FIBER_ASAN
    static thread_local char *stack;
    static thread_local size_t stack_bytes;
    if (stack == nullptr) {
        pthread_attr_t attributes;
        void *address = nullptr;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &address, &stack_bytes);
        pthread_attr_destroy(&attributes);
        stack = (char *)address;
    }
    fiber->stack = stack;
    fiber->stack_bytes = stack_bytes;
#endif
#ifdef FIBER_TSAN
    fiber->tsan_fiber = __tsan_get_current_fiber();
#endif
}

void fiber_create(fiber_t *fibers, unsigned count, void (*entry)()) {
    const size_t each = FIBER_STACK_BYTES + FIBER_PAGE;
    char *memory = (char *)mmap(nullptr, each * count, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        fprintf(stderr, "fake GPU: no room for the stacks of kernels\n");
        abort();
    }

    for (unsigned i = 0; i < count; ++i) {
        fiber_t *fiber = &fibers[i];
        memset(fiber, 0, sizeof *fiber);
        fiber->stack = memory + i * each + FIBER_PAGE;
        fiber->stack_bytes = FIBER_STACK_BYTES - (size_t)(i * 704 % FIBER_PAGE);
        mprotect(fiber->stack, FIBER_STACK_BYTES, PROT_READ | PROT_WRITE);
        fiber->context = fiber_frame(fiber->stack + fiber->stack_bytes, entry);
    }
}

void fiber_reset(fiber_t *fiber, void (*entry)()) {
#ifdef FIBER_ASAN
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
    fiber->asan_stack = nullptr;
#endif
#ifdef FIBER_TSAN
    if (fiber->tsan_fiber != nullptr)
        __tsan_destroy_fiber(fiber->tsan_fiber);
    fiber->tsan_fiber = nullptr;
#endif
    fiber->context = fiber_frame(fiber->stack + fiber->stack_bytes, entry);
}

void fiber_switch(fiber_t *from, fiber_t *to) {
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&from->asan_stack, to->stack, to->stack_bytes);
#endif
#ifdef FIBER_TSAN
    if (to->tsan_fiber == nullptr)
        to->tsan_fiber = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
    fake_gpu_switch(&from->context, to->context);
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(from->asan_stack, nullptr, nullptr);
#endif
}

void fiber_arrived() {
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

} // namespace fake
