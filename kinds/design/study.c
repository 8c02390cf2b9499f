#include "kinds/design/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linexpr.h"
#include "base/num.h"
#include "kinds/design/search.h"
#include "kinds/design/study_keys.h"
#include "workloads/step.h"

/* ---- network and prices ---- */

static int read_network(struct design_point *s, const struct study_conf *conf, struct err *e)
{
    int rc = topo_read_network(&s->net, &s->doc, conf->network, e);
    sim_rules_default(&s->rules);
    if (!rc && conf->simulation >= 0)
        rc = sim_rules_read(&s->rules, &s->net, &s->doc, conf->simulation, e);
    s->rules.seed = (uint64_t)s->seed;
    return rc;
}

/* Where the price is missing: at the tier of the dimension that has none; a word has no tiers. */
static int fail_price(const struct design_point *s, struct err *e)
{
    char place[400];
    yaml_id at = yaml_get(&s->doc, s->doc.root, "network"), dims = yaml_get(&s->doc, at, "dims");
    int32_t d = 0;
    if (dims >= 0)
        yaml_each (id, &s->doc, dims) {
            struct topo_network one = s->net;
            struct topo_dim_price price;
            struct err ignored;
            one.n_dims = 1;
            one.dims[0] = s->net.dims[d++];
            if (topo_prices(&price, &one, &s->parts, &ignored) == 0)
                continue;
            yaml_id tier = yaml_get(&s->doc, id, "tier");
            at = tier >= 0 ? tier : id;
            break;
        }
    return err_wrap(e, "%s", yaml_place(&s->doc, at, place, sizeof place));
}

static int read_parts(struct design_point *s, const struct study_conf *conf, struct err *e)
{
    yaml_id parts = conf->parts >= 0 ? conf->parts : s->net.parts;
    if (parts < 0)
        return 0;
    int rc = topo_read_parts(&s->parts, &s->doc, parts, e);
    if (rc)
        return rc;
    if (topo_prices(s->prices, &s->net, &s->parts, e))
        return fail_price(s, e);
    s->has_parts = true;
    return 0;
}

double study_fixed_usd(const struct design_point *s)
{
    return s->count_npus ? (double)s->net.n_npus * s->net.npu.usd : 0;
}

/* ---- workloads ---- */

static int reserve_workloads(struct design_point *s, int32_t n, struct err *e)
{
    s->workloads = calloc((size_t)n, sizeof *s->workloads);
    return s->workloads ? 0 : err_nomem(e, "workloads");
}

const struct step_tree *study_compiled_tree(const struct study_workload *w)
{
    return w->lowered.n_nodes ? &w->lowered : &w->tree;
}

static int compile(struct study_workload *w, const struct design_point *s, const double *bw_Bps,
                   struct err *e)
{
    int rc = 0;
    step_fn_free(&w->fn);
    step_free(&w->lowered);
    if (s->model != SIM_BANDWIDTH)
        rc = step_lower(&w->lowered, &w->tree, &s->net, &s->rules.stage, bw_Bps, e);
    return rc ? rc : step_compile(&w->fn, study_compiled_tree(w), &s->net, e);
}

/* A broadcast goes in segments along rings and lines, and how many depends on the bandwidth. */
static bool has_broadcast(const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++)
        for (step_id id = 0; id < s->workloads[i].tree.n_nodes; id++) {
            const struct step_node *node = &s->workloads[i].tree.nodes[id];
            if (node->kind == STEP_COLLECTIVE && node->collective == COLLECTIVE_BROADCAST)
                return true;
        }
    return false;
}

bool study_has_choice(const struct design_point *s)
{
    return s->model != SIM_BANDWIDTH && (stage_has_choice(&s->net) || has_broadcast(s));
}

int study_choose(struct design_point *s, const double *bw_Bps, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < s->n_workloads && !rc; i++)
        rc = compile(&s->workloads[i], s, bw_Bps, e);
    return rc;
}

static int read_workload(struct study_workload *w, const struct design_point *s, yaml_id node, struct err *e)
{
    if (yaml_get(&s->doc, node, "model") < 0)
        return step_read(&w->tree, &s->doc, node, &s->net, e);
    w->training = malloc(sizeof *w->training);
    if (!w->training)
        return err_nomem(e, "a workload");
    int rc = step_read_training(w->training, &s->doc, node, &s->net, e);
    if (rc || w->training->search < 0)
        return rc ? rc : training_build(&w->tree, w->training, &s->net, e);
    step_begin(&w->tree, w->training->name, &s->net);
    w->tree.uses_npu = true;
    step_add(&w->tree, -1, (struct step_node){ .kind = STEP_SUM, .phase = STEP_OTHER, .times = 1 });
    return step_check(&w->tree, e);
}

