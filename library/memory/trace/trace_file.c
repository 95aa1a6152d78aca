/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Why the file is opened for each append: whatever number a kept descriptor has, somebody closes
 * all there are, or takes that number for a file of his own. What is left is the moment between
 * open and close, which only another thread of the same program could hit.
 *
 * Why "as long as it was left": a second program that was given the same name empties the file, or
 * appends to it. Neither's lines would make a trace, so whoever notices stops. */

#include "memory/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char trace_header[] =
    "Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag\n";

void *ji_trace_map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;

#ifdef MADV_WIPEONFORK
    (void)madvise(memory, bytes, MADV_WIPEONFORK);
#endif

    return memory;
}

/* ---- The lock ---- */

#define TRACE_SPINS 100 /* about a microsecond */
#define TRACE_YIELDS 20
#define TRACE_SLEEP_NS 50000
#define TRACE_SLEEPS 100000 /* 5 seconds at least */

/* A thread's name is the address of this. In a child the forking thread keeps it. */
static _Thread_local char trace_thread __attribute__((tls_model("initial-exec")));

static bool trace_lock_try(ji_trace_lock_t *lock) {
    uintptr_t nobody = 0;
    return atomic_load_explicit(&lock->owner, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&lock->owner, &nobody, (uintptr_t)&trace_thread,
                                                   memory_order_acquire, memory_order_relaxed);
}

static bool trace_lock_spin(ji_trace_lock_t *lock) {
    for (unsigned i = 0; i < TRACE_SPINS; ++i) {
        if (trace_lock_try(lock))
            return true;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    return false;
}

static bool trace_lock_wait(ji_trace_lock_t *lock) {
    static const struct timespec step = {0, TRACE_SLEEP_NS};
    for (unsigned i = 0; i < TRACE_YIELDS; ++i) {
        sched_yield();
        if (trace_lock_spin(lock))
            return true;
    }

    if (atomic_load_explicit(&lock->stuck, memory_order_relaxed))
        return false;

    int cancel;
    bool had = false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* to sleep is to be cancelled */

    for (unsigned i = 0; i < TRACE_SLEEPS && !had; ++i) {
        nanosleep(&step, NULL);
        had = trace_lock_try(lock);
    }

    pthread_setcancelstate(cancel, NULL);
    if (!had)
        atomic_store_explicit(&lock->stuck, true, memory_order_relaxed);

    return had;
}

bool ji_trace_lock_is_mine(const ji_trace_lock_t *lock) {
    return atomic_load_explicit(&lock->owner, memory_order_relaxed) == (uintptr_t)&trace_thread;
}

bool ji_trace_lock_acquire(ji_trace_lock_t *lock) {
    if (trace_lock_try(lock))
        return true;

    if (!ji_trace_lock_is_mine(lock) && (trace_lock_spin(lock) || trace_lock_wait(lock)))
        return true;

    atomic_fetch_add_explicit(&lock->missed, 1, memory_order_relaxed);
    return false;
}

void ji_trace_lock_release(ji_trace_lock_t *lock) {
    atomic_store_explicit(&lock->owner, 0, memory_order_release);
}

static char *trace_put_decimal(char *to, uint64_t number) {
    char digits[20];
    size_t count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);

    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/* ---- The file ---- */

/* While a file is open: no signal finds it so, and no write's signal reaches the program. */
typedef struct trace_quiet {
    sigset_t mask, pending; /* before */
    int cancel;
} trace_quiet_t;

static const int trace_signals[] = {SIGPIPE, SIGXFSZ};

static void trace_quiet_begin(trace_quiet_t *quiet) {
    sigset_t all;
    sigfillset(&all);

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet->cancel);
    pthread_sigmask(SIG_SETMASK, &all, &quiet->mask);
    sigpending(&quiet->pending);
}

static void trace_quiet_end(const trace_quiet_t *quiet, int error) {
    static const struct timespec now = {0, 0};

    for (size_t i = 0; (error == EPIPE || error == EFBIG) && i < 2; ++i) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, trace_signals[i]);
        if (!sigismember(&quiet->pending, trace_signals[i]))
            (void)sigtimedwait(&one, NULL, &now);
    }

    pthread_sigmask(SIG_SETMASK, &quiet->mask, NULL);
    pthread_setcancelstate(quiet->cancel, NULL);
}

/* Opens without waiting for anybody: a pipe that nobody reads is an error. */
static int trace_open(const ji_trace_file_t *file, int flags) {
    if (file->path[0] == '\0')
        return STDERR_FILENO;

    int fd =
        open(file->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0666);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_APPEND); /* writing to a pipe waits for its reader */

    return fd;
}

static void trace_close(const ji_trace_file_t *file, int fd) {
    if (fd >= 0 && file->path[0] != '\0')
        close(fd);
}

static int trace_write(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;

        if (written <= 0)
            return written < 0 ? errno : EIO;

        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

static int trace_check(const ji_trace_file_t *file, int fd, bool *regular) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return errno;

    *regular = S_ISREG(info.st_mode) && file->path[0] != '\0';
    return info.st_dev == file->device && info.st_ino == file->inode &&
                   (!*regular || info.st_size == file->size)
               ? 0
               : JI_TRACE_NOT_OURS;
}

