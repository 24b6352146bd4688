#include <algorithm>
#include <map>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Its first honest update, again and again.
class Replay final : public Attack {
 public:
  Status craft(AttackerView& view, std::span<float> update) override {
    auto& first = first_[view.client];
    if (first.size() != update.size()) {
      TRY_STATUS(view.own_update(update));
      first.assign(update.begin(), update.end());
    }
    std::copy(first.begin(), first.end(), update.begin());
    return {};
  }

 private:
  std::map<ClientId, std::vector<float>> first_;
};

}  // namespace

AttackKind replay_kind() {
  return {.name = "replay",
          .summary = "the client's first honest update, again and again",
          .make = [](const AttackSettings&) -> std::unique_ptr<Attack> { return std::make_unique<Replay>(); },
          .trains_first = false};
}

}  // namespace aflguard::lab
