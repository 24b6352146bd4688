#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/base/random.h"
#include "core/compression/compression.h"
#include "core/encoding/vector_codec.h"
#include "core/envelope/encoded_messages.h"
#include "core/envelope/message_codec.h"
#include "tests/scenarios/live_fleet.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::uint64_t kMaxDelay = 3;

LiveFleetOptions options() {
  LiveFleetOptions options;
  options.guard_extra = "max_delay = " + std::to_string(kMaxDelay) + "\n";
  options.gateway_extra =
      "[limits]\nsilence_seconds = 1\nupdate_bytes = 4096\ndevice_bytes = 8192\ndevice_updates = 64\n";
  return options;
}

/// One fleet for all tests here: a gateway that survives them, an honest device, and one that sends anything.
/// That the gateway still answers the honest one is the end of every test.
class Scene final {
 public:
  Scene() : fleet(options()) {
    fleet.enrol("pi-1");
    fleet.enrol("pi-2");
    fleet.start_gateway();
    honest.emplace(fleet, "pi-1");
    hostile.emplace(fleet, "pi-2");
  }

  /// Waits until `count` more messages of the hostile device have been refused for that reason.
  void expect_refusals(RefusalReason reason, std::uint64_t count = 1) {
    const std::string name(to_string(reason));
    fleet.wait_for_refusals(name, expected_[name] += count);
    ASSERT_CONTAINS(fleet.gateway_log(), "refused (" + name + ") from 'pi-2': ");
  }

  void expect_refusal_of(const std::vector<Bytes>& envelopes, RefusalReason reason) {
    for (const Bytes& envelope : envelopes) hostile->send(envelope);
    expect_refusals(reason, envelopes.size());
  }

  /// The honest device's next update is judged as if it were alone.
  void expect_honest_answer() {
    const VerdictMessage verdict = honest->insist(honest->update(++honest_sequence_, version_, 0.5F));
    TEST_ASSERT_TRUE(verdict.accepted);
    TEST_ASSERT_EQUAL_UINT64(++version_, verdict.version);
  }

  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// A new number for the hostile device.
  [[nodiscard]] std::uint64_t sequence() { return ++hostile_sequence_; }
  [[nodiscard]] UpdateMessage good_update() { return hostile->update(sequence(), version_, 0.25F); }
  void note_accepted() { ++version_; }

  LiveFleet fleet;
  std::optional<HandDevice> honest;
  std::optional<HandDevice> hostile;

 private:
  std::map<std::string, std::uint64_t> expected_;
  std::uint64_t version_ = 0;
  std::uint64_t honest_sequence_ = 0;
  std::uint64_t hostile_sequence_ = 0;
};

Scene& scene() {
  static const auto the_scene = std::make_unique<Scene>();
  return *the_scene;
}

Bytes bytes_of(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

/// What a device of ill will signs: every field is written as it is given, sensible or not.
struct RawUpdate {
  std::uint64_t sequence = 1;
  std::uint64_t base_version = 0;
  std::uint64_t fields = 7;
  std::uint64_t vector_tag = 85;
  std::string fleet = "orchard";
  Bytes vector;
  Bytes behind;  ///< after the end of the map
};

Bytes floats(const std::vector<float>& values) {
  const auto raw = std::as_bytes(std::span(values));
  return {raw.begin(), raw.end()};
}

Payload encode_raw(const RawUpdate& update) {
  Payload payload{PayloadType::kUpdate, {}};
  CborWriter writer(payload.bytes);
  writer.put_map(update.fields);
  writer.put_unsigned(1);
  writer.put_text(update.fleet);
  writer.put_unsigned(2);
  writer.put_bytes(std::as_bytes(std::span(scene().fleet.model_hash())));
  writer.put_unsigned(3);
  writer.put_unsigned(update.base_version);
  writer.put_unsigned(4);
  writer.put_unsigned(update.sequence);
  writer.put_unsigned(5);
  writer.put_unsigned(1);
  writer.put_unsigned(6);
  writer.put_double(0);
  writer.put_unsigned(7);
  writer.put_tag(update.vector_tag);
  writer.put_bytes(update.vector);
  payload.bytes.insert(payload.bytes.end(), update.behind.begin(), update.behind.end());
  return payload;
}

Bytes seal(Signer& signer, const Payload& payload) {
  return EnvelopeSealer(signer).seal(payload).value().release();
}

Bytes seal_raw(const RawUpdate& update) {
  return seal(scene().hostile->signer(), encode_raw(update));
}

/// The most memory that a process had resident.
long peak_kib(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  long kib = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:" && status >> kib) break;
  }
  return kib;
}

RawUpdate raw_update() {
  RawUpdate update;
  update.sequence = scene().sequence();
  update.base_version = scene().version();
  update.vector = floats(std::vector<float>(scene().fleet.dimension(), 0.25F));
  return update;
}

}  // namespace

