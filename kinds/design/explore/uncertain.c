/*
 * Percentiles of time, cost and ownership of a design under numbers that are not known for sure.
 *
 * The split stays as it was solved. Each draw gives every uncertain key a value (struct uncertain_trial), and
 * time, cost and the sums of `system` are looked up again; draws depend on seed and path of a key alone, so
 * that two designs meet the same futures. Before any draw each key is held at both ends of what can be drawn.
 */
#include "kinds/design/explore/uncertain.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rng.h"
#include "base/stat.h"
#include "base/work.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"
#include "workloads/ideal.h"

/** Opaque: own copies of document, prices, network and workloads. */
struct uncertain_trial;

static void uncertain_trial_free(struct uncertain_trial *t); /**< NULL is fine */

/*
 * The document of the study is copied once, and what is drawn is written into the copy's nodes. Then what
 * these nodes are about is read again from the document, no file is: prices, or network and simulation, or
 * workloads, or `system`. All else is the study's own, the bill too where neither prices nor network are
 * drawn: keys of `system` alone cost its sums.
 */

/* Where a workload's expression comes from. */
enum source {
    OF_STUDY, /* its own */
    SCALED,   /* its own, with other bytes: `traffic`, also of a trace in a file */
    READ,     /* read again */
};

struct uncertain_trial {
    const struct uncertain *u;
    const struct design_point *nominal;
    struct design_point s;          /* doc, parts and workloads are owned where they are read again */
    yaml_id at[UNCERTAIN_MAX_KEYS]; /* nodes of the keys */
    char text[UNCERTAIN_MAX_KEYS][NUM_TEXT]; /* what they hold */
    double value[UNCERTAIN_MAX_KEYS];        /* the study's own */
    bool parts, net, own;                    /* are read again; own: `system` */
    struct design d;                         /* the design as it is drawn; its bill is owned if own_bill */
    bool own_bill;
    enum source *source; /* shape [n_workloads], owned */
    double time_s;       /* at the study's own values; NaN = not asked yet */
};

/* ---- keys ---- */

static bool begins(const char *path, const char *word)
{
    size_t n = strlen(word);
    return strncmp(path, word, n) == 0 && (path[n] == '.' || path[n] == '[' || !path[n]);
}

static bool is_price(const char *path)
{
    return begins(path, "parts") || begins(path, "network.parts");
}

/* What is to be designed cannot be uncertain: bandwidths, sizes, weights. */
static int uncertain_check_path(const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    static const char *const first[] = {
        "parts", "network", "workload", "workloads", "simulation", "system"
    };
    static const char *const fixed[] = { "bw_GBps", "min_GBps", "max_GBps", "size", "weight" };
    const char *path = doc->nodes[id].key, *last = strrchr(path, '.');
    bool known = false;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        known = known || (last && begins(path, first[i]));
    if (!known)
        return yaml_fail_key(doc, id, e, ERR_PARSE,
                             "cannot be uncertain, expected a key below parts, network, workload, workloads, "
                             "simulation or system");
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(last + 1, fixed[i]) == 0)
            return yaml_fail_key(doc, id, e, ERR_PARSE,
                                 "cannot be uncertain: it says what is to be designed; choose another key");
    return 0;
}

/* The distribution of a key, where the study says it. */
static yaml_id node_of(const struct design_point *s, const char *path)
{
    yaml_id map = yaml_get(&s->doc, s->doc.root, "uncertain");
    yaml_id id = yaml_get(&s->doc, yaml_get(&s->doc, map, "keys"), path);
    return id >= 0 ? id : s->doc.root;
}

/* How many standard deviations are drawn at most: 6 of 100,000 lie beyond. */
#define MOST_SD 4.0

/* median * factor^z */
static double lognormal_at(const struct uncertain_key *k, double z)
{
    double x = z * elementary_log(k->x[1]);
    elementary_exp(&x, 1);
    return k->x[0] * x;
}

/* The least and the greatest that can be drawn. */
static void uncertain_ends(double ends[2], const struct uncertain_key *k)
{
    ends[0] = k->x[0];
    ends[1] = k->kind == UNCERTAIN_TRIANGULAR ? k->x[2] : k->x[1];
    if (k->kind == UNCERTAIN_NORMAL) {
        ends[0] = k->x[0] - MOST_SD * k->x[1];
        ends[1] = k->x[0] + MOST_SD * k->x[1];
    }
    for (int i = 0; i < 2 && k->kind == UNCERTAIN_LOGNORMAL; i++)
        ends[i] = lognormal_at(k, i ? MOST_SD : -MOST_SD);
}

