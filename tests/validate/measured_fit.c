/*
 * How much do predictions owe to constants that were chosen on step times? Those constants (grade F in NPU
 * files and docs/training.md) are chosen anew, by coordinate descent from the values that the files have, on
 * all families but one, and the one left out is scored. A constant is a factor on the file's value, within
 * bounds that its physics allows. Constants from operator tables and data sheets (grades M and D) stay.
 *
 * Least is the mean of |ln(weft/measured)| over the rows of a family, summed over the families. A row is
 * timed in closed form from its plan, as a search times its candidates; only rows that a constant concerns
 * are timed again.
 */
#include "tests/validate/measured_fit.h"

#include "workloads/plan_cost.h"

enum { MOST_FAMILIES = 64 };

/* A row that can be timed quickly. */
struct fit_row {
    struct measured *m;
    struct design_point s;
    int32_t family; /* of struct fit.families */
    double time_s;
};

struct fit {
    struct fit_row *rows; /* owned, shape [n] */
    int32_t n;
    char families[MOST_FAMILIES][64];
    int32_t counts[MOST_FAMILIES], n_families;
};

/* ---- constants ---- */

static bool is_class(const struct fit_row *r, int32_t software)
{
    return r->s.workloads[0].training->plan.software == software;
}

static bool is_gpu(const struct fit_row *r, const char *gpu)
{
    return strncmp(r->m->gpu, gpu, strlen(gpu)) == 0;
}

static bool has_experts(const struct fit_row *r)
{
    return r->s.workloads[0].training->model.moe.experts > 0;
}

static bool has_layer_norm(const struct fit_row *r)
{
    return r->s.workloads[0].training->model.norm == MODEL_LAYER_NORM;
}

static bool on_gb300(const struct fit_row *r)
{
    return is_gpu(r, "gb300");
}

static bool on_a100(const struct fit_row *r)
{
    return is_gpu(r, "a100");
}

static bool on_hopper(const struct fit_row *r)
{
    return is_gpu(r, "h");
}

/* Chips whose ceilings are those of tables of operators. */
static bool on_blackwell(const struct fit_row *r)
{
    return is_gpu(r, "b200") || is_gpu(r, "b300") || is_gpu(r, "gb200");
}

static bool in_8_bits_on_hopper(const struct fit_row *r)
{
    return r->m->precision != TOPO_BF16 && (is_gpu(r, "h100") || is_gpu(r, "h200")) &&
           strstr(r->m->gpu, "500w") == NULL;
}

static bool has_class(const struct fit_row *r)
{
    return !plan_is_2021(&r->s.workloads[0].training->plan);
}

static bool runs_2021(const struct fit_row *r)
{
    return plan_is_2021(&r->s.workloads[0].training->plan);
}

static bool runs_compiled(const struct fit_row *r)
{
    return is_class(r, PLAN_COMPILED);
}

static bool runs_eager_gpt(const struct fit_row *r)
{
    return is_class(r, PLAN_EAGER) && has_layer_norm(r);
}

static bool runs_fa1(const struct fit_row *r)
{
    return r->s.workloads[0].training->plan.kernel == PLAN_FA1;
}

static bool launches_experts(const struct fit_row *r)
{
    return has_experts(r) && is_class(r, PLAN_MEGATRON) &&
           r->s.workloads[0].training->plan.graph == PLAN_GRAPH_NONE;
}

static void set_ceiling(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)p, (void)m;
    npu->matrix_efficiency *= factor;
}

static void set_step_share(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)p, (void)m;
    npu->step_share *= factor;
    npu->step_share_8bit *= factor;
}

static void set_jitter(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)npu;
    p->jitter = plan_class(p, m).jitter * factor;
}

static void set_half(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)p, (void)m;
    npu->half_out *= factor;
    npu->half_in *= factor;
}

static void set_elementwise(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)npu;
    p->elementwise = plan_class(p, m).elementwise * factor;
}

