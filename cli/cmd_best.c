/*
 * weft best: the best designs of a study's points, proved, without solving every point
 * (kinds/design/explore/best.h). Rows are those of a sweep; what is proved of the whole, and what became of
 * the points that were not solved, stands below them in text, and on standard error in CSV and JSON.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linexpr.h"
#include "base/sheet.h"
#include "base/work.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/points.h"
#include "cli/progress.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/explore/best.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/whatif.h"
#include "study/campaign.h"

/* Of designs that are as good as a row the points of so many are told. */
enum { DEFAULT_TOP = 3, TOLD_TIES = 5, MOST_PARTS = 1000 };

struct best_job {
    struct run *run;
    struct study study;
    struct campaign_plan plan; /* columns, and the rule of `keep` with --limit and --per */
    struct sweep_slice *parts; /* shape [n_parts], owned: each has a best of its own; NULL: all points */
    int32_t n_parts;
    char by[FRONT_MAX_COLUMNS * (sizeof(((struct keep_column *)NULL)->name) + 4)];
    struct best_ask ask;
    struct best_answer answer;
    struct whatif whatif;
    bool asked_whatif;           /* and found */
    struct whatif_share *shares; /* shape [answer.rows.n_rows], owned; NULL: nothing is drawn */
    struct whatif_rest rest;
    bool may_leave_out[KEEP_MAX_LIMITS]; /* of the limits, in any part so far */
    int32_t n_kept;                      /* limits that are of the study's `keep` */
    struct progress progress;
    struct text out;   /* owned: what was said of the parts so far, */
    struct table rows; /* and their rows, where these are written as a table */
};

/* ---- what is held apart ---- */

static int32_t key_called(const struct sweep *w, const char *path)
{
    for (int32_t k = 0; k < w->n_keys; k++)
        if (strcmp(w->keys[k].path, path) == 0)
            return k;
    return -1;
}

/* Is key @p path what column @p per tells? A workload's name is that of what stands in for it, too. */
static bool is_told(const char *per, const char *path)
{
    const struct column *c = column_find(design_columns, per);
    const char *dot = strrchr(path, '.'), *last = dot ? dot + 1 : path;
    bool is = strcmp(per, path) == 0 || (c && c->axis && strcmp(c->axis, path) == 0);
    return is || (strcmp(per, DESIGN_COLUMN(workload)) == 0 && keep_tells_work(&design_kind, path) &&
                  (strcmp(last, "name") == 0 || strcmp(last, "workload") == 0));
}

/* Key @p k, once. */
static void hold_apart(int32_t *keys, int32_t *n, int32_t k)
{
    bool is = false;
    for (int32_t i = 0; i < *n; i++)
        is = is || keys[i] == k;
    if (!is)
        keys[(*n)++] = k;
}

/* --per, else `per` of the study's keep, or what this is by default; and the keys that tell these columns,
 * shape [SWEEP_MAX_KEYS]. */
static int take_per(struct best_job *j, int32_t *keys, int32_t *n, struct err *e)
{
    struct keep_rule *rule = &j->plan.rule;
    const struct sweep *w = &j->study.sweep;
    const char *per = j->run->opt.front_per;
    bool asked = per || rule->n_per;
    int rc = 0;
    rule->n_per = per ? 0 : rule->n_per;
    if (per && per[0])
        rc = cmd_points_take_list(rule, "per", per, keep_take_per, &j->plan.columns, e);
    if (!asked)
        keep_default_per(rule, &j->plan.columns);
    for (int32_t i = 0; i < rule->n_per && !rc; i++) {
        /* These two are the same where no key tells them. */
        bool known =
            is_told(rule->per[i], DESIGN_COLUMN(workload)) || is_told(rule->per[i], DESIGN_COLUMN(objective));
        for (int32_t k = 0; k < w->n_keys; k++)
            if (is_told(rule->per[i], w->keys[k].path)) {
                hold_apart(keys, n, k);
                known = true;
            }
        if (!known)
            rc = err_set(e, ERR_USAGE,
                         "%.300s: designs are held apart by %s, which is no key that varies; "
                         "give --per KEY,..",
                         j->run->opt.operands[0], rule->per[i]);
    }
    return rc;
}

static int find_parts(struct best_job *j, struct err *e)
{
    int32_t keys[SWEEP_MAX_KEYS], n = 0;
    struct err inner = { 0 };
    const struct sweep *w = &j->study.sweep;
    int rc = take_per(j, keys, &n, e);
    j->n_parts = 1;
    if (rc || !n)
        return rc;
    rc = sweep_find_parts(&j->parts, &j->n_parts, w, keys, n, MOST_PARTS, &inner);
    return rc == ERR_RANGE
               ? err_set(e, ERR_USAGE, "%.300s: what designs are held apart by (%s%s) %s; give --per",
                         j->run->opt.operands[0], w->keys[keys[0]].path, n > 1 ? ", .." : "", inner.msg)
           : rc ? err_nomem(e, "points")
                : 0;
}

