/*
 * The work of a training step over time: compute runs beside collectives that share the network.
 * The tree is walked as tasks: children of a maximum start together, members of a sum and repeats follow each
 * other, a collective is issued to an engine (chunks or flows) and waited for. Events are ends of compute, by
 * time, and the engine's own; of equal times compute ends first.
 */
#include "sim/train.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "base/work.h"
#include "sim/event_heap.h"

/* What is left of a repeat below this is rounding of its count. */
#define REST 1e-9

/* A node under way. */
struct task {
    step_id node, child;  /* child: next to start */
    int32_t parent, open; /* open: children under way, of a maximum */
    double start_s, scale, left;
    bool used;
};

struct train_run {
    const struct step_tree *t;
    const struct sim_engine *engine;
    const enum sim_order *order_of;
    enum sim_order order;
    struct train *out;
    double now_s;
    struct task *tasks;
    int32_t n_tasks, cap_tasks,
        free_task; /* free_task: the first that can be used again, -1; then their `open` */
    bool keep_compute;
    double *fixed_s; /* shape [n_nodes]: time of a subtree that sends nothing; NaN of one that does */
    int32_t *ready;  /* tasks that can go on; a stack */
    int32_t n_ready, cap_ready;
    int32_t *task_of; /* by job */
    int32_t n_jobs, cap_jobs;
    struct event_heap timers; /* of compute, by task */
    struct work work;         /* counts collectives */
};

static int push_ready(struct train_run *x, int32_t task, struct err *e)
{
    if (!vec_reserve(x->ready, x->cap_ready, x->n_ready + 1))
        return err_nomem(e, "a training step");
    x->ready[x->n_ready++] = task;
    return 0;
}

/* Ended tasks are used again, through a list of free ones: a step of many repeats needs few at a time. */
static int32_t new_task(struct train_run *x)
{
    int32_t i = x->free_task;
    if (i >= 0) {
        x->free_task = x->tasks[i].open;
        return i;
    }
    if (!vec_reserve(x->tasks, x->cap_tasks, x->n_tasks + 1))
        return -1;
    return x->n_tasks++;
}

/* A task enters the ready stack at once; what it does first is up to train_go_on(). */
static int train_begin(struct train_run *x, step_id node, int32_t parent, double scale, struct err *e)
{
    const struct step_node *n = &x->t->nodes[node];
    int32_t i = new_task(x);
    if (i < 0)
        return err_nomem(e, "a training step");
    x->tasks[i] = (struct task){ .node = node,
                                 .child = n->first,
                                 .parent = parent,
                                 .start_s = x->now_s,
                                 .scale = scale,
                                 .left = n->kind == STEP_REPEAT || n->kind == STEP_COLLECTIVE ? n->times : 1,
                                 .used = true };
    return push_ready(x, i, e);
}

static int keep_span(struct train_run *x, step_id node, int32_t job, double start_s, struct err *e)
{
    struct train *out = x->out;
    if (!vec_reserve(out->spans, out->cap_spans, out->n_spans + 1))
        return err_nomem(e, "a training step");
    out->spans[out->n_spans++] = (struct train_span){ node, job, start_s, x->now_s };
    return 0;
}

/* The task is done: book it and let its parent go on. */
static int train_end(struct train_run *x, int32_t i, struct err *e)
{
    struct task *task = &x->tasks[i];
    x->out->total_s[task->node] += x->now_s - task->start_s;
    x->out->count[task->node] += task->scale;
    int32_t parent = task->parent;
    task->used = false;
    if (parent < 0)
        return 0;
    task->open = x->free_task;
    x->free_task = i;
    x->tasks[parent].open--;
    return push_ready(x, parent, e);
}

/* Hands a collective to the engine with its bytes scaled by the repeats around it; its end resumes the task.
 */
