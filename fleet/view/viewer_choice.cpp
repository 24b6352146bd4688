#include "fleet/view/viewer_choice.h"

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/base/identifier.h"
#include "fleet/folder/viewer_book.h"

namespace aflguard::view {
namespace {

constexpr std::chrono::seconds kShortLookTimeout{30};
constexpr std::chrono::milliseconds kAskAgain{100};

/// A lock on the key's file, which all who may use it can open. kUnavailable while another program has
/// it.
Result<FileLock> try_lock(const fleet::ViewerIdentity& identity) {
  auto lock = FileLock::take(identity.key(), {.make_file = false});
  if (lock.ok() || lock.error().kind == ErrorKind::kUnavailable) return lock;
  const bool may_not_read = ::access(identity.key().c_str(), R_OK) != 0 && errno == EACCES;
  return Error{lock.error().kind, "cannot use the identity '" + identity.name + "': " + lock.error().message +
                                      (may_not_read ? "; run as the user who owns the fleet's folder" : "")};
}

std::string how_to_get_another(const ViewerRequest& request) {
  return "one identity is one connection: aflguard fleet viewer add NAME --fleet " +
         (request.fleet.empty() ? std::string("DIR") : request.fleet) + " makes another";
}

/// The names to try, the best first.
Result<std::vector<fleet::ViewerIdentity>> candidates(const ViewerRequest& request, ViewerUse use) {
  if (!request.viewer_folder.empty()) {
    TRY(auto identity, fleet::read_viewer_folder(request.viewer_folder));
    return std::vector<fleet::ViewerIdentity>{std::move(identity)};
  }
  const fleet::FleetFolder folder{std::filesystem::absolute(request.fleet).lexically_normal()};
  std::error_code error;
  if (!std::filesystem::exists(folder.settings(), error)) {
    return not_found(request.fleet +
                     " is not a fleet folder (it has no fleet.toml); aflguard fleet init makes one");
  }
  TRY(const fleet::FleetSettings settings, fleet::read_fleet_settings(folder.settings()));
  TRY(const fleet::ViewerBook book, fleet::read_viewer_book(folder.viewer_book()));
  std::vector<std::string> names;
  if (!request.identity.empty()) {
    TRY_STATUS(check_identifier("viewer", request.identity));
    const fleet::Viewer* viewer = book.find(request.identity);
    if (viewer == nullptr || viewer->revoked) {
      return not_found("the fleet has no viewer '" + request.identity + "'" +
                       (viewer != nullptr ? " any more: it is revoked" : "") +
                       "; aflguard fleet viewer list shows all");
    }
    names.push_back(request.identity);
  } else if (const fleet::Viewer* doctor = book.find("doctor");
             use == ViewerUse::kShortLook && doctor != nullptr && !doctor->revoked) {
    names.push_back("doctor");
  } else {
    names.push_back("operator");
    for (const fleet::Viewer& viewer : book.viewers) {
      const bool own = viewer.name == "operator" || viewer.name == "dashboard" || viewer.name == "doctor" ||
                       viewer.name == "demo";
      if (!own && !viewer.revoked) names.push_back(viewer.name);
    }
  }
  std::vector<fleet::ViewerIdentity> identities;
  for (const std::string& name : names) identities.push_back(fleet::viewer_identity(settings, folder, name));
  return identities;
}

}  // namespace

Result<ViewerLease> ViewerLease::choose(const ViewerRequest& request, ViewerUse use) {
  TRY(const auto identities, candidates(request, use));
  const auto deadline = std::chrono::steady_clock::now() + kShortLookTimeout;
  while (true) {
    std::optional<Error> problem;
    for (const fleet::ViewerIdentity& identity : identities) {
      auto lock = try_lock(identity);
      if (lock.ok()) return ViewerLease(identity, std::move(*lock));
      if (lock.error().kind != ErrorKind::kUnavailable && !problem) problem = lock.error();
    }
    if (problem && identities.size() == 1) return *problem;
    if (use == ViewerUse::kScreen || std::chrono::steady_clock::now() >= deadline) {
      return unavailable("the identity '" + identities.front().name +
                         "' is in use by another aflguard on this machine; " + how_to_get_another(request));
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

}  // namespace aflguard::view
