/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Compositions from text.
 *
 * The text is copied once and cut in place: names and values become strings of their own by a '\0'
 * where a separator stood. A stage's options start as the kind's defaults; each key is looked up in
 * the kind's table, which says what type the value has and where it goes. The whole text is read
 * before anything is made of it. A stage that was made owns the one below, so that whatever fails
 * later, destroying the topmost is enough.
 *
 * A device's name in the place of a kind is that device's provider. Who reads what a person wrote
 * wrong says what there is and which of it is nearest. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/nearest.h"
#include "core/size.h"
#include "jalloc/provider.h"
#include "memory/compose/compose.h"

#define COMPOSE_MAX_TEXT 1023

static jstatus_t compose_refuse(const char *part, const char *why) {
    return ji_fail(JSTATUS_INVALID_CONFIGURATION, "\"%.80s\" %s", part, why);
}

/* "limit, region, growth", as far as there is room. */
typedef struct compose_list {
    char text[288];
    size_t length;
} compose_list_t;

static void compose_list_add(compose_list_t *list, const char *name) {
    snprintf(list->text + list->length, sizeof list->text - list->length, "%s%s",
             list->length > 0 ? ", " : "", name);
    list->length = strlen(list->text);
}

/* Refuses a name that is not there: what there is instead, and which of it is nearest. */
static jstatus_t compose_refuse_name(const char *name, const char *what,
                                     const ji_nearest_t *nearest, const char *there,
                                     const compose_list_t *list) {
    const bool close = nearest->name != NULL;

    return ji_fail(JSTATUS_INVALID_CONFIGURATION, "\"%.40s\" is no %s%s%s; %s %s", name, what,
                   close ? ", the nearest is " : "", close ? nearest->name : "", there, list->text);
}

static jstatus_t compose_refuse_kind(const char *name) {
    ji_nearest_t nearest = ji_nearest_begin(name, strlen(name));
    compose_list_t list = {"", 0};

    const jallocator_kind_t *kind;
    for (size_t i = 0; (kind = jallocator_kind_at(i)) != NULL; ++i) {
        ji_nearest_offer(&nearest, kind->name);
        compose_list_add(&list, kind->name);
    }

    compose_list_add(&list, "and devices such as cuda:0");
    return compose_refuse_name(name, "kind of allocator", &nearest, "there are", &list);
}

static jstatus_t compose_refuse_key(const char *name, const ji_kind_t *kind) {
    ji_nearest_t nearest = ji_nearest_begin(name, strlen(name));
    compose_list_t list = {"", 0};
    char what[64];

    snprintf(what, sizeof what, "key of %s", kind->public.name);
    for (const jallocator_key_t *key = kind->public.keys; key->name != NULL; ++key) {
        ji_nearest_offer(&nearest, key->name);
        compose_list_add(&list, key->name);
    }

    ji_nearest_offer(&nearest, "name");
    compose_list_add(&list, "name");

    return compose_refuse_name(name, what, &nearest, "it has", &list);
}

/* Refuses a value; NULL: there is none. */
static jstatus_t compose_refuse_value(const ji_kind_t *kind, const jallocator_key_t *key,
                                      const char *value) {
    char expected[JI_CONFIG_EXPECTED_BYTES];
    size_t ignored;
    (void)ji_config_expected(key->syntax, expected);

    if (value == NULL)
        return ji_fail(JSTATUS_INVALID_CONFIGURATION, "%s(%s) lacks a value: expected %s",
                       kind->public.name, key->name, expected);

    if (strncmp(key->syntax, "SIZE", 4) == 0 &&
        ji_size_read(value, strlen(value), &ignored) == JSTATUS_INVALID_SIZE)
        return ji_fail(JSTATUS_INVALID_CONFIGURATION,
                       "%s(%s=%.80s): more bytes than this machine can address", kind->public.name,
                       key->name, value);
    return ji_fail(JSTATUS_INVALID_CONFIGURATION, "%s(%s=%.80s): expected %s, not \"%.80s\"",
                   kind->public.name, key->name, value, expected, value);
}

