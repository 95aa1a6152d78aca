/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* From rows to operations.
 *
 * Two formats are one: columns are found by their names in the header, those that RMM's log does
 * not have are empty. An address becomes the number of a block when it is allocated, and is
 * forgotten when it is freed, so an address that is given out again is another block. Each
 * allocator of a file has addresses of its own: a policy's first block begins where the provider's
 * block begins that it lies in.
 *
 *     Thread,Time,Action,Pointer,Size,Stream
 *     20412,11:23:45.124103,allocate,0x7f..,400,0x2
 *
 *     Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag
 *     0,126446,allocate,0x3,2400,0x0,64,heap,assemble
 *
 * Memory is linear in the rows: 16 bytes an operation and 10 beside it, 32 to 40 bytes a block, and
 * meanwhile a table of what is live. */

#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "../common/terminal.h"
#include "csv.h"
#include "map.h"

#define DAY_NS (86400 * UINT64_C(1000000000))
#define MAX_ALIGNMENT_LOG 30 /* as jallocator_allocate() */
#define STREAM_LEGACY 1      /* how CUDA names its default streams */
#define STREAM_OF_THREAD 2
/* With a thread's number: no address has this bit. */
#define STREAM_OF_THREAD_KEY (UINT64_C(1) << 63)

typedef enum column {
    COLUMN_THREAD,
    COLUMN_TIME,
    COLUMN_ACTION,
    COLUMN_POINTER,
    COLUMN_SIZE,
    COLUMN_STREAM,
    COLUMN_ALIGNMENT,
    COLUMN_ALLOCATOR,
    COLUMN_TAG,
    COLUMNS
} column_t;

static const struct {
    const char *name;
    bool required;
} columns[COLUMNS] = {
    [COLUMN_THREAD] = {"Thread", false},
    [COLUMN_TIME] = {"Time", false},
    [COLUMN_ACTION] = {"Action", true},
    [COLUMN_POINTER] = {"Pointer", true},
    [COLUMN_SIZE] = {"Size", true},
    [COLUMN_STREAM] = {"Stream", false},
    [COLUMN_ALIGNMENT] = {"Alignment", false},
    [COLUMN_ALLOCATOR] = {"Allocator", false},
    [COLUMN_TAG] = {"Tag", false},
};

/* While the file is read. */
typedef struct reader {
    csv_t csv;
    trace_t *trace;
    size_t field_of[COLUMNS]; /* plus 1; 0: the file has no such column */
    size_t field_count;
    size_t operation_capacity, block_capacity;
    size_t *lines;                      /* of each block's allocation: for messages */
    map_t *live;                        /* of each allocator: addresses of live blocks */
    map_t threads, streams;             /* as the file names them, to our numbers */
    map_t tags, allocators;             /* hashes of names */
    uint64_t first_ns, last_ns, day_ns; /* day_ns: added to a clock that has passed midnight */
} reader_t;

/* ---- One field ---- */

static const csv_field_t *reader_field(const reader_t *reader, column_t column) {
    static const csv_field_t empty = {(char *)"", 0};
    size_t field = reader->field_of[column];
    return field ? &reader->csv.fields[field - 1] : &empty;
}

_Noreturn static void reader_refuse(const reader_t *reader, column_t column, const char *expected) {
    const csv_field_t *field = reader_field(reader, column);
    int shown = field->length < 60 ? (int)field->length : 60;
    csv_refuse(&reader->csv, "%s '%.*s' is not %s", columns[column].name, shown, field->text,
               expected);
}

static uint64_t reader_number(const reader_t *reader, column_t column, const char *expected) {
    const csv_field_t *field = reader_field(reader, column);
    uint64_t value = 0;
    if (field->length > 0 ? !csv_parse_number(field, &value) : columns[column].required)
        reader_refuse(reader, column, expected);
    return value;
}

static uint64_t reader_address(const reader_t *reader, column_t column, const char *expected) {
    const csv_field_t *field = reader_field(reader, column);
    uint64_t value = 0;
    if (field->length > 0 ? !csv_parse_address(field, &value) : columns[column].required)
        reader_refuse(reader, column, expected);
    return value;
}

