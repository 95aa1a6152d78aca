/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include <math.h>

#include "handle/handle.h"
#include "jalloc/profile.h"

double jprofile_predict(const jplan_t *plan, uint32_t rung, int threads) {
    if (plan == NULL || rung >= plan->rung_count)
        return NAN;
    const jprice_t *price = ji_plan_price(plan, rung);
    const double launches = 1 + (price != NULL ? price->launches : rung);
    return 1e-6 * launches +
           (price != NULL ? price->flops / (2e10 * threads) + price->moved_bytes / 1e10 : 0);
}
