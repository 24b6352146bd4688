#include "core/aggregation/guards/span_guard.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/span_kernels.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "SPAN";
constexpr std::uint16_t kVersion = 2;  // 1 did not count votes

// ||o||^2 is a small difference of large numbers when an update lies in the span; below this share of
// ||g||^2 it is rounding.
constexpr double kLeastResidual = 1e-9;
// Beyond this, products of floats on the way could overflow.
constexpr double kLongest = 1e30;
constexpr double kShortest = 1e-30;
// Winsorising bound while fewer than two clients have spoken.
constexpr double kFirstWidth = 0.1;

std::vector<float> as_floats(const std::vector<double>& numbers, double scale = 1) {
  std::vector<float> out;
  out.reserve(numbers.size());
  for (const double number : numbers) out.push_back(static_cast<float>(scale * number));
  return out;
}

std::vector<double> minus(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

}  // namespace

SpanGuard::SpanGuard(std::size_t dimension, const SpanGuardOptions& options)
    : dimension_(dimension),
      options_(options),
      directions_(std::min(options.directions, kMostDirections), dimension, options.discount),
      panel_(directions_.size(), options.panel) {}

Decision SpanGuard::judge(const Submission& submission) {
  Decision decision;
  const double squared = squared_norm(submission.vector);
  if (!std::isfinite(squared) || squared > kLongest * kLongest) {
    decision.verdict.reason = std::isfinite(squared) ? Reason::kOverflow : Reason::kNotFinite;
    return decision;
  }
  meet(*submission.reference);
  if (!span_.usable()) {
    decision.verdict.reason = Reason::kTooFar;  // nothing is near a reference that is not finite
    return decision;
  }
  Residual residual = look(submission, squared);
  votes_.vote(submission.client, residual.length);
  const double median = median_length(span_);
  decision.verdict.distance = residual.length;
  decision.verdict.bound = options_.reject * median;
  decision.verdict.accepted = decision.verdict.distance <= decision.verdict.bound;
  decision.verdict.reason = decision.verdict.accepted ? Reason::kAccepted : Reason::kResidualTooLong;
  if (!decision.verdict.accepted) return decision;
  residual.radius = options_.radius * median;
  const double most = residual.radius * believed(residual.visible);
  residual.keep = residual.length > most ? most / residual.length : 1;
  step(submission, residual, decision);
  return decision;
}

void SpanGuard::meet(const ReferenceUpdate& reference) {
  const bool changed = !(reference.gram == span_.gram());
  if (changed) span_ = VisibleSpan(reference.gram);
  if (changed || directions_.worn()) directions_.meet(reference.per_class);
}

SpanGuard::Residual SpanGuard::look(const Submission& submission, double squared) const {
  Residual residual;
  residual.norm = std::sqrt(squared);
  residual.class_products = products(submission.reference->per_class, submission.vector);
  residual.direction_products = products(directions_.rows(), submission.vector);
  residual.visible = span_.part(residual.class_products, options_.mixture);
  const double rest = squared - dot(residual.visible.projection, residual.class_products);
  residual.length = rest > kLeastResidual * squared ? std::sqrt(rest) : 0;
  return residual;
}

double SpanGuard::believed(const VisiblePart& visible) const {
  const bool mixes = span_.gram().rows() > 1;  // one class: there is nothing to be honest about
  return mixes && options_.trust > 0 ? std::pow(span_.honesty(visible), options_.trust) : 1;
}

std::vector<double> SpanGuard::bend(ClientId client, const WatchedDirections::Turn& turn, double scale,
                                    Verdict& verdict) {
  std::vector<double> components = turn.components;
  for (double& component : components) component *= scale;
  panel_.rotate(turn.rotation);
  if (scale > 0) panel_.hear(client, components);
  std::vector<double> bends(components.size());
  if (turn.learning) return bends;
  for (std::size_t k = 0; k < bends.size(); ++k) {
    double low = -kFirstWidth;
    double high = kFirstWidth;
    if (panel_.clients() >= 2) {
      const auto [median, deviation] = panel_.opinion(k);
      low = median - options_.width * deviation;
      high = median + options_.width * deviation;
    }
    bends[k] = std::clamp(components[k], low, high) - components[k];
    if (bends[k] != 0) verdict.alterations |= kDirectionBent << k;
  }
  return bends;
}

