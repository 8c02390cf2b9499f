/*
 * Map `system`; from it and the bill of a design to items that are owned and parts that fail, and their sums.
 *
 * All NPUs of the network are one job, which the failure of a part stops, or slows where others take over.
 * Where the bill counts no pieces (prices by the GB/s) links, NICs and switches that fail are unknown, and
 * where it has no watts their power is; both are then left out, and said. Dimensions inside a server are in
 * the server's price, not in the network's.
 */
#include "kinds/design/ask/system.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "alloc/lp.h"

#define HOUR_S        3600.0
#define YEAR_H        8760.0
#define ASYNC_STALL_S 1.0 /* copying a shard to the host's memory; docs/ownership.md, table "Defaults" */

/* Fewer NPUs fail more often than their parts do: arXiv 2410.21680. */
enum { BY_PARTS = 4096 };

/* A pool of spares is enough that often. */
#define SURE 0.99

enum { N_FIXED_ITEMS = 3 + OWN_MAX_EXTRAS, N_FIXED_FAILS = 2 + OWN_MAX_EXTRAS };

static void add_item(struct system *x, struct own_item item)
{
    if (item.count > 0)
        x->items[x->n_items++] = item;
}

static void add_fail(struct system *x, struct reliability_line fail)
{
    if (fail.n > 0)
        x->fails[x->n_fails++] = fail;
}

__attribute__((format(printf, 2, 3))) static void omit(struct system *x, const char *fmt, ...)
{
    size_t n = strlen(x->omits);
    char text[2 * sizeof x->omits];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    int put = snprintf(x->omits + n, sizeof x->omits - n, "%s%s", n ? "; " : "", text);
    if ((size_t)put < sizeof x->omits - n)
        return;
    /* It ends behind a word. */
    x->omits[sizeof x->omits - sizeof "..."] = '\0';
    char *blank = strrchr(x->omits, ' ');
    snprintf(blank ? blank : x->omits, sizeof "...", "...");
}

/* ---- counts ---- */

static double nodes_of(const struct design_point *s)
{
    return ceil((double)s->net.n_npus / (double)s->system.npus_per_node);
}

/* NPUs of the network in one scale-up domain of the server: whole entries that lie inside of one; 1: none. */
static int64_t npus_in_domain(const struct design_point *s)
{
    int64_t npus = 1;
    for (int32_t d = 0; d < s->net.n_dims; d = topo_after_entry(s->net.dims, d)) {
        int64_t more = npus * topo_group_size(&s->net.dims[d]);
        if (more > s->server.npus_per_domain)
            break;
        npus = more;
    }
    return npus;
}

/* Racks of servers, spares too, where it is known how many a rack holds: a domain that is a rack is one,
 * however few of its NPUs the network has. NaN: not known. */
static double racks_of_servers(const struct design_point *s)
{
    const struct own_system *own = &s->system;
    double spares = (double)(own->spare_nodes > 0 ? own->spare_nodes : 0);
    if (own->npus_per_rack < 0)
        return NAN;
    double nodes = fmax(floor((double)own->npus_per_rack / (double)own->npus_per_node), 1);
    if (s->server.name && s->server.npus_per_domain >= own->npus_per_rack)
        return ceil((double)s->net.n_npus / (double)npus_in_domain(s)) *
                   ceil((double)s->server.npus_per_domain / (double)own->npus_per_rack) +
               ceil(spares / nodes);
    return ceil((nodes_of(s) + spares) / nodes);
}

static void add_npus(struct system *x, const struct design_point *s)
{
    const struct own_system *own = &s->system;
    double n = (double)s->net.n_npus;
    add_item(x, (struct own_item){ "NPUs", n, own->npu_usd, own->life_y, own->residual, own->npu_watt,
                                   .idle_watt = own->npu_idle * own->npu_watt,
                                   .usd_down = own->npu_spread.down, .usd_up = own->npu_spread.up });
    add_item(x, (struct own_item){ "servers, per NPU", n, own->server_usd, own->life_y, own->residual,
                                   own->server_watt, .idle_watt = own->server_idle * own->server_watt,
                                   .usd_down = own->server_spread.down, .usd_up = own->server_spread.up });
    double node = fmin((double)own->npus_per_node, n);
    add_fail(x, (struct reliability_line){ "NPUs", n, own->mtbf.npu_s, own->mtbf_low.npu_s,
                                           own->mtbf_high.npu_s, .npus = node });
    add_fail(x, (struct reliability_line){ "nodes", nodes_of(s), own->mtbf.node_s, own->mtbf_low.node_s,
                                           own->mtbf_high.node_s, .npus = node });
}

/* Scale-up domains that the job has NPUs in. */
static double domains_of(const struct design_point *s)
{
    return ceil((double)s->net.n_npus / (double)npus_in_domain(s));
}

/* Servers that stand by: in a pool, or in each domain. */
static double spare_nodes(const struct design_point *s)
{
    const struct own_system *own = &s->system;
    int64_t each = own->domain_spares / own->npus_per_node;
    return own->spare_nodes > 0     ? (double)own->spare_nodes
           : own->domain_spares > 0 ? (double)each * domains_of(s)
                                    : 0;
}

/* They are as dear as the others. */
static void add_spares(struct system *x, const struct design_point *s)
{
    const struct own_system *own = &s->system;
    double per = (double)own->npus_per_node;
    add_item(x, (struct own_item){
                    "spare servers with their NPUs", spare_nodes(s), per * (own->npu_usd + own->server_usd),
                    own->life_y, own->residual, per * (own->npu_watt + own->server_watt),
                    .idle_watt = per * (own->npu_idle * own->npu_watt + own->server_idle * own->server_watt),
                    .usd_down = per * (own->npu_spread.down + own->server_spread.down),
                    .usd_up = per * (own->npu_spread.up + own->server_spread.up) });
}

/* Places before the dimension that lie in one node hang on one part together, and so do its first members
 * where the node is larger than all such places. Where it is smaller the part's places are dealt out over
 * all: a rail of 9 of 72 has one in a tray of 4, a box of 36 of 72 two. */
double system_npus_taken(const struct design_point *s, int32_t first, const struct topo_loss *loss)
{
    double node = (double)s->system.npus_per_node, inner = 1;
    for (int32_t d = 0; d < first; d++)
        inner *= s->net.dims[d].size;
    double in_node = fmin(node, inner > node ? ceil(node * loss->columns / inner)
                                             : loss->columns * fmax(1, floor(node / inner)));
    return fmin(ceil(loss->npus / in_node) * node, (double)s->net.n_npus);
}