TEST("Messages that are not pieces are refused: empty ones, short ones, impossible numbers") {
  Scene& all = scene();
  all.expect_honest_answer();
  const Bytes piece = HandDevice::pieces(all.hostile->seal(all.good_update())).front();
  std::vector<Bytes> malformed = {Bytes{}, Bytes(1, std::byte{1}), Bytes(piece.begin(), piece.begin() + 19),
                                  Bytes(piece.begin(), piece.end() - 1)};
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes changed = piece;
    changed[at] = std::byte{value};
    return changed;
  };
  malformed.push_back(with(5, 9));      // piece 9 of 1
  malformed.push_back(with(7, 0));      // none at all
  malformed.push_back(with(7, 9));      // one of nine, with the bytes of all
  malformed.push_back(with(19, 0xFF));  // another total
  Bytes longer = piece;
  longer.push_back(std::byte{0});
  malformed.push_back(longer);
  Bytes nothing(20, std::byte{0});  // one piece of an envelope of no bytes
  nothing[0] = nothing[7] = std::byte{1};
  malformed.push_back(nothing);
  for (const Bytes& message : malformed) all.hostile->publish(message);
  all.expect_refusals(RefusalReason::kMalformed, malformed.size());
  all.hostile->publish(with(0, 2));  // a format of tomorrow
  all.hostile->publish(with(1, 1));
  all.expect_refusals(RefusalReason::kUnsupported, 2);
  all.expect_honest_answer();
}

TEST("What is larger than any update of this model is refused before it costs memory") {
  Scene& all = scene();
  all.hostile->publish(Bytes(kMaxPieceBytes + 1));
  PieceHeader header;
  header.count = 1000;
  header.transfer = 1;
  header.total = 1'000'000;
  for (const std::uint32_t total : {1'000'000U, 4'000'000'000U, 2048U}) {
    header.total = total;
    header.count = static_cast<std::uint16_t>(std::min(total / 1000, 65'535U));
    while (header.body_size() > kMaxPieceBytes - kPieceHeaderBytes) ++header.count;
    all.hostile->publish(write_piece(header, Bytes(header.body_size())));
    ++header.transfer;
  }
  all.expect_refusals(RefusalReason::kOversized, 4);
  all.expect_honest_answer();
}

TEST("Envelopes that are damaged, cut short or no envelopes are refused as malformed") {
  Scene& all = scene();
  const Bytes good = all.hostile->seal(all.good_update());
  Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(good.size() / 2));
  Bytes longer = good;
  longer.push_back(std::byte{0});
  Bytes other_tag = good;
  other_tag[0] = std::byte{0xD1};
  Bytes not_signed = good;
  not_signed.resize(good.size() - sizeof(EcdsaSignature) - 2);
  not_signed.push_back(std::byte{0x40});  // a signature of no bytes
  const Payload payload = encode(all.good_update()).value();
  Random random(1);
  Bytes noise(500);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random.below(256));
  all.expect_refusal_of({cut, longer, other_tag, not_signed, payload.bytes, noise, bytes_of("{}")},
                        RefusalReason::kMalformed);
  all.expect_honest_answer();
}

TEST("Envelopes that are wrongly signed, signed by a stranger or by another device are refused as such") {
  Scene& all = scene();
  Bytes changed = all.hostile->seal(all.good_update());
  changed[changed.size() - sizeof(EcdsaSignature) - 10] ^= std::byte{1};  // a number of the vector
  Bytes zero = all.hostile->seal(all.good_update());
  std::fill(zero.end() - sizeof(EcdsaSignature), zero.end(), std::byte{0});
  all.expect_refusal_of({changed, zero}, RefusalReason::kBadSignature);
  OpensslSigner stranger = OpensslSigner::generate().value();
  all.expect_refusal_of({seal(stranger, encode(all.good_update()).value())}, RefusalReason::kUnknownKey);
  const Bytes of_another = all.honest->seal(all.honest->update(1000, all.version(), 1));
  all.expect_refusal_of({of_another}, RefusalReason::kForeignSender);
  all.expect_honest_answer();
}

TEST("Signed messages that are not updates for this fleet and model are refused, whatever they hold") {
  Scene& all = scene();
  UpdateMessage update = all.good_update();
  update.fleet = "vineyard";
  all.expect_refusal_of({all.hostile->seal(update)}, RefusalReason::kWrongFleet);
  update = all.good_update();
  update.model_hash[7] ^= 1;
  std::vector<Bytes> of_other_models = {all.hostile->seal(update)};
  for (const std::size_t size : {std::size_t{1}, all.fleet.dimension() - 1, all.fleet.dimension() + 1}) {
    update = all.good_update();
    update.vector.assign(size, 1);
    of_other_models.push_back(all.hostile->seal(update));
  }
  all.expect_refusal_of(of_other_models, RefusalReason::kWrongModel);
  VerdictMessage verdict;
  verdict.fleet = "orchard";
  verdict.device = "pi-2";
  all.expect_refusal_of({seal(all.hostile->signer(), encode(verdict).value())}, RefusalReason::kUnsupported);
  all.expect_honest_answer();
}

TEST("Signed updates with numbers that no honest device writes are refused: NaN, infinity, nothing, zero") {
  Scene& all = scene();
  std::vector<Bytes> not_finite;
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()}) {
    RawUpdate raw = raw_update();
    std::memcpy(raw.vector.data() + sizeof(float), &number, sizeof(float));
    not_finite.push_back(seal_raw(raw));
  }
  all.expect_refusal_of(not_finite, RefusalReason::kNotFinite);
  std::vector<RawUpdate> malformed(7, raw_update());
  malformed[0].vector.clear();
  malformed[1].vector.pop_back();
  malformed[2].sequence = 0;
  malformed[3].fields = 6;
  malformed[4].vector_tag = 86;
  malformed[5].behind = Bytes(1, std::byte{0});
  malformed[6].fleet = "or chard";
  std::vector<Bytes> envelopes;
  for (const RawUpdate& raw : malformed) envelopes.push_back(seal_raw(raw));
  all.expect_refusal_of(envelopes, RefusalReason::kMalformed);
  all.expect_honest_answer();
}

