/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Shares of a budget.
 *
 *     limit    |<-- guaranteed to A -->|<- to B ->|<----------------- common ----------------->|
 *     in use   |########               |##########|##### B's, above its guarantee |## C's |    |
 *
 * What a share has up to its guarantee lies in its own part; what it has above comes out of the
 * common one, limit - sum of the guarantees. A request is given when what it adds above the
 * guarantee fits the common part. So a guarantee can always be had, however full the common part
 * is, and the sum never exceeds the limit:
 *
 *     in use = sum of min(has, guaranteed) + above  <=  guarantees + above  <=  limit
 *
 * Only a limit that was lowered below what is live can break the second inequality; until that has
 * shrunk nothing is given, which is why the sum is compared with the limit as well.
 *
 * Bytes are reserved before below is asked, and come back when it refuses; they come back after
 * below has taken a block back. So what is live below is never more than what is booked here, at no
 * moment and from no thread. Each way is one short locked section, never held across a call of
 * below. A peak is written down just before the number falls, because then a reservation that comes
 * back was never a peak; what the reader sees is the larger of the two.
 *
 * A budget with a name belongs to the process: the first share that names it makes it, the last one
 * takes it along. */

#include <pthread.h>
#include <string.h>

#include "core/list.h"
#include "jalloc/quota.h"
#include "memory/adaptor.h"
#include "memory/entry.h"

struct jquota {
    ji_lock_t lock; /* around every number here and in the shares */
    size_t limit_bytes, guaranteed_bytes;
    size_t above_bytes; /* taken from the common part */
    size_t in_use_bytes, peak_in_use_bytes;
    size_t share_count;
    uint64_t refusal_count;
    char budget[JALLOCATOR_NAME_BYTES]; /* "": a caller's own */
    ji_link_t link;                     /* in the list of those with a name */
};

typedef struct quota_share {
    ji_adaptor_t adaptor;
    jquota_t *quota;
    size_t guaranteed_bytes;
    size_t maximum_bytes; /* SIZE_MAX: none of its own */
    size_t in_use_bytes;  /* live, or reserved for a moment */
    char name[JALLOCATOR_NAME_BYTES];
} quota_share_t;

/* What lies above the guarantee. */
static size_t quota_above(const quota_share_t *share, size_t bytes) {
    return bytes > share->guaranteed_bytes ? bytes - share->guaranteed_bytes : 0;
}
/* How much of `part` is left when `taken` is; a limit can have been lowered below what is taken. */
static size_t quota_left(size_t part, size_t taken) { return part > taken ? part - taken : 0; }

/* ---- Reserving and giving back ---- */

/* What the message says is from one moment. */
static jstatus_t quota_refuse(quota_share_t *share, size_t size_bytes) {
    jquota_t *quota = share->quota;

    ji_lock_acquire(&quota->lock);
    size_t has = share->in_use_bytes;
    size_t common = quota->limit_bytes - quota->guaranteed_bytes,
           left = quota_left(common, quota->above_bytes);
    size_t guaranteed = share->guaranteed_bytes, maximum = share->maximum_bytes;
    if (maximum > quota->limit_bytes)
        maximum = quota->limit_bytes;
    ji_lock_release(&quota->lock);

    return ji_fail(JSTATUS_MEMORY_ERROR,
                   "share \"%s\": %zu bytes asked for; it has %zu of %zu, %zu guaranteed; %zu of "
                   "%zu are left in common",
                   share->name, size_bytes, has, maximum, guaranteed, left, common);
}

static bool quota_reserve(quota_share_t *share, size_t size_bytes) {
    jquota_t *quota = share->quota;

    ji_lock_acquire(&quota->lock);
    /* No overflow where the limit has room for it. */
    size_t has = share->in_use_bytes, wants = has + size_bytes;
    bool given = size_bytes <= quota_left(quota->limit_bytes, quota->in_use_bytes) &&
                 wants <= share->maximum_bytes;

    size_t more = given ? quota_above(share, wants) - quota_above(share, has) : 0;
    given = given && (more == 0 || more <= quota_left(quota->limit_bytes - quota->guaranteed_bytes,
                                                      quota->above_bytes));

    if (JI_LIKELY(given)) {
        quota->above_bytes += more;
        quota->in_use_bytes += size_bytes;
        share->in_use_bytes = wants;
    } else {
        ++quota->refusal_count;
    }

    ji_lock_release(&quota->lock);
    return given;
}