static void add_bill_fail(struct system *x, const struct design_point *s, const struct topo_bill_line *line)
{
    const struct own_system *own = &s->system;
#define USUAL(at)                                                                                            \
    {                                                                                                        \
        [BILL_NIC] = at.nic_s, [BILL_SWITCH] = at.switch_s, [BILL_LINK] = at.link_s                          \
    }
    const double usual_s[] = USUAL(own->mtbf), low_s[] = USUAL(own->mtbf_low),
                 high_s[] = USUAL(own->mtbf_high);
    bool usual = isnan(line->mtbf_s);
    const bool tolerated[] = { [TOPO_NO_WAY] = false,
                               [TOPO_BY_PLANES] = own->tolerates.planes,
                               [TOPO_BY_PATHS] = own->tolerates.paths,
                               [TOPO_BY_DETOURS] = own->tolerates.detours };
    const struct topo_loss *loss = &line->loss;
    struct reliability_line fail = { line->item,
                                     line->count,
                                     usual ? usual_s[line->role] : line->mtbf_s,
                                     usual ? low_s[line->role] : 0,
                                     usual ? high_s[line->role] : 0,
                                     .tolerated = tolerated[loss->by],
                                     .left = loss->left };
    if (line->dim >= 0) {
        const struct topo_dim *dim = &s->net.dims[line->dim];
        fail.dim = line->dim;
        fail.n_dims = loss->above ? 2 : 1;
        fail.npus = fail.tolerated ? 0 : system_npus_taken(s, line->dim - dim->level, loss);
    }
    add_fail(x, fail);
}

struct own_item system_network_item(const char *name, double n, double usd, double watt,
                                    const struct own_system *own)
{
    return (struct own_item){ .name = name,
                              .count = n,
                              .usd = usd,
                              .life_y = own->network_life_y,
                              .residual = own->residual,
                              .watt = watt,
                              .idle_watt = own->network_idle * watt };
}

static void add_bill_line(struct system *x, const struct design_point *s, const struct topo_bill_line *line)
{
    const struct own_system *own = &s->system;
    double n = line->count;
    struct own_item item = system_network_item(line->item, n, line->usd.typ / n, line->watt / n, own);
    item.unit = strcmp(line->count_unit, "pcs") == 0 ? NULL : line->count_unit;
    item.usd_down = (line->usd.typ - line->usd.low) / n;
    item.usd_up = (line->usd.high - line->usd.typ) / n;
    add_item(x, item);
    if (line->has_pieces)
        add_bill_fail(x, s, line);
}

/* What joins the NPUs of a server is part of its price, power and failures, as is all that a bill's line says
 * comes with it. */
int32_t system_dims_inside(const struct design_point *s)
{
    int64_t npus = 1;
    int32_t d = 0;
    while (d < s->net.n_dims && npus * topo_group_size(&s->net.dims[d]) <= s->system.npus_per_node) {
        npus *= topo_group_size(&s->net.dims[d]);
        d = topo_after_entry(s->net.dims, d);
    }
    return d;
}

/* NPUs that stand by in a domain hang on the network as its members do: each has as much of it. */
static void add_spare_network(struct system *x, const struct design_point *s, const struct own_item *all)
{
    const struct own_system *own = &s->system;
    double npus = (double)s->net.n_npus, spares = spare_nodes(s) * (double)own->npus_per_node;
    struct own_item item =
        system_network_item("network of the spare NPUs", spares, all->usd / npus, all->watt / npus, own);
    item.usd_down = all->usd_down / npus;
    item.usd_up = all->usd_up / npus;
    add_item(x, item);
}

static void add_network(struct system *x, const struct design_point *s, const struct topo_bill *b)
{
    int32_t first = system_dims_inside(s), n = 0, n_dark = 0, n_fluid = 0;
    struct own_item all = { 0 };
    bool wired = false; /* servers have NICs and cables of their own */
    for (int32_t i = 0; i < b->n_lines; i++) {
        const struct topo_bill_line *line = &b->lines[i];
        if (line->in_server || (line->dim >= 0 && line->dim < first)) /* as system_adds() */
            continue;
        add_bill_line(x, s, line);
        n++;
        wired = wired || line->role != BILL_SWITCH;
        all.usd += line->usd.typ;
        all.usd_down += line->usd.typ - line->usd.low;
        all.usd_up += line->usd.high - line->usd.typ;
        all.watt += isnan(line->watt) ? 0 : line->watt;
        n_dark += isnan(line->watt);
        if (isnan(line->watt) && !x->dark)
            x->dark = line->item;
        n_fluid += !line->has_pieces;
    }
    x->lacks_failures = n_fluid > 0;
    x->lacks_watts = n_dark > 0;
    if (n_fluid && design_point_takes_graph_prices(s))
        omit(x, "failures of the links and switches of the graph");
    else if (n_fluid)
        omit(x, "failures of %d of %d lines of the bill, sold by the GB/s", (int)n_fluid, (int)n);
    if (n_dark)
        omit(x, "power of %d of %d lines of the bill", (int)n_dark, (int)n);
    if (n && s->system.domain_spares > 0)
        add_spare_network(x, s, &all);
    else if (wired && spare_nodes(s) > 0)
        omit(x, "NICs, links and ports of the spare servers");
}

/* Items by the rack come last: they fill racks that others make. */
static void add_extras(struct system *x, const struct design_point *s, bool by_rack)
{
    const struct own_system *own = &s->system;
    double spares = own->domain_spares > 0 ? spare_nodes(s) : 0;
    const double times[] = { [OWN_PER_NPU] = (double)s->net.n_npus + spares * (double)own->npus_per_node,
                             [OWN_PER_NODE] = nodes_of(s) + spares,
                             [OWN_PER_RACK] = x->racks + x->racks_network,
                             [OWN_PER_SYSTEM] = 1 };
    for (int32_t i = 0; i < own->n_extras; i++) {
        const struct own_extra *extra = &own->extras[i];
        if ((extra->per == OWN_PER_RACK) != by_rack)
            continue;
        add_item(x, (struct own_item){ extra->name, extra->count * times[extra->per], extra->usd,
                                       isnan(extra->life_y) ? own->life_y : extra->life_y,
                                       isnan(extra->residual) ? own->residual : extra->residual, extra->watt,
                                       .idle_watt = extra->idle * extra->watt });
        double node = (double)own->npus_per_node,
               takes = isnan(extra->takes) ? node : ceil(extra->takes / node) * node;
        if (!isnan(extra->mtbf_s))
            add_fail(x,
                     (struct reliability_line){ extra->name, extra->count * times[extra->per], extra->mtbf_s,
                                                isnan(extra->mtbf_low_s) ? 0 : extra->mtbf_low_s,
                                                isnan(extra->mtbf_high_s) ? 0 : extra->mtbf_high_s,
                                                .recalled = extra->grade == GRADE_RECALLED,
                                                .npus = fmin(takes, (double)s->net.n_npus) });
    }
}

