#include "cli/run_kind.h"
#include "kinds/place/place.h"

static const struct option place_rows[] = {
    { .name = "list",
      .help = "list the schedulers and the columns of each model",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_THREADS("runs"),
    EXTRA_OPTION(place, runs, "CSV of all runs, a row for each point, scheduler and seed"),
    EXTRA_OPTION(place, jobs,
                 "CSV of jobs: arrival, start, end, utility; of the first seed of each point, as all below"),
    EXTRA_OPTION(place, places, "CSV of who ran where and when (plot gantt)"),
    EXTRA_OPTION(place, slots, "CSV of the cluster over time"),
    EXTRA_OPTION(place, links, "CSV of the load of every link over time (plot links)"),
};

static const struct option_group place_options = { "Placement", place_rows,
                                                   sizeof place_rows / sizeof *place_rows };

static int run_place(struct run *run, struct err *e)
{
    struct extra extras[] = { { .name = "runs", .path = run->opt.place_runs },
                              { .name = "jobs", .path = run->opt.place_jobs },
                              { .name = "places", .path = run->opt.place_places },
                              { .name = "slots", .path = run->opt.place_slots },
                              { .name = "links", .path = run->opt.place_links } };
    return run_kind(run, &place_kind, extras, sizeof extras / sizeof *extras, e);
}

const struct command cmd_place = {
    .group = "A cluster",
    .name = "place",
    .help = "jobs on the servers of a network, under several schedulers",
    .about =
        "Run the jobs of STUDY on its cluster under each of its schedulers, for every combination of the\n"
        "values under `vary` and for each seed, and write one row for each point and scheduler: means over\n"
        "the seeds with half of their 95 % interval. SIGINT stops it after the runs under way (a second one "
        "at once) and writes nothing.\n",
    .scope = SCOPE(0, 1, "STUDY", &place_options, &options_study, &options_format, &options_files),
    .run = run_place,
};
