/*
 * Capital, power, building and people of a machine, in USD a year; keys of map `system` with their defaults.
 *
 * Each default is a key, and its source, date and grade stand in docs/ownership.md, table "Defaults". The sum
 * is linear in counts, prices and watts, so that what one part adds is what it costs.
 */
#include "topo/ownership.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "topo/uses.h"

#define HOUR_S     3600.0
#define YEAR_H     8760.0
#define KWH_J      3.6e6
#define MAX_USD    1e12
#define MAX_WATT   1e12
#define MAX_LIFE_Y 100
#define MAX_MTBF_H 1e12
#define MONTH_S    (365.25 / 12 * 86400)

/* ---- the sum ---- */

double own_crf(double rate, double life_y)
{
    return rate > 0 ? rate / -expm1(-life_y * log1p(rate)) : 1 / life_y;
}

/* Of one USD of its price, a year. */
static double own_capital_share(const struct own_item *item, const struct own_terms *terms)
{
    double left = item->residual * exp(-item->life_y * log1p(terms->capital_rate));
    return (1 - left) * own_crf(terms->capital_rate, item->life_y);
}

double own_item_capital(const struct own_item *item, const struct own_terms *terms)
{
    return item->count * item->usd * own_capital_share(item, terms);
}

void own_sum(struct own_cost *out, const struct own_item *items, int32_t n, const struct own_terms *terms)
{
    double down = 0, up = 0;
    *out = (struct own_cost){ .staff = terms->staff_usd_year };
    for (int32_t i = 0; i < n; i++) {
        const struct own_item *item = &items[i];
        double watt = isnan(item->watt) ? 0 : item->watt, idle = isnan(item->watt) ? 0 : item->idle_watt;
        out->price += item->count * item->usd;
        out->capital += own_item_capital(item, terms);
        double a_year = item->count * (own_capital_share(item, terms) + terms->support);
        down += item->usd_down * a_year;
        up += item->usd_up * a_year;
        out->watt_peak += item->count * watt;
        out->watt_mean += item->count * (idle + terms->load * (watt - idle));
    }
    out->support = terms->support * out->price;
    out->energy = out->watt_mean * terms->pue * YEAR_H * HOUR_S * terms->energy_usd_J;
    out->building = isnan(terms->rent_usd_W_month) ? out->watt_peak * terms->building_usd_W *
                                                         own_crf(terms->capital_rate, terms->building_life_y)
                                                   : out->watt_peak * 12 * terms->rent_usd_W_month;
    out->total = out->capital + out->building + out->energy + out->support + out->staff;
    out->low = out->total - down;
    out->high = out->total + up;
}

double own_usd_npu_h(const struct own_cost *c, double n_npus, const struct own_terms *terms)
{
    return c->total / (YEAR_H * n_npus * terms->sold);
}

/* ---- map `system` ---- */

static const char *const per_words[] = { "npu", "node", "rack", "system", NULL };

static const struct key extra_keys[] = {
    K_TEXT(struct own_extra, name, "name", "what reports call it", .required = true),
    K_WORD(struct own_extra, per, "per", per_words, OWN_PER_SYSTEM, "what the items are counted per"),
    K_REAL(struct own_extra, count, "count", "", 1, 0, 1e9, 1, "number of these items per each of those"),
    K_REAL(struct own_extra, usd, "usd", "USD", 1, 0, MAX_USD, 0, "price of one"),
    K_REAL_OR(struct own_extra, life_y, "life_years", "years", 1, 0.1, MAX_LIFE_Y, NAN,
              "years that the item is used (default: system.life_years)"),
    K_REAL_OR(struct own_extra, residual, "residual", "", 1, 0, 1, NAN,
              "value at the end of its life, as a share of its price (default: system.residual)"),
    K_REAL(struct own_extra, watt, "watt", "W", 1, 0, MAX_WATT, 0, "power of one, by its data sheet"),
    K_REAL(struct own_extra, idle, "idle", "", 1, 0, 1, 1, "power at rest, as a share of watt"),
    K_REAL_OR(struct own_extra, mtbf_s, "mtbf_h", "h", HOUR_S, 1e-3, MAX_MTBF_H, NAN,
              "mean time between failures of one, each of which stops the job (default: never)"),
    K_REAL_OR(
        struct own_extra, takes, "takes_npus", "", 1, 0, 1e9, NAN,
        "NPUs that one failure takes from the job: 72 for an NVLink switch tray of a rack of 72 (default: "
        "those of a node)"),
    K_REAL_OR(struct own_extra, mtbf_low_s, "mtbf_low_h", "h", HOUR_S, 1e-3, MAX_MTBF_H, NAN,
              "lowest that mtbf_h may be (default: it is sure)"),
    K_REAL_OR(struct own_extra, mtbf_high_s, "mtbf_high_h", "h", HOUR_S, 1e-3, MAX_MTBF_H, NAN,
              "highest that it may be"),
    K_WORD_OR(struct own_extra, grade, "grade", topo_grade_names, N_GRADES,
              "how sure mtbf_h is; R, recalled, is said wherever it is used"),
    K_REMARK("source", "where the figures come from"),
};

