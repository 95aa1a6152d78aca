/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products on lent memory: Goto's five loops (Goto and van de Geijn 2008; Van Zee and van de Geijn
 * 2015).
 *
 *     for each block of columns of C                   what the panel of B holds
 *       for each panel of the depth                    JI_PRODUCT_DEPTH: the order of every sum
 *         pack B(panel, columns)
 *         for each block of rows of C
 *           pack A(rows, panel)                        one panel a thread
 *           for each strip of columns, strip of rows   a tile: kernels/product_kernel.h
 *
 * Threads divide the columns of a block, and each does the rest of the loops by itself: it packs A
 * anew, but waits for nobody, and reads no panel of B out of another processor's cache, which takes
 * six times as long as a tile. Where there are too few columns they pack B together and divide the
 * rows of each panel.
 *
 * The workspace is the panels: B's, and behind it one of A for each thread.
 *
 *     packed         A's fill half of a second cache, B's the third: at most 6 MiB + 512 KiB a
 *                    thread
 *     packed-small   A's is one strip, and B's has the rest of 256 KiB a thread
 *     in place       no workspace: B is read where it lies, and A, unless its columns are
 *                    contiguous, a strip of it is copied to the stack. For triangles, and what else
 *                    has to be packed, both strips are on the stack.
 *
 * Bits. An element's sum over a panel is one chain of fused multiply-adds in the order of k, begun
 * with 0; panels are added to C one after the other: with the first one C becomes
 * fma(alpha, sum, beta C), with the others fma(alpha, sum, C). k is cut at multiples of
 * JI_PRODUCT_DEPTH, so nothing depends on threads, workspace, or what else is computed beside.
 *
 * A triangular operand has no zeros: outside of the triangle nothing is multiplied, so an infinity
 * of the other operand reaches what it should and no more. Its product overwrites the other operand
 * (trmm), which decides the order: the panel whose lines are on the diagonal comes first, while its
 * share of the other operand has been packed, and then the panels away from it. */

#include "blas/host/product.h"

#include "blas/algorithms/product.h"
#include "blas/host/convert.h"

#include "core/team.h"

#include <math.h>

#define PRODUCT_B_BYTES ((size_t)6291456)
#define PRODUCT_COMPACT_BYTES 524288
#define PRODUCT_SUMS_BYTES 1536 /* of a tile */
/* Of an operand whose elements are made before they are packed. */
#define PRODUCT_PIECE_BYTES 16384
/* Of an A whose columns lie together, at once (measured on Zen 3: dgemm of 1000 x 32 x 1000 takes
 * 0.72 of the time that it takes by strips). */
#define PRODUCT_PACKED_STEPS 8

typedef struct product_run {
    const ji_product_t *call;
    const ji_product_kernels_t *kernels;
    int64_t depth;     /* steps of a panel */
    int64_t row_block; /* rows that a panel of A holds */
    char *b_panel, *a_panels;
    size_t a_panel_bytes;

    /* The panel at hand: rows [row, row_end) of C by columns [column, column_end), and steps. */
    int64_t row, row_end, column, column_end, step, steps;
    /* With the first panel that reaches an element of C, and with the others. */
    ji_product_scalars_t first, more;
    bool is_first; /* of products without a triangle */

    /* Items of work: `groups` of rows, one for each thread or more, of which each is done in
     * `rounds`, since a panel of A holds so many, and in `parts` of the columns. */
    int64_t groups, rounds, parts;
    int threads;
} product_run_t;

/* Few tiles are not divided, however deep; nor are few rows where a triangular B has to be packed
 * by all, before anything is multiplied. */
static int product_threads(const ji_product_t *call) {
    const ji_product_kernels_t *kernels = ji_kernels->product[call->type];
    const bool packs_first = call->b.kind == JI_OPERAND_TRIANGULAR;
    const double work = ji_product_work(call->type, call->m, call->n, call->k),
                 rows = ceil((double)call->m / kernels->rows),
                 columns = ceil((double)call->n / kernels->columns);
    const int wanted = ji_product_threads(packs_first ? work / 4 : work);
    const double most = packs_first ? rows / 3 : rows * columns / 4;
    return wanted < 2 || most < 2 ? 1 : most < wanted ? (int)most : wanted;
}

/* ---- Operands ---- */

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

static size_t operand_element_bytes(const ji_operand_t *operand) {
    return operand->type <= JDATATYPE_F64_C ? ji_sizeof(operand->type)
                                            : jdatatype_bytes(operand->type);
}

static const void *operand_at(const ji_operand_t *operand, int64_t line, int64_t step) {
    return (const char *)operand->data +
           (line * operand->line + step * operand->step) * (int64_t)operand_element_bytes(operand);
}

/* Whether its elements are packed as they lie. */
static bool operand_is_plain(const ji_product_t *call, const ji_operand_t *operand) {
    return operand->kind == JI_OPERAND_GENERAL && operand->type == call->type;
}

/* ---- Packing ---- */

/* A strip on its way: where it is packed to, and its lines. */
typedef struct product_strip {
    const ji_operand_t *operand;
    ji_product_pack_t pack;
    bool turned;
    size_t step_bytes; /* packed */
    int group;         /* lines that can be packed alone */
    char *to;          /* the strip's first step, run->step */
    int64_t line;
    int count, width;
} product_strip_t;

