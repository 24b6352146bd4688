#pragma once

#include "core/aggregation/filter_kind.h"

namespace aflguard {

/// No defense: applies every finite update as it comes.
class AsyncSgd final : public UpdateFilter {
 public:
  [[nodiscard]] std::string_view name() const override { return "asyncsgd"; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;
};

[[nodiscard]] FilterKind async_sgd_kind();

}  // namespace aflguard
