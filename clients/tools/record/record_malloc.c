/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* libjalloc_record.so: records the heap of any program, as a trace that jalloc-replay reads.
 *
 *     LD_PRELOAD=libjalloc_record.so JALLOC_RECORD_HEAP=trace.csv JALLOC_RECORD_HEAP_MIN_BYTES=4096
 *     program arguments
 *
 * It stands before malloc, calloc, realloc, free, posix_memalign, aligned_alloc and memalign, and
 * calls the ones that the program would have had: the C library's, or those of another LD_PRELOAD
 * that stands behind. What is at least JALLOC_RECORD_HEAP_MIN_BYTES (1024 when unset) is written
 * when it is allocated and when it is freed; a realloc is a free and an allocation, one that fails
 * a free, a failure, and an allocation of what is still there. It needs nothing of libjalloc, so it
 * records programs that have never heard of it.
 *
 *     allocate   the block is the thread's alone     free   the block is the thread's alone
 *                real malloc                                lock: out of the table, line written
 *                lock: into the table, line written         real free
 *
 * What always holds:
 *  - A line of an address is written while the address belongs to the writer, so the lines of one
 *    address alternate, allocate, free, allocate, whichever threads they come from. Times never
 *    fall: they are taken under the same lock.
 *  - Nothing here allocates: the table and the buffer are mapped, lines are made by hand. So
 *    nothing recurses.
 *  - The lock is held for one event or one append to the file, never while the program's or the C
 *    library's code runs. A signal handler that allocates while its thread is here is let through
 *    unrecorded.
 *  - A block whose allocation was not recorded (too small, older than the recording, made by a
 *    function not named above) is not in the table, and its free is not recorded. An address handed
 *    out anew while it is in the table was given back by a way that is not seen here: its free is
 *    written at that moment. So each free has its allocation, and an event may be left out at any
 *    time.
 *  - What belongs to the recording lies in memory that a forked child finds zeroed (trace_file.h).
 *    So nothing is held or done when a process forks, and a child has no recording. A child by
 *    vfork shares the memory, and is its parent but for the number of the process: it writes no
 *    file and ends no recording.
 *  - No descriptor is kept; what is written goes to the file that was begun, or nowhere
 *    (trace_file.h).
 *  - Whatever fails here (the file, the table) ends the recording with one line on stderr, if that
 *    is still the program's first, and with a last line of the trace where one can be written; and
 *    the program goes on.
 *
 * Whose file it is: the process that was started with JALLOC_RECORD_HEAP finds it renamed to
 * JALLOC_RECORD_HEAP_OF, with its own number and the absolute path, before it looks at its
 * environment. So do its descendants: a program that a child starts knows that the file is not its
 * own. exec keeps the process: the new program begins the file anew. Where the path has a "%p",
 * each descendant, by fork or exec, has a file of its own, named by its number. The environment is
 * read and changed in place: getenv and setenv may be the program's (bash has its own, which are
 * not ready yet).
 *
 * The lines are in a buffer until it is full, exit, quick_exit, _exit or _Exit; a program that dies
 * of a signal loses up to 64 KiB of them. What destructors free after this library's own is live at
 * the end of the trace. Large blocks are few, so one lock does; a free of a small one takes none,
 * by the counters in the filter. */

#include <dlfcn.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/size.h"
#include "memory/trace/trace_file.h"

#define HEAP_EXPORT __attribute__((visibility("default")))
/* A thread's own variable at a fixed place: the usual way to reach one in a library may
 * allocate. */
#define HEAP_THREAD_LOCAL static _Thread_local __attribute__((tls_model("initial-exec")))

#define HEAP_MIN_BYTES 1024
#define HEAP_BUFFER_BYTES 65536
#define HEAP_FILTER_SLOTS 65536
#define HEAP_TABLE_SLOTS 1024
#define HEAP_EARLY_BYTES 16384

/* ---- The real functions ---- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void (*quit)(int);
} real;

static atomic_bool heap_resolved;
HEAP_THREAD_LOCAL bool heap_resolving;

/* dlsym may allocate before it has found what allocates. It gets parts of this array, which are
 * never freed. Before each stands its size, for realloc. */
