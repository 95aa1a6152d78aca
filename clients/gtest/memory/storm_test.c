/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A storm: everything that can be asked of an allocator, in any order, of random compositions.
 *
 * Each composition gets some thousand operations, and each answer is compared with what a model
 * says that it must be: right calls and wrong ones, on streams whose work is still ahead, with
 * memory and bookkeeping that give out below, and by several threads at once. In the end nothing is
 * live, nothing is kept, and every block of bookkeeping is back.
 *
 *     worker 0     | alone, all operations | as the others | alone | ... | gives all back
 *     workers 1..3                         | what may be done at once, each with own blocks |
 *
 * What a worker knows is its own; while several work, blocks go from one to another by letter, and
 * what is left in the end is worker 0's. Alone the books are compared exactly; after several were
 * at work, peaks begin anew.
 *
 * Sizes have a heavy tail: from a byte to megabytes, half of them at most 64 bytes times a few. A
 * block is marked up to the last usable byte, a large one here and there. The numbers begin
 * elsewhere in each run. */

#include "jtest.h"
#include "random_composition.h"

#include "jalloc/allocator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAMS = 4, /* the first is NULL, the inline one */
    WORKERS = 4,
    LETTERS = 4,
    MOST_LIVE = 192,
    MOST_FREED = 16,
    TAGS = 5,
    EDGE_BYTES = 16,   /* all marked, at both ends of a block */
    STRIDE_BYTES = 997 /* between marks in its middle */
};
#define MOST_BYTES ((size_t)48 << 20) /* live at once */
#define OPERATIONS 100000
#define PROBE_BYTES 65000

typedef struct block {
    unsigned char *pointer;
    size_t size_bytes, usable_bytes;
    jtag_t tag;
    unsigned char mark;
} block_t;

typedef struct books {
    uint64_t allocation_count, failure_count;
    size_t live_count, in_use_bytes, peak_bytes, largest_bytes;
} books_t;

typedef struct worker {
    struct storm *storm;
    uint64_t random;
    int64_t steps;
    bool alone, shrinks;
    block_t blocks[MOST_LIVE];
    size_t live_count;
    block_t freed[MOST_FREED]; /* lately, pointer NULL: none */
    books_t books;             /* several: what this one has added to the storm's */
} worker_t;

typedef struct storm {
    random_composition_t composition;
    jallocator_t *allocator;
    jstream_t *streams[STREAMS];
    bool is_short, lacks_memory; /* bookkeeping gives out now and then, or memory below */
    bool serves; /* a block of PROBE_BYTES when nothing is live: in the end as in the beginning */
    books_t books;
    _Atomic(block_t *) letters[LETTERS];
    worker_t workers[WORKERS];
} storm_t;

static jtag_t tags[TAGS]; /* 0, and others */

static uint64_t draw(worker_t *worker) { return jtest_random_next(&worker->random); }
/* From 0 to count - 1. */
static size_t draw_below(worker_t *worker, size_t count) { return draw(worker) % count; }
static bool one_in(worker_t *worker, size_t count) { return draw_below(worker, count) == 0; }
static jstream_t *draw_stream(worker_t *worker) {
    return worker->storm->streams[draw_below(worker, STREAMS)];
}

static size_t draw_size(worker_t *worker) {
    size_t scale = 64;
    while (scale < (size_t)1 << 22 && draw_below(worker, 5) < 3)
        scale *= 2;
    return one_in(worker, 10) ? 1 + draw_below(worker, 63) : scale + draw_below(worker, scale);
}
static size_t draw_alignment(worker_t *worker) {
    return one_in(worker, 3) ? (size_t)1 << draw_below(worker, one_in(worker, 8) ? 17 : 9) : 0;
}

/* ---- Marks ---- */

static size_t next_mark(size_t at, size_t bytes) {
    if (at < EDGE_BYTES || at + EDGE_BYTES >= bytes || bytes < STRIDE_BYTES)
        return at + 1;
    return at + STRIDE_BYTES < bytes - EDGE_BYTES ? at + STRIDE_BYTES : bytes - EDGE_BYTES;
}
static unsigned char mark_at(const block_t *block, size_t at) {
    return (unsigned char)(block->mark + 7 * at);
}

