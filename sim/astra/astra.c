/*
 * A collective as ASTRA-sim runs it, for comparison with that program: whole nanoseconds, its algorithms, its
 * order. A collective is phases, one dimension each; a phase is rounds of messages. One backend knows no
 * congestion: chunks pass a queue for each dimension, and a phase takes what its rounds add up to. The other
 * sends each message over the links.
 */
#include "sim/astra/astra.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/vec.h"
#include "base/heap.h"
#include "base/num.h"
#include "workloads/collective.h"

/* ---- events by time; those of one time in the order in which they were made ---- */

struct sim_astra_event {
    int64_t at_ns, order;
    int32_t kind, id; /**< the caller's */
};

/** A binary heap. Zero-initialise; release with sim_astra_events_free(). */
struct sim_astra_events {
    struct sim_astra_event *heap; /**< shape [n], owned */
    int32_t n, cap;
    int64_t order; /**< of the next event */
};

/* ---- phases and rounds ---- */

/** To whom a member sends in a round. */
enum sim_astra_to {
    SIM_ASTRA_NEXT, /**< the next one round the ring */
    SIM_ASTRA_ALL,  /**< all others at once */
    SIM_ASTRA_PAIR, /**< the one whose number differs in the bit `distance` */
    SIM_ASTRA_TREE, /**< to the parent, or from it to its children */
};

/** Members send, wait for what they shall receive, wait the endpoint delay and reduce; `times` times. */
struct sim_astra_round {
    enum sim_astra_to to;
    int32_t times;
    int32_t distance; /**< to the farthest receiver, in members */
    int32_t reduced;  /**< messages that a member adds up at the end */
    int32_t waits;    /**< messages of siblings before the last one, where they share a link; trees only */
    int64_t bytes;    /**< of a message */
};

enum { SIM_ASTRA_MAX_ROUNDS = 64, SIM_ASTRA_MAX_PHASES = 2 * TOPO_MAX_DIMS };

struct sim_astra_phase {
    int32_t dim;
    enum pass pass;
    int64_t bytes; /**< entering */
};

/** How a collective is cut and which way its chunks go. */
struct sim_astra_plan {
    int64_t chunk_B;
    int32_t n_chunks, n_phases;
    struct sim_astra_phase phases[SIM_ASTRA_MAX_PHASES];
};

static bool event_before(const struct sim_astra_event *a, const struct sim_astra_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

HEAP(events, struct sim_astra_event, event_before)

/* False on lack of memory, and then nothing is added. O(log n). */
static bool sim_astra_events_add(struct sim_astra_events *q, int64_t at_ns, int32_t kind, int32_t id)
{
    if (!vec_reserve(q->heap, q->cap, q->n + 1))
        return false;
    events_push(q->heap, q->n++, (struct sim_astra_event){ at_ns, q->order++, kind, id });
    return true;
}

/* The first event; false when there is none. O(log n). */
static bool sim_astra_events_next(struct sim_astra_events *q, struct sim_astra_event *out)
{
    if (q->n == 0)
        return false;
    *out = events_pop(q->heap, q->n--);
    return true;
}

static void sim_astra_events_free(struct sim_astra_events *q)
{
    free(q->heap);
    *q = (struct sim_astra_events){ 0 };
}

/* Doubles below it convert to int64_t, and a few of them still add up. */
#define MAX_NS 4.6e18

/* Bandwidth of a link [B/ns]. */
static double sim_astra_link_Bpns(const struct sim_astra_dim *dim)
{
    return dim->GiBps * 1073741824.0 / 1e9;
}

/* Time from the arrival of all messages of a round to the next round [ns].
 * Two reads and a write for each sum. */
static int64_t sim_astra_digest_ns(const struct sim_astra_setup *setup, const struct sim_astra_round *r)
{
    double once = floor((double)r->bytes / setup->mem_GBps);
    return setup->endpoint_ns + (r->reduced ? (int64_t)3 * r->reduced * (int64_t)once : 0);
}

static int32_t bits(int32_t n)
{
    int32_t s = 0;
    while (n >> (s + 1))
        s++;
    return s;
}

/* n - 1 rounds of a shard to the next member: one sequence to reduce, one to gather. */
static int32_t ring_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    struct sim_astra_round r = {
        SIM_ASTRA_NEXT, n - 1, 1, 1, 0, pass == PASS_ALL_GATHER ? bytes : bytes / n
    };
    int32_t k = 0;
    if (pass != PASS_ALL_GATHER)
        out[k++] = r;
    r.reduced = 0;
    if (pass != PASS_REDUCE_SCATTER)
        out[k++] = r;
    return k;
}

