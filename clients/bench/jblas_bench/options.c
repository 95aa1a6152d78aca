/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Options, from one table: a row says the name, what kind of value it takes and where the value
 * goes. getopt's array, the parsing and the help are made from it. Everything is parsed strictly: a
 * benchmark of something else than was asked for is worse than none. The names are those that the
 * bench layer of the log (JALLOC_LAYER=2) writes. */

#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/config.h"

const options_t options_default = {
    .function = "",
    .type = JDATATYPE_F64,
    .m = 128,
    .n = 128,
    .k = 128,
    .kl = 16,
    .ku = 16,
    .kd = 16,
    .nrhs = 1,
    .batch_count = 1,
    .itype = 1,
    .il = 1,
    .iu = 1,
    .lda = UNSET,
    .ldb = UNSET,
    .ldc = UNSET,
    .ldaf = UNSET,
    .ldu = UNSET,
    .ldvt = UNSET,
    .stride_a = UNSET,
    .stride_b = UNSET,
    .stride_c = UNSET,
    .stride_s = UNSET,
    .stride_param = UNSET,
    .stride_x = UNSET,
    .stride_y = UNSET,
    .incx = 1,
    .incy = 1,
    .side = JBLAS_LEFT,
    .uplo = JBLAS_LOWER,
    .transa = JBLAS_NO_TRANSPOSE,
    .transb = JBLAS_NO_TRANSPOSE,
    .diag = JBLAS_NON_UNIT,
    .norm = JLAPACK_ONE_NORM,
    .jobz = JLAPACK_NONE,
    .jobvt = JLAPACK_NONE,
    .range = JLAPACK_RANGE_ALL,
    .a_type = JDATATYPE_F32,
    .b_type = JDATATYPE_F32,
    .c_type = JDATATYPE_F32,
    .cs_type = JDATATYPE_F32,
    .compute_type = JDATATYPE_F32,
    .alpha = {.parts = {1, 0}},
    .beta = {.parts = {0, 0}},
    .above = {.parts = {0, 0}},
    .up_to = {.parts = {1, 0}},
    .rcond = {.parts = {-1, 0}},
    .param = {-1, 1, -0.5, 0.5, 1},
    .iterations = 20,
    .warmups = 3,
    .workspace = WORKSPACE_DEFAULT,
    .mode = MODE_UNSET,
    .budget_bytes = JALLOC_UNLIMITED,
    .policy = JRESULT_POLICY_FAST,
    .accuracy = JACCURACY_COMPONENTWISE,
    .pointer_mode = JPOINTER_MODE_HOST,
    .device = "host",
};

/* A word and its number. Words of one letter are taken in either case. */
typedef struct choice {
    const char *word;
    int number;
} choice_t;

static const choice_t types[] = {{"s", JDATATYPE_F32},
                                 {"d", JDATATYPE_F64},
                                 {"c", JDATATYPE_F32_C},
                                 {"z", JDATATYPE_F64_C},
                                 {"f32", JDATATYPE_F32},
                                 {"f64", JDATATYPE_F64},
                                 {"f32_c", JDATATYPE_F32_C},
                                 {"f64_c", JDATATYPE_F64_C},
                                 {"h", JDATATYPE_F16},
                                 {"b", JDATATYPE_BF16},
                                 {"f16", JDATATYPE_F16},
                                 {"bf16", JDATATYPE_BF16},
                                 {NULL, 0}};
/* Of arguments. */
static const choice_t datatypes[] = {
    {"f32", JDATATYPE_F32},     {"f64", JDATATYPE_F64}, {"f32_c", JDATATYPE_F32_C},
    {"f64_c", JDATATYPE_F64_C}, {"f16", JDATATYPE_F16}, {"bf16", JDATATYPE_BF16},
    {"i8", JDATATYPE_I8},       {"i32", JDATATYPE_I32}, {NULL, 0}};
