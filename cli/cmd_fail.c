/*
 * weft fail: every kind of single failure of a design, ranked by the share of a year that it costs.
 *
 * Numbers are those of kinds/design/answer/fail.h; this file words them. A step is shown by the closed form
 * and by flow side by side, since they answer differently where routes or fixed shares of the traffic matter
 * (docs/ownership.md, "Degraded").
 */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "cli/load.h"
#include "cli/output.h"
#include "kinds/design/answer/fail.h"

#define HOUR_S 3600.0

/* Of what is slow and not gone: half of a link as one lane of two, an NPU that is hot. */
static const struct fail_slow fail_usual_slow = { .link = 0.5, .npu = 0.8 };

static const struct option fail_rows[] = {
    { .name = "slow-link",
      .value = "SHARE",
      .help = "bandwidth that a slow link keeps, above 0 and below 1 (default: 0.5)",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, slow_link) },
    { .name = "slow-npu",
      .value = "SHARE",
      .help = "speed that a slow NPU keeps (default: 0.8)",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, slow_npu) },
};
static const struct option_group options_fail = { "Failures", fail_rows,
                                                  sizeof fail_rows / sizeof *fail_rows };

static int fail_read_share(double *out, const char *option, const char *text, struct err *e)
{
    double x;
    if (!text)
        return 0;
    if (!num_parse_real(text, &x) || !(x > 0 && x < 1))
        return err_set(e, ERR_USAGE, "--%s is \"%.40s\", expected a number above 0 and below 1", option,
                       text);
    *out = x;
    return 0;
}

/* ---- words ---- */

static void report_fail_head(struct report *r, const struct fail_table *t, const struct design_point *s)
{
    char a[SHOW], b[SHOW], word[TOPO_SPEC], n[SHOW];
    report_line(r, "%s (%s NPUs)\n\n", load_network_name(word, &s->net), show_count(n, s->net.n_npus));
    report_line(r, "%-18s%s; by flow %s%s%s%s\n", "healthy step", show_time(a, t->time_s),
                isnan(t->flow_s) ? "-" : show_time(b, t->flow_s), isnan(t->flow_s) ? " (" : "",
                isnan(t->flow_s) ? t->flow_why : "", isnan(t->flow_s) ? ")" : "");
    report_line(r, "%-18srestart %s, work done again %s\n", "one stop", show_time(a, t->restart_s),
                show_time(b, t->redo_s));
    report_line(r, "%-18s%.4f of the time, after stops and checkpoints (%.3g %%), before slow steps\n",
                "goodput", t->goodput, 100 * t->stall_frac);
    if (!t->has_system)
        report_line(r,
                    "%-18sthe study has no system: mean times between failures are the defaults of weft "
                    "keys system.mtbf\n",
                    "rates");
    if (t->no_checkpoint)
        report_line(r,
                    "%-18snothing says how large one is (a model, or system.checkpoint.size_GB); it is taken "
                    "to be of no size\n",
                    "checkpoints");
    report_line(r, "\n");
}

