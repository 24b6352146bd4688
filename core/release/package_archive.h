#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/learning/model_package.h"

namespace aflguard {

/// A model package and the parameters that a fleet starts it with, as one sequence of bytes: the files of the
/// folder and start.f32, names in front, packed. kInvalidInput when it is larger than can be rolled out, or
/// `start` has another length than the model's parameters or a number that is not finite.
[[nodiscard]] Result<Bytes> pack_package(const std::filesystem::path& folder, std::span<const float> start);

/// Writes the folder that an archive holds, whole or not at all, replacing what a former call wrote there.
/// kCorrupt when the archive is damaged, names another file than those of a package, or its package does not
/// pass read_model_package().
[[nodiscard]] Result<ModelPackage> unpack_package(std::span<const std::byte> archive,
                                                  const std::filesystem::path& folder);

/// The parameters to start with, in a folder that unpack_package() wrote.
[[nodiscard]] Result<std::vector<float>> read_start(const std::filesystem::path& folder,
                                                    const ModelDescription& model);

}  // namespace aflguard
