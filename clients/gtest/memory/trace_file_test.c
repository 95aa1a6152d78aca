/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What traces are written with, from inside: the lock, the file, its lines, and whatever the system
 * refuses. */

#include "jtest.h"

#include "jalloc/adaptor.h"
#include "memory/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char header[] = "Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag\n";

/* ---- The lock ---- */

typedef struct contest {
    ji_trace_lock_t lock;
    uint64_t count; /* under the lock */
    jtest_gate_t go;
} contest_t;

enum { CONTEST_ROUNDS = 20000, CONTEST_THREADS = 4 };

static void *contend(void *argument) {
    contest_t *contest = argument;
    jtest_gate_pass(&contest->go);
    for (int i = 0; i < CONTEST_ROUNDS; ++i)
        if (ji_trace_lock_acquire(&contest->lock)) {
            ++contest->count;
            if (i % 64 == 0)
                sched_yield(); /* the others come while it is held */
            ji_trace_lock_release(&contest->lock);
        }
    return NULL;
}

JTEST(TraceLock, LetsOneThreadInAtATime) {
    contest_t contest = {.count = 0, .go = JTEST_GATE_INIT};
    pthread_t threads[CONTEST_THREADS];
    for (int i = 0; i < CONTEST_THREADS; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, contend, &contest), 0);
    jtest_gate_open(&contest.go);
    for (int i = 0; i < CONTEST_THREADS; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(contest.count + contest.lock.missed, CONTEST_ROUNDS * CONTEST_THREADS);
    JEXPECT_EQ(contest.lock.owner, 0);
}

JTEST(TraceLock, AThreadDoesNotWaitForItself) {
    ji_trace_lock_t lock = {0};
    JEXPECT_TRUE(ji_trace_lock_acquire(&lock));
    JEXPECT_TRUE(ji_trace_lock_is_mine(&lock));
    JEXPECT_FALSE(ji_trace_lock_acquire(&lock)); /* as a signal handler would */
    JEXPECT_EQ(lock.missed, 1);
    ji_trace_lock_release(&lock);
    JEXPECT_FALSE(ji_trace_lock_is_mine(&lock));
    JEXPECT_TRUE(ji_trace_lock_acquire(&lock));
}

static void *release_later(void *argument) {
    const struct timespec some = {0, 20000000};
    nanosleep(&some, NULL);
    ji_trace_lock_release(argument);
    return NULL;
}

JTEST(TraceLock, WhoWaitsInVainDoesSoOnce) {
    ji_trace_lock_t lock = {.owner = 1}; /* another's, who has it long */
    pthread_t other;
    JASSERT_EQ(pthread_create(&other, NULL, release_later, &lock), 0);
    JEXPECT_TRUE(ji_trace_lock_acquire(&lock));
    pthread_join(other, NULL);
    JEXPECT_EQ(lock.missed, 0);
    JEXPECT_FALSE(lock.stuck);

    lock.owner = 1;                                      /* who never gives it back */
    jtest_fail_calls("nanosleep", 1, UINT64_MAX, EINTR); /* all of the five seconds at once */
    JEXPECT_FALSE(ji_trace_lock_acquire(&lock));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_TRUE(lock.stuck);
    JEXPECT_EQ(lock.missed, 1);
    jtest_fail_calls("nanosleep", 1, UINT64_MAX, EINTR);
    JEXPECT_FALSE(ji_trace_lock_acquire(&lock));
    JEXPECT_FALSE(jtest_calls_failed()); /* no sleep any more */
    JEXPECT_EQ(lock.missed, 2);
}

/* ---- The file ---- */

/* A file that has been begun, in a folder that is removed with it. */
typedef struct begun {
    char folder[40];
    ji_trace_file_t file;
} begun_t;

static void begun_make(begun_t *begun) {
    char name[64];
    memset(begun, 0, sizeof *begun);
    snprintf(begun->folder, sizeof begun->folder, P_tmpdir "/jalloc-trace-XXXXXX");
    JASSERT_NOT_NULL(mkdtemp(begun->folder));
    snprintf(name, sizeof name, "%s/a%%q.csv", begun->folder); /* %q is no number */
    JEXPECT_EQ(ji_trace_file_name(&begun->file, name), 0);
    JEXPECT_FALSE(ji_trace_file_is_per_process(&begun->file));
    JEXPECT_EQ(ji_trace_file_begin(&begun->file, false, true), 0);
    JEXPECT_STREQ(begun->file.path, name);
    JEXPECT_EQ(begun->file.size, sizeof header - 1);
}

