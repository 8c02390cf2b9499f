/** @file
 * Runs the suites of a test program, and scripts beside them:
 *     unit_tests [--list] [-x] [-j N] [-l SECONDS] [-o FOLDER] [-s FILE] [SUITE[:CASE] ...]
 *
 * A suite runs in a process of its own, so that a crash, a limit or what a sanitizer finds loses one suite
 * and no other notices. A line says how each ended, at once; of one that failed, all it printed. Slowest
 * first by the times of the last run, so that no long one is left for the end. FOLDER (-o) holds these times,
 * what each printed, and "sum": how many passed and failed, seconds of processor time, seconds. SUITE and
 * CASE are parts of names ("sim/flow" is "sim_flow"), but "SUITE:" is that suite alone; what matches nothing
 * is a fault of the caller: exit 2. Exit 1 if any case failed; with -x the first one ends all.
 */
#define _DEFAULT_SOURCE /* wait4(): the processor time of a child and of all its children */
#include "tests/support.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { MAX_JOBS = 1024, MAX_WORDS = 32, MAX_LINE = 1024, MAX_NAME = 96, MAX_CASES = 512 };
enum when { FIRST, UNIT, LAST, BESIDE };
enum state { WAITS, RUNS, ENDED };

struct job {
    char name[MAX_NAME];
    struct test_case *cases; /**< the first of a suite; its set-up is among them */
    char *words[MAX_WORDS];  /**< a script's command */
    enum when when;          /**< BESIDE: sleeps most of the time, takes no place of -j */
    enum state state;
    int32_t n_cases; /**< that are to run; 1 for a script */
    double last_s;   /**< of the last run */
    pid_t pid;
    double start_s;
};

static struct {
    bool list, ends_early;
    int32_t n_places, limit_s;
    const char *folder, *scripts_file;
    char **patterns;
    int32_t n_patterns;
    struct job jobs[MAX_JOBS];
    int32_t n_jobs, n_running, n_matched;
    const char *suite; /**< the one that is asked for its cases, or runs */
    bool running;
    int64_t passed, failed;
    double cpu_s;
    char failures[MAX_JOBS][MAX_NAME];
    int32_t n_failures;
} runner = { .n_places = 1, .limit_s = 900 };

static void runner_die(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s\n", which, what);
    exit(2);
}

static double runner_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- which cases ---- */

/* Is @p part, up to @p n characters, in @p name? A slash is an underscore. */
static bool name_has(const char *name, const char *part, size_t n)
{
    char wanted[MAX_NAME];
    if (n >= sizeof wanted)
        return false;
    for (size_t i = 0; i < n; i++)
        wanted[i] = part[i] == '/' ? '_' : part[i];
    wanted[n] = '\0';
    return strstr(name, wanted) != NULL;
}

static bool case_is_asked_for(const char *suite, const char *name)
{
    for (int32_t i = 0; i < runner.n_patterns; i++) {
        const char *pattern = runner.patterns[i], *colon = strchr(pattern, ':');
        size_t n = colon ? (size_t)(colon - pattern) : strlen(pattern);
        if (colon && !colon[1] && strlen(suite) != n)
            continue;
        if (name_has(suite, pattern, n) && (!colon || name_has(name, colon + 1, strlen(colon + 1))))
            return true;
    }
    return runner.n_patterns == 0;
}

/* Asked for its cases, a suite only gets here: nothing of it has run. */
static int suite_run(const struct CMUnitTest *cases, size_t n, CMFixtureFunction setup,
                     CMFixtureFunction teardown)
{
    struct CMUnitTest *asked = calloc(n, sizeof *asked);
    size_t n_asked = 0;
    int rc = 0;
    if (!asked)
        runner_die("no memory", runner.suite);
    for (size_t i = 0; i < n; i++)
        if (case_is_asked_for(runner.suite, cases[i].name))
            asked[n_asked++] = cases[i];
    for (size_t i = 0; i < n_asked && runner.list; i++)
        printf("%s:%s\n", runner.suite, asked[i].name);
    runner.n_matched += (int32_t)n_asked;
    if (runner.running && n_asked > 0)
        rc = _cmocka_run_group_tests(runner.suite, asked, n_asked, setup, teardown);
    free(asked);
    return rc;
}

/* ---- cases that registered themselves ---- */

static struct test_case *registered;

