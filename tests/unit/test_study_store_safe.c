/* What a store does when it is killed, when the disk is full, when the file is something else. */
#include "tests/unit/folder.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

KEEPS(struct store, store_close)

FOLDER_FOR("rows.db")

/* A disk takes tens of milliseconds to be sure, and there are hundreds of stores here. */
static int begin(void **state)
{
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    return make_folder(state);
}

enum { UNITS = 500 };

static int open_for(struct store **out, const char *path, const struct store_head *head, struct spans *done,
                    struct err *e)
{
    KEEP(struct table, columns, table_free) = { 0 };
    struct sweep_counts counts;
    stored_columns(&columns);
    return stored_open(out, path, head, &columns, done, &counts, e);
}

/* Units that are not in the store yet, some at a time, in an order of their own, until none is left. */
static int run_sweep(const char *path, uint32_t seed, struct err *e)
{
    const struct store_head head = stored_head(UNITS);
    KEEP(struct store *, s, store_close_at);
    KEEP(struct spans, done, spans_free);
    KEEP(struct table, rows, table_free) = { 0 };
    int rc = open_for(&s, path, &head, &done, e);
    stored_columns(&rows);
    for (uint32_t x = seed; !rc && spans_count(&done, UNITS) < UNITS;) {
        x = x * 1664525 + 1013904223;
        struct span gap = spans_gap(&done, (int64_t)(x >> 8) % UNITS, UNITS, 1 + x % 7);
        gap = gap.n ? gap : spans_gap(&done, 0, UNITS, 5);
        table_clear(&rows);
        for (int64_t u = gap.first; u < gap.first + gap.n; u++)
            stored_put_unit(&rows, u, UNITS);
        rc = store_put(s, STORE_RESULTS, &rows, e);
        if (!rc)
            rc = spans_add(&done, gap.first, gap.n, e);
        const struct sweep_counts counts = { .seen = 10 * spans_count(&done, UNITS) };
        if (!rc && x % 3 == 0)
            rc = store_commit(s, &done, &counts, e);
        if (!rc && spans_count(&done, UNITS) == UNITS)
            rc = store_commit(s, &done, &counts, e);
    }
    return rc;
}

/* Every unit that the store says is done has its ten rows, as they should be, and no other has any. */
static int64_t assert_whole(const char *path)
{
    const struct store_head head = stored_head(UNITS);
    struct store *s;
    KEEP(struct spans, done, spans_free);
    KEEP(struct table, got, table_free);
    KEEP(struct table, want, table_free) = { 0 };
    MUST(open_for(&s, path, &head, &done, e));
    assert_int_equal(store_counts_of(s).seen, 10 * spans_count(&done, UNITS));
    stored_columns(&want);
    for (int64_t point = 0; point < 10 * UNITS; point++)
        if (spans_have(&done, point % UNITS))
            stored_put(&want, point, 0, 6, true);
    stored_read(&got, s, 1000);
    assert_same_rows(&got, &want);
    store_close(s);
    return done.n ? spans_count(&done, UNITS) : 0;
}

static void kill_after(pid_t child, long ns)
{
    const struct timespec pause = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST_WITH(a_hundred_kills_lose_nothing_that_was_committed, begin, remove_folder)
{
    struct folder *f = *state;
    int64_t before = 0, on_the_way = 0;
    uint32_t x = 7;
    /* How long the sweeps live at most: fitted to the machine, so that a kill finds them on their way. */
    double most_ns = 12e6;
    for (int k = 0; k < 100 || (on_the_way == 0 && k < 1000); k++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit(-run_sweep(f->path, x, e));
        }
        x = x * 1664525 + 1013904223;
        kill_after(child, 300000 + (long)((x >> 8) / 16777216.0 * most_ns));
        if (k % 10 != 9)
            continue;
        int64_t n = assert_whole(f->path);
        assert_true(n >= before);
        on_the_way += n > 0 && n < UNITS;
        before = n == UNITS ? 0 : n;
        most_ns = n == 0 ? fmin(2 * most_ns, 1e10) : n == UNITS ? most_ns / 2 : most_ns;
        if (n == UNITS)
            assert_int_equal(remove(f->path), 0);
    }
    assert_true(on_the_way > 0); /* else nothing was interrupted */
    OK(run_sweep(f->path, 1, e));
    assert_int_equal(assert_whole(f->path), UNITS);
}

/* ---- a full disk ---- */

