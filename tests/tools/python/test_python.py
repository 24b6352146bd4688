"""The Python module against its promises. Exit code 77: something that it needs is not there."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = sys.argv[1], sys.argv[2]
sys.path.insert(0, os.path.join(BUILD, "python"))
try:
    import numpy as np
    import aflguard
except ImportError as problem:
    print(f"skipped: {problem}; apt-get install pybind11-dev python3-dev python3-numpy, and build again")
    sys.exit(77)

EXAMPLES = os.path.join(SOURCE, "tools", "python", "examples")
PROGRAM = os.path.join(BUILD, "bin", "aflguard")


class AggregatorTest(unittest.TestCase):
    def test_it_judges_as_the_rule_says_and_moves_the_model(self):
        aggregator = aflguard.Aggregator("aflguard", np.zeros(3, np.float32), learning_rate=0.5, tolerance=1.0)
        aggregator.install_reference(np.array([1, 0, 0], np.float32))
        verdict = aggregator.submit(7, np.array([1, 0.5, 0], np.float32))
        self.assertTrue(verdict.accepted)
        self.assertAlmostEqual(0.5, verdict.distance, places=6)
        np.testing.assert_allclose([-0.5, -0.25, 0], aggregator.parameters)
        self.assertEqual("too-far", aggregator.submit(7, np.array([-3, 0, 0], np.float32)).reason)

    def test_parameters_are_a_view_that_cannot_be_written(self):
        aggregator = aflguard.Aggregator("asyncsgd", np.ones(4, np.float32), learning_rate=1)
        view = aggregator.parameters
        self.assertFalse(view.flags.owndata)
        with self.assertRaises(ValueError):
            view[0] = 3

    def test_bad_input_is_named(self):
        with self.assertRaisesRegex(ValueError, "did you mean 'aflguard'"):
            aflguard.Aggregator("aflgaurd", np.zeros(3, np.float32), learning_rate=0.5)
        aggregator = aflguard.Aggregator("asyncsgd", np.zeros(3, np.float32), learning_rate=0.5)
        with self.assertRaisesRegex(ValueError, "has 2 numbers, the model has 3"):
            aggregator.submit(1, np.zeros(2, np.float32))

    def test_span_guard_takes_classes(self):
        aggregator = aflguard.Aggregator("span-guard", np.zeros(4, np.float32), learning_rate=0.1)
        rows = [np.array([1, 0, 0, 0], np.float32), np.array([0, 1, 0, 0], np.float32)]
        aggregator.install_reference(rows[0] + rows[1], classes=rows)
        self.assertTrue(aggregator.submit(1, np.array([0.5, 0.5, 0, 0], np.float32)).accepted)


class AsyncSgd:
    needs_reference = False

    def judge(self, update):
        return True


class LabTest(unittest.TestCase):
    SMALL = {"iterations": 150, "clients": 10, "seed": 3}

    def test_a_rule_in_python_gives_what_the_same_rule_in_cpp_gives(self):
        ours = aflguard.run("synthetic", AsyncSgd, "lf", **self.SMALL)
        theirs = aflguard.run("synthetic", "asyncsgd", "lf", **self.SMALL)
        self.assertEqual(theirs["mee"], ours["mee"])
        self.assertEqual(theirs["accepted"], ours["accepted"])

    def test_an_attack_in_python_gives_what_the_same_attack_in_cpp_gives(self):
        def deviation(view):
            return -10 * view.own_update()

        ours = aflguard.run("synthetic", "zeno++", deviation, **self.SMALL)
        theirs = aflguard.run("synthetic", "zeno++", "gd", **self.SMALL)
        self.assertEqual(theirs["mee"], ours["mee"])

    def test_an_exception_in_python_ends_the_run_with_its_message(self):
        class Broken:
            def judge(self, update):
                raise RuntimeError("out of ideas")

        with self.assertRaisesRegex(ValueError, "out of ideas"):
            aflguard.run("synthetic", Broken, "none", **self.SMALL)
        with self.assertRaisesRegex(ValueError, "has 2 numbers, the model has 100"):
            aflguard.run("synthetic", "asyncsgd", lambda view: np.zeros(2), **self.SMALL)

    def test_unknown_settings_are_named(self):
        with self.assertRaisesRegex(ValueError, "no setting 'sede'"):
            aflguard.run("synthetic", "asyncsgd", sede=3)


class ProgramTest(unittest.TestCase):
    def test_guards_and_attacks_of_files_play_in_run_and_grid(self):
        guard = os.path.join(EXAMPLES, "trimmed_guard.py") + ":TrimmedGuard"
        attack = os.path.join(EXAMPLES, "half_reverse.py") + ":attack"
        run = subprocess.run([PROGRAM, "lab", "run", "--dataset", "synthetic", "--guard", guard, "--attack", attack,
                              "--iterations", "100", "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertGreater(json.loads(run.stdout)["accepted"]["benign"], 0)
        with tempfile.TemporaryDirectory() as folder:
            grid = subprocess.run([PROGRAM, "lab", "grid", "--dataset", "synthetic", "--guard", "aflguard," + guard,
                                   "--attack", "none," + attack, "--iterations", "60", "--seeds", "2", "-o",
                                   os.path.join(folder, "grid")], capture_output=True, text=True, check=False)
            self.assertEqual(0, grid.returncode, grid.stderr)
            with open(os.path.join(folder, "grid", "results.csv"), encoding="utf-8") as file:
                rows = file.read()
            self.assertIn("TrimmedGuard", rows)
            self.assertIn("half_reverse.py:attack", rows)

    def test_a_file_that_is_not_there_is_named(self):
        run = subprocess.run([PROGRAM, "lab", "run", "--dataset", "synthetic", "--guard", "nowhere.py:X"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(1, run.returncode)
        self.assertIn("nowhere.py is not there", run.stderr)

    def test_the_figure_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            figure = os.path.join(folder, "figure.svg")
            environment = dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python"))
            subprocess.run([sys.executable, os.path.join(EXAMPLES, "figure.py"), figure], check=True, env=environment)
            with open(figure, encoding="utf-8") as file:
                self.assertEqual(2, file.read().count("<polyline"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
