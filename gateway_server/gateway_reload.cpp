#include "gateway_server/gateway_reload.h"

#include <utility>

namespace aflguard::gateway {
namespace {

bool evaluates_alike(const std::map<std::string, std::string>& before,
                     const std::map<std::string, std::string>& after) {
  const auto evaluation = [](const std::map<std::string, std::string>& values) {
    std::map<std::string, std::string> found;
    for (const auto& [key, value] : values) {
      if (key.starts_with("[evaluation] ")) found.emplace(key, value);
    }
    return found;
  };
  return evaluation(before) == evaluation(after);
}

}  // namespace

GatewayReload::GatewayReload(Parts parts) : parts_(std::move(parts)) {}

std::optional<GatewayChange> GatewayReload::read() {
  const auto stay = [this](const Error& error) {
    parts_.log.error("settings stay as they are: " + error.message);
    return std::nullopt;
  };
  auto file = ConfigFile::read(parts_.file);
  if (!file.ok()) return stay(file.error());
  auto fresh = read_gateway_settings(*file);
  if (!fresh.ok()) return stay(fresh.error());
  GatewaySettings settings = parts_.settings;
  take_live_settings(*fresh, settings);
  spell_out_guard(parts_.kinds, settings);
  if (const Status fits = fit_limits(settings.limits, parts_.model.dimension()); !fits.ok()) {
    return stay(fits.error());
  }
  EvaluationThread::Measure measure = parts_.measure;
  if (!evaluates_alike(parts_.running.values(), file->values())) {
    auto made = parts_.make_measure(settings);
    if (!made.ok()) return stay(made.error());
    measure = std::move(*made);
  }
  std::swap(measure, parts_.measure);
  auto change = prepare(settings);
  if (!change.ok()) {
    std::swap(measure, parts_.measure);
    return stay(change.error());
  }
  parts_.settings = std::move(settings);
  const ConfigChanges changes = parts_.running.follow(*file);
  change->text = changes.text();
  parts_.log.info(change->text);
  if (changes.live.empty()) return std::nullopt;
  return std::move(*change);
}

Result<GatewayChange> GatewayReload::prepare(GatewaySettings settings) {
  GatewayChange change;
  change.guard = settings.guard.name;
  TRY(change.pipeline.terms, model_terms(settings, parts_.model));
  TRY(change.pipeline.judge, judge_change(settings));
  change.pipeline.measure = parts_.measure;
  if (settings.evaluation) change.pipeline.evaluation_interval = settings.evaluation->interval;
  change.pipeline.limits = std::move(settings.limits);
  change.pipeline.replies = settings.replies;
  return change;
}

Result<JudgeChange> GatewayReload::judge_change(const GatewaySettings& settings) const {
  const GuardSettings options = guard_settings(settings, parts_.model.dimension(), parts_.enrolled());
  TRY(auto guard, make_guard(settings, parts_.kinds, options));
  const GuardNeeds needs = guard->needs();
  TRY_STATUS(check_needs(settings.guard.name, needs));
  JudgeChange change;
  change.options = aggregator_options(settings, needs);
  change.guard_text = guard_text(settings);
  if (change.guard_text != guard_text(parts_.settings)) change.guard = std::move(guard);
  change.voters = parts_.voters;
  change.voters.silence = std::chrono::duration_cast<std::chrono::milliseconds>(settings.guard.voter_timeout);
  change.reference_share = settings.guard.reference_share;
  change.record = [record = parts_.record, settings, options,
                   aggregator_options = change.options](const Aggregator& aggregator) {
    return record(settings, options, aggregator_options, aggregator);
  };
  return change;
}

Status GatewayReload::check_needs(const std::string& guard, const GuardNeeds& needs) const {
  if ((!needs.reference || parts_.has_trusted) && (!needs.reference_per_class || parts_.has_classes)) {
    return {};
  }
  return invalid_input(parts_.file.string() + ": [guard] name = \"" + guard + "\" needs " +
                       (needs.reference_per_class ? "reference updates of each class" : "reference updates") +
                       ", which this gateway has not computed so far; restart it to change to this guard");
}

}  // namespace aflguard::gateway
