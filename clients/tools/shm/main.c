/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc-shm: what shared segments there are, what is in one, whether it holds together, and away
 * with those that nobody needs.
 *
 * Looking changes nothing: list, show and verify attach for reading, which takes no slot and no
 * lock. Clearing goes through jsegment_remove(), which asks, with attaching kept out, whether
 * anybody is attached; so a segment in use cannot lose its name, however old this program's
 * knowledge is. */

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/terminal.h"
#include "shm.h"

enum { OPTION_NO_MAP = 256, OPTION_SVG, OPTION_LOCK, OPTION_DRY_RUN, OPTION_OLDER, OPTION_ALL };

static const tool_row_t about_commands[] = {
    {"list", "all segments in POSIX shared memory, or those named: state, sizes, owner, processes, "
             "what is free"},
    {"show", "one in full: books, processes, allocators, a map"},
    {"verify", "looks at every structure of those named"},
    {"clear",
     "removes those that are stale (whoever was attached died, or the machine was started "
     "again since), damaged or poisoned, and what creators left that died; of those named, "
     "also what everybody detached from. Never one that a living process is attached to, "
     "never another user's"},
    {NULL, NULL}};
static const tool_option_t understood[] = {
    {"json", NULL, 'j', "one JSON object instead of text"},
    {"no-map", NULL, OPTION_NO_MAP, "show: no map"},
    {"svg", "FILE", OPTION_SVG, "show: also a picture of it"},
    {"lock", NULL, OPTION_LOCK,
     "verify: attach as a user of it does and keep the others waiting meanwhile; without it, a "
     "segment at work is looked at up to ten times before it is called corrupted"},
    {"dry-run", NULL, OPTION_DRY_RUN, "clear: only say what would be removed"},
    {"older-than", "AGE", OPTION_OLDER,
     "clear: only what was made longer ago than so many s, m, h or d, such as 2h"},
    {"all", NULL, OPTION_ALL, "clear: also what everybody detached from"},
    {NULL, NULL, 0, NULL}};
static const tool_row_t statuses[] = {{"0", "all is so, or was done"},
                                      {"1", "something is not so, or could not be done"},
                                      {"2", "wrong usage"},
                                      {NULL, NULL}};
static const tool_row_t examples[] = {
    {"jalloc-shm list", "what there is in /dev/shm"},
    {"jalloc-shm show --svg mesh.svg /mesh", "one in full, with a picture"},
    {"jalloc-shm clear --older-than 1d", "a line for cron"},
    {NULL, NULL}};
static const tool_t tool = {
    .name = "jalloc-shm",
    .usage = "list [--json] [NAME...]\n"
             "show [--json] [--no-map] [--svg FILE] NAME\n"
             "verify [--json] [--lock] NAME...\n"
             "clear [--json] [--dry-run] [--older-than AGE] [--all]\n"
             "clear [--json] [--dry-run] [--older-than AGE] NAME...",
    .summary = "lists, shows, verifies and clears shared segments",
    .about = "NAME is of POSIX shared memory, with or without the slash before it; anything with "
             "another slash is a file.",
    .commands = about_commands,
    .options = understood,
    .statuses = statuses,
    .examples = examples,
};

typedef struct choices {
    bool json, no_map, lock, dry_run, all;
    const char *svg;
    int64_t older_than; /* seconds; -1: not asked */
    char **names;
    int name_count;
} choices_t;

static int complain_of(const shm_found_t *found, const char *why) {
    shm_complain(found->path, shm_state_name(found->state), why);
    return TOOL_FAILED;
}

static int complain(const shm_found_t *found) {
    return complain_of(found, found->message[0] ? found->message : shm_state_text(found->state));
}

/* One object with a list. */
static void json_list_begin(const char *name) {
    json_open(NULL, '{');
    json_open(name, '[');
}
static void json_list_end(void) {
    json_close(']');
    json_close('}');
    json_end();
}

/* ---- list ---- */

