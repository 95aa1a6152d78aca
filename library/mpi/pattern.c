/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Runs, windows and moving (pattern.h).
 *
 * Nothing here allocates. A window is a table of fixed size on the stack: the rows of a
 * block-cyclic matrix come in runs of a block's length, and finding them takes divisions, so it is
 * done once for all columns. Runs that continue each other in the memory that is read and in the
 * one that is written are one entry, which makes a plain copy of whole columns of what both sides
 * distribute alike. Where even the columns of a piece follow each other, it is a span of memory
 * that can be sent, or received into, as it lies.
 *
 * A window has no more rows than a piece can take and, where rows lie apart in one of the memories
 * (a row-major side, or a transposed one), no more than stay in a cache while the columns go by. */

#include "mpi/pattern.h"

#include <string.h>

#define PATTERN_RUNS 512 /* of a window: 16 KiB of stack */

/* ---- Runs ---- */

/* The first index at or behind `index` that a process has, and the end of its block there. */
static int64_t distribution_seek(const ji_distribution_t *distribution, int coordinate,
                                 int64_t index, int64_t *end) {
    if (distribution->count == 1) {
        *end = INT64_MAX;
        return index;
    }

    const int64_t whole = distribution->start + index;
    int64_t block = whole / distribution->block;
    const int owner = (int)(block % distribution->count);

    if (owner != coordinate) {
        block += coordinate > owner ? coordinate - owner : coordinate - owner + distribution->count;
        index = block * distribution->block - distribution->start;
    }

    *end = (block + 1) * distribution->block - distribution->start;
    return index;
}

/* Where a process has an index of its own. */
static int64_t distribution_local(const ji_distribution_t *distribution, int64_t index) {
    const int64_t whole = distribution->start + index;
    return distribution->count == 1
               ? whole
               : whole / (distribution->block * distribution->count) * distribution->block +
                     whole % distribution->block;
}

/* The first run at or behind `index`; false behind the last one. */
static bool run_next(const ji_transfer_t *transfer, int dimension, const ji_share_t *share,
                     int64_t index, ji_run_t *run) {
    const ji_distribution_t *source = &transfer->source[dimension],
                            *destination = &transfer->destination[dimension];

    const int64_t extent = transfer->extents[dimension];
    while (index < extent) {
        int64_t source_end, end;
        const int64_t at = distribution_seek(source, share->from[dimension], index, &source_end);
        index = distribution_seek(destination, share->to[dimension], at, &end);
        if (index >= source_end)
            continue;

        end = end < source_end ? end : source_end;
        end = end < extent ? end : extent;
        if (index < end) {
            *run = (ji_run_t){index, distribution_local(source, index),
                              distribution_local(destination, index), end - index};
            return true;
        }
    }
    return false;
}

static int64_t run_total(const ji_transfer_t *transfer, int dimension, const ji_share_t *share) {
    int64_t total = 0;
    ji_run_t run;
    for (int64_t index = 0; run_next(transfer, dimension, share, index, &run);
         index = run.index + run.length)
        total += run.length;
    return total;
}

/* Elements (i, j) of a share with i - j < high. */
static int64_t share_count_above(const ji_transfer_t *transfer, const ji_share_t *share,
                                 int64_t high) {
    ji_run_t rows, columns;
    bool more = run_next(transfer, 0, share, 0, &rows);
    int64_t before = 0, total = 0; /* rows in runs that all columns to come have whole */

    for (int64_t index = 0; run_next(transfer, 1, share, index, &columns);
         index = columns.index + columns.length)
        for (int64_t j = columns.index; j < columns.index + columns.length; ++j) {
            const int64_t end = j + high;
            while (more && rows.index + rows.length <= end) {
                before += rows.length;
                more = run_next(transfer, 0, share, rows.index + rows.length, &rows);
            }
            total += before + (more && rows.index < end ? end - rows.index : 0);
        }
    return total;
}

void ji_share_begin(const ji_transfer_t *transfer, ji_share_t *share) {
    const int64_t all = run_total(transfer, 0, share) * run_total(transfer, 1, share);
    const ji_region_t region = transfer->region;

    share->row = share->column = 0;
    share->left = all;

    if (all > 0 && !ji_region_is_all(region))
        share->left =
            (region.high == JI_REGION_ANY ? all : share_count_above(transfer, share, region.high)) -
            (region.low == -JI_REGION_ANY ? 0 : share_count_above(transfer, share, region.low));
}

bool ji_transfer_is_aligned(const ji_transfer_t *transfer) {
    for (int d = 0; d < 2; ++d) {
        const ji_distribution_t *a = &transfer->source[d], *b = &transfer->destination[d];
        if (a->count != b->count || a->step != b->step ||
            (a->count > 1 &&
             (a->block != b->block || (a->start - b->start) % (a->block * a->count) != 0)))
            return false;
    }
    return true;
}

