/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Names of routines, rungs and shapes, for Fortran: C keeps the pointer, for in C such names are
 * literals, and a text of Fortran's is gone after the call. Each is copied once and stays as long
 * as the process lives. Equal texts are one pointer. Tags, which are like this, are 1024 at most.
 *
 * Lists that only grow at their heads, so nobody waits and a fork finds them whole. */

#include <stdlib.h>
#include <string.h>

#include "jalloc/jalloc.h"

typedef struct kept {
    struct kept *next;
    char text[];
} kept_t;

enum { KEPT_LISTS = 256 };
static kept_t *kept_lists[KEPT_LISTS];

JALLOC_API const char *jalloc_fortran_keep(const char *text);

/* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static kept_t **kept_list(const char *text) {
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return &kept_lists[hash % KEPT_LISTS];
}

static const char *kept_find(const kept_t *from, const kept_t *to, const char *text) {
    for (; from != to; from = from->next)
        if (strcmp(from->text, text) == 0)
            return from->text;
    return NULL;
}

/* NULL: there is no memory. */
const char *jalloc_fortran_keep(const char *text) {
    kept_t **list = kept_list(text);
    kept_t *head = __atomic_load_n(list, __ATOMIC_ACQUIRE), *seen = NULL;
    const char *found = kept_find(head, seen, text);
    if (found != NULL)
        return found;

    const size_t bytes = strlen(text) + 1;
    kept_t *made = malloc(sizeof *made + bytes);
    if (made == NULL)
        return NULL;
    memcpy(made->text, text, bytes);
    do {
        /* Another thread may have been first: with what it added since. */
        found = kept_find(head, seen, text);
        if (found != NULL) {
            free(made);
            return found;
        }
        made->next = seen = head;
    } while (
        !__atomic_compare_exchange_n(list, &head, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return made->text;
}
