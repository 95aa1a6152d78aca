/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_MEMORY_H
#define JALLOC_MEMORY_MEMORY_H

/* The one allocator object, and what a kind of allocator is.
 *
 * Whatever hands out memory here is one object, `struct jallocator`: a table of functions with a
 * context, and the books. It is a provider, which takes bytes from a system or a runtime; a policy,
 * which divides what it has from below; or an adaptor, which changes one thing about what is below.
 * Any stands on any, each knows only the one below it:
 *
 *     jallocator_allocate()    calls.c    arguments are checked
 *     entry.allocate           entry.h    books, ledger and lock; chosen when the object is made
 *     ops.allocate(context)    a room's   the kind's own function, which may call the object below
 *
 * Rooms; each may include those before it, and what is said of all its kinds is in its header:
 *
 *     providers/ (provider.h), allocators/ (policy.h), trace/ (trace.h), adaptors/ (adaptor.h),
 *     compose/ (compose.h)
 *
 * This folder has what they share:
 *
 *     allocator.c    how an object is made, found and ended; the list of all
 *     calls.c        what is called on it; reallocate.c stands on those calls alone
 *     ledger.h       what is live at which address, beside the memory
 *     frontier.h     when memory freed on one stream may be used on another
 *     order.c        which allocators order memory by streams
 *     introspect.c   the dump, and the report of leaks, with call traces (call_traces.h)
 *     adaptor.h      an adaptor that changes nothing, of which the others are made
 *
 * A kind is one constant, ji_kind_NAME, in one file: its name, the keys that a composition may
 * give, the defaults of its options, and the function that makes one. Its public create function is
 * a line, ji_kind_make(): what every kind would have to do again (checking pointers and options, an
 * older caller's shorter options, recording) is done there.
 *
 * What always holds:
 *
 * - A function of the table sees a size from 1 to PTRDIFF_MAX - alignment, and an alignment that is
 *   a power of two.
 * - A block that is given out is not NULL, is aligned, and is counted. A call that fails gives
 *   nothing, changes nothing but the count of failures, and leaves a message that names the
 *   allocator.
 * - State is out of band: nothing is kept in the memory that is handed out, which may be a
 *   device's.
 * - Whoever needs an allocator retains it, so nothing below goes before what stands on it.
 *
 * To read: this, then entry.h, then adaptors/limit.c as an example of a kind. */

#include "core/core.h"
#include "core/lock.h"
#include "core/sized.h"
#include "core/tag.h"
#include "device/device.h"
#include "jalloc/allocator.h"
#include "memory/ledger.h"

typedef struct ji_kind ji_kind_t;

/* ---- Books ---- */

/* A sum that goes up and down, and its peak; kept as what is missing to the peak, so that going up
 * is one subtraction, which borrows where the peak has moved. */
typedef struct ji_level {
    size_t peak_bytes, room_bytes;
} ji_level_t;

static inline void ji_level_rise(ji_level_t *level, size_t bytes) {
    if (JI_UNLIKELY(__builtin_sub_overflow(level->room_bytes, bytes, &level->room_bytes))) {
        level->peak_bytes -= level->room_bytes;
        level->room_bytes = 0;
    }
}
static inline void ji_level_fall(ji_level_t *level, size_t bytes) { level->room_bytes += bytes; }
static inline size_t ji_level_now(const ji_level_t *level) {
    return level->peak_bytes - level->room_bytes;
}
static inline void ji_level_clear(ji_level_t *level) {
    level->peak_bytes -= level->room_bytes;
    level->room_bytes = 0;
}

/* What was counted; plain numbers, under the lock of whoever has them. No two neighbours change
 * together: a compiler would store them as one vector, and a narrower load soon after is a
 * store-forwarding stall. */
typedef struct ji_books {
    uint64_t allocation_count, failure_count;
    size_t in_use_bytes, peak_in_use_bytes;
    uint64_t live_count;
    size_t largest_request_bytes;
} ji_books_t;

static inline void ji_books_allocate(ji_books_t *books, size_t size_bytes) {
    ++books->allocation_count;
    ++books->live_count;
    books->in_use_bytes += size_bytes;
    if (books->in_use_bytes > books->peak_in_use_bytes)
        books->peak_in_use_bytes = books->in_use_bytes;
    if (size_bytes > books->largest_request_bytes)
        books->largest_request_bytes = size_bytes;
}
static inline void ji_books_deallocate(ji_books_t *books, size_t size_bytes) {
    --books->live_count;
    books->in_use_bytes -= size_bytes;
}
/* A block was booked out and stays after all: it was live beside all that came meanwhile. */
static inline void ji_books_restore(ji_books_t *books, size_t size_bytes) {
    ++books->live_count;
    books->in_use_bytes += size_bytes;
    if (books->in_use_bytes > books->peak_in_use_bytes)
        books->peak_in_use_bytes = books->in_use_bytes;
}
static inline void ji_books_clear(ji_books_t *books) {
    books->peak_in_use_bytes = books->in_use_bytes;
    books->largest_request_bytes = 0;
}
static inline void ji_books_report(const ji_books_t *books, jallocator_stats_t *stats) {
    stats->allocation_count = books->allocation_count;
    stats->live_count = books->live_count;
    stats->failure_count = books->failure_count;
    stats->in_use_bytes = books->in_use_bytes;
    stats->peak_in_use_bytes = books->peak_in_use_bytes;
    stats->largest_request_bytes = books->largest_request_bytes;
}

