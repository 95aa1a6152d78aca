/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Profiles: which one is in force, and what it predicts.
 *
 * A profile is read as a whole, apart from the one in force, and then takes its place under a lock
 * that nothing else is done under but evaluation. The default one is read once, by the first
 * prediction; what it is refused for goes to the log and to jprofile_get_info(), and predictions go
 * on with the library's own rates. */

#include "program/profile.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/utsname.h>
#endif

#include "handle/handle.h"

/* What a thread of a typical machine does, where nobody has measured. */
static const ji_profile_t own_profile = {
    .flops_per_second = 2e10, .bytes_per_second = 1e10, .launch_seconds = 1e-6};

static pthread_mutex_t profile_mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under the mutex. */
static const ji_profile_t *profile_in_force = &own_profile;
static char profile_refused[256];

static void profile_lock(void) { pthread_mutex_lock(&profile_mutex); }
static void profile_unlock(void) { pthread_mutex_unlock(&profile_mutex); }

static void profile_use(const ji_profile_t *profile, const char *refused) {
    profile_lock();
    const ji_profile_t *before = profile_in_force;
    profile_in_force = profile != NULL ? profile : before;
    snprintf(profile_refused, sizeof profile_refused, "%s", refused);
    profile_unlock();
    if (profile != NULL && before != &own_profile)
        ji_profile_free(before);
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
    const ji_profile_t *profile = NULL;
    jstatus_t status = JSTATUS_NOT_FOUND;
    if (is_named && strcmp(named.value, "none") != 0)
        status = ji_profile_read(named.value, &profile);
    else if (!is_named && jprofile_default_path(path, sizeof path) == JSTATUS_SUCCESS)
        status = ji_profile_read(path, &profile);

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
    const ji_profile_t *profile = &own_profile;
    if (path != NULL)
        JTRY_RETURN(ji_profile_read(path, &profile));
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
    now.call_count = profile_in_force->call_count;
    memcpy(now.path, profile_in_force->path, sizeof now.path);
    memcpy(now.refused, profile_refused, sizeof now.refused);
    profile_unlock();
    JI_GIVE_RESULT(info, &now);
    return JSTATUS_SUCCESS;
}

/* ---- The model ---- */

static double at_least(double number, double least) { return number > least ? number : least; }

enum { PLAN_SIZES = JI_PROFILE_SIZES - 1 };

static double size_at(const jplan_t *plan, int i) {
    const size_t sizes = plan->shape_names != NULL ? strlen(plan->shape_names) : 0;
    return (size_t)i < sizes ? (double)plan->shape[i] : 0;
}

void ji_profile_features(const jplan_t *plan, uint32_t rung, double features[JI_PROFILE_FEATURES]) {
    const jprice_t *told = ji_plan_price(plan, rung);
    const jprice_t price = told != NULL ? *told : (jprice_t){.flops = 0};
    features[0] = 1;
    features[1] = price.flops * 1e-9;
    features[2] = price.moved_bytes * 1e-9;
    features[3] = price.launches * 1e-3;
    for (int i = 0; i < PLAN_SIZES; ++i) {
        const double size = size_at(plan, i);
        features[4 + i] = size * 1e-3;
        features[4 + PLAN_SIZES + i] = size > 0 ? price.flops / size * 1e-6 : 0;
    }
}

void ji_profile_sizes(const jplan_t *plan, uint32_t rung, float sizes[JI_PROFILE_SIZES]) {
    const jprice_t *price = ji_plan_price(plan, rung);
    for (int i = 0; i < PLAN_SIZES; ++i)
        sizes[i] = (float)at_least(size_at(plan, i), 1);
    sizes[PLAN_SIZES] = (float)at_least(price != NULL ? price->flops : 0, 1);
}

/* The logarithm to the base 2 and a constant, to 0.09: a float's bits are its exponent and, as if
 * it went on in a straight line, its fraction. libjalloc has no libm. */
static float rough_log2(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (float)bits / (1 << 23);
}

