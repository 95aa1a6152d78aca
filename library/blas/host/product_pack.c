/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The operands of the host's products as their kernels read them (product.c): general ones, of
 * another type, mirrored or skew from one triangle, triangular, or parts of complex elements. */

#include "blas/host/product_pack.h"

#include "blas/host/convert.h"

/* Of an operand whose elements are made before they are packed. */
#define PIECE_BYTES 16384
/* Of an A whose columns lie together, at once (measured on Zen 3: dgemm of 1000 x 32 x 1000 takes
 * 0.72 of the time that it takes by strips). */
#define PACKED_STEPS 8

ji_operand_t ji_operand_a(jdatatype_t type, const void *a, int64_t lda, jblas_operation_t op) {
    const bool plain = !ji_is_transposed(op);
    return (ji_operand_t){.kind = JI_OPERAND_GENERAL,
                          .type = type,
                          .data = a,
                          .line = plain ? 1 : lda,
                          .step = plain ? lda : 1,
                          .conjugate = ji_is_complex(type) && ji_is_conjugated(op)};
}

ji_operand_t ji_operand_b(jdatatype_t type, const void *b, int64_t ldb, jblas_operation_t op) {
    ji_operand_t operand = ji_operand_a(type, b, ldb, op);
    const int64_t line = operand.line;
    operand.line = operand.step, operand.step = line;
    return operand;
}

ji_product_strip_t ji_strip_of_a(const ji_product_panel_t *panel, bool turned, char *to,
                                 int64_t row, int64_t row_end) {
    const ji_product_kernels_t *kernels = panel->kernels;
    const size_t step_bytes = (size_t)kernels->row_bytes;

    return (ji_product_strip_t){
        .operand = &panel->call->a,
        .pack = kernels->pack_a,
        .turned = turned,
        .step_bytes = !turned && ji_is_complex(panel->call->type) ? step_bytes / 2 : step_bytes,
        .group = kernels->vector_rows,
        .to = to,
        .line = row,
        .count = (int)ji_min(kernels->rows, row_end - row),
        .width = kernels->rows};
}

ji_product_strip_t ji_strip_of_b(const ji_product_panel_t *panel, char *to, int64_t column,
                                 int64_t column_end) {
    const ji_product_kernels_t *kernels = panel->kernels;

    return (ji_product_strip_t){.operand = &panel->call->b,
                                .pack = kernels->pack_b,
                                .turned = true,
                                .step_bytes = (size_t)kernels->column_bytes,
                                .group = kernels->columns,
                                .to = to,
                                .line = column,
                                .count = (int)ji_min(kernels->columns, column_end - column),
                                .width = kernels->columns};
}

/* Whether its elements become real products' one part of them, and not another type. */
static bool operand_is_part(const ji_product_t *call, const ji_operand_t *operand) {
    return ji_is_complex(operand->type) && !ji_is_complex(call->type);
}

/* Rows x columns of what is packed, from a line and a step on: widened, or a part of it. */
static void product_make_piece(const ji_product_panel_t *panel, const ji_operand_t *operand,
                               void *piece, int64_t line, int64_t step, int64_t rows,
                               int64_t columns) {
    const ji_product_parts_t parts = {.rows = rows,
                                      .columns = columns,
                                      .from = ji_operand_at(operand, line, step),
                                      .ld = operand->line == 1 ? operand->step : operand->line,
                                      .part = operand->part,
                                      .conjugate = operand->conjugate};
    if (operand_is_part(panel->call, operand)) {
        panel->kernels->parts(piece, &parts);
        return;
    }

    const ji_conversion_t widen = ji_conversion(panel->call->type, operand->type);
    const size_t to_bytes = (size_t)rows * ji_sizeof(panel->call->type),
                 from_bytes = (size_t)parts.ld * ji_operand_element_bytes(operand);
    for (int64_t j = 0; j < columns; j++)
        widen((char *)piece + (size_t)j * to_bytes, 1,
              (const char *)parts.from + (size_t)j * from_bytes, 1, rows);
}

