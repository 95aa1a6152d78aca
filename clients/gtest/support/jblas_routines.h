/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_JBLAS_ROUTINES_H
#define JALLOC_CLIENTS_GTEST_JBLAS_ROUTINES_H

/* All routines of jblas as one table, so that a property is tested on all of them by one loop.
 *
 * A routine says its arguments as a signature, one letter each in their order, the shapes of its
 * operands, and its reference. A function is a routine at one type. A case is a function with
 * random arguments: sizes, strides, enums, scalars, and operands in memory of their own with
 * inaccessible pages around it.
 *
 *   S T V U D    side, trans of A, trans of B, uplo, diag
 *   m n k b      sizes; b: of a batch; k, l: diagonals of a band below and above the main one
 *   0 1 2 3 4    operands               a c   alpha, beta
 *   x y z        their ld or increment  A C   the same, real
 *   p q s t u    their strides            P  rotm's five numbers
 *   Y            the leading dimension of operand 0 afterwards
 *   F G H        types of operands, where these are arguments, E the compute type, and R that of a
 *                rotation's scalars
 *
 * A batch that has no strides has arrays of pointers.
 *
 * Whatever a routine must not read (the other triangle, a unit diagonal, C when beta is 0, A and B
 * when alpha is 0, imaginary parts of a Hermitian diagonal, padding) is NaN in every case; whatever
 * it must not write is compared. */

#include "jblas_reference.h"
#include "jtest.h"
#include "lapack/rows.h"

#define BLAS_OPERANDS 5
#define BLAS_STRIDES "pqstu" /* of the operands */
#define BLAS_MAX_BATCH 4
enum { BLAS_ALPHA = BLAS_OPERANDS, BLAS_BETA, BLAS_POINTERS };

typedef struct blas_case blas_case_t;

/* Which operations a routine takes. As in BLAS, syrk and syr2k of complex types do not conjugate,
 * herk and her2k do. */
typedef enum {
    BLAS_OPERATIONS,
    BLAS_ANY_OPERATION,
    BLAS_SYMMETRIC_OPERATION,
    BLAS_HERMITIAN_OPERATION
} blas_operations_t;

typedef struct blas_routine {
    const char *name; /* without the type's letter */
    const char *signature;
    int level; /* 1 (0, too), 2, 3; bounds the sizes */
    blas_operations_t operations;
    void (*shape)(blas_case_t *c);
    void (*reference)(blas_case_t *c); /* of one item */
} blas_routine_t;

typedef struct blas_function {
    const char *name; /* such as "jblas_dtrsm" */
    const blas_routine_t *routine;
    jdatatype_t type; /* of its elements; JI_TYPE_x: they are arguments, drawn for each case */
    jstatus_t (*call)(jhandle_t *handle, const blas_case_t *c);
} blas_function_t;

enum {
#define BLAS_COUNT_(form, routine, t, name) JI_NAME_OF(form, BLAS_INDEX_##name),
#define BLAS_COUNT_PLAIN_(routine, level) JI_FUNCTIONS_##routine(BLAS_COUNT_, PLAIN)
#define BLAS_COUNT_STRIDED_(routine, level) JI_FUNCTIONS_##routine(BLAS_COUNT_, STRIDED)
#define BLAS_COUNT_POINTERS_(routine, level) JI_FUNCTIONS_##routine(BLAS_COUNT_, POINTERS)
#define BLAS_COUNT_ALL_(LIST)                                                                      \
    LIST(BLAS_COUNT_PLAIN_) LIST(BLAS_COUNT_STRIDED_) LIST(BLAS_COUNT_POINTERS_)
    BLAS_COUNT_ALL_(JI_ROUTINE_LIST) BLAS_COUNT_ALL_(JI_LAPACK_DEVICE_LIST)
#undef BLAS_COUNT_ALL_
#undef BLAS_COUNT_POINTERS_
#undef BLAS_COUNT_STRIDED_
#undef BLAS_COUNT_PLAIN_
#undef BLAS_COUNT_
        BLAS_FUNCTION_COUNT
};
extern const blas_function_t blas_functions[BLAS_FUNCTION_COUNT];
void blas_function_name(const void *function, char *name);

/* JTEST_P over the table: one test for each function. */
#define JTEST_EACH_FUNCTION(suite, name)                                                           \
    JTEST_P_NAMED(suite, name, blas_function_t, blas_functions, blas_function_name)

