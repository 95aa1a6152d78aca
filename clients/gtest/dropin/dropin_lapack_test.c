/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The drop-in's names of LAPACK, each function that it has, from the rows: random calls by
 * Fortran's name and by LAPACKE's, by columns and by rows, with 32-bit and with 64-bit integers.
 * Fortran's are held against Debian's liblapack.so.3, or what JALLOC_TEST_LAPACK names, in all that
 * the two leave in memory, and the others against Fortran's: the same bits. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "dropin/lapack/lapack.h"
#include "dropin_call.h"
#include "jtest.h"

enum { MOST = 40, PAD = 3, ROOM = (MOST + PAD) * (MOST + PAD) * 2 };

/* Whatever the type, as many bytes as doubles. An array has its name in the row. */
typedef struct problem {
    jblas_side_t side;
    jblas_uplo_t uplo;
    jblas_operation_t trans;
    jblas_diagonal_t diag;
    jlapack_norm_t norm;
    int64_t m, n, k, nrhs, lda, ldb, ldc, ldaf, ldx;
    double a[ROOM], b[ROOM], c[ROOM], tau[2 * MOST];
    double af[ROOM], x[ROOM], ferr[MOST], berr[MOST]; /* refinement's */
    double anorm[1], rcond[1];
    union {
        int64_t ipiv[MOST], jpvt[MOST];
    };
    int64_t iter, info;
    double said[2]; /* work's first element */
} problem_t;

typedef enum { FORTRAN, BY_COLUMNS, BY_ROWS } face_t;

typedef struct library {
    void *file;
    bool wide; /* 64-bit integers */
} library_t;

static char letter_of(int enumerator) {
    switch (enumerator) {
    case JBLAS_LEFT:
    case JBLAS_LOWER: return 'L';
    case JBLAS_RIGHT: return 'R';
    case JBLAS_UPPER:
    case JBLAS_UNIT: return 'U';
    case JBLAS_TRANSPOSE: return 't';
    case JBLAS_CONJUGATE_TRANSPOSE: return 'C';
    case JLAPACK_ONE_NORM: return 'O';
    case JLAPACK_INFINITY_NORM: return 'i';
    default: return 'n'; /* no operation, no unit */
    }
}

/* ---- Elements ---- */

static bool is_single(jdatatype_t type) { return type == JDATATYPE_F32 || type == JDATATYPE_F32_C; }

