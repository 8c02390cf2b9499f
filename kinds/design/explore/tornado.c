/*
 * A tornado: every design of a study again with one input at its low, then at its high.
 *
 * An end is applied as the last axis of a point, so that it goes before --set and before an axis of the same
 * key, and files that were read stay parsed (struct source_cache). Work is cut into (point, input, end);
 * threads take what comes next and keep the best of what they saw, and the best of all is the least value,
 * then the lowest point: the same for any number of threads. Where ends fail, the first of them is told.
 */
#include "kinds/design/explore/tornado.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/objective.h"
#include "base/num.h"
#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/answer/training.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/book.h"
#include "kinds/design/explore/solve.h"

const char *const tornado_range_words[] = { "ends", "p10, p90", "price", "published", "measured", NULL };

/* Splits are solved to this gap: less is no difference. */
#define SAME 1e-9

enum { NEEDS = DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT };

/* The input that is no key: the error of weft's own time of a step. */
static const char STEP_TIME[] = "time of a step";

/* ---- inputs ---- */

/* Texts are copied; NULL is fine for @p place. */
static int add_input(struct tornado *t, struct tornado_input in, const char *path, const char *label,
                     const char *place, struct err *e)
{
    if (t->n_inputs == TORNADO_MAX_INPUTS)
        return err_set(e, ERR_RANGE, "%s: has more than %d uncertain inputs", t->study->from.path,
                       TORNADO_MAX_INPUTS);
    if (!vec_reserve(t->inputs, t->cap_inputs, t->n_inputs + 1))
        return err_nomem(e, "uncertain inputs");
    struct tornado_input *x = &t->inputs[t->n_inputs++];
    *x = in;
    x->path = strdup(path);
    x->label = strdup(label);
    x->place = place ? strdup(place) : NULL;
    x->source = in.source ? strdup(in.source) : NULL;
    return x->path && x->label && (x->place || !place) && (x->source || !in.source)
               ? 0
               : err_nomem(e, "uncertain inputs");
}

static bool has_input(const struct tornado *t, const char *path)
{
    for (int32_t i = 0; i < t->n_inputs; i++)
        if (strcmp(t->inputs[i].path, path) == 0)
            return true;
    return false;
}

/* Points have their bands when they are solved; one without measured steps near it stays as it is. */
static int add_step_time(struct tornado *t, const struct design_point *s, struct err *e)
{
    bool training = false;
    for (int32_t i = 0; i < s->n_workloads; i++)
        training = training || s->workloads[i].training;
    return training ? add_input(t, (struct tornado_input){ .range = TORNADO_MEASURED, .x = { NAN, NAN } },
                                STEP_TIME, STEP_TIME, NULL, e)
                    : 0;
}

/* Keys of `uncertain`, as percentiles read them. */
static int add_distributions(struct tornado *t, const struct design_point *s, bool all, struct err *e)
{
    struct uncertain u;
    char place[400];
    const struct yaml_doc *doc = &s->doc;
    yaml_id map = yaml_get(doc, doc->root, "uncertain"), keys = yaml_get(doc, map, "keys");
    int rc = uncertain_read(&u, doc, map, 1, e);
    for (int32_t k = 0; !rc && k < u.n_keys; k++) {
        const struct uncertain_key *key = &u.keys[k];
        struct tornado_input in = { .relative = key->relative };
        in.range = uncertain_low_high(in.x, key) ? TORNADO_ENDS : TORNADO_P10_P90;
        yaml_key_place(doc, yaml_get(doc, keys, key->path), place, sizeof place);
        rc = add_input(t, in, key->path, key->path, place, e);
    }
    if (!rc && (all || u.model))
        rc = add_step_time(t, s, e);
    uncertain_free(&u);
    return rc;
}

/* Of a number, or of { low, typ, high }: which = "low", "typ", "high". NaN: there is none. */
static double number_at(const struct yaml_doc *doc, yaml_id id, const char *which)
{
    double x = NAN;
    yaml_id child = yaml_get(doc, id, which), typ = yaml_get(doc, id, "typ");
    id = child >= 0 ? child : typ >= 0 ? typ : id;
    if (id >= 0 && doc->nodes[id].kind == YAML_SCALAR && !doc->nodes[id].quoted &&
        !num_parse_real(doc->nodes[id].text, &x))
        x = NAN;
    return x;
}

static bool is_band(const struct yaml_doc *doc, yaml_id id)
{
    return isfinite(number_at(doc, id, "typ")) && doc->nodes[id].kind == YAML_MAP &&
           number_at(doc, id, "low") < number_at(doc, id, "high");
}

/* "ConnectX-7 400G NDR usd": the name or tier of the row that has the price. */
static int label_band(struct text *out, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    yaml_id row = doc->nodes[id].parent, name = yaml_get(doc, row, "name");
    if (name < 0)
        name = yaml_get(doc, row, "tier");
    text_clear(out);
    if (name >= 0 && doc->nodes[name].kind == YAML_SCALAR)
        text_printf(out, "%s ", doc->nodes[name].text);
    text_puts(out, doc->nodes[id].key ? doc->nodes[id].key : "");
    return text_check(out, e);
}