/* The key's node in the copy, made where the study leaves the key out, and its value. */
static int find_key(struct uncertain_trial *t, int32_t k, struct err *e)
{
    const struct uncertain_key *key = &t->u->keys[k];
    struct yaml_doc *doc = &t->s.doc;
    char shown[YAML_SHOWN];
    double ends[2];
    yaml_id id = yaml_find(doc, key->path);
    t->value[k] = NAN;
    if (id < 0 && key->relative)
        return yaml_fail_key(&t->nominal->doc, node_of(t->nominal, key->path), e, ERR_RANGE,
                             "is relative to a key that is not given; give it in the study");
    if (id < 0) {
        /* Between the ends, so that other keys are tried with what this one can be. */
        uncertain_ends(ends, key);
        int rc = yaml_set(doc, key->path, num_format(t->text[k], (ends[0] + ends[1]) / 2), e);
        if (rc)
            return rc;
        id = yaml_find(doc, key->path);
    }
    /* A price may be { low, typ, high }: what is drawn takes the place of all three. */
    yaml_id typ = yaml_get(doc, id, "typ"), number = typ >= 0 ? typ : id;
    t->at[k] = id;
    if (doc->nodes[number].kind == YAML_SCALAR && num_parse_real(doc->nodes[number].text, &t->value[k]))
        return 0;
    return yaml_fail_key(&t->nominal->doc, node_of(t->nominal, key->path), e, ERR_RANGE,
                         "is %s in the study, expected a number there", yaml_show(doc, number, shown));
}

static void trial_put(struct uncertain_trial *t, int32_t k, double drawn)
{
    struct yaml_node *node = &t->s.doc.nodes[t->at[k]];
    node->text = num_format(t->text[k], t->u->keys[k].relative ? drawn * t->value[k] : drawn);
    node->kind = YAML_SCALAR;
    node->quoted = false;
    node->first = node->last = -1;
    node->n = 0;
}

/* ---- what is read again ---- */

static yaml_id workload_node(const struct design_point *s, int32_t i)
{
    yaml_id root = s->doc.root, list = yaml_get(&s->doc, root, "workloads");
    if (list < 0)
        return yaml_get(&s->doc, root, "workload");
    yaml_each (id, &s->doc, list)
        if (s->doc.nodes[id].index == i)
            return yaml_get(&s->doc, id, "workload");
    return -1;
}

static bool uncertain_is_below(const struct yaml_doc *doc, yaml_id id, yaml_id above)
{
    while (id >= 0 && id != above)
        id = doc->nodes[id].parent;
    return id >= 0;
}

/* How a workload follows the draws: as it is, scaled by its traffic, or read again. */
static enum source source_of(const struct uncertain_trial *t, int32_t i)
{
    yaml_id node = workload_node(&t->s, i);
    bool training = t->nominal->workloads[i].training;
    enum source source = training && t->net ? READ : OF_STUDY;
    for (int32_t k = 0; k < t->u->n_keys; k++) {
        if (!uncertain_is_below(&t->s.doc, t->at[k], node))
            continue;
        bool traffic =
            strcmp(t->s.doc.nodes[t->at[k]].key ? t->s.doc.nodes[t->at[k]].key : "", "traffic") == 0;
        if (!traffic || training)
            source = READ;
        else if (source == OF_STUDY)
            source = SCALED;
    }
    return source;
}

/* A plan that was searched stays; only its costs are derived again. */
static int read_training(struct design_workload *w, const struct design_workload *nominal,
                         const struct design_point *s, yaml_id node, struct err *e)
{
    if (!w->training)
        w->training = malloc(sizeof *w->training);
    if (!w->training)
        return err_nomem(e, "a workload");
    int rc = step_read_training(w->training, &s->doc, node, &s->net, e);
    if (!rc && design_point_is_searched(nominal)) {
        double traffic = w->training->plan.traffic;
        w->training->plan = nominal->training->plan;
        w->training->plan.traffic = traffic;
        rc = training_derive(w->training, &s->net, e);
    }
    return rc ? rc : training_build(&w->tree, w->training, &s->net, e);
}