static void json_row(const shm_found_t *found) {
    json_open(NULL, '{');
    json_text("name", found->name);
    json_text("path", found->path);
    json_text("state", shm_state_name(found->state));
    json_text("status", jstatus_name(found->status));
    if (found->message[0])
        json_text("message", found->message);
    if (found->state != SHM_MISSING) {
        json_number("owner", found->owner);
        json_number("created_at", found->created_at);
        json_number("file_bytes", (int64_t)found->file_bytes);
    }
    if (found->has_stats) {
        json_number("size_bytes", (int64_t)found->stats.size_bytes);
        json_number("max_bytes", (int64_t)found->stats.max_bytes);
        json_number("free_bytes", (int64_t)found->stats.free_bytes);
        json_number("attached", found->alive + found->dead);
        json_number("alive", found->alive);
    }
    json_close('}');
}

/* What needs somebody is red, what may go yellow. */
static tool_colour_t state_colour(shm_state_t state) {
    switch (state) {
    case SHM_IN_USE: return TOOL_GREEN;
    case SHM_STALE:
    case SHM_LEFTOVER: return TOOL_YELLOW;
    case SHM_POISONED:
    case SHM_DAMAGED:
    case SHM_UNSAFE: return TOOL_RED;
    default: return TOOL_PLAIN;
    }
}

static void text_row(const shm_found_t *found) {
    shm_print_safe(stdout, found->name, 28);
    printf(" %s%-13s%s", tool_colour(stdout, state_colour(found->state)),
           shm_state_name(found->state), tool_colour(stdout, TOOL_PLAIN));
    if (found->state == SHM_MISSING) {
        putchar('\n');
        return;
    }
    const bool known = found->has_stats;
    char processes[24] = "-";
    if (known)
        snprintf(processes, sizeof processes, "%u/%u", found->alive, found->alive + found->dead);
    printf(" %10s %10s %10s %9s  %-10s %s",
           shm_size_text(known ? found->stats.size_bytes : found->file_bytes).text,
           known ? shm_size_text(found->stats.max_bytes).text : "-",
           known ? shm_size_text(found->stats.free_bytes).text : "-", processes,
           shm_user_text(found->owner).text, shm_time_text(found->created_at).text);
    if (found->status != JSTATUS_SUCCESS) {
        fputs("  ", stdout);
        shm_print_safe(stdout, found->message[0] ? found->message : shm_state_text(found->state),
                       0);
    }
    putchar('\n');
}

static int list(const choices_t *choices) {
    shm_found_t **all = NULL;
    size_t count = 0, hidden = 0;
    int result = TOOL_GOOD;
    if (choices->name_count == 0 && !shm_scan(&all, &count, &hidden)) {
        tool_warn("POSIX shared memory cannot be listed: %s", strerror(errno));
        return TOOL_FAILED;
    }
    if (choices->name_count > 0) {
        count = (size_t)choices->name_count;
        all = calloc(count, sizeof *all);
        for (size_t i = 0; all != NULL && i < count; i++) {
            all[i] = shm_look(choices->names[i]);
            if (all[i]->state == SHM_FOREIGN || all[i]->state == SHM_MISSING)
                result = TOOL_FAILED;
        }
    }
    if (all == NULL)
        count = 0;
    if (choices->json) {
        json_list_begin("segments");
        for (size_t i = 0; i < count; i++)
            json_row(all[i]);
        json_close(']');
        json_number("hidden", (int64_t)hidden);
        json_close('}');
        json_end();
    } else {
        if (count > 0)
            printf("%-28s %-13s %10s %10s %10s %9s  %-10s %s\n", "name", "state", "size", "at most",
                   "free", "alive/all", "owner", "made");
        for (size_t i = 0; i < count; i++)
            text_row(all[i]);
        if (hidden > 0)
            tool_warn("%zu files of other users could not be looked into", hidden);
    }
    shm_scan_free(all, count);
    return result;
}

/* ---- show, verify ---- */

static int show(const choices_t *choices) {
    shm_found_t *found = shm_look(choices->names[0]);
    const int result = found->has_stats
                           ? shm_show(found, choices->json, !choices->no_map, choices->svg)
                           : complain(found);
    shm_found_free(found);
    return result;
}

static void json_verified(const shm_found_t *found, jstatus_t status, bool is_sound) {
    json_open(NULL, '{');
    json_text("name", found->name);
    json_bool("sound", is_sound);
    json_text("state", shm_state_name(found->state));
    json_text("status", jstatus_name(status));
    if (found->message[0])
        json_text("message", found->message);
    json_close('}');
}

