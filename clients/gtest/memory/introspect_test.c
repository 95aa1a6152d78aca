/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Tags, who made a pointer, dumps, and leak reports. */

#include "comma_locale.h"
#include "jtest.h"

#include "jalloc/allocator.h"
#include "jalloc/provider.h"
#include "memory/call_traces.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* ---- Tags ---- */

static void fill_the_tags(void *argument) {
    (void)argument;
    char name[32];
    const jtag_t known = jtag_intern("known");
    jtag_t last = 0, tag = known;
    for (int i = 0; tag != 0 && i < 2000; ++i) {
        last = tag;
        snprintf(name, sizeof name, "one of many %d", i);
        tag = jtag_intern(name);
    }
    JEXPECT_EQ(tag, 0); /* no place for it */
    JEXPECT_EQ(last, 1024);
    JEXPECT_STREQ(jtag_name(0), "");
    JEXPECT_EQ(jtag_intern("known"), known);
    JEXPECT_EQ(jtag_intern("another"), 0);
}
JTEST(Tag, WhereThereAreTooManyFurtherOnesHaveNone) { jtest_in_child(20, fill_the_tags, NULL); }

JTEST(Tag, EqualNamesAreOneTag) {
    const jtag_t a = jtag_intern("solver"), b = jtag_intern("solver.residual");
    JEXPECT_NE(a, 0);
    JEXPECT_NE(a, b);
    char copy[] = "solver";
    JEXPECT_EQ(jtag_intern(copy), a);
    JEXPECT_STREQ(jtag_name(a), "solver");
    JEXPECT_EQ(jtag_intern(NULL), 0);
    JEXPECT_EQ(jtag_intern(""), 0);
    JEXPECT_STREQ(jtag_name(0), "");
    JEXPECT_STREQ(jtag_name(4000000000u), "");
    char longer[200];
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    JEXPECT_EQ(strlen(jtag_name(jtag_intern(longer))), JTAG_NAME_BYTES - 1);
    longer[JTAG_NAME_BYTES - 1] = 'm'; /* what is cut does not count */
    JEXPECT_EQ(jtag_intern(longer), jtag_intern(jtag_name(jtag_intern(longer))));
}

JTEST(Tag, ScopesNest) {
    const jtag_t outside = jtag_current();
    {
        JALLOC_TAG("outer");
        JEXPECT_STREQ(jtag_name(jtag_current()), "outer");
        {
            JALLOC_TAG("inner");
            JEXPECT_STREQ(jtag_name(jtag_current()), "inner");
        }
        JEXPECT_STREQ(jtag_name(jtag_current()), "outer");
    }
    JEXPECT_EQ(jtag_current(), outside);
}

static bool carries_the_tag(void *context, const jallocation_t *block) {
    int *live = context;
    *live += block->live;
    if (block->live)
        JEXPECT_STREQ(jtag_name(block->tag), "carried");
    return true;
}

/* What each kind takes from below for a tagged thread, and what that takes from its own below, have
 * the tag as well. */
JTEST(Tag, IsCarriedThroughEveryKindOfAllocator) {
    const jallocator_kind_t *kind;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i) {
        JSCOPED_TRACE("%s", kind->name);
        char composition[100];
        jallocator_t *provider, *top;
        void *pointer;
        JASSERT_OK(jallocator_create_mmap(&provider));
        const char *needs = strcmp(kind->name, "limit") == 0    ? "(limit=1G)"
                            : strcmp(kind->name, "quota") == 0  ? "(budget=tagged,limit=1G)"
                            : strcmp(kind->name, "record") == 0 ? "(file=/dev/null)"
                                                                : "";
        snprintf(composition, sizeof composition, "bfc+%s%s+guard", kind->name, needs);
        if (kind->role != JALLOCATOR_PROVIDER) {
            JASSERT_OK(jallocator_compose_over(provider, composition, &top));
            JALLOC_TAG("carried");
            JASSERT_OK(jallocator_allocate(top, 1000, 0, NULL, &pointer));
            for (jallocator_t *level = top; level != NULL; level = jallocator_below(level)) {
                int live = 0;
                JEXPECT_OK(jallocator_visit(level, carries_the_tag, &live));
                JEXPECT_GT(live, 0);
            }
            JEXPECT_OK(jallocator_deallocate(top, pointer, 1000, NULL));
            JEXPECT_OK(jallocator_destroy(top));
        }
        JEXPECT_OK(jallocator_destroy(provider));
    }
}

