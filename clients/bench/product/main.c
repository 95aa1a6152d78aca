/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas beside other BLASes, in one process and one run. See usage() for how, and the aims in
 * report.c for how fast it is meant to be.
 *
 * The peers are named on the command line; clients/scripts/peers.sh gets them. Without any it is
 * the OpenBLAS that the system has. Figures are theirs over ours, so above 1 ours is faster,
 * medians of the rounds of contest.c. Before a problem is timed everybody's results are compared:
 * the program fails when they differ, and never because something was slow. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../quiet.h"
#include "bench_product.h"
#include "jalloc/jblas.h"

options_t options = {.seconds = 0.1,
                     .largest = 2048,
                     .types = "sdcz",
                     .first_threads = 1,
                     .last_threads = 2,
                     .rung = -1,
                     .workspace_bytes = SIZE_MAX};

/* The peer where none is given; a name of its own is needed by --best. */
static char default_peer[] = "openblas=libopenblas.so.0";

static int usage(FILE *file) {
    fputs(
        "usage: bench_product [OPTIONS] [SECONDS]: of each problem, 0.1 unless given\n"
        "  -p, --peer NAME=FILE      a library to compare with, as often as there are; the "
        "system's\n"
        "                            OpenBLAS unless given\n"
        "  -b, --best                each OpenBLAS with the kernels that multiply fastest here\n"
        "  -k, --kernels NAME=KIND   a peer named before with these kernels of OpenBLAS's, such "
        "as\n"
        "                            SkylakeX\n"
        "  -f, --families LIST       tiny,small,large,skinny (gemm), symm,syrk,syr2k,trmm,gemmt,\n"
        "                            trsm,potrf,trtri, gemv,symv,ger, axpy,dot,asum,nrm2,iamax\n"
        "  -t, --types LETTERS       of sdcz, all unless given\n"
        "  -n, --threads N           this many alone; 1, then 2 unless given\n"
        "  -l, --largest ORDER       of matrices, 2048 unless given; skinny ones and level 2 have\n"
        "                            their own\n"
        "  -B, --beta X              of products, 0 unless given\n"
        "  -r, --rung R              this rung of ours against our best one, in place of peers\n"
        "  -w, --workspace BYTES     ours with no more than this, alike\n"
        "  -H, --handles N           only this: N threads with a handle each at once, products of\n"
        "                            orders 32 to 128\n"
        "  -q, --quick               a few small problems, briefly: shows that it runs\n"
        "      --probe FILE          what --best runs for each kind of kernels\n"
        "  -h, --help                shows this\n",
        file);
    return file == stdout ? 0 : 2;
}