/* ---- checkpoints ---- */

/*
 * A failure that takes b of n nodes leaves n of the n + s where at most s - b of the n + s - b others are
 * down, and else waits for a whole repair, at most: always where there are fewer than b spares. Nodes are
 * down as often as failures take them, as if one by one.
 */
static double enough_without(double n, int64_t spares, double taken, double down)
{
    int64_t left = spares - (int64_t)taken;
    return left < 0 ? 0 : spares_enough((int64_t)n, left, down);
}

/* Does the part of dimension @p dim join domains, so that its failure takes nodes of several? */
static bool joins_domains(const struct design_point *s, int32_t dim)
{
    int64_t npus = 1;
    for (int32_t d = 0; d < dim; d++)
        npus *= s->net.dims[d].size;
    return dim >= 0 && npus >= npus_in_domain(s);
}

double system_wait_s(const struct system *x, const struct design_point *s, double npus, int32_t dim)
{
    const struct own_system *own = &s->system;
    double nodes = fmax(ceil(npus / (double)own->npus_per_node), 1), domains = 1;
    if (own->spare_nodes >= 0)
        return (1 - enough_without(nodes_of(s), own->spare_nodes, nodes, x->nodes_down)) * own->repair_s;
    if (own->domain_spares < 0)
        return 0;
    if (joins_domains(s, dim))
        domains = fmin(nodes, domains_of(s));
    int64_t all = npus_in_domain(s) / own->npus_per_node, spares = own->domain_spares / own->npus_per_node;
    double in_one = enough_without((double)all, spares, ceil(nodes / domains), x->nodes_down);
    return (1 - pow(in_one, domains)) * own->repair_s;
}

/* All domains have enough that often with @p each spares in one. */
static double domains_enough(const struct system *x, const struct design_point *s, int64_t each)
{
    return pow(spares_enough(npus_in_domain(s) / s->system.npus_per_node, each, x->nodes_down),
               domains_of(s));
}

/* How often enough nodes are up, and how many spares it takes for SURE. */
static void count_spares(struct system *x, const struct design_point *s, double taken)
{
    const struct own_system *own = &s->system;
    double n = nodes_of(s);
    x->nodes_down = 1 - reliability_availability(n / taken, own->repair_s);
    if (own->spare_nodes >= 0) {
        x->spares_enough = spares_enough((int64_t)n, own->spare_nodes, x->nodes_down);
        x->spares_needed = spares_needed(fmin(taken * own->repair_s, 1e6), SURE);
        return;
    }
    int64_t each = 0, most = npus_in_domain(s);
    while (each < most && domains_enough(x, s, each) < SURE)
        each++;
    x->spares_enough = domains_enough(x, s, own->domain_spares / own->npus_per_node);
    x->spares_needed = each * (int64_t)domains_of(s);
}

/* With them the mean wait of a restart. */
static void settle_spares(struct system *x, const struct design_point *s)
{
    const struct own_system *own = &s->system;
    double node = (double)own->npus_per_node, taken = 0, rate = 0;
    x->spares_enough = NAN;
    x->spares_needed = -1;
    if (own->spare_nodes < 0 && own->domain_spares < 0)
        return;
    for (int32_t i = 0; i < x->n_fails; i++)
        taken += reliability_rate(&x->fails[i], 1) * ceil(x->fails[i].npus / node);
    count_spares(x, s, taken);
    for (int32_t i = 0; i < x->n_fails; i++) {
        struct reliability_line *line = &x->fails[i];
        double each = reliability_rate(line, 1);
        line->wait_s = system_wait_s(x, s, line->npus, line->n_dims ? line->dim : -1);
        x->wait_s += each * line->wait_s;
        rate += each;
    }
    x->wait_s /= rate;
}

/* The largest model that is trained; NULL: none is. */
static const struct training *saved_model(const struct design_point *s)
{
    const struct training *most = NULL;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct training *x = s->workloads[i].training;
        if (x && (!most || model_params(&x->model) > model_params(&most->model)))
            most = x;
    }
    return most;
}

/* Experts, which are most of what a model with them has, lie in as many copies fewer. */
static double replicas_of(const struct training *x)
{
    const int64_t *degree = x ? x->plan.degree : NULL;
    return x ? fmax((double)(degree[PLAN_DP] * degree[PLAN_CP]) / (double)x->plan.ep, 1) : 1;
}

/* What one node carries to the store; over the network with all of its NPUs. */
static double path_Bps(const struct design_point *s, const double *bw_Bps)
{
    const struct own_checkpoint *own = &s->system.checkpoint;
    int32_t over = own->over ? topo_find_dim(&s->net, own->over) : -1;
    if (over >= 0 && !bw_Bps)
        return INFINITY;
    return over < 0 ? own->node_Bps
                    : (double)s->system.npus_per_node * bw_Bps[over] * s->net.dims[over].efficiency;
}

/* The slowest dimension decides how fast a replica passes on what it has read; nobody to pass it on to: 0. */
static double exchange_s(const struct design_point *s, const double *bw_Bps, double size_B, double replicas)
{
    double least_Bps = INFINITY;
    for (int32_t i = 0; i < s->net.n_dims; i = topo_after_entry(s->net.dims, i))
        if (bw_Bps[i] > 0)
            least_Bps = fmin(least_Bps, bw_Bps[i] * s->net.dims[i].efficiency);
    return replicas > 1 ? size_B * replicas / (double)s->net.n_npus / least_Bps : 0;
}

/* Of several models the largest is saved. No bandwidths: the least that any network and plan take. */
static void settle_checkpoint(struct system *x, const struct design_point *s, const double *bw_Bps)
{
    const struct own_checkpoint *own = &s->system.checkpoint;
    const struct training *model = saved_model(s);
    double size_B = isnan(own->size_B) ? own->bytes_per_param * model_params(&model->model) : own->size_B;
    double replicas = bw_Bps ? replicas_of(model) : 1, nodes = nodes_of(s), node_Bps = path_Bps(s, bw_Bps);
    double once_s = checkpoint_write_s(size_B, nodes, node_Bps, own->store_Bps);
    double write_s = once_s * (own->sharded ? 1 : replicas);
    double stall_s = own->async ? ASYNC_STALL_S : write_s;
    x->path_s = size_B * (own->sharded ? 1 : replicas) / nodes / node_Bps;
    x->load_s = own->read == OWN_READ_EACH ? replicas * once_s
                                           : once_s + (bw_Bps ? exchange_s(s, bw_Bps, size_B, replicas) : 0);
    x->checkpoint = (struct checkpoint){ .stall_s = isnan(own->stall_s) ? stall_s : own->stall_s,
                                         .drain_s = own->async ? write_s : 0,
                                         .restart_s = own->restart_s + x->load_s + x->wait_s };
}