/* A key that varies, is not held apart, and is as @p tells; NULL: there is none. */
static const char *find_varied(const struct best_job *j,
                               bool (*tells)(const struct study_kind *kind, const char *name))
{
    const struct sweep *w = &j->study.sweep;
    for (int32_t k = 0; k < w->n_keys; k++) {
        bool apart = false;
        for (int32_t i = 0; j->parts && i < j->parts->n_keys; i++)
            apart = apart || j->parts->keys[i] == k;
        if (!apart && tells(&design_kind, w->keys[k].path))
            return w->keys[k].path;
    }
    return NULL;
}

/* Times of different work do not compare, nor do those of steps of different size. */
static void warn_work(const struct best_job *j)
{
    const char *work = find_varied(j, keep_tells_work), *batch = find_varied(j, keep_tells_batch);
    if (work)
        output_warn(j->run, "%s varies: designs for different work are compared with each other", work);
    for (int32_t i = 0; i < j->ask.by.n && batch; i++)
        if (strcmp(j->ask.by.factors[i].name, design_kind.time) == 0)
            output_warn(j->run,
                        "%s is of a step, and %s varies: steps of different size are compared; give "
                        "--by max:%s, or --per %s",
                        design_kind.time, batch, design_kind.rate, batch);
}

/* ---- what is asked ---- */

static int fail_objective(const struct best_job *j, const char *why, struct err *e)
{
    return err_set(e, ERR_USAGE, "%.300s: %s; give --by COLUMN", j->run->opt.operands[0], why);
}

/* The column that the study's objective is about. */
static int take_objective(struct best_job *j, struct err *e)
{
    struct sweep_point first;
    struct design_point s;
    for (int32_t k = 0; k < j->study.sweep.n_keys; k++)
        if (strcmp(j->study.sweep.keys[k].path, DESIGN_COLUMN(objective)) == 0)
            return fail_objective(j, "varies its objective", e);
    sweep_find_point(&first, &j->study.sweep, 0);
    int rc = design_load(&s, &j->study, &first, e);
    if (rc)
        return rc;
    /* The least time of a step would be that of the least batch. */
    const char *batch =
        alloc_is_time(s.objective) && design_step_tokens(&s) > 0 ? find_varied(j, keep_tells_batch) : NULL;
    bool blank = alloc_objectives[s.objective].factor == ALLOC_OWN_WATT && !s.has_system; /* in rows */
    if (blank || !best_name_objective(j->by, sizeof j->by, s.objective))
        rc = fail_objective(j, "has an objective of which rows have no column", e);
    if (batch)
        snprintf(j->by, sizeof j->by, "max:%s", design_kind.rate);
    design_point_free(&s);
    return rc;
}

/* --by, else what keep.top of the study is by, else its keep.front, else the objective. */
static int take_by(struct best_job *j, struct err *e)
{
    struct err inner = { 0 };
    struct keep_rule *rule = &j->plan.rule;
    const char *by = j->run->opt.front_by;
    int rc = 0;
    if (!j->run->opt.xy.top && rule->n_top > BEST_MAX_TOP)
        return err_set(e, ERR_USAGE, "%.300s: keep.top.n is %lld, expected at most %d; give --top",
                       j->run->opt.operands[0], (long long)rule->n_top, BEST_MAX_TOP);
    if (by) {
        if (strlen(by) >= sizeof j->by)
            return err_set(e, ERR_USAGE, "option --by is \"%.60s...\", expected a column", by);
        snprintf(j->by, sizeof j->by, "%s", by);
    } else if (rule->n_top) {
        snprintf(j->by, sizeof j->by, "%s:%s", rule->top.large ? "max" : "min", rule->top.name);
    } else if (!rule->n_front) {
        rc = take_objective(j, e);
    }
    if (rc)
        return rc;
    if (*j->by && !strchr(j->by, ',')) {
        j->ask.top = j->run->opt.xy.top ? (int32_t)j->run->opt.xy.top : (int32_t)rule->n_top;
        j->ask.top = j->ask.top > 0 ? j->ask.top : DEFAULT_TOP;
        rc = best_take_by(&j->ask.by, rule, j->by, &j->plan.columns, &inner);
    } else if (*j->by) {
        rule->n_front = 0;
        rc = keep_take_list(rule, j->by, keep_take_front, &j->plan.columns, &inner);
    }
    return rc ? options_misuse("by", &inner, e) : 0;
}

