#pragma once

#include "core/aggregation/guard_kind.h"

namespace aflguard {

/// BASGD: B buffers, client i writes into buffer i mod B. Once every buffer holds an update, the model takes
/// one step along the coordinate-wise median of the buffers' means, and the buffers are emptied.
/// Memory: (B + 1) * d floats, whatever the number of clients.
class Basgd final : public Guard {
 public:
  Basgd(std::size_t dimension, std::size_t buffers);

  [[nodiscard]] std::string_view name() const override { return "basgd"; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<Basgd>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;

 private:
  struct Buffer {
    std::vector<float> sum;
    std::uint64_t updates = 0;
  };
  void take_median();
  void clear();

  std::vector<Buffer> buffers_;
  std::size_t filled_ = 0;     ///< buffers that hold at least one update
  std::vector<float> median_;  ///< of the last full set of buffers; what the returned Decision points to
};

[[nodiscard]] GuardKind basgd_kind();

}  // namespace aflguard