static void quota_raise(size_t *peak, size_t value) {
    if (value > *peak)
        *peak = value;
}

/* `freed`: it was live. Else it was reserved in vain. */
static void quota_give_back(quota_share_t *share, size_t size_bytes, bool freed) {
    jquota_t *quota = share->quota;

    ji_lock_acquire(&quota->lock);
    size_t had = share->in_use_bytes;

    if (freed)
        quota_raise(&quota->peak_in_use_bytes, quota->in_use_bytes);

    quota->above_bytes -= quota_above(share, had) - quota_above(share, had - size_bytes);
    quota->in_use_bytes -= size_bytes;
    share->in_use_bytes = had - size_bytes;
    ji_lock_release(&quota->lock);
}

/* ---- Functions of a share ---- */

static jstatus_t quota_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    quota_share_t *share = context;
    if (JI_UNLIKELY(!quota_reserve(share, size_bytes)))
        return quota_refuse(share, size_bytes);

    /* Asked directly: what was asked for has been checked above. */
    jallocator_t *below = share->adaptor.below;
    jstatus_t status = below->entry.allocate(below, size_bytes, alignment, stream, pointer);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS))
        quota_give_back(share, size_bytes, false);
    return status;
}

/* The object's ledger has it: it came through this share. */
static jstatus_t quota_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    quota_share_t *share = context;
    jallocator_t *below = share->adaptor.below;
    jstatus_t status = below->entry.deallocate(below, pointer, size_bytes, stream);
    if (JI_LIKELY(status == JSTATUS_SUCCESS))
        quota_give_back(share, size_bytes, true);
    return status;
}

JI_ENTRY(quota_entry, unlocked, quota_allocate, quota_deallocate, true)

static void quota_get_stats(void *context, jallocator_stats_t *stats) {
    quota_share_t *share = context;
    jquota_t *quota = share->quota;
    ji_adaptor_ops.get_stats(&share->adaptor, stats);

    ji_lock_acquire(&quota->lock);
    stats->limit_bytes =
        share->maximum_bytes < quota->limit_bytes ? share->maximum_bytes : quota->limit_bytes;
    ji_lock_release(&quota->lock);
}

/* ---- Budgets ---- */

static ji_lock_t quota_budgets_lock;                           /* taken before a quota's own */
static ji_list_t quota_budgets = JI_LIST_EMPTY(quota_budgets); /* those with a name */

static void quota_start(void) { ji_lock_init(&quota_budgets_lock); }

/* NULL: there is no memory, and the message says so. */
static jquota_t *quota_make(size_t limit_bytes) {
    jquota_t *quota = ji_metadata_zalloc(sizeof *quota);
    if (quota == NULL) {
        (void)ji_fail(JSTATUS_MEMORY_ERROR, "quota: no memory for bookkeeping");
        return NULL;
    }

    ji_lock_init(&quota->lock);
    quota->limit_bytes = limit_bytes;
    return quota;
}

static void quota_free(jquota_t *quota) {
    ji_lock_fini(&quota->lock);
    ji_metadata_free(quota);
}

/* Frees a budget with a name when its last share has left. Under the lock of the budgets. */
static void quota_budget_drop(jquota_t *quota) {
    if (quota->share_count != 0)
        return;

    ji_list_remove(&quota->link);
    quota_free(quota);
}

static jquota_t *quota_budget_find(const char *name) {
    JI_LIST_EACH(&quota_budgets, jquota_t, quota, link)
        if (strcmp(quota->budget, name) == 0)
            return quota;
    return NULL;
}

/* The budget of a name, made where there is none. Under the lock of the budgets. */
static jstatus_t quota_budget_get(const char *name, size_t limit_bytes, jquota_t **out) {
    jquota_t *quota = quota_budget_find(name);
    if (quota == NULL) {
        if (limit_bytes == 0)
            return ji_fail(JSTATUS_INVALID_VALUE,
                           "quota(budget=%s): whoever names a budget first must give its limit",
                           name);

        if ((quota = quota_make(limit_bytes)) == NULL)
            return JSTATUS_MEMORY_ERROR;
        memcpy(quota->budget, name, strlen(name) + 1); /* its length was checked */
        ji_list_push_front(&quota_budgets, &quota->link);
    } else if (limit_bytes != 0 && limit_bytes != quota->limit_bytes) {
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "quota(budget=%s): the limit is %zu already, and not %zu", name,
                       quota->limit_bytes, limit_bytes);
    }

    *out = quota;
    return JSTATUS_SUCCESS;
}

