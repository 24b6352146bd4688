#include "core/aggregation/aggregator.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "core/base/check.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "AGGR";
constexpr std::uint16_t kOldestVersion = 1;  // had no references per class
constexpr std::uint16_t kVersion = 3;        // 2 had every reference inside
constexpr std::string_view kReferenceTag = "AREF";
constexpr std::uint16_t kReferenceVersion = 1;
constexpr std::size_t kRoomForFields =
    4096;  // what is written beside vectors, guards without memory included

void save_vectors(const ReferenceUpdate& reference, StateWriter& state) {
  state.floats(reference.vector);
  save_rows(reference.per_class, state);
}

Status restore_vectors(StateReader& state, std::size_t dimension, bool with_classes,
                       ReferenceUpdate& reference) {
  reference.vector.resize(dimension);
  TRY_STATUS(state.floats(reference.vector));
  if (with_classes) TRY_STATUS(restore_rows(state, dimension, reference.per_class));
  reference.derive();
  return {};
}

/// What save_reference() gave; it must be of the version that `reference` names.
Status restore_reference(std::span<const std::byte> bytes, std::size_t dimension,
                         ReferenceUpdate& reference) {
  TRY(auto state, StateReader::open(bytes, kReferenceTag, kReferenceVersion));
  TRY_STATUS(state.expect(dimension, "dimension"));
  TRY_STATUS(state.expect(reference.version, "version of the reference update"));
  TRY_STATUS(restore_vectors(state, dimension, true, reference));
  return state.finish();
}

}  // namespace

Aggregator::Aggregator(const AggregatorOptions& options, std::unique_ptr<Guard> guard,
                       ReferenceSource* source, std::span<const float> initial)
    : options_(options),
      guard_(std::move(guard)),
      needs_(guard_->needs()),
      source_(source),
      model_(initial, options.history) {
  check(options_.learning_rate > 0, "the learning rate must be positive");
  options_.reference_interval = std::max<std::uint64_t>(1, options_.reference_interval);
}

void Aggregator::change(const AggregatorOptions& options, std::unique_ptr<Guard> guard) {
  check(options.learning_rate > 0, "the learning rate must be positive");
  options_ = options;
  options_.reference_interval = std::max<std::uint64_t>(1, options_.reference_interval);
  if (guard != nullptr) {
    guard_ = std::move(guard);
    needs_ = guard_->needs();
    if (needs_.reference_per_class && reference_.per_class.empty()) has_reference_ = false;
  }
  if (options_.history == model_.history()) return;
  GlobalModel model(model_.parameters(), options_.history, model_.version());
  for (std::uint64_t version = model_.version(); version > model_.oldest();) {
    if (!model.prepend(model_.at(--version))) break;
  }
  model_ = std::move(model);
}

Result<const ReferenceUpdate*> Aggregator::reference() {
  if (source_ == nullptr)
    return invalid_input("this aggregator has no trusted data to compute a reference from");
  if (reference_due()) {
    TRY_STATUS(source_->compute(model_.parameters(), model_.version(), reference_));
    reference_iteration_ = latest_due();
    has_reference_ = true;
  }
  return &reference_;
}

std::uint64_t Aggregator::latest_due() const {
  return iteration_ / options_.reference_interval * options_.reference_interval;
}

bool Aggregator::reference_due() const {
  return !has_reference_ || reference_iteration_ < latest_due();
}

Status Aggregator::install_reference(ReferenceUpdate reference, std::uint64_t due_since) {
  if (reference.vector.size() != model_.dimension() || reference.version > model_.version() ||
      due_since > iteration_) {
    return invalid_input("reference of " + std::to_string(reference.vector.size()) + " numbers, version " +
                         std::to_string(reference.version) + ": the model has " +
                         std::to_string(model_.dimension()) + ", version " +
                         std::to_string(model_.version()));
  }
  if (needs_.reference_per_class && reference.per_class.length() != model_.dimension()) {
    return invalid_input("a reference without its classes, which guard '" + std::string(guard_->name()) +
                         "' needs");
  }
  reference_ = std::move(reference);
  reference_iteration_ = due_since;
  has_reference_ = true;
  return {};
}

Result<Verdict> Aggregator::submit(const ClientUpdate& update) {
  if (needs_.reference && source_ != nullptr) {
    if (auto ready = reference(); !ready) return ready.error();
  }
  if (needs_.reference && !has_reference_) {
    return unavailable("no reference update was computed yet, so nothing can be judged");
  }
  ++iteration_;
  if (update.base_version > model_.version()) return reject(Reason::kUnknownVersion, 0);
  const std::uint64_t delay = model_.version() - update.base_version;
  if (update.vector.size() != model_.dimension()) return reject(Reason::kWrongSize, delay);
  if (delay > options_.max_delay) return reject(Reason::kTooOld, delay);
  if (needs_.base_model && model_.at(update.base_version).empty()) return reject(Reason::kTooOld, delay);
  return judge(update, delay);
}

Verdict Aggregator::reject(Reason reason, std::uint64_t delay) {
  return {.accepted = false, .reason = reason, .distance = 0, .bound = 0, .delay = delay};
}

Verdict Aggregator::judge(const ClientUpdate& update, std::uint64_t delay) {
  Submission submission;
  submission.client = update.client;
  submission.base_version = update.base_version;
  submission.delay = delay;
  submission.vector = update.vector;
  if (needs_.base_model) submission.base_model = model_.at(update.base_version);
  if (needs_.reference) submission.reference = &reference_;
  submission.parameters = model_.parameters();
  submission.next = model_.next();
  submission.rate = static_cast<float>(options_.learning_rate);
  Decision decision = guard_->judge(submission);
  decision.verdict.delay = delay;
  apply(decision);
  return decision.verdict;
}

