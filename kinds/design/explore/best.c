/*
 * The best points of a study, or its front, by branch and bound.
 *
 * A node is a set of points that differ in keys of the fabric alone (bandwidths, tiers, latencies, totals:
 * is_of_fabric()), or one point of such a set. Nodes are taken by their bound, the least first:
 *
 *     set ── floor ── exchange free ── its points ── price of its network ── time there, or at the widest ──
 * time and price of a split together ── solved
 *
 * Each step makes a bound sharper and puts the node back; the last solves the point by the code of a sweep.
 * What is sought is a struct goal: it orders nodes, says which are ruled out by what was solved, and takes
 * rows. The best few rule out what is bounded above the last of them. The front rules out a node where one of
 * its points beats the vector of the node's bounds; nodes go by the sum of the logarithms of these, so what
 * beats a node is solved before it (D. Papadias et al., Progressive skyline computation, ACM TODS 30, 2005).
 * The search ends when no node is left.
 *
 * Sets are met by and by, twice as many each time, spread over all. Before more are met, and every so often
 * afterwards, the best node dives: it goes before all others, then the best of its points, until one is
 * solved. So a design is known early, and what is known when the search is stopped is near the bound.
 *
 * Rounds take a number of nodes that does not depend on threads, and their results are taken in the order of
 * the nodes, so that answer and counts are the same on any number of threads. A limit of `keep.where` rules a
 * node out where no values within the bounds of its columns satisfy it.
 */
#include "kinds/design/explore/best.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/linexpr.h"
#include "base/num.h"
#include "base/vec.h"
#include "base/work.h"
#include "alloc/bound.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/explore/book.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/search.h"
#include "kinds/design/explore/uncertain.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"

/* What rounding of bounds and of values may come to. */
#define AS_GOOD_REL 1e-9

/* ---- what is sought ---- */

bool best_name_objective(char *out, size_t size, enum alloc_objective objective)
{
    static const struct {
        const char *column, *times;
    } columns[N_ALLOC_OBJECTIVES] = {
        [ALLOC_TIME] = { DESIGN_COLUMN(time_s), NULL },
        [ALLOC_COST] = { DESIGN_COLUMN(cost_usd), NULL },
        [ALLOC_PERF_PER_COST] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(cost_usd) },
        [ALLOC_PERF_PER_WATT] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN_IN(system, watt_peak) },
        [ALLOC_TCO_PER_TOKEN] = { DESIGN_COLUMN_IN(system, usd_per_Mtoken), NULL },
    };
    const char *times = columns[objective].times;
    if (columns[objective].column)
        snprintf(out, size, "%s%s%s", columns[objective].column, times ? "*" : "", times ? times : "");
    return columns[objective].column != NULL;
}

int best_take_by(struct best_by *by, const struct keep_rule *rule, const char *text,
                 const struct table *columns, struct err *e)
{
    char word[2 * sizeof by->factors[0].name];
    int rc = 0;
    *by = (struct best_by){ .n = 0 };
    for (const char *at = text; at && !rc;) {
        size_t n = strcspn(at, "*");
        if (by->n == BEST_MAX_FACTORS || n >= sizeof word)
            return err_set(e, ERR_RANGE, "is \"%.100s\", expected a column or a product of two", text);
        memcpy(word, at, n);
        word[n] = '\0';
        rc = keep_take_column(&by->factors[by->n++], rule, word, columns, e);
        at = at[n] ? at + n + 1 : NULL;
    }
    for (int32_t i = 0; i < by->n && !rc && by->n > 1; i++)
        if (by->factors[i].large)
            return err_set(e, ERR_RANGE, "is \"%.100s\", expected a product of columns that are to be small",
                           text);
    return rc;
}

/* Less is better; a column that is to be large counts with its sign changed. */
static double bound_by(const struct best_by *by, const struct best_parts *p)
{
    bool is_known;
    double product = 1;
    for (int32_t i = 0; i < by->n; i++) {
        struct best_range r = best_column(&is_known, p, by->factors[i].name);
        if (by->factors[i].large)
            return -r.high;
        if (by->n > 1 && !(r.low > 0)) /* of factors that are known to be positive alone */
            return 0;
        product *= r.low;
    }
    return product;
}

static double value_by(const struct best_by *by, const struct table *row)
{
    double product = 1;
    for (int32_t i = 0; i < by->n; i++)
        product *= keep_number(row, 0, table_find(row, by->factors[i].name));
    return by->factors[0].large ? -product : product;
}

/* ---- sets of points ---- */

/* What is done with a node next. */
enum step { STEP_FLOOR, STEP_FREE, STEP_SIZES, STEP_WIDE, STEP_POINTS, STEP_TIME, STEP_PRICE, STEP_SOLVE };

struct node {
    double bound;   /* as goal->order has it: less is better */
    int64_t set, i; /* point i of the set; -1: all of it */
    int64_t n;      /* points of it that `where` leaves in */
    int64_t wide;   /* its point of the widest total, by which all are bounded; -1: none is */
    enum step next;
    double last;        /* of the best few, when it was found */
    bool first;         /* to be solved before all others: fewer are known than are asked for */
    bool dives;         /* goes before all others, and so does its best point, until that is solved */
    bool priced;        /* BEST_PRICED is of use */
    int64_t n_priced;   /* designs that were found when BEST_PRICED was; -1: it was not */
    double send_s;      /* of one point: a gigabyte through every dimension; 0: not known */
    enum best_bound by; /* the last bound that was sharper */
    struct best_parts parts;
};

/* Nodes to be solved first among equals, so that the best are known early; then by number. */
static bool node_before(const struct node *a, const struct node *b)
{
    if (a->first != b->first)
        return a->first;
    if (a->dives != b->dives)
        return a->dives;
    if (a->bound < b->bound || a->bound > b->bound)
        return a->bound < b->bound;
    if (a->next != b->next)
        return a->next > b->next;
    return a->set != b->set ? a->set < b->set : a->i < b->i;
}

HEAP(nodes, struct node, node_before)

/* A value of the best few so far, and who has it. */
struct leader {
    double value;
    struct table rows; /* owned: of designs that have it, in order, up to those that are listed */
    int64_t n;         /* who have it */
};

struct hunt;

/* What makes a node worth looking at, and what becomes of a row: of the best few, or of the front. */
struct goal {
    /* Nodes with the least go first. Grows with the parts, and with no other point's */
    double (*order)(const struct hunt *b, const struct best_parts *p);
    /* Can no design of the node be among what is sought? */
    bool (*rules_out)(const struct hunt *b, const struct best_parts *p);
    /* Was a bound above what it bounds? */
    bool (*is_above)(const struct hunt *b, const struct best_parts *p, const struct table *row);
    /* A design within the limits; takes the row. */
    int (*take)(struct hunt *b, struct table *row, struct err *e);
    int (*finish)(struct hunt *b, struct err *e);
};