TEST("An update on a version too far back, or of the future, gets a verdict that says so") {
  Scene& all = scene();
  while (all.version() <= kMaxDelay) all.expect_honest_answer();
  const std::size_t before = all.fleet.history().size();
  const VerdictMessage stale = all.hostile->insist(all.hostile->update(all.sequence(), 0, 1));
  TEST_ASSERT_FALSE(stale.accepted);
  TEST_ASSERT_EQUAL_UINT8(static_cast<std::uint8_t>(Reason::kTooOld), stale.reason);
  TEST_ASSERT_EQUAL_UINT64(all.version(), stale.delay);
  const std::uint64_t future = all.version() + 1;
  for (const std::uint64_t base : {future, std::numeric_limits<std::uint64_t>::max()}) {
    const VerdictMessage early = all.hostile->insist(all.hostile->update(all.sequence(), base, 1));
    TEST_ASSERT_FALSE(early.accepted);
    TEST_ASSERT_EQUAL_UINT8(static_cast<std::uint8_t>(Reason::kUnknownVersion), early.reason);
    TEST_ASSERT_EQUAL_UINT64(all.version(), early.version);
  }
  const auto metrics = nlohmann::json::parse(all.fleet.wait_for_metrics([](const std::string& text) {
    return nlohmann::json::parse(text).at("rejected_by").value("unknown-version", 0) == 2;
  }));
  TEST_ASSERT_EQUAL_INT(1, metrics.at("rejected_by").at("too-old").get<int>());
  TEST_ASSERT_EQUAL_UINT64(before + 3, all.fleet.history().size());
  all.expect_honest_answer();
}

TEST("A number from below the replay window is refused, counted and answered, and changes nothing") {
  Scene& all = scene();
  const std::uint64_t old = all.sequence();
  std::uint64_t newest = old;
  while (newest < old + ReplayWindow::kWidth) newest = all.sequence();
  TEST_ASSERT_TRUE(all.hostile->insist(all.hostile->update(newest, all.version(), 0.25F)).accepted);
  all.note_accepted();
  const VerdictMessage answer = all.hostile->insist(all.hostile->update(old, all.version(), 9));
  TEST_ASSERT_FALSE(answer.accepted);
  TEST_ASSERT_EQUAL_UINT8(static_cast<std::uint8_t>(RefusalReason::kReplayed), answer.reason);
  TEST_ASSERT_EQUAL_UINT64(newest, answer.highest_sequence);
  all.expect_refusals(RefusalReason::kReplayed);
  all.expect_honest_answer();
}

TEST("Pieces that come twice and in any order make one update") {
  Scene& all = scene();
  const UpdateMessage update = all.good_update();
  auto pieces = HandDevice::pieces(all.hostile->seal(update), 10);
  TEST_ASSERT_GREATER_THAN(10, pieces.size());
  const auto once = pieces;
  pieces.insert(pieces.end(), once.begin(), once.end());
  Random(7).shuffle(std::span(pieces));
  all.hostile->flood(pieces);
  // Whatever was repeated behind the last missing piece opened nothing new: the same bytes again are a
  // repeat, answered from the store and applied once.
  const VerdictMessage verdict = all.hostile->insist(update);
  TEST_ASSERT_TRUE(verdict.accepted);
  all.note_accepted();
  TEST_ASSERT_EQUAL_UINT64(all.version(), verdict.version);
  all.expect_honest_answer();
}

