/*
 * The cheapest plan where stages share limits of units: among paths of a window those within the limits.
 *
 * First multipliers: their paths bound those within the limits, and are often within them themselves. Then
 * labels (cost so far, units so far of each scarce type) grow from the first layer on, the most promising one
 * first; a label goes when another at its state is not worse in anything, when what is left is too dear, or
 * when what is left needs more units than there are.
 *
 * Types whose limit no path has broken yet are left out; one that is broken is scarce for good. Multipliers,
 * a price for each unit of a scarce type, bound what is within the limits from below (Lagrangian relaxation):
 * least of cost + multiplier * units over paths, less multiplier * limit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/heap.h"
#include "sim/hetero/oracle.h"

/* Begin with problem alone set; release with limits_free(). */
struct limits {
    const struct hetero_problem *problem; /* borrowed, as are the next three: what is looked at now */
    struct hetero_paths *x;
    const struct hetero_arcs *arcs;
    const struct hetero_window *window;
    int32_t n_scarce;
    int32_t scarce[HETERO_MAX_TYPES];    /* types */
    double multiplier[HETERO_MAX_TYPES]; /* cost of one unit of a scarce type */
    int64_t use[HETERO_MAX_TYPES];       /* of every type, by the plan that was counted last */
    struct hetero_arcs priced;           /* the arcs, with costs that change; at is owned */
    hetero_id tried[HETERO_MAX_LAYERS];  /* the plan at hand */
};

/* Units of a type that there are. */
static int64_t limits_units(const struct limits *m, int32_t type)
{
    return m->problem->profile->types[type].max_units;
}

/* Steps of the subgradient method in each window. They begin where those of the last window ended. */
enum { MULTIPLIER_STEPS = 40 };

/* ---- units ---- */

/* Units of a type that an arc takes: its own, its servers', and as host of both. */
static int64_t limits_use_of(const struct limits *m, const struct hetero_arc *a, int32_t type)
{
    const struct hetero_type *types = m->problem->profile->types;
    const int32_t server = m->problem->setup.server, own = a->stage.span.type;
    int64_t n = own == type ? a->units : 0;
    if (types[own].host == type)
        n += a->units * types[own].host_units;
    if (a->servers) {
        n += server == type ? a->servers : 0;
        if (types[server].host == type)
            n += a->servers * types[server].host_units;
    }
    return n;
}

/* Units that a plan takes with the least for the window, into m->use. Returns its cost in the window. */
static double limits_count(struct limits *m, const hetero_id *plan)
{
    struct hetero_stage stages[HETERO_MAX_LAYERS];
    double cost = 0;
    int32_t n = hetero_stages(stages, m->problem, plan);
    memset(m->use, 0, sizeof m->use);
    for (int32_t i = 0; i < n; i++) {
        struct hetero_arc a = { .stage = stages[i] };
        hetero_arc_price(&a, m->x, m->window);
        cost += a.cost;
        for (int32_t t = 0; t < m->problem->profile->n_types; t++)
            m->use[t] += limits_use_of(m, &a, t);
    }
    return cost;
}

/* Is what was counted there? */
static bool limits_hold(const struct limits *m)
{
    for (int32_t t = 0; t < m->problem->profile->n_types; t++)
        if (m->use[t] > limits_units(m, t))
            return false;
    return true;
}

/* Types of which too much was counted are scarce from now on. */
static void limits_add(struct limits *m)
{
    int32_t before = m->n_scarce;
    for (int32_t t = 0; t < m->problem->profile->n_types; t++) {
        bool known = false;
        for (int32_t i = 0; i < before; i++)
            known = known || m->scarce[i] == t;
        if (!known && m->use[t] > limits_units(m, t)) {
            m->multiplier[m->n_scarce] = 0;
            m->scarce[m->n_scarce++] = t;
        }
    }
}

/* ---- multipliers ---- */

/* Costs of m->priced with the multipliers. */
static void limits_price(struct limits *m)
{
    for (int32_t i = 0; i < m->arcs->n; i++) {
        const struct hetero_arc *a = &m->arcs->at[i];
        m->priced.at[i].cost = a->cost;
        for (int32_t k = 0; k < m->n_scarce; k++)
            m->priced.at[i].cost += m->multiplier[k] * (double)limits_use_of(m, a, m->scarce[k]);
    }
}

