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

/* A list under way. */
struct design_list_rows {
    struct table *out;
    struct columns columns;
    const struct design_view *view;
    struct err *e;
};

static void put(const struct design_list_rows *x, const void *row)
{
    table_row(x->out);
    row_put(x->out, &x->columns, row);
}

static int put_array(const struct design_list_rows *x, const void *rows, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        put(x, (const char *)rows + (size_t)i * size);
    return 0;
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
    DIM(REAL, sent_B, "bytes that an NPU sends on it in a step", .show = COLUMN_FITTED),
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

static int put_dims(const struct design_list_rows *x)
{
    const struct design_point *s = x->view->study;
    const struct design *d = x->view->design;
    for (int32_t k = 0; k < d->n_dims; k++) {
        const struct design_dim row = design_dim(s, d, k);
        put(x, &row);
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

static int put_bill(const struct design_list_rows *x)
{
    for (int32_t i = 0; i < x->view->design->bill.n_lines; i++) {
        const struct topo_bill_line *line = &x->view->design->bill.lines[i];
        const struct design_bill_line row = design_bill_line(x->view->study->net.dims[line->dim].name, line);
        put(x, &row);
    }
    return 0;
}

/* ---- what other files have ---- */

static int put_prices(const struct design_list_rows *x)
{
    int32_t n = 0;
    struct design_price *rows = calloc((size_t)x->view->study->rows.n + 1, sizeof *rows);
    int rc = rows ? design_prices(rows, &n, x->view->study, x->view->design, x->e)
                  : err_nomem(x->e, "constraints");
    put_array(x, rows, n, sizeof *rows);
    free(rows);
    return rc;
}

static int put_steps(const struct design_list_rows *x)
{
    struct design_step row;
    for (int32_t k = 0; k < x->view->design->n_dims; k++)
        for (int up = 1; up >= 0; up--)
            if (design_step(&row, x->view->study, x->view->design, k, up))
                put(x, &row);
    return 0;
}

static int put_evidence(const struct design_list_rows *x)
{
    const struct design_point *s = x->view->study;
    const struct design *d = x->view->design;
    for (int32_t i = 0; i < d->n_loads; i++) {
        const struct training *model = s->workloads[i].training;
        if (!model)
            continue;
        const struct evidence_row row = evidence_row(model, &s->net.npu, d->loads[i].time_s);
        put(x, &row);
    }
    return 0;
}

static int put_budgets(const struct design_list_rows *x)
{
    struct budget b;
    int rc = budget_check(&b, x->view->study, x->view->design, x->e);
    return rc ? rc : put_array(x, b.list, b.n, sizeof *b.list);
}

/* ---- the whole machine ---- */

static int put_items(const struct design_list_rows *x)
{
    for (int32_t i = 0; i < x->view->system->n_items; i++) {
        const struct owning_item row = owning_item_of(x->view->system, &x->view->study->system.terms, i);
        put(x, &row);
    }
    return 0;
}

static int put_fails(const struct design_list_rows *x)
{
    for (int32_t i = 0; i < x->view->system->n_fails; i++) {
        const struct owning_fail row = owning_fail_of(x->view->system, i);
        put(x, &row);
    }
    return 0;
}

static int put_factors(const struct design_list_rows *x)
{
    const struct design_view *v = x->view;
    struct owning_factor rows[OWNING_FACTORS];
    int32_t n = 0;
    int rc = owning_factors(rows, &n, v->system, v->study, v->design->time_s, x->e);
    return rc ? rc : put_array(x, rows, n, sizeof *rows);
}

/* ---- why a step takes its time ---- */

static int put_limits(const struct design_list_rows *x)
{
    const struct explain *p = x->view->explain;
    return put_array(x, p->limits, p->n_limits, sizeof *p->limits);
}

static int put_changes(const struct design_list_rows *x)
{
    const struct explain *p = x->view->explain;
    return put_array(x, p->changes, x->view->design->n_dims, sizeof *p->changes);
}

static int put_bounds(const struct design_list_rows *x)
{
    const struct explain *p = x->view->explain;
    return put_array(x, p->bounds, p->n_bounds, sizeof *p->bounds);
}

/* ---- all of them ---- */

const struct design_list design_lists[] = {
    { .name = "dims", .columns = design_dim_columns, .put = put_dims },
    { .name = "bill", .columns = design_bill_columns, .put = put_bill },
    { .name = "shadow_prices", .columns = design_price_columns, .put = put_prices },
    { .name = "steps", .columns = design_step_columns, .put = put_steps },
    { .name = "evidence", .columns = evidence_columns, .put = put_evidence },
    { .name = "budgets", .columns = budget_columns, .put = put_budgets },
    { .name = "items", .columns = owning_item_columns, .put = put_items, .owns = true },
    { .name = "failures", .columns = owning_fail_columns, .put = put_fails, .owns = true },
    { .name = "a_tenth_more", .columns = owning_factor_columns, .put = put_factors, .owns = true },
    { .name = "what_limits", .columns = explain_limit_columns, .put = put_limits, .explains = true },
    { .name = "one_more_GBps", .columns = explain_change_columns, .put = put_changes, .explains = true },
    { .name = "bounds", .columns = explain_bound_columns, .put = put_bounds, .explains = true },
    { .name = NULL },
};

int design_list_build(struct table *out, const struct design_list *list, const struct design_view *v,
                      struct err *e)
{
    struct design_list_rows x = { .out = out, .view = v, .e = e };
    bool owned = v->system && !isnan(v->system->racks);
    int rc = column_choose(&x.columns, list->columns, &(struct column_choice){ .in = IN_CSV }, e);
    if (!rc) {
        columns_put(out, &x.columns);
        if ((owned || !list->owns) && (v->explain || !list->explains))
            rc = list->put(&x);
    }
    columns_free(&x.columns);
    return rc ? rc : out->failed ? err_nomem(e, list->name) : 0;
}

int design_shown_build(struct design_shown *shown, struct design *d, bool explains, struct err *e)
{
    const struct design_point *s = d->chosen.point;
    bool has = alloc_has_split(&d->answer);
    *shown = (struct design_shown){ .view = { .study = s, .design = d } };
    int rc = has ? design_fill_bill(d, s, e) : 0;
    if (!rc && has && s->has_system) {
        rc = system_build(&shown->machine, s, design_owned(d), e);
        shown->view.system = rc ? NULL : &shown->machine;
    }
    if (!rc && has && explains)
        rc = explain_build(&shown->explain, s, d, e);
    shown->view.explain = explains ? &shown->explain : NULL;
    return rc;
}

void design_shown_free(struct design_shown *shown)
{
    if (shown->view.system)
        system_free(&shown->machine);
    shown->view.system = NULL;
}
