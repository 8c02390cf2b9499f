#include <math.h>
#include <string.h>

#include "cli/training.h"
#include "cli/alloc_report.h"

struct alloc_unit alloc_unit(const struct design_point *s)
{
    static const struct alloc_unit units[N_ALLOC_OBJECTIVES] = {
        [ALLOC_TIME] = { "s", 1 },
        [ALLOC_UTILIZATION] = { "s*GB/s", 1e-9 },
        [ALLOC_PERF_PER_COST] = { "s*USD", 1 },
        [ALLOC_COST] = { "USD", 1 },
    };
    if (s->combine == STUDY_REGRET)
        return (struct alloc_unit){ "ratio", 1 };
    return units[s->objective];
}

static bool same_text(const struct design_point *s, int32_t a, int32_t b)
{
    return strcmp(s->rows.rows[a].name, s->rows.rows[b].name) == 0;
}

bool alloc_is_repeated(const struct design_point *s, int32_t row)
{
    for (int32_t i = 0; i < row; i++)
        if (same_text(s, i, row))
            return true;
    return false;
}

/* Left side of the row minus its right side, and the size of what is compared. */
static double row_slack(const struct alloc_row *row, const struct design *d, double *size)
{
    double sum = -row->rhs;
    *size = fabs(row->rhs);
    for (int32_t i = 0; i < d->n_dims; i++) {
        sum += row->coef[i] * d->bw_Bps[i];
        *size = fmax(*size, fabs(row->coef[i] * d->bw_Bps[i]));
    }
    return sum;
}

/* A row that leaves room has no price: what a solver leaves there is rounding. So is what could not
 * move the objective's last digits if all bandwidth went into it. */
static double row_price(const struct alloc_row *row, const struct design *d, double shadow)
{
    double size, room = fabs(row_slack(row, d, &size)), coef = 0;
    for (int32_t i = 0; i < d->n_dims; i++)
        coef = fmax(coef, fabs(row->coef[i]));
    bool slack = row->sense != LINEXPR_EQ && room > 1e-6 * size;
    bool noise = fabs(shadow) * fmax(size, coef * d->total_Bps) <= 1e-12 * fabs(d->answer.value);
    return slack || noise ? 0 : shadow;
}

double alloc_shadow(const struct design_point *s, const struct design *d, int32_t row)
{
    double sum = 0;
    if (s->combine == STUDY_REGRET)
        return NAN;
    for (int32_t i = 0; i < s->rows.n && i < d->answer.n_rows; i++)
        if (same_text(s, i, row))
            sum += row_price(&s->rows.rows[i], d, d->answer.shadow[i]);
    return sum * s->rows.rows[row].unit * alloc_unit(s).per_SI;
}

static void put_GBps(struct json *j, const char *key, const double *x_Bps, int32_t n)
{
    json_open(j, key, '[');
    for (int32_t i = 0; i < n; i++)
        json_real(j, NULL, x_Bps[i] / 1e9);
    json_close(j, ']');
}

static void put_place(const struct alloc_report *r, struct json *j)
{
    if (!r->sweep || r->sweep->n_keys == 0)
        return;
    json_open(j, "vary", '{');
    for (int32_t i = 0; i < r->n_at; i++)
        json_text(j, r->at[i].path, r->at[i].value);
    json_close(j, '}');
}

static void put_names(const struct alloc_report *r, struct json *j)
{
    const struct topo_network *net = &r->study->net;
    char word[TOPO_SPEC];
    struct text names = { 0 };
    load_workload_names(&names, r->study);
    json_text(j, "study", r->study->name);
    json_text(j, "network", load_network_name(word, net));
    json_text(j, "spec", topo_format_spec(word, net));
    json_count(j, "npus", net->n_npus);
    json_text(j, "workload", text_str(&names));
    json_text(j, "objective", alloc_objective_names[r->study->objective]);
    json_text(j, "model", sim_model_words[r->study->model]);
    json_open(j, "dims", '[');
    for (int32_t d = 0; d < net->n_dims; d++)
        json_text(j, NULL, net->dims[d].name);
    json_close(j, ']');
    text_free(&names);
}

static void put_ranges(const struct alloc_answer *a, int32_t n_dims, struct json *j)
{
    json_open(j, "range_GBps", '[');
    for (int32_t d = 0; d < n_dims; d++) {
        double range[2] = { a->lo_Bps[d] / 1e9, a->hi_Bps[d] / 1e9 };
        json_reals(j, NULL, range, 2);
    }
    json_close(j, ']');
}