/* Of one thread: points of a set are read one after another, others are solved in between. */
struct hand {
    struct runner *reader, *solver;
};

enum { MOST_KNOWN = 4 };

struct hunt {
    const struct best_ask *ask;
    struct best_answer *out;
    const struct goal *goal;
    struct keep_rule rule;            /* of ask, with nothing but what is sought; owns nothing */
    const struct keep_column *sought; /* shape [n_sought] */
    int32_t n_sought;
    struct units sets, points;
    struct search_shelf *shelf;             /* of the study; borrowed */
    struct linexpr limits[KEEP_MAX_LIMITS]; /* coef shape [columns->n_cols], owned */
    struct keep *keep;                      /* knows what a result is; holds the front */
    struct node *heap;                      /* shape [n], owned */
    int64_t n, cap;
    int64_t n_met, next_set;   /* sets that are or were in the heap; the one that is met next */
    int64_t n_dear, next_dive; /* steps that take long; at so many of them a node dives, or UNDER_WAY */
    struct best_times times;
    struct search_known known[MOST_KNOWN]; /* shape [n_known]: that bounds met, the last first */
    int32_t n_known;
    bool many_networks;     /* they vary as a whole */
    int32_t total;          /* the key of the sweep, where nothing else of the fabric varies; -1 */
    struct incumbent last;  /* of the best few, once they are as many as are asked for */
    struct leader *leaders; /* shape [n_leaders], owned: by value */
    int32_t n_leaders;
    int64_t n_found;           /* designs within the limits; of the best few leaders */
    int32_t n_first, n_scouts; /* nodes that were put first, until so many are found */
    struct hand *hands;        /* shape [threads], owned */
    double least_out;          /* least bound of what was ruled out and is not in the heap */
};

/* Sets that are met at first; steps that take long between two dives, which take some four of them, and one
 * more for so many nodes that are looked through. */
enum { FIRST_SETS = 1024, DIVE_EVERY = 64, NODES_TO_STEP = 4096 };
#define UNDER_WAY INT64_MAX

/* What became of a node in a round. */
struct done {
    struct node node;    /* with its new bound; n = 0: it is gone */
    struct node *points; /* shape [n_points], owned: in its place */
    int64_t n_points, left_out;
    struct table rows; /* of a point that was solved */
    struct best_time fresh;
    uint64_t asks; /* for a list to be written first; 0: for none */
    bool writes;   /* that list */
    struct search_known fresh_known;
    int rc;
    struct err e;
};

/* ---- the best few ---- */

static double order_of_few(const struct hunt *b, const struct best_parts *p)
{
    return bound_by(&b->ask->by, p);
}

static bool few_rule_out(const struct hunt *b, const struct best_parts *p)
{
    return incumbent_rules_out(&b->last, bound_by(&b->ask->by, p));
}

static bool is_above_value(const struct hunt *b, const struct best_parts *p, const struct table *row)
{
    double value = value_by(&b->ask->by, row);
    return bound_by(&b->ask->by, p) > value + AS_GOOD_REL * fabs(value);
}

static double usd_of(const struct table *rows, int64_t row)
{
    int32_t year = table_find(rows, DESIGN_COLUMN_IN(system, usd_year));
    double usd = year < 0 ? (double)NAN : keep_number(rows, row, year);
    return isnan(usd) ? keep_number(rows, row, table_find(rows, DESIGN_COLUMN(cost_usd))) : usd;
}

/* Of values that are equal but for rounding the cheaper goes first, then the lower point. */
static bool is_ahead(const struct table *x, const struct table *rows, int64_t row)
{
    double usd = usd_of(x, 0), other = usd_of(rows, row);
    if (fabs(usd - other) > AS_GOOD_REL * fabs(usd))
        return usd < other;
    return table_point(x, 0) < table_point(rows, row);
}

/* Row @p at of the others is @p fresh; they move on, and the last goes if there is no room. */
static int insert_row(struct table *rows, int64_t at, int64_t most, const struct table *fresh,
                      const struct study *s, struct err *e)
{
    struct table old = *rows;
    *rows = (struct table){ 0 };
    study_put_columns(rows, s, TABLE_ROWS);
    for (int64_t i = 0; i <= old.n_rows && i < most; i++)
        table_copy_row(rows, i == at ? fresh : &old, i == at ? 0 : i - (i > at));
    bool failed = rows->failed;
    table_free(&old);
    return failed ? err_nomem(e, "rows") : 0;
}

/* Where a value belongs among those of the best few; *is: there is one that is as good. */
static int32_t find_leader(bool *is, const struct hunt *b, double value)
{
    int32_t at = b->n_leaders;
    while (at > 0 && value < b->leaders[at - 1].value)
        at--;
    double same = AS_GOOD_REL * fabs(value);
    bool below = at > 0 && value - b->leaders[at - 1].value <= same;
    *is = below || (at < b->n_leaders && b->leaders[at].value - value <= same);
    return below ? at - 1 : at;
}

static int take_few(struct hunt *b, struct table *row, struct err *e)
{
    double value = value_by(&b->ask->by, row);
    bool is;
    int32_t i = find_leader(&is, b, value), most = b->ask->top;
    struct leader *x = &b->leaders[i];
    if (i == most)
        return 0;
    if (!is) {
        memmove(x + 1, x, (size_t)(b->n_leaders - i) * sizeof *x);
        *x = (struct leader){ .value = value };
        if (++b->n_leaders > most)
            table_free(&b->leaders[--b->n_leaders].rows);
    }
    int64_t at = 0;
    while (at < x->rows.n_rows && !is_ahead(row, &x->rows, at))
        at++;
    b->n_found = b->n_leaders;
    x->n++;
    x->value = fmin(x->value, value);
    int rc = insert_row(&x->rows, at, 1 + b->ask->ties, row, b->ask->study, e);
    if (b->n_leaders == most)
        b->last.value = fmin(b->last.value, b->leaders[most - 1].value);
    return rc;
}

static double shown(const struct hunt *b, double value)
{
    return b->ask->by.factors[0].large ? -value : value;
}

