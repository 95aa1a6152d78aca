/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The log: one sink, one lock, a limit on repetition.
 *
 * A message that is not let through costs one atomic load. One that is let through is made on the
 * stack and written by one call of the system, so that lines of several processes in one file stay
 * whole. The log takes no memory: it has to work when there is none. The limit on repetition is
 * kept in a table of fixed size, keyed by the call site; where too many sites speak at
 * once, the one silent for longest makes room, and what it held back is told first.
 *
 * The environment is read at the first message, the path again after jlog_set_sink(NULL). The lock
 * is held over a fork, so that a child never finds it taken by a thread that it does not have. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"

#define LOG_LINE_BYTES 1024 /* of a message; layer lines have any length */
#define LOG_SLOTS 64        /* call sites that are limited at a time */
#define LOG_PROBES 8        /* of them are looked at for one message */
#define LOG_SECOND_NS 1000000000
#define LOG_LEVEL_UNREAD (-1)

/* What a call site has said lately. */
typedef struct log_slot {
    const void *key;     /* NULL: free */
    int64_t since_ns;    /* when the present second began */
    unsigned printed;    /* within it */
    unsigned suppressed; /* not printed since the last printed one */
    jlog_level_t level;  /* of the suppressed ones */
} log_slot_t;

static atomic_int log_level = LOG_LEVEL_UNREAD;
static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Under the mutex: */
static jlog_sink_t log_sink; /* NULL: log_file */
static void *log_sink_context;
static int log_file = -1;      /* -1: not opened yet */
static struct stat log_opened; /* what it was then */
static log_slot_t log_slots[LOG_SLOTS];

static const char *const log_level_names[] = {"off", "error", "warning", "info", "debug"};

static void log_write_file(int file, const char *line) {
    struct iovec parts[2] = {{(void *)(uintptr_t)line, strlen(line)},
                             {(void *)(uintptr_t) "\n", 1}};

    while (parts[1].iov_len > 0) {
        ssize_t written = parts[0].iov_len > 0 ? writev(file, parts, 2) : write(file, "\n", 1);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* a full disk, a closed stderr: there is nobody left to tell */

        for (int i = 0; i < 2; i++) {
            size_t taken = (size_t)written < parts[i].iov_len ? (size_t)written : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + taken;
            parts[i].iov_len -= taken;
            written -= (ssize_t)taken;
        }
    }
}

/* Opens the file that JALLOC_LOG_PATH names. A link is not followed, so that nobody can direct the
 * lines of another user's program into a file of their choice. */
static void log_open(void) {
    jconfig_entry_t path;
    log_file = STDERR_FILENO;
    (void)ji_config_read(JCONFIG_JALLOC_LOG_PATH, &path); /* fails for wrong arguments alone */
    if (path.value[0] == '\0')
        return;

    int file =
        open(path.value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
    if (file >= 0 && fstat(file, &log_opened) == 0) {
        log_file = file;
        return;
    }

    if (file >= 0)
        close(file);

    char line[LOG_LINE_BYTES];
    snprintf(
        line, sizeof line,
        "jalloc warning: JALLOC_LOG_PATH=\"%.500s\" cannot be opened (%s); using standard error",
        path.value, strerror(errno));
    log_write_file(STDERR_FILENO, line);
}

/* False where the program has closed the descriptor, and may have a file of its own at its number
 * by now. */
static bool log_is_open(void) {
    struct stat now;
    return log_file > STDERR_FILENO && fstat(log_file, &now) == 0 &&
           now.st_dev == log_opened.st_dev && now.st_ino == log_opened.st_ino;
}

static void log_emit(jlog_level_t level, const char *line) {
    if (log_sink != NULL) {
        log_sink(log_sink_context, level, line);
        return;
    }
    if (log_file != STDERR_FILENO && !log_is_open())
        log_open();
    log_write_file(log_file, line);
}

static int64_t log_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * LOG_SECOND_NS + now.tv_nsec;
}

/* Says how many messages of a call site were held back. */
static void log_tell_suppressed(log_slot_t *slot) {
    if (slot->suppressed == 0)
        return;

    char line[96];
    snprintf(line, sizeof line, "jalloc %s: %u more from the same call site were not printed",
             log_level_names[slot->level], slot->suppressed);
    log_emit(slot->level, line);
    slot->suppressed = 0;
}

