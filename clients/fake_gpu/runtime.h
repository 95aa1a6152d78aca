/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_GPU_RUNTIME_H
#define JALLOC_CLIENTS_FAKE_GPU_RUNTIME_H

/* What the parts of the fake runtime share. One lock guards all of it; kernels and copies run under
 * it, in the thread that found them necessary, host functions without it, in a thread of their own.
 *
 * A stream is a queue of operations numbered 1, 2, 3, ...; `issued` is the last one put in, `done`
 * the last one that has run. A point (stream, number) is reached when done >= number. Operations
 * may have points they wait for; reach() runs what is needed to reach a point and nothing else.
 * Points refer to what was issued before, so there are no cycles. */

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fake_gpu.h"

#pragma GCC visibility push(hidden)

namespace fake {

#define FAKE_MAX_DEVICES 4

struct capture_t;
struct stream_t;
typedef std::unique_lock<std::mutex> guard_t;

struct point_t {
    std::shared_ptr<stream_t> stream;
    uint64_t number;
};

/* What an operation does. Errors are those of kernels and copies and become the device's. Called
 * under the lock. */
typedef std::function<gpuError_t()> action_t;

struct host_function_t {
    gpuHostFn_t function;
    void *data;
};

struct operation_t {
    action_t action;                        /* or */
    host_function_t host{nullptr, nullptr}; /* or neither: only waits */
    std::vector<point_t> waits;
    bool always = false; /* even after a fault: memory comes and goes */
};

struct stream_t {
    int device = 0;
    /* Of those created: a later one has its handle. */
    uint64_t number = 0;
    /* Created: has a handle that the program must destroy. */
    bool legacy = false, blocking = true, created = false;
    std::deque<operation_t> queue;
    uint64_t issued = 0, done = 0;
    bool busy = false;                  /* the first of the queue is a host function that runs */
    uint64_t since = 0;                 /* milliseconds: when the queue was last empty */
    int polls = 0;                      /* queries that found it not ready */
    std::shared_ptr<capture_t> capture; /* NULL: in none */
    std::set<struct node_t *> frontier; /* of the capture: what the next node comes after */
};

struct event_t {
    int device = 0;
    bool timing = true;
    struct mark_t { /* what one record left behind */
        point_t point;
        double milliseconds = 0; /* when it was reached */
    };
    std::shared_ptr<mark_t> mark; /* NULL: never recorded */
    /* Last recorded in this capture; mark is then meaningless. */
    std::shared_ptr<capture_t> capture;
    std::set<struct node_t *> frontier;
};

/* ---- Graphs ---- */

struct node_t {
    operation_t operation; /* without points */
    std::set<node_t *> after;
};

struct user_object_t {
    host_function_t destroy;
    int64_t references;
};

/* User objects that a graph, or what is made of it, keeps. */
struct kept_t {
    std::map<user_object_t *, int64_t> objects;
    ~kept_t();
};

struct graph_t {
    std::vector<std::unique_ptr<node_t>> nodes;
    std::shared_ptr<kept_t> kept = std::make_shared<kept_t>();
};

struct graph_exec_t {
    std::vector<std::vector<size_t>> after; /* by node: numbers of those it comes after */
    std::vector<operation_t> operations;
    std::shared_ptr<kept_t> kept;
    /* What the next launch comes after: launches of one exec do not overlap. */
    std::vector<point_t> last;
};

struct capture_t {
    uint64_t id;
    gpuStreamCaptureMode mode;
    unsigned long thread;
    bool invalidated = false;
    std::shared_ptr<stream_t> origin;
    std::set<std::shared_ptr<stream_t>> streams;
    std::unique_ptr<graph_t> graph;
};

/* ---- Memory ---- */

enum class memory_kind_t { device, pinned, managed };

struct allocation_t {
    /* The first page; before and after all of them are some that are never accessible. */
    char *pages;
    size_t pages_bytes;
    char *data;
    size_t bytes;
    int device;
    memory_kind_t kind;
    bool ordered; /* of MallocAsync */
    bool live;    /* false: its stream has not come to the allocation yet */
    bool leaving; /* FreeAsync is in a stream */
    bool open;    /* its pages are accessible at present */
};

/* ---- All state ---- */

struct runtime_t {
    std::mutex lock;
    std::condition_variable changed; /* a busy stream went on */

    /* streams and events */
    std::map<void *, std::shared_ptr<stream_t>> streams; /* by handle */
    std::vector<void *> left_handles;                    /* of streams that were destroyed */
    std::set<std::shared_ptr<stream_t>> pending;         /* those with something in the queue */
    std::shared_ptr<stream_t> legacy[FAKE_MAX_DEVICES];
    std::map<void *, std::shared_ptr<event_t>> events;
    std::map<void *, std::unique_ptr<graph_t>> graphs;
    std::map<void *, std::unique_ptr<graph_exec_t>> execs;
    std::map<void *, std::unique_ptr<user_object_t>> user_objects;
    std::set<std::shared_ptr<capture_t>> captures;
    uint64_t stream_count = 0, capture_count = 0;
    uint64_t laziness_ms = 100;

    /* memory */
    std::map<uintptr_t, allocation_t> memory; /* by first page */
    size_t held_bytes[FAKE_MAX_DEVICES] = {}; /* of devices; until the free has run */
    size_t live_bytes = 0;                    /* of all kinds; until the free was asked for */
    size_t total_bytes = (size_t)2 << 30;

