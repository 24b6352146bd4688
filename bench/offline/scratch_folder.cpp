#include "bench/offline/scratch_folder.h"

#include <unistd.h>

namespace aflguard::bench {

Result<StagedDirectory> scratch_folder() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path parent = fs::is_directory("/var/tmp", ignored) ? "/var/tmp" : fs::temp_directory_path();
  return StagedDirectory::create(parent / ("aflguard-bench-" + std::to_string(::getpid())), true);
}

}  // namespace aflguard::bench
