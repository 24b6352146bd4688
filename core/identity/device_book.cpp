#include "core/identity/device_book.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/identity/book_file.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

constexpr BookKind kKind = {"aflguard-device-book-1", "devices", "device", std::uint64_t{1} << 30};
constexpr std::array<std::string_view, 3> kReservedNames = {"broker", "gateway", "operator"};

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

/// What holds for every book, read or written.
Status check_devices(const std::vector<Device>& devices) {
  if (devices.size() > kMaxDevicesInBook) {
    return corrupt(std::to_string(devices.size()) + " devices, the limit is " +
                   std::to_string(kMaxDevicesInBook));
  }
  std::set<std::string_view> names;
  std::set<PublicKey> keys;
  for (const Device& device : devices) {
    TRY_STATUS(check_device_name(device.name));
    if (!names.insert(device.name).second) return corrupt("device '" + device.name + "' is there twice");
    if (device.keys.empty() || device.keys.size() > kMaxKeysPerDevice) {
      return corrupt("device '" + device.name + "' has " + std::to_string(device.keys.size()) +
                     " keys, 1 to " + std::to_string(kMaxKeysPerDevice) + " are allowed");
    }
    for (const DeviceKey& key : device.keys) {
      if (!keys.insert(key.public_key).second) {
        return corrupt("device '" + device.name + "' has a key that is there twice");
      }
      TRY_STATUS(check_serial(kKind, device.name, key.serial));
    }
  }
  return {};
}

BookJson to_json(const Device& device) {
  BookJson keys = BookJson::array();
  for (const DeviceKey& key : device.keys) {
    keys.push_back({{"public_key", to_hex(key.public_key)},
                    {"serial", key.serial},
                    {"not_after", to_rfc3339(key.not_after)}});
  }
  return {{"name", device.name},
          {"keys", std::move(keys)},
          {"revoked", device.revoked},
          {"enrolled", to_rfc3339(device.enrolled)}};
}

}  // namespace

Device* DeviceBook::find(std::string_view name) {
  return find_entry(devices, name);
}

const Device* DeviceBook::find(std::string_view name) const {
  return const_cast<DeviceBook*>(this)->find(name);
}

bool is_reserved_name(std::string_view name) {
  return std::find(kReservedNames.begin(), kReservedNames.end(), name) != kReservedNames.end();
}

Status check_device_name(std::string_view name) {
  TRY_STATUS(check_identifier("device", name));
  if (!is_reserved_name(name)) return {};
  return invalid_input("device '" + std::string(name) +
                       "': the names broker, gateway and operator are the fleet's own; choose another");
}

Result<DeviceBook> read_device_book(const fs::path& path) {
  DeviceBook book;
  TRY(book.devices, read_book_file<Device>(kKind, path, parse_device, check_devices));
  return book;
}

Status write_device_book(const fs::path& path, const DeviceBook& book) {
  return write_book_file<Device>(kKind, path, book.devices, to_json, check_devices);
}

}  // namespace aflguard
