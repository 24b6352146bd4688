#include <condition_variable>

#include "core/envelope/encoded_messages.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "gateway_server/replies/reply_thread.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kDimension = 1000;

SharedModel model_of(std::uint64_t version) {
  auto snapshot = std::make_shared<ModelSnapshot>();
  snapshot->version = version;
  snapshot->parameters.assign(kDimension, 0.5F);
  snapshot->parameters[version % kDimension] = 0.75F;
  return snapshot;
}

/// What a device got for one update.
struct Answer {
  std::string device;
  VerdictMessage verdict;
  std::optional<DifferenceMessage> difference;
  Bytes before;
  std::optional<ModelMessage> model = std::nullopt;  ///< in front of the verdict
};

/// A reply thread, and a device's eyes for what comes out of it.
class Bench final {
 public:
  explicit Bench(std::size_t history_bytes = 1 << 20) : voice_(signer_, terms(), EncodingSet::all()) {
    ASSERT_OK(keys_.add("gateway", signer_.public_key()));
    thread_.emplace(
        voice_, ReplyThread::Limits{1e9, history_bytes, false},
        ReplyThread::Outputs{
            .verdict = [this](const std::string& device, Bytes envelope,
                              Bytes before) { take(device, std::move(envelope), std::move(before)); },
            .model = [](Bytes) {},
            .next_turn =
                [](const std::string& device) {
                  return std::chrono::milliseconds(device == "pi-slow" ? 5000 : 0);
                }},
        counters_, clock_, log_);
  }
  [[nodiscard]] static ModelMessage terms() {
    ModelMessage terms;
    terms.fleet = "orchard";
    terms.learning_rate = 1;
    return terms;
  }
  void reply(const std::string& device, std::uint64_t sequence, std::uint64_t version) {
    VerdictMessage verdict;
    verdict.fleet = "orchard";
    verdict.device = device;
    verdict.sequence = sequence;
    verdict.version = version;
    thread_->reply(std::move(verdict));
  }
  ReplyThread& thread() { return *thread_; }
  /// Until so many answers are there.
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return answers_.size() >= count; });
  }
  /// After the last reply.
  [[nodiscard]] const std::vector<Answer>& answers() {
    thread_->stop();
    return answers_;
  }

  // Complete after answers().
  std::vector<RefusalMessage> refusals;
  std::vector<OfferMessage> offers;

 private:
  [[nodiscard]] VerifiedPayload open(Bytes envelope) const {
    return EnvelopeOpener(keys_, verifier_)
        .open(UnverifiedEnvelope::parse(std::move(envelope)).value())
        .value();
  }
  void take(const std::string& device, Bytes envelope, Bytes before) {
    const VerifiedPayload payload = open(std::move(envelope));
    const std::lock_guard counting(mutex_);
    if (payload.type() == PayloadType::kRefusal) return refusals.push_back(decode_refusal(payload).value());
    if (payload.type() == PayloadType::kOffer) return offers.push_back(decode_offer(payload).value());
    Answer answer{device, decode_verdict(payload).value(), std::nullopt, before};
    if (!before.empty()) {
      const VerifiedPayload first = open(std::move(before));
      if (first.type() == PayloadType::kModel) answer.model = decode_model(first).value();
      if (first.type() == PayloadType::kDifference) answer.difference = decode_difference(first).value();
    }
    answers_.push_back(std::move(answer));
    came_.notify_all();
  }

  OpensslSigner signer_ = OpensslSigner::generate().value();
  OpensslVerifier verifier_;
  KeyTable keys_;
  ReplySigner voice_;
  GatewayCounters counters_;
  SetClock clock_;
  KeptLog log_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Answer> answers_;
  std::optional<ReplyThread> thread_;
};

ModelMessage held(std::uint64_t version) {
  ModelMessage model = Bench::terms();
  model.version = version;
  model.vector = model_of(version)->parameters;
  return model;
}

}  // namespace

TEST("Who sent format 2 on a version that was given out gets the difference to it, made once for all") {
  Bench bench;
  bench.thread().set_model(model_of(1));
  bench.reply("old", 1, 1);  // format 1: the whole model
  bench.wait_for(1);
  bench.thread().set_model(model_of(3));
  for (const char* device : {"pi-1", "pi-2"}) {
    bench.thread().note_base(device, 7, 1);
    bench.reply(device, 7, 2);
  }
  const auto& answers = bench.answers();
  TEST_ASSERT_EQUAL_size_t(3, answers.size());
  TEST_ASSERT_TRUE(answers[0].verdict.model.has_value() && !answers[0].difference);
  for (const std::size_t i : {1, 2}) {
    TEST_ASSERT_FALSE(answers[i].verdict.model.has_value());
    TEST_ASSERT_EQUAL_UINT64(3, answers[i].verdict.version);
    TEST_ASSERT_EQUAL_UINT64(1, answers[i].difference->base_version);
    const auto model = apply(*answers[i].difference, held(1));
    TEST_ASSERT_TRUE(model.ok());
    TEST_ASSERT_TRUE(model->vector == model_of(3)->parameters);
  }
  TEST_ASSERT_TRUE(answers[1].before == answers[2].before);
}

