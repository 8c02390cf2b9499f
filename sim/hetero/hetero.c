/*
 * What a plan costs: its spans and stages, the units they get, the throughput it reaches.
 */
#include "sim/hetero/hetero.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hetero_handover_words[] = { "layer", "stage", "network", NULL };
const char *const hetero_provisioning_words[] = { "exact", "balance", "newton", NULL };
const char *const hetero_status_words[] = { "ok", "too slow", "too few units", NULL };

static size_t span_at(const struct hetero_problem *p, int32_t first, int32_t type, int32_t last)
{
    size_t n = (size_t)p->profile->n_layers;
    return ((size_t)first * (size_t)p->profile->n_types + (size_t)type) * n + (size_t)last;
}

/* ---- building ---- */

/* Both work side by side, or one after the other: then a single pair of terms says it all. */
static struct hetero_time combine(const struct hetero_problem *p, const struct hetero_type *t,
                                  double compute_s, double comm_s)
{
    double batch = p->profile->batch;
    struct hetero_time x = {
        .fixed_s = { compute_s * (1 - t->compute_par) / batch, comm_s * (1 - t->comm_par) / batch },
        .shared_s = { compute_s * t->compute_par / batch, comm_s * t->comm_par / batch }
    };
    if (p->setup.overlap)
        return x;
    return (struct hetero_time){ .fixed_s = { x.fixed_s[0] + x.fixed_s[1], 0 },
                                 .shared_s = { x.shared_s[0] + x.shared_s[1], 0 } };
}

/* All spans of one type that begin at one layer. */
static void fill_spans(struct hetero_problem *p, int32_t first, int32_t type)
{
    const struct hetero_profile *f = p->profile;
    const struct hetero_setup *s = &p->setup;
    double compute_s = 0, comm_s = 0, sparse_B = 0;
    for (int32_t last = first; last < f->n_layers; last++) {
        size_t cell = (size_t)last * (size_t)f->n_types + (size_t)type;
        bool pays = s->handover == HETERO_PER_STAGE && last + 1 < f->n_layers;
        compute_s += f->compute_s[cell];
        comm_s += f->sync_s[cell] + (s->handover == HETERO_PER_LAYER ? f->handover_s[cell] : 0);
        sparse_B += f->layers[last].sparse_B;
        size_t at = span_at(p, first, type, last);
        p->spans[at] = combine(p, &f->types[type], compute_s, comm_s + (pays ? f->handover_s[cell] : 0));
        /* Layers on the servers' own type hold their rows themselves. */
        if (p->server_s)
            p->server_s[at] = type == s->server ? 0 : sparse_B / s->server_Bps;
    }
}

double hetero_unit_usd_per_h(const struct hetero_profile *profile, int32_t type)
{
    const struct hetero_type *x = &profile->types[type];
    return x->usd_per_h + x->port_usd_per_h +
           (x->host >= 0 ? (double)x->host_units * profile->types[x->host].usd_per_h : 0);
}

/* Tables over first layer, last layer and type: every search asks for the same spans again and again. A unit
 * is priced with its host. */
int hetero_build(struct hetero_problem *p, const struct hetero_profile *profile,
                 const struct hetero_setup *setup, struct err *e)
{
    *p = (struct hetero_problem){ .profile = profile, .setup = *setup };
    size_t n = (size_t)profile->n_layers * (size_t)profile->n_layers * (size_t)profile->n_types;
    p->spans = ARENA_TAKE(&p->arena, n, *p->spans);
    p->starts = ARENA_TAKE(&p->arena, n, *p->starts);
    p->unit_usd_per_h = ARENA_TAKE(&p->arena, profile->n_types, *p->unit_usd_per_h);
    p->server_s = setup->server >= 0 ? ARENA_TAKE(&p->arena, n, *p->server_s) : NULL;
    int rc = arena_check(&p->arena, "stages of a plan", e);
    if (rc) {
        hetero_free(p);
        return rc;
    }
    for (int32_t t = 0; t < profile->n_types; t++) {
        p->unit_usd_per_h[t] = hetero_unit_usd_per_h(profile, t);
        for (int32_t first = 0; first < profile->n_layers; first++)
            fill_spans(p, first, t);
    }
    hetero_set_throughput(p, 0);
    return 0;
}

