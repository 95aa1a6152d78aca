/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is where, and whose: the dump of one allocator and the leak report of the process.
 *
 * Both work on a census: the blocks that an allocator shows, copied into a table in the order of
 * their addresses, with which they can be grouped, ranked and written without holding the
 * allocator's lock. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/locale.h"
#include "memory/call_traces.h"
#include "memory/memory.h"

/* ---- Writing ---- */

typedef struct report {
    jallocator_writer_t writer;
    void *context;
} report_t;

static void report_write(const report_t *report, const char *format, ...) JALLOC_PRINTF(2, 3);
static void report_write(const report_t *report, const char *format, ...) {
    char text[512] = ""; /* names and files are cut long before, so any text fits */

    va_list arguments;
    va_start(arguments, format);
    const locale_t before = ji_locale_enter();
    (void)vsnprintf(text, sizeof text, format, arguments);
    ji_locale_leave(before);
    va_end(arguments);

    size_t length = strlen(text);
    if (length > 0)
        report->writer(report->context, text, length);
}

/* A name as a JSON string. */
static void report_write_json_string(const report_t *report, const char *text) {
    report_write(report, "\"");
    for (; *text != '\0'; ++text) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            report_write(report, "\\%c", c);
        else if (c < 0x20)
            report_write(report, "\\u%04x", c);
        else
            report_write(report, "%c", c);
    }
    report_write(report, "\"");
}

/* Bytes with a unit, for people. */
static const char *report_bytes(double bytes, char text[24]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit < 4; ++unit)
        bytes /= 1024;

    const locale_t before = ji_locale_enter();
    snprintf(text, 24, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
    ji_locale_leave(before);
    return text;
}

/* A tag, for people. */
static const char *report_tag_name(jtag_t tag) { return tag != 0 ? jtag_name(tag) : "(untagged)"; }

/* ---- Census ---- */

typedef struct census {
    jallocation_t *blocks; /* in the order of their addresses */
    size_t count, capacity;
    bool short_of_memory; /* some blocks are missing */
} census_t;

static bool census_add(void *context, const jallocation_t *block) {
    census_t *census = context;
    if (census->count == census->capacity) {
        size_t capacity = census->capacity != 0 ? 2 * census->capacity : 64;
        jallocation_t *blocks = ji_metadata_alloc(capacity * sizeof *blocks);

        if (blocks == NULL) {
            census->short_of_memory = true;
            return false;
        }

        if (census->blocks != NULL)
            memcpy(blocks, census->blocks, census->count * sizeof *blocks);
        ji_metadata_free(census->blocks);
        census->blocks = blocks;
        census->capacity = capacity;
    }

    census->blocks[census->count++] = *block;
    return true;
}

static int census_compare_addresses(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const jallocation_t *)a)->pointer,
              y = (uintptr_t)((const jallocation_t *)b)->pointer;
    return (x > y) - (x < y);
}

static jstatus_t census_take(const jallocator_t *allocator, census_t *census) {
    *census = (census_t){NULL, 0, 0, false};
    (void)jallocator_visit(allocator, census_add, census);

    if (census->short_of_memory) {
        ji_metadata_free(census->blocks);
        census->blocks = NULL;
        return ji_fail(JSTATUS_MEMORY_ERROR,
                       "allocator \"%s\": no memory for the table of its blocks",
                       jallocator_name(allocator));
    }

    if (census->count > 0)
        qsort(census->blocks, census->count, sizeof *census->blocks, census_compare_addresses);
    return JSTATUS_SUCCESS;
}

/* Live blocks of one tag. */
typedef struct owner {
    jtag_t tag;
    size_t count, bytes;
} owner_t;

static int owner_compare_tags(const void *a, const void *b) {
    jtag_t x = ((const owner_t *)a)->tag, y = ((const owner_t *)b)->tag;
    return (x > y) - (x < y);
}
static int owner_compare_bytes(const void *a, const void *b) {
    const owner_t *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                                : owner_compare_tags(a, b);
}

