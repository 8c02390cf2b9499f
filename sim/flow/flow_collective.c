/*
 * Collectives as flows on a network's links. A group is a box of addresses, cut into lines
 * that differ in one dimension; a stage of a chunk is the messages of message_plan_build() on each line, one
 * flow a message. A line works on so many chunks at a time; what waits before it is ordered by priority, then
 * by arrival. A message leaves when those that it depends on have arrived, plus overhead and latency of the
 * protocol that was chosen.
 */
#include "sim/flow/flow_collective.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/num.h"
#include "base/work.h"
#include "sim/flow/flow_classes.h"

/** A plan and what it is for, so that it is made once. */
struct flow_made_plan {
    enum pass pass;
    enum topo_algorithm algorithm;
    int32_t segments, group, set;
    struct message_plan plan;
    int32_t *routes; /**< shape [lines of the dimension][channels], where in flow_sim.kept, -1 = not there;
                        owned; NULL: not kept */
};

/** Most routers by which a message goes round at once, where its routing has it do that. */
enum { FLOW_MAX_DRAWN = 64 };

/** Classes of flows are worth it where each has so many flows, and up to so many; few need no rounds. */
enum { FLOWS_A_CLASS = 4, MAX_CLASSES = 1 << 20, FEW_CLASSES = 512 };

/** Routes that were searched for are kept in as many numbers: 512 MB. */
enum { FLOW_MAX_KEPT = 1 << 27 };

/** What waits at a line: chunk of a collective in a stage; next one behind it, -1 = none. */
struct flow_waiting {
    int32_t job, chunk, stage, next;
};

/** A line of a group: how many chunks it works on, and the queue before it. */
struct flow_server {
    int32_t n_running, head, tail;
};

struct flow_member_group {
    struct flow_group group;
    struct flow_server *servers[FLOW_LINE_SETS]; /**< shape [lines of the set], owned */
};

/** A collective. */
struct flow_job {
    int32_t group, priority;
    enum collective_kind kind;
    double bytes, begin_s, finish_s;
    struct stage *stages; /**< shape [n_stages], owned; NULL once it is done */
    int32_t *plans;       /**< shape [n_stages], owned */
    int64_t *offset;  /**< shape [n_stages + 1], where a stage begins in a chunk's part of arrived; owned */
    int32_t *arrived; /**< shape [chunks][lines of all stages]: members that are ready, owned */
    int32_t n_stages;
    int64_t left; /**< lines that chunks have to pass yet */
};

/** A line at work on a chunk. */
struct flow_run {
    int32_t job, chunk, stage, line;
    int32_t n_left;  /**< channels that have not sent everything */
    uint32_t *state; /**< shape [cap_state], of each channel twice the messages arrived, plus 1 while one is
                        on its way; then of each the flows that its message is under way in, where it can be
                        several */
    int32_t cap_state;
};

struct flow_sim {
    struct topo_routes *routes;
    struct flow_rules rules;
    struct flow_net *net;
    struct flow_classes *classes; /**< of the flows of the only collective, whose links are those of `net`,
                                     and all lines of a stage are one; NULL: flows one by one */
    struct flow_member_group *groups;
    struct flow_job *jobs;
    struct flow_run *runs;
    struct flow_made_plan *plans;
    struct flow_waiting *waiting;
    int32_t n_groups, cap_groups, n_jobs, cap_jobs, n_runs, cap_runs, n_plans, cap_plans, n_waiting,
        cap_waiting;
    int32_t *free_runs; /**< shape [cap_free_runs] */
    int32_t n_free_runs, cap_free_runs, free_waiting;
    int32_t *ended; /**< shape [cap_ended] */
    int32_t n_ended, cap_ended;
    struct topo_path path;
    int32_t *kept;                       /**< shape [cap_kept], routes: number of arcs, then these */
    int32_t n_kept, cap_kept, room_kept; /**< room: what flow_made_plan.routes leave of FLOW_MAX_KEPT */
    double *late_s;                      /**< shape [NPUs of the network], owned; NULL = nobody is late */
};

/** Make room for one more item, or leave with ERR_NOMEM. */
#define FLOW_GROW(array, n, cap, what)                                                                       \
    do {                                                                                                     \
        if (!vec_reserve(array, cap, (n) + 1))                                                               \
            return err_nomem(e, what);                                                                       \
    } while (0)

/* A group is a box of addresses: in each dimension `members` of them, `stride` apart. Groups that tile the
 * network need members times stride to divide the size; a single one needs to fit. */
static int check_box(const struct flow_group *g, bool single, struct err *e)
{
    bool seen[TOPO_MAX_DIMS] = { false };
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        const struct topo_dim *dim = &g->net.dims[d];
        int64_t m = g->members[d], st = g->stride[d], o = g->order[d];
        if (m < 1 || st < 1)
            return err_set(e, ERR_RANGE,
                           "group: %lld members of dimension %s with stride %lld, expected 1 or more",
                           (long long)m, dim->name, (long long)st);
        if (!single && m > 1 && (m * st > dim->size || dim->size % (m * st) != 0))
            return err_set(
                e, ERR_RANGE,
                "group: %lld members of dimension %s with stride %lld, expected a product that divides %d",
                (long long)m, dim->name, (long long)st, dim->size);
        if (single && (m - 1) * st >= dim->size)
            return err_set(
                e, ERR_RANGE,
                "group: %lld members of dimension %s with stride %lld, expected addresses below %d",
                (long long)m, dim->name, (long long)st, dim->size);
        if (!(o >= 0 && o < g->net.n_dims) || seen[o])
            return err_set(e, ERR_RANGE, "group: order of dimensions has %lld, expected each of 0 to %d once",
                           (long long)o, g->net.n_dims - 1);
        seen[o] = true;
    }
    return 0;
}

static int32_t address(const struct topo_routes *routes, int32_t d, int64_t npu)
{
    return (int32_t)(npu / routes->stride[d] % routes->net.dims[d].size);
}

int32_t flow_group_position(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                            int64_t npu)
{
    return address(routes, d, npu) / g->stride[d] % g->members[d];
}

/* Is it in the group that begins at NPU 0? */
static bool takes_part(const struct flow_group *g, const struct topo_routes *routes, int64_t npu)
{
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        int32_t at = address(routes, d, npu);
        if (at % g->stride[d] != 0 || at / g->stride[d] >= g->members[d])
            return false;
    }
    return true;
}

/* Place of @p npu in its line over dimensions d .. end-1, innermost first. */
static int32_t place_in_line(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                             int32_t end, int64_t npu)
{
    int32_t place = 0;
    while (end-- > d)
        place = place * g->members[end] + flow_group_position(g, routes, end, npu);
    return place;
}

/* From member 0 of such a line to member @p place. */
static int64_t offset_in_line(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                              int32_t end, int32_t place)
{
    int64_t offset = 0;
    for (; d < end; d++) {
        offset += place % g->members[d] * routes->stride[d] * g->stride[d];
        place /= g->members[d];
    }
    return offset;
}

