#include <algorithm>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Label y becomes C - 1 - y. Regression has no classes: y becomes -y, or max(y) - y.
class LabelFlip final : public Attack {
 public:
  explicit LabelFlip(bool from_largest) : from_largest_(from_largest) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    if (from_largest_ && !known_) TRY_STATUS(find_largest(view));
    return view.false_update([this](FalseBatch& batch) { flip(batch); }, update);
  }

 private:
  Status find_largest(AttackerView& view) {
    TRY(const Dataset* samples, view.samples());
    if (samples->regression()) largest_ = *std::max_element(samples->values.begin(), samples->values.end());
    known_ = true;
    return {};
  }

  void flip(FalseBatch& batch) const {
    for (float& value : batch.values) value = largest_ - value;
    const auto last = static_cast<std::int64_t>(batch.classes) - 1;
    for (std::int64_t& label : batch.labels) label = last - label;
  }

  bool from_largest_;
  bool known_ = false;
  float largest_ = 0;
};

}  // namespace

AttackKind label_flip_kind() {
  return {.name = "lf",
          .summary = "label flipping: y becomes C - 1 - y (regression: -y)",
          .options = {{"from-largest", 0, 0, 1, "regression: y becomes max(y) - y"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<LabelFlip>(settings.option("from-largest", 0) != 0);
          },
          .trains_first = false};
}

}  // namespace aflguard::lab
