/*
 * Rows of a study that share a book of plans: each is what it is alone, whatever came before it, and no plan
 * with its own best split is better.
 */
#include "kinds/design/ask/load.h"
#include "tests/unit/draw_text.h"
#include "tests/unit/folder.h"

#include <omp.h>

#include "kinds/design/explore/search.h"
#include "kinds/design/explore/solve.h"

enum { ROWS = 4 };

/* ---- studies, but for the total ---- */

static void draw_network(char *text, struct rng *r, int n_dims)
{
    const bool alike = chance(r, 0.5); /* which ties plans */
    const int size = PICK(r, 2, 4), latency_ns = PICK(r, 0, 500, 2000, 5000000);
    add(text, "network: { npu: { peak_TFLOPS: %s, mem_GBps: 100, kernel_ns: 1000 }, dims: [ ",
        PICK_WORD(r, "0.1", "100"));
    for (int d = 0; d < n_dims; d++) {
        add(text, "%s{ name: d%d, tier: T%d, latency_ns: %d, ", d ? ", " : "", d, alike ? 0 : d, latency_ns);
        add(text, "shape: %s, size: %d", alike ? "switch" : PICK_WORD(r, "ring", "switch", "full"),
            alike ? size : PICK(r, 2, 2, 3, 4));
        if (d == 0 && chance(r, 0.15))
            add(text, ", bw_GBps: %.4g", rng_log_range(r, 0.2, 3));
        else if (d == 1 && chance(r, 0.1))
            add(text, ", algorithm: auto");
        add(text, " }");
    }
    add(text, " ] }\n%s", chance(r, 0.4) ? "model: alpha-beta\n" : "");
}

static void draw_workload(char *text, struct rng *r)
{
    bool experts = chance(r, 0.4);
    add(text, "workload: { name: w, model: { layers: %d, hidden: %d, heads: 8, vocab: 512, seq: %d%s }, ",
        PICK(r, 2, 4), PICK(r, 64, 128, 256), PICK(r, 16, 64),
        experts ? ", moe: { experts: 4, top_k: 2, ffn: 96 }" : "");
    add(text, "parallel: { batch: %d%s%s%s }, search: { recompute: [none], context: [ring], interleave: [1]",
        PICK(r, 16, 24), chance(r, 0.4) ? ", overlap_dp: false" : "",
        chance(r, 0.3) ? ", overlap_tp: backward" : "", chance(r, 0.3) ? ", overlap_pp: true" : "");
    add(text, "%s%s%s%s", chance(r, 0.4) ? ", order: any" : "", chance(r, 0.7) ? ", cp: [1]" : "",
        chance(r, 0.7) ? ", schedule: [1f1b]" : "",
        experts && chance(r, 0.7) ? ", ep_overlap: [none], dispatcher: [all-to-all]" : "");
    add(text, ", tp: [%s], pp: [%s], zero: [%s], micro_batch: [%s], seq_parallel: [false], top: %d } }\n",
        PICK_WORD(r, "1", "1, 2", "1, 2, 4", "1, 2, 4, 8"), PICK_WORD(r, "1", "1, 2", "2"),
        PICK_WORD(r, "0", "1", "0, 1", "0, 1, 3", "2, 3"), PICK_WORD(r, "1", "2", "1, 2"),
        PICK(r, 1, 1, 2, 3, 10, 40));
}

static void draw_constraints(char *text, struct rng *r, int n_dims)
{
    const int n = PICK(r, 0, 0, 1, 2);
    if (n)
        add(text, "constraints: [ ");
    for (int i = 0; i < n; i++) {
        const int a = (int)rng_below(r, (uint32_t)n_dims), b = (a + 1) % n_dims;
        add(text, "%sd%d %s %.3g", i ? ", " : "", a, PICK_WORD(r, "<=", ">=", "=="),
            rng_log_range(r, 0.05, 10));
        if (chance(r, 0.7))
            add(text, "*d%d", b);
    }
    if (n)
        add(text, " ]\n");
}

/* ---- their answers ---- */

static void load(struct design_point *s, const char *text, double total_GBps)
{
    char whole[TEXT];
    FOLDER(f);
    snprintf(whole, sizeof whole, "%stotal_GBps: %.4g\n", text, total_GBps);
    MUST(design_point_load(s, put(&f, "study.yaml", whole), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                           e));
}

/* @p shelf: of a sweep; NULL: the only question, with a list of plans. */
static void search(struct search_result *out, const struct design_point *s, struct search_shelf *shelf)
{
    struct search_space space = { 0 };
    struct search_book book;
    const struct training *base = s->workloads[0].training;
    MUST(search_read_space(&space, s, base->search, false, e));
    if (shelf)
        MUST(search_book_open(&book, shelf, &space, s, base, e));
    else
        MUST(search_book_build(&book, &space, s, base, SEARCH_MOST_NOTED, true, e));
    MUST(search_split(out, &book, e));
    search_book_close(&book, shelf);
}

