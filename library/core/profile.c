/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The profile layer: calls, time and rungs per routine and shape.
 *
 * A hash table of entries keyed by text. Entries are bookkeeping memory and are freed when the
 * table is printed, which happens on request and when the program ends. The lock is never held
 * while memory is taken or a line is written, because both may run functions of the program's own:
 * a new entry is made outside and thrown away should another thread have been faster, and the table
 * is detached before it is printed. A child starts its profile at zero, or the parent's calls would
 * be printed twice. */

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "core/locale.h"

#define PROFILE_BUCKETS 256
#define PROFILE_RUNGS 8 /* counted apart; the last one stands for all above */

typedef struct profile_entry {
    struct profile_entry *next;
    uint64_t calls; /* 0: of the parent, before a fork; not printed */
    double total_us;
    uint64_t rung_calls[PROFILE_RUNGS];
    char key[];
} profile_entry_t;

static pthread_once_t profile_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t profile_mutex = PTHREAD_MUTEX_INITIALIZER;
static profile_entry_t *profile_table[PROFILE_BUCKETS]; /* under the mutex */

static void profile_lock(void) { pthread_mutex_lock(&profile_mutex); }
static void profile_unlock(void) { pthread_mutex_unlock(&profile_mutex); }

static void profile_in_child(void) {
    for (size_t i = 0; i < PROFILE_BUCKETS; i++)
        for (profile_entry_t *entry = profile_table[i]; entry != NULL; entry = entry->next) {
            entry->calls = 0;
            entry->total_us = 0;
            memset(entry->rung_calls, 0, sizeof entry->rung_calls);
        }

    profile_unlock();
}

static void profile_first_use(void) {
    static const ji_fork_handlers_t handlers = {profile_lock, profile_unlock, profile_in_child};
    ji_fork_hold(JI_FORK_PROFILE, &handlers);
}

/* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static size_t profile_bucket(const char *key) {
    uint32_t hash = 2166136261u;
    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    return hash % PROFILE_BUCKETS;
}

static profile_entry_t *profile_find(size_t bucket, const char *key) {
    profile_entry_t *entry = profile_table[bucket];
    while (entry != NULL && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry;
}

jstatus_t jlog_profile_add(const char *key, int rung, double microseconds) {
    JREQUIRE(key != NULL, JSTATUS_INVALID_POINTER);
    pthread_once(&profile_once, profile_first_use);
    size_t bucket = profile_bucket(key);
    profile_entry_t *fresh = NULL;

    profile_lock();
    profile_entry_t *entry = profile_find(bucket, key);
    if (entry == NULL) {
        profile_unlock();
        size_t key_bytes = strlen(key) + 1;
        fresh = ji_metadata_zalloc(sizeof *fresh + key_bytes);
        if (fresh == NULL)
            return ji_fail(JSTATUS_MEMORY_ERROR, "jlog_profile_add: no memory to count \"%.200s\"",
                           key);

        memcpy(fresh->key, key, key_bytes);

        profile_lock();
        entry = profile_find(bucket, key);
        if (entry == NULL) {
            entry = fresh;
            fresh = NULL;
            entry->next = profile_table[bucket];
            profile_table[bucket] = entry;
        }
    }

    entry->calls++;
    entry->total_us += microseconds > 0 ? microseconds : 0; /* a NaN too counts as no time */
    if (rung >= 0)
        entry->rung_calls[rung < PROFILE_RUNGS ? rung : PROFILE_RUNGS - 1]++;

    profile_unlock();
    ji_metadata_free(fresh);
    return JSTATUS_SUCCESS;
}

/* Two lists in order into one, most time first. */
static profile_entry_t *profile_merge(profile_entry_t *a, profile_entry_t *b) {
    profile_entry_t *head = NULL, **tail = &head;
    while (a != NULL && b != NULL) {
        profile_entry_t **larger = a->total_us >= b->total_us ? &a : &b;
        *tail = *larger;
        tail = &(*tail)->next;
        *larger = *tail;
    }

    *tail = a != NULL ? a : b;
    return head;
}

/* A merge sort from below needs no memory: runs[i] is empty or an ordered list of 2^i entries. */
static profile_entry_t *profile_sort(profile_entry_t *table[PROFILE_BUCKETS]) {
    profile_entry_t *runs[64] = {NULL}, *sorted = NULL;
    for (size_t i = 0; i < PROFILE_BUCKETS; i++)
        for (profile_entry_t *entry = table[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            entry->next = NULL;
            size_t run = 0;
            for (; runs[run] != NULL; run++) {
                entry = profile_merge(runs[run], entry);
                runs[run] = NULL;
            }
            runs[run] = entry;
        }

    for (size_t run = 0; run < sizeof runs / sizeof runs[0]; run++)
        sorted = profile_merge(runs[run], sorted);
    return sorted;
}

static void profile_print(const profile_entry_t *entry) {
    char rungs[PROFILE_RUNGS * 24] = "", line[1024];
    size_t used = 0;

    for (int rung = 0; rung < PROFILE_RUNGS; rung++)
        if (entry->rung_calls[rung] != 0)
            used += (size_t)snprintf(rungs + used, sizeof rungs - used, "%s%d:%" PRIu64,
                                     used > 0 ? "," : "", rung, entry->rung_calls[rung]);

    const locale_t before = ji_locale_enter();
    snprintf(line, sizeof line, "profile: %10" PRIu64 " %14.1f %12.3f  %-12s %s", entry->calls,
             entry->total_us, entry->total_us / (double)entry->calls, used > 0 ? rungs : "-",
             entry->key);
    ji_locale_leave(before);
    jlog_write_line(line);
}

void jlog_profile_flush(void) {
    profile_entry_t *table[PROFILE_BUCKETS];
    profile_lock();
    memcpy(table, profile_table, sizeof table);
    memset(profile_table, 0, sizeof profile_table);
    profile_unlock();

    bool titled = false;
    for (profile_entry_t *entry = profile_sort(table), *next; entry != NULL; entry = next) {
        next = entry->next;
        if (entry->calls > 0) {
            if (!titled)
                jlog_write_line("profile:      calls       total us      mean us  rung:calls   "
                                "routine and shape");
            titled = true;
            profile_print(entry);
        }
        ji_metadata_free(entry);
    }
}

/* When the program ends, or the library is unloaded. */
__attribute__((destructor)) static void profile_at_exit(void) { jlog_profile_flush(); }