/* ---- Shares ---- */

static jstatus_t quota_join(quota_share_t *share) {
    jquota_t *quota = share->quota;
    size_t guaranteed = share->guaranteed_bytes;

    ji_lock_acquire(&quota->lock);
    size_t left = quota_left(quota->limit_bytes - quota->guaranteed_bytes, quota->above_bytes);
    bool joins = guaranteed <= left;
    if (joins) {
        quota->guaranteed_bytes += guaranteed;
        ++quota->share_count;
    }
    ji_lock_release(&quota->lock);

    return joins ? JSTATUS_SUCCESS
                 : ji_fail(JSTATUS_INVALID_VALUE,
                           "share \"%s\": %zu bytes cannot be guaranteed, %zu are left",
                           share->name, guaranteed, left);
}

static void quota_leave(const quota_share_t *share) {
    jquota_t *quota = share->quota;
    bool named = quota->budget[0] != '\0';

    if (named)
        ji_lock_acquire(&quota_budgets_lock);

    ji_lock_acquire(&quota->lock);
    quota->guaranteed_bytes -= share->guaranteed_bytes;
    --quota->share_count;
    ji_lock_release(&quota->lock);

    if (named) {
        quota_budget_drop(quota);
        ji_lock_release(&quota_budgets_lock);
    }
}

static void quota_share_destroy(void *context) {
    quota_leave(context);
    ji_metadata_free(context);
}

/* The public options, and what a composition says in place of the quota. */
typedef struct quota_options {
    jquota_share_options_t share;
    const char *budget;
    size_t limit_bytes;
    jquota_t *quota; /* NULL: the budget's */
} quota_options_t;

static jstatus_t quota_enter_budget(quota_share_t *share, const quota_options_t *options) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (options->budget == NULL || options->budget[0] == '\0')
        return ji_fail(JSTATUS_INVALID_VALUE, "quota: no budget is named; expected budget=NAME");
    if (strnlen(options->budget, JALLOCATOR_NAME_BYTES) == JALLOCATOR_NAME_BYTES)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "quota: the budget's name \"%.40s...\" has more than %d characters",
                       options->budget, JALLOCATOR_NAME_BYTES - 1);

    pthread_once(&once, quota_start);
    ji_lock_acquire(&quota_budgets_lock);

    jstatus_t status = quota_budget_get(options->budget, options->limit_bytes, &share->quota);
    if (status == JSTATUS_SUCCESS) {
        status = quota_join(share);
        quota_budget_drop(share->quota); /* where it was made for a share that may not join */
    }

    ji_lock_release(&quota_budgets_lock);
    return status;
}

static jstatus_t quota_create(const ji_request_t *request, jallocator_t **out) {
    const quota_options_t *options = request->options;

    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = quota_allocate;
    ops.deallocate = quota_deallocate;
    ops.get_stats = quota_get_stats;
    ops.destroy = quota_share_destroy;

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .kind = &ji_kind_quota,
                          .entry = &quota_entry};

    jstatus_t status = JSTATUS_SUCCESS;
    quota_share_t *share;
    JTRY_ALLOC(share = ji_metadata_zalloc(sizeof *share));
    share->adaptor.below = request->below;
    share->quota = options->quota;
    share->guaranteed_bytes = options->share.guaranteed_bytes;
    share->maximum_bytes = ji_option(options->share.maximum_bytes, JALLOC_UNLIMITED);
    strncpy(share->name, request->name, JALLOCATOR_NAME_BYTES - 1);

    if (share->guaranteed_bytes > share->maximum_bytes) {
        status = ji_fail(JSTATUS_INVALID_VALUE,
                         "share \"%s\": %zu bytes guaranteed are more than its maximum of %zu",
                         share->name, share->guaranteed_bytes, share->maximum_bytes);
        goto done;
    }

    JTRY(share->quota != NULL ? quota_join(share) : quota_enter_budget(share, options));

    status = ji_allocator_make(&ops, share, &traits, out);
    if (status != JSTATUS_SUCCESS)
        quota_leave(share);
    else
        share = NULL;

done:
    ji_metadata_free(share);
    return status;
}

