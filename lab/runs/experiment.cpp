#include "lab/runs/experiment.h"

#include <algorithm>
#include <ctime>
#include <exception>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/guards/all_guards.h"
#include "core/encoding/model_grid.h"
#include "core/learning/data/shape.h"
#include "core/learning/evaluation.h"
#include "lab/attacks/all_attacks.h"
#include "lab/runs/all_knowing_view.h"
#include "lab/runs/honest_clients.h"
#include "lab/runs/update_link.h"
#include "lab/tasks/streams.h"

namespace aflguard::lab {
namespace {

// Trainer's squared error has no factor 1/2; the paper's loss (<u, theta> - y)^2 / 2 has.
constexpr double kSquaredLossWeight = 0.5;
constexpr std::uint64_t kGridVersions = 1000;  // for which a grid is kept

/// Of this thread: without the time that a busy machine lets it wait.
double thread_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Status check_fit(const ModelDescription& model, const Dataset& data) {
  const bool fits = model.input_size() == data.sample_size() && model.classes() == data.classes;
  if (fits) return {};
  const auto kind = [](std::size_t classes) {
    return classes > 0 ? std::to_string(classes) + " classes" : std::string("regression");
  };
  return invalid_input("model '" + model.name + "' does not fit data set '" + data.name + "': it takes " +
                       shape_text(model.input_shape) + " and gives " + kind(model.classes()) +
                       ", the data has " + shape_text(data.sample_shape) + " and " + kind(data.classes));
}

AttackSettings attack_settings(const ExperimentSettings& settings) {
  AttackSettings attack;
  attack.lambda = settings.lambda;
  attack.devices = settings.clients;
  attack.honest_sample = settings.clients;
  attack.malicious = malicious_clients(settings);
  attack.iterations = settings.iterations;
  attack.reference_interval = settings.server_delay;
  attack.trusted_size = settings.trusted_size;
  attack.options = settings.attack_options;
  if (const auto known = find_lab_dataset(settings.dataset)) {
    attack.honest_sample = (*known)->attacker_sample;
    attack.target = (*known)->backdoor_target;
  }
  return attack;
}

/// One experiment in the making.
class Simulation final {
 public:
  Simulation(const ExperimentSettings& settings, ExperimentData data, std::unique_ptr<Trainer> trainer,
             std::unique_ptr<Guard> guard, const AttackKind* attack, std::span<const float> initial)
      : settings_(settings),
        data_(std::move(data)),
        trainer_(std::move(trainer)),
        sample_weight_(trainer_->model().loss == Loss::kMeanSquaredError ? kSquaredLossWeight : 1),
        clients_(data_, settings.batch_size, *trainer_, sample_weight_),
        reference_(*trainer_, data_.trusted, sample_weight_,
                   guard->needs().reference_per_class ? settings.batch_size : 0),
        round_(guard->needs().round),
        attack_kind_(attack),
        aggregator_(aggregator_options(), std::move(guard), &reference_, initial),
        schedule_(settings.seed, kScheduleStream),
        batches_(settings.seed, kBatchStream),
        attacker_random_(settings.seed, kAttackStream),
        link_(settings),
        update_(initial.size()) {
    if (attack != nullptr) attack_ = attack->make(attack_settings(settings));
    choose_malicious();
  }

  Result<ExperimentResult> run(const RunProgress& progress, const RunObserver& observer) {
    observer_ = &observer;
    std::vector<std::uint64_t> version_at = {0};  // of theta^t, for every t so far
    for (std::size_t t = 0; t < settings_.iterations; ++t) {
      if (round_ > 1) {
        TRY_STATUS(play_round());
      } else {
        const ClientId client = active_[schedule_.below(active_.size())];
        const std::size_t drawn = schedule_.below(settings_.client_delay + 1);
        const bool oldest = is_malicious_[client] && attack_kind_->needs.oldest_base;
        const std::size_t delay = std::min<std::size_t>(oldest ? settings_.client_delay : drawn, t);
        TRY_STATUS(answer(client, version_at[t - delay]));
      }
      version_at.push_back(aggregator_.model().version());
      if (progress && t % 50 == 0) progress(t, settings_.iterations);
    }
    result_.iterations = settings_.iterations;
    TRY(result_.metrics, measure());
    return result_;
  }

