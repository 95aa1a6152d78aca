/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Functions that the headers have inline are exported as well: what is found by name answers what
 * is compiled in. */

#include "jtest.h"

#include "jalloc/borrow.h"
#include "jalloc/layout.h"
#include "jalloc/segment.h"

/* The symbol, past the inline function of its name. */
#define EXPORTED(type, name, ...) type exported_##name(__VA_ARGS__) __asm__(#name)
EXPORTED(bool, jstatus_is_error, jstatus_t);
EXPORTED(size_t, jalloc_mul, int64_t, int64_t);
EXPORTED(size_t, jalloc_matrix_bytes, jdatatype_t, int64_t, int64_t);
EXPORTED(float, jalloc_f32_from_f16, jfloat16_t);
EXPORTED(jfloat16_t, jalloc_f16_from_f32, float);
EXPORTED(float, jalloc_f32_from_bf16, jbfloat16_t);
EXPORTED(jbfloat16_t, jalloc_bf16_from_f32, float);
EXPORTED(int, jdistribution_owner, const jdistribution_t *, int, int64_t);
EXPORTED(int64_t, jdistribution_to_local, const jdistribution_t *, int, int64_t);
EXPORTED(int64_t, jdistribution_to_global, const jdistribution_t *, int, int, int64_t);
EXPORTED(int64_t, jdistribution_local_count, const jdistribution_t *, int, int, int64_t);
EXPORTED(joffset_t, joffset_load, const joffset_atomic_t *);
EXPORTED(void, joffset_store, joffset_atomic_t *, joffset_t);
EXPORTED(joffset_t, joffset_exchange, joffset_atomic_t *, joffset_t);
EXPORTED(bool, joffset_compare_exchange, joffset_atomic_t *, joffset_t *, joffset_t);

JTEST(Inline, StatusesAndSizesAreTheSameByName) {
    for (int status = 0; status < 130; ++status)
        JEXPECT_EQ(exported_jstatus_is_error((jstatus_t)status),
                   jstatus_is_error((jstatus_t)status));
    static const int64_t numbers[] = {-1, 0, 1, 7, (int64_t)1 << 32, INT64_MAX};
    for (size_t i = 0; i < 6; ++i)
        for (size_t j = 0; j < 6; ++j) {
            JEXPECT_EQ(exported_jalloc_mul(numbers[i], numbers[j]),
                       jalloc_mul(numbers[i], numbers[j]));
            JEXPECT_EQ(exported_jalloc_matrix_bytes(JDATATYPE_F64_C, numbers[i], numbers[j]),
                       jalloc_matrix_bytes(JDATATYPE_F64_C, numbers[i], numbers[j]));
        }
}

JTEST(Inline, NumbersOf16BitsAreTheSameByName) {
    for (int i = 0; i < 1000; ++i) {
        const float x = (float)jtest_random_double(-70000, 70000);
        const jfloat16_t half = exported_jalloc_f16_from_f32(x);
        const jbfloat16_t brain = exported_jalloc_bf16_from_f32(x);
        JEXPECT_EQ(half.bits, jalloc_f16_from_f32(x).bits);
        JEXPECT_EQ(brain.bits, jalloc_bf16_from_f32(x).bits);
        JEXPECT_EQ(exported_jalloc_f32_from_f16(half), jalloc_f32_from_f16(half));
        JEXPECT_EQ(exported_jalloc_f32_from_bf16(brain), jalloc_f32_from_bf16(brain));
    }
}

JTEST(Inline, DistributionsAreTheSameByName) {
    const jdistribution_t d = {{100, 60}, {7, 5}, {3, 2}, {1, 0}};
    for (int64_t i = 0; i < 60; ++i) {
        JEXPECT_EQ(exported_jdistribution_owner(&d, 1, i), jdistribution_owner(&d, 1, i));
        JEXPECT_EQ(exported_jdistribution_to_local(&d, 0, i), jdistribution_to_local(&d, 0, i));
        JEXPECT_EQ(exported_jdistribution_to_global(&d, 0, 2, i),
                   jdistribution_to_global(&d, 0, 2, i));
        JEXPECT_EQ(exported_jdistribution_local_count(&d, 1, 1, i),
                   jdistribution_local_count(&d, 1, 1, i));
    }
}

JTEST(Inline, AtomicOffsetsAreTheSameByName) {
    joffset_atomic_t offset = {64};
    joffset_t expected = 1;
    JEXPECT_EQ(exported_joffset_load(&offset), 64);
    exported_joffset_store(&offset, 128);
    JEXPECT_EQ(exported_joffset_exchange(&offset, 256), 128);
    JEXPECT_FALSE(exported_joffset_compare_exchange(&offset, &expected, 512));
    JEXPECT_EQ(expected, 256);
    JEXPECT_TRUE(exported_joffset_compare_exchange(&offset, &expected, 512));
    JEXPECT_EQ(joffset_load(&offset), 512);
}
