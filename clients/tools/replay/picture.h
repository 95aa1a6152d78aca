/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_PICTURE_H
#define REPLAY_PICTURE_H

#include "survey.h"

/* Draws memory over time, and the map of the address space at the peak. Exits if the file cannot be
 * written. */
void picture_write(const char *path, const trace_t *trace, const char *composition,
                   const survey_t *survey, const snapshot_t *snapshot);

#endif
