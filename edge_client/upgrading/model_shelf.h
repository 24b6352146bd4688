#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/envelope/messages.h"

namespace aflguard::edge {

/// The model packages of a device: the one of its configuration, and those that came from the fleet. One of
/// them is in use. Changing over is one file that is replaced whole: whenever the power fails, the device has
/// the old model or the new one. The former stays until settle().
class ModelShelf final {
 public:
  /// `configured`: the package of client.toml. When that is another one than at the last choice, its owner
  /// has replaced it, and the choice no longer counts.
  [[nodiscard]] static Result<ModelShelf> open(std::filesystem::path folder,
                                               std::filesystem::path configured);

  /// The package in use.
  [[nodiscard]] std::filesystem::path current() const;
  /// Its number; 0: not known, because it did not come from the fleet.
  [[nodiscard]] std::uint64_t number() const { return choice_.number; }
  /// Came from the fleet.
  [[nodiscard]] bool chosen() const { return !choice_.current.empty(); }
  /// Where a package with that hash is, or will be.
  [[nodiscard]] std::filesystem::path place(const ModelHash& hash) const;
  /// Where pieces of a package are kept until it is whole.
  [[nodiscard]] std::filesystem::path part_file(const std::string& package) const;

  /// From the next start on, that package is used; durable when this returns success.
  [[nodiscard]] Status choose(const ModelHash& hash, std::uint64_t number);
  /// An update under the package in use was judged: the former one and unfinished ones are removed.
  void settle();
  /// The package in use cannot be loaded: back to the former one. False when there is none.
  [[nodiscard]] bool go_back();

  /// How often a trial of that order was begun and not ended, now included.
  [[nodiscard]] std::uint64_t begin_trial(std::uint64_t order);
  void end_trial();

 private:
  struct Choice {
    std::string current;  ///< folder's name; empty: the configured one
    std::uint64_t number = 0;
    std::string former;
    bool has_former = false;
    std::string configured;  ///< manifest's hash of the configured one when this was written
  };
  ModelShelf(std::filesystem::path folder, std::filesystem::path configured)
      : folder_(std::move(folder)), configured_(std::move(configured)) {}
  [[nodiscard]] Status write(const Choice& choice);
  [[nodiscard]] std::filesystem::path choice_file() const { return folder_ / "choice"; }
  [[nodiscard]] std::filesystem::path trial_file() const { return folder_ / "trial"; }

  std::filesystem::path folder_;
  std::filesystem::path configured_;
  std::string configured_hash_;
  Choice choice_;
};

}  // namespace aflguard::edge
