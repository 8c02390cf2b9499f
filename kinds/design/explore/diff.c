/*
 * Documents are walked key by key: maps by their keys, lists by the names of their members, else by position
 * where both are as long; what cannot be matched is one difference of the whole. Rows are compared column by
 * column, so that a column more in a sweep is a line more here.
 */
#include "kinds/design/explore/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/stat.h"
#include "base/vec.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "topo/metric.h"

/* Outputs closer than this are equal: what splits are proved to. */
#define SAME 1e-9

enum { PATH = 1024 };

/* ---- one side ---- */

static void side_free(struct diff_side *x)
{
    design_free(&x->design);
    design_point_free(&x->study);
    design_words_free(&x->words);
    *x = (struct diff_side){ 0 };
}

/* What is there without a workload: the network and its price at given bandwidths. */
static void fill_network(struct diff_side *x)
{
    const struct design_point *s = &x->study;
    const double *bw_Bps = topo_get_bandwidths(x->row.bw_Bps, &s->net);
    x->row.total_GBps = design_point_total_Bps(s, bw_Bps) / 1e9;
    if (topo_has_bandwidths(&s->net))
        x->row.cost_usd = design_point_usd(s, bw_Bps, NULL);
}

static int design_side(struct diff_side *x, bool given, struct err *e)
{
    int rc = given ? design_evaluate(&x->design, &x->study, NULL, e) : design_solve(&x->design, &x->study, e);
    return rc ? rc : design_row_answer(&x->row, &x->design, e);
}

/* Which keys must be there follows from what the network gives, as for weft explain. */
static int side_read(struct diff_side *x, const struct study_source *from, struct err *e)
{
    *x = (struct diff_side){ 0 };
    int rc = design_point_read(&x->study, from, DESIGN_NEEDS_NETWORK, e);
    if (rc)
        return rc;
    bool given = topo_has_bandwidths(&x->study.net), work = x->study.n_workloads > 0;
    design_point_free(&x->study);
    return design_point_read(&x->study, from,
                             !work   ? DESIGN_NEEDS_NETWORK
                             : given ? DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH
                                     : DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                             e);
}

static int side_design(struct diff_side *x, struct err *e)
{
    design_row_blank(&x->row);
    int rc = design_words_take(&x->words, &x->study, e);
    if (rc)
        return rc;
    design_row_ask(&x->row, &x->study, &x->words);
    if (x->study.n_workloads > 0)
        return design_side(x, topo_has_bandwidths(&x->study.net), e);
    fill_network(x);
    return 0;
}

static void put_answers(double out[N_DIFF_ANSWERS], const struct design_row *row)
{
    out[DIFF_TIME] = row->time_s;
    out[DIFF_COST] = row->cost_usd;
    out[DIFF_TOKENS] = row->system.usd_per_Mtoken;
}

/* ---- inputs ---- */

/* Keys of a study that are about several designs, or about none. */
static bool is_of_design(const char *path)
{
    static const char *const others[] = { "vary", "where", "keep", "uncertain", "budget", "name" };
    size_t n = strcspn(path, ".[");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) == n && strncmp(path, others[i], n) == 0)
            return false;
    return true;
}

static bool is_remark(const char *key)
{
    return key && (strcmp(key, "source") == 0 || strcmp(key, "date") == 0);
}

/* The default of a key as YAML; false: it has none that can be written. */
static bool put_default(struct text *out, const char *path)
{
    const struct key *k = sweep_find_key(&design_section, path);
    char number[NUM_TEXT];
    if (!k)
        return false;
    double x = k->own_absent && k->kind == KEY_WORD ? k->absent : k->dflt;
    if (k->kind == KEY_BOOL) {
        text_puts(out, x > 0 ? "true" : "false"); /* NaN is false, as for schema_defaults() */
        return true;
    }
    if (isnan(x) || x < 0)
        return false;
    switch (k->kind) {
    case KEY_REAL:
    case KEY_I64:
    case KEY_I32:
        text_puts(out, num_format(number, x));
        return true;
    case KEY_WORD:
        text_puts(out, k->words[(int)x]);
        return true;
    default:
        return false;
    }
}

/* A value in a line, or the default where there is no node; NULL: neither. */
static int value_text(char **out, bool *is_default, const struct yaml_doc *doc, yaml_id id, const char *path,
                      struct err *e)
{
    struct text text = { 0 };
    bool known = true;
    *out = NULL;
    *is_default = id < 0;
    if (id >= 0)
        sweep_put_yaml(&text, doc, id, false);
    else
        known = put_default(&text, path);
    int rc = text_check(&text, e);
    if (!rc && known && !(*out = strdup(text_str(&text))))
        rc = err_nomem(e, "a difference");
    text_free(&text);
    return rc;
}

