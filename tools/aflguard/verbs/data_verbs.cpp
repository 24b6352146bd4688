#include "tools/aflguard/verbs/data_verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/learning/data/shape.h"
#include "core/learning/model_description.h"
#include "datasets/catalog.h"
#include "datasets/folders.h"
#include "datasets/install.h"
#include "datasets/manifest.h"
#include "tools/aflguard/verbs/data_check.h"

namespace aflguard::cli {
namespace {

using datasets::DatasetInfo;
using Json = nlohmann::ordered_json;

/// What the command line gives; lives as long as the verbs that were added.
struct DataOptions {
  std::string name;
  std::string path;
  bool json = false;
  bool force = false;
  std::uint64_t seed = 1;
};

Json describe(const datasets::DatasetInfo& info, const std::filesystem::path& folder,
              const Status& installed) {
  Json item = {{"name", info.name},
               {"title", info.title},
               {"train", info.train},
               {"test", info.test},
               {"samples", info.train + info.test},
               {"classes", info.classes},
               {"shape", info.sample_shape}};
  if (info.subjects > 0) item["subjects"] = info.subjects;
  if (!info.class_names.empty()) item["class_names"] = info.class_names;
  item["installed"] = installed.ok();
  if (installed.ok()) item["folder"] = (folder / info.name).string();
  if (!installed.ok() && installed.error().kind != ErrorKind::kNotFound) {
    item["problem"] = installed.error().message;
  }
  item["command"] = info.command;
  return item;
}

void print_row(const datasets::DatasetInfo& info, const Status& installed) {
  const std::string classes = info.classes > 0 ? std::to_string(info.classes) : "-";
  const bool damaged = !installed.ok() && installed.error().kind != ErrorKind::kNotFound;
  std::printf("%-14s %6zu %6zu %8s  %-13s %-10s %s\n", info.name.c_str(), info.train, info.test,
              classes.c_str(), shape_text(info.sample_shape).c_str(),
              installed.ok() ? "yes" : (damaged ? "damaged" : "no"), info.command.c_str());
}

Status list(const DataOptions& options) {
  TRY(const auto folder, datasets::data_folder());
  Json document = {
      {"schema", "aflguard.data.list/1"}, {"folder", folder.string()}, {"datasets", Json::array()}};
  if (!options.json) {
    std::printf("%-14s %6s %6s %8s  %-13s %-10s %s\n", "name", "train", "test", "classes", "shape",
                "installed", "how to get it");
  }
  for (const datasets::DatasetInfo& info : datasets::known_datasets()) {
    const Status installed = datasets::check_installed(info, folder);
    if (options.json) {
      document["datasets"].push_back(describe(info, folder, installed));
    } else {
      print_row(info, installed);
    }
  }
  if (options.json) {
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("data folder: %s\n", folder.string().c_str());
  }
  return {};
}

/// Shared by get and import: `work` installs, the rest reports.
template <typename Work>
Status install_and_report(const DataOptions& options, Work work) {
  TRY(const auto data_dir, datasets::data_folder());
  TRY(const auto cache_dir, datasets::cache_folder());
  TRY(const datasets::DatasetInfo info, datasets::find_dataset(options.name));
  StderrProgress progress;
  const datasets::InstallContext context{data_dir, cache_dir, progress, options.force, options.seed};
  const auto outcome = work(context);
  progress.finish();
  if (!outcome.ok()) return outcome.error();
  if (options.json) {
    Json document = {{"schema", "aflguard.data.install/1"}, {"changed", !outcome->was_there}};
    document["dataset"] = describe(info, data_dir, {});
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("%s %s: %zu training and %zu test samples in %s\n", info.name.c_str(),
                outcome->was_there ? "is installed already" : "installed", info.train, info.test,
                outcome->folder.string().c_str());
  }
  return {};
}

Status verify(const DataOptions& options) {
  TRY(const auto data_dir, datasets::data_folder());
  TRY(const datasets::DatasetInfo info, datasets::find_dataset(options.name));
  TRY_STATUS(datasets::verify_installed(info, data_dir));
  std::printf("%s: every file is as it was installed\n", info.name.c_str());
  return {};
}

}  // namespace

void add_data_verbs(CLI::App& app, Action& action) {
  auto options = std::make_shared<DataOptions>();
  CLI::App* data =
      app.add_subcommand("data", "Check your own table; get, import and list the data sets of the paper");
  data->require_subcommand(1);
  data->footer(
      "Data sets live in one folder: $AFLGUARD_DATA, else $XDG_DATA_HOME/aflguard, else\n"
      "~/.local/share/aflguard. Downloads are pinned by checksum and kept in $AFLGUARD_CACHE, else\n"
      "$XDG_CACHE_HOME/aflguard, else ~/.cache/aflguard.\n\n"
      "Examples:\n"
      "  aflguard data check readings.csv --model orchard/model\n"
      "  aflguard data list\n"
      "  aflguard data get mnist\n"
      "  aflguard data import har 'UCI HAR Dataset'");

  CLI::App* list_verb = data->add_subcommand("list", "Show every data set and whether it is installed");
  list_verb->add_flag("--json", options->json, "Print one JSON document");
  list_verb->footer("Example:\n  aflguard data list --json");
  list_verb->callback([options, &action] { action = [options] { return list(*options); }; });

  CLI::App* get = data->add_subcommand("get", "Download or generate a data set and install it");
  get->add_option("name", options->name, "mnist, fashion-mnist, cifar-10 or synthetic")->required();
  get->add_flag("--force", options->force, "Install again even when it is there");
  get->add_option("--seed", options->seed, "Seed of the synthetic data")->capture_default_str();
  get->add_flag("--json", options->json, "Print one JSON document");
  get->footer("Examples:\n  aflguard data get mnist\n  aflguard data get synthetic --seed 7 --force");
  get->callback([options, &action] {
    action = [options] {
      return install_and_report(
          *options, [&](const auto& context) { return datasets::get_dataset(options->name, context); });
    };
  });

  CLI::App* import_verb = data->add_subcommand("import", "Install a data set from files that you have");
  import_verb->add_option("name", options->name, "har, colorectal, mnist, fashion-mnist or cifar-10")
      ->required();
  import_verb->add_option("path", options->path, "Folder or file with the published data")->required();
  import_verb->add_flag("--force", options->force, "Install again even when it is there");
  import_verb->add_flag("--json", options->json, "Print one JSON document");
  import_verb->footer(
      "Examples:\n"
      "  aflguard data import har 'UCI HAR Dataset'\n"
      "  aflguard data import colorectal hmnist_64_64_L.csv\n"
      "  aflguard data import cifar-10 cifar-10-batches-bin");
  import_verb->callback([options, &action] {
    action = [options] {
      return install_and_report(*options, [&](const auto& context) {
        return datasets::import_dataset(options->name, options->path, context);
      });
    };
  });

  CLI::App* verify_verb = data->add_subcommand("verify", "Compare an installed data set with its checksums");
  verify_verb->add_option("name", options->name, "An installed data set")->required();
  verify_verb->footer("Example:\n  aflguard data verify mnist");
  verify_verb->callback([options, &action] { action = [options] { return verify(*options); }; });
  add_data_check_verb(*data, action);
}

}  // namespace aflguard::cli
