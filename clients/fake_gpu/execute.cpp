/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How a kernel runs. The threads of a block are fibers of the calling thread. A fiber takes thread
 * after thread, each when the one before has returned; when a thread comes to a barrier its fiber
 * stays there and a fresh one goes on. So a kernel without barriers is a plain loop on one fiber,
 * and one with barriers has a fiber for each thread.
 *
 *   phase 0    every thread starts and runs until it returns or stands at a barrier
 *   phase p    every thread goes on from barrier p until it returns or stands at a barrier
 *
 * At the end of a phase either all threads have returned and the block is done, or all stand at one
 * barrier and the next phase begins; anything else is a divergent barrier. The threads take their
 * turns in an order that is different in each phase and block: i -> start + i * step modulo the
 * count, with a step coprime to it. So do the blocks.
 *
 * Pages of the device are closed when a kernel starts and opened by the signal that the first
 * access to an allocation raises. An access that has no right to succeed ends the kernel: its fiber
 * is left where it is. */

#include "fiber.h"
#include "runtime.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <pthread.h>
#include <ucontext.h>

#define EXECUTE_MAX_THREADS 1024
#define EXECUTE_MAX_Y_Z 65535u
#define EXECUTE_MAX_X 2147483647u

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace fake {

/* i -> start + i * step modulo count. */
struct order_t {
    uint64_t count, step, next;
    void shuffle(uint64_t count_) {
        count = count_;
        const uint64_t random = random_number();
        next = random % count;
        /* A quarter in the order that everybody expects. */
        step = random >> 32 & 3 ? 1 + (random >> 34) % count : 1;
        while (std::gcd(step, count) != 1)
            ++step;
        step %= count;
        if (step == 1 && (random >> 33 & 1) != 0)
            next = 0;
    }
    uint64_t take() {
        const uint64_t taken = next;
        next += step;
        if (next >= count)
            next -= count;
        return taken;
    }
};

static struct executor_t {
    bool made, running;
    pthread_t thread; /* of the operating system, that runs the kernel */
    fiber_t own, fibers[EXECUTE_MAX_THREADS];
    fiber_t *current;
    const launch_t *launch;
    unsigned threads, used; /* of the block; fibers in use */
    unsigned phase, taken, waiting, finished;
    order_t order;
    const char *file; /* the barrier of this phase, and another that some thread came to */
    int line, other_line;
    char stopped[256]; /* why the kernel was stopped; "": it was not */
} executor;

static void execute_select(fiber_t *fiber, unsigned thread) {
    executor.current = fiber;
    fiber->thread = thread;
    threadIdx = uint3{thread % blockDim.x, thread / blockDim.x % blockDim.y,
                      thread / blockDim.x / blockDim.y};
}

/* The running fiber has nothing to do in this phase any more. */
static void execute_next(fiber_t *self) {
    fiber_t *to = &executor.own;
    if (executor.taken < executor.threads) {
        if (executor.phase == 0) {
            to = &executor.fibers[executor.used++]; /* takes a thread itself */
            executor.current = to;
        } else {
            ++executor.taken;
            to = &executor.fibers[executor.order.take()];
            execute_select(to, to->thread);
        }
        if (to == self)
            return;
    }
    fiber_switch(self, to);
}

static void execute_fiber() {
    fiber_arrived();
    for (;;) {
        fiber_t *self = executor.current;
        while (executor.phase == 0 && executor.taken < executor.threads) {
            ++executor.taken;
            execute_select(self, (unsigned)executor.order.take());
            executor.launch->kernel->run_thread();
            ++executor.finished;
        }
        execute_next(self);
    }
}

static void execute_stop() {
    for (unsigned i = 0; i < executor.used; ++i)
        fiber_reset(&executor.fibers[i], execute_fiber);
}

/* False: the kernel was stopped. */
static bool execute_block() {
    executor.phase = executor.taken = executor.waiting = executor.finished = 0;
    executor.used = 1;

    executor.order.shuffle(executor.threads);
    executor.current = &executor.fibers[0];
    fiber_t *first = executor.current;

    for (;;) {
        executor.waiting = 0;
        executor.other_line = 0;
        fiber_switch(&executor.own, first);

        if (executor.stopped[0] == '\0' && executor.waiting == 0)
            return true;
        if (executor.stopped[0] == '\0' && executor.waiting < executor.threads)
            snprintf(executor.stopped, sizeof executor.stopped,
                     "divergent barrier: %u of %u threads stand at %s:%d, the others have returned",
                     executor.waiting, executor.threads, executor.file, executor.line);
        else if (executor.stopped[0] == '\0' && executor.other_line != 0)
            snprintf(executor.stopped, sizeof executor.stopped,
                     "divergent barrier: threads of a block stand at %s:%d and at line %d",
                     executor.file, executor.line, executor.other_line);

        if (executor.stopped[0] != '\0') {
            execute_stop();
            return false;
        }

        ++executor.phase;
        executor.order.shuffle(executor.threads);
        executor.taken = 1;
        first = &executor.fibers[executor.order.take()];
        execute_select(first, first->thread);
    }
}

/* Where a stopped kernel goes on. */
static void execute_leave() {
    fiber_switch(executor.current, &executor.own); /* not to come back */
}

/* Lets the handler return into execute_leave, on the kernel's stack: the thread sanitizer loses its
 * way when a handler does not return. */
static void execute_leave_on_return(void *context) {
#if defined(__x86_64__)
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    const uintptr_t stack = (uintptr_t)machine->gregs[REG_RSP] - 256; /* below the red zone */
    machine->gregs[REG_RSP] = (greg_t)((stack & ~(uintptr_t)15) - 8);
    machine->gregs[REG_RIP] = (greg_t)(uintptr_t)execute_leave;
#elif defined(__aarch64__)
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    machine->sp = (machine->sp - 256) & ~(uintptr_t)15;
    machine->pc = (uintptr_t)execute_leave;
#else
    (void)context;
    execute_leave();
#endif
}

static void execute_on_signal(int signal, siginfo_t *info, void *context);
static struct sigaction execute_before[2];
static const int execute_signals[2] = {SIGSEGV, SIGBUS};

static void execute_on_signal(int signal, siginfo_t *info, void *context) {
    if (executor.running && pthread_equal(pthread_self(), executor.thread)) {
        if (admit(info->si_addr, executor.launch->device))
            return;

        char where[160];
        describe(info->si_addr, where, sizeof where);
        snprintf(executor.stopped, sizeof executor.stopped,
                 "block (%u, %u, %u), thread (%u, %u, %u) touched %s", blockIdx.x, blockIdx.y,
                 blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, where);
        execute_leave_on_return(context);
        return;
    }
    /* Somebody else's: as if we were not there. */
    const struct sigaction *before = &execute_before[signal == SIGBUS];
    if ((before->sa_flags & SA_SIGINFO) != 0)
        before->sa_sigaction(signal, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(signal);
    else
        sigaction(signal, before, nullptr); /* the access is made again */
}

gpuError_t execute(const launch_t &launch) {
    if (!executor.made) {
        fiber_create(executor.fibers, EXECUTE_MAX_THREADS, execute_fiber);
        executor.made = true;
    }

    struct sigaction action = {};
    action.sa_sigaction = execute_on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (int i = 0; i < 2; ++i)
        sigaction(execute_signals[i], &action, &execute_before[i]);

    fiber_adopt(&executor.own);
    executor.thread = pthread_self();
    executor.launch = &launch;
    executor.threads = launch.block.x * launch.block.y * launch.block.z;
    executor.stopped[0] = '\0';
    executor.running = true;

    gridDim = launch.grid;
    blockDim = launch.block;
    order_t blocks;
    const uint64_t count = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
    blocks.shuffle(count);

    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t block = blocks.take();
        blockIdx = uint3{(unsigned)(block % gridDim.x), (unsigned)(block / gridDim.x % gridDim.y),
                         (unsigned)(block / gridDim.x / gridDim.y)};
        if (!execute_block())
            break;
    }

    executor.running = false;
    for (int i = 0; i < 2; ++i)
        sigaction(execute_signals[i], &execute_before[i], nullptr);

    if (executor.stopped[0] != '\0')
        return fault(executor.stopped[0] == 'd' ? gpuErrorLaunchFailure : gpuErrorIllegalAddress,
                     "kernel %s: %s", launch.name.c_str(), executor.stopped);
    return gpuSuccess;
}

gpuError_t load_kernel(const void *kernel) {
    const std::pair<int, const void *> name(current_device(), kernel);
    if (state().loaded.count(name) != 0)
        return gpuSuccess;

    const gpuError_t error = prohibit_unsafe();
    if (error == gpuSuccess)
        state().loaded.insert(name);
    return error;
}

static bool launch_is_possible(const dim3 &grid, const dim3 &block) {
    if (block.x == 0 || block.y == 0 || block.z == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0)
        return false;
    if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
        (uint64_t)block.x * block.y * block.z > EXECUTE_MAX_THREADS)
        return false;
    if (grid.x > EXECUTE_MAX_X || grid.y > EXECUTE_MAX_Y_Z || grid.z > EXECUTE_MAX_Y_Z)
        return false;
#ifdef FAKE_GPU_HIP
    /* HIP counts threads, in 32 bits. */
    if ((uint64_t)grid.x * block.x > UINT32_MAX || (uint64_t)grid.y * block.y > UINT32_MAX ||
        (uint64_t)grid.z * block.z > UINT32_MAX)
        return false;
#endif
    return true;
}

