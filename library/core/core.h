/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_CORE_H
#define JALLOC_CORE_CORE_H

/* What every layer uses: messages, the one exit of functions that acquire, bookkeeping memory,
 * checked arithmetic, what survives a fork. Beside it stand
 *
 *     try.h           how a function leaves early
 *     list.h, hash.h  what objects are kept in
 *     lock.h          the lock that costs its usual taker no atomic operation
 *     sized.h         structs of callers who may be of another version
 *     config.c        the variables of the environment, with environment.c, size.c and nearest.c
 *     log.c           lines for people; profile.c counts calls for them, tag.c names who allocates
 *
 * This folder knows nothing of memory that users see, and takes its own by ji_metadata_alloc()
 * alone. What is global in it is put right in the child of a fork, by ranks (ji_fork_rank_t). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/try.h"
#include "jalloc/config.h"
#include "jalloc/export.h"
#include "jalloc/log.h"
#include "jalloc/metadata.h"
#include "jalloc/status.h"

/* An internal function that libjblas and libjalloc_mpi, of the same version, call across the
 * libraries' border. Not for users: no public header declares one. */
#define JI_SHARED __attribute__((visibility("default")))

/* The longest wait of all, a hundred years, so that no time overflows. */
#define JI_LONGEST_MS (UINT64_C(1000) * 3600 * 24 * 365 * 100)

/* Keeps a message for jstatus_last_message() and returns `status`. Does not log: whoever knows the
 * object does. */
JI_SHARED jstatus_t ji_fail(jstatus_t status, const char *format, ...) JALLOC_PRINTF(2, 3)
    __attribute__((cold));

/* Messages kept by this thread so far: whether a callee left one can be told from it. */
extern _Thread_local unsigned ji_message_count __attribute__((tls_model("initial-exec")));

/* The thread's message before a try that may fail without being an error: it comes back where the
 * try ended well after all. It is copied when the first message of the try would replace it, so a
 * try without one costs nothing. */
#define JI_MESSAGE_BYTES 512
typedef struct ji_message_try {
    struct ji_message_try *outer;
    bool has_text;
    char text[JI_MESSAGE_BYTES];
} ji_message_try_t;
void ji_message_try_begin(ji_message_try_t *attempt);
void ji_message_try_end(ji_message_try_t *attempt, bool restores);

/* Bookkeeping memory. All of the library's own goes through here. */
JI_SHARED void *ji_metadata_alloc(size_t size_bytes);
JI_SHARED void *ji_metadata_zalloc(size_t size_bytes);
JI_SHARED void ji_metadata_free(void *pointer); /* NULL: nothing */
size_t ji_metadata_live_count(void);            /* blocks live in the process now; for tests */

/* Checked arithmetic: false, and the result untouched, where it would overflow. */
static inline bool ji_size_add(size_t a, size_t b, size_t *sum) {
    size_t result;
    if (JI_UNLIKELY(__builtin_add_overflow(a, b, &result)))
        return false;
    *sum = result;
    return true;
}
/* Whether an array of so many elements can be: no object has more bytes than PTRDIFF_MAX. */
static inline bool ji_is_array(size_t count, size_t element_bytes) {
    return JI_LIKELY(count <= PTRDIFF_MAX / element_bytes);
}
static inline bool ji_size_mul(size_t a, size_t b, size_t *product) {
    size_t result;
    if (JI_UNLIKELY(__builtin_mul_overflow(a, b, &result)))
        return false;
    *product = result;
    return true;
}
static inline bool ji_is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }
/* Up to a multiple of a power of two. */
static inline bool ji_size_round_up(size_t size, size_t multiple, size_t *rounded) {
    size_t sum;
    if (!ji_size_add(size, multiple - 1, &sum))
        return false;
    *rounded = sum & ~(multiple - 1);
    return true;
}
/* What begins a piece of workspace lies at a multiple of these bytes. Up to one: of sizes that do
 * not overflow; of addresses with so much room behind them. */
