/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_OPERATION_OPERATION_H
#define JALLOC_OPERATION_OPERATION_H

/* How operations on buffers are built. Each public function fills a ji_operation_t with its arguments and operands, and
 * ji_operation_run() takes all of them the same way (operation.c):
 *
 *     check            handle, operands, types, device; then the operation's own: enums, shapes, structures
 *     prepare          which operands need a stand-in: a temporary of the computation's kind and grid, or a packed copy
 *                      that BLAS can take, or that the result does not overlap; from that the plan
 *     promise          a new result is made as a placeholder: all of a buffer but its memory
 *     query            answered here, and a new result given as it is: the next query may have it as an operand
 *     borrow, take     the workspace; the memory of a result that is a placeholder
 *     agree            the one message between processes of a collective operation: all go on, or none
 *     copy and pack in, run, pack and copy out
 *
 * Four things are decided there once, for every operation and whoever carries it out:
 *
 *     who takes part   `runtime`, `collective`: the processes of the highest kind among the operands
 *     the stream       `waits`: what is not all done in the handle's stream finds it idle, and leaves it so
 *     pointer mode     scalars are copied at the entry; run functions find the handle in host mode
 *     overlap          an operand that the result shares elements with is read from a copy in workspace, unless it is
 *                      the result itself and the operation goes element by element
 *
 * What runs is written over two things: ji_matrix_t, memory of this process that jblas computes on (local.c),
 * and struct ji_operation_ops, what libjalloc_mpi does with distributed buffers. */

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
ji_matrix_t ji_matrix(jdatatype_t type, const jlayout_t *layout, void *data);
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
/* What is true of a matrix, whichever triangle is stored: general, symmetric, Hermitian (of complex types), or one of
 * the triangular ones; as the name of its upper form. */
jstructure_t ji_structure_family(jstructure_t structure, jdatatype_t type);

/* One term of a sum: scalar op(matrix), op(matrix) being of the sum's shape. */
typedef struct ji_term {
    const void *scalar; /* of the type; NULL, or one that is 0: nothing is read */
    jblas_operation_t operation;
    ji_matrix_t matrix;
} ji_term_t;

extern const ji_value_t ji_one[4]; /* by type */
bool ji_is_zero(jdatatype_t type, const void *scalar);

/* A term that is a layout of any rank. */
typedef struct ji_layout_term {
    const void *scalar;
    const jlayout_t *layout;
    void *data;
} ji_layout_term_t;

/* The same for layouts of any rank, of one shape and without structure. */
jstatus_t ji_layout_add(jhandle_t *handle, jdatatype_t type, const ji_layout_term_t terms[2], const jlayout_t *layout,
                        void *sum);

/* sum = the two terms, in the handle's stream: the elements that the sum's structure stores. A term may be the sum
 * itself where it is not transposed. A copy (one term, times 1) keeps bits. */
jstatus_t ji_matrix_add(jhandle_t *handle, const ji_term_t terms[2], const ji_matrix_t *sum);

/* x = scalar x, count elements so far apart. */
jstatus_t ji_scale(jhandle_t *handle, jdatatype_t type, int64_t count, const void *scalar, void *x, int64_t stride);

/* ---- What an operation does to every element (element.c) ---- */

/* Elements of one column (or other line) of a buffer's part in this process: `count` of them, `stride` elements apart.
 * By columns they have a position in the matrix: `column`, and `row` from which ji_row_of() tells the row of each. */
typedef struct ji_line {
    void *data;
    int64_t count, stride;
    int64_t row, column;
} ji_line_t;
typedef jstatus_t (*ji_line_function_t)(void *context, const ji_line_t *line);

/* Calls the function for lines that together are all stored elements that this process holds, each once: columns of a
 * matrix, or (not by_column) as long as they can be. Ends with the first status that is not success. */
jstatus_t ji_each_line(const jbuffer_t *buffer, bool by_column, ji_line_function_t function, void *context);
/* The row, in the whole view, of element `index` of a line that was given by columns. */
int64_t ji_row_of(const jbuffer_t *buffer, const ji_line_t *line, int64_t index);

/* x = scalar x, zeros for 0, in the handle's stream; the part in this process. */
jstatus_t ji_scale_lines(jhandle_t *handle, const void *scalar, const jbuffer_t *x);

/* ---- Operations on distributed buffers, done by libjalloc_mpi ---- */

/* All operands are on one grid and the host; shapes, types and structures have been checked, and sizes by `check`.
 * Every process of the runtime calls; those outside of the grid do nothing. Scalars are of the buffers' type. */
typedef struct ji_operation_ops {
    /* Whether ScaLAPACK's integers can say the buffer's sizes: success; invalid size. Not collective. */
    jstatus_t (*check)(jbuffer_t *buffer);
    /* C = alpha op(A) + beta C. Both general; or triangles of which the same is stored after op. */
    jstatus_t (*add)(jblas_operation_t operation, const void *alpha, jbuffer_t *a, const void *beta, jbuffer_t *c);
    /* C = alpha op(A) op(B) + beta C; C general. One of A and B may be symmetric or Hermitian, where op leaves both as
     * they are. */
    jstatus_t (*product)(jblas_operation_t operation_a, jblas_operation_t operation_b, const void *alpha, jbuffer_t *a,
                         jbuffer_t *b, const void *beta, jbuffer_t *c);
    jstatus_t (*solve_triangular)(jblas_side_t side, jblas_operation_t operation, jblas_diagonal_t diagonal,
                                  const void *alpha, jbuffer_t *a, jbuffer_t *b);
    /* A has square blocks and begins with one. *info on every process. */
    jstatus_t (*cholesky)(jbuffer_t *a, int64_t *info);
    /* values[i] = the sum, or the largest, of all processes'. */
    jstatus_t (*reduce)(jruntime_t *runtime, double *values, int64_t count, bool sum);
} ji_operation_ops_t;

