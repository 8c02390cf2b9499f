/*
 * The answer of rows that are held against each other (one workload, as a rule): the knee of their front,
 * beside the cheapest, the fastest and the equal split of the same bandwidth. Each row is already the best by
 * the study's own objective within its constraints. No product of time and cost is asked: the least is the
 * cheapest design as a rule, which is slow.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sheet.h"
#include "cli/html.h"
#include "cli/html_design.h"
#include "cli/webpage.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/runner.h"

/* Of the question: axes, and what tells designs apart. */
static bool is_asked(const struct webpage *p, int32_t col)
{
    static const char *const names[] = { DESIGN_COLUMN(network), DESIGN_COLUMN(objective),
                                         DESIGN_COLUMN(total_GBps) };
    const char *name = p->t.names[col];
    if (p->faces[col].common || strcmp(name, "point") == 0)
        return false;
    for (int32_t k = 0; k < p->rule.n_per; k++)
        if (strcmp(p->rule.per[k], name) == 0)
            return false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0)
            return true;
    if (p->kind->label && strcmp(p->kind->label, name) == 0)
        return true;
    return !column_find(p->kind->tables[TABLE_ROWS].columns, name) &&
           !study_describe(&(struct made_column){ .of = { .name = NULL } }, p->kind, TABLE_ROWS, name);
}

/* "network flat, total 200 GB/s" */
static void put_asked(struct webpage *p, int64_t row)
{
    char buf[COLUMN_NAME];
    bool any = false;
    for (int32_t col = 0; col < p->t.n_cols; col++)
        if (is_asked(p, col) && !webpage_is_blank(p, row, col)) {
            text_puts(&p->out, any ? ", " : "");
            html_put(&p->out, webpage_title(&p->faces[col], buf));
            text_puts(&p->out, " ");
            webpage_put_value(p, row, col);
            any = true;
        }
}

/* "step 0.82 s, cost 2,847,000 USD" of the columns of the front. */
static void put_values(struct webpage *p, int64_t row)
{
    char buf[COLUMN_NAME];
    for (int32_t k = 0; k < p->rule.n_front; k++) {
        int32_t col = table_find(&p->t, p->rule.front[k].name);
        text_puts(&p->out, k ? ", " : "");
        html_put(&p->out, webpage_title(&p->faces[col], buf));
        text_puts(&p->out, " ");
        webpage_put_value(p, row, col);
    }
}

static const char *answer_word(const struct webpage *p, const struct rivals *g)
{
    if (p->n_results == 1)
        return "the design";
    if (p->rule.n_front < 2)
        return "the best";
    return g->knee >= 0      ? "the knee of the front"
           : g->n_front == 1 ? "the best in both"
                             : "the front has no knee: its fastest end";
}

static void put_baseline(struct webpage *p, int64_t row)
{
    int32_t time = table_find(&p->t, DESIGN_COLUMN(equal_time_s)),
            cost = table_find(&p->t, DESIGN_COLUMN(equal_cost_usd));
    if (!p->has_equal || !isfinite(table_number(&p->t, row, time)))
        return;
    text_puts(&p->out, " Equal split: ");
    webpage_put_value(p, row, time);
    if (cost >= 0 && isfinite(table_number(&p->t, row, cost))) {
        text_puts(&p->out, ", ");
        webpage_put_value(p, row, cost);
    }
    text_puts(&p->out, ".");
}

/* How far measured steps of this kind lie from the model; NaN: not known. */
static double find_band(const struct webpage *p, int64_t row)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    struct sweep_point at = { 0 };
    struct design_point s;
    struct err ignored = { 0 };
    double band = NAN;
    int32_t col = table_find(&p->t, "point");
    if (p->study.kind != &design_kind || col < 0)
        return NAN;
    if (p->study.sweep.n_grids)
        sweep_find_point(&at, &p->study.sweep, table_count(&p->t, row, col));
    const struct study_source from = study_source_at(axes, &p->study, &at);
    if (design_point_read(&s, &from, DESIGN_NEEDS_WORKLOAD, &ignored) == 0 && s.n_workloads == 1 &&
        s.workloads[0].training) {
        struct evidence v;
        if (evidence_find(&v, s.workloads[0].training, &s.net.npu))
            band = expm1(v.reach);
    }
    design_point_free(&s);
    return band;
}

/* Designs whose steps differ by less than the model can tell. A front falls in cost as its time rises, so the
 * last of them is the cheapest. */
