/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The examples of the text that buffers come from (TensorWrapper's design of an allocator), one
 * after the other, in one process: there in C++, here with jalloc. Above each test stands what the
 * example does; mpi/seed_mpi_test.c has those that need several processes, and the conversion of a
 * distributed buffer. */

#include "buffer_helper.h"
#include "jtest.h"

#include "jalloc/buffer.h"

#include <string.h>

#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})

/* An allocator of that kind of buffers, as every example begins. */
static jbuffer_allocator_t *seed_allocator(jbuffer_kind_t kind) {
    return buffer_allocator_alone(kind, JDATATYPE_F64, NULL, NULL);
}

/* The layout that somebody gives: a matrix of 5 x 7, in blocks of 2 x 3. */
static jlayout_t seed_layout(void) {
    jlayout_t layout;
    JEXPECT_OK(jlayout_parse("[5,7] blocks=(2,3)", &layout, NULL));
    return layout;
}

static double element(jbuffer_t *buffer, int64_t i, int64_t j) {
    double value = -1;
    JEXPECT_OK(jbuffer_get(buffer, EXTENTS(i, j), &value));
    return value;
}

/* A view of the runtime is fetched, and an allocator of replicated buffers is made from it and from
 * nothing else. */
JTEST(SeedBuffer, AnAllocatorIsMadeFromARuntimeView) {
    jruntime_t *runtime = NULL;
    jbuffer_allocator_t *allocator = NULL;
    JASSERT_OK(jruntime_create(&runtime));
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_REPLICATED;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &allocator));

    /* It has access to what the runtime knows: how many processes there are, and how much
     * memory. */
    jruntime_info_t info = JRUNTIME_INFO_INIT;
    JEXPECT_TRUE(jbuffer_allocator_runtime(allocator) == runtime);
    JEXPECT_OK(jruntime_get_info(jbuffer_allocator_runtime(allocator), &info));
    JEXPECT_TRUE(info.processes == 1 && info.rank == 0);
    JEXPECT_TRUE(info.node_available_bytes > 0 &&
                 info.node_available_bytes <= info.node_total_bytes);
    JEXPECT_OK(jruntime_release(runtime));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* Given a layout, the allocator allocates: a buffer whose elements nobody has set. */
JTEST(SeedBuffer, AllocateGivesAnUninitializedBuffer) {
    jbuffer_allocator_t *allocator = seed_allocator(JBUFFER_REPLICATED);
    const jlayout_t layout = seed_layout();
    jbuffer_t *buffer = NULL;
    JASSERT_OK(jbuffer_allocate(allocator, &layout, &buffer));

    jbuffer_kind_t kind;
    jlayout_t own;
    double *elements = NULL;
    JEXPECT_OK(jbuffer_get_kind(buffer, &kind));
    JEXPECT_EQ(kind, JBUFFER_REPLICATED);
    JEXPECT_OK(jbuffer_get_layout(buffer, &own));
    JEXPECT_TRUE(jlayout_equal(&own, &layout));
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, (void **)&elements));
    for (int i = 0; i < 35; ++i) /* it is there to be written to */
        elements[i] = i;
    JEXPECT_EQ(element(buffer, 4, 6), 34);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* The allocator constructs from a layout and the number 0: a buffer of zeros. */
JTEST(SeedBuffer, ConstructWithZeroGivesZeros) {
    jbuffer_allocator_t *allocator = seed_allocator(JBUFFER_REPLICATED);
    const jlayout_t layout = seed_layout();
    const double zero = 0;
    jbuffer_t *buffer = NULL;
    JASSERT_OK(jbuffer_construct_value(allocator, &layout, &zero, &buffer));
    for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 7; ++j)
            JEXPECT_EQ(element(buffer, i, j), 0);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* "An identity tensor", which the text names beside zeros. */
JTEST(SeedBuffer, ConstructIdentityGivesOnesOnTheDiagonal) {
    jbuffer_allocator_t *allocator = seed_allocator(JBUFFER_REPLICATED);
    const jlayout_t layout = seed_layout();
    jbuffer_t *buffer = NULL;
    JASSERT_OK(jbuffer_construct_identity(allocator, &layout, &buffer));
    for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 7; ++j)
            JEXPECT_EQ(element(buffer, i, j), i == j);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* What the function of the example sees, block by block. */
typedef struct seen {
    int blocks, left_empty;
    int asked[5][7]; /* how often each element lay in a block */
} seen_t;

/* 10 i + j where i and j are of the whole; but blocks that begin in column 3 are zero and left
 * empty. */
