/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Whose allocator the result of an operation gets: the table of buffer.h, line by line. What is
 * said of the operands is found out first; then the first rule whose every condition holds
 * decides. */

#include "buffer/buffer.h"

/* What the rules ask about. */
typedef struct propagate_facts {
    bool types_differ, runtimes_differ, kinds_differ, devices_differ;
    const jbuffer_t *first;
    const jbuffer_t *largest;            /* of equal ones the first */
    const jbuffer_t *largest_of_kind[3]; /* NULL: there is none of this kind */
} propagate_facts_t;

typedef const jbuffer_t *(*propagate_pick_t)(const propagate_facts_t *facts);

static const jbuffer_t *propagate_first(const propagate_facts_t *facts) { return facts->first; }
static const jbuffer_t *propagate_largest(const propagate_facts_t *facts) { return facts->largest; }
static const jbuffer_t *propagate_distributed(const propagate_facts_t *facts) {
    return facts->largest_of_kind[JBUFFER_DISTRIBUTED];
}
/* An allocator that is of the kind and type already is what rebinding it gives. */
static const jbuffer_t *propagate_replicated(const propagate_facts_t *facts) {
    return facts->largest_of_kind[JBUFFER_REPLICATED];
}

typedef enum propagate_are { ANY, ONE, SEVERAL } propagate_are_t;

static const struct {
    propagate_are_t types, runtimes, kinds, devices;
    propagate_pick_t pick; /* NULL: refused; gives NULL: the rule does not apply */
    const char *refusal;
} propagate_rules[] = {
    /* types  runtimes kinds    devices  the result's allocator is that of */
    {SEVERAL, ANY, ANY, ANY, NULL,
     "operands of several element types: convert them first (jbuffer_construct_copy)"},
    {ANY, SEVERAL, ANY, ANY, NULL, "operands of several runtimes"},
    {ONE, ONE, ONE, ONE, propagate_first, NULL}, /* one operand, too */
    {ONE, ONE, SEVERAL, ANY, propagate_distributed, NULL},
    {ONE, ONE, SEVERAL, ANY, propagate_replicated, NULL},
    {ONE, ONE, ONE, SEVERAL, propagate_largest, NULL},
};

static bool propagate_holds(propagate_are_t wanted, bool differ) {
    return wanted == ANY || (wanted == SEVERAL) == differ;
}

static int64_t propagate_count(const jbuffer_t *buffer) {
    int64_t count = 0;
    (void)jlayout_get_count(&buffer->layout, &count); /* a live buffer's layout is one */
    return count;
}

/* The larger one; where they are equal the one that was there. */
static const jbuffer_t *propagate_larger(const jbuffer_t *best, const jbuffer_t *other) {
    return best == NULL || propagate_count(other) > propagate_count(best) ? other : best;
}

static void propagate_add(propagate_facts_t *facts, const jbuffer_t *operand) {
    if (facts->first == NULL)
        facts->first = operand;
    facts->types_differ |= ji_buffer_type(operand) != ji_buffer_type(facts->first);
    facts->runtimes_differ |= ji_buffer_runtime(operand) != ji_buffer_runtime(facts->first);
    facts->kinds_differ |= ji_buffer_kind(operand) != ji_buffer_kind(facts->first);
    facts->devices_differ |= ji_buffer_device(operand) != ji_buffer_device(facts->first);
    facts->largest = propagate_larger(facts->largest, operand);
    const jbuffer_t **of_kind = &facts->largest_of_kind[ji_buffer_kind(operand)];
    *of_kind = propagate_larger(*of_kind, operand);
}

jstatus_t jbuffer_propagate(size_t count, jbuffer_t *const *operands,
                            jbuffer_allocator_t **allocator) {
    JREQUIRE(allocator != NULL && (operands != NULL || count == 0), JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_operands_check(count, __func__));

    propagate_facts_t facts = {0};
    for (size_t i = 0; i < count; ++i) {
        if (operands[i] == NULL)
            continue;
        JTRY_RETURN(ji_buffer_check(operands[i], __func__));
        propagate_add(&facts, operands[i]);
    }
    if (facts.first == NULL)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: there are no operands", __func__);

    for (size_t i = 0; i < sizeof propagate_rules / sizeof propagate_rules[0]; ++i) {
        if (!propagate_holds(propagate_rules[i].types, facts.types_differ) ||
            !propagate_holds(propagate_rules[i].runtimes, facts.runtimes_differ) ||
            !propagate_holds(propagate_rules[i].kinds, facts.kinds_differ) ||
            !propagate_holds(propagate_rules[i].devices, facts.devices_differ))
            continue;

        if (propagate_rules[i].pick == NULL)
            return ji_fail(JSTATUS_INVALID_VALUE, "%s: %s", __func__, propagate_rules[i].refusal);

        const jbuffer_t *picked = propagate_rules[i].pick(&facts);
        if (picked == NULL)
            continue;

        jstatus_t status = jbuffer_allocator_retain(ji_buffer_allocator(picked));
        if (status == JSTATUS_SUCCESS)
            *allocator = ji_buffer_allocator(picked);
        return status;
    }
    return ji_fail(JSTATUS_INTERNAL_ERROR, "%s: no rule for these operands", __func__);
}
