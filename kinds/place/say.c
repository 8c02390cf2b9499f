/* Placement studies in words: a row a scheduler, what is the same in every row above them, what a study comes
 * to, and what each model knows. */
#include <math.h>
#include <string.h>

#include "base/sheet.h"
#include "kinds/place/place.h"
#include "study/say.h"

static void say_place_head(struct text *out, const struct study_report *r)
{
    text_printf(out, "%s%sjobs in model %s", r->name, r->name[0] ? ": " : "", say_word(r->rows, 0, "model"));
    for (int64_t row = 0; row < r->rows->n_rows; row++)
        if (strcmp(say_word(r->rows, row, "length"), "runtime") == 0) {
            text_puts(out, "; length: runtime gives each network the jobs that fill their times on its best "
                           "places, a slower one less to do");
            break;
        }
    text_puts(out, "\n");
    say_common(out, r);
    for (int64_t row = 0; row < r->rows->n_rows; row++)
        if (*say_word(r->rows, row, "unproved")) {
            text_printf(out, "no guarantee for %s: %s\n", say_word(r->rows, row, "scheduler"),
                        say_word(r->rows, row, "unproved"));
            break;
        }
    say_seeds(out, r);
    text_puts(out, "\n");
}

/* Rows without a value do not count. */
static bool say_is_same(const struct table *t, int32_t col)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t row = 0; row < t->n_rows; row++) {
        least = fmin(least, table_number(t, row, col));
        most = fmax(most, table_number(t, row, col));
    }
    return !(least < most);
}

/* Where the number of jobs is an axis it stands there already; a load over capacity is worth a column only
 * where there is one. */
static bool say_place_skips(const struct table *t, int32_t col)
{
    const char *name = t->names[col];
    if (strcmp(name, "seeds") == 0) /* said above the table where all rows have the same */
        return say_is_same(t, col);
    if (strcmp(name, "jobs") == 0)
        return table_find(t, "jobs.count") >= 0;
    if (strcmp(name, place_metrics[PLACE_NODE_OVER].names[PLACE_SLOTS]) != 0 &&
        strcmp(name, place_metrics[PLACE_LINK_OVER].names[PLACE_SLOTS]) != 0)
        return false;
    for (int64_t row = 0; row < t->n_rows; row++)
        if (table_number(t, row, col) > 1 + 1e-9)
            return false;
    return true;
}

int place_say(struct text *out, const struct study_report *r, struct err *e)
{
    const struct say_look look = { .axes = true, .skips = say_place_skips };
    if (r->rows->n_rows == 0)
        return 0;
    say_place_head(out, r);
    return say_rows(out, r, 0, r->rows->n_rows, &look, e);
}

/* ---- what a study comes to ---- */

/* A point that could not be run is a row; when none could, the exit code says so. */
int place_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r, struct err *e)
{
    const struct table *t = r->rows;
    int64_t n = 0, first = -1;
    bool wrong = false;
    (void)e;
    *verdict = VERDICT_FINE;
    for (int64_t row = 0; row < t->n_rows; row++) {
        if (say_has_status(t, row, "done"))
            continue;
        wrong = wrong || say_has_status(t, row, "error");
        first = first < 0 ? row : first;
        n++;
    }
    if (n == 0)
        return 0;
    text_printf(out, "%lld of %lld rows are not done; the first: %s\n", (long long)n, (long long)t->n_rows,
                say_word(t, first, "message"));
    if (n == t->n_rows)
        /* A scheduler without a plan is a result; only an error among them means that the input is wrong. */
        *verdict = wrong ? VERDICT_INPUT : VERDICT_NO_DESIGN;
    return 0;
}

/* The one point of a study that varies nothing: what is wrong with it is wrong with the command. */
int place_fail_alone(const struct study_report *r, struct err *e)
{
    const struct table *t = r->rows;
    if (t->n_rows == 0 || say_has_status(t, 0, "done"))
        return 0;
    return err_set(e, say_has_status(t, 0, "error") ? ERR_RANGE : ERR_NO_DESIGN, "%s",
                   say_word(t, 0, "message"));
}

/* ---- what there is ---- */

/* Schedulers of each model, from the tables that runs use. */
int place_list(struct text *out, struct err *e)
{
    for (int model = 0; model < N_PLACE_MODELS; model++) {
        const char *name;
        text_printf(out, "model %s: ", place_model_words[model]);
        for (int32_t i = 0; (name = place_ops_of((enum place_model)model)->scheduler(i)) != NULL; i++)
            text_printf(out, "%s%s", i ? ", " : "", name);
        text_puts(out, "\n");
    }
    text_puts(out, "\nTimes of model slots are counted in slots. A column NAME_ci is half of the 95 % "
                   "interval of NAME over seeds.\n");
    return text_check(out, e);
}
