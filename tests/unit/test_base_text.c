/* Texts that grow, files that appear whole or not at all, and the nearest of known words. */
#define _GNU_SOURCE /* syscall() */

#include "base/outfile.h"
#include "base/utf8.h"
#include "tests/unit/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Stands in front of the C library's: without /proc, naming a nameless file fails like this. */
static bool proc_is_missing;

int linkat(int fromfd, const char *from, int tofd, const char *to, int flags)
{
    if (!proc_is_missing)
        return (int)syscall(SYS_linkat, fromfd, from, tofd, to, flags);
    errno = ENOENT;
    return -1;
}

FOLDER_FOR("out.csv")

/* Each case begins with /proc as it is. */
static int begin(void **state)
{
    proc_is_missing = false;
    return make_folder(state);
}

TEST(text_grows_and_stays_terminated)
{
    struct text t = { 0 };
    assert_string_equal(text_str(&t), "");
    for (int i = 0; i < 10000; i++)
        text_printf(&t, "%04d,", i);
    assert_true(t.n == 50000 && strlen(t.s) == 50000);
    assert_memory_equal(t.s + 49990, "9998,9999,", 10);
    OK(text_check(&t, e));
    text_free(&t);
    assert_null(t.s);
}

TEST(adding_nothing_gives_an_empty_text)
{
    KEEP(struct text, t, text_free) = { 0 };
    text_add(&t, NULL, 0);
    assert_string_equal(t.s, "");
    text_puts(&t, "");
    text_add(&t, "a\0b", 3);
    assert_int_equal(t.n, 3);
    assert_memory_equal(t.s, "a\0b", 4);
}

TEST(clearing_keeps_the_memory)
{
    TEXT(t, "something");
    const char *s = t.s;
    text_clear(&t);
    assert_string_equal(text_str(&t), "");
    text_puts(&t, "else");
    assert_ptr_equal(t.s, s);
    assert_string_equal(text_str(&t), "else");
}

TEST_WITH(too_much_text_is_dropped_and_told, begin, remove_folder)
{
    struct folder *s = *state;
    TEXT(t, "kept");
    text_add(&t, "x", SIZE_MAX - 3);
    text_puts(&t, "dropped");
    assert_string_equal(text_str(&t), "kept");
    FAILS(text_check(&t, e), ERR_NOMEM, "out of memory for text");
    FAILS(outfile_write_text(&t, s->path, false, e), ERR_NOMEM, "out of memory for text");
    assert_int_equal(scratch_count(s->dir), 0);
}

TEST_WITH(written_file_reads_back, begin, remove_folder)
{
    struct folder *s = *state;
    KEEP(struct text, t, text_free) = { 0 };
    for (int i = 0; i < 300000; i++)
        text_add(&t, &(char){ (char)(i * 7) }, 1);
    OK(outfile_write_text(&t, s->path, false, e));
    TEXT(back, "old content");
    OK(text_read_file(&back, s->path, 300000, e));
    assert_int_equal(back.n, t.n);
    assert_memory_equal(back.s, t.s, t.n);
    assert_int_equal(scratch_count(s->dir), 1);
}

TEST_WITH(empty_text_makes_an_empty_file, begin, remove_folder)
{
    struct folder *s = *state;
    struct text t = { 0 };
    OK(outfile_write_text(&t, s->path, false, e));
    assert_holds(s->path, "");
}

/* The three cases of a target on both ways to write: nameless file first, named file beside. */
TEST_WITH(existing_file_is_replaced_only_by_force, begin, remove_folder)
{
    struct folder *s = *state;
    for (int way = 0; way < 2; way++) {
        char want[SUPPORT_PATH + 64];
        proc_is_missing = way == 1;
        TEXT(t, "first");
        OK(outfile_write_text(&t, s->path, false, e));
        text_puts(&t, " second");
        snprintf(want, sizeof want, "%s: exists; use -f to overwrite it", s->path);
        FAILS(outfile_write_text(&t, s->path, false, e), ERR_USAGE, want);
        assert_holds(s->path, "first");
        OK(outfile_write_text(&t, s->path, true, e));
        assert_holds(s->path, "first second");
        assert_int_equal(scratch_count(s->dir), 1);
        assert_int_equal(remove(s->path), 0);
        OK(outfile_write_text(&t, s->path, true, e));
        assert_holds(s->path, "first second");
        assert_int_equal(remove(s->path), 0);
    }
}

