#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "gateway_server/store/answered_mark.h"
#include "gateway_server/store/sqlite_store.h"

namespace aflguard::gateway {

/// What `meta` says about a store, and what the options want.
using OwnerFacts = std::array<std::pair<std::string_view, std::string_view>, 2>;
[[nodiscard]] OwnerFacts owner_facts(const SqliteStoreOptions& options);

/// The file beside the store that counts what was answered.
[[nodiscard]] std::filesystem::path answered_file(const SqliteStoreOptions& options);

/// Reads a store that exists through and through before anything is written: what is found damaged is left to
/// be looked at, byte by byte. `answered`: what the mark beside it says.
[[nodiscard]] Status inspect_store(const SqliteStoreOptions& options,
                                   const std::optional<AnsweredMark::Content>& answered);

}  // namespace aflguard::gateway