static struct hetero_start start_of(const struct hetero_time *t, double per_s)
{
    int64_t k = hetero_least_units(t, 1 / per_s);
    return (struct hetero_start){ .time_s = k < 0 ? (double)INFINITY : hetero_time_s(t, k), .units = k };
}

void hetero_set_throughput(struct hetero_problem *p, double per_s)
{
    const int32_t layers = p->profile->n_layers;
    p->per_s = per_s;
    for (int32_t first = 0; first < layers; first++)
        for (int32_t t = 0; t < p->profile->n_types; t++) {
            size_t at = span_at(p, first, t, first);
            for (int32_t last = first; last < layers; last++, at++)
                p->starts[at] = start_of(&p->spans[at], per_s);
        }
}

void hetero_free(struct hetero_problem *p)
{
    arena_free(&p->arena);
    *p = (struct hetero_problem){ 0 };
}

/* ---- stages ---- */

/* A batch through the port of one unit of type @p own, from or to type @p other, seconds. */
static double link_s(const struct hetero_problem *p, int32_t layer, int32_t own, int32_t other)
{
    const struct hetero_link *k = &p->setup.links[(size_t)own * (size_t)p->profile->n_types + (size_t)other];
    return k->lat_s + p->profile->batch * p->profile->layers[layer].out_B / k->Bps;
}

/* What a stage hands over at both its ends, by the network. Activations go one way while gradients come the
 * other; each end carries both. */
static void add_links(struct hetero_time *t, const struct hetero_problem *p, const struct hetero_span *span)
{
    double comm_s = (span->before >= 0 ? link_s(p, span->first - 1, span->type, span->before) : 0) +
                    (span->after >= 0 ? link_s(p, span->last, span->type, span->after) : 0);
    double share = p->profile->types[span->type].comm_par;
    int i = p->setup.overlap ? 1 : 0;
    t->fixed_s[i] += comm_s * (1 - share) / p->profile->batch;
    t->shared_s[i] += comm_s * share / p->profile->batch;
}

struct hetero_stage hetero_stage_of(const struct hetero_problem *p, const struct hetero_span *span)
{
    size_t at = span_at(p, span->first, span->type, span->last);
    struct hetero_stage s = { *span, p->spans[at], p->starts[at], p->server_s ? p->server_s[at] : 0 };
    if (p->setup.handover == HETERO_NETWORK) {
        add_links(&s.time, p, span);
        s.start = start_of(&s.time, p->per_s);
    }
    return s;
}

/* Maximal runs of layers on one type become stages; each knows its neighbours, which decide handover. */
int32_t hetero_stages(struct hetero_stage *stages, const struct hetero_problem *p, const hetero_id *plan)
{
    int32_t n = 0, layers = p->profile->n_layers;
    for (int32_t first = 0; first < layers;) {
        struct hetero_span span = { .first = first, .last = first, .type = plan[first] };
        while (span.last + 1 < layers && plan[span.last + 1] == span.type)
            span.last++;
        span.before = first > 0 ? plan[first - 1] : -1;
        span.after = span.last + 1 < layers ? plan[span.last + 1] : -1;
        stages[n++] = hetero_stage_of(p, &span);
        first = span.last + 1;
    }
    return n;
}

/*
 * ---- parts ----
 *
 * A plan being provisioned: its parts, the units they have, what those cost. A part is a stage, or the
 * parameter servers of a stage, which are like a stage whose time falls as 1/k.
 */

struct hetero_part {
    struct hetero_time time;
    double usd_per_h;    /**< of one unit and its host */
    double now_s;        /**< seconds per example with the units it has */
    int64_t units, kept; /**< now, and of the cheapest so far */
    int32_t type, stage; /**< stage -1: servers */
};

struct parts {
    const struct hetero_problem *p;
    struct hetero_part part[2 * HETERO_MAX_LAYERS]; /**< a stage, its servers, the next stage, .. */
    int32_t n, slowest;                             /**< slowest: a part that takes slowest_s */
    int64_t *of_type;                               /**< shape [n_types], of the work; hosts included */
    double usd_per_h, slowest_s;
};