static void *intern_many(void *argument) {
    jtag_t *tags = argument;
    for (int i = 0; i < 50; ++i) {
        char name[32];
        snprintf(name, sizeof name, "thread tag %d", i);
        tags[i] = jtag_intern(name);
    }
    return NULL;
}
JTEST(Tag, ThreadsAgree) {
    jtag_t tags[4][50];
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        pthread_create(&threads[i], NULL, intern_many, tags[i]);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 50; ++i) {
        char name[32];
        snprintf(name, sizeof name, "thread tag %d", i);
        JEXPECT_STREQ(jtag_name(tags[0][i]), name);
        for (int k = 1; k < 4; ++k)
            JEXPECT_EQ(tags[k][i], tags[0][i]);
    }
}

/* ---- Who made it ---- */

JTEST(Introspect, ThePolicyIsFoundBeforeItsProvider) {
    jallocator_t *mapping, *bfc;
    unsigned char *pointer;
    JASSERT_OK(jallocator_create_mmap(&mapping));
    JASSERT_OK(jallocator_compose_over(mapping, "bfc", &bfc));
    JASSERT_OK(jallocator_allocate(bfc, 700, 0, NULL, (void **)&pointer));
    jallocation_t block = JALLOCATION_INIT;
    JEXPECT_OK(jallocation_find(pointer + 699, &block));
    JEXPECT_EQ(block.allocator, bfc);
    JEXPECT_EQ(block.size_bytes, 700);
    /* Free in the policy, but the provider's block. */
    JEXPECT_OK(jallocation_find(pointer + 4096, &block));
    JEXPECT_EQ(block.allocator, mapping);
    JEXPECT_STATUS(jallocation_find(&block, &block), JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(jallocation_find(NULL, &block), JSTATUS_INVALID_POINTER);
    block.struct_size = 3;
    JEXPECT_STATUS(jallocation_find(pointer, &block), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jallocator_deallocate(bfc, pointer, 700, NULL));
    JEXPECT_OK(jallocator_destroy(bfc));
    JEXPECT_OK(jallocator_destroy(mapping));
}

/* ---- Dumps ---- */

typedef struct paper {
    char text[20000];
    size_t length;
} paper_t;
static void paper_write(void *context, const char *text, size_t length) {
    paper_t *paper = context;
    if (length >= sizeof paper->text - paper->length)
        length = sizeof paper->text - paper->length - 1;
    memcpy(paper->text + paper->length, text, length);
    paper->length += length;
    paper->text[paper->length] = '\0';
}

/* Reads one JSON value; NULL where it is none. */
static const char *json_skip(const char *text) {
    if (*text == '"') {
        for (++text; *text != '"'; ++text) {
            if (*text == '\0' || (unsigned char)*text < 0x20)
                return NULL;
            text += *text == '\\';
        }
        return text + 1;
    }
    if (*text == '{' || *text == '[') {
        const char close = *text == '{' ? '}' : ']';
        if (*++text == close)
            return text + 1;
        for (;; ++text) {
            if (close == '}') {
                text = *text == '"' ? json_skip(text) : NULL;
                if (text == NULL || *text++ != ':')
                    return NULL;
            }
            text = json_skip(text);
            if (text == NULL || (*text != ',' && *text != close))
                return NULL;
            if (*text == close)
                return text + 1;
        }
    }
    if (strncmp(text, "true", 4) == 0)
        return text + 4;
    if (strncmp(text, "false", 5) == 0)
        return text + 5;
    char *end;
    strtod(text, &end);
    return end != text ? end : NULL;
}

static jallocator_t *make_with_owners(void *pointers[4]) {
    static const char *const owners[4] = {"small owner", "large owner", "small owner",
                                          "odd \"owner\"\\"};
    static const size_t sizes[4] = {1000, 50000, 2000, 300};
    jallocator_t *allocator = NULL;
    JEXPECT_OK(jallocator_compose(NULL, "bfc", &allocator));
    for (int i = 0; i < 4; ++i) {
        JALLOC_TAG(owners[i]);
        JEXPECT_OK(jallocator_allocate(allocator, sizes[i], 0, NULL, &pointers[i]));
    }
    return allocator;
}
static void destroy_with_owners(jallocator_t *allocator, void *const pointers[4]) {
    static const size_t sizes[4] = {1000, 50000, 2000, 300};
    for (int i = 0; i < 4; ++i)
        JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], sizes[i], NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

JTEST(Introspect, DumpRanksTheOwners) {
    void *pointers[4];
    static paper_t paper;
    memset(&paper, 0, sizeof paper);
    jallocator_t *allocator = make_with_owners(pointers);
    JEXPECT_OK(jallocator_dump(allocator, JALLOCATOR_DUMP_TEXT, paper_write, &paper));
    JEXPECT_SUBSTR(paper.text, "allocator \"bfc\" on host over \"host\"");
    const char *large = strstr(paper.text, "large owner"),
               *small = strstr(paper.text, "small owner"), *odd = strstr(paper.text, "odd");
    JASSERT_TRUE(large != NULL && small != NULL && odd != NULL);
    JEXPECT_LT(large, small);
    JEXPECT_LT(small, odd);
    JEXPECT_SUBSTR(paper.text, "93.8%  large owner"); /* 50000 of 53300 */
    JEXPECT_SUBSTR(paper.text, "2   5.6%  small owner");
    char address[32];
    snprintf(address, sizeof address, "%p", pointers[1]);
    JEXPECT_SUBSTR(paper.text, address);
    destroy_with_owners(allocator, pointers);
}

JTEST(Introspect, JsonHasCsNumbersInAnyLocale) {
    if (!comma_locale_begin())
        JSKIP("no locale with a decimal comma");
    void *pointers[4];
    static paper_t paper;
    memset(&paper, 0, sizeof paper);
    jallocator_t *allocator = make_with_owners(pointers);
    JEXPECT_OK(jallocator_dump(allocator, JALLOCATOR_DUMP_JSON, paper_write, &paper));
    comma_locale_end();
    JEXPECT_SUBSTR(paper.text, "\"fragmentation\":0.");
    const char *end = json_skip(paper.text);
    JEXPECT_NOT_NULL(end);
    destroy_with_owners(allocator, pointers);
}

JTEST(Introspect, JsonIsWellFormedAndSaysTheSame) {
    void *pointers[4];
    static paper_t paper;
    memset(&paper, 0, sizeof paper);
    jallocator_t *allocator = make_with_owners(pointers);
    JEXPECT_OK(jallocator_dump(allocator, JALLOCATOR_DUMP_JSON, paper_write, &paper));
    const char *end = json_skip(paper.text);
    JASSERT_NOT_NULL(end);
    JEXPECT_STREQ(end, "\n");
    JEXPECT_SUBSTR(paper.text, "{\"tag\":\"large owner\",\"bytes\":50000,\"count\":1}");
    JEXPECT_SUBSTR(paper.text, "{\"tag\":\"small owner\",\"bytes\":3000,\"count\":2}");
    JEXPECT_SUBSTR(paper.text, "odd \\\"owner\\\"\\\\");
    JEXPECT_SUBSTR(paper.text, "\"in_use_bytes\":53300,");
    JEXPECT_SUBSTR(paper.text, "\"below\":[\"host\"]");
    destroy_with_owners(allocator, pointers);
}

JTEST(Introspect, DumpSurvivesEachFailureOfBookkeeping) {
    void *pointers[4];
    static paper_t paper;
    jallocator_t *allocator = make_with_owners(pointers);
    JFOR_EACH_FAILURE(n) {
        memset(&paper, 0, sizeof paper);
        const jstatus_t status =
            jallocator_dump(allocator, JALLOCATOR_DUMP_JSON, paper_write, &paper);
        JEXPECT_EQ(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        JEXPECT_EQ(paper.length == 0, status != JSTATUS_SUCCESS); /* all or nothing */
    }
    JEXPECT_STATUS(jallocator_dump(NULL, JALLOCATOR_DUMP_TEXT, paper_write, &paper),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_dump(allocator, JALLOCATOR_DUMP_TEXT, NULL, &paper),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_dump(allocator, (jallocator_dump_format_t)7, paper_write, &paper),
                   JSTATUS_INVALID_VALUE);
    destroy_with_owners(allocator, pointers);
}

/* Sizes and counts at the ends of what a dump can show. */
static bool odd_visitor_shows(jallocation_visitor_t visitor, void *context, size_t size_bytes) {
    jallocation_t block = JALLOCATION_INIT;
    block.pointer = (void *)(uintptr_t)(4096 + size_bytes);
    block.size_bytes = block.usable_bytes = size_bytes;
    block.live = true;
    return visitor(context, &block);
}
static void odd_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    (void)context;
    (void)(odd_visitor_shows(visitor, visitor_context, 0) &&
           odd_visitor_shows(visitor, visitor_context, (size_t)1 << 60));
}
static jstatus_t odd_allocate(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                              void **pointer) {
    (void)context, (void)size_bytes, (void)alignment, (void)stream, (void)pointer;
    return JSTATUS_MEMORY_ERROR;
}
static jstatus_t odd_deallocate(void *context, void *pointer, size_t size_bytes,
                                jstream_t *stream) {
    (void)context, (void)pointer, (void)size_bytes, (void)stream;
    return JSTATUS_NOT_FOUND;
}
static jstatus_t odd_find(void *context, const void *pointer, jallocation_t *block) {
    (void)context, (void)pointer, (void)block;
    return JSTATUS_NOT_FOUND;
}
static void odd_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context;
    stats->limit_bytes = (size_t)1 << 61;
}

