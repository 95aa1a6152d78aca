/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROFILE_H
#define JALLOC_PROFILE_H

/** @file
 * A machine's profile: what turns prices of rungs (jprice_t) into seconds.
 *
 * jalloc-tune measures one and stores it where jprofile_default_path() says; the first prediction
 * of a process reads it there. Without one, or with one of another processor, of other kernels
 * (JALLOC_HOST_ISA) or of another version, predictions are those of a profile that comes with the
 * library: the order of rungs is right, the seconds are a typical machine's.
 *
 * A profile knows routines of jblas and jlapack by name, rung and threads, each by measurements of
 * several shapes, and single calls, such as those of a program's log (jalloc-tune --calls), which
 * it predicts as they were measured. What it does not know, a kernel of one's own among them, is
 * predicted by the price alone: flops by the machine's rate, bytes by its bandwidth and a time for
 * each launch, added up.
 *
 * All functions are safe from any thread; a prediction cannot fail. */

#include "jalloc/borrow.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is known of the profile in force. */
typedef struct jprofile_info_t {
    size_t struct_size;
    bool measured;           /**< it was read from a file; else it is the library's own */
    double flops_per_second; /**< of a thread, for what it has no measurements of */
    double bytes_per_second; /**< likewise */
    char path[512];          /**< of the file; empty: none */
    uint64_t entry_count;    /**< routines, rungs and numbers of threads that were measured */
    /** why a file that was to be read is not in force; empty: it is, or there was none */
    char refused[256];
    uint64_t call_count; /**< rungs of single calls that were measured themselves */
} jprofile_info_t;
#define JPROFILE_INFO_INIT                                                                         \
    { sizeof(jprofile_info_t), false, 0, 0, {0}, 0, {0}, 0 }

/** Where jalloc-tune stores a profile and where it is looked for, unless JALLOC_PROFILE names
 * another file: profile in the folder jalloc of XDG_CACHE_HOME, or of .cache in HOME. Writes at
 * most size_bytes characters, the zero byte among them.
 * @return success; not found (neither variable is set, or the program may do more than its user);
 * invalid size (too long); invalid pointer. */
JALLOC_API jstatus_t jprofile_default_path(char *path, size_t size_bytes);

/** Reads a profile, which is in force from then on; NULL: the library's own is. On failure the one
 * before stays.
 * @return success; not found (no such file); io error; invalid value (it is no profile, or damaged:
 * the message names the line); incompatible (of another processor, other kernels or another
 * version); memory error. */
JALLOC_API jstatus_t jprofile_load(const char *path);

/** @return success; invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jprofile_get_info(jprofile_info_t *info);

/** The name of this processor and which kernels JALLOC_HOST_ISA asks for, as in a profile. Static.
 */
JALLOC_API const char *jprofile_processor(void);

/** Seconds that a plan's rung is predicted to take with so many threads (of a GPU, 1).
 * @return seconds; NaN for a rung that is not there. */
JALLOC_API double jprofile_predict(const jplan_t *plan, uint32_t rung, int threads);

#ifdef __cplusplus
}
#endif
#endif