static bool same_text(const char *a, const char *b)
{
    double x, y;
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0 || (num_parse_real(a, &x) && num_parse_real(b, &y) && x == y);
}

static void input_free(struct diff_input *in)
{
    free(in->path);
    free(in->text[DIFF_A]);
    free(in->text[DIFF_B]);
    free(in->why);
}

/* Two values of one key; nothing where they are the same. */
static int add_input(struct diff *d, const yaml_id at[DIFF_SIDES], const char *path, struct err *e)
{
    struct diff_input in = { .path = strdup(path),
                             .of_design = is_of_design(path),
                             .alone = { NAN, NAN, NAN } };
    int rc = in.path ? 0 : err_nomem(e, "a difference");
    for (int k = 0; k < DIFF_SIDES && !rc; k++)
        rc = value_text(&in.text[k], &in.is_default[k], &d->sides[k].study.doc, at[k], path, e);
    if (!rc && !same_text(in.text[DIFF_A], in.text[DIFF_B])) {
        if (vec_reserve(d->inputs, d->cap_inputs, d->n_inputs + 1)) {
            d->inputs[d->n_inputs++] = in;
            return 0;
        }
        rc = err_nomem(e, "a difference");
    }
    input_free(&in);
    return rc;
}

static int compare(struct diff *d, const yaml_id at[DIFF_SIDES], const char *path, struct err *e);
static int compare_key(struct diff *d, const yaml_id at[DIFF_SIDES], const char *path, const char *key,
                       struct err *e);

static const struct yaml_node *node_at(const struct diff *d, int side, yaml_id id)
{
    return &d->sides[side].study.doc.nodes[id];
}

/* The name of a member that a path can call it by; NULL: none. */
static const char *member_name(const struct yaml_doc *doc, yaml_id id)
{
    yaml_id name = yaml_get(doc, id, "name");
    const char *text = name >= 0 && doc->nodes[name].kind == YAML_SCALAR ? doc->nodes[name].text : NULL;
    return text && *text && !strpbrk(text, ".[]") ? text : NULL;
}

/* The member of @p list called so, if it is the only one. */
static yaml_id find_member(const struct yaml_doc *doc, yaml_id list, const char *name)
{
    yaml_id found = -1;
    int n = 0;
    yaml_each (id, doc, list) {
        const char *own = member_name(doc, id);
        if (own && strcmp(own, name) == 0) {
            found = id;
            n++;
        }
    }
    return n == 1 ? found : -1;
}

/* Has each member of both a name that the other has, too, in the same order? Then members are compared by it.
 */
static bool same_names(const struct diff *d, const yaml_id at[DIFF_SIDES])
{
    const struct yaml_doc *a = &d->sides[DIFF_A].study.doc, *b = &d->sides[DIFF_B].study.doc;
    if (a->nodes[at[DIFF_A]].n != b->nodes[at[DIFF_B]].n)
        return false;
    yaml_id other = b->nodes[at[DIFF_B]].first;
    yaml_each (id, a, at[DIFF_A]) {
        const char *name = member_name(a, id);
        if (!name || find_member(a, at[DIFF_A], name) != id || find_member(b, at[DIFF_B], name) != other)
            return false;
        other = b->nodes[other].next;
    }
    return true;
}

static int compare_lists(struct diff *d, const yaml_id at[DIFF_SIDES], const char *path, struct err *e)
{
    const struct yaml_doc *a = &d->sides[DIFF_A].study.doc, *b = &d->sides[DIFF_B].study.doc;
    bool named = same_names(d, at);
    int rc = 0;
    if (a->nodes[at[DIFF_A]].n != b->nodes[at[DIFF_B]].n)
        return add_input(d, at, path, e);
    yaml_id other = b->nodes[at[DIFF_B]].first;
    for (yaml_id id = a->nodes[at[DIFF_A]].first; id >= 0 && !rc; id = a->nodes[id].next) {
        char below[PATH + 16];
        const yaml_id pair[] = { id, other };
        if (named) {
            rc = compare_key(d, pair, path, member_name(a, id), e);
        } else {
            snprintf(below, sizeof below, "%s[%d]", path, (int)a->nodes[id].index);
            rc = compare(d, pair, below, e);
        }
        other = b->nodes[other].next;
    }
    return rc;
}