static void put_alike(struct webpage *p, int32_t group, int64_t answer)
{
    static const double usual = 0.01; /* as good as none of the models is checked to */
    const struct front *f = &p->fronts.fronts[group];
    char share[SHOW];
    if (p->rule.n_front < 2 || strcmp(p->rule.front[0].name, DESIGN_COLUMN(time_s)) != 0)
        return;
    double band = find_band(p, answer), within = isfinite(band) ? band : usual;
    int64_t n = 0;
    while (n < f->n_sorted && f->x[n * f->n_cols] <= f->x[0] * (1 + within))
        n++;
    if (n < 2)
        return;
    show_real(share, 100 * (f->x[(n - 1) * f->n_cols] / f->x[0] - 1), 2);
    text_printf(&p->out,
                n == f->n_sorted ? " All %lld designs of the front"
                                 : " %lld of the %lld designs of the front",
                (long long)n, (long long)f->n_sorted);
    text_printf(&p->out, " take the same time within %s %%: no different, as ", share);
    if (isfinite(band))
        text_printf(&p->out, "nine of ten measured steps of this kind are within %s %% of the model",
                    show_real(share, 100 * band, 2));
    else
        text_puts(&p->out, "no step time of a model is sure to 1 %");
    text_printf(&p->out, ". The cheapest of them is %s ", webpage_row_word(p));
    webpage_put_link(p, f->id[n - 1]);
    text_puts(&p->out, f->id[n - 1] == answer ? ", this one." : ".");
}

enum { MOST_VERDICTS = 6 };

void webpage_put_verdict(struct webpage *p)
{
    if (p->n_results == 0) {
        text_puts(&p->out,
                  "<p class=\"lead\">No row of this table is a result; the reasons are below.</p>\n");
        return;
    }
    text_puts(&p->out, "<ul class=\"lead\">\n");
    for (int32_t g = 0; g < p->n_groups && g < MOST_VERDICTS; g++) {
        const struct rivals *x = &p->groups[g];
        int64_t row = webpage_answer_row(x);
        text_puts(&p->out, "<li>");
        if (*x->name) {
            text_puts(&p->out, "<b>");
            webpage_put_group(&p->out, x, html_put);
            text_puts(&p->out, "</b>: ");
        }
        text_printf(&p->out, "%s ", webpage_row_word(p));
        webpage_put_link(p, row);
        text_puts(&p->out, " (");
        put_asked(p, row);
        text_printf(&p->out, "), %s: ", answer_word(p, x));
        put_values(p, row);
        text_puts(&p->out, ".");
        put_baseline(p, row);
        put_alike(p, g, row);
        text_puts(&p->out, "</li>\n");
    }
    text_puts(&p->out, "</ul>\n");
    if (p->n_groups > MOST_VERDICTS)
        text_printf(&p->out, "<p>%d more stand in the table below.</p>\n", (int)p->n_groups - MOST_VERDICTS);
}

/* Nothing, or nothing but rounding, in any answer. */
static bool is_blank_in_answers(const struct webpage *p, int32_t col)
{
    bool blank = true;
    for (int32_t g = 0; g < p->n_groups && blank; g++)
        blank = webpage_is_blank(p, webpage_answer_row(&p->groups[g]), col);
    return blank || p->faces[col].tiny;
}

/* Columns of the table of answers: what was asked, the front, and what else people judge designs by. */
static bool is_judged(const struct webpage *p, int32_t col)
{
    static const char *const names[] = {
        DESIGN_COLUMN(compute_s),
        DESIGN_COLUMN(comm_s),
        DESIGN_COLUMN_IN(training, bubble_s),
        DESIGN_COLUMN(speedup),
        DESIGN_COLUMN(perf_per_cost_gain),
        DESIGN_COLUMN(nic_GBps),
        DESIGN_COLUMN_IN(training, mfu),
        DESIGN_COLUMN_IN(system, watt_peak),
        DESIGN_COLUMN_IN(system, usd_per_Mtoken),
        DESIGN_COLUMN_IN(system, goodput),
        DESIGN_COLUMN(gap),
    };
    if (is_blank_in_answers(p, col))
        return false;
    for (int32_t k = 0; k < p->rule.n_front; k++)
        if (strcmp(p->rule.front[k].name, p->t.names[col]) == 0)
            return true;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], p->t.names[col]) == 0)
            return true;
    return is_asked(p, col);
}

/* The columns of the front by those of the equal split, as far as there are any; the rest is blank. */
static void put_equal_row(struct webpage *p, int64_t row)
{
    int32_t from[2] = { table_find(&p->t, DESIGN_COLUMN(equal_time_s)),
                        table_find(&p->t, DESIGN_COLUMN(equal_cost_usd)) };
    if (!p->has_equal || !isfinite(table_number(&p->t, row, from[0])))
        return;
    text_puts(&p->out, "<tr><td></td><th scope=\"row\" class=\"t\">its equal split</th><td></td>");
    for (int32_t k = 0; k < p->t.n_cols; k++) {
        int32_t col = p->order[k], at = -1;
        if (!is_judged(p, col))
            continue;
        if (strcmp(p->t.names[col], DESIGN_COLUMN(time_s)) == 0)
            at = from[0];
        if (strcmp(p->t.names[col], DESIGN_COLUMN(cost_usd)) == 0)
            at = from[1];
        if (at >= 0)
            webpage_put_td(p, row, at, false);
        else
            text_puts(&p->out, "<td></td>");
    }
    text_puts(&p->out, "</tr>\n");
}

