/*
 * A workload from YAML: groups, then layers under a loop, or an expression (sum, max, repeat, compute,
 * collectives), or a file of another program (ASTRA-sim text, SimAI, Chakra), or a model with a plan. Exactly
 * one of these stands in a file. Whatever the source, the result is one tree of steps (workloads/step), so
 * that solver, report and simulators need not know where it came from.
 */
#include "workloads/step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workloads/readers/astra.h"
#include "workloads/readers/readers.h"
#include "workloads/plan_cost.h"

/* The map of a workload, whose work stands in one of its given. */
struct workload_given {
    const char *name, *astra, *simai;
    yaml_id groups, layers, step, chakra, model, parallel, search;
    struct astra_rule rule;
    double traffic;
};

static const struct key workload_keys[] = {
    K_TEXT(struct workload_given, name, "name", "what reports call the workload"),
    K_REMARK("source", "where the figures come from"),
    K_NODE(struct workload_given, groups, "groups", "groups of NPUs by name, see groups",
           .form = "map of <groups>"),
    K_NODE(struct workload_given, layers, "layers", "list of layers in forward order, see layers",
           .form = "list of <layers>"),
    K_WORD(struct workload_given, rule.loop, "loop", layers_loop_names, SCHEMA_NONE,
           "how the work of the layers is put together (default: no-overlap)"),
    K_WORD(struct workload_given, rule.recompute, "recompute", layers_recompute_names, SCHEMA_NONE,
           "forward work of each layer that is done again in its backward pass (default: none)"),
    K_NODE(struct workload_given, step, "step", "instead of layers: the step as an expression, see step",
           .form = "<step>"),
    K_TEXT(struct workload_given, astra, "astra",
           "instead of layers: an ASTRA-sim 1.0 text file, path from the folder of the YAML file"),
    K_TEXT(struct workload_given, simai, "simai",
           "instead of layers: a SimAI (AICB) text file, path likewise"),
    K_WORD(struct workload_given, rule.ag_size, "ag_size", simai_ag_size_names, SCHEMA_NONE,
           "of simai: the bytes of an all-gather are its full result or one shard (default: full)"),
    K_NODE(struct workload_given, chakra, "chakra",
           "instead of layers: a Chakra execution trace (.et), path likewise, or a map, see chakra",
           .form = "file or <chakra>"),
    K_NODE(struct workload_given, model, "model",
           "instead of layers: a model to train, a file (relative to this one) or a map, see model",
           .form = "file or <model>"),
    K_NODE(struct workload_given, parallel, "parallel",
           "of a model: how it is spread over the NPUs, see parallel", .form = "<parallel>"),
    K_NODE(struct workload_given, search, "search",
           "of a model: find the best plan, from what is given in parallel; {}: over all, see search",
           .form = "<search>"),
    K_REAL(struct workload_given, traffic, "traffic", "", 1, 0, 1e6, 1,
           "factor of all bytes that are sent: to ask how sensitive an answer is"),
};

K_SECTION(step_workload_section, struct workload_given, "workload", workload_keys,
          "one training step of one model");

/* A collective as a list or an expression says it. */
struct collective_given {
    int32_t kind;
    double size_B, size_MB;
    const char *group, *name;
    int64_t times, priority;
};

#define SIZE_KEYS                                                                                            \
    K_REAL(struct collective_given, size_B, "size_B", "B", 1, 0, BYTES_MAX_B, SCHEMA_NONE,                   \
           "bytes that each NPU brings in; for an all-gather, its shard"),                                   \
        K_REAL(struct collective_given, size_MB, "size_MB", "MB", 1, 0, BYTES_MAX_MB, SCHEMA_NONE,           \
               "the same in 1e6 bytes"),                                                                     \
        K_TEXT(struct collective_given, group, "group", "who takes part: \"all\" or a name from groups",     \
               .required = true),                                                                            \
        K_COUNT(struct collective_given, priority, "priority", 0, 1000000, 0,                                \
                "models chunk and flow: where it meets others, the higher goes first")

static const struct key operand_keys[] = { SIZE_KEYS };

K_SECTION(step_operand_section, struct collective_given, "step.all-reduce", operand_keys,
          "a collective in an expression; the other collectives have the same keys");

