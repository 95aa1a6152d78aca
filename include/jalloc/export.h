/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_EXPORT_H
#define JALLOC_EXPORT_H

/** @file
 * Marks a public symbol. Everything without the mark is hidden. GCC and Clang are the supported
 * compilers. */
#define JALLOC_API __attribute__((visibility("default")))

#ifndef JALLOC_INLINE
/** Marks a function that C and C++ have inline. It is exported as well, made of the same text
 * (library/handle/inline.c), for whoever calls by name: Fortran, Julia, Python. */
#define JALLOC_INLINE static inline
#endif

/** Inline wherever it is called, and no function of its own: that of the name is the library's. */
#define JALLOC_INLINE_CALL_ extern inline __attribute__((gnu_inline, always_inline))

/** Checks a printf format string and its arguments at compile time. */
#define JALLOC_PRINTF(format_index, first_argument)                                                \
    __attribute__((format(printf, format_index, first_argument)))

#endif