static int add_workload(struct design_point *s, yaml_id node, double weight, struct err *e)
{
    struct study_workload *w = &s->workloads[s->n_workloads];
    int rc = read_workload(w, s, node, e);
    if (rc) {
        free(w->training);
        w->training = NULL;
        return rc;
    }
    if (w->tree.notes.n)
        text_puts(&s->notes, text_str(&w->tree.notes));
    w->weight = weight;
    s->n_workloads++;
    double bw_Bps[TOPO_MAX_DIMS];
    for (int32_t d = 0; d < s->net.n_dims; d++)
        bw_Bps[d] = s->net.dims[d].bw_Bps;
    return compile(w, s, bw_Bps, e);
}

static int read_mix(struct design_point *s, yaml_id list, struct err *e)
{
    int rc = yaml_need(&s->doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (s->doc.nodes[list].n == 0)
        return yaml_fail(&s->doc, list, e, ERR_PARSE, "is empty, need at least one workload");
    rc = reserve_workloads(s, s->doc.nodes[list].n, e);
    yaml_each (id, &s->doc, list) {
        struct mix_conf mix = { .weight = 1 };
        if (!rc)
            rc = schema_read(&mix, &study_mix_section, &s->doc, id, e);
        if (!rc)
            rc = add_workload(s, mix.workload, mix.weight, e);
    }
    return rc;
}

static int read_workloads(struct design_point *s, const struct study_conf *conf, struct err *e)
{
    if (conf->workload >= 0 && conf->workloads >= 0)
        return yaml_fail_key(&s->doc, conf->workloads, e, ERR_PARSE,
                             "is given besides workload, need one of them");
    if (conf->workloads >= 0)
        return read_mix(s, conf->workloads, e);
    if (conf->workload < 0)
        return 0;
    int rc = reserve_workloads(s, 1, e);
    return rc ? rc : add_workload(s, conf->workload, 1, e);
}

/* ---- what is asked ---- */

static int need_for_objective(const struct design_point *s, struct err *e)
{
    yaml_id at = yaml_get(&s->doc, s->doc.root, "objective");
    const char *name = alloc_objective_names[s->objective];
    bool priced = s->objective == ALLOC_PERF_PER_COST || s->objective == ALLOC_COST;
    if (priced && !s->has_parts)
        return yaml_fail(&s->doc, at, e, ERR_RANGE, "is %s, need parts with prices", name);
    if (s->objective == ALLOC_COST && isnan(s->time_limit_s))
        return yaml_fail(&s->doc, at, e, ERR_RANGE, "is %s, need time_limit_s", name);
    if (s->combine == STUDY_REGRET && s->objective != ALLOC_TIME)
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->doc.root, "combine"), e, ERR_RANGE,
                         "is regret with objective %s, need objective time", name);
    return 0;
}

static int check_asked(const struct design_point *s, struct err *e)
{
    if (s->count_npus && isnan(s->net.npu.usd))
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->doc.root, "count_npus"), e, ERR_RANGE,
                         "is true, need network.npu.usd");
    return need_for_objective(s, e);
}

static int add_constraint(struct design_point *s, yaml_id id, const struct alloc_prices *prices,
                          struct err *e)
{
    const char *text;
    struct err inner = { 0 };
    int rc = yaml_text(&s->doc, id, &text, e);
    if (rc)
        return rc;
    rc = alloc_add_text(&s->rows, &s->net, prices, text, &inner);
    return rc ? linexpr_fail(&s->doc, id, &inner, e) : 0;
}

static int read_constraints(struct design_point *s, yaml_id list, struct err *e)
{
    double usd[TOPO_MAX_DIMS], nic_usd[TOPO_MAX_DIMS];
    struct alloc_prices prices = { usd, nic_usd, study_fixed_usd(s) };
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        usd[d] = s->prices[d].usd_per_Bps;
        nic_usd[d] = s->prices[d].nic_usd_per_Bps;
    }
    int rc = yaml_need(&s->doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    yaml_each (id, &s->doc, list)
        if (!rc)
            rc = add_constraint(s, id, s->has_parts ? &prices : NULL, e);
    return rc;
}

static int read_rows(struct design_point *s, const struct study_conf *conf, unsigned needs, struct err *e)
{
    if (!(needs & STUDY_FOR_SPLIT))
        return 0;
    int rc = alloc_add_network(&s->rows, &s->net, e);
    if (!rc && !isnan(s->total_Bps))
        rc = alloc_add_total(&s->rows, &s->net, s->total_Bps, e);
    if (!rc && conf->constraints >= 0)
        rc = read_constraints(s, conf->constraints, e);
    return rc;
}

