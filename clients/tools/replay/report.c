/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Results as text for people and as JSON for programs. The JSON has everything; of the allocators
 * after the first the text has only a line of the table. */

#include "report.h"

#include <stdio.h>
#include <string.h>

#include "../common/units.h"

enum { TABLE_ROWS = 16, OWNER_ROWS = 12 };

const char *const owner_by_names[] = {"tag", "size", "thread", "stream", "allocator", NULL};

static double report_rate(const report_t *report, const result_t *result) {
    return result->seconds > 0 ? (double)report->trace->allocation_count / result->seconds : 0;
}

static double report_nanoseconds(const report_t *report, const result_t *result) {
    size_t count = report->trace->operation_count;
    return count ? result->seconds / (double)count * 1e9 : 0;
}

static double report_ratio(size_t reserved_bytes, size_t in_use_bytes) {
    return in_use_bytes ? (double)reserved_bytes / (double)in_use_bytes : 0;
}

/* Threads can have more in use at once, and make the allocator hold more, than the one thread that
 * was watched. */
static size_t report_peak_in_use(const result_t *result) {
    size_t watched = result->survey.peak_in_use_bytes, timed = result->threads_peak_in_use_bytes;
    return timed > watched ? timed : watched;
}
static size_t report_peak_reserved(const result_t *result) {
    size_t watched = result->survey.peak_reserved_bytes,
           timed = result->threads_peak_reserved_bytes;
    return timed > watched ? timed : watched;
}

/* The part of the time that is shown in a row of the table: the last of those it stands for. */
static size_t report_row_part(size_t row) { return (row + 1) * SURVEY_SAMPLES / TABLE_ROWS - 1; }

/* What a row of the table stands for: the most of its parts, and the state after the last one. */
static sample_t report_row(const survey_t *survey, size_t row) {
    size_t last = report_row_part(row);
    sample_t sum = survey->samples[last];
    for (size_t part = row ? report_row_part(row - 1) + 1 : 0; part < last; part++) {
        const sample_t *sample = &survey->samples[part];
        if (sample->in_use_max_bytes > sum.in_use_max_bytes)
            sum.in_use_max_bytes = sample->in_use_max_bytes;
        if (sample->reserved_max_bytes > sum.reserved_max_bytes)
            sum.reserved_max_bytes = sample->reserved_max_bytes;
    }
    return sum;
}

/* ---- Text ---- */

static void text_trace(const report_t *report) {
    const trace_t *trace = report->trace;
    char peak[UNITS_BYTES], live[UNITS_BYTES], duration[UNITS_BYTES];
    units_bytes(peak, (double)trace->peak_live_bytes, 2);
    units_bytes(live, (double)trace->live_bytes, 2);
    units_time(duration, (double)trace_duration_ns(trace) * 1e-9);
    printf("%s\n  %zu rows, %zu threads, %zu streams, %s\n", trace->path, trace->row_count,
           trace->thread_count, trace->stream_count, duration);
    printf("  %zu allocations, %zu frees, %zu failures; at most %s live; %s in %zu blocks at the "
           "end\n",
           trace->allocation_count, trace->free_count, trace->failure_count, peak, live,
           trace->live_count);
    if (trace->allocators.count > 2 || (trace->allocators.count == 2 && !trace->chosen[1])) {
        fputs("  allocators:", stdout);
        for (uint32_t i = 0; i < trace->allocators.count; i++)
            if (i > 0 || trace->chosen[0])
                printf(" %s%s", i ? trace->allocators.names[i] : "(no name)",
                       trace->chosen[i] ? "" : " (left out)");
        putchar('\n');
    }
    if (trace->stopped)
        printf("  the recording ended before the program did: %s\n", trace->stopped);
    if (trace->unmatched_count)
        printf("  %zu frees of blocks that the trace does not allocate were left out\n",
               trace->unmatched_count);
    if (trace->empty_count)
        printf("  %zu rows of size 0 were left out\n", trace->empty_count);
}