/* The study's expression with bytes times what `traffic` is more than there; groups are shared. */
static int scale_tree(struct design_workload *w, const struct design_workload *nominal,
                      const struct design_point *s, const struct design_point *own, yaml_id node,
                      struct err *e)
{
    double now = 1, was = 1;
    yaml_id traffic = yaml_get(&own->doc, node, "traffic");
    int rc = yaml_real(&s->doc, yaml_get(&s->doc, node, "traffic"), &now, e);
    if (!rc && traffic >= 0)
        rc = yaml_real(&own->doc, traffic, &was, e);
    if (!rc && !(now >= 0 && was > 0))
        rc = err_set(e, ERR_RANGE, "traffic is %g, expected >= 0, and more than 0 in the study", now);
    if (rc)
        return rc;
    if (!w->tree.nodes) {
        w->tree = nominal->tree;
        w->tree.nodes = malloc((size_t)nominal->tree.n_nodes * sizeof *w->tree.nodes);
        if (!w->tree.nodes)
            return err_nomem(e, "a workload");
        memcpy(w->tree.nodes, nominal->tree.nodes, (size_t)w->tree.n_nodes * sizeof *w->tree.nodes);
    }
    for (step_id id = 0; id < w->tree.n_nodes; id++)
        w->tree.nodes[id].bytes = nominal->tree.nodes[id].bytes * (now / was);
    return 0;
}

/* Only what a draw can change is done again for each draw. */
static int read_workload(struct uncertain_trial *t, int32_t i, struct err *e)
{
    const struct design_workload *nominal = &t->nominal->workloads[i];
    struct design_workload *w = &t->s.workloads[i];
    yaml_id node = workload_node(&t->s, i);
    int rc = 0;
    if (t->source[i] == READ) {
        step_free(&w->tree);
        rc = nominal->training ? read_training(w, nominal, &t->s, node, e)
                               : step_read(&w->tree, &t->s.doc, node, &t->s.net, e);
    } else if (t->source[i] == SCALED) {
        rc = scale_tree(w, nominal, &t->s, t->nominal, node, e);
    }
    /* Efficiencies of the network are in the compiled step. On a graph times are looked up, as in other
     * models.
     */
    if (rc || t->s.model != SIM_BANDWIDTH || t->s.ideal || (t->source[i] == OF_STUDY && !t->net))
        return rc;
    step_fn_free(&w->fn);
    return step_compile(&w->fn, &w->tree, &t->s.net, e);
}

static int read_again(struct uncertain_trial *t, struct err *e)
{
    int rc = t->net ? design_point_read_network(&t->s, e) : 0;
    if (!rc && t->parts)
        rc = design_point_read_parts(&t->s, e);
    else if (!rc && t->net)
        rc = design_point_price_network(&t->s, e);
    for (int32_t i = 0; i < t->s.n_workloads && !rc; i++)
        rc = read_workload(t, i, e);
    return rc || !t->own ? rc : system_read(&t->s, e);
}

/* ---- a trial ---- */

/* All that is not read again is shared with the study. */
static int share_study(struct uncertain_trial *t, const struct design_point *s, struct err *e)
{
    t->s = *s;
    t->s.workloads = NULL;
    t->s.n_workloads = 0;
    t->s.doc = (struct yaml_doc){ .root = -1 };
    t->s.notes = (struct text){ 0 };
    int rc = yaml_copy(&t->s.doc, &s->doc, e);
    if (rc)
        return rc;
    t->s.workloads = calloc((size_t)s->n_workloads, sizeof *t->s.workloads);
    t->source = calloc((size_t)s->n_workloads, sizeof *t->source);
    if (!t->s.workloads || !t->source)
        return err_nomem(e, "workloads");
    t->s.n_workloads = s->n_workloads;
    for (int32_t i = 0; i < s->n_workloads; i++)
        t->s.workloads[i].weight = s->workloads[i].weight;
    return 0;
}

/* What is read again is the trial's own. Maps are looked up in the copy: a key that the study leaves out was
 * put there. */
static void own_what_is_read(struct uncertain_trial *t)
{
    struct design_point *s = &t->s;
    s->maps.network = yaml_get(&s->doc, s->doc.root, "network");
    s->maps.simulation = yaml_get(&s->doc, s->doc.root, "simulation");
    s->maps.parts = yaml_get(&s->doc, s->doc.root, "parts");
    if (t->parts)
        s->parts = (struct topo_parts){ 0 };
    if (t->net) {
        sim_rules_default(&s->rules);
        s->ideal = NULL;
    }
}

