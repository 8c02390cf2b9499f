"""python/weft.py as its users meet it; run by tests/python.sh, which sets where module, library and program are."""
import contextlib
import csv
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import weft

STUDIES = "configs/studies/"
MAIN = STUDIES + "main.yaml"
SPLIT = STUDIES + "libra/gpt3-4d.yaml"
OWNED = STUDIES + "llama3-owned.yaml"
# More points than are run while a test waits.
LONG = {"total_GBps": "{ from: 100, to: 1000, step: 0.02 }", "objective": ["time", "perf_per_cost"]}
PROMPT_S = 0.2
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="b" for="edge" attr.name="bw_GBps" attr.type="double"/><key id="l" for="edge" attr.name="lat_ns" attr.type="double"/>
<key id="c" for="edge" attr.name="class" attr.type="string"/><key id="k" for="node" attr.name="kind" attr.type="string"/>
<graph edgedefault="undirected"><node id="n0"><data key="k">npu</data></node><node id="n1"><data key="k">npu</data></node>
<edge source="n0" target="n1"><data key="b">50</data><data key="l">100</data><data key="c">near</data></edge></graph></graphml>
"""


def program(*words):
    return subprocess.run([os.environ["WEFT_PROGRAM"], *words], capture_output=True, encoding="utf-8", check=True).stdout


def long_study():
    vary = "{ %s }" % ", ".join("%s: %s" % (k, v if isinstance(v, str) else json.dumps(v)) for k, v in LONG.items())
    return weft.Study(SPLIT, vary=vary)


def run_in_child(threads, answer):
    """What a forked child says of a run: the number of rows, or the error."""
    try:
        answer.put(len(weft.Study(MAIN).rows(threads=threads)))
    except weft.Error as e:
        answer.put(str(e))


def forked(threads):
    """Asks a child, which is ended if it hangs."""
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()
    child = context.Process(target=run_in_child, args=(threads, answer))
    child.start()
    child.join(30)
    hangs = child.is_alive()
    if hangs:
        child.kill()
        child.join()
    return "hangs" if hangs else answer.get()


class Values(unittest.TestCase):
    def test_every_cell_of_the_main_study_is_that_of_the_csv(self):
        text = program("sweep", MAIN, "--of", "csv")
        want = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
        got = weft.Study(MAIN).rows(threads=2)
        self.assertEqual(len(got), len(want))
        cells = 0
        for a, b in zip(got, want):
            self.assertEqual(list(a), list(b))
            for name, cell in b.items():
                value = a[name]
                same = value == cell if isinstance(value, str) else value is None if cell == "" else value == float(cell)
                self.assertTrue(same, "%s: %r and %r" % (name, value, cell))
                cells += 1
        self.assertEqual(cells, 240 * 32)
        self.assertIs(type(got[0]["point"]), int)
        self.assertIs(type(got[0]["time_s"]), float)
        self.assertIsNone(got[0]["bw3_GBps"])
        self.assertEqual((got.units["time_s"], got.units["bw1_GBps"], got.units["status"]), ("s", "GB/s", ""))

    def test_an_axis_of_numbers_comes_as_numbers(self):
        rows = weft.Study("switch:4@100 switch:8@25", workload="configs/workloads/gpt3.yaml", split="given",
                          vary={"network.dims.dim2.bw_GBps": [25, 50]}).rows()
        self.assertEqual([row["network.dims.dim2.bw_GBps"] for row in rows], [25, 50])

    def test_a_split_is_that_of_the_program(self):
        row = weft.Study(SPLIT, total_GBps=500).split()
        said = json.loads(program("alloc", SPLIT, "--set", "total_GBps=500", "--of", "json"))
        self.assertEqual([dim["bw_GBps"] for dim in row.lists["dims"]], said["bw_GBps"])
        self.assertEqual([row["bw%d_GBps" % i] for i in (1, 2, 3, 4)], said["bw_GBps"])
        self.assertEqual(row.lists["dims"][0]["size"], 4)
        self.assertEqual(row.lists["dims"][0].units["busy_s"], "s")

    def test_a_simulated_step_and_the_warnings(self):
        study = weft.Study("switch:4@100 switch:8@25", workload="configs/workloads/gpt3.yaml", seed=3)
        slow, fast = study.simulate(), study.simulate("bandwidth")
        self.assertGreaterEqual(slow["time_s"], fast["time_s"])
        self.assertTrue(any("seed" in note for note in fast.notes), fast.notes)
        self.assertEqual(study.notes, fast.notes)

    def test_files_that_come_with_weft_by_name(self):
        study = weft.Study("dgx-h100-pod", workload={"model": "llama3-8b", "parallel": {"batch": 256, "tp": 8, "zero": 1}})
        self.assertEqual(study.simulate()["time_s"], study.explain()["time_s"])

    def test_the_program_answers_in_json(self):
        study = weft.Study(OWNED)
        self.assertEqual(study.topo()["npus"], 16384)
        self.assertEqual(study.explain()["time_s"], study.fail()["step_s"])
        self.assertEqual(study.fail(slow_link=0.25)["weft"]["command"].count("--slow-link 0.25"), 1)
        self.assertTrue(study.tornado(by="time_s")["inputs"])
        self.assertIn("weft", weft.diff("ring:4@50", "ring:4@25"))

    def test_a_front_of_rows_in_memory_is_that_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "main.csv")
            program("sweep", MAIN, "-o", path)
            of_file = weft.front(path, by="time_s,cost_usd", where=["objective=time"])["rows"]
        of_rows = weft.front(weft.Study(MAIN).rows(), by="time_s,cost_usd", where=["objective=time"])["rows"]
        self.assertEqual([row["point"] for row in of_rows], [row["point"] for row in of_file])
        self.assertGreater(len(of_rows), 2)

    def test_a_store_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "rows.db")
            first = weft.Study(MAIN).rows(store=store)
            self.assertEqual(weft.Study(MAIN).rows(store=store), first)
            with self.assertRaisesRegex(weft.Error, "is of a study with hash"):
                weft.Study(MAIN, total_GBps=700).rows(store=store)

    def test_a_frame(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas")
        table = weft.frame(weft.Study(MAIN).rows())
        self.assertIsInstance(table, pandas.DataFrame)
        self.assertEqual(table.shape, (240, 32))
        self.assertEqual(table["time_s"].dtype, float)
        self.assertEqual(table.attrs["units"]["cost_usd"], "USD")


class Notebook(unittest.TestCase):
    def test_its_cells_run_in_order(self):
        with open("examples/designs.ipynb", encoding="utf-8") as file:
            cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
        self.assertFalse(any(cell["outputs"] or cell["execution_count"] for cell in cells))
        names, said = {}, io.StringIO()
        with contextlib.redirect_stdout(said):
            for cell in cells:
                exec("".join(cell["source"]), names)  # pylint: disable=exec-used
        self.assertIn("240 designs", said.getvalue())
        self.assertRegex(said.getvalue(), "200 GB/s: [0-9.]+ s\n$")


class Errors(unittest.TestCase):
    def test_they_carry_the_text_of_the_library(self):
        with self.assertRaisesRegex(weft.Error, r"^nothing\.yaml: no such file") as caught:
            weft.Study("nothing.yaml")
        self.assertEqual(caught.exception.code, 3)
        with self.assertRaisesRegex(weft.Error, "total_GBps is -1"):
            weft.Study(SPLIT, total_GBps=-1).split()
        with self.assertRaisesRegex(weft.Error, "threads is 0"):
            weft.Study(MAIN).rows(threads=0)
        # What a program warns of before it fails is not the error.
        with self.assertRaisesRegex(weft.Error, "^[^\n]*does not fit[^\n]*$"):
            weft.Study("dgx-h100-pod", workload={"model": "llama3-405b", "parallel": {"batch": 256}}).explain()
        with self.assertRaisesRegex(weft.Error, "^nothing.yaml: no such file$"):
            weft.diff("nothing.yaml", "ring:4@50")

    def test_what_progress_raises_is_raised(self):
        def progress(done, of):
            raise ValueError("%d of %d" % (done, of))

        with self.assertRaisesRegex(ValueError, r"\d+ of \d+"):
            long_study().rows(progress=progress)

    def test_progress_stops_a_run(self):
        seen = []
        with self.assertRaises(weft.Stopped):
            long_study().rows(progress=lambda done, of: seen.append((done, of, threading.current_thread())) or True)
        self.assertEqual(len(seen), 1)
        self.assertIs(seen[0][2], threading.current_thread())
        self.assertLess(seen[0][0], seen[0][1])

    def test_memory_that_runs_out_in_a_callback_is_raised(self):
        whole, weft._units = weft._units, lambda row, columns: [][1]
        try:
            with self.assertRaises(IndexError):
                weft.Study(MAIN).rows()
        finally:
            weft._units = whole


class Process(unittest.TestCase):
    def stop_time(self, **options):
        """From Ctrl-C to its exception; a machine with other work may be late, so the best of three."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        best = float("inf")
        for _ in range(3):
            sent = []

            def interrupt():
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)

            timer = threading.Timer(0.4, interrupt)
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                long_study().rows(**options)
            best = min(best, time.monotonic() - sent[0])
            if best < PROMPT_S:
                break
        return best

    def test_ctrl_c_stops_a_run(self):
        self.assertLess(self.stop_time(), PROMPT_S)

    def test_ctrl_c_stops_a_run_on_threads_with_progress(self):
        self.assertLess(self.stop_time(threads=2, progress=lambda done, of: None), PROMPT_S)

    def test_a_fork_after_a_run_on_threads_runs(self):
        self.assertEqual(len(weft.Study(MAIN).rows(threads=2)), 240)
        weft.Study(SPLIT, total_GBps=500).split()
        self.assertEqual(forked(1), 240)
        self.assertEqual(forked(2), 240)

    def test_a_fork_during_a_run_is_refused(self):
        said = []

        def progress(done, of):
            said.append(forked(2))
            return True

        with self.assertRaises(weft.Stopped):
            long_study().rows(threads=2, progress=progress)
        self.assertRegex(said[0], "forked while its parent was at work: use the start method spawn")
        self.assertEqual(forked(2), 240)

    def test_studies_in_threads(self):
        want, got = weft.Study(MAIN).rows(), []
        study = weft.Study(MAIN)
        threads = [threading.Thread(target=lambda: got.append(study.rows(threads=2))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [want] * 3)

    def test_igraph_in_the_same_process(self):
        try:
            import igraph
        except ImportError:
            self.skipTest("no python3-igraph")
        self.assertEqual(len(weft.Study(MAIN).rows(threads=2)), 240)
        weft.Study("configs/networks/graphs/" + sorted(os.listdir("configs/networks/graphs"))[0]).topo()
        self.assertEqual(igraph.Graph.Ring(10).diameter(), 5)
        with self.assertRaises(igraph.InternalError):
            igraph.Graph.Ring(3).add_edges([(0, 99)])

    def test_lxml_in_the_same_process(self):
        try:
            from lxml import etree
        except ImportError:
            self.skipTest("no python3-lxml")
        tree = etree.fromstring("<a><b/></a>")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.graphml")
            with open(path, "w", encoding="utf-8") as out:
                out.write(GRAPHML)
            file = os.path.join(folder, "study.yaml")
            with open(file, "w", encoding="utf-8") as out:
                out.write("network: { graph: net.graphml, classes: [ { name: near, bw_GBps: 50 } ] }\n"
                          "workload: { step: { all-reduce: { size_MB: 16, group: all } } }\n")
            self.assertGreater(weft.Study(file).simulate("bandwidth")["time_s"], 0)
            etree.parse(path)
        self.assertEqual(etree.tostring(tree), b"<a><b/></a>")
        with self.assertRaises(etree.XMLSyntaxError):
            etree.fromstring("<a>")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"] + sys.argv[1:])