void SpanGuard::step(const Submission& submission, const Residual& residual, Decision& decision) {
  const ReferenceUpdate& reference = *submission.reference;
  const bool has_residual = residual.keep * residual.length > kShortest && residual.radius > kShortest;
  // x, what enters the directions: the shortened residual in units of R. The first K enter with length 1.
  const bool first = directions_.rank() < directions_.size();
  const double unit = has_residual ? residual.keep / residual.radius : 0;
  const double entering = !has_residual ? 0 : (first ? 1 / residual.length : unit);
  std::vector<double> components =
      directions_.components(residual.direction_products, residual.visible.projection);
  for (double& component : components) component *= entering;
  const double squared_length = residual.length * residual.length * entering * entering;
  const WatchedDirections::Turn turn = directions_.turn(components, squared_length);
  const double scale = entering > 0 ? unit / entering : 0;
  const std::vector<double> bends = bend(submission.client, turn, scale, decision.verdict);

  std::vector<double> bent(directions_.size());  // R W' bends, in terms of the stored rows and of o
  double bent_residual = 0;
  for (std::size_t k = 0; k < bends.size(); ++k) {
    for (std::size_t j = 0; j < bent.size(); ++j) bent[j] += residual.radius * bends[k] * turn.stored(k, j);
    bent_residual += residual.radius * bends[k] * turn.enter[k] * entering;
  }
  const std::vector<float> project = as_floats(residual.visible.projection);
  const std::vector<float> visible = as_floats(residual.visible.mixture);
  const std::vector<float> bend_rows = as_floats(bent);
  const std::vector<float> turn_rows = as_floats(turn.stored.numbers());
  const std::vector<float> enter = as_floats(turn.enter, entering);
  SpanStep pass;
  pass.classes = project.size();
  pass.directions = directions_.size();
  pass.project = project.data();
  pass.visible = visible.data();
  pass.bend = bend_rows.data();
  pass.turn = turn_rows.data();
  pass.enter = enter.data();
  pass.residual = static_cast<float>(residual.keep + bent_residual);
  pass.rate = submission.rate;
  take_span_step(pass, submission.vector, reference.per_class, directions_.rows(), submission.parameters,
                 submission.next);
  note_alteration(residual, bends, turn.components, decision);

  // What is left of the class updates in x: nothing, but for dropped eigenvalues.
  std::vector<double> left = minus(residual.class_products, span_.gram() * residual.visible.projection);
  for (double& product : left) product *= entering;
  directions_.turned(turn, left);
  decision.wrote_next = true;
}

void SpanGuard::note_alteration(const Residual& residual, const std::vector<double>& bends,
                                const std::vector<double>& components, Decision& decision) const {
  // g - applied = sum (p - pi)_c s_c + (1 - keep) o - R W' bends; o is orthogonal to every s_c, and what W
  // has in common with them is small: left out.
  const double visible = span_.squared_length(minus(residual.visible.projection, residual.visible.mixture));
  const double cut = (1 - residual.keep) * residual.length;
  const double along = residual.keep > 0 ? (1 - residual.keep) / residual.keep * residual.radius *
                                               residual.radius * dot(components, bends)
                                         : 0;
  const double bent = residual.radius * residual.radius * dot(bends, bends);
  const double removed = std::sqrt(std::max(0.0, visible + cut * cut - 2 * along + bent));
  Verdict& verdict = decision.verdict;
  verdict.altered = residual.norm > 0 ? removed / residual.norm : 0;
  if (residual.visible.clipped) verdict.alterations |= kMixtureClipped;
  if (residual.visible.scaled) verdict.alterations |= kMixtureScaled;
  if (residual.keep < 1) verdict.alterations |= kResidualShortened;
  decision.step_norm = std::sqrt(span_.squared_length(residual.visible.mixture)) +
                       residual.keep * residual.length + residual.radius * std::sqrt(dot(bends, bends));
}