/* Lines are numbered as their first members are, which come before the others. */
static int cut_lines(struct flow_group *g, int32_t set, int32_t d, int32_t end, bool single,
                     const struct topo_routes *routes, struct err *e)
{
    struct flow_lines *l = &g->lines[set];
    int64_t n_npus = routes->n_npus;
    l->n_members = 1;
    for (int32_t k = d; k < end; k++)
        l->n_members *= g->members[k];
    if (l->n_members == 1)
        return 0;
    l->line_of = malloc((size_t)n_npus * sizeof *l->line_of);
    l->first = malloc(((size_t)n_npus / (size_t)l->n_members + 1) * sizeof *l->first);
    l->offset = malloc((size_t)l->n_members * sizeof *l->offset);
    if (!l->line_of || !l->first || !l->offset)
        return err_nomem(e, "group");
    for (int32_t i = 0; i < l->n_members; i++)
        l->offset[i] = offset_in_line(g, routes, d, end, i);
    for (int64_t npu = 0; npu < n_npus; npu++) {
        l->line_of[npu] = -1;
        if (single && !takes_part(g, routes, npu))
            continue;
        int32_t position = place_in_line(g, routes, d, end, npu);
        if (position > 0) {
            l->line_of[npu] = l->line_of[npu - l->offset[position]];
        } else {
            l->first[l->n_lines] = npu;
            l->line_of[npu] = l->n_lines++;
        }
    }
    return 0;
}

/* The box with its defaults: one member, stride 1, dimensions in their order. */
static void take_box(struct flow_group *g, const struct flow_group_spec *spec, const struct topo_network *net)
{
    g->net = *net;
    for (int32_t d = 0; d < net->n_dims; d++) {
        g->members[d] = spec->members[d] ? spec->members[d] : 1;
        g->stride[d] = spec->stride[d] ? spec->stride[d] : 1;
        g->share[d] = spec->share[d];
        g->order[d] = spec->order ? spec->order[d] : d;
    }
}

/* Checks the box, and cuts each dimension into lines of members that exchange with each other. */
static int build_box(struct flow_group *g, const struct flow_group_spec *spec,
                     const struct topo_routes *routes, struct err *e)
{
    if (routes->net.n_dims == 0)
        return err_set(e, ERR_UNSUP, "group: is given by dimensions, which a custom graph has not");
    take_box(g, spec, &routes->net);
    g->n_groups = spec->single ? 1 : routes->n_npus;
    int rc = check_box(g, spec->single, e);
    for (int32_t d = 0; d < g->net.n_dims && !rc; d++) {
        g->n_groups /= spec->single ? 1 : g->members[d];
        rc = cut_lines(g, d, d, d + 1, spec->single, routes, e);
        if (!rc && topo_is_fabric(&g->net.dims[d]))
            rc =
                cut_lines(g, TOPO_MAX_DIMS + d, d, topo_after_entry(g->net.dims, d), spec->single, routes, e);
    }
    int32_t shared = topo_shared_spine(&g->net);
    if (!rc && shared >= 0)
        rc = cut_lines(g, FLOW_LINES_OVER_RAILS, 0, topo_after_entry(g->net.dims, shared), spec->single,
                       routes, e);
    return rc;
}

int flow_group_build(struct flow_group *g, const struct flow_group_spec *spec,
                     const struct topo_routes *routes, struct err *e)
{
    *g = (struct flow_group){ 0 };
    int rc = build_box(g, spec, routes, e);
    if (rc)
        flow_group_free(g);
    return rc;
}

void flow_group_free(struct flow_group *g)
{
    for (int32_t set = 0; set < FLOW_LINE_SETS; set++) {
        free(g->lines[set].first);
        free(g->lines[set].line_of);
        free(g->lines[set].offset);
    }
    *g = (struct flow_group){ 0 };
}

int64_t flow_group_npu(const struct flow_group *g, int32_t set, int32_t line, int32_t i)
{
    return g->lines[set].first[line] + g->lines[set].offset[i];
}

int64_t flow_group_outside(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                           int32_t line, int32_t i)
{
    int64_t first = g->lines[d].first[line];
    int32_t at = address(routes, d, first), to = 0;
    for (;; to++) {
        int32_t ahead = to - at;
        bool inside = ahead >= 0 && ahead % g->stride[d] == 0 && ahead / g->stride[d] < g->members[d];
        if (!inside && i-- == 0)
            return first + ahead * routes->stride[d];
    }
}

/* The lines that a stage is carried out on. */
int32_t flow_line_set(const struct stage *s)
{
    if (s->node > 1)
        return FLOW_LINES_OVER_RAILS;
    return s->flat ? TOPO_MAX_DIMS + s->dim : s->dim;
}

/* Members of a line: of its dimension, of all levels of its fabric, or of all dimensions that rails join. */
static int32_t stage_members(const struct topo_network *net, const int32_t *members, const struct stage *s)
{
    int32_t n = 1, end = s->flat ? topo_after_entry(net->dims, s->dim) : s->dim + 1;
    for (int32_t d = s->node > 1 ? 0 : s->dim; d < end; d++)
        n *= members[d] > 1 ? members[d] : 1;
    return n;
}

struct shape_group flow_stage_group(const struct flow_group *g, const struct stage *s)
{
    struct shape_group who = { .level = g->net.dims[s->dim].level, .flat = s->flat };
    who.detour = g->net.dims[s->dim].detour;
    who.n = stage_members(&g->net, g->members, s);
    for (int32_t k = 0; k < g->net.dims[s->entry].n_levels; k++) {
        who.members[k] = g->members[s->entry + k];
        who.stride[k] = g->stride[s->entry + k];
    }
    return who;
}

/* ---- messages ---- */

static const struct stage *stage_of(const struct flow_sim *sim, const struct flow_run *r)
{
    return &sim->jobs[r->job].stages[r->stage];
}

static struct flow_made_plan *made_plan_of(const struct flow_sim *sim, const struct flow_run *r)
{
    return &sim->plans[sim->jobs[r->job].plans[r->stage]];
}

static const struct message_plan *plan_of(const struct flow_sim *sim, const struct flow_run *r)
{
    return &made_plan_of(sim, r)->plan;
}

/* How routes of a stage are found: hashed where the network hashes flows, unless something else is asked
 * for. What changes rails in a spine goes by it, though a way through the node may be shorter. */
static enum topo_route_kind stage_route(const struct flow_rules *rules, const struct topo_network *net,
                                        const struct stage *s)
{
    bool hash = net->dims[s->entry].fabric.balance == TOPO_HASH && s->node < 2;
    return rules->route == TOPO_ROUTE_DIMENSION && hash ? TOPO_ROUTE_ECMP : rules->route;
}

static uint64_t flow_number(const struct topo_trip *trip)
{
    return ((uint64_t)trip->src << 32) ^ ((uint64_t)trip->dst << 1) ^ (uint64_t)trip->other;
}

/** A message: of which stage, on which line, by which channel. */
struct flow_post {
    const struct flow_group *group;
    const struct stage *stage;
    int32_t line;
    const struct message_channel *channel;
    int32_t *kept; /**< where its route is kept, see flow_made_plan.routes; NULL: nowhere */
};

/** Takes a message, or a part of one, as a flow; its arcs are borrowed. */
struct flow_taker {
    int (*take)(void *x, const struct flow_spec *flow, struct err *e);
    void *x;
};

