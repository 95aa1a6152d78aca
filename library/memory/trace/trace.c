/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Traces are written for programs that nobody changed for it, so a line must be cheap, and whatever
 * goes wrong must not be the program's concern. Lines are made by hand in a buffer; a full buffer
 * is appended to the file (trace_file.h), and so is what is left when the last user goes, on
 * demand, and when the process exits. A process that dies of a signal or by _exit loses what was
 * buffered.
 *
 * One lock is for everything here. Time is taken under it, so the lines of a file are in the order
 * of their times. A signal handler that allocates while its thread has the lock is not recorded.
 *
 * A file is begun anew when the process first names it, and added to afterwards: a program whose
 * allocators come and go leaves one trace. What has been begun is remembered in a small table, not
 * in bookkeeping memory, since it must outlive every writer.
 *
 * The lock and the number of the process lie in memory that a forked child finds zeroed, so nothing
 * is held or done when a process forks. The file stays the parent's, with what the parent has in
 * the buffer; a child begins FILE.PID (or what the name's "%p" says) with its first line. */

#include "memory/trace/trace.h"

#include "core/list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define TRACE_BUFFER_BYTES 65536
#define TRACE_MAX_BEGUN 32 /* files that are remembered, the latest; an older one is begun anew */

_Static_assert(JI_TRACE_MAX_TAG >= JTAG_NAME_BYTES - 1, "a tag fits into a line");

struct ji_trace {
    ji_link_t link;
    size_t user_count;
    bool stopped;
    unsigned process; /* whose lines it has */
    uint64_t start_ns;
    ji_trace_file_t file;
    size_t used;
    char buffer[TRACE_BUFFER_BYTES];
    char name[]; /* "": standard error */
};

typedef struct trace_begun {
    uint64_t name_hash, start_ns;
    unsigned process; /* that began it */
} trace_begun_t;

/* All zero in a forked child. */
typedef struct trace_process {
    ji_trace_lock_t lock; /* of all below, and of every writer */
    unsigned number;      /* 1: of the process that loaded the library; 0: not numbered yet */
    pid_t pid;
} trace_process_t;

static pid_t trace_loader; /* the process that loaded the library */
__attribute__((constructor)) static void trace_at_load(void) { trace_loader = getpid(); }

static trace_process_t *trace_process; /* NULL: there is no memory, or nothing was ever recorded */
static unsigned trace_process_count;   /* of processes from the first down to this one */
static ji_list_t trace_list = JI_LIST_EMPTY(trace_list);
static trace_begun_t trace_begun[TRACE_MAX_BEGUN];
static size_t trace_begun_count;

static void trace_number_process(void) {
    trace_process->number = ++trace_process_count;
    trace_process->pid = getpid();
}

static void trace_start(void) {
    trace_process_count = getpid() != trace_loader;
    trace_process = ji_trace_map(sizeof *trace_process);
    if (trace_process != NULL)
        trace_number_process();
}

/* False: a signal handler came in while its thread was here, or another thread is held up here. */
static bool trace_enter(void) {
    if (!ji_trace_lock_acquire(&trace_process->lock))
        return false;

    if (trace_process->number == 0)
        trace_number_process();
    return true;
}
static void trace_leave(void) { ji_trace_lock_release(&trace_process->lock); }

/* Where it was not entered. */
static jstatus_t trace_refuse_busy(const char *name) {
    return ji_fail(JSTATUS_BUSY,
                   "trace \"%s\": a trace is being written, by this thread or one that is held up",
                   name);
}

/* 0 for the first thread that asks. */
static unsigned trace_thread_number(void) {
    static atomic_uint count;
    static _Thread_local unsigned number __attribute__((tls_model("initial-exec"))); /* plus one */

    if (number == 0)
        number = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1;
    return number - 1;
}

/* ---- Files, under the lock ---- */

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t trace_hash(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; ++name)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* Gives the writer its file, for the process that runs. An error, or 0. */
static int trace_begin(ji_trace_t *trace) {
    uint64_t hash = trace_hash(trace->name);
    trace_begun_t *begun = trace_begun, fresh = {hash, ji_trace_now_ns(), trace_process->number};
    const trace_begun_t *end =
        trace_begun + (trace_begun_count < TRACE_MAX_BEGUN ? trace_begun_count : TRACE_MAX_BEGUN);

    while (begun < end && begun->name_hash != hash)
        ++begun;

    bool known = begun < end;
    bool anew = !known || begun->process != trace_process->number;

    int error = ji_trace_file_begin(&trace->file, trace_process->number > 1, anew);
    trace->process = trace_process->number;
    trace->start_ns = anew ? fresh.start_ns : begun->start_ns;
    trace->stopped = error != 0;
    if (error != 0)
        return error;

    if (known && anew)
        *begun = fresh;
    else if (!known)
        trace_begun[trace_begun_count++ % TRACE_MAX_BEGUN] = fresh;

    return 0;
}

static size_t trace_format(const ji_trace_t *trace, char *to, const ji_trace_event_t *event,
                           const char *action, const char *tag) {
    ji_trace_line_t line = {.thread = trace_thread_number(),
                            .time_ns = ji_trace_now_ns() - trace->start_ns,
                            .action = action,
                            .pointer = (uintptr_t)event->pointer,
                            .size_bytes = event->size_bytes,
                            .stream = (uintptr_t)event->stream,
                            .alignment = event->alignment,
                            .allocator = event->allocator,
                            .tag = tag};
    return ji_trace_format(to, &line);
}

/* The recording is over; the last line says why, if there is room for one. */
static void trace_stop(ji_trace_t *trace, int error) {
    static const ji_trace_event_t none = {.allocator = ""};
    char line[JI_TRACE_LINE_BYTES];

    trace->stopped = true;
    size_t length = trace_format(trace, line, &none, "stopped", ji_trace_error_text(error));
    (void)ji_trace_file_append(&trace->file, line, length);
}

/* Writes the buffer out. An error that has just ended the recording, or 0. */
static int trace_empty_buffer(ji_trace_t *trace) {
    size_t used = trace->used;

    trace->used = 0;
    if (trace->stopped || used == 0 || trace->process != trace_process->number ||
        trace_process->pid != getpid())
        return 0; /* in a child: the parent has these lines, too */

    int error = ji_trace_file_append(&trace->file, trace->buffer, used);
    if (error != 0)
        trace_stop(trace, error);

    return error;
}

/* In a child: leaves the parent's file and begins one of its own. */
static int trace_follow_fork(ji_trace_t *trace) {
    if (trace->process == trace_process->number || trace->stopped)
        return 0;

    trace->used = 0;
    return trace_begin(trace);
}

/* Without the lock: the log has one of its own. */
static void trace_complain(const ji_trace_t *trace, int error) {
    jlog_write(JLOG_ERROR, NULL, "trace \"%s\" cannot be written: %s; nothing more is recorded",
               trace->name, ji_trace_error_text(error));
}

/* ---- Lines ---- */

void ji_trace_write(ji_trace_t *trace, const ji_trace_event_t *event) {
    static const char *const actions[] = {"allocate", "allocate failure", "free"};

    if (!trace_enter())
        return;

    int error = trace_follow_fork(trace);
    if (error == 0 && TRACE_BUFFER_BYTES - trace->used < JI_TRACE_LINE_BYTES)
        error = trace_empty_buffer(trace);

    if (!trace->stopped)
        trace->used += trace_format(trace, trace->buffer + trace->used, event,
                                    actions[event->action], jtag_name(event->tag));

    trace_leave();
    if (error != 0)
        trace_complain(trace, error);
}

jstatus_t ji_trace_flush(ji_trace_t *trace) {
    if (!trace_enter())
        return trace_refuse_busy(trace->name);

    bool stopped = trace->stopped;
    int error = trace_empty_buffer(trace);
    trace_leave();

    if (error != 0)
        trace_complain(trace, error);

    if (stopped || error != 0)
        return ji_fail(JSTATUS_IO_ERROR, "trace \"%s\" %s", trace->name,
                       stopped ? "is not written any more since an error"
                               : ji_trace_error_text(error));
    return JSTATUS_SUCCESS;
}

/* ---- Users ---- */

static ji_trace_t *trace_find(const char *name) {
    JI_LIST_EACH(&trace_list, ji_trace_t, trace, link)
        if (strcmp(trace->name, name) == 0)
            return trace;
    return NULL;
}

jstatus_t ji_trace_open(const char *file, ji_trace_t **out) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *name = file != NULL ? file : "";

    pthread_once(&once, trace_start);
    if (trace_process == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "trace \"%s\": no memory", name);

    if (!trace_enter())
        return trace_refuse_busy(name);

    jstatus_t status = JSTATUS_SUCCESS;
    ji_trace_t *trace = trace_find(name), *made = NULL;
    if (trace == NULL) {
        size_t name_bytes = strlen(name) + 1;
        JTRY_ALLOC(made = ji_metadata_alloc(sizeof *made + name_bytes));
        memset(made, 0, offsetof(ji_trace_t, buffer));
        memcpy(made->name, name, name_bytes);

        int error = ji_trace_file_name(&made->file, name);
        if (error == 0)
            error = trace_begin(made);

        if (error != 0) {
            status = ji_fail(JSTATUS_IO_ERROR, "trace \"%s\" cannot be written: %s", name,
                             ji_trace_error_text(error));
            goto done;
        }

        ji_list_push_front(&trace_list, &made->link);
        trace = made;
        made = NULL;
    }

    ++trace->user_count;
    *out = trace;

done:
    trace_leave();
    ji_metadata_free(made);
    return status;
}

void ji_trace_close(ji_trace_t *trace) {
    if (!trace_enter())
        return;

    int error = trace_empty_buffer(trace);
    bool last = --trace->user_count == 0;

    if (last)
        ji_list_remove(&trace->link);
    trace_leave();

    if (error != 0)
        trace_complain(trace, error);
    if (last)
        ji_metadata_free(trace);
}

/* When the program ends, or the library is unloaded. */
__attribute__((destructor)) static void trace_at_exit(void) {
    if (ji_list_is_empty(&trace_list) || !trace_enter())
        return;

    JI_LIST_EACH(&trace_list, ji_trace_t, trace, link)
        (void)trace_empty_buffer(trace);
    trace_leave();
}
