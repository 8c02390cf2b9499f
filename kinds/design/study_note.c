#include "kinds/design/study.h"
#include "topo/uses.h"

#include <math.h>

/* What is in play in this study for this command. */
static uint64_t active_uses(const struct design_point *s, unsigned needs)
{
    /* A command that asks for the network alone shows all that is known of it. */
    bool facts = !(needs & (STUDY_NEEDS_WORKLOAD | STUDY_FOR_SPLIT | STUDY_FOR_BUDGET));
    uint64_t active = 0;
    if (s->n_workloads)
        active |= USE_TIME;
    if (facts || (s->n_workloads && s->model != SIM_BANDWIDTH))
        active |= USE_LATENCY;
    if (facts || (s->n_workloads && s->model == SIM_CHUNK))
        active |= USE_CHUNK;
    if (facts || (s->n_workloads && s->model == SIM_FLOW))
        active |= USE_FLOW;
    if (s->has_parts)
        active |= USE_COST;
    if (s->has_parts && s->parts.n_recipes)
        active |= USE_CATALOGUE;
    bool npu = facts || isfinite(s->rules.stage.mem_Bps);
    for (int32_t i = 0; i < s->n_workloads; i++)
        npu = npu || s->workloads[i].tree.uses_npu;
    if (npu)
        active |= USE_COMPUTE;
    if (facts || s->count_npus)
        active |= USE_SYSTEM;
    if (needs & STUDY_FOR_SPLIT)
        active |= USE_SPLIT;
    return active;
}

static void note_sections(struct design_point *s, uint64_t active)
{
    const struct yaml_doc *doc = &s->doc;
    yaml_id network = yaml_get(doc, doc->root, "network");
    yaml_id simulation = yaml_get(doc, doc->root, "simulation");
    yaml_id dims = yaml_get(doc, network, "dims"), npu = yaml_get(doc, network, "npu");

    schema_note_unused(&s->notes, &study_section, doc, doc->root, s->own_source, active);
    if (doc->nodes[network].kind == YAML_MAP)
        schema_note_unused(&s->notes, &topo_network_section, doc, network, s->own_source, active);
    if (simulation >= 0)
        schema_note_unused(&s->notes, &sim_rules_section, doc, simulation, s->own_source, active);
    if (npu >= 0)
        schema_note_unused(&s->notes, &topo_npu_section, doc, npu, s->own_source, active);
    if (dims >= 0)
        yaml_each (id, doc, dims)
            schema_note_unused(&s->notes, &topo_dim_section, doc, id, s->own_source, active);
}

/* "file:line:col: KEY has no effect WHY" for a key of map `map`, where it is written. */
static void note_line(struct design_point *s, yaml_id map, const char *key, const char *before,
                      const char *why)
{
    char place[400], path[256];
    yaml_id id = yaml_get(&s->doc, map, key);
    if (id < 0)
        return;
    text_printf(&s->notes, "%s: %s has no effect %s%s\n", yaml_key_place(&s->doc, id, place, sizeof place),
                yaml_path(&s->doc, id, path, sizeof path), before, why);
}

static void note_key(struct design_point *s, yaml_id map, const char *key, const char *why)
{
    note_line(s, map, key, "here, ", why);
}

static void note_weights(struct design_point *s)
{
    yaml_id list = yaml_get(&s->doc, s->doc.root, "workloads");
    if (list < 0)
        return;
    int32_t i = 0;
    yaml_each (id, &s->doc, list) {
        double weight = s->workloads[i++].weight;
        if (s->n_workloads == 1 && weight != 1 && s->objective != ALLOC_COST)
            note_line(s, id, "weight", "on the split, ",
                      "which is the same for a single workload at any weight");
        if (s->n_workloads > 1 && s->combine == STUDY_REGRET && weight != 1)
            note_line(s, id, "weight", "on the split, ",
                      "since regret compares each workload with its own best time");
    }
}

static void note_split(struct design_point *s)
{
    yaml_id root = s->doc.root;
    if (s->n_workloads == 1)
        note_key(s, root, "combine", "there is one workload");
    if (s->objective != ALLOC_COST)
        note_key(s, root, "time_limit_s", "it is used only with objective cost");
    if (topo_has_bandwidths(&s->net)) {
        note_key(s, root, "objective", "every dimension has its bw_GBps");
    }
    note_weights(s);
}

/* What is assumed of an NPU that is not described further is the best there could be. */
static void note_npu(struct design_point *s)
{
    yaml_id npu = yaml_get(&s->doc, yaml_get(&s->doc, s->doc.root, "network"), "npu");
    char place[400];
    bool trains = false;
    for (int32_t i = 0; i < s->n_workloads; i++)
        trains = trains || s->workloads[i].training;
    if (!trains || npu < 0)
        return;
    yaml_key_place(&s->doc, npu, place, sizeof place);
    if (yaml_get(&s->doc, npu, "matrix_efficiency") < 0 && yaml_get(&s->doc, npu, "matrix_sizes") < 0)
        text_printf(&s->notes,
                    "%s: network.npu is without matrix_efficiency, its products are timed at the peak\n",
                    place);
    if (isnan(s->net.npu.mem_B))
        text_printf(&s->notes, "%s: network.npu is without mem_GB, every plan is taken to fit\n", place);
}

int study_note(struct design_point *s, unsigned needs, struct err *e)
{
    yaml_id root = s->doc.root;
    note_sections(s, active_uses(s, needs));
    note_npu(s);
    if (needs & STUDY_FOR_SPLIT)
        note_split(s);
    if (s->n_workloads && s->model == SIM_FLOW && s->rules.order != SIM_ORDER_GIVEN &&
        s->rules.order != SIM_ORDER_FIXED)
        note_key(s, yaml_get(&s->doc, root, "simulation"), "order", "model flow has only fixed and given");
    if (s->model != SIM_FLOW || s->rules.route != SIM_ROUTE_ECMP)
        note_key(s, root, "seed", "nothing in it is drawn at random");
    if (yaml_get(&s->doc, root, "vary") < 0)
        note_key(s, root, "where", "nothing varies");
    return text_check(&s->notes, e);
}
