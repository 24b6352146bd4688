#include "lab/campaigns/campaign.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <thread>

#include "core/system/atomic_file.h"
#include "core/system/folder_lock.h"

namespace aflguard::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "aflguard.lab.campaign/1";
constexpr const char* kPlanFile = "campaign.json";
constexpr std::uint64_t kLargestPlan = 16 << 20;

Json plan_document(const Plan& plan) {
  Json cells = Json::array();
  for (const PlannedCell& cell : plan.cells) {
    cells.push_back({{"id", cell.id}, {"settings", to_json(cell.settings)}});
  }
  return {{"schema", kSchema},
          {"plan", plan.id()},
          {"title", plan.title},
          {"fingerprint", fingerprint(plan)},
          {"cells", std::move(cells)}};
}

/// Checks that the folder is new, empty, or belongs to this plan.
Status check_folder(const fs::path& folder, const Plan& plan) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  if (!fs::is_directory(folder, error)) return invalid_input(folder.string() + " is not a folder");
  if (!fs::exists(folder / kPlanFile, error)) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().filename() == ".lock") continue;
      return invalid_input(folder.string() +
                           " is not empty and holds no results of the lab; choose another " +
                           "output folder");
    }
    return {};
  }
  TRY(const std::string text, read_text_file(folder / kPlanFile, kLargestPlan));
  const Json found = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto field = [&found](const char* name) {
    return found.is_object() && found.contains(name) && found[name].is_string()
               ? found[name].get<std::string>()
               : std::string();
  };
  if (field("schema") != kSchema) {
    return invalid_input((folder / kPlanFile).string() + " cannot be read; choose another output folder");
  }
  if (field("plan") != plan.id()) {
    return invalid_input(folder.string() + " holds results of " + field("plan") + ", not of " + plan.id() +
                         "; choose another output folder");
  }
  if (field("fingerprint") != fingerprint(plan)) {
    return invalid_input(folder.string() + " holds results of " + plan.id() +
                         " with other settings; choose another output folder");
  }
  return {};
}

Status make_folder(const fs::path& folder, const Plan& plan) {
  std::error_code error;
  fs::create_directories(folder / "runs", error);
  if (error) return io_error("cannot make " + (folder / "runs").string() + ": " + error.message());
  if (fs::exists(folder / kPlanFile, error)) return {};
  return write_file_atomically(folder / kPlanFile, plan_document(plan).dump(2) + "\n");
}

/// One run that has to be done.
struct Task {
  std::size_t cell;
  std::size_t slot;  ///< which of the cell's runs
  ExperimentSettings settings;
  std::string name;
  fs::path file;
  double cost;  ///< in gradients of one sample: only ratios matter
};

double estimated_cost(const ExperimentSettings& settings) {
  const double per_iteration = static_cast<double>(settings.batch_size);
  double gradients = 1;
  if (settings.attack.rfind("adapt", 0) == 0) {
    const auto known = find_lab_dataset(settings.dataset);
    const auto honest = static_cast<double>(settings.clients - malicious_clients(settings));
    const double sample = known ? std::min(honest, static_cast<double>((*known)->attacker_sample)) : honest;
    gradients += settings.malicious * sample;
  }
  const double reference = static_cast<double>(settings.trusted_size) /
                           static_cast<double>(std::max<std::uint64_t>(1, settings.server_delay));
  return static_cast<double>(settings.iterations) * (gradients * per_iteration + reference);
}

using LoadedData = std::map<std::string, std::shared_ptr<const DatasetSplit>>;

/// Every data set of the plan, loaded once and shared by its runs.
Result<LoadedData> load_data(const Plan& plan, const LabResources& resources) {
  LoadedData loaded;
  for (const PlannedCell& cell : plan.cells) {
    if (loaded.contains(cell.settings.dataset)) continue;
    TRY(loaded[cell.settings.dataset], resources.data(cell.settings.dataset));
  }
  return loaded;
}

