#pragma once

#include "core/aggregation/guard_kind.h"

namespace aflguard {

/// The paper's rule: accept g iff ||g - g_s|| <= lambda ||g_s||. Keeps no state between updates.
class AflGuard final : public Guard {
 public:
  explicit AflGuard(double lambda) : lambda_(lambda) {}

  [[nodiscard]] std::string_view name() const override { return "aflguard"; }
  [[nodiscard]] GuardNeeds needs() const override { return {.reference = true}; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<AflGuard>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;

 private:
  double lambda_;
};

[[nodiscard]] GuardKind aflguard_kind();

}  // namespace aflguard