static int add_bands(struct tornado *t, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    char path[1024];
    struct text label = { 0 };
    int rc = 0;
    if (is_band(doc, id)) {
        yaml_path(doc, id, path, sizeof path);
        if (has_input(t, path) || yaml_find(doc, path) != id)
            return 0;
        rc = label_band(&label, doc, id, e);
        if (!rc)
            rc = add_input(t, (struct tornado_input){ .range = TORNADO_BAND }, path, text_str(&label), NULL,
                           e);
        text_free(&label);
        return rc;
    }
    yaml_each (child, doc, id)
        if (!rc)
            rc = add_bands(t, doc, child, e);
    return rc;
}

/* Is the study a study with this number of `system`? */
static bool can_have(const struct design_point *s, const char *path, double x)
{
    char number[NUM_TEXT];
    struct yaml_doc doc;
    struct own_system own;
    struct err ignored;
    if (yaml_copy(&doc, &s->doc, &ignored))
        return false;
    bool can = !yaml_set(&doc, path, num_format(number, x), &ignored) &&
               !own_read(&own, &doc, yaml_get(&doc, doc.root, "system"), &ignored);
    yaml_free(&doc);
    return can;
}

static int add_range(struct tornado *t, const struct design_point *s, struct tornado_input in,
                     const char *key, struct err *e)
{
    char path[64];
    in.range = TORNADO_PUBLISHED;
    snprintf(path, sizeof path, "system.%s", key);
    return has_input(t, path) || !can_have(s, path, in.of ? 1 : in.x[0])
               ? 0
               : add_input(t, in, path, path, NULL, e);
}

/* The range that the server, or whom the study is like, has of a key. */
static int add_figure(struct tornado *t, const struct design_point *s, const char *key, struct err *e)
{
    const struct own_figure *x = s->has_system ? own_find_figure(&s->server, &s->like, key) : NULL;
    if (!x || !(x->low < x->high))
        return 0;
    struct tornado_input in = { .grade = x->grade, .x = { x->low, x->high }, .of_point = true };
    in.source = (char *)x->source; /* is copied */
    return add_range(t, s, in, key, e);
}

/* Parts of a server or of the study that fail, and how often is open. */
static int add_items(struct tornado *t, const struct yaml_doc *doc, const char *above, struct err *e)
{
    char path[1024], label[200];
    int rc = 0;
    yaml_id map = yaml_find(doc, above), items = yaml_get(doc, map, "items");
    if (items < 0)
        return 0;
    yaml_each (item, doc, items) {
        yaml_id mtbf = yaml_get(doc, item, "mtbf_h"), name = yaml_get(doc, item, "name");
        struct tornado_input in = { .range = TORNADO_PUBLISHED, .of_item = true, .grade = GRADE_RECALLED };
        yaml_id grade = yaml_get(doc, item, "grade");
        if (rc || mtbf < 0 || name < 0 ||
            !(number_at(doc, yaml_get(doc, item, "mtbf_low_h"), "typ") <
              number_at(doc, yaml_get(doc, item, "mtbf_high_h"), "typ")))
            continue;
        for (int k = 0; grade >= 0 && k < N_GRADES; k++)
            if (strcmp(doc->nodes[grade].text, topo_grade_names[k]) == 0)
                in.grade = (enum topo_grade)k;
        in.source = (char *)"items of the server or of system"; /* is copied */
        yaml_path(doc, mtbf, path, sizeof path);
        snprintf(label, sizeof label, "%.150s mtbf_h", doc->nodes[name].text);
        if (!has_input(t, path))
            rc = add_input(t, in, path, label, NULL, e);
    }
    return rc;
}

/* Ranges of the server, then of keys that the study could give beside those it gives. */
static int add_published(struct tornado *t, const struct design_point *s, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < s->like.n && !rc; i++)
        rc = add_figure(t, s, s->like.list[i].key, e);
    for (int i = 0; i < OWN_N_FIGURES && !rc; i++)
        rc = add_figure(t, s, own_figure_keys[i], e);
    for (int32_t i = 0; i < own_n_ranges && s->has_system && !rc; i++) {
        const struct own_range *x = &own_ranges[i];
        struct tornado_input in = { .grade = x->grade, .x = { x->low, x->high }, .of = x->of };
        in.source = (char *)x->source;
        rc = add_range(t, s, in, x->key, e);
    }
    const char *server = yaml_find(&s->doc, "system.server") >= 0 ? "system.server" : "network.npu.server";
    if (!rc && s->has_system)
        rc = add_items(t, &s->doc, server, e);
    return rc || !s->has_system ? rc : add_items(t, &s->doc, "system", e);
}

/* The first point that can be read stands for all. */
static int first_point(struct design_point *s, const struct study *study, struct err *e)
{
    struct err later = { 0 };
    int rc = ERR_RANGE;
    for (int64_t i = 0; i < study->sweep.n_points && rc && !err_is_of_machine(rc) && i < 1000; i++) {
        struct sweep_point p = { 0 };
        if (study->sweep.n_grids)
            sweep_find_point(&p, &study->sweep, i);
        rc = design_load(s, study, &p, i ? &later : e);
        if (i && err_is_of_machine(rc))
            *e = later;
    }
    return rc;
}

