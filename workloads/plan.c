#include "workloads/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const plan_axis_words[N_PLAN_AXES + 1] = { "tp", "cp", "dp", "pp" };
const char *const plan_group_words[N_PLAN_GROUPS + 1] = { "tp", "cp", "ep", "dp", "experts", "pp" };
const char *const plan_recompute_words[N_PLAN_RECOMPUTES + 1] = { "none", "selective", "full" };
const char *const plan_schedule_words[N_PLAN_SCHEDULES + 1] = { "1f1b", "gpipe" };
const char *const plan_context_words[N_PLAN_CONTEXTS + 1] = { "ring", "all-gather", "ulysses" };
const char *const plan_overlap_words[N_PLAN_OVERLAPS + 1] = { "none", "backward", "split" };

void plan_defaults(struct plan *p)
{
    *p = (struct plan){ .degree = { 1, 1, 1, 1 },
                        .ep = 1,
                        .batch = 1,
                        .micro = 1,
                        .interleave = 1,
                        .overlap_tp = PLAN_OVERLAP_BACKWARD,
                        .overlap_dp = true,
                        .scatter_gather = true,
                        .sends = 2,
                        .grad_B = 4,
                        .traffic = 1,
                        .order = { PLAN_TP, PLAN_CP, PLAN_DP, PLAN_PP } };
}

int64_t plan_microbatches(const struct plan *p)
{
    return p->batch / (p->degree[PLAN_DP] * p->micro);
}

/* ---- stages ---- */

static int64_t layers_of(const struct plan *p, const struct model *m, int64_t stage)
{
    int64_t pp = p->degree[PLAN_PP];
    if (stage == 0 && p->first)
        return p->first;
    if (stage == pp - 1 && p->last)
        return p->last;
    return (m->layers - p->first - p->last) / (pp - (p->first > 0) - (p->last > 0));
}

static int64_t layers_before(const struct plan *p, const struct model *m, int64_t stage)
{
    if (stage == 0)
        return 0;
    return layers_of(p, m, 0) + (stage - 1) * (stage > 1 ? layers_of(p, m, 1) : 0);
}

/* Layers of a stage with and without experts; chunks of an interleaved pipeline go round the stages. */
static struct plan_stage fill_stage(const struct plan *p, const struct model *m, int64_t stage)
{
    int64_t pp = p->degree[PLAN_PP], all = layers_of(p, m, stage), chunk = all / p->interleave;
    struct plan_stage s = { .at = stage, .count = 1, .embed = stage == 0, .head = stage == pp - 1 };
    for (int64_t v = 0; v < p->interleave && m->moe.experts; v++) {
        int64_t begin = p->interleave > 1 ? (v * pp + stage) * chunk : layers_before(p, m, stage);
        for (int64_t i = begin; i < begin + chunk; i++)
            s.experts += model_has_experts(m, i);
    }
    s.dense = all - s.experts;
    return s;
}

static bool is_alike(const struct plan_stage *a, const struct plan_stage *b)
{
    return a->dense == b->dense && a->experts == b->experts && a->embed == b->embed && a->head == b->head;
}

static int32_t add_stage(struct plan_stage *out, int32_t n, struct plan_stage s)
{
    for (int32_t i = 0; i < n; i++)
        if (is_alike(&out[i], &s)) {
            out[i].count += s.count;
            return n;
        }
    if (n < PLAN_MAX_STAGES) {
        out[n] = s;
        return n + 1;
    }
    struct plan_stage *last = &out[n - 1];
    last->count += s.count;
    last->dense = s.dense > last->dense ? s.dense : last->dense;
    last->experts = s.experts > last->experts ? s.experts : last->experts;
    last->head = last->head || s.head;
    return n;
}

int32_t plan_stages(struct plan_stage out[PLAN_MAX_STAGES], const struct plan *p, const struct model *m)
{
    int64_t pp = p->degree[PLAN_PP];
    int32_t n = 0;
    if (m->family != MODEL_TRANSFORMER) {
        out[0] = (struct plan_stage){ .count = 1, .embed = m->family == MODEL_DLRM, .head = true };
        return 1;
    }
    for (int64_t s = 0; s < pp; s++) {
        struct plan_stage stage = fill_stage(p, m, s);
        if (s == 1 && !m->moe.experts) { /* all up to the last are alike */
            stage.count = pp > 2 ? pp - 2 : 1;
            s += stage.count - 1;
        }
        n = add_stage(out, n, stage);
    }
    return n;
}

/* ---- what divides what ---- */

/* Nearest divisors of `of` around value: "8 or 12". */
static void nearest_divisors(char out[64], int64_t value, int64_t of)
{
    int64_t below = value < of ? value : of, above = value;
    while (below > 1 && of % below)
        below--;
    while (above < of && of % above)
        above++;
    if (below < 1 || of % below)
        below = 1;
    if (above > of || below == above || above == value)
        snprintf(out, 64, "%lld", (long long)below);
    else
        snprintf(out, 64, "%lld or %lld", (long long)below, (long long)above);
}

