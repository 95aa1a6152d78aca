/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The shim's own tests. Tests of the suite JtestFails fail on purpose; they are registered only
 * under JALLOC_TEST_SELF, and this program runs itself with it to see that each failure is seen,
 * named and counted. */

#include "jtest.h"

#include "core/core.h"
#include "jalloc/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAILS(name) JTEST_ONLY_WITH("JALLOC_TEST_SELF", JtestFails, name)

FAILS(Eq) { JEXPECT_EQ((int64_t)-1, SIZE_MAX); }
FAILS(Ne) { JEXPECT_NE(3, 3.0); }
FAILS(LtNan) { JEXPECT_LT((double)NAN, 1.0); }
FAILS(Le) { JEXPECT_LE(SIZE_MAX, SIZE_MAX - 1); }
FAILS(Gt) { JEXPECT_GT(-1, 0u); }
FAILS(Ge) { JEXPECT_GE(INT64_MAX - 1, INT64_MAX); }
FAILS(True) { JEXPECT_TRUE(1 > 2); }
FAILS(False) { JEXPECT_FALSE(2 > 1); }
FAILS(Null) { JEXPECT_NULL(stdout); }
FAILS(NotNull) { JEXPECT_NOT_NULL((void *)NULL); }
FAILS(Streq) { JEXPECT_STREQ("left text", "right text"); }
FAILS(StreqNull) { JEXPECT_STREQ("text", NULL); }
FAILS(Substr) { JEXPECT_SUBSTR("hay", "needle"); }
FAILS(Near) { JEXPECT_NEAR(1.0, 1.1, 0.01); }
FAILS(NearNan) { JEXPECT_NEAR((double)NAN, 1.0, 1e300); }
FAILS(Ok) { JEXPECT_OK(ji_fail(JSTATUS_MEMORY_ERROR, "wanted %d bytes", 77)); }
FAILS(Status) { JEXPECT_STATUS(JSTATUS_SUCCESS, JSTATUS_BUSY); }
FAILS(AssertLeaves) {
    JASSERT_EQ(1, 2);
    printf("this line must not be reached\n");
}
FAILS(Traced) {
    JSCOPED_TRACE("case number %d", 42);
    JFAIL("with a message of %s", "its own");
}
FAILS(MetadataLeak) { JEXPECT_NOT_NULL(ji_metadata_alloc(1234)); }
FAILS(FailureLoopWithoutAllocation) {
    JFOR_EACH_FAILURE(i) {}
}
FAILS(FailureLoopLeaks) {
    void *kept[2];
    JFOR_EACH_FAILURE(i) {
        kept[0] = ji_metadata_alloc(8);
        kept[1] = ji_metadata_alloc(8); /* fails in round 2, and then the first is kept */
        if (kept[1])
            ji_metadata_free(kept[0]);
        ji_metadata_free(kept[1]);
    }
}
FAILS(AllocatorLeak) {
    void *pointer;
    JEXPECT_OK(jallocator_allocate(jtest_failing_allocator(), 4321, 0, NULL, &pointer));
}
FAILS(AllocatorOverrun) {
    void *pointer;
    JASSERT_OK(jallocator_allocate(jtest_failing_allocator(), 100, 0, NULL, &pointer));
    ((volatile char *)pointer)[101] = 0; /* inside what the allocator itself holds */
    JEXPECT_OK(jallocator_deallocate(jtest_failing_allocator(), pointer, 100, NULL));
}
FAILS(AllocatorUnderrun) {
    void *pointer;
    JASSERT_OK(jallocator_allocate(jtest_failing_allocator(), 100, 256, NULL, &pointer));
    ((volatile char *)pointer)[-200] = 0;
    JEXPECT_OK(jallocator_deallocate(jtest_failing_allocator(), pointer, 100, NULL));
}
FAILS(AllocatorWrongSize) {
    void *pointer;
    JASSERT_OK(jallocator_allocate(jtest_failing_allocator(), 100, 0, NULL, &pointer));
    JEXPECT_OK(jallocator_deallocate(jtest_failing_allocator(), pointer, 99, NULL));
}
static void die(void *argument) {
    (void)argument;
    abort();
}
static void fail_a_check(void *argument) { JEXPECT_NULL(argument); }
static void hang(void *argument) {
    (void)argument;
    for (;;)
        pause();
}
FAILS(ChildDies) { jtest_in_child(10, die, NULL); }
FAILS(ChildFails) { jtest_in_child(10, fail_a_check, stdout); }
FAILS(ChildHangs) { jtest_in_child(1, hang, NULL); }
FAILS(RandomShowsItsSeed) {
    jtest_random();
    JFAIL("for the seed");
}
FAILS(ShowsTheLog) {
    jlog_write(JLOG_ERROR, NULL, "a line for the %s", "log");
    JFAIL("for the log");
}

