/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_EXPORT_H
#define JALLOC_EXPORT_H

/** @file
 * Marks a public symbol. Everything without the mark is hidden. GCC and Clang are the supported compilers. */
#define JALLOC_API __attribute__((visibility("default")))

/** Checks a printf format string and its arguments at compile time. */
#define JALLOC_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))

#endif
