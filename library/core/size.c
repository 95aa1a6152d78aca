/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A number of bytes from text. No size goes through floating point: a fraction is cut to whole
 * bytes exactly, whatever the number of its digits. But what is not 0 does not become 0, which
 * means "none" or "no bound" to whoever asked: it is 1. Nothing else of the library is called:
 * libjalloc_record.so has this file, too. */

#include <string.h>

#include "core/core.h"
#include "core/size.h"

/* A unit: nothing or B, or one of KMGT, perhaps with B or iB. Gives the power of two. */
static bool size_read_unit(const char *text, size_t length, unsigned *shift) {
    static const char prefixes[] = "kmgt";
    *shift = 0;
    if (length == 0)
        return true;

    const char *prefix = memchr(prefixes, ji_lower(text[0]), sizeof prefixes - 1);
    if (prefix == NULL)
        return length == 1 && ji_lower(text[0]) == 'b';

    *shift = 10 * (unsigned)(prefix - prefixes + 1);
    if (length == 1)
        return true;
    if (length == 2)
        return ji_lower(text[1]) == 'b';
    return length == 3 && ji_lower(text[1]) == 'i' && ji_lower(text[2]) == 'b';
}

/* The syntax is judged before the magnitude. */
jstatus_t ji_size_read(const char *text, size_t length, size_t *size_bytes) {
    size_t whole_end = 0;
    while (whole_end < length && ji_is_digit(text[whole_end]))
        whole_end++;
    if (whole_end == 0)
        return JSTATUS_INVALID_CONFIGURATION;

    size_t end = whole_end;
    if (end < length && text[end] == '.') {
        end++;
        while (end < length && ji_is_digit(text[end]))
            end++;
        if (end == whole_end + 1)
            return JSTATUS_INVALID_CONFIGURATION;
    }

    unsigned shift;
    if (!size_read_unit(text + end, length - end, &shift))
        return JSTATUS_INVALID_CONFIGURATION;

    size_t whole = 0;
    for (size_t i = 0; i < whole_end; i++)
        if (!ji_size_mul(whole, 10, &whole) || !ji_size_add(whole, (size_t)(text[i] - '0'), &whole))
            return JSTATUS_INVALID_SIZE;
    if (!ji_size_mul(whole, (size_t)1 << shift, &whole))
        return JSTATUS_INVALID_SIZE;

    /* 0.d1 d2 ... times 2^shift, from the last digit to the first. Cutting at each step loses
     * nothing, because floor((n + x) / 10) = floor((n + floor(x)) / 10) for a whole number n. The
     * value stays below 10 * 2^40, and the result below 2^shift, of which `whole` is a multiple:
     * the sum cannot overflow. */
    uint64_t fraction = 0;
    for (size_t i = end; i > whole_end + 1; i--)
        fraction = (((uint64_t)(text[i - 1] - '0') << shift) + fraction) / 10;
    *size_bytes = whole + (size_t)fraction;

    for (size_t i = whole_end; i < end && *size_bytes == 0; i++)
        if (text[i] != '.' && text[i] != '0')
            *size_bytes = 1;
    return JSTATUS_SUCCESS;
}
