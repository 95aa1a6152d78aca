/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The picture of a segment, read back: its cells cover the segment, small segments show each
 * extent, large ones stay small pictures. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jalloc/segment.h"
#include "jtest.h"

enum { CELL_WIDTH = 13, MAX_CELLS = 2048 }; /* as in draw.c */
#define LARGEST_PICTURE ((size_t)768 << 10)

typedef struct picture {
    char *text;
    size_t length, capacity;
} picture_t;

static void picture_append(void *context, const char *text, size_t length) {
    picture_t *picture = context;
    if (picture->length + length + 1 > picture->capacity) {
        picture->capacity = 2 * (picture->length + length + 1);
        picture->text = realloc(picture->text, picture->capacity);
    }
    memcpy(picture->text + picture->length, text, length);
    picture->length += length;
    picture->text[picture->length] = '\0';
}

/* Cells that the picture's runs have together: the width of each run's first rectangle, and the gap
 * behind it. */
static size_t picture_cells(const picture_t *picture) {
    size_t pixels = 0;
    for (const char *run = picture->text; (run = strstr(run, "<g>")) != NULL; run++) {
        const char *width = strstr(strstr(run, "<rect"), "width=\"");
        pixels += strtoul(width + strlen("width=\""), NULL, 10) + 1;
    }
    return pixels % CELL_WIDTH == 0 ? pixels / CELL_WIDTH : 0;
}

static double parse_size(const char *text, char **end) {
    static const char *const units[] = {" bytes", " KiB", " MiB", " GiB"};
    double size = strtod(text, end), unit = 1;
    for (int i = 0; i < 4; i++, unit *= 1024)
        if (strncmp(*end, units[i], strlen(units[i])) == 0)
            return size * unit;
    return -1;
}

/* A run of several extents says how much it has of what: together as much as there is between its
 * ends, as far as sizes with one decimal tell. */
static void expect_titles_add_up(const picture_t *picture) {
    for (const char *title = picture->text; (title = strstr(title, "<title>0x")) != NULL; title++) {
        char *at;
        const uint64_t begin = strtoull(title + strlen("<title>"), &at, 16);
        if (strncmp(at, " to ", 4) != 0)
            continue;
        const uint64_t end = strtoull(at + 4, &at, 16);
        double sum = 0;
        while (strncmp(at, ", ", 2) == 0) {
            sum += parse_size(at + 2, &at);
            at += strcspn(at, ",<");
        }
        JEXPECT_NEAR(sum, (double)(end - begin), 0.05 * (double)(end - begin));
    }
}

static jsegment_t *make_segment(size_t size_bytes) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.size_bytes = size_bytes;
    jsegment_t *segment = NULL;
    JEXPECT_OK(jsegment_create(&options, &segment));
    return segment;
}

static bool each_extent_is_drawn(void *context, const jextent_t *extent) {
    char title[32];
    snprintf(title, sizeof title, "<title>0x%llx: ", (unsigned long long)extent->offset);
    JEXPECT_SUBSTR(((const picture_t *)context)->text, title);
    return true;
}

JTEST(SegmentPicture, OfASmallSegmentShowsEachExtent) {
    const size_t size_bytes = (size_t)2 << 20;
    jsegment_t *segment = make_segment(size_bytes);
    jshared_t *general, *stack;
    jshared_options_t of_stack = JSHARED_OPTIONS_INIT;
    of_stack.kind = JSHARED_STACK;
    of_stack.region_bytes = 100000;
    JASSERT_OK(jshared_create(segment, 12, NULL, &general));
    JASSERT_OK(jshared_create(segment, 34, &of_stack, &stack));
    joffset_t small, blocks[20], stacked;
    JASSERT_OK(jshared_allocate(general, 48, 0, &small));
    for (int i = 0; i < 20; i++)
        JASSERT_OK(jshared_allocate(general, (size_t)(i + 1) * 4096 + 8192, 0, &blocks[i]));
    for (int i = 0; i < 20; i += 4) /* two neighbours that look alike stay */
        JASSERT_OK(jshared_give(general, blocks[i], JSEGMENT_SLOT_SEGMENT));
    for (int i = 1; i < 20; i += 4)
        JASSERT_OK(jshared_deallocate(general, blocks[i]));
    JASSERT_OK(jshared_allocate(stack, 2048, 0, &stacked));

    picture_t picture = {0};
    JASSERT_OK(jsegment_draw(segment, picture_append, &picture));
    JEXPECT_EQ(picture_cells(&picture), size_bytes / 4096);
    JEXPECT_OK(jsegment_visit(segment, each_extent_is_drawn, &picture));
    JEXPECT_SUBSTR(picture.text, "A cell is 4 KiB");
    JEXPECT_SUBSTR(picture.text, "of blocks, the segment, allocator 12");
    JEXPECT_SUBSTR(picture.text, "of kept by a process, slot 1");
    JEXPECT_SUBSTR(picture.text, "of slabs, slot 1, allocator 12, 1 of ");
    JEXPECT_SUBSTR(picture.text, "of regions, the segment, allocator 34, 2 KiB in use");
    free(picture.text);
    JEXPECT_OK(jsegment_detach(segment));
}