static const choice_t sides[] = {{"L", JBLAS_LEFT}, {"R", JBLAS_RIGHT}, {NULL, 0}};
static const choice_t fills[] = {{"L", JBLAS_LOWER}, {"U", JBLAS_UPPER}, {NULL, 0}};
static const choice_t operations[] = {{"N", JBLAS_NO_TRANSPOSE},
                                      {"T", JBLAS_TRANSPOSE},
                                      {"C", JBLAS_CONJUGATE_TRANSPOSE},
                                      {"R", JBLAS_CONJUGATE},
                                      {NULL, 0}};
static const choice_t diagonals[] = {{"N", JBLAS_NON_UNIT}, {"U", JBLAS_UNIT}, {NULL, 0}};
static const choice_t norms[] = {{"1", JLAPACK_ONE_NORM}, {"I", JLAPACK_INFINITY_NORM}, {NULL, 0}};
static const choice_t policies[] = {
    {"fast", JRESULT_POLICY_FAST}, {"same_bits", JRESULT_POLICY_SAME_BITS}, {NULL, 0}};
static const choice_t accuracies[] = {
    {"componentwise", JACCURACY_COMPONENTWISE}, {"normwise", JACCURACY_NORMWISE}, {NULL, 0}};
static const choice_t modes[] = {{"default", JHANDLE_MODE_DEFAULT},
                                 {"preallocate", JHANDLE_MODE_PREALLOCATE},
                                 {"manual", JHANDLE_MODE_MANUAL},
                                 {"user_owned", JHANDLE_MODE_USER_OWNED},
                                 {NULL, 0}};
#define NULL_POINTER(name, word) {word, NULL_##name},
static const choice_t null_pointers[] = {NULL_POINTERS(NULL_POINTER){NULL, 0}};
#undef NULL_POINTER
static const choice_t pointer_modes[] = {
    {"host", JPOINTER_MODE_HOST}, {"device", JPOINTER_MODE_DEVICE}, {NULL, 0}};

typedef enum kind {
    KIND_TEXT,       /* char[limit] */
    KIND_FILE,       /* the same */
    KIND_INTEGER,    /* int64_t */
    KIND_COUNT,      /* int64_t, not negative */
    KIND_SCALAR,     /* scalar_option_t: REAL or REAL,IMAGINARY, null or device */
    KIND_IMAGINARY,  /* its second part */
    KIND_PARAMETERS, /* double[5]: numbers, null or device */
    KIND_CHOICE,     /* int */
    KIND_ENUM,       /* the same, or any number */
    KIND_LETTER,     /* int: the letter itself, or any number */
    KIND_BIT,        /* uint64_t: a bit more */
    KIND_WORKSPACE,
    KIND_BYTES, /* size_t */
    KIND_FLAG,  /* bool */
    KINDS
} kind_t;

/* What the help calls a value. */
static const char *const values[KINDS] = {
    [KIND_TEXT] = "NAME",     [KIND_FILE] = "FILE",       [KIND_INTEGER] = "NUMBER",
    [KIND_COUNT] = "COUNT",   [KIND_SCALAR] = "NUMBER",   [KIND_IMAGINARY] = "NUMBER",
    [KIND_CHOICE] = "WORD",   [KIND_PARAMETERS] = "LIST", [KIND_ENUM] = "WORD",
    [KIND_LETTER] = "LETTER", [KIND_BIT] = "POINTER",     [KIND_WORKSPACE] = "SIZE",
    [KIND_BYTES] = "SIZE"};

typedef struct option_row {
    const char *name;
    char letter; /* or 0 */
    kind_t kind;
    size_t offset, limit;
    const choice_t *choices;
    const char *help; /* NULL: another name for the row above */
} option_row_t;