static int compare_key(struct diff *d, const yaml_id at[DIFF_SIDES], const char *path, const char *key,
                       struct err *e)
{
    char below[PATH];
    int n = snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
    if (n >= PATH)
        return err_set(e, ERR_RANGE, "%.80s...: path has more than %d bytes", below, PATH - 1);
    return is_remark(key) ? 0 : compare(d, at, below, e);
}

static int compare_maps(struct diff *d, const yaml_id at[DIFF_SIDES], const char *path, struct err *e)
{
    const struct yaml_doc *a = &d->sides[DIFF_A].study.doc, *b = &d->sides[DIFF_B].study.doc;
    int rc = 0;
    for (yaml_id id = at[DIFF_A] < 0 ? -1 : a->nodes[at[DIFF_A]].first; id >= 0 && !rc;
         id = a->nodes[id].next) {
        const yaml_id pair[] = { id, yaml_get(b, at[DIFF_B], a->nodes[id].key) };
        rc = compare_key(d, pair, path, a->nodes[id].key, e);
    }
    for (yaml_id id = at[DIFF_B] < 0 ? -1 : b->nodes[at[DIFF_B]].first; id >= 0 && !rc;
         id = b->nodes[id].next) {
        const yaml_id pair[] = { -1, id };
        if (yaml_get(a, at[DIFF_A], b->nodes[id].key) < 0)
            rc = compare_key(d, pair, path, b->nodes[id].key, e);
    }
    return rc;
}

/* -1: the side does not have it. */
static int compare(struct diff *d, const yaml_id at[DIFF_SIDES], const char *path, struct err *e)
{
    int there = at[DIFF_A] >= 0 ? DIFF_A : DIFF_B;
    enum yaml_kind kind = node_at(d, there, at[there])->kind;
    if (at[DIFF_A] < 0 || at[DIFF_B] < 0) {
        /* A map that is not given is one of defaults, where its table says so. */
        const struct key *k = sweep_find_key(&design_section, path);
        return kind == YAML_MAP && k && k->kind == KEY_MAP ? compare_maps(d, at, path, e)
                                                           : add_input(d, at, path, e);
    }
    if (kind != node_at(d, DIFF_B, at[DIFF_B])->kind || kind == YAML_SCALAR || !is_of_design(path))
        return add_input(d, at, path, e);
    return kind == YAML_MAP ? compare_maps(d, at, path, e) : compare_lists(d, at, path, e);
}

/* ---- outputs ---- */

static int add_output(struct diff *d, const struct diff_output *x, struct err *e)
{
    if (!vec_reserve(d->outputs, d->cap_outputs, d->n_outputs + 1))
        return err_nomem(e, "a difference");
    d->outputs[d->n_outputs++] = *x;
    return 0;
}

static bool diff_is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

static int add_differing(struct diff *d, const struct diff_output *x, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        if (!diff_is_same(x[i].value[DIFF_A], x[i].value[DIFF_B]))
            rc = add_output(d, &x[i], e);
    return rc;
}

static int compare_column(struct diff *d, const struct column *c, int32_t i, struct err *e)
{
    const enum table_kind kind = column_kind(c);
    struct diff_output x = { .value = { NAN, NAN }, .is_word = kind == TABLE_TEXT };
    char buf[COLUMN_NAME];
    for (int k = 0; k < DIFF_SIDES; k++) {
        struct table_cell cell = column_cell(c, &d->sides[k].row, i);
        if (kind == TABLE_TEXT)
            x.word[k] = cell.text;
        else if (kind == TABLE_REAL)
            x.value[k] = cell.real;
        else if (cell.count != INT64_MIN)
            x.value[k] = (double)cell.count;
    }
    bool same = x.is_word ? (!x.word[0] && !x.word[1]) ||
                                (x.word[0] && x.word[1] && strcmp(x.word[0], x.word[1]) == 0)
                          : diff_is_same(x.value[0], x.value[1]);
    snprintf(x.name, sizeof x.name, "%s", column_name(buf, c, i));
    return same ? 0 : add_output(d, &x, e);
}

static int compare_rows(struct diff *d, struct err *e)
{
    int rc = 0;
    for (const struct column *c = design_columns; c->name; c++) {
        /* How well a split is proved is no property of the design. */
        if ((c->flags & COLUMN_HIDDEN) || strcmp(c->name, "gap") == 0)
            continue;
        for (int32_t i = 0; i < column_count(c) && !rc; i++)
            rc = compare_column(d, c, i, e);
    }
    return rc;
}