/* ---- The object ---- */

/* How the object calls the functions and keeps the books; chosen once, when it is made. */
typedef struct ji_entry {
    jstatus_t (*allocate)(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                          jstream_t *stream, void **pointer);
    jstatus_t (*deallocate)(jallocator_t *allocator, void *pointer, size_t size_bytes,
                            jstream_t *stream);
} ji_entry_t;

struct jallocator {
    /* Read by every call, written once. */
    ji_entry_t entry;
    jallocator_ops_t ops; /* no slot is NULL but `find` and `visit`: then the ledger answers */
    void *context;        /* passed to each */
    size_t granule_bytes; /* alignment where none is asked for */
    jdevice_t *device;
    jallocator_t *below; /* retained; NULL: none */
    jallocator_threads_t threads;
    bool owns_below;       /* what is below is destroyed with it */
    bool below_is_part;    /* so a user is shown what is below that */
    bool has_ledger;       /* of itself it cannot say which blocks are its own */
    const ji_kind_t *kind; /* NULL: a caller's functions */
    char name[JALLOCATOR_NAME_BYTES];
    ji_link_t link; /* in the list of all allocators, the newest first */

    char apart[64]; /* what is written does not share a cache line with what every call reads */

    ji_lock_t lock; /* around what: calls.c */
    ji_books_t books;
    ji_ledger_t ledger; /* of what is live, where has_ledger */
    atomic_size_t retain_count;
    struct ji_call_traces *call_traces; /* for the leak report; NULL unless asked for */
};

/* ---- Making one ---- */

/* How an internal allocator is made; what jallocator_options_t says, and more. */
typedef struct ji_traits {
    const char *name;
    jdevice_t *device;            /* NULL: that of below, else the host */
    jallocator_t *below;          /* NULL: none */
    jallocator_threads_t threads; /* not default */
    const ji_kind_t *kind;
    const ji_entry_t *entry; /* the kind's own; NULL: one that calls the table's functions */
    bool counts_itself;      /* its get_stats fills in everything; calls go straight through */
    bool keeps_books;        /* its functions do, and the ledger, under the object's lock */
    bool below_is_part;      /* and goes with it */
} ji_traits_t;

/* Makes the object. The table is one of the library's own: complete. On failure the context is
 * still the caller's. */
jstatus_t ji_allocator_make(const jallocator_ops_t *ops, void *context, const ji_traits_t *traits,
                            jallocator_t **out);

/* Where JALLOC_RECORD asks for it, puts a recording adaptor that owns `allocator` on top of it;
 * else passes it on. On failure the allocator is destroyed. */
jstatus_t ji_record_wrap(jallocator_t *allocator, jallocator_t **out);

/* Ends an allocator without looking whether it may be: for one that ends by itself. */
void ji_allocator_dispose(jallocator_t *allocator);

/* ---- Finding one ---- */

/* The nearest allocator of a kind, from `allocator` downwards; NULL where there is none. */
jallocator_t *ji_allocator_of_kind(const jallocator_t *allocator, const ji_kind_t *kind);
/* The same for a public function that needs one: invalid pointer, or invalid value with a
 * message. */
jstatus_t ji_allocator_require_kind(const jallocator_t *allocator, const ji_kind_t *kind,
                                    const char *caller, jallocator_t **found);

/* All allocators of the process, newest first: hold the lock while walking. */
ji_list_t *ji_allocator_list_acquire(void); /* takes the lock */
void ji_allocator_list_release(void);

/* Reads JALLOC_LEAK_REPORT and has the report written at exit, if that is wanted. invalid
 * configuration: it cannot be understood; ask again. */
jstatus_t ji_leak_report_start(bool *keeps_call_traces);

/* Refuses a pointer that is given back and of which the allocator of that name knows nothing.
 * `when` it was given back, if it ever was live: "already", or "long ago" where the latest are
 * known. not found. */
jstatus_t ji_refuse_unknown(const char *name, const void *pointer, const char *when)
    __attribute__((cold));

/* ---- Kinds ---- */

/* What a create function gets: everything is checked. */
typedef struct ji_request {
    jdevice_t *device;   /* of a provider; for others the device of below */
    jallocator_t *below; /* not NULL but for a provider */
    const void *options; /* the kind's, complete */
    const char *name;    /* the options', or the kind's */
} ji_request_t;