/* By file and line: constructors run in an order of the linker's. */
void test_register(struct test_case *c)
{
    struct test_case **at = &registered;
    for (int order; *at && (order = strcmp((*at)->file, c->file)) <= 0; at = &(*at)->next)
        if (order == 0 && (*at)->line > c->line)
            break;
    c->next = *at;
    *at = c;
}

/* "flow" of "tests/unit/test_flow.c". */
static void name_of_file(char name[MAX_NAME], const char *file)
{
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    snprintf(name, MAX_NAME, "%s", strncmp(base, "test_", 5) == 0 ? base + 5 : base);
    name[strcspn(name, ".")] = '\0';
}

static int run_cases(const struct job *job)
{
    const struct test_case *first = job->cases;
    runner.suite = job->name;
    CMFixtureFunction setup = NULL, teardown = NULL;
    struct CMUnitTest cases[MAX_CASES];
    size_t n = 0;
    for (const struct test_case *c = first; c && strcmp(c->file, first->file) == 0; c = c->next) {
        if (n == MAX_CASES)
            runner_die("too many cases", c->file);
        if (c->test.name)
            cases[n++] = c->test;
        else {
            setup = c->test.setup_func;
            teardown = c->test.teardown_func;
        }
    }
    return suite_run(cases, n, setup, teardown);
}

/* ---- the jobs ---- */

static struct job *job_add(const char *name, enum when when)
{
    if (runner.n_jobs == MAX_JOBS)
        runner_die("too many suites", name);
    struct job *job = &runner.jobs[runner.n_jobs++];
    *job = (struct job){ 0 };
    snprintf(job->name, sizeof job->name, "%s", name);
    job->when = when;
    job->n_cases = 1;
    return job;
}

/* A suite of which cases are asked for is a job. */
static void add_suite(const char *name, struct test_case *cases)
{
    struct job *job = job_add(name, UNIT);
    int32_t before = runner.n_matched;
    job->cases = cases;
    run_cases(job);
    job->n_cases = runner.n_matched - before;
    if (job->n_cases == 0)
        runner.n_jobs--;
}

static void add_suites(void)
{
    char name[MAX_NAME];
    for (struct test_case *c = registered, *last = NULL; c; last = c, c = c->next)
        if (!last || strcmp(last->file, c->file) != 0) {
            name_of_file(name, c->file);
            add_suite(name, c);
        }
}

/* A line: first, last or beside; name; command. */
static void add_scripts(void)
{
    static const char *const whens[] = { [FIRST] = "first", [LAST] = "last", [BESIDE] = "beside" };
    FILE *f = runner.scripts_file ? fopen(runner.scripts_file, "r") : NULL;
    char line[MAX_LINE];
    if (runner.scripts_file && !f)
        runner_die(strerror(errno), runner.scripts_file);
    while (f && fgets(line, sizeof line, f)) {
        char *rest = NULL, *when = strtok_r(line, " \n", &rest), *name = strtok_r(NULL, " \n", &rest);
        if (!when || !name)
            continue;
        enum when w = strcmp(when, whens[FIRST]) == 0  ? FIRST
                      : strcmp(when, whens[LAST]) == 0 ? LAST
                                                       : BESIDE;
        struct job *job = job_add(name, w);
        int32_t n = 0;
        for (char *word; n < MAX_WORDS - 1 && (word = strtok_r(NULL, " \n", &rest));)
            job->words[n++] = strdup(word);
        if (n == 0)
            runner_die("has no command", name);
    }
    if (f)
        fclose(f);
}

static FILE *open_in_folder(const char *name, const char *mode)
{
    char path[SUPPORT_PATH];
    return fopen(scratch_path(path, runner.folder, name), mode);
}

static void read_times(void)
{
    FILE *f = open_in_folder("times", "r");
    char name[MAX_NAME], line[MAX_LINE];
    double wall_s;
    while (f && fgets(line, sizeof line, f))
        for (int32_t i = 0; i < runner.n_jobs && sscanf(line, "%95s %lf", name, &wall_s) == 2; i++)
            if (strcmp(runner.jobs[i].name, name) == 0)
                runner.jobs[i].last_s = wall_s;
    if (f)
        fclose(f);
}

static void write_times(void)
{
    FILE *f = runner.n_patterns == 0 ? open_in_folder("times", "w") : NULL;
    for (int32_t i = 0; f && i < runner.n_jobs; i++)
        fprintf(f, "%s %.3f\n", runner.jobs[i].name, runner.jobs[i].last_s);
    if (f)
        fclose(f);
}

