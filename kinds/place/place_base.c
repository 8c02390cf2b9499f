/*
 * What rows of a placement study are compared with: another network, another scheduler, or both.
 *
 * All points and schedulers see the jobs of the same seed, so that luck of a seed falls out of a difference:
 * it is R - 1 with R = sum x / sum b over the seeds that both have, x of the row and b of the baseline, and
 * its interval is Student's of the residuals (x - R b) / mean b, seed by seed (the ratio estimator; W. G.
 * Cochran, Sampling Techniques, section 6.3). A mean of ratios of seeds would be at the mercy of a seed whose
 * b is next to 0, as utilities of sigmoids are. x is what the model is about (place_model_aim()). Where a
 * seed lacks either value there is no difference: seeds whose jobs take longest would be those left out.
 */
#include "kinds/place/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/stat.h"

/* ---- reading ---- */

/* Which key of the study an entry of `baseline` names: its path, or the end of it behind a dot. */
static int32_t find_base_key(const struct sweep *w, const char *name)
{
    size_t n = strlen(name);
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *path = w->keys[k].path;
        size_t length = strlen(path);
        if (length >= n && strcmp(path + length - n, name) == 0 &&
            (length == n || path[length - n - 1] == '.'))
            return k;
    }
    return -1;
}

static bool same_value(const char *a, const char *b)
{
    double x, y;
    return strcmp(a, b) == 0 || (num_parse_real(a, &x) && num_parse_real(b, &y) && x == y);
}

/* The value of @p key that @p text is: its axis has that value. */
static bool set_base_value(struct place_base *b, const struct sweep *w, int32_t key, const char *text)
{
    bool found = false;
    for (int32_t a = 0; a < w->n_axes; a++) {
        const struct sweep_axis *axis = &w->axes[a];
        for (int32_t j = 0; j < axis->n_keys; j++)
            for (int64_t i = 0; axis->keys[j] == key && i < axis->n && b->at[a] < 0; i++)
                if (same_value(axis->values[i * axis->n_keys + j], text))
                    b->at[a] = i;
        found = found || b->at[a] >= 0;
    }
    return found;
}

static void put_base_label(struct place_base *b, const char *key, const char *value)
{
    char shown[SHOW_VALUE];
    text_printf(&b->label, "%s%s %.60s", b->label.n ? ", " : "", key, show_unquoted(shown, value));
}

static int read_base_axis(struct place_base *b, const struct sweep *w, const struct yaml_doc *doc, yaml_id id,
                          struct err *e)
{
    struct text value = { 0 };
    const char *name = doc->nodes[id].key;
    int32_t key = find_base_key(w, name);
    if (key < 0)
        return yaml_fail_key(doc, id, e, ERR_PARSE, "does not vary, expected scheduler or a key of vary");
    sweep_put_yaml(&value, doc, id, false);
    int rc = text_check(&value, e);
    if (!rc && !set_base_value(b, w, key, text_str(&value)))
        rc = yaml_fail(doc, id, e, ERR_RANGE, "is %.60s, expected a value of %s in vary", text_str(&value),
                       w->keys[key].path);
    if (!rc)
        put_base_label(b, name, text_str(&value));
    text_free(&value);
    return rc;
}

static int read_base_scheduler(struct place_base *b, const struct yaml_doc *doc, yaml_id id,
                               const struct place_study *first, struct err *e)
{
    const char *name;
    int rc = yaml_text(doc, id, &name, e);
    if (!rc && !place_has_scheduler(first, name))
        rc = yaml_fail(doc, id, e, ERR_PARSE, "is %.60s, expected a scheduler of the study", name);
    if (!rc)
        text_puts(&b->scheduler, name);
    return rc;
}

static bool is_of_jobs(const struct sweep *w, const struct sweep_axis *axis)
{
    bool all = true;
    for (int32_t j = 0; j < axis->n_keys; j++) {
        const char *path = w->keys[axis->keys[j]].path;
        bool one = false;
        for (const char *const *of = place_kind.work; *of; of++) {
            size_t n = strlen(*of);
            one = one || (strncmp(path, *of, n) == 0 && (!path[n] || path[n] == '.' || path[n] == '['));
        }
        all = all && one;
    }
    return all;
}

/* Where more than jobs varies, the same scheduler at the first values; else the first scheduler. */
static void choose_base(struct place_base *b, const struct sweep *w)
{
    for (int32_t a = 0; a < w->n_axes; a++) {
        const struct sweep_axis *axis = &w->axes[a];
        if (axis->n < 2 || is_of_jobs(w, axis))
            continue;
        b->at[a] = 0;
        for (int32_t j = 0; j < axis->n_keys; j++) {
            const char *path = w->keys[axis->keys[j]].path, *end = strrchr(path, '.');
            put_base_label(b, end ? end + 1 : path, axis->values[j]);
        }
    }
}

