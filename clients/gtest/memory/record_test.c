/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Recording: the trace is read back, every column of it. */

#include "jtest.h"

#include "jalloc/adaptor.h"
#include "jalloc/handle.h"
#include "jalloc/provider.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- A reader of traces ---- */

#define COLUMNS 9
#define MAX_LINES 20000

typedef struct line {
    unsigned thread;
    long long time;
    char action[20];
    void *pointer, *stream;
    size_t size_bytes, alignment;
    char allocator[64], tag[160];
} line_t;

static line_t lines[MAX_LINES];
static size_t line_count;

/* Cuts one line into fields as CSV has it. False where it is not CSV. */
static bool split(char *text, char *fields[COLUMNS]) {
    for (size_t i = 0; i < COLUMNS; ++i) {
        bool quoted = *text == '"';
        char *to = fields[i] = text;
        text += quoted;
        for (; *text != '\0' && *text != '\n' && (quoted || *text != ','); ++text) {
            if (quoted && *text == '"' && *++text != '"')
                break;
            *to++ = *text;
        }
        const char separator = *text;
        *to = '\0';
        if (separator != (i + 1 < COLUMNS ? ',' : '\n'))
            return false;
        ++text;
    }
    return true;
}

static void read_trace(const char *file) {
    char text[1024], *fields[COLUMNS];
    FILE *in = fopen(file, "r");
    line_count = 0;
    JASSERT_NOT_NULL(in);
    JEXPECT_NOT_NULL(fgets(text, sizeof text, in));
    JEXPECT_STREQ(text, "Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag\n");
    while (fgets(text, sizeof text, in) != NULL && line_count < MAX_LINES) {
        JSCOPED_TRACE("line %zu: %s", line_count + 2, text);
        line_t *line = &lines[line_count++];
        const bool well = split(text, fields);
        JEXPECT_TRUE(well);
        if (!well)
            break;
        line->thread = (unsigned)strtoul(fields[0], NULL, 10);
        line->time = strtoll(fields[1], NULL, 10);
        snprintf(line->action, sizeof line->action, "%s", fields[2]);
        JEXPECT_EQ(strncmp(fields[3], "0x", 2), 0);
        line->pointer = (void *)(uintptr_t)strtoull(fields[3], NULL, 16);
        line->size_bytes = strtoull(fields[4], NULL, 10);
        JEXPECT_EQ(strncmp(fields[5], "0x", 2), 0);
        line->stream = (void *)(uintptr_t)strtoull(fields[5], NULL, 16);
        line->alignment = strtoull(fields[6], NULL, 10);
        snprintf(line->allocator, sizeof line->allocator, "%s", fields[7]);
        snprintf(line->tag, sizeof line->tag, "%s", fields[8]);
        if (line_count > 1)
            JEXPECT_LE(line[-1].time, line->time);
    }
    fclose(in);
}

/* The lines of one allocator and address alternate. */
static void expect_alternation(void) {
    for (size_t i = 0; i < line_count; ++i) {
        if (strcmp(lines[i].action, "free") != 0)
            continue;
        size_t k = i;
        while (k-- > 0 && (lines[k].pointer != lines[i].pointer ||
                           strcmp(lines[k].allocator, lines[i].allocator) != 0))
            ;
        JASSERT_LT(k, i);
        JASSERT_STREQ(lines[k].action, "allocate");
        JASSERT_EQ(lines[k].size_bytes, lines[i].size_bytes);
    }
}

/* A file name of the test's own; the file is removed at the next call and at exit. */
static char trace_name[96];
static void remove_trace(void) { (void)remove(trace_name); }
static const char *new_trace(void) {
    static unsigned number;
    if (trace_name[0] == '\0')
        (void)atexit(remove_trace);
    remove_trace();
    snprintf(trace_name, sizeof trace_name, P_tmpdir "/jtest_trace_%ld_%u.csv", (long)getpid(),
             number++);
    return trace_name;
}

static jallocator_t *make_record(jallocator_t *below, const char *file) {
    jrecord_options_t options = JRECORD_OPTIONS_INIT;
    jallocator_t *record = NULL;
    options.file = file;
    JEXPECT_OK(jallocator_create_record(below, &options, &record));
    return record;
}

/* ---- What a line says ---- */