static action_t reader_action(const reader_t *reader) {
    const csv_field_t *field = reader_field(reader, COLUMN_ACTION);
    if (csv_field_is(field, "allocate"))
        return ACTION_ALLOCATE;
    if (csv_field_is(field, "free"))
        return ACTION_FREE;
    if (csv_field_is(field, "allocate failure"))
        return ACTION_FAILURE;
    reader_refuse(reader, COLUMN_ACTION, "'allocate', 'allocate failure' or 'free'");
}

static uint8_t reader_alignment_log(const reader_t *reader) {
    uint64_t alignment = reader_number(reader, COLUMN_ALIGNMENT, "a number of bytes");
    if (alignment == 0)
        return 0;
    if ((alignment & (alignment - 1)) != 0 || alignment > UINT64_C(1) << MAX_ALIGNMENT_LOG)
        reader_refuse(reader, COLUMN_ALIGNMENT, "a power of two up to 2^30");
    return (uint8_t)(__builtin_ctzll(alignment) + 1);
}

/* Nanoseconds since the first row. A clock that falls by half a day has passed midnight; what is a
 * little older than the row before (rows of several threads may change places) counts as of the
 * same time. */
static uint64_t reader_time(reader_t *reader, bool first) {
    const csv_field_t *field = reader_field(reader, COLUMN_TIME);
    uint64_t time_ns = 0;
    bool clock = false;
    if (field->length > 0 && !csv_parse_time(field, &time_ns, &clock))
        reader_refuse(reader, COLUMN_TIME, "a time: nanoseconds, or 11:23:45.123456");
    time_ns += reader->day_ns;
    if (first)
        reader->first_ns = reader->last_ns = time_ns;
    if (clock && time_ns + DAY_NS / 2 < reader->last_ns) {
        reader->day_ns += DAY_NS;
        time_ns += DAY_NS;
    }
    if (time_ns > reader->last_ns)
        reader->last_ns = time_ns;
    return reader->last_ns - reader->first_ns;
}

/* The number of something that is named by a number, counted in the order of appearance. */
static uint16_t reader_renumber(const reader_t *reader, map_t *map, uint64_t key, size_t *count,
                                const char *what) {
    uint32_t number = map_find(map, key);
    if (number == MAP_NONE) {
        if (*count > UINT16_MAX)
            csv_refuse(&reader->csv, "more than %d %s", UINT16_MAX, what);
        number = (uint32_t)(*count)++;
        map_add(map, key, number);
    }
    return (uint16_t)number;
}

static uint16_t reader_stream(reader_t *reader, uint16_t thread) {
    uint64_t stream = reader_address(reader, COLUMN_STREAM, "a stream: 0, or 0x and an address");
    if (stream <= STREAM_LEGACY)
        return 0;
    if (stream == STREAM_OF_THREAD)
        stream = STREAM_OF_THREAD_KEY | thread;
    return reader_renumber(reader, &reader->streams, stream, &reader->trace->stream_count,
                           "streams");
}

/* The number of a name. Names whose hashes (FNV-1a) are the same take the next free one. */
static uint32_t reader_name(const reader_t *reader, column_t column, map_t *map, names_t *names) {
    const csv_field_t *field = reader_field(reader, column);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (field->length == 0)
        return 0;
    for (size_t i = 0; i < field->length; i++)
        hash = (hash ^ (unsigned char)field->text[i]) * UINT64_C(0x100000001b3);
    for (uint32_t number; (number = map_find(map, hash)) != MAP_NONE; hash++)
        if (csv_field_is(field, names->names[number]))
            return number;
    names->names =
        tool_reallocate(names->names, names->count, names->count + 1, sizeof *names->names);
    char *name = tool_allocate(field->length + 1, 1);
    memcpy(name, field->text, field->length);
    names->names[names->count] = name;
    map_add(map, hash, names->count);
    return names->count++;
}

static uint16_t reader_allocator(reader_t *reader) {
    names_t *names = &reader->trace->allocators;
    uint32_t before = names->count,
             number = reader_name(reader, COLUMN_ALLOCATOR, &reader->allocators, names);
    if (number > UINT16_MAX)
        csv_refuse(&reader->csv, "more than %d allocators", UINT16_MAX);
    if (names->count > before)
        reader->live = tool_reallocate(reader->live, before, names->count, sizeof *reader->live);
    return (uint16_t)number;
}

