/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How a row and a block become a call of Fortran. Everything is passed by its address, so that any
 * routine has one type here, that of a function of many words: those it has not are nobody's, in
 * registers and on the stack that the caller takes down (System V ABI, AMD64 3.2.3; AAPCS64 6.8.2;
 * the like elsewhere). Behind the arguments stand the lengths of letters, 1 each.
 *
 * Integers are as wide as the LAPACK's: what it reads is put down so, and what it writes is read
 * back so.
 *
 *     dsyevd_("V", "U", &n, a, &lda, w,  work, &lwork, iwork, &liwork,  &info,  1, 1)
 *             the row's                  by its letters below */

#include <math.h>
#include <string.h>

#include "lapack/guest/guest.h"

#define CALL_WORDS 32
#define CALL_INTS 16

/* What stands before info, for real and for complex types: W work and lwork, R rwork and lrwork,
 * r rwork alone, I and i likewise iwork, b bwork, which nobody looks at. */
static const char *const call_work[JI_GUEST_COUNT][2] = {
    [JI_GUEST_syev] = {"W", "Wr"},    [JI_GUEST_syevd] = {"WI", "WRI"},
    [JI_GUEST_syevr] = {"WI", "WRI"}, [JI_GUEST_sygvd] = {"WI", "WRI"},
    [JI_GUEST_gesvd] = {"W", "Wr"},   [JI_GUEST_gesdd] = {"Wi", "Wri"},
    [JI_GUEST_geev] = {"W", ""},      [JI_GUEST_geev_complex] = {"", "Wr"},
    [JI_GUEST_gees] = {"Wb", ""},     [JI_GUEST_gees_complex] = {"", "Wrb"},
    [JI_GUEST_ggev] = {"W", ""},      [JI_GUEST_ggev_complex] = {"", "Wr"},
    [JI_GUEST_gelsd] = {"Wi", "Wri"}, [JI_GUEST_gtsv] = {"", ""},
    [JI_GUEST_pbtrf] = {"", ""},      [JI_GUEST_pbtrs] = {"", ""},
};

typedef struct call {
    const ji_driver_t *block;
    bool asks; /* for work: operands and scalars may be NULL */
    void *words[CALL_WORDS];
    int64_t ints[CALL_INTS];
    char letters[4];
    int word_count, int_count, letter_count;
} call_t;

static void call_add(call_t *call, const void *word) {
    call->words[call->word_count++] = ji_unconst(word);
}

static int64_t *call_add_int(call_t *call, int64_t value) {
    int64_t *place = &call->ints[call->int_count++];
    if (ji_lapack_guest_int_bits() == 64)
        *place = value;
    else
        memcpy(place, &(int32_t){(int32_t)value}, sizeof(int32_t));
    call_add(call, place);
    return place;
}

static int64_t call_read_int(const void *place) {
    int32_t half;
    int64_t whole;
    if (ji_lapack_guest_int_bits() == 64)
        return memcpy(&whole, place, sizeof whole), whole;
    return memcpy(&half, place, sizeof half), half;
}

static void call_add_letter(call_t *call, int letter) {
    call->letters[call->letter_count] = (char)letter;
    call_add(call, &call->letters[call->letter_count++]);
}

static void call_add_argument(call_t *call, const ji_argument_t *argument) {
    const char *at = (const char *)call->block + argument->offset;
    /* Of scalars that are not there yet, in the order of their members: (0, 1] is an interval. */
    static const double stand_in_d[] = {0, 1};
    static const float stand_in_s[] = {0, 1};
    int letter;
    int64_t size;
    void *pointer;

    switch (argument->kind) {
    case JI_ARGUMENT_UPLO:
        call_add_letter(call, *(const jblas_uplo_t *)(const void *)at == JBLAS_UPPER ? 'U' : 'L');
        break;
    case JI_ARGUMENT_LETTER:
        memcpy(&letter, at, sizeof letter);
        call_add_letter(call, letter);
        break;
    case JI_ARGUMENT_SIZE:
    case JI_ARGUMENT_STRIDE:
        memcpy(&size, at, sizeof size);
        (void)call_add_int(call, size);
        break;
    case JI_ARGUMENT_REAL_SCALAR: {
        const bool up = argument->offset == offsetof(ji_driver_t, up_to);
        const bool single = ji_real_of(call->block->head.type) == JDATATYPE_F32;
        call_add(call, !call->asks ? ji_scalar_data((const ji_scalar_t *)(const void *)at)
                       : single    ? (const void *)&stand_in_s[up]
                                   : (const void *)&stand_in_d[up]);
        break;
    }
    default: memcpy(&pointer, at, sizeof pointer); call_add(call, pointer);
    }
}

/* gees has two arguments that no row has: that nothing is sorted, and how many were. */
static bool call_is_schur(const ji_driver_t *block) {
    return block->which == JI_GUEST_gees || block->which == JI_GUEST_gees_complex;
}

typedef struct call_arrays {
    void *work, *rwork, *iwork;
} call_arrays_t;