/* Which parts of the study the keys touch: prices, network, workloads. */
static int find_keys(struct uncertain_trial *t, struct err *e)
{
    int rc = 0;
    for (int32_t k = 0; k < t->u->n_keys && !rc; k++) {
        const char *path = t->u->keys[k].path;
        rc = find_key(t, k, e);
        t->parts = t->parts || is_price(path);
        t->net = t->net || (!is_price(path) && (begins(path, "network") || begins(path, "simulation")));
        t->own = t->own || begins(path, "system");
        if (!rc && begins(path, "system") && !t->s.has_system)
            rc = yaml_fail_key(&t->nominal->doc, node_of(t->nominal, path), e, ERR_RANGE,
                               "is a key of system; give system");
    }
    /* Prices and power of the network's NPU are defaults there. */
    t->own = t->own || (t->net && t->s.has_system);
    if (!rc && t->parts && !t->s.has_parts)
        rc = err_set(e, ERR_RANGE, "uncertain.keys has prices; give parts");
    own_what_is_read(t);
    for (int32_t i = 0; i < t->s.n_workloads && !rc; i++) {
        struct design_workload *w = &t->s.workloads[i];
        t->source[i] = source_of(t, i);
        if (t->source[i] == OF_STUDY) {
            w->training = t->nominal->workloads[i].training;
            w->tree = t->nominal->workloads[i].tree;
            if (!t->net)
                w->fn = t->nominal->workloads[i].fn;
        }
    }
    return rc;
}

/* Is the study a study at both ends of each distribution, and where it need not be a whole number between
 * them, all other keys as they are? */
static int try_ends(struct uncertain_trial *t, struct err *e)
{
    char place[400];
    int rc = 0;
    for (int32_t k = 0; k < t->u->n_keys && !rc; k++) {
        double ends[3];
        struct yaml_node before = t->s.doc.nodes[t->at[k]];
        uncertain_ends(ends, &t->u->keys[k]);
        ends[2] = ends[0] + 0.375 * (ends[1] - ends[0]);
        for (int i = 0; i < 3 && !rc; i++) {
            trial_put(t, k, ends[i]);
            rc = read_again(t, e);
        }
        if (rc && rc != ERR_NOMEM)
            err_wrap(e, "%s: uncertain.keys.%s can be %s",
                     yaml_key_place(&t->nominal->doc, node_of(t->nominal, t->u->keys[k].path), place,
                                    sizeof place),
                     t->u->keys[k].path, t->text[k]);
        t->s.doc.nodes[t->at[k]] = before;
    }
    return rc;
}

/* The bill that all draws share; where the network cannot be bought each of them finds that out. */
static void share_bill(struct uncertain_trial *t)
{
    struct err ignored;
    if (t->parts || t->net) {
        t->d.has_bill = false;
    } else if (t->s.has_system && t->s.has_parts && !t->d.has_bill) {
        t->own_bill = !topo_build_bill(&t->d.bill, &t->s.net, &t->s.parts, t->d.bw_Bps, &ignored);
        t->d.has_bill = t->own_bill;
    }
}

/* Shares everything with the nominal study that no draw can change. */
static int uncertain_trial_build(struct uncertain_trial **out, const struct uncertain *u,
                                 const struct design *d, struct err *e)
{
    const struct design_point *s = d->chosen.point;
    struct uncertain_trial *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return err_nomem(e, "draws");
    t->u = u;
    t->nominal = s;
    t->d = *d;
    t->time_s = u->n_keys ? (double)NAN : d->time_s;
    int rc = share_study(t, s, e);
    if (!rc)
        rc = find_keys(t, e);
    if (!rc)
        rc = try_ends(t, e);
    if (rc) {
        uncertain_trial_free(t);
        return rc;
    }
    share_bill(t);
    *out = t;
    return 0;
}

static int put_system(double *values, int64_t stride, const struct uncertain_trial *t, struct err *e)
{
    struct system_row row;
    const struct column *c;
    int rc = system_row_fill(&row, &t->s, design_owned(&t->d), e);
    for (int32_t i = 0; !rc && (c = system_quantity(i)); i++)
        values[i * stride] = column_cell(c, &row, 0).real;
    return rc;
}