/* Beside the steps checkpoints take bandwidth from them, which no time of a step knows of. */
static void omit_contention(struct system *x, const struct own_checkpoint *own)
{
    double share = x->path_s / (x->goodput.interval_s + x->checkpoint.stall_s);
    char percent[SHOW];
    if (own->over && own->async && share > 0)
        omit(x, "%s %% of the bandwidth of %s, which checkpoints take from steps",
             show_real(percent, 100 * fmin(share, 1), 2), own->over);
}

/* Tiers that are saved less often than the next are of no use, and no formula's. */
static void omit_order(struct system *x)
{
    for (int32_t i = 0; i + 1 < x->n_tiers; i++)
        if (isfinite(x->tiers[i].settled_s) && x->tiers[i].settled_s > x->tiers[i + 1].settled_s &&
            x->goodput.goodput > 0)
            omit(x, "order: %s is saved each %.4g s, and %s, which comes after it, each %.4g s",
                 x->tiers[i].name, x->tiers[i].settled_s, x->tiers[i + 1].name, x->tiers[i + 1].settled_s);
}

/* Which checkpoint or restart is too long, and for what. */
static void omit_lost(struct system *x)
{
    for (int32_t i = 0; i < x->n_tiers && x->goodput.goodput == 0; i++) {
        const struct goodput_tier *t = &x->tiers[i];
        double save_s = t->c.stall_s + t->c.drain_s, each_s = x->mtbi_s / t->share;
        if (fmax(save_s, t->c.restart_s) < each_s)
            continue;
        omit(x, "nothing is kept: a %s takes %.4g s, and something fails each %.4g s",
             save_s < each_s ? "restart" : "checkpoint", save_s < each_s ? t->c.restart_s : save_s, each_s);
        return;
    }
}

/* ---- racks ---- */

/* Nameplate of what stands in racks of servers. */
static double watt_of_servers(const struct design_point *s)
{
    const struct own_system *own = &s->system;
    double npus = (double)s->net.n_npus + spare_nodes(s) * (double)own->npus_per_node;
    return npus * (own->npu_watt + own->server_watt);
}

/* @p watt_peak: of all items but those by the rack. Where a rack of servers is known the rest has its own;
 * else power alone says how many there are. */
static void settle_racks(struct system *x, const struct design_point *s, double watt_peak)
{
    double racks = racks_of_servers(s), rack_W = s->system.rack_W;
    x->racks = isnan(racks) ? watt_peak / rack_W : racks;
    x->racks_network = isnan(racks) ? 0 : fmax(watt_peak - watt_of_servers(s), 0) / rack_W;
}

/* ---- sums ---- */

double design_step_tokens(const struct design_point *s)
{
    double sum = 0;
    for (int32_t i = 0; i < s->n_workloads; i++)
        sum += s->workloads[i].training ? s->workloads[i].weight * training_tokens(s->workloads[i].training)
                                        : (double)NAN;
    return sum;
}

static double tokens_of(const struct design_point *s)
{
    return isnan(s->system.step_tokens) ? design_step_tokens(s) : s->system.step_tokens;
}

/* Those that are nearer, and the store for the failures that they cannot restore. */
static void settle_tiers(struct system *x, const struct own_checkpoint *own, double time_s)
{
    double rest = 1;
    x->n_tiers = 0;
    for (int32_t i = 0; i < own->n_tiers; i++) {
        const struct own_tier *t = &own->tiers[i];
        rest -= t->share;
        x->tiers[x->n_tiers++] = (struct goodput_tier){
            .name = t->name,
            .share = t->share,
            .c = { .stall_s = t->stall_s, .restart_s = t->restart_s + x->wait_s },
            .interval_s = t->steps > 0 ? (double)t->steps * time_s : t->interval_s,
        };
    }
    x->tiers[x->n_tiers++] = (struct goodput_tier){
        .name = "store", .share = fmax(rest, 0), .c = x->checkpoint, .interval_s = own->interval_s
    };
}

/* Parts that the job runs on without are down n repair/MTBF of the time, and what they leave makes a step
 * longer by 1/left - 1 at most. */
static double less_bandwidth(const struct system *x, double repair_s)
{
    double lost = 0;
    for (int32_t i = 0; i < x->n_fails; i++)
        if (x->fails[i].tolerated)
            lost += x->fails[i].n * repair_s / x->fails[i].mtbf_s * (1 / x->fails[i].left - 1);
    return lost;
}

void system_sum(struct system *x, const struct design_point *s, const struct own_system *own, double time_s)
{
    double n_npus = (double)s->net.n_npus;
    own_sum(&x->cost, x->items, x->n_items, &own->terms);
    x->usd_npu_h = own_usd_npu_h(&x->cost, n_npus, &own->terms);
    x->mtbi_s = 1 / reliability_rate(x->fails, x->n_fails);
    x->mtbi_low_s = 1 / reliability_rate_at(x->fails, x->n_fails, true);
    x->mtbi_high_s = 1 / reliability_rate_at(x->fails, x->n_fails, false);
    settle_tiers(x, &own->checkpoint, time_s);
    goodput_of_tiers(&x->goodput, x->tiers, x->n_tiers, x->mtbi_s);
    x->kept = x->goodput.goodput * (1 - own->straggler_loss) * (1 - own->planned_per_s * own->planned_stop_s);
    x->step_s = time_s / x->kept;
    double usd_step = x->usd_npu_h * n_npus * x->step_s / HOUR_S;
    x->usd_per_Mtoken = usd_step / x->tokens * 1e6;
    x->usd_run = usd_step * (isnan(own->run_steps) ? own->run_tokens / x->tokens : own->run_steps);
}

/* ---- shares ---- */

const char *const system_level_words[N_SYSTEM_LEVELS + 1] = { "by term", "by item", "by time", NULL };

int32_t system_shares_max(const struct system *x)
{
    return 5 + x->n_items + 1 + x->n_fails + 4;
}

/* Next of the shares that @p n counts. */
static void add_share(struct system_share *out, int32_t *n, enum system_level level, const char *what,
                      double frac)
{
    if (frac > 0)
        out[(*n)++] = (struct system_share){ level, what, frac };
}

