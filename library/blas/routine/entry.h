/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ROUTINE_ENTRY_H
#define JALLOC_BLAS_ROUTINE_ENTRY_H

/* What a routine's file is made of, and the two rooms of routines.
 *
 *   rows.h             what there is to say of a routine's arguments, once; rows_<level>.h
 *   entry.h            the typed functions and the checks, expanded from the row
 *   call.c             what is off the path of a small call: the rows as data, the first call, size
 *                      queries, refusals, plans, created streams
 *   types.c            types that are arguments
 *   batch.c            what batched forms have beside: their rows, their checks, their items
 *   log.h log.c        the lines of a call in the log, by the row
 *   ../routines/       a file for each routine, by BLAS level: its call function, which says in
 *                      what order all this is asked, and which primitive or plan it comes to
 *
 * Its row says the arguments. From it come the typed functions, and what is asked of arguments, in
 * one order for all routines:
 *
 *     JI_CALL syrk_call(jhandle_t *handle, void *block) {
 *         ji_matmat_t *args = block;
 *         JI_CHECK_SIZES(syrk)               enumerators, sizes, leading dimensions, increments
 *         JI_CHECK_WIDTH(syrk, args->n > 0); and that the BLAS takes them
 *         if (ji_is_query(handle))           a size query ends here, before it looks at operands
 *             return ji_answer(handle, args, NULL);
 *         if (args->n == 0)                  nothing to do
 *             return JSTATUS_SUCCESS;
 *         JI_TAKE_SCALARS(syrk)              scalars and results are there; scalars are taken
 *         JI_CHECK_OPERANDS(syrk)            operands are there, those that are read or written
 *         return ji_run(handle, JI_SYRK, args);
 *     }
 *     JI_ENTRIES(syrk, matmat)
 *
 * A call function is inlined into each typed name, where most of it falls away, and what is right
 * is found to be so by few comparisons: a small product costs little more than the CBLAS's. So the
 * macros are expanded inline; only what is wrong is looked at one by one, in cold functions.
 *
 * What always holds: of enumerators and sizes the first that is wrong, in the order of BLAS, is the
 * one that the message names, and batch_count and strides come behind the others; a size query
 * looks at no pointer; a call with nothing to do looks at no operand; what leaves the checks needs
 * no other.
 *
 * Read rows.h first, then routines/level3/syrk.c, then this file from the top. */

#include "blas/algorithms/algorithm.h"
#include "blas/host/host.h"
#include "blas/kernels/level1.h"
#include "blas/kernels/matvec.h"
#include "blas/routine/rows.h"
#include "blas/routine/setup.h"

/* The rows as data, what blas.h declares of them. */
#define JI_ROW_(routine, level)                                                                    \
    extern const ji_row_t ji_row_##routine, ji_row_##routine##_batched,                            \
        ji_row_##routine##_strided_batched;                                                        \
    ji_extents_t ji_extents_##routine(const void *block);
JI_ROUTINE_LIST(JI_ROW_)

/* ---- Typed functions ---- */

#define JI_PARAMETER(t, kind, ...) JI_PARAMETER_##kind(t, __VA_ARGS__)
#define JI_PARAMETER_ENUM(t, name, which) , JI_ENUM_##which name
#define JI_PARAMETER_LENGTH(t, name) , int64_t name
#define JI_PARAMETER_SIZE(t, name) , int64_t name
#define JI_PARAMETER_SCALAR(t, name, of) , const JI_##of##_##t *name
#define JI_PARAMETER_RESULT(t, name, of) , JI_##of##_##t *name
#define JI_PARAMETER_NUMBER(t, name, of, access, read) , JI_##access(JI_##of##_##t) * name
#define JI_PARAMETER_VECTOR(t, name, inc, access, count, read)                                     \
    , JI_##access(JI_ELEMENT_##t) * name, int64_t inc
#define JI_PARAMETER_MATRIX(t, name, ld, access, structure, shape, read)                           \
    , JI_##access(JI_ELEMENT_##t) * name, int64_t ld
#define JI_PARAMETER_PACKED(t, name, access, structure, order, read)                               \
    , JI_##access(JI_ELEMENT_##t) * name

#define JI_PARAMETER_LEADING(t, ld, name, shape) , int64_t ld
#define JI_PARAMETER_INDICES(t, name, access, count) , JI_##access(int64_t) * name
#define JI_PARAMETER_FACTORS(t, name, access, count) , JI_##access(JI_ELEMENT_##t) * name
#define JI_PARAMETER_REALS(t, name, access, count) , JI_##access(JI_REAL_##t) * name

/* Of batched forms. */
#define JI_PARAMETER_STRIDE(t, name) , int64_t stride_##name
#define JI_PARAMETER_NUMBER_STRIDE(t, name) , int64_t stride_##name
#define JI_PARAMETER_COUNT(t, name) , int64_t name

