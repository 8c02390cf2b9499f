/**
 * @file Ranges, tics and units of axes.
 *
 * Limits and tics are worked out here and written into the script, so that gnuplot chooses nothing: its own
 * choice depends on its version.
 */
#ifndef PLOTS_SCALE_H
#define PLOTS_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/** lo < hi; both above 0 where `log`. At most one of `integers`, `bytes` and `bare` is set. */
struct axis {
    double lo, hi;
    bool log;
    bool integers; /**< a tic at each whole number */
    bool bytes;    /**< a log axis whose tics are powers of two: "64 KiB" */
    bool hide;     /**< tics and grid without numbers */
    bool framed;   /**< no lines across the panel, but its frame, be the axis bare or not */
    bool bare;     /**< a range alone, of which lo may be above hi; of two such there is no frame */
};

/** Beyond this ratio of largest to smallest value a linear axis hides the small ones. */
#define AXIS_LOG_RATIO 30.0

/** Ratios have a log axis from so many times between the least and the most of them. */
#define AXIS_RATIO_LOG 4.0

/** A linear axis starts at zero unless all values lie above this share of the largest. */
#define AXIS_FROM_ZERO 0.5

/** Values that differ by less than this share are one value, and rounding. */
#define AXIS_SAME 1e-6

/**
 * Range for values @p lo..@p hi of points and lines: linear to a little more than hi, from
 * zero, or from a round number below lo when zero is far away; log from and to 1, 2
 * or 5 times a power of ten when hi/lo > AXIS_LOG_RATIO.
 */
struct axis axis_fit(double lo, double hi);
/** For points, which have no length: linear around the values, with room for markers, and not below zero. */
struct axis axis_around(double lo, double hi);
/** Log, whatever the ratio, from and to such numbers. 0 < lo <= hi. */
struct axis axis_log(double lo, double hi);
/** Log from and to powers of two, with tics in B, KiB, MiB... 0 < lo <= hi. */
struct axis axis_bytes(double lo, double hi);
/** Linear, as far below zero as above: a round number not less than @p most > 0. */
struct axis axis_around_zero(double most);
/** For ratios to a reference, which is 1 and lies a little inside: log to such a number, or linear where they
 * are less than AXIS_RATIO_LOG times apart and 1, 2 and 5 would be too few tics. 0 < lo <= hi. */
struct axis axis_ratio(double lo, double hi);
/** Linear from zero, whatever the ratio: for bars, whose length is the value. */
struct axis axis_bars(double hi);
/** For points, or for bars, of either sign, with ends that are kept to the digit: @p range, NaN where open.
 */
struct axis axis_within(double lo, double hi, bool log, const double range[2]);
/** "LO:HI" into @p out, NaN where it is blank or @p text NULL. ERR_USAGE: it is none; names @p option. */
int axis_read_range(double out[2], const char *text, const char *option, struct err *e);
struct axis axis_bars_within(double lo, double hi, bool log, const double range[2]);

/** Let a linear axis end at 1, 2 or 5 times a power of ten times a small count. */
void axis_round_up(struct axis *a);

/**
 * How far along the axis @p at is: 0 at its begin, 1 at its end. Below 0 or above 1 outside; of a log axis
 * NaN for what is below 0.
 */
double axis_share(const struct axis *a, double at);

/** A tic: where, and its number; NULL: it has none, being `minor` or of an axis that hides them. */
struct axis_tic {
    double at;
    const char *label;
    bool minor;
};
/** Call @p put with the tics of an axis of @p length_px; numbers stand beside each other where it is @p along
 * x, else above each other. The label lasts as long as the call. */
void axis_tics(const struct axis *a, bool along, double length_px,
               void (*put)(void *of, const struct axis_tic *tic), void *of);

struct unit {
    double scale; /**< in the base unit */
    const char *name;
};

extern const struct unit unit_seconds[], unit_durations[], unit_usd[],
    unit_counts[]; /**< largest first, ended by the base unit */
/** The largest unit in which @p max is at least 1; the smallest of the list when none. */
struct unit unit_pick(const struct unit *list, double max);
/** How a figure shows values in @p unit (base/table.h; "" for none) up to @p most: money and seconds in the
 * multiple that fits, times of an hour and more in hours and days where @p long_times. */
struct unit unit_for(const char *unit, double most, bool long_times);

#endif
