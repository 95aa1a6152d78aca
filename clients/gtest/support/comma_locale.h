/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_COMMA_LOCALE_H
#define JALLOC_CLIENTS_GTEST_COMMA_LOCALE_H

/* A locale whose numbers have a comma, as programs set that speak German. Where none is installed,
 * one is made, which takes two seconds. */

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define COMMA_LOCALE "de_DE.UTF-8"

/* False: there is none, and nothing changed. */
static inline bool comma_locale_begin(void) {
    if (setlocale(LC_ALL, COMMA_LOCALE) == NULL) {
        char folder[] = P_tmpdir "/jalloc-locale-XXXXXX", make[256];
        if (mkdtemp(folder) == NULL)
            return false;
        snprintf(make, sizeof make,
                 "localedef -c -i de_DE -f UTF-8 %s/" COMMA_LOCALE " >/dev/null 2>&1", folder);
        const bool made = system(make) == 0;
        setenv("LOCPATH", folder, 1);
        (void)(made && setlocale(LC_ALL, COMMA_LOCALE) != NULL);
        unsetenv("LOCPATH");
        snprintf(make, sizeof make, "rm -r %s", folder);
        (void)!system(make);
    }
    char number[8];
    snprintf(number, sizeof number, "%.1f", 0.5);
    if (number[1] == ',')
        return true;
    setlocale(LC_ALL, "C");
    return false;
}

static inline void comma_locale_end(void) { setlocale(LC_ALL, "C"); }

#endif
