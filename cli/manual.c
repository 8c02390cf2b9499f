/* The list of sections and what is said of a key. A section that is missing from the list is missing from the
 * manual, from the schemas and from completion. */
#include "cli/manual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "kinds/design/ask/load.h"
#include "topo/parts.h"
#include "kinds/gossip/gossip.h"
#include "kinds/hetero/hetero.h"
#include "study/keep.h"
#include "kinds/place/place.h"
#include "kinds/design/explore/search.h"
#include "kinds/factor.h"
#include "study/axes.h"
#include "kinds/design/explore/uncertain.h"
#include "sim/slots/slots_draw.h"
#include "workloads/traces/profile.h"
#include "workloads/plan_cost.h"

/* Every map a YAML file may hold, from the outside in. */
const struct section *const manual_sections[] = {
    &design_section,
    &design_mix_section,
    &design_budget_section,
    &own_system_section,
    &own_server_section,
    &own_figure_section,
    &own_like_section,
    &own_known_section,
    &own_extra_section,
    &own_mtbf_section,
    &own_tolerates_section,
    &own_tier_section,
    &own_checkpoint_section,
    &sweep_vary_section,
    &sweep_range_section,
    &sweep_sobol_section,
    &sweep_factor_section,
    &sweep_factor_tier_section,
    &sweep_factor_dims_section,
    &keep_section,
    &keep_top_section,
    &uncertain_section,
    &uncertain_key_section,
    &sim_rules_section,
    &sim_slow_section,
    &sim_links_section,
    &topo_network_section,
    &topo_npu_section,
    &topo_npu_size_section,
    &topo_npu_attention_section,
    &topo_dim_section,
    &topo_class_section,
    &topo_edge_section,
    &topo_regime_section,
    &topo_curve_section,
    &topo_nics_section,
    &topo_parts_section,
    &topo_rate_section,
    &topo_part_section,
    &topo_recipe_section,
    &topo_band_section,
    &step_workload_section,
    &model_section,
    &model_mla_section,
    &model_moe_section,
    &model_dlrm_section,
    &model_cnn_section,
    &model_conv_section,
    &plan_section,
    &search_section,
    &step_group_section,
    &step_layer_section,
    &step_phase_section,
    &step_collective_section,
    &step_leaf_section,
    &step_operand_section,
    &step_repeat_section,
    &step_chakra_section,
    &place_section,
    &place_gadget_section,
    &place_las_section,
    &place_sjf_bco_section,
    &place_events_section,
    &place_smd_section,
    &draw_racks_section,
    &place_batch_pool_section,
    &place_interval_pool_section,
    &draw_elastic_section,
    &draw_tau_section,
    &place_batch_jobs_section,
    &place_trace_section,
    &place_mix_section,
    &place_npu_section,
    &place_interval_jobs_section,
    &trace_profile_section,
    &trace_profile_model_section,
    &trace_profile_draw_section,
    &hetero_section,
    &hetero_throughput_section,
    &hetero_job_section,
    &hetero_draw_section,
    &hetero_draw_cpu_section,
    &hetero_draw_gpu_section,
    &hetero_layer_section,
    &hetero_type_section,
    &hetero_probe_section,
    &hetero_server_section,
    &hetero_rl_section,
    &hetero_genetic_section,
    &hetero_anneal_section,
    &hetero_bayes_section,
    &gossip_section,
    &gossip_job_section,
    &gossip_learner_section,
    &gossip_data_section,
    &gossip_clock_section,
    &gossip_method_section,
};
const int manual_n_sections = sizeof manual_sections / sizeof manual_sections[0];

/* Files by their outermost map. */
const struct file_kind manual_kinds[] = {
    { "study", &design_section },  { "network", &topo_network_section },
    { "npu", &topo_npu_section },  { "server", &own_server_section },
    { "like", &own_like_section }, { "parts", &topo_parts_section },
    { "model", &model_section },   { "workload", &step_workload_section },
    { "place", &place_section },   { "hetero", &hetero_section },
    { "gossip", &gossip_section }, { "profile", &trace_profile_section },
};
const int manual_n_kinds = sizeof manual_kinds / sizeof manual_kinds[0];

bool manual_is_number(const struct key *k)
{
    return k->kind == KEY_REAL || k->kind == KEY_I32 || k->kind == KEY_I64;
}

/* "1e12" rather than 1000000000000, where no digit is lost. The exponent is written without "+" and leading
 * zeros. */
static const char *show_limit(char buf[NUM_TEXT], double x)
{
    double back;
    snprintf(buf, NUM_TEXT, "%.6g", x);
    char *e = strchr(buf, 'e');
    if (!e || !num_parse_real(buf, &back) || back < x || back > x)
        return num_format(buf, x);
    char sign = e[1];
    char *digits = e + 2 + strspn(e + 2, "0");
    char *to = e + 1 + (sign == '-');
    memmove(to, digits, strlen(digits) + 1);
    return buf;
}

void manual_range(struct text *out, const struct key *k)
{
    char a[NUM_TEXT], b[NUM_TEXT];
    if (k->kind == KEY_WORD) {
        for (size_t i = 0; k->words[i]; i++)
            text_printf(out, "%s%s", i ? ", " : "", k->words[i]);
    } else if (manual_is_number(k) && isfinite(k->min) && isfinite(k->max)) {
        text_printf(out, "%s to %s", show_limit(a, k->min), show_limit(b, k->max));
    } else if (manual_is_number(k) && isfinite(k->min)) {
        text_printf(out, ">= %s", show_limit(a, k->min));
    } else if (manual_is_number(k) && isfinite(k->max)) {
        text_printf(out, "<= %s", show_limit(b, k->max));
    }
}

const char *manual_default(char buf[NUM_TEXT], const struct key *k)
{
    /* Defaults of maps and lists are maps and lists: no word stands for them. */
    bool value = manual_is_number(k) || k->kind == KEY_WORD || k->kind == KEY_BOOL;
    if (k->required)
        return "required";
    if (!value || isnan(k->dflt))
        return "";
    if (k->kind == KEY_WORD)
        return k->words[(size_t)k->dflt];
    if (k->kind == KEY_BOOL)
        return k->dflt != 0 ? "true" : "false";
    return num_format(buf, k->dflt);
}

/* ---- which sections a file may hold ---- */

int manual_find(const char *name, size_t length)
{
    for (int i = 0; i < manual_n_sections; i++)
        if (strlen(manual_sections[i]->name) == length &&
            strncmp(manual_sections[i]->name, name, length) == 0)
            return i;
    return -1;
}

static void reach_section(bool *reached, int at);

static void reach_form(bool *reached, const char *form)
{
    for (const char *open = strchr(form, '<'); open; open = strchr(open + 1, '<'))
        reach_section(reached, manual_find(open + 1, strcspn(open + 1, ">")));
}

static void reach_section(bool *reached, int at)
{
    if (at < 0 || reached[at])
        return;
    reached[at] = true;
    for (size_t i = 0; i < manual_sections[at]->n_keys; i++) {
        struct text form = { 0 };
        schema_form(&form, &manual_sections[at]->keys[i]);
        reach_form(reached, text_str(&form));
        text_free(&form);
    }
}

void manual_reach(bool *reached, const struct file_kind *kind)
{
    memset(reached, 0, (size_t)manual_n_sections * sizeof *reached);
    reach_section(reached, manual_find(kind->section->name, strlen(kind->section->name)));
}
