/* Section of docs/validation.md: parameters and memory of models, against published counts and formulas. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support.h"
#include "workloads/block.h"
#include "tests/validate/verdict.h"

static void open_model(struct model *m, const char *name)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    char path[128];
    snprintf(path, sizeof path, "configs/models/%s.yaml", name);
    MUST(yaml_read_file(&doc, path, e));
    MUST(model_read(m, &doc, doc.root, e));
}

/* ---- parameters ---- */

/* Published, in 1e9; sources stand in the files. */
TABLE_OF(models, const char *file; double published_B) = {
    { "megatron-22b", 22 },  { "gpt3-175b", 174.6 },     { "megatron-530b", 529.6 },
    { "megatron-1t", 1008 }, { "turing-nlg-17b", 17.2 }, { "llama3-8b", 8.03 },
    { "llama3-70b", 70.6 },  { "llama3-405b", 405.8 },   { "mixtral-8x7b", 46.7 },
    { "deepseek-v3", 671 },  { "dlrm-dcnv2", 26.15 },    { "resnet50", 0.025557032 },
};

static int print_params(void)
{
    int wrong = 0;
    puts("\n## Parameters and memory\n\nParameters from hyperparameters, against published counts.\n\n"
         "| model | published, 1e9 | weft, 1e9 | off by % | within 0.5 % |\n|---|--:|--:|--:|---|");
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct model m;
        open_model(&m, models[i].file);
        double got_B = model_params(&m) / 1e9, off = got_B / models[i].published_B - 1;
        printf("| %s | %.8g | %.8g | %+.2f | %s |\n", m.name, models[i].published_B, got_B, 100 * off,
               verdict(fabs(off) <= 0.005, &wrong));
    }
    return wrong;
}

/* ---- activations: arXiv 2205.05198 table 2 ---- */

struct technique {
    const char *name;
    bool seq_parallel;
    enum plan_recompute recompute;
};

static const struct technique techniques[] = {
    { "TP", false, PLAN_RECOMPUTE_NONE },
    { "TP, sequence parallel", true, PLAN_RECOMPUTE_NONE },
    { "TP, selective recomputation", false, PLAN_RECOMPUTE_SELECTIVE },
    { "TP, sequence parallel, selective recomputation", true, PLAN_RECOMPUTE_SELECTIVE },
    { "TP, full recomputation", false, PLAN_RECOMPUTE_FULL },
};

/* The published formula, written out a second time. */
static double published_B(const struct model *m, const struct technique *x, double b, double t)
{
    double s = (double)m->seq, h = (double)m->hidden, a = (double)m->heads, scores = 5 * a * s / h;
    double share = x->seq_parallel ? t : 1;
    if (x->recompute == PLAN_RECOMPUTE_FULL)
        return 2 * s * b * h / share;
    if (x->recompute == PLAN_RECOMPUTE_SELECTIVE)
        scores = 0;
    return x->seq_parallel ? s * b * h / t * (34 + scores) : s * b * h * (10 + 24 / t + scores / t);
}

/* Figure 7 of that paper, share of "TP" in %, as carried by Calculon (calculon/llm/validation.py); 0: none.
 */
static const double figure7[][4] = { { 66.84, 49.42, 16.18, 7.64 },
                                     { 62.04, 56.53, 18.49, 8.71 },
                                     { 58.31, 62.04, 20.27, 9.42 },
                                     { 58.31, 62.04, 20.27, 9.42 } };

static int print_activations(void)
{
    int wrong = 0;
    puts("\nActivations of one layer and microbatch, TP 8: the formulas of arXiv 2205.05198 table 2, written "
         "out a second time, and shares of the first as that paper's figure 7 has them.\n\n"
         "| model | technique | formula, MB | weft, MB | equal to 1e-12 | weft, % of TP | figure 7, % |\n"
         "|---|---|--:|--:|---|--:|--:|");
    for (size_t i = 0; i < 4; i++) {
        struct model m;
        double base_B = 0;
        open_model(&m, models[i].file);
        for (size_t k = 0; k < COUNT_OF(techniques); k++) {
            struct plan p;
            plan_defaults(&p);
            p.degree[PLAN_TP] = 8;
            p.micro = i == 0 ? 4 : 1;
            p.seq_parallel = techniques[k].seq_parallel;
            p.recompute = (int32_t)techniques[k].recompute;
            double got_B = memory_layer_B(&m, &p, false);
            double want_B = published_B(&m, &techniques[k], (double)p.micro, 8);
            base_B = k ? base_B : got_B;
            printf("| %s | %s | %.3f | %.3f | %s | %.2f | ", m.name, techniques[k].name, want_B / 1e6,
                   got_B / 1e6, verdict(fabs(got_B / want_B - 1) <= 1e-12, &wrong), 100 * got_B / base_B);
            printf(k ? "%.2f |\n" : "|\n", k ? figure7[i][k - 1] : 0);
        }
    }
    return wrong;
}

/* ---- states ---- */

/* Weights, gradients and optimiser, GiB, the mean over stages: figure 1 of that paper, as carried by
 * Calculon. */
TABLE_OF(figure1, int64_t tp, pp; double GiB) = {
    { 8, 1, 45.6 },
    { 8, 8, 45.6 },
    { 8, 35, 31.6 },
    { 8, 64, 33.0 },
};

static double states_GiB(const struct model *m, int64_t tp, int64_t pp)
{
    struct memory memory;
    struct plan p;
    plan_defaults(&p);
    p.degree[PLAN_TP] = tp;
    p.degree[PLAN_PP] = pp;
    memory_plan(&memory, m, &p);
    return (memory.term_B[MEMORY_WEIGHTS] + memory.term_B[MEMORY_GRADIENTS] +
            memory.term_B[MEMORY_OPTIMIZER]) /
           (1 << 30);
}

static int print_states(void)
{
    int wrong = 0;
    puts("\nWeights, gradients and optimiser states, without data parallelism: figure 1 of the same paper, "
         "which takes "
         "the mean over stages; the stage that holds most, first or last, has the embedding besides.\n\n"
         "| model | TP, PP | figure, GiB | weft, mean, GiB | off by % | within 2 % | weft, fullest stage, "
         "GiB |\n"
         "|---|---|--:|--:|--:|---|--:|");
    for (size_t i = 0; i < COUNT_OF(figure1); i++) {
        struct model m;
        open_model(&m, models[i].file);
        double mean = states_GiB(&m, 1, 1) / (double)(figure1[i].tp * figure1[i].pp);
        double off = mean / figure1[i].GiB - 1;
        printf("| %s | %lld, %lld | %.1f | %.2f | %+.2f | %s | %.2f |\n", m.name, (long long)figure1[i].tp,
               (long long)figure1[i].pp, figure1[i].GiB, mean, 100 * off, verdict(fabs(off) <= 0.02, &wrong),
               states_GiB(&m, figure1[i].tp, figure1[i].pp));
    }
    return wrong;
}

int main(void)
{
    return print_params() + print_activations() + print_states() > 0;
}