static alignas(max_align_t) unsigned char early[HEAP_EARLY_BYTES];
static atomic_size_t early_used;

static bool early_owns(const void *pointer) {
    return (uintptr_t)pointer - (uintptr_t)early < sizeof early;
}

static void *early_allocate(size_t size) {
    const size_t unit = alignof(max_align_t);
    size_t bytes = size <= sizeof early ? unit + (size + unit - 1) / unit * unit : sizeof early + 1;
    size_t begin = atomic_fetch_add(&early_used, bytes);
    if (begin > sizeof early || bytes > sizeof early - begin) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(early + begin, &size, sizeof size);
    return early + begin + unit;
}

static void *early_reallocate(void *pointer, size_t size) {
    size_t old_size;
    memcpy(&old_size, (unsigned char *)pointer - alignof(max_align_t), sizeof old_size);
    void *new_pointer = malloc(size);
    if (new_pointer != NULL)
        memcpy(new_pointer, pointer, old_size < size ? old_size : size);
    return new_pointer;
}

/* A function pointer is not an object pointer in C, though POSIX makes them alike. */
static void real_find(const char *name, void *function) {
    void *address = dlsym(RTLD_NEXT, name);
    memcpy(function, &address, sizeof address);
}

/* True when the real functions can be called. False within the dlsym that looks for them. Two
 * threads may both look: they find the same. */
static bool real_ready(void) {
    if (atomic_load_explicit(&heap_resolved, memory_order_acquire))
        return true;
    if (heap_resolving)
        return false;
    heap_resolving = true;
    real_find("malloc", &real.malloc);
    real_find("calloc", &real.calloc);
    real_find("realloc", &real.realloc);
    real_find("free", &real.free);
    real_find("posix_memalign", &real.posix_memalign);
    real_find("aligned_alloc", &real.aligned_alloc);
    real_find("memalign", &real.memalign);
    real_find("_exit", &real.quit);
    heap_resolving = false;
    atomic_store_explicit(&heap_resolved, true, memory_order_release);
    return true;
}

/* ---- The recording ---- */

typedef struct heap_block {
    uintptr_t address; /* 0: the slot is empty */
    size_t size;
    size_t alignment;
} heap_block_t;

/* All zero, as in a forked child: there is none. */
typedef enum heap_phase { HEAP_NONE, HEAP_STARTING, HEAP_RECORDING, HEAP_STOPPED } heap_phase_t;

typedef struct heap_state {
    atomic_int phase; /* heap_phase_t */
    ji_trace_lock_t lock;
    /* How many live recorded blocks have addresses of this hash. A thread that frees a block sees
     * at least its count. */
    atomic_uint filter[HEAP_FILTER_SLOTS];
    /* Under the lock: */
    pid_t pid; /* whose recording it is */
    uint64_t begin_ns;
    unsigned threads;
    size_t live;
    _Atomic(size_t) buffered; /* whole lines, also where a signal comes in */
    char buffer[HEAP_BUFFER_BYTES];
} heap_state_t;

/* Set once, when the library is loaded; NULL: nothing is ever recorded. */
static heap_state_t *heap;
static size_t heap_min_bytes;
static bool heap_follows; /* descendants have files of their own */
static ji_trace_file_t heap_stderr;
/* Under the lock, and not zeroed in a child: a signal handler that forks while its thread is here
 * comes back to it. */
static ji_trace_file_t heap_file;
static heap_block_t *heap_table; /* live recorded blocks: open addressing, at most half full */
static size_t heap_slots;        /* a power of two */

HEAP_THREAD_LOCAL pid_t heap_thread_pid; /* in whose recording the thread has its number */
HEAP_THREAD_LOCAL unsigned heap_thread;

/* One line on stderr, if that is what it was when the program began. */
static void heap_say(const char *what, const char *detail, const char *then) {
    char text[512];
    int length =
        snprintf(text, sizeof text, "libjalloc_record: %.200s%.200s%s\n", what, detail, then);
    (void)ji_trace_file_append(&heap_stderr, text, (size_t)length);
}