static product_strip_t product_strip(const product_run_t *run, bool is_a, bool turned, char *to,
                                     int64_t line, int64_t lines_end) {
    const ji_product_kernels_t *kernels = run->kernels;
    const int width = is_a ? kernels->rows : kernels->columns;
    const size_t step_bytes = (size_t)(is_a ? kernels->row_bytes : kernels->column_bytes);

    return (product_strip_t){.operand = is_a ? &run->call->a : &run->call->b,
                             .pack = is_a ? kernels->pack_a : kernels->pack_b,
                             .turned = turned,
                             .step_bytes = is_a && !turned && ji_is_complex(run->call->type)
                                               ? step_bytes / 2
                                               : step_bytes,
                             .group = is_a ? kernels->vector_rows : width,
                             .to = to,
                             .line = line,
                             .count = (int)ji_min(width, lines_end - line),
                             .width = width};
}

/* Whether its elements become real products' one part of them, and not another type. */
static bool operand_is_part(const ji_product_t *call, const ji_operand_t *operand) {
    return ji_is_complex(operand->type) && !ji_is_complex(call->type);
}

/* Rows x columns of what is packed, from a line and a step on: widened, or a part of it. */
static void product_make_piece(const product_run_t *run, const ji_operand_t *operand, void *piece,
                               int64_t line, int64_t step, int64_t rows, int64_t columns) {
    const ji_product_parts_t parts = {.rows = rows,
                                      .columns = columns,
                                      .from = operand_at(operand, line, step),
                                      .ld = operand->line == 1 ? operand->step : operand->line,
                                      .part = operand->part,
                                      .conjugate = operand->conjugate};
    if (operand_is_part(run->call, operand)) {
        run->kernels->parts(piece, &parts);
        return;
    }

    const ji_conversion_t widen = ji_conversion(run->call->type, operand->type);
    const size_t to_bytes = (size_t)rows * ji_sizeof(run->call->type),
                 from_bytes = (size_t)parts.ld * operand_element_bytes(operand);
    for (int64_t j = 0; j < columns; j++)
        widen((char *)piece + (size_t)j * to_bytes, 1,
              (const char *)parts.from + (size_t)j * from_bytes, 1, rows);
}

/* Steps [from, end) of the lines [strip->line, lines_end), which are strips one behind the other:
 * of all of them where they lie together, so that what is read is long. */
static void product_pack_pieces(const product_run_t *run, const product_strip_t *strip,
                                int64_t lines_end, int64_t from, int64_t end) {
    _Alignas(64) char piece[PRODUCT_PIECE_BYTES];
    const ji_operand_t *operand = strip->operand;
    const int64_t lines = lines_end - strip->line, element = (int64_t)ji_sizeof(run->call->type),
                  most = (int64_t)sizeof piece / element / lines;
    const bool together = operand->line == 1;
    const bool conjugate = operand->conjugate && !operand_is_part(run->call, operand);

    for (int64_t step = from, steps; step < end; step += steps) {
        steps = ji_min(most, end - step);
        product_make_piece(run, operand, piece, strip->line, step, together ? lines : steps,
                           together ? steps : lines);

        char *to = strip->to + (size_t)(step - run->step) * strip->step_bytes;
        for (int64_t line = 0; line < lines; line += strip->width) {
            strip->pack(to, piece + line * (together ? 1 : steps) * element, together ? 1 : steps,
                        together ? lines : 1, (int)ji_min(strip->width, lines - line), steps,
                        conjugate, strip->turned);
            to += (size_t)run->steps * strip->step_bytes;
        }
    }
}

/* Steps [from, end) of which all elements are stored, or (mirrored) none. */
static void product_pack_block(const product_run_t *run, const product_strip_t *strip, int64_t from,
                               int64_t end, bool mirrored) {
    const ji_operand_t *operand = strip->operand;
    if (from >= end)
        return;

    char *const to = strip->to + (size_t)(from - run->step) * strip->step_bytes;
    if (operand->type != run->call->type)
        product_pack_pieces(run, strip, strip->line + strip->count, from, end);
    else if (mirrored)
        strip->pack(to, operand_at(operand, from, strip->line), operand->step, operand->line,
                    strip->count, end - from,
                    operand->conjugate != (operand->symmetry == JI_HERMITIAN), strip->turned);
    else
        strip->pack(to, operand_at(operand, strip->line, from), operand->line, operand->step,
                    strip->count, end - from, operand->conjugate, strip->turned);
}