static int finish_few(struct hunt *b, struct err *e)
{
    struct best_answer *a = b->out;
    for (int32_t i = 0; i < b->n_leaders; i++) {
        const struct leader *x = &b->leaders[i];
        a->values[i] = shown(b, x->value);
        a->n_ties[i] = x->n - 1;
        for (int64_t k = 0; k < x->rows.n_rows; k++)
            table_copy_row(k ? &a->ties : &a->rows, &x->rows, k);
    }
    a->bound = b->least_out < INFINITY ? shown(b, b->least_out) : (double)NAN;
    return a->rows.failed || a->ties.failed ? err_nomem(e, "rows") : 0;
}

static const struct goal goal_few = { order_of_few, few_rule_out, is_above_value, take_few, finish_few };

/* ---- the front ---- */

/* Less is better; no design of the node has less of column @p i. */
static double bound_sought(const struct hunt *b, int32_t i, const struct best_parts *p)
{
    const struct keep_column *c = &b->sought[i];
    bool is_known;
    struct best_range r = best_column(&is_known, p, c->name);
    double low = c->large ? -r.high : r.low;
    return r.low < r.high && isfinite(low) ? low - AS_GOOD_REL * fabs(low) : low;
}

/* By the sum of logarithms: whatever the units, what beats a node goes before it. */
static double order_of_front(const struct hunt *b, const struct best_parts *p)
{
    struct best_parts at = *p;
    double sum = 0;
    at.usd = fmax(at.usd, at.likely_usd); /* which goes first alone */
    for (int32_t i = 0; i < b->n_sought; i++) {
        double x = bound_sought(b, i, &at);
        x = b->sought[i].large ? 1 / -x : x;
        sum += log(fmin(fmax(x, DBL_MIN), DBL_MAX));
    }
    return sum;
}

/* NULL: no design was found yet. */
static struct front *the_front(const struct hunt *b)
{
    const struct front_set *all = keep_fronts(b->keep);
    return all->n ? &all->fronts[0] : NULL;
}

static bool front_rules_out(const struct hunt *b, const struct best_parts *p)
{
    double x[FRONT_MAX_COLUMNS];
    const struct front *f = the_front(b);
    if (!f || p->beaten)
        return p->beaten;
    for (int32_t i = 0; i < b->n_sought; i++)
        x[i] = bound_sought(b, i, p);
    return front_dominates(f, x);
}

static bool is_above_front(const struct hunt *b, const struct best_parts *p, const struct table *row)
{
    double x[FRONT_MAX_COLUMNS];
    bool is = false;
    keep_values(x, b->keep, row, 0);
    for (int32_t i = 0; i < b->n_sought; i++)
        is = is || bound_sought(b, i, p) > x[i];
    return is;
}

static int offer_row(struct hunt *b, struct table *row, struct err *e)
{
    b->n_found++;
    return keep_offer(b->keep, row, e);
}

/* By the first column, then the second, .. */
static int put_front(struct hunt *b, const struct table *rows, const struct table_place *places,
                     struct err *e)
{
    int rc = keep_sort_fronts(b->keep, e);
    const struct front *f = the_front(b);
    for (int64_t i = 0; f && !rc && i < f->n_sorted; i++) {
        int64_t row = table_find_place(places, rows->n_rows, f->id[i]);
        if (row >= 0)
            table_copy_row(&b->out->rows, rows, row);
    }
    return rc ? rc : b->out->rows.failed ? err_nomem(e, "rows") : 0;
}

static int finish_front(struct hunt *b, struct err *e)
{
    struct table rows;
    const int64_t *gone;
    int64_t n_gone;
    int rc = keep_changes(b->keep, &rows, &gone, &n_gone, e);
    struct table_place *places = rc ? NULL : table_places(&rows);
    rc = rc ? rc : places ? put_front(b, &rows, places, e) : err_nomem(e, "rows");
    free(places);
    table_free(&rows);
    return rc;
}

static const struct goal goal_front = { order_of_front, front_rules_out, is_above_front, offer_row,
                                        finish_front };

/* ---- limits ---- */

/* Between what the left-hand side of limit @p k lies, for any values within bounds. *size: the magnitude of
 * its terms. */
static struct best_range range_of(double *size, const struct hunt *b, int32_t k, const struct best_parts *p)
{
    const struct linexpr *x = &b->limits[k];
    struct best_range sum = { 0, 0 };
    *size = fabs(x->rhs);
    for (int32_t i = 0; i < b->ask->columns->n_cols; i++) {
        if (x->coef[i] == 0)
            continue;
        bool is_known;
        struct best_range r = best_column(&is_known, p, b->ask->columns->names[i]);
        double one = x->coef[i] * r.low, other = x->coef[i] * r.high;
        sum.low += fmin(one, other);
        sum.high += fmax(one, other);
        *size += isfinite(r.low) ? fabs(one) : 0;
    }
    return sum;
}

/* What it misses the right-hand side by at least; <= 0: it may hold. */
static double broken_by(double *size, const struct hunt *b, int32_t k, const struct best_parts *p)
{
    const struct linexpr *x = &b->limits[k];
    const struct best_range sum = range_of(size, b, k, p);
    double above = sum.low - x->rhs, below = x->rhs - sum.high;
    return x->sense == LINEXPR_LE ? above : x->sense == LINEXPR_GE ? below : fmax(above, below);
}

/* Of a node that is not looked at any further: which limits might its designs have broken? */
static void note_limits(struct hunt *b, const struct best_parts *p)
{
    for (int32_t k = 0; k < b->ask->rule->n_where; k++) {
        const struct linexpr *x = &b->limits[k];
        double size;
        const struct best_range sum = range_of(&size, b, k, p);
        bool holds =
            (x->sense == LINEXPR_GE || sum.high <= x->rhs) && (x->sense == LINEXPR_LE || sum.low >= x->rhs);
        b->out->limits[k].may_leave_out = b->out->limits[k].may_leave_out || !holds;
    }
}

/* The first limit that no design of the node satisfies; -1: none. */
static int32_t find_broken(const struct hunt *b, const struct best_parts *p, double *by)
{
    for (int32_t k = 0; k < b->ask->rule->n_where; k++) {
        double size;
        *by = broken_by(&size, b, k, p);
        if (*by > 2 * LINEXPR_REL * size)
            return k;
    }
    return -1;
}

static void count_limit(struct hunt *b, int32_t k, int64_t n, double by)
{
    struct best_limit *l = &b->out->limits[k];
    l->may_leave_out = true;
    l->least = l->n ? fmin(l->least, by) : by;
    l->n += n;
}

/* ---- one node, by any thread ---- */

