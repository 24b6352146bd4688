#include "tools/aflguard/verbs/data_check.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/learning/model_package.h"
#include "core/learning/table_check.h"
#include "tools/aflguard/table_options.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CheckOptions {
  std::string file;
  std::string model;
  TableOptions table;
  bool json = false;
};

std::string delimiter_text(char delimiter) {
  return delimiter == '\t' ? "tab" : std::string(1, delimiter);
}

void print_json(const TableCheck& check) {
  Json document = {{"schema", "aflguard.data.check/1"},
                   {"rows", check.rows},
                   {"used", check.used},
                   {"skipped", Json::array()},
                   {"classes", Json::object()},
                   {"columns", Json::array()},
                   {"left_out", check.left_out},
                   {"label_column", check.label},
                   {"delimiter", delimiter_text(check.delimiter)},
                   {"problems", check.problems}};
  for (const auto& skipped : check.skipped) {
    document["skipped"].push_back(
        {{"reason", skipped.reason}, {"count", skipped.count}, {"first_line", skipped.first_line}});
  }
  for (const auto& found : check.classes) document["classes"][found.name] = found.count;
  for (const auto& column : check.columns) {
    Json item = {{"name", column.name}, {"min", nullptr}, {"max", nullptr}, {"missing", column.missing}};
    if (column.numbers) {
      item["min"] = column.low;
      item["max"] = column.high;
    }
    document["columns"].push_back(std::move(item));
  }
  std::printf("%s\n", document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_text(const TableCheck& check) {
  std::printf("%zu rows, %zu of them are samples; delimiter %s, label in '%s'\n", check.rows, check.used,
              delimiter_text(check.delimiter).c_str(), check.label.c_str());
  for (const auto& skipped : check.skipped) {
    std::printf("left out: %zu rows, first on line %zu: %s\n", skipped.count, skipped.first_line,
                skipped.reason.c_str());
  }
  for (const std::string& name : check.left_out) std::printf("not a feature: column '%s'\n", name.c_str());
  if (!check.classes.empty()) std::printf("%-20s %10s\n", "class", "samples");
  for (const auto& found : check.classes) std::printf("%-20s %10zu\n", found.name.c_str(), found.count);
  std::printf("%-20s %12s %12s %8s\n", "feature", "lowest", "highest", "missing");
  for (const auto& column : check.columns) {
    if (column.numbers) {
      std::printf("%-20s %12g %12g %8zu\n", column.name.c_str(), column.low, column.high, column.missing);
    } else {
      std::printf("%-20s %12s %12s %8zu\n", column.name.c_str(), "-", "-", column.missing);
    }
  }
}

Status run_check(const CheckOptions& options) {
  TRY(const ModelPackage package, read_model_package(options.model));
  TRY(const DatasetFiles files, table_files(options.file, options.table));
  TRY(const TableCheck check, check_table(files, package.description));
  if (options.json) {
    print_json(check);
  } else {
    print_text(check);
  }
  if (check.problems.empty()) return {};
  std::string text = "a board would not train on " + options.file;
  for (const std::string& problem : check.problems) text += "; " + problem;
  return invalid_input(text);
}

}  // namespace

void add_data_check_verb(CLI::App& data, Action& action) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* verb =
      data.add_subcommand("check", "Say what a board would make of a table: rows, classes, ranges, gaps");
  verb->add_option("file", options->file, "A text table (CSV)")->required()->type_name("FILE");
  verb->add_option("--model", options->model, "The fleet's model package")->required()->type_name("DIR");
  add_table_options(*verb, options->table);
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer(
      "Exit code 0 when a board would train on the table, 1 when not. The options are keys of the same "
      "names\n"
      "in [data] of client.toml and in [trusted] and [evaluation] of gateway.toml.\n\n"
      "Examples:\n"
      "  aflguard data check readings.csv --model orchard/model\n"
      "  aflguard data check export.csv --model orchard/model --label-column state --missing skip --json");
  verb->callback([options, &action] { action = [options] { return run_check(*options); }; });
}

}  // namespace aflguard::cli