static int find_inputs(struct tornado *t, const struct design_point *s, bool all, struct err *e)
{
    yaml_id parts = yaml_get(&s->doc, s->doc.root, "parts"),
            network = yaml_get(&s->doc, s->doc.root, "network");
    int rc = add_distributions(t, s, all, e);
    bool given = t->n_inputs > 0;
    if (parts < 0)
        parts = yaml_get(&s->doc, network, "parts");
    if (!rc && parts >= 0 && (all || !given))
        rc = add_bands(t, &s->doc, parts, e);
    if (!rc && all)
        rc = add_published(t, s, e);
    if (!rc && t->n_inputs == 0)
        rc =
            err_set(e, ERR_RANGE, "%s: nothing is uncertain: no uncertain.keys, no price with low and high%s",
                    t->study->from.path, all ? ", no system" : "; --all has the published ranges of system");
    return rc;
}

static int read_limits(struct tornado *t, struct err *e)
{
    struct yaml_doc doc;
    int32_t own_source;
    struct table columns = { 0 };
    int rc = source_open(&doc, &own_source, &t->study->from, e);
    if (rc)
        return rc;
    study_put_columns(&columns, t->study, TABLE_ROWS);
    rc = columns.failed
             ? err_nomem(e, "columns")
             : keep_read(&t->rule, t->study->kind, &doc, yaml_get(&doc, doc.root, "keep"), &columns, e);
    /* Limits alone: what is best is asked here. */
    t->rule.kind = t->study->kind;
    t->rule.n_front = t->rule.n_per = 0;
    t->rule.n_top = 0;
    t->rule.prune = false;
    table_free(&columns);
    yaml_free(&doc);
    return rc;
}

int tornado_build(struct tornado *t, const struct study *s, bool all, struct err *e)
{
    struct design_point first = { 0 };
    *t = (struct tornado){ .study = s };
    int rc = first_point(&first, s, e);
    if (rc)
        return rc;
    t->shelf = search_shelf_new();
    rc = t->shelf ? 0 : err_nomem(e, "a tornado");
    if (!rc)
        rc = find_inputs(t, &first, all, e);
    if (!rc)
        rc = read_limits(t, e);
    design_point_free(&first);
    if (rc)
        tornado_free(t);
    return rc;
}

void tornado_free(struct tornado *t)
{
    for (int32_t i = 0; i < t->n_inputs; i++) {
        free(t->inputs[i].path);
        free(t->inputs[i].label);
        free(t->inputs[i].place);
        free(t->inputs[i].source);
    }
    free(t->inputs);
    keep_rule_free(&t->rule);
    search_shelf_free(t->shelf);
    free(t->inputs_at);
    free(t->ends);
    *t = (struct tornado){ 0 };
}

/* ---- one thread ---- */

struct tornado_worker {
    const struct tornado *t;
    struct source_cache cache;
    struct design_words words;
    struct table row;
    struct keep *keep;
    int32_t answers[TORNADO_MAX_ANSWERS]; /* their columns */
    char (*texts)[2][NUM_TEXT]; /* shape [n_inputs], owned: what inputs are set to, turn and turn about, as a
                                   value that is kept is known by its address */
    bool *turn;
    int64_t point;     /* that `at` is of; -1: none */
    bool known;        /* the point can be read and is not left out by `where` */
    double (*at)[3];   /* shape [n_inputs], owned: low, as it is, high; NaN: the point has no such number */
    struct err unread; /* why it cannot be read */
};

static int hand_build(struct tornado_worker *h, const struct tornado *t, struct err *e)
{
    size_t n = (size_t)t->n_inputs + 1;
    *h = (struct tornado_worker){ .t = t, .point = -1 };
    h->texts = calloc(n, sizeof *h->texts);
    h->turn = calloc(n, sizeof *h->turn);
    h->at = calloc(n, sizeof *h->at);
    study_put_columns(&h->row, t->study, TABLE_ROWS);
    if (!h->texts || !h->turn || !h->at || h->row.failed)
        return err_nomem(e, "a tornado");
    for (int32_t a = 0; a < t->n_answers; a++)
        h->answers[a] = table_find(&h->row, t->answers[a].name);
    return keep_build(&h->keep, &t->rule, &h->row, e);
}

static void hand_free(struct tornado_worker *h)
{
    source_cache_free(&h->cache);
    design_words_free(&h->words);
    table_free(&h->row);
    keep_free(h->keep);
    free(h->texts);
    free(h->turn);
    free(h->at);
}

static void point_at(struct sweep_point *p, const struct tornado *t, int64_t point)
{
    *p = (struct sweep_point){ 0 };
    if (t->study->sweep.n_grids)
        sweep_find_point(p, &t->study->sweep, point);
}

