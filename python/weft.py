"""weft from Python: split bandwidth, time a step, run a study, and read the rows as dicts.

    import weft
    study = weft.Study("configs/studies/main.yaml", total_GBps=500)
    rows = study.rows(threads=2)
    print(min(row["time_s"] for row in rows))
    print(weft.frame(rows))                        # with pandas

A Study is a file, the name of a study or network that comes with weft, or a word such as "ring:4@50 switch:8@25"; and
keys, as `--set KEY=VALUE` takes them. split(), simulate() and rows() call libweft.so through ctypes; topo(), explain(),
fail(), tornado(), diff() and front() run the program and return its JSON. Numbers are int or float, a missing value is None, and errors carry weft's own text.

The library is taken from $WEFT_LIBRARY, else from beside this installation, else from where the loader finds it; the
program from $WEFT_PROGRAM, likewise. Calls run on a thread of their own: Ctrl-C is noticed while they last, and a
process may fork afterwards (the threads of OpenMP would otherwise be missing in the child).
"""

import csv
import ctypes
import io
import json
import os
import re
import shutil
import subprocess
import sysconfig
import threading

__all__ = ["Error", "Stopped", "Study", "configs", "diff", "frame", "front", "version"]

MISSING, INTEGER, NUMBER, WORD = range(4)
STOPPED = 9
POLL_S = 0.05  # between looks at Ctrl-C and calls of progress
PATIENCE_S = 0.1  # that a run which is to stop is waited for


class Error(Exception):
    """What weft says, in one line; `code` is that of enum weft_code, or the exit code of the program."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


class Stopped(Error):
    """The function `progress` asked for an end."""


class Answer(dict):
    """A row, or the JSON of a command: a dict with the warnings as `notes`. A row also has `units` of its columns, and
    that of a split or simulation `lists`: "dims", "bill" and others of weft.h, each a list of rows."""

    notes = ()
    units = {}
    lists = {}


class Rows(list):
    """Rows of a study as dicts, with `units` of the columns and the warnings as `notes`."""

    notes = ()
    units = {}


# ---- the library ----


class _CError(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 1024)]


_ROW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_longlong)


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("threads", ctypes.c_int),
        ("store", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("row", _ROW),
        ("progress", _PROGRESS),
    ]


_P, _S, _I = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_OUT, _ERR = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_CError)
_CALLS = {
    "version": (_S,),
    "use_data": (None, _S),
    "load": (_I, _OUT, _S, _ERR),
    "set": (_I, _P, _S, _S, _ERR),
    "split": (_I, _OUT, _P, _ERR),
    "simulate": (_I, _OUT, _P, _S, _ERR),
    "run_defaults": (None, ctypes.POINTER(_Options)),
    "run": (_I, _P, ctypes.POINTER(_Options), _ERR),
    "notes": (_S, _P),
    "column": (_S, _P, _I),
    "kind": (_I, _P, _S),
    "unit": (_S, _P, _S),
    "number": (ctypes.c_double, _P, _S),
    "text": (_S, _P, _S),
    "list": (_S, _P, _I),
    "count": (_I, _P, _S),
    "item": (_P, _P, _S, _I),
    "free_study": (None, _P),
    "free_row": (None, _P),
}


def _places(variable, installed, built):
    """Where a file of weft may be: named by the user, installed with this module, built in this source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    if os.environ.get(variable):
        return [os.environ[variable]]
    prefix = os.path.join(here, "..", "..", "..")
    found = [os.path.join(prefix, name) for name in installed]
    found.append(os.path.join(here, "..", "build", "release", built))
    return [os.path.normpath(path) for path in found if os.path.exists(path)]


def configs():
    """The folder of the networks, models, NPUs and studies that come with weft."""
    found = _places("WEFT_DATA", ["share/weft/configs"], os.path.join("..", "..", "configs"))
    if not found:
        raise Error("the configs of weft are not found: install it, or name their folder in WEFT_DATA", 1)
    return found[0]


def _load_library():
    name = "libweft.so.0.2"
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    installed = ["lib/" + name, "lib/" + multiarch + "/" + name]
    path = (_places("WEFT_LIBRARY", installed, name) + [name])[0]
    try:
        library = ctypes.CDLL(path)
        for call, (result, *arguments) in _CALLS.items():
            function = getattr(library, "weft_" + call)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as e:
        raise ImportError("weft: %s (install weft, or name the library in WEFT_LIBRARY)" % e) from None
    return library


_weft = _load_library()
_DATA = os.fsencode(os.environ.get("WEFT_DATA") or "") or None
_weft.weft_use_data(_DATA)


def version():
    """The version of the library at hand."""
    return _weft.weft_version().decode()


def _text(b):
    return None if b is None else b.decode("utf-8", "replace")


def _check(code, error):
    if code:
        raise (Stopped if code == STOPPED else Error)(_text(error.text), code)


# ---- calls on a thread of their own ----

_at_work = set()  # threads that are inside the library
_orphaned = False


def _after_fork():
    global _orphaned
    _orphaned = bool(_at_work)


os.register_at_fork(after_in_child=_after_fork)


