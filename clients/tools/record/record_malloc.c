/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* libjalloc_record.so: records the heap of any program, as a trace that jalloc-replay reads.
 *
 *     LD_PRELOAD=libjalloc_record.so JALLOC_RECORD_HEAP=trace.csv JALLOC_RECORD_HEAP_MIN_BYTES=4096 program arguments
 *
 * It stands before malloc, calloc, realloc, free, posix_memalign, aligned_alloc and memalign, and calls the ones that
 * the program would have had: the C library's, or those of another LD_PRELOAD that stands behind. What is at least
 * JALLOC_RECORD_HEAP_MIN_BYTES (1024 when unset) is written when it is allocated and when it is freed; a realloc is a
 * free and an allocation. It needs nothing of libjalloc, so it records programs that have never heard of it.
 *
 *     allocate   the block is the thread's alone         free   the block is the thread's alone
 *                real malloc                                    lock: out of the table, line written
 *                lock: into the table, line written             real free
 *
 * What always holds:
 *  - A line of an address is written while the address belongs to the writer, so the lines of one address alternate,
 *    allocate, free, allocate, whichever threads they come from. Times never fall: they are taken under the same lock.
 *  - Nothing here allocates: the table is mapped, the buffer is static, lines are made by snprintf of whole numbers. So
 *    nothing recurses.
 *  - A block whose allocation was not recorded (too small, older than the recording, made by a function not named
 *    above) is not in the table, and its free is not recorded. An address handed out anew while it is in the table
 *    was given back by a way that is not seen here: its free is written at that moment. So each free has its
 *    allocation.
 *  - The file belongs to the process that was started with the variables, which it names in JALLOC_RECORD_HEAP_PID
 *    for its descendants: a forked child stops recording, a program started by a child never begins. exec keeps the
 *    process: the new program starts the file anew.
 *  - Whatever fails here (the file, the table) ends the recording with one line on stderr, and the program goes on.
 *
 * The lines are in a buffer until it is full, exit, _exit or _Exit; a program that dies of a signal loses up to 64
 * KiB of them. What destructors free after this library's own is live at the end of the trace. Large blocks are few,
 * so one lock does; a free of a small one takes none, by the counters in heap_filter. */

#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HEAP_EXPORT __attribute__((visibility("default")))
/* A thread's own variable at a fixed place: the usual way to reach one in a library may allocate. */
#define HEAP_THREAD_LOCAL static _Thread_local __attribute__((tls_model("initial-exec")))

#define HEAP_MIN_BYTES 1024
#define HEAP_BUFFER_BYTES 65536
#define HEAP_LINE_BYTES 160 /* a line is at most 115 characters: five numbers of 20, the words, the commas */
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

/* dlsym may allocate before it has found what allocates. It gets parts of this array, which are never freed. Before
 * each stands its size, for realloc. */
static alignas(max_align_t) unsigned char early[HEAP_EARLY_BYTES];
static atomic_size_t early_used;

static bool early_owns(const void *pointer) { return (uintptr_t)pointer - (uintptr_t)early < sizeof early; }

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

/* True when the real functions can be called. False within the dlsym that looks for them. Two threads may both look:
 * they find the same. */
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

static atomic_bool heap_recording;
static size_t heap_min_bytes;
static uint64_t heap_begin_ns;
static pid_t heap_pid; /* whose file it is */
/* How many live recorded blocks have addresses of this hash. A thread that frees a block sees at least its count. */
static atomic_uint heap_filter[HEAP_FILTER_SLOTS];

static pthread_mutex_t heap_mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under the mutex: */
static int heap_file = -1;
static char heap_buffer[HEAP_BUFFER_BYTES];
static size_t heap_buffered;
static heap_block_t *heap_table; /* live recorded blocks: open addressing, at most half full */
static size_t heap_slots;        /* a power of two */
static size_t heap_live;
static unsigned heap_threads;

HEAP_THREAD_LOCAL unsigned heap_thread; /* number of the thread + 1; 0: not seen yet */

