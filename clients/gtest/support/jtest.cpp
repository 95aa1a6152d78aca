/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The C++ side of the shim: hands C functions to GoogleTest and turns C checks into its results.
 *
 * Constructors of the test files chain static records together (no allocation, no order of
 * initialization to care for). main() turns each record, or each parameter of one, into a
 * GoogleTest test of one fixture class. So everything that GoogleTest knows about tests holds for
 * these, and nothing else has to be written. The fixture's own work, which is about jalloc and not
 * about GoogleTest, is C and stands in jtest_fixture.c. */

#include "jtest.h"

#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

namespace {

jtest_case_t *first_case, **end_of_cases = &first_case;
std::string running_name;
std::atomic<uint64_t> failures;

class CTest : public testing::Test {
  public:
    CTest(const jtest_case_t *which, const void *value) : test(which), parameter(value) {}

  protected:
    void SetUp() override {
        const testing::TestInfo *info = testing::UnitTest::GetInstance()->current_test_info();
        running_name = std::string(info->test_suite_name()) + "." + info->name();
        jtest_fixture_set_up(running_name.c_str());
    }
    void TestBody() override { test->run(parameter); }
    void TearDown() override {
        const std::string log = jtest_log_text();
        jtest_fixture_tear_down();
        if (!HasFailure())
            return;
        uint64_t seed;
        if (jtest_random_was_used(&seed)) {
            printf("random numbers: repeat with JALLOC_TEST_SEED=%llu\n", (unsigned long long)seed);
            RecordProperty("seed", std::to_string(seed));
        }
        if (!log.empty())
            printf("log lines of the test:\n%s", log.c_str());
    }

  private:
    const jtest_case_t *test;
    const void *parameter;
};

/* What was not looked at, at the end where it is read: a line for each test, all its parameters
 * together, and reason. */
class Skips : public testing::EmptyTestEventListener {
  public:
    void OnTestEnd(const testing::TestInfo &info) override {
        const testing::TestResult &result = *info.result();
        for (int i = 0; i < result.total_part_count(); ++i)
            if (result.GetTestPartResult(i).skipped()) {
                const std::string name = info.name(),
                                  reason = result.GetTestPartResult(i).message();
                ++counts[std::string(info.test_suite_name()) + "." +
                         name.substr(0, name.find('/')) + ": " +
                         reason.substr(0, reason.find('\n'))];
            }
    }
    void OnTestProgramEnd(const testing::UnitTest &) override {
        if (!counts.empty())
            printf("Skipped, and why:\n");
        for (const auto &[what, count] : counts)
            printf("%6d  %s\n", count, what.c_str());
    }

