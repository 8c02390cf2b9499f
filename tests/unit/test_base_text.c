#define _GNU_SOURCE /* syscall() */

#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/text.h"

/* Stands in front of the C library's: without /proc, naming a nameless file fails like this. */
static bool proc_is_missing;

int linkat(int fromfd, const char *from, int tofd, const char *to, int flags)
{
    if (!proc_is_missing)
        return (int)syscall(SYS_linkat, fromfd, from, tofd, to, flags);
    errno = ENOENT;
    return -1;
}

struct scratch {
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
};

static int make_scratch(void **state)
{
    static struct scratch s;
    scratch_make(s.dir);
    scratch_path(s.path, s.dir, "out.csv");
    proc_is_missing = false;
    *state = &s;
    return 0;
}

static int remove_scratch(void **state)
{
    scratch_remove(((struct scratch *)*state)->dir);
    return 0;
}

static void assert_holds(const char *path, const char *want)
{
    struct text t = { 0 };
    struct err e = { 0 };
    assert_ok(text_read_file(&t, path, 1 << 20, &e), &e);
    assert_string_equal(text_str(&t), want);
    text_free(&t);
}

static void text_grows_and_stays_terminated(void **state)
{
    struct text t = { 0 };
    struct err e = { 0 };
    (void)state;
    assert_string_equal(text_str(&t), "");
    for (int i = 0; i < 10000; i++)
        text_printf(&t, "%04d,", i);
    assert_int_equal(t.n, 50000);
    assert_int_equal(strlen(t.s), 50000);
    assert_memory_equal(t.s + 49990, "9998,9999,", 10);
    assert_ok(text_check(&t, &e), &e);
    text_free(&t);
    assert_null(t.s);
}

static void adding_nothing_gives_an_empty_text(void **state)
{
    struct text t = { 0 };
    (void)state;
    text_add(&t, NULL, 0);
    assert_string_equal(t.s, "");
    text_puts(&t, "");
    text_add(&t, "a\0b", 3);
    assert_int_equal(t.n, 3);
    assert_memory_equal(t.s, "a\0b", 4);
    text_free(&t);
}

static void clearing_keeps_the_memory(void **state)
{
    struct text t = { 0 };
    (void)state;
    text_puts(&t, "something");
    const char *s = t.s;
    text_clear(&t);
    assert_string_equal(text_str(&t), "");
    text_puts(&t, "else");
    assert_ptr_equal(t.s, s);
    assert_string_equal(text_str(&t), "else");
    text_free(&t);
}

static void too_much_text_is_dropped_and_told(void **state)
{
    struct scratch *s = *state;
    struct text t = { 0 };
    struct err e = { 0 };
    text_puts(&t, "kept");
    text_add(&t, "x", SIZE_MAX - 3);
    text_puts(&t, "dropped");
    assert_string_equal(text_str(&t), "kept");
    assert_fails(text_check(&t, &e), &e, ERR_NOMEM, "out of memory for text");
    assert_fails(text_write_file(&t, s->path, false, &e), &e, ERR_NOMEM, "out of memory for text");
    assert_int_equal(scratch_count(s->dir), 0);
    text_free(&t);
}

static void written_file_reads_back(void **state)
{
    struct scratch *s = *state;
    struct text t = { 0 }, back = { 0 };
    struct err e = { 0 };
    for (int i = 0; i < 300000; i++)
        text_add(&t, &(char){ (char)(i * 7) }, 1);
    assert_ok(text_write_file(&t, s->path, false, &e), &e);
    text_puts(&back, "old content");
    assert_ok(text_read_file(&back, s->path, 300000, &e), &e);
    assert_int_equal(back.n, t.n);
    assert_memory_equal(back.s, t.s, t.n);
    assert_int_equal(scratch_count(s->dir), 1);
    text_free(&back);
    text_free(&t);
}

static void empty_text_makes_an_empty_file(void **state)
{
    struct scratch *s = *state;
    struct text t = { 0 };
    struct err e = { 0 };
    assert_ok(text_write_file(&t, s->path, false, &e), &e);
    assert_holds(s->path, "");
}