/* What a stop loses, in the mean and to first order: it divides what all of them lose. */
static double mean_stop_s(const struct system *x)
{
    double sum = 0;
    for (int32_t i = 0; i < x->n_tiers; i++) {
        const struct goodput_tier *t = &x->tiers[i];
        if (t->share > 0)
            sum += t->share * (t->c.restart_s + t->c.drain_s + t->settled_s / 2);
    }
    return sum;
}

static void share_time(struct system_share *out, int32_t *n, const struct system *x,
                       const struct own_system *own)
{
    double planned = own->planned_per_s * own->planned_stop_s, slow = (1 - planned) * own->straggler_loss;
    double running = 1 - planned - slow, stalls = 0;
    for (int32_t i = 0; i < x->n_tiers; i++)
        if (x->tiers[i].c.stall_s > 0)
            stalls += x->tiers[i].c.stall_s / x->tiers[i].settled_s;
    double lost = running - x->kept * (1 + stalls), each_s = mean_stop_s(x);
    add_share(out, n, SYSTEM_BY_TIME, "steps that are kept", x->kept);
    add_share(out, n, SYSTEM_BY_TIME, "stalls of checkpoints", x->kept * stalls);
    for (int32_t i = 0; i < x->n_fails; i++)
        add_share(out, n, SYSTEM_BY_TIME, x->fails[i].name,
                  lost * reliability_rate(&x->fails[i], 1) * x->mtbi_s *
                      (1 + (x->fails[i].wait_s - x->wait_s) / each_s));
    add_share(out, n, SYSTEM_BY_TIME, "stragglers", slow);
    add_share(out, n, SYSTEM_BY_TIME, "planned stops", planned);
}

int32_t system_shares(struct system_share *out, const struct system *x, const struct own_system *own)
{
    const struct own_cost *c = &x->cost;
    struct own_terms alone = own->terms;
    int32_t n = 0;
    if (!(x->kept > 0 && isfinite(c->total) && c->total > 0))
        return 0;
    add_share(out, &n, SYSTEM_BY_TERM, "capital", c->capital / c->total);
    add_share(out, &n, SYSTEM_BY_TERM, "building", c->building / c->total);
    add_share(out, &n, SYSTEM_BY_TERM, "energy", c->energy / c->total);
    add_share(out, &n, SYSTEM_BY_TERM, "support", c->support / c->total);
    add_share(out, &n, SYSTEM_BY_TERM, "staff", c->staff / c->total);
    alone.staff_usd_year = 0;
    for (int32_t i = 0; i < x->n_items; i++) {
        struct own_cost item;
        own_sum(&item, &x->items[i], 1, &alone);
        add_share(out, &n, SYSTEM_BY_ITEM, x->items[i].name, item.total / c->total);
    }
    add_share(out, &n, SYSTEM_BY_ITEM, "staff", c->staff / c->total);
    share_time(out, &n, x, own);
    return n;
}

/* ---- everything of one design ---- */

/* Nothing is known of what cannot be built. */
static void leave_blank(struct system *x, const char *why)
{
    *x = (struct system){ .items = x->items,
                          .fails = x->fails,
                          .cost = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN },
                          .usd_npu_h = NAN,
                          .racks = NAN,
                          .racks_network = NAN,
                          .spares_enough = NAN,
                          .spares_needed = -1,
                          .mtbi_s = NAN,
                          .mtbi_low_s = NAN,
                          .mtbi_high_s = NAN,
                          .goodput = { NAN, NAN, NAN, NAN, NAN },
                          .kept = NAN,
                          .step_s = NAN,
                          .tokens = NAN,
                          .usd_per_Mtoken = NAN,
                          .usd_run = NAN };
    omit(x, "everything: the network cannot be built: %s", why);
}

/* A network with prices whose parts cannot be had has no sum. */
static int add_bill(struct system *x, const struct design_point *s, struct system_of d, struct err *e)
{
    struct err why = { 0 };
    if (!s->has_parts) {
        omit(x, "the network (no parts)");
        x->lacks_network = x->lacks_failures = x->lacks_watts = true;
        return 0;
    }
    if (!d.bill && topo_build_bill(&x->bill, &s->net, &s->parts, d.bw_Bps, &why)) {
        if (why.code == ERR_NOMEM)
            return err_set(e, ERR_NOMEM, "%s", why.msg);
        leave_blank(x, why.msg);
        return 0;
    }
    add_network(x, s, d.bill ? d.bill : &x->bill);
    return 0;
}

static int reserve(struct system *x, const struct design_point *s, struct err *e)
{
    size_t lines = (size_t)(s->net.n_dims * TOPO_MAX_ITEMS) + 1;
    x->items = calloc(N_FIXED_ITEMS + lines, sizeof *x->items);
    x->fails = calloc(N_FIXED_FAILS + lines, sizeof *x->fails);
    return x->items && x->fails ? 0 : err_nomem(e, "a system");
}

int system_build(struct system *out, const struct design_point *s, struct system_of d, struct err *e)
{
    struct own_cost bare;
    *out = (struct system){ .tokens = tokens_of(s) };
    int rc = reserve(out, s, e);
    if (!rc) {
        add_npus(out, s);
        add_spares(out, s);
        add_extras(out, s, false);
        rc = add_bill(out, s, d, e);
    }
    if (rc) {
        system_free(out);
        return rc;
    }
    if (isnan(out->racks))
        return 0;
    if (s->net.n_npus < BY_PARTS)
        omit(out, "stops by users and their software, most of all below 4,096 NPUs");
    own_sum(&bare, out->items, out->n_items, &s->system.terms);
    settle_racks(out, s, bare.watt_peak);
    out->racks = ceil(out->racks);
    out->racks_network = ceil(out->racks_network * (1 - 1e-12));
    add_extras(out, s, true);
    settle_spares(out, s);
    settle_checkpoint(out, s, d.bw_Bps);
    system_sum(out, s, &s->system, d.time_s);
    out->less_bw = less_bandwidth(out, s->system.repair_s);
    omit_contention(out, &s->system.checkpoint);
    if (out->goodput.interval_s < out->checkpoint.drain_s)
        omit(out, "a checkpoint is not whole before the next is taken; raise checkpoint.interval_s to %.4g",
             out->checkpoint.drain_s);
    omit_order(out);
    omit_lost(out);
    return 0;
}

