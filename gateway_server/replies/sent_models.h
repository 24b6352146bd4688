#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "core/base/bytes.h"
#include "gateway_server/judging/model_snapshot.h"

namespace aflguard::gateway {

/// Versions of the model that devices were given, newest ones within a bound on their memory, and the signed
/// differences from them to the newest. One thread.
class SentModels final {
 public:
  explicit SentModels(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void remember(const SharedModel& model);
  /// Null when it was never given out, or too long ago.
  [[nodiscard]] SharedModel find(std::uint64_t version) const;

  /// The difference from `base` to `newest`, when it was kept.
  [[nodiscard]] const Bytes* difference(std::uint64_t base, std::uint64_t newest) const;
  void keep_difference(std::uint64_t base, std::uint64_t newest, Bytes envelope);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void drop_oldest();

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;  ///< of models and differences
  std::map<std::uint64_t, SharedModel> models_;
  std::uint64_t newest_ = 0;                    ///< what the differences lead to
  std::map<std::uint64_t, Bytes> differences_;  ///< by their base
};

}  // namespace aflguard::gateway
