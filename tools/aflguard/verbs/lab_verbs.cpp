#include "tools/aflguard/verbs/lab_verbs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <unistd.h>

#include "core/base/progress.h"
#include "datasets/catalog.h"
#include "datasets/folders.h"
#include "datasets/manifest.h"
#include "lab/campaigns/campaign.h"
#include "lab/campaigns/grid_plan.h"
#include "lab/campaigns/lab_resources.h"
#include "lab/campaigns/summary.h"
#include "lab/reports/publish.h"
#include "lab/reports/results_files.h"
#include "lab/runs/theorem_bound.h"
#include "lab/tasks/own_data.h"
#include "tools/aflguard/lab_replay.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;
using lab::Catalog;
using lab::ExperimentSettings;

/// What the command line gives; lives as long as the verbs that were added.
struct RunOptions {
  std::string dataset;
  std::string guard = "aflguard";
  std::string attack = "none";
  std::uint64_t seed = 1;
  std::optional<double> malicious, lambda, distribution_shift, learning_rate, non_iid;
  std::optional<std::size_t> clients, iterations, trusted_size, batch_size;
  std::optional<std::uint64_t> server_delay, client_delay;
  std::vector<std::string> guard_options, attack_options;
  std::string encoding = "float32";
  std::string partition;
  bool feedback = false;
  bool grid = false;
  std::optional<std::string> model;
  bool json = false;
};

struct CampaignVerbOptions {
  std::string name;
  std::uint64_t seeds = 3;
  std::uint64_t first_seed = 1;
  std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string folder;
  lab::PlanOverrides overrides;
  bool json = false;
};

template <typename T>
void override_with(T& setting, const std::optional<T>& given) {
  if (given) setting = *given;
}

Result<lab::ExperimentSettings> settings_from(const RunOptions& options) {
  TRY(auto settings, lab::default_settings(options.dataset));
  settings.guard = options.guard;
  settings.attack = options.attack;
  settings.seed = options.seed;
  settings.encoding = options.encoding;
  settings.partition = options.partition;
  if (lab::is_own_data(options.dataset)) {
    TRY(settings.data_digest, lab::own_data_digest(options.dataset));
  }
  settings.feedback = options.feedback;
  settings.grid = options.grid;
  override_with(settings.malicious, options.malicious);
  override_with(settings.lambda, options.lambda);
  override_with(settings.distribution_shift, options.distribution_shift);
  override_with(settings.learning_rate, options.learning_rate);
  override_with(settings.non_iid, options.non_iid);
  override_with(settings.clients, options.clients);
  override_with(settings.iterations, options.iterations);
  override_with(settings.trusted_size, options.trusted_size);
  override_with(settings.batch_size, options.batch_size);
  override_with(settings.server_delay, options.server_delay);
  override_with(settings.client_delay, options.client_delay);
  TRY(settings.guard_options, parse_options(options.guard_options));
  TRY(settings.attack_options, parse_options(options.attack_options));
  return settings;
}

void print_metric(const char* name, const std::optional<double>& value) {
  if (value) std::printf("%-16s %.6g\n", name, *value);
}

void print_run(const lab::RunRecord& record) {
  const lab::ExperimentResult& result = record.result;
  std::printf("%s, %s against %s, seed %llu: %llu iterations in %.1f s\n", record.settings.dataset.c_str(),
              record.settings.guard.c_str(), record.settings.attack.c_str(),
              static_cast<unsigned long long>(record.settings.seed),
              static_cast<unsigned long long>(result.iterations), record.seconds);
  print_metric("test error", result.metrics.test_error);
  print_metric("attack success", result.metrics.attack_success);
  print_metric("MSE", result.metrics.mse);
  print_metric("MSE (MSE / 32)", result.metrics.mse_paper_scale());
  print_metric("MEE", result.metrics.mee);
  std::printf("accepted         %llu honest, %llu malicious\nrejected         %llu honest, %llu malicious\n",
              static_cast<unsigned long long>(result.accepted.honest),
              static_cast<unsigned long long>(result.accepted.malicious),
              static_cast<unsigned long long>(result.rejected.honest),
              static_cast<unsigned long long>(result.rejected.malicious));
}

