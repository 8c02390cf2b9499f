#include "workloads/layers.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "workloads/step_keys.h"

const char *const layers_recompute_names[] = { "none", "collectives", "forward", NULL };

void layers_free(struct layers *l)
{
    free(l->layers);
    free(l->collectives);
    *l = (struct layers){ 0 };
}

struct layers_layer *layers_add(struct layers *l, const char *name, struct err *e)
{
    struct layers_layer *grown = array_grow(l->layers, l->n_layers, &l->cap_layers, sizeof *grown);
    if (!grown) {
        err_nomem(e, "layers");
        return NULL;
    }
    l->layers = grown;
    struct layers_layer *layer = &l->layers[l->n_layers++];
    *layer = (struct layers_layer){ .times = 1 };
    step_set_name(layer->name, name);
    return layer;
}

int layers_add_collective(struct layers *l, enum step_phase phase, struct step_node collective, struct err *e)
{
    struct step_node *grown =
        array_grow(l->collectives, l->n_collectives, &l->cap_collectives, sizeof *grown);
    if (!grown)
        return err_nomem(e, "collectives");
    l->collectives = grown;
    assert(l->n_layers > 0 && (int)phase < LAYERS_PHASES);
    struct layers_phase *p = &l->layers[l->n_layers - 1].phases[phase];
    if (p->count == 0)
        p->first = l->n_collectives;
    assert(p->first + p->count == l->n_collectives);
    p->count++;
    l->collectives[l->n_collectives++] = collective;
    return 0;
}

static void add_compute(struct step_tree *t, step_id parent, const struct layers_layer *layer,
                        enum step_phase work, enum step_phase phase)
{
    struct step_node node = { .kind = STEP_COMPUTE,
                              .phase = phase,
                              .seconds = layer->phases[work].compute_s };
    if (!(node.seconds > 0))
        return;
    step_set_name(node.name, layer->name);
    step_add(t, parent, node);
}

static void add_collectives(struct step_tree *t, step_id parent, const struct layers *l,
                            const struct layers_layer *layer, enum step_phase work, enum step_phase phase)
{
    const struct layers_phase *p = &layer->phases[work];
    for (int32_t i = 0; i < p->count; i++) {
        struct step_node node = l->collectives[p->first + i];
        node.phase = phase;
        if (!node.name[0])
            step_set_name(node.name, layer->name);
        step_add(t, parent, node);
    }
}

static void add_work(struct step_tree *t, step_id parent, const struct layers *l, int32_t i,
                     enum step_phase work)
{
    add_compute(t, parent, &l->layers[i], work, work);
    add_collectives(t, parent, l, &l->layers[i], work, work);
}

static step_id add_sum(struct step_tree *t, step_id parent, const char *name)
{
    struct step_node node = { .kind = STEP_SUM, .phase = STEP_OTHER };
    step_set_name(node.name, name);
    return step_add(t, parent, node);
}

/* Where the work of one layer goes: below a repeat when it stands for several. */
static step_id add_layer(struct step_tree *t, step_id parent, const struct layers_layer *layer)
{
    if (layer->times != 1) {
        struct step_node repeat = { .kind = STEP_REPEAT, .phase = STEP_OTHER, .times = layer->times };
        step_set_name(repeat.name, layer->name);
        parent = step_add(t, parent, repeat);
    }
    return add_sum(t, parent, layer->name);
}

static void add_again(struct step_tree *t, step_id parent, const struct layers *l, int32_t i)
{
    for (int32_t j = l->layers[i].again_begin; j < l->layers[i].again_end; j++) {
        const struct layers_layer *layer = &l->layers[j];
        if (l->recompute == LAYERS_RECOMPUTE_FORWARD)
            add_compute(t, parent, layer, STEP_FORWARD, STEP_RECOMPUTE);
        add_collectives(t, parent, l, layer, STEP_FORWARD, STEP_RECOMPUTE);
    }
}

static void add_backward_in_turn(struct step_tree *t, step_id parent, const struct layers *l, int32_t i)
{
    add_work(t, parent, l, i, STEP_INPUT_GRAD);
    add_work(t, parent, l, i, STEP_WEIGHT_GRAD);
}

/* max(ig_compute + ig_collectives, ig_compute + wg_compute + wg_collectives), with the part that
 * both have taken out, so that it is counted once in reports. */
static void add_backward_overlapped(struct step_tree *t, step_id parent, const struct layers *l, int32_t i)
{
    const struct layers_layer *layer = &l->layers[i];
    if (layer->phases[STEP_INPUT_GRAD].count == 0) {
        add_backward_in_turn(t, parent, l, i);
        return;
    }
    add_compute(t, parent, layer, STEP_INPUT_GRAD, STEP_INPUT_GRAD);
    struct step_node max = { .kind = STEP_MAX, .phase = STEP_OTHER };
    step_set_name(max.name, layer->name);
    step_id both = step_add(t, parent, max);
    add_collectives(t, add_sum(t, both, "input-grad exchange"), l, layer, STEP_INPUT_GRAD, STEP_INPUT_GRAD);
    add_work(t, add_sum(t, both, "weight-grad"), l, i, STEP_WEIGHT_GRAD);
}

