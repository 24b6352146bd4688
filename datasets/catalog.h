#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace aflguard::datasets {

/// The files of an installed data set; docs/data.md describes each.
enum class Layout : std::uint8_t {
  kIdx,      ///< {train,t10k}-images-idx3-ubyte, {train,t10k}-labels-idx1-ubyte
  kCifar10,  ///< data_batch_1.bin ... data_batch_5.bin, test_batch.bin
  kNpy,      ///< {train,test}-features.npy, and -labels.npy or -values.npy, and perhaps -subjects.npy
};

/// What a data set must look like. Loading verifies all of it.
struct DatasetInfo {
  std::string name;   ///< as commands spell it
  std::string title;  ///< for people
  Layout layout = Layout::kIdx;
  std::size_t train = 0;    ///< number of training samples
  std::size_t test = 0;     ///< number of test samples
  std::size_t classes = 0;  ///< 0 for regression
  std::vector<std::size_t> sample_shape;
  std::size_t subjects = 0;  ///< different people who produced the samples; 0 when unknown
  std::string command;       ///< what installs it
  bool balanced = false;     ///< every class has as many samples as the others, in both parts
  std::vector<std::string> class_names = {};
};

/// Every data set this program knows, in the order of the paper.
[[nodiscard]] std::span<const DatasetInfo> known_datasets();

/// kInvalidInput, listing the known names, when there is none of that name.
[[nodiscard]] Result<DatasetInfo> find_dataset(std::string_view name);

}  // namespace aflguard::datasets