/* Steps [from, end) of the lines [strip->line, lines_end), which are strips one behind the other:
 * of all of them where they lie together, so that what is read is long. */
static void product_pack_pieces(const ji_product_panel_t *panel, const ji_product_strip_t *strip,
                                int64_t lines_end, int64_t from, int64_t end) {
    _Alignas(64) char piece[PIECE_BYTES];
    const ji_operand_t *operand = strip->operand;
    const int64_t lines = lines_end - strip->line, element = (int64_t)ji_sizeof(panel->call->type),
                  most = (int64_t)sizeof piece / element / lines;
    const bool together = operand->line == 1;
    const bool conjugate = operand->conjugate && !operand_is_part(panel->call, operand);

    for (int64_t step = from, steps; step < end; step += steps) {
        steps = ji_min(most, end - step);
        product_make_piece(panel, operand, piece, strip->line, step, together ? lines : steps,
                           together ? steps : lines);

        char *to = strip->to + (size_t)(step - panel->step) * strip->step_bytes;
        for (int64_t line = 0; line < lines; line += strip->width) {
            strip->pack(to, piece + line * (together ? 1 : steps) * element, together ? 1 : steps,
                        together ? lines : 1, (int)ji_min(strip->width, lines - line), steps,
                        conjugate, strip->turned);
            to += (size_t)panel->steps * strip->step_bytes;
        }
    }
}

/* Steps [from, end) of which all elements are stored, or (mirrored) none. */
static void product_pack_block(const ji_product_panel_t *panel, const ji_product_strip_t *strip,
                               int64_t from, int64_t end, bool mirrored) {
    const ji_operand_t *operand = strip->operand;
    if (from >= end)
        return;

    char *const to = strip->to + (size_t)(from - panel->step) * strip->step_bytes;
    if (operand->type != panel->call->type)
        product_pack_pieces(panel, strip, strip->line + strip->count, from, end);
    else if (mirrored)
        strip->pack(to, ji_operand_at(operand, from, strip->line), operand->step, operand->line,
                    strip->count, end - from,
                    operand->conjugate != (operand->symmetry == JI_HERMITIAN), strip->turned);
    else
        strip->pack(to, ji_operand_at(operand, strip->line, from), operand->line, operand->step,
                    strip->count, end - from, operand->conjugate, strip->turned);
}

/* Steps [from, end), some of which are on the other side of the diagonal than others. */
static void product_pack_corner(const ji_product_panel_t *panel, const ji_product_strip_t *strip,
                                int64_t from, int64_t end) {
    _Alignas(64) char piece[JI_PRODUCT_ROWS * JI_PRODUCT_ROWS * sizeof(float)];
    const ji_operand_t *operand = strip->operand;
    if (from >= end)
        return;

    const ji_product_corner_t corner = {.from = ji_operand_at(operand, strip->line, from),
                                        .line_step = operand->line,
                                        .step_step = operand->step,
                                        .count = strip->count,
                                        .depth = (int)(end - from),
                                        .first = (int)(from - strip->line),
                                        .lower = operand->lower,
                                        .conjugate = operand->conjugate,
                                        .hermitian = operand->symmetry == JI_HERMITIAN,
                                        .triangular = operand->kind == JI_OPERAND_TRIANGULAR,
                                        .unit = operand->unit};
    panel->kernels->corner(piece, &corner);
    strip->pack(strip->to + (size_t)(from - panel->step) * strip->step_bytes, piece, 1,
                strip->count, strip->count, end - from, false, strip->turned);
}

/* Steps [first, last) of a symmetric or triangular operand. Of a triangle what is outside of it is
 * left as it is: nothing reads it. */
