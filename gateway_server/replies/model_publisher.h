#pragma once

#include <cstdint>
#include <optional>

#include "core/encoding/model_grid.h"
#include "gateway_server/judging/model_snapshot.h"

namespace aflguard::gateway {

/// What devices are given of a model: the same version, rounded to a grid far below one update, so that
/// versions differ by few bytes. The gateway itself goes on with full precision. The grid is fitted to what
/// updates move, and then stays for many versions. One thread.
class ModelPublisher final {
 public:
  static constexpr std::uint64_t kVersionsPerGrid = 1000;

  /// The model to give out; the same one for the same `model`. Until the first movement it is `model` itself.
  [[nodiscard]] SharedModel published(const SharedModel& model);
  /// On which the last one lies, or null.
  [[nodiscard]] const ModelGrid* grid() const { return grid_ ? &*grid_ : nullptr; }

 private:
  void follow(const SharedModel& model);

  SharedModel source_;  ///< that published_ was made of
  SharedModel published_;
  SharedModel older_;  ///< where the movement that a grid will be fitted to began; or null
  std::optional<ModelGrid> grid_;
  std::uint64_t fitted_ = 0;  ///< version
};

}  // namespace aflguard::gateway
