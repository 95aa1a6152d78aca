/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The environment: what is understood, what is refused, and that a refusal quotes what it
 * refused. */

#include "jtest.h"

#include "core/core.h"
#include "core/nearest.h"
#include "jalloc/config.h"
#include "jalloc/handle.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define TIB ((size_t)1 << 40)

static const struct good_size {
    const char *text;
    size_t bytes;
} good_sizes[] = {
    {"0", 0},
    {"1", 1},
    {"4096", 4096},
    {"0B", 0},
    {"12b", 12},
    {"256M", 256 * MIB},
    {"256m", 256 * MIB},
    {"256MB", 256 * MIB},
    {"256MiB", 256 * MIB},
    {"256mib", 256 * MIB},
    {"256mIB", 256 * MIB},
    {"1K", KIB},
    {"1KB", KIB},
    {"1KiB", KIB},
    {"3G", 3 * GIB},
    {"2T", 2 * TIB},
    {"1.5GiB", GIB + GIB / 2},
    {"1.5K", 1536},
    {"0.5K", 512},
    {"1.0", 1},
    {"0.001K", 1},
    {"1.9B", 1},
    {"0.5B", 1}, /* not 0, which means something else */
    {"0.5", 1},
    {"0.0009K", 1},
    {"0.00000000000000000000001T", 1},
    {"0.000", 0},
    {"0.000B", 0},
    {"00.0T", 0},
    {"0007", 7},
    {"1.00000000000000000000000000000000000000000001T", TIB},
    {"0.99999999999999999999999999999999999999999999T", TIB - 1},
    {"18446744073709551615", SIZE_MAX},
    {"18446744073709551615B", SIZE_MAX},
    {"16777215.999999T", ((size_t)16777215 << 40) + 1099510528264u},
    {"17179869183G", (size_t)17179869183u << 30},
};
JTEST(Config, GoodSizes) {
    for (size_t i = 0; i < sizeof good_sizes / sizeof good_sizes[0]; ++i) {
        size_t bytes = 99;
        JSCOPED_TRACE("\"%s\"", good_sizes[i].text);
        JEXPECT_OK(jconfig_parse_size(good_sizes[i].text, &bytes));
        JEXPECT_EQ(bytes, good_sizes[i].bytes);
    }
}

static const char *const bad_sizes[] = {
    "",         " ",    "-1",    "+1",       " 1",   "1 ",   "1 K",  "K",      "MiB",
    ".5K",      "1.",   "1.K",   "1.5.2K",   "1e6",  "0x10", "1,5K", "256 MB", "256MBs",
    "256MM",    "256P", "1i",    "1iB",      "1KBB", "1Bi",  "1BK",  "ten",    "NaN",
    "inf",      "1;2",  "1=2",   "cuda:0=1", "\t1",  "1\n",  "--1",  "1_000",  "1'000",
    "\xC2\xBD", "1Ki",  "1KIBs", "\xD9\xA1", "1KIX", "1KXB",
};
JTEST(Config, BadSizesAreRefusedAndQuoted) {
    for (size_t i = 0; i < sizeof bad_sizes / sizeof bad_sizes[0]; ++i) {
        char quoted[64];
        size_t bytes = 99;
        JSCOPED_TRACE("\"%s\"", bad_sizes[i]);
        JEXPECT_STATUS(jconfig_parse_size(bad_sizes[i], &bytes), JSTATUS_INVALID_CONFIGURATION);
        JEXPECT_EQ(bytes, 99);
        snprintf(quoted, sizeof quoted, "\"%s\"", bad_sizes[i]);
        JEXPECT_SUBSTR(jstatus_last_message(), quoted);
    }
}

static const char *const huge_sizes[] = {
    "18446744073709551616",
    "18446744073709551615K",
    "16777216T",
    "17179869184G",
    "99999999999999999999999999999999",
};
JTEST(Config, SizesAboveTheMachinesAreInvalidSize) {
    for (size_t i = 0; i < sizeof huge_sizes / sizeof huge_sizes[0]; ++i) {
        size_t bytes = 99;
        JSCOPED_TRACE("\"%s\"", huge_sizes[i]);
        JEXPECT_STATUS(jconfig_parse_size(huge_sizes[i], &bytes), JSTATUS_INVALID_SIZE);
        JEXPECT_EQ(bytes, 99);
        JEXPECT_SUBSTR(jstatus_last_message(), huge_sizes[i]);
    }
}

