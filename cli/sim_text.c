#include "cli/sim_text.h"

#include <math.h>
#include <stdio.h>

#include "base/sheet.h"
#include "cli/sim_notes.h"
#include "cli/training.h"

/* Times under every model in one unit. */
struct comparison {
    const struct simulation *x;
    struct sheet sheet;
    double per_s;
};

static void put_quantity(struct comparison *c, const char *name,
                         double (*value)(const struct design *d, int32_t dim), int32_t dim)
{
    const struct simulation *x = c->x;
    sheet_put(&c->sheet, "%s", name);
    for (int32_t i = 0; i < x->n; i++)
        sheet_real(&c->sheet, value(x->designs[i], dim) * c->per_s, 6);
}

/* By how much a time is above another [%]; what is rounding is nothing. */
static double above(double time_s, double first_s)
{
    double share = (time_s - first_s) / first_s;
    return fabs(share) < 1e-12 ? 0 : 100 * share;
}

/* By how much each model is above the first. */
static void put_differences(struct comparison *c)
{
    const struct simulation *x = c->x;
    double first_s = x->designs[0]->time_s;
    sheet_put(&c->sheet, "above %s, %%", sim_model_words[x->studies[0]->model]);
    for (int32_t i = 0; i < x->n; i++)
        sheet_real(&c->sheet, i ? above(x->designs[i]->time_s, first_s) : NAN, 3);
}

static double time_of(const struct design *d, int32_t dim)
{
    (void)dim;
    return d->time_s;
}

static double compute_of(const struct design *d, int32_t dim)
{
    (void)dim;
    return d->compute_s;
}

static double latency_of(const struct design *d, int32_t dim)
{
    (void)dim;
    return d->latency_s;
}

static double exposed_of(const struct design *d, int32_t dim)
{
    return d->exposed_s[dim];
}

static double load_of(const struct design *d, int32_t load)
{
    return d->loads[load].time_s;
}

static int put_quantities(const struct simulation *x, struct text *out, struct err *e)
{
    const struct design_point *s = x->studies[0];
    struct comparison c = { .x = x };
    char name[TOPO_NAME + 32];
    double most_s = 0;
    for (int32_t i = 0; i < x->n; i++)
        if (isfinite(x->designs[i]->time_s))
            most_s = fmax(most_s, x->designs[i]->time_s);
    const char *unit = show_time_unit(most_s, &c.per_s);
    sheet_column(&c.sheet, "one step", "", SHEET_LEFT);
    for (int32_t i = 0; i < x->n; i++)
        sheet_column(&c.sheet, sim_model_words[x->studies[i]->model], unit, SHEET_POINT);
    put_quantity(&c, s->n_workloads > 1 ? "time, weighted sum" : "time", time_of, 0);
    put_quantity(&c, "  compute", compute_of, 0);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        snprintf(name, sizeof name, "  waiting for %s", s->net.dims[d].name);
        put_quantity(&c, name, exposed_of, d);
    }
    snprintf(name, sizeof name, "  %s", sim_latency_word(x->studies[x->n - 1]->model));
    put_quantity(&c, name, latency_of, 0);
    for (int32_t i = 0; s->n_workloads > 1 && i < s->n_workloads; i++)
        put_quantity(&c, s->workloads[i].tree.name, load_of, i);
    if (x->n > 1)
        put_differences(&c);
    int rc = sheet_write(&c.sheet, out, e);
    sheet_free(&c.sheet);
    return rc;
}

/* Weighted sums over workloads, as those of the design. */
double sim_sum_traffic(const struct design_point *s, const struct design *d, int32_t dim)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.traffic_B[dim];
    return sum;
}

double sim_sum_busy(const struct design_point *s, const struct design *d, int32_t dim)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.busy_s[dim];
    return sum;
}

/* One model: bytes and seconds as well; several: how busy each dimension is under each. */
static int put_dims(const struct simulation *x, struct text *out, struct err *e)
{
    const struct design_point *s = x->studies[0];
    const struct design *d = x->designs[0];
    struct sheet sheet = { 0 };
    char heads[N_SIM_MODELS][TOPO_NAME];
    double per_s;
    const char *unit = show_time_unit(d->time_s, &per_s);
    sheet_column(&sheet, "dimension", "", SHEET_LEFT);
    sheet_column(&sheet, "shape", "", SHEET_LEFT);
    sheet_column(&sheet, "bandwidth", "GB/s", SHEET_POINT);
    if (x->n == 1) {
        sheet_column(&sheet, "sent per NPU", "GB", SHEET_POINT);
        sheet_column(&sheet, "busy", unit, SHEET_POINT);
    }
    for (int32_t k = 0; k < x->n; k++) {
        snprintf(heads[k], sizeof heads[k], x->n == 1 ? "busy" : "busy, %s",
                 sim_model_words[x->studies[k]->model]);
        sheet_column(&sheet, heads[k], "%", SHEET_POINT);
    }
    for (int32_t i = 0; i < d->n_dims; i++) {
        sheet_put(&sheet, "%s", s->net.dims[i].name);
        sheet_put(&sheet, "%s:%d", topo_shape_name(s->net.dims[i].shape), (int)s->net.dims[i].size);
        sheet_real(&sheet, d->bw_Bps[i] / 1e9, 6);
        if (x->n == 1) {
            sheet_real(&sheet, sim_sum_traffic(s, d, i) / 1e9, 5);
            sheet_real(&sheet, sim_sum_busy(s, d, i) * per_s, 5);
        }
        for (int32_t k = 0; k < x->n; k++)
            sheet_real(&sheet, 100 * x->designs[k]->util_frac[i], 3);
    }
    int rc = sheet_write(&sheet, out, e);
    sheet_free(&sheet);
    return rc;
}

int sim_text(const struct simulation *x, struct text *out, struct err *e)
{
    const struct design_point *s = x->studies[0];
    const struct design *d = x->designs[0];
    char word[TOPO_SPEC], n[SHOW];
    load_workload_names(out, s);
    text_printf(out, " on %s (%s NPUs)%s\n\n", load_network_name(word, &s->net), show_count(n, s->net.n_npus),
                x->first.solved ? ", bandwidths as weft alloc chooses them" : "");
    int rc = put_quantities(x, out, e);
    text_puts(out, "\n");
    if (!rc)
        rc = put_dims(x, out, e);
    for (int32_t i = 0; i < x->n && !rc; i++)
        rc = sim_notes_text(x->studies[i], x->designs[i], out, e);
    for (int32_t i = 0; i < x->n && !rc; i++) {
        if (x->n > 1 && s->workloads[0].training)
            text_printf(out, "\nmodel %s", sim_model_words[x->studies[i]->model]);
        rc = training_text(x->studies[i], x->designs[i], out, e);
    }
    if (isfinite(d->cost_usd))
        text_printf(out, "\ncost %s USD\n", show_usd(n, d->cost_usd));
    return rc;
}
