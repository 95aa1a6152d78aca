/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_UNITS_H
#define TOOLS_UNITS_H

/* Bytes and times as people read them. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { UNITS_BYTES = 32 }; /* longest text */

/* "12.25 MiB"; whole bytes without digits. */
static inline void units_bytes(char text[UNITS_BYTES], double bytes, int digits) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, UNITS_BYTES, "%.*f %s", unit ? digits : 0, bytes, units[unit]);
}

/* "1.589 s", "35.96 ms": four digits. */
static inline void units_time(char text[UNITS_BYTES], double seconds) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    size_t unit = 0;
    while (seconds < 1 && seconds > 0 && unit + 1 < sizeof units / sizeof *units) {
        seconds *= 1000;
        unit++;
    }
    int digits = seconds >= 1000 ? 0 : seconds >= 100 ? 1 : seconds >= 10 ? 2 : 3;
    snprintf(text, UNITS_BYTES, "%.*f %s", seconds > 0 ? digits : 0, seconds, units[unit]);
}

#endif
