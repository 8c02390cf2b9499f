/* Any bytes as a system, or behind a line "---" in place of it as a network, of ASTRA-sim 2: refused with a
 * message, or a study that weft reads. For libFuzzer. */
#include <assert.h>
#include <string.h>

#include "sim/astra/astra_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char network[] = "topology: [ Ring, Switch ]\nnpus_count: [ 4, 8 ]\n"
                              "bandwidth: [ 50, 25 ]\nlatency: [ 500, 700 ]\n";

static int read_text(struct sim_astra_file *f, const char *text, size_t n, bool system, struct err *e)
{
    struct yaml_doc doc;
    int rc = yaml_read_text(&doc, "fuzz", text, n, e);
    if (!rc)
        rc = system ? sim_astra_read_system(f, &doc, e) : sim_astra_read_network(f, &doc, e);
    yaml_free(&doc);
    assert(rc == 0 ? e->code == 0 : (e->code == (enum err_code)rc && e->msg[0]));
    return rc;
}

static void check_study(const struct sim_astra_file *f)
{
    struct text study = { 0 };
    struct yaml_doc doc;
    struct topo_network net;
    struct sim_rules rules;
    struct err e = { 0 };
    sim_astra_format_study(&study, f);
    assert(yaml_read_text(&doc, "study", text_str(&study), study.n, &e) == 0);
    assert(topo_read_network(&net, &doc, yaml_get(&doc, doc.root, "network"), &e) == 0);
    yaml_id simulation = yaml_get(&doc, doc.root, "simulation");
    assert(simulation < 0 || sim_rules_read(&rules, &net, &doc, simulation, &e) == 0);
    yaml_free(&doc);
    text_free(&study);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_astra_file f = { 0 };
    struct err e = { 0 };
    bool is_network = size >= 4 && memcmp(data, "---\n", 4) == 0;
    int rc = is_network ? read_text(&f, (const char *)data, size, false, &e)
                        : read_text(&f, network, sizeof network - 1, false, &e);
    if (!rc && !is_network)
        rc = read_text(&f, (const char *)data, size, true, &e);
    if (!rc)
        check_study(&f);
    sim_astra_file_free(&f);
    return 0;
}