static void write_marks(const block_t *block) {
    for (size_t at = 0; at < block->usable_bytes; at = next_mark(at, block->usable_bytes))
        block->pointer[at] = mark_at(block, at);
}
/* Whether the first bytes of a block are at `pointer`. */
static bool has_marks(const block_t *block, const unsigned char *pointer, size_t bytes) {
    for (size_t at = 0; at < bytes; at = next_mark(at, block->usable_bytes))
        if (pointer[at] != mark_at(block, at))
            return false;
    return true;
}
static void expect_marks(const block_t *block) {
    if (!has_marks(block, block->pointer, block->usable_bytes))
        JFAIL("%zu bytes at %p have changed", block->size_bytes, (void *)block->pointer);
}

/* ---- What a worker knows ---- */

static bool is_around(const block_t *block, const unsigned char *pointer) {
    return (uintptr_t)pointer - (uintptr_t)block->pointer < block->size_bytes;
}
/* The live block around an address; NULL: none of this worker's. */
static const block_t *find_block(const worker_t *worker, const unsigned char *pointer) {
    for (size_t i = 0; i < worker->live_count; ++i)
        if (is_around(&worker->blocks[i], pointer))
            return &worker->blocks[i];
    return NULL;
}

static void book_allocation(books_t *books, size_t size_bytes) {
    ++books->allocation_count;
    ++books->live_count;
    books->in_use_bytes += size_bytes;
    if (books->in_use_bytes > books->peak_bytes)
        books->peak_bytes = books->in_use_bytes;
    if (size_bytes > books->largest_bytes)
        books->largest_bytes = size_bytes;
}
static void book_deallocation(books_t *books, size_t size_bytes) {
    --books->live_count;
    books->in_use_bytes -= size_bytes;
}

/* A worker that is alone writes in the storm's books. */
static books_t *books_of(worker_t *worker) {
    return worker->alone ? &worker->storm->books : &worker->books;
}

/* A block that was just given, and that the host may write to. */
static void add_block(worker_t *worker, void *pointer, size_t size_bytes, size_t alignment,
                      jtag_t tag) {
    block_t block = {.pointer = pointer,
                     .size_bytes = size_bytes,
                     .tag = tag,
                     .mark = (unsigned char)draw(worker)};
    block.usable_bytes = jallocator_usable_size(worker->storm->allocator, pointer, size_bytes);
    JEXPECT_EQ((uintptr_t)pointer % (alignment != 0 ? alignment : 64), 0);
    JEXPECT_GE(block.usable_bytes, size_bytes);
    for (size_t i = 0; i < worker->live_count; ++i)
        if (is_around(&worker->blocks[i], pointer) || is_around(&block, worker->blocks[i].pointer))
            JFAIL("%zu bytes at %p overlap %zu bytes at %p", size_bytes, pointer,
                  worker->blocks[i].size_bytes, (void *)worker->blocks[i].pointer);
    write_marks(&block);
    worker->blocks[worker->live_count++] = block;
    book_allocation(books_of(worker), size_bytes);
}

static void drop_block(worker_t *worker, size_t i) {
    const block_t block = worker->blocks[i];
    worker->freed[draw_below(worker, MOST_FREED)] = block;
    worker->blocks[i] = worker->blocks[--worker->live_count];
    book_deallocation(books_of(worker), block.size_bytes);
}

/* ---- Shortage ---- */

/* One of the next requests of memory below, or of bookkeeping, fails. */
static void fail_soon(worker_t *worker) {
    const storm_t *storm = worker->storm;
    const uint64_t n = storm->is_short ? 1 + draw_below(worker, 8) : 0;
    jtest_fail_allocation_after(storm->lacks_memory ? n : 0);
    jtest_fail_metadata_after(storm->lacks_memory ? 0 : n);
}

static void change_shortage(worker_t *worker) {
    storm_t *storm = worker->storm;
    storm->is_short = !storm->is_short;
    storm->lacks_memory = !storm->composition.has_provider && one_in(worker, 2);
    fail_soon(worker);
}

/* ---- Right calls ---- */

