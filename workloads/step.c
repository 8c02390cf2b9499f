/*
 * The training step as an expression: leaves are seconds of compute and collectives, inner nodes sum, max and
 * repeat. Nodes live in one array and refer to each other by number; a tree is built from the root down and
 * checked once at the end (step_check()). Beside it: groups of NPUs, as members and strides per dimension,
 * filled from the innermost outwards; lists of layers and the loops that make a step of them; and the
 * lowering of collectives into transfers of one dimension each, so that time is convex in bandwidth.
 */
#include "workloads/step.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

const char *const step_phase_names[N_STEP_PHASES + 1] = {
    [STEP_FORWARD] = "forward",     [STEP_INPUT_GRAD] = "input-grad", [STEP_WEIGHT_GRAD] = "weight-grad",
    [STEP_RECOMPUTE] = "recompute", [STEP_OTHER] = "other",           [STEP_BUBBLE] = "bubble",
    [STEP_OPTIMIZER] = "optimizer", [STEP_OVERHEAD] = "overhead",
};

void step_free(struct step_tree *t)
{
    free(t->nodes);
    free(t->groups);
    text_free(&t->notes);
    *t = (struct step_tree){ .root = -1 };
}

void step_set_name(char out[TOPO_NAME], const char *name)
{
    size_t n = name ? strnlen(name, TOPO_NAME - 1) : 0;
    memcpy(out, name ? name : "", n);
    out[n] = '\0';
}

void step_begin(struct step_tree *t, const char *name, const struct topo_network *net)
{
    int32_t all[TOPO_MAX_DIMS];
    *t = (struct step_tree){ .root = -1, .n_dims = net->n_dims };
    snprintf(t->name, sizeof t->name, "%s", name ? name : "");
    for (int32_t d = 0; d < net->n_dims; d++)
        all[d] = net->dims[d].size;
    step_add_group(t, "all", all);
}

/* Appends a node as the last child of @p parent. Failures are kept in `failed` and reported by step_check(),
 * so that building needs no check at each node. */
step_id step_add(struct step_tree *t, step_id parent, struct step_node node)
{
    t->failed = t->failed || !vec_reserve(t->nodes, t->cap_nodes, t->n_nodes + 1);
    if (t->failed)
        return -1;
    step_id id = t->n_nodes++;
    node.first = node.last = node.next = -1;
    t->nodes[id] = node;
    if (parent < 0) {
        t->root = id;
        return id;
    }
    struct step_node *p = &t->nodes[parent];
    assert(p->kind == STEP_SUM || p->kind == STEP_MAX || (p->kind == STEP_REPEAT && p->first < 0));
    if (p->first < 0)
        p->first = id;
    else
        t->nodes[p->last].next = id;
    p->last = id;
    return id;
}

int32_t step_add_group(struct step_tree *t, const char *name, const int32_t *members)
{
    static const int32_t next_to_each_other[TOPO_MAX_DIMS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    return step_add_group_after(t, name, members, next_to_each_other);
}

/* Members and strides beyond the network's dimensions are 1, so that groups compare by their bytes. */
int32_t step_add_group_after(struct step_tree *t, const char *name, const int32_t *members,
                             const int32_t *stride)
{
    struct step_group group = { .name = "" };
    t->failed = t->failed || !vec_reserve(t->groups, t->cap_groups, t->n_groups + 1);
    if (t->failed)
        return -1;
    step_set_name(group.name, name);
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        group.members[d] = d < t->n_dims ? members[d] : 1;
        group.stride[d] = d < t->n_dims ? stride[d] : 1;
    }
    t->groups[t->n_groups] = group;
    return t->n_groups++;
}

int step_check(const struct step_tree *t, struct err *e)
{
    return t->failed ? err_nomem(e, "the training step") : 0;
}

int32_t step_find_group(const struct step_tree *t, const char *name)
{
    for (int32_t g = 0; g < t->n_groups; g++)
        if (strcmp(t->groups[g].name, name) == 0)
            return g;
    return -1;
}

/* "[4, 8]" */
static void format_sizes(struct text *t, const int32_t *sizes, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        text_printf(t, "%s%d", d ? ", " : "[", sizes[d]);
    text_puts(t, "]");
}

static int64_t group_product(const int32_t *sizes, int32_t n_dims)
{
    int64_t n = 1;
    for (int32_t d = 0; d < n_dims; d++)
        n *= sizes[d];
    return n;
}

