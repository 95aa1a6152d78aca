/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CONFIG_H
#define JALLOC_CONFIG_H

/** @file
 * The environment variables, one table. Each is read where it is used (docs/environment says when),
 * is parsed strictly and as a whole, and a value that is not understood is refused with a message
 * that quotes it; no handle is created while there is one. A name that begins with JALLOC_ and is
 * not in the table is told once, by a warning. A variable that is set but empty counts as not set.
 * Programs that run with more rights than their user read the defaults.
 *
 * Any thread may call these, as it may call getenv(): not while another changes the environment. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** X(number, NAME, default, syntax, meaning): every variable there is. docs/environment and
 * jalloc-info are made from it. A variable keeps its number, and new ones come last. */
#define JCONFIG_LIST(X)                                                                            \
    X(0, JALLOC_DEVICE_MEMORY_SIZE, "0", "SIZE[;DEVICE=SIZE]...",                                  \
      "workspace taken when a handle is created (preallocate mode); 0: default mode. Units: B, "   \
      "K/KiB/KB, M, G, T, "                                                                        \
      "powers of 1024")                                                                            \
    X(1, JALLOC_BUDGET, "0", "SIZE[;DEVICE=SIZE]...",                                              \
      "most workspace a handle in default mode may hold; 0: no bound. A call that wants more "     \
      "takes a lower rung")                                                                        \
    X(2, JALLOC_ALLOCATOR, "", "COMPOSITION[;DEVICE=COMPOSITION]...",                              \
      "what handles and the process's allocators are made of, such as \"bfc(limit=2GiB)+guard\"; " \
      "empty: the device's "                                                                       \
      "own memory for handles, \"general\" for the process")                                       \
    X(3, JALLOC_BUFFER, "", "[KIND][@DEVICE]",                                                     \
      "where buffers live whose allocator chooses: local, replicated or distributed, a device, "   \
      "or both; empty: "                                                                           \
      "chosen")                                                                                    \
    X(4, JALLOC_RECORD, "", "FILE",                                                                \
      "trace file that every allocator made from then on is recorded in; empty: none")             \
    X(5, JALLOC_LEAK_REPORT, "0", "0|1|stacks",                                                    \
      "report at exit, to the log, what was allocated and never given back; stacks (in debug "     \
      "builds 1, too): by whom")                                                                   \
    X(6, JALLOC_RESULT_POLICY, "fast", "fast|same_bits",                                           \
      "same_bits: results do not depend on how much workspace there was")                          \
    X(7, JALLOC_ACCURACY, "componentwise", "componentwise|normwise",                               \
      "normwise: faster ways too, whose error is bounded in the norm and not in each element")     \
    X(8, JALLOC_LAYER, "0", "0..7", "call logging, a sum: 1 trace, 2 bench, 4 profile")            \
    X(9, JALLOC_LOG_LEVEL, "warning", "off|error|warning|info|debug",                              \
      "which messages are written")                                                                \
    X(10, JALLOC_LOG_PATH, "", "FILE",                                                             \
      "file that messages and layer lines are appended to; empty: standard error")                 \
    X(11, JALLOC_MODULE_PATH, "", "DIRECTORY",                                                     \
      "where device modules are looked for; empty: beside libjalloc")                              \
    X(12, JALLOC_VENDOR_BLAS, "1", "0|1",                                                          \
      "0: GPUs run jalloc's own kernels alone, without the vendor's BLAS and LAPACK")              \
    X(13, JALLOC_RECORD_HEAP, "", "FILE",                                                          \
      "trace file of the program's own heap, by libjalloc_record.so; %p in it: the process's "     \
      "number; empty: none")                                                                       \
    X(14, JALLOC_RECORD_HEAP_MIN_BYTES, "1024", "SIZE",                                            \
      "smallest block that libjalloc_record.so records")                                           \
    X(15, JALLOC_THREADS, "0", "COUNT",                                                            \
      "most threads that a call of a handle uses for which the program says nothing; 0: what the " \
      "process may use (affinity, control group)")                                                 \
    X(16, JALLOC_HOST_BLAS, "own", "own|cblas",                                                    \
      "what computes on the host: jblas's own kernels, or a CBLAS, which is loaded for it")        \
    X(17, JALLOC_CBLAS, "", "LIBRARY",                                                             \
      "which CBLAS is loaded; empty: the first of the usual ones that is installed")               \
    X(18, JALLOC_HOST_ISA, "best", "best|avx512|avx2|generic",                                     \
      "which of jblas's kernels run on the host; best: those for the most that the processor has") \
    X(19, JALLOC_BLAS_REPORT, "0", "0|1",                                                          \
      "1: the drop-in prints at the process's end what was called and how much workspace it took") \
    X(20, JALLOC_LAPACK, "", "LIBRARY",                                                            \
      "which LAPACK computes what jlapack has none of its own of; empty: the first of the usual "  \
      "ones that is installed")                                                                    \
    X(21, JALLOC_PROFILE, "", "FILE",                                                              \
      "the machine's profile that predictions are made with; none: the library's own; empty: the " \
      "one that jalloc-tune stored")