/* What the limits are worth at the multipliers. */
static double worth(const struct limits *m)
{
    double sum = 0;
    for (int32_t k = 0; k < m->n_scarce; k++)
        sum += m->multiplier[k] * (double)limits_units(m, m->scarce[k]);
    return sum;
}

/* Step k of Polyak's subgradient method: towards what is broken, away from what is left over. */
static bool limits_step(struct limits *m, double gap)
{
    double norm = 0, over[HETERO_MAX_TYPES];
    for (int32_t k = 0; k < m->n_scarce; k++) {
        double limit = (double)limits_units(m, m->scarce[k]);
        over[k] = (double)m->use[m->scarce[k]] / limit - 1;
        if (m->multiplier[k] > 0 || over[k] > 0)
            norm += over[k] * over[k];
    }
    if (!(norm > 0 && gap > 0))
        return false;
    for (int32_t k = 0; k < m->n_scarce; k++)
        m->multiplier[k] =
            fmax(0, m->multiplier[k] + gap / norm * over[k] / (double)limits_units(m, m->scarce[k]));
    return true;
}

/*
 * Multipliers by Polyak's subgradient method, the best ones kept; uses the values of m->x up to boundaries.
 *
 * @param[in,out] cost, plan  replaced by the cheapest plan met that keeps the limits of all types, if any is
 *                            cheaper in the window
 * @param most  ends when the bound reaches this
 * @return no path within the limits costs less
 */
static double limits_bound(struct limits *m, double *cost, hetero_id *plan, double most)
{
    double bound = 0, best[HETERO_MAX_TYPES] = { 0 };
    size_t n = (size_t)m->n_scarce * sizeof *best, layers = (size_t)m->problem->profile->n_layers;
    for (int i = 0; i < MULTIPLIER_STEPS; i++) {
        limits_price(m);
        hetero_paths_forward(m->x, &m->priced, m->window);
        double here = hetero_paths_least(m->x, m->tried) - worth(m);
        double own = limits_count(m, m->tried);
        if (here > bound) {
            bound = here;
            memcpy(best, m->multiplier, n);
        }
        if (limits_hold(m) && own < *cost) {
            *cost = own;
            memcpy(plan, m->tried, layers * sizeof *plan);
        }
        if (bound >= fmin(*cost, most) * (1 - HETERO_COST_SLACK))
            break;
        /* Nothing within the limits: further along the best direction, where the bound of what is not there
         * has no end. */
        if (!(*cost < INFINITY) && i % 8 == 7) {
            for (int32_t k = 0; k < m->n_scarce; k++)
                m->multiplier[k] = 4 * best[k];
            continue;
        }
        double target = fmin(fmin(*cost, most), 1.2 * bound + own);
        if (!limits_step(m, (target - here) / (1 + 0.1 * i)))
            break;
    }
    memcpy(m->multiplier, best, n);
    return bound;
}

/* Look at the arcs of another window; @p arcs priced for it, at least one. 0 or ERR_NOMEM. O(arcs). */
static int limits_open(struct limits *m, struct hetero_paths *x, const struct hetero_arcs *arcs,
                       const struct hetero_window *w, struct err *e)
{
    struct hetero_arc *room = realloc(m->priced.at, (size_t)arcs->n * sizeof *room);
    if (!room)
        return err_nomem(e, "stages of plans");
    m->priced.at = room;
    m->priced.n = m->priced.cap = arcs->n;
    memcpy(room, arcs->at, (size_t)arcs->n * sizeof *room);
    m->x = x;
    m->arcs = arcs;
    m->window = w;
    return 0;
}

static void limits_free(struct limits *m)
{
    free(m->priced.at);
    *m = (struct limits){ 0 };
}

/* ---- labels: state ---- */

/* Labels of one run of the scheduler, at most; some hundred MB. */
enum { MOST_LABELS = 2000000 };

struct label {
    double cost;
    int32_t parent, arc; /* -1: no layer has been given a type yet */
    int32_t next;        /* of the same state, -1: none */
    bool dead;
};

