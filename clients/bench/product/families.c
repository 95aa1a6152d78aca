/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Which problems are measured: families by name, each a loop over types, options and sizes. */

#include <stdio.h>
#include <string.h>

#include "bench_product.h"

static const int64_t small_orders[] = {4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 0};
static const int64_t large_orders[] = {256, 384, 512, 768, 1024, 1536, 2048, 0};
static const int64_t block_orders[] = {64, 128, 256, 512, 1024, 2048, 0};
static const int64_t thin_sizes[] = {1, 2, 4, 8, 16, 32, 0};
static const int64_t long_sizes[] = {256, 1024, 4096, 0};
static const int64_t vector_lengths[] = {16, 256, 4096, 65536, 1 << 22, 0};
static const int64_t matrix_orders[] = {16, 64, 256, 1024, 4096, 0};
static const int64_t tiny_orders[] = {4, 0};

enum { QUICK_SIZES = 2 };

/* Whether there is an i-th size to be measured. */
static bool has(const int64_t *sizes, size_t i, bool is_order) {
    return sizes[i] != 0 && (!options.quick || i < QUICK_SIZES) &&
           (!is_order || sizes[i] <= options.largest);
}
static problem_t problem(const routine_t *routine, char type, int64_t m, int64_t n, int64_t k) {
    return (problem_t){.routine = routine,
                       .type = type,
                       .transa = JBLAS_NO_TRANSPOSE,
                       .transb = JBLAS_NO_TRANSPOSE,
                       .side = JBLAS_LEFT,
                       .uplo = JBLAS_LOWER,
                       .m = m,
                       .n = n,
                       .k = k};
}

/* ---- gemm ---- */

static bool gemm_orders(const int64_t *orders, const char *range) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(orders, i, true); i++)
            for (int ta = JBLAS_NO_TRANSPOSE; ta <= (int)JBLAS_TRANSPOSE; ta++)
                for (int tb = JBLAS_NO_TRANSPOSE; tb <= (int)JBLAS_TRANSPOSE; tb++) {
                    problem_t p = problem(&routine_gemm, *t, orders[i], orders[i], orders[i]);
                    char group[32];
                    p.transa = (jblas_operation_t)ta, p.transb = (jblas_operation_t)tb;
                    snprintf(group, sizeof group, "%cgemm %s", *t, range);
                    good &= contest(&p, group);
                }
    return good;
}
static bool small_products(void) { return gemm_orders(small_orders, "4..128"); }
static bool large_products(void) { return gemm_orders(large_orders, "256.."); }

/* Bit i of `which` makes m, n or k thin. */
static bool skinny_products(void) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(long_sizes, i, false); i++)
            for (size_t j = 0; has(thin_sizes, j, false); j++)
                for (int which = 1; which < 7; which++) {
                    int64_t size[3];
                    for (int s = 0; s < 3; s++)
                        size[s] = which >> s & 1 ? thin_sizes[j] : long_sizes[i];
                    problem_t p = problem(&routine_gemm, *t, size[0], size[1], size[2]);
                    char group[32];
                    snprintf(group, sizeof group, "%cgemm skinny", *t);
                    good &= contest(&p, group);
                }
    return good;
}

/* ---- Other products, solves, factors ---- */

static bool both_sides(const routine_t *routine, const char *group, bool complex_only) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(block_orders, i, true); i++)
            for (int side = JBLAS_LEFT; side <= (int)JBLAS_RIGHT; side++) {
                problem_t p = problem(routine, *t, block_orders[i], block_orders[i], 0);
                p.side = (jblas_side_t)side;
                good &= (complex_only && !type_is_complex(*t)) || contest(&p, group);
            }
    return good;
}

/* What is not transposed, and what is: conjugated too where the result is Hermitian. */
static bool both_operations(const routine_t *routine, const char *group, bool hermitian) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(block_orders, i, true); i++)
            for (int trans = JBLAS_NO_TRANSPOSE; trans <= (int)JBLAS_TRANSPOSE; trans++) {
                problem_t p = problem(routine, *t, 0, block_orders[i], block_orders[i]);
                if (trans != (int)JBLAS_NO_TRANSPOSE)
                    p.transa = hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
                good &= (hermitian && !type_is_complex(*t)) || contest(&p, group);
            }
    return good;
}

static bool symm(void) {
    bool good = both_sides(&routine_symm, "symm", false);
    good &= both_sides(&routine_hemm, "symm", true);
    return good;
}
static bool trmm(void) { return both_sides(&routine_trmm, "trmm", false); }
static bool trsm(void) { return both_sides(&routine_trsm, "trsm", false); }
static bool gemmt(void) { return both_operations(&routine_gemmt, "gemmt", false); }
static bool syrk(void) {
    bool good = both_operations(&routine_syrk, "syrk", false);
    good &= both_operations(&routine_herk, "syrk", true);
    return good;
}
static bool syr2k(void) {
    bool good = both_operations(&routine_syr2k, "syr2k", false);
    good &= both_operations(&routine_her2k, "syr2k", true);
    return good;
}