JTEST(Record, EveryColumnIsRight) {
    const char *file = new_trace();
    jallocator_t *record = make_record(jtest_failing_allocator(), file);
    jstream_t *stream;
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    void *a, *b, *c = record;
    {
        JALLOC_TAG("a \"tag\", quoted");
        JASSERT_OK(jallocator_allocate(record, 1000, 256, stream, &a));
    }
    {
        JALLOC_TAG("two\nlines");
        JASSERT_OK(jallocator_allocate(record, 1, 0, NULL, &b));
    }
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jallocator_allocate(record, 77, 32, stream, &c), JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(c);
    JEXPECT_OK(jallocator_deallocate(record, a, 1000, NULL));
    JEXPECT_OK(jallocator_deallocate(record, b, 1, stream));
    JEXPECT_OK(jallocator_record_flush(record));
    read_trace(file);
    JASSERT_EQ(line_count, 5);
    JEXPECT_STREQ(lines[0].action, "allocate");
    JEXPECT_EQ(lines[0].pointer, a);
    JEXPECT_EQ(lines[0].size_bytes, 1000);
    JEXPECT_EQ(lines[0].stream, stream);
    JEXPECT_EQ(lines[0].alignment, 256);
    JEXPECT_STREQ(lines[0].tag, "a \"tag\", quoted");
    JEXPECT_GE(lines[0].time, 0);
    JEXPECT_EQ(strncmp(lines[0].allocator, "jtest#", 6), 0);
    JEXPECT_STREQ(lines[1].tag, "two lines");
    JEXPECT_EQ(lines[1].pointer, b);
    JEXPECT_EQ(lines[1].stream, NULL);
    JEXPECT_EQ(lines[1].alignment, 64);
    JEXPECT_STREQ(lines[2].action, "allocate failure");
    JEXPECT_EQ(lines[2].pointer, NULL);
    JEXPECT_EQ(lines[2].size_bytes, 77);
    JEXPECT_EQ(lines[2].alignment, 32);
    JEXPECT_STREQ(lines[2].tag, "");
    JEXPECT_STREQ(lines[3].action, "free");
    JEXPECT_EQ(lines[3].pointer, a);
    JEXPECT_EQ(lines[3].size_bytes, 1000);
    JEXPECT_EQ(lines[4].stream, stream);
    for (size_t i = 0; i < 5; ++i) {
        JEXPECT_EQ(lines[i].thread, lines[0].thread);
        JEXPECT_STREQ(lines[i].allocator, lines[0].allocator);
    }
    JEXPECT_OK(jallocator_destroy(record));
    JEXPECT_OK(jstream_destroy(stream));
}

JTEST(Record, SeveralAllocatorsShareAFileAndComeAndGo) {
    const char *file = new_trace();
    (void)jtest_failing_allocator();
    const size_t books = jtest_metadata_live_count();
    jallocator_t *a = make_record(jtest_failing_allocator(), file),
                 *b = make_record(jtest_failing_allocator(), file);
    void *block;
    JASSERT_OK(jallocator_allocate(a, 10, 0, NULL, &block));
    JEXPECT_OK(jallocator_deallocate(a, block, 10, NULL));
    JASSERT_OK(jallocator_allocate(b, 20, 0, NULL, &block));
    JEXPECT_OK(jallocator_destroy(a));
    JEXPECT_OK(jallocator_deallocate(b, block, 20, NULL));
    JEXPECT_OK(jallocator_destroy(b));
    JEXPECT_EQ(jtest_metadata_live_count(), books);   /* the writer is gone */
    a = make_record(jtest_failing_allocator(), file); /* the file is added to */
    JASSERT_OK(jallocator_allocate(a, 30, 0, NULL, &block));
    JEXPECT_OK(jallocator_deallocate(a, block, 30, NULL));
    JEXPECT_OK(jallocator_destroy(a));
    read_trace(file);
    JASSERT_EQ(line_count, 6);
    static const size_t sizes[] = {10, 10, 20, 20, 30, 30};
    for (size_t i = 0; i < 6; ++i)
        JEXPECT_EQ(lines[i].size_bytes, sizes[i]);
    JEXPECT_STREQ(lines[0].allocator, lines[1].allocator);
    JEXPECT_STREQ(lines[2].allocator, lines[3].allocator);
    JEXPECT_NE(strcmp(lines[0].allocator, lines[2].allocator), 0);
    JEXPECT_NE(strcmp(lines[0].allocator, lines[4].allocator), 0);
    expect_alternation();
}