/* @p more units for part @p x, whose now_s is left to the caller; false: a type has not so many. O(1). */
static bool parts_take(struct parts *w, struct hetero_part *x, int64_t more)
{
    const struct hetero_type *types = w->p->profile->types, *t = &types[x->type];
    x->units += more;
    w->usd_per_h += (double)more * x->usd_per_h;
    w->of_type[x->type] += more;
    if (t->host < 0)
        return w->of_type[x->type] <= t->max_units;
    w->of_type[t->host] += more * t->host_units;
    return w->of_type[x->type] <= t->max_units && w->of_type[t->host] <= types[t->host].max_units;
}

/* Nobody has anything. */
static void parts_clear(struct parts *w)
{
    memset(w->of_type, 0, (size_t)w->p->profile->n_types * sizeof *w->of_type);
    w->usd_per_h = 0;
    w->slowest_s = -1; /* so that a part without work can be the slowest */
}

/* The first units of part @p i, and its time with them. */
static bool parts_start(struct parts *w, int32_t i, const struct hetero_start *s)
{
    struct hetero_part *x = &w->part[i];
    x->units = 0;
    x->now_s = s->time_s;
    if (x->now_s > w->slowest_s) {
        w->slowest_s = x->now_s;
        w->slowest = i;
    }
    return parts_take(w, x, s->units);
}

static struct hetero_start units_least(const struct hetero_time *t, double limit_s)
{
    int64_t k = hetero_least_units(t, limit_s);
    return (struct hetero_start){ .time_s = k < 0 ? 0 : hetero_time_s(t, k), .units = k };
}

/* The least units with which every part takes at most @p limit_s. O(parts + types). */
static enum hetero_status parts_serve(struct parts *w, double limit_s)
{
    bool enough = true;
    parts_clear(w);
    for (int32_t i = 0; i < w->n; i++) {
        const struct hetero_start s = units_least(&w->part[i].time, limit_s);
        if (s.units < 0)
            return HETERO_TOO_SLOW;
        enough = parts_start(w, i, &s) && enough;
    }
    return enough ? HETERO_OK : HETERO_SCARCE;
}

/*
 * The parts of the plan in @p work with the least units that reach the problem's throughput. All parts are
 * there whatever it returns; units only when that is HETERO_OK. O(stages + types).
 */
static enum hetero_status parts_begin(struct parts *w, const struct hetero_problem *p,
                                      struct hetero_work *work)
{
    bool fast = true, enough = true;
    w->p = p;
    w->n = 0;
    w->of_type = work->of_type;
    parts_clear(w);
    for (int32_t i = 0; i < work->n_stages; i++) {
        const struct hetero_stage *s = &work->stages[i];
        struct hetero_part *x = &w->part[w->n++];
        *x = (struct hetero_part){
            .time = s->time, .usd_per_h = p->unit_usd_per_h[s->span.type], .type = s->span.type, .stage = i
        };
        fast = fast && s->start.units > 0;
        enough = fast && parts_start(w, w->n - 1, &s->start) && enough;
        if (!(s->server_s > 0))
            continue;
        x = &w->part[w->n++];
        *x = (struct hetero_part){ .time = { .shared_s = { s->server_s, 0 } },
                                   .usd_per_h = p->unit_usd_per_h[p->setup.server],
                                   .type = p->setup.server,
                                   .stage = -1 };
        const struct hetero_start servers = units_least(&x->time, 1 / p->per_s);
        fast = fast && servers.units > 0;
        enough = fast && parts_start(w, w->n - 1, &servers) && enough;
    }
    return !fast ? HETERO_TOO_SLOW : enough ? HETERO_OK : HETERO_SCARCE;
}

/*
 * ---- reach ----
 *
 * The largest throughput of a plan within the limits of units. The least units for a time only grow as the
 * time falls, so each type by itself says how fast the plan can be, and the least of these answers holds.
 */

/* Parts that take units of one type. */
struct sharing {
    int64_t max_units;
    int32_t n;
    struct sharer {
        struct hetero_part *part;
        int64_t each; /* of the type, for one of the part's: 1, or the host's */
    } of[2 * HETERO_MAX_LAYERS];
};

/* Stages that draw on the units of one type, directly or through a host of that type. */
static void reach_gather_units(struct sharing *s, struct parts *w, int32_t type)
{
    const struct hetero_type *types = w->p->profile->types;
    s->max_units = types[type].max_units;
    s->n = 0;
    for (int32_t i = 0; i < w->n; i++) {
        const struct hetero_type *own = &types[w->part[i].type];
        int64_t each = w->part[i].type == type ? 1 : own->host == type ? own->host_units : 0;
        if (each > 0)
            s->of[s->n++] = (struct sharer){ &w->part[i], each };
    }
}

