/*
 * Axes end and have tics at 1, 2 or 5 times a power of ten (or powers of two, of bytes). Linear from zero
 * unless all values are far from it, log beyond a ratio of 30: AXIS_FROM_ZERO, AXIS_LOG_RATIO.
 *
 * Steps are counted in whole numbers and multiplied last, with 1e-9 of a step to spare at either end: a tic
 * must not be lost to rounding, and 0.1 * 3 must not be written as 0.30000000000000004 (%.10g).
 */
#include "plots/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

/* Room for "512 KiB" and a gap, beside each other. */
#define BYTES_PX 58

const struct unit unit_seconds[] = {
    { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "µs" }, { 1e-9, "ns" }, { 0, NULL }
};
const struct unit unit_durations[] = { { 86400, "days" }, { 3600, "h" }, { 1, "s" }, { 0, NULL } };
const struct unit unit_counts[] = { { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" }, { 0, NULL } };
const struct unit unit_usd[] = {
    { 1e9, "bn USD" }, { 1e6, "M USD" }, { 1e3, "k USD" }, { 1, "USD" }, { 0, NULL }
};

struct unit unit_pick(const struct unit *list, double max)
{
    while (list[1].name && !(max >= list->scale))
        list++;
    return *list;
}

/* Of amounts of data, each in the others. */
static struct unit unit_bytes(double in_bytes, double most)
{
    static const struct unit list[] = { { 1e15, "PB" }, { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" },
                                        { 1e3, "kB" },  { 1, "B" },     { 0, NULL } };
    struct unit unit = unit_pick(list, most * in_bytes);

    return (struct unit){ unit.scale / in_bytes, unit.name };
}

struct unit unit_for(const char *unit, double most, bool long_times)
{
    static const struct unit bytes[] = { { 1, "B" }, { 1e3, "kB" }, { 1e6, "MB" }, { 1e9, "GB" } };

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        if (strcmp(unit, bytes[i].name) == 0 && most > 0)
            return unit_bytes(bytes[i].scale, most);
    if (strcmp(unit, "USD") == 0)
        return unit_pick(unit_usd, most);
    if (strcmp(unit, "us") == 0)
        return (struct unit){ 1, "µs" };
    if (strcmp(unit, "s") != 0)
        return (struct unit){ 1, unit };
    /* All zero: seconds, for "0 ns" would look as if it had been measured so finely. */
    return most > 0 ? unit_pick(long_times && most >= 3600 ? unit_durations : unit_seconds, most)
                    : unit_seconds[0];
}

/* 1, 2 or 5 times a power of ten, at or below x (at or above for up). x > 0. */
static double round_125(double x, bool up)
{
    static const double steps[] = { 1, 2, 5, 10 };
    double decade = pow(10, floor(log10(x)));

    for (int i = 0; i < 4; i++) {
        int k = up ? i : 3 - i;
        double s = steps[k] * decade;
        /* pow() and the division may be off in the last digits. */
        if (up ? s >= x * (1 - 1e-12) : s <= x * (1 + 1e-12))
            return s;
    }
    return decade;
}

struct axis axis_bars(double hi)
{
    return (struct axis){ .lo = 0, .hi = hi > 0 ? hi * 1.04 : 1 };
}

void axis_round_up(struct axis *a)
{
    if (!a->log) {
        double step = round_125((a->hi - a->lo) / 5, false);
        a->hi = ceil(a->hi / step - 1e-9) * step;
    }
}

/* A single value still needs an axis: to the next round number beyond one and a half times of it. */
struct axis axis_log(double lo, double hi)
{
    struct axis a = { .lo = round_125(lo, false), .hi = round_125(hi, true), .log = true };
    if (!(a.hi > a.lo))
        a.hi = round_125(1.5 * a.lo, true);
    return a;
}

struct axis axis_around(double lo, double hi)
{
    /* Values that are all alike still need an axis: of 1 %. */
    double spread = fmax(hi - lo, 0.01 * fmax(hi, 1e-300)), middle = (lo + hi) / 2;
    return (struct axis){ .lo = fmax(0, middle - 0.58 * spread), .hi = middle + 0.58 * spread };
}

struct axis axis_ratio(double lo, double hi)
{
    lo = fmin(lo, 1);
    hi = fmax(hi, 1);
    if (hi / lo >= AXIS_RATIO_LOG) {
        struct axis a = axis_log(lo, hi);
        /* 3 % of the length below the least, so that its marker is off the frame. */
        a.lo = pow(lo, 1.03) * pow(a.hi, -0.03);
        return a;
    }
    /* All that are 1 still need an axis: of a tenth. */
    double span = fmax(hi - lo, 0.1);
    return (struct axis){ .lo = lo - 0.03 * span, .hi = lo + 1.06 * span };
}

struct axis axis_bytes(double lo, double hi)
{
    /* A third of a doubling beyond, so that markers do not lie on the frame. */
    double low = floor(log2(lo) + 1e-9), high = ceil(log2(hi) - 1e-9);
    return (struct axis){ .lo = exp2(low - 1.0 / 3), .hi = exp2(high + 1.0 / 3), .log = true, .bytes = true };
}

struct axis axis_around_zero(double most)
{
    double step = round_125(most / 4, false), hi = ceil(most / step - 1e-9) * step;
    return (struct axis){ .lo = -hi, .hi = hi };
}

struct axis axis_fit(double lo, double hi)
{
    if (lo > AXIS_FROM_ZERO * hi && hi - lo > AXIS_SAME * hi) {
        double step = round_125((hi - lo) / 5, false);
        return (struct axis){ .lo = floor(lo / step - 1e-9) * step, .hi = hi + 0.04 * (hi - lo) };
    }
    if (!(lo > 0 && hi / lo > AXIS_LOG_RATIO))
        return axis_bars(hi);
    return axis_log(lo, hi);
}

int axis_read_range(double out[2], const char *text, const char *option, struct err *e)
{
    char part[64];
    const char *colon = text ? strchr(text, ':') : NULL;
    bool fine = !text || (colon && strlen(text) < sizeof part);

    out[0] = out[1] = (double)NAN;
    if (text && fine) {
        snprintf(part, sizeof part, "%.*s", (int)(colon - text), text);
        fine =
            (!part[0] || num_parse_real(part, &out[0])) && (!colon[1] || num_parse_real(colon + 1, &out[1]));
    }
    if (!fine || out[0] >= out[1])
        return err_set(e, ERR_USAGE,
                       "option --%s is \"%s\", expected LO:HI with LO below HI; either may be blank", option,
                       text);
    return 0;
}

/* An axis for lo..hi with the ends that were asked for, in the units of the axis. What was asked for is kept
 * to the digit; only ends that are open are rounded outwards. */
struct axis axis_within(double lo, double hi, bool log, const double range[2])
{
    struct axis a;

    lo = isnan(range[0]) ? lo : range[0];
    hi = isnan(range[1]) ? hi : range[1];
    bool one = lo > 0 && lo == hi && isnan(range[0]) && isnan(range[1]); /* which axes are made for as well */
    hi = hi > lo || one ? hi : lo + (log ? lo : fmax(fabs(lo), 1) * 0.1);
    if (log && lo > 0) {
        a = axis_log(lo, hi);
    } else if (lo >= 0 && !(lo > 0 && hi / lo > AXIS_LOG_RATIO)) {
        a = axis_fit(lo, hi);
    } else {
        double room = 0.04 * (hi - lo);
        a = (struct axis){ .lo = lo >= 0 ? 0 : lo - room, .hi = hi + room };
    }
    a.lo = isnan(range[0]) ? a.lo : lo;
    a.hi = isnan(range[1]) ? a.hi : hi;
    return a;
}

/* Of bars: from zero unless it is log or was asked for otherwise, with room above the longest. */
struct axis axis_bars_within(double lo, double hi, bool log, const double range[2])
{
    struct axis a;

    if (log)
        return axis_within(lo, hi, true, range);
    a = axis_bars(1.1 * fmax(hi, 0));
    a.lo = lo < 0 ? 1.1 * lo : a.lo;
    a.lo = isnan(range[0]) ? a.lo : range[0];
    a.hi = isnan(range[1]) ? a.hi : range[1];
    a.hi = a.hi > a.lo ? a.hi : a.lo + fmax(fabs(a.lo), 1) * 0.1;
    return a;
}

/* Whom the tics of an axis are told. */
struct tics {
    const struct axis *a;
    void (*put)(void *of, const struct axis_tic *tic);
    void *of;
};

static void add_tic(const struct tics *t, double at, const char *unit, double number)
{
    char label[32];

    snprintf(label, sizeof label, *unit ? "%g %s" : "%g%s", number, unit);
    t->put(t->of, &(struct axis_tic){ .at = at, .label = t->a->hide ? NULL : label });
}

static void add_minor(const struct tics *t, double at)
{
    t->put(t->of, &(struct axis_tic){ .at = at, .minor = true });
}

/* Tics of one axis have one unit: "0.5 M", "1 M", not 500000 beside 1e+06. */
static void axis_linear_tics(const struct tics *t, const struct axis *a, double step)
{
    static const struct unit units[] = { { 1, "" }, { 1e6, "M" }, { 1e9, "G" } };
    double most = fmax(fabs(a->lo), fabs(a->hi));
    const struct unit *unit = &units[most < 1e6 ? 0 : most < 1e9 ? 1 : most < 1e12 ? 2 : 0];
    int first = (int)ceil(a->lo / step - 1e-9), last = (int)floor(a->hi / step + 1e-9);

    for (int k = first; k <= last; k++)
        add_tic(t, k * step, k ? unit->name : "", k * step / unit->scale);
}

/* Powers of ten around a log axis; the axis itself may end in rounding. */
static int first_decade(const struct axis *a)
{
    return (int)floor(log10(a->lo) + 1e-9);
}

static int last_decade(const struct axis *a)
{
    return (int)floor(log10(a->hi) + 1e-9);
}

/* Without a number, at 2..9 times each decade. */
static void log_minor_tics(const struct tics *t, const struct axis *a)
{
    for (int k = first_decade(a); k <= last_decade(a); k++)
        for (int i = 2; i < 10; i++) {
            double at = pow(10, k) * i;
            if (at > a->lo && at < a->hi)
                add_minor(t, at);
        }
}

/* Every decade, or every second, third... when they are many; 2 and 5 between when there is room. */
static void axis_log_tics(const struct tics *t, const struct axis *a, double most)
{
    double decades = log10(a->hi) - log10(a->lo); /* their ratio may be infinite */
    int stride = (int)fmax(1, ceil(decades / most));
    bool between = 3 * decades <= most;

    for (int k = first_decade(a); k <= last_decade(a); k += stride)
        for (int i = 0; i < (between ? 3 : 1); i++) {
            double at = pow(10, k) * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (at >= a->lo * (1 - 1e-9) && at <= a->hi * (1 + 1e-9))
                add_tic(t, at, "", at);
        }
}

/* At every power of two, or every second, fifth or tenth where they are many; the others without a name. */
static void byte_tics(const struct tics *t, const struct axis *a, double most)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    static const int strides[] = { 1, 2, 5, 10 };
    int first = (int)ceil(log2(a->lo)), last = (int)floor(log2(a->hi)), i = 0;

    /* Strides divide ten, so that names fall on 1 KiB, 1 MiB and so on. */
    while (i < 3 && last - first > strides[i] * (most - 1))
        i++;
    for (int k = first < 0 ? 0 : first; k <= last && k < 70; k++) {
        if (k % strides[i] != 0)
            add_minor(t, exp2(k));
        else
            add_tic(t, exp2(k), units[k / 10], exp2(k % 10));
    }
}

double axis_share(const struct axis *a, double at)
{
    return a->log ? (log(at) - log(a->lo)) / (log(a->hi) - log(a->lo)) : (at - a->lo) / (a->hi - a->lo);
}

void axis_tics(const struct axis *a, bool along, double length_px,
               void (*put)(void *of, const struct axis_tic *tic), void *of)
{
    const struct tics t = { a, put, of };
    double most = fmax(2, floor(length_px / (along ? 40 : 26)));

    /* Beyond five decades small tics would be a grey band. */
    if (a->log && !a->bytes && a->hi / a->lo <= 1e5)
        log_minor_tics(&t, a);
    if (a->bytes)
        byte_tics(&t, a, fmax(2, floor(length_px / BYTES_PX)));
    else if (a->log)
        axis_log_tics(&t, a, most);
    else if (!a->bare)
        axis_linear_tics(
            &t, a,
            a->integers ? 1 : fmin(round_125((a->hi - a->lo) / most, true), round_125(a->hi - a->lo, false)));
}
