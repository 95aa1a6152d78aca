/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_OPERATION_HELPER_H
#define JALLOC_CLIENTS_GTEST_OPERATION_HELPER_H

/* Operands of operations on buffers: host memory in any layout, with what must neither be read nor
 * written (gaps, the triangle that is not stored) full of NaN; their values as matrices of
 * jblas_reference.h, and the judgement of a result. */

#include "jalloc/operation.h"
#include "jblas_reference.h"
#include "jtest.h"

/* How an operand is stored. */
typedef enum {
    STORED_COLUMN,
    STORED_ROW,
    STORED_COLUMN_PADDED,
    STORED_ROW_PADDED,
    STORED_STEPPED, /* a slice with steps: neither stride is 1 */
    STORED_PERMUTED,
    STORED_COUNT
} storage_t;
const char *storage_name(storage_t storage);
storage_t random_storage(void);

typedef struct operand {
    jbuffer_t *parent, *view; /* the view is the operand */
    jdatatype_t type;
    jlayout_t layout; /* the view's */
    unsigned char *memory, *before;
    size_t size_bytes;
} operand_t;

extern const int operation_types[4];
extern const jstructure_t operation_structures[7];

/* The runtime of this process, and an allocator of local buffers on the host; operation_end() ends
 * them. */
typedef struct operation_world {
    jruntime_t *runtime;
    jbuffer_allocator_t *allocator;
    jhandle_t *handle;
    wide_arena_t arena;
} operation_world_t;
void operation_begin(operation_world_t *world, jdatatype_t type);
void operation_end(operation_world_t *world);

/* Ends the size query of a handle and gives it just the bytes that were asked for; guarded: host
 * memory right before an inaccessible page. Then again whatever it wants. */
void operation_give_exactly(jhandle_t *handle, bool guarded);
void operation_give_any(jhandle_t *handle);

/* A matrix, or (columns < 0) a vector of rank 1. The stored elements are random, of a size that
 * keeps triangles well conditioned; the diagonal of a Hermitian one is real. */
void operand_make(operand_t *operand, jbuffer_allocator_t *allocator, int64_t rows, int64_t columns,
                  storage_t storage, jstructure_t structure);
/* Makes its stored triangle that of a positive definite matrix. */
void operand_make_definite(operand_t *operand, wide_arena_t *arena);
/* The elements become what they are now: what operand_expect() compares with. */
void operand_keep(operand_t *operand);
void operand_free(operand_t *operand);

/* Element (i, j), and where it is. */
void *operand_at(const operand_t *operand, int64_t i, int64_t j);
bool layout_stores(const jlayout_t *layout, int64_t i, int64_t j);
/* The matrix of a host buffer as its structure has it; of an operand. */
wide_matrix_t buffer_value(wide_arena_t *arena, jbuffer_t *buffer);
wide_matrix_t operand_value(wide_arena_t *arena, const operand_t *operand);

/* Judges the stored elements of a host buffer: within `factor` epsilons of the bound. */
void buffer_expect(jbuffer_t *buffer, wide_matrix_t expected, long double factor);
/* The same, and everything else in the operand's memory is as it was. */
void operand_expect(const operand_t *operand, wide_matrix_t expected, long double factor);
void operand_expect_unchanged(const operand_t *operand);

/* A scalar of a type; the values that matter: 0, 1, or any. */
typedef union scalar {
    float s;
    double d;
    float c[2];
    double z[2];
} scalar_t;
scalar_t scalar_of(jdatatype_t type, double re, double im);
scalar_t scalar_random(jdatatype_t type);
wide_t scalar_value(jdatatype_t type, const scalar_t *scalar);

jlayout_t operation_layout(int rank, int64_t m, int64_t n);

/* One operation, drawn, whose operands and result are views of one matrix, drawn; in exactly the
 * bytes that it asks for. The result is what the operands were before, and nothing beside it has
 * changed. `strided`: views with steps and permuted ones. `local`: of buffers on the host of this
 * process, of that type. Collective where the allocator's buffers are. */
void overlap_expect_right(jhandle_t *handle, jbuffer_allocator_t *allocator,
                          jbuffer_allocator_t *local, wide_arena_t *arena, bool strided);

#endif
