/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MPI_SCALAPACK_H
#define JALLOC_MPI_SCALAPACK_H

/* What ScaLAPACK's library has and no header of its own declares: the BLACS, in C. Integers are 32
 * bits wide in every build that is packaged. */

#include <mpi.h>

int Csys2blacs_handle(MPI_Comm communicator);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);

#define SCALAPACK_BLOCK_CYCLIC 1 /* descriptor[0] of a dense matrix */

#endif