JTEST(Config, EveryWholeNumberIsReadBack) {
    for (int64_t i = jtest_iterations(2000); i > 0; --i) {
        const size_t expected = (size_t)(jtest_random() >> jtest_random_between(0, 63));
        char text[64];
        size_t bytes;
        snprintf(text, sizeof text, "%zu", expected);
        JASSERT_OK(jconfig_parse_size(text, &bytes));
        JASSERT_EQ(bytes, expected);
    }
}

JTEST(Config, FractionsAreCutExactly) {
    for (int64_t i = jtest_iterations(2000); i > 0; --i) {
        const unsigned digits = (unsigned)jtest_random_between(1, 6),
                       unit = (unsigned)jtest_random_between(0, 3);
        uint64_t denominator = 1;
        for (unsigned k = 0; k < digits; ++k)
            denominator *= 10;
        const uint64_t numerator = jtest_random() % denominator,
                       whole = (uint64_t)jtest_random_between(0, 100);
        char text[64];
        size_t bytes;
        snprintf(text, sizeof text, "%llu.%0*llu%c", (unsigned long long)whole, (int)digits,
                 (unsigned long long)numerator, "KMGT"[unit]);
        JSCOPED_TRACE("%s", text);
        const uint64_t factor = (uint64_t)1 << (10 * (unit + 1));
        JASSERT_OK(jconfig_parse_size(text, &bytes));
        const uint64_t cut = whole * factor + numerator * factor / denominator;
        JASSERT_EQ(bytes, cut == 0 && numerator != 0 ? 1 : cut); /* what is not 0 stays so */
    }
}

JTEST(Config, TheLocaleChangesNothing) {
    char *before = strdup(setlocale(LC_ALL, NULL));
    size_t bytes;
    /* Where it is not installed, the C locale's rules hold anyway. */
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        setlocale(LC_ALL, "C");
    JEXPECT_OK(jconfig_parse_size("1.5K", &bytes));
    JEXPECT_EQ(bytes, 1536);
    JEXPECT_STATUS(jconfig_parse_size("1,5K", &bytes), JSTATUS_INVALID_CONFIGURATION);
    setlocale(LC_ALL, before);
    free(before);
}

static const struct device_size {
    const char *text, *device;
    size_t bytes;
} device_sizes[] = {
    {"0", "host", 0},
    {"64M", "host", 64 * MIB},
    {"64M", "cuda:3", 64 * MIB},
    {"64M;cuda:0=2G", "host", 64 * MIB},
    {"64M;cuda:0=2G", "cuda:0", 2 * GIB},
    {"64M;cuda:0=2G", "cuda:1", 64 * MIB},
    {"64M;cuda=2G", "cuda:0", 2 * GIB},
    {"64M;cuda:0=2G", "cuda", 2 * GIB},
    {"cuda:0=2G", "host", 0},
    {"host=1K;hip:7=3", "hip:7", 3},
    {"1;host=0", "host", 0},
    {"1;host=2;cuda:10=3;cuda:1=4", "cuda:1", 4},
    {"1;host=2;cuda:10=3;cuda:1=4", "cuda:10", 3},
};
JTEST(Config, DeviceSizes) {
    for (size_t i = 0; i < sizeof device_sizes / sizeof device_sizes[0]; ++i) {
        size_t bytes = 99;
        JSCOPED_TRACE("\"%s\" for %s", device_sizes[i].text, device_sizes[i].device);
        JEXPECT_OK(jconfig_parse_device_size(device_sizes[i].text, device_sizes[i].device, &bytes));
        JEXPECT_EQ(bytes, device_sizes[i].bytes);
    }
}