JTEST(SegmentPicture, OfALargeSegmentIsSmallAndCoversIt) {
    static const size_t sizes[] = {(size_t)8 << 20, ((size_t)8 << 20) + 4096, (size_t)300 << 20,
                                   (size_t)1 << 30};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        JSCOPED_TRACE("%zu bytes", sizes[s]);
        jsegment_t *segment = make_segment(sizes[s]);
        jshared_t *general;
        JASSERT_OK(jshared_create(segment, 1, NULL, &general));
        const size_t count = sizes[s] / 40000;
        joffset_t *blocks = malloc(count * sizeof *blocks);
        for (size_t i = 0; i < count; i++)
            JASSERT_OK(jshared_allocate(general, (size_t)jtest_random_between(8193, 40000), 0,
                                        &blocks[i]));
        for (size_t i = 0; i < count; i++)
            if (jtest_random_bool())
                JASSERT_OK(jshared_deallocate(general, blocks[i]));

        picture_t picture = {0};
        JASSERT_OK(jsegment_draw(segment, picture_append, &picture));
        size_t cell_bytes = 4096;
        while (cell_bytes * MAX_CELLS < sizes[s])
            cell_bytes *= 2;
        JEXPECT_EQ(picture_cells(&picture), (sizes[s] + cell_bytes - 1) / cell_bytes);
        JEXPECT_LT(picture.length, LARGEST_PICTURE);
        expect_titles_add_up(&picture);
        free(picture.text);
        free(blocks);
        JEXPECT_OK(jsegment_detach(segment));
    }
}

/* More owners than the legend has room for, and blocks of several allocators in one segment of
 * cells of several pages. */
JTEST(SegmentPicture, OfManyOwnersNamesTheLargest) {
    enum { OWNERS = 14 };
    for (unsigned owners = 8; owners <= OWNERS; owners += OWNERS - 8) {
        JSCOPED_TRACE("%u owners", owners);
        jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
        jsegment_t *segments[OWNERS] = {NULL};
        jshared_t *one = NULL, *two = NULL, *shared;
        joffset_t offset;
        options.backend = JSEGMENT_MEMFD;
        options.size_bytes = (size_t)32 << 20;
        JASSERT_OK(jsegment_create(&options, &segments[0]));
        JASSERT_OK(jsegment_export(segments[0], &options.descriptor));
        JASSERT_OK(jshared_create(segments[0], 1, NULL, &one));
        JASSERT_OK(jshared_create(segments[0], 2, NULL, &two));
        /* Neighbours of two allocators, some of them in the same cell. */
        for (int i = 0; i < 40; ++i)
            JEXPECT_OK(jshared_allocate(i % 5 < 2 ? one : two, (size_t)9000 + (size_t)i * 4096, 0,
                                        &offset));
        for (int i = 0; i < 1300; ++i) /* slabs side by side, the last one not full */
            JEXPECT_OK(jshared_allocate(one, 64, 0, &offset));
        for (unsigned i = 1; i < owners; ++i) {
            JASSERT_OK(jsegment_attach(&options, &segments[i]));
            JASSERT_OK(jshared_open(segments[i], 1, &shared));
            JEXPECT_OK(jshared_allocate(shared, (size_t)(OWNERS + 1 - i) << 16, 0, &offset));
            JEXPECT_OK(jshared_allocate(shared, 30, 0, &offset));
        }
        picture_t picture = {0};
        JASSERT_OK(jsegment_draw(segments[0], picture_append, &picture));
        expect_titles_add_up(&picture);
        JEXPECT_EQ(picture_cells(&picture), MAX_CELLS);
        JEXPECT_SUBSTR(picture.text, ", slot 2, allocator 1");
        JEXPECT_SUBSTR(picture.text, ">slot 2: extents of");
        JEXPECT_EQ(strstr(picture.text, ">others: 2<") != NULL, owners == OWNERS);
        JEXPECT_EQ(strstr(picture.text, ">others: ") != NULL, owners == OWNERS);
        free(picture.text);
        for (unsigned i = owners; i-- > 1;)
            JEXPECT_OK(jsegment_detach(segments[i]));
        JEXPECT_OK(jsegment_destroy(segments[0]));
        JEXPECT_EQ(close(options.descriptor), 0);
    }
}

JTEST(SegmentPicture, OfAFullStackSaysSo) {
    jsegment_t *segment = make_segment((size_t)1 << 20);
    JASSERT_NOT_NULL(segment);
    jshared_options_t options = JSHARED_OPTIONS_INIT;
    jshared_t *stack = NULL;
    joffset_t offset;
    options.kind = JSHARED_STACK;
    options.region_bytes = (size_t)32 << 10;
    JASSERT_OK(jshared_create(segment, 1, &options, &stack));
    JASSERT_OK(jshared_allocate(stack, options.region_bytes, 0, &offset));
    picture_t picture = {0};
    JEXPECT_OK(jsegment_draw(segment, picture_append, &picture));
    JEXPECT_SUBSTR(picture.text, "32 KiB of regions, the segment, allocator 1, 32 KiB in use");
    free(picture.text);
    JEXPECT_OK(jsegment_destroy(segment));
}

/* A piece that cannot be written is left out, and the rest is drawn. */
JTEST(SegmentPicture, APieceThatCannotBeWrittenIsLeftOut) {
    jsegment_t *segment = make_segment((size_t)1 << 20);
    JASSERT_NOT_NULL(segment);
    picture_t picture = {0};
    jtest_fail_calls("vsnprintf", 1, 1, EOVERFLOW);
    JEXPECT_OK(jsegment_draw(segment, picture_append, &picture));
    JEXPECT_TRUE(jtest_calls_failed());
    JEXPECT_NULL(strstr(picture.text, "<svg"));
    JEXPECT_SUBSTR(picture.text, "</svg>");
    JEXPECT_STATUS(jsegment_draw(NULL, picture_append, &picture), JSTATUS_INVALID_POINTER);
    free(picture.text);
    JEXPECT_OK(jsegment_destroy(segment));
}
