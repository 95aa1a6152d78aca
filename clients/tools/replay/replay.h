/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_H
#define REPLAY_H

/* What the parts of jalloc-replay share: exit codes, and two ways of ending. */

#include <stddef.h>
#include <stdint.h>

#define REPLAY_FAILED 1  /* the replay itself went wrong */
#define REPLAY_REFUSED 2 /* bad usage, or a trace that is not understood */

/* Says why on standard error, and exits. */
_Noreturn void replay_exit(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory of the program's own, all zero bytes; exits where there is none. reallocate: from
 * old_count to count elements, the new ones zero. */
void *replay_allocate(size_t count, size_t element_bytes);
void *replay_reallocate(void *memory, size_t old_count, size_t count, size_t element_bytes);

/* One line that overwrites itself, while something takes long: "reading 45%". Nothing unless
 * progress was turned on. */
void replay_progress_enable(void);
void replay_progress(const char *what, uint64_t done, uint64_t all);
void replay_progress_end(void);

#endif
