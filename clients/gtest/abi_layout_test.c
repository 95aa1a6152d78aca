/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Public layouts that can never change, since programs have them compiled in: structs that do not
 * begin with their size (their comments end with "Frozen."), and numbers that arrays inside of
 * structs have. They are compared when this is compiled. A line here is changed before a first
 * release alone; after it a struct gets a successor of another name. */

#include "jtest.h"

#include <stddef.h>

#include "jalloc/jalloc.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " is frozen")
#define AT(type, member, bytes)                                                                    \
    _Static_assert(offsetof(type, member) == (bytes), #type " is frozen")
#define NUMBER(name, value) _Static_assert((name) == (value), #name " is frozen")

SIZE(jfloat16_t, 2);
AT(jfloat16_t, bits, 0);

SIZE(jbfloat16_t, 2);
AT(jbfloat16_t, bits, 0);

SIZE(jstack_mark_t, 8);
AT(jstack_mark_t, height, 0);

SIZE(jtrack_record_t, 24);
AT(jtrack_record_t, bytes, 0);
AT(jtrack_record_t, time_ns, 8);
AT(jtrack_record_t, tag, 16);

SIZE(jvisitor_t, 24);
AT(jvisitor_t, grow, 0);
AT(jvisitor_t, shrink, 8);
AT(jvisitor_t, context, 16);

SIZE(jallocator_key_t, 32);
AT(jallocator_key_t, name, 0);
AT(jallocator_key_t, syntax, 8);
AT(jallocator_key_t, fallback, 16);
AT(jallocator_key_t, meaning, 24);

SIZE(jallocator_kind_t, 32);
AT(jallocator_kind_t, name, 0);
AT(jallocator_kind_t, role, 8);
AT(jallocator_kind_t, summary, 16);
AT(jallocator_kind_t, keys, 24);

SIZE(jconfig_unknown_t, 72);
AT(jconfig_unknown_t, name, 0);
AT(jconfig_unknown_t, nearest, 64);

SIZE(jlayout_t, 200);
AT(jlayout_t, rank, 0);
AT(jlayout_t, structure, 4);
AT(jlayout_t, extents, 8);
AT(jlayout_t, strides, 72);
AT(jlayout_t, blocks, 136);

SIZE(jdistribution_t, 48);
AT(jdistribution_t, extents, 0);
AT(jdistribution_t, blocks, 16);
AT(jdistribution_t, grid, 32);
AT(jdistribution_t, coordinates, 40);

SIZE(jbuffer_block_t, 40);
AT(jbuffer_block_t, rank, 0);
AT(jbuffer_block_t, type, 4);
AT(jbuffer_block_t, starts, 8);
AT(jbuffer_block_t, extents, 16);
AT(jbuffer_block_t, strides, 24);
AT(jbuffer_block_t, data, 32);

SIZE(joffset_atomic_t, 8);
AT(joffset_atomic_t, value, 0);

SIZE(jshared_pointer_t, 16);
AT(jshared_pointer_t, allocator_id, 0);
AT(jshared_pointer_t, offset, 8);

SIZE(jshared_pointer_atomic_t, 16);
AT(jshared_pointer_atomic_t, allocator_id, 0);
AT(jshared_pointer_atomic_t, offset, 8);

SIZE(jblas_cblas_kernel_t, 24);
AT(jblas_cblas_kernel_t, name, 0);
AT(jblas_cblas_kernel_t, wrong_length, 8);
AT(jblas_cblas_kernel_t, instead, 16);

SIZE(jplan_rung_t, 88);
AT(jplan_rung_t, name, 0);
AT(jplan_rung_t, bits_class, 8);
AT(jplan_rung_t, buffer_count, 12);
AT(jplan_rung_t, bytes, 16);
AT(jplan_rung_t, callee_bytes, 80);

SIZE(jprice_t, 24);
AT(jprice_t, flops, 0);
AT(jprice_t, moved_bytes, 8);
AT(jprice_t, launches, 16);

SIZE(jborrow_t, 104);
AT(jborrow_t, ptr, 0);
AT(jborrow_t, status, 64);
AT(jborrow_t, rung, 68);
AT(jborrow_t, way, 72);
AT(jborrow_t, ok, 80);
AT(jborrow_t, serial_, 88);
AT(jborrow_t, handle_, 96);

/* What the inline functions of borrow.h know of a handle. Another layout is allowed, under the next
 * number: with a change here jborrow_calls_2_ gets that number, in the header, the library and its
 * list of symbols. */
SIZE(jborrow_frame_, 24);
AT(jborrow_frame_, top, 0);
AT(jborrow_frame_, serial, 8);
AT(jborrow_frame_, routine, 16);

SIZE(jborrow_frames_, 832);
AT(jborrow_frames_, user, 0);
AT(jborrow_frames_, fast_end, 8);
AT(jborrow_frames_, frame, 16);
AT(jborrow_frames_, nobody, 24);
AT(jborrow_frames_, granule_mask, 32);
AT(jborrow_frames_, frames, 40);
/* Of a frame before the first. */
_Static_assert(offsetof(jborrow_frames_, nobody) == offsetof(jborrow_frames_, frames) -
                                                        sizeof(jborrow_frame_) +
                                                        offsetof(jborrow_frame_, serial),
               "where an end at depth 0 looks");
NUMBER(JBORROW_SERIAL_STEP_, 64);

SIZE(jborrow_calls_, 16);
AT(jborrow_calls_, begin, 0);
AT(jborrow_calls_, end, 8);

/* And what those of allocator.h know of small blocks: the same with jallocator_calls_2_. */
SIZE(jthread_hint_, 24);
AT(jthread_hint_, allocator, 0);
AT(jthread_hint_, cache, 8);
AT(jthread_hint_, shifted_tag, 16);
NUMBER(JALLOCATOR_STEP_SHIFT_, 6);
NUMBER(JALLOCATOR_UNIT_SHIFT_, 14);
NUMBER(JALLOCATOR_STEPS_, 512);
NUMBER(JALLOCATOR_NEAR_UNITS_, 512);

SIZE(jallocator_cell_, 8);
AT(jallocator_cell_, size_and_tag, 0);

SIZE(jallocator_item_, 16);
AT(jallocator_item_, pointer, 0);
AT(jallocator_item_, cell, 8);

SIZE(jallocator_magazine_, 16);
AT(jallocator_magazine_, top, 0);
AT(jallocator_magazine_, end, 8);

SIZE(jallocator_slab_, 40);
AT(jallocator_slab_, base, 0);
AT(jallocator_slab_, bytes, 8);
AT(jallocator_slab_, reciprocal, 16);
AT(jallocator_slab_, cells, 24);
AT(jallocator_slab_, magazine_offset, 32);

SIZE(jallocator_counts_, 56);
AT(jallocator_counts_, at_hand_bytes, 0);
AT(jallocator_counts_, room_bytes, 8);
AT(jallocator_counts_, peak_bytes, 16);
AT(jallocator_counts_, allocation_count, 24);

SIZE(jallocator_cache_, 8248);
AT(jallocator_cache_, counts, 0);
AT(jallocator_cache_, magazines, 56);
AT(jallocator_cache_, near_slabs, 4152);

SIZE(jallocator_calls_, 16);
AT(jallocator_calls_, allocate, 0);
AT(jallocator_calls_, deallocate, 8);

/* Lengths of arrays in the middle of structs, or in one that is frozen. */
NUMBER(JHANDLE_MAX_RUNGS, 8);
NUMBER(JHANDLE_SHAPE_BYTES, 48);
NUMBER(JHANDLE_ROUTINE_BYTES, 32);
NUMBER(JBORROW_MAX_BUFFERS, 8);
NUMBER(JBORROW_MAX_DEPTH, 32);
NUMBER(JBORROW_FRAMES_, JBORROW_MAX_DEPTH + 1);
NUMBER(JLAYOUT_MAX_RANK, 8);
NUMBER(JCONFIG_NAME_BYTES, 64);

/* Variables keep their numbers. */
NUMBER(JCONFIG_JALLOC_DEVICE_MEMORY_SIZE, 0);
NUMBER(JCONFIG_JALLOC_LAYER, 8);
NUMBER(JCONFIG_JALLOC_RECORD_HEAP_MIN_BYTES, 14);

/* A handle begins with the frames, which programs change inline. */
JTEST(AbiLayout, AHandleBeginsWithItsBorrowFrames) {
    jhandle_t *handle;
    JASSERT_OK(jhandle_create(NULL, &handle));
    const jborrow_frames_ *frames = (const jborrow_frames_ *)handle;
    JEXPECT_EQ(frames->frame - frames->frames, 0);
    JEXPECT_EQ(frames->granule_mask, jdevice_granule_bytes(jdevice_host()) - 1);
    {
        JALLOC_BORROW(ws, handle, 64);
        JEXPECT_OK(ws.status);
        JEXPECT_EQ(frames->frame - frames->frames, 1);
        JEXPECT_STREQ(frames->frames[0].routine, __func__);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(AbiLayout, VersionsAreNumbersAndTexts) {
    JEXPECT_STREQ(jalloc_version_string(), JALLOC_VERSION_STRING);
    JEXPECT_EQ(jalloc_version(), JALLOC_VERSION);
    JEXPECT_TRUE(
        JALLOC_VERSION_AT_LEAST(JALLOC_VERSION_MAJOR, JALLOC_VERSION_MINOR, JALLOC_VERSION_PATCH));
    JEXPECT_TRUE(JALLOC_VERSION_AT_LEAST(0, 0, 99));
    JEXPECT_FALSE(JALLOC_VERSION_AT_LEAST(JALLOC_VERSION_MAJOR, JALLOC_VERSION_MINOR,
                                          JALLOC_VERSION_PATCH + 1));
    JEXPECT_FALSE(JALLOC_VERSION_AT_LEAST(JALLOC_VERSION_MAJOR, JALLOC_VERSION_MINOR + 1, 0));
}
