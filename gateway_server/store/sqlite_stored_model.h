#pragma once

#include <filesystem>

#include "core/aggregation/aggregator.h"
#include "core/learning/model_description.h"

namespace aflguard::gateway {

/// The newest durable model of a gateway's store, which may be in use. kNotFound when there is no store or
/// nothing in it yet, kInvalidInput when it holds another model than `model`.
[[nodiscard]] Result<SavedModel> read_stored_model(const std::filesystem::path& store,
                                                   const ModelDescription& model);

}  // namespace aflguard::gateway