static const struct key collective_keys[] = {
    K_WORD(struct collective_given, kind, "kind", collective_names, SCHEMA_NONE, "what is exchanged",
           .required = true),
    SIZE_KEYS,
    K_COUNT(struct collective_given, times, "times", 1, TIMES_MAX, 1, "how many times in a row"),
    K_TEXT(struct collective_given, name, "name", "name in reports (default: the layer's name)"),
};

K_SECTION(step_collective_section, struct collective_given, "layers.forward.collectives", collective_keys,
          "one collective");

/* Where an expression is read to, and what is said of it beside its work. */
struct expression {
    struct step_tree *t;
    const struct yaml_doc *doc;
    struct step_compute compute;
    int64_t times;
    int32_t phase;
    const char *name;
};

static const struct key leaf_keys[] = {
    K_REAL(struct expression, compute.ns, "compute_ns", "ns", 1, 0, COMPUTE_MAX_NS, SCHEMA_NONE,
           "compute time of one NPU"),
    K_REAL(struct expression, compute.ms, "compute_ms", "ms", 1, 0, COMPUTE_MAX_MS, SCHEMA_NONE,
           "the same in milliseconds"),
    K_ELSEWHERE("all-reduce", "a collective: size and group", .form = "<step.all-reduce>"),
    K_ELSEWHERE("reduce-scatter", "a collective: size and group", .form = "<step.all-reduce>"),
    K_ELSEWHERE("all-gather", "a collective: size and group", .form = "<step.all-reduce>"),
    K_ELSEWHERE("all-to-all", "a collective: size and group", .form = "<step.all-reduce>"),
    K_ELSEWHERE("broadcast", "a collective: size and group", .form = "<step.all-reduce>"),
    K_ELSEWHERE("send", "a collective: size and group; to the next NPU", .form = "<step.all-reduce>"),
    K_ELSEWHERE("sum", "list of expressions that run one after the other", .form = "list of <step>"),
    K_ELSEWHERE("max", "list of expressions that run side by side", .form = "list of <step>"),
    K_ELSEWHERE("repeat", "an expression that runs several times in a row, see step.repeat",
                .form = "<step.repeat>"),
    K_COUNT(struct expression, times, "times", 1, TIMES_MAX, SCHEMA_NONE,
            "compute or a collective: how many times in a row (default: once)"),
    K_WORD(struct expression, phase, "phase", step_phase_names, SCHEMA_NONE,
           "where reports count it, and all below it (default: as the expression around it)"),
    K_TEXT(struct expression, name, "name", "name in reports"),
};

K_SECTION(step_leaf_section, struct expression, "step", leaf_keys,
          "an expression: exactly one of compute, a collective, sum, max and repeat");

static const struct key repeat_keys[] = {
    K_REAL(struct step_node, times, "times", "", 1, 1e-9, TIMES_MAX, SCHEMA_NONE,
           "number of times; a fraction is allowed (the bubble of an interleaved pipeline)",
           .required = true),
    K_ELSEWHERE("of", "expression that is repeated", .required = true, .form = "<step>"),
};

K_SECTION(step_repeat_section, struct step_node, "step.repeat", repeat_keys,
          "an expression several times in a row");

int step_compute_s(double *out, const struct step_compute *x, const struct yaml_doc *doc, yaml_id map,
                   struct err *e)
{
    if (!isnan(x->ns) && !isnan(x->ms))
        return yaml_fail(doc, map, e, ERR_PARSE, "has compute_ns and compute_ms; give one of them");
    /* Divided, not multiplied by 1e-9: so 1 ms and 1e6 ns are the same double. */
    *out = isnan(x->ns) ? x->ms / 1e3 : x->ns / 1e9;
    return 0;
}

/* "all" is group 0; a near name is suggested. */
static int workload_find_group(int32_t *out, const struct step_tree *t, const char *name,
                               const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const char *names[GROUP_MAX];
    *out = step_find_group(t, name);
    if (*out >= 0)
        return 0;
    for (int32_t g = 0; g < t->n_groups; g++)
        names[g] = t->groups[g].name;
    yaml_fail(doc, yaml_get(doc, map, "group"), e, ERR_PARSE, "is %s, expected all or a name from groups",
              name);
    return err_suggest(e, text_nearest(name, names, (size_t)t->n_groups));
}

