#include "firmware_sim/byzantine_client/attack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "core/base/nearest_name.h"
#include "core/base/random.h"
#include "core/envelope/message_codec.h"
#include "core/learning/summed_gradient.h"
#include "edge_client/training/gradient_training.h"

namespace aflguard::sim {
namespace {

constexpr double kGaussDeviation = 200;
constexpr float kDeviationFactor = -10;
constexpr float kReverseFactor = -100;
// Float rounding would put an update on the very edge of the guard's ball outside of it.
constexpr double kSafety = 1 - 1e-5;

constexpr std::array<AttackSummary, 8> kAttacks = {{
    {"gd", "-10 times its own update"},
    {"gauss", "noise, N(0, 200^2) in every coordinate"},
    {"lf", "honest training on flipped labels: class c becomes C - 1 - c, a value its negative"},
    {"adapt-reverse", "-100 times its own honest gradient"},
    {"adapt-boundary",
     "as far against its own gradient as AFLGuard accepts, by its own samples or by the trusted ones"},
    {"nan", "a vector of NaN under a valid signature"},
    {"replay", "its first honest update again and again, under new numbers"},
    {"garbage", "random bytes under a valid signature"},
}};

/// Somebody's samples with labels turned around.
class FlippedSamples final : public edge::SampleSource {
 public:
  explicit FlippedSamples(edge::SampleSource& source) : source_(source) {}

  Result<const Dataset*> samples() override {
    TRY(const Dataset* honest, source_.samples());
    flipped_ = *honest;
    const auto last = static_cast<std::int64_t>(honest->classes) - 1;
    for (std::int64_t& label : flipped_.labels) label = last - label;
    for (float& value : flipped_.values) value = -value;
    return &flipped_;
  }

 private:
  edge::SampleSource& source_;
  Dataset flipped_;
};

/// An honest update that something is done to.
class ChangedTraining final : public edge::LocalTraining {
 public:
  using Change = std::function<void(std::vector<float>&, const ModelMessage&)>;
  ChangedTraining(std::unique_ptr<edge::LocalTraining> honest, Change change)
      : honest_(std::move(honest)), change_(std::move(change)) {}

  Result<edge::TrainedUpdate> train(const ModelMessage& model, const KeepGoing& keep_going) override {
    TRY(edge::TrainedUpdate update, honest_->train(model, keep_going));
    change_(update.vector, model);
    return update;
  }

 private:
  std::unique_ptr<edge::LocalTraining> honest_;
  Change change_;
};

/// Flipped labels need a source of their own, which lives as long as the training on it.
class FlippedTraining final : public edge::LocalTraining {
 public:
  FlippedTraining(Trainer& trainer, edge::SampleSource& source, std::uint64_t seed)
      : source_(source), training_(trainer, source_, seed) {}
  Result<edge::TrainedUpdate> train(const ModelMessage& model, const KeepGoing& keep_going) override {
    return training_.train(model, keep_going);
  }

 private:
  FlippedSamples source_;
  edge::GradientTraining training_;
};

class ReplayedTraining final : public edge::LocalTraining {
 public:
  explicit ReplayedTraining(std::unique_ptr<edge::LocalTraining> honest) : honest_(std::move(honest)) {}
  Result<edge::TrainedUpdate> train(const ModelMessage& model, const KeepGoing& keep_going) override {
    if (!first_ || first_->vector.size() != model.vector.size()) {
      TRY(first_, honest_->train(model, keep_going));
    }
    return *first_;
  }

