/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Random operations against a model; many threads; many processes; producers and consumers. */

#include "segment_model.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- One thread, several attachments, a model ---- */

typedef struct model_row {
    const char *label;
    jsegment_backend_t backend;
    jshared_kind_t kind;
    size_t bytes, size_bytes, max_bytes;
} model_row_t;
static const model_row_t model_rows[] = {
    {"general_small", JSEGMENT_MEMFD, JSHARED_GENERAL, 1024, MIB, 0},
    {"general", JSEGMENT_POSIX, JSHARED_GENERAL, 64 * KIB, 2 * MIB, 0},
    {"general_tight", JSEGMENT_MEMFD, JSHARED_GENERAL, 32 * KIB, 128 * KIB, 0},
    {"general_large", JSEGMENT_ARRAY, JSHARED_GENERAL, 512 * KIB, 4 * MIB, 0},
    {"general_grows", JSEGMENT_FILE, JSHARED_GENERAL, 128 * KIB, 128 * KIB, 6 * MIB},
    {"pages_16", JSEGMENT_MEMFD, JSHARED_PAGES, 16, 256 * KIB, 0},
    {"pages_272", JSEGMENT_MEMFD, JSHARED_PAGES, 272, 256 * KIB, MIB},
    {"pages_4096", JSEGMENT_MEMFD, JSHARED_PAGES, 4096, MIB, 0},
    {"pages_20000", JSEGMENT_ARRAY, JSHARED_PAGES, 20000, 2 * MIB, 0},
};
static void model_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const model_row_t *)parameter)->label);
}

JTEST_P_NAMED(SharedModel, RandomOperationsKeepTheBooks, model_row_t, model_rows, model_label) {
    PLACE(place, param->backend, param->size_bytes, param->max_bytes);
    static segment_model_t model;
    if (!segment_model_begin(&model, &place, param->kind, param->bytes))
        return;
    const int64_t steps = jtest_iterations(15000);
    for (int64_t i = 1; i <= steps && !jtest_has_failure(); ++i) {
        segment_model_step(&model);
        if (i % 97 == 0)
            segment_model_compare(&model);
    }
    if (strcmp(param->label, "general_tight") == 0)
        JEXPECT_GT(model.refused, 0);
    segment_model_end(&model);
}

