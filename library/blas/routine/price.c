/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Prices: what a call counts whoever computes it. Size queries that keep calls ask for them,
 * calls whose handle follows a program, and jblas-bench for its rates; no other call that computes.
 *
 * Flops are LAPACK's counts (LAPACK Working Note 41), leading terms. Bytes are the operands', once
 * each way and once into panels; with the smaller panels of each lower rung they are gone over once
 * more. Where there are no panels, elements come from where they lie each time that a register
 * block wants them. So rungs of one routine are in the right order by their prices alone; how long
 * they take is the profile's to say. */

#include "blas/routine/price.h"

#include <math.h>

#include "blas/blas.h"

/* ---- Flops ---- */

static double flops_none(const ji_sizes_t *o) { return 0 * o->n; }
static double flops_n(const ji_sizes_t *o) { return o->n; }
static double flops_2n(const ji_sizes_t *o) { return 2 * o->n; }
static double flops_3n(const ji_sizes_t *o) { return 3 * o->n; }
static double flops_6n(const ji_sizes_t *o) { return 6 * o->n; }
static double flops_nn(const ji_sizes_t *o) { return o->n * o->n; }
static double flops_2nn(const ji_sizes_t *o) { return 2 * flops_nn(o); }
static double flops_mn(const ji_sizes_t *o) { return o->m * o->n; }
static double flops_2mn(const ji_sizes_t *o) { return 2 * flops_mn(o); }
/* Of bands that are narrow beside the matrix. */
static double flops_band(const ji_sizes_t *o) { return 2 * o->n * (o->kl + o->ku + 1); }
static double flops_sbmv(const ji_sizes_t *o) { return 2 * o->n * (2 * o->k + 1); }
static double flops_tbmv(const ji_sizes_t *o) { return 2 * o->n * (o->k + 1); }
static double flops_2mnk(const ji_sizes_t *o) { return flops_2mn(o) * o->k; }
static double flops_symm(const ji_sizes_t *o) { return flops_2mn(o) * o->order; }
static double flops_syrk(const ji_sizes_t *o) { return flops_nn(o) * o->k; }
static double flops_syr2k(const ji_sizes_t *o) { return 2 * flops_syrk(o); }
static double flops_trsm(const ji_sizes_t *o) { return flops_symm(o) / 2; }
static double flops_cube(const ji_sizes_t *o) { return flops_nn(o) * o->n / 3; }
static double flops_geam(const ji_sizes_t *o) { return 3 * flops_mn(o); }
static double flops_solves(const ji_sizes_t *o) { return flops_2nn(o) * o->nrhs; }
static double flops_getrf(const ji_sizes_t *o) {
    const double least = fmin(o->m, o->n);
    return least * least * (fmax(o->m, o->n) - least / 3);
}
static double flops_geqrf(const ji_sizes_t *o) { return 2 * flops_getrf(o); }
static double flops_orgqr(const ji_sizes_t *o) {
    return 4 * flops_mn(o) * o->k - 2 * (o->m + o->n) * o->k * o->k + 4 * o->k * o->k * o->k / 3;
}
static double flops_ormqr(const ji_sizes_t *o) {
    return o->order > 0 ? flops_2mnk(o) * (2 - o->k / o->order) : 0;
}
static double flops_gels(const ji_sizes_t *o) { return flops_geqrf(o) + 4 * flops_mn(o) * o->nrhs; }
static double flops_gesv(const ji_sizes_t *o) { return 2 * flops_cube(o) + flops_solves(o); }
static double flops_getri(const ji_sizes_t *o) { return 4 * flops_cube(o); }
static double flops_trtrs(const ji_sizes_t *o) { return flops_solves(o) / 2; }
static double flops_posv(const ji_sizes_t *o) { return flops_cube(o) + flops_solves(o); }
static double flops_potri(const ji_sizes_t *o) { return 2 * flops_cube(o); }
static double flops_condition(const ji_sizes_t *o) { return 10 * flops_2nn(o); }
static double flops_trcon(const ji_sizes_t *o) { return 5 * flops_2nn(o); }
/* Two residuals with sizes, a solve, and five for the bound. */
static double flops_refine(const ji_sizes_t *o) { return 10 * flops_solves(o); }
/* Without row exchanges. */
static double flops_gtsv(const ji_sizes_t *o) { return 3 * o->n + 5 * o->n * o->nrhs; }
static double flops_pbtrf(const ji_sizes_t *o) { return o->n * o->kd * o->kd; }
static double flops_pbtrs(const ji_sizes_t *o) { return 4 * o->n * o->nrhs * o->kd; }