/* Steps [from, end), some of which are on the other side of the diagonal than others. */
static void product_pack_corner(const product_run_t *run, const product_strip_t *strip,
                                int64_t from, int64_t end) {
    _Alignas(64) char piece[JI_PRODUCT_ROWS * JI_PRODUCT_ROWS * sizeof(float)];
    const ji_operand_t *operand = strip->operand;
    if (from >= end)
        return;

    const ji_product_corner_t corner = {.from = operand_at(operand, strip->line, from),
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
    run->kernels->corner(piece, &corner);
    strip->pack(strip->to + (size_t)(from - run->step) * strip->step_bytes, piece, 1, strip->count,
                strip->count, end - from, false, strip->turned);
}

/* Which of the steps [first, last) are on the diagonal's square with these lines: [from, end). */
static void product_corner(int64_t line, int count, int64_t first, int64_t last, int64_t *from,
                           int64_t *end) {
    *from = ji_min(ji_max(line, first), last);
    *end = ji_min(ji_max(line + count, first), last);
}

/* Steps [first, last) of a symmetric or triangular operand. Of a triangle what is outside of it is
 * left as it is: nothing reads it. */
static void product_pack_sides(const product_run_t *run, const product_strip_t *strip,
                               int64_t first, int64_t last, int64_t from, int64_t end) {
    const ji_operand_t *operand = strip->operand;
    const bool triangular = operand->kind == JI_OPERAND_TRIANGULAR;

    if (operand->lower || !triangular)
        product_pack_block(run, strip, first, from, !operand->lower);
    if (!operand->lower || !triangular)
        product_pack_block(run, strip, end, last, operand->lower);
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
static void product_turn(const product_run_t *run, const product_strip_t *strip) {
    const jdatatype_t type = run->call->type;
    char *to = strip->to;

    for (int64_t step = run->step; step < run->step + run->steps; step++, to += strip->step_bytes) {
        const int64_t diagonal = step - strip->line;
        const int64_t first = strip->operand->lower ? 0 : ji_max(diagonal, 0),
                      end = strip->operand->lower ? ji_min(diagonal, strip->count) : strip->count;
        product_negate(type, ji_at(type, to, first, 0, 0), end - first);
        if (diagonal >= 0 && diagonal < strip->count)
            memset(ji_at(type, to, diagonal, 0, 0), 0, ji_sizeof(type));
    }
}

/* Only the lines of a vector and their own steps are taken one by one. */
static void product_pack(const product_run_t *run, const product_strip_t *strip) {
    const int64_t first = run->step, last = run->step + run->steps;
    if (strip->operand->kind == JI_OPERAND_GENERAL) {
        product_pack_block(run, strip, first, last, false);
        return;
    }

    int64_t from, end;
    product_corner(strip->line, strip->count, first, last, &from, &end);
    product_pack_sides(run, strip, first, last, from, end);

    for (int line = 0; line < strip->count; line += strip->group) {
        product_strip_t group = *strip;
        int64_t group_from, group_end;
        group.line += line, group.count = (int)ji_min(strip->group, strip->count - line);
        group.to += (size_t)line * ji_sizeof(run->call->type);

        product_corner(group.line, group.count, from, end, &group_from, &group_end);
        product_pack_sides(run, &group, from, end, group_from, group_end);
        product_pack_corner(run, &group, group_from, group_end);
    }
    if (strip->operand->symmetry == JI_SKEW_SYMMETRIC)
        product_turn(run, strip);
}

/* ---- A tile ---- */

/* The product's rows [i, i + rows) and columns [j, j + columns) over the panel, as sums; those
 * before first_row are not asked for. */
static void product_sums(const product_run_t *run, const char *a, const char *b, int64_t i,
                         int first_row, int rows, int64_t j, int columns, void *sums) {
    const ji_product_kernels_t *kernels = run->kernels;
    const ji_operand_t *const operand_a = &run->call->a, *const operand_b = &run->call->b;
    const bool by_rows = operand_a->kind == JI_OPERAND_TRIANGULAR;
    if (!by_rows && operand_b->kind != JI_OPERAND_TRIANGULAR) {
        kernels->tile_sums(run->steps, a, b, sums, false, first_row, rows - first_row);
        return;
    }

    const bool lower = by_rows ? operand_a->lower : operand_b->lower;
    const int64_t line = by_rows ? i : j;
    int64_t from, end;
    product_corner(line, by_rows ? rows : columns, run->step, run->step + run->steps, &from, &end);
    const int64_t before = lower ? from - run->step : 0,
                  behind = lower ? 0 : run->step + run->steps - end;

    /* Few steps beside the diagonal's square are done with it. */
    const bool joined = before + behind <= 2 * (end - from);
    const int64_t first = lower && joined ? run->step : from,
                  last = !lower && joined ? run->step + run->steps : end;
    const char *const a_corner = a + (first - run->step) * kernels->row_bytes,
                      *const b_corner = b + (first - run->step) * kernels->column_bytes;

    if (!joined && before > 0)
        kernels->tile_sums(before, a, b, sums, false, 0, rows);
    kernels->tile_corner(last - first, a_corner, b_corner, sums, !joined && before > 0, rows,
                         (int)(first - line), 1, by_rows, lower);
    if (!joined && behind > 0)
        kernels->tile_sums(behind, a_corner + (last - first) * kernels->row_bytes,
                           b_corner + (last - first) * kernels->column_bytes, sums, true, 0, rows);
}

/* Which scalars a row and column of C are for now. Of a triangle's lines those in the panel have
 * their first share. */
static const ji_product_scalars_t *product_scalars(const product_run_t *run, int64_t i, int64_t j) {
    const bool by_rows = run->call->a.kind == JI_OPERAND_TRIANGULAR;
    if (!by_rows && run->call->b.kind != JI_OPERAND_TRIANGULAR)
        return run->is_first ? &run->first : &run->more;

    const int64_t line = by_rows ? i : j;
    return line >= run->step && line < run->step + run->steps ? &run->first : &run->more;
}

/* A column of a tile with a triangle, of which not all may be written by the same scalars. */
static void product_write_column(const product_run_t *run, const char *sums, int64_t i, int rows,
                                 int64_t j) {
    const ji_product_t *call = run->call;
    const size_t element = ji_sizeof(call->type);
    const bool by_rows = call->a.kind == JI_OPERAND_TRIANGULAR;

    for (int64_t from = i, end = i + rows, next; from < end; from = next) {
        next = end;
        if (by_rows && from < run->step)
            next = ji_min(next, run->step);
        else if (by_rows && from < run->step + run->steps)
            next = ji_min(next, run->step + run->steps);

        run->kernels->update((int)(next - from), 1, sums + (size_t)(from - i) * element,
                             product_scalars(run, from, j),
                             ji_at(call->type, call->c, from, j, call->ldc), call->ldc);
    }
}

static void product_write_sums(const product_run_t *run, const char *sums, int64_t i, int rows,
                               int64_t j, int columns) {
    const ji_product_t *call = run->call;
    const size_t column_bytes = (size_t)run->kernels->rows * ji_sizeof(call->type);
    const ji_product_scalars_t *scalars = product_scalars(run, i, j);
    void *const c = ji_at(call->type, call->c, i, j, call->ldc);

    if (call->written != JI_WRITTEN_ALL) {
        run->kernels->update_triangle(rows, columns, sums, scalars, c, call->ldc, (int)(j - i),
                                      call->written == JI_WRITTEN_LOWER);
        return;
    }
    if (scalars == product_scalars(run, i + rows - 1, j + columns - 1)) {
        run->kernels->update(rows, columns, sums, scalars, c, call->ldc);
        return;
    }

    for (int column = 0; column < columns; column++, sums += column_bytes)
        product_write_column(run, sums, i, rows, j + column);
}

/* How many tiles from row i on, one below the other, are whole, and written as they are. */
static int64_t product_whole_tiles(const product_run_t *run, int64_t i, int64_t i_end, int64_t j,
                                   int64_t j_end) {
    const ji_product_t *call = run->call;
    const int64_t rows = run->kernels->rows, columns = run->kernels->columns;
    const ji_product_scalars_t *scalars = run->is_first ? &run->first : &run->more;
    if (call->complex_c || call->a.kind == JI_OPERAND_TRIANGULAR ||
        call->b.kind == JI_OPERAND_TRIANGULAR || scalars->alpha[1] != 0 || scalars->beta[1] != 0 ||
        j_end - j < columns)
        return 0;
    if (call->written == JI_WRITTEN_LOWER && i + 1 < j + columns)
        return 0;
    if (call->written == JI_WRITTEN_UPPER)
        i_end = ji_min(i_end, j + 1);
    return i_end > i ? (i_end - i) / rows : 0;
}

/* A tile that is not whole. */
static void product_tile(const product_run_t *run, const char *a, const char *b, int64_t i,
                         int64_t i_end, int64_t j, int64_t j_end) {
    const ji_product_t *call = run->call;
    const ji_product_kernels_t *kernels = run->kernels;
    const bool lower = call->written == JI_WRITTEN_LOWER, upper = call->written == JI_WRITTEN_UPPER;
    const int columns = (int)ji_min(kernels->columns, j_end - j);
    int rows = (int)ji_min(kernels->rows, i_end - i);

    if (call->complex_c) {
        kernels->tile_complex(
            run->steps, a, b, rows, columns, run->is_first ? &run->first : &run->more,
            ji_at((jdatatype_t)(call->type + JDATATYPE_F32_C), call->c, i, j, call->ldc),
            call->ldc);
        return;
    }
    if ((lower && i + rows <= j) || (upper && j + columns <= i))
        return;

    if (upper)
        rows = (int)ji_min(rows, j + columns - i);
    _Alignas(64) char sums[PRODUCT_SUMS_BYTES];
    product_sums(run, a, b, i, lower ? (int)ji_max(0, j - i) : 0, rows, j, columns, sums);
    product_write_sums(run, sums, i, rows, j, columns);
}

/* Rows [i, i_end) by a strip of columns: a tile for each strip of A, which lie one behind the
 * other. */
static void product_tiles(const product_run_t *run, const char *a, const char *b, int64_t i,
                          int64_t i_end, int64_t j, int64_t j_end) {
    const ji_product_t *call = run->call;
    const ji_product_kernels_t *kernels = run->kernels;
    const int64_t strip_bytes = run->steps * kernels->row_bytes;

    for (int64_t count; i < i_end; i += count * kernels->rows, a += count * strip_bytes) {
        count = product_whole_tiles(run, i, i_end, j, j_end);
        if (count > 0) {
            kernels->tiles(count, run->steps, a, b, run->is_first ? &run->first : &run->more,
                           ji_at(call->type, call->c, i, j, call->ldc), call->ldc);
        } else {
            product_tile(run, a, b, i, i_end, j, j_end);
            count = 1;
        }
    }
}

/* ---- Packed ---- */

/* How many portions it takes. */
static int64_t product_portions(int64_t size, int64_t portion) {
    return (size + portion - 1) / portion;
}

/* Where the n-th of so many parts begins: they differ by one at most, longer ones come first. */
static int64_t product_cut(int64_t size, int64_t n, int64_t parts) {
    return size / parts * n + ji_min(size % parts, n);
}

static void product_pack_b(const product_run_t *run, int64_t strip) {
    const size_t strip_bytes = (size_t)run->steps * (size_t)run->kernels->column_bytes;
    const product_strip_t b =
        product_strip(run, false, true, run->b_panel + (size_t)strip * strip_bytes,
                      run->column + strip * run->kernels->columns, run->column_end);
    product_pack(run, &b);
}

static void product_pack_rows(const product_run_t *run, char *a, int64_t row, int64_t row_end) {
    const int rows = run->kernels->rows;
    const product_strip_t first = product_strip(run, true, true, a, row, row_end);
    if (first.operand->type != run->call->type && first.operand->line == 1) {
        product_pack_pieces(run, &first, row_end, run->step, run->step + run->steps);
        return;
    }

    /* Columns that are far apart are read some at a time, all rows of each. */
    const bool by_steps = operand_is_plain(run->call, first.operand) && first.operand->line == 1;
    const int64_t end = run->step + run->steps, most = by_steps ? PRODUCT_PACKED_STEPS : run->steps;
    for (int64_t step = run->step; step < end; step += most) {
        char *to = a;
        for (int64_t i = row; i < row_end; i += rows, to += run->steps * run->kernels->row_bytes) {
            const product_strip_t strip = product_strip(run, true, true, to, i, row_end);
            if (by_steps)
                product_pack_block(run, &strip, step, ji_min(step + most, end), false);
            else
                product_pack(run, &strip);
        }
    }
}

/* Rows [row, row_end), of which this thread packs A, by columns [column, column_end). */
static void product_multiply_block(const product_run_t *run, char *a_panel, int64_t row,
                                   int64_t row_end, int64_t column, int64_t column_end) {
    const ji_product_kernels_t *kernels = run->kernels;
    const size_t b_strip = (size_t)run->steps * (size_t)kernels->column_bytes;

    product_pack_rows(run, a_panel, row, row_end);

    const char *b = run->b_panel + (size_t)((column - run->column) / kernels->columns) * b_strip;
    for (int64_t j = column; j < column_end; j += kernels->columns, b += b_strip)
        product_tiles(run, a_panel, b, row, row_end, j, column_end);
}

/* An item; false: there is none. */
static bool product_item(const product_run_t *run, int64_t item, int64_t *row, int64_t *row_end,
                         int64_t *column, int64_t *column_end) {
    const int rows = run->kernels->rows, columns = run->kernels->columns;
    const int64_t row_strips = product_portions(run->row_end - run->row, rows),
                  column_strips = product_portions(run->column_end - run->column, columns);
    const int64_t part = item % run->parts, group = item / run->parts % run->groups,
                  round = item / (run->parts * run->groups);
    if (round >= run->rounds)
        return false;

    const int64_t first = product_cut(row_strips, group, run->groups),
                  count = product_cut(row_strips, group + 1, run->groups) - first;
    *row = run->row + (first + product_cut(count, round, run->rounds)) * rows;
    *row_end = ji_min(run->row + (first + product_cut(count, round + 1, run->rounds)) * rows,
                      run->row_end);
    *column = run->column + product_cut(column_strips, part, run->parts) * columns;
    *column_end = ji_min(run->column + product_cut(column_strips, part + 1, run->parts) * columns,
                         run->column_end);
    return true;
}

/* Restricts the panel to what is written of C, and to what a triangular operand reaches with it. */
static void product_limit(product_run_t *run) {
    const ji_product_t *call = run->call;
    const int64_t last = run->step + run->steps;
    run->row = call->written == JI_WRITTEN_LOWER ? run->column : 0;
    run->row_end = call->written == JI_WRITTEN_UPPER ? ji_min(run->column_end, call->m) : call->m;

    if (call->a.kind == JI_OPERAND_TRIANGULAR) {
        if (call->a.lower)
            run->row = run->step;
        else
            run->row_end = ji_min(last, call->m);
    }
    if (call->b.kind == JI_OPERAND_TRIANGULAR) {
        if (call->b.lower)
            run->column = ji_max(run->column, run->step);
        else
            run->column_end = ji_min(run->column_end, last);
    }
}

/* The index of the n-th of `count` panels or blocks: those of a lower triangle from the last. */
static int64_t product_order(const ji_operand_t *operand, int64_t n, int64_t count) {
    return operand->kind == JI_OPERAND_TRIANGULAR && operand->lower ? count - 1 - n : n;
}

static const ji_operand_t *product_triangle(const ji_product_t *call) {
    return call->b.kind == JI_OPERAND_TRIANGULAR ? &call->b : &call->a;
}

static int64_t product_panels(const product_run_t *run) {
    return (run->call->k + run->depth - 1) / run->depth;
}

/* Goes to the n-th panel of the depth, and columns [column, column_end); false: it is empty. */
static bool product_go_to(product_run_t *run, int64_t n, int64_t column, int64_t column_end) {
    const ji_product_t *call = run->call;

    run->column = column, run->column_end = column_end;
    run->step = product_order(product_triangle(call), n, product_panels(run)) * run->depth;
    run->steps = ji_min(run->depth, call->k - run->step);
    run->is_first = n == 0;
    product_limit(run);
    return run->column < run->column_end;
}

/* Columns that one thread does by itself; they begin where b_panel does. */
static void product_columns(const product_run_t *shared, char *a_panel, int64_t column,
                            int64_t column_end) {
    product_run_t run = *shared;
    run.groups = run.parts = 1;

    for (int64_t panel = 0; panel < product_panels(&run); panel++) {
        if (!product_go_to(&run, panel, column, column_end))
            continue;

        const int64_t strips = product_portions(run.column_end - run.column, run.kernels->columns);
        for (int64_t strip = 0; strip < strips; strip++)
            product_pack_b(&run, strip);

        int64_t row, row_end, from, end;
        run.rounds = product_portions(run.row_end - run.row, (int)run.row_block);
        for (int64_t item = 0; product_item(&run, item, &row, &row_end, &from, &end); item++)
            product_multiply_block(&run, a_panel, row, row_end, from, end);
    }
}

/* ---- Packed: by threads ---- */

/* Where the n-th part of a block's columns begins, so that all are as much work. Of a triangle,
 * column j has as many rows as there are from it on, or to it, and half a tile. */
static int64_t product_part_column(const product_run_t *run, int64_t n) {
    const ji_product_t *call = run->call;
    const int rows = run->kernels->rows, columns = run->kernels->columns;
    const int64_t strips = product_portions(run->column_end - run->column, columns);
    if (n == run->parts)
        return run->column_end;
    if (call->written == JI_WRITTEN_ALL)
        return run->column + product_cut(strips, n, run->parts) * columns;

    const bool lower = call->written == JI_WRITTEN_LOWER;
    const double share = (double)n / (double)run->parts,
                 first = (double)(lower ? call->m - run->column : run->column) + rows / 2.0,
                 last = (double)(lower ? call->m - run->column_end : run->column_end) + rows / 2.0,
                 here = sqrt(first * first + share * (last * last - first * first));
    return run->column + (int64_t)(fabs(here - first) / columns + 0.5) * columns;
}

/* Each thread has its own part, the same at every call, which it may find in its cache. */
static void product_columns_part(void *argument, int part) {
    const product_run_t *run = argument;
    const size_t strip_bytes =
        (size_t)ji_min(run->depth, run->call->k) * (size_t)run->kernels->column_bytes;
    if (part >= run->parts)
        return;

    const int64_t column = product_part_column(run, part),
                  column_end = product_part_column(run, part + 1);
    product_run_t own = *run;
    own.b_panel += (size_t)((column - run->column) / run->kernels->columns) * strip_bytes;
    product_columns(&own, run->a_panels + (size_t)part * run->a_panel_bytes, column, column_end);
}

static void product_pack_b_part(void *argument, int index) {
    const product_run_t *run = argument;
    const int64_t strips = product_portions(run->column_end - run->column, run->kernels->columns),
                  end = product_cut(strips, index + 1, run->threads);

    for (int64_t strip = product_cut(strips, index, run->threads); strip < end; strip++)
        product_pack_b(run, strip);
}

static void product_multiply_part(void *argument, int index) {
    const product_run_t *run = argument;
    char *const a_panel = run->a_panels + (size_t)index * run->a_panel_bytes;
    int64_t row, row_end, column, column_end;

    for (int64_t item = index; product_item(run, item, &row, &row_end, &column, &column_end);
         item += run->threads)
        product_multiply_block(run, a_panel, row, row_end, column, column_end);
}

/* In tiles: a strip of A or B is packed; a strip of B is read that another processor has packed. */
#define PRODUCT_PACKING 2
#define PRODUCT_FETCHING 6

/* Divides a panel among so many threads that have packed B together: by rows or, where these are
 * too few for that, by columns, too. Says how long it takes. Where B is triangular, A is
 * overwritten: its rows are one thread's. */
static double product_divide(product_run_t *run, int count) {
    const int64_t row_strips = product_portions(run->row_end - run->row, run->kernels->rows),
                  column_strips =
                      product_portions(run->column_end - run->column, run->kernels->columns),
                  most_parts = run->call->b.kind == JI_OPERAND_TRIANGULAR ? 1 : column_strips;
    double least = INFINITY;

    run->groups = run->parts = 1;
    for (int64_t parts = 1; parts <= ji_min(count, most_parts); parts++) {
        const int64_t groups = ji_max(1, ji_min(product_portions(count, parts), row_strips));
        const double turns = (double)product_portions(groups * parts, count),
                     strips = (double)product_portions(row_strips, groups),
                     tiles = (double)product_portions(column_strips, parts),
                     time = turns * (strips * (tiles + PRODUCT_PACKING) + PRODUCT_FETCHING * tiles);
        if (time < least)
            least = time, run->groups = groups, run->parts = parts;
    }

    const int64_t strips = product_portions(row_strips, run->groups);
    run->rounds = product_portions(strips * run->kernels->rows, run->row_block);
    return least;
}

/* Whether threads divide the columns of a block; how, if so. */
static bool product_goes_by_columns(product_run_t *run, int count) {
    const ji_product_t *call = run->call;
    const int64_t strips = product_portions(run->column_end - run->column, run->kernels->columns);

    if (count > 1 && call->b.kind == JI_OPERAND_TRIANGULAR)
        return false;
    if (count > 1 && call->written == JI_WRITTEN_ALL) {
        const double rows = (double)product_portions(call->m, run->kernels->rows),
                     tiles = (double)product_portions(strips, count);
        run->row = 0, run->row_end = call->m;
        if (rows * (tiles + PRODUCT_PACKING) + PRODUCT_PACKING * tiles > product_divide(run, count))
            return false;
    }

    run->parts = ji_min(count, strips);
    return true;
}

static void product_packed(product_run_t *run, int64_t column_block) {
    const ji_product_t *call = run->call;
    const int64_t blocks = (call->n + column_block - 1) / column_block;

    ji_team_lease_t lease;
    ji_team_begin(&lease, &call->threads, /* each of them has a panel of A */
                  (int)ji_min(product_threads(call), call->threads.planned));
    run->threads = lease.count;

    for (int64_t n = 0; n < blocks; n++) {
        const int64_t column = product_order(&call->b, n, blocks) * column_block,
                      column_end = ji_min(column + column_block, call->n);
        run->column = column, run->column_end = column_end;
        if (product_goes_by_columns(run, lease.count)) {
            ji_team_do(&lease, product_columns_part, run);
            continue;
        }

        for (int64_t panel = 0; panel < product_panels(run); panel++)
            if (product_go_to(run, panel, column, column_end)) {
                (void)product_divide(run, lease.count);
                ji_team_do(&lease, product_pack_b_part, run);
                ji_team_do(&lease, product_multiply_part, run);
            }
    }

    ji_team_end(&lease);
}

/* ---- In place ---- */

/* Rows [i, end) and columns [j, j_end) over one panel: B where it lies, and A as it is, or a strip
 * after the other copied. */
static void product_direct_panel(const product_run_t *run, int64_t step, int64_t i, int64_t end,
                                 int64_t j, int64_t j_end) {
    const ji_product_t *call = run->call;
    const ji_operand_t *const a = &call->a, *const b = &call->b;
    _Alignas(64) char strip[JI_PRODUCT_STRIP_BYTES];

    const product_run_t panel = {.call = call, /* as packing reads it */
                                 .kernels = run->kernels,
                                 .depth = run->depth,
                                 .step = step,
                                 .steps = ji_min(run->depth, call->k - step)};

    ji_product_direct_t direct = {.n = j_end - j,
                                  .depth = panel.steps,
                                  .b_row_step = b->step,
                                  .b_column_step = b->line,
                                  .ldc = call->ldc,
                                  .count = 1,
                                  .b = {.at = ji_unconst(operand_at(b, j, step))},
                                  .conjugate_b = b->conjugate,
                                  .scalars = step == 0 ? run->first : run->more};

    const bool as_it_is = operand_is_plain(call, a) && a->line == 1 && !a->conjugate;
    const int64_t rows = as_it_is ? end - i : run->kernels->rows;
    for (; i < end; i += rows) {
        direct.m = ji_min(rows, end - i);
        direct.c.at = ji_at(call->type, call->c, i, j, call->ldc);

        if (as_it_is) {
            direct.a.at = ji_unconst(operand_at(a, i, step)), direct.a_step = a->step;
        } else {
            const product_strip_t to = product_strip(run, true, false, strip, i, end);
            product_pack(&panel, &to);
            direct.a.at = strip, direct.a_step = run->kernels->rows;
        }
        ji_kernels->batch[call->type]->product(&direct);
    }
}

/* A part of C: of its rows, or of its columns. */
static void product_direct_part(void *argument, int index) {
    const product_run_t *run = argument;
    const ji_product_t *call = run->call;
    int64_t row, row_end, column, column_end;

    if (product_item(run, index, &row, &row_end, &column, &column_end))
        for (int64_t step = 0; step < call->k; step += run->depth)
            product_direct_panel(run, step, row, row_end, column, column_end);
}

static void product_direct(product_run_t *run) {
    const ji_product_t *call = run->call;

    ji_team_lease_t lease;
    ji_team_begin(&lease, &call->threads, product_threads(call));
    const int64_t rows = product_portions(call->m, run->kernels->rows),
                  columns = product_portions(call->n, run->kernels->columns);
    const bool by_rows = product_portions(rows, lease.count) * columns <
                         product_portions(columns, lease.count) * rows;
    run->column_end = call->n;
    run->rounds = 1;
    run->groups = by_rows ? lease.count : 1;
    run->parts = by_rows ? 1 : lease.count;
    ji_team_do(&lease, product_direct_part, run);
    ji_team_end(&lease);
}

/* Rows [i, end) of the panel by columns [column, column_end): A is packed into `a`, which holds it,
 * and then one strip of B after the other. */
static void product_strips_of_rows(const product_run_t *run, char *a, int64_t i, int64_t end) {
    _Alignas(64) char b[JI_PRODUCT_STRIP_BYTES / 3];
    const int rows = run->kernels->rows, columns = run->kernels->columns;
    const size_t strip_bytes = (size_t)(run->steps * run->kernels->row_bytes);

    char *to = a;
    for (int64_t row = i; row < end; row += rows, to += strip_bytes) {
        const product_strip_t of_a = product_strip(run, true, true, to, row, end);
        product_pack(run, &of_a);
    }

    for (int64_t j = run->column; j < run->column_end; j += columns) {
        const product_strip_t of_b = product_strip(run, false, true, b, j, run->column_end);
        product_pack(run, &of_b);
        product_tiles(run, a, b, i, end, j, run->column_end);
    }
}

/* The panel of columns [column, column_end) by strips on the stack: as many of A at once as there
 * is room for. Where A is triangular, all of its rows need the same strip of B, before that is
 * overwritten. */
static void product_strips(product_run_t *run) {
    _Alignas(64) char a[JI_PRODUCT_STRIP_BYTES];
    const int rows = run->kernels->rows, columns = run->kernels->columns;
    const int64_t column = run->column, column_end = run->column_end,
                  most = (int64_t)sizeof a / (run->steps * run->kernels->row_bytes) * rows;

    if (run->call->a.kind != JI_OPERAND_TRIANGULAR || run->row_end - run->row <= most) {
        for (int64_t i = run->row; i < run->row_end; i += most)
            product_strips_of_rows(run, a, i, ji_min(i + most, run->row_end));
        return;
    }

    for (int64_t j = column; j < column_end; j += columns) {
        _Alignas(64) char b[JI_PRODUCT_STRIP_BYTES / 3];
        const product_strip_t of_b = product_strip(run, false, true, b, j, column_end);
        product_pack(run, &of_b);
        for (int64_t i = run->row; i < run->row_end; i += rows) {
            const product_strip_t of_a = product_strip(run, true, true, a, i, run->row_end);
            product_pack(run, &of_a);
            product_tile(run, a, b, i, run->row_end, j, column_end);
        }
    }
}

static void product_in_place(product_run_t *run) {
    const ji_product_t *call = run->call;
    if (call->written == JI_WRITTEN_ALL && !call->complex_c &&
        call->a.kind != JI_OPERAND_TRIANGULAR && operand_is_plain(call, &call->b)) {
        product_direct(run);
        return;
    }

    for (int64_t panel = 0; panel < product_panels(run); panel++)
        if (product_go_to(run, panel, 0, call->n))
            product_strips(run);
}

/* ---- The workspace ---- */

/* What the panels of so many threads take. */
typedef struct product_shape {
    int64_t row_block, column_block;
    size_t a_bytes, b_bytes; /* of a panel of A, of B's */
    size_t bytes;            /* of all */
} product_shape_t;

static const ji_product_kernels_t *product_kernels(jdatatype_t type) {
    return ji_kernels->product[type];
}

static int64_t product_depth(jdatatype_t type) {
    return ji_is_complex(type) ? JI_PRODUCT_DEPTH / 2 : JI_PRODUCT_DEPTH;
}

static product_shape_t product_shape(jdatatype_t type, int64_t m, int64_t n, int64_t k, int planned,
                                     bool small) {
    const int threads = planned < 1 ? 1 : planned; /* 0: a block that no handle has filled in */
    const ji_product_kernels_t *kernels = product_kernels(type);
    const int64_t depth = product_depth(type), steps = ji_min(k, depth);
    const int64_t a_strip = kernels->row_bytes * depth, b_strip = kernels->column_bytes * depth;

    /* Half of a second cache of 1 MiB, or of 512 KiB where vectors are narrower. */
    const int64_t a_strips = small                            ? 1
                             : ji_kernels->vector_bytes == 64 ? 491520 / a_strip
                                                              : 196608 / a_strip;
    const int64_t b_strips = small ? threads * ((int64_t)JI_PACKED_SMALL_BYTES - a_strip) / b_strip
                                   : (int64_t)PRODUCT_B_BYTES / b_strip;

    const int64_t rows = (ji_min(m, a_strips * kernels->rows) + kernels->rows - 1) / kernels->rows,
                  columns = (ji_min(n, b_strips * kernels->columns) + kernels->columns - 1) /
                            kernels->columns;
    product_shape_t shape = {.row_block = rows * kernels->rows,
                             .column_block = columns * kernels->columns,
                             .a_bytes = (size_t)(rows * steps * kernels->row_bytes),
                             .b_bytes = (size_t)(columns * steps * kernels->column_bytes)};
    shape.a_bytes = ji_whole_lines(shape.a_bytes), shape.b_bytes = ji_whole_lines(shape.b_bytes);
    shape.bytes = shape.b_bytes + (size_t)threads * shape.a_bytes;
    return shape;
}

ji_panel_bytes_t ji_product_bytes(jdatatype_t type, int64_t m, int64_t n, int64_t k, int threads) {
    const size_t packed = product_shape(type, m, n, k, threads, false).bytes,
                 small = product_shape(type, m, n, k, threads, true).bytes;
    return (ji_panel_bytes_t){.packed = packed, .packed_small = small < packed ? small : packed};
}

/* Whether one thread has all of a product's operands in its second cache, without gaps: then
 * packing them costs more than it saves (measured: up to 10 % at orders of 130 to 256). Not for
 * narrower vectors, whose processors have half of that cache and take two steps for a vector that
 * crosses a line, where A is read as it lies and is large, or B is transposed (Zen 4, AVX2: packed,
 * orders of 140 to 200 take 0.73 to 0.92 of the time); nor where columns are so far apart that they
 * share a few places of the first cache: packed, they are read from there more often. */
static bool product_is_compact(const ji_product_t *call) {
    const ji_operand_t *const a = &call->a, *const b = &call->b;
    const int64_t element = (int64_t)ji_sizeof(call->type);
    const int64_t a_ld = ji_max(a->line, a->step), b_ld = ji_max(b->line, b->step);
    const bool collides = a_ld * element % 1024 == 0 || b_ld * element % 1024 == 0;
    const bool lies_ill =
        a->line == 1 && (b->line == 1 || a_ld * call->k * element > PRODUCT_COMPACT_BYTES / 2);
    if ((collides || lies_ill) && ji_kernels->vector_bytes < 64)
        return false;

    return call->threads.count <= 1 && !ji_is_complex(call->type) &&
           ji_max(ji_max(call->m, call->n), call->k) <= 512 && operand_is_plain(call, a) &&
           operand_is_plain(call, b) && call->written == JI_WRITTEN_ALL && !call->complex_c &&
           a_ld * (a->line == 1 ? call->k : call->m) * element <= PRODUCT_COMPACT_BYTES &&
           b_ld * (b->line == 1 ? call->k : call->n) * element <= PRODUCT_COMPACT_BYTES;
}

bool ji_product_fits_stack(jdatatype_t type, int64_t m, int64_t n, int64_t k) {
    const ji_product_kernels_t *const kernels = product_kernels(type);
    const int64_t strips = product_portions(m, kernels->rows),
                  steps = ji_min(k, product_depth(type));
    return strips * steps * kernels->row_bytes <= JI_PRODUCT_STRIP_BYTES &&
           ji_product_work(type, m, n, k) < 2 * JI_PRODUCT_LEAST_WORK;
}

/* Whether it is better done in place, though there are panels: lent to an algorithm for its largest
 * product. */
static bool product_is_small(const ji_product_t *call) {
    const jdatatype_t type = call->type;
    const int64_t m = call->m, n = call->n, k = call->k;
    const double work = ji_product_work(type, m, n, k);
    const bool general = operand_is_plain(call, &call->a) && operand_is_plain(call, &call->b) &&
                         call->written == JI_WRITTEN_ALL && !call->complex_c;
    if (general ? work < JI_PACKED_LEAST_GEMM : work < JI_PACKED_LEAST_WORK)
        return true;

    return ji_min(m, n) < JI_PACKED_LEAST_SIZE || ji_product_fits_stack(type, m, n, k);
}

void ji_product(const ji_product_t *call) {
    product_run_t run = {.call = call,
                         .kernels = product_kernels(call->type),
                         .depth = product_depth(call->type),
                         .row_end = call->m,
                         .first = call->scalars,
                         .more = call->scalars};
    run.more.beta[0] = 1, run.more.beta[1] = 0;

    if (call->panels == NULL || product_is_small(call) || product_is_compact(call)) {
        product_in_place(&run);
        return;
    }

    const int threads = call->threads.planned;
    product_shape_t shape = product_shape(call->type, call->m, call->n, call->k, threads, false);
    if (shape.bytes > call->panel_bytes)
        shape = product_shape(call->type, call->m, call->n, call->k, threads, true);
    if (shape.bytes > call->panel_bytes) { /* lent for something smaller */
        product_in_place(&run);
        return;
    }

    run.b_panel = call->panels;
    run.a_panels = run.b_panel + shape.b_bytes;
    run.a_panel_bytes = shape.a_bytes;
    run.row_block = shape.row_block;
    product_packed(&run, shape.column_block);
}
