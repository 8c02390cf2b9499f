/*
 * weft alloc of a cluster study: the network to buy for its jobs, the proof, the steps down to cheaper ones,
 * and what each kind of job alone would choose. Text has the designs that no cheaper one beats, data all.
 */
#include "cli/alloc_mix.h"

#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "cli/output.h"
#include "cli/points.h"
#include "kinds/design/answer/columns.h"
#include "kinds/place/buy.h"
#include "kinds/place/place.h"

/* Without jobs a study has not the keys that tell its kind, but it may have words that are of no other one.
 */
static bool mix_has_word(const struct yaml_doc *doc, const char *key, const char *const *words)
{
    yaml_id at = yaml_get(doc, doc->root, key);
    const char *text = at < 0 ? NULL : doc->nodes[at].text;
    for (; text && *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

bool cmd_alloc_is_mix(const struct study_source *from)
{
    struct yaml_doc doc;
    struct err ignored = { 0 };
    int32_t own_source;
    if (source_open(&doc, &own_source, from, &ignored))
        return false;
    bool is = study_kind_of(&doc) == &place_kind || mix_has_word(&doc, "objective", buy_objective_names) ||
              mix_has_word(&doc, "model", place_model_words);
    yaml_free(&doc);
    return is;
}

/* ---- designs ---- */

static const char *const fates[] = { "open", "ruled out", "same", "beaten", "dropped", "run" };

/* A design as a line. */
struct mix_line {
    int64_t point, seeds, wins;
    char design[400];
    double cost_usd, usd_year, value, value_ci, jct_s, makespan_s, wait_s, stretch;
    double saves_usd, more, more_ci, bound;
    const char *fate, *mark;
};

#define LINE(field, help, ...) COLUMN_REAL(struct mix_line, field, help, __VA_ARGS__)
static const struct column mix_columns[] = {
    COLUMN_COUNT(struct mix_line, point, "point of the study", .in = IN_DATA),
    COLUMN_WORD(struct mix_line, design, "values of the axes, and bandwidths", .flags = COLUMN_CHARS),
    LINE(cost_usd, "price of the network, NPUs included where they are counted", .title = "cost",
         .better = -1),
    LINE(usd_year, "cost of the whole machine per year", .in = IN_DATA, .unit = "USD", .better = -1),
    LINE(value, "value of the objective, mean over seeds", .in = IN_DATA, .better = -1),
    LINE(value_ci, "half width of the 95 % interval of value", .in = IN_DATA),
    LINE(jct_s, "mean completion time", .title = "completion", .show = COLUMN_FITTED, .better = -1),
    LINE(makespan_s, "mean makespan over seeds", .in = IN_DATA, .better = -1),
    LINE(wait_s, "mean time without GPUs", .title = "wait", .show = COLUMN_FITTED, .better = -1),
    LINE(stretch, "running time over that alone in the same place, mean over jobs", .digits = 4,
         .better = -1),
    LINE(saves_usd, "how much cheaper than the best design", .title = "saves", .unit = "USD"),
    LINE(more, "how much worse than the best design in value, relative, seed by seed", .title = "costs",
         .times = 100, .as = "%", .digits = 3, .better = -1),
    LINE(more_ci, "half width of the 95 % interval of more", .title = "\302\261", .times = 100, .as = "%",
         .digits = 2),
    COLUMN_COUNT(struct mix_line, wins, "seeds on which its value is below that of the best design",
                 .in = IN_DATA),
    COLUMN_COUNT(struct mix_line, seeds, "seeds that it ran on", .in = IN_DATA),
    LINE(bound, "lower bound of its value", .in = IN_DATA, .better = -1),
    COLUMN_WORD(struct mix_line, fate,
                "run on all seeds; ruled out by its bound; same: the links of one no dearer; beaten: one is "
                "nowhere slower and no dearer, not run; dropped after some seeds",
                .in = IN_DATA),
    COLUMN_WORD(struct mix_line, mark, NULL, .in = IN_TEXT, .flags = COLUMN_EMPTY),
    COLUMNS_END,
};
enum { N_MIX_COLUMNS = sizeof mix_columns / sizeof *mix_columns };

/* The columns of designs; text shows what is minimized unless it has a column of its own, the completion. */
static void show_objective(struct column columns[N_MIX_COLUMNS], enum buy_objective objective)
{
    memcpy(columns, mix_columns, sizeof mix_columns);
    for (struct column *c = columns; c->name && objective != BUY_COMPLETION; c++)
        if (c->offset == offsetof(struct mix_line, value)) {
            c->in = 0;
            c->title = buy_objectives[objective].title;
            c->as = buy_objectives[objective].unit;
        }
}

/* Was the bandwidth of dimension @p i chosen? Not that of a level which its taper fixes. */
static bool tells(const struct buy_answer *a, const struct topo_network *net, const struct buy_design *d,
                  int32_t i)
{
    bool tied = net->dims[i].level > 0 && net->dims[i].tie > 0;
    return !tied && (a->n == 1 || buy_is_free(a, d, i));
}

/* Keys of a zip take their values together: the first one tells. */
static bool follows(const struct sweep *w, int32_t key)
{
    bool is = false;
    for (int32_t i = 0; i < w->n_axes; i++)
        for (int32_t k = 1; k < w->axes[i].n_keys; k++)
            is = is || w->axes[i].keys[k] == key;
    return is;
}

/* "taper 2, pod 50" */
static void name_design(char *out, size_t size, const struct buy_answer *a, const struct study *s,
                        const struct buy_design *d)
{
    struct topo_network net;
    size_t n = 0;
    out[0] = '\0';
    for (int32_t k = 0; k < s->sweep.n_keys && n < size; k++) {
        char value[SHOW_VALUE];
        if (follows(&s->sweep, k))
            continue;
        const char *path = s->sweep.keys[k].path, *dot = strrchr(path, '.');
        const char *text = cmd_points_value(value, &s->sweep, k, d->point);
        if (*text)
            n += (size_t)snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", dot ? dot + 1 : path, text);
    }
    buy_network(&net, a, d);
    for (int32_t i = 0; i < net.n_dims && n < size; i++) {
        char bw[SHOW];
        if (!tells(a, &net, d, i))
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", net.dims[i].name,
                              show_real(bw, d->bw_Bps[i] / 1e9, 5));
    }
}

static void put_design(struct report *r, const struct buy_answer *a, const struct study *s, int64_t i)
{
    const struct buy_design *d = &a->designs[i], *best = &a->designs[a->best];
    struct mix_line line;
    row_clear(&line, mix_columns);
    name_design(line.design, sizeof line.design, a, s, d);
    line.point = d->point;
    line.cost_usd = d->usd;
    line.usd_year = d->money.usd_year;
    line.bound = d->bound;
    line.fate = fates[d->fate];
    line.mark = i == a->best ? "best" : "";
    line.saves_usd = i == a->best ? (double)NAN : best->usd - d->usd;
    line.seeds = d->n_run;
    if (d->n_run > 0) {
        line.value = d->mean.value;
        line.value_ci = d->half;
        line.jct_s = d->mean.jct_s;
        line.makespan_s = d->mean.makespan_s;
        line.wait_s = d->mean.wait_s;
        line.stretch = d->mean.stretch;
        line.wins = d->wins;
    }
    if (d->n_run > 0 && i != a->best) {
        line.more = d->diff / best->mean.value;
        line.more_ci = d->diff_half / best->mean.value;
    }
    report_row(r, &line);
}

enum { MOST_SHOWN = 24 /* lines of text */ };

/* In text the front, the dearest first, thinned where it is long; in data all, in their order. */
static int put_designs(struct report *r, const struct buy_answer *a, const struct study *s, struct err *e)
{
    struct stat_rank *front = calloc((size_t)a->n + 1, sizeof *front);
    bool text = report_is(r, IN_TEXT);
    int64_t n = 0;
    if (!front)
        return err_nomem(e, "designs");
    for (int64_t i = 0; i < a->n; i++)
        if (!text || i == a->best || a->designs[i].on_front)
            front[n++] = (struct stat_rank){ text && a->designs[i].usd > 0 ? -a->designs[i].usd : 0, i };
    stat_sort_ranks(front, n);
    int64_t shown = text && n > MOST_SHOWN ? MOST_SHOWN : n;
    struct column columns[N_MIX_COLUMNS];
    show_objective(columns, a->objective);
    report_list(r, "designs", columns);
    for (int64_t i = 0; i < shown; i++)
        put_design(r, a, s, front[shown > 1 ? i * (n - 1) / (shown - 1) : 0].at);
    report_list_end(r);
    if (shown < n)
        report_line(r, "%lld of %lld that no cheaper one beats; --of csv has all\n", (long long)shown,
                    (long long)n);
    free(front);
    return 0;
}

/* ---- each kind of job alone ---- */

struct mix_alone {
    const char *job;
    char design[400];
    double share, step_s, best_s, more;
};

#define ALONE(field, help, ...) COLUMN_REAL(struct mix_alone, field, help, __VA_ARGS__)
static const struct column alone_columns[] = {
    COLUMN_WORD(struct mix_alone, job, "entry of the mix"),
    ALONE(share, "share of the jobs", .times = 100, .as = "%", .digits = 3),
    ALONE(step_s, "step alone, with the best design of the mix", .title = "step", .show = COLUMN_FITTED),
    ALONE(best_s, "step alone, with the design that is best for this job", .title = "its best",
          .show = COLUMN_FITTED),
    ALONE(more, "how much slower the design of the mix makes it", .title = "costs", .times = 100, .as = "%",
          .digits = 3),
    COLUMN_WORD(struct mix_alone, design,
                "design that this job alone would choose: the shortest step, the cheapest of equals",
                .title = "would choose", .flags = COLUMN_CHARS),
    COLUMNS_END,
};

static void put_alone(struct report *r, const struct buy_answer *a, const struct study *s)
{
    if (report_is(r, IN_CSV))
        return;
    report_list(r, "alone", alone_columns);
    for (int32_t i = 0; i < a->n_alone; i++) {
        const struct buy_alone *x = &a->alone[i];
        struct mix_alone line = { .job = x->name,
                                  .share = x->weight,
                                  .step_s = x->step_s,
                                  .best_s = x->best_s,
                                  .more = x->step_s / x->best_s - 1 };
        name_design(line.design, sizeof line.design, a, s, &a->designs[x->design]);
        report_row(r, &line);
    }
    report_list_end(r);
}

/* ---- the answer ---- */

static const char *const regimes[] = { "alone", "queue", "shared" };
static const char *const regime_says[] = {
    "no job waits and no link is shared: the value is the sum of steps, and the split is solved",
    "jobs wait, no link is shared: steps are those of the bound, the queue is simulated",
    "links are shared: the value is simulated",
};

static const char *show_value(char buf[SHOW], const struct buy_answer *a, double x)
{
    if (strcmp(buy_objectives[a->objective].unit, "s") == 0)
        return show_time(buf, x);
    show_real(buf, x, 6);
    size_t n = strlen(buf);
    snprintf(buf + n, SHOW - n, " %s", buy_objectives[a->objective].unit);
    return buf;
}

/* How each design was settled, in the words of the counts of JSON. */
static const struct {
    enum buy_fate fate;
    const char *count, *says;
} settled[] = {
    { BUY_BOUND, "ruled_out", "ruled out by bounds" },
    { BUY_TWIN, "same", "with the links of one no dearer" },
    { BUY_BEATEN, "beaten", "nowhere faster and no cheaper than another" },
    { BUY_DROPPED, "dropped", "dropped after some seeds" },
    { BUY_RAN, "run", "run on all" },
};
enum { N_SETTLED = sizeof settled / sizeof *settled };

static void mix_say_counts(struct report *r, const struct buy_answer *a)
{
    report_line(r, "%lld design%s", (long long)a->n, a->n == 1 ? "" : "s");
    for (int i = 0, n = 0; i < N_SETTLED; i++)
        if (a->n_fates[settled[i].fate] > 0)
            report_line(r, "%s%lld %s", n++ ? ", " : ": ", (long long)a->n_fates[settled[i].fate],
                        settled[i].says);
    report_line(r, "\n");
}

/* The fewest and most seeds that designs of @p fate ran on. */
static void mix_find_seeds(int64_t *least, int64_t *most, const struct buy_answer *a, enum buy_fate fate)
{
    *least = a->seeds;
    *most = 0;
    for (int64_t i = 0; i < a->n; i++) {
        int64_t n = a->designs[i].n_run;
        if (a->designs[i].fate != fate)
            continue;
        *least = n < *least ? n : *least;
        *most = n > *most ? n : *most;
    }
}

/* What holds for the whole question, and what is likely alone. */
static void mix_say_verdict(struct report *r, const struct buy_answer *a)
{
    int64_t least, most, dropped = a->n_fates[BUY_DROPPED], beaten = a->n_fates[BUY_BEATEN];
    mix_say_counts(r, a);
    if (a->proved) {
        report_line(r, "proved: none is better on these seeds\n\n");
        return;
    }
    report_line(r, "proved: %sof the others %lld are no better on these seeds\n",
                isnan(a->bound) ? "" : "no design is below the bound; ",
                (long long)(a->n - dropped - beaten - 1));
    mix_find_seeds(&least, &most, a, BUY_DROPPED);
    if (dropped)
        report_line(r,
                    "found: %lld dropped %s worse on the %lld to %lld of %lld seeds run, each at 99.9 %%\n",
                    (long long)dropped, dropped == 1 ? "is" : "are", (long long)least, (long long)most,
                    (long long)a->seeds);
    if (beaten)
        report_line(
            r,
            "found: %lld %s not run: nowhere faster and no cheaper than another; a queue may favour a "
            "slower network by luck\n",
            (long long)beaten, beaten == 1 ? "was" : "were");
    report_line(r, "\n");
}

static void mix_say_proof(struct report *r, const struct buy_answer *a)
{
    char v[SHOW], h[SHOW], b[SHOW], g[SHOW];
    const struct buy_design *best = &a->designs[a->best];
    report_line(r, "%s  %s", buy_objectives[a->objective].title, show_value(v, a, best->mean.value));
    if (!isnan(best->half))
        report_line(r, " \302\261 %s", show_value(h, a, best->half));
    report_line(r, " over %lld seeds under %s\n", (long long)a->seeds, a->scheduler);
    if (isnan(a->bound))
        report_line(r,
                    "bound  none: designs in fractions of parts are not enumerated; give pricing: whole\n");
    else
        report_line(r, "bound  %s on these seeds, gap %s %%\n", show_value(b, a, a->bound),
                    show_real(g, 100 * a->gap, 3));
    report_line(r, "%s\n", regime_says[a->regime]);
    mix_say_verdict(r, a);
}

/* Of the same total, or of that the study gives. */
static void mix_say_equal(struct report *r, const struct buy_answer *a)
{
    const struct buy_equal *even = &a->equal;
    const struct buy_design *d = even->best ? &a->designs[a->best] : &even->design;
    const double best = a->designs[a->best].mean.value;
    char each[SHOW], v[SHOW], more[SHOW], ci[SHOW], usd[SHOW];
    report_json_real(r, "equal_GBps", even->is ? even->each_Bps / 1e9 : (double)NAN);
    report_json_real(r, "equal_value", even->is ? d->mean.value : (double)NAN);
    report_json_real(r, DESIGN_COLUMN(equal_cost_usd), even->is ? d->usd : (double)NAN);
    if (!even->is)
        return;
    report_line(r, "equal split  %s GB/s each: ", show_real(each, even->each_Bps / 1e9, 5));
    if (even->best) {
        report_line(r, "the best design\n");
        return;
    }
    report_line(r, "%s, %s", show_value(v, a, d->mean.value), show_real(more, 100 * d->diff / best, 3));
    if (!isnan(d->diff_half))
        report_line(r, " \302\261 %s", show_real(ci, 100 * d->diff_half / best, 2));
    report_line(r, " %% more");
    if (!isnan(d->usd))
        report_line(r, ", %s USD", show_usd(usd, d->usd));
    report_line(r, "\n");
}

static int write_answer(struct report *r, const struct buy_answer *a, const struct study *s, struct err *e)
{
    report_line(r, "%s%sa network for %s\n", text_str(&s->name), s->name.n ? ": " : "",
                buy_objectives[a->objective].title);
    report_json_word(r, "objective", buy_objective_names[a->objective]);
    report_json_word(r, "scheduler", a->scheduler);
    report_json_count(r, "seeds", a->seeds);
    report_json_word(r, "regime", regimes[a->regime]);
    report_json_real(r, "value", a->designs[a->best].mean.value);
    report_json_real(r, "lower_bound", a->bound);
    report_json_real(r, "gap", a->gap);
    report_json_flag(r, "proved", a->proved);
    report_json_count(r, "best", a->best);
    for (int i = 0; i < N_SETTLED; i++)
        report_json_count(r, settled[i].count, a->n_fates[settled[i].fate]);
    mix_say_proof(r, a);
    int rc = put_designs(r, a, s, e);
    mix_say_equal(r, a);
    report_line(r, "\n");
    put_alone(r, a, s);
    return rc;
}

int cmd_alloc_mix(struct run *run, const struct study_source *from, struct err *e)
{
    struct buy_answer a;
    struct study s;
    struct report r = { 0 };
    struct origin origin = { 0 };
    int rc = buy_find(&a, &s, from, omp_get_max_threads(), e);
    if (!rc) {
        output_notes(run, &s.notes);
        output_notes(run, &a.notes);
        rc = study_find_hash(&s, e);
        origin = cmd_points_origin(&s);
    }
    if (!rc && a.best < 0) {
        output_say(run, "%s: infeasible: no design satisfies the constraints", from->path);
        output_outcome(run, EXIT_NO_DESIGN);
    } else if (!rc) {
        output_begin(&r, run, origin);
        rc = write_answer(&r, &a, &s, e);
        rc = rc ? rc : output_report(&r, run, origin, e);
    }
    report_free(&r);
    study_close(&s);
    buy_free(&a);
    return rc;
}