/* From end to end. */
static struct topo_trip post_trip(const struct flow_sim *sim, const struct flow_post *p)
{
    int32_t d = flow_line_set(p->stage);
    return (struct topo_trip){ .kind = stage_route(&sim->rules, &p->group->net, p->stage),
                               .other = message_way(p->channel),
                               .src = flow_group_npu(p->group, d, p->line, p->channel->src),
                               .dst = flow_group_npu(p->group, d, p->line, p->channel->dst) };
}

/* Arcs of a message, into sim->path. */
static int find_route(struct flow_sim *sim, const struct flow_post *p, struct err *e)
{
    const struct flow_group *g = p->group;
    const struct message_channel *c = p->channel;
    int32_t d = flow_line_set(p->stage);
    sim->path.n = 0;
    if (c->src != MESSAGE_SWITCH && c->dst != MESSAGE_SWITCH) {
        struct topo_trip trip = post_trip(sim, p);
        /* A connection keeps its way: all messages between two NPUs are one flow to ECMP, unless sent both
         * ways. */
        trip.flow = flow_number(&trip);
        if (c->via < 0)
            return topo_find_path(&sim->path, sim->routes, &trip, e);
        struct topo_trip on = trip;
        trip.dst = on.src = flow_group_outside(g, sim->routes, d, p->line, c->via);
        int rc = topo_find_path(&sim->path, sim->routes, &trip, e);
        return rc ? rc : topo_find_path(&sim->path, sim->routes, &on, e);
    }
    bool down = c->tier ? c->down : c->src == MESSAGE_SWITCH;
    int32_t member = c->tier ? c->below : down ? c->dst : c->src;
    int32_t arc =
        topo_switch_arc(sim->routes, p->stage->entry, flow_group_npu(g, d, p->line, member), c->tier, c->way);
    if (!vec_reserve(sim->path.arcs, sim->path.cap, 0 + 1))
        return err_nomem(e, "a route");
    sim->path.arcs[sim->path.n++] = down ? arc ^ 1 : arc;
    return 0;
}

/* Arcs of a message into @p spec, for as long as no other route is asked for: those kept, or found now. */
static int set_route(struct flow_spec *spec, struct flow_sim *sim, const struct flow_post *p, struct err *e)
{
    int32_t *at = p->kept;
    if (at && *at >= 0) {
        spec->n_arcs = sim->kept[*at];
        spec->arcs = &sim->kept[*at + 1];
        return 0;
    }
    int rc = find_route(sim, p, e);
    if (rc)
        return rc;
    spec->n_arcs = sim->path.n;
    spec->arcs = sim->path.arcs;
    if (!at || sim->path.n >= sim->room_kept - sim->n_kept)
        return 0;
    int32_t begin = sim->n_kept;
    for (int32_t i = -1; i < spec->n_arcs; i++) {
        FLOW_GROW(sim->kept, sim->n_kept, sim->cap_kept, "routes");
        sim->kept[sim->n_kept++] = i < 0 ? spec->n_arcs : spec->arcs[i];
    }
    *at = begin;
    return 0;
}

/* What delays a message besides its links. */
static double extra_latency(const struct flow_sim *sim, const struct stage *s, const struct topo_dim *dim,
                            const struct message_channel *c, const struct flow_spec *spec)
{
    const struct stage_rules *rules = &sim->rules.stage;
    double extra_s = rules->endpoint_s + 3 * c->reduced * s->full_B / rules->mem_Bps;
    if (c->late)
        extra_s += c->late * sim->routes->lat_s[spec->arcs[0]];
    /* Another protocol has another latency per link, often a lower one, and chunks share what was measured of
     * a whole collective. Wires of a graph's own keep theirs. */
    int32_t regime = s->choice.regime, links = spec->n_arcs + c->late;
    bool measured = topo_dim_is_measured(dim, regime);
    double lat_s = topo_dim_chunk_s(dim, regime, sim->routes->described ? rules->chunks : 1);
    if (regime > 0 || measured)
        extra_s += links * topo_dim_link_s(dim, lat_s - dim->lat_s);
    /* Up to the switch and down again is one message; where it was measured, two hops took the time. */
    if (measured && s->pass == PASS_ALL_REDUCE && s->choice.algorithm == TOPO_ALGORITHM_SWITCH)
        extra_s += links * topo_dim_link_s(dim, lat_s);
    return extra_s;
}

/* How late the end @p member of a message is. A switch is as late as the last of those that send up to it. */
static double end_late_s(const struct flow_sim *sim, const struct flow_run *r, int32_t member)
{
    const struct flow_job *job = &sim->jobs[r->job];
    const struct flow_group *g = &sim->groups[job->group].group;
    const struct message_plan *plan = plan_of(sim, r);
    double late_s = 0;
    if (member != MESSAGE_SWITCH)
        return sim->late_s[flow_group_npu(g, flow_line_set(&job->stages[r->stage]), r->line, member)];
    for (int32_t c = 0; c < plan->n_channels; c++)
        if (plan->channels[c].dst == MESSAGE_SWITCH && plan->channels[c].src != MESSAGE_SWITCH)
            late_s = fmax(late_s, end_late_s(sim, r, plan->channels[c].src));
    return late_s;
}

/* When a message may begin: now, or when its sender is there and its receiver has asked for it. */
static double start_of(const struct flow_sim *sim, const struct flow_run *r, const struct message_channel *c)
{
    double now_s = flow_now_s(sim->net);
    if (!sim->late_s)
        return now_s;
    double late_s = end_late_s(sim, r, c->src);
    if (c->dst != MESSAGE_SWITCH)
        late_s = fmax(late_s, end_late_s(sim, r, c->dst));
    return fmax(now_s, sim->jobs[r->job].begin_s + late_s);
}

/* Messages between routers that this stage sends by drawn ones too: by how many, 0: none. Routes that are
 * searched for take fewest links, whatever the routing is. */
static int32_t drawn_ways(const struct flow_rules *rules, const struct topo_network *net,
                          const struct stage *s)
{
    if (!(s->valiant > 0) || rules->route == TOPO_ROUTE_SHORTEST || rules->route == TOPO_ROUTE_ECMP)
        return 0;
    int64_t members, routers = topo_routers(&net->dims[s->entry], &members);
    return (int32_t)(routers < FLOW_MAX_DRAWN ? routers : FLOW_MAX_DRAWN);
}

/* Ways up a tree over which a switch sprays a message that goes alone, at most; 0: it is not sprayed. Others
 * fill all links as it is, by those of their receivers. */
static int32_t sprayed_ways(const struct flow_rules *rules, const struct topo_network *net,
                            const struct stage *s)
{
    const struct topo_dim *entry = &net->dims[s->entry];
    enum topo_route_kind route = stage_route(rules, net, s);
    bool ordered = route == TOPO_ROUTE_DIMENSION || route == TOPO_ROUTE_DETOUR;
    int64_t ways = ordered && s->pass == PASS_SEND && topo_ops(entry)->ways
                       ? topo_ops(entry)->ways(entry, INT32_MAX)
                       : 1;
    return ways == 1 ? 0 : (int32_t)(ways < FLOW_MAX_DRAWN ? ways : FLOW_MAX_DRAWN);
}