struct labels {
    struct limits limits;
    double *rest; /* shape [2 + n_scarce][n_states]: bounds of what is left */
    size_t n_states;
    struct label *at;
    int32_t n, cap;
    int32_t *used; /* shape [n][n_scarce] */
    int64_t cap_used;
    int32_t *head; /* shape [n_states]: labels there */
    struct heap open;
    int64_t made; /* in all windows */
};

/* ---- bounds of what is left ---- */

static double *rest_row(const struct labels *m, int32_t row)
{
    return &m->rest[(size_t)row * m->n_states];
}

/* Least costs beyond each state with m->limits.priced, into a row of m->rest. */
static void fill_rest(struct labels *m, int32_t row)
{
    hetero_paths_backward(m->limits.x, &m->limits.priced, m->limits.window);
    memcpy(rest_row(m, row), m->limits.x->rest, m->n_states * sizeof *m->rest);
}

/* Rows of m->rest: cost; cost with multipliers; units of each scarce type. */
static int fill_bounds(struct labels *m, struct err *e)
{
    double *grown = realloc(m->rest, (2 + (size_t)m->limits.n_scarce) * m->n_states * sizeof *grown);
    if (!grown)
        return err_nomem(e, "bounds of plans");
    m->rest = grown;
    for (int32_t i = 0; i < m->limits.arcs->n; i++)
        m->limits.priced.at[i].cost = m->limits.arcs->at[i].cost;
    fill_rest(m, 0);
    limits_price(&m->limits);
    fill_rest(m, 1);
    for (int32_t k = 0; k < m->limits.n_scarce; k++) {
        for (int32_t i = 0; i < m->limits.arcs->n; i++)
            m->limits.priced.at[i].cost =
                (double)limits_use_of(&m->limits, &m->limits.arcs->at[i], m->limits.scarce[k]);
        fill_rest(m, 2 + k);
    }
    return 0;
}

/* ---- labels ---- */

static int32_t *used_of(const struct labels *m, int32_t label)
{
    return &m->used[(size_t)label * (size_t)m->limits.n_scarce];
}

static size_t state_of(const struct labels *m, const struct label *l)
{
    const struct hetero_arc *a = &m->limits.arcs->at[l->arc];
    return hetero_paths_state(m->limits.x, a->stage.span.last + 1, a->stage.span.type, a->after);
}

/* Least cost of a plan that begins as a label does; INFINITY: the limits do not allow one. */
static double promise(const struct labels *m, double cost, const int32_t *used, size_t state)
{
    double priced = cost + rest_row(m, 1)[state];
    for (int32_t k = 0; k < m->limits.n_scarce; k++) {
        double left = (double)(limits_units(&m->limits, m->limits.scarce[k]) - used[k]);
        if (rest_row(m, 2 + k)[state] > left)
            return INFINITY;
        priced -= m->limits.multiplier[k] * left;
    }
    return fmax(cost + rest_row(m, 0)[state], priced);
}

static bool is_no_worse(const struct labels *m, double a_cost, const int32_t *a, double b_cost,
                        const int32_t *b)
{
    if (a_cost > b_cost)
        return false;
    for (int32_t k = 0; k < m->limits.n_scarce; k++)
        if (a[k] > b[k])
            return false;
    return true;
}

/* Is a new label no better than one there? Those that are no better than it die. */
static bool is_dominated(struct labels *m, size_t state, double cost, const int32_t *used)
{
    for (int32_t *at = &m->head[state]; *at >= 0;) {
        struct label *l = &m->at[*at];
        if (is_no_worse(m, l->cost, used_of(m, *at), cost, used))
            return true;
        if (is_no_worse(m, cost, used, l->cost, used_of(m, *at))) {
            l->dead = true;
            *at = l->next;
        } else {
            at = &l->next;
        }
    }
    return false;
}

/* A label is a beginning of a plan with the scarce units it uses. Labels wait in a heap by the cost they
 * promise (so far plus the bound on the rest) and are listed per state for dominance tests. */
