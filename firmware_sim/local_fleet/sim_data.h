#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/dataset_files.h"
#include "core/learning/model_description.h"

namespace aflguard::sim {

/// Where simulated boards get their samples from.
struct SampleOrigin {
  std::string dataset = "mnist";  ///< one of the lab's, dealt out as in its experiments
  std::filesystem::path own;      ///< when not empty: the user's own samples, a CSV file or a folder
  DatasetFiles table;             ///< how a CSV file of them is to be read; its names of files do not count
  std::uint64_t seed = 1;

  [[nodiscard]] std::string text() const { return own.empty() ? dataset : own.string(); }
};

/// One share per board, none with another's samples; classes are dealt out unevenly, so that
/// every board knows something else best. The user's folder holds samples.csv, or features.npy and
/// labels.npy, or two IDX files, *-images-idx3-ubyte and *-labels-idx1-ubyte. kInvalidInput when the samples
/// do not fit the model, or are too few.
[[nodiscard]] Result<std::vector<Dataset>> deal_samples(const SampleOrigin& origin, std::size_t boards,
                                                        const ModelDescription& model);

/// A new fleet that learns the lab's data set: model, trusted samples, evaluation, gateway.toml. Its broker
/// takes a free port of loopback. `root` does not exist yet, or is empty.
[[nodiscard]] Status make_learning_fleet(const std::filesystem::path& root, const std::string& dataset,
                                         std::size_t boards, std::uint64_t seed);

}  // namespace aflguard::sim
