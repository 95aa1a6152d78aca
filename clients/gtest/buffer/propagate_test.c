/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Whose allocator a result gets: every line of the table in buffer.h, against a reference that
 * reads it the other way round, from the operands. */

#include "buffer_helper.h"
#include "pretend_gpu.h"
#include "pretend_runtime.h"

#include <string.h>

/* What a test's operands are made with: allocators of each kind, on two devices, twice each. */
typedef struct world {
    pretend_runtime_t pretend;
    jdevice_t *devices[2];
    jbuffer_allocator_t *allocators[3][2][2]; /* kind, device, which */
} world_t;

static void world_open(world_t *world) {
    memset(world, 0, sizeof *world);
    JASSERT_OK(pretend_runtime_make(&world->pretend, 1, true));
    world->devices[0] = jdevice_host();
    world->devices[1] = &pretend_gpu_make()->device;
    for (int kind = 0; kind < 3; ++kind)
        for (int device = 0; device < 2; ++device)
            for (int which = 0; which < 2; ++which) {
                jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
                options.kind = (jbuffer_kind_t)kind;
                options.device = world->devices[device];
                JASSERT_OK(jbuffer_allocator_create(world->pretend.runtime, &options,
                                                    &world->allocators[kind][device][which]));
            }
}

static void world_close(world_t *world) {
    for (int kind = 0; kind < 3; ++kind)
        for (int device = 0; device < 2; ++device)
            for (int which = 0; which < 2; ++which)
                JEXPECT_OK(jbuffer_allocator_release(world->allocators[kind][device][which]));
    JEXPECT_OK(jruntime_release(world->pretend.runtime));
    JEXPECT_EQ(world->pretend.ended, 1);
}

/* A matrix of so many elements. */
static jbuffer_t *make_buffer(jbuffer_allocator_t *allocator, int64_t elements) {
    jbuffer_t *buffer = NULL;
    jlayout_t layout;
    JEXPECT_OK(jlayout_init(&layout, 2, (const int64_t[]){elements, 1}, JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_allocate(allocator, &layout, &buffer));
    return buffer;
}

typedef struct operand {
    int kind, device, which;
    int64_t elements;
} operand_t;

/* The operand whose allocator the result has, read off the table: of the operands that count the
 * strongest kind's, and of those the largest; but where all are alike the first. */
static size_t expected_operand(const operand_t *operands, size_t count) {
    size_t best = 0;
    bool alike = true;
    for (size_t i = 1; i < count; ++i)
        alike = alike && operands[i].kind == operands[0].kind &&
                operands[i].device == operands[0].device;
    if (alike)
        return 0;
    for (size_t i = 1; i < count; ++i)
        if (operands[i].kind > operands[best].kind ||
            (operands[i].kind == operands[best].kind &&
             operands[i].elements > operands[best].elements))
            best = i;
    return best;
}

/* All sets of up to three operands: kinds, devices, and sizes of 1 to 3 elements, with NULLs
 * between them. */
JTEST(Propagate, EveryLineOfTheTable) {
    world_t world;
    world_open(&world);
    jbuffer_t *buffers[3][2][2][3];
    for (int kind = 0; kind < 3; ++kind)
        for (int device = 0; device < 2; ++device)
            for (int which = 0; which < 2; ++which)
                for (int size = 0; size < 3; ++size)
                    buffers[kind][device][which][size] =
                        make_buffer(world.allocators[kind][device][which], size + 1);
    for (int count = 1; count <= 3; ++count) {
        int sets = 1;
        for (int i = 0; i < count; ++i)
            sets *= 18;
        for (int set = 0; set < sets && !jtest_has_failure(); ++set) {
            operand_t operands[3];
            jbuffer_t *given[7] = {NULL};
            for (int i = 0, rest = set; i < count; ++i, rest /= 18) {
                operands[i] = (operand_t){rest % 3, rest / 3 % 2, i % 2, rest / 6 % 3 + 1};
                given[2 * i + 1] = buffers[operands[i].kind][operands[i].device][operands[i].which]
                                          [operands[i].elements - 1];
            }
            const operand_t *expected = &operands[expected_operand(operands, (size_t)count)];
            jbuffer_allocator_t *allocator = NULL;
            JEXPECT_OK(jbuffer_propagate(7, given, &allocator));
            JEXPECT_EQ(allocator,
                       world.allocators[expected->kind][expected->device][expected->which]);
            JEXPECT_OK(jbuffer_allocator_release(allocator));
        }
    }
    for (int kind = 0; kind < 3; ++kind)
        for (int device = 0; device < 2; ++device)
            for (int which = 0; which < 2; ++which)
                for (int size = 0; size < 3; ++size)
                    JEXPECT_OK(jbuffer_release(buffers[kind][device][which][size]));
    world_close(&world);
}

/* A view counts with its own elements, not with those of the memory behind it. */
JTEST(Propagate, AViewIsAsLargeAsItsElements) {
    world_t world;
    world_open(&world);
    jbuffer_t *large = make_buffer(world.allocators[JBUFFER_LOCAL][0][0], 100), *view = NULL;
    jbuffer_t *small = make_buffer(world.allocators[JBUFFER_LOCAL][1][0], 10);
    JASSERT_OK(jbuffer_slice(large, (const int64_t[]){0, 0}, (const int64_t[]){9, 1}, NULL, &view));
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_propagate(2, (jbuffer_t *const[]){large, small}, &allocator));
    JEXPECT_EQ(allocator, world.allocators[JBUFFER_LOCAL][0][0]);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JASSERT_OK(jbuffer_propagate(2, (jbuffer_t *const[]){view, small}, &allocator));
    JEXPECT_EQ(allocator, world.allocators[JBUFFER_LOCAL][1][0]);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jbuffer_release(large));
    JEXPECT_OK(jbuffer_release(view));
    JEXPECT_OK(jbuffer_release(small));
    world_close(&world);
}