/* What the least units for a time come to. */
struct units_fit {
    double slowest_s;
    int64_t left; /* of the type; < 0: there are not so many */
    bool tight;   /* not one more for the slowest part */
};

/* Units each sharer needs to meet limit_s, and what is left. `tight`: no further unit can help, as the
 * slowest stage cannot get one or would not gain from it. */
static struct units_fit units_fit(const struct sharing *s, double limit_s)
{
    struct units_fit f = { .slowest_s = -1, .left = s->max_units };
    const struct sharer *slowest = s->of; /* there is one: else the type would not be short */
    for (int32_t i = 0; i < s->n; i++) {
        int64_t k = hetero_least_units(&s->of[i].part->time, limit_s);
        double now_s = hetero_time_s(&s->of[i].part->time, k);
        s->of[i].part->units = k;
        f.left -= k * s->of[i].each;
        if (now_s > f.slowest_s) {
            f.slowest_s = now_s;
            slowest = &s->of[i];
        }
    }
    f.tight = f.left < slowest->each ||
              !(hetero_time_s(&slowest->part->time, slowest->part->units + 1) < f.slowest_s);
    return f;
}

/* The least time with the units of one type, where @p fast_s is too fast but within reach of each part alone;
 * INFINITY: there is not a unit for each. */
static double share_s(const struct sharing *s, double fast_s)
{
    struct units_fit slow = units_fit(s, (double)INFINITY);
    if (slow.left < 0)
        return (double)INFINITY;
    double fast_per_s = 1 / fast_s;
    /* In throughput, to which units are about proportional. Neighbouring numbers end it where parts that are
     * equally slow would need one more each. */
    while (!slow.tight) {
        double middle_per_s = (fast_per_s + 1 / slow.slowest_s) / 2;
        if (!(middle_per_s < fast_per_s * (1 - HETERO_SLACK)))
            break;
        struct units_fit middle = units_fit(s, 1 / middle_per_s);
        if (middle.left < 0)
            fast_per_s = middle_per_s;
        else
            slow = middle;
    }
    return slow.slowest_s;
}

/*
 * The largest throughput within the limits of units; 0: there is not a unit for each part. What the units are
 * afterwards is not said. O(parts), where a limit is shared and binds times the logarithm of the limit.
 */
static double parts_reach(struct parts *w)
{
    const struct hetero_type *types = w->p->profile->types;
    double slowest_s = 0; /* when each has all units of its type */
    for (int32_t i = 0; i < w->n; i++) {
        double alone_s = hetero_time_s(&w->part[i].time, types[w->part[i].type].max_units);
        slowest_s = alone_s > slowest_s ? alone_s : slowest_s;
    }
    /* What rounding takes must not put it out of reach. */
    double limit_s = slowest_s * (1 + HETERO_SLACK);
    if (parts_serve(w, limit_s) == HETERO_OK)
        return 1 / w->slowest_s;
    slowest_s = w->slowest_s;
    for (int32_t t = 0; t < w->p->profile->n_types; t++)
        if (w->of_type[t] > types[t].max_units) {
            struct sharing s;
            reach_gather_units(&s, w, t);
            double least_s = share_s(&s, limit_s);
            slowest_s = least_s > slowest_s ? least_s : slowest_s;
        }
    return 1 / slowest_s;
}

/* Of a cost: a smaller gain is rounding. */
#define COST_SLACK 1e-12

/*
 * Where units divide all work and thousands are allowed, the cost comes near its bound for ever without
 * meeting it. So after PATIENCE looks a gain must be worth ENOUGH, and more with each further look: prices
 * are not known better. A look gives about half a unit to every part: it takes limits of thousands of units
 * to get here.
 */
enum { PATIENCE = 4096 };
#define ENOUGH 1e-4

/* ---- provisioning: the cheapest units so far ---- */

/* USD/h of the units, times seconds per example. */
static double rate(const struct parts *w)
{
    return w->slowest_s * w->usd_per_h;
}

