#include "kinds/hetero/hetero_point.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hetero/oracle.h"

int hetero_need_list(const struct hetero_point *p, yaml_id list, const char *what, int most, struct err *e)
{
    int rc = yaml_need(&p->doc, list, YAML_SEQ, e);
    if (!rc && (p->doc.nodes[list].n < 1 || p->doc.nodes[list].n > most))
        rc = yaml_fail(&p->doc, list, e, ERR_RANGE, "is a list of %d, need 1 to %d %s",
                       (int)p->doc.nodes[list].n, most, what);
    return rc;
}

/* ---- schedulers ---- */

static int find_scheduler(int32_t *out, const struct hetero_point *p, yaml_id id, struct err *e)
{
    const char *names[HETERO_MAX_SCHEDULERS], *name;
    struct text list = { 0 };
    int rc = yaml_text(&p->doc, id, &name, e);
    *out = -1;
    for (int32_t i = 0; i < n_hetero_schedulers && !rc; i++) {
        names[i] = hetero_schedulers[i].name;
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
        if (strcmp(names[i], name) == 0)
            *out = i;
    }
    if (!rc && *out < 0) {
        const char *near = text_nearest(name, names, (size_t)n_hetero_schedulers);
        rc = yaml_fail(&p->doc, id, e, ERR_PARSE, "is %.60s, need one of the schedulers %s%s%s%s", name,
                       text_str(&list), near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
    }
    text_free(&list);
    return rc;
}

static int read_schedulers(struct hetero_point *p, struct err *e)
{
    yaml_id list = p->conf.schedulers;
    p->listed = list >= 0;
    for (; !p->listed && p->n_schedulers < n_hetero_schedulers; p->n_schedulers++)
        p->schedulers[p->n_schedulers] = p->n_schedulers;
    int rc = p->listed ? hetero_need_list(p, list, "schedulers", HETERO_MAX_SCHEDULERS, e) : 0;
    if (!p->listed || rc)
        return rc;
    yaml_each (id, &p->doc, list) {
        int32_t found;
        rc = find_scheduler(&found, p, id, e);
        for (int32_t i = 0; i < p->n_schedulers && !rc; i++)
            if (p->schedulers[i] == found)
                rc = yaml_fail(&p->doc, id, e, ERR_PARSE, "is in the list twice, need it once");
        if (rc)
            return rc;
        p->schedulers[p->n_schedulers++] = found;
    }
    return 0;
}

static void read_rl(struct hetero_rl_settings *s, const struct hetero_rl_conf *x)
{
    s->hidden = (int32_t)x->hidden;
    s->plans = (int32_t)x->plans;
    s->rounds = (int32_t)x->rounds;
    s->patience = (int32_t)x->patience;
    s->rate = x->rate;
    s->entropy = x->entropy;
    s->best_frac = x->best_frac;
    s->gamma = x->gamma;
    s->clip = x->clip;
    s->copy_logit = x->copy_logit;
}

static void read_genetic(struct hetero_genetic_settings *s, const struct hetero_genetic_conf *x)
{
    s->population = (int32_t)x->population;
    s->tournament = (int32_t)x->tournament;
    s->elite = (int32_t)x->elite;
    s->crossover = x->crossover;
    s->mutation = x->mutation;
}

static void read_bayes(struct hetero_bayes_settings *s, const struct hetero_bayes_conf *x)
{
    s->initial = (int32_t)x->initial;
    s->evaluations = (int32_t)x->evaluations;
    s->candidates = (int32_t)x->candidates;
    s->length = x->length;
    s->noise = x->noise;
}

/* What one setting says must fit another. */
static int check_settings(const struct hetero_point *p, struct err *e)
{
    const struct hetero_settings *s = &p->settings;
    const struct hetero_conf *c = &p->conf;
    if (s->genetic.elite >= s->genetic.population)
        return yaml_fail(&p->doc, c->genetic, e, ERR_RANGE, "has elite %d, need less than population, %d",
                         s->genetic.elite, s->genetic.population);
    if (!(s->anneal.cold <= s->anneal.hot))
        return yaml_fail(&p->doc, c->anneal, e, ERR_RANGE, "has cold %g, need at most hot, %g",
                         s->anneal.cold, s->anneal.hot);
    if (s->bayes.initial > s->bayes.evaluations)
        return yaml_fail(&p->doc, c->bayes, e, ERR_RANGE, "has initial %d, need at most evaluations, %d",
                         s->bayes.initial, s->bayes.evaluations);
    return 0;
}

static int read_section(void *out, const struct section *s, const struct hetero_point *p, yaml_id map,
                        struct err *e)
{
    schema_defaults(out, s);
    return map < 0 ? 0 : schema_read(out, s, &p->doc, map, e);
}

static int read_settings(struct hetero_point *p, struct err *e)
{
    struct hetero_rl_conf rl;
    struct hetero_genetic_conf genetic;
    struct hetero_bayes_conf bayes;
    p->settings = hetero_settings_default();
    p->settings.evaluations = p->conf.evaluations;
    int rc = read_section(&rl, &hetero_rl_section, p, p->conf.rl, e);
    if (!rc)
        rc = read_section(&genetic, &hetero_genetic_section, p, p->conf.genetic, e);
    if (!rc)
        rc = read_section(&p->settings.anneal, &hetero_anneal_section, p, p->conf.anneal, e);
    if (!rc)
        rc = read_section(&bayes, &hetero_bayes_section, p, p->conf.bayes, e);
    if (rc)
        return rc;
    read_rl(&p->settings.rl, &rl);
    read_genetic(&p->settings.genetic, &genetic);
    read_bayes(&p->settings.bayes, &bayes);
    return check_settings(p, e);
}

/* ---- keys without effect ---- */

static uint64_t find_uses(const struct hetero_point *p)
{
    static const struct {
        const char *scheduler;
        uint64_t uses;
    } rows[] = { { "rl-lstm", USE_RL },
                 { "rl-rnn", USE_RL },
                 { "genetic", USE_GENETIC },
                 { "anneal", USE_ANNEAL },
                 { "bayes", USE_BAYES } };
    uint64_t uses = p->setup.handover == HETERO_NETWORK ? USE_HETERO_NETWORK : USE_HETERO_OWN;
    uses |= p->origin == HETERO_DRAWN ? USE_HETERO_DRAW : p->origin == HETERO_MODEL ? USE_HETERO_MODEL : 0;
    for (int32_t i = 0; i < p->n_schedulers; i++) {
        const struct hetero_scheduler *x = &hetero_schedulers[p->schedulers[i]];
        size_t n = strcspn(x->name, "+"); /* a local search may follow */
        bool own_budget = strncmp(x->name, "bayes", n) == 0;
        uses |= x->seeded && !own_budget ? USE_HETERO_BUDGET : 0;
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
            if (strlen(rows[k].scheduler) == n && strncmp(x->name, rows[k].scheduler, n) == 0)
                uses |= rows[k].uses;
    }
    return uses;
}

void hetero_note_unused(struct hetero_point *p, const struct section *s, yaml_id map)
{
    if (map >= 0)
        schema_note_unused(&p->notes, s, &p->doc, map, p->own_source, p->uses);
}

/* ---- what is asked for ---- */

static int read_throughput(struct hetero_point *p, struct err *e)
{
    struct hetero_throughput_conf *x = &p->throughput;
    yaml_id map = p->conf.throughput;
    char place[400];
    int rc = read_section(x, &hetero_throughput_section, p, map, e);
    text_clear(&p->asked);
    text_printf(&p->asked, "%s: throughput",
                map < 0 ? p->doc.sources[p->doc.nodes[p->doc.root].source]
                        : yaml_place(&p->doc, map, place, sizeof place));
    if (!rc && !isnan(x->per_s) && !isnan(x->share))
        rc = yaml_fail(&p->doc, map, e, ERR_PARSE, "has both per_s and share, need one");
    if (!rc && !isnan(x->per_s) && x->of >= 0)
        rc = yaml_fail_key(&p->doc, yaml_get(&p->doc, map, "of"), e, ERR_PARSE,
                           "is given besides per_s, need it with share");
    if (!rc && isnan(x->per_s) && isnan(x->share))
        x->share = 0.5;
    return rc ? rc : text_check(&p->asked, e);
}

static int read_servers(struct hetero_point *p, struct err *e)
{
    struct hetero_server_conf x;
    yaml_id map = p->conf.servers;
    p->setup.server = -1;
    int rc = read_section(&x, &hetero_server_section, p, map, e);
    if (rc || map < 0)
        return rc;
    p->setup.server_Bps = x.Bps;
    return hetero_find_type(&p->setup.server, p->profile.types, p->profile.n_types, &p->doc,
                            yaml_get(&p->doc, map, "type"), x.type, e);
}

static int read_setup(struct hetero_point *p, struct err *e)
{
    const struct hetero_conf *c = &p->conf;
    struct hetero_job_conf job;
    int rc = read_section(&job, &hetero_job_section, p, c->job, e);
    p->setup.overlap = c->overlap;
    p->setup.provisioning = (enum hetero_provisioning)c->provisioning;
    p->setup.handover = c->handover >= 0  ? (enum hetero_handover)c->handover
                        : c->network >= 0 ? HETERO_NETWORK
                                          : HETERO_PER_LAYER;
    p->setup.examples = job.examples;
    p->setup.epochs = job.epochs;
    if (!rc && p->setup.handover == HETERO_NETWORK && c->network < 0)
        rc = yaml_fail(&p->doc, yaml_get(&p->doc, p->doc.root, "handover"), e, ERR_PARSE,
                       "is network, need a network");
    return rc;
}

/* ---- a point ---- */

/* Number of the drawn model that a word names, -1: none. */
static int32_t find_drawn(const struct hetero_point *p)
{
    const char *word = p->conf.model < 0 ? NULL : p->doc.nodes[p->conf.model].text;
    for (int32_t m = 0; m < N_HETERO_MODELS && word; m++)
        if (strcmp(hetero_model_words[m], word) == 0)
            return m;
    return -1;
}

/* Where the profile comes from, and what a study may not have together. */
static int find_origin(struct hetero_point *p, struct err *e)
{
    const struct hetero_conf *c = &p->conf;
    char shown[YAML_SHOWN];
    if ((c->model >= 0) == (c->layers >= 0))
        return yaml_fail(&p->doc, p->doc.root, e, ERR_PARSE, "has %s, need one of model and layers",
                         c->model >= 0 ? "both" : "neither");
    p->drawn = find_drawn(p);
    p->origin = c->layers >= 0 ? HETERO_MEASURED : p->drawn >= 0 ? HETERO_DRAWN : HETERO_MODEL;
    if (p->origin == HETERO_MODEL && p->doc.nodes[c->model].kind != YAML_MAP) {
        const char *text = p->doc.nodes[c->model].text;
        const char *near = text ? text_nearest(text, hetero_model_words, N_HETERO_MODELS) : NULL;
        return yaml_fail(&p->doc, c->model, e, ERR_PARSE,
                         "is %s, need ctrdnn, matchnet, 2emb or nce%s%s%s, or a model: a map, or a file with "
                         "a dot or slash in its name",
                         yaml_show(&p->doc, c->model, shown), near ? " (nearest: " : "", near ? near : "",
                         near ? ")" : "");
    }
    if (p->origin == HETERO_DRAWN && c->types >= 0)
        return yaml_fail_key(&p->doc, c->types, e, ERR_PARSE,
                             "is given for a drawn model, which has types of its own, need draw.types");
    return 0;
}

static int read_point(struct hetero_point *p, struct err *e)
{
    int rc = schema_read(&p->conf, &hetero_section, &p->doc, p->doc.root, e);
    if (rc)
        return rc;
    if ((rc = find_origin(p, e)) || (rc = read_setup(p, e)) || (rc = read_schedulers(p, e)) ||
        (rc = read_settings(p, e)))
        return rc;
    p->uses = find_uses(p);
    hetero_note_unused(p, &hetero_section, p->doc.root);
    if ((rc = hetero_point_profile(p, e)) || (rc = hetero_point_links(p, e)) || (rc = read_servers(p, e)) ||
        (rc = read_throughput(p, e)))
        return rc;
    return text_check(&p->notes, e);
}

int hetero_point_read(struct hetero_point *p, const struct study_source *from, struct err *e)
{
    *p = (struct hetero_point){ .doc = { .root = -1 } };
    int rc = study_open(&p->doc, &p->own_source, from, e);
    if (rc)
        return rc;
    rc = study_fetch(&p->doc, p->own_source, from, e);
    if (!rc)
        rc = read_point(p, e);
    if (rc)
        hetero_point_free(p);
    return rc;
}

void hetero_point_close(struct hetero_point *p)
{
    yaml_free(&p->doc);
}

void hetero_point_free(struct hetero_point *p)
{
    hetero_profile_free(&p->profile);
    free(p->links);
    text_free(&p->asked);
    text_free(&p->notes);
    yaml_free(&p->doc);
    *p = (struct hetero_point){ .doc = { .root = -1 } };
}

/* ---- the throughput to reach ---- */

/* What the fastest plan on one GPU type reaches with all GPUs there are. */
static int reach_gpu_only(double *per_s, const struct hetero_point *p, struct hetero_problem *problem,
                          struct err *e)
{
    struct hetero_settings settings = hetero_settings_default();
    struct hetero_search s = { 0 };
    int32_t which = 0;
    while (which < n_hetero_schedulers && strcmp(hetero_schedulers[which].name, "gpu-only") != 0)
        which++;
    assert(which < n_hetero_schedulers);
    /* No plan reaches infinity; each says what it reaches instead. */
    hetero_set_throughput(problem, INFINITY);
    int rc = hetero_schedule(&s, problem, which, &settings, 0, e);
    *per_s = rc ? (double)NAN : s.value.reach_per_s;
    hetero_search_free(&s);
    return rc ? err_wrap(e, "%s", text_str(&p->asked)) : 0;
}

int hetero_point_aim(struct hetero_aim *aim, const struct hetero_point *p, struct hetero_problem *problem,
                     struct err *e)
{
    const struct hetero_throughput_conf *x = &p->throughput;
    int rc = hetero_reach(&aim->most_per_s, NULL, problem, e);
    double whole_per_s = aim->most_per_s;
    if (!rc && isnan(x->per_s) && x->of == HETERO_OF_GPU_ONLY)
        rc = reach_gpu_only(&whole_per_s, p, problem, e);
    if (rc)
        return rc;
    aim->per_s = isnan(x->per_s) ? x->share * whole_per_s : x->per_s;
    if (!(isfinite(aim->per_s) && aim->per_s > 0))
        return err_set(e, ERR_RANGE, "%s: is a share of %g examples/s, need per_s", text_str(&p->asked),
                       whole_per_s);
    hetero_set_throughput(problem, aim->per_s);
    return 0;
}

int hetero_point_unreachable(const struct hetero_point *p, const struct hetero_aim *aim, struct err *e)
{
    bool limited = false;
    for (int32_t t = 0; t < p->profile.n_types; t++)
        limited = limited || p->profile.types[t].max_units < HETERO_MAX_UNITS;
    return err_set(e, ERR_NO_DESIGN, "%s: is %.6g examples/s, a plan reaches at most %.6g examples/s%s",
                   text_str(&p->asked), aim->per_s, aim->most_per_s,
                   limited ? ", limits that stages share not counted" : "");
}