static const char *const bad_device_sizes[] = {
    "",
    ";",
    "1;",
    ";1",
    "1;;host=2",
    "host",
    "host=",
    "=1",
    "host=1;2",
    "1;2",
    "1;tpu=2",
    "1;cuda:=2",
    "1;cuda:x=2",
    "1;cuda:-1=2",
    "1;host:0=2",
    "1;host=2;host=3",
    "1;cuda=2;cuda:0=3",
    "1;cuda:00=2",
    "1;cuda:0=2x",
    "1x;cuda:0=2",
    "1;cuda:9999999999=2",
    "1; host=2",
    "1;host =2",
    "1;host= 2",
    "1;host==2",
    "1;HOST=2",
    "1,host=2",
};
JTEST(Config, BadDeviceSizesAreRefusedWhateverTheDevice) {
    static const char *const devices[] = {"host", "cuda:0", "hip:5"};
    for (size_t i = 0; i < sizeof bad_device_sizes / sizeof bad_device_sizes[0]; ++i)
        for (size_t k = 0; k < 3; ++k) {
            char quoted[64];
            size_t bytes = 99;
            JSCOPED_TRACE("\"%s\" for %s", bad_device_sizes[i], devices[k]);
            JEXPECT_STATUS(jconfig_parse_device_size(bad_device_sizes[i], devices[k], &bytes),
                           JSTATUS_INVALID_CONFIGURATION);
            JEXPECT_EQ(bytes, 99);
            snprintf(quoted, sizeof quoted, "\"%s\"", bad_device_sizes[i]);
            JEXPECT_SUBSTR(jstatus_last_message(), quoted);
        }
}

