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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm.h"

static const char usage[] =
    "usage: jalloc-shm list [--json] [NAME...]\n"
    "       jalloc-shm show [--json] [--no-map] [--svg FILE] NAME\n"
    "       jalloc-shm verify [--lock] NAME...\n"
    "       jalloc-shm clear [--dry-run] [--older-than AGE] [--all | NAME...]\n"
    "       jalloc-shm --help\n"
    "Shared segments of jalloc. NAME: of POSIX shared memory, with or without the slash before it; "
    "anything with another\n"
    "slash is a file.\n"
    "\n"
    "list    all in POSIX shared memory, or those named: state, sizes, owner, processes, what is "
    "free.\n"
    "show    one in full. --svg: also a picture of it, in FILE; --no-map: no map in the text.\n"
    "verify  looks at every structure. --lock: attaches as a user of it does and keeps the others "
    "waiting meanwhile;\n"
    "        without it, a segment at work is looked at up to ten times before it is called "
    "corrupted.\n"
    "clear   removes those that are stale (whoever was attached died, or the machine was started "
    "again since), damaged or\n"
    "        poisoned, and what creators left that died. --all: those as well that everybody "
    "detached from. NAME: these,\n"
    "        whichever of the two they are. --older-than: made longer ago than so many s, m, h or "
    "d. Never one that a\n"
    "        living process is attached to, never another user's.\n"
    "\n"
    "Exit status: 0; 1 when something is not so, or could not be done; 2 for bad usage.\n";

typedef struct choices {
    bool json, no_map, lock, dry_run, all;
    const char *svg;
    int64_t older_than; /* seconds; -1: not asked */
    char **names;
    int name_count;
} choices_t;

static int complain_of(const shm_found_t *found, const char *why) {
    shm_complain(found->path, shm_state_name(found->state), why);
    return SHM_FAILED;
}