/* To the last bit, but for what a row need not find. */
static void assert_same(const struct search_result *a, const struct search_result *b)
{
    assert_true((a->n_found > 0) == (b->n_found > 0));
    assert_true(a->clash == b->clash && a->proved == b->proved && a->unique == b->unique);
    if (!a->n_found)
        return;
    const struct search_found *x = a->found, *y = b->found;
    assert_int_equal(x->rank, y->rank);
    assert_close(x->value, y->value, 0);
    assert_close(fmin(a->lower_bound, x->lower_bound), fmin(b->lower_bound, y->lower_bound), 0);
    assert_memory_equal(x->bw_Bps, y->bw_Bps, sizeof x->bw_Bps);
}

/* ---- all plans ---- */

struct every {
    const struct design_point *s;
    struct search_found best;
};

static bool skip_nothing(void *with, double least_s)
{
    (void)with;
    return isinf(least_s);
}

static void take_each(void *with, const struct search_candidate *c)
{
    struct every *x = with;
    struct search_found f = search_found_of(c);
    struct design_question q;
    struct alloc_answer answer;
    KEEP(struct step_fn, fn, step_fn_free);
    const double *bw_Bps = c->clocks[0].way.bw_Bps;
    MUST(search_compile_plan(&fn, &f.plan, x->s->workloads[0].training, x->s, bw_Bps, e));
    design_ask(&q, x->s);
    q.problem.step = &fn;
    MUST(alloc_solve(&answer, &q.problem, e));
    f.value = alloc_has_split(&answer) ? answer.value : (double)INFINITY;
    alloc_answer_free(&answer);
    if (search_by_value(&f, &x->best) < 0)
        x->best = f;
}

static void assert_best(const struct search_result *r, const struct design_point *s)
{
    struct every x = { s, { .value = INFINITY, .memory_B = INFINITY } };
    struct search_space space = { 0 };
    KEEP(struct search_book, book, search_book_free);
    double bw_Bps[TOPO_MAX_DIMS];
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        bw_Bps[d] = 1e9;
    const struct search_pass pass = {
        .ways = { search_way(s, bw_Bps) }, .n_ways = 1, .skip = skip_nothing, .take = take_each, .with = &x
    };
    MUST(search_read_space(&space, s, s->workloads[0].training->search, false, e));
    MUST(search_book_build(&book, &space, s, s->workloads[0].training, SEARCH_MOST_NOTED, false, e));
    MUST(search_book_pass(&book, &pass, e));
    assert_true(isinf(x.best.value) == (r->n_found == 0));
    if (!r->n_found)
        return;
    if (design_point_has_choice(s)) { /* its plans are split with algorithms of one split */
        assert_true(!r->proved);
        return;
    }
    assert_true(r->proved && r->lower_bound <= x.best.value);
    assert_close(r->found[0].value, x.best.value, 0);
    assert_int_equal(r->found[0].rank, x.best.rank);
}

static void test_one(uint64_t seed)
{
    char text[TEXT] = "";
    RNG(r, 178, seed);
    const int n_dims = PICK(r, 2, 2, 3);
    draw_network(text, r, n_dims);
    draw_workload(text, r);
    draw_constraints(text, r, n_dims);
    struct search_shelf *shelf = search_shelf_new();
    for (int i = 0; i < ROWS; i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct search_result, row, search_free);
        KEEP(struct search_result, first, search_free);
        KEEP(struct search_result, alone, search_free);
        struct search_shelf *fresh = search_shelf_new();
        load(&s, text, chance(r, 0.2) ? 1e5 : rng_log_range(r, 0.5, 200));
        search(&row, &s, shelf);
        search(&first, &s, fresh);
        search(&alone, &s, NULL);
        search_shelf_free(fresh);
        assert_same(&row, &first);
        assert_same(&row, &alone);
        if (i == ROWS - 1)
            assert_best(&row, &s);
    }
    search_shelf_free(shelf);
}

/* SOAK: 2,000. */
TEST(a_row_is_what_it_is_alone)
{
    omp_set_num_threads(1); /* the searches are small */
    uint64_t n = getenv("SOAK") ? 2000 : (uint64_t)repeats(20);
    for (uint64_t seed = 0; seed < n; seed++)
        test_one(seed);
}

/* Of plans that are equal the one with less memory, or that comes first, is named, although a row before has
 * another in hand, and whatever the order of their bounds. */
/* Shapes drawn anew. */
static void reshape(char *out, const char *text, struct rng *r)
{
    static const char key[] = "shape: ";
    out[0] = 0;
    for (const char *at = text; *at;) {
        const char *next = strstr(at, key);
        const char *end = next ? next + strlen(key) : at + strlen(at);
        add(out, "%.*s%s", (int)(end - at), at, next ? PICK_WORD(r, "ring", "switch", "full") : "");
        at = next ? end + strcspn(end, ",") : end;
    }
}

