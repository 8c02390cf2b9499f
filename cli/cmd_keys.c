/*
 * weft keys: the manual of the YAML files, printed from the tables that read them (base/schema.h), so that
 * what it says of units, limits and defaults is what a run takes.
 *
 * A section that is missing from the list below is missing from the manual. Range, unit and default are those
 * that reading checks and fills in; words around them are the help of each key.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cli/output.h"
#include "base/sheet.h"
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
static const struct section *const sections[] = {
    &design_section,
    &design_mix_section,
    &design_budget_section,
    &own_system_section,
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

enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

static bool is_number(const struct key *k)
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

/* "0.001 to 1e9"; the words of a word. */
static void put_range(struct text *out, const struct key *k)
{
    char a[NUM_TEXT], b[NUM_TEXT];
    if (k->kind == KEY_WORD) {
        for (size_t i = 0; k->words[i]; i++)
            text_printf(out, "%s%s", i ? ", " : "", k->words[i]);
    } else if (is_number(k) && isfinite(k->min) && isfinite(k->max)) {
        text_printf(out, "%s to %s", show_limit(a, k->min), show_limit(b, k->max));
    } else if (is_number(k) && isfinite(k->min)) {
        text_printf(out, ">= %s", show_limit(a, k->min));
    } else if (is_number(k) && isfinite(k->max)) {
        text_printf(out, "<= %s", show_limit(b, k->max));
    }
}

/* "" where there is none to tell: NaN is no default, or one that follows from other keys, which the help
 * says. */
static const char *show_default(char buf[NUM_TEXT], const struct key *k)
{
    /* Defaults of maps and lists are maps and lists: no word stands for them. */
    bool value = is_number(k) || k->kind == KEY_WORD || k->kind == KEY_BOOL;
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

/* All without a name; "pool" asks for "pool of model batch" too. */
static bool is_asked(const struct section *s, const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return !name || (strncmp(s->name, name, n) == 0 && (s->name[n] == '\0' || s->name[n] == ' '));
}

struct key_row {
    const char *section, *shown, *key, *kind, *unit, *range, *words, *usual, *dflt, *required, *help;
    double min, max;
};

/* One row a key, of which text has a table for each section. */
static const struct column key_columns[] = {
    COLUMN_WORD(struct key_row, section, "of the file", .in = IN_CSV),
    COLUMN_WORD(struct key_row, shown, "with its place", .in = IN_TEXT, .title = "  key"),
    COLUMN_WORD(struct key_row, key, "its name", .in = IN_CSV),
    COLUMN_WORD(struct key_row, kind, "of value", .title = "holds"),
    /* Left out of text where no key of the section has one. */
    COLUMN_WORD(struct key_row, unit, "of numbers"),
    COLUMN_WORD(struct key_row, range, "of numbers, or the words", .in = IN_TEXT),
    COLUMN_REAL(struct key_row, min, "least number", .in = IN_CSV),
    COLUMN_REAL(struct key_row, max, "largest number", .in = IN_CSV),
    COLUMN_WORD(struct key_row, words, "that it may have", .in = IN_CSV),
    COLUMN_AT(struct key_row, usual, "default", TABLE_TEXT, "where it is not given", .in = IN_TEXT),
    COLUMN_AT(struct key_row, dflt, "default", TABLE_TEXT, "likewise", .in = IN_CSV),
    COLUMN_WORD(struct key_row, required, "must it be given?", .in = IN_CSV),
    COLUMN_WORD(struct key_row, help, "what it means", .title = "meaning"),
    COLUMNS_END,
};

static void put_key(struct report *r, const struct section *s, const struct key *k)
{
    char number[NUM_TEXT], shown[SHOW_VALUE];
    struct text range = { 0 };
    const char *usual = show_default(number, k);
    put_range(&range, k);
    snprintf(shown, sizeof shown, "  %s", k->name);
    report_row(r, &(struct key_row){ .section = s->name,
                                     .shown = shown,
                                     .key = k->name,
                                     .kind = schema_kind_word(k->kind),
                                     .unit = k->unit && *k->unit     ? k->unit
                                             : report_is(r, IN_TEXT) ? ""
                                                                     : NULL,
                                     .range = text_str(&range),
                                     .min = is_number(k) ? k->min : (double)NAN,
                                     .max = is_number(k) ? k->max : (double)NAN,
                                     .words = k->kind == KEY_WORD ? text_str(&range) : NULL,
                                     .usual = usual,
                                     .dflt = k->required || !*usual ? NULL : usual,
                                     .required = k->required ? "yes" : "no",
                                     .help = k->help });
    r->failed = r->failed || range.failed;
    text_free(&range);
}

static void put_sections(struct report *r, const char *only)
{
    bool apart = report_is(r, IN_TEXT), any = false;
    if (!apart)
        report_list(r, NULL, key_columns);
    for (int i = 0; i < N_SECTIONS; i++) {
        const struct section *s = sections[i];
        if (!is_asked(s, only))
            continue;
        report_line(r, "%s%s: %s\n", any ? "\n" : "", s->name, s->help);
        any = true;
        if (apart)
            report_list(r, NULL, key_columns);
        for (size_t k = 0; k < s->n_keys; k++)
            put_key(r, s, &s->keys[k]);
        if (apart)
            report_list_end(r);
    }
    if (!apart)
        report_list_end(r);
}

/* Before the page is begun, so that a wrong name prints nothing. */
static int check_section(const char *name, struct err *e)
{
    const char *names[N_SECTIONS];
    struct text all = { 0 };
    for (int i = 0; i < N_SECTIONS; i++) {
        names[i] = sections[i]->name;
        if (is_asked(sections[i], name)) {
            text_free(&all);
            return 0;
        }
        /* Gathered on the way, for the message of a name that nothing is near. */
        text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = text_nearest(name, names, N_SECTIONS);
    int rc =
        near ? err_set(e, ERR_USAGE, "unknown section \"%.100s\"; did you mean %s?", name, near)
             : err_set(e, ERR_USAGE, "unknown section \"%.100s\", expected one of %s", name, text_str(&all));
    text_free(&all);
    return rc;
}

static int run_keys(struct run *run, struct err *e)
{
    const char *only = run->opt.n_operands ? run->opt.operands[0] : NULL;
    int rc = output_check(run, e);
    if (!rc && only)
        rc = check_section(only, e);
    if (rc)
        return rc;
    /* JSON as rows too: a program that reads the manual wants a table, not a tree. */
    struct report r = { .rows = true };
    output_begin(&r, run, (struct origin){ .known = false });
    put_sections(&r, only);
    rc = output_report(&r, run, (struct origin){ .known = false }, e);
    report_free(&r);
    return rc;
}

const struct command cmd_keys = {
    .group = "Manual",
    .name = "keys",
    .help = "every key of the YAML files: unit, range, default",
    .about = "List the keys that studies, networks, parts, workloads and profiles may have, or those of one "
             "SECTION.\n",
    .scope = SCOPE(0, 1, "[SECTION]", &options_format, &options_files),
    .run = run_keys,
};