static void begun_end(const begun_t *begun) {
    (void)unlink(begun->file.path);
    JEXPECT_EQ(rmdir(begun->folder), 0);
}
static void begun_run_in_child(void (*function)(void *begun)) {
    begun_t begun;
    begun_make(&begun);
    jtest_in_child(60, function, &begun);
    begun_end(&begun);
}

static void expect_text(const char *path, const char *expected) {
    char text[256] = "";
    const int file = open(path, O_RDONLY);
    JASSERT_GE(file, 0);
    JEXPECT_GE(read(file, text, sizeof text - 1), 0);
    close(file);
    JEXPECT_STREQ(text, expected);
}

JTEST(TraceFile, WhatTheSystemRefusesIsSaidAndLeavesTheFile) {
    static const struct {
        const char *function;
        int error, said;
    } rows[] = {
        {"open", EMFILE, EMFILE},
        {"fstat", EIO, EIO},
        {"write", EPIPE, EPIPE},
        /* Nothing written: no endless loop. */
        {"write", EFBIG, EFBIG},
        {"write", ENOSPC, ENOSPC},
        {"write", 0, EIO},
    };
    begun_t begun;
    begun_make(&begun);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        JSCOPED_TRACE("%s fails with %d", rows[i].function, rows[i].error);
        jtest_fail_calls(rows[i].function, 1, 1, rows[i].error);
        JEXPECT_EQ(ji_trace_file_append(&begun.file, "line\n", 5), rows[i].said);
        JEXPECT_TRUE(jtest_calls_failed());
        JEXPECT_EQ(begun.file.size, sizeof header - 1);
        expect_text(begun.file.path, header);
    }
    jtest_fail_calls("write", 1, 1, EINTR);
    JEXPECT_EQ(ji_trace_file_append(&begun.file, "line\n", 5), 0);
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_fail_calls("write", 1, 1, -2); /* two bytes are said to be written: the rest follows */
    JEXPECT_EQ(ji_trace_file_append(&begun.file, "xxmore\n", 7), 0);
    JEXPECT_TRUE(jtest_calls_failed());
    char expected[128];
    snprintf(expected, sizeof expected, "%sline\nmore\n", header);
    expect_text(begun.file.path, expected);
    for (int i = 0; i < 2; ++i) {
        jtest_fail_calls(i == 0 ? "open" : "fstat", 1, 1, EACCES);
        JEXPECT_EQ(ji_trace_file_begin(&begun.file, false, false), EACCES);
        JEXPECT_TRUE(jtest_calls_failed());
    }
    begun_end(&begun);
}

JTEST(TraceFile, AnotherFileOrLengthIsNotOurs) {
    begun_t begun;
    begun_make(&begun);
    ji_trace_file_t *file = &begun.file, ours = begun.file;
    file->device += 1;
    JEXPECT_EQ(ji_trace_file_append(file, "line\n", 5), JI_TRACE_NOT_OURS);
    *file = ours;
    file->inode += 1;
    JEXPECT_EQ(ji_trace_file_append(file, "line\n", 5), JI_TRACE_NOT_OURS);
    *file = ours;
    file->size += 1;
    JEXPECT_EQ(ji_trace_file_append(file, "line\n", 5), JI_TRACE_NOT_OURS);
    *file = ours;
    expect_text(file->path, header);
    JEXPECT_EQ(ji_trace_file_begin(file, false, false), 0); /* added to: no second header */
    expect_text(file->path, header);
    JEXPECT_EQ(truncate(file->path, 0), 0);
    JEXPECT_EQ(ji_trace_file_begin(file, false, false), 0); /* empty: a header */
    expect_text(file->path, header);
    begun_end(&begun);
}

/* A signal that was pending before stays so. */
JTEST(TraceFile, AProgramsOwnPendingSignalsAreLeft) {
    begun_t begun;
    sigset_t pipe_only, before, pending;
    begun_make(&begun);
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    JASSERT_EQ(pthread_sigmask(SIG_BLOCK, &pipe_only, &before), 0);
    JASSERT_EQ(pthread_kill(pthread_self(), SIGPIPE), 0);
    jtest_fail_calls("write", 1, 1, EPIPE);
    JEXPECT_EQ(ji_trace_file_append(&begun.file, "line\n", 5), EPIPE);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(sigpending(&pending), 0);
    JEXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
    const struct timespec now = {0, 0};
    JEXPECT_EQ(sigtimedwait(&pipe_only, NULL, &now), SIGPIPE);
    JEXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    begun_end(&begun);
}

