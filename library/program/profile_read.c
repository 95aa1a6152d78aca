/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Reading a profile's file, which program/profile.h describes. What is wrong with one is said with
 * its line, and nothing of it is kept. */

#include "program/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/locale.h"
#include "handle/handle.h"
#include "jalloc/version.h"

#define PROFILE_MAX_BYTES (64 << 20)

/* So many bytes; false: there are fewer, or they cannot be read. */
static bool read_all(int file, char *to, size_t size) {
    while (size > 0) {
        const ssize_t got = read(file, to, size);
        if (got <= 0 && (got == 0 || errno != EINTR))
            return false;
        to += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static jstatus_t read_text(const char *path, char **text) {
    /* A pipe is not waited for. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return ji_fail(errno == ENOENT ? JSTATUS_NOT_FOUND : JSTATUS_IO_ERROR, "%s: %s", path,
                       strerror(errno));

    jstatus_t status = JSTATUS_SUCCESS;
    char *all = NULL;
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        JTRY(ji_fail(JSTATUS_IO_ERROR, "%s is no file that can be read", path));
    if (about.st_size > PROFILE_MAX_BYTES)
        JTRY(ji_fail(JSTATUS_INVALID_VALUE, "%s: so many bytes are no profile", path));
    const size_t size = (size_t)about.st_size;
    JTRY_ALLOC(all = ji_metadata_zalloc(size + 1));
    if (!read_all(file, all, size))
        JTRY(ji_fail(JSTATUS_IO_ERROR, "%s: cannot be read", path));
    if (memchr(all, '\0', size) != NULL) /* lines behind it would not be seen */
        JTRY(ji_fail(JSTATUS_INVALID_VALUE, "%s is no profile: it has a zero byte", path));
    *text = all;
    all = NULL;
done:
    ji_metadata_free(all);
    (void)close(file);
    return status;
}

/* The lines of a text, each cut off with a zero byte. */
typedef struct reader {
    char *next; /* NULL: there are no more */
    size_t line;
    const char *path;
} reader_t;

static jstatus_t reader_refuse(const reader_t *reader, const char *why) {
    return ji_fail(JSTATUS_INVALID_VALUE, "%s:%zu: %s", reader->path, reader->line, why);
}

/* The next line; NULL past the last. */
static char *reader_line(reader_t *reader) {
    char *line = reader->next;
    if (line == NULL || *line == '\0')
        return NULL;
    ++reader->line;
    reader->next = strchr(line, '\n');
    if (reader->next != NULL)
        *reader->next++ = '\0';
    return line;
}

/* The next column, which is cut off; NULL past the last. */
static char *next_word(char **line) {
    char *word = *line;
    if (word == NULL)
        return NULL;
    *line = strchr(word, '\t');
    if (*line != NULL)
        *(*line)++ = '\0';
    return word;
}

/* So many finite numbers, and no more. */
static bool read_numbers(char *line, size_t count, double *numbers) {
    for (size_t i = 0; i < count; ++i) {
        char *word = next_word(&line), *end = word;
        if (word != NULL)
            numbers[i] = strtod(word, &end);
        if (end == word || *end != '\0' || !isfinite(numbers[i]))
            return false;
    }
    return line == NULL;
}

/* Makes room for one more, in steps of powers of two. */
static bool make_room(void **array, size_t count, size_t size_bytes) {
    size_t bytes;
    if (count != 0 && (count & (count - 1)) != 0)
        return true;
    if (!ji_size_mul(count == 0 ? 1 : 2 * count, size_bytes, &bytes))
        return false;
    void *larger = ji_metadata_zalloc(bytes);
    if (larger == NULL)
        return false;
    if (count > 0)
        memcpy(larger, *array, count * size_bytes);
    ji_metadata_free(*array);
    *array = larger;
    return true;
}

static const char *const heads[] = {"library", "processor", "rates", "pace"};
enum { HEADS = sizeof heads / sizeof heads[0] };

/* That each head is there once. */
static jstatus_t count_head(const reader_t *reader, const char *what, bool seen[HEADS]) {
    for (int i = 0; i < HEADS; ++i) {
        if (strcmp(what, heads[i]) != 0)
            continue;
        if (seen[i])
            return ji_fail(JSTATUS_INVALID_VALUE, "%s:%zu: %s is there twice", reader->path,
                           reader->line, what);
        seen[i] = true;
    }
    return JSTATUS_SUCCESS;
}

/* One line that says something of the whole. Nothing here is computed from the pace. */
static jstatus_t read_head(reader_t *reader, ji_profile_t *profile, const char *what, char *line) {
    double rates[3], pace;
    if (strcmp(what, "library") == 0)
        return strcmp(line, jalloc_version_string()) == 0
                   ? JSTATUS_SUCCESS
                   : ji_fail(JSTATUS_INCOMPATIBLE, "%s: measured with jalloc %s, this is %s",
                             reader->path, line, jalloc_version_string());
    if (strcmp(what, "processor") == 0)
        return strcmp(line, jprofile_processor()) == 0
                   ? JSTATUS_SUCCESS
                   : ji_fail(JSTATUS_INCOMPATIBLE, "%s: measured on %s, this is %s", reader->path,
                             line, jprofile_processor());
    if (strcmp(what, "pace") == 0)
        return read_numbers(line, 1, &pace) && pace > 0 ? JSTATUS_SUCCESS
                                                        : reader_refuse(reader, "not understood");
    if (strcmp(what, "rates") != 0 || !read_numbers(line, 3, rates) || rates[0] <= 0 ||
        rates[1] <= 0 || rates[2] <= 0)
        return reader_refuse(reader, "not understood");
    profile->flops_per_second = rates[0];
    profile->bytes_per_second = rates[1];
    profile->launch_seconds = rates[2];
    return JSTATUS_SUCCESS;
}

static jstatus_t read_points(reader_t *reader, ji_profile_t *profile, ji_profile_entry_t *entry,
                             size_t count) {
    entry->first = profile->point_count;
    for (; entry->count < count; ++entry->count) {
        double numbers[JI_PROFILE_SIZES + 1];
        char *line = reader_line(reader), *what = next_word(&line);
        bool sound = what != NULL && strcmp(what, "at") == 0 &&
                     read_numbers(line, JI_PROFILE_SIZES + 1, numbers);
        float sizes[JI_PROFILE_SIZES];
        for (int i = 0; sound && i < JI_PROFILE_SIZES; ++i) {
            sound = numbers[i] >= 1;
            sizes[i] = (float)numbers[i];
        }
        if (!sound)
            return reader_refuse(reader, "is no measurement");
        if (!make_room((void **)&profile->points, profile->point_count, sizeof *profile->points))
            return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", reader->path);
        ji_profile_point_t *point = &profile->points[profile->point_count++];
        ji_profile_place(sizes, point->place);
        point->weight = (float)numbers[JI_PROFILE_SIZES];
    }
    return JSTATUS_SUCCESS;
}

/* All of a key but the threads; a rung of NULL: it is none. */
static ji_profile_key_t read_key(char **line) {
    ji_profile_key_t key = {.routine = next_word(line)};
    key.rung = next_word(line);
    return key;
}

static jstatus_t read_entry(reader_t *reader, ji_profile_t *profile, char *line) {
    ji_profile_entry_t entry = {.key = read_key(&line)};
    double counts[2];
    if (entry.key.rung == NULL || line == NULL || !read_numbers(line, 2, counts) || counts[0] < 1 ||
        counts[0] > 1e6 || counts[1] < 0 || counts[1] > 1e6)
        return reader_refuse(reader, "is no entry");
    entry.key.threads = (int)counts[0];

    char *fit = reader_line(reader), *what = next_word(&fit);
    bool sound = what != NULL && strcmp(what, "fit") == 0 &&
                 read_numbers(fit, JI_PROFILE_FEATURES, entry.fit);
    for (int i = 0; sound && i < JI_PROFILE_FEATURES; ++i)
        sound = entry.fit[i] >= 0;
    if (!sound)
        return reader_refuse(reader, "is no fit");
    JTRY_RETURN(read_points(reader, profile, &entry, (size_t)counts[1]));
    if (!make_room((void **)&profile->entries, profile->entry_count, sizeof entry))
        return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", reader->path);
    profile->entries[profile->entry_count++] = entry;
    return JSTATUS_SUCCESS;
}

static int compare_keys(const ji_profile_key_t *a, const ji_profile_key_t *b) {
    int order = strcmp(a->routine, b->routine);
    order = order != 0 ? order : strcmp(a->rung, b->rung);
    return order != 0 ? order : (a->threads > b->threads) - (a->threads < b->threads);
}

int ji_profile_compare_entries(const void *left, const void *right) {
    const ji_profile_entry_t *a = left, *b = right;
    return compare_keys(&a->key, &b->key);
}

/* Columns of a call behind its name. */
static jstatus_t read_call(reader_t *reader, ji_profile_t *profile, char *line) {
    ji_profile_call_t call = {.key = read_key(&line)};
    double numbers[1 + JI_PROFILE_SIZES + 1];
    bool sound = call.key.rung != NULL && line != NULL &&
                 read_numbers(line, sizeof numbers / sizeof *numbers, numbers);
    for (int i = 0; sound && i <= JI_PROFILE_SIZES; ++i)
        sound = numbers[i] >= 1 && numbers[i] < 1e30;
    if (!sound || numbers[0] > 1e6 || numbers[JI_PROFILE_SIZES + 1] <= 0)
        return reader_refuse(reader, "is no call");
    call.key.threads = (int)numbers[0];
    for (int i = 0; i < JI_PROFILE_SIZES; ++i)
        call.sizes[i] = (float)numbers[i + 1];
    call.seconds = numbers[JI_PROFILE_SIZES + 1];
    if (!make_room((void **)&profile->calls, profile->call_count, sizeof call))
        return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", reader->path);
    profile->calls[profile->call_count++] = call;
    return JSTATUS_SUCCESS;
}

int ji_profile_compare_calls(const void *left, const void *right) {
    const ji_profile_call_t *a = left, *b = right;
    int order = compare_keys(&a->key, &b->key);
    for (int i = 0; i < JI_PROFILE_SIZES && order == 0; ++i)
        order = (a->sizes[i] > b->sizes[i]) - (a->sizes[i] < b->sizes[i]);
    return order;
}

static jstatus_t read_lines(ji_profile_t *profile) {
    reader_t reader = {.next = profile->text, .path = profile->path};
    char *line = reader_line(&reader);
    if (line == NULL || strncmp(line, "jalloc profile ", 15) != 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s is no profile", reader.path);
    if (strcmp(line, JI_PROFILE_TITLE) != 0)
        return ji_fail(JSTATUS_INCOMPATIBLE, "%s: a \"%.40s\", this library reads \"%s\"",
                       reader.path, line, JI_PROFILE_TITLE);

    bool seen[HEADS] = {false};
    while ((line = reader_line(&reader)) != NULL) {
        const char *what = next_word(&line);
        const bool is_entry = strcmp(what, "entry") == 0, is_call = strcmp(what, "call") == 0;
        if (line == NULL)
            return reader_refuse(&reader, "not understood");
        JTRY_RETURN(count_head(&reader, what, seen));
        JTRY_RETURN(is_entry  ? read_entry(&reader, profile, line)
                    : is_call ? read_call(&reader, profile, line)
                              : read_head(&reader, profile, what, line));
    }
    if (reader.next == NULL) /* the number that it ends with could be another one */
        return reader_refuse(&reader, "has no end");
    if (!(seen[0] && seen[1] && seen[2] && seen[3]))
        return reader_refuse(&reader, "ends without library, processor, rates and pace");
    if (profile->entry_count > 0)
        qsort(profile->entries, profile->entry_count, sizeof *profile->entries,
              ji_profile_compare_entries);
    if (profile->call_count > 0)
        qsort(profile->calls, profile->call_count, sizeof *profile->calls,
              ji_profile_compare_calls);
    return JSTATUS_SUCCESS;
}

void ji_profile_free(const ji_profile_t *profile) {
    if (profile == NULL)
        return;
    ji_metadata_free(profile->text);
    ji_metadata_free(profile->entries);
    ji_metadata_free(profile->points);
    ji_metadata_free(profile->calls);
    ji_metadata_free((void *)(uintptr_t)profile);
}

jstatus_t ji_profile_read(const char *path, const ji_profile_t **out) {
    ji_profile_t *profile;
    jstatus_t status = JSTATUS_SUCCESS;
    JTRY_ALLOC(profile = ji_metadata_zalloc(sizeof *profile));
    snprintf(profile->path, sizeof profile->path, "%s", path);
    JTRY(read_text(path, &profile->text));
    const locale_t before = ji_locale_enter();
    const jstatus_t read = read_lines(profile);
    ji_locale_leave(before);
    JTRY(read);
    *out = profile;
    profile = NULL;
done:
    ji_profile_free(profile);
    return status;
}