/* Flows of their own that messages of this stage are: 0 where they are one. */
static int32_t message_parts(const struct flow_rules *rules, const struct topo_network *net,
                             const struct stage *s)
{
    int32_t drawn = drawn_ways(rules, net, s), hashed = topo_flows_per_pair(&net->dims[s->entry]);
    if (drawn > 0)
        return drawn + 1;
    if (sprayed_ways(rules, net, s) > 0)
        return sprayed_ways(rules, net, s);
    return hashed > 1 && s->choice.algorithm != TOPO_ALGORITHM_SWITCH &&
                   stage_route(rules, net, s) == TOPO_ROUTE_ECMP
               ? hashed
               : 0;
}

/* The way of part @p k of @p n of such a message, and its share of the bytes: hashed on its own; or part 0
 * straight and the others by drawn routers, unless it stays in a router. */
static int find_part(struct flow_sim *sim, const struct stage *s, const struct topo_network *net,
                     struct topo_trip trip, int32_t k, int32_t n, double *share, struct err *e)
{
    const struct topo_dim *entry = &net->dims[s->entry];
    int64_t members, size = topo_group_size(entry), stride = sim->routes->stride[s->entry];
    sim->path.n = 0;
    if (!(s->valiant > 0)) {
        *share = 1.0 / n;
        trip.flow = flow_number(&trip) ^ ((uint64_t)k << 52);
        return topo_find_path(&sim->path, sim->routes, &trip, e);
    }
    topo_routers(entry, &members);
    bool stays = trip.src / stride % size / members == trip.dst / stride % size / members;
    double drawn = stays ? 0 : s->valiant;
    *share = k ? drawn / (n - 1) : 1 - drawn;
    if (!(*share > 0))
        return 0;
    return k ? topo_find_drawn_path(&sim->path, sim->routes, &trip, s->entry, k - 1, n - 1, e)
             : topo_find_path(&sim->path, sim->routes, &trip, e);
}

/* As many parts as there are ways for this message, of at most @p n. All its links are of the entry, since
 * what a member sends to the next one crosses no other dimension. */
static int spray(int32_t *n, int64_t *ways, struct flow_sim *sim, const struct topo_dim *entry,
                 const struct topo_trip *trip, struct err *e)
{
    sim->path.n = 0;
    int rc = topo_find_path(&sim->path, sim->routes, trip, e);
    *ways = topo_ops(entry)->ways(entry, sim->path.n);
    *n = *ways < *n ? (int32_t)*ways : *n;
    return rc;
}

/* A message in parts, all of which must arrive. */
static int post_parts(struct flow_sim *sim, const struct flow_post *p, const struct flow_spec *whole,
                      const struct flow_taker *to, struct err *e)
{
    const struct topo_network *net = &p->group->net;
    struct topo_trip trip = post_trip(sim, p);
    int32_t n = message_parts(&sim->rules, net, p->stage);
    int64_t ways = 0;
    int rc = sprayed_ways(&sim->rules, net, p->stage) > 0
                 ? spray(&n, &ways, sim, &net->dims[p->stage->entry], &trip, e)
                 : 0;
    for (int32_t k = 0; k < n && !rc; k++) {
        struct flow_spec part = *whole;
        double share = 0;
        trip.other = ways > 0 ? (int32_t)(k * ways / n) : message_way(p->channel);
        rc = find_part(sim, p->stage, net, trip, k, n, &share, e);
        if (rc || !(share > 0))
            continue;
        part.bytes *= share;
        part.n_arcs = sim->path.n;
        part.arcs = sim->path.arcs;
        part.extra_s = extra_latency(sim, p->stage, &net->dims[p->stage->dim], p->channel, &part);
        rc = to->take(to->x, &part, e);
    }
    return rc;
}

/* A message as flows. Efficiency stretches the bytes: the solver shares raw bandwidth, of which a protocol
 * uses a part. */
static int post_message(struct flow_sim *sim, const struct flow_post *p, struct flow_spec spec,
                        const struct flow_taker *to, struct err *e)
{
    const struct stage *s = p->stage;
    const struct message_channel *c = p->channel;
    const struct topo_dim *dim = &p->group->net.dims[s->dim];
    double efficiency = topo_dim_regime(dim, s->choice.regime).efficiency * s->gain;
    if (s->node > 1 && c->src / s->node == c->dst / s->node) /* stays in its node, whose links it takes */
        efficiency = dim[-s->dim].efficiency * collective_gain(&dim[-s->dim], COLLECTIVE_ALL_TO_ALL, NULL);
    spec.bytes = c->share * s->full_B / efficiency;
    spec.queue_s = c->turn * sim->rules.stage.endpoint_s;
    if (message_parts(&sim->rules, &p->group->net, s) > 0)
        return post_parts(sim, p, &spec, to, e);
    int rc = set_route(&spec, sim, p, e);
    if (rc)
        return rc;
    spec.extra_s = extra_latency(sim, s, dim, c, &spec);
    return to->take(to->x, &spec, e);
}

/** A message on its way out: what counts its parts, where it can have several. */
struct flow_sending {
    struct flow_net *net;
    uint32_t *parts;
};

static int send_flow(void *x, const struct flow_spec *flow, struct err *e)
{
    const struct flow_sending *s = x;
    if (s->parts)
        ++*s->parts;
    return flow_add(s->net, flow, e);
}

/* The tag leads back from the flow to its run and channel. */
static int flow_send_message(struct flow_sim *sim, int32_t run, int32_t channel, struct err *e)
{
    const struct flow_run *r = &sim->runs[run];
    const struct flow_made_plan *made = made_plan_of(sim, r);
    const struct message_plan *plan = &made->plan;
    int32_t *kept = made->routes ? &made->routes[(int64_t)r->line * plan->n_channels + channel] : NULL;
    const struct flow_post p = { &sim->groups[sim->jobs[r->job].group].group, stage_of(sim, r), r->line,
                                 &plan->channels[channel], kept };
    bool parts = message_parts(&sim->rules, &p.group->net, p.stage) > 0;
    struct flow_sending sending = { sim->net, parts ? &r->state[plan->n_channels + channel] : NULL };
    return post_message(
        sim, &p,
        (struct flow_spec){ .start_s = start_of(sim, r, p.channel), .tag = (int64_t)run << 32 | channel },
        &(struct flow_taker){ send_flow, &sending }, e);
}

/* Have enough messages of all channels arrived that @p c waits for, to send its k-th? */
static bool may_send(const struct message_plan *plan, const uint32_t *state, int32_t channel, int32_t k)
{
    const struct message_channel *c = &plan->channels[channel];
    for (int32_t i = c->first_input; i < c[1].first_input; i++) {
        int32_t input = plan->inputs[i], all = plan->channels[input].n;
        int32_t need = i - c->first_input < c->n_whole || k + c->lead > all ? all : k + c->lead;
        if ((int32_t)(state[input] / 2) < need)
            return false;
    }
    return true;
}

static int try_send(struct flow_sim *sim, int32_t run, int32_t channel, struct err *e)
{
    const struct flow_run *r = &sim->runs[run];
    const struct message_plan *plan = plan_of(sim, r);
    uint32_t state = r->state[channel];
    int32_t k = (int32_t)(state / 2);
    if (state % 2 || k == plan->channels[channel].n || !may_send(plan, r->state, channel, k))
        return 0;
    r->state[channel]++;
    return flow_send_message(sim, run, channel, e);
}

