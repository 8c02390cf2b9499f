/*
 * A training step drawn from the walk that times it (sim_step_record()): the tree once more, every node at
 * the time that the walk gave it, so that the last bar ends with the report's time and busy times are the
 * report's. What was simulated is drawn as it was recorded, as often as it happens.
 *
 * Lanes: for each stage of a pipeline (NPUs of their own) its compute, its host and each class of links; bars
 * that overlap stand in slots. A step of too many bars is drawn with the first few of each repeat; the others
 * are folded into one bar a lane.
 */
#include "sim/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Places of bars are sums of the same terms in another order. */
#define ROUNDING 1e-12
/* What a count of repeats may be below a whole number by rounding. */
#define WHOLE 1e-9

struct drawing {
    struct timeline *out;
    const struct step_tree *tree;
    const struct sim_step *step;
    const struct sim_record *record;
    int32_t run, first; /* first: bar of the run */
    int32_t job;        /* collectives so far */
    int32_t most;       /* of each repeat so many are drawn, and one more where it is the last */
};

/* Where a node is drawn. */
struct spot {
    double at_s;
    double stretch; /* of time, bytes and busy time: repeats that are no whole number */
    double wait;    /* of time alone: collectives that wait for links which others use */
    int32_t stage;
    bool counts;
};

/* Seconds on the page for one of the walk. */
static double pace(const struct spot *s)
{
    return s->stretch * s->wait;
}

/* ---- bars ---- */

/* ERR_RANGE: too many, with a message only where nothing more can be folded. */
static int add_bar(struct drawing *x, const struct timeline_bar *bar, struct err *e)
{
    struct timeline *t = x->out;
    if (!vec_reserve(t->bars, t->cap_bars, t->n_bars + 1))
        return err_nomem(e, "a timeline");
    if (t->n_bars - x->first >= TIMELINE_MAX_BARS)
        return err_set(
            e, ERR_RANGE,
            "timeline: has more than %d bars with one of each repeat, expected at most that many; use "
            "fewer chunks",
            TIMELINE_MAX_BARS);
    t->bars[t->n_bars++] = *bar;
    return 0;
}

static struct timeline_bar bar_at(const struct drawing *x, const struct spot *s, step_id node)
{
    return (struct timeline_bar){ .run = x->run,
                                  .stage = s->stage,
                                  .node = node,
                                  .job = -1,
                                  .chunk = -1,
                                  .events = 1,
                                  .lead = true,
                                  .counts = s->counts && x->tree->nodes[node].phase != STEP_BUBBLE };
}

/* Something that happened, from the beginning of what is drawn at the spot. */
static int add_event(struct drawing *x, const struct spot *s, step_id node, int32_t job,
                     const struct sim_event *event, struct err *e)
{
    struct timeline_bar bar = bar_at(x, s, node);
    if (!(event->end_s > event->start_s))
        return 0;
    bar.dim = event->dim >= 0 ? event->dim : x->tree->nodes[node].host ? TIMELINE_HOST : TIMELINE_COMPUTE;
    bar.cell = event->cell;
    bar.job = event->dim >= 0 ? job : -1;
    bar.chunk = event->chunk;
    bar.pass = event->pass;
    bar.lead = event->lead;
    bar.counts = bar.counts && event->cell == 0;
    bar.bytes = event->bytes * s->stretch;
    bar.busy_s = event->busy_s * s->stretch;
    bar.ready_s = s->at_s + event->ready_s * pace(s);
    bar.start_s = s->at_s + event->start_s * pace(s);
    bar.end_s = s->at_s + event->end_s * pace(s);
    return add_bar(x, &bar, e);
}

/* ---- what a node does ---- */

static int draw_node(struct drawing *x, step_id id, struct spot s, struct err *e);

/* Work that sends nothing is one event of a simulation: all that is below its node. */
static int draw_work(struct drawing *x, const struct spot *s, const struct sim_event *event, struct err *e)
{
    struct spot at = *s;
    at.at_s += event->start_s * pace(s);
    at.stretch *= (event->end_s - event->start_s) / x->record->nodes[event->node].time_s;
    return event->end_s > event->start_s ? draw_node(x, event->node, at, e) : 0;
}

