#include "cli/import_trace.h"
#include "cli/output.h"
#include "sim/astra/astra_file.h"

/* Where the study comes from, as comments. */
static void put_head(struct text *out, const struct run *run)
{
    struct text head = { 0 };
    output_head(&head, run, (struct origin){ .known = false });
    for (const char *s = text_str(&head); *s; s++) {
        if (s == text_str(&head) || s[-1] == '\n')
            text_puts(out, "# ");
        text_add(out, s, 1);
    }
    out->failed = out->failed || head.failed;
    text_free(&head);
}

static int read_files(struct sim_astra_file *f, const struct run *run, struct err *e)
{
    struct yaml_doc doc;
    int rc = yaml_read_file(&doc, run->opt.operands[0], e);
    *f = (struct sim_astra_file){ 0 };
    if (!rc)
        rc = sim_astra_read_network(f, &doc, e);
    yaml_free(&doc);
    if (rc || !run->opt.operands[1])
        return rc;
    rc = yaml_read_file(&doc, run->opt.operands[1], e);
    if (!rc)
        rc = sim_astra_read_system(f, &doc, e);
    yaml_free(&doc);
    return rc;
}

static int run_import(struct run *run, struct err *e)
{
    struct sim_astra_file f = { 0 };
    struct text out = { 0 };
    int rc = output_check(run, NULL, e);
    if (!rc && run->opt.trace >= 0)
        return import_trace(run, e);
    if (!rc)
        rc = import_trace_check_absent(&run->opt, e);
    if (!rc)
        rc = read_files(&f, run, e);
    if (!rc) {
        put_head(&out, run);
        sim_astra_format_study(&out, &f);
        rc = output_write(run, &out, e);
    }
    if (!rc)
        output_notes(run, &f.notes);
    text_free(&out);
    sim_astra_file_free(&f);
    return rc;
}

const struct command cmd_import = {
    .group = "Other programs",
    .name = "import",
    .help = "a network and system of ASTRA-sim 2 as a study; a job trace of a cluster as a table",
    .about =
        "Print the network that an ASTRA-sim 2 network file (YAML) describes, and how a system file (JSON)\n"
        "runs collectives on it, as a study. Their GB/s are 2^30 B/s of one link, their latency is that of\n"
        "one link; both are converted. What has no counterpart is a warning, and a comment in the study.\n"
        "The other way: weft topo --astra, --astra-system.\n"
        "With --trace, print the jobs of a cluster's trace as one CSV table instead. What the trace lacks "
        "stays\n"
        "blank, or is drawn from a profile and named in column synthetic.\n",
    .scope =
        SCOPE(1, 2, "NETWORK.yml [SYSTEM.json] | --trace FORMAT FILE", &import_trace_options, &options_files),
    .run = run_import,
};