/* What a network says of itself, with a workload or not. */
static int compare_networks(struct diff *d, struct err *e)
{
    struct diff_output x[] = { { .name = "n_npus" },
                               { .name = "n_links" },
                               { .name = "n_switches" },
                               { .name = "diameter_hops" },
                               { .name = "mean_hops" },
                               { .name = "bisection_GBps" },
                               { .name = "bisection_is_bound" } };
    size_t n = sizeof x / sizeof *x;
    for (int k = 0; k < DIFF_SIDES; k++) {
        const struct diff_side *side = &d->sides[k];
        struct topo_network net = side->study.net;
        struct topo_metrics m;
        x[0].value[k] = (double)side->study.net.n_npus;
        if (side->study.ideal) { /* of a graph with classes only its NPUs are known here */
            n = 1;
            continue;
        }
        topo_set_bandwidths(&net, side->row.bw_Bps);
        topo_metrics(&m, &net);
        const double values[] = { (double)m.n_links, (double)m.n_switches,  (double)m.diameter_hops,
                                  m.mean_hops,       m.bisection_Bps / 1e9, m.bisection_is_bound };
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            x[i + 1].value[k] = values[i];
    }
    return add_differing(d, x, n, e);
}

double diff_change(double a, double b)
{
    return a != 0 ? b / a - 1 : (double)NAN;
}

/* ---- order ---- */

static double output_rank(const struct diff_output *x)
{
    double least = fmin(fabs(x->value[0]), fabs(x->value[1])),
           most = fmax(fabs(x->value[0]), fabs(x->value[1]));
    if (x->is_word || !isfinite(x->value[0]) || !isfinite(x->value[1]))
        return -1;
    return least > 0 && isfinite(most) ? log(most / least) : HUGE_VAL;
}

static double input_rank(const struct diff_input *in, const double *answers)
{
    double most = in->of_design ? 0 : -1;
    for (int k = 0; k < N_DIFF_ANSWERS; k++)
        most = fmax(most, fabs(in->alone[k] / answers[k])); /* a NaN is left out */
    return most;
}

/* A new list in place of @p items, shape [n] of @p size, in the order of @p ranks; NULL: no memory. */
static void *in_order(void *items, int32_t n, size_t size, struct stat_rank *ranks)
{
    char *sorted = ranks ? malloc(((size_t)n + 1) * size) : NULL;
    if (!sorted)
        return NULL;
    stat_sort_ranks(ranks, n);
    for (int32_t i = 0; i < n; i++)
        memcpy(sorted + (size_t)i * size, (const char *)items + (size_t)ranks[i].at * size, size);
    free(items);
    return sorted;
}

static int sort_all(struct diff *d, struct err *e)
{
    int32_t n = d->n_inputs > d->n_outputs ? d->n_inputs : d->n_outputs;
    struct stat_rank *ranks = calloc((size_t)n + 1, sizeof *ranks);
    for (int32_t i = 0; i < d->n_inputs && ranks; i++)
        ranks[i] = (struct stat_rank){ -input_rank(&d->inputs[i], d->answers[DIFF_A]), i };
    void *inputs = in_order(d->inputs, d->n_inputs, sizeof *d->inputs, ranks);
    d->inputs = inputs ? inputs : d->inputs;
    for (int32_t i = 0; i < d->n_outputs && ranks; i++)
        ranks[i] = (struct stat_rank){ -output_rank(&d->outputs[i]), i };
    void *outputs = in_order(d->outputs, d->n_outputs, sizeof *d->outputs, ranks);
    d->outputs = outputs ? outputs : d->outputs;
    free(ranks);
    return inputs && outputs ? 0 : err_nomem(e, "differences");
}

/* ---- each input alone ---- */

/* The override that gives A what B has: its value or default, else the map around the key without it. @p text
 * is to be freed by the caller; ERR_RANGE: there is no such override. */
static int find_override(struct text *text, char path[PATH], const struct diff *d,
                         const struct diff_input *in, struct err *e)
{
    const struct yaml_doc *doc = &d->sides[DIFF_A].study.doc;
    char *dot = strrchr(in->path, '.');
    int32_t n = 0;
    snprintf(path, PATH, "%s", in->path);
    if (in->text[DIFF_B]) {
        text_puts(text, in->text[DIFF_B]);
        return text_check(text, e);
    }
    yaml_id gone = yaml_find(doc, in->path), map = gone < 0 ? -1 : doc->nodes[gone].parent;
    if (!dot || map < 0 || doc->nodes[map].kind != YAML_MAP)
        return err_set(e, ERR_RANGE, "B does not give it, and it has no default");
    path[dot - in->path] = '\0';
    text_puts(text, "{");
    yaml_each (id, doc, map)
        if (id != gone) {
            text_printf(text, "%s\"%s\": ", n++ ? ", " : "", doc->nodes[id].key);
            sweep_put_yaml(text, doc, id, true);
        }
    text_puts(text, "}");
    return text_check(text, e);
}