/* One sum is billed, however many messages come in. */
static int32_t direct_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    struct sim_astra_round r = { SIM_ASTRA_ALL, 1, n / 2, 1, 0, pass == PASS_ALL_GATHER ? bytes : bytes / n };
    int32_t k = 0;
    if (pass == PASS_REDUCE_SCATTER || pass == PASS_ALL_REDUCE)
        out[k++] = r;
    r.reduced = 0;
    if (pass != PASS_REDUCE_SCATTER)
        out[k++] = r;
    return k;
}

/* The sum of the first round is not billed: ASTRA-sim counts one too few. */
static int32_t halving_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    int32_t s = bits(n), k = 0;
    if (pass != PASS_ALL_GATHER)
        for (int32_t i = 1; i <= s; i++)
            out[k++] = (struct sim_astra_round){ SIM_ASTRA_PAIR, 1, 1 << (i - 1), i > 1, 0, bytes >> i };
    int64_t shard = pass == PASS_ALL_GATHER ? bytes : bytes >> s;
    if (pass != PASS_REDUCE_SCATTER)
        for (int32_t i = s; i >= 1; i--)
            out[k++] = (struct sim_astra_round){ SIM_ASTRA_PAIR, 1, 1 << (i - 1), 0, 0, shard << (s - i) };
    return k;
}

/* A root with one child, below it a full binary tree of the others: log2 n levels up with the whole chunk,
 * and down again. All but the uppermost have two children to a parent. */
static int32_t tree_rounds(struct sim_astra_round *out, int32_t n, int64_t bytes)
{
    int32_t s = bits(n), k = 0;
    for (int32_t i = 1; i <= s; i++)
        out[k++] = (struct sim_astra_round){ SIM_ASTRA_TREE, 1, 1, i < s ? 2 : 1, i < s, bytes };
    for (int32_t i = s; i >= 1; i--)
        out[k++] = (struct sim_astra_round){ SIM_ASTRA_TREE, 1, 1, 0, i < s, bytes };
    return k;
}

/* Rounds of a phase; returns how many. */
static int32_t sim_astra_rounds(struct sim_astra_round out[SIM_ASTRA_MAX_ROUNDS],
                                const struct sim_astra_setup *setup, const struct sim_astra_phase *p)
{
    int32_t n = setup->dims[p->dim].size;
    switch (setup->algorithms[p->dim]) {
    case TOPO_ALGORITHM_RING:
        return ring_rounds(out, p->pass, n, p->bytes);
    case TOPO_ALGORITHM_DIRECT:
        return direct_rounds(out, p->pass, n, p->bytes);
    case TOPO_ALGORITHM_HALVING:
        return halving_rounds(out, p->pass, n, p->bytes);
    default:
        return tree_rounds(out, n, p->bytes);
    }
}

static int32_t hops(const struct sim_astra_dim *dim, int32_t distance)
{
    if (dim->shape == TOPO_RING)
        return distance < dim->size - distance ? distance : dim->size - distance;
    return dim->shape == TOPO_SWITCH ? 2 : 1;
}

/*
 * A round of messages [ns], before it is rounded down. Without contention latency counts for every hop and
 * serialisation once. Of a tree with contention: stored and forwarded, and behind the sibling's message.
 */
static double round_ns(const struct sim_astra_setup *setup, const struct sim_astra_dim *dim,
                       const struct sim_astra_round *r)
{
    double wire = (double)r->bytes / sim_astra_link_Bpns(dim);
    int32_t h = hops(dim, r->distance);
    if (setup->backend == SIM_ASTRA_UNAWARE)
        return h * dim->lat_ns + wire;
    bool shared = dim->shape == TOPO_SWITCH;
    return h * floor(dim->lat_ns + wire) + (shared ? r->waits * floor(wire) : 0);
}

