/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the environment says allocators are made of, and the process's own.
 *
 * JALLOC_ALLOCATOR is one composition for all devices, or one for each that it names:
 *
 *     general;cuda:0=bfc(limit=2GiB);host=malloc+guard
 *
 * A ';' or '=' inside parentheses belongs to the composition. One that begins with a device is that
 * device's: "cuda:0+bfc" is "cuda:0=bfc". Handles and the process's allocators are made from the
 * same text; where memory of a special kind is wanted (a NUMA node's, pinned, managed), the
 * provider that the text begins with gives way to the one of that memory.
 *
 * The process's allocators are in a list by what they are for. One is made without a lock, which a
 * composition may take its time for; who comes second with the same throws its own away. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "jalloc/process.h"
#include "jalloc/provider.h"
#include "memory/compose/compose.h"
#include "memory/refuse.h"

/* ---- The environment's compositions ---- */

#define PROCESS_EXAMPLE "general;cuda:0=bfc(limit=2GiB)"

/* The first of `wanted` that is outside of parentheses, or the end. */
static const char *process_find(const char *text, const char *end, const char *wanted) {
    for (int depth = 0; text < end; ++text) {
        depth += (*text == '(') - (*text == ')');
        if (depth == 0 && strchr(wanted, *text) != NULL)
            break;
    }
    return text;
}

typedef struct process_clause {
    char device[JI_DEVICE_NAME_BYTES]; /* "": all devices */
    const char *begin, *end;           /* the composition */
} process_clause_t;

/* Takes the clause at *cursor, which then is at the next one, or NULL behind the last. False where
 * it names no device, or two. */
static bool process_next_clause(const char **cursor, process_clause_t *clause) {
    const char *end = *cursor + strlen(*cursor);
    clause->device[0] = '\0';

    clause->begin = *cursor;
    clause->end = process_find(*cursor, end, ";");
    *cursor = *clause->end == ';' ? clause->end + 1 : NULL;

    const char *equals = process_find(clause->begin, clause->end, "=");
    int kind, index;
    if (equals != clause->end) {
        if (!ji_config_device_name(clause->begin, (size_t)(equals - clause->begin), clause->device,
                                   &kind, &index))
            return false;
        clause->begin = equals + 1;
    }

    char begins[JI_DEVICE_NAME_BYTES];
    if (!ji_compose_get_device(clause->begin, (size_t)(clause->end - clause->begin), begins))
        return true;

    if (equals != clause->end)
        return strcmp(begins, clause->device) == 0;

    memcpy(clause->device, begins, sizeof begins);
    return true;
}

/* The clause for a device: its own, or the one for all. A device is named once, and the one for all
 * comes first. False where the text is not so. An empty clause is none. */
static bool process_choose_clause(const char *text, const char *device_name,
                                  process_clause_t *chosen) {
    *chosen = (process_clause_t){"", text, text};
    bool first = true;

    for (const char *cursor = text; cursor != NULL; first = false) {
        const char *begin = cursor;
        process_clause_t clause, earlier;

        if (!process_next_clause(&cursor, &clause) || (clause.device[0] == '\0' && !first) ||
            (clause.device[0] != '\0' && clause.begin == clause.end))
            return false;

        for (const char *before = text; before != begin;) {
            (void)process_next_clause(&before, &earlier);
            if (strcmp(earlier.device, clause.device) == 0)
                return false;
        }

        if (clause.device[0] == '\0' || strcmp(clause.device, device_name) == 0)
            *chosen = clause;
    }

    return true;
}

/* The clause's composition; false where it is too long. */
static bool process_copy_clause(const process_clause_t *clause,
                                char text[JI_PROCESS_MAX_TEXT + 1]) {
    size_t length = (size_t)(clause->end - clause->begin);
    if (length > JI_PROCESS_MAX_TEXT)
        return false;

    memcpy(text, clause->begin, length);
    text[length] = '\0';
    return true;
}

jstatus_t ji_process_choose(const jdevice_t *device, const char *text,
                            char composition[JI_PROCESS_MAX_TEXT + 1]) {
    process_clause_t clause;
    if (!process_choose_clause(text, jdevice_name(device), &clause) ||
        !process_copy_clause(&clause, composition))
        return ji_fail(JSTATUS_INVALID_CONFIGURATION,
                       "composition \"%.200s\": expected COMPOSITION[;DEVICE=COMPOSITION]..., such "
                       "as " PROCESS_EXAMPLE,
                       text);

    if (composition[0] == '\0')
        return ji_fail(JSTATUS_INVALID_CONFIGURATION, "composition \"%.200s\" has none for %s",
                       text, jdevice_name(device));

    return JSTATUS_SUCCESS;
}

bool ji_process_is_by_device(const char *text) {
    const char *end = text + strlen(text);
    return process_find(text, end, ";=") != end;
}

/* Whether the whole text can be understood, the clauses for other devices too. Nothing is made. */
static jstatus_t process_check_text(const char *text) {
    process_clause_t clause;
    char composition[JI_PROCESS_MAX_TEXT + 1];
    bool is_valid = process_choose_clause(text, "", &clause);

    for (const char *cursor = text; cursor != NULL && is_valid;) {
        (void)process_next_clause(&cursor, &clause); /* each was looked at */
        is_valid = process_copy_clause(&clause, composition);
        JTRY_RETURN(is_valid && composition[0] != '\0' ? ji_compose_check(composition)
                                                       : JSTATUS_SUCCESS);
    }

    return is_valid
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_INVALID_CONFIGURATION,
                         "expected COMPOSITION[;DEVICE=COMPOSITION]..., such as " PROCESS_EXAMPLE);
}
__attribute__((constructor)) static void process_at_load(void) {
    ji_config_check_composition = process_check_text;
}