/* ---- One row ---- */

static void reader_add_operation(reader_t *reader, operation_t operation, uint64_t time_ns,
                                 uint16_t thread) {
    trace_t *trace = reader->trace;
    size_t old = reader->operation_capacity;
    if (trace->operation_count == old) {
        size_t capacity = old ? 2 * old : 4096;
        if (old >= NEVER / 2)
            csv_refuse(&reader->csv, "more than %u rows are too many", NEVER / 2);
        trace->operations =
            tool_reallocate(trace->operations, old, capacity, sizeof *trace->operations);
        trace->times_ns = tool_reallocate(trace->times_ns, old, capacity, sizeof *trace->times_ns);
        trace->threads = tool_reallocate(trace->threads, old, capacity, sizeof *trace->threads);
        reader->operation_capacity = capacity;
    }
    trace->operations[trace->operation_count] = operation;
    trace->times_ns[trace->operation_count] = time_ns;
    trace->threads[trace->operation_count++] = thread;
}

static uint32_t reader_add_block(reader_t *reader, block_t block) {
    trace_t *trace = reader->trace;
    size_t old = reader->block_capacity;
    if (trace->block_count == old) {
        size_t capacity = old ? 2 * old : 4096;
        trace->blocks = tool_reallocate(trace->blocks, old, capacity, sizeof *trace->blocks);
        reader->lines = tool_reallocate(reader->lines, old, capacity, sizeof *reader->lines);
        reader->block_capacity = capacity;
    }
    reader->lines[trace->block_count] = reader->csv.line;
    trace->blocks[trace->block_count] = block;
    return (uint32_t)trace->block_count++;
}

/* The block that a free ends; MAP_NONE for one that was allocated before the trace began. */
static uint32_t reader_end_block(reader_t *reader, map_t *live, uint64_t address,
                                 uint64_t size_bytes) {
    uint32_t number = map_find(live, address);
    if (number == MAP_NONE)
        return MAP_NONE;
    block_t *block = &reader->trace->blocks[number];
    if (block->size_bytes != size_bytes)
        csv_refuse(&reader->csv, "frees %llu bytes at 0x%llx, where line %zu allocated %zu",
                   (unsigned long long)size_bytes, (unsigned long long)address,
                   reader->lines[number], block->size_bytes);
    block->freed_by = (uint32_t)reader->trace->operation_count;
    map_remove(live, address);
    return number;
}

/* The recorder's own last row. */
static void reader_take_stop(reader_t *reader) {
    const csv_field_t *reason = reader_field(reader, COLUMN_TAG);
    free(reader->trace->stopped);
    reader->trace->stopped = tool_allocate(reason->length + 1, 1);
    memcpy(reader->trace->stopped, reason->text, reason->length);
}

