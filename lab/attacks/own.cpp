#include "lab/attacks/own.h"

namespace aflguard::lab {
namespace {

/// Knows its own samples only.
class OwnBlind final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    TRY_STATUS(view.own_update(out));
    negate(out);
    return {};
  }
};

/// One random direction from the first to the last update.
class OwnFixed final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    if (direction_.empty()) {
      direction_.resize(out.size());
      for (float& value : direction_) value = static_cast<float>(view.random().normal());
    }
    std::copy(direction_.begin(), direction_.end(), out.begin());
    return {};
  }
  std::vector<float> direction_;
};

/// Another random direction every time.
class OwnNoise final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    for (float& value : out) value = static_cast<float>(view.random().normal());
    return {};
  }
};

/// Honest every other time, so that what is remembered of the client looks harmless.
class OwnAlternating final : public Own {
 public:
  using Own::Own;
  Status craft(AttackerView& view, std::span<float> update) override {
    honest_ = !honest_;
    return honest_ ? view.own_update(update) : Own::craft(view, update);
  }

 private:
  bool honest_ = false;
};

/// Honest for the first half of the run.
class OwnLate final : public Own {
 public:
  using Own::Own;
  Status craft(AttackerView& view, std::span<float> update) override {
    if (2 * view.iteration < settings().iterations) return view.own_update(update);
    return Own::craft(view, update);
  }
};

/// Ruins one class: uphill on the loss of the first class's samples.
class OwnClass final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    TRY(const Dataset* samples, view.samples());
    if (samples->regression()) return Own::wish(view, out);
    const std::vector<std::int64_t>& labels = samples->labels;
    std::vector<std::size_t> batch;
    while (batch.size() < view.batch_size) {
      const std::size_t candidate = view.random().below(labels.size());
      if (labels[candidate] == 0) batch.push_back(candidate);
    }
    TRY_STATUS(view.update_on(buffer_.gather(*samples, batch), out));
    negate(out);
    return {};
  }
  BatchBuffer buffer_;
};

/// Where models lie on a grid: pushes each number only while the push has room inside its step, so that no
/// device sees it, and none works against it.
class OwnHidden final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    TRY_STATUS(Own::wish(view, out));
    if (view.hidden.size() != out.size()) return {};
    bool any = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
      // The model goes against the wish: it stays within the step while that leads back towards its middle.
      if (out[i] * view.hidden[i] < 0) out[i] = 0;
      any = any || out[i] != 0;
    }
    return any ? Status() : Own::wish(view, out);
  }
};

}  // namespace

AttackKind own_kind() {
  return white_box_kind<Own>("own", "white-box: the strongest accepted update against the honest direction");
}

AttackKind own_blind_kind() {
  return white_box_kind<OwnBlind>("own-blind", "white-box, but of the data it knows its own samples only");
}

AttackKind own_fixed_kind() {
  return white_box_kind<OwnFixed>("own-fixed", "white-box: one random direction, always the same");
}

AttackKind own_alternating_kind() {
  return white_box_kind<OwnAlternating>("own-alternating", "white-box, honest every other time");
}

AttackKind own_noise_kind() {
  return white_box_kind<OwnNoise>("own-noise", "white-box: another random direction every time");
}

AttackKind own_late_kind() {
  return white_box_kind<OwnLate>("own-late", "white-box, honest for the first half of the run");
}

AttackKind own_class_kind() {
  return white_box_kind<OwnClass>("own-class", "white-box: ruins the first class");
}

AttackKind own_hidden_kind() {
  AttackKind kind = white_box_kind<OwnHidden>(
      "own-hidden", "white-box: as own, where the grid of published models hides it (--grid)");
  kind.needs.hidden_model = true;
  return kind;
}

AttackKind sybil_kind() {
  AttackKind kind =
      white_box_kind<Own>("sybil", "as own, under a new identity every time (certificates prevent it)");
  kind.needs.new_identity = true;
  return kind;
}

}  // namespace aflguard::lab
