#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace aflguard::gateway {

/// Which version each device was on that waits for an answer and understands differences: by its own word,
/// which can only cost it the use of its answer. From any thread.
class KnownBases final {
 public:
  /// `most` devices are remembered; what is forgotten gets the whole model.
  explicit KnownBases(std::size_t most) : most_(most) {}

  void note(const std::string& device, std::uint64_t sequence, std::uint64_t version);
  /// For the answer to that update, once.
  [[nodiscard]] std::optional<std::uint64_t> take(const std::string& device, std::uint64_t sequence);

 private:
  struct Base {
    std::uint64_t sequence = 0;
    std::uint64_t version = 0;
  };
  const std::size_t most_;
  std::mutex mutex_;
  std::unordered_map<std::string, Base> bases_;
};

}  // namespace aflguard::gateway
