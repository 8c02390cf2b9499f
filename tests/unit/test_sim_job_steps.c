/*
 * Jobs that are models, on their places: alone they take what the same step takes on the network of the
 * place, written down by hand here; with others between that of free and of full links; and no less on slower
 * links.
 */
#include "kinds/design/explore/solve.h"
#include "sim/cluster/footprint.h"
#include "sim/cluster/job_steps.h"
#include "sim/cluster/pace.h"
#include "tests/settings.h"
#include "tests/unit/study_folder.h"

enum { MOST_SERVERS = 96, LEAF = 4 /**< servers of a leaf of the fat tree */ };

#define NPU "npu: { peak_TFLOPS: 989, mem_GBps: 3350, mem_GB: 100000 }"
static const char dense[] =
    "{ name: dense, layers: 8, hidden: 2048, heads: 16, kv_heads: 8, ffn: 8192, seq: 2048, "
    "vocab: 32000, activation: swiglu }";
static const char sparse[] = "{ name: sparse, layers: 8, hidden: 1024, heads: 16, kv_heads: 8, ffn: 4096, "
                             "seq: 1024, vocab: 32000, activation: swiglu, moe: { experts: 16, top_k: 2 } }";

/* A network, as the cluster has it and as one place sees it. */
struct world {
    char cluster[512], place[512];
    int32_t n, servers[MOST_SERVERS], gpus[MOST_SERVERS]; /* the place */
    int64_t npus;
    int which, g, q, r, planes;
    double inner, bw, taper;
};

static const char *const inner_shapes[] = { "switch", "full", "ring" };

/* `g` of 8 NPUs of a server: what their part of its network is. */
static void put_inner(char *out, int which, int g, double bw)
{
    const char *shape = which == 2 && g < 8 ? "line" : inner_shapes[which];
    double scale = which == 1 ? (g - 1) / 7.0 : which == 2 && g == 2 ? 0.5 : 1;
    snprintf(out, 256, "{ name: node, shape: %s, size: %d, bw_GBps: %.17g }", shape, g, bw * scale);
}

/*
 * A place of `q` servers below each of `r` leaves, `g` NPUs each. The network that it has, where of a leaf's
 * links up, B/taper for each of its NPUs, only the place's own send.
 */
static void write_world(struct world *w)
{
    char a[256], b[256];
    put_inner(a, w->which, 8, w->inner);
    snprintf(w->cluster, sizeof w->cluster,
             "{ " NPU ", dims: [ %s, { name: pod, shape: fat-tree, sizes: [4, 6], planes: %d, taper: %g, "
             "bw_GBps: %.17g } ] }",
             a, w->planes, w->taper, w->bw);
    put_inner(b, w->which, w->g, w->inner);
    double up = fmin(w->bw, w->bw / w->taper * LEAF * 8 / (w->q * w->g));
    if (w->q * w->r == 1)
        snprintf(w->place, sizeof w->place, "{ " NPU ", dims: [ %s ] }", b);
    else if (w->r == 1 || w->q == 1)
        snprintf(w->place, sizeof w->place,
                 "{ " NPU ", dims: [ %s, { name: pod, shape: switch, size: %d, bw_GBps: %.17g } ] }", b,
                 w->q * w->r, w->r == 1 ? w->bw : up);
    else
        snprintf(
            w->place, sizeof w->place,
            "{ " NPU
            ", dims: [ %s, { name: pod, shape: fat-tree, sizes: [%d, %d], taper: %.17g, bw_GBps: %.17g } ] }",
            b, w->q, w->r, w->bw / up, w->bw);
}

static void draw_world(struct world *w, struct rng *rng)
{
    static const int parts[] = { 2, 4, 8 };
    *w = (struct world){ .which = (int)rng_below(rng, 3),
                         .g = parts[rng_below(rng, 3)],
                         .q = 1 << rng_below(rng, 3),
                         .r = 1 + (int)rng_below(rng, 6),
                         .inner = rng_range(rng, 50, 900),
                         .bw = rng_range(rng, 5, 100),
                         .taper = 1 << rng_below(rng, 3) };
    w->planes = 1 << rng_below(rng, 3); /* that many links up, together as fast */
    int32_t first = (int32_t)rng_below(rng, 7 - w->r);
    w->npus = (int64_t)w->g * w->q * w->r;
    for (int k = 0; k < w->r; k++)
        for (int i = 0; i < w->q; i++) {
            w->servers[w->n] = (first + k) * LEAF + i;
            w->gpus[w->n++] = w->g;
        }
    write_world(w);
}