static char *compose_skip_blanks(char *text) {
    while (*text == ' ')
        ++text;
    return text;
}
/* Cuts blanks off the end. */
static char *compose_word(char *text) {
    text = compose_skip_blanks(text);

    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';

    return text;
}

static bool compose_read_integer(const char *text, long long least, long long most,
                                 long long *number) {
    char *end;

    errno = 0;
    *number = strtoll(text, &end, 10);

    return end != text && *end == '\0' && errno == 0 && *number >= least && *number <= most;
}

/* The number that a text means where the key's syntax has words beside numbers. */
static bool compose_read_word(const jallocator_key_t *key, const char *value, uint64_t *number) {
    const char *words = strchr(key->syntax, '|');
    const int word = words != NULL ? ji_config_choice(words + 1, value) : -1;

    if (word >= 0)
        *number = word == 0 ? JALLOC_NONE : JALLOC_UNLIMITED;

    return word >= 0;
}
static uint64_t compose_number(const jallocator_key_t *key, uint64_t number) {
    return number == 0 && strstr(key->syntax, "|none") != NULL ? JALLOC_NONE : number;
}

/* Stores a value where its key says. False where it is not understood. */
static bool compose_store(const jallocator_key_t *key, const ji_key_member_t *target,
                          const char *value, void *options) {
    char *member = (char *)options + target->offset;
    long long number;
    uint64_t meant;
    size_t size;
    int choice;

    switch (target->type) {
    case JI_KEY_SIZE:
        if (compose_read_word(key, value, &meant))
            size = (size_t)meant;
        else if (jconfig_parse_size(value, &size) != JSTATUS_SUCCESS)
            return false;
        *(size_t *)member = (size_t)compose_number(key, size);
        return true;
    case JI_KEY_COUNT:
    case JI_KEY_UINT64:
        if (!compose_read_word(key, value, &meant)) {
            if (!compose_read_integer(value, 0, INT64_MAX, &number))
                return false;
            meant = compose_number(key, (uint64_t)number);
        }
        if (target->type == JI_KEY_COUNT)
            *(size_t *)member = (size_t)meant;
        else
            *(uint64_t *)member = meant;
        return true;
    case JI_KEY_INT:
        if (!compose_read_integer(value, INT32_MIN, INT32_MAX, &number))
            return false;
        *(int *)member = (int)number;
        return true;
    case JI_KEY_BYTE:
        if (!compose_read_integer(value, 0, 255, &number))
            return false;
        *(unsigned char *)member = (unsigned char)number;
        return true;
    case JI_KEY_BOOL:
        choice = ji_config_choice("false|true|0|1|no|yes", value);
        if (choice < 0)
            return false;
        *(bool *)member = choice % 2 != 0;
        return true;
    case JI_KEY_CHOICE:
        choice = ji_config_choice(key->syntax, value);
        if (choice < 0)
            return false;
        choice += target->first;
        /* Enumerations are as large as int, here and in every ABI we run on. */
        memcpy(member, &choice, sizeof choice);
        return true;
    default: *(const char **)member = value; return true; /* JI_KEY_TEXT */
    }
}

/* What one stage asks for. Names in the options point into the text, which is cut up. */
typedef struct compose_stage {
    const ji_kind_t *kind;
    uint64_t given; /* bit i: the kind's i-th key; behind the last, the name */
    _Alignas(max_align_t) char options[JI_KIND_MAX_OPTIONS_BYTES];
} compose_stage_t;