#define JI_ALIGNMENT 64
static inline size_t ji_align_bytes(size_t bytes) {
    return (bytes + JI_ALIGNMENT - 1) & ~(size_t)(JI_ALIGNMENT - 1);
}
static inline void *ji_align_pointer(void *pointer) {
    return (void *)ji_align_bytes((uintptr_t)pointer);
}

/* How many variables there are; the numbers have no gaps. */
enum {
#define JI_CONFIG_ONE_MORE_(number, name, fallback, syntax, meaning) +1
    JI_CONFIG_COUNT = 0 JCONFIG_LIST(JI_CONFIG_ONE_MORE_)
#undef JI_CONFIG_ONE_MORE_
};

/* Reads one row of the table, as jconfig_get(), into all of *entry. invalid configuration, with a
 * message that quotes the variable, where it is not valid. */
JI_SHARED jstatus_t ji_config_require(jconfig_t which, jconfig_entry_t *entry);
/* jconfig_get() for the log: says nothing of names that are unknown. */
jstatus_t ji_config_read(jconfig_t which, jconfig_entry_t *entry);

/* What a syntax of variables and keys expects, as it stands in a message: "a size such as 64MiB",
 * "one of a|b|c". Gives text. */
#define JI_CONFIG_EXPECTED_BYTES 128
const char *ji_config_expected(const char *syntax, char text[JI_CONFIG_EXPECTED_BYTES]);

/* Judges JALLOC_ALLOCATOR's text: success or invalid configuration. The layer that knows the kinds
 * of allocators sets this when it is loaded. */
typedef jstatus_t (*ji_config_check_t)(const char *text);
extern ji_config_check_t ji_config_check_composition;

/* The position of `text` among choices such as "off|error|warning"; -1 where it is none of them. */
int ji_config_choice(const char *choices, const char *text);

/* Reads a device's name ("host", "cuda", "hip:3") of `length` characters. Writes it in full: "cuda"
 * becomes "cuda:0". `kind` is 0 host, 1 cuda, 2 hip. False where it is no device's name. */
#define JI_DEVICE_NAME_BYTES 16
bool ji_config_device_name(const char *text, size_t length, char name[JI_DEVICE_NAME_BYTES],
                           int *kind, int *index);

/* Reads "[KIND][@DEVICE]", as JALLOC_BUFFER has it. `kind` is 0 local, 1 replicated, 2 distributed,
 * -1 not said; the device is written in full, or "". False where the text is not so. */
JI_SHARED bool ji_config_buffer(const char *text, int *kind, char device[JI_DEVICE_NAME_BYTES]);

/* Counts forks of this process: an object remembers the count at its creation and is foreign where
 * it differs. */
extern unsigned ji_fork_generation;
/* Registers the fork counter; called by whatever remembers the generation. */
void ji_fork_watch(void);

/* What the library holds across a fork, the outermost first: whoever has one may come to need those
 * below it, as a driver that the registry starts may fork, and a device that cannot be opened is
 * logged. Segments and caches hold nothing themselves; they are put right in the child, where the
 * locks are free by then. */
typedef enum ji_fork_rank {
    JI_FORK_REGISTRY,
    JI_FORK_HANDLES,
    JI_FORK_TEAM,
    JI_FORK_SEGMENTS,
    JI_FORK_CACHES,
    JI_FORK_LOCKS,
    JI_FORK_PROFILE,
    JI_FORK_MACHINE, /* the machine's profile */
    JI_FORK_LOG,
    JI_FORK_RANKS
} ji_fork_rank_t;

typedef struct ji_fork_handlers {
    /* In the forking thread: takes the lock; NULL, as the next: there is nothing to do. */
    void (*before)(void);
    void (*in_parent)(void);
    void (*in_child)(void);
} ji_fork_handlers_t;

/* From now on the forking thread calls `before` of each rank in that order, and afterwards the
 * others in the opposite one. Once for each rank; the handlers stay for ever. */
void ji_fork_hold(ji_fork_rank_t rank, const ji_fork_handlers_t *handlers);

#endif