/* ---- lines ---- */

/* Runs (a line's pass of one chunk) are used again. Room in the free list is reserved when a run is made, so
 * that giving it back cannot fail. */
static int take_run(struct flow_sim *sim, const struct flow_waiting *w, int32_t n_channels, int32_t *run,
                    struct err *e)
{
    bool is_new = sim->n_free_runs == 0;
    if (is_new) {
        FLOW_GROW(sim->runs, sim->n_runs, sim->cap_runs, "messages");
        /* Room to give it back is made now, as that must not fail. */
        FLOW_GROW(sim->free_runs, sim->n_runs, sim->cap_free_runs, "messages");
        sim->runs[sim->n_runs] = (struct flow_run){ 0 };
        sim->free_runs[sim->n_free_runs++] = sim->n_runs++;
    }
    *run = sim->free_runs[sim->n_free_runs - 1];
    struct flow_run *r = &sim->runs[*run];
    if (n_channels > r->cap_state) {
        uint32_t *grown = realloc(r->state, (size_t)n_channels * sizeof *grown);
        if (!grown)
            return err_nomem(e, "messages");
        r->state = grown;
        r->cap_state = n_channels;
    }
    memset(r->state, 0, (size_t)n_channels * sizeof *r->state);
    r->job = w->job;
    r->chunk = w->chunk;
    r->stage = w->stage;
    r->line = r->n_left = 0;
    sim->n_free_runs--;
    return 0;
}

/* One chunk's pass of a stage on all lines, class by class. */
static int begin_classes(struct flow_sim *sim, const struct flow_waiting *w, struct err *e)
{
    int64_t n_flows;
    int32_t run = -1, stage, n = flow_classes_count(sim->classes, &n_flows);
    int rc = take_run(sim, w, 1, &run, e);
    if (rc)
        return rc;
    struct flow_run *r = &sim->runs[run];
    for (int32_t i = 0; i < n && !rc; i++) {
        struct flow_spec flow = flow_classes_flow(sim->classes, i, &stage);
        if (stage != w->stage)
            continue;
        flow.start_s = flow_now_s(sim->net);
        flow.tag = (int64_t)run << 32;
        r->n_left++;
        rc = flow_add(sim->net, &flow, e);
    }
    return rc;
}

/* Starts one chunk's pass on one line: every message that waits for no other is sent at once. */
static int begin_line(struct flow_sim *sim, const struct flow_waiting *w, int32_t line, struct err *e)
{
    if (sim->classes)
        return begin_classes(sim, w, e);
    int32_t run = -1;
    const struct message_plan *plan = &sim->plans[sim->jobs[w->job].plans[w->stage]].plan;
    int32_t n = plan->n_channels;
    const struct flow_job *job = &sim->jobs[w->job];
    bool parts = message_parts(&sim->rules, &sim->groups[job->group].group.net, &job->stages[w->stage]) > 0;
    int rc = take_run(sim, w, parts ? 2 * n : n, &run, e);
    if (rc)
        return rc;
    sim->runs[run].line = line;
    sim->runs[run].n_left = n;
    for (int32_t c = 0; c < n && !rc; c++)
        rc = try_send(sim, run, c, e);
    return rc;
}

static int32_t priority_of(const struct flow_sim *sim, int32_t at)
{
    return sim->jobs[sim->waiting[at].job].priority;
}

/* Behind all of its priority or a higher one, which is nearly always the end. */
static void queue_up(struct flow_sim *sim, struct flow_server *s, int32_t at)
{
    int32_t before = s->tail;
    if (before >= 0 && priority_of(sim, before) < priority_of(sim, at)) {
        before = -1;
        for (int32_t i = s->head; priority_of(sim, i) >= priority_of(sim, at); i = sim->waiting[i].next)
            before = i;
    }
    int32_t *from = before >= 0 ? &sim->waiting[before].next : &s->head;
    sim->waiting[at].next = *from;
    *from = at;
    if (before == s->tail)
        s->tail = at;
}

/* A chunk may enter a stage at a line: now, or behind those that wait there. Errors as flow_sim_advance().
 */
static int flow_enter_line(struct flow_sim *sim, struct flow_waiting w, int32_t line, struct err *e)
{
    const struct flow_job *job = &sim->jobs[w.job];
    struct flow_server *s = &sim->groups[job->group].servers[flow_line_set(&job->stages[w.stage])][line];
    if (s->n_running < sim->rules.active) {
        s->n_running++;
        return begin_line(sim, &w, line, e);
    }
    int32_t at = sim->free_waiting;
    if (at >= 0) {
        sim->free_waiting = sim->waiting[at].next;
    } else {
        FLOW_GROW(sim->waiting, sim->n_waiting, sim->cap_waiting, "chunks");
        at = sim->n_waiting++;
    }
    sim->waiting[at] = w;
    queue_up(sim, s, at);
    return 0;
}

/* The line is free for the first chunk that waits. */
static int serve_next(struct flow_sim *sim, int32_t group, int32_t d, int32_t line, struct err *e)
{
    struct flow_server *s = &sim->groups[group].servers[d][line];
    int32_t at = s->head;
    if (at < 0) {
        s->n_running--;
        return 0;
    }
    struct flow_waiting w = sim->waiting[at];
    s->head = w.next;
    if (w.next < 0)
        s->tail = -1;
    sim->waiting[at].next = sim->free_waiting;
    sim->free_waiting = at;
    return begin_line(sim, &w, line, e);
}

/* The members of a line are ready for the next stage. A broadcast goes on from each of them to a whole line.
 */
static int flow_pass_on(struct flow_sim *sim, const struct flow_run *r, struct err *e)
{
    const struct flow_job *job = &sim->jobs[r->job];
    const struct flow_group *g = &sim->groups[job->group].group;
    int32_t d = flow_line_set(&job->stages[r->stage]), stage = r->stage + 1;
    struct flow_waiting w = { r->job, r->chunk, stage, -1 };
    int32_t line = r->line;
    if (stage == job->n_stages)
        return 0;
    if (sim->classes)
        return flow_enter_line(sim, w, 0, e);
    int32_t to = flow_line_set(&job->stages[stage]);
    int32_t *arrived = &job->arrived[r->chunk * job->offset[job->n_stages] + job->offset[stage]];
    int32_t need = job->kind == COLLECTIVE_BROADCAST ? 1 : g->lines[to].n_members;
    int rc = 0;
    for (int32_t i = 0; i < g->lines[d].n_members && !rc; i++) {
        int32_t next = g->lines[to].line_of[flow_group_npu(g, d, line, i)];
        if (++arrived[next] == need)
            rc = flow_enter_line(sim, w, next, e);
    }
    return rc;
}

static int flow_end_job(struct flow_sim *sim, int32_t id, struct err *e);

/* The line is free for the next chunk that waits; then this chunk goes on to its next stage. r is a copy, as
 * serving others may move the array. */
static int end_line(struct flow_sim *sim, int32_t run, struct err *e)
{
    struct flow_run r = sim->runs[run]; /* others may move the array, or take this place */
    struct flow_job *job = &sim->jobs[r.job];
    sim->free_runs[sim->n_free_runs++] = run;
    int rc = serve_next(sim, job->group, flow_line_set(&job->stages[r.stage]), r.line, e);
    if (!rc)
        rc = flow_pass_on(sim, &r, e);
    if (!rc && --job->left == 0)
        rc = flow_end_job(sim, r.job, e);
    return rc;
}

