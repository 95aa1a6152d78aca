/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "random_composition.h"

#include "jtest.h"

#include <stdio.h>
#include <string.h>

enum { MOST_STAGES = 4, MOST_WORDS = 8 };

/* ---- Values ---- */

/* Keys that need a value, or may have some values only: 'a|b|c', each as likely; an empty one:
 * not given. */
typedef struct rule {
    const char *kind, *key, *values;
} rule_t;
static const rule_t rules[] = {
    {"segment", "backend", "private|memfd"},
    {"segment", "path", ""},
    {"segment", "size", "4M|16M"},
    {"segment", "max", "none|64M|"},
    {"numa", "node", ""}, /* another machine has others */
    {"huge", "page", ""},
    {"slots", "slot", "4K|64K|256K"}, /* a smaller one is too small for most */
    {"small", "largest", "1K|32K|1M|"},
    {"bfc", "growth", "none|25|100|"},
    {"record", "file", "/dev/null"},
    {"guard", "bytes", "16|64|4K|"},      /* each is written and read */
    {"align", "alignment", "16|1K|64K|"}, /* as long as that is what is lost */
    {"limit", "limit", "64K|1M|1G"},
    {"retry", "timeout", "none|none|1"}, /* nobody frees meanwhile */
    {"quota", "budget", "storm"},
    {"quota", "limit", "32M"}, /* the same for all shares */
};

/* Of the types in a key's syntax. */
static const rule_t types[] = {
    {NULL, "SIZE", "4K|64K|1M|16M"},
    {NULL, "COUNT", "1|3|16|100"},
    {NULL, "BOOL", "true|false"},
    {NULL, "0..255", "0|170|255"},
    {NULL, "TEXT", ""},
};

static const char *values_of(const char *kind, const char *key) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i)
        if (strcmp(rules[i].kind, kind) == 0 && strcmp(rules[i].key, key) == 0)
            return rules[i].values;
    return NULL;
}

/* One of the words between bars. */
static void draw_word(const char *words, char *word, size_t bytes) {
    size_t begins[MOST_WORDS] = {0}, count = 1;
    for (size_t i = 0; words[i] != '\0'; ++i)
        if (words[i] == '|' && count < MOST_WORDS)
            begins[count++] = i + 1;
    const char *begin = words + begins[jtest_random_between(0, (int64_t)count - 1)];
    snprintf(word, bytes, "%.*s", (int)strcspn(begin, "|"), begin);
}

/* "" where the key is not given. */
static void draw_value(const char *kind, const jallocator_key_t *key, char *value, size_t bytes) {
    const char *values = values_of(kind, key->name);
    value[0] = '\0';
    if (values != NULL) {
        draw_word(values, value, bytes);
        return;
    }
    if (jtest_random_bool())
        return;
    char word[32];
    draw_word(key->syntax, word, sizeof word);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
        if (strcmp(word, types[i].key) == 0) {
            draw_word(types[i].values, value, bytes);
            return;
        }
    snprintf(value, bytes, "%s", word);
}

/* ---- Stages ---- */

static const jallocator_kind_t *draw_kind(bool provider) {
    for (;;) {
        size_t count = 0;
        while (jallocator_kind_at(count) != NULL)
            ++count;
        const jallocator_kind_t *kind =
            jallocator_kind_at((size_t)jtest_random_between(0, (int64_t)count - 1));
        if ((kind->role == JALLOCATOR_PROVIDER) == provider && strcmp(kind->name, "null") != 0)
            return kind;
    }
}

static bool keeps_nothing(const char *stage) {
    return strstr(stage, "count=none") != NULL || strstr(stage, "bytes=none") != NULL ||
           strstr(stage, "layouts=none") != NULL;
}

static void add_stage(random_composition_t *composition, const jallocator_kind_t *kind) {
    char *text = composition->text;
    const size_t begin = strlen(text), bytes = sizeof composition->text;
    char value[32];
    size_t at = begin + (size_t)snprintf(text + begin, bytes - begin, "%s%s", begin != 0 ? "+" : "",
                                         kind->name);
    const char *separator = "(";
    for (const jallocator_key_t *key = kind->keys; key->name != NULL; ++key) {
        draw_value(kind->name, key, value, sizeof value);
        if (value[0] == '\0')
            continue;
        at += (size_t)snprintf(text + at, bytes - at, "%s%s=%s", separator, key->name, value);
        separator = ",";
    }
    if (separator[0] == ',')
        snprintf(text + at, bytes - at, ")");

    const char *stage = text + begin;
    composition->may_refuse |= strstr(stage, "limit") != NULL || strstr(stage, "slots") != NULL ||
                               strstr(stage, "segment") != NULL || strstr(stage, "bind") != NULL ||
                               strstr(stage, "require") != NULL;
    composition->refuses_shapes |= strcmp(kind->name, "slots") == 0;
    /* Large blocks pass by "small"; where nothing is kept, memory goes back at once. */
    composition->orders_streams |= kind->role == JALLOCATOR_POLICY &&
                                   strcmp(kind->name, "small") != 0 && !keeps_nothing(stage);
}

void random_composition(random_composition_t *composition, bool with_provider) {
    *composition = (random_composition_t){.has_provider = with_provider};
    if (with_provider)
        add_stage(composition, draw_kind(true));
    const int64_t stages = jtest_random_between(with_provider ? 0 : 1, MOST_STAGES);
    for (int64_t i = 0; i < stages; ++i)
        add_stage(composition, draw_kind(false));
}
