/*
 * weft fail: every kind of single failure of a design, ranked by the share of a year that it costs.
 *
 * Numbers are those of kinds/design/answer/fail.h; two lists of columns say how they read. A step is shown by
 * the closed form and by flow side by side, since they answer differently where routes or fixed shares of the
 * traffic matter (docs/ownership.md, "Degraded").
 */
#include <math.h>
#include <stdio.h>

#include "cli/load.h"
#include "cli/output.h"
#include "kinds/design/answer/fail.h"

#define HOUR_S 3600.0

static const struct option fail_rows[] = {
    REAL_OPTION("slow-link", "SHARE", slow_link, 0.001, 0.999,
                "bandwidth that a slow link keeps, above 0 and below 1 (default: 0.5)"),
    REAL_OPTION("slow-npu", "SHARE", slow_npu, 0.001, 0.999, "speed that a slow NPU keeps (default: 0.8)"),
};
static const struct option_group options_fail = OPTION_GROUP("Failures", fail_rows);

/* ---- what is said ---- */

#define FACT(field, called, ...) COLUMN_AT(struct fail_table, field, called, TABLE_REAL, __VA_ARGS__)
static const struct column fail_facts[] = {
    FACT(time_s, "step_s", "of a healthy step", .title = "healthy step", .show = COLUMN_FITTED),
    FACT(low_s, "step_low_s", "a measured step takes longer, nine times of ten less than step_high_s",
         .title = "  measured, from", .show = COLUMN_FITTED, .flags = COLUMN_IF_ANY),
    FACT(high_s, "step_high_s", "the upper end", .title = "  to", .show = COLUMN_FITTED,
         .flags = COLUMN_IF_ANY),
    FACT(flow_s, "flow_step_s", "the same by flows on the graph", .title = "  by flow",
         .show = COLUMN_FITTED),
    COLUMN_AT(struct fail_table, flow_why, "flow_reason", TABLE_TEXT, "why there is none",
              .flags = COLUMN_CHARS, .in = IN_JSON),
    FACT(restart_s, "restart_s", "from a stop to the next step", .title = "restart after a stop",
         .show = COLUMN_FITTED),
    FACT(redo_s, "redo_s", "of work since the last checkpoint", .title = "  work done again",
         .show = COLUMN_FITTED),
    FACT(stall_frac, "stall_share", "share of the time that checkpoints take", .title = "checkpoints",
         .times = 100, .as = "% of the time", .digits = 3),
    FACT(goodput, "goodput", "share of the time left by stops and checkpoints, before slow steps",
         .as = "of the time, after stops and checkpoints, before slow steps", .digits = 4),
    COLUMN_AT(struct fail_table, defaults, "defaults", TABLE_COUNT, "mean times are not the study's",
              .in = IN_JSON, .show = COLUMN_YES_NO),
    COLUMNS_END,
};

/* A kind of failure, or the sum of all. */
struct fail_line {
    struct fail_row row;
    const char *part;
    int32_t stops; /* -1: a sum */
    double mtbf_h, repair_h;
};

#define LINE(field, called, ...) COLUMN_AT(struct fail_line, field, called, TABLE_REAL, __VA_ARGS__)
static const struct column fail_columns[] = {
    COLUMN_AT(struct fail_line, row.name, "failure", TABLE_TEXT, NULL, .title = "one failure of",
              .flags = COLUMN_CHARS),
    COLUMN_WORD(struct fail_line, part, NULL, .in = IN_DATA),
    LINE(row.count, "count", NULL, .digits = 9),
    LINE(mtbf_h, "mtbf_h", NULL, .title = "MTBF", .unit = "h", .digits = 4),
    LINE(row.per_year, "per_year", NULL, .title = "a year", .digits = 4),
    LINE(row.npus, "npus", NULL, .title = "takes", .as = "NPUs", .digits = 6),
    COLUMN_AT(struct fail_line, stops, "stops", TABLE_COUNT, NULL, .show = COLUMN_YES_NO),
    LINE(row.left, "left", NULL, .in = IN_DATA),
    LINE(row.time_s, "step_s", NULL, .show = COLUMN_FITTED),
    LINE(row.slowdown, "slowdown", NULL, .title = "slower", .times = 100, .as = "%", .digits = 3),
    LINE(row.flow_s, "flow_step_s", NULL, .in = IN_DATA),
    LINE(row.flow_slowdown, "flow_slowdown", NULL, .title = "by flow", .times = 100, .as = "%", .digits = 3),
    COLUMN_AT(struct fail_line, row.flow_why, "flow_reason", TABLE_TEXT, NULL, .in = IN_DATA,
              .flags = COLUMN_CHARS),
    LINE(repair_h, "repair_h", NULL, .title = "repair", .unit = "h", .digits = 3),
    LINE(row.lost_s, "lost_s", NULL, .title = "loses", .times = 1 / 60.0, .as = "min", .digits = 3),
    LINE(row.lost_frac, "lost_share", NULL, .title = "of a year", .times = 100, .as = "%", .digits = 3),
    COLUMNS_END,
};