TEST("A version that never was, was never given out or is of the future gets the whole model") {
  Bench bench;
  bench.thread().set_model(model_of(5));
  for (const std::uint64_t base : {0, 4, 6, 1000}) {
    const std::string device = "pi-" + std::to_string(base);
    bench.thread().note_base(device, 1, base);
    bench.reply(device, 1, 5);
  }
  bench.thread().note_base("pi-9", 50, 5);
  bench.reply("pi-9", 51, 5);  // an answer to another update
  const auto& answers = bench.answers();
  TEST_ASSERT_EQUAL_size_t(5, answers.size());
  for (std::size_t i = 0; i < 4; ++i) {  // signed once for all of format 2, in front of the verdict
    TEST_ASSERT_FALSE(answers[i].verdict.model.has_value());
    TEST_ASSERT_EQUAL_UINT64(5, answers[i].verdict.version);
    TEST_ASSERT_TRUE(answers[i].model->vector == model_of(5)->parameters);
    TEST_ASSERT_TRUE(answers[i].before == answers[0].before);
  }
  TEST_ASSERT_TRUE(answers[4].verdict.model.has_value());
  TEST_ASSERT_TRUE(answers[4].before.empty());
}

TEST("Only who understands it is told when its next turn is") {
  Bench bench;
  bench.thread().set_model(model_of(5));
  bench.reply("pi-slow", 1, 5);  // format 1
  bench.thread().note_base("pi-slow", 2, 5);
  bench.reply("pi-slow", 2, 5);
  bench.thread().note_base("pi-1", 1, 5);
  bench.reply("pi-1", 1, 5);
  const auto& answers = bench.answers();
  TEST_ASSERT_EQUAL_INT64(0, answers[0].verdict.come_back.count());
  TEST_ASSERT_EQUAL_INT64(5000, answers[1].verdict.come_back.count());
  TEST_ASSERT_EQUAL_INT64(0, answers[2].verdict.come_back.count());
}

TEST("Who has the newest version already gets none") {
  Bench bench;
  bench.thread().set_model(model_of(5));
  bench.reply("pi-1", 1, 5);
  bench.thread().note_base("pi-1", 2, 5);
  bench.reply("pi-1", 2, 5);
  const auto& answers = bench.answers();
  TEST_ASSERT_TRUE(answers[0].verdict.model.has_value());
  TEST_ASSERT_FALSE(answers[1].verdict.model.has_value());
  TEST_ASSERT_TRUE(answers[1].before.empty());
  TEST_ASSERT_EQUAL_UINT64(5, answers[1].verdict.version);
}

TEST("Without a history every answer has the whole model") {
  Bench bench(0);
  bench.thread().set_model(model_of(5));
  bench.reply("pi-1", 1, 5);
  bench.thread().note_base("pi-1", 2, 5);
  bench.reply("pi-1", 2, 5);
  const auto& answers = bench.answers();
  TEST_ASSERT_TRUE(answers[0].verdict.model.has_value());
  TEST_ASSERT_TRUE(answers[1].model.has_value());
}

TEST("Refusals, offers and differences leave side by side") {
  Bench bench;
  bench.thread().set_model(model_of(1));
  bench.reply("old", 1, 1);
  bench.wait_for(1);
  bench.thread().set_model(model_of(3));
  RefusalMessage refusal;
  refusal.fleet = "orchard";
  refusal.device = "pi-1";
  refusal.reason = RefusalReason::kOverloaded;
  bench.thread().refuse(refusal);
  bench.thread().offer("pi-2");
  bench.thread().note_base("pi-3", 7, 1);
  bench.reply("pi-3", 7, 2);
  const auto& answers = bench.answers();
  TEST_ASSERT_EQUAL_size_t(2, answers.size());
  TEST_ASSERT_TRUE(answers[1].difference.has_value());
  TEST_ASSERT_EQUAL_size_t(1, bench.refusals.size());
  TEST_ASSERT_TRUE(bench.refusals[0] == refusal);
  TEST_ASSERT_EQUAL_size_t(1, bench.offers.size());
}
