/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The script goes to the player in a file without a name, which both map; so the player allocates
 * nothing but what it plays:
 *
 *     file   | slots | count | event | event | ...
 *
 * All its own memory is resident before it begins, and so no part of what is counted. */

#include "held.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../mallocs.h"

#define HELD_OPTION "--hold" /* FILE CONTENDER, of the player's command line */
enum { HELD_PAGE_BYTES = 4096, HELD_CALLS = 2000 };

typedef struct held_file {
    uint64_t slots, count;
    event_t events[];
} held_file_t;

static void fail(const char *what) {
    fprintf(stderr, "bench_allocators: %s: ", what);
    perror(NULL);
    exit(1);
}

/* ---- The player ---- */

/* How much the process holds now; or held at most, since it was asked to forget. */
static double resident_bytes(const char *field) {
    char line[256];
    double kibibytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            kibibytes = atof(line + strlen(field));
    if (file)
        fclose(file);
    return kibibytes * 1024;
}

static void forget_largest(void) {
    int file = open("/proc/self/clear_refs", O_WRONLY);
    if (file < 0 || write(file, "5", 1) != 1)
        fail("/proc/self/clear_refs");
    close(file);
}

static void touch(char *block, size_t bytes) {
    for (size_t i = 0; i < bytes; i += HELD_PAGE_BYTES)
        ((volatile char *)block)[i] = 1;
    ((volatile char *)block)[bytes - 1] = 1;
}

static void play(const held_file_t *script, const contender_call_t *call, void **live) {
    for (const event_t *e = script->events, *end = e + script->count; e < end; e++) {
        void **slot = &live[e->slot & ~SCRIPT_FREE];
        if (e->slot & SCRIPT_FREE) {
            if (*slot && !contender_deallocate(call, *slot, e->bytes, call->kind))
                fail("a free was refused");
            continue;
        }
        if ((*slot = contender_allocate(call, e->bytes, call->kind)) == NULL)
            fail("an allocation was refused");
        touch(*slot, e->bytes);
    }
}

/* A program that goes on with something small: who gives memory back after a while does it when it
 * is called. */
static void go_on(const contender_call_t *call) {
    void *kept[16] = {NULL};
    for (size_t i = 0; i < HELD_CALLS; i++) {
        size_t slot = i % 16, bytes = 1000 + i % 7 * 3000;
        if (kept[slot])
            contender_deallocate(call, kept[slot], 1000 + (i - 16) % 7 * 3000, call->kind);
        kept[slot] = contender_allocate(call, bytes, call->kind);
        if (kept[slot])
            touch(kept[slot], bytes);
    }
    for (size_t i = HELD_CALLS - 16; i < HELD_CALLS; i++)
        contender_deallocate(call, kept[i % 16], 1000 + i % 7 * 3000, call->kind);
}

/* ---- Who plays ---- */

static void no_trim(void) {}
static void (*trim)(void) = no_trim;

static void trim_malloc(void) { malloc_trim(0); }

static void (*mimalloc_collect)(bool);
static void trim_mimalloc(void) { mimalloc_collect(true); }

static int (*jemalloc_control)(const char *, void *, size_t *, void *, size_t);
static void trim_jemalloc(void) {
    jemalloc_control("thread.tcache.flush", NULL, NULL, NULL, 0);
    jemalloc_control("arena.4096.purge", NULL, NULL, NULL, 0); /* MALLCTL_ARENAS_ALL */
}

static jallocator_t *ours;
static void trim_ours(void) { (void)jallocator_trim(ours, 0); }

static contender_call_t heap_call(bench_malloc_t heap) {
    if (!bench_malloc_load(&heap))
        fail(heap.name);
    void *library = heap.library ? dlopen(heap.library, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, "mi_collect") : NULL;
    if (!heap.library)
        trim = trim_malloc;
    if (symbol) {
        memcpy(&mimalloc_collect, &symbol, sizeof symbol);
        trim = trim_mimalloc;
    }
    if (library && strcmp(heap.name, "jemalloc") == 0 && (symbol = dlsym(library, "mallctl"))) {
        memcpy(&jemalloc_control, &symbol, sizeof symbol);
        trim = trim_jemalloc;
    }
    return (contender_call_t){CONTENDER_MALLOC, .heap_allocate = heap.allocate,
                              .heap_deallocate = heap.deallocate};
}