static uint64_t heap_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The one line on stderr; recording is over. */
static void heap_give_up(const char *what, const char *detail) {
    atomic_store(&heap_recording, false);
    char text[512];
    int length = snprintf(text, sizeof text, "libjalloc_record: %s%s; the heap is not recorded\n", what, detail);
    size_t bytes = length < (int)sizeof text ? (size_t)length : sizeof text - 1;
    if (write(STDERR_FILENO, text, bytes) < 0)
        return; /* nobody to tell */
}

static void heap_flush(void) {
    size_t written = 0;
    while (written < heap_buffered && getpid() == heap_pid) { /* a child by clone(2) has the buffer, not the file */
        ssize_t bytes = write(heap_file, heap_buffer + written, heap_buffered - written);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0) {
            heap_give_up("the trace cannot be written", "");
            break;
        }
        written += (size_t)bytes;
    }
    heap_buffered = 0;
}

static void heap_write_line(const char *action, uintptr_t address, size_t size, size_t alignment) {
    if (sizeof heap_buffer - heap_buffered < HEAP_LINE_BYTES)
        heap_flush();
    if (heap_thread == 0)
        heap_thread = ++heap_threads;
    unsigned long long time_ns = heap_now_ns() - heap_begin_ns;
    int length = snprintf(heap_buffer + heap_buffered, HEAP_LINE_BYTES, "%u,%llu,%s,0x%llx,%zu,0x0,%zu,heap,\n",
                          heap_thread - 1, time_ns, action, (unsigned long long)address, size, alignment);
    heap_buffered += (size_t)length;
}

/* Fibonacci hashing; heap addresses differ in their middle bits. */
static size_t heap_hash(uintptr_t address, size_t slots) {
    return (size_t)(((uint64_t)address * 0x9E3779B97F4A7C15u) >> 32) & (slots - 1);
}

static atomic_uint *heap_filter_of(uintptr_t address) { return &heap_filter[heap_hash(address, HEAP_FILTER_SLOTS)]; }

/* The slot of the address, or the empty one where it would go. */
static heap_block_t *heap_find(uintptr_t address) {
    size_t slot = heap_hash(address, heap_slots);
    while (heap_table[slot].address != 0 && heap_table[slot].address != address)
        slot = (slot + 1) & (heap_slots - 1);
    return &heap_table[slot];
}