/* A request failed: it may, and it is counted. */
static void expect_refusal(worker_t *worker, jstatus_t status) {
    const storm_t *storm = worker->storm;
    const bool may_refuse = storm->composition.may_refuse || storm->is_short;
    const bool is_shape = status == JSTATUS_INVALID_SIZE || status == JSTATUS_INVALID_VALUE;
    if (!(status == JSTATUS_MEMORY_ERROR && may_refuse) &&
        !(is_shape && storm->composition.refuses_shapes))
        JEXPECT_OK(status);
    JEXPECT_GT(strlen(jstatus_last_message()), 0);
    ++books_of(worker)->failure_count;
    if (storm->is_short)
        fail_soon(worker);
}

static void allocate(worker_t *worker) {
    storm_t *storm = worker->storm;
    const size_t size = draw_size(worker), alignment = draw_alignment(worker);
    jstream_t *stream = draw_stream(worker);
    const jtag_t tag = tags[draw_below(worker, TAGS)], before = jtag_set(tag);
    void *pointer = &worker;
    const jstatus_t status =
        jallocator_allocate(storm->allocator, size, alignment, stream, &pointer);
    jtag_set(before);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_NULL(pointer);
        expect_refusal(worker, status);
        return;
    }
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream)); /* what it waits for, a fill */
    add_block(worker, pointer, size, alignment, tag);
}

static void deallocate(worker_t *worker) {
    const size_t i = draw_below(worker, worker->live_count);
    const block_t block = worker->blocks[i];
    expect_marks(&block);
    JEXPECT_OK(jallocator_deallocate(worker->storm->allocator, block.pointer, block.size_bytes,
                                     draw_stream(worker)));
    drop_block(worker, i);
}

static void reallocate(worker_t *worker) {
    storm_t *storm = worker->storm;
    const size_t i = draw_below(worker, worker->live_count), alignment = draw_alignment(worker);
    const block_t block = worker->blocks[i];
    const size_t size = one_in(worker, 16) ? 0 : draw_size(worker);
    jstream_t *stream = draw_stream(worker);
    const jtag_t tag = tags[draw_below(worker, TAGS)], before = jtag_set(tag);
    void *pointer = block.pointer;
    const jstatus_t status = jallocator_reallocate(storm->allocator, block.size_bytes, size,
                                                   alignment, stream, &pointer);
    jtag_set(before);
    if (status != JSTATUS_SUCCESS) {
        JEXPECT_EQ(pointer, block.pointer);
        expect_refusal(worker, status);
        expect_marks(&block);
        return;
    }
    JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
    JEXPECT_EQ(pointer == NULL, size == 0);
    if (pointer != NULL) {
        /* Both were live for a moment; the new one may be where another worker's was. */
        JEXPECT_TRUE(has_marks(&block, pointer, size < block.size_bytes ? size : block.size_bytes));
        add_block(worker, pointer, size, alignment, tag);
    }
    drop_block(worker, i);
}

typedef struct scribble {
    unsigned char *pointer;
    size_t bytes;
    unsigned spins;
} scribble_t;
static void scribble(void *arguments) {
    const scribble_t *work = arguments;
    for (volatile unsigned i = 0; i < work->spins; ++i) {
    }
    for (size_t at = 0; at < work->bytes; at = next_mark(at, work->bytes))
        work->pointer[at] = 0xEE;
}

/* Frees a block that its stream will still write to: who gets the memory next comes after it. */
static void deallocate_in_use(worker_t *worker) {
    storm_t *storm = worker->storm;
    if (!storm->composition.orders_streams || storm->is_short)
        return;
    const size_t i = draw_below(worker, worker->live_count);
    const block_t block = worker->blocks[i];
    jstream_t *stream = draw_stream(worker);
    const scribble_t work = {block.pointer, block.size_bytes, (unsigned)draw_below(worker, 200000)};
    expect_marks(&block);
    JEXPECT_OK(jstream_launch(jdevice_host(), stream, scribble, &work, sizeof work));
    JEXPECT_OK(jallocator_deallocate(storm->allocator, block.pointer, block.size_bytes, stream));
    drop_block(worker, i);
}

/* A block from one worker is freed by another. */
static void post(worker_t *worker) {
    _Atomic(block_t *) *box = &worker->storm->letters[draw_below(worker, LETTERS)];
    block_t *letter = malloc(sizeof *letter);
    *letter = worker->blocks[--worker->live_count];
    letter = atomic_exchange(box, letter);
    if (letter != NULL)
        worker->blocks[worker->live_count++] = *letter;
    free(letter);
}