static void put_loads(const struct alloc_report *r, struct json *j)
{
    json_open(j, "workloads", '[');
    for (int32_t i = 0; i < r->design->n_loads; i++) {
        const struct design_load *load = &r->design->loads[i];
        json_open(j, NULL, '{');
        json_text(j, "name", r->study->workloads[i].tree.name);
        json_real(j, "weight", r->study->workloads[i].weight);
        training_json(r->study, r->design, i, j);
        json_real(j, "time_s", load->time_s);
        if (isfinite(load->best_s))
            json_real(j, "best_s", load->best_s);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_split(const struct alloc_report *r, bool has, struct json *j)
{
    const struct design *d = r->design;
    int32_t n = has ? d->n_dims : 0;
    put_GBps(j, "bw_GBps", d->bw_Bps, n);
    json_real(j, "total_GBps", has ? d->total_Bps / 1e9 : NAN);
    json_real(j, "time_s", has ? d->time_s : NAN);
    json_real(j, "compute_s", has ? d->compute_s : NAN);
    json_real(j, "comm_s", has ? d->comm_s : NAN);
    json_real(j, "latency_s", has ? d->latency_s : NAN);
    json_reals(j, "exposed_s", d->exposed_s, n);
    json_reals(j, "utilization", d->util_frac, n);
    json_real(j, "cost_usd", has ? d->cost_usd : NAN);
    json_real(j, "nic_GBps", has ? d->nic_Bps / 1e9 : NAN);
}

static void put_proof(const struct alloc_report *r, bool has, struct json *j)
{
    const struct alloc_answer *a = &r->design->answer;
    struct alloc_unit unit = alloc_unit(r->study);
    json_real(j, "objective_value", has ? a->value * unit.per_SI : NAN);
    json_text(j, "objective_unit", unit.name);
    json_text(j, "bound_model",
              sim_model_words[r->study->model > SIM_ALPHA_BETA ? SIM_ALPHA_BETA : r->study->model]);
    json_real(j, "lower_bound", has ? a->lower_bound * unit.per_SI : NAN);
    json_real(j, "gap", has ? a->gap : NAN);
    json_bool(j, "verified", has && r->design->verified);
    if (has)
        json_bool(j, "unique", a->unique);
    else
        json_text(j, "unique", NULL);
    put_ranges(a, has ? r->design->n_dims : 0, j);
    json_open(j, "shadow_prices", '{');
    for (int32_t i = 0; has && i < r->study->rows.n; i++)
        if (!alloc_is_repeated(r->study, i))
            json_real(j, r->study->rows.rows[i].name, alloc_shadow(r->study, r->design, i));
    json_close(j, '}');
}

static void put_baseline(const struct design *d, bool has, struct json *j)
{
    json_open(j, "equal", '{');
    json_real(j, "bw_GBps", has ? d->equal.bw_Bps / 1e9 : NAN);
    json_real(j, "time_s", has ? d->equal.time_s : NAN);
    json_real(j, "cost_usd", has ? d->equal.cost_usd : NAN);
    if (has)
        json_bool(j, "allowed", d->equal.allowed);
    json_close(j, '}');
    json_real(j, "bill_usd", has && d->has_bill ? d->bill.usd.typ : NAN);
    json_real(j, "speedup", has ? d->speedup : NAN);
    json_real(j, "perf_per_cost_gain", has ? d->perf_per_cost_gain : NAN);
}

void alloc_json(const struct alloc_report *r, struct text *out)
{
    const struct alloc_answer *a = &r->design->answer;
    struct json j = { .out = out };
    bool has = alloc_has_split(&r->design->answer);
    json_open(&j, NULL, '{');
    output_json_head(&j, r->run, r->from);
    put_place(r, &j);
    json_text(&j, "status", alloc_status_names[a->status]);
    json_text(&j, "reason", a->reason);
    put_names(r, &j);
    put_split(r, has, &j);
    put_proof(r, has, &j);
    put_baseline(r->design, has, &j);
    if (r->study->combine == STUDY_REGRET)
        json_real(&j, "regret", has ? r->design->regret : NAN);
    if (has)
        put_loads(r, &j);
    json_count(&j, "iterations", a->iterations);
    json_close(&j, '}');
    text_puts(out, "\n");
}
