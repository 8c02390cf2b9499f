/** @file Means of repeated runs, how sure they are, medians and quantiles; numbers and items in order. */
#ifndef BASE_STAT_H
#define BASE_STAT_H

#include <stdbool.h>
#include <stdint.h>

/** Mean of repeated, independent runs; values that are NaN were not measured and do not count. */
struct stat_mean {
    double mean; /**< NaN without values */
    double half; /**< half width of the 95 % interval of the mean by Student's t; NaN with fewer than two */
    int64_t n;   /**< values that count */
};

/** Of x[0], x[stride], ... n of them. O(n). */
struct stat_mean stat_mean(const double *x, int64_t n, int64_t stride);

/** The value that a share @p q of draws from Student's t with @p dof degrees of freedom does not exceed. */
double stat_student(double q, double dof);

/** The value that a share @p q of @p x does not exceed, 0 <= q <= 1, between two by linear interpolation (of
 * n values number k, from 0, at k / (n - 1)); shape [n], ascending, no NaN; NaN without values. O(1). */
double stat_quantile(const double *x, int64_t n, double q);

/** Put @p x, shape [n] without NaN, in ascending order, as stat_quantile() needs it. O(n log n). */
void stat_sort(double *x, int64_t n);
/** The same of whole numbers. */
void stat_sort_numbers(int32_t *x, int64_t n);

/** An item by its number, and what it is put in order by: the least key first, of equal ones the lower
 * number.
 */
struct stat_rank {
    double key; /**< not NaN */
    int64_t at;
};

/** Does @p a go before @p b? For heaps too, hence without branches (base/heap.h). */
static inline bool stat_before(const struct stat_rank *a, const struct stat_rank *b)
{
    return (a->key < b->key) | ((a->key == b->key) & (a->at < b->at));
}

/** Put items, shape [n], in order: the same on every machine, as no two are equal. O(n log n). */
void stat_sort_ranks(struct stat_rank *x, int64_t n);

#endif