/* One draw: put the values in, read again what they touch, and evaluate the design at its own bandwidths. */
static int uncertain_trial_run(double *values, int64_t stride, struct uncertain_trial *t, const double *drawn,
                               double factor, struct err *e)
{
    bool timed = t->net;
    for (int32_t k = 0; k < t->u->n_keys; k++)
        trial_put(t, k, drawn[k]);
    int rc = read_again(t, e);
    for (int32_t i = 0; i < t->s.n_workloads; i++)
        timed = timed || t->source[i] != OF_STUDY;
    if (rc)
        return err_wrap(e, "a draw of uncertain");
    if (timed || isnan(t->time_s))
        rc = design_time(&t->time_s, &t->s, t->d.bw_Bps, e);
    t->d.time_s = t->time_s * factor;
    values[0] = t->d.time_s;
    values[stride] = design_point_usd(&t->s, t->d.bw_Bps, NULL);
    return rc || !t->u->of_system ? rc : put_system(values + 2 * stride, stride, t, e);
}

static void free_workload(struct uncertain_trial *t, int32_t i)
{
    struct design_workload *w = &t->s.workloads[i];
    if (t->source[i] == READ) {
        step_free(&w->tree);
        free(w->training);
    }
    if (t->source[i] == SCALED)
        free(w->tree.nodes);
    if (t->source[i] != OF_STUDY || t->net)
        step_fn_free(&w->fn);
}

/* Frees only what the trial owns. */
static void uncertain_trial_free(struct uncertain_trial *t)
{
    if (!t)
        return;
    for (int32_t i = 0; i < t->s.n_workloads; i++)
        free_workload(t, i);
    if (t->net) {
        ideal_free(t->s.ideal);
        sim_rules_free(&t->s.rules);
    }
    if (t->parts)
        topo_parts_free(&t->s.parts);
    if (t->own_bill)
        topo_bill_free(&t->d.bill);
    yaml_free(&t->s.doc);
    free(t->s.workloads);
    free(t->source);
    free(t);
}

/* ---- keys ---- */

static const struct key keys[] = {
    K_COUNT(struct uncertain, draws, "draws", 1, UNCERTAIN_MAX_DRAWS, 1000,
            "number of draws of all keys; every point gets the same draws"),
    K_COUNT(struct uncertain, seed, "seed", 0, 9e18, SCHEMA_NONE, "seed of the draws (default: the study's)"),
    K_ELSEWHERE(
        "percentiles",
        "ascending list of percentiles that rows show, of time, cost and the numbers of system (default: "
        "[10, 50, 90])",
        .form = "list of numbers"),
    K_ELSEWHERE(
        "keys",
        "KEY: a distribution; a KEY is a path as in --set, of prices, network, workload, simulation or "
        "system",
        .form = "map of <uncertain.keys>"),
    K_BOOL(struct uncertain, model, "model", false,
           "true: draw the error of the model too, as wide as on measured steps of the same NPU, software "
           "and kind of model; `uncertain: model` draws that alone"),
};

/* The distributions first, in the order of enum uncertain_kind. */
static const struct key key_keys[] = {
    K_ELSEWHERE("normal", "[mean, standard deviation]; cut at 4 standard deviations",
                .form = "list of numbers"),
    K_ELSEWHERE("uniform", "[lowest, highest]", .form = "list of numbers"),
    K_ELSEWHERE("lognormal",
                "[median, factor]: two in three are within the factor of the median; cut at its 4th power",
                .form = "list of numbers"),
    K_ELSEWHERE("triangular", "[lowest, typical, highest]", .form = "list of numbers"),
    K_BOOL(struct uncertain_key, relative, "relative", 0,
           "true: the number drawn multiplies the value of the study"),
};

K_SECTION(uncertain_section, struct uncertain, "uncertain", keys,
          "uncertain numbers, and the percentiles to report");
K_SECTION(uncertain_key_section, struct uncertain_key, "uncertain.keys", key_keys, "one distribution");

/* ---- reading ---- */

static int read_numbers(double *out, int32_t least, int32_t most, int32_t *n, const struct yaml_doc *doc,
                        yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    *n = doc->nodes[list].n;
    if (*n < least || *n > most)
        return yaml_fail(doc, list, e, ERR_PARSE, "has %d numbers, expected %d%s%.0d", (int)*n, (int)least,
                         most > least ? " to " : "", most > least ? (int)most : 0);
    yaml_each (id, doc, list)
        if (!rc)
            rc = yaml_real(doc, id, out++, e);
    return rc;
}