static bool fail(struct plan_fault *f, const char *key)
{
    if (f)
        f->key = key;
    return false;
}

#define FAULT(f, name, ...) (((f) ? snprintf((f)->why, sizeof(f)->why, __VA_ARGS__) : 0), fail(f, name))

/* value must divide `of`, which is `what`. */
static bool need_divisor(struct plan_fault *f, const char *key, int64_t value, int64_t of, const char *what)
{
    char near[64];
    if (of % value == 0)
        return true;
    if (!f)
        return false;
    nearest_divisors(near, value, of);
    return FAULT(f, key, "is %lld, need a divisor of %s, %lld (nearest: %s)", (long long)value, what,
                 (long long)of, near);
}

int64_t plan_inner(const struct plan *p, int64_t most)
{
    static const enum plan_axis axes[] = { PLAN_TP, PLAN_CP, PLAN_PP };
    int64_t product = 1;
    for (int i = 0; i < 3 && product <= most; i++)
        product *= p->degree[axes[i]];
    return product;
}

static bool check_degrees(const struct plan *p, int64_t n_npus, struct plan_fault *f)
{
    int64_t inner = plan_inner(p, n_npus);
    char near[64];
    if (n_npus % inner == 0 && p->degree[PLAN_DP] == n_npus / inner)
        return true;
    if (!f)
        return false;
    if (n_npus % inner == 0)
        return FAULT(f, "dp", "is %lld, need %lld, so that tp %lld, cp %lld, dp and pp %lld make %lld NPUs",
                     (long long)p->degree[PLAN_DP], (long long)(n_npus / inner),
                     (long long)p->degree[PLAN_TP], (long long)p->degree[PLAN_CP],
                     (long long)p->degree[PLAN_PP], (long long)n_npus);
    /* Blame the first that does not divide what those before it leave. */
    int64_t left = n_npus;
    static const enum plan_axis axes[] = { PLAN_TP, PLAN_CP, PLAN_PP };
    for (int i = 0; i < 3; i++) {
        int64_t degree = p->degree[axes[i]];
        if (left % degree == 0) {
            left /= degree;
            continue;
        }
        nearest_divisors(near, degree, left);
        return FAULT(f, plan_axis_words[axes[i]],
                     "is %lld, which does not divide the %lld of %lld NPUs that are left (nearest: %s)",
                     (long long)degree, (long long)left, (long long)n_npus, near);
    }
    return fail(f, "dp");
}

static bool check_tensor(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t tp = p->degree[PLAN_TP], cp = p->degree[PLAN_CP];
    if (!need_divisor(f, "tp", tp, m->heads, "heads"))
        return false;
    if (m->kv_heads % tp && tp % m->kv_heads)
        return FAULT(f, "tp", "is %lld, need a divisor or a multiple of kv_heads, %lld", (long long)tp,
                     (long long)m->kv_heads);
    if (!need_divisor(f, "tp", tp, m->ffn, "ffn") || !need_divisor(f, "tp", tp, m->hidden, "hidden") ||
        !need_divisor(f, "cp", cp, m->seq, "seq"))
        return false;
    if (p->seq_parallel && m->seq / cp % tp)
        return FAULT(f, "seq_parallel", "is true, need tokens of a sequence, %lld, that divide by tp %lld",
                     (long long)(m->seq / cp), (long long)tp);
    if (p->context == PLAN_CP_ULYSSES && m->heads / tp % cp)
        return need_divisor(f, "cp", cp, m->heads / tp, "heads of one NPU");
    return true;
}

static bool check_stages(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t pp = p->degree[PLAN_PP], others = pp - (p->first > 0) - (p->last > 0);
    int64_t rest = m->layers - p->first - p->last;
    if (pp == 1 && p->first + p->last > 0)
        return FAULT(f, p->first ? "first_stage_layers" : "last_stage_layers",
                     "is given with pp 1, need several stages");
    if (others < 0 || rest < 0 || (others == 0 && rest > 0))
        return FAULT(f, p->first ? "first_stage_layers" : "last_stage_layers",
                     "leaves %lld layers to %lld stages, need as many as there are", (long long)rest,
                     (long long)others);
    if (others > 0 && (rest % others || rest == 0)) {
        if (p->first + p->last == 0 && f) {
            need_divisor(f, "pp", pp, m->layers, "layers");
            size_t n = strlen(f->why);
            snprintf(f->why + n, sizeof f->why - n, ", or first_stage_layers and last_stage_layers");
            return false;
        }
        if (p->first + p->last == 0)
            return false;
        return FAULT(f, "pp", "leaves %lld layers to %lld stages, need a multiple", (long long)rest,
                     (long long)others);
    }
    if (p->interleave == 1)
        return true;
    if (pp == 1)
        return FAULT(f, "interleave", "is %lld with pp 1, need 1 or several stages",
                     (long long)p->interleave);
    if (p->schedule == PLAN_GPIPE || p->first + p->last > 0)
        return FAULT(f, "interleave", "is %lld, need schedule 1f1b and stages of equal layers",
                     (long long)p->interleave);
    return need_divisor(f, "interleave", p->interleave, m->layers / pp, "layers of a stage");
}