/* What is of the best few alone. */
static int check_front(const struct best_job *j, struct err *e)
{
    const struct {
        const char *option;
        bool is;
    } of_few[] = { { "top", j->run->opt.xy.top > 0 },
                   { "ties", j->run->opt.front_ties > 0 },
                   { "what-if", j->run->opt.what_if } };
    for (size_t i = 0; i < sizeof of_few / sizeof *of_few && !j->ask.top; i++)
        if (of_few[i].is)
            return err_set(e, ERR_USAGE, "option --%s is of the best few; give --by one COLUMN",
                           of_few[i].option);
    return 0;
}

static int take_limits(struct best_job *j, struct err *e)
{
    struct err inner = { 0 };
    j->n_kept = j->plan.rule.n_where;
    for (int32_t i = 0; i < j->run->opt.limits.n; i++)
        if (keep_take_limit(&j->plan.rule, j->run->opt.limits.items[i], &j->plan.columns, &inner))
            return options_misuse("limit", &inner, e);
    return 0;
}

/* ---- what no point has ---- */

/* What a study would have to have for designs to have a value in column @p name; NULL: it has it. */
static const char *find_lack(const struct design_point *s, const char *name)
{
    bool of_tokens =
        strcmp(name, design_kind.rate) == 0 || strcmp(name, DESIGN_COLUMN_IN(system, usd_per_Mtoken)) == 0;
    if (strcmp(name, DESIGN_COLUMN(cost_usd)) == 0 && !s->has_parts && !design_point_takes_graph_prices(s))
        return "parts";
    if (column_find(system_columns, name) && !s->has_system)
        return "system";
    return of_tokens && !(design_step_tokens(s) > 0) ? "a model of tokens" : NULL;
}

/* Does something vary that may give what the first point lacks? */
static bool may_differ(const struct sweep *w)
{
    static const char *const whole[] = { "network", "workload", "workloads", "parts", "system" };
    bool may = w->n_grids > 1;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        may = may || key_called(w, whole[i]) >= 0;
    return may;
}

static int fail_lack(const struct best_job *j, const struct design_point *s, const char *name, struct err *e)
{
    const char *lack = find_lack(s, name);
    return lack ? err_set(e, ERR_RANGE, "%.300s: has no %s without %s; give it, or another column",
                          j->run->opt.operands[0], name, lack)
                : 0;
}

/* Columns that limits are about. */
static int check_limits(const struct best_job *j, const struct design_point *s, struct err *e)
{
    const struct table *t = &j->plan.columns;
    struct linexpr x = { .coef = malloc(((size_t)t->n_cols + 1) * sizeof *x.coef) };
    int rc = x.coef ? 0 : err_nomem(e, "limits");
    for (int32_t i = 0; i < j->plan.rule.n_where && !rc; i++) {
        rc = linexpr_parse(&x, j->plan.rule.where[i], (const char *const *)t->names, t->n_cols, e);
        for (int32_t k = 0; k < t->n_cols && !rc; k++)
            rc = x.coef[k] == 0 ? 0 : fail_lack(j, s, t->names[k], e);
    }
    free(x.coef);
    return rc;
}

/* What is sought and what is limited has a value, before every point is solved to find that it has none. */
static int check_columns(const struct best_job *j, struct err *e)
{
    struct sweep_point first;
    struct design_point s;
    struct err ignored;
    int rc = 0;
    if (may_differ(&j->study.sweep))
        return 0;
    sweep_find_point(&first, &j->study.sweep, 0);
    if (design_load(&s, &j->study, &first, &ignored))
        return 0; /* the point says why */
    for (int32_t i = 0; i < j->ask.by.n && !rc; i++)
        rc = fail_lack(j, &s, j->ask.by.factors[i].name, e);
    rc = rc ? rc : check_limits(j, &s, e);
    design_point_free(&s);
    return rc;
}

static int begin(struct best_job *j, const struct overrides *o, struct err *e)
{
    const struct run *run = j->run;
    const struct study_ask ask = { .kind = &design_kind,
                                   .may_be_point = true,
                                   .from = {
                                       .path = run->opt.operands[0], .overrides = o->list, .n = o->n } };
    int rc = study_open(&j->study, &ask, e);
    if (rc)
        return rc;
    output_notes(j->run, &j->study.notes);
    load_say_study_ages(j->run, &j->study);
    rc = campaign_plan_make(&j->plan, &j->study, false, e);
    rc = rc ? rc : find_parts(j, e);
    rc = rc ? rc : take_by(j, e);
    rc = rc ? rc : check_front(j, e);
    rc = rc ? rc : take_limits(j, e);
    rc = rc ? rc : check_columns(j, e);
    if (rc)
        return rc;
    warn_work(j);
    j->ask.study = &j->study;
    j->ask.columns = &j->plan.columns;
    j->ask.rule = &j->plan.rule;
    j->ask.ties = run->opt.front_ties > TOLD_TIES ? (int32_t)run->opt.front_ties : TOLD_TIES;
    j->ask.threads = run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs();
    return study_find_hash(&j->study, e);
}