void tornado_find_at(double at[3], const struct tornado_input *in, const struct design_point *s)
{
    yaml_id id = yaml_find(&s->doc, in->path);
    bool of_system = strncmp(in->path, "system.", 7) == 0 && s->has_system;
    const struct key *key = id < 0 ? sweep_find_key(&design_section, in->path) : NULL;
    at[1] = id >= 0     ? number_at(&s->doc, id, "typ")
            : of_system ? own_value(&s->system, in->path + 7)
            : key       ? key->dflt
                        : (double)NAN;
    /* A factor is one of what is written, as of percentiles. */
    double times = in->relative ? number_at(&s->doc, id, "typ") : 1;
    if (in->of)
        times = own_value(&s->system, in->of);
    if (in->of_item) {
        yaml_id item = id >= 0 ? s->doc.nodes[id].parent : -1;
        at[0] = number_at(&s->doc, yaml_get(&s->doc, item, "mtbf_low_h"), "typ");
        at[2] = number_at(&s->doc, yaml_get(&s->doc, item, "mtbf_high_h"), "typ");
        return;
    }
    if (in->of_point) {
        const struct own_figure *x = own_find_figure(&s->server, &s->like, in->path + 7);
        bool has = x && x->low < x->high;
        at[0] = has ? x->low : (double)NAN;
        at[2] = has ? x->high : (double)NAN;
        return;
    }
    at[0] = in->range == TORNADO_BAND ? number_at(&s->doc, id, "low") : in->x[0] * times;
    at[2] = in->range == TORNADO_BAND ? number_at(&s->doc, id, "high") : in->x[1] * times;
}

/* Read the point as it is, for what inputs are there. */
static int hand_go(struct tornado_worker *h, int64_t point, struct err *e)
{
    struct sweep_point p;
    struct study_override axes[SWEEP_MAX_KEYS];
    struct design_point s;
    if (h->point == point)
        return 0;
    point_at(&p, h->t, point);
    struct study_source from = study_source_at(axes, h->t->study, &p);
    from.cache = &h->cache;
    h->point = point;
    h->known = design_passes(h->t->study, &p, NULL);
    h->unread = (struct err){ 0 };
    if (!h->known)
        return 0;
    int rc = design_point_read(&s, &from, NEEDS, &h->unread);
    h->known = !rc && design_passes(h->t->study, &p, &s.net);
    for (int32_t i = 0; i < h->t->n_inputs && h->known; i++)
        tornado_find_at(h->at[i], &h->t->inputs[i], &s);
    if (!rc)
        design_point_free(&s);
    return err_is_of_machine(rc) ? err_set(e, h->unread.code, "%s", h->unread.msg) : 0;
}

/* From where to where measured steps leave the time of a design, as factors of it. */
static bool find_step_time(double x[2], const struct design *d)
{
    struct evidence_band band;
    if (!alloc_has_split(&d->answer) || !design_time_band(&band, NULL, d))
        return false;
    x[0] = band.low_s / d->time_s;
    x[1] = band.high_s / d->time_s;
    return true;
}

/* The same design, whose steps take so many times as long: plan and split were chosen without knowing it. */
static void scale_step_time(struct design *d, double times)
{
    d->time_s *= times;
    for (int32_t i = 0; i < d->n_loads; i++)
        d->loads[i].time_s *= times;
}

/* The row of a point that was read, with the time of its step at an end of its band (-1: as it is). */
static int hand_put_row(struct tornado_worker *h, const struct design_point *s, const struct sweep_point *p,
                        int time_end, struct err *e)
{
    double x[2];
    struct design_row row;
    struct design d;
    struct design_choice chosen;
    /* Ends that differ in prices look at the same plans. */
    int rc = design_choose_with(&chosen, s, h->t->shelf, e);
    rc = rc ? rc : answer_row(&d, chosen, e);
    if (rc)
        return rc;
    if (time_end >= 0 && find_step_time(x, &d))
        scale_step_time(&d, x[time_end]);
    design_row_blank(&row);
    rc = design_words_take(&h->words, s, e);
    design_row_ask(&row, s, &h->words);
    if (!rc)
        rc = design_row_answer(&row, &d, e);
    table_clear(&h->row);
    if (!rc)
        study_put_row(&h->row, h->t->study, TABLE_ROWS, p, h->point, &row);
    design_free(&d);
    return rc || !h->row.failed ? rc : err_nomem(e, "a row");
}

/* The row of h->point with input @p i (-1: none) at @p end. */
static int hand_run(struct tornado_worker *h, int32_t i, int end, struct err *e)
{
    struct sweep_point p;
    struct study_override axes[SWEEP_MAX_KEYS + 1];
    struct design_point s;
    point_at(&p, h->t, h->point);
    struct study_source from = study_source_at(axes, h->t->study, &p);
    from.cache = &h->cache;
    double x = i >= 0 ? h->at[i][end ? 2 : 0] : NAN;
    if (!isnan(x)) {
        h->turn[i] = !h->turn[i];
        axes[from.n_axes++] =
            (struct study_override){ h->t->inputs[i].path, num_format(h->texts[i][h->turn[i]], x) };
    }
    int rc = design_point_read(&s, &from, NEEDS, e);
    if (rc)
        return rc;
    rc = hand_put_row(h, &s, &p, i >= 0 && h->t->inputs[i].range == TORNADO_MEASURED ? end : -1, e);
    design_point_free(&s);
    return rc;
}

