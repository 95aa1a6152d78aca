/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAYOUT_H
#define JALLOC_LAYOUT_H

/** @file
 * Shapes and layouts: which elements there are, and where each lies. Plain values, no memory behind
 * them: any thread may work on its own.
 *
 * A layout has a rank from 0 (one number) to JLAYOUT_MAX_RANK, an extent and a stride for each
 * dimension, both in elements, and perhaps blocks and a structure. Element (i, j, ...) lies i *
 * strides[0] + j * strides[1] + ... elements behind the first. Column-major means that the first
 * index runs fastest, as in BLAS and Fortran; row-major that the last does, as in C. Strides are at
 * least 1. A layout that memory is made for is nested: each stride goes beyond all elements of the
 * dimensions with shorter ones, so that no two elements share an address. All arithmetic is
 * checked: what does not fit 63 bits is invalid size. An extent of 0 counts as 1 in that and in
 * strides, so that it does not matter which dimension it is.
 *
 * The text form, written by jlayout_format() and read by jlayout_parse():
 *
 *     LAYOUT    = [TYPE] "[" [EXTENT {"," EXTENT}] "]" {" " ATTRIBUTE}
 *     ATTRIBUTE = "row"                        row-major; column-major where it is not said
 *               | "ld=" COUNT                  the leading dimension; of rank 2 and more
 *               | "strides=(" S {"," S} ")"    instead of row and ld
 *               | "blocks=(" B {"," B} ")"     extents of blocks; 0: not divided
 *               | "symmetric-upper" | "symmetric-lower" | "hermitian-upper" | "hermitian-lower"
 *               | "triangular-upper" | "triangular-lower"
 *     TYPE      = "f32" | "f64" | "f32_c" | "f64_c" | "f16" | "bf16" | "i8" | "i32"
 *
 * as in "f64[800,800] ld=832 blocks=(64,64) symmetric-lower". One space between attributes, each at
 * most once. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/datatype.h"
#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JLAYOUT_MAX_RANK 8     /**< dimensions that a layout may have */
#define JLAYOUT_TEXT_BYTES 640 /**< of the longest text form, its zero byte included */

/** What is known of a matrix beyond its extents. Memory is held for the whole matrix all the same;
 * the triangle that is not named is neither read nor written. Anything but general is for square
 * matrices. */
typedef enum jstructure_t {
    JSTRUCTURE_GENERAL = 0,
    JSTRUCTURE_SYMMETRIC_UPPER = 1, /**< a_ij = a_ji; the upper triangle is stored */
    JSTRUCTURE_SYMMETRIC_LOWER = 2,
    /** a_ij = conj(a_ji), the diagonal real; of real types: symmetric */
    JSTRUCTURE_HERMITIAN_UPPER = 3,
    JSTRUCTURE_HERMITIAN_LOWER = 4,
    JSTRUCTURE_TRIANGULAR_UPPER = 5, /**< the other triangle is zero */
    JSTRUCTURE_TRIANGULAR_LOWER = 6
} jstructure_t;

/** Which index runs fastest. */
typedef enum jorder_t { JORDER_COLUMN_MAJOR = 0, JORDER_ROW_MAJOR = 1 } jorder_t;

/** A layout. Make it with jlayout_init(); every function that takes one checks it. Frozen. */
typedef struct jlayout_t {
    int rank; /**< 0 to JLAYOUT_MAX_RANK; what stands behind it in the arrays is 0 */
    jstructure_t structure;
    int64_t extents[JLAYOUT_MAX_RANK]; /**< at least 0 */
    int64_t strides[JLAYOUT_MAX_RANK]; /**< at least 1 */
    /** extents of a block, the last ones of a dimension may be smaller. 0: not divided; all 0:
     * whoever needs blocks chooses them */
    int64_t blocks[JLAYOUT_MAX_RANK];
} jlayout_t;

/** A packed layout. extents may be NULL for rank 0.
 * @return success; invalid pointer; invalid value (rank, order); invalid size (an extent below 0,
 * or overflow). */
JALLOC_API jstatus_t jlayout_init(jlayout_t *layout, int rank, const int64_t *extents,
                                  jorder_t order);