JTEST(Config, NullArgumentsAreRefused) {
    size_t bytes = 99;
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    JEXPECT_STATUS(jconfig_parse_size(NULL, &bytes), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jconfig_parse_size("1", NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jconfig_parse_device_size(NULL, "host", &bytes), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jconfig_parse_device_size("1", NULL, &bytes), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jconfig_parse_device_size("1", "host", NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jconfig_get(JCONFIG_JALLOC_LAYER, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jconfig_get((jconfig_t)JI_CONFIG_COUNT, &entry), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jconfig_get((jconfig_t)-1, &entry), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(bytes, 99);
}

JTEST(Config, EveryRowHasItsDefaultAndTheDefaultIsValid) {
    jtest_setenv("JALLOC_PROFILE", NULL); /* which tests have as none */
    for (int which = 0; which < JI_CONFIG_COUNT; ++which) {
        jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
        JASSERT_OK(jconfig_get((jconfig_t)which, &entry));
        JSCOPED_TRACE("%s", entry.name);
        JEXPECT_EQ(strncmp(entry.name, "JALLOC_", 7), 0);
        JEXPECT_FALSE(entry.from_environment);
        JEXPECT_TRUE(entry.valid);
        JEXPECT_STREQ(entry.value, entry.fallback);
        JEXPECT_GT(strlen(entry.syntax), 0);
        JEXPECT_GT(strlen(entry.meaning), 10);
    }
}

static const struct config_value {
    jconfig_t which;
    const char *name, *value;
    bool valid;
} config_values[] = {
    {JCONFIG_JALLOC_DEVICE_MEMORY_SIZE, "JALLOC_DEVICE_MEMORY_SIZE", "64M;cuda:0=1G", true},
    {JCONFIG_JALLOC_DEVICE_MEMORY_SIZE, "JALLOC_DEVICE_MEMORY_SIZE", "64 M", false},
    {JCONFIG_JALLOC_DEVICE_MEMORY_SIZE, "JALLOC_DEVICE_MEMORY_SIZE", "99999999999999999999", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "general", true},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "bfc(limit=2GiB) + guard", true},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "general;cuda:0=bfc(limit=1G);host=malloc+guard",
     true},
    /* Whether there is one is asked later. */
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "cuda:7=bfc", true},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "garbage!!", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "general;cuda:0=garbage", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "bfc(limit=much)", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "bfc(no_such_key=1)", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "bfc(limit=2GiB", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "bfc+malloc", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "tpu:0=bfc", false},
    {JCONFIG_JALLOC_ALLOCATOR, "JALLOC_ALLOCATOR", "host=bfc;host=malloc", false},
    {JCONFIG_JALLOC_BUDGET, "JALLOC_BUDGET", "1T", true},
    {JCONFIG_JALLOC_BUDGET, "JALLOC_BUDGET", "-1", false},
    {JCONFIG_JALLOC_BUFFER, "JALLOC_BUFFER", "replicated", true},
    {JCONFIG_JALLOC_BUFFER, "JALLOC_BUFFER", "@hip", true},
    {JCONFIG_JALLOC_BUFFER, "JALLOC_BUFFER", "local@cuda:1", true},
    {JCONFIG_JALLOC_BUFFER, "JALLOC_BUFFER", "best", false},
    {JCONFIG_JALLOC_BUFFER, "JALLOC_BUFFER", "local@", false},
    {JCONFIG_JALLOC_BUFFER, "JALLOC_BUFFER", "local@gpu", false},
    {JCONFIG_JALLOC_RESULT_POLICY, "JALLOC_RESULT_POLICY", "fast", true},
    {JCONFIG_JALLOC_RESULT_POLICY, "JALLOC_RESULT_POLICY", "same_bits", true},
    {JCONFIG_JALLOC_RESULT_POLICY, "JALLOC_RESULT_POLICY", "same", false},
    {JCONFIG_JALLOC_RESULT_POLICY, "JALLOC_RESULT_POLICY", "fast|same_bits", false},
    {JCONFIG_JALLOC_ACCURACY, "JALLOC_ACCURACY", "componentwise", true},
    {JCONFIG_JALLOC_ACCURACY, "JALLOC_ACCURACY", "normwise", true},
    {JCONFIG_JALLOC_ACCURACY, "JALLOC_ACCURACY", "Normwise", false},
    {JCONFIG_JALLOC_ACCURACY, "JALLOC_ACCURACY", "norm", false},
    {JCONFIG_JALLOC_LAYER, "JALLOC_LAYER", "0", true},
    {JCONFIG_JALLOC_LAYER, "JALLOC_LAYER", "7", true},
    {JCONFIG_JALLOC_LAYER, "JALLOC_LAYER", "8", false},
    {JCONFIG_JALLOC_LAYER, "JALLOC_LAYER", "1x", false},
    {JCONFIG_JALLOC_LAYER, "JALLOC_LAYER", "-1", false},
    {JCONFIG_JALLOC_BLAS_REPORT, "JALLOC_BLAS_REPORT", "1", true},
    {JCONFIG_JALLOC_BLAS_REPORT, "JALLOC_BLAS_REPORT", "yes", false},
    {JCONFIG_JALLOC_THREADS, "JALLOC_THREADS", "0", true},
    {JCONFIG_JALLOC_THREADS, "JALLOC_THREADS", "3", true},
    {JCONFIG_JALLOC_THREADS, "JALLOC_THREADS", "-1", false},
    {JCONFIG_JALLOC_THREADS, "JALLOC_THREADS", "03", false},
    {JCONFIG_JALLOC_THREADS, "JALLOC_THREADS", "3 ", false},
    {JCONFIG_JALLOC_THREADS, "JALLOC_THREADS", "1000000000", false},
    {JCONFIG_JALLOC_THREADS, "JALLOC_THREADS", "all", false},
    {JCONFIG_JALLOC_LOG_LEVEL, "JALLOC_LOG_LEVEL", "debug", true},
    {JCONFIG_JALLOC_LOG_LEVEL, "JALLOC_LOG_LEVEL", "off", true},
    {JCONFIG_JALLOC_LOG_LEVEL, "JALLOC_LOG_LEVEL", "Debug", false},
    {JCONFIG_JALLOC_LOG_LEVEL, "JALLOC_LOG_LEVEL", "2", false},
    {JCONFIG_JALLOC_LOG_PATH, "JALLOC_LOG_PATH", "anything at all", true},
    {JCONFIG_JALLOC_MODULE_PATH, "JALLOC_MODULE_PATH", "/usr/lib", true},
    {JCONFIG_JALLOC_MODULE_PATH, "JALLOC_MODULE_PATH", "lib", false},
    {JCONFIG_JALLOC_LEAK_REPORT, "JALLOC_LEAK_REPORT", "yes", false},
    {JCONFIG_JALLOC_LEAK_REPORT, "JALLOC_LEAK_REPORT", "stack", false},
    {JCONFIG_JALLOC_VENDOR_BLAS, "JALLOC_VENDOR_BLAS", "0", true},
    {JCONFIG_JALLOC_VENDOR_BLAS, "JALLOC_VENDOR_BLAS", "1", true},
    {JCONFIG_JALLOC_VENDOR_BLAS, "JALLOC_VENDOR_BLAS", "no", false},
    {JCONFIG_JALLOC_VENDOR_BLAS, "JALLOC_VENDOR_BLAS", "00", false},
    {JCONFIG_JALLOC_RECORD_HEAP, "JALLOC_RECORD_HEAP", "heap-%p.csv", true},
    {JCONFIG_JALLOC_RECORD_HEAP_MIN_BYTES, "JALLOC_RECORD_HEAP_MIN_BYTES", "4KiB", true},
    {JCONFIG_JALLOC_RECORD_HEAP_MIN_BYTES, "JALLOC_RECORD_HEAP_MIN_BYTES", "4x", false},
};

