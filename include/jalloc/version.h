/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_VERSION_H
#define JALLOC_VERSION_H

/** @file
 * The version, by semantic versioning. The build reads it from here. Any thread may ask. */

#include "jalloc/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The headers' version, by its parts. */
#define JALLOC_VERSION_MAJOR 0
#define JALLOC_VERSION_MINOR 1
#define JALLOC_VERSION_PATCH 0

/** major * 10000 + minor * 100 + patch of the headers. */
#define JALLOC_VERSION                                                                             \
    (JALLOC_VERSION_MAJOR * 10000 + JALLOC_VERSION_MINOR * 100 + JALLOC_VERSION_PATCH)

/** Whether the headers' version is this one or a later one: for the preprocessor. */
#define JALLOC_VERSION_AT_LEAST(major, minor, patch)                                               \
    (JALLOC_VERSION >= (major)*10000 + (minor)*100 + (patch))

/** The headers' version as text, such as "0.1.0". */
#define JALLOC_VERSION_STRING                                                                      \
    JALLOC_QUOTE_(JALLOC_VERSION_MAJOR)                                                            \
    "." JALLOC_QUOTE_(JALLOC_VERSION_MINOR) "." JALLOC_QUOTE_(JALLOC_VERSION_PATCH)
#define JALLOC_QUOTE_(macro)                                                                       \
    JALLOC_QUOTE_TEXT_(macro)          /**< internal: what a macro stands for, as text */
#define JALLOC_QUOTE_TEXT_(text) #text /**< internal */

/** JALLOC_VERSION of the library that was loaded. */
JALLOC_API int jalloc_version(void);

/** The loaded library's version as text, such as "0.1.0". Static. */
JALLOC_API const char *jalloc_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