/* ---- budget ---- */

static int check_budget(const struct design_point *s, struct err *e)
{
    static const struct {
        const char *key;
        bool priced;
    } limits[] = {
        { "nic_GBps", true }, { "nics", true }, { "usd", true }, { "watt", true }, { "time_s", false },
    };
    if (s->doc.nodes[s->budget.node].n == 0)
        return yaml_fail(&s->doc, s->budget.node, e, ERR_PARSE, "is without a limit, need at least one");
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        yaml_id at = yaml_get(&s->doc, s->budget.node, limits[i].key);
        if (at >= 0 && limits[i].priced && !s->has_parts)
            return yaml_fail_key(&s->doc, at, e, ERR_RANGE, "is a limit on what parts tell, need parts");
        if (at >= 0 && !limits[i].priced && s->n_workloads == 0)
            return yaml_fail_key(&s->doc, at, e, ERR_RANGE,
                                 "is a limit on training time, need workload or workloads");
    }
    return 0;
}

static int read_budget(struct design_point *s, const struct study_conf *conf, unsigned needs, struct err *e)
{
    schema_defaults(&s->budget, &study_budget_section);
    s->budget.node = conf->budget;
    if (conf->budget < 0)
        return 0;
    int rc = schema_read(&s->budget, &study_budget_section, &s->doc, conf->budget, e);
    if (!rc && (needs & STUDY_FOR_BUDGET))
        rc = check_budget(s, e);
    return rc;
}

/* ---- what the command needs ---- */

static int fail_bandwidth(const struct design_point *s, struct err *e)
{
    yaml_id network = yaml_get(&s->doc, s->doc.root, "network");
    yaml_id dims = yaml_get(&s->doc, network, "dims");
    if (dims < 0)
        return yaml_fail(&s->doc, network, e, ERR_RANGE,
                         "is %.200s, need a bandwidth for every dimension, such as ring:4@50",
                         s->doc.nodes[network].text);
    yaml_each (id, &s->doc, dims)
        if (yaml_get(&s->doc, id, "bw_GBps") < 0)
            return yaml_fail(&s->doc, id, e, ERR_RANGE, "is without bw_GBps, need it");
    return 0;
}

static int check_needs(const struct design_point *s, const struct study_conf *conf, unsigned needs,
                       struct err *e)
{
    if ((needs & STUDY_NEEDS_WORKLOAD) && s->n_workloads == 0)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE,
                         "is without a workload, need workload or workloads");
    if ((needs & STUDY_NEEDS_PARTS) && !s->has_parts)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE, "is without parts, need parts with prices");
    if ((needs & STUDY_FOR_BUDGET) && conf->budget < 0)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE, "is without budget, need budget");
    if (s->split == STUDY_GIVEN && (needs & STUDY_FOR_SPLIT))
        needs |= STUDY_NEEDS_BANDWIDTH;
    if ((needs & STUDY_NEEDS_BANDWIDTH) && !topo_has_bandwidths(&s->net))
        return fail_bandwidth(s, e);
    return 0;
}

/* ---- all of it ---- */

static void take_values(struct design_point *s, const struct study_conf *conf)
{
    yaml_id total = yaml_get(&s->doc, s->doc.root, "total_GBps");
    s->name = conf->name ? conf->name : "";
    s->combine = conf->combine < 0 ? STUDY_SUM : (enum study_combine)conf->combine;
    s->split = conf->split < 0 ? STUDY_SOLVE : (enum study_split)conf->split;
    s->objective = conf->objective < 0 ? ALLOC_TIME : (enum alloc_objective)conf->objective;
    s->model = conf->model < 0 ? SIM_BANDWIDTH : (enum sim_model)conf->model;
    s->total_Bps = conf->total_Bps;
    /* Rounded once from its text, as the bandwidths of a network are. */
    if (total >= 0 && strlen(s->doc.nodes[total].text) < NUM_TEXT)
        s->total_Bps = topo_parse_bw(s->doc.nodes[total].text);
    s->time_limit_s = conf->time_limit_s;
    s->count_npus = conf->count_npus;
    s->seed = conf->seed;
}

