/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Runs, windows and moving (pattern.h).
 *
 * Nothing here allocates. A window is a table of fixed size on the stack: the rows of a block-cyclic matrix come in runs of
 * a block's length, and finding them takes divisions, so it is done once for all columns. Runs that continue each other in
 * both memories are one, which makes a plain copy of whole columns of what both sides deal alike.
 *
 * A window has no more rows than a piece can take and, where rows lie apart in one of the memories (a row-major side, or
 * a transposed one), no more than stay in a cache while the columns go by. */

#include "mpi/pattern.h"

#include <string.h>

#define PATTERN_RUNS 256 /* of a window: 8 KiB of stack */

/* ---- Runs ---- */

/* The first index at or behind `index` that a process has, and the end of its block there. */
static int64_t deal_seek(const ji_deal_t *deal, int place, int64_t index, int64_t *end) {
    if (deal->count == 1) {
        *end = INT64_MAX;
        return index;
    }
    const int64_t whole = deal->start + index;
    int64_t block = whole / deal->block;
    const int owner = (int)(block % deal->count);
    if (owner != place) {
        block += place > owner ? place - owner : place - owner + deal->count;
        index = block * deal->block - deal->start;
    }
    *end = (block + 1) * deal->block - deal->start;
    return index;
}

/* Where a process has an index of its own. */
static int64_t deal_local(const ji_deal_t *deal, int64_t index) {
    const int64_t whole = deal->start + index;
    return deal->count == 1 ? whole : whole / (deal->block * deal->count) * deal->block + whole % deal->block;
}

/* The first run at or behind `index`; false behind the last one. */
static bool run_next(const ji_matrix_t *matrix, int dimension, const ji_share_t *share, int64_t index, ji_run_t *run) {
    const ji_deal_t *source = &matrix->source[dimension], *destination = &matrix->destination[dimension];
    const int64_t extent = matrix->extents[dimension];
    while (index < extent) {
        int64_t source_end, end;
        const int64_t at = deal_seek(source, share->from[dimension], index, &source_end);
        index = deal_seek(destination, share->to[dimension], at, &end);
        if (index >= source_end)
            continue;
        end = end < source_end ? end : source_end;
        end = end < extent ? end : extent;
        if (index < end) {
            *run = (ji_run_t){index, deal_local(source, index), deal_local(destination, index), end - index};
            return true;
        }
    }
    return false;
}

static int64_t run_total(const ji_matrix_t *matrix, int dimension, const ji_share_t *share) {
    int64_t total = 0;
    ji_run_t run;
    for (int64_t index = 0; run_next(matrix, dimension, share, index, &run); index = run.index + run.length)
        total += run.length;
    return total;
}

/* Elements (i, j) of a share with i - j < high. */
static int64_t share_count_above(const ji_matrix_t *matrix, const ji_share_t *share, int64_t high) {
    ji_run_t rows, columns;
    bool more = run_next(matrix, 0, share, 0, &rows);
    int64_t before = 0, total = 0; /* rows in runs that all columns to come have whole */
    for (int64_t index = 0; run_next(matrix, 1, share, index, &columns); index = columns.index + columns.length)
        for (int64_t j = columns.index; j < columns.index + columns.length; ++j) {
            const int64_t end = j + high;
            while (more && rows.index + rows.length <= end) {
                before += rows.length;
                more = run_next(matrix, 0, share, rows.index + rows.length, &rows);
            }
            total += before + (more && rows.index < end ? end - rows.index : 0);
        }
    return total;
}

void ji_share_begin(const ji_matrix_t *matrix, ji_share_t *share) {
    const int64_t all = run_total(matrix, 0, share) * run_total(matrix, 1, share);
    const ji_region_t region = matrix->region;
    share->row = share->column = 0;
    share->left = all;
    if (all > 0 && !ji_region_is_all(region))
        share->left = (region.high == JI_REGION_ANY ? all : share_count_above(matrix, share, region.high)) -
                      (region.low == -JI_REGION_ANY ? 0 : share_count_above(matrix, share, region.low));
}

bool ji_matrix_is_aligned(const ji_matrix_t *matrix) {
    for (int d = 0; d < 2; ++d) {
        const ji_deal_t *a = &matrix->source[d], *b = &matrix->destination[d];
        if (a->count != b->count || a->step != b->step ||
            (a->count > 1 && (a->block != b->block || (a->start - b->start) % (a->block * a->count) != 0)))
            return false;
    }
    return true;
}

