/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The text form of layouts: it must give back the same layout, or refuse with the text and the
 * place. */

#include "layout_helper.h"

#include <stdio.h>
#include <string.h>

JTEST(LayoutText, EachFormIsTheShortest) {
    static const char *const texts[] = {
        "f64[]",
        "i8[0]",
        "bf16[7]",
        "f32[3,4]",
        "f32[3,4] row",
        "f16[3,4] ld=8",
        "f64[3,4] row ld=9",
        "f64_c[2,3,4] ld=5",
        "f64_c[2,3,4] row ld=5",
        "i32[2,3,4] strides=(4,8,1)",
        "f32_c[5] strides=(2)",
        "f64[3,1] ld=7",
        "f64[3,1] row ld=7",
        "f64[1,3] row",
        "f64[4,4] symmetric-upper",
        "f64[4,4] symmetric-lower",
        "f64[4,4] hermitian-upper",
        "f64[4,4] hermitian-lower",
        "f64[4,4] triangular-upper",
        "f64[4,4] triangular-lower",
        "f64[800,800] ld=832 blocks=(64,64) symmetric-lower",
        "f64[800,700] row ld=832 blocks=(0,64)",
        "f64[1,2,3,4,5,6,7,8] strides=(9,8,7,6,5,4,3,2) blocks=(1,0,0,0,0,0,0,9223372036854775807)",
        "i8[9223372036854775807]",
    };
    for (size_t i = 0; i < COUNT_OF(texts); ++i) {
        jlayout_t layout;
        jdatatype_t type;
        char text[JLAYOUT_TEXT_BYTES];
        JSCOPED_TRACE("\"%s\"", texts[i]);
        JASSERT_OK(jlayout_parse(texts[i], &layout, &type));
        JASSERT_OK(jlayout_format(&layout, &type, text, sizeof text));
        JEXPECT_STREQ(text, texts[i]);
        /* And without the type. */
        JASSERT_OK(jlayout_parse(strchr(texts[i], '['), &layout, NULL));
        JASSERT_OK(jlayout_format(&layout, NULL, text, sizeof text));
        JEXPECT_STREQ(text, strchr(texts[i], '['));
    }
}

JTEST(LayoutText, WhatIsReadIsWhatIsSaid) {
    jlayout_t layout;
    jdatatype_t type;
    JASSERT_OK(jlayout_parse("f32_c[3,4] row ld=6 blocks=(2,0)", &layout, &type));
    JEXPECT_EQ(type, JDATATYPE_F32_C);
    JEXPECT_TRUE(layout.rank == 2 && layout.structure == JSTRUCTURE_GENERAL);
    JEXPECT_TRUE(layout.extents[0] == 3 && layout.extents[1] == 4);
    JEXPECT_TRUE(layout.strides[0] == 6 && layout.strides[1] == 1);
    JEXPECT_TRUE(layout.blocks[0] == 2 && layout.blocks[1] == 0);
    /* Attributes come in any order. */
    jlayout_t other;
    JASSERT_OK(jlayout_parse("f32_c[3,4] blocks=(2,0) ld=6 row", &other, &type));
    JEXPECT_TRUE(jlayout_equal(&layout, &other));
    JASSERT_OK(jlayout_parse("[4,4] triangular-lower strides=(16,2)", &layout, NULL));
    JEXPECT_TRUE(layout.structure == JSTRUCTURE_TRIANGULAR_LOWER && layout.strides[0] == 16 &&
                 layout.strides[1] == 2);
}

JTEST(LayoutText, RoundTripsAnyLayout) {
    for (int64_t round = jtest_iterations(2000); round > 0; --round) {
        const jlayout_t layout = random_layout();
        const jdatatype_t type = (jdatatype_t)jtest_random_between(0, 7);
        char text[JLAYOUT_TEXT_BYTES];
        jlayout_t back;
        jdatatype_t back_type;
        JASSERT_OK(jlayout_format(&layout, &type, text, sizeof text));
        JSCOPED_TRACE("\"%s\"", text);
        JASSERT_OK(jlayout_parse(text, &back, &back_type));
        JASSERT_TRUE(jlayout_equal(&layout, &back));
        JASSERT_EQ(back_type, type);
    }
}