/* The job that is to start next, of those beside or of the others. NULL: none. */
static struct job *next_job(bool beside)
{
    struct job *best = NULL;
    for (int32_t i = 0; i < runner.n_jobs; i++) {
        struct job *job = &runner.jobs[i];
        if (job->state != WAITS || (job->when == BESIDE) != beside)
            continue;
        /* What lasts longer than seconds first; below that the order of the table. */
        double gain = best ? job->last_s - best->last_s : 1;
        if (!best || (fabs(gain) > 0.5 ? gain > 0 : job->when < best->when))
            best = job;
    }
    return best;
}

/* ---- one job ---- */

static void job_output(const struct job *job, char path[SUPPORT_PATH])
{
    snprintf(path, SUPPORT_PATH, "%s/%s.out", runner.folder, job->name);
}

static void job_run(const struct job *job)
{
    char path[SUPPORT_PATH];
    sigset_t none;
    job_output(job, path);
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666), in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(2);
    close(in);
    close(out);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    if (job->words[0]) {
        execvp(job->words[0], job->words);
        perror(job->words[0]);
        _exit(2);
    }
    runner.running = true;
    exit(run_cases(job) != 0);
}

static void job_start(struct job *job)
{
    fflush(NULL);
    job->start_s = runner_now_s();
    job->pid = fork();
    if (job->pid < 0)
        runner_die(strerror(errno), job->name);
    if (job->pid == 0)
        job_run(job);
    setpgid(job->pid, job->pid);
    job->state = RUNS;
    runner.n_running += job->when != BESIDE;
}

/* What cmocka said of the cases of a suite. */
struct tally {
    int32_t passed, failed, skipped;
    char at[MAX_NAME]; /**< the case that began and did not end */
};

static bool line_says(const char *line, const char *tag, const char **name)
{
    const char *found = strstr(line, tag);
    if (found)
        *name = found + strlen(tag);
    return found != NULL;
}

static struct tally tally_read(const char *path)
{
    struct tally t = { 0 };
    FILE *f = fopen(path, "r");
    char line[MAX_LINE];
    const char *name;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line_says(line, "[ RUN      ] ", &name)) {
            snprintf(t.at, sizeof t.at, "%.90s", name);
            continue;
        }
        bool passed = line_says(line, "[       OK ] ", &name),
             skipped = line_says(line, "[  SKIPPED ] ", &name);
        /* The summary of a group repeats the names that failed. */
        bool failed = line_says(line, "[  FAILED  ] ", &name) && strcmp(name, t.at) == 0;
        if (failed)
            printf("    failed: %s\n", name);
        if (passed || failed || skipped)
            t.at[0] = '\0';
        t.passed += passed;
        t.failed += failed;
        t.skipped += skipped;
    }
    if (f)
        fclose(f);
    return t;
}

/* All that a job printed, but for the cases that passed. */
static void show_output(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[MAX_LINE];
    while (f && fgets(line, sizeof line, f))
        if (!strstr(line, "[       OK ] ") && !strstr(line, "[ RUN      ] "))
            printf("    | %s%s", line, strchr(line, '\n') ? "" : "\n");
    if (f)
        fclose(f);
}

