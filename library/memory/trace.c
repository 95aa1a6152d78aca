/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Traces are written for programs that nobody changed for it, so a line must be cheap, and whatever goes wrong must not
 * be the program's concern. Lines are made by hand, digit by digit, in a buffer; a full buffer is written out at a
 * line's end, and so is what is left when the last user goes, on demand, and when the process exits. A process that
 * dies of a signal or by _exit loses what was buffered.
 *
 * One lock is for everything here. Time is taken under it, so the lines of a file are in the order of their times.
 *
 * A file is begun anew when the process first names it, and added to afterwards: a program whose allocators come and go
 * leaves one trace. What has been begun is remembered in a small table, not in bookkeeping memory, since it must
 * outlive every writer. After a fork the file stays the parent's, with what the parent has in the buffer; a child,
 * which is known by not being the process that loaded the library, begins FILE.PID with its first line. */

#include "memory/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/lock.h"

#define TRACE_BUFFER_BYTES 65536
#define TRACE_LINE_BYTES 512 /* the longest has 374: numbers of at most 20 digits, names all of them quotes */
#define TRACE_MAX_BEGUN 32   /* files that are remembered, the latest; an older one is begun anew */

static const char trace_header[] = "Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag\n";

struct ji_trace {
    ji_trace_t *next;
    size_t user_count;
    int file;            /* -1: recording has stopped */
    unsigned generation; /* of the process whose lines it has */
    int64_t start_ns;
    size_t used;
    char buffer[TRACE_BUFFER_BYTES];
    char name[]; /* "": standard error */
};

typedef struct trace_begun {
    uint64_t name_hash;
    int64_t start_ns;
    unsigned generation; /* of the process that began it */
} trace_begun_t;

static pid_t trace_loader; /* the process that loaded the library */
__attribute__((constructor)) static void trace_at_load(void) { trace_loader = getpid(); }

static pthread_once_t trace_once = PTHREAD_ONCE_INIT;
static ji_lock_t trace_lock; /* of all below, and of every writer */
static ji_trace_t *trace_list;
static trace_begun_t trace_begun[TRACE_MAX_BEGUN];
static size_t trace_begun_count;

static void trace_start(void) {
    ji_lock_init(&trace_lock);
    ji_fork_watch();
}

static int64_t trace_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* 0 for the first thread that asks. */
static unsigned trace_thread_number(void) {
    static atomic_uint count;
    static _Thread_local unsigned number __attribute__((tls_model("initial-exec"))); /* plus one */
    if (number == 0)
        number = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1;
    return number - 1;
}

/* ---- Files ----------------------------------------------------------------------------------------------------------
 */

