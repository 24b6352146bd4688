#include "fleet/folder/viewer_book.h"

#include <set>

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/identity/book_file.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr BookKind kKind = {"aflguard-viewer-book-1", "viewers", "viewer", 16 << 20};

Result<Viewer> parse_viewer(const BookJson& json) {
  Viewer viewer;
  viewer.name = json.at("name").get<std::string>();
  viewer.revoked = json.at("revoked").get<bool>();
  for (const BookJson& item : json.at("certificates")) {
    TRY(const auto not_after, parse_rfc3339(item.at("not_after").get<std::string>()));
    viewer.certificates.push_back({item.at("serial").get<std::string>(), not_after});
  }
  return viewer;
}

/// What holds for every book, read or written.
Status check_viewers(const std::vector<Viewer>& viewers) {
  if (viewers.size() > kMaxViewersInBook) {
    return corrupt(std::to_string(viewers.size()) + " viewers, the limit is " +
                   std::to_string(kMaxViewersInBook));
  }
  std::set<std::string_view> names;
  for (const Viewer& viewer : viewers) {
    TRY_STATUS(check_identifier("viewer", viewer.name));
    if (!names.insert(viewer.name).second) return corrupt("viewer '" + viewer.name + "' is there twice");
    for (const ViewerCertificate& certificate : viewer.certificates) {
      TRY_STATUS(check_serial(kKind.entry, viewer.name, certificate.serial));
    }
  }
  return {};
}

BookJson to_json(const Viewer& viewer) {
  BookJson certificates = BookJson::array();
  for (const ViewerCertificate& certificate : viewer.certificates) {
    certificates.push_back(
        {{"serial", certificate.serial}, {"not_after", to_rfc3339(certificate.not_after)}});
  }
  return {{"name", viewer.name}, {"revoked", viewer.revoked}, {"certificates", std::move(certificates)}};
}

}  // namespace

Viewer* ViewerBook::find(std::string_view name) {
  return find_entry(viewers, name);
}

const Viewer* ViewerBook::find(std::string_view name) const {
  return const_cast<ViewerBook*>(this)->find(name);
}

Result<ViewerBook> read_viewer_book(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return ViewerBook{{{.name = "operator", .certificates = {}}}};
  ViewerBook book;
  TRY(book.viewers, read_book_file<Viewer>(kKind, path, parse_viewer, check_viewers));
  return book;
}

Status write_viewer_book(const fs::path& path, const ViewerBook& book) {
  return write_book_file<Viewer>(kKind, path, book.viewers, to_json, check_viewers);
}

}  // namespace aflguard::fleet
