/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_TRY_H
#define JALLOC_CORE_TRY_H

/* How a function leaves early: the one set of macros for all folders. It is apart from core.h for
 * the GPU modules, which are C++ and link to nothing of libjalloc; of the macros they have those
 * that make no message. */

#include "jalloc/status.h"

#define JI_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define JI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Refuses an argument before anything is owned. */
#define JREQUIRE(condition, status_code)                                                           \
    do {                                                                                           \
        if (JI_UNLIKELY(!(condition)))                                                             \
            return ji_fail(status_code, "%s: requires %s", __func__, #condition);                  \
    } while (0)

/* The same of a pointer, by the name that it has for the caller. */
#define JREQUIRE_POINTER(pointer, name)                                                            \
    do {                                                                                           \
        if (JI_UNLIKELY((pointer) == NULL))                                                        \
            return ji_fail(JSTATUS_INVALID_POINTER, "%s: %s is NULL", __func__, name);             \
    } while (0)

/* The same of an enumerator or int, by the name that it has for the caller, not by an expression of
 * the source: "CALLER: NAME = VALUE: RULE". */
#define JREQUIRE_VALUE(condition, status_code, caller, name, value, rule)                          \
    do {                                                                                           \
        if (JI_UNLIKELY(!(condition)))                                                             \
            return ji_fail(status_code, "%s: %s = %d: %s", caller, name, (int)(value), rule);      \
    } while (0)

/* Returns the expression's status unless that is success: where nothing has to be given back. */
#define JTRY_RETURN(expression)                                                                    \
    do {                                                                                           \
        const jstatus_t status_ = (expression);                                                    \
        if (JI_UNLIKELY(status_ != JSTATUS_SUCCESS))                                               \
            return status_;                                                                        \
    } while (0)

/* Sets `status` and goes to `done` unless the expression succeeds. */
#define JTRY(expression)                                                                           \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (JI_UNLIKELY(status != JSTATUS_SUCCESS))                                                \
            goto done;                                                                             \
    } while (0)

/* For an assignment whose NULL means that there is no bookkeeping memory. The message names nobody:
 * most of these are functions that a caller does not know. */
#define JTRY_ALLOC(assignment)                                                                     \
    do {                                                                                           \
        if (JI_UNLIKELY((assignment) == NULL)) {                                                   \
            status = ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");                   \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

#endif