    /* devices */
    int device_count = 2;
    /* That it poses as: 90; FAKE_GPU_CAPABILITY. 0 where it plays HIP. */
    int capability;
    bool contexts[FAKE_MAX_DEVICES] = {};          /* which devices have one; CUDA */
    std::set<std::pair<int, const void *>> loaded; /* kernels, by device */
    gpuError_t lost = gpuSuccess;                  /* after a fault */

    /* control */
    uint64_t fail_in = 0;
    gpuError_t fail_with = gpuSuccess;
    bool failed = false;
    std::map<std::string, uint64_t> counts;
    uint64_t all = 0, allocations = 0, frees = 0, waits = 0, faults = 0;
    std::string last_fault;
    uint64_t seed;
    runtime_t();
};

/* Never destroyed: threads of the runtime outlive main. */
runtime_t &state();
/* A pseudorandom number from FAKE_GPU_SEED (SplitMix64). Under the lock. */
uint64_t random_number();

/* A fault: what a program must never cause. Reports it and returns the error that all calls give
 * from now on. */
gpuError_t fault(gpuError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Calls of the interface ---- */

enum call_flags_t : unsigned {
    PLAIN = 0,
    TAKES = 1, /* memory */
    GIVES = 2, /* memory */
    WAITS = 4,
    UNSAFE = 8, /* a capture may prohibit it */
    ALWAYS = 16 /* works without a device, and after a fault */
};

/* The frame of every call: takes the lock, counts, fails when told to, invalidates captures that
 * the call endangers, and keeps the last error. */
gpuError_t call(const char *name, unsigned flags, const std::function<gpuError_t(guard_t &)> &body);
/* Of the calling thread, which gets a context if it has none. */
int current_device();
int current_context(); /* its device; -1: none */
bool in_host_function();
void note_wait();
/* Keeps an error for gpuGetLastError(). */
void set_last_error(gpuError_t error);
/* The CUDA rules of unsafe calls: invalidates what is endangered and says so, or success. */
gpuError_t prohibit_unsafe();
/* The calling thread has begun a capture that has not ended. */
bool in_capture();
/* What a kernel's first use on the current device does, unless captures prohibit it. */
gpuError_t load_kernel(const void *kernel);

/* ---- Streams ---- */

/* The stream of a handle for the calling thread; NULL: no such stream. */
std::shared_ptr<stream_t> find_stream(gpuStream_t handle);
/* Puts an operation into a stream, or into the graph that it is captured into. */
gpuError_t submit(const std::shared_ptr<stream_t> &stream, operation_t operation);
/* As above, never captured. Returns its point. */
point_t enqueue(const std::shared_ptr<stream_t> &stream, operation_t operation);
/* Legacy stream, while a blocking stream is being captured: an error, which invalidates that
 * capture. */
gpuError_t check_implicit(const stream_t &stream);
/* Runs what is needed. With may_wait false returns false instead of waiting for a host function. */
bool reach(guard_t &guard, const point_t &point, bool may_wait = true);
void reach_stream(guard_t &guard, const std::shared_ptr<stream_t> &stream);
void reach_device(guard_t &guard, int device);
inline bool is_reached(const point_t &point) { return point.stream->done >= point.number; }
/* Runs a function on the thread of host functions; stream NULL: a destructor. And waits for all
 * destructors. */
void call_back(const host_function_t &host, const std::shared_ptr<stream_t> &stream);
void drain_callbacks(guard_t &guard);
double now_ms();

void invalidate(const std::shared_ptr<capture_t> &capture);
/* Adds a node after the stream's frontier. */
gpuError_t capture_operation(const std::shared_ptr<stream_t> &stream, operation_t operation);

/* ---- Memory ---- */

/* Where a pointer points: the allocation, or NULL for the host's own memory; *wild: into the arena,
 * to nothing. */
allocation_t *find_allocation(const void *pointer, bool *wild);
/* Makes pages accessible until close_memory(). */
void open_allocation(allocation_t *allocation);
void close_memory();
/* Whether so many bytes from here are all in one live allocation that `device` can touch, or the
 * host's. Opens it. A fault otherwise. */
gpuError_t check_range(const void *pointer, size_t bytes, int device, const char *what);
/* In the signal handler: an access of a kernel. True: made accessible, go on. */
bool admit(void *address, int device);
/* What stands at an address, for a message. */
void describe(const void *address, char *text, size_t text_bytes);

/* ---- Kernels ---- */

/* A kernel with copies of its arguments. */
struct bound_kernel_t {
    fake_gpu_function_t *kernel;
    fake_gpu_caller_t *caller;
    std::vector<std::max_align_t> copies;
    std::vector<const void *> arguments; /* in `copies` */
    bound_kernel_t(fake_gpu_function_t *kernel, fake_gpu_caller_t *caller,
                   const fake_gpu_argument_t *list, size_t count);
    bound_kernel_t(const bound_kernel_t &) = delete;
    void run_thread() const { caller(kernel, arguments.data()); }
};

struct launch_t {
    std::string name;
    std::shared_ptr<const bound_kernel_t> kernel;
    dim3 grid, block;
    int device;
};
gpuError_t execute(const launch_t &launch);

} // namespace fake

#pragma GCC visibility pop

#endif
