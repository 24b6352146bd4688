#include <algorithm>

#include "lab/attacks/attacks.h"

namespace aflguard::lab {
namespace {

/// Label y becomes C - 1 - y. Regression has no classes: y becomes -y, or max(y) - y.
class LabelFlip final : public Attack {
 public:
  explicit LabelFlip(bool from_largest) : from_largest_(from_largest) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    Batch batch = buffer_.gather(view.train(), view.draw_batch(view.client));
    if (view.train().regression()) {
      const float largest = from_largest_ ? largest_value(view.train()) : 0;
      values_.assign(batch.values.begin(), batch.values.end());
      for (float& value : values_) value = largest - value;
      batch.values = values_;
    } else {
      const auto last = static_cast<std::int64_t>(view.train().classes) - 1;
      labels_.assign(batch.labels.begin(), batch.labels.end());
      for (std::int64_t& label : labels_) label = last - label;
      batch.labels = labels_;
    }
    return view.update_on(batch, update);
  }

 private:
  float largest_value(const Dataset& data) {
    if (!known_) largest_ = *std::max_element(data.values.begin(), data.values.end());
    known_ = true;
    return largest_;
  }

  bool from_largest_;
  bool known_ = false;
  float largest_ = 0;
  BatchBuffer buffer_;
  std::vector<std::int64_t> labels_;
  std::vector<float> values_;
};

}  // namespace

AttackKind label_flip_kind() {
  return {.name = "lf",
          .summary = "label flipping: y becomes C - 1 - y (regression: -y)",
          .targeted = false,
          .needs_reference = false,
          .options = {{"from-largest", 0, 0, 1, "regression: y becomes max(y) - y"}},
          .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<LabelFlip>(option_or(settings.attack_options, "from-largest", 0) != 0);
          }};
}

}  // namespace aflguard::lab
