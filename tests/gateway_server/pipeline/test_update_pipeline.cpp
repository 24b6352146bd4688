#include <atomic>

#include "core/aggregation/guards/aflguard.h"
#include "core/envelope/message_codec.h"
#include "core/envelope/piece_sender.h"
#include "core/envelope/refusal_message.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "gateway_server/pipeline/update_pipeline.h"
#include "tests/gateway_server/judging/happenings.h"
#include "tests/gateway_server/judging/judge_rig.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

ModelMessage terms() {
  ModelMessage terms;
  terms.fleet = "orchard";
  terms.model_hash.fill(7);
  terms.learning_rate = 1;
  return terms;
}

Bytes first_piece(const Bytes& envelope) {
  return PieceSender::create(envelope, {.body_bytes = 50}).value().next()->message;
}

/// Computes references that are all the same, and notes for which versions.
class OnesReference final : public ReferenceSource {
 public:
  [[nodiscard]] Status compute(std::span<const float>, std::uint64_t version,
                               ReferenceUpdate& reference) override {
    reference = reference_of_ones(version);
    versions.add(version);
    return {};
  }
  Happenings<std::uint64_t> versions;
};

/// A pipeline with its judge, and a device that signs.
class Bench final : public JudgeRig<> {
 public:
  explicit Bench(std::unique_ptr<Guard> guard = std::make_unique<AsyncSgd>(),
                 ReferenceSource* reference = nullptr, EvaluationThread::Measure measure = {},
                 std::size_t room = 256u << 20, std::size_t outbox = 64u << 20,
                 std::uint64_t bytes_per_day = 0)
      : JudgeRig(std::move(guard), rate_one(/*reference_interval=*/1)) {
    ASSERT_OK(keys.add("pi-1", device.public_key()));
    ASSERT_OK(gateways.add("gateway", gateway.public_key()));
    settings.limits.inbox_bytes = settings.limits.waiting_bytes = room / 2;
    settings.limits.outbox_bytes = outbox;
    settings.limits.device_updates = 1000;
    settings.limits.device_bytes_per_day = bytes_per_day;
    settings.limits.workers = 1;  // so that updates keep their order
    settings.limits.silence = std::chrono::seconds(10);
    if (measure) settings.evaluation.emplace();
    pipeline.emplace(PipelineParts{.settings = settings,
                                   .terms = terms(),
                                   .dimension = kDimension,
                                   .registry = keys,
                                   .verifier = verifier,
                                   .signer = gateway,
                                   .judge = judge,
                                   .reference = reference,
                                   .measure = std::move(measure),
                                   .counters = counters,
                                   .refusals = refusals,
                                   .wake = [this] { ++wakes; },
                                   .clock = clock,
                                   .log = log});
  }

  [[nodiscard]] Bytes sealed_update(std::uint64_t sequence) {
    UpdateMessage update;
    update.fleet = "orchard";
    update.model_hash.fill(7);
    update.sequence = sequence;
    update.vector.assign(kDimension, 1);
    return EnvelopeSealer(device).seal(encode(update).value()).value().release();
  }
  /// Sends the first `most` pieces of the envelope.
  void send(Bytes envelope, std::size_t most = SIZE_MAX, std::size_t piece = kDefaultPieceBody) {
    auto sender = PieceSender::create(std::move(envelope), {.body_bytes = piece, .window = 1000}).value();
    for (std::size_t i = 0; i < most; ++i) {
      const auto next = sender.next();
      if (!next) return;
      pipeline->accept("pi-1", next->message);
    }
  }
  /// What the pipeline has signed, opened as a device does.
  [[nodiscard]] std::vector<VerdictMessage> verdicts() {
    std::vector<VerdictMessage> all;
    const EnvelopeOpener opener(gateways, verifier);
    while (auto sealed = pipeline->next_sealed()) {
      if (sealed->device.empty()) {
        ++models;
        continue;
      }
      const auto opened = opener.open(UnverifiedEnvelope::parse(std::move(sealed->envelope)).value());
      if (opened->type() == PayloadType::kRefusal) {
        refusals_sent.push_back(decode_refusal(opened.value()).value());
        continue;
      }
      all.push_back(decode_verdict(opened.value()).value());
    }
    return all;
  }
  [[nodiscard]] std::uint64_t refused(const std::string& reason) const {
    const auto counts = refusals.counts();
    const auto found = counts.find(reason);
    return found == counts.end() ? 0 : found->second;
  }

