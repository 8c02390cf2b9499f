/*
 * Runs weft with faults and judges what it makes of them. For every line of commands.txt: first without a
 * fault, to count the calls and keep the right answer; then the k-th allocation fails, once or from then on,
 * and the k-th system call, with ENOSPC, EIO (once, from then on) and EINTR (once). A run may
 *
 *   - give the same bytes, on standard output and in every file, with the same exit code and messages; or
 *   - say on one line what was lacking, with exit code 1 (3 where reading an input failed), and leave the
 * folder as it was. A store may stay: the command, run again without a fault, must finish it.
 *
 * Where a command has several outputs, those that were whole before the fault may be there: these runs are
 * counted as "apart". A study without a store may write the rows of the points that are done, if its line
 * says so and they are among those of the right answer: "partial". Anything else is a finding, one line each
 * however many runs show it:
 *
 *   crash    a signal, or a report of a sanitizer           hang     did not end within the limit
 *   silent   exit code 0, other bytes                       blame    wrong exit code: bad input, bad usage
 *   left     files that stayed, or inputs that changed      message  none, or several lines
 *
 *     faults [-n RUNS] [-s SEED] [-j JOBS] [-c PATTERN] [-k SERIES,FIRST,LAST] [-o FOLDER] PROGRAM SHIM
 * CHECKOUT
 *
 * -n 0: all there are; else so many, drawn evenly over commands. -c: commands that contain this. -k: only
 * this one; with -o what it wrote is kept there, and `right`, what it should have. Exit code 1 if anything
 * was found.
 *
 * Works in a folder of its own under /dev/shm, where syncing costs nothing. No state but what is passed on.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "page.h"

extern char **environ;

enum { MAX_ARGS = 32, MAX_COMMANDS = 200, MAX_FILES = 64, MAX_FINDINGS = 2000, N_SERIES = 7 };

/* ---- what is run ---- */

struct command {
    double share;
    char store[64], line[512]; /* store: "" = none may stay */
    char words[512];
    char *argv[MAX_ARGS + 1]; /* argv[0] is the program; the others point into words */
    int64_t calls[N_SERIES];  /* how many faults there are of each series */
};

/* Once or from then on, of one kind and error. */
static const struct series {
    const char *name;
    enum fault_kind kind;
    int error;
    bool stays;
} all_series[N_SERIES] = {
    { "memory", FAULT_MEMORY, 0, false },    { "memory+", FAULT_MEMORY, 0, true },
    { "ENOSPC", FAULT_CALL, ENOSPC, false }, { "ENOSPC+", FAULT_CALL, ENOSPC, true },
    { "EIO", FAULT_CALL, EIO, false },       { "EIO+", FAULT_CALL, EIO, true },
    { "EINTR", FAULT_CALL, EINTR, false },
};

struct driver {
    const char *program, *shim, *checkout, *pattern, *keep;
    char folder[64];
    int64_t runs; /* 0: all */
    uint64_t seed;
    int32_t jobs, limit_s, n_commands;
    struct command *commands; /* shape [MAX_COMMANDS], owned */
    const char *only;         /* -k */
};

static void die(const char *what)
{
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- folders ---- */

struct file {
    char name[64];
    bool link;
    struct timespec changed;
    ino_t inode;
    off_t size;
    uint64_t hash; /* of its bytes */
};

struct listing {
    int n;
    struct file files[MAX_FILES];
};

static uint64_t hash_bytes(uint64_t seed, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seed = (seed ^ (unsigned char)s[i]) * 1099511628211U;
    return seed;
}

/* The whole file, terminated; *n bytes of it. NULL if it cannot be read. */
static char *read_file(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    char *s = malloc((size_t)st.st_size + 1);
    ssize_t got = s ? read(fd, s, (size_t)st.st_size) : -1;
    close(fd);
    if (got < 0) {
        free(s);
        return NULL;
    }
    *n = (size_t)got;
    s[got] = '\0';
    return s;
}

static uint64_t hash_file(const char *path)
{
    size_t n = 0;
    char *s = read_file(path, &n);
    uint64_t hash = s ? hash_bytes(14695981039346656037U, s, n) : 0;
    free(s);
    return hash;
}

static const struct file *find_file(const struct listing *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->files[i].name, name) == 0)
            return &l->files[i];
    return NULL;
}

