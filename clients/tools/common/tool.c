/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The table's readers: getopt_long's arrays, and the help. The help has a layout that pages.py
 * reads again: sections begin with a line without indentation that ends with a colon, entries are
 * indented by two columns, and their texts by more. */

#include "tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/version.h"
#include "terminal.h"

enum {
    MAX_OPTIONS = 128,
    WIDTH = 80,
    ENTRY_INDENT = 2,
    TEXT_COLUMN = 26, /* of options */
    CODE_COLUMN = 7,  /* of exit statuses */
    LETTERS = 256     /* shorter forms are below */
};

static const tool_option_t usual[] = {
    {"help", NULL, 'h', "this text"}, {"version", NULL, 'V', "the version"}, {NULL, NULL, 0, NULL}};
static const tool_t *current;

void tool_begin(const tool_t *tool) { current = tool; }

/* ---- Endings ---- */

static void say(const char *format, va_list arguments, const char *end) {
    tool_progress_end();
    fprintf(stderr, "%s: ", current != NULL ? current->name : program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputs(end, stderr);
}

void tool_refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments, "; see --help\n");
    va_end(arguments);
    exit(TOOL_REFUSED);
}

void tool_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments, "\n");
    va_end(arguments);
    exit(TOOL_FAILED);
}

void tool_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments, "\n");
    va_end(arguments);
}

int tool_end(int status) {
    tool_progress_end();
    if (fflush(stdout) != 0 || ferror(stdout))
        tool_fail("standard output cannot be written");
    return status;
}

/* ---- Help ---- */

/* Words of a text from `column` on, in lines that begin at `indent`. A "\n" ends a line. */
static void print_words(const char *text, size_t column, size_t indent) {
    for (bool is_first = true; *text != '\0';) {
        const size_t length = strcspn(text, " \n");
        if (!is_first && column + 1 + length > WIDTH) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)length, text);
        column += length;
        is_first = text[length] == '\n';
        text += length;
        if (*text == '\n') {
            printf("\n%*s", text[1] == '\n' ? 0 : (int)indent, "");
            column = indent;
        }
        text += *text != '\0';
    }
    putchar('\n');
}

/* An entry whose name is printed already, so wide, and its text. */
static void print_entry(size_t width, size_t text_column, const char *text) {
    if (width + 2 > text_column)
        printf("\n%*s", (int)text_column, "");
    else
        printf("%*s", (int)(text_column - width), "");
    print_words(text, text_column, text_column);
}

static void print_options(const tool_option_t *option) {
    for (; option->name != NULL; option++) {
        if (option->help == NULL)
            continue;
        const bool is_letter = option->letter < LETTERS;
        const int width =
            printf("%*s%c%c%c --%s%s%s", ENTRY_INDENT, "", is_letter ? '-' : ' ',
                   is_letter ? option->letter : ' ', is_letter ? ',' : ' ', option->name,
                   option->value != NULL ? " " : "", option->value != NULL ? option->value : "");
        print_entry((size_t)width, TEXT_COLUMN, option->help);
    }
}

static void print_rows(const char *title, const tool_row_t *row, size_t text_column) {
    if (row == NULL)
        return;
    printf("\n%s:\n", title);
    for (; row->name != NULL; row++) {
        const int width = printf("%*s%s", ENTRY_INDENT, "", row->name);
        print_entry((size_t)width, text_column, row->text);
    }
}

static void print_usage(const tool_t *tool) {
    const char *form = tool->usage;
    for (const char *lead = "usage: "; *form != '\0'; lead = "       ") {
        const size_t length = strcspn(form, "\n");
        printf("%s%s %.*s\n", lead, tool->name, (int)length, form);
        form += length + (form[length] == '\n');
    }
}