static void heap_refuse(const char *what, const char *detail) {
    heap_say(what, detail, "; the heap is not recorded");
}

static size_t heap_format(char *to, const char *action, uintptr_t address, size_t size,
                          size_t alignment, const char *why) {
    if (heap_thread_pid != heap->pid) {
        heap_thread_pid = heap->pid;
        heap_thread = heap->threads++;
    }
    ji_trace_line_t line = {heap_thread, ji_trace_now_ns() - heap->begin_ns,
                            action,      address,
                            size,        0,
                            alignment,   "heap",
                            why};
    return ji_trace_format(to, &line);
}

/* Under the lock: the recording is over, for a reason. The last line may find no room, as it may be
 * the reason. */
static void heap_stop(const char *what, const char *detail) {
    char line[JI_TRACE_LINE_BYTES], why[JI_TRACE_MAX_TAG + 1];
    atomic_store(&heap->phase, HEAP_STOPPED);
    snprintf(why, sizeof why, "%s%s", what, detail);
    size_t length = heap_format(line, "stopped", 0, 0, 0, why);
    if (getpid() == heap->pid)
        (void)ji_trace_file_append(&heap_file, line, length);
    heap_say(what, detail, "; the heap is not recorded any more");
}

/* Under the lock. A child by vfork leaves the buffer to its parent. */
static void heap_flush(void) {
    if (getpid() != heap->pid)
        return;
    size_t count = atomic_exchange_explicit(&heap->buffered, 0, memory_order_relaxed);
    int error = count > 0 ? ji_trace_file_append(&heap_file, heap->buffer, count) : 0;
    if (error != 0)
        heap_stop("the trace cannot be written: ", ji_trace_error_text(error));
}

static void heap_write_line(const char *action, uintptr_t address, size_t size, size_t alignment) {
    if (sizeof heap->buffer - heap->buffered < JI_TRACE_LINE_BYTES)
        heap_flush();
    size_t buffered = atomic_load_explicit(&heap->buffered, memory_order_relaxed);
    if (atomic_load_explicit(&heap->phase, memory_order_relaxed) != HEAP_RECORDING ||
        sizeof heap->buffer - buffered < JI_TRACE_LINE_BYTES)
        return;
    buffered += heap_format(heap->buffer + buffered, action, address, size, alignment, "");
    atomic_signal_fence(memory_order_release);
    atomic_store_explicit(&heap->buffered, buffered, memory_order_relaxed);
}

/* Fibonacci hashing; heap addresses differ in their middle bits. */
static size_t heap_hash(uintptr_t address, size_t slots) {
    return (size_t)(((uint64_t)address * 0x9E3779B97F4A7C15u) >> 32) & (slots - 1);
}

static atomic_uint *heap_filter_of(uintptr_t address) {
    return &heap->filter[heap_hash(address, HEAP_FILTER_SLOTS)];
}

/* The slot of the address, or the empty one where it would go. */
static heap_block_t *heap_find(uintptr_t address) {
    size_t slot = heap_hash(address, heap_slots);
    while (heap_table[slot].address != 0 && heap_table[slot].address != address)
        slot = (slot + 1) & (heap_slots - 1);
    return &heap_table[slot];
}

static bool heap_make_room(void) {
    if (2 * heap->live < heap_slots)
        return true;
    heap_block_t *old_table = heap_table;
    size_t old_slots = heap_slots, new_slots = old_slots > 0 ? 2 * old_slots : HEAP_TABLE_SLOTS;
    void *memory = mmap(NULL, new_slots * sizeof *heap_table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    heap_table = memory;
    heap_slots = new_slots;
    for (size_t slot = 0; slot < old_slots; slot++)
        if (old_table[slot].address != 0)
            *heap_find(old_table[slot].address) = old_table[slot];
    if (old_table != NULL)
        munmap(old_table, old_slots * sizeof *old_table);
    return true;
}

/* Takes a block out of the table; those behind it move up, so that no search meets a hole (Knuth,
 * volume 3, 6.4 R). */
static void heap_remove(heap_block_t *block) {
    atomic_fetch_sub_explicit(heap_filter_of(block->address), 1, memory_order_relaxed);
    size_t hole = (size_t)(block - heap_table), mask = heap_slots - 1;
    for (size_t slot = (hole + 1) & mask; heap_table[slot].address != 0; slot = (slot + 1) & mask) {
        size_t home = heap_hash(heap_table[slot].address, heap_slots);
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
            heap_table[hole] = heap_table[slot];
            hole = slot;
        }
    }
    heap_table[hole].address = 0;
    heap->live--;
}