enum { NETWORKS = 6 };

/* The first asks for a short list, the second writes it, and it may have to be written anew. */
static void test_shapes(uint64_t seed)
{
    char text[TEXT] = "", shaped[TEXT];
    RNG(r, 179, seed);
    const int n_dims = PICK(r, 2, 3);
    draw_network(text, r, n_dims);
    draw_workload(text, r);
    const double totals[] = { rng_log_range(r, 0.5, 200), rng_log_range(r, 0.5, 200) };
    struct search_shelf *shelf = search_shelf_new();
    for (int i = 0; i < NETWORKS; i++) {
        reshape(shaped, text, r);
        for (int k = 0; k < 2; k++) {
            KEEP(struct design_point, s, design_point_free);
            KEEP(struct search_result, row, search_free);
            KEEP(struct search_result, alone, search_free);
            load(&s, shaped, totals[k]);
            search(&row, &s, shelf);
            search(&alone, &s, NULL);
            assert_same(&row, &alone);
        }
    }
    search_shelf_free(shelf);
}

TEST(rows_before_do_not_decide_between_equal_plans)
{
    static const char study[] = "network: { npu: { peak_TFLOPS: 0.1, mem_GBps: 100, kernel_ns: 1000 }, dims: "
                                "[ { name: d0, shape: switch, "
                                "size: 2, latency_ns: 500 }, { name: d1, shape: switch, size: 2, latency_ns: "
                                "500 }, { name: d2, shape: "
                                "switch, size: 2, latency_ns: 500 } ] }\n"
                                "workload: { name: w, model: { layers: 2, hidden: 128, heads: 8, vocab: 512, "
                                "seq: 16 }, parallel: { batch: "
                                "16, overlap_dp: false, overlap_tp: backward }, search: { recompute: [none], "
                                "context: [ring], interleave: "
                                "[1], order: any, cp: [1], tp: [1, 2], pp: [2], zero: [0, 1, 3], "
                                "seq_parallel: [false], schedule: [1f1b], "
                                "top: 2 } }\n";
    static const double totals_GBps[] = { 3.094, 60.98, 0.6799, 68.14, 1.958 };
    struct search_shelf *shelf = search_shelf_new();
    for (size_t i = 0; i < COUNT_OF(totals_GBps); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct search_result, row, search_free);
        KEEP(struct search_result, alone, search_free);
        load(&s, study, totals_GBps[i]);
        search(&row, &s, shelf);
        search(&alone, &s, NULL);
        assert_same(&row, &alone);
        assert_best(&row, &s);
    }
    search_shelf_free(shelf);
}

TEST(a_list_that_is_replaced_stays_as_long_as_it_is_read)
{
    struct shortlists *all = shortlists_new();
    assert_non_null(all);
    assert_null(shortlists_find(all, 7));
    shortlists_ask(all, 7);
    shortlists_ask(all, 7);
    assert_false(shortlists_are_read(all));
    struct shortlist *asked = shortlists_find(all, 7), *list = calloc(1, sizeof *list);
    assert_non_null(asked);
    assert_non_null(list);
    *list = (struct shortlist){ .key = 7, .most = 2 };
    for (int i = 0; i < 3; i++)
        shortlist_add(list, &(struct search_pair){ .bound = 2 - i * 0.5, .rank = i });
    shortlist_sort(list);
    assert_true(shortlists_keep(all, list));
    assert_true(asked->replaced && asked->readers == 1 && asked->most < 0);
    shortlists_leave(all, asked);
    assert_false(shortlists_are_read(all)); /* what was found was not written yet */
    struct shortlist *found = shortlists_find(all, 7);
    assert_true(shortlists_are_read(all));
    assert_ptr_equal(found, list);
    assert_int_equal(found->readers, 2);
    assert_int_equal(found->pairs[0].rank, 2);
    assert_false(shortlists_are_full(all));
    shortlists_leave(all, found);
    shortlists_leave(all, list);
    shortlists_leave(all, NULL);
    shortlists_free(all);
}

TEST(where_a_pair_was_touched_is_kept_to_eleven_bits)
{
    for (double bw_Bps = 7e4; bw_Bps < 2.8e14; bw_Bps *= 1.37)
        assert_close(shortlist_unpack_Bps(shortlist_pack_Bps(bw_Bps)) / bw_Bps, 1, 1.0 / (1 << 11));
    assert_close(shortlist_unpack_Bps(shortlist_pack_Bps(0)), 1 << 16, 0);
    assert_close(shortlist_unpack_Bps(shortlist_pack_Bps(1e30)), 2.8e14, 2e12);
}

/* SOAK: 1,000. */
TEST(networks_of_the_same_sizes_share_a_short_list)
{
    omp_set_num_threads(1);
    uint64_t n = getenv("SOAK") ? 1000 : (uint64_t)repeats(40);
    for (uint64_t seed = 0; seed < n; seed++)
        test_shapes(seed);
}