JTEST(Propagate, TheResultHasAReferenceOfItsOwn) {
    world_t world;
    world_open(&world);
    jbuffer_t *buffer = make_buffer(world.allocators[JBUFFER_LOCAL][0][0], 1);
    jbuffer_allocator_t *allocator;
    JASSERT_OK(jbuffer_propagate(1, &buffer, &allocator));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_OK(jbuffer_allocator_release(world.allocators[JBUFFER_LOCAL][0][0]));
    world.allocators[JBUFFER_LOCAL][0][0] = NULL;
    buffer = make_buffer(allocator, 1);
    JEXPECT_OK(jbuffer_allocator_release(allocator));
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_STATUS(jbuffer_allocator_retain(allocator), JSTATUS_NOT_FOUND);
    world_close(&world);
}

JTEST(Propagate, SeveralElementTypesAreRefused) {
    world_t world;
    world_open(&world);
    jbuffer_allocator_t *rebound, *allocator = NULL;
    JASSERT_OK(jbuffer_allocator_rebind(world.allocators[JBUFFER_LOCAL][0][0], JBUFFER_LOCAL,
                                        JDATATYPE_F32, &rebound));
    jbuffer_t *doubles = make_buffer(world.allocators[JBUFFER_LOCAL][0][0], 3),
              *singles = make_buffer(rebound, 3);
    jbuffer_t *distributed = make_buffer(world.allocators[JBUFFER_DISTRIBUTED][0][0], 3);
    JEXPECT_STATUS(jbuffer_propagate(2, (jbuffer_t *const[]){doubles, singles}, &allocator),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "convert them first");
    JEXPECT_STATUS(
        jbuffer_propagate(3, (jbuffer_t *const[]){distributed, doubles, singles}, &allocator),
        JSTATUS_INVALID_VALUE);
    JEXPECT_NULL(allocator);
    JEXPECT_OK(jbuffer_release(doubles));
    JEXPECT_OK(jbuffer_release(singles));
    JEXPECT_OK(jbuffer_release(distributed));
    JEXPECT_OK(jbuffer_allocator_release(rebound));
    world_close(&world);
}