/* A difference of an answer; what a split need not be proved to is none. */
static double beyond_proof(double difference, double answer)
{
    return fabs(difference) <= SAME * fabs(answer) ? 0 : difference;
}

static int design_alone(struct diff *d, struct diff_input *in, const struct study_source *from, struct err *e)
{
    struct diff_side x;
    double answers[N_DIFF_ANSWERS];
    int rc = side_read(&x, from, e);
    if (!rc)
        rc = side_design(&x, e);
    if (!rc) {
        put_answers(answers, &x.row);
        for (int k = 0; k < N_DIFF_ANSWERS; k++)
            in->alone[k] = beyond_proof(answers[k] - d->answers[DIFF_A][k], d->answers[DIFF_A][k]);
        if (x.study.n_workloads && !alloc_has_split(&x.design.answer))
            rc = err_set(e, ERR_NO_DESIGN, "%s", alloc_status_names[x.design.answer.status]);
    }
    side_free(&x);
    return rc;
}

/* A with B's value of one key. What does not go is a reason, and no failure. */
static int try_alone(struct diff *d, struct diff_input *in, const struct study_source *a, struct err *e)
{
    struct err why = { 0 };
    struct text value = { 0 };
    char path[PATH];
    struct study_override *o = calloc((size_t)a->n + 1, sizeof *o);
    int rc = o ? find_override(&value, path, d, in, &why) : err_nomem(&why, "a difference");
    if (!rc) {
        for (int32_t i = 0; i < a->n; i++)
            o[i] = a->overrides[i];
        o[a->n] = (struct study_override){ path, text_str(&value) };
        const struct study_source from = { .path = a->path, .overrides = o, .n = a->n + 1 };
        rc = design_alone(d, in, &from, &why);
    }
    text_free(&value);
    free(o);
    if (err_is_of_machine(rc))
        return err_set(e, why.code, "%s", why.msg);
    in->why = rc ? strdup(why.msg) : NULL;
    return rc && !in->why ? err_nomem(e, "a difference") : 0;
}

double diff_together(const struct diff *d, enum diff_answer answer)
{
    double rest = d->answers[DIFF_B][answer] - d->answers[DIFF_A][answer];
    for (int32_t i = 0; i < d->n_inputs; i++)
        rest -= isnan(d->inputs[i].alone[answer]) ? 0 : d->inputs[i].alone[answer];
    return beyond_proof(rest, d->answers[DIFF_A][answer]);
}

/* ---- both ---- */

static int find_designs(struct diff *d, const struct study_source *a, struct err *e)
{
    int rc = 0;
    for (int k = 0; k < DIFF_SIDES && !rc; k++) {
        rc = side_design(&d->sides[k], e);
        put_answers(d->answers[k], &d->sides[k].row);
    }
    for (int32_t i = 0; i < d->n_inputs && !rc; i++)
        if (d->inputs[i].of_design)
            rc = try_alone(d, &d->inputs[i], a, e);
    if (!rc)
        rc = compare_rows(d, e);
    if (!rc)
        rc = compare_networks(d, e);
    return rc ? rc : sort_all(d, e);
}

int diff_build(struct diff *d, const struct study_source from[DIFF_SIDES], struct err *e)
{
    *d = (struct diff){ 0 };
    int rc = side_read(&d->sides[DIFF_A], &from[DIFF_A], e);
    if (!rc)
        rc = side_read(&d->sides[DIFF_B], &from[DIFF_B], e);
    if (rc)
        return rc;
    const yaml_id roots[] = { d->sides[DIFF_A].study.doc.root, d->sides[DIFF_B].study.doc.root };
    rc = compare_maps(d, roots, "", e);
    return rc || d->n_inputs == 0 ? rc : find_designs(d, &from[DIFF_A], e);
}

void diff_free(struct diff *d)
{
    for (int k = 0; k < DIFF_SIDES; k++)
        side_free(&d->sides[k]);
    for (int32_t i = 0; i < d->n_inputs; i++)
        input_free(&d->inputs[i]);
    free(d->inputs);
    free(d->outputs);
    *d = (struct diff){ 0 };
}
