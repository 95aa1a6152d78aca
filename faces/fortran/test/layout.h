/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_FORTRAN_TEST_LAYOUT_H
#define JALLOC_FORTRAN_TEST_LAYOUT_H

/** @file
 * What C says of its types, constants and functions: tables that generate.py makes of the headers,
 * in the order in which layout_test asks. */

#include <stddef.h>

struct jt_member {
    const char *name;
    size_t offset, bytes;
};
struct jt_struct {
    const char *name;
    size_t bytes;
    const void *initial; /**< as its INIT macro says; NULL: it has none */
    size_t count;
    const struct jt_member *members;
};
struct jt_constant {
    const char *name;
    long long value;
};
typedef void (*jt_function)(void);
struct jt_symbol {
    const char *name;
    jt_function function;
};

extern const struct jt_struct jt_structs[];
extern const struct jt_constant jt_constants[];
extern const struct jt_symbol jt_symbols[];

/* What layout_check.f90 calls. Each prints what is not as in C, and returns how much is not. */

/** Size, where the members are, and the bytes that they begin with. Padding is nobody's. */
int layout_struct(int index, const void *value, size_t bytes, const size_t *offsets);
int layout_constant(int index, long long value);
int layout_symbol(int index, jt_function function);

#endif