static jbuffer_filled_t fill(void *context, const jbuffer_block_t *block) {
    seen_t *seen = context;
    seen->blocks++;
    for (int64_t j = 0; j < block->extents[1]; ++j)
        for (int64_t i = 0; i < block->extents[0]; ++i)
            seen->asked[block->starts[0] + i][block->starts[1] + j]++;
    if (block->starts[1] == 3) {
        seen->left_empty++;
        return JBUFFER_BLOCK_ZERO;
    }
    double *data = block->data;
    for (int64_t j = 0; j < block->extents[1]; ++j)
        for (int64_t i = 0; i < block->extents[0]; ++i)
            data[i * block->strides[0] + j * block->strides[1]] =
                (double)(10 * (block->starts[0] + i) + block->starts[1] + j);
    return JBUFFER_BLOCK_FILLED;
}

/* The allocator constructs from a layout and a function. The function gets a shape, which says
 * where in the whole tensor the piece belongs, and a local buffer for it; it fills the buffer and
 * hands it back, or leaves it empty: it is zero. */
JTEST(SeedBuffer, ConstructWithAFunctionFillsBlockByBlock) {
    jbuffer_allocator_t *allocator = seed_allocator(JBUFFER_REPLICATED);
    const jlayout_t layout = seed_layout();
    jbuffer_t *buffer = NULL;
    seen_t seen;
    memset(&seen, 0, sizeof seen);
    JASSERT_OK(jbuffer_construct_function(allocator, &layout, fill, &seen, 1, &buffer));
    JEXPECT_EQ(seen.blocks, 9); /* 3 x 3, the last ones smaller */
    JEXPECT_EQ(seen.left_empty, 3);
    for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 7; ++j) {
            JEXPECT_EQ(seen.asked[i][j], 1);
            JEXPECT_EQ(element(buffer, i, j), j >= 3 && j < 6 ? 0 : 10 * i + j);
        }
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(allocator));
}

/* An allocator of one kind of buffers is rebound: it gives the one for replicated buffers of the
 * same backend. A backend that cannot make the other kind says so. */
JTEST(SeedBuffer, RebindGivesTheAllocatorOfAnotherKind) {
    jbuffer_allocator_t *local = seed_allocator(JBUFFER_LOCAL), *replicated = NULL, *none = NULL;
    jbuffer_allocator_options_t of_local = JBUFFER_ALLOCATOR_OPTIONS_INIT, of_replicated = of_local;
    JASSERT_OK(jbuffer_allocator_rebind(local, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    JEXPECT_OK(jbuffer_allocator_get_options(local, &of_local));
    JEXPECT_OK(jbuffer_allocator_get_options(replicated, &of_replicated));
    JEXPECT_EQ(of_replicated.kind, JBUFFER_REPLICATED);
    JEXPECT_TRUE(of_replicated.device == of_local.device && of_replicated.type == of_local.type);
    JEXPECT_TRUE(jbuffer_allocator_runtime(replicated) == jbuffer_allocator_runtime(local));
    JEXPECT_STATUS(jbuffer_allocator_rebind(local, JBUFFER_DISTRIBUTED, JDATATYPE_F64, &none),
                   JSTATUS_NOT_FOUND);
    JEXPECT_NULL(none);
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(local));
}

/* The buffer that the example converts: made by the first allocator, from a layout and values. */
static jbuffer_t *seed_values(jbuffer_allocator_t *allocator) {
    const double values[2][3] = {{1, 2, 3}, {4, 5, 6}};
    jbuffer_t *buffer = NULL;
    JEXPECT_OK(jbuffer_construct_list(allocator, JBUFFER_LIST_2(values), &buffer));
    return buffer;
}

static void expect_values(jbuffer_t *buffer, jbuffer_kind_t expected_kind) {
    jbuffer_kind_t kind;
    JASSERT_OK(jbuffer_get_kind(buffer, &kind));
    JEXPECT_EQ(kind, expected_kind);
    for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 3; ++j)
            JEXPECT_EQ(element(buffer, i, j), 3 * i + j + 1);
}

/* The rebound allocator constructs from a buffer of the other kind: a copy, and the original
 * stays. */
