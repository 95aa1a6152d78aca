/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Findings: a line each, its verdict in colour, its remedy below; and at the end the verdict of
 * all. */

#include "info.h"

#include <stdarg.h>
#include <stdio.h>

#include "../common/json.h"
#include "../common/terminal.h"
#include "jalloc/log.h"

static const char *const verdict_names[VERDICTS] = {"ok", "note", "slow", "wrong"};
static unsigned verdict_counts[VERDICTS];

static void write_text(const char *name, verdict_t verdict, const char *found, const char *remedy) {
    static const tool_colour_t colours[VERDICTS] = {TOOL_GREEN, TOOL_PLAIN, TOOL_YELLOW, TOOL_RED};
    printf("  %s%-6s%s %-13s %s\n", tool_colour(stdout, colours[verdict]), verdict_names[verdict],
           tool_colour(stdout, TOOL_PLAIN), name, found);
    if (remedy[0] != '\0')
        printf("  %-6s %-13s -> %s\n", "", "", remedy);
}

static void write_json(const char *name, verdict_t verdict, const char *found, const char *remedy) {
    json_open(NULL, '{');
    json_text("name", name);
    json_text("verdict", verdict_names[verdict]);
    json_text("found", found);
    json_text("remedy", remedy);
    json_close('}');
}

void check_tell(const char *name, verdict_t verdict, const char *remedy, const char *format, ...) {
    char found[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found, sizeof found, format, arguments);
    va_end(arguments);
    verdict_counts[verdict]++;
    (info_is_json() ? write_json : write_text)(name, verdict, found, remedy);
}

bool check_everything(void) {
    /* What the library would say of itself is said below, once. */
    (void)jlog_set_level(JLOG_OFF);
    section_begin("checks");
    check_library();
    check_system();
    section_end();

    const unsigned slow = verdict_counts[VERDICT_SLOW], wrong = verdict_counts[VERDICT_WRONG];
    const bool is_good = slow + wrong == 0;
    if (info_is_json()) {
        json_bool("good", is_good);
        json_number("slow", slow);
        json_number("wrong", wrong);
    } else if (is_good) {
        puts("\nThis machine is ready.");
    } else {
        printf("\n%u wrong, %u slow.\n", wrong, slow);
    }
    return is_good;
}
