/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PRODUCT_H
#define BENCH_PRODUCT_H

/* bench_product: what its files share.
 *
 *     main.c      options, and the order of it all
 *     families.c  which problems there are
 *     routines.c  how each is called, ours and theirs
 *     problem.c   operands, and whether results agree
 *     peers.c     libraries loaded at run time
 *     contest.c   one problem, everybody in turn
 *     handles.c   many threads with a handle each
 *     report.c    groups of figures, and their aims */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/jalloc.h"

/* ---- Options ---- */

enum { MAX_PEERS = 6, MAX_CONTENDERS = MAX_PEERS + 1 };

typedef struct options {
    double seconds;  /* of each problem, unless seven rounds take longer */
    bool quick;      /* of each list of sizes the first two: shows that it runs */
    int64_t largest; /* order */
    const char *types, *families;
    int first_threads, last_threads;
    int handles;            /* threads with a handle each; 0: all of the above in its place */
    double beta;            /* of products */
    int rung;               /* that ours runs on, against the best; -1: the best alone */
    size_t workspace_bytes; /* at most, alike; SIZE_MAX: what is asked for */
} options_t;
extern options_t options;

/* Whether options.families, names with commas, has it; NULL has all. */
bool family_is_wanted(const char *name);

/* ---- Problems ---- */

typedef struct problem problem_t;

/* What kinds of operands a routine has; the result is always c. */
typedef enum shape_t {
    SHAPE_GEMM,   /* a, b, c: matrices */
    SHAPE_GEMMT,  /* the same; c of order n, one triangle of it */
    SHAPE_SYMM,   /* a: of order m or n, b and c m x n */
    SHAPE_SYRK,   /* a: n x k, c of order n */
    SHAPE_SYR2K,  /* a, b: n x k */
    SHAPE_TRMM,   /* a: triangle of order m or n, c: m x n, in place */
    SHAPE_POTRF,  /* c of order n, in place */
    SHAPE_GEMV,   /* a: m x n, b and c vectors */
    SHAPE_SYMV,   /* a: of order n, b and c vectors */
    SHAPE_GER,    /* a, b: vectors, c: m x n */
    SHAPE_AXPY,   /* a, c: vectors */
    SHAPE_DOT,    /* a, b: vectors, c: a number */
    SHAPE_REDUCE, /* a: a vector, c: a number */
} shape_t;

/* One routine, of all its types. A call is made `repeat` times, in a loop beside the call itself,
 * so that nothing but the call is in a figure. */
typedef struct routine {
    const char *name;
    shape_t shape;
    const char *symbol[4]; /* of s, d, c, z; NULL: there is none */
    jstatus_t (*ours)(jhandle_t *handle, const problem_t *p, size_t repeat);
    void (*theirs)(void *function, const problem_t *p, size_t repeat);
} routine_t;

extern const routine_t routine_gemm, routine_symm, routine_hemm, routine_syrk, routine_herk,
    routine_syr2k, routine_her2k, routine_gemmt, routine_trmm, routine_trsm, routine_potrf,
    routine_trtri, routine_gemv, routine_ger, routine_symv, routine_axpy, routine_dot, routine_asum,
    routine_nrm2, routine_iamax;

/* What stands in a vector. */
typedef enum fill_t { FILL_RANDOM, FILL_ZERO, FILL_TINY, FILL_MIXED } fill_t;

/* Of the problem's type; a real one is the first number of a complex one. */
typedef union scalar {
    float s[2];
    double d[2];
} scalar_t;

struct problem {
    const routine_t *routine;
    char type; /* 's', 'd', 'c' or 'z' */
    jblas_operation_t transa, transb;
    jblas_side_t side;
    jblas_uplo_t uplo;
    int64_t m, n, k;
    fill_t fill; /* of a vector a */
    const char *variant;

    /* problem_make() fills these. */
    int64_t lda, ldb, ldc;
    void *a, *b, *c, *pristine; /* the latter is what c was */
    size_t c_elements;
    scalar_t alpha, beta;
};

int type_index(char type); /* in "sdcz" */
static inline bool type_is_complex(char type) { return type == 'c' || type == 'z'; }
static inline bool type_is_single(char type) { return type == 's' || type == 'c'; }

/* Operands, filled. False: no memory. */
bool problem_make(problem_t *p);
void problem_free(problem_t *p);
/* Makes c what it was. */
void problem_restore(problem_t *p);
/* Whether c agrees with another one, by the largest moduli, to what rounding explains. */
bool problem_agrees(const problem_t *p, const void *c);
size_t problem_result_bytes(const problem_t *p);
double problem_flops(const problem_t *p);
/* Such as "dgemm NT 256" or "dnrm2 1024 tiny". */
void problem_describe(const problem_t *p, char *text, size_t bytes);

/* ---- Peers ---- */

typedef struct peer {
    const char *name, *path;
    const char *kernels; /* that OPENBLAS_CORETYPE is set to while it is loaded; NULL: left alone */
    void *library;       /* NULL: it could not be loaded */
    bool is_openblas;
} peer_t;
extern peer_t peers[MAX_PEERS];
extern size_t peer_count;

bool peer_load(peer_t *peer);
/* Of the name in CBLAS or LAPACK, or as the library spells it; NULL: it has none. */
void *peer_function(const peer_t *peer, const char *name);
void peer_set_threads(const peer_t *peer, int threads);
/* The kernels in use; "unknown" where it does not say. */
const char *peer_kernels(const peer_t *peer);
/* Prints the kernels and the seconds that some products took, which peer_choose() reads. */
int peer_probe(const char *path);
/* The kernels of OpenBLAS that multiply fastest here, found by running the program for each; an
 * empty text where it is no OpenBLAS. */
void peer_choose(const peer_t *peer, char *kernels, size_t bytes);

/* ---- Contests ---- */

/* Sets the threads of ours and of all peers. */
void set_threads(int threads);
extern int threads_in_use;
jstatus_t our_handle(jhandle_t **handle); /* with that many */

/* Measures a problem and enters it into a group of the report. False: ours failed, or somebody's
 * result is another. */
bool contest(problem_t *p, const char *group);

bool run_families(void);
bool run_handles(int threads);

/* ---- Report ---- */

/* One line: a problem, ours in seconds, peers as times of ours; 0: it has no such function. */
typedef struct figures {
    double ours, flops;
    size_t contenders;
    double ratio[MAX_CONTENDERS];
    bool is_openblas[MAX_CONTENDERS];
    int rung; /* that ours ran on */
    bool differs;
    bool disturbed; /* by other programs, most of the time */
} figures_t;

void report_heading(void);
void report_add(const char *group, const char *what, const figures_t *figures);
/* Geometric mean and least figure of each group, and whether its aim is met. */
void report_summary(void);

#endif