#define LOOPS(X)                                                                                             \
    X(LAYERS_NO_OVERLAP, "no-overlap", "everything in turn: one sum", add_backward_in_turn)                  \
    X(LAYERS_OVERLAP, "overlap", "per layer, the input-gradient collectives run beside the weight gradient", \
      add_backward_overlapped)
#define AS_LOOP(id, word, text, function) [id] = { word, text, function },
#define AS_NAME(id, word, text, function) [id] = word,

const struct layers_loop layers_loops[N_LAYERS_LOOPS] = { LOOPS(AS_LOOP) };
const char *const layers_loop_names[N_LAYERS_LOOPS + 1] = { LOOPS(AS_NAME) };

void layers_add_passes(struct step_tree *t, step_id parent, const struct layers *l, int32_t loop)
{
    assert(loop >= 0 && loop < N_LAYERS_LOOPS);
    step_id forward = add_sum(t, parent, "forward");
    for (int32_t i = 0; i < l->n_layers; i++)
        add_work(t, add_layer(t, forward, &l->layers[i]), l, i, STEP_FORWARD);
    step_id backward = add_sum(t, parent, "backward");
    for (int32_t i = l->n_layers; i-- > 0;) {
        step_id layer = add_layer(t, backward, &l->layers[i]);
        add_again(t, layer, l, i);
        layers_loops[loop].add_backward(t, layer, l, i);
    }
}

void layers_build_step(struct step_tree *t, const struct layers *l, int32_t loop)
{
    assert(t->n_nodes == 0);
    layers_add_passes(t, add_sum(t, -1, "step"), l, loop);
}

struct phase_conf {
    double compute_ns, compute_ms;
    yaml_id collectives;
};

static const struct key phase_keys[] = {
    REAL_KEY(phase_conf, "compute_ns", compute_ns, "ns", COMPUTE_MAX_NS,
             "compute time of one NPU; absent: none"),
    REAL_KEY(phase_conf, "compute_ms", compute_ms, "ms", COMPUTE_MAX_MS, "the same in milliseconds"),
    NODE_KEY(phase_conf, "collectives", collectives, "list of collectives, run after the compute"),
};

SECTION(step_phase_section, "layers.forward",
        "work of one layer in one phase; input_grad and weight_grad have the same keys", phase_keys);

struct layer_conf {
    const char *name;
    int64_t times;
    yaml_id phases[LAYERS_PHASES];
};

static const struct key layer_keys[] = {
    TEXT_KEY(layer_conf, "name", name, "for reports"),
    COUNT_KEY(layer_conf, "times", times, 1, TIMES_MAX, 1, "how many equal layers this one stands for"),
    NODE_KEY(layer_conf, "forward", phases[STEP_FORWARD], "work of the forward pass"),
    NODE_KEY(layer_conf, "input_grad", phases[STEP_INPUT_GRAD], "work for the gradient of the layer's input"),
    NODE_KEY(layer_conf, "weight_grad", phases[STEP_WEIGHT_GRAD],
             "work for the gradient of the layer's weights"),
};

SECTION(step_layer_section, "layers", "one layer; layers stand in forward order", layer_keys);

static int read_phase(struct layers *l, enum step_phase phase, const struct step_tree *t,
                      const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct phase_conf conf;
    double compute_s = NAN;
    int rc;
    if ((rc = schema_read(&conf, &step_phase_section, doc, map, e)) ||
        (rc = step_compute_s(&compute_s, conf.compute_ns, conf.compute_ms, doc, map, e)))
        return rc;
    l->layers[l->n_layers - 1].phases[phase].compute_s = isnan(compute_s) ? 0 : compute_s;
    if (conf.collectives < 0)
        return 0;
    if ((rc = yaml_need(doc, conf.collectives, YAML_SEQ, e)))
        return rc;
    yaml_each (entry, doc, conf.collectives) {
        struct step_node collective;
        if ((rc = step_read_collective(&collective, t, doc, entry, e)) ||
            (rc = layers_add_collective(l, phase, collective, e)))
            return rc;
    }
    return 0;
}

static int read_layer(struct layers *l, const struct step_tree *t, const struct yaml_doc *doc, yaml_id map,
                      struct err *e)
{
    struct layer_conf conf;
    int rc = schema_read(&conf, &step_layer_section, doc, map, e);
    if (rc)
        return rc;
    struct layers_layer *layer = layers_add(l, conf.name, e);
    if (!layer)
        return e->code;
    layer->times = (double)conf.times;
    if (l->recompute != LAYERS_RECOMPUTE_NONE) {
        layer->again_begin = l->n_layers - 1;
        layer->again_end = l->n_layers;
    }
    bool empty = true;
    for (int phase = 0; phase < LAYERS_PHASES && !rc; phase++)
        if (conf.phases[phase] >= 0) {
            empty = false;
            rc = read_phase(l, (enum step_phase)phase, t, doc, conf.phases[phase], e);
        }
    if (!rc && empty)
        return yaml_fail(doc, map, e, ERR_PARSE, "has no work, need forward, input_grad or weight_grad");
    return rc;
}

int layers_read(struct layers *l, const struct step_tree *t, const struct yaml_doc *doc, yaml_id list,
                struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (doc->nodes[list].n == 0)
        return yaml_fail(doc, list, e, ERR_PARSE, "is empty, need at least one layer");
    yaml_each (map, doc, list) {
        if ((rc = read_layer(l, t, doc, map, e)))
            return rc;
    }
    return 0;
}