/* ---- Windows ---- */

/* Rows that lie side by side in the memories that are read and written, which for a message are
 * positions in it. */
typedef struct pattern_rows {
    int64_t index;    /* of the first, in the view */
    int64_t from, to; /* bytes from the beginning of a column */
    int64_t length;
} pattern_rows_t;

typedef struct pattern_window {
    int64_t end;     /* of the view: where the next window begins */
    int64_t rows;    /* in it */
    int64_t uniform; /* length of all entries; 0: they differ */
    int count;       /* of entries */
    pattern_rows_t entries[PATTERN_RUNS];
} pattern_window_t;

/* Bytes between neighbouring rows in what is read and written. */
static void pattern_steps(const ji_transfer_t *transfer, ji_move_t move, int64_t *from,
                          int64_t *to) {
    const int64_t size = (int64_t)transfer->element;
    *from = move == JI_MOVE_UNPACK ? size : transfer->source[0].stride * size;
    *to = move == JI_MOVE_PACK ? size : transfer->destination[0].stride * size;
}

/* Which rows a window has depends on nothing but the share, the tile and `most`, so that both
 * processes find the same; how many entries they are, on the memory that this one moves. */
static void window_find(const ji_transfer_t *transfer, const ji_share_t *share, ji_move_t move,
                        int64_t most, pattern_window_t *window) {
    /* Otherwise an entry says which rows of the view it is. */
    const bool whole = ji_region_is_all(transfer->region);
    int64_t from_step, to_step;
    ji_run_t run;
    pattern_steps(transfer, move, &from_step, &to_step);

    most = most < transfer->tile ? most : transfer->tile;
    window->end = share->row;
    window->rows = 0;
    window->count = 0;

    for (int runs = 0; runs < PATTERN_RUNS && window->rows < most; ++runs) {
        if (!run_next(transfer, 0, share, window->end, &run))
            break;
        run.length = run.length < most - window->rows ? run.length : most - window->rows;

        const int64_t from = (move == JI_MOVE_UNPACK ? window->rows : run.source) * from_step;
        const int64_t to = (move == JI_MOVE_PACK ? window->rows : run.destination) * to_step;

        pattern_rows_t *last = &window->entries[window->count - (window->count > 0)];
        if (window->count > 0 && last->from + last->length * from_step == from &&
            last->to + last->length * to_step == to &&
            (whole || last->index + last->length == run.index))
            last->length += run.length;
        else
            window->entries[window->count++] = (pattern_rows_t){run.index, from, to, run.length};

        window->end = run.index + run.length;
        window->rows += run.length;
    }

    window->uniform = window->count > 0 ? window->entries[0].length : 0;
    for (int k = 1; k < window->count && window->uniform != 0; ++k)
        if (window->entries[k].length != window->uniform)
            window->uniform = 0;
}

/* ---- Elements ---- */

/* A copy of few bytes, in line. */
static inline void bytes_copy(char *to, const char *from, size_t bytes) {
    if (bytes > 128) {
        memcpy(to, from, bytes);
    } else if (bytes >= 16) {
        for (size_t k = 0; k + 16 < bytes; k += 16)
            memcpy(to + k, from + k, 16);
        memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else {
        for (size_t k = 0; k < bytes; ++k)
            to[k] = from[k];
    }
}

/* Defines a copy of elements of a fixed size that lie apart, and one of entries of that many
 * bytes. */
#define ELEMENTS_OF_BYTES(bytes)                                                                   \
    static void elements_copy_##bytes(char *to, int64_t to_step, const char *from,                 \
                                      int64_t from_step, int64_t count) {                          \
        for (int64_t k = 0; k < count; ++k)                                                        \
            memcpy(to + k * to_step, from + k * from_step, bytes);                                 \
    }                                                                                              \
    static void entries_copy_##bytes(char *to, const char *from, const pattern_window_t *window) { \
        for (int k = 0; k < window->count; ++k)                                                    \
            memcpy(to + window->entries[k].to, from + window->entries[k].from, bytes);             \
    }
ELEMENTS_OF_BYTES(1)
ELEMENTS_OF_BYTES(2)
ELEMENTS_OF_BYTES(4)
ELEMENTS_OF_BYTES(8)
ELEMENTS_OF_BYTES(16)