/* Duration of a phase when no link is busy, and of a tree in any case. ERR_RANGE beyond 2^62 ns. */
static int sim_astra_phase_ns(int64_t *out, const struct sim_astra_setup *setup,
                              const struct sim_astra_phase *p, struct err *e)
{
    struct sim_astra_round rounds[SIM_ASTRA_MAX_ROUNDS];
    int32_t n = sim_astra_rounds(rounds, setup, p);
    int64_t total = setup->endpoint_ns;
    for (int32_t i = 0; i < n; i++) {
        const struct sim_astra_round *r = &rounds[i];
        double message = round_ns(setup, &setup->dims[p->dim], r);
        double sums = 3.0 * r->reduced * (double)r->bytes / setup->mem_GBps;
        if (!(r->times * (message + sums + (double)setup->endpoint_ns) + (double)total < MAX_NS))
            return err_set(e, ERR_RANGE, "dims[%d]: a phase takes more than %g ns", p->dim, MAX_NS);
        total += r->times * ((int64_t)message + sim_astra_digest_ns(setup, r));
    }
    *out = total;
    return 0;
}

/* A chunk has at least a byte for each NPU, and a last chunk that is smaller is billed as a full one. */
static int astra_cut(struct sim_astra_plan *plan, const struct sim_astra_setup *setup, int64_t bytes,
                     struct err *e)
{
    int64_t npus = 1, chunk = bytes / setup->splits;
    for (int32_t d = 0; d < setup->n_dims; d++)
        npus *= setup->dims[d].size;
    if (chunk < npus)
        chunk = npus;
    /* Below 2 * STAGE_MAX_CHUNKS: a remainder is less than `splits` bytes, and chunks have one at least. */
    plan->n_chunks = (int32_t)(bytes / chunk + (bytes % chunk != 0));
    plan->chunk_B = chunk;
    int64_t grown;
    if (!num_mul(chunk, npus, &grown))
        return err_set(e, ERR_RANGE, "bytes: is %lld for %lld NPUs, expected a product below 2^63",
                       (long long)bytes, (long long)npus);
    return 0;
}

static void astra_add(struct sim_astra_plan *plan, const struct sim_astra_setup *setup, int32_t dim,
                      enum pass pass, int64_t *bytes)
{
    plan->phases[plan->n_phases++] = (struct sim_astra_phase){ dim, pass, *bytes };
    if (pass == PASS_REDUCE_SCATTER)
        *bytes /= setup->dims[dim].size;
    else if (pass == PASS_ALL_GATHER)
        *bytes *= setup->dims[dim].size;
}

/* The plan of a collective that has passed check_collective(). ERR_RANGE when sizes overflow. */
static int sim_astra_plan(struct sim_astra_plan *plan, const struct sim_astra_setup *setup,
                          const struct sim_astra_collective *c, struct err *e)
{
    int32_t dims[TOPO_MAX_DIMS], n = 0;
    for (int32_t d = 0; d < setup->n_dims; d++)
        if (c->in[d])
            dims[n++] = d;
    *plan = (struct sim_astra_plan){ 0 };
    int rc = astra_cut(plan, setup, c->bytes, e);
    if (rc)
        return rc;
    int64_t bytes = plan->chunk_B;
    if (c->kind == COLLECTIVE_ALL_TO_ALL || (c->kind == COLLECTIVE_ALL_REDUCE && setup->baseline)) {
        for (int32_t i = 0; i < n; i++)
            astra_add(plan, setup, dims[i],
                      c->kind == COLLECTIVE_ALL_TO_ALL ? PASS_ALL_TO_ALL : PASS_ALL_REDUCE, &bytes);
        return 0;
    }
    int32_t turn =
        c->kind == COLLECTIVE_ALL_REDUCE ? n - 1 : n; /* dimensions scattered over, gathered over */
    if (c->kind != COLLECTIVE_ALL_GATHER)
        for (int32_t i = 0; i < turn; i++)
            astra_add(plan, setup, dims[i], PASS_REDUCE_SCATTER, &bytes);
    if (c->kind == COLLECTIVE_ALL_REDUCE)
        astra_add(plan, setup, dims[turn], PASS_ALL_REDUCE, &bytes);
    if (c->kind != COLLECTIVE_REDUCE_SCATTER)
        for (int32_t i = turn - 1; i >= 0; i--)
            astra_add(plan, setup, dims[i], PASS_ALL_GATHER, &bytes);
    return 0;
}

