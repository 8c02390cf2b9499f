#include "workloads/group.h"

#include <string.h>

#include "workloads/step_keys.h"

/* "[4, 8]" */
static void format_sizes(struct text *t, const int32_t *sizes, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        text_printf(t, "%s%d", d ? ", " : "[", sizes[d]);
    text_puts(t, "]");
}

static int64_t product(const int32_t *sizes, int32_t n_dims)
{
    int64_t n = 1;
    for (int32_t d = 0; d < n_dims; d++)
        n *= sizes[d];
    return n;
}

static int refuse_size(const int32_t *left, int32_t n_dims, int64_t size, struct err *e)
{
    struct text dims = { 0 };
    format_sizes(&dims, left, n_dims);
    err_set(e, ERR_RANGE, "is %lld, need a size that divides along dimensions %s", (long long)size,
            text_str(&dims));
    text_free(&dims);
    return e->code;
}

int group_fill(int32_t *members, const int32_t *left, int32_t n_dims, int64_t size, struct err *e)
{
    int64_t n_left = product(left, n_dims);
    if (size < 1 || size > n_left)
        return err_set(e, ERR_RANGE, "is %lld, need 1 to %lld, the NPUs that are left", (long long)size,
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

void group_rest(int32_t *rest, const int32_t *sizes, const int32_t *members, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        rest[d] = sizes[d] / members[d];
}

struct group_conf {
    int64_t size;
    yaml_id after, members;
};

static const struct key group_keys[] = {
    COUNT_KEY(group_conf, "size", size, 1, TOPO_MAX_NPUS, SCHEMA_NONE,
              "NPUs, taken from the innermost dimension outwards; absent: all that is left"),
    NODE_KEY(
        group_conf, "after", after,
        "group, or list of groups, written above: take from what they, and those they come after, leave"),
    NODE_KEY(group_conf, "members", members,
             "instead of size: how many of each dimension, innermost first; 1 = not used"),
};

SECTION(step_group_section, "groups",
        "NPUs that take part in a collective; \"all\", every NPU, is there already", group_keys);

/* Groups read so far, and for each the set of groups it comes after, closed under "after". */
struct reading {
    struct step_tree *t;
    const struct yaml_doc *doc;
    const struct topo_network *net;
    uint64_t after[GROUP_MAX];
};

static uint64_t bit(int32_t group)
{
    return (uint64_t)1 << group;
}

static int add_after(uint64_t *set, const struct reading *r, yaml_id id, struct err *e)
{
    const char *name;
    int rc = yaml_text(r->doc, id, &name, e);
    if (rc)
        return rc;
    int32_t group = step_find_group(r->t, name);
    if (group < 0)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is \"%s\", need a group defined above", name);
    *set |= bit(group) | r->after[group];
    return 0;
}

static int read_after(uint64_t *set, const struct reading *r, yaml_id id, struct err *e)
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
static int check_order(const struct reading *r, uint64_t set, yaml_id id, struct err *e)
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
                        "has \"%s\" and \"%s\", which share dimension \"%s\", need one after the other",
                        x->name, y->name, r->net->dims[d].name);
        }
    return 0;
}

static void take_left(int32_t *left, const struct reading *r, uint64_t set)
{
    for (int32_t d = 0; d < r->t->n_dims; d++) {
        left[d] = r->net->dims[d].size;
        for (int32_t g = 0; g < r->t->n_groups; g++)
            if (set & bit(g))
                left[d] /= r->t->groups[g].members[d];
    }
}

static int read_members(int32_t *members, const int32_t *left, const struct reading *r, yaml_id list,
                        struct err *e)
{
    int rc = yaml_need(r->doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (r->doc->nodes[list].n != r->t->n_dims)
        return yaml_fail(r->doc, list, e, ERR_RANGE, "has %d entries, need %d, one per dimension",
                         r->doc->nodes[list].n, r->t->n_dims);
    yaml_each (entry, r->doc, list) {
        int64_t n;
        int32_t d = r->doc->nodes[entry].index;
        if ((rc = yaml_count(r->doc, entry, &n, e)))
            return rc;
        if (n < 1 || n > left[d] || left[d] % n)
            return yaml_fail(r->doc, entry, e, ERR_RANGE, "is %lld, need a divisor of %d", (long long)n,
                             left[d]);
        members[d] = (int32_t)n;
    }
    return 0;
}

static int read_size(int32_t *members, const int32_t *left, const struct reading *r, yaml_id map,
                     int64_t size, struct err *e)
{
    struct err inner = { 0 };
    if (group_fill(members, left, r->t->n_dims, size, &inner))
        return yaml_fail(r->doc, yaml_get(r->doc, map, "size"), e, inner.code, "%s", inner.msg);
    return 0;
}

static int read_group(struct reading *r, yaml_id map, struct err *e)
{
    struct group_conf conf;
    uint64_t set;
    int32_t left[TOPO_MAX_DIMS], members[TOPO_MAX_DIMS];
    int rc;
    if ((rc = schema_read(&conf, &step_group_section, r->doc, map, e)))
        return rc;
    if (conf.size >= 0 && conf.members >= 0)
        return yaml_fail(r->doc, map, e, ERR_PARSE, "has size and members, need one of them");
    if ((rc = read_after(&set, r, conf.after, e)) || (rc = check_order(r, set, conf.after, e)))
        return rc;
    take_left(left, r, set);
    if (conf.members >= 0)
        rc = read_members(members, left, r, conf.members, e);
    else
        rc = read_size(members, left, r, map, conf.size >= 0 ? conf.size : product(left, r->t->n_dims), e);
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

static int check_name(const struct reading *r, yaml_id map, struct err *e)
{
    const char *name = r->doc->nodes[map].key;
    if (strlen(name) >= TOPO_NAME)
        return yaml_fail(r->doc, map, e, ERR_RANGE, "has a name of %zu bytes, need at most %d", strlen(name),
                         TOPO_NAME - 1);
    if (step_find_group(r->t, name) >= 0)
        return yaml_fail(r->doc, map, e, ERR_PARSE, "is predefined (every NPU), need another name");
    if (r->t->n_groups >= GROUP_MAX)
        return yaml_fail(r->doc, map, e, ERR_RANGE, "is one group too many, need at most %d", GROUP_MAX);
    return 0;
}

int group_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
               struct err *e)
{
    struct reading r = { .t = t, .doc = doc, .net = net };
    int rc = yaml_need(doc, node, YAML_MAP, e);
    if (rc)
        return rc;
    yaml_each (map, doc, node) {
        if ((rc = check_name(&r, map, e)) || (rc = read_group(&r, map, e)))
            return rc;
    }
    return 0;
}