static bool may_choose(const struct tornado_worker *h)
{
    return keep_is_design(h->keep, &h->row, 0) && keep_is_within(h->keep, &h->row, 0);
}

static double answer_of(const struct tornado_worker *h, int32_t a)
{
    double x = table_number(&h->row, 0, h->answers[a]);
    return isfinite(x) ? x : NAN;
}

static void tornado_take_best(struct tornado_best *best, struct tornado_best other, bool large)
{
    if (other.point < 0 || isnan(other.value))
        return;
    double x = large ? -other.value : other.value, y = large ? -best->value : best->value;
    if (best->point < 0 || x < y || (x == y && other.point < best->point))
        *best = other;
}

/* ---- what is asked ---- */

/* Has the first point a finite value in the column? */
static bool first_has(const struct tornado_worker *h, const char *name)
{
    int32_t col = table_find(&h->row, name);
    return col >= 0 && h->row.n_rows > 0 && isfinite(table_number(&h->row, 0, col));
}

enum { N_USUAL = 3 };
static const char *const usual_answers[N_USUAL] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(cost_usd),
                                                    DESIGN_COLUMN_IN(system, usd_per_Mtoken) };

/* Which of them is what the first point's split optimises; the time for objectives that are no column. */
static size_t column_of_objective(const struct tornado_worker *h)
{
    int32_t col = table_find(&h->row, "objective");
    const char *word = col >= 0 && h->row.n_rows > 0 ? table_text(&h->row, 0, col) : NULL;
    for (int o = 0; o < N_ALLOC_OBJECTIVES && word; o++)
        if (strcmp(word, alloc_objective_names[o]) == 0)
            return alloc_is_limited((enum alloc_objective)o)     ? 1
                   : alloc_objectives[o].factor == ALLOC_OWN_USD ? 2
                                                                 : 0;
    return 0;
}

static int default_list(struct text *out, const struct tornado *t, struct err *e)
{
    struct err inner = { 0 };
    struct tornado_worker h;
    int rc = hand_build(&h, t, e);
    h.row.n_rows = 0;
    for (int64_t i = 0; i < t->study->sweep.n_points && !rc && !h.row.n_rows && i < 1000; i++) {
        rc = hand_go(&h, i, e);
        if (!rc && h.known && err_is_of_machine(hand_run(&h, -1, 0, &inner)))
            rc = err_set(e, inner.code, "%s", inner.msg);
    }
    size_t first = rc ? 0 : column_of_objective(&h);
    for (size_t i = 0; i < N_USUAL && !rc; i++) {
        size_t at = i == 0 ? first : i <= first ? i - 1 : i; /* that one goes before the others */
        if (first_has(&h, usual_answers[at]))
            text_printf(out, "%s%s", out->n ? "," : "", usual_answers[at]);
    }
    if (!rc && !out->n)
        text_puts(out, usual_answers[0]);
    hand_free(&h);
    return rc ? rc : text_check(out, e);
}

int tornado_ask(struct tornado *t, const char *list, struct err *e)
{
    struct table columns = { 0 };
    struct text usual = { 0 };
    struct err inner = { 0 };
    int rc = list ? 0 : default_list(&usual, t, e);
    study_put_columns(&columns, t->study, TABLE_ROWS);
    if (!rc && columns.failed)
        rc = err_nomem(e, "a tornado");
    for (const char *at = list ? list : text_str(&usual); !rc && at;) {
        char name[80];
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1, at);
        if (t->n_answers == TORNADO_MAX_ANSWERS)
            rc = err_set(e, ERR_USAGE, "option --by has more than %d columns", TORNADO_MAX_ANSWERS);
        else if (keep_take_column(&t->answers[t->n_answers++], &t->rule, name, &columns, &inner))
            rc = inner.code == ERR_NOMEM ? err_nomem(e, "a tornado")
                                         : err_set(e, ERR_USAGE, "option --by %s", inner.msg);
        at = at[n] ? at + n + 1 : NULL;
    }
    text_free(&usual);
    table_free(&columns);
    return rc;
}

double tornado_designs(const struct tornado *t)
{
    return (double)t->study->sweep.n_points * (1 + 2.0 * t->n_inputs);
}

/* ---- all points ---- */

/* The first failure of all, whichever thread finds one first. */
struct failure {
    int64_t task; /* INT64_MAX: none */
    struct err e;
};

static void note_failure(struct failure *f, int64_t task, const struct err *e)
{
#pragma omp critical(tornado_failure)
    if (task < f->task) {
        f->e = *e;
#pragma omp atomic write
        f->task = task;
    }
}

