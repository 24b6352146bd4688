#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "fleet/rollout/release_book.h"
#include "tests/core/release/releases.h"

using namespace aflguard;
using namespace aflguard::fleet;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kRoom = 1u << 20;

/// A fleet's folder with the first model, and others that can be rolled out.
struct Desk {
  TemporaryFolder folder;
  FleetFolder fleet{folder / "fleet"};
  ReleaseKeys keys;

  Desk() {
    fs::create_directories(fleet.root);
    write("fleet/model", "first");
    write("second", "second");
    write("third", "third");
  }
  /// Packages of other inputs have other hashes.
  std::string write(const std::string& place, const std::string& name) const {
    ModelPackage package = sample_package();
    package.description.name = name;
    package.description.function = std::string(64, name == "first" ? 'a' : name == "second" ? 'b' : 'c');
    package.description.hash = layout_hash(package.description);
    ASSERT_OK(write_model_package(package, folder / place, true));
    return package.description.hash;
  }
  [[nodiscard]] std::string hash(const std::string& place) const {
    return read_model_package(folder / place)->description.hash;
  }
  ReleaseBook open() {
    auto book = ReleaseBook::open(fleet, "orchard", keys.signer, keys.verifier);
    ASSERT_OK(book);
    return std::move(book).value();
  }
  [[nodiscard]] RolloutStatus trains(const std::string& place, std::uint64_t number,
                                     std::uint64_t release = 0,
                                     RolloutStage stage = RolloutStage::kDone) const {
    RolloutStatus status;
    status.stage = release == 0 ? RolloutStage::kNone : stage;
    status.release = release;
    status.current = {number, place, hash(place)};
    return status;
  }
};

}  // namespace

TEST("Models get the next number, orders too, and both are kept, signed, in the fleet's folder") {
  Desk desk;
  const auto made = desk.open().prepare({desk.folder / "second", {}, {"pi-1"}, false},
                                        desk.trains("fleet/model", 1), kRoom);
  ASSERT_OK(made);
  TEST_ASSERT_EQUAL_UINT64(1, made->release.number);
  TEST_ASSERT_EQUAL_UINT64(2, made->release.model_number);
  TEST_ASSERT_EQUAL_STRING(desk.hash("second").c_str(), to_hex(made->release.model_hash).c_str());
  TEST_ASSERT_EQUAL_STRING(desk.hash("fleet/model").c_str(), to_hex(made->release.replaces).c_str());
  TEST_ASSERT_TRUE(desk.open().orders().front() == made->release);
  ASSERT_OK(unpack_package(made->archive, desk.folder / "copy"));
  const auto next =
      desk.open().prepare({desk.folder / "third", {}, {}, false}, desk.trains("second", 2, 1), kRoom);
  ASSERT_OK(next);
  TEST_ASSERT_EQUAL_UINT64(2, next->release.number);
  TEST_ASSERT_EQUAL_UINT64(3, next->release.model_number);
  ASSERT_OK(desk.open().install_model(desk.hash("second")));
  TEST_ASSERT_EQUAL_STRING(desk.hash("second").c_str(), desk.hash("fleet/model").c_str());
}

TEST("What cannot be rolled out is refused with the reason, and leaves no order") {
  Desk desk;
  const auto refusal = [&](const RolloutRequest& request, const RolloutStatus& now,
                           std::uint64_t room = kRoom) {
    return message_of(desk.open().prepare(request, now, room));
  };
  const RolloutStatus now = desk.trains("fleet/model", 1);
  ASSERT_CONTAINS(refusal({desk.fleet.model(), {}, {}, false}, now), "trains first (number 1) already");
  ASSERT_CONTAINS(refusal({desk.folder / "nothing", {}, {}, false}, now), "is not a model package");
  ASSERT_CONTAINS(refusal({desk.folder / "second", {}, {}, false}, now, 1000),
                  "raise message_bytes in fleet.toml");
  ASSERT_CONTAINS(refusal({desk.folder / "second", {}, {}, false},
                          desk.trains("fleet/model", 1, 4, RolloutStage::kTrial)),
                  "is under way (trial)");
  const fs::path start = desk.folder / "start.npy";
  ASSERT_OK(write_npy(start, std::vector<float>(4), {4}));
  ASSERT_CONTAINS(refusal({desk.folder / "second", start, {}, false}, now),
                  "are 4 numbers, model 'second' has 5");
  TEST_ASSERT_EQUAL_size_t(0, desk.open().orders().size());
}

TEST("An older model needs --force, and undo goes back to the one before, or stops what is under way") {
  Desk desk;
  ASSERT_OK(
      desk.open().prepare({desk.folder / "second", {}, {}, false}, desk.trains("fleet/model", 1), kRoom));
  const RolloutStatus second = desk.trains("second", 2, 1);
  ASSERT_CONTAINS(message_of(desk.open().prepare({desk.fleet.model(), {}, {}, false}, second, kRoom)),
                  "is older than what the fleet trains");
  const auto forced = desk.open().prepare({desk.fleet.model(), {}, {}, true}, second, kRoom);
  ASSERT_OK(forced);
  TEST_ASSERT_EQUAL_UINT64(1, forced->release.model_number);
  const auto stopped = desk.open().prepare_undo(desk.trains("second", 2, 2, RolloutStage::kTrial), false);
  ASSERT_OK(stopped);
  TEST_ASSERT_EQUAL_STRING(desk.hash("second").c_str(), to_hex(stopped->release.model_hash).c_str());
  ASSERT_CONTAINS(
      message_of(desk.open().prepare_undo(desk.trains("second", 2, 3, RolloutStage::kFailed), false)),
      "stopped by itself");
  const auto back = desk.open().prepare_undo(desk.trains("second", 2, 3), false);
  ASSERT_OK(back);
  TEST_ASSERT_EQUAL_STRING(desk.hash("fleet/model").c_str(), to_hex(back->release.model_hash).c_str());
  TEST_ASSERT_EQUAL_UINT64(1, back->release.model_number);
  TEST_ASSERT_EQUAL_UINT64(4, back->release.number);
  Desk other;
  ASSERT_CONTAINS(message_of(other.open().prepare_undo(other.trains("fleet/model", 1), false)),
                  "nothing to undo");
}

TEST("A record that another key signed is named") {
  Desk desk;
  ASSERT_OK(
      desk.open().prepare({desk.folder / "second", {}, {}, false}, desk.trains("fleet/model", 1), kRoom));
  ReleaseKeys other;
  ASSERT_CONTAINS(message_of(ReleaseBook::open(desk.fleet, "orchard", other.signer, other.verifier)),
                  "is not an order of this fleet's release key");
}