/* A plan's own figure is that of a launch without graphs. */
static void set_launch(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    struct plan bare = *p;
    (void)npu;
    bare.graph = PLAN_GRAPH_NONE;
    struct plan_class c = plan_class(&bare, m);
    p->launch_s = (m->moe.experts ? c.expert_launch_s : c.launch_s) * factor;
}

static void set_fa1(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    struct topo_npu_attention fa1;
    (void)p, (void)m;
    if (!topo_npu_find_kernel(&fa1, npu, TOPO_FA1) || npu->n_kernels == N_TOPO_KERNELS)
        return;
    for (int pass = 0; pass < N_TOPO_PASSES; pass++)
        fa1.flops[pass] *= factor;
    npu->kernels[npu->n_kernels++] = fa1;
}

static bool computes_attention_on_older(const struct fit_row *r)
{
    return is_gpu(r, "a100") || is_gpu(r, "h");
}

static bool has_scores(const struct fit_row *r)
{
    const struct training *x = r->s.workloads[0].training;
    return !plan_is_fused(&x->plan, &x->model);
}

static bool has_graph(const struct fit_row *r)
{
    return r->s.workloads[0].training->plan.graph == PLAN_GRAPH_ATTENTION;
}

static bool rings(const struct fit_row *r)
{
    const struct plan *p = &r->s.workloads[0].training->plan;
    return plan_is_pytorch(p) && p->degree[PLAN_CP] > 1 && p->context == PLAN_CP_RING;
}

static void set_half_tiles(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)p, (void)m;
    for (int32_t i = 0; i < npu->n_kernels; i++)
        for (int pass = 0; pass < N_TOPO_PASSES; pass++)
            npu->kernels[i].half_tiles[pass] *= factor;
}

static void set_scores(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)p, (void)m;
    npu->attention *= factor;
}

static void set_kernels(struct plan *p, const struct model *m, struct topo_npu *npu, double factor)
{
    (void)p, (void)m;
    for (int32_t i = 0; i < npu->n_kernels; i++)
        for (int pass = 0; pass < N_TOPO_PASSES; pass++)
            npu->kernels[i].flops[pass] *= factor;
}

/* Bounds: ceilings between what the power law carries over and the largest burst that was measured (A100: a
 * product of 8192 cubed reaches 0.84 to 0.87); half sizes from none to twice; bytes at least those of fused
 * kernels; launches a quarter to twice. Those without are not chosen again: few rows tell them apart. */
static const struct constant {
    const char *name, *where;
    double least, most; /* of the factor */
    bool (*concerns)(const struct fit_row *);
    void (*set)(struct plan *, const struct model *, struct topo_npu *, double factor);
} constants[] = {
    { "sustained ceiling of GB300", "matrix_efficiency 0.74", 0.9, 1.08, on_gb300, set_ceiling },
    { "sustained ceiling of A100", "matrix_efficiency 0.92", 0.97, 1.01, on_a100, set_ceiling },
    { "share of a step's products, B200, B300, GB200", "step_share 0.92", 0.85, 1.08, on_blackwell,
      set_step_share },
    { "the same of 8 bits, Hopper", "step_share_8bit 0.93", 0.85, 1.07, in_8_bits_on_hopper, set_step_share },
    { "jitter", "0.006", 0.25, 3, has_class, set_jitter },
    { "half sizes of products, A100", "200 and 100", 0.3, 2, on_a100, set_half },
    { "half sizes of products, Hopper", "120 and 100", 0.3, 2, on_hopper, set_half },
    { "elementwise bytes, torch.compile", "2.1 times fused", 0.5, 2, runs_compiled, set_elementwise },
    { "elementwise bytes, eager, LayerNorm and GELU", "2.6 times fused", 0.5, 2, runs_eager_gpt,
      set_elementwise },
    { "FlashAttention 1 over 2", "0.60", 0.7, 1.3, runs_fa1, set_fa1 },
    { "launches of a layer, Megatron-LM of 2021", "1.05 ms", 0.5, 2, runs_2021, set_launch },
    { "launches of a layer with experts", "4.0 ms", 0.25, 2, launches_experts, set_launch },
    { "half sizes of attention, A100 and Hopper", "0.4 and 0.3 tiles", 1, 1, computes_attention_on_older,
      set_half_tiles },
    { "attention that is not fused, A100", "0.5", 1, 1, has_scores, set_scores },
    { "launches left by a graph of attention", "0.4", 1, 1, has_graph, set_launch },
    { "PyTorch's ring of cp", "0.68", 1, 1, rings, set_kernels },
};

