#!/usr/bin/env python3
"""Tests of report.py: that it finds what it reports on, in a small tree."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import report  # noqa: E402

LONG = """
namespace aflguard {
// int commented(int a, int b, int c, int d, int e, int f, int g) {
Thing::Thing(int a)
    : a_{a}, b_(1) {
  const char* text = "}";
}
std::map<int, int> wide(const std::map<int, int>& a, int b, int c, int d, int e, int f = g(1, 2), int h = {}) {
  if (a) {
    return {};
  }
}
}  // namespace aflguard
"""
MEMBERS = "".join(f"  std::function<void(int, int)> member{i}_ = {{}};\n" for i in range(13))
CLASS = f"""
class [[nodiscard]] Large final : public Base {{
 public:
  Large(int a);
  int size() const {{ return 1; }}
  using Name = std::string;
  static int count;
  struct Inner {{
    int x = 0;
  }};

 private:
{MEMBERS}}};
enum class Kind {{ kA, kB }};
"""
SAME = "".join(f"  call({i});\n" for i in range(7))


def facts(**files):
    return report.Facts({name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()})


class ReportTest(unittest.TestCase):
    def test_functions_have_their_names_lines_and_parameters(self):
        found = {one.name: one for one in facts(core__x_dot_cpp=LONG).functions}
        self.assertEqual({"Thing::Thing", "wide"}, set(found))
        self.assertEqual((4, 4, 1), found["Thing::Thing"][2:])
        self.assertEqual((8, 5, 7), found["wide"][2:])

    def test_classes_have_their_data_members_counted(self):
        found = facts(core__x_dot_h=CLASS)
        self.assertEqual([("Large", 13), ("Large::Inner", 1)], [(one.name, one.members) for one in found.classes])
        self.assertEqual(["Large"], [one.name for one in found.large()])

    def test_a_run_of_equal_lines_is_found_once_and_whole(self):
        found = facts(core__x_dot_cpp="int f() {\n" + SAME + "}\n", core__y_dot_cpp="\nint g() {\n" + SAME + "  end();\n}\n")
        self.assertEqual([(7, "core/y.cpp", 3, "core/x.cpp", 2)], found.runs)
        self.assertEqual([], facts(core__x_dot_cpp=SAME[:50], core__y_dot_cpp=SAME[:50]).runs)

    def test_headers_and_sources_are_held_against_the_tests(self):
        found = facts(core__x_dot_h="", core__x_dot_cpp='#include "core/x.h"\n', core__y_dot_h="", core__z_dot_h="",
                      core__y_dot_cpp='#include "core/y.h"\n#include "core/z.h"\n',
                      tests__core__test_x_dot_cpp='#include "core/x.h"\n#include "core/z.h"\n')
        self.assertEqual(["core/x.h"], found.headers)
        self.assertEqual(["core/y.cpp"], found.untested)

    def test_the_report_says_what_has_changed_since_a_revision(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "core").mkdir()
            (root / "core/x.cpp").write_text("int f() {\n  a();\n}\n")

            def git(*words):
                subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True,
                               capture_output=True)
            git("init", "-q")
            git("add", "-A")
            git("commit", "-qm", "first")
            (root / "core/x.cpp").unlink()
            (root / "core/moved.cpp").write_text("int f() {\n  a();\n  b();\n}\nint g() {\n}\n")
            told = self.run_report(folder, "--against", "HEAD")
            self.assertIn("   4 lines, +1 since HEAD: f  core/moved.cpp:1", told)
            self.assertIn("   2 lines, new: g  core/moved.cpp:5", told)
            self.assertIn("sources without a test of the same name: 1\n  core/moved.cpp", told)
            self.assertIn("not compared", self.run_report(folder))
            self.assertIn("not compared", self.run_report(folder, "--against", "nothing"))

    @staticmethod
    def run_report(folder, *words):
        out = io.StringIO()
        sys.argv = ["report.py", "--root", folder, *words]
        with contextlib.redirect_stdout(out):
            report.main()
        return out.getvalue()


if __name__ == "__main__":
    unittest.main()