/* As in "JALLOC_LAYER= program". */
JTEST(Config, AnEmptyVariableIsNotSet) {
    for (int which = 0; which < JI_CONFIG_COUNT; ++which) {
        jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
        JASSERT_OK(jconfig_get((jconfig_t)which, &entry));
        JSCOPED_TRACE("%s", entry.name);
        jtest_setenv(entry.name, "");
        JASSERT_OK(jconfig_get((jconfig_t)which, &entry));
        JEXPECT_FALSE(entry.from_environment);
        JEXPECT_TRUE(entry.valid);
        JEXPECT_STREQ(entry.value, entry.fallback);
        jhandle_t *handle = NULL;
        JEXPECT_OK(jhandle_create(NULL, &handle));
        JEXPECT_OK(jhandle_destroy(handle));
        jtest_setenv(entry.name, NULL);
    }
}

/* What jconfig_get() calls invalid is refused by those who use it, and what it calls valid is
 * not. */
static void expect_handles(const char *name, const char *value, bool valid) {
    jhandle_t *handle = NULL;
    const jstatus_t status = jhandle_create(NULL, &handle);
    JEXPECT_STATUS(status, valid ? JSTATUS_SUCCESS : JSTATUS_INVALID_CONFIGURATION);
    if (valid) {
        JEXPECT_OK(jhandle_destroy(handle));
        return;
    }
    JEXPECT_NULL(handle);
    JEXPECT_SUBSTR(jstatus_last_message(), name);
    JEXPECT_SUBSTR(jstatus_last_message(), value);
}

JTEST(Config, ASizeAboveAllMemoryIsCalledTooLarge) {
    static const char *const values[] = {"99999999999999999999", "17179869184G",
                                         "0;cuda:0=99999999999999999999"};
    for (int i = 0; i < 3; ++i) {
        jtest_setenv(i == 1 ? "JALLOC_BUDGET" : "JALLOC_DEVICE_MEMORY_SIZE", values[i]);
        expect_handles(i == 1 ? "JALLOC_BUDGET" : "JALLOC_DEVICE_MEMORY_SIZE", values[i], false);
        JEXPECT_SUBSTR(jstatus_last_message(), "too large");
        jtest_setenv(i == 1 ? "JALLOC_BUDGET" : "JALLOC_DEVICE_MEMORY_SIZE", NULL);
    }
}
JTEST(Config, ValuesInForceAndTheirValidity) {
    for (size_t i = 0; i < sizeof config_values / sizeof config_values[0]; ++i) {
        const struct config_value *row = &config_values[i];
        jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
        JSCOPED_TRACE("%s=\"%s\"", row->name, row->value);
        jtest_setenv(row->name, row->value);
        JASSERT_OK(jconfig_get(row->which, &entry));
        JEXPECT_STREQ(entry.name, row->name);
        JEXPECT_STREQ(entry.value, row->value);
        JEXPECT_TRUE(entry.from_environment);
        JEXPECT_EQ(entry.valid, row->valid);
        if (strncmp(row->value, "64M", 3) != 0)
            expect_handles(row->name, row->value, row->valid);
        jtest_setenv(row->name, NULL);
    }
}