Status run(const RunOptions& options, const lab::Catalog& catalog) {
  TRY(const auto settings, settings_from(options));
  TRY_STATUS(lab::check_settings(settings, catalog));
  TRY(const TrainerSource trainers, load_trainers());
  TRY(const auto resources,
      lab::make_lab_resources(
          catalog, options.model ? std::optional<std::filesystem::path>(*options.model) : std::nullopt,
          trainers.make, options.partition));
  TRY(auto data, resources.data(settings.dataset));
  TRY(const auto model, resources.model(settings.dataset));
  const auto context = lab::lab_context(trainers.runtime_version);
  StderrProgress progress;
  const std::string what = settings.dataset + ", " + settings.guard + " against " + settings.attack;
  const auto begin = std::chrono::steady_clock::now();
  auto result =
      lab::run_experiment(settings, catalog, model, std::move(data),
                          [&](std::size_t done, std::size_t total) { progress.show(what, done, total); });
  progress.finish();
  if (!result) return result.error();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const lab::RunRecord record{settings, *result, seconds.count()};
  if (options.json) {
    std::printf("%s\n", lab::to_json(record, context).dump(2).c_str());
  } else {
    print_run(record);
  }
  return {};
}

std::string duration_text(double seconds) {
  char text[48];
  if (seconds < 90) {
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  } else if (seconds < 5400) {
    std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
  } else {
    std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  }
  return text;
}

/// A bar that redraws itself on a terminal, one line per finished run otherwise.
void show_progress(const lab::CampaignProgress& progress, bool terminal) {
  const std::string left =
      progress.remaining_seconds > 0 ? ", about " + duration_text(progress.remaining_seconds) + " left" : "";
  if (terminal) {
    constexpr std::size_t kWidth = 30;
    const auto filled = static_cast<std::size_t>(std::clamp(progress.share, 0.0, 1.0) * kWidth);
    std::fprintf(stderr, "\r\033[K[%s%s] %zu/%zu runs%s", std::string(filled, '#').c_str(),
                 std::string(kWidth - filled, '.').c_str(), progress.done, progress.total, left.c_str());
    if (progress.done == progress.total) std::fputs("\n", stderr);
    std::fflush(stderr);
  } else if (!progress.finished.empty()) {
    std::fprintf(stderr, "%zu/%zu %s (%s)%s\n", progress.done, progress.total, progress.finished.c_str(),
                 duration_text(progress.seconds).c_str(), left.c_str());
  } else if (progress.share == 0 && progress.done > 0 && progress.remaining_seconds == 0) {
    std::fprintf(stderr, "continuing: %zu of %zu runs are there\n", progress.done, progress.total);
  }
}

void print_cells(const std::vector<lab::CellRuns>& cells) {
  std::printf("%-28s %-16s %12s %10s %s\n", "cell", "metric", "mean", "paper", "");
  for (const lab::CellRuns& cell : cells) {
    for (const lab::MetricSummary& metric : lab::summarise(cell)) {
      std::string paper = "-";
      if (metric.paper) {
        char text[32];
        std::snprintf(text, sizeof text, "%s%g", metric.paper->more_than ? ">" : "", metric.paper->value);
        paper = text;
      }
      const std::string name =
          metric.metric == lab::Metric::kMse ? "mse (/32)" : std::string(lab::to_string(metric.metric));
      std::printf("%-28s %-16s %12.4g %10s %s\n", cell.cell.id.c_str(), name.c_str(), metric.mean,
                  paper.c_str(),
                  metric.agreement ? std::string(lab::to_string(*metric.agreement)).c_str() : "");
    }
  }
}

/// What a grid has besides: a user's model and how samples are given to clients.
struct OwnOptions {
  std::optional<std::string> model;
  std::string partition;
};

