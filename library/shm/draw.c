/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The map of a segment as a picture.
 *
 *     000000  |hhh|BBBBBBBBBB|s|s|....................|BBB|
 *             +---+----------+-+-+--------------------+---+
 *     040000  |...
 *
 * A row of cells, in which neighbours that look the same are one rectangle; a stripe below each
 * says whose it is.
 *
 * However large the segment is, the picture has at most ROWS times COLUMNS cells, so its length is
 * bounded. How many pages a cell stands for is found while the extents go by, in one walk under one
 * lock: cells begin at one page, and whenever an extent lies past the last cell, neighbours are
 * folded into one and a cell stands for twice as many. A cell is drawn as whatever takes most of
 * it; its title, which browsers show and screen readers read, says all that it holds.
 *
 * Colours of what extents are: Okabe and Ito's; of owners: Tol's muted ones; both of these the
 * colour-blind can tell apart. They differ in lightness as well, and owners have numbers besides.
 * The visitor only counts: the writer is called when the lock is free again. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "jalloc/segment.h"
#include "shm/layout.h"

enum {
    COLUMNS = 64,
    ROWS = 32,
    CELLS = COLUMNS * ROWS,
    STATES = JEXTENT_REGION + 1,
    OWNERS = 256,
    SHOWN_OWNERS = 12, /* in the legend */
    /* In pixels. */
    LEFT = 96,
    TOP = 62,
    CELL_WIDTH = 13,
    CELL_HEIGHT = 16, /* with the owner's stripe */
    STRIPE = 3,
    PITCH = 19, /* from row to row */
    LINE = 18,  /* of the legend */
    SWATCH = 14,
    WIDTH = LEFT + COLUMNS * CELL_WIDTH + 16
};

/* In the order of jextent_state_t. The light colour: what is not in use in slabs and stacks. */
static const struct {
    const char *name, *colour, *light;
} looks[STATES] = {
    {"tables", "#5f6b77", "#5f6b77"}, {"free", "#eef1f4", "#eef1f4"},
    {"blocks", "#0072b2", "#0072b2"}, {"kept by a process", "#9fd3f2", "#9fd3f2"},
    {"slabs", "#d55e00", "#f6d8bf"},  {"regions", "#009e73", "#bfe6da"},
};

static const char *const owner_colours[] = {"#882255", "#44aa99", "#332288", "#ddcc77",
                                            "#cc6677", "#117733", "#88ccee", "#999933"};

typedef struct cell {
    uint64_t bytes[STATES];
    uint64_t used_bytes; /* of slabs and regions: in use */
    uint64_t most_bytes; /* of this cell that lie in `most` */
    jextent_t most;
} cell_t;

typedef struct picture {
    cell_t cells[CELLS];
    uint64_t cell_bytes, size_bytes;
    uint64_t state_bytes[STATES], state_count[STATES];
    uint64_t owner_bytes[OWNERS];
    jallocator_writer_t writer;
    void *context;
} picture_t;

/* ---- Counting ---- */

static void cell_merge(cell_t *into, const cell_t *from) {
    for (int state = 0; state < STATES; state++)
        into->bytes[state] += from->bytes[state];
    into->used_bytes += from->used_bytes;

    if (into->most_bytes > 0 && into->most.offset == from->most.offset) {
        into->most_bytes += from->most_bytes;
    } else if (from->most_bytes > into->most_bytes) {
        into->most_bytes = from->most_bytes;
        into->most = from->most;
    }
}

static void picture_fold(picture_t *picture) {
    for (size_t i = 0; i < CELLS / 2; i++) {
        cell_t folded = picture->cells[2 * i];
        cell_merge(&folded, &picture->cells[2 * i + 1]);
        picture->cells[i] = folded;
    }

    memset(&picture->cells[CELLS / 2], 0, sizeof picture->cells / 2);
    picture->cell_bytes *= 2;
}

/* Bytes of an extent's first `part` bytes that count as in use. */
static uint64_t used_of(const jextent_t *extent, uint64_t part) {
    double used = 0;
    if (extent->state == JEXTENT_SLAB)
        used = (double)extent->live_count * (double)extent->block_bytes;
    else if (extent->state == JEXTENT_REGION)
        used = (double)extent->block_bytes;

    const double share = used / (double)extent->size_bytes;
    return (uint64_t)((double)part * (share < 1 ? share : 1));
}