static double get(jdatatype_t type, const void *array, int64_t i) {
    return is_single(type) ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static void put(jdatatype_t type, void *array, int64_t i, double value) {
    if (is_single(type))
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* The real numbers that an array of the problem holds. */
static int64_t numbers_of(size_t bytes, jdatatype_t type) {
    return (int64_t)(bytes / (is_single(type) ? sizeof(float) : sizeof(double)));
}

static void fill(jdatatype_t type, void *array, size_t bytes) {
    for (int64_t i = 0; i < numbers_of(bytes, type); i++)
        put(type, array, i, jtest_random_double(-1, 1));
}

/* ---- Arguments, by the rows ---- */

/* What a call is given: words, and where integers lie of which Fortran has the address. */
typedef struct given {
    dropin_arguments_t words;
    int64_t integers[DROPIN_MOST_WORDS];
    char letters[DROPIN_MOST_WORDS];
    int32_t narrow[MOST]; /* pivots of 32 bits */
    double work[2 * MOST * 64], rwork[2 * MOST];
    double turned[4][ROOM]; /* rows of matrices */
    int64_t turned_ld[4];
    int turned_count;
} given_t;

static void give_word(given_t *given, intptr_t word) {
    given->words.word[given->words.words++] = word;
}

static void give_integer(given_t *given, face_t face, int64_t value) {
    int64_t *at = &given->integers[given->words.words];
    *at = value;
    give_word(given, face == FORTRAN ? (intptr_t)at : (intptr_t)value);
}

static void give_letter(given_t *given, face_t face, int enumerator) {
    char *at = &given->letters[given->words.words];
    *at = letter_of(enumerator);
    give_word(given, face == FORTRAN ? (intptr_t)at : (intptr_t)*at);
}

/* A real number of the type's precision: C's functions have its value. */
static void give_real(jdatatype_t type, given_t *given, face_t face, const void *value) {
    if (face == FORTRAN)
        give_word(given, (intptr_t)value);
    else
        memcpy(&given->words.real[given->words.reals++], value,
               is_single(type) ? sizeof(float) : sizeof(double));
}

/* A matrix by rows, with sentinels behind each. */
static void turn(jdatatype_t type, given_t *given, int64_t rows, int64_t columns, void *array,
                 int64_t ld, bool back) {
    const int64_t parts = ji_is_complex(type) ? 2 : 1, ld_rows = columns > 0 ? columns + 2 : 2;
    void *by_rows = given->turned[given->turned_count];
    if (!back)
        for (int64_t i = 0; i < numbers_of(sizeof given->turned[0], type); i++)
            put(type, by_rows, i, 77);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < ld_rows; j++)
            for (int64_t part = 0; part < parts; part++) {
                const int64_t at = (i * ld_rows + j) * parts + part;
                const int64_t from = (i + j * ld) * parts + part;
                if (j >= columns)
                    JEXPECT_EQ(get(type, by_rows, at), 77.0);
                else if (back)
                    put(type, array, from, get(type, by_rows, at));
                else
                    put(type, by_rows, at, get(type, array, from));
            }
    given->turned_ld[given->turned_count++] = ld_rows;
}

static void give_matrix(jdatatype_t type, given_t *given, face_t face, int64_t rows,
                        int64_t columns, void *array, int64_t ld) {
    if (face == BY_ROWS) {
        turn(type, given, rows, columns, array, ld, false);
        give_word(given, (intptr_t)given->turned[given->turned_count - 1]);
        give_integer(given, face, given->turned_ld[given->turned_count - 1]);
    } else {
        give_word(given, (intptr_t)array);
        give_integer(given, face, ld);
    }
}

static void give_indices(given_t *given, bool wide, int64_t *indices) {
    give_word(given, wide ? (intptr_t)indices : (intptr_t)given->narrow);
}

#define GIVE(t, kind, ...) GIVE_##kind(t, __VA_ARGS__)
#define GIVE_ENUM(t, name, which) give_letter(given, face, (int)args->name);
#define GIVE_SIZE(t, name) give_integer(given, face, args->name);
#define GIVE_SCALAR(t, name, of) give_real(JI_TYPE_##t, given, face, args->name);
#define GIVE_RESULT(t, name, of) GIVE_RESULT_##of(name)
#define GIVE_RESULT_INDEX(name)
#define GIVE_RESULT_REAL(name) give_word(given, (intptr_t)args->name);
#define GIVE_NUMBER(t, name, ...) give_word(given, (intptr_t)args->name);
#define GIVE_MATRIX(t, name, ld, access, structure, shape, read)                                   \
    give_matrix(JI_TYPE_##t, given, face, JI_ROWS_##shape, JI_COLUMNS_##shape, args->name,         \
                args->ld);
#define GIVE_INDICES(t, name, access, count) give_indices(given, library->wide, args->name);
#define GIVE_FACTORS(t, name, access, count) give_word(given, (intptr_t)args->name);

#define TAKE_BACK(t, kind, ...) BACK_##kind(t, __VA_ARGS__)
#define BACK_ENUM(...)
#define BACK_SIZE(...)
#define BACK_SCALAR(...)
#define BACK_RESULT(...)
#define BACK_NUMBER(...)
#define BACK_FACTORS(...)
#define BACK_MATRIX(t, name, ld, access, structure, shape, read)                                   \
    turn(JI_TYPE_##t, given, JI_ROWS_##shape, JI_COLUMNS_##shape, args->name, args->ld, true);
#define BACK_INDICES(t, name, access, count)

/* Calls <function> of the library by one of its names with the problem, in place. */
#define CALL(routine, prefix, lwork) JI_FUNCTIONS_##routine(CALL_, (lwork))
#define CALL_(lwork, routine, t, function) CALL_OF(JI_ONLY lwork, routine, t, function)
#define CALL_OF(lwork, routine, t, function) CALL_FUNCTION(lwork, routine, t, function)
#define CALL_FUNCTION(least, routine, t, function)                                                 \
    static void call_##function(const library_t *library, face_t face, problem_t *args,            \
                                int64_t lwork) {                                                   \
        given_t *given = calloc(1, sizeof *given);                                                 \
        JASSERT_NE(given, NULL);                                                                   \
        for (int i = 0; i < MOST; i++)                                                             \
            given->narrow[i] = (int32_t)args->ipiv[i];                                             \
        if (face != FORTRAN)                                                                       \
            give_word(given, face == BY_ROWS ? 101 : 102);                                         \
        JI_ARGUMENTS_##routine(GIVE, t);                                                           \
        JI_IF_LWORK(least, give_word(given, (intptr_t)given->work);                                \
                    give_integer(given, face, lwork != 0 ? lwork : 64 * MOST);)                    \
        JI_IF_RWORK(least, t, give_word(given, (intptr_t)given->rwork);)                           \
        JI_IF_TWO(least, give_word(given, (intptr_t)given->work);                                  \
                  give_word(given, (intptr_t)given->rwork);)                                       \
        JI_IF_ITER(least, give_word(given, (intptr_t)given->work);                                 \
                   give_word(given, (intptr_t)given->turned[3]);                                   \
                   if (ji_is_complex(JI_TYPE_##t)) give_word(given, (intptr_t)given->rwork);)      \
        call_by_name(library, face, #function,                                                     \
                     JI_IF_LWORK(least, 2 +) JI_IF_RWORK(least, t, 1 +) JI_IF_TWO(least, 2 +)      \
                         JI_IF_ITER(least, (ji_is_complex(JI_TYPE_##t) ? 3 : 2) +) 0,              \
                     JI_IF_ITER(least, true ||) false, lwork, given, args);                        \
        if (face == BY_ROWS) {                                                                     \
            given->turned_count = 0;                                                               \
            JI_ARGUMENTS_##routine(TAKE_BACK, t)                                                   \
        }                                                                                          \
        free(given);                                                                               \
    }

/* Odd calls of LAPACKE are those of its _work functions, to which alone the words of workspace
 * belong; iter comes behind them. */
static void call_by_name(const library_t *library, face_t face, const char *function,
                         int work_words, bool has_iter, int64_t lwork, given_t *given,
                         problem_t *args) {
    static int calls;
    char name[64];
    const bool by_work = face != FORTRAN && (lwork != 0 || calls++ % 2 != 0);
    if (face == FORTRAN)
        snprintf(name, sizeof name, "%s_%s", function, library->wide ? "64_" : "");
    else
        snprintf(name, sizeof name, "LAPACKE_%s%s%s", function, by_work ? "_work" : "",
                 library->wide ? "64_" : "");
    if (face != FORTRAN && !by_work)
        given->words.words -= work_words;
    int64_t iter = 77;
    if (has_iter)
        give_word(given, (intptr_t)&iter);
    void *address = dlsym(library->file, name);
    JSCOPED_TRACE("%s", name);
    JASSERT_NE(address, NULL);

    int64_t info = 0;
    if (face == FORTRAN) {
        give_word(given, (intptr_t)&info);
        dropin_call(address, &given->words, DROPIN_NOTHING, NULL);
    } else if (library->wide) {
        dropin_call(address, &given->words, DROPIN_SIZE, &info);
    } else {
        dropin_call(address, &given->words, DROPIN_INT, &info);
    }
    memcpy(args->said, given->work, sizeof args->said);
    args->info = library->wide ? info : (int32_t)info;
    args->iter = library->wide ? iter : (int32_t)iter;
    if (!library->wide)
        for (int i = 0; i < MOST; i++)
            args->ipiv[i] = given->narrow[i];
}

JI_DROPIN_LAPACK_LIST(CALL)

/* ---- Problems ---- */

typedef void (*call_t)(const library_t *library, face_t face, problem_t *args, int64_t lwork);

typedef struct function {
    const char *name;
    jdatatype_t type;
    call_t call, prepares; /* the factorization whose factor it takes */
    bool has_lwork, has_iter;
    int arguments; /* before work */
} function_t;

/* By routine: the function that has to be called before. */
#define PREPARES_getrf(t) NULL
#define PREPARES_getrs(t) call_##t##getrf
#define PREPARES_gesv(t) NULL
#define PREPARES_getri(t) call_##t##getrf
#define PREPARES_trtrs(t) NULL
#define PREPARES_posv(t) NULL
#define PREPARES_lauum(t) NULL
#define PREPARES_potri(t) call_##t##potrf
#define PREPARES_sytrf(t) NULL
#define PREPARES_hetrf(t) NULL
#define PREPARES_sytrs(t) call_##t##sytrf
#define PREPARES_hetrs(t) call_##t##hetrf
#define PREPARES_sysv(t) NULL
#define PREPARES_hesv(t) NULL
#define PREPARES_geqrf(t) NULL
#define PREPARES_orgqr(t) call_##t##geqrf
#define PREPARES_ormqr(t) call_##t##geqrf
#define PREPARES_gelqf(t) NULL
#define PREPARES_orglq(t) call_##t##gelqf
#define PREPARES_ormlq(t) call_##t##gelqf
#define PREPARES_gels(t) NULL
#define PREPARES_gecon(t) call_##t##getrf
#define PREPARES_pocon(t) call_##t##potrf
#define PREPARES_trcon(t) NULL
#define PREPARES_gerfs(t) call_##t##getrf
#define PREPARES_porfs(t) call_##t##potrf
#define PREPARES_dsgesv(t) NULL
#define PREPARES_dsposv(t) NULL
#define PREPARES_geqp3(t) NULL
#define PREPARES_potrf(t) NULL
#define PREPARES_potrs(t) call_##t##potrf
#define PREPARES_trtri(t) NULL

#define NUMBER(t, kind, ...) NUMBER_##kind
#define NUMBER_ENUM +1
#define NUMBER_SIZE +1
#define NUMBER_MATRIX +2
#define NUMBER_INDICES +1
#define NUMBER_FACTORS +1
#define NUMBER_SCALAR +1
#define NUMBER_RESULT
#define NUMBER_NUMBER +1

#define ROW(routine, prefix, lwork) JI_FUNCTIONS_##routine(ROW_, (lwork))
#define ROW_(lwork, routine, t, function) ROW_OF(JI_ONLY lwork, routine, t, function)
#define ROW_OF(lwork, routine, t, function) ROW_FUNCTION(lwork, routine, t, function)
#define ROW_FUNCTION(least, routine, t, function)                                                  \
    {#function,                                                                                    \
     JI_TYPE_##t,                                                                                  \
     call_##function,                                                                              \
     PREPARES_##routine(t),                                                                        \
     JI_IF_LWORK(least, 1 +) 0,                                                                    \
     JI_IF_ITER(least, 1 +) 0,                                                                     \
     0 JI_ARGUMENTS_##routine(NUMBER, t)},
static const function_t functions[] = {JI_DROPIN_LAPACK_LIST(ROW)};

static void name_of(const void *parameter, char *name) {
    strcpy(name, ((const function_t *)parameter)->name);
}

/* Large elements make a matrix definite, or well conditioned; triangles have small ones elsewhere.
 * Each row of LU's is exchanged. */
static void draw(const function_t *function, const library_t *library, problem_t *p) {
    const bool of_lq = strstr(function->name, "lq") != NULL;
    const bool of_q = strstr(function->name, of_lq ? "mlq" : "mqr") != NULL;
    const bool hermitian = of_q || strstr(function->name, "gels") != NULL;
    p->side = jtest_random_bool() ? JBLAS_LEFT : JBLAS_RIGHT;
    p->uplo = jtest_random_bool() ? JBLAS_UPPER : JBLAS_LOWER;
    p->diag = jtest_random_bool() ? JBLAS_UNIT : JBLAS_NON_UNIT;
    p->trans = (jblas_operation_t)(JBLAS_NO_TRANSPOSE + jtest_random_between(0, 2));
    if (hermitian &&
        p->trans != JBLAS_NO_TRANSPOSE) /* LAPACK takes T of real, and C of complex types */
        p->trans = ji_is_complex(function->type) ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;

    p->m = jtest_random_between(0, MOST), p->n = jtest_random_between(0, MOST);
    if (strstr(function->name, of_lq ? "glq" : "gqr") != NULL && (p->n > p->m) != of_lq) {
        const int64_t n = p->n;
        p->n = p->m, p->m = n;
    }
    p->nrhs = jtest_random_between(0, 9);
    const int64_t rows = !of_q ? (of_lq ? p->m : p->n) : p->side == JBLAS_LEFT ? p->m : p->n;
    p->k = jtest_random_between(0, rows);
    const int64_t tall = p->m > p->n ? p->m : p->n;
    p->norm = jtest_random_bool() ? JLAPACK_ONE_NORM : JLAPACK_INFINITY_NORM;
    p->lda = p->ldb = p->ldc = p->ldaf = p->ldx =
        (tall > 0 ? tall : 1) + jtest_random_between(0, PAD);

    fill(function->type, p->a, sizeof p->a), fill(function->type, p->b, sizeof p->b);
    fill(function->type, p->c, sizeof p->c);
    fill(function->type, p->x, sizeof p->x);
    memset(p->tau, 0, sizeof p->tau), memset(p->ipiv, 0, sizeof p->ipiv);
    memset(p->ferr, 0, sizeof p->ferr), memset(p->berr, 0, sizeof p->berr);
    memset(p->af, 0, sizeof p->af);
    put(function->type, p->anorm, 0, jtest_random_double(1, 200)), p->rcond[0] = 0;
    p->iter = 77, p->info = 0;
    const int64_t parts = ji_is_complex(function->type) ? 2 : 1;
    const bool definite = strstr(function->name, "po") != NULL;
    /* LAPACK's zlauum takes a diagonal for real, as Cholesky's is. */
    const bool of_he = strstr(function->name, "he") != NULL;
    const bool real_diagonal = definite || of_he || strstr(function->name, "lauum") != NULL;
    const bool indefinite = of_he || strstr(function->name, "sy") != NULL;
    /* Of LU's the large elements stand below the diagonal, and the first row's is the last. */
    const bool of_lu =
        strstr(function->name, "ge") != NULL && strstr(function->name, "qr") == NULL && !of_lq &&
        strstr(function->name, "gels") == NULL && strstr(function->name, "geqp3") == NULL;
    const int64_t order = of_lu && strstr(function->name, "getrf") == NULL ? p->n : tall;
    for (int64_t i = 0; i < order; i++) {
        const int64_t at = ((of_lu ? (i + 1) % order : i) + i * p->lda) * parts;
        put(function->type, p->a, at, definite || of_lu ? 3.0 * MOST : i % 3 != 0 ? 9 : 0.5);
        if (parts == 2 && real_diagonal)
            put(function->type, p->a, at + 1, 0);
        if (indefinite && i % 4 < 2 && (i | 1) < order) { /* a block of two */
            put(function->type, p->a, at, 0.1);
            put(function->type, p->a, at + (i % 2 == 0 ? 1 : -1) * parts, 9);
        }
    }
    if (strstr(function->name, "geqp3") != NULL)
        for (int64_t j = 0; j < MOST; j++) /* those that are fixed */
            p->jpvt[j] = jtest_random_between(0, 3) == 0;
    if (strstr(function->name, "trtr") != NULL ||
        strstr(function->name, "trcon") != NULL) /* as well conditioned as it is */
        for (int64_t i = 0; i < ROOM; i++)
            put(function->type, p->a, i,
                get(function->type, p->a, i) / (i % (p->lda + 1) ? MOST : 1));

    if (function->prepares != NULL) {
        problem_t *factored = malloc(sizeof *factored);
        JASSERT_NE(factored, NULL);
        *factored = *p;
        if (of_q)
            factored->m = rows;
        if (strstr(function->name, "qr") != NULL)
            factored->n = p->k;
        if (of_lq)
            factored->m = p->k, factored->n = of_q ? rows : p->n;
        if (of_lu)
            factored->m = p->n;
        function->prepares(library, FORTRAN, factored, 0);
        memcpy(p->af, factored->a, sizeof p->af);
        if (strstr(function->name, "rfs") == NULL)
            memcpy(p->a, factored->a, sizeof p->a);
        memcpy(p->tau, factored->tau, sizeof p->tau);
        memcpy(p->ipiv, factored->ipiv, sizeof p->ipiv);
        free(factored);
    }
}

/* ---- Comparing ---- */

static double distance(jdatatype_t type, const void *one, const void *other, size_t bytes) {
    double most = 0;
    for (int64_t i = 0; i < numbers_of(bytes, type); i++) {
        const double x = get(type, one, i), y = get(type, other, i);
        const double scaled = fabs(x - y) / (1 + fabs(y));
        if (!(scaled <= most))
            most = scaled;
    }
    return most;
}

static void expect_close(const function_t *function, const problem_t *p, const problem_t *q) {
    const double tolerance = is_single(function->type) ? 2e-4 : 4e-13;
    JEXPECT_EQ(p->info, q->info);
    JEXPECT_LE(distance(function->type, p->x, q->x, sizeof p->x), tolerance);
    if (function->has_iter) { /* by other ways A becomes something else */
        JEXPECT_EQ(p->iter, p->n == 0 ? (int64_t)0 : (int64_t)-1); /* the same bits */
        return;
    }
    JEXPECT_LE(distance(function->type, p->a, q->a, sizeof p->a), tolerance);
    JEXPECT_LE(distance(function->type, p->b, q->b, sizeof p->b), tolerance);
    JEXPECT_LE(distance(function->type, p->c, q->c, sizeof p->c), tolerance);
    JEXPECT_LE(distance(function->type, p->tau, q->tau, sizeof p->tau), tolerance);
    JEXPECT_LE(distance(function->type, p->ferr, q->ferr, sizeof p->ferr), tolerance);
    JEXPECT_LE(distance(function->type, p->berr, q->berr, sizeof p->berr), tolerance);
    JEXPECT_LE(distance(function->type, p->rcond, q->rcond, sizeof p->rcond), tolerance);
    JEXPECT_EQ(memcmp(p->ipiv, q->ipiv, sizeof p->ipiv), 0);
}

static void expect_same(const problem_t *p, const problem_t *q) {
    JEXPECT_EQ(memcmp(p->a, q->a, sizeof p->a), 0);
    JEXPECT_EQ(memcmp(p->b, q->b, sizeof p->b), 0);
    JEXPECT_EQ(memcmp(p->c, q->c, sizeof p->c), 0);
    JEXPECT_EQ(memcmp(p->tau, q->tau, sizeof p->tau), 0);
    JEXPECT_EQ(memcmp(p->x, q->x, sizeof p->x), 0);
    JEXPECT_EQ(memcmp(p->ferr, q->ferr, sizeof p->ferr), 0);
    JEXPECT_EQ(memcmp(p->berr, q->berr, sizeof p->berr), 0);
    JEXPECT_EQ(memcmp(p->rcond, q->rcond, sizeof p->rcond), 0);
    JEXPECT_EQ(memcmp(p->ipiv, q->ipiv, sizeof p->ipiv), 0);
    JEXPECT_EQ(p->iter, q->iter);
    JEXPECT_EQ(p->info, q->info);
}

/* ---- Libraries ---- */

static const library_t *drop_in(bool wide) {
    static library_t libraries[2] = {{NULL, false}, {NULL, true}};
    library_t *library = &libraries[wide];
    if (library->file == NULL)
        library->file =
            dlopen(wide ? JALLOC_DROPIN_LAPACK64 : JALLOC_DROPIN_LAPACK, RTLD_NOW | RTLD_LOCAL);
    JEXPECT_NE(library->file, NULL);
    return library;
}

static const library_t *reference(void) {
    static library_t library;
    const char *const names[] = {getenv("JALLOC_TEST_LAPACK"),
                                 "/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3",
                                 "liblapack.so.3"};
    for (size_t i = 0; i < sizeof names / sizeof *names && library.file == NULL; i++)
        if (names[i] != NULL)
            library.file = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    return library.file != NULL ? &library : NULL;
}

/* ---- Tests ---- */

JTEST_P_NAMED(DropinLapack, ComputesAsTheReference, function_t, functions, name_of) {
    const function_t *function = param;
    if (reference() == NULL)
        JSKIP("there is no liblapack.so.3");
    problem_t *p = malloc(2 * sizeof *p), *q = p + 1;
    JASSERT_NE(p, NULL);
    for (int round = 0; round < jtest_iterations(20); round++) {
        draw(function, drop_in(false), p);
        *q = *p;
        function->call(drop_in(false), FORTRAN, p, 0);
        function->call(reference(), FORTRAN, q, 0);
        JSCOPED_TRACE("m %d n %d k %d nrhs %d side %d uplo %d trans %d diag %d", (int)p->m,
                      (int)p->n, (int)p->k, (int)p->nrhs, (int)p->side, (int)p->uplo, (int)p->trans,
                      (int)p->diag);
        expect_close(function, p, q);
    }
    free(p);
}

JTEST_P_NAMED(DropinLapack, HasTheSameBitsByAllNames, function_t, functions, name_of) {
    const function_t *function = param;
    problem_t *p = malloc(3 * sizeof *p), *q = p + 1, *drawn = p + 2;
    JASSERT_NE(p, NULL);
    for (int round = 0; round < jtest_iterations(20); round++) {
        draw(function, drop_in(false), drawn);
        *p = *drawn;
        function->call(drop_in(false), FORTRAN, p, 0);
        for (int way = 0; way < 10; way++) { /* LAPACKE's both, by both of its functions */
            *q = *drawn;
            const face_t face = way < 2 ? FORTRAN : way < 6 ? BY_COLUMNS : BY_ROWS;
            function->call(drop_in(way % 2 != 0), face, q, 0);
            JSCOPED_TRACE("way %d", way);
            expect_same(p, q);
        }
    }
    free(p);
}

static int64_t least_lwork(const function_t *function, const problem_t *p) {
    int64_t least = p->n;
    if (strstr(function->name, "glq") != NULL || strstr(function->name, "gelq") != NULL)
        least = p->m;
    if (strstr(function->name, "gelqf") != NULL && p->n == 0)
        least = 1;
    if (strstr(function->name, "gels") != NULL) {
        const int64_t smaller = p->m < p->n ? p->m : p->n;
        least = smaller + (smaller > p->nrhs ? smaller : p->nrhs);
    }
    if (strstr(function->name, "mqr") != NULL || strstr(function->name, "mlq") != NULL)
        least = p->side == JBLAS_LEFT ? p->n : p->m;
    if (strstr(function->name, "geqrf") != NULL && p->m == 0)
        least = 1;
    if (strstr(function->name, "sy") != NULL || strstr(function->name, "he") != NULL)
        least = 1;
    if (strstr(function->name, "geqp3") != NULL)
        least = p->m == 0 ? 1 : (ji_is_complex(function->type) ? 1 : 3) * p->n + 1;
    return least > 1 ? least : 1;
}

/* What callers such as SciPy take for granted of those whose least is 1. */
static int64_t said_lwork(const function_t *function, const problem_t *p) {
    const bool from_one =
        strstr(function->name, "sy") != NULL || strstr(function->name, "he") != NULL;
    return from_one && p->n > 1 ? p->n : least_lwork(function, p);
}

/* A query of lwork is answered by all names, mostly with LAPACK's least, and nothing is done. With
 * the least the call is made, with less lwork is refused. */
JTEST_P_NAMED(DropinLapack, AnswersQueriesOfLwork, function_t, functions, name_of) {
    const function_t *function = param;
    if (!function->has_lwork)
        return;
    problem_t *p = malloc(2 * sizeof *p), *q = p + 1;
    JASSERT_NE(p, NULL);
    for (int way = 0; way < 12; way++) {
        const library_t *library = drop_in(way % 2 != 0);
        const face_t face = (face_t)(way / 2 % 3);
        draw(function, library, p);
        const int64_t least = least_lwork(function, p), said = said_lwork(function, p);
        JSCOPED_TRACE("way %d m %d n %d", way, (int)p->m, (int)p->n);
        *q = *p;
        function->call(library, face, q, -1);
        JEXPECT_EQ(get(function->type, q->said, 0), (double)said);
        expect_same(p, q);

        function->call(library, face, q, least);
        JEXPECT_EQ(q->info, 0);
        JEXPECT_EQ(get(function->type, q->said, 0), (double)said);
        if (least > 1) /* -1 and 0 mean something else to a test's call */
            function->call(library, face, q, least - 1);
        else
            function->call(library, face, q, -2);
        JEXPECT_EQ(q->info, -(function->arguments + 2 + (face != FORTRAN)));
    }
    free(p);
}

/* More pivots than the stack has room for, from workspace: a matrix whose rows are in the opposite
 * order. */
JTEST(DropinLapack, HasRoomForManyPivots) {
    enum { N = 700 };
    double *a = calloc((size_t)N * N, sizeof *a), *b = calloc(N, sizeof *b);
    int32_t *pivots = calloc(N, sizeof *pivots);
    JASSERT_TRUE(a != NULL && b != NULL && pivots != NULL);
    for (int i = 0; i < N; i++)
        a[N - 1 - i + i * N] = 1, b[N - 1 - i] = i;
    const int32_t n = N, one = 1;
    int32_t info = 1;
    typedef void (*dgetrf_t)(const int32_t *, const int32_t *, double *, const int32_t *, int32_t *,
                             int32_t *);
    typedef void (*dgetrs_t)(const char *, const int32_t *, const int32_t *, const double *,
                             const int32_t *, const int32_t *, double *, const int32_t *,
                             int32_t *);
    void *file = drop_in(false)->file;
    const dgetrf_t dgetrf = (dgetrf_t)(intptr_t)dlsym(file, "dgetrf_");
    const dgetrs_t dgetrs = (dgetrs_t)(intptr_t)dlsym(file, "dgetrs_");
    JASSERT_TRUE(dgetrf != NULL && dgetrs != NULL);
    dgetrf(&n, &n, a, &n, pivots, &info);
    JEXPECT_EQ(info, 0);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += pivots[i] != (i < N / 2 ? N - i : i + 1);
    JEXPECT_EQ(wrong, 0);
    dgetrs("N", &n, &one, a, &n, pivots, b, &n, &info);
    JEXPECT_EQ(info, 0);
    for (int i = 0; i < N; i++)
        wrong += b[i] != i;
    JEXPECT_EQ(wrong, 0);
    free(a), free(b), free(pivots);
}