/* 10, 50 and 90 by default. */
static int read_percentiles(struct uncertain *u, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    static const double usual[] = { 10, 50, 90 };
    u->n_percentiles = 3;
    memcpy(u->percentiles, usual, sizeof usual);
    if (list < 0)
        return 0;
    int rc = read_numbers(u->percentiles, 1, UNCERTAIN_MAX_PERCENTILES, &u->n_percentiles, doc, list, e);
    for (int32_t i = 0; i < u->n_percentiles && !rc; i++)
        if (!(u->percentiles[i] >= 0 && u->percentiles[i] <= 100) ||
            (i && !(u->percentiles[i] > u->percentiles[i - 1])))
            rc = yaml_fail(doc, list, e, ERR_RANGE,
                           "has %g as number %d, expected 0 to 100 in ascending order", u->percentiles[i],
                           (int)i + 1);
    return rc;
}

/* Which values a distribution may have. */
static int check_values(const struct uncertain_key *k, const struct yaml_doc *doc, yaml_id list,
                        struct err *e)
{
    const double *x = k->x;
    if (k->kind == UNCERTAIN_NORMAL && !(x[1] >= 0))
        return yaml_fail(doc, list, e, ERR_RANGE, "has standard deviation %g, expected >= 0", x[1]);
    if (k->kind == UNCERTAIN_UNIFORM && !(x[0] <= x[1]))
        return yaml_fail(doc, list, e, ERR_RANGE, "is %g to %g, expected lowest <= highest", x[0], x[1]);
    if (k->kind == UNCERTAIN_LOGNORMAL && !(x[0] > 0 && x[1] >= 1 && x[1] <= 1000))
        return yaml_fail(doc, list, e, ERR_RANGE, "is median %g, factor %g, expected > 0 and 1 to 1000", x[0],
                         x[1]);
    if (k->kind == UNCERTAIN_TRIANGULAR && !(x[0] <= x[1] && x[1] <= x[2]))
        return yaml_fail(doc, list, e, ERR_RANGE, "is %g, %g, %g, expected lowest <= typical <= highest",
                         x[0], x[1], x[2]);
    return 0;
}

/* A key with exactly one distribution. */
static int read_key(struct uncertain *u, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    yaml_id list = -1;
    int32_t given = 0, n;
    if (u->n_keys == UNCERTAIN_MAX_KEYS)
        return yaml_fail_key(doc, id, e, ERR_RANGE, "is key number %d, expected at most %d",
                             UNCERTAIN_MAX_KEYS + 1, UNCERTAIN_MAX_KEYS);
    struct uncertain_key *k = &u->keys[u->n_keys];
    int rc = schema_read(k, &uncertain_key_section, doc, id, e);
    if (rc)
        return rc;
    for (int kind = 0; kind <= UNCERTAIN_TRIANGULAR; kind++) {
        yaml_id at = yaml_get(doc, id, key_keys[kind].name);
        if (at < 0)
            continue;
        k->kind = (enum uncertain_kind)kind;
        list = at;
        given++;
    }
    if (given != 1)
        return yaml_fail(doc, id, e, ERR_PARSE,
                         "has %d distributions, expected one of normal, uniform, lognormal, triangular",
                         (int)given);
    int32_t need = k->kind == UNCERTAIN_TRIANGULAR ? 3 : 2;
    rc = read_numbers(k->x, need, need, &n, doc, list, e);
    if (!rc)
        rc = check_values(k, doc, list, e);
    if (!rc)
        rc = uncertain_check_path(doc, id, e);
    if (rc)
        return rc;
    k->path = strdup(doc->nodes[id].key);
    if (!k->path)
        return err_nomem(e, "what is uncertain");
    u->n_keys++;
    return 0;
}

/* ---- draws ---- */

static double draw_normal(struct rng *r)
{
    double z;
    do
        z = rng_normal(r);
    while (fabs(z) > MOST_SD);
    return z;
}

/* The inverse of the distribution function: a parabola up to the typical value, another one from there. */
static double triangular_at(const double x[3], double share)
{
    double width = x[2] - x[0], up = x[1] - x[0];
    if (!(width > 0))
        return x[0];
    if (share * width < up)
        return x[0] + sqrt(share * width * up);
    return x[2] - sqrt((1 - share) * width * (x[2] - x[1]));
}

