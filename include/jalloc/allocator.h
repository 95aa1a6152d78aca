/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_ALLOCATOR_H
#define JALLOC_ALLOCATOR_H

/** @file
 * The one allocator interface. Providers (which take bytes from a system: provider.h), policies
 * (which divide them: policy.h) and adaptors (which watch or limit them: adaptor.h) are all
 * jallocator_t, and so is whatever a caller makes of its own functions with jallocator_create().
 * They compose in any order that makes sense; jallocator_compose() makes one from a string. A
 * handle can take its workspace from any of them.
 *
 * An allocation is named by pointer and size; the size given back must be the size that was asked
 * for. The stream is where the memory is first used, and where it was last used: an allocator that
 * hands memory from one stream to another orders them. Providers ignore it.
 *
 * Every allocator has books: what is live, since when how much, under which tag (tag.h). Those that
 * know their own blocks keep them themselves, for all others the object does; so a pointer that is
 * foreign or given back twice is a status everywhere. A block belongs to the allocator that it was
 * taken from: one that was taken from what lies below an adaptor is foreign to the adaptor. The
 * managed memory itself is never read or written by the books: it may be a device's.
 *
 * Lifetimes: texts in options (names, paths) and the options themselves are copied before a create
 * function returns; what an option refers to (an allocator below, a device) is kept as the option
 * says. What a getter gives is the allocator's own, without a reference: valid as long as the
 * allocator. Threads: jallocator_threads() says from which the calls on an allocator may come; all
 * that concerns the process (composing, finding, dumping, visiting all) may come from any. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/device.h"
#include "jalloc/export.h"
#include "jalloc/status.h"
#include "jalloc/tag.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jallocator jallocator_t; /**< an allocator */

/** @name What a number in options asks for
 * 0 is the default that the member's comment names, so that zeroed options are the defaults. A
 * member whose comment names one of the others takes it as well.
 * @{ */
#define JALLOC_DEFAULT 0 /**< the default */
#define JALLOC_NONE                                                                                \
    (SIZE_MAX - 1) /**< a real 0: nothing is kept, nobody waits; of a limit: nothing can be had */
#define JALLOC_UNLIMITED SIZE_MAX /**< no bound */
/** @} */

/** From which threads an allocator may be called. */
typedef enum jallocator_threads_t {
    /** what the kind is made for: callbacks are safe, policies have a lock */
    JALLOCATOR_THREADS_DEFAULT = 0,
    /** one thread at a time; the caller sees to it, also where the whole process is looked through,
     * or a stream destroyed */
    JALLOCATOR_THREADS_NONE = 1,
    JALLOCATOR_THREADS_LOCK = 2, /**< any; one lock around each of its functions */
    /** any; its functions see to it by themselves, perhaps by caches per thread */
    JALLOCATOR_THREADS_SAFE = 3
} jallocator_threads_t;

/** What an allocator has done. A value an allocator cannot know is 0. */
typedef struct jallocator_stats_t {
    size_t struct_size;           /**< in: sizeof(jallocator_stats_t) of the caller */
    uint64_t allocation_count;    /**< successful allocations since creation */
    uint64_t live_count;          /**< allocations not given back yet */
    size_t in_use_bytes;          /**< requested bytes that are live */
    size_t peak_in_use_bytes;     /**< largest in_use_bytes since creation or clear */
    size_t largest_request_bytes; /**< largest single allocation since creation or clear */
    size_t limit_bytes;           /**< most that may be in use or reserved; 0: no limit */
    /** memory held from what lies below, in use or not: what was taken and not given back, without
     * decommitted_bytes */
    size_t reserved_bytes;
    size_t peak_reserved_bytes; /**< largest reserved_bytes since creation or clear */
    size_t free_bytes;          /**< sum of the free blocks held, decommitted or not */
    size_t largest_free_bytes;  /**< largest free block held */
    /** allocations that failed since creation, also such as no machine could serve */
    uint64_t failure_count;
    /** 1 - largest free / free; 0 when no byte is free, so defined when full */
    double fragmentation;
    /** of what is live, as rounded up (bfc, pool, slots; other kinds do not know) */
    size_t granted_bytes;
    size_t peak_granted_bytes; /**< largest granted_bytes since creation or clear */
    /** of free_bytes, those whose memory the system has back while their addresses are kept
     * (jallocator_ops_t.set_pages) */
    size_t decommitted_bytes;
} jallocator_stats_t;