/* FNV-1a. */
static uint64_t trace_hash(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; ++name)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static bool trace_write_out(int file, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

/* The file of a name in this process, with its header. -1 with errno set. */
static int trace_open_file(const char *name, bool anew) {
    char path[PATH_MAX];
    int length = getpid() != trace_loader ? snprintf(path, sizeof path, "%s.%ld", name, (long)getpid())
                                          : snprintf(path, sizeof path, "%s", name);
    if (length >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = name[0] != '\0' ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (anew ? O_TRUNC : 0), 0666)
                               : STDERR_FILENO;
    struct stat info;
    bool empty = anew || (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0);
    if (file >= 0 && empty && !trace_write_out(file, trace_header, sizeof trace_header - 1)) {
        int error = errno;
        if (file != STDERR_FILENO)
            close(file);
        errno = error;
        file = -1;
    }
    return file;
}

/* Gives the writer its file, for the process that runs. */
static bool trace_begin(ji_trace_t *trace) {
    uint64_t hash = trace_hash(trace->name);
    trace_begun_t *begun = trace_begun, fresh = {hash, trace_now_ns(), ji_fork_generation};
    const trace_begun_t *end =
        trace_begun + (trace_begun_count < TRACE_MAX_BEGUN ? trace_begun_count : TRACE_MAX_BEGUN);
    while (begun < end && begun->name_hash != hash)
        ++begun;
    bool known = begun < end;
    bool anew = !known || begun->generation != ji_fork_generation;
    trace->file = trace_open_file(trace->name, anew);
    trace->generation = ji_fork_generation;
    trace->start_ns = anew ? fresh.start_ns : begun->start_ns;
    if (trace->file < 0)
        return false;
    if (known && anew)
        *begun = fresh;
    else if (!known)
        trace_begun[trace_begun_count++ % TRACE_MAX_BEGUN] = fresh;
    return true;
}

static void trace_close_file(ji_trace_t *trace) {
    if (trace->file >= 0 && trace->file != STDERR_FILENO)
        close(trace->file);
    trace->file = -1;
}

/* Writes the buffer out. False: an error, in errno, has just ended the recording. */
static bool trace_empty_buffer(ji_trace_t *trace) {
    size_t used = trace->used;
    trace->used = 0;
    if (trace->generation != ji_fork_generation) /* the parent has these lines, too */
        return true;
    if (trace->file < 0 || trace_write_out(trace->file, trace->buffer, used))
        return true;
    int error = errno;
    trace_close_file(trace);
    errno = error;
    return false;
}

/* In a child: leaves the parent's file and begins one of its own. False: an error, in errno. */
static bool trace_follow_fork(ji_trace_t *trace) {
    if (trace->generation == ji_fork_generation || trace->file < 0)
        return true;
    trace->used = 0;
    trace_close_file(trace);
    return trace_begin(trace);
}

/* Without the lock: the log has one of its own. */
static void trace_complain(const ji_trace_t *trace, int error) {
    jlog_write(JLOG_ERROR, NULL, "trace \"%s\": %s; nothing more is recorded", trace->name, strerror(error));
}

/* ---- Lines ----------------------------------------------------------------------------------------------------------
 */

static char *trace_put_number(char *to, uint64_t number, unsigned base) {
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}
static char *trace_put_decimal(char *to, uint64_t number) { return trace_put_number(to, number, 10); }
static char *trace_put_address(char *to, const void *address) {
    *to++ = '0';
    *to++ = 'x';
    return trace_put_number(to, (uintptr_t)address, 16);
}
static char *trace_put_text(char *to, const char *text) {
    bool quoted = strpbrk(text, ",\"") != NULL;
    if (quoted)
        *to++ = '"';
    for (; *text != '\0'; ++text) {
        if (*text == '"')
            *to++ = '"';
        *to++ = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    if (quoted)
        *to++ = '"';
    return to;
}

static size_t trace_format(char *line, const ji_trace_event_t *event, int64_t time_ns) {
    static const char *const actions[] = {"allocate", "allocate failure", "free"};
    char *to = trace_put_decimal(line, trace_thread_number());
    *to++ = ',';
    to = trace_put_decimal(to, (uint64_t)time_ns);
    *to++ = ',';
    to = trace_put_text(to, actions[event->action]);
    *to++ = ',';
    to = trace_put_address(to, event->pointer);
    *to++ = ',';
    to = trace_put_decimal(to, event->size_bytes);
    *to++ = ',';
    to = trace_put_address(to, event->stream);
    *to++ = ',';
    to = trace_put_decimal(to, event->alignment);
    *to++ = ',';
    to = trace_put_text(to, event->allocator);
    *to++ = ',';
    to = trace_put_text(to, jtag_name(event->tag));
    *to++ = '\n';
    return (size_t)(to - line);
}

void ji_trace_write(ji_trace_t *trace, const ji_trace_event_t *event) {
    ji_lock_acquire(&trace_lock);
    bool well = trace_follow_fork(trace);
    if (well && TRACE_BUFFER_BYTES - trace->used < TRACE_LINE_BYTES)
        well = trace_empty_buffer(trace);
    int error = errno;
    if (trace->file >= 0)
        trace->used += trace_format(trace->buffer + trace->used, event, trace_now_ns() - trace->start_ns);
    ji_lock_release(&trace_lock);
    if (!well)
        trace_complain(trace, error);
}

jstatus_t ji_trace_flush(ji_trace_t *trace) {
    ji_lock_acquire(&trace_lock);
    bool stopped = trace->file < 0, well = trace_empty_buffer(trace);
    int error = errno;
    ji_lock_release(&trace_lock);
    if (!well)
        trace_complain(trace, error);
    if (stopped || !well)
        return ji_fail(JSTATUS_IO_ERROR, "trace \"%s\" %s", trace->name,
                       stopped ? "is not written any more since an error" : "could not be written");
    return JSTATUS_SUCCESS;
}

/* ---- Users ----------------------------------------------------------------------------------------------------------
 */

jstatus_t ji_trace_open(const char *file, ji_trace_t **out) {
    const char *name = file != NULL ? file : "";
    pthread_once(&trace_once, trace_start);
    ji_lock_acquire(&trace_lock);
    jstatus_t status = JSTATUS_SUCCESS;
    ji_trace_t *trace = trace_list, *made = NULL;
    while (trace != NULL && strcmp(trace->name, name) != 0)
        trace = trace->next;
    if (trace == NULL) {
        size_t name_bytes = strlen(name) + 1;
        JTRY_ALLOC(made = ji_metadata_alloc(sizeof *made + name_bytes));
        memset(made, 0, offsetof(ji_trace_t, buffer));
        memcpy(made->name, name, name_bytes);
        if (!trace_begin(made)) {
            status = ji_fail(JSTATUS_IO_ERROR, "trace \"%s\" cannot be written: %s", name, strerror(errno));
            goto done;
        }
        made->next = trace_list;
        trace_list = trace = made;
        made = NULL;
    }
    ++trace->user_count;
    *out = trace;
done:
    ji_lock_release(&trace_lock);
    ji_metadata_free(made);
    return status;
}

void ji_trace_close(ji_trace_t *trace) {
    ji_lock_acquire(&trace_lock);
    bool well = trace_empty_buffer(trace), last = --trace->user_count == 0;
    int error = errno;
    if (last) {
        trace_close_file(trace);
        ji_trace_t **link = &trace_list;
        while (*link != trace)
            link = &(*link)->next;
        *link = trace->next;
    }
    ji_lock_release(&trace_lock);
    if (!well)
        trace_complain(trace, error);
    if (last)
        ji_metadata_free(trace);
}

/* When the program ends, or the library is unloaded. */
__attribute__((destructor)) static void trace_at_exit(void) {
    if (trace_list == NULL)
        return;
    ji_lock_acquire(&trace_lock);
    for (ji_trace_t *trace = trace_list; trace != NULL; trace = trace->next)
        (void)trace_empty_buffer(trace);
    ji_lock_release(&trace_lock);
}