static void text_verified(const shm_found_t *found, jstatus_t status, bool is_sound, bool locked) {
    shm_print_safe(stdout, found->name, 0);
    if (is_sound) {
        printf(": %ssound%s\n", tool_colour(stdout, TOOL_GREEN), tool_colour(stdout, TOOL_PLAIN));
        return;
    }
    printf(": %s%s%s%s", tool_colour(stdout, TOOL_RED),
           found->state == SHM_POISONED ? "poisoned, " : "", jstatus_text(status),
           tool_colour(stdout, TOOL_PLAIN));
    fputs(found->message[0] ? ": " : "", stdout);
    shm_print_safe(stdout, found->message, 0);
    puts(found->state == SHM_STALE && !locked
             ? " (perhaps half a change of a process that died: --lock undoes it and looks again)"
             : "");
}

static int verify(const choices_t *choices) {
    int result = TOOL_GOOD;
    if (choices->json)
        json_list_begin("segments");
    for (int i = 0; i < choices->name_count; i++) {
        shm_found_t *found = shm_look(choices->names[i]);
        jsegment_t *writing = NULL;
        jstatus_t status = found->status;
        if (found->segment != NULL && choices->lock) {
            jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
            options.backend = found->backend;
            options.name = found->name;
            status = jsegment_attach(&options, &writing);
            if (status == JSTATUS_SUCCESS)
                status = jsegment_verify(writing);
        } else if (found->segment != NULL) {
            int attempt = 0;
            do
                status = jsegment_verify(found->segment);
            while (shm_again(status, &attempt));
        }
        if (found->segment != NULL && status != JSTATUS_SUCCESS)
            snprintf(found->message, sizeof found->message, "%s", jstatus_last_message());
        (void)jsegment_detach(writing);
        const bool is_sound = status == JSTATUS_SUCCESS && found->state != SHM_POISONED;
        if (choices->json)
            json_verified(found, status, is_sound);
        else
            text_verified(found, status, is_sound, choices->lock);
        if (!is_sound)
            result = TOOL_FAILED;
        shm_found_free(found);
    }
    if (choices->json)
        json_list_end();
    return result;
}

/* ---- clear ---- */

static bool may_go(const shm_found_t *found, const choices_t *choices) {
    if (found->alive > 0)
        return false;
    switch (found->state) {
    case SHM_STALE:
    case SHM_POISONED:
    case SHM_DAMAGED:
    case SHM_LEFTOVER: return true;
    case SHM_IDLE: return choices->all || choices->name_count > 0;
    default: return false;
    }
}

/* A leftover is not a segment yet, or one without its name: what tells that it is ours is its name,
 * its owner, that its creator is dead, and that nobody holds a lock on it. */
static int remove_leftover(const shm_found_t *found) {
    if (found->owner != geteuid())
        return complain_of(found, "of another user");
    if (shm_is_locked(found->path))
        return complain_of(found, "somebody is at work in it");
    return unlink(found->path) == 0 ? TOOL_GOOD : complain_of(found, strerror(errno));
}

static int clear_one(shm_found_t *found, const choices_t *choices) {
    const bool named = choices->name_count > 0;
    if (!may_go(found, choices))
        return named ? complain(found) : TOOL_GOOD;
    if (choices->older_than >= 0 && (int64_t)time(NULL) - found->created_at <= choices->older_than)
        return TOOL_GOOD;
    if (!choices->dry_run) {
        if (found->state == SHM_LEFTOVER) {
            if (remove_leftover(found) != TOOL_GOOD)
                return TOOL_FAILED;
        } else {
            const jstatus_t status =
                jsegment_remove(found->backend, found->name, JSEGMENT_REMOVE_UNUSED);
            if (status != JSTATUS_SUCCESS)
                return complain_of(found, jstatus_last_message());
        }
    }
    if (choices->json) {
        json_open(NULL, '{');
        json_text("name", found->name);
        json_text("state", shm_state_name(found->state));
        json_number("file_bytes", (int64_t)found->file_bytes);
        json_close('}');
        return TOOL_GOOD;
    }
    fputs(choices->dry_run ? "would remove " : "removed ", stdout);
    shm_print_safe(stdout, found->name, 0);
    printf(" (%s, %s)\n", shm_state_name(found->state), shm_size_text(found->file_bytes).text);
    return TOOL_GOOD;
}