JTEST(TraceFile, NamesAreAbsoluteAndFit) {
    ji_trace_file_t *file = calloc(1, sizeof *file);
    char folder[PATH_MAX], expected[PATH_MAX + 40], name[PATH_MAX + 1];
    JASSERT_NOT_NULL(file);
    JASSERT_NOT_NULL(getcwd(folder, sizeof folder));
    JEXPECT_EQ(ji_trace_file_name(file, "a.csv"), 0);
    snprintf(expected, sizeof expected, "%s/a.csv", folder);
    JEXPECT_STREQ(file->pattern, expected);
    jtest_fail_calls("getcwd", 1, 1, ENOENT);
    JEXPECT_EQ(ji_trace_file_name(file, "a.csv"), ENOENT);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(ji_trace_file_name(file, ""), 0); /* standard error */
    JEXPECT_STREQ(file->pattern, "");
    memset(name, 'n', sizeof name);
    name[0] = '/';
    name[PATH_MAX] = '\0';
    JEXPECT_EQ(ji_trace_file_name(file, name), ENAMETOOLONG);
    name[PATH_MAX - 1] = '\0'; /* a name that can be, and has no room for a number */
    JEXPECT_EQ(ji_trace_file_name(file, name), 0);
    JEXPECT_EQ(ji_trace_file_begin(file, true, true), ENAMETOOLONG);
    free(file);
}

static void begin_in_child(void *argument) {
    begun_t *begun = argument;
    ji_trace_file_t *file = &begun->file;
    char name[80], expected[80];
    snprintf(name, sizeof name, "%s/%%p.csv", begun->folder);
    snprintf(expected, sizeof expected, "%s/%ld.csv", begun->folder, (long)getpid());
    JEXPECT_EQ(ji_trace_file_name(file, name), 0);
    JEXPECT_TRUE(ji_trace_file_is_per_process(file));
    JEXPECT_EQ(ji_trace_file_begin(file, true, true), 0); /* the number once */
    JEXPECT_STREQ(file->path, expected);

    /* Standard error is a file here. It is shared, so its length is nobody's. */
    const int error = open(file->path, O_WRONLY | O_APPEND);
    JASSERT_EQ(dup2(error, STDERR_FILENO), STDERR_FILENO);
    JEXPECT_EQ(ji_trace_file_name(file, ""), 0);
    JEXPECT_EQ(ji_trace_file_begin(file, true, true), 0);
    JEXPECT_STREQ(file->path, "");
    JEXPECT_EQ(write(error, "other\n", 6), 6);
    JEXPECT_EQ(ji_trace_file_append(file, "line\n", 5), 0);
    char text[256];
    snprintf(text, sizeof text, "%s%sother\nline\n", header, header);
    expect_text(expected, text);
    JEXPECT_EQ(unlink(expected), 0);
}

JTEST(TraceFile, AChildBeginsItsOwnAndSharesStandardError) { begun_run_in_child(begin_in_child); }

static jallocator_t *record_to(const char *file) {
    jrecord_options_t options = JRECORD_OPTIONS_INIT;
    jallocator_t *record = NULL;
    options.file = file;
    JEXPECT_OK(jallocator_create_record(jtest_failing_allocator(), &options, &record));
    return record;
}

/* A thread that is held up while it writes, with the lock: in a full pipe. */
static _Atomic long writer;
static void *write_to_pipe(void *argument) {
    void *block;
    atomic_store(&writer, syscall(SYS_gettid));
    for (int i = 0; i < 4000; ++i)
        if (jallocator_allocate(argument, 64, 0, NULL, &block) == JSTATUS_SUCCESS)
            (void)jallocator_deallocate(argument, block, 64, NULL);
    return NULL;
}