static void set_of(struct sweep_unit *set, struct sweep_point *p, const struct hunt *b, const struct node *x,
                   int64_t i)
{
    units_find(set, &b->sets, x->set);
    units_point(p, &b->sets, set, i);
    set->first += i;
    set->n = 1;
}

static const struct design_point *read_point(const struct hunt *b, const struct hand *hand,
                                             const struct node *x, int64_t i, struct done *d)
{
    const struct design_point *s = NULL;
    struct sweep_unit unit;
    struct sweep_point p;
    set_of(&unit, &p, b, x, i);
    d->rc = runner_read(&s, hand->reader, &unit, &d->e);
    return s;
}

/* Does `where` leave point i of the set in? @p facts: of its network; NULL: not known. */
static bool is_in(const struct hunt *b, const struct node *x, int64_t i, const double *facts)
{
    struct sweep_unit unit;
    struct sweep_point p;
    set_of(&unit, &p, b, x, i);
    return sweep_passes(&b->ask->study->sweep, &p, facts);
}

static int64_t size_of(const struct hunt *b, int64_t set)
{
    struct sweep_unit unit;
    units_find(&unit, &b->sets, set);
    return unit.n;
}

static int64_t first_in(const struct hunt *b, const struct node *x)
{
    int64_t i = 0, n = size_of(b, x->set);
    while (i < n && !is_in(b, x, i, NULL))
        i++;
    return i < n ? i : -1;
}

/* Values of all axes that are not of the fabric, but the network's. */
static uint64_t hash_work(const struct hunt *b, const struct node *x)
{
    const struct sweep *w = &b->ask->study->sweep;
    struct sweep_unit unit;
    struct sweep_point p;
    uint64_t hash = TEXT_HASH_SEED;
    set_of(&unit, &p, b, x, first_in(b, x));
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = sweep_value(w, &p, k);
        if (value && !design_is_of_fabric(w->keys[k].path) && strcmp(w->keys[k].path, "network") != 0)
            hash = text_hash(hash, value, strlen(value) + 1);
    }
    return hash;
}

/* A best_rules_out. */
static bool hunt_rules_out(const void *with, const struct best_parts *p)
{
    const struct hunt *b = with;
    return b->goal->rules_out(b, p);
}

static struct best_aim aim_of(struct done *d, const struct hunt *b, enum best_bound by)
{
    return (struct best_aim){ .rules_out = hunt_rules_out,
                              .with = b,
                              .shelf = b->shelf,
                              .times = &b->times,
                              .work = by == BEST_SIZES ? hash_work(b, &d->node) : 0,
                              .fresh = &d->fresh,
                              .asks = d->writes ? NULL : &d->asks,
                              .known = b->known,
                              .n_known = b->n_known,
                              .fresh_known = &d->fresh_known };
}

static void sharpen(struct done *d, const struct hunt *b, const struct design_point *s, enum best_bound by)
{
    if (!s || d->rc)
        return;
    const struct best_aim aim = aim_of(d, b, by);
    d->rc = best_bound_parts(&d->node.parts, by, s, &aim, &d->e);
    double bound = b->goal->order(b, &d->node.parts);
    d->node.last = b->last.value;
    d->node.by = bound > d->node.bound || by < BEST_POINT || d->node.parts.beaten ? by : d->node.by;
    d->node.bound = fmax(d->node.bound, bound);
}

/* The sharpest bound of one point. */
static enum best_bound best_at(const struct design_point *s)
{
    return topo_has_bandwidths(&s->net) ? BEST_TIME : best_is_split(s) ? BEST_SPLIT : BEST_WIDEST;
}

/* A set is looked at for the first time. All of its points have the network's sizes, and so the facts of
 * `where`. */
static void look_at_set(struct done *d, const struct hunt *b, const struct hand *hand)
{
    double facts[DESIGN_FACTS];
    int64_t first = first_in(b, &d->node), n = 0, all = size_of(b, d->node.set);
    const struct design_point *s = first < 0 ? NULL : read_point(b, hand, &d->node, first, d);
    if (s)
        design_facts(facts, &s->net);
    for (int64_t i = 0; i < all && first >= 0; i++)
        n += is_in(b, &d->node, i, s ? facts : NULL);
    d->left_out = d->node.n - n;
    d->node.n = n;
    sharpen(d, b, n ? s : NULL, BEST_FLOOR);
    /* One that cannot be read has no bounds: its points say what is wrong. */
    d->node.next = s ? STEP_FREE : STEP_POINTS;
}

/* The point with the largest total; -1: some total is no number. */
static int64_t widest_in(const struct hunt *b, const struct node *x)
{
    int64_t all = size_of(b, x->set), widest = -1;
    double most = -INFINITY, total;
    for (int64_t i = 0; i < all; i++) {
        struct sweep_unit unit;
        struct sweep_point p;
        if (!is_in(b, x, i, NULL))
            continue;
        set_of(&unit, &p, b, x, i);
        const char *value = sweep_value(&b->ask->study->sweep, &p, b->total);
        if (!value || !num_parse_real(value, &total))
            return -1;
        if (total > most)
            widest = i;
        most = fmax(most, total);
    }
    return widest;
}

/* Points that differ in their totals alone are bounded by the one with the largest: what one may split, that
 * one may as well. */
static int64_t find_wide(const struct hunt *b, const struct node *x)
{
    return x->n == 1 ? first_in(b, x) : b->total >= 0 ? widest_in(b, x) : -1;
}

/* One point alone is bounded at its own total. */
static enum step after_sizes(const struct done *d)
{
    return d->node.n > 1 ? STEP_WIDE : STEP_POINTS;
}

static void free_set(struct done *d, const struct hunt *b, const struct hand *hand)
{
    int64_t wide = find_wide(b, &d->node), first = wide < 0 ? first_in(b, &d->node) : wide;
    const struct design_point *s = read_point(b, hand, &d->node, first, d);
    sharpen(d, b, s, BEST_FREE);
    bool splits = wide >= 0 && s && !d->rc && best_is_split(s);
    d->node.wide = splits ? wide : -1;
    bool sized = splits && b->many_networks && search_has_sizes(s);
    /* On a front every total has a best of its own: there is no bound of use that all share. */
    d->node.priced = sized && b->goal == &goal_front;
    d->node.next = !splits || b->goal == &goal_front ? STEP_POINTS : sized ? STEP_SIZES : after_sizes(d);
}

static void widen_set(struct done *d, const struct hunt *b, const struct hand *hand, enum best_bound by)
{
    sharpen(d, b, read_point(b, hand, &d->node, d->node.wide, d), by);
    d->node.next = by == BEST_SIZES ? after_sizes(d) : STEP_POINTS;
}