/* The aims are for orders up to 1024. */
static bool both_triangles(const routine_t *routine, const char *group, const char *beyond) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(block_orders, i, true); i++)
            for (int uplo = JBLAS_UPPER; uplo <= (int)JBLAS_LOWER; uplo++) {
                problem_t p = problem(routine, *t, 0, block_orders[i], 0);
                p.uplo = (jblas_uplo_t)uplo;
                p.variant = uplo == (int)JBLAS_UPPER ? "upper" : "lower";
                good &= contest(&p, block_orders[i] <= 1024 ? group : beyond);
            }
    return good;
}
static bool potrf(void) { return both_triangles(&routine_potrf, "potrf", "potrf 2048"); }
static bool trtri(void) { return both_triangles(&routine_trtri, "trtri", "trtri 2048"); }

/* ---- Level 2: in cache and out of it ---- */

static bool gemv(void) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(matrix_orders, i, true); i++)
            for (int trans = JBLAS_NO_TRANSPOSE; trans <= (int)JBLAS_TRANSPOSE; trans++) {
                problem_t p = problem(&routine_gemv, *t, matrix_orders[i], matrix_orders[i], 0);
                p.transa = (jblas_operation_t)trans;
                good &= contest(&p, "gemv");
            }
    return good;
}
static bool on_matrices(const routine_t *routine, const char *group) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(matrix_orders, i, true); i++) {
            problem_t p = problem(routine, *t, matrix_orders[i], matrix_orders[i], 0);
            good &= contest(&p, group);
        }
    return good;
}
static bool ger(void) { return on_matrices(&routine_ger, "ger"); }
static bool symv(void) { return on_matrices(&routine_symv, "symv"); }

/* ---- Level 1 ---- */

static bool on_vectors(const routine_t *routine, const char *group, fill_t fill,
                       const char *variant) {
    bool good = true;
    for (const char *t = options.types; *t != '\0'; t++)
        for (size_t i = 0; has(vector_lengths, i, false); i++) {
            problem_t p = problem(routine, *t, 0, vector_lengths[i], 0);
            p.fill = fill, p.variant = variant;
            good &= contest(&p, group);
        }
    return good;
}
/* Values that a loop may stumble over. */
static bool on_odd_vectors(const routine_t *routine, const char *group) {
    bool good = on_vectors(routine, group, FILL_RANDOM, NULL);
    good &= on_vectors(routine, group, FILL_ZERO, "zeros");
    good &= on_vectors(routine, group, FILL_TINY, "tiny");
    good &= on_vectors(routine, group, FILL_MIXED, "mixed");
    return good;
}
static bool axpy(void) { return on_vectors(&routine_axpy, "axpy", FILL_RANDOM, NULL); }
static bool dot(void) { return on_vectors(&routine_dot, "dot", FILL_RANDOM, NULL); }
static bool asum(void) { return on_vectors(&routine_asum, "asum", FILL_RANDOM, NULL); }
static bool nrm2(void) { return on_odd_vectors(&routine_nrm2, "nrm2"); }
static bool iamax(void) { return on_odd_vectors(&routine_iamax, "iamax"); }

/* What the call itself costs. */
static bool tiny(void) {
    bool good = true;
    for (size_t i = 0; has(tiny_orders, i, false); i++) {
        const int64_t n = tiny_orders[i];
        problem_t dot_problem = problem(&routine_dot, 'd', 0, n, 0),
                  product = problem(&routine_gemm, 'd', n, n, n);
        good &= contest(&dot_problem, "tiny");
        good &= contest(&product, "tiny");
    }
    return good;
}

static const struct family {
    const char *name;
    bool (*run)(void);
} families[] = {{"tiny", tiny},
                {"small", small_products},
                {"large", large_products},
                {"skinny", skinny_products},
                {"symm", symm},
                {"syrk", syrk},
                {"syr2k", syr2k},
                {"trmm", trmm},
                {"gemmt", gemmt},
                {"trsm", trsm},
                {"potrf", potrf},
                {"trtri", trtri},
                {"gemv", gemv},
                {"symv", symv},
                {"ger", ger},
                {"axpy", axpy},
                {"dot", dot},
                {"asum", asum},
                {"nrm2", nrm2},
                {"iamax", iamax}};

bool family_is_wanted(const char *name) {
    const char *list = options.families;
    const size_t length = strlen(name);
    while (list != NULL) {
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
        list = strchr(list, ',');
        list = list != NULL ? list + 1 : NULL;
    }
    return options.families == NULL;
}

bool run_families(void) {
    bool good = true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (family_is_wanted(families[i].name))
            good &= families[i].run();
    return good;
}