/* ---- Under the lock: one event ---- */

/* The block that was live there; its address is 0: none. */
static heap_block_t heap_record_free(uintptr_t address) {
    heap_block_t *found = heap_find(address), block = *found;
    if (block.address != 0) {
        heap_write_line("free", address, block.size, block.alignment);
        heap_remove(found);
    }
    return block;
}

static void heap_record_allocate(const void *pointer, size_t size, size_t alignment) {
    uintptr_t address = (uintptr_t)pointer;
    if (address == 0) {
        heap_write_line("allocate failure", 0, size, alignment);
        return;
    }
    (void)heap_record_free(address); /* given back by a way that is not seen here */
    if (!heap_make_room()) {
        heap_stop("no memory for the table of live blocks", "");
        return;
    }
    heap_write_line("allocate", address, size, alignment);
    *heap_find(address) = (heap_block_t){address, size, alignment};
    atomic_fetch_add_explicit(heap_filter_of(address), 1, memory_order_relaxed);
    heap->live++;
}

static bool heap_begin(void);

static heap_phase_t heap_now(void) {
    return heap != NULL ? (heap_phase_t)atomic_load_explicit(&heap->phase, memory_order_relaxed)
                        : HEAP_STOPPED;
}

/* The lock, if there is a recording, or should be one. */
static bool heap_lock(void) {
    heap_phase_t phase = heap_now();
    if (phase != HEAP_RECORDING && (phase != HEAP_NONE || !heap_follows || !heap_begin()))
        return false;
    if (!ji_trace_lock_acquire(&heap->lock))
        return false;
    if (heap_now() == HEAP_RECORDING)
        return true;
    ji_trace_lock_release(&heap->lock);
    return false;
}

/* errno stays the caller's in both. */
static void heap_allocated(const void *pointer, size_t size, size_t alignment) {
    if (size < heap_min_bytes || heap == NULL)
        return;
    int saved = errno;
    if (heap_lock()) {
        heap_record_allocate(pointer, size, alignment);
        ji_trace_lock_release(&heap->lock);
    }
    errno = saved;
}

/* The block that is gone from the recording; its address is 0: none. */
static heap_block_t heap_freeing(const void *pointer) {
    heap_block_t block = {0};
    if (pointer == NULL || heap_now() != HEAP_RECORDING ||
        atomic_load_explicit(heap_filter_of((uintptr_t)pointer), memory_order_relaxed) == 0)
        return block;
    int saved = errno;
    if (heap_lock()) {
        block = heap_record_free((uintptr_t)pointer);
        ji_trace_lock_release(&heap->lock);
    }
    errno = saved;
    return block;
}

/* ---- What the program calls ---- */

HEAP_EXPORT void *malloc(size_t size) {
    if (!real_ready())
        return early_allocate(size);
    void *pointer = real.malloc(size);
    heap_allocated(pointer, size, alignof(max_align_t));
    return pointer;
}

HEAP_EXPORT void *calloc(size_t count, size_t size) {
    size_t bytes;
    bool fits = !__builtin_mul_overflow(count, size, &bytes);
    if (!real_ready())
        /* Each byte of the array is handed out once: still 0. */
        return fits ? early_allocate(bytes) : NULL;
    void *pointer = real.calloc(count, size);
    if (fits)
        heap_allocated(pointer, bytes, alignof(max_align_t));
    return pointer;
}