/* Packed: a triangle without a leading dimension. A number stands where a result does, by pointer
 * mode; of a batch it is an operand, while results follow each other. */
typedef enum {
    BLAS_NONE,
    BLAS_VECTOR,
    BLAS_MATRIX,
    BLAS_PACKED,
    BLAS_RESULT,
    BLAS_NUMBER
} blas_kind_t;
static inline bool blas_is_by_mode(blas_kind_t kind) {
    return kind == BLAS_RESULT || kind == BLAS_NUMBER;
}
/* Which elements of an operand there are. */
typedef enum {
    BLAS_ALL,
    BLAS_UPPER,
    BLAS_LOWER,
    BLAS_STRICTLY_UPPER,
    BLAS_STRICTLY_LOWER
} blas_part_t;

/* How large a diagonal is: so that solving with the matrix does not amplify errors, or that it has
 * a Cholesky factor. */
typedef enum { BLAS_PLAIN, BLAS_SOLVABLE, BLAS_POSITIVE_DEFINITE } blas_dominance_t;

typedef struct blas_operand {
    blas_kind_t kind;
    blas_part_t part;
    int element; /* jdatatype_t or WIDE_I64 */
    bool written;
    bool unread;    /* NaN, because it must not be read */
    bool hermitian; /* imaginary parts of the diagonal are not read and become zero */
    blas_dominance_t dominance;
    int64_t rows, columns; /* a vector: its elements, 1 */
    int64_t height;        /* of the array: the rows, or the diagonals of a band */
    bool is_band;
    int64_t below, above;  /* its diagonals beside the main one */
    int64_t ld;            /* a vector: its increment */
    int64_t count, stride; /* of a batch; 1 in a plain form */
    struct {
        bool moves;
        int64_t rows, columns, ld;
    } later;             /* how it lies after the call, where that is another way */
    unsigned char *data; /* the first byte that may be read or written */
    /* From there; the first inaccessible byte follows (or the last one precedes). */
    size_t bytes;
    unsigned char *region; /* what is compared: canaries and data */
    size_t region_bytes;
    unsigned char *before; /* region as it was filled */
    void *mapping;         /* with the inaccessible pages */
    size_t mapping_bytes;
    void *pointers[BLAS_MAX_BATCH];
    wide_matrix_t want[BLAS_MAX_BATCH];
} blas_operand_t;

struct blas_case {
    const blas_function_t *function;
    jblas_side_t side;
    union {
        jblas_operation_t transa, trans;
    };
    jblas_operation_t transb;
    jblas_uplo_t uplo;
    jblas_diagonal_t diag;
    union {
        int64_t k, nrhs, kl;
    };
    int64_t ku;
    int64_t m, n, batch_count;
    jdatatype_t types[BLAS_OPERANDS]; /* all the function's, where it has one */
    jdatatype_t cs_type, compute_type;
    int64_t item; /* of a batch: what the reference reads, and gives as item 0 */
    blas_operand_t operand[BLAS_OPERANDS];
    /* What is passed: operands, alpha, beta; tests put NULL here. */
    void *pointer[BLAS_POINTERS];
    /* alpha or c, beta or s; or rotm's numbers, in all of it. */
    _Alignas(16) unsigned char scalar[3][16];
    union {
        wide_t alpha, c;
    };
    union {
        wide_t beta, s;
    };
    int64_t depth; /* terms in one element of the answer, for the error bound */
    /* Answers by not touching anything: Hermitian diagonals keep their imaginary parts. */
    bool quick;
    bool has_reference;
    wide_arena_t arena;
    char text[400];
};

/* How the random arguments are drawn. Zero means: free. */
typedef struct blas_wish {
    int64_t low, high; /* sizes, both ends possible; 0, 0: by level, zero included */
    int64_t m, n, k;   /* these sizes; 0: drawn */
    int64_t apart;     /* leading dimensions are no less */
    bool plain;        /* alpha is neither 0 nor 1, beta neither, so that all the work is done */
    bool guard_before; /* the inaccessible page stands before the operands, not behind */
    bool tight;        /* leading dimensions as small as may be, increments 1 */
    bool alpha_zero, beta_zero, beta_one;
    bool left;     /* where the square operand stands */
    bool no_depth; /* k is 0: A and B are not read */
    bool hollow;   /* operands are NULL: for size queries of any size */
} blas_wish_t;