/* A best_progress. */
static void show_progress(void *context, const struct best_state *s)
{
    struct progress *p = context;
    char value[SHOW], bound[SHOW];
    p->note[0] = '\0';
    if (s->n_front)
        snprintf(p->note, sizeof p->note, "%.20s on the front", show_count(value, s->n_front));
    int n = 0;
    if (isfinite(s->value))
        n = snprintf(p->note, sizeof p->note, "best %.20s", show_real(value, s->value, 4));
    /* Known once each set of points has one. */
    if (n && isfinite(s->bound))
        snprintf(p->note + n, sizeof p->note - (size_t)n, ", bound %.20s", show_real(bound, s->bound, 4));
    progress_report(p, s->n_ruled_out + s->n_solved, s->n_points);
}

/* ---- what is said ---- */

/* "total_GBps=100, workload.parallel.batch=16" and @p end, of one part of several. */
static void put_apart(struct text *out, const struct best_job *j, const char *end)
{
    const struct sweep *w = &j->study.sweep;
    for (int32_t k = 0; w->part && k < w->part->n_keys; k++)
        text_printf(out, "%s%s=%.100s%s", k ? ", " : "", w->keys[w->part->keys[k]].path,
                    w->part->values[k] ? w->part->values[k] : "", k + 1 < w->part->n_keys ? "" : end);
}

/* "least usd_per_Mtoken", "most tokens_per_s", "least time_s*cost_usd"; "front of time_s, max:mfu". */
static void put_by(struct text *out, const struct best_job *j)
{
    const struct best_by *by = &j->ask.by;
    const struct keep_rule *rule = &j->plan.rule;
    if (!j->ask.top) {
        for (int32_t i = 0; i < rule->n_front; i++)
            text_printf(out, "%s%s %s", i ? ", " : "front of ", rule->front[i].large ? "most" : "least",
                        rule->front[i].name);
        return;
    }
    text_puts(out, by->factors[0].large ? "most " : "least ");
    for (int32_t i = 0; i < by->n; i++)
        text_printf(out, "%s%s", i ? "*" : "", by->factors[i].name);
}

static bool is_all_solved(const struct best_answer *a)
{
    int64_t n = 0;
    for (int i = 0; i < N_BEST_BOUNDS; i++)
        n += a->n_ruled_out[i];
    return n == 0;
}

/* What no other point does, and how far what is open may be ahead. */
static void put_bound(struct text *out, const struct best_job *j)
{
    const struct best_answer *a = &j->answer;
    char n[SHOW], value[SHOW];
    bool many = a->rows.n_rows > 1;
    double last = j->ask.top ? a->values[a->rows.n_rows - 1] : (double)NAN;
    if (a->proved && (j->ask.top ? isnan(a->bound) : is_all_solved(a)))
        text_printf(out, "proof       proved: all points that satisfy the limits were solved\n");
    else if (a->proved && !j->ask.top)
        text_printf(out, "proof       proved: one of these beats the bounds of every point not solved\n");
    else if (a->proved)
        text_printf(out, "proof       proved: no other point %s, by their bounds, which begin at %s\n",
                    many ? "is better than the last of these" : "is better", show_real(value, a->bound, 6));
    else if (!j->ask.top || isinf(a->bound))
        text_printf(out, "proof       not proved: %s points are open, and may be %s\n",
                    show_count(n, a->n_open), j->ask.top ? "better; some have no bound yet" : "on the front");
    else
        text_printf(
            out, "proof       not proved: %s points are open; no design is better than %s (gap %.3g)\n",
            show_count(n, a->n_open), show_real(value, a->bound, 6), fabs(last - a->bound) / fabs(last));
}

/* The columns that are sought. Returns how many. */
static int32_t find_sought(const struct keep_column **sought, const struct best_job *j)
{
    *sought = j->ask.top ? j->ask.by.factors : j->plan.rule.front;
    return j->ask.top ? j->ask.by.n : j->plan.rule.n_front;
}

static void put_unbounded(struct text *out, const struct best_job *j)
{
    const struct best_parts nothing = { 0 };
    const struct keep_column *sought;
    int32_t n = find_sought(&sought, j);
    for (int32_t i = 0; i < n; i++) {
        bool is_known;
        best_column(&is_known, &nothing, sought[i].name);
        if (!is_known)
            text_printf(out, "bounds      none is known for %s: every point within the limits was solved\n",
                        sought[i].name);
    }
}