static int check_extra(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const of_mtbf[] = { "takes_npus", "mtbf_low_h", "mtbf_high_h", "grade", NULL };
    const struct own_extra *own = base;
    yaml_id mtbf = yaml_get(doc, map, "mtbf_h");
    yaml_id alone = mtbf < 0 ? yaml_get_any(doc, map, of_mtbf) : -1;
    if (alone >= 0)
        return yaml_fail_key(doc, alone, e, ERR_PARSE, "is given without mtbf_h; give both");
    return own->mtbf_low_s > own->mtbf_s || own->mtbf_high_s < own->mtbf_s
               ? yaml_fail(doc, mtbf, e, ERR_RANGE, "is %g, expected mtbf_low_h to mtbf_high_h, %g to %g",
                           own->mtbf_s / HOUR_S, own->mtbf_low_s / HOUR_S, own->mtbf_high_s / HOUR_S)
               : 0;
}

K_SECTION(own_extra_section, struct own_extra, "system.items[]", extra_keys,
          "what is owned besides NPUs, servers and the network of the study: storage, racks, a front-end "
          "network",
          STUDY_USES, .check = check_extra);

#define MTBF(field, key, usual, text)                                                                        \
    K_REAL(struct own_mtbf, field, key, "h", HOUR_S, 1e-3, MAX_MTBF_H, usual, text)

static const struct key mtbf_keys[] = {
    MTBF(npu_s, "npu_h", 79000, "mean time between failures of an NPU with its memory"),
    MTBF(node_s, "node_h", 24350,
         "mean time between failures of the rest of a node: host, software, power supply, disks"),
    MTBF(nic_s, "nic_h", 3.0e6, "mean time between failures of a NIC"),
    MTBF(link_s, "link_h", 1.3e6, "mean time between failures of an optical link, both ends included"),
    MTBF(switch_s, "switch_h", 1.4e6, "mean time between failures of a switch"),
};

K_SECTION(
    own_mtbf_section, struct own_mtbf, "system.mtbf", mtbf_keys,
    "mean time between failures of one part of a kind; each stops the job unless system.tolerates has it",
    STUDY_USES);

static const struct key tolerates_keys[] = {
    K_BOOL(struct own_tolerates, planes, "planes", true,
           "failure in one of several planes: a port of an NPU, its link or the leaf behind it"),
    K_BOOL(struct own_tolerates, paths, "paths", true,
           "failure of one of several spines, or of a link between switches"),
    K_BOOL(struct own_tolerates, detours, "detours", false,
           "failure of a link between NPUs, where other links can carry its traffic"),
};

K_SECTION(own_tolerates_section, struct own_tolerates, "system.tolerates", tolerates_keys,
          "what a job runs on without, at less bandwidth; false: its failure stops the job", STUDY_USES);

static const struct key tier_keys[] = {
    K_TEXT(struct own_tier, name, "name", "what reports call it", .required = true),
    K_REAL(struct own_tier, share, "share", "", 1, 0, 1, NAN,
           "share of failures restored from here; the rest are restored from the store", .required = true),
    K_COUNT_OR(struct own_tier, steps, "every_steps", 1, 1e9, -1, "steps between two checkpoints"),
    K_REAL_OR(struct own_tier, interval_s, "interval_s", "s", 1, 1e-3, 1e9, NAN,
              "instead: work between two checkpoints (default: the best for its share of failures)"),
    K_REAL(struct own_tier, stall_s, "stall_s", "s", 1, 0, 1e9, 0,
           "time that a checkpoint takes from the step"),
    K_REAL(struct own_tier, restart_s, "restart_s", "s", 1, 0, 1e9, NAN,
           "time from a failure that is restored from here to the first new step", .required = true),
};

static const char *const reading_words[] = { "once", "each", NULL };

