/*
 * weft diff: two designs side by side.
 *
 * Inputs and outputs are rows of one table in CSV, two lists in JSON and two tables in text. Nothing is
 * written before both sides, and each difference alone, were designed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/load.h"
#include "cli/output.h"
#include "kinds/design/explore/diff.h"
#include "study/say.h"

enum { CELL = 48 /* bytes of a value in text */ };

/* ---- inputs ---- */

static void diff_put_value(struct report *r, const struct diff_input *in, int side)
{
    char buf[SHOW_VALUE];
    const char *text = in->text[side] ? show_unquoted(buf, in->text[side]) : NULL;
    if (!text || !report_is(r, IN_TEXT))
        report_put_word(r, text);
    else
        report_put_text(r, "%.*s%s%s", CELL, text, strlen(text) > CELL ? "..." : "",
                        in->is_default[side] ? " (default)" : "");
}

static void put_effects(struct report *r, const struct diff *d, const double *alone)
{
    for (int k = 0; k < N_DIFF_ANSWERS; k++) {
        report_put_real(r, alone[k]);
        report_put_real(r, alone[k] / d->answers[DIFF_A][k]);
    }
}

/* Reasons are long: text has them below the table. */
static const char *note_of(const struct report *r, const struct diff_input *in)
{
    bool text = report_is(r, IN_TEXT);
    if (in->why)
        return text ? "not alone" : in->why;
    return !in->of_design ? "of no one design" : text ? "" : NULL;
}

enum { N_EFFECTS = 2 * N_DIFF_ANSWERS, N_INPUT_COLUMNS = 10 + N_EFFECTS };

/* In text the effects that are known, in %; in data all, absolute and relative. */
static void make_input_columns(struct report_column out[N_INPUT_COLUMNS], const struct diff *d)
{
    static const char *const keys[N_EFFECTS] = { DESIGN_COLUMN(time_s),
                                                 "time_share",
                                                 DESIGN_COLUMN(cost_usd),
                                                 "cost_share",
                                                 DESIGN_COLUMN_IN(system, usd_per_Mtoken),
                                                 "usd_per_Mtoken_share" };
    static const char *const titles[N_DIFF_ANSWERS] = { "time alone", "cost alone", "tokens alone" };
    const struct report_column first[] = {
        { IN_CSV, .key = "what" },
        { IN_TEXT, .title = "input" },
        { IN_DATA, .key = "name" },
        { IN_TEXT | IN_DATA, .key = "a", .title = "A" },
        { IN_TEXT | IN_DATA, .key = "b", .title = "B" },
        { IN_DATA, .key = "a_default" },
        { IN_DATA, .key = "b_default" },
        { IN_CSV, .key = "difference", .kind = TABLE_REAL },
        { IN_CSV, .key = "change", .kind = TABLE_REAL },
    };
    size_t n = sizeof first / sizeof *first;
    memcpy(out, first, sizeof first);
    for (int k = 0; k < N_DIFF_ANSWERS; k++) {
        bool known = isfinite(d->answers[DIFF_A][k]) && isfinite(d->answers[DIFF_B][k]);
        out[n++] = (struct report_column){ IN_DATA, .key = keys[2 * (size_t)k], .kind = TABLE_REAL };
        out[n++] = (struct report_column){ known ? IN_TEXT | IN_DATA : IN_DATA,
                                           .key = keys[2 * (size_t)k + 1],
                                           .title = titles[k],
                                           .unit = "%",
                                           .show = 3,
                                           .times = 100,
                                           .kind = TABLE_REAL };
    }
    out[n] = (struct report_column){ IN_TEXT | IN_DATA, .key = "note", .title = "" };
}

static void put_input(struct report *r, const struct diff *d, const struct diff_input *in)
{
    report_put_word(r, "input");
    report_put_word(r, in->path);
    report_put_word(r, in->path);
    diff_put_value(r, in, DIFF_A);
    diff_put_value(r, in, DIFF_B);
    for (int k = DIFF_A; k <= DIFF_B; k++)
        report_put_flag(r, in->is_default[k] && in->text[k]);
    report_put_none(r);
    report_put_none(r);
    put_effects(r, d, in->alone);
    report_put_word(r, note_of(r, in));
}

