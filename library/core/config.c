/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The environment variables and the parsers of their values.
 *
 * A value is understood as a whole or refused as a whole, with a message that quotes it. A size of
 * "256M" that is taken for 256 bytes, as strtoul would, is worse than an error. Nothing here
 * depends on the locale.
 *
 * An empty variable is one that is not set, for all alike. Each parser here has an inner part that
 * gives only a status, so that jconfig_get() can ask whether a value is valid without leaving a
 * message behind. A program that runs with more rights than its user has reads the defaults
 * (secure_getenv), since the log's path and the modules' come from here.
 *
 * Who reads the first variable looks at the names of all, once in a process: one that is misspelt
 * has no reader who could refuse it, so a warning says it. The log reads without looking, since the
 * warning needs the log. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/environment.h"
#include "core/size.h"
#include "core/sized.h"

/* A number is written in one way only: no leading zeros; nine digits fit an int. */
static bool config_read_index(const char *digits, size_t count, int *index) {
    if (count == 0 || count > 9 || (count > 1 && digits[0] == '0'))
        return false;

    int value = 0;
    for (size_t i = 0; i < count; i++) {
        if (!ji_is_digit(digits[i]))
            return false;
        value = value * 10 + (digits[i] - '0');
    }
    *index = value;
    return true;
}

bool ji_config_device_name(const char *text, size_t length, char name[JI_DEVICE_NAME_BYTES],
                           int *kind, int *index) {
    static const char *const kinds[] = {"host", "cuda", "hip"};
    for (int k = 0; k < 3; k++) {
        const size_t stem = strlen(kinds[k]);
        if (length < stem || memcmp(text, kinds[k], stem) != 0)
            continue;

        const char *digits = text + stem + 1;
        const size_t count = length > stem ? length - stem - 1 : 0;
        int value = 0;
        if (length > stem &&
            (k == 0 || text[stem] != ':' || !config_read_index(digits, count, &value)))
            return false;

        memcpy(name, kinds[k], stem + 1);
        if (k != 0)
            memcpy(name + stem, ":0", 3);
        if (count > 0) {
            memcpy(name + stem + 1, digits, count);
            name[stem + 1 + count] = '\0';
        }
        *kind = k;
        *index = value;
        return true;
    }
    return false;
}

/* The clauses of a device size, one after the other. */
typedef struct config_clause {
    const char *text; /* the size */
    size_t length;
    char device[JI_DEVICE_NAME_BYTES]; /* empty: for every device */
} config_clause_t;

/* Takes the clause at *cursor, which then is at the next one, or NULL behind the last. */
static bool config_next_clause(const char **cursor, config_clause_t *clause) {
    size_t length = strcspn(*cursor, ";");
    const char *equals = memchr(*cursor, '=', length);
    clause->text = *cursor;
    clause->length = length;
    clause->device[0] = '\0';

    if (equals != NULL) {
        int kind, index;
        if (!ji_config_device_name(*cursor, (size_t)(equals - *cursor), clause->device, &kind,
                                   &index))
            return false;
        clause->text = equals + 1;
        clause->length = (size_t)(*cursor + length - clause->text);
    }

    *cursor = (*cursor)[length] == ';' ? *cursor + length + 1 : NULL;
    return true;
}

/* Every clause must be right, the ones for other devices too; a device is named at most once, and
 * the size for all devices comes first. */
static jstatus_t config_device_size(const char *text, const char *device_name, size_t *size_bytes) {
    char wanted[JI_DEVICE_NAME_BYTES] = "";
    int kind, index;
    ji_config_device_name(device_name, strlen(device_name), wanted, &kind, &index);

    size_t result = 0;
    bool first = true;
    for (const char *cursor = text; cursor != NULL; first = false) {
        const char *begin = cursor;
        config_clause_t clause, earlier;
        size_t size;
        if (!config_next_clause(&cursor, &clause) || (clause.device[0] == '\0' && !first))
            return JSTATUS_INVALID_CONFIGURATION;
        JTRY_RETURN(ji_size_read(clause.text, clause.length, &size));

        for (const char *before = text; before != begin;) {
            config_next_clause(&before, &earlier);
            if (strcmp(earlier.device, clause.device) == 0)
                return JSTATUS_INVALID_CONFIGURATION;
        }

        if (clause.device[0] == '\0' || strcmp(clause.device, wanted) == 0)
            result = size;
    }

    *size_bytes = result;
    return JSTATUS_SUCCESS;
}

