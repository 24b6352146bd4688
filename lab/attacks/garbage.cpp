#include <bit>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Random bits, taken for floats.
class Garbage final : public Attack {
 public:
  Status craft(AttackerView& view, std::span<float> update) override {
    for (float& coordinate : update) {
      coordinate = std::bit_cast<float>(static_cast<std::uint32_t>(view.random().next()));
    }
    return {};
  }
};

/// A device damages the whole message instead: see fill_message().
class GarbageOnDevice final : public Attack {
 public:
  Status craft(AttackerView& view, std::span<float> update) override { return view.own_update(update); }
};

void fill_message(std::span<std::byte> message, std::uint64_t sequence) {
  Random random(sequence, 2);
  for (std::byte& byte : message) byte = static_cast<std::byte>(random.below(256));
}

}  // namespace

AttackKind garbage_kind() {
  return {
      .name = "garbage",
      .summary = "random bytes: in the lab a vector, on a device a whole message under a valid signature",
      .make = [](const AttackSettings&) -> std::unique_ptr<Attack> { return std::make_unique<Garbage>(); },
      .make_on_device = [](const AttackSettings&) -> std::unique_ptr<Attack> {
        return std::make_unique<GarbageOnDevice>();
      },
      .on_device = "random bytes, a whole message under a valid signature",
      .damage = fill_message};
}

}  // namespace aflguard::lab