/* ---- outputs ---- */

static void put_number(struct report *r, const struct diff_output *x, int side)
{
    char buf[NUM_TEXT], shown[SHOW];
    const char *word = x->word[side];
    if (x->is_word && word && report_is(r, IN_TEXT))
        report_put_text(r, "%.*s%s", CELL, word, strlen(word) > CELL ? "..." : "");
    else if (x->is_word)
        report_put_word(r, word);
    else if (!isfinite(x->value[side]))
        report_put_none(r);
    else if (report_is(r, IN_TEXT))
        report_put_text(r, "%s", show_real(shown, x->value[side], 6));
    else
        report_put_word(r, num_format(buf, x->value[side]));
}

/* CSV: in the columns of inputs. */
static void put_output_row(struct report *r, const struct diff_output *x)
{
    report_put_word(r, "output");
    report_put_word(r, x->name);
    report_put_word(r, x->name);
    put_number(r, x, DIFF_A);
    put_number(r, x, DIFF_B);
    report_put_none(r);
    report_put_none(r);
    report_put_real(r, x->value[DIFF_B] - x->value[DIFF_A]);
    report_put_real(r, diff_change(x->value[DIFF_A], x->value[DIFF_B]));
    for (int k = 0; k < N_EFFECTS + 1; k++)
        report_put_none(r);
}

static void report_outputs(struct report *r, const struct diff *d)
{
    static const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "name", .title = "output" },
        { IN_TEXT, .title = "A" },
        { IN_TEXT, .title = "B" },
        { IN_JSON, .key = "a" },
        { IN_JSON, .key = "b" },
        { IN_TEXT | IN_JSON, .key = "difference", .title = "difference", .show = 5 },
        { IN_TEXT | IN_JSON, .key = "change", .title = "change", .unit = "%", .show = 4, .times = 100 },
    };
    if (d->n_outputs == 0 && report_is(r, IN_TEXT)) {
        report_line(r, "nothing follows from these\n");
        return;
    }
    report_table(r, "outputs", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < d->n_outputs; i++) {
        const struct diff_output *x = &d->outputs[i];
        report_put_word(r, x->name);
        put_number(r, x, DIFF_A);
        put_number(r, x, DIFF_B);
        for (int k = DIFF_A; k <= DIFF_B; k++) {
            if (x->is_word)
                report_put_word(r, x->word[k]);
            else
                report_put_real(r, x->value[k]);
        }
        report_put_real(r, x->value[DIFF_B] - x->value[DIFF_A]);
        report_put_real(r, diff_change(x->value[DIFF_A], x->value[DIFF_B]));
    }
    report_table_end(r);
}

/* ---- the report ---- */

/* What the inputs alone do not add up to. */
static void put_together(struct report *r, const struct diff *d)
{
    double together[N_DIFF_ANSWERS];
    for (int k = 0; k < N_DIFF_ANSWERS; k++)
        together[k] = diff_together(d, (enum diff_answer)k);
    report_put_word(r, "together");
    report_put_word(r, "the rest, and together");
    for (int k = 0; k < 7; k++) {
        if (report_is(r, IN_TEXT))
            report_put_word(r, "");
        else
            report_put_none(r);
    }
    put_effects(r, d, together);
    report_put_word(r, report_is(r, IN_TEXT) ? "" : NULL);
}

static bool has_answers(const struct diff *d)
{
    bool has = false;
    for (int k = 0; k < N_DIFF_ANSWERS; k++)
        has = has || (isfinite(d->answers[DIFF_A][k]) && isfinite(d->answers[DIFF_B][k]));
    return has;
}