static const struct key checkpoint_keys[] = {
    K_REAL_OR(struct own_checkpoint, size_B, "size_GB", "GB", 1e9, 0, 1e12, NAN,
              "size of one checkpoint of the whole job (default: bytes_per_param of the model's parameters)"),
    K_REAL(struct own_checkpoint, bytes_per_param, "bytes_per_param", "B", 1, 1, 64, 14,
           "bytes of a checkpoint per parameter: 14 = bf16 weight, fp32 weight and two moments"),
    K_TEXT(
        struct own_checkpoint, over, "over",
        "dimension of the network that checkpoints pass, at the bandwidth of all NPUs of a node (default: a "
        "network of their own, at node_GBps)"),
    K_REAL(struct own_checkpoint, node_Bps, "node_GBps", "GB/s", 1e9, 1e-3, 1e6, 25,
           "rate at which one node writes to the store and reads from it"),
    K_REAL(struct own_checkpoint, store_Bps, "store_GBps", "GB/s", 1e9, 1e-3, 1e9, 100,
           "rate at which the store serves all nodes, writing or reading"),
    K_BOOL(struct own_checkpoint, sharded, "sharded", true,
           "true: the replicas of data parallelism write parts of one copy; false: each writes its own"),
    K_WORD(
        struct own_checkpoint, read, "read", reading_words, OWN_READ_ONCE,
        "after a failure; once: all nodes read a part and exchange it over the network; each: every replica "
        "reads the whole"),
    K_BOOL(struct own_checkpoint, async, "async", true,
           "true: the step waits stall_s, and the checkpoint is written beside the steps; false: the step "
           "waits until it is written"),
    K_REAL_OR(
        struct own_checkpoint, stall_s, "stall_s", "s", 1, 0, 1e9, NAN,
        "time that a checkpoint takes from the step (default: 1 s, or what writing takes where not async)"),
    K_REAL_OR(struct own_checkpoint, interval_s, "interval_s", "s", 1, 1e-3, 1e9, NAN,
              "work between two checkpoints (default: the best for the failures there are)"),
    K_REAL(struct own_checkpoint, restart_s, "restart_s", "s", 1, 0, 1e9, 600,
           "time from a failure to the first new step: detect, replace, start, warm up; reading the "
           "checkpoint is added"),
    K_LIST(struct own_checkpoint, tiers, n_tiers, "tiers", 0, &own_tier_section,
           "places nearer than the store, see system.checkpoint.tiers[]; shortest interval first",
           .what = "tiers"),
};

/* Of two ways to say the same one alone. */
static int refuse_both(const struct yaml_doc *doc, yaml_id map, const char *key, const char *other,
                       struct err *e)
{
    yaml_id id = yaml_get(doc, map, key);
    if (id < 0 || yaml_get(doc, map, other) < 0)
        return 0;
    return yaml_fail_key(doc, id, e, ERR_PARSE, "is given together with %s; give one of them", other);
}

static int check_tier(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    (void)base;
    return refuse_both(doc, map, "every_steps", "interval_s", e);
}

K_SECTION(own_tier_section, struct own_tier, "system.checkpoint.tiers[]", tier_keys,
          "a place nearer than the store that checkpoints go to, such as the memory of a peer", STUDY_USES,
          .check = check_tier);

static int check_checkpoint(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct own_checkpoint *own = base;
    double shares = 0;
    for (int32_t i = 0; i < own->n_tiers; i++)
        shares += own->tiers[i].share;
    if (shares > 1 + 1e-9)
        return yaml_fail_key(doc, yaml_get(doc, map, "tiers"), e, ERR_RANGE,
                             "restore %g of all failures, expected at most 1", shares);
    int rc = refuse_both(doc, map, "node_GBps", "over", e);
    return rc ? rc : refuse_both(doc, map, "bytes_per_param", "size_GB", e);
}

K_SECTION(own_checkpoint_section, struct own_checkpoint, "system.checkpoint", checkpoint_keys,
          "how a job saves and resumes", STUDY_USES, .check = check_checkpoint);

#define TERM(field, key, in, to_SI, least, most, usual, text)                                                \
    K_REAL(struct own_system, terms.field, key, in, to_SI, least, most, usual, text)