/* What was simulated below a maximum; its collectives are numbered from 0. */
static int draw_joint(struct drawing *x, const struct spot *s, int32_t known, struct err *e)
{
    int32_t n, most = -1;
    int rc = 0;
    const struct sim_event *events = fidelity_events(x->record->fidelity, known, &n);
    for (int32_t i = 0; i < n && !rc; i++) {
        most = events[i].job > most ? events[i].job : most;
        rc = events[i].dim < 0 ? draw_work(x, s, &events[i], e)
                               : add_event(x, s, events[i].node, x->job + events[i].job, &events[i], e);
    }
    x->job += most + 1;
    return rc;
}

/* A collective once. */
static int draw_collective(struct drawing *x, step_id id, const struct spot *s, struct err *e)
{
    const struct sim_node *node = &x->record->nodes[id];
    const struct sim_collective *c = &x->step->collectives[node->collective];
    struct sim_event whole[TOPO_MAX_DIMS];
    int32_t n = 0, job = x->job++;
    int rc = 0;
    const struct sim_event *events =
        node->known >= 0 ? fidelity_events(x->record->fidelity, node->known, &n) : NULL;
    for (int32_t i = 0; i < n && !rc; i++)
        rc = add_event(x, s, id, job, &events[i], e);
    if (n > 0)
        return rc;
    const int32_t *members = x->tree->groups[x->tree->nodes[id].group].members;
    n = sim_events_of(whole, c->traffic_B, c->busy_s, members, x->step->n_dims, 0, c->time_s);
    for (int32_t i = 0; i < n && !rc; i++)
        rc = add_event(x, s, id, job, &whole[i], e);
    return rc;
}

/* A collective once, or the only child of a repeat. */
static int draw_once(struct drawing *x, step_id id, struct spot s, struct err *e)
{
    const struct step_node *node = &x->tree->nodes[id];
    return node->kind == STEP_COLLECTIVE ? draw_collective(x, id, &s, e) : draw_node(x, node->first, s, e);
}

/* ---- repeats ---- */

static bool same_lane(const struct timeline_bar *a, const struct timeline_bar *b)
{
    return a->stage == b->stage && a->dim == b->dim && a->cell == b->cell && a->counts == b->counts;
}

/* Bars from `first` on are one repeat: make them one a lane, for `times` repeats of `once_s` each. */
static void fold_bars(struct drawing *x, int32_t first, step_id id, double times, double once_s)
{
    struct timeline_bar *bars = x->out->bars;
    int32_t n = first;
    for (int32_t i = first; i < x->out->n_bars; i++) {
        int32_t k = first;
        while (k < n && !same_lane(&bars[k], &bars[i]))
            k++;
        if (k == n) {
            bars[n] = bars[i];
            bars[n++].chunk = -1;
            continue;
        }
        bars[k].start_s = fmin(bars[k].start_s, bars[i].start_s);
        bars[k].end_s = fmax(bars[k].end_s, bars[i].end_s);
        bars[k].events += bars[i].events;
        bars[k].bytes += bars[i].bytes;
        bars[k].busy_s += bars[i].busy_s;
    }
    x->out->n_bars = n;
    for (int32_t k = first; k < n; k++) {
        bars[k].node = id;
        bars[k].job = -1;
        bars[k].lead = true;
        bars[k].ready_s = bars[k].start_s;
        bars[k].end_s += (times - 1) * once_s;
        bars[k].events *= times;
        bars[k].bytes *= times;
        bars[k].busy_s *= times;
    }
}

/* Times a node of @p once_s: whole ones, stretched so that they take what the count says. */
static int draw_repeat(struct drawing *x, step_id id, double times, double once_s, struct spot s,
                       struct err *e)
{
    double n = fmax(floor(times + WHOLE), 1), each_s;
    int64_t drawn = n > (double)x->most + 1 ? x->most : (int64_t)n;
    int rc = 0;
    s.stretch *= times / n;
    each_s = once_s * pace(&s);
    struct spot at = s;
    for (int64_t i = 0; i < drawn && !rc; i++) {
        at.at_s = s.at_s + (double)i * each_s;
        rc = draw_once(x, id, at, e);
    }
    if (rc || (double)drawn >= n)
        return rc;
    int32_t first = x->out->n_bars;
    at.at_s = s.at_s + (double)drawn * each_s;
    rc = draw_once(x, id, at, e);
    if (!rc)
        fold_bars(x, first, id, n - (double)drawn, each_s);
    return rc;
}