/* Size and group of a collective, common to lists and expressions. */
static int fill_collective(struct step_node *out, const struct collective_given *given,
                           const struct step_tree *t, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    /* Both or none of them. */
    if (isnan(given->size_B) == isnan(given->size_MB))
        return yaml_fail(doc, map, e, ERR_PARSE, "has %s, expected one of size_B and size_MB",
                         isnan(given->size_B) ? "no size" : "two sizes");
    *out = (struct step_node){ .kind = STEP_COLLECTIVE, .phase = STEP_OTHER, .times = 1 };
    out->bytes = isnan(given->size_B) ? given->size_MB * 1e6 : given->size_B;
    out->priority = (int32_t)given->priority;
    return workload_find_group(&out->group, t, given->group, doc, map, e);
}

/* A collective as an entry of a list, where its kind is a key. */
int step_read_collective(struct step_node *out, const struct step_tree *t, const struct yaml_doc *doc,
                         yaml_id map, struct err *e)
{
    struct collective_given given = { .group = "" };
    int rc;
    if ((rc = schema_read(&given, &step_collective_section, doc, map, e)) ||
        (rc = fill_collective(out, &given, t, doc, map, e)))
        return rc;
    out->collective = (enum collective_kind)given.kind;
    out->times = (double)given.times;
    step_set_name(out->name, given.name);
    return 0;
}

static int read_expression(const struct expression *around, step_id parent, enum step_phase phase,
                           yaml_id map, struct err *e);

/* The one key that says what the expression is. Asked of the file's own keys: a table of defaults cannot tell
 * what was written. */
static int find_work(yaml_id *work, const struct expression *x, yaml_id map, struct err *e)
{
    const char *first = NULL;
    yaml_each (id, x->doc, map) {
        const char *key = x->doc->nodes[id].key;
        if (strcmp(key, "times") == 0 || strcmp(key, "phase") == 0 || strcmp(key, "name") == 0)
            continue;
        if (first)
            return yaml_fail(x->doc, map, e, ERR_PARSE, "has %s and %s; give one of them", first, key);
        first = key;
        *work = id;
    }
    if (!first)
        return yaml_fail(x->doc, map, e, ERR_PARSE,
                         "has no work; give compute_ns, compute_ms, a collective, sum, max or repeat");
    return 0;
}

/* An empty sum or maximum is refused: it is most likely a mistake. */
static int read_children(const struct expression *x, step_id parent, enum step_phase phase, yaml_id list,
                         struct err *e)
{
    int rc = yaml_need_list(x->doc, list, INT32_MAX, "one expression", e);
    if (rc)
        return rc;
    yaml_each (map, x->doc, list) {
        if ((rc = read_expression(x, parent, phase, map, e)))
            return rc;
    }
    return 0;
}

static int read_repeat(const struct expression *x, step_id parent, struct step_node node, yaml_id map,
                       struct err *e)
{
    int rc = schema_read(&node, &step_repeat_section, x->doc, map, e);
    if (rc)
        return rc;
    node.kind = STEP_REPEAT;
    return read_expression(x, step_add(x->t, parent, node), node.phase, yaml_get(x->doc, map, "of"), e);
}

/* A collective inside an expression, where its kind is the name of the key. */
static int read_operand(const struct expression *x, step_id parent, const struct step_node *node,
                        enum collective_kind kind, yaml_id map, struct err *e)
{
    struct collective_given operand = { .group = "" };
    struct step_node leaf;
    int rc;
    if ((rc = schema_read(&operand, &step_operand_section, x->doc, map, e)) ||
        (rc = fill_collective(&leaf, &operand, x->t, x->doc, map, e)))
        return rc;
    leaf.collective = kind;
    leaf.phase = node->phase;
    leaf.times = node->times;
    step_set_name(leaf.name, node->name);
    step_add(x->t, parent, leaf);
    return 0;
}

/* The inner nodes; the leaves are done where `times` counts. */
static int read_inner(const struct expression *x, step_id parent, struct step_node node, yaml_id map,
                      yaml_id work, struct err *e)
{
    const char *word = x->doc->nodes[work].key;
    if (x->times >= 0)
        return yaml_fail(x->doc, yaml_get(x->doc, map, "times"), e, ERR_PARSE,
                         "counts compute and collectives only, expected repeat here");
    if (strcmp(word, "repeat") == 0)
        return read_repeat(x, parent, node, work, e);
    node.kind = strcmp(word, "sum") == 0 ? STEP_SUM : STEP_MAX;
    node.times = 1;
    step_id id = step_add(x->t, parent, node);
    return read_children(x, id, node.phase, work, e);
}

