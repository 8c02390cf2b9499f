/*
 * weft diff: two designs side by side.
 *
 * Inputs and outputs are rows of one table in CSV, two lists in JSON and two tables in text. Nothing is
 * written before both sides, and each difference alone, were designed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cli/load.h"
#include "cli/output.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/explore/diff.h"
#include "study/say.h"

enum { CELL = 48 /* bytes of a value in text */ };

/* An input or an output. Values are texts, as they may be words; a text has cut ones of few digits. */
struct diff_line {
    const char *what, *said, *name, *text[DIFF_SIDES];
    char shown[DIFF_SIDES][CELL + 16], number[DIFF_SIDES][NUM_TEXT];
    double value[DIFF_SIDES];
    int32_t is_default[DIFF_SIDES]; /* -1: an output */
    double difference, change;
    double alone[N_DIFF_ANSWERS], share[N_DIFF_ANSWERS];
    const char *note;
};

#define LINE(field, called, kind, ...) COLUMN_AT(struct diff_line, field, called, kind, __VA_ARGS__)
#define LINE_SHARE(k, called, words)                                                                         \
    LINE(share[k], called, TABLE_REAL, NULL, .title = (words), .times = 100, .as = "%", .digits = 3)
static const struct column input_columns[] = {
    LINE(what, "what", TABLE_TEXT, NULL, .in = IN_CSV),
    LINE(said, "said", TABLE_TEXT, NULL, .in = IN_TEXT, .title = "input"),
    LINE(name, "name", TABLE_TEXT, NULL, .in = IN_DATA),
    LINE(shown[DIFF_A], "a", TABLE_TEXT, NULL, .in = IN_TEXT, .title = "A", .flags = COLUMN_CHARS),
    LINE(shown[DIFF_B], "b", TABLE_TEXT, NULL, .in = IN_TEXT, .title = "B", .flags = COLUMN_CHARS),
    LINE(text[DIFF_A], "a", TABLE_TEXT, NULL, .in = IN_DATA),
    LINE(text[DIFF_B], "b", TABLE_TEXT, NULL, .in = IN_DATA),
    LINE(is_default[DIFF_A], "a_default", TABLE_COUNT, NULL, .in = IN_DATA, .show = COLUMN_YES_NO),
    LINE(is_default[DIFF_B], "b_default", TABLE_COUNT, NULL, .in = IN_DATA, .show = COLUMN_YES_NO),
    LINE(difference, "difference", TABLE_REAL, NULL, .in = IN_CSV),
    LINE(change, "change", TABLE_REAL, NULL, .in = IN_CSV),
    LINE(alone[DIFF_TIME], DESIGN_COLUMN(time_s), TABLE_REAL, NULL, .in = IN_DATA),
    LINE_SHARE(DIFF_TIME, "time_share", "time alone"),
    LINE(alone[DIFF_COST], DESIGN_COLUMN(cost_usd), TABLE_REAL, NULL, .in = IN_DATA),
    LINE_SHARE(DIFF_COST, "cost_share", "cost alone"),
    LINE(alone[DIFF_TOKENS], DESIGN_COLUMN_IN(system, usd_per_Mtoken), TABLE_REAL, NULL, .in = IN_DATA),
    LINE_SHARE(DIFF_TOKENS, "usd_per_Mtoken_share", "tokens alone"),
    LINE(note, "note", TABLE_TEXT, NULL, .in = IN_DATA),
    LINE(note, "note", TABLE_TEXT, NULL, .in = IN_TEXT, .title = "", .flags = COLUMN_EMPTY),
    COLUMNS_END,
};

#define OUTPUT_CHANGE                                                                                        \
    LINE(difference, "difference", TABLE_REAL, NULL),                                                        \
        LINE(change, "change", TABLE_REAL, NULL, .times = 100, .as = "%", .digits = 4), COLUMNS_END
static const struct column output_columns[] = {
    LINE(name, "output", TABLE_TEXT, NULL),
    LINE(shown[DIFF_A], "a", TABLE_TEXT, NULL, .title = "A", .flags = COLUMN_CHARS),
    LINE(shown[DIFF_B], "b", TABLE_TEXT, NULL, .title = "B", .flags = COLUMN_CHARS),
    OUTPUT_CHANGE,
};
static const struct column output_words[] = {
    LINE(name, "name", TABLE_TEXT, NULL),
    LINE(text[DIFF_A], "a", TABLE_TEXT, NULL),
    LINE(text[DIFF_B], "b", TABLE_TEXT, NULL),
    OUTPUT_CHANGE,
};
static const struct column output_numbers[] = {
    LINE(name, "name", TABLE_TEXT, NULL),
    LINE(value[DIFF_A], "a", TABLE_REAL, NULL),
    LINE(value[DIFF_B], "b", TABLE_REAL, NULL),
    OUTPUT_CHANGE,
};

/* ---- inputs ---- */

