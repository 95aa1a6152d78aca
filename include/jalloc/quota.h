/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_QUOTA_H
#define JALLOC_QUOTA_H

/** @file
 * One budget for many. A quota is a number of bytes; each share of it is an allocator, which a
 * handle, a library, or a policy takes its memory from. A share has a part guaranteed to it alone
 * and may have, up to its maximum, what nobody is guaranteed:
 *
 *     limit  |<-- guaranteed to A -->|<- to B ->|<-------- whoever comes first -------->|
 *
 * What is guaranteed can always be had, whatever the others do; the sum of the guarantees is at
 * most the limit; the bytes live through all shares never exceed the limit; both but where the
 * limit was lowered below what is live (jquota_set_limit()). A handle that is refused takes a lower
 * rung: the budget bends, it does not break. All functions are safe from any thread. */

#include "jalloc/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jquota jquota_t; /**< a budget */

/** Makes a budget. @return success; invalid pointer; invalid size (0); memory error. */
JALLOC_API jstatus_t jquota_create(size_t limit_bytes, jquota_t **quota);
/** Destroys a budget without shares. NULL is ignored. @return success; busy (shares are there). */
JALLOC_API jstatus_t jquota_destroy(jquota_t *quota);
/** Changes the limit. What is live above a lower limit stays; nothing more is given until it has
 * shrunk.
 * @return success; invalid pointer; invalid size (less than the guarantees). */
JALLOC_API jstatus_t jquota_set_limit(jquota_t *quota, size_t limit_bytes);

/** A budget's state. */
typedef struct jquota_stats_t {
    size_t struct_size;
    size_t limit_bytes, guaranteed_bytes;
    size_t in_use_bytes;      /**< live through all shares */
    size_t peak_in_use_bytes; /**< largest since creation */
    size_t share_count;
    uint64_t refusal_count; /**< requests that did not fit */
} jquota_stats_t;
#define JQUOTA_STATS_INIT                                                                          \
    { sizeof(jquota_stats_t), 0, 0, 0, 0, 0, 0 }
/** @return success; invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jquota_get_stats(const jquota_t *quota, jquota_stats_t *stats);

/** Options of jallocator_create_quota(). */
typedef struct jquota_share_options_t {
    size_t struct_size;
    const char *name;        /**< NULL: "quota" */
    size_t guaranteed_bytes; /**< can always be had */
    /** most this share may have live; 0: unlimited but by the quota; or none */
    size_t maximum_bytes;
} jquota_share_options_t;
#define JQUOTA_SHARE_OPTIONS_INIT                                                                  \
    { sizeof(jquota_share_options_t), NULL, 0, 0 }

/** A share: an adaptor over `below` that counts against the quota. The quota lives at least as
 * long. In a composition, quota(budget=NAME,limit=SIZE) is a share of the process's budget of that
 * name, made by whoever names it first.
 * @return success; invalid pointer; invalid value (the guarantee is above the maximum, or not to be
 *         had any more; the message says what is left); memory error; io error and invalid
 *         configuration (JALLOC_RECORD,
 *         JALLOC_LEAK_REPORT). */
JALLOC_API jstatus_t jallocator_create_quota(jallocator_t *below, jquota_t *quota,
                                             const jquota_share_options_t *options,
                                             jallocator_t **allocator);

#ifdef __cplusplus
}
#endif
#endif