int ji_trace_file_append(ji_trace_file_t *file, const char *bytes, size_t count) {
    trace_quiet_t quiet;
    bool regular = false;

    trace_quiet_begin(&quiet);

    int fd = trace_open(file, 0), error = fd < 0 ? errno : trace_check(file, fd, &regular);
    if (error == 0) {
        error = trace_write(fd, bytes, count);
        if (error == 0)
            file->size += (off_t)count;
        else if (regular)
            (void)!ftruncate(fd, file->size); /* a trace ends with a whole line */
    }

    trace_close(file, fd);
    trace_quiet_end(&quiet, error);

    return error;
}

/* The pattern with its "%p" replaced. */
static int trace_expand(ji_trace_file_t *file, bool child) {
    char *to = file->path, *const end = file->path + sizeof file->path - 24; /* room for a number */

    for (const char *from = file->pattern; *from != '\0'; ++from) {
        if (to >= end)
            return ENAMETOOLONG;
        if (from[0] == '%' && from[1] == 'p') {
            to = trace_put_decimal(to, (uint64_t)getpid());
            ++from;
        } else {
            *to++ = *from;
        }
    }

    if (child && to > file->path && !ji_trace_file_is_per_process(file)) {
        *to++ = '.';
        to = trace_put_decimal(to, (uint64_t)getpid());
    }
    *to = '\0';
    return 0;
}

int ji_trace_file_begin(ji_trace_file_t *file, bool child, bool anew) {
    int error = trace_expand(file, child);
    if (error != 0)
        return error;

    trace_quiet_t quiet;
    struct stat info;

    trace_quiet_begin(&quiet);
    int fd = trace_open(file, O_CREAT | (anew ? O_TRUNC : 0));
    if (fd < 0 || fstat(fd, &info) != 0) {
        error = errno;
    } else {
        file->device = info.st_dev;
        file->inode = info.st_ino;
        file->size = info.st_size;
        if (anew || (S_ISREG(info.st_mode) && info.st_size == 0)) {
            error = trace_write(fd, trace_header, sizeof trace_header - 1);
            file->size += (off_t)sizeof trace_header - 1;
        }
    }

    trace_close(file, fd);
    trace_quiet_end(&quiet, error);

    return error;
}

int ji_trace_file_name(ji_trace_file_t *file, const char *name) {
    size_t length = strlen(name), before = 0;

    if (length > 0 && name[0] != '/') {
        if (getcwd(file->pattern, sizeof file->pattern - 1) == NULL)
            return errno;
        before = strlen(file->pattern);
        file->pattern[before++] = '/';
    }

    if (before + length >= sizeof file->pattern)
        return ENAMETOOLONG;

    memcpy(file->pattern + before, name, length + 1);
    return 0;
}

bool ji_trace_file_is_per_process(const ji_trace_file_t *file) {
    return strstr(file->pattern, "%p") != NULL;
}

const char *ji_trace_error_text(int error) {
    switch (error) {
    case JI_TRACE_NOT_OURS: return "it is another file now, or others write to it";
    case EACCES:
    case EPERM: return "it may not be written";
    case EFBIG: return "it is as long as a file may be";
    case EISDIR: return "it is a folder";
    case EMFILE:
    case ENFILE: return "all descriptors are in use";
    case ENAMETOOLONG: return "its name is too long";
    case ENOENT: return "it, or its folder, is not there";
    case EDQUOT:
    case ENOSPC: return "no space is left";
    case ENXIO:
    case EPIPE: return "nobody reads it";
    case EROFS: return "its file system is read only";
    default: return strerror(error);
    }
}

/* ---- Lines ---- */

static char *trace_put_address(char *to, uintptr_t address) {
    uint64_t number = address;
    int digits = number != 0 ? (67 - __builtin_clzll(number)) / 4 : 1;

    *to++ = '0';
    *to++ = 'x';

    while (digits-- > 0)
        *to++ = "0123456789abcdef"[number >> 4 * digits & 15];
    return to;
}

/* Most texts are short and need no quotes: they are copied before that is known. */
static char *trace_put_text(char *to, const char *text, size_t most) {
    size_t i = 0;
    for (; i < most && text[i] != '\0' && text[i] != ',' && text[i] != '"'; ++i)
        to[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];

    if (i == most || text[i] == '\0')
        return to + i;

    *to++ = '"';
    for (; *text != '\0' && most > 0; ++text, --most) {
        if (*text == '"')
            *to++ = '"';
        *to++ = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    *to++ = '"';
    return to;
}

uint64_t ji_trace_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t ji_trace_format(char *to, const ji_trace_line_t *line) {
    char *const begin = to;

    to = trace_put_decimal(to, line->thread);
    *to++ = ',';
    to = trace_put_decimal(to, line->time_ns);
    *to++ = ',';
    to = trace_put_text(to, line->action, 16);
    *to++ = ',';
    to = trace_put_address(to, line->pointer);
    *to++ = ',';
    to = trace_put_decimal(to, line->size_bytes);
    *to++ = ',';
    to = trace_put_address(to, line->stream);
    *to++ = ',';
    to = trace_put_decimal(to, line->alignment);
    *to++ = ',';
    to = trace_put_text(to, line->allocator, JI_TRACE_MAX_NAME);
    *to++ = ',';
    to = trace_put_text(to, line->tag, JI_TRACE_MAX_TAG);
    *to++ = '\n';

    return (size_t)(to - begin);
}