static void assert_full(const char *path, bool limit)
{
    struct err e = { 0 };
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit most = { .rlim_cur = 400000, .rlim_max = 400000 };
        signal(SIGXFSZ, SIG_IGN);
        if (limit && setrlimit(RLIMIT_FSIZE, &most) != 0)
            _exit(10);
        int rc = run_sweep(path, 3, &e);
        bool said = strstr(e.msg, "rows.db: disk is") && strstr(e.msg, "full");
        if (rc != ERR_IO || !said)
            fprintf(stderr, "%d: %s\n", rc, e.msg);
        _exit(rc == ERR_IO && said ? 0 : 11);
    }
    assert_int_equal(child_status(child), 0);
}

TEST_WITH(a_limit_on_file_size_leaves_the_last_commit, begin, remove_folder)
{
    struct folder *f = *state;
    assert_full(f->path, true);
    int64_t n = assert_whole(f->path);
    assert_in_range(n, 1, UNITS - 1);
    OK(run_sweep(f->path, 5, e)); /* there is room again */
    assert_int_equal(assert_whole(f->path), UNITS);
}

TEST_WITH(a_full_disk_leaves_the_last_commit, begin, remove_folder)
{
    struct folder *f = *state;
    char path[SUPPORT_PATH];
    if (mount("weft", f->dir, "tmpfs", 0, "size=1m") != 0)
        skip(); /* not root, or a container without mounts */
    scratch_path(path, f->dir, "rows.db");
    assert_full(path, false);
    int64_t n = assert_whole(path);
    int more = mount("weft", f->dir, "tmpfs", MS_REMOUNT, "size=60m");
    int rc = more ? 0 : run_sweep(path, 5, e);
    int64_t all = more ? UNITS : assert_whole(path);
    assert_int_equal(umount2(f->dir, MNT_DETACH), 0);
    assert_in_range(n, 1, UNITS - 1);
    OK(rc);
    assert_int_equal(all, UNITS);
}

/* ---- other files ---- */

static void read_file(struct text *t, const char *path)
{
    MUST(text_read_file(t, path, 1 << 26, e));
}

/* Refused by writer and reader (where `reads`), with the same text, and nothing of the file is changed. */
static void assert_refused(const char *path, bool reads, const char *want)
{
    const struct store_head head = stored_head(UNITS);
    KEEP(struct text, before, text_free) = { 0 };
    KEEP(struct text, after, text_free) = { 0 };
    struct store *s;
    struct spans done;
    struct err e = { 0 };
    read_file(&before, path);
    assert_fails(open_for(&s, path, &head, &done, &e), &e, ERR_PARSE, want);
    assert_null(s);
    assert_has(e.msg, "rows.db: ");

    if (reads) {
        assert_fails(store_read(&s, path, &e), &e, ERR_PARSE, want);
        assert_null(s);
    }
    read_file(&after, path);
    assert_int_equal(before.n, after.n);
    assert_memory_equal(before.s, after.s, before.n);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST_WITH(files_that_are_no_store_are_refused_and_left_alone, begin, remove_folder)
{
    struct folder *f = *state;
    char text[] = "point,time_s\n0,1\n";
    bool is;
    scratch_file(f->path, f->dir, "rows.db", text, sizeof text - 1);
    OK(store_is(&is, f->path, e));
    assert_false(is);
    assert_refused(f->path, true, "is not a store written by weft sweep --store");
    assert_int_equal(remove(f->path), 0);
    run_sql(f->path, "CREATE TABLE songs(name)");
    OK(store_is(&is, f->path, e));
    assert_true(is);
    assert_refused(f->path, true, "is a database of another program");
    assert_int_equal(remove(f->path), 0);
    run_sql(f->path, "PRAGMA application_id = 42");
    assert_refused(f->path, true, "is a database of another program");
}

TEST_WITH(stores_of_other_sweeps_are_refused_and_left_alone, begin, remove_folder)
{
    struct folder *f = *state;
    struct store_head heads[] = { stored_head(UNITS), stored_head(UNITS), stored_head(UNITS),
                                  stored_head(UNITS) };
    static const char *const want[] = { "is of a study with hash 00000000deadbeef, expected 0123456789abcdef",
                                        "is of weft 1.2.2, expected 1.2.3",
                                        "is of 5000 points in 3 units, expected 5000 in 500",
                                        "is shard 1 of 2, expected shard 1 of 1" };
    heads[0].study_hash = 0xdeadbeef;
    heads[1].version = "1.2.2";
    heads[2].n_units = 3;
    heads[3].n_shards = 2;
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        struct store *s;
        struct spans done;
        OK(open_for(&s, f->path, &heads[i], &done, e));
        store_close(s);
        assert_refused(f->path, false, want[i]);
        OK(store_read(&s, f->path, e)); /* whoever reads it may */
        store_close(s);
        assert_int_equal(remove(f->path), 0);
    }
}