/* A message of a line at work has arrived: send what waited for it, and go on with what is complete. */
static int flow_end_message(struct flow_sim *sim, int32_t run, int32_t channel, struct err *e)
{
    struct flow_run *r = &sim->runs[run];
    if (sim->classes)
        return --r->n_left == 0 ? end_line(sim, run, e) : 0;
    const struct message_plan *plan = plan_of(sim, r);
    const struct message_channel *c = &plan->channels[channel];
    const struct flow_group *g = &sim->groups[sim->jobs[r->job].group].group;
    int rc = 0;
    if (message_parts(&sim->rules, &g->net, stage_of(sim, r)) > 0 &&
        --r->state[plan->n_channels + channel] > 0)
        return 0;        /* other parts of it are under way */
    r->state[channel]++; /* from on its way to arrived */
    if ((int32_t)(r->state[channel] / 2) < c->n)
        rc = try_send(sim, run, channel, e);
    else
        r->n_left--;
    for (int32_t i = c->first_next; i < c[1].first_next && !rc; i++)
        rc = try_send(sim, run, plan->nexts[i], e);
    if (!rc && r->n_left == 0)
        rc = end_line(sim, run, e);
    return rc;
}

/* The routes are used, not copied: they must outlive the simulation. */
int flow_sim_build(struct flow_sim **out, struct topo_routes *routes, const struct flow_rules *rules,
                   struct err *e)
{
    *out = NULL;
    if (rules->stage.chunks < 1 || rules->active < 1)
        return err_set(e, ERR_RANGE, "flows: %d chunks, %d active at a time, expected 1 or more of both",
                       rules->stage.chunks, rules->active);
    struct flow_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return err_nomem(e, "simulation of flows");
    sim->routes = routes;
    sim->rules = *rules;
    sim->free_waiting = -1;
    sim->room_kept = FLOW_MAX_KEPT;
    int rc = flow_net_build(&sim->net, routes, e);
    if (rc) {
        flow_sim_free(sim);
        return rc;
    }
    *out = sim;
    return 0;
}

static void free_job(struct flow_job *job)
{
    free(job->stages);
    free(job->plans);
    free(job->offset);
    free(job->arrived);
    job->stages = NULL;
    job->plans = job->arrived = NULL;
    job->offset = NULL;
}

/* Groups, jobs, runs and plans own arrays; everything else is released by its one pointer. */
void flow_sim_free(struct flow_sim *sim)
{
    if (!sim)
        return;
    for (int32_t i = 0; i < sim->n_groups; i++) {
        flow_group_free(&sim->groups[i].group);
        for (int32_t set = 0; set < FLOW_LINE_SETS; set++)
            free(sim->groups[i].servers[set]);
    }
    for (int32_t i = 0; i < sim->n_jobs; i++)
        free_job(&sim->jobs[i]);
    for (int32_t i = 0; i < sim->n_runs; i++)
        free(sim->runs[i].state);
    for (int32_t i = 0; i < sim->n_plans; i++) {
        message_plan_free(&sim->plans[i].plan);
        free(sim->plans[i].routes);
    }
    free(sim->kept);
    free(sim->groups);
    free(sim->jobs);
    free(sim->runs);
    free(sim->plans);
    free(sim->waiting);
    free(sim->free_runs);
    free(sim->ended);
    free(sim->late_s);
    topo_path_free(&sim->path);
    flow_classes_free(sim->classes);
    flow_net_free(sim->net);
    free(sim);
}

/* Each line of a group is a server with a queue of chunks, per dimension. */
int flow_sim_group(struct flow_sim *sim, const struct flow_group_spec *spec, int32_t *group, struct err *e)
{
    FLOW_GROW(sim->groups, sim->n_groups, sim->cap_groups, "groups");
    struct flow_member_group *g = &sim->groups[sim->n_groups];
    *g = (struct flow_member_group){ 0 };
    int rc = flow_group_build(&g->group, spec, sim->routes, e);
    for (int32_t d = 0; d < FLOW_LINE_SETS && !rc; d++) {
        int32_t n = g->group.lines[d].n_lines;
        g->servers[d] = n ? malloc((size_t)n * sizeof **g->servers) : NULL;
        if (n && !g->servers[d])
            rc = err_nomem(e, "groups");
        for (int32_t i = 0; i < n && !rc; i++)
            g->servers[d][i] = (struct flow_server){ 0, -1, -1 };
    }
    /* Counted even then, so that what it holds is released. */
    *group = sim->n_groups++;
    return rc;
}

/* ---- collectives ---- */

/* A collective is over. */
static int flow_end_job(struct flow_sim *sim, int32_t id, struct err *e)
{
    FLOW_GROW(sim->ended, sim->n_ended, sim->cap_ended, "collectives");
    sim->ended[sim->n_ended++] = id;
    sim->jobs[id].finish_s = flow_now_s(sim->net);
    free_job(&sim->jobs[id]);
    return 0;
}

/* Routes in order of dimensions are as fast to find as to keep; others are kept while there is room. */
static int open_routes(struct flow_sim *sim, struct flow_made_plan *p, int64_t n_lines,
                       enum topo_route_kind route, struct err *e)
{
    int64_t n = n_lines * p->plan.n_channels;
    if (route == TOPO_ROUTE_DIMENSION || n > sim->room_kept - sim->n_kept)
        return 0;
    p->routes = malloc((size_t)(n + 1) * sizeof *p->routes);
    if (!p->routes)
        return err_nomem(e, "routes");
    for (int64_t i = 0; i < n; i++)
        p->routes[i] = -1;
    sim->room_kept -= (int32_t)n;
    return 0;
}

/* Messages of a pass depend on pass, algorithm, segments, group and dimension only; they are laid out once,
 * with their routes. */
static int flow_find_plan(struct flow_sim *sim, int32_t group, const struct stage *s, int32_t *out,
                          struct err *e)
{
    const struct flow_group *g = &sim->groups[group].group;
    for (*out = 0; *out < sim->n_plans; (*out)++) {
        const struct flow_made_plan *p = &sim->plans[*out];
        if (p->pass == s->pass && p->algorithm == s->choice.algorithm && p->segments == s->choice.segments &&
            p->group == group && p->set == flow_line_set(s))
            return 0;
    }
    FLOW_GROW(sim->plans, sim->n_plans, sim->cap_plans, "a collective's messages");
    struct flow_made_plan *p = &sim->plans[sim->n_plans];
    *p = (struct flow_made_plan){ s->pass, s->choice.algorithm, s->choice.segments,
                                  group,   flow_line_set(s),    { 0 },
                                  NULL };
    const struct flow_lines *l = &g->lines[flow_line_set(s)];
    struct shape_group who = flow_stage_group(g, s);
    int rc = message_plan_build(&p->plan, s->pass, &s->choice, &g->net.dims[s->entry], &who, e);
    if (rc)
        return rc;
    sim->n_plans++;
    return open_routes(sim, p, l->n_lines, stage_route(&sim->rules, &g->net, s), e);
}

