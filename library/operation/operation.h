/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_OPERATION_OPERATION_H
#define JALLOC_OPERATION_OPERATION_H

/* How operations on buffers are built. Each public function fills a ji_operation_t with its
 * arguments and operands, and ji_operation_run() takes all of them the same way (operation.c):
 *
 *     check            handle, operands, types, device; then the operation's own: enums, shapes,
 *                      structures
 *     prepare          which operands need a stand-in: a temporary of the computation's kind and
 *                      grid, or a packed copy that BLAS can take, or that the result does not
 *                      overlap; from that the plan
 *     promise          a new result is made as a placeholder: all of a buffer but its memory
 *     query            answered here, and a new result given as it is: the next query may have it
 *                      as an operand
 *     borrow, take     the workspace; the memory of a result that is a placeholder
 *     agree            the one message between processes of a collective operation: all go on, or
 *                      none
 *     copy and pack in, run, pack and copy out
 *
 * Four things are decided there once, for every operation and whoever carries it out:
 *
 *     who takes part   `runtime`, `collective`: the processes of the highest kind among the
 *                      operands; `by_leaders`: what a node shares is computed by the first of them
 *                      there
 *     the stream       `waits`: what is not all done in the handle's stream finds it idle, and
 *                      leaves it so
 *     pointer mode     scalars are copied at the entry; run functions find the handle in host mode
 *     overlap          an operand that the result shares elements with is read from a copy in
 *                      workspace, unless it is the result itself and the operation goes element by
 *                      element
 *
 * What computes is a backend, a table of which there are two: jblas.c and jlapack.c, over matrices
 * in this process's memory (local.c), and libjalloc_mpi's, over distributed buffers. What is done
 * to each element by itself is the same on both (element.c).
 *
 * To read: sum.c, matrix.c and factor.c have the public functions, each a class and a check of its
 * own; then operation.c, which begins with check.c; then jblas.c. */

#include "blas/blas.h"
#include "buffer/buffer.h"
#include "jalloc/operation.h"

/* ---- Matrices in this process's memory (local.c) ---- */

/* A matrix with any strides, or a vector as one column. */
typedef struct ji_matrix {
    jdatatype_t type;
    jstructure_t structure;
    int64_t rows, columns;
    int64_t row_stride, column_stride; /* elements */
    void *data;
} ji_matrix_t;

/* A layout of rank 0 to 2 as a matrix. */
JI_SHARED ji_matrix_t ji_matrix(jdatatype_t type, const jlayout_t *layout, void *data);
/* The same memory, rows for columns. */
ji_matrix_t ji_matrix_transposed(const ji_matrix_t *matrix);
/* Whether BLAS can take it as it lies, and with which leading dimension. */
bool ji_matrix_is_column_major(const ji_matrix_t *matrix);
int64_t ji_matrix_leading_dimension(const ji_matrix_t *matrix);

/* Upper for lower. */
static inline jstructure_t ji_structure_flipped(jstructure_t structure) {
    return structure == JSTRUCTURE_GENERAL    ? structure
           : ji_structure_is_upper(structure) ? (jstructure_t)((int)structure + 1)
                                              : (jstructure_t)((int)structure - 1);
}
/* What is true of a matrix, whichever triangle is stored: general, symmetric, Hermitian (of complex
 * types), or one of the triangular ones; as the name of its upper form. */
jstructure_t ji_structure_family(jstructure_t structure, jdatatype_t type);

/* One term of a sum: scalar op(matrix), op(matrix) being of the sum's shape. */
typedef struct ji_term {
    const void *scalar; /* of the type; NULL, or one that is 0: nothing is read */
    jblas_operation_t operation;
    ji_matrix_t matrix;
} ji_term_t;

extern const ji_value_t ji_one[4]; /* by type */
JI_SHARED bool ji_is_zero(jdatatype_t type, const void *scalar);

/* A term that is a layout of any rank. */
typedef struct ji_layout_term {
    const void *scalar;
    const jlayout_t *layout;
    void *data;
} ji_layout_term_t;

/* The same for layouts of any rank, of one shape and without structure. */
jstatus_t ji_layout_add(jhandle_t *handle, jdatatype_t type, const ji_layout_term_t terms[2],
                        const jlayout_t *layout, void *sum);