static int clear_named(const choices_t *choices) {
    int result = TOOL_GOOD;
    for (int i = 0; i < choices->name_count; i++) {
        shm_found_t *found = shm_look(choices->names[i]);
        if (clear_one(found, choices) != TOOL_GOOD)
            result = TOOL_FAILED;
        shm_found_free(found);
    }
    return result;
}

static int clear_all(const choices_t *choices) {
    int result = TOOL_GOOD;
    shm_found_t **all;
    size_t count, hidden;
    if (!shm_scan(&all, &count, &hidden)) {
        tool_warn("POSIX shared memory cannot be listed: %s", strerror(errno));
        return TOOL_FAILED;
    }
    for (size_t i = 0; i < count; i++)
        if (clear_one(all[i], choices) != TOOL_GOOD)
            result = TOOL_FAILED;
    shm_scan_free(all, count);
    return result;
}

static int clear(const choices_t *choices) {
    if (choices->json)
        json_list_begin(choices->dry_run ? "would_remove" : "removed");
    const int result = (choices->name_count > 0 ? clear_named : clear_all)(choices);
    if (choices->json)
        json_list_end();
    return result;
}

/* ---- The command line ---- */

/* "90", "90s", "5m", "2h", "7d"; -1: none of these. */
static int64_t parse_age(const char *text) {
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || number < 0 || errno != 0 || *text < '0' || *text > '9')
        return -1;
    static const struct {
        const char *unit;
        int64_t seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0)
            return number <= INT64_MAX / units[i].seconds ? number * units[i].seconds : -1;
    return -1;
}

/* Each option but --json is of one command. */
enum { FOR_LIST, FOR_SHOW = 1, FOR_VERIFY = 2, FOR_CLEAR = 4 };

typedef struct command {
    const char *name;
    int (*run)(const choices_t *);
    unsigned options;
    int least, most; /* names */
} command_t;
static const command_t commands[] = {
    {"list", list, FOR_LIST, 0, INT_MAX},
    {"show", show, FOR_SHOW, 1, 1},
    {"verify", verify, FOR_VERIFY, 1, INT_MAX},
    {"clear", clear, FOR_CLEAR, 0, INT_MAX},
};

static const command_t *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    tool_refuse("no command '%s'", name);
}

static void check_usage(const command_t *command, unsigned options, const choices_t *choices) {
    if ((options & ~command->options) != 0)
        tool_refuse("'%s' has no such option", command->name);
    if (choices->name_count < command->least)
        tool_refuse("'%s' wants a name", command->name);
    if (choices->name_count > command->most)
        tool_refuse("'%s' wants one name, not %d", command->name, choices->name_count);
    if (choices->all && choices->name_count > 0)
        tool_refuse("'%s --all' takes no names", command->name);
}

static int64_t parse_older_than(const char *text) {
    const int64_t seconds = parse_age(text);
    if (seconds < 0)
        tool_refuse("--older-than: '%s' is no age, such as 90s, 5m, 2h or 7d", text);
    return seconds;
}

int main(int argc, char **argv) {
    choices_t choices = {.older_than = -1};
    unsigned options_of = FOR_LIST;
    tool_begin(&tool);
    for (int c; (c = tool_next_option(argc, argv)) != -1;)
        switch (c) {
        case 'j': choices.json = true; break;
        case OPTION_NO_MAP: choices.no_map = true, options_of |= FOR_SHOW; break;
        case OPTION_SVG: choices.svg = optarg, options_of |= FOR_SHOW; break;
        case OPTION_LOCK: choices.lock = true, options_of |= FOR_VERIFY; break;
        case OPTION_DRY_RUN: choices.dry_run = true, options_of |= FOR_CLEAR; break;
        case OPTION_ALL: choices.all = true, options_of |= FOR_CLEAR; break;
        case OPTION_OLDER:
            choices.older_than = parse_older_than(optarg), options_of |= FOR_CLEAR;
            break;
        }
    if (optind >= argc)
        tool_refuse("no command");

    const command_t *command = find_command(argv[optind]);
    choices.names = argv + optind + 1;
    choices.name_count = argc - optind - 1;
    check_usage(command, options_of, &choices);
    return tool_end(command->run(&choices));
}