  private:
    std::map<std::string, int> counts;
};

/* GoogleTest would run two tests of one name without a word; here that is a mistake. */
bool register_all() {
    std::set<std::string> names;
    for (const jtest_case_t *test = first_case; test; test = test->next) {
        if (test->only_with && !getenv(test->only_with))
            continue;
        for (size_t i = 0; i < test->parameter_count; ++i) {
            std::string name = test->name;
            const void *parameter = NULL;
            if (test->parameters) {
                parameter = static_cast<const char *>(test->parameters) + i * test->parameter_bytes;
                char text[JTEST_MAX_NAME + 1] = "";
                if (test->name_of)
                    test->name_of(parameter, text);
                name += "/" + (test->name_of ? std::string(text) : std::to_string(i));
            }
            if (!names.insert(std::string(test->suite) + "." + name).second) {
                fprintf(stderr, "%s:%d: a second test named %s.%s\n", test->file, test->line,
                        test->suite, name.c_str());
                return false;
            }
            testing::RegisterTest(
                test->suite, name.c_str(), nullptr, nullptr, test->file, test->line,
                [test, parameter]() -> CTest * { return new CTest(test, parameter); });
        }
    }
    return true;
}

bool report(const char *file, int line, bool fatal, const std::string &message) {
    ++failures;
    testing::internal::AssertHelper(fatal ? testing::TestPartResult::kFatalFailure
                                          : testing::TestPartResult::kNonFatalFailure,
                                    file, line, message.c_str()) = testing::Message();
    return false;
}

std::string format_text(const char *format, va_list arguments) {
    char text[2048];
    vsnprintf(text, sizeof text, format, arguments);
    return text;
}

std::string quoted(const char *text) { return text ? "\"" + std::string(text) + "\"" : "NULL"; }

std::string shown(jtest_value_t value) {
    char text[64];
    switch (value.kind) {
    case JTEST_SIGNED: return std::to_string(value.as.i);
    case JTEST_UNSIGNED: return std::to_string(value.as.u);
    case JTEST_REAL: snprintf(text, sizeof text, "%.17g", value.as.d); return text;
    case JTEST_POINTER:
        snprintf(text, sizeof text, "%p", const_cast<void *>(value.as.p));
        return text;
    }
    return "?";
}

/* -1, 0, 1; 2 where there is no order (NaN). A long double holds every 64-bit integer and every
 * double. */
int order(jtest_value_t a, jtest_value_t b) {
    auto exact = [](jtest_value_t v) -> long double {
        switch (v.kind) {
        case JTEST_SIGNED: return v.as.i;
        case JTEST_UNSIGNED: return v.as.u;
        case JTEST_REAL: return v.as.d;
        case JTEST_POINTER: return reinterpret_cast<uintptr_t>(v.as.p);
        }
        return 0;
    };
    static_assert(__LDBL_MANT_DIG__ >= 64, "comparisons of 64-bit integers go through long double");
    const long double x = exact(a), y = exact(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

} // namespace

void jtest_register(jtest_case_t *test) {
    *end_of_cases = test;
    end_of_cases = &test->next;
}

bool jtest_compare(const char *file, int line, bool fatal, jtest_relation_t relation,
                   const char *a_text, const char *b_text, jtest_value_t a, jtest_value_t b) {
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    const int sign = order(a, b);
    const bool holds[] = {sign == 0,  sign != 0,
                          sign == -1, sign == -1 || sign == 0,
                          sign == 1,  sign == 1 || sign == 0};
    if (holds[relation])
        return true;
    return report(file, line, fatal,
                  std::string("Expected: (") + a_text + ") " + signs[relation] + " (" + b_text +
                      "), actual: " + shown(a) + " vs " + shown(b));
}

bool jtest_condition(const char *file, int line, bool fatal, const char *text, bool actual,
                     bool expected) {
    return actual == expected ||
           report(file, line, fatal,
                  std::string("Value of: ") + text + "\n  Actual: " + (actual ? "true" : "false") +
                      "\nExpected: " + (expected ? "true" : "false"));
}

bool jtest_null(const char *file, int line, bool fatal, const char *text,
                const volatile void *pointer, bool expected) {
    return (pointer == NULL) == expected ||
           report(file, line, fatal,
                  std::string("Expected: (") + text + (expected ? ") is NULL" : ") is not NULL") +
                      ", actual: " + shown(jtest_pointer_(pointer)));
}

bool jtest_string(const char *file, int line, bool fatal, const char *a_text, const char *a,
                  const char *b) {
    if (a == b || (a && b && strcmp(a, b) == 0))
        return true;
    return report(file, line, fatal,
                  std::string(a_text) + "\n  Actual: " + quoted(a) + "\nExpected: " + quoted(b));
}

bool jtest_substring(const char *file, int line, bool fatal, const char *a_text, const char *a,
                     const char *part) {
    if (a && part && strstr(a, part))
        return true;
    return report(file, line, fatal,
                  std::string(a_text) + "\n  Actual: " + quoted(a) +
                      "\nExpected to contain: " + quoted(part));
}

bool jtest_near(const char *file, int line, bool fatal, const char *a_text, const char *b_text,
                double a, double b, double tolerance) {
    if (a == b || std::fabs(a - b) <= tolerance)
        return true;
    return report(file, line, fatal,
                  std::string("Expected: |(") + a_text + ") - (" + b_text +
                      ")| <= " + shown(jtest_real_(tolerance)) +
                      ", actual: " + shown(jtest_real_(a)) + " vs " + shown(jtest_real_(b)) +
                      ", apart by " + shown(jtest_real_(std::fabs(a - b))));
}

bool jtest_status(const char *file, int line, bool fatal, const char *text, jstatus_t actual,
                  jstatus_t expected) {
    if (actual == expected)
        return true;
    return report(file, line, fatal,
                  std::string(text) + "\n  Actual: " + jstatus_name(actual) + " (" +
                      std::to_string(actual) + ")\nExpected: " + jstatus_name(expected) +
                      "\nLast message: " + quoted(jstatus_last_message()));
}

void jtest_fail(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(file, line, false, format_text(format, arguments));
    va_end(arguments);
}

void jtest_skip(const char *file, int line, const char *reason) {
    testing::internal::AssertHelper(testing::TestPartResult::kSkip, file, line, reason) =
        testing::Message();
}

bool jtest_has_failure(void) { return testing::Test::HasFailure(); }

uint64_t jtest_failure_count(void) { return failures; }

const char *jtest_name(void) { return running_name.c_str(); }

void *jtest_trace_push(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    void *trace = new testing::ScopedTrace(file, line, format_text(format, arguments));
    va_end(arguments);
    return trace;
}

void jtest_trace_pop(void **trace) { delete static_cast<testing::ScopedTrace *>(*trace); }

/* Under a sanitizer: a size that no machine has must come back as NULL, as it does without one, and
 * a test's child may go on although its parent had several threads. */
extern "C" __attribute__((visibility("default"))) const char *__asan_default_options() {
    return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_options() {
    return "allocator_may_return_null=1:die_after_fork=0";
}

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1) {
        fprintf(stderr, "%s: unknown argument %s\n", argv[0], argv[1]);
        return 2;
    }
    if (!jtest_fixture_start() || !register_all())
        return 2;
    testing::UnitTest::GetInstance()->listeners().Append(new Skips); /* which owns it */
    return RUN_ALL_TESTS();
}