/* Which of two networks is likely to be the faster one; an even split where the total alone is known. */
static double find_send_s(const struct design_point *s)
{
    const struct topo_network *net = &s->net;
    bool is_given = topo_has_bandwidths(net);
    double sum_s = 0;
    for (int32_t d = 0; d < net->n_dims && (is_given || s->total_Bps > 0); d++) {
        double bw_Bps = is_given ? net->dims[d].bw_Bps : s->total_Bps / net->n_dims;
        sum_s += net->dims[d].lat_s + 1e9 / (bw_Bps * net->dims[d].efficiency);
    }
    return sum_s;
}

/* A point of a set, with what its own network adds to the bound of the set. */
static void open_point(struct done *d, const struct hunt *b, const struct hand *hand, int64_t i)
{
    struct node whole = d->node;
    const struct design_point *s = read_point(b, hand, &whole, i, d);
    double facts[DESIGN_FACTS];
    if (s)
        design_facts(facts, &s->net);
    if (d->rc || (s && !is_in(b, &whole, i, facts)))
        return;
    d->node.i = i;
    d->node.n = 1;
    sharpen(d, b, s, BEST_POINT);
    d->node.send_s = s ? find_send_s(s) : 0;
    d->node.next = !s ? STEP_SOLVE : d->node.priced ? STEP_PRICE : STEP_TIME;
    d->points[d->n_points++] = d->node;
    d->node = whole;
}

static void open_set(struct done *d, const struct hunt *b, const struct hand *hand)
{
    int64_t all = size_of(b, d->node.set);
    d->points = malloc((size_t)all * sizeof *d->points);
    if (!d->points)
        d->rc = err_nomem(&d->e, "points");
    for (int64_t i = 0; i < all && !d->rc; i++) {
        if (is_in(b, &d->node, i, NULL))
            open_point(d, b, hand, i);
        if (!d->rc && work_stopped())
            d->rc = work_check(&d->e);
    }
    d->node.n = d->rc ? d->node.n : 0; /* its points take its place */
}

static void time_point(struct done *d, const struct hunt *b, const struct hand *hand)
{
    const struct design_point *s = read_point(b, hand, &d->node, d->node.i, d);
    if (s)
        sharpen(d, b, s, best_at(s));
    d->node.next = STEP_SOLVE;
}

/* A row looks for the same pairs, but splits them too. */
static void price_point(struct done *d, const struct hunt *b, const struct hand *hand)
{
    sharpen(d, b, read_point(b, hand, &d->node, d->node.i, d), BEST_PRICED);
    d->node.n_priced = b->n_found;
    d->node.next = d->asks && !d->writes ? STEP_PRICE : STEP_SOLVE;
}

static void solve_point(struct done *d, const struct hunt *b, const struct hand *hand)
{
    struct sweep_unit unit;
    struct sweep_point p;
    struct sweep_counts counts = { 0 };
    set_of(&unit, &p, b, &d->node, d->node.i);
    units_of_point(&unit, &b->points, &p);
    study_put_columns(&d->rows, b->ask->study, TABLE_ROWS);
    d->rc = d->rows.failed ? err_nomem(&d->e, "rows")
                           : runner_unit(hand->solver, &unit, &d->rows, &counts, &d->e);
}

static void best_take_step(struct done *d, const struct hunt *b, const struct hand *hand)
{
    switch (d->node.next) {
    case STEP_FLOOR:
        look_at_set(d, b, hand);
        return;
    case STEP_FREE:
        free_set(d, b, hand);
        return;
    case STEP_SIZES:
        widen_set(d, b, hand, BEST_SIZES);
        return;
    case STEP_WIDE:
        widen_set(d, b, hand, BEST_UPTO);
        return;
    case STEP_POINTS:
        open_set(d, b, hand);
        return;
    case STEP_TIME:
        time_point(d, b, hand);
        return;
    case STEP_PRICE:
        price_point(d, b, hand);
        return;
    case STEP_SOLVE:
        solve_point(d, b, hand);
        return;
    }
}

/* ---- what comes of it, in the order of nodes ---- */

static int push(struct hunt *b, const struct node *x, struct err *e)
{
    if (!vec_reserve(b->heap, b->cap, b->n + 1))
        return err_nomem(e, "points");
    nodes_push(b->heap, b->n++, *x);
    return 0;
}

static void rule_out(struct hunt *b, const struct node *x)
{
    note_limits(b, &x->parts);
    b->out->n_ruled_out[x->by] += x->n;
    b->least_out = fmin(b->least_out, x->bound);
}

/* Back into the heap, unless nothing of it can be among the best. */
static int put_back(struct hunt *b, const struct node *x, struct err *e)
{
    double by;
    if (x->n == 0)
        return 0;
    /* INFINITY: no plan fits; also of what is to be large. */
    if (isinf(x->parts.time_s)) {
        b->out->n_infeasible += x->n;
        if (!b->out->why.n)
            text_puts(&b->out->why, "no legal plan fits the memory of an NPU");
        return 0;
    }
    int32_t broken = find_broken(b, &x->parts, &by);
    if (broken >= 0) {
        count_limit(b, broken, x->n, by);
        return 0;
    }
    if (b->goal->rules_out(b, &x->parts)) {
        rule_out(b, x);
        return 0;
    }
    return push(b, x, e);
}

/* The first limit that the row breaks, as keep has it; -1: it is within all. */
static int32_t find_broken_row(const struct hunt *b, const struct table *row, double *by)
{
    for (int32_t k = 0; k < b->ask->rule->n_where; k++) {
        const struct linexpr *x = &b->limits[k];
        double sum = 0, size = 0;
        for (int32_t i = 0; i < b->ask->columns->n_cols; i++) {
            double term = x->coef[i] == 0 ? 0 : x->coef[i] * keep_number(row, 0, i);
            sum += term;
            size += fabs(term);
        }
        *by = x->sense == LINEXPR_LE   ? sum - x->rhs
              : x->sense == LINEXPR_GE ? x->rhs - sum
                                       : fabs(sum - x->rhs);
        if (!linexpr_holds(x->sense, x->rhs, sum, size))
            return k;
    }
    return -1;
}

/* What of a design that is sought it does not have; NULL: it has all. */
static const char *find_missing(const struct hunt *b, const struct table *row)
{
    for (int32_t i = 0; i < b->n_sought; i++)
        if (isnan(keep_number(row, 0, table_find(row, b->sought[i].name))))
            return b->sought[i].name;
    return NULL;
}