/* Puts another provider under a composition. */
static void process_replace_provider(const char *provider, const char *text, char *replaced,
                                     size_t bytes) {
    const char *end = text + strlen(text);
    if (ji_compose_begins_with_provider(text)) {
        const char *plus = process_find(text, end, "+");
        text = plus < end ? plus + 1 : end;
    }

    snprintf(replaced, bytes, "%s%s%s", provider, *text != '\0' ? "+" : "", text);
}

jstatus_t ji_process_compose(jdevice_t *device, const char *provider, const char *fallback,
                             jallocator_t **allocator) {
    jconfig_entry_t entry;
    JTRY_RETURN(ji_config_require(JCONFIG_JALLOC_ALLOCATOR, &entry));

    /* The text was understood. */
    process_clause_t clause;
    (void)process_choose_clause(entry.value, jdevice_name(device), &clause);

    bool is_given = clause.begin != clause.end;
    if (!is_given && fallback == NULL) {
        *allocator = NULL;
        return JSTATUS_SUCCESS;
    }

    char text[JI_PROCESS_MAX_TEXT + 1], replaced[JI_PROCESS_MAX_TEXT + 64];
    text[0] = '\0';
    if (is_given)
        (void)process_copy_clause(&clause, text); /* it was read, so there is room */
    else
        snprintf(text, sizeof text, "%s", fallback);
    if (provider != NULL)
        process_replace_provider(provider, text, replaced, sizeof replaced);

    jstatus_t status = jallocator_compose(device, provider != NULL ? replaced : text, allocator);
    if (status == JSTATUS_SUCCESS || !is_given)
        return status;

    /* Whatever the text asks for that cannot be is an error in the text. */
    if (status == JSTATUS_INVALID_VALUE || status == JSTATUS_INVALID_SIZE)
        status = JSTATUS_INVALID_CONFIGURATION;
    return ji_fail(status, "%s=\"%.200s\": %s", entry.name, entry.value, jstatus_last_message());
}

/* ---- The process's allocators ---- */

/* What an allocator is for. */
typedef struct process_memory {
    jdevice_t *device; /* whose runtime has it */
    jmemory_kind_t kind;
    int numa_node; /* -1: any */
    bool mapped;   /* from the system itself, whatever the text says: ji_process_get_mapped() */
} process_memory_t;

typedef struct process_entry {
    process_memory_t memory;
    jallocator_t *allocator;
    bool is_programs; /* set by the program, who made it and destroys it */
    struct process_entry *next;
} process_entry_t;

static ji_lock_t process_lock;
static process_entry_t *process_entries; /* under the lock */
/* Whose pinned memory is "GPU compatible"; the host: there is no GPU; NULL: not looked for yet.
 * Under the lock. */
static jdevice_t *process_gpu;

static void process_start(void) { ji_lock_init(&process_lock); }
static void process_enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, process_start);
    ji_lock_acquire(&process_lock);
}
static void process_leave(void) { ji_lock_release(&process_lock); }

/* The device whose pinned memory a GPU reads: the first GPU, or the host where there is none.
 * Looked for once, so that equal requests stay equal. */
static jdevice_t *process_get_gpu(void) {
    process_enter();
    jdevice_t *gpu = process_gpu;
    process_leave();

    if (gpu != NULL)
        return gpu;
    if (jdevice_get("cuda", &gpu) != JSTATUS_SUCCESS && jdevice_get("hip", &gpu) != JSTATUS_SUCCESS)
        gpu = jdevice_host();

    process_enter();
    if (process_gpu == NULL)
        process_gpu = gpu;
    gpu = process_gpu;
    process_leave();
    return gpu;
}

static jstatus_t process_resolve(const jmemory_request_t *given, process_memory_t *memory,
                                 const char *caller) {
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jmemory_request_t, &request, given, device));

    JREQUIRE_VALUE(request.numa_node >= -1, JSTATUS_INVALID_VALUE, caller, "numa_node",
                   request.numa_node, "must be a node, or JMEMORY_ANY_NODE (-1)");

    jdevice_t *device = request.device != NULL ? request.device : jdevice_host();
    *memory = (process_memory_t){device, JMEMORY_DEVICE, request.numa_node, false};

    if (jdevice_kind(device) != JDEVICE_HOST) {
        memory->kind = request.managed ? JMEMORY_MANAGED : JMEMORY_DEVICE;
    } else if (request.gpu_compatible) {
        memory->device = process_get_gpu();
        memory->kind =
            jdevice_kind(memory->device) != JDEVICE_HOST ? JMEMORY_PINNED : JMEMORY_DEVICE;
    }

    if (jdevice_kind(memory->device) != JDEVICE_HOST && memory->numa_node >= 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: memory of %s cannot be placed on NUMA node %d",
                       caller, jdevice_name(memory->device), memory->numa_node);

    return JSTATUS_SUCCESS;
}