/* What is to be written instead stands in the message. */
JTEST(Config, ARefusalShowsAnExample) {
    static const char *const rows[][3] = {
        {"JALLOC_BUDGET", "lots", "expected a size such as 64MiB"},
        {"JALLOC_RECORD_HEAP_MIN_BYTES", "few", "expected a size such as 64MiB"},
        {"JALLOC_THREADS", "many", "expected a count such as 16"},
        {"JALLOC_ACCURACY", "some", "expected one of componentwise|normwise"},
        {"JALLOC_LOG_LEVEL", "chatty", "expected one of off|error|warning|info|debug"},
        {"JALLOC_LEAK_REPORT", "yes", "expected one of 0|1|stacks"},
        {"JALLOC_LAYER", "9", "such as 3"},
        {"JALLOC_BUFFER", "best", "distributed@host"},
        {"JALLOC_MODULE_PATH", "lib", "an absolute path such as /"},
        {"JALLOC_VENDOR_BLAS", "no", "expected one of 0|1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("%s=%s", rows[i][0], rows[i][1]);
        jtest_setenv(rows[i][0], rows[i][1]);
        expect_handles(rows[i][0], rows[i][1], false);
        JEXPECT_SUBSTR(jstatus_last_message(), rows[i][2]);
        jtest_setenv(rows[i][0], NULL);
    }
}

/* A syntax either shows an example, which it accepts, or lists its values. */
JTEST(Config, EverySyntaxHasAnExampleOrListsItsValues) {
    for (int which = 0; which < JI_CONFIG_COUNT; ++which) {
        jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
        JASSERT_OK(jconfig_get((jconfig_t)which, &entry));
        JSCOPED_TRACE("%s=%s", entry.name, entry.syntax);
        JEXPECT_EQ(entry.example, jconfig_example(entry.syntax));
        if (entry.example == NULL) {
            JEXPECT_NOT_NULL(strchr(entry.syntax, '|'));
            continue;
        }
        jtest_setenv(entry.name, entry.example);
        JASSERT_OK(jconfig_get((jconfig_t)which, &entry));
        JEXPECT_TRUE(entry.valid);
        JEXPECT_TRUE(entry.from_environment);
        jtest_setenv(entry.name, NULL);
    }
    JEXPECT_NULL(jconfig_example(NULL));
    JEXPECT_NULL(jconfig_example("fast|same_bits"));
}

static void expect_unknown(size_t index, const char *name, const char *nearest) {
    jconfig_unknown_t unknown;
    JSCOPED_TRACE("%s", name);
    JASSERT_OK(jconfig_get_unknown(index, &unknown));
    JEXPECT_STREQ(unknown.name, name);
    if (nearest != NULL)
        JEXPECT_STREQ(unknown.nearest, nearest);
    else
        JEXPECT_NULL(unknown.nearest);
}

JTEST(Config, UnknownNamesAreToldWithTheNearest) {
    static const char *const rows[][2] = {
        {"JALLOC_DEVICE_MEMROY_SIZE", "JALLOC_DEVICE_MEMORY_SIZE"},
        {"JALLOC_DEVICE_MEMORY", "JALLOC_DEVICE_MEMORY_SIZE"},
        {"JALLOC_LEAK", "JALLOC_LEAK_REPORT"},
        {"JALLOC_layer", "JALLOC_LAYER"},
        {"JALLOC_ACURACY", "JALLOC_ACCURACY"},
        {"JALLOC_LAYERS", "JALLOC_LAYER"},
        {"JALLOC_RECORD_HEAP_MINBYTES", "JALLOC_RECORD_HEAP_MIN_BYTES"},
        {"JALLOC_", NULL},
        {"JALLOC_Q", NULL},
        {"JALLOC_QUACK", NULL},
        {"JALLOC_TEST", NULL},
    };
    jconfig_unknown_t unknown = {"untouched", NULL};
    JEXPECT_STATUS(jconfig_get_unknown(0, &unknown), JSTATUS_NOT_FOUND);
    JEXPECT_STREQ(unknown.name, "untouched");
    JEXPECT_STATUS(jconfig_get_unknown(0, NULL), JSTATUS_INVALID_POINTER);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        jtest_setenv(rows[i][0], "1");
        expect_unknown(0, rows[i][0], rows[i][1]);
        JEXPECT_STATUS(jconfig_get_unknown(1, &unknown), JSTATUS_NOT_FOUND);
        jtest_setenv(rows[i][0], NULL);
    }
    static const char *const known[] = {"JALLOC_TEST_ANYTHING",  "JALLOC_ROOT", "JALLOC_DIR",
                                        "JALLOC_RECORD_HEAP_OF", "JALLOC",      "XJALLOC_A"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        jtest_setenv(known[i], "1");
    for (int which = 0; which < JI_CONFIG_COUNT; ++which) {
        jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
        JASSERT_OK(jconfig_get((jconfig_t)which, &entry));
        jtest_setenv(entry.name, "1");
    }
    JEXPECT_STATUS(jconfig_get_unknown(0, &unknown), JSTATUS_NOT_FOUND);
    jtest_setenv("JALLOC_LAYRE", "1"); /* and two of them, each once */
    jtest_setenv("JALLOC_BUDGETS", "1");
    JEXPECT_OK(jconfig_get_unknown(1, &unknown));
    JEXPECT_STATUS(jconfig_get_unknown(2, &unknown), JSTATUS_NOT_FOUND);
}

JTEST(Config, AnUnknownNameOfAnyLengthIsCut) {
    char name[300], value[8] = "1";
    jconfig_unknown_t unknown;
    memset(name, 'A', sizeof name);
    memcpy(name, "JALLOC_", 7);
    name[sizeof name - 1] = '\0';
    jtest_setenv(name, value);
    JASSERT_OK(jconfig_get_unknown(0, &unknown));
    JEXPECT_EQ(strlen(unknown.name), JCONFIG_NAME_BYTES - 1);
    JEXPECT_EQ(strncmp(unknown.name, name, JCONFIG_NAME_BYTES - 1), 0);
    JEXPECT_NULL(unknown.nearest);
}

static void look_at_no_environment(void *argument) {
    jconfig_unknown_t unknown;
    (void)argument;
    setenv("JALLOC_QUACK", "1", 1);
    JEXPECT_OK(jconfig_get_unknown(0, &unknown));
    clearenv(); /* leaves not even an empty list */
    JEXPECT_STATUS(jconfig_get_unknown(0, &unknown), JSTATUS_NOT_FOUND);
    JEXPECT_STREQ(unknown.name, "JALLOC_QUACK");
}
JTEST(Config, NoEnvironmentHasNoUnknownNames) { jtest_in_child(20, look_at_no_environment, NULL); }

JTEST(Config, NamesOfAnyLengthAreOfferedAsTheNearest) {
    char name[300];
    memset(name, 'A', sizeof name);
    name[sizeof name - 1] = '\0';
    ji_nearest_t nearest = ji_nearest_begin("quack", 5);
    ji_nearest_offer(&nearest, name);
    JEXPECT_NULL(nearest.name);
    ji_nearest_offer(&nearest, "quark");
    JEXPECT_STREQ(nearest.name, "quark");
    nearest = ji_nearest_begin(name, sizeof name - 1);
    ji_nearest_offer(&nearest, "quark");
    ji_nearest_offer(&nearest, name); /* too long to be looked at */
    JEXPECT_NULL(nearest.name);
}

JTEST_ONLY_WITH("JALLOC_TEST_KEEP", ConfigChild, ReadsSeveralTimes) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    for (int i = 0; i < 3; ++i)
        for (int which = 0; which < JI_CONFIG_COUNT; ++which)
            JEXPECT_OK(jconfig_get((jconfig_t)which, &entry));
}
#define LONG                                                                                       \
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" \
    "AAAAAAA"
