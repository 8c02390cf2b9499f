/*
 * What a search of plans goes through: every value of every key that it varies, and what is left out of that.
 *
 * A shape is the degrees; microbatches, schedule and the rest vary within it, its places are the orders of
 * the axes over the dimensions. A value that no plan may have is refused and counted by the key that
 * plan_check() names: once for a value of tp, cp, pp, ep, micro_batch and node_limit, with all that would
 * vary beneath it, else once for each plan and place. Where a value changes nothing (a way of cp without cp),
 * the first that was asked for is tried, and the others are counted as repeated: a plan that is tried takes
 * as long and needs no more memory. Lists that nobody gave hold values that are legal, and nothing else is
 * left out.
 */
#include "kinds/design/explore/space.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"

enum { DEFAULT_TOP = 10 };

static const char *const order_words[] = { "given", "any", NULL };
static const char *const bool_words[] = { "false", "true", NULL };
static const char *const zero_words[] = { "0", "1", "2", "3", NULL };

static int need_list(const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && (doc->nodes[list].n < 1 || doc->nodes[list].n > SEARCH_MAX_VALUES))
        rc = yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected 1 to %d", (int)doc->nodes[list].n,
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

/* A schema_read_own: numbers to try, in ascending order and each once. */
static int search_read_values(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                              struct err *e)
{
    struct search_values *out = field;
    (void)k;
    out->n = 0;
    int rc = list < 0 ? 0 : need_list(doc, list, e);
    if (rc || list < 0)
        return rc;
    yaml_each (id, doc, list) {
        int64_t value;
        if ((rc = yaml_count(doc, id, &value, e)))
            return rc;
        if (value < 1 || value > (int64_t)1e12)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected 1 or more", (long long)value);
        insert(out, value);
    }
    return 0;
}

static int search_fail_word(const char *word, const struct key *k, const struct yaml_doc *doc, yaml_id id,
                            struct err *e)
{
    struct text all = { 0 };
    for (size_t i = 0; k->words[i]; i++)
        text_printf(&all, "%s%s", i ? ", " : "", k->words[i]);
    int rc = yaml_fail(doc, id, e, ERR_PARSE, "is %.40s, expected one of %s", word, text_str(&all));
    text_free(&all);
    return rc;
}

/* A schema_read_own: words to try, as bits; absent: all, or the first .room of them; what few frameworks
 * have is tried where it is asked for. */
static int read_mask(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                     struct err *e)
{
    unsigned *out = field, n_words = 0;
    while (k->words[n_words])
        n_words++;
    *out = list < 0 ? (1U << (k->room ? (unsigned)k->room : n_words)) - 1 : SEARCH_ASKED;
    int rc = list < 0 ? 0 : need_list(doc, list, e);
    if (rc || list < 0)
        return rc;
    yaml_each (id, doc, list) {
        const char *word;
        unsigned i = 0;
        if ((rc = yaml_text(doc, id, &word, e)))
            return rc;
        while (k->words[i] && strcmp(k->words[i], word) != 0)
            i++;
        if (!k->words[i])
            return search_fail_word(word, k, doc, id, e);
        *out |= 1U << i;
    }
    return 0;
}

/* A schema_read_own: words to try, as bits; absent: what the plan has, as none. */
static int read_asked(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                      struct err *e)
{
    *(unsigned *)field = 0;
    return list < 0 ? 0 : read_mask(field, k, doc, list, e);
}

#define VALUES(f, key, text)                                                                                 \
    K_OWN(struct search_space, f, key, search_read_values, text, .form = "list of counts")
#define MASK(f, key, words_, text)                                                                           \
    K_OWN(struct search_space, f, key, read_mask, text, .words = words_, .form = "list of anything")

