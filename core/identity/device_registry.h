#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/identity/signature.h"

namespace aflguard {

/// Who a key belongs to.
struct RegisteredKey {
  std::string owner;  ///< device name; on a device, its gateway's name
  PublicKey key{};
  bool revoked = false;
  bool expired = false;  ///< the certificate that was issued for it has ended
};

/// The keys that a receiver knows. A gateway's registry holds devices, a device's registry its gateway.
/// find() may be called from several threads at once.
class DeviceRegistry {
 public:
  virtual ~DeviceRegistry() = default;
  [[nodiscard]] virtual std::optional<RegisteredKey> find(const KeyId& id) const = 0;
};

/// A registry filled once and kept in memory. A name may own several keys, e.g. while one is renewed.
class KeyTable final : public DeviceRegistry {
 public:
  /// kInvalidInput when `owner` is not a name, or the key has an owner already.
  [[nodiscard]] Status add(std::string_view owner, const PublicKey& key);
  /// Refuses every key of `owner` from now on; kNotFound when there is none. Not while others call find().
  [[nodiscard]] Status revoke(std::string_view owner);
  [[nodiscard]] std::optional<RegisteredKey> find(const KeyId& id) const override;

 private:
  std::map<KeyId, RegisteredKey> keys_;
};

}  // namespace aflguard