static void put_proof(struct text *out, const struct best_job *j)
{
    const struct best_answer *a = &j->answer;
    char n[SHOW];
    if (a->proved || a->n_open)
        put_bound(out, j);
    else if (a->n_unproved)
        text_printf(out, "proof       not proved: %s solved points have no proof of their own\n",
                    show_count(n, a->n_unproved));
    else
        text_printf(
            out, "proof       not proved: the bound of %s points was above their value; please report it\n",
            show_count(n, a->n_above));
    put_unbounded(out, j);
}

/* Points that are as good as a row: the first few of each. */
static void put_ties(struct text *out, const struct best_job *j)
{
    const struct best_answer *a = &j->answer;
    const char *head = "as good    ";
    char n[SHOW];
    int64_t at = 0;
    for (int64_t i = 0; i < a->rows.n_rows && j->ask.top; i++) {
        int64_t kept = a->n_ties[i] < j->ask.ties ? a->n_ties[i] : j->ask.ties;
        for (int64_t k = 0; k < kept && k < TOLD_TIES; k++) {
            if (k == 0)
                text_printf(out, "%s as point %lld: %s more, point%s", head,
                            (long long)table_point(&a->rows, i), show_count(n, a->n_ties[i]),
                            a->n_ties[i] > 1 ? "s" : "");
            text_printf(out, "%s %lld", k ? "," : "", (long long)table_point(&a->ties, at + k));
            head = "           ";
        }
        at += kept;
        text_puts(out, !kept ? "" : a->n_ties[i] > TOLD_TIES ? ", ..\n" : "\n");
    }
}

static void put_limit(struct text *out, const struct best_job *j, int32_t k)
{
    const struct best_limit *x = &j->answer.limits[k];
    char n[SHOW], least[SHOW];
    if (!x->n) {
        text_printf(out, "            none that was looked at beyond %s\n", j->plan.rule.where[k]);
        return;
    }
    text_printf(out, "            %s beyond %s", show_count(n, x->n), j->plan.rule.where[k]);
    if (isfinite(x->least))
        text_printf(out, ", by %s or more", show_real(least, x->least, 4));
    text_puts(out, "\n");
}

static void put_counts(struct text *out, const struct best_job *j)
{
    const struct best_answer *a = &j->answer;
    char n[SHOW], solved[SHOW];
    text_printf(out, "points      %s, %s solved\n", show_count(n, a->n_points),
                show_count(solved, a->n_solved));
    if (a->n_left_out)
        text_printf(out, "            %s left out by where\n", show_count(n, a->n_left_out));
    if (a->n_infeasible)
        text_printf(out, "            %s without a design; %s\n", show_count(n, a->n_infeasible),
                    text_str(&a->why));
    for (int32_t k = 0; k < j->plan.rule.n_where; k++)
        put_limit(out, j, k);
    for (int i = 0; i < N_BEST_BOUNDS; i++)
        if (a->n_ruled_out[i])
            text_printf(out, "            %s ruled out by %s\n", show_count(n, a->n_ruled_out[i]),
                        best_bound_words[i]);
}

/* What a step consists of, in the words of its columns. */
static const struct {
    const char *column, *word;
} parts[] = {
    { DESIGN_COLUMN(compute_s), "compute" },
    { DESIGN_COLUMN_IN(training, recompute_s), "recomputation" },
    { DESIGN_COLUMN(comm_s), "communication" },
    { DESIGN_COLUMN_IN(training, bubble_s), "pipeline bubble" },
    { DESIGN_COLUMN_IN(training, optimizer_s), "optimizer" },
    { DESIGN_COLUMN_IN(training, overhead_s), "overhead" },
    { DESIGN_COLUMN(time_s), "step" },
};
static const char *const shares[] = { DESIGN_COLUMN(cost_usd), DESIGN_COLUMN_IN(system, watt_peak),
                                      DESIGN_COLUMN_IN(system, usd_year) };

/* Why the second is not the first: parts of the step, and ratios of price, power and yearly cost. */
static void put_runner_up(struct text *out, const struct best_job *j)
{
    const struct table *t = &j->answer.rows;
    char a[SHOW], buf[SHOW];
    if (t->n_rows < 2 || !j->ask.top)
        return;
    text_printf(out, "second      %s to %s", show_real(a, j->answer.values[1], 6),
                show_real(buf, j->answer.values[0], 6));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int32_t col = table_find(t, parts[i].column);
        if (col < 0) /* not of this study's workloads */
            continue;
        double more_s = keep_number(t, 1, col) - keep_number(t, 0, col);
        if (fabs(more_s) > 1e-6 * fabs(keep_number(t, 0, table_find(t, DESIGN_COLUMN(time_s)))))
            text_printf(out, ", %s %+.4g s", parts[i].word, more_s);
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        int32_t col = table_find(t, shares[i]);
        double ratio = col < 0 ? (double)NAN : keep_number(t, 1, col) / keep_number(t, 0, col);
        if (fabs(ratio - 1) > 1e-6)
            text_printf(out, ", %s x %.4g", shares[i], ratio);
    }
    text_puts(out, "\n");
}