/** Which variable. How many there are is the library's to say: jconfig_get() of the next number is
 * invalid value. */
typedef enum jconfig_t {
#define JCONFIG_ENUMERATOR_(number, name, fallback, syntax, meaning) JCONFIG_##name = number,
    JCONFIG_LIST(JCONFIG_ENUMERATOR_)
#undef JCONFIG_ENUMERATOR_
} jconfig_t;

/** One row of the table, and what is in force. */
typedef struct jconfig_entry_t {
    size_t struct_size;    /**< sizeof(jconfig_entry_t) */
    const char *name;      /**< as in the environment */
    const char *value;     /**< in force: the environment's, or the default */
    const char *fallback;  /**< the default */
    const char *syntax;    /**< what is accepted */
    const char *meaning;   /**< one line */
    bool from_environment; /**< value comes from the environment (set, and not empty) */
    bool valid;            /**< value can be understood, all of it, by those who use it */
    const char *example;   /**< jconfig_example(syntax) */
} jconfig_entry_t;
#define JCONFIG_ENTRY_INIT                                                                         \
    { sizeof(jconfig_entry_t), NULL, NULL, NULL, NULL, NULL, false, false, NULL }

/** Reads one row; the strings are static or the environment's own, valid until the environment
 * changes.
 * @return success; invalid value (no such variable, struct_size); invalid pointer. */
JALLOC_API jstatus_t jconfig_get(jconfig_t which, jconfig_entry_t *entry);

/** An example of what a syntax accepts, that of a variable or of an allocator's key
 * (jallocator_key_t.syntax): "64MiB" for "SIZE". Static. NULL: the syntax lists the values
 * themselves, as "fast|same_bits" does, or is none. */
JALLOC_API const char *jconfig_example(const char *syntax);

/** Bytes of the longest name that jconfig_get_unknown() gives whole, its zero byte included. */
#define JCONFIG_NAME_BYTES 64

/** A variable in the environment whose name begins with JALLOC_ and is not in the table: misspelt,
 * or of another version. Frozen. */
typedef struct jconfig_unknown_t {
    char name[JCONFIG_NAME_BYTES]; /**< cut where it is longer */
    /** the variable that is spelt most alike, static; NULL: none is close */
    const char *nearest;
} jconfig_unknown_t;

/** The index-th unknown name in the environment, which must not be changed meanwhile. Not counted
 * are those of the tests, and JALLOC_ROOT, JALLOC_DIR, JALLOC_HOME, JALLOC_INC, JALLOC_LIB, where
 * build systems look for the package.
 * @return success; invalid pointer; not found (there are not so many, or the program has more
 * rights than its user). */
JALLOC_API jstatus_t jconfig_get_unknown(size_t index, jconfig_unknown_t *unknown);

/** Reads a number of bytes: decimal digits, perhaps with a fraction, and perhaps a unit: B, K, KB,
 * KiB, M, ... T, any case, powers of 1024. Nothing may precede or follow, a sign is refused. Parts
 * of a byte are cut off, but what is more than 0 is at least 1.
 * @return success; invalid pointer; invalid configuration (the message quotes `text`); invalid size
 * (above SIZE_MAX).
 */
JALLOC_API jstatus_t jconfig_parse_size(const char *text, size_t *size_bytes);

/** Reads "SIZE", "SIZE;cuda:0=SIZE;...": the size for `device_name`, or the plain one where it is
 * not named, or 0.
 * @return as jconfig_parse_size(). */
JALLOC_API jstatus_t jconfig_parse_device_size(const char *text, const char *device_name,
                                               size_t *size_bytes);

#ifdef __cplusplus
}
#endif
#endif