#define JALLOCATOR_STATS_INIT                                                                      \
    { sizeof(jallocator_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** A block, as introspection shows it. */
typedef struct jallocation_t {
    size_t struct_size;      /**< in: sizeof(jallocation_t) of the caller */
    jallocator_t *allocator; /**< whose books it is in */
    void *pointer;           /**< where it begins */
    size_t size_bytes;       /**< as asked for; of a free block its size */
    size_t usable_bytes;     /**< at least size_bytes */
    jtag_t tag;              /**< whom it is for; 0: not said */
    bool live;               /**< false: a free block that is held (only visitors see those) */
} jallocation_t;

#define JALLOCATION_INIT                                                                           \
    { sizeof(jallocation_t), NULL, NULL, 0, 0, 0, false }

/** Sees one block; false ends the walk. Runs inside the allocator: must not call it. */
typedef bool (*jallocation_visitor_t)(void *context, const jallocation_t *block);

/** What becomes of whole pages of a live block (jallocator_ops_t.set_pages). */
typedef enum jallocator_pages_t {
    /** their memory goes back to the system, and what was in them is lost; their addresses stay the
     * block's */
    JALLOCATOR_PAGES_DECOMMIT = 0,
    JALLOCATOR_PAGES_COMMIT = 1, /**< decommitted ones are about to be used again */
    /** decommitted ones are about to be given back, with the rest of their block: they are counted
     * again, no more */
    JALLOCATOR_PAGES_LEAVE = 2
} jallocator_pages_t;

/** An allocator's functions. The first two are required; any other may be NULL and gets the default
 * that its comment names. What they are given to fill in says by its struct_size how much of it
 * there is. */
typedef struct jallocator_ops_t {
    size_t struct_size; /**< sizeof(jallocator_ops_t) of the caller */

    /** Gives at least size_bytes (never 0 here) at a multiple of alignment (a power of two here),
     * or a status. */
    jstatus_t (*allocate)(void *context, size_t size_bytes, size_t alignment, jstream_t *stream,
                          void **pointer);
    /** Takes back what allocate gave; pointer is not NULL here and size_bytes is what was asked
     * for. With `find`: not found for a pointer that is not the beginning of a live block, invalid
     * size for another size, and then the block is as it was. */
    jstatus_t (*deallocate)(void *context, void *pointer, size_t size_bytes, jstream_t *stream);

    /** Bytes that may be used at pointer. Default: size_bytes. */
    size_t (*usable_size)(void *context, const void *pointer, size_t size_bytes);
    /** Describes the live block that has the pointer among the bytes asked for: pointer,
     * size_bytes, usable_bytes, tag (the rest is filled in already), or not found. An allocator
     * with this slot knows which blocks are its own: do not set it to pass the question on to an
     * allocator below, where others may have blocks too. Default: the object keeps a table of
     * them. */
    jstatus_t (*find)(void *context, const void *pointer, jallocation_t *block);
    /** Shows the blocks, live ones and free ones held, in any order. Default: the live ones of the
     * object's table. */
    void (*visit)(void *context, jallocation_visitor_t visitor, void *visitor_context);
    /** Changes what the object's own counting cannot know (limit, reserved, free, largest free);
     * the rest is filled in already. Default: no effect. */
    void (*get_stats)(void *context, jallocator_stats_t *stats);
    /** Peaks fall to the present values, for what get_stats reports. Default: no effect. */
    void (*clear_stats)(void *context);
    /** Gives unused memory back to below, until at most keep_bytes are held unused. Default: does
     * not look for any. */
    jstatus_t (*trim)(void *context, size_t keep_bytes);
    /** Looks whether what must not have changed has changed (guard words, its own lists): success
     * or corrupted. Default: success. */
    jstatus_t (*check)(void *context);
    /** The stream has passed all its work and is about to be destroyed: memory last used there is
     * free for all. Default: no effect. */
    void (*forget_stream)(void *context, jstream_t *stream);
    /** Called once, when the allocator is destroyed without live blocks. Default: no effect. */
    void (*destroy)(void *context);
    /** Whether two of its blocks that touch may be used as one stretch of memory, by whatever works
     * on memory of the device. Each is still given back by itself. A policy above then hands out
     * memory across the border (TensorFlow: SubAllocator::SupportsCoalescing). Asked when a policy
     * is made above it. Default: no. */
    bool (*coalesces)(void *context);
    /** Bytes of the pages that set_pages takes, a power of two; 0: none. Asked when a policy is
     * made above it. Default: 0. */
    size_t (*page_bytes)(void *context);
    /** Gives the memory of pages of one of its blocks back to the system, or says that it is wanted
     * again: from a multiple of page_bytes on, a multiple of them. A policy above decommits what
     * any stream may use, and before it gives a block back that has decommitted pages it says
     * JALLOCATOR_PAGES_LEAVE of them. Where this fails the pages are as they were. Required where
     * page_bytes is not 0. */
    jstatus_t (*set_pages)(void *context, void *pointer, size_t size_bytes, jallocator_pages_t to);
} jallocator_ops_t;

#define JALLOCATOR_OPS_INIT                                                                        \
    {                                                                                              \
        sizeof(jallocator_ops_t), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,      \
            NULL, NULL, NULL, NULL                                                                 \
    }

/** How an allocator is made of functions. */
typedef struct jallocator_options_t {
    size_t struct_size; /**< sizeof(jallocator_options_t) */
    /** copied, at most JALLOCATOR_NAME_BYTES with its end; NULL: "callbacks" */
    const char *name;
    /** whose memory it hands out; NULL: that of `below`, else the host's */
    jdevice_t *device;
    /** where it takes memory from: kept until it is destroyed. NULL: none */
    jallocator_t *below;
    jallocator_threads_t threads; /**< default: safe */
} jallocator_options_t;

#define JALLOCATOR_OPTIONS_INIT                                                                    \
    { sizeof(jallocator_options_t), NULL, NULL, NULL, JALLOCATOR_THREADS_DEFAULT }
#define JALLOCATOR_NAME_BYTES 32 /**< of the longest name, its zero byte included */

/** Makes an allocator from functions; this is also how a caller brings its own. The table is
 * checked and copied; `context` is passed to each function and stays the caller's (until
 * ops->destroy).
 * @return success; invalid pointer (ops, a required function, out); invalid value (a struct_size,
 *         name too long, threads); memory error; io error and invalid configuration (JALLOC_RECORD,
 *         JALLOC_LEAK_REPORT). */
JALLOC_API jstatus_t jallocator_create(const jallocator_ops_t *ops, void *context,
                                       const jallocator_options_t *options,
                                       jallocator_t **allocator);

/** Destroys an allocator that has no live block and that nobody keeps (an allocator above it, a
 * handle, a buffer's allocator, the process: jprocess_get_allocator()). NULL is ignored.
 * @return success; busy (the message says how many bytes are live and how many keep it; the
 * allocator stays usable). */
JALLOC_API jstatus_t jallocator_destroy(jallocator_t *allocator);

/** From now on destroying the allocator also destroys jallocator_below() it (whose other users must
 * have let go by then).
 * @return success; invalid pointer; not found (it stands on none). */
JALLOC_API jstatus_t jallocator_own_below(jallocator_t *allocator);

/** Allocates. size_bytes 0 gives a NULL pointer and success. alignment: a power of two up to 2^30,
 * or 0 for the device's granule. `pointer` is NULL on failure.
 * @return success; invalid pointer; invalid value (alignment); invalid size (near SIZE_MAX); memory
 * error; device error; capturing (memory in stream order, in a stream that is being captured);
 * internal error and corrupted (a function of a caller's allocator gave what it must not: none, a
 * misaligned or a live block); and what a caller's function answers. */
JALLOC_API jstatus_t jallocator_allocate(jallocator_t *allocator, size_t size_bytes,
                                         size_t alignment, jstream_t *stream, void **pointer);

/** Gives memory back. A NULL pointer is ignored. The size must be the one that was asked for.
 * @return success; invalid pointer; invalid size (another size than was asked for); not found
 *         (foreign, interior, or given back already; the message says which where it can be known);
 *         corrupted (guards); busy (by a visitor that
 *         is told of the block); capturing; device error; and what a caller's function answers. */
JALLOC_API jstatus_t jallocator_deallocate(jallocator_t *allocator, void *pointer,
                                           size_t size_bytes, jstream_t *stream);

/** Another size for a block: a new one, the contents that both hold copied in the order of the
 * stream, and the old one given back; on success *pointer is the new one, on failure the old one is
 * as it was. A NULL *pointer allocates, new_bytes 0 deallocates (*pointer is NULL then). old_bytes
 * is what was asked for, alignment as in jallocator_allocate(). Waits for the copy unless the
 * allocator takes memory back in stream order.
 * @return as jallocator_allocate(); not found (foreign, interior, given back); invalid size (not
 * old_bytes); and what jdevice_copy(), jstream_synchronize() and jallocator_deallocate() return. */
JALLOC_API jstatus_t jallocator_reallocate(jallocator_t *allocator, size_t old_bytes,
                                           size_t new_bytes, size_t alignment, jstream_t *stream,
                                           void **pointer);

/** Bytes that may be used at a live allocation of size_bytes, at least as many; what
 * jallocator_find() calls usable_bytes, for a caller who knows the block. 0 for NULL. */
JALLOC_API size_t jallocator_usable_size(const jallocator_t *allocator, const void *pointer,
                                         size_t size_bytes);

/** What a pointer is to this allocator: describes its live block that contains the pointer (one
 * that begins there has it as block->pointer). A block ends with the bytes asked for, whatever may
 * be used behind them. `block` begins as JALLOCATION_INIT.
 * jallocation_find() asks all allocators.
 * @return success; invalid pointer; invalid value (struct_size); not found. */
JALLOC_API jstatus_t jallocator_find(const jallocator_t *allocator, const void *pointer,
                                     jallocation_t *block);

/** Shows every block, live ones and free ones held, in any order. @return success; invalid
 * pointer. */
JALLOC_API jstatus_t jallocator_visit(const jallocator_t *allocator, jallocation_visitor_t visitor,
                                      void *context);

/** Statistics. `stats` begins as JALLOCATOR_STATS_INIT.
 * While other threads allocate and free, a call that is under way is counted or not yet, and what
 * is reserved and free may be of a later moment than what is in use. Where each thread counts for
 * itself (small, general) a block that one thread allocates and another frees just then may be
 * counted twice, or not at all. No number falls below 0, in_use_bytes are at most
 * peak_in_use_bytes, and largest_free_bytes at most free_bytes.
 * @return success; invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jallocator_get_stats(const jallocator_t *allocator, jallocator_stats_t *stats);

/** Peaks fall to the present values, the largest request to 0. Of an adaptor those of its own: what
 * it says of below (reserved, granted) falls when that is cleared. @return success; invalid
 * pointer. */
JALLOC_API jstatus_t jallocator_clear_stats(jallocator_t *allocator);

/** Gives unused memory back until at most keep_bytes are held unused. What cannot go now stays:
 * what other threads keep for themselves (small, general) until they next need something, and a
 * segment's size. @return success; invalid pointer; corrupted (guards); device error; capturing;
 * and what a caller's function answers. */
JALLOC_API jstatus_t jallocator_trim(jallocator_t *allocator, size_t keep_bytes);

/** Looks at everything that must not have changed: guard words, lists. Not a fast function.
 * @return success; invalid pointer; corrupted (the message names the allocation and its tag). */
JALLOC_API jstatus_t jallocator_check(jallocator_t *allocator);

/** The name it was made with. "(null)" for NULL. */
JALLOC_API const char *jallocator_name(const jallocator_t *allocator);

/** The device whose memory it hands out. NULL for NULL. */
JALLOC_API jdevice_t *jallocator_device(const jallocator_t *allocator);

/** The kind of that memory, by the provider at the bottom: pinned, managed, stream-ordered, or
 * device for everything else, for the host's and for NULL. */
JALLOC_API jmemory_kind_t jallocator_memory_kind(const jallocator_t *allocator);

/** Where it takes its memory from; NULL for a provider. */
JALLOC_API jallocator_t *jallocator_below(const jallocator_t *allocator);

/** From which threads it may be called; not default. An adaptor says what it does itself: a
 * composition is as safe as the least safe allocator in it. */
JALLOC_API jallocator_threads_t jallocator_threads(const jallocator_t *allocator);

/** A user of the allocator says it will keep the pointer: destroy is refused until as many
 * releases. For whoever stores an allocator; a handle, and an allocator above, does it by itself.
 * @return success; invalid pointer. */
JALLOC_API jstatus_t jallocator_retain(jallocator_t *allocator);
/** Ends one retain. @return success; invalid pointer; not found (no retain is left). */
JALLOC_API jstatus_t jallocator_release(jallocator_t *allocator);

/** @name Introspection over the whole process
 * @{ */

/** What any pointer is: which allocator made the memory that contains it, how large the block is,
 * and for whom; of that allocator jallocator_device() and jallocator_memory_kind() say what memory
 * it is. Not found: no allocator's. Asks all as jallocator_find() asks one, the newest first, so a
 * block of a policy is found before the provider's block that it lies in; where the allocator is
 * known, that is the cheaper question.
 * @return success; invalid pointer; invalid value (struct_size); not found. */
JALLOC_API jstatus_t jallocation_find(const void *pointer, jallocation_t *block);

/** What dump and report write with: one piece of text, not terminated by a newline. */
typedef void (*jallocator_writer_t)(void *context, const char *text, size_t length);

/** How a dump looks. */
typedef enum jallocator_dump_format_t {
    JALLOCATOR_DUMP_TEXT = 0, /**< for people */
    JALLOCATOR_DUMP_JSON = 1  /**< one object, documented in the manual */
} jallocator_dump_format_t;

/** Writes what an allocator holds: statistics, blocks by power of two, who holds what, and the
 * owners (tags) ranked by bytes. @return success; invalid pointer; invalid value; memory error (of
 * the tables that it makes meanwhile). */
JALLOC_API jstatus_t jallocator_dump(const jallocator_t *allocator, jallocator_dump_format_t format,
                                     jallocator_writer_t writer, void *context);

/** Writes what is live in every allocator of the process that stands on top of a composition, with
 * tags and, with JALLOC_LEAK_REPORT=stacks, call traces. With JALLOC_LEAK_REPORT=1 this is also
 * done at exit, to the log. The writer must not call jalloc.
 * @return success (no block is live); leaked; invalid pointer. */
JALLOC_API jstatus_t jallocator_report_leaks(jallocator_writer_t writer, void *context);

/** @} @name Composition
 * A composition of allocators as text, lowest first:
 *
 *     COMPOSITION = STAGE ["+" STAGE]...
 *     STAGE       = KIND ["(" KEY "=" VALUE ["," KEY "=" VALUE]... ")"]    each key at most once
 *     KIND        = one of jallocator_kind_at(), or a device: "cuda:0" is the kind "device" on it
 *
 * "bfc(limit=2GiB)+guard" is a guard over best fit over the device's own memory: where the first
 * stage is no provider, the device's provider is put below it, and "cuda:0+bfc" says which
 * device's. The same text is understood by JALLOC_ALLOCATOR and by jalloc-replay. Every kind and
 * its keys are listed by jallocator_kind_at(), by jalloc-info, and in the manual.
 * @{ */

/** What a kind does. */
typedef enum jallocator_role_t {
    JALLOCATOR_PROVIDER = 0, /**< takes bytes from a system */
    JALLOCATOR_POLICY = 1,   /**< divides what is below */
    JALLOCATOR_ADAPTOR = 2   /**< passes calls on to what is below, and watches or changes them */
} jallocator_role_t;

/** A key that a kind understands. Frozen. */
typedef struct jallocator_key_t {
    const char *name; /**< as written */
    /** "SIZE", "COUNT", "BOOL", "MILLISECONDS", "NUMBER", "0..255", "TEXT", or "a|b|c" */
    const char *syntax;
    const char *fallback; /**< the value where it is not given */
    const char *meaning;  /**< one line */
} jallocator_key_t;

/** A kind of allocator that a composition can name. Frozen. */
typedef struct jallocator_kind_t {
    const char *name;
    jallocator_role_t role;
    const char *summary; /**< one line */
    const jallocator_key_t *
        /** beside "name", which every kind has: ended by one whose name is NULL, never NULL */
        keys;
} jallocator_kind_t;

/** The index-th kind; NULL past the last. Static. */
JALLOC_API const jallocator_kind_t *jallocator_kind_at(size_t index);

/** Makes a composition. The result owns what is below it: destroying it destroys all. device NULL:
 * the one that the text begins with, else the host. The text is one composition, or, as in
 * JALLOC_ALLOCATOR, one for all devices and others by name, "general;cuda:0=bfc(limit=2GiB)", of
 * which the device's is made. All of it is understood before any of it is made.
 * @return success; invalid pointer; invalid configuration (the message quotes the part that is not
 *         understood and says what there is; or the text begins with another device); no device,
 *         internal error (of a device that it begins
 *         with); invalid value (a key's value is out of range); invalid size (likewise); not found
 *         (a NUMA node); not implemented (memory that the device does not have); exists,
 *         permission, unsafe (a segment's name); memory error; io error; device error; capturing;
 *         forked. */
JALLOC_API jstatus_t jallocator_compose(jdevice_t *device, const char *composition,
                                        jallocator_t **allocator);

/** Makes a composition over an allocator that stays the caller's; no stage may be a provider.
 * @return as jallocator_compose(). */
JALLOC_API jstatus_t jallocator_compose_over(jallocator_t *below, const char *composition,
                                             jallocator_t **allocator);

/** @} @name Internal: the inline path of small blocks
 * Most blocks of "small" and "general" are taken from what the calling thread keeps for itself, and
 * go back there. Where the thread used the same allocator last, on the NULL stream, the functions
 * below do that without a call; for everything else they call the library. What the structs are is
 * in library/memory/allocators/small/small.h.
 * @{ */

#define JALLOCATOR_STEP_SHIFT_ 6    /**< sizes of one step are served alike, aligned to it */
#define JALLOCATOR_UNIT_SHIFT_ 14   /**< slabs begin at multiples of 1 << this */
#define JALLOCATOR_STEPS_ 512u      /**< sizes of more steps go the long way */
#define JALLOCATOR_NEAR_UNITS_ 512u /**< whose slabs a cache remembers */

/** What the books say of a block, in one word, so that it costs one store. Frozen. */
typedef struct jallocator_cell_ {
    /** as requested, 0: not live; and, shifted by 32, the tag of the block that is or was here;
     * relaxed atomic */
    uint64_t size_and_tag;
} jallocator_cell_;

/** A free block. Frozen. */
typedef struct jallocator_item_ {
    void *pointer;          /**< NULL: below the lowest */
    jallocator_cell_ *cell; /**< in the books */
} jallocator_item_;

/** Free blocks of one class. Frozen. */
typedef struct jallocator_magazine_ {
    jallocator_item_ *top; /**< above the last freed; relaxed atomic */
    jallocator_item_ *end; /**< no item goes here */
} jallocator_magazine_;

/** Where blocks of one class lie. Frozen. */
typedef struct jallocator_slab_ {
    uintptr_t base;          /**< relaxed atomic */
    size_t bytes;            /**< 0: there is no slab now; atomic, read before the base */
    uint64_t reciprocal;     /**< ceil(2^64 / bytes of a block) */
    jallocator_cell_ *cells; /**< one for each block */
    size_t magazine_offset;  /**< of the class's in a cache */
} jallocator_slab_;

/** What one thread did; written by it alone, relaxed atomics. Frozen. */
typedef struct jallocator_counts_ {
    size_t at_hand_bytes;    /**< the inline path serves no more */
    size_t room_bytes;       /**< what is in use is the peak without this */
    size_t peak_bytes;       /**< of what is in use, which may be below zero */
    size_t allocation_count; /**< successful ones */
    size_t largest_request_bytes;
    size_t failure_count;
    size_t out_count; /**< blocks that are live or in a magazine */
} jallocator_counts_;

/** How what a thread keeps of an allocator for one stream begins. Frozen. */
typedef struct jallocator_cache_ {
    jallocator_counts_ counts;
    jallocator_magazine_ *magazines[JALLOCATOR_STEPS_]; /**< of sizes by step, up to the largest */
    const jallocator_slab_ *near_slabs[JALLOCATOR_NEAR_UNITS_]; /**< by unit; not NULL */
} jallocator_cache_;

/** Adds to a number that the calling thread alone writes: one instruction where compilers would
 * make three. */
JALLOC_INLINE_CALL_ void jallocator_add_(size_t *number, size_t more) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__("addq %1, %0" : "+m"(*number) : "er"(more) : "cc");
#else
    __atomic_store_n(number, __atomic_load_n(number, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
#endif
}

/** Subtracts in the same way. @return whether it went below zero. */
JALLOC_INLINE_CALL_ bool jallocator_subtract_(size_t *number, size_t less) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    bool below;
    __asm__("subq %2, %0" : "+m"(*number), "=@ccb"(below) : "er"(less));
    return below;
#else
    size_t before = __atomic_load_n(number, __ATOMIC_RELAXED);
    __atomic_store_n(number, before - less, __ATOMIC_RELAXED);
    return before < less;
#endif
}

/** Whether a number that another thread may write is the same; as one instruction, which compilers
 * do not make of an atomic load. */
JALLOC_INLINE_CALL_ bool jallocator_equals_(const void *const *number, const void *other) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    bool equal;
    __asm__("cmpq %1, %2" : "=@cce"(equal) : "m"(*number), "r"(other));
    return equal;
#else
    return __atomic_load_n(number, __ATOMIC_RELAXED) == other;
#endif
}

/** Whether a number is less than such a one. */
JALLOC_INLINE_CALL_ bool jallocator_is_below_(size_t number, const size_t *other) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    bool below;
    __asm__("cmpq %1, %2" : "=@ccb"(below) : "m"(*other), "r"(number));
    return below;
#else
    return number < __atomic_load_n(other, __ATOMIC_RELAXED);
#endif
}