/* Sizes of which one is 2^5 times the other are far apart, flops are where 2^8 times. */
void ji_profile_place(const float sizes[JI_PROFILE_SIZES], float place[JI_PROFILE_PLACES]) {
    for (int i = 0; i < PLAN_SIZES; ++i)
        place[i] = rough_log2(sizes[i]) / 5;
    place[PLAN_SIZES] = rough_log2(sizes[PLAN_SIZES]) / 8;
    /* A product by a symmetric matrix has its order as the third size. */
    place[PLAN_SIZES + 1] = sizes[0] == sizes[2] ? 0.5f : 0;
}

double ji_profile_alike(const float a[JI_PROFILE_PLACES], const float b[JI_PROFILE_PLACES]) {
    double squares = 0;
    for (int i = 0; i < JI_PROFILE_PLACES; ++i) {
        const double apart = (double)a[i] - (double)b[i];
        squares += apart * apart;
    }
    return 1 / (1 + squares);
}

static double correction_of(const ji_profile_point_t *points, size_t count,
                            const float sizes[JI_PROFILE_SIZES]) {
    float place[JI_PROFILE_PLACES];
    double correction = 1;
    ji_profile_place(sizes, place);
    for (size_t p = 0; p < count; ++p)
        correction += (double)points[p].weight * ji_profile_alike(points[p].place, place);
    return at_least(correction, 0.1); /* weights of a damaged file may be anything */
}

/* The entry of the most threads up to `threads`; NULL: there is none. */
static const ji_profile_entry_t *find_entry(const ji_profile_t *profile, const char *routine,
                                            const char *rung, int threads) {
    const ji_profile_entry_t wanted = {.key = {routine, rung, threads}};
    size_t below = 0, above = profile->entry_count; /* the first that is behind lies in between */
    while (below < above) {
        const size_t middle = below + (above - below) / 2;
        if (ji_profile_compare_entries(&profile->entries[middle], &wanted) <= 0)
            below = middle + 1;
        else
            above = middle;
    }
    const ji_profile_entry_t *found = below > 0 ? &profile->entries[below - 1] : NULL;
    return found != NULL && strcmp(found->key.routine, routine) == 0 &&
                   strcmp(found->key.rung, rung) == 0
               ? found
               : NULL;
}

/* By counts alone; without them rungs are in their order. */
static double predict_by_price(const ji_profile_t *profile, const jplan_t *plan, uint32_t rung,
                               int threads) {
    const jprice_t *price = ji_plan_price(plan, rung);
    if (price == NULL)
        return profile->launch_seconds * (1 + rung);
    return price->flops / (profile->flops_per_second * threads) +
           price->moved_bytes / profile->bytes_per_second +
           at_least(price->launches, 1) * profile->launch_seconds;
}

/* The call itself, where it was measured; NULL: it was not. */
static const ji_profile_call_t *find_call(const ji_profile_t *profile, const jplan_t *plan,
                                          uint32_t rung, int threads) {
    ji_profile_call_t wanted = {.key = {plan->routine, plan->rungs[rung].name, threads}};
    if (profile->call_count == 0)
        return NULL;
    ji_profile_sizes(plan, rung, wanted.sizes);
    return bsearch(&wanted, profile->calls, profile->call_count, sizeof *profile->calls,
                   ji_profile_compare_calls);
}

static double predict(const ji_profile_t *profile, const jplan_t *plan, uint32_t rung,
                      int threads) {
    if (plan->routine == NULL)
        return predict_by_price(profile, plan, rung, threads);
    const ji_profile_call_t *call = find_call(profile, plan, rung, threads);
    if (call != NULL)
        return call->seconds;
    const ji_profile_entry_t *entry =
        find_entry(profile, plan->routine, plan->rungs[rung].name, threads);
    if (entry == NULL)
        return predict_by_price(profile, plan, rung, threads);

    double features[JI_PROFILE_FEATURES], seconds = 0;
    float sizes[JI_PROFILE_SIZES];
    ji_profile_features(plan, rung, features);
    ji_profile_sizes(plan, rung, sizes);
    for (int i = 0; i < JI_PROFILE_FEATURES; ++i)
        seconds += entry->fit[i] * features[i];
    /* Nothing takes no time. */
    return at_least(seconds, 1e-9) *
           correction_of(profile->points + entry->first, entry->count, sizes);
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