static int run_typical_point(struct tornado *t, struct tornado_worker *h, int64_t point,
                             struct tornado_best *best, struct failure *unread, struct err *e)
{
    struct err inner = { 0 };
    int rc = hand_go(h, point, e);
    if (rc || (!h->known && !h->unread.code))
        return rc;
    rc = h->known ? hand_run(h, -1, 0, &inner) : h->unread.code;
    if (err_is_of_machine(rc))
        return err_set(e, inner.code, "%s", inner.msg);
    if (rc)
        note_failure(unread, point, h->known ? &inner : &h->unread);
    if (rc || !may_choose(h)) {
#pragma omp atomic
        t->n_failed++;
        return 0;
    }
    for (int32_t a = 0; a < t->n_answers; a++)
        tornado_take_best(&best[a], (struct tornado_best){ point, answer_of(h, a) }, t->answers[a].large);
    return 0;
}

/* The point that is best by an answer, read, and its design where @p d is given. Both are the caller's. */
static int open_best(struct design_point *s, struct design *d, const struct tornado *t, int32_t answer,
                     struct err *e)
{
    struct sweep_point p;
    struct study_override axes[SWEEP_MAX_KEYS];
    point_at(&p, t, t->typical[answer].point);
    struct study_source from = study_source_at(axes, t->study, &p);
    int rc = design_point_read(s, &from, NEEDS, e);
    if (rc || !d)
        return rc;
    rc = design_for_row(d, s, e);
    if (rc)
        design_point_free(s);
    return rc;
}

static int find_step_time_at(double at[3], const struct tornado *t, int32_t answer, struct err *e)
{
    struct design_point s;
    struct design d;
    double x[2] = { NAN, NAN };
    int rc = open_best(&s, &d, t, answer, e);
    if (rc)
        return rc;
    at[1] = find_step_time(x, &d) ? 1 : (double)NAN;
    at[0] = x[0];
    at[2] = x[1];
    design_free(&d);
    design_point_free(&s);
    return 0;
}

/* What inputs are where each answer is best. */
static int find_inputs_at(struct tornado *t, struct err *e)
{
    struct tornado_worker h;
    int rc = hand_build(&h, t, e);
    for (int32_t a = 0; a < t->n_answers && !rc; a++) {
        bool known = t->typical[a].point >= 0;
        if (known)
            rc = hand_go(&h, t->typical[a].point, e);
        for (int32_t i = 0; i < t->n_inputs && !rc; i++) {
            double *at = &t->inputs_at[((int64_t)a * t->n_inputs + i) * 3];
            for (int k = 0; k < 3; k++)
                at[k] = known ? h.at[i][k] : (double)NAN;
            if (known && t->inputs[i].range == TORNADO_MEASURED)
                rc = find_step_time_at(at, t, a, e);
        }
    }
    hand_free(&h);
    return rc;
}

int tornado_run_typical(struct tornado *t, int32_t threads, struct err *e)
{
    struct failure failed = { .task = INT64_MAX }, unread = { .task = INT64_MAX };
    if (tornado_designs(t) > TORNADO_MAX_DESIGNS)
        return err_set(e, ERR_RANGE, "%s: %lld points with %d inputs are %.0f designs, expected at most %d",
                       t->study->from.path, (long long)t->study->sweep.n_points, (int)t->n_inputs,
                       tornado_designs(t), TORNADO_MAX_DESIGNS);
    t->ends = calloc((size_t)t->n_inputs * 2 * (size_t)t->n_answers, sizeof *t->ends);
    t->inputs_at = calloc((size_t)t->n_answers * (size_t)t->n_inputs * 3, sizeof *t->inputs_at);
    if (!t->ends || !t->inputs_at)
        return err_nomem(e, "a tornado");
    for (int32_t a = 0; a < t->n_answers; a++)
        t->typical[a] = (struct tornado_best){ -1, NAN };
    struct work work;
    work_begin(&work, "points as they stand", t->study->sweep.n_points);
#pragma omp parallel num_threads(threads)
    {
        struct tornado_worker h;
        struct err own = { 0 };
        struct tornado_best best[TORNADO_MAX_ANSWERS];
        memcpy(best, t->typical, sizeof best);
        if (hand_build(&h, t, &own))
            note_failure(&failed, -1, &own);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < t->study->sweep.n_points; i++) {
            if (!own.code && run_typical_point(t, &h, i, best, &unread, &own))
                note_failure(&failed, i, &own);
            work_step(&work, 1);
        }
#pragma omp critical(tornado_best)
        for (int32_t a = 0; a < t->n_answers; a++)
            tornado_take_best(&t->typical[a], best[a], t->answers[a].large);
        hand_free(&h);
    }
    work_end(&work);
    if (failed.task != INT64_MAX)
        return err_set(e, failed.e.code, "%s", failed.e.msg);
    t->why = unread.e;
    bool any = false;
    for (int32_t a = 0; a < t->n_answers; a++)
        any = any || t->typical[a].point >= 0;
    if (!any && unread.task != INT64_MAX)
        return err_set(e, unread.e.code, "%s", unread.e.msg);
    return any ? find_inputs_at(t, e) : 0;
}

static int64_t end_index(const struct tornado *t, int32_t input, int end, int32_t answer)
{
    return ((int64_t)input * 2 + end) * t->n_answers + answer;
}

