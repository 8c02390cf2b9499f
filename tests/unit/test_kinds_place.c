#include "base/stat.h"
#include "kinds/place/place.h"
#include "study/campaign.h"
#include "study/study.h"
#include "tests/settings.h"
#include "tests/unit/study_folder.h"
#include "tests/unit/table_cells.h"

static const char wide_yaml[] = "name: wide\n"
                                "parts: prices.yaml\n"
                                "dims:\n"
                                "  - { name: node, shape: ring, size: 4, bw_GBps: 100, tier: InterNode }\n"
                                "  - { name: pod, shape: switch, size: 4, bw_GBps: 50, tier: InterPod }\n";

#define EVENTS "network: wide.yaml\nmodel: events\njobs: { trace: none.csv }\n"
#define SLOTS  "network: wide.yaml\nmodel: slots\nslots: 12\n"
#define TAU_JOBS                                                                                             \
    "progress: tau, tau: { gradient_MB: 10, reduce_GBps: 9, forward_ms: 4, samples: 16, backward_ms: 9, "    \
    "slot_s: 60 }"
#define TAU "jobs: { " TAU_JOBS " }\n"

static int read_text(struct folder *f, struct study *s, const char *text, struct err *e)
{
    put(f, "wide.yaml", wide_yaml);
    put(f, "study.yaml", text);
    return study_open(s, &(struct study_ask){ .from = { .path = f->path }, .kind = &place_kind }, e);
}

/* Tables of one run of a study. */
struct tables {
    struct table rows, runs, jobs, places, slots, links;
    struct text notes;
    struct study p;
};

static void run_text(struct tables *t, struct folder *f, const char *text, int32_t threads)
{
    struct table *extras[STUDY_MAX_TABLES] = { NULL, &t->runs, &t->jobs, &t->places, &t->slots, &t->links };
    *t = (struct tables){ .p = { .seed = 0 } };
    MUST(read_text(f, &t->p, text, e));
    MUST(campaign_tables(&t->rows, extras, &t->notes, &t->p, threads, e));
}

static void tables_free(struct tables *t)
{
    table_free(&t->rows);
    table_free(&t->runs);
    table_free(&t->jobs);
    table_free(&t->places);
    table_free(&t->slots);
    table_free(&t->links);
    text_free(&t->notes);
    study_close(&t->p);
}

/* Is row @p b of @p runs one of point and scheduler of row @p a of @p rows? */
static bool is_of(const struct table *rows, int64_t a, const struct table *runs, int64_t b)
{
    return number(rows, a, "point") == number(runs, b, "point") &&
           strcmp(word(rows, a, "scheduler"), word(runs, b, "scheduler")) == 0;
}

/* ---- rows ---- */

/* Mean, half width and beats_next of every row, from the rows of runs. */
static void check_means(const struct tables *t, const char *metric)
{
    char ci[64];
    snprintf(ci, sizeof ci, "%s_ci", metric);
    for (int64_t a = 0; a < t->rows.n_rows; a++) {
        double x[16];
        int64_t n = 0;
        for (int64_t b = 0; b < t->runs.n_rows; b++)
            if (is_of(&t->rows, a, &t->runs, b))
                x[n++] = number(&t->runs, b, metric);
        assert_int_equal(n, t->p.seeds);
        struct stat_mean m = stat_mean(x, n, 1); /* held by test_base_stat.c */
        if (m.n == 0) {
            assert_true(isnan(number(&t->rows, a, metric)));
            continue;
        }
        assert_close(number(&t->rows, a, metric), m.mean, 1e-14);
        if (m.n > 1)
            assert_near(number(&t->rows, a, ci), m.half, 1e-12);
    }
}

static void check_beats(const struct tables *t, const char *aim, int sign)
{
    for (int64_t a = 0; a + 1 < t->rows.n_rows; a++) {
        bool last = number(&t->rows, a, "point") != number(&t->rows, a + 1, "point");
        if (last) {
            assert_true(isnan(number(&t->rows, a, "beats_next")));
            continue;
        }
        int64_t n = 0;
        for (int64_t b = 0; b < t->runs.n_rows; b++)
            for (int64_t c = 0; c < t->runs.n_rows; c++)
                n += is_of(&t->rows, a, &t->runs, b) && is_of(&t->rows, a + 1, &t->runs, c) &&
                     number(&t->runs, b, "seed") == number(&t->runs, c, "seed") &&
                     sign * number(&t->runs, b, aim) > sign * number(&t->runs, c, aim);
        assert_true(number(&t->rows, a, "beats_next") == (double)n);
    }
}

TEST(rows_are_the_means_of_their_runs)
{
    static const char *const metrics[] = { "utility",        "finished",  "jct",
                                           "embedded_frac",  "gpu_frac",  "link_frac",
                                           "link_peak_frac", "node_over", "link_over" };
    KEEP(struct tables, t, tables_free);
    run_text(&t, *state,
             SLOTS "jobs: { count: 6 }\nseeds: 4\nseed: 11\nschedulers: [las, drf]\n"
                   "vary: { jobs.count: [3, 9], server: [npu, node] }\n",
             2);
    assert_int_equal(t.rows.n_rows, 8);
    assert_int_equal(t.runs.n_rows, 32);
    for (int64_t row = 0; row < 8; row++) { /* points in order, the last axis fastest; schedulers as listed */
        assert_true((int64_t)number(&t.rows, row, "point") == row / 2);
        assert_string_equal(word(&t.rows, row, "scheduler"), row % 2 ? "drf" : "las");
        assert_string_equal(word(&t.rows, row, "jobs.count"), row < 4 ? "3" : "9");
        assert_string_equal(word(&t.rows, row, "server"), row / 2 % 2 ? "node" : "npu");
        assert_string_equal(word(&t.rows, row, "status"), "done");
        assert_string_equal(word(&t.rows, row, "network"), "wide");
        assert_true(number(&t.rows, row, "jobs") == (row < 4 ? 3 : 9));
        assert_true(number(&t.rows, row, "seeds") == 4);
    }
    for (int64_t row = 0; row < 32; row++)
        assert_true((int64_t)number(&t.runs, row, "seed") == 11 + row / 2 % 4);
    for (size_t k = 0; k < COUNT_OF(metrics); k++)
        check_means(&t, metrics[k]);
    check_beats(&t, "utility", 1);
}

TEST(batches_are_compared_by_makespan)
{
    KEEP(struct tables, t, tables_free);
    run_text(&t, *state,
             "model: batch\nseeds: 3\njobs: { sizes: [[1, 6], [4, 5]] }\n"
             "pool: { servers: 3, gpus: [4] }\nvary: { pool.servers: [2, 4] }\n",
             2);
    assert_true(t.rows.n_rows > 2);
    check_means(&t, "makespan_s");
    check_means(&t, "jct_s");
    check_beats(&t, "makespan_s", -1);
    assert_string_equal(word(&t.rows, 0, "network"), "pool");
    assert_true(isnan(number(&t.rows, 0, "network_usd")));
}