/* ---- Wrong calls ---- */

static void give_wrongly(worker_t *worker, void *pointer, size_t size_bytes, jstatus_t expected) {
    jallocator_t *allocator = worker->storm->allocator;
    jstream_t *stream = draw_stream(worker);
    if (one_in(worker, 3)) {
        void *moved = pointer;
        JEXPECT_STATUS(
            jallocator_reallocate(allocator, size_bytes, draw_size(worker), 0, stream, &moved),
            expected);
        JEXPECT_EQ(moved, pointer);
    } else {
        JEXPECT_STATUS(jallocator_deallocate(allocator, pointer, size_bytes, stream), expected);
    }
}

static void give_foreign(worker_t *worker) {
    static unsigned char foreign[256];
    give_wrongly(worker, foreign + draw_below(worker, sizeof foreign), 1 + draw(worker) % 4096,
                 JSTATUS_NOT_FOUND);
}
static void give_interior(worker_t *worker) {
    const block_t *block = &worker->blocks[draw_below(worker, worker->live_count)];
    if (block->size_bytes == 1)
        return;
    const size_t at = 1 + draw_below(worker, block->size_bytes - 1);
    give_wrongly(worker, block->pointer + at,
                 one_in(worker, 2) ? block->size_bytes - at : block->size_bytes, JSTATUS_NOT_FOUND);
}
static void give_with_wrong_size(worker_t *worker) {
    const block_t *block = &worker->blocks[draw_below(worker, worker->live_count)];
    const size_t sizes[] = {0, block->size_bytes - 1, block->size_bytes + 1, draw_size(worker),
                            SIZE_MAX - draw_below(worker, 100)};
    const size_t size = sizes[draw_below(worker, sizeof sizes / sizeof sizes[0])];
    if (size != block->size_bytes)
        give_wrongly(worker, block->pointer, size, JSTATUS_INVALID_SIZE);
}
/* Where memory has a new owner meanwhile, and of the same size, nobody can tell. */
static void give_twice(worker_t *worker) {
    const block_t block = worker->freed[draw_below(worker, MOST_FREED)];
    const block_t *owner = find_block(worker, block.pointer);
    if (block.pointer == NULL)
        return;
    if (owner == NULL || owner->pointer != block.pointer)
        give_wrongly(worker, block.pointer, block.size_bytes, JSTATUS_NOT_FOUND);
    else if (owner->size_bytes != block.size_bytes)
        give_wrongly(worker, block.pointer, block.size_bytes, JSTATUS_INVALID_SIZE);
}