static int complain(const shm_found_t *found) {
    return complain_of(found, found->message[0] ? found->message : shm_state_text(found->state));
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

static void text_row(const shm_found_t *found) {
    shm_print_safe(stdout, found->name, 28);
    printf(" %-13s", shm_state_name(found->state));
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
    int result = SHM_DONE;
    if (choices->name_count == 0 && !shm_scan(&all, &count, &hidden)) {
        fprintf(stderr, "jalloc-shm: POSIX shared memory cannot be listed: %s\n", strerror(errno));
        return SHM_FAILED;
    }
    if (choices->name_count > 0) {
        count = (size_t)choices->name_count;
        all = calloc(count, sizeof *all);
        for (size_t i = 0; all != NULL && i < count; i++) {
            all[i] = shm_look(choices->names[i]);
            if (all[i]->state == SHM_FOREIGN || all[i]->state == SHM_MISSING)
                result = SHM_FAILED;
        }
    }
    if (all == NULL)
        count = 0;
    if (choices->json) {
        json_open(NULL, '{');
        json_open("segments", '[');
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
            fprintf(stderr, "jalloc-shm: %zu files of other users could not be looked into\n",
                    hidden);
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

static int verify(const choices_t *choices) {
    int result = SHM_DONE;
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
        shm_print_safe(stdout, found->name, 0);
        if (status == JSTATUS_SUCCESS && found->state != SHM_POISONED) {
            printf(": sound\n");
        } else {
            printf(": %s%s", found->state == SHM_POISONED ? "poisoned, " : "",
                   jstatus_text(status));
            fputs(found->message[0] ? ": " : "", stdout);
            shm_print_safe(stdout, found->message, 0);
            puts(found->state == SHM_STALE && !choices->lock
                     ? " (perhaps half a change of a process that died: --lock undoes it and looks "
                       "again)"
                     : "");
            result = SHM_FAILED;
        }
        shm_found_free(found);
    }
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
    return unlink(found->path) == 0 ? SHM_DONE : complain_of(found, strerror(errno));
}

static int clear_one(shm_found_t *found, const choices_t *choices) {
    const bool named = choices->name_count > 0;
    if (!may_go(found, choices))
        return named ? complain(found) : SHM_DONE;
    if (choices->older_than >= 0 && (int64_t)time(NULL) - found->created_at <= choices->older_than)
        return SHM_DONE;
    if (!choices->dry_run) {
        if (found->state == SHM_LEFTOVER) {
            if (remove_leftover(found) != SHM_DONE)
                return SHM_FAILED;
        } else {
            const jstatus_t status =
                jsegment_remove(found->backend, found->name, JSEGMENT_REMOVE_UNUSED);
            if (status != JSTATUS_SUCCESS)
                return complain_of(found, jstatus_last_message());
        }
    }
    fputs(choices->dry_run ? "would remove " : "removed ", stdout);
    shm_print_safe(stdout, found->name, 0);
    printf(" (%s, %s)\n", shm_state_name(found->state), shm_size_text(found->file_bytes).text);
    return SHM_DONE;
}

static int clear(const choices_t *choices) {
    int result = SHM_DONE;
    for (int i = 0; i < choices->name_count; i++) {
        shm_found_t *found = shm_look(choices->names[i]);
        if (clear_one(found, choices) != SHM_DONE)
            result = SHM_FAILED;
        shm_found_free(found);
    }
    if (choices->name_count > 0)
        return result;
    shm_found_t **all;
    size_t count, hidden;
    if (!shm_scan(&all, &count, &hidden)) {
        fprintf(stderr, "jalloc-shm: POSIX shared memory cannot be listed: %s\n", strerror(errno));
        return SHM_FAILED;
    }
    for (size_t i = 0; i < count; i++)
        if (clear_one(all[i], choices) != SHM_DONE)
            result = SHM_FAILED;
    shm_scan_free(all, count);
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

static int bad_usage(const char *format, const char *what) {
    fputs("jalloc-shm: ", stderr);
    fprintf(stderr, format, what);
    fprintf(stderr, "\n%s", usage);
    return SHM_USAGE;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name, *options; /* which of the letters below it understands */
        int (*run)(const choices_t *);
        int least, most; /* names */
    } commands[] = {{"list", "j", list, 0, 1 << 20},
                    {"show", "jms", show, 1, 1},
                    {"verify", "l", verify, 1, 1 << 20},
                    {"clear", "doa", clear, 0, 1 << 20}};
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"no-map", no_argument, NULL, 'm'},
                                            {"svg", required_argument, NULL, 's'},
                                            {"lock", no_argument, NULL, 'l'},
                                            {"dry-run", no_argument, NULL, 'd'},
                                            {"older-than", required_argument, NULL, 'o'},
                                            {"all", no_argument, NULL, 'a'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return SHM_DONE;
    }
    size_t which = 0;
    while (which < sizeof commands / sizeof commands[0] &&
           (argc < 2 || strcmp(argv[1], commands[which].name) != 0))
        which++;
    if (which == sizeof commands / sizeof commands[0])
        return argc < 2 ? bad_usage("%s is missing", "a command")
                        : bad_usage("no command '%s'", argv[1]);

    choices_t choices = {.older_than = -1};
    for (int c, index = 0; (c = getopt_long(argc - 1, argv + 1, "h", options, &index)) != -1;) {
        if (c == '?')
            return bad_usage("%s", "this cannot be understood");
        if (c == 'h') {
            fputs(usage, stdout);
            return SHM_DONE;
        }
        if (strchr(commands[which].options, c) == NULL)
            return bad_usage("'%s' has no such option", argv[1]);
        switch (c) {
        case 'j': choices.json = true; break;
        case 'm': choices.no_map = true; break;
        case 's': choices.svg = optarg; break;
        case 'l': choices.lock = true; break;
        case 'd': choices.dry_run = true; break;
        case 'a': choices.all = true; break;
        case 'o':
            choices.older_than = parse_age(optarg);
            if (choices.older_than < 0)
                return bad_usage("'%s' is no age, such as 90s, 5m, 2h or 7d", optarg);
            break;
        }
    }
    choices.names = argv + 1 + optind;
    choices.name_count = argc - 1 - optind;
    if (choices.name_count < commands[which].least || choices.name_count > commands[which].most)
        return bad_usage("'%s' wants another number of names", argv[1]);
    if (choices.all && choices.name_count > 0)
        return bad_usage("'%s --all' takes no names", argv[1]);
    const int result = commands[which].run(&choices);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("jalloc-shm: the output could not be written\n", stderr);
        return SHM_FAILED;
    }
    return result;
}
