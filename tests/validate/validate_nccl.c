/*
 * Section of docs/validation.md: regimes fitted to measured all-reduces, and 64 GPUs predicted from one node.
 *
 * The measurements are not part of this repository: the file is looked for in the folder WEFT_REFERENCE, else
 * in
 * ../shared/reference beside the repository, and without it the section says so and holds nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fit.h"
#include "tests/support.h"

#define FILE_NAME "nccl_allreduce_measured.csv"

/* What each fit is held to. */
#define LARGE_FRAC 0.04
#define SMALL_FRAC 0.12

/* What repetitions of nccl-tests, of which a printed time is the mean of 20, scatter by: stated to the fit,
 * for eleven sizes tell too little of it. */
#define NCCL_SCATTER 0.01

/* NVLink 4: 18 links of 25 GB/s each way; NVIDIA H100 whitepaper, 2022. NVLink 3: 12 links of 25 GB/s; A100
 * whitepaper, 2020. */
#define NVLINK4_Bps 450e9
#define NVLINK3_Bps 300e9

/* ConnectX-7, 400 Gb/s, one per GPU. What all-reduces of NCCL reach of its 50 GB/s: 48.5, the public constant
 * of SimAI for this NIC (aliyun/SimAI@cef83f9, calbusbw.h). */
#define NDR_Bps        50e9
#define NDR_EFFICIENCY (48.5 / 50)

/* NCCL's own constant for the network part of an all-reduce by NVLS and SHARP, 18 us, over the two hops of a
 * switch that reduces (NVIDIA/nccl@5067397c, src/graph/tuning.cc). */
#define SHARP_HOP_S 9e-6

/*
 * How much of the shorter phase hides behind the longer one. NCCL cuts a buffer into chunks that pass node,
 * network and node one behind the other, so the time lies between the longer phase (1: nothing but overlap)
 * and the sum (0). Nothing public says where, and there is one value for all rows: the middle, which is never
 * wrong by more than half of the shorter phase. It is a choice and no fit; the table shows beside it what
 * each row would ask for.
 */
#define PIPELINED_FRAC 0.5

static bool find_reference(char path[SUPPORT_PATH])
{
    const char *folder = getenv("WEFT_REFERENCE");
    snprintf(path, SUPPORT_PATH, "%s/%s", folder && *folder ? folder : "../shared/reference", FILE_NAME);
    FILE *f = fopen(path, "r");
    if (f)
        fclose(f);
    return f != NULL;
}

static bool has(const struct curve *c, const char *word)
{
    return strstr(c->name, word) != NULL;
}

/* Every row of one of these sources is of H100 with NVLS; the others are A100. */
static bool is_h100(const struct curve *c)
{
    return has(c, "H100") || has(c, "dgxc");
}

static struct topo_dim node_of(const struct curve *c, double *bw_Bps)
{
    struct topo_dim dim;
    topo_dim_defaults(&dim, 0);
    dim.shape = TOPO_SWITCH;
    dim.size = c->ranks;
    dim.algorithm = is_h100(c) ? TOPO_ALGORITHM_SHAPE : TOPO_ALGORITHM_RING;
    dim.in_switch = is_h100(c) ? TOPO_IN_SWITCH_NVLS : TOPO_IN_SWITCH_NONE;
    *bw_Bps = is_h100(c) ? NVLINK4_Bps : NVLINK3_Bps;
    return dim;
}

static void fit(struct fit *f, const struct curve *c)
{
    struct fit_settings s = { .max_regimes = FIT_MAX_REGIMES, .scatter = NCCL_SCATTER, .seed = 1 };
    struct topo_dim dim = node_of(c, &s.bw_Bps);
    MUST(fit_curve(f, &dim, c, &s, e));
}

static void curve_release(struct curve *c)
{
    free(c->bytes);
    free(c->time_s);
    free(c->blur);
}

static const char *percent(char buf[16], const struct fit_errors *errors)
{
    if (errors->n == 0)
        return "";
    snprintf(buf, 16, "%.1f", 100 * errors->mean_frac);
    return buf;
}

/* ---- one node ---- */

/* Mean error from 1 MiB of sizes that the fit has not seen: each but the first and last once, from all the
 * others. */