static void product_pack_sides(const ji_product_panel_t *panel, const ji_product_strip_t *strip,
                               int64_t first, int64_t last, int64_t from, int64_t end) {
    const ji_operand_t *operand = strip->operand;
    const bool triangular = operand->kind == JI_OPERAND_TRIANGULAR;

    if (operand->lower || !triangular)
        product_pack_block(panel, strip, first, from, !operand->lower);
    if (!operand->lower || !triangular)
        product_pack_block(panel, strip, end, last, operand->lower);
}

/* x = -x, of reals. */
static void product_negate(jdatatype_t type, void *x, int64_t n) {
    float *s = x;
    double *d = x;
    for (int64_t i = 0; i < n; i++)
        if (type == JDATATYPE_F32)
            s[i] = -s[i];
        else
            d[i] = -d[i];
}

/* A skew operand, packed as a symmetric one, becomes what it is: of each step the lines that were
 * taken from the mirror image have the other sign, and that on the diagonal is 0. */
static void product_turn(const ji_product_panel_t *panel, const ji_product_strip_t *strip) {
    const jdatatype_t type = panel->call->type;
    char *to = strip->to;

    for (int64_t step = panel->step; step < panel->step + panel->steps;
         step++, to += strip->step_bytes) {
        const int64_t diagonal = step - strip->line;
        const int64_t first = strip->operand->lower ? 0 : ji_max(diagonal, 0),
                      end = strip->operand->lower ? ji_min(diagonal, strip->count) : strip->count;
        product_negate(type, ji_at(type, to, first, 0, 0), end - first);
        if (diagonal >= 0 && diagonal < strip->count)
            memset(ji_at(type, to, diagonal, 0, 0), 0, ji_sizeof(type));
    }
}

/* Only the lines of a vector and their own steps are taken one by one. */
void ji_pack_strip(const ji_product_panel_t *panel, const ji_product_strip_t *strip) {
    const int64_t first = panel->step, last = panel->step + panel->steps;
    if (strip->operand->kind == JI_OPERAND_GENERAL) {
        product_pack_block(panel, strip, first, last, false);
        return;
    }

    int64_t from, end;
    ji_steps_on_diagonal(strip->line, strip->count, first, last, &from, &end);
    product_pack_sides(panel, strip, first, last, from, end);

    for (int line = 0; line < strip->count; line += strip->group) {
        ji_product_strip_t group = *strip;
        int64_t group_from, group_end;
        group.line += line, group.count = (int)ji_min(strip->group, strip->count - line);
        group.to += (size_t)line * ji_sizeof(panel->call->type);

        ji_steps_on_diagonal(group.line, group.count, from, end, &group_from, &group_end);
        product_pack_sides(panel, &group, from, end, group_from, group_end);
        product_pack_corner(panel, &group, group_from, group_end);
    }
    if (strip->operand->symmetry == JI_SKEW_SYMMETRIC)
        product_turn(panel, strip);
}

void ji_pack_rows(const ji_product_panel_t *panel, char *to, int64_t row, int64_t row_end) {
    const int64_t rows = panel->kernels->rows;
    const size_t strip_bytes = (size_t)(panel->steps * panel->kernels->row_bytes);
    const ji_product_strip_t first = ji_strip_of_a(panel, true, to, row, row_end);
    if (first.operand->type != panel->call->type && first.operand->line == 1) {
        product_pack_pieces(panel, &first, row_end, panel->step, panel->step + panel->steps);
        return;
    }

    /* Columns that are far apart are read some at a time, all rows of each. */
    const bool by_steps =
        ji_operand_is_plain(panel->call, first.operand) && first.operand->line == 1;
    const int64_t end = panel->step + panel->steps, most = by_steps ? PACKED_STEPS : panel->steps;
    for (int64_t step = panel->step; step < end; step += most) {
        char *at = to;
        for (int64_t i = row; i < row_end; i += rows, at += strip_bytes) {
            const ji_product_strip_t strip = ji_strip_of_a(panel, true, at, i, row_end);
            if (by_steps)
                product_pack_block(panel, &strip, step, ji_min(step + most, end), false);
            else
                ji_pack_strip(panel, &strip);
        }
    }
}
