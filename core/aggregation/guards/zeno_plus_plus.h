#pragma once

#include "core/aggregation/guard_kind.h"

namespace aflguard {

/// Zeno++ as the paper describes it: accept g iff <g, g_s> > 0, rescaled to the length of g_s.
class ZenoPlusPlus final : public Guard {
 public:
  [[nodiscard]] std::string_view name() const override { return "zeno++"; }
  [[nodiscard]] GuardNeeds needs() const override { return {.reference = true}; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<ZenoPlusPlus>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;
};

[[nodiscard]] GuardKind zeno_plus_plus_kind();

}  // namespace aflguard