static void reader_take_row(reader_t *reader) {
    trace_t *trace = reader->trace;
    if (reader->csv.field_count != reader->field_count)
        csv_refuse(&reader->csv, "%zu fields where the header has %zu", reader->csv.field_count,
                   reader->field_count);
    if (csv_field_is(reader_field(reader, COLUMN_ACTION), "stopped")) {
        reader_take_stop(reader);
        return;
    }
    action_t action = reader_action(reader);
    uint64_t time_ns = reader_time(reader, trace->row_count++ == 0);
    uint64_t address =
        reader_address(reader, COLUMN_POINTER, "an address: 0x and hexadecimal digits, or (nil)");
    uint64_t size_bytes = reader_number(reader, COLUMN_SIZE, "a number of bytes");
    uint64_t thread_id = reader_number(reader, COLUMN_THREAD, "a thread's number");
    uint16_t thread =
        reader_renumber(reader, &reader->threads, thread_id, &trace->thread_count, "threads");
    uint16_t allocator = reader_allocator(reader);
    operation_t operation = {.size_bytes = size_bytes,
                             .stream = reader_stream(reader, thread),
                             .alignment_log = reader_alignment_log(reader),
                             .action = (uint8_t)action};
    if (size_bytes > SIZE_MAX / 2)
        reader_refuse(reader, COLUMN_SIZE, "a size that a program can ask for");
    if (size_bytes == 0) {
        trace->empty_count++;
        return;
    }
    map_t *live = &reader->live[allocator];
    if (action == ACTION_FREE) {
        operation.block = reader_end_block(reader, live, address, size_bytes);
        if (operation.block == MAP_NONE) {
            trace->unmatched_count++;
            return;
        }
    } else {
        uint32_t earlier = action == ACTION_ALLOCATE ? map_find(live, address) : MAP_NONE;
        if (action == ACTION_ALLOCATE && address == 0)
            reader_refuse(reader, COLUMN_POINTER, "where anything can be allocated");
        if (earlier != MAP_NONE)
            csv_refuse(&reader->csv,
                       "allocates 0x%llx, which line %zu allocated and nothing has freed",
                       (unsigned long long)address, reader->lines[earlier]);
        operation.block = reader_add_block(
            reader, (block_t){.address = action == ACTION_ALLOCATE ? address : 0,
                              .size_bytes = size_bytes,
                              .allocated_by = (uint32_t)trace->operation_count,
                              .freed_by = NEVER,
                              .tag = reader_name(reader, COLUMN_TAG, &reader->tags, &trace->tags),
                              .allocator = allocator});
        if (action == ACTION_ALLOCATE)
            map_add(live, address, operation.block);
    }
    reader_add_operation(reader, operation, time_ns, thread);
}

static void reader_take_header(reader_t *reader) {
    if (!csv_read_row(&reader->csv))
        csv_refuse(&reader->csv, "the file is empty: a trace begins with the names of its columns");
    reader->field_count = reader->csv.field_count;
    for (size_t field = 0; field < reader->field_count; field++)
        for (int column = 0; column < COLUMNS; column++)
            if (csv_field_is(&reader->csv.fields[field], columns[column].name)) {
                if (reader->field_of[column])
                    csv_refuse(&reader->csv, "two columns are named %s", columns[column].name);
                reader->field_of[column] = field + 1;
            }
    for (int column = 0; column < COLUMNS; column++)
        if (columns[column].required && !reader->field_of[column])
            csv_refuse(&reader->csv, "no trace: the header has no column %s", columns[column].name);
}

/* ---- The whole ---- */

static void names_init(names_t *names) {
    names->names = tool_allocate(1, sizeof *names->names);
    names->names[0] = tool_allocate(1, 1);
    names->count = 1;
}

static void names_free(names_t *names) {
    for (uint32_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
}

void trace_read(trace_t *trace, const char *path, const char *allocator) {
    reader_t reader = {.trace = trace};
    memset(trace, 0, sizeof *trace);
    trace->path = path;
    trace->stream_count = 1;
    names_init(&trace->tags);
    names_init(&trace->allocators);
    reader.live = tool_allocate(1, sizeof *reader.live);

    csv_open(&reader.csv, path);
    reader_take_header(&reader);
    const uint64_t bytes = (uint64_t)(reader.csv.end - reader.csv.begin);
    while (csv_read_row(&reader.csv)) {
        reader_take_row(&reader);
        if (trace->row_count % 65536 == 0)
            tool_progress("reading", (uint64_t)(reader.csv.next - reader.csv.begin), bytes);
    }
    tool_progress_end();
    csv_close(&reader.csv);

    for (uint32_t i = 0; i < trace->allocators.count; i++)
        free(reader.live[i].entries);
    free(reader.live);
    free(reader.lines);
    free(reader.threads.entries);
    free(reader.streams.entries);
    free(reader.tags.entries);
    free(reader.allocators.entries);
    trace_choose(trace, allocator);
}

void trace_free(trace_t *trace) {
    free(trace->operations);
    free(trace->times_ns);
    free(trace->threads);
    free(trace->blocks);
    free(trace->chosen);
    free(trace->stopped);
    names_free(&trace->tags);
    names_free(&trace->allocators);
}

uint64_t trace_duration_ns(const trace_t *trace) {
    return trace->operation_count ? trace->times_ns[trace->operation_count - 1] : 0;
}
