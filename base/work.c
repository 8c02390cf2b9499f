/*
 * A slot for each level, free where `what` is NULL. Who takes a slot fills it before the total is set, and a
 * slot without a total is not looked at; who looks may see counts of one loop with the name of the next,
 * which is wrong for one line. All are atomic and free of locks, so that a signal handler may read and set
 * them.
 */
#include "base/work.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

static struct {
    _Atomic(const char *) what;
    _Atomic(const char *) thread; /* whose loop it is: the address of its `mine` */
    atomic_int_least64_t done, total, beside, parts, parts_done;
    atomic_int_least64_t began_us;
} slots[WORK_LEVELS];

/** Less than that share of a loop says nothing of how long the rest takes. */
#define LEAST_SHARE 0.01

static _Thread_local const char mine;

static atomic_bool stopped;

static int64_t now_us(void)
{
    return (int64_t)(1e6 * clock_now_s());
}

void work_begin(struct work *w, const char *what, int64_t total)
{
    w->slot = 0;
    for (int i = 0; i < WORK_LEVELS && !w->slot; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&slots[i].what, &none, what))
            w->slot = i + 1;
        else if (i > 0 && atomic_load(&slots[i].thread) != &mine)
            w->slot = -i - 1;
    }
    if (w->slot < 0)
        atomic_fetch_add(&slots[-w->slot - 1].beside, 1);
    if (w->slot <= 0)
        return;
    atomic_store(&slots[w->slot - 1].thread, &mine);
    atomic_store(&slots[w->slot - 1].done, 0);
    atomic_store(&slots[w->slot - 1].parts, 1);
    atomic_store(&slots[w->slot - 1].parts_done, 0);
    atomic_store(&slots[w->slot - 1].began_us, now_us());
    atomic_store(&slots[w->slot - 1].total, total);
}

void work_step(const struct work *w, int64_t n)
{
    if (w->slot > 0)
        atomic_fetch_add_explicit(&slots[w->slot - 1].done, n, memory_order_relaxed);
}

void work_part(const struct work *w, int64_t n, int64_t more)
{
    if (w->slot <= 0)
        return;
    atomic_store(&slots[w->slot - 1].parts, n > 1 ? n : 1);
    atomic_fetch_add(&slots[w->slot - 1].parts_done, more);
}

void work_end(const struct work *w)
{
    if (w->slot < 0)
        atomic_fetch_sub(&slots[-w->slot - 1].beside, 1);
    if (w->slot <= 0)
        return;
    atomic_store(&slots[w->slot - 1].total, 0);
    atomic_store(&slots[w->slot - 1].what, NULL);
}

struct work_state work_look(int level)
{
    struct work_state s = { .done = atomic_load(&slots[level].done),
                            .total = atomic_load(&slots[level].total),
                            .at_once = 1 + atomic_load(&slots[level].beside) };
    s.what = s.total > 0 ? atomic_load(&slots[level].what) : NULL;
    s.spent_s = 1e-6 * (double)(now_us() - atomic_load(&slots[level].began_us));
    return s;
}

double work_left_s(void)
{
    double within = 0, left_s = NAN;
    for (int i = WORK_LEVELS - 1; i >= 0; i--) {
        struct work_state s = work_look(i);
        if (!s.what)
            continue;
        double parts =
            ((double)atomic_load(&slots[i].parts_done) + within) / (double)atomic_load(&slots[i].parts);
        double share = ((double)s.done + parts) / (double)s.total;
        share = share < 1 ? share : 1;
        left_s = share >= LEAST_SHARE ? fmax(s.spent_s / share * (1 - share), left_s) : (double)NAN;
        within = share * (double)s.at_once;
    }
    return left_s;
}

bool work_is_steady(double *before_s, double spent_s, double left_s)
{
    const double alike = 1.2, least_share = 0.05;
    double was_s = *before_s, total_s = *before_s = spent_s + left_s;
    return spent_s >= least_share * total_s && total_s <= alike * was_s && was_s <= alike * total_s;
}

void work_stop(void)
{
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
}

bool work_stopped(void)
{
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

int work_check(struct err *e)
{
    return work_stopped() ? err_set(e, ERR_STOPPED, "interrupted") : 0;
}