/** Sets the leading dimension of a layout of rank 2 or more: the stride of the second fastest
 * dimension; those behind it follow. The layout must be column- or row-major; where extents leave
 * that open it is row-major if the first stride is larger than the last. @return success; invalid
 * pointer; invalid value (rank, strides); invalid size (less than the extent, overflow). */
JALLOC_API jstatus_t jlayout_set_leading_dimension(jlayout_t *layout, int64_t leading_dimension);

/** Sets the extents of blocks, one for each dimension; NULL: not divided. @return success; invalid
 * pointer; invalid size (below 0); invalid value (as jlayout_check()). */
JALLOC_API jstatus_t jlayout_set_blocks(jlayout_t *layout, const int64_t *blocks);

/** Says what is known of a matrix. @return success; invalid pointer; invalid value (no such
 * structure; not rank 2); invalid size (not square). */
JALLOC_API jstatus_t jlayout_set_structure(jlayout_t *layout, jstructure_t structure);

/** Whether the layout is one: rank, extents, strides, blocks and structure, and every element
 * within 63 bits.
 * @return success; invalid pointer; invalid value; invalid size. The message says what is wrong. */
JALLOC_API jstatus_t jlayout_check(const jlayout_t *layout);

/** The number of elements. @return success; invalid pointer; what jlayout_check() returns. */
JALLOC_API jstatus_t jlayout_get_count(const jlayout_t *layout, int64_t *count);

/** Elements from the first to the last one, both included: what memory must have. 0 where there is
 * none.
 * @return success; invalid pointer; what jlayout_check() returns. */
JALLOC_API jstatus_t jlayout_get_span(const jlayout_t *layout, int64_t *span);

/** The bytes of the span. @return success; invalid pointer; invalid value (type); invalid size; as
 * jlayout_check(). */
JALLOC_API jstatus_t jlayout_get_bytes(const jlayout_t *layout, jdatatype_t type, size_t *bytes);

/** How many elements behind the first one the element at these indices lies. @return success;
 * invalid pointer; invalid value (an index outside; the message names the dimension); invalid size
 * (as jlayout_check()). */
JALLOC_API jstatus_t jlayout_get_offset(const jlayout_t *layout, const int64_t *indices,
                                        int64_t *offset);

/** Whether the elements fill their span without a hole, in either order. False for NULL. */
JALLOC_API bool jlayout_is_packed(const jlayout_t *layout);
/** Whether the strides grow (column-major) or fall (row-major) from each dimension to the next, as
 * far as extents above 1 have a say; both may be so. False for NULL. */
JALLOC_API bool jlayout_has_order(const jlayout_t *layout, jorder_t order);

/** Whether rank and extents are the same. False for NULL. */
JALLOC_API bool jlayout_same_shape(const jlayout_t *a, const jlayout_t *b);
/** Whether everything is the same. False for NULL. */
JALLOC_API bool jlayout_equal(const jlayout_t *a, const jlayout_t *b);

/** Part of a layout: in dimension d the elements starts[d], starts[d] + steps[d], ..., extents[d]
 * of them. steps NULL: all 1. `offset`: where its first element lies in the whole, 0 where there is
 * none. Blocks are not kept; a structure is where the slice is a square on the diagonal. slice may
 * be layout.
 * @return success; invalid pointer; invalid value (outside of the whole, a step below 1); invalid
 * size (as jlayout_check()). */
JALLOC_API jstatus_t jlayout_slice(const jlayout_t *layout, const int64_t *starts,
                                   const int64_t *extents, const int64_t *steps, jlayout_t *slice,
                                   int64_t *offset);

/** The same elements with the dimensions in another order: dimension d of the result is order[d] of
 * the layout. Of a structure upper becomes lower where the two are exchanged (a Hermitian one is
 * refused). permuted may be layout.
 * @return success; invalid pointer; invalid value (order is no permutation); invalid size (as
 * jlayout_check()). */
JALLOC_API jstatus_t jlayout_permute(const jlayout_t *layout, const int *order,
                                     jlayout_t *permuted);

/** How many blocks there are; 1 of a layout that is not divided, 0 of one without elements. @return
 * success; invalid pointer; as jlayout_check(). */