  GatewaySettings settings;
  GatewayCounters counters;
  RefusalLog refusals{log};
  OpensslSigner device = OpensslSigner::generate().value();
  OpensslSigner gateway = OpensslSigner::generate().value();
  KeyTable keys;
  KeyTable gateways;
  OpensslVerifier verifier;
  std::atomic<std::uint64_t> wakes{0};
  std::size_t models = 0;
  std::vector<RefusalMessage> refusals_sent;
  std::optional<UpdatePipeline> pipeline;
};

}  // namespace

TEST("The pieces of a signed update go in, a signed verdict with the new model comes out") {
  Bench bench;
  bench.pipeline->start();
  bench.send(bench.sealed_update(1), SIZE_MAX, 50);
  bench.pipeline->stop();
  const auto verdicts = bench.verdicts();
  TEST_ASSERT_EQUAL_size_t(1, verdicts.size());
  TEST_ASSERT_TRUE(verdicts[0].accepted);
  TEST_ASSERT_EQUAL_UINT64(1, verdicts[0].version);
  TEST_ASSERT_EQUAL_FLOAT(-1, verdicts[0].model->vector.at(0));
  TEST_ASSERT_EQUAL_UINT64(1, bench.wakes);
  TEST_ASSERT_EQUAL_UINT64(1, bench.pipeline->model()->version);
  const auto judged = bench.pipeline->next_judged();
  TEST_ASSERT_EQUAL_STRING("pi-1", judged->device.c_str());
  TEST_ASSERT_FALSE(bench.pipeline->next_judged().has_value());
}

TEST("Told to stop, the pipeline finishes everything that has arrived, in order") {
  Bench bench;
  bench.pipeline->start();
  bench.send(bench.sealed_update(1));
  bench.send(bench.sealed_update(2));
  bench.pipeline->stop();
  TEST_ASSERT_EQUAL_size_t(2, bench.verdicts().size());
  TEST_ASSERT_EQUAL_size_t(2, bench.store.verdicts.size());
  TEST_ASSERT_EQUAL_size_t(0, bench.pipeline->waiting());
  bench.send(bench.sealed_update(3));  // too late
  bench.pipeline->stop();
  TEST_ASSERT_TRUE(bench.verdicts().empty());
}

TEST("The newest model is signed for the retained topic when that is asked for") {
  Bench bench;
  TEST_ASSERT_TRUE(bench.pipeline->model() == nullptr);
  bench.pipeline->start();
  TEST_ASSERT_EQUAL_UINT64(0, bench.pipeline->model()->version);
  bench.pipeline->seal_model();
  bench.pipeline->stop();
  TEST_ASSERT_TRUE(bench.verdicts().empty());
  TEST_ASSERT_EQUAL_size_t(1, bench.models);
}

TEST("An envelope may be as large as the model's largest message, and not one byte larger") {
  Bench bench;
  bench.pipeline->start();
  bench.send(Bytes(max_envelope_for(kDimension), std::byte{1}));
  TEST_ASSERT_EQUAL_UINT64(0, bench.refused("oversized"));
  bench.send(Bytes(max_envelope_for(kDimension), std::byte{2}), 1, 50);
  TEST_ASSERT_EQUAL_UINT64(0, bench.refused("oversized"));
  bench.send(Bytes(max_envelope_for(kDimension) + 1, std::byte{3}), 1, 50);
  TEST_ASSERT_EQUAL_UINT64(1, bench.refused("oversized"));  // at its first piece
  bench.send(Bytes(max_envelope_for(kDimension) + 1, std::byte{4}));
  bench.pipeline->stop();
  TEST_ASSERT_EQUAL_UINT64(2, bench.refused("oversized"));  // one that came whole
  TEST_ASSERT_EQUAL_UINT64(3, bench.refusals.total());      // and the first, which is not an envelope
}