Status run_plan(const Result<lab::Plan>& planned, const CampaignVerbOptions& options,
                const lab::Catalog& catalog, const OwnOptions& own = {}) {
  if (!planned) return planned.error();
  const lab::Plan& plan = *planned;
  TRY(const TrainerSource trainers, load_trainers());
  TRY(const auto resources,
      lab::make_lab_resources(catalog,
                              own.model ? std::optional<std::filesystem::path>(*own.model) : std::nullopt,
                              trainers.make, own.partition));
  const auto context = lab::lab_context(trainers.runtime_version);
  lab::CampaignOptions campaign;
  campaign.folder = options.folder.empty() ? std::filesystem::path("lab-" + plan.id())
                                           : std::filesystem::path(options.folder);
  campaign.seeds = options.seeds;
  campaign.first_seed = options.first_seed;
  campaign.jobs = options.jobs;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  TRY(const auto cells, lab::run_campaign(plan, campaign, resources, context,
                                          [terminal](const lab::CampaignProgress& progress) {
                                            show_progress(progress, terminal);
                                          }));
  TRY_STATUS(lab::write_results(plan, cells, context, campaign.folder));
  if (options.json) {
    std::printf("%s\n", lab::results_json(plan, cells, context).dump(2).c_str());
  } else {
    print_cells(cells);
    std::printf("wrote %s, results.json and results.csv beside it\n",
                (campaign.folder / "report.html").string().c_str());
  }
  return {};
}

Json options_json(const std::vector<NamedOption>& options) {
  Json list = Json::array();
  for (const NamedOption& option : options) {
    list.push_back({{"name", option.name}, {"default", option.default_value}, {"meaning", option.meaning}});
  }
  return list;
}

