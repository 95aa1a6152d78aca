/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What there is, and in which state.
 *
 * A segment is looked at through a read-only attachment, which takes no slot and changes nothing.
 * What the library refuses to attach to is told apart by its status; among POSIX shared memory a
 * file is shown only if it begins with a segment's magic, so that other programs' files are left
 * alone. Files are opened without following links and without waiting for a reader or writer at the
 * other end of a pipe. */

#include "shm.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/dev/shm"
#define MAGIC "jallocSG"
/* A look must not hang on a segment whose lock is held; there is nothing that it has to wait
 * for. */
#define PATIENCE_MS 2000
/* A creator in another pid namespace looks dead, and for a moment holds no lock yet. */
#define MAKING_S 60
/* A look takes less than this, a change much less; in all an eighth of a second. */
#define ATTEMPTS 10
#define FIRST_PAUSE_US 2000u

static const struct {
    const char *name, *text;
} states[SHM_STATES] = {
    [SHM_IN_USE] = {"in use", "living processes are attached"},
    [SHM_IDLE] = {"idle", "everybody has detached; what was given to the segment is in it"},
    [SHM_STALE] = {"stale", "whoever was attached died"},
    [SHM_POISONED] = {"poisoned", "it was found damaged while it was in use"},
    [SHM_DAMAGED] = {"damaged", "its beginning or its length is not that of a segment"},
    [SHM_FORMAT] = {"incompatible", "of another layout, byte order or page size"},
    [SHM_UNSAFE] = {"unsafe", "of another user, or others could write to it"},
    [SHM_UNREADABLE] = {"unreadable", "the system does not let it be read"},
    [SHM_MAKING] = {"being made", "the temporary name of one whose creator is at work"},
    [SHM_LEFTOVER] = {"leftover", "the temporary name of one whose creator died"},
    [SHM_FOREIGN] = {"not a segment", "not one of ours"},
    [SHM_MISSING] = {"missing", "there is no such name"},
};

const char *shm_state_name(shm_state_t state) { return states[state].name; }
const char *shm_state_text(shm_state_t state) { return states[state].text; }

static void no_memory(void) {
    fputs("jalloc-shm: no memory\n", stderr);
    exit(TOOL_FAILED);
}

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        no_memory();
    return memory;
}

static char *join(const char *a, const char *b) {
    const size_t bytes = strlen(a) + strlen(b) + 1;
    char *joined = allocate(bytes);
    snprintf(joined, bytes, "%s%s", a, b);
    return joined;
}

/* A temporary name is ".NAME.jalloc-PID-RANDOM"; gives the creator. */
static bool is_temporary(const char *path, pid_t *creator) {
    const char *name = strrchr(path, '/'), *mark = NULL;
    name = name ? name + 1 : path;
    for (const char *next = name; (next = strstr(next, ".jalloc-")) != NULL; next++)
        mark = next;
    if (*name != '.' || mark == NULL || mark == name)
        return false;
    char *end;
    errno = 0;
    const char *digits = mark + strlen(".jalloc-");
    const long pid = strtol(digits, &end, 10);
    if (!isdigit((unsigned char)*digits) || errno != 0 || pid <= 0 || *end != '-')
        return false;
    const char *random = end + 1;
    if (*random == '\0' || random[strspn(random, "0123456789abcdefABCDEF")] != '\0')
        return false;
    *creator = (pid_t)pid;
    return true;
}

bool shm_is_locked(const char *path) {
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return true;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const bool locked = fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
    close(descriptor);
    return locked;
}