static const struct {
    const char *routine;
    double (*flops)(const ji_sizes_t *sizes);
} flops_of[] = {
    {"asum", flops_n},          {"axpy", flops_2n},          {"copy", flops_none},
    {"dot", flops_2n},          {"dotu", flops_2n},          {"dotc", flops_2n},
    {"nrm2", flops_2n},         {"axpby", flops_3n},         {"rot", flops_6n},
    {"rotm", flops_6n},         {"dsdot", flops_2n},         {"sdsdot", flops_2n},
    {"scal", flops_n},          {"csscal", flops_n},         {"zdscal", flops_n},
    {"gemv", flops_2mn},        {"ger", flops_2mn},          {"geru", flops_2mn},
    {"gerc", flops_2mn},        {"symv", flops_2nn},         {"hemv", flops_2nn},
    {"syr", flops_nn},          {"her", flops_nn},           {"syr2", flops_2nn},
    {"her2", flops_2nn},        {"trmv", flops_nn},          {"trsv", flops_nn},
    {"gbmv", flops_band},       {"sbmv", flops_sbmv},        {"hbmv", flops_sbmv},
    {"spmv", flops_2nn},        {"hpmv", flops_2nn},         {"spr", flops_nn},
    {"hpr", flops_nn},          {"spr2", flops_2nn},         {"hpr2", flops_2nn},
    {"tbmv", flops_tbmv},       {"tbsv", flops_tbmv},        {"tpmv", flops_nn},
    {"tpsv", flops_nn},         {"gemm", flops_2mnk},        {"symm", flops_symm},
    {"hemm", flops_symm},       {"syrk", flops_syrk},        {"herk", flops_syrk},
    {"syr2k", flops_syr2k},     {"her2k", flops_syr2k},      {"gemmt", flops_syrk},
    {"gemm3m", flops_2mnk},     {"gemmtr", flops_syrk},      {"symv_complex", flops_2nn},
    {"syr_complex", flops_nn},  {"syr2_complex", flops_2nn}, {"skewsymv", flops_2nn},
    {"skewsyr2", flops_2nn},    {"skewsymm", flops_symm},    {"skewsyr2k", flops_syr2k},
    {"syrkx", flops_syrk},      {"herkx", flops_syrk},       {"trmm", flops_trsm},
    {"trsm", flops_trsm},       {"geam", flops_geam},        {"dgmm", flops_mn},
    {"omatcopy", flops_mn},     {"imatcopy", flops_mn},      {"trtri", flops_cube},
    {"potrf", flops_cube},      {"potrs", flops_solves},     {"getrf", flops_getrf},
    {"getrs", flops_solves},    {"gesv", flops_gesv},        {"getri", flops_getri},
    {"trtrs", flops_trtrs},     {"posv", flops_posv},        {"lauum", flops_cube},
    {"potri", flops_potri},     {"sytrf", flops_cube},       {"hetrf", flops_cube},
    {"sytrs", flops_solves},    {"hetrs", flops_solves},     {"sysv", flops_posv},
    {"hesv", flops_posv},       {"geqrf", flops_geqrf},      {"orgqr", flops_orgqr},
    {"ormqr", flops_ormqr},     {"gelqf", flops_geqrf},      {"orglq", flops_orgqr},
    {"ormlq", flops_ormqr},     {"gels", flops_gels},        {"geqp3", flops_geqrf},
    {"gecon", flops_condition}, {"pocon", flops_condition},  {"trcon", flops_trcon},
    {"gerfs", flops_refine},    {"porfs", flops_refine},     {"dsgesv", flops_gesv},
    {"dsposv", flops_posv},     {"gtsv", flops_gtsv},        {"pbtrf", flops_pbtrf},
    {"pbtrs", flops_pbtrs},
};