static void text_table(const report_t *report) {
    int width = 9;
    for (size_t i = 0; i < report->result_count; i++) {
        int length = (int)strlen(report->results[i].composition);
        width = length > width ? length : width;
    }
    width = width > 44 ? 44 : width;
    printf("\n%-*s %12s %8s %7s %9s %12s %13s %15s %12s\n", width, "allocator", "allocs/s", "ns/op",
           "speed", "failures", "peak in use", "peak reserved", "reserved/in use", "bookkeeping");
    for (size_t i = 0; i < report->result_count; i++) {
        const result_t *result = &report->results[i];
        char in_use[UNITS_BYTES], reserved[UNITS_BYTES], books[UNITS_BYTES];
        units_bytes(books, (double)result->survey.peak_books_bytes, 2);
        units_bytes(in_use, (double)report_peak_in_use(result), 2);
        units_bytes(reserved, (double)report_peak_reserved(result), 2);
        printf("%-*s %12.0f %8.1f %7.2f %9zu %12s %13s %15.3f %12s\n", width, result->composition,
               report_rate(report, result), report_nanoseconds(report, result),
               result->seconds > 0 ? report->results[0].seconds / result->seconds : 0,
               result->faults.failure_count, in_use, reserved,
               report_ratio(report_peak_reserved(result), report_peak_in_use(result)), books);
    }
    printf("median of %zu round%s%s%s; operations: allocations and frees\n", report->repeat,
           report->repeat == 1 ? "" : "s",
           report->options->threads ? ", a thread for each of the trace" : "",
           report->options->touch ? ", every page is written to" : "");
    for (size_t i = 0; i < report->result_count; i++) {
        const result_t *result = &report->results[i];
        if (result->faults.failure_count > 0)
            printf("%s: the first failure, operation %zu of the trace: %s\n", result->composition,
                   result->faults.first_failure, result->faults.failure_message);
        if (report->trace->failure_count > 0 && report->options->retry_failures)
            printf("%s: %zu of %zu requests that the trace was refused were served\n",
                   result->composition, result->faults.served_count, report->trace->failure_count);
    }
}

static void text_over_time(const report_t *report, const result_t *result) {
    const survey_t *survey = &result->survey;
    printf("\n%s: memory over time, at most in each part\n%12s %12s %12s %16s %14s\n",
           result->composition, survey->by_time ? "until" : "operation", "in use", "reserved",
           "reserved/in use", "fragmentation");
    for (size_t row = 0; row < TABLE_ROWS; row++) {
        char until[UNITS_BYTES], in_use[UNITS_BYTES], reserved[UNITS_BYTES];
        double share = (double)(report_row_part(row) + 1) / SURVEY_SAMPLES;
        sample_t sample = report_row(survey, row);
        if (survey->by_time)
            units_time(until, (double)trace_duration_ns(report->trace) * 1e-9 * share);
        else
            snprintf(until, sizeof until, "%.0f", (double)report->trace->operation_count * share);
        units_bytes(in_use, (double)sample.in_use_max_bytes, 2);
        units_bytes(reserved, (double)sample.reserved_max_bytes, 2);
        printf("%12s %12s %12s %16.3f %14.3f\n", until, in_use, reserved,
               report_ratio(sample.reserved_max_bytes, sample.in_use_max_bytes),
               sample.fragmentation);
    }
}

static void text_peak(const report_t *report, const result_t *result) {
    const snapshot_t *snapshot = &result->snapshot;
    char at[UNITS_BYTES], in_use[UNITS_BYTES], reserved[UNITS_BYTES], books[UNITS_BYTES];
    units_bytes(books, (double)snapshot->books_bytes, 2);
    units_time(at, report->trace->operation_count
                       ? (double)report->trace->times_ns[result->survey.peak_at] * 1e-9
                       : 0);
    units_bytes(in_use, (double)result->survey.peak_in_use_bytes, 2);
    units_bytes(reserved, (double)snapshot->reserved_bytes, 2);
    printf("\n%s: the peak, after %s: %s in use in %zu blocks, %s reserved (%.3f), %s of "
           "bookkeeping, fragmentation %.3f\n",
           result->composition, at, in_use, snapshot->place_count, reserved,
           report_ratio(snapshot->reserved_bytes, result->survey.peak_in_use_bytes), books,
           snapshot->fragmentation);
    printf("%12s %7s %9s  owner, by %s\n", "bytes", "share", "blocks",
           owner_by_names[report->owner_by]);
    for (size_t i = 0; i < snapshot->owner_count && i < OWNER_ROWS; i++) {
        const owner_t *owner = &snapshot->owners[i];
        char bytes[UNITS_BYTES];
        units_bytes(bytes, (double)owner->live_bytes, 2);
        printf("%12s %6.1f%% %9zu  %s\n", bytes,
               100 * report_ratio(owner->live_bytes, result->survey.peak_in_use_bytes),
               owner->live_count, owner->name);
    }
    if (snapshot->owner_count > OWNER_ROWS)
        printf("%12s %7s %9s  and %zu more\n", "", "", "", snapshot->owner_count - OWNER_ROWS);
}

void report_text(const report_t *report) {
    text_trace(report);
    text_table(report);
    text_over_time(report, &report->results[0]);
    text_peak(report, &report->results[0]);
}

/* ---- JSON ---- */

static void json_text(const char *name, const char *text) {
    printf("\"%s\": \"", name);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        printf(*c == '"' || *c == '\\' ? "\\%c" : *c < 0x20 ? "\\u%04x" : "%c", *c);
    putchar('"');
}

