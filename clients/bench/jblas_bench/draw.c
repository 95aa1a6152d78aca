/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "draw.h"

#include <math.h>
#include <string.h>

#include "measure.h"

/* xorshift64*: Vigna, ACM Transactions on Mathematical Software 42, 2016. */
static double draw_unit(draw_t *draw) {
    uint64_t x = draw->state != 0 ? draw->state : 1;
    x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
    draw->state = x;
    return (double)(x * UINT64_C(2685821657736338717) >> 11) / 9007199254740992.0;
}
static int64_t draw_size(draw_t *draw) {
    const double low = log((double)draw->low), high = log((double)draw->high);
    return (int64_t)lround(exp(low + (high - low) * draw_unit(draw)));
}
static int draw_of(draw_t *draw, int first, int second) {
    return draw_unit(draw) < 0.5 ? first : second;
}

bool draw_has(const routine_t *routine) {
    static const char drawn[] =
        " gemm symm hemm syrk herk syr2k her2k gemmt syrkx herkx skewsymm skewsyr2k trmm trsm "
        "trtri potrf potrs getrf getrs gesv getri trtrs posv lauum potri sytrf hetrf sytrs hetrs "
        "sysv hesv geqrf orgqr ormqr gelqf orglq ormlq gels geqp3 gecon pocon gerfs porfs dsgesv "
        "dsposv syev syevd sygvd gesvd gesdd geev gees gelsd ";
    const char *found = strstr(drawn, routine->name);
    return found != NULL && found[-1] == ' ' && found[strlen(routine->name)] == ' ';
}

static void draw_options(draw_t *draw, options_t *o) {
    o->m = draw_size(draw), o->n = draw_size(draw), o->k = draw_size(draw);
    o->nrhs = draw_size(draw);
    o->side = draw_of(draw, JBLAS_LEFT, JBLAS_RIGHT);
    o->uplo = draw_of(draw, JBLAS_UPPER, JBLAS_LOWER);
    o->transa = draw_of(draw, JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE);
    o->transb = draw_of(draw, JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE);
    o->jobz = JLAPACK_NONE;
}

/* What counts none, drivers, by the largest size. */
static double flops_of(const routine_t *routine, const options_t *o) {
    const double counted = measure_flops(routine, o, o->type),
                 largest = (double)(o->m > o->n ? o->m : o->n);
    return counted > 0 ? counted
                       : 10 * largest * largest * (double)o->n * (type_is_complex(o->type) ? 4 : 1);
}

/* Whether the handle would take the call. */
static bool is_right(jhandle_t *handle, const routine_t *routine, const options_t *options) {
    problem_t problem;
    size_t bytes;
    problem_describe(&problem, routine, options);
    return !jstatus_is_error(measure_query(handle, &problem, &bytes));
}

bool draw_call(draw_t *draw, jhandle_t *handle, const routine_t *routine, jdatatype_t type,
               options_t *options) {
    for (int attempt = 0; attempt < 300; attempt++) {
        options_t o = options_default;
        strcpy(o.function, routine->name);
        o.type = type;
        draw_options(draw, &o);
        const double flops = flops_of(routine, &o);
        if (flops < draw->least_flops || flops > draw->most_flops || !is_right(handle, routine, &o))
            continue;
        *options = o;
        draw->flops = flops;
        return true;
    }
    return false;
}
