#include "core/aggregation/guards/span_guard_2.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/span_kernels.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "SPN2";
constexpr std::uint16_t kVersion = 1;

// As in SpanGuard: what is rounding, what could overflow, and what is nothing.
constexpr double kLeastResidual = 1e-9;
constexpr double kLongest = 1e30;
constexpr double kShortest = 1e-30;
constexpr double kWeightMemory = 0.25;

std::vector<float> as_floats(const std::vector<double>& numbers, double scale) {
  std::vector<float> out;
  out.reserve(numbers.size());
  for (const double number : numbers) out.push_back(static_cast<float>(scale * number));
  return out;
}

}  // namespace

SpanGuard2::SpanGuard2(std::size_t dimension, const SpanGuard2Options& options)
    : dimension_(dimension),
      options_(options),
      memories_(options.memories),
      weights_(1, options.memories.panel, kWeightMemory) {}

Decision SpanGuard2::judge(const Submission& submission) {
  Decision decision;
  Verdict& verdict = decision.verdict;
  const double squared = squared_norm(submission.vector);
  if (!std::isfinite(squared) || squared > kLongest * kLongest) {
    verdict.reason = std::isfinite(squared) ? Reason::kOverflow : Reason::kNotFinite;
    return decision;
  }
  meet(*submission.reference);
  if (!span_.usable()) {
    verdict.reason = Reason::kTooFar;  // nothing is near a reference that is not finite
    return decision;
  }
  Parts parts = split(submission, squared);
  votes_.vote(submission.client, parts.length);
  const double median = median_length(span_);
  verdict.distance = parts.length;
  verdict.bound = options_.reject * median;
  verdict.accepted = verdict.distance <= verdict.bound;
  verdict.reason = verdict.accepted ? Reason::kAccepted : Reason::kResidualTooLong;
  if (!verdict.accepted) return decision;
  parts.radius = options_.radius * median;
  parts.keep = parts.length > parts.radius ? parts.radius / parts.length : 1;
  bound_weight(submission.client, parts, verdict);
  const double share = share_of(submission, parts, verdict);
  step(submission, parts, share);
  decision.wrote_next = true;
  note_alteration(parts, share, decision);
  return decision;
}

void SpanGuard2::meet(const ReferenceUpdate& reference) {
  const bool changed = !(reference.gram == span_.gram());
  if (changed) span_ = VisibleSpan(reference.gram);
  if ((changed || !met_) && span_.usable()) sketcher_.meet(reference.per_class);
  met_ = true;
}

SpanGuard2::Parts SpanGuard2::split(const Submission& submission, double squared) const {
  Parts parts;
  parts.norm = std::sqrt(squared);
  const std::vector<double> class_products = products(submission.reference->per_class, submission.vector);
  parts.visible = span_.part(class_products, options_.mixture);
  const double rest = squared - dot(parts.visible.projection, class_products);
  parts.length = rest > kLeastResidual * squared ? std::sqrt(rest) : 0;
  return parts;
}

void SpanGuard2::bound_weight(ClientId client, Parts& parts, Verdict& verdict) {
  if (parts.visible.mixture.size() != 1 || options_.weights == 0) return;
  weights_.hear(client, parts.visible.mixture);
  if (weights_.clients() == 0 ||
      2 * weights_.clients() < std::min(options_.quorum.clients, options_.memories.panel)) {
    return;
  }
  const auto [median, deviation] = weights_.opinion(0);
  double& weight = parts.visible.mixture[0];
  const double wanted = weight;
  weight = std::clamp(weight, median - options_.weights * deviation, median + options_.weights * deviation);
  if (weight != wanted) verdict.alterations |= kWeightBounded;
}

double SpanGuard2::share_of(const Submission& submission, const Parts& parts, Verdict& verdict) {
  // A residual that is nothing is compared as such: who sends it is like no other client.
  const bool has_residual = parts.keep * parts.length > kShortest && parts.radius > kShortest;
  const auto unit = static_cast<float>(has_residual ? parts.keep / parts.radius : 0);
  std::vector<float> sketch = sketcher_.residual(submission.vector, parts.visible.projection);
  for (float& number : sketch) number *= unit;
  const ClientMemories::Standing standing =
      memories_.hear(submission.client, sketch, options_.quorum.clients);
  if (standing.too_alike) verdict.alterations |= kTooAlike;
  if (standing.at_odds) verdict.alterations |= kAtOdds;
  return standing.share;
}

void SpanGuard2::step(const Submission& submission, const Parts& parts, double share) {
  const std::vector<float> project = as_floats(parts.visible.projection, 1);
  const std::vector<float> visible = as_floats(parts.visible.mixture, share);
  SpanStep pass;
  pass.classes = project.size();
  pass.project = project.data();
  pass.visible = visible.data();
  pass.residual = static_cast<float>(share * parts.keep);
  pass.rate = submission.rate;
  RowBundle no_directions;
  take_span_step(pass, submission.vector, submission.reference->per_class, no_directions,
                 submission.parameters, submission.next);
}