/* The three cases of a target on both ways to write: nameless file first, named file beside. */
static void existing_file_is_replaced_only_by_force(void **state)
{
    struct scratch *s = *state;
    for (int way = 0; way < 2; way++) {
        struct text t = { 0 };
        struct err e = { 0 };
        char want[SUPPORT_PATH + 64];
        proc_is_missing = way == 1;
        text_puts(&t, "first");
        assert_ok(text_write_file(&t, s->path, false, &e), &e);
        text_puts(&t, " second");
        snprintf(want, sizeof want, "%s: exists, need -f to overwrite", s->path);
        assert_fails(text_write_file(&t, s->path, false, &e), &e, ERR_USAGE, want);
        assert_holds(s->path, "first");
        assert_ok(text_write_file(&t, s->path, true, &e), &e);
        assert_holds(s->path, "first second");
        assert_int_equal(scratch_count(s->dir), 1);
        assert_int_equal(remove(s->path), 0);
        assert_ok(text_write_file(&t, s->path, true, &e), &e);
        assert_holds(s->path, "first second");
        assert_int_equal(remove(s->path), 0);
        text_free(&t);
    }
}

static void new_file_follows_umask_and_replaced_file_keeps_its_mode(void **state)
{
    struct scratch *s = *state;
    mode_t old = umask(027);
    for (int way = 0; way < 2; way++) {
        struct text t = { 0 };
        struct err e = { 0 };
        struct stat st;
        proc_is_missing = way == 1;
        assert_ok(text_write_file(&t, s->path, false, &e), &e);
        assert_int_equal(stat(s->path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0640);
        assert_int_equal(chmod(s->path, 0604), 0);
        assert_ok(text_write_file(&t, s->path, true, &e), &e);
        assert_int_equal(stat(s->path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0604);
        assert_int_equal(remove(s->path), 0);
    }
    umask(old);
}

static void symbolic_link_stays_and_its_target_is_replaced(void **state)
{
    struct scratch *s = *state;
    char target[SUPPORT_PATH];
    struct text t = { 0 };
    struct err e = { 0 };
    struct stat st;
    scratch_file(target, s->dir, "target", "old", 3);
    assert_int_equal(symlink("target", s->path), 0);
    text_puts(&t, "new");
    assert_ok(text_write_file(&t, s->path, true, &e), &e);
    assert_holds(target, "new");
    assert_int_equal(lstat(s->path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    text_free(&t);
}

/* The target looks absent until its name is taken: the same as a file that appears in between. */
static void link_to_nowhere_is_replaced_only_by_force(void **state)
{
    struct scratch *s = *state;
    for (int way = 0; way < 2; way++) {
        struct text t = { 0 };
        struct err e = { 0 };
        struct stat st;
        proc_is_missing = way == 1;
        text_puts(&t, "new");
        assert_int_equal(symlink("nowhere", s->path), 0);
        assert_fails(text_write_file(&t, s->path, false, &e), &e, ERR_USAGE, "out.csv: exists, need -f");
        assert_int_equal(lstat(s->path, &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(scratch_count(s->dir), 1);
        assert_ok(text_write_file(&t, s->path, true, &e), &e);
        assert_holds(s->path, "new");
        assert_int_equal(scratch_count(s->dir), 1);
        assert_int_equal(remove(s->path), 0);
        text_free(&t);
    }
}

/* A limit on file size stops a write midway, as a full disk does, wherever the tests run. */
static void write_beyond_limit(const char *path, bool force)
{
    struct text t = { 0 };
    struct err e = { 0 };
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = { .rlim_cur = 1000, .rlim_max = 1000 };
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(10);
    for (int i = 0; i < 500; i++)
        text_puts(&t, "0123456789");
    if (text_write_file(&t, path, force, &e) != ERR_IO || e.code != ERR_IO)
        _exit(11);
    text_free(&t);
    _exit(strstr(e.msg, "out.csv: cannot be written: File too large") ? 0 : 12);
}

static void interrupted_write_leaves_nothing_behind(void **state)
{
    struct scratch *s = *state;
    for (int way = 0; way < 4; way++) {
        int status = -1;
        proc_is_missing = way & 1;
        if (way == 2)
            scratch_file(s->path, s->dir, "out.csv", "old", 3);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_beyond_limit(s->path, way >= 2);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(scratch_count(s->dir), way >= 2);
    }
    assert_holds(s->path, "old");
}

static void full_device_is_an_error_with_its_reason(void **state)
{
    struct text t = { 0 };
    struct err e = { 0 };
    (void)state;
    text_puts(&t, "data");
    assert_fails(text_write_file(&t, "/dev/full", false, &e), &e, ERR_IO,
                 "/dev/full: cannot be written: No space left on device");
    assert_ok(text_write_file(&t, "/dev/null", false, &e), &e);
    text_free(&t);
}

static void places_that_take_no_file_are_errors(void **state)
{
    struct scratch *s = *state;
    char path[SUPPORT_PATH], plain[SUPPORT_PATH];
    struct text t = { 0 };
    struct err e = { 0 };
    assert_fails(text_write_file(&t, s->dir, true, &e), &e, ERR_IO, "cannot be written: Is a directory");
    assert_fails(text_write_file(&t, scratch_path(path, s->dir, "none/x"), false, &e), &e, ERR_IO,
                 "/none/x: cannot be written: No such file or directory");
    scratch_file(plain, s->dir, "plain", "", 0);
    assert_fails(text_write_file(&t, scratch_path(path, s->dir, "plain/x"), false, &e), &e, ERR_IO,
                 "/plain/x: cannot be written: Not a directory");
    assert_fails(text_write_file(&t, "", false, &e), &e, ERR_IO, "cannot be written");
}

/* In a child, with standard output sent to `path`; exit status 0 when rc and message are as wanted. */
static int stdout_status(const char *path, const char *name, int want_rc, const char *want)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct text t = { 0 };
        struct err e = { 0 };
        int fd = open(path, O_WRONLY);
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
            _exit(10);
        text_puts(&t, "data\n");
        int rc = text_write_file(&t, name, false, &e);
        _exit(rc != want_rc ? 11 : strstr(e.msg, want) ? 0 : 12);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void standard_output_is_checked_too(void **state)
{
    struct scratch *s = *state;
    const char *full = "standard output: cannot be written: No space left on device";
    char path[SUPPORT_PATH];
    assert_int_equal(stdout_status("/dev/full", NULL, ERR_IO, full), 0);
    assert_int_equal(stdout_status("/dev/full", "-", ERR_IO, full), 0);
    scratch_file(path, s->dir, "stdout", "", 0);
    assert_int_equal(stdout_status(path, "-", 0, ""), 0);
    assert_holds(path, "data\n");
}

static void pipe_is_written_and_read_to_its_end(void **state)
{
    struct scratch *s = *state;
    struct text t = { 0 }, back = { 0 };
    struct err e = { 0 };
    for (int i = 0; i < 100000; i++)
        text_printf(&t, "%d\n", i);
    assert_int_equal(mkfifo(s->path, 0600), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(text_write_file(&t, s->path, false, &e) == 0 ? 0 : 1);
    assert_ok(text_read_file(&back, s->path, 1 << 20, &e), &e);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(text_str(&back), text_str(&t));
    text_free(&back);
    text_free(&t);
}

static void files_that_cannot_be_read_are_told_with_the_reason(void **state)
{
    struct scratch *s = *state;
    char path[SUPPORT_PATH];
    struct text t = { 0 };
    struct err e = { 0 };
    text_puts(&t, "old");
    assert_fails(text_read_file(&t, s->path, 100, &e), &e, ERR_PARSE,
                 "/out.csv:1:1: file is missing, need a readable file");
    assert_string_equal(text_str(&t), "");
    assert_fails(text_read_file(&t, s->dir, 100, &e), &e, ERR_PARSE,
                 ":1:1: file cannot be read (Is a directory), need a readable file");
    scratch_file(s->path, s->dir, "out.csv", "x", 1);
    assert_fails(text_read_file(&t, scratch_path(path, s->dir, "out.csv/x"), 100, &e), &e, ERR_PARSE,
                 "/out.csv/x:1:1: file cannot be read (Not a directory)");
    assert_int_equal(chmod(s->path, 0), 0);
    if (geteuid() != 0) /* root reads everything */
        assert_fails(text_read_file(&t, s->path, 100, &e), &e, ERR_PARSE,
                     "cannot be read (Permission denied)");
    text_free(&t);
}

static void file_larger_than_allowed_is_refused(void **state)
{
    struct scratch *s = *state;
    struct text t = { 0 };
    struct err e = { 0 };
    scratch_file(s->path, s->dir, "out.csv", "0123456789", 10);
    assert_ok(text_read_file(&t, s->path, 10, &e), &e);
    assert_string_equal(text_str(&t), "0123456789");
    assert_fails(text_read_file(&t, s->path, 9, &e), &e, ERR_PARSE,
                 "/out.csv:1:1: file is larger than 9 bytes, need at most that");
    assert_string_equal(text_str(&t), "");
    assert_fails(text_read_file(&t, "/dev/zero", 1 << 20, &e), &e, ERR_PARSE, "larger than 1048576 bytes");
    text_free(&t);
}

static void similar_words_are_found(void **state)
{
    static const char *const words[] = {
        "bw_GBps", "latency_ns", "size", "shape", "pod", "node", "rod", "x"
    };
    static const struct {
        const char *name, *want;
    } cases[] = {
        { "pod", "pod" },         /* itself */
        { "POD", "pod" },         /* wrong case */
        { "opd", "pod" },         /* neighbours swapped */
        { "pd", "pod" },          /* letter missing */
        { "noode", "node" },      /* letter too many */
        { "sod", "pod" },         /* pod and rod are as near: the first */
        { "bw_gbps", "bw_GBps" }, /* case alone */
        { "bw_GBp", "bw_GBps" },
        { "latnecy", NULL },
        { "latency_s", "latency_ns" },
        { "latecny_ms", "latency_ns" }, /* two edits of ten letters */
        { "y", NULL },                  /* another letter is no misspelling */
        { "xy", "x" },
        { "", NULL },
        { "bandwidth", NULL },
        { "shpae", "shape" },
        { "sizes_of", NULL },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *got = text_nearest(cases[i].name, words, COUNT_OF(words));
        if (cases[i].want && got)
            assert_string_equal(got, cases[i].want);
        else
            assert_ptr_equal(got, cases[i].want);
    }
    assert_null(text_nearest("pod", NULL, 0));
}

static void wrong_case_is_nearer_than_a_wrong_letter(void **state)
{
    static const char *const words[] = { "bod", "Pod" };
    (void)state;
    assert_string_equal(text_nearest("pod", words, 2), "Pod");
}

static void endless_words_are_similar_to_none(void **state)
{
    char word[200];
    const char *const words[] = { word, "pod" };
    (void)state;
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(text_nearest(word, words, 2));
    assert_string_equal(text_nearest("pods", words, 2), "pod");
}

/* Vectors of the authors: http://www.isthe.com/chongo/tech/comp/fnv/, test_fnv.c, FNV-1a 64 bit. */
static void hash_is_fnv_1a(void **state)
{
    (void)state;
    assert_true(text_hash(TEXT_HASH_SEED, "", 0) == 0xcbf29ce484222325u);
    assert_true(text_hash(TEXT_HASH_SEED, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(text_hash(TEXT_HASH_SEED, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(text_hash(text_hash(TEXT_HASH_SEED, "foo", 3), "bar", 3) == 0x85944171f73967e8u);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make_scratch, remove_scratch)

static void quotes_of_a_field_are_taken_off(void **state)
{
    char plain[] = "\"a b\",next", doubled[] = "\"a\"\"b\"\"\"", none[] = "\"a\"\"";
    (void)state;
    assert_string_equal(text_unquote(plain), ",next");
    assert_string_equal(plain, "a b");
    assert_string_equal(text_unquote(doubled), "");
    assert_string_equal(doubled, "a\"b\"");
    assert_null(text_unquote(none));
}

static void only_lines_that_are_new_are_added(void **state)
{
    struct text t = { 0 };
    (void)state;
    text_add_new_lines(&t, "one\ntwo\none\n");
    assert_string_equal(text_str(&t), "one\ntwo\n");
    text_add_new_lines(&t, "");
    text_add_new_lines(&t, "tw\ntwo and more\ntwo\n");
    assert_string_equal(text_str(&t), "one\ntwo\ntw\ntwo and more\n");
    text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_of_a_field_are_taken_off),
        cmocka_unit_test(text_grows_and_stays_terminated),
        cmocka_unit_test(adding_nothing_gives_an_empty_text),
        cmocka_unit_test(clearing_keeps_the_memory),
        IN_SCRATCH(too_much_text_is_dropped_and_told),
        IN_SCRATCH(written_file_reads_back),
        IN_SCRATCH(empty_text_makes_an_empty_file),
        IN_SCRATCH(existing_file_is_replaced_only_by_force),
        IN_SCRATCH(new_file_follows_umask_and_replaced_file_keeps_its_mode),
        IN_SCRATCH(symbolic_link_stays_and_its_target_is_replaced),
        IN_SCRATCH(link_to_nowhere_is_replaced_only_by_force),
        IN_SCRATCH(interrupted_write_leaves_nothing_behind),
        cmocka_unit_test(full_device_is_an_error_with_its_reason),
        IN_SCRATCH(places_that_take_no_file_are_errors),
        IN_SCRATCH(standard_output_is_checked_too),
        IN_SCRATCH(pipe_is_written_and_read_to_its_end),
        IN_SCRATCH(files_that_cannot_be_read_are_told_with_the_reason),
        IN_SCRATCH(file_larger_than_allowed_is_refused),
        cmocka_unit_test(similar_words_are_found),
        cmocka_unit_test(wrong_case_is_nearer_than_a_wrong_letter),
        cmocka_unit_test(endless_words_are_similar_to_none),
        cmocka_unit_test(hash_is_fnv_1a),
        cmocka_unit_test(only_lines_that_are_new_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