/* These units are the cheapest so far. */
static void parts_keep(struct hetero_value *v, struct parts *w)
{
    const struct hetero_setup *s = &w->p->setup;
    *v = (struct hetero_value){ .status = HETERO_OK,
                                .usd = s->epochs * s->examples / 3600 * rate(w),
                                .per_s = 1 / w->slowest_s,
                                .usd_per_h = w->usd_per_h,
                                .reach_per_s = NAN };
    for (int32_t i = 0; i < w->n; i++)
        w->part[i].kept = w->part[i].units;
}

/* The kept units, told to the caller. */
static void parts_report(struct parts *w, struct hetero_work *work)
{
    for (int32_t i = 0; i < w->n; i++) {
        struct hetero_part *x = &w->part[i];
        parts_take(w, x, x->kept - x->units);
        if (x->stage >= 0)
            work->units[x->stage] = x->kept;
    }
}

/* ---- provisioning: exact ---- */

/*
 * The next units that may cost less than @p goal (rate()); false: none do, or a limit is reached. Whatever is
 * faster has one more unit in the slowest part and no fewer in the others, so it costs less than the goal
 * only where it takes less than goal / (USD/h of those): all times above that are passed over. And it costs
 * no less than units that may be broken up, time * sum of price * shared/(time - fixed), which rises as the
 * time falls: once that is the goal for the longest time left, nothing is left.
 */
static bool units_advance(struct parts *w, double goal)
{
    const int32_t slowest = w->slowest;
    const double limit_s = goal / (w->usd_per_h + w->part[slowest].usd_per_h);
    double broken_usd_per_h = 0;
    w->slowest_s = -1;
    for (int32_t i = 0; i < w->n; i++) {
        struct hetero_part *x = &w->part[i];
        double k = hetero_real_units(&x->time, limit_s);
        if (!(k <= HETERO_MAX_UNITS))
            return false;
        broken_usd_per_h += x->usd_per_h * k;
        if (x->now_s > limit_s || i == slowest) { /* one at least, so that it ends */
            int64_t whole = hetero_round_units(k);
            if (!parts_take(w, x, whole > x->units ? whole - x->units : 1))
                return false;
            x->now_s = hetero_time_s(&x->time, x->units);
        }
        if (x->now_s > w->slowest_s) {
            w->slowest_s = x->now_s;
            w->slowest = i;
        }
    }
    return limit_s * broken_usd_per_h < goal;
}

/* The least gain worth looking for after so many looks, as a share of the cost. */
static double units_gain(int64_t looks)
{
    return looks < PATIENCE ? COST_SLACK : ENOUGH * (double)looks / PATIENCE;
}

static void units_walk(struct hetero_value *v, struct parts *w)
{
    double least = rate(w);
    parts_keep(v, w);
    for (int64_t looks = 0; least > 0 && units_advance(w, least * (1 - units_gain(looks))); looks++)
        if (rate(w) < least * (1 - units_gain(looks))) {
            least = rate(w);
            parts_keep(v, w);
        }
}

/* ---- from the units of the first stage ---- */

/* The continuous cost (as rate()) with @p k units in the first stage; INFINITY where others cannot keep up.
 */
static double smooth_rate(const struct parts *w, double k)
{
    const struct hetero_time *t = &w->part[0].time;
    double slowest_s = fmax(t->fixed_s[0] + t->shared_s[0] / k, t->fixed_s[1] + t->shared_s[1] / k);
    double usd_per_h = w->part[0].usd_per_h * k;
    for (int32_t i = 1; i < w->n; i++)
        usd_per_h += w->part[i].usd_per_h * hetero_real_units(&w->part[i].time, slowest_s);
    return usd_per_h * slowest_s;
}

/* Least k >= @p from at which the continuous cost stops falling. Central differences; where the curve does
 * not bend upwards, half the way back to @p from. */
static double newton(const struct parts *w, double from)
{
    double k = from;
    for (int i = 0; i < 50; i++) {
        double h = 1e-4 * k, here = smooth_rate(w, k), up = smooth_rate(w, k + h),
               down = smooth_rate(w, k - h);
        double slope = (up - down) / (2 * h), bend = (up - 2 * here + down) / (h * h);
        double next = bend > 0 ? k - slope / bend : (k + from) / 2;
        if (!isfinite(next))
            break;
        next = fmax(from, next);
        if (fabs(next - k) < 1e-6)
            return next;
        k = next;
    }
    return k;
}

/* @p k units in the first stage, the others as fast, if that is a plan that reaches the throughput and is the
 * cheapest so far. */
