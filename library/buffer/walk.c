/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What walks are made of (walk.h).
 *
 * Nothing here looks at memory. A walk through a triangle keeps its two dimensions, because each
 * line has a length of its own; all that order by strides changes there is which of the two runs
 * along the line, and then the region is that of the transposed matrix. Every structure stores its
 * diagonal, so no line of a triangle is empty. */

#include "buffer/walk.h"

int ji_structure_parts(jstructure_t destination, jstructure_t source, ji_part_t parts[2]) {
    const ji_region_t wanted = ji_structure_region(destination),
                      stored = ji_structure_region(source);
    if (ji_region_is_all(stored) || (wanted.low == stored.low && wanted.high == stored.high)) {
        parts[0] = (ji_part_t){wanted, JI_ORIGIN_STORED};
        return 1;
    }

    const bool upper = ji_structure_is_upper(source), other = !ji_region_is_all(wanted);
    const ji_origin_t origin = upper ? ji_origin_of(source, 1, 0) : ji_origin_of(source, 0, 1);

    if (other && origin != JI_ORIGIN_ZERO) { /* the diagonal is its own mirror image */
        parts[0] = (ji_part_t){wanted, origin};
        return 1;
    }

    parts[0] = (ji_part_t){other ? ji_region_diagonal : stored, JI_ORIGIN_STORED};
    parts[1] = (ji_part_t){
        upper ? (ji_region_t){1, JI_REGION_ANY} : (ji_region_t){-JI_REGION_ANY, 0}, origin};
    return 2;
}

void ji_walk_layouts(ji_walk_t *walk, int sides, const jlayout_t *const layouts[]) {
    const jlayout_t *first = layouts[0];
    ji_walk_init(walk);
    for (int d = 0; d < first->rank; ++d)
        ji_walk_add(
            walk, (ji_walk_dimension_t){first->extents[d],
                                        {first->strides[d], sides > 1 ? layouts[1]->strides[d] : 0,
                                         sides > 2 ? layouts[2]->strides[d] : 0}});

    if (first->structure == JSTRUCTURE_GENERAL) {
        ji_walk_join(walk);
    } else if (walk->rank == 2) {
        const ji_region_t stored = ji_structure_region(first->structure);
        walk->triangle = true;
        walk->region = first->strides[0] <= first->strides[1]
                           ? stored
                           : (ji_region_t){1 - stored.high, 1 - stored.low};
    }
}

void ji_walk_columns(ji_walk_t *walk, const jlayout_t *layout) {
    ji_walk_init(walk);
    for (int d = 0; d < layout->rank; ++d) /* the stride of a single element may be anything */
        walk->dimensions[walk->rank++] = (ji_walk_dimension_t){
            layout->extents[d], {layout->extents[d] > 1 ? layout->strides[d] : 1}};
    walk->triangle = layout->structure != JSTRUCTURE_GENERAL;
    walk->region = ji_structure_region(layout->structure);
}

void ji_walk_join(ji_walk_t *walk) {
    int kept = 0;
    for (int d = 1; d < walk->rank; ++d) {
        ji_walk_dimension_t *to = &walk->dimensions[kept], *dimension = &walk->dimensions[d];

        /* Where there are no elements strides may be anything. */
        bool joins = true;
        int64_t end;
        for (int s = 0; s < JI_WALK_SIDES; ++s)
            joins = joins && !__builtin_mul_overflow(to->strides[s], to->extent, &end) &&
                    dimension->strides[s] == end;

        if (joins)
            to->extent *= dimension->extent;
        else
            walk->dimensions[++kept] = *dimension;
    }

    walk->rank = walk->rank == 0 ? 0 : kept + 1;
}

void ji_walk_bring(ji_walk_t *walk, int d) {
    const ji_walk_dimension_t brought = walk->dimensions[d];
    for (; d > 1; --d)
        walk->dimensions[d] = walk->dimensions[d - 1];
    walk->dimensions[1] = brought;
}

static void walk_step(ji_walk_t *walk, int d, int64_t steps) {
    for (int s = 0; s < JI_WALK_SIDES; ++s)
        walk->at[s] += steps * walk->dimensions[d].strides[s];
}

void ji_walk_begin(ji_walk_t *walk, int inner) {
    bool empty = false;
    for (int d = 0; d < walk->rank; ++d)
        empty = empty || walk->dimensions[d].extent == 0;

    while (walk->rank < inner)
        walk->dimensions[walk->rank++] = (ji_walk_dimension_t){1, {1, 1, 1}};

    if (walk->rank == inner || empty) { /* a single step, or none */
        walk->dimensions[inner] = (ji_walk_dimension_t){!empty, {0}};
        walk->rank = inner + 1;
    }

    memset(walk->at, 0, sizeof walk->at);
    memset(walk->index, 0, sizeof walk->index);
    walk->first = 0;
    walk->count = walk->dimensions[0].extent;

    walk->inner = inner;
    walk->index[inner] = -1;
    walk_step(walk, inner, -1);
}

bool ji_walk_turn(ji_walk_t *walk) {
    int d = walk->inner;
    while (walk->index[d] == walk->dimensions[d].extent) {
        walk->index[d] = 0;
        walk_step(walk, d, 1 - walk->dimensions[d].extent);
        if (++d == walk->rank)
            return false;
        ++walk->index[d];
    }

    walk_step(walk, d, 1);
    if (walk->triangle) {
        const int64_t before = walk->first;
        int64_t end;
        ji_region_rows(walk->region, walk->dimensions[0].extent, walk->index[1], &walk->first,
                       &end);
        walk->count = end - walk->first;
        walk_step(walk, 0, walk->first - before);
    }
    return true;
}
