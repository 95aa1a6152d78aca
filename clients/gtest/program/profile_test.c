/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Profiles: what a file predicts, what is refused of one and why, and what is predicted without. */

#include "comma_locale.h"
#include "kernel_helper.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jalloc/version.h"

/* A file that is gone after the test. */
static void write_file(char path[64], const char *text) {
    strcpy(path, "/tmp/jalloc-profile-XXXXXX");
    const int file = mkstemp(path);
    JASSERT_GE(file, 0);
    JEXPECT_EQ(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

#define HEAD "jalloc profile 4\nlibrary\t%s\nprocessor\t%s\nrates\t1e9\t1e9\t1e-5\npace\t1e-5\n"
#define FIT_OF(constant, flops) "fit\t" constant "\t" flops "\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n"
#define ENTRIES                                                                                    \
    "entry\tkernel\tbest\t1\t0\n" FIT_OF("0.25", "2") "entry\tkernel\tbest\t4\t2\n" FIT_OF(        \
        "1", "0") "at\t8\t1\t1\t1\t1e9\t0.5\n"                                                     \
                  "at\t512\t1\t1\t1\t1e9\t-0.25\n"

static void write_good(char path[64], const char *more) {
    char text[4096];
    const int length =
        snprintf(text, sizeof text, HEAD, jalloc_version_string(), jprofile_processor());
    snprintf(text + length, sizeof text - (size_t)length, "%s", more);
    write_file(path, text);
}

static jprofile_info_t profile_info(void) {
    jprofile_info_t info = JPROFILE_INFO_INIT;
    JEXPECT_OK(jprofile_get_info(&info));
    return info;
}

static jplan_t plan_of_size(int64_t n, double flops) {
    jplan_t plan;
    jplan_init(&plan, NULL, "kernel", "n", &n);
    jplan_add(&plan, "best", 0, 0, 0, NULL);
    jplan_price(&plan, &(const jprice_t){.flops = flops});
    return plan;
}

JTEST(MachineProfile, PredictsByItsEntries) {
    char path[64];
    write_good(path, ENTRIES);
    JASSERT_OK(jprofile_load(path));
    JEXPECT_TRUE(profile_info().measured);
    JEXPECT_EQ(profile_info().entry_count, 2);
    JEXPECT_EQ(profile_info().flops_per_second, 1e9);
    JEXPECT_STREQ(profile_info().path, path);
    JEXPECT_STREQ(profile_info().refused, "");

    const jplan_t plan = plan_of_size(8, 1e9);
    JEXPECT_NEAR(jprofile_predict(&plan, 0, 1), 2.25, 1e-12);
    JEXPECT_NEAR(jprofile_predict(&plan, 0, 3), 2.25, 1e-12); /* the entry of fewer threads */
    JEXPECT_NEAR(jprofile_predict(&plan, 0, 0), 2.25, 1e-12);
    /* At a point its weight and something of the other's, 2^6 away; far from all none. */
    const double alike = 1 / (1 + 6.0 / 5 * 6 / 5);
    JEXPECT_NEAR(jprofile_predict(&plan, 0, 4), 1 + 0.5 - 0.25 * alike, 1e-6);
    const jplan_t other = plan_of_size(512, 1e9), far = plan_of_size(INT64_C(1) << 60, 1e9);
    JEXPECT_NEAR(jprofile_predict(&other, 0, 7), 1 + 0.5 * alike - 0.25, 1e-6);
    JEXPECT_NEAR(jprofile_predict(&far, 0, 7), 1, 0.01);
    /* More flops of the same size, 2^16, are away, too: there is more to do than it says. */
    const jplan_t more = plan_of_size(8, 1e9 * (1 << 16));
    JEXPECT_NEAR(jprofile_predict(&more, 0, 7), 1 + 0.5 / 5 - 0.25 / (1 / alike + 4), 1e-6);
    /* Without an entry by the rates. */
    jplan_t unknown = plan;
    unknown.routine = "another";
    JEXPECT_NEAR(jprofile_predict(&unknown, 0, 1), 1 + 1e-5, 1e-9);
    JEXPECT_NEAR(jprofile_predict(&unknown, 0, 2), 0.5 + 1e-5, 1e-9);
    JEXPECT_TRUE(isnan(jprofile_predict(&plan, 1, 1)));
    JEXPECT_TRUE(isnan(jprofile_predict(NULL, 0, 1)));

    JEXPECT_OK(jprofile_load(NULL));
    JEXPECT_FALSE(profile_info().measured);
    JEXPECT_EQ(profile_info().entry_count, 0);
    unlink(path);
}

static jplan_t plan_of_product(int64_t m, int64_t k) {
    jplan_t plan;
    jplan_init(&plan, NULL, "kernel", "mnk", (const int64_t[]){m, 64, k});
    jplan_add(&plan, "best", 0, 0, 0, NULL);
    return plan;
}

/* By the same sizes a symmetric matrix is on the left or not: what was measured there is less
 * alike. Whatever the weights are, a call takes some time. */
JTEST(MachineProfile, TellsTheSideOfASquareOperand) {
    char path[64];
    write_good(path, "entry\tkernel\tbest\t1\t1\n" FIT_OF(
                         "1", "0") "at\t64\t64\t64\t1\t1\t0.5\n"
                                   "entry\tkernel\tbest\t2\t1\n" FIT_OF(
                                       "1", "0") "at\t64\t64\t64\t1\t1\t-9\n");
    JASSERT_OK(jprofile_load(path));
    const jplan_t left = plan_of_product(64, 64), right = plan_of_product(64, 65);
    JEXPECT_NEAR(jprofile_predict(&left, 0, 1), 1.5, 1e-6);
    JEXPECT_NEAR(jprofile_predict(&right, 0, 1), 1 + 0.5 / 1.25, 1e-3);
    JEXPECT_EQ(jprofile_predict(&left, 0, 2), 0.1);
    JEXPECT_OK(jprofile_load(NULL));
    unlink(path);
}

/* 1, flops, bytes, launches, sizes, flops over each size; of sizes that are not there nothing. */
JTEST(MachineProfile, SumsItsTerms) {
    char path[64];
    write_good(path, "entry\tkernel\tbest\t1\t0\n"
                     "fit\t1\t10\t100\t1e3\t1e4\t1e5\t9e9\t9e9\t1e6\t1e7\t9e9\t9e9\n");
    JASSERT_OK(jprofile_load(path));
    jplan_t plan;
    jplan_init(&plan, NULL, "kernel", "mn", (const int64_t[]){2000, 5000});
    jplan_add(&plan, "best", 0, 0, 0, NULL);
    jplan_price(&plan, &(const jprice_t){.flops = 4e9, .moved_bytes = 3e9, .launches = 6});
    JEXPECT_NEAR(jprofile_predict(&plan, 0, 1),
                 1 + 10 * 4 + 100 * 3 + 1e3 * 0.006 + 1e4 * 2 + 1e5 * 5 + 1e6 * 2 + 1e7 * 0.8,
                 1e-6);
    JEXPECT_OK(jprofile_load(NULL));
    unlink(path);
}

/* To the last digit, whatever an entry would say; others are predicted as before. */
JTEST(MachineProfile, ACallThatWasMeasuredTakesWhatItTook) {
    char path[64];
    write_good(path, "call\tkernel\tbest\t2\t9\t1\t1\t1\t1e9\t0.125\n" ENTRIES
                     "call\tkernel\tbest\t1\t9\t1\t1\t1\t1e9\t0.375\n"
                     "call\tkernel\tbest\t1\t7\t1\t1\t1\t1e9\t0.5\n"
                     "call\tkernel\tworst\t1\t8\t1\t1\t1\t1e9\t0.625\n"
                     "call\tunknown\tbest\t1\t9\t1\t1\t1\t1e9\t0.75\n");
    JASSERT_OK(jprofile_load(path));
    const jplan_t nine = plan_of_size(9, 1e9), seven = plan_of_size(7, 1e9),
                  eight = plan_of_size(8, 1e9);
    JEXPECT_EQ(profile_info().call_count, 5);
    JEXPECT_EQ(jprofile_predict(&nine, 0, 1), 0.375);
    JEXPECT_EQ(jprofile_predict(&nine, 0, 2), 0.125);
    JEXPECT_EQ(jprofile_predict(&seven, 0, 1), 0.5);
    JEXPECT_NEAR(jprofile_predict(&seven, 0, 2), 2.25, 1e-12);
    JEXPECT_NEAR(jprofile_predict(&eight, 0, 1), 2.25, 1e-12);
    /* The same sizes with other flops are another call: a plan does not name all sizes. */
    const jplan_t more = plan_of_size(9, 3e9);
    JEXPECT_NEAR(jprofile_predict(&more, 0, 1), 6.25, 1e-12);
    jplan_t unknown = nine;
    unknown.routine = "unknown"; /* and without an entry */
    JEXPECT_EQ(jprofile_predict(&unknown, 0, 1), 0.75);
    unknown.routine = NULL;
    JEXPECT_GT(jprofile_predict(&unknown, 0, 1), 0.9);
    JEXPECT_OK(jprofile_load(NULL));
    unlink(path);
}

/* The prediction of what nobody measured grows with each count, and lower rungs come after. */
JTEST(MachineProfile, WithoutOnePricesAndRungsAreInOrder) {
    JEXPECT_OK(jprofile_load(NULL));
    jplan_t plan;
    jplan_init(&plan, NULL, "mine", "", NULL);
    for (int i = 0; i < 4; i++)
        jplan_add(&plan, kernel_rungs[i], 0, 0, 0, NULL);
    for (uint32_t i = 1; i < 4; i++)
        JEXPECT_GT(jprofile_predict(&plan, i, 1), jprofile_predict(&plan, i - 1, 1));

    const jprice_t prices[] = {{1e6, 1e6, 10}, {2e6, 1e6, 10}, {1e6, 2e6, 10}, {1e6, 1e6, 20}};
    double seconds[4];
    for (int i = 0; i < 4; i++) {
        jplan_init(&plan, NULL, "mine", "", NULL);
        jplan_add(&plan, "rung", 0, 0, 0, NULL);
        jplan_price(&plan, &prices[i]);
        seconds[i] = jprofile_predict(&plan, 0, 1);
        JEXPECT_GT(seconds[i], i == 0 ? 0 : seconds[0]);
    }
}

typedef struct damage {
    const char *text, *said;
    jstatus_t status;
} damage_t;

static const damage_t damages[] = {
    {"", "is no profile", JSTATUS_INVALID_VALUE},
    {"\n\n", "is no profile", JSTATUS_INVALID_VALUE},
    {"\x7f"
     "ELF",
     "is no profile", JSTATUS_INVALID_VALUE},
    {"jalloc profile 3\n", "a \"jalloc profile 3\"", JSTATUS_INCOMPATIBLE},
    {"jalloc profile 4\n", "ends without", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nlibrary\t0.0.0\n", "measured with jalloc 0.0.0", JSTATUS_INCOMPATIBLE},
    {"jalloc profile 4\nprocessor\tZ80\n", "measured on Z80", JSTATUS_INCOMPATIBLE},
    {"jalloc profile 4\nnonsense\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nnonsense\tmore\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nrates\t1\t2\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nrates\t1\t2\t0\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nrates\t1\tnan\t1\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nrates\t1\t2\t3\t4\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\npace\t0\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\npace\tfast\n", ":2: not understood", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\n", ":2: is no entry", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t0\t1\n", ":2: is no entry", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t1\t1e9\n", ":2: is no entry", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t1\t1\n", "is no fit", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t1\t1\nfit\t1\n", ":3: is no fit", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t1\t0\n" FIT_OF("-1", "0"), ":3: is no fit",
     JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t1\t1\n" FIT_OF("1", "0"), "is no measurement",
     JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t1\t1\n" FIT_OF("1", "0") "at\t1\t2\n", ":4: is no measurement",
     JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\nentry\ta\tb\t1\t1\n" FIT_OF("1", "0") "at\t1\t0\t1\t1\t1\t1\n",
     ":4: is no measurement", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\ncall\ta\n", ":2: is no call", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\ncall\ta\tb\t1\t8\t1\t1\t1\t0.5\n", ":2: is no call", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\ncall\ta\tb\t0\t8\t1\t1\t1\t1\t0.5\n", ":2: is no call",
     JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\ncall\ta\tb\t1\t0\t1\t1\t1\t1\t0.5\n", ":2: is no call",
     JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\ncall\ta\tb\t1\t8\t1\t1\t1\t1\t0\n", ":2: is no call",
     JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\npace\t1\npace\t1\n", ":3: pace is there twice", JSTATUS_INVALID_VALUE},
    {"jalloc profile 4\npace\t1e-5", ":2: has no end", JSTATUS_INVALID_VALUE},
};

JTEST_P(MachineProfile, DamageIsRefusedByItsLineAndTheOldOneStays, damage_t, damages) {
    char path[64], good[64];
    write_good(good, ENTRIES);
    JASSERT_OK(jprofile_load(good));
    write_file(path, param->text);
    JEXPECT_STATUS(jprofile_load(path), param->status);
    JEXPECT_SUBSTR(jstatus_last_message(), path);
    JEXPECT_SUBSTR(jstatus_last_message(), param->said);
    JEXPECT_STREQ(profile_info().path, good);
    JEXPECT_OK(jprofile_load(NULL));
    unlink(path);
    unlink(good);
}

/* Wherever the file of a full disk or a broken copy ends: it is refused, or says nothing else. */
JTEST(MachineProfile, WhatIsCutOffIsNeverAnotherNumber) {
    static const char more[] = ENTRIES "call\tkernel\tbest\t1\t9\t1\t1\t1\t1e9\t0.375\n";
    const jplan_t nine = plan_of_size(9, 1e9), eight = plan_of_size(8, 1e9);
    for (size_t length = 0; length < sizeof more; length++) {
        char path[64], text[sizeof more];
        memcpy(text, more, length);
        text[length] = '\0';
        write_good(path, text);
        const jstatus_t status = jprofile_load(path);
        JSCOPED_TRACE("%zu bytes: %s", length, jstatus_text(status));
        if (status == JSTATUS_SUCCESS) {
            JEXPECT_TRUE(length == 0 || text[length - 1] == '\n');
            const jprofile_info_t info = profile_info();
            if (info.call_count > 0)
                JEXPECT_EQ(jprofile_predict(&nine, 0, 1), 0.375);
            if (info.entry_count > 0)
                JEXPECT_NEAR(jprofile_predict(&eight, 0, 1), 2.25, 1e-12);
        } else {
            JEXPECT_STATUS(status, JSTATUS_INVALID_VALUE);
        }
        unlink(path);
    }
    JEXPECT_OK(jprofile_load(NULL));
}

/* As a file is left whose end never came to the disk. */
JTEST(MachineProfile, ZeroBytesAreDamage) {
    char path[64];
    write_good(path, ENTRIES);
    struct stat about;
    JASSERT_EQ(stat(path, &about), 0);
    JEXPECT_EQ(truncate(path, about.st_size + 8), 0);
    JEXPECT_STATUS(jprofile_load(path), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "zero byte");
    unlink(path);
}

JTEST(MachineProfile, NumbersAreCsInAnyLocale) {
    if (!comma_locale_begin())
        JSKIP("no locale with a decimal comma");
    char path[64];
    write_good(path, ENTRIES);
    JEXPECT_OK(jprofile_load(path));
    char number[8];
    snprintf(number, sizeof number, "%.1f", 0.5);
    JEXPECT_STREQ(number, "0,5"); /* the program's locale is as it was */
    comma_locale_end();
    const jplan_t plan = plan_of_size(8, 1e9);
    JEXPECT_NEAR(jprofile_predict(&plan, 0, 1), 2.25, 1e-12);
    JEXPECT_OK(jprofile_load(NULL));
    unlink(path);
}

/* A pipe that nobody writes to would be waited for. */
JTEST(MachineProfile, APipeIsNoFile) {
    char path[] = "/tmp/jalloc-profile-XXXXXX";
    JASSERT_NOT_NULL(mkdtemp(path));
    char pipe[64];
    snprintf(pipe, sizeof pipe, "%s/pipe", path);
    JASSERT_EQ(mkfifo(pipe, 0600), 0);
    JEXPECT_STATUS(jprofile_load(pipe), JSTATUS_IO_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "is no file");
    unlink(pipe);
    rmdir(path);
}

JTEST(MachineProfile, WhatCannotBeReadIsSaid) {
    char path[64];
    JEXPECT_STATUS(jprofile_load("/nowhere/at/all"), JSTATUS_NOT_FOUND);
    JEXPECT_SUBSTR(jstatus_last_message(), "/nowhere/at/all");
    JEXPECT_STATUS(jprofile_load("/tmp"), JSTATUS_IO_ERROR);
    write_good(path, "");
    JEXPECT_EQ(truncate(path, 65 << 20), 0);
    JEXPECT_STATUS(jprofile_load(path), JSTATUS_INVALID_VALUE);
    jprofile_info_t unset = {0};
    JEXPECT_STATUS(jprofile_get_info(&unset), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jprofile_get_info(NULL), JSTATUS_INVALID_POINTER);
    unlink(path);
}

JTEST(MachineProfile, NoMemoryIsSaidAndNothingIsLost) {
    char path[64];
    write_good(path, ENTRIES "call\tkernel\tbest\t1\t7\t1\t1\t1\t1e9\t0.5\n");
    JEXPECT_OK(jprofile_load(NULL));
    JFOR_EACH_FAILURE(i) {
        const jstatus_t status = jprofile_load(path);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(profile_info().measured, !jtest_metadata_failed());
        JEXPECT_OK(jprofile_load(NULL));
    }
    unlink(path);
}

JTEST(MachineProfile, TheDefaultPathIsXdgsOrHomes) {
    char path[256];
    jtest_setenv("XDG_CACHE_HOME", "/caches");
    JEXPECT_OK(jprofile_default_path(path, sizeof path));
    JEXPECT_STREQ(path, "/caches/jalloc/profile");
    jtest_setenv("XDG_CACHE_HOME", "relative"); /* which XDG says to ignore */
    jtest_setenv("HOME", "/home/me");
    JEXPECT_OK(jprofile_default_path(path, sizeof path));
    JEXPECT_STREQ(path, "/home/me/.cache/jalloc/profile");
    JEXPECT_STATUS(jprofile_default_path(path, 30), JSTATUS_INVALID_SIZE);
    JEXPECT_OK(jprofile_default_path(path, 31));
    JEXPECT_STATUS(jprofile_default_path(NULL, 31), JSTATUS_INVALID_POINTER);
    jtest_setenv("HOME", NULL);
    JEXPECT_STATUS(jprofile_default_path(path, sizeof path), JSTATUS_NOT_FOUND);
}

/* Predictions and loads at once: each prediction is of one profile or of the other. */
static void *predict_on(void *argument) {
    const jplan_t plan = plan_of_size(8, 1e9);
    const double *expected = argument;
    for (int i = 0; i < 2000; i++) {
        const double seconds = jprofile_predict(&plan, 0, 1);
        if (fabs(seconds - expected[0]) > 1e-12 && fabs(seconds - expected[1]) > 1e-12)
            return argument;
    }
    return NULL;
}

JTEST(MachineProfile, PredictsWhileAnotherIsLoaded) {
    char path[64];
    write_good(path, ENTRIES);
    const jplan_t plan = plan_of_size(8, 1e9);
    double expected[2];
    for (int i = 0; i < 2; i++) {
        JEXPECT_OK(jprofile_load(i == 0 ? NULL : path));
        expected[i] = jprofile_predict(&plan, 0, 1);
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        JASSERT_EQ(pthread_create(&threads[i], NULL, predict_on, expected), 0);
    for (int i = 0; i < 200; i++)
        JEXPECT_OK(jprofile_load(i % 2 == 0 ? path : NULL));
    for (int i = 0; i < 2; i++) {
        void *wrong = NULL;
        JEXPECT_EQ(pthread_join(threads[i], &wrong), 0);
        JEXPECT_NULL(wrong);
    }
    JEXPECT_OK(jprofile_load(NULL));
    unlink(path);
}