/* ---- Windows ---- */

typedef struct pattern_window {
    int64_t end;  /* of the view: where the next window begins */
    int64_t rows; /* in it */
    int count;    /* of runs */
    ji_run_t runs[PATTERN_RUNS];
} pattern_window_t;

static void window_find(const ji_matrix_t *matrix, const ji_share_t *share, int64_t most, pattern_window_t *window) {
    const bool whole = ji_region_is_all(matrix->region); /* otherwise a run says which rows of the view it is */
    ji_run_t run;
    most = most < matrix->tile ? most : matrix->tile;
    window->end = share->row;
    window->rows = 0;
    window->count = 0;
    while (window->rows < most && run_next(matrix, 0, share, window->end, &run)) {
        ji_run_t *last = &window->runs[window->count - (window->count > 0)];
        run.length = run.length < most - window->rows ? run.length : most - window->rows;
        if (window->count > 0 && last->source + last->length == run.source &&
            last->destination + last->length == run.destination && (whole || last->index + last->length == run.index))
            last->length += run.length;
        else if (window->count == PATTERN_RUNS)
            return;
        else
            window->runs[window->count++] = run;
        window->end = run.index + run.length;
        window->rows += run.length;
    }
}

/* ---- Elements ---- */

static void elements_copy_strided(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                                  size_t size) {
    switch (size) {
    case 1:
        for (int64_t k = 0; k < count; ++k)
            to[k * to_step] = from[k * from_step];
        break;
    case 2:
        for (int64_t k = 0; k < count; ++k)
            memcpy(to + k * to_step, from + k * from_step, 2);
        break;
    case 4:
        for (int64_t k = 0; k < count; ++k)
            memcpy(to + k * to_step, from + k * from_step, 4);
        break;
    case 8:
        for (int64_t k = 0; k < count; ++k)
            memcpy(to + k * to_step, from + k * from_step, 8);
        break;
    default:
        for (int64_t k = 0; k < count; ++k)
            memcpy(to + k * to_step, from + k * from_step, 16);
    }
}

/* The second half of elements in host memory changes its sign. */
static void elements_conjugate(char *to, int64_t to_step, int64_t count, size_t part) {
    to += part;
    for (int64_t k = 0; k < count; ++k, to += to_step)
        if (part == sizeof(float)) {
            float value;
            memcpy(&value, to, sizeof value);
            value = -value;
            memcpy(to, &value, sizeof value);
        } else {
            double value;
            memcpy(&value, to, sizeof value);
            value = -value;
            memcpy(to, &value, sizeof value);
        }
}

/* Bytes from one memory to another, of which one or both are a device's. */
static jstatus_t elements_copy_device(jdevice_t *device, char *to, int64_t to_step, const char *from, int64_t from_step,
                                      int64_t count, size_t size) {
    if (to_step == (int64_t)size && from_step == (int64_t)size)
        return jdevice_copy(device, NULL, to, from, (size_t)count * size);
    jstatus_t status = JSTATUS_SUCCESS;
    for (int64_t k = 0; k < count && status == JSTATUS_SUCCESS; ++k)
        status = jdevice_copy(device, NULL, to + k * to_step, from + k * from_step, size);
    return status;
}

static jstatus_t elements_zero(jdevice_t *device, char *to, int64_t to_step, int64_t count, size_t size) {
    const bool run = to_step == (int64_t)size;
    const size_t bytes = run ? (size_t)count * size : size;
    jstatus_t status = JSTATUS_SUCCESS;
    for (int64_t k = 0; k < (run ? 1 : count) && status == JSTATUS_SUCCESS; ++k)
        if (device == NULL)
            memset(to + k * to_step, 0, bytes);
        else
            status = jdevice_fill(device, NULL, to + k * to_step, "", 1, bytes);
    return status;
}

