#include "core/identity/device_registry.h"

#include "core/base/identifier.h"

namespace aflguard {

Status KeyTable::add(std::string_view owner, const PublicKey& key) {
  TRY_STATUS(check_identifier("owner of a key", owner));
  const auto [place, added] =
      keys_.try_emplace(key_id_of(key), RegisteredKey{.owner = std::string(owner), .key = key});
  if (added) return {};
  return invalid_input("key " + to_hex(place->first) + " belongs to '" + place->second.owner +
                       "' already; make a new key for '" + std::string(owner) + "'");
}

Status KeyTable::revoke(std::string_view owner) {
  bool found = false;
  for (auto& [id, entry] : keys_) {
    if (entry.owner != owner) continue;
    entry.revoked = true;
    found = true;
  }
  if (found) return {};
  return not_found("'" + std::string(owner) + "' has no key that could be revoked");
}

std::optional<RegisteredKey> KeyTable::find(const KeyId& id) const {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return std::nullopt;
  return found->second;
}

}  // namespace aflguard