int system_build_job(struct system *out, const struct design_point *s, struct training *model, int64_t npus,
                     struct system_of d, struct err *e)
{
    struct design_workload work = { .weight = 1, .training = model };
    struct design_point whole = *s, part;
    struct own_cost cost;
    if (!model && isnan(s->system.checkpoint.size_B))
        return yaml_fail_key(&s->doc, s->maps.system, e, ERR_RANGE,
                             "saves checkpoints of a workload without a model; give checkpoint.size_GB");
    whole.workloads = &work;
    whole.n_workloads = 1;
    int rc = system_build(out, &whole, d, e);
    if (rc || isnan(out->racks) || npus == s->net.n_npus)
        return rc;
    part = whole;
    part.net.n_npus = npus;
    for (int32_t i = 0; i < out->n_fails; i++)
        out->fails[i].n *= (double)npus / (double)s->net.n_npus;
    settle_checkpoint(out, &part, d.bw_Bps);
    cost = out->cost;
    system_sum(out, &part, &s->system, d.time_s);
    out->cost = cost;
    return 0;
}

void system_free(struct system *x)
{
    topo_bill_free(&x->bill);
    free(x->items);
    free(x->fails);
    *x = (struct system){ 0 };
}

/* ---- as the split sees it ---- */

/* All items but the network. */
static void add_fixed(struct system *x, const struct design_point *s)
{
    struct own_cost bare;
    add_npus(x, s);
    add_spares(x, s);
    add_extras(x, s, false);
    own_sum(&bare, x->items, x->n_items, &s->system.terms);
    settle_racks(x, s, bare.watt_peak);
    add_extras(x, s, true);
}

/* A year of the items that are there, with the racks that they fill: own_sum() is linear but for the staff.
 */
static struct own_cost sum_alone(struct system *x, const struct design_point *s)
{
    struct own_terms alone = s->system.terms;
    struct own_cost sum;
    alone.staff_usd_year = 0;
    own_sum(&sum, x->items, x->n_items, &alone);
    x->racks = 0; /* of the network's power alone */
    x->racks_network = sum.watt_peak / s->system.rack_W;
    add_extras(x, s, true);
    own_sum(&sum, x->items, x->n_items, &alone);
    return sum;
}

/* The best that tiers can leave: every interval the best, the least that checkpoints and restarts take, and
 * failures of NPUs and servers alone. */
static void settle_best(struct design_machine *out, struct system *x, const struct design_point *s)
{
    const struct own_system *own = &s->system;
    settle_spares(x, s);
    settle_checkpoint(x, s, NULL);
    settle_tiers(x, &own->checkpoint, NAN);
    for (int32_t i = 0; i < x->n_tiers; i++) {
        out->tiers[i] = x->tiers[i];
        out->tiers[i].interval_s = NAN;
    }
    out->n_tiers = x->n_tiers;
    out->stops_per_s = reliability_rate(x->fails, x->n_fails);
    out->running = (1 - own->straggler_loss) * (1 - own->planned_per_s * own->planned_stop_s);
}

/* Share of time that is work kept, at best, when the network adds so many interruptions a second. */
static double best_kept(const struct design_machine *own, double stops_per_s)
{
    struct goodput g;
    struct goodput_tier tiers[OWN_MAX_TIERS + 1];
    memcpy(tiers, own->tiers, sizeof tiers);
    goodput_of_tiers(&g, tiers, own->n_tiers, 1 / (own->stops_per_s + fmax(stops_per_s, 0)));
    return g.goodput * own->running;
}

/* What of the whole machine no bandwidth changes: into s->own. */
static int settle_own(struct design_point *s, struct err *e)
{
    const struct own_system *own = &s->system;
    struct system x = { 0 };
    struct own_cost sum;
    s->own = (struct design_machine){ .watt = (double)s->net.n_npus * s->net.npu.power_W,
                                      .watt_per_watt = 1,
                                      .usd_year = NAN };
    if (!s->has_system || s->n_workloads == 0)
        return 0;
    int rc = reserve(&x, s, e);
    if (rc) {
        system_free(&x);
        return rc;
    }
    add_fixed(&x, s);
    own_sum(&sum, x.items, x.n_items, &own->terms);
    s->own.watt = sum.watt_peak;
    s->own.usd_year = sum.total;
    s->own.first = system_dims_inside(s);
    for (int32_t i = 0; i < own->n_extras; i++)
        s->own.by_rack = s->own.by_rack || own->extras[i].per == OWN_PER_RACK;
    settle_best(&s->own, &x, s);
    s->own.kept = best_kept(&s->own, 0);
    s->own.usd_per_Mtoken = 1e6 / (YEAR_H * HOUR_S * own->terms.sold * tokens_of(s) * s->own.kept);
    x.n_items = x.n_fails = 0;
    add_item(&x, system_network_item("network", 1, 0, 1, own));
    sum = sum_alone(&x, s);
    s->own.watt_per_watt = sum.watt_peak;
    s->own.usd_year_per_W = sum.total;
    x.n_items = x.n_fails = 0;
    add_item(&x, system_network_item("network", 1, 1, 0, own));
    s->own.usd_year_per_usd = sum_alone(&x, s).total;
    /* own_sum() is linear in prices, and no bandwidth changes those of a graph's nodes. */
    s->own.usd_year += s->own.usd_year_per_usd * design_point_nodes_usd(s);
    system_free(&x);
    return 0;
}

bool system_adds(const struct design_point *s, int32_t d)
{
    return !s->has_system || (d >= s->own.first && !s->prices[d].in_server);
}

/* What goodput at its best loses when parts of the network interrupt the job so often, as a factor of what
 * tokens cost. At least 1, INFINITY where nothing is kept. */
static double system_growth(const void *study, double stops_per_s)
{
    const struct design_machine *own = &((const struct design_point *)study)->own;
    double kept = best_kept(own, stops_per_s);
    return kept > 0 ? own->kept / kept : (double)INFINITY;
}

/* The objective of a design with whole parts: power times time [J], or USD per million tokens. NaN: no
 * memory. */
static double system_objective(const void *study, const double *bw_Bps, double time_s)
{
    const struct design_point *s = study;
    struct system x;
    struct err ignored;
    if (system_build(&x, s, (struct system_of){ .bw_Bps = bw_Bps, .time_s = time_s }, &ignored))
        return NAN;
    double value = alloc_objectives[s->objective].factor == ALLOC_OWN_WATT ? x.cost.watt_peak * time_s
                                                                           : x.usd_per_Mtoken;
    system_free(&x);
    return value;
}

void system_ask_factor(struct alloc_problem *p, const struct design_point *s)
{
    const struct design_machine *own = &s->own;
    if (!alloc_has_factor(s->objective))
        return;
    p->factor = alloc_objectives[s->objective].factor;
    bool owning = p->factor == ALLOC_OWN_USD;
    p->factor_unit = owning ? own->usd_per_Mtoken : 1;
    p->factor_fixed = p->factor_unit * (owning ? own->usd_year : own->watt);
    for (int32_t k = 0; k < s->net.n_dims; k++) {
        const struct topo_dim_price *price = &s->prices[k];
        if (!system_adds(s, k))
            continue;
        p->factor_per_Bps[k] = p->factor_unit * (owning ? own->usd_year_per_usd * price->usd_per_Bps +
                                                              own->usd_year_per_W * price->watt_per_Bps
                                                        : own->watt_per_watt * price->watt_per_Bps);
    }
    p->growth = owning ? system_growth : NULL;
    p->exact = s->has_system ? system_objective : NULL;
    p->about = s;
}