/* The characters of a name without what says its form or that its types are arguments. */
static size_t plain_length(const char *routine) {
    size_t length = strlen(routine);
    static const char *const endings[] = {"_batched", "_strided", "_ex"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strncmp(routine + length - ending, endings[i], ending) == 0)
            length -= ending;
    }
    return length;
}

double ji_flops(const char *routine, const ji_sizes_t *sizes) {
    const size_t length = plain_length(routine);
    for (size_t i = 0; i < sizeof flops_of / sizeof flops_of[0]; ++i)
        if (strlen(flops_of[i].routine) == length &&
            memcmp(flops_of[i].routine, routine, length) == 0)
            return flops_of[i].flops(sizes);
    return 0;
}

/* ---- Of a block ---- */

/* The member of that name; 0: the routine has none. */
static int64_t size_named(const ji_head_t *head, const char *name) {
    const ji_argument_t *argument = head->row->arguments;
    for (; argument->name != NULL; ++argument) {
        const char *at = (const char *)head + argument->offset;
        int enumerator;
        int64_t size;
        if (strcmp(argument->name, name) != 0)
            continue;
        if (argument->kind == JI_ARGUMENT_SIZE) {
            memcpy(&size, at, sizeof size);
            return size;
        }
        if (argument->kind == JI_ARGUMENT_SIDE) {
            memcpy(&enumerator, at, sizeof enumerator);
            return enumerator;
        }
    }
    return 0;
}

static ji_sizes_t sizes_of(const ji_head_t *head) {
    ji_sizes_t sizes = {.m = (double)size_named(head, "m"),
                        .n = (double)size_named(head, "n"),
                        .k = (double)size_named(head, "k"),
                        .nrhs = (double)size_named(head, "nrhs"),
                        .kl = (double)size_named(head, "kl"),
                        .ku = (double)size_named(head, "ku"),
                        .kd = (double)size_named(head, "kd")};
    sizes.order = size_named(head, "side") == JBLAS_LEFT ? sizes.m : sizes.n;
    return sizes;
}

/* Whether a driver makes vectors beside values. */
static bool makes_vectors(const ji_head_t *head) {
    const ji_argument_t *argument = head->row->arguments;
    for (; argument->name != NULL; ++argument)
        if (argument->kind == JI_ARGUMENT_LETTER && strncmp(argument->name, "job", 3) == 0) {
            int letter;
            memcpy(&letter, (const char *)head + argument->offset, sizeof letter);
            if (letter != 'N')
                return true;
        }
    return false;
}

/* Of what looks for something until it has it nobody can say it; this much is usual. */
static double estimate(const ji_head_t *head, const ji_sizes_t *sizes) {
    static const struct {
        const char *routine;
        double values, vectors; /* of values alone, and of both: cubes of the smaller size */
        double more; /* of both: the smaller size squared, times what the larger is more */
    } usual[] = {{"syevd", 1.33, 4, 0}, {"syevr", 1.33, 4, 0},   {"syev", 1.33, 9, 0},
                 {"sygvd", 3.67, 7, 0}, {"gesvd", 2.67, 20, 20}, {"gesdd", 2.67, 10, 10},
                 {"geev", 10, 25, 0},   {"gees", 10, 25, 0},     {"ggev", 30, 60, 0}};
    const double larger = fmax(sizes->m, sizes->n),
                 smaller = sizes->m > 0 ? fmin(sizes->m, sizes->n) : sizes->n,
                 square = smaller * smaller, rest = larger - smaller;
    const char *const routine = head->row->name;
    /* A QR factorization, what is left to two diagonals, and all of it done to the right-hand
     * sides, too. */
    if (strncmp(routine, "gelsd", 5) == 0)
        return square * (2.67 * smaller + 2 * rest) +
               sizes->nrhs * smaller * (4 * larger + 6 * smaller);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; ++i)
        if (strncmp(routine, usual[i].routine, strlen(usual[i].routine)) == 0)
            return makes_vectors(head)
                       ? square * (usual[i].vectors * smaller + usual[i].more * rest)
                       : square * (usual[i].values * smaller + 2 * rest);
    return 0;
}