static const struct key search_keys[] = {
    VALUES(tp, "tp", "list of degrees to try (default: every legal one)"),
    VALUES(cp, "cp", "list of degrees to try (default: every legal one)"),
    VALUES(pp, "pp", "list of degrees to try (default: every legal one)"),
    VALUES(ep, "ep", "list of degrees to try (default: every legal one)"),
    VALUES(micro, "micro_batch", "list of sizes to try (default: every divisor of batch / dp)"),
    VALUES(interleave, "interleave", "list of chunks of a stage to try (default: every legal one)"),
    K_OWN(struct search_space, recompute, "recompute", read_mask,
          "list of none, selective, full, sac (default: the first three)", .words = plan_recompute_words,
          .room = PLAN_RECOMPUTE_SAC, .form = "list of words"),
    MASK(zero, "zero", zero_words, "list of 0 to 3 (default: all)"),
    MASK(seq_parallel, "seq_parallel", bool_words, "list of false, true (default: both)"),
    MASK(context, "context", plan_context_words, "list of ring, all-gather, ulysses (default: all)"),
    K_OWN(struct search_space, schedule, "schedule", read_mask,
          "list of 1f1b, gpipe, zb1p, dualpipe, dualpipev (default: the first two)",
          .words = plan_schedule_words, .room = 2, .form = "list of words"),
    MASK(dispatcher, "dispatcher", plan_dispatcher_words, "list of all-to-all, merged (default: both)"),
    MASK(ep_overlap, "ep_overlap", plan_ep_overlap_words, "list of none, shared, batch (default: all)"),
    K_OWN(struct search_space, precision, "precision", read_asked,
          "list of bf16, fp8, mxfp8, nvfp4 (default: the plan's)", .words = topo_precision_words,
          .form = "list of words"),
    K_OWN(struct search_space, recompute_ops, "recompute_ops", read_asked,
          "list of operators: every choice of them is done again, with recompute selective (default: the "
          "plan's)",
          .words = plan_op_words, .form = "list of words"),
    K_WORD(struct search_space, any_order, "order", order_words, 1,
           "over the dimensions: the plan's (given) or any (default: any)"),
    K_COUNT(struct search_space, top, "top", 1, SEARCH_MAX_TOP, DEFAULT_TOP, "number of best plans to show"),
};

/* An empty map searches everything that is legal. */
K_SECTION(search_section, struct search_space, "search", search_keys,
          "which plans of parallelism to try for the model");

static bool is_given_here(const struct yaml_doc *doc, yaml_id id, yaml_id search, int32_t own_source)
{
    int32_t from = doc->nodes[id].key_source;
    return strncmp(doc->sources[from], "--set ", 6) == 0 ||
           (from == own_source && doc->nodes[search].key_source == own_source);
}

/* What it takes unless told which to try; dp is what the other degrees leave. */
static bool is_chosen(const char *key)
{
    for (size_t i = 0; i < search_section.n_keys; i++)
        if (strcmp(search_keys[i].name, key) == 0)
            return search_keys[i].read != read_asked;
    return strcmp(key, "dp") == 0;
}

static void note_unused(struct text *notes, const struct design_point *s, yaml_id search)
{
    char place[400], path[256];
    const struct yaml_doc *doc = &s->doc;
    yaml_id parallel = yaml_get(doc, doc->nodes[search].parent, "parallel");
    if (parallel < 0)
        return;
    yaml_each (id, doc, parallel) {
        const char *key = doc->nodes[id].key;
        if (is_chosen(key) && yaml_get(doc, search, key) < 0 && is_given_here(doc, id, search, s->own_source))
            text_printf(notes,
                        "%s: %s has no effect here, the search chooses it (keys of search restrict it)\n",
                        yaml_key_place(doc, id, place, sizeof place), yaml_path(doc, id, path, sizeof path));
    }
}

void search_note_unused(struct text *notes, const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++)
        if (design_point_is_searched(&s->workloads[i]))
            note_unused(notes, s, s->workloads[i].training->search);
}

/* Keys are few, and kept in order, so that threads that are added up in any order come to the same. */
static void search_refuse(struct search_refusals *to, const char *key, int64_t n)
{
    int32_t at = 0;
    while (at < to->n_keys && strcmp(to->key[at], key) < 0)
        at++;
    if (at == to->n_keys || strcmp(to->key[at], key) != 0) {
        assert(to->n_keys < SEARCH_MAX_KEYS);
        memmove(&to->key[at + 1], &to->key[at], (size_t)(to->n_keys - at) * sizeof to->key[0]);
        memmove(&to->n[at + 1], &to->n[at], (size_t)(to->n_keys - at) * sizeof to->n[0]);
        to->key[at] = key;
        to->n[at] = 0;
        to->n_keys++;
    }
    to->n[at] += n;
}

void search_left_out_add(struct search_left_out *to, const struct search_left_out *from)
{
    for (int32_t i = 0; i < from->refused.n_keys; i++)
        search_refuse(&to->refused, from->refused.key[i], from->refused.n[i]);
    to->n_repeated += from->n_repeated;
    to->n_unmapped += from->n_unmapped;
}

void search_shapes_free(struct search_shapes *s)
{
    free(s->shapes);
    *s = (struct search_shapes){ 0 };
}

/* ---- values ---- */

/* No number up to 1e12 has more divisors (963,761,198,400 has 6,720). */
enum { MAX_LIST = 6720 };

struct space_list {
    int64_t values[MAX_LIST];
    int32_t n;
};

static bool list_asked(struct space_list *out, const struct search_values *asked)
{
    out->n = asked->n;
    memcpy(out->values, asked->values, (size_t)asked->n * sizeof asked->values[0]);
    return asked->n > 0;
}