HEAP_EXPORT void *realloc(void *pointer, size_t size) {
    if (pointer == NULL)
        return malloc(size);
    if (early_owns(pointer))
        return early_reallocate(pointer, size);
    if (!real_ready())
        return NULL; /* only dlsym gets here, and it was given early memory */
    /* Its free is written before another thread can have the address, so before it is known whether
     * there is one. */
    heap_block_t before = heap_freeing(pointer);
    void *new_pointer = real.realloc(pointer, size);
    if (new_pointer != NULL || size != 0)
        heap_allocated(new_pointer, size, alignof(max_align_t));
    if (new_pointer == NULL && size != 0 && before.address != 0)
        heap_allocated(pointer, before.size, before.alignment);
    return new_pointer;
}

HEAP_EXPORT void free(void *pointer) {
    if (pointer == NULL || early_owns(pointer) || !real_ready())
        return;
    (void)heap_freeing(pointer);
    real.free(pointer);
}

HEAP_EXPORT int posix_memalign(void **pointer, size_t alignment, size_t size) {
    if (!real_ready())
        return ENOMEM;
    int error = real.posix_memalign(pointer, alignment, size);
    if (error == 0 || error == ENOMEM) /* else the alignment is no alignment */
        heap_allocated(error == 0 ? *pointer : NULL, size, alignment);
    return error;
}

HEAP_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    if (!real_ready())
        return NULL;
    void *pointer = real.aligned_alloc(alignment, size);
    if (pointer != NULL || errno == ENOMEM)
        heap_allocated(pointer, size, alignment);
    return pointer;
}

void *memalign(size_t alignment, size_t size); /* in <malloc.h>, which not every libc has */
HEAP_EXPORT void *memalign(size_t alignment, size_t size) {
    if (!real_ready())
        return NULL;
    void *pointer = real.memalign(alignment, size);
    if (pointer != NULL || errno == ENOMEM)
        heap_allocated(pointer, size, alignment);
    return pointer;
}

/* ---- Beginning ---- */

/* The value of a variable, and where it is; NULL: it is not there. Not by getenv, which may be the
 * program's. */
static char *heap_variable(const char *name, char ***place) {
    size_t length = strlen(name);
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') {
            *place = variable;
            return *variable + length + 1;
        }
    return NULL;
}

/* In place: the array may be what the program was started with, and has no room. */
static void heap_remove_variable(const char *name) {
    char **place;
    while (heap_variable(name, &place) != NULL)
        for (; *place != NULL; place++)
            place[0] = place[1];
}

/* Names the file, if there is one for this process: it was started with its name, or is the process
 * that was, or descendants have their own. */
static bool heap_find_file(void) {
    static char renamed[sizeof "JALLOC_RECORD_HEAP_OF=" + 24 + PATH_MAX];
    char **place, *end;
    const char *name = heap_variable("JALLOC_RECORD_HEAP", &place), *inherited = NULL;
    bool own = name != NULL && *name != '\0';
    if (!own && (inherited = heap_variable("JALLOC_RECORD_HEAP_OF", &place)) == NULL)
        return false;
    if (!own) {
        own = strtol(inherited, &end, 10) == getpid();
        if (*end != ':')
            return false;
        name = end + 1;
    }
    int error = ji_trace_file_name(&heap_file, name);
    if (error != 0) {
        heap_refuse("the trace has no path: ", ji_trace_error_text(error));
        return false;
    }
    heap_follows = ji_trace_file_is_per_process(&heap_file);
    if (inherited == NULL) {
        snprintf(renamed, sizeof renamed, "JALLOC_RECORD_HEAP_OF=%ld:%s", (long)getpid(),
                 heap_file.pattern);
        heap_remove_variable("JALLOC_RECORD_HEAP_OF");
        (void)heap_variable("JALLOC_RECORD_HEAP", &place);
        *place = renamed;
    }
    return own || heap_follows;
}

static bool heap_read_min_bytes(void) {
    char **place;
    heap_min_bytes = HEAP_MIN_BYTES;
    const char *text = heap_variable("JALLOC_RECORD_HEAP_MIN_BYTES", &place);
    if (text == NULL || *text == '\0')
        return true;
    if (ji_size_read(text, strlen(text), &heap_min_bytes) != JSTATUS_SUCCESS) {
        heap_refuse("JALLOC_RECORD_HEAP_MIN_BYTES is not a size such as 4096 or 4KiB: ", text);
        return false;
    }
    if (heap_min_bytes == 0)
        heap_min_bytes = 1; /* blocks of nothing are not worth a line */
    return true;
}