/* The owners, most bytes first; *owners is bookkeeping memory. */
static jstatus_t census_rank_owners(const census_t *census, owner_t **owners, size_t *owner_count) {
    owner_t *ranked = ji_metadata_alloc((census->count + 1) * sizeof *ranked);
    if (ranked == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for the table of owners");

    size_t count = 0;
    for (size_t i = 0; i < census->count; ++i)
        if (census->blocks[i].live)
            ranked[count++] = (owner_t){census->blocks[i].tag, 1, census->blocks[i].size_bytes};

    /* Those of one tag stand together: each becomes one. */
    qsort(ranked, count, sizeof *ranked, owner_compare_tags);
    size_t merged = 0;
    for (size_t i = 0; i < count; ++i) {
        if (merged > 0 && ranked[merged - 1].tag == ranked[i].tag) {
            ++ranked[merged - 1].count;
            ranked[merged - 1].bytes += ranked[i].bytes;
        } else {
            ranked[merged++] = ranked[i];
        }
    }

    qsort(ranked, merged, sizeof *ranked, owner_compare_bytes);
    *owners = ranked;
    *owner_count = merged;
    return JSTATUS_SUCCESS;
}

/* Blocks by power of two: bin k has those of [2^k, 2^(k+1)) bytes. */
typedef struct size_bin {
    size_t live_count, live_bytes, free_count, free_bytes;
} size_bin_t;
#define SIZE_BINS 64

static void census_sort_sizes(const census_t *census, size_bin_t bins[SIZE_BINS]) {
    memset(bins, 0, SIZE_BINS * sizeof *bins);
    for (size_t i = 0; i < census->count; ++i) {
        size_t bytes = census->blocks[i].size_bytes;
        size_bin_t *bin = &bins[bytes != 0 ? 63 - __builtin_clzll(bytes) : 0];

        if (census->blocks[i].live) {
            ++bin->live_count;
            bin->live_bytes += bytes;
        } else {
            ++bin->free_count;
            bin->free_bytes += bytes;
        }
    }
}

/* ---- Dump ---- */

typedef struct dump {
    const jallocator_t *allocator;
    jallocator_stats_t stats;
    census_t census;
    owner_t *owners;
    size_t owner_count;
    size_bin_t bins[SIZE_BINS];
} dump_t;

static void dump_text_statistics(const report_t *report, const dump_t *dump) {
    const jallocator_stats_t *stats = &dump->stats;
    char a[24], b[24], c[24];

    report_write(report, "  in use    %12s in %" PRIu64 " allocations, peak %s, largest %s\n",
                 report_bytes((double)stats->in_use_bytes, a), stats->live_count,
                 report_bytes((double)stats->peak_in_use_bytes, b),
                 report_bytes((double)stats->largest_request_bytes, c));
    report_write(report, "  reserved  %12s, peak %s, limit %s\n",
                 report_bytes((double)stats->reserved_bytes, a),
                 report_bytes((double)stats->peak_reserved_bytes, b),
                 stats->limit_bytes != 0 ? report_bytes((double)stats->limit_bytes, c) : "none");
    report_write(report, "  free      %12s, largest %s, fragmentation %.3f, decommitted %s\n",
                 report_bytes((double)stats->free_bytes, a),
                 report_bytes((double)stats->largest_free_bytes, b), stats->fragmentation,
                 report_bytes((double)stats->decommitted_bytes, c));
    report_write(report, "  since the beginning %" PRIu64 " allocations, %" PRIu64 " failures\n",
                 stats->allocation_count, stats->failure_count);
}

static void dump_text_owners(const report_t *report, const dump_t *dump) {
    const double in_use = (double)dump->stats.in_use_bytes;
    char bytes[24];

    report_write(report, "owners\n  %12s %8s %6s  %s\n", "bytes", "blocks", "share", "tag");
    for (size_t i = 0; i < dump->owner_count; ++i) {
        const owner_t *owner = &dump->owners[i];
        report_write(report, "  %12s %8zu %5.1f%%  %s\n", report_bytes((double)owner->bytes, bytes),
                     owner->count, in_use > 0 ? 100.0 * (double)owner->bytes / in_use : 0.0,
                     report_tag_name(owner->tag));
    }
}

static void dump_text_sizes(const report_t *report, const dump_t *dump) {
    char from[24], live[24], free[24];

    report_write(report, "sizes\n  %12s %8s %12s %8s %12s\n", "from", "live", "bytes", "free",
                 "bytes");
    for (size_t i = 0; i < SIZE_BINS; ++i) {
        const size_bin_t *bin = &dump->bins[i];
        if (bin->live_count != 0 || bin->free_count != 0)
            report_write(report, "  %12s %8zu %12s %8zu %12s\n",
                         report_bytes((double)((uint64_t)1 << i), from), bin->live_count,
                         report_bytes((double)bin->live_bytes, live), bin->free_count,
                         report_bytes((double)bin->free_bytes, free));
    }
}

static void dump_text_blocks(const report_t *report, const dump_t *dump) {
    report_write(report, "blocks\n  %18s %14s  %s\n", "address", "bytes", "holder");
    for (size_t i = 0; i < dump->census.count; ++i) {
        const jallocation_t *block = &dump->census.blocks[i];
        report_write(report, "  %18p %14zu  %s\n", block->pointer, block->size_bytes,
                     block->live ? report_tag_name(block->tag) : "-");
    }
}

static void dump_text(const report_t *report, const dump_t *dump) {
    report_write(report, "allocator \"%s\" on %s", jallocator_name(dump->allocator),
                 jdevice_name(jallocator_device(dump->allocator)));
    for (jallocator_t *below = jallocator_below(dump->allocator); below != NULL;
         below = jallocator_below(below))
        report_write(report, " over \"%s\"", jallocator_name(below));
    report_write(report, "\n");

    dump_text_statistics(report, dump);
    dump_text_owners(report, dump);
    dump_text_sizes(report, dump);
    dump_text_blocks(report, dump);
}

static void dump_json_statistics(const report_t *report, const jallocator_stats_t *stats) {
    report_write(report,
                 "\"statistics\":{\"allocation_count\":%" PRIu64 ",\"live_count\":%" PRIu64
                 ",\"failure_count\":%" PRIu64 ",\"in_use_bytes\":%zu,\"peak_in_use_bytes\":%zu"
                 ",\"largest_request_bytes\":%zu,\"limit_bytes\":%zu,\"reserved_bytes\":%zu"
                 ",\"peak_reserved_bytes\":%zu,\"free_bytes\":%zu,\"decommitted_bytes\":%zu,"
                 "\"largest_free_bytes\":%zu,"
                 "\"fragmentation\":%.6f}",
                 stats->allocation_count, stats->live_count, stats->failure_count,
                 stats->in_use_bytes, stats->peak_in_use_bytes, stats->largest_request_bytes,
                 stats->limit_bytes, stats->reserved_bytes, stats->peak_reserved_bytes,
                 stats->free_bytes, stats->decommitted_bytes, stats->largest_free_bytes,
                 stats->fragmentation);
}

static void dump_json_owners(const report_t *report, const dump_t *dump) {
    report_write(report, "\"owners\":[");
    for (size_t i = 0; i < dump->owner_count; ++i) {
        report_write(report, "%s{\"tag\":", i > 0 ? "," : "");
        report_write_json_string(report, jtag_name(dump->owners[i].tag));
        report_write(report, ",\"bytes\":%zu,\"count\":%zu}", dump->owners[i].bytes,
                     dump->owners[i].count);
    }
    report_write(report, "]");
}

static void dump_json_sizes(const report_t *report, const dump_t *dump) {
    const char *separator = "";
    report_write(report, "\"sizes\":[");
    for (size_t i = 0; i < SIZE_BINS; ++i) {
        const size_bin_t *bin = &dump->bins[i];

        if (bin->live_count == 0 && bin->free_count == 0)
            continue;

        report_write(report,
                     "%s{\"from_bytes\":%" PRIu64
                     ",\"live_count\":%zu,\"live_bytes\":%zu,\"free_count\":%zu"
                     ",\"free_bytes\":%zu}",
                     separator, (uint64_t)1 << i, bin->live_count, bin->live_bytes, bin->free_count,
                     bin->free_bytes);
        separator = ",";
    }

    report_write(report, "]");
}

static void dump_json_blocks(const report_t *report, const dump_t *dump) {
    report_write(report, "\"blocks\":[");
    for (size_t i = 0; i < dump->census.count; ++i) {
        const jallocation_t *block = &dump->census.blocks[i];
        report_write(report,
                     "%s{\"address\":\"0x%" PRIxPTR
                     "\",\"bytes\":%zu,\"usable_bytes\":%zu,\"live\":%s,\"tag\":",
                     i > 0 ? "," : "", (uintptr_t)block->pointer, block->size_bytes,
                     block->usable_bytes, block->live ? "true" : "false");
        report_write_json_string(report, block->live ? jtag_name(block->tag) : "");
        report_write(report, "}");
    }
    report_write(report, "]");
}

static void dump_json(const report_t *report, const dump_t *dump) {
    report_write(report, "{\"allocator\":");
    report_write_json_string(report, jallocator_name(dump->allocator));
    report_write(report, ",\"device\":");
    report_write_json_string(report, jdevice_name(jallocator_device(dump->allocator)));
    report_write(report, ",\"below\":[");
    for (jallocator_t *below = jallocator_below(dump->allocator), *first = below; below != NULL;
         below = jallocator_below(below)) {
        report_write(report, "%s", below != first ? "," : "");
        report_write_json_string(report, jallocator_name(below));
    }

    report_write(report, "],");
    dump_json_statistics(report, &dump->stats);
    report_write(report, ",");
    dump_json_owners(report, dump);
    report_write(report, ",");
    dump_json_sizes(report, dump);
    report_write(report, ",");
    dump_json_blocks(report, dump);
    report_write(report, "}\n");
}

jstatus_t jallocator_dump(const jallocator_t *allocator, jallocator_dump_format_t format,
                          jallocator_writer_t writer, void *context) {
    JREQUIRE(allocator != NULL && writer != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(format == JALLOCATOR_DUMP_TEXT || format == JALLOCATOR_DUMP_JSON,
                   JSTATUS_INVALID_VALUE, __func__, "format", format,
                   "must be JALLOCATOR_DUMP_TEXT (0) or JALLOCATOR_DUMP_JSON (1)");

    const report_t report = {writer, context};
    jstatus_t status = JSTATUS_SUCCESS;

    dump_t *dump;
    JTRY_ALLOC(dump = ji_metadata_zalloc(sizeof *dump));

    dump->allocator = allocator;
    dump->stats.struct_size = sizeof dump->stats;
    (void)jallocator_get_stats(allocator, &dump->stats);
    JTRY(census_take(allocator, &dump->census));
    JTRY(census_rank_owners(&dump->census, &dump->owners, &dump->owner_count));
    census_sort_sizes(&dump->census, dump->bins);

    (format == JALLOCATOR_DUMP_TEXT ? dump_text : dump_json)(&report, dump);

done:
    if (dump != NULL) {
        ji_metadata_free(dump->owners);
        ji_metadata_free(dump->census.blocks);
    }
    ji_metadata_free(dump);
    return status;
}

/* ---- Leaks ---- */

typedef struct leak_report {
    report_t report;
    jallocator_t *allocator;
    size_t count, bytes; /* of this allocator */
} leak_report_t;

static bool leak_count(void *context, const jallocation_t *block) {
    leak_report_t *leaks = context;
    leaks->count += block->live;
    leaks->bytes += block->live ? block->size_bytes : 0;
    return true;
}

static void leak_write_call_trace(const leak_report_t *leaks, const void *pointer) {
    ji_call_trace_t trace = {{NULL}, 0};
    for (jallocator_t *allocator = leaks->allocator; allocator != NULL && trace.count == 0;
         allocator = allocator->below)
        if (allocator->call_traces != NULL)
            trace = ji_call_traces_get(allocator->call_traces, pointer);

    for (uint32_t i = 0; i < trace.count; ++i) {
        char text[200];
        ji_call_trace_describe(trace.frames[i], text, sizeof text);
        report_write(&leaks->report, "      %s\n", text);
    }
}

static bool leak_write(void *context, const jallocation_t *block) {
    const leak_report_t *leaks = context;
    if (block->live) {
        report_write(&leaks->report, "    %zu bytes at %p, %s\n", block->size_bytes, block->pointer,
                     report_tag_name(block->tag));
        leak_write_call_trace(leaks, block->pointer);
    }
    return true;
}

static bool leak_is_on_top(const jallocator_t *allocator, const ji_list_t *allocators) {
    JI_LIST_EACH(allocators, const jallocator_t, other, link)
        if (other->below == allocator)
            return false;
    return true;
}

jstatus_t jallocator_report_leaks(jallocator_writer_t writer, void *context) {
    JREQUIRE(writer != NULL, JSTATUS_INVALID_POINTER);

    leak_report_t leaks = {{writer, context}, NULL, 0, 0};
    size_t count = 0, bytes = 0;

    const ji_list_t *allocators = ji_allocator_list_acquire();
    JI_LIST_EACH(allocators, jallocator_t, allocator, link) {
        leaks.allocator = allocator;
        if (!leak_is_on_top(allocator, allocators))
            continue;

        leaks.count = leaks.bytes = 0;
        (void)jallocator_visit(leaks.allocator, leak_count, &leaks);
        if (leaks.count == 0)
            continue;

        report_write(&leaks.report, "  allocator \"%s\": %zu bytes in %zu allocations\n",
                     leaks.allocator->name, leaks.bytes, leaks.count);
        (void)jallocator_visit(leaks.allocator, leak_write, &leaks);

        count += leaks.count;
        bytes += leaks.bytes;
    }

    ji_allocator_list_release();
    if (count == 0)
        return JSTATUS_SUCCESS;

    return ji_fail(JSTATUS_LEAKED, "%zu bytes in %zu allocations were never given back", bytes,
                   count);
}

/* ---- At exit ---- */

/* Lines to the log, which ends them itself. */
static void leak_log(void *context, const char *text, size_t length) {
    (void)context;
    jlog_write(JLOG_WARNING, NULL, "leak: %.*s", (int)length - 1, text);
}

static void leak_report_at_exit(void) {
    if (jallocator_report_leaks(leak_log, NULL) == JSTATUS_LEAKED)
        jlog_write(JLOG_WARNING, NULL, "leak: %s", jstatus_last_message());
}

jstatus_t ji_leak_report_start(bool *keeps_call_traces) {
    jconfig_entry_t entry;
    JTRY_RETURN(ji_config_require(JCONFIG_JALLOC_LEAK_REPORT, &entry));
    jstatus_t status = JSTATUS_SUCCESS;

    *keeps_call_traces = strcmp(entry.value, "stacks") == 0;
    if (strcmp(entry.value, "0") == 0)
        return status;

#ifndef NDEBUG
    *keeps_call_traces = true;
#endif

    (void)atexit(leak_report_at_exit);
    return status;
}