enum { N_CONSTANTS = COUNT_OF(constants) };

static bool is_chosen(int k)
{
    return constants[k].most > constants[k].least;
}

/* ---- time of a row ---- */

/* With constants times @p factors; NULL: as they are. */
static double time_row(const struct fit_row *r, const double *factors)
{
    const struct training *x = r->s.workloads[0].training;
    struct plan p = x->plan;
    struct topo_npu npu = r->s.net.npu;
    struct plan_cost cost;
    double once_s[PLAN_MAX_COLLECTIVES], bw_Bps[TOPO_MAX_DIMS];
    struct plan_busy busy = { .n_dims = r->s.net.n_dims };
    const struct collective_way way = { &r->s.net, &r->s.rules.stage, bw_Bps };
    topo_get_bandwidths(bw_Bps, &r->s.net);
    for (int k = 0; k < N_CONSTANTS && factors; k++)
        if ((factors[k] < 1 || factors[k] > 1) && constants[k].concerns(r))
            constants[k].set(&p, &x->model, &npu, factors[k]);
    plan_cost(&cost, &x->model, &p, &npu);
    for (int32_t i = 0; i < cost.n_collectives; i++) {
        const struct plan_collective *c = &cost.collectives[i];
        struct collective_time t;
        collective_time(&t, c->kind, c->bytes, x->place.members[c->group], x->place.stride[c->group],
                        x->place.share[c->group], &way);
        once_s[i] = t.time_s;
        memcpy(busy.once_s[i], t.busy_s, sizeof t.busy_s);
    }
    return plan_cost_time(&cost, once_s, &busy);
}

/* ---- descent ---- */

static double loss_of(const struct fit_row *r)
{
    return fabs(log(r->time_s / r->m->step_s));
}

/* Means of the families, summed over all but @p out: families weigh alike, however many rows they have. */
static double sum_losses(const struct fit *f, int32_t out)
{
    double sum = 0;
    for (int32_t i = 0; i < f->n; i++)
        if (f->rows[i].family != out)
            sum += loss_of(&f->rows[i]) / f->counts[f->rows[i].family];
    return sum;
}

static void time_rows(struct fit *f, const double *factors, int only)
{
    for (int32_t i = 0; i < f->n; i++)
        if (only < 0 || constants[only].concerns(&f->rows[i]))
            f->rows[i].time_s = time_row(&f->rows[i], factors);
}

/* Factors are the answer; the rows are timed with them afterwards. */
static void descend(struct fit *f, double factors[N_CONSTANTS], int32_t out)
{
    static const double steps[] = { 1.2, 1.06, 1.02 };
    for (int k = 0; k < N_CONSTANTS; k++)
        factors[k] = 1;
    time_rows(f, factors, -1);
    double best = sum_losses(f, out);
    for (size_t s = 0; s < COUNT_OF(steps); s++)
        for (bool moved = true; moved;) {
            moved = false;
            for (int k = 0; k < N_CONSTANTS; k++)
                for (int way = 0; way < 2 && is_chosen(k); way++) {
                    double before = factors[k], next = way ? before / steps[s] : before * steps[s];
                    if (next < constants[k].least || next > constants[k].most)
                        continue;
                    factors[k] = next;
                    time_rows(f, factors, k);
                    double sum = sum_losses(f, out);
                    if (sum < best * (1 - 1e-4)) {
                        best = sum;
                        moved = true;
                        break;
                    }
                    factors[k] = before;
                    time_rows(f, factors, k);
                }
        }
}