static double error_unseen(const struct curve *c)
{
    double sum = 0;
    int n = 0;
    for (int32_t left_out = 1; left_out + 1 < c->n; left_out++) {
        struct curve rest = { .collective = c->collective, .ranks = c->ranks, .nodes = c->nodes };
        struct fit f;
        if (c->bytes[left_out] < FIT_LARGE_B)
            continue;
        strcpy(rest.name, c->name);
        for (int32_t i = 0; i < c->n; i++)
            if (i != left_out)
                MUST(curve_add_point(&rest, c->bytes[i], c->time_s[i], c->blur[i], e));
        fit(&f, &rest);
        sum += fabs(fit_time(&f.dim, c->collective, c->ranks, c->bytes[left_out]) / c->time_s[left_out] - 1);
        n++;
        fit_free(&f);
        curve_release(&rest);
    }
    return sum / n;
}

static bool print_row(const struct curve *c)
{
    KEEP(struct fit, f, fit_free);
    char small[16];
    fit(&f, c);
    bool close = f.large.mean_frac <= LARGE_FRAC && f.small.mean_frac <= SMALL_FRAC;
    printf("| %s | %d | %d | %d | %.1f | %.1f | %s | %.1f | %s |\n", c->name, (int)c->ranks, (int)c->n,
           (int)f.n_regimes, 100 * f.large.mean_frac, 100 * f.large.max_frac, percent(small, &f.small),
           100 * error_unseen(c), close ? "within" : "**WRONG**");
    return close;
}

static int print_node(const struct curve_list *list)
{
    int wrong = 0, n = 0;
    puts(
        "\n## All-reduce in one node: regimes fitted to nccl-tests\n\n"
        "Each curve is fitted as by `weft calibrate --scatter 1`: a node of NVSwitch (switch; H100: "
        "in_switch nvls, 450 "
        "GB/s; A100: algorithm ring,\n300 GB/s), one procedure and no setting per curve. Errors are |model - "
        "measured| / measured in percent; held to are a mean of 4 from\n1 MiB and of 12 below. Unseen is the "
        "mean from 1 MiB when each size but the first and the last is predicted from the others: what\nthe "
        "regimes are worth between sizes. Times follow from the bus bandwidth as published, which has one "
        "digit for the smallest sizes.\n\n"
        "| source | GPUs | points | regimes | mean from 1 MiB | largest | mean below | unseen | verdict |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|---|");
    for (int32_t i = 0; i < list->n; i++)
        if (list->curves[i].nodes == 1 && list->curves[i].n >= FIT_MIN_POINTS) {
            wrong += !print_row(&list->curves[i]);
            n++;
        }
    printf("\n%d of %d curves are within both.\n", n - wrong, n);
    return wrong;
}

/* ---- 64 GPUs ---- */

/* What the prediction is made of, for one size. */
struct phases {
    double node_s, pod_s;
};

/*
 * A buffer of S on 8 nodes of 8: reduced in each node onto owners of S/8 (NVLS), those reduced over the
 * network by its switches (SHARP; one NIC per GPU), and multicast in the node. What is read from NVSwitch and
 * what is written back go opposite ways and overlap, as in an all-reduce of the node alone, which is why the
 * first and third together are one phase, as long as that.
 */
static struct phases find_phases(const struct topo_dim *node, const struct topo_dim *pod, double bytes)
{
    return (struct phases){ fit_time(node, COLLECTIVE_ALL_REDUCE, node->size, bytes),
                            fit_time(pod, COLLECTIVE_ALL_REDUCE, pod->size, bytes / node->size) };
}

static double pipelined_s(struct phases t, double overlap_frac)
{
    return overlap_frac * fmax(t.node_s, t.pod_s) + (1 - overlap_frac) * (t.node_s + t.pod_s);
}

static struct topo_dim pod_of(int32_t nodes, enum topo_in_switch in_switch)
{
    struct topo_dim dim;
    topo_dim_defaults(&dim, 1);
    dim.shape = TOPO_SWITCH;
    dim.size = nodes;
    dim.in_switch = in_switch;
    dim.bw_Bps = NDR_Bps;
    dim.efficiency = NDR_EFFICIENCY;
    dim.lat_s = SHARP_HOP_S;
    return dim;
}