static void report_fail_rows(struct report *r, const struct fail_table *t)
{
    double per_s;
    const char *unit = show_time_unit(t->time_s, &per_s);
    const struct report_column columns[] = {
        { IN_ALL, .key = "failure", .title = "one failure of" },
        { IN_DATA, .key = "part" },
        { IN_ALL, .key = "count", .title = "count", .show = 9, .kind = TABLE_REAL },
        { IN_ALL, .key = "mtbf_h", .title = "MTBF of one", .unit = "h", .show = 4, .kind = TABLE_REAL },
        { IN_ALL, .key = "per_year", .title = "a year", .show = 4, .kind = TABLE_REAL },
        { IN_ALL, .key = "npus", .title = "takes NPUs", .show = 6, .kind = TABLE_REAL },
        { IN_TEXT, .title = "the job" },
        { IN_DATA, .key = "stops" },
        { IN_DATA, .key = "left", .kind = TABLE_REAL },
        { IN_TEXT, .title = "step", .unit = unit, .show = 5, .times = per_s },
        { IN_DATA, .key = "step_s", .kind = TABLE_REAL },
        { IN_TEXT, .title = "slower", .unit = "%", .show = 3, .times = 100 },
        { IN_DATA, .key = "slowdown", .kind = TABLE_REAL },
        { IN_TEXT, .title = "by flow", .unit = unit, .show = 5, .times = per_s },
        { IN_DATA, .key = "flow_step_s", .kind = TABLE_REAL },
        { IN_TEXT, .title = "slower", .unit = "%", .show = 3, .times = 100 },
        { IN_DATA, .key = "flow_slowdown", .kind = TABLE_REAL },
        { IN_DATA, .key = "flow_reason" },
        { IN_ALL, .key = "repair_h", .title = "repair", .unit = "h", .show = 3, .kind = TABLE_REAL },
        { IN_TEXT, .title = "one loses", .unit = "min", .show = 3, .per = 60 },
        { IN_DATA, .key = "lost_s", .kind = TABLE_REAL },
        { IN_TEXT, .title = "of the year", .unit = "%", .show = 3, .times = 100 },
        { IN_DATA, .key = "lost_share", .kind = TABLE_REAL },
    };
    report_table(r, "failures", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i <= t->n_rows; i++) {
        static const struct fail_row nothing = { .name = "sum",
                                                 .count = NAN,
                                                 .mtbf_s = NAN,
                                                 .npus = NAN,
                                                 .left = NAN,
                                                 .time_s = NAN,
                                                 .slowdown = NAN,
                                                 .flow_s = NAN,
                                                 .flow_slowdown = NAN,
                                                 .repair_s = NAN,
                                                 .lost_s = NAN,
                                                 .part = N_FAIL_PARTS };
        struct fail_row sum = nothing;
        sum.per_year = t->per_year;
        sum.lost_frac = t->lost_frac;
        const struct fail_row *row = i < t->n_rows ? &t->rows[i] : &sum;
        bool real = row != &sum;
        report_put_word(r, row->name);
        report_put_word(r, real ? fail_part_words[row->part] : "sum");
        report_put_real(r, row->count);
        report_put_real(r, row->mtbf_s / HOUR_S);
        report_put_real(r, row->per_year);
        report_put_real(r, row->npus);
        report_put_word(r, !real ? NULL : row->stops ? "stops" : "runs on");
        if (real)
            report_put_flag(r, row->stops);
        else
            report_put_none(r);
        report_put_real(r, row->n_dims ? row->left : NAN);
        report_put_real(r, row->time_s);
        report_put_real(r, row->time_s);
        report_put_real(r, row->slowdown);
        report_put_real(r, row->slowdown);
        report_put_real(r, row->flow_s);
        report_put_real(r, row->flow_s);
        report_put_real(r, row->flow_slowdown);
        report_put_real(r, row->flow_slowdown);
        report_put_word(r, row->flow_why[0] ? row->flow_why : NULL);
        report_put_real(r, row->repair_s / HOUR_S);
        report_put_real(r, row->lost_s);
        report_put_real(r, row->lost_s);
        report_put_real(r, row->lost_frac);
        report_put_real(r, row->lost_frac);
    }
    report_table_end(r);
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

static int write_failures(struct run *run, const struct load_design *x, const struct fail_table *t,
                          struct err *e)
{
    struct report r = { 0 };
    char word[TOPO_SPEC];
    output_begin(&r, run, output_origin(x->study));
    if (!report_is(&r, IN_CSV)) {
        report_json_word(&r, "network", load_network_name(word, &x->study->net));
        report_json_real(&r, "step_s", t->time_s);
        report_json_real(&r, "flow_step_s", t->flow_s);
        report_json_word(&r, "flow_reason", t->flow_why[0] ? t->flow_why : NULL);
        report_json_real(&r, "restart_s", t->restart_s);
        report_json_real(&r, "redo_s", t->redo_s);
        report_json_real(&r, "stall_share", t->stall_frac);
        report_json_real(&r, "goodput", t->goodput);
        report_json_flag(&r, "defaults", !t->has_system);
        report_fail_head(&r, t, x->study);
    }
    report_fail_rows(&r, t);
    if (report_is(&r, IN_TEXT)) {
        report_fail_notes(&r, t);
        load_say_semantics(&r, x->study);
    }
    int rc = output_report(&r, run, output_origin(x->study), e);
    report_free(&r);
    return rc;
}

static int run_fail(struct run *run, struct err *e)
{
    struct overrides o;
    struct load_design x = { 0 };
    struct fail_table t = { 0 };
    struct fail_slow slow = fail_usual_slow;
    int rc = output_check(run, e);
    if (!rc)
        rc = fail_read_share(&slow.link, "slow-link", run->opt.slow_link, e);
    if (!rc)
        rc = fail_read_share(&slow.npu, "slow-npu", run->opt.slow_npu, e);
    if (!rc)
        rc = overrides_read(&o, run, e);
    if (rc)
        return rc;
    rc = load_design(&x, run, &o, LOAD_EITHER, STUDY_NEEDS_WORKLOAD, e);
    if (!rc)
        output_notes(run, &x.notes);
    if (!rc && x.solved && !alloc_has_split(&x.design.answer))
        rc = load_write_status(run, &x, false, e);
    else if (!rc && !(rc = fail_build(&t, &x.design, &slow, e)))
        rc = write_failures(run, &x, &t, e);
    fail_free(&t);
    load_design_free(&x);
    overrides_free(&o);
    return rc;
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