static void put_effects(struct diff_line *line, const struct diff *d, const double *alone)
{
    for (int k = 0; k < N_DIFF_ANSWERS; k++) {
        line->alone[k] = alone[k];
        line->share[k] = alone[k] / d->answers[DIFF_A][k];
    }
}

/* Of a word; numbers have their digits. */
static void cut_cell(char out[CELL + 16], const char *text, const char *behind)
{
    snprintf(out, CELL + 16, "%.*s%s%s", CELL, text, strlen(text) > CELL ? "..." : "", behind);
}

static void put_input(struct report *r, const struct diff *d, const struct diff_input *in)
{
    struct diff_line line;
    char plain[DIFF_SIDES][SHOW_VALUE];
    row_clear(&line, input_columns);
    line.what = "input";
    line.said = line.name = in->path;
    for (int k = DIFF_A; k <= DIFF_B; k++) {
        line.text[k] = in->text[k] ? show_unquoted(plain[k], in->text[k]) : NULL;
        line.is_default[k] = in->is_default[k] && in->text[k];
        if (line.text[k])
            cut_cell(line.shown[k], line.text[k], in->is_default[k] ? " (default)" : "");
    }
    put_effects(&line, d, in->alone);
    /* Reasons are long: text has them below the table. */
    if (in->why)
        line.note = report_is(r, IN_TEXT) ? "not alone" : in->why;
    else if (!in->of_design)
        line.note = "of no one design";
    report_row(r, &line);
}

/* What the inputs alone do not add up to. */
static void find_together(double together[N_DIFF_ANSWERS], const struct diff *d)
{
    for (int k = 0; k < N_DIFF_ANSWERS; k++)
        together[k] = diff_together(d, (enum diff_answer)k);
}

static void put_together(struct report *r, const struct diff *d)
{
    struct diff_line line;
    double together[N_DIFF_ANSWERS];
    row_clear(&line, input_columns);
    line.what = "together";
    line.said = "the rest, and together";
    find_together(together, d);
    put_effects(&line, d, together);
    report_row(r, &line);
}

static bool has_answers(const struct diff *d)
{
    bool has = false;
    for (int k = 0; k < N_DIFF_ANSWERS; k++)
        has = has || (isfinite(d->answers[DIFF_A][k]) && isfinite(d->answers[DIFF_B][k]));
    return has;
}

/* ---- outputs ---- */

static void make_output(struct diff_line *line, const struct diff_output *x)
{
    row_clear(line, input_columns);
    line->what = "output";
    line->name = x->name;
    for (int k = DIFF_A; k <= DIFF_B; k++) {
        char buf[SHOW];
        line->value[k] = x->value[k];
        if (x->is_word)
            line->text[k] = x->word[k];
        else if (isfinite(x->value[k]))
            line->text[k] = num_format(line->number[k], x->value[k]);
        if (line->text[k])
            cut_cell(line->shown[k], x->is_word ? x->word[k] : show_real(buf, x->value[k], 6), "");
    }
    line->difference = x->value[DIFF_B] - x->value[DIFF_A];
    line->change = diff_change(x->value[DIFF_A], x->value[DIFF_B]);
}

/* In JSON a number is one, and a word is a text. */
static void report_outputs(struct report *r, const struct diff *d)
{
    struct diff_line line;
    if (d->n_outputs == 0)
        report_line(r, "nothing follows from these\n");
    if (d->n_outputs > 0 && report_is(r, IN_TEXT))
        report_list(r, NULL, output_columns);
    report_open(r, "outputs", '[');
    for (int32_t i = 0; i < d->n_outputs; i++) {
        make_output(&line, &d->outputs[i]);
        if (report_is(r, IN_TEXT))
            report_row(r, &line);
        else
            report_array(r, NULL, d->outputs[i].is_word ? output_words : output_numbers, &line, 1,
                         sizeof line);
    }
    report_close(r, ']');
    if (d->n_outputs > 0 && report_is(r, IN_TEXT))
        report_list_end(r);
}

/* ---- the report ---- */

/* In CSV outputs are rows of the same table. */
static void report_inputs(struct report *r, const struct diff *d)
{
    struct diff_line line;
    report_list(r, "inputs", input_columns);
    for (int32_t i = 0; i < d->n_inputs; i++)
        put_input(r, d, &d->inputs[i]);
    if (d->n_inputs > 1 && !report_is(r, IN_JSON) && has_answers(d))
        put_together(r, d);
    for (int32_t i = 0; i < d->n_outputs && report_is(r, IN_CSV); i++) {
        make_output(&line, &d->outputs[i]);
        report_row(r, &line);
    }
    report_list_end(r);
    for (int32_t i = 0; i < d->n_inputs; i++)
        if (d->inputs[i].why)
            report_line(r, "%s, not alone: %s\n", d->inputs[i].path, d->inputs[i].why);
}

/* ---- what is compared ---- */