Status list(bool json, const lab::Catalog& catalog) {
  Json document = {{"schema", "aflguard.lab.list/1"}, {"datasets", Json::array()},
                   {"defenses", Json::array()},       {"attacks", Json::array()},
                   {"tables", lab::table_names()},    {"figures", lab::figure_names()}};
  TRY(const auto folder, datasets::data_folder());
  for (const lab::LabDataset& dataset : lab::lab_datasets()) {
    TRY(const auto info, datasets::find_dataset(dataset.name));
    const bool ready = dataset.name == "synthetic" || datasets::check_installed(info, folder).ok();
    TRY(const auto settings, lab::default_settings(dataset.name));
    document["datasets"].push_back({{"name", dataset.name},
                                    {"ready", ready},
                                    {"command", info.command},
                                    {"model", dataset.zoo_model},
                                    {"defaults", lab::to_json(settings)}});
  }
  for (const GuardKind& kind : catalog.guards) {
    document["defenses"].push_back(
        {{"name", kind.name}, {"summary", kind.summary}, {"options", options_json(kind.options)}});
  }
  document["attacks"].push_back({{"name", "none"}, {"summary", "no attack"}, {"options", Json::array()}});
  for (const lab::AttackKind& kind : catalog.attacks) {
    document["attacks"].push_back(
        {{"name", kind.name}, {"summary", kind.summary}, {"options", options_json(kind.options)}});
  }
  if (json) {
    std::printf("%s\n", document.dump(2).c_str());
    return {};
  }
  std::printf("data sets\n");
  for (const Json& item : document["datasets"]) {
    const bool ready = item["ready"].get<bool>();
    std::printf("  %-16s %s%s\n", item["name"].get<std::string>().c_str(),
                ready ? "ready" : "missing: ", ready ? "" : item["command"].get<std::string>().c_str());
  }
  for (const auto& [group, heading] : {std::pair{"defenses", "guards"}, std::pair{"attacks", "attacks"}}) {
    std::printf("%s\n", heading);
    for (const Json& item : document[group]) {
      std::printf("  %-16s %s\n", item["name"].get<std::string>().c_str(),
                  item["summary"].get<std::string>().c_str());
      for (const Json& option : item["options"]) {
        std::printf("  %-16s   option %s=%g: %s\n", "", option["name"].get<std::string>().c_str(),
                    option["default"].get<double>(), option["meaning"].get<std::string>().c_str());
      }
    }
  }
  for (const char* group : {"tables", "figures"}) {
    std::printf("%s\n ", group);
    for (const Json& name : document[group]) std::printf(" %s", name.get<std::string>().c_str());
    std::printf("\n");
  }
  return {};
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Status bound(const lab::BoundSettings& settings, bool json) {
  TRY(const auto bound, lab::evaluate_bound(settings));
  if (json) {
    const Json document = {{"schema", "aflguard.lab.bound/1"},
                           {"q", bound.q},
                           {"q_without_sampling", bound.q_without_sampling},
                           {"gamma", bound.gamma},
                           {"capital_lambda", bound.capital_lambda},
                           {"bound", optional_json(bound.after_iterations)},
                           {"limit", optional_json(bound.limit)},
                           {"vacuous", !bound.limit.has_value()},
                           {"largest_lambda", bound.largest_lambda},
                           {"needed_trusted_size", optional_json(bound.needed_trusted_size)},
                           {"settings",
                            {{"lambda", settings.lambda},
                             {"learning_rate", settings.learning_rate},
                             {"dimension", settings.dimension},
                             {"trusted_size", settings.trusted_size},
                             {"beta", settings.beta},
                             {"epsilon", settings.epsilon},
                             {"initial_distance", settings.initial_distance},
                             {"iterations", settings.iterations}}}};
    std::printf("%s\n", document.dump(2).c_str());
    return {};
  }
  std::printf("The paper's theorem for linear regression, lambda %g, %zu trusted samples, d = %zu:\n",
              settings.lambda, settings.trusted_size, settings.dimension);
  std::printf("  q = %.4g (%.4g with endless trusted data); it bounds the error only if q > 0\n", bound.q,
              bound.q_without_sampling);
  if (bound.limit) {
    std::printf("  ||theta - theta*|| <= %.4g after %llu iterations, %.4g in the limit\n",
                *bound.after_iterations, static_cast<unsigned long long>(settings.iterations), *bound.limit);
  } else {
    std::printf("  so the bound is vacuous here\n");
  }
  std::printf("  at this learning rate q > 0 needs lambda < %.4g", bound.largest_lambda);
  if (bound.needed_trusted_size) {
    std::printf("; at this lambda it needs %.3g trusted samples\n", *bound.needed_trusted_size);
  } else {
    std::printf("; at this lambda no number of trusted samples is enough\n");
  }
  return {};
}

void add_run(CLI::App& lab, Action& action, const lab::Catalog& catalog) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = lab.add_subcommand("run", "Run one experiment");
  verb->add_option("--dataset", options->dataset,
                   "synthetic, mnist, fashion-mnist, har, colorectal, cifar-10, FILE.csv or "
                   "FEATURES.npy:LABELS.npy")
      ->required();
  verb->add_option("--guard", options->guard, "What judges the updates; lab list shows all")
      ->capture_default_str();
  verb->add_option("--defense", options->guard)->group("");  // its name in earlier versions
  verb->add_option("--attack", options->attack, "What malicious clients do; lab list shows all")
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "The same seed gives the same result")->capture_default_str();
  verb->add_option("--malicious", options->malicious, "Fraction of malicious clients [0.2]");
  verb->add_option("--clients", options->clients, "Number of clients");
  verb->add_option("--iterations", options->iterations, "Updates to judge (rounds, for a synchronous guard)");
  verb->add_option("--lambda", options->lambda, "AFLGuard's tolerance");
  verb->add_option("--server-delay", options->server_delay, "Iterations between reference updates [10]");
  verb->add_option("--client-delay", options->client_delay, "Largest delay of a client [10]");
  verb->add_option("--trusted-size", options->trusted_size, "Samples in the trusted set [100]");
  verb->add_option("--distribution-shift", options->distribution_shift,
                   "Fraction of the trusted set that is of the first class [0.5]");
  verb->add_option("--batch-size", options->batch_size, "Samples per client update");
  verb->add_option("--learning-rate", options->learning_rate, "Global rate, on summed gradients");
  verb->add_option("--non-iid", options->non_iid,
                   "Degree q to which labels stick to groups of clients [0.5]");
  verb->add_option(
      "--partition", options->partition,
      "How clients get samples: iid, label, or column:NAME of a table [the paper's; label for files]");
  verb->add_option("--encoding", options->encoding,
                   "Of honest updates on their way: float32, fp16, int8, int4 or auto")
      ->capture_default_str();
  verb->add_flag("--feedback", options->feedback,
                 "Add what rounding lost of an update to the client's next one");
  verb->add_flag("--grid", options->grid, "Give clients models on a grid, as a gateway publishes them");
  verb->add_option("--guard-option", options->guard_options, "NAME=NUMBER, may be repeated");
  verb->add_option_function<std::vector<std::string>>(
          "--defense-option",
          [options](const std::vector<std::string>& given) {
            options->guard_options.insert(options->guard_options.end(), given.begin(), given.end());
          })
      ->group("");  // its name in earlier versions
  verb->add_option("--attack-option", options->attack_options, "NAME=NUMBER, may be repeated");
  verb->add_option("--model", options->model, "A model package instead of the paper's model");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer(
      "Defaults not shown are the paper's for the data set.\n\nExamples:\n"
      "  aflguard lab run --dataset synthetic --guard aflguard --attack gd\n"
      "  aflguard lab run --dataset mnist --guard kardam --attack lf --seed 7 --json\n"
      "  aflguard lab run --dataset har --guard basgd --guard-option buffers=5");
  verb->callback(
      [options, &action, catalog] { action = [options, catalog] { return run(*options, catalog); }; });
}