static bool check_experts(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t around = p->degree[PLAN_CP] * p->degree[PLAN_DP] * (p->expert_tp ? 1 : p->degree[PLAN_TP]);
    if (m->moe.experts == 0)
        return p->ep == 1 || FAULT(f, "ep", "is %lld for a model without experts, need 1", (long long)p->ep);
    if (!need_divisor(f, "ep", p->ep, m->moe.experts, "experts") ||
        !need_divisor(f, "ep", p->ep, around, p->expert_tp ? "cp * dp" : "tp * cp * dp"))
        return false;
    if (p->degree[PLAN_TP] > 1 && !p->seq_parallel)
        return FAULT(f, "seq_parallel",
                     "is false with experts and tp %lld, need true: else each token reaches its experts %lld "
                     "times",
                     (long long)p->degree[PLAN_TP], (long long)p->degree[PLAN_TP]);
    if (m->moe.shared &&
        !need_divisor(f, "tp", p->degree[PLAN_TP], m->moe.shared * m->moe.ffn, "ffn of shared experts"))
        return false;
    return !p->expert_tp || need_divisor(f, "tp", p->degree[PLAN_TP], m->moe.ffn, "ffn of experts");
}

static bool check_batch(const struct plan *p, struct plan_fault *f)
{
    int64_t dp = p->degree[PLAN_DP], pp = p->degree[PLAN_PP];
    int64_t below = p->batch / dp * dp; /* the number of NPUs says what dp is: the batch has to give way */
    if (below == 0)
        return FAULT(f, "batch", "is %lld, need a multiple of dp, %lld", (long long)p->batch, (long long)dp);
    if (below != p->batch)
        return FAULT(f, "batch", "is %lld, need a multiple of dp, %lld (nearest: %lld or %lld)",
                     (long long)p->batch, (long long)dp, (long long)below, (long long)(below + dp));
    if (!need_divisor(f, "micro_batch", p->micro, p->batch / dp, "batch / dp"))
        return false;
    if (p->interleave > 1 && plan_microbatches(p) % pp)
        return FAULT(f, "interleave", "is %lld with %lld microbatches, need a multiple of pp %lld of them",
                     (long long)p->interleave, (long long)plan_microbatches(p), (long long)pp);
    return true;
}

static bool check_data_parallel(const struct plan *p, struct plan_fault *f)
{
    static const enum plan_axis others[] = { PLAN_TP, PLAN_CP, PLAN_PP };
    for (int i = 0; i < 3; i++)
        if (p->degree[others[i]] > 1)
            return FAULT(f, plan_axis_words[others[i]],
                         "is %lld, need 1: this family is trained data-parallel",
                         (long long)p->degree[others[i]]);
    if (p->ep > 1)
        return FAULT(f, "ep", "is %lld, need 1: this family has no experts", (long long)p->ep);
    if (p->recompute != PLAN_RECOMPUTE_NONE)
        return FAULT(f, "recompute", "is %s, need none: this family is trained without",
                     plan_recompute_words[p->recompute]);
    return true;
}

bool plan_check(const struct plan *p, const struct model *m, int64_t n_npus, struct plan_fault *f)
{
    if (m->family != MODEL_TRANSFORMER && !check_data_parallel(p, f))
        return false;
    if (!check_degrees(p, n_npus, f))
        return false;
    if (m->family == MODEL_TRANSFORMER &&
        (!check_tensor(p, m, f) || !check_stages(p, m, f) || !check_experts(p, m, f)))
        return false;
    return check_batch(p, f);
}

/* ---- as text ---- */

static void put_degree(struct text *out, const char *word, int64_t n, const char **joint)
{
    if (n <= 1)
        return;
    text_printf(out, "%s%s %lld", *joint, word, (long long)n);
    *joint = ", ";
}

void plan_format(struct text *out, const struct plan *p, const struct model *m)
{
    const char *joint = "";
    for (int i = 0; i < N_PLAN_AXES; i++)
        put_degree(out, plan_axis_words[p->order[i]], p->degree[p->order[i]], &joint);
    put_degree(out, "ep", p->ep, &joint);
    text_printf(out, "%smicrobatch %lld of %lld", joint, (long long)p->micro,
                (long long)plan_microbatches(p));
    joint = ", ";
    put_degree(out, "interleave", p->interleave, &joint);
    if (p->zero && m->family != MODEL_TRANSFORMER)
        text_printf(out, ", zero %d", (int)p->zero);
    if (m->family != MODEL_TRANSFORMER)
        return;
    if (p->schedule == PLAN_GPIPE)
        text_puts(out, ", gpipe");
    if (p->recompute)
        text_printf(out, ", %s recompute", plan_recompute_words[p->recompute]);
    if (p->degree[PLAN_CP] > 1 && p->context)
        text_printf(out, ", cp by %s", plan_context_words[p->context]);
    if (p->zero)
        text_printf(out, ", zero %d", (int)p->zero);
    if (p->seq_parallel)
        text_puts(out, ", sequence parallel");
}