static const quota_options_t quota_defaults = {{sizeof quota_defaults, NULL, 0, 0}, NULL, 0, NULL};
static const jallocator_key_t quota_keys[] = {
    {"budget", "TEXT", "", "the process's budget that this is a share of"},
    {"limit", "SIZE", "0", "the budget's bytes; needed where it is named first"},
    {"guaranteed", "SIZE", "0", "bytes that this share can always have"},
    {"maximum", "SIZE|none|unlimited", "unlimited",
     "most that this share may have live; unlimited: the limit"},
    {NULL, NULL, NULL, NULL},
};
static const ji_key_member_t quota_members[] = {
    {JI_KEY_TEXT, offsetof(quota_options_t, budget), 0},
    {JI_KEY_SIZE, offsetof(quota_options_t, limit_bytes), 0},
    {JI_KEY_SIZE, offsetof(quota_options_t, share.guaranteed_bytes), 0},
    {JI_KEY_SIZE, offsetof(quota_options_t, share.maximum_bytes), 0},
};

const ji_kind_t ji_kind_quota = {
    .public = {"quota", JALLOCATOR_ADAPTOR, "a share of a budget that many have together",
               quota_keys},
    .members = quota_members,
    .options_type = "quota_options_t",
    .options_bytes = sizeof(quota_options_t),
    .defaults = &quota_defaults,
    .create = quota_create,
};

/* ---- Public ---- */

jstatus_t jquota_create(size_t limit_bytes, jquota_t **quota) {
    JREQUIRE(quota != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(limit_bytes != 0, JSTATUS_INVALID_SIZE, __func__, "limit_bytes", limit_bytes,
                   "must not be 0");
    jquota_t *made = quota_make(limit_bytes);
    if (made == NULL)
        return JSTATUS_MEMORY_ERROR;

    *quota = made;
    return JSTATUS_SUCCESS;
}

jstatus_t jquota_destroy(jquota_t *quota) {
    if (quota == NULL)
        return JSTATUS_SUCCESS;

    ji_lock_acquire(&quota->lock);
    size_t shares = quota->share_count;
    ji_lock_release(&quota->lock);

    if (shares != 0)
        return ji_fail(JSTATUS_BUSY, "the quota cannot be destroyed: it has %zu share%s", shares,
                       shares == 1 ? "" : "s");

    quota_free(quota);
    return JSTATUS_SUCCESS;
}

jstatus_t jquota_set_limit(jquota_t *quota, size_t limit_bytes) {
    JREQUIRE(quota != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE_VALUE(limit_bytes != 0, JSTATUS_INVALID_SIZE, __func__, "limit_bytes", limit_bytes,
                   "must not be 0");

    ji_lock_acquire(&quota->lock);
    size_t guaranteed = quota->guaranteed_bytes;
    if (limit_bytes >= guaranteed)
        quota->limit_bytes = limit_bytes;
    ji_lock_release(&quota->lock);

    if (limit_bytes < guaranteed)
        return ji_fail(JSTATUS_INVALID_SIZE,
                       "jquota_set_limit: %zu bytes are less than the %zu that are guaranteed",
                       limit_bytes, guaranteed);

    return JSTATUS_SUCCESS;
}

jstatus_t jquota_get_stats(const jquota_t *quota, jquota_stats_t *stats) {
    JREQUIRE(quota != NULL && stats != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jquota_stats_t, stats, limit_bytes));

    ji_lock_t *lock = (ji_lock_t *)&quota->lock; /* no part of what is seen */
    ji_lock_acquire(lock);
    jquota_stats_t present = {
        sizeof present,           quota->limit_bytes, quota->guaranteed_bytes, quota->in_use_bytes,
        quota->peak_in_use_bytes, quota->share_count, quota->refusal_count};
    ji_lock_release(lock);

    quota_raise(&present.peak_in_use_bytes, present.in_use_bytes);
    JI_GIVE_RESULT(stats, &present);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_create_quota(jallocator_t *below, jquota_t *quota,
                                  const jquota_share_options_t *options, jallocator_t **allocator) {
    JREQUIRE(quota != NULL, JSTATUS_INVALID_POINTER);

    quota_options_t complete = quota_defaults;
    JTRY_RETURN(JI_TAKE_OPTIONS(jquota_share_options_t, &complete.share, options, name));

    complete.share.struct_size = sizeof complete;
    complete.quota = quota;

    return ji_kind_make(&ji_kind_quota, NULL, below, &complete, allocator);
}