void add_campaign_options(CLI::App* verb, CampaignVerbOptions& options) {
  verb->add_option("--seeds", options.seeds, "Runs per cell")->capture_default_str();
  verb->add_option("--first-seed", options.first_seed, "Seed of the first run")->capture_default_str();
  verb->add_option("--jobs", options.jobs, "Runs side by side; results do not depend on it")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  verb->add_option("--iterations", options.overrides.iterations, "Instead of the paper's number");
  verb->add_option("--guard", options.overrides.guard,
                   "Only this guard, whether the paper has it or not; lab list shows all");
  verb->add_option("-o,--output", options.folder,
                   "Folder for the results [lab-table-NAME or lab-figure-NAME]");
  verb->add_flag("--json", options.json, "Print results.json");
}

void add_replay(CLI::App& lab, Action& action, const lab::Catalog& catalog) {
  struct ReplayOptions {
    std::string recording;
    bool json = false;
  };
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* verb = lab.add_subcommand("replay", "Judge a live gateway's recording again and compare");
  verb->add_option("recording", options->recording, "The folder of [recording], or one segment of it")
      ->required()
      ->type_name("RECORDING");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer(
      "Exit code 1 when a verdict differs.\n\nExample:\n  aflguard lab replay orchard/gateway/recording");
  verb->callback([options, &action, catalog] {
    action = [options, catalog] { return print_replay(options->recording, options->json, catalog.guards); };
  });
}

