/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The version this library was built from. A program compares it with the macros that it was compiled with. */

#include "jalloc/version.h"

#define VERSION_QUOTE_(number) #number
#define VERSION_QUOTE(number) VERSION_QUOTE_(number)

int jalloc_version(void) { return JALLOC_VERSION; }

const char *jalloc_version_string(void) {
    return VERSION_QUOTE(JALLOC_VERSION_MAJOR) "." VERSION_QUOTE(JALLOC_VERSION_MINOR) "." VERSION_QUOTE(
        JALLOC_VERSION_PATCH);
}