static void ask_wrongly(worker_t *worker) {
    jallocator_t *allocator = worker->storm->allocator;
    void *pointer = worker;
    JEXPECT_STATUS(jallocator_allocate(allocator, draw_size(worker), 3 + 2 * draw_below(worker, 99),
                                       NULL, &pointer),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(pointer);
    JEXPECT_STATUS(jallocator_allocate(allocator, SIZE_MAX - draw_below(worker, SIZE_MAX / 2),
                                       draw_alignment(worker), NULL, &pointer),
                   JSTATUS_INVALID_SIZE);
    ++books_of(worker)->failure_count;
    JEXPECT_STATUS(jallocator_allocate(allocator, 1, 0, NULL, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jallocator_allocate(allocator, 0, 0, NULL, &pointer));
    JEXPECT_NULL(pointer);
    JEXPECT_OK(jallocator_deallocate(allocator, NULL, draw_size(worker), NULL));
}

static void destroy_too_soon(worker_t *worker) {
    JEXPECT_STATUS(jallocator_destroy(worker->storm->allocator), JSTATUS_BUSY);
}

/* ---- Questions ---- */

static void find(worker_t *worker) {
    const jallocator_t *allocator = worker->storm->allocator;
    const block_t *block = &worker->blocks[draw_below(worker, worker->live_count)];
    const unsigned char *inside = block->pointer + draw_below(worker, block->size_bytes);
    jallocation_t shown = JALLOCATION_INIT;
    JEXPECT_OK(one_in(worker, 4) ? jallocation_find(inside, &shown)
                                 : jallocator_find(allocator, inside, &shown));
    JEXPECT_EQ(shown.pointer, block->pointer);
    JEXPECT_EQ(shown.size_bytes, block->size_bytes);
    JEXPECT_EQ(shown.usable_bytes, block->usable_bytes);
    JEXPECT_EQ(shown.tag, block->tag);
    JEXPECT_TRUE(shown.live);
}

/* What is in no live block: behind one, or where one was. */
static void find_nothing(worker_t *worker) {
    const block_t *gone = &worker->freed[draw_below(worker, MOST_FREED)];
    const unsigned char *pointer = gone->pointer;
    if (worker->live_count != 0 && one_in(worker, 2)) {
        const block_t *block = &worker->blocks[draw_below(worker, worker->live_count)];
        pointer = block->pointer + block->size_bytes;
    }
    jallocation_t shown = JALLOCATION_INIT;
    if (pointer != NULL && find_block(worker, pointer) == NULL)
        JEXPECT_STATUS(jallocator_find(worker->storm->allocator, pointer, &shown),
                       JSTATUS_NOT_FOUND);
}

static void trim(worker_t *worker) {
    static const size_t kept[] = {0, 1, (size_t)1 << 16, (size_t)1 << 20, SIZE_MAX};
    JEXPECT_OK(jallocator_trim(worker->storm->allocator, kept[draw_below(worker, 5)]));
}
static void check(worker_t *worker) { JEXPECT_OK(jallocator_check(worker->storm->allocator)); }

static void clear_stats(worker_t *worker) {
    books_t *books = &worker->storm->books;
    JEXPECT_OK(jallocator_clear_stats(worker->storm->allocator));
    books->peak_bytes = books->in_use_bytes;
    books->largest_bytes = 0;
}

static bool count_seen(void *context, const jallocation_t *block) {
    JEXPECT_GE(block->usable_bytes, block->size_bytes);
    return --*(int *)context > 0;
}
static void look(worker_t *worker) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    int most = (int)draw_below(worker, 300);
    JEXPECT_OK(jallocator_get_stats(worker->storm->allocator, &stats));
    JEXPECT_LE(stats.largest_free_bytes, stats.free_bytes);
    JEXPECT_OK(jallocator_visit(worker->storm->allocator, count_seen, &most));
}

static void ignore_text(void *context, const char *text, size_t length) {
    (void)text;
    *(size_t *)context += length;
}
static void write_reports(worker_t *worker) {
    storm_t *storm = worker->storm;
    size_t written = 0;
    if (storm->is_short) /* they make tables */
        return;
    JEXPECT_OK(jallocator_dump(storm->allocator,
                               one_in(worker, 2) ? JALLOCATOR_DUMP_TEXT : JALLOCATOR_DUMP_JSON,
                               ignore_text, &written));
    JEXPECT_GT(written, 0);
    JEXPECT_STATUS(jallocator_report_leaks(ignore_text, &written),
                   worker->live_count != 0 ? JSTATUS_LEAKED : JSTATUS_SUCCESS);
}

/* ---- All against the model ---- */

static int compare_pointers(const void *a, const void *b) {
    const block_t *x = a, *y = b;
    return (x->pointer > y->pointer) - (x->pointer < y->pointer);
}

typedef struct walk {
    const worker_t *worker; /* its blocks in the order of addresses */
    size_t live_count;
} walk_t;
/* The first of its blocks that ends behind an address. */
static const block_t *walk_find(const worker_t *worker, const unsigned char *pointer) {
    size_t low = 0, high = worker->live_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const block_t *block = &worker->blocks[middle];
        if (block->pointer + block->size_bytes <= pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low < worker->live_count ? &worker->blocks[low] : NULL;
}
static bool walk_step(void *context, const jallocation_t *shown) {
    walk_t *walk = context;
    const unsigned char *begin = shown->pointer;
    const block_t *block = walk_find(walk->worker, begin);
    if (!shown->live) {
        if (block != NULL && block->pointer < begin + shown->size_bytes)
            JFAIL("the free block of %zu bytes at %p has live bytes", shown->size_bytes,
                  shown->pointer);
        return true;
    }
    ++walk->live_count;
    if (block == NULL || block->pointer != begin || block->size_bytes != shown->size_bytes)
        JFAIL("%zu bytes at %p are shown as live and are not", shown->size_bytes, shown->pointer);
    else
        JEXPECT_EQ(shown->tag, block->tag);
    return true;
}

static void compare_peaks(const books_t *books, const jallocator_stats_t *stats) {
    JEXPECT_EQ(stats->peak_in_use_bytes, books->peak_bytes);
    JEXPECT_EQ(stats->largest_request_bytes, books->largest_bytes);
}
static void compare_counts(const books_t *books, const jallocator_stats_t *stats) {
    JEXPECT_EQ(stats->allocation_count, books->allocation_count);
    JEXPECT_EQ(stats->live_count, books->live_count);
    JEXPECT_EQ(stats->in_use_bytes, books->in_use_bytes);
    JEXPECT_EQ(stats->failure_count, books->failure_count);
    JEXPECT_LE(stats->reserved_bytes, stats->peak_reserved_bytes);
    JEXPECT_LE(stats->largest_free_bytes, stats->free_bytes);
    JEXPECT_TRUE(stats->fragmentation >= 0 && stats->fragmentation < 1);
    JEXPECT_TRUE(stats->granted_bytes == 0 || stats->granted_bytes >= stats->in_use_bytes);
    JEXPECT_TRUE(stats->reserved_bytes == 0 || stats->reserved_bytes >= stats->in_use_bytes);
    JEXPECT_TRUE(stats->limit_bytes == 0 || stats->limit_bytes >= stats->in_use_bytes);
}

static void compare(worker_t *worker) {
    storm_t *storm = worker->storm;
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(storm->allocator, &stats));
    compare_counts(&storm->books, &stats);
    compare_peaks(&storm->books, &stats);
    JEXPECT_EQ(worker->live_count, storm->books.live_count);
    qsort(worker->blocks, worker->live_count, sizeof worker->blocks[0], compare_pointers);
    walk_t walk = {worker, 0};
    JEXPECT_OK(jallocator_visit(storm->allocator, walk_step, &walk));
    JEXPECT_EQ(walk.live_count, worker->live_count);
}

/* ---- What is around it ---- */

static void replace_stream(worker_t *worker) {
    jstream_t **stream = &worker->storm->streams[1 + draw_below(worker, STREAMS - 1)];
    if (worker->storm->is_short)
        return;
    JEXPECT_OK(jstream_destroy(*stream));
    JEXPECT_OK(jstream_create(jdevice_host(), stream));
}

/* ---- The storm ---- */

typedef enum when { ALWAYS, ALONE, TOGETHER } when_t;
typedef struct operation {
    void (*run)(worker_t *worker);
    unsigned weight;
    when_t when;
    bool needs_block;
} operation_t;
static const operation_t operations[] = {
    {allocate, 440, ALWAYS, false},      {deallocate, 400, ALWAYS, true},
    {reallocate, 30, ALWAYS, true},      {deallocate_in_use, 8, ALWAYS, true},
    {post, 20, TOGETHER, true},          {give_foreign, 5, ALWAYS, false},
    {give_interior, 10, ALWAYS, true},   {give_with_wrong_size, 10, ALWAYS, true},
    {give_twice, 15, ALONE, false},      {ask_wrongly, 3, ALWAYS, false},
    {destroy_too_soon, 1, ALWAYS, true}, {find, 20, ALWAYS, true},
    {find_nothing, 10, ALONE, false},    {trim, 3, ALWAYS, false},
    {check, 2, ALWAYS, false},           {look, 3, ALWAYS, false},
    {clear_stats, 2, ALONE, false},      {compare, 6, ALONE, false},
    {write_reports, 1, ALONE, false},    {replace_stream, 1, ALONE, false},
    {change_shortage, 6, ALONE, false},
};
enum { KINDS_OF_OPERATIONS = sizeof operations / sizeof operations[0] };

static const operation_t *draw_operation(worker_t *worker) {
    size_t sum = 0, number;
    for (size_t i = 0; i < KINDS_OF_OPERATIONS; ++i)
        sum += operations[i].weight;
    number = draw_below(worker, sum);
    const operation_t *operation = operations;
    for (; number >= operation->weight; ++operation)
        number -= operation->weight;
    return operation;
}

/* What is done where it can be done now; a full table, or a falling tide, frees instead. */
static const operation_t *fit_operation(const worker_t *worker, const operation_t *operation) {
    static const operation_t *const free_one = &operations[1];
    const bool full = worker->live_count >= MOST_LIVE - 1 ||
                      worker->storm->books.in_use_bytes + worker->books.in_use_bytes > MOST_BYTES;
    const bool takes = operation->run == allocate || operation->run == reallocate;
    if (takes && worker->live_count != 0 && (full || worker->shrinks))
        operation = free_one;
    const bool lacks = (operation->needs_block && worker->live_count == 0) ||
                       operation->when == (worker->alone ? TOGETHER : ALONE);
    return lacks ? NULL : operation;
}

static void step(worker_t *worker) {
    const operation_t *operation = NULL;
    if (one_in(worker, 256))
        worker->shrinks = one_in(worker, 4);
    while (operation == NULL)
        operation = fit_operation(worker, draw_operation(worker));
    operation->run(worker);
}

static void *work(void *argument) {
    worker_t *worker = argument;
    for (int64_t i = 0; i < worker->steps && !jtest_has_failure(); ++i)
        step(worker);
    return NULL;
}

static void add_books(books_t *books, const books_t *more) {
    books->allocation_count += more->allocation_count;
    books->failure_count += more->failure_count;
    books->live_count += more->live_count;
    books->in_use_bytes += more->in_use_bytes; /* may be less than nothing: modulo 2^64 */
    if (more->largest_bytes > books->largest_bytes)
        books->largest_bytes = more->largest_bytes;
}

/* What a worker still has, and what is in letters, is given back by worker 0, or is its own now. */
static void take_over(storm_t *storm, worker_t *from) {
    worker_t *first = &storm->workers[0];
    while (from->live_count != 0) {
        const block_t block = from->blocks[--from->live_count];
        expect_marks(&block);
        if (first->live_count < MOST_LIVE / 2) {
            first->blocks[first->live_count++] = block;
            continue;
        }
        JEXPECT_OK(jallocator_deallocate(storm->allocator, block.pointer, block.size_bytes,
                                         draw_stream(first)));
        book_deallocation(&storm->books, block.size_bytes);
    }
}
static void open_letters(storm_t *storm) {
    for (int i = 0; i < LETTERS; ++i) {
        block_t *letter = atomic_exchange(&storm->letters[i], NULL);
        worker_t *reader = &storm->workers[1];
        if (letter != NULL)
            reader->blocks[reader->live_count++] = *letter;
        take_over(storm, reader);
        free(letter);
    }
}

static void work_together(storm_t *storm, int64_t steps) {
    pthread_t threads[WORKERS];
    const size_t count = 2 + draw_below(&storm->workers[0], WORKERS - 1);
    for (size_t i = 0; i < count; ++i) {
        worker_t *worker = &storm->workers[i];
        worker->steps = steps / (int64_t)count;
        worker->alone = false;
        memset(&worker->books, 0, sizeof worker->books);
        if (i != 0)
            worker->random = draw(&storm->workers[0]);
    }
    for (size_t i = 1; i < count; ++i)
        pthread_create(&threads[i], NULL, work, &storm->workers[i]);
    work(&storm->workers[0]);
    for (size_t i = 1; i < count; ++i)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < count; ++i)
        add_books(&storm->books, &storm->workers[i].books);
    for (size_t i = 1; i < count; ++i)
        take_over(storm, &storm->workers[i]);
    open_letters(storm);

    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(storm->allocator, &stats));
    compare_counts(&storm->books, &stats);
    JEXPECT_EQ(stats.largest_request_bytes, storm->books.largest_bytes);
    JEXPECT_GE(stats.peak_in_use_bytes, storm->books.in_use_bytes);
    storm->workers[0].alone = true;
    storm->workers[0].books = (books_t){0};
    memset(storm->workers[0].freed, 0, sizeof storm->workers[0].freed);
    clear_stats(&storm->workers[0]);
}