/* ---- families ---- */

void measured_family(char out[64], const struct measured *m)
{
    if (strncmp(m->table, "bridge", 6) == 0)
        snprintf(out, 64, "Megatron-Bridge, %.40s", m->model);
    else if (strncmp(m->table, "dgxc", 4) == 0 || strcmp(m->table, "mlperf") == 0)
        snprintf(out, 64, "%s, %.40s", m->table[0] == 'd' ? "dgxc" : "MLPerf", m->model);
    else if (strncmp(m->table, "mpt_a100", 8) == 0)
        snprintf(out, 64, "%.11s", m->table);
    else
        snprintf(out, 64, "%.*s", strncmp(m->table, "mpt", 3) == 0 ? 8 : (int)strcspn(m->table, "_"),
                 m->table);
    size_t n = strlen(out);
    if (n && out[n - 1] == '_')
        out[n - 1] = '\0';
}

static void open_fit(struct fit *f, struct measured_rows *rows)
{
    *f = (struct fit){ .rows = calloc((size_t)rows->n + 1, sizeof *f->rows) };
    assert_non_null(f->rows);
    for (int32_t i = 0; i < rows->n; i++) {
        struct measured *m = &rows->rows[i];
        struct fit_row *r = &f->rows[f->n];
        if (m->check || m->fault[0] || !m->told)
            continue;
        MUST(measured_open(&r->s, m, e));
        r->m = m;
        f->n++;
        char name[64];
        int32_t k = 0;
        measured_family(name, m);
        while (k < f->n_families && strcmp(f->families[k], name) != 0)
            k++;
        assert_true(k < MOST_FAMILIES);
        if (k == f->n_families)
            snprintf(f->families[f->n_families++], sizeof f->families[0], "%s", name);
        r->family = k;
        f->counts[k]++;
    }
}