/* Two studies, or with --parts OLD of a new catalogue and a study that study at the prices of either. */
struct diff_ask {
    struct overrides overrides[DIFF_SIDES];
    const char *study[DIFF_SIDES]; /* borrowed */
    struct text title[DIFF_SIDES]; /* of the two, for people */
};

static void ask_free(struct diff_ask *a)
{
    for (int k = DIFF_A; k <= DIFF_B; k++) {
        overrides_free(&a->overrides[k]);
        text_free(&a->title[k]);
    }
}

/* Is it a file of prices: what cannot be read is told by who reads it. */
static bool is_parts(const char *path)
{
    struct yaml_doc doc;
    struct err ignored;
    if (topo_is_spec(path) || yaml_read_file(&doc, path, &ignored))
        return false;
    bool is = yaml_get(&doc, doc.root, "catalogue") >= 0 || yaml_get(&doc, doc.root, "rates") >= 0;
    yaml_free(&doc);
    return is;
}

static int write_diff(const struct run *run, const struct diff *d, const struct diff_ask *ask, struct err *e)
{
    const struct origin from = output_origin(&d->sides[DIFF_A].study);
    const char *a = text_str(&ask->title[DIFF_A]), *b = text_str(&ask->title[DIFF_B]);
    double together[N_DIFF_ANSWERS];
    bool same = d->n_inputs == 0;
    struct report r = { 0 };
    output_begin(&r, run, from);
    report_line(&r, "A: %s\nB: %s\n\n", a, b);
    report_json_word(&r, "a", a);
    report_json_word(&r, "b", b);
    report_json_flag(&r, "same", same);
    if (same)
        report_line(&r, "no difference\n");
    if (!same || !report_is(&r, IN_TEXT))
        report_inputs(&r, d);
    if (!same) {
        report_line(&r, "\n");
        find_together(together, d);
        report_open(&r, "together", '{');
        report_json_real(&r, DESIGN_COLUMN(time_s), together[DIFF_TIME]);
        report_json_real(&r, DESIGN_COLUMN(cost_usd), together[DIFF_COST]);
        report_json_real(&r, DESIGN_COLUMN_IN(system, usd_per_Mtoken), together[DIFF_TOKENS]);
        report_close(&r, '}');
    }
    if (!report_is(&r, IN_CSV) && (!same || report_is(&r, IN_JSON)))
        report_outputs(&r, d);
    return output_report(&r, run, from, e);
}

static int read_ask(struct diff_ask *a, struct run *run, struct err *e)
{
    const char *old = run->opt.parts, *const *at = run->opt.operands;
    int fresh = old && is_parts(at[0]) ? 0 : old && is_parts(at[1]) ? 1 : -1, rc = 0;
    for (int k = DIFF_A; k <= DIFF_B && !rc; k++) {
        a->study[k] = fresh < 0 ? at[k] : at[1 - fresh];
        run->opt.parts = fresh >= 0 && k == DIFF_B ? at[fresh] : old;
        rc = overrides_read(&a->overrides[k], run, e);
        text_puts(&a->title[k], a->study[k]);
        if (fresh >= 0)
            text_printf(&a->title[k], " at the prices of %s", run->opt.parts);
        rc = rc ? rc : text_check(&a->title[k], e);
    }
    run->opt.parts = old;
    return rc;
}

static int compare(struct diff *d, const struct diff_ask *a, struct err *e)
{
    struct study_source from[DIFF_SIDES] = { { .path = NULL } };
    for (int k = DIFF_A; k <= DIFF_B; k++)
        from[k] = (struct study_source){ .path = a->study[k],
                                         .overrides = a->overrides[k].list,
                                         .n = a->overrides[k].n };
    return diff_build(d, from, e);
}

static int run_diff(struct run *run, struct err *e)
{
    struct diff_ask ask = { .study = { NULL } };
    struct diff d = { 0 };
    int rc = output_check(run, e);
    if (rc)
        return rc;
    rc = read_ask(&ask, run, e);
    rc = rc ? rc : compare(&d, &ask, e);
    for (int k = DIFF_A; k <= DIFF_B && !rc; k++) {
        const struct diff_side *side = &d.sides[k];
        output_notes(run, &side->study.notes);
        load_say_ages(run, &side->study);
        output_notes(run, &side->design.chosen.notes);
        if (side->row.status && !alloc_has_split(&side->design.answer)) {
            output_say(run, "%s: %s: %s", text_str(&ask.title[k]), side->row.status,
                       side->design.answer.reason);
            run->exit_code = EXIT_NO_DESIGN;
        }
    }
    if (!rc)
        rc = write_diff(run, &d, &ask, e);
    diff_free(&d);
    ask_free(&ask);
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
        "designs are \"no difference\", exit code 0 too.\n"
        "--parts OLD, a new catalogue and a study: that study at the prices of either, price by price.\n",
    .scope = SCOPE(2, 2, "A B | --parts OLD NEW STUDY", &options_study, &options_format, &options_files),
    .run = run_diff,
};