/*
 * With contention: members are state machines that send, wait and reduce; messages are stored and forwarded
 * over directed links, each a first-come first-served queue. What happens in one nanosecond happens in the
 * order in which it was caused, so the outcome is that of ASTRA-sim also where messages tie.
 */

enum { MAX_MESSAGES = 1 << 30, MAX_LINKS = 1 << 26, MAX_COUNTERS = 1 << 28 };

enum astra_links_event { ARRIVED, LINK_FREE, READY };

/* Places are members, and the switch behind the last of them. */
struct message {
    int64_t bytes;
    int32_t chunk, step;
    int32_t at, to;
    int32_t next; /* behind it in a link's queue or among the unused; -1 = none */
    bool back;    /* ring: the other way round */
};

struct link {
    int32_t first, last; /* messages that wait; -1 = none */
    bool busy;
};

struct links_engine {
    struct arena arena; /* of the arrays below, but for messages */
    const struct sim_astra_setup *setup;
    struct sim_astra_result *out;
    struct sim_astra_plan plan;
    enum topo_shape shape;
    int32_t n; /* members */
    struct sim_astra_round rounds[SIM_ASTRA_MAX_ROUNDS];
    int32_t n_rounds, n_steps, n_counters;
    struct link *links;
    int64_t n_links;
    struct message *messages;
    int32_t n_messages, cap_messages, unused;
    int32_t *step;     /* shape [n][n_chunks], that a member is in; -1 = not begun */
    int32_t *received; /* shape [n][n_chunks][n_counters] */
    int32_t *running;  /* shape [n], chunks */
    int32_t *begun;    /* shape [n], chunks */
    int64_t in_work, since_ns;
    struct sim_astra_events events;
    int64_t now_ns;
    bool failed; /* out of memory */
};

static void add_event(struct links_engine *g, int64_t at_ns, enum astra_links_event kind, int32_t id)
{
    g->failed |= !sim_astra_events_add(&g->events, at_ns, (int32_t)kind, id);
}

static const struct sim_astra_round *round_of(const struct links_engine *g, int32_t step)
{
    const struct sim_astra_round *r = g->rounds;
    for (; step >= r->times; r++)
        step -= r->times;
    return r;
}

/* Where the message goes next, and over which link. */
static int32_t next_place(const struct links_engine *g, const struct message *m, int64_t *link)
{
    int32_t n = g->n;
    switch (g->shape) {
    case TOPO_RING:
        *link = m->back ? n + m->at : m->at;
        return (m->at + (m->back ? n - 1 : 1)) % n;
    case TOPO_SWITCH:
        *link = m->at == n ? n + m->to : m->at;
        return m->at == n ? m->to : n;
    default:
        *link = (int64_t)m->at * (n - 1) + (m->to - m->at + n) % n - 1;
        return m->to;
    }
}

static int64_t count_links(enum topo_shape shape, int64_t n)
{
    return shape == TOPO_FULL ? n * (n - 1) : 2 * n;
}

static void transmit(struct links_engine *g, int64_t link, int32_t id)
{
    const struct sim_astra_dim *dim = &g->setup->dims[0];
    double wire = (double)g->messages[id].bytes / sim_astra_link_Bpns(dim);
    g->links[link].busy = true;
    add_event(g, g->now_ns + (int64_t)(dim->lat_ns + wire), ARRIVED, id);
    add_event(g, g->now_ns + (int64_t)wire, LINK_FREE, (int32_t)link);
}

/* A busy link serves messages in order of arrival, as ASTRA-sim's does; lists are linked through the
 * messages. */
static void queue_message(struct links_engine *g, int32_t id)
{
    int64_t index;
    next_place(g, &g->messages[id], &index);
    struct link *l = &g->links[index];
    if (!l->busy) {
        transmit(g, index, id);
        return;
    }
    g->messages[id].next = -1;
    if (l->first < 0)
        l->first = id;
    else
        g->messages[l->last].next = id;
    l->last = id;
}

static void free_link(struct links_engine *g, int32_t index)
{
    struct link *l = &g->links[index];
    int32_t id = l->first;
    l->busy = false;
    if (id < 0)
        return;
    l->first = g->messages[id].next;
    transmit(g, index, id);
}