static void note_failure(struct hunt *b, const struct table *row)
{
    const char *message = table_text(row, 0, table_find(row, DESIGN_COLUMN(message)));
    const char *status = table_text(row, 0, table_find(row, DESIGN_COLUMN(status)));
    const char *missing = keep_is_design(b->keep, row, 0) ? find_missing(b, row) : NULL;
    long long point = (long long)table_point(row, 0);
    b->out->n_infeasible++;
    if (b->out->why.n)
        return;
    if (missing)
        text_printf(&b->out->why, "point %lld has no %s", point, missing);
    else if (status && strcmp(status, alloc_status_names[ALLOC_SOLVED]) == 0)
        text_printf(&b->out->why, "point %lld needs more memory than an NPU has", point);
    else
        text_printf(&b->out->why, "point %lld: %s%s%s", point, status ? status : "", message ? ": " : "",
                    message ? message : "");
}

/* A few points with good bounds are solved at once: what they are worth rules out most of the others. */
static int put_back_first(struct hunt *b, struct node *x, struct err *e)
{
    x->first = x->next == STEP_SOLVE && b->n_found + b->n_first < b->n_scouts;
    int64_t n = b->n;
    int rc = put_back(b, x, e);
    b->n_first += x->first && b->n > n;
    return rc;
}

static int take_row(struct hunt *b, struct done *d, struct err *e)
{
    struct table *row = &d->rows;
    double by;
    if (row->n_rows == 0) { /* `where` leaves it out after all */
        b->out->n_left_out++;
        return 0;
    }
    b->out->n_solved++;
    if (!keep_is_design(b->keep, row, 0) || find_missing(b, row)) {
        note_failure(b, row);
        return 0;
    }
    const char *status = table_text(row, 0, table_find(row, DESIGN_COLUMN(status)));
    b->out->n_above += b->goal->is_above(b, &d->node.parts, row);
    b->out->n_unproved += status && strcmp(status, alloc_status_names[ALLOC_SOLVED]) != 0;
    int32_t broken = find_broken_row(b, row, &by);
    if (broken < 0)
        return b->goal->take(b, row, e);
    count_limit(b, broken, 1, by);
    return 0;
}

/* To the front; each plan once. */
static void note_known(struct hunt *b, const struct search_known *x)
{
    int32_t at = 0;
    while (at < b->n_known && !search_is_known(&b->known[at], x))
        at++;
    if (at == b->n_known && b->n_known < MOST_KNOWN)
        b->n_known++;
    at = at < MOST_KNOWN ? at : MOST_KNOWN - 1;
    memmove(&b->known[1], &b->known[0], (size_t)at * sizeof *b->known);
    b->known[0] = *x;
}

/* To the best point alone; prices are often equal, so that the fastest network decides. */
static void pass_dive(struct done *d)
{
    int64_t best = 0;
    for (int64_t i = 0; i < d->n_points; i++) {
        const struct node *x = &d->points[i], *other = &d->points[best];
        d->points[i].dives = false;
        if (x->bound < other->bound || (x->bound <= other->bound && x->send_s < other->send_s))
            best = i;
    }
    if (d->n_points)
        d->points[best].dives = d->node.dives;
}

static int take_done(struct hunt *b, struct done *d, struct err *e)
{
    int rc = 0;
    if (d->node.next == STEP_SOLVE && d->rows.n_cols > 0) {
        b->n_first -= d->node.first;
        if (d->node.dives)
            b->next_dive = b->n_dear + DIVE_EVERY + b->n / NODES_TO_STEP;
        return take_row(b, d, e);
    }
    b->out->n_left_out += d->left_out;
    if (d->fresh_known.question)
        note_known(b, &d->fresh_known);
    rc = best_note_time(&b->times, &d->fresh, e);
    pass_dive(d);
    for (int64_t i = 0; i < d->n_points && !rc; i++)
        rc = put_back(b, &d->points[i], e);
    return rc ? rc : put_back_first(b, &d->node, e);
}

/* ---- rounds ---- */

enum { ROUND = 64, MOST_DEAR = 16 };

static bool is_dear(enum step step)
{
    return step == STEP_FREE || step == STEP_SIZES || step == STEP_WIDE || step == STEP_TIME ||
           step == STEP_SOLVE;
}

/* ---- sets, by and by ---- */

/* Of a set those in the part of the sweep that is asked about. */
static int64_t size_in_part(const struct hunt *b, int64_t set)
{
    int64_t all = size_of(b, set), n = 0;
    struct sweep_unit unit;
    struct sweep_point p;
    if (!b->ask->study->sweep.part)
        return all;
    units_find(&unit, &b->sets, set);
    for (int64_t i = 0; i < all; i++) {
        units_point(&p, &b->sets, &unit, i);
        n += sweep_in_part(&b->ask->study->sweep, &p);
    }
    return n;
}

/* Sets from all over come first. A node for each of as many sets as were met before; those of one point are
 * points at once when they are opened. */
static int meet_sets(struct hunt *b, struct err *e)
{
    int64_t all = b->sets.n_units, stride = num_golden_step(all),
            most = b->n_met        ? 2 * b->n_met
                   : b->ask->meets ? b->ask->meets
                                   : FIRST_SETS;
    int rc = 0;
    for (; b->n_met < most && b->n_met < all && !rc; b->n_met++) {
        const struct node x = { .bound = -INFINITY,
                                .set = b->next_set,
                                .i = -1,
                                .n = size_in_part(b, b->next_set),
                                .wide = -1,
                                .n_priced = -1,
                                .next = STEP_FLOOR };
        rc = x.n ? push(b, &x, e) : 0;
        b->next_set = (b->next_set + stride) % all;
    }
    b->next_dive = b->n_dear + (b->n_met < all ? 0 : DIVE_EVERY);
    return rc;
}

/* Of the sharper bounds the least is likely to have a good design below it; else the first of all. */
static void begin_dive(struct hunt *b)
{
    int64_t best = 0;
    for (int64_t i = 1; i < b->n; i++) {
        bool sharp = b->heap[i].next > STEP_FREE, other = b->heap[best].next > STEP_FREE;
        if (sharp > other || (sharp == other && node_before(&b->heap[i], &b->heap[best])))
            best = i;
    }
    b->heap[best].dives = true;
    nodes_settle(b->heap, b->n, best);
    b->next_dive = UNDER_WAY;
}