/* sum = the two terms, in the handle's stream: the elements that the sum's structure stores. A term
 * may be the sum itself where it is not transposed. A copy (one term, times 1) keeps bits. */
jstatus_t ji_matrix_add(jhandle_t *handle, const ji_term_t terms[2], const ji_matrix_t *sum);
/* to = op(from), as that. */
jstatus_t ji_matrix_copy(jhandle_t *handle, jblas_operation_t operation, const ji_matrix_t *to,
                         const ji_matrix_t *from);

/* x = scalar x, count elements so far apart. */
jstatus_t ji_scale(jhandle_t *handle, jdatatype_t type, int64_t count, const void *scalar, void *x,
                   int64_t stride);

/* ---- What an operation does to every element (element.c) ---- */

/* Elements of one column (or other line) of a buffer's part in this process: `count` of them,
 * `stride` elements apart. By columns they have a position in the matrix: `column`, and `row` from
 * which ji_row_of() tells the row of each. */
typedef struct ji_line {
    void *data;
    int64_t count, stride;
    int64_t row, column;
} ji_line_t;
typedef jstatus_t (*ji_line_function_t)(void *context, const ji_line_t *line);

/* Calls the function for lines that together are all stored elements that this process holds, each
 * once: columns of a matrix, or (not by_column) as long as they can be. Ends with the first status
 * that is not success. */
jstatus_t ji_each_line(const jbuffer_t *buffer, bool by_column, ji_line_function_t function,
                       void *context);
/* The row, in the whole view, of element `index` of a line that was given by columns. */
int64_t ji_row_of(const jbuffer_t *buffer, const ji_line_t *line, int64_t index);

/* ---- Backends ---- */

typedef struct ji_operation ji_operation_t;
typedef struct ji_operand ji_operand_t;

/* How one thing is computed. */
typedef struct ji_way {
    /* Decides on stand-ins, callee_bytes and extra_bytes; NULL: on nothing. */
    jstatus_t (*prepare)(ji_operation_t *op);
    jstatus_t (*run)(ji_operation_t *op);
} ji_way_t;

/* What each backend has a way of its own for. */
typedef enum ji_computation {
    JI_ADD,
    JI_TRANSPOSE,
    JI_PRODUCT,
    JI_SOLVE_TRIANGULAR,
    JI_CHOLESKY,
    JI_SOLVE_BY_LU,
    JI_LU,
    JI_LU_SOLVE,
    JI_QR,
    JI_LEAST_SQUARES,
    JI_EIGEN_SYMMETRIC,
    JI_SVD,
    JI_COMPUTATIONS
} ji_computation_t;

/* What carries operations out: jblas on this process's memory (jblas.c), or ScaLAPACK on
 * distributed buffers of one grid (libjalloc_mpi). Operands have been checked; scalars are of their
 * type. Of distributed ones every process of the runtime calls, and those outside of the grid do
 * nothing. */
typedef struct ji_backend {
    bool distributed; /* on the host alone, and not in the order of a stream */
    bool (*needs_temporary)(const ji_operation_t *op, const ji_operand_t *operand);
    /* When all temporaries are there, but for their memory: decides on what else stands in, refuses
     * what cannot be. */
    jstatus_t (*finish)(ji_operation_t *op);
    /* The way, on operands and temporaries that have their memory; NULL: with nothing before or
     * after it. */
    jstatus_t (*run)(ji_operation_t *op);
    ji_way_t ways[JI_COMPUTATIONS];
    /* values[i] = the sum, or the largest, of all processes' parts; NULL: each has the whole. */
    jstatus_t (*reduce)(jruntime_t *runtime, double *values, int64_t count, bool sum);
} ji_backend_t;

extern const ji_backend_t ji_backend_jblas;

/* ---- An operation under way (operation.c) ---- */

#define JI_OPERANDS 3

typedef enum ji_access { JI_READS, JI_WRITES, JI_UPDATES } ji_access_t;

struct ji_operand {
    /* The caller's, const where it is only read. NULL: a result to be made, until all is prepared;
     * one that is not wanted. */
    jbuffer_t *buffer;
    ji_access_t access;
    jbuffer_t **result; /* where one that is made goes; NULL: it has to be given */
    bool optional;      /* a result that is not wanted where `result` is NULL */
    jlayout_t layout;   /* the buffer's, or that of the result to be made */

