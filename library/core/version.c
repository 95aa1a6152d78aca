/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The version this library was built from. A program compares it with the macros that it was
 * compiled with. */

#include "jalloc/version.h"

int jalloc_version(void) { return JALLOC_VERSION; }

const char *jalloc_version_string(void) { return JALLOC_VERSION_STRING; }