/* Whether it begins as a segment does; `hidden`: it could not be read. */
static bool has_magic(const char *path, bool *hidden) {
    char magic[sizeof MAGIC - 1] = {0};
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *hidden = descriptor < 0 && errno == EACCES;
    if (descriptor < 0)
        return false;
    struct stat about;
    const bool found = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                       pread(descriptor, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                       memcmp(magic, MAGIC, sizeof magic) == 0;
    close(descriptor);
    return found;
}

static shm_state_t state_of(jstatus_t status) {
    switch (status) {
    case JSTATUS_NOT_FOUND: return SHM_MISSING;
    case JSTATUS_NOT_A_SEGMENT: return SHM_FOREIGN;
    case JSTATUS_UNSAFE: return SHM_UNSAFE;
    case JSTATUS_INCOMPATIBLE: return SHM_FORMAT;
    case JSTATUS_STALE: return SHM_STALE;
    case JSTATUS_TRUNCATED:
    case JSTATUS_CORRUPTED: return SHM_DAMAGED;
    default: return SHM_UNREADABLE;
    }
}

bool shm_again(jstatus_t status, int *attempt) {
    if (status != JSTATUS_CORRUPTED || *attempt == ATTEMPTS)
        return false;
    usleep(FIRST_PAUSE_US << *attempt / 2);
    ++*attempt;
    return true;
}

jstatus_t shm_get_process(jsegment_t *segment, unsigned slot, jsegment_process_t *process) {
    jstatus_t status;
    int attempt = 0;
    do
        status = jsegment_get_process(segment, slot, process);
    while (shm_again(status, &attempt));
    return status;
}

/* Where a change is half done, a slot that is taken cannot be described, but whether anybody lives
 * can be told. */
static void count_processes(shm_found_t *found) {
    for (unsigned slot = 1; slot <= JSEGMENT_MAX_PROCESSES; slot++) {
        jsegment_process_t process = JSEGMENT_PROCESS_INIT;
        const jstatus_t status = found->has_stats
                                     ? shm_get_process(found->segment, slot, &process)
                                     : jsegment_get_process(found->segment, slot, &process);
        if (status == JSTATUS_INVALID_VALUE)
            break;
        if (status == JSTATUS_SUCCESS ? process.attached : !found->has_stats)
            *(process.alive || (status != JSTATUS_SUCCESS && shm_is_locked(found->path))
                  ? &found->alive
                  : &found->dead) += 1;
    }
}

static void look_inside(shm_found_t *found) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = found->backend;
    options.name = found->name;
    options.read_only = true;
    options.timeout_ms = PATIENCE_MS;
    found->status = jsegment_attach(&options, &found->segment);
    if (found->status != JSTATUS_SUCCESS) {
        snprintf(found->message, sizeof found->message, "%s", jstatus_last_message());
        found->segment = NULL;
        found->state = state_of(found->status);
        return;
    }
    jstatus_t status;
    int attempt = 0;
    found->stats = (jsegment_stats_t)JSEGMENT_STATS_INIT;
    do
        status = jsegment_get_stats(found->segment, &found->stats);
    while (shm_again(status, &attempt));
    found->has_stats = status == JSTATUS_SUCCESS;
    if (!found->has_stats) {
        found->status = status;
        snprintf(found->message, sizeof found->message, "%s", jstatus_last_message());
    }
    count_processes(found);
    found->state = found->has_stats && found->stats.poisoned ? SHM_POISONED
                   : found->alive > 0                        ? SHM_IN_USE
                   : found->dead > 0                         ? SHM_STALE
                   : found->has_stats                        ? SHM_IDLE
                                                             : SHM_DAMAGED;
}

static void look_outside(shm_found_t *found) {
    struct stat about;
    if (lstat(found->path, &about) != 0)
        return;
    found->file_bytes = (size_t)about.st_size;
    found->owner = about.st_uid;
    found->changed_at = about.st_mtime;
    found->created_at = about.st_mtime;
#ifdef STATX_BTIME /* musl has it from 1.2.5 */
    struct statx birth;
    if (statx(AT_FDCWD, found->path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &birth) == 0 &&
        birth.stx_mask & STATX_BTIME)
        found->created_at = birth.stx_btime.tv_sec;
#endif
}

static shm_found_t *look(jsegment_backend_t backend, char *name, char *path) {
    shm_found_t *found = allocate(sizeof *found);
    found->backend = backend;
    found->name = name;
    found->path = path;
    look_outside(found);
    look_inside(found);
    pid_t creator;
    if (found->state != SHM_MISSING && is_temporary(path, &creator)) {
        const bool alive = kill(creator, 0) == 0 || errno != ESRCH;
        const bool recent = (int64_t)time(NULL) - found->changed_at < MAKING_S;
        found->state = alive || recent || shm_is_locked(path) ? SHM_MAKING : SHM_LEFTOVER;
    }
    return found;
}

shm_found_t *shm_look(const char *argument) {
    const char *name = argument;
    if (strncmp(name, FOLDER "/", strlen(FOLDER "/")) == 0 &&
        strchr(name + strlen(FOLDER "/"), '/') == NULL)
        name += strlen(FOLDER);
    if (strrchr(name, '/') > name)
        return look(JSEGMENT_FILE, join(name, ""), join(name, ""));
    char *posix = join(*name == '/' ? "" : "/", name);
    return look(JSEGMENT_POSIX, posix, join(FOLDER, posix));
}

void shm_found_free(shm_found_t *found) {
    if (found == NULL)
        return;
    (void)jsegment_detach(found->segment);
    free(found->name);
    free(found->path);
    free(found);
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(shm_found_t *const *)a)->name, (*(shm_found_t *const *)b)->name);
}

bool shm_scan(shm_found_t ***all, size_t *count, size_t *hidden) {
    *all = NULL;
    *count = *hidden = 0;
    DIR *folder = opendir(FOLDER);
    if (folder == NULL)
        return false;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t creator;
        char *path = join(FOLDER "/", entry->d_name);
        bool unreadable = false;
        struct stat about;
        /* A leftover may have been abandoned before its magic was written. */
        const bool ours = is_temporary(path, &creator)
                              ? lstat(path, &about) == 0 && S_ISREG(about.st_mode)
                              : has_magic(path, &unreadable);
        free(path);
        *hidden += unreadable;
        if (!ours)
            continue;
        shm_found_t **more = realloc(*all, (*count + 1) * sizeof **all);
        if (more == NULL)
            no_memory();
        *all = more;
        more[(*count)++] = shm_look(entry->d_name);
    }
    closedir(folder);
    if (*count > 0)
        qsort(*all, *count, sizeof **all, by_name);
    return true;
}

void shm_scan_free(shm_found_t **all, size_t count) {
    for (size_t i = 0; i < count; i++)
        shm_found_free(all[i]);
    free(all);
}