/* ---- An operation under way (operation.c) ---- */

#define JI_OPERANDS 3

typedef enum ji_access { JI_READS, JI_WRITES, JI_UPDATES } ji_access_t;

typedef struct ji_operand {
    jbuffer_t *buffer; /* the caller's const, where it is only read. NULL, until all is prepared: a result to be made */
    ji_access_t access;
    jlayout_t layout; /* the buffer's, or that of the result to be made */

    /* Said by the operation's prepare function. */
    bool expand;   /* wanted without structure */
    bool align;    /* distributed: wanted with square blocks, beginning with one */
    bool pack;     /* local: wanted as a packed copy, */
    bool pack_row; /* row-major */

    bool detach;          /* wanted as a copy, because the result overlaps it */
    jbuffer_t *temporary; /* stands in for the buffer; in workspace */
    ji_matrix_t stored;   /* local: the buffer, or what stands in for it */
    ji_matrix_t matrix;   /* local: what is computed on: that, or the packed copy; */
    jlayout_t view;       /* the same where the rank is above 2: its layout */
    void *data;           /* and its first element */
} ji_operand_t;

typedef struct ji_operation ji_operation_t;

/* What an operation adds to the common way. */
typedef struct ji_operation_class {
    /* Decides on stand-ins, callee_bytes and extra_bytes. For local computation `stored` is there, without data of a
     * result to be made. */
    jstatus_t (*prepare)(ji_operation_t *op);
    /* On matrices (local), or on ji_operand_buffer() by op->ops (distributed). */
    jstatus_t (*run)(ji_operation_t *op);
    bool by_scalapack; /* where distributed: what `check` of ops refuses cannot be done */
    bool elementwise;  /* the result may be an operand: each element needs those in its own position alone */
} ji_operation_class_t;

struct ji_operation {
    const char *name; /* of the public function */
    jhandle_t *handle;
    ji_operand_t operands[JI_OPERANDS];
    int count;
    jbuffer_t **result; /* where a result that is made goes; it is the last operand */
    bool any_type;      /* not only those of BLAS */
    bool copies;        /* the two operands stay of their kinds and devices */

    /* Arguments, as far as the operation has them. */
    jblas_operation_t operation[2];
    jblas_side_t side;
    jblas_diagonal_t diagonal;
    const void *scalars[2]; /* once checked, of `values` */
    jnorm_t norm;
    double *number; /* norm's result */
    int64_t *info;

    /* Found out by ji_operation_check(). */
    jdatatype_t type;
    ji_value_t values[2];          /* the scalars, so that nothing that happens to the caller's changes them */
    jruntime_t *runtime;           /* whose processes take part; NULL: no operand is valid */
    bool collective;               /* they are several, and have to agree */
    bool distributed;              /* computed by ops, otherwise by jblas */
    bool mixed;                    /* local operands among replicated ones, of several processes */
    bool takes;                    /* a result that is everyone's takes its memory, on all processes or none */
    const ji_operation_ops_t *ops; /* distributed */

    /* By ji_operation_run(). */
    bool waits; /* for the handle's stream, before and after: not all is done in its order. `prepare` may say so, too */
    jbuffer_allocator_t *allocator;  /* of a new result, and of distributed temporaries; retained */
    jbuffer_allocator_t *replicated; /* of temporaries that are nobody's but this process's; retained */
    jbuffer_t *made;                 /* a new result, which becomes the last operand */
    bool took;                       /* the result was a placeholder, and has its memory from here */
    size_t callee_bytes;             /* what jblas would want */
    size_t extra_bytes;              /* the operation's own workspace */
    size_t copy_bytes[2];            /* of copies between kinds: best, least */
    jborrow_t ws;
};

/* The buffer that is computed on. */
static inline jbuffer_t *ji_operand_buffer(const ji_operand_t *operand) {
    return operand->temporary != NULL ? operand->temporary : operand->buffer;
}
/* Its own workspace, in host memory. */
static inline void *ji_operation_extra(const ji_operation_t *op) { return op->ws.ptr[7]; }
/* Counts a copy between two buffers in the plan. */
jstatus_t ji_operation_count_copy(ji_operation_t *op, const jbuffer_t *destination, const jbuffer_t *source);
/* One that has been counted, in the handle's stream where the operation is done there. */
jstatus_t ji_operation_copy_between(const ji_operation_t *op, jbuffer_t *destination, const jbuffer_t *source);

/* The checks that all have in common. What it finds is kept in op even where it fails, as far as it can be known: the
 * operation ends with ji_operation_run() all the same. */
jstatus_t ji_operation_check(ji_operation_t *op);
/* The rest of the way. `status`: of the checks. */
jstatus_t ji_operation_run(ji_operation_t *op, jstatus_t status, const ji_operation_class_t *class);

/* Refuses shapes: invalid size, with both in the message. */
jstatus_t ji_operation_refuse_shapes(const ji_operation_t *op, const jlayout_t *a, const jlayout_t *b);
/* Refuses what is no jblas_operation_t; an operand that is neither matrix, vector nor number. */
jstatus_t ji_operation_check_operation(const ji_operation_t *op, jblas_operation_t operation);
jstatus_t ji_operation_check_matrix(const ji_operation_t *op, int operand);
#endif
