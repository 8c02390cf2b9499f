#include "cli/front_text.h"

static const struct option front_rows[] = {
    { .name = "by",
      .value = "COLUMNS",
      .help = "2 to 5 with commas; less is better, or more: max:speedup; without it time_s,cost_usd",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_by) },
    { .name = "per",
      .value = "COLUMNS",
      .help = "a front for each of their values; without it workload; '' for one front",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_per) },
    OPTION_WHERE,
    { .name = "limit",
      .value = "TEXT",
      .help = "what does it cost? as in \"nic_GBps <= 50\", over columns; may be repeated",
      .kind = OPTION_LIST,
      .offset = offsetof(struct options, limits) },
    { .name = "design",
      .value = "POINT",
      .help = "how far is this point from the front?",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_design) },
    { .name = "at",
      .value = "VALUES",
      .help = "the same of values, as in time_s=1.2,cost_usd=3e6",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_at) },
    { .name = "behind",
      .value = "N",
      .help = "in CSV and JSON also designs behind the front, evenly through the table, at most so many",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, front_behind),
      .min = 1,
      .max = 1000000 },
};

static const struct option_group front_options = { "Front", front_rows,
                                                   sizeof front_rows / sizeof *front_rows };

static int write_front(const struct run *run, const struct front_job *j, struct err *e)
{
    struct table t = { 0 };
    struct text out = { 0 };
    int rc;
    if (output_format(run) != TABLE_AS_TEXT) {
        rc = front_table(&t, j, e);
        if (!rc)
            rc = output_table(run, &t, j->source.from, e);
    } else {
        rc = front_text(j, &out, e);
        if (!rc)
            rc = output_write(run, &out, e);
    }
    table_free(&t);
    text_free(&out);
    return rc;
}

static int run_front(struct run *run, struct err *e)
{
    struct front_job j = { 0 };
    int rc = output_check(run, NULL, e);
    if (!rc)
        rc = front_job_run(&j, run, e);
    if (!rc)
        rc = write_front(run, &j, e);
    front_job_free(&j);
    return rc;
}

const struct command cmd_front = {
    .group = "Many designs",
    .name = "front",
    .help = "the designs of a sweep that no other beats, and what a limit costs",
    .about = "Find the Pareto front of the rows that weft sweep wrote (a CSV or a store; - reads a CSV from\n"
             "standard input), mark its knee, and tell what a limit costs or how far a design is from it.\n",
    .scope = SCOPE(1, 1, "ROWS", &front_options, &options_format, &options_files),
    .run = run_front,
};
