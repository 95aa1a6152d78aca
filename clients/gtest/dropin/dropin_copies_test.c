/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* omatcopy and imatcopy by the names that OpenBLAS has for them, beside OpenBLAS: random calls, by
 * Fortran's and by CBLAS's name, in both orders, with 32-bit and with 64-bit integers. All that the
 * two leave in memory is compared. Without OpenBLAS the test is skipped. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dropin_call.h"
#include "jtest.h"

enum { MOST = 24, ROOM = (MOST + 3) * MOST * 2 };

/* Whatever the type, as many bytes as doubles. */
typedef struct memory {
    double a[ROOM], b[ROOM];
} memory_t;

typedef struct call {
    int type; /* s d c z */
    bool in_place, by_c, row_major;
    char trans;
    int64_t rows, columns, lda, ldb;
    double alpha[2];
} call_t;

static bool is_complex(const call_t *c) { return c->type >= 2; }
static bool is_single(const call_t *c) { return c->type % 2 == 0; }

static void put(const call_t *c, void *array, int64_t i, double value) {
    if (is_single(c))
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

static double get(const call_t *c, const void *array, int64_t i) {
    return is_single(c) ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static call_t draw(int type, int way, bool in_place) {
    call_t c = {
        .type = type, .in_place = in_place, .by_c = way / 2 != 0, .row_major = way % 2 != 0};
    c.trans = "NTCR"[jtest_random_between(0, 3)];
    c.rows = jtest_random_between(1, MOST); /* without any OpenBLAS 0.3.21 calls xerbla */
    c.columns = jtest_random_bool() ? c.rows : jtest_random_between(1, MOST);
    const bool transposed = c.trans == 'T' || c.trans == 'C';
    if (in_place && !transposed) /* nor has it room for the others */
        c.columns = c.rows;
    const int64_t length = c.row_major ? c.columns : c.rows;
    const int64_t later = c.row_major == transposed ? c.rows : c.columns;
    c.lda = length + jtest_random_between(0, 2);
    c.ldb = later + jtest_random_between(0, 2);
    if (in_place && jtest_random_bool() && c.lda >= later)
        c.ldb = c.lda;
    for (int part = 0; part < 2; part++)
        c.alpha[part] = (double)(float)jtest_random_double(-2, 2);
    /* In place and conjugated alone, by 1: its elements stay as they are. */
    if (!(in_place && c.trans == 'R') && jtest_random_between(0, 3) == 0)
        c.alpha[0] = (double)jtest_random_between(0, 1), c.alpha[1] = 0;
    return c;
}

static void make_call(const call_t *c, void *function, memory_t *memory) {
    int64_t integers[] = {c->rows, c->columns, c->lda, c->ldb}; /* of 32 bits a half of each */
    const char order = c->row_major ? 'r' : 'C';
    double alpha[2];
    put(c, alpha, 0, c->alpha[0]), put(c, alpha, 1, c->alpha[1]);
    dropin_arguments_t p = {0};
    int64_t word[9];
    int words = 0;
#define PASS(value) word[words++] = (int64_t)(intptr_t)(value)
    if (c->by_c) {
        PASS(c->row_major ? 101 : 102), PASS(111 + strchr("NTCR", c->trans) - "NTCR");
        PASS(c->rows), PASS(c->columns);
        if (is_complex(c))
            PASS(alpha);
        else
            memcpy(&p.real[p.reals++], alpha, sizeof(double));
    } else {
        PASS(&order), PASS(&c->trans), PASS(&integers[0]), PASS(&integers[1]), PASS(alpha);
    }
    PASS(memory->a);
    if (c->by_c)
        PASS(c->lda);
    else
        PASS(&integers[2]);
    if (!c->in_place)
        PASS(memory->b);
    if (c->by_c)
        PASS(c->ldb);
    else
        PASS(&integers[3]);
#undef PASS
    for (int i = 0; i < words; i++)
        p.word[i] = (intptr_t)word[i];
    p.words = words;
    dropin_call(function, &p, DROPIN_NOTHING, alpha);
}

static void compare(const call_t *c, const char *name, void *own, void *theirs) {
    static memory_t p, q;
    const int64_t reals = is_single(c) ? 2 * ROOM : ROOM;
    for (int64_t i = 0; i < reals; i++) {
        put(c, p.a, i, jtest_random_double(-1, 1));
        put(c, p.b, i, jtest_random_double(-1, 1));
    }
    memcpy(&q, &p, sizeof p);
    make_call(c, own, &p);
    make_call(c, theirs, &q);

    const double allowed = is_single(c) ? 8 * 0x1p-23 : 8 * 0x1p-52;
    for (int64_t i = 0; i < reals; i++)
        if (!(fabs(get(c, p.a, i) - get(c, q.a, i)) <= allowed) ||
            !(fabs(get(c, p.b, i) - get(c, q.b, i)) <= allowed)) {
            JFAIL("%s, %s order, %c: %ld x %ld, lda=%ld ldb=%ld alpha=%g%+gi: real %ld", name,
                  c->row_major ? "row" : "column", c->trans, (long)c->rows, (long)c->columns,
                  (long)c->lda, (long)c->ldb, c->alpha[0], c->alpha[1], (long)i);
            return;
        }
}

static void *find(void *library, const call_t *c, const char *suffix, char *name, size_t bytes) {
    snprintf(name, bytes, "%s%c%s%s%s", c->by_c ? "cblas_" : "", "sdcz"[c->type],
             c -> in_place ? "imatcopy" : "omatcopy", c->by_c ? "" : "_", suffix);
    return dlsym(library, name);
}

static void compare_library(const char *path, const char *suffix) {
    char name[64];
    void *openblas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (openblas == NULL)
        JSKIP("OpenBLAS is not installed");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    JASSERT_TRUE(library != NULL);
    for (int kind = 0; kind < 4 * 4 * 2; kind++)
        for (int64_t round = jtest_iterations(40); round > 0 && !jtest_has_failure(); round--) {
            const call_t c = draw(kind % 4, kind / 4 % 4, kind / 16 != 0);
            void *theirs = find(openblas, &c, "", name, sizeof name);
            void *own = find(library, &c, suffix, name, sizeof name);
            JASSERT_TRUE(own != NULL && theirs != NULL);
            compare(&c, name, own, theirs);
        }
    dlclose(library);
    dlclose(openblas);
}

JTEST(DropinCopies, AgreeWithOpenBlas) { compare_library(JALLOC_DROPIN, ""); }
JTEST(DropinCopies, AgreeWithOpenBlasWithIntegersOf64Bits) {
    compare_library(JALLOC_DROPIN64, "64_");
}