static int refuse_size(const int32_t *left, int32_t n_dims, int64_t size, struct err *e)
{
    struct text dims = { 0 };
    if (!e)
        return ERR_RANGE;
    format_sizes(&dims, left, n_dims);
    err_set(e, ERR_RANGE, "is %lld, expected a size that divides along dimensions %s", (long long)size,
            text_str(&dims));
    text_free(&dims);
    return e->code;
}

/* Takes members from the innermost dimension outwards; a size must use up a dimension or divide it, or the
 * group would not be a box. */
int group_fill(int32_t *members, const int32_t *left, int32_t n_dims, int64_t size, struct err *e)
{
    int64_t n_left = group_product(left, n_dims);
    if (size < 1 || size > n_left)
        return err_set(e, ERR_RANGE, "is %lld, expected 1 to %lld, the NPUs that are left", (long long)size,
                       (long long)n_left);
    int64_t wanted = size;
    for (int32_t d = 0; d < n_dims; d++) {
        if (wanted % left[d] == 0)
            members[d] = left[d];
        else if (left[d] % wanted == 0)
            members[d] = (int32_t)wanted;
        else
            return refuse_size(left, n_dims, size, e);
        wanted /= members[d];
    }
    return 0;
}

static int64_t greatest_common(int64_t a, int64_t b)
{
    return b ? greatest_common(b, a % b) : a;
}

/* The box of @p size NPUs with most members inside, where it need not use up a dimension before the next. */
static bool group_spread(int32_t *members, const int32_t *left, int32_t n_dims, int64_t size)
{
    for (int32_t d = 0; d < n_dims; d++) {
        members[d] = (int32_t)greatest_common(size, left[d]);
        size /= members[d];
    }
    return size == 1;
}

void group_rest(int32_t *rest, const int32_t *sizes, const int32_t *members, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        rest[d] = sizes[d] / members[d];
}

/* Groups read so far, and for each the set of groups it comes after, closed under "after". */
struct group_reading {
    struct step_tree *t;
    const struct yaml_doc *doc;
    const struct topo_network *net;
    uint64_t after[GROUP_MAX];
    int64_t size; /* of the group that is read; -1: not said */
};

static const struct key group_keys[] = {
    K_COUNT(struct group_reading, size, "size", 1, TOPO_MAX_NPUS, SCHEMA_NONE,
            "NPUs, taken from the innermost dimension outwards (default: all that is left)"),
    K_ELSEWHERE(
        "after",
        "group, or list of groups, written above: take from what they, and those they come after, leave",
        .form = "text or list of texts"),
    K_ELSEWHERE("members", "instead of size: how many of each dimension, innermost first; 1 = not used",
                .form = "list of counts"),
};

K_SECTION(step_group_section, struct group_reading, "groups", group_keys,
          "NPUs that take part in a collective; \"all\", every NPU, is there already");

static uint64_t bit(int32_t group)
{
    return (uint64_t)1 << group;
}

/* A group stands behind another and behind all that one stands behind, as a set of bits. */
static int add_after(uint64_t *set, const struct group_reading *r, yaml_id id, struct err *e)
{
    const char *name;
    int rc = yaml_text(r->doc, id, &name, e);
    if (rc)
        return rc;
    int32_t group = step_find_group(r->t, name);
    if (group < 0)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is \"%s\", expected a group defined above", name);
    *set |= bit(group) | r->after[group];
    return 0;
}

