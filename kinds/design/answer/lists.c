/*
 * Lists of a design. To add one: a struct whose fields are its columns, the list of these, a function that
 * puts its rows, and a line in design_lists; the library (weft.h) then has it.
 */
#include "kinds/design/answer/lists.h"

#include <math.h>
#include <stdlib.h>

#include "kinds/design/answer/budget.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/answer/owning.h"
#include "kinds/design/answer/price.h"

static void put(struct table *out, const struct columns *c, const void *row)
{
    table_row(out);
    row_put(out, c, row);
}

/* ---- dimensions ---- */

#define DIM(kind, field, ...) COLUMN_##kind(struct design_dim, field, __VA_ARGS__)

const struct column design_dim_columns[] = {
    DIM(WORD, dim, "its name"),
    DIM(WORD, shape, "how its members are joined"),
    DIM(COUNT, size, "members"),
    DIM(REAL, bw_GBps, "bandwidth of an NPU on it"),
    DIM(REAL, least_GBps, "the least that another split which is as good has"),
    DIM(REAL, most_GBps, "the most of these"),
    DIM(REAL, sent_B, "bytes that an NPU sends on it in a step"),
    DIM(REAL, busy_s, "time of the step in which it is busy"),
    DIM(REAL, utilization, "share of the step in which it is busy", .unit = "", .better = 1),
    DIM(REAL, usd_per_GBps, "price of a GB/s of one NPU; blank of whole parts", .unit = "USD/GB/s",
        .better = -1),
    DIM(REAL, cost_usd, "of its bandwidth by that price; of whole parts what is bought", .better = -1),
    COLUMNS_END,
};

static double bought_usd(const struct design *d, int32_t k)
{
    double usd = 0;
    for (int32_t i = 0; i < d->bill.n_lines; i++)
        usd += d->bill.lines[i].dim == k ? d->bill.lines[i].usd.typ : 0;
    return d->has_bill ? usd : (double)NAN;
}

struct design_dim design_dim(const struct design_point *s, const struct design *d, int32_t k)
{
    const struct topo_dim *dim = &s->net.dims[k];
    bool whole = s->pricing == DESIGN_WHOLE, solved = isfinite(d->answer.value);
    double usd_per_Bps = s->has_parts && !whole ? s->prices[k].usd_per_Bps : (double)NAN;
    return (struct design_dim){
        .dim = dim->name,
        .shape = topo_shape_name(dim->shape),
        .size = dim->size,
        .bw_GBps = d->bw_Bps[k] / 1e9,
        .least_GBps = solved ? d->answer.lo_Bps[k] / 1e9 : (double)NAN,
        .most_GBps = solved ? d->answer.hi_Bps[k] / 1e9 : (double)NAN,
        .sent_B = explain_sent_B(s, d, k),
        .busy_s = explain_busy_s(s, d, k),
        .utilization = d->util_frac[k],
        /* A price is of one B/s for every NPU, all of them together; people think of one NPU's GB/s. */
        .usd_per_GBps = usd_per_Bps * 1e9 / (double)s->net.n_npus,
        .cost_usd = whole ? bought_usd(d, k) : usd_per_Bps * d->bw_Bps[k],
    };
}

static int put_dims(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    const struct design_point *s = v->study;
    const struct design *d = v->design;
    (void)e;
    for (int32_t k = 0; k < d->n_dims; k++) {
        const struct design_dim row = design_dim(s, d, k);
        put(out, c, &row);
    }
    return 0;
}

/* ---- bill ---- */

