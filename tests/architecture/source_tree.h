#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard::testing {

/// One file of the checkout: its path from the root, with slashes, and what is in it.
struct SourceFile {
  std::string path;
  std::string text;
};

/// What `root` has in `folder` and below with one of these endings, in the order of the paths.
[[nodiscard]] std::vector<SourceFile> files_below(const std::filesystem::path& root,
                                                  const std::string& folder,
                                                  const std::vector<std::string>& endings);

/// Every .h, .cpp and .inc of the product: all top-level folders but tests, fuzz and those without C++.
[[nodiscard]] std::vector<SourceFile> product_sources(const std::filesystem::path& root);

/// Every .h, .cpp and .inc in tests and fuzz.
[[nodiscard]] std::vector<SourceFile> test_sources(const std::filesystem::path& root);

/// The CMakeLists.txt of every product folder.
[[nodiscard]] std::vector<SourceFile> product_cmake_files(const std::filesystem::path& root);

[[nodiscard]] std::string read_text(const std::filesystem::path& file);

/// The file's folder, from the root: "core/base" of "core/base/result.h".
[[nodiscard]] std::string folder_of(const std::string& path);

/// What `text` includes, with the opening character in front: `"core/base/result.h`, `<zlib.h`.
[[nodiscard]] std::vector<std::string> includes_of(const std::string& text);

/// The lines of a table: without comments (from #), surrounding space and empty lines.
[[nodiscard]] std::vector<std::string> table_lines(const std::string& text);

/// Fails the test when `violations` has lines, and prints them.
void assert_no_violation(const std::string& violations);

[[nodiscard]] std::string trimmed(std::string_view text);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
/// The words of `text` between spaces.
[[nodiscard]] std::vector<std::string> words_of(const std::string& text);

}  // namespace aflguard::testing