/* Do objective or constraints speak of the whole machine? */
static bool asks_own(const struct design_point *s)
{
    bool asks = alloc_has_factor(s->objective);
    for (int32_t i = 0; i < s->rows.n; i++)
        asks = asks || s->rows.rows[i].spent_coef[ALLOC_OWN_WATT] != 0 ||
               s->rows.rows[i].spent_coef[ALLOC_OWN_USD] != 0;
    return asks;
}

/* The lines of the bill of these dimensions, as system_build() owns them. */
static int spend_owned(double *spent, const struct design_point *s, int32_t first, int32_t n,
                       const double *bw_Bps, struct err *e)
{
    struct system x = { 0 };
    struct own_cost sum;
    double only_Bps[TOPO_MAX_DIMS] = { 0 };
    for (int32_t d = first; d < first + n; d++)
        only_Bps[d] = system_adds(s, d) ? bw_Bps[d] : 0;
    int rc = reserve(&x, s, e);
    if (!rc)
        rc = topo_build_bill(&x.bill, &s->net, &s->parts, only_Bps, e);
    for (int32_t i = 0; !rc && i < x.bill.n_lines; i++)
        add_bill_line(&x, s, &x.bill.lines[i]);
    if (!rc) {
        sum = sum_alone(&x, s);
        spent[ALLOC_OWN_WATT] = sum.watt_peak;
        spent[ALLOC_OWN_USD] = sum.total;
        spent[ALLOC_STOPS] = reliability_rate(x.fails, x.n_fails);
    }
    system_free(&x);
    return rc;
}

int system_spend(double *spent, const struct design_point *s, int32_t first, int32_t n, const double *bw_Bps,
                 struct err *e)
{
    struct topo_spent bought = { 0 };
    for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
        spent[j] = 0;
    int rc = topo_spend(&bought, &s->net, &s->parts, first, n, bw_Bps, e);
    spent[ALLOC_USD] = bought.usd;
    spent[ALLOC_NIC_USD] = bought.nic_usd;
    spent[ALLOC_WATT] = bought.watt;
    if (rc || !asks_own(s))
        return rc;
    if (s->has_system)
        return spend_owned(spent, s, first, n, bw_Bps, e);
    spent[ALLOC_OWN_WATT] = bought.watt;
    return 0;
}

int32_t system_broken_row(const struct design_point *s, const double *bw_Bps, double rel)
{
    double spent[N_ALLOC_SPENT];
    struct err ignored = { 0 };
    bool whole = s->pricing == DESIGN_WHOLE;
    if (whole && system_spend(spent, s, 0, s->net.n_dims, bw_Bps, &ignored))
        for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
            spent[j] = INFINITY;
    for (int32_t i = 0; i < s->rows.n; i++)
        if (!(fabs(alloc_outside_spent(&s->rows.rows[i], bw_Bps, whole ? spent : NULL, s->net.n_dims)) <=
              rel))
            return i;
    return -1;
}

const char *system_proof_of(const struct design_point *s)
{
    bool owning = alloc_objectives[s->objective].factor == ALLOC_OWN_USD;
    if (!alloc_has_factor(s->objective) || s->split == DESIGN_GIVEN || s->pricing == DESIGN_WHOLE ||
        !(owning || s->own.by_rack))
        return NULL;
    return !owning          ? "items by the rack counted by fractions of racks"
           : s->own.by_rack ? "goodput at its best, with a network that never fails, and fractions of racks"
                            : "goodput at its best, with a network that never fails";
}

/* ---- from the document ---- */

/* Share of an NPU's price that the rest of a server has; docs/ownership.md, table "Defaults". */
#define SERVER_USD_SHARE 0.24

/* Defaults that are other keys' values: without them there is no sum. */
static int settle_system(struct design_point *s, struct err *e)
{
    struct own_system *x = &s->system;
    if (yaml_get(&s->doc, s->maps.system, "npu_usd") < 0 && !isnan(s->net.npu.usd)) {
        x->npu_usd = s->net.npu.usd;
        x->npu_spread = (struct own_spread){ 0 };
    }
    x->npu_watt = isnan(x->npu_watt) ? s->net.npu.power_W : x->npu_watt;
    if (isnan(x->npu_usd) || isnan(x->npu_watt))
        return yaml_fail_key(&s->doc, s->maps.system, e, ERR_RANGE, "counts NPUs; give %s, or network.npu.%s",
                             isnan(x->npu_usd) ? "npu_usd" : "npu_watt", isnan(x->npu_usd) ? "usd" : "watt");
    x->server_usd = isnan(x->server_usd) ? SERVER_USD_SHARE * x->npu_usd : x->server_usd;
    return 0;
}

/* That of the study, else the one that its NPU usually has; -1: none. */
static yaml_id find_server(const struct design_point *s)
{
    yaml_id own = yaml_get(&s->doc, s->maps.system, "server");
    return own >= 0 ? own : yaml_get(&s->doc, yaml_get(&s->doc, s->maps.network, "npu"), "server");
}

/* The product that dimension 0 is built as, and the NPUs that one joins. NULL: none. */
static const struct topo_part *product_of(const struct design_point *s)
{
    const struct topo_recipe *r = s->has_parts && topo_is_catalogue(&s->parts)
                                      ? topo_find_recipe(&s->parts, s->net.dims[0].tier)
                                      : NULL;
    return r && r->product >= 0 ? &s->parts.parts[r->product] : NULL;
}

__attribute__((format(printf, 3, 4))) static void note_server(struct design_point *s, yaml_id at,
                                                              const char *fmt, ...)
{
    char place[400], path[256], text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_printf(&s->notes, "%s: %s %s\n", yaml_key_place(&s->doc, at, place, sizeof place),
                yaml_path(&s->doc, at, path, sizeof path), text);
}