void Aggregator::apply(Decision& decision) {
  if (!decision.wrote_next && decision.direction.empty()) return;
  const double largest_change = std::abs(options_.learning_rate) * decision.step_norm;
  if (!model_.can_move_by(largest_change)) {
    decision.verdict.accepted = false;
    decision.verdict.reason = Reason::kOverflow;
    return;
  }
  if (!decision.wrote_next) {
    take_step(model_.parameters(), decision.direction,
              static_cast<float>(options_.learning_rate * decision.scale), model_.next());
  }
  model_.commit(largest_change);
}

// A reference that is not finite rejects everything; computing it again later changes no verdict.
bool Aggregator::reference_worth_keeping() const {
  return has_reference_ && std::isfinite(reference_.norm) && reference_.gram.finite();
}

std::vector<std::byte> Aggregator::save() const {
  return save(ReferencePlace::kInside);
}

std::vector<std::byte> Aggregator::save_without_reference() const {
  return save(ReferencePlace::kApart);
}

std::vector<std::byte> Aggregator::save_reference() const {
  if (!reference_worth_keeping()) return {};
  StateWriter state(kReferenceTag, kReferenceVersion);
  state.reserve(reference_.vector.size() * sizeof(float) + kRoomForFields);
  state.number<std::uint64_t>(model_.dimension());
  state.number(reference_.version);
  save_vectors(reference_, state);
  return std::move(state).take();
}

std::vector<std::byte> Aggregator::save(ReferencePlace place) const {
  StateWriter state(kTag, kVersion);
  const std::size_t models = model_.version() - model_.oldest() + 1;
  state.reserve(models * model_.dimension() * sizeof(float) + kRoomForFields);
  state.number<std::uint64_t>(model_.dimension());
  state.number(iteration_);
  state.number(model_.version());
  state.number<std::uint64_t>(model_.version() - model_.oldest());
  for (std::uint64_t back = 0; back <= model_.version() - model_.oldest(); ++back) {
    state.floats(model_.at(model_.version() - back));
  }
  if (!reference_worth_keeping()) place = ReferencePlace::kNone;
  state.number(static_cast<std::uint8_t>(place));
  if (place != ReferencePlace::kNone) {
    state.number(reference_iteration_);
    state.number(reference_.version);
  }
  if (place == ReferencePlace::kInside) save_vectors(reference_, state);
  state.bytes(guard_->save());
  return std::move(state).take();
}

Status Aggregator::restore(std::span<const std::byte> bytes, std::span<const std::byte> reference_bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kOldestVersion, kVersion));
  TRY_STATUS(state.expect(model_.dimension(), "dimension"));
  TRY(const auto iteration, state.number<std::uint64_t>());
  TRY(const auto version, state.number<std::uint64_t>());
  TRY(const std::size_t kept, state.count(model_.dimension() * sizeof(float)));
  if (kept > version || version > iteration) return corrupt("state of 'AGGR': impossible version");
  AlignedFloats parameters(model_.dimension());
  TRY_STATUS(state.floats(parameters));
  GlobalModel model(parameters, options_.history, version);
  for (std::size_t back = 0; back < kept; ++back) {
    TRY_STATUS(state.floats(parameters));
    (void)model.prepend(parameters);  // a shorter history than the saved one keeps what fits
  }
  TRY(const auto place_number, state.number<std::uint8_t>());
  const auto place = static_cast<ReferencePlace>(place_number);
  if (place > (state.version() > 2 ? ReferencePlace::kApart : ReferencePlace::kInside)) {
    return corrupt("state of 'AGGR': damaged reference");
  }
  ReferenceUpdate reference;
  std::uint64_t reference_iteration = 0;
  if (place != ReferencePlace::kNone) {
    TRY(reference_iteration, state.number<std::uint64_t>());
    TRY(reference.version, state.number<std::uint64_t>());
    if (reference_iteration > iteration || reference.version > version) {
      return corrupt("state of 'AGGR': a reference from the future");
    }
  }
  if (place == ReferencePlace::kInside) {
    TRY_STATUS(restore_vectors(state, model_.dimension(), state.version() > 1, reference));
  } else if (place == ReferencePlace::kApart) {
    TRY_STATUS(restore_reference(reference_bytes, model_.dimension(), reference));
  }
  TRY(const auto guard_state, state.bytes());
  TRY_STATUS(state.finish());
  TRY_STATUS(guard_->restore(guard_state));
  model_ = std::move(model);
  reference_ = std::move(reference);
  reference_iteration_ = reference_iteration;
  // A reference without classes cannot serve a guard that looks at them: another one is due.
  has_reference_ =
      place != ReferencePlace::kNone && (!needs_.reference_per_class || !reference_.per_class.empty());
  iteration_ = iteration;
  return {};
}

Result<SavedModel> Aggregator::read_model(std::span<const std::byte> bytes, std::size_t dimension) {
  TRY(auto state, StateReader::open(bytes, kTag, kOldestVersion, kVersion));
  TRY_STATUS(state.expect(dimension, "dimension"));
  SavedModel saved;
  TRY(saved.iteration, state.number<std::uint64_t>());
  TRY(saved.version, state.number<std::uint64_t>());
  TRY([[maybe_unused]] const std::size_t kept, state.count(dimension * sizeof(float)));
  saved.parameters.resize(dimension);
  TRY_STATUS(state.floats(saved.parameters));
  return saved;
}

void Aggregator::start_from(const SavedModel& saved) {
  check(saved.parameters.size() == model_.dimension(), "a model of another size");
  model_.reset(saved.parameters, saved.version);
  iteration_ = saved.iteration;
  has_reference_ = false;
}

}  // namespace aflguard
