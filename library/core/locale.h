/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_LOCALE_H
#define JALLOC_CORE_LOCALE_H

/* Numbers with fractions, in what programs read: logs that are replayed, JSON, profiles. printf()
 * and strtod() write and read them as the program's locale says, "0,5" in German; between enter
 * and leave the thread has C's. The program's own functions are not to be called in between. No
 * memory is taken: C's locale is always there. */

#include <locale.h>

static inline locale_t ji_locale_enter(void) {
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void ji_locale_leave(locale_t before) {
    const locale_t c = uselocale(before);
    if (c != before)
        freelocale(c);
}

#endif