 private:
  std::unique_ptr<edge::LocalTraining> honest_;
  std::optional<edge::TrainedUpdate> first_;
};

ChangedTraining::Change scaled(float factor) {
  return [factor](std::vector<float>& vector, const ModelMessage&) {
    for (float& value : vector) value *= factor;
  };
}

ChangedTraining::Change noise(std::uint64_t seed) {
  return [random = Random(seed, 1)](std::vector<float>& vector, const ModelMessage&) mutable {
    for (float& value : vector) value = static_cast<float>(kGaussDeviation * random.normal());
  };
}

/// The lab's attacker takes g_s - lambda ||g_s|| g / ||g||, with the server's own update g_s. This one cannot
/// see g_s and takes its own honest update g for it, scaled from its mini-batch to the trusted set:
/// s g - lambda s ||g|| g / ||g|| = s (1 - lambda) g.
ChangedTraining::Change boundary(const AttackPlan& plan) {
  return [plan](std::vector<float>& vector, const ModelMessage& model) {
    const double scale = static_cast<double>(plan.trusted_size) / static_cast<double>(model.batch_size);
    const auto factor = static_cast<float>(scale * (1 - plan.lambda * kSafety));
    for (float& value : vector) value *= factor;
  };
}

double length(std::span<const float> vector) {
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

/// The same with the guard's own samples: g_s at the model that the gateway sent, and against it what honest
/// updates have in common.
class BoundaryTraining final : public edge::LocalTraining {
 public:
  BoundaryTraining(const AttackPlan& plan, Trainer& trainer, edge::SampleSource& source, std::uint64_t seed)
      : plan_(plan), trainer_(trainer), honest_(trainer, source, seed) {
    std::vector<std::size_t> all(plan_.trusted->size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    trusted_ = buffer_.gather(*plan_.trusted, all);
  }

  Result<edge::TrainedUpdate> train(const ModelMessage& model, const KeepGoing& keep_going) override {
    TRY(edge::TrainedUpdate update, honest_.train(model, keep_going));
    benign_.resize(model.vector.size());
    for (std::size_t j = 0; j < benign_.size(); ++j) {
      benign_[j] = static_cast<float>(plan_.memory) * benign_[j] + update.vector[j];
    }
    reference_.resize(model.vector.size());
    if (auto loss = summed_gradient(trainer_, model.vector, trusted_, 1, reference_); !loss) {
      return loss.error();
    }
    const double norm = length(benign_);
    const double back = norm > 0 ? plan_.reach * plan_.lambda * length(reference_) / norm : 0;
    for (std::size_t j = 0; j < update.vector.size(); ++j) {
      update.vector[j] =
          static_cast<float>(static_cast<double>(reference_[j]) - back * static_cast<double>(benign_[j]));
    }
    return update;
  }

 private:
  AttackPlan plan_;
  Trainer& trainer_;
  edge::GradientTraining honest_;
  BatchBuffer buffer_;
  Batch trusted_;
  std::vector<float> benign_;  ///< the direction, of no particular length
  std::vector<float> reference_;
};

/// Where the vector's bytes are within an encoded update: found with a value that nothing else has.
std::size_t vector_offset(const Bytes& encoded, std::size_t size, float marker) {
  const auto wanted = std::bit_cast<std::array<std::byte, sizeof(float)>>(marker);
  auto at = encoded.begin();
  while (true) {
    at = std::search(at, encoded.end(), wanted.begin(), wanted.end());
    const auto offset = static_cast<std::size_t>(at - encoded.begin());
    if (offset + size <= encoded.size()) return offset;
    check(at != encoded.end(), "an encoded update holds its vector");
    ++at;
  }
}

Result<Payload> encode_nan(UpdateMessage update) {
  constexpr float kMarker = 1.2345678F;
  std::fill(update.vector.begin(), update.vector.end(), kMarker);
  TRY(Payload payload, encode(update));
  const std::size_t size = update.vector.size() * sizeof(float);
  const std::size_t offset = vector_offset(payload.bytes, size, kMarker);
  const std::vector<float> values(update.vector.size(), std::numeric_limits<float>::quiet_NaN());
  std::memcpy(payload.bytes.data() + offset, values.data(), size);
  return payload;
}

Result<Payload> encode_garbage(const UpdateMessage& update) {
  TRY(Payload payload, encode(update));
  Random random(update.sequence, 2);
  for (std::byte& byte : payload.bytes) byte = static_cast<std::byte>(random.below(256));
  return payload;
}

}  // namespace

std::span<const AttackSummary> known_attacks() {
  return kAttacks;
}

Status check_attack(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AttackSummary& attack : kAttacks) names.push_back(attack.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  return invalid_input(unknown_name("attack", name, names));
}

Result<std::unique_ptr<edge::LocalTraining>> make_malicious_training(const AttackPlan& plan, Trainer& trainer,
                                                                     edge::SampleSource& source,
                                                                     std::uint64_t seed) {
  TRY_STATUS(check_attack(plan.name));
  using Training = std::unique_ptr<edge::LocalTraining>;
  if (plan.name == "lf") return Training(std::make_unique<FlippedTraining>(trainer, source, seed));
  if (plan.name == "adapt-boundary" && plan.trusted != nullptr && plan.trusted->size() > 0) {
    return Training(std::make_unique<BoundaryTraining>(plan, trainer, source, seed));
  }
  Training honest = std::make_unique<edge::GradientTraining>(trainer, source, seed);
  const auto changed = [&](ChangedTraining::Change change) {
    return Training(std::make_unique<ChangedTraining>(std::move(honest), std::move(change)));
  };
  if (plan.name == "gd") return changed(scaled(kDeviationFactor));
  if (plan.name == "adapt-reverse") return changed(scaled(kReverseFactor));
  if (plan.name == "gauss") return changed(noise(seed));
  if (plan.name == "adapt-boundary") return changed(boundary(plan));
  if (plan.name == "replay") return Training(std::make_unique<ReplayedTraining>(std::move(honest)));
  return honest;  // nan and garbage lie when they encode
}

Result<Payload> malicious_encode(const AttackPlan& plan, const UpdateMessage& update) {
  if (plan.name == "nan") return encode_nan(update);
  if (plan.name == "garbage") return encode_garbage(update);
  return encode(update);
}

}  // namespace aflguard::sim