/* "gb200-nvl72, size of row 72": the values of point @p i in which it differs from the best. */
static void put_difference(struct text *out, const struct best_job *j, int64_t i)
{
    const struct sweep *w = &j->study.sweep;
    const struct table *t = &j->answer.rows;
    int64_t best = table_point(t, 0);
    char here[SHOW_VALUE], there[SHOW_VALUE];
    bool any = false;
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = cmd_points_value(here, w, k, i);
        if (strcmp(value, cmd_points_value(there, w, k, best)) == 0)
            continue;
        const char *path = w->keys[k].path;
        text_printf(out, "%s%s=%.60s", any ? ", " : "", path, value);
        any = true;
    }
}

/* A value nearer than this to what is known is within the doubt of anything. */
static void put_whatif_line(struct text *out, const struct best_job *j, const struct whatif_line *x)
{
    char is[SHOW], from[SHOW], low[SHOW], high[SHOW];
    bool published = isfinite(x->at[0]) && isfinite(x->at[2]);
    text_printf(out, "            %s: %s, from %s on point %lld (", x->label, show_real(is, x->at[1], 4),
                show_real(from, x->value, 4), (long long)x->point);
    put_difference(out, j, x->point);
    text_puts(out, ")");
    if (published)
        text_printf(out, "; %s %s to %s", x->value >= x->at[0] && x->value <= x->at[2] ? "within" : "beyond",
                    show_real(low, x->at[0], 4), show_real(high, x->at[2], 4));
    text_printf(out, "%s\n", x->proved ? "" : "; not proved");
}

static void put_whatif(struct text *out, const struct best_job *j)
{
    const struct whatif *w = &j->whatif;
    int32_t open = 0;
    if (!j->asked_whatif)
        return;
    text_printf(out, "what if     %s\n",
                w->n_found ? "another design is the best, nearest first:"
                : w->n     ? "none of the inputs that were tried makes another the best"
                           : "nothing is uncertain");
    for (int32_t i = 0; i < w->n_found; i++)
        put_whatif_line(out, j, &w->lines[i]);
    for (int32_t i = w->n_found; i < w->n; i++)
        open += !w->lines[i].proved;
    text_printf(
        out,
        "            %d of %d inputs, one at a time, down or up, leave it the best, as far as published "
        "or to half or double\n",
        (int)(w->n - w->n_found - open), (int)w->n);
    if (open)
        text_printf(out, "            %d are not proved\n", (int)open);
    if (w->n_unused)
        text_printf(out, "            %d prices of parts that none of these has were left out\n",
                    (int)w->n_unused);
}

/* How often each of these is the best of all within the noise, and what choosing it costs in the mean. */
static void put_shares(struct text *out, const struct best_job *j)
{
    const struct design_own *own = j->study.own;
    char share[SHOW], regret[SHOW], n[SHOW];
    if (!j->shares)
        return;
    text_printf(out, "draws       of %s, among these", show_count(n, own->uncertain.draws));
    if (j->rest.n)
        text_printf(out, " and %s%d others within the noise", j->rest.all ? "" : "the nearest ",
                    (int)j->rest.n);
    text_puts(out, ", with their plans:");
    if (isnan(j->shares[0].best))
        text_printf(out, " %s is not drawn of all of them", j->by);
    for (int64_t i = 0; i < j->answer.rows.n_rows && !isnan(j->shares[0].best); i++)
        text_printf(out, "%s point %lld best in %s %%, regret %s %%", i ? ";" : "",
                    (long long)j->shares[i].point, show_real(share, 100 * j->shares[i].best, 3),
                    show_real(regret, 100 * j->shares[i].regret, 3));
    if (j->rest.n && !isnan(j->shares[0].best))
        text_printf(out, "; another one in %s %%", show_real(share, 100 * j->rest.best, 3));
    text_puts(out, "\n");
}

static void put_answer(struct text *out, const struct best_job *j)
{
    put_proof(out, j);
    put_ties(out, j);
    put_runner_up(out, j);
    put_whatif(out, j);
    put_shares(out, j);
    put_counts(out, j);
}

