#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/certificate_serial.h"
#include "core/system/atomic_file.h"

namespace aflguard {

/// How a book is written down: a JSON object with a schema and one list of entries, each of which has a name.
struct BookKind {
  const char* schema;
  const char* list;   ///< "devices"
  const char* entry;  ///< "device"
  std::uint64_t max_bytes;
};

using BookJson = nlohmann::ordered_json;

/// Null when there is no entry of that name.
template <typename Entry>
[[nodiscard]] Entry* find_entry(std::vector<Entry>& entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [name](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

template <typename Entry>
[[nodiscard]] Result<std::vector<Entry>> parse_entries(const BookKind& kind, const std::string& text,
                                                       Result<Entry> (*parse)(const BookJson&)) {
  const BookJson json = BookJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return corrupt("not a JSON object");
  try {
    if (json.at("schema") != kind.schema) return corrupt("its schema is not " + std::string(kind.schema));
    std::vector<Entry> entries;
    for (const BookJson& item : json.at(kind.list)) {
      TRY(Entry entry, parse(item));
      entries.push_back(std::move(entry));
    }
    return entries;
  } catch (const BookJson::exception& problem) {
    return corrupt(problem.what());
  }
}

/// The entries of the book at `path`, every one of which `check` has let pass. kCorrupt with the path
/// otherwise.
template <typename Entry>
[[nodiscard]] Result<std::vector<Entry>> read_book_file(const BookKind& kind,
                                                        const std::filesystem::path& path,
                                                        Result<Entry> (*parse)(const BookJson&),
                                                        Status (*check)(const std::vector<Entry>&)) {
  const auto refused = [&](const Error& reason) {
    return corrupt(path.string() + " is not a " + kind.entry + " book: " + reason.message +
                   "; restore it from a backup");
  };
  TRY(const std::string text, read_text_file(path, kind.max_bytes));
  auto entries = parse_entries(kind, text, parse);
  if (!entries.ok()) return refused(entries.error());
  if (const Status status = check(*entries); !status.ok()) return refused(status.error());
  return entries;
}

/// Whole or not at all. kInvalidInput when `check` does not let it pass.
template <typename Entry>
[[nodiscard]] Status write_book_file(const BookKind& kind, const std::filesystem::path& path,
                                     const std::vector<Entry>& entries, BookJson (*to_json)(const Entry&),
                                     Status (*check)(const std::vector<Entry>&)) {
  if (const Status status = check(entries); !status.ok()) return invalid_input(status.error().message);
  BookJson list = BookJson::array();
  for (const Entry& entry : entries) list.push_back(to_json(entry));
  const BookJson json = {{"schema", kind.schema}, {kind.list, std::move(list)}};
  return write_file_atomically(path, json.dump(1) + "\n");
}

}  // namespace aflguard