static bool heap_make_room(void) {
    if (2 * heap_live < heap_slots)
        return true;
    heap_block_t *old_table = heap_table;
    size_t old_slots = heap_slots, new_slots = old_slots > 0 ? 2 * old_slots : HEAP_TABLE_SLOTS;
    void *memory =
        mmap(NULL, new_slots * sizeof *heap_table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

/* Takes a block out of the table; those behind it move up, so that no search meets a hole (Knuth, volume 3, 6.4 R). */
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
    heap_live--;
}

/* ---- Under the mutex: one event ---- */

static void heap_record_free(uintptr_t address) {
    heap_block_t *block = heap_find(address);
    if (block->address == 0)
        return;
    heap_write_line("free", address, block->size, block->alignment);
    heap_remove(block);
}

static void heap_record_allocate(const void *pointer, size_t size, size_t alignment) {
    uintptr_t address = (uintptr_t)pointer;
    if (address == 0) {
        heap_write_line("allocate failure", 0, size, alignment);
        return;
    }
    heap_record_free(address); /* given back by a way that is not seen here */
    if (!heap_make_room()) {
        heap_give_up("no memory for the table of live blocks", "");
        return;
    }
    heap_write_line("allocate", address, size, alignment);
    *heap_find(address) = (heap_block_t){address, size, alignment};
    atomic_fetch_add_explicit(heap_filter_of(address), 1, memory_order_relaxed);
    heap_live++;
}

/* The mutex, if there still is a recording; errno stays the caller's. */
static bool heap_lock(void) {
    if (!atomic_load_explicit(&heap_recording, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&heap_mutex);
    if (atomic_load_explicit(&heap_recording, memory_order_relaxed))
        return true;
    pthread_mutex_unlock(&heap_mutex);
    return false;
}

static void heap_allocated(const void *pointer, size_t size, size_t alignment) {
    if (size < heap_min_bytes)
        return;
    int saved = errno;
    if (heap_lock()) {
        heap_record_allocate(pointer, size, alignment);
        pthread_mutex_unlock(&heap_mutex);
    }
    errno = saved;
}

static bool heap_may_know(const void *pointer) {
    return pointer != NULL && atomic_load_explicit(heap_filter_of((uintptr_t)pointer), memory_order_relaxed) > 0;
}

static void heap_freeing(const void *pointer) {
    if (!heap_may_know(pointer))
        return;
    int saved = errno;
    if (heap_lock()) {
        heap_record_free((uintptr_t)pointer);
        pthread_mutex_unlock(&heap_mutex);
    }
    errno = saved;
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
        return fits ? early_allocate(bytes) : NULL; /* each byte of the array is handed out once: still 0 */
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
    if (!heap_may_know(pointer)) {
        void *new_pointer = real.realloc(pointer, size);
        heap_allocated(new_pointer, size, alignof(max_align_t));
        return new_pointer;
    }
    /* Whether there is a free to record is known afterwards, when another thread may have the address: it waits for the
     * lock with its line. */
    bool locked = heap_lock();
    void *new_pointer = real.realloc(pointer, size);
    int saved = errno;
    if (locked) {
        if (new_pointer != NULL || size == 0)
            heap_record_free((uintptr_t)pointer);
        if (size >= heap_min_bytes)
            heap_record_allocate(new_pointer, size, alignof(max_align_t));
        pthread_mutex_unlock(&heap_mutex);
    }
    errno = saved;
    return new_pointer;
}

HEAP_EXPORT void free(void *pointer) {
    if (pointer == NULL || early_owns(pointer) || !real_ready())
        return;
    heap_freeing(pointer);
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

/* ---- Beginning and end ---- */

static void heap_stop(void) {
    if (heap_lock()) {
        heap_flush();
        atomic_store(&heap_recording, false);
        pthread_mutex_unlock(&heap_mutex);
    }
}

static void heap_before_fork(void) { pthread_mutex_lock(&heap_mutex); }

static void heap_after_fork_parent(void) { pthread_mutex_unlock(&heap_mutex); }

static void heap_after_fork_child(void) {
    atomic_store(&heap_recording, false);
    pthread_mutex_unlock(&heap_mutex);
}

/* Is this the process that was started with the variables, or one that it executes in its place? Names it if so. */
static bool heap_is_owner(void) {
    char number[24];
    snprintf(number, sizeof number, "%ld", (long)getpid());
    const char *owner = getenv("JALLOC_RECORD_HEAP_PID");
    return owner != NULL ? strcmp(owner, number) == 0 : setenv("JALLOC_RECORD_HEAP_PID", number, 1) == 0;
}

static bool heap_read_min_bytes(void) {
    heap_min_bytes = HEAP_MIN_BYTES;
    const char *text = getenv("JALLOC_RECORD_HEAP_MIN_BYTES");
    if (text == NULL)
        return true;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value > SIZE_MAX) {
        heap_give_up("JALLOC_RECORD_HEAP_MIN_BYTES is not a number of bytes: ", text);
        return false;
    }
    heap_min_bytes = value > 0 ? (size_t)value : 1; /* blocks of nothing are not worth a line */
    return true;
}

__attribute__((constructor)) static void heap_start(void) {
    static const char header[] = "Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag\n";
    const char *path = getenv("JALLOC_RECORD_HEAP");
    real_ready();
    if (path == NULL || *path == '\0' || !heap_is_owner() || !heap_read_min_bytes())
        return;
    heap_file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (heap_file < 0) {
        heap_give_up("cannot open ", path);
        return;
    }
    if (!heap_make_room() || pthread_atfork(heap_before_fork, heap_after_fork_parent, heap_after_fork_child) != 0) {
        heap_give_up("no memory for the table of live blocks", "");
        return;
    }
    memcpy(heap_buffer, header, sizeof header - 1);
    heap_buffered = sizeof header - 1;
    heap_pid = getpid();
    heap_begin_ns = heap_now_ns();
    atomic_store(&heap_recording, true);
}

__attribute__((destructor)) static void heap_end(void) { heap_stop(); }

/* Leaving without destructors. */
HEAP_EXPORT _Noreturn void _exit(int status) {
    heap_stop();
    if (real_ready())
        real.quit(status);
    __builtin_trap(); /* not reached */
}

HEAP_EXPORT _Noreturn void _Exit(int status) { _exit(status); }