/* Lines at which a stage is carried out: of a broadcast those that some earlier stage has reached. */
static int64_t count_lines(const struct flow_group *g, enum collective_kind kind, const struct stage *stages,
                           int32_t stage)
{
    int64_t n = g->n_groups;
    if (kind != COLLECTIVE_BROADCAST)
        return g->lines[flow_line_set(&stages[stage])].n_lines;
    for (int32_t s = 0; s < stage; s++)
        n *= g->lines[flow_line_set(&stages[s])].n_members;
    return n;
}

static int32_t list_stages(struct stage stages[STAGE_MAX], const struct flow_group *g,
                           const struct stage_rules *rules, enum collective_kind kind, double bytes)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct collective_way way = { &g->net, rules, topo_get_bandwidths(bw_Bps, &g->net) };
    return stage_list(stages, kind, bytes / rules->chunks, g->members, g->stride, g->share, g->order, &way);
}

/* Of groups that fill the network every NPU is in a line; of a broadcast, in those that were reached. */
double flow_messages(const struct topo_network *net, const struct flow_group_spec *spec,
                     const struct flow_rules *rules, enum collective_kind kind, double bytes)
{
    struct flow_group g = { 0 };
    struct stage stages[STAGE_MAX];
    double messages = 0, reached = (double)net->n_npus;
    assert(!spec->single);
    take_box(&g, spec, net);
    for (int32_t d = 0; d < net->n_dims; d++)
        reached /= g.members[d];
    int32_t n = list_stages(stages, &g, &rules->stage, kind, bytes);
    for (int32_t s = 0; s < n; s++) {
        struct shape_group who = flow_stage_group(&g, &stages[s]);
        double n_lines = kind == COLLECTIVE_BROADCAST ? reached : (double)net->n_npus / who.n;
        reached *= who.n;
        int32_t parts = message_parts(rules, net, &stages[s]);
        messages += rules->stage.chunks * n_lines * (parts ? parts : 1) *
                    message_plan_count(stages[s].pass, &stages[s].choice, &net->dims[stages[s].entry], &who);
    }
    return messages;
}

/* ---- flows that are alike ---- */

/** All flows of a collective, on their way to its classes. */
struct flow_survey {
    struct flow_sim *sim;
    struct flow_classes *classes;
    struct flow_post post; /**< of the stage and line at hand */
    struct work work;
    int32_t stage, n_seen;
};

static int survey_flow(void *x, const struct flow_spec *flow, struct err *e)
{
    struct flow_survey *s = x;
    return flow_classes_add(s->classes, s->stage, s->post.line, flow, e);
}

/* Enough flows for the clock to be looked at. */
enum { SURVEY_STEP = 4096 };

static int survey_message(void *x, const struct message_channel *c, struct err *e)
{
    struct flow_survey *s = x;
    const struct flow_taker to = { survey_flow, s };
    if (flow_classes_many(s->classes))
        return 0;
    s->post.channel = c;
    if (++s->n_seen == SURVEY_STEP) {
        s->n_seen = 0;
        work_step(&s->work, SURVEY_STEP);
        int rc = work_check(e);
        if (rc)
            return rc;
    }
    return post_message(s->sim, &s->post, (struct flow_spec){ 0 }, &to, e);
}

/* All flows of a chunk, once. */
static int survey_job(struct flow_survey *s, const struct flow_job *job, struct err *e)
{
    const struct flow_group *g = s->post.group;
    int rc = 0;
    flow_classes_begin(s->classes);
    for (s->stage = 0; s->stage < job->n_stages && !rc; s->stage++) {
        const struct stage *stage = s->post.stage = &job->stages[s->stage];
        struct shape_group who = flow_stage_group(g, stage);
        int32_t n_lines = g->lines[flow_line_set(stage)].n_lines;
        for (s->post.line = 0; s->post.line < n_lines && !rc; s->post.line++)
            rc = message_plan_each(stage->pass, &stage->choice, &g->net.dims[stage->entry], &who,
                                   survey_message, s, e);
    }
    return rc;
}

/* Do all messages of the job leave when their stage begins? */
static bool leaves_at_once(const struct flow_sim *sim, const struct flow_job *job)
{
    for (int32_t s = 0; s < job->n_stages; s++)
        if (!message_plan_is_free(job->stages[s].pass, &job->stages[s].choice))
            return false;
    return job->n_stages > 0 && !sim->late_s && sim->n_jobs == 0;
}

static double count_messages(const struct flow_sim *sim, const struct flow_job *job)
{
    const struct flow_group *g = &sim->groups[job->group].group;
    double n = 0;
    for (int32_t s = 0; s < job->n_stages; s++) {
        const struct stage *stage = &job->stages[s];
        struct shape_group who = flow_stage_group(g, stage);
        n += g->lines[flow_line_set(stage)].n_lines *
             message_plan_count(stage->pass, &stage->choice, &g->net.dims[stage->entry], &who);
    }
    return n;
}

/* Classes of the job's flows and a net of these, where they are few and lines are alike; else all is as
 * before. */
static int find_classes(struct flow_sim *sim, const struct flow_job *job, struct err *e)
{
    struct flow_survey s = { .sim = sim, .post = { .group = &sim->groups[job->group].group } };
    enum flow_classes_state state = FLOW_CLASSES_AGAIN;
    struct flow_net *net = NULL;
    if (!leaves_at_once(sim, job))
        return 0;
    double n = count_messages(sim, job);
    int rc =
        flow_classes_build(&s.classes, sim->routes, (int64_t)fmin(n / FLOWS_A_CLASS + 1, MAX_CLASSES), e);
    for (; !rc && state == FLOW_CLASSES_AGAIN;) {
        work_begin(&s.work, "routes", (int64_t)n);
        rc = survey_job(&s, job, e);
        work_end(&s.work);
        if (!rc)
            rc = flow_classes_end(&state, s.classes, e);
    }
    /* Where nothing comes after a line they need not end together. */
    bool alike = (job->n_stages == 1 && sim->rules.stage.chunks == 1) || flow_classes_same_lines(s.classes);
    if (!rc && state == FLOW_CLASSES_DONE && alike)
        rc = flow_classes_net(&net, s.classes, e);
    int64_t n_flows, n_classes = net ? flow_classes_count(s.classes, &n_flows) : INT64_MAX;
    if (net) {
        flow_net_free(sim->net);
        sim->net = net;
        sim->classes = s.classes;
    } else {
        flow_classes_free(s.classes);
    }
    if (n_classes > FEW_CLASSES)
        flow_set_round(sim->net, sim->rules.round / (job->n_stages * sim->rules.stage.chunks));
    return rc;
}

/* Stages of a collective with their plans, and one counter per chunk, stage and line of how much has arrived.
 * Reduction inside switches needs the network's own graph, where switches are known. */