#define BILL(kind, field, called, ...)                                                                       \
    COLUMN_AT(struct design_bill_line, field, called, TABLE_##kind, __VA_ARGS__)
#define BILL_CHARS(field, ...)         BILL(TEXT, of.field, #field, __VA_ARGS__, .flags = COLUMN_CHARS | COLUMN_EMPTY)
#define BILL_USD(field, called, ...)   BILL(REAL, field, called, __VA_ARGS__, .unit = "USD", .better = -1)
#define BILL_GRADE(field, called, ...) BILL(COUNT, field, called, __VA_ARGS__, .words = topo_grade_names)
#define BILL_SERVER(called, forms)                                                                           \
    BILL(COUNT, of.in_server, called, "yes: servers come with it, and its price is theirs", .in = forms,     \
         .show = COLUMN_YES_NO)
/* Low and high are a map in JSON, columns elsewhere; text says them where they are not the price itself. */
const struct column design_bill_columns[] = {
    BILL(TEXT, dimension, "dimension", "what it is for", .title = "for"),
    BILL_CHARS(tier, "of parts, where it has one", .in = IN_DATA),
    BILL_CHARS(item, "what is bought"),
    BILL(REAL, of.count, "count", "so many, in the whole cluster", .digits = 6, .zero = ""),
    BILL(TEXT, of.count_unit, "unit", "that is counted", .title = "", .flags = COLUMN_EMPTY),
    BILL_USD(of.usd.typ, "usd", "price of all of them", .in = IN_CSV),
    BILL_USD(of.usd.low, "usd_low", "the same at low prices", .in = IN_CSV),
    BILL_USD(of.usd.high, "usd_high", "the same at high prices", .in = IN_CSV),
    BILL_USD(of.usd.low, "usd.low", NULL, .in = IN_JSON),
    BILL_USD(of.usd.typ, "usd.typ", NULL, .in = IN_JSON),
    BILL_USD(of.usd.high, "usd.high", NULL, .in = IN_JSON),
    BILL_USD(of.usd.typ, "price", NULL, .in = IN_TEXT),
    BILL_USD(shown_low, "low", NULL, .in = IN_TEXT),
    BILL_USD(shown_high, "high", NULL, .in = IN_TEXT),
    BILL(REAL, of.watt, "watt", "power of all of them; blank: not known", .title = "power", .unit = "W",
         .digits = 6, .better = -1),
    BILL_GRADE(of.grade, "grade", "of the price"),
    BILL_GRADE(of.band_grade, "band_grade", "of low and high", .title = "low, high"),
    BILL_GRADE(watt_grade, "watt_grade", "of the power", .title = "power", .flags = COLUMN_EMPTY),
    BILL(TEXT, of.source, "source", "of the price", .in = IN_DATA),
    BILL(TEXT, of.date, "date", "of the source", .in = IN_DATA),
    BILL_SERVER("in_server", IN_CSV),
    BILL_SERVER("in_servers_price", IN_JSON),
    COLUMNS_END,
};

struct design_bill_line design_bill_line(const char *dimension, const struct topo_bill_line *of)
{
    bool band = of->usd.low < of->usd.typ || of->usd.high > of->usd.typ;
    return (struct design_bill_line){ .dimension = dimension,
                                      .of = *of,
                                      .watt_grade = isnan(of->watt) ? -1 : (int32_t)of->watt_grade,
                                      .shown_low = band ? of->usd.low : (double)NAN,
                                      .shown_high = band ? of->usd.high : (double)NAN };
}

static int put_bill(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    (void)e;
    for (int32_t i = 0; i < v->design->bill.n_lines; i++) {
        const struct topo_bill_line *line = &v->design->bill.lines[i];
        const struct design_bill_line row = design_bill_line(v->study->net.dims[line->dim].name, line);
        put(out, c, &row);
    }
    return 0;
}

/* ---- what other files have ---- */

static int put_prices(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    int32_t n = 0;
    struct design_price *rows = calloc((size_t)v->study->rows.n + 1, sizeof *rows);
    int rc = rows ? design_prices(rows, &n, v->study, v->design, e) : err_nomem(e, "constraints");
    for (int32_t i = 0; i < n; i++)
        put(out, c, &rows[i]);
    free(rows);
    return rc;
}

static int put_steps(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    struct design_step row;
    (void)e;
    for (int32_t k = 0; k < v->design->n_dims; k++)
        for (int up = 1; up >= 0; up--)
            if (design_step(&row, v->study, v->design, k, up))
                put(out, c, &row);
    return 0;
}

static int put_evidence(struct table *out, const struct columns *c, const struct design_view *v,
                        struct err *e)
{
    const struct design_point *s = v->study;
    const struct design *d = v->design;
    (void)e;
    for (int32_t i = 0; i < d->n_loads; i++) {
        const struct training *x = s->workloads[i].training;
        if (!x)
            continue;
        const struct evidence_row row = evidence_row(x, &s->net.npu, d->loads[i].time_s);
        put(out, c, &row);
    }
    return 0;
}

static int put_budgets(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    struct budget b;
    int rc = budget_check(&b, v->study, v->design, e);
    for (int32_t i = 0; i < b.n && !rc; i++)
        put(out, c, &b.list[i]);
    return rc;
}

/* ---- the whole machine ---- */

static bool has_machine(const struct design_view *v)
{
    return v->system && !isnan(v->system->racks);
}

static int put_items(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    (void)e;
    for (int32_t i = 0; has_machine(v) && i < v->system->n_items; i++) {
        const struct owning_item row = owning_item_of(v->system, &v->study->system.terms, i);
        put(out, c, &row);
    }
    return 0;
}

static int put_fails(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    (void)e;
    for (int32_t i = 0; has_machine(v) && i < v->system->n_fails; i++) {
        const struct owning_fail row = owning_fail_of(v->system, i);
        put(out, c, &row);
    }
    return 0;
}

static int put_factors(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    struct owning_factor rows[OWNING_FACTORS];
    int32_t n = 0;
    int rc = has_machine(v) ? owning_factors(rows, &n, v->system, v->study, v->design->time_s, e) : 0;
    for (int32_t i = 0; i < n; i++)
        put(out, c, &rows[i]);
    return rc;
}

/* ---- why a step takes its time ---- */

static int put_limits(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    (void)e;
    for (int32_t i = 0; v->explain && i < v->explain->n_limits; i++)
        put(out, c, &v->explain->limits[i]);
    return 0;
}

static int put_changes(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    (void)e;
    for (int32_t i = 0; v->explain && i < v->design->n_dims; i++)
        put(out, c, &v->explain->changes[i]);
    return 0;
}

static int put_bounds(struct table *out, const struct columns *c, const struct design_view *v, struct err *e)
{
    (void)e;
    for (int32_t i = 0; v->explain && i < v->explain->n_bounds; i++)
        put(out, c, &v->explain->bounds[i]);
    return 0;
}

/* ---- all of them ---- */

const struct design_list design_lists[] = {
    { "dims", design_dim_columns, put_dims, false },
    { "bill", design_bill_columns, put_bill, false },
    { "shadow_prices", design_price_columns, put_prices, false },
    { "steps", design_step_columns, put_steps, false },
    { "evidence", evidence_columns, put_evidence, false },
    { "budgets", budget_columns, put_budgets, false },
    { "items", owning_item_columns, put_items, false },
    { "failures", owning_fail_columns, put_fails, false },
    { "a_tenth_more", owning_factor_columns, put_factors, false },
    { "what_limits", explain_limit_columns, put_limits, true },
    { "one_more_GBps", explain_change_columns, put_changes, true },
    { "bounds", explain_bound_columns, put_bounds, true },
    { .name = NULL },
};

int design_list_build(struct table *out, const struct design_list *list, const struct design_view *v,
                      struct err *e)
{
    struct columns c;
    const struct column_choice all = { .in = IN_CSV };
    int rc = column_choose(&c, list->columns, &all, e);
    if (!rc) {
        columns_put(out, &c);
        rc = list->put(out, &c, v, e);
    }
    columns_free(&c);
    return rc ? rc : out->failed ? err_nomem(e, list->name) : 0;
}
