/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_BLAS_H
#define JALLOC_BLAS_BLAS_H

/* How jblas is built. Its rooms, of which each knows only those above it:
 *
 *   primitives/   what a device can do by itself, in stream order, and the blocks of arguments it
 *                 takes: what libjblas and the GPU modules have in common
 *   (here)        what a routine reads of its handle; plans; routines by a type that is a value
 *   algorithms/   what turns workspace into speed: trsm, trtri, potrf, sums in a fixed order, three
 *                 products, Strassen, split precision; written over primitives, so once for all
 *                 devices
 *   host/         the host's primitives, by loops and kernels of jblas's own
 *   guest/        the same by a CBLAS, which is checked
 *   routine/      what a routine is: its row, its entries and checks made from that, its batches,
 *                 its line in the log
 *   routines/     a file for each routine, by BLAS level
 *
 * Each routine exists once; its element type is a value, not a copy of the code:
 *
 *   jblas_dtrsm(handle, side, ..., ldb)   the public name, made from the routine's row
 *        |                                (routine/rows.h): puts the arguments into a block
 *        |                                (ji_matmat_t); checks the handle, logs if it says so
 *        v
 *   trsm_call(handle, block)              one small file per routine: checks, size query, quick
 *        |                                return, pointers, made from the row (routine/entry.h)
 *        v                                routines with a plan: ji_run_plan(), which borrows
 *   ji_trsm_plan / ji_trsm_run            an algorithm on workspace, written over primitives
 *        |
 *        v
 *   ji_run(handle, JI_TRSM, block)        a primitive: what a device can do by itself, in stream
 *        |                                order
 *        v
 *   ji_host_trsm(block)                   on the host: a function of host/, or the CBLAS's
 *                                         (guest/); on a GPU the device's table
 *                                         (primitives/primitive.h), which its module fills
 *
 * A routine has three forms: plain, and batches by arrays of pointers or by strides. They have one
 * row and one call function; a batch's block says so, ji_run() runs a primitive for each item of
 * such a block, and on the host ji_host_batch() divides the items among threads
 * (routine/batch.c).
 *
 * There is one argument block per BLAS level. It is what is logged (a routine's row, rows.h, names
 * the members in the order of BLAS), what the algorithms take, and what a primitive is launched
 * with: a block is at most JSTREAM_MAX_ARGUMENT_BYTES, so a created stream copies it and the call
 * returns.
 *
 * Invariants: a primitive allocates nothing, checks nothing and cannot fail; what it reads through
 * pointers is read when it runs, in stream order. Sizes are not negative and leading dimensions are
 * right when a block leaves the checks.
 *
 * To read: primitives/primitive.h for the blocks, then the way of one call as drawn above. Each
 * room says in its main header what is in it: primitives/primitive.h, algorithms/algorithm.h,
 * host/host.h, and routine/entry.h for routine/ and routines/. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blas/primitives/primitive.h"
/* Fields and inline functions; of ji_* functions those marked JI_SHARED alone cross libraries. */
#include "handle/handle.h"
#include "jalloc/borrow.h"
#include "jalloc/jblas.h"
#include "jalloc/log.h"

/* ---- The host's primitives ---- */

typedef void (*ji_host_function_t)(void *block);
JI_SHARED extern ji_host_function_t
    ji_host_primitives[JI_PRIMITIVE_COUNT]; /* filled by routine/setup.c */
#define JI_PRIMITIVE_(enumerator, function) void ji_host_##function(void *block);
JI_HOST_ALL_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_PRIMITIVE_

/* Largest integer that the CBLAS takes, 2^k - 1, where it computes: without it there is no such
 * bound. Tests lower it to see the splitting. */
JI_SHARED extern int64_t ji_blas_int_max;

JI_SHARED extern ji_tuning_t ji_host_tuning; /* tests change it, as they do ji_blas_int_max */

/* What the handle's device says of its BLAS. */
static inline const ji_tuning_t *ji_tuning(const jhandle_t *handle) {
    const ji_blas_ops_t *blas = handle->device->blas;
    return blas == NULL ? &ji_host_tuning : &blas->tuning;
}

