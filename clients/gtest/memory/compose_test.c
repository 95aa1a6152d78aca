/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Stacks from text: what is understood, what is refused and how, and who owns what. */

#include "jtest.h"

#include "pretend_gpu.h"

#include "jalloc/allocator.h"
#include "jalloc/process.h"
#include "jalloc/provider.h"
#include "memory/compose/compose.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

JTEST(Compose, StagesStandInTheOrderTheyAreWritten) {
    jallocator_t *top;
    JASSERT_OK(jallocator_compose(NULL, "mmap+bfc(limit=2GiB)+guard", &top));
    JEXPECT_STREQ(jallocator_name(top), "guard");
    JEXPECT_STREQ(jallocator_name(jallocator_below(top)), "bfc");
    JEXPECT_STREQ(jallocator_name(jallocator_below(jallocator_below(top))), "mmap");
    JEXPECT_NULL(jallocator_below(jallocator_below(jallocator_below(top))));
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(top, &stats));
    JEXPECT_EQ(stats.limit_bytes, (size_t)2 << 30);
    JEXPECT_OK(jallocator_destroy(top)); /* and all that is below, or the fixture complains */
}

JTEST(Compose, WithoutAProviderTheDeviceIsBelow) {
    jallocator_t *top;
    JASSERT_OK(jallocator_compose(NULL, " limit( limit = 1K , name = tiny ) ", &top));
    JEXPECT_STREQ(jallocator_name(top), "tiny");
    JEXPECT_STREQ(jallocator_name(jallocator_below(top)), "host");
    void *pointer;
    JEXPECT_STATUS(jallocator_allocate(top, 1025, 0, NULL, &pointer), JSTATUS_MEMORY_ERROR);
    JEXPECT_OK(jallocator_allocate(top, 1024, 0, NULL, &pointer));
    JEXPECT_OK(jallocator_deallocate(top, pointer, 1024, NULL));
    JEXPECT_OK(jallocator_destroy(top));
}

