/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The list of objects that carry their links. */

#include "core/list.h"
#include "jtest.h"

#include <string.h>

enum { ITEMS = 40 };

typedef struct item {
    int value;
    ji_link_t link, other;
} item_t;

/* What `list` has, from either end, is `expected`. */
static void expect_items(const ji_list_t *list, const item_t *const *expected, size_t count) {
    JEXPECT_EQ(ji_list_is_empty(list), count == 0);
    JEXPECT_EQ(JI_LIST_FIRST(list, item_t, link), count != 0 ? expected[0] : NULL);
    JEXPECT_EQ(JI_LIST_LAST(list, item_t, link), count != 0 ? expected[count - 1] : NULL);
    size_t seen = 0;
    JI_LIST_EACH(list, const item_t, item, link) {
        JASSERT_LT(seen, count);
        JEXPECT_EQ(item, expected[seen]);
        JEXPECT_EQ(item->link.previous, seen != 0 ? &expected[seen - 1]->link : &list->ring);
        ++seen;
    }
    JEXPECT_EQ(seen, count);
}

/* Items that come to either end and go from anywhere, against an array of pointers. */
JTEST(List, AgreesWithAnArray) {
    static item_t items[ITEMS];
    static bool in[ITEMS];
    memset(in, 0, sizeof in);
    const item_t *model[ITEMS] = {NULL};
    size_t count = 0;
    ji_list_t list;
    ji_list_init(&list);
    expect_items(&list, model, 0);
    for (int64_t i = jtest_iterations(5000); i > 0 && !jtest_has_failure(); --i) {
        const size_t place = (size_t)jtest_random_between(0, ITEMS - 1);
        item_t *item = &items[place];
        if (in[place]) {
            size_t at = 0;
            while (model[at] != item)
                ++at;
            memmove(&model[at], &model[at + 1], (--count - at) * sizeof model[0]);
            ji_list_remove(&item->link);
        } else if (jtest_random_between(0, 1) == 0) {
            memmove(&model[1], &model[0], count++ * sizeof model[0]);
            model[0] = item;
            ji_list_push_front(&list, &item->link);
        } else {
            model[count++] = item;
            ji_list_push_back(&list, &item->link);
        }
        in[place] = !in[place];
        expect_items(&list, model, count);
    }
}

JTEST(List, ALoopMayRemoveWhatItIsAtAndPutNewOnesInFront) {
    item_t items[6], added[3];
    ji_list_t list;
    ji_list_init(&list);
    for (int i = 0; i < 6; ++i) {
        items[i].value = i;
        ji_list_push_back(&list, &items[i].link);
    }
    int seen = 0, next = 0;
    JI_LIST_EACH(&list, item_t, item, link) {
        JEXPECT_EQ(item->value, seen++);
        if (item->value % 2 != 0)
            continue;
        ji_list_remove(&item->link);
        item->link.next = item->link.previous = NULL; /* it may be freed */
        ji_list_push_front(&list, &added[next++].link);
    }
    JEXPECT_EQ(seen, 6);
    expect_items(
        &list, (const item_t *[]){&added[2], &added[1], &added[0], &items[1], &items[3], &items[5]},
        6);
}

JTEST(List, AnObjectIsInAsManyListsAsItHasLinks) {
    static ji_list_t first = JI_LIST_EMPTY(first);
    ji_list_t second;
    item_t item;
    ji_list_init(&second);
    ji_list_push_front(&first, &item.link);
    ji_list_push_front(&second, &item.other);
    JEXPECT_EQ(JI_LIST_FIRST(&second, item_t, other), &item);
    JEXPECT_NULL(JI_LIST_NEXT(&second, &item, item_t, other));
    ji_list_remove(&item.link);
    JEXPECT_TRUE(ji_list_is_empty(&first));
    JEXPECT_FALSE(ji_list_is_empty(&second));
    ji_link_init(&item.link);
    ji_list_remove(&item.link); /* it is in none */
    JEXPECT_TRUE(ji_list_is_empty(&first));
}