#define JI_ENUM_DATATYPE jdatatype_t
#define JI_ENUM_SIDE jblas_side_t
#define JI_ENUM_NORM jlapack_norm_t
#define JI_ENUM_UPLO jblas_uplo_t
#define JI_ENUM_DIAGONAL jblas_diagonal_t
#define JI_ENUM_OPERATION jblas_operation_t
#define JI_ENUM_ANY_OPERATION jblas_operation_t
#define JI_ENUM_SYMMETRIC_OPERATION jblas_operation_t
#define JI_ENUM_HERMITIAN_OPERATION jblas_operation_t

#define JI_PARAMETER_TYPED_VECTOR(t, name, type, inc, access, count, read)                         \
    , JI_##access(JI_ELEMENT_##t) * name, jdatatype_t type, int64_t inc
#define JI_PARAMETER_TYPED_MATRIX(t, name, type, ld, access, structure, shape, read)               \
    , JI_##access(JI_ELEMENT_##t) * name, jdatatype_t type, int64_t ld

#define JI_STORE(t, kind, ...) JI_STORE_##kind(__VA_ARGS__)
#define JI_STORE_ENUM(name, which) args.name = name;
#define JI_STORE_LENGTH(name) args.name = name;
#define JI_STORE_SIZE(name) args.name = name;
#define JI_STORE_SCALAR(name, of) args.name.pointer = name;
#define JI_STORE_RESULT(name, of) args.name = name;
#define JI_STORE_NUMBER(name, ...) args.name = ji_unconst(name);
#define JI_STORE_VECTOR(name, inc, access, count, read)                                            \
    args.name = ji_unconst(name), args.inc = inc;
#define JI_STORE_MATRIX(name, ld, access, structure, shape, read)                                  \
    args.name = ji_unconst(name), args.ld = ld;
#define JI_STORE_PACKED(name, access, structure, order, read) args.name = ji_unconst(name);
#define JI_STORE_LEADING(ld, name, shape) args.ld = ld;
#define JI_STORE_INDICES(name, access, count) args.name = ji_unconst(name);
#define JI_STORE_FACTORS(name, access, count) args.name = ji_unconst(name);
#define JI_STORE_REALS(name, access, count) args.name = ji_unconst(name);

#define JI_STORE_STRIDE(name) args.batch.stride_##name = stride_##name;
#define JI_STORE_NUMBER_STRIDE(name) args.stride_##name = stride_##name;
#define JI_STORE_COUNT(name) args.batch.count = name;

#define JI_STORE_TYPED_VECTOR(name, type, inc, ...)                                                \
    JI_STORE_VECTOR(name, inc, __VA_ARGS__) args.type = type;
#define JI_STORE_TYPED_MATRIX(name, type, ld, ...)                                                 \
    JI_STORE_MATRIX(name, ld, __VA_ARGS__) args.type = type;

#define JI_PASS(t, kind, ...) JI_PASS_##kind(__VA_ARGS__)
#define JI_PASS_ENUM(name, which) , name
#define JI_PASS_LENGTH(name) , name
#define JI_PASS_SIZE(name) , name
#define JI_PASS_SCALAR(name, of) , name
#define JI_PASS_RESULT(name, of) , name
#define JI_PASS_VECTOR(name, inc, access, count, read) , name, inc
#define JI_PASS_MATRIX(name, ld, access, structure, shape, read) , name, ld

/* Blocks in which nothing is set. Member by member, so that the compiler drops what the row sets
 * anyway: clearing it whole took 10 ns of a small product. */
static inline void ji_clear_vector(ji_vector_t *args) {
    args->n = args->incx = args->incy = 0;
    args->alpha.pointer = args->beta.pointer = args->param.pointer = NULL;
    args->x = args->y = args->result = NULL;
}

static inline void ji_clear_rotation(ji_rotation_t *args) {
    for (int i = 0; i < JI_ROTATION_NUMBERS; i++)
        args->numbers[i] = NULL;
}

static inline void ji_clear_matvec(ji_matvec_t *args) {
    args->uplo = (jblas_uplo_t)0;
    args->trans = (jblas_operation_t)0;
    args->diag = (jblas_diagonal_t)0;
    args->m = args->n = args->kl = args->ku = args->lda = args->incx = args->incy = 0;
    args->alpha.pointer = args->beta.pointer = args->a = args->x = args->y = NULL;
}

static inline void ji_clear_matmat(ji_matmat_t *args) {
    args->side = (jblas_side_t)0;
    args->uplo = (jblas_uplo_t)0;
    args->transa = args->transb = (jblas_operation_t)0;
    args->diag = (jblas_diagonal_t)0;
    args->m = args->n = args->k = args->lda = args->ldb = args->ldc = 0;
    args->alpha.pointer = args->beta.pointer = args->a = args->b = args->c = NULL;
    args->info = NULL;
    args->panels = NULL, args->panel_bytes = 0;
}