/* Packed in no order, so the text has its strides; read again, it is the same. */
static void text_has_strides(const jlayout_t *layout, const char *expected) {
    jlayout_t back;
    char text[JLAYOUT_TEXT_BYTES];
    JASSERT_OK(jlayout_format(layout, NULL, text, sizeof text));
    JEXPECT_STREQ(text, expected);
    JASSERT_OK(jlayout_parse(text, &back, NULL));
    JEXPECT_TRUE(jlayout_equal(layout, &back));
}

JTEST(LayoutText, StridesThatShareAPlaceAreNoLeadingDimension) {
    const jlayout_t layout = {.rank = 2, .extents = {5, 3}, .strides = {1, 2}};
    text_has_strides(&layout, "[5,3] strides=(1,2)");
}

/* All elements are within 63 bits; the stride behind a leading dimension of that many would not
 * be. */
JTEST(LayoutText, AStrideThatIsNoLeadingDimensionIsWrittenAsItIs) {
    const jlayout_t layout = {.rank = 3, .extents = {1, 5, 1}, .strides = {1, INT64_MAX / 4, 7}};
    text_has_strides(&layout, "[1,5,1] strides=(1,2305843009213693951,7)");
}

JTEST(LayoutText, TheLongestFits) {
    jlayout_t layout = {.rank = 8};
    for (int d = 0; d < 8; ++d) { /* an empty layout may have any strides */
        layout.extents[d] = d == 7 ? 0 : 1;
        layout.strides[d] = INT64_MAX - d;
        layout.blocks[d] = INT64_MAX;
    }
    layout.extents[0] = INT64_MAX;
    char text[JLAYOUT_TEXT_BYTES], exact[JLAYOUT_TEXT_BYTES];
    const jdatatype_t type = JDATATYPE_F64_C;
    jlayout_t back;
    jdatatype_t back_type;
    JASSERT_OK(jlayout_format(&layout, &type, text, sizeof text));
    JASSERT_OK(jlayout_parse(text, &back, &back_type));
    JEXPECT_TRUE(jlayout_equal(&layout, &back));
    /* The space asked for is the space used, and too little leaves everything as it was. */
    JEXPECT_OK(jlayout_format(&layout, &type, exact, strlen(text) + 1));
    JEXPECT_STREQ(exact, text);
    memset(exact, '#', sizeof exact);
    JEXPECT_STATUS(jlayout_format(&layout, &type, exact, strlen(text)), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jlayout_format(&layout, &type, exact, 0), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(exact[0], '#');
    const jdatatype_t none = (jdatatype_t)8;
    JEXPECT_STATUS(jlayout_format(&layout, &none, text, sizeof text), JSTATUS_INVALID_VALUE);
}

static const struct refusal {
    const char *text;
    bool typed;
    jstatus_t status;
    const char *message;
} refusals[] = {
    {"", false, JSTATUS_INVALID_VALUE, "at character 1 \"[\" was expected"},
    {"", true, JSTATUS_INVALID_VALUE, "at character 1 an element type was expected"},
    {"[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"f64[3]", false, JSTATUS_INVALID_VALUE, "at character 1 \"[\""},
    {"f63[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"F64[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"f64", true, JSTATUS_INVALID_VALUE, "at character 4 \"[\""},
    {"f64 [3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"averylongnameofatype[3]", true, JSTATUS_INVALID_VALUE, "an element type"},
    {"[", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[3", false, JSTATUS_INVALID_VALUE, "at character 3 \",\" or \"]\""},
    {"[3,", false, JSTATUS_INVALID_VALUE, "at character 4 a number"},
    {"[3,]", false, JSTATUS_INVALID_VALUE, "at character 4 a number"},
    {"[,3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[-3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[+3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[ 3]", false, JSTATUS_INVALID_VALUE, "at character 2 a number"},
    {"[3 ]", false, JSTATUS_INVALID_VALUE, "at character 3"},
    {"[3.0]", false, JSTATUS_INVALID_VALUE, "at character 3"},
    {"[0x3]", false, JSTATUS_INVALID_VALUE, "at character 3"},
    {"[1,2,3,4,5,6,7,8,9]", false, JSTATUS_INVALID_VALUE, "no more than 8 dimensions"},
    {"[3]x", false, JSTATUS_INVALID_VALUE, "at character 4 a space or the end"},
    {"[3] ", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3]  row", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3]\trow", false, JSTATUS_INVALID_VALUE, "at character 4"},
    {"[3] row\n", false, JSTATUS_INVALID_VALUE, "at character 8"},
    {"[3] column", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3] Row", false, JSTATUS_INVALID_VALUE, "at character 5"},
    {"[3] rowld=4", false, JSTATUS_INVALID_VALUE, "a space or the end"},
    {"[3] row row", false, JSTATUS_INVALID_VALUE, "at character 9 no attribute a second time"},
    {"[3,3] ld=4 ld=4", false, JSTATUS_INVALID_VALUE, "no attribute a second time"},
    {"[3] strides=(1) strides=(1)", false, JSTATUS_INVALID_VALUE, "no attribute a second time"},
    {"[3] blocks=(1) blocks=(1)", false, JSTATUS_INVALID_VALUE, "no attribute a second time"},
    {"[3,3] symmetric-upper symmetric-lower", false, JSTATUS_INVALID_VALUE,
     "at character 23 no attribute a second"},
    {"[3,3] row strides=(1,3)", false, JSTATUS_INVALID_VALUE, "not both"},
    {"[3,3] strides=(1,3) row", false, JSTATUS_INVALID_VALUE,
     "at character 21 strides, or row and ld, not both"},
    {"[3,3] strides=(1,3) ld=4", false, JSTATUS_INVALID_VALUE, "not both"},
    {"[3,3] ld=4 strides=(1,3)", false, JSTATUS_INVALID_VALUE, "not both"},
    {"[3,3] ld=", false, JSTATUS_INVALID_VALUE, "at character 10 a number"},
    {"[3,3] ld=-4", false, JSTATUS_INVALID_VALUE, "at character 10 a number"},
    {"[3,3] strides=(1)", false, JSTATUS_INVALID_VALUE,
     "at character 16 one number for each dimension"},
    {"[3,3] strides=(1,2,3)", false, JSTATUS_INVALID_VALUE, "one number for each dimension"},
    {"[3,3] strides=(1,2", false, JSTATUS_INVALID_VALUE, "\",\" or \")\""},
    {"[3,3] strides=(1,2]", false, JSTATUS_INVALID_VALUE, "\",\" or \")\""},
    {"[3,3] strides=(1,1,1,1,1,1,1,1,1)", false, JSTATUS_INVALID_VALUE, "no more than 8"},
    {"[] blocks=()", false, JSTATUS_INVALID_VALUE, "a number"},
    {"[] blocks=(1)", false, JSTATUS_INVALID_VALUE, "one number for each dimension"},
    {"[3,3] blocks=(2)", false, JSTATUS_INVALID_VALUE, "one number for each dimension"},
    {"[3,3] blocks=(-2,2)", false, JSTATUS_INVALID_VALUE, "a number"},
    {"[3,3] symmetric", false, JSTATUS_INVALID_VALUE, "at character 7"},
    {"[3,3] symmetric-upperx", false, JSTATUS_INVALID_VALUE, "a space or the end"},
    {"[3] ld=4", false, JSTATUS_INVALID_VALUE, "rank 1"},
    {"[3] symmetric-upper", false, JSTATUS_INVALID_VALUE, "rank 1"},
    {"[3,3] strides=(0,3)", false, JSTATUS_INVALID_VALUE, "stride 0"},
    {"[3,4] hermitian-lower", false, JSTATUS_INVALID_SIZE, "3 x 4"},
    {"[3,3] ld=2", false, JSTATUS_INVALID_SIZE, "leading dimension 2"},
    {"[3,3] ld=0", false, JSTATUS_INVALID_SIZE, "leading dimension 0"},
    {"[3,4] row ld=3", false, JSTATUS_INVALID_SIZE, "leading dimension 3"},
    {"[9223372036854775808]", false, JSTATUS_INVALID_SIZE, "at character 2 a number of 63 bits"},
    {"[99999999999999999999999999999999]", false, JSTATUS_INVALID_SIZE, "63 bits"},
    {"[3,3] ld=9223372036854775808", false, JSTATUS_INVALID_SIZE, "at character 10"},
    {"[3,3] ld=9223372036854775807", false, JSTATUS_INVALID_SIZE, "63 bits"},
    {"[3,3] strides=(1,9223372036854775807)", false, JSTATUS_INVALID_SIZE, "63 bits"},
    {"[4294967296,4294967296]", false, JSTATUS_INVALID_SIZE, "63 bits"},
};
JTEST(LayoutText, RefusalsQuoteTheTextAndThePlace) {
    for (size_t i = 0; i < COUNT_OF(refusals); ++i) {
        const struct refusal *refusal = &refusals[i];
        char quoted[128];
        jlayout_t layout;
        jdatatype_t type = (jdatatype_t)99;
        JSCOPED_TRACE("\"%s\"", refusal->text);
        memset(&layout, 0x5a, sizeof layout);
        const jlayout_t before = layout;
        JEXPECT_STATUS(jlayout_parse(refusal->text, &layout, refusal->typed ? &type : NULL),
                       refusal->status);
        JEXPECT_SUBSTR(jstatus_last_message(), refusal->message);
        snprintf(quoted, sizeof quoted, "\"%s\"", refusal->text);
        JEXPECT_SUBSTR(jstatus_last_message(), quoted);
        JEXPECT_EQ(memcmp(&layout, &before, sizeof layout), 0);
        JEXPECT_EQ(type, 99);
    }
}

/* Either a text is refused, or what it gives is a layout whose own text gives it again. */
static void check_any_text(const char *text) {
    char back[JLAYOUT_TEXT_BYTES];
    for (int typed = 0; typed < 2; ++typed) {
        jlayout_t layout, again;
        jdatatype_t type, again_type;
        const jstatus_t status = jlayout_parse(text, &layout, typed ? &type : NULL);
        if (status == JSTATUS_SUCCESS) {
            JASSERT_OK(jlayout_check(&layout));
            JASSERT_OK(jlayout_format(&layout, typed ? &type : NULL, back, sizeof back));
            JASSERT_OK(jlayout_parse(back, &again, typed ? &again_type : NULL));
            JASSERT_TRUE(jlayout_equal(&layout, &again));
        } else {
            JASSERT_TRUE(status == JSTATUS_INVALID_VALUE || status == JSTATUS_INVALID_SIZE);
        }
    }
}

JTEST(LayoutText, AnyBytesAreReadOrRefused) {
    static const char *const words[] = {"f64",      "f32_c",
                                        "[",        "]",
                                        "3",        ",",
                                        "(",        ")",
                                        " ",        "row",
                                        "ld=",      "strides=(",
                                        "blocks=(", "symmetric-upper",
                                        "12",       "0",
                                        "-",        "99999999999999999999",
                                        "[4,4]",    " ld=4",
                                        " row",     "\xff"};
    for (int64_t round = jtest_iterations(5000); round > 0; --round) {
        char text[400] = "";
        if (jtest_random_bool()) { /* words of the grammar */
            for (int64_t count = jtest_random_between(1, 12); count > 0; --count)
                strncat(text, words[jtest_random_between(0, COUNT_OF(words) - 1)],
                        sizeof text - strlen(text) - 1);
        } else if (jtest_random_bool()) { /* a good text with a wrong byte */
            const jlayout_t layout = random_layout();
            JASSERT_OK(jlayout_format(&layout, NULL, text, sizeof text));
            text[jtest_random_between(0, (int64_t)strlen(text) - 1)] =
                (char)jtest_random_between(0, 255);
        } else {
            for (int64_t i = jtest_random_between(0, 60); i > 0; --i)
                text[i] = (char)jtest_random_between(1, 255);
        }
        JSCOPED_TRACE("\"%s\"", text);
        check_any_text(text);
        if (jtest_has_failure())
            return;
    }
}

JTEST(LayoutText, TypesAreFoundByTheirNames) {
    for (int t = 0; t <= JDATATYPE_I32; ++t) {
        jdatatype_t type = (jdatatype_t)99;
        JEXPECT_OK(jdatatype_parse(jdatatype_name((jdatatype_t)t), &type));
        JEXPECT_EQ(type, t);
    }
    static const char *const wrong[] = {"",        "f6",   "f640", "F64",  "double",
                                        "unknown", " f64", "f64 ", "f64_C"};
    for (size_t i = 0; i < COUNT_OF(wrong); ++i) {
        jdatatype_t type = (jdatatype_t)99;
        JEXPECT_STATUS(jdatatype_parse(wrong[i], &type), JSTATUS_INVALID_VALUE);
        JEXPECT_SUBSTR(jstatus_last_message(), "is no element type");
        JEXPECT_EQ(type, 99);
    }
}
