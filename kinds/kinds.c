/* The kinds of studies, and what of their keys is below what: what study/ knows of them. */
#include "kinds/design/explore/runner.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/search.h"
#include "kinds/design/ask/point.h"
#include "kinds/gossip/gossip.h"
#include "kinds/hetero/hetero.h"
#include "kinds/place/place.h"
#include "study/study.h"

const struct study_kind *const study_kinds[] = { &design_kind, &place_kind, &hetero_kind, &gossip_kind };
const int32_t n_study_kinds =
    sizeof study_kinds / sizeof *study_kinds; /* NOLINT(bugprone-sizeof-expression) */

const struct section_link section_links[] = {
    { &design_section, "network", &topo_network_section, false },
    { &design_section, "workloads", &design_mix_section, true },
    { &design_section, "budget", &design_budget_section, false },
    { &design_section, "system", &own_system_section, false },
    { &own_system_section, "server", &own_server_section, false },
    { &own_system_section, "items", &own_extra_section, true },
    { &own_server_section, "items", &own_extra_section, true },
    { &own_system_section, "like", &own_like_section, false },
    { &own_like_section, "figures", &own_known_section, true },
    { &own_system_section, "mtbf", &own_mtbf_section, false },
    { &own_system_section, "tolerates", &own_tolerates_section, false },
    { &own_system_section, "checkpoint", &own_checkpoint_section, false },
    { &own_checkpoint_section, "tiers", &own_tier_section, true },
    { &design_section, "workload", &step_workload_section, false },
    { &design_mix_section, "workload", &step_workload_section, false },
    { &step_workload_section, "model", &model_section, false },
    { &step_workload_section, "parallel", &plan_section, false },
    { &step_workload_section, "search", &search_section, false },
    { &topo_network_section, "npu", &topo_npu_section, false },
    { &topo_npu_section, "server", &own_server_section, false },
    { &topo_network_section, "dims", &topo_dim_section, true },
    { &topo_network_section, "classes", &topo_class_section, true },
    { &place_section, "network", &topo_network_section, false },
    { &place_section, "npus", &place_npu_section, true },
    { &place_npu_section, "npu", &topo_npu_section, false },
    { &place_section, "racks", &draw_racks_section, false },
    { &place_section, "gadget", &place_gadget_section, false },
    { &place_section, "las", &place_las_section, false },
    { &place_section, "sjf_bco", &place_sjf_bco_section, false },
    { &place_section, "smd", &place_smd_section, false },
    { &hetero_section, "draw", &hetero_draw_section, false },
    { &hetero_section, "types", &hetero_type_section, true },
    { &hetero_section, "layers", &hetero_layer_section, true },
    { &hetero_section, "throughput", &hetero_throughput_section, false },
    { &hetero_section, "job", &hetero_job_section, false },
    { &hetero_section, "network", &topo_network_section, false },
    { &hetero_section, "servers", &hetero_server_section, false },
    { &hetero_section, "rl", &hetero_rl_section, false },
    { &hetero_section, "genetic", &hetero_genetic_section, false },
    { &hetero_section, "anneal", &hetero_anneal_section, false },
    { &hetero_section, "bayes", &hetero_bayes_section, false },
    { &hetero_draw_section, "cpu", &hetero_draw_cpu_section, false },
    { &hetero_draw_section, "gpu", &hetero_draw_gpu_section, false },
    { &hetero_type_section, "probe", &hetero_probe_section, false },
    { &hetero_type_section, "npu", &topo_npu_section, false },
    { &gossip_section, "network", &topo_network_section, false },
    { &gossip_section, "job", &gossip_job_section, false },
    { &gossip_job_section, "model", &model_section, false },
    { &gossip_job_section, "npu", &topo_npu_section, false },
    { &gossip_job_section, "parallel", &plan_section, false },
    { &gossip_section, "learner", &gossip_learner_section, false },
    { &gossip_section, "data", &gossip_data_section, false },
    { &gossip_section, "clock", &gossip_clock_section, false },
    { &gossip_section, "methods", &gossip_method_section, true },
    { .above = NULL },
};