static int read_expression(const struct expression *around, step_id parent, enum step_phase phase,
                           yaml_id map, struct err *e)
{
    struct expression own = *around, *x = &own;
    double compute_s = NAN;
    yaml_id work = -1;
    int rc;
    if ((rc = schema_read(x, &step_leaf_section, x->doc, map, e)) || (rc = find_work(&work, x, map, e)) ||
        (rc = step_compute_s(&compute_s, &x->compute, x->doc, map, e)))
        return rc;
    struct step_node node = { .phase = x->phase >= 0 ? (enum step_phase)x->phase : phase };
    step_set_name(node.name, x->name);
    node.times = x->times >= 0 ? (double)x->times : 1;
    for (int kind = 0; kind < N_COLLECTIVES; kind++)
        if (strcmp(x->doc->nodes[work].key, collective_names[kind]) == 0)
            return read_operand(x, parent, &node, (enum collective_kind)kind, work, e);
    if (isnan(compute_s))
        return read_inner(x, parent, node, map, work, e);
    node.kind = STEP_COMPUTE;
    /* Compute several times in a row is one longer compute; a collective is not one larger collective, since
     * each pays its latency. */
    node.seconds = compute_s * node.times;
    node.times = 1;
    step_add(x->t, parent, node);
    return 0;
}

/* Layers are read as a list and unrolled into a tree at once: nothing later knows of them. */
static int read_layers(struct step_tree *t, const struct workload_given *given, const struct yaml_doc *doc,
                       struct err *e)
{
    struct layers l = { .recompute = given->rule.recompute < 0
                                         ? LAYERS_RECOMPUTE_NONE
                                         : (enum layers_recompute)given->rule.recompute };
    int rc = layers_read(&l, t, doc, given->layers, e);
    if (!rc)
        layers_build_step(t, &l, given->rule.loop < 0 ? LAYERS_NO_OVERLAP : given->rule.loop);
    layers_free(&l);
    return rc;
}

/* A text file of rows: astra or simai. */
static int workload_read_rows(struct step_tree *t, const struct workload_given *given,
                              const struct yaml_doc *doc, yaml_id map, const struct topo_network *net,
                              struct err *e)
{
    struct text path = { 0 }, content = { 0 };
    struct err inner = { 0 };
    yaml_id id = yaml_get(doc, map, given->astra ? "astra" : "simai");
    yaml_beside(&path, doc, id);
    int rc = text_check(&path, e);
    /* A file that cannot be read is told at the key that names it. */
    if (!rc && text_read_file(&content, text_str(&path), ASTRA_MAX_BYTES, &inner))
        rc = yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
    if (!rc)
        rc = (given->astra ? astra_read : simai_read)(t, text_str(&path), text_str(&content), content.n, net,
                                                      given->rule, e);
    text_free(&path);
    text_free(&content);
    return rc;
}

/* Keys that would have no effect beside the source of work. They are errors and not notes: whoever wrote them
 * counts on them. */
static int check_effect(const struct workload_given *given, const struct yaml_doc *doc, yaml_id map,
                        const char *source, struct err *e)
{
    bool rows = given->astra || given->simai, layers = rows || given->layers >= 0;
    if (!layers && given->rule.loop >= 0)
        return yaml_fail(doc, yaml_get(doc, map, "loop"), e, ERR_PARSE,
                         "has no effect on %s, only with layers, astra or simai", source);
    if (!layers && given->rule.recompute >= 0)
        return yaml_fail(doc, yaml_get(doc, map, "recompute"), e, ERR_PARSE,
                         "has no effect on %s, only with layers, astra or simai", source);
    if ((rows || given->chakra >= 0 || given->model >= 0) && given->groups >= 0)
        return yaml_fail(doc, given->groups, e, ERR_PARSE, "has no effect on %s, which brings its own groups",
                         source);
    if (given->model < 0 && (given->parallel >= 0 || given->search >= 0))
        return yaml_fail_key(doc, given->parallel >= 0 ? given->parallel : given->search, e, ERR_PARSE,
                             "has no effect on %s, only with model", source);
    if (given->model >= 0 && given->parallel < 0)
        return yaml_fail(doc, map, e, ERR_PARSE,
                         "has no parallel, required for a model; with search { batch: N } is enough");
    if (!given->simai && given->rule.ag_size >= 0)
        return yaml_fail(doc, yaml_get(doc, map, "ag_size"), e, ERR_PARSE,
                         "has no effect on %s, only with simai", source);
    return 0;
}