/** Counts what goes out; the largest request is the slow path's. */
JALLOC_INLINE_CALL_ void jallocator_count_(jallocator_counts_ *counts, size_t size_bytes) {
    jallocator_add_(&counts->allocation_count, 1);
    if (__builtin_expect(jallocator_subtract_(&counts->room_bytes, size_bytes), 0)) {
        size_t room = __atomic_load_n(&counts->room_bytes, __ATOMIC_RELAXED);
        __atomic_store_n(&counts->peak_bytes,
                         __atomic_load_n(&counts->peak_bytes, __ATOMIC_RELAXED) - room,
                         __ATOMIC_RELAXED);
        __atomic_store_n(&counts->room_bytes, 0, __ATOMIC_RELAXED);
    }
}

/** A block from the calling thread's cache; NULL: it has none, or does not serve this size. */
JALLOC_INLINE_CALL_ void *jallocator_take_(jallocator_cache_ *cache, size_t size_bytes,
                                           uint64_t shifted_tag) {
    if (__builtin_expect(!jallocator_is_below_(size_bytes - 1, &cache->counts.at_hand_bytes), 0))
        return NULL;
    jallocator_magazine_ *magazine = cache->magazines[(size_bytes - 1) >> JALLOCATOR_STEP_SHIFT_];
    jallocator_item_ *item = __atomic_load_n(&magazine->top, __ATOMIC_RELAXED) - 1;
    void *pointer = item->pointer;
    if (__builtin_expect(pointer == NULL, 0))
        return NULL;
    jallocator_cell_ *cell = item->cell;
    __atomic_store_n(&magazine->top, item, __ATOMIC_RELAXED);
    __atomic_store_n(&cell->size_and_tag, size_bytes | shifted_tag, __ATOMIC_RELAXED);
    jallocator_count_(&cache->counts, size_bytes);
    return pointer;
}

