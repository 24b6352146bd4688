#include "fleet/viewer_book.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/identifier.h"
#include "core/base/rfc3339.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "aflguard-viewer-book-1";
constexpr std::uint64_t kMaxBookBytes = 16 << 20;
constexpr std::size_t kMaxSerialDigits = 40;  // RFC 5280: 20 bytes

bool is_serial(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSerialDigits &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<Viewer> parse_viewer(const Json& json) {
  Viewer viewer;
  viewer.name = json.at("name").get<std::string>();
  viewer.revoked = json.at("revoked").get<bool>();
  for (const Json& item : json.at("certificates")) {
    TRY(const auto not_after, parse_rfc3339(item.at("not_after").get<std::string>()));
    viewer.certificates.push_back({item.at("serial").get<std::string>(), not_after});
  }
  return viewer;
}

/// What holds for every book, read or written.
Status check_book(const ViewerBook& book) {
  if (book.viewers.size() > kMaxViewersInBook) {
    return corrupt(std::to_string(book.viewers.size()) + " viewers, the limit is " +
                   std::to_string(kMaxViewersInBook));
  }
  std::set<std::string_view> names;
  for (const Viewer& viewer : book.viewers) {
    TRY_STATUS(check_identifier("viewer", viewer.name));
    if (!names.insert(viewer.name).second) return corrupt("viewer '" + viewer.name + "' is there twice");
    for (const ViewerCertificate& certificate : viewer.certificates) {
      if (!is_serial(certificate.serial)) {
        return corrupt("viewer '" + viewer.name + "' has the serial '" + certificate.serial.substr(0, 48) +
                       "'; 1 to 40 lower-case hex digits are allowed");
      }
    }
  }
  return {};
}

Result<ViewerBook> parse_book(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return corrupt("not a JSON object");
  try {
    if (json.at("schema") != kSchema) return corrupt("its schema is not " + std::string(kSchema));
    ViewerBook book;
    for (const Json& item : json.at("viewers")) {
      TRY(Viewer viewer, parse_viewer(item));
      book.viewers.push_back(std::move(viewer));
    }
    return book;
  } catch (const Json::exception& problem) {
    return corrupt(problem.what());
  }
}

Json to_json(const Viewer& viewer) {
  Json certificates = Json::array();
  for (const ViewerCertificate& certificate : viewer.certificates) {
    certificates.push_back(
        {{"serial", certificate.serial}, {"not_after", to_rfc3339(certificate.not_after)}});
  }
  return {{"name", viewer.name}, {"revoked", viewer.revoked}, {"certificates", std::move(certificates)}};
}

Error not_a_book(const fs::path& path, const Error& reason) {
  return corrupt(path.string() + " is no viewer book: " + reason.message + "; restore it from a backup");
}

}  // namespace

Viewer* ViewerBook::find(std::string_view name) {
  const auto found = std::find_if(viewers.begin(), viewers.end(),
                                  [name](const Viewer& viewer) { return viewer.name == name; });
  return found == viewers.end() ? nullptr : &*found;
}

const Viewer* ViewerBook::find(std::string_view name) const {
  return const_cast<ViewerBook*>(this)->find(name);
}

Result<ViewerBook> read_viewer_book(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return ViewerBook{{{.name = "operator", .certificates = {}}}};
  TRY(const std::string text, read_text_file(path, kMaxBookBytes));
  auto book = parse_book(text);
  if (!book.ok()) return not_a_book(path, book.error());
  if (const Status status = check_book(*book); !status.ok()) return not_a_book(path, status.error());
  return book;
}

Status write_viewer_book(const fs::path& path, const ViewerBook& book) {
  if (const Status status = check_book(book); !status.ok()) return invalid_input(status.error().message);
  Json viewers = Json::array();
  for (const Viewer& viewer : book.viewers) viewers.push_back(to_json(viewer));
  const Json json = {{"schema", kSchema}, {"viewers", std::move(viewers)}};
  return write_file_atomically(path, json.dump(1) + "\n");
}

}  // namespace aflguard