static const struct key system_keys[] = {
    K_REMARK("source", "where the figures come from"),
    K_ELSEWHERE("server",
                "the product that holds the NPUs: defaults of prices, power and counts, see server (default: "
                "network.npu.server)",
                .form = "file or <server>"),
    K_ELSEWHERE("like",
                "operator whose published numbers fill in what this map leaves out: failures, stops, terms; "
                "see like (default: those of keys, and the server's)",
                .form = "file or <like>"),
    K_REAL_OR(struct own_system, npu_usd, "npu_usd", "USD", 1, 0, MAX_USD, NAN,
              "price of one NPU (default: network.npu.usd, else the server's)"),
    K_REAL_OR(struct own_system, npu_watt, "npu_watt", "W", 1, 0, MAX_WATT, NAN,
              "power of one NPU (default: network.npu.power_W, else its watt)"),
    K_REAL_OR(struct own_system, server_usd, "server_usd", "USD", 1, 0, MAX_USD, NAN,
              "price of the rest of a server, without NICs, per NPU (default: 0.24 npu_usd)"),
    K_REAL(struct own_system, server_watt, "server_watt", "W", 1, 0, MAX_WATT, 550,
           "power of the rest of a server, per NPU; server may set another default, for the keys below too"),
    K_COUNT(struct own_system, npus_per_node, "npus_per_node", 1, 65536, 8, "NPUs of one server"),
    K_COUNT_OR(struct own_system, spare_nodes, "spare_nodes", 0, 1e9, -1,
               "spare servers; when all are under repair, the job waits for one (default: as many as needed, "
               "not paid for)"),
    K_COUNT_OR(struct own_system, domain_spares, "spares_per_domain", 0, 65536, -1,
               "instead: spare NPUs in each scale-up domain of the server, 8 where a job uses 64 of a rack "
               "of 72; when they run out, the job waits for a repair"),
    K_REAL(struct own_system, repair_s, "repair_h", "h", HOUR_S, 0, 1e6, 4,
           "time to repair what failed: a server, or a part that the job can run without"),
    K_REAL(struct own_system, npu_idle, "npu_idle", "", 1, 0, 1, 0.1,
           "power of an idle NPU, as a share of npu_watt"),
    K_REAL(struct own_system, server_idle, "server_idle", "", 1, 0, 1, 0.5,
           "power of the idle rest of a server, as a share of server_watt"),
    K_REAL(struct own_system, network_idle, "network_idle", "", 1, 0, 1, 0.9,
           "power of the idle network, as a share of its full power"),
    K_REAL(struct own_system, life_y, "life_years", "years", 1, 0.1, MAX_LIFE_Y, 4,
           "years that NPUs and servers are used"),
    K_REAL(struct own_system, network_life_y, "network_life_years", "years", 1, 0.1, MAX_LIFE_Y, 4,
           "years that the network is used"),
    K_REAL(struct own_system, residual, "residual", "", 1, 0, 1, 0,
           "value of NPUs, servers and network at the end of their life, as a share of their price"),
    K_COUNT_OR(struct own_system, npus_per_rack, "npus_per_rack", 1, 65536, -1,
               "NPUs of a full rack (default: the server's, else whole servers that rack_kW feeds, one at "
               "least)"),
    K_REAL(struct own_system, rack_W, "rack_kW", "kW", 1e3, 0.1, 1e5, 40,
           "nameplate power that a rack of switches and items takes, and one of servers without "
           "npus_per_rack"),
    K_LIST(struct own_system, extras, n_extras, "items", 0, &own_extra_section,
           "other equipment that is owned, see system.items", .what = "items"),
    TERM(capital_rate, "capital_rate", "", 1, 0, 1, 0.08,
         "cost of capital a year: annuity; 0: straight line"),
    TERM(support, "support", "", 1, 0, 1, 0.03, "support and repair per year, as a share of all prices"),
    TERM(energy_usd_J, "energy_usd_kWh", "USD/kWh", 1 / KWH_J, 0, 100, 0.08, "price of electricity"),
    TERM(pue, "pue", "", 1, 1, 10, 1.25, "power at the meter over power of the IT equipment"),
    TERM(load, "load", "", 1, 0, 1, 0.75, "mean load over all hours: 0 draws idle power, 1 full power"),
    TERM(building_usd_W, "building_usd_W", "USD/W", 1, 0, 1e4, 12,
         "price of an own building, per W of nameplate IT power"),
    TERM(building_life_y, "building_life_years", "years", 1, 0.1, MAX_LIFE_Y, 15,
         "years that the building is used"),
    K_REAL_OR(struct own_system, terms.rent_usd_W_month, "rent_usd_kW_month", "USD/kW/month", 1e-3, 0, 1e6,
              NAN, "instead: rent of a building, per kW of nameplate IT power (default: own)"),
    TERM(staff_usd_year, "staff_usd_year", "USD", 1, 0, MAX_USD, 0,
         "staff and all other costs per year; no operator publishes them"),
    TERM(sold, "sold", "", 1, 1e-6, 1, 1, "share of hours that are sold or used"),
    K_MAP(struct own_system, mtbf, "mtbf", &own_mtbf_section, "failures, see system.mtbf"),
    K_MAP(struct own_system, tolerates, "tolerates", &own_tolerates_section,
          "failures that do not stop a job, see system.tolerates"),
    K_MAP(struct own_system, checkpoint, "checkpoint", &own_checkpoint_section,
          "how a job saves and resumes, see system.checkpoint"),
    K_REAL(struct own_system, straggler_loss, "straggler_loss", "", 1, 0, 0.99, 0,
           "share of time lost to slow NPUs and uneven work"),
    K_REAL(struct own_system, planned_per_s, "planned_stops_month", "", 1 / MONTH_S, 0, 1e4, 0,
           "stops of the job for maintenance, per month"),
    K_REAL(struct own_system, planned_stop_s, "planned_stop_h", "h", HOUR_S, 0, 1e4, 1,
           "length of one such stop, saving and starting included"),
    K_REAL_OR(struct own_system, step_tokens, "step_tokens", "", 1, 1, 1e15, NAN,
              "tokens per step (default: those of the models)"),
    K_REAL_OR(struct own_system, run_tokens, "run_Gtokens", "Gtoken", 1e9, 1e-9, 1e12, NAN,
              "tokens of a whole training run, for usd_run"),
    K_REAL_OR(struct own_system, run_steps, "run_steps", "", 1, 1, 1e15, NAN,
              "instead: steps of a whole training run"),
};