/* Some legal plan, as a workload's keys; most draws are none, and are drawn again. */
static void draw_work(char *out, size_t room, struct rng *rng)
{
    bool experts = rng_below(rng, 3) == 0;
    snprintf(out, room,
             "model: %s\nparallel: { tp: %d, pp: %d, cp: %d, ep: %d, batch: 96, micro_batch: 1, zero: %d, "
             "recompute: %s }\n",
             experts ? sparse : dense, 1 << rng_below(rng, 4), 1 << rng_below(rng, 3), 1 << rng_below(rng, 2),
             experts ? 1 << rng_below(rng, 3) : 1, (int)rng_below(rng, 4),
             rng_below(rng, 2) ? "full" : "none");
}

/* What weft sim says of it on the network of the place. */
static double simulated_s(struct folder *f, const struct world *w, const char *work)
{
    KEEP(struct design_point, s, design_point_free);
    struct err refused = { 0 };
    struct design d;
    char text[2048];
    snprintf(text, sizeof text, "network: %s\nworkload:\n  %.*s\n  %s", w->place, (int)strcspn(work, "\n"),
             work, strchr(work, '\n') + 1);
    if (load(f, &s, text, DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, &refused))
        return NAN;
    MUST(design_evaluate(&d, &s, NULL, e));
    double time_s = d.time_s;
    design_free(&d);
    return time_s;
}

/* Jobs on a cluster of the world's network, all of one model. */
struct jobs {
    struct design_point at;
    struct yaml_doc doc;
    struct training training;
    struct job_model model;
    struct cluster c;
    struct job jobs[8];
    struct pace pace;
};

static void jobs_free(struct jobs *x)
{
    x->pace.free(x->pace.x);
    cluster_free(&x->c);
    yaml_free(&x->doc);
    design_point_free(&x->at);
}

static void jobs_open(struct jobs *x, struct folder *f, const struct world *w, const char *work, int32_t n,
                      enum pace_duty duty)
{
    static const char *const names[] = { "gpu" };
    const double eight = 8;
    const struct cluster_offer offer = { 1, names, &eight, false };
    int32_t size[TOPO_MAX_DIMS];
    struct topo_network place;
    char text[1024];
    snprintf(text, sizeof text, "network: %s\n", w->cluster);
    MUST(load(f, &x->at, text, DESIGN_NEEDS_BANDWIDTH, e));
    MUST(yaml_read_text(&x->doc, "work", work, strlen(work), e));
    footprint_ideal(size, &x->at.net, 1, 8, w->npus);
    do
        footprint_network(&place, &x->at.net, size);
    while (training_read(&x->training, &x->doc, x->doc.root, &place, &(struct err){ 0 }) &&
           footprint_simplify(size, place.n_dims, 1));
    x->model = (struct job_model){ .name = "model", .kept = 1, .exchange = 1, .training = &x->training };
    for (int32_t i = 0; i < n; i++) {
        x->jobs[i] = job_default();
        x->jobs[i].gpus = (int32_t)w->npus;
        x->jobs[i].iterations = 1;
        x->jobs[i].model = &x->model;
    }
    MUST(cluster_build(&x->c, &x->at.net, 1, &offer, e));
    struct pace_graph_settings s = pace_graph_settings_default();
    s.inner = s.net = &x->at.net;
    s.level = 1;
    s.duty = duty;
    MUST(pace_graph_build(&x->pace, &x->c, x->jobs, n, &s, e));
}

static void begin(struct jobs *x, int32_t job, const struct world *w)
{
    const struct pace_place place = { w->n, w->servers, w->gpus };
    MUST(x->pace.begin(x->pace.x, job, &place, e));
}

static void settle(struct jobs *x)
{
    const int32_t *changed;
    int32_t n;
    MUST(x->pace.changed(x->pace.x, &changed, &n, e));
}

