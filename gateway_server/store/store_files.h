#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/result.h"

namespace aflguard::gateway {

/// The files of a store that is in use. One that is removed or replaced takes with it what is written from
/// then on, although every write succeeds.
class StoreFiles final {
 public:
  /// Call note() when all of them are there.
  explicit StoreFiles(std::vector<std::filesystem::path> files);
  void note();
  /// kCorrupt when one of them is gone or another one, by its name.
  [[nodiscard]] Status check() const;

 private:
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  struct File {
    std::filesystem::path path;
    std::optional<Identity> identity;
  };
  [[nodiscard]] static std::optional<Identity> identify(const std::filesystem::path& path);

  std::vector<File> files_;
};

}  // namespace aflguard::gateway