static inline int64_t ji_integer_max(const jhandle_t *handle) {
    return handle->device->blas == NULL ? ji_blas_int_max
                                        : handle->device->blas->tuning.integer_max;
}

/* Runs a function of the host, in the handle's stream, or at once. */
JI_SHARED jstatus_t ji_enqueue_host(jhandle_t *handle, ji_host_function_t function, void *block,
                                    size_t block_bytes);
/* Runs a primitive in the handle's stream; for each item of a batch. */
JI_SHARED jstatus_t ji_enqueue(jhandle_t *handle, ji_primitive_t primitive, void *block,
                               size_t block_bytes);
JI_SHARED jstatus_t ji_enqueue_batch(jhandle_t *handle, ji_primitive_t primitive, void *block,
                                     size_t block_bytes);

/* ---- What a routine reads of its handle ---- */

static inline bool ji_is_query(const jhandle_t *handle) {
    return handle->state == JI_HANDLE_QUERYING;
}

static inline bool ji_is_batch(const ji_head_t *head) { return head->form != JI_FORM_PLAIN; }

static inline bool ji_host_pointers(const jhandle_t *handle) {
    return handle->pointer_mode == JPOINTER_MODE_HOST;
}

/* In the entry of a plain form the form is known, and nobody asks for it. */
static inline jstatus_t ji_run_bytes(jhandle_t *handle, ji_primitive_t primitive, void *block,
                                     size_t block_bytes, bool is_batch) {
    if (JI_UNLIKELY(is_batch))
        return ji_enqueue_batch(handle, primitive, block, block_bytes);

    if (JI_LIKELY(handle->runs_inline)) {
        ji_host_primitives[primitive](block);
        return JSTATUS_SUCCESS;
    }

    return ji_enqueue(handle, primitive, block, block_bytes);
}
#define ji_run(handle, primitive, block)                                                           \
    ji_run_bytes(handle, primitive, block, sizeof *(block), JI_BLOCK_IS_BATCH(block))
/* Blocks of their own have no form. */
#define JI_BLOCK_IS_BATCH(block)                                                                   \
    _Generic(*(block), ji_vector_t                                                                 \
             : ji_is_batch((const void *)(block)), ji_rotation_t                                   \
             : ji_is_batch((const void *)(block)), ji_matvec_t                                     \
             : ji_is_batch((const void *)(block)), ji_matmat_t                                     \
             : ji_is_batch((const void *)(block)), default                                         \
             : false)

/* Takes a scalar: copied now in host pointer mode, left where it is in device mode. */
static inline void ji_take(const jhandle_t *handle, ji_scalar_t *scalar, jdatatype_t type) {
    if (!ji_host_pointers(handle))
        return;

    switch (type) { /* sizes known to the compiler: no call */
    case JDATATYPE_F32:
    case JDATATYPE_I32: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.s); break;
    case JDATATYPE_F64: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.d); break;
    case JDATATYPE_F32_C: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.c); break;
    default: memcpy(&scalar->value, scalar->pointer, sizeof scalar->value.z); break;
    }

    scalar->pointer = NULL;
}

/* The same where its type is an argument. */
static inline void ji_take_typed(const jhandle_t *handle, ji_scalar_t *scalar, jdatatype_t type) {
    if (!ji_host_pointers(handle))
        return;

    memcpy(&scalar->value, scalar->pointer, jdatatype_bytes(type));
    scalar->pointer = NULL;
}

static inline void ji_take_parameters(const jhandle_t *handle, ji_parameters_t *parameters,
                                      jdatatype_t type) {
    if (!ji_host_pointers(handle))
        return;

    memcpy(&parameters->value, parameters->pointer, 5 * ji_sizeof(ji_real_of(type)));
    parameters->pointer = NULL;
}

/* The block's threads are the handle's. Gives the block. */
static inline void *ji_take_threads(const jhandle_t *handle, void *block) {
    ((ji_head_t *)block)->threads = handle->threads;
    return block;
}

/* Ends a call that has a result: in host pointer mode it must be there on return. */
JI_SHARED jstatus_t ji_wait_for_result(jhandle_t *handle, jstatus_t status);
static inline jstatus_t ji_return_result(jhandle_t *handle, jstatus_t status) {
    if (JI_LIKELY(handle->runs_inline) || !ji_host_pointers(handle))
        return status;

    return ji_wait_for_result(handle, status);
}