/* Before more sets are met one of the others dives. */
static int meet_or_dive(struct hunt *b, struct err *e)
{
    struct node *best = b->n ? &b->heap[0] : NULL;
    if (best && (best->first || best->dives))
        return 0;
    if (b->next_dive == UNDER_WAY) /* it ended without a design */
        b->next_dive = b->n_dear;
    if (best && !isfinite(best->bound))
        return 0;
    if (best && b->n_dear >= b->next_dive) {
        begin_dive(b);
        return 0;
    }
    int rc = 0;
    do /* none of them may be in the part that is asked about */
        rc = b->n_met < b->sets.n_units ? meet_sets(b, e) : 0;
    while (!rc && b->n == 0 && b->n_met < b->sets.n_units);
    return rc;
}

/* The nodes that go first, of which @p dear at most take long; those that are ruled out meanwhile go. Returns
 * how many. */
static int32_t take_nodes(struct done *round, struct hunt *b, int32_t dear)
{
    int32_t n = 0;
    while (n < ROUND && b->n > 0) {
        if (b->goal->rules_out(b, &b->heap[0].parts)) {
            rule_out(b, &b->heap[0]);
            nodes_pop(b->heap, b->n--);
            continue;
        }
        if (is_dear(b->heap[0].next) && --dear < 0)
            break;
        b->n_dear += is_dear(b->heap[0].next);
        round[n] = (struct done){ .node = nodes_pop(b->heap, b->n) };
        /* A split is bounded only as sharply as was of use. */
        struct node *x = &round[n++].node;
        if (x->next == STEP_SOLVE && !x->first && x->wide >= 0 && b->last.value < x->last)
            x->next = STEP_TIME;
        if (x->next == STEP_SOLVE && !x->first && x->n_priced >= 0 && x->n_priced < b->n_found)
            x->next = STEP_PRICE;
        b->n--;
    }
    return n;
}

/* Nodes of a round often ask for the same list: the first has it written, by all threads, and the others come
 * again. */
static void write_asked(struct done *round, int32_t i, const struct hunt *b)
{
    struct done *d = &round[i];
    for (int32_t k = 0; k < i; k++)
        if (round[k].writes && round[k].asks == d->asks)
            return;
    d->writes = true;
    price_point(d, b, &b->hands[0]);
}

static int do_round(struct hunt *b, struct done *round, int32_t n, struct err *e)
{
    int rc = 0;
    int32_t threads = n < b->ask->threads ? n : b->ask->threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int32_t i = 0; i < n; i++)
        best_take_step(&round[i], b, &b->hands[omp_get_thread_num()]);
    for (int32_t i = 0; i < n; i++) {
        struct done *d = &round[i];
        if (d->asks && !d->rc)
            write_asked(round, i, b);
        if (d->rc && d->rc != ERR_STOPPED && !rc) {
            rc = d->rc;
            *e = d->e;
        }
        /* A step that was given up is not lost: the node is open with the bound that it had. */
        if (d->rc) {
            rc = rc ? rc : push(b, &d->node, e);
        } else if (!rc) {
            rc = take_done(b, d, e);
        }
        table_free(&d->rows);
        free(d->points);
    }
    return rc;
}

static void best_tell(const struct hunt *b, const struct work *work, int64_t *told)
{
    const struct best_answer *a = b->out;
    struct best_state s = { .n_points = a->n_points,
                            .n_solved = a->n_solved,
                            .value = b->n_leaders ? shown(b, b->leaders[0].value) : (double)NAN,
                            .bound = b->n && !b->heap[0].first ? shown(b, b->heap[0].bound) : (double)NAN };
    s.n_front = the_front(b) ? the_front(b)->n : 0;
    s.n_ruled_out = a->n_left_out + a->n_infeasible;
    for (int i = 0; i < N_BEST_BOUNDS; i++)
        s.n_ruled_out += a->n_ruled_out[i];
    for (int32_t i = 0; i < b->ask->rule->n_where; i++)
        s.n_ruled_out += a->limits[i].n;
    int64_t looked_at = s.n_ruled_out + s.n_solved; /* what breaks a limit once solved is in both */
    looked_at = looked_at < s.n_points ? looked_at : s.n_points;
    work_step(work, looked_at - *told);
    *told = looked_at;
    if (b->ask->progress)
        b->ask->progress(b->ask->context, &s);
}

static int run_rounds(struct hunt *b, struct err *e)
{
    struct done *round = calloc(ROUND, sizeof *round);
    struct work work;
    int64_t told = 0;
    int32_t dear = 1;
    int rc = round ? 0 : err_nomem(e, "points");
    work_begin(&work, "points ruled out or solved", b->out->n_points);
    rc = rc ? rc : meet_or_dive(b, e);
    for (int32_t n; !rc && b->n > 0 && !work_stopped();) {
        n = take_nodes(round, b, dear);
        /* One at first, since the first often rules out the second. */
        bool solves = false;
        for (int32_t i = 0; i < n; i++)
            solves = solves || round[i].node.next == STEP_SOLVE;
        dear = solves && dear < MOST_DEAR ? 2 * dear : dear;
        rc = n ? do_round(b, round, n, e) : 0;
        rc = rc ? rc : meet_or_dive(b, e);
        best_tell(b, &work, &told);
    }
    work_end(&work);
    free(round);
    return rc;
}

/* Nothing is known of sets that were not met. */
static void leave_sets(struct hunt *b)
{
    int64_t all = b->sets.n_units, stride = num_golden_step(all);
    for (; b->n_met < all; b->n_met++) {
        b->out->n_open += size_in_part(b, b->next_set);
        b->next_set = (b->next_set + stride) % all;
        b->least_out = -INFINITY;
        note_limits(b, &(const struct best_parts){ 0 });
    }
}

/* What is left in the heap: ruled out by the bound that it has, or open. */
static int finish(struct hunt *b, struct err *e)
{
    struct best_answer *a = b->out;
    a->stopped = work_stopped();
    for (int64_t i = 0; i < b->n; i++) {
        struct node *x = &b->heap[i];
        if (b->goal->rules_out(b, &x->parts)) {
            rule_out(b, x);
            continue;
        }
        note_limits(b, &x->parts);
        b->least_out = fmin(b->least_out, x->bound);
        a->n_open += x->n;
    }
    leave_sets(b);
    int rc = b->goal->finish(b, e);
    a->proved = a->rows.n_rows > 0 && a->n_open == 0 && a->n_unproved == 0 && a->n_above == 0;
    return rc ? rc : text_check(&a->why, e);
}

/* ---- points that are named ---- */

/* What row @p row is worth, less is better; NaN: it is no design within the limits. */
static double worth(const struct hunt *b, const struct table *row)
{
    double by;
    bool is = row->n_rows > 0 && keep_is_design(b->keep, row, 0) && find_broken_row(b, row, &by) < 0;
    return is ? value_by(&b->ask->by, row) : (double)NAN;
}

