#include "core/book/json_device_book.h"

#include <charconv>
#include <set>

#include "core/base/rfc3339.h"
#include "core/identity/book_file.h"

namespace aflguard {
namespace {

constexpr BookKind kKind = {"aflguard-device-book-1", "devices", "device", std::uint64_t{1} << 30};

Result<PublicKey> parse_public_key(const std::string& hex) {
  PublicKey key{};
  if (hex.size() != 2 * key.size() || !is_hex(hex) || !hex.starts_with("04")) {
    return corrupt("'" + hex.substr(0, 16) +
                   "...' is not a public key: 65 bytes in lower-case hex, 04 first");
  }
  for (std::size_t i = 0; i < key.size(); ++i) {
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, key[i], 16);
  }
  return key;
}

Result<DeviceKey> parse_key(const BookJson& json) {
  DeviceKey key;
  TRY(key.public_key, parse_public_key(json.at("public_key").get<std::string>()));
  key.serial = json.at("serial").get<std::string>();
  TRY(key.not_after, parse_rfc3339(json.at("not_after").get<std::string>()));
  return key;
}

Result<Device> parse_device(const BookJson& json) {
  Device device;
  device.name = json.at("name").get<std::string>();
  device.revoked = json.at("revoked").get<bool>();
  TRY(device.enrolled, parse_rfc3339(json.at("enrolled").get<std::string>()));
  for (const BookJson& item : json.at("keys")) {
    TRY(DeviceKey key, parse_key(item));
    device.keys.push_back(std::move(key));
  }
  return device;
}

Status check_devices(const std::vector<Device>& devices) {
  if (devices.size() > kMaxDevicesInBook) {
    return corrupt(std::to_string(devices.size()) + " devices, the limit is " +
                   std::to_string(kMaxDevicesInBook));
  }
  std::set<std::string_view> names;
  std::set<PublicKey> keys;
  for (const Device& device : devices) {
    TRY_STATUS(check_device(device));
    if (!names.insert(device.name).second) return corrupt("device '" + device.name + "' is there twice");
    for (const DeviceKey& key : device.keys) {
      if (!keys.insert(key.public_key).second) {
        return corrupt("device '" + device.name + "' has a key that is there twice");
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Device>> read_json_device_book(const std::filesystem::path& path) {
  return read_book_file<Device>(kKind, path, parse_device, check_devices);
}

}  // namespace aflguard