static int issue(struct train_run *x, int32_t i, double part, struct err *e)
{
    const struct task *task = &x->tasks[i];
    const struct step_node *node = &x->t->nodes[task->node];
    const struct step_group *group = &x->t->groups[node->group];
    struct sim_job job = { .kind = node->collective,
                           .bytes = node->bytes * task->scale * part,
                           .priority = node->priority,
                           .order = x->order_of ? x->order_of[task->node] : x->order };
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        job.members[d] = group->members[d];
        job.stride[d] = group->stride[d];
        job.share[d] = group->share[d];
    }
    if (!vec_reserve(x->task_of, x->cap_jobs, x->n_jobs + 1))
        return err_nomem(e, "a training step");
    x->task_of[x->n_jobs++] = i;
    return x->engine->issue(x->engine->x, &job, x->now_s, e);
}

/* What a repeat, or a collective several times in a row, does next: a whole one, or the fraction that is
 * left. */
static double take_part(struct task *task)
{
    double part = fmin(task->left, 1);
    task->left -= part;
    if (task->left < REST)
        task->left = 0;
    return part;
}

/* All children of a maximum start at the same instant; `open` counts those still under way. */
static int begin_children(struct train_run *x, int32_t i, struct err *e)
{
    int rc = 0;
    double scale = x->tasks[i].scale;
    for (step_id c = x->tasks[i].child; c >= 0 && !rc; c = x->t->nodes[c].next) {
        x->tasks[i].open++;
        rc = train_begin(x, c, i, scale, e);
    }
    x->tasks[i].child = -1;
    return rc;
}

/* Let a task do what it can at this moment. */
static int train_go_on(struct train_run *x, int32_t i, struct err *e)
{
    struct task *task = &x->tasks[i];
    const struct step_node *node = &x->t->nodes[task->node];
    step_id child = task->child;
    if (!isnan(x->fixed_s[task->node]))
        return event_heap_set(&x->timers, i, x->now_s + x->fixed_s[task->node] * task->scale, e);
    switch (node->kind) {
    case STEP_COMPUTE: /* is fixed */
        break;
    case STEP_COLLECTIVE:
        return task->left > 0 ? issue(x, i, take_part(task), e) : train_end(x, i, e);
    case STEP_SUM:
        if (child < 0)
            return train_end(x, i, e);
        task->child = x->t->nodes[child].next;
        return train_begin(x, child, i, task->scale, e);
    case STEP_MAX:
        if (child >= 0)
            return begin_children(x, i, e);
        return task->open == 0 ? train_end(x, i, e) : 0;
    case STEP_REPEAT:
        return child >= 0 && task->left > 0 ? train_begin(x, child, i, task->scale * take_part(task), e)
                                            : train_end(x, i, e);
    case STEP_TRANSFER: /* lowered trees are not simulated */
        break;
    }
    return train_end(x, i, e);
}

static int go_on_all(struct train_run *x, struct err *e)
{
    int rc = 0;
    while (x->n_ready && !rc)
        rc = train_go_on(x, x->ready[--x->n_ready], e);
    return rc;
}

/* Collectives that have ended, those that end as soon as they are issued included. */
static int take_ended(struct train_run *x, int32_t *seen, struct err *e)
{
    int rc = 0;
    for (;;) {
        int32_t n;
        const int32_t *ended = x->engine->ended(x->engine->x, &n);
        if (*seen >= n || rc)
            return rc;
        int32_t job = ended[(*seen)++], i = x->task_of[job];
        const struct sim_job_result *r = x->engine->result(x->engine->x, job);
        rc = keep_span(x, x->tasks[i].node, job, r->issue_s, e);
        work_step(&x->work, 1);
        if (!rc)
            rc = push_ready(x, i, e);
        if (!rc)
            rc = go_on_all(x, e);
    }
}

/* Ends of compute that are due. Each may start more work at once, so the stack is emptied between two. */
static int take_timers(struct train_run *x, struct err *e)
{
    int rc = 0;
    while (event_heap_time(&x->timers) <= x->now_s && !rc) {
        int32_t i = event_heap_first(&x->timers);
        event_heap_remove(&x->timers, i);
        if (x->keep_compute)
            rc = keep_span(x, x->tasks[i].node, -1, x->tasks[i].start_s, e);
        if (!rc)
            rc = train_end(x, i, e);
        if (!rc)
            rc = go_on_all(x, e);
    }
    return rc;
}

