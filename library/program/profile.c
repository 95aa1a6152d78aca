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

jstatus_t jprofile_get_info(jprofile_info_t *info) {
    JREQUIRE(info != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jprofile_info_t, info, measured));
    const jprofile_info_t none = {.measured = false};
    JI_GIVE_RESULT(info, &none);
    return JSTATUS_SUCCESS;
}