static void call_add_work(call_t *call, const call_arrays_t *arrays) {
    const ji_driver_t *block = call->block;
    const char *letter = call_work[block->which][ji_is_complex(block->head.type)];
    for (; *letter != '\0'; letter++)
        switch (*letter) {
        case 'W':
            call_add(call, arrays->work);
            (void)call_add_int(call, block->lwork);
            break;
        case 'r': call_add(call, arrays->rwork); break;
        case 'R':
            call_add(call, arrays->rwork);
            (void)call_add_int(call, block->lrwork);
            break;
        case 'i': call_add(call, arrays->iwork); break;
        case 'I':
            call_add(call, arrays->iwork);
            (void)call_add_int(call, block->liwork);
            break;
        default: call_add(call, NULL); break;
        }
}

#define W(i) , void *
/* clang-format off */
#define CALL_EACH_WORD(X)                                                                          \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17)   \
    X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
/* clang-format on */
typedef void (*call_function_t)(void *CALL_EACH_WORD(W));
#undef W

/* Makes the call; gives info. */
static int64_t call_make(call_t *call, const call_arrays_t *arrays) {
    const ji_driver_t *block = call->block;
    void *found = NULL;

    for (const ji_argument_t *argument = block->head.row->arguments; argument->name; argument++) {
        if (argument->offset == offsetof(ji_driver_t, info))
            continue; /* it is behind the work */
        if (argument->offset == offsetof(ji_driver_t, count))
            found = call_add_int(call, 0);
        else
            call_add_argument(call, argument);

        if (call_is_schur(block) && argument->offset == offsetof(ji_driver_t, jobvs))
            call_add_letter(call, 'N'), call_add(call, NULL);
        if (call_is_schur(block) && argument->offset == offsetof(ji_driver_t, lda))
            (void)call_add_int(call, 0);
    }
    call_add_work(call, arrays);
    void *const info = call_add_int(call, 0);
    for (int i = 0; i < call->letter_count; i++)
        call_add(call, (const void *)(uintptr_t)1);

    call_function_t function;
    void *symbol = ji_lapack_guest_function(block->which, block->head.type);
    memcpy(&function, &symbol, sizeof function);
#define W(i) , call->words[i]
    function(call->words[0] CALL_EACH_WORD(W));
#undef W

    if (found != NULL && !call->asks)
        *block->count = call_read_int(found);
    return call_read_int(info);
}

/* ---- The call ---- */

static size_t call_bytes(const ji_driver_t *block, int which) {
    const jdatatype_t type = block->head.type;
    return ji_align_bytes(which == 0 ? (size_t)block->lwork * ji_sizeof(type)
                                     : (size_t)block->lrwork * ji_sizeof(ji_real_of(type)));
}

/* Pairs of indices, as many as were found; those of vectors that another way has found are 0. */
static void call_clear_indices(const ji_driver_t *block) {
    memset(block->isuppz, 0, (size_t)(2 * block->n) * sizeof *block->isuppz);
}
static void call_widen_indices(const ji_driver_t *block) {
    if (ji_lapack_guest_int_bits() == 64)
        return;
    for (int64_t i = 2 * block->n - 1; i >= 0; i--)
        block->isuppz[i] = call_read_int((const char *)block->isuppz + 4 * i);
}

int64_t ji_lapack_guest_call(const ji_driver_t *block) {
    call_t call = {.block = block};
    call_arrays_t arrays = {.work = block->work};
    arrays.rwork = (char *)arrays.work + call_bytes(block, 0);
    arrays.iwork = (char *)arrays.rwork + call_bytes(block, 1);

    if (block->isuppz != NULL)
        call_clear_indices(block);
    const int64_t info = call_make(&call, &arrays);
    if (block->isuppz != NULL)
        call_widen_indices(block);
    return info;
}

/* ---- How much work it wants ---- */

/* A count that came as a floating number: as float it may have been rounded to a smaller one. */
static int64_t call_count_of(jdatatype_t type, const void *number) {
    if (ji_real_of(type) == JDATATYPE_F32) {
        const float count = *(const float *)number;
        const float safe = count < 0x1p24F ? count : nextafterf(count, INFINITY);
        return safe >= 1 && safe < 0x1p62F ? (int64_t)ceilf(safe) : 1;
    }
    const double count = *(const double *)number;
    return count >= 1 && count < 0x1p62 ? (int64_t)ceil(count) : 1;
}

static int64_t call_at_least(int64_t least, int64_t wanted) {
    return ji_max(least, ji_min(wanted, ji_lapack_int_max));
}

ji_work_t ji_lapack_guest_ask(const ji_driver_t *args, ji_work_t least) {
    ji_driver_t block = *args;
    double work[2] = {0, 0}, rwork[2] = {0, 0};
    int64_t iwork[2] = {0, 0};
    call_t call = {.block = &block, .asks = true};
    block.lwork = block.lrwork = block.liwork = -1;

    /* A plan larger than the LAPACK's integers has overflowed there: what is least stands. */
    if (call_make(&call, &(call_arrays_t){work, rwork, iwork}) != 0)
        return least;
    const jdatatype_t type = block.head.type;
    return (ji_work_t){call_at_least(least.work, call_count_of(type, work)),
                       least.rwork == 0 ? 0
                                        : call_at_least(least.rwork, call_count_of(type, rwork)),
                       least.iwork == 0 ? 0 : call_at_least(least.iwork, call_read_int(iwork))};
}
