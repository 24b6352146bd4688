#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/aggregation/guard_kind.h"
#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "FBUF";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kMostUpdates = 64;

/// What makes one update out of a full buffer.
enum class Mixing : std::uint8_t {
  kMean,        ///< Nguyen et al., FedBuff (AISTATS 2022), without a defence
  kKrum,        ///< Multi-Krum (Blanchard et al., NeurIPS 2017): the mean of those with near neighbours
  kTrimmed,     ///< Yin et al. (ICML 2018): in each coordinate without the f smallest and largest
  kClip,        ///< CenteredClip (Karimireddy et al., ICML 2021): around the step before, clipped
  kNeighbours,  ///< NNM (Allouah et al., AISTATS 2023): each becomes the mean of its nearest, then trimmed
};

struct FedBuffOptions {
  Mixing mixing = Mixing::kMean;
  std::size_t updates = 10;  ///< K, that fill the buffer
  double malicious = 0.3;    ///< share f / K of them that the rule is made for
  double radius = 0;         ///< kClip: of the clipping; 0: the median distance
  double step = 0;           ///< a full buffer moves the model by so many updates; 0: by K
};

/// K updates are kept, each weighted with 1 / sqrt(1 + delay) as in FedBuff; then the model moves once, by
/// what the rule makes of them. Memory: K + 1 updates.
class FedBuff final : public Guard {
 public:
  FedBuff(std::string_view name, std::size_t dimension, const FedBuffOptions& options)
      : name_(name), options_(options), step_(dimension) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<FedBuff>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;

 private:
  using Updates = std::vector<std::vector<float>>;

  [[nodiscard]] std::size_t malicious() const {
    return static_cast<std::size_t>(options_.malicious * static_cast<double>(options_.updates));
  }
  void mix();
  void take_mean(const std::vector<std::size_t>& chosen);
  void trim(const Updates& updates);
  void clip();
  /// Squared distance of every pair; infinite to itself never matters.
  [[nodiscard]] std::vector<std::vector<double>> distances() const;
  /// The `count` updates nearest to this one, itself first.
  [[nodiscard]] static std::vector<std::size_t> nearest(const std::vector<double>& distances,
                                                        std::size_t count);
  [[nodiscard]] std::vector<std::size_t> krum_choice() const;
  [[nodiscard]] Updates mixed_with_neighbours() const;

  std::string_view name_;
  FedBuffOptions options_;
  Updates kept_;
  std::vector<float> step_;  ///< the latest; kClip begins with it
};

Decision FedBuff::judge(const Submission& submission) {
  Decision decision;
  const double squared = squared_norm(submission.vector);
  constexpr double kLongest = 1e30;  // products of floats on the way could overflow beyond
  if (!std::isfinite(squared) || squared > kLongest * kLongest) {
    decision.verdict.reason = std::isfinite(squared) ? Reason::kOverflow : Reason::kNotFinite;
    return decision;
  }
  std::vector<float>& own = kept_.emplace_back(submission.vector.begin(), submission.vector.end());
  const auto weight = static_cast<float>(1 / std::sqrt(1 + static_cast<double>(submission.delay)));
  for (float& v : own) v *= weight;
  decision.verdict.accepted = true;
  decision.verdict.reason = Reason::kBuffered;
  if (kept_.size() < options_.updates) return decision;
  mix();
  kept_.clear();
  decision.verdict.reason = Reason::kAccepted;
  decision.direction = step_;
  decision.scale = options_.step > 0 ? options_.step : static_cast<double>(options_.updates);
  decision.step_norm = decision.scale * std::sqrt(squared_norm(step_));
  return decision;
}

void FedBuff::mix() {
  std::vector<std::size_t> all(kept_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  switch (options_.mixing) {
    case Mixing::kMean:
      return take_mean(all);
    case Mixing::kKrum:
      return take_mean(krum_choice());
    case Mixing::kTrimmed:
      return trim(kept_);
    case Mixing::kClip:
      return clip();
    case Mixing::kNeighbours:
      return trim(mixed_with_neighbours());
  }
}

void FedBuff::take_mean(const std::vector<std::size_t>& chosen) {
  for (std::size_t i = 0; i < step_.size(); ++i) {
    double sum = 0;
    for (const std::size_t k : chosen) sum += static_cast<double>(kept_[k][i]);
    step_[i] = static_cast<float>(sum / static_cast<double>(chosen.size()));
  }
}

void FedBuff::trim(const Updates& updates) {
  const std::size_t cut = malicious();
  std::vector<float> sorted(updates.size());
  for (std::size_t i = 0; i < step_.size(); ++i) {
    for (std::size_t k = 0; k < updates.size(); ++k) sorted[k] = updates[k][i];
    std::sort(sorted.begin(), sorted.end());
    double sum = 0;
    for (std::size_t k = cut; k + cut < sorted.size(); ++k) sum += static_cast<double>(sorted[k]);
    step_[i] = static_cast<float>(sum / static_cast<double>(sorted.size() - 2 * cut));
  }
}

void FedBuff::clip() {
  constexpr int kPasses = 3;
  const auto count = static_cast<double>(kept_.size());
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<double> away;
    for (const auto& update : kept_) away.push_back(std::sqrt(squared_distance(update, step_)));
    double radius = options_.radius;
    if (radius == 0) {
      std::vector<double> sorted = away;
      std::sort(sorted.begin(), sorted.end());
      radius = sorted[sorted.size() / 2];
    }
    std::vector<double> moved(step_.size());
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const double share = away[k] > radius ? radius / away[k] : 1;
      for (std::size_t i = 0; i < moved.size(); ++i) {
        moved[i] += share / count * (static_cast<double>(kept_[k][i]) - static_cast<double>(step_[i]));
      }
    }
    for (std::size_t i = 0; i < moved.size(); ++i) {
      step_[i] = static_cast<float>(static_cast<double>(step_[i]) + moved[i]);
    }
  }
}