#define AT(member) offsetof(options_t, member)
#define SIZE_OF(member) sizeof(((options_t *)NULL)->member)
static const option_row_t rows[] = {
    {"function", 'f', KIND_TEXT, AT(function), SIZE_OF(function), NULL,
     "the routine, such as trsm; --list shows them all"},
    {"type", 'r', KIND_CHOICE, AT(type), 0, types, "element type: s, d, c, z, h or b"},
    {"precision", 0, KIND_CHOICE, AT(type), 0, types, NULL},
    {"a_type", 0, KIND_ENUM, AT(a_type), 0, datatypes,
     "of _ex: f16, bf16, f32, f64, f32_c, f64_c, i8, i32; and b, c, x, y, cs, compute"},
    {"b_type", 0, KIND_ENUM, AT(b_type), 0, datatypes, NULL},
    {"c_type", 0, KIND_ENUM, AT(c_type), 0, datatypes, NULL},
    {"x_type", 0, KIND_ENUM, AT(x_type), 0, datatypes, NULL},
    {"y_type", 0, KIND_ENUM, AT(y_type), 0, datatypes, NULL},
    {"cs_type", 0, KIND_ENUM, AT(cs_type), 0, datatypes, NULL},
    {"compute_type", 0, KIND_ENUM, AT(compute_type), 0, datatypes, NULL},
    {"m", 'm', KIND_INTEGER, AT(m), 0, NULL, "rows"},
    {"n", 'n', KIND_INTEGER, AT(n), 0, NULL, "columns; order; length"},
    {"k", 'k', KIND_INTEGER, AT(k), 0, NULL, "inner size; diagonals of a band beside the main one"},
    {"kl", 0, KIND_INTEGER, AT(kl), 0, NULL,
     "diagonals below a band's main one, and --ku above it"},
    {"ku", 0, KIND_INTEGER, AT(ku), 0, NULL, NULL},
    {"kd", 0, KIND_INTEGER, AT(kd), 0, NULL, "diagonals of a definite band beside the main one"},
    {"nrhs", 0, KIND_INTEGER, AT(nrhs), 0, NULL, "right-hand sides of solves"},
    {"itype", 0, KIND_INTEGER, AT(itype), 0, NULL, "of sygvd: 1, 2 or 3"},
    {"il", 0, KIND_INTEGER, AT(il), 0, NULL, "--range I: from this eigenvalue on, to --iu"},
    {"iu", 0, KIND_INTEGER, AT(iu), 0, NULL, NULL},
    {"lda", 0, KIND_INTEGER, AT(lda), 0, NULL,
     "leading dimension; the smallest unless given, as are --ldb and the others"},
    {"ldb", 0, KIND_INTEGER, AT(ldb), 0, NULL, NULL},
    {"ldc", 0, KIND_INTEGER, AT(ldc), 0, NULL, NULL},
    {"ldx", 0, KIND_INTEGER, AT(ldc), 0, NULL, NULL},
    {"ldaf", 0, KIND_INTEGER, AT(ldaf), 0, NULL, NULL},
    {"ldab", 0, KIND_INTEGER, AT(lda), 0, NULL, NULL},
    {"ldu", 0, KIND_INTEGER, AT(ldu), 0, NULL, NULL},
    {"ldvl", 0, KIND_INTEGER, AT(ldvl), 0, NULL, NULL},
    {"ldvs", 0, KIND_INTEGER, AT(ldvs), 0, NULL, NULL},
    {"ldz", 0, KIND_INTEGER, AT(ldz), 0, NULL, NULL},
    {"ldvt", 0, KIND_INTEGER, AT(ldvt), 0, NULL, NULL},
    {"ldvr", 0, KIND_INTEGER, AT(ldvr), 0, NULL, NULL},
    {"incx", 0, KIND_INTEGER, AT(incx), 0, NULL, "increments of vectors, and --incy"},
    {"incy", 0, KIND_INTEGER, AT(incy), 0, NULL, NULL},
    {"stride_a", 0, KIND_INTEGER, AT(stride_a), 0, NULL,
     "elements from one operand of a batch to the next; and _b, _c, _x, _y"},
    {"stride_b", 0, KIND_INTEGER, AT(stride_b), 0, NULL, NULL},
    {"stride_c", 0, KIND_INTEGER, AT(stride_c), 0, NULL, NULL},
    {"stride_s", 0, KIND_INTEGER, AT(stride_s), 0, NULL,
     "of rotg; of rotmg that of y1, as a, b, c are of d1, d2, x1; and --stride_param"},
    {"stride_param", 0, KIND_INTEGER, AT(stride_param), 0, NULL, NULL},
    {"stride_x", 0, KIND_INTEGER, AT(stride_x), 0, NULL, NULL},
    {"stride_y", 0, KIND_INTEGER, AT(stride_y), 0, NULL, NULL},
    {"batch_count", 0, KIND_INTEGER, AT(batch_count), 0, NULL, "items of a batch"},
    {"side", 0, KIND_ENUM, AT(side), 0, sides,
     "L or R; a number is passed as it is, as for the next ones"},
    {"uplo", 0, KIND_ENUM, AT(uplo), 0, fills, "L or U"},
    {"transA", 0, KIND_ENUM, AT(transa), 0, operations, "N, T or C; and --transB"},
    {"transB", 0, KIND_ENUM, AT(transb), 0, operations, NULL},
    {"trans", 0, KIND_ENUM, AT(transa), 0, operations, NULL},
    {"diag", 0, KIND_ENUM, AT(diag), 0, diagonals, "N or U"},
    {"norm", 0, KIND_ENUM, AT(norm), 0, norms, "1 or I, of condition numbers; |A| is --alpha"},
    {"jobz", 0, KIND_LETTER, AT(jobz), 0, NULL,
     "vectors, by LAPACK's letters: N (none), V, S, A, O; and --jobu, --jobvt, --jobvl, ..."},
    {"jobu", 0, KIND_LETTER, AT(jobu), 0, NULL, NULL},
    {"jobvt", 0, KIND_LETTER, AT(jobvt), 0, NULL, NULL},
    {"jobvl", 0, KIND_LETTER, AT(jobvl), 0, NULL, NULL},
    {"jobvr", 0, KIND_LETTER, AT(jobvr), 0, NULL, NULL},
    {"jobvs", 0, KIND_LETTER, AT(jobvs), 0, NULL, NULL},
    {"range", 0, KIND_LETTER, AT(range), 0, NULL,
     "which eigenvalues: A (all), V (above --above, to --up_to), I (--il to --iu)"},
    {"alpha", 0, KIND_SCALAR, AT(alpha), 0, NULL,
     "REAL or REAL,IMAGINARY; null; device, which is 1; and --beta"},
    {"alphai", 0, KIND_IMAGINARY, AT(alpha), 0, NULL, "the imaginary part; and --betai"},
    {"beta", 0, KIND_SCALAR, AT(beta), 0, NULL, NULL},
    {"betai", 0, KIND_IMAGINARY, AT(beta), 0, NULL, NULL},
    {"c", 0, KIND_SCALAR, AT(c), 0, NULL,
     "the cosine of rot, and --s the sine; as --alpha, --beta"},
    {"s", 0, KIND_SCALAR, AT(s), 0, NULL, NULL},
    {"above", 0, KIND_SCALAR, AT(above), 0, NULL, NULL},
    {"up_to", 0, KIND_SCALAR, AT(up_to), 0, NULL, NULL},
    {"abstol", 0, KIND_SCALAR, AT(abstol), 0, NULL, "error of an eigenvalue that is good enough"},
    {"rcond", 0, KIND_SCALAR, AT(rcond), 0, NULL,
     "of gelsd: singular values that count as 0, beside the largest (-1, the precision)"},
    {"param", 0, KIND_PARAMETERS, AT(param), 0, NULL,
     "of rotm: FLAG,H11,H21,H12,H22; null; device, which is the default"},
    {"iterations", 'i', KIND_COUNT, AT(iterations), 0, NULL,
     "timed samples (20); the median counts"},
    {"warmup", 'j', KIND_COUNT, AT(warmups), 0, NULL, "calls before them (3)"},
    {"workspace", 0, KIND_WORKSPACE, 0, 0, NULL,
     "default: grows on demand; query: what the size query says; or a size such as 64K, held when "
     "a call begins"},
    {"handle", 0, KIND_COUNT, AT(handle), 0, NULL,
     "which handle of its process a logged call was made with; jalloc-plan reads it"},
    {"mode", 0, KIND_CHOICE, AT(mode), 0, modes,
     "of the workspace: default, preallocate, manual or user_owned"},
    {"borrowed", 0, KIND_BYTES, AT(borrowed_bytes), 0, NULL,
     "bytes of the workspace that the caller of a call holds"},
    {"budget", 0, KIND_BYTES, AT(budget_bytes), 0, NULL, "most that default mode may hold"},
    {"sealed", 0, KIND_FLAG, AT(sealed), 0, NULL, "default mode does not grow"},
    {"policy", 0, KIND_CHOICE, AT(policy), 0, policies, "fast or same_bits"},
    {"accuracy", 0, KIND_CHOICE, AT(accuracy), 0, accuracies, "componentwise or normwise"},
    {"null", 0, KIND_BIT, AT(null_pointers), 0, null_pointers,
     "an operand that is NULL, such as A, x, result or info"},
    {"pointer_mode", 0, KIND_CHOICE, AT(pointer_mode), 0, pointer_modes, "host or device"},
    {"device", 0, KIND_TEXT, AT(device), SIZE_OF(device), NULL, "where to run: host"},
    {"verify", 0, KIND_FLAG, AT(verify), 0, NULL,
     "compare with naive loops in long double, or take residuals; exit with 1 if the error is "
     "above "
     "10 u (terms + 10)"},
    {"json", 0, KIND_FLAG, AT(json), 0, NULL, "one JSON object per line instead of a table"},
    {"list", 0, KIND_FLAG, AT(list), 0, NULL, "show the routines and what each takes"},
    {"file", 0, KIND_FILE, AT(file), SIZE_OF(file), NULL,
     "run every line of a file (-: standard input), such as JALLOC_LAYER=2 writes; options here "
     "hold where a line is silent"},
    {"help", 'h', KIND_FLAG, AT(help), 0, NULL, NULL},
    {"version", 'V', KIND_FLAG, AT(version), 0, NULL, NULL},
};
#undef AT
#undef SIZE_OF
enum { ROWS = sizeof rows / sizeof *rows };