static int add_label(struct labels *m, const struct label *l, const int32_t *used, double promised,
                     struct err *e)
{
    if (!vec_reserve(m->at, m->cap, m->n + 1))
        return err_nomem(e, "labels");
    if (!vec_reserve(m->used, m->cap_used, (int64_t)(m->n + 1) * m->limits.n_scarce))
        return err_nomem(e, "labels");
    struct heap_item item = { .id = m->n };
    memcpy(&item.key, &promised, sizeof promised); /* doubles >= 0 are in the order of their bits */
    if (!heap_push(&m->open, item))
        return err_nomem(e, "labels");
    m->at[m->n] = *l;
    memcpy(used_of(m, m->n), used, (size_t)m->limits.n_scarce * sizeof *used);
    if (l->arc >= 0) {
        size_t state = state_of(m, l);
        m->at[m->n].next = m->head[state];
        m->head[state] = m->n;
    }
    m->n++;
    m->made++;
    return 0;
}

/* May arc @p b come after arc @p a? */
static bool can_follow(const struct labels *m, const struct hetero_arc *a, const struct hetero_arc *b)
{
    const size_t n = (size_t)m->limits.problem->profile->n_types;
    const size_t t = (size_t)a->stage.span.type, u = (size_t)b->stage.span.type;
    return t != u && m->limits.x->class_of[t * n + u] == a->after &&
           m->limits.x->class_of[u * n + t] == b->before;
}

/* All labels that go on from one. */
static int labels_grow(struct labels *m, int32_t from, double most, struct err *e)
{
    const struct label label = m->at[from];
    const struct hetero_arc *last = label.arc >= 0 ? &m->limits.arcs->at[label.arc] : NULL;
    const int32_t first = last ? last->stage.span.last + 1 : 0;
    int32_t used[HETERO_MAX_TYPES];
    int rc = 0;
    for (int32_t i = m->limits.x->begin[first]; i < m->limits.x->begin[first + 1] && !rc; i++) {
        const struct hetero_arc *a = &m->limits.arcs->at[i];
        const struct label next = { .cost = label.cost + a->cost, .parent = from, .arc = i, .next = -1 };
        size_t state = state_of(m, &next);
        if (last && !can_follow(m, last, a))
            continue;
        bool fits = true;
        for (int32_t k = 0; k < m->limits.n_scarce; k++) {
            int64_t sum = used_of(m, from)[k] + limits_use_of(&m->limits, a, m->limits.scarce[k]);
            fits = fits && sum <= limits_units(&m->limits, m->limits.scarce[k]);
            used[k] = fits ? (int32_t)sum : 0;
        }
        double promised = fits ? promise(m, next.cost, used, state) : INFINITY;
        if (promised < most && !is_dominated(m, state, next.cost, used))
            rc = add_label(m, &next, used, fmax(promised, 0), e);
    }
    return rc;
}

static void write_plan(const struct labels *m, int32_t label, hetero_id *plan)
{
    for (; m->at[label].arc >= 0; label = m->at[label].parent) {
        const struct hetero_span *s = &m->limits.arcs->at[m->at[label].arc].stage.span;
        for (int32_t l = s->first; l <= s->last; l++)
            plan[l] = (hetero_id)s->type;
    }
}

/* The cheapest path below @p most that keeps the limits of all scarce types; none: *cost and @p plan stay. */
static int find_path(struct labels *m, double *cost, hetero_id *plan, double most, bool *complete,
                     struct err *e)
{
    const struct label root = { .parent = -1, .arc = -1, .next = -1 };
    const int32_t none[HETERO_MAX_TYPES] = { 0 };
    m->n = m->open.n = 0;
    m->cap_used = 0; /* rows have another length with every scarce type */
    free(m->used);
    m->used = NULL;
    for (size_t i = 0; i < m->n_states; i++)
        m->head[i] = -1;
    int rc = add_label(m, &root, none, 0, e);
    while (!rc && m->open.n > 0) {
        int32_t id = heap_pop(&m->open).id;
        const struct label *l = &m->at[id];
        if (l->dead)
            continue;
        if (l->arc >= 0 &&
            m->limits.arcs->at[l->arc].stage.span.last + 1 == m->limits.problem->profile->n_layers) {
            *cost = l->cost;
            write_plan(m, id, plan);
            return 0;
        }
        if (m->made > MOST_LABELS) {
            *complete = false;
            return 0;
        }
        rc = labels_grow(m, id, most, e);
    }
    return rc;
}

/* ---- the rule ---- */