const struct tornado_end *tornado_end(const struct tornado *t, int32_t input, int end, int32_t answer)
{
    return &t->ends[end_index(t, input, end, answer)];
}

static int fail_end(const struct tornado_input *in, int end, double x, struct err *e)
{
    char number[NUM_TEXT];
    return err_wrap(e, "%s%s%s%s at its %s %s", in->place ? in->place : "", in->place ? ": " : "",
                    in->place ? "uncertain.keys." : "", in->path, end ? "high" : "low",
                    num_format(number, x));
}

/* One input at one end, at one point. */
static int run_end(struct tornado *t, struct tornado_worker *h, int64_t task, struct tornado_end *ends,
                   struct err *e)
{
    int64_t point = task / (2 * (int64_t)t->n_inputs);
    int32_t i = (int32_t)(task / 2 % t->n_inputs);
    int end = (int)(task % 2);
    struct err inner = { 0 };
    int rc = hand_go(h, point, e);
    if (rc || !h->known)
        return rc;
    if (t->inputs[i].relative && isnan(h->at[i][0]))
        return err_set(e, ERR_RANGE,
                       "%s: uncertain.keys.%s is relative to a key that is not given; give it in the study",
                       t->inputs[i].place, t->inputs[i].path);
    rc = hand_run(h, i, end, &inner);
    /* A point without a design there is not chosen, as among points as they stand. */
    if (rc == ERR_NO_DESIGN)
        return 0;
    if (rc) {
        *e = inner;
        return err_is_of_machine(rc) ? rc : fail_end(&t->inputs[i], end, h->at[i][end ? 2 : 0], e);
    }
    bool may = may_choose(h);
    for (int32_t a = 0; a < t->n_answers; a++) {
        struct tornado_end *x = &ends[end_index(t, i, end, a)];
        double value = answer_of(h, a);
        if (point == t->typical[a].point) {
            x->value = value;
            x->stands = may;
        }
        if (may)
            tornado_take_best(&x->best, (struct tornado_best){ point, value }, t->answers[a].large);
    }
    return 0;
}

static void clear_ends(struct tornado_end *ends, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ends[i] = (struct tornado_end){ .value = NAN, .best = { -1, NAN } };
}

static void merge_ends(struct tornado *t, const struct tornado_end *own)
{
    for (int64_t k = 0; k < (int64_t)t->n_inputs * 2 * t->n_answers; k++) {
        t->ends[k].value = isnan(own[k].value) ? t->ends[k].value : own[k].value;
        t->ends[k].stands = t->ends[k].stands || own[k].stands;
        tornado_take_best(&t->ends[k].best, own[k].best, t->answers[k % t->n_answers].large);
    }
}

/* Of points as good as one another the one that was best stays. */
static void settle_ties(struct tornado *t, int64_t n_ends)
{
    for (int64_t k = 0; k < n_ends; k++) {
        struct tornado_end *x = &t->ends[k];
        if (x->stands && fabs(x->value - x->best.value) <= SAME * fabs(x->value))
            x->best = (struct tornado_best){ t->typical[k % t->n_answers].point, x->value };
    }
}

int tornado_run_ends(struct tornado *t, int32_t threads, struct err *e)
{
    struct failure failed = { .task = INT64_MAX };
    int64_t n_ends = (int64_t)t->n_inputs * 2 * t->n_answers;
    clear_ends(t->ends, n_ends);
    struct work work;
    work_begin(&work, "points with an input at its end", t->study->sweep.n_points * 2 * t->n_inputs);
#pragma omp parallel num_threads(threads)
    {
        struct tornado_worker h;
        struct err own = { 0 };
        struct tornado_end *ends = malloc((size_t)n_ends * sizeof *ends);
        int rc = hand_build(&h, t, &own);
        if (!rc && !ends)
            rc = err_nomem(&own, "a tornado");
        if (rc)
            note_failure(&failed, -1, &own);
        if (ends)
            clear_ends(ends, n_ends);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < t->study->sweep.n_points * 2 * (int64_t)t->n_inputs; i++) {
            int64_t first;
#pragma omp atomic read
            first = failed.task;
            if (!rc && i < first && (rc = run_end(t, &h, i, ends, &own)))
                note_failure(&failed, i, &own);
            work_step(&work, 1);
        }
#pragma omp critical(tornado_best)
        if (ends)
            merge_ends(t, ends);
        free(ends);
        hand_free(&h);
    }
    work_end(&work);
    settle_ties(t, n_ends);
    return failed.task == INT64_MAX ? 0 : err_set(e, failed.e.code, "%s", failed.e.msg);
}