TEST_WITH(a_store_with_other_columns_is_refused_and_left_alone, begin, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(UNITS);
    KEEP(struct table, columns, table_free) = { 0 };
    const struct store_table_form form = { "points", &columns, 1, NULL };
    struct store *s;
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    table_column(&columns, "point", TABLE_COUNT);
    OK(store_open(&s, f->path, &head, &(struct store_form){ &form, 1 }, &done, &counts, e));
    store_close(s);
    assert_refused(f->path, false, "has 1 columns, expected the ");
}

TEST_WITH(damaged_stores_are_refused_and_left_alone, begin, remove_folder)
{
    struct folder *f = *state;
    static const struct {
        const char *sql, *want;
    } cases[] = {
        { "PRAGMA user_version = 5", "has tables of version 5, expected version 3 or 4" },
        { "PRAGMA user_version = 1", "was written by an earlier weft, without checksums" },
        { "PRAGMA user_version = 4", "is damaged" }, /* its head names no kind */
        { "DELETE FROM weft WHERE key = 'study'", "is damaged" },
        { "INSERT INTO done VALUES(-5, 3)", "is damaged" },
        { "INSERT INTO texts VALUES(77, 'x')", "is damaged: table texts has 1 rows, expected 0" },
        { "UPDATE columns SET kind = 'complex' WHERE id = 3", "is damaged" },
        { "DELETE FROM columns WHERE name = 'point'", "is damaged" },
        { "DELETE FROM columns WHERE name = 'gap'", "is damaged" },
        { "UPDATE weft SET value = 3 WHERE key = 'seen'",
          "is damaged: rows of table weft do not have their" },
        { "DELETE FROM checks WHERE name = 'done'", "is damaged" },
    };
    const struct store_head head = stored_head(UNITS);
    struct store *s;
    struct spans done;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        OK(open_for(&s, f->path, &head, &done, e));
        store_close(s);
        run_sql(f->path, cases[i].sql);
        assert_refused(f->path, true, cases[i].want);
        assert_int_equal(remove(f->path), 0);
    }
    /* Cut off at all kinds of places: an error, or a store that is whole (only the end is unused). */
    OK(run_sweep(f->path, 1, e));
    struct stat st;
    assert_int_equal(stat(f->path, &st), 0);
    for (int k = 1; k < 20; k++) {
        assert_int_equal(truncate(f->path, st.st_size * (20 - k) / 20), 0);
        assert_refused(f->path, true, "is damaged");
    }
    assert_int_equal(truncate(f->path, 300), 0);
    assert_refused(f->path, true, "rows.db: is ");
}

TEST_WITH(places_without_a_file_are_errors, begin, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(UNITS);
    char path[SUPPORT_PATH];
    KEEP(struct store *, s, store_close_at);
    struct spans done;
    FAILS(open_for(&s, f->dir, &head, &done, e), ERR_PARSE, ": is a folder, not a file");
    FAILS(store_read(&s, f->dir, e), ERR_PARSE, ": is a folder, not a file");
    FAILS(open_for(&s, "/dev/null", &head, &done, e), ERR_PARSE, "is a device or pipe, not a file");
    FAILS(open_for(&s, "", &head, &done, e), ERR_PARSE, "name of the store is empty");
    scratch_path(path, f->dir, "none/rows.db");
    FAILS(open_for(&s, path, &head, &done, e), ERR_PARSE,
          "cannot be opened (No such file or directory); file and folder must both be writable");
    FAILS(store_read(&s, path, e), ERR_PARSE, "rows.db: no such store");
    const char *none[] = { path, f->dir };
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        bool is = true;
        OK(store_is(&is, none[i], e));
        assert_false(is);
    }
    bool is;
    FAILS(store_is(&is, "/proc/self/mem", e), ERR_IO, "/proc/self/mem: cannot be read (Input/output error)");
    scratch_file(path, f->dir, "rows.db", "", 0);
    FAILS(store_read(&s, path, e), ERR_PARSE, "rows.db: is empty, not a store");
    OK(open_for(&s, path, &head, &done, e)); /* as mktemp makes them */
}