/* One source of work, and no key that would have no effect beside it. */
static int check_workload(const struct workload_given *given, const struct yaml_doc *doc, yaml_id map,
                          struct err *e)
{
    const char *source = given->step >= 0     ? "step"
                         : given->astra       ? "astra"
                         : given->simai       ? "simai"
                         : given->chakra >= 0 ? "chakra"
                         : given->model >= 0  ? "model"
                                              : "layers";
    int n = (given->layers >= 0) + (given->step >= 0) + (given->astra != NULL) + (given->simai != NULL) +
            (given->chakra >= 0) + (given->model >= 0);
    if (n != 1)
        return yaml_fail(doc, map, e, ERR_PARSE,
                         "has %d of layers, step, astra, simai, chakra and model; give one of them", n);
    return check_effect(given, doc, map, source, e);
}

/* Work from a file of another program; the file stands for the name where none is given. */
static int read_foreign(struct step_tree *t, const struct workload_given *given, const struct yaml_doc *doc,
                        yaml_id map, const struct topo_network *net, struct err *e)
{
    int rc = given->chakra >= 0 ? chakra_read(t, doc, given->chakra, net, e)
                                : workload_read_rows(t, given, doc, map, net, e);
    if (!rc && given->name)
        snprintf(t->name, sizeof t->name, "%s", given->name);
    return rc;
}

static int workload_read_model(struct step_tree *t, const struct yaml_doc *doc, yaml_id map,
                               const struct topo_network *net, struct err *e)
{
    struct training x;
    int rc = training_read(&x, doc, map, net, e);
    /* A tree is one plan; where plans are searched, the command reads the training and builds trees of its
     * own. */
    if (!rc && x.search >= 0)
        return yaml_fail_key(doc, x.search, e, ERR_UNSUP, "needs a command that searches");
    return rc ? rc : training_build(t, &x, net, e);
}

int step_read_training(struct training *x, const struct yaml_doc *doc, yaml_id map,
                       const struct topo_network *net, struct err *e)
{
    struct workload_given given;
    int rc = schema_read(&given, &step_workload_section, doc, map, e);
    if (!rc)
        rc = check_workload(&given, doc, map, e);
    return rc ? rc : training_read(x, doc, map, net, e);
}

/* Of a model its plan sees to it. */
static void scale_traffic(struct step_tree *t, double traffic)
{
    for (step_id id = 0; id < t->n_nodes; id++)
        t->nodes[id].bytes *= traffic;
}

/* `groups`, and the work as layers or as an expression. */
static int read_own(struct step_tree *t, const struct workload_given *given, const struct yaml_doc *doc,
                    const struct topo_network *net, struct err *e)
{
    step_begin(t, given->name, net);
    int rc = step_check(t, e);
    if (!rc && given->groups >= 0)
        rc = group_read(t, doc, given->groups, net, e);
    if (!rc && given->layers >= 0)
        rc = read_layers(t, given, doc, e);
    else if (!rc)
        rc = read_expression(&(struct expression){ .t = t, .doc = doc }, -1, STEP_OTHER, given->step, e);
    if (!rc)
        rc = step_check(t, e);
    if (rc)
        step_free(t);
    return rc;
}

/* `traffic` scales whatever was read, own layers and files of other programs alike. */
int step_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
              struct err *e)
{
    struct workload_given given;
    *t = (struct step_tree){ .root = -1 };
    int rc = schema_read(&given, &step_workload_section, doc, node, e);
    if (rc || (rc = check_workload(&given, doc, node, e)))
        return rc;
    if (given.model >= 0)
        return workload_read_model(t, doc, node, net, e);
    if (given.astra || given.simai || given.chakra >= 0)
        rc = read_foreign(t, &given, doc, node, net, e);
    else
        rc = read_own(t, &given, doc, net, e);
    if (!rc)
        scale_traffic(t, given.traffic);
    return rc;
}