TEST("An update with a number that is too old is answered and counted as replayed") {
  Bench bench;
  bench.pipeline->start();
  bench.send(bench.sealed_update(100));
  bench.send(bench.sealed_update(1));
  bench.pipeline->stop();
  const auto verdicts = bench.verdicts();
  TEST_ASSERT_EQUAL_size_t(2, verdicts.size());
  TEST_ASSERT_EQUAL_UINT8(static_cast<std::uint8_t>(RefusalReason::kReplayed), verdicts[1].reason);
  TEST_ASSERT_EQUAL_UINT64(1, bench.refused("replayed"));
}

TEST("Who finds no room is told so with the first piece, signed, with the time to come back") {
  Bench bench(std::make_unique<AsyncSgd>(), nullptr, {}, 4 * (300 + kTransferOverhead));
  bench.pipeline->start();
  // Begun and not ended: each holds its place.
  for (std::uint64_t i = 1; i <= 2; ++i) bench.send(bench.sealed_update(i), 1, 50);
  const Bytes late = bench.sealed_update(3);
  for (int i = 0; i < 20; ++i) bench.pipeline->accept("pi-" + std::to_string(10 + i), first_piece(late));
  bench.pipeline->stop();
  TEST_ASSERT_TRUE(bench.verdicts().empty());
  TEST_ASSERT_TRUE(bench.refused("overloaded") >= 16);
  TEST_ASSERT_EQUAL_UINT64(bench.refused("overloaded"), bench.refusals_sent.size());  // one device each
  const RefusalMessage& refusal = bench.refusals_sent.back();
  TEST_ASSERT_EQUAL_STRING("pi-29", refusal.device.c_str());
  TEST_ASSERT_EQUAL_UINT64(transfer_id_of(late), refusal.transfer);
  TEST_ASSERT_FALSE(refusal.proven);
  TEST_ASSERT_TRUE(refusal.come_back > bench.refusals_sent.front().come_back);
}

TEST("Whose bytes of the day are used up is refused with the first piece, with the time to come back") {
  Bench bench(std::make_unique<AsyncSgd>(), nullptr, {}, 256u << 20, 64u << 20, /*bytes_per_day=*/100);
  bench.pipeline->start();
  bench.send(bench.sealed_update(1));
  while (!bench.pipeline->next_judged()) std::this_thread::yield();
  const Bytes second = bench.sealed_update(2);
  bench.send(second, 1, 50);
  bench.pipeline->stop();
  TEST_ASSERT_EQUAL_size_t(1, bench.verdicts().size());
  TEST_ASSERT_EQUAL_UINT64(1, bench.refused("overloaded"));
  TEST_ASSERT_EQUAL_UINT64(transfer_id_of(second), bench.refusals_sent.at(0).transfer);
  TEST_ASSERT_EQUAL_INT64(kLongestComeBack.count(), bench.refusals_sent[0].come_back.count());
  ASSERT_CONTAINS(bench.refusals_sent[0].text, "bytes of this day");
}

TEST("Refused for what its signed envelope holds, the device is told its number, and that it is proven") {
  Bench bench;
  bench.pipeline->start();
  UpdateMessage update;
  update.fleet = "orchard";
  update.model_hash.fill(8);
  update.sequence = 5;
  update.vector.assign(kDimension, 1);
  const Bytes sealed = EnvelopeSealer(bench.device).seal(encode(update).value()).value().release();
  bench.send(sealed);
  bench.pipeline->stop();
  TEST_ASSERT_TRUE(bench.verdicts().empty());
  TEST_ASSERT_EQUAL_size_t(1, bench.refusals_sent.size());
  TEST_ASSERT_TRUE(bench.refusals_sent[0].reason == RefusalReason::kWrongModel);
  TEST_ASSERT_TRUE(bench.refusals_sent[0].proven);
  TEST_ASSERT_EQUAL_UINT64(5, bench.refusals_sent[0].sequence);
  TEST_ASSERT_EQUAL_UINT64(1, bench.counters.refusals_answered);
}

