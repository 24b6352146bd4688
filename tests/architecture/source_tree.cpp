#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/support/test.h"

namespace fs = std::filesystem;

namespace aflguard::testing {
namespace {

/// Top-level folders that hold no product code in C++.
const std::set<std::string> kOutside = {"tests",     "fuzz",  "cmake",      "build",    "docs",
                                        "dashboard", "setup", "toolchains", "packaging"};

const std::vector<std::string> kSourceEndings = {".h", ".cpp", ".inc"};

std::vector<std::string> product_folders(const fs::path& root) {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (entry.is_directory() && !name.starts_with(".") && !kOutside.contains(name)) folders.push_back(name);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<SourceFile> files_in_all(const fs::path& root, const std::vector<std::string>& folders,
                                     const std::vector<std::string>& endings) {
  std::vector<SourceFile> all;
  for (const std::string& folder : folders) {
    std::vector<SourceFile> some = files_below(root, folder, endings);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<SourceFile> files_below(const fs::path& root, const std::string& folder,
                                    const std::vector<std::string>& endings) {
  std::vector<SourceFile> files;
  if (!fs::exists(root / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string name = entry.path().filename();
    const auto fits = [&](const std::string& ending) { return name.ends_with(ending); };
    if (!entry.is_regular_file() || std::none_of(endings.begin(), endings.end(), fits)) continue;
    files.push_back({entry.path().lexically_relative(root).generic_string(), read_text(entry.path())});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

std::vector<SourceFile> product_sources(const fs::path& root) {
  return files_in_all(root, product_folders(root), kSourceEndings);
}

std::vector<SourceFile> test_sources(const fs::path& root) {
  return files_in_all(root, {"fuzz", "tests"}, kSourceEndings);
}

std::vector<SourceFile> product_cmake_files(const fs::path& root) {
  return files_in_all(root, product_folders(root), {"CMakeLists.txt"});
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with("#include ")) continue;
    const auto open = line.find_first_of("<\"");
    const auto close = line.find_first_of(">\"", open + 1);
    if (open != std::string::npos && close != std::string::npos)
      found.push_back(line.substr(open, close - open));
  }
  return found;
}

std::vector<std::string> table_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    const std::string kept = trimmed(line.substr(0, line.find('#')));
    if (!kept.empty()) lines.push_back(kept);
  }
  return lines;
}

void assert_no_violation(const std::string& violations) {
  if (violations.empty()) return;
  // Unity would show the line ends as \n.
  std::printf("%s\n", violations.c_str());
  TEST_FAIL_MESSAGE("see the lines above");
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

}  // namespace aflguard::testing