static void json_trace(const report_t *report) {
    const trace_t *trace = report->trace;
    printf("  \"trace\": {");
    json_text("file", trace->path);
    printf(
        ", \"rows\": %zu, \"threads\": %zu, \"streams\": %zu, \"duration_ns\": %llu,\n"
        "    \"allocations\": %zu, \"frees\": %zu, \"failures\": %zu, \"peak_live_bytes\": %zu,\n"
        "    \"live_at_end\": %zu, \"live_at_end_bytes\": %zu, \"unmatched_frees\": %zu, "
        "\"empty_rows\": %zu,\n"
        "    ",
        trace->row_count, trace->thread_count, trace->stream_count,
        (unsigned long long)trace_duration_ns(trace), trace->allocation_count, trace->free_count,
        trace->failure_count, trace->peak_live_bytes, trace->live_count, trace->live_bytes,
        trace->unmatched_count, trace->empty_count);
    if (trace->stopped) {
        json_text("stopped", trace->stopped);
        fputs(", ", stdout);
    }
    fputs("\"allocators\": [", stdout);
    const char *comma = "";
    for (uint32_t i = 0; i < trace->allocators.count; i++)
        if (trace->allocators.count == 1 || i > 0 || trace->chosen[0]) {
            printf("%s{", comma);
            json_text("name", trace->allocators.names[i]);
            printf(", \"replayed\": %s}", trace->chosen[i] ? "true" : "false");
            comma = ", ";
        }
    puts("]},");
}

static void json_over_time(const report_t *report, const survey_t *survey) {
    printf("      \"over_time\": [");
    for (size_t row = 0; row < TABLE_ROWS; row++) {
        sample_t sample = report_row(survey, row);
        double share = (double)(report_row_part(row) + 1) / SURVEY_SAMPLES;
        double all = survey->by_time ? (double)trace_duration_ns(report->trace)
                                     : (double)report->trace->operation_count;
        printf("%s\n        {\"%s\": %.0f, \"in_use_bytes\": %zu, \"reserved_bytes\": %zu, "
               "\"fragmentation\": %.6f}",
               row ? "," : "", survey->by_time ? "until_ns" : "until_operation", all * share,
               sample.in_use_max_bytes, sample.reserved_max_bytes, sample.fragmentation);
    }
    puts("],");
}

static void json_result(const report_t *report, const result_t *result) {
    const snapshot_t *snapshot = &result->snapshot;
    const survey_t *survey = &result->survey;
    printf("    {");
    json_text("allocator", result->composition);
    printf(
        ",\n      \"seconds\": %.9g, \"fastest_seconds\": %.9g, \"allocations_per_second\": %.9g,\n"
        "      \"nanoseconds_per_operation\": %.6g, \"speed\": %.6g, \"failures\": %zu, "
        "\"served\": %zu, \"errors\": %zu,\n"
        "      \"peak_in_use_bytes\": %zu, \"peak_at\": %zu, \"peak_reserved_bytes\": %zu, "
        "\"reserved_at_peak_bytes\": %zu,\n"
        "      \"peak_bookkeeping_bytes\": %zu, \"bookkeeping_at_peak_bytes\": %zu,\n"
        "      \"threads_peak_in_use_bytes\": %zu, \"threads_peak_reserved_bytes\": %zu,\n"
        "      \"reserved_ratio\": %.6g, \"fragmentation_at_peak\": %.6f,\n",
        result->seconds, result->fastest_seconds, report_rate(report, result),
        report_nanoseconds(report, result),
        result->seconds > 0 ? report->results[0].seconds / result->seconds : 0,
        result->faults.failure_count, result->faults.served_count, result->faults.error_count,
        survey->peak_in_use_bytes, survey->peak_at, survey->peak_reserved_bytes,
        snapshot->reserved_bytes, survey->peak_books_bytes, snapshot->books_bytes,
        result->threads_peak_in_use_bytes, result->threads_peak_reserved_bytes,
        report_ratio(report_peak_reserved(result), report_peak_in_use(result)),
        snapshot->fragmentation);
    json_over_time(report, survey);
    printf("      \"owners\": [");
    for (size_t i = 0; i < snapshot->owner_count; i++) {
        const owner_t *owner = &snapshot->owners[i];
        printf("%s\n        {", i ? "," : "");
        json_text("name", owner->name);
        printf(", \"bytes\": %zu, \"blocks\": %zu}", owner->live_bytes, owner->live_count);
    }
    printf("]}");
}

void report_json(const report_t *report) {
    puts("{");
    json_trace(report);
    printf("  \"repeat\": %zu, \"concurrent\": %s, \"touch\": %s, \"owner_by\": \"%s\",\n  "
           "\"results\": [\n",
           report->repeat, report->options->threads ? "true" : "false",
           report->options->touch ? "true" : "false", owner_by_names[report->owner_by]);
    for (size_t i = 0; i < report->result_count; i++) {
        json_result(report, &report->results[i]);
        puts(i + 1 < report->result_count ? "," : "");
    }
    puts("  ]\n}");
}