/* One "key=value"; a key alone means true. */
static jstatus_t compose_read_argument(char *argument, compose_stage_t *stage) {
    static const jallocator_key_t name_key = {"name", "TEXT", "", "the allocator's name"};
    static const ji_key_member_t name_member = {JI_KEY_TEXT, offsetof(ji_common_options_t, name),
                                                0};
    const ji_kind_t *kind = stage->kind;
    char *value = strchr(argument, '=');
    if (value != NULL)
        *value++ = '\0';

    argument = compose_word(argument);
    value = value != NULL ? compose_word(value) : NULL;

    const jallocator_key_t *key = kind->public.keys;
    while (key->name != NULL && strcmp(argument, key->name) != 0)
        ++key;

    const size_t index = (size_t)(key - kind->public.keys);
    const ji_key_member_t *target = key->name != NULL ? &kind->members[index] : &name_member;
    if (key->name == NULL)
        key = &name_key;
    if (strcmp(argument, key->name) != 0)
        return compose_refuse_key(argument, kind);

    if ((stage->given >> index & 1) != 0)
        return ji_fail(JSTATUS_INVALID_CONFIGURATION, "%s has the key %s twice", kind->public.name,
                       key->name);
    stage->given |= (uint64_t)1 << index;

    if (value == NULL && target->type == JI_KEY_BOOL)
        value = (char *)(uintptr_t) "true";

    return value != NULL && compose_store(key, target, value, stage->options)
               ? JSTATUS_SUCCESS
               : compose_refuse_value(kind, key, value);
}

static const ji_kind_t *compose_find_kind(const char *name) {
    char device[JI_DEVICE_NAME_BYTES];
    int kind, index;
    if (ji_config_device_name(name, strlen(name), device, &kind, &index))
        return &ji_kind_device;

    const jallocator_kind_t *listed = NULL;
    for (size_t i = 0; (listed = jallocator_kind_at(i)) != NULL && strcmp(listed->name, name) != 0;
         ++i)
        ;

    return (const ji_kind_t *)listed; /* its first member */
}

/* Reads "kind" and "key=value,...". `has_below`: it is over another stage, or over an allocator
 * that was given. */
static jstatus_t compose_read_stage(char *text, bool has_below, compose_stage_t *stage) {
    char *arguments = strchr(text, '(');
    if (arguments != NULL) {
        *arguments++ = '\0';
        char *end = strchr(arguments, ')');
        if (end == NULL || *compose_skip_blanks(end + 1) != '\0')
            return compose_refuse(arguments, "must end with one ')'");
        *end = '\0';
    }

    text = compose_word(text);
    const ji_kind_t *kind = compose_find_kind(text);
    if (kind == NULL)
        return compose_refuse_kind(text);

    *stage = (compose_stage_t){.kind = kind};
    if (kind->options_bytes != 0)
        memcpy(stage->options, kind->defaults, kind->options_bytes);
    else
        ((ji_common_options_t *)stage->options)->struct_size = sizeof(ji_common_options_t);

    if (arguments != NULL && *compose_skip_blanks(arguments) == '\0')
        arguments = NULL; /* "kind()" */

    while (arguments != NULL) {
        char *next = strchr(arguments, ',');
        if (next != NULL)
            *next++ = '\0';
        JTRY_RETURN(compose_read_argument(arguments, stage));
        arguments = next;
    }

    if (has_below && kind->public.role == JALLOCATOR_PROVIDER)
        return compose_refuse(text, "is a provider and must come first");
    return JSTATUS_SUCCESS;
}

/* Makes it on *top; owns what is below but not `base`. */
static jstatus_t compose_make_stage(const compose_stage_t *stage, jdevice_t *device,
                                    const jallocator_t *base, jallocator_t **top) {
    jstatus_t status = JSTATUS_SUCCESS;
    if (stage->kind->public.role != JALLOCATOR_PROVIDER && *top == NULL)
        status = jallocator_create_device(device, JMEMORY_DEVICE, top);
    if (status != JSTATUS_SUCCESS)
        return status;

    jallocator_t *made;
    status = ji_kind_make(stage->kind, device, *top, stage->options, &made);
    if (status != JSTATUS_SUCCESS)
        return status;

    for (jallocator_t *level = made; level->below != NULL && level->below != base;
         level = level->below)
        level->owns_below = true; /* a stage may be several objects */

    *top = made;
    return JSTATUS_SUCCESS;
}

/* The next '+' that is not inside parentheses; NULL where there is none. */
static char *compose_find_plus(char *text) {
    for (int depth = 0; *text != '\0'; ++text) {
        depth += (*text == '(') - (*text == ')');
        if (*text == '+' && depth == 0)
            return text;
    }
    return NULL;
}