void add_grid(CLI::App& lab, Action& action, const lab::Catalog& catalog) {
  struct GridOptions {
    lab::GridRequest request;
    CampaignVerbOptions campaign;
    std::optional<double> distribution_shift, non_iid;
    std::optional<std::size_t> clients, trusted_size, batch_size;
    std::optional<double> learning_rate;
    OwnOptions own;
  };
  auto options = std::make_shared<GridOptions>();
  CampaignVerbOptions& campaign = options->campaign;
  CLI::App* verb = lab.add_subcommand("grid", "Run every chosen guard against every chosen attack");
  verb->add_option("--guard", options->request.guards, "What judges the updates; lab list shows all")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->required();
  verb->add_option("--attack", options->request.attacks, "none, or names of lab list")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->required();
  verb->add_option("--dataset", options->request.datasets,
                   "Names of lab list, FILE.csv or FEATURES.npy:LABELS.npy")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->required();
  verb->add_option("--model", options->own.model,
                   "A model package instead of the paper's model; files need one")
      ->type_name("DIR");
  verb->add_option(
      "--partition", options->own.partition,
      "How clients get samples: iid, label, or column:NAME of a table [the paper's; label for files]");
  verb->add_option("--batch-size", options->batch_size, "Samples per client update");
  verb->add_option("--learning-rate", options->learning_rate, "Global rate, on summed gradients");
  verb->add_option("--malicious", options->request.malicious, "Fractions of malicious clients")
      ->delimiter(',')
      ->capture_default_str();
  verb->add_option("--non-iid", options->non_iid,
                   "Degree q to which labels stick to groups of clients [0.5]");
  verb->add_option("--clients", options->clients, "Number of clients");
  verb->add_option("--trusted-size", options->trusted_size, "Samples in the trusted set [100]");
  verb->add_option("--distribution-shift", options->distribution_shift,
                   "Fraction of the trusted set that is of the first class [0.5]");
  verb->add_option("--seeds", campaign.seeds, "Runs per cell")->capture_default_str();
  verb->add_option("--first-seed", campaign.first_seed, "Seed of the first run")->capture_default_str();
  verb->add_option("--jobs", campaign.jobs, "Runs side by side; results do not depend on it")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  verb->add_option("--iterations", campaign.overrides.iterations, "Instead of the paper's number");
  verb->add_option("-o,--output", campaign.folder, "Folder for the results [lab-grid]");
  verb->add_flag("--json", campaign.json, "Print results.json");
  verb->footer(
      "Started again, it continues where it was interrupted.\n\nExamples:\n"
      "  aflguard lab grid --guard aflguard,span-guard-2 --attack none,own,alie --dataset synthetic\n"
      "  aflguard lab grid --guard zeno++ --attack lf,gd --dataset synthetic --malicious 0.1,0.2,0.4 --seeds "
      "5 -o "
      "zeno");
  verb->callback([options, &action, catalog] {
    // Not a shared pointer: options would own themselves.
    options->request.adjust = [given = options.get()](ExperimentSettings& settings) {
      settings.partition = given->own.partition;
      override_with(settings.batch_size, given->batch_size);
      override_with(settings.learning_rate, given->learning_rate);
      override_with(settings.distribution_shift, given->distribution_shift);
      override_with(settings.non_iid, given->non_iid);
      override_with(settings.clients, given->clients);
      override_with(settings.trusted_size, given->trusted_size);
      override_with(settings.iterations, given->campaign.overrides.iterations);
    };
    if (options->campaign.folder.empty()) options->campaign.folder = "lab-grid";
    action = [options, catalog] {
      return run_plan(lab::plan_grid(options->request), options->campaign, catalog, options->own);
    };
  });
}

void add_publish(CLI::App& lab, Action& action) {
  struct PublishOptions {
    std::vector<std::filesystem::path> campaigns;
    std::string folder;
  };
  auto options = std::make_shared<PublishOptions>();
  CLI::App* verb =
      lab.add_subcommand("publish", "Gather finished tables, figures and grids in one folder of small files");
  verb->add_option("folders", options->campaigns, "Output folders of lab table, figure and grid")
      ->required()
      ->type_name("FOLDER...");
  verb->add_option("-o,--output", options->folder, "Where to")->required()->type_name("FOLDER");
  verb->footer(
      "Per campaign a CSV with every run, its seed and settings, and its page; and index.csv.\n\nExample:\n"
      "  aflguard lab publish results/table-1 results/table-2c -o published");
  verb->callback([options, &action] {
    action = [options]() -> Status {
      TRY(const auto published, lab::publish(options->campaigns, options->folder));
      for (const lab::PublishedPlan& plan : published) {
        std::printf("%s: %zu cells, %zu runs, %zu seeds\n", plan.files.c_str(), plan.cells, plan.runs,
                    plan.seeds);
      }
      return {};
    };
  });
}