std::vector<std::vector<double>> FedBuff::distances() const {
  std::vector<std::vector<double>> all(kept_.size(), std::vector<double>(kept_.size()));
  for (std::size_t a = 0; a < kept_.size(); ++a) {
    for (std::size_t b = a + 1; b < kept_.size(); ++b) {
      all[a][b] = all[b][a] = squared_distance(kept_[a], kept_[b]);
    }
  }
  return all;
}

std::vector<std::size_t> FedBuff::nearest(const std::vector<double>& distances, std::size_t count) {
  std::vector<std::size_t> order(distances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; });
  order.resize(std::min(count, order.size()));
  return order;
}

std::vector<std::size_t> FedBuff::krum_choice() const {
  const auto apart = distances();
  const std::size_t honest = kept_.size() - malicious();
  std::vector<double> scores;
  for (const auto& row : apart) {
    double score = 0;  // over itself and the K - f - 2 nearest others
    for (const std::size_t k : nearest(row, honest > 2 ? honest - 1 : 1)) score += row[k];
    scores.push_back(score);
  }
  return nearest(scores, honest);
}

FedBuff::Updates FedBuff::mixed_with_neighbours() const {
  const auto apart = distances();
  const std::size_t honest = kept_.size() - malicious();
  Updates mixed;
  for (const auto& row : apart) {
    const std::vector<std::size_t> near = nearest(row, honest);
    std::vector<float>& mean = mixed.emplace_back(step_.size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      double sum = 0;
      for (const std::size_t k : near) sum += static_cast<double>(kept_[k][i]);
      mean[i] = static_cast<float>(sum / static_cast<double>(near.size()));
    }
  }
  return mixed;
}

std::vector<std::byte> FedBuff::save() const {
  StateWriter state(kTag, kVersion);
  state.number<std::uint64_t>(step_.size());
  state.number(static_cast<std::uint8_t>(options_.mixing));
  state.floats(step_);
  state.number<std::uint64_t>(kept_.size());
  for (const auto& update : kept_) state.floats(update);
  return std::move(state).take();
}

Status FedBuff::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  TRY_STATUS(state.expect(step_.size(), "dimension"));
  TRY(const auto mixing, state.number<std::uint8_t>());
  if (mixing != static_cast<std::uint8_t>(options_.mixing)) {
    return corrupt("state of 'FBUF' was saved by another rule of buffers");
  }
  FedBuff fresh(name_, step_.size(), options_);
  TRY_STATUS(state.floats(fresh.step_));
  TRY(const std::size_t kept, state.count(step_.size() * sizeof(float)));
  if (kept >= options_.updates) return corrupt("state of 'FBUF': the buffer is full, which cannot last");
  fresh.kept_.resize(kept);
  for (auto& update : fresh.kept_) {
    update.resize(step_.size());
    TRY_STATUS(state.floats(update));
  }
  TRY_STATUS(state.finish());
  *this = std::move(fresh);
  return {};
}

template <Mixing mixing>
GuardKind kind_of(std::string_view name, std::string_view summary, bool assumes, bool clips) {
  const FedBuffOptions defaults;
  GuardKind kind;
  kind.name = name;
  kind.summary = summary;
  kind.options = {{"updates", static_cast<double>(defaults.updates), 3, kMostUpdates, "that fill the buffer"},
                  {"step", defaults.step, 0, 1e6,
                   "a full buffer moves the model by so many updates; 0: by as many as it held"}};
  if (assumes) {
    kind.options.push_back(
        {"malicious", defaults.malicious, 0, 0.49, "share of a buffer the rule is made for"});
  }
  if (clips) {
    kind.options.push_back({"radius", defaults.radius, 0, 1e30, "of the clipping; 0: the median distance"});
  }
  kind.make = [](const GuardSettings& settings) -> std::unique_ptr<Guard> {
    FedBuffOptions options;
    options.mixing = mixing;
    options.updates = static_cast<std::size_t>(settings.option("updates", 10));
    options.malicious = settings.option("malicious", options.malicious);
    options.radius = settings.option("radius", options.radius);
    options.step = settings.option("step", options.step);
    constexpr std::string_view kNames[] = {"fedbuff", "fedbuff-krum", "fedbuff-trimmed", "fedbuff-clip",
                                           "fedbuff-nnm"};
    return std::make_unique<FedBuff>(kNames[static_cast<std::size_t>(mixing)], settings.dimension, options);
  };
  return kind;
}

}  // namespace

GuardKind fed_buff_kind() {
  return kind_of<Mixing::kMean>("fedbuff", "FedBuff: the mean of K updates, weighted by their delay", false,
                                false);
}

GuardKind fed_buff_krum_kind() {
  return kind_of<Mixing::kKrum>("fedbuff-krum", "K updates at a time, Multi-Krum", true, false);
}

GuardKind fed_buff_trimmed_kind() {
  return kind_of<Mixing::kTrimmed>("fedbuff-trimmed",
                                   "K updates at a time, the trimmed mean of each coordinate", true, false);
}

GuardKind fed_buff_clip_kind() {
  return kind_of<Mixing::kClip>("fedbuff-clip", "K updates at a time, CenteredClip", false, true);
}

GuardKind fed_buff_nnm_kind() {
  return kind_of<Mixing::kNeighbours>(
      "fedbuff-nnm", "K updates at a time, nearest-neighbour mixing, then the trimmed mean", true, false);
}

}  // namespace aflguard