static void work_alone(storm_t *storm, int64_t steps) {
    storm->workers[0].steps = steps;
    work(&storm->workers[0]);
    if (storm->is_short)
        change_shortage(&storm->workers[0]);
    compare(&storm->workers[0]);
}

static bool serves(jallocator_t *allocator) {
    void *pointer;
    if (jallocator_allocate(allocator, PROBE_BYTES, 0, NULL, &pointer) != JSTATUS_SUCCESS)
        return false;
    JEXPECT_OK(jallocator_deallocate(allocator, pointer, PROBE_BYTES, NULL));
    return true;
}

static void begin(storm_t *storm) {
    worker_t *worker = &storm->workers[0];
    storm->serves = serves(storm->allocator);
    storm->books.allocation_count = storm->serves;
    storm->books.failure_count = !storm->serves;
    clear_stats(worker);
    for (int i = 1; i < STREAMS; ++i)
        JEXPECT_OK(jstream_create(jdevice_host(), &storm->streams[i]));
}

/* Nothing is live, nothing is kept, and it works as it did. */
static void end(storm_t *storm) {
    worker_t *worker = &storm->workers[0];
    while (worker->live_count != 0)
        deallocate(worker);
    compare(worker);
    check(worker);
    for (int i = 1; i < STREAMS; ++i)
        JEXPECT_OK(jstream_destroy(storm->streams[i]));
    JEXPECT_OK(jallocator_trim(storm->allocator, 0));

    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    JEXPECT_OK(jallocator_get_stats(storm->allocator, &stats));
    JEXPECT_EQ(stats.in_use_bytes, 0);
    if (strncmp(storm->composition.text, "segment", 7) != 0) { /* which keeps its size */
        JEXPECT_EQ(stats.free_bytes, 0);
        JEXPECT_EQ(stats.reserved_bytes, 0);
    }
    JEXPECT_EQ(serves(storm->allocator), storm->serves);
    JEXPECT_OK(jallocator_destroy(storm->allocator));
    JEXPECT_EQ(jtest_live_bytes(), 0);
}

