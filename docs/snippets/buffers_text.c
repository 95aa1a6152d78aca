/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

int main(void) {
    const char *argument = "f32";
    char text[JLAYOUT_TEXT_BYTES];
    jdatatype_t type;
    jlayout_t layout, again;
    SNIPPET_TRY(jlayout_init(&layout, 2, (const int64_t[]){3, 4}, JORDER_ROW_MAJOR));
    /* snippet */
    EXPECT(same && type == JDATATYPE_F32);
    return 0;
}
