/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ADAPTOR_H
#define JALLOC_MEMORY_ADAPTOR_H

/* What adaptors have in common. An adaptor changes one thing about the allocator below it and
 * passes everything else on; each is a file of adaptors/:
 *
 *   counts      track        totals, a ring of records; ends by itself with its last block
 *               statistics   of nested parts of a program, by push and pop
 *               record       every call into a trace (trace/)
 *   examines    exact        a second set of books, to test the first
 *               guard        words around each block that nobody may write to
 *               fill         NaN over memory that comes and goes
 *               visit        tells visitors of each block that comes and goes
 *   refuses     limit        at most so many bytes
 *               quota        a share of a budget that several have together
 *   retries     retry        waits for a free
 *               failure      asks a function of the caller's
 *   changes     align        at least so aligned
 *               lock         may be called from any thread
 *
 * Why so: whoever needs one of these puts it over any provider or policy, and whoever does not pays
 * nothing, not even a branch. An adaptor that wrote to the memory or read it through the pointer
 * would be for the host alone; those that must (guard, fill) do it by the device's fill and copy,
 * in stream order.
 *
 * What always holds:
 *
 * - Below is called without a lock of the adaptor's (lock is the exception: that is what it is
 *   for). So a number that must never be too small is raised before below is asked for memory, and
 *   lowered after below has it back.
 * - As soon as a block goes to below another thread may be given the same address. So what is known
 *   of a block by its address is forgotten before, and known again if below refuses to take it.
 * - A block goes through an adaptor to the one below it or not at all: after a failure the caller
 *   has nothing, and what below gave is given back.
 *
 * To read: adaptors/lock.c is the smallest, adaptors/limit.c shows all parts of one.
 * adaptors/live.h is what exact, guard and fill are made of. */

#include "memory/memory.h"

/* The functions of an adaptor that passes everything on: its context begins with a pointer to the
 * allocator below. An adaptor takes this table and puts its own functions in. Usable size, check
 * and trim answer for what is below; statistics of free and reserved memory are those of below;
 * counting is the object's.
 *
 * `find` and `visit` answer for what is below too, where others may have blocks as well. So an
 * allocator with this `find` gets a ledger of what went through it: only that is freed, found and
 * shown. */
typedef struct ji_adaptor {
    jallocator_t *below;
} ji_adaptor_t;
extern const jallocator_ops_t ji_adaptor_ops; /* destroy: ji_metadata_free(context) */

#endif
