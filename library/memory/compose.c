/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Stacks from text.
 *
 * The text is copied once and cut in place: names and values become strings of their own by a '\0' where a separator
 * stood. A stage's options start as the kind's defaults; each key is looked up in the kind's table, which says what
 * type the value has and where it goes. A stage that was made owns the one below, so that whatever fails later,
 * destroying the topmost is enough. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/provider.h"
#include "memory/memory.h"

#define COMPOSE_MAX_TEXT 1023

static jstatus_t compose_refuse(const char *text, const char *part, const char *why) {
    return ji_fail(JSTATUS_INVALID_CONFIGURATION, "composition \"%s\": \"%s\" %s", text, part, why);
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

static bool compose_read_integer(const char *text, long long least, long long most, long long *number) {
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *number >= least && *number <= most;
}

/* Stores a value where its key says. False where it is not understood. */
static bool compose_store(const jallocator_key_t *key, const ji_key_place_t *place, const char *value, void *options) {
    char *member = (char *)options + place->offset;
    long long number;
    int choice;
    switch (place->type) {
    case JI_KEY_SIZE: return jconfig_parse_size(value, (size_t *)member) == JSTATUS_SUCCESS;
    case JI_KEY_COUNT:
        if (strcmp(key->syntax, "COUNT|none") == 0 && strcmp(value, "none") == 0) {
            *(size_t *)member = SIZE_MAX;
            return true;
        }
        if (!compose_read_integer(value, 0, INT64_MAX, &number))
            return false;
        *(size_t *)member = (size_t)number;
        return true;
    case JI_KEY_UINT64:
        if (!compose_read_integer(value, 0, INT64_MAX, &number))
            return false;
        *(uint64_t *)member = (uint64_t)number;
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
        choice += place->first;
        memcpy(member, &choice, sizeof choice); /* enumerations are as large as int, here and in every ABI we run on */
        return true;
    case JI_KEY_TEXT: *(const char **)member = value; return true;
    }
    return false;
}

/* One "key=value"; a key alone means true. */
static jstatus_t compose_read_argument(const char *text, const ji_kind_t *kind, char *argument, void *options) {
    char *value = strchr(argument, '=');
    if (value != NULL)
        *value++ = '\0';
    argument = compose_word(argument);
    value = value != NULL ? compose_word(value) : NULL;
    if (strcmp(argument, "name") == 0 && value != NULL) {
        ((ji_common_options_t *)options)->name = value;
        return JSTATUS_SUCCESS;
    }
    for (size_t i = 0; kind->public.keys[i].name != NULL; ++i) {
        const jallocator_key_t *key = &kind->public.keys[i];
        if (strcmp(argument, key->name) != 0)
            continue;
        if (value == NULL && kind->places[i].type == JI_KEY_BOOL)
            value = (char *)(uintptr_t) "true";
        if (value != NULL && compose_store(key, &kind->places[i], value, options))
            return JSTATUS_SUCCESS;
        return ji_fail(JSTATUS_INVALID_CONFIGURATION, "composition \"%s\": %s(%s=%s): expected %s", text,
                       kind->public.name, key->name, value != NULL ? value : "", key->syntax);
    }
    return ji_fail(JSTATUS_INVALID_CONFIGURATION, "composition \"%s\": \"%s\" is no key of %s", text, argument,
                   kind->public.name);
}

/* What one stage asks for. Names in the options point into the text, which is cut up. */
typedef struct compose_stage {
    const ji_kind_t *kind;
    _Alignas(max_align_t) char options[JI_KIND_MAX_OPTIONS_BYTES];
} compose_stage_t;

/* Reads "kind" and "key=value,...". `stands`: on another stage, or what is given. */
static jstatus_t compose_read_stage(const char *text, char *stage, bool stands, compose_stage_t *out) {
    char *arguments = strchr(stage, '(');
    if (arguments != NULL) {
        *arguments++ = '\0';
        char *end = strchr(arguments, ')');
        if (end == NULL || *compose_skip_blanks(end + 1) != '\0')
            return compose_refuse(text, arguments, "must end with one ')'");
        *end = '\0';
    }
    stage = compose_word(stage);
    const jallocator_kind_t *listed = NULL;
    for (size_t i = 0; (listed = jallocator_kind_get(i)) != NULL && strcmp(listed->name, stage) != 0; ++i)
        ;
    if (listed == NULL)
        return compose_refuse(text, stage, "is no kind of allocator");
    const ji_kind_t *kind = (const ji_kind_t *)listed; /* its first member */

    *out = (compose_stage_t){.kind = kind};
    if (kind->options_bytes != 0)
        memcpy(out->options, kind->defaults, kind->options_bytes);
    else
        ((ji_common_options_t *)out->options)->struct_size = sizeof(ji_common_options_t);
    while (arguments != NULL && *compose_skip_blanks(arguments) != '\0') {
        char *next = strchr(arguments, ',');
        if (next != NULL)
            *next++ = '\0';
        jstatus_t status = compose_read_argument(text, kind, arguments, out->options);
        if (status != JSTATUS_SUCCESS)
            return status;
        arguments = next;
    }
    if (stands && kind->public.role == JALLOCATOR_PROVIDER)
        return compose_refuse(text, stage, "is a provider and must come first");
    return JSTATUS_SUCCESS;
}

/* Makes it on *top; owns what is below but not `base`. */
static jstatus_t compose_make_stage(const compose_stage_t *stage, jdevice_t *device, const jallocator_t *base,
                                    jallocator_t **top) {
    jstatus_t status = JSTATUS_SUCCESS;
    if (stage->kind->public.role != JALLOCATOR_PROVIDER && *top == NULL)
        status = jallocator_create_device(device, JMEMORY_DEVICE, top);
    if (status != JSTATUS_SUCCESS)
        return status;
    jallocator_t *made;
    status = ji_kind_make(stage->kind, device, *top, stage->options, &made);
    if (status != JSTATUS_SUCCESS)
        return status;
    for (jallocator_t *level = made; level->below != NULL && level->below != base; level = level->below)
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
static jstatus_t compose(jdevice_t *device, jallocator_t *base, const char *composition, jallocator_t **allocator) {
    size_t length = strnlen(composition, COMPOSE_MAX_TEXT + 1);
    if (length > COMPOSE_MAX_TEXT)
        return ji_fail(JSTATUS_INVALID_CONFIGURATION, "composition \"%.40s...\" has more than %d characters",
                       composition, COMPOSE_MAX_TEXT);
    char copy[COMPOSE_MAX_TEXT + 1];
    memcpy(copy, composition, length + 1);
    jallocator_t *top = base;
    for (char *text = copy; text != NULL;) {
        char *next = compose_find_plus(text);
        if (next != NULL)
            *next++ = '\0';
        compose_stage_t stage;
        jstatus_t status = compose_read_stage(composition, text, base != NULL || text != copy, &stage);
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

jstatus_t ji_compose_check(const char *composition) { return compose(NULL, NULL, composition, NULL); }

jstatus_t jallocator_compose(jdevice_t *device, const char *composition, jallocator_t **allocator) {
    JREQUIRE(composition != NULL && allocator != NULL, JSTATUS_INVALID_POINTER);
    if (device == NULL)
        device = jdevice_host();
    char own[JI_PROCESS_MAX_TEXT + 1];
    if (ji_process_is_by_device(composition)) {
        jstatus_t status = ji_process_choose(device, composition, own);
        if (status != JSTATUS_SUCCESS)
            return status;
        composition = own;
    }
    return compose(device, NULL, composition, allocator);
}

jstatus_t jallocator_compose_over(jallocator_t *below, const char *composition, jallocator_t **allocator) {
    JREQUIRE(below != NULL && composition != NULL && allocator != NULL, JSTATUS_INVALID_POINTER);
    return compose(below->device, below, composition, allocator);
}