/* No rows: which limit rules out most, and by how little. */
static void say_nothing(const struct best_job *j)
{
    struct text lines = { 0 };
    put_apart(&lines, j, ": ");
    text_printf(&lines, "%s\n",
                j->answer.n_open ? "no design was found yet" : "no point has a design within the limits");
    put_counts(&lines, j);
    output_say_lines(j->run, &lines);
    text_free(&lines);
}

/* The best of each value, and as many that are as good as --ties asks for. */
static void list_rows(struct table *rows, const struct best_job *j)
{
    const struct best_answer *a = &j->answer;
    int64_t at = 0;
    for (int64_t i = 0; i < a->rows.n_rows; i++) {
        int64_t kept = !j->ask.top ? 0 : a->n_ties[i] < j->ask.ties ? a->n_ties[i] : j->ask.ties;
        table_copy_row(rows, &a->rows, i);
        for (int64_t k = 0; k < kept && k < j->run->opt.front_ties; k++)
            table_copy_row(rows, &a->ties, at + k);
        at += kept;
    }
}

static int put_page(struct best_job *j, struct err *e)
{
    struct study_report said = { .kind = &design_kind };
    struct text *out = &j->out;
    const struct keep_column *sought;
    struct table rows = { 0 };
    char n[SHOW];
    study_put_columns(&rows, &j->study, TABLE_ROWS);
    list_rows(&rows, j);
    int rc = rows.failed ? err_nomem(e, "rows") : study_trim(&rows, j->study.tables[TABLE_ROWS].list, e);
    int32_t n_sought = find_sought(&sought, j);
    said.rows = &rows;
    for (int32_t i = 0; i < n_sought && i < STUDY_MAX_SOUGHT; i++)
        said.sought[i] = sought[i].name;
    text_puts(out, out->n ? "\n" : "");
    put_apart(out, j, ": ");
    put_by(out, j);
    text_printf(out, " of %s point%s%s\n\n", show_count(n, j->answer.n_points),
                j->answer.n_points > 1 ? "s" : "", j->answer.proved ? ", proved" : "");
    rc = rc ? rc : design_kind.say(out, &said, e);
    text_puts(out, "\n");
    put_answer(out, j);
    table_free(&rows);
    return rc;
}

/* What was found of a part, or of all points. */
static int take_answer(struct best_job *j, struct err *e)
{
    if (j->answer.rows.n_rows == 0) {
        say_nothing(j);
        return 0;
    }
    if (output_format(j->run) == TABLE_AS_TEXT)
        return put_page(j, e);
    put_apart(&j->out, j, ":\n");
    put_answer(&j->out, j);
    list_rows(&j->rows, j);
    return j->rows.failed ? err_nomem(e, "rows") : 0;
}

/* In the order of a sweep. */
static int sort_rows(struct best_job *j, struct err *e)
{
    struct table old = j->rows;
    struct table_place *places = table_places(&old);
    if (!places)
        return err_nomem(e, "rows");
    j->rows = (struct table){ 0 };
    study_put_columns(&j->rows, &j->study, TABLE_ROWS);
    for (int64_t i = 0; i < old.n_rows; i++)
        table_copy_row(&j->rows, &old, places[i].row);
    free(places);
    table_free(&old);
    return j->rows.failed ? err_nomem(e, "rows") : 0;
}

/* A table of the best few has the best first, one of a front the bytes of a sweep's. */
static int write_answers(struct best_job *j, struct err *e)
{
    if (output_format(j->run) == TABLE_AS_TEXT)
        return output_text(j->run, &j->out, e);
    int rc = j->ask.top ? 0 : sort_rows(j, e);
    rc = rc ? rc : study_trim(&j->rows, j->study.tables[TABLE_ROWS].list, e);
    rc = rc ? rc : output_table(j->run, &j->rows, cmd_points_origin(&j->study), e);
    if (!rc)
        output_say_lines(j->run, &j->out);
    return rc;
}

/* Of the best by less is no question where the best is not known. */
static int find_whatif(struct best_job *j, struct err *e)
{
    const struct table *t = &j->answer.rows;
    int64_t *leaders = malloc((size_t)t->n_rows * sizeof *leaders);
    if (!leaders)
        return err_nomem(e, "points");
    for (int64_t i = 0; i < t->n_rows; i++)
        leaders[i] = table_point(t, i);
    int rc = whatif_find(&j->whatif, &j->ask, leaders, (int32_t)t->n_rows, e);
    j->asked_whatif = !rc;
    const struct design_own *own = j->study.own;
    if (!rc && own && !uncertain_is_empty(&own->uncertain)) {
        j->shares = calloc((size_t)t->n_rows, sizeof *j->shares);
        rc = j->shares ? whatif_draw(j->shares, &j->rest, &j->ask, leaders, (int32_t)t->n_rows, e)
                       : err_nomem(e, "draws");
    }
    free(leaders);
    return rc;
}