static bool JALLOC_PRINTF(2, 3) refuse(char reason[OPTIONS_REASON_BYTES], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, OPTIONS_REASON_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

const tool_option_t *options_described(void) {
    static tool_option_t described[ROWS + 1];
    size_t count = 0;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].help != NULL)
            described[count++] =
                (tool_option_t){rows[i].name, values[rows[i].kind],
                                rows[i].letter != 0 ? rows[i].letter : 256 + i, rows[i].help};
    return described;
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number == INT64_MIN)
        return false;
    *value = number;
    return true;
}

static bool parse_real(const char *text, char **end, double *value) {
    *value = strtod(text, end);
    return *end != text;
}

/* REAL or REAL,IMAGINARY, perhaps in parentheses. */
static bool parse_scalar(const char *text, scalar_option_t *scalar) {
    char *end;
    bool parenthesis = *text == '(';
    scalar->null = strcmp(text, "null") == 0;
    if (scalar->null)
        return true;
    if (strcmp(text, "device") == 0) {
        scalar->parts[0] = 1, scalar->parts[1] = 0;
        return true;
    }
    if (!parse_real(text + parenthesis, &end, &scalar->parts[0]))
        return false;
    if (*end == ',' && !parse_real(end + 1, &end, &scalar->parts[1]))
        return false;
    return strcmp(end, parenthesis ? ")" : "") == 0;
}

