/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Text that anybody may have written. */

#include "text.h"

#include <stdbool.h>

int text_character_bytes(const unsigned char *text) {
    if (*text < 0x80)
        return *text >= 0x20 && *text != 0x7f;
    const int count = *text >= 0xf0 && *text < 0xf5   ? 4
                      : *text >= 0xe0 && *text < 0xf0 ? 3
                      : *text >= 0xc2 && *text < 0xe0 ? 2
                                                      : 0;
    for (int i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    const bool control = text[0] == 0xc2 && text[1] < 0xa0;
    const bool overlong =
        (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    const bool no_scalar =
        (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    const bool no_character = text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe;
    return control || overlong || no_scalar || no_character ? 0 : count;
}