/* The shorter way round, and forwards to the member just opposite, as the original routes. */
static void links_send(struct links_engine *g, struct message m)
{
    int32_t id = g->unused, ahead = (m.to - m.at + g->n) % g->n;
    if (id >= 0) {
        g->unused = g->messages[id].next;
    } else {
        if (!vec_reserve(g->messages, g->cap_messages, g->n_messages + 1)) {
            g->failed = true;
            return;
        }
        id = g->n_messages++;
    }
    m.back = ahead > g->n - ahead; /* just opposite: forward */
    g->messages[id] = m;
    queue_message(g, id);
}

/* What one member sends in one round: to the next, to its partner, or to all others. */
static void send_round(struct links_engine *g, int32_t member, int32_t chunk, int32_t step)
{
    const struct sim_astra_round *r = round_of(g, step);
    struct message m = { .bytes = r->bytes, .chunk = chunk, .step = step, .at = member };
    if (r->to == SIM_ASTRA_PAIR) {
        m.to = member ^ r->distance;
        links_send(g, m);
        return;
    }
    int32_t n = r->to == SIM_ASTRA_ALL ? g->n - 1 : 1;
    for (int32_t i = 1; i <= n; i++) {
        m.to = (member + i) % g->n;
        links_send(g, m);
    }
}

static int64_t slot_of(const struct links_engine *g, int32_t member, int32_t chunk)
{
    return (int64_t)member * g->plan.n_chunks + chunk;
}

/*
 * Messages of a later round may come before those of an earlier one, so each round has its counter. Round a
 * ring they come from one member on one link, in order: one counter will do for thousands of rounds.
 */
static int32_t *counter(struct links_engine *g, int64_t slot, int32_t step)
{
    return &g->received[slot * g->n_counters + (g->n_counters > 1 ? step : 0)];
}

/* Has everything of the present round come in? Then the next begins after the endpoint delay and the sums. */
static void links_go_on(struct links_engine *g, int64_t slot)
{
    int32_t step = g->step[slot];
    const struct sim_astra_round *r = round_of(g, step);
    int32_t need = r->to == SIM_ASTRA_ALL ? g->n - 1 : r->to == SIM_ASTRA_NEXT ? step + 1 : 1;
    if (*counter(g, slot, step) >= need)
        add_event(g, g->now_ns + sim_astra_digest_ns(g->setup, r), READY, (int32_t)slot);
}

/* At most active_chunks at a time per member; each waits for the endpoint delay before it first sends. */
static void links_begin_what_fits(struct links_engine *g, int32_t member)
{
    while (g->running[member] < g->setup->active_chunks && g->begun[member] < g->plan.n_chunks) {
        int32_t chunk = g->begun[member]++;
        g->running[member]++;
        if (g->in_work++ == 0)
            g->since_ns = g->now_ns;
        add_event(g, g->now_ns + g->setup->endpoint_ns, READY, (int32_t)slot_of(g, member, chunk));
    }
}

/* Busy time counts from the first chunk in work to the last. */
static void end_chunk(struct links_engine *g, int32_t member)
{
    g->out->time_ns = g->now_ns;
    g->running[member]--;
    if (--g->in_work == 0)
        g->out->busy_ns[0] += g->now_ns - g->since_ns;
    links_begin_what_fits(g, member);
}

static void next_step(struct links_engine *g, int32_t slot)
{
    int32_t member = slot / g->plan.n_chunks, chunk = slot % g->plan.n_chunks;
    if (++g->step[slot] == g->n_steps) {
        end_chunk(g, member);
        return;
    }
    send_round(g, member, chunk, g->step[slot]);
    links_go_on(g, slot);
}

/* Messages hop link by link; one of a round that the member has not reached yet is counted for later. */
static void links_arrive(struct links_engine *g, int32_t id)
{
    struct message *m = &g->messages[id];
    int64_t link, slot = slot_of(g, m->to, m->chunk);
    m->at = next_place(g, m, &link);
    if (m->at != m->to) {
        queue_message(g, id);
        return;
    }
    int32_t *count = counter(g, slot, m->step);
    m->next = g->unused;
    g->unused = id;
    ++*count;
    /* Of the round that the member is in: a later one is looked at when its turn comes. */
    if (g->step[slot] == m->step)
        links_go_on(g, slot);
}