/* Without `allocator` the text is read, and nothing is made. */
static jstatus_t compose(jdevice_t *device, jallocator_t *base, const char *composition,
                         jallocator_t **allocator) {
    size_t length = strnlen(composition, COMPOSE_MAX_TEXT + 1);
    if (length > COMPOSE_MAX_TEXT)
        return ji_fail(JSTATUS_INVALID_CONFIGURATION, "it has more than %d characters",
                       COMPOSE_MAX_TEXT);

    char copy[COMPOSE_MAX_TEXT + 1];
    memcpy(copy, composition, length + 1);

    jallocator_t *top = base;
    for (char *text = copy; text != NULL;) {
        char *next = compose_find_plus(text);
        if (next != NULL)
            *next++ = '\0';

        compose_stage_t stage;
        jstatus_t status = compose_read_stage(text, base != NULL || text != copy, &stage);
        if (status == JSTATUS_SUCCESS && allocator != NULL)
            status = compose_make_stage(&stage, device, base, &top);

        if (status != JSTATUS_SUCCESS) {
            if (top != base)
                (void)jallocator_destroy(top);
            return status;
        }

        text = next;
    }

    if (allocator != NULL)
        *allocator = top;
    return JSTATUS_SUCCESS;
}

bool ji_compose_get_device(const char *composition, size_t length,
                           char device[JI_DEVICE_NAME_BYTES]) {
    int kind, index;
    size_t begin = 0, end = 0;

    while (begin < length && composition[begin] == ' ')
        ++begin;
    for (end = begin; end < length && strchr("(+ ", composition[end]) == NULL;)
        ++end;

    return ji_config_device_name(composition + begin, end - begin, device, &kind, &index);
}

bool ji_compose_begins_with_provider(const char *composition) {
    char word[COMPOSE_MAX_TEXT + 1];
    composition += strspn(composition, " ");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(composition, " (+"), composition);
    return compose_find_kind(word)->public.role == JALLOCATOR_PROVIDER;
}

jstatus_t ji_compose_check(const char *composition) {
    return compose(NULL, NULL, composition, NULL);
}

/* Reads it all, and then makes it. */
static jstatus_t compose_checked(jdevice_t *device, jallocator_t *base, const char *composition,
                                 jallocator_t **allocator) {
    jstatus_t status = compose(NULL, base, composition, NULL);
    if (status != JSTATUS_SUCCESS)
        return ji_fail(status, "composition \"%.100s\": %s", composition, jstatus_last_message());

    char name[JI_DEVICE_NAME_BYTES];
    if (base == NULL && ji_compose_get_device(composition, strlen(composition), name)) {
        if (device == NULL)
            status = jdevice_get(name, &device);
        else if (strcmp(name, jdevice_name(device)) != 0)
            status = ji_fail(JSTATUS_INVALID_CONFIGURATION,
                             "composition \"%.100s\": made for %s, it begins with %s", composition,
                             jdevice_name(device), name);
        if (status != JSTATUS_SUCCESS)
            return status;
    }

    return compose(device != NULL ? device : jdevice_host(), base, composition, allocator);
}

jstatus_t jallocator_compose(jdevice_t *device, const char *composition, jallocator_t **allocator) {
    JREQUIRE(composition != NULL && allocator != NULL, JSTATUS_INVALID_POINTER);

    char own[JI_PROCESS_MAX_TEXT + 1];
    if (ji_process_is_by_device(composition)) {
        if (device == NULL)
            device = jdevice_host();
        JTRY_RETURN(ji_process_choose(device, composition, own));
        composition = own;
    }

    return compose_checked(device, NULL, composition, allocator);
}

jstatus_t jallocator_compose_over(jallocator_t *below, const char *composition,
                                  jallocator_t **allocator) {
    JREQUIRE(below != NULL && composition != NULL && allocator != NULL, JSTATUS_INVALID_POINTER);
    return compose_checked(below->device, below, composition, allocator);
}
