#include "core/identity/name_list.h"

#include <sstream>

#include "core/base/identifier.h"
#include "core/system/atomic_file.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxListBytes = std::uint64_t{128} << 20;  // a million long names

}  // namespace

Result<NameList> read_name_list(const fs::path& path) {
  NameList names;
  auto text = read_text_file(path, kMaxListBytes);
  if (!text.ok() && text.error().kind == ErrorKind::kNotFound) return names;
  if (!text.ok()) return text.error();
  std::istringstream lines(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (const Status named = check_identifier("device", line); !named.ok()) {
      return at(path.string() + ":" + std::to_string(number), named.error());
    }
    names.insert(std::move(line));
  }
  return names;
}

Status write_name_list(const fs::path& path, const NameList& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return write_file_atomically(path, text);
}

}  // namespace aflguard