static bool is_untouched(const struct file *a, const struct file *b)
{
    return a->inode == b->inode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

/* What is in the folder; bytes are read only of files that `before` does not have as they are. */
static void list_folder(struct listing *l, const char *folder, const struct listing *before)
{
    DIR *dir = opendir(folder);
    if (!dir)
        die(folder);
    l->n = 0;
    for (struct dirent *d; (d = readdir(dir));) {
        char path[512];
        struct stat st;
        struct file *f = &l->files[l->n];
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (l->n == MAX_FILES || strlen(d->d_name) >= sizeof f->name) {
            errno = E2BIG;
            die(folder);
        }
        snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
        if (lstat(path, &st) != 0)
            continue;
        *f = (struct file){
            .link = S_ISLNK(st.st_mode), .changed = st.st_mtim, .inode = st.st_ino, .size = st.st_size
        };
        snprintf(f->name, sizeof f->name, "%s", d->d_name);
        const struct file *was = before ? find_file(before, f->name) : NULL;
        f->hash = was && is_untouched(was, f) ? was->hash : f->link ? 0 : hash_file(path);
        l->n++;
    }
    closedir(dir);
}

static void copy_file(const char *from_folder, const char *to_folder, const struct file *f)
{
    char from[512], to[512], target[512];
    size_t n = 0;
    snprintf(from, sizeof from, "%s/%s", from_folder, f->name);
    snprintf(to, sizeof to, "%s/%s", to_folder, f->name);
    unlink(to);
    if (f->link) {
        ssize_t len = readlink(from, target, sizeof target - 1);
        target[len > 0 ? len : 0] = '\0';
        if (symlink(target, to) != 0)
            die(to);
        return;
    }
    char *s = read_file(from, &n);
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (!s || fd < 0 || write(fd, s, n) != (ssize_t)n)
        die(to);
    close(fd);
    free(s);
}

/* The folder of one worker, which is put back after each run. */
struct place {
    char template[128], folder[128], out[128], err[128];
    struct listing clean; /* what stands in it before a run */
};

/* Put back what a run changed. */
static void restore_folder(struct place *p, const struct listing *now, const struct listing *wanted)
{
    bool changed = false;
    for (int i = 0; i < now->n; i++) {
        char path[512];
        if (find_file(&p->clean, now->files[i].name))
            continue;
        snprintf(path, sizeof path, "%s/%s", p->folder, now->files[i].name);
        unlink(path);
    }
    for (int i = 0; i < wanted->n; i++) {
        const struct file *is = find_file(now, wanted->files[i].name),
                          *was = find_file(&p->clean, wanted->files[i].name);
        if (is && was && is_untouched(is, was))
            continue;
        copy_file(p->template, p->folder, &wanted->files[i]);
        changed = true;
    }
    if (changed)
        list_folder(&p->clean, p->folder, NULL);
}

static void make_place(struct place *p, const struct driver *d, int worker)
{
    struct listing template, empty = { 0 };
    snprintf(p->template, sizeof p->template, "%s/inputs", d->folder);
    snprintf(p->folder, sizeof p->folder, "%s/run%d", d->folder, worker);
    snprintf(p->out, sizeof p->out, "%s/out%d", d->folder, worker);
    snprintf(p->err, sizeof p->err, "%s/err%d", d->folder, worker);
    if (mkdir(p->folder, 0755) != 0 && errno != EEXIST)
        die(p->folder);
    list_folder(&template, p->template, NULL);
    p->clean = empty;
    restore_folder(p, &empty, &template);
}

/* ---- the server: a program that stopped before main() ---- */

struct server {
    pid_t pid;
    int control;
    struct fault_page *page;
};

static void start_server(struct server *s, const struct driver *d, const struct command *c)
{
    int ends[2], memory = memfd_create("faults", 0);
    if (memory < 0 || ftruncate(memory, sizeof *s->page) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        die("a server");
    s->page = mmap(NULL, sizeof *s->page, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (s->page == MAP_FAILED)
        die("a server");
    s->pid = fork();
    if (s->pid == 0) {
        if (dup2(memory, FAULTS_PAGE) < 0 || dup2(ends[1], FAULTS_CONTROL) < 0)
            _exit(127);
        for (int fd = 3; fd < FAULTS_PAGE; fd++)
            close(fd);
        /* A program that waits for an end of input gets it. */
        int null = open("/dev/null", O_RDONLY);
        dup2(null, STDIN_FILENO);
        close(null);
        setenv("LD_PRELOAD", d->shim, 1);
        execv(d->program, c->argv);
        _exit(127);
    }
    if (s->pid < 0)
        die("a server");
    close(memory);
    close(ends[1]);
    s->control = ends[0];
}

static void stop_server(struct server *s)
{
    close(s->control);
    waitpid(s->pid, NULL, 0);
    munmap(s->page, sizeof *s->page);
}

struct fault {
    int32_t series;
    int64_t first, last; /* none: first > last */
};

/* Run once; the answer is in the server's page. */
static void run_fault(struct server *s, const struct driver *d, const struct place *p, const struct fault *f)
{
    struct fault_page *page = s->page;
    char go = 'r';
    memset(page, 0, sizeof *page);
    page->kind = all_series[f->series].kind;
    page->error = all_series[f->series].error;
    page->limit_s = d->limit_s;
    page->first = f->first;
    page->last = f->last;
    snprintf(page->folder, sizeof page->folder, "%s", p->folder);
    snprintf(page->out, sizeof page->out, "%s", p->out);
    snprintf(page->err, sizeof page->err, "%s", p->err);
    if (write(s->control, &go, 1) != 1 || read(s->control, &go, 1) != 1 ||
        (WIFEXITED(page->status) && WEXITSTATUS(page->status) == 127))
        die("the program does not start under the shim");
}

/* ---- the right answer ---- */

struct answer {
    int exit_code;
    char *out, *err;
    size_t n_out, n_err;
    struct listing files;
    uint64_t store; /* hash of what the store says */
    char *made;     /* standard output and all files that the run made, one after the other */
};

static void free_answer(struct answer *a)
{
    free(a->out);
    free(a->err);
    free(a->made);
    *a = (struct answer){ 0 };
}

static char *join(char *a, const char *b)
{
    size_t n = strlen(a), more = strlen(b);
    a = realloc(a, n + more + 1);
    if (!a)
        die("an answer");
    memcpy(a + n, b, more + 1);
    return a;
}

/* Files that stood there before are no part of what was made. */
static void read_made(struct answer *a, const struct place *p)
{
    a->made = join(calloc(1, 1), a->out);
    for (int i = 0; i < a->files.n; i++) {
        char path[512], *s;
        size_t n;
        if (find_file(&p->clean, a->files.files[i].name))
            continue;
        snprintf(path, sizeof path, "%s/%s", p->folder, a->files.files[i].name);
        s = read_file(path, &n);
        a->made = join(a->made, s ? s : "");
        free(s);
    }
}

static void take_answer(struct answer *a, const struct server *s, const struct place *p)
{
    *a = (struct answer){ .exit_code = WIFEXITED(s->page->status) ? WEXITSTATUS(s->page->status) : -1 };
    a->out = read_file(p->out, &a->n_out);
    a->err = read_file(p->err, &a->n_err);
    if (!a->out || !a->err)
        die(p->out);
    list_folder(&a->files, p->folder, &p->clean);
    read_made(a, p);
}

/* Run the program without the shim, in the folder; its standard output goes to PLACE.out. */
static int run_plain(const struct place *p, char *const *argv, const char *program)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int out = open(p->out, O_WRONLY | O_CREAT | O_TRUNC, 0644),
            err = open(p->err, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (chdir(p->folder) != 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
            _exit(127);
        execv(program, argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        die(program);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the store says, without the line of the command that made it; 0 if it cannot be read. */
static uint64_t ask_store(const struct driver *d, const struct place *p, const char *store)
{
    char weft[] = "weft", export[] = "export", of[] = "--of", csv[] = "csv", name[64];
    char *argv[] = { weft, export, name, of, csv, NULL };
    snprintf(name, sizeof name, "%s", store);
    if (run_plain(p, argv, d->program) != 0)
        return 0;
    return hash_file(p->out);
}

/* ---- judging ---- */

enum verdict { SAME, REFUSED, APART, PARTIAL, CRASH, SILENT, BLAME, LEFT, MESSAGE, HANG, N_VERDICTS };
static const char *const verdict_words[N_VERDICTS] = { "same",   "refused", "apart", "partial", "crash",
                                                       "silent", "blame",   "left",  "message", "hang" };

static bool same_files(const struct listing *a, const struct listing *b, const char *except)
{
    int n_a = 0, n_b = 0;
    for (int i = 0; i < a->n; i++) {
        const struct file *f = &a->files[i], *g = find_file(b, f->name);
        if (*except && strncmp(f->name, except, strlen(except)) == 0)
            continue;
        n_a++;
        if (!g || g->size != f->size || g->hash != f->hash)
            return false;
    }
    for (int i = 0; i < b->n; i++)
        n_b += !*except || strncmp(b->files[i].name, except, strlen(except)) != 0;
    return n_a == n_b;
}

/* Every file is as it was or as the right answer has it. */
static bool are_whole(const struct listing *is, const struct listing *right, const struct listing *clean,
                      const char *except)
{
    for (int i = 0; i < is->n; i++) {
        const struct file *f = &is->files[i], *was = find_file(clean, f->name),
                          *g = find_file(right, f->name);
        if (*except && strncmp(f->name, except, strlen(except)) == 0)
            continue;
        if (!(was && was->size == f->size && was->hash == f->hash) &&
            !(g && g->size == f->size && g->hash == f->hash))
            return false;
    }
    for (int i = 0; i < clean->n; i++)
        if (!find_file(is, clean->files[i].name))
            return false;
    return true;
}

/* Lines of the messages that the right answer does not have; *last is the last of them. */
static int count_new_lines(const char *err, const char *right, const char **last)
{
    int n = 0;
    for (const char *at = err, *end; *at; at = *end ? end + 1 : end) {
        char line[2048];
        end = strchrnul(at, '\n');
        snprintf(line, sizeof line, "%.*s\n", (int)(end - at), at);
        if (end == at || strstr(right, line))
            continue;
        *last = at;
        n++;
    }
    return n;
}

/* The next line of *at without its end, without a comma that parts it from the next row, and with single
 * blanks: a column of a text is as wide as its widest value. Its length; -1: there is none. */
static int next_line(char *line, size_t size, const char **at)
{
    int n = 0;
    if (!**at)
        return -1;
    for (; **at && **at != '\n'; (*at)++)
        if ((size_t)n + 1 < size && !(**at == ' ' && n > 0 && line[n - 1] == ' '))
            line[n++] = **at;
    *at += **at == '\n';
    while (n > 0 && (line[n - 1] == ',' || line[n - 1] == ' '))
        n--;
    line[n] = '\0';
    return n;
}

/* Every line that was written is one of the right answer, in the same order: rows of some points, whole. */
static bool has_right_rows(const struct answer *right, const struct answer *is)
{
    enum { LONGEST = 16384 };
    char line[LONGEST], other[LONGEST];
    const char *at = is->made, *from = right->made;
    if (!*at || strlen(at) > strlen(from))
        return false;
    while (next_line(line, sizeof line, &at) >= 0) {
        int n = next_line(other, sizeof other, &from);
        while (n >= 0 && strcmp(line, other) != 0)
            n = next_line(other, sizeof other, &from);
        if (n < 0)
            return false;
    }
    return true;
}

/* A store that stayed after a failure: the command finishes it. */
static bool store_recovers(const struct driver *d, const struct command *c, const struct place *p,
                           const struct answer *right)
{
    struct listing now;
    list_folder(&now, p->folder, &p->clean);
    if (!find_file(&now, c->store))
        return true;
    return run_plain(p, c->argv, d->program) == right->exit_code && ask_store(d, p, c->store) == right->store;
}

static enum verdict judge_failure(const struct driver *d, const struct command *c, const struct place *p,
                                  const struct fault_page *page, const struct answer *right,
                                  const struct answer *is)
{
    const char *line = "";
    int n = count_new_lines(is->err, right->err, &line);
    /* A message that tells the error itself does not blame what the file says. */
    bool told = page->kind == FAULT_CALL && strstr(line, strerror(page->error));
    /* A disk that fails is a failure while running, not a fault of the input. */
    told = told && page->error != EIO;
    if (is->exit_code != 1 && !(is->exit_code == 3 && told))
        return BLAME;
    /* OpenMP ends the program by itself where it has no memory for a team of threads. */
    if (n != 1 || (strncmp(line, "weft", 4) != 0 && strncmp(line, "libgomp: Out of memory", 22) != 0))
        return MESSAGE;
    if (strstr(line, " are written\n") && is->exit_code == 1)
        return !*c->store && has_right_rows(right, is) ? PARTIAL : LEFT;
    if (*c->store && !store_recovers(d, c, p, right))
        return LEFT;
    /* What was printed cannot be taken back. */
    bool printing = strstr(line, "standard output: cannot be written") != NULL;
    if (same_files(&is->files, &p->clean, c->store) && (!is->n_out || printing))
        return REFUSED;
    bool whole = !is->n_out || (is->n_out == right->n_out && memcmp(is->out, right->out, is->n_out) == 0);
    return whole && are_whole(&is->files, &right->files, &p->clean, c->store) ? APART : LEFT;
}

static bool is_same(const struct driver *d, const struct command *c, const struct place *p,
                    const struct answer *right, const struct answer *is)
{
    const char *line;
    if (is->n_out != right->n_out || memcmp(is->out, right->out, is->n_out) != 0)
        return false;
    if (is->n_err != right->n_err && count_new_lines(is->err, right->err, &line) == 0)
        return false;
    if (!same_files(&is->files, &right->files, c->store))
        return false;
    return !*c->store || same_files(&is->files, &right->files, "") ||
           ask_store(d, p, c->store) == right->store;
}

static enum verdict judge(const struct driver *d, const struct command *c, const struct place *p,
                          const struct fault_page *page, const struct answer *right, const struct answer *is)
{
    if (WIFSIGNALED(page->status))
        return WTERMSIG(page->status) == SIGALRM ? HANG : CRASH;
    if (strstr(is->err, "AddressSanitizer") || strstr(is->err, "runtime error:"))
        return CRASH;
    if (is->exit_code != right->exit_code)
        return is->exit_code ? judge_failure(d, c, p, page, right, is) : SILENT;
    if (is_same(d, c, p, right, is))
        return SAME;
    /* A command whose right answer is a refusal may fail in another way. */
    return is->exit_code ? judge_failure(d, c, p, page, right, is) : SILENT;
}

/* ---- findings ---- */

/* What a worker tells, in one write of less than PIPE_BUF bytes. */
struct finding {
    int32_t verdict, command, n_frames, status;
    struct fault fault;
    int64_t times;
    char call[16], message[256];
    struct fault_frame frames[FAULT_FRAMES];
};

struct tally {
    int64_t runs[N_VERDICTS];
    int n;
    struct finding *findings; /* shape [MAX_FINDINGS], owned */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The same fault of the program: the same verdict, and the same three innermost places of its own. */
static bool is_same_finding(const struct finding *a, const struct finding *b, const char *program)
{
    uint64_t at[2][3] = { { 0 } };
    const struct finding *both[2] = { a, b };
    if (a->verdict != b->verdict)
        return false;
    for (int k = 0; k < 2; k++)
        for (int i = 0, n = 0; i < both[k]->n_frames && n < 3; i++)
            if (strcmp(both[k]->frames[i].module, base_name(program)) == 0)
                at[k][n++] = both[k]->frames[i].offset;
    return memcmp(at[0], at[1], sizeof at[0]) == 0;
}

static void take_finding(struct tally *t, const struct finding *f, const struct driver *d)
{
    t->runs[f->verdict] += f->times;
    if (f->verdict < CRASH)
        return;
    for (int i = 0; i < t->n; i++)
        if (is_same_finding(&t->findings[i], f, d->program)) {
            t->findings[i].times++;
            return;
        }
    if (t->n < MAX_FINDINGS)
        t->findings[t->n++] = *f;
}

static struct finding make_finding(enum verdict v, int command, const struct fault *fault,
                                   const struct fault_page *page, const struct answer *right,
                                   const struct answer *is)
{
    struct finding f = {
        .verdict = (int32_t)v, .command = command, .fault = *fault, .times = 1, .status = page->status
    };
    const char *line = "";
    bool crash = page->n_crash > 0;
    count_new_lines(is->err, right->err, &line);
    const char *asan = strstr(is->err, "ERROR: AddressSanitizer"), *ubsan = strstr(is->err, "runtime error:");
    line = asan ? asan : ubsan ? ubsan : line;
    snprintf(f.message, sizeof f.message, "%.*s", (int)strcspn(line, "\n"), line);
    snprintf(f.call, sizeof f.call, "%s", page->call);
    f.n_frames = crash ? page->n_crash : page->n_where;
    memcpy(f.frames, crash ? page->crash : page->where, sizeof f.frames);
    return f;
}

/* "function file:line" of an address of the program. */
static void name_place(char *buf, size_t n, const struct driver *d, const struct fault_frame *f)
{
    char line[512], name[128] = "?", at[256] = "?";
    snprintf(line, sizeof line, "addr2line -f -s -e '%s' 0x%llx 2>/dev/null", d->program,
             (unsigned long long)f->offset - 1);
    FILE *pipe = popen(line, "r");
    if (pipe && fgets(name, sizeof name, pipe) && fgets(at, sizeof at, pipe)) {
        name[strcspn(name, "\n")] = '\0';
        at[strcspn(at, " \n")] = '\0';
    }
    if (pipe)
        pclose(pipe);
    snprintf(buf, n, "%.60s %.60s", name, at);
}

static void print_finding(const struct driver *d, const struct finding *f)
{
    int n = 0;
    printf("%-7s %5lld x  [-k %s,%lld,%lld] %s\n", verdict_words[f->verdict], (long long)f->times,
           all_series[f->fault.series].name, (long long)f->fault.first, (long long)f->fault.last,
           d->commands[f->command].line);
    printf("        %s %d; %s: %s\n        ", WIFSIGNALED(f->status) ? "signal" : "exit code",
           WIFSIGNALED(f->status) ? WTERMSIG(f->status) : WEXITSTATUS(f->status), f->call, f->message);
    for (int i = 0; i < f->n_frames && n < 6; i++) {
        char place[160];
        const struct fault_frame *at = &f->frames[i];
        if (strcmp(at->module, base_name(d->program)) == 0)
            name_place(place, sizeof place, d, at);
        else if (n == 0 && at->symbol[0])
            snprintf(place, sizeof place, "%s of %s", at->symbol, at->module);
        else
            continue;
        printf("%s%s", n++ ? " < " : "", place);
    }
    printf("\n");
}

/* ---- all of it ---- */

/* Evenly mixed 64 bits (splitmix64), so that what is drawn depends on the seed and the fault alone. */
static double draw(uint64_t seed, uint64_t what)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15U + what;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void learn_answer(struct answer *right, struct server *s, const struct driver *d, struct place *p,
                         const struct command *c)
{
    const struct fault none = { .first = 1, .last = 0 };
    struct listing template;
    list_folder(&template, p->template, NULL);
    run_fault(s, d, p, &none);
    take_answer(right, s, p);
    right->store = *c->store ? ask_store(d, p, c->store) : 0;
    restore_folder(p, &right->files, &template);
}

/* How many faults there are of each series. */
static void count_calls(struct driver *d, struct place *p)
{
    struct listing template;
    list_folder(&template, p->template, NULL);
    for (int i = 0; i < d->n_commands; i++) {
        struct command *c = &d->commands[i];
        struct server s;
        struct answer right, again;
        start_server(&s, d, c);
        learn_answer(&right, &s, d, p, c);
        for (int k = 0; k < N_SERIES; k++) {
            run_fault(&s, d, p, &(struct fault){ .series = k, .first = 1, .last = 0 });
            c->calls[k] = atomic_load(&s.page->calls);
            take_answer(&again, &s, p);
            if (!is_same(d, c, p, &right, &again) || again.exit_code != right.exit_code ||
                WIFSIGNALED(s.page->status))
                printf("unsteady without a fault: %s\n", c->line);
            restore_folder(p, &again.files, &template);
            free_answer(&again);
        }
        free_answer(&right);
        stop_server(&s);
    }
}

static double faults_of(const struct command *c)
{
    double n = 0;
    for (int k = 0; k < N_SERIES; k++)
        n += (double)c->calls[k];
    return n;
}

/* The most of one command so that all together are `runs`. */
static double share_out(const struct driver *d)
{
    double lo = 0, hi = 1e12;
    for (int i = 0; i < 100; i++) {
        double most = 0.5 * (lo + hi), sum = 0;
        for (int k = 0; k < d->n_commands; k++) {
            const struct command *c = &d->commands[k];
            double n = faults_of(c);
            sum += n < most * c->share ? n : most * c->share;
        }
        *(sum < (double)d->runs ? &lo : &hi) = most;
    }
    return hi;
}

/* One fault; tells the parent of what was not right. */
static void try_fault(const struct driver *d, struct place *p, struct server *s, int command,
                      const struct fault *fault, const struct answer *right, const struct listing *template,
                      int64_t *runs, int tell)
{
    const struct command *c = &d->commands[command];
    struct answer is;
    struct listing after;
    run_fault(s, d, p, fault);
    take_answer(&is, s, p);
    enum verdict v = judge(d, c, p, s->page, right, &is);
    runs[v]++;
    if (v >= CRASH) {
        struct finding f = make_finding(v, command, fault, s->page, right, &is);
        if (write(tell, &f, sizeof f) != sizeof f)
            die("a finding");
    }
    list_folder(&after, p->folder, &p->clean);
    restore_folder(p, &after, template);
    free_answer(&is);
}

static void run_worker(const struct driver *d, int worker, double most, int tell)
{
    struct place p;
    struct listing template;
    int64_t runs[N_VERDICTS] = { 0 };
    make_place(&p, d, worker);
    list_folder(&template, p.template, NULL);
    for (int i = 0; i < d->n_commands; i++) {
        const struct command *c = &d->commands[i];
        double keep = d->runs ? most * c->share / faults_of(c) : 1;
        struct server s;
        struct answer right;
        uint64_t number = 0;
        start_server(&s, d, c);
        learn_answer(&right, &s, d, &p, c);
        for (int k = 0; k < N_SERIES; k++)
            for (int64_t at = 1; at <= c->calls[k]; at++) {
                const struct fault f = { .series = k,
                                         .first = at,
                                         .last = all_series[k].stays ? INT64_MAX : at };
                number++;
                if (draw(d->seed + (uint64_t)i, number) < keep && (int)(number % (uint64_t)d->jobs) == worker)
                    try_fault(d, &p, &s, i, &f, &right, &template, runs, tell);
            }
        free_answer(&right);
        stop_server(&s);
    }
    for (int v = SAME; v < CRASH; v++) {
        struct finding f = { .verdict = v, .times = runs[v] };
        if (write(tell, &f, sizeof f) != sizeof f)
            die("a tally");
    }
    _exit(0);
}

static int64_t run_workers(const struct driver *d, struct tally *t)
{
    int ends[2];
    double most = d->runs ? share_out(d) : 0;
    struct finding f;
    if (pipe(ends) != 0)
        die("a pipe");
    fflush(stdout);
    for (int w = 0; w < d->jobs; w++)
        if (fork() == 0) {
            close(ends[0]);
            run_worker(d, w, most, ends[1]);
        }
    close(ends[1]);
    while (read(ends[0], &f, sizeof f) == sizeof f)
        take_finding(t, &f, d);
    int status, failed = 0;
    while (wait(&status) > 0)
        failed += status != 0;
    if (failed) {
        fprintf(stderr, "faults: %d of the workers failed\n", failed);
        exit(2);
    }
    int64_t sum = 0;
    for (int v = 0; v < N_VERDICTS; v++)
        sum += t->runs[v];
    return sum;
}

static void copy_output(const struct driver *d, const char *name, const char *s, size_t n)
{
    char to[512];
    snprintf(to, sizeof to, "%s/%s", d->keep, name);
    FILE *f = fopen(to, "we");
    if (!f || fwrite(s, 1, n, f) != n || fclose(f) != 0)
        die(to);
}

/* -k SERIES,FIRST,LAST: one fault of the first command that matches. */
static int show_one(const struct driver *d, struct place *p)
{
    char name[16];
    long long first, last;
    struct server s;
    struct answer right, is;
    if (sscanf(d->only, "%15[^,],%lld,%lld", name, &first, &last) != 3 || d->n_commands < 1) {
        fprintf(stderr, "faults: -k needs SERIES,FIRST,LAST and a command that matches\n");
        return 2;
    }
    struct fault fault = { .first = first, .last = last };
    while (fault.series < N_SERIES - 1 && strcmp(all_series[fault.series].name, name) != 0)
        fault.series++;
    start_server(&s, d, &d->commands[0]);
    learn_answer(&right, &s, d, p, &d->commands[0]);
    run_fault(&s, d, p, &fault);
    take_answer(&is, &s, p);
    enum verdict v = judge(d, &d->commands[0], p, s.page, &right, &is);
    struct finding f = make_finding(v, 0, &fault, s.page, &right, &is);
    print_finding(d, &f);
    for (int i = 0; i < f.n_frames; i++)
        printf("        %s %s 0x%llx\n", f.frames[i].module, f.frames[i].symbol,
               (unsigned long long)f.frames[i].offset);
    printf("%s", is.err);
    if (d->keep) {
        copy_output(d, "out", is.out, is.n_out);
        copy_output(d, "right", right.out, right.n_out);
        for (int i = 0; i < is.files.n; i++)
            if (!find_file(&p->clean, is.files.files[i].name))
                copy_file(p->folder, d->keep, &is.files.files[i]);
    }
    return v >= CRASH;
}

/* ---- commands ---- */

/* Words with "quotes" and \". */
static void split_words(struct command *c, const char *line)
{
    int n = 0;
    char *to = c->words;
    while (*(line += strspn(line, " ")) && n < MAX_ARGS) {
        bool quoted = false;
        c->argv[n++] = to;
        for (; *line && (quoted || *line != ' '); line++) {
            if (*line == '"')
                quoted = !quoted;
            else
                *to++ = *line == '\\' && line[1] ? *++line : *line;
        }
        *to++ = '\0';
    }
    c->argv[n] = NULL;
}

static void read_commands(struct driver *d)
{
    char path[512], line[512];
    snprintf(path, sizeof path, "%s/tests/faults/commands.txt", d->checkout);
    FILE *f = fopen(path, "re");
    if (!f)
        die(path);
    d->commands = calloc(MAX_COMMANDS, sizeof *d->commands);
    while (fgets(line, sizeof line, f) && d->commands && d->n_commands < MAX_COMMANDS) {
        struct command *c = &d->commands[d->n_commands];
        char *at;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || !line[0])
            continue;
        c->share = strtod(line, &at);
        at += strspn(at, " ");
        if (sscanf(at, "store=%63s", c->store) == 1)
            at += strcspn(at, " ");
        at += strspn(at, " ");
        if (d->pattern && !strstr(at, d->pattern))
            continue;
        snprintf(c->line, sizeof c->line, "%s", at);
        split_words(c, at);
        d->n_commands++;
    }
    fclose(f);
}

static void set_up(const struct driver *d)
{
    char line[1024];
    snprintf(line, sizeof line,
             "mkdir '%s/inputs' && cd '%s/inputs' && WEFT='%s' ROOT='%s' sh '%s/tests/faults/setup.sh'",
             d->folder, d->folder, d->program, d->checkout, d->checkout);
    if (system(line) != 0) {
        fprintf(stderr, "faults: the inputs cannot be made\n");
        exit(2);
    }
}

static void clean_up(const struct driver *d)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", d->folder);
    if (system(line) != 0)
        fprintf(stderr, "faults: %s stays\n", d->folder);
}

static int take_options(struct driver *d, int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "n:s:j:c:o:k:l:")) != -1;) {
        switch (c) {
        case 'n':
            d->runs = atoll(optarg);
            break;
        case 's':
            d->seed = strtoull(optarg, NULL, 10);
            break;
        case 'j':
            d->jobs = atoi(optarg);
            break;
        case 'l':
            d->limit_s = atoi(optarg);
            break;
        case 'c':
            d->pattern = optarg;
            break;
        case 'o':
            d->keep = optarg;
            break;
        case 'k':
            d->only = optarg;
            break;
        default:
            return 2;
        }
    }
    if (argc - optind != 3 || d->jobs < 1)
        return 2;
    d->program = realpath(argv[optind], NULL);
    d->shim = realpath(argv[optind + 1], NULL);
    d->checkout = realpath(argv[optind + 2], NULL);
    return d->program && d->shim && d->checkout ? 0 : 2;
}

int main(int argc, char **argv)
{
    struct driver d = { .seed = 1, .jobs = 2, .limit_s = 20 };
    struct tally t = { 0 };
    struct place p;
    if (take_options(&d, argc, argv)) {
        fprintf(stderr, "faults: need [OPTIONS] PROGRAM SHIM CHECKOUT\n");
        return 2;
    }
    snprintf(d.folder, sizeof d.folder, "/dev/shm/weft-faults-XXXXXX");
    t.findings = calloc(MAX_FINDINGS, sizeof *t.findings);
    if (!t.findings || !mkdtemp(d.folder))
        die(d.folder);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0:exitcode=99", 1);
    setenv("LC_ALL", "C", 1);
    read_commands(&d);
    set_up(&d);
    make_place(&p, &d, -1);
    if (d.only) {
        int code = show_one(&d, &p);
        clean_up(&d);
        return code;
    }
    count_calls(&d, &p);
    double all = 0;
    for (int i = 0; i < d.n_commands; i++)
        all += faults_of(&d.commands[i]);
    int64_t runs = run_workers(&d, &t);
    for (int i = 0; i < t.n; i++)
        print_finding(&d, &t.findings[i]);
    printf("%lld faults of the %.0f that %d commands can have:", (long long)runs, all, d.n_commands);
    for (int v = 0; v < N_VERDICTS; v++)
        printf(" %lld %s%s", (long long)t.runs[v], verdict_words[v], v + 1 < N_VERDICTS ? "," : "\n");
    clean_up(&d);
    return t.n > 0;
}
