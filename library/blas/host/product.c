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
 *                    contiguous, a strip of it is copied to the stack. Operands that have to be
 *                    packed, as triangular ones, are by strips on the stack, both; but rows of
 *                    reals that a triangle multiplies are read where they lie.
 *
 * A triangle of C is tiles, of which those on the diagonal compute more than is written; or, in
 * place, a strip of rows after the other, each with one square on the diagonal: small ones are done
 * so though there is workspace.
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

#include "blas/algorithms/product.h"
#include "blas/host/product_pack.h"

#include "core/team.h"

#include <math.h>

#define PRODUCT_B_BYTES ((size_t)6291456)
#define PRODUCT_PIECE_BYTES 262144 /* of B, in place, at once, of so many columns */
#define PRODUCT_PIECE_COLUMNS 48
#define PRODUCT_LOW_TILES 4       /* of rows, for which packing B does not pay */
#define PRODUCT_SUMS_BYTES 1536   /* of a tile */
#define PRODUCT_SQUARE_BYTES 9216 /* of a tile's rows, by as many columns */

typedef struct product_run {
    ji_product_panel_t panel; /* at hand */
    int64_t depth;            /* steps of a panel */
    int64_t row_block;        /* rows that a panel of A holds */
    char *b_panel, *a_panels;
    size_t a_panel_bytes;

    /* Rows [row, row_end) of C by columns [column, column_end), with the panel at hand. */
    int64_t row, row_end, column, column_end;
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

/* ---- A tile ---- */

/* Rows of A, in strips, and how many bytes from one to the next, and from a step to the next. */
typedef struct product_rows {
    const char *at;
    int64_t strip, step;
} product_rows_t;

static product_rows_t product_packed_rows(const product_run_t *run, const char *a) {
    const int64_t step = run->panel.kernels->row_bytes;
    return (product_rows_t){a, run->panel.steps * step, step};
}

/* Of C, what a product's sums are. */
static const ji_product_scalars_t product_sums_alone = {.alpha = {1}};

static bool product_has_triangle(const ji_product_t *call) {
    return call->a.kind == JI_OPERAND_TRIANGULAR || call->b.kind == JI_OPERAND_TRIANGULAR;
}

/* Rows [i, i + rows) and columns [j, j + columns) over the panel, one of whose operands is
 * triangular. */
static void product_wedge(const product_run_t *run, product_rows_t a, const char *b, int64_t i,
                          int rows, int64_t j, int columns, const ji_product_scalars_t *scalars,
                          void *c, int64_t ldc) {
    const ji_product_panel_t *panel = &run->panel;
    const ji_product_t *call = panel->call;
    const bool by_rows = call->a.kind == JI_OPERAND_TRIANGULAR,
               lower = by_rows ? call->a.lower : call->b.lower;
    const int64_t line = by_rows ? i : j, end = panel->step + panel->steps;
    int64_t from, past;
    ji_steps_on_diagonal(line, by_rows ? rows : columns, panel->step, end, &from, &past);

    const int64_t first = lower ? panel->step : from, last = lower ? past : end;
    const int parts = ji_is_complex(call->type) ? 2 : 1;
    const ji_product_wedge_t wedge = {.first = (int)(first - line),
                                      .parts = parts,
                                      .by_rows = by_rows,
                                      .lower = lower,
                                      .a_step = a.step / (int64_t)ji_sizeof(call->type)};
    const ji_product_tile_t tile = {.depth = parts * (last - first),
                                    .a = a.at + (first - panel->step) * a.step,
                                    .b = b + (first - panel->step) * panel->kernels->column_bytes,
                                    .rows = parts * rows,
                                    .columns = columns,
                                    .scalars = scalars,
                                    .c = c,
                                    .ldc = parts * ldc};
    panel->kernels->tile_wedge(&tile, &wedge);
}

/* The product's rows [i, i + rows) and columns [j, j + columns) over the panel, as sums; those
 * before first_row are not asked for. */
static void product_sums(const product_run_t *run, product_rows_t a, const char *b, int64_t i,
                         int first_row, int rows, int64_t j, int columns, void *sums) {
    const ji_product_kernels_t *kernels = run->panel.kernels;
    if (product_has_triangle(run->panel.call))
        product_wedge(run, a, b, i, rows, j, columns, &product_sums_alone, sums, kernels->rows);
    else
        kernels->tile_sums(run->panel.steps, a.at, b, sums, first_row, rows - first_row);
}

/* Which scalars a row and column of C are for now. Of a triangle's lines those in the panel have
 * their first share. */
static const ji_product_scalars_t *product_scalars(const product_run_t *run, int64_t i, int64_t j) {
    if (!product_has_triangle(run->panel.call))
        return run->is_first ? &run->first : &run->more;

    const int64_t line = run->panel.call->a.kind == JI_OPERAND_TRIANGULAR ? i : j;
    return line >= run->panel.step && line < run->panel.step + run->panel.steps ? &run->first
                                                                                : &run->more;
}

/* A column of a tile with a triangle, of which not all may be written by the same scalars. */
static void product_write_column(const product_run_t *run, const char *sums, int64_t i, int rows,
                                 int64_t j) {
    const ji_product_t *call = run->panel.call;
    const size_t element = ji_sizeof(call->type);
    const bool by_rows = call->a.kind == JI_OPERAND_TRIANGULAR;

    for (int64_t from = i, end = i + rows, next; from < end; from = next) {
        next = end;
        if (by_rows && from < run->panel.step)
            next = ji_min(next, run->panel.step);
        else if (by_rows && from < run->panel.step + run->panel.steps)
            next = ji_min(next, run->panel.step + run->panel.steps);

        run->panel.kernels->update((int)(next - from), 1, sums + (size_t)(from - i) * element,
                                   product_scalars(run, from, j),
                                   ji_at(call->type, call->c, from, j, call->ldc), call->ldc);
    }
}

/* Whether all of a tile has these scalars, which its first element has. */
static bool product_has_scalars(const product_run_t *run, const ji_product_scalars_t *scalars,
                                int64_t i, int rows, int64_t j, int columns) {
    return scalars == product_scalars(run, i + rows - 1, j + columns - 1);
}

static void product_write_sums(const product_run_t *run, const char *sums, int64_t i, int rows,
                               int64_t j, int columns) {
    const ji_product_t *call = run->panel.call;
    const size_t column_bytes = (size_t)run->panel.kernels->rows * ji_sizeof(call->type);
    const ji_product_scalars_t *scalars = product_scalars(run, i, j);
    void *const c = ji_at(call->type, call->c, i, j, call->ldc);

    if (call->written != JI_WRITTEN_ALL) {
        run->panel.kernels->update_triangle(rows, columns, sums, scalars, c, call->ldc,
                                            (int)(j - i), call->written == JI_WRITTEN_LOWER);
        return;
    }
    if (product_has_scalars(run, scalars, i, rows, j, columns)) {
        run->panel.kernels->update(rows, columns, sums, scalars, c, call->ldc);
        return;
    }

    for (int column = 0; column < columns; column++, sums += column_bytes)
        product_write_column(run, sums, i, rows, j + column);
}

static bool product_is_real(const ji_product_scalars_t *scalars) {
    return scalars->alpha[1] == 0 && scalars->beta[1] == 0;
}

/* How many tiles from row i on, one below the other, are whole, and written as they are. */
static int64_t product_whole_tiles(const product_run_t *run, int64_t i, int64_t i_end, int64_t j,
                                   int64_t j_end) {
    const ji_product_t *call = run->panel.call;
    const int64_t rows = run->panel.kernels->rows, columns = run->panel.kernels->columns;
    const ji_product_scalars_t *scalars = run->is_first ? &run->first : &run->more;
    if (call->complex_c || product_has_triangle(call) || !product_is_real(scalars) ||
        j_end - j < columns)
        return 0;
    if (call->written == JI_WRITTEN_LOWER && i + 1 < j + columns)
        return 0;
    if (call->written == JI_WRITTEN_UPPER)
        i_end = ji_min(i_end, j + 1);
    return i_end > i ? (i_end - i) / rows : 0;
}

/* A tile that is not whole. */
static void product_tile(const product_run_t *run, product_rows_t a, const char *b, int64_t i,
                         int64_t i_end, int64_t j, int64_t j_end) {
    const ji_product_t *call = run->panel.call;
    const ji_product_kernels_t *kernels = run->panel.kernels;
    const bool lower = call->written == JI_WRITTEN_LOWER, upper = call->written == JI_WRITTEN_UPPER;
    const int columns = (int)ji_min(kernels->columns, j_end - j);
    int rows = (int)ji_min(kernels->rows, i_end - i);

    if (call->complex_c) {
        kernels->tile_complex(
            run->panel.steps, a.at, b, rows, columns, run->is_first ? &run->first : &run->more,
            ji_at((jdatatype_t)(call->type + JDATATYPE_F32_C), call->c, i, j, call->ldc),
            call->ldc);
        return;
    }
    if ((lower && i + rows <= j) || (upper && j + columns <= i))
        return;

    if (upper)
        rows = (int)ji_min(rows, j + columns - i);
    if (product_has_triangle(call) && call->written == JI_WRITTEN_ALL) {
        const ji_product_scalars_t *const scalars = product_scalars(run, i, j);
        if (product_is_real(scalars) && product_has_scalars(run, scalars, i, rows, j, columns)) {
            product_wedge(run, a, b, i, rows, j, columns, scalars,
                          ji_at(call->type, call->c, i, j, call->ldc), call->ldc);
            return;
        }
    }

    _Alignas(64) char sums[PRODUCT_SUMS_BYTES];
    product_sums(run, a, b, i, lower ? (int)ji_max(0, j - i) : 0, rows, j, columns, sums);
    product_write_sums(run, sums, i, rows, j, columns);
}

/* Rows [i, i_end) by a strip of columns: a tile for each strip of A. */
static void product_tiles(const product_run_t *run, product_rows_t a, const char *b, int64_t i,
                          int64_t i_end, int64_t j, int64_t j_end) {
    const ji_product_t *call = run->panel.call;
    const ji_product_kernels_t *kernels = run->panel.kernels;

    for (int64_t count; i < i_end; i += count * kernels->rows, a.at += count * a.strip) {
        count = product_whole_tiles(run, i, i_end, j, j_end);
        if (count > 0) {
            kernels->tiles(count, run->panel.steps, a.at, b,
                           run->is_first ? &run->first : &run->more,
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
    const size_t strip_bytes = (size_t)run->panel.steps * (size_t)run->panel.kernels->column_bytes;
    const ji_product_strip_t b =
        ji_strip_of_b(&run->panel, run->b_panel + (size_t)strip * strip_bytes,
                      run->column + strip * run->panel.kernels->columns, run->column_end);
    ji_pack_strip(&run->panel, &b);
}

/* Rows [row, row_end), of which this thread packs A, by columns [column, column_end). */
static void product_multiply_block(const product_run_t *run, char *a_panel, int64_t row,
                                   int64_t row_end, int64_t column, int64_t column_end) {
    const ji_product_kernels_t *kernels = run->panel.kernels;
    const size_t b_strip = (size_t)run->panel.steps * (size_t)kernels->column_bytes;

    ji_pack_rows(&run->panel, a_panel, row, row_end);

    const char *b = run->b_panel + (size_t)((column - run->column) / kernels->columns) * b_strip;
    for (int64_t j = column; j < column_end; j += kernels->columns, b += b_strip)
        product_tiles(run, product_packed_rows(run, a_panel), b, row, row_end, j, column_end);
}

/* An item; false: there is none. */
static bool product_item(const product_run_t *run, int64_t item, int64_t *row, int64_t *row_end,
                         int64_t *column, int64_t *column_end) {
    const int rows = run->panel.kernels->rows, columns = run->panel.kernels->columns;
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
    const ji_product_t *call = run->panel.call;
    const int64_t last = run->panel.step + run->panel.steps;
    run->row = call->written == JI_WRITTEN_LOWER ? run->column : 0;
    run->row_end = call->written == JI_WRITTEN_UPPER ? ji_min(run->column_end, call->m) : call->m;

    if (call->a.kind == JI_OPERAND_TRIANGULAR) {
        if (call->a.lower)
            run->row = run->panel.step;
        else
            run->row_end = ji_min(last, call->m);
    }
    if (call->b.kind == JI_OPERAND_TRIANGULAR) {
        if (call->b.lower)
            run->column = ji_max(run->column, run->panel.step);
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
    return (run->panel.call->k + run->depth - 1) / run->depth;
}

/* Goes to the n-th panel of the depth, and columns [column, column_end); false: it is empty. */
static bool product_go_to(product_run_t *run, int64_t n, int64_t column, int64_t column_end) {
    const ji_product_t *call = run->panel.call;

    run->column = column, run->column_end = column_end;
    run->panel.step = product_order(product_triangle(call), n, product_panels(run)) * run->depth;
    run->panel.steps = ji_min(run->depth, call->k - run->panel.step);
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

        const int64_t strips =
            product_portions(run.column_end - run.column, run.panel.kernels->columns);
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
    const ji_product_t *call = run->panel.call;
    const int rows = run->panel.kernels->rows, columns = run->panel.kernels->columns;
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
        (size_t)ji_min(run->depth, run->panel.call->k) * (size_t)run->panel.kernels->column_bytes;
    if (part >= run->parts)
        return;

    const int64_t column = product_part_column(run, part),
                  column_end = product_part_column(run, part + 1);
    product_run_t own = *run;
    own.b_panel += (size_t)((column - run->column) / run->panel.kernels->columns) * strip_bytes;
    product_columns(&own, run->a_panels + (size_t)part * run->a_panel_bytes, column, column_end);
}

static void product_pack_b_part(void *argument, int index) {
    const product_run_t *run = argument;
    const int64_t strips =
                      product_portions(run->column_end - run->column, run->panel.kernels->columns),
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
    const int64_t row_strips = product_portions(run->row_end - run->row, run->panel.kernels->rows),
                  column_strips =
                      product_portions(run->column_end - run->column, run->panel.kernels->columns),
                  most_parts = run->panel.call->b.kind == JI_OPERAND_TRIANGULAR ? 1 : column_strips;
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
    run->rounds = product_portions(strips * run->panel.kernels->rows, run->row_block);
    return least;
}

/* Whether threads divide the columns of a block; how, if so. */
static bool product_goes_by_columns(product_run_t *run, int count) {
    const ji_product_t *call = run->panel.call;
    const int64_t strips =
        product_portions(run->column_end - run->column, run->panel.kernels->columns);

    if (count > 1 && call->b.kind == JI_OPERAND_TRIANGULAR)
        return false;
    if (count > 1 && call->written == JI_WRITTEN_ALL) {
        const double rows = (double)product_portions(call->m, run->panel.kernels->rows),
                     tiles = (double)product_portions(strips, count);
        run->row = 0, run->row_end = call->m;
        if (rows * (tiles + PRODUCT_PACKING) + PRODUCT_PACKING * tiles > product_divide(run, count))
            return false;
    }

    run->parts = ji_min(count, strips);
    return true;
}

static void product_packed(product_run_t *run, int64_t column_block) {
    const ji_product_t *call = run->panel.call;
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

/* The panel from this step on, A and B of which are read in place. */
static ji_product_panel_t product_direct_panel(const product_run_t *run, int64_t step) {
    ji_product_panel_t panel = run->panel;
    panel.step = step, panel.steps = ji_min(run->depth, panel.call->k - step);
    return panel;
}

/* Whether A is read as it lies: not where its columns are pages apart, and those of C so many that
 * each strip of it is read again and again. */
static bool product_reads_a(const ji_product_t *call) {
    return ji_operand_is_plain(call, &call->a) && call->a.line == 1 && !call->a.conjugate &&
           !ji_product_copies(call->type, call->m, call->n, call->k, call->a.step);
}

/* How many of the rows [i, end) a strip has that is copied: of several, so many that those below
 * begin with a whole vector of C, where they can. */
static int64_t product_copied_rows(const ji_product_t *call, int64_t i, int64_t end, int64_t j,
                                   int64_t rows) {
    const uintptr_t element = ji_sizeof(call->type),
                    past = (uintptr_t)ji_at(call->type, call->c, i, j, call->ldc) %
                           (uintptr_t)ji_kernels->vector_bytes;
    if (end - i < PRODUCT_LOW_TILES * rows || past % element != 0)
        return ji_min(rows, end - i);
    return rows - (int64_t)(past / element);
}

/* A product with the panel: rows [i, i + rows) of A as it is, or copied into `strip`; what it
 * becomes is not said yet. */
static ji_product_direct_t product_direct_rows(const ji_product_panel_t *panel, char *strip,
                                               int64_t i, int64_t rows) {
    const ji_product_t *call = panel->call;
    ji_product_direct_t direct = {.m = rows,
                                  .depth = panel->steps,
                                  .b_row_step = call->b.step,
                                  .b_column_step = call->b.line,
                                  .count = 1,
                                  .conjugate_b = call->b.conjugate};

    if (product_reads_a(call)) {
        direct.a.at = ji_unconst(ji_operand_at(&call->a, i, panel->step));
        direct.a_step = call->a.step;
    } else {
        const ji_product_strip_t to = ji_strip_of_a(panel, false, strip, i, i + rows);
        ji_pack_strip(panel, &to);
        direct.a.at = strip, direct.a_step = panel->kernels->rows;
    }
    return direct;
}

/* Such a product by `columns` from j on, to c. */
static void product_direct_columns(const ji_product_panel_t *panel, ji_product_direct_t *direct,
                                   int64_t j, int64_t columns, const ji_product_scalars_t *scalars,
                                   void *c, int64_t ldc) {
    direct->n = columns;
    direct->b.at = ji_unconst(ji_operand_at(&panel->call->b, j, panel->step));
    direct->scalars = *scalars;
    direct->c.at = c, direct->ldc = ldc;
    ji_kernels->batch[panel->call->type]->product(direct);
}

/* How many columns of the panel are done at once, by an A that is read as it lies: each tile's rows
 * read all of them, out of the second cache but for the first time. */
static int64_t product_piece_columns(const ji_product_panel_t *panel, int64_t rows) {
    const int64_t column = panel->steps * (int64_t)ji_sizeof(panel->call->type);
    if (rows <= panel->kernels->rows)
        return INT64_MAX;
    return ji_max(PRODUCT_PIECE_BYTES / column / PRODUCT_PIECE_COLUMNS, 1) * PRODUCT_PIECE_COLUMNS;
}

/* Rows [i, end) and columns [j, j_end) over one panel. */
static void product_direct_block(const product_run_t *run, int64_t step, int64_t i, int64_t end,
                                 int64_t j, int64_t j_end) {
    const ji_product_t *call = run->panel.call;
    const ji_product_panel_t panel = product_direct_panel(run, step);
    const ji_product_scalars_t *const scalars = step == 0 ? &run->first : &run->more;
    _Alignas(64) char strip[JI_PRODUCT_STRIP_BYTES];

    if (product_reads_a(call)) {
        const int64_t most = product_piece_columns(&panel, end - i);
        ji_product_direct_t direct = product_direct_rows(&panel, strip, i, end - i);
        for (int64_t columns; j < j_end; j += columns) {
            columns = ji_min(most, j_end - j);
            product_direct_columns(&panel, &direct, j, columns, scalars,
                                   ji_at(call->type, call->c, i, j, call->ldc), call->ldc);
        }
        return;
    }

    for (int64_t rows; i < end; i += rows) {
        rows = product_copied_rows(call, i, end, j, panel.kernels->rows);
        ji_product_direct_t direct = product_direct_rows(&panel, strip, i, rows);
        product_direct_columns(&panel, &direct, j, j_end - j, scalars,
                               ji_at(call->type, call->c, i, j, call->ldc), call->ldc);
    }
}

/* How many of so many rows are done at once: what remains beside a strip is halved with it. */
static int64_t product_strip_rows(const ji_product_kernels_t *kernels, int64_t left) {
    const int64_t rows = kernels->rows, vector = kernels->vector_rows;
    if (left <= rows)
        return left;
    return left >= 2 * rows ? rows : (left / 2 + vector - 1) / vector * vector;
}

/* A triangle of C over one panel, by strips of rows: what is beside the square on the diagonal as
 * any product, and of the square its sums, of which a triangle is written. */
static void product_direct_triangle(const product_run_t *run, int64_t step) {
    const ji_product_t *call = run->panel.call;
    const ji_product_panel_t panel = product_direct_panel(run, step);
    const ji_product_scalars_t *const scalars = step == 0 ? &run->first : &run->more;
    const bool lower = call->written == JI_WRITTEN_LOWER;
    _Alignas(64) char strip[JI_PRODUCT_STRIP_BYTES], sums[PRODUCT_SQUARE_BYTES];

    for (int64_t i = 0, rows; i < call->m; i += rows) {
        rows = product_strip_rows(panel.kernels, call->m - i);
        ji_product_direct_t direct = product_direct_rows(&panel, strip, i, rows);

        const int64_t j = lower ? 0 : i + rows, columns = lower ? i : call->n - j;
        if (columns > 0)
            product_direct_columns(&panel, &direct, j, columns, scalars,
                                   ji_at(call->type, call->c, i, j, call->ldc), call->ldc);
        product_direct_columns(&panel, &direct, i, rows, &product_sums_alone, sums,
                               panel.kernels->rows);
        panel.kernels->update_triangle((int)rows, (int)rows, sums, scalars,
                                       ji_at(call->type, call->c, i, i, call->ldc), call->ldc, 0,
                                       lower);
    }
}

/* A part of C: of its rows, or of its columns. */
static void product_direct_part(void *argument, int index) {
    const product_run_t *run = argument;
    const ji_product_t *call = run->panel.call;
    int64_t row, row_end, column, column_end;

    if (product_item(run, index, &row, &row_end, &column, &column_end))
        for (int64_t step = 0; step < call->k; step += run->depth)
            product_direct_block(run, step, row, row_end, column, column_end);
}

static void product_direct(product_run_t *run) {
    const ji_product_t *call = run->panel.call;

    ji_team_lease_t lease;
    ji_team_begin(&lease, &call->threads, product_threads(call));
    const int64_t rows = product_portions(call->m, run->panel.kernels->rows),
                  columns = product_portions(call->n, run->panel.kernels->columns);
    const bool by_rows = product_portions(rows, lease.count) * columns <
                         product_portions(columns, lease.count) * rows;
    run->column_end = call->n;
    run->rounds = 1;
    run->groups = by_rows ? lease.count : 1;
    run->parts = by_rows ? 1 : lease.count;
    ji_team_do(&lease, product_direct_part, run);
    ji_team_end(&lease);
}

/* Whether rows of an A that a triangle multiplies are read as they lie: C, which they are part of,
 * is overwritten after its last use. */
static bool product_reads_rows(const ji_product_t *call) {
    return call->b.kind == JI_OPERAND_TRIANGULAR && product_reads_a(call) &&
           ji_product_reads_rows(call->type, call->m, call->n, call->k, call->a.step);
}

/* The end of those of rows [i, end) that are: a strip that ends within a vector is not. */
static int64_t product_read_rows(const ji_product_t *call, int64_t i, int64_t end) {
    const ji_product_kernels_t *const kernels = ji_kernels->product[call->type];
    const int64_t rows = end - i;
    if (rows < kernels->vector_rows || !product_reads_rows(call))
        return i;
    return rows % kernels->vector_rows == 0 ? end : i + rows / kernels->rows * kernels->rows;
}

/* Rows [i, end) of the panel by columns [column, column_end): A is read, or packed into `a`, which
 * holds it, and then one strip of B after the other is packed. Of a lower triangle the last columns
 * need nothing of those before. */
static void product_strips_of_rows(const product_run_t *run, char *a, int64_t i, int64_t end) {
    _Alignas(64) char b[JI_PRODUCT_STRIP_BYTES / 3];
    const ji_product_t *call = run->panel.call;
    const int64_t element = (int64_t)ji_sizeof(call->type),
                  read_end = product_read_rows(call, i, end);
    const int columns = run->panel.kernels->columns;
    const product_rows_t packed = product_packed_rows(run, a),
                         read = {ji_operand_at(&call->a, i, run->panel.step),
                                 run->panel.kernels->rows * element, call->a.step * element};
    if (read_end < end)
        ji_pack_rows(&run->panel, a, read_end, end);

    const int64_t strips = product_portions(run->column_end - run->column, columns);
    for (int64_t n = 0; n < strips; n++) {
        const int64_t j = run->column + product_order(&call->b, n, strips) * columns;
        const ji_product_strip_t of_b = ji_strip_of_b(&run->panel, b, j, run->column_end);
        ji_pack_strip(&run->panel, &of_b);
        product_tiles(run, read, b, i, read_end, j, run->column_end);
        product_tiles(run, packed, b, read_end, end, j, run->column_end);
    }
}

/* The panel of columns [column, column_end) by strips on the stack: as many of A at once as there
 * is room for. Where A is triangular, all of its rows need the same strip of B, before that is
 * overwritten. */
static void product_strips(product_run_t *run) {
    _Alignas(64) char a[JI_PRODUCT_STRIP_BYTES];
    const int rows = run->panel.kernels->rows, columns = run->panel.kernels->columns;
    const int64_t column = run->column, column_end = run->column_end,
                  room = (int64_t)sizeof a / (run->panel.steps * run->panel.kernels->row_bytes),
                  most =
                      product_reads_rows(run->panel.call) ? run->row_end - run->row : room * rows;

    if (run->panel.call->a.kind != JI_OPERAND_TRIANGULAR || run->row_end - run->row <= most) {
        for (int64_t i = run->row; i < run->row_end; i += most)
            product_strips_of_rows(run, a, i, ji_min(i + most, run->row_end));
        return;
    }

    for (int64_t j = column; j < column_end; j += columns) {
        _Alignas(64) char b[JI_PRODUCT_STRIP_BYTES / 3];
        const ji_product_strip_t of_b = ji_strip_of_b(&run->panel, b, j, column_end);
        ji_pack_strip(&run->panel, &of_b);
        for (int64_t i = run->row; i < run->row_end; i += rows) {
            const ji_product_strip_t of_a = ji_strip_of_a(&run->panel, true, a, i, run->row_end);
            ji_pack_strip(&run->panel, &of_a);
            product_tile(run, product_packed_rows(run, a), b, i, run->row_end, j, column_end);
        }
    }
}

/* Whether B is read where it lies, and A, unless it is copied, too. Triangles of C not by the
 * narrowest vectors, whose products in place take longer than what tiles compute in vain. */
static bool product_is_direct(const ji_product_t *call) {
    if (!ji_operand_is_plain(call, &call->b) || call->complex_c)
        return false;
    if (call->written != JI_WRITTEN_ALL)
        return ji_operand_is_plain(call, &call->a) && ji_kernels->vector_bytes > 16;
    return call->a.kind != JI_OPERAND_TRIANGULAR;
}

static void product_in_place(product_run_t *run) {
    const ji_product_t *call = run->panel.call;

    if (!product_is_direct(call)) {
        for (int64_t panel = 0; panel < product_panels(run); panel++)
            if (product_go_to(run, panel, 0, call->n))
                product_strips(run);
    } else if (call->written == JI_WRITTEN_ALL) {
        product_direct(run);
    } else {
        for (int64_t step = 0; step < call->k; step += run->depth)
            product_direct_triangle(run, step);
    }
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

/* Whether the columns of an operand are so far apart that they share a few places of the first
 * cache. */
static bool product_collides(const ji_product_t *call, const ji_operand_t *operand) {
    return ji_max(operand->line, operand->step) * (int64_t)ji_sizeof(call->type) % 1024 == 0;
}

/* Whether one thread has all of a product's operands in its second cache, without gaps, and C: then
 * packing them costs more than it saves (measured: up to 10 % at orders of 130 to 256, of 264 to
 * 440 up to 17 % where that cache has 2 MiB). Not for narrower vectors, whose processors have half
 * of that cache and take two steps for a vector that crosses a line, where A is read as it lies and
 * is large, or B is transposed (Zen 4, AVX2: packed, orders of 140 to 200 take 0.73 to 0.92 of the
 * time); nor where columns collide: packed, they are read more often from the first cache. */
static bool product_is_compact(const ji_product_t *call) {
    const ji_operand_t *const a = &call->a, *const b = &call->b;
    const int64_t element = (int64_t)ji_sizeof(call->type),
                  a_bytes = element * (a->line == 1 ? a->step * call->k : a->line * call->m),
                  b_bytes = element * (b->line == 1 ? b->step * call->k : b->line * call->n),
                  c_bytes = element * call->m * call->n;
    const int64_t most = b->line == 1 ? JI_NEAR_LEAST_BYTES : ji_near_bytes();
    const bool collides = product_collides(call, a) || product_collides(call, b);
    const bool lies_ill = a->line == 1 && (b->line == 1 || a_bytes > JI_NEAR_LEAST_BYTES / 2);
    if ((collides || lies_ill) && ji_kernels->vector_bytes < 64)
        return false;

    return call->threads.count <= 1 && !ji_is_complex(call->type) &&
           ji_max(ji_max(call->m, call->n), call->k) <= 512 && ji_max(a_bytes, b_bytes) <= most &&
           c_bytes <= 2 * most;
}

/* The same for a triangle of C, of which tiles compute more than is written (Zen 3: syrk of order
 * 100 takes 0.64 to 0.94 of the time in place, of complex elements 0.89 to 1): panel by panel. */
static bool product_triangle_is_compact(const ji_product_t *call) {
    const ji_operand_t *const a = &call->a, *const b = &call->b;
    const int64_t steps = ji_min(call->k, product_depth(call->type));
    const int64_t bytes =
        steps * (int64_t)ji_sizeof(call->type) *
        ji_max(a->line == 1 ? a->step : call->m, b->line == 1 ? b->step : call->n);
    if (call->threads.count > 1 && product_threads(call) > 1)
        return false;
    if (b->line == 1 || ji_is_complex(call->type))
        return bytes < JI_NEAR_LEAST_BYTES / 4 &&
               (ji_is_complex(call->type) ||
                (!product_collides(call, a) && !product_collides(call, b)));
    return bytes <= JI_NEAR_LEAST_BYTES;
}

bool ji_product_fits_stack(jdatatype_t type, int64_t m, int64_t n, int64_t k) {
    const ji_product_kernels_t *const kernels = product_kernels(type);
    const int64_t strips = product_portions(m, kernels->rows),
                  steps = ji_min(k, product_depth(type));
    return strips * steps * kernels->row_bytes <= JI_PRODUCT_STRIP_BYTES &&
           ji_product_work(type, m, n, k) < 2 * JI_PRODUCT_LEAST_WORK;
}

/* Whether rows are so few that columns of B, packed, would not be read often enough. Emerald
 * Rapids, in place over packed: dgemm of 32 x 1024 x 1024 1.8 (AVX2: 1.4), TN of 48 x 1024 x 1024
 * 1.5, of 96 rows 1.2; sgemm of 32 x 1024 x 1024 1.5 (AVX2). Complex ones were not measured. */
static bool product_is_low(const ji_product_t *call) {
    return !ji_is_complex(call->type) && call->b.step == 1 &&
           call->m <= PRODUCT_LOW_TILES * product_kernels(call->type)->rows;
}

/* Whether it is better done in place, though there are panels: lent to an algorithm for its largest
 * product. */
static bool product_is_small(const ji_product_t *call) {
    const jdatatype_t type = call->type;
    const int64_t m = call->m, n = call->n, k = call->k;
    const double work = ji_product_work(type, m, n, k);
    const bool plain = product_is_direct(call) && ji_operand_is_plain(call, &call->a);
    const bool whole = call->written == JI_WRITTEN_ALL;
    if (work < (plain && whole ? JI_PACKED_LEAST_GEMM : JI_PACKED_LEAST_WORK) ||
        ji_min(m, n) < JI_PACKED_LEAST_SIZE || ji_product_fits_stack(type, m, n, k) ||
        (product_reads_rows(call) && ji_product_reads_few_rows(type, m, n, k, call->a.step)))
        return true;
    return plain && (whole ? product_is_low(call) || product_is_compact(call)
                           : product_triangle_is_compact(call));
}

void ji_product(const ji_product_t *call) {
    product_run_t run = {.panel = {.call = call, .kernels = product_kernels(call->type)},
                         .depth = product_depth(call->type),
                         .row_end = call->m,
                         .first = call->scalars,
                         .more = call->scalars};
    run.more.beta[0] = 1, run.more.beta[1] = 0;

    if (call->panels == NULL || product_is_small(call)) {
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
