/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-plan: what a program needs at least, at best, and what each byte between buys, from the
 * log of its calls. */

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/config.h"
#include "jalloc/version.h"
#include "plan.h"

static const char usage[] =
    "usage: jalloc-plan LOG [OPTION]...\n"
    "Says what workspace the calls of a log need at least and at best, and what time the bytes "
    "between buy.\n"
    "LOG is what a program wrote with JALLOC_LAYER=2 (-: standard input); other text in it is "
    "passed over.\n"
    "\n"
    "  -b, --budget SIZE    choose for so many bytes, such as 64MiB: what that costs, and which "
    "calls\n"
    "      --in-order       the handles of the log are not at work at once, but one after the "
    "other\n"
    "  -d, --device NAME    the calls on this device (that of the first call)\n"
    "  -t, --threads COUNT  most threads of a call, as JALLOC_THREADS; 0: the processors it may "
    "use\n"
    "      --svg FILE       draw bytes and predicted time\n"
    "      --verify         make the calls, with the budget and with the next steps below and "
    "above it, and\n"
    "                       show what was predicted beside what was measured\n"
    "      --strict         a call that is not understood is an error\n"
    "  -j, --json           one JSON object\n"
    "  -h, --help           this\n"
    "      --version        the version\n"
    "\n"
    "Predictions are for this machine. Exit status: 0; 1 if the budget is below what the calls "
    "need, or\n"
    "something could not be done; 2 for bad usage, a log without calls, or what --strict "
    "refuses.\n";

/* ---- Endings and memory ---- */

void plan_exit(int code, const char *format, ...) {
    va_list arguments;
    fputs("jalloc-plan: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(code);
}

void plan_require(jstatus_t status, const char *what) {
    if (jstatus_is_error(status))
        plan_exit(PLAN_FAILED, "%s: %s: %s", what, jstatus_text(status), jstatus_last_message());
}

void *plan_allocate(size_t count, size_t element_bytes) {
    void *memory = calloc(count > 0 ? count : 1, element_bytes);
    if (memory == NULL)
        plan_exit(PLAN_FAILED, "no memory for %zu times %zu bytes", count, element_bytes);
    return memory;
}

void *plan_reallocate(void *memory, size_t count, size_t element_bytes) {
    void *larger = reallocarray(memory, count, element_bytes);
    if (larger == NULL)
        plan_exit(PLAN_FAILED, "no memory for %zu times %zu bytes", count, element_bytes);
    return larger;
}

/* ---- Arguments ---- */

enum { OPTION_IN_ORDER = 256, OPTION_SVG, OPTION_VERIFY, OPTION_STRICT, OPTION_VERSION };

static void parse_budget(choices_t *choices, const char *text) {
    if (jstatus_is_error(jconfig_parse_size(text, &choices->budget_bytes)))
        plan_exit(PLAN_REFUSED, "--budget: %s", jstatus_last_message());
    choices->has_budget = true;
}

static void parse_threads(const char *text) {
    jconfig_entry_t entry = JCONFIG_ENTRY_INIT;
    if (setenv("JALLOC_THREADS", text, 1) != 0 ||
        jconfig_get(JCONFIG_JALLOC_THREADS, &entry) != JSTATUS_SUCCESS || !entry.valid)
        plan_exit(PLAN_REFUSED, "--threads: '%s' is not understood: expected %s", text,
                  entry.syntax);
}

static void parse(choices_t *choices, int argc, char **argv) {
    static const struct option options[] = {{"budget", required_argument, NULL, 'b'},
                                            {"in-order", no_argument, NULL, OPTION_IN_ORDER},
                                            {"device", required_argument, NULL, 'd'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"svg", required_argument, NULL, OPTION_SVG},
                                            {"verify", no_argument, NULL, OPTION_VERIFY},
                                            {"strict", no_argument, NULL, OPTION_STRICT},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, OPTION_VERSION},
                                            {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "b:d:t:jh", options, NULL)) != -1;)
        switch (c) {
        case 'b': parse_budget(choices, optarg); break;
        case OPTION_IN_ORDER: choices->in_order = true; break;
        case 'd': choices->device = optarg; break;
        case 't': parse_threads(optarg); break;
        case OPTION_SVG: choices->svg = optarg; break;
        case OPTION_VERIFY: choices->verify = true; break;
        case OPTION_STRICT: choices->strict = true; break;
        case 'j': choices->json = true; break;
        case 'h': fputs(usage, stdout); exit(0);
        case OPTION_VERSION: printf("jalloc-plan %s\n", jalloc_version_string()); exit(0);
        default: fputs("jalloc-plan --help shows what is understood\n", stderr); exit(PLAN_REFUSED);
        }
    if (optind >= argc)
        plan_exit(PLAN_REFUSED, "no log: jalloc-plan LOG, or --help");
    choices->log = argv[optind++];
    if (optind < argc)
        plan_exit(PLAN_REFUSED, "unexpected argument '%s': one log at a time", argv[optind]);
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

    parse(&choices, argc, argv);
    log_read(&log, choices.log);
    plan_make(&plan, &log, &choices);
    if (choices.strict && plan.left_out.not_understood > 0)
        plan_exit(PLAN_REFUSED, "%s: %llu calls are not understood", log.path,
                  (unsigned long long)plan.left_out.not_understood);
    if (choices.svg != NULL)
        picture_write(&plan, choices.svg);
    (choices.json ? report_json : report_text)(&plan);

    plan_free(&plan);
    log_free(&log);
    if (fflush(stdout) != 0 || ferror(stdout))
        plan_exit(PLAN_FAILED, "standard output cannot be written");
    return 0;
}