static int count(const char *text, const char *part) {
    int found = 0;
    for (; (text = strstr(text, part)) != NULL; ++text)
        ++found;
    return found;
}
JTEST(Config, AMisspeltNameIsOneWarningInAProcess) {
    static char output[16384];
    static const struct {
        const char *variables[4], *said;
        int times;
    } rows[] = {
        {{"JALLOC_TEST_KEEP=1", "JALLOC_DEVICE_MEMROY_SIZE=64M"},
         "nearest is JALLOC_DEVICE_MEMORY_SIZE",
         1},
        {{"JALLOC_TEST_KEEP=1", "JALLOC_QUACK=1"}, "jalloc warning: JALLOC_QUACK is set", 1},
        {{"JALLOC_TEST_KEEP=1", "JALLOC_QUACK=1", "JALLOC_LOG_LEVEL=error"}, "JALLOC_QUACK", 0},
        {{"JALLOC_TEST_KEEP=1", "JALLOC_LOG_LEVEL=chatty"},
         "JALLOC_LOG_LEVEL=\"chatty\" is not understood",
         1},
        {{"JALLOC_TEST_KEEP=1",
          "JALLOC_QUACK_QUACK_QUACK_QUACK_QUACK_QUACK_QUACK_QUACK_QUACK_QUACK=1"},
         "JALLOC_QUACK",
         1},
        {{"JALLOC_TEST_KEEP=1", "JALLOC_LAYER=0"}, "jalloc warning: JALLOC", 0},
        {{"JALLOC_TEST_KEEP=1", "JALLOC_" LONG "=1"}, "A is set in the environment", 1},
        {{"JALLOC_TEST_KEEP=1", "JALLOC_" LONG "=1"}, LONG, 0}, /* cut */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("%s", rows[i].variables[1]);
        JEXPECT_EQ(jtest_run_self("ConfigChild.ReadsSeveralTimes", rows[i].variables, output,
                                  sizeof output),
                   0);
        JEXPECT_EQ(count(output, rows[i].said), rows[i].times);
    }
}