static int fill_job(struct flow_sim *sim, struct flow_job *job, bool alone, struct err *e)
{
    const struct flow_group *g = &sim->groups[job->group].group;
    struct stage stages[STAGE_MAX];
    int64_t chunks = sim->rules.stage.chunks;
    job->n_stages = list_stages(stages, g, &sim->rules.stage, job->kind, job->bytes);
    size_t n = (size_t)job->n_stages;
    job->stages = calloc(n + 1, sizeof *job->stages);
    job->plans = calloc(n + 1, sizeof *job->plans);
    job->offset = calloc(n + 1, sizeof *job->offset);
    if (!job->stages || !job->plans || !job->offset)
        return err_nomem(e, "collectives");
    memcpy(job->stages, stages, n * sizeof *stages);
    int rc = alone ? find_classes(sim, job, e) : 0;
    if (sim->classes)
        job->left = chunks * job->n_stages;
    if (rc || sim->classes)
        return rc;
    for (int32_t s = 0; s < job->n_stages && !rc; s++) {
        if (stages[s].choice.algorithm == TOPO_ALGORITHM_SWITCH && !sim->routes->described)
            return err_set(e, ERR_UNSUP,
                           "collective: is reduced in the switches of %s, expected the network's own graph",
                           g->net.dims[stages[s].dim].name);
        job->offset[s + 1] = job->offset[s] + g->lines[flow_line_set(&stages[s])].n_lines;
        job->left += chunks * count_lines(g, job->kind, stages, s);
        rc = flow_find_plan(sim, job->group, &stages[s], &job->plans[s], e);
    }
    if (rc)
        return rc;
    job->arrived = calloc((size_t)(chunks * job->offset[n]) + 1, sizeof *job->arrived);
    return job->arrived ? 0 : err_nomem(e, "chunks of a collective");
}

/* Issued in the future by a flow of no bytes over no arc: the clock that starts the job stands in the same
 * heap as all other events, so their order is well defined. */
static int issue_job(struct flow_sim *sim, const struct flow_job *asked, double start_s, bool alone,
                     int32_t *id, struct err *e)
{
    double bytes = asked->bytes;
    *id = -1;
    assert(asked->group >= 0 && asked->group < sim->n_groups && !sim->classes);
    if (!(bytes >= 0 && isfinite(bytes)))
        return err_set(e, ERR_RANGE, "collective: has %g bytes, expected 0 or more", bytes);
    FLOW_GROW(sim->jobs, sim->n_jobs, sim->cap_jobs, "collectives");
    struct flow_job *job = &sim->jobs[sim->n_jobs];
    *job = *asked;
    job->finish_s = NAN;
    /* A flow of nothing over no link ends at its start: the clock that begins the collective. */
    struct flow_spec clock = { .start_s = start_s, .tag = -1 - (int64_t)sim->n_jobs };
    int rc = fill_job(sim, job, alone, e);
    if (!rc)
        rc = flow_add(sim->net, &clock, e);
    if (rc) {
        free_job(job);
        return rc;
    }
    *id = sim->n_jobs++;
    return 0;
}

int flow_sim_issue(struct flow_sim *sim, int32_t group, enum collective_kind kind, double bytes,
                   double start_s, int32_t priority, int32_t *id, struct err *e)
{
    const struct flow_job job = { .group = group, .priority = priority, .kind = kind, .bytes = bytes };
    return issue_job(sim, &job, start_s, false, id, e);
}

int flow_sim_issue_alone(struct flow_sim *sim, int32_t group, enum collective_kind kind, double bytes,
                         int32_t *id, struct err *e)
{
    const struct flow_job job = { .group = group, .kind = kind, .bytes = bytes };
    return issue_job(sim, &job, 0, true, id, e);
}

int64_t flow_sim_class_flows(const struct flow_sim *sim)
{
    int64_t n_flows;
    return sim->classes ? (int64_t)flow_classes_count(sim->classes, &n_flows) * sim->rules.stage.chunks : 0;
}

/* The NPU joins every collective that much later; to be set before collectives are issued. */
int flow_sim_set_late(struct flow_sim *sim, int64_t npu, double late_s, struct err *e)
{
    if (!(npu >= 0 && npu < sim->routes->n_npus && late_s >= 0 && isfinite(late_s)))
        return err_set(e, ERR_RANGE, "late NPU: is %lld by %g s, expected 0 to %d, by 0 s or more",
                       (long long)npu, late_s, sim->routes->n_npus - 1);
    if (!sim->late_s)
        sim->late_s = calloc((size_t)sim->routes->n_npus, sizeof *sim->late_s);
    if (!sim->late_s)
        return err_nomem(e, "late NPUs");
    sim->late_s[npu] = late_s;
    return 0;
}

/* Does a broadcast begin at the line? It holds the first member of its group. */
static bool is_first(const struct flow_sim *sim, const struct flow_group *g, int32_t d, int32_t line)
{
    for (int32_t k = 0; k < g->net.n_dims; k++)
        if (flow_group_position(g, sim->routes, k, g->lines[d].first[line]) != 0)
            return false;
    return true;
}

/* All chunks queue at the first stage on every line; of a broadcast only on lines that hold the source. */
static int flow_begin_job(struct flow_sim *sim, int32_t id, struct err *e)
{
    struct flow_job *job = &sim->jobs[id];
    const struct flow_group *g = &sim->groups[job->group].group;
    job->begin_s = flow_now_s(sim->net);
    if (job->n_stages == 0)
        return flow_end_job(sim, id, e);
    int32_t d = flow_line_set(&job->stages[0]), n_lines = sim->classes ? 1 : g->lines[d].n_lines;
    int rc = 0;
    for (int32_t chunk = 0; chunk < sim->rules.stage.chunks; chunk++)
        for (int32_t line = 0; line < n_lines && !rc; line++)
            if (job->kind != COLLECTIVE_BROADCAST || is_first(sim, g, d, line))
                rc = flow_enter_line(sim, (struct flow_waiting){ id, chunk, 0, -1 }, line, e);
    return rc;
}

/* ---- time ---- */

double flow_sim_next_s(struct flow_sim *sim)
{
    return flow_next_s(sim->net);
}

/* One instant: clocks start jobs, ended flows complete messages. ended() lists the jobs that it completed. */
int flow_sim_advance(struct flow_sim *sim, struct err *e)
{
    int rc = 0;
    sim->n_ended = 0;
    flow_advance(sim->net);
    for (int32_t i = 0; i < flow_n_ended(sim->net) && !rc; i++) {
        int64_t tag = flow_ended(sim->net, i);
        if (tag < 0)
            rc = flow_begin_job(sim, (int32_t)(-1 - tag), e);
        else
            rc = flow_end_message(sim, (int32_t)(tag >> 32), (int32_t)(tag & INT32_MAX), e);
    }
    return rc ? rc : work_check(e);
}

const int32_t *flow_sim_ended(const struct flow_sim *sim, int32_t *n)
{
    *n = sim->n_ended;
    return sim->ended;
}

int flow_sim_run(struct flow_sim *sim, struct err *e)
{
    int rc = 0;
    while (!rc && flow_sim_next_s(sim) < INFINITY)
        rc = flow_sim_advance(sim, e);
    return rc;
}

double flow_sim_finish_s(const struct flow_sim *sim, int32_t id)
{
    assert(id >= 0 && id < sim->n_jobs);
    return sim->jobs[id].finish_s;
}

const struct flow_net *flow_sim_net(const struct flow_sim *sim)
{
    return sim->net;
}

struct flow_use flow_sim_arc_use(const struct flow_sim *sim, int32_t arc)
{
    return flow_arc_use(sim->net, sim->classes ? flow_classes_link(sim->classes, arc) : arc);
}