/* One group or a list of them. */
static int read_after(uint64_t *set, const struct group_reading *r, yaml_id id, struct err *e)
{
    *set = 0;
    if (id < 0)
        return 0;
    if (r->doc->nodes[id].kind != YAML_SEQ)
        return add_after(set, r, id, e);
    yaml_each (entry, r->doc, id) {
        int rc = add_after(set, r, entry, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Two groups of a dimension must follow each other: else both start at its first member, and
 * what they leave together is not a rectangle. */
static int check_order(const struct group_reading *r, uint64_t set, yaml_id id, struct err *e)
{
    for (int32_t a = 0; a < r->t->n_groups; a++)
        for (int32_t b = a + 1; b < r->t->n_groups; b++) {
            if (!(set & bit(a)) || !(set & bit(b)) || (r->after[b] & bit(a)))
                continue;
            const struct step_group *x = &r->t->groups[a], *y = &r->t->groups[b];
            for (int32_t d = 0; d < r->t->n_dims; d++)
                if (x->members[d] > 1 && y->members[d] > 1)
                    return yaml_fail(
                        r->doc, id, e, ERR_RANGE,
                        "has \"%s\" and \"%s\", which share dimension \"%s\", expected one after the other",
                        x->name, y->name, r->net->dims[d].name);
        }
    return 0;
}

static void take_left(int32_t *left, const struct group_reading *r, uint64_t set)
{
    for (int32_t d = 0; d < r->t->n_dims; d++) {
        left[d] = r->net->dims[d].size;
        for (int32_t g = 0; g < r->t->n_groups; g++)
            if (set & bit(g))
                left[d] /= r->t->groups[g].members[d];
    }
}

/* Explicit members per dimension, for groups that do not fill from the inside. */
static int read_members(int32_t *members, const int32_t *left, const struct group_reading *r, yaml_id list,
                        struct err *e)
{
    int rc = yaml_need(r->doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (r->doc->nodes[list].n != r->t->n_dims)
        return yaml_fail(r->doc, list, e, ERR_RANGE, "has %d entries, expected %d, one per dimension",
                         r->doc->nodes[list].n, r->t->n_dims);
    yaml_each (entry, r->doc, list) {
        int64_t n;
        int32_t d = r->doc->nodes[entry].index;
        if ((rc = yaml_count(r->doc, entry, &n, e)))
            return rc;
        if (n < 1 || n > left[d] || left[d] % n)
            return yaml_fail(r->doc, entry, e, ERR_RANGE, "is %lld, expected a divisor of %d", (long long)n,
                             left[d]);
        members[d] = (int32_t)n;
    }
    return 0;
}

/* Neighbours, or, where they would fill a leaf and part of another, as many in each: with a word. */
static int read_size(int32_t *members, const int32_t *left, struct group_reading *r, yaml_id map,
                     int64_t size, struct err *e)
{
    struct err inner = { 0 };
    char place[400];
    yaml_id id = yaml_get(r->doc, map, "size");
    if (!group_fill(members, left, r->t->n_dims, size, &inner))
        return 0;
    if (size < 1 || !group_spread(members, left, r->t->n_dims, size))
        return yaml_fail(r->doc, id, e, inner.code, "%s", inner.msg);
    text_printf(&r->t->notes, "%s: groups.%s.size is %lld, which neighbours would fill unevenly; taken as ",
                yaml_place(r->doc, id, place, sizeof place), r->doc->nodes[map].key, (long long)size);
    format_sizes(&r->t->notes, members, r->t->n_dims);
    text_puts(&r->t->notes, " of ");
    format_sizes(&r->t->notes, left, r->t->n_dims);
    text_puts(&r->t->notes, ", as many in each\n");
    return 0;
}

/* size or members, in what the groups named in `after` leave of the network. */
static int read_group(struct group_reading *r, yaml_id map, struct err *e)
{
    yaml_id after = yaml_get(r->doc, map, "after"), of_dims = yaml_get(r->doc, map, "members");
    uint64_t set;
    int32_t left[TOPO_MAX_DIMS], members[TOPO_MAX_DIMS];
    int rc;
    if ((rc = schema_read(r, &step_group_section, r->doc, map, e)))
        return rc;
    if (r->size >= 0 && of_dims >= 0)
        return yaml_fail(r->doc, map, e, ERR_PARSE, "has size and members; give one of them");
    if ((rc = read_after(&set, r, after, e)) || (rc = check_order(r, set, after, e)))
        return rc;
    take_left(left, r, set);
    if (of_dims >= 0)
        rc = read_members(members, left, r, of_dims, e);
    else
        rc = read_size(members, left, r, map, r->size >= 0 ? r->size : group_product(left, r->t->n_dims), e);
    if (rc)
        return rc;
    /* What those before take of a dimension lies between two members. Group 0 is every NPU. */
    int32_t stride[TOPO_MAX_DIMS];
    group_rest(stride, r->t->groups[0].members, left, r->t->n_dims);
    int32_t group = step_add_group_after(r->t, r->doc->nodes[map].key, members, stride);
    if (group >= 0)
        r->after[group] = set;
    return step_check(r->t, e);
}

/* Names are limited as reports show them; "all" is there already. */
static int check_name(const struct group_reading *r, yaml_id map, struct err *e)
{
    const char *name = r->doc->nodes[map].key;
    if (strlen(name) >= TOPO_NAME)
        return yaml_fail(r->doc, map, e, ERR_RANGE, "has a name of %zu bytes, expected at most %d",
                         strlen(name), TOPO_NAME - 1);
    if (step_find_group(r->t, name) >= 0)
        return yaml_fail(r->doc, map, e, ERR_PARSE, "is predefined (every NPU); choose another name");
    if (r->t->n_groups >= GROUP_MAX)
        return yaml_fail(r->doc, map, e, ERR_RANGE, "is one group too many, expected at most %d", GROUP_MAX);
    return 0;
}

/* Groups may only refer to those above them, so that there are no cycles. */
int group_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
               struct err *e)
{
    struct group_reading r = { .t = t, .doc = doc, .net = net };
    int rc = yaml_need(doc, node, YAML_MAP, e);
    if (rc)
        return rc;
    yaml_each (map, doc, node) {
        if ((rc = check_name(&r, map, e)) || (rc = read_group(&r, map, e)))
            return rc;
    }
    return 0;
}

const char *const layers_recompute_names[] = { "none", "collectives", "forward", NULL };

void layers_free(struct layers *l)
{
    free(l->layers);
    free(l->collectives);
    *l = (struct layers){ 0 };
}

/* Layers stand for times equal ones; phases are filled afterwards. */
struct layers_layer *layers_add(struct layers *l, const char *name, struct err *e)
{
    if (!vec_reserve(l->layers, l->cap_layers, l->n_layers + 1)) {
        err_nomem(e, "layers");
        return NULL;
    }
    struct layers_layer *layer = &l->layers[l->n_layers++];
    *layer = (struct layers_layer){ .times = 1 };
    step_set_name(layer->name, name);
    return layer;
}

/* Collectives of one phase of one layer are neighbours in one array: a phase needs only first and count. */
int layers_add_collective(struct layers *l, enum step_phase phase, struct step_node collective, struct err *e)
{
    if (!vec_reserve(l->collectives, l->cap_collectives, l->n_collectives + 1))
        return err_nomem(e, "collectives");
    assert(l->n_layers > 0 && (int)phase < LAYERS_PHASES);
    struct layers_phase *p = &l->layers[l->n_layers - 1].phases[phase];
    if (p->count == 0)
        p->first = l->n_collectives;
    assert(p->first + p->count == l->n_collectives);
    p->count++;
    l->collectives[l->n_collectives++] = collective;
    return 0;
}

static void layers_add_compute(struct step_tree *t, step_id parent, const struct layers_layer *layer,
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
    layers_add_compute(t, parent, &l->layers[i], work, work);
    add_collectives(t, parent, l, &l->layers[i], work, work);
}

static step_id add_sum(struct step_tree *t, step_id parent, const char *name)
{
    struct step_node node = { .kind = STEP_SUM, .phase = STEP_OTHER };
    step_set_name(node.name, name);
    return step_add(t, parent, node);
}

/* Where the work of one layer goes: below a repeat when it stands for several. */
static step_id layers_add_layer(struct step_tree *t, step_id parent, const struct layers_layer *layer)
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
            layers_add_compute(t, parent, layer, STEP_FORWARD, STEP_RECOMPUTE);
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
    layers_add_compute(t, parent, layer, STEP_INPUT_GRAD, STEP_INPUT_GRAD);
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

/* Forward through the layers, backward in reverse, each with what recomputation does again. */
void layers_add_passes(struct step_tree *t, step_id parent, const struct layers *l, int32_t loop)
{
    assert(loop >= 0 && loop < N_LAYERS_LOOPS);
    step_id forward = add_sum(t, parent, "forward");
    for (int32_t i = 0; i < l->n_layers; i++)
        add_work(t, layers_add_layer(t, forward, &l->layers[i]), l, i, STEP_FORWARD);
    step_id backward = add_sum(t, parent, "backward");
    for (int32_t i = l->n_layers; i-- > 0;) {
        step_id layer = layers_add_layer(t, backward, &l->layers[i]);
        add_again(t, layer, l, i);
        layers_loops[loop].add_backward(t, layer, l, i);
    }
}

void layers_build_step(struct step_tree *t, const struct layers *l, int32_t loop)
{
    assert(t->n_nodes == 0);
    layers_add_passes(t, add_sum(t, -1, "step"), l, loop);
}

static const struct key phase_keys[] = {
    K_REAL(struct step_compute, ns, "compute_ns", "ns", 1, 0, COMPUTE_MAX_NS, SCHEMA_NONE,
           "compute time of one NPU (default: none)"),
    K_REAL(struct step_compute, ms, "compute_ms", "ms", 1, 0, COMPUTE_MAX_MS, SCHEMA_NONE,
           "the same in milliseconds"),
    K_ELSEWHERE("collectives", "list of collectives, run after the compute",
                .form = "list of <layers.forward.collectives>"),
};

K_SECTION(step_phase_section, struct step_compute, "layers.forward", phase_keys,
          "work of one layer in one phase; input_grad and weight_grad have the same keys");

/* What a layer is called, and how many it stands for. */
struct layer_head {
    const char *name;
    int64_t times;
};

static const struct key layer_keys[] = {
    K_TEXT(struct layer_head, name, "name", "name in reports"),
    K_COUNT(struct layer_head, times, "times", 1, TIMES_MAX, 1, "how many equal layers this one stands for"),
    K_ELSEWHERE("forward", "work of the forward pass", .form = "<layers.forward>"),
    K_ELSEWHERE("input_grad", "work for the gradient of the layer's input", .form = "<layers.forward>"),
    K_ELSEWHERE("weight_grad", "work for the gradient of the layer's weights", .form = "<layers.forward>"),
};

K_SECTION(step_layer_section, struct layer_head, "layers", layer_keys,
          "one layer; layers stand in forward order");

/* Compute of one phase and the collectives that follow it. */
static int read_phase(struct layers *l, enum step_phase phase, const struct step_tree *t,
                      const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct step_compute compute;
    double compute_s = NAN;
    yaml_id list = yaml_get(doc, map, "collectives");
    int rc;
    if ((rc = schema_read(&compute, &step_phase_section, doc, map, e)) ||
        (rc = step_compute_s(&compute_s, &compute, doc, map, e)))
        return rc;
    l->layers[l->n_layers - 1].phases[phase].compute_s = isnan(compute_s) ? 0 : compute_s;
    if (list < 0)
        return 0;
    if ((rc = yaml_need(doc, list, YAML_SEQ, e)))
        return rc;
    yaml_each (entry, doc, list) {
        struct step_node collective;
        if ((rc = step_read_collective(&collective, t, doc, entry, e)) ||
            (rc = layers_add_collective(l, phase, collective, e)))
            return rc;
    }
    return 0;
}

/* A layer without any work is a mistake, most likely a key in the wrong place. */
static int layers_read_layer(struct layers *l, const struct step_tree *t, const struct yaml_doc *doc,
                             yaml_id map, struct err *e)
{
    static const char *const phases[LAYERS_PHASES] = {
        [STEP_FORWARD] = "forward", [STEP_INPUT_GRAD] = "input_grad", [STEP_WEIGHT_GRAD] = "weight_grad"
    };
    struct layer_head head;
    int rc = schema_read(&head, &step_layer_section, doc, map, e);
    if (rc)
        return rc;
    struct layers_layer *layer = layers_add(l, head.name, e);
    if (!layer)
        return e->code;
    layer->times = (double)head.times;
    if (l->recompute != LAYERS_RECOMPUTE_NONE) {
        layer->again_begin = l->n_layers - 1;
        layer->again_end = l->n_layers;
    }
    bool empty = true;
    for (int phase = 0; phase < LAYERS_PHASES && !rc; phase++) {
        yaml_id at = yaml_get(doc, map, phases[phase]);
        empty = empty && at < 0;
        if (at >= 0)
            rc = read_phase(l, (enum step_phase)phase, t, doc, at, e);
    }
    if (!rc && empty)
        return yaml_fail(doc, map, e, ERR_PARSE, "has no work; give forward, input_grad or weight_grad");
    return rc;
}

/* A list of layers in forward order. */
int layers_read(struct layers *l, const struct step_tree *t, const struct yaml_doc *doc, yaml_id list,
                struct err *e)
{
    int rc = yaml_need_list(doc, list, INT32_MAX, "one layer", e);
    if (rc)
        return rc;
    yaml_each (map, doc, list) {
        if ((rc = layers_read_layer(l, t, doc, map, e)))
            return rc;
    }
    return 0;
}