TEST(any_number_of_threads_gives_the_same_rows)
{
    static const char text[] = SLOTS "jobs: { count: 8 }\nseeds: 3\nschedulers: [drf, fifo]\n"
                                     "vary: { jobs.count: [2, 5], jobs.zeta: [60, 90] }\n";
    struct text out[2] = { { 0 }, { 0 } };
    for (int i = 0; i < 2; i++) {
        KEEP(struct tables, t, tables_free);
        run_text(&t, *state, text, i ? 5 : 1);
        const struct table *const all[] = { &t.rows, &t.runs, &t.jobs, &t.places, &t.slots, &t.links };
        for (size_t k = 0; k < COUNT_OF(all); k++) {
            assert_true(all[k]->n_rows > 0);
            OK(table_write(all[k], TABLE_AS_CSV, "", &out[i], e));
        }
    }
    assert_string_equal(text_str(&out[0]), text_str(&out[1]));
    text_free(&out[0]);
    text_free(&out[1]);
}

/* Prices of InterNode and InterPod: 16 NPUs, 100 GB/s at 4 USD, 50 GB/s at 8 + 18 + 32 USD. */
TEST(the_network_has_its_price)
{
    struct tables t;
    run_text(&t, *state, SLOTS "jobs: { count: 2 }\nschedulers: [drf]\n", 1);
    assert_close(number(&t.rows, 0, "network_usd"), 16 * (100 * 4 + 50 * (8 + 18 + 32)), 1e-12);
    tables_free(&t);
    run_text(&t, *state, "network: wide.yaml\nmodel: batch\njobs: { sizes: [[2, 3]] }\n", 1);
    assert_close(number(&t.rows, 0, "network_usd"), 16 * (100 * 4 + 50 * (8 + 18 + 32)), 1e-12);
    assert_string_equal(word(&t.rows, 0, "network"), "wide");
    tables_free(&t);
}

/* ---- details ---- */

/* First seed of each point: what jobs, places, slots and links say adds up to what the runs say. */
TEST(details_add_up_to_the_run)
{
    struct tables t;
    run_text(&t, *state,
             SLOTS "jobs: { count: 7, arrivals: at-once }\nseeds: 2\nseed: 5\n"
                   "schedulers: [drf, las]\nvary: { jobs.hop_GBps: [0.1, 0.5] }\n",
             2);
    for (int64_t b = 0; b < t.runs.n_rows; b++) {
        double utility = 0, finished = 0, gpu_frac = 0, gpus = 0, load = 0, n_loads = 0;
        if (number(&t.runs, b, "seed") != 5)
            continue;
        for (int64_t a = 0; a < t.jobs.n_rows; a++)
            if (is_of(&t.jobs, a, &t.runs, b)) {
                utility += number(&t.jobs, a, "utility");
                finished += strcmp(word(&t.jobs, a, "status"), "done") == 0;
                assert_true(number(&t.jobs, a, "submit") == 0 && number(&t.jobs, a, "seed") == 5);
            }
        for (int64_t a = 0; a < t.slots.n_rows; a++)
            if (is_of(&t.slots, a, &t.runs, b))
                gpu_frac += number(&t.slots, a, "gpu_frac") / 12;
        for (int64_t a = 0; a < t.places.n_rows; a++)
            if (is_of(&t.places, a, &t.runs, b)) {
                gpus += number(&t.places, a, "gpus");
                assert_true(number(&t.places, a, "to") == number(&t.places, a, "from") + 1);
            }
        for (int64_t a = 0; a < t.links.n_rows; a++)
            if (is_of(&t.links, a, &t.runs, b)) {
                load += number(&t.links, a, "load_frac");
                n_loads++;
            }
        assert_close(utility, number(&t.runs, b, "utility"), 1e-12);
        assert_true(finished == number(&t.runs, b, "finished"));
        assert_close(gpu_frac, number(&t.runs, b, "gpu_frac"), 1e-12);
        assert_close(gpus / (16 * 12), number(&t.runs, b, "gpu_frac"), 1e-12);
        assert_near(load / n_loads, number(&t.runs, b, "link_frac"), 1e-12);
    }
    tables_free(&t);
}

/* ---- errors ---- */

/* The second of three points has a job too large for any server, the third a word that is none. */
TEST(a_point_that_fails_is_a_row_that_says_why)
{
    KEEP(struct tables, t, tables_free);
    run_text(&t, *state,
             SLOTS "jobs: { count: 2 }\nschedulers: [drf, las]\nseeds: 2\n"
                   "vary: { jobs.gpus: [1, 5, many] }\n",
             2);
    assert_int_equal(t.rows.n_rows, 4);
    assert_int_equal(t.runs.n_rows, 4);
    assert_string_equal(word(&t.rows, 1, "status"), "done");
    assert_string_equal(word(&t.rows, 2, "status"), "error");
    assert_string_equal(word(&t.rows, 2, "scheduler"), "");
    assert_true(isnan(number(&t.rows, 2, "utility")));
    assert_has(word(&t.rows, 2, "message"),
               "job job0: one worker takes 5 of gpu, expected at most 4, what the largest server has");
    assert_has(word(&t.rows, 3, "message"), "jobs.gpus is many, expected a number");
    assert_string_equal(word(&t.rows, 3, "jobs.gpus"), "many");
}

/* Two jobs of 100 s without gradients and one that was killed at once: all done by 150 s, one by 120. Of that
 * the 4 + 4 GPUs of 16 are busy 200 x 4 GPU-s. A job of 17 GPUs has no place on 16. */
TEST(jobs_of_a_trace_end_as_it_says_up_to_the_horizon)
{
    KEEP(struct tables, t, tables_free);
    put(*state, "jobs.csv",
        "job_id,submit_s,gpus,runtime_s,iters\n"
        "a,0,4,100,10\nb,50,4,100,10\nc,60,4,0,10\nd,70,17,5,1\n");
    run_text(&t, *state,
             "network: wide.yaml\nmodel: events\nschedulers: [fifo]\n"
             "jobs: { trace: jobs.csv, max_gpus: 16 }\n"
             "vary: { jobs.max_gpus: [16, 17], events.horizon_s: [1000, 120] }\n",
             1);
    assert_int_equal(t.rows.n_rows, 4);
    for (int i = 0; i < 2; i++) {
        assert_true(number(&t.rows, i, "jobs") == 2);
        assert_true(number(&t.rows, i, "finished") == 2 - i);
        assert_close(number(&t.rows, i, "jct_s"), 100, 1e-12);
    }
    assert_close(number(&t.rows, 0, "makespan_s"), 150, 1e-12);
    assert_close(number(&t.rows, 0, "gpu_frac"), 800.0 / (16 * 150), 1e-12);
    assert_true(isnan(number(&t.rows, 1, "makespan_s")));
    assert_has(
        word(&t.rows, 2, "message"),
        "job d: asks for 17 GPUs, expected at most the 16 of the cluster; jobs.max_gpus leaves larger");
}