static bool picture_see(void *context, const jextent_t *extent) {
    picture_t *picture = context;
    const uint64_t end = extent->offset + extent->size_bytes;
    while (end > picture->cell_bytes * CELLS)
        picture_fold(picture);

    picture->size_bytes = end;
    picture->state_bytes[extent->state] += extent->size_bytes;
    picture->state_count[extent->state]++;
    if (extent->owner != 0)
        picture->owner_bytes[extent->owner % OWNERS] += extent->size_bytes;

    for (uint64_t at = extent->offset; at < end;) {
        const uint64_t index = at / picture->cell_bytes,
                       cell_end = (index + 1) * picture->cell_bytes;
        const uint64_t part = (end < cell_end ? end : cell_end) - at;
        cell_t one = {.used_bytes = used_of(extent, part), .most_bytes = part, .most = *extent};
        one.bytes[extent->state] = part;

        cell_merge(&picture->cells[index], &one);
        at += part;
    }
    return true;
}

/* ---- Writing ---- */

static void put(picture_t *picture, const char *format, ...) JALLOC_PRINTF(2, 3);
static void put(picture_t *picture, const char *format, ...) {
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    if (length > 0)
        picture->writer(picture->context, text,
                        (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static void put_rectangle(picture_t *picture, const char *colour, int x, int y, int width,
                          int height) {
    put(picture, "<rect fill=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", colour, x, y,
        width, height);
}

typedef struct size_text {
    char text[32];
} size_text_t;
static size_text_t size_text(uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_text_t size;
    double value = (double)bytes;
    unsigned unit = 0;

    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;

    snprintf(size.text, sizeof size.text, "%.*f %s", value == (double)(uint64_t)value ? 0 : 1,
             value, units[unit]);
    return size;
}

/* Whose an extent is, for people. */
static size_text_t owner_text(unsigned owner) {
    size_text_t text;
    if (owner == SHM_SLOT_SEGMENT)
        snprintf(text.text, sizeof text.text, "the segment");
    else
        snprintf(text.text, sizeof text.text, "slot %u", owner);
    return text;
}

static const char *owner_colour(unsigned owner) {
    return owner == SHM_SLOT_SEGMENT
               ? "#000000"
               : owner_colours[owner % (sizeof owner_colours / sizeof owner_colours[0])];
}

/* Quarters of the cell's slabs and regions in use: cells that are nearly alike look alike. */
static unsigned fill_of(const cell_t *cell) {
    const uint64_t divided = cell->bytes[JEXTENT_SLAB] + cell->bytes[JEXTENT_REGION];
    return divided ? (unsigned)((cell->used_bytes * 4 + divided / 2) / divided) : 0;
}

static bool look_alike(const picture_t *picture, const cell_t *a, const cell_t *b) {
    if (a->most.offset == b->most.offset)
        return fill_of(a) == fill_of(b);

    return picture->cell_bytes > SHM_PAGE_BYTES && a->most.state == b->most.state &&
           a->most.owner == b->most.owner && a->most.allocator_id == b->most.allocator_id &&
           fill_of(a) == fill_of(b);
}

static void put_title(picture_t *picture, const cell_t *run, uint64_t begin, uint64_t end) {
    const jextent_t *most = &run->most;
    uint64_t all = 0;
    for (int state = 0; state < STATES; state++)
        all += run->bytes[state];

    if (run->most_bytes == all) {
        put(picture, "<title>0x%llx: %s of %s", (unsigned long long)most->offset,
            size_text(most->size_bytes).text, looks[most->state].name);
        if (most->owner != 0)
            put(picture, ", %s", owner_text(most->owner).text);
        if (most->allocator_id != 0)
            put(picture, ", allocator %llu", (unsigned long long)most->allocator_id);
        if (most->state == JEXTENT_SLAB)
            put(picture, ", %u of %u blocks of %s", most->live_count, most->block_count,
                size_text(most->block_bytes).text);
        else if (most->state == JEXTENT_REGION && most->block_bytes != 0)
            put(picture, ", %s in use", size_text(most->block_bytes).text);
    } else {
        put(picture, "<title>0x%llx to 0x%llx", (unsigned long long)begin, (unsigned long long)end);
        for (int state = 0; state < STATES; state++)
            if (run->bytes[state] > 0)
                put(picture, ", %s of %s", size_text(run->bytes[state]).text, looks[state].name);
    }

    put(picture, "</title>");
}

static void put_run(picture_t *picture, size_t first, size_t count, const cell_t *run) {
    const int x = LEFT + (int)(first % COLUMNS) * CELL_WIDTH,
              y = TOP + (int)(first / COLUMNS) * PITCH;
    const int width = (int)count * CELL_WIDTH - 1;
    const int height = CELL_HEIGHT - STRIPE - 1;
    const jextent_state_t state = run->most.state;
    const bool divided = state == JEXTENT_SLAB || state == JEXTENT_REGION;
    const int used = divided ? (int)(fill_of(run) * (unsigned)height / 4) : height;

    put(picture, "<g>");
    put_title(picture, run, first * picture->cell_bytes, (first + count) * picture->cell_bytes);

    if (used < height)
        put_rectangle(picture, looks[state].light, x, y, width, height - used);
    if (used > 0)
        put_rectangle(picture, looks[state].colour, x, y + height - used, width, used);

    if (run->most.owner != 0) {
        put_rectangle(picture, owner_colour(run->most.owner), x, y + height + 1, width, STRIPE);
        if (count >= 2 && run->most.owner != SHM_SLOT_SEGMENT)
            put(picture, "<text class=\"n\" x=\"%d\" y=\"%d\">%u</text>", x + 2, y + height - 2,
                run->most.owner);
    }

    put(picture, "</g>\n");
}

static void put_cells(picture_t *picture) {
    const size_t count =
        (size_t)((picture->size_bytes + picture->cell_bytes - 1) / picture->cell_bytes);

    for (size_t row = 0; row < count; row += COLUMNS) {
        put(picture, "<text class=\"o\" x=\"%d\" y=\"%d\">%llx</text>\n", LEFT - 8,
            TOP + (int)(row / COLUMNS) * PITCH + 10, (unsigned long long)row * picture->cell_bytes);

        const size_t row_end = row + COLUMNS < count ? row + COLUMNS : count;
        for (size_t first = row, next; first < row_end; first = next) {
            cell_t run = picture->cells[first];
            for (next = first + 1; next < row_end; next++) {
                if (!look_alike(picture, &picture->cells[first], &picture->cells[next]))
                    break;
                cell_merge(&run, &picture->cells[next]);
            }

            put_run(picture, first, next - first, &run);
        }
    }
}

static void put_legend_of_states(picture_t *picture, int y) {
    for (int state = 0; state < STATES; state++, y += LINE) {
        put_rectangle(picture, looks[state].colour, LEFT, y - 9, SWATCH, 10);
        put(picture, "<text x=\"%d\" y=\"%d\">%s: %s, extents: %llu</text>\n", LEFT + SWATCH + 6, y,
            looks[state].name, size_text(picture->state_bytes[state]).text,
            (unsigned long long)picture->state_count[state]);
    }

    put(picture,
        "<text class=\"f\" x=\"%d\" y=\"%d\">"
        "Slabs and regions are filled as high as they are in use.</text>\n",
        LEFT, y);
}

/* The largest owners first, the others together. */
static void put_legend_of_owners(picture_t *picture, unsigned owners, int y) {
    const int x = LEFT + COLUMNS * CELL_WIDTH / 2;
    int shown = 0;

    for (; shown < SHOWN_OWNERS; shown++, y += LINE) {
        unsigned most = 0; /* nobody, who counts for nothing */
        for (unsigned owner = 1; owner < OWNERS; owner++)
            if (picture->owner_bytes[owner] > picture->owner_bytes[most])
                most = owner;
        if (most == 0)
            break;

        put_rectangle(picture, owner_colour(most), x, y - 6, SWATCH, STRIPE);
        put(picture, "<text x=\"%d\" y=\"%d\">%s: extents of %s</text>\n", x + SWATCH + 6, y,
            owner_text(most).text, size_text(picture->owner_bytes[most]).text);
        picture->owner_bytes[most] = 0;
    }

    if (owners > (unsigned)shown)
        put(picture, "<text class=\"f\" x=\"%d\" y=\"%d\">others: %u</text>\n", x + SWATCH + 6, y,
            owners - (unsigned)shown);
}

/* What a reader of the screen reads: the same as the legend. */
static void put_description(picture_t *picture) {
    put(picture, "<title id=\"title\">A segment of %s</title>\n",
        size_text(picture->size_bytes).text);
    put(picture, "<desc id=\"desc\">");
    for (int state = 0; state < STATES; state++)
        put(picture, "%s%s: %s, extents: %llu", state ? "; " : "", looks[state].name,
            size_text(picture->state_bytes[state]).text,
            (unsigned long long)picture->state_count[state]);
    put(picture, "</desc>\n");
}

static void put_style(picture_t *picture) {
    put(picture, "<style>text{font:12px \"DejaVu Sans\",Helvetica,Arial,sans-serif;fill:#1f2933}"
                 ".h{font-size:16px}.f{fill:#5f6b77}"
                 ".o{font:10px \"DejaVu Sans Mono\",monospace;text-anchor:end;fill:#5f6b77}"
                 ".n{font-size:9px;paint-order:stroke;stroke:#fff;stroke-width:2px}");
    put(picture, "</style>\n");
}

static void put_heading(picture_t *picture, const jsegment_stats_t *stats, uint64_t row_bytes) {
    put(picture,
        "<text class=\"h\" x=\"%d\" y=\"28\">"
        "%s, at most %s; %u attached; %s for anybody, the largest %s</text>\n",
        LEFT, size_text(picture->size_bytes).text, size_text(stats->max_bytes).text,
        stats->processes, size_text(picture->state_bytes[JEXTENT_FREE]).text,
        size_text(stats->largest_free_bytes).text);
    put(picture,
        "<text class=\"f\" x=\"%d\" y=\"48\">"
        "A cell is %s, a row %s; at the left the row's offset</text>\n",
        LEFT, size_text(picture->cell_bytes).text, size_text(row_bytes).text);
}

static void put_picture(picture_t *picture, const jsegment_stats_t *stats) {
    unsigned owners = 0;
    for (unsigned owner = 1; owner < OWNERS; owner++)
        owners += picture->owner_bytes[owner] > 0;

    const uint64_t row_bytes = picture->cell_bytes * COLUMNS;
    const int rows = (int)((picture->size_bytes + row_bytes - 1) / row_bytes);
    const int lines = (int)owners < STATES    ? STATES
                      : owners < SHOWN_OWNERS ? (int)owners
                                              : SHOWN_OWNERS;
    const int legend = TOP + rows * PITCH + 24, height = legend + (lines + 1) * LINE;

    put(picture,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
        "height=\"%d\" role=\"img\" aria-labelledby=\"title desc\">\n",
        WIDTH, height, WIDTH, height);
    put_description(picture);
    put_style(picture);
    put_rectangle(picture, "#fff", 0, 0, WIDTH, height);
    put_heading(picture, stats, row_bytes);
    put_cells(picture);
    put_legend_of_states(picture, legend);
    put_legend_of_owners(picture, owners, legend);
    put(picture, "</svg>\n");
}

jstatus_t jsegment_draw(const jsegment_t *segment, jallocator_writer_t writer, void *context) {
    JREQUIRE(segment != NULL && writer != NULL, JSTATUS_INVALID_POINTER);
    jstatus_t status;

    jsegment_stats_t stats = JSEGMENT_STATS_INIT;
    picture_t *picture;
    JTRY_ALLOC(picture = ji_metadata_zalloc(sizeof *picture));

    picture->cell_bytes = SHM_PAGE_BYTES;
    picture->writer = writer;
    picture->context = context;

    JTRY(jsegment_get_stats(segment, &stats));
    JTRY(jsegment_visit(segment, picture_see, picture));
    put_picture(picture, &stats);
done:
    ji_metadata_free(picture);
    return status;
}