typedef struct recorder {
    jallocator_t *record;
    uint64_t seed;
} recorder_t;
static void *record_work(void *argument) {
    recorder_t *mine = argument;
    for (int i = 0; i < 500; ++i) {
        const size_t size = 1 + jtest_random_next(&mine->seed) % 100;
        void *block;
        JEXPECT_OK(jallocator_allocate(mine->record, size, 0, NULL, &block));
        JEXPECT_OK(jallocator_deallocate(mine->record, block, size, NULL));
    }
    return NULL;
}

JTEST(Record, ThreadsAreToldApartAndLinesOfAnAddressAlternate) {
    const char *file = new_trace();
    jallocator_t *below;
    /* Hands a block on from thread to thread at once. */
    JASSERT_OK(jallocator_create_malloc(&below));
    jallocator_t *record = make_record(below, file);
    pthread_t threads[4];
    recorder_t each[4];
    for (size_t i = 0; i < 4; ++i) {
        each[i] = (recorder_t){record, i};
        JASSERT_EQ(pthread_create(&threads[i], NULL, record_work, &each[i]), 0);
    }
    for (size_t i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_OK(jallocator_destroy(record));
    JEXPECT_OK(jallocator_destroy(below));
    read_trace(file);
    JASSERT_EQ(line_count, 4 * 500 * 2);
    expect_alternation();
    size_t of_thread[1000] = {0}, seen = 0;
    for (size_t i = 0; i < line_count; ++i) {
        JASSERT_LT(lines[i].thread, 1000); /* small numbers */
        seen += of_thread[lines[i].thread]++ == 0;
    }
    JEXPECT_EQ(seen, 4);
}

/* ---- Refused frees, refused files ---- */

JTEST(Record, WhatIsRefusedLeavesTheTraceTrue) {
    const char *file = new_trace();
    jallocator_t *guard;
    JASSERT_OK(jallocator_create_guard(jtest_failing_allocator(), NULL, &guard));
    jallocator_t *record = make_record(guard, file);
    unsigned char *block;
    JASSERT_OK(jallocator_allocate(record, 100, 0, NULL, (void **)&block));
    JEXPECT_STATUS(jallocator_deallocate(record, block + 1, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocator_deallocate(record, block, 99, NULL), JSTATUS_INVALID_SIZE);
    block[100] ^= 1;
    JEXPECT_STATUS(jallocator_deallocate(record, block, 100, NULL), JSTATUS_CORRUPTED);
    JEXPECT_OK(jallocator_deallocate(record, block, 100, NULL));
    JEXPECT_STATUS(jallocator_deallocate(record, block, 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_destroy(record));
    JEXPECT_OK(jallocator_destroy(guard));
    read_trace(file);
    JASSERT_EQ(line_count, 4);
    static const char *const actions[] = {"allocate", "free", "allocate", "free"};
    for (size_t i = 0; i < 4; ++i) {
        JEXPECT_STREQ(lines[i].action, actions[i]);
        JEXPECT_EQ(lines[i].pointer, block);
        JEXPECT_EQ(lines[i].size_bytes, 100);
    }
}

/* A block that somebody gave back below, past the recorder: below has it no more, or has another
 * one there by now. */
JTEST(Record, WhatBelowDoesNotHaveAnyMoreIsNotWritten) {
    const char *file = new_trace();
    jallocator_t *stack;
    JASSERT_OK(jallocator_compose(NULL, "malloc+stack", &stack));
    jallocator_t *record = make_record(stack, file);
    void *blocks[3], *there[2];
    for (int i = 0; i < 3; ++i)
        JASSERT_OK(jallocator_allocate(record, 100, 0, NULL, &blocks[i]));
    for (int i = 3; i-- > 0;)
        JEXPECT_OK(jallocator_deallocate(stack, blocks[i], 100, NULL));
    JASSERT_OK(jallocator_allocate(stack, 99, 0, NULL, &there[0])); /* another size */
    JEXPECT_EQ(there[0], blocks[0]);
    JASSERT_OK(jallocator_allocate(stack, 1000, 64, NULL, &there[1])); /* around the third one */
    JEXPECT_EQ(there[1], blocks[1]);
    JEXPECT_STATUS(jallocator_deallocate(record, blocks[0], 100, NULL), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jallocator_deallocate(record, blocks[2], 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_deallocate(stack, there[1], 1000, NULL));
    JEXPECT_OK(jallocator_deallocate(stack, there[0], 99, NULL));
    JEXPECT_STATUS(jallocator_deallocate(record, blocks[1], 100, NULL), JSTATUS_NOT_FOUND);
    JEXPECT_OK(jallocator_record_flush(record));
    read_trace(file);
    JEXPECT_EQ(line_count, 3);  /* none of the frees */
    for (int i = 0; i < 3; ++i) /* so that all is whole again */
        JASSERT_OK(jallocator_allocate(stack, 100, 0, NULL, &there[0]));
    for (int i = 3; i-- > 0;)
        JEXPECT_OK(jallocator_deallocate(record, blocks[i], 100, NULL));
    JEXPECT_OK(jallocator_destroy(record));
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(Record, AFileThatCannotBeWrittenIsAnIoError) {
    jallocator_t *record = NULL;
    jrecord_options_t options = JRECORD_OPTIONS_INIT;
    options.file = "/no/such/directory/trace.csv";
    JEXPECT_STATUS(jallocator_create_record(jtest_failing_allocator(), &options, &record),
                   JSTATUS_IO_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "/no/such/directory");
    JEXPECT_NULL(record);
    options.file = "/dev/full"; /* opens, and takes no header */
    JEXPECT_STATUS(jallocator_create_record(jtest_failing_allocator(), &options, &record),
                   JSTATUS_IO_ERROR);
    JEXPECT_STATUS(jallocator_record_flush(NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_record_flush(jtest_failing_allocator()), JSTATUS_INVALID_VALUE);
}

JTEST(Record, AnErrorLaterEndsTheRecordingNotTheProgram) {
    int ends[2];
    char file[32];
    JASSERT_EQ(pipe(ends), 0);
    snprintf(file, sizeof file, "/dev/fd/%d", ends[1]);
    jallocator_t *record = make_record(jtest_failing_allocator(), file);
    close(ends[0]); /* the pipe has its name still, and no reader */
    void *block;
    JASSERT_OK(jallocator_allocate(record, 10, 0, NULL, &block));
    jtest_log_clear();
    JEXPECT_STATUS(jallocator_record_flush(record), JSTATUS_IO_ERROR);
    JEXPECT_EQ(jtest_log_count(), 1);
    JEXPECT_OK(jallocator_deallocate(record, block, 10, NULL));
    JEXPECT_STATUS(jallocator_record_flush(record), JSTATUS_IO_ERROR);
    JEXPECT_OK(jallocator_destroy(record));
    JEXPECT_EQ(jtest_log_count(), 1); /* once */
    close(ends[1]);
}

static void write_lines(jallocator_t *record, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        void *block;
        JASSERT_OK(jallocator_allocate(record, 4321, 0, NULL, &block));
        JASSERT_OK(jallocator_deallocate(record, block, 4321, NULL));
    }
}

/* Whether a file has this text and nothing else. */
static bool file_is(const char *name, const char *text) {
    char found[64] = "";
    FILE *in = fopen(name, "r");
    const size_t length = in != NULL ? fread(found, 1, sizeof found - 1, in) : 0;
    if (in != NULL)
        fclose(in);
    return in != NULL && length == strlen(text) && memcmp(found, text, length) == 0;
}

JTEST(Record, NoDescriptorIsKeptThatAProgramCouldTakeForItsOwn) {
    const char *file = new_trace();
    char mine[128];
    snprintf(mine, sizeof mine, "%s.mine", file);
    const int next = open("/dev/null", O_RDONLY); /* what the recorder would be given */
    JASSERT_GE(next, 0);
    close(next);
    jallocator_t *record = make_record(jtest_failing_allocator(), file);
    close(next);
    const int own = open(mine, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    JEXPECT_EQ(own, next);
    write_lines(record, 2000);
    JEXPECT_OK(jallocator_destroy(record));
    JEXPECT_EQ(write(own, "mine\n", 5), 5);
    close(own);
    JEXPECT_TRUE(file_is(mine, "mine\n"));
    JEXPECT_EQ(remove(mine), 0);
    read_trace(file);
    JEXPECT_EQ(line_count, 4000);
}

JTEST(Record, AFileThatIsNotTheRecordersAnyMoreIsLeftAlone) {
    for (int way = 0; way < 3; ++way) {
        const char *file = new_trace();
        jallocator_t *record = make_record(jtest_failing_allocator(), file);
        write_lines(record, 10);
        JEXPECT_OK(jallocator_record_flush(record));
        if (way == 0) /* another in its place; the same, written by others; none */
            JEXPECT_EQ(remove(file), 0);
        FILE *other = way < 2 ? fopen(file, "w") : NULL;
        if (way < 2) {
            JASSERT_NOT_NULL(other);
            fputs("mine\n", other);
            fclose(other);
        } else {
            JEXPECT_EQ(remove(file), 0);
        }
        write_lines(record, 10);
        JEXPECT_STATUS(jallocator_record_flush(record), JSTATUS_IO_ERROR);
        JEXPECT_OK(jallocator_destroy(record));
        JEXPECT_EQ(file_is(file, "mine\n"), way < 2);
        JEXPECT_EQ(access(file, F_OK), way < 2 ? 0 : -1);
    }
}

static void meet_limit(void *argument) {
    (void)argument;
    struct rlimit limit = {100000, 100000};
    char file[160];
    JASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    jallocator_t *record = make_record(jtest_failing_allocator(), trace_name);
    write_lines(record, 2000);
    JEXPECT_STATUS(jallocator_record_flush(record), JSTATUS_IO_ERROR);
    JEXPECT_OK(jallocator_destroy(record));
    snprintf(file, sizeof file, "%s.%ld", trace_name, (long)getpid());
    read_trace(file); /* whole lines */
    JASSERT_GT(line_count, 0);
    JEXPECT_STREQ(lines[line_count - 1].action, "stopped");
    JEXPECT_SUBSTR(lines[line_count - 1].tag, "as long as");
    JEXPECT_EQ(remove(file), 0);
}
static void lose_reader(void *argument) {
    int ends[2];
    (void)argument;
    JASSERT_EQ(pipe(ends), 0);
    JASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    jallocator_t *record = make_record(jtest_failing_allocator(), NULL);
    close(ends[0]);
    write_lines(record, 10);
    JEXPECT_STATUS(jallocator_record_flush(record), JSTATUS_IO_ERROR);
    JEXPECT_OK(jallocator_destroy(record));
}
JTEST(Record, TheSignalsOfItsWritesReachNobody) {
    (void)new_trace();
    jtest_in_child(30, meet_limit, NULL);
    jtest_in_child(30, lose_reader, NULL);
}

JTEST(Record, NothingIsLostWithoutMemoryForBooks) {
    const char *file = new_trace();
    jallocator_t *below = jtest_failing_allocator();
    JFOR_EACH_FAILURE(i) {
        jrecord_options_t options = JRECORD_OPTIONS_INIT;
        jallocator_t *record;
        options.file = file;
        const jstatus_t status = jallocator_create_record(below, &options, &record);
        JEXPECT_EQ(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        if (status == JSTATUS_SUCCESS)
            JEXPECT_OK(jallocator_destroy(record));
    }
}

/* ---- A child has a file of its own ---- */

typedef struct forked {
    jallocator_t *record;
    void *block;
} forked_t;
static void record_in_child(void *argument) {
    forked_t *forked = argument;
    void *mine;
    JEXPECT_OK(jallocator_allocate(forked->record, 222, 0, NULL, &mine));
    JEXPECT_OK(jallocator_deallocate(forked->record, forked->block, 111, NULL));
    JEXPECT_OK(jallocator_deallocate(forked->record, mine, 222, NULL));
    JEXPECT_OK(jallocator_record_flush(forked->record));
    char file[160];
    snprintf(file, sizeof file, "%s.%ld", trace_name, (long)getpid());
    read_trace(file);
    JEXPECT_EQ(line_count, 3);
    JEXPECT_EQ(lines[0].size_bytes, 222);
    JEXPECT_EQ(lines[1].size_bytes, 111);
    JEXPECT_OK(jallocator_destroy(forked->record));
    JEXPECT_EQ(remove(file), 0);
}

JTEST(Record, AForkedChildWritesAFileOfItsOwn) {
    const char *file = new_trace();
    forked_t forked = {make_record(jtest_failing_allocator(), file), NULL};
    JASSERT_OK(jallocator_allocate(forked.record, 111, 0, NULL, &forked.block));
    jtest_in_child(30, record_in_child, &forked);
    JEXPECT_OK(jallocator_deallocate(forked.record, forked.block, 111, NULL));
    JEXPECT_OK(jallocator_destroy(forked.record));
    read_trace(file);
    JASSERT_EQ(line_count, 2); /* each line once, none of the child's */
    JEXPECT_STREQ(lines[0].action, "allocate");
    JEXPECT_STREQ(lines[1].action, "free");
}

static void record_a_number(void *argument) {
    char file[160], expected[160];
    (void)argument;
    snprintf(file, sizeof file, "%s.%%p", trace_name);
    snprintf(expected, sizeof expected, "%s.%ld", trace_name, (long)getpid());
    jallocator_t *record = make_record(jtest_failing_allocator(), file);
    write_lines(record, 1);
    JEXPECT_OK(jallocator_destroy(record));
    read_trace(expected);
    JEXPECT_EQ(line_count, 2);
    JEXPECT_EQ(remove(expected), 0);
}
JTEST(Record, APercentPIsTheNumberOfTheProcess) {
    (void)new_trace();
    record_a_number(NULL);
    jtest_in_child(30, record_a_number, NULL);
}

/* ---- JALLOC_RECORD ---- */

/* A program that knows nothing of recording; run by the test below. */
JTEST_ONLY_WITH("JALLOC_TEST_RECORDED", Record, Program) {
    jhandle_t *handle;
    JASSERT_OK(jhandle_create(NULL, &handle));
    JEXPECT_STREQ(jallocator_name(jhandle_allocator(handle)), "host");
    JASSERT_OK(jhandle_set_workspace_size(handle, 123456));
    JEXPECT_OK(jhandle_destroy(handle));

    jallocator_t *own, *track, *stack;
    JASSERT_OK(jallocator_create_malloc(&own));
    JEXPECT_STREQ(jallocator_name(own), "jpu");
    void *block;
    JASSERT_OK(jallocator_allocate(own, 777, 0, NULL, &block));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(own, &stats));
    JEXPECT_EQ(stats.live_count, 1);
    JEXPECT_EQ(stats.in_use_bytes, 777);
    JEXPECT_STATUS(jallocator_destroy(own), JSTATUS_BUSY);
    JEXPECT_OK(jallocator_deallocate(own, block, 777, NULL));
    JEXPECT_OK(jallocator_clear_stats(own));
    JEXPECT_OK(jallocator_get_stats(own, &stats));
    JEXPECT_EQ(stats.peak_in_use_bytes, 0);
    JASSERT_OK(jallocator_create_track(own, NULL, &track)); /* can still be retired */
    JASSERT_OK(jallocator_allocate(track, 888, 0, NULL, &block));
    JEXPECT_OK(jallocator_track_retire(track));
    JEXPECT_OK(jallocator_deallocate(track, block, 888, NULL));
    JEXPECT_OK(jallocator_destroy(own));
    /* Kinds are found through it. */
    JASSERT_OK(jallocator_compose(NULL, "malloc+guard+track(records=4)", &stack));
    jtrack_totals_t totals = JTRACK_TOTALS_INIT;
    JEXPECT_OK(jallocator_track_get_totals(stack, &totals));
    JEXPECT_OK(jallocator_destroy(stack));
}

JTEST(Record, AnyProgramIsRecordedByOneVariable) {
    char variable[160], output[4096];
    const char *file = new_trace();
    snprintf(variable, sizeof variable, "JALLOC_RECORD=%s", file);
    const char *const environment[] = {variable, "JALLOC_TEST_RECORDED=1", "JALLOC_TEST_KEEP=1",
                                       NULL};
    if (jtest_run_self("Record.Program", environment, output, sizeof output) != 0)
        JFAIL("%s", output);
    read_trace(file);
    bool workspace = false, own = false, tracked = false;
    for (size_t i = 0; i < line_count; ++i) {
        workspace |= strncmp(lines[i].allocator, "host#", 5) == 0 && lines[i].size_bytes >= 123456;
        own |= strncmp(lines[i].allocator, "jpu#", 4) == 0 && lines[i].size_bytes == 777;
        tracked |= strncmp(lines[i].allocator, "jpu#", 4) == 0 && lines[i].size_bytes == 888;
    }
    JEXPECT_TRUE(workspace);
    JEXPECT_TRUE(own);
    JEXPECT_TRUE(tracked);
    JEXPECT_EQ(line_count % 2, 0); /* all was given back */
    expect_alternation();
}

JTEST(Record, WhereTheVariableNamesNoFileNothingIsMade) {
    jallocator_t *allocator = NULL;
    jtest_setenv("JALLOC_RECORD", "/no/such/directory/trace.csv");
    JEXPECT_STATUS(jallocator_create_malloc(&allocator), JSTATUS_IO_ERROR);
    JEXPECT_STATUS(jallocator_create_array(jdevice_host(), &allocator, 64, &allocator),
                   JSTATUS_IO_ERROR);
    JEXPECT_NULL(allocator);
    jtest_setenv("JALLOC_RECORD", "");
    JASSERT_OK(jallocator_create_malloc(&allocator));
    JEXPECT_NULL(jallocator_below(allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
}