/* Of one part of the points, or of all. */
static int find_part(struct best_job *j, struct err *e)
{
    int rc = best_find(&j->answer, &j->ask, e);
    for (int32_t k = 0; k < j->plan.rule.n_where && !rc; k++)
        j->may_leave_out[k] = j->may_leave_out[k] || j->answer.limits[k].may_leave_out;
    if (!rc && j->run->opt.what_if && j->answer.rows.n_rows && !j->answer.stopped)
        rc = find_whatif(j, e);
    rc = rc ? rc : take_answer(j, e);
    best_free(&j->answer);
    whatif_free(&j->whatif);
    free(j->shares);
    j->asked_whatif = false;
    j->shares = NULL;
    return rc;
}

/* As weft sweep says it. */
static void warn_limits(const struct best_job *j)
{
    for (int32_t k = 0; k < j->plan.rule.n_where; k++)
        if (!j->may_leave_out[k])
            output_warn(j->run, "%s: \"%s\" leaves out no further design",
                        k < j->n_kept ? "keep.where" : "option --limit", j->plan.rule.where[k]);
}

static int find_and_write(struct best_job *j, struct err *e)
{
    int rc = 0;
    progress_begin(&j->progress, j->run, "points");
    j->ask.progress = show_progress;
    j->ask.context = &j->progress;
    study_put_columns(&j->rows, &j->study, TABLE_ROWS);
    for (int32_t i = 0; i < j->n_parts && !rc; i++) {
        j->study.sweep.part = j->parts ? &j->parts[i] : NULL;
        rc = find_part(j, e);
    }
    bool any = j->out.n > 0;
    progress_end(&j->progress, j->run,
                 !any         ? "nothing was found so far"
                 : j->ask.top ? "the best so far follows"
                              : "the front so far follows");
    if (!rc && !any && !work_stopped())
        output_outcome(j->run, EXIT_NO_DESIGN);
    if (!rc && any)
        warn_limits(j);
    return rc || !any ? rc : write_answers(j, e);
}

static int run_best(struct run *run, struct err *e)
{
    struct best_job j = { .run = run };
    struct overrides o = { 0 };
    int rc = output_check(run, e);
    rc = rc ? rc : load_overrides(&o, run, e);
    rc = rc ? rc : begin(&j, &o, e);
    rc = rc ? rc : find_and_write(&j, e);
    text_free(&j.out);
    table_free(&j.rows);
    free(j.parts);
    campaign_plan_free(&j.plan);
    study_close(&j.study);
    overrides_free(&o);
    return rc;
}

static const struct option best_rows[] = {
    TEXT_OPTION("by", "COLUMN", front_by,
                "column to minimize, or max:COLUMN; or a product, as in time_s*cost_usd; or the front\n"
                "                       over 2 to 5, as in time_s,cost_usd (default: keep.top of the study,\n"
                "                       else keep.front, else its objective)"),
    COUNT_OPTION("top", "K", xy.top, 1, BEST_MAX_TOP,
                 "number of best points, each worse than the one before by more than a tie\n"
                 "                       (default: keep.top, else 3)"),
    COUNT_OPTION("ties", "N", front_ties, 1, 1000000,
                 "below each of them list N that are as good, the cheapest first (default: count them)"),
    TEXT_OPTION("per", "KEYS", front_per,
                "keys that vary, with commas: the best for each of their values, of all other keys the best\n"
                "                       (default: keep.per, else work that varies; '' for one best)"),
    LIST_OPTION("limit", "TEXT", limits,
                "only designs within it, as in \"watt_peak <= 16e6\"; may be repeated, beside keep.where"),
    FLAG_OPTION("what-if", what_if,
                "also the nearest value of each price, published range and efficiency at which another\n"
                "                       design is the best"),
    OPTION_THREADS("points"),
};
static const struct option_group best_options = OPTION_GROUP("Best", best_rows);

const struct command cmd_best = {
    .group = "Many designs",
    .name = "best",
    .help = "the best designs of a study, proved, without solving every point",
    .about =
        "Find the best points of STUDY, whose `vary` spans machines, networks, prices, batches and plans,\n"
        "or its front. Every point, or a set of them, gets lower bounds; a point is solved only while its\n"
        "bound is not above the last of the best, or while no point of the front beats its bounds. The rows\n"
        "are those that weft sweep writes for these points; below them stand the proof, why the second is\n"
        "not the first, and what ruled out the others. --top counts designs that differ in COLUMN, keep.top\n"
        "of a sweep rows. SIGINT writes the best so far and its gap.\n",
    .scope =
        SCOPE(1, 1, "STUDY", &best_options, &options_study, &options_search, &options_format, &options_files),
    .run = run_best,
};
