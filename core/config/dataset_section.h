#pragma once

#include "core/config/config_file.h"
#include "core/learning/dataset_files.h"

namespace aflguard {

/// The keys that say where samples lie, the same in every section that has them:
///   format = "idx"   images, labels
///   format = "csv"   file, label_column = "last" (or a header's name, or a number from 0), header =
///                    true/false, delimiter = ",", columns = [...] or ignore = [...] (names or numbers),
///                    missing = "skip", "zero" or "mean", decimal = "point" or "comma"; header, delimiter and
///                    decimal are detected when absent
///   format = "npy"   features, labels
/// and for each of them: first = 0, count = (all). Problems are collected by the table's file.
[[nodiscard]] DatasetFiles read_dataset_files(ConfigTable& section);

}  // namespace aflguard