static const struct option long_options[] = {{"peer", required_argument, NULL, 'p'},
                                             {"best", no_argument, NULL, 'b'},
                                             {"kernels", required_argument, NULL, 'k'},
                                             {"families", required_argument, NULL, 'f'},
                                             {"types", required_argument, NULL, 't'},
                                             {"threads", required_argument, NULL, 'n'},
                                             {"largest", required_argument, NULL, 'l'},
                                             {"beta", required_argument, NULL, 'B'},
                                             {"rung", required_argument, NULL, 'r'},
                                             {"workspace", required_argument, NULL, 'w'},
                                             {"handles", required_argument, NULL, 'H'},
                                             {"quick", no_argument, NULL, 'q'},
                                             {"probe", required_argument, NULL, 'P'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

/* ---- Peers by name ---- */

/* Cuts a copy of NAME=VALUE, which stays as long as the program. NULL: it is none. */
static const char *cut(const char *text, const char **value) {
    char *name = strdup(text), *equals = name != NULL ? strchr(name, '=') : NULL;
    if (equals == NULL || equals == name) {
        free(name);
        return NULL;
    }
    *equals = '\0';
    *value = equals + 1;
    return name;
}

static bool add_peer(const char *text) {
    peer_t peer = {.name = NULL};
    peer.name = peer_count < MAX_PEERS ? cut(text, &peer.path) : NULL;
    if (peer.name == NULL)
        return false;
    peers[peer_count++] = peer;
    return true;
}

static bool set_kernels(const char *text) {
    const char *kernels = NULL, *name = cut(text, &kernels);
    for (size_t i = 0; i < peer_count && name != NULL; i++)
        if (strcmp(peers[i].name, name) == 0) {
            peers[i].kernels = kernels;
            return true;
        }
    return false;
}

/* Starts the program again with the kernels said in place of --best: a library that it is linked to
 * chooses before main() begins. */
static int restart_with_best(int argc, char **argv, bool has_peers) {
    char **again = calloc((size_t)argc + 2 * MAX_PEERS + 3, sizeof *again);
    static char chosen[MAX_PEERS][96];
    int count = 0;
    if (again == NULL)
        return 1;
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--best") != 0 && strcmp(argv[i], "-b") != 0)
            again[count++] = argv[i];
    if (!has_peers)
        again[count++] = "--peer", again[count++] = default_peer;
    const char *first = NULL;
    for (size_t i = 0; i < peer_count; i++) {
        char kernels[64];
        peer_choose(&peers[i], kernels, sizeof kernels);
        if (*kernels == '\0')
            continue;
        int used = snprintf(chosen[i], sizeof chosen[i], "%s=", peers[i].name);
        snprintf(chosen[i] + used, sizeof chosen[i] - (size_t)used, "%s", kernels);
        again[count++] = "--kernels", again[count++] = chosen[i];
        if (first == NULL)
            first = chosen[i] + used;
    }
    if (first != NULL)
        setenv("OPENBLAS_CORETYPE", first, 1);
    fflush(stdout);
    execv("/proc/self/exe", again);
    perror("bench_product");
    return 1;
}

/* ---- What is compared ---- */

static void print_processor(void) {
    char line[256] = "";
    struct utsname machine;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0)
            break;
    const char *name = strchr(line, ':');
    if (file != NULL)
        fclose(file);
    if (strncmp(line, "model name", 10) == 0 && name != NULL)
        printf("processor: %s", name + 2);
    else if (uname(&machine) == 0)
        printf("processor: %s\n", machine.machine);
}

static void print_contenders(void) {
    print_processor();
    const char *computes = "?", *kernels = "?";
    (void)jblas_get_host_blas(&computes);
    (void)jblas_get_host_isa(&kernels);
    printf("ours: %s, kernels %s\n", computes, kernels);
    for (size_t i = 0; i < peer_count; i++)
        printf("%s: %s, kernels %s\n", peers[i].name, peers[i].path, peer_kernels(&peers[i]));
}

static void load_peers(void) {
    size_t loaded = 0;
    for (size_t i = 0; i < peer_count; i++)
        if (peer_load(&peers[i]))
            peers[loaded++] = peers[i];
    peer_count = loaded;
}

/* ---- Options ---- */

static bool option_is_good(int letter) {
    static bool has_types;
    char *end = "";
    switch (letter) {
    case 'p': return add_peer(optarg);
    case 'k': return set_kernels(optarg);
    case 'f': options.families = optarg; return true;
    case 't':
        options.types = optarg;
        has_types = true;
        return strspn(optarg, "sdcz") == strlen(optarg);
    case 'n':
        options.first_threads = options.last_threads = (int)strtol(optarg, &end, 10);
        return *end == '\0' && options.first_threads > 0;
    case 'l': options.largest = strtoll(optarg, &end, 10); break;
    case 'B': options.beta = strtod(optarg, &end); break;
    case 'r': options.rung = (int)strtol(optarg, &end, 10); break;
    case 'w': options.workspace_bytes = (size_t)strtoull(optarg, &end, 10); break;
    case 'H':
        options.handles = (int)strtol(optarg, &end, 10);
        return *end == '\0' && options.handles > 0;
    case 'q':
        options.quick = true;
        options.seconds = 0.001;
        options.largest = 256;
        options.types = has_types ? options.types : "dz";
        break;
    default: return false;
    }
    return *end == '\0';
}

int main(int argc, char **argv) {
    bool best = false;
    bench_shorten_spinning(argv);
    for (int letter;
         (letter = getopt_long(argc, argv, "p:bk:f:t:n:l:B:r:w:H:qh", long_options, NULL)) != -1;) {
        if (letter == 'h')
            return usage(stdout);
        if (letter == 'P')
            return peer_probe(optarg);
        if (letter == 'b')
            best = true;
        else if (!option_is_good(letter))
            return usage(stderr);
    }
    if (optind < argc && (options.seconds = strtod(argv[optind], NULL)) <= 0)
        return usage(stderr);
    bool has_peers = peer_count > 0;
    if (!has_peers)
        add_peer(default_peer);

    if (best)
        return restart_with_best(argc, argv, has_peers);
    load_peers();
    print_contenders();
    report_heading();
    bool good = true;
    for (int threads = options.first_threads; threads <= options.last_threads; threads++) {
        set_threads(threads);
        good &= options.handles > 0 ? run_handles(threads) : run_families();
    }
    report_summary();
    return good ? 0 : 1;
}