void add_campaigns(CLI::App& lab, Action& action, const lab::Catalog& catalog) {
  auto table = std::make_shared<CampaignVerbOptions>();
  CLI::App* verb = lab.add_subcommand("table", "Reproduce a table of the paper");
  verb->add_option("name", table->name,
                   "1, 2a to 2e, 3, 5a to 5d; not in the paper: adaptive, white-box, league")
      ->required();
  verb->add_option("--dataset", table->overrides.dataset, "Only this data set of the table");
  verb->add_option("--malicious", table->overrides.malicious,
                   "Only this malicious fraction, of tables that vary it (white-box and league: 0.2, 0.45)");
  add_campaign_options(verb, *table);
  verb->footer(
      "Started again, it continues where it was interrupted.\n\nExamples:\n"
      "  aflguard lab table 1 --seeds 3 -o results/table-1\n"
      "  aflguard lab table 2a --seeds 1 --jobs 2\n"
      "  aflguard lab table white-box --dataset har --malicious 0.2 -o results/white-box-har");
  verb->callback([table, &action, catalog] {
    action = [table, catalog] {
      return run_plan(lab::plan_table(table->name, table->overrides), *table, catalog);
    };
  });

  auto figure = std::make_shared<CampaignVerbOptions>();
  figure->seeds = 1;
  verb = lab.add_subcommand("figure", "Reproduce a figure of the paper");
  verb->add_option("name", figure->name,
                   "malicious-fraction, clients, client-delay, server-delay, lambda or trusted-size")
      ->required();
  add_campaign_options(verb, *figure);
  verb->add_option("--dataset", figure->overrides.dataset, "Instead of mnist");
  verb->footer(
      "Started again, it continues where it was interrupted.\n\nExamples:\n"
      "  aflguard lab figure lambda\n"
      "  aflguard lab figure server-delay --dataset synthetic --seeds 3 -o delays");
  verb->callback([figure, &action, catalog] {
    action = [figure, catalog] {
      return run_plan(lab::plan_figure(figure->name, figure->overrides), *figure, catalog);
    };
  });
}

void add_bound(CLI::App& lab, Action& action) {
  auto settings = std::make_shared<lab::BoundSettings>();
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = lab.add_subcommand("bound", "Evaluate the paper's theorem for linear regression");
  verb->add_option("--lambda", settings->lambda)->capture_default_str();
  verb->add_option("--learning-rate", settings->learning_rate,
                   "On mean gradients: the lab's rate times the batch size")
      ->capture_default_str();
  verb->add_option("--dimension", settings->dimension)->capture_default_str();
  verb->add_option("--trusted-size", settings->trusted_size)->capture_default_str();
  verb->add_option("--beta", settings->beta, "The bound fails with at most this probability")
      ->capture_default_str();
  verb->add_option("--epsilon", settings->epsilon, "The theorem's free constant")->capture_default_str();
  verb->add_option("--initial-distance", settings->initial_distance)->capture_default_str();
  verb->add_option("--iterations", settings->iterations)->capture_default_str();
  verb->add_flag("--json", *json, "Print one JSON document");
  verb->footer("Example:\n  aflguard lab bound --lambda 0.3 --trusted-size 10000000");
  verb->callback(
      [settings, json, &action] { action = [settings, json] { return bound(*settings, *json); }; });
}

}  // namespace

void add_lab_verbs(CLI::App& app, Action& action, const lab::Catalog& catalog) {
  CLI::App* lab = app.add_subcommand("lab", "The paper's experiments, on the code that gateways run");
  lab->require_subcommand(1);
  add_run(*lab, action, catalog);
  add_campaigns(*lab, action, catalog);
  add_grid(*lab, action, catalog);
  add_publish(*lab, action);
  add_replay(*lab, action, catalog);
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = lab->add_subcommand("list", "Show data sets, defenses, attacks, tables and figures");
  verb->add_flag("--json", *json, "Print one JSON document");
  verb->footer("Example:\n  aflguard lab list");
  verb->callback([json, &action, catalog] { action = [json, catalog] { return list(*json, catalog); }; });
  add_bound(*lab, action);
}

}  // namespace aflguard::cli