/* Children that share links take no less than these are busy (closed forms): the last of them, which runs
 * beside the others, goes at their pace. */
static double waits(const struct drawing *x, step_id id, step_id child)
{
    const struct step_node *node = &x->tree->nodes[id];
    double longest_s = 0, own_s = x->record->nodes[child].time_s;
    if (node->kind != STEP_MAX || x->tree->nodes[child].next >= 0 || !(own_s > 0))
        return 1;
    for (step_id c = node->first; c >= 0; c = x->tree->nodes[c].next)
        longest_s = fmax(longest_s, x->record->nodes[c].time_s);
    return x->record->nodes[id].time_s > longest_s ? x->record->nodes[id].time_s / own_s : 1;
}

/* Children of a sum follow each other, those of a maximum begin together. On other NPUs than those of the
 * slowest, nothing counts. */
static int draw_children(struct drawing *x, step_id id, struct spot s, struct err *e)
{
    const struct step_node *node = &x->tree->nodes[id];
    double at_s = s.at_s;
    int rc = 0;
    for (step_id c = node->first; c >= 0 && !rc; c = x->tree->nodes[c].next) {
        struct spot child = s;
        child.at_s = at_s;
        child.wait = s.wait * waits(x, id, c);
        child.counts = s.counts && (!node->apart || x->record->nodes[c].times > 0);
        rc = draw_node(x, c, child, e);
        if (node->kind == STEP_SUM)
            at_s += x->record->nodes[c].time_s * pace(&s);
    }
    return rc;
}

static int draw_node(struct drawing *x, step_id id, struct spot s, struct err *e)
{
    const struct step_node *node = &x->tree->nodes[id];
    const struct sim_node *found = &x->record->nodes[id];
    s.stage = node->stage > 0 ? node->stage : s.stage;
    switch (node->kind) {
    case STEP_COMPUTE: {
        const struct sim_event event = {
            .chunk = -1, .dim = -1, .lead = true, .busy_s = node->seconds, .end_s = node->seconds
        };
        return add_event(x, &s, id, -1, &event, e);
    }
    case STEP_COLLECTIVE:
        return draw_repeat(x, id, node->times, x->step->collectives[found->collective].time_s, s, e);
    case STEP_REPEAT:
        return node->first < 0 ? 0
                               : draw_repeat(x, id, node->times, x->record->nodes[node->first].time_s, s, e);
    case STEP_SUM:
    case STEP_MAX:
        return found->known >= 0 ? draw_joint(x, &s, found->known, e) : draw_children(x, id, s, e);
    case STEP_TRANSFER: /* lowered trees only */
        break;
    }
    return 0;
}

/* ---- order, slots, lanes ---- */

#define COMPARE(a, b)                                                                                        \
    do {                                                                                                     \
        if ((a) < (b) || (b) < (a))                                                                          \
            return (a) < (b) ? -1 : 1;                                                                       \
    } while (0)

/* By start, then by whatever tells two bars apart: qsort() is not stable, and files must not depend on it. */
static int compare_bars(const void *a, const void *b)
{
    const struct timeline_bar *x = a, *y = b;
    COMPARE(x->start_s, y->start_s);
    COMPARE(x->lane, y->lane);
    COMPARE(x->cell, y->cell);
    COMPARE(x->slot, y->slot);
    COMPARE(x->end_s, y->end_s);
    COMPARE(x->node, y->node);
    COMPARE(x->job, y->job);
    COMPARE(x->chunk, y->chunk);
    COMPARE(x->bytes, y->bytes);
    return 0;
}

static int compare_lanes(const void *a, const void *b)
{
    const struct timeline_bar *x = a, *y = b;
    COMPARE(x->lane, y->lane);
    COMPARE(x->cell, y->cell);
    return compare_bars(a, b);
}

/* Compute, host, the dimensions; of each stage. */
static int32_t lane_of(const struct timeline_bar *b, int32_t n_dims)
{
    int32_t row = b->dim == TIMELINE_COMPUTE ? 0 : b->dim == TIMELINE_HOST ? 1 : 2 + b->dim;
    return b->stage * (n_dims + 2) + row;
}

/* Each bar of a lane, by start, into the first slot that is free. Ends that are a start but for rounding are
 * made that. */
