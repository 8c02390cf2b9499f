/* Vertices of a graph that are alike, by igraph's BLISS; whatever the graph stands for. */
#include "topo/graph.h"

#include "topo/graph_call.h"

/* The lowest vertex of those known to be alike; paths are halved on the way. */
static int32_t orbit_root(int32_t *orbit, int32_t v)
{
    while (orbit[v] != v) {
        orbit[v] = orbit[orbit[v]];
        v = orbit[v];
    }
    return v;
}

/* Generators of the group, each a list of images: v and its image are in one orbit. */
static void join_orbits(int32_t *orbit, int32_t n, const igraph_vector_int_list_t *generators)
{
    for (int32_t v = 0; v < n; v++)
        orbit[v] = v;
    for (igraph_integer_t g = 0; g < igraph_vector_int_list_size(generators); g++) {
        const igraph_vector_int_t *image = igraph_vector_int_list_get_ptr(generators, g);
        for (int32_t v = 0; v < n; v++) {
            int32_t a = orbit_root(orbit, v), b = orbit_root(orbit, (int32_t)VECTOR(*image)[v]);
            orbit[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int32_t v = 0; v < n; v++)
        orbit[v] = orbit_root(orbit, v);
}

struct orbit_search {
    const igraph_t *graph;
    const igraph_vector_int_t *paint;
    igraph_vector_int_list_t *generators;
};

static igraph_error_t orbits_generators(void *data)
{
    const struct orbit_search *x = data;
    return igraph_automorphism_group(x->graph, x->paint, x->generators, IGRAPH_BLISS_FL, NULL);
}

int topo_find_orbits(int32_t *orbit, int32_t n_vertices, const int32_t *colors, const int32_t *ends,
                     int32_t n_edges, struct err *e)
{
    igraph_vector_int_t list, paint;
    igraph_vector_int_list_t generators;
    igraph_t graph;
    topo_graph_init();
    int rc =
        topo_from_igraph(igraph_vector_int_init(&list, 2 * (igraph_integer_t)n_edges), "graph: orbits", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(igraph_vector_int_init(&paint, n_vertices), "graph: orbits", e);
    if (rc)
        goto no_paint;
    rc = topo_from_igraph(igraph_vector_int_list_init(&generators, 0), "graph: orbits", e);
    if (rc)
        goto no_generators;
    for (int32_t i = 0; i < 2 * n_edges; i++)
        VECTOR(list)[i] = ends[i];
    for (int32_t v = 0; v < n_vertices; v++)
        VECTOR(paint)[v] = colors[v];
    rc = topo_from_igraph(igraph_create(&graph, &list, n_vertices, IGRAPH_UNDIRECTED), "graph: orbits", e);
    if (!rc) {
        rc = topo_from_igraph(
            topo_igraph_safely(orbits_generators, &(struct orbit_search){ &graph, &paint, &generators }),
            "graph: orbits", e);
        igraph_destroy(&graph);
    }
    if (!rc)
        join_orbits(orbit, n_vertices, &generators);
    igraph_vector_int_list_destroy(&generators);
no_generators:
    igraph_vector_int_destroy(&paint);
no_paint:
    igraph_vector_int_destroy(&list);
    return rc;
}
