#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "workloads/trace_row.h"

/* ---- text ---- */

/* How the traces write that there is nothing: pandas, R, Python, SQL. */
static bool is_nothing(const char *s)
{
    static const char *const words[] = { "NA", "N/A", "None", "NaN", "nan", "null", "NULL", "\\N" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(s, words[i]) == 0)
            return true;
    return *s == '\0';
}

const char *trace_field(const struct trace_row *row, int32_t k)
{
    if (row->at[k] < 0 || row->at[k] >= row->n_fields)
        return "";
    char *s = row->fields[row->at[k]];
    if (row->layout->exact)
        return s;
    s += strspn(s, " \t");
    for (size_t n = strlen(s); n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'); n--)
        s[n - 1] = '\0';
    return is_nothing(s) ? "" : s;
}

int trace_fail_field(const struct trace_row *row, enum err_code code, int32_t k, const char *need)
{
    return err_set(row->e, code, "%s:%lld: %s is \"%.60s\", need %s", row->path, (long long)row->line,
                   row->layout->columns[k].name, trace_field(row, k), need);
}

int trace_copy_text(char **out, const char *path, int64_t line, const char *what, const char *s,
                    struct err *e)
{
    size_t n = 0;
    for (; s[n]; n++)
        if (iscntrl((unsigned char)s[n]))
            return err_set(e, ERR_PARSE, "%s:%lld: %s is \"%.60s\", need text without control characters",
                           path, (long long)line, what, s);
    if (n == 0 || n > TRACE_MAX_TEXT)
        return err_set(e, ERR_PARSE, "%s:%lld: %s has %zu bytes, need 1 to %d", path, (long long)line, what,
                       n, TRACE_MAX_TEXT);
    *out = strdup(s);
    return *out ? 0 : err_nomem(e, path);
}

int trace_take_text(const struct trace_row *row, int32_t k, char **out)
{
    const char *s = trace_field(row, k), *what = row->layout->columns[k].name;
    if (*s == '\0' && !row->layout->columns[k].needed)
        return 0;
    return trace_copy_text(out, row->path, row->line, what, s, row->e);
}

/* ---- numbers ---- */

int trace_take_real(const struct trace_row *row, int32_t k, double min, double max, double *out)
{
    char need[96], lo[NUM_TEXT], hi[NUM_TEXT];
    const char *s = trace_field(row, k);
    double x;
    *out = NAN;
    if (*s == '\0')
        return 0;
    bool number = num_parse_real(s, &x);
    if (number && x >= min && x <= max) {
        *out = x;
        return 0;
    }
    snprintf(need, sizeof need, "a number from %s to %s", num_format(lo, min), num_format(hi, max));
    return trace_fail_field(row, number ? ERR_RANGE : ERR_PARSE, k, need);
}

int trace_take_count(const struct trace_row *row, int32_t k, int64_t max, int64_t *out)
{
    char need[64];
    const char *s = trace_field(row, k);
    double x = NAN;
    *out = -1;
    if (*s == '\0' || (num_parse_count(s, out) && *out <= max))
        return 0;
    *out = -1;
    /* Tables that went through floating point have "8.0"; beyond 2^53 that would be no count any more. */
    bool number = num_parse_real(s, &x), inside = x >= 0 && x <= fmin((double)max, 0x1p53);
    if (number && inside && trunc(x) == x) {
        *out = (int64_t)x;
        return 0;
    }
    snprintf(need, sizeof need, "a whole number from 0 to %lld", (long long)max);
    return trace_fail_field(row, number && !inside ? ERR_RANGE : ERR_PARSE, k, need);
}

int trace_take_small(const struct trace_row *row, int32_t k, int32_t *out)
{
    int64_t n;
    int rc = trace_take_count(row, k, TRACE_MAX_GPUS, &n);
    *out = (int32_t)n;
    return rc;
}

/* ---- times ---- */

/* Days from 1970-01-01 to the first of the month, Gregorian: years begin in March, so that the leap day is
 * the last of one. */
static int64_t count_days(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
    int64_t leap_days = y / 4 - y / 100 + y / 400;
    return 365 * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const int8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Exactly @p n digits at *s; moves behind them. */
static bool take_digits(const char **s, int n, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < n; i++, (*s)++) {
        if (!isdigit((unsigned char)**s))
            return false;
        *out = 10 * *out + (**s - '0');
    }
    return true;
}

static bool take_sign(const char **s, char sign)
{
    bool there = **s == sign;
    *s += there;
    return there;
}

/* "+08:00", "-0730", "+08", "Z", " UTC" or nothing: seconds east of Greenwich. */
static bool take_zone(const char *s, int64_t *zone_s)
{
    int64_t hours, minutes = 0;
    *zone_s = 0;
    s += *s == ' ';
    if (*s == '\0' || strcmp(s, "Z") == 0 || strcmp(s, "UTC") == 0)
        return true;
    bool east = *s == '+';
    if (!east && *s != '-')
        return false;
    s++;
    if (!take_digits(&s, 2, &hours))
        return false;
    take_sign(&s, ':');
    if (*s && !take_digits(&s, 2, &minutes))
        return false;
    if (*s || hours > 15 || minutes > 59)
        return false;
    *zone_s = (east ? 1 : -1) * (3600 * hours + 60 * minutes);
    return true;
}

bool trace_parse_time(const char *text, double *out)
{
    const char *s = text;
    int64_t year, month, day, hour, minute, second, zone_s;
    double fraction_s = 0;
    if (!take_digits(&s, 4, &year) || !take_sign(&s, '-') || !take_digits(&s, 2, &month) ||
        !take_sign(&s, '-') || !take_digits(&s, 2, &day) || !(take_sign(&s, ' ') || take_sign(&s, 'T')) ||
        !take_digits(&s, 2, &hour) || !take_sign(&s, ':') || !take_digits(&s, 2, &minute) ||
        !take_sign(&s, ':') || !take_digits(&s, 2, &second))
        return false;
    if (*s == '.') {
        int64_t digits = 0, unit = 1;
        for (s++; isdigit((unsigned char)*s) && unit < 1000000000; s++, unit *= 10)
            digits = 10 * digits + (*s - '0');
        fraction_s = (double)digits / (double)unit;
    }
    if (year < 1900 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) || hour > 23 ||
        minute > 59 || second > 60 || !take_zone(s, &zone_s))
        return false;
    int64_t whole_s = 86400 * count_days(year, month, day) + 3600 * hour + 60 * minute + second - zone_s;
    *out = (double)whole_s + fraction_s;
    return true;
}

