#include "tools/aflguard/python_program.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace aflguard::cli {
namespace {

namespace fs = std::filesystem;

/// The module of the same build, in front of what PYTHONPATH says; installed, Python finds it itself.
void find_module_of_this_build() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path module = program.parent_path().parent_path() / "python";
  if (error || !fs::exists(module / "aflguard" / "__init__.py", error)) return;
  const char* before = std::getenv("PYTHONPATH");
  const std::string path = module.string() + (before != nullptr ? ":" + std::string(before) : "");
  ::setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace

bool wants_python(int argc, const char* const* argv) {
  if (argc < 3 || std::string_view(argv[1]) != "lab") return false;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]).find(".py:") != std::string_view::npos) return true;
  }
  return false;
}

int run_in_python(int argc, const char* const* argv) {
  find_module_of_this_build();
  // -S and the like would hide Debian's packages: plain python3, which has them.
  constexpr const char* kPython = "/usr/bin/python3";
  std::vector<char*> arguments;
  for (const char* word : {kPython, "-m", "aflguard"}) arguments.push_back(const_cast<char*>(word));
  for (int i = 1; i < argc; ++i) arguments.push_back(const_cast<char*>(argv[i]));
  arguments.push_back(nullptr);
  ::execv(kPython, arguments.data());
  std::fprintf(stderr, "aflguard: guards and attacks in Python need %s; apt-get install python3-numpy\n",
               kPython);
  return 1;
}

}  // namespace aflguard::cli
