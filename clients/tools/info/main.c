/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-info: what jalloc works with here; with --check, whether that will be fast. */

#include <getopt.h>
#include <stdbool.h>

#include "../common/tool.h"
#include "info.h"

static const tool_option_t options[] = {
    {"check", NULL, 'c',
     "whether this machine will be fast, and what is wrong with it: each finding with its remedy"},
    {"allocators", NULL, 'a', "the kinds of allocators that compositions can name, and their keys"},
    TOOL_JSON,
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {
    {"0", "good"},
    {"1", "a variable of the environment cannot be understood or is unknown; with --check, "
          "anything is slow or wrong"},
    {"2", "wrong usage"},
    {NULL, NULL}};
static const tool_row_t examples[] = {
    {"jalloc-info --check", "before the first run on a new machine"},
    {"jalloc-info", "what a bug report should begin with"},
    {"JALLOC_HOST_BLAS=cblas jalloc-info --check --json",
     "the same of other settings, for a script"},
    {NULL, NULL}};
static const tool_t tool = {
    .name = "jalloc-info",
    .usage = "[OPTION]...",
    .summary = "says what jalloc works with here, and whether that will be fast",
    .about =
        "Without options: the versions, devices, runtime view, environment, host's BLAS, CBLAS "
        "and LAPACK. The environment is that of the programs that would be run from here.",
    .options = options,
    .notes = "Verdicts of --check: ok; note, somebody may want it otherwise; slow, it works and "
             "could be faster; wrong, what was asked for or is needed is not to be had.",
    .statuses = statuses,
    .examples = examples,
};

int main(int argc, char **argv) {
    bool json = false, check = false, allocators = false, good = true;
    tool_begin(&tool);
    for (int c; (c = tool_next_option(argc, argv)) != -1;)
        switch (c) {
        case 'c': check = true; break;
        case 'a': allocators = true; break;
        case 'j': json = true; break;
        }
    if (optind < argc)
        tool_refuse("unexpected argument '%s'", argv[optind]);
    if (check && allocators)
        tool_refuse("--check and --allocators show different things");

    info_begin(json);
    if (allocators)
        show_allocators();
    else
        good = check ? check_everything() : show_everything();
    info_end();
    return tool_end(good ? TOOL_GOOD : TOOL_FAILED);
}