static jstatus_t config_refuse(jstatus_t status, const char *text, const char *expected) {
    if (status == JSTATUS_INVALID_SIZE)
        return ji_fail(status, "\"%.200s\": more bytes than this machine can address", text);
    return ji_fail(status, "\"%.200s\" is not understood: expected %s", text, expected);
}

jstatus_t jconfig_parse_size(const char *text, size_t *size_bytes) {
    JREQUIRE(text != NULL && size_bytes != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status = ji_size_read(text, strlen(text), size_bytes);
    return status == JSTATUS_SUCCESS
               ? status
               : config_refuse(status, text, "a size such as 0, 4096, 256M or 1.5GiB");
}

jstatus_t jconfig_parse_device_size(const char *text, const char *device_name, size_t *size_bytes) {
    JREQUIRE(text != NULL && device_name != NULL && size_bytes != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status = config_device_size(text, device_name, size_bytes);
    return status == JSTATUS_SUCCESS
               ? status
               : config_refuse(status, text,
                               "SIZE[;DEVICE=SIZE]..., such as 256M or 64M;cuda:0=1.5GiB");
}

int ji_config_choice(const char *choices, const char *text) {
    size_t length = strlen(text);
    for (int position = 0;; position++) {
        size_t choice = strcspn(choices, "|");
        if (choice == length && memcmp(choices, text, length) == 0)
            return position;
        if (choices[choice] == '\0')
            return -1;
        choices += choice + 1;
    }
}

bool ji_config_buffer(const char *text, int *kind, char device[JI_DEVICE_NAME_BYTES]) {
    static const char kinds[] = "local|replicated|distributed";
    char word[sizeof kinds];
    const size_t length = strcspn(text, "@");
    int device_kind, index;
    *kind = -1;
    device[0] = '\0';

    if (length >= sizeof word)
        return false;

    memcpy(word, text, length);
    word[length] = '\0';
    if (length > 0 && (*kind = ji_config_choice(kinds, word)) < 0)
        return false;

    const char *name = text + length + 1;
    return text[length] == '\0' ||
           ji_config_device_name(name, strlen(name), device, &device_kind, &index);
}

/* A syntax that lists its values, as "fast|same_bits" does, speaks for itself. */
static const struct {
    const char *syntax, *example, *expected;
} config_syntaxes[] = {
    {"SIZE", "64MiB", "a size such as 64MiB"},
    {"COUNT", "16", "a count such as 16"},
    {"SIZE|none", "64MiB", "a size such as 64MiB, or none"},
    {"SIZE|none|unlimited", "64MiB", "a size such as 64MiB, none or unlimited"},
    {"COUNT|none", "16", "a count such as 16, or none"},
    {"COUNT|none|unlimited", "16", "a count such as 16, none or unlimited"},
    {"MILLISECONDS|none|unlimited", "500",
     "a number of milliseconds such as 500, none or unlimited"},
    {"BOOL", "true", "true or false"},
    {"NUMBER", "3", "a whole number such as 3"},
    {"0..255", "170", "a number from 0 to 255, such as 170"},
    {"MILLISECONDS", "500", "a number of milliseconds such as 500"},
    {"TEXT", "assembly", "a text such as assembly"},
    {"0..7", "3", "a sum of 1 (trace), 2 (bench) and 4 (profile), such as 3"},
    {"FILE", "run.csv", "a file such as run.csv"},
    {"LIBRARY", "libopenblas.so.0",
     "a library's name such as libopenblas.so.0, or its absolute path"},
    {"DIRECTORY", "/opt/jalloc/lib", "an absolute path such as /opt/jalloc/lib"},
    {"[KIND][@DEVICE]", "distributed@host",
     "local, replicated or distributed, a device, or both as in distributed@host"},
    {"SIZE[;DEVICE=SIZE]...", "64MiB;cuda:0=2GiB",
     "a size such as 64MiB, or by device 64MiB;cuda:0=2GiB"},
    {"COMPOSITION[;DEVICE=COMPOSITION]...", "bfc(limit=2GiB)+guard",
     "a composition such as bfc(limit=2GiB)+guard, or by device general;cuda:0=bfc"},
};

const char *jconfig_example(const char *syntax) {
    for (size_t i = 0; syntax != NULL && i < sizeof config_syntaxes / sizeof config_syntaxes[0];
         i++)
        if (strcmp(config_syntaxes[i].syntax, syntax) == 0)
            return config_syntaxes[i].example;
    return NULL;
}

const char *ji_config_expected(const char *syntax, char text[JI_CONFIG_EXPECTED_BYTES]) {
    snprintf(text, JI_CONFIG_EXPECTED_BYTES, "one of %s", syntax);
    for (size_t i = 0; i < sizeof config_syntaxes / sizeof config_syntaxes[0]; i++)
        if (strcmp(config_syntaxes[i].syntax, syntax) == 0)
            snprintf(text, JI_CONFIG_EXPECTED_BYTES, "%s", config_syntaxes[i].expected);
    return text;
}

static jstatus_t config_take_composition(const char *text) {
    (void)text;
    return JSTATUS_SUCCESS;
}
ji_config_check_t ji_config_check_composition = config_take_composition;

/* What is to be said of a value: success; invalid configuration; invalid size. For every variable
 * the answer of those who use it. */
static jstatus_t config_judge(jconfig_t which, const char *syntax, const char *value) {
    size_t ignored;
    int kind;
    char device[JI_DEVICE_NAME_BYTES];
    bool valid = true;

    switch (which) {
    /* Whichever device it is asked for, each clause is looked at. */
    case JCONFIG_JALLOC_DEVICE_MEMORY_SIZE:
    case JCONFIG_JALLOC_BUDGET: return config_device_size(value, "host", &ignored);
    case JCONFIG_JALLOC_ALLOCATOR: return ji_config_check_composition(value);
    case JCONFIG_JALLOC_RESULT_POLICY:
    case JCONFIG_JALLOC_ACCURACY:
    case JCONFIG_JALLOC_LEAK_REPORT:
    case JCONFIG_JALLOC_VENDOR_BLAS:
    case JCONFIG_JALLOC_HOST_BLAS:
    case JCONFIG_JALLOC_HOST_ISA:
    case JCONFIG_JALLOC_BLAS_REPORT:
    case JCONFIG_JALLOC_LOG_LEVEL: valid = ji_config_choice(syntax, value) >= 0; break;
    case JCONFIG_JALLOC_LAYER:
        valid = value[0] >= '0' && value[0] <= '7' && value[1] == '\0';
        break;
    case JCONFIG_JALLOC_MODULE_PATH: /* never relative to wherever the program happens to be */
        valid = value[0] == '\0' || value[0] == '/';
        break;
    case JCONFIG_JALLOC_CBLAS: /* likewise; without a slash the loader looks for it */
    case JCONFIG_JALLOC_LAPACK: valid = strchr(value, '/') == NULL || value[0] == '/'; break;
    case JCONFIG_JALLOC_BUFFER: valid = ji_config_buffer(value, &kind, device); break;
    case JCONFIG_JALLOC_THREADS: valid = config_read_index(value, strlen(value), &kind); break;
    case JCONFIG_JALLOC_RECORD_HEAP_MIN_BYTES: return ji_size_read(value, strlen(value), &ignored);
    default: break; /* a file: any text */
    }

    return valid ? JSTATUS_SUCCESS : JSTATUS_INVALID_CONFIGURATION;
}

jstatus_t ji_config_read(jconfig_t which, jconfig_entry_t *entry) {
    static const struct {
        const char *name, *fallback, *syntax, *meaning;
    } table[] = {
#define CONFIG_ROW(number, name, fallback, syntax, meaning)                                        \
    [number] = {#name, fallback, syntax, meaning},
        JCONFIG_LIST(CONFIG_ROW)
#undef CONFIG_ROW
    };
    _Static_assert(sizeof table / sizeof table[0] == JI_CONFIG_COUNT,
                   "the numbers of JCONFIG_LIST have no gap");
    JREQUIRE_VALUE((size_t)which < JI_CONFIG_COUNT, JSTATUS_INVALID_VALUE, "jconfig_get", "which",
                   which, "no variable has that number");

    const char *value = secure_getenv(table[which].name);
    if (value != NULL && value[0] == '\0') /* as in "JALLOC_LAYER= program": not set */
        value = NULL;

    *entry = (jconfig_entry_t){
        .name = table[which].name,
        .value = value != NULL ? value : table[which].fallback,
        .fallback = table[which].fallback,
        .syntax = table[which].syntax,
        .meaning = table[which].meaning,
        .example = jconfig_example(table[which].syntax),
        .from_environment = value != NULL,
    };

    entry->valid = config_judge(which, entry->syntax, entry->value) == JSTATUS_SUCCESS;
    return JSTATUS_SUCCESS;
}

static bool config_find_unknown(size_t index, jconfig_unknown_t *unknown) {
    ji_environment_name_t name;
    if (!ji_environment_unknown(index, &name))
        return false;

    snprintf(unknown->name, sizeof unknown->name, "%.*s", (int)name.length, name.text);
    unknown->nearest = name.nearest;
    return true;
}

jstatus_t jconfig_get_unknown(size_t index, jconfig_unknown_t *unknown) {
    JREQUIRE(unknown != NULL, JSTATUS_INVALID_POINTER);
    return config_find_unknown(index, unknown)
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_NOT_FOUND, "the environment has at most %zu unknown names", index);
}

/* Says, once in a process, what nobody who reads a variable would see: names that are unknown, and,
 * since the log reads it at its first message, a level that is not understood. */
static void config_look_at_names(void) {
    static const char key;
    jconfig_unknown_t unknown;
    (void)jlog_level();

    for (size_t i = 0; config_find_unknown(i, &unknown); i++)
        jlog_write(
            JLOG_WARNING, &key, "%s is set in the environment and is no variable of jalloc's; %s%s",
            unknown.name, unknown.nearest != NULL ? "the nearest is " : "jalloc-info lists them",
            unknown.nearest != NULL ? unknown.nearest : "");
}

static void config_look_at_names_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, config_look_at_names);
}

