/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Numbers, times and names for people. Names of files are other people's text: a terminal is shown
 * no control characters of theirs. */

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../common/text.h"
#include "shm.h"

void shm_print_safe(FILE *file, const char *text, int width) {
    int shown = 0;
    for (const unsigned char *next = (const unsigned char *)text; *next; shown++) {
        const int count = text_character_bytes(next);
        if (count == 0)
            fputc('?', file);
        else
            fwrite(next, 1, (size_t)count, file);
        next += count ? count : 1;
    }
    for (; shown < width; shown++)
        fputc(' ', file);
}

void shm_complain(const char *path, const char *what, const char *why) {
    fputs("jalloc-shm: ", stderr);
    shm_print_safe(stderr, path, 0);
    fprintf(stderr, ": %s%s", what, what[0] ? ": " : "");
    shm_print_safe(stderr, why, 0);
    fputc('\n', stderr);
}

shm_text_t shm_size_text(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    shm_text_t size;
    double value = (double)bytes;
    unsigned unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    snprintf(size.text, sizeof size.text, "%.*f %s", unit == 0 || value >= 100 ? 0 : 1, value,
             units[unit]);
    return size;
}

shm_text_t shm_time_text(int64_t seconds) {
    shm_text_t text = {"-"};
    const time_t time = (time_t)seconds;
    struct tm local;
    if (seconds != 0 && localtime_r(&time, &local) != NULL)
        strftime(text.text, sizeof text.text, "%Y-%m-%d %H:%M:%S", &local);
    return text;
}

shm_text_t shm_user_text(uid_t user) {
    shm_text_t text;
    const struct passwd *known = getpwuid(user);
    if (known != NULL)
        snprintf(text.text, sizeof text.text, "%s", known->pw_name);
    else
        snprintf(text.text, sizeof text.text, "%lu", (unsigned long)user);
    return text;
}