/* A case; end it with blas_case_free. */
blas_case_t *blas_case_create(const blas_function_t *function, const blas_wish_t *wish);
void blas_case_free(blas_case_t *c);
static inline void blas_case_cleanup(blas_case_t **c) { blas_case_free(*c); }
#define BLAS_CASE(c, function, ...)                                                                \
    __attribute__((cleanup(blas_case_cleanup))) blas_case_t *c =                                   \
        blas_case_create(function, &(blas_wish_t){__VA_ARGS__})

/* A handle of the host. */
static inline jhandle_t *blas_make_handle(const jhandle_options_t *options) {
    jhandle_t *handle = NULL;
    JEXPECT_OK(jhandle_create(options, &handle));
    return handle;
}
static inline jstatus_t blas_call(jhandle_t *handle, blas_case_t *c) {
    return c->function->call(handle, c);
}
/* What a query gives for the call, asked with NULL operands. */
size_t blas_query(jhandle_t *handle, blas_case_t *c);
/* Gives a hollow case other sizes; its leading dimensions follow. */
void blas_resize(blas_case_t *c, int64_t m, int64_t n, int64_t k);
/* The call with its arguments. */
const char *blas_describe(blas_case_t *c);
/* Operands as they were. */
void blas_restore(blas_case_t *c);
/* Whether the operands are as they were; says what is not. */
bool blas_unchanged(blas_case_t *c);
/* Whether the answer is right within the error bound, and nothing else was touched; says what is
 * not. */
bool blas_right(blas_case_t *c);
/* A copy of all operands, to be freed; and whether they are the same, bit for bit, as the copy. */
unsigned char *blas_snapshot(const blas_case_t *c);
bool blas_same_as(const blas_case_t *c, const unsigned char *snapshot);
/* Whether jblas's own kernels compute, and not the CBLAS, as who runs the tests may want. */
bool blas_is_own(void);

/* Whether jblas's own gemm looks like another's, so that ways on workspace are those of other
 * devices. Where a CBLAS computes it is another's anyway. */
void blas_hide_own_gemm(bool hide);

/* The largest magnitude in an operand before the call, 0 of one that is not read. */
long double blas_largest(const blas_case_t *c, int which);
/* As blas_right(), with one bound for all elements of C, which are zeros afterwards. */
bool blas_within(blas_case_t *c, long double bound);

/* Whether the CBLAS's gemm of the type reads what lies behind its operands; the room that guard
 * pages then leave to products of the type. */
bool blas_product_reads_beyond(int element);
size_t blas_room_bytes(int element);
/* jtest_guard_pages() with that room between the bytes and the page. */
void *blas_guard_pages(size_t bytes, int element);
/* The operand as it lies after the call. */
blas_operand_t blas_after_the_call(const blas_operand_t *o);
/* Whether an increment may be 0. */
bool blas_takes_any_increment(const blas_case_t *c);
/* Whether the function's signature has the letter. */
bool blas_has(const blas_case_t *c, char letter);
/* Elements from an operand's first byte to where the pointer of item 0 stands. */
int64_t blas_origin(const blas_operand_t *o);
/* The place of an element in elements from the operand's first byte. */
int64_t blas_index(const blas_operand_t *o, int64_t batch, int64_t i, int64_t j);
/* Whether the element has a place in the operand, whoever reads or writes it. */
bool blas_is_placed(const blas_operand_t *o, int64_t i, int64_t j);
/* Whether the element is part of the operand. */
bool blas_is_part(const blas_operand_t *o, int64_t i, int64_t j);

/* ---- What is promised on every device: jblas_promises.c ---- */

/* Calls a case on a handle of the device: blas_call(), or what takes the operands to a GPU and
 * back. */
typedef jstatus_t blas_caller_t(jhandle_t *handle, blas_case_t *c);

/* Rung 0, the right answer, nothing else touched; says what is not so. */
bool blas_call_is_right(jhandle_t *handle, blas_case_t *c, blas_caller_t *call);
/* Each alpha and beta of {0, 1, -1, other}, by both pointer modes. */
void blas_zero_scalars_read_nothing(jhandle_t *handle, const blas_function_t *function,
                                    blas_caller_t *call);
/* One more row asks for so many times the bytes at most; where a way begins to pay, its workspace
 * is in proportion to the operands from the start. */
void blas_requirement_is_continuous(jhandle_t *handle, const blas_function_t *function,
                                    double growth);
/* With the policy, how much workspace there is changes nothing of the answer. */
void blas_same_bits_for_any_workspace(jhandle_t *handle, blas_case_t *c, blas_caller_t *call);

#endif