/* Bounds on messages and time before anything is allocated; times are whole nanoseconds in 63 bits. */
static int links_check_size(const struct links_engine *g, struct err *e)
{
    double messages = 0, counters = (double)g->n * g->plan.n_chunks * g->n_counters;
    int64_t alone_ns = 0;
    for (int32_t i = 0; i < g->n_rounds; i++)
        messages += (double)g->rounds[i].times * (g->rounds[i].to == SIM_ASTRA_ALL ? g->n - 1 : 1);
    messages *= (double)g->n * g->plan.n_chunks;
    if (messages > MAX_MESSAGES)
        return err_set(e, ERR_RANGE, "collective sends %g messages, expected at most %d", messages,
                       MAX_MESSAGES);
    if (counters > MAX_COUNTERS || g->n_links > MAX_LINKS)
        return err_set(e, ERR_RANGE, "dims[0].size: is %d in %d chunks", g->n, g->plan.n_chunks);
    int rc = sim_astra_phase_ns(&alone_ns, g->setup, &g->plan.phases[0], e);
    /* At worst every message waits for every other. */
    if (!rc && (double)alone_ns * messages > 4.6e18)
        rc = err_set(e, ERR_RANGE, "collective may take more than 4.6e18 ns");
    return rc;
}

/* A ring needs one counter of received messages per member and chunk, as rounds cannot overtake; others one
 * per round. */
static int links_prepare(struct links_engine *g, const struct sim_astra_collective *c, struct err *e)
{
    int rc = sim_astra_plan(&g->plan, g->setup, c, e);
    if (rc)
        return rc;
    g->n_rounds = sim_astra_rounds(g->rounds, g->setup, &g->plan.phases[0]);
    for (int32_t i = 0; i < g->n_rounds; i++)
        g->n_steps += g->rounds[i].times;
    g->n_counters = g->rounds[0].to == SIM_ASTRA_NEXT ? 1 : g->n_steps;
    g->n_links = count_links(g->shape, g->n);
    rc = links_check_size(g, e);
    if (rc)
        return rc;
    size_t slots = (size_t)g->n * (size_t)g->plan.n_chunks;
    g->links = ARENA_TAKE(&g->arena, g->n_links, *g->links);
    g->step = ARENA_TAKE(&g->arena, slots, *g->step);
    g->received = ARENA_TAKE(&g->arena, slots * (size_t)g->n_counters, *g->received);
    g->running = ARENA_TAKE(&g->arena, g->n, *g->running);
    g->begun = ARENA_TAKE(&g->arena, g->n, *g->begun);
    rc = arena_check(&g->arena, "links and members", e);
    for (int64_t i = 0; i < g->n_links && !rc; i++)
        g->links[i] = (struct link){ -1, -1, false };
    for (size_t i = 0; i < slots && !rc; i++)
        g->step[i] = -1;
    return rc;
}

/* Events in order of time, then of insertion, until none is left. */
static int links_run(struct links_engine *g, struct err *e)
{
    struct sim_astra_event astra_links_event;
    for (int32_t i = 0; i < g->n; i++)
        links_begin_what_fits(g, i);
    while (!g->failed && sim_astra_events_next(&g->events, &astra_links_event)) {
        g->now_ns = astra_links_event.at_ns;
        if (astra_links_event.kind == ARRIVED)
            links_arrive(g, astra_links_event.id);
        else if (astra_links_event.kind == LINK_FREE)
            free_link(g, astra_links_event.id);
        else
            next_step(g, astra_links_event.id);
    }
    return g->failed ? err_nomem(e, "messages") : 0;
}

/* The engine with contention (congestion_aware): one dimension, every link with its queue. */
static int sim_astra_run_links(struct sim_astra_result *out, const struct sim_astra_setup *setup,
                               const struct sim_astra_collective *c, struct err *e)
{
    struct links_engine g = { .setup = setup, .out = out, .unused = -1 };
    g.shape = setup->dims[0].shape;
    g.n = setup->dims[0].size;
    int rc = links_prepare(&g, c, e);
    if (!rc)
        rc = links_run(&g, e);
    arena_free(&g.arena);
    free(g.messages);
    sim_astra_events_free(&g.events);
    return rc;
}