static bool writer_sleeps(void) {
    char path[64], state[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", atomic_load(&writer));
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    const bool read = fgets(state, sizeof state, file) != NULL;
    fclose(file);
    return read && strstr(state, ") S ") != NULL;
}

/* Standard error is the pipe from then on: whoever writes there waits. */
static void hold_up_a_writer(void) {
    int ends[2];
    pthread_t stuck;
    JASSERT_EQ(pipe(ends), 0);
    JASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    JASSERT_EQ(pthread_create(&stuck, NULL, write_to_pipe, record_to(NULL)), 0);
    /* Until the pipe is full. */
    for (int queued = 0; queued < 60000 || !writer_sleeps(); sched_yield())
        JASSERT_EQ(ioctl(ends[0], FIONREAD, &queued), 0);
    jtest_fail_calls("nanosleep", 1, UINT64_MAX, EINTR);
}

static void record_beside_a_stuck_one(void *argument) {
    const begun_t *begun = argument;
    void *block;
    jallocator_t *other = record_to(begun->file.path), *none = NULL; /* a child's own, PATH.PID */
    jrecord_options_t options = JRECORD_OPTIONS_INIT;
    options.file = begun->file.path;
    hold_up_a_writer();
    JEXPECT_STATUS(jallocator_record_flush(other), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jstatus_last_message(), "being written");
    JEXPECT_OK(jallocator_allocate(other, 100, 0, NULL, &block)); /* served, and not recorded */
    JEXPECT_OK(jallocator_deallocate(other, block, 100, NULL));
    JEXPECT_STATUS(jallocator_create_record(jtest_failing_allocator(), &options, &none),
                   JSTATUS_BUSY);
    JEXPECT_NULL(none);
    JEXPECT_SUBSTR(jstatus_last_message(), "being written");
    JEXPECT_OK(jallocator_destroy(other));
    char own[PATH_MAX + 24];
    snprintf(own, sizeof own, "%s.%ld", begun->file.path, (long)getpid());
    expect_text(own, header);
    JEXPECT_EQ(unlink(own), 0);
}

JTEST(Record, WhatIsHeldUpHoldsUpNobodyElse) {
#ifdef __SANITIZE_THREAD__
    JSKIP("it knows no threads that are made behind a fork");
#endif
    begun_run_in_child(record_beside_a_stuck_one);
}

JTEST(TraceFile, ErrorsHaveWords) {
    static const struct {
        int error;
        const char *text;
    } rows[] = {
        {JI_TRACE_NOT_OURS, "another file"},
        {EACCES, "may not be written"},
        {EPERM, "may not be written"},
        {EFBIG, "as long as"},
        {EISDIR, "a folder"},
        {EMFILE, "descriptors"},
        {ENFILE, "descriptors"},
        {ENAMETOOLONG, "too long"},
        {ENOENT, "not there"},
        {EDQUOT, "no space"},
        {ENOSPC, "no space"},
        {ENXIO, "nobody reads"},
        {EPIPE, "nobody reads"},
        {EROFS, "read only"},
        {EIO, "Input/output error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        JEXPECT_SUBSTR(ji_trace_error_text(rows[i].error), rows[i].text);
}

JTEST(TraceFile, WithoutMemoryThereIsNone) {
    jtest_fail_calls("mmap", 1, 1, ENOMEM);
    JEXPECT_NULL(ji_trace_map(4096));
    JEXPECT_TRUE(jtest_calls_failed());
    unsigned char *memory = ji_trace_map(4096);
    JASSERT_NOT_NULL(memory);
    JEXPECT_EQ(memory[0] | memory[4095], 0);
    JEXPECT_EQ(munmap(memory, 4096), 0);
}

/* ---- Lines ---- */

JTEST(TraceFile, TextsAreCutAndQuoted) {
    char text[JI_TRACE_LINE_BYTES + 1], tag[2 * JI_TRACE_MAX_TAG],
        quoted[2 * JI_TRACE_MAX_TAG] = "";
    ji_trace_line_t line = {.action = "free", .allocator = "a,\tb\"", .tag = tag};
    memset(tag, 't', sizeof tag);
    tag[3] = ',';
    tag[sizeof tag - 1] = '\0';
    memcpy(quoted, tag, JI_TRACE_MAX_TAG); /* the first of it, with quotes around */
    text[ji_trace_format(text, &line)] = '\0';
    char expected[JI_TRACE_LINE_BYTES];
    snprintf(expected, sizeof expected, "0,0,free,0x0,0,0x0,0,\"a, b\"\"\",\"%s\"\n", quoted);
    JEXPECT_STREQ(text, expected);

    memset(tag, '"', sizeof tag - 1); /* the longest line there is */
    char name[2 * JI_TRACE_MAX_NAME] = "";
    memset(name, '"', sizeof name - 1);
    line = (ji_trace_line_t){UINT32_MAX,  UINT64_MAX, "allocate failure",
                             UINTPTR_MAX, SIZE_MAX,   UINTPTR_MAX,
                             SIZE_MAX,    name,       tag};
    JEXPECT_LE(ji_trace_format(text, &line), JI_TRACE_LINE_BYTES);
}

/* ---- Traces of a process ---- */

static void use_once(jallocator_t *allocator) {
    void *block;
    JASSERT_OK(jallocator_allocate(allocator, 100, 0, NULL, &block));
    JEXPECT_OK(jallocator_deallocate(allocator, block, 100, NULL));
}

static size_t file_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

/* Run by the test below: the first of its process to record, where the system has no memory. */
JTEST_ONLY_WITH("JALLOC_TEST_FIRST_RECORD", Record, FirstOfItsProcess) {
    jrecord_options_t options = JRECORD_OPTIONS_INIT;
    jallocator_t *record = NULL;
    options.file = "/dev/null";
    jtest_fail_calls("mmap", 1, 1, ENOMEM);
    JEXPECT_STATUS(jallocator_create_record(jtest_failing_allocator(), &options, &record),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_SUBSTR(jstatus_last_message(), "no memory");
    JEXPECT_NULL(record);
}

JTEST(Record, WithoutMemoryForAllThereIsNone) {
    static const char *const environment[] = {"JALLOC_TEST_FIRST_RECORD=1", NULL};
    char output[4096];
    if (jtest_run_self("Record.FirstOfItsProcess", environment, output, sizeof output) != 0)
        JFAIL("%s", output);
}

JTEST(Record, ANameThatIsTooLongIsAnIoError) {
    char name[PATH_MAX + 1];
    jrecord_options_t options = JRECORD_OPTIONS_INIT;
    jallocator_t *record = NULL;
    memset(name, 'n', sizeof name);
    name[PATH_MAX] = '\0';
    options.file = name;
    JEXPECT_STATUS(jallocator_create_record(jtest_failing_allocator(), &options, &record),
                   JSTATUS_IO_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "trace \"nnn"); /* the message is cut */
    JEXPECT_NULL(record);
}

JTEST(Record, AnErrorAtTheEndIsLogged) {
    begun_t begun;
    begun_make(&begun);
    jallocator_t *first = record_to(begun.file.path), *second = record_to("/dev/null");
    use_once(first);
    jtest_log_clear();
    jtest_fail_calls("write", 1, 1, ENOSPC);
    JEXPECT_OK(jallocator_destroy(first)); /* which is not the last that was begun */
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_OK(jallocator_destroy(second));
    begun_end(&begun);
}

enum { FILES_OF_ONE = 40 }; /* more than are remembered as begun */

static void begin_many(void *argument) {
    const begun_t *begun = argument;
    char name[80], path[100];
    size_t bytes[2];
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < FILES_OF_ONE; ++i) {
            snprintf(name, sizeof name, "%s/%d", begun->folder, i);
            jallocator_t *record = record_to(name);
            use_once(record);
            JEXPECT_OK(jallocator_destroy(record));
        }
        snprintf(path, sizeof path, "%s/0.%ld", begun->folder, (long)getpid());
        bytes[round] = file_bytes(path);
    }
    JEXPECT_GT(bytes[0], sizeof header);
    JEXPECT_LE(bytes[1], bytes[0] + 16); /* begun anew, not added to; numbers differ in length */
    for (int i = 0; i < FILES_OF_ONE; ++i) {
        snprintf(path, sizeof path, "%s/%d.%ld", begun->folder, i, (long)getpid());
        JEXPECT_EQ(unlink(path), 0);
    }
}

JTEST(Record, AFileThatWasBegunLongAgoIsBegunAnew) { begun_run_in_child(begin_many); }

static void use_in_child(void *argument) {
    jallocator_t *const *records = argument;
    use_once(records[0]); /* stopped in the parent: and here */
    jtest_log_clear();
    jtest_fail_calls("open", 1, 1, EACCES);
    use_once(records[1]); /* cannot begin a file of its own */
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(jtest_log_count(), 1);
    use_once(records[1]);
    JEXPECT_EQ(jtest_log_count(), 1);
}

JTEST(Record, AChildThatCannotRecordGoesOn) {
    begun_t begun, other;
    begun_make(&begun);
    begun_make(&other);
    jallocator_t *records[] = {record_to(begun.file.path), record_to(other.file.path)};
    use_once(records[0]);
    jtest_fail_calls("write", 1, 1, ENOSPC);
    JEXPECT_STATUS(jallocator_record_flush(records[0]), JSTATUS_IO_ERROR);
    JEXPECT_TRUE(jtest_calls_failed());
    jtest_in_child(60, use_in_child, records);
    for (int i = 0; i < 2; ++i)
        JEXPECT_OK(jallocator_destroy(records[i]));
    begun_end(&begun); /* no file of the child's */
    begun_end(&other);
}

/* A trace of so many lines behind the header. */
static void expect_lines(const char *path, size_t count) {
    FILE *file = fopen(path, "r");
    JASSERT_NOT_NULL(file);
    size_t found = 0;
    for (int c; (c = fgetc(file)) != EOF;)
        found += c == '\n';
    fclose(file);
    JEXPECT_EQ(found, count + 1);
}

static void flush_what_is_the_parents(void *record) { JEXPECT_OK(jallocator_record_flush(record)); }

/* What the parent has not written yet is written once, and by it. Ends the record. */
static void child_leaves_the_parents_lines(const begun_t *begun, jallocator_t *record,
                                           void (*child)(void *record)) {
    use_once(record);
    jtest_in_child(60, child, record);
    expect_text(begun->file.path, header);
    JEXPECT_OK(jallocator_destroy(record));
    expect_lines(begun->file.path, 2);
}

JTEST(Record, AChildThatRecordsNothingLeavesTheParentsLines) {
    begun_t begun;
    begun_make(&begun);
    jallocator_t *record = record_to(begun.file.path);
    child_leaves_the_parents_lines(&begun, record, flush_what_is_the_parents);
    begun_end(&begun);
}

static void record_much(void *record) {
    for (int i = 0; i < 2000; ++i)
        use_once(record);
    flush_what_is_the_parents(record);
}

/* Run by the test below: the first of its process to record, on a system that cannot wipe memory at
 * a fork. */
JTEST_ONLY_WITH("JALLOC_TEST_FIRST_RECORD", Record, WithoutWipingAChildIsNotRecorded) {
    begun_t begun;
    begun_make(&begun);
    jtest_fail_calls("madvise", 1, 1, EINVAL);
    jallocator_t *record = record_to(begun.file.path);
    JEXPECT_TRUE(jtest_calls_failed());
    child_leaves_the_parents_lines(&begun, record, record_much);
    begun_end(&begun);
}

JTEST(Record, AChildThatTakesItselfForTheParentWritesNothing) {
    static const char *const environment[] = {"JALLOC_TEST_FIRST_RECORD=1", NULL};
    char output[4096];
    if (jtest_run_self("Record.WithoutWipingAChildIsNotRecorded", environment, output,
                       sizeof output) != 0)
        JFAIL("%s", output);
}

/* The status of a child that runs the function and ends by exit(). */
static int exit_in_child(void (*function)(const begun_t *begun), const begun_t *begun,
                         pid_t *child) {
    *child = fork();
    if (*child == 0) {
        function(begun);
        exit(jtest_has_failure());
    }
    int result = -1;
    JEXPECT_EQ(waitpid(*child, &result, 0), *child);
    return result;
}

static void leave_a_writer(const begun_t *begun) {
    alarm(50); /* should it wait, not for ever */
    use_once(record_to(begun->file.path));
    hold_up_a_writer();
}
static void leave_while_one_is_stuck(void *argument) {
    const begun_t *begun = argument;
    pid_t child;
    JEXPECT_EQ(exit_in_child(leave_a_writer, begun, &child), 0);
    char path[PATH_MAX + 24];
    snprintf(path, sizeof path, "%s.%ld", begun->file.path, (long)child);
    expect_text(path, header); /* what was buffered is lost, and nobody waits for it */
    JEXPECT_EQ(unlink(path), 0);
}

JTEST(Record, WhatIsHeldUpHoldsUpNoExit) {
#ifdef __SANITIZE_THREAD__
    JSKIP("it knows no threads that are made behind a fork");
#endif
#ifdef __SANITIZE_ADDRESS__
    JSKIP("it writes at exit that threads were left behind a fork, to what is held up");
#endif
    begun_run_in_child(leave_while_one_is_stuck);
}

/* Ends by exit() with lines that are not written yet. */
static void leave_lines(const begun_t *begun) { use_once(record_to(begun->file.path)); }
static void leave_a_record(void *argument) {
    const begun_t *begun = argument;
    pid_t child;
    JEXPECT_EQ(exit_in_child(leave_lines, begun, &child), 0);
    char path[PATH_MAX + 24];
    snprintf(path, sizeof path, "%s.%ld", begun->file.path, (long)child);
    JEXPECT_GT(file_bytes(path), sizeof header + 40);
    JEXPECT_EQ(unlink(path), 0);
}

JTEST(Record, WhatIsBufferedIsWrittenAtExit) { begun_run_in_child(leave_a_record); }