static jstatus_t process_make(const process_memory_t *memory, jallocator_t **allocator) {
    if (memory->mapped)
        return jallocator_create_mmap(allocator);

    char node[32];
    const char *provider = NULL;
    if (memory->numa_node >= 0) {
        snprintf(node, sizeof node, "numa(node=%d)", memory->numa_node);
        provider = node;
    } else if (memory->kind != JMEMORY_DEVICE) {
        provider = memory->kind == JMEMORY_PINNED ? "device(kind=pinned)" : "device(kind=managed)";
    }

    return ji_process_compose(memory->device, provider, "general", allocator);
}

/* Under the lock. */
static jallocator_t *process_find_allocator(const process_memory_t *memory) {
    const process_entry_t *entry = process_entries;
    while (entry != NULL &&
           (entry->memory.device != memory->device || entry->memory.kind != memory->kind ||
            entry->memory.numa_node != memory->numa_node || entry->memory.mapped != memory->mapped))
        entry = entry->next;

    return entry != NULL ? entry->allocator : NULL;
}

/* Enters an allocator, unless there is one for such memory: *found is the one that counts then. */
static jstatus_t process_enter_allocator(const process_memory_t *memory, jallocator_t *allocator,
                                         bool is_programs, jallocator_t **found) {
    process_entry_t *entry = ji_metadata_alloc(sizeof *entry);
    if (entry == NULL)
        return ji_refuse_bookkeeping();

    process_enter();
    *found = process_find_allocator(memory);
    if (*found == NULL) {
        (void)jallocator_retain(allocator); /* whoever gets it cannot destroy it */
        *entry = (process_entry_t){*memory, allocator, is_programs, process_entries};
        process_entries = entry;
        *found = allocator;
        entry = NULL;
    }
    process_leave();

    ji_metadata_free(entry);
    return JSTATUS_SUCCESS;
}

/* The one there is, or a new one. */
static jstatus_t process_get(const process_memory_t *memory, jallocator_t **allocator) {
    process_enter();
    jallocator_t *found = process_find_allocator(memory);
    process_leave();

    if (found != NULL) {
        *allocator = found;
        return JSTATUS_SUCCESS;
    }

    jallocator_t *made;
    JTRY_RETURN(process_make(memory, &made));

    const jstatus_t status = process_enter_allocator(memory, made, false, &found);
    if (status != JSTATUS_SUCCESS || found != made) /* another thread may have been here */
        (void)jallocator_destroy(made);

    if (status == JSTATUS_SUCCESS)
        *allocator = found;
    return status;
}

jstatus_t jprocess_get_allocator(const jmemory_request_t *given, jallocator_t **allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);

    process_memory_t memory = {0};
    JTRY_RETURN(process_resolve(given, &memory, __func__));
    return process_get(&memory, allocator);
}

jstatus_t jprocess_set_allocator(const jmemory_request_t *given, jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);

    process_memory_t memory = {0};
    JTRY_RETURN(process_resolve(given, &memory, __func__));

    if (jallocator_device(allocator) != memory.device ||
        jallocator_memory_kind(allocator) != memory.kind)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: the memory of \"%s\" on %s is not of the device (%s) or kind that such "
                       "requests get",
                       __func__, jallocator_name(allocator),
                       jdevice_name(jallocator_device(allocator)), jdevice_name(memory.device));

    jallocator_t *found = NULL;
    JTRY_RETURN(process_enter_allocator(&memory, allocator, true, &found));
    if (found != allocator)
        return ji_fail(JSTATUS_EXISTS, "%s: the process has \"%s\" for such memory already",
                       __func__, jallocator_name(found));

    return JSTATUS_SUCCESS;
}

jstatus_t ji_process_get_mapped(jallocator_t **allocator) {
    const process_memory_t memory = {jdevice_host(), JMEMORY_DEVICE, -1, true};
    return process_get(&memory, allocator);
}

jstatus_t ji_process_reset(void) {
    jstatus_t status = JSTATUS_SUCCESS;

    process_enter();
    while (process_entries != NULL && status == JSTATUS_SUCCESS) {
        process_entry_t *entry = process_entries;
        (void)jallocator_release(entry->allocator);
        if (!entry->is_programs)
            status = jallocator_destroy(entry->allocator);

        if (status == JSTATUS_SUCCESS) {
            process_entries = entry->next;
            ji_metadata_free(entry);
        } else {
            (void)jallocator_retain(entry->allocator);
        }
    }

    if (status == JSTATUS_SUCCESS)
        process_gpu = NULL;
    process_leave();
    return status;
}