static int solve_named(double *value, const struct hunt *b, struct runner *solver, int64_t point,
                       struct err *e)
{
    struct sweep_unit unit;
    struct sweep_point p;
    struct sweep_counts counts = { 0 };
    struct table row = { 0 };
    sweep_find_point(&p, &b->ask->study->sweep, point);
    units_of_point(&unit, &b->points, &p);
    study_put_columns(&row, b->ask->study, TABLE_ROWS);
    int rc = row.failed ? err_nomem(e, "rows") : runner_unit(solver, &unit, &row, &counts, e);
    *value = rc ? (double)NAN : worth(b, &row);
    table_free(&row);
    return rc;
}

/* ---- begin and end ---- */

static int parse_limits(struct hunt *b, struct err *e)
{
    const struct table *columns = b->ask->columns;
    int rc = 0;
    for (int32_t k = 0; k < b->ask->rule->n_where && !rc; k++) {
        b->limits[k].coef = malloc(((size_t)columns->n_cols + 1) * sizeof *b->limits[k].coef);
        rc = b->limits[k].coef ? linexpr_parse(&b->limits[k], b->ask->rule->where[k],
                                               (const char *const *)columns->names, columns->n_cols, e)
                               : err_nomem(e, "limits");
    }
    return rc;
}

/* The key of totals, where it is the only one of the fabric that varies; -1. */
static int32_t find_total(const struct sweep *w)
{
    int32_t total = -1;
    for (int32_t k = 0; k < w->n_keys; k++) {
        if (!design_is_of_fabric(w->keys[k].path))
            continue;
        if (total >= 0 || strcmp(w->keys[k].path, DESIGN_COLUMN(total_GBps)) != 0)
            return -1;
        total = k;
    }
    return total;
}

/* What is sought, and nothing else, is what rows are kept by. */
static void begin_goal(struct hunt *b)
{
    bool is_few = b->ask->top > 0;
    b->goal = is_few ? &goal_few : &goal_front;
    b->rule = *b->ask->rule;
    b->rule.n_top = b->rule.n_per = 0;
    b->rule.n_front = is_few ? 0 : b->rule.n_front;
    b->sought = is_few ? b->ask->by.factors : b->rule.front;
    b->n_sought = is_few ? b->ask->by.n : b->rule.n_front;
    b->n_scouts = is_few ? b->ask->top : b->n_sought;
}

/* What points are solved with, and limits. */
static int begin_points(struct hunt *b, struct err *e)
{
    const struct study *s = b->ask->study;
    begin_goal(b);
    int rc = units_build(&b->points, &s->sweep, 1, design_is_quick, e);
    rc = rc ? rc : keep_build(&b->keep, &b->rule, b->ask->columns, e);
    return rc ? rc : parse_limits(b, e);
}

static int best_begin(struct hunt *b, struct err *e)
{
    const struct study *s = b->ask->study;
    const struct design_own *own = s->own;
    const struct block_job points = { .study = s, .order = &b->points },
                           sets = { .study = s, .order = &b->sets };
    double value = NAN;
    b->total = find_total(&s->sweep);
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        b->many_networks = b->many_networks || strcmp(s->sweep.keys[k].path, "network") == 0;
    b->shelf = own ? own->shelf : NULL;
    b->hands = calloc((size_t)b->ask->threads, sizeof *b->hands);
    b->leaders = calloc((size_t)b->ask->top + 1, sizeof *b->leaders);
    int rc = b->hands && b->leaders ? units_build(&b->sets, &s->sweep, INT64_MAX, design_is_of_fabric, e)
                                    : err_nomem(e, "points");
    rc = rc ? rc : begin_points(b, e);
    for (int32_t i = 0; i < b->ask->threads && !rc; i++)
        rc = (rc = runner_build(&b->hands[i].reader, &sets, e))
                 ? rc
                 : runner_build(&b->hands[i].solver, &points, e);
    if (!rc && b->ask->has_rival)
        rc = solve_named(&value, b, b->hands[0].solver, b->ask->rival, e);
    if (!isnan(value))
        b->last.value = value;
    b->out->rival = shown(b, value);
    return rc;
}

static void end(struct hunt *b)
{
    for (int32_t i = 0; i < b->ask->threads && b->hands; i++)
        runner_free(b->hands[i].reader), runner_free(b->hands[i].solver);
    for (int32_t i = 0; i < b->n_leaders; i++)
        table_free(&b->leaders[i].rows);
    for (int32_t k = 0; k < b->ask->rule->n_where; k++)
        free(b->limits[k].coef);
    keep_free(b->keep);
    units_free(&b->sets);
    units_free(&b->points);
    free(b->hands);
    free(b->leaders);
    free(b->heap);
    best_times_free(&b->times);
}

int best_find(struct best_answer *out, const struct best_ask *ask, struct err *e)
{
    double margin = ask->by.factors[0].large ? -AS_GOOD_REL : AS_GOOD_REL; /* values are below 0 then */
    struct hunt b = { .ask = ask, .out = out, .last = incumbent_none(margin), .least_out = INFINITY };
    *out = (struct best_answer){ .n_points = ask->study->sweep.n_points, .bound = NAN };
    out->n_points = ask->study->sweep.part ? ask->study->sweep.part->n_points : out->n_points;
    out->n_points = out->n_points ? out->n_points : 1;
    study_put_columns(&out->rows, ask->study, TABLE_ROWS);
    study_put_columns(&out->ties, ask->study, TABLE_ROWS);
    int rc = best_begin(&b, e);
    rc = rc ? rc : run_rounds(&b, e);
    rc = rc ? rc : finish(&b, e);
    end(&b);
    if (rc)
        best_free(out);
    return rc;
}

int best_solve(double *values, const struct best_ask *ask, const int64_t *list, int32_t n, struct err *e)
{
    struct hunt b = { .ask = ask };
    struct runner *solver = NULL;
    const struct block_job job = { .study = ask->study, .order = &b.points };
    int rc = begin_points(&b, e);
    rc = rc ? rc : runner_build(&solver, &job, e);
    for (int32_t i = 0; i < n && !rc; i++) {
        rc = solve_named(&values[i], &b, solver, list[i], e);
        values[i] = shown(&b, values[i]);
    }
    runner_free(solver);
    end(&b);
    return rc;
}

void best_free(struct best_answer *a)
{
    table_free(&a->rows);
    table_free(&a->ties);
    text_free(&a->why);
    *a = (struct best_answer){ 0 };
}
