/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-plan: what a program needs at least, at best, and what each byte between buys, from the
 * log of its calls. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/config.h"
#include "plan.h"

enum { OPTION_IN_ORDER = 256, OPTION_SVG, OPTION_VERIFY, OPTION_STRICT };

static const tool_option_t options[] = {
    {"budget", "SIZE", 'b',
     "choose for so many bytes, such as 64MiB: what that costs, and which calls"},
    {"in-order", NULL, OPTION_IN_ORDER,
     "the handles of the log are not at work at once, but one after the other"},
    {"device", "NAME", 'd', "the calls on this device (that of the first call)"},
    {"threads", "COUNT", 't',
     "most threads of a call, as JALLOC_THREADS; 0: the processors it may use"},
    {"svg", "FILE", OPTION_SVG, "draw bytes and predicted time"},
    {"verify", NULL, OPTION_VERIFY,
     "make the calls, with the budget and with the next steps below and above it, and show what "
     "was predicted beside what was measured"},
    {"strict", NULL, OPTION_STRICT, "a call that is not understood is an error"},
    TOOL_JSON,
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {
    {"0", "the plan is made"},
    {"1", "the budget is below what the calls need, or something could not be done"},
    {"2", "wrong usage, a log without calls, or what --strict refuses"},
    {NULL, NULL}};
static const tool_row_t examples[] = {
    {"JALLOC_LAYER=2 JALLOC_LOG_PATH=fit.log jblas-run python3 fit.py",
     "writes the log of any program that calls BLAS"},
    {"jalloc-plan fit.log", "minimal, optimal, the staircase between them, the setting"},
    {"jalloc-plan --budget 2MiB --svg fit.svg fit.log", "what 2 MiB cost, and which calls"},
    {NULL, NULL}};
static const tool_t tool = {
    .name = "jalloc-plan",
    .usage = "[OPTION]... LOG",
    .summary = "says what workspace a program's calls need, and what more of it buys",
    .about = "LOG is what a program wrote with JALLOC_LAYER=2 (-: standard input); other text in "
             "it is passed over. Predictions are for this machine.",
    .options = options,
    .statuses = statuses,
    .examples = examples,
};

void plan_require(jstatus_t status, const char *what) {
    if (jstatus_is_error(status))
        tool_fail("%s: %s: %s", what, jstatus_text(status), jstatus_last_message());
}

/* ---- Arguments ---- */

static void parse_budget(choices_t *choices, const char *text) {
    if (jstatus_is_error(jconfig_parse_size(text, &choices->budget_bytes)))
        tool_refuse("--budget: %s", jstatus_last_message());
    choices->has_budget = true;
}

static void parse_threads(const char *text) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    if (setenv("JALLOC_THREADS", text, 1) != 0 ||
        jconfig_get(JCONFIG_JALLOC_THREADS, &entry) != JSTATUS_SUCCESS || !entry.valid ||
        text[0] == '\0')
        tool_refuse("--threads: '%s' is not understood: expected %s", text, entry.syntax);
}

static void parse(choices_t *choices, int argc, char **argv) {
    for (int c; (c = tool_next_option(argc, argv)) != -1;)
        switch (c) {
        case 'b': parse_budget(choices, optarg); break;
        case OPTION_IN_ORDER: choices->in_order = true; break;
        case 'd': choices->device = optarg; break;
        case 't': parse_threads(optarg); break;
        case OPTION_SVG: choices->svg = optarg; break;
        case OPTION_VERIFY: choices->verify = true; break;
        case OPTION_STRICT: choices->strict = true; break;
        case 'j': choices->json = true; break;
        }
    if (optind >= argc)
        tool_refuse("no log");
    choices->log = argv[optind++];
    if (optind < argc)
        tool_refuse("unexpected argument '%s': one log at a time", argv[optind]);
}

int main(int argc, char **argv) {
    static const char *const programs[] = {"JALLOC_LAYER", "JALLOC_BUDGET",
                                           "JALLOC_DEVICE_MEMORY_SIZE"};
    static plan_t plan;
    choices_t choices = {0};
    log_t log;
    /* What the program's handles were given, perhaps in the same shell, is not for ours. */
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        (void)unsetenv(programs[i]);

    tool_begin(&tool);
    parse(&choices, argc, argv);
    log_read(&log, choices.log);
    plan_make(&plan, &log, &choices);
    if (choices.strict && plan.left_out.not_understood > 0)
        tool_refuse("%s: %llu calls are not understood", log.path,
                    (unsigned long long)plan.left_out.not_understood);
    if (choices.svg != NULL)
        picture_write(&plan, choices.svg);
    (choices.json ? report_json : report_text)(&plan);

    plan_free(&plan);
    log_free(&log);
    return tool_end(TOOL_GOOD);
}
