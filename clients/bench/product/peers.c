/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Other libraries in this process, side by side: each is loaded privately, and prefers its own
 * functions to those of the same name that another one has.
 *
 * OpenBLAS chooses its kernels by the processor while it is loaded, sometimes badly: a version that
 * is older than the processor takes its oldest ones, and the newest are not always the fastest.
 * What is to be beaten are the best that it has, so the program starts itself once for each kind,
 * lets it multiply for some tenths of a second, and remembers the fastest. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../bench.h"
#include "bench_product.h"

peer_t peers[MAX_PEERS];
size_t peer_count;

/* How the names of a library are made from the usual ones: OpenBLAS of SciPy's has a prefix, one
 * with integers of 64 bits often a suffix. */
static const char *const prefixes[] = {"", "scipy_"}, *const suffixes[] = {"", "64_"};

void *peer_function(const peer_t *peer, const char *name) {
    for (size_t i = 0; peer->library != NULL && i < 4; i++) {
        char spelled[64];
        snprintf(spelled, sizeof spelled, "%s%s%s", prefixes[i / 2], name, suffixes[i % 2]);
        void *function = dlsym(peer->library, spelled);
        if (function != NULL)
            return function;
    }
    return NULL;
}

/* Sanitizers refuse libraries that prefer their own functions. */
static int load_flags(void) {
#if defined(RTLD_DEEPBIND) && !defined(BENCH_SANITIZED)
    return RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#else
    return RTLD_NOW | RTLD_LOCAL;
#endif
}

bool peer_load(peer_t *peer) {
    const char *before = getenv("OPENBLAS_CORETYPE");
    char *kept = before != NULL ? strdup(before) : NULL;
    if (peer->kernels != NULL)
        setenv("OPENBLAS_CORETYPE", peer->kernels, 1);
    peer->library = dlopen(peer->path, load_flags());
    if (peer->kernels != NULL && kept != NULL)
        setenv("OPENBLAS_CORETYPE", kept, 1);
    else if (peer->kernels != NULL)
        unsetenv("OPENBLAS_CORETYPE");
    free(kept);

    if (peer->library == NULL || peer_function(peer, "cblas_dgemm") == NULL) {
        fprintf(stderr, "bench_product: %s is absent: %s\n", peer->name,
                peer->library != NULL ? "it has no cblas_dgemm" : dlerror());
        peer->library = NULL;
        return false;
    }
    peer->is_openblas = peer_function(peer, "openblas_get_corename") != NULL;
    return true;
}

void peer_set_threads(const peer_t *peer, int threads) {
    static const char *const names[] = {"openblas_set_num_threads", "MKL_Set_Num_Threads",
                                        "bli_thread_set_num_threads"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = peer_function(peer, names[i]);
        if (function != NULL)
            ((void (*)(int64_t))(uintptr_t)function)(threads);
    }
}

const char *peer_kernels(const peer_t *peer) {
    void *function = peer_function(peer, "openblas_get_corename");
    if (function != NULL)
        return ((const char *(*)(void))(uintptr_t)function)();
    void *id = peer_function(peer, "bli_arch_query_id"),
         *text = peer_function(peer, "bli_arch_string");
    if (id != NULL && text != NULL)
        return ((const char *(*)(int))(uintptr_t)text)(((int (*)(void))(uintptr_t)id)());
    return "unknown";
}

/* ---- The best kernels ---- */

/* What OpenBLAS has for processors of today. */
static const char *const kinds[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"};

enum { PROBE_ORDER = 768, PROBE_ROUNDS = 5, PROBE_TEXT = 256 };

int peer_probe(const char *path) {
    peer_t peer = {.name = "peer", .path = path};
    if (!peer_load(&peer) || !peer.is_openblas)
        return 1;
    peer_set_threads(&peer, 1);
    double sum = 0;
    for (const char *type = "sdz"; *type != '\0'; type++) {
        problem_t p = {.routine = &routine_gemm,
                       .type = *type,
                       .transa = JBLAS_NO_TRANSPOSE,
                       .transb = JBLAS_NO_TRANSPOSE,
                       .m = PROBE_ORDER,
                       .n = PROBE_ORDER,
                       .k = PROBE_ORDER};
        void *function = peer_function(&peer, routine_gemm.symbol[type_index(*type)]);
        if (function == NULL || !problem_make(&p))
            return 1;
        double least = HUGE_VAL; /* since others, who use the machine too, only make it more */
        for (int i = 0; i < PROBE_ROUNDS; i++) {
            double start = bench_now();
            routine_gemm.theirs(function, &p, 1);
            least = fmin(least, bench_now() - start);
        }
        /* by the work of each, so that each counts as much as the others */
        sum += least / problem_flops(&p) * (*type == 's' ? 2 : 1) / 3;
        problem_free(&p);
    }
    printf("probed %g %s\n", sum, peer_kernels(&peer));
    return 0;
}

/* Of this program with other kernels; 0: it says nothing, as where the processor lacks what they
 * need. kernels: those that it came to run. */
static double probe_in_process(const char *path, const char *kind, char *kernels) {
    char self[PROBE_TEXT], command[3 * PROBE_TEXT], line[PROBE_TEXT];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return 0;
    self[length] = '\0';
    snprintf(command, sizeof command, "OPENBLAS_CORETYPE='%s' '%s' --probe '%s' 2>/dev/null", kind,
             self, path);
    FILE *output = popen(command, "r");
    double seconds = 0;
    while (output != NULL && fgets(line, sizeof line, output) != NULL)
        if (sscanf(line, "probed %lf %63s", &seconds, kernels) != 2)
            seconds = 0;
    if (output == NULL || pclose(output) != 0)
        return 0;
    return seconds;
}

void peer_choose(const peer_t *peer, char *kernels, size_t bytes) {
    double best = 0;
    kernels[0] = '\0';
    printf("%s: picoseconds of a flop by kernels:", peer->name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char used[64] = "";
        double seconds = probe_in_process(peer->path, kinds[i], used);
        if (seconds <= 0 || strcasecmp(used, kinds[i]) != 0) /* it does not have them */
            continue;
        printf(" %s %.3f", used, seconds * 1e12);
        fflush(stdout);
        if (best == 0 || seconds < best) {
            best = seconds;
            snprintf(kernels, bytes, "%s", used);
        }
    }
    puts(best > 0 ? "" : " it has no choice");
}