/* A stack has no blocks to give back: marks instead, and what lies below a mark stays as it is. */
JTEST(SharedModel, AStacksBlocksStayWholeBelowEachMark) {
    enum { DEPTH = 40 };
    PLACE(place, JSEGMENT_MEMFD, MIB, 0);
    jsegment_t *segment = place_create(&place), *second = place_attach(&place);
    JASSERT_TRUE(segment != NULL && second != NULL);
    jshared_t *stacks[2] = {shared_make_kind(segment, 1, JSHARED_STACK, 200000),
                            shared_open(second, 1)};
    struct {
        uint64_t mark, stamp;
        joffset_t offset;
        size_t size;
    } blocks[DEPTH];
    unsigned depth = 0;
    for (int64_t i = jtest_iterations(20000); i > 0 && !jtest_has_failure(); --i) {
        jshared_t *stack = stacks[jtest_random_bool()];
        if (depth < DEPTH && jtest_random_between(0, 99) < 55) {
            const size_t size = (size_t)jtest_random_between(1, 6000);
            uint64_t mark;
            joffset_t offset;
            JASSERT_OK(jshared_get_mark(stack, &mark));
            const jstatus_t status =
                jshared_allocate(stack, size, (size_t)1 << jtest_random_between(0, 8), &offset);
            if (status == JSTATUS_MEMORY_ERROR)
                continue;
            JASSERT_OK(status);
            blocks[depth].mark = mark;
            blocks[depth].stamp = jtest_random();
            blocks[depth].offset = offset;
            blocks[depth].size = size;
            stamp_write(shared_bytes(stack, offset, size), size, blocks[depth++].stamp);
        } else if (depth > 0) {
            const unsigned to = (unsigned)jtest_random_between(0, depth - 1);
            for (unsigned k = 0; k < depth; ++k)
                JASSERT_TRUE(stamp_holds(shared_bytes(stack, blocks[k].offset, blocks[k].size),
                                         blocks[k].size, blocks[k].stamp));
            JASSERT_OK(jshared_rewind(stack, blocks[to].mark));
            depth = to;
        }
        if (i % 500 == 0)
            segment_books(segment);
    }
    JEXPECT_OK(jsegment_detach(second));
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Threads ---- */

enum { THREADS = 8 };

static void *run_worker(void *argument) {
    worker_run(argument);
    return NULL;
}
static void run_threads(worker_t workers[THREADS]) {
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; ++i)
        JASSERT_EQ(pthread_create(&threads[i], NULL, run_worker, &workers[i]), 0);
    for (unsigned i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
}

JTEST(SharedThreads, ManyInOneAttachment) {
    PLACE(place, JSEGMENT_MEMFD, MIB, 16 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    static board_t board;
    memset(&board, 0, sizeof board);
    worker_t workers[THREADS];
    for (unsigned i = 0; i < THREADS; ++i)
        workers[i] = (worker_t){shared, &board, jtest_random(), jtest_iterations(8000),
                                20000,  0,      i % 4 == 0};
    run_threads(workers);
    segment_books(segment);
    board_clear(&board, shared);
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
}

JTEST(SharedThreads, EachWithItsOwnAttachment) {
    PLACE(place, JSEGMENT_POSIX, MIB, 16 * MIB);
    jsegment_t *segments[THREADS + 1] = {place_create(&place)};
    JASSERT_NOT_NULL(segments[0]);
    jshared_t *shared = shared_make(segments[0], 1);
    static board_t board;
    memset(&board, 0, sizeof board);
    worker_t workers[THREADS];
    place.options.threads = JALLOCATOR_THREADS_NONE;
    for (unsigned i = 0; i < THREADS; ++i) {
        JASSERT_NOT_NULL(segments[i + 1] = place_attach(&place));
        workers[i] = (worker_t){shared_open(segments[i + 1], 1),
                                &board,
                                jtest_random(),
                                jtest_iterations(8000),
                                20000,
                                0,
                                i % 4 == 0};
    }
    run_threads(workers);
    segment_books(segments[0]);
    board_clear(&board, shared);
    segment_expect_empty(segments[0]);
    for (unsigned i = 0; i < THREADS; ++i)
        JEXPECT_OK(jsegment_detach(segments[i + 1]));
    JEXPECT_OK(jsegment_destroy(segments[0]));
}

/* Everything else at once: allocators come and go, roots, statistics, attachments. */
static void *run_visitor(void *argument) {
    const place_t *place = argument;
    for (int64_t i = jtest_iterations(60); i > 0 && !jtest_has_failure(); --i) {
        jsegment_t *segment = place_attach(place);
        if (segment == NULL)
            break;
        const uint64_t id = 1000 + jsegment_slot(segment);
        jshared_t *own = shared_make(segment, id);
        jsegment_stats_t stats = JSEGMENT_STATS_INIT;
        joffset_t offset = JOFFSET_NULL;
        JEXPECT_OK(jsegment_get_stats(segment, &stats));
        /* Also while the others are in the midst of their work. */
        JEXPECT_OK(jsegment_verify(segment));
        if (own != NULL && jshared_allocate(own, 30000, 0, &offset) == JSTATUS_SUCCESS) {
            stamp_write(shared_bytes(own, offset, 30000), 30000, id);
            JEXPECT_OK(jsegment_set_root(segment, "visitor", offset));
            JEXPECT_TRUE(stamp_holds(shared_bytes(own, offset, 30000), 30000, id));
        }
        JEXPECT_OK(jshared_destroy(own));
        JEXPECT_OK(jsegment_detach(segment));
    }
    return NULL;
}
JTEST(SharedThreads, VisitorsComeAndGoMeanwhile) {
    PLACE(place, JSEGMENT_MEMFD, 4 * MIB, 16 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    pthread_t threads[4];
    worker_t workers[2];
    for (unsigned i = 0; i < 4; ++i) {
        if (i < 2)
            workers[i] =
                (worker_t){shared, NULL, jtest_random(), jtest_iterations(10000), 20000, 0, false};
        JASSERT_EQ(i < 2 ? pthread_create(&threads[i], NULL, run_worker, &workers[i])
                         : pthread_create(&threads[i], NULL, run_visitor, &place),
                   0);
    }
    for (unsigned i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    segment_expect_empty(segment);
    JEXPECT_EQ(segment_stats(segment).processes, 1);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* ---- Processes ---- */

typedef struct crowd {
    place_t *place;
    board_t *board;
    uint64_t random[4];
    unsigned index;
    size_t largest_bytes;
} crowd_t;

static void run_process(peer_t *self, void *argument) {
    const crowd_t *crowd = argument;
    jsegment_t *segment = place_attach(crowd->place);
    JASSERT_NOT_NULL(segment);
    worker_t worker = {shared_open(segment, 1), crowd->board,         crowd->random[crowd->index],
                       jtest_iterations(20000), crowd->largest_bytes, 0,
                       crowd->index % 2 == 0};
    peer_tell(self);
    peer_await(self);
    worker_run(&worker);
    peer_tell(self); /* what it owns on the board is its own until it detaches */
    peer_await(self);
    JEXPECT_OK(jsegment_detach(segment));
}
static const backend_row_t shared_backends[] = {SHARED_BACKENDS};
JTEST_P_NAMED(SharedProcesses, ManyWorkInOneSegment, backend_row_t, shared_backends,
              backend_label) {
    PLACE(place, param->backend, param->backend == JSEGMENT_ARRAY ? 16 * MIB : MIB, 16 * MIB);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    board_t *board = board_map();
    crowd_t crowd = {
        &place, board, {jtest_random(), jtest_random(), jtest_random(), jtest_random()}, 0, 20000};
    PEER(first, run_process, &crowd);
    crowd.index = 1;
    PEER(second, run_process, &crowd);
    crowd.index = 2;
    PEER(third, run_process, &crowd);
    crowd.index = 3;
    PEER(fourth, run_process, &crowd);
    peer_t *peers[] = {&first, &second, &third, &fourth};
    for (unsigned i = 0; i < 4; ++i)
        JASSERT_TRUE(peer_await(peers[i]));
    for (unsigned i = 0; i < 4; ++i)
        peer_tell(peers[i]);
    worker_t worker = {shared, board, jtest_random(), jtest_iterations(20000), 20000, 0, false};
    worker_run(&worker); /* and this process too */
    for (unsigned i = 0; i < 4; ++i)
        JASSERT_TRUE(peer_await(peers[i]));
    JEXPECT_EQ(segment_books(segment).processes, 5);
    JEXPECT_GT(board_clear(board, shared), 0);
    segment_expect_empty(segment);
    for (unsigned i = 0; i < 4; ++i) {
        peer_tell(peers[i]);
        peer_end(peers[i]);
    }
    segment_expect_empty(segment);
    JEXPECT_EQ(segment_stats(segment).processes, 1);
    JEXPECT_EQ(segment_stats(segment).reaped_count, 0);
    JEXPECT_OK(jsegment_destroy(segment));
    munmap(board, sizeof *board);
}

/* One process makes, the other frees: what is freed from afar must come back to its maker, or
 * memory runs out. */
static void produce(peer_t *self, void *argument) {
    const crowd_t *crowd = argument;
    jsegment_t *segment = place_attach(crowd->place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_open(segment, 1);
    uint64_t random = crowd->random[0];
    for (uint64_t made = 0, total = (uint64_t)jtest_iterations(60000); made < total; ++made) {
        joffset_atomic_t *cell = &crowd->board->cells[made % BOARD_CELLS];
        while (joffset_load(cell) != JOFFSET_NULL)
            usleep(50); /* the consumer is behind */
        const size_t size = 16 + jtest_random_next(&random) % (crowd->largest_bytes - 15);
        joffset_t offset;
        const jstatus_t status = jshared_allocate(shared, size, 0, &offset);
        /* Nobody waits for more. */
        __atomic_store_n(&crowd->board->go, status != JSTATUS_SUCCESS, __ATOMIC_RELEASE);
        /* Never out of memory. */
        JASSERT_OK(status);
        unsigned char *bytes = shared_bytes(shared, offset, size);
        memcpy(bytes, &made, 8);
        memcpy(bytes + size - 8, &made, 8);
        joffset_store(cell, offset);
    }
    peer_tell(self);
    peer_await(self);
    JEXPECT_OK(jsegment_detach(segment));
}
static void consume(const crowd_t *crowd, jshared_t *shared, size_t batch_count) {
    joffset_t batch[64];
    size_t batched = 0;
    for (uint64_t seen = 0, total = (uint64_t)jtest_iterations(60000); seen < total; ++seen) {
        joffset_atomic_t *cell = &crowd->board->cells[seen % BOARD_CELLS];
        joffset_t offset;
        const double begin = jtest_now_ms();
        while ((offset = joffset_load(cell)) == JOFFSET_NULL) {
            usleep(50);
            if (__atomic_load_n(&crowd->board->go, __ATOMIC_ACQUIRE) != 0 ||
                jtest_now_ms() - begin > 100000) {
                JFAIL("the producer stopped at %llu", (unsigned long long)seen);
                return;
            }
        }
        uint64_t number;
        memcpy(&number, shared_bytes(shared, offset, 8), 8);
        JASSERT_EQ(number, seen);
        batch[batched++] = offset;
        if (batched == batch_count || seen + 1 == total) {
            JASSERT_OK(batch_count == 1 ? jshared_deallocate(shared, offset)
                                        : jshared_deallocate_many(shared, batched, batch));
            batched = 0;
        }
        joffset_store(cell, JOFFSET_NULL);
    }
}
typedef struct flow_row {
    const char *label;
    size_t batch, largest_bytes, size_bytes;
} flow_row_t;
static const flow_row_t flows[] = {{"single_small", 1, 500, 512 * KIB},
                                   {"batches_small", 64, 500, 512 * KIB},
                                   {"single_large", 1, 12000, 4 * MIB},
                                   {"batches_large", 64, 12000, 5 * MIB}};
static void flow_label(const void *parameter, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const flow_row_t *)parameter)->label);
}
JTEST_P_NAMED(SharedProcesses, ProducerAndConsumerNeedBoundedMemory, flow_row_t, flows,
              flow_label) {
    PLACE(place, JSEGMENT_MEMFD, param->size_bytes, 0);
    jsegment_t *segment = place_create(&place);
    JASSERT_NOT_NULL(segment);
    jshared_t *shared = shared_make(segment, 1);
    board_t *board = board_map();
    crowd_t crowd = {&place, board, {jtest_random()}, 0, param->largest_bytes};
    PEER(producer, produce, &crowd);
    consume(&crowd, shared, param->batch);
    JASSERT_TRUE(peer_await(&producer));
    segment_expect_empty(segment);
    peer_tell(&producer);
    peer_end(&producer);
    segment_expect_empty(segment);
    JEXPECT_OK(jsegment_destroy(segment));
    munmap(board, sizeof *board);
}