/* A malloc is loaded, as it is when a program starts; an allocator of jalloc's is not made yet. */
static contender_call_t player_load(const char *name) {
    const bench_malloc_t heaps[] = {BENCH_MALLOC, BENCH_MIMALLOC2, BENCH_MIMALLOC3, BENCH_JEMALLOC,
                                    BENCH_TCMALLOC};
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++)
        if (strcmp(heaps[i].name, name) == 0)
            return heap_call(heaps[i]);
    return (contender_call_t){.kind = CONTENDER_JALLOC_AS_MALLOC};
}

static void *map(size_t bytes, int file, int flags) {
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE | flags, file, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    return memory;
}

void held_play_if_asked(int argc, char **argv) {
    if (argc != 4 || strcmp(argv[1], HELD_OPTION) != 0)
        return;
    int file = atoi(argv[2]);
    held_file_t *script = map((size_t)lseek(file, 0, SEEK_END), file, 0);
    void **live = map((script->slots + 1) * sizeof *live, -1, MAP_ANONYMOUS);
    touch((char *)live, (script->slots + 1) * sizeof *live);
    contender_call_t call = player_load(argv[3]);
    (void)resident_bytes("VmRSS:"); /* what stdio needs */
    double before = resident_bytes("VmRSS:");
    forget_largest();

    held_t held = {0};
    if (call.kind != CONTENDER_MALLOC) {
        if (jstatus_is_error(jallocator_compose(NULL, argv[3], &ours)))
            fail(jstatus_last_message());
        call.allocator = ours;
        trim = trim_ours;
    }
    play(script, &call, live);
    held.largest = resident_bytes("VmHWM:") - before;
    held.end = resident_bytes("VmRSS:") - before;
    struct timespec pause = {(time_t)HELD_PAUSE_SECONDS,
                             (long)((HELD_PAUSE_SECONDS - (time_t)HELD_PAUSE_SECONDS) * 1e9)};
    nanosleep(&pause, NULL);
    go_on(&call);
    held.paused = resident_bytes("VmRSS:") - before;
    trim();
    held.trimmed = resident_bytes("VmRSS:") - before;
    printf("%a %a %a %a\n", held.largest, held.end, held.paused, held.trimmed);
    fflush(stdout);
    _exit(0);
}

/* ---- Who asks ---- */

static int write_script(const script_t *script) {
    int file = memfd_create("script", 0);
    held_file_t head = {script->slots, script->played};
    FILE *stream = file >= 0 ? fdopen(dup(file), "w") : NULL;
    if (!stream || fwrite(&head, sizeof head, 1, stream) != 1 ||
        fwrite(script->events, sizeof *script->events, script->played, stream) != script->played ||
        fclose(stream) != 0)
        fail("a script for another process");
    return file;
}

/* Starts one; its answer comes out of *answer. */
static pid_t start(const char *name, const char *number, int *answer) {
    int ends[2];
    if (pipe(ends) != 0)
        fail("pipe");
    pid_t player = fork();
    if (player < 0)
        fail("fork");
    if (player == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "bench_allocators", HELD_OPTION, number, name, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *answer = ends[0];
    return player;
}

static bool finish(pid_t player, int answer, held_t *held) {
    char text[200] = "";
    int status = -1;
    ssize_t length = read(answer, text, sizeof text - 1);
    close(answer);
    return waitpid(player, &status, 0) == player && status == 0 && length > 0 &&
           sscanf(text, "%la %la %la %la", &held->largest, &held->end, &held->paused,
                  &held->trimmed) == 4;
}

bool held_measure(const script_t *script, const contender_t *contenders, size_t count,
                  held_t *held) {
    pid_t players[HELD_MAX_PLAYERS];
    int answers[HELD_MAX_PLAYERS], file = write_script(script);
    char number[16];
    bool good = true;
    snprintf(number, sizeof number, "%d", file);
    for (size_t i = 0; i < count; i++)
        players[i] = start(contenders[i].name, number, &answers[i]);
    for (size_t i = 0; i < count; i++) {
        held[i] = (held_t){0};
        if (finish(players[i], answers[i], &held[i]))
            continue;
        fprintf(stderr, "bench_allocators: %s did not play %s\n", contenders[i].name, script->name);
        good = false;
    }
    close(file);
    return good;
}