JTEST(Propagate, SeveralRuntimesAreRefused) {
    world_t world;
    world_open(&world);
    jruntime_t *runtime;
    JASSERT_OK(jruntime_create(&runtime));
    const jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *foreign, *allocator = NULL;
    JASSERT_OK(jbuffer_allocator_create(runtime, &options, &foreign));
    jbuffer_t *one = make_buffer(world.allocators[JBUFFER_LOCAL][0][0], 3),
              *other = make_buffer(foreign, 3);
    JEXPECT_STATUS(jbuffer_propagate(2, (jbuffer_t *const[]){one, other}, &allocator),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(), "runtimes");
    JEXPECT_NULL(allocator);
    JEXPECT_OK(jbuffer_release(one));
    JEXPECT_OK(jbuffer_release(other));
    JEXPECT_OK(jbuffer_allocator_release(foreign));
    JEXPECT_OK(jruntime_release(runtime));
    world_close(&world);
}

/* More operands than memory can hold are not looked at, nor counted through. */
JTEST(Propagate, OperandsBeyondMemoryAreNotTouched) {
    static const size_t beyond[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / sizeof(void *) + 1};
    const jlayout_t layout = buffer_layout_of("[3]");
    jbuffer_allocator_t *makers[] = {
        buffer_allocator_alone(JBUFFER_BEST, JDATATYPE_F64, NULL, NULL),
        buffer_allocator_alone(JBUFFER_LOCAL, JDATATYPE_F64, NULL, NULL)};
    jbuffer_t **operands = jtest_guard_pages(sizeof *operands); /* one, NULL */
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        jbuffer_allocator_t *allocator = NULL;
        JEXPECT_STATUS(jbuffer_propagate(beyond[i], operands, &allocator), JSTATUS_INVALID_SIZE);
        for (int m = 0; m < 2; m++) {
            JEXPECT_STATUS(
                jbuffer_allocator_choose(makers[m], &layout, beyond[i], operands, &allocator),
                JSTATUS_INVALID_SIZE);
            JEXPECT_SUBSTR(jstatus_last_message(), "jbuffer_allocator_choose: count = ");
        }
        JEXPECT_NULL(allocator);
    }
    for (int m = 0; m < 2; m++)
        JEXPECT_OK(jbuffer_allocator_release(makers[m]));
}

JTEST(Propagate, WhatIsNoOperandIsAStatus) {
    world_t world;
    world_open(&world);
    jbuffer_t *buffer = make_buffer(world.allocators[JBUFFER_LOCAL][0][0], 3);
    jbuffer_allocator_t *allocator = NULL;
    char foreign[sizeof(jbuffer_t)] = {0};
    JEXPECT_STATUS(jbuffer_propagate(1, &buffer, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_propagate(1, NULL, &allocator), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jbuffer_propagate(0, NULL, &allocator), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_propagate(2, (jbuffer_t *const[]){NULL, NULL}, &allocator),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jbuffer_propagate(2, (jbuffer_t *const[]){buffer, (jbuffer_t *)(void *)foreign},
                                     &allocator),
                   JSTATUS_NOT_FOUND);
    JEXPECT_STATUS(
        jbuffer_propagate(1, (jbuffer_t *const[]){(jbuffer_t *)world.pretend.runtime}, &allocator),
        JSTATUS_NOT_FOUND);
    JEXPECT_OK(jbuffer_release(buffer));
    JEXPECT_STATUS(jbuffer_propagate(1, &buffer, &allocator), JSTATUS_NOT_FOUND);
    JEXPECT_NULL(allocator);
    world_close(&world);
}