static int read_document(struct design_point *s, unsigned needs, struct err *e)
{
    struct study_conf conf;
    int rc = schema_read(&conf, &study_section, &s->doc, s->doc.root, e);
    if (rc)
        return rc;
    take_values(s, &conf);
    if ((rc = read_network(s, &conf, e)) || (rc = read_parts(s, &conf, e)) ||
        (rc = read_workloads(s, &conf, e)) || (rc = check_asked(s, e)) ||
        (rc = read_rows(s, &conf, needs, e)) || (rc = check_needs(s, &conf, needs, e)) ||
        (rc = read_budget(s, &conf, needs, e)))
        return rc;
    rc = study_search(s, needs, e);
    return rc ? rc : study_note(s, needs, e);
}

/* New texts for the values of quick axes; *dims says whether the network has one of them. What reads as a
 * number or as one of a list of words without being parsed means that in YAML too. */
static bool change_texts(struct design_point *s, const struct study_source *from, bool *dims)
{
    *dims = false;
    for (int32_t i = 0; i < from->n_axes; i++) {
        const struct study_override *axis = &from->axes[i];
        if (!design_is_quick(axis->path))
            continue;
        yaml_id id = source_find_axis(&s->doc, from, axis->path);
        if (id < 0)
            return false;
        s->doc.nodes[id].text = axis->value;
        s->doc.nodes[id].quoted = false;
        *dims = *dims || strchr(axis->path, '.');
    }
    return true;
}

/* ---- keys that are quick to change ---- */

/* The last key of "network.dims.NAME.KEY" or "network.dims[N].KEY"; "" of another path. */
static const char *quick_dim_key(const char *path)
{
    static const char dims[] = "network.dims";
    const size_t n = sizeof dims - 1;
    if (strncmp(path, dims, n) != 0 || (path[n] != '.' && path[n] != '['))
        return "";
    const char *name = path + n + 1, *end = name + strcspn(name, ".]");
    if (path[n] == '[' && *end == ']')
        end++;
    return *end == '.' ? end + 1 : "";
}

static bool is_quick_word(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

bool design_is_quick(const char *path)
{
    static const char *const own[] = { "total_GBps", "objective", "time_limit_s" };
    static const char *const of_dim[] = { "bw_GBps", "min_GBps", "max_GBps" };
    return is_quick_word(path, own, sizeof own / sizeof *own) ||
           is_quick_word(quick_dim_key(path), of_dim, sizeof of_dim / sizeof *of_dim);
}

static bool is_searched(const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++)
        if (s->workloads[i].training && s->workloads[i].training->search >= 0)
            return true;
    return false;
}

bool study_change(struct design_point *s, const struct study_source *from, unsigned needs)
{
    struct study_conf conf;
    struct err ignored;
    double bw_Bps[TOPO_MAX_DIMS];
    bool dims;
    if (is_searched(s) || !change_texts(s, from, &dims) ||
        schema_read(&conf, &study_section, &s->doc, s->doc.root, &ignored))
        return false;
    take_values(s, &conf);
    if (dims && topo_read_network(&s->net, &s->doc, conf.network, &ignored))
        return false;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        bw_Bps[d] = s->net.dims[d].bw_Bps;
    /* A split leaves its own choices behind. */
    if (((dims && s->model != SIM_BANDWIDTH) || study_has_choice(s)) && study_choose(s, bw_Bps, &ignored))
        return false;
    s->rows.n = 0;
    return !check_asked(s, &ignored) && !read_rows(s, &conf, needs, &ignored);
}

int study_read(struct design_point *s, const struct study_source *from, unsigned needs, struct err *e)
{
    *s = (struct design_point){ .budget = { .node = -1 } };
    int rc = source_open(&s->doc, &s->own_source, from, e);
    if (!rc)
        rc = source_fetch(&s->doc, s->own_source, from, e);
    if (!rc)
        rc = read_document(s, needs, e);
    if (rc)
        study_free(s);
    return rc;
}

int study_load(struct design_point *s, const char *path_or_spec, const struct study_override *overrides,
               int32_t n, unsigned needs, struct err *e)
{
    const struct study_source from = { .path = path_or_spec, .overrides = overrides, .n = n };
    return study_read(s, &from, needs, e);
}

void study_free(struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++) {
        step_fn_free(&s->workloads[i].fn);
        step_free(&s->workloads[i].lowered);
        step_free(&s->workloads[i].tree);
        free(s->workloads[i].training);
        if (s->workloads[i].search)
            search_free(s->workloads[i].search);
        free(s->workloads[i].search);
    }
    free(s->workloads);
    sim_rules_free(&s->rules);
    topo_parts_free(&s->parts);
    alloc_rows_free(&s->rows);
    text_free(&s->notes);
    yaml_free(&s->doc);
    *s = (struct design_point){ .doc = { .root = -1 }, .budget = { .node = -1 } };
}
