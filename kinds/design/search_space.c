#include <string.h>

#include "kinds/design/search.h"

const char *const search_reason_words[N_SEARCH_REASONS + 1] = { "something does not divide",
                                                                "degrees do not lie along the dimensions",
                                                                "memory does not suffice" };

enum { DEFAULT_TOP = 10 };

static const char *const order_words[] = { "given", "any", NULL };
static const char *const bool_words[] = { "false", "true", NULL };
static const char *const zero_words[] = { "0", "1", "2", "3", NULL };

struct search_conf {
    yaml_id tp, cp, pp, ep, micro, interleave, recompute, zero, seq_parallel, context, schedule;
    int32_t order;
    int64_t top;
};

#define LIST(key_name, field, text)                                                                          \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_NODE, .offset = offsetof(struct search_conf, field),     \
        .unit = ""                                                                                           \
    }

static const struct key search_keys[] = {
    LIST("tp", tp, "list of degrees to try; absent: every legal one"),
    LIST("cp", cp, "list of degrees to try; absent: every legal one"),
    LIST("pp", pp, "list of degrees to try; absent: every legal one"),
    LIST("ep", ep, "list of degrees to try; absent: every legal one"),
    LIST("micro_batch", micro, "list of sizes to try; absent: every divisor of batch / dp"),
    LIST("interleave", interleave, "list of chunks to try; absent: every divisor of a stage's layers"),
    LIST("recompute", recompute, "list of none, selective, full; absent: all"),
    LIST("zero", zero, "list of 0 to 3; absent: all"),
    LIST("seq_parallel", seq_parallel, "list of false, true; absent: both"),
    LIST("context", context, "list of ring, all-gather, ulysses; absent: all"),
    LIST("schedule", schedule, "list of 1f1b, gpipe; absent: both"),
    { .name = "order",
      .help = "over the dimensions: the plan's (given) or any; absent: any",
      .kind = KEY_WORD,
      .offset = offsetof(struct search_conf, order),
      .unit = "",
      .dflt = 1,
      .words = order_words },
    { .name = "top",
      .help = "how many of the best to show",
      .kind = KEY_COUNT,
      .offset = offsetof(struct search_conf, top),
      .unit = "",
      .scale = 1,
      .min = 1,
      .max = SEARCH_MAX_TOP,
      .dflt = DEFAULT_TOP },
};

const struct section search_section = { .name = "search",
                                        .help = "which plans of parallelism to try for the model",
                                        .keys = search_keys,
                                        .n_keys = sizeof search_keys / sizeof search_keys[0] };

void search_defaults(struct search_space *s)
{
    *s = (struct search_space){ .recompute = (1U << N_PLAN_RECOMPUTES) - 1,
                                .zero = 15,
                                .seq_parallel = 3,
                                .context = (1U << N_PLAN_CONTEXTS) - 1,
                                .schedule = (1U << N_PLAN_SCHEDULES) - 1,
                                .any_order = true,
                                .top = DEFAULT_TOP };
}

static int need_list(const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && (doc->nodes[list].n < 1 || doc->nodes[list].n > SEARCH_MAX_VALUES))
        rc = yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need 1 to %d", (int)doc->nodes[list].n,
                       SEARCH_MAX_VALUES);
    return rc;
}

/* Ascending, each once, so that the order of writing changes nothing. */
static void insert(struct search_values *v, int64_t value)
{
    int32_t at = 0;
    while (at < v->n && v->values[at] < value)
        at++;
    if (at < v->n && v->values[at] == value)
        return;
    memmove(&v->values[at + 1], &v->values[at], (size_t)(v->n - at) * sizeof v->values[0]);
    v->values[at] = value;
    v->n++;
}

static int read_values(struct search_values *out, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    out->n = 0;
    if (list < 0)
        return 0;
    int rc = need_list(doc, list, e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        int64_t value;
        if ((rc = yaml_count(doc, id, &value, e)))
            return rc;
        if (value < 1 || value > (int64_t)1e12)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, need 1 or more", (long long)value);
        insert(out, value);
    }
    return 0;
}

static int read_mask(unsigned *out, const char *const *words, const struct yaml_doc *doc, yaml_id list,
                     struct err *e)
{
    if (list < 0)
        return 0;
    *out = 0;
    int rc = need_list(doc, list, e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        const char *word;
        unsigned i = 0;
        if ((rc = yaml_text(doc, id, &word, e)))
            return rc;
        while (words[i] && strcmp(words[i], word) != 0)
            i++;
        if (!words[i]) {
            struct text all = { 0 };
            for (i = 0; words[i]; i++)
                text_printf(&all, "%s%s", i ? ", " : "", words[i]);
            rc = yaml_fail(doc, id, e, ERR_PARSE, "is %.40s, need one of %s", word, text_str(&all));
            text_free(&all);
            return rc;
        }
        *out |= 1U << i;
    }
    return 0;
}

int search_read(struct search_space *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct search_conf conf;
    int rc = schema_read(&conf, &search_section, doc, map, e);
    if (rc)
        return rc;
    const struct {
        struct search_values *out;
        yaml_id list;
    } values[] = { { &s->tp, conf.tp }, { &s->cp, conf.cp },       { &s->pp, conf.pp },
                   { &s->ep, conf.ep }, { &s->micro, conf.micro }, { &s->interleave, conf.interleave } };
    const struct {
        unsigned *out;
        const char *const *words;
        yaml_id list;
    } masks[] = { { &s->recompute, plan_recompute_words, conf.recompute },
                  { &s->zero, zero_words, conf.zero },
                  { &s->seq_parallel, bool_words, conf.seq_parallel },
                  { &s->context, plan_context_words, conf.context },
                  { &s->schedule, plan_schedule_words, conf.schedule } };
    search_defaults(s);
    for (size_t i = 0; i < sizeof values / sizeof *values && !rc; i++)
        rc = read_values(values[i].out, doc, values[i].list, e);
    for (size_t i = 0; i < sizeof masks / sizeof *masks && !rc; i++)
        rc = read_mask(masks[i].out, masks[i].words, doc, masks[i].list, e);
    s->any_order = conf.order == 1;
    s->top = (int32_t)conf.top;
    return rc;
}