static int print_size(const struct curve *c, int32_t i, const struct topo_dim *node,
                      const struct topo_dim *pod)
{
    static const double fracs[] = { PIPELINED_FRAC, 0, 1 };
    struct phases t = find_phases(node, pod, c->bytes[i]);
    double error[3];
    for (int k = 0; k < 3; k++)
        error[k] = 100 * (pipelined_s(t, fracs[k]) / c->time_s[i] - 1);
    bool close = fabs(error[0]) <= 10;
    double asked = (t.node_s + t.pod_s - c->time_s[i]) / fmin(t.node_s, t.pod_s);
    printf("| %.0f | %d | %.2f | %.2f | %.2f | %.2f | %+.1f | %+.1f | %+.1f | %.2f | %s |\n",
           c->bytes[i] / (1 << 20), (int)c->ranks, c->time_s[i] * 1e3, t.node_s * 1e3, t.pod_s * 1e3,
           pipelined_s(t, PIPELINED_FRAC) * 1e3, error[0], error[1], error[2], asked,
           close ? "within" : "**WRONG**");
    return !close;
}

/* The bus bandwidth of 32 GPUs is published without a size; at 8 GiB it has long settled. */
static int print_settled(double busbw_GBps, const struct topo_dim *node)
{
    struct curve c = { .ranks = 32, .nodes = 4 };
    const struct topo_dim pod = pod_of(4, TOPO_IN_SWITCH_NONE);
    double bytes = 8.0 * (1 << 30);
    MUST(curve_add_point(&c, bytes, bytes * curve_bus_factor(COLLECTIVE_ALL_REDUCE, 32) / busbw_GBps / 1e9, 0,
                         e));
    int wrong = print_size(&c, 0, node, &pod);
    curve_release(&c);
    return wrong;
}

static int print_cluster(const struct curve_list *list)
{
    const struct curve *longest = NULL;
    int wrong = 0;
    for (int32_t i = 0; i < list->n; i++) {
        const struct curve *c = &list->curves[i];
        if (c->nodes == 1 && c->ranks == 8 && is_h100(c) && (!longest || c->n > longest->n))
            longest = c;
    }
    assert_non_null(longest);
    KEEP(struct fit, f, fit_free);
    fit(&f, longest);
    const struct topo_dim pod = pod_of(8, TOPO_IN_SWITCH_SHARP);
    printf("\n## All-reduce over nodes: predicted from one node\n\n"
           "The node is that of %s above; between nodes one 400 Gb/s port per GPU,\n50 GB/s at efficiency "
           "%.2f (48.5 GB/s for ConnectX-7: SimAI, calbusbw.h) and 2 x %.0f us (NCCL's constant for NVLS and "
           "SHARP).\n"
           "T = p max(node, network) + (1 - p)(node + network) with p = %.1f\nfor all rows: our choice, the "
           "middle between no overlap (0) and nothing but overlap (1), and no fit; the column asked is the p "
           "that would hit\n"
           "the row. Held to 10 %% from 512 MiB. The last row (Voltage Park) is published as a settled bus "
           "bandwidth, without a size and without\nSHARP; it is taken at 8 GiB and without.\n\n"
           "| MiB | GPUs | measured [ms] | node [ms] | network [ms] | predicted [ms] | error [%%] | p = 0 | "
           "p = 1 | asked | verdict |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
           longest->name, NDR_EFFICIENCY, SHARP_HOP_S * 1e6, PIPELINED_FRAC);
    for (int32_t i = 0; i < list->n; i++)
        for (int32_t k = 0; k < list->curves[i].n; k++)
            if (list->curves[i].nodes == 8 && list->curves[i].ranks == 64)
                wrong += print_size(&list->curves[i], k, &f.dim, &pod);
    wrong += print_settled(330.93, &f.dim);
    return wrong;
}

int main(void)
{
    char path[SUPPORT_PATH];
    struct curve_list list;
    if (!find_reference(path)) {
        puts("\n## All-reduce: measured\n\n"
             "Not held against anything in this run: " FILE_NAME
             " is not there (WEFT_REFERENCE names its folder).");
        return 0;
    }
    MUST(curve_read_file(&list, path, (struct curve_defaults){ -1, 0 }, NULL, e));
    int wrong = print_node(&list) + print_cluster(&list);
    curve_list_free(&list);
    return wrong > 0;
}