/* What the output must hold for each of them. */
static const struct failing {
    const char *name, *shown;
} failing[] = {
    {"Eq", "((int64_t)-1) == (SIZE_MAX), actual: -1 vs 18446744073709551615"},
    {"Ne", "(3) != (3.0), actual: 3 vs 3"},
    {"LtNan", "nan vs 1"},
    {"Le", "18446744073709551615 vs 18446744073709551614"},
    {"Gt", "(-1) > (0u), actual: -1 vs 0"},
    {"Ge", "9223372036854775806 vs 9223372036854775807"},
    {"True", "Value of: 1 > 2"},
    {"False", "Value of: 2 > 1"},
    {"Null", "is NULL, actual: 0x"},
    {"NotNull", "is not NULL"},
    {"Streq", "\"left text\"\nExpected: \"right text\""},
    {"StreqNull", "Expected: NULL"},
    {"Substr", "Expected to contain: \"needle\""},
    {"Near", "apart by 0.1"},
    {"NearNan", "nan"},
    {"Ok",
     "JSTATUS_MEMORY_ERROR (5)\nExpected: JSTATUS_SUCCESS\nLast message: \"wanted 77 bytes\""},
    {"Status", "Expected: JSTATUS_BUSY"},
    {"AssertLeaves", "actual: 1 vs 2"},
    {"Traced", "case number 42"},
    {"MetadataLeak", "1234 bytes, allocation 1"},
    {"FailureLoopWithoutAllocation", "allocates no bookkeeping"},
    {"FailureLoopLeaks", "round 2 began with 0 live blocks of bookkeeping and ended with 1"},
    {"AllocatorLeak", "1 block(s), 4321 bytes"},
    {"AllocatorOverrun", "the memory behind a block of 100 bytes was written to"},
    {"AllocatorUnderrun", "the memory before a block of 100 bytes was written to"},
    {"AllocatorWrongSize", "a block of 100 bytes was given back as 99"},
    {"ChildDies", "the child ended with 134"},
    {"ChildFails", "the child ended with 1"},
    {"ChildHangs", "the child took longer than 1 s"},
    {"RandomShowsItsSeed", "JALLOC_TEST_SEED=31"},
    {"ShowsTheLog", "log lines of the test:\njalloc error: a line for the log"},
};
#define FAILING_COUNT (sizeof failing / sizeof failing[0])

static char output[256 * 1024];

/* Runs this program with the failing tests in it. */
static int run_self(const char *filter, const char *more) {
    const char *const environment[] = {"JALLOC_TEST_SELF=1", "JALLOC_TEST_SEED=31", more, NULL};
    return jtest_run_self(filter, environment, output, sizeof output);
}

/* The same as a user would start it: with options of one's own, and what the caller's environment
 * holds. */
static int run_plain(const char *option, const char *more_option, const char *more) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    const char *const arguments[] = {self, "--gtest_color=no", option, more_option, NULL};
    const char *const environment[] = {"JALLOC_TEST_SELF=1", more, NULL};
    return jtest_run_program(arguments, environment, output, sizeof output);
}

static void failing_name(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const struct failing *)parameter)->name);
}
JTEST_P_NAMED(Jtest, FailureIsReported, struct failing, failing, failing_name) {
    char filter[200], failed[200];
    snprintf(filter, sizeof filter, "JtestFails.%s", param->name);
    snprintf(failed, sizeof failed, "[  FAILED  ] JtestFails.%s", param->name);
    JEXPECT_EQ(run_self(filter, NULL), 1);
    JEXPECT_SUBSTR(output, failed);
    JEXPECT_SUBSTR(output, ": Failure\n");
    JEXPECT_SUBSTR(output, param->shown);
    JEXPECT_NULL(strstr(output, "must not be reached"));
}

