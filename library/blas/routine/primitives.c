/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The host's table of primitives: jblas's own functions, or the guest's wherever it has one. */

#include "blas/guest/cblas.h"
#include "blas/routine/setup.h"

ji_host_function_t ji_host_primitives[JI_PRIMITIVE_COUNT] = {
#define PRIMITIVE_OWN(enumerator, function) [JI_##enumerator] = ji_host_##function,
    JI_HOST_ALL_PRIMITIVE_LIST(PRIMITIVE_OWN)
#undef PRIMITIVE_OWN
};

void ji_host_choose(bool guest) {
#define PRIMITIVE_CHOOSE(enumerator, function)                                                     \
    ji_host_primitives[JI_##enumerator] = guest ? ji_guest_##function : ji_host_##function;
    JI_GUEST_PRIMITIVE_LIST(PRIMITIVE_CHOOSE)
#undef PRIMITIVE_CHOOSE
}

bool ji_host_has_guest(void) {
#define PRIMITIVE_IS_GUEST(enumerator, function)                                                   \
    if (ji_host_primitives[JI_##enumerator] == ji_guest_##function)                                \
        return true;
    JI_GUEST_PRIMITIVE_LIST(PRIMITIVE_IS_GUEST)
#undef PRIMITIVE_IS_GUEST
    return false;
}