static void elements_copy(char *to, int64_t to_step, const char *from, int64_t from_step,
                          int64_t count, size_t size) {
    if (to_step == (int64_t)size && from_step == (int64_t)size) {
        bytes_copy(to, from, (size_t)count * size);
        return;
    }

    switch (size) {
    case 1: elements_copy_1(to, to_step, from, from_step, count); break;
    case 2: elements_copy_2(to, to_step, from, from_step, count); break;
    case 4: elements_copy_4(to, to_step, from, from_step, count); break;
    case 8: elements_copy_8(to, to_step, from, from_step, count); break;
    default: elements_copy_16(to, to_step, from, from_step, count);
    }
}

/* A column of a window between two host memories, where elements lie side by side. */
static void entries_copy(char *to, const char *from, const pattern_window_t *window, size_t size) {
    switch (window->uniform * (int64_t)size) {
    case 1: entries_copy_1(to, from, window); return;
    case 2: entries_copy_2(to, from, window); return;
    case 4: entries_copy_4(to, from, window); return;
    case 8: entries_copy_8(to, from, window); return;
    case 16: entries_copy_16(to, from, window); return;
    default: break;
    }

    for (int k = 0; k < window->count; ++k)
        bytes_copy(to + window->entries[k].to, from + window->entries[k].from,
                   (size_t)window->entries[k].length * size);
}

/* Bytes from one memory to another, of which one or both are a device's. */
static jstatus_t elements_copy_device(jdevice_t *device, char *to, int64_t to_step,
                                      const char *from, int64_t from_step, int64_t count,
                                      size_t size) {
    if (to_step == (int64_t)size && from_step == (int64_t)size)
        return jdevice_copy(device, NULL, to, from, (size_t)count * size);

    jstatus_t status = JSTATUS_SUCCESS;
    for (int64_t k = 0; k < count && status == JSTATUS_SUCCESS; ++k)
        status = jdevice_copy(device, NULL, to + k * to_step, from + k * from_step, size);
    return status;
}

