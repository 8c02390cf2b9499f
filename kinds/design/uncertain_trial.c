#include "kinds/design/uncertain_trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

/*
 * The document of the study is copied once, and what is drawn is written into the copy's nodes. Then what
 * these nodes are about is read again from the document, no file is: prices, or network and simulation, or
 * workloads. All else is the study's own.
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
    bool parts, net;                         /* are read again */
    enum source *source;                     /* shape [n_workloads], owned */
    double time_s;                           /* at the study's own values; NaN = not asked yet */
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

int uncertain_check_path(const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    static const char *const first[] = { "parts", "network", "workload", "workloads", "simulation" };
    static const char *const fixed[] = { "bw_GBps", "min_GBps", "max_GBps", "size", "weight" };
    const char *path = doc->nodes[id].key, *last = strrchr(path, '.');
    bool known = false;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        known = known || (last && begins(path, first[i]));
    if (!known)
        return yaml_fail_key(doc, id, e, ERR_PARSE,
                             "cannot be uncertain, need a key below parts, network, workload, workloads or "
                             "simulation");
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(last + 1, fixed[i]) == 0)
            return yaml_fail_key(doc, id, e, ERR_PARSE,
                                 "cannot be uncertain: it says what is to be designed, need another key");
    return 0;
}

/* The distribution of a key, where the study says it. */
static yaml_id node_of(const struct design_point *s, const char *path)
{
    yaml_id map = yaml_get(&s->doc, s->doc.root, "uncertain");
    yaml_id id = yaml_get(&s->doc, yaml_get(&s->doc, map, "keys"), path);
    return id >= 0 ? id : s->doc.root;
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
                             "is relative to a key that is not given, need it in the study");
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
                         "is %s in the study, need a number there", yaml_show(doc, number, shown));
}

static void put(struct uncertain_trial *t, int32_t k, double drawn)
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

static bool is_below(const struct yaml_doc *doc, yaml_id id, yaml_id above)
{
    while (id >= 0 && id != above)
        id = doc->nodes[id].parent;
    return id >= 0;
}

