/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Profiles: reading one, and what it predicts.
 *
 * A profile is read as a whole, apart from the one in force, and then takes its place under a lock
 * that nothing else is done under but evaluation. What is wrong with a file is said with its line.
 * The default one is read once, by the first prediction; what it is refused for goes to the log and
 * to jprofile_get_info(), and predictions go on with the library's own rates. */

#include "program/profile.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/utsname.h>
#endif

#include "handle/handle.h"
#include "jalloc/version.h"

typedef struct profile_entry {
    const char *routine, *rung; /* within the text */
    int threads;
    double fit[JI_PROFILE_FEATURES];
    size_t first, count; /* of its points */
} profile_entry_t;

typedef struct profile {
    char *text; /* of the file, cut into words */
    char path[512];
    profile_entry_t *entries; /* in order */
    size_t entry_count;
    ji_profile_point_t *points;
    size_t point_count;
    double flops_per_second, bytes_per_second, launch_seconds; /* of what has no entry */
} profile_t;

/* What a thread of a typical machine does, where nobody has measured. */
static const profile_t own_profile = {
    .flops_per_second = 2e10, .bytes_per_second = 1e10, .launch_seconds = 1e-6};

static pthread_mutex_t profile_mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under the mutex. */
static const profile_t *profile_in_force = &own_profile;
static char profile_refused[256];

static void profile_lock(void) { pthread_mutex_lock(&profile_mutex); }
static void profile_unlock(void) { pthread_mutex_unlock(&profile_mutex); }

static void profile_free(const profile_t *profile) {
    if (profile == NULL || profile == &own_profile)
        return;
    ji_metadata_free(profile->text);
    ji_metadata_free(profile->entries);
    ji_metadata_free(profile->points);
    ji_metadata_free((void *)(uintptr_t)profile);
}

static void profile_use(const profile_t *profile, const char *refused) {
    profile_lock();
    const profile_t *before = profile_in_force;
    profile_in_force = profile != NULL ? profile : before;
    snprintf(profile_refused, sizeof profile_refused, "%s", refused);
    profile_unlock();
    if (profile != NULL)
        profile_free(before);
}

/* ---- This machine ---- */

static char processor_name[128];

static void processor_find(void) {
    jconfig_entry_t isa = JCONFIG_ENTRY_INIT;
    (void)jconfig_get(JCONFIG_JALLOC_HOST_ISA, &isa);
#if defined(__x86_64__)
    unsigned eax, words[3], unused;
    char vendor[13] = "";
    __cpuid(0, eax, words[0], words[2], words[1]);
    memcpy(vendor, words, 12);
    __cpuid(1, eax, unused, unused, unused);
    const unsigned family = (eax >> 8 & 15) + ((eax >> 8 & 15) == 15 ? eax >> 20 & 255 : 0),
                   model = (eax >> 4 & 15) | (eax >> 16 & 15) << 4;
    snprintf(processor_name, sizeof processor_name, "%s %u-%u-%u, %s", vendor, family, model,
             eax & 15, isa.value);
#else
    struct utsname name;
    snprintf(processor_name, sizeof processor_name, "%s, %s",
             uname(&name) == 0 ? name.machine : "unknown", isa.value);
#endif
}

const char *jprofile_processor(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, processor_find);
    return processor_name;
}