static jstatus_t elements_zero(jdevice_t *device, char *to, int64_t to_step, int64_t count,
                               size_t size) {
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

/* So many rows that lie side by side, or a step apart. */
static jstatus_t rows_move(const ji_transfer_t *transfer, ji_move_t move, char *to, int64_t to_step,
                           const char *from, int64_t from_step, int64_t count) {
    const size_t size = transfer->element;
    jdevice_t *from_device = move == JI_MOVE_UNPACK ? NULL : transfer->from_device;
    jdevice_t *to_device = move == JI_MOVE_PACK ? NULL : transfer->to_device;

    if (move == JI_MOVE_ZERO)
        return elements_zero(to_device, to, to_step, count, size);
    if (move == JI_MOVE_REAL)
        return elements_zero(to_device, to + size / 2, to_step, count, size / 2);

    if (from_device != NULL || to_device != NULL)
        return elements_copy_device(to_device != NULL ? to_device : from_device, to, to_step, from,
                                    from_step, count, size);

    elements_copy(to, to_step, from, from_step, count, size);
    if (transfer->conjugate && move == JI_MOVE_DIRECT)
        ji_conjugate(transfer->type, to, to_step, count);
    return JSTATUS_SUCCESS;
}

/* The part of an entry that is in rows low to high of the view; false: none. */
static bool rows_clip(const pattern_rows_t *rows, int64_t low, int64_t high, int64_t *skip,
                      int64_t *count) {
    *skip = rows->index < low ? low - rows->index : 0;
    *count = (rows->length < high - rows->index ? rows->length : high - rows->index) - *skip;
    return *count > 0;
}

/* How many rows of a window are in the region, in one column. */
static int64_t column_count(const ji_transfer_t *transfer, const pattern_window_t *window,
                            int64_t low, int64_t high) {
    if (ji_region_is_all(transfer->region))
        return window->rows;

    int64_t total = 0, skip, count;
    for (int k = 0; k < window->count && window->entries[k].index < high; ++k)
        if (rows_clip(&window->entries[k], low, high, &skip, &count))
            total += count;
    return total;
}

/* The rows of a window in one column: those of the region. `to` and `from`: the column's
 * beginnings. */
static jstatus_t column_move(const ji_transfer_t *transfer, const pattern_window_t *window,
                             int64_t low, int64_t high, ji_move_t move, char *to,
                             const char *from) {
    const int64_t size = (int64_t)transfer->element;
    const bool whole = ji_region_is_all(transfer->region);
    int64_t from_step, to_step, total = 0;
    jstatus_t status = JSTATUS_SUCCESS;
    pattern_steps(transfer, move, &from_step, &to_step);

    if (whole && from_step == size && to_step == size && move <= JI_MOVE_DIRECT &&
        transfer->from_device == NULL && transfer->to_device == NULL &&
        (!transfer->conjugate || move != JI_MOVE_DIRECT)) {
        entries_copy(to, from, window, transfer->element);
        return JSTATUS_SUCCESS;
    }

    for (int k = 0; k < window->count && window->entries[k].index < high; ++k) {
        const pattern_rows_t *rows = &window->entries[k];
        int64_t skip = 0, count = rows->length;
        if (!whole && !rows_clip(rows, low, high, &skip, &count))
            continue;

        /* A message has those of the region alone, one behind the other. */
        const int64_t from_at =
            move == JI_MOVE_UNPACK ? total * size : rows->from + skip * from_step;
        const int64_t to_at = move == JI_MOVE_PACK ? total * size : rows->to + skip * to_step;
        const jstatus_t done =
            rows_move(transfer, move, to + to_at, to_step, from + from_at, from_step, count);
        status = status != JSTATUS_SUCCESS ? status : done;
        total += count;
    }
    return status;
}

bool ji_share_span(const ji_transfer_t *transfer, ji_share_t *share, ji_move_t move, int64_t most,
                   char **span, int64_t *moved) {
    const bool packs = move == JI_MOVE_PACK;
    const ji_distribution_t *distribution = packs ? transfer->source : transfer->destination;
    const int64_t size = (int64_t)transfer->element, step = distribution[1].stride * size;
    ji_share_t at = *share;
    int64_t total = 0, next = 0; /* where the piece is to go on, in bytes */
    char *first = NULL;

    if (!ji_region_is_all(transfer->region) || transfer->conjugate || distribution[0].stride != 1 ||
        (packs ? transfer->from_device : transfer->to_device) != NULL)
        return false;

    while (total < share->left) {
        pattern_window_t window;
        ji_run_t columns;
        window_find(transfer, &at, move, most, &window);

        const int64_t column_bytes = window.rows * size;
        const int64_t row_at = packs ? window.entries[0].from : window.entries[0].to;
        if (window.count != 1)
            return false;

        for (; run_next(transfer, 1, &at, at.column, &columns);
             at.column = columns.index + columns.length) {
            const int64_t here = row_at + (packs ? columns.source : columns.destination) * step;
            const int64_t room = (most - total) / window.rows,
                          taken = columns.length < room ? columns.length : room;

            if (taken > 0 && ((total > 0 && here != next) || (taken > 1 && step != column_bytes)))
                return false;

            if (total == 0)
                first = (packs ? (char *)(uintptr_t)transfer->from : transfer->to) + here;
            total += taken * window.rows;
            next = here + taken * column_bytes;

            if (taken < columns.length) {
                at.column = columns.index + taken;
                goto done;
            }
        }

        at.row = window.end;
        at.column = 0;
    }
done:
    at.left -= total;
    *share = at;
    *span = first;
    *moved = total;
    return true;
}

jstatus_t ji_share_move(const ji_transfer_t *transfer, ji_share_t *share, ji_move_t move,
                        int64_t most, char *message, int64_t *moved) {
    const int64_t size = (int64_t)transfer->element;
    const int64_t from_step = transfer->source[1].stride * size,
                  to_step = transfer->destination[1].stride * size;
    jstatus_t status = JSTATUS_SUCCESS;
    int64_t total = 0;

    while (total < share->left) {
        pattern_window_t window;
        ji_run_t columns;
        window_find(transfer, share, move, most, &window);

        for (; run_next(transfer, 1, share, share->column, &columns);
             share->column = columns.index + columns.length)
            for (int64_t k = 0; k < columns.length; ++k) {
                const int64_t j = columns.index + k, low = j + transfer->region.low,
                              high = j + transfer->region.high;
                const int64_t count = column_count(transfer, &window, low, high);

                if (count > most - total) {
                    share->column = j;
                    goto done;
                }

                const char *from = move == JI_MOVE_UNPACK
                                       ? message + total * size
                                       : transfer->from + (columns.source + k) * from_step;
                char *to = move == JI_MOVE_PACK
                               ? message + total * size
                               : transfer->to + (columns.destination + k) * to_step;

                const jstatus_t done = column_move(transfer, &window, low, high, move, to, from);
                status = status != JSTATUS_SUCCESS ? status : done;
                total += count;
            }

        share->row = window.end;
        share->column = 0;
    }
done:;
    jdevice_t *device = move == JI_MOVE_PACK || transfer->to_device == NULL ? transfer->from_device
                                                                            : transfer->to_device;
    if (device != NULL) {
        const jstatus_t waited = jstream_synchronize(device, NULL);
        status = status != JSTATUS_SUCCESS ? status : waited;
    }

    if (move == JI_MOVE_PACK && transfer->conjugate)
        ji_conjugate(transfer->type, message, size, total);

    share->left -= total;
    *moved = total;
    return status;
}