static double items_of(const ji_head_t *head) {
    return ji_is_batch(head) ? (double)((const ji_matmat_t *)(const void *)head)->batch.count : 1;
}

/* Of the operands of one item, what is read and what is written. Where a row does not say it, one
 * matrix and right-hand sides. */
static double operand_bytes(const ji_head_t *head, const ji_sizes_t *sizes) {
    if (head->row->extents == NULL)
        return 2 * (double)ji_sizeof(head->type) * sizes->n *
               (fmax(sizes->m, sizes->n) + sizes->nrhs);

    const ji_extents_t extents = head->row->extents(head);
    double bytes = (double)extents.result_bytes;
    for (int i = 0; i < extents.count; ++i) {
        const ji_extent_t *operand = &extents.operands[i];
        bytes += (double)ji_sizeof(operand->type) * (double)operand->rows *
                 (double)operand->columns * (operand->written ? 2 : 1);
    }
    return bytes;
}

/* ---- Of rungs ---- */

#define PRICE_TILE 32 /* products for which an element is loaded once, without panels */

/* Rungs that count otherwise than their routine; those on 16-bit units by how much faster these
 * are than others. */
static double share_of_flops(const char *rung) {
    static const struct {
        const char *name;
        double share;
    } shares[] = {{"3m", 0.75},         {"strassen-1", 0.875}, {"strassen-2", 0.765625},
                  {"split-bf16", 0.25}, {"split-fp16", 0.25},  {"emulated-bf16x9", 0.5625}};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; ++i)
        if (strcmp(rung, shares[i].name) == 0)
            return shares[i].share;
    return 1;
}

void ji_price_plan(jplan_t *plan, const void *block) {
    const ji_head_t *head = block;
    const ji_sizes_t sizes = sizes_of(head);
    const double counted = ji_flops(head->row->name, &sizes);
    const double items = items_of(head), operands = items * operand_bytes(head, &sizes),
                 flops = items * (ji_is_complex(head->type) ? 4 : 1) *
                         (counted > 0 ? counted : estimate(head, &sizes));

    const uint32_t count = plan->rung_count;
    for (uint32_t i = 0; i < count; ++i) {
        jprice_t price = {.flops = flops * share_of_flops(plan->rungs[i].name),
                          .moved_bytes = operands * (count > 1 ? 2 + i : 1),
                          .launches = items};
        if (i > 0 && i + 1 == count) /* the last has no panels */
            price.moved_bytes += flops / 2 / PRICE_TILE * (double)ji_sizeof(head->type);
        plan->rung_count = i + 1;
        jplan_price(plan, &price);
    }
    plan->rung_count = count;
}

void ji_plain_plan(jplan_t *plan, const jhandle_t *handle, const void *block) {
    static const char *const names[] = {"",  "m",  "n",  "mn",  "k",  "mk",  "nk",  "mnk",
                                        "b", "mb", "nb", "mnb", "kb", "mkb", "nkb", "mnkb"};
    const ji_head_t *head = block;
    const int64_t sizes[] = {size_named(head, "m"), size_named(head, "n"), size_named(head, "k"),
                             ji_is_batch(head) ? (int64_t)items_of(head) : 0};
    int64_t shape[4];
    int count = 0, which = 0;
    for (int i = 0; i < 4; ++i)
        if (sizes[i] != 0) {
            which |= 1 << i;
            shape[count++] = sizes[i];
        }
    jplan_init(plan, handle, ji_routine_name(head), names[which], shape);
    jplan_add(plan, "plain", 0, 0, 0, NULL);
}