    /* Said by the backend's prepare function. */
    bool expand;    /* wanted without structure */
    bool overwrite; /* jblas: what is read is wanted as a copy that may be written, column-major */
    bool pack;      /* jblas: wanted as a packed copy */
    bool pack_row;  /* that is row-major */
    int64_t align;  /* ScaLAPACK: wanted with square blocks of that size, beginning with one */

    /* Found by comparing it with the result. */
    bool detach;          /* wanted as a copy, because the result overlaps it */
    bool is_result;       /* the same elements as the result, which is written in place */
    jbuffer_t *temporary; /* stands in for the buffer; in workspace */
    jbuffer_t *made;      /* a new result, which is the buffer then */
    bool took;            /* the result was a placeholder, and has its memory from here */

    /* jblas. Without data until it runs. */
    ji_matrix_t stored; /* the buffer, or what stands in for it */
    ji_matrix_t matrix; /* what is computed on: that, or the packed copy; */
    jlayout_t view;     /* where the rank is above 2: its layout */
    void *data;         /* and its first element */
};

/* What an operation adds to the common way. */
typedef struct ji_operation_class {
    const ji_backend_t *backend;            /* NULL: that of where the operands are */
    jstatus_t (*check)(ji_operation_t *op); /* of what is its own; NULL: nothing */
    ji_computation_t computation;           /* which way of the backend's, unless */
    ji_way_t way;                           /* this one serves on all */
    int scalars;                            /* how many are required, except in a query */
    /* Names of the arguments for a number and for several, required likewise; NULL: it has none. */
    const char *answer, *array;
    bool elementwise; /* an element of the result needs those in its own position alone */
    bool reads_first; /* all operands are read, into workspace, before a result is written */
    bool finite;      /* a NaN or an infinity in what is read is refused */
} ji_operation_class_t;

/* A result that is made where NULL stands, of a function's argument. */
#define JI_RESULT(argument)                                                                        \
    .buffer = (argument) != NULL ? *(argument) : NULL, .result = (argument), .access = JI_WRITES

/* The borrow has the same eight slots in every plan. The last two are read by the host; on a handle
 * of another device they come from the process's allocator of host memory. What the copies between
 * kinds exchange through is as much as serves them best, or (rung "rounds") the least. */
enum {
    JI_SLOT_TEMPORARY,            /* this process's part of the temporaries of operands 0 1 2 */
    JI_SLOT_PACKED = JI_OPERANDS, /* packed copies of operands 0 1 2 */
    JI_SLOT_EXCHANGE = 2 * JI_OPERANDS,
    JI_SLOT_EXTRA, /* the operation's own */
    JI_SLOTS
};
static_assert((int)JI_SLOTS == JBORROW_MAX_BUFFERS, "all slots are used");

struct ji_operation {
    const char *name; /* of the public function */
    const ji_operation_class_t *class;
    jhandle_t *handle;
    ji_operand_t operands[JI_OPERANDS];
    int count;
    bool any_type; /* not only those of BLAS */

    /* Arguments, as far as the operation has them. */
    jblas_operation_t operation[2];
    jblas_side_t side;
    jblas_diagonal_t diagonal;
    const void *scalars[2]; /* once checked, of `values` */
    const int64_t *pivots;  /* that are given */
    jnorm_t norm;
    void *answer; /* where a number goes when all is done: norm's result, info */
    union {
        double norm;
        int64_t info;
    } found;            /* where that is until then */
    void *array;        /* where several numbers go: pivots, values; until then in workspace */
    size_t array_bytes; /* by the class's check */

    /* Found out by looking at the operands. */
    jdatatype_t type;
    ji_value_t values[2];        /* the scalars, whatever happens to the caller's meanwhile */
    jruntime_t *runtime;         /* whose processes take part; NULL: no operand is valid */
    bool collective;             /* they are several, and have to agree */
    bool mixed;                  /* local operands among replicated ones, of several processes */
    const ji_backend_t *backend; /* NULL: the runtime has none for distributed operands */
    const ji_way_t *way;         /* the class's, or the backend's */