static void put_answer_row(struct webpage *p, const struct rivals *g, int64_t row, const char *what)
{
    text_puts(&p->out, "<tr><td class=\"t\">");
    webpage_put_group(&p->out, g, html_put);
    text_printf(&p->out, "</td><th scope=\"row\" class=\"t\">%s</th><td>", what);
    webpage_put_link(p, row);
    text_puts(&p->out, "</td>");
    for (int32_t k = 0; k < p->t.n_cols; k++)
        if (is_judged(p, p->order[k]))
            webpage_put_td(p, row, p->order[k], false);
    text_puts(&p->out, "</tr>\n");
}

/* "least step", "most utility" */
static void end_word(char out[COLUMN_NAME + 8], const struct webpage *p, int32_t k)
{
    const struct keep_column *c = &p->rule.front[k];
    char buf[COLUMN_NAME];
    snprintf(out, COLUMN_NAME + 8, "%s %s", c->large ? "most" : "least",
             webpage_title(&p->faces[table_find(&p->t, c->name)], buf));
}

void webpage_put_answers(struct webpage *p)
{
    char first[COLUMN_NAME + 8], second[COLUMN_NAME + 8];
    if (p->n_groups == 0)
        return;
    end_word(first, p, 0);
    end_word(second, p, p->rule.n_front - 1);
    bool one = p->n_results == 1, equal = p->has_equal;
    text_printf(&p->out,
                "<section aria-labelledby=\"h-answer\"><h2 id=\"h-answer\">Answer%s%s</h2>\n<div "
                "class=\"wide\"><table><caption>%s",
                one && !equal ? "" : " beside ",
                one     ? equal ? "the equal split" : ""
                : equal ? "the ends and the equal split"
                        : "the ends",
                !one    ? "Of each front its knee and its ends"
                : equal ? "The design, and the equal split of its bandwidth"
                        : "The design at the bandwidths that it has");
    text_puts(&p->out, "</caption><thead><tr><th scope=\"col\" class=\"t\">of</th><th scope=\"col\" "
                       "class=\"t\">what</th><th "
                       "scope=\"col\">");
    text_puts(&p->out, webpage_row_word(p));
    text_puts(&p->out, "</th>");
    for (int32_t k = 0; k < p->t.n_cols; k++)
        if (is_judged(p, p->order[k]))
            webpage_put_th(p, p->order[k], "");
    text_puts(&p->out, "</tr></thead><tbody>\n");
    for (int32_t g = 0; g < p->n_groups && g < 4 * WEBPAGE_PANELS; g++) {
        const struct rivals *x = &p->groups[g];
        put_answer_row(p, x, webpage_answer_row(x),
                       x->knee >= 0      ? "knee"
                       : x->n_front == 1 ? answer_word(p, x)
                                         : first);
        put_equal_row(p, webpage_answer_row(x));
        if (x->knee >= 0)
            put_answer_row(p, x, x->first, first);
        if (x->second != x->first)
            put_answer_row(p, x, x->second, second);
    }
    text_puts(&p->out, "</tbody></table></div></section>\n");
}

/* ---- what a design consists of ---- */

enum { MOST_DESIGNS = 4 };

/* A network is drawn once, whatever its bandwidths. */
static bool is_new_network(const struct webpage *p, int32_t group)
{
    int32_t col = table_find(&p->t, DESIGN_COLUMN(network));
    for (int32_t g = 0; g < group && col >= 0; g++)
        if (webpage_cells_equal(&p->t, webpage_answer_row(&p->groups[g]),
                                webpage_answer_row(&p->groups[group]), col))
            return false;
    return true;
}

static int put_design(struct webpage *p, int32_t group, struct err *e)
{
    int64_t row = webpage_answer_row(&p->groups[group]);
    long long id = (long long)p->ids[row];
    text_printf(&p->out,
                "<section aria-labelledby=\"h-d%lld\"><h2 id=\"h-d%lld\">Why, and what it consists of: %s "
                "%lld</h2>\n<p>",
                id, id, webpage_row_word(p), id);
    put_asked(p, row);
    text_puts(&p->out, "</p>\n");
    int rc = html_design(&p->out, &p->study, table_point(&p->t, row), is_new_network(p, group),
                         p->t.n_rows == 1, e);
    text_puts(&p->out, "</section>\n");
    return rc;
}

/* Of the answers, where the study is at hand. */
int webpage_put_designs(struct webpage *p, struct err *e)
{
    int rc = 0;
    if (p->study.kind != &design_kind)
        return 0;
    for (int32_t g = 0; g < p->n_groups && g < MOST_DESIGNS && !rc; g++)
        rc = put_design(p, g, e);
    return rc;
}