/*
 * Without contention all members of a phase are alike, so a phase is one number, and a collective is chunks
 * that pass queues, one for each dimension.
 */

struct queues_engine {
    const struct sim_astra_setup *setup;
    struct sim_astra_result *out;
    struct sim_astra_plan plan;
    int64_t phase_ns[SIM_ASTRA_MAX_PHASES];
    struct arena arena; /* of the two arrays */
    int32_t *phase;     /* shape [n_chunks], that a chunk is in */
    int32_t *next;      /* shape [n_chunks], chunk behind it in its queue; -1 = none */
    int32_t first[TOPO_MAX_DIMS], last[TOPO_MAX_DIMS]; /* chunks that wait; -1 = none */
    int32_t in_work[TOPO_MAX_DIMS];
    int64_t since_ns[TOPO_MAX_DIMS];
    struct sim_astra_events events; /* ends of phases */
    int64_t now_ns;
    bool failed; /* out of memory */
};

/* The longest it can take: one phase after the other. */
static int queues_prepare(struct queues_engine *g, const struct sim_astra_collective *c, struct err *e)
{
    double ns = 0;
    int rc = sim_astra_plan(&g->plan, g->setup, c, e);
    for (int32_t k = 0; k < g->plan.n_phases && !rc; k++) {
        rc = sim_astra_phase_ns(&g->phase_ns[k], g->setup, &g->plan.phases[k], e);
        ns += (double)g->phase_ns[k] * g->plan.n_chunks;
    }
    if (!rc && !(ns < MAX_NS))
        rc = err_set(e, ERR_RANGE, "collective takes up to %g ns, expected less than %g", ns, MAX_NS);
    if (rc)
        return rc;
    for (int32_t d = 0; d < g->setup->n_dims; d++)
        g->first[d] = -1;
    g->phase = ARENA_TAKE(&g->arena, g->plan.n_chunks, *g->phase);
    g->next = ARENA_TAKE(&g->arena, g->plan.n_chunks, *g->next);
    return arena_check(&g->arena, "chunks", e);
}

/* Chunks in the order of arrival. */
static void queues_begin_what_fits(struct queues_engine *g, int32_t d)
{
    while (g->first[d] >= 0 && g->in_work[d] < g->setup->active_chunks) {
        int32_t id = g->first[d];
        g->first[d] = g->next[id];
        if (g->in_work[d]++ == 0)
            g->since_ns[d] = g->now_ns;
        g->failed |= !sim_astra_events_add(&g->events, g->now_ns + g->phase_ns[g->phase[id]], 0, id);
    }
}

/* A chunk joins the queue of its dimension and starts if that is free. */
static void queues_arrive(struct queues_engine *g, int32_t id)
{
    int32_t d = g->plan.phases[g->phase[id]].dim;
    g->next[id] = -1;
    if (g->first[d] < 0)
        g->first[d] = id;
    else
        g->next[g->last[d]] = id;
    g->last[d] = id;
    queues_begin_what_fits(g, d);
}

/* The chunk joins its next queue before its place is given away. */
static void end_phase(struct queues_engine *g, int32_t id)
{
    int32_t d = g->plan.phases[g->phase[id]].dim;
    if (--g->in_work[d] == 0)
        g->out->busy_ns[d] += g->now_ns - g->since_ns[d];
    if (++g->phase[id] < g->plan.n_phases)
        queues_arrive(g, id);
    queues_begin_what_fits(g, d);
}

static int queues_run(struct queues_engine *g, struct err *e)
{
    struct sim_astra_event end;
    for (int32_t k = 0; k < g->plan.n_chunks; k++)
        queues_arrive(g, k);
    while (!g->failed && sim_astra_events_next(&g->events, &end)) {
        g->now_ns = end.at_ns;
        end_phase(g, end.id);
    }
    g->out->time_ns = g->now_ns;
    return g->failed ? err_nomem(e, "events") : 0;
}

/* The two back-ends; parameters as sim_astra_run(), checked. */
static int sim_astra_run_queues(struct sim_astra_result *out, const struct sim_astra_setup *setup,
                                const struct sim_astra_collective *c, struct err *e)
{
    struct queues_engine g = { .setup = setup, .out = out };
    int rc = queues_prepare(&g, c, e);
    if (!rc)
        rc = queues_run(&g, e);
    arena_free(&g.arena);
    sim_astra_events_free(&g.events);
    return rc;
}