JTEST(Introspect, DumpShowsWhatAnAllocatorSaysOfItself) {
    static paper_t paper;
    memset(&paper, 0, sizeof paper);
    const jallocator_ops_t ops = {.struct_size = sizeof ops,
                                  .allocate = odd_allocate,
                                  .deallocate = odd_deallocate,
                                  .find = odd_find,
                                  .visit = odd_visit,
                                  .get_stats = odd_get_stats};
    jallocator_t *odd;
    JASSERT_OK(jallocator_create(&ops, NULL, NULL, &odd));
    JEXPECT_OK(jallocator_dump(odd, JALLOCATOR_DUMP_TEXT, paper_write, &paper));
    JEXPECT_SUBSTR(paper.text, "limit 2097152.00 TiB"); /* the largest unit */
    JEXPECT_SUBSTR(paper.text, "  0.0%  (untagged)");   /* nothing is in use by its books */
    JEXPECT_SUBSTR(paper.text, "1048576.00 TiB        2   0.0%");
    JEXPECT_OK(jallocator_destroy(odd));
}

JTEST(Introspect, DumpOfNothingAndOfManyAlikeBlocks) {
    enum { BLOCKS = 300 };
    static paper_t paper;
    static void *pointers[BLOCKS];
    memset(&paper, 0, sizeof paper);
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "bfc+limit(limit=1GiB)+statistics", &allocator));
    JEXPECT_OK(jallocator_report_leaks(paper_write, &paper)); /* nothing is live */
    JEXPECT_EQ(paper.length, 0);
    JEXPECT_OK(jallocator_dump(allocator, JALLOCATOR_DUMP_JSON, paper_write, &paper));
    JEXPECT_STREQ(json_skip(paper.text), "\n");
    JEXPECT_SUBSTR(paper.text, "\"below\":[\"limit\",\"bfc\",\"host\"]");
    JEXPECT_SUBSTR(paper.text, "\"owners\":[],\"sizes\":[],\"blocks\":[]");
    for (int i = 0; i < BLOCKS; ++i) {
        /* Three owners of as many bytes: in the order of their tags. */
        JALLOC_TAG(i % 3 == 0 ? "first\ttag" : i % 3 == 1 ? "second" : NULL);
        JEXPECT_OK(jallocator_allocate(allocator, 64, 0, NULL, &pointers[i]));
    }
    memset(&paper, 0, sizeof paper);
    JEXPECT_OK(jallocator_dump(allocator, JALLOCATOR_DUMP_TEXT, paper_write, &paper));
    const char *first = strstr(paper.text, "first\ttag"), *second = strstr(paper.text, "second");
    JASSERT_TRUE(first != NULL && second != NULL);
    JEXPECT_LT(first, second);
    JEXPECT_SUBSTR(paper.text, "100  33.3%  (untagged)");
    JEXPECT_SUBSTR(paper.text, "300 ");
    memset(&paper, 0, sizeof paper);
    JEXPECT_OK(jallocator_dump(allocator, JALLOCATOR_DUMP_JSON, paper_write, &paper));
    JEXPECT_SUBSTR(paper.text, "first\\u0009tag");
    memset(&paper, 0, sizeof paper);
    JEXPECT_STATUS(jallocator_report_leaks(paper_write, &paper), JSTATUS_LEAKED);
    JEXPECT_SUBSTR(paper.text, ", (untagged)");
    for (int i = 0; i < BLOCKS; ++i)
        JEXPECT_OK(jallocator_deallocate(allocator, pointers[i], 64, NULL));
    JEXPECT_OK(jallocator_destroy(allocator));
}