class _Work(threading.Thread):
    """A call on a thread of its own. What it raises is raised again by wait()."""

    def __init__(self, call, stop=None):
        super().__init__(daemon=stop is None)
        self.call, self.stop, self.result, self.error, self.done = call, stop, None, None, threading.Event()
        _at_work.add(self)

    def run(self):
        try:
            self.result = self.call()
        except BaseException as e:  # pylint: disable=broad-except
            self.error = e
        finally:
            _at_work.discard(self)
            self.done.set()

    def wait(self, look=None):
        """@param look is called now and then in the thread that waits; what it raises, and Ctrl-C, ends the call."""
        try:
            while not self.done.wait(POLL_S):
                if look:
                    look()
        except BaseException:
            if self.stop:
                self.stop()
                self.done.wait(PATIENCE_S)
            raise
        if self.error:
            raise self.error
        return self.result


def _work(call, stop=None, look=None):
    if _orphaned:
        raise Error("this process was forked while its parent was at work: use the start method spawn", 7)
    work = _Work(call, stop)
    work.start()
    return work.wait(look)


# ---- rows ----


def _columns(row):
    """Names, as bytes and as text."""
    names = []
    while True:
        name = _weft.weft_column(row, len(names))
        if name is None:
            return names
        names.append((name, _text(name)))


def _units(row, columns):
    return {text: _text(_weft.weft_unit(row, name)) for name, text in columns}


def _value(row, name):
    kind = _weft.weft_kind(row, name)
    if kind == INTEGER:
        return int(_weft.weft_number(row, name))
    if kind == NUMBER:
        return _weft.weft_number(row, name)
    return _text(_weft.weft_text(row, name)) if kind == WORD else None


def _answer(row):
    columns = _columns(row)
    answer = Answer((text, _value(row, name)) for name, text in columns)
    answer.units = _units(row, columns)
    return answer


def _lists(row):
    lists = {}
    while True:
        name = _weft.weft_list(row, len(lists))
        if name is None:
            return lists
        lists[_text(name)] = [_answer(_weft.weft_item(row, name, i)) for i in range(_weft.weft_count(row, name))]


_WHOLE = re.compile(r"0|[1-9][0-9]*\Z")
_REAL = re.compile(r"-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?\Z|-?\.[0-9]+([eE][-+]?[0-9]+)?\Z")


def _find_numbers(rows, words):
    """A column of words that are all numbers, such as an axis, becomes numbers, as when a CSV is read."""
    for name in words:
        values = [row[name] for row in rows if row[name] is not None]
        for pattern, number in (_WHOLE, int), (_REAL, float):
            if values and all(pattern.match(value) for value in values):
                for row in rows:
                    row[name] = None if row[name] is None else number(row[name])
                break


class _Run:
    """One call of weft_run(): its callbacks, which keep what is raised in them, as C cannot pass it on."""

    def __init__(self):
        self.rows, self.columns, self.words, self.error = Rows(), None, set(), None
        self.stopped, self.done, self.all = False, 0, 0

    def stop(self):
        self.stopped = True

    def take(self, _, row):
        try:
            if self.columns is None:
                self.columns = _columns(row)
                self.rows.units = _units(row, self.columns)
            values = {}
            for name, text in self.columns:
                value = values[text] = _value(row, name)
                if isinstance(value, str):
                    self.words.add(text)
            self.rows.append(values)
            return self.stopped
        except BaseException as e:  # pylint: disable=broad-except
            self.error = e
            return 1

    def see(self, _, done, of):
        self.done, self.all = done, of
        return self.stopped


# ---- studies ----