TEST("A transfer that stays silent is dropped and counted") {
  Bench bench;
  bench.pipeline->start();
  bench.send(bench.sealed_update(1), 1, 50);
  TEST_ASSERT_TRUE(bench.pipeline->inbox_bytes() > 0);
  const auto now = bench.clock.steady();
  bench.pipeline->tick(now);
  TEST_ASSERT_EQUAL_UINT64(0, bench.pipeline->abandoned());
  bench.pipeline->tick(now + std::chrono::seconds(30));
  TEST_ASSERT_EQUAL_UINT64(1, bench.pipeline->abandoned());
  TEST_ASSERT_EQUAL_size_t(0, bench.pipeline->inbox_bytes());
  ASSERT_CONTAINS(bench.log.text(), "1 unfinished updates were dropped after 10 s of silence");
}

TEST("A reference that is due is computed at the newest model and installed") {
  OnesReference source;
  Bench bench(std::make_unique<AflGuard>(1.5), &source);
  ASSERT_OK(bench.judge.install_reference(reference_of_ones(0), 0));
  bench.pipeline->start();
  bench.send(bench.sealed_update(1));
  TEST_ASSERT_EQUAL_UINT64(1, source.versions.wait_for(1)[0]);
  bench.pipeline->stop();
  TEST_ASSERT_EQUAL_UINT64(1, bench.counters.references);
  TEST_ASSERT_EQUAL_INT64(1, bench.counters.reference_version);
}

TEST("Models are measured, and the figure is there for telemetry") {
  Happenings<float> measured;
  Bench bench(std::make_unique<AsyncSgd>(), nullptr,
              [&](std::span<const float> parameters) -> Result<double> {
                measured.add(parameters[0]);
                return 0.25;
              });
  bench.pipeline->start();
  TEST_ASSERT_EQUAL_FLOAT(0, measured.wait_for(1)[0]);
  bench.pipeline->stop();
  TEST_ASSERT_EQUAL_DOUBLE(0.25, bench.counters.test_error);
}

TEST("Verdicts for which there is no room yet wait for it, unsigned, and none is dropped") {
  Bench bench(std::make_unique<AsyncSgd>(), nullptr, {}, 256u << 20, /*outbox=*/4);
  bench.pipeline->start();
  for (std::uint64_t i = 1; i <= 50; ++i) bench.send(bench.sealed_update(i));
  while (bench.counters.accepted < 50) std::this_thread::yield();
  TEST_ASSERT_TRUE(bench.counters.replies <= 1);  // the next as soon as it has been taken
  for (std::size_t taken = 0; taken < 50;) {
    if (bench.pipeline->next_sealed()) ++taken;
    std::this_thread::yield();
  }
  bench.pipeline->stop();
  TEST_ASSERT_TRUE(bench.verdicts().empty());
  TEST_ASSERT_EQUAL_UINT64(50, bench.counters.replies);
  TEST_ASSERT_EQUAL_UINT64(0, bench.counters.replies_dropped);
}

TEST("What waits for room when the pipeline stops is still signed") {
  Bench bench(std::make_unique<AsyncSgd>(), nullptr, {}, 256u << 20, /*outbox=*/4);
  bench.pipeline->start();
  for (std::uint64_t i = 1; i <= 20; ++i) bench.send(bench.sealed_update(i));
  bench.pipeline->stop();
  TEST_ASSERT_EQUAL_size_t(20, bench.verdicts().size());
}
