/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The names in the environment: JALLOC_DEVICE_MEMROY_SIZE would otherwise be seen by nobody.
 *
 * Whatever begins with JALLOC_ is taken for one of jalloc's variables and must be one. A few more
 * are known, and are not read by the library: what libjalloc_record.so tells its child processes,
 * the tests' own, and those by which build systems and environment modules say where a package
 * lies.
 *
 * The environment is walked as getenv() walks it, and like it must not be changed by another thread
 * meanwhile. Only what libjalloc_record.so may have, too, is called here. */

#include <string.h>
#include <sys/auxv.h>

#include "core/core.h"
#include "core/environment.h"
#include "core/nearest.h"
#include "jalloc/config.h"

extern char **environ;

#define PREFIX_LENGTH (sizeof JI_ENVIRONMENT_PREFIX - 1)

static const char *const environment_names[] = {
#define ENVIRONMENT_ROW(number, name, fallback, syntax, meaning) [number] = #name,
    JCONFIG_LIST(ENVIRONMENT_ROW)
#undef ENVIRONMENT_ROW
};
static const char *const environment_others[] = {
    "JALLOC_RECORD_HEAP_OF", "JALLOC_ROOT", "JALLOC_DIR",
    "JALLOC_HOME",           "JALLOC_INC",  "JALLOC_LIB"};
static const char environment_of_tests[] = JI_ENVIRONMENT_PREFIX "TEST_";

static bool environment_knows(const char *const *names, size_t count, const char *text,
                              size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], text, length) == 0 && names[i][length] == '\0')
            return true;
    return false;
}

static bool environment_is_known(const char *text, size_t length) {
    return strncmp(text, environment_of_tests, sizeof environment_of_tests - 1) == 0 ||
           environment_knows(environment_names, JI_CONFIG_COUNT, text, length) ||
           environment_knows(environment_others,
                             sizeof environment_others / sizeof environment_others[0], text,
                             length);
}

bool ji_environment_unknown(size_t index, ji_environment_name_t *name) {
    if (environ == NULL || getauxval(AT_SECURE) != 0)
        return false;

    for (char **entry = environ; *entry != NULL; entry++) {
        if (strncmp(*entry, JI_ENVIRONMENT_PREFIX, PREFIX_LENGTH) != 0)
            continue;

        size_t length = strcspn(*entry, "=");
        if (environment_is_known(*entry, length) || index-- > 0)
            continue;

        /* The beginning that all have would make everything close. */
        ji_nearest_t nearest = ji_nearest_begin(*entry + PREFIX_LENGTH, length - PREFIX_LENGTH);
        for (size_t i = 0; i < JI_CONFIG_COUNT; i++)
            ji_nearest_offer(&nearest, environment_names[i] + PREFIX_LENGTH);
        *name = (ji_environment_name_t){
            .text = *entry,
            .length = length,
            .nearest = nearest.name != NULL ? nearest.name - PREFIX_LENGTH : NULL,
        };
        return true;
    }
    return false;
}