static bool parse_parameters(const char *text, options_t *options) {
    char *end = (char *)(uintptr_t)text;
    options->null_param = strcmp(text, "null") == 0;
    if (options->null_param || strcmp(text, "device") == 0)
        return true;

    for (int i = 0; i < 5; i++)
        if ((i > 0 && *end++ != ',') || !parse_real(end, &end, &options->param[i]))
            return false;
    return *end == '\0';
}

static bool parse_choice(const choice_t *choices, const char *text, int *number) {
    for (const choice_t *choice = choices; choice->word; choice++)
        if (strcmp(choice->word, text) == 0 ||
            (text[0] != '\0' && text[1] == '\0' && (choice->word[0] | 32) == (text[0] | 32) &&
             choice->word[1] == '\0')) {
            *number = choice->number;
            return true;
        }
    return false;
}

static bool parse_letter(const char *text, int *letter) {
    *letter = toupper((unsigned char)text[0]);
    return isupper(*letter) && text[1] == '\0';
}

static bool parse_value(options_t *options, const option_row_t *row, const char *text) {
    void *member = (char *)options + row->offset;
    int64_t integer;
    char *end;
    int bit;
    switch (row->kind) {
    case KIND_TEXT:
    case KIND_FILE:
        if (strlen(text) >= row->limit)
            return false;
        strcpy(member, text);
        return true;
    case KIND_INTEGER: return parse_integer(text, member);
    case KIND_COUNT: return parse_integer(text, member) && *(int64_t *)member >= 0;
    case KIND_SCALAR: return parse_scalar(text, member);
    case KIND_PARAMETERS: return parse_parameters(text, options);
    case KIND_IMAGINARY:
        return parse_real(text, &end, &((scalar_option_t *)member)->parts[1]) && *end == '\0';
    case KIND_CHOICE: return parse_choice(row->choices, text, member);
    case KIND_LETTER:
    case KIND_ENUM:
        if (row->kind == KIND_LETTER ? parse_letter(text, member)
                                     : parse_choice(row->choices, text, member))
            return true;
        if (!parse_integer(text, &integer) || integer != (int)integer)
            return false;
        *(int *)member = (int)integer;
        return true;
    case KIND_BIT:
        if (!parse_choice(row->choices, text, &bit))
            return false;
        *(uint64_t *)member |= UINT64_C(1) << bit;
        return true;
    case KIND_BYTES: return !jstatus_is_error(jconfig_parse_size(text, member));
    case KIND_WORKSPACE:
        options->workspace = strcmp(text, "default") == 0 ? WORKSPACE_DEFAULT
                             : strcmp(text, "query") == 0 ? WORKSPACE_QUERY
                                                          : WORKSPACE_SIZE;
        return options->workspace != WORKSPACE_SIZE ||
               !jstatus_is_error(jconfig_parse_size(text, &options->workspace_bytes));
    default: *(bool *)member = true; return true;
    }
}