static void balance(struct hetero_value *v, struct parts *w, double k)
{
    if (!(k >= 1 && k <= HETERO_MAX_UNITS))
        return;
    double limit_s = hetero_time_s(&w->part[0].time, (int64_t)k);
    if (limit_s > (1 + HETERO_SLACK) / w->p->per_s || parts_serve(w, limit_s) != HETERO_OK)
        return;
    if (v->status != HETERO_OK || rate(w) < v->usd_per_h / v->per_s)
        parts_keep(v, w);
}

/* Provisioning as in HeterPS: units of the first stage are set, the others follow its pace. Newton's method
 * finds a real number of units, so both whole neighbours are tried. */
static void follow_first(struct hetero_value *v, struct parts *w)
{
    const double limit_s = 1 / w->p->per_s;
    v->status = HETERO_SCARCE;
    if (w->p->setup.provisioning == HETERO_NEWTON) {
        double k = newton(w, fmax(1, hetero_real_units(&w->part[0].time, limit_s)));
        balance(v, w, floor(k));
        balance(v, w, ceil(k));
    } else {
        balance(v, w, (double)w->part[0].units);
    }
    /* The first stage may be faster than asked for, and others unable to follow: they need not. */
    if (v->status != HETERO_OK && parts_serve(w, limit_s) == HETERO_OK)
        parts_keep(v, w);
}

/*
 * Units of the stages in @p w (w->stages, w->n_stages), into w->units and w->of_type, and what they cost.
 *
 * Exact: begins with the least units that reach the throughput asked for. Whatever is faster has at least one
 * unit more in the slowest stage and as many in the others, so more units only ever follow: sets of units
 * form a walk towards higher throughput, and one that breaks a limit ends it, whichever type is short. Sets
 * that cannot be cheaper than the cheapest found are passed over; the walk ends when units that may be broken
 * up, sum of price * shared/(1 - fixed/time), which only get dearer with throughput, cost no less. The
 * cheapest of all whole numbers, to 1e-9 of the throughput asked for. Where next to all work is shared and
 * limits are thousands of units, it is within 1e-4 of that for each 4096 sets that were looked at.
 *
 * Balance: k_1 the least that reaches the throughput, the others the least that are as fast as stage 1.
 * Newton: k_1 minimises the continuous cost (central differences, at most 50 steps, clamped to what reaches
 * the throughput), whole numbers below and above it are tried, the others as fast. Without rounding the cost
 * never falls with throughput, so that k_1 is where the throughput is just reached, and the method finds what
 * balance finds: it is kept because the paper (arXiv 2111.10635) is recalled to use it. Where the others
 * cannot be as fast as stage 1, both give the least units that reach the throughput.
 *
 * O(stages * sets).
 */
static void provision(struct hetero_value *v, const struct hetero_problem *p, struct hetero_work *work)
{
    struct parts w;
    enum hetero_status status = parts_begin(&w, p, work);
    if (status != HETERO_OK) {
        *v = (struct hetero_value){ .status = status, .usd = NAN, .per_s = NAN, .usd_per_h = NAN };
        v->reach_per_s = parts_reach(&w);
        return;
    }
    if (p->setup.provisioning == HETERO_EXACT)
        units_walk(v, &w);
    else
        follow_first(v, &w);
    parts_report(&w, work);
}

/* ---- evaluation ---- */

/* Scratch memory of an evaluation: searches evaluate millions of plans and must not allocate. */
int hetero_work_build(struct hetero_work *w, const struct hetero_problem *p, struct err *e)
{
    *w = (struct hetero_work){ 0 };
    w->stages = ARENA_TAKE(&w->arena, p->profile->n_layers, *w->stages);
    w->units = ARENA_TAKE(&w->arena, p->profile->n_layers, *w->units);
    w->of_type = ARENA_TAKE(&w->arena, p->profile->n_types, *w->of_type);
    return arena_check(&w->arena, "a plan", e);
}

void hetero_work_free(struct hetero_work *w)
{
    arena_free(&w->arena);
    *w = (struct hetero_work){ 0 };
}

void hetero_evaluate(struct hetero_value *v, const struct hetero_problem *p, const hetero_id *plan,
                     struct hetero_work *w)
{
    w->n_stages = hetero_stages(w->stages, p, plan);
    provision(v, p, w);
}
