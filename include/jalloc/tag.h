/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_TAG_H
#define JALLOC_TAG_H

/** @file
 * Who an allocation is for. A thread has one tag at a time; every allocation that it makes, however
 * deep in a composition of allocators, carries it. Reports, dumps, traces and messages name it, and
 * owners are ranked by it.
 *
 * @code
 * jstatus_t assemble(jallocator_t *allocator, size_t bytes, void **matrix) {
 *     JALLOC_TAG("assemble"); // until the end of this scope; tags nest
 *     return jallocator_allocate(allocator, bytes, 0, NULL, matrix);
 * }
 * @endcode
 *
 * A tag is a name that the process keeps once; a handle that grows for a routine tags its workspace
 * with the routine's name unless the thread has a tag of its own. */

#include <stdint.h>

#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t jtag_t; /**< a name's number; 0: no tag */

/** Bytes of the longest name that is kept, its zero byte included; what goes beyond it is cut. */
#define JTAG_NAME_BYTES 64

/** The tag of a name, the same for equal names. The name is copied and kept as long as the process
 * lives. 0 for NULL, for an empty name, and when there are 1024 others. Walks the names: keep the
 * tag where it is needed often. */
JALLOC_API jtag_t jtag_intern(const char *name);

/** The name of a tag; "" for 0 and for what is no tag. Static. */
JALLOC_API const char *jtag_name(jtag_t tag);

/** The calling thread's tag from now on. @return the one before. */
JALLOC_API jtag_t jtag_set(jtag_t tag);

/** The calling thread's tag. */
JALLOC_API jtag_t jtag_current(void);

/** @cond */
static inline void jtag_end_(const jtag_t *previous) { jtag_set(*previous); }
#define JTAG_PASTE2_(a, b) a##b
#define JTAG_PASTE_(a, b) JTAG_PASTE2_(a, b)
/** @endcond */

/** Tags what the thread allocates until the end of the enclosing scope. */
#define JALLOC_TAG(name)                                                                           \
    const jtag_t JTAG_PASTE_(jtag_previous_, __LINE__)                                             \
        __attribute__((cleanup(jtag_end_), unused)) = jtag_set(jtag_intern(name))

/** @name Internal: the calling thread, as inline functions see it
 * @{ */

/** What the thread used last. Initial-exec: no call, at the price of a few bytes of the loader's
 * static block. Frozen. */
typedef struct jthread_hint_ {
    /** of whose cache the next is; that of the NULL stream. JTHREAD_NO_ALLOCATOR_: there is none,
     * for another thread may destroy the allocator; relaxed atomic */
    const void *allocator;
    void *cache; /**< followed only where the caller uses `allocator`, which therefore lives */
    uint64_t shifted_tag; /**< jtag_current(), shifted by 32 */
} jthread_hint_;

/** No allocator's address, and not NULL, which a caller may pass. */
#define JTHREAD_NO_ALLOCATOR_ ((const void *)1)

/** Its layout has its number with those of allocator.h (jallocator_calls_2_). */
extern JALLOC_API __attribute__((tls_model("initial-exec"))) __thread jthread_hint_ jthread_hint_1_;

/** Where it is. Compilers would go through the segment each time, which takes longer than from a
 * register, a tenth of a pair of calls; what hides from them that it is the same keeps it there. */
JALLOC_INLINE_CALL_ jthread_hint_ *jthread_hint_here_(void) {
    jthread_hint_ *hint = &jthread_hint_1_;
    __asm__("" : "+r"(hint));
    return hint;
}
/** @} */

#ifdef __cplusplus
}
#endif
#endif
