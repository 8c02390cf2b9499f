#include "workloads/chakra_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/group.h"

int chakra_take_group(int32_t *group, struct step_tree *t, const char *name, const int32_t *members,
                      const int32_t *stride, struct err *e)
{
    size_t n = (size_t)t->n_dims * sizeof *members;
    for (int32_t g = 0; g < t->n_groups; g++)
        if (memcmp(t->groups[g].members, members, n) == 0 && memcmp(t->groups[g].stride, stride, n) == 0) {
            *group = g;
            return 0;
        }
    if (t->n_groups >= GROUP_MAX)
        return err_set(e, ERR_RANGE, "%s: group \"%s\" is one too many, need at most %d different ones",
                       t->name, name, GROUP_MAX);
    *group = step_add_group_after(t, name, members, stride);
    return step_check(t, e);
}

/* ---- ranks of a process group ---- */

/* Which NPU along dimension d; NPUs are counted with the innermost dimension fastest. */
static int32_t coordinate(const struct topo_network *net, int32_t rank, int32_t d)
{
    for (int32_t k = 0; k < d; k++)
        rank /= net->dims[k].size;
    return rank % net->dims[d].size;
}

/* Do two ranks differ along no dimension but d? */
static bool only_along(const struct topo_network *net, int32_t a, int32_t b, int32_t d)
{
    for (int32_t k = 0; k < net->n_dims; k++)
        if (k != d && coordinate(net, a, k) != coordinate(net, b, k))
            return false;
    return true;
}

/*
 * Of ranks that are a rectangle, in ascending order, the first m_1 differ along dimension 1 only, every
 * m_1-th of the first m_1 m_2 along dimension 2 only, and so on. False when they are none.
 */
static bool find_rectangle(int32_t *members, int32_t *stride, const struct topo_network *net,
                           const int32_t *ranks, int32_t n)
{
    int64_t block = 1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        int32_t m = 1, first = coordinate(net, ranks[0], d);
        while (block * m < n && only_along(net, ranks[0], ranks[block * m], d))
            m++;
        members[d] = m;
        stride[d] = m > 1 ? coordinate(net, ranks[block], d) - first : 1;
        block *= m;
        int64_t period = (int64_t)stride[d] * m;
        if (m > 1 && (net->dims[d].size % period || first % period >= stride[d]))
            return false;
    }
    return block == n;
}

static bool is_rectangle(const int32_t *members, const int32_t *stride, const struct topo_network *net,
                         const int32_t *ranks, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        int64_t rank = ranks[0], weight = 1;
        int32_t rest = k;
        for (int32_t d = 0; d < net->n_dims; d++) {
            rank += weight * stride[d] * (rest % members[d]);
            rest /= members[d];
            weight *= net->dims[d].size;
        }
        if (rank != ranks[k])
            return false;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The ranks of a list, sorted, each once. */
static int read_ranks(int32_t *ranks, const struct yaml_doc *doc, yaml_id list,
                      const struct topo_network *net, struct err *e)
{
    int32_t n = 0;
    yaml_each (id, doc, list) {
        int64_t rank;
        int rc = yaml_count(doc, id, &rank, e);
        if (rc)
            return rc;
        if (rank >= net->n_npus)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, need 0 to %lld", (long long)rank,
                             (long long)net->n_npus - 1);
        ranks[n++] = (int32_t)rank;
    }
    qsort(ranks, (size_t)n, sizeof *ranks, by_number);
    for (int32_t k = 1; k < n; k++)
        if (ranks[k] == ranks[k - 1])
            return yaml_fail(doc, list, e, ERR_RANGE, "has rank %d twice, need each once", ranks[k]);
    return 0;
}

static int refuse_shape(const struct yaml_doc *doc, yaml_id list, const char *id,
                        const struct topo_network *net, struct err *e)
{
    struct text dims = { 0 };
    char place[400];
    for (int32_t d = 0; d < net->n_dims; d++)
        text_printf(&dims, "%s%d", d ? ", " : "[", net->dims[d].size);
    err_set(
        e, ERR_RANGE,
        "%s: communicator group \"%s\" is no rectangle of the dimensions %s], need equal steps along each",
        yaml_place(doc, list, place, sizeof place), id, text_str(&dims));
    text_free(&dims);
    return e->code;
}

static int shape_of(int32_t *group, struct step_tree *t, const struct topo_network *net,
                    const struct yaml_doc *doc, yaml_id list, const char *id, int32_t rank, int32_t *ranks,
                    struct err *e)
{
    int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS], n = doc->nodes[list].n;
    char name[TOPO_NAME];
    int rc = read_ranks(ranks, doc, list, net, e);
    if (rc)
        return rc;
    if (!bsearch(&rank, ranks, (size_t)n, sizeof *ranks, by_number))
        return yaml_fail(doc, list, e, ERR_RANGE, "does not have rank %d, whose trace names it", rank);
    if (!find_rectangle(members, stride, net, ranks, n) || !is_rectangle(members, stride, net, ranks, n))
        return refuse_shape(doc, list, id, net, e);
    snprintf(name, sizeof name, "group %s", id);
    return chakra_take_group(group, t, name, members, stride, e);
}

int chakra_process_group(int32_t *group, struct step_tree *t, const struct topo_network *net,
                         const struct yaml_doc *groups, const char *id, int32_t rank, struct err *e)
{
    yaml_id list = yaml_get(groups, groups->root, id);
    if (list < 0)
        return yaml_fail(groups, groups->root, e, ERR_PARSE, "has no communicator group \"%s\", need it", id);
    int rc = yaml_need(groups, list, YAML_SEQ, e);
    if (rc)
        return rc;
    int32_t n = groups->nodes[list].n;
    if (n == 0)
        return yaml_fail(groups, list, e, ERR_PARSE, "is empty, need at least one rank");
    int32_t *ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks)
        return err_nomem(e, "ranks");
    rc = shape_of(group, t, net, groups, list, id, rank, ranks, e);
    free(ranks);
    return rc;
}

/* ---- point to point ---- */

int chakra_send_group(int32_t *group, struct step_tree *t, const struct topo_network *net, int32_t src,
                      int32_t dst, struct err *e)
{
    int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS];
    struct text name = { 0 };
    text_puts(&name, "send");
    for (int32_t d = 0; d < net->n_dims; d++) {
        int32_t size = net->dims[d].size;
        int32_t far = abs(coordinate(net, dst, d) - coordinate(net, src, d));
        members[d] = far == 0 ? 1 : size % far == 0 ? size / far : size;
        stride[d] = far > 0 && size % far == 0 ? far : 1;
        if (far > 0)
            text_printf(&name, " %s:%d", net->dims[d].name, stride[d]);
    }
    int rc = text_check(&name, e);
    if (!rc)
        rc = chakra_take_group(group, t, text_str(&name), members, stride, e);
    text_free(&name);
    return rc;
}