/* Keys without effect beside others are mistakes. */
static int check_system(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const pairs[][2] = { { "rent_usd_kW_month", "building_usd_W" },
                                            { "rent_usd_kW_month", "building_life_years" },
                                            { "run_steps", "run_Gtokens" },
                                            { "spares_per_domain", "spare_nodes" } };
    const struct own_system *own = base;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int rc = refuse_both(doc, map, pairs[i][0], pairs[i][1], e);
        if (rc)
            return rc;
    }
    yaml_id length = yaml_get(doc, map, "planned_stop_h");
    if (length >= 0 && yaml_get(doc, map, "planned_stops_month") < 0)
        return yaml_fail_key(doc, length, e, ERR_PARSE, "is given without planned_stops_month; give both");
    if (!(own->planned_per_s * own->planned_stop_s < 1))
        return yaml_fail_key(doc, yaml_get(doc, map, "planned_stops_month"), e, ERR_RANGE,
                             "times planned_stop_h is %g of the time, expected less than 1",
                             own->planned_per_s * own->planned_stop_s);
    return 0;
}

K_SECTION(own_system_section, struct own_system, "system", system_keys,
          "the whole machine: what it costs to own, and what fails", STUDY_USES, .check = check_system);

int own_read(struct own_system *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    *s = (struct own_system){ 0 };
    return schema_read(s, &own_system_section, doc, map, e);
}

/* ---- servers ---- */

#define FIGURE(T, f, key, ...) K_REAL_OR(T, f, key, "", 1, 0, MAX_MTBF_H, NAN, __VA_ARGS__, .required = true)
/* Of a struct own_figure at @p at of T: "" or "member.". */
#define FIGURES(T, at)                                                                                       \
    FIGURE(T, at low, "low", "lowest of public sources"),                                                    \
        FIGURE(T, at typ, "typ", "what is taken where the study gives no other"),                            \
        FIGURE(T, at high, "high", "highest of public sources"),                                             \
        K_WORD_OR(T, at grade, "grade", topo_grade_names, GRADE_RECALLED, "how sure typ is",                 \
                  .required = true),                                                                         \
        K_TEXT(T, at source, "source", "where the three come from", .required = true),                       \
        K_TEXT(T, at date, "date", "year, month or day of the source of typ", .required = true)

static const struct key figure_keys[] = { FIGURES(struct own_figure, ) };

static int check_order(const struct own_figure *x, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    return x->low <= x->typ && x->typ <= x->high
               ? 0
               : yaml_fail(doc, yaml_get(doc, map, "typ"), e, ERR_RANGE,
                           "is %g, expected low to high, %g to %g", x->typ, x->low, x->high);
}

static int check_figure(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    return check_order(base, doc, map, e);
}

K_SECTION(own_figure_section, struct own_figure, "server.figure", figure_keys,
          "a number with its range, grade, source and date", STUDY_USES, .check = check_figure);

const char *const own_figure_keys[OWN_N_FIGURES] = { "npu_usd",     "server_usd", "server_watt", "npu_idle",
                                                     "server_idle", "pue",        "mtbf.node_h" };

static const struct key held_key = { .kind = KEY_TEXT, .scale = 1, .dflt = SCHEMA_NONE };
static const char *const cooling_words[] = { "air", "liquid", NULL };

#define SAYS(at, key, text)                                                                                  \
    K_MAP(struct own_server, figures[at], key, &own_figure_section, text ": see server.figure")

