#include "core/aggregation/guards/kardam.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "KARD";
constexpr std::uint16_t kVersion = 1;

}  // namespace

bool Kardam::too_frequent(ClientId client) const {
  const std::size_t window = 2 * options_.frequency + 1;
  if (options_.frequency == 0 || latest_accepted_.size() + 1 < window) return false;
  // What the window would look like with this update in it and the oldest one out.
  std::size_t different = latest_per_client_.size();
  const bool drops_oldest = latest_accepted_.size() == window;
  if (drops_oldest && latest_per_client_.at(latest_accepted_.front()) == 1) --different;
  const auto found = latest_per_client_.find(client);
  const bool stays = found != latest_per_client_.end() &&
                     !(drops_oldest && found->second == 1 && latest_accepted_.front() == client);
  if (!stays) ++different;
  return different < options_.frequency + 1;
}

void Kardam::note_accepted(ClientId client) {
  if (options_.frequency == 0) return;
  latest_accepted_.push_back(client);
  ++latest_per_client_[client];
  if (latest_accepted_.size() <= 2 * options_.frequency + 1) return;
  const auto oldest = latest_per_client_.find(latest_accepted_.front());
  if (--oldest->second == 0) latest_per_client_.erase(oldest);
  latest_accepted_.pop_front();
}

void Kardam::note_coefficient(ClientId id, Client& client, double coefficient) {
  if (client.known) {
    coefficients_.replace(id, client.coefficient, coefficient);
  } else {
    coefficients_.insert(id, coefficient);
  }
  client.coefficient = coefficient;
  client.known = true;
}

void Kardam::compare(const Submission& submission, Client& client, Verdict& verdict) {
  const double moved = std::sqrt(squared_distance(submission.base_model, client.base));
  const double changed = std::sqrt(squared_distance(submission.vector, client.update));
  verdict.distance = changed / moved;
  if (moved > 0 && std::isfinite(verdict.distance)) {
    note_coefficient(submission.client, client, verdict.distance);
  } else {
    // Two updates on the same model say nothing about smoothness: not comparable, so not acceptable.
    verdict.distance = std::numeric_limits<double>::infinity();
  }
  verdict.bound = coefficients_.size() > 0 ? coefficients_.median() : 0;
  const bool waiting = clients_.size() < options_.wait_for_clients;
  verdict.accepted = waiting || verdict.distance <= verdict.bound;
  verdict.reason = verdict.accepted ? Reason::kAccepted : Reason::kTooSteep;
}

Decision Kardam::judge(const Submission& submission) {
  Decision decision;
  const double norm = std::sqrt(squared_norm(submission.vector));
  if (!std::isfinite(norm)) {
    decision.verdict.reason = Reason::kNotFinite;
    return decision;
  }
  if (too_frequent(submission.client)) {
    decision.verdict.reason = Reason::kTooFrequent;
    return decision;
  }
  const auto [entry, first] = clients_.try_emplace(submission.client);
  Client& client = entry->second;
  decision.verdict.accepted = true;
  decision.verdict.reason = Reason::kAccepted;
  if (!first) compare(submission, client, decision.verdict);
  if (!decision.verdict.accepted) return decision;
  client.update.assign(submission.vector.begin(), submission.vector.end());
  client.base.assign(submission.base_model.begin(), submission.base_model.end());
  note_accepted(submission.client);
  decision.direction = submission.vector;
  decision.scale = options_.dampen ? 1.0 / (1.0 + static_cast<double>(submission.delay)) : 1.0;
  decision.step_norm = norm;
  return decision;
}

std::vector<std::byte> Kardam::save() const {
  StateWriter state(kTag, kVersion);
  state.number<std::uint64_t>(dimension_);
  state.number<std::uint64_t>(options_.frequency);
  state.number<std::uint64_t>(clients_.size());
  std::vector<ClientId> ids;
  for (const auto& [id, client] : clients_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());  // equal states give equal bytes
  for (const ClientId id : ids) {
    const Client& client = clients_.at(id);
    state.number(id);
    state.number<std::uint8_t>(client.known ? 1 : 0);
    state.number(client.coefficient);
    state.floats(client.update);
    state.floats(client.base);
  }
  state.number<std::uint64_t>(latest_accepted_.size());
  for (const ClientId id : latest_accepted_) state.number(id);
  return std::move(state).take();
}

Status Kardam::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  TRY_STATUS(state.expect(dimension_, "dimension"));
  TRY_STATUS(state.expect(options_.frequency, "frequency option"));
  Kardam restored(dimension_, options_);
  TRY(const std::size_t clients, state.count(17 + 2 * sizeof(float) * dimension_));
  for (std::size_t i = 0; i < clients; ++i) {
    TRY(const auto id, state.number<std::uint64_t>());
    TRY(const auto known, state.number<std::uint8_t>());
    TRY(const auto coefficient, state.number<double>());
    if (known > 1 || !(coefficient >= 0) || !std::isfinite(coefficient)) {
      return corrupt("state of 'KARD': client " + std::to_string(id) + " has an impossible coefficient");
    }
    const auto [entry, fresh] = restored.clients_.try_emplace(id);
    if (!fresh) return corrupt("state of 'KARD': client " + std::to_string(id) + " is there twice");
    entry->second.update.resize(dimension_);
    entry->second.base.resize(dimension_);
    TRY_STATUS(state.floats(entry->second.update));
    TRY_STATUS(state.floats(entry->second.base));
    if (known == 1) restored.note_coefficient(id, entry->second, coefficient);
  }
  TRY(const std::size_t latest, state.count(sizeof(ClientId)));
  if (latest > 2 * options_.frequency + 1) return corrupt("state of 'KARD': too many latest clients");
  for (std::size_t i = 0; i < latest; ++i) {
    TRY(const auto id, state.number<std::uint64_t>());
    restored.note_accepted(id);
  }
  TRY_STATUS(state.finish());
  *this = std::move(restored);
  return {};
}

GuardKind kardam_kind() {
  return {.name = "kardam",
          .summary = "accepts updates whose Lipschitz coefficient is at most the clients' median",
          .options = {{"startup-wait", 1, 0, 1, "accept everything until every client has reported once"},
                      {"frequency", 0, 0, 1e6, "f of the frequency filter: f + 1 clients in the last 2f + 1"},
                      {"dampening", 0, 0, 1, "scale by 1 / (1 + delay)"}},
          .make = [](const GuardSettings& settings) -> std::unique_ptr<Guard> {
            KardamOptions options;
            if (settings.option("startup-wait", 1) != 0) options.wait_for_clients = settings.clients;
            options.frequency = static_cast<std::uint64_t>(settings.option("frequency", 0));
            options.dampen = settings.option("dampening", 0) != 0;
            return std::make_unique<Kardam>(settings.dimension, options);
          }};
}

}  // namespace aflguard