static void report_fail_head(struct report *r, const struct fail_table *t, const struct design_point *s)
{
    char word[TOPO_SPEC], n[SHOW];
    const char *network = load_network_name(word, &s->net);
    report_json_word(r, "network", network);
    report_line(r, "%s (%s NPUs)\n\n", network, show_count(n, s->net.n_npus));
    r->width = 22;
    report_facts(r, fail_facts, t);
    if (t->flow_why[0])
        report_shown(r, "not timed by flow", "%s", t->flow_why);
    if (t->defaults)
        report_shown(r, "rates", "the study has no system: defaults of weft keys system.mtbf");
    if (t->no_checkpoint)
        report_shown(r, "checkpoints",
                     "taken to be of no size, as there is no model and no system.checkpoint.size_GB");
    report_line(r, "\n");
}

static void report_fail_rows(struct report *r, const struct fail_table *t)
{
    struct fail_line sum;
    report_list(r, "failures", fail_columns);
    for (int32_t i = 0; i < t->n_rows; i++) {
        const struct fail_row *row = &t->rows[i];
        struct fail_line line = { *row, fail_part_words[row->part], row->stops, row->mtbf_s / HOUR_S,
                                  row->repair_s / HOUR_S };
        if (row->n_dims == 0)
            line.row.left = NAN;
        report_row(r, &line);
    }
    row_clear(&sum, fail_columns);
    snprintf(sum.row.name, sizeof sum.row.name, "sum");
    sum.part = "sum";
    sum.row.per_year = t->per_year;
    sum.row.lost_frac = t->lost_frac;
    report_row(r, &sum);
    report_list_end(r);
}

/* What the table leaves out, and why there are dashes. */
static void report_fail_notes(struct report *r, const struct fail_table *t)
{
    bool unrated = false, unflowed = false;
    for (int32_t i = 0; i < t->n_rows; i++) {
        unrated = unrated || isnan(t->rows[i].per_year);
        unflowed = unflowed || (isnan(t->rows[i].flow_s) && t->rows[i].left > 0 && !isnan(t->flow_s));
    }
    report_line(
        r,
        "\nA step is shown where something is left to run on with, also of what stops the job as the study "
        "stands (system.tolerates).\n");
    if (unrated)
        report_line(
            r, "Without an MTBF: no rate is published, or the part fails with its server; the sum is without "
               "them.\n");
    if (t->lost_frac > 0.5)
        report_line(
            r, "The sum is of first order, for what is lost while nothing else fails; goodput counts all.\n");
    for (int32_t i = 0; i < t->n_rows && unflowed; i++)
        if (isnan(t->rows[i].flow_s) && t->rows[i].left > 0 && t->rows[i].flow_why[0])
            report_line(r, "Not timed by flow: %s: %s.\n", t->rows[i].name, t->rows[i].flow_why);
}

static int write_failures(struct run *run, const struct load_design *x, struct err *e)
{
    struct report r = { 0 };
    struct fail_table t = { 0 };
    const struct fail_slow slow = { .link = run->opt.slow_link, .npu = run->opt.slow_npu };
    int rc = fail_build(&t, &x->design, &slow, e);
    if (!rc) {
        output_begin(&r, run, output_origin(x->study));
        report_fail_head(&r, &t, x->study);
        report_fail_rows(&r, &t);
        report_fail_notes(&r, &t);
        load_say_semantics(&r, x->study);
        rc = output_report(&r, run, output_origin(x->study), e);
    }
    fail_free(&t);
    return rc;
}

static int run_fail(struct run *run, struct err *e)
{
    int rc = output_check(run, e);
    return rc ? rc : load_and_write(run, write_failures, e);
}

const struct command cmd_fail = {
    .group = "One design",
    .name = "fail",
    .help = "what each kind of single failure does to a step and costs a year",
    .about =
        "List every kind of single failure of a design: how often it comes, whether it stops the job, what "
        "a\n"
        "step then takes (closed form, and by flow on networks of up to 1,024 NPUs) and what share of a "
        "year\n"
        "all of them cost, the dearest first. Counts and rates are those of the bill and of `system` of the\n"
        "study; without them the links of the network, and the defaults of `weft keys system.mtbf`.\n",
    .scope =
        SCOPE(1, 1, "STUDY", &options_study, &options_search, &options_fail, &options_format, &options_files),
    .run = run_fail,
};