TEST(what_cannot_be_read_is_an_error_with_its_place)
{
    CASES(const char *text; int code; const char *message) = {
        { "model: slots\n", ERR_PARSE, "has no cluster; give network, graph or racks" },
        { SLOTS "resolve_pct: 1\n", ERR_RANGE, "resolve_pct is 1 with one seed, expected seeds: 2 or more" },
        { SLOTS "seeds: 2\nresolve_pct: 0\n", ERR_RANGE, "resolve_pct is 0" },
        { SLOTS "baseline: drf\n", ERR_PARSE, "baseline is drf, expected a map" },
        { SLOTS "baseline: { scheduler: srtf }\n", ERR_PARSE,
          "baseline.scheduler is srtf, expected a scheduler of the study" },
        { SLOTS "baseline: { slots: 12 }\n", ERR_PARSE,
          "baseline.slots does not vary, expected scheduler or a key of vary" },
        { SLOTS "vary: { jobs.count: [3, 9] }\nbaseline: { ount: 3 }\n", ERR_PARSE,
          "baseline.ount does not vary, expected scheduler or a key of vary" },
        { SLOTS "vary: { jobs.count: [3, 9] }\nbaseline: { count: 4 }\n", ERR_RANGE,
          "baseline.count is 4, expected a value of jobs.count in vary" },
        { SLOTS "vary: { slots: [12, 24] }\nbaseline: { slots: 13 }\n", ERR_RANGE,
          "baseline.slots is 13, expected a value of slots in vary" },
        { SLOTS "racks: {}\n", ERR_PARSE, "has more than one of network, graph and racks; give one of them" },
        { "model: slots\nracks: {}\nservers: { gpu: 8 }\n", ERR_PARSE,
          "is given together with racks; give racks.gpus" },
        { "model: slots\nracks: {}\nserver: npu\n", ERR_PARSE, "server has no network" },
        { "model: slots\nracks: {}\nparts: prices.yaml\n", ERR_PARSE, "parts has no effect without network" },
        { "model: slots\ngraph: w.csv\n", ERR_PARSE, "graph has no servers" },
        { "model: slots\nnetwork: bare.yaml\n", ERR_RANGE, "has a dimension without bandwidth" },
        { SLOTS "server: rack\n", ERR_PARSE, "server is rack, expected npu or a dimension of the network" },
        { SLOTS "server: pod\n", ERR_RANGE, "server is pod, the outermost dimension" },
        { SLOTS "servers: { cpu: 8 }\n", ERR_PARSE, "is the first resource, expected gpu first" },
        { SLOTS "servers: { gpu: -8 }\n", ERR_RANGE, "servers.gpu is -8, expected a number >= 0" },
        { SLOTS "servers: {}\n", ERR_RANGE, "servers has 0 resources, expected 1 to 8" },
        { SLOTS "gadget: { energy_weight: 1 }\n" TAU, ERR_RANGE,
          "gadget.energy_weight is given for NPUs without watts; give npu_watt and idle_watt" },
        { SLOTS "npu_watt: 500\nidle_watt: 100\ngadget: { energy_weight: 1 }\n", ERR_RANGE,
          "gadget.energy_weight needs the length of a slot; give jobs.progress tau or links, or a trace" },
        { SLOTS "gadget: { energy_weight: -1 }\n", ERR_RANGE, "gadget.energy_weight is -1" },
        { SLOTS "schedulers: [gadgt]\n", ERR_PARSE,
          "schedulers[0] is gadgt, expected a scheduler of model slots: gadget, drf, las, fifo; did you mean "
          "gadget?" },
        { SLOTS "schedulers: [drf, drf]\n", ERR_PARSE, "schedulers[1] is in the list twice" },
        { SLOTS "schedulers: []\n", ERR_RANGE, "schedulers is a list of 0, expected 1 to 64" },
        { SLOTS "schedulers: drf\n", ERR_PARSE, "schedulers" },
        { "model: batch\nservers: { gpu: 8 }\n", ERR_PARSE, "servers has no network or graph; give one" },
        { "model: batch\nnetwork: wide.yaml\npool: {}\n", ERR_PARSE,
          "pool is given together with a network" },
        { "model: batch\nparts: prices.yaml\n", ERR_PARSE, "parts has no effect without network" },
        { SLOTS "seeds: 0\n", ERR_RANGE, "seeds is 0, expected 1 to 100000" },
        { SLOTS "seed: -1\n", ERR_RANGE, "seed is -1" },
        { SLOTS "slos: 3\n", ERR_PARSE, "slots" },
        { "model: slot\n", ERR_PARSE, "model is slot, expected one of slots, batch, events, interval" },
        { SLOTS "vary: { seed: [1, 2] }\n", ERR_PARSE, "cannot vary: every point" },
        { SLOTS "vary: { seeds: [1, 2] }\n", ERR_PARSE, "cannot vary" },
        { SLOTS "vary: { jobs.cuont: [1] }\n", ERR_PARSE, "\"cuont\" is no key of jobs" },
        { SLOTS "vary: { gadget.smples: [1] }\n", ERR_PARSE,
          "unknown key \"vary.gadget.smples\" (\"smples\" is no key of gadget); did you mean \"samples\"?" },
        { SLOTS "vary: { model: [slots, batch], jobs.iterations: [900] }\njobs: { cuont: 1 }\n", ERR_PARSE,
          "unknown key \"jobs.cuont\"" },
        { SLOTS "vary: { schduler: [1] }\n", ERR_PARSE, "\"schduler\" is no key of placement study" },
        { SLOTS "vary: { jobs.count: [] }\n", ERR_PARSE, "is empty, expected at least one value" },
        { "model: batch\njobs: { sizes: [] }\n", ERR_RANGE, "jobs.sizes is a list of 0, expected 1 to" },
        { "model: batch\njobs: { sizes: [4] }\n", ERR_PARSE, "jobs.sizes[0]" },
        { "model: batch\njobs: { sizes: [[4]] }\n", ERR_PARSE,
          "jobs.sizes[0] is a list of 1, expected [GPUs, jobs]" },
        { "model: batch\njobs: { sizes: [[1, 2], [1, 2, 3]] }\n", ERR_PARSE,
          "jobs.sizes[1] is a list of 3, expected [GPUs, jobs]" },
        { "model: batch\njobs: { sizes: [[0, 2]] }\n", ERR_RANGE, "jobs.sizes[0][0] is 0, expected 1 to" },
        { "model: batch\njobs: { sizes: [[2, 1], [2, 0]] }\n", ERR_RANGE,
          "jobs.sizes[1][1] is 0, expected 1 to" },
        { SLOTS "jobs: { from_trace: { trace: none.csv } }\n", ERR_PARSE,
          "jobs.from_trace has no trace_slot_s, the length of a slot" },
        { SLOTS
          "jobs: { trace_slot_s: 5, progress: tau, from_trace: { trace: none.csv }, tau: { gradient_MB: 100, "
          "reduce_GBps: 50, forward_ms: 1, samples: 32, backward_ms: 50, slot_s: 2 } }\n",
          ERR_PARSE, "jobs.progress is tau with from_trace; choose const" },
        { "network: wide.yaml\nmodel: events\n", ERR_PARSE, "has no jobs" },
        { EVENTS "events: { las_at: 3 }\n", ERR_PARSE, "las_at" },
        { EVENTS "events: { las_at: [] }\n", ERR_RANGE, "las_at is a list of 0, expected 1 to 7" },
        { EVENTS "events: { las_at: [1, 2, 3, 4, 5, 6, 7, 8] }\n", ERR_RANGE,
          "las_at is a list of 8, expected 1 to 7" },
        { EVENTS "events: { las_at: [0] }\n", ERR_RANGE,
          "las_at[0] is 0, expected more than the one before" },
        { EVENTS "events: { las_at: [1, 4, 4] }\n", ERR_RANGE,
          "las_at[2] is 4, expected more than the one before" },
        { EVENTS "events: { las_at: [1, 1e12] }\n", ERR_RANGE, "las_at[1] is 1e+12" },
        { EVENTS "events: { las_at: [1, 4], las_queues: 2 }\n", ERR_RANGE,
          "las_queues is 2 with 2 values in las_at, expected one more than these, or 0" },
        { EVENTS "events: { las_queues: 4 }\n", ERR_RANGE, "las_queues is 4 with 2 values in las_at" },
        { SLOTS "seeds: 100000\nvary: { jobs.count: { from: 1, to: 1000, step: 1 } }\n", ERR_RANGE,
          "has 1000 points of 100000 seeds" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study p;
        FAILS(read_text(*state, &p, cases[i].text, e), cases[i].code, cases[i].message);
        assert_true(p.sweep.n_axes == 0 && p.seeds == 0);
        study_close(&p);
    }
}

/* A tenant of whom no job can come, among others whose shares do not help it. */
TEST(a_tenant_without_jobs_is_named)
{
#define ENTRY(more)                                                                                          \
    "    - { workload: { step: { sum: [ { compute_ms: 1 } ] } }, gpus: 1, steps: 9" more " }\n"
    CASES(const char *mix, *message) = {
        /* NULL: fine */
        { ENTRY(", tenant: lab, share: 0") ENTRY(", tenant: shop, share: 1"), "mix[0].tenant is lab" },
        { ENTRY(", tenant: lab, share: 3") ENTRY(", tenant: shop, share: 0"), "mix[1].tenant is shop" },
        { ENTRY(", share: 3") ENTRY(", tenant: lab, share: 0"), "mix[1].tenant is lab" },
        { ENTRY(", tenant: lab, share: 0") ENTRY(", tenant: lab, share: 0") ENTRY(", share: 2"),
          "mix[0].tenant is lab, whose jobs have shares that add up to 0, expected more" },
        { ENTRY(", tenant: lab, share: 0") ENTRY(", tenant: lab, share: 0.25") ENTRY(", share: 0"), NULL },
        { ENTRY(", tenant: lab, share: 0.25") ENTRY(", tenant: shop, share: 1e-6"), NULL },
        { ENTRY(", share: 0") ENTRY(", share: 0"), "jobs.mix has shares that add up to 0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study p;
        char text[1024];
        snprintf(text, sizeof text,
                 "network: wide.yaml\nmodel: events\njobs:\n  count: 2\n  jobs_per_h: 1\n  mix:\n%s",
                 cases[i].mix);
        if (cases[i].message)
            FAILS(read_text(*state, &p, text, e), ERR_RANGE, cases[i].message);
        else
            OK(read_text(*state, &p, text, e));
        study_close(&p);
    }
#undef ENTRY
}

/* A model has times of its own on each type of NPU, as a workload it has them too; other work has one time.
 */
TEST(work_of_a_mix_has_times_on_each_type_of_npu)
{
#define MODEL "model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64 }, parallel: { batch: 8 }"
    CASES(const char *work, *message) = {
        /* NULL: fine */
        { MODEL, NULL },
        { "workload: { " MODEL " }", NULL },
        { "workload: { step: { sum: [ { compute_ms: 1 } ] } }",
          "workload says its own times, expected a model, which has them for each type of npus" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study p;
        char text[1024];
        snprintf(
            text, sizeof text,
            "model: events\nserver: node\nnetwork: { dims: [ { name: node, shape: ring, size: 2, bw_GBps: "
            "100 }, { name: pod, shape: switch, size: 4, bw_GBps: 10 } ] }\nnpus:\n"
            "  - { name: old, npu: { peak_TFLOPS: 100, mem_GBps: 1000, mem_GB: 40 }, servers: 2 }\n"
            "  - { name: new, npu: { peak_TFLOPS: 300, mem_GBps: 2000, mem_GB: 80 }, servers: 2 }\n"
            "jobs: { count: 2, jobs_per_h: 1, mix: [ { name: w, %s, gpus: 2, steps: 9 } ] }\n",
            cases[i].work);
        if (cases[i].message)
            FAILS(read_text(*state, &p, text, e), ERR_RANGE, cases[i].message);
        else
            OK(read_text(*state, &p, text, e));
        study_close(&p);
    }
#undef MODEL
}

/* What column network says: a name, of one letter, too; without one the shapes; a file; what was drawn. */
TEST(a_row_names_its_network)
{
    CASES(const char *cluster, *name) = {
        { "network: wide.yaml\n", "wide" },
        { "network: { name: w, dims: [ { shape: ring, size: 4, bw_GBps: 1 } ] }\n", "w" },
        { "network: \"ring:4@100 switch:2@50\"\n", "ring:4@100 switch:2@50" },
        { "racks: { servers: 4, racks: 2, gpus: [2] }\n", "racks" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct tables, t, tables_free);
        char text[512];
        snprintf(text, sizeof text, "%smodel: slots\nslots: 4\njobs: { count: 2 }\nschedulers: [fifo]\n",
                 cases[i].cluster);
        run_text(&t, *state, text, 1);
        assert_string_equal(word(&t.rows, 0, "network"), cases[i].name);
    }
}

/* ---- keys without effect ---- */

TEST(keys_without_effect_are_told)
{
    static const struct {
        const char *text, *note; /* NULL: none */
    } cases[] = {
        { SLOTS, NULL },
        { SLOTS "gadget: { samples: 5 }\nlas: { queues: 2 }\n", NULL },
        { SLOTS "schedulers: [drf]\nseeds: 9\nresolve_pct: 1\n",
          "resolve_pct has no effect here, there is one network and one scheduler" },
        { SLOTS "schedulers: [drf]\ngadget: { samples: 5 }\n",
          "gadget has no effect here, it is used only by scheduler gadget" },
        { SLOTS "schedulers: [fifo]\nlas: { queues: 2 }\n",
          "las has no effect here, it is used only by scheduler las" },
        { SLOTS "las: { queues: 0, step: 3 }\n", "las.step has no effect here, it is used only with queues" },
        { SLOTS "gadget: { rounding: paper, reoffer: true }\n",
          "gadget.reoffer has no effect here, it is used only with rounding strict" },
        { SLOTS "sjf_bco: {}\n", "sjf_bco has no effect here, it is used only by model batch" },
        { SLOTS "pool: {}\n", "pool has no effect here" },
        { SLOTS "jobs: { utility: log, slope: 0.5 }\n",
          "jobs.slope has no effect here, it is used only with utility sigmoid" },
        { SLOTS "schedulers: [drf]\njobs: { fixed_workers: 3 }\n",
          "jobs.fixed_workers has no effect here, it is used only by schedulers las and fifo" },
        { SLOTS "jobs: { zeta_scale: 2, progress: const }\n", NULL },
        { SLOTS "jobs: { zeta_scale: 2, " TAU_JOBS " }\n",
          "jobs.zeta_scale has no effect here, it is used only with progress const" },
        { SLOTS "jobs: { tau: {} }\n", "jobs.tau has no effect here, it is used only with progress tau" },
        { SLOTS "servers: { gpu: 8, cpu: 64 }\n",
          "servers.cpu has no effect here, jobs.demand does not ask for it" },
        { "model: slots\nracks: { latency_ns: 5 }\n", "racks.latency_ns has no effect here" },
        { "model: interval\nsmd: { eps: 0.1, delta: 0.4, esw: best, baselines: best-first, max_nodes: 9 }\n",
          NULL },
        { "model: interval\nsmd: { inner: exact, eps: 0.1 }\n",
          "smd.eps has no effect here, it is used only by scheduler smd with inner grid" },
        { "model: interval\nschedulers: [esw]\nsmd: { tries: 9 }\n",
          "smd.tries has no effect here, it is used only by scheduler smd with inner grid" },
        { "model: interval\nschedulers: [esw, exact]\nsmd: { inner: exact }\n",
          "smd.inner has no effect here, it is used only by scheduler smd" },
        { "model: interval\nschedulers: [smd, optimus]\nsmd: { esw: best }\n",
          "smd.esw has no effect here, it is used only by scheduler esw" },
        { "model: interval\nschedulers: [smd, exact]\nsmd: { baselines: best-first }\n",
          "smd.baselines has no effect here, it is used only by schedulers esw and optimus" },
        { "model: interval\nschedulers: [optimus]\nsmd: { baselines: best-first }\n", NULL },
        { "model: interval\nsmd: { subset: 3 }\n",
          "smd.subset has no effect here, it is used only with knapsack subset" },
        { "model: interval\nsmd: { knapsack: subset, subset: 3, max_nodes: 9 }\n",
          "smd.max_nodes has no effect here, it is used only with knapsack exact" },
        { "model: batch\nslots: 3\n", "slots has no effect here, it is used only by model slots" },
        { "model: interval\nracks: {}\n", "racks has no effect here" },
        { EVENTS "schedulers: [srtf]\n"
                 "events: { backfill: true }\n",
          "events.backfill has no effect here, it is used only by order fifo" },
        { EVENTS "schedulers: [fifo+spread, drf]\n"
                 "events: { overhead_s: 3 }\n",
          "events.overhead_s has no effect here, it is used only by orders that stop jobs" },
        { EVENTS "schedulers: [fifo, las]\n"
                 "events: { backfill: true, overhead_s: 3, las_at: [1, 4], las_queues: 3 }\n",
          NULL },
        { EVENTS "schedulers: [las]\n"
                 "events: { round_s: 3 }\n",
          "events.round_s has no effect here, it is used only by las without queues" },
        { EVENTS "schedulers: [las]\n"
                 "events: { round_s: 3, las_queues: 0 }\n",
          NULL },
        { EVENTS "schedulers: [las]\nevents: { las_at: [1, 2, 3, 4, 5, 6, 7] }\n", NULL },
        { EVENTS "schedulers: [las]\nevents: { las_queues: 2 }\n", NULL },
        { EVENTS "schedulers: [las]\nevents: { las_at: [1, 2], las_queues: 0 }\n",
          "events.las_at has no effect here, las_queues 0 has no queues" },
        { EVENTS "schedulers: [las]\nserver: npu\nevents: { inner_GBps: 3 }\n", NULL },
        { EVENTS "schedulers: [las]\nevents: { inner_GBps: 3 }\n",
          "events.inner_GBps has no effect here, the network tells what is inside a server" },
        { "network: wide.yaml\nmodel: events\n"
          "jobs: { count: 2, jobs_per_h: 1, profile: none.yaml, max_gpus: 4 }\n",
          "jobs.max_gpus has no effect here, it is used only with jobs of a trace" },
        { SLOTS "jobs: { trace_slot_s: 60, from_trace: { trace: none.csv, overlap_frac: 1 } }\n",
          "jobs.from_trace.overlap_frac has no effect here, it is used only by model events" },
        { "model: batch\nnetwork: wide.yaml\njobs: { alpha: 1 }\n",
          "jobs.alpha has no effect here, it is used only without a network" },
        { "model: batch\nevents: { duty: always }\n",
          "events.duty has no effect here, it is used only on the links of a network" },
        { "model: batch\nnetwork: wide.yaml\nevents: { duty: always }\n", NULL },
        { "model: batch\nschedulers: [rand]\nsjf_bco: { u: 2 }\n",
          "sjf_bco.u has no effect here, it is used only by scheduler sjf-bco or by scheduler ff" },
        { "model: batch\nschedulers: [sjf-bco]\nsjf_bco: { u: 2, ff_limit: 3 }\n",
          "sjf_bco.ff_limit has no effect here, it is used only by scheduler ff" },
        { SLOTS "npu_watt: 500\ngadget: { energy_weight: 1 }\n" TAU,
          "gadget.energy_weight has no effect here, NPUs draw no more than idle_watt" },
        { SLOTS "npu_watt: 500\nidle_watt: 100\ngadget: { energy_weight: 1 }\n" TAU, NULL },
        { SLOTS "schedulers: [drf]\ngadget: { energy_weight: 1 }\n",
          "gadget has no effect here, it is used only by scheduler gadget" },
        { SLOTS "gadget: {}\nvary: { schedulers: [[drf], [gadget]] }\n",
          NULL }, /* the second point uses it */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study p;
        OK(read_text(*state, &p, cases[i].text, e));
        if (cases[i].note)
            assert_has(text_str(&p.notes), cases[i].note);
        else
            assert_string_equal(text_str(&p.notes), "");
        study_close(&p);
    }
}

/* A row of model interval is what smd_run() says of the same jobs, means by hand; some of them wait. */
TEST(a_row_of_an_interval_is_that_of_its_jobs)
{
    enum { N = 6 };
    KEEP(struct tables, t, tables_free);
    struct smd_draw how = smd_draw_default(true);
    const struct smd_settings settings = smd_settings_default();
    struct smd_job jobs[N];
    struct smd_result r;
    double pool[N_SMD_RESOURCES], jct_s = 0, used = 0;
    how.seed = 9;
    OK(smd_draw_jobs(jobs, N, &how, e));
    smd_draw_pool(pool, 0.25);
    OK(smd_run(&r, SMD_EXACT, jobs, N, pool, N_SMD_RESOURCES, &settings, e));
    run_text(&t, *state,
             "model: interval\nschedulers: [exact]\nseed: 9\njobs: { count: 6 }\npool: { units: 0.25 }\n", 1);
    for (int k = 0; k < N; k++)
        jct_s += r.jobs[k].fate == SMD_RUNS ? r.jobs[k].jct_s : 0;
    for (int k = 0; k < N_SMD_RESOURCES; k++)
        used += r.used[k] / r.reserved[k] / N_SMD_RESOURCES;
    assert_in_range(r.n_running, 1, N - 1);
    assert_row(&t.rows, 0,
               "admitted=%d utility=%.17g jct_s=%.17g used_frac=%.17g gpu_frac=%.17g optimum_frac=1",
               (int)r.n_running, r.utility, jct_s / r.n_running, used, r.used[SMD_GPU] / pool[SMD_GPU]);
    smd_result_free(&r);
}

/* ---- studies on traces, by hand ---- */

/* Two servers of two GPUs on one switch, links of 2 GB/s a server. */

#define HEAD                                                                                                 \
    "job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic\n"
#define WIRES "network: \"switch:2@100 switch:2@1\"\n"

static void run(struct tables *t, struct folder *f, const char *trace, const char *study)
{
    put(f, "trace.csv", trace);
    run_text(t, f, study, 1);
}

/* Shards of different traces must not merge, whichever point names them. */
static unsigned long long hash_with(struct folder *f, const char *text, const char *trace, const char *other)
{
    KEEP(struct study, s, study_close);
    struct err e = { 0 };
    put(f, "trace.csv", trace);
    put(f, "other.csv", other);
    assert_ok(read_text(f, &s, text, &e), &e);
    assert_ok(study_find_hash(&s, &e), &e);
    return s.hash;
}

/* Of networks of 6, 8, 8 and 12 NPUs, with one scheduler and with two, the rows of those that a condition is
 * true of. A dimension that is not there has one member. */
TEST(points_are_left_out_by_their_networks)
{
    CASES(const char *where; int64_t rows) = {
        { "n_npus >= 6", 12 },   { "n_npus >= 7", 9 }, { "n_npus <= 8", 9 },         { "n_npus == 12", 3 },
        { "n_dims == 3", 3 },    { "n_dims <= 2", 9 }, { "size1 == 2", 9 },          { "size2 == 2", 6 },
        { "size3 == 1", 9 },     { "size3 == 2", 3 },  { "size4 + size8 == 2", 12 }, { "n_entries == 2", 8 },
        { "n_entries <= 1", 4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct tables, t, tables_free);
        char text[1024];
        snprintf(text, sizeof text,
                 "model: events\nserver: npu\nwhere: [\"%s\"]\n"
                 "jobs: { trace: trace.csv }\n"
                 "vary: { network: [\"switch:2@1 switch:3@1\", \"switch:4@1 switch:2@1\", "
                 "\"switch:2@1 switch:2@1 switch:2@1\", \"switch:2@1 switch:6@1\"], "
                 "schedulers: [[fifo], [fifo, las]] }\n",
                 cases[i].where);
        run(&t, *state, HEAD "a,0,1,600,pass,,10,1e9,,,,,\n", text);
        assert_int_equal(t.rows.n_rows, cases[i].rows);
    }
}

TEST(the_hash_of_a_study_is_of_what_its_traces_hold)
{
    static const char a[] = HEAD "a,5,4,10,pass,,10,1e9,,,,,\n", b[] = HEAD "a,5,4,11,pass,,10,1e9,,,,,\n";
    static const char one[] = WIRES "model: events\njobs: { trace: trace.csv, length: iterations }\n"
                                    "schedulers: [fifo]\n";
    static const char both[] = WIRES "model: events\njobs: { trace: trace.csv, length: iterations }\n"
                                     "schedulers: [fifo]\nvary: { jobs.trace: [trace.csv, other.csv] }\n";
    assert_true(hash_with(*state, one, a, a) == hash_with(*state, one, a, b));
    assert_true(hash_with(*state, one, a, a) != hash_with(*state, one, b, a));
    assert_true(hash_with(*state, both, a, a) == hash_with(*state, both, a, a));
    assert_true(hash_with(*state, both, a, a) != hash_with(*state, both, a, b));
}

/* An iteration of a: 1 s of compute, inside a server 2 * 1e9/2 B at 100 GB/s, and over two servers
 * 2 * 1/2 * 1e9 B a hop at 2 GB/s: 1 + 0.01 + 0.5 s. */
TEST(a_job_takes_its_iterations_on_its_servers)
{
    KEEP(struct tables, t, tables_free);
    run(&t, *state, HEAD "a,5,4,10,pass,,10,1e9,,,,,\n",
        WIRES "model: events\njobs: { trace: trace.csv, length: iterations }\nschedulers: [fifo]\n");
    assert_int_equal(t.jobs.n_rows, 1);
    assert_close(number(&t.jobs, 0, "jct"), 15.1, 1e-12);
    assert_close(number(&t.jobs, 0, "end"), 15.1, 1e-12); /* times count from the first job's arrival */
    assert_close(number(&t.rows, 0, "jct_s"), 15.1, 1e-12);
    assert_close(number(&t.rows, 0, "makespan_s"), 15.1, 1e-12);
    assert_close(number(&t.rows, 0, "gpu_frac"), 1, 1e-12);
    /* Each of the four directions carries 10e9 B in 15.1 s of what 2 GB/s could. */
    assert_close(number(&t.rows, 0, "link_frac"), 10e9 / 15.1 / 2e9, 1e-12);
    double sum_B = 0;
    for (int64_t i = 0; i < t.links.n_rows; i++)
        sum_B += number(&t.links, i, "used_frac") * number(&t.links, i, "bw_GBps") * 1e9 *
                 (number(&t.links, i, "to") - number(&t.links, i, "from"));
    assert_close(sum_B, 4 * 10e9, 1e-9);
}

TEST(a_run_time_is_that_of_the_best_place)
{
    KEEP(struct tables, t, tables_free);
    run(&t, *state, HEAD "a,0,4,10,pass,,10,1e9,,,,,\n",
        WIRES "model: events\njobs: { trace: trace.csv, length: runtime }\nschedulers: [fifo+spread]\n");
    assert_close(number(&t.jobs, 0, "jct"), 10, 1e-12);
}

/* The same job by its run time alone: 10 s at 0.5 s an iteration are 20, which on its best place take 10 s.
 * With iterations of its own it takes what communication adds. */
TEST(iterations_of_a_job_without_any_follow_from_its_run_time)
{
    KEEP(struct tables, t, tables_free);
    KEEP(struct tables, long_run, tables_free);
    run(&t, *state, HEAD "a,0,4,10,pass,,,1e9,,,,,\n",
        WIRES "model: events\njobs: { trace: trace.csv, step_s: 0.5 }\nschedulers: [fifo]\n");
    assert_string_equal(word(&t.jobs, 0, "synthetic"), "iters");
    assert_string_equal(word(&t.rows, 0, "length"), "runtime");
    assert_close(number(&t.jobs, 0, "jct"), 10, 1e-12);
    run(&long_run, *state, HEAD "a,0,4,10,pass,,,1e9,,,,,\n",
        WIRES
        "model: events\njobs: { trace: trace.csv, step_s: 0.5, length: iterations }\nschedulers: [fifo]\n");
    assert_close(number(&long_run.jobs, 0, "jct"), 20 * (0.5 + 0.01 + 0.5), 1e-12);
}

/* Two jobs of tenant x and one of y, each for half of the GPUs, all at 0: y's share is the smaller one once
 * a job of x runs. Jobs of nobody are alone, and go as they came. */
TEST(jobs_of_a_tenant_share_its_share)
{
    static const char *const heads = "job_id,submit_s,gpus,runtime_s,iters,grad_bytes,tenant\n";
    for (int tenants = 0; tenants < 2; tenants++) {
        KEEP(struct tables, t, tables_free);
        char trace[400];
        snprintf(trace, sizeof trace, "%sa,0,2,10,10,1,%s\nb,0,2,10,10,1,%s\nc,0,2,10,10,1,%s\n", heads,
                 tenants ? "x" : "", tenants ? "x" : "", tenants ? "y" : "");
        run(&t, *state, trace, WIRES "model: events\njobs: { trace: trace.csv }\nschedulers: [drf]\n");
        assert_true(number(&t.jobs, 0, "start") == 0);
        assert_true((number(&t.jobs, 1, "start") == 0) == !tenants);
        assert_true((number(&t.jobs, 2, "start") == 0) == tenants);
        /* x does (1 + 1/2) / 2 and y 1; three tenants do 1, 1 and 1/2. */
        assert_close(number(&t.rows, 0, "fairness"),
                     tenants ? 1.75 * 1.75 / (2 * (0.75 * 0.75 + 1)) : 2.5 * 2.5 / (3 * 2.25), 1e-6);
    }
}

/* Four GPUs at one server each: x holds 2 for 10 s and 2 for 20 s, y all 4 for 10 s from 20 s on, a job of
 * nobody 1 for 5 s after that. */
TEST(a_tenant_has_what_its_jobs_have)
{
    KEEP(struct table, rows, table_free) = { 0 };
    KEEP(struct table, tenants, table_free) = { 0 };
    KEEP(struct text, notes, text_free) = { 0 };
    KEEP(struct study, s, study_close) = { 0 };
    struct table *extras[STUDY_MAX_TABLES] = { [PLACE_TABLE_TENANTS] = &tenants };
    put(*state, "trace.csv",
        "job_id,submit_s,gpus,runtime_s,iters,grad_bytes,tenant\na,0,2,10,10,1,x\nb,0,2,20,10,1,x\n"
        "c,5,4,10,10,1,y\nd,6,1,5,10,1,\n");
    OK(read_text(*state, &s, WIRES "model: events\njobs: { trace: trace.csv }\nschedulers: [fifo]\n", e));
    OK(campaign_tables(&rows, extras, &notes, &s, 1, e));
    assert_row(&rows, 0, "status=done message=");
    assert_int_equal(tenants.n_rows, 3);
    assert_row(&tenants, 0, "tenant=x jobs=2 gpu_h=%.17g~1e-6 jct_s=15~1e-6 wait_s=0~1e-6",
               (2 * 10 + 2 * 20) / 3600.0);
    assert_row(&tenants, 1, "tenant=y jobs=1 gpu_h=%.17g~1e-6 jct_s=25~1e-6 wait_s=15~1e-6", 4 * 10 / 3600.0);
    assert_row(&tenants, 2, "tenant= jobs=1 gpu_h=%.17g~1e-6 jct_s=29~1e-6 wait_s=24~1e-6", 1 * 5 / 3600.0);
}

TEST(what_was_passed_over_and_drawn_is_told)
{
    KEEP(struct tables, t, tables_free);
    put(*state, "drawn.yaml", "name: drawn\nmodels: [ { name: m, weight: 1, grad_MB: 8, iter_ms: 100 } ]\n");
    run(&t, *state, HEAD "a,0,2,10,pass,,,,,,,,\nb,1,x,10,pass,,,,,,,,\nc,2,1,0,killed,,,,,,,,\n",
        WIRES "model: events\nschedulers: [fifo]\n"
              "jobs: { trace: trace.csv, profile: drawn.yaml, skip_bad: true }\n");
    assert_int_equal(t.jobs.n_rows, 1);
    assert_string_equal(word(&t.jobs, 0, "synthetic"), "model;iters;grad_bytes;workers");
    assert_close(number(&t.jobs, 0, "progress"), 100 / (1 + 0.008 / 100 / 0.1), 1e-3);
    assert_has(text_str(&t.notes), "of 3 records 1 are bad and passed over");
    assert_has(text_str(&t.notes), "trace.csv: 1 job is left out: no run time");
    assert_has(text_str(&t.notes), "iters in 1");
}

/* What a job has of its own stays; its gradients are those of another model, which must not go unsaid. */
TEST(a_model_that_the_profile_lacks_is_told)
{
    KEEP(struct tables, t, tables_free);
    put(*state, "drawn.yaml", "name: drawn\nmodels: [ { name: m, weight: 1, grad_MB: 8, iter_ms: 100 } ]\n");
    run(&t, *state, HEAD "a,0,2,10,pass,other,100,,,,,,\nb,0,2,10,pass,m,100,,,,,,\n",
        WIRES "model: events\nschedulers: [fifo]\njobs: { trace: trace.csv, profile: drawn.yaml }\n");
    assert_has(text_str(&t.notes), "drawn.yaml: lacks the model of 1 job, another one stands in");
}

/* Two workers for 30 s are three slots of 10 s; without contention nor limit every scheduler gives them. */
TEST(slots_take_lengths_and_needs_from_a_trace)
{
    KEEP(struct tables, t, tables_free);
    run(&t, *state, HEAD "a,25,4,30,pass,,60,5e8,,,,,\nb,0,1,5,pass,,8,1e6,,,,,\n",
        WIRES "model: slots\nslots: 8\nservers: { gpu: 2, cpu: 8 }\nschedulers: [gadget, fifo]\n"
              "jobs: { from_trace: { trace: trace.csv }, trace_slot_s: 10, utility: linear, demand: { cpu: 2 "
              "} }\n");
    for (int64_t row = 0; row < 4; row += 2) { /* sorted by arrival: b, then a */
        assert_close(number(&t.jobs, row, "jct"), 1, 1e-12);
        assert_close(number(&t.jobs, row + 1, "submit"), 2, 1e-12);
        assert_close(number(&t.jobs, row + 1, "jct"), 3, 1e-12);
        assert_close(number(&t.jobs, row + 1, "progress"), 60, 1e-12);
    }
    /* In its slots job a sends 20 times 2 * 3/4 * 5e8 B a hop in 10 s, which is what it reserves. */
    double most = 0;
    for (int64_t i = 0; i < t.links.n_rows; i++) {
        assert_close(number(&t.links, i, "used_frac") + 1, number(&t.links, i, "load_frac") + 1, 1e-12);
        most = fmax(most, number(&t.links, i, "used_frac"));
    }
    assert_close(most, 20 * 0.75e9 / 10 / 2e9, 1e-12);
}

/* A worker of job a gets 5 iterations done in a slot of 10 s, for 4 kJ beyond what an idle GPU draws: at
 * 4,500 a kWh it is worth its energy. Job b gets 8. First come knows no energy. */
TEST(jobs_that_are_not_worth_their_energy_wait)
{
    CASES(const char *weight;
          double finished,
          utility) = { { "0", 2, 68 }, { "4499", 2, 68 }, { "4501", 1, 8 }, { "7201", 0, 0 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct tables, t, tables_free);
        char study[512];
        snprintf(study, sizeof study,
                 WIRES
                 "model: slots\nslots: 8\nservers: { gpu: 2 }\nschedulers: [gadget, fifo]\nnpu_watt: 500\n"
                 "idle_watt: 100\ngadget: { energy_weight: %s }\n"
                 "jobs: { from_trace: { trace: trace.csv }, trace_slot_s: 10, utility: linear, scale: 1 }\n",
                 cases[i].weight);
        run(&t, *state, HEAD "a,25,4,30,pass,,60,1e6,,,,,\nb,0,1,5,pass,,8,1e6,,,,,\n", study);
        assert_close(number(&t.rows, 0, "finished") + 1, cases[i].finished + 1, 1e-12);
        assert_close(number(&t.rows, 1, "finished"), 2, 1e-12);
        assert_close(number(&t.rows, 0, "utility") + 1, cases[i].utility + 1, 1e-9);
        assert_int_equal(isnan(number(&t.rows, 0, "guarantee")), i > 0);
        assert_int_equal(table_find(&t.rows, "unproved") < 0, i == 0);
        if (i > 0)
            assert_has(word(&t.rows, 0, "unproved"), "not less energy_weight");
    }
}

TEST(wrong_traces_say_where)
{
    CASES(const char *trace, *jobs, *said) = {
        { HEAD "a,0,x,10,pass,,10,1e9,,,,,\n", "trace: trace.csv", "trace.csv:2: gpus is \"x\"" },
        { HEAD "a,0,9,10,pass,,10,1e9,,,,,\n", "trace: trace.csv",
          "job a: asks for 9 GPUs, expected at most the 4 of the cluster" },
        { HEAD "a,0,2,10,pass,,,1e9,,,,,\n", "trace: trace.csv",
          "job a: number of iterations is 0 or not known" },
        { HEAD "a,0,2,0,pass,,1,1e9,,,,,\n", "trace: trace.csv", "no job fits what is asked for" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct tables, t, tables_free);
        char study[256];
        snprintf(study, sizeof study, WIRES "model: events\njobs: { %s }\nschedulers: [fifo]\n",
                 cases[i].jobs);
        run(&t, *state, cases[i].trace, study);
        assert_string_equal(word(&t.rows, 0, "status"), "error");
        assert_has(word(&t.rows, 0, "message"), cases[i].said);
    }
}

TEST(wrong_keys_say_what_is_needed)
{
    CASES(const char *jobs, *said) = {
        { "{ }", "jobs has neither trace nor jobs_per_h" },
        { "{ trace: trace.csv, jobs_per_h: 3 }", "jobs has both trace and jobs_per_h" },
        { "{ jobs_per_h: 3 }", "jobs has no count" },
        { "{ jobs_per_h: 3, count: 5 }", "jobs has no profile" },
        { "{ trace: trace.csv, length: long }", "jobs.length is long" },
        { "{ trace: trace.csv, overlap_frac: 2 }", "jobs.overlap_frac is 2" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, p, study_close);
        char study[256];
        snprintf(study, sizeof study, WIRES "model: events\njobs: %s\n", cases[i].jobs);
        int rc = read_text(*state, &p, study, e);
        assert_true(rc == ERR_PARSE || rc == ERR_RANGE);
        assert_has(e->msg, cases[i].said);
    }
}

TEST(a_model_that_varies_is_one_column)
{
    KEEP(struct tables, t, tables_free);
    int n = 0;
    run_text(&t, *state, SLOTS "jobs: { count: 3 }\nschedulers: [fifo]\nvary: { model: [slots, batch] }\n",
             1);
    for (int32_t col = 0; col < t.rows.n_cols; col++)
        n += strcmp(t.rows.names[col], "model") == 0;
    assert_int_equal(n, 1);
    assert_string_equal(word(&t.rows, 0, "model"), "slots");
}

/* ---- differences ---- */

/* Of the run of @p seed at @p point under @p scheduler. */
static double of_run(const struct table *runs, double point, const char *scheduler, int64_t seed,
                     const char *metric)
{
    for (int64_t b = 0; b < runs->n_rows; b++)
        if (number(runs, b, "point") == point && number(runs, b, "seed") == (double)seed &&
            strcmp(word(runs, b, "scheduler"), scheduler) == 0)
            return number(runs, b, metric);
    return NAN;
}

struct gap {
    double pct, half, wins;
};

/* Row @p a against the runs of @p point and @p scheduler in the first @p n seeds. */
static struct gap find_gap(const struct tables *t, int64_t a, double point, const char *scheduler,
                           const char *metric, int sign, int64_t n)
{
    double x[64], b[64], sum[2] = { 0 }, squares = 0, wins = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = of_run(&t->runs, number(&t->rows, a, "point"), word(&t->rows, a, "scheduler"), t->p.seed + k,
                      metric);
        b[k] = of_run(&t->runs, point, scheduler, t->p.seed + k, metric);
        sum[0] += x[k];
        sum[1] += b[k];
        wins += sign * x[k] > sign * b[k];
    }
    double ratio = sum[0] / sum[1];
    for (int64_t k = 0; k < n; k++)
        squares += (x[k] - ratio * b[k]) * (x[k] - ratio * b[k]);
    double spread = sqrt(squares / (double)(n - 1) / (double)n) / sum[1] * (double)n;
    return (struct gap){ 100 * ratio - 100, 100 * stat_student(0.975, (double)(n - 1)) * spread, wins };
}

static void check_gap(const struct tables *t, int64_t a, double point, const char *scheduler,
                      const char *metric, int sign)
{
    struct gap gap = find_gap(t, a, point, scheduler, metric, sign, (int64_t)number(&t->rows, a, "seeds"));
    assert_near(number(&t->rows, a, "vs_base_pct"), gap.pct, 1e-9);
    assert_near(number(&t->rows, a, "vs_base_pct_ci"), gap.half, 1e-9);
    assert_true(number(&t->rows, a, "wins") == gap.wins);
}

#define NETS                                                                                                 \
    "model: slots\nslots: 12\nserver: npu\nservers: { gpu: 2 }\nschedulers: [drf, las]\nseeds: 6\n"          \
    "jobs: { count: 6, zeta: [60, 120], hop_GBps: 0.25 }\n"                                                  \
    "vary: { network: [\"ring:8@0.5\", \"ring:6@0.5\"] }\n"

TEST(rows_differ_from_a_baseline_seed_by_seed)
{
    /* The base of the rows of two points under two schedulers: its point (-1: the row's own) and scheduler.
     */
    CASES(const char *more, *label; int point[2]; const char *scheduler[2]) = {
        { "", "network ring:8@0.5", { 0, 0 }, { "drf", "las" } },
        { "baseline: { scheduler: las }\n", "las", { 0, 1 }, { "las", "las" } },
        { "baseline: { network: \"ring:6@0.5\", scheduler: drf }\n",
          "network ring:6@0.5, drf",
          { 1, 1 },
          { "drf", "drf" } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct tables, t, tables_free);
        char text[1024];
        snprintf(text, sizeof text, "%s%s", NETS, cases[i].more);
        run_text(&t, *state, text, 2);
        assert_int_equal(t.rows.n_rows, 4);
        for (int64_t a = 0; a < 4; a++) {
            int point = cases[i].point[a / 2];
            const char *scheduler = cases[i].scheduler[a % 2];
            assert_string_equal(word(&t.rows, a, "base"), cases[i].label);
            if (point == (int)(a / 2) && strcmp(scheduler, word(&t.rows, a, "scheduler")) == 0)
                assert_true(number(&t.rows, a, "vs_base_pct") == 0 && isnan(number(&t.rows, a, "wins")));
            else
                check_gap(&t, a, point, scheduler, "utility", 1);
        }
    }
}

/* Points of other jobs are not compared, nor those of a key with one value: there it is the first scheduler.
 */
TEST(schedulers_differ_from_the_first_where_jobs_vary)
{
    KEEP(struct tables, t, tables_free);
    run_text(&t, *state,
             SLOTS "schedulers: [drf, las]\nseeds: 4\nvary: { jobs.count: [5, 9], las.step: [30] }\n", 2);
    for (int64_t a = 0; a < 4; a++)
        if (a % 2)
            check_gap(&t, a, (double)(a / 2), "drf", "utility", 1);
        else
            assert_true(number(&t.rows, a, "vs_base_pct") == 0 && isnan(number(&t.rows, a, "wins")));
}

/* Seeds in rounds of 8, 16, 32: after the last one each interval is narrow enough or all are used; before
 * it some interval of the point was not. */
TEST(seeds_are_added_until_differences_are_known)
{
    KEEP(struct tables, t, tables_free);
    const double most = 9;
    run_text(&t, *state,
             SLOTS
             "seeds: 40\nresolve_pct: 9\nschedulers: [drf, las, fifo]\nvary: { jobs.count: [4, 8, 30] }\n",
             2);
    int fewer = 0;
    for (int64_t a = 0; a < t.rows.n_rows; a += 3) {
        int64_t n = (int64_t)number(&t.rows, a, "seeds");
        assert_true(n == 8 || n == 16 || n == 32 || n == 40);
        fewer += n < 40;
        double point = number(&t.rows, a, "point"), before = 0;
        for (int i = 1; i < 3; i++) {
            before = fmax(before, find_gap(&t, a + i, point, "drf", "utility", 1, n == 40 ? 32 : n / 2).half);
            assert_true(n == 40 || number(&t.rows, a + i, "vs_base_pct_ci") <= most);
            check_gap(&t, a + i, point, "drf", "utility", 1);
        }
        assert_true(n == 8 || before > most);
    }
    assert_in_range(fewer, 1, 2); /* both ends are reached */
}

SUITE(make_folder, remove_folder)
