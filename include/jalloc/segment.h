/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SEGMENT_H
#define JALLOC_SEGMENT_H

/** @file
 * Shared segments: memory that several processes map, allocate in, and address by offsets.
 *
 *     process A                    segment                         process B
 *     jsegment_t --maps-->  | header | pages ...          |  <--maps-- jsegment_t
 *     jshared_t  ........>  |  allocator 7: blocks        |  <........ jshared_t      (the same id)
 *
 * A jsegment_t is one process's attachment; it has a slot in the segment, and a block belongs to
 * the slot that allocated it, until it is given to another one or to the segment itself. When a
 * process dies, at whatever instruction, the others go on: what was half done is undone, and what
 * the process owned is free again. Detaching does the same in order.
 *
 * An allocator in the segment (jshared_t) is found by its id. Any process may free any block.
 *
 * Memory is named by offsets from the segment's beginning, since each process maps it elsewhere; 0
 * is no offset. What is stored in the segment by the program should hold offsets, not pointers.
 *
 * Threads: all functions are safe from any thread unless the attachment was made with
 * JALLOCATOR_THREADS_NONE. Threads that want not to wait for each other attach each for itself.
 *
 * Fork: a child inherits its parent's attachments and, at the first use of one, takes a slot of its
 * own in it; the parent's blocks stay the parent's. A private segment is copied by the fork as all
 * private memory is.
 *
 * Unless they say otherwise, functions also return invalid pointer (NULL), corrupted (the segment
 * does not hold together; it is then poisoned: whoever would change it is refused from then on),
 * busy (the lock of the segment could not be had within the attachment's timeout), read only, and,
 * in a child, what attaching returns: no slot, or forked (the segment's file could not be opened
 * anew). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/allocator.h"
#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jsegment jsegment_t; /**< this process's attachment to a segment */
typedef struct jshared jshared_t;   /**< an allocator in a segment, opened through one attachment */

/** @name Offsets
 * @{ */

/** Bytes from the beginning of a segment. */
typedef uint64_t joffset_t;
#define JOFFSET_NULL ((joffset_t)0) /**< names no byte */

/** An offset that several processes change. Use the functions below. Frozen. */
typedef struct joffset_atomic_t {
    joffset_t value;
} joffset_atomic_t;

/** An offset that says in which allocator. Frozen. */
typedef struct jshared_pointer_t {
    uint64_t allocator_id;
    joffset_t offset;
} jshared_pointer_t;
#define JSHARED_POINTER_NULL                                                                       \
    { 0, JOFFSET_NULL }

/** The same with an atomic offset. The id is an ordinary member: set it before others see it.
 * Frozen. */
typedef struct jshared_pointer_atomic_t {
    uint64_t allocator_id;
    joffset_atomic_t offset;
} jshared_pointer_atomic_t;