void SpanGuard2::note_alteration(const Parts& parts, double share, Decision& decision) const {
  // g - applied = sum (p - share pi)_c s_c + (1 - share keep) o, and o is orthogonal to every s_c.
  std::vector<double> missing = parts.visible.projection;
  for (std::size_t c = 0; c < missing.size(); ++c) missing[c] -= share * parts.visible.mixture[c];
  const double cut = (1 - share * parts.keep) * parts.length;
  const double removed = std::sqrt(span_.squared_length(missing) + cut * cut);
  Verdict& verdict = decision.verdict;
  verdict.altered = parts.norm > 0 ? removed / parts.norm : 0;
  if (parts.visible.clipped) verdict.alterations |= kMixtureClipped;
  if (parts.visible.scaled) verdict.alterations |= kMixtureScaled;
  if (parts.keep < 1) verdict.alterations |= kResidualShortened;
  decision.step_norm =
      share * (std::sqrt(span_.squared_length(parts.visible.mixture)) + parts.keep * parts.length);
}

void SpanGuard2::forget(ClientId client) {
  votes_.forget(client);
  memories_.forget(client);
  weights_.forget(client);
}

std::vector<std::byte> SpanGuard2::save() const {
  StateWriter state(kTag, kVersion);
  state.number<std::uint64_t>(dimension_);
  state.number(sketcher_.key());
  votes_.save(state);
  weights_.save(state);
  memories_.save(state);
  return std::move(state).take();
}

Status SpanGuard2::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  TRY_STATUS(state.expect(dimension_, "dimension"));
  SpanGuard2 fresh(dimension_, options_);
  TRY(const auto key, state.number<std::uint64_t>());
  fresh.sketcher_.set_key(key);
  TRY_STATUS(fresh.votes_.restore(state));
  TRY_STATUS(fresh.weights_.restore(state));
  TRY_STATUS(fresh.memories_.restore(state));
  TRY_STATUS(state.finish());
  *this = std::move(fresh);
  return {};
}

GuardKind span_guard_2_kind() {
  const MemoryLimits limits;
  return {
      .name = "span-guard-2",
      .summary =
          "as span-guard, but clients are compared by what their updates have in common in the long run",
      .options = {{"reject", 3, 0.1, 1e9, "reject residuals longer than this many median lengths"},
                  {"radius", 0.8, 0, 1e9, "shorten residuals to this many median lengths"},
                  {"largest", 5, 0.1, 1e9, "a class weighs at most min(1, largest / classes)"},
                  {"negative", 0.05, 0, 1e9, "and at least minus this share of that"},
                  {"mass", 1.5, 0, 1e9, "sum of a mixture's absolute weights"},
                  {"weights", 2, 0, 1e9,
                   "regression: median deviations that a weight may differ from the median; 0: any"},
                  {"memory", limits.memory, 0, 1, "least weight of a client's latest residual in its mean"},
                  {"peers", limits.peers, 0, 1, "share of the clients that count as those most like one"},
                  {"rank", limits.rank, 0, 1, "of the clients by likeness: what is usual"},
                  {"coherent", limits.coherent, 0, 1e9,
                   "clients more alike than so many times the usual are shortened; 0: they are not"},
                  {"power", limits.power, 0, 100, "how much"},
                  {"agree", limits.agree, 0, 100,
                   "cosine missing to the usual agreement until nothing is left; 0: it does not matter"},
                  {"least", limits.least, 0, 1, "share of an update that is always left"},
                  {"panel", static_cast<double>(limits.panel), 4, 1e6, "clients at most that are remembered"},
                  {"quorum", 0.8, 0, 1, "share of the clients whose votes it takes to believe their median"}},
      .make = [](const GuardSettings& settings) -> std::unique_ptr<Guard> {
        SpanGuard2Options options;
        options.mixture.largest = settings.option("largest", options.mixture.largest);
        options.mixture.negative = settings.option("negative", options.mixture.negative);
        options.mixture.mass = settings.option("mass", options.mixture.mass);
        options.reject = settings.option("reject", options.reject);
        options.radius = settings.option("radius", options.radius);
        options.weights = settings.option("weights", options.weights);
        MemoryLimits& memories = options.memories;
        memories.memory = settings.option("memory", memories.memory);
        memories.peers = settings.option("peers", memories.peers);
        memories.rank = settings.option("rank", memories.rank);
        memories.coherent = settings.option("coherent", memories.coherent);
        memories.power = settings.option("power", memories.power);
        memories.agree = settings.option("agree", memories.agree);
        memories.least = settings.option("least", memories.least);
        memories.panel = static_cast<std::size_t>(settings.option("panel", 1024));
        options.quorum.share = settings.option("quorum", options.quorum.share);
        options.quorum.clients = settings.clients;
        return std::make_unique<SpanGuard2>(settings.dimension, options);
      }};
}

}  // namespace aflguard
