#include "fleet/dashboard_server/page_file.h"

#include "core/system/atomic_file.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxPageBytes = 8 << 20;
/// Where it was installed, and where ./run dashboard puts it.
constexpr const char* kPlaces[] = {"../share/aflguard/dashboard/index.html", "../../dashboard/index.html"};

}  // namespace

Result<std::string> read_page(const fs::path& chosen, const fs::path& programs) {
  if (!chosen.empty()) return read_text_file(chosen, kMaxPageBytes);
  std::error_code error;
  for (const char* place : kPlaces) {
    if (fs::exists(programs / place, error)) return read_text_file(programs / place, kMaxPageBytes);
  }
  return not_found("the page is not installed; ./run dashboard builds it, --page FILE names it");
}

}  // namespace aflguard::fleet