JTEST(Jtest, FailingTestsAreAbsentByDefault) {
    JEXPECT_EQ(jtest_run_self("JtestFails.*", NULL, output, sizeof output), 0);
    JEXPECT_SUBSTR(output, "Running 0 tests");
}

JTEST(Jtest, FilterAndCountsAreGoogleTests) {
    JEXPECT_EQ(run_self("JtestFails.Ne:JtestFails.Le:Jtest.ScalarsCompare", NULL), 1);
    JEXPECT_SUBSTR(output, "3 tests from 2 test suites ran");
    JEXPECT_SUBSTR(output, "[  PASSED  ] 1 test.");
    JEXPECT_SUBSTR(output, "[  FAILED  ] 2 tests");
}

JTEST(Jtest, LeakIsNotBlamedOnTheNextTest) {
    JEXPECT_EQ(
        run_self("JtestFails.MetadataLeak:Jtest.ScalarsCompare:Jtest.MetadataIsCounted", NULL), 1);
    JEXPECT_SUBSTR(output, "[  FAILED  ] 1 test,");
    JEXPECT_SUBSTR(output, "[  PASSED  ] 2 tests.");
}

JTEST(Jtest, PassingRunGivesZero) {
    JEXPECT_EQ(run_plain("--gtest_filter=Jtest.ScalarsCompare", "--gtest_repeat=2", NULL), 0);
    JEXPECT_SUBSTR(output, "[  PASSED  ] 1 test.");
}

JTEST(Jtest, ShardsDivideTheTests) {
    unsigned ran = 0;
    for (int shard = 0; shard < 2; ++shard) {
        char index[32];
        snprintf(index, sizeof index, "GTEST_SHARD_INDEX=%d", shard);
        const char *const environment[] = {"GTEST_TOTAL_SHARDS=2", index, NULL};
        JEXPECT_EQ(jtest_run_self("Jtest.Parameters/*", environment, output, sizeof output), 0);
        for (int i = 0; i < 3; ++i) {
            char line[64];
            snprintf(line, sizeof line, "[       OK ] Jtest.Parameters/%d", i);
            ran += strstr(output, line) ? 1u << (4 * i) : 0;
        }
    }
    JEXPECT_EQ(ran, 0x111); /* each in exactly one of the two */
}

JTEST(Jtest, XmlNamesTestsAndFailures) {
    char path[] = P_tmpdir "/jtest-XXXXXX", option[128], text[16384];
    const int file = mkstemp(path);
    JASSERT_GE(file, 0);
    snprintf(option, sizeof option, "--gtest_output=xml:%s", path);
    JEXPECT_EQ(run_plain("--gtest_filter=JtestFails.Ne:Jtest.Parameters/1", option, NULL), 1);
    FILE *xml = fopen(path, "r");
    if (xml) {
        const size_t length = fread(text, 1, sizeof text - 1, xml);
        text[length] = '\0';
        fclose(xml);
        JEXPECT_SUBSTR(text, "tests=\"2\" failures=\"1\"");
        JEXPECT_SUBSTR(text, "name=\"Ne\"");
        JEXPECT_SUBSTR(text, "name=\"Parameters/1\"");
        JEXPECT_SUBSTR(text, "<failure message=");
    } else {
        JFAIL("no XML file was written");
    }
    close(file);
    unlink(path);
}

JTEST(Jtest, UnknownArgumentIsRefused) {
    JEXPECT_EQ(run_plain("--gtest_filter=Jtest.ScalarsCompare", "--no-such-option", NULL), 2);
    JEXPECT_SUBSTR(output, "unknown argument --no-such-option");
}

static const int squares[][2] = {{2, 4}, {3, 9}, {-4, 16}};
typedef int square_t[2];
JTEST_P(Jtest, Parameters, square_t, squares) {
    JEXPECT_EQ((*param)[0] * (*param)[0], (*param)[1]);
}