static int place_bars(struct timeline_bar *bars, int32_t n, double time_s, struct err *e)
{
    double *free_s = NULL;
    int32_t n_slots = 0, cap = 0;
    for (int32_t i = 0; i < n; i++) {
        struct timeline_bar *b = &bars[i];
        int32_t slot = 0;
        if (i > 0 && (b->lane != b[-1].lane || b->cell != b[-1].cell))
            n_slots = 0;
        while (slot < n_slots && free_s[slot] > b->start_s + ROUNDING * time_s)
            slot++;
        if (slot == n_slots) {
            if (!vec_reserve(free_s, cap, n_slots + 1)) {
                free(free_s);
                return err_nomem(e, "a timeline");
            }
            free_s[n_slots++] = b->start_s;
        }
        b->slot = slot;
        b->start_s = fmin(fmax(b->start_s, free_s[slot]), b->end_s);
        free_s[slot] = b->end_s;
    }
    free(free_s);
    return 0;
}

/* Bars of a run into their slots and order. */
static int order_bars(struct drawing *x, struct err *e)
{
    struct timeline_bar *bars = x->out->bars + x->first;
    int32_t n = x->out->n_bars - x->first;
    if (n == 0)
        return 0;
    for (int32_t i = 0; i < n; i++)
        bars[i].lane = lane_of(&bars[i], x->tree->n_dims);
    qsort(bars, (size_t)n, sizeof *bars, compare_lanes);
    int rc = place_bars(bars, n, x->step->time_s, e);
    qsort(bars, (size_t)n, sizeof *bars, compare_bars);
    return rc;
}

/* Lanes that some bar is on, numbered without gaps. */
static int number_lanes(struct timeline *t, int32_t n_dims, struct err *e)
{
    int32_t n_all = t->n_stages * (n_dims + 2), n = 0;
    int32_t *number = calloc((size_t)n_all + 1, sizeof *number);
    if (!number)
        return err_nomem(e, "a timeline");
    for (int32_t i = 0; i < t->n_bars; i++)
        number[t->bars[i].lane] = 1;
    for (int32_t lane = 0; lane < n_all; lane++)
        number[lane] = number[lane] ? n++ : 0;
    for (int32_t i = 0; i < t->n_bars; i++)
        t->bars[i].lane = number[t->bars[i].lane];
    free(number);
    return 0;
}

/* ---- runs ---- */

/* With as many of each repeat as there is room for. */
static int draw_all(struct drawing *x, struct err *e)
{
    static const int32_t most[] = { INT32_MAX - 1, 64, 32, 16, 8, 4, 2, 1 };
    struct timeline_run *run = &x->out->runs[x->run];
    int rc = 0;
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        x->out->n_bars = x->first;
        x->job = 0;
        x->most = most[k];
        rc = draw_node(x, x->tree->root, (struct spot){ .stretch = 1, .wait = 1, .counts = true }, e);
        if (rc != ERR_RANGE)
            break;
    }
    for (int32_t i = x->first; i < x->out->n_bars && !rc; i++)
        run->n_folded += x->out->bars[i].events > 1 ? x->out->bars[i].events : 0;
    run->n_drawn = x->most;
    return rc;
}

static bool same_run(const struct timeline *t, int32_t first, int32_t other, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const struct timeline_bar *a = &t->bars[first + i], *b = &t->bars[other + i];
        if (compare_bars(a, b) != 0)
            return false;
    }
    return true;
}

/* An earlier run that has the same bars; -1. */
static int32_t find_run(const struct timeline *t, int32_t first)
{
    int32_t n = t->n_bars - first;
    for (int32_t i = 0; i < first;) {
        int32_t end = i;
        while (end < first && t->bars[end].run == t->bars[i].run)
            end++;
        if (end - i == n && same_run(t, first, i, n))
            return t->bars[i].run;
        i = end;
    }
    return -1;
}

struct making {
    struct timeline *out;
    const struct step_tree *tree;
    const struct sim_way *way;
};