jstatus_t jprofile_default_path(char *path, size_t size_bytes) {
    JREQUIRE(path != NULL, JSTATUS_INVALID_POINTER);
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    char found[4096];
    int length = -1;
    if (cache != NULL && cache[0] == '/')
        length = snprintf(found, sizeof found, "%s/jalloc/profile", cache);
    else if (home != NULL && home[0] == '/')
        length = snprintf(found, sizeof found, "%s/.cache/jalloc/profile", home);
    if (length < 0)
        return ji_fail(JSTATUS_NOT_FOUND, "%s: neither XDG_CACHE_HOME nor HOME is set", __func__);
    if ((size_t)length >= sizeof found || (size_t)length >= size_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: %d characters", __func__, length);
    memcpy(path, found, (size_t)length + 1);
    return JSTATUS_SUCCESS;
}

/* ---- Reading ---- */

#define PROFILE_MAX_BYTES (64 << 20)

static jstatus_t read_text(const char *path, char **text) {
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return ji_fail(errno == ENOENT ? JSTATUS_NOT_FOUND : JSTATUS_IO_ERROR, "%s: %s", path,
                       strerror(errno));

    jstatus_t status = JSTATUS_SUCCESS;
    char *all = NULL;
    struct stat about;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
        JTRY(ji_fail(JSTATUS_IO_ERROR, "%s is no file that can be read", path));
    if (about.st_size > PROFILE_MAX_BYTES)
        JTRY(ji_fail(JSTATUS_INVALID_VALUE, "%s: so many bytes are no profile", path));
    const size_t size = (size_t)about.st_size;
    JTRY_ALLOC(all = ji_metadata_zalloc(size + 1));
    if (fread(all, 1, size, file) != size)
        JTRY(ji_fail(JSTATUS_IO_ERROR, "%s: cannot be read", path));
    *text = all;
    all = NULL;
done:
    ji_metadata_free(all);
    (void)fclose(file);
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

/* One line that says something of the whole. */
static jstatus_t read_head(reader_t *reader, profile_t *profile, const char *what, char *line) {
    double rates[3];
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
    if (strcmp(what, "rates") != 0 || !read_numbers(line, 3, rates) || rates[0] <= 0 ||
        rates[1] <= 0 || rates[2] <= 0)
        return reader_refuse(reader, "not understood");
    profile->flops_per_second = rates[0];
    profile->bytes_per_second = rates[1];
    profile->launch_seconds = rates[2];
    return JSTATUS_SUCCESS;
}

static jstatus_t read_points(reader_t *reader, profile_t *profile, profile_entry_t *entry,
                             size_t count) {
    entry->first = profile->point_count;
    for (; entry->count < count; ++entry->count) {
        double numbers[JI_PROFILE_SIZES + 1];
        char *line = reader_line(reader), *what = next_word(&line);
        bool sound = what != NULL && strcmp(what, "at") == 0 &&
                     read_numbers(line, JI_PROFILE_SIZES + 1, numbers);
        for (int i = 0; sound && i <= JI_PROFILE_SIZES; ++i)
            sound = numbers[i] >= (i < JI_PROFILE_SIZES ? 1 : 0);
        if (!sound)
            return reader_refuse(reader, "is no measurement");
        if (!make_room((void **)&profile->points, profile->point_count, sizeof *profile->points))
            return ji_fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping", reader->path);
        ji_profile_point_t *point = &profile->points[profile->point_count++];
        for (int i = 0; i < JI_PROFILE_SIZES; ++i)
            point->sizes[i] = (float)numbers[i];
        point->correction = (float)numbers[JI_PROFILE_SIZES];
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t read_entry(reader_t *reader, profile_t *profile, char *line) {
    profile_entry_t entry = {.routine = next_word(&line), .rung = next_word(&line)};
    double counts[2];
    if (entry.rung == NULL || line == NULL || !read_numbers(line, 2, counts) || counts[0] < 1 ||
        counts[0] > 1e6 || counts[1] < 0 || counts[1] > 1e6)
        return reader_refuse(reader, "is no entry");
    entry.threads = (int)counts[0];

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

static int compare_entries(const void *left, const void *right) {
    const profile_entry_t *a = left, *b = right;
    int order = strcmp(a->routine, b->routine);
    order = order != 0 ? order : strcmp(a->rung, b->rung);
    return order != 0 ? order : (a->threads > b->threads) - (a->threads < b->threads);
}

static jstatus_t read_lines(profile_t *profile) {
    reader_t reader = {.next = profile->text, .path = profile->path};
    char *line = reader_line(&reader);
    if (line == NULL || strncmp(line, "jalloc profile ", 15) != 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s is no profile", reader.path);
    if (strcmp(line, JI_PROFILE_TITLE) != 0)
        return ji_fail(JSTATUS_INCOMPATIBLE, "%s: a \"%.40s\", this library reads \"%s\"",
                       reader.path, line, JI_PROFILE_TITLE);

    int heads = 0;
    while ((line = reader_line(&reader)) != NULL) {
        const char *what = next_word(&line);
        const bool is_entry = strcmp(what, "entry") == 0;
        if (line == NULL)
            return reader_refuse(&reader, "not understood");
        JTRY_RETURN(is_entry ? read_entry(&reader, profile, line)
                             : read_head(&reader, profile, what, line));
        heads += !is_entry;
    }
    if (heads != 3)
        return reader_refuse(&reader, "ends without library, processor and rates");
    if (profile->entry_count > 0)
        qsort(profile->entries, profile->entry_count, sizeof *profile->entries, compare_entries);
    return JSTATUS_SUCCESS;
}

static jstatus_t profile_read(const char *path, const profile_t **out) {
    profile_t *profile;
    jstatus_t status = JSTATUS_SUCCESS;
    JTRY_ALLOC(profile = ji_metadata_zalloc(sizeof *profile));
    snprintf(profile->path, sizeof profile->path, "%s", path);
    JTRY(read_text(path, &profile->text));
    JTRY(read_lines(profile));
    *out = profile;
    profile = NULL;
done:
    profile_free(profile);
    return status;
}

/* ---- Which one is in force ---- */

/* The environment's, or the default one. That there is none is no reason to say anything. */
static void load_at_first(void) {
    static const ji_fork_handlers_t handlers = {profile_lock, profile_unlock, profile_unlock};
    ji_fork_hold(JI_FORK_MACHINE, &handlers);

    jconfig_entry_t named = JCONFIG_ENTRY_INIT;
    char path[4096];
    ji_message_try_t attempt;
    ji_message_try_begin(&attempt);
    (void)jconfig_get(JCONFIG_JALLOC_PROFILE, &named);
    const bool is_named = named.value[0] != '\0';
    const profile_t *profile = NULL;
    jstatus_t status = JSTATUS_NOT_FOUND;
    if (is_named && strcmp(named.value, "none") != 0)
        status = profile_read(named.value, &profile);
    else if (!is_named && jprofile_default_path(path, sizeof path) == JSTATUS_SUCCESS)
        status = profile_read(path, &profile);

    const bool refused =
        status != JSTATUS_SUCCESS && (profile == NULL) &&
        (is_named ? strcmp(named.value, "none") != 0 : status != JSTATUS_NOT_FOUND);
    if (refused)
        jlog_write(JLOG_WARNING, "jprofile", "predictions are the library's own: %s",
                   jstatus_last_message());
    profile_use(profile, refused ? jstatus_last_message() : "");
    ji_message_try_end(&attempt, true);
}

static void look_at_first(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_at_first);
}

jstatus_t jprofile_load(const char *path) {
    look_at_first();
    const profile_t *profile = &own_profile;
    if (path != NULL)
        JTRY_RETURN(profile_read(path, &profile));
    profile_use(profile, "");
    return JSTATUS_SUCCESS;
}

__attribute__((destructor)) static void profile_at_exit(void) { profile_use(&own_profile, ""); }

jstatus_t jprofile_get_info(jprofile_info_t *info) {
    JREQUIRE(info != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jprofile_info_t, info, measured));
    look_at_first();

    jprofile_info_t now = {.measured = false};
    profile_lock();
    now.measured = profile_in_force != &own_profile;
    now.flops_per_second = profile_in_force->flops_per_second;
    now.bytes_per_second = profile_in_force->bytes_per_second;
    now.entry_count = profile_in_force->entry_count;
    memcpy(now.path, profile_in_force->path, sizeof now.path);
    memcpy(now.refused, profile_refused, sizeof now.refused);
    profile_unlock();
    JI_GIVE_RESULT(info, &now);
    return JSTATUS_SUCCESS;
}

/* ---- The model ---- */

static double at_least(double number, double least) { return number > least ? number : least; }

static double size_at(const jplan_t *plan, int i) {
    const size_t sizes = plan->shape_names != NULL ? strlen(plan->shape_names) : 0;
    return (size_t)i < sizes ? (double)plan->shape[i] : 0;
}

void ji_profile_features(const jplan_t *plan, uint32_t rung, double features[JI_PROFILE_FEATURES]) {
    const jprice_t *price = ji_plan_price(plan, rung);
    int next = 0;
    features[next++] = 1;
    features[next++] = price != NULL ? price->flops * 1e-9 : 0;
    features[next++] = price != NULL ? price->moved_bytes * 1e-9 : 0;
    features[next++] = price != NULL ? price->launches * 1e-3 : 0;
    for (int i = 0; i < JI_PROFILE_SIZES; ++i)
        features[next++] = size_at(plan, i) * 1e-3;
    for (int i = 0; i < JI_PROFILE_SIZES; ++i)
        for (int j = i; j < JI_PROFILE_SIZES; ++j)
            features[next++] = size_at(plan, i) * size_at(plan, j) * 1e-6;
}

void ji_profile_sizes(const jplan_t *plan, float sizes[JI_PROFILE_SIZES]) {
    for (int i = 0; i < JI_PROFILE_SIZES; ++i)
        sizes[i] = (float)at_least(size_at(plan, i), 1);
}

/* Of two sizes: near 0 the square of their ratio's logarithm, which libjalloc, without libm, has
 * not. */
static double distance_of(double a, double b) { return a / b + b / a - 2; }

double ji_profile_correction(const ji_profile_point_t *points, size_t count,
                             const float sizes[JI_PROFILE_SIZES]) {
    const double near = 0.02, far = 0.1; /* what a point counts at once; what none counts */
    double sum = far, weights = far;
    for (size_t p = 0; p < count; ++p) {
        double distance = near;
        for (int i = 0; i < JI_PROFILE_SIZES; ++i)
            distance += distance_of((double)points[p].sizes[i], (double)sizes[i]);
        sum += (double)points[p].correction / (distance * distance);
        weights += 1 / (distance * distance);
    }
    return sum / weights;
}

/* The entry of the most threads up to `threads`; NULL: there is none. */
static const profile_entry_t *find_entry(const profile_t *profile, const char *routine,
                                         const char *rung, int threads) {
    const profile_entry_t wanted = {.routine = routine, .rung = rung, .threads = threads};
    size_t below = 0, above = profile->entry_count; /* the first that is behind lies in between */
    while (below < above) {
        const size_t middle = below + (above - below) / 2;
        if (compare_entries(&profile->entries[middle], &wanted) <= 0)
            below = middle + 1;
        else
            above = middle;
    }
    const profile_entry_t *found = below > 0 ? &profile->entries[below - 1] : NULL;
    return found != NULL && strcmp(found->routine, routine) == 0 && strcmp(found->rung, rung) == 0
               ? found
               : NULL;
}

/* By counts alone; without them rungs are in their order. */
static double predict_by_price(const profile_t *profile, const jplan_t *plan, uint32_t rung,
                               int threads) {
    const jprice_t *price = ji_plan_price(plan, rung);
    if (price == NULL)
        return profile->launch_seconds * (1 + rung);
    return price->flops / (profile->flops_per_second * threads) +
           price->moved_bytes / profile->bytes_per_second +
           at_least(price->launches, 1) * profile->launch_seconds;
}

static double predict(const profile_t *profile, const jplan_t *plan, uint32_t rung, int threads) {
    const profile_entry_t *entry =
        plan->routine != NULL ? find_entry(profile, plan->routine, plan->rungs[rung].name, threads)
                              : NULL;
    if (entry == NULL)
        return predict_by_price(profile, plan, rung, threads);

    double features[JI_PROFILE_FEATURES], seconds = 0;
    float sizes[JI_PROFILE_SIZES];
    ji_profile_features(plan, rung, features);
    ji_profile_sizes(plan, sizes);
    for (int i = 0; i < JI_PROFILE_FEATURES; ++i)
        seconds += entry->fit[i] * features[i];
    /* Nothing takes no time. */
    return at_least(seconds, 1e-9) *
           ji_profile_correction(profile->points + entry->first, entry->count, sizes);
}

double jprofile_predict(const jplan_t *plan, uint32_t rung, int threads) {
    if (plan == NULL || ji_plan_check(plan) != JSTATUS_SUCCESS || rung >= plan->rung_count)
        return NAN;
    look_at_first();
    profile_lock();
    const double seconds = predict(profile_in_force, plan, rung, threads < 1 ? 1 : threads);
    profile_unlock();
    return seconds;
}