 private:
  [[nodiscard]] AggregatorOptions aggregator_options() const {
    AggregatorOptions options;
    options.learning_rate = settings_.learning_rate;
    options.reference_interval = round_ > 1 ? round_ : settings_.server_delay;
    options.history = settings_.client_delay;
    return options;
  }

  void choose_malicious() {
    Random random(settings_.seed, kMaliciousStream);
    is_malicious_.assign(settings_.clients, false);
    for (const std::size_t client :
         random.sample_without_replacement(settings_.clients, malicious_clients(settings_))) {
      is_malicious_[client] = true;
    }
    for (ClientId client = 0; client < settings_.clients; ++client) {
      if (data_.shares[client].empty()) continue;  // nothing to compute an update from
      active_.push_back(client);
      if (!is_malicious_[client]) honest_.push_back(client);
    }
  }

  /// A synchronous round: every client answers the current model (or as many as the round takes).
  Status play_round() {
    const std::uint64_t version = aggregator_.model().version();
    for (std::uint64_t i = 0; i < round_; ++i) {
      const ClientId client =
          round_ == active_.size() ? active_[i] : active_[schedule_.below(active_.size())];
      TRY_STATUS(answer(client, version));
    }
    return {};
  }

  Status answer(ClientId client, std::uint64_t base_version) {
    const std::span<const float> exact = aggregator_.model().at(base_version);
    const std::vector<float> published = settings_.grid ? on_grid(exact) : std::vector<float>();
    const std::span<const float> base = settings_.grid ? published : exact;
    if (is_malicious_[client]) {
      TRY_STATUS(answer_maliciously(client, base));
    } else {
      TRY_STATUS(clients_.update_of(client, base, batches_, update_));
      TRY_STATUS(link_.carry(client, aggregator_.iteration(), update_));
    }
    const bool fresh = is_malicious_[client] && attack_kind_->needs.new_identity;
    const ClientId identity = fresh ? settings_.clients + aggregator_.iteration() : client;
    if (aggregator_.guard().needs().reference) TRY_STATUS(reference_ready());
    const double begun = thread_cpu_seconds();
    TRY(const Verdict verdict, aggregator_.submit({identity, base_version, update_}));
    result_.judging_seconds += thread_cpu_seconds() - begun;
    ClientCounts& counts = verdict.accepted ? result_.accepted : result_.rejected;
    ++(is_malicious_[client] ? counts.malicious : counts.honest);
    if (*observer_ && !is_malicious_[client]) (*observer_)(update_, aggregator_.model().parameters());
    return {};
  }

  /// Computes the reference now if it is due: its time is not the guard's.
  Status reference_ready() {
    if (auto ready = aggregator_.reference(); !ready) return ready.error();
    return {};
  }

  /// As a gateway does: the grid is fitted to one update's movement, now and then.
  std::vector<float> on_grid(std::span<const float> model) {
    const GlobalModel& newest = aggregator_.model();
    const std::uint64_t version = newest.version();
    const bool due = !grid_ || version >= grid_version_ + kGridVersions;
    if (due && version > 0 && !newest.at(version - 1).empty()) {
      grid_.emplace(newest.at(version - 1), newest.parameters(), 1);
      grid_version_ = version;
    }
    return grid_ ? grid_->rounded(model) : std::vector<float>(model.begin(), model.end());
  }

  Status answer_maliciously(ClientId client, std::span<const float> base) {
    AllKnowingView view(clients_, honest_, base, attacker_random_);
    view.client = client;
    view.iteration = aggregator_.iteration();
    view.reference_age = view.iteration % std::max<std::uint64_t>(1, settings_.server_delay);
    view.newest_model = aggregator_.model().parameters();
    view.rate = static_cast<float>(settings_.learning_rate);
    const bool guard_compares = aggregator_.guard().needs().reference;
    if (attack_kind_->needs.reference || (attack_kind_->needs.guard && guard_compares)) {
      TRY(view.reference, aggregator_.reference());
    }
    if (attack_kind_->needs.guard) view.guard = &aggregator_.guard();
    std::vector<float> hidden;
    if (attack_kind_->needs.hidden_model && settings_.grid) {
      hidden = on_grid(aggregator_.model().parameters());
      const std::span<const float> exact = aggregator_.model().parameters();
      for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = exact[i] - hidden[i];
      view.hidden = hidden;
    }
    return attack_->craft(view, update_);
  }

