/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

int main(void) {
    char text[JLAYOUT_TEXT_BYTES];
    /* snippet */
    SNIPPET_TRY(jlayout_format(&layout, NULL, text, sizeof text));
    EXPECT(strcmp(text, "[800,700] ld=832 blocks=(64,64)") == 0);
    return 0;
}