JTEST(Jtest, ScalarsCompare) {
    JEXPECT_EQ(1, 1.0f);
    JEXPECT_EQ(SIZE_MAX, UINT64_MAX);
    JEXPECT_LT(-1, SIZE_MAX);
    JEXPECT_NE((double)NAN, (double)NAN);
    JEXPECT_LE(INT64_MIN, INT64_MIN);
    JEXPECT_GT(UINT64_MAX, INT64_MAX);
    JEXPECT_GE('b', 'a');
    JEXPECT_EQ(true, 1);
    JEXPECT_EQ(stdout, stdout);
    JEXPECT_NE(stdout, stderr);
    JEXPECT_EQ(JSTATUS_BUSY, 103);
    JEXPECT_NEAR(1.0, 1.05, 0.051);
    JEXPECT_STREQ(NULL, (char *)NULL);
}

JTEST(Jtest, ArgumentsAreEvaluatedOnce) {
    int n = 0;
    JEXPECT_EQ(n++, 0);
    JEXPECT_TRUE(n++ == 1);
    JEXPECT_OK((jstatus_t)(n++ - 2));
    JEXPECT_EQ(n, 3);
}

JTEST(Jtest, SkippedIsNeitherPassedNorFailed) {
    JEXPECT_EQ(run_self("JtestFails.Skips", NULL), 0);
    JEXPECT_SUBSTR(output, "[  SKIPPED ] 1 test");
    JEXPECT_SUBSTR(output, "for a reason");
    JEXPECT_NULL(strstr(output, "must not be reached"));
}

JTEST(Jtest, MetadataIsCounted) {
    const uint64_t before = jtest_metadata_allocation_count();
    void *a = ji_metadata_alloc(10), *b = ji_metadata_zalloc(20);
    JEXPECT_EQ(jtest_metadata_allocation_count() - before, 2);
    JEXPECT_EQ(jtest_metadata_live_count(), 2);
    ji_metadata_free(a);
    JEXPECT_EQ(jtest_metadata_live_count(), 1);
    ji_metadata_free(b);
    ji_metadata_free(NULL);
    JEXPECT_EQ(jtest_metadata_live_count(), 0);
}

JTEST(Jtest, NthMetadataAllocationFailsOnce) {
    jtest_fail_metadata_after(2);
    void *a = ji_metadata_alloc(1), *b = ji_metadata_alloc(1), *c = ji_metadata_alloc(1);
    JEXPECT_NOT_NULL(a);
    JEXPECT_NULL(b);
    JEXPECT_NOT_NULL(c);
    JEXPECT_TRUE(jtest_metadata_failed());
    ji_metadata_free(a);
    ji_metadata_free(c);
}

JTEST(Jtest, FailureLoopVisitsEachAllocation) {
    unsigned rounds = 0, failures = 0;
    JFOR_EACH_FAILURE(i) {
        void *blocks[3];
        ++rounds;
        for (size_t k = 0; k < 3; ++k) {
            blocks[k] = ji_metadata_alloc(16);
            failures += blocks[k] == NULL;
            JEXPECT_EQ(blocks[k] == NULL, k + 1 == i);
        }
        for (size_t k = 0; k < 3; ++k)
            ji_metadata_free(blocks[k]);
    }
    JEXPECT_EQ(rounds, 4);
    JEXPECT_EQ(failures, 3);
}

JTEST(Jtest, NthAllocationFailsOnce) {
    void *pointer = NULL;
    jallocator_t *allocator = jtest_failing_allocator();
    JASSERT_NOT_NULL(allocator);
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jallocator_allocate(allocator, 64, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JASSERT_OK(jallocator_allocate(allocator, 64, 4096, NULL, &pointer));
    JEXPECT_EQ((uintptr_t)pointer % 4096, 0);
    JEXPECT_EQ(jtest_live_bytes(), 64);
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, 64, NULL));
    JEXPECT_EQ(jtest_allocation_count(), 2);
    JEXPECT_EQ(jtest_deallocation_count(), 1);
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

