/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_SIZED_H
#define JALLOC_CORE_SIZED_H

/* Public structs whose first member is their size, so that a program and a library of different
 * versions understand each other. One rule holds for all of them, those that a caller fills in and
 * those that the library does:
 *
 *   smaller than here   an older caller's: what it lacks has its default; of a result only what
 *                       fits is written
 *   larger than here    a newer caller's: it is taken if all that is not known here is zero, and
 *                       refused by name if not
 *   below the minimum   refused: nobody set the size. `least` is the last member that no caller can
 *                       be without
 *
 * A member is only ever added at the end, and makes the struct larger: what was padding holds
 * anything. */

#include "core/core.h"

#define JI_SIZED_MAX_BYTES 4096 /* of any: several times what the largest has */

/* The size of a struct up to the end of one of its members. */
#define JI_SIZE_THROUGH(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Puts what a caller gives over the defaults that `options` holds; its struct_size stays. user
 * NULL: the defaults. success; invalid value. */
#define JI_TAKE_OPTIONS(type, options, user, least)                                                \
    ji_options_take(options, sizeof(type), user, JI_SIZE_THROUGH(type, least), #type)
JI_SHARED jstatus_t ji_options_take(void *options, size_t size_bytes, const void *user,
                                    size_t minimum_bytes, const char *type);

/* Whether the struct that a caller wants filled in can be; before anything else is done. success;
 * invalid value. */
#define JI_CHECK_SIZED(type, user, least)                                                          \
    ji_sized_check(user, sizeof(type), JI_SIZE_THROUGH(type, least), #type)
JI_SHARED jstatus_t ji_sized_check(const void *user, size_t size_bytes, size_t minimum_bytes,
                                   const char *type);

/* Writes as much of a result as fits the caller's struct, which was checked, and not its
 * struct_size. */
#define JI_GIVE_RESULT(user, result) ji_result_give(user, result, sizeof *(result))
JI_SHARED void ji_result_give(void *user, const void *result, size_t size_bytes);

#endif