double tornado_swing(const struct tornado *t, int32_t input, int32_t answer)
{
    double least = t->typical[answer].value, most = least;
    for (int end = 0; end < 2; end++) {
        double x = tornado_end(t, input, end, answer)->value;
        if (isnan(x))
            return INFINITY;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    return most - least > SAME * fabs(t->typical[answer].value) ? most - least : 0;
}

bool tornado_moves(const struct tornado *t, int32_t input, int end, int32_t answer)
{
    return tornado_end(t, input, end, answer)->best.point != t->typical[answer].point;
}

bool tornado_is_idle(const struct tornado *t, int32_t input, int32_t answer)
{
    return tornado_swing(t, input, answer) == 0 && !tornado_moves(t, input, 0, answer) &&
           !tornado_moves(t, input, 1, answer);
}

void tornado_rank(struct stat_rank *list, const struct tornado *t, int32_t answer)
{
    for (int32_t i = 0; i < t->n_inputs; i++)
        list[i] = (struct stat_rank){ -tornado_swing(t, i, answer), i };
    stat_sort_ranks(list, t->n_inputs);
}

bool tornado_misses_base(const struct tornado *t, int32_t input, int32_t answer)
{
    const double *at = &t->inputs_at[((size_t)answer * (size_t)t->n_inputs + (size_t)input) * 3];
    double slack = 1e-9 * fabs(at[1]);
    return t->typical[answer].point >= 0 && (at[1] < at[0] - slack || at[1] > at[2] + slack);
}

int tornado_base_place(char *out, size_t n, const struct tornado *t, int32_t input, int32_t answer,
                       struct err *e)
{
    struct design_point s;
    const struct tornado_input *in = &t->inputs[input];
    snprintf(out, n, "%s", in->place ? in->place : t->study->from.path);
    if (in->place)
        return 0;
    int rc = open_best(&s, NULL, t, answer, e);
    if (rc)
        return rc;
    yaml_id id = yaml_find(&s.doc, in->path);
    if (id >= 0)
        yaml_place(&s.doc, id, out, n);
    design_point_free(&s);
    return 0;
}

/* ---- what is not varied ---- */

static bool is_varied(const struct tornado *t, const struct own_item *item)
{
    static const char *const keys[][2] = { { "NPUs", "system.npu_usd" },
                                           { "servers, per NPU", "system.server_usd" },
                                           { "spare servers with their NPUs", "system.npu_usd" } };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(item->name, keys[i][0]) == 0)
            return has_input(t, keys[i][1]) || (i < 1 && has_input(t, "network.npu.usd"));
    return item->usd_down > 0 || item->usd_up > 0;
}

/* Does any input belong to what a step takes: its own error, the workload, the NPU, links? Prices of parts do
 * not. */
static bool is_time_varied(const struct tornado *t, const struct design *d)
{
    static const char *const parts[] = { "workload", "network.npu", "network.dims" };
    double x[2];
    bool is = has_input(t, STEP_TIME) && find_step_time(x, d);
    for (int32_t i = 0; i < t->n_inputs; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            is = is || strncmp(t->inputs[i].path, parts[k], strlen(parts[k])) == 0;
    return is;
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct tornado_fixed *)a)->frac, y = ((const struct tornado_fixed *)b)->frac;
    return (x < y) - (x > y);
}

/* What no input varies, with what measured steps leave open of it. */
static struct tornado_fixed fixed_time(const struct design *d)
{
    struct tornado_fixed x = { "time of a step", 1 };
    double times[2];
    if (find_step_time(times, d))
        snprintf(x.what, sizeof x.what, "time of a step, %.3g to %.3g times it by measured ones", times[0],
                 times[1]);
    return x;
}

static int32_t list_fixed(struct tornado_fixed *out, int32_t most, const struct tornado *t,
                          const struct design *d, const struct system *x, bool of_work)
{
    const struct design_point *s = d->chosen.point;
    int32_t n = 0;
    if (of_work && most > 0 && !is_time_varied(t, d))
        out[n++] = fixed_time(d);
    for (int32_t i = 0; i < x->n_items && n < most; i++) {
        const struct own_item *item = &x->items[i];
        double frac = item->count * item->usd * s->system.terms.support / x->cost.total +
                      own_item_capital(item, &s->system.terms) / x->cost.total;
        if (!(frac > 0) || is_varied(t, item))
            continue;
        snprintf(out[n].what, sizeof out[n].what, "price of %.80s", item->name);
        out[n++].frac = frac;
    }
    qsort(out, (size_t)n, sizeof *out, by_share);
    return n;
}

int tornado_find_fixed(struct tornado_fixed *out, int32_t most, int32_t *n, const struct tornado *t,
                       int32_t answer, struct err *e)
{
    struct design_point s;
    struct design d;
    struct system x;
    const char *name = t->answers[answer].name;
    bool of_work = strcmp(name, DESIGN_COLUMN_IN(system, usd_per_Mtoken)) == 0 ||
                   strcmp(name, DESIGN_COLUMN_IN(system, usd_run)) == 0;
    *n = 0;
    if (strncmp(name, "usd_", 4) != 0 || t->typical[answer].point < 0)
        return 0;
    int rc = open_best(&s, &d, t, answer, e);
    if (rc)
        return rc;
    if (s.has_system && !(rc = system_build(&x, &s, design_owned(&d), e))) {
        *n = isfinite(x.cost.total) ? list_fixed(out, most, t, &d, &x, of_work) : 0;
        system_free(&x);
    }
    design_free(&d);
    design_point_free(&s);
    return rc;
}