/* Whether the call site with the key may print now. */
static bool log_admit(const void *key, jlog_level_t level) {
    int64_t now_ns = log_now_ns();
    size_t first = (size_t)(((uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32);

    log_slot_t *slot = NULL;
    for (size_t i = 0; i < LOG_PROBES; i++) {
        log_slot_t *candidate = &log_slots[(first + i) % LOG_SLOTS];
        if (candidate->key == key || candidate->key == NULL) {
            slot = candidate;
            break;
        }
        if (slot == NULL || candidate->since_ns < slot->since_ns)
            slot = candidate;
    }

    if (slot->key != key) {
        log_tell_suppressed(slot);
        *slot = (log_slot_t){.key = key, .since_ns = now_ns};
    }

    if (now_ns - slot->since_ns >= LOG_SECOND_NS) {
        log_tell_suppressed(slot);
        slot->since_ns = now_ns;
        slot->printed = 0;
    }

    if (slot->printed < JLOG_BURST) {
        slot->printed++;
        return true;
    }

    slot->suppressed++;
    slot->level = level;
    return false;
}

/* All sites print as if they had not yet. */
static void log_begin_anew(void) {
    for (size_t i = 0; i < LOG_SLOTS; i++)
        log_tell_suppressed(&log_slots[i]);
    memset(log_slots, 0, sizeof log_slots);
}

static void log_lock(void) { pthread_mutex_lock(&log_mutex); }
static void log_unlock(void) { pthread_mutex_unlock(&log_mutex); }

static void log_first_use(void) {
    static const ji_fork_handlers_t handlers = {log_lock, log_unlock, log_unlock};
    ji_fork_hold(JI_FORK_LOG, &handlers);

    jconfig_entry_t entry;
    int unread = LOG_LEVEL_UNREAD;
    (void)ji_config_read(JCONFIG_JALLOC_LOG_LEVEL, &entry); /* fails for wrong arguments alone */
    int level = ji_config_choice(entry.syntax, entry.valid ? entry.value : entry.fallback);
    bool in_force = atomic_compare_exchange_strong(&log_level, &unread, level);
    if (entry.valid || !in_force)
        return;

    char line[LOG_LINE_BYTES];
    snprintf(line, sizeof line,
             "jalloc warning: JALLOC_LOG_LEVEL=\"%.200s\" is not understood: expected one of %s; "
             "using %s",
             entry.value, entry.syntax, entry.fallback);

    log_lock();
    log_emit(JLOG_WARNING, line);
    log_unlock();
}

jstatus_t jlog_set_sink(jlog_sink_t sink, void *context) {
    pthread_once(&log_once, log_first_use);

    log_lock();
    log_begin_anew(); /* the sink before hears of what it did not get */
    log_sink = sink;
    log_sink_context = context;
    if (sink == NULL) {
        if (log_is_open())
            close(log_file);
        log_file = -1;
    }
    log_unlock();
    return JSTATUS_SUCCESS;
}

jstatus_t jlog_set_level(jlog_level_t level) {
    JREQUIRE_VALUE((unsigned)level <= JLOG_DEBUG, JSTATUS_INVALID_VALUE, __func__, "level", level,
                   "must be of jlog_level_t");
    atomic_store_explicit(&log_level, (int)level, memory_order_relaxed);
    return JSTATUS_SUCCESS;
}

jlog_level_t jlog_level(void) {
    int level = atomic_load_explicit(&log_level, memory_order_relaxed);
    if (level == LOG_LEVEL_UNREAD) {
        pthread_once(&log_once, log_first_use);
        level = atomic_load_explicit(&log_level, memory_order_relaxed);
    }
    return (jlog_level_t)level;
}

void jlog_write(jlog_level_t level, const void *site, const char *format, ...) {
    if (level > jlog_level() || (unsigned)level - JLOG_ERROR > JLOG_DEBUG - JLOG_ERROR ||
        format == NULL)
        return;

    int saved_errno = errno;
    char line[LOG_LINE_BYTES];
    int prefix = snprintf(line, sizeof line, "jalloc %s: ", log_level_names[level]);

    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + prefix, sizeof line - (size_t)prefix, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line - prefix)
        memcpy(line + sizeof line - 4, "...", 4);

    if (length >= 0) {
        pthread_once(&log_once, log_first_use);
        log_lock();
        if (site == NULL || log_admit(site, level))
            log_emit(level, line);
        log_unlock();
    }
    errno = saved_errno;
}

void jlog_write_line(const char *line) {
    if (line == NULL)
        return;

    int saved_errno = errno;
    pthread_once(&log_once, log_first_use);
    log_lock();
    log_emit(JLOG_INFO, line);
    log_unlock();
    errno = saved_errno;
}