static const struct key server_keys[] = {
    K_TEXT(struct own_server, name, "name", "what the product is called", .required = true),
    K_REMARK("source", "where the figures come from"),
    K_LIST_OF(struct own_server, holds, n_holds, "holds", 1, &held_key,
              "NPUs that it holds: how their names begin", .what = "names", .required = true),
    K_COUNT_OR(struct own_server, npus_per_node, "npus_per_node", 1, 65536, -1,
               "NPUs of one server, or of one tray of a rack", .required = true),
    K_COUNT_OR(struct own_server, npus_per_domain, "npus_per_domain", 1, 65536, -1,
               "NPUs that its scale-up fabric joins (default: not said)"),
    K_COUNT_OR(struct own_server, npus_per_rack, "npus_per_rack", 1, 65536, -1,
               "NPUs of a full rack (default: as many as system.rack_kW feeds)"),
    K_WORD(struct own_server, cooling, "cooling", cooling_words, OWN_AIR,
           "what carries most of the heat away"),
    SAYS(0, "npu_usd", "price of one NPU in USD"),
    SAYS(1, "server_usd", "rest of a server without NICs, per NPU, in USD"),
    SAYS(2, "server_watt", "power of that, nameplate, per NPU, in W"),
    SAYS(3, "npu_idle", "power of an NPU at rest over nameplate"),
    SAYS(4, "server_idle", "power of the idle rest of a server, as a share of server_watt"),
    SAYS(5, "pue", "power at the meter over power of IT, as it is cooled"),
    SAYS(6, "node_h", "mean time between failures of the rest of a node, in h"),
    K_MAP(struct own_server, rack_kW, "rack_kW", &own_figure_section,
          "nameplate of a full rack in kW: more than high is a warning; see server.figure"),
    K_LIST(struct own_server, items, n_items, "items", 1, &own_extra_section,
           "parts whose failures take more than a node, see system.items", .what = "items"),
};

K_SECTION(own_server_section, struct own_server, "server", server_keys,
          "a server as it is sold: what a study of its NPUs takes as defaults of `system`", STUDY_USES);

int own_read_server(struct own_server *server, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    *server = (struct own_server){ 0 };
    return schema_read(server, &own_server_section, doc, map, e);
}

bool own_holds(const struct own_server *server, const char *npu)
{
    bool holds = false;
    for (int32_t i = 0; i < server->n_holds; i++) {
        size_t n = strlen(server->holds[i]);
        holds = holds || (strncmp(npu, server->holds[i], n) == 0 && (!npu[n] || strchr(" -,/(", npu[n])));
    }
    return holds;
}

/* The field of a number below `system`, and its key. NULL: there is none. */
static double *own_field(struct own_system *s, const char *path, const struct key **key)
{
    const struct section *section = &own_system_section;
    char *base = (char *)s;
    for (;;) {
        size_t n = strcspn(path, ".");
        const struct key *k = section->keys, *end = k + section->n_keys;
        while (k < end && (strlen(k->name) != n || strncmp(k->name, path, n) != 0))
            k++;
        if (k == end)
            return NULL;
        *key = k;
        base += k->offset;
        if (!path[n])
            return k->kind == KEY_REAL ? (double *)(void *)base : NULL;
        section = k->of;
        path += n + 1;
    }
}

/* Is there a key at a path of at most two below the map? */
static bool is_given(const struct yaml_doc *doc, yaml_id map, const char *path)
{
    char first[64];
    size_t n = strcspn(path, ".");
    snprintf(first, sizeof first, "%.*s", (int)n, path);
    map = yaml_get(doc, map, first);
    return map >= 0 && (!path[n] || yaml_get(doc, map, path + n + 1) >= 0);
}

/* ---- others' numbers ---- */

/* The range of all public sources; NULL: they say nothing of the key. */
static const struct own_range *own_range_of(const char *key)
{
    for (int32_t i = 0; i < own_n_ranges; i++)
        if (strcmp(own_ranges[i].key, key) == 0)
            return &own_ranges[i];
    return NULL;
}

static const struct key known_keys[] = {
    K_TEXT(struct own_known, key, "key", "a number below system: mtbf.node_h", .required = true),
    FIGURES(struct own_known, figure.),
};

static int check_known(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct own_known *x = base;
    const struct key *key = NULL;
    struct own_system any;
    yaml_id at = yaml_get(doc, map, "key");
    if (!own_field(&any, x->key, &key))
        return yaml_fail(doc, at, e, ERR_RANGE,
                         "is \"%.60s\", expected a number of system, such as mtbf.node_h", x->key);
    if (x->figure.low < key->min || x->figure.high > key->max)
        return yaml_fail(doc, at, e, ERR_RANGE, "is %.60s from %g to %g, expected %g to %g", x->key,
                         x->figure.low, x->figure.high, key->min, key->max);
    return check_order(&x->figure, doc, map, e);
}

K_SECTION(own_known_section, struct own_known, "like.figures[]", known_keys,
          "a number with its range, grade, source and date", STUDY_USES, .check = check_known);

