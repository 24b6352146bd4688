#include <algorithm>
#include <limits>
#include <map>

#include "lab/attacks/attacks.h"

namespace aflguard::lab {
namespace {

/// Not a number, infinities of both signs, in turns and in one coordinate or all.
class NotFinite final : public Attack {
 public:
  Status craft(AttackerView& view, std::span<float> update) override {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
    TRY_STATUS(view.honest_update(view.client, update));
    const float bad = kBad[turn_++ % 3];
    if (turn_ % 2 == 0) {
      std::fill(update.begin(), update.end(), bad);
    } else {
      update[view.random().below(update.size())] = bad;
    }
    return {};
  }

 private:
  std::size_t turn_ = 0;
};

/// Nothing at all: slows the model down and pulls medians towards zero.
class Zero final : public Attack {
 public:
  Status craft(AttackerView& /*view*/, std::span<float> update) override {
    std::fill(update.begin(), update.end(), 0.0F);
    return {};
  }
};

/// Its first honest update, again and again.
class Replay final : public Attack {
 public:
  Status craft(AttackerView& view, std::span<float> update) override {
    auto& first = first_[view.client];
    if (first.empty()) {
      TRY_STATUS(view.honest_update(view.client, update));
      first.assign(update.begin(), update.end());
    }
    std::copy(first.begin(), first.end(), update.begin());
    return {};
  }

 private:
  std::map<ClientId, std::vector<float>> first_;
};

/// One number in every coordinate.
class AllEqual final : public Attack {
 public:
  explicit AllEqual(double value) : value_(static_cast<float>(value)) {}
  Status craft(AttackerView& /*view*/, std::span<float> update) override {
    std::fill(update.begin(), update.end(), value_);
    return {};
  }

 private:
  float value_;
};

}  // namespace

std::vector<AttackKind> nuisance_kinds() {
  return {
      {.name = "not-finite",
       .summary = "NaN and infinities",
       .options = {},
       .make = [](const ExperimentSettings&) -> std::unique_ptr<Attack> {
         return std::make_unique<NotFinite>();
       }},
      {.name = "zero",
       .summary = "zero in every coordinate",
       .options = {},
       .make = [](const ExperimentSettings&) -> std::unique_ptr<Attack> { return std::make_unique<Zero>(); }},
      {.name = "replay",
       .summary = "the client's first honest update, again and again",
       .options = {},
       .make = [](const ExperimentSettings&) -> std::unique_ptr<Attack> {
         return std::make_unique<Replay>();
       }},
      {.name = "all-equal",
       .summary = "one number in every coordinate",
       .options = {{"value", 1, -1e30, 1e30, "that number"}},
       .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
         return std::make_unique<AllEqual>(option_or(settings.attack_options, "value", 1));
       }},
  };
}

}  // namespace aflguard::lab
