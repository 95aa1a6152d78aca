/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Reading a log. A program calls the same thing over and over, so equal lines are kept once and
 * counted. What the handle held at the time (mode, workspace, budget, seal) is taken out before:
 * the plan is about what it should hold. So are scalars of which only the value is another each
 * time: a decomposition by a LAPACK scales and rotates by hundreds of thousands of them, for which
 * no plan is another. Whatever else is between the lines is the program's own output. */

#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/common/tool.h"

/* ---- Lines that are alike ---- */

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_of(const char *text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

/* Where the text is in the index, or the empty place where it belongs. */
static uint32_t *log_place(const log_t *log, const char *text) {
    size_t place = (size_t)hash_of(text) & log->index_mask;
    while (log->index[place] != 0 && strcmp(log->lines[log->index[place] - 1].text, text) != 0)
        place = (place + 1) & log->index_mask;
    return &log->index[place];
}

static void log_make_room(log_t *log) {
    if (log->line_count < log->line_room)
        return;
    log->line_room = log->line_room == 0 ? 64 : 2 * log->line_room;
    if (log->line_room > UINT32_MAX / 4)
        tool_fail("%s: too many different calls", log->path);
    log->lines = tool_reallocate(log->lines, log->line_count, log->line_room, sizeof *log->lines);
    free(log->index);
    log->index = tool_allocate(4 * log->line_room, sizeof *log->index);
    log->index_mask = 4 * log->line_room - 1;
    for (size_t i = 0; i < log->line_count; i++)
        *log_place(log, log->lines[i].text) = (uint32_t)i + 1;
}

static void log_add(log_t *log, const char *text, uint64_t number, bool is_cut) {
    log_make_room(log);
    uint32_t *place = log_place(log, text);
    if (*place != 0) {
        log->lines[*place - 1].times++;
        return;
    }

    line_t *line = &log->lines[log->line_count++];
    *line = (line_t){.number = number, .times = 1, .is_cut = is_cut, .handle = -1};
    line->text = tool_allocate(strlen(text) + 1, 1);
    strcpy(line->text, text);
    *place = (uint32_t)log->line_count;
}

/* ---- Reading ---- */

/* Takes an option and its value out of the line. */
static void strip(char *text, const char *option, bool has_value) {
    char *begin = strstr(text, option);
    if (begin == NULL)
        return;
    char *end = begin + strlen(option);
    if (has_value)
        end += strcspn(end, " \t\r\n");
    memmove(begin, end, strlen(end) + 1);
}

/* Whether a call may do something else for it than for most numbers: by 0, 1, -1 and what is not
 * finite. */
static bool is_special(double number) {
    return number == 0 || fabs(number) == 1 || !isfinite(number);
}

/* Puts 2 in the place of any number that is like most, and so of each part of a complex one. */
static void unify(char *text, const char *option) {
    char *begin = strstr(text, option), *end;
    if (begin == NULL)
        return;
    begin += strlen(option);
    const double real = strtod(begin, &end);
    const bool is_complex = *end == ',';
    const double imaginary = is_complex ? strtod(end + 1, &end) : 0;
    if (end == begin || strchr(" \t\r\n", *end) == NULL ||
        (is_special(real) && is_special(imaginary)))
        return;
    const char *const usual = is_complex ? "2,2" : "2"; /* no longer than any other */
    memcpy(begin, usual, strlen(usual));
    memmove(begin + strlen(usual), end, strlen(end) + 1);
}

/* Where a bench line begins: its first word is the program, or it stands behind other text on the
 * same line, such as mpirun's tag. NULL: it is none. */
static char *bench_line(char *text) {
    static const char program[] = "jblas-bench";
    const size_t length = sizeof program - 1;
    char *behind = strstr(text, "jblas-bench -f ");
    if (behind != NULL)
        return behind;

    char *word = text + strspn(text, " \t");
    const size_t word_length = strcspn(word, " \t\r\n");
    const bool is_program = word_length >= length &&
                            strncmp(word + word_length - length, program, length) == 0 &&
                            (word_length == length || word[word_length - length - 1] == '/');
    return is_program ? word : NULL;
}

static void log_take(log_t *log, char *text, size_t length, uint64_t number) {
    char *line = strlen(text) == length ? bench_line(text) : NULL; /* no zero byte in between */
    if (line == NULL) {
        log->other_count++;
        return;
    }

    /* A whole line of the log ends so. One that was cut may still be understood, as another. */
    const bool ends = text[length - 1] == '\n';
    const bool is_cut = !ends && strstr(line, " --pointer_mode ") == NULL;
    length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    strip(line, " --mode ", true);
    strip(line, " --workspace ", true);
    strip(line, " --budget ", true);
    strip(line, " --sealed", false);
    static const char *const scalars[] = {" --alpha ", " --beta ", " --c ", " --s "};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        unify(line, scalars[i]);
    log_add(log, line, number, is_cut);
}

void log_read(log_t *log, const char *path) {
    *log = (log_t){.path = path};
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (file == NULL)
        tool_refuse("%s: %s", path, strerror(errno));

    char *text = NULL;
    size_t room = 0;
    uint64_t number = 0;
    errno = 0;
    for (ssize_t length; (length = getline(&text, &room, file)) > 0;)
        log_take(log, text, (size_t)length, ++number);
    const int error = errno;
    free(text);
    if (ferror(file) || error == ENOMEM) /* a folder is opened, and not read */
        tool_refuse("%s: line %llu: %s", path, (unsigned long long)number + 1, strerror(error));
    if (file != stdin)
        (void)fclose(file);
    if (number == 0)
        tool_refuse("%s: is empty", path);
    if (log->line_count == 0)
        tool_refuse("%s: none of its %llu lines is a call as JALLOC_LAYER=2 writes them", path,
                    (unsigned long long)number);
}

void log_free(log_t *log) {
    for (size_t i = 0; i < log->line_count; i++)
        free(log->lines[i].text);
    free(log->lines);
    free(log->index);
}

const routine_t *log_parse(const line_t *line, options_t *options,
                           char reason[OPTIONS_REASON_BYTES]) {
    if (line->is_cut) {
        snprintf(reason, OPTIONS_REASON_BYTES, "its end is missing");
        return NULL;
    }

    const size_t bytes = strlen(line->text) + 1;
    char *words = tool_allocate(bytes, 1);
    memcpy(words, line->text, bytes);
    *options = options_default;
    const routine_t *routine =
        options_parse_line(options, words, reason) ? routine_of(options, reason) : NULL;
    free(words);
    return routine;
}
