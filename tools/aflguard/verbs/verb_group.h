#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

struct VerbText {
  const char* name;
  const char* about;
  const char* example = nullptr;  ///< null: the verb writes its own footer
};

/// The verbs of one command: they share their options, and each works on a fleet's folder.
template <typename Options>
class VerbGroup final {
 public:
  using Run = Status (*)(const Options&);

  VerbGroup(CLI::App& group, std::shared_ptr<Options> options, Action& action)
      : group_(group), options_(std::move(options)), action_(action) {}

  [[nodiscard]] Options& options() const { return *options_; }

  /// `fleet`: where the folder goes, one of the options.
  CLI::App* add(const VerbText& text, std::string& fleet, Run run) const {
    CLI::App* verb = group_.add_subcommand(text.name, text.about);
    verb->add_option("--fleet", fleet, "The fleet's folder")->envname("AFLGUARD_FLEET")->required();
    if (text.example != nullptr) verb->footer(std::string("Example:\n  ") + text.example);
    verb->callback(
        [options = options_, &action = action_, run] { action = [options, run] { return run(*options); }; });
    return verb;
  }
  CLI::App* add(const VerbText& text, Run run) const { return add(text, options_->fleet, run); }

 private:
  CLI::App& group_;
  std::shared_ptr<Options> options_;
  Action& action_;
};

}  // namespace aflguard::cli