/* What every path costs less than: the dearest arc from each layer. */
static double dearest(const struct limits *m)
{
    double sum = 0;
    for (int32_t l = 0; l < m->problem->profile->n_layers; l++) {
        double most = 0;
        for (int32_t i = m->x->begin[l]; i < m->x->begin[l + 1]; i++)
            most = fmax(most, m->arcs->at[i].cost);
        sum += most;
    }
    return sum > 0 ? 1.001 * sum : 1;
}

/* The limits of the scarce types that are known now. */
static int keep_scarce(struct labels *m, double *cost, hetero_id *plan, double most, bool *complete,
                       struct err *e)
{
    double found = INFINITY;
    /* Without a plan so far, a bound above all paths proves that there is none. */
    most = fmin(most, dearest(&m->limits));
    double bound = limits_bound(&m->limits, &found, plan, most);
    double cut = fmin(found, most) * (1 - HETERO_COST_SLACK);
    int rc = 0;
    if (bound < cut) {
        rc = fill_bounds(m, e);
        if (!rc)
            rc = find_path(m, &found, plan, cut, complete, e);
    }
    if (!*complete && !(found < INFINITY))
        plan[0] = -1;
    *cost = *complete ? found : fmax(*cost, bound);
    return rc;
}

static int grow_room(struct labels *m, const struct hetero_paths *x, struct err *e)
{
    if (m->head)
        return 0;
    m->n_states = hetero_paths_state(x, x->problem->profile->n_layers + 1, 0, 0);
    m->head = malloc(m->n_states * sizeof *m->head);
    return m->head ? 0 : err_nomem(e, "labels");
}

/* The rule that hetero_windows() calls for each window: limits on scarce types are added only once the best
 * plan breaks them, which keeps most windows as cheap as a shortest path. */
static int keep_limits(double *cost, hetero_id *plan, bool *complete, void *context, struct hetero_paths *x,
                       const struct hetero_arcs *arcs, const struct hetero_window *w, double most,
                       struct err *e)
{
    struct labels *m = context;
    int rc = grow_room(m, x, e);
    if (!rc)
        rc = limits_open(&m->limits, x, arcs, w, e);
    if (rc)
        return rc;
    limits_count(&m->limits, plan);
    while (!rc && *complete && *cost < INFINITY && !limits_hold(&m->limits)) {
        limits_add(&m->limits);
        rc = keep_scarce(m, cost, plan, most, complete, e);
        if (*complete && *cost < INFINITY)
            limits_count(&m->limits, plan);
    }
    return rc;
}

/* Windows of throughput as in the oracle, with this rule on top. */
static int labels_search(struct hetero_windows *found, const struct hetero_problem *p, struct err *e)
{
    struct labels m = { .limits.problem = p };
    int rc = hetero_windows(found, p, keep_limits, &m, e);
    limits_free(&m.limits);
    free(m.rest);
    free(m.at);
    free(m.used);
    free(m.head);
    heap_free(&m.open);
    return rc;
}

/* The oracle first: where its plan already holds the limits it is optimal, and nothing more is needed.
 * Otherwise labels tighten the bound and may find a better plan, which is then judged once more. */
int hetero_exact(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e)
{
    struct hetero_windows found = { 0 };
    const double hours = p->setup.epochs * p->setup.examples / 3600;
    int rc = hetero_oracle(o, p, e);
    if (rc || o->proof != HETERO_LOWER_BOUND)
        return rc;
    rc = labels_search(&found, p, e);
    o->paths += found.paths;
    if (!rc && found.lower < INFINITY) {
        o->lower_usd = fmax(o->lower_usd, found.lower * hours);
        if (found.cost < INFINITY) {
            memcpy(o->plan, found.plan, (size_t)p->profile->n_layers * sizeof *o->plan);
            o->usd = found.cost * hours;
        }
        rc = hetero_oracle_judge(o, p, e);
    } else if (!rc) {
        int64_t paths = o->paths;
        hetero_oracle_free(o);
        *o = (struct hetero_oracle){ HETERO_NO_PLAN, NULL, NAN, NAN, paths };
    }
    hetero_windows_free(&found);
    if (rc)
        hetero_oracle_free(o);
    return rc;
}

int hetero_labels_run(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    struct hetero_oracle o;
    (void)settings;
    int rc = hetero_exact(&o, s->problem, e);
    if (!rc)
        rc = hetero_oracle_report(s, &o, e);
    hetero_oracle_free(&o);
    return rc;
}
