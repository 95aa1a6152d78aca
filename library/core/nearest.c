/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Of some names the one that a misspelt one was meant to be: for variables of the environment,
 * kinds and keys.
 *
 * The measure is the number of letters that were put in, left out, exchanged for another or for
 * their neighbour (optimal string alignment: Damerau 1964, in the restricted form that needs three
 * rows); case does not count. A name is close where that is at most a third of the letters, so that
 * "bfx" is near bfc and "abc" is not. Nor is it far to a name of which only the beginning was
 * written.
 *
 * No memory is taken, and nothing else of the library is called: libjalloc_record.so has this file,
 * too. */

#include <string.h>

#include "core/nearest.h"
#include "core/size.h"

#define NEAREST_MAX_LENGTH 47 /* letters of a name that count; ours are shorter */
#define NEAREST_MIN_BEGINNING 3

static bool nearest_same(char a, char b) { return ji_lower(a) == ji_lower(b); }

static unsigned nearest_min(unsigned a, unsigned b) { return a < b ? a : b; }

/* row[j] is the distance of the first i letters of `a` to the first j of `b`; before and earlier
 * are the rows i - 1 and i - 2. */
static unsigned nearest_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    unsigned rows[3][NEAREST_MAX_LENGTH + 1];
    unsigned *earlier = rows[0], *before = rows[1], *row = rows[2];
    for (unsigned j = 0; j <= b_length; j++)
        row[j] = j;

    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *oldest = earlier;
        earlier = before;
        before = row;
        row = oldest;
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            row[j] = before[j - 1] + !nearest_same(a[i - 1], b[j - 1]);
            row[j] = nearest_min(row[j], nearest_min(before[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && nearest_same(a[i - 1], b[j - 2]) &&
                nearest_same(a[i - 2], b[j - 1]))
                row[j] = nearest_min(row[j], earlier[j - 2] + 1);
        }
    }

    return row[b_length];
}

ji_nearest_t ji_nearest_begin(const char *text, size_t length) {
    size_t most = length < 3 ? length > 0 : length / 3;
    return (ji_nearest_t){.text = text, .length = length, .beyond = (unsigned)most + 1};
}

void ji_nearest_offer(ji_nearest_t *nearest, const char *name) {
    size_t length = strnlen(name, NEAREST_MAX_LENGTH);
    unsigned distance = nearest_distance(nearest->text, nearest->length, name, length);
    bool begins = nearest->length >= NEAREST_MIN_BEGINNING && length > nearest->length &&
                  nearest_distance(nearest->text, nearest->length, name, nearest->length) == 0;

    if (begins)
        distance = 1;
    if (distance < nearest->beyond) {
        nearest->beyond = distance;
        nearest->name = name;
    }
}