static double uncertain_draw(const struct uncertain_key *k, struct rng *r)
{
    switch (k->kind) {
    case UNCERTAIN_NORMAL:
        return k->x[0] + k->x[1] * draw_normal(r);
    case UNCERTAIN_UNIFORM:
        return rng_range(r, k->x[0], k->x[1]);
    case UNCERTAIN_LOGNORMAL:
        return lognormal_at(k, draw_normal(r));
    default:
        return triangular_at(k->x, rng_uniform(r));
    }
}

bool uncertain_low_high(double x[2], const struct uncertain_key *k)
{
    const double z = 1.2815515655446004; /* of the 90th percentile */
    bool normal = k->kind == UNCERTAIN_NORMAL, lognormal = k->kind == UNCERTAIN_LOGNORMAL;
    uncertain_ends(x, k);
    for (int i = 0; i < 2; i++) {
        double at = i ? z : -z;
        if (normal || lognormal)
            x[i] = normal ? k->x[0] + at * k->x[1] : lognormal_at(k, at);
    }
    return !normal && !lognormal;
}

/* Each key from a stream of its own, by its path: a key more changes none of the others' draws. */
static int draw_all(struct uncertain *u, struct err *e)
{
    u->drawn = calloc((size_t)(u->draws * u->n_keys), sizeof *u->drawn);
    if (!u->drawn)
        return err_nomem(e, "draws");
    for (int32_t k = 0; k < u->n_keys; k++) {
        const char *path = u->keys[k].path;
        struct rng *r;
        int rc = rng_build(&r, (uint64_t)u->seed, (uint32_t)text_hash(TEXT_HASH_SEED, path, strlen(path)), e);
        if (rc)
            return rc;
        for (int64_t i = 0; i < u->draws; i++)
            u->drawn[i * u->n_keys + k] = uncertain_draw(&u->keys[k], r);
        rng_free(r);
    }
    return 0;
}

/* Of weft's own error, from a stream of its own likewise. */
static int draw_model(struct uncertain *u, struct err *e)
{
    static const char name[] = "model";
    struct rng *r;
    u->model_z = calloc((size_t)u->draws, sizeof *u->model_z);
    if (!u->model_z)
        return err_nomem(e, "draws");
    int rc = rng_build(&r, (uint64_t)u->seed, (uint32_t)text_hash(TEXT_HASH_SEED, name, sizeof name), e);
    if (rc)
        return rc;
    for (int64_t i = 0; i < u->draws; i++)
        u->model_z[i] = draw_normal(r);
    rng_free(r);
    return 0;
}

/* `uncertain` is a map, or the word model. */
static int read_settings(struct uncertain *u, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    schema_defaults(u, &uncertain_section);
    u->model = doc->nodes[id].kind == YAML_SCALAR && strcmp(doc->nodes[id].text, "model") == 0;
    if (u->model)
        return 0;
    if (doc->nodes[id].kind == YAML_SCALAR)
        return yaml_fail(doc, id, e, ERR_PARSE, "is %.40s, expected model or a map", doc->nodes[id].text);
    int rc = schema_read(u, &uncertain_section, doc, id, e);
    yaml_id keys_at = yaml_get(doc, id, "keys");
    if (!rc && keys_at < 0 && !u->model)
        rc = yaml_fail(doc, id, e, ERR_PARSE, "has no keys; give keys, or model: true");
    if (!rc && keys_at >= 0)
        rc = yaml_need(doc, keys_at, YAML_MAP, e);
    if (!rc && keys_at >= 0 && doc->nodes[keys_at].n == 0)
        rc = yaml_fail(doc, keys_at, e, ERR_PARSE, "is empty, expected at least one key");
    return rc;
}

/* All draws are made here, once for all points, so that rows can be compared. */
int uncertain_read(struct uncertain *u, const struct yaml_doc *doc, yaml_id id, int64_t seed, struct err *e)
{
    *u = (struct uncertain){ 0 };
    if (id < 0)
        return 0;
    yaml_id keys_at = yaml_get(doc, id, "keys");
    int rc = read_settings(u, doc, id, e);
    if (!rc)
        rc = read_percentiles(u, doc, yaml_get(doc, id, "percentiles"), e);
    u->seed = u->seed < 0 ? seed : u->seed;
    u->of_system = yaml_get(doc, doc->root, "system") >= 0;
    if (!rc && keys_at >= 0)
        yaml_each (key, doc, keys_at)
            if (!rc)
                rc = read_key(u, doc, key, e);
    if (!rc && u->n_keys)
        rc = draw_all(u, e);
    if (!rc && u->model)
        rc = draw_model(u, e);
    if (rc)
        uncertain_free(u);
    return rc;
}