static void look_without_an_environment(void *argument) {
    (void)argument;
    jconfig_unknown_t unknown;
    JEXPECT_EQ(clearenv(), 0); /* no list at all */
    JEXPECT_STATUS(jconfig_get_unknown(0, &unknown), JSTATUS_NOT_FOUND);
}
JTEST(Config, WithoutAnEnvironmentNothingIsUnknown) {
    jtest_in_child(60, look_without_an_environment, NULL);
}

/* Of a program with more rights than its user the kernel says so. */
JTEST(Config, AProgramOfMoreRightsLooksAtNoName) {
    jconfig_unknown_t unknown;
    jtest_setenv("JALLOC_QUACK", "1");
    jtest_fail_calls("getauxval", 1, 1, EPERM);
    JEXPECT_STATUS(jconfig_get_unknown(0, &unknown), JSTATUS_NOT_FOUND);
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_OK(jconfig_get_unknown(0, &unknown));
}

/* Names and values of random bytes: each is valid and a handle is made, or it is refused by its
 * name. A trace of any name would be begun. */
JTEST(Config, AnyNamesAndValuesAreJudged) {
    static const char letters[] = "0123456789.BKMGTib;:=()+,|@ /-_%n%s\x01\xff"
                                  "abcdefghijklmnopqrstuvwxyz";
    for (int64_t i = jtest_iterations(300); i > 0; --i) {
        jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
        char name[80], value[64];
        JASSERT_OK(jconfig_get((jconfig_t)jtest_random_between(0, JI_CONFIG_COUNT - 1), &entry));
        if (strcmp(entry.syntax, "FILE") == 0)
            continue;
        snprintf(name, sizeof name, "%s", entry.name);
        const size_t length = (size_t)jtest_random_between(0, sizeof value - 1);
        for (size_t k = 0; k < length; ++k)
            value[k] = letters[jtest_random_between(0, sizeof letters - 2)];
        value[length] = '\0';
        const bool misspelt = jtest_random_between(0, 1) == 1;
        if (misspelt)
            name[jtest_random_between(7, (int64_t)strlen(name) - 1)] =
                letters[jtest_random_between(30, 60)];
        JSCOPED_TRACE("%s=\"%s\"", name, value);
        jtest_setenv(name, value);
        jhandle_t *handle = NULL;
        const jstatus_t status = jhandle_create(NULL, &handle);
        if (status == JSTATUS_SUCCESS)
            JEXPECT_OK(jhandle_destroy(handle));
        else if (status == JSTATUS_INVALID_CONFIGURATION)
            JEXPECT_SUBSTR(jstatus_last_message(), name);
        else
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR); /* a size that was understood */
        jconfig_unknown_t unknown;
        const jstatus_t known = jconfig_get_unknown(0, &unknown);
        if (known == JSTATUS_SUCCESS) {
            JEXPECT_STREQ(unknown.name, name);
            JEXPECT_OK(status);
        }
        jtest_setenv(name, NULL);
    }
}