/* One function, for JI_FUNCTIONS_<routine> with the block: vector, matvec or matmat. */
#define JI_ENTRY(block, routine, t, function)                                                      \
    jstatus_t JI_PUBLIC(PLAIN,                                                                     \
                        function)(jhandle_t * handle JI_ARGUMENTS_##routine(JI_PARAMETER, t)) {    \
        JI_ENTER_WITH_BLOCK(block, routine, JI_TYPE_##t)                                           \
    }
/* The same where types are arguments. */
#define JI_ENTRY_OF_TYPES(block, routine, t, function)                                             \
    jstatus_t JI_PUBLIC(PLAIN,                                                                     \
                        function)(jhandle_t * handle JI_ARGUMENTS_##routine(JI_PARAMETER, t)) {    \
        JI_ENTER_WITH_BLOCK(block, routine, ji_computed_type(compute_type))                        \
    }
#define JI_ENTER_WITH_BLOCK(block, routine, of_type)                                               \
    ji_##block##_t args;                                                                           \
    ji_clear_##block(&args);                                                                       \
    args.head = (ji_head_t){.type = of_type, .row = &ji_row_##routine};                            \
    JI_ARGUMENTS_##routine(JI_STORE, );                                                            \
    return ji_enter(handle, routine##_call, &args);
/* One that first tries <routine>_at_once(type, handle, arguments), which does what needs no more
 * checks than a few comparisons, or says that it has not done it. The block is another function's
 * then, lest room is made for it. */
#define JI_ENTRY_AT_ONCE(block, routine, t, function)                                              \
    static __attribute__((noinline))                                                               \
    jstatus_t function##_with_block(jhandle_t *handle JI_ARGUMENTS_##routine(JI_PARAMETER, t)){    \
        JI_ENTER_WITH_BLOCK(block, routine, JI_TYPE_##t)} jstatus_t                                \
    JI_PUBLIC(PLAIN, function)(jhandle_t * handle JI_ARGUMENTS_##routine(JI_PARAMETER, t)) {       \
        if (JI_LIKELY(routine##_at_once(JI_TYPE_##t, handle JI_ARGUMENTS_##routine(JI_PASS, t))))  \
            return JSTATUS_SUCCESS;                                                                \
        return function##_with_block(handle JI_ARGUMENTS_##routine(JI_PASS, t));                   \
    }
/* All of them: JI_ENTRIES(syrk, matmat). */
#define JI_ENTRIES(routine, block)                                                                 \
    JI_FUNCTIONS_##routine(JI_ENTRY, block) JI_FUNCTIONS_##routine(JI_ENTRY_BATCHED, block)
#define JI_ENTRIES_AT_ONCE(routine, block)                                                         \
    JI_FUNCTIONS_##routine(JI_ENTRY_AT_ONCE, block) JI_FUNCTIONS_##routine(JI_ENTRY_BATCHED, block)
/* Without batched forms. */
#define JI_ENTRIES_PLAIN(routine, block) JI_FUNCTIONS_##routine(JI_ENTRY, block)
#define JI_ENTRIES_OF_TYPES(routine, block)                                                        \
    JI_FUNCTIONS_##routine(JI_ENTRY_OF_TYPES, block)                                               \
        JI_FUNCTIONS_##routine(JI_ENTRY_OF_TYPES_BATCHED, block)

/* The batched forms of one. They share a copy of the call function, so the rest of the block is
 * cleared. */
#define JI_ENTRY_BATCHED(block, routine, t, function)                                              \
    JI_ENTRY_OF(POINTERS, JI_TYPE_##t, block, routine, t, function)                                \
    JI_ENTRY_OF(STRIDED, JI_TYPE_##t, block, routine, t, function)
#define JI_ENTRY_OF_TYPES_BATCHED(block, routine, t, function)                                     \
    JI_ENTRY_OF(POINTERS, ji_computed_type(compute_type), block, routine, t, function)             \
    JI_ENTRY_OF(STRIDED, ji_computed_type(compute_type), block, routine, t, function)
#define JI_ENTRY_OF(form_, of_type, block, routine, t, function)                                   \
    jstatus_t JI_PUBLIC(form_, function)(                                                          \
        jhandle_t * handle JI_ARGUMENTS_OF(form_, routine, JI_PARAMETER, t)) {                     \
        ji_##block##_t args = {.head = {.type = of_type,                                           \
                                        .form = JI_FORM_##form_,                                   \
                                        .row = &JI_NAME_OF(form_, ji_row_##routine)},              \
                               .batch.level = JI_LEVEL_##block};                                   \
        JI_ARGUMENTS_OF(form_, routine, JI_STORE, t)                                               \
        return ji_enter_batch(handle, routine##_call, &args);                                      \
    }
#define JI_LEVEL_rotation 0
#define JI_LEVEL_vector 1
#define JI_LEVEL_matvec 2
#define JI_LEVEL_matmat 3
JI_SHARED jstatus_t ji_enter_batch(jhandle_t *handle, ji_call_function_t call, void *block);

/* One for every type, declared in blas.h: JI_VALUED(gemm, matmat). */
#define JI_VALUED(routine, block)                                                                  \
    jstatus_t ji_call_##routine(jhandle_t *handle, ji_##block##_t *args) {                         \
        args->head.row = &ji_row_##routine;                                                        \
        return ji_enter(handle, routine##_call, args);                                             \
    }
/* What a plan is made of depends on the host's set-up; if that fails the call says so. */
static inline void ji_set_up_for(const jhandle_t *handle) {
    if (handle->device->kind == JDEVICE_HOST)
        (void)ji_host_set_up();
}
/* And what it would borrow, by the function of its plan where `planned`. */
#define JI_VALUED_BYTES(routine, block, planned)                                                   \
    size_t ji_##routine##_bytes(const jhandle_t *handle, ji_##block##_t *args) {                   \
        jplan_t plan = JPLAN_INIT;                                                                 \
        args->head.row = &ji_row_##routine;                                                        \
        (void)ji_take_threads(handle, args);                                                       \
        ji_set_up_for(handle);                                                                     \
        if (planned)                                                                               \
            ji_##routine##_plan(&plan, handle, args);                                              \
        return jplan_bytes(&plan, handle);                                                         \
    }

/* The plain case. Everything else runs the one copy of the call function that the cold one
 * calls. */
#define ji_enter(handle, call, block)                                                              \
    (JI_LIKELY(ji_is_plain(handle)) ? call(handle, ji_take_threads(handle, block))                 \
                                    : ji_enter_cold(handle, call, block))
static inline bool ji_is_plain(const jhandle_t *handle) {
    return handle != NULL && handle->state == JI_HANDLE_READY && handle->calls_are_plain;
}
#define JI_SMALL_SIZE (INT64_C(1) << 29)

/* Whether kernels may be called now, as they would be in the end. */
static inline bool ji_is_now(const jhandle_t *handle) {
    return ji_is_plain(handle) && handle->runs_inline;
}

/* For <routine>_at_once() of level 1: the kernels, for a few elements whose increments (or-ed) are
 * not negative. NULL: by the block. */
static inline const ji_level1_t *ji_kernels_at_once(const jhandle_t *handle, jdatatype_t type,
                                                    int64_t n, int64_t increments) {
    const bool may = ji_is_now(handle) && (uint64_t)n - 1 < JI_REDUCE_BLOCK &&
                     (uint64_t)increments < (uint64_t)JI_SMALL_SIZE;
    return JI_LIKELY(may) ? ji_kernels->level1[type] : NULL;
}
/* The same of level 2: for one block of rows and of columns, vectors side by side, and an alpha
 * that is not 0. */
static inline const ji_matvec_kernels_t *ji_matvec_at_once(const jhandle_t *handle,
                                                           jdatatype_t type, int64_t m, int64_t n,
                                                           const void *alpha, int64_t lda,
                                                           int64_t incx, int64_t incy) {
    const bool may = ji_is_now(handle) && (uint64_t)m - 1 < JI_MATVEC_BLOCK &&
                     (uint64_t)n - 1 < JI_MATVEC_BLOCK && m <= lda && lda < JI_SMALL_SIZE &&
                     incx == 1 && incy == 1 && alpha != NULL &&
                     !host_is_zero(type, &(ji_scalar_t){.pointer = alpha});
    return JI_LIKELY(may) ? ji_kernels->matvec[type] : NULL;
}

/* Whether the primitive is jblas's own, and not the CBLAS's. */
#define JI_IS_OWN(primitive, function) (ji_host_primitives[primitive] == ji_host_##function)

#ifdef __OPTIMIZE__
#define JI_CALL static inline __attribute__((always_inline)) jstatus_t
#else /* a debugger and coverage have one copy of each call, not one for each typed name */
#define JI_CALL static inline jstatus_t
#endif

/* ---- Sizes ---- */

/* Refuses a call, keeping a message: "jblas_dtrsm: lda = 3: must be at least 5". `rule` has one
 * %lld, for the bound. */
JI_SHARED jstatus_t ji_refuse(jhandle_t *handle, const ji_head_t *head, jstatus_t status,
                              const char *argument, int64_t value, const char *rule, int64_t bound)
    __attribute__((cold));
JI_SHARED jstatus_t ji_refuse_pointer(jhandle_t *handle, const ji_head_t *head,
                                      const char *argument) __attribute__((cold));
/* A pointer of an array of them. */
jstatus_t ji_refuse_item(jhandle_t *handle, const ji_head_t *head, const char *argument,
                         int64_t index) __attribute__((cold));

/* "jblas_gemm_ex: a_type of a_type f64, ..., compute_type f32: <why>" */
jstatus_t ji_refuse_type(jhandle_t *handle, const ji_head_t *head, jstatus_t status,
                         const char *argument, const char *types, const char *why)
    __attribute__((cold));

/* Whether stride * count elements of any type can be addressed. Two numbers below 2^29 always can:
 * 2^58 elements of 16 bytes. */
static inline bool ji_addressable(int64_t stride, int64_t count) {
    int64_t elements;
    if (JI_LIKELY((uint64_t)(stride | count) < (uint64_t)JI_SMALL_SIZE))
        return true;

    return !__builtin_mul_overflow(stride, count, &elements) && elements <= INT64_MAX / 16 &&
           elements >= -(INT64_MAX / 16);
}

/* Enumerators of one kind follow each other. */
static inline bool ji_is_one_of(int value, int first, int last) {
    return (unsigned)value - (unsigned)first <= (unsigned)last - (unsigned)first;
}

/* Of a product of a complex matrix with its own transpose: the operation that is not one. */
static inline bool ji_is_other_operation(jdatatype_t type, jblas_operation_t operation,
                                         jblas_operation_t other) {
    return ji_is_complex(type) && operation == other;
}

/* All sizes, leading dimensions and increments, or-ed: as large as the largest of them, but for the
 * last bits, and huge if one is negative. */
#define JI_ALL_SIZES(routine) ((uint64_t)(0 JI_ARGUMENTS_##routine(JI_EACH_SIZE, JI_OR)))
#define JI_OR(size) | size
#define JI_EACH_SIZE(F, kind, ...) JI_EACH_SIZE_##kind(F, __VA_ARGS__)
#define JI_EACH_SIZE_ENUM(F, name, which)
#define JI_EACH_SIZE_LENGTH(F, name) F(args->name)
#define JI_EACH_SIZE_SIZE(F, name) F(args->name)
#define JI_EACH_SIZE_SCALAR(F, name, of)
#define JI_EACH_SIZE_RESULT(F, name, of)
#define JI_EACH_SIZE_NUMBER(F, name, ...)
#define JI_EACH_SIZE_VECTOR(F, name, inc, access, count, read) F(args->inc)
#define JI_EACH_SIZE_MATRIX(F, name, ld, access, structure, shape, read) F(args->ld)
#define JI_EACH_SIZE_PACKED(F, name, access, structure, order, read)
#define JI_EACH_SIZE_LEADING(F, ld, name, shape) F(args->ld)
#define JI_EACH_SIZE_INDICES(F, name, access, count)
#define JI_EACH_SIZE_FACTORS(F, name, access, count)
#define JI_EACH_SIZE_REALS(F, name, access, count)
#define JI_EACH_SIZE_TYPED_VECTOR(F, name, type, inc, ...) F(args->inc)
#define JI_EACH_SIZE_TYPED_MATRIX(F, name, type, ld, ...) F(args->ld)

/* Whether nothing is wrong, for small sizes, which need no look at each. False says nothing. */
#define JI_ARE_RIGHT(routine)                                                                      \
    (JI_ALL_SIZES(routine) < (uint64_t)JI_SMALL_SIZE JI_ARGUMENTS_##routine(JI_IS_RIGHT, ))
#define JI_IS_RIGHT(t, kind, ...) JI_IS_RIGHT_##kind(__VA_ARGS__)
#define JI_IS_RIGHT_ENUM(name, which) &&JI_IS_##which(args->name)
#define JI_IS_RIGHT_LENGTH(name)
#define JI_IS_RIGHT_SIZE(name)
#define JI_IS_RIGHT_SCALAR(name, of)
#define JI_IS_RIGHT_RESULT(name, of)
#define JI_IS_RIGHT_NUMBER(name, ...)
#define JI_IS_RIGHT_VECTOR(name, inc, access, count, read) &&JI_IS_INCREMENT_##count(args->inc)
#define JI_IS_RIGHT_MATRIX(name, ld, access, structure, shape, read)                               \
    &&args->ld >= JI_ROWS_##shape && args->ld != 0
#define JI_IS_RIGHT_PACKED(name, access, structure, order, read)
#define JI_IS_RIGHT_INDICES(name, access, count)
#define JI_IS_RIGHT_FACTORS(name, access, count)
#define JI_IS_RIGHT_REALS(name, access, count)
#define JI_IS_RIGHT_LEADING(ld, name, shape) JI_IS_RIGHT_MATRIX(name, ld, , , shape, )
#define JI_IS_RIGHT_TYPED_VECTOR(name, type, inc, ...) JI_IS_RIGHT_VECTOR(name, inc, __VA_ARGS__)
#define JI_IS_RIGHT_TYPED_MATRIX(name, type, ld, ...) JI_IS_RIGHT_MATRIX(name, ld, __VA_ARGS__)

#define JI_IS_DATATYPE(value) ji_is_one_of((int)(value), JDATATYPE_F32, JDATATYPE_I32)
#define JI_IS_SIDE(value) ji_is_one_of(value, JBLAS_LEFT, JBLAS_RIGHT)
#define JI_IS_NORM(value) ((value) == JLAPACK_ONE_NORM || (value) == JLAPACK_INFINITY_NORM)
#define JI_IS_UPLO(value) ji_is_one_of(value, JBLAS_UPPER, JBLAS_LOWER)
#define JI_IS_DIAGONAL(value) ji_is_one_of(value, JBLAS_NON_UNIT, JBLAS_UNIT)
#define JI_IS_OPERATION(value) ji_is_one_of(value, JBLAS_NO_TRANSPOSE, JBLAS_CONJUGATE_TRANSPOSE)
#define JI_IS_ANY_OPERATION(value) ji_is_one_of(value, JBLAS_NO_TRANSPOSE, JBLAS_CONJUGATE)
#define JI_IS_SYMMETRIC_OPERATION(value)                                                           \
    (JI_IS_OPERATION(value) &&                                                                     \
     !ji_is_other_operation(args->head.type, value, JBLAS_CONJUGATE_TRANSPOSE))
#define JI_IS_HERMITIAN_OPERATION(value)                                                           \
    (JI_IS_OPERATION(value) && !ji_is_other_operation(args->head.type, value, JBLAS_TRANSPOSE))
/* An increment of 0 is one where elements are read or written one by one. */
#define JI_IS_INCREMENT_LENGTH(n) JI_ANY_INCREMENT
#define JI_IS_INCREMENT_SIDED(m, n) JI_ANY_INCREMENT
#define JI_IS_INCREMENT_ELEMENTS(n) JI_INCREMENT_NOT_0
#define JI_IS_INCREMENT_TAKEN(trans, m, n) JI_INCREMENT_NOT_0
#define JI_IS_INCREMENT_GIVEN(trans, m, n) JI_INCREMENT_NOT_0
#define JI_ANY_INCREMENT(inc) true
#define JI_INCREMENT_NOT_0(inc) (inc != 0)

/* Finds the first that is wrong. The parameters of the call function are `handle` and the typed
 * block `args`. A status is returned as the constant that it is: where a check is inlined, the
 * compiler then sees that the call ends there. */
#define JI_CHECK_SIZES(routine)                                                                    \
    if (JI_UNLIKELY(!JI_ARE_RIGHT(routine))) {                                                     \
        JI_ARGUMENTS_##routine(JI_CHECK_ONE, )                                                     \
    }                                                                                              \
    if (JI_UNLIKELY(ji_is_batch(&args->head))) {                                                   \
        jstatus_t batch_status;                                                                    \
        if (!ji_batch_goes_on(handle, args, &batch_status))                                        \
            return batch_status;                                                                   \
    }
/* The sizes of the batch, behind those of the items. False if the call ends there, with this
 * status. */
JI_SHARED bool ji_batch_goes_on(jhandle_t *handle, void *block, jstatus_t *status);
#define JI_CHECK(condition, status, argument, value, rule, bound)                                  \
    if (JI_UNLIKELY(!(condition)))                                                                 \
        return (void)ji_refuse(handle, &args->head, status, argument, value, rule, bound), status;

#define JI_CHECK_ONE(t, kind, ...) JI_CHECK_ONE_##kind(__VA_ARGS__)
#define JI_CHECK_ONE_ENUM(name, which)                                                             \
    JI_CHECK(JI_IS_##which(args->name), JSTATUS_INVALID_VALUE, #name, (int64_t)args->name,         \
             JI_RULE_##which(args->name), 0)
#define JI_CHECK_ONE_LENGTH(name)
#define JI_CHECK_ONE_SIZE(name)                                                                    \
    JI_CHECK(args->name >= 0, JSTATUS_INVALID_SIZE, #name, args->name, "must be at least %lld", 0)
#define JI_CHECK_ONE_SCALAR(name, of)
#define JI_CHECK_ONE_RESULT(name, of)
#define JI_CHECK_ONE_NUMBER(name, ...)
#define JI_CHECK_ONE_VECTOR(name, inc, access, count, read)                                        \
    JI_CHECK(JI_IS_INCREMENT_##count(args->inc), JSTATUS_INVALID_SIZE, #inc, args->inc,            \
             "must not be %lld", 0)                                                                \
    JI_CHECK(ji_addressable(args->inc, JI_COUNT_##count), JSTATUS_INVALID_SIZE, #inc, args->inc,   \
             "with %lld elements is more than memory can hold", JI_COUNT_##count)
#define JI_CHECK_ONE_MATRIX(name, ld, access, structure, shape, read)                              \
    JI_CHECK(args->ld >= ji_max(JI_ROWS_##shape, 1), JSTATUS_INVALID_SIZE, #ld, args->ld,          \
             "must be at least %lld", ji_max(JI_ROWS_##shape, 1))                                  \
    JI_CHECK(ji_addressable(args->ld, JI_COLUMNS_##shape), JSTATUS_INVALID_SIZE, #ld, args->ld,    \
             "with %lld columns is more than memory can hold", JI_COLUMNS_##shape)
#define JI_CHECK_ONE_PACKED(name, access, structure, order, read)                                  \
    JI_CHECK(ji_addressable(args->order, args->order / 2 + 1), JSTATUS_INVALID_SIZE, #order,       \
             args->order, "a packed triangle is more than memory can hold", 0)
#define JI_CHECK_ONE_INDICES(name, access, count)
#define JI_CHECK_ONE_FACTORS(name, access, count)
#define JI_CHECK_ONE_REALS(name, access, count)
#define JI_CHECK_ONE_LEADING(ld, name, shape) JI_CHECK_ONE_MATRIX(name, ld, , , shape, )
#define JI_CHECK_ONE_TYPED_VECTOR(name, type, inc, ...) JI_CHECK_ONE_VECTOR(name, inc, __VA_ARGS__)
#define JI_CHECK_ONE_TYPED_MATRIX(name, type, ld, ...) JI_CHECK_ONE_MATRIX(name, ld, __VA_ARGS__)

#define JI_RULE_DATATYPE(value) JI_MUST_BE_DATATYPE
#define JI_RULE_SIDE(value) JI_MUST_BE_SIDE
#define JI_RULE_NORM(value) JI_MUST_BE_NORM
#define JI_RULE_UPLO(value) JI_MUST_BE_UPLO
#define JI_RULE_DIAGONAL(value) JI_MUST_BE_DIAGONAL
#define JI_RULE_OPERATION(value) JI_MUST_BE_OPERATION
#define JI_RULE_ANY_OPERATION(value) JI_MUST_BE_ANY_OPERATION
#define JI_RULE_SYMMETRIC_OPERATION(value) JI_RULE_OPERATION_OF_TYPE(value)
#define JI_RULE_HERMITIAN_OPERATION(value) JI_RULE_OPERATION_OF_TYPE(value)
#define JI_RULE_OPERATION_OF_TYPE(value)                                                           \
    (JI_IS_OPERATION(value) ? "is not for this routine and type" : JI_MUST_BE_OPERATION)

/* For a primitive that does not split what is too large for the BLAS, 2^k - 1, which the or-ed
 * sizes exceed exactly if one of them does. A call with nothing to do reaches no BLAS. */
#define JI_CHECK_WIDTH(routine, something)                                                         \
    if (JI_UNLIKELY(JI_ALL_SIZES(routine) > (uint64_t)ji_integer_max(handle)) && (something)) {    \
        int64_t largest = 0;                                                                       \
        JI_ARGUMENTS_##routine(JI_EACH_SIZE, JI_ENLARGE);                                          \
        JI_CHECK(largest <= ji_integer_max(handle), JSTATUS_INVALID_SIZE, "the largest size",      \
                 largest, "the BLAS in use takes at most %lld", ji_integer_max(handle))            \
    }
#define JI_ENLARGE(size) largest = ji_max(largest, ji_abs(size));

/* ---- Types ---- */

/* What a block of such a call is said to compute in until its types are known to be right: no
 * scalar is read as a type that is none of theirs. */
static inline jdatatype_t ji_computed_type(jdatatype_t type) {
    return JI_IS_DATATYPE(type) ? type : JI_TYPE_x;
}

/* Refuses types that are none, what they cannot be computed in, and what jblas does not (types.c).
 * Before JI_CHECK_SIZES, as enumerators are. */
#define JI_CHECK_TYPES(offered)                                                                    \
    do {                                                                                           \
        const jstatus_t of_types = ji_check_types(handle, &args->head, offered);                   \
        if (JI_UNLIKELY(of_types != JSTATUS_SUCCESS))                                              \
            return of_types;                                                                       \
    } while (0);
typedef enum ji_types {
    JI_TYPES_FLOAT,
    JI_TYPES_INTEGER, /* and a product of integers */
    JI_TYPES_ONE      /* of these that are no integers; and JBLAS_CONJUGATE is an operation */
} ji_types_t;
jstatus_t ji_check_types(jhandle_t *handle, const ji_head_t *head, ji_types_t offered);

/* ---- Pointers ---- */

#define JI_CHECK_POINTER(name)                                                                     \
    if (JI_UNLIKELY(args->name == NULL))                                                           \
        return (void)ji_refuse_pointer(handle, &args->head, #name), JSTATUS_INVALID_POINTER;

/* Declares alpha_type and beta_type, which JI_CHECK_OPERANDS looks at. */
#define JI_TAKE_SCALARS(routine)                                                                   \
    JI_ARGUMENTS_##routine(JI_CHECK_SCALAR, ) JI_ARGUMENTS_##routine(JI_TAKE_SCALAR, )
#define JI_CHECK_SCALAR(t, kind, ...) JI_CHECK_SCALAR_##kind(__VA_ARGS__)
#define JI_CHECK_SCALAR_ENUM(name, which)
#define JI_CHECK_SCALAR_LENGTH(name)
#define JI_CHECK_SCALAR_SIZE(name)
#define JI_CHECK_SCALAR_SCALAR(name, of)                                                           \
    if (JI_UNLIKELY(args->name.pointer == NULL))                                                   \
        return (void)ji_refuse_pointer(handle, &args->head, #name), JSTATUS_INVALID_POINTER;
#define JI_CHECK_SCALAR_RESULT(name, of) JI_CHECK_POINTER(name)
#define JI_CHECK_SCALAR_VECTOR(name, ...)
#define JI_CHECK_SCALAR_MATRIX(name, ...)
#define JI_CHECK_SCALAR_PACKED(name, ...)
#define JI_CHECK_SCALAR_LEADING(ld, ...)
#define JI_CHECK_SCALAR_INDICES(name, ...)
#define JI_CHECK_SCALAR_FACTORS(name, ...)
#define JI_CHECK_SCALAR_REALS(name, ...)
#define JI_CHECK_SCALAR_TYPED_VECTOR(name, ...)
#define JI_CHECK_SCALAR_TYPED_MATRIX(name, ...)
#define JI_TAKE_SCALAR(t, kind, ...) JI_TAKE_SCALAR_##kind(__VA_ARGS__)
#define JI_TAKE_SCALAR_ENUM(name, which)
#define JI_TAKE_SCALAR_LENGTH(name)
#define JI_TAKE_SCALAR_SIZE(name)
#define JI_TAKE_SCALAR_SCALAR(name, of) JI_TAKE_##of(name, of)
#define JI_TAKE_ELEMENT(name, of)                                                                  \
    const jdatatype_t name##_type = JI_TYPE_OF_##of(args->head.type);                              \
    ji_take(handle, &args->name, name##_type);                                                     \
    (void)name##_type;
#define JI_TAKE_REAL(name, of) JI_TAKE_ELEMENT(name, of)
#define JI_TAKE_SUM(name, of) JI_TAKE_ELEMENT(name, of)
#define JI_TAKE_CS(name, of) ji_take_typed(handle, &args->name, args->cs_type);
#define JI_TAKE_PARAMETERS(name, of) ji_take_parameters(handle, &args->name, args->head.type);
#define JI_TAKE_SCALAR_RESULT(name, of)
#define JI_TAKE_SCALAR_VECTOR(name, ...)
#define JI_TAKE_SCALAR_MATRIX(name, ...)
#define JI_TAKE_SCALAR_PACKED(name, ...)
#define JI_TAKE_SCALAR_LEADING(ld, ...)
#define JI_TAKE_SCALAR_INDICES(name, ...)
#define JI_TAKE_SCALAR_FACTORS(name, ...)
#define JI_TAKE_SCALAR_REALS(name, ...)
#define JI_TAKE_SCALAR_TYPED_VECTOR(name, ...)
#define JI_TAKE_SCALAR_TYPED_MATRIX(name, ...)

/* What is written has to be there; what is read, if it is read. Of a batch each item's has to be,
 * and what is not read is left out, lest an array is read for it. */
#define JI_CHECK_OPERANDS(routine) JI_ARGUMENTS_##routine(JI_CHECK_OPERAND, )
#define JI_CHECK_OPERAND(t, kind, ...) JI_CHECK_OPERAND_##kind(__VA_ARGS__)
#define JI_CHECK_OPERAND_ENUM(name, which)
#define JI_CHECK_OPERAND_LENGTH(name)
#define JI_CHECK_OPERAND_SIZE(name)
#define JI_CHECK_OPERAND_SCALAR(name, of)
#define JI_CHECK_OPERAND_RESULT(name, of)
#define JI_CHECK_OPERAND_NUMBER(name, of, access, read) JI_CHECK_NEEDED(name, true)
#define JI_CHECK_OPERAND_VECTOR(name, inc, access, count, read)                                    \
    JI_CHECK_NEEDED(name, JI_IS_NEEDED_##access(read))
#define JI_CHECK_OPERAND_MATRIX(name, ld, access, structure, shape, read)                          \
    JI_CHECK_NEEDED(name, JI_IS_NEEDED_##access(read))
#define JI_CHECK_NEEDED(name, needed)                                                              \
    if (needed) {                                                                                  \
        if (JI_UNLIKELY(args->name == NULL)) {                                                     \
            if (!ji_is_batch(&args->head) || !ji_batch_lacks(args, &args->name))                   \
                return (void)ji_refuse_pointer(handle, &args->head, #name),                        \
                       JSTATUS_INVALID_POINTER;                                                    \
        } else if (args->head.form == JI_FORM_POINTERS &&                                          \
                   !ji_batch_is_there(handle, args, #name, args->name)) {                          \
            return JSTATUS_INVALID_POINTER;                                                        \
        }                                                                                          \
    } else if (ji_is_batch(&args->head)) {                                                         \
        args->name = NULL;                                                                         \
    }
#define JI_CHECK_OPERAND_PACKED(name, access, structure, order, read)                              \
    JI_CHECK_NEEDED(name, JI_IS_NEEDED_##access(read))
#define JI_CHECK_OPERAND_LEADING(ld, ...)
#define JI_CHECK_OPERAND_INDICES(name, access, count) JI_CHECK_POINTER(name)
#define JI_CHECK_OPERAND_FACTORS(name, access, count) JI_CHECK_POINTER(name)
#define JI_CHECK_OPERAND_REALS(name, access, count) JI_CHECK_POINTER(name)
#define JI_CHECK_OPERAND_TYPED_VECTOR(name, type, inc, ...)                                        \
    JI_CHECK_OPERAND_VECTOR(name, inc, __VA_ARGS__)
#define JI_CHECK_OPERAND_TYPED_MATRIX(name, type, ld, ...)                                         \
    JI_CHECK_OPERAND_MATRIX(name, ld, __VA_ARGS__)
/* Whether items have no elements of the operand whose pointer is at that place of the block. */
JI_SHARED bool ji_batch_lacks(const void *block, const void *place) __attribute__((cold));
/* Whether no pointer of the array is NULL, where that can be seen now. */
JI_SHARED bool ji_batch_is_there(jhandle_t *handle, const void *block, const char *name,
                                 const void *pointers);
#define JI_IS_NEEDED_READ(read) JI_IS_READ_##read
#define JI_IS_NEEDED_WRITTEN(read) true
#define JI_IS_READ_ALWAYS true
#define JI_IS_READ_ALPHA !ji_scalar_is(&args->alpha, alpha_type, 0)
#define JI_IS_READ_BETA !ji_scalar_is(&args->beta, beta_type, 0)
#define JI_IS_READ_PRODUCT (args->k > 0 && JI_IS_READ_ALPHA)

#endif
