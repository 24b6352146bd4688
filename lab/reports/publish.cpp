#include "lab/reports/publish.h"

#include <nlohmann/json.hpp>
#include <set>

#include "core/system/atomic_file.h"

namespace aflguard::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLargestFile = 64 << 20;

/// Numbers as they are, texts without quotes, objects as a=1;b=2.
std::string field(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return value.dump();
  std::string all;
  for (const auto& [name, number] : value.items())
    all += (all.empty() ? "" : ";") + name + "=" + number.dump();
  return all;
}

constexpr const char* kSettings[] = {"dataset",
                                     "defense",
                                     "attack",
                                     "clients",
                                     "malicious",
                                     "iterations",
                                     "batch_size",
                                     "learning_rate",
                                     "lambda",
                                     "server_delay",
                                     "client_delay",
                                     "trusted_size",
                                     "distribution_shift",
                                     "non_iid",
                                     "defense_options",
                                     "attack_options"};
constexpr const char* kResults[] = {"test_error", "attack_success", "mse", "mee"};

std::string runs_csv(const Json& results) {
  std::string csv = "cell,seed";
  for (const char* name : kSettings) csv += std::string(",") + name;
  for (const char* name : kResults) csv += std::string(",") + name;
  csv += ",accepted_honest,accepted_malicious,rejected_honest,rejected_malicious\n";
  for (const Json& cell : results.at("cells")) {
    for (const Json& run : cell.at("runs")) {
      csv += cell.at("id").get<std::string>() + "," + field(run.at("seed"));
      for (const char* name : kSettings) csv += "," + field(cell.at("settings").value(name, Json()));
      for (const char* name : kResults) csv += "," + field(run.at(name));
      for (const char* verdict : {"accepted", "rejected"}) {
        for (const char* who : {"benign", "malicious"}) csv += "," + field(run.at(verdict).at(who));
      }
      csv += "\n";
    }
  }
  return csv;
}

Result<PublishedPlan> publish_one(const fs::path& campaign, const fs::path& folder,
                                  std::set<std::string>& taken) {
  TRY(const std::string text, read_text_file(campaign / "results.json", kLargestFile));
  TRY(const std::string page, read_text_file(campaign / "report.html", kLargestFile));
  const Json results = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (results.is_discarded()) return corrupt((campaign / "results.json").string() + " cannot be read");
  try {
    PublishedPlan published;
    published.plan = results.at("plan").get<std::string>();
    published.title = results.at("title").get<std::string>();
    published.seeds = results.at("seeds").size();
    published.cells = results.at("cells").size();
    for (const Json& cell : results.at("cells")) published.runs += cell.at("runs").size();
    published.files = campaign.filename().string();
    if (!taken.insert(published.files).second) {
      return invalid_input("two folders are called '" + published.files + "'; give them different names");
    }
    TRY_STATUS(write_file_atomically(folder / (published.files + ".csv"), runs_csv(results)));
    TRY_STATUS(write_file_atomically(folder / (published.files + ".html"), page));
    return published;
  } catch (const Json::exception& problem) {
    return corrupt((campaign / "results.json").string() + ": " + problem.what());
  }
}

}  // namespace

Result<std::vector<PublishedPlan>> publish(const std::vector<fs::path>& campaigns, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error("cannot make " + folder.string() + ": " + error.message());
  std::vector<PublishedPlan> all;
  std::set<std::string> taken;
  std::string index = "files,plan,title,cells,runs,seeds\n";
  for (const fs::path& campaign : campaigns) {
    TRY(auto published,
        publish_one(campaign.has_filename() ? campaign : campaign.parent_path(), folder, taken));
    index += published.files + "," + published.plan + ",\"" + published.title + "\"," +
             std::to_string(published.cells) + "," + std::to_string(published.runs) + "," +
             std::to_string(published.seeds) + "\n";
    all.push_back(std::move(published));
  }
  TRY_STATUS(write_file_atomically(folder / "index.csv", index));
  return all;
}

}  // namespace aflguard::lab
