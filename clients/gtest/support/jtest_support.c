/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What tests use besides checks: an allocator that watches its caller, pages that trap, random
 * numbers that can be repeated, the environment, the log, and other processes. Whatever a test made
 * here is undone after it. */

#include "jtest.h"

#include "jalloc/log.h"
#ifdef JALLOC_HAVE_JBLAS
#include "jalloc/jblas.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- The failing allocator ---- */

/* Each block stands between two zones of a known pattern:
 *
 *     base        pointer               pointer + size
 *     | zone .... | the caller's bytes  | zone (64 bytes) | */
#define ZONE_BYTES 64
#define ZONE_PATTERN 0xA5

typedef struct watched {
    struct watched *next;
    unsigned char *base, *pointer;
    size_t size_bytes, before_bytes;
    jtag_t tag;
} watched_t;

static struct {
    pthread_mutex_t lock;
    jallocator_t *allocator;
    watched_t *first;
    uint64_t allocation_count, deallocation_count, fail_at;
    size_t live_count, live_bytes;
} watcher = {.lock = PTHREAD_MUTEX_INITIALIZER};

static jstatus_t watcher_allocate(void *context, size_t size_bytes, size_t alignment,
                                  jstream_t *stream, void **pointer) {
    (void)context, (void)stream;
    jstatus_t status = JSTATUS_MEMORY_ERROR;
    const size_t before = alignment > ZONE_BYTES ? alignment : ZONE_BYTES;
    pthread_mutex_lock(&watcher.lock);
    if (++watcher.allocation_count != watcher.fail_at && size_bytes < SIZE_MAX / 4) {
        watched_t *block = malloc(sizeof *block);
        const size_t whole = (before + size_bytes + ZONE_BYTES + before - 1) / before * before;
        unsigned char *base = block ? aligned_alloc(before, whole) : NULL;
        if (base) {
            *block =
                (watched_t){watcher.first, base, base + before, size_bytes, before, jtag_current()};
            memset(base, ZONE_PATTERN, before);
            memset(block->pointer, 0xCB, size_bytes);
            memset(block->pointer + size_bytes, ZONE_PATTERN, ZONE_BYTES);
            watcher.first = block;
            ++watcher.live_count;
            watcher.live_bytes += size_bytes;
            *pointer = block->pointer;
            status = JSTATUS_SUCCESS;
        } else {
            free(block);
        }
    }
    pthread_mutex_unlock(&watcher.lock);
    return status;
}

static bool zone_is_whole(const unsigned char *zone, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        if (zone[i] != ZONE_PATTERN)
            return false;
    return true;
}

/* Unlinks, checks and frees *link. */
static void watcher_drop(watched_t **link) {
    watched_t *block = *link;
    *link = block->next;
    --watcher.live_count;
    watcher.live_bytes -= block->size_bytes;
    if (!zone_is_whole(block->base, block->before_bytes))
        JFAIL("the memory before a block of %zu bytes was written to", block->size_bytes);
    if (!zone_is_whole(block->pointer + block->size_bytes, ZONE_BYTES))
        JFAIL("the memory behind a block of %zu bytes was written to", block->size_bytes);
    free(block->base);
    free(block);
}

static jstatus_t watcher_deallocate(void *context, void *pointer, size_t size_bytes,
                                    jstream_t *stream) {
    (void)context, (void)stream;
    jstatus_t status = JSTATUS_SUCCESS;
    pthread_mutex_lock(&watcher.lock);
    watched_t **link = &watcher.first;
    while (*link && (*link)->pointer != pointer)
        link = &(*link)->next;
    if (!*link) {
        JFAIL("%p was given back, and is not a live block", pointer);
        status = JSTATUS_NOT_FOUND;
    } else {
        if ((*link)->size_bytes != size_bytes)
            JFAIL("a block of %zu bytes was given back as %zu", (*link)->size_bytes, size_bytes);
        ++watcher.deallocation_count;
        watcher_drop(link);
    }
    pthread_mutex_unlock(&watcher.lock);
    return status;
}

/* It knows its blocks, so the object keeps no table for it, which would be bookkeeping memory of
 * the test's own. */
static void watcher_describe(const watched_t *watched, jallocation_t *block) {
    block->pointer = watched->pointer;
    block->size_bytes = block->usable_bytes = watched->size_bytes;
    block->tag = watched->tag;
}
static jstatus_t watcher_find(void *context, const void *pointer, jallocation_t *block) {
    (void)context;
    pthread_mutex_lock(&watcher.lock);
    const watched_t *watched = watcher.first;
    while (watched && (uintptr_t)pointer - (uintptr_t)watched->pointer >= watched->size_bytes)
        watched = watched->next;
    if (watched)
        watcher_describe(watched, block);
    pthread_mutex_unlock(&watcher.lock);
    return watched ? JSTATUS_SUCCESS : JSTATUS_NOT_FOUND;
}