/* ---- Plans ---- */

typedef void (*ji_plan_function_t)(jplan_t *plan, const jhandle_t *handle, const void *block);
typedef jstatus_t (*ji_run_function_t)(jhandle_t *handle, const void *block, const jborrow_t *ws);

/* Plans, borrows, runs, and answers success, perf degraded, or why not. Also for an algorithm that
 * calls another while it holds a borrow (callee_bytes of its plan is then jplan_bytes() of the
 * other's). The block was checked. */
JI_SHARED jstatus_t ji_run_plan(jhandle_t *handle, void *block, ji_plan_function_t plan,
                                ji_run_function_t run);
/* Runs an algorithm: on the host once, for a batch too, since there it is primitives of whole
 * operands; elsewhere for each item, in the same workspace, one after the other. */
jstatus_t ji_run_batch(jhandle_t *handle, const void *block, ji_run_function_t run,
                       const jborrow_t *ws);
static inline jstatus_t ji_run_items(jhandle_t *handle, const void *block, ji_run_function_t run,
                                     const jborrow_t *ws) {
    return JI_UNLIKELY(ji_is_batch(block)) ? ji_run_batch(handle, block, run, ws)
                                           : run(handle, block, ws);
}
/* Whether the borrow is of the rung of this name. */
static inline bool ji_is_way(const jborrow_t *ws, const char *name) {
    return ws->way != NULL && strcmp(ws->way, name) == 0;
}

/* A borrow of nothing, for a way that needs nothing. */
extern const jborrow_t ji_nothing_borrowed;
/* Answers a size query: with the plan, or (NULL) that no workspace is wanted. */
JI_SHARED jstatus_t ji_answer(jhandle_t *handle, const void *block, ji_plan_function_t plan);
/* With a plan of the block that is there. */
jstatus_t ji_answer_plan(jhandle_t *handle, const void *block, jplan_t *plan);
/* Prices a plan that is about to be answered or borrowed, where somebody wants to know: a query
 * that keeps calls, or a program that the handle follows, which knows its calls by their prices,
 * too. */
void ji_price_for_watchers(const jhandle_t *handle, const void *block, jplan_t *plan);

/* ---- Rows, as data ---- */

typedef enum ji_argument_kind {
    JI_ARGUMENT_SIDE, /* enumerations first */
    JI_ARGUMENT_UPLO,
    JI_ARGUMENT_DIAGONAL,
    JI_ARGUMENT_OPERATION,
    JI_ARGUMENT_NORM,
    JI_ARGUMENT_DATATYPE,
    JI_ARGUMENT_LETTER, /* whose enumerators are LAPACK's letters */
    JI_ARGUMENT_SIZE,   /* decides the time */
    JI_ARGUMENT_STRIDE, /* a leading dimension, an increment, a stride of a batch */
    JI_ARGUMENT_SCALAR, /* of the elements' type */
    JI_ARGUMENT_REAL_SCALAR,
    JI_ARGUMENT_SUM_SCALAR,
    JI_ARGUMENT_CS_SCALAR,  /* of a ji_vector_t's cs_type */
    JI_ARGUMENT_PARAMETERS, /* five of the real type */
    JI_ARGUMENT_POINTER
} ji_argument_kind_t;

typedef struct ji_argument {
    const char *name; /* of the parameter */
    ji_argument_kind_t kind;
    size_t offset; /* in the block */
} ji_argument_t;

/* What an operand of a batch takes: so many rows in so many columns, ld apart; a vector is one
 * row. */
typedef struct ji_extent {
    const char *stride; /* the name of the parameter */
    int place;          /* of the stride, in the batch: 0, 1, 2 */
    jdatatype_t type;   /* of its elements */
    size_t offset;      /* of the operand, in the block */
    int64_t step;       /* from item to item, in elements */
    int64_t rows, columns, ld;
    bool written;
    bool by_stride; /* where other operands are arrays of pointers, too */
} ji_extent_t;
typedef struct ji_extents {
    ji_extent_t operands[5];
    int count;
    size_t result_bytes;
} ji_extents_t;