/* How the text of a key becomes a member of the options. Where the syntax of a number goes on with
 * words, "|none" or "|none|unlimited", these are JALLOC_NONE and JALLOC_UNLIMITED, and a written 0
 * is none: text that is there is no default. */
typedef enum ji_key_type {
    JI_KEY_SIZE,   /* size_t, with units */
    JI_KEY_COUNT,  /* size_t */
    JI_KEY_UINT64, /* uint64_t */
    JI_KEY_INT,    /* int, may be negative */
    JI_KEY_BYTE,   /* unsigned char, 0..255 */
    JI_KEY_BOOL,   /* bool: "true", "false", "1", "0", or the key alone */
    JI_KEY_CHOICE, /* an enum: the position of the word in the key's syntax "a|b|c", plus `first` */
    JI_KEY_TEXT    /* const char *, valid during create */
} ji_key_type_t;

/* The member of the options that a key sets: members[i] of a kind belongs to its public.keys[i]. */
typedef struct ji_key_member {
    ji_key_type_t type;
    size_t offset; /* in the options */
    int first;     /* of a choice: the enumerator of the first word */
} ji_key_member_t;

/* Room for the options of any kind. */
#define JI_KIND_MAX_OPTIONS_BYTES 256

/* The list of a kind without keys. */
extern const jallocator_key_t ji_no_keys[1];

struct ji_kind {
    jallocator_kind_t public; /* name, role, summary, keys */
    const ji_key_member_t *members;
    const char *options_type;
    size_t options_bytes; /* 0: the kind has none but its name */
    const void *defaults; /* options_bytes of them */
    jstatus_t (*create)(const ji_request_t *request, jallocator_t **out);
};

/* Makes one of a kind from a public create function. Options begin with struct_size and name (the
 * layout of ji_common_options_t); NULL: the defaults. device matters to providers alone; NULL: the
 * host. */
jstatus_t ji_kind_make(const ji_kind_t *kind, jdevice_t *device, jallocator_t *below,
                       const void *options, jallocator_t **out);

/* What a number in options asks for: its default where it is 0, 0 where it is none. */
static inline uint64_t ji_option(uint64_t value, uint64_t fallback) {
    return value == JALLOC_DEFAULT ? fallback : value == JALLOC_NONE ? 0 : value;
}

/* Refuses bytes that no machine could address: what is rounded up, or put beside others, must not
 * overflow. `member` of the options; 0 is its default. invalid value. */
static inline jstatus_t ji_option_check_bytes(const ji_request_t *request, const char *member,
                                              size_t bytes) {
    return bytes <= PTRDIFF_MAX / 2
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_INVALID_VALUE,
                         "allocator \"%s\": %s is %zu, more than this machine can address",
                         request->name, member, bytes);
}

/* How the options of every kind begin. */
typedef struct ji_common_options {
    size_t struct_size;
    const char *name;
} ji_common_options_t;

/* ---- What an allocator promises whoever is above it ---- */

/* Whether memory that is given back on a stream is used again only after what is in the stream by
 * then: whoever gives it back need not wait. False where that is not known. */
bool ji_allocator_takes_in_order(const jallocator_t *allocator);
/* Whether memory that is taken on a stream may be ready for that stream alone. True where that is
 * not known. */
bool ji_allocator_gives_in_order(const jallocator_t *allocator);
/* Whether its blocks may be used as one where they touch. */
static inline bool ji_allocator_coalesces(const jallocator_t *allocator) {
    return allocator->ops.coalesces(allocator->context);
}
/* The pages of which it takes memory back while their addresses stay; 0: of none. */
static inline size_t ji_allocator_page_bytes(const jallocator_t *allocator) {
    return allocator->ops.page_bytes(allocator->context);
}
/* calls.c; as jallocator_ops_t.set_pages. */
jstatus_t ji_allocator_set_pages(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                 jallocator_pages_t to);
/* Whether this is a provider of memory in stream order. */
bool ji_device_is_ordered(const jallocator_t *allocator);

/* ---- Which kinds there are ---- */

/* Keys that every policy has. Use in a kind's table of keys and of members. */
#define JI_THREADS_KEY                                                                             \
    { "threads", "none|lock", "lock", "from which threads it may be called" }

extern const ji_kind_t ji_kind_malloc, ji_kind_mmap, ji_kind_numa, ji_kind_huge, ji_kind_device,
    ji_kind_null;
extern const ji_kind_t ji_kind_segment; /* shm/segment/kind.c */
extern const ji_kind_t ji_kind_stack, ji_kind_slots, ji_kind_pool, ji_kind_bfc, ji_kind_lru,
    ji_kind_small, ji_kind_general;
extern const ji_kind_t ji_kind_track, ji_kind_exact, ji_kind_record, ji_kind_guard, ji_kind_fill,
    ji_kind_limit, ji_kind_retry, ji_kind_align, ji_kind_lock, ji_kind_visit, ji_kind_statistics,
    ji_kind_failure, ji_kind_quota;

#endif
