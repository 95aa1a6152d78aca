/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BUFFER_WALK_H
#define JALLOC_BUFFER_WALK_H

/* How elements are gone through: the one file in which dimensions are ordered and joined, where
 * indices are counted up, where a matrix is cut at its diagonal, and where signs of imaginary parts
 * change.
 *
 * A walk goes through several layouts of one shape at once, its sides. Dimensions of one element
 * are left out, the others ordered by the strides of the first side, and neighbours that lie
 * without a gap on every side become one. What is left comes line by line:
 *
 *     extents 3 x 2 x 4   first side    strides 1 3 8       joined: 6 x 4   strides 1 8
 *                         second side   strides 2 6 12                              2 12
 *
 *     ji_walk_t walk;
 *     ji_walk_layouts(&walk, 2, (const jlayout_t *const[]){&to, &from});
 *     for (ji_walk_begin(&walk, 1); ji_walk_next(&walk);)
 *         walk.count elements; the first is walk.at[side] behind that of the layout, the next one
 *         stride of walk.dimensions[0] on
 *
 * Whoever can do more than a line at once begins with 2, and has the first two dimensions as a
 * tile.
 *
 * The lines of a structured matrix end where its stored triangle does. What lies beyond has an
 * origin: the element on the other side of the diagonal, as it is or conjugated; or none, for it is
 * zero. */

#include "buffer/buffer.h"

#include <string.h>

/* ---- Triangles ---- */

/* Elements (i, j) of a matrix with low <= i - j < high. */
typedef struct ji_region {
    int64_t low, high;
} ji_region_t;
#define JI_REGION_ANY (INT64_MAX / 4) /* beyond every difference of indices */
static const ji_region_t ji_region_all = {-JI_REGION_ANY, JI_REGION_ANY},
                         ji_region_diagonal = {0, 1};

static inline bool ji_region_is_all(ji_region_t region) {
    return region.low == -JI_REGION_ANY && region.high == JI_REGION_ANY;
}
/* The rows [*first, *end) of column j, of n rows; none where *first >= *end. */
static inline void ji_region_rows(ji_region_t region, int64_t n, int64_t j, int64_t *first,
                                  int64_t *end) {
    *first = j + region.low > 0 ? j + region.low : 0;
    *end = j + region.high < n ? j + region.high : n;
}

/* What a structure stores. */
static inline ji_region_t ji_structure_region(jstructure_t structure) {
    return (ji_region_t){ji_structure_is_lower(structure) ? 0 : -JI_REGION_ANY,
                         ji_structure_is_upper(structure) ? 1 : JI_REGION_ANY};
}

/* Where an element of a matrix comes from. */
typedef enum ji_origin {
    JI_ORIGIN_STORED,
    JI_ORIGIN_MIRRORED,   /* the element with row and column exchanged */
    JI_ORIGIN_CONJUGATED, /* that, conjugated */
    JI_ORIGIN_ZERO
} ji_origin_t;

static inline ji_origin_t ji_origin_of(jstructure_t structure, int64_t row, int64_t column) {
    if (structure == JSTRUCTURE_GENERAL || row == column ||
        (row < column) == ji_structure_is_upper(structure))
        return JI_ORIGIN_STORED;
    return ji_structure_is_triangular(structure)  ? JI_ORIGIN_ZERO
           : ji_structure_is_hermitian(structure) ? JI_ORIGIN_CONJUGATED
                                                  : JI_ORIGIN_MIRRORED;
}
static inline bool ji_origin_is_mirrored(ji_origin_t origin) {
    return origin == JI_ORIGIN_MIRRORED || origin == JI_ORIGIN_CONJUGATED;
}

/* A region of a destination, and where the source has it. */
typedef struct ji_part {
    ji_region_t region;
    ji_origin_t origin;
} ji_part_t;

/* The parts, one or two, of which a destination of the one structure is made from a source of the
 * other. The diagonal is in the first; that of a Hermitian source is still to lose its imaginary
 * parts. */
JI_SHARED int ji_structure_parts(jstructure_t destination, jstructure_t source, ji_part_t parts[2]);

/* ---- Conjugates ---- */

static inline bool ji_type_is_complex(jdatatype_t type) {
    return type == JDATATYPE_F32_C || type == JDATATYPE_F64_C;
}

/* Elements in host memory, so many bytes apart, become their conjugates: those of real types stay
 * as they are. */
static inline void ji_conjugate(jdatatype_t type, void *elements, int64_t step, int64_t count) {
    if (!ji_type_is_complex(type))
        return;
    const size_t size = jhandle_sizeof_datatype(type);
    unsigned char *sign = (unsigned char *)elements +
                          (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 : size / 2);
    for (int64_t i = 0; i < count; ++i, sign += step)
        *sign ^= 0x80;
}

/* ---- Walks ---- */

#define JI_WALK_SIDES 3

typedef struct ji_walk_dimension {
    int64_t extent, strides[JI_WALK_SIDES]; /* elements; 0 of a side that is not there */
} ji_walk_dimension_t;

typedef struct ji_walk {
    int rank; /* dimensions that are left, in walking order */
    ji_walk_dimension_t dimensions[JLAYOUT_MAX_RANK];
    bool triangle;      /* of a matrix: lines are cut to */
    ji_region_t region; /* of dimension 0 by dimension 1 of the walk */

    /* The present line, or tile. */
    int64_t at[JI_WALK_SIDES]; /* elements from the first one of the layout to the first one here */
    int64_t first, count;      /* along dimension 0 */

    int inner;                       /* dimensions that are done at once */
    int64_t index[JLAYOUT_MAX_RANK]; /* of the others */
} ji_walk_t;

/* A walk through so many layouts of one shape, whatever they are; through the triangle that the
 * first one stores. */
void ji_walk_layouts(ji_walk_t *walk, int sides, const jlayout_t *const layouts[]);
/* A walk through what a layout of rank 0 to 2 stores column by column, however it lies: column
 * walk.index[1], and row walk.first on. */
void ji_walk_columns(ji_walk_t *walk, const jlayout_t *layout);

/* The same in steps: a walk without dimensions, one dimension more (those with shorter strides on
 * the first side come before it), and all are there. */
static inline void ji_walk_init(ji_walk_t *walk) {
    walk->rank = 0;
    walk->triangle = false;
}
static inline void ji_walk_add(ji_walk_t *walk, ji_walk_dimension_t dimension) {
    if (dimension.extent == 1)
        return;
    int d = walk->rank++;
    for (; d > 0 && walk->dimensions[d - 1].strides[0] > dimension.strides[0]; --d)
        walk->dimensions[d] = walk->dimensions[d - 1];
    walk->dimensions[d] = dimension;
}
void ji_walk_join(ji_walk_t *walk);
/* Dimension d comes behind the first one. */
void ji_walk_bring(ji_walk_t *walk, int d);

/* Goes before the first element; `inner` dimensions, 1 or 2, are done at once, and are there even
 * if of one element. */
void ji_walk_begin(ji_walk_t *walk, int inner);

/* The end of a step after which another dimension's index changes, too, or the length of the
 * line. */
bool ji_walk_turn(ji_walk_t *walk);

/* Goes to the next line; of a triangle it has a count of at least 1. False behind the last one. */
static inline bool ji_walk_next(ji_walk_t *walk) {
    const ji_walk_dimension_t *next = &walk->dimensions[walk->inner];
    if (++walk->index[walk->inner] == next->extent || walk->triangle)
        return ji_walk_turn(walk);
    for (int s = 0; s < JI_WALK_SIDES; ++s)
        walk->at[s] += next->strides[s];
    return true;
}

#endif