    /* By ji_operation_run(). */
    bool waits;      /* for the handle's stream, before and after; `prepare` may set it, too */
    bool zero;       /* of a class that wants finite numbers: the first operand has nothing but 0 */
    bool by_leaders; /* nodes share all results: the first process of each computes, and tells */
    jbuffer_allocator_t *allocator;  /* of new results, and of distributed temporaries; retained */
    jbuffer_allocator_t *replicated; /* of temporaries of this process alone; retained */
    size_t bytes[JI_SLOTS];          /* of stand-ins */
    size_t callee_bytes;             /* what jblas would want */
    size_t callee_least;             /* what it can do with */
    size_t extra_bytes;              /* the operation's own workspace, and the array's */
    size_t copy_bytes[2];            /* of copies between kinds: best, least */
    jborrow_t ws;
};

/* ---- Steps that backends and operations share ---- */

/* The buffer that is computed on. */
static inline jbuffer_t *ji_operand_buffer(const ji_operand_t *operand) {
    return operand->temporary != NULL ? operand->temporary : operand->buffer;
}
/* What the way says before anything is borrowed. */
static inline jstatus_t ji_operation_prepare(ji_operation_t *op) {
    return op->way->prepare != NULL ? op->way->prepare(op) : JSTATUS_SUCCESS;
}
/* Where the array is until all is done, and behind it the way's own workspace; in host memory. */
static inline void *ji_operation_array(const ji_operation_t *op) {
    return op->ws.ptr[JI_SLOT_EXTRA];
}
static inline void *ji_operation_extra(const ji_operation_t *op) {
    return (char *)op->ws.ptr[JI_SLOT_EXTRA] + ji_align_bytes(op->array_bytes);
}
/* A result that is made; an operand that takes part. */
static inline bool ji_operand_is_made(const ji_operand_t *operand) {
    return operand->result != NULL && operand->buffer == NULL;
}
static inline bool ji_operand_is_wanted(const ji_operand_t *operand) {
    return !operand->optional || operand->result != NULL;
}
/* Counts a copy between two buffers in the plan. */
jstatus_t ji_operation_count_copy(ji_operation_t *op, const jbuffer_t *destination,
                                  const jbuffer_t *source);
/* One that has been counted, in the handle's stream where the operation is done there. */
jstatus_t ji_operation_copy_between(const ji_operation_t *op, jbuffer_t *destination,
                                    const jbuffer_t *source);

/* Real numbers in the array, of the type of the operands' real parts, become double. */
JI_SHARED void ji_operation_widen_array(const ji_operation_t *op);
/* Refuses a NaN or an infinity in an operand that is read, on all processes; finds op->zero
 * (element.c). */
jstatus_t ji_operation_check_finite(ji_operation_t *op);

/* All of the way. */
jstatus_t ji_operation_run(ji_operation_t *op);

/* ---- Checks (check.c) ---- */

/* Everything that can be wrong with the arguments. What is found about the operands is kept in op
 * even where something is wrong, as far as it can be known. */
jstatus_t ji_operation_check(ji_operation_t *op);
/* The handle alone. */
jstatus_t ji_operation_check_handle(const ji_operation_t *op);
/* Refuses shapes: invalid size, with both in the message. */
jstatus_t ji_operation_refuse_shapes(const ji_operation_t *op, const jlayout_t *a,
                                     const jlayout_t *b);
/* Refuses what is no jblas_operation_t; an operand that is neither matrix, vector nor number. */
jstatus_t ji_operation_check_operation(const ji_operation_t *op, jblas_operation_t operation);
jstatus_t ji_operation_check_matrix(const ji_operation_t *op, int operand);
/* The same, and one with a structure, where `result` takes its place. */
jstatus_t ji_operation_check_general(const ji_operation_t *op, int operand, const char *name,
                                     const char *result);
/* Rows and columns of op(A) op(B), and what the two have in common. */
void ji_product_sizes(const ji_operation_t *op, int64_t *m, int64_t *n, int64_t *k);

static inline bool ji_operation_transposes(const ji_operation_t *op, int which) {
    return op->operation[which] != JBLAS_NO_TRANSPOSE;
}
#endif