/** Gives a block to the calling thread's cache. False: it is none that the cache knows, or that is
 * live, with this size, or there is no room. */
JALLOC_INLINE_CALL_ bool jallocator_give_(jallocator_cache_ *cache, void *pointer,
                                          size_t size_bytes) {
    __extension__ typedef unsigned __int128 wide;
    uintptr_t address = (uintptr_t)pointer;
    const jallocator_slab_ *slab =
        cache->near_slabs[(address >> JALLOCATOR_UNIT_SHIFT_) % JALLOCATOR_NEAR_UNITS_];
    size_t bytes = __atomic_load_n(&slab->bytes, __ATOMIC_ACQUIRE);
    size_t offset = address - __atomic_load_n(&slab->base, __ATOMIC_RELAXED);
    if (__builtin_expect(offset >= bytes, 0))
        return false;
    wide product = (wide)slab->reciprocal * offset; /* small_slab_index() says what this is */
    if (__builtin_expect((uint64_t)product >= slab->reciprocal, 0))
        return false;
    jallocator_cell_ *cell = &slab->cells[(size_t)(product >> 64)];
    jallocator_magazine_ *magazine =
        (jallocator_magazine_ *)(void *)((char *)cache + slab->magazine_offset);
    jallocator_item_ *item = __atomic_load_n(&magazine->top, __ATOMIC_RELAXED);
    uint64_t size_and_tag = __atomic_load_n(&cell->size_and_tag, __ATOMIC_RELAXED);
    if (__builtin_expect(
            (uint32_t)size_and_tag != size_bytes || size_bytes == 0 || item == magazine->end, 0))
        return false;
    __atomic_store_n(&cell->size_and_tag, size_and_tag - size_bytes, __ATOMIC_RELAXED);
    /* One by one: as a vector they would be loaded late, where they are soon taken again. */
    __atomic_store_n(&item->pointer, pointer, __ATOMIC_RELAXED);
    __atomic_store_n(&item->cell, cell, __ATOMIC_RELAXED);
    __atomic_store_n(&magazine->top, item + 1, __ATOMIC_RELAXED);
    jallocator_add_(&cache->counts.room_bytes, size_bytes);
    return true;
}

