/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_REQUIREMENT_H
#define JALLOC_REQUIREMENT_H

/** @file
 * What calls need: at least, at best, and what the bytes between buy.
 *
 * A size query answers one number, the best for the hungriest call. A requirement is the whole
 * answer, a staircase of bytes and predicted time:
 *
 *     time |====
 *          |    ==========
 *          |              =====                 at minimal every call runs on some rung; with a
 *          |                   ==============   granule less the call that the step names fails
 *          +----|---------|----|------------>   at optimal every call runs on rung 0
 *            minimal                optimal     bytes
 *
 * @code
 * jhandle_start_requirement_query(handle);
 * jlapack_dgetrf(handle, n, n, NULL, n, NULL, NULL); // as in any size query
 * jlapack_dgeqrf(handle, n, 100, NULL, n, NULL);
 * jhandle_stop_requirement_query(handle, &requirement);
 * @endcode
 *
 * Requirements add up: of calls in order, which use the same bytes one after the other; of handles
 * at work at once, which have bytes of their own; of repetitions; of a borrow held around others.
 * They are made, and do not change. Bytes are those of fixed modes and of what default mode grows
 * to; they are multiples of the granule. Times are the profile's that is in force when a call is
 * asked (profile.h).
 *
 * A requirement may be used by several threads at once. */

#include "jalloc/borrow.h"
#include "jalloc/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jrequirement jrequirement_t; /**< what calls need */

#define JREQUIREMENT_CALL_BYTES 96 /**< of a call's text, its zero byte included */

/** A requirement in numbers. Calls are named as in "jblas_dtrsm m=512 n=64"; an empty text is none,
 * where no call needs anything. */
typedef struct jrequirement_info_t {
    size_t struct_size;
    size_t minimal_bytes; /**< least with which all calls run */
    size_t optimal_bytes; /**< with which all calls run on rung 0, as a size query has it */
    /** host workspace beside that, in each case; handle.h */
    size_t host_bytes;
    uint64_t call_count;                        /**< repetitions among them */
    size_t step_count;                          /**< steps of the staircase; at least 1 */
    char minimal_call[JREQUIREMENT_CALL_BYTES]; /**< fails first with less than minimal_bytes */
    char optimal_call[JREQUIREMENT_CALL_BYTES]; /**< the last that gets its rung 0 */
} jrequirement_info_t;
#define JREQUIREMENT_INFO_INIT                                                                     \
    {                                                                                              \
        sizeof(jrequirement_info_t), 0, 0, 0, 0, 0, {0}, { 0 }                                     \
    }

/** One step: from size_bytes on, up to the next step, the calls take `seconds` together. */
typedef struct jrequirement_step_t {
    size_t struct_size;
    size_t size_bytes;
    double seconds;          /**< predicted, of all calls one after the other */
    uint64_t degraded_count; /**< calls that answer perf degraded */
    /** the call that gets a better rung here, of several the one that gains most; on the first step
     * the call that needs as much as that */
    char call[JREQUIREMENT_CALL_BYTES];
    const char *rung; /**< its rung here; static text, or the plan's */
} jrequirement_step_t;
#define JREQUIREMENT_STEP_INIT                                                                     \
    { sizeof(jrequirement_step_t), 0, 0, 0, {0}, NULL }

/** @name Making requirements
 * Each gives a new one, which jrequirement_destroy() ends; parts stay the caller's and are not
 * needed any more.
 * @{ */

/** Of one call with this handle, by its plan. Rungs that the handle's result policy does not allow
 * do not count.
 * @return success; invalid handle; invalid pointer; invalid value (the plan is not sound); invalid
 * size (no rung has a size that memory has); memory error. */
JALLOC_API jstatus_t jrequirement_create_call(const jhandle_t *handle, const jplan_t *plan,
                                              jrequirement_t **requirement);

/** Of a borrow of buffers, as JALLOC_BORROW() takes them, held around what is done meanwhile;
 * `meanwhile` NULL: no calls. `routine` is static text.
 * @return success; invalid handle; invalid pointer; invalid value (too many buffers); invalid size
 * (overflow); memory error. */
JALLOC_API jstatus_t jrequirement_create_borrow(const jhandle_t *handle, const char *routine,
                                                size_t count, const size_t *size_bytes,
                                                const jrequirement_t *meanwhile,
                                                jrequirement_t **requirement);

/** Of parts one after the other, which use the same bytes: the maximum.
 * @return success (also of no parts: of no bytes); invalid pointer; invalid size (more calls than
 * 64 bits count, or parts than memory can hold); memory error. */
JALLOC_API jstatus_t jrequirement_create_in_order(size_t count, const jrequirement_t *const *parts,
                                                  jrequirement_t **requirement);

/** Of parts at once, on handles or streams of their own: the sum. A step is the best division of
 * its bytes among the parts, but for the last, on which all calls have rung 0. Of a part with more
 * than 2048 steps, some that lie close together are left out: a step's time may then be above the
 * least that its bytes allow, by a two-thousandth of the height of each such part.
 * @return success; invalid pointer; invalid size (the sum overflows, of bytes or of calls); memory
 * error. */
JALLOC_API jstatus_t jrequirement_create_at_once(size_t count, const jrequirement_t *const *parts,
                                                 jrequirement_t **requirement);

/** Of a part so many times, one after the other: the bytes of one, the time of all.
 * @return success; invalid pointer; invalid value (no times); invalid size (more calls than 64 bits
 * count); memory error. */
JALLOC_API jstatus_t jrequirement_create_repeated(const jrequirement_t *part, uint64_t times,
                                                  jrequirement_t **requirement);

/** Ends a requirement. NULL is ignored. @return success. */
JALLOC_API jstatus_t jrequirement_destroy(jrequirement_t *requirement);

/** @} @name Reading them
 * @{ */

/** @return success; invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jrequirement_get_info(const jrequirement_t *requirement,
                                           jrequirement_info_t *info);
/** The index-th step, fewest bytes first.
 * @return success; invalid pointer; invalid value (no such step, struct_size). */
JALLOC_API jstatus_t jrequirement_get_step(const jrequirement_t *requirement, size_t index,
                                           jrequirement_step_t *step);
/** The step that so many bytes are on.
 * @return success; memory error (below minimal_bytes: the message names the call and the bytes
 * missing); invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jrequirement_get_step_at(const jrequirement_t *requirement, size_t size_bytes,
                                              jrequirement_step_t *step);

/** @} @name From a handle
 * @{ */

/** Starts a size query that keeps each call's ways beside the maximum. All that holds in a size
 * query holds; it ends by jhandle_stop_requirement_query(), or by jhandle_stop_size_query(), which
 * gives the bytes alone.
 * @return as jhandle_start_size_query(); memory error. */
JALLOC_API jstatus_t jhandle_start_requirement_query(jhandle_t *handle);
/** Stops, and gives the requirement of the calls, in order.
 * @return success; size query mismatch (no such query is under way); invalid pointer (the query
 * goes on); memory error (now, or when one of the calls was kept: the query has ended); invalid
 * handle; busy; forked. */
JALLOC_API jstatus_t jhandle_stop_requirement_query(jhandle_t *handle,
                                                    jrequirement_t **requirement);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