static enum source source_of(const struct uncertain_trial *t, int32_t i)
{
    yaml_id node = workload_node(&t->s, i);
    bool training = t->nominal->workloads[i].training;
    enum source source = training && t->net ? READ : OF_STUDY;
    for (int32_t k = 0; k < t->u->n_keys; k++) {
        if (!is_below(&t->s.doc, t->at[k], node))
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

static int read_network(struct uncertain_trial *t, struct err *e)
{
    struct design_point *s = &t->s;
    yaml_id root = s->doc.root, simulation = yaml_get(&s->doc, root, "simulation");
    int rc = topo_read_network(&s->net, &s->doc, yaml_get(&s->doc, root, "network"), e);
    sim_rules_free(&s->rules);
    sim_rules_default(&s->rules);
    if (!rc && simulation >= 0)
        rc = sim_rules_read(&s->rules, &s->net, &s->doc, simulation, e);
    s->rules.seed = t->nominal->rules.seed;
    return rc;
}

static int read_prices(struct uncertain_trial *t, struct err *e)
{
    struct design_point *s = &t->s;
    yaml_id parts = yaml_get(&s->doc, s->doc.root, "parts");
    if (parts < 0)
        parts = s->net.parts;
    topo_parts_free(&s->parts);
    int rc = topo_read_parts(&s->parts, &s->doc, parts, e);
    return rc ? rc : topo_prices(s->prices, &s->net, &s->parts, e);
}

static int read_training(struct study_workload *w, const struct study_workload *nominal,
                         const struct design_point *s, yaml_id node, struct err *e)
{
    if (!w->training)
        w->training = malloc(sizeof *w->training);
    if (!w->training)
        return err_nomem(e, "a workload");
    int rc = step_read_training(w->training, &s->doc, node, &s->net, e);
    if (!rc && nominal->search) {
        double traffic = w->training->plan.traffic;
        w->training->plan = nominal->training->plan;
        w->training->plan.traffic = traffic;
        rc = training_derive(w->training, &s->net, e);
    }
    return rc ? rc : training_build(&w->tree, w->training, &s->net, e);
}

/* The study's expression with bytes times what `traffic` is more than there; groups are shared. */
static int scale_tree(struct study_workload *w, const struct study_workload *nominal,
                      const struct design_point *s, const struct design_point *own, yaml_id node,
                      struct err *e)
{
    double now = 1, was = 1;
    yaml_id traffic = yaml_get(&own->doc, node, "traffic");
    int rc = yaml_real(&s->doc, yaml_get(&s->doc, node, "traffic"), &now, e);
    if (!rc && traffic >= 0)
        rc = yaml_real(&own->doc, traffic, &was, e);
    if (!rc && !(now >= 0 && was > 0))
        rc = err_set(e, ERR_RANGE, "traffic is %g, need >= 0, and more than 0 in the study", now);
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

static int read_workload(struct uncertain_trial *t, int32_t i, struct err *e)
{
    const struct study_workload *nominal = &t->nominal->workloads[i];
    struct study_workload *w = &t->s.workloads[i];
    yaml_id node = workload_node(&t->s, i);
    int rc = 0;
    if (t->source[i] == READ) {
        step_free(&w->tree);
        rc = nominal->training ? read_training(w, nominal, &t->s, node, e)
                               : step_read(&w->tree, &t->s.doc, node, &t->s.net, e);
    } else if (t->source[i] == SCALED) {
        rc = scale_tree(w, nominal, &t->s, t->nominal, node, e);
    }
    /* Efficiencies of the network are in the compiled step. */
    if (rc || t->s.model != SIM_BANDWIDTH || (t->source[i] == OF_STUDY && !t->net))
        return rc;
    step_fn_free(&w->fn);
    return step_compile(&w->fn, &w->tree, &t->s.net, e);
}

static int read_again(struct uncertain_trial *t, struct err *e)
{
    int rc = t->net ? read_network(t, e) : 0;
    if (!rc && t->parts)
        rc = read_prices(t, e);
    for (int32_t i = 0; i < t->s.n_workloads && !rc; i++)
        rc = read_workload(t, i, e);
    return rc;
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

static int find_keys(struct uncertain_trial *t, struct err *e)
{
    int rc = 0;
    for (int32_t k = 0; k < t->u->n_keys && !rc; k++) {
        const char *path = t->u->keys[k].path;
        rc = find_key(t, k, e);
        t->parts = t->parts || is_price(path);
        t->net = t->net || (!is_price(path) && (begins(path, "network") || begins(path, "simulation")));
    }
    if (!rc && t->parts && !t->s.has_parts)
        rc = err_set(e, ERR_RANGE, "uncertain.keys has prices, need parts");
    if (t->parts)
        t->s.parts = (struct topo_parts){ 0 };
    if (t->net)
        sim_rules_default(&t->s.rules);
    for (int32_t i = 0; i < t->s.n_workloads && !rc; i++) {
        struct study_workload *w = &t->s.workloads[i];
        t->source[i] = source_of(t, i);
        if (t->source[i] == OF_STUDY) {
            w->tree = t->nominal->workloads[i].tree;
            if (!t->net)
                w->fn = t->nominal->workloads[i].fn;
        }
    }
    return rc;
}

/* Is the study a study at both ends of each distribution, all other keys as they are? */
static int try_ends(struct uncertain_trial *t, struct err *e)
{
    char place[400];
    int rc = 0;
    for (int32_t k = 0; k < t->u->n_keys && !rc; k++) {
        double ends[2];
        struct yaml_node before = t->s.doc.nodes[t->at[k]];
        uncertain_ends(ends, &t->u->keys[k]);
        for (int i = 0; i < 2 && !rc; i++) {
            put(t, k, ends[i]);
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

int uncertain_trial_build(struct uncertain_trial **out, const struct uncertain *u,
                          const struct design_point *s, struct err *e)
{
    struct uncertain_trial *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return err_nomem(e, "draws");
    t->u = u;
    t->nominal = s;
    t->time_s = NAN;
    int rc = share_study(t, s, e);
    if (!rc)
        rc = find_keys(t, e);
    if (!rc)
        rc = try_ends(t, e);
    if (rc) {
        uncertain_trial_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

int uncertain_trial_run(double *time_s, double *cost_usd, struct uncertain_trial *t, const double *drawn,
                        const double *bw_Bps, struct err *e)
{
    bool timed = t->net;
    for (int32_t k = 0; k < t->u->n_keys; k++)
        put(t, k, drawn[k]);
    int rc = read_again(t, e);
    for (int32_t i = 0; i < t->s.n_workloads; i++)
        timed = timed || t->source[i] != OF_STUDY;
    if (rc)
        return err_wrap(e, "a draw of uncertain");
    if (timed || isnan(t->time_s))
        rc = design_time(&t->time_s, &t->s, bw_Bps, e);
    *time_s = t->time_s;
    *cost_usd = study_fixed_usd(&t->s);
    for (int32_t d = 0; d < t->s.net.n_dims && t->s.has_parts; d++)
        *cost_usd += t->s.prices[d].usd_per_Bps * bw_Bps[d];
    return rc;
}

static void free_workload(struct uncertain_trial *t, int32_t i)
{
    struct study_workload *w = &t->s.workloads[i];
    if (t->source[i] == READ)
        step_free(&w->tree);
    if (t->source[i] == SCALED)
        free(w->tree.nodes);
    if (t->source[i] != OF_STUDY || t->net)
        step_fn_free(&w->fn);
    free(w->training);
}

void uncertain_trial_free(struct uncertain_trial *t)
{
    if (!t)
        return;
    for (int32_t i = 0; i < t->s.n_workloads; i++)
        free_workload(t, i);
    if (t->net)
        sim_rules_free(&t->s.rules);
    if (t->parts)
        topo_parts_free(&t->s.parts);
    yaml_free(&t->s.doc);
    free(t->s.workloads);
    free(t->source);
    free(t);
}
