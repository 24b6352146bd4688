#pragma once

#include "core/aggregation/guard_kind.h"

namespace aflguard {

/// No guard: applies every finite update as it comes.
class AsyncSgd final : public Guard {
 public:
  [[nodiscard]] std::string_view name() const override { return "asyncsgd"; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<AsyncSgd>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;
};

[[nodiscard]] GuardKind async_sgd_kind();

}  // namespace aflguard
