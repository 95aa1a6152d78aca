/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Bands and packed triangles: an answer's bits depend neither on where columns and elements of
 * vectors lie nor, with fused multiply-adds, on the set of kernels. What the answers are the tests
 * over all functions say, which draw bands wider than their matrix, too. */

#include "jblas_routines.h"

#include <stdlib.h>
#include <string.h>

#include "blas/kernels/kernels.h"

/* An operand in other memory, with another leading dimension or increment. */
typedef struct moved {
    blas_operand_t near;
    unsigned char *memory; /* NULL: it stays */
} moved_t;

static void copy_elements(const blas_operand_t *to, const blas_operand_t *from) {
    const size_t size = wide_sizeof(from->element);
    for (int64_t j = 0; j < from->columns; j++)
        for (int64_t i = 0; i < from->rows; i++)
            if (blas_is_placed(from, i, j))
                memcpy(to->data + (size_t)blas_index(to, 0, i, j) * size,
                       from->data + (size_t)blas_index(from, 0, i, j) * size, size);
}

static void move_away(moved_t *moved, blas_case_t *c, int which) {
    blas_operand_t *o = &c->operand[which];
    *moved = (moved_t){.near = *o, .memory = NULL};
    if (o->kind != BLAS_VECTOR && o->kind != BLAS_MATRIX)
        return;

    o->ld = o->kind == BLAS_MATRIX ? o->ld + 5 : -3 * o->ld;
    const int64_t elements =
        o->kind == BLAS_MATRIX ? o->columns * o->ld + o->height : o->rows * llabs(o->ld) + 1;
    moved->memory = calloc((size_t)elements, wide_sizeof(o->element));
    JASSERT_TRUE(moved->memory != NULL);
    o->data = moved->memory;
    copy_elements(o, &moved->near);
    c->pointer[which] = o->data;
}

static void move_back(const moved_t *moved, blas_case_t *c, int which) {
    if (moved->memory == NULL)
        return;
    copy_elements(&moved->near, &c->operand[which]);
    c->operand[which] = moved->near;
    c->pointer[which] = moved->near.data;
    free(moved->memory);
}

static void call_moved(jhandle_t *handle, blas_case_t *c) {
    moved_t moved[BLAS_OPERANDS];
    for (int which = 0; which < BLAS_OPERANDS; which++)
        move_away(&moved[which], c, which);
    JEXPECT_OK(blas_call(handle, c));
    for (int which = 0; which < BLAS_OPERANDS; which++)
        move_back(&moved[which], c, which);
}

/* Of a plain form; JblasBatch compares items with it. */
static bool is_of_columns(const blas_case_t *c) {
    bool found = false;
    if (blas_has(c, 'b'))
        return false;
    for (int which = 0; which < BLAS_OPERANDS; which++)
        found |= c->operand[which].is_band || c->operand[which].kind == BLAS_PACKED;
    return found;
}

static void expect_one_answer(jhandle_t *handle, blas_case_t *c) {
    const ji_kernel_set_t *const in_use = ji_kernels, *set;
    unsigned char *of_fused = NULL;
    for (size_t i = 0; (set = ji_kernel_set_at(i)) != NULL; i++) {
        if (!ji_kernel_set_is_here(set))
            continue;
        JSCOPED_TRACE("%s by %s", blas_describe(c), set->name);
        ji_kernel_set_use(set);
        blas_restore(c);
        JEXPECT_OK(blas_call(handle, c));
        unsigned char *own = blas_snapshot(c);
        if (set->fused && of_fused != NULL)
            JEXPECT_TRUE(blas_same_as(c, of_fused));

        blas_restore(c);
        call_moved(handle, c);
        JEXPECT_TRUE(blas_same_as(c, own));
        if (set->fused && of_fused == NULL)
            of_fused = own;
        else
            free(own);
    }
    free(of_fused);
    ji_kernel_set_use(in_use);
}

JTEST_EACH_FUNCTION(JblasColumns, BitsDependNeitherOnPlacesNorOnKernels) {
    static const int64_t most[] = {9, 70, 600};
    jhandle_t *handle = blas_make_handle(NULL);
    JEXPECT_OK(jblas_sscal(handle, 0, &(float){1}, NULL, 1)); /* the first call chooses a set */
    for (int i = 0; i < 12 && !jtest_has_failure(); i++) {
        const int64_t n = jtest_random_between(1, most[i % 3]);
        BLAS_CASE(c, param, .low = 1, .high = i % 2 ? 9 : most[i % 3], .m = n, .n = n,
                  .plain = true, .tight = true);
        if (!is_of_columns(c))
            break;
        expect_one_answer(handle, c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