/* Servers, fabrics and counts that are not of one product. */
static void note_mixture(struct design_point *s)
{
    const struct own_system *x = &s->system;
    const struct own_server *server = &s->server;
    const struct topo_part *product = product_of(s);
    yaml_id nodes = yaml_get(&s->doc, s->maps.system, "npus_per_node");
    int64_t joined = product ? product->ports : -1;
    if (server->name && x->npus_per_node != server->npus_per_node)
        note_server(s, nodes, "is %lld, and %s has servers of %lld", (long long)x->npus_per_node,
                    server->name, (long long)server->npus_per_node);
    if (server->name && joined > 0 && server->npus_per_domain > 0 && joined != server->npus_per_domain)
        note_server(s, s->maps.system, "has servers %s, whose fabric joins %lld NPUs, and %s joins %lld",
                    server->name, (long long)server->npus_per_domain, product->name, (long long)joined);
    if (!server->name && nodes < 0 && joined > x->npus_per_node)
        note_server(s, s->maps.system,
                    "has nodes of %lld by default, and %s joins %lld NPUs; give system.server",
                    (long long)x->npus_per_node, product->name, (long long)joined);
    double rack_kW = (double)x->npus_per_rack * (x->npu_watt + x->server_watt) / 1e3;
    if (server->name && rack_kW > server->rack_kW.high)
        note_server(s, s->maps.system, "makes a rack of %lld NPUs take %.4g kW, more than the %g of %s",
                    (long long)x->npus_per_rack, rack_kW, server->rack_kW.high, server->name);
}

/* Spares of a domain are whole servers of it; those that it has beyond what is used are told where nobody
 * says what they are for. */
static int check_domain(struct design_point *s, struct err *e)
{
    const struct own_system *x = &s->system;
    yaml_id at = yaml_get(&s->doc, s->maps.system, "spares_per_domain");
    long long used = (long long)npus_in_domain(s), all = s->server.npus_per_domain, spare = x->domain_spares;
    if (at < 0 && used > 1 && used >= x->npus_per_node && used < all && all <= s->server.npus_per_rack)
        note_server(s, s->maps.system,
                    "pays for %lld of the %lld NPUs of each %s; spares_per_domain is for the others", used,
                    all, s->server.name);
    if (at < 0)
        return 0;
    if (all < 1 || used < x->npus_per_node)
        return yaml_fail_key(&s->doc, at, e, ERR_RANGE,
                             "is given without a scale-up domain of whole servers; "
                             "give system.server, and dimensions that fill one");
    if (spare % x->npus_per_node || used + spare > all)
        return yaml_fail_key(
            &s->doc, at, e, ERR_RANGE,
            "is %lld, expected whole servers of %lld, at most %lld: the job uses %lld of %lld", spare,
            (long long)x->npus_per_node, all - used, used, all);
    return 0;
}

/* Defaults from the product and from whom the study names; a product that holds other NPUs is a mistake. */
static int use_server(struct design_point *s, struct err *e)
{
    yaml_id id = find_server(s), name = yaml_get(&s->doc, yaml_get(&s->doc, s->maps.network, "npu"), "name");
    yaml_id like = yaml_get(&s->doc, s->maps.system, "like");
    int rc = id < 0 ? 0 : own_read_server(&s->server, &s->doc, id, e);
    if (!rc && like >= 0)
        rc = own_read_like(&s->like, &s->doc, like, e);
    if (rc)
        return rc;
    if (id >= 0 && name >= 0 && !own_holds(&s->server, s->doc.nodes[name].text))
        return yaml_fail_key(&s->doc, id, e, ERR_RANGE, "is %s, which does not hold %s", s->server.name,
                             s->doc.nodes[name].text);
    return own_use_figures(&s->system, &s->server, &s->like, &s->doc, s->maps.system, e);
}

/* Checkpoints that pass a dimension, or that replicas write or read by themselves. */
static int check_saving(const struct design_point *s, bool model, struct err *e)
{
    const struct own_checkpoint *own = &s->system.checkpoint;
    yaml_id map = yaml_get(&s->doc, s->maps.system, "checkpoint");
    if (own->over && topo_find_dim(&s->net, own->over) < 0)
        return yaml_fail_key(&s->doc, yaml_get(&s->doc, map, "over"), e, ERR_RANGE,
                             "is \"%s\", expected a dimension of the network", own->over);
    if (!model && (!own->sharded || own->read == OWN_READ_EACH))
        return yaml_fail_key(&s->doc, yaml_get(&s->doc, map, own->sharded ? "read" : "sharded"), e, ERR_RANGE,
                             "asks for replicas, which only a workload with a model has");
    return 0;
}

int system_read(struct design_point *s, struct err *e)
{
    bool model = s->n_workloads == 0;
    if (s->maps.system < 0)
        return settle_own(s, e);
    int rc = own_read(&s->system, &s->doc, s->maps.system, e);
    if (!rc)
        rc = use_server(s, e);
    if (!rc)
        rc = settle_system(s, e);
    if (!rc)
        note_mixture(s);
    if (!rc)
        rc = check_domain(s, e);
    for (int32_t i = 0; i < s->n_workloads; i++)
        model = model || s->workloads[i].training;
    if (!rc && !model && isnan(s->system.checkpoint.size_B))
        rc = yaml_fail_key(&s->doc, s->maps.system, e, ERR_RANGE,
                           "saves checkpoints of a workload without a model; give checkpoint.size_GB");
    if (!rc)
        rc = check_saving(s, model, e);
    s->has_system = !rc;
    return rc ? rc : settle_own(s, e);
}

/* ---- as a row ---- */

const struct column system_columns[] = { SYSTEM_COLUMNS(struct system_row, ), COLUMNS_END };

const struct column *system_quantity(int32_t i)
{
    const struct column *c = system_columns;
    while (c->name && (c->kind != TABLE_REAL || i-- > 0))
        c++;
    return c->name ? c : NULL;
}

int system_row_fill(struct system_row *out, const struct design_point *s, struct system_of d, struct err *e)
{
    struct system x;
    row_clear(out, system_columns);
    if (!s->has_system)
        return 0;
    int rc = system_build(&x, s, d, e);
    if (rc)
        return rc;
    memcpy(out->text, x.omits, sizeof out->text);
    out->system_omits = out->text[0] ? out->text : NULL;
    out->usd_year = x.cost.total;
    out->usd_npu_h = x.usd_npu_h;
    out->usd_per_Mtoken = x.usd_per_Mtoken;
    out->usd_run = x.usd_run;
    out->watt_peak = x.cost.watt_peak;
    out->watt_mean = x.cost.watt_mean;
    out->watt_site = x.cost.watt_peak * s->system.terms.pue;
    out->racks = x.racks;
    out->racks_network = x.racks_network;
    out->goodput = x.kept;
    out->mtbi_h = x.mtbi_s / HOUR_S;
    out->checkpoint_s = isfinite(x.goodput.interval_s) ? x.goodput.interval_s : NAN;
    system_free(&x);
    return 0;
}
