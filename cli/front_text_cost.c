#include "cli/front_text.h"

#include <math.h>
#include <stdlib.h>

#include "base/stat.h"
#include "cli/front_plot.h"
#include "base/sheet.h"

/* A value of column k of the front for people, of x with its sign as the front has it. */
static void put_value(struct text *out, const struct keep_column *c, double x)
{
    struct column_look look;
    char value[SHOW];
    x = c->large ? -x : x;
    column_look(&look, c->name, x);
    text_printf(out, "%s%s%s", show_real(value, x / look.scale, 5), look.unit[0] ? " " : "", look.unit);
}

/* "12 % less" of what is small, "12 % more" of what is large: how b is better than a. */
static void put_better(struct text *out, const struct keep_column *c, double a, double b)
{
    char value[SHOW];
    text_printf(out, "%s %% %s", show_real(value, 100 * fabs(a - b) / fabs(a), 3),
                c->large ? "more" : "less");
}

static double least_of(const struct front *f, int32_t col)
{
    double least = HUGE_VAL;
    for (int64_t i = 0; i < f->n_sorted; i++)
        least = fmin(least, f->x[i * f->n_cols + col]);
    return least;
}

/* By what factor a is worse than b; infinite where none makes one the other. */
static double factor(double a, double b)
{
    if (a == b)
        return 1;
    return a > 0 && b > 0 ? a / b : a < 0 && b < 0 ? b / a : HUGE_VAL;
}

static int compare_factors(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static void put_least(struct text *out, const struct keep_column *c, double with, double without)
{
    char value[SHOW];
    text_printf(out, "  %s %s: ", c->large ? "most" : "least", c->name);
    put_value(out, c, with);
    if (with == without) {
        text_puts(out, ", as without\n");
        return;
    }
    text_puts(out, ", without ");
    put_value(out, c, without);
    if (isfinite(factor(with, without)))
        text_printf(out, " (%s times)", show_real(value, factor(with, without), 5));
    text_puts(out, "\n");
}

/* The columns beside column k. */
static const char *others(const struct keep_rule *rule, int32_t k)
{
    return rule->n_front == 2 ? rule->front[1 - k].name : "other columns";
}

/* What is paid in a column at the same values of the others. */
static int put_factors(struct text *out, const struct front_side *side, int32_t col,
                       const struct front *within, const struct front *all, struct err *e)
{
    const struct keep_rule *rule = &side->rule;
    const struct keep_column *c = &rule->front[col];
    char name[FRONT_NAME], worst[SHOW], middle[SHOW];
    double *factors = malloc((size_t)within->n_sorted * sizeof *factors), most = 0;
    int64_t at = 0;
    if (!factors)
        return err_nomem(e, "the front");
    for (int64_t i = 0; i < within->n_sorted; i++) {
        const double *x = within->x + i * within->n_cols;
        factors[i] = factor(x[col], front_least(all, x, col));
        if (factors[i] > most)
            at = i;
        most = fmax(most, factors[i]);
    }
    qsort(factors, (size_t)within->n_sorted, sizeof *factors, compare_factors);
    text_printf(out, "  %s at the same %s: ", c->name, others(rule, col));
    if (!isfinite(most))
        text_puts(out, "no factor says it, a value is 0\n");
    else if (most > 1)
        text_printf(out, "%s times as %s at worst (point %s), %s in the median\n", show_real(worst, most, 5),
                    c->large ? "little" : "much", front_name(name, side, within->id[at]),
                    show_real(middle, stat_quantile(factors, within->n_sorted, 0.5), 5));
    else
        text_printf(out, "no %s\n", c->large ? "less" : "more");
    free(factors);
    return 0;
}

int front_text_limits(const struct front_job *j, const char *group, struct text *out, struct err *e)
{
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    const struct front *all = front_of(keep_fronts(j->sides[FRONT_ALL].keep), group);
    const struct front *within = front_of(keep_fronts(j->sides[FRONT_WITHIN].keep), group);
    int rc = 0;
    if (!within) {
        text_puts(out, "\nNo design is within the limits.\n");
        return 0;
    }
    text_puts(out, "\nWhat the limits cost, among designs that were chosen without them:\n");
    for (int32_t k = 0; k < rule->n_front; k++)
        put_least(out, &rule->front[k], least_of(within, k), least_of(all, k));
    for (int32_t k = 0; k < rule->n_front && !rc; k++)
        rc = put_factors(out, &j->sides[FRONT_WITHIN], k, within, all, e);
    return rc;
}

void front_text_distance(const struct front_job *j, const struct front *f, const char *within,
                         struct text *out)
{
    const struct front_design *d = &j->design;
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    double distance = front_distance(f, d->x);
    char value[SHOW];
    if (!front_dominates(f, d->x)) {
        text_printf(out, "  on the front%s, or beyond it\n", within);
        return;
    }
    if (isfinite(distance))
        text_printf(out,
                    "  %s times behind the front%s: one design there is better by that in every column\n",
                    show_real(value, 1 + distance, 5), within);
    for (int32_t k = 0; k < rule->n_front; k++) {
        double least = front_least(f, d->x, k);
        if (!isfinite(least) || !(least < d->x[k]))
            continue;
        text_printf(out, "  %s%s at the same %s: ", rule->front[k].name, within, others(rule, k));
        put_value(out, &rule->front[k], least);
        text_puts(out, ", ");
        put_better(out, &rule->front[k], d->x[k], least);
        text_puts(out, "\n");
    }
}
