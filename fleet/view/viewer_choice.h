#pragma once

#include <string>

#include "core/base/result.h"
#include "core/system/file_lock.h"
#include "fleet/folder/viewer_identity.h"

namespace aflguard::view {

/// Which identity to watch with: a fleet's folder and perhaps a name, or a viewer's folder.
struct ViewerRequest {
  std::string fleet;
  std::string identity;
  std::string viewer_folder;
};

/// How long it is wanted.
enum class ViewerUse : unsigned char {
  kScreen,     ///< for long: `operator`, or another viewer of the fleet that is not in use here
  kShortLook,  ///< for a moment: `doctor`; waits for others who only look
};

/// An identity that no other program of this machine watches with as long as this lives. A broker keeps one
/// connection per identity, so two programs with the same one would push each other out for ever.
class ViewerLease final {
 public:
  /// kUnavailable, with what to do, when every identity that fits is in use.
  [[nodiscard]] static Result<ViewerLease> choose(const ViewerRequest& request, ViewerUse use);

  [[nodiscard]] const fleet::ViewerIdentity& identity() const { return identity_; }

 private:
  ViewerLease(fleet::ViewerIdentity identity, FileLock lock)
      : identity_(std::move(identity)), lock_(std::move(lock)) {}
  fleet::ViewerIdentity identity_;
  FileLock lock_;
};

}  // namespace aflguard::view