  Result<Metrics> measure() {
    const std::span<const float> theta = aggregator_.model().parameters();
    Metrics metrics;
    if (data_.test->regression()) {
      TRY(metrics.mse, mean_squared_error(*trainer_, theta, *data_.test));
      if (!data_.true_model.empty()) metrics.mee = model_estimation_error(theta, data_.true_model);
      return metrics;
    }
    TRY(metrics.test_error, test_error(*trainer_, theta, *data_.test));
    if (attack_kind_ != nullptr && attack_kind_->targeted) {
      TRY(const LabDataset* known, find_lab_dataset(settings_.dataset));
      TRY(metrics.attack_success, attack_success(*trainer_, theta, *data_.test, known->backdoor_target));
    }
    return metrics;
  }

  const ExperimentSettings& settings_;
  ExperimentData data_;
  std::unique_ptr<Trainer> trainer_;
  double sample_weight_;
  HonestClients clients_;
  TrustedSetReference reference_;
  std::uint64_t round_;
  const AttackKind* attack_kind_;
  std::unique_ptr<Attack> attack_;
  Aggregator aggregator_;
  Random schedule_;
  Random batches_;
  Random attacker_random_;
  UpdateLink link_;
  const RunObserver* observer_ = nullptr;
  std::optional<ModelGrid> grid_;
  std::uint64_t grid_version_ = 0;
  std::vector<float> update_;
  std::vector<bool> is_malicious_;
  std::vector<ClientId> active_;  ///< clients that have data
  std::vector<ClientId> honest_;  ///< of these
  ExperimentResult result_;
};

GuardSettings guard_settings(const ExperimentSettings& settings, std::size_t dimension) {
  GuardSettings guard;
  guard.dimension = dimension;
  guard.clients = settings.clients;
  guard.lambda = settings.lambda;
  guard.options = settings.guard_options;
  return guard;
}

}  // namespace

Catalog full_catalog() {
  const auto guards = all_guards();
  const auto attacks = all_attacks();
  return {{guards.begin(), guards.end()}, {attacks.begin(), attacks.end()}};
}

Status check_settings(const ExperimentSettings& settings, const Catalog& catalog) {
  TRY_STATUS(validate(settings));
  TRY(const GuardKind* guard, find_guard(catalog.guards, settings.guard));
  TRY_STATUS(check_options(guard->name, guard->options, settings.guard_options));
  TRY(const AttackKind* attack, find_attack(catalog.attacks, settings.attack));
  if (attack == nullptr) return {};
  TRY_STATUS(check_options(attack->name, attack->options, settings.attack_options));
  if (attack->targeted && settings.dataset == "synthetic") {
    return invalid_input(
        "attack '" + settings.attack +
        "' wants a class predicted, but data set 'synthetic' is a regression; choose another");
  }
  return {};
}

Result<ExperimentResult> run_experiment(const ExperimentSettings& settings, const Catalog& catalog,
                                        const ModelSource& model, std::shared_ptr<const DatasetSplit> source,
                                        const RunProgress& progress, const RunObserver& observer) {
  TRY_STATUS(check_settings(settings, catalog));
  TRY(const GuardKind* kind, find_guard(catalog.guards, settings.guard));
  TRY(const AttackKind* attack, find_attack(catalog.attacks, settings.attack));
  TRY(auto data, prepare_data(settings, std::move(source)));
  TRY(auto trainer, model.make_trainer());
  TRY_STATUS(check_fit(trainer->model(), *data.train));
  TRY(auto guard, make_guard(*kind, guard_settings(settings, trainer->model().dimension())));
  TRY(const auto initial, model.initial(settings.seed));
  Simulation simulation(settings, std::move(data), std::move(trainer), std::move(guard), attack, initial);
  try {
    return simulation.run(progress, observer);
  } catch (const std::exception& problem) {  // a guard that is not of this project, as one written in Python
    return internal_error("guard '" + settings.guard + "', attack '" + settings.attack +
                          "': " + problem.what());
  }
}

}  // namespace aflguard::lab