jstatus_t jconfig_get(jconfig_t which, jconfig_entry_t *entry) {
    JREQUIRE(entry != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jconfig_entry_t, entry, value));
    config_look_at_names_once();

    jconfig_entry_t read;
    JTRY_RETURN(ji_config_read(which, &read));

    JI_GIVE_RESULT(entry, &read);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_config_require(jconfig_t which, jconfig_entry_t *entry) {
    config_look_at_names_once();
    (void)ji_config_read(which, entry); /* fails for a number that is none */
    if (entry->valid)
        return JSTATUS_SUCCESS;

    unsigned messages = ji_message_count;
    if (config_judge(which, entry->syntax, entry->value) == JSTATUS_INVALID_SIZE)
        return ji_fail(JSTATUS_INVALID_CONFIGURATION,
                       "%s=\"%.200s\" is too large: more bytes than this machine can address",
                       entry->name, entry->value);

    if (ji_message_count != messages) /* a composition: what of it */
        return ji_fail(JSTATUS_INVALID_CONFIGURATION, "%s=\"%.160s\" is not understood: %s",
                       entry->name, entry->value, jstatus_last_message());

    char expected[JI_CONFIG_EXPECTED_BYTES];
    return ji_fail(JSTATUS_INVALID_CONFIGURATION, "%s=\"%.200s\" is not understood: expected %s",
                   entry->name, entry->value, ji_config_expected(entry->syntax, expected));
}