void tool_print_help(const tool_t *tool) {
    print_usage(tool);
    printf("\n%c", tool->summary[0] - 'a' + 'A');
    fputs(tool->summary + 1, stdout);
    puts(".");
    if (tool->about != NULL) {
        putchar('\n');
        print_words(tool->about, 0, 0);
    }
    print_rows("Commands", tool->commands, 11);
    puts("\nOptions:");
    if (tool->options != NULL)
        print_options(tool->options);
    print_options(usual);
    if (tool->notes != NULL) {
        puts("\nNotes:");
        printf("%*s", ENTRY_INDENT, "");
        print_words(tool->notes, ENTRY_INDENT, ENTRY_INDENT);
    }
    print_rows("Exit status", tool->statuses, CODE_COLUMN);
    puts("\nExamples:");
    for (const tool_row_t *example = tool->examples; example->name != NULL; example++) {
        printf("%*s%s\n%*s", ENTRY_INDENT, "", example->name, 3 * ENTRY_INDENT, "");
        print_words(example->text, 3 * ENTRY_INDENT, 3 * ENTRY_INDENT);
    }
}

void tool_print_version(const tool_t *tool) {
    printf("%s %s\n", tool->name, jalloc_version_string());
}

/* ---- Options ---- */

static struct option longs[MAX_OPTIONS + 3];
static char shorts[2 * MAX_OPTIONS + 8];

static size_t add_options(size_t count, const tool_option_t *option) {
    char *next = shorts + strlen(shorts);
    for (; option != NULL && option->name != NULL && count < MAX_OPTIONS + 2; option++) {
        longs[count++] =
            (struct option){option->name, option->value != NULL ? required_argument : no_argument,
                            NULL, option->letter};
        if (option->letter < LETTERS) {
            *next++ = (char)option->letter;
            if (option->value != NULL)
                *next++ = ':';
        }
    }
    return count;
}

/* getopt tells what is wrong by little more than that it is. */
static _Noreturn void refuse_option(char **argv, bool lacks_value) {
    const char *word = argv[optind - 1];
    const bool is_long = strncmp(word, "--", 2) == 0;
    const char letter[] = {'-', (char)optopt, '\0'};
    if (lacks_value)
        tool_refuse("option '%s' wants a value", is_long ? word : letter);
    if (is_long && optopt != 0)
        tool_refuse("option '%.*s' takes no value", (int)strcspn(word, "="), word);
    tool_refuse("unknown option '%s'", is_long || optopt == 0 ? word : letter);
}

int tool_next_option(int argc, char **argv) {
    if (shorts[0] == '\0') {
        strcpy(shorts, current->runs_program ? "+:" : ":");
        (void)add_options(add_options(0, current->options), usual);
        opterr = 0;
    }
    const int found = getopt_long(argc, argv, shorts, longs, NULL);
    if (found == '?' || found == ':')
        refuse_option(argv, found == ':');
    if (found != 'h' && found != 'V')
        return found;
    if (found == 'h')
        tool_print_help(current);
    else
        tool_print_version(current);
    exit(tool_end(TOOL_GOOD));
}

/* ---- Memory ---- */

void *tool_allocate(size_t count, size_t element_bytes) {
    void *memory = calloc(count > 0 ? count : 1, element_bytes);
    if (memory == NULL)
        tool_fail("no memory for %zu times %zu bytes", count, element_bytes);
    return memory;
}

void *tool_reallocate(void *memory, size_t old_count, size_t count, size_t element_bytes) {
    char *larger = reallocarray(memory, count, element_bytes);
    if (larger == NULL)
        tool_fail("no memory for %zu times %zu bytes", count, element_bytes);
    memset(larger + old_count * element_bytes, 0, (count - old_count) * element_bytes);
    return larger;
}

/* ---- Values ---- */

uint64_t tool_number(const char *option, const char *text, uint64_t least, uint64_t most) {
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value >= least &&
        value <= most)
        return value;
    if (most == UINT64_MAX)
        tool_refuse("--%s: '%s' is no number from %llu on", option, text,
                    (unsigned long long)least);
    tool_refuse("--%s: '%s' is no number from %llu to %llu", option, text,
                (unsigned long long)least, (unsigned long long)most);
}
