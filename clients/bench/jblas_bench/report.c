/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Showing a measurement: a row of a table for people, a line of JSON for programs. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../tools/common/json.h"
#include "../../tools/common/terminal.h"
#include "../bench.h"
#include "measure.h"

enum { SHAPE_TEXT = 160 };

/* The letter of an enumerator; '?' for what is none. */
static char letter_of(int value, int first, const char *letters) {
    const unsigned place = (unsigned)value - (unsigned)first;
    return place < strlen(letters) ? letters[place] : '?';
}

/* "LLNN m=512 n=64": what the routine depends on, enumerations first. */
static void shape_text(const options_t *o, const routine_t *routine, char text[SHAPE_TEXT]) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"; /* LAPACK's */
    int length = 0;
    for (const char *letter = routine->shape; *letter; letter++)
        switch (*letter) {
        case 'S': text[length++] = letter_of(o->side, JBLAS_LEFT, "LR"); break;
        case 'U': text[length++] = letter_of(o->uplo, JBLAS_UPPER, "UL"); break;
        case 'A':
        case 'B':
            text[length++] =
                letter_of(*letter == 'A' ? o->transa : o->transb, JBLAS_NO_TRANSPOSE, "NTCR");
            break;
        case 't':
            length += snprintf(text + length, (size_t)(SHAPE_TEXT - length), " cs=%s",
                               jdatatype_name((jdatatype_t)o->cs_type));
            break;
        case 'N': text[length++] = o->norm == JLAPACK_ONE_NORM ? '1' : 'I'; break;
        case 'D': text[length++] = letter_of(o->diag, JBLAS_NON_UNIT, "NU"); break;
        case 'J':
        case 'O':
        case 'L':
        case 'V': text[length++] = letter_of(o->jobz, 'A', letters); break;
        case 'T':
        case 'R': text[length++] = letter_of(o->jobvt, 'A', letters); break;
        case 'I': text[length++] = letter_of((int)o->itype, 1, "123"); break;
        case 'G': text[length++] = letter_of(o->range, 'A', letters); break;
        default: {
            static const char sized[] = "mnkeurbpqd";
            static const char *const names[] = {"m",    "n",     "k",  "kl", "ku",
                                                "nrhs", "batch", "il", "iu", "kd"};
            const int64_t sizes[] = {o->m,    o->n,           o->k,  o->kl, o->ku,
                                     o->nrhs, o->batch_count, o->il, o->iu, o->kd};
            size_t which = (size_t)(strchr(sized, *letter) - sized);
            length += snprintf(text + length, (size_t)(SHAPE_TEXT - length), "%s%s=%lld",
                               length ? " " : "", names[which], (long long)sizes[which]);
        }
        }
    text[length] = '\0';
}

/* "d"; or those that are arguments, of operands and of what is computed in: "f16 f16 f32 f32". */
enum { TYPES_TEXT = 32 };
static void types_text(const options_t *o, const routine_t *routine, char *text) {
    if (!routine_has_types(routine)) {
        snprintf(text, TYPES_TEXT, "%c", "sdczhb"[o->type]);
        return;
    }

    problem_t problem;
    problem_describe(&problem, routine, o);
    int length = 0;
    for (int i = 0; i < OPERANDS; i++)
        if (problem.operand[i].present)
            length += snprintf(text + length, (size_t)(TYPES_TEXT - length), "%s ",
                               jdatatype_name(problem.operand[i].type));
    snprintf(text + length, (size_t)(TYPES_TEXT - length), "%s", jdatatype_name(problem.type));
}

static double gflops(const measurement_t *m, double seconds) {
    return seconds > 0 ? m->flops / seconds * 1e-9 : 0;
}