/* Until nothing is left: the root has ended, or what is left never will. */
static int train_advance(struct train_run *x, struct err *e)
{
    int32_t seen = 0;
    int rc = go_on_all(x, e);
    if (!rc)
        rc = take_ended(x, &seen, e);
    while (!rc && x->tasks[0].used) {
        double engine_s = x->engine->next(x->engine->x), timer_s = event_heap_time(&x->timers);
        x->now_s = fmax(x->now_s, fmin(engine_s, timer_s));
        if (isinf(x->now_s))
            break;
        rc = take_timers(x, e);
        /* What is issued and ends at once is told before the engine goes on. */
        if (!rc)
            rc = take_ended(x, &seen, e);
        if (!rc && engine_s <= x->now_s) {
            rc = x->engine->advance(x->engine->x, e);
            seen = 0;
        }
        if (!rc)
            rc = take_ended(x, &seen, e);
        if (!rc)
            rc = work_check(e);
    }
    return rc;
}

/* What sends nothing takes a time that is known, and is one event. Children come after their parents. */
static void find_fixed(double *fixed_s, const struct step_tree *t)
{
    for (step_id id = t->n_nodes; id-- > 0;) {
        const struct step_node *node = &t->nodes[id];
        double sum_s = 0, most_s = 0;
        for (step_id c = node->first; c >= 0; c = t->nodes[c].next) {
            sum_s += fixed_s[c]; /* NaN of any makes it NaN */
            most_s = fixed_s[c] > most_s ? fixed_s[c] : most_s;
        }
        fixed_s[id] = node->kind == STEP_COLLECTIVE             ? NAN
                      : node->kind == STEP_COMPUTE              ? node->seconds
                      : node->kind == STEP_REPEAT               ? node->times * sum_s
                      : node->kind == STEP_MAX && !isnan(sum_s) ? most_s
                                                                : sum_s;
    }
}

/* How many will be issued: the fraction of one that is left over is one more. */
static double count_collectives(const struct step_tree *t, step_id id)
{
    const struct step_node *node = &t->nodes[id];
    double n = node->kind == STEP_COLLECTIVE;
    for (step_id c = node->first; c >= 0; c = t->nodes[c].next)
        n += count_collectives(t, c);
    return node->kind == STEP_COLLECTIVE || node->kind == STEP_REPEAT ? n * ceil(node->times - REST) : n;
}

/* Runs the subtree at @p root on an engine from time 0. A step that cannot end (a collective without
 * bandwidth) is reported as infinite, not as an error. */
int train_run(struct train *out, const struct step_tree *t, step_id root, const struct sim_engine *engine,
              const enum sim_order *order_of, enum sim_order order, bool keep_compute, struct err *e)
{
    struct train_run x = { .t = t,
                           .engine = engine,
                           .order_of = order_of,
                           .order = order,
                           .keep_compute = keep_compute,
                           .free_task = -1,
                           .out = out };
    double n = count_collectives(t, root);
    *out = (struct train){ 0 };
    if (n > TRAIN_MAX_JOBS)
        return err_set(e, ERR_RANGE, "step: has %.0f collectives that run beside others, expected at most %d",
                       n, TRAIN_MAX_JOBS);
    out->total_s = calloc((size_t)t->n_nodes, sizeof *out->total_s);
    out->count = calloc((size_t)t->n_nodes, sizeof *out->count);
    x.fixed_s = malloc(((size_t)t->n_nodes + 1) * sizeof *x.fixed_s);
    int rc = out->total_s && out->count && x.fixed_s ? 0 : err_nomem(e, "a training step");
    if (!rc) {
        find_fixed(x.fixed_s, t);
        rc = train_begin(&x, root, -1, 1, e);
    }
    work_begin(&x.work, "collectives", (int64_t)n);
    if (!rc)
        rc = train_advance(&x, e);
    work_end(&x.work);
    if (!rc)
        out->time_s = x.tasks[0].used ? (double)INFINITY : x.now_s;
    free(x.fixed_s);
    free(x.tasks);
    free(x.ready);
    free(x.task_of);
    event_heap_free(&x.timers);
    if (rc)
        train_free(out);
    return rc;
}

void train_free(struct train *x)
{
    free(x->total_s);
    free(x->count);
    free(x->spans);
    *x = (struct train){ 0 };
}