static bool is_power_of_two(int32_t n)
{
    return (n & (n - 1)) == 0;
}

const enum topo_shape sim_astra_shapes[SIM_ASTRA_SHAPES] = { TOPO_RING, TOPO_FULL, TOPO_SWITCH };

int sim_astra_check_shape(enum topo_shape shape, int32_t d, const char *tail, struct err *e)
{
    for (int i = 0; i < SIM_ASTRA_SHAPES; i++)
        if (sim_astra_shapes[i] == shape)
            return 0;
    return err_set(e, ERR_RANGE, "dims[%d].shape: is %s, expected ring, full or switch%s", d,
                   topo_shape_name(shape), tail);
}

/* Members end at different times, so that what follows would start ragged; and the two trees of one dimension
 * take turns. Nothing is known to hold such figures against. */
static int check_tree(const struct sim_astra_setup *setup, const struct sim_astra_collective *c, int32_t d,
                      struct err *e)
{
    if (c->kind != COLLECTIVE_ALL_REDUCE || setup->n_dims > 1 || setup->splits > 1)
        return err_set(
            e, ERR_UNSUP,
            "algorithms[%d]: is double-binary-tree, expected an all-reduce of one chunk in one dimension", d);
    if (setup->dims[d].shape == TOPO_RING)
        return err_set(e, ERR_UNSUP,
                       "algorithms[%d]: is double-binary-tree on a ring, expected full or switch", d);
    return 0;
}

/* Only what the original implements and gets right (docs/astra.md lists what it gets wrong). */
static int check_dim(const struct sim_astra_setup *setup, const struct sim_astra_collective *c, int32_t d,
                     struct err *e)
{
    enum topo_algorithm a = setup->algorithms[d];
    if ((a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_TREE) && !is_power_of_two(setup->dims[d].size))
        return err_set(e, ERR_RANGE, "algorithms[%d]: is %s of %d members, expected 2^k of them", d,
                       topo_algorithm_words[a], setup->dims[d].size);
    if (c->kind == COLLECTIVE_ALL_TO_ALL && c->in[d] && a != TOPO_ALGORITHM_DIRECT)
        return err_set(e, ERR_UNSUP, "algorithms[%d]: is %s, expected direct for an all-to-all", d,
                       topo_algorithm_words[a]);
    return c->in[d] && a == TOPO_ALGORITHM_TREE ? check_tree(setup, c, d, e) : 0;
}

/* Broadcast and send are weft's own: the original has none. */
static int check_collective(const struct sim_astra_setup *setup, const struct sim_astra_collective *c,
                            struct err *e)
{
    int rc = 0;
    if (setup->backend == SIM_ASTRA_AWARE && setup->n_dims > 1)
        return err_set(e, ERR_UNSUP, "dims: are %d with contention, expected one", setup->n_dims);
    if (c->kind == COLLECTIVE_BROADCAST || c->kind == COLLECTIVE_SEND)
        return err_set(e, ERR_UNSUP,
                       "kind: is %s, expected all-reduce, reduce-scatter, all-gather or all-to-all",
                       collective_names[c->kind]);
    for (int32_t d = 0; d < setup->n_dims && !rc; d++)
        rc = check_dim(setup, c, d, e);
    return rc;
}

void sim_astra_defaults(struct sim_astra_setup *setup)
{
    *setup = (struct sim_astra_setup){ .splits = 1, .active_chunks = 1, .mem_GBps = INFINITY, .lifo = true };
}

/* Chooses the engine: queues of dimensions without contention, links with it. A double binary tree has a
 * closed form in both. */
int sim_astra_run(struct sim_astra_result *out, const struct sim_astra_setup *setup,
                  const struct sim_astra_collective *c, struct err *e)
{
    *out = (struct sim_astra_result){ 0 };
    int rc = check_collective(setup, c, e);
    if (rc)
        return rc;
    /* A tree has its closed form with contention too. */
    if (setup->backend == SIM_ASTRA_UNAWARE || setup->algorithms[0] == TOPO_ALGORITHM_TREE)
        return sim_astra_run_queues(out, setup, c, e);
    return sim_astra_run_links(out, setup, c, e);
}