JTEST(Compose, OfATextByDeviceTheDevicesOwn) {
    static const struct {
        const char *text, *top;
    } cases[] = {{"malloc+bfc(limit=1MiB);cuda:0=pool", "bfc"},
                 {"pool;host=malloc+stack;hip:1=bfc", "stack"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        jallocator_t *top;
        JASSERT_OK(jallocator_compose(NULL, cases[i].text, &top));
        JEXPECT_STREQ(jallocator_name(top), cases[i].top);
        JEXPECT_OK(jallocator_destroy(top));
    }
}

JTEST(Compose, OverACallersAllocatorWhichStaysTheCallers) {
    jallocator_t *below = jtest_failing_allocator(), *top;
    JASSERT_OK(jallocator_compose_over(below, "bfc+exact", &top));
    void *pointer;
    JASSERT_OK(jallocator_allocate(top, 1000, 0, NULL, &pointer));
    JEXPECT_GT(jtest_live_bytes(), 0);
    JEXPECT_OK(jallocator_deallocate(top, pointer, 1000, NULL));
    JEXPECT_OK(jallocator_destroy(top));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    JASSERT_OK(jallocator_allocate(below, 10, 0, NULL, &pointer)); /* it is still there */
    JEXPECT_OK(jallocator_deallocate(below, pointer, 10, NULL));
    JEXPECT_STATUS(jallocator_compose_over(below, "mmap", &top), JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_STATUS(jallocator_compose_over(NULL, "bfc", &top), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_compose_over(below, NULL, &top), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_compose_over(below, "bfc", NULL), JSTATUS_INVALID_POINTER);
}

static const struct refusal {
    const char *composition, *quoted;
} refusals[] = {
    {"", "\"\" is no kind of allocator; there are malloc, "},
    {"bfx", "\"bfx\" is no kind of allocator, the nearest is bfc; there are malloc, "},
    {"bcf", "the nearest is bfc;"},
    {"BFC", "the nearest is bfc;"},
    {"tracking", "\"tracking\" is no kind of allocator; there are "},
    {"trakc", "the nearest is track;"},
    {"stat", "the nearest is statistics;"},
    {"elephant", "small, general, track, record, exact, guard, fill, limit, retry, align, lock, "
                 "visit, statistics, quota, and devices such as cuda:0"},
    {"bfc+", "\"\" is no kind"},
    {"+bfc", "\"\" is no kind"},
    {"bfc(limit=1G", "must end with one ')'"},
    {"bfc(limit=1G))", "must end with one ')'"},
    {"bfc(limit=1G)x", "must end with one ')'"},
    {"bfc(limt=1G)", "\"limt\" is no key of bfc, the nearest is limit; it has "},
    {"bfc(elephant=1G)", "\"elephant\" is no key of bfc; it has "},
    {"bfc(elephant)", "all_at_once, keep_regions, name"},
    {"mmap(elephant=1)", "it has name"},
    {"mmap(nam=x)", "the nearest is name;"},
    {"mmap(name)", "mmap(name) lacks a value: expected a text"},
    {"bfc(limit=2GiB,limit=3)", "bfc has the key limit twice"},
    {"bfc(limit=2GiB, limit = 2GiB)", "bfc has the key limit twice"},
    {"bfc(name=a,name=a)", "bfc has the key name twice"},
    {"bfc(all_at_once,all_at_once)", "bfc has the key all_at_once twice"},
    {"mmap(name=a,name=b)", "mmap has the key name twice"},
    {"bfc(limit=lots)",
     "bfc(limit=lots): expected a size such as 64MiB, none or unlimited, not \"lots\""},
    {"bfc(limit=-1)", "expected a size such as 64MiB, none or unlimited, not \"-1\""},
    {"bfc(limit=1X)", "expected a size such as 64MiB"},
    {"bfc(limit=99999999999999999999)", "more bytes than this machine can address"},
    {"bfc(limit)", "bfc(limit) lacks a value: expected a size such as 64MiB"},
    {"bfc(limit=)", "expected a size such as 64MiB, none or unlimited, not \"\""},
    {"bfc(growth=-1)", "expected a count such as 16"},
    {"bfc(growth=some)", "expected a count such as 16"},
    {"bfc(growth=5x)", "expected a count such as 16"},
    {"bfc(growth=)", "expected a count such as 16"},
    {"bfc(growth=99999999999999999999)", "expected a count such as 16"},
    {"bfc(growth=5,)", "\"\" is no key of bfc"},
    {"pool(count=some)", "expected a count such as 16, none or unlimited"},
    {"retry(timeout=soon)", "expected a number of milliseconds such as 500"},
    {"numa(node=left)", "expected a whole number such as 3"},
    {"numa(node=9999999999)", "expected a whole number such as 3"},
    {"fill(pattern=256)", "expected a number from 0 to 255, such as 170"},
    {"fill(pattern=-1)", "expected a number from 0 to 255"},
    {"bfc(all_at_once=perhaps)", "expected true or false"},
    {"device(kind=fast)", "expected one of device|pinned|managed|ordered, not \"fast\""},
    {"cuda:0+bcf", "the nearest is bfc;"},
    {"cuda:x+bfc", "\"cuda:x\" is no kind"},
    {"cuda:0(kind=fast)+bfc", "expected one of device|pinned"},
    {"bfc+cuda:0", "\"cuda:0\" is a provider and must come first"},
    {"malloc;host=cuda:0+bfc", "expected COMPOSITION[;DEVICE=COMPOSITION]"},
    {"cuda:0+bfc;cuda:0=pool", "expected COMPOSITION[;DEVICE=COMPOSITION]"},
    {"cuda:1+bfc;hip:0+pool", "has none for host"},
    {"bfc+mmap", "\"mmap\" is a provider"},
    {"mmap+mmap", "\"mmap\" is a provider"},
    {"bfc(,)", "is no key"},
    {"malloc;bfc", "expected COMPOSITION[;DEVICE=COMPOSITION]"},
    {"malloc;nowhere=bfc", "expected COMPOSITION[;DEVICE=COMPOSITION]"},
    {"malloc;cuda:0=", "expected COMPOSITION[;DEVICE=COMPOSITION]"},
    {"cuda:0=bfc", "has none for host"},
    {"malloc;host=bfx", "\"bfx\" is no kind"},
};
JTEST_P(Compose, RefusesAndQuotes, struct refusal, refusals) {
    jallocator_t *const mark = (jallocator_t *)&refusals, *top = mark;
    JEXPECT_STATUS(jallocator_compose(NULL, param->composition, &top),
                   JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_SUBSTR(jstatus_last_message(), param->quoted);
    JEXPECT_EQ(top, mark);
}

JTEST(Compose, RefusesWhatIsTooLongAndNull) {
    static char text[1100];
    jallocator_t *top;
    memset(text, 'x', sizeof text - 1);
    JEXPECT_STATUS(jallocator_compose(NULL, text, &top), JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_SUBSTR(jstatus_last_message(), "more than 1023 characters");
    memcpy(text, "pool;host=", 10); /* the same as a device's */
    JEXPECT_STATUS(jallocator_compose(NULL, text, &top), JSTATUS_INVALID_CONFIGURATION);
    jtest_setenv("JALLOC_ALLOCATOR", text);
    JEXPECT_STATUS(jprocess_get_allocator(NULL, &top), JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_STATUS(jallocator_compose(NULL, NULL, &top), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_compose(NULL, "bfc", NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jallocator_compose(NULL, "bfc(name=a name of thirty-two characters.)", &top),
                   JSTATUS_INVALID_VALUE);
}

/* Whatever is listed is complete, and every key's fallback is a value that the key understands. */
JTEST(Compose, EveryKeyUnderstandsItsFallback) {
    const jallocator_kind_t *kind;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i) {
        JSCOPED_TRACE("%s", kind->name);
        for (const jallocator_key_t *key = kind->keys; key->name != NULL; ++key) {
            JSCOPED_TRACE("%s=%s", key->name, key->fallback);
            JEXPECT_NOT_NULL(key->syntax);
            JEXPECT_GT(strlen(key->meaning), 0);
            if (key->fallback == NULL || key->fallback[0] == '\0')
                continue; /* there is none: the key is required, or means "as it comes" */
            char composition[200];
            snprintf(composition, sizeof composition, "%s(%s=%s)", kind->name, key->name,
                     key->fallback);
            jallocator_t *top = NULL;
            const jstatus_t status = jallocator_compose(NULL, composition, &top);
            JEXPECT_NE(status, JSTATUS_INVALID_CONFIGURATION);
            if (status == JSTATUS_SUCCESS)
                JEXPECT_OK(jallocator_destroy(top));
        }
    }
}

JTEST(Compose, EveryKindTakesAName) {
    const jallocator_kind_t *kind;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i) {
        const char *needs = strcmp(kind->name, "limit") == 0    ? "limit=1G,"
                            : strcmp(kind->name, "quota") == 0  ? "budget=named,limit=1G,"
                            : strcmp(kind->name, "record") == 0 ? "file=/dev/null,"
                                                                : "";
        char composition[200];
        jallocator_t *top;
        snprintf(composition, sizeof composition, "%s(%sname=mine)", kind->name, needs);
        JSCOPED_TRACE("%s", composition);
        JASSERT_OK(jallocator_compose(NULL, composition, &top));
        JEXPECT_STREQ(jallocator_name(top), "mine");
        JEXPECT_OK(jallocator_destroy(top));
    }
}

enum { DEFAULTS_LIVE = 1200, DEFAULTS_STEPS = 6000, DEFAULTS_LEVELS = 4, DEFAULTS_BYTES = 1 << 30 };

/* The same requests for whatever stack: small ones, some large, more alive than pools keep; half of
 * them are given back at the end. What each level has counted then is in `stats`. All but providers
 * stand over one array, whose addresses are the same each time: what a policy reserves depends on
 * which regions touch. */
static int count_a_fixed_run(jallocator_role_t role, void *array, const char *composition,
                             jallocator_stats_t stats[DEFAULTS_LEVELS]) {
    static void *pointers[DEFAULTS_LIVE];
    static size_t sizes[DEFAULTS_LIVE];
    jallocator_t *below = NULL, *top = NULL;
    uint64_t state = 1;
    int levels = 0;
    if (role != JALLOCATOR_PROVIDER)
        JEXPECT_OK(jallocator_create_array(NULL, array, DEFAULTS_BYTES, &below));
    const jstatus_t status = role == JALLOCATOR_PROVIDER
                                 ? jallocator_compose(NULL, composition, &top)
                                 : jallocator_compose_over(below, composition, &top);
    if (status != JSTATUS_SUCCESS) { /* a key that it needs is not there */
        JEXPECT_OK(jallocator_destroy(below));
        return 0;
    }
    for (int step = 0; step < DEFAULTS_STEPS + DEFAULTS_LIVE; ++step) {
        const bool filling = step < DEFAULTS_STEPS;
        const size_t i =
            filling ? jtest_random_next(&state) % DEFAULTS_LIVE : (size_t)(step - DEFAULTS_STEPS);
        if (filling || i % 2 == 0) {
            JEXPECT_OK(jallocator_deallocate(top, pointers[i], sizes[i], NULL));
            pointers[i] = NULL;
        }
        const uint64_t drawn = jtest_random_next(&state);
        sizes[i] = pointers[i] != NULL ? sizes[i]
                                       : 1 + (drawn >> 8) % (drawn % 16 == 0  ? 3 << 18
                                                             : drawn % 4 == 1 ? 40000
                                                                              : 5000);
        if (filling && jallocator_allocate(top, sizes[i], 0, NULL, &pointers[i]) != JSTATUS_SUCCESS)
            pointers[i] = NULL; /* larger than a slot; counted */
    }
    for (jallocator_t *level = top; level != NULL && levels < DEFAULTS_LEVELS;
         level = jallocator_below(level)) {
        stats[levels] = (jallocator_stats_t)JALLOCATOR_STATS_INIT;
        JEXPECT_OK(jallocator_get_stats(level, &stats[levels++]));
    }
    for (size_t i = 0; i < DEFAULTS_LIVE; ++i)
        JEXPECT_OK(jallocator_deallocate(top, pointers[i], sizes[i], NULL));
    memset(pointers, 0, sizeof pointers);
    JEXPECT_OK(jallocator_destroy(top));
    JEXPECT_OK(jallocator_destroy(below));
    return levels;
}

/* So the defaults that are listed, by the library and in the manual, are those that are in
 * force. */
JTEST(Compose, AKeySetToItsFallbackChangesNothing) {
    const jallocator_kind_t *kind;
    void *array = mmap(NULL, DEFAULTS_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    JASSERT_TRUE(array != MAP_FAILED);
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i) {
        jallocator_stats_t plain[DEFAULTS_LEVELS], set[DEFAULTS_LEVELS];
        /* That writes to standard error. */
        if (kind->keys[0].name == NULL || strcmp(kind->name, "record") == 0)
            continue;
        const int levels = count_a_fixed_run(kind->role, array, kind->name, plain);
        for (const jallocator_key_t *key = kind->keys; key->name != NULL && levels > 0; ++key) {
            char composition[200];
            JSCOPED_TRACE("%s(%s=%s)", kind->name, key->name, key->fallback);
            snprintf(composition, sizeof composition, "%s(%s=%s)", kind->name, key->name,
                     key->fallback);
            if (key->fallback[0] == '\0')
                continue;
            JASSERT_EQ(count_a_fixed_run(kind->role, array, composition, set), levels);
            for (int level = 0; level < levels; ++level)
                JEXPECT_EQ(memcmp(&plain[level], &set[level], sizeof plain[level]), 0);
        }
    }
    JEXPECT_EQ(munmap(array, DEFAULTS_BYTES), 0);
}

JTEST(Compose, GeneralIsTheCompositionThatItsHeaderNames) {
    void *array = mmap(NULL, DEFAULTS_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    JASSERT_TRUE(array != MAP_FAILED);
    jallocator_stats_t one[DEFAULTS_LEVELS], parts[DEFAULTS_LEVELS];
    JASSERT_EQ(count_a_fixed_run(JALLOCATOR_POLICY, array, "general", one), 2);
    JASSERT_EQ(count_a_fixed_run(JALLOCATOR_POLICY, array,
                                 "bfc(tight,region=256KiB,growth=2)+small(largest=4KiB,cache=4MiB)",
                                 parts),
               3);
    JEXPECT_EQ(one[0].peak_in_use_bytes, parts[0].peak_in_use_bytes);
    JEXPECT_EQ(one[0].reserved_bytes, parts[1].reserved_bytes); /* that of best fit */
    JEXPECT_EQ(one[0].peak_reserved_bytes, parts[1].peak_reserved_bytes);
    JEXPECT_EQ(memcmp(&one[1], &parts[2], sizeof one[1]), 0); /* what the array has given */
    JEXPECT_EQ(munmap(array, DEFAULTS_BYTES), 0);
}

JTEST(Compose, EachFailureOfBookkeepingLeavesNothing) {
    JFOR_EACH_FAILURE(n) {
        jallocator_t *top = NULL;
        const jstatus_t status = jallocator_compose(NULL, "mmap+bfc+lru+guard+exact", &top);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
            JEXPECT_NULL(top);
            JEXPECT_NULL(strstr(jstatus_last_message(), "_create")); /* whose name nobody knows */
        } else {
            JEXPECT_OK(jallocator_destroy(top));
        }
    }
}

/* Each wish of a text and of a caller. */
static const struct {
    const char *text, *made, *refused; /* NULL: made */
} device_texts[] = {
    {"cuda:0+bfc", "bfc", NULL},
    {"cuda+bfc", "bfc", NULL},
    {" cuda:0 ( kind = pinned ) + bfc", "bfc", NULL},
    {"cuda:0", "cuda:0", NULL},
    {"general;cuda:0+bfc", "bfc", NULL},
    {"cuda:1+pool;cuda:0+bfc", "bfc", NULL},
    {"cuda:0=cuda:0+bfc", "bfc", NULL},
    {"cuda:0=bfc", "bfc", NULL},
    {"host+bfc", NULL, "made for cuda:0, it begins with host"},
    {"cuda:1+bfc", NULL, "made for cuda:0, it begins with cuda:1"},
    {"hip:0+bfc;host+pool", NULL, "has none for cuda:0"},
};
JTEST(Compose, ADeviceAtTheBeginningIsItsProvider) {
    pretend_gpu_t *gpu = pretend_gpu_make();
    snprintf(gpu->device.name, sizeof gpu->device.name, "cuda:0");
    for (size_t i = 0; i < sizeof device_texts / sizeof device_texts[0]; ++i) {
        JSCOPED_TRACE("%s", device_texts[i].text);
        jallocator_t *top = NULL;
        const jstatus_t status = jallocator_compose(&gpu->device, device_texts[i].text, &top);
        JEXPECT_STATUS(status, device_texts[i].made != NULL ? JSTATUS_SUCCESS
                                                            : JSTATUS_INVALID_CONFIGURATION);
        if (status == JSTATUS_SUCCESS) {
            const jallocator_t *below = jallocator_below(top) != NULL ? jallocator_below(top) : top;
            JEXPECT_STREQ(jallocator_name(top), device_texts[i].made);
            JEXPECT_STREQ(jallocator_name(below), "cuda:0");
            JEXPECT_EQ(jallocator_device(top), &gpu->device);
            JEXPECT_OK(jallocator_destroy(top));
        } else if (device_texts[i].refused != NULL) {
            JEXPECT_SUBSTR(jstatus_last_message(), device_texts[i].refused);
        }
    }
}

JTEST(Compose, ArgumentsMayBeNone) {
    jallocator_t *top;
    JASSERT_OK(jallocator_compose(NULL, "bfc()+exact( )", &top));
    JEXPECT_OK(jallocator_destroy(top));
}

JTEST(Compose, WithoutADeviceTheTextsIsTaken) {
    jallocator_t *top = NULL;
    jtest_setenv("JALLOC_MODULE_PATH", "/nonexistent");
    JASSERT_OK(jallocator_compose(NULL, "host+bfc", &top));
    JEXPECT_STREQ(jallocator_name(jallocator_below(top)), "host");
    JEXPECT_OK(jallocator_destroy(top));
    top = NULL;
    JEXPECT_STATUS(jallocator_compose(NULL, "cuda:0+bfc", &top), JSTATUS_NO_DEVICE);
    JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_MODULE_PATH"); /* what to do */
    JEXPECT_STATUS(jallocator_compose(jdevice_host(), "cuda:0+bfc", &top),
                   JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_SUBSTR(jstatus_last_message(), "made for host, it begins with cuda:0");
    JEXPECT_NULL(top);
}

/* As in a handle's and the process's: a text that begins with a device is that device's, the others
 * have their default. */
JTEST(Compose, TheEnvironmentsDeviceIsThatDevicesAlone) {
    static const char *const rows[][2] = {{"cuda:0+bfc", "general"},
                                          {"pool;cuda:0+bfc", "pool"},
                                          {"cuda:0+bfc;host+pool+exact", "exact"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        JSCOPED_TRACE("%s", rows[i][0]);
        jallocator_t *own = NULL;
        jtest_setenv("JALLOC_ALLOCATOR", rows[i][0]);
        JEXPECT_OK(jprocess_get_allocator(NULL, &own));
        JEXPECT_STREQ(jallocator_name(own), rows[i][1]);
        JEXPECT_OK(ji_process_reset());
    }
    /* Memory of another kind takes the place of the device, as of any provider. */
    const jmemory_request_t on_node = {sizeof on_node, NULL, 0, false, false};
    static const char *const begins[] = {" host ( kind = device ) +bfc", "mmap+bfc", "bfc",
                                         "cuda:0+pool;host+bfc"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; ++i) {
        JSCOPED_TRACE("%s", begins[i]);
        jallocator_t *placed = NULL;
        jtest_setenv("JALLOC_ALLOCATOR", begins[i]);
        JEXPECT_OK(jprocess_get_allocator(&on_node, &placed));
        JEXPECT_STREQ(jallocator_name(placed), "bfc");
        JEXPECT_STREQ(jallocator_name(jallocator_below(placed)), "numa");
        JEXPECT_OK(ji_process_reset());
    }
    jallocator_t *own = NULL;
    jtest_setenv("JALLOC_ALLOCATOR", "track(records=9223372036854775807)");
    JEXPECT_STATUS(jprocess_get_allocator(NULL, &own),
                   JSTATUS_INVALID_CONFIGURATION); /* an invalid size, of the text */
    jtest_setenv("JALLOC_ALLOCATOR", "segment(backend=file,path=/nonexistent/folder/segment)");
    /* No fault of the text's. */
    JEXPECT_STATUS(jprocess_get_allocator(NULL, &own), JSTATUS_IO_ERROR);
    JEXPECT_SUBSTR(jstatus_last_message(), "JALLOC_ALLOCATOR=\"segment(");
    jtest_setenv("JALLOC_ALLOCATOR", "cuda:0+bcf");
    JEXPECT_STATUS(jprocess_get_allocator(NULL, &own), JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_SUBSTR(jstatus_last_message(),
                   "JALLOC_ALLOCATOR=\"cuda:0+bcf\" is not understood: \"bcf\" is no kind");
    JEXPECT_SUBSTR(jstatus_last_message(), "the nearest is bfc");
    JEXPECT_NULL(own);
}

/* What is wrong at the end is seen before the beginning is made. */
JTEST(Compose, NothingIsMadeOfATextThatIsNotUnderstood) {
    jallocator_t *top = NULL;
    const uint64_t before = jtest_metadata_allocation_count();
    JEXPECT_STATUS(jallocator_compose(
                       NULL, "segment(backend=posix,path=/jalloc-compose-test)+bfc+gaurd", &top),
                   JSTATUS_INVALID_CONFIGURATION);
    JEXPECT_SUBSTR(jstatus_last_message(), "the nearest is guard");
    JEXPECT_EQ(jtest_metadata_allocation_count(), before);
}

/* Random texts, of what compositions are made of and of anything: a stack, or a status with a
 * message. */
JTEST(Compose, AnyTextIsJudged) {
    static const char *const parts[] = {
        "bfc",   "pool", "stack",   "limit", "guard", "cuda:0", "host", "exact", "(",
        ")",     "+",    "=",       ",",     ";",     " ",      "1K",   "limit", "true",
        "count", "none", "threads", "name",  "bcf",   "device", "kind", "\x01",  "%s%n"};
    for (int64_t i = jtest_iterations(1000); i > 0; --i) {
        char text[200] = "";
        size_t length = 0;
        for (int64_t k = jtest_random_between(0, 12); k > 0; --k) {
            const char *part =
                parts[jtest_random_between(0, (int64_t)(sizeof parts / sizeof parts[0]) - 1)];
            length += (size_t)snprintf(text + length, sizeof text - length, "%s", part);
        }
        JSCOPED_TRACE("%s", text);
        jallocator_t *top = NULL;
        const jstatus_t status = jallocator_compose(jdevice_host(), text, &top);
        if (status == JSTATUS_SUCCESS) {
            JEXPECT_OK(jallocator_destroy(top));
        } else {
            JEXPECT_NULL(top);
            JEXPECT_GT(strlen(jstatus_last_message()), 0);
        }
    }
}