/* Rows `skip` to `skip` + `count` of a run, in a column that begins at these places. */
static jstatus_t run_move(const ji_matrix_t *matrix, const ji_run_t *run, int64_t skip, int64_t count, ji_move_t move,
                          const char *from_column, char *to_column, char *message) {
    const size_t size = matrix->element;
    const bool packs = move == JI_MOVE_PACK, unpacks = move == JI_MOVE_UNPACK;
    const int64_t from_step = unpacks ? (int64_t)size : matrix->source[0].stride * (int64_t)size;
    const int64_t to_step = packs ? (int64_t)size : matrix->destination[0].stride * (int64_t)size;
    const char *from = unpacks ? message : from_column + (run->source + skip) * from_step;
    char *to = packs ? message : to_column + (run->destination + skip) * to_step;
    jdevice_t *from_device = unpacks ? NULL : matrix->from_device, *to_device = packs ? NULL : matrix->to_device;
    if (move == JI_MOVE_ZERO)
        return elements_zero(to_device, to, to_step, count, size);
    if (move == JI_MOVE_REAL)
        return elements_zero(to_device, to + size / 2, to_step, count, size / 2);
    if (from_device != NULL || to_device != NULL)
        return elements_copy_device(to_device != NULL ? to_device : from_device, to, to_step, from, from_step, count,
                                    size);
    if (from_step == (int64_t)size && to_step == (int64_t)size)
        memcpy(to, from, (size_t)count * size);
    else
        elements_copy_strided(to, to_step, from, from_step, count, size);
    if (matrix->part != 0 && move == JI_MOVE_DIRECT)
        elements_conjugate(to, to_step, count, matrix->part);
    return JSTATUS_SUCCESS;
}

/* The rows of a window in one column: those of the region. */
static jstatus_t column_move(const ji_matrix_t *matrix, const pattern_window_t *window, int64_t low, int64_t high,
                             ji_move_t move, const char *from_column, char *to_column, char *message, int64_t *moved) {
    jstatus_t status = JSTATUS_SUCCESS;
    int64_t total = 0;
    for (int k = 0; k < window->count && window->runs[k].index < high; ++k) {
        const ji_run_t *run = &window->runs[k];
        const int64_t skip = run->index < low ? low - run->index : 0;
        const int64_t end = run->length < high - run->index ? run->length : high - run->index;
        if (skip >= end)
            continue;
        const jstatus_t done = run_move(matrix, run, skip, end - skip, move, from_column, to_column,
                                        message + total * (int64_t)matrix->element);
        status = status != JSTATUS_SUCCESS ? status : done;
        total += end - skip;
    }
    *moved = total;
    return status;
}

/* How many rows of a window are in the region, in one column. */
static int64_t column_count(const ji_matrix_t *matrix, const pattern_window_t *window, int64_t low, int64_t high) {
    if (ji_region_is_all(matrix->region))
        return window->rows;
    int64_t total = 0;
    for (int k = 0; k < window->count && window->runs[k].index < high; ++k) {
        const ji_run_t *run = &window->runs[k];
        const int64_t skip = run->index < low ? low - run->index : 0;
        const int64_t end = run->length < high - run->index ? run->length : high - run->index;
        total += end > skip ? end - skip : 0;
    }
    return total;
}

jstatus_t ji_share_move(const ji_matrix_t *matrix, ji_share_t *share, ji_move_t move, int64_t most, char *message,
                        int64_t *moved) {
    const int64_t size = (int64_t)matrix->element;
    const int64_t from_step = matrix->source[1].stride * size, to_step = matrix->destination[1].stride * size;
    jstatus_t status = JSTATUS_SUCCESS;
    int64_t total = 0;
    while (total < share->left) {
        pattern_window_t window;
        ji_run_t columns;
        window_find(matrix, share, most, &window);
        for (; run_next(matrix, 1, share, share->column, &columns); share->column = columns.index + columns.length)
            for (int64_t k = 0; k < columns.length; ++k) {
                const int64_t j = columns.index + k, low = j + matrix->region.low, high = j + matrix->region.high;
                int64_t count = column_count(matrix, &window, low, high);
                if (count == 0)
                    continue;
                if (count > most - total) {
                    share->column = j;
                    goto done;
                }
                const jstatus_t done =
                    column_move(matrix, &window, low, high, move, matrix->from + (columns.source + k) * from_step,
                                matrix->to + (columns.destination + k) * to_step, message + total * size, &count);
                status = status != JSTATUS_SUCCESS ? status : done;
                total += count;
            }
        share->row = window.end;
        share->column = 0;
    }
done:;
    jdevice_t *device = move == JI_MOVE_PACK || matrix->to_device == NULL ? matrix->from_device : matrix->to_device;
    if (device != NULL) {
        const jstatus_t waited = jstream_synchronize(device, NULL);
        status = status != JSTATUS_SUCCESS ? status : waited;
    }
    if (move == JI_MOVE_PACK && matrix->part != 0)
        elements_conjugate(message, size, total, matrix->part);
    share->left -= total;
    *moved = total;
    return status;
}