bool options_parse(options_t *options, int argc, char **argv, char reason[OPTIONS_REASON_BYTES]) {
    struct option longs[ROWS + 1] = {{NULL, 0, NULL, 0}};
    char shorts[2 * ROWS + 3] = ":", *next_short = shorts + 1;
    for (int i = 0; i < ROWS; i++) {
        bool valued = rows[i].kind != KIND_FLAG;
        longs[i] =
            (struct option){rows[i].name, valued ? required_argument : no_argument, NULL, 256 + i};
        if (rows[i].letter) {
            *next_short++ = rows[i].letter;
            if (valued)
                *next_short++ = ':';
        }
    }
    opterr = 0;
    optind = 0; /* getopt begins anew */
    for (int found; (found = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (found == ':')
            return refuse(reason, "option '%s' wants a value", argv[optind - 1]);
        if (found == '?')
            return refuse(reason, "unknown option '%s'", argv[optind - 1]);
        const option_row_t *row = &rows[0];
        for (int i = 0; i < ROWS; i++)
            if (found == 256 + i || found == rows[i].letter)
                row = &rows[i];
        if (!parse_value(options, row, optarg))
            return refuse(reason, "--%s: '%s' is not understood%s%s", row->name, optarg,
                          row->help ? ": " : "", row->help ? row->help : "");
    }
    if (optind < argc)
        return refuse(reason, "unexpected '%s'", argv[optind]);
    return true;
}

bool options_parse_line(options_t *options, char *line, char reason[OPTIONS_REASON_BYTES]) {
    enum { MAX_WORDS = 96 };
    char *words[MAX_WORDS + 1] = {"jblas-bench"}, *rest;
    int count = 1;
    for (char *word = strtok_r(line, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        size_t length = strlen(word);
        if (count == 1 && length >= 11 && strcmp(word + length - 11, "jblas-bench") == 0)
            continue;
        if (count == MAX_WORDS)
            return refuse(reason, "more than %d words", MAX_WORDS - 1);
        words[count++] = word;
    }
    return options_parse(options, count, words, reason);
}