static const struct key like_keys[] = {
    K_TEXT(struct own_like, name, "name", "whose numbers these are", .required = true),
    K_REMARK("source", "where the figures come from"),
    K_LIST(struct own_like, list, n, "figures", 1, &own_known_section, "see like.figures[]",
           .what = "figures", .required = true),
};

K_SECTION(own_like_section, struct own_like, "like", like_keys,
          "numbers of an operator, for system.like: they go before the server's", STUDY_USES);

int own_read_like(struct own_like *like, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    *like = (struct own_like){ 0 };
    return schema_read(like, &own_like_section, doc, map, e);
}

const struct own_figure *own_find_figure(const struct own_server *server, const struct own_like *like,
                                         const char *key)
{
    for (int32_t i = 0; i < like->n; i++)
        if (strcmp(like->list[i].key, key) == 0)
            return &like->list[i].figure;
    for (int i = 0; i < OWN_N_FIGURES && server->name; i++)
        if (strcmp(own_figure_keys[i], key) == 0 && !isnan(server->figures[i].typ))
            return &server->figures[i];
    return NULL;
}

static bool use_figure(struct own_system *s, const char *key, const struct own_figure *x,
                       const struct yaml_doc *doc, yaml_id map)
{
    const struct key *of;
    double *field = own_field(s, key, &of);
    if (!field || isnan(x->typ) || is_given(doc, map, key))
        return false;
    *field = x->typ * of->scale;
    struct own_spread *spread = field == &s->npu_usd      ? &s->npu_spread
                                : field == &s->server_usd ? &s->server_spread
                                                          : NULL;
    if (spread)
        *spread = (struct own_spread){ x->typ - x->low, x->high - x->typ, x->grade };
    return true;
}

static int use_server(struct own_system *s, const struct own_server *server, const struct yaml_doc *doc,
                      yaml_id map, struct err *e)
{
    for (int i = 0; i < OWN_N_FIGURES; i++)
        use_figure(s, own_figure_keys[i], &server->figures[i], doc, map);
    if (yaml_get(doc, map, "npus_per_node") < 0)
        s->npus_per_node = server->npus_per_node;
    if (yaml_get(doc, map, "npus_per_rack") < 0)
        s->npus_per_rack = server->npus_per_rack;
    if (s->n_extras + server->n_items > OWN_MAX_EXTRAS)
        return yaml_fail_key(doc, yaml_get(doc, map, "items"), e, ERR_RANGE,
                             "are %d beside %d of the server, expected at most %d in all", (int)s->n_extras,
                             (int)server->n_items, OWN_MAX_EXTRAS);
    for (int32_t i = 0; i < server->n_items; i++)
        s->extras[s->n_extras++] = server->items[i];
    return 0;
}

/* Of each rate what its source, else all public ones, leave open. */
static void find_mtbf_ranges(struct own_system *s, const struct own_server *server,
                             const struct own_like *like, const struct yaml_doc *doc, yaml_id map)
{
    static const char *const paths[] = { "mtbf.npu_h", "mtbf.node_h", "mtbf.nic_h", "mtbf.link_h",
                                         "mtbf.switch_h" };
    s->mtbf_low = s->mtbf_high = s->mtbf;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct own_figure *x = own_find_figure(server, like, paths[i]);
        const struct own_range *range = own_range_of(paths[i]);
        const struct key *key;
        double *typ = own_field(s, paths[i], &key);
        size_t at = (size_t)((char *)typ - (char *)&s->mtbf);
        if (is_given(doc, map, paths[i]) || (!x && !range))
            continue;
        *(double *)(void *)((char *)&s->mtbf_low + at) = (x ? x->low : range->low) * key->scale;
        *(double *)(void *)((char *)&s->mtbf_high + at) = (x ? x->high : range->high) * key->scale;
    }
}

int own_use_figures(struct own_system *s, const struct own_server *server, const struct own_like *like,
                    const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    int32_t used = 0;
    int rc = server->name ? use_server(s, server, doc, map, e) : 0;
    for (int32_t i = 0; i < like->n && !rc; i++)
        used += use_figure(s, like->list[i].key, &like->list[i].figure, doc, map);
    if (!rc && like->n && !used)
        rc = yaml_fail_key(doc, yaml_get(doc, map, "like"), e, ERR_RANGE,
                           "is %s, of whose numbers system gives every one; take it out", like->name);
    if (!rc)
        find_mtbf_ranges(s, server, like, doc, map);
    return rc;
}

/* ---- what public sources say ---- */