/* ---- Leaks ---- */

JTEST(Leaks, AreReportedByWhoeverStandsOnTop) {
    static paper_t paper;
    memset(&paper, 0, sizeof paper);
    JEXPECT_OK(jallocator_report_leaks(paper_write, &paper)); /* nothing is live */
    JEXPECT_EQ(paper.length, 0);
    void *pointers[4];
    jallocator_t *allocator = make_with_owners(pointers);
    JEXPECT_STATUS(jallocator_report_leaks(paper_write, &paper), JSTATUS_LEAKED);
    JEXPECT_SUBSTR(jstatus_last_message(), "53300 bytes in 4 allocations");
    JEXPECT_SUBSTR(paper.text, "allocator \"bfc\": 53300 bytes in 4 allocations");
    JEXPECT_SUBSTR(paper.text, "50000 bytes at ");
    JEXPECT_SUBSTR(paper.text, "large owner");
    JEXPECT_NULL(strstr(paper.text, "\"host\"")); /* the region is not a leak */
    JEXPECT_STATUS(jallocator_report_leaks(NULL, NULL), JSTATUS_INVALID_POINTER);
    destroy_with_owners(allocator, pointers);
}

static void __attribute__((noinline)) leak_in_a_named_function(jallocator_t *allocator) {
    void *pointer;
    JALLOC_TAG("leaker");
    JEXPECT_OK(jallocator_allocate(allocator, 4321, 0, NULL, &pointer));
    __asm__ volatile("");
}
/* Leaves a block behind on purpose; the process that runs it ends without the fixture's verdict. */
JTEST_ONLY_WITH("JALLOC_TEST_LEAKS", LeaksOnPurpose, AtExit) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "lru", &allocator));
    leak_in_a_named_function(allocator);
    exit(0);
}
JTEST_ONLY_WITH("JALLOC_TEST_LEAKS", LeaksOnPurpose, None) {
    jallocator_t *allocator;
    JASSERT_OK(jallocator_compose(NULL, "lru", &allocator));
    JEXPECT_OK(jallocator_destroy(allocator));
    exit(0);
}
/* What there is no memory for is not kept: of a block, its stack at most. */
JTEST_ONLY_WITH("JALLOC_TEST_LEAKS", LeaksOnPurpose, WithoutMemoryForStacks) {
    static paper_t paper;
    JFOR_EACH_FAILURE(n) {
        jallocator_t *allocator;
        void *pointer;
        jstatus_t status = jallocator_create_mmap(&allocator);
        if (status == JSTATUS_SUCCESS) {
            status = jallocator_allocate(allocator, 4321, 0, NULL, &pointer);
            if (status == JSTATUS_SUCCESS) {
                memset(&paper, 0, sizeof paper);
                JEXPECT_STATUS(jallocator_report_leaks(paper_write, &paper), JSTATUS_LEAKED);
                JEXPECT_SUBSTR(paper.text, "4321 bytes at ");
                JEXPECT_EQ(strstr(paper.text, "+0x") != NULL, !jtest_metadata_failed());
                JEXPECT_OK(jallocator_deallocate(allocator, pointer, 4321, NULL));
            }
            JEXPECT_OK(jallocator_destroy(allocator));
        }
        JEXPECT_TRUE(status == JSTATUS_SUCCESS ||
                     (status == JSTATUS_MEMORY_ERROR && jtest_metadata_failed()));
    }
}
JTEST(Leaks, AreReportedWithoutMemoryForStacks) {
    static char output[30000];
    static const char *const environment[] = {"JALLOC_TEST_LEAKS=1", "JALLOC_TEST_KEEP=1",
                                              "JALLOC_LEAK_REPORT=stacks", NULL};
    if (jtest_run_self("LeaksOnPurpose.WithoutMemoryForStacks", environment, output,
                       sizeof output) != 0)
        JFAIL("%s", output);
}
JTEST(Leaks, FramesAreNamedAsFarAsTheLoaderCan) {
    char text[200], expected[32];
    snprintf(expected, sizeof expected, "%p", (void *)text);
    ji_call_trace_describe(text, text, sizeof text); /* in no file */
    JEXPECT_STREQ(text, expected);
    char *known = dlsym(RTLD_DEFAULT, "qsort");
    JASSERT_NOT_NULL(known);
    ji_call_trace_describe(known + 1, text, sizeof text);
    JEXPECT_SUBSTR(text, "+0x1 (");
    const uintptr_t kernels = getauxval(AT_SYSINFO_EHDR); /* a file without a folder */
    if (kernels != 0) {
        ji_call_trace_describe((void *)(kernels + 16), text, sizeof text);
        JEXPECT_EQ(strncmp(text, "linux-vdso", 10), 0);
    }
}
JTEST(Leaks, AreReportedAtExitWithCallTraces) {
    static char output[30000];
    static const char *const environment[] = {"JALLOC_TEST_LEAKS=1", "JALLOC_TEST_KEEP=1",
                                              "JALLOC_LEAK_REPORT=stacks", NULL};
    jtest_run_self("LeaksOnPurpose.AtExit", environment, output, sizeof output);
    JEXPECT_SUBSTR(output, "allocator \"lru\": 4321 bytes in 1 allocations");
    JEXPECT_SUBSTR(output, ", leaker\njalloc "); /* the next line follows at once */
    JEXPECT_SUBSTR(output, "jalloc-test+0x");    /* frames, named as far as the loader can */
    static const char *const quiet[] = {"JALLOC_TEST_LEAKS=1", "JALLOC_TEST_KEEP=1", NULL};
    jtest_run_self("LeaksOnPurpose.AtExit", quiet, output, sizeof output);
    JEXPECT_NULL(strstr(output, "leak:"));
    jtest_run_self("LeaksOnPurpose.None", environment, output, sizeof output);
    JEXPECT_NULL(strstr(output, "leak:"));
    static const char *const wrong[] = {"JALLOC_TEST_LEAKS=1", "JALLOC_TEST_KEEP=1",
                                        "JALLOC_LEAK_REPORT=yes", NULL};
    jtest_run_self("LeaksOnPurpose.AtExit", wrong, output, sizeof output);
    JEXPECT_NULL(strstr(output, "leak:"));
    JEXPECT_SUBSTR(output, "[  FAILED  ] LeaksOnPurpose.AtExit"); /* no allocator, and why */
    JEXPECT_SUBSTR(output,
                   "JALLOC_LEAK_REPORT=\"yes\" is not understood: expected one of 0|1|stacks");
}