JTEST(SeedBuffer, ConstructFromABufferCopies) {
    jbuffer_allocator_t *local = seed_allocator(JBUFFER_LOCAL), *replicated = NULL;
    JASSERT_OK(jbuffer_allocator_rebind(local, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    jbuffer_t *buffer = seed_values(local), *copy = NULL;
    JASSERT_OK(jbuffer_construct_copy(replicated, buffer, &copy));
    expect_values(copy, JBUFFER_REPLICATED);
    const double other = 99;
    JEXPECT_OK(jbuffer_set(copy, EXTENTS(0, 0), &other));
    expect_values(buffer, JBUFFER_LOCAL); /* has nothing to do with the copy */
    JEXPECT_OK(jbuffer_release(copy));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(local));
}

/* The same with a buffer that is moved: its memory is used again as far as can be; of one process,
 * all of it. */
JTEST(SeedBuffer, ConstructFromAMovedBufferUsesItsMemory) {
    jbuffer_allocator_t *local = seed_allocator(JBUFFER_LOCAL), *replicated = NULL;
    JASSERT_OK(jbuffer_allocator_rebind(local, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    jbuffer_t *buffer = seed_values(local), *moved = NULL;
    void *before = NULL, *after = NULL;
    bool reused = false;
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, &before));
    JASSERT_OK(jbuffer_construct_move(replicated, &buffer, &moved, &reused));
    JEXPECT_NULL(buffer);
    JEXPECT_TRUE(reused);
    JEXPECT_OK(jbuffer_as_pointer(moved, JDEVICE_HOST, &after));
    JEXPECT_TRUE(before == after);
    expect_values(moved, JBUFFER_REPLICATED);
    /* Where somebody else looks at the memory it is copied, and the other keeps what it sees. */
    jbuffer_t *view = NULL, *again = NULL;
    JASSERT_OK(jbuffer_slice(moved, EXTENTS(0, 0), EXTENTS(2, 3), NULL, &view));
    JASSERT_OK(jbuffer_construct_move(local, &moved, &again, &reused));
    JEXPECT_FALSE(reused);
    expect_values(again, JBUFFER_LOCAL);
    expect_values(view, JBUFFER_REPLICATED);
    JEXPECT_OK(jbuffer_release(view));
    JEXPECT_OK(jbuffer_release(again));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(local));
}

/* A tensor keeps the allocator that made its buffer: who takes it from there makes further buffers
 * that are compatible with the first; and the allocator propagates through expressions, by a rule
 * where operands are mixed. */
JTEST(SeedBuffer, TheAllocatorOfABufferMakesCompatibleOnes) {
    jbuffer_allocator_t *local = seed_allocator(JBUFFER_LOCAL), *replicated = NULL, *taken = NULL,
                        *result = NULL;
    JASSERT_OK(jbuffer_allocator_rebind(local, JBUFFER_REPLICATED, JDATATYPE_F64, &replicated));
    jbuffer_t *a = seed_values(local), *b = seed_values(replicated), *c = NULL;
    JASSERT_OK(jbuffer_get_allocator(a, &taken));
    JEXPECT_TRUE(taken == local);
    JASSERT_OK(jbuffer_construct_copy(taken, b, &c));
    expect_values(c, JBUFFER_LOCAL);

    jbuffer_t *const alike[] = {a, c}, *const mixed[] = {a, b};
    JASSERT_OK(jbuffer_propagate(2, alike, &result)); /* allocators are not mixed: the same one */
    JEXPECT_TRUE(result == local);
    JEXPECT_OK(jbuffer_allocator_release(result));
    JASSERT_OK(jbuffer_propagate(2, mixed, &result)); /* replicated over local */
    JEXPECT_TRUE(result == replicated);
    JEXPECT_OK(jbuffer_allocator_release(result));
    JEXPECT_OK(jbuffer_release(a));
    JEXPECT_OK(jbuffer_release(b));
    JEXPECT_OK(jbuffer_release(c));
    JEXPECT_OK(jbuffer_allocator_release(replicated));
    JEXPECT_OK(jbuffer_allocator_release(local));
}

/* The allocator of a buffer knows what is really in it: the down-cast gives the pointer, or says
 * what is wrong. */
JTEST(SeedBuffer, DownCastsAreChecked) {
    jbuffer_allocator_t *local = seed_allocator(JBUFFER_LOCAL);
    jbuffer_t *buffer = seed_values(local);
    const double *elements = NULL;
    jbuffer_part_t part = JBUFFER_PART_INIT;
    JEXPECT_OK(jbuffer_as_pointer(buffer, JDEVICE_HOST, (void **)&elements));
    JEXPECT_TRUE(elements[0] == 1 && elements[1] == 4 && elements[5] == 6); /* column-major */
    JEXPECT_STATUS(jbuffer_as_pointer(buffer, JDEVICE_CUDA, (void **)&elements),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_as_part(buffer, &part), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(local));
}