static bool may_be_shared(const jallocator_t *allocator) {
    for (; allocator != NULL; allocator = jallocator_below(allocator))
        if (jallocator_threads(allocator) == JALLOCATOR_THREADS_NONE)
            return false;
    return true;
}

/* Some operations on one composition; how many. */
static int64_t run_storm(storm_t *storm) {
    memset(storm, 0, sizeof *storm);
    worker_t *first = &storm->workers[0];
    for (int i = 0; i < WORKERS; ++i)
        storm->workers[i].storm = storm;
    first->random = jtest_random();
    first->alone = true;
    random_composition(&storm->composition, jtest_random_between(0, 2) != 0);
    JSCOPED_TRACE("%s", storm->composition.text);

    jallocator_t *below = storm->composition.has_provider ? NULL : jtest_failing_allocator();
    const size_t before = jtest_metadata_live_count();
    const jstatus_t status =
        below == NULL ? jallocator_compose(NULL, storm->composition.text, &storm->allocator)
                      : jallocator_compose_over(below, storm->composition.text, &storm->allocator);
    int64_t steps = 0;
    if (status == JSTATUS_SUCCESS) {
        const bool shared = may_be_shared(storm->allocator);
        /* 2 MiB for each block: slow. */
        const bool zeroes = strncmp(storm->composition.text, "huge", 4) == 0;
        begin(storm);
        for (int phase = 0; phase < 3 && !jtest_has_failure(); ++phase) {
            const int64_t count = jtest_random_between(100, 2000) / (zeroes ? 10 : 1);
            steps += count;
            if (phase == 1 && shared)
                work_together(storm, count);
            else
                work_alone(storm, count);
        }
        end(storm);
    } else {
        JEXPECT_STATUS(status, JSTATUS_INVALID_VALUE); /* options that do not go together */
    }
    JEXPECT_EQ(jtest_metadata_live_count(), before);
    return steps;
}

JTEST(AllocatorStorm, EveryAnswerIsTheModels) {
    static storm_t storm;
    static const char *const names[TAGS] = {NULL, "wind", "hail", "thunder", "rain"};
    for (int i = 1; i < TAGS; ++i)
        tags[i] = jtag_intern(names[i]);
    for (int64_t left = jtest_iterations(OPERATIONS); left > 0 && !jtest_has_failure();)
        left -= run_storm(&storm);
}