struct ji_row {
    const char *name;                           /* jblas-bench's -f */
    const char *names[7];                       /* the public name by type; NULL: no such routine */
    const ji_argument_t *arguments;             /* in the order of BLAS, ended by a NULL name */
    ji_extents_t (*extents)(const void *block); /* of a batch */
};

/* The type of a scalar, by that of the elements. */
#define JI_TYPE_OF_ELEMENT(type) (type)
#define JI_TYPE_OF_REAL(type) ji_real_of(type)
#define JI_TYPE_OF_SUM(type) (ji_is_half(type) ? JDATATYPE_F32 : (type))

/* Whether types are arguments: then it has one name, where no element type has one. */
static inline bool ji_has_types(const ji_row_t *row) { return row->names[JDATATYPE_I8] != NULL; }

/* Static text such as "jblas_dtrsm", for messages and plans. */
static inline const char *ji_routine_name(const ji_head_t *head) {
    return head->row->names[ji_has_types(head->row) ? JDATATYPE_I8 : head->type];
}

/* ---- Routines by a type that is a value, for libjbuffer ---- */

/* As the typed name that head.type says, checks and all; the block's other members are that one's
 * arguments, a scalar's its pointer. hemm is of complex types. */
JI_SHARED jstatus_t ji_call_copy(jhandle_t *handle, ji_vector_t *args);
JI_SHARED jstatus_t ji_call_scal(jhandle_t *handle, ji_vector_t *args);
JI_SHARED jstatus_t ji_call_gemm(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_symm(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_hemm(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_geam(jhandle_t *handle, ji_matmat_t *args);
JI_SHARED jstatus_t ji_call_trsm(jhandle_t *handle, ji_matmat_t *args);
/* The workspace that such a call would borrow; what can be wrong with its sizes was checked. The
 * others borrow none. */
JI_SHARED size_t ji_gemm_bytes(const jhandle_t *handle, ji_matmat_t *args);
JI_SHARED size_t ji_trsm_bytes(const jhandle_t *handle, ji_matmat_t *args);

/* ---- Entering a routine; what its file needs is in routine/entry.h ---- */

typedef jstatus_t (*ji_call_function_t)(jhandle_t *handle, void *block);

/* What is not the plain case: an invalid handle, the first call, a size query, logging. */
JI_SHARED jstatus_t ji_enter_cold(jhandle_t *handle, ji_call_function_t call, void *block)
    __attribute__((cold));

/* Messages about a number that is no enumerator. */
#define JI_MUST_BE_SIDE "must be JBLAS_LEFT (141) or JBLAS_RIGHT (142)"
#define JI_MUST_BE_UPLO "must be JBLAS_UPPER (121) or JBLAS_LOWER (122)"
#define JI_MUST_BE_DIAGONAL "must be JBLAS_NON_UNIT (131) or JBLAS_UNIT (132)"
#define JI_MUST_BE_NORM "must be JLAPACK_ONE_NORM (171) or JLAPACK_INFINITY_NORM (175)"
#define JI_MUST_BE_DATATYPE "must be a jdatatype_t, JDATATYPE_F32 (0) to JDATATYPE_I32 (7)"
#define JI_MUST_BE_OPERATION                                                                       \
    "must be JBLAS_NO_TRANSPOSE (111), JBLAS_TRANSPOSE (112) or JBLAS_CONJUGATE_TRANSPOSE (113)"
#define JI_MUST_BE_ANY_OPERATION                                                                   \
    "must be JBLAS_NO_TRANSPOSE (111), JBLAS_TRANSPOSE (112), JBLAS_CONJUGATE_TRANSPOSE (113) or " \
    "JBLAS_CONJUGATE (114)"

/* ---- Numbers and pointers ---- */

static inline int64_t ji_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ji_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ji_abs(int64_t a) { return a >= 0 ? a : a == INT64_MIN ? INT64_MAX : -a; }

/* A block has one pointer where one routine reads and another writes. */
static inline void *ji_unconst(const void *pointer) { return (void *)(uintptr_t)pointer; }

#endif
