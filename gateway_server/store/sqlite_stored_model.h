#pragma once

#include <filesystem>
#include <optional>

#include "core/aggregation/aggregator.h"
#include "core/learning/model_description.h"
#include "gateway_server/store/sqlite_store.h"

namespace aflguard::gateway {

/// The newest durable model of a gateway's store, which may be in use. kNotFound when there is no store or
/// nothing in it yet, kInvalidInput when it holds another model than `model`.
[[nodiscard]] Result<SavedModel> read_stored_model(const std::filesystem::path& store,
                                                   const ModelDescription& model);

/// Which model a store belongs to; none when there is no store yet, or it is damaged: opening it says so.
[[nodiscard]] std::optional<StoredModel> model_of_store(const std::filesystem::path& store);

}  // namespace aflguard::gateway