/* Lowest and highest of public sources, read 2026-11-22 but for what is recalled. weft tornado shows them. */
const struct own_range own_ranges[] = {
    { "server_usd", 0.24, 0.64, "npu_usd", GRADE_DERIVED,
      "a public sheet of 2024-08, Epoch training-cost-trends 2026-04" },
    { "server_watt", 398, 762, NULL, GRADE_DERIVED, "servers of configs/servers: GB300 NVL72, DGX B200" },
    { "npu_idle", 0.1, 0.3, NULL, GRADE_VERIFIED, "a rack study of 2026, MLSys.im 2026" },
    { "network_idle", 0.6, 1, NULL, GRADE_RECALLED, "NICs, lit modules" },
    { "life_years", 3, 5, NULL, GRADE_VERIFIED, "MLSys.im 2026, aiinframap 2026" },
    { "network_life_years", 3, 5, NULL, GRADE_RECALLED, "Network-Automation 2026-06 has 3" },
    { "capital_rate", 0, 0.1, NULL, GRADE_RECALLED, "straight line of MLSys.im 2026, cost of capital" },
    { "support", 0.03, 0.05, NULL, GRADE_VERIFIED, "MLSys.im 2026 has 0.05" },
    { "energy_usd_kWh", 0.07, 0.12, NULL, GRADE_VERIFIED, "MLSys.im 2026: US industry, cloud" },
    { "pue", 1.1, 1.5, NULL, GRADE_VERIFIED, "Epoch 2026-04, Network-Automation 2026-06" },
    { "load", 0.43, 0.8, NULL, GRADE_VERIFIED, "Epoch 2026-04: TPU; a worked sum at 80 %" },
    { "building_usd_W", 10, 14.8, NULL, GRADE_RECALLED, "10 to 13, a rack of 2025-11" },
    { "rack_kW", 40, 132, NULL, GRADE_RECALLED, "air-cooled, 72 NPUs" },
    { "repair_h", 1, 4, NULL, GRADE_WEAK, "SemiAnalysis 2025-08" },
    { "mtbf.npu_h", 50000, 79000, NULL, GRADE_WEAK, "assumed by MLSys.im 2026, arXiv 2407.21783" },
    { "mtbf.node_h", 5900, 24350, NULL, GRADE_DERIVED,
      "6.5 stops per 1,000 node-days (arXiv 2410.21680) less 8 NPUs, arXiv 2407.21783" },
    { "mtbf.nic_h", 1.5e5, 3.0e6, NULL, GRADE_WEAK, "assumed by MLSys.im 2026, arXiv 2407.21783" },
    { "mtbf.link_h", 5e4, 1.3e6, NULL, GRADE_WEAK, "assumed by MLSys.im 2026, Alibaba HPN 2024" },
    { "mtbf.switch_h", 3e5, 1.43e6, NULL, GRADE_WEAK, "assumed by MLSys.im 2026, Alibaba HPN 2024" },
    { "checkpoint.bytes_per_param", 12, 16, NULL, GRADE_DERIVED, "fp32 weights alone, fp32 gradients kept" },
    { "checkpoint.node_GBps", 25, 50, NULL, GRADE_VERIFIED, "NICs of 200 and 400 Gb/s" },
    { "checkpoint.store_GBps", 50, 2000, NULL, GRADE_WEAK,
      "40 runs, VAST 2026: 50 to 200; arXiv 2407.21783: 2 TB/s" },
    { "checkpoint.stall_s", 0.01, 1, NULL, GRADE_RECALLED, "copy to the host" },
    { "checkpoint.restart_s", 220, 2340, NULL, GRADE_DERIVED, "published restarts, 220 s to 39 min" },
    { "straggler_loss", 0, 0.104, NULL, GRADE_WEAK, "3,079 jobs, arXiv 2505.05713" },
};
const int32_t own_n_ranges = (int32_t)(sizeof own_ranges / sizeof *own_ranges);

/* Nested maps of numbers alone. */
static double value_in(const void *base, const struct section *s, const char *key)
{
    size_t n = strcspn(key, ".");
    for (size_t i = 0; i < s->n_keys; i++) {
        const struct key *k = &s->keys[i];
        if (strlen(k->name) != n || strncmp(k->name, key, n) != 0)
            continue;
        bool whole = !key[n], map = k->kind == KEY_MAP && !whole;
        if (!map && !(whole && (k->kind == KEY_I64 || k->kind == KEY_REAL)))
            return NAN; /* some have no field at all */
        const void *field = (const char *)base + k->offset;
        if (map)
            return value_in(field, k->of, key + n + 1);
        if (k->kind == KEY_REAL)
            return *(const double *)field / k->scale;
        int64_t count = *(const int64_t *)field;
        return count < 0 ? (double)NAN : (double)count;
    }
    return NAN;
}

double own_value(const struct own_system *s, const char *key)
{
    return value_in(s, &own_system_section, key);
}