int trace_take_time(const struct trace_row *row, int32_t k, double *out)
{
    const char *s = trace_field(row, k);
    *out = NAN;
    if (*s == '\0' || trace_parse_time(s, out))
        return 0;
    if (num_parse_real(s, out) && fabs(*out) <= TRACE_MAX_TIME_S)
        return 0;
    *out = NAN;
    return trace_fail_field(row, ERR_PARSE, k, "a date such as 2020-06-09 18:41:01+08:00, or seconds");
}

int trace_need_time(const struct trace_row *row, int32_t k, double *out)
{
    int rc = trace_take_time(row, k, out);
    if (!rc && isnan(*out))
        rc = trace_fail_field(row, ERR_PARSE, k, "a date such as 2020-06-09 18:41:01+08:00, or seconds");
    return rc;
}

int trace_take_runtime(const struct trace_row *row, int32_t start, int32_t end, double *out)
{
    double start_s, end_s;
    int rc = trace_take_time(row, start, &start_s);
    if (rc || (rc = trace_take_time(row, end, &end_s)))
        return rc;
    *out = end_s - start_s;
    if (!(*out < 0))
        return 0;
    *out = NAN;
    return err_set(row->e, ERR_RANGE,
                   "%s:%lld: %s is \"%.40s\" and %s is \"%.40s\", need an end after the start", row->path,
                   (long long)row->line, row->layout->columns[start].name, trace_field(row, start),
                   row->layout->columns[end].name, trace_field(row, end));
}

/* ---- status ---- */

int32_t trace_find_status(const struct trace_status_word *words, size_t n, const char *text)
{
    size_t length = strcspn(text, " ");
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i].word) == length && strncasecmp(words[i].word, text, length) == 0)
            return (int32_t)words[i].status;
    return TRACE_STATUS_UNKNOWN;
}

int32_t trace_take_status(struct trace_row *row, int32_t k, const struct trace_status_word *words, size_t n)
{
    const char *s = trace_field(row, k);
    int32_t status = trace_find_status(words, n, s);
    if (status == TRACE_STATUS_UNKNOWN && *s && row->n_odd++ == 0)
        snprintf(row->odd, sizeof row->odd, "%s", s);
    return status;
}