/* What was asked for, or every divisor of `of`; ascending. O(sqrt(of)). */
static void list_values(struct space_list *out, const struct search_values *asked, int64_t of)
{
    int32_t n_small = 0;
    if (list_asked(out, asked))
        return;
    for (int64_t d = 1; d <= of / d; d++)
        if (of % d == 0)
            out->values[n_small++] = d;
    out->n = n_small;
    for (int32_t i = n_small; i-- > 0;)
        if (of / out->values[i] != out->values[i])
            out->values[out->n++] = of / out->values[i];
}

static bool is_alone(const struct training *base)
{
    return base->model.family != MODEL_TRANSFORMER;
}

/* Chunks that the layers do not fill evenly have short ends, unless the plan says how layers lie. Where they
 * fill them, short ends are as many as the others. */
static int32_t search_ends(const struct plan *p, const struct model *m)
{
    int64_t chunks = p->degree[PLAN_PP] * p->interleave;
    bool said = p->layout.n || p->first || p->last || p->degree[PLAN_PP] == 1;
    return said || m->layers % chunks == 0 ? PLAN_ENDS_EQUAL : PLAN_ENDS_SHORT;
}

/* Chunks of a list of layers; 1 without one. */
static int64_t listed_chunks(const struct plan *p)
{
    int64_t pp = p->degree[PLAN_PP];
    return p->layout.n && p->layout.n % pp == 0 ? p->layout.n / pp : 1;
}

/* With ZeRO 0 nothing is gathered. */
static void set_gather(struct plan *p, const struct training *base)
{
    p->gather_bits = p->zero ? base->plan.gather_bits : 0;
}

/* What is done again of some layers is of full recomputation alone. */
static void set_layers_again(struct plan *p, const struct training *base)
{
    bool full = p->recompute == PLAN_RECOMPUTE_FULL;
    p->recompute_layers = full ? base->plan.recompute_layers : 0;
    p->recompute_unit = full ? base->plan.recompute_unit : 1;
}

/* The plan of base with the shape's degrees, and the first of everything else. What says how tokens are
 * dispatched is left out where none are. */
static struct plan search_plan(const struct training *base, const struct search_shape *shape)
{
    struct plan p = base->plan;
    memcpy(p.degree, shape->degree, sizeof p.degree);
    p.ep = shape->ep;
    if (p.ep == 1) {
        p.node_limit = 0;
        p.dispatch_bits = 16;
    }
    p.micro = 1;
    p.interleave = listed_chunks(&p);
    p.ends = search_ends(&p, &base->model);
    p.recompute = PLAN_RECOMPUTE_NONE;
    p.schedule = PLAN_1F1B;
    p.context = PLAN_CP_RING;
    p.dispatcher = p.node_limit ? PLAN_MERGED : PLAN_ALL_TO_ALL;
    p.ep_overlap = PLAN_EP_OVERLAP_NONE;
    p.zero = 0;
    p.seq_parallel = false;
    return p;
}

/* Is it legal to have p's stages in so many chunks? Of 1F1B: the other schedules have fewer. */
static bool may_have_chunks(const struct plan *p, const struct model *m, int64_t chunks,
                            struct plan_fault *fault)
{
    struct plan q = *p;
    q.schedule = PLAN_1F1B;
    q.interleave = chunks;
    q.ends = search_ends(&q, m);
    return plan_check_stages(&q, m, fault);
}

/* Chunks of a stage: what was asked for, or every legal number. Of n layers, c chunks of k = ceil(n / c) are
 * legal for k (c - 1) <= n, which two c at most are for each k, and where c divides n, n + 2 or n + 2 + mtp:
 * few hundred, of so many chunks at most. */
static void list_chunks(struct space_list *out, const struct search_space *space, const struct plan *p,
                        const struct training *base)
{
    const struct model *m = &base->model;
    struct plan_fault fault = { .brief = true };
    int64_t pp = p->degree[PLAN_PP], most = pp == 1 ? 1 : (m->layers + 2 + m->mtp) / pp;
    if (list_asked(out, &space->interleave))
        return;
    if (p->layout.n) {
        *out = (struct space_list){ .values = { listed_chunks(p) }, .n = 1 };
        return;
    }
    for (int64_t chunks = 1; chunks <= most; chunks++)
        if (may_have_chunks(p, m, chunks, &fault))
            out->values[out->n++] = chunks;
}

/* ---- shapes ---- */

static int add_shape(struct search_shapes *out, const struct search_shape *shape, struct err *e)
{
    if (!vec_reserve(out->shapes, out->cap, out->n + 1))
        return err_nomem(e, "a search");
    out->shapes[out->n++] = *shape;
    return 0;
}

struct seeking {
    struct search_shapes *out;
    const struct search_space *space;
    const struct training *base;
    int64_t n_npus;
    struct space_list tp, cp, pp, ep, chunks;
};