/// The whole campaign while it runs; its members are shared by the workers under `mutex_`.
class Workers final {
 public:
  Workers(std::vector<Task> tasks, const LabResources& resources, const Json& context, const LoadedData& data,
          const CampaignObserver& observer, std::vector<CellRuns>& results, CampaignProgress progress)
      : tasks_(std::move(tasks)),
        data_(data),
        resources_(resources),
        context_(context),
        observer_(observer),
        results_(results),
        progress_(std::move(progress)) {
    // Long runs first, so that no worker is left with one at the end.
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const Task& a, const Task& b) { return a.cost > b.cost; });
    for (const Task& task : tasks_) cost_ += task.cost;
    partly_.resize(tasks_.size());
  }

  Status run(std::size_t jobs) {
    if (observer_) observer_(progress_);
    started_ = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(jobs, tasks_.size()); ++i) {
      threads.emplace_back([this] { work(); });
    }
    for (std::thread& thread : threads) thread.join();
    if (failure_) return *failure_;
    return {};
  }

 private:
  void work() {
    while (!stop_) {
      const std::size_t next = next_++;
      if (next >= tasks_.size()) return;
      if (const Status status = carry_out(next); !status) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = at(tasks_[next].name, status.error());
        stop_ = true;
      }
    }
  }

  Status carry_out(std::size_t index) {
    const Task& task = tasks_[index];
    const auto begin = std::chrono::steady_clock::now();
    TRY(const auto model, resources_.model(task.settings.dataset));
    const auto& data = data_.at(task.settings.dataset);
    TRY(auto result, run_experiment(task.settings, resources_.catalog, model, data,
                                    [&](std::size_t done, std::size_t total) { tick(index, done, total); }));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    RunRecord record{task.settings, result, seconds.count()};
    TRY_STATUS(write_file_atomically(task.file, to_json(record, context_).dump(2) + "\n"));
    finished(index, std::move(record));
    return {};
  }

  void tick(std::size_t index, std::size_t done, std::size_t total) {
    const std::lock_guard lock(mutex_);
    partly_[index] = tasks_[index].cost * static_cast<double>(done) / static_cast<double>(total);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_told_ < kTellEvery) return;
    last_told_ = now;
    tell({}, 0);
  }

  void finished(std::size_t index, RunRecord record) {
    const std::lock_guard lock(mutex_);
    const Task& task = tasks_[index];
    partly_[index] = task.cost;
    ++progress_.done;
    const double seconds = record.seconds;
    results_[task.cell].runs[task.slot] = std::move(record);
    tell(task.name, seconds);
  }

  /// With the mutex held.
  void tell(const std::string& finished_run, double seconds) {
    if (!observer_) return;
    const double done = std::accumulate(partly_.begin(), partly_.end(), 0.0);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
    progress_.share = cost_ > 0 ? done / cost_ : 1;
    progress_.remaining_seconds = done > 0 ? elapsed.count() * (cost_ - done) / done : 0;
    progress_.finished = finished_run;
    progress_.seconds = seconds;
    observer_(progress_);
  }

  static constexpr std::chrono::seconds kTellEvery{1};

  std::vector<Task> tasks_;
  const LoadedData& data_;
  const LabResources& resources_;
  const Json& context_;
  const CampaignObserver& observer_;
  std::vector<CellRuns>& results_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  CampaignProgress progress_;
  double cost_ = 0;             ///< of all tasks
  std::vector<double> partly_;  ///< of each task, what is done
  std::chrono::steady_clock::time_point last_told_;
  std::chrono::steady_clock::time_point started_;
  std::optional<Error> failure_;
};

}  // namespace

Result<std::vector<CellRuns>> run_campaign(const Plan& plan, const CampaignOptions& options,
                                           const LabResources& resources, const Json& context,
                                           const CampaignObserver& observer) {
  if (options.seeds < 1 || options.seeds > 10000) {
    return invalid_input("the number of seeds is " + std::to_string(options.seeds) +
                         ", it must be from 1 to 10000");
  }
  for (const PlannedCell& cell : plan.cells) TRY_STATUS(check_settings(cell.settings, resources.catalog));
  TRY_STATUS(check_folder(options.folder, plan));
  TRY(const LoadedData data, load_data(plan, resources));
  TRY(const auto lock, FolderLock::acquire(options.folder));
  TRY_STATUS(make_folder(options.folder, plan));

  std::vector<CellRuns> results;
  std::vector<Task> tasks;
  CampaignProgress progress;
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    results.push_back({plan.cells[c], std::vector<RunRecord>(options.seeds)});
    for (std::size_t s = 0; s < options.seeds; ++s) {
      Task task{c, s, plan.cells[c].settings, {}, {}, 0};
      task.settings.seed = options.first_seed + s;
      task.name = plan.cells[c].id + " seed " + std::to_string(task.settings.seed);
      task.file = options.folder / "runs" /
                  (plan.cells[c].id + "-seed" + std::to_string(task.settings.seed) + ".json");
      task.cost = estimated_cost(task.settings);
      ++progress.total;
      auto stored = read_run(task.file, task.settings);
      if (stored) {
        results[c].runs[s] = std::move(*stored);
        ++progress.done;
      } else if (stored.error().kind == ErrorKind::kNotFound) {
        tasks.push_back(std::move(task));
      } else {
        return stored.error();
      }
    }
  }
  Workers workers(std::move(tasks), resources, context, data, observer, results, progress);
  TRY_STATUS(workers.run(std::max<std::size_t>(1, options.jobs)));
  return results;
}

}  // namespace aflguard::lab