bound_kernel_t::bound_kernel_t(fake_gpu_function_t *kernel_, fake_gpu_caller_t *caller_,
                               const fake_gpu_argument_t *list, size_t count)
    : kernel(kernel_), caller(caller_) {
    const size_t unit = sizeof(std::max_align_t);

    size_t units = 0;
    for (size_t i = 0; i < count; ++i)
        units += (list[i].size_bytes + unit - 1) / unit;
    copies.resize(units);

    std::max_align_t *next = copies.data();
    for (size_t i = 0; i < count; ++i) {
        memcpy(next, list[i].value, list[i].size_bytes);
        arguments.push_back(next);
        next += (list[i].size_bytes + unit - 1) / unit;
    }
}

} // namespace fake

using namespace fake;

void fake_gpu_barrier(const char *file, int line) {
    if (executor.waiting++ == 0) {
        executor.file = file;
        executor.line = line;
    } else if (line != executor.line) {
        executor.other_line = line;
    }

    fiber_t *self = executor.current;
    execute_next(self);
}

gpuError_t fake_gpu_launch_kernel(const char *name, fake_gpu_function_t *kernel,
                                  fake_gpu_caller_t *caller, dim3 grid, dim3 block,
                                  gpuStream_t handle, const fake_gpu_argument_t *arguments,
                                  size_t count) {
    return call("LaunchKernel", PLAIN, [&](guard_t &) -> gpuError_t {
        if (!launch_is_possible(grid, block))
            return gpuErrorInvalidConfiguration;

        std::shared_ptr<stream_t> stream = find_stream(handle);
        if (stream == nullptr || stream->device != current_device())
            return gpuErrorInvalidResourceHandle;

        const gpuError_t error = load_kernel((const void *)kernel);
        if (error != gpuSuccess)
            return error;

        for (size_t i = 0; i < count; ++i) {
            const void *pointer = nullptr;
            bool wild = false;
            if (arguments[i].is_pointer)
                memcpy(&pointer, arguments[i].value, sizeof pointer);
            if (pointer != nullptr && find_allocation(pointer, &wild) == nullptr && !wild)
                return fault(gpuErrorIllegalAddress,
                             "kernel %s: argument %zu, %p, points to the host's memory", name,
                             i + 1, pointer);
        }

        operation_t operation;
        launch_t launch{name,
                        std::make_shared<const bound_kernel_t>(kernel, caller, arguments, count),
                        grid, block, stream->device};
        operation.action = [launch] { return execute(launch); };
        return submit(stream, std::move(operation));
    });
}
