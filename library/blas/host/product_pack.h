/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_HOST_PRODUCT_PACK_H
#define JALLOC_BLAS_HOST_PRODUCT_PACK_H

/* Packing: strips of operands, as the kernels read them. */

#include "blas/host/product.h"

/* Steps [step, step + steps) of a product's depth: a link of every sum. */
typedef struct ji_product_panel {
    const ji_product_t *call;
    const ji_product_kernels_t *kernels;
    int64_t step, steps;
} ji_product_panel_t;

/* A strip on its way: where it is packed to, and its lines. */
typedef struct ji_product_strip {
    const ji_operand_t *operand;
    ji_product_pack_t pack;
    bool turned;
    size_t step_bytes; /* packed */
    int group;         /* lines that can be packed alone */
    char *to;          /* the strip's first step, panel->step */
    int64_t line;
    int count, width;
} ji_product_strip_t;

static inline size_t ji_operand_element_bytes(const ji_operand_t *operand) {
    return operand->type <= JDATATYPE_F64_C ? ji_sizeof(operand->type)
                                            : jdatatype_bytes(operand->type);
}

static inline const void *ji_operand_at(const ji_operand_t *operand, int64_t line, int64_t step) {
    return (const char *)operand->data + (line * operand->line + step * operand->step) *
                                             (int64_t)ji_operand_element_bytes(operand);
}

/* Whether its elements are packed as they lie. */
static inline bool ji_operand_is_plain(const ji_product_t *call, const ji_operand_t *operand) {
    return operand->kind == JI_OPERAND_GENERAL && operand->type == call->type;
}

/* Which of the steps [first, last) are on the diagonal's square with these lines: [from, end). */
static inline void ji_steps_on_diagonal(int64_t line, int count, int64_t first, int64_t last,
                                        int64_t *from, int64_t *end) {
    *from = ji_min(ji_max(line, first), last);
    *end = ji_min(ji_max(line + count, first), last);
}

/* The strip of A, or B, that begins with this line: of its tiles' rows or columns, if there are so
 * many. Of a complex A also the columns times i (turned). */
ji_product_strip_t ji_strip_of_a(const ji_product_panel_t *panel, bool turned, char *to,
                                 int64_t row, int64_t row_end);
ji_product_strip_t ji_strip_of_b(const ji_product_panel_t *panel, char *to, int64_t column,
                                 int64_t column_end);

void ji_pack_strip(const ji_product_panel_t *panel, const ji_product_strip_t *strip);

/* Rows of A: strips one behind the other, for tiles. */
void ji_pack_rows(const ji_product_panel_t *panel, char *to, int64_t row, int64_t row_end);

#endif