int place_base_read(struct place_base *b, const struct study *s, const struct yaml_doc *doc,
                    const struct place_study *first, struct err *e)
{
    yaml_id map = yaml_get(doc, doc->root, "baseline");
    const struct sweep *w = &s->sweep;
    int rc = map < 0 ? 0 : yaml_need(doc, map, YAML_MAP, e);
    b->at = malloc(((size_t)w->n_axes + 1) * sizeof *b->at);
    if (!rc && !b->at)
        rc = err_nomem(e, "a baseline");
    for (int32_t a = 0; a < w->n_axes && !rc; a++)
        b->at[a] = -1;
    if (rc)
        return rc;
    if (map < 0)
        choose_base(b, w);
    else
        yaml_each (id, doc, map)
            if (!rc && strcmp(doc->nodes[id].key, "scheduler") == 0)
                rc = read_base_scheduler(b, doc, id, first, e);
            else if (!rc)
                rc = read_base_axis(b, w, doc, id, e);
    if (!b->label.n && !b->scheduler.n)
        b->first = true;
    if (b->scheduler.n)
        text_printf(&b->label, "%s%s", b->label.n ? ", " : "", text_str(&b->scheduler));
    if (!rc && !isnan(first->file.resolve_pct) && s->seeds < 2)
        rc = yaml_fail(doc, yaml_get(doc, doc->root, "resolve_pct"), e, ERR_RANGE,
                       "is %g with one seed, expected seeds: 2 or more, the most that are run",
                       first->file.resolve_pct);
    rc = rc ? rc : text_check(&b->label, e);
    return rc ? rc : text_check(&b->scheduler, e);
}

void place_base_note(const struct place_base *b, struct study *s, const struct yaml_doc *doc,
                     const struct place_study *first)
{
    char place[400];
    yaml_id id = yaml_get(doc, doc->root, "resolve_pct");
    if (id >= 0 && b->first && first->n_schedulers < 2)
        text_printf(&s->notes, "%s: resolve_pct has no effect here, there is one network and one scheduler\n",
                    yaml_key_place(doc, id, place, sizeof place));
}

void place_base_free(struct place_base *b)
{
    free(b->at);
    text_free(&b->label);
    text_free(&b->scheduler);
}

/* ---- comparing ---- */

static const char *scheduler_at(const struct results *r, int32_t i)
{
    const struct place_result *x = results_at(r, i, 0);
    return x && x->scheduler ? x->scheduler : "";
}

/* The entry of the base that entry @p i is compared with; -1: it has none. */
static int32_t find_base_entry(const struct results *base, const struct results *r, int32_t i,
                               const char *scheduler)
{
    for (int32_t j = 0; j < results_entries(base); j++)
        if (strcmp(scheduler_at(base, j), scheduler ? scheduler : scheduler_at(r, i)) == 0)
            return j;
    return -1;
}

static double base_value_at(const struct results *r, int32_t i, int64_t k, enum place_metric aim)
{
    const struct place_result *x = results_at(r, i, k);
    return x ? x->x[aim] : (double)NAN;
}

struct place_gap place_compare(const struct results *r, int32_t i, const char *scheduler,
                               enum place_metric aim, double *x)
{
    const struct results *base = results_base(r);
    struct place_gap gap = { NAN, NAN, -1 };
    int32_t j = base ? find_base_entry(base, r, i, scheduler) : -1;
    int64_t n = base && results_seeds(base) < results_seeds(r) ? results_seeds(base) : results_seeds(r);
    double of = 0, at = 0;
    if (j < 0)
        return gap;
    if (base == r && i == j)
        return (struct place_gap){ 0, 0, -1 };
    gap.wins = 0;
    for (int64_t k = 0; k < n; k++) {
        double a = base_value_at(r, i, k, aim), b = base_value_at(base, j, k, aim);
        /* False for NaN on either side: a seed without a value is no win. */
        gap.wins += place_metrics[aim].better * a > place_metrics[aim].better * b;
        of += a;
        at += b;
    }
    for (int64_t k = 0; k < n; k++)
        x[k] =
            100 * (base_value_at(r, i, k, aim) - of / at * base_value_at(base, j, k, aim)) / at * (double)n;
    if (!(at > 0))
        return gap;
    gap.pct = fabs(of - at) <= 1e-9 * at ? 0 : 100 * (of / at - 1); /* less is rounding */
    gap.half = stat_mean(x, n, 1).half;
    return gap;
}
