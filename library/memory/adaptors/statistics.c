/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What happened in a part of the program, and in the parts inside it.
 *
 * One set of books counts what passes. A push puts it aside and lets peak and largest request fall
 * to the present, as clearing does; all other numbers only ever go on, so a part's are differences.
 * A pop gives the differences and makes the peak of the part around the larger of the two. So an
 * allocation costs the same however deep the parts are, and each counts everything that happened
 * inside it:
 *
 *     in use        .            peak of the inner part is the outer one's as well
 *               .  / \  .
 *              / \/   \/ \__
 *           push  push    pop
 *
 * These books are apart from the object's, whose peaks a user may clear at any time. */

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"

typedef struct statistics_part {
    ji_books_t begin;               /* the books when it was pushed */
    struct statistics_part *around; /* NULL: the outermost */
} statistics_part_t;

typedef struct statistics_adaptor {
    ji_adaptor_t adaptor;
    ji_lock_t lock; /* around what follows */
    ji_books_t books;
    statistics_part_t *part; /* the innermost */
} statistics_adaptor_t;

static jstatus_t statistics_allocate(void *context, size_t size_bytes, size_t alignment,
                                     jstream_t *stream, void **pointer) {
    statistics_adaptor_t *statistics = context;
    jstatus_t status =
        jallocator_allocate(statistics->adaptor.below, size_bytes, alignment, stream, pointer);

    ji_lock_acquire(&statistics->lock);
    if (JI_LIKELY(status == JSTATUS_SUCCESS))
        ji_books_allocate(&statistics->books, size_bytes);
    else
        ++statistics->books.failure_count;
    ji_lock_release(&statistics->lock);

    return status;
}

/* Booked before it is done, so that no byte is counted twice; the object has seen that no more
 * comes back than is live. */
static jstatus_t statistics_deallocate(void *context, void *pointer, size_t size_bytes,
                                       jstream_t *stream) {
    statistics_adaptor_t *statistics = context;

    ji_lock_acquire(&statistics->lock);
    ji_books_deallocate(&statistics->books, size_bytes);
    ji_lock_release(&statistics->lock);

    jstatus_t status =
        jallocator_deallocate(statistics->adaptor.below, pointer, size_bytes, stream);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS)) {
        ji_lock_acquire(&statistics->lock);
        ji_books_restore(&statistics->books, size_bytes);
        ji_lock_release(&statistics->lock);
    }

    return status;
}

static void statistics_destroy(void *context) {
    statistics_adaptor_t *statistics = context;
    while (statistics->part != NULL) {
        statistics_part_t *part = statistics->part;
        statistics->part = part->around;
        ji_metadata_free(part);
    }

    ji_lock_fini(&statistics->lock);
    ji_metadata_free(statistics);
}

static jstatus_t statistics_create(const ji_request_t *request, jallocator_t **out) {
    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = statistics_allocate;
    ops.deallocate = statistics_deallocate;
    ops.destroy = statistics_destroy;

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_statistics};

    jstatus_t status = JSTATUS_SUCCESS;
    statistics_adaptor_t *statistics;
    JTRY_ALLOC(statistics = ji_metadata_zalloc(sizeof *statistics));
    statistics->adaptor.below = request->below;
    ji_lock_init(&statistics->lock);

    status = ji_allocator_make(&ops, statistics, &traits, out);
    if (status != JSTATUS_SUCCESS)
        statistics_destroy(statistics);

done:
    return status;
}

const ji_kind_t ji_kind_statistics = {
    .public = {"statistics", JALLOCATOR_ADAPTOR,
               "statistics of nested parts of a program, by push and pop", ji_no_keys},
    .create = statistics_create,
};

jstatus_t jallocator_create_statistics(jallocator_t *below, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_statistics, NULL, below, NULL, allocator);
}

jstatus_t jallocator_statistics_push(jallocator_t *allocator) {
    jallocator_t *found;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_statistics, __func__, &found));
    statistics_adaptor_t *statistics = found->context;

    statistics_part_t *part = ji_metadata_alloc(sizeof *part);
    if (part == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", __func__);

    ji_lock_acquire(&statistics->lock);
    *part = (statistics_part_t){statistics->books, statistics->part};
    statistics->part = part;
    ji_books_clear(&statistics->books);
    ji_lock_release(&statistics->lock);

    return JSTATUS_SUCCESS;
}

/* How much more there is than there was; nothing where a part freed more than it allocated. */
static size_t statistics_more(size_t now, size_t before) { return now > before ? now - before : 0; }

jstatus_t jallocator_statistics_pop(jallocator_t *allocator, jallocator_stats_t *stats) {
    jallocator_t *found;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_statistics, __func__, &found));
    JREQUIRE(stats != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jallocator_stats_t, stats, allocation_count));

    statistics_adaptor_t *statistics = found->context;
    ji_books_t *books = &statistics->books;

    ji_lock_acquire(&statistics->lock);
    statistics_part_t *part = statistics->part;
    if (part == NULL) {
        ji_lock_release(&statistics->lock);
        return ji_fail(JSTATUS_NOT_FOUND, "%s: no part was begun", __func__);
    }

    const ji_books_t *begin = &part->begin;
    const jallocator_stats_t counted = {
        .allocation_count = books->allocation_count - begin->allocation_count,
        .live_count = statistics_more(books->live_count, begin->live_count),
        .in_use_bytes = statistics_more(books->in_use_bytes, begin->in_use_bytes),
        .peak_in_use_bytes = statistics_more(books->peak_in_use_bytes, begin->in_use_bytes),
        .largest_request_bytes = books->largest_request_bytes,
        .failure_count = books->failure_count - begin->failure_count,
    };

    if (books->peak_in_use_bytes < begin->peak_in_use_bytes)
        books->peak_in_use_bytes = begin->peak_in_use_bytes;
    if (books->largest_request_bytes < begin->largest_request_bytes)
        books->largest_request_bytes = begin->largest_request_bytes;

    statistics->part = part->around;
    ji_lock_release(&statistics->lock);

    ji_metadata_free(part);
    JI_GIVE_RESULT(stats, &counted);
    return JSTATUS_SUCCESS;
}