JALLOC_API jstatus_t jlayout_get_block_count(const jlayout_t *layout, int64_t *count);
/** Where a block begins and how large it is; blocks are numbered column-major. Both arrays have
 * rank elements.
 * @return success; invalid pointer; invalid value (number); invalid size (as jlayout_check()). */
JALLOC_API jstatus_t jlayout_get_block(const jlayout_t *layout, int64_t number, int64_t *starts,
                                       int64_t *extents);

/** Writes the text form with its end into at most `size` bytes; JLAYOUT_TEXT_BYTES always suffice.
 * `type` may be NULL: then none is written. @return success; invalid pointer; invalid size (too
 * small); as jlayout_check(). */
JALLOC_API jstatus_t jlayout_format(const jlayout_t *layout, const jdatatype_t *type, char *text,
                                    size_t size);

/** Reads the text form. `type` may be NULL: then the text must not begin with one; otherwise it
 * must.
 * @return success; invalid pointer; invalid value (the message quotes the text and says where and
 * what); invalid size. */
JALLOC_API jstatus_t jlayout_parse(const char *text, jlayout_t *layout, jdatatype_t *type);

/** @name Block-cyclic distribution
 * How a matrix is spread over a grid of processes: blocks[0] x blocks[1] blocks go to the processes
 * in turn, in each dimension for itself, the first block to the first process. ScaLAPACK's, with
 * the first block on process (0, 0).
 *
 *     5 x 9, blocks of 2 x 2 over a grid of 2 x 2       on process (0, 0)    on (0, 1)
 *     00 00 | 01 01 | 00 00 | 01 01 | 00                rows 0 1 4           rows 0 1 4
 *     00 00 | 01 01 | 00 00 | 01 01 | 00                columns 0 1 4 5 8    columns 2 3 6 7
 *     ------+-------+-------+-------+---
 *     10 10 | 11 11 | 10 10 | 11 11 | 10
 *     10 10 | 11 11 | 10 10 | 11 11 | 10
 *     ------+-------+-------+-------+---
 *     00 00 | 01 01 | 00 00 | 01 01 | 00
 * @{ */

/** A matrix over a grid, seen from one process. Frozen. */
typedef struct jdistribution_t {
    int64_t extents[2]; /**< of the whole matrix */
    int64_t blocks[2];  /**< at least 1 */
    int grid[2];        /**< rows and columns of processes, at least 1 */
    /** this process's row and column, as MPI_Cart_coords(); -1, -1: it is not in the grid and holds
     * no part */
    int coordinates[2];
} jdistribution_t;

/** The process (its row or column) that holds the global index. */
JALLOC_INLINE int jdistribution_owner(const jdistribution_t *d, int dimension, int64_t index) {
    return (int)(index / d->blocks[dimension] % d->grid[dimension]);
}
/** The index of a global one among those of its owner. */
JALLOC_INLINE int64_t jdistribution_to_local(const jdistribution_t *d, int dimension,
                                             int64_t index) {
    const int64_t block = d->blocks[dimension];
    return index / (block * d->grid[dimension]) * block + index % block;
}
/** The global index of a local one of the process at `coordinate` of the grid. */
JALLOC_INLINE int64_t jdistribution_to_global(const jdistribution_t *d, int dimension,
                                              int coordinate, int64_t index) {
    const int64_t block = d->blocks[dimension];
    return (index / block * d->grid[dimension] + coordinate) * block + index % block;
}
/** How many of the global indices below `end` the process at `coordinate` of the grid holds
 * (ScaLAPACK's numroc). 0 for coordinate -1. */
JALLOC_INLINE int64_t jdistribution_local_count(const jdistribution_t *d, int dimension,
                                                int coordinate, int64_t end) {
    if (coordinate < 0)
        return 0;
    const int64_t block = d->blocks[dimension], whole = end / block,
                  turn = whole / d->grid[dimension];
    const int64_t extra = whole % d->grid[dimension];
    return turn * block + (coordinate < extra ? block : coordinate == extra ? end % block : 0);
}
/** @} */

#ifdef __cplusplus
}
#endif
#endif
