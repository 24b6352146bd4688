#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/learning/trainer.h"
#include "edge_client/client_config.h"
#include "edge_client/training/local_training.h"
#include "edge_client/training/sample_source.h"

namespace CLI {
class App;
}

namespace aflguard::edge {

/// What there is to make a training of; all borrowed, and alive as long as the training.
struct TrainingContext {
  const ClientConfig& config;
  Trainer& trainer;
  SampleSource& source;
  std::uint64_t seed;
  LogSink& log;
};

/// A program that runs a device. The product's trains honestly; a simulation may bring another training.
struct ClientProgram {
  std::string name;   ///< of the command
  std::string about;  ///< one sentence for --help
  std::function<void(CLI::App&)> add_options = {};
  std::function<Result<std::unique_ptr<LocalTraining>>(const TrainingContext&)> make_training;
  /// How updates are encoded; the product's way when empty.
  std::function<Result<Payload>(const UpdateMessage&)> encode = {};
};

/// The whole life of the program; its exit code: 0 done or stopped by a signal, 1 failure, 2 usage.
[[nodiscard]] int run_client_program(const ClientProgram& program, int argc, char** argv);

}  // namespace aflguard::edge
