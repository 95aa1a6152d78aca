/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_LIST_H
#define JALLOC_CORE_LIST_H

/* The doubly linked list of objects that carry their own links, so that entering one takes no
 * memory and cannot fail.
 *
 *     +--> list <--> first.link <--> second.link <--> last.link <--+
 *     +------------------------------------------------------------+
 *
 * The links make a ring that the list closes: inserting and removing have no branch, and removing
 * does not ask which list it is. An empty list points to itself, so it is initialised where it lies
 * and does not move. Not locked: whoever has one has a lock. */

#include <stdbool.h>
#include <stddef.h>

/* A member of the object, one for each list that it may be in at a time. */
typedef struct ji_link {
    struct ji_link *next, *previous;
} ji_link_t;

typedef struct ji_list {
    ji_link_t ring; /* the first is next, the last is previous */
} ji_list_t;

/* The initial value of `list`, a variable that lives as long as the process. */
#define JI_LIST_EMPTY(list)                                                                        \
    {                                                                                              \
        { &(list).ring, &(list).ring }                                                             \
    }

static inline void ji_list_init(ji_list_t *list) {
    list->ring.next = list->ring.previous = &list->ring;
}

static inline bool ji_list_is_empty(const ji_list_t *list) {
    return list->ring.next == &list->ring;
}

static inline void ji_list_push_front(ji_list_t *list, ji_link_t *link) {
    ji_link_t *next = list->ring.next;
    link->next = next;
    link->previous = &list->ring;
    next->previous = list->ring.next = link;
}
static inline void ji_list_push_back(ji_list_t *list, ji_link_t *link) {
    ji_link_t *previous = list->ring.previous;
    link->next = &list->ring;
    link->previous = previous;
    previous->next = list->ring.previous = link;
}

/* Takes an object out of the list that it is in. */
static inline void ji_list_remove(const ji_link_t *link) {
    ji_link_t *next = link->next, *previous = link->previous;
    next->previous = previous;
    previous->next = next;
}

/* A link that is in no list, and may be removed all the same. */
static inline void ji_link_init(ji_link_t *link) { link->next = link->previous = link; }

/* The object around a link of its. */
#define JI_LIST_OBJECT(pointer, type, link)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, link)))

/* The same; NULL where the link is the list's own. */
static inline void *ji_list_object_(const ji_list_t *list, ji_link_t *link, size_t offset) {
    return link != &list->ring ? (char *)link - offset : NULL;
}

/* The first and the last object of a list, and those beside one; NULL where there is none. `link`
 * is the member. */
#define JI_LIST_FIRST(list, type, link)                                                            \
    ((type *)ji_list_object_(list, (list)->ring.next, offsetof(type, link)))
#define JI_LIST_LAST(list, type, link)                                                             \
    ((type *)ji_list_object_(list, (list)->ring.previous, offsetof(type, link)))
#define JI_LIST_NEXT(list, object, type, link)                                                     \
    ((type *)ji_list_object_(list, (object)->link.next, offsetof(type, link)))

/* A loop over a list from the first object on, while a condition holds. Its body may remove
 * `object`, and put new ones in front. */
#define JI_LIST_WHILE(condition, list, type, object, link)                                         \
    for (type *object = JI_LIST_FIRST(list, type, link), *object##_next_ = NULL;                   \
         object != NULL && (condition) &&                                                          \
         (object##_next_ = JI_LIST_NEXT(list, object, type, link), true);                          \
         object = object##_next_)
#define JI_LIST_EACH(list, type, object, link) JI_LIST_WHILE(true, list, type, object, link)

#endif
