/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LOG_H
#define JALLOC_LOG_H

/** @file
 * The log. Messages go to one sink: stderr, the file named by JALLOC_LOG_PATH, or the caller's
 * function. A message that repeats (from the same call site) more than JLOG_BURST times within a
 * second is counted instead of printed, and the count is printed when the next second's first one
 * comes.
 *
 * Any thread may call these, while others log. When jlog_set_sink() returns, the sink before runs
 * no more and is not called again. */

#include <stddef.h>

#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How important a message is. A level lets through itself and what is more important. */
typedef enum jlog_level_t {
    JLOG_OFF = 0,     /**< no message */
    JLOG_ERROR = 1,   /**< something was refused or failed */
    JLOG_WARNING = 2, /**< misuse that was survived; the default */
    JLOG_INFO = 3,    /**< growth, mode changes */
    JLOG_DEBUG = 4    /**< everything */
} jlog_level_t;

/** Layers of call logging, the bits of JALLOC_LAYER. A handle reads them when it is created. */
#define JLOG_LAYER_TRACE 1u   /**< one line per call with all arguments, pointers included */
#define JLOG_LAYER_BENCH 2u   /**< one line per call that jblas-bench runs again */
#define JLOG_LAYER_PROFILE 4u /**< calls, time and rungs per routine and shape, printed at exit */

/** How often one call site may print within a second. */
#define JLOG_BURST 5

/** Receives finished lines without a newline; layer lines come with JLOG_INFO. May be called from
 * several threads, one at a time. Must not call jalloc, nor fork. */
typedef void (*jlog_sink_t)(void *context, jlog_level_t level, const char *line);

/** Sends all messages and layer lines to `sink`; NULL restores stderr or JALLOC_LOG_PATH, which is
 * read again. What was counted instead of printed is told to the sink before; counts begin anew.
 * @return success. */
JALLOC_API jstatus_t jlog_set_sink(jlog_sink_t sink, void *context);

/** Sets the level, in place of JALLOC_LOG_LEVEL. @return success; invalid value. */
JALLOC_API jstatus_t jlog_set_level(jlog_level_t level);

/** The level in force. */
JALLOC_API jlog_level_t jlog_level(void);

/** Writes a formatted message if `level` is let through. `site` is the key of the rate limit: any
 * address that stands for the call site, or NULL for no limit. For authors of
 * routines. */
JALLOC_API void jlog_write(jlog_level_t level, const void *site, const char *format, ...)
    JALLOC_PRINTF(3, 4);

/** Writes one layer line, as it is, whatever the level. For authors of routines. */
JALLOC_API void jlog_write_line(const char *line);

/** Counts one call for the profile layer. `key` names routine and shape, as a bench line does; a
 * rung below 0 is none, and a time that is not above 0 (a NaN) is 0. For authors of routines.
 * @return success; invalid pointer; memory error (the call is not counted). */
JALLOC_API jstatus_t jlog_profile_add(const char *key, int rung, double microseconds);

/** Writes the profile's table through the sink, most time first, and empties it. Also done at
 * exit. */
JALLOC_API void jlog_profile_flush(void);

#ifdef __cplusplus
}
#endif
#endif