void uncertain_free(struct uncertain *u)
{
    for (int32_t k = 0; k < u->n_keys; k++)
        free(u->keys[k].path);
    free(u->drawn);
    free(u->model_z);
    *u = (struct uncertain){ 0 };
}

/* ---- columns ---- */

bool uncertain_is_empty(const struct uncertain *u)
{
    return u->n_keys == 0 && !u->model;
}

static int32_t n_quantities(const struct uncertain *u)
{
    int32_t n = 0;
    while (u->of_system && system_quantity(n))
        n++;
    return 2 + n;
}

int32_t uncertain_n_columns(const struct uncertain *u)
{
    return uncertain_is_empty(u) ? 0 : n_quantities(u) * u->n_percentiles;
}

void uncertain_column(struct made_column *out, const struct uncertain *u, int32_t i)
{
    char number[NUM_TEXT];
    design_percentiles(out, i / u->n_percentiles);
    study_number_column(out, num_format(number, u->percentiles[i % u->n_percentiles]));
}

/* Blank where one draw has no value. */
static void put_percentiles(double *values, double *x, const struct uncertain *u)
{
    bool known = true;
    for (int64_t i = 0; i < u->draws; i++)
        known = known && !isnan(x[i]);
    for (int32_t i = 0; i < u->n_percentiles; i++)
        values[i] = NAN;
    if (!known)
        return;
    stat_sort(x, u->draws);
    for (int32_t i = 0; i < u->n_percentiles; i++)
        values[i] = stat_quantile(x, u->draws, u->percentiles[i] / 100);
}

/* Relative error of the design's time: of its workloads together, each weighted by its time, as if all erred
 * the same way. NaN where measured steps cover one of them not. */
static double model_spread(const struct design *d)
{
    const struct design_point *s = d->chosen.point;
    double sum = 0, time_s = 0;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct design_workload *w = &s->workloads[i];
        struct evidence v;
        if (!w->training || !evidence_find(&v, w->training, &s->net.npu))
            return NAN;
        sum += w->weight * d->loads[i].time_s * v.spread;
        time_s += w->weight * d->loads[i].time_s;
    }
    return sum / time_s;
}

/* All draws: of quantity q number i is x[q * draws + i]. */
static int draw_quantities(double *x, const struct uncertain *u, const struct design *d, struct err *e)
{
    struct uncertain_trial *trial;
    double spread = u->model ? model_spread(d) : 0;
    int rc = uncertain_trial_build(&trial, u, d, e);
    struct work work;
    work_begin(&work, "draws", u->draws);
    for (int64_t i = 0; i < u->draws && !rc; i++) {
        double factor = u->model ? spread * u->model_z[i] : 0;
        elementary_exp(&factor, 1);
        rc = uncertain_trial_run(x + i, u->draws, trial, u->drawn ? &u->drawn[i * u->n_keys] : NULL,
                                 u->model ? factor : 1, e);
        work_step(&work, 1);
    }
    work_end(&work);
    uncertain_trial_free(trial);
    return rc;
}

int uncertain_fill(double *values, const struct uncertain *u, const struct design *d, struct err *e)
{
    int32_t n = n_quantities(u);
    if (uncertain_is_empty(u))
        return 0;
    double *x = calloc((size_t)(n * u->draws), sizeof *x);
    int rc = x ? draw_quantities(x, u, d, e) : err_nomem(e, "draws");
    for (int32_t q = 0; q < n && !rc; q++)
        put_percentiles(values + (size_t)q * (size_t)u->n_percentiles, x + q * u->draws, u);
    free(x);
    return rc;
}

int32_t uncertain_quantity(const struct uncertain *u, const char *column)
{
    static const char *const own[] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(cost_usd) };
    for (int32_t q = 0; q < n_quantities(u); q++)
        if (strcmp(q < 2 ? own[q] : system_quantity(q - 2)->name, column) == 0)
            return q;
    return -1;
}

int uncertain_draws(double *values, const struct uncertain *u, const struct design *d, int32_t q,
                    struct err *e)
{
    double *x = calloc((size_t)(n_quantities(u) * u->draws), sizeof *x);
    int rc = x ? draw_quantities(x, u, d, e) : err_nomem(e, "draws");
    if (!rc)
        memcpy(values, x + q * u->draws, (size_t)u->draws * sizeof *values);
    free(x);
    return rc;
}