/* A number, or "-" where there is none. */
static void cell(int width, int digits, double value, bool there) {
    if (there)
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

static void report_table(const options_t *o, const routine_t *routine, const measurement_t *m) {
    static bool headed;
    if (!headed) /* which kernels the CBLAS chose decides what the ratio is worth */
        printf("CBLAS: %s\n%-25s %-28s %-14s %4s %10s %10s %10s %6s %11s %9s %9s %7s  %s\n",
               jblas_cblas_name(), "routine", "shape", "status", "rung", "asked", "capacity",
               "high", "allocs", "us", "GFLOP/s", "CBLAS", "ratio", o->verify ? "error" : "");
    headed = true;
    char name[64], shape[SHAPE_TEXT], types[TYPES_TEXT], rung[16] = "-";
    types_text(o, routine, types);
    snprintf(name, sizeof name, "%s%s%s", routine->name, routine_has_types(routine) ? " " : " -r ",
             types);
    shape_text(o, routine, shape);
    if (m->rung >= 0)
        snprintf(rung, sizeof rung, "%d", m->rung);
    printf("%-25s %-28s %-14s %4s %10zu %10zu %10zu %6llu", name, shape,
           jstatus_name(m->status) + strlen("JSTATUS_"), rung, m->asked_bytes, m->capacity_bytes,
           m->high_bytes, (unsigned long long)m->allocations);
    bool timed = m->seconds > 0, counted = timed && m->flops > 0,
         compared = timed && m->direct_seconds > 0;
    cell(11, 3, m->seconds * 1e6, timed);
    cell(9, 3, gflops(m, m->seconds), counted);
    cell(9, 3, gflops(m, m->direct_seconds), counted && compared);
    cell(7, 3, m->direct_seconds / m->seconds, compared);
    if (m->verified)
        printf("  %.1Le %s%s%s", m->error,
               tool_colour(stdout, measurement_is_good(m) ? TOOL_GREEN : TOOL_RED),
               measurement_is_good(m) ? "ok" : "WRONG", tool_colour(stdout, TOOL_PLAIN));
    puts("");
    if (jstatus_is_error(m->status))
        printf("    %s\n", m->message);
}

static void report_json(const options_t *o, const routine_t *routine, const measurement_t *m) {
    char shape[SHAPE_TEXT], type[TYPES_TEXT];
    const bool timed = m->seconds > 0, counted = timed && m->flops > 0,
               compared = timed && m->direct_seconds > 0;
    types_text(o, routine, type);
    shape_text(o, routine, shape);
    json_open_line();
    json_text("routine", routine->name);
    json_text("type", type);
    json_text("shape", shape);
    json_text("cblas", jblas_cblas_name());
    json_text("status", jstatus_name(m->status));
    if (jstatus_is_error(m->status))
        json_text("message", m->message);
    json_real("rung", m->rung >= 0 ? m->rung : NAN);
    json_number("asked_bytes", (int64_t)m->asked_bytes);
    json_number("capacity_bytes", (int64_t)m->capacity_bytes);
    json_number("high_watermark_bytes", (int64_t)m->high_bytes);
    json_number("allocations", (int64_t)m->allocations);
    json_real("microseconds", timed ? m->seconds * 1e6 : NAN);
    json_real("gflops", counted ? gflops(m, m->seconds) : NAN);
    json_real("cblas_microseconds", compared ? m->direct_seconds * 1e6 : NAN);
    json_real("cblas_gflops", counted && compared ? gflops(m, m->direct_seconds) : NAN);
    json_real("ratio", compared ? m->direct_seconds / m->seconds : NAN);
    if (m->verified) {
        json_real("error", (double)m->error);
        json_real("error_bound", (double)m->bound);
    }
    json_bool("good", measurement_is_good(m));
    json_close('}');
    json_end();
}

/* For figures.py, as the other benchmarks. */
static void note(const options_t *o, const routine_t *routine, const measurement_t *m) {
    char shape[SHAPE_TEXT], types[TYPES_TEXT], series[TYPES_TEXT + 32];
    types_text(o, routine, types);
    shape_text(o, routine, shape);
    snprintf(series, sizeof series, "%s %s", routine->name, types);
    if (m->seconds > 0 && m->direct_seconds > 0)
        bench_note(series, shape, "", jblas_cblas_name(), m->seconds, m->direct_seconds);
}

void report(const options_t *options, const routine_t *routine, const measurement_t *measurement) {
    (options->json ? report_json : report_table)(options, routine, measurement);
    note(options, routine, measurement);
    fflush(stdout);
}
