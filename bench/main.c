/*
 * bench [SUBJECT...]: measures what README and docs say about speed; without a subject, all. Ends with 1 when
 * a promise is missed or a speed fell since the last release (bench/last.txt; $KEEP is written anew). Speeds
 * are kept by processor time, as multiples of a loop: beside 20 other processes they moved by 2 % at most.
 * Reads shipped files below configs/, so it is started at the top of the tree.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topo/graph.h"

static const struct {
    const char *name;
    void (*run)(struct bench *b);
} subjects[] = {
    { "eval", bench_eval },     { "grid", bench_grid },     { "split", bench_split },
    { "sweep", bench_sweep },   { "chunk", bench_chunk },   { "flow", bench_flow },
    { "search", bench_search }, { "graph", bench_graph },   { "cluster", bench_cluster },
    { "hetero", bench_hetero }, { "gossip", bench_gossip }, { "store", bench_store },
    { "shell", bench_shell },   { "best", bench_best },
};
enum { N_SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* What the processor calls itself; "" where the system does not say. */
static void read_processor(char *name, size_t size)
{
    static const char key[] = "model name";
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    name[0] = '\0';
    while (f && !name[0] && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (value && strncmp(line, key, sizeof key - 1) == 0)
            snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (f)
        fclose(f);
}

static void print_machine(void)
{
#if defined(__clang__)
    static const char compiler[] = __VERSION__;
#else
    static const char compiler[] = "gcc " __VERSION__;
#endif
    char processor[192];
    read_processor(processor, sizeof processor);
    printf("%s, %ld cores, one in use; compiled by %s\n", processor[0] ? processor : "unknown processor",
           sysconf(_SC_NPROCESSORS_ONLN), compiler);
    puts("Best of many runs, taken in turns. Spread: how much longer the median run took.");
}

static int find_subject(const char *name)
{
    for (int i = 0; i < N_SUBJECTS; i++)
        if (strcmp(name, subjects[i].name) == 0)
            return i;
    bench_stop("subject is \"%s\", expected eval, grid, split, sweep, chunk, flow, search, graph, cluster, "
               "hetero, gossip, store, shell or best",
               name);
}

int main(int argc, char **argv)
{
    struct bench b = { 0 };
    bool asked[N_SUBJECTS] = { false };
    for (int i = 1; i < argc; i++)
        asked[find_subject(argv[i])] = true;
    topo_graph_init();
    bench_keep(&b, "bench/last.txt");
    print_machine();
    for (int i = 0; i < N_SUBJECTS; i++)
        if (argc == 1 || asked[i])
            subjects[i].run(&b);
    const char *keep = getenv("KEEP");
    const int fell = bench_close(&b, keep && *keep ? keep : NULL);
    printf("%d promises met, %d missed\n", b.met, b.missed);
    return b.missed > 0 || fell > 0;
}