static int draw_run(struct making *m, const struct sim_step *step, const struct sim_record *record,
                    enum sim_order order, bool chosen, struct err *e)
{
    struct timeline *t = m->out;
    struct timeline_run *run = &t->runs[t->n_runs];
    struct drawing x = {
        .out = t, .tree = m->tree, .step = step, .record = record, .run = t->n_runs, .first = t->n_bars
    };
    if (!isfinite(step->time_s))
        return err_set(e, ERR_UNSUP, "timeline: the step never ends, expected bandwidth where it sends");
    *run = (struct timeline_run){ .order = order, .time_s = step->time_s, .chosen = chosen };
    for (int32_t d = 0; d < step->n_dims; d++)
        run->util_frac[d] = step->time_s > 0 ? step->busy_s[d] / step->time_s : 0;
    int rc = m->tree->root < 0 ? 0 : draw_all(&x, e);
    if (!rc)
        rc = order_bars(&x, e);
    int32_t same = rc ? -1 : find_run(t, x.first);
    if (same >= 0) {
        t->runs[same].chosen = t->runs[same].chosen || chosen;
        t->n_bars = x.first;
    } else {
        t->n_runs++;
    }
    return rc;
}

/* The order of all collectives; GUARD: they differ. */
static enum sim_order order_of(const struct making *m, const struct sim_step *step)
{
    if (m->way->rules->order != SIM_ORDER_GUARD || m->way->model != SIM_CHUNK)
        return m->way->rules->order == SIM_ORDER_GUARD ? SIM_ORDER_FIXED : m->way->rules->order;
    for (int32_t i = 1; i < step->n_collectives; i++)
        if (step->collectives[i].order != step->collectives[0].order)
            return SIM_ORDER_GUARD;
    return step->n_collectives ? step->collectives[0].order : SIM_ORDER_FIXED;
}

/* Time the step once, and draw it. */
static int add_run(struct making *m, enum sim_order order, bool chosen, struct err *e)
{
    struct sim_step step;
    struct sim_record record;
    struct sim_rules rules = *m->way->rules;
    struct sim_way way = *m->way;
    way.rules = &rules;
    rules.order = order;
    rules.keep_events = TIMELINE_MAX_BARS;
    int rc = sim_step_record(&step, &record, m->tree, &way, e);
    if (rc)
        return rc;
    rc = draw_run(m, &step, &record, chosen ? order_of(m, &step) : order, chosen, e);
    sim_record_free(&record);
    sim_step_free(&step);
    return rc;
}

/* Names of the stages, by their number. */
static int name_stages(struct timeline *t, const struct step_tree *tree, struct err *e)
{
    for (step_id id = 0; id < tree->n_nodes; id++)
        t->n_stages = tree->nodes[id].stage > t->n_stages ? tree->nodes[id].stage : t->n_stages;
    t->n_stages++;
    t->stages = calloc((size_t)t->n_stages, sizeof *t->stages);
    if (!t->stages)
        return err_nomem(e, "a timeline");
    if (t->n_stages > 1)
        step_set_name(t->stages[0], "all stages");
    for (int32_t k = 1; k < t->n_stages; k++)
        snprintf(t->stages[k], sizeof *t->stages, "part %d", (int)k);
    for (step_id id = tree->n_nodes; id-- > 0;)
        if (tree->nodes[id].stage > 0 && tree->nodes[id].kind >= STEP_SUM && tree->nodes[id].name[0])
            step_set_name(t->stages[tree->nodes[id].stage], tree->nodes[id].name);
    return 0;
}

int timeline_build(struct timeline *out, const struct step_tree *t, const struct sim_way *way, struct err *e)
{
    static const enum sim_order guarded[] = { SIM_ORDER_FIXED, SIM_ORDER_THEMIS, SIM_ORDER_MINMAX };
    struct making m = { .out = out, .tree = t, .way = way };
    const struct sim_rules *rules = way->rules;
    *out = (struct timeline){ 0 };
    int rc = name_stages(out, t, e);
    bool compares = way->model == SIM_CHUNK && rules->order == SIM_ORDER_GUARD && !sim_is_astra(rules);
    for (int i = 0; i < 3 && compares && !rc; i++)
        rc = add_run(&m, guarded[i], false, e);
    if (!rc)
        rc = add_run(&m, rules->order, true, e);
    if (!rc)
        rc = number_lanes(out, t->n_dims, e);
    if (rc)
        timeline_free(out);
    return rc;
}

void timeline_free(struct timeline *t)
{
    free(t->bars);
    free(t->stages);
    *t = (struct timeline){ 0 };
}