static void report_inputs(struct report *r, const struct diff *d)
{
    struct report_column columns[N_INPUT_COLUMNS];
    make_input_columns(columns, d);
    report_table(r, "inputs", columns, N_INPUT_COLUMNS);
    for (int32_t i = 0; i < d->n_inputs; i++)
        put_input(r, d, &d->inputs[i]);
    if (d->n_inputs > 1 && !report_is(r, IN_JSON) && has_answers(d))
        put_together(r, d);
    for (int32_t i = 0; i < d->n_outputs && report_is(r, IN_CSV); i++)
        put_output_row(r, &d->outputs[i]);
    report_table_end(r);
    for (int32_t i = 0; i < d->n_inputs; i++)
        if (d->inputs[i].why)
            report_line(r, "%s, not alone: %s\n", d->inputs[i].path, d->inputs[i].why);
}

static int write_diff(const struct run *run, const struct diff *d, struct err *e)
{
    const struct origin from = output_origin(&d->sides[DIFF_A].study);
    struct report r = { 0 };
    output_begin(&r, run, from);
    report_line(&r, "A: %s\nB: %s\n\n", run->opt.operands[0], run->opt.operands[1]);
    report_json_word(&r, "a", run->opt.operands[0]);
    report_json_word(&r, "b", run->opt.operands[1]);
    report_json_flag(&r, "same", d->n_inputs == 0);
    if (d->n_inputs == 0)
        report_line(&r, "no difference\n");
    if (d->n_inputs || !report_is(&r, IN_TEXT))
        report_inputs(&r, d);
    if (d->n_inputs && report_is(&r, IN_TEXT))
        report_line(&r, "\n");
    for (int k = 0; k < N_DIFF_ANSWERS && d->n_inputs && report_is(&r, IN_JSON); k++) {
        if (k == 0)
            report_open(&r, "together", '{');
        report_json_real(&r, diff_answer_words[k], diff_together(d, (enum diff_answer)k));
        if (k == N_DIFF_ANSWERS - 1)
            report_close(&r, '}');
    }
    if ((d->n_inputs || report_is(&r, IN_JSON)) && !report_is(&r, IN_CSV))
        report_outputs(&r, d);
    int rc = output_report(&r, run, from, e);
    report_free(&r);
    return rc;
}

static int run_diff(struct run *run, struct err *e)
{
    struct overrides o;
    struct diff d = { 0 };
    int rc = output_check(run, e);
    if (rc)
        return rc;
    rc = overrides_read(&o, run, e);
    if (!rc)
        rc = diff_build(&d, run->opt.operands[0], run->opt.operands[1], o.list, o.n, e);
    for (int k = DIFF_A; k <= DIFF_B && !rc; k++) {
        const struct diff_side *side = &d.sides[k];
        output_notes(run, &side->study.notes);
        output_notes(run, &side->design.chosen.notes);
        if (side->row.status && !alloc_has_split(&side->design.answer)) {
            output_say(run, "%s: %s: %s", run->opt.operands[k], side->row.status, side->design.answer.reason);
            run->exit_code = EXIT_NO_DESIGN;
        }
    }
    if (!rc)
        rc = write_diff(run, &d, e);
    diff_free(&d);
    overrides_free(&o);
    return rc;
}

const struct command cmd_diff = {
    .group = "One design",
    .name = "diff",
    .help = "two designs: which inputs differ, what follows, what each does alone",
    .about =
        "Compare two studies, or two networks, as designs: the keys that differ as they were read, files\n"
        "put in and defaults in place; what follows in time, cost and all other columns of a row, the\n"
        "largest change first; and what each key of B alone does to A, put in as --set does. What these\n"
        "do not add up to is the rest: how they act together, and keys that A cannot have alone.\n"
        "Bandwidths are those of the network; where one is missing, those that weft alloc finds. Equal\n"
        "designs are \"no difference\", exit code 0 too.\n",
    .scope = SCOPE(2, 2, "A B", &options_study, &options_format, &options_files),
    .run = run_diff,
};