TEST(alone_a_step_is_that_of_weft_sim_on_the_place)
{
    RNG(rng, 37, 1);
    int done = 0, shared = 0;
    for (int tries = 0; done < 200 && tries < 20000; tries++) {
        struct world w;
        char work[1024];
        draw_world(&w, rng);
        draw_work(work, sizeof work, rng);
        double want_s = simulated_s(*state, &w, work);
        if (isnan(want_s))
            continue;
        KEEP(struct jobs, x, jobs_free);
        jobs_open(&x, *state, &w, work, 1, done % 2 ? PACE_DUTY_ALWAYS : PACE_DUTY_INTERLEAVED);
        begin(&x, 0, &w);
        settle(&x);
        assert_close(x.pace.iteration_s(x.pace.x, 0), want_s, 1e-9);
        assert_close(pace_graph_alone_s(pace_graph_of(&x.pace), 0), want_s, 1e-9);
        done++;
        shared += w.n > 1;
    }
    assert_int_equal(done, 200);
    assert_true(shared > 100);
}

/* What it takes alone, on a cluster of the world's network. */
static double alone_s(struct folder *f, const struct world *w, const char *work)
{
    KEEP(struct jobs, x, jobs_free);
    jobs_open(&x, f, w, work, 1, PACE_DUTY_ALWAYS);
    begin(&x, 0, w);
    settle(&x);
    return x.pace.iteration_s(x.pace.x, 0);
}

TEST(no_step_is_shorter_on_slower_links)
{
    RNG(rng, 37, 2);
    int done = 0, longer = 0;
    const int n = repeats(2000);
    while (done < n) {
        struct world w;
        char work[1024];
        draw_world(&w, rng);
        draw_work(work, sizeof work, rng);
        /* Some legal plan stays for ten draws. */
        if (done % 10 == 0 && isnan(simulated_s(*state, &w, work)))
            continue;
        for (int k = 0; k < 10; k++, done++) {
            double before_s = alone_s(*state, &w, work);
            double *slower = k % 3 == 0 ? &w.inner : k % 3 == 1 ? &w.bw : NULL;
            if (slower)
                *slower *= rng_range(rng, 0.5, 1);
            else
                w.taper *= 2;
            write_world(&w);
            double after_s = alone_s(*state, &w, work);
            assert_true(after_s >= before_s * (1 - 1e-12));
            longer += after_s > before_s;
        }
    }
    assert_true(longer > n / 4);
}

/* The step where all NPUs of the network send: what weft sim says of a place of whole leaves. */
static double full_s(const struct jobs *x, const struct world *w)
{
    const int32_t size[TOPO_MAX_DIMS] = { w->g, w->q, w->r };
    const struct job_step *step;
    struct job_steps *steps;
    MUST(job_steps_build(&steps, &x->at.net, 1, e));
    MUST(job_steps_find(&step, steps, &x->model, size, e));
    double time_s = step_time(&step->fn, step->bw_Bps);
    job_steps_free(steps);
    return time_s;
}

/* Four jobs, whose places are moved by a leaf or by servers: those that share leaves share their links up. */
TEST(among_others_a_step_is_between_that_of_free_and_of_full_links)
{
    RNG(rng, 37, 3);
    int between = 0;
    for (int done = 0; done < 300;) {
        struct world w, at[4];
        char work[1024];
        draw_world(&w, rng);
        draw_work(work, sizeof work, rng);
        if (w.r < 2 || w.q > 2 || isnan(simulated_s(*state, &w, work)))
            continue;
        KEEP(struct jobs, x, jobs_free);
        jobs_open(&x, *state, &w, work, 4, done % 2 ? PACE_DUTY_ALWAYS : PACE_DUTY_INTERLEAVED);
        int32_t n = w.q == 1 ? 4 : 2, move = LEAF / n, leaves = (int32_t)rng_below(rng, 2);
        for (int32_t i = 0; i < n; i++) {
            at[i] = w;
            for (int32_t k = 0; k < w.n; k++)
                at[i].servers[k] =
                    (w.servers[k] / LEAF * LEAF + w.servers[k] % LEAF + i * move + i * leaves * LEAF) %
                    (6 * LEAF);
            begin(&x, i, &at[i]);
        }
        settle(&x);
        for (int32_t i = 0; i < n; i++) {
            double s = x.pace.iteration_s(x.pace.x, i);
            assert_true(s >= pace_graph_alone_s(pace_graph_of(&x.pace), i) * (1 - 1e-9));
            assert_true(s <= full_s(&x, &w) * (1 + 1e-9));
            between += s > pace_graph_alone_s(pace_graph_of(&x.pace), i) * (1 + 1e-6);
        }
        done++;
    }
    assert_true(between > 100);
}

SUITE(make_folder, remove_folder)