static void leave_out_value(struct seeking *x, const char *key)
{
    search_refuse(&x->out->left_out.refused, key, 1);
}

/* Degrees of expert parallelism for the others. */
static int add_with_experts(struct seeking *x, struct search_shape *shape, struct err *e)
{
    for (int32_t i = 0; i < x->ep.n; i++) {
        shape->ep = x->ep.values[i];
        struct plan p = search_plan(x->base, shape);
        struct plan_fault fault = { .brief = true };
        if (!plan_check_degrees(&p, &x->base->model, x->n_npus, &fault)) {
            leave_out_value(x, fault.key);
            continue;
        }
        int rc = add_shape(x->out, shape, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* May the model have so many stages, in any number of chunks that is tried? */
static bool may_have_stages(struct seeking *x, const struct search_shape *shape, struct plan_fault *fault)
{
    struct plan p = search_plan(x->base, shape);
    if (x->space->interleave.n)
        return true;
    list_chunks(&x->chunks, x->space, &p, x->base);
    if (x->chunks.n == 0)
        may_have_chunks(&p, &x->base->model, 1, fault);
    return x->chunks.n > 0;
}

static int add_with_stages(struct seeking *x, struct search_shape *shape, int64_t left, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < x->pp.n && !rc; i++) {
        struct plan_fault fault = { .brief = true, .key = "pp" };
        int64_t pp = x->pp.values[i];
        shape->degree[PLAN_PP] = pp;
        shape->degree[PLAN_DP] = left / pp;
        if (left % pp || !may_have_stages(x, shape, &fault))
            leave_out_value(x, fault.key);
        else
            rc = add_with_experts(x, shape, e);
    }
    return rc;
}

/* Degrees whose product divides the NPUs; dp is what is left. */
static int add_all(struct seeking *x, struct err *e)
{
    struct search_shape shape = { .ep = 1 };
    int rc = 0;
    for (int32_t t = 0; t < x->tp.n && !rc; t++)
        for (int32_t c = 0; c < x->cp.n && !rc; c++) {
            int64_t tp = x->tp.values[t], cp = x->cp.values[c];
            if (x->n_npus % tp || x->n_npus / tp % cp) {
                leave_out_value(x, x->n_npus % tp ? "tp" : "cp");
                continue;
            }
            shape.degree[PLAN_TP] = tp;
            shape.degree[PLAN_CP] = cp;
            rc = add_with_stages(x, &shape, x->n_npus / tp / cp, e);
        }
    return rc;
}

/* Of any number of NPUs. */
static const struct seeking *list_degrees(struct seeking *x, const struct search_space *space,
                                          const struct training *base)
{
    const struct model *m = &base->model;
    list_values(&x->tp, &space->tp, is_alone(base) ? 1 : m->heads);
    list_values(&x->cp, &space->cp, is_alone(base) ? 1 : m->seq);
    list_values(&x->ep, &space->ep, m->moe.experts ? m->moe.experts : 1);
    return x;
}

int search_find_shapes(struct search_shapes *out, const struct search_space *space,
                       const struct training *base, int64_t n_npus, struct err *e)
{
    struct seeking *x = calloc(1, sizeof *x);
    *out = (struct search_shapes){ 0 };
    if (!x)
        return err_nomem(e, "a search");
    *x = (struct seeking){ .out = out, .space = space, .base = base, .n_npus = n_npus };
    list_degrees(x, space, base);
    list_values(&x->pp, &space->pp, is_alone(base) ? 1 : n_npus);
    int rc = add_all(x, e);
    free(x);
    if (rc)
        search_shapes_free(out);
    return rc;
}

/* ---- floors of shapes ---- */

/* What a floor is the least of. */
struct flooring {
    const struct search_space *space;
    const struct training *base;
    const struct topo_npu *npu;
    struct plan p;
    int64_t samples;
    double times;                                       /* the slowest NPU's */
    struct space_list *chunks;                          /* NULL: there is room for anything */
    bool full[2][N_TOPO_PRECISIONS][N_PLAN_RECOMPUTES]; /* by seq_parallel: it did not fit */
    double least_s;
};

/* Does it fit, in any number of chunks and with any ZeRO that is tried? Other schedules than 1F1B hold as
 * much or more. */
static bool may_fit_somehow(const struct flooring *x)
{
    struct plan p = x->p;
    struct memory memory;
    if (!x->chunks)
        return true;
    for (int32_t i = -1; i < x->chunks->n; i++)
        for (p.zero = 3; p.zero >= 0; p.zero--) { /* most need the least with the last */
            p.interleave = i < 0 ? listed_chunks(&p) : x->chunks->values[i];
            p.ends = search_ends(&p, &x->base->model);
            if (!(x->space->zero & 1U << p.zero))
                continue;
            memory_plan(&memory, &x->base->model, &p);
            if (!(memory.total_B > x->npu->mem_B)) /* true where it is not known */
                return true;
        }
    return false;
}

/* What has not fitted does not with a larger microbatch: as many are in flight, or all samples. */
static bool may_fit(struct flooring *x)
{
    bool *full = &x->full[x->p.seq_parallel][x->p.precision][x->p.recompute];
    *full = *full || !may_fit_somehow(x);
    return !*full;
}

/*
 * m microbatches of the mean stage's work, and where no schedule moves weight gradients into the bubble what
 * of it the most chunks leave, (p - 1)/v: the step's formula (workloads/plan_cost.h) with all maxima over
 * stages replaced by the mean.
 */
static void take_work(struct flooring *x)
{
    const unsigned plain = 1U << PLAN_1F1B | 1U << PLAN_GPIPE;
    const struct model *m = &x->base->model;
    double pp = (double)x->p.degree[PLAN_PP], most = fmax(1, floor((double)(m->layers + 2 + m->mtp) / pp));
    double bubble = x->space->schedule & ~SEARCH_ASKED & ~plain ? 0 : (pp - 1) / most;
    double batches = (double)x->samples / (double)x->p.micro;
    x->least_s = fmin(x->least_s, x->times * plan_work_s(m, &x->p, x->npu) / pp * (batches + bubble));
}

/* The least that is done again of what fits. Of operators that are chosen all are given up, and none is done
 * again. False: nothing fits. */
static bool floor_recomputes(struct flooring *x)
{
    const unsigned asked = x->space->recompute_ops & ~SEARCH_ASKED;
    bool fits = false;
    for (int32_t r = 0; r < N_PLAN_RECOMPUTES; r++) {
        if (!(x->space->recompute & 1U << r))
            continue;
        x->p.recompute = r;
        x->p.recompute_ops = r == PLAN_RECOMPUTE_SELECTIVE ? x->base->plan.recompute_ops : 0;
        if (r == PLAN_RECOMPUTE_SELECTIVE && asked)
            x->p.recompute_ops = asked & plan_model_ops(&x->base->model);
        set_layers_again(&x->p, x->base);
        if (!may_fit(x))
            continue;
        fits = true;
        if (r == PLAN_RECOMPUTE_SELECTIVE && asked) {
            x->p.recompute = PLAN_RECOMPUTE_NONE;
            x->p.recompute_ops = 0;
        }
        take_work(x);
        if (x->p.recompute == PLAN_RECOMPUTE_NONE) /* the others do more */
            break;
    }
    return fits;
}

static bool floor_precisions(struct flooring *x)
{
    bool fits = false;
    if (!x->space->precision)
        return floor_recomputes(x);
    for (x->p.precision = 0; x->p.precision < N_TOPO_PRECISIONS; x->p.precision++)
        if (x->space->precision & 1U << x->p.precision)
            fits = floor_recomputes(x) || fits;
    x->p.precision = x->base->plan.precision;
    return fits;
}

/* What dispatches tokens, and what that runs beside, changes no work and no memory. */
static bool floor_contexts(struct flooring *x)
{
    bool fits = false;
    for (int32_t c = 0; c < N_PLAN_CONTEXTS; c++) {
        if (!(x->space->context & 1U << c))
            continue;
        x->p.context = c;
        fits = floor_precisions(x) || fits;
        if (x->p.degree[PLAN_CP] == 1)
            break;
    }
    return fits;
}

static bool floor_tokens(struct flooring *x)
{
    bool fits = false;
    for (unsigned sp = 0; sp < 2; sp++) {
        if (!(x->space->seq_parallel & 1U << sp))
            continue;
        x->p.seq_parallel = sp;
        fits = floor_contexts(x) || fits;
    }
    return fits;
}

static double least_of_shape(struct flooring *x, struct space_list *micros)
{
    bool fits = true;
    list_values(micros, &x->space->micro, x->samples);
    list_chunks(x->chunks, x->space, &x->p, x->base);
    for (int32_t i = 0; i < micros->n && fits; i++) {
        x->p.micro = micros->values[i];
        if (x->samples % x->p.micro == 0)
            fits = floor_tokens(x);
    }
    return x->least_s;
}

double search_shape_floor_s(const struct search_space *space, const struct training *base,
                            const struct topo_npu *npu, const struct search_shape *shape)
{
    struct space_list *lists = is_alone(base) ? NULL : malloc(2 * sizeof *lists);
    double n_npus = 1;
    if (!lists)
        return 0;
    for (int i = 0; i < N_PLAN_AXES; i++)
        n_npus *= (double)shape->degree[i];
    struct flooring x = { .space = space,
                          .base = base,
                          .npu = npu,
                          .p = search_plan(base, shape),
                          .chunks = &lists[0],
                          .least_s = INFINITY };
    x.times = plan_slowest_times(&base->model, &x.p, n_npus);
    x.samples = x.p.batch / x.p.degree[PLAN_DP];
    double least_s = least_of_shape(&x, &lists[1]);
    free(lists);
    return least_s;
}

/* One microbatch on NPUs that are not split any further. */
static double one_sample_s(const struct search_space *space, const struct training *base,
                           const struct topo_npu *npu, const struct search_shape *shape, int64_t micro)
{
    struct flooring x = { .space = space,
                          .base = base,
                          .npu = npu,
                          .p = search_plan(base, shape),
                          .samples = micro,
                          .times = 1,
                          .least_s = INFINITY };
    x.p.micro = micro;
    floor_tokens(&x);
    return x.least_s / (double)micro;
}

double search_sample_s(const struct search_space *space, const struct training *base,
                       const struct topo_npu *npu, int64_t micro)
{
    struct seeking *lists = malloc(sizeof *lists);
    double least_s = lists ? (double)INFINITY : 0;
    for (int32_t t = 0; t < (lists ? list_degrees(lists, space, base)->tp.n : 0); t++)
        for (int32_t c = 0; c < lists->cp.n; c++)
            for (int32_t i = 0; i < lists->ep.n; i++) {
                int64_t tp = lists->tp.values[t], cp = lists->cp.values[c];
                const struct search_shape shape = {
                    .degree = { [PLAN_TP] = tp, [PLAN_CP] = cp, [PLAN_PP] = 1, [PLAN_DP] = 1 },
                    .ep = lists->ep.values[i]
                };
                double one_s = one_sample_s(space, base, npu, &shape, micro);
                least_s = fmin(least_s, (double)(tp * cp) * one_s);
            }
    free(lists);
    return least_s;
}

double search_work_s(const struct search_space *space, const struct training *base,
                     double (*sample_s)(void *with, int64_t micro), void *with)
{
    struct space_list *micros = is_alone(base) ? NULL : malloc(sizeof *micros);
    double least_s = INFINITY;
    if (!micros)
        return 0;
    list_values(micros, &space->micro, base->plan.batch);
    for (int32_t i = 0; i < micros->n; i++)
        if (base->plan.batch % micros->values[i] == 0)
            least_s = fmin(least_s, (double)base->plan.batch * sample_s(with, micros->values[i]));
    free(micros);
    return least_s;
}

/* ---- places ---- */

int32_t search_place_at(const struct search_places *places, const struct plan_place *place)
{
    for (int32_t i = 0; i < places->n; i++)
        if (memcmp(places->places[i].axis, place->axis, sizeof place->axis) == 0 &&
            memcmp(places->places[i].stride, place->stride, sizeof place->stride) == 0)
            return i;
    return -1;
}

static void try_order(struct search_places *out, struct plan *p, const struct training *base,
                      const struct topo_network *net)
{
    struct plan_place place;
    struct plan_fault fault = { .brief = true };
    if (plan_map(&place, p, net, NULL)) {
        out->left_out.n_unmapped++;
        return;
    }
    /* node_limit has every plan dispatch merged, so that the place alone decides. */
    if (p->node_limit && !plan_check_place(&place, p, &base->model, net, &fault)) {
        search_refuse(&out->left_out.refused, fault.key, 1);
        return;
    }
    if (search_place_at(out, &place) >= 0) {
        out->left_out.n_repeated++;
        return;
    }
    memcpy(out->order[out->n], p->order, sizeof p->order);
    out->places[out->n++] = place;
}

/* Permutations in the order of their words, but the base's own, which came first. */
static void permute(struct search_places *out, struct plan *p, int at, unsigned used,
                    const struct training *base, const struct topo_network *net)
{
    if (at == N_PLAN_AXES) {
        if (memcmp(p->order, base->plan.order, sizeof p->order) != 0)
            try_order(out, p, base, net);
        return;
    }
    for (int axis = 0; axis < N_PLAN_AXES; axis++) {
        if (used & 1U << axis)
            continue;
        p->order[at] = (enum plan_axis)axis;
        permute(out, p, at + 1, used | 1U << axis, base, net);
    }
}

void search_find_places(struct search_places *out, const struct search_space *space,
                        const struct search_shape *shape, const struct training *base,
                        const struct topo_network *net)
{
    struct plan p = search_plan(base, shape);
    out->n = 0;
    out->left_out = (struct search_left_out){ 0 };
    try_order(out, &p, base, net);
    if (space->any_order)
        permute(out, &p, 0, 0, base, net);
    for (int32_t i = 0; i < out->n; i++)
        plan_merge(&out->places[i], &p, &base->model, net);
}

/* ---- plans of a shape ---- */

struct search_choice search_choice_of(const struct plan *p)
{
    return (struct search_choice){ .micro = p->micro,
                                   .interleave = (int32_t)p->interleave,
                                   .recompute_ops = p->recompute_ops,
                                   .seq_parallel = p->seq_parallel,
                                   .context = (unsigned)p->context & 15,
                                   .dispatcher = (unsigned)p->dispatcher & 15,
                                   .ep_overlap = (unsigned)p->ep_overlap & 15,
                                   .schedule = (unsigned)p->schedule & 15,
                                   .precision = (unsigned)p->precision & 15,
                                   .recompute = (unsigned)p->recompute & 15,
                                   .zero = (unsigned)p->zero & 15 };
}

struct plan search_choice_plan(const struct search_choice *c, const struct search_shape *shape,
                               const struct training *base)
{
    struct plan p = search_plan(base, shape);
    p.micro = c->micro;
    p.interleave = c->interleave;
    p.recompute_ops = c->recompute_ops;
    p.seq_parallel = c->seq_parallel;
    p.context = c->context;
    p.dispatcher = c->dispatcher;
    p.ep_overlap = c->ep_overlap;
    p.schedule = c->schedule;
    p.precision = c->precision;
    p.recompute = c->recompute;
    p.zero = c->zero;
    set_gather(&p, base);
    set_layers_again(&p, base);
    p.ends = search_ends(&p, &base->model);
    return p;
}

struct walking {
    const struct search_space *space;
    const struct training *base;
    bool ideal; /* a graph of its own has no nodes that copies could be merged for */
    search_visit visit;
    void *with;
    struct search_left_out *out;
    int64_t n_places;
    struct space_list micros, chunks;
};

static void leave_out_plans(const struct walking *x, const char *key, int64_t n)
{
    search_refuse(&x->out->refused, key, n * x->n_places);
}

static void repeat_plan(const struct walking *x)
{
    x->out->n_repeated += x->n_places;
}

/* What was left to the search (not asked for) is the first of the words alone, where no other is legal. */
static unsigned legal_of(unsigned mask, bool any)
{
    return any || mask & SEARCH_ASKED ? mask : 1;
}

/* Every choice of the operators that may be done again, fewest first; none is no recomputation. */
static void walk_ops(const struct walking *x, struct plan *p, unsigned ops)
{
    for (p->recompute_ops = (0 - ops) & ops; p->recompute_ops;
         p->recompute_ops = (p->recompute_ops - ops) & ops)
        x->visit(x->with, p);
}

/* With operators that the model lacks there is no choice. */
static void visit_plan(const struct walking *x, struct plan *p)
{
    unsigned asked = x->space->recompute_ops & ~SEARCH_ASKED, ops = asked & plan_model_ops(&x->base->model);
    if (p->recompute != PLAN_RECOMPUTE_SELECTIVE || !asked) {
        x->visit(x->with, p);
        return;
    }
    walk_ops(x, p, ops);
    if (ops != asked)
        leave_out_plans(x, "recompute_ops",
                        (1 << __builtin_popcount(asked)) - (1 << __builtin_popcount(ops)));
}

static void walk_zeros(const struct walking *x, struct plan *p)
{
    const struct model *m = &x->base->model;
    bool idle = plan_zero_is_idle(p, m), tried = false;
    for (int32_t z = 0; z < 4; z++) {
        struct plan_fault fault = { .brief = true };
        if (!(x->space->zero & 1U << z))
            continue;
        p->zero = z;
        set_gather(p, x->base);
        if (!plan_check_memory(p, m, &fault)) {
            leave_out_plans(x, fault.key, 1);
        } else if (idle && tried) {
            repeat_plan(x);
        } else {
            tried = true;
            visit_plan(x, p);
        }
    }
    p->gather_bits = x->base->plan.gather_bits;
}

/* Fused attention keeps nothing but a sum per row of the scores, so that selective recomputation without
 * operators is none. */
static void walk_recomputes(const struct walking *x, struct plan *p)
{
    const unsigned recomputes = legal_of(x->space->recompute, !is_alone(x->base)),
                   ops = x->base->plan.recompute_ops;
    bool idle = plan_is_fused(p, &x->base->model) && !ops && !x->space->recompute_ops &&
                recomputes & 1U << PLAN_RECOMPUTE_NONE && !is_alone(x->base);
    for (int32_t r = 0; r < N_PLAN_RECOMPUTES; r++) {
        if (!(recomputes & 1U << r))
            continue;
        p->recompute = r;
        p->recompute_ops = r == PLAN_RECOMPUTE_SELECTIVE ? ops : 0;
        set_layers_again(p, x->base);
        if (r == PLAN_RECOMPUTE_SELECTIVE && idle)
            repeat_plan(x);
        else
            walk_zeros(x, p);
    }
    p->recompute_ops = ops;
}

/* Precisions that were asked for, else the plan's. */
static void walk_precisions(const struct walking *x, struct plan *p)
{
    int32_t own = p->precision;
    if (!x->space->precision)
        walk_recomputes(x, p);
    for (p->precision = 0; p->precision < N_TOPO_PRECISIONS; p->precision++)
        if (x->space->precision & 1U << p->precision)
            walk_recomputes(x, p);
    p->precision = own;
}

static void walk_legal(const struct walking *x, struct plan *p)
{
    struct plan_fault fault = { .brief = true };
    if (work_stopped())
        return;
    if (plan_check_options(p, &x->base->model, &fault))
        walk_precisions(x, p);
    else
        leave_out_plans(x, fault.key, 1);
}

/* Chunks of one schedule. Nobody asked for chunks: those of 1F1B are all that are legal. */
static void walk_chunks(const struct walking *x, struct plan *p)
{
    const struct space_list *chunks = &x->chunks;
    bool one = p->schedule != PLAN_1F1B && !x->space->interleave.n;
    for (int32_t i = 0; i < (one ? 1 : chunks->n); i++) {
        p->interleave = one ? listed_chunks(p) : chunks->values[i];
        p->ends = search_ends(p, &x->base->model);
        walk_legal(x, p);
    }
}

/* One stage has nothing to schedule; GPipe keeps more microbatches there, to no end. */
static void walk_schedules(const struct walking *x, struct plan *p)
{
    bool idle = p->degree[PLAN_PP] == 1 && x->space->schedule & 1U << PLAN_1F1B;
    for (int32_t s = 0; s < N_PLAN_SCHEDULES; s++) {
        p->schedule = s;
        if (!(x->space->schedule & 1U << s))
            continue;
        if (s == PLAN_GPIPE && idle)
            repeat_plan(x);
        else
            walk_chunks(x, p);
    }
    p->schedule = PLAN_1F1B;
}

/* Ways to dispatch tokens, and what that runs beside. */
static void walk_dispatch(const struct walking *x, struct plan *p)
{
    const unsigned dispatchers = legal_of(x->space->dispatcher, p->ep > 1 && !x->ideal),
                   overlaps = legal_of(x->space->ep_overlap, p->ep > 1);
    for (int32_t d = 0; d < N_PLAN_DISPATCHERS; d++) {
        if (!(dispatchers & 1U << d))
            continue;
        if (d == PLAN_MERGED && x->ideal) {
            leave_out_plans(x, "dispatcher", 1);
            continue;
        }
        p->dispatcher = d;
        for (int32_t o = 0; o < N_PLAN_EP_OVERLAPS; o++)
            if (overlaps & 1U << o) {
                p->ep_overlap = o;
                walk_schedules(x, p);
            }
    }
}

/* Ways to split a sequence over cp; without it the first stands for all. */
static void walk_contexts(const struct walking *x, struct plan *p)
{
    bool tried = false;
    for (int32_t c = 0; c < N_PLAN_CONTEXTS; c++) {
        if (!(x->space->context & 1U << c))
            continue;
        p->context = c;
        if (tried && p->degree[PLAN_CP] == 1)
            repeat_plan(x);
        else
            walk_dispatch(x, p);
        tried = true;
    }
}

static void walk_tokens(const struct walking *x, struct plan *p)
{
    bool tried = false;
    for (unsigned sp = 0; sp < 2; sp++) {
        if (!(x->space->seq_parallel & 1U << sp))
            continue;
        p->seq_parallel = sp;
        if (tried && p->degree[PLAN_TP] == 1)
            repeat_plan(x);
        else
            walk_contexts(x, p);
        tried = true;
    }
}

int search_walk(struct search_left_out *out, const struct search_space *space, const struct training *base,
                bool ideal, const struct search_shape *shape, int64_t n_places, search_visit visit,
                void *with, struct err *e)
{
    struct walking *x = calloc(1, sizeof *x);
    struct plan p = search_plan(base, shape);
    int64_t samples = p.batch / p.degree[PLAN_DP];
    if (!x)
        return err_nomem(e, "a search");
    *x = (struct walking){ .space = space,
                           .base = base,
                           .ideal = ideal,
                           .visit = visit,
                           .with = with,
                           .out = out,
                           .n_places = n_places };
    list_values(&x->micros, &space->micro, samples);
    list_chunks(&x->chunks, space, &p, base);
    for (int32_t i = 0; i < x->micros.n; i++) {
        p.micro = x->micros.values[i];
        if (samples % p.micro == 0)
            walk_tokens(x, &p);
        else
            search_refuse(&out->refused, "micro_batch", 1);
    }
    free(x);
    return 0;
}