void SpanGuard::forget(ClientId client) {
  if (votes_.forget(client)) panel_.forget(client);
}

std::vector<std::byte> SpanGuard::save() const {
  StateWriter state(kTag, kVersion);
  state.number<std::uint64_t>(dimension_);
  state.number<std::uint64_t>(directions_.size());
  state.number<std::uint64_t>(span_.gram().rows());
  for (const double v : span_.gram().numbers()) state.number(v);
  directions_.save(state);
  panel_.save(state);
  votes_.save(state);
  return std::move(state).take();
}

Status SpanGuard::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  TRY_STATUS(state.expect(dimension_, "dimension"));
  TRY_STATUS(state.expect(directions_.size(), "number of directions"));
  SpanGuard fresh(dimension_, options_);
  TRY(const std::size_t classes, state.count(sizeof(double)));
  if (classes > 0 && classes > bytes.size() / classes) return corrupt("state of 'SPAN': too many classes");
  SmallMatrix gram(classes, classes);
  for (double& number : gram.numbers()) {
    TRY(number, state.number<double>());
  }
  if (classes > 0) fresh.span_ = VisibleSpan(std::move(gram));
  TRY_STATUS(fresh.directions_.restore(state));
  TRY_STATUS(fresh.panel_.restore(state));
  TRY_STATUS(fresh.votes_.restore(state));
  TRY_STATUS(state.finish());
  *this = std::move(fresh);
  return {};
}

GuardKind span_guard_kind() {
  return {
      .name = "span-guard",
      .summary = "keeps what the trusted classes explain, and of the rest what other clients confirm",
      .options = {{"reject", 3, 0.1, 1e9, "reject residuals longer than this many median lengths"},
                  {"radius", 0.8, 0, 1e9, "shorten residuals to this many median lengths"},
                  {"directions", static_cast<double>(SpanGuardOptions{}.directions), 0,
                   static_cast<double>(kMostDirections),
                   "directions in which residuals are compared with the other clients'"},
                  {"discount", 0.99, 0.5, 1, "how long the directions remember, per update"},
                  {"width", 1, 0, 1e9, "median deviations that a component may differ from the median"},
                  {"largest", 5, 0.1, 1e9, "a class weighs at most min(1, largest / classes)"},
                  {"negative", 0.05, 0, 1e9, "and at least minus this share of that"},
                  {"mass", 1.5, 0, 1e9, "sum of a mixture's absolute weights"},
                  {"panel", 1024, 2, 1e6, "clients at most whose components are compared"},
                  {"trust", 0, 0, 100,
                   "power of the visible part's honesty by which R shrinks; 0: it does not"},
                  {"quorum", 0.8, 0, 1, "share of the clients whose votes it takes to believe their median"}},
      .make = [](const GuardSettings& settings) -> std::unique_ptr<Guard> {
        SpanGuardOptions options;
        options.mixture.largest = settings.option("largest", options.mixture.largest);
        options.mixture.negative = settings.option("negative", options.mixture.negative);
        options.mixture.mass = settings.option("mass", options.mixture.mass);
        options.reject = settings.option("reject", options.reject);
        options.radius = settings.option("radius", options.radius);
        options.directions =
            static_cast<std::size_t>(settings.option("directions", static_cast<double>(options.directions)));
        options.discount = settings.option("discount", options.discount);
        options.trust = settings.option("trust", options.trust);
        options.quorum = settings.option("quorum", options.quorum);
        options.clients = settings.clients;
        options.width = settings.option("width", options.width);
        options.panel = static_cast<std::size_t>(settings.option("panel", 1024));
        return std::make_unique<SpanGuard>(settings.dimension, options);
      }};
}

}  // namespace aflguard
