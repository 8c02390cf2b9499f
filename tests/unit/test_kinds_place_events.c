#include "kinds/place/place.h"
#include "study/campaign.h"
#include "study/study.h"
#include "tests/unit/study_folder.h"
#include "tests/unit/table_cells.h"

/* Studies on traces: two servers of two GPUs on one switch, links of 2 GB/s a server. What comes out by hand.
 */

#define HEAD                                                                                                 \
    "job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic\n"
#define WIRES "network: \"switch:2@100 switch:2@1\"\n"

struct tables {
    struct table rows, jobs, places, slots, links;
    struct text notes;
};

static int run_with(struct tables *t, struct folder *f, const char *trace, const char *study, struct err *e)
{
    struct study p;
    *t = (struct tables){ .rows = { 0 } };
    put(f, "trace.csv", trace);
    put(f, "study.yaml", study);
    struct table *extras[] = { NULL, NULL, &t->jobs, &t->places, &t->slots, &t->links };
    int rc = study_open(&p, &(struct study_ask){ .from = { .path = f->path }, .kind = &place_kind }, e);
    if (!rc)
        rc = campaign_tables(&t->rows, extras, &t->notes, &p, 1, e);
    study_close(&p);
    return rc;
}

static void run(struct tables *t, struct folder *f, const char *trace, const char *study)
{
    MUST(run_with(t, f, trace, study, e));
}

static void tables_free(struct tables *t)
{
    table_free(&t->rows);
    table_free(&t->jobs);
    table_free(&t->places);
    table_free(&t->slots);
    table_free(&t->links);
    text_free(&t->notes);
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
        WIRES "model: events\njobs: { trace: trace.csv }\nschedulers: [fifo+spread]\n");
    assert_close(number(&t.jobs, 0, "jct"), 10, 1e-12);
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
    assert_non_null(strstr(text_str(&t.notes), "of 3 records 1 are bad and passed over"));
    assert_non_null(strstr(text_str(&t.notes), "trace.csv: 1 job is left out: no run time"));
    assert_non_null(strstr(text_str(&t.notes), "iters in 1"));
}

/* What a job has of its own stays; its gradients are those of another model, which must not go unsaid. */
TEST(a_model_that_the_profile_lacks_is_told)
{
    KEEP(struct tables, t, tables_free);
    put(*state, "drawn.yaml", "name: drawn\nmodels: [ { name: m, weight: 1, grad_MB: 8, iter_ms: 100 } ]\n");
    run(&t, *state, HEAD "a,0,2,10,pass,other,100,,,,,,\nb,0,2,10,pass,m,100,,,,,,\n",
        WIRES "model: events\nschedulers: [fifo]\njobs: { trace: trace.csv, profile: drawn.yaml }\n");
    assert_non_null(
        strstr(text_str(&t.notes), "drawn.yaml: lacks the model of 1 job, another one stands in"));
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

TEST(wrong_traces_say_where)
{
    CASES(const char *trace, *jobs, *said) = {
        { HEAD "a,0,x,10,pass,,10,1e9,,,,,\n", "trace: trace.csv", "trace.csv:2: gpus is \"x\"" },
        { HEAD "a,0,9,10,pass,,10,1e9,,,,,\n", "trace: trace.csv",
          "job a: asks for 9 GPUs, need at most the 4 of the cluster" },
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
        assert_non_null(strstr(word(&t.rows, 0, "message"), cases[i].said));
    }
}

TEST(wrong_keys_say_what_is_needed)
{
    CASES(const char *jobs, *said) = {
        { "{ }", "jobs has neither trace nor jobs_per_h" },
        { "{ trace: trace.csv, jobs_per_h: 3 }", "jobs has trace and jobs_per_h" },
        { "{ jobs_per_h: 3 }", "jobs is without count" },
        { "{ jobs_per_h: 3, count: 5 }", "jobs is without profile" },
        { "{ trace: trace.csv, length: long }", "jobs.length is long" },
        { "{ trace: trace.csv, overlap_frac: 2 }", "jobs.overlap_frac is 2" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct tables, t, tables_free);
        char study[256];
        snprintf(study, sizeof study, WIRES "model: events\njobs: %s\n", cases[i].jobs);
        int rc = run_with(&t, *state, HEAD, study, e);
        assert_true(rc == ERR_PARSE || rc == ERR_RANGE);
        assert_non_null(strstr(e->msg, cases[i].said));
    }
}

SUITE(make_folder, remove_folder)
