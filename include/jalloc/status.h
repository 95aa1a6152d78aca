/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_STATUS_H
#define JALLOC_STATUS_H

/** @file
 * The status that functions return.
 *
 * One list, JSTATUS_LIST, makes the enum, the names and the sentences. Codes up to 11 are numbered
 * as rocBLAS numbers them; codes above 100 are jalloc's own. Three codes are answers rather than
 * errors: perf degraded (the result is right, a slower way was taken), size increased and size
 * unchanged (a size query was answered). jstatus_is_error() knows the difference; comparing with
 * JSTATUS_SUCCESS alone does not. */

#include <stdbool.h>

#include "jalloc/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** X(NAME, number, sentence), in the order of the numbers. */
#define JSTATUS_LIST(X)                                                                            \
    X(SUCCESS, 0, "success")                                                                       \
    X(INVALID_HANDLE, 1, "the handle is NULL, or not a live handle")                               \
    X(NOT_IMPLEMENTED, 2, "this device or build does not implement the function")                  \
    X(INVALID_POINTER, 3, "a pointer argument is NULL or misaligned")                              \
    X(INVALID_SIZE, 4, "a size argument is out of range, or sizes overflow")                       \
    X(MEMORY_ERROR, 5, "memory could not be allocated or is too small")                            \
    X(INTERNAL_ERROR, 6, "an internal error in jalloc")                                            \
    X(PERF_DEGRADED, 7, "done, by a slower algorithm because of too little workspace")             \
    X(SIZE_QUERY_MISMATCH, 8, "a size query was started or stopped out of turn")                   \
    X(SIZE_INCREASED, 9, "size query: the call needs more than any call before it")                \
    X(SIZE_UNCHANGED, 10, "size query: the call needs no more than a call before it")              \
    X(INVALID_VALUE, 11, "an argument is not one of the values allowed")                           \
    X(NO_DEVICE, 101, "there is no such device, or no module or driver for it")                    \
    X(DEVICE_ERROR, 102, "the device's runtime reported an error")                                 \
    X(BUSY, 103, "the object is in use: a live borrow, allocation, or another thread")             \
    X(CORRUPTED, 104, "memory that should not have changed has changed")                           \
    X(LEAKED, 105, "something borrowed or allocated was never given back")                         \
    X(EXISTS, 106, "an object of that name exists already")                                        \
    X(NOT_FOUND, 107, "no such object: never made, or already given back")                         \
    X(PERMISSION, 108, "the operating system denied access")                                       \
    X(OUT_OF_ORDER, 109, "borrows must end in the reverse order of their beginning")               \
    X(SEALED, 110, "the handle is sealed and the call would have had to grow its workspace")       \
    X(FORKED, 111, "the object was made before a fork; make a new one in the child")               \
    X(INVALID_CONFIGURATION, 112, "an environment variable could not be understood")               \
    X(IO_ERROR, 113, "a file could not be read or written")                                        \
    X(CAPTURING, 114, "the stream is being captured into a graph, which does not allow this")      \
    X(NOT_A_SEGMENT, 115, "the bytes are not a shared segment of jalloc")                          \
    X(INCOMPATIBLE, 116, "a segment or profile of another version or machine")                     \
    X(TRUNCATED, 117, "the memory is smaller than the segment in it says")                         \
    X(UNSAFE, 118, "others could write to the segment: its owner or mode is not safe")             \
    X(STALE, 119, "a segment from before the machine's last start")                                \
    X(NO_SLOT, 120, "as many processes are attached as the segment has room for")                  \
    X(READ_ONLY, 121, "the segment is attached for reading alone")

/** What a function did. */
typedef enum jstatus_t {
#define JSTATUS_ENUMERATOR_(name, number, text) JSTATUS_##name = number,
    JSTATUS_LIST(JSTATUS_ENUMERATOR_)
#undef JSTATUS_ENUMERATOR_
} jstatus_t;

/** The enumerator's spelling, such as "JSTATUS_MEMORY_ERROR"; "JSTATUS_UNKNOWN" for a number that
 * is none. Static. */
JALLOC_API const char *jstatus_name(jstatus_t status);

/** One sentence saying what the status means. Static, never NULL. */
JALLOC_API const char *jstatus_text(jstatus_t status);

/** False for success, perf degraded, size increased and size unchanged; true for everything
 * else. */
JALLOC_INLINE bool jstatus_is_error(jstatus_t status) {
    return status != JSTATUS_SUCCESS && status != JSTATUS_PERF_DEGRADED &&
           status != JSTATUS_SIZE_INCREASED && status != JSTATUS_SIZE_UNCHANGED;
}

/** The message of the last error that a jalloc function reported on this thread, with the values
 * that were wrong. Empty before the first. Valid until the thread's next error; perf degraded is
 * none, and leaves it as it is. Errors of a handle are also kept by the handle:
 * jhandle_last_message(). */
JALLOC_API const char *jstatus_last_message(void);

#ifdef __cplusplus
}
#endif
#endif