TEST_WITH(new_file_follows_umask_and_replaced_file_keeps_its_mode, begin, remove_folder)
{
    struct folder *s = *state;
    mode_t old = umask(027);
    for (int way = 0; way < 2; way++) {
        struct text t = { 0 };
        struct stat st;
        proc_is_missing = way == 1;
        OK(outfile_write_text(&t, s->path, false, e));
        assert_int_equal(stat(s->path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0640);
        assert_int_equal(chmod(s->path, 0604), 0);
        OK(outfile_write_text(&t, s->path, true, e));
        assert_int_equal(stat(s->path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0604);
        assert_int_equal(remove(s->path), 0);
    }
    umask(old);
}

TEST_WITH(symbolic_link_stays_and_its_target_is_replaced, begin, remove_folder)
{
    struct folder *s = *state;
    char target[SUPPORT_PATH];
    struct stat st;
    scratch_file(target, s->dir, "target", "old", 3);
    assert_int_equal(symlink("target", s->path), 0);
    TEXT(t, "new");
    OK(outfile_write_text(&t, s->path, true, e));
    assert_holds(target, "new");
    assert_int_equal(lstat(s->path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

/* The file is made where the links lead, each counted from its own folder; once there it needs force. */
TEST_WITH(links_to_nowhere_stay_and_their_target_is_made, begin, remove_folder)
{
    struct folder *s = *state;
    char sub[SUPPORT_PATH], link[SUPPORT_PATH], target[SUPPORT_PATH];
    assert_int_equal(mkdir(scratch_path(sub, s->dir, "sub"), 0777), 0);
    assert_int_equal(symlink("nowhere", scratch_path(link, sub, "link")), 0);
    assert_int_equal(symlink("sub/link", s->path), 0);
    scratch_path(target, sub, "nowhere");
    for (int way = 0; way < 2; way++) {
        struct stat st;
        proc_is_missing = way == 1;
        TEXT(t, "new");
        OK(outfile_write_text(&t, s->path, false, e));
        assert_holds(target, "new");
        assert_int_equal(lstat(s->path, &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(lstat(link, &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(scratch_count(s->dir), 2);
        assert_int_equal(scratch_count(sub), 2);
        FAILS(outfile_write_text(&t, s->path, false, e), ERR_USAGE, "out.csv: exists; use -f");
        assert_int_equal(remove(target), 0);
    }
    assert_int_equal(remove(link), 0);
    assert_int_equal(remove(sub), 0);
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
    if (outfile_write_text(&t, path, force, &e) != ERR_IO || e.code != ERR_IO)
        _exit(11);
    text_free(&t);
    _exit(strstr(e.msg, "out.csv: cannot be written: File too large") ? 0 : 12);
}

TEST_WITH(interrupted_write_leaves_nothing_behind, begin, remove_folder)
{
    struct folder *s = *state;
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

TEST(full_device_is_an_error_with_its_reason)
{
    TEXT(t, "data");
    FAILS(outfile_write_text(&t, "/dev/full", false, e), ERR_IO,
          "/dev/full: cannot be written: No space left on device");
    OK(outfile_write_text(&t, "/dev/null", false, e));
}

TEST_WITH(places_that_take_no_file_are_errors, begin, remove_folder)
{
    struct folder *s = *state;
    char path[SUPPORT_PATH], plain[SUPPORT_PATH];
    struct text t = { 0 };
    FAILS(outfile_write_text(&t, s->dir, true, e), ERR_IO, "cannot be written: Is a directory");
    FAILS(outfile_write_text(&t, scratch_path(path, s->dir, "none/x"), false, e), ERR_IO,
          "/none/x: cannot be written: No such file or directory");
    scratch_file(plain, s->dir, "plain", "", 0);
    FAILS(outfile_write_text(&t, scratch_path(path, s->dir, "plain/x"), false, e), ERR_IO,
          "/plain/x: cannot be written: Not a directory");
    FAILS(outfile_write_text(&t, "", false, e), ERR_IO, "cannot be written");
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
        int rc = outfile_write_text(&t, name, false, &e);
        _exit(rc != want_rc ? 11 : strstr(e.msg, want) ? 0 : 12);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

TEST_WITH(standard_output_is_checked_too, begin, remove_folder)
{
    struct folder *s = *state;
    const char *full = "standard output: cannot be written: No space left on device";
    char path[SUPPORT_PATH];
    assert_int_equal(stdout_status("/dev/full", NULL, ERR_IO, full), 0);
    assert_int_equal(stdout_status("/dev/full", "-", ERR_IO, full), 0);
    scratch_file(path, s->dir, "stdout", "", 0);
    assert_int_equal(stdout_status(path, "-", 0, ""), 0);
    assert_holds(path, "data\n");
}

TEST_WITH(pipe_is_written_and_read_to_its_end, begin, remove_folder)
{
    struct folder *s = *state;
    KEEP(struct text, back, text_free) = { 0 };
    KEEP(struct text, t, text_free) = { 0 };
    for (int i = 0; i < 100000; i++)
        text_printf(&t, "%d\n", i);
    assert_int_equal(mkfifo(s->path, 0600), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(outfile_write_text(&t, s->path, false, e) == 0 ? 0 : 1);
    OK(text_read_file(&back, s->path, 1 << 20, e));
    assert_int_equal(child_status(child), 0);
    assert_string_equal(text_str(&back), text_str(&t));
}

TEST_WITH(files_that_cannot_be_read_are_told_with_the_reason, begin, remove_folder)
{
    struct folder *s = *state;
    char path[SUPPORT_PATH];
    TEXT(t, "old");
    FAILS(text_read_file(&t, s->path, 100, e), ERR_PARSE, "/out.csv: no such file");
    assert_string_equal(text_str(&t), "");
    FAILS(text_read_file(&t, s->dir, 100, e), ERR_PARSE, ": cannot be read (Is a directory)");
    scratch_file(s->path, s->dir, "out.csv", "x", 1);
    FAILS(text_read_file(&t, scratch_path(path, s->dir, "out.csv/x"), 100, e), ERR_PARSE,
          "/out.csv/x: cannot be read (Not a directory)");
    assert_int_equal(chmod(s->path, 0), 0);
    if (geteuid() != 0) /* root reads everything */
        FAILS(text_read_file(&t, s->path, 100, e), ERR_PARSE, "cannot be read (Permission denied)");
}

TEST_WITH(file_larger_than_allowed_is_refused, begin, remove_folder)
{
    struct folder *s = *state;
    KEEP(struct text, t, text_free) = { 0 };
    scratch_file(s->path, s->dir, "out.csv", "0123456789", 10);
    OK(text_read_file(&t, s->path, 10, e));
    assert_string_equal(text_str(&t), "0123456789");
    FAILS(text_read_file(&t, s->path, 9, e), ERR_PARSE, "/out.csv: is larger than 9 bytes, the most allowed");
    assert_string_equal(text_str(&t), "");
    FAILS(text_read_file(&t, "/dev/zero", 1 << 20, e), ERR_PARSE, "larger than 1048576 bytes");
}

TEST(similar_words_are_found)
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
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *got = text_nearest(cases[i].name, words, COUNT_OF(words));
        if (cases[i].want && got)
            assert_string_equal(got, cases[i].want);
        else
            assert_ptr_equal(got, cases[i].want);
    }
    assert_null(text_nearest("pod", NULL, 0));
}

TEST(suggests_what_contains_the_name)
{
    static const char *const words[] = { "h200", "dgx-h100-pod", "hgx-h100", "sim", "time_s", "comm_time_s" };
    static const struct {
        const char *name, *want;
    } cases[] = {
        { "h100", "hgx-h100" }, { "time", "time_s" },      { "simulate", "sim" }, { "h20", "h200" },
        { "tmie_s", "time_s" }, { "dgx", "dgx-h100-pod" }, { "si", "sim" },       { "mi", NULL },
        { "", NULL },           { "gb200-nvl", NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *got = text_suggest(cases[i].name, words, COUNT_OF(words));
        if (cases[i].want && got)
            assert_string_equal(got, cases[i].want);
        else
            assert_ptr_equal(got, cases[i].want);
    }
}

/* Optimal string alignment by its whole matrix: d[i][j] edits for the first i and j letters. */
static size_t edits_by_definition(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b), d[16][16];
    for (size_t i = 0; i <= na; i++)
        for (size_t j = 0; j <= nb; j++) {
            d[i][j] = i ? d[i - 1][j] + 1 : j;
            if (!i || !j)
                continue;
            size_t replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), insert = d[i][j - 1] + 1;
            d[i][j] = replace < d[i][j] ? replace : d[i][j];
            d[i][j] = insert < d[i][j] ? insert : d[i][j];
            bool swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            d[i][j] = swap && d[i - 2][j - 2] + 1 < d[i][j] ? d[i - 2][j - 2] + 1 : d[i][j];
        }
    return d[na][nb];
}

static uint64_t draw(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return *x >> 33;
}

/* Words of three letters, and the same with some letters deleted, replaced or swapped. */
TEST(nearest_is_what_the_definition_says)
{
    uint64_t x = 1;
    int n_similar = 0;
    for (int round = 0; round < 20000; round++) {
        char name[16] = "", word[16];
        for (size_t i = 0, n = 1 + draw(&x) % 15; i < n; i++)
            name[i] = (char)('a' + draw(&x) % 3);
        memcpy(word, name, sizeof word);
        for (uint64_t left = draw(&x) % 7; left > 0 && strlen(word) > 1; left--) {
            size_t at = draw(&x) % (strlen(word) - 1), how = draw(&x) % 3;
            char letter = word[at];
            if (how == 0)
                memmove(word + at, word + at + 1, strlen(word + at));
            else
                word[at] = how == 1 ? (char)('a' + draw(&x) % 3) : word[at + 1];
            if (how == 2)
                word[at + 1] = letter;
        }
        const char *const words[] = { word };
        size_t edits = edits_by_definition(name, word), n = strlen(name), most = n / 3 > 1 ? n / 3 : 1;
        bool similar = edits <= most && (edits == 0 || edits < n || edits < strlen(word));
        assert_true((text_nearest(name, words, 1) != NULL) == similar);
        n_similar += similar;
    }
    assert_in_range(n_similar, 2000, 18000);
}

TEST(wrong_case_is_nearer_than_a_wrong_letter)
{
    static const char *const words[] = { "bod", "Pod" };
    assert_string_equal(text_nearest("pod", words, 2), "Pod");
}

TEST(endless_words_are_similar_to_none)
{
    char word[200];
    const char *const words[] = { word, "pod" };
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(text_nearest(word, words, 2));
    assert_string_equal(text_nearest("pods", words, 2), "pod");
}

/* Vectors of the authors: http://www.isthe.com/chongo/tech/comp/fnv/, test_fnv.c, FNV-1a 64 bit. */
TEST(hash_is_fnv_1a)
{
    assert_true(text_hash(TEXT_HASH_SEED, "", 0) == 0xcbf29ce484222325u);
    assert_true(text_hash(TEXT_HASH_SEED, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(text_hash(TEXT_HASH_SEED, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(text_hash(text_hash(TEXT_HASH_SEED, "foo", 3), "bar", 3) == 0x85944171f73967e8u);
}

TEST(quotes_of_a_field_are_taken_off)
{
    char plain[] = "\"a b\",next", doubled[] = "\"a\"\"b\"\"\"", none[] = "\"a\"\"";
    assert_string_equal(text_unquote(plain), ",next");
    assert_string_equal(plain, "a b");
    assert_string_equal(text_unquote(doubled), "");
    assert_string_equal(doubled, "a\"b\"");
    assert_null(text_unquote(none));
}

TEST(only_lines_that_are_new_are_added)
{
    KEEP(struct text, t, text_free) = { 0 };
    text_add_new_lines(&t, "one\ntwo\none\n");
    assert_string_equal(text_str(&t), "one\ntwo\n");
    text_add_new_lines(&t, "");
    text_add_new_lines(&t, "tw\ntwo and more\ntwo\n");
    assert_string_equal(text_str(&t), "one\ntwo\ntw\ntwo and more\n");
}

/* Unicode names them "Cc", "Bidi_Control" and "Zl", "Zp"; the rest is shown. */
TEST(characters_that_a_terminal_obeys_are_not_shown)
{
    static const char *const hidden[] = { "\x01",         "\x1b",         "\x7f",         "\xc2\x80",
                                          "\xc2\x9f",     "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f",
                                          "\xe2\x80\xa8", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6",
                                          "\xe2\x81\xa9", "\x80",         "\xff",         "\xc0\xaf",
                                          "\xed\xa0\x80" };
    static const char *const shown[] = { " ",
                                         "~",
                                         "\xc2\xa0",
                                         "\xd8\x9b",
                                         "\xe2\x80\x8d",
                                         "\xe2\x80\xaf",
                                         "\xe2\x81\xa5",
                                         "\xe2\x81\xaa",
                                         "\xe4\xb8\xad",
                                         "\xf0\x9f\x98\x80" };
    for (size_t i = 0; i < COUNT_OF(hidden); i++)
        assert_int_equal(utf8_shown(hidden[i]), 0);
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        assert_int_equal(utf8_shown(shown[i]), strlen(shown[i]));

    KEEP(struct text, t, text_free) = { 0 };
    text_puts(&t, "a\x1b[31m\n\xe2\x80\xae\tb\xff");
    OK(text_show(&t, e));
    assert_string_equal(text_str(&t), "a?[31m\n?\tb?");
    text_clear(&t);
    text_add_shown(&t, "a\nb", 3, "");
    assert_string_equal(text_str(&t), "a?b");
}

TEST(formulas_are_told_from_numbers_and_words)
{
    static const char *const formulas[] = { "=1+1", "+a", "-", "-x", "@sum", "\tx", "\rx", "'=1", "''-x" };
    static const char *const others[] = { "", "a", "1", "-5", "+1e3", "-inf", "'", "'a", "a=b", " =1" };
    for (size_t i = 0; i < COUNT_OF(formulas); i++)
        assert_true(text_is_formula(formulas[i]));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (strcmp(others[i], "-inf") != 0) /* a word: numbers of files are finite */
            assert_false(text_is_formula(others[i]));
    char guarded[] = "'=1", quoted[] = "'a", number[] = "'-5";
    assert_string_equal(text_unguard(guarded), "=1");
    assert_string_equal(text_unguard(quoted), "'a");
    assert_string_equal(text_unguard(number), "'-5");
}

TEST(pieces_of_a_list_end_at_its_separators_and_at_its_end)
{
    static const char list[] = "ab\n\nc";
    const char *rest = list, *none = NULL;
    size_t n;
    assert_ptr_equal(text_next(&rest, '\n', &n), list);
    assert_int_equal(n, 2);
    assert_ptr_equal(text_next(&rest, '\n', &n), list + 3);
    assert_int_equal(n, 0);
    assert_ptr_equal(text_next(&rest, '\n', &n), list + 4);
    assert_int_equal(n, 1);
    assert_null(text_next(&rest, '\n', &n));
    assert_null(text_next(&none, '\n', &n));
}
