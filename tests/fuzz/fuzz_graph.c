/* Any bytes as a network of one's own, an edge list or, where they begin with '<', GraphML: refused with a
 * message, or a graph whose metrics can be asked and which is the same after it was written as GraphML and
 * read again. For libFuzzer. */
#include "tests/fuzz/memory_file.h"

#include <stdint.h>
#include <string.h>

#include "topo/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_again(const struct topo_graph *g)
{
    struct topo_graph *again = NULL;
    struct text xml = { 0 };
    struct err e = { 0 };
    char path[MEMORY_PATH];
    assert(topo_format_graphml(&xml, g, &e) == 0);
    int fd = memory_file(path, xml.s, xml.n);
    assert(topo_read_graphml(&again, path, &e) == 0);
    assert(topo_graph_npus(again) == topo_graph_npus(g) && topo_graph_links(again) == topo_graph_links(g) &&
           topo_graph_vertices(again) == topo_graph_vertices(g));
    topo_graph_free(again);
    text_free(&xml);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool began;
    struct topo_graph *g = NULL;
    struct topo_metrics m;
    struct err e = { 0 };
    char path[MEMORY_PATH];
    if (!began)
        topo_graph_init();
    began = true;
    int fd = memory_file(path, data, size);
    int rc = size > 0 && data[0] == '<' ? topo_read_graphml(&g, path, &e) : topo_read_edges(&g, path, &e);
    close(fd);
    assert(rc == 0 ? g && e.code == 0
                   : !g && e.code == (enum err_code)rc && e.msg[0] && !strchr(e.msg, '\n'));
    if (rc == 0) {
        assert(topo_graph_npus(g) >= 1);
        rc = topo_graph_metrics(&m, g, &e);
        assert(rc == 0 || e.msg[0]);
        try_again(g);
    }
    topo_graph_free(g);
    return 0;
}