TEST("Half an update and then silence is forgotten and counted, and the whole is taken later") {
  Scene& all = scene();
  const UpdateMessage update = all.good_update();
  auto pieces = HandDevice::pieces(all.hostile->seal(update), 10);
  pieces.resize(pieces.size() / 2);
  all.hostile->flood(pieces);
  (void)all.fleet.wait_for_metrics([](const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    return json.at("abandoned").get<int>() > 0 && json.at("inbox_bytes").get<int>() == 0;
  });
  ASSERT_CONTAINS(all.fleet.gateway_log(), "unfinished");
  TEST_ASSERT_TRUE(all.hostile->insist(update).accepted);
  all.note_accepted();
  all.expect_honest_answer();
}

TEST("Every refusal of an envelope is answered, signed, with its reason and how much of it was proven") {
  Scene& all = scene();
  const auto expect = [&](RefusalReason reason, bool proven, const Bytes& envelope) {
    const RefusalMessage refusal = all.hostile->insist_on_refusal(envelope);
    TEST_ASSERT_EQUAL_STRING(std::string(to_string(reason)).c_str(),
                             std::string(to_string(refusal.reason)).c_str());
    TEST_ASSERT_TRUE(refusal.proven == proven);
    TEST_ASSERT_TRUE(refusal.device == "pi-2" && refusal.fleet == "orchard" && !refusal.text.empty());
  };
  UpdateMessage update = all.good_update();
  update.fleet = "vineyard";
  expect(RefusalReason::kWrongFleet, true, all.hostile->seal(update));
  update = all.good_update();
  update.model_hash[7] ^= 1;
  expect(RefusalReason::kWrongModel, true, all.hostile->seal(update));
  RawUpdate raw = raw_update();
  raw.vector = floats(std::vector<float>(all.fleet.dimension(), NAN));
  expect(RefusalReason::kNotFinite, true, seal_raw(raw));
  raw = raw_update();
  raw.behind = bytes_of("x");
  expect(RefusalReason::kMalformed, true, seal_raw(raw));
  Bytes changed = all.hostile->seal(all.good_update());
  changed[changed.size() - sizeof(EcdsaSignature) - 10] ^= std::byte{1};
  expect(RefusalReason::kBadSignature, false, changed);
  OpensslSigner stranger = OpensslSigner::generate().value();
  expect(RefusalReason::kUnknownKey, false, seal(stranger, encode(all.good_update()).value()));
  expect(RefusalReason::kOversized, false, Bytes(100'000, std::byte{1}));
  all.expect_honest_answer();
}

TEST(
    "Encoded updates that no honest device sends are refused before they cost memory, counted and answered") {
  Scene& all = scene();
  const auto answer = [&](const EncodedVector& vector) {
    UpdateMessage update = all.good_update();
    const Payload payload = encode_compact(update, vector).value();
    return all.hostile->insist_on_refusal(seal(all.hostile->signer(), payload));
  };
  const auto expect = [&](RefusalReason reason, const EncodedVector& vector) {
    const RefusalMessage refusal = answer(vector);
    TEST_ASSERT_EQUAL_STRING(std::string(to_string(reason)).c_str(),
                             std::string(to_string(refusal.reason)).c_str());
    TEST_ASSERT_TRUE(refusal.proven);
  };
  const long before = peak_kib(all.fleet.gateway_pid());
  const std::vector<float> numbers(all.fleet.dimension(), 0.25F);
  const EncodedVector good = encode_vector(numbers, Encoding::kInt8, 1).value();
  EncodedVector vector = good;
  vector.encoding = static_cast<Encoding>(9);
  expect(RefusalReason::kUnsupported, vector);
  vector = good;
  vector.packing = static_cast<Packing>(7);
  expect(RefusalReason::kUnsupported, vector);
  vector = good;
  vector.bytes.resize(vector.bytes.size() - 2);  // a block less
  expect(RefusalReason::kMalformed, vector);
  vector = good;
  vector.bytes[0] = std::byte{0x80};
  vector.bytes[1] = std::byte{0x7f};  // infinity
  expect(RefusalReason::kNotFinite, vector);
  vector = good;
  vector.count = std::uint64_t{1} << 40;
  expect(RefusalReason::kMalformed, vector);
  vector = good;
  vector.packing = Packing::kZstd;
  vector.bytes = compress(Bytes(std::size_t{30} << 20)).value();
  vector.bytes.resize(64);  // its head promises 30 MiB
  expect(RefusalReason::kMalformed, vector);
  TEST_ASSERT_TRUE(peak_kib(all.fleet.gateway_pid()) - before < 20'000);
  all.expect_honest_answer();
}