/** Loads; what was written before the store of this value is seen after. */
JALLOC_INLINE joffset_t joffset_load(const joffset_atomic_t *offset) {
    return __atomic_load_n(&offset->value, __ATOMIC_ACQUIRE);
}
/** Stores; what was written before is seen by whoever loads this value. */
JALLOC_INLINE void joffset_store(joffset_atomic_t *offset, joffset_t value) {
    __atomic_store_n(&offset->value, value, __ATOMIC_RELEASE);
}
/** Stores and returns what was there. */
JALLOC_INLINE joffset_t joffset_exchange(joffset_atomic_t *offset, joffset_t value) {
    return __atomic_exchange_n(&offset->value, value, __ATOMIC_ACQ_REL);
}
/** Stores if `*expected` is there, else puts what is there into `*expected`. */
JALLOC_INLINE bool joffset_compare_exchange(joffset_atomic_t *offset, joffset_t *expected,
                                            joffset_t value) {
    return __atomic_compare_exchange_n(&offset->value, expected, value, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/** Where an offset is in this process, if `size_bytes` from there lie in the segment's memory as it
 * is now; else NULL. Never fails otherwise; does not look at what is there. */
JALLOC_API void *jsegment_pointer(jsegment_t *segment, joffset_t offset, size_t size_bytes);

/** The offset of an address in the segment; JOFFSET_NULL for any other. Does not look at what is
 * there: jshared_describe() says it of a block. */
JALLOC_API joffset_t jsegment_offset(const jsegment_t *segment, const void *pointer);

/** An offset as a pointer to so many objects of a type: `double *x = JSEGMENT_AT(segment, double,
 * offset, n)`. NULL where they do not lie in the segment, or the offset is not a multiple of the
 * type's alignment. */
#define JSEGMENT_AT(segment, type, offset, count)                                                  \
    ((type *)jsegment_pointer_typed_(segment, offset, sizeof(type), JSEGMENT_ALIGNOF_(type), count))
#ifdef __cplusplus
#define JSEGMENT_ALIGNOF_(type) alignof(type)
#else
#define JSEGMENT_ALIGNOF_(type) _Alignof(type)
#endif
static inline void *jsegment_pointer_typed_(jsegment_t *segment, joffset_t offset,
                                            size_t element_bytes, size_t alignment, size_t count) {
    size_t size_bytes;
    if (__builtin_mul_overflow(element_bytes, count, &size_bytes) ||
        (offset & (alignment - 1)) != 0)
        return NULL;
    return jsegment_pointer(segment, offset, size_bytes);
}

/** @} @name Segments
 * @{ */

/** Where a segment's bytes are. */
typedef enum jsegment_backend_t {
    JSEGMENT_PRIVATE = 0, /**< memory of this process alone */
    JSEGMENT_POSIX = 1,   /**< POSIX shared memory, by name */
    JSEGMENT_MEMFD = 2,   /**< shared memory without a name, by descriptor; needs /proc */
    JSEGMENT_FILE = 3,    /**< a file */
    /** the caller's memory, such as an MPI window: aligned to 4096, zeroed or to be overwritten */
    JSEGMENT_ARRAY = 4
} jsegment_backend_t;

#define JSEGMENT_MAX_PROCESSES 250    /**< attached at a time */
#define JSEGMENT_SLOT_SEGMENT 255u    /**< as an owner: the segment itself */
#define JSEGMENT_MIN_BYTES (64 << 10) /**< of a segment */

/** What to create or attach. Zero means the default, but for a member that an operation needs:
 * size_bytes to create, which must be at least JSEGMENT_MIN_BYTES, and the descriptor to attach to,
 * which is -1 where there is none. */
typedef struct jsegment_options_t {
    size_t struct_size; /**< sizeof(jsegment_options_t) */
    jsegment_backend_t backend;
    /** posix: "/name" without another slash; file: a path; memfd: a label for people, or NULL */
    const char *name;
    void *array;    /**< array: where; the caller's until all processes have detached */
    int descriptor; /**< attach, memfd: the descriptor, which stays the caller's */
    /** create: to begin with, bookkeeping included; rounded up to 4096. Attach, array: the
     * array's */
    size_t size_bytes;
    /** create: it may grow to this, by itself or by jsegment_grow(); 0: none, it does not grow */
    size_t max_bytes;
    /** create: attachments at a time, up to JSEGMENT_MAX_PROCESSES; 0: 64 */
    unsigned max_processes;
    bool read_only; /**< attach: for reading alone. It takes no slot */
    /** longest wait for the lock of the segment while its holder lives; 0: 60 s; or none: does not
     * wait; or unlimited */
    uint64_t timeout_ms;
    /** default: safe. None: the caller sees to it that one thread at a time is inside */
    jallocator_threads_t threads;
} jsegment_options_t;
#define JSEGMENT_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(jsegment_options_t), JSEGMENT_PRIVATE, NULL, NULL, -1, 0, 0, 0, false, 0,           \
            JALLOCATOR_THREADS_DEFAULT                                                             \
    }

/** Creates a segment and attaches to it. It appears under its name complete or not at all, also
 * when the creator is killed meanwhile; its mode is 0600; its first size_bytes are reserved, so
 * that touching them cannot fail later.
 * @return success; invalid pointer; invalid value (an option); invalid size; exists (the name is
 *         taken, whoever's it is); permission; memory error (no space, or a limit of the system);
 *         no slot (a file system without locks); io
 *         error. */
JALLOC_API jstatus_t jsegment_create(const jsegment_options_t *options, jsegment_t **segment);

/** Attaches to a segment that exists. Whatever is not a sound segment is refused:
 * @return success; invalid pointer; invalid value (an option); not found (no such name); permission
 *         (the system denies it); unsafe (not a regular file, of another user, or writable by group
 *         or others); not a segment;
 *         incompatible; truncated; stale; corrupted (a checksum, or the segment was poisoned: then
 *         it can still be read); no slot; busy; memory error; io error. */
JALLOC_API jstatus_t jsegment_attach(const jsegment_options_t *options, jsegment_t **segment);

/** Ends this attachment. What its slot still owns is free again; its open allocators are closed.
 * The segment stays. NULL is ignored. @return success; busy (a jallocator_t over one of its
 * allocators exists; it stays attached). */
JALLOC_API jstatus_t jsegment_detach(jsegment_t *segment);

/** Detaches and takes the segment's name away; nobody can attach to it from then on. @return
 * success; busy (others are attached, or as jsegment_detach()), and the other statuses of all
 * functions: it stays attached; what else jsegment_remove() returns: it is detached. */
JALLOC_API jstatus_t jsegment_destroy(jsegment_t *segment);

/** Whom jsegment_remove() asks. */
typedef enum jsegment_remove_t {
    JSEGMENT_REMOVE_UNUSED = 0, /**< removes what no living process is attached to */
    /** does not ask who is attached; they keep the memory until they detach */
    JSEGMENT_REMOVE_ALWAYS = 1
} jsegment_remove_t;

/** Takes away the name of a posix or file segment. It is refused what attach would
 * refuse, so that no other file is removed, but for corrupted, truncated and stale.
 * @return success; invalid pointer; invalid value (a backend without names, how); busy (attached);
 * not found; unsafe; not a segment; incompatible; permission; io error. */
JALLOC_API jstatus_t jsegment_remove(jsegment_backend_t backend, const char *name,
                                     jsegment_remove_t how);

/** Makes the segment at least so large, for every process, in the mappings they have. Allocation
 * does it by itself, in larger steps, where memory runs out below max_bytes.
 * @return success; invalid size (above max_bytes); memory error (a full disk, a limit; it is as
 * large as before). */
JALLOC_API jstatus_t jsegment_grow(jsegment_t *segment, size_t size_bytes);

/** A new descriptor of the segment's file, close-on-exec, to be passed to another process; the
 * caller closes it. With it any backend that has one attaches: as JSEGMENT_MEMFD. @return success;
 * not implemented (private, array); io error. */
JALLOC_API jstatus_t jsegment_export(jsegment_t *segment, int *descriptor);

/** Gives back what slots of dead processes owned. Done by itself when a process attaches, when
 * memory runs out, and when the holder of the lock is found dead. `count` (may be NULL): of slots.
 * Over an array, and from another pid namespace there, it may be that death cannot be told; then no
 * block is given back. */
JALLOC_API jstatus_t jsegment_recover(jsegment_t *segment, unsigned *count);

/** Looks at all structures in the segment. Waits for the lock; read-only attachments look without
 * it and may see a change half done. Does not poison. @return success; corrupted (the message says
 * what and where). */
JALLOC_API jstatus_t jsegment_verify(const jsegment_t *segment);

/** The slot of this attachment: the owner of what it allocates. 0 for a read-only one and for
 * NULL. */
JALLOC_API unsigned jsegment_slot(const jsegment_t *segment);

/** What this attachment was made with, defaults filled in; size_bytes is the segment's size now.
 * With it the segment is attached again, in this process or in a child; a private one cannot be.
 * name and descriptor (memfd) are the attachment's own: valid until it is detached, and not to be
 * closed. timeout_ms is JALLOC_NONE or a number of milliseconds.
 * @return success; invalid pointer; invalid value (struct_size); forked; no slot; busy. */
JALLOC_API jstatus_t jsegment_get_options(const jsegment_t *segment, jsegment_options_t *options);

/** Sizes and counts. Every byte of the segment's size is in exactly one of the first five. */
typedef struct jsegment_stats_t {
    size_t struct_size;
    /** header, tables; headers of allocators, regions of stacks, tables of slabs and their rest */
    size_t metadata_bytes;
    size_t owned_bytes; /**< blocks that processes own */
    size_t given_bytes; /**< blocks that the segment itself owns */
    /** blocks ready for one process: its cache, and the free blocks of its slabs */
    size_t cached_bytes;
    size_t free_bytes; /**< extents of pages for anybody */
    size_t size_bytes; /**< the segment's */
    size_t max_bytes;
    size_t largest_free_bytes; /**< largest extent */
    size_t free_extents;       /**< their number */
    unsigned processes;        /**< attached, this one included */
    unsigned max_processes;
    unsigned allocators;
    int64_t created_at;      /**< seconds since 1970 */
    uint64_t growth_count;   /**< since creation */
    uint64_t rollback_count; /**< half-done changes of dead processes that were undone */
    uint64_t reaped_count;   /**< dead processes whose blocks were given back */
    bool poisoned;
} jsegment_stats_t;
#define JSEGMENT_STATS_INIT                                                                        \
    { sizeof(jsegment_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false }
/** Walks the segment, under its lock. @return success; invalid value (struct_size). */
JALLOC_API jstatus_t jsegment_get_stats(const jsegment_t *segment, jsegment_stats_t *stats);

/** Who is attached. */
typedef struct jsegment_process_t {
    size_t struct_size;
    bool attached; /**< the slot is taken; the rest is set only then */
    bool alive;    /**< false: died, not yet recovered */
    /** false: cannot be told (another pid namespace over an array); alive is then true */
    bool liveness_known;
    int64_t pid;         /**< in its own namespace */
    int64_t attached_at; /**< seconds since 1970 */
    size_t owned_bytes;  /**< blocks it owns */
    size_t cached_bytes; /**< blocks ready for it */
} jsegment_process_t;
#define JSEGMENT_PROCESS_INIT                                                                      \
    { sizeof(jsegment_process_t), false, false, false, 0, 0, 0, 0 }
/** Describes slot 1 to max_processes. @return success; invalid value (struct_size, slot). */
JALLOC_API jstatus_t jsegment_get_process(const jsegment_t *segment, unsigned slot,
                                          jsegment_process_t *process);

/** What an extent of pages is. */
typedef enum jextent_state_t {
    JEXTENT_HEADER = 0, /**< the segment's own tables, at its beginning */
    JEXTENT_FREE = 1,
    JEXTENT_BLOCK = 2,  /**< one block */
    JEXTENT_CACHED = 3, /**< free, and kept by a process */
    JEXTENT_SLAB = 4,   /**< many blocks of one size */
    JEXTENT_REGION = 5  /**< an allocator's header, or the memory of a stack */
} jextent_state_t;

/** An extent, as jsegment_visit shows it. */
typedef struct jextent_t {
    size_t struct_size;
    joffset_t offset;
    size_t size_bytes;
    jextent_state_t state;
    unsigned owner;        /**< slot; 0: nobody; JSEGMENT_SLOT_SEGMENT */
    uint64_t allocator_id; /**< of blocks, slabs, regions */
    size_t block_bytes;    /**< slab: of each block; region of a stack: in use */
    unsigned block_count;  /**< slab: blocks there are */
    unsigned live_count;   /**< slab: blocks allocated */
} jextent_t;
#define JEXTENT_INIT                                                                               \
    { sizeof(jextent_t), JOFFSET_NULL, 0, JEXTENT_HEADER, 0, 0, 0, 0, 0 }
/** Sees one extent; false ends the walk. Must not use the segment. */
typedef bool (*jextent_visitor_t)(void *context, const jextent_t *extent);
/** Shows every extent, in the order of offsets, under the lock. */
JALLOC_API jstatus_t jsegment_visit(const jsegment_t *segment, jextent_visitor_t visitor,
                                    void *context);

/** Draws a map of the segment as an SVG picture. @return success; memory error (of the table made
 * meanwhile). */
JALLOC_API jstatus_t jsegment_draw(const jsegment_t *segment, jallocator_writer_t writer,
                                   void *context);

/** @} @name Roots
 * Names for what attachers are to find. Roots belong to the segment and do not own what they name:
 * give it to the segment (jshared_give) if it is to outlive its process.
 * @{ */

#define JSEGMENT_MAX_ROOTS 128
#define JSEGMENT_ROOT_NAME_BYTES 40 /**< of the longest name, its zero byte included */

/** Names an offset; one that is there is replaced in one step; JOFFSET_NULL takes the name away.
 * @return success; invalid value (name empty or too long; offset outside); not found (no such name
 *         to take away); memory error (all names are in use). */
JALLOC_API jstatus_t jsegment_set_root(jsegment_t *segment, const char *name, joffset_t offset);

/** Finds a name. Takes no lock. @return success; invalid value (name empty or too long); not
 * found. */
JALLOC_API jstatus_t jsegment_get_root(const jsegment_t *segment, const char *name,
                                       joffset_t *offset);

/** Shows the roots, one for each index below JSEGMENT_MAX_ROOTS that is in use, in no order. Takes
 * no lock.
 * @return success; not found (none has that index now); invalid value (the index). */
JALLOC_API jstatus_t jsegment_get_root_at(const jsegment_t *segment, unsigned index,
                                          char name[JSEGMENT_ROOT_NAME_BYTES], joffset_t *offset);

/** @} @name Allocators
 * @{ */

#define JSHARED_MAX_ALLOCATORS 64 /**< in one segment */

/** Kinds of allocators in a segment. */
typedef enum jshared_kind_t {
    /** any size: classes up to 8 KiB, extents of pages above, which coalesce */
    JSHARED_GENERAL = 0,
    JSHARED_PAGES = 1, /**< blocks of one size */
    JSHARED_STACK =
        /** one after the other in a region, freed all at once or back to a mark. Its blocks belong
         * to the segment, not to processes */
    2
} jshared_kind_t;

/** Options of jshared_create(). */
typedef struct jshared_options_t {
    size_t struct_size;
    jshared_kind_t kind;
    size_t header_bytes; /**< of the caller's own header, zeroed; see jshared_header() */
    size_t page_bytes;   /**< pages: of each block; rounded up to 16 */
    size_t region_bytes; /**< stack: of its memory */
} jshared_options_t;
#define JSHARED_OPTIONS_INIT                                                                       \
    { sizeof(jshared_options_t), JSHARED_GENERAL, 0, 0, 0 }

/** Makes an allocator in the segment and opens it. options NULL: a general one without a header.
 * id: any number but 0, unique in the segment.
 * @return success; invalid value (id 0, an option); invalid size; exists (the id); memory error (no
 *         room in the segment, or JSHARED_MAX_ALLOCATORS). */
JALLOC_API jstatus_t jshared_create(jsegment_t *segment, uint64_t id,
                                    const jshared_options_t *options, jshared_t **shared);

/** Opens an allocator that exists; opening it again gives the same object. @return success; not
 * found; memory error. */
JALLOC_API jstatus_t jshared_open(jsegment_t *segment, uint64_t id, jshared_t **shared);

/** The allocator of that id among those opened in this process, in any of its segments. @return
 * success; not found. */
JALLOC_API jstatus_t jshared_find(uint64_t id, jshared_t **shared);

/** Closes as many opens as there were. Its blocks stay. NULL is ignored.
 * @return success; busy (a jallocator_t stands over it). */
JALLOC_API jstatus_t jshared_close(jshared_t *shared);

/** Destroys an allocator with all its blocks, and closes it. @return success; busy (another living
 * process has it open, or a jallocator_t stands over it). */
JALLOC_API jstatus_t jshared_destroy(jshared_t *shared);

/** The caller's header at the front of the allocator, aligned to 4096; NULL where it has none.
 * `size_bytes` (may be NULL): as asked for when it was made. */
JALLOC_API void *jshared_header(jshared_t *shared, size_t *size_bytes);

JALLOC_API uint64_t jshared_id(const jshared_t *shared);         /**< 0 for NULL */
JALLOC_API jshared_kind_t jshared_kind(const jshared_t *shared); /**< general for NULL */
JALLOC_API jsegment_t *jshared_segment(const jshared_t *shared); /**< NULL for NULL */

/** Where a pointer that names its allocator is in this process: as jsegment_pointer(), through
 * jshared_find(). */
JALLOC_API void *jshared_pointer_resolve(jshared_pointer_t pointer, size_t size_bytes);

/** Allocates; the block belongs to this attachment's slot. Size 0 gives JOFFSET_NULL and success;
 * on failure, too, *offset is JOFFSET_NULL. alignment: a power of two up to 2^30, or 0 for 16. Up
 * to 4096 it holds in every process; above, where the process could map the segment so (only an
 * address space that is nearly full cannot). Pages: up to 4096, and up to 8 KiB of page_bytes up to
 * the largest power of two that divides it, rounded as it is.
 * @return success; invalid value (alignment); invalid size (near SIZE_MAX; pages: above
 * page_bytes); memory error; not found (another process has destroyed the allocator). */
JALLOC_API jstatus_t jshared_allocate(jshared_t *shared, size_t size_bytes, size_t alignment,
                                      joffset_t *offset);

/** Gives a block back, whoever owns it. JOFFSET_NULL is ignored. The block of another slot costs a
 * lock; several at a time cost one (jshared_deallocate_many).
 * @return success; not found (not the beginning of a live block of this allocator: foreign,
 *         interior, or given back already); not implemented (stack). */
JALLOC_API jstatus_t jshared_deallocate(jshared_t *shared, joffset_t offset);

/** Allocates `count` blocks of one size, all or none; on failure all offsets are null. @return as
 * jshared_allocate(); invalid size, too, for more offsets than memory can hold, which are not
 * touched. */
JALLOC_API jstatus_t jshared_allocate_many(jshared_t *shared, size_t size_bytes, size_t alignment,
                                           size_t count, joffset_t offsets[]);

/** Gives `count` blocks back, with one lock for all that need it. @return success; not found (one
 * or more were not live blocks; all others are given back); invalid size (more offsets than memory
 * can hold); not implemented (stack). */
JALLOC_API jstatus_t jshared_deallocate_many(jshared_t *shared, size_t count,
                                             const joffset_t offsets[]);

/** Changes a block's size, in place where that can be; else the contents move. The owner stays.
 * *offset JOFFSET_NULL: allocates; size 0: gives it back. On failure the block is as it was, and so
 * is *offset. A kill while the block of another owner moves may leave that owner the new one beside
 * the old one.
 * @return as jshared_allocate() and jshared_deallocate(). */
JALLOC_API jstatus_t jshared_reallocate(jshared_t *shared, joffset_t *offset, size_t size_bytes,
                                        size_t alignment);

/** What an offset is to this allocator: the bytes that may be used of the live block that begins
 * there, and its owner's slot (either may be NULL). Of a pointer that a jallocator_t over it gave,
 * jallocator_find() says more. @return success; not found; not implemented (stack). */
JALLOC_API jstatus_t jshared_describe(const jshared_t *shared, joffset_t offset,
                                      size_t *usable_bytes, unsigned *owner);

/** Gives a block that this attachment owns, or that the segment owns, to a slot in use or to
 * JSEGMENT_SLOT_SEGMENT: from then on it dies with that one. @return success; not found; permission
 * (another slot owns it); invalid value (slot). */
JALLOC_API jstatus_t jshared_give(jshared_t *shared, joffset_t offset, unsigned slot);

/** Stack: where it stands now. @return success; not implemented (another kind). */
JALLOC_API jstatus_t jshared_get_mark(const jshared_t *shared, uint64_t *mark);

/** Stack: frees everything allocated since the mark; 0: everything. @return success; invalid value
 * (a mark above where it stands); not implemented (another kind). */
JALLOC_API jstatus_t jshared_rewind(jshared_t *shared, uint64_t mark);

/** @} */

/** An allocator over one in a segment, so that adaptors, policies and a handle's workspace can
 * stand in it. Its pointers are this process's; it has books of its own, so it takes back what it
 * gave out. Destroy it before closing `shared`. A stack takes a block back at once if it is the
 * last one, any other only when it is rewound. Named "segment"; in a composition,
 * segment(size=SIZE,...) makes a segment of its own.
 * @return success; invalid pointer; memory error; io error and invalid configuration
 * (JALLOC_RECORD, JALLOC_LEAK_REPORT). */
JALLOC_API jstatus_t jallocator_create_shared(jshared_t *shared, jallocator_t **allocator);

#ifdef __cplusplus
}
#endif
#endif