/* Of a file without a name nothing is left when it is closed. */
TEST_WITH(a_store_that_is_deleted_or_replaced_takes_no_more_rows, begin, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(UNITS);
    for (int replace = 0; replace < 2; replace++) {
        KEEP(struct store *, s, store_close_at);
        KEEP(struct spans, done, spans_free);
        bool apart;
        char path[SUPPORT_PATH];
        OK(open_for(&s, f->path, &head, &done, e));
        OK(spans_add(&done, 0, 1, e));
        assert_int_equal(remove(f->path), 0);
        if (replace)
            scratch_file(path, f->dir, "rows.db", "", 0);
        FAILS(store_commit(s, &done, &(struct sweep_counts){ 0 }, e), ERR_IO,
              "rows.db: was deleted, moved or replaced while it was being written");
        FAILS(store_fold(&apart, s, e), ERR_IO, "rows.db: was deleted");
        remove(f->path);
    }
}

TEST_WITH(a_reader_keeps_the_log_beside_a_store, begin, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(UNITS);
    KEEP(struct store *, s, store_close_at);
    KEEP(struct spans, done, spans_free);
    struct store *reader;
    bool apart;
    OK(open_for(&s, f->path, &head, &done, e));
    OK(store_read(&reader, f->path, e));
    OK(store_fold(&apart, s, e));
    assert_true(apart);
    store_close(reader);
    OK(store_fold(&apart, s, e));
    assert_false(apart);
}

static int fail_from; /* of the reads to come */

static ssize_t read_until(int fd, void *buf, size_t n, off_t at)
{
    if (--fail_from >= 0)
        return pread(fd, buf, n, at);
    errno = EIO;
    return -1;
}

static void set_read(sqlite3_syscall_ptr call)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "pread", call);
    vfs->xSetSystemCall(vfs, "pread64", call);
}

/* Whichever read of a store fails: a failure of the machine, not of the input. */
TEST_WITH(a_disk_that_fails_is_no_fault_of_a_store, begin, remove_folder)
{
    struct folder *f = *state;
    int rc = -1, n = 0;
    OK(run_sweep(f->path, 1, e));
    for (int from = 0; rc; from = from < 20 ? from + 1 : from + from / 2) {
        struct store *s = NULL;
        fail_from = from;
        set_read((sqlite3_syscall_ptr)read_until);
        rc = store_read(&s, f->path, e);
        set_read(NULL);
        store_close(s);
        if (rc && (rc != ERR_IO || !strstr(e->msg, "rows.db: ")))
            fail_msg("read %d: %d, %s", from, rc, e->msg);
        n += rc != 0;
        *e = (struct err){ 0 };
    }
    assert_true(n > 10);
}

static int open_no_log(const char *path, int flags, int mode)
{
    size_t n = strlen(path);
    if (n < 4 || strcmp(path + n - 4, "-wal") != 0)
        return open(path, flags | O_CLOEXEC, mode);
    errno = flags & O_CREAT ? ENOSPC : ENOENT;
    return -1;
}

/* Opening to read what could not be made, as SQLite tries next, finds no file: that is not what is wrong. */
TEST_WITH(a_log_that_cannot_be_made_blames_the_disk, begin, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(UNITS);
    KEEP(struct store *, s, store_close_at);
    struct spans done;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    assert_int_equal(vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_no_log), SQLITE_OK);
    FAILS(open_for(&s, f->path, &head, &done, e), ERR_IO,
          "its log cannot be made beside it; is the disk full");
    vfs->xSetSystemCall(vfs, "open", NULL);
    OK(open_for(&s, f->path, &head, &done, e));
}

/* As somebody who may not write there: a new store is refused, one that is there can be read. */
TEST_WITH(a_folder_that_is_read_only_is_an_error, begin, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(UNITS);
    char path[SUPPORT_PATH];
    struct store *s;
    struct spans done;
    OK(run_sweep(f->path, 1, e));
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(chmod(f->dir, 0555), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(10);
        scratch_path(path, f->dir, "new.db");
        if (open_for(&s, path, &head, &done, e) != ERR_PARSE ||
            !strstr(e->msg,
                    "new.db: cannot be opened (Permission denied); file and folder must both be writable"))
            _exit(1);
        if (open_for(&s, f->path, &head, &done, e) != ERR_PARSE || !strstr(e->msg, "(Permission denied)"))
            _exit(2);
        _exit(store_read(&s, f->path, e) ? 3 : 0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_int_equal(status, 0);
}