static void watcher_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    (void)context;
    bool goes_on = true;
    pthread_mutex_lock(&watcher.lock);
    for (const watched_t *watched = watcher.first; watched && goes_on; watched = watched->next) {
        jallocation_t block = {.struct_size = sizeof block, .live = true};
        watcher_describe(watched, &block);
        goes_on = visitor(visitor_context, &block);
    }
    pthread_mutex_unlock(&watcher.lock);
}

jallocator_t *jtest_failing_allocator(void) {
    if (!watcher.allocator) {
        const jallocator_ops_t ops = {
            .struct_size = sizeof ops,
            .allocate = watcher_allocate,
            .deallocate = watcher_deallocate,
            .find = watcher_find,
            .visit = watcher_visit,
        };
        jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
        options.name = "jtest";
        JEXPECT_OK(jallocator_create(&ops, NULL, &options, &watcher.allocator));
    }
    return watcher.allocator;
}

void jtest_fail_allocation_after(uint64_t n) {
    pthread_mutex_lock(&watcher.lock);
    watcher.fail_at = n ? watcher.allocation_count + n : 0;
    pthread_mutex_unlock(&watcher.lock);
}

static uint64_t watcher_read(const uint64_t *value) {
    pthread_mutex_lock(&watcher.lock);
    const uint64_t result = *value;
    pthread_mutex_unlock(&watcher.lock);
    return result;
}
uint64_t jtest_allocation_count(void) { return watcher_read(&watcher.allocation_count); }
uint64_t jtest_deallocation_count(void) { return watcher_read(&watcher.deallocation_count); }
size_t jtest_live_bytes(void) {
    pthread_mutex_lock(&watcher.lock);
    const size_t result = watcher.live_bytes;
    pthread_mutex_unlock(&watcher.lock);
    return result;
}

static void watcher_finish(void) {
    if (watcher.live_count > 0)
        JFAIL("%s left %zu block(s), %zu bytes, of the test's allocator", jtest_name(),
              watcher.live_count, watcher.live_bytes);
    while (watcher.first) {
        void *pointer = watcher.first->pointer;
        const size_t size_bytes = watcher.first->size_bytes;
        if (jallocator_deallocate(watcher.allocator, pointer, size_bytes, NULL) != JSTATUS_SUCCESS)
            break;
    }
    if (watcher.allocator)
        JEXPECT_OK(jallocator_destroy(watcher.allocator));
    watcher.allocator = NULL;
    watcher.allocation_count = watcher.deallocation_count = watcher.fail_at = 0;
}

/* ---- Guard pages ---- */

typedef struct mapping {
    struct mapping *next;
    void *base;
    size_t bytes;
} mapping_t;
static mapping_t *mappings;

/* One inaccessible page on each side; the bytes end at the upper one, or begin at the lower one. */
static void *map_guarded(size_t bytes, bool at_end) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
    mapping_t *mapping = malloc(sizeof *mapping);
    unsigned char *base =
        mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!mapping || base == MAP_FAILED ||
        (body && mprotect(base + page, body, PROT_READ | PROT_WRITE) != 0)) {
        JFAIL("no guarded memory of %zu bytes: %s", bytes, strerror(errno));
        free(mapping);
        return NULL;
    }
    *mapping = (mapping_t){mappings, base, body + 2 * page};
    mappings = mapping;
    return at_end ? base + page + body - bytes : base + page;
}
void *jtest_guard_pages(size_t bytes) { return map_guarded(bytes, true); }
void *jtest_guard_pages_before(size_t bytes) { return map_guarded(bytes, false); }

static void unmap_all(void) {
    while (mappings) {
        mapping_t *mapping = mappings;
        mappings = mapping->next;
        munmap(mapping->base, mapping->bytes);
        free(mapping);
    }
}

/* ---- Random numbers ---- */

/* splitmix64 (Steele, Lea, Flood 2014): a state of 64 bits that any value may start. */

static uint64_t random_seed = 1, random_state;
static double scale = 1;
static bool random_used;