static void write_at(void *address) { *(volatile char *)address = 1; }
JTEST(Jtest, GuardPagesTrap) {
    char *end = jtest_guard_pages(192), *start = jtest_guard_pages_before(192);
    JASSERT_NOT_NULL(end);
    JASSERT_NOT_NULL(start);
    JEXPECT_EQ((uintptr_t)end % 64, 0);
    memset(end, 1, 192);
    memset(start, 1, 192);
    for (int side = 0; side < 2; ++side) {
        const char *const filter[] = {"JtestFails.GuardBehind", "JtestFails.GuardBefore"};
        JEXPECT_NE(run_self(filter[side], NULL), 0);
        JEXPECT_NULL(strstr(output, "[       OK ]"));
        JEXPECT_SUBSTR(output, "[ RUN      ]");
    }
}
FAILS(Skips) {
    JSKIP("for a reason");
    JFAIL("this line must not be reached");
}
FAILS(GuardBehind) { write_at((char *)jtest_guard_pages(192) + 192); }
FAILS(GuardBefore) { write_at((char *)jtest_guard_pages_before(192) - 1); }

JTEST(Jtest, RandomNumbersRepeatAndStayInRange) {
    uint64_t a = 7, b = 7;
    bool low = false, high = false;
    JEXPECT_EQ(jtest_random_next(&a), jtest_random_next(&b));
    for (int i = 0; i < 1000; ++i) {
        const int64_t n = jtest_random_between(-3, 3);
        JEXPECT_TRUE(n >= -3 && n <= 3);
        low |= n == -3;
        high |= n == 3;
        const double x = jtest_random_double(-1, 1);
        JEXPECT_TRUE(x >= -1 && x < 1);
    }
    JEXPECT_TRUE(low && high);
    jtest_random_between(INT64_MIN, INT64_MAX);
    JEXPECT_GE(jtest_iterations(1), 1);
}

JTEST(Jtest, EnvironmentIsSetForOneTest) {
    JEXPECT_NULL(getenv("JALLOC_TEST_VARIABLE"));
    jtest_setenv("JALLOC_TEST_VARIABLE", "1");
    jtest_setenv("JALLOC_TEST_VARIABLE", "2");
    JEXPECT_STREQ(getenv("JALLOC_TEST_VARIABLE"), "2");
}
JTEST(Jtest, EnvironmentIsSetForOneTestAndRestored) {
    JEXPECT_NULL(getenv("JALLOC_TEST_VARIABLE"));
}

JTEST(Jtest, CallersEnvironmentDoesNotReachTheTests) {
    JEXPECT_EQ(run_plain("--gtest_filter=Jtest.EnvironmentIsClean", NULL, "JALLOC_LAYER=7"), 0);
    JEXPECT_SUBSTR(output, "[  PASSED  ] 1 test.");
}
JTEST(Jtest, EnvironmentIsClean) { JEXPECT_NULL(getenv("JALLOC_LAYER")); }

JTEST(Jtest, LogLinesAreKept) {
    jlog_write(JLOG_WARNING, NULL, "number %d", 12);
    jlog_write_line("a line");
    JEXPECT_EQ(jtest_log_count(), 2);
    JEXPECT_SUBSTR(jtest_log_text(), "number 12");
    JEXPECT_SUBSTR(jtest_log_text(), "a line\n");
    jtest_log_clear();
    JEXPECT_STREQ(jtest_log_text(), "");
}

JTEST(Jtest, SystemsCallsFailAsAskedFor) {
    jtest_fail_calls("open", 2, 1, EACCES);
    int files[3];
    for (int i = 0; i < 3; ++i) {
        errno = 0;
        files[i] = open("/dev/null", O_RDONLY);
        JEXPECT_EQ(files[i] < 0, i == 1);
        JEXPECT_EQ(errno, i == 1 ? EACCES : 0);
    }
    JEXPECT_TRUE(jtest_calls_failed());

    char byte = 7;
    jtest_fail_calls("read", 1, 2, 0);
    JEXPECT_EQ(read(-1, &byte, 1), 0);
    JEXPECT_EQ(read(-1, &byte, 1), 0);
    JEXPECT_EQ(read(-1, &byte, 1), -1);
    JEXPECT_TRUE(jtest_calls_failed());

    jtest_fail_calls("close", 3, 1, EIO);
    JEXPECT_EQ(close(files[0]), 0);
    JEXPECT_FALSE(jtest_calls_failed());
    JEXPECT_EQ(close(files[2]), 0);
}