static void job_report(struct job *job, int status, double cpu_s)
{
    char path[SUPPORT_PATH];
    bool fine = WIFEXITED(status) && WEXITSTATUS(status) == 0, late = job->last_s >= runner.limit_s;
    struct tally t = { .passed = fine, .failed = !fine };
    job_output(job, path);
    if (!job->words[0])
        t = tally_read(path);
    int32_t lost = job->n_cases - t.passed - t.failed - t.skipped, failed = t.failed + (lost > 0 ? lost : 0);
    if (!fine && failed == 0)
        failed = 1;
    if (t.at[0])
        printf("    did not return from: %s\n", t.at);
    if (late)
        printf("    took longer than %d s\n", runner.limit_s);
    else if (!fine && (t.failed == 0 || !WIFEXITED(status)))
        printf("    ended by %s %d\n", WIFEXITED(status) ? "code" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    if (t.skipped)
        printf("    %d skipped\n", t.skipped);
    printf("%-36s %3d passed, %d failed %7.1f s\n", job->name, t.passed, failed, cpu_s);
    if (failed) {
        show_output(path);
        memcpy(runner.failures[runner.n_failures++], job->name, sizeof job->name);
    }
    fflush(stdout);
    runner.passed += t.passed;
    runner.failed += failed;
    runner.cpu_s += cpu_s;
}

static void job_end(pid_t pid, int status, const struct rusage *used)
{
    for (int32_t i = 0; i < runner.n_jobs; i++) {
        struct job *job = &runner.jobs[i];
        if (job->state != RUNS || job->pid != pid)
            continue;
        kill(-pid, SIGKILL); /* what it left behind */
        job->state = ENDED;
        job->last_s = runner_now_s() - job->start_s;
        runner.n_running -= job->when != BESIDE;
        job_report(job, status,
                   (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
                       1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec));
    }
}

/* ---- all jobs ---- */

static void kill_late(double limit_s)
{
    for (int32_t i = 0; i < runner.n_jobs; i++)
        if (runner.jobs[i].state == RUNS && runner_now_s() - runner.jobs[i].start_s >= limit_s)
            kill(-runner.jobs[i].pid, SIGKILL);
}

/* Until a child ends, a second at most. Told to end, all children are killed first. */
static void wait_for_child(const sigset_t *watched)
{
    const struct timespec second = { 1, 0 };
    int signal_number = sigtimedwait(watched, NULL, &second);
    if (signal_number > 0 && signal_number != SIGCHLD) {
        kill_late(0);
        exit(128 + signal_number);
    }
    kill_late(runner.limit_s);
    struct rusage used;
    int status;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;)
        job_end(pid, status, &used);
}

static void run_jobs(void)
{
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGHUP);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    for (bool busy = true; busy;) {
        for (struct job *job; (job = next_job(true));)
            job_start(job);
        for (struct job *job; runner.n_running < runner.n_places && (job = next_job(false));)
            job_start(job);
        busy = false;
        for (int32_t i = 0; i < runner.n_jobs; i++)
            busy = busy || runner.jobs[i].state == RUNS;
        if (busy)
            wait_for_child(&watched);
        if (runner.ends_early && runner.failed > 0) {
            kill_late(0);
            return;
        }
    }
}

static void write_sum(double wall_s)
{
    FILE *f = open_in_folder("sum", "w");
    if (f) {
        fprintf(f, "%lld %lld\n", (long long)runner.passed, (long long)runner.failed);
        fclose(f);
    }
    /* Read again by run_tests.sh, whose last lines are often all that is kept of a run. */
    f = open_in_folder("failed", "w");
    for (int32_t i = 0; i < runner.n_failures; i++) {
        printf("FAILED: %s\n", runner.failures[i]);
        if (f)
            fprintf(f, "%s\n", runner.failures[i]);
    }
    if (f)
        fclose(f);
    printf("%lld passed, %lld failed; %.0f s of processor time in %.0f s\n", (long long)runner.passed,
           (long long)runner.failed, runner.cpu_s, wall_s);
}

static void read_options(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--list") == 0) {
            runner.list = true;
            continue;
        }
        if (strcmp(option, "-x") == 0) {
            runner.ends_early = true;
            continue;
        }
        if (strlen(option) != 2 || !strchr("jlos", option[1]) || i + 1 == argc)
            runner_die("is no option; use --list, -x, -j N, -l SECONDS, -o FOLDER or -s FILE", option);
        const char *value = argv[++i];
        switch (option[1]) {
        case 'j':
            runner.n_places = atoi(value);
            break;
        case 'l':
            runner.limit_s = atoi(value);
            break;
        case 'o':
            runner.folder = value;
            break;
        default:
            runner.scripts_file = value;
        }
    }
    runner.patterns = argv + i;
    runner.n_patterns = argc - i;
    if (runner.n_places < 1 || runner.limit_s < 1)
        runner_die("expected whole numbers from 1 on", "-j, -l");
}

int main(int argc, char **argv)
{
    char scratch[SUPPORT_PATH] = "";
    read_options(argc, argv);
    add_suites();
    if (runner.n_matched == 0 && runner.n_patterns > 0)
        runner_die("no such suite or case; --list shows them", runner.patterns[0]);
    if (runner.list)
        return 0;
    add_scripts();
    if (!runner.folder) {
        scratch_make(scratch);
        runner.folder = scratch;
    }
    read_times();
    double start_s = runner_now_s();
    run_jobs();
    write_times();
    write_sum(runner_now_s() - start_s);
    if (scratch[0])
        scratch_remove(scratch);
    return runner.failed != 0;
}