uint64_t jtest_random_next(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t jtest_random(void) {
    random_used = true;
    return jtest_random_next(&random_state);
}

int64_t jtest_random_between(int64_t low, int64_t high) {
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1; /* 0: all 64 bits */
    const uint64_t draw = jtest_random();
    return (int64_t)((uint64_t)low + (span ? draw % span : draw));
}

double jtest_random_double(double low, double high) {
    return low + (high - low) * ((jtest_random() >> 11) * 0x1p-53);
}
bool jtest_random_bool(void) { return jtest_random() >> 63; }

bool jtest_random_was_used(uint64_t *seed) {
    *seed = random_seed;
    return random_used;
}

int64_t jtest_iterations(int64_t n) {
    const double count = (double)n * scale;
    return count < 1 ? 1 : (int64_t)count;
}

/* ---- The environment ---- */

typedef struct variable {
    struct variable *next;
    char *name, *value; /* as they were before; value NULL: not set */
} variable_t;
static variable_t *variables;

void jtest_setenv(const char *name, const char *value) {
    const char *present = getenv(name);
    variable_t *variable = malloc(sizeof *variable);
    *variable = (variable_t){variables, strdup(name), present ? strdup(present) : NULL};
    variables = variable;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void environment_restore(void) {
    while (variables) {
        variable_t *variable = variables;
        variables = variable->next;
        if (variable->value)
            setenv(variable->name, variable->value, 1);
        else
            unsetenv(variable->name);
        free(variable->name);
        free(variable->value);
        free(variable);
    }
}

/* ---- The log ---- */

static struct {
    pthread_mutex_t lock;
    char *text;
    size_t length, capacity, count;
} log_lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void log_keep(void *context, jlog_level_t level, const char *line) {
    (void)context, (void)level;
    const size_t bytes = strlen(line) + 1;
    pthread_mutex_lock(&log_lines.lock);
    if (log_lines.length + bytes + 1 > log_lines.capacity) {
        log_lines.capacity = 2 * (log_lines.length + bytes + 1);
        log_lines.text = realloc(log_lines.text, log_lines.capacity);
    }
    memcpy(log_lines.text + log_lines.length, line, bytes - 1);
    log_lines.length += bytes;
    log_lines.text[log_lines.length - 1] = '\n';
    log_lines.text[log_lines.length] = '\0';
    ++log_lines.count;
    pthread_mutex_unlock(&log_lines.lock);
}

const char *jtest_log_text(void) { return log_lines.length ? log_lines.text : ""; }

size_t jtest_log_count(void) {
    pthread_mutex_lock(&log_lines.lock);
    const size_t result = log_lines.count;
    pthread_mutex_unlock(&log_lines.lock);
    return result;
}

void jtest_log_clear(void) {
    pthread_mutex_lock(&log_lines.lock);
    log_lines.length = log_lines.count = 0;
    pthread_mutex_unlock(&log_lines.lock);
}

void jtest_log_install(void) { jlog_set_sink(log_keep, NULL); }

/* ---- Other processes ---- */

static int wait_for(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void jtest_in_child_at(const char *file, int line, unsigned timeout_s,
                       void (*function)(void *argument), void *argument) {
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(timeout_s);
        const uint64_t before = jtest_failure_count();
        function(argument);
        fflush(NULL);
        _exit(jtest_failure_count() == before ? 0 : 1);
    }
    const int result = pid < 0 ? -1 : wait_for(pid);
    if (result == 128 + SIGALRM)
        jtest_fail(file, line, "the child took longer than %u s", timeout_s);
    else if (result != 0)
        jtest_fail(file, line, "the child ended with %d", result);
}

int jtest_run_program(const char *const argv[], const char *const environment[], char *output,
                      size_t output_bytes) {
    size_t present = 0, added = 0, count = 0;
    while (environ[present])
        ++present;
    while (environment && environment[added])
        ++added;
    const char **merged = malloc((present + added + 1) * sizeof *merged);
    for (size_t i = 0; i < added; ++i) /* first: getenv takes the first that fits */
        merged[count++] = environment[i];
    for (size_t i = 0; i < present; ++i) /* GoogleTest's own settings are for this process */
        if (strncmp(environ[i], "GTEST_", 6) != 0)
            merged[count++] = environ[i];
    merged[count] = NULL;

    FILE *file = tmpfile();
    fflush(NULL);
    const pid_t pid = file ? fork() : -1;
    if (pid == 0) {
        dup2(fileno(file), STDOUT_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        execve(argv[0], (char *const *)argv, (char *const *)merged);
        _exit(127);
    }
    const int result = pid < 0 ? -1 : wait_for(pid);
    if (output && output_bytes) {
        size_t length = 0;
        if (file) {
            rewind(file);
            length = fread(output, 1, output_bytes - 1, file);
        }
        output[length] = '\0';
    }
    if (file)
        fclose(file);
    free(merged);
    return result;
}

int jtest_run_self(const char *filter, const char *const environment[], char *output,
                   size_t output_bytes) {
    char self[4096], option[256];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return -1;
    self[length] = '\0';
    snprintf(option, sizeof option, "--gtest_filter=%s", filter);
    const char *const arguments[] = {self, option, "--gtest_color=no", NULL};
    return jtest_run_program(arguments, environment, output, output_bytes);
}

/* ---- Gates ---- */

/* Waits for a change until `deadline`; false when it has passed. */
static bool gate_wait(jtest_gate_t *gate, const struct timespec *deadline) {
    return pthread_cond_timedwait(&gate->changed, &gate->mutex, deadline) != ETIMEDOUT;
}

static struct timespec gate_deadline(void) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 20;
    return deadline;
}

void jtest_gate_pass(jtest_gate_t *gate) {
    const struct timespec deadline = gate_deadline();
    pthread_mutex_lock(&gate->mutex);
    ++gate->waiting;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        if (!gate_wait(gate, &deadline)) {
            JFAIL("a gate was not opened within 20 s");
            gate->open = true;
        }
    pthread_mutex_unlock(&gate->mutex);
}

void jtest_gate_open(jtest_gate_t *gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

void jtest_gate_await(jtest_gate_t *gate) {
    const struct timespec deadline = gate_deadline();
    pthread_mutex_lock(&gate->mutex);
    while (gate->waiting == 0)
        if (!gate_wait(gate, &deadline)) {
            JFAIL("nobody came to a gate within 20 s");
            break;
        }
    pthread_mutex_unlock(&gate->mutex);
}

static void gate_in_stream(void *arguments) { jtest_gate_pass(*(jtest_gate_t *const *)arguments); }
jstatus_t jtest_gate_block(jtest_gate_t *gate, jdevice_t *device, jstream_t *stream) {
    return jstream_launch(device, stream, gate_in_stream, &gate, sizeof gate);
}

/* ---- Time ---- */

void jtest_sleep_ms(unsigned milliseconds) {
    struct timespec left = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

double jtest_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* ---- Around each test ---- */

bool jtest_keeps;

/* Whoever runs the tests may choose what computes on the host (JALLOC_HOST_BLAS and what belongs
 * to it); no test sees these variables. What there is to say of this processor's CBLAS is no
 * test's. */
static void set_up_host(void) {
#ifdef JALLOC_HAVE_JBLAS
    const char *blas;
    if (jblas_get_host_blas(&blas) != JSTATUS_SUCCESS) {
        fprintf(stderr, "the host cannot be set up: %s\n", jstatus_last_message());
        exit(1);
    }
    jtest_log_install();
    (void)jblas_cblas_kernel_at(0);
    jlog_set_sink(NULL, NULL);
#endif
}

void jtest_support_start(void) {
    if (getenv("JALLOC_TEST_SEED"))
        random_seed = strtoull(getenv("JALLOC_TEST_SEED"), NULL, 0);
    if (getenv("JALLOC_TEST_SCALE"))
        scale = strtod(getenv("JALLOC_TEST_SCALE"), NULL);
    set_up_host();
    jtest_keeps = getenv("JALLOC_TEST_KEEP") != NULL;
    for (size_t i = 0; environ[i] && !jtest_keeps;) {
        char name[64];
        const size_t length = strcspn(environ[i], "=");
        if (strncmp(environ[i], "JALLOC_", 7) == 0 &&
            strncmp(environ[i], "JALLOC_TEST_", 12) != 0 && length < sizeof name) {
            memcpy(name, environ[i], length);
            name[length] = '\0';
            unsetenv(name);
        } else {
            ++i;
        }
    }
    /* Whatever this machine was measured for. */
    if (!jtest_keeps)
        setenv("JALLOC_PROFILE", "none", 1);
}

void jtest_support_set_up(const char *name) {
    /* FNV-1a, so each test has its own numbers whatever the filter */
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *name; ++name)
        hash = (hash ^ (unsigned char)*name) * 0x100000001B3u;
    random_state = random_seed ^ hash;
    random_used = false;
    jtest_log_clear();
    if (jtest_keeps)
        return;
    jtest_log_install();
    jlog_set_level(JLOG_DEBUG);
}

void jtest_support_tear_down(void) {
    (void)jtest_calls_failed();
    watcher_finish();
    unmap_all();
    environment_restore();
    jlog_set_sink(NULL, NULL);
    jtest_log_clear();
}