/* A misspelt variable of this library would be seen by nobody; of others it is the program's
 * libjalloc that warns. */
static void heap_look_at_names(void) {
    static const char own[] = "JALLOC_RECORD_HEAP";
    ji_environment_name_t name;
    for (size_t i = 0; ji_environment_unknown(i, &name); i++)
        if (strncmp(name.text, own, sizeof own - 1) == 0 ||
            (name.nearest != NULL && strncmp(name.nearest, own, sizeof own - 1) == 0)) {
            char text[160];
            snprintf(text, sizeof text, "%.*s is no variable of jalloc's", (int)name.length,
                     name.text);
            heap_say(text, name.nearest != NULL ? "; the nearest is " : "",
                     name.nearest != NULL ? name.nearest : "");
        }
}

/* Begins the recording of this process: when the library is loaded, or at a child's first event. */
static bool heap_begin(void) {
    int none = HEAP_NONE;
    if (!atomic_compare_exchange_strong(&heap->phase, &none, HEAP_STARTING))
        return false;
    heap->pid = getpid();
    heap->begin_ns = ji_trace_now_ns();
    heap->threads = 0;
    heap->live = 0;
    atomic_store(&heap->buffered, 0);
    heap_table = NULL; /* the parent's may be in use in this thread */
    heap_slots = 0;
    int error = heap_make_room() ? ji_trace_file_begin(&heap_file, false, true) : ENOMEM;
    if (error != 0) {
        atomic_store(&heap->phase, HEAP_STOPPED);
        char why[300];
        snprintf(why, sizeof why, "%.200s cannot be written: ", heap_file.path);
        heap_refuse(why, ji_trace_error_text(error));
        return false;
    }
    atomic_store(&heap->phase, HEAP_RECORDING);
    return true;
}

/* ---- End ---- */

/* Writes what is buffered. In a signal handler, too, which may have come in while its thread has
 * the lock: then the buffer holds whole lines, and is this thread's. */
static void heap_end(void) {
    /* A child by vfork ends, not the program. */
    if (heap_now() != HEAP_RECORDING || getpid() != heap->pid)
        return;
    bool mine = ji_trace_lock_is_mine(&heap->lock);
    if (!mine && !ji_trace_lock_acquire(&heap->lock))
        return;
    heap_flush();
    atomic_store(&heap->phase, HEAP_STOPPED);
    size_t missed = atomic_load_explicit(&heap->lock.missed, memory_order_relaxed);
    if (!mine)
        ji_trace_lock_release(&heap->lock);
    if (missed > 0) {
        char count[24];
        snprintf(count, sizeof count, "%zu", missed);
        heap_say(count, " events of signal handlers", " were not recorded");
    }
}

__attribute__((constructor)) static void heap_load(void) {
    real_ready();
    struct stat info;
    if (fstat(STDERR_FILENO, &info) == 0) {
        heap_stderr.device = info.st_dev;
        heap_stderr.inode = info.st_ino;
    }
    char **place;
    /* Descendants need not say it again. */
    if (heap_variable("JALLOC_RECORD_HEAP_OF", &place) == NULL)
        heap_look_at_names();
    if (!heap_find_file() || !heap_read_min_bytes())
        return;
    heap = ji_trace_map(sizeof *heap);
    if (heap == NULL)
        heap_refuse("no memory", "");
    else if (heap_begin())
        (void)at_quick_exit(heap_end);
}

__attribute__((destructor)) static void heap_unload(void) { heap_end(); }

/* Leaving without destructors. */
HEAP_EXPORT _Noreturn void _exit(int status) {
    heap_end();
    if (real_ready())
        real.quit(status);
    __builtin_trap(); /* not reached */
}

HEAP_EXPORT _Noreturn void _Exit(int status) { _exit(status); }