/** What the inline functions call in all but the usual case. Frozen. */
typedef struct jallocator_calls_ {
    jstatus_t (*allocate)(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                          jstream_t *stream, void **pointer); /**< jallocator_allocate */
    jstatus_t (*deallocate)(jallocator_t *allocator, void *pointer, size_t size_bytes,
                            jstream_t *stream); /**< jallocator_deallocate */
} jallocator_calls_;

/** The layouts above, jthread_hint_ among them, are frozen under the number in this name, as those
 * of borrow.h are under that of jborrow_calls_2_. */
extern JALLOC_API const jallocator_calls_ jallocator_calls_2_;

/* Whoever takes the address of one of these gets the library's function. The library itself goes
 * there as well. */
#ifndef JALLOC_WITHOUT_INLINE_CALLS
JALLOC_INLINE_CALL_ jstatus_t jallocator_allocate(jallocator_t *allocator, size_t size_bytes,
                                                  size_t alignment, jstream_t *stream,
                                                  void **pointer) {
    const jthread_hint_ *hint = jthread_hint_here_();
    if (__builtin_expect(jallocator_equals_(&hint->allocator, allocator) && stream == NULL &&
                             pointer != NULL && alignment <= (size_t)1 << JALLOCATOR_STEP_SHIFT_ &&
                             (alignment & (alignment - 1)) == 0,
                         1)) {
        void *block =
            jallocator_take_((jallocator_cache_ *)hint->cache, size_bytes, hint->shifted_tag);
        if (__builtin_expect(block != NULL, 1)) {
            *pointer = block;
            return JSTATUS_SUCCESS;
        }
    }
    if (pointer == NULL)
        return jallocator_calls_2_.allocate(allocator, size_bytes, alignment, stream, NULL);
    /* The caller's own pointer is not passed on, so that it can be kept in a register. */
    void *escaping;
    jstatus_t status =
        jallocator_calls_2_.allocate(allocator, size_bytes, alignment, stream, &escaping);
    *pointer = escaping;
    return status;
}

JALLOC_INLINE_CALL_ jstatus_t jallocator_deallocate(jallocator_t *allocator, void *pointer,
                                                    size_t size_bytes, jstream_t *stream) {
    const jthread_hint_ *hint = jthread_hint_here_();
    if (__builtin_expect(
            jallocator_equals_(&hint->allocator, allocator) && stream == NULL &&
                jallocator_give_((jallocator_cache_ *)hint->cache, pointer, size_bytes),
            1))
        return JSTATUS_SUCCESS;
    return jallocator_calls_2_.deallocate(allocator, pointer, size_bytes, stream);
}
#endif
/** @} */

#ifdef __cplusplus
}
#endif

#endif
