/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The log, its limit on repetition, the profile, and the memory for bookkeeping. What depends on
 * the environment at the first message is seen in a run of this program by itself. */

#include "jtest.h"

#include "core/core.h"
#include "jalloc/log.h"
#include "jalloc/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t occurrences(const char *text, const char *part) {
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; ++count)
        text += strlen(part);
    return count;
}

JTEST(Log, LevelLetsThroughItselfAndWhatIsMoreImportant) {
    for (int level = JLOG_OFF; level <= JLOG_DEBUG; ++level) {
        JEXPECT_OK(jlog_set_level((jlog_level_t)level));
        JEXPECT_EQ(jlog_level(), level);
        for (int message = JLOG_ERROR; message <= JLOG_DEBUG; ++message) {
            jtest_log_clear();
            jlog_write((jlog_level_t)message, NULL, "message of level %d", message);
            JEXPECT_EQ(jtest_log_count(), message <= level ? 1 : 0);
        }
    }
}

JTEST(Log, LevelsThatAreNoneAreRefused) {
    JEXPECT_OK(jlog_set_level(JLOG_INFO));
    JEXPECT_STATUS(jlog_set_level((jlog_level_t)-1), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jlog_set_level((jlog_level_t)5), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(jlog_level(), JLOG_INFO);
    jlog_write(JLOG_OFF, NULL, "never");
    jlog_write((jlog_level_t)9, NULL, "never");
    JEXPECT_EQ(jtest_log_count(), 0);
}

JTEST(Log, LineSaysItsLevelAndHasNoNewline) {
    jlog_write(JLOG_WARNING, NULL, "%s %d", "text", 5);
    JEXPECT_SUBSTR(jtest_log_text(), "warning");
    JEXPECT_SUBSTR(jtest_log_text(), "text 5\n"); /* the newline is the capture's */
    JEXPECT_EQ(occurrences(jtest_log_text(), "\n"), 1);
}

JTEST(Log, LayerLinesAreWrittenAsTheyAreWhateverTheLevel) {
    char line[5000];
    memset(line, 'y', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    JEXPECT_OK(jlog_set_level(JLOG_OFF));
    jlog_write_line("-f trsm -r d");
    JEXPECT_STREQ(jtest_log_text(), "-f trsm -r d\n");
    jtest_log_clear();
    jlog_write_line(line);
    JEXPECT_EQ(strlen(jtest_log_text()), sizeof line);
    jlog_write_line(NULL);
    JEXPECT_EQ(jtest_log_count(), 1);
}

/* A key that was not used before, also when tests are repeated within the same second. */
static const void *new_place(void) {
    static const char places[1 << 16];
    static size_t used;
    return &places[used++ % sizeof places];
}

JTEST(Log, RepetitionIsCountedInsteadOfPrinted) {
    const void *place = new_place();
    for (int i = 0; i < 100; ++i)
        jlog_write(JLOG_WARNING, place, "again");
    JEXPECT_EQ(occurrences(jtest_log_text(), "again"), JLOG_BURST);
    jtest_sleep_ms(1050);
    jlog_write(JLOG_WARNING, place, "again");
    JEXPECT_EQ(occurrences(jtest_log_text(), "again"), JLOG_BURST + 1);
    JEXPECT_SUBSTR(jtest_log_text(), "95 more");
}

JTEST(Log, PlacesAreLimitedApartAndNullNever) {
    const void *places[3] = {new_place(), new_place(), new_place()};
    for (int i = 0; i < 20; ++i) {
        for (int k = 0; k < 3; ++k)
            jlog_write(JLOG_ERROR, places[k], "place %d", k);
        jlog_write(JLOG_ERROR, NULL, "unlimited");
    }
    JEXPECT_EQ(occurrences(jtest_log_text(), "place 0"), JLOG_BURST);
    JEXPECT_EQ(occurrences(jtest_log_text(), "place 1"), JLOG_BURST);
    JEXPECT_EQ(occurrences(jtest_log_text(), "place 2"), JLOG_BURST);
    JEXPECT_EQ(occurrences(jtest_log_text(), "unlimited"), 20);
}

static void count_lines(void *context, jlog_level_t level, const char *line) {
    (void)level, (void)line;
    ++*(int *)context;
}
JTEST(Log, WhatWasHeldBackIsToldToTheSinkBefore) {
    const void *place = new_place();
    int lines = 0;
    for (int i = 0; i < JLOG_BURST + 3; ++i)
        jlog_write(JLOG_WARNING, place, "again");
    JEXPECT_EQ(jtest_log_count(), JLOG_BURST);
    JEXPECT_OK(jlog_set_sink(count_lines, &lines));
    JEXPECT_EQ(jtest_log_count(), JLOG_BURST + 1);
    JEXPECT_SUBSTR(jtest_log_text(), "3 more");

    for (int i = 0; i < JLOG_BURST + 1; ++i)
        jlog_write(JLOG_WARNING, place, "again");
    JEXPECT_EQ(lines, JLOG_BURST);
    jtest_log_install();
    JEXPECT_EQ(lines, JLOG_BURST + 1);
}

JTEST(Log, MorePlacesThanAreRememberedStillPrint) {
    for (int k = 0; k < 1000; ++k)
        jlog_write(JLOG_ERROR, new_place(), "one of many");
    JEXPECT_EQ(occurrences(jtest_log_text(), "one of many"), 1000);
}

static void *write_many(void *argument) {
    for (int i = 0; i < 200; ++i)
        jlog_write(JLOG_INFO, NULL, "thread %d line %d end", *(const int *)argument, i);
    return NULL;
}
JTEST(Log, LinesOfSeveralThreadsStayWhole) {
    pthread_t threads[4];
    int numbers[4];
    for (int i = 0; i < 4; ++i) {
        numbers[i] = i;
        JASSERT_EQ(pthread_create(&threads[i], NULL, write_many, &numbers[i]), 0);
    }
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    JEXPECT_EQ(jtest_log_count(), 800);
    JEXPECT_EQ(occurrences(jtest_log_text(), " end\n"), 800);
}

JTEST(Log, PathNamesAFileThatIsAppendedTo) {
    char path[] = P_tmpdir "/jalloc-log-XXXXXX", text[512] = "";
    const int file = mkstemp(path);
    JASSERT_GE(file, 0);
    JEXPECT_EQ(write(file, "before\n", 7), 7);
    jtest_setenv("JALLOC_LOG_PATH", path);
    JEXPECT_OK(jlog_set_sink(NULL, NULL));
    jlog_write(JLOG_ERROR, NULL, "to the file");
    jlog_write_line("a line");
    jtest_log_install();
    jlog_write(JLOG_ERROR, NULL, "not to the file");
    JEXPECT_EQ(lseek(file, 0, SEEK_SET), 0);
    JEXPECT_GT(read(file, text, sizeof text - 1), 0);
    JEXPECT_EQ(strncmp(text, "before\n", 7), 0);
    JEXPECT_SUBSTR(text, "to the file\na line\n");
    JEXPECT_NULL(strstr(text, "not to"));
    close(file);
    unlink(path);
}

/* Logs "first" into a file that is made of the template `path`, and closes the log's descriptor,
 * `next`, under it. */
static void log_first_and_close(char *path, int *file, int *next) {
    *file = mkstemp(path);
    JASSERT_GE(*file, 0);
    *next = dup(*file); /* what the log will be given */
    close(*next);
    jtest_setenv("JALLOC_LOG_PATH", path);
    JEXPECT_OK(jlog_set_sink(NULL, NULL));
    jlog_write_line("first");
    close(*next);
}

/* A program that closes descriptors that it does not know, as daemons do, and gets their numbers
 * for files of its own. */
JTEST(Log, LinesGoToNoOtherFileThatHasTheNumberOfTheLogs) {
    char path[] = P_tmpdir "/jalloc-log-XXXXXX", own_path[] = P_tmpdir "/jalloc-own-XXXXXX",
         text[512] = "";
    int file, next;
    log_first_and_close(path, &file, &next);
    JASSERT_GE(file, 0);
    const int own = mkstemp(own_path);
    JEXPECT_EQ(own, next);
    jlog_write_line("second");
    close(own + 1); /* and once more, so that it is somebody else's when the log is closed */
    const int other = dup(own);
    JEXPECT_OK(jlog_set_sink(NULL, NULL));
    jtest_log_install();
    JEXPECT_EQ(lseek(own, 0, SEEK_END), 0);
    JEXPECT_EQ(write(other, "mine\n", 5), 5);
    JEXPECT_GT(pread(file, text, sizeof text - 1, 0), 0);
    JEXPECT_STREQ(text, "first\nsecond\n");
    close(other);
    close(own);
    close(file);
    unlink(path);
    unlink(own_path);
}

/* A write that is interrupted or takes a part is gone on with; one that fails loses its line and no
 * other. */
JTEST(Log, LinesAreWrittenWholeWhateverTheSystemTakes) {
    static const struct {
        const char *function;
        int error; /* -n: n bytes are said to be written, and are not */
        const char *written;
    } rows[] = {
        {"writev", EINTR, "abc\nnext\n"}, {"writev", ENOSPC, "next\n"}, {"writev", 0, "next\n"},
        {"writev", -2, "c\nnext\n"},      {"writev", -3, "\nnext\n"},   {"writev", -4, "next\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char path[] = P_tmpdir "/jalloc-log-XXXXXX", text[64] = "";
        JSCOPED_TRACE("%s gives %d", rows[i].function, -rows[i].error);
        const int file = mkstemp(path);
        JASSERT_GE(file, 0);
        jtest_setenv("JALLOC_LOG_PATH", path);
        JEXPECT_OK(jlog_set_sink(NULL, NULL));
        jtest_fail_calls(rows[i].function, 1, 1, rows[i].error);
        errno = EDOM;
        jlog_write_line("abc");
        JEXPECT_EQ(errno, EDOM);
        JEXPECT_TRUE(jtest_calls_failed());
        jlog_write_line("next");
        jtest_log_install();
        JEXPECT_GT(pread(file, text, sizeof text - 1, 0), 0);
        JEXPECT_STREQ(text, rows[i].written);
        close(file);
        unlink(path);
    }
}

JTEST(Log, LinesGoToNoFileOfAnotherFileSystemEither) {
    char path[] = P_tmpdir "/jalloc-log-XXXXXX", text[64] = "";
    int file, next;
    log_first_and_close(path, &file, &next);
    JASSERT_GE(file, 0);
    JEXPECT_EQ(open("/proc/self/stat", O_RDONLY), next);
    jlog_write_line("second");
    close(next + 1); /* and nothing in its place */
    jlog_write_line("third");
    jtest_log_install();
    JEXPECT_GT(pread(file, text, sizeof text - 1, 0), 0);
    JEXPECT_STREQ(text, "first\nsecond\nthird\n");
    close(next);
    close(file);
    unlink(path);
}

/* A file of which nothing can be known is none: the line goes to standard error, with the reason,
 * and it is closed. */
static void log_without_fstat(void *argument) {
    char text[512] = "";
    const int file = *(const int *)argument, before = dup(STDERR_FILENO), next = dup(file);
    close(next);
    JEXPECT_OK(jlog_set_sink(NULL, NULL));
    dup2(file, STDERR_FILENO);
    jtest_fail_calls("fstat", 1, 1, EIO);
    jlog_write_line("line");
    JEXPECT_TRUE(jtest_calls_failed());
    dup2(before, STDERR_FILENO);
    JEXPECT_GT(pread(file, text, sizeof text - 1, 0), 0);
    JEXPECT_SUBSTR(text, "cannot be opened");
    JEXPECT_SUBSTR(text, "using standard error\nline\n");
    JEXPECT_EQ(dup(file), next);
}
JTEST(Log, AFileThatCannotBeLookedAtIsNotUsed) {
    char path[] = P_tmpdir "/jalloc-log-XXXXXX", errors[] = P_tmpdir "/jalloc-errors-XXXXXX";
    const int log = mkstemp(path), file = mkstemp(errors);
    jtest_setenv("JALLOC_LOG_PATH", path);
    jtest_in_child(20, log_without_fstat, (void *)(uintptr_t)&file);
    JEXPECT_EQ(lseek(log, 0, SEEK_END), 0);
    close(log);
    close(file);
    unlink(path);
    unlink(errors);
}

JTEST(Log, LongMessagesAreCutAndNoneIsNothing) {
    char message[2000];
    const char *const none = NULL;
    memset(message, 'y', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    jlog_write(JLOG_ERROR, NULL, none);
    jtest_fail_calls("vsnprintf", 1, 1, EOVERFLOW);
    jlog_write(JLOG_ERROR, NULL, "%s", "not to be had");
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_EQ(jtest_log_count(), 0);
    jlog_write(JLOG_ERROR, NULL, "%s", message);
    JEXPECT_EQ(jtest_log_count(), 1);
    /* With the capture's newline, and cut to have room for the end. */
    JEXPECT_EQ(strlen(jtest_log_text()), 1024);
    JEXPECT_SUBSTR(jtest_log_text(), "yyy...\n");
}

/* ---- At the first message ---- */

JTEST_ONLY_WITH("JALLOC_TEST_KEEP", LogChild, OneLineOfEachLevel) {
    for (int level = JLOG_ERROR; level <= JLOG_DEBUG; ++level)
        jlog_write((jlog_level_t)level, NULL, "child line %d", level);
}
static const struct level_row {
    const char *variable;
    int lines;
    const char *also;
} level_rows[] = {
    {NULL, 2, ""},
    {"JALLOC_LOG_LEVEL=off", 0, ""},
    {"JALLOC_LOG_LEVEL=error", 1, ""},
    {"JALLOC_LOG_LEVEL=warning", 2, ""},
    {"JALLOC_LOG_LEVEL=info", 3, ""},
    {"JALLOC_LOG_LEVEL=debug", 4, ""},
    {"JALLOC_LOG_LEVEL=loud", 2, "JALLOC_LOG_LEVEL=\"loud\""},
    {"JALLOC_LOG_PATH=/nonexistent/file", 2, "/nonexistent/file"},
};
JTEST_P(Log, EnvironmentSetsTheLevel, struct level_row, level_rows) {
    char output[8192];
    const char *const environment[] = {"JALLOC_TEST_KEEP=1", param->variable, NULL};
    JEXPECT_EQ(jtest_run_self("LogChild.OneLineOfEachLevel", environment, output, sizeof output),
               0);
    JEXPECT_SUBSTR(output, "[  PASSED  ] 1 test");
    JEXPECT_EQ(occurrences(output, "child line"), param->lines);
    JEXPECT_SUBSTR(output, param->also);
}

/* ---- The profile ---- */

JTEST(Profile, TableHasCallsTimeAndRungsMostTimeFirst) {
    for (int i = 0; i < 3; ++i)
        JEXPECT_OK(jlog_profile_add("cheap n=4", 0, 1.0));
    JEXPECT_OK(jlog_profile_add("dear n=512", 0, 100.0));
    JEXPECT_OK(jlog_profile_add("dear n=512", 1, 150.5));
    JEXPECT_EQ(jtest_log_count(), 0);
    jlog_profile_flush();
    const char *dear = strstr(jtest_log_text(), "dear n=512"),
               *cheap = strstr(jtest_log_text(), "cheap n=4");
    JASSERT_NOT_NULL(dear);
    JASSERT_NOT_NULL(cheap);
    JEXPECT_LT(dear, cheap);
    JEXPECT_SUBSTR(jtest_log_text(), "250.5");
    JEXPECT_SUBSTR(jtest_log_text(), "0:1,1:1");
    JEXPECT_SUBSTR(jtest_log_text(), "0:3");
    jtest_log_clear();
    jlog_profile_flush();
    JEXPECT_EQ(jtest_log_count(), 0);
}

JTEST(Profile, RefusesNullAndCountsAreSumsOverThreads) {
    JEXPECT_STATUS(jlog_profile_add(NULL, 0, 1.0), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jlog_profile_add("odd", -1, -5.0));
    JEXPECT_OK(jlog_profile_add("odd", 1000, 0.0 / 1.0));
    jlog_profile_flush();
    JEXPECT_SUBSTR(jtest_log_text(), " 2 ");
}

static void *profile_many(void *argument) {
    (void)argument;
    char key[24];
    for (int i = 0; i < 600; ++i) {
        snprintf(key, sizeof key, "key-%d.", i % 300);
        jlog_profile_add(key, 0, 1.0);
    }
    return NULL;
}
JTEST(Profile, ManyKeysFromSeveralThreads) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, profile_many, NULL), 0);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    jlog_profile_flush();
    JEXPECT_EQ(occurrences(jtest_log_text(), "key-"), 300);
    JEXPECT_EQ(occurrences(jtest_log_text(), " 4.0 "), 300);
}

JTEST(Profile, WithoutMemoryTheCallIsNotCounted) {
    JFOR_EACH_FAILURE(i) {
        const jstatus_t status = jlog_profile_add("key", 0, 1.0);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        jtest_log_clear();
        jlog_profile_flush();
        JEXPECT_EQ(jtest_log_count() > 0, status == JSTATUS_SUCCESS);
    }
}

JTEST(Profile, ManyTimesAreInOrder) {
    char key[24];
    for (int i = 0; i < 40; ++i) {
        snprintf(key, sizeof key, "key-%d.", i);
        JEXPECT_OK(jlog_profile_add(key, -1, (double)(i * 7 % 40 + 1)));
    }
    jlog_profile_flush();
    const char *line = strstr(jtest_log_text(), "key-");
    for (int time = 40; time >= 1; --time) { /* of what took so long, no rung being known */
        JASSERT_NOT_NULL(line);
        JEXPECT_EQ(atoi(line + 4) * 7 % 40 + 1, time);
        JEXPECT_EQ(line[-2], ' ');
        line = strstr(line + 4, "key-");
    }
    JEXPECT_NULL(line);
    JEXPECT_EQ(occurrences(jtest_log_text(), " -  "), 40);
}

static void profile_of_child(void *argument) {
    (void)argument;
    JEXPECT_OK(jlog_profile_add("both", 0, 1.0));
    jlog_profile_flush();
    JEXPECT_EQ(occurrences(jtest_log_text(), " 1.0 "), 1);
    JEXPECT_NULL(strstr(jtest_log_text(), "of the parent"));
}
JTEST(Profile, AChildBeginsAtZero) {
    JEXPECT_OK(jlog_profile_add("both", 0, 1000.0));
    JEXPECT_OK(jlog_profile_add("of the parent", 0, 1.0));
    jtest_in_child(20, profile_of_child, NULL);
    jlog_profile_flush();
    JEXPECT_SUBSTR(jtest_log_text(), "1000.0");
    JEXPECT_SUBSTR(jtest_log_text(), "of the parent");
}

/* ---- Bookkeeping memory ---- */

static size_t hook_calls;
static void *hook_allocate(void *context, size_t size_bytes) {
    ++hook_calls;
    JEXPECT_EQ(context, &hook_calls);
    return malloc(size_bytes);
}
static void hook_deallocate(void *context, void *pointer) {
    ++hook_calls;
    JEXPECT_EQ(context, &hook_calls);
    JEXPECT_NOT_NULL(pointer);
    free(pointer);
}
static const jmetadata_hooks_t good_hooks = {sizeof good_hooks, hook_allocate, hook_deallocate,
                                             &hook_calls};

JTEST(Metadata, HooksAreUsedAndGivenTheirContext) {
    if (ji_metadata_live_count() > 0)
        JSKIP("a test before this one has left bookkeeping, and failed for it");
    hook_calls = 0;
    JASSERT_OK(jmetadata_set_hooks(&good_hooks));
    void *pointer = ji_metadata_zalloc(40);
    JEXPECT_NOT_NULL(pointer);
    JEXPECT_EQ(ji_metadata_live_count(), 1);
    ji_metadata_free(pointer);
    ji_metadata_free(NULL);
    JEXPECT_EQ(ji_metadata_live_count(), 0);
    JEXPECT_EQ(hook_calls, 2);
    JEXPECT_OK(jtest_metadata_install());
}

/* Another thread counts the same key while the first takes memory for it. */
static bool counted_meanwhile;
static void *count_meanwhile(void *context, size_t size_bytes) {
    (void)context;
    if (!counted_meanwhile) {
        counted_meanwhile = true;
        JEXPECT_OK(jlog_profile_add("key", 0, 1.0));
    }
    return malloc(size_bytes);
}
static void give_back(void *context, void *pointer) {
    (void)context;
    free(pointer);
}
JTEST(Metadata, MemoryOfAProfileThatIsNotNeededIsGivenBack) {
    if (ji_metadata_live_count() > 0)
        JSKIP("a test before this one has left bookkeeping, and failed for it");
    const jmetadata_hooks_t hooks = {sizeof hooks, count_meanwhile, give_back, NULL};
    counted_meanwhile = false;
    JASSERT_OK(jmetadata_set_hooks(&hooks));
    JEXPECT_OK(jlog_profile_add("key", 0, 2.0));
    JEXPECT_EQ(ji_metadata_live_count(), 1);
    jlog_profile_flush();
    JEXPECT_SUBSTR(jtest_log_text(), "0:2");
    JEXPECT_SUBSTR(jtest_log_text(), " 3.0 ");
    JEXPECT_OK(jtest_metadata_install());
}

JTEST(Metadata, HooksAreRefusedWhileABlockIsLive) {
    if (ji_metadata_live_count() > 0)
        JSKIP("a test before this one has left bookkeeping, and failed for it");
    void *pointer = ji_metadata_alloc(8);
    JEXPECT_STATUS(jmetadata_set_hooks(&good_hooks), JSTATUS_BUSY);
    JEXPECT_SUBSTR(jstatus_last_message(), "1 ");
    JEXPECT_STATUS(jmetadata_set_hooks(NULL), JSTATUS_BUSY);
    ji_metadata_free(pointer);
    JEXPECT_OK(jmetadata_set_hooks(NULL));
    pointer = ji_metadata_alloc(8);
    JEXPECT_EQ(jtest_metadata_live_count(), 0); /* malloc's */
    ji_metadata_free(pointer);
    JEXPECT_OK(jtest_metadata_install());
}

JTEST(Metadata, BadHooksAreRefused) {
    jmetadata_hooks_t hooks = good_hooks;
    hooks.struct_size = 0;
    JEXPECT_STATUS(jmetadata_set_hooks(&hooks), JSTATUS_INVALID_VALUE);
    hooks = good_hooks;
    hooks.allocate = NULL;
    JEXPECT_STATUS(jmetadata_set_hooks(&hooks), JSTATUS_INVALID_POINTER);
    hooks = good_hooks;
    hooks.deallocate = NULL;
    JEXPECT_STATUS(jmetadata_set_hooks(&hooks), JSTATUS_INVALID_POINTER);
    void *pointer = ji_metadata_alloc(8);
    JEXPECT_EQ(jtest_metadata_live_count(), 1); /* what was there before is in force */
    ji_metadata_free(pointer);
}

JTEST(Metadata, ZeroBytesAreABlockAndZallocClears) {
    unsigned char *nothing = ji_metadata_alloc(0), *zeros = ji_metadata_zalloc(100);
    JEXPECT_NOT_NULL(nothing);
    JASSERT_NOT_NULL(zeros);
    for (size_t i = 0; i < 100; ++i)
        JEXPECT_EQ(zeros[i], 0);
    ji_metadata_free(nothing);
    ji_metadata_free(zeros);
}

JTEST(Metadata, FailureIsNotCountedAsLive) {
    jtest_fail_metadata_after(1);
    JEXPECT_NULL(ji_metadata_zalloc(64));
    JEXPECT_EQ(ji_metadata_live_count(), 0);
}