def _yaml(value):
    """The value of a key as `--set` takes it: a str is YAML already, and JSON is YAML."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return json.dumps(value, default=lambda x: x.tolist())  # arrays and numbers of numpy


class Study:
    """A study file, a network file or a network as a word, with keys set on it:

    Study("study.yaml", total_GBps=500, vary={"objective": ["time", "perf_per_cost"]},
          **{"network.dims.pod.bw_GBps": 50})
    """

    def __init__(self, path, **keys):
        self.path = os.fspath(path)
        self.keys = {key: _yaml(value) for key, value in keys.items()}
        self.notes = []
        _work(lambda: self._use(lambda study, error: 0))

    def __repr__(self):
        return "weft.Study(%r%s)" % (self.path, "".join(", %s=%r" % x for x in self.keys.items()))

    def _use(self, call):
        """call(study, error) with a study of its own, so that calls do not share one. Returns the warnings."""
        study, error = ctypes.c_void_p(), _CError()
        try:
            _check(_weft.weft_load(ctypes.byref(study), os.fsencode(self.path), ctypes.byref(error)), error)
            for key, value in self.keys.items():
                _check(_weft.weft_set(study, os.fsencode(key), os.fsencode(value), ctypes.byref(error)), error)
            _check(call(study, ctypes.byref(error)), error)
            return _text(_weft.weft_notes(study)).splitlines()
        finally:
            _weft.weft_free_study(study)

    def _point(self, call):
        def work():
            row = ctypes.c_void_p()
            try:
                notes = self._use(lambda study, error: call(ctypes.byref(row), study, error))
                answer = _answer(row)
                answer.notes, answer.lists = notes, _lists(row)
                return answer
            finally:
                _weft.weft_free_row(row)

        answer = _work(work)
        self.notes = answer.notes
        return answer

    def split(self):
        """Split bandwidth over the dimensions, as `weft alloc` does: an Answer."""
        return self._point(_weft.weft_split)

    def simulate(self, model=None):
        """Time a step at the bandwidths of the network, as `weft sim --model MODEL` does: an Answer.

        @param model  "bandwidth", "alpha-beta", "chunk", "flow"; None: the study's.
        """
        name = None if model is None else os.fsencode(model)
        return self._point(lambda row, study, error: _weft.weft_simulate(row, study, name, error))

    def rows(self, threads=1, store=None, progress=None):
        """Run all points of the study, as `weft sweep` does: Rows, the same for any number of threads.

        They wait in memory until all are there. Ctrl-C ends the run within 0.2 s.

        @param store     a file that keeps rows, so that a run that was ended goes on.
        @param progress  progress(done, all) is called a few times a second by the thread that called rows(); if it
                         returns something true, the run ends and Stopped is raised.
        """
        run, options = _Run(), _Options()
        _weft.weft_run_defaults(ctypes.byref(options))
        options.threads = threads
        options.store = None if store is None else os.fsencode(store)
        options.row, options.progress = _ROW(run.take), _PROGRESS(run.see)

        def work():
            try:
                return self._use(lambda study, error: _weft.weft_run(study, ctypes.byref(options), error))
            except Stopped:
                if run.error:
                    raise run.error from None
                raise

        def look():
            if progress and run.all and not run.stopped and progress(run.done, run.all):
                run.stop()

        run.rows.notes = self.notes = _work(work, run.stop, look)
        if progress and run.all:
            progress(run.all, run.all)
        _find_numbers(run.rows, run.words)
        return run.rows

    def _command(self, command, options):
        answer = _program(command, [self.path], options, self.keys)
        self.notes = answer.notes
        return answer

    def topo(self, **options):
        """Size, hops, bisection and bill of the network, as `weft topo --of json` says them. Options are those of the
        command: topo(bill=True)."""
        return self._command("topo", options)

    def explain(self, **options):
        """Where the time of a step goes, as `weft explain` says it."""
        return self._command("explain", options)

    def fail(self, **options):
        """What each kind of single failure does, as `weft fail` says it: fail(slow_link=0.25)."""
        return self._command("fail", options)

    def tornado(self, **options):
        """Uncertain inputs one at a time, as `weft tornado` lists them: tornado(by="time_s,cost_usd")."""
        return self._command("tornado", options)

    def diff(self, other, **options):
        """How another design, a path or a word, differs, as `weft diff` says it; this study's keys are set on both."""
        answer = _program("diff", [self.path, other], options, self.keys)
        self.notes = answer.notes
        return answer


# ---- the program ----


def _find_program():
    found = _places("WEFT_PROGRAM", ["bin/weft"], "weft")
    path = found[0] if found else shutil.which("weft")
    if not path:
        raise Error("the program weft is not found: install it, or name it in WEFT_PROGRAM", 1)
    return path


def _arguments(options):
    """by="time_s", limit=["a <= 1", "b <= 2"], all=True as --by=.. --limit=.. --limit=.. --all"""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(option)
            elif one is not False and one is not None:
                words.append("%s=%s" % (option, one))
    return words


def _program(command, files, options, keys=(), text=None):
    words = [_find_program(), command, "--of=json"] + _arguments(options)
    words += ["--set=%s=%s" % item for item in dict(keys).items()] + ["--"] + [os.fspath(file) for file in files]
    done = subprocess.run(words, input=text, capture_output=True, encoding="utf-8", errors="replace", check=False)
    said = [line.split(": ", 1)[-1] for line in done.stderr.splitlines() if line.startswith("weft %s: " % command)]
    notes = [line[len("warning: ") :] for line in said if line.startswith("warning: ")]
    if done.returncode:
        errors = [line for line in said if not line.startswith("warning: ")]
        raise Error("\n".join(errors) or done.stderr.strip(), done.returncode)
    answer = Answer(json.loads(done.stdout))
    answer.notes = notes
    return answer


def _csv(rows):
    out = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow("" if row[name] is None else row[name] for name in names)
    return out.getvalue()


def front(rows, **options):
    """The Pareto front, as `weft front` finds it: front(rows, by="time_s,nic_GBps", where=["objective=time"]).

    @param rows  what rows() returned, or the path of a CSV or a store.
    """
    if isinstance(rows, (str, os.PathLike)):
        return _program("front", [rows], options)
    return _program("front", ["-"], options, text=_csv(rows))


def diff(a, b, **options):
    """How two studies or networks, each a path or a word, differ, as `weft diff` says it."""
    return _program("diff", [a, b], options)


def frame(rows):
    """Rows as a DataFrame of pandas, with the units of its columns as attrs["units"]."""
    import pandas  # pylint: disable=import-outside-toplevel

    table = pandas.DataFrame(list(rows))
    table.attrs["units"] = dict(getattr(rows, "units", {}))
    return table
