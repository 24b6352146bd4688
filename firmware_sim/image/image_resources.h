#pragma once

#include <string>
#include <vector>

namespace aflguard::image {

/// A file of a board's root file system.
struct ImageFile {
  std::string path;  ///< relative to the root
  std::string content;
  bool executable = false;
};

/// The files of overlay/: what makes a Debian a board of ours.
[[nodiscard]] const std::vector<ImageFile>& overlay_files();

/// The shell scripts beside this file.
[[nodiscard]] const char* in_namespace_script();
[[nodiscard]] const char* make_base_script();
[[nodiscard]] const char* make_root_script();
[[nodiscard]] const char* native_tools_script();

}  // namespace aflguard::image