static void close_fit(struct fit *f)
{
    for (int32_t i = 0; i < f->n; i++)
        design_point_free(&f->rows[i].s);
    free(f->rows);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean and median of |weft/measured - 1| of one family, -1: of all; how many rows. */
static int32_t score(double out[2], const struct fit *f, int32_t family)
{
    double *errors = calloc((size_t)f->n + 1, sizeof *errors);
    int32_t n = 0;
    assert_non_null(errors);
    out[0] = 0;
    for (int32_t i = 0; i < f->n; i++)
        if (family < 0 || f->rows[i].family == family) {
            errors[n] = 100 * fabs(f->rows[i].time_s / f->rows[i].m->step_s - 1);
            out[0] += errors[n++];
        }
    qsort(errors, (size_t)n, sizeof *errors, ascending);
    out[0] /= n;
    out[1] = n % 2 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
    free(errors);
    return n;
}

/* Constants chosen on all families but @p out; its rows keep what they come to then. */
static void leave_out(struct fit *f, double factors[N_CONSTANTS], int32_t out)
{
    descend(f, factors, out);
    for (int32_t i = 0; i < f->n; i++)
        if (f->rows[i].family == out)
            f->rows[i].m->left_s = f->rows[i].time_s;
}

void measured_fit_leave_out(struct measured_rows *rows)
{
    double factors[N_CONSTANTS];
    struct fit f;
    open_fit(&f, rows);
    for (int32_t k = 0; k < f.n_families; k++)
        leave_out(&f, factors, k);
    close_fit(&f);
}

/* One line: what a tenth more of it does to its rows, and what was chosen. */
static void print_constant(struct fit *f, int c, double chosen, double low, double high)
{
    double factors[N_CONSTANTS], moved = 0, error = 0;
    int32_t n = 0;
    for (int k = 0; k < N_CONSTANTS; k++)
        factors[k] = k == c ? 1.1 : 1;
    for (int32_t i = 0; i < f->n; i++) {
        const struct fit_row *r = &f->rows[i];
        if (!constants[c].concerns(r))
            continue;
        double before_s = time_row(r, NULL), after_s = time_row(r, factors);
        moved += after_s / before_s - 1;
        error += fabs(after_s / r->m->step_s - 1) - fabs(before_s / r->m->step_s - 1);
        n++;
    }
    printf("| %s | %s | %d | %+.1f | %+.1f |", constants[c].name, constants[c].where, (int)n, 100 * moved / n,
           100 * error / n);
    if (is_chosen(c))
        printf(" %.2f | %.2f to %.2f |\n", chosen, low, high);
    else
        puts(" | |");
}

int measured_fit_print(struct measured_rows *rows)
{
    double ones[N_CONSTANTS], all[N_CONSTANTS], low[N_CONSTANTS], high[N_CONSTANTS];
    struct fit f;
    open_fit(&f, rows);
    for (int k = 0; k < N_CONSTANTS; k++)
        ones[k] = low[k] = high[k] = 1;
    time_rows(&f, ones, -1);
    int wrong = 0;
    for (int32_t i = 0; i < f.n; i++) /* the quick way of timing is the program's */
        wrong += !(fabs(f.rows[i].time_s / f.rows[i].m->got_s - 1) < 1e-9);
    puts("\n### Constants chosen on step times, with each family left out\n\nMean / median of |error| in %. "
         "By the "
         "files: as above. Chosen on the others: the constants below, chosen by coordinate descent on the "
         "rows "
         "of all other families, score the one left out.\n\n| family left out | rows | by the files | chosen "
         "on "
         "the others | |\n|---|--:|--:|--:|---|");
    for (int32_t k = 0; k < f.n_families; k++) {
        double factors[N_CONSTANTS], before[2], after[2];
        time_rows(&f, ones, -1);
        int32_t n = score(before, &f, k);
        leave_out(&f, factors, k);
        score(after, &f, k);
        printf("| %s | %d | %.1f / %.1f | %.1f / %.1f | |\n", f.families[k], (int)n, before[0], before[1],
               after[0], after[1]);
        for (int c = 0; c < N_CONSTANTS; c++) {
            low[c] = fmin(low[c], factors[c]);
            high[c] = fmax(high[c], factors[c]);
        }
    }
    double before[2], after[2];
    time_rows(&f, ones, -1);
    int32_t n = score(before, &f, -1);
    descend(&f, all, -1);
    score(after, &f, -1);
    printf("| none (in sample) | %d | %.1f / %.1f | %.1f / %.1f | |\n", (int)n, before[0], before[1],
           after[0], after[1]);
    puts(
        "\nConstants of grade F, and what they move: the times of the rows that they concern, and their mean "
        "error, where they are a tenth larger.\n\n| constant | file | rows | a tenth more moves times by % | "
        "and their mean error by points | factor chosen on all rows | lowest to highest with a family left "
        "out |\n|---|---|--:|--:|--:|--:|--:|");
    for (int c = 0; c < N_CONSTANTS; c++)
        print_constant(&f, c, all[c], low[c], high[c]);
    puts(
        "\nThe others of grade F have no factor here: backward launches (1.3), kernels around experts' "
        "products "
        "(2 apart, 0.9 fused), NCCL's all-to-all (0.60 of NVLink, 0.75 of a NIC), which move expert layers "
        "alone; the MI355X's products (0.60) and the TPUs' gathers (0.28), of the section below: 23 in all.");
    close_fit(&f);
    if (wrong)
        printf("\n**WRONG**: %d rows are timed otherwise here than by the program.\n", wrong);
    return wrong;
}
