/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* syevr and heevr, by a LAPACK. What the range does not want need not be there: a scalar that is
 * NULL is 0 then. Whether an interval is one is seen when its ends are known, in stream order. */

#include "lapack/guest/guest.h"

static ji_work_t syevr_least(const ji_driver_t *args) {
    const int64_t n = args->n;
    return ji_is_complex(args->head.type)
               ? (ji_work_t){ji_max(1, 2 * n), ji_max(1, 24 * n), ji_max(1, 10 * n)}
               : (ji_work_t){ji_max(1, 26 * n), 0, ji_max(1, 10 * n)};
}

static void syevr_stand_in(ji_driver_t *args) {
    static const double zero = 0; /* in float, too */
    if (args->range == JLAPACK_RANGE_VALUES)
        return;
    args->above.pointer = args->above.pointer == NULL ? &zero : args->above.pointer;
    args->up_to.pointer = args->up_to.pointer == NULL ? &zero : args->up_to.pointer;
}

static bool syevr_is_interval(const ji_driver_t *args) {
    const jdatatype_t real = ji_real_of(args->head.type);
    return args->range != JLAPACK_RANGE_VALUES ||
           ji_real_at(real, ji_scalar_data(&args->above), 0) <
               ji_real_at(real, ji_scalar_data(&args->up_to), 0);
}

#define SYEVR_CHECKS                                                                               \
    if (args->range == JLAPACK_RANGE_INDICES && args->n > 0) {                                     \
        JI_CHECK(args->il >= 1 && args->il <= args->n, JSTATUS_INVALID_SIZE, "il", args->il,       \
                 "must be 1 to %lld", args->n)                                                     \
        JI_CHECK(args->iu >= args->il, JSTATUS_INVALID_SIZE, "iu", args->iu,                       \
                 "must be at least %lld", args->il)                                                \
        JI_CHECK(args->iu <= args->n, JSTATUS_INVALID_SIZE, "iu", args->iu,                        \
                 "must be at most %lld", args->n)                                                  \
    }                                                                                              \
    syevr_stand_in(args);
#define SYEVR_LOOKS                                                                                \
    JI_ARGUMENTS_syevr(JI_FINITE, syevr) if (!syevr_is_interval(args)) return JI_GUEST_NUMBER_OF(  \
        syevr, up_to);
JI_GUEST_ROUTINE_WITH(syevr, args->n == 0, SYEVR_LOOKS, SYEVR_CHECKS)
