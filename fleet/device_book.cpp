#include "fleet/device_book.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/identifier.h"
#include "core/base/rfc3339.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "aflguard-device-book-1";
constexpr std::uint64_t kMaxBookBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMaxSerialDigits = 40;  // RFC 5280: 20 bytes
constexpr std::array<std::string_view, 3> kReservedNames = {"broker", "gateway", "operator"};

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

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

Result<DeviceKey> parse_key(const Json& json) {
  DeviceKey key;
  TRY(key.public_key, parse_public_key(json.at("public_key").get<std::string>()));
  key.serial = json.at("serial").get<std::string>();
  TRY(key.not_after, parse_rfc3339(json.at("not_after").get<std::string>()));
  return key;
}

Result<Device> parse_device(const Json& json) {
  Device device;
  device.name = json.at("name").get<std::string>();
  device.revoked = json.at("revoked").get<bool>();
  TRY(device.enrolled, parse_rfc3339(json.at("enrolled").get<std::string>()));
  for (const Json& item : json.at("keys")) {
    TRY(DeviceKey key, parse_key(item));
    device.keys.push_back(std::move(key));
  }
  return device;
}

/// What holds for every book, read or written.
Status check_book(const DeviceBook& book) {
  if (book.devices.size() > kMaxDevicesInBook) {
    return corrupt(std::to_string(book.devices.size()) + " devices, the limit is " +
                   std::to_string(kMaxDevicesInBook));
  }
  std::set<std::string_view> names;
  std::set<PublicKey> keys;
  for (const Device& device : book.devices) {
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
      if (key.serial.empty() || key.serial.size() > kMaxSerialDigits || !is_hex(key.serial)) {
        return corrupt("device '" + device.name + "' has the serial '" + key.serial.substr(0, 48) +
                       "'; 1 to 40 lower-case hex digits are allowed");
      }
    }
  }
  return {};
}

Result<DeviceBook> parse_book(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return corrupt("not a JSON object");
  try {
    if (json.at("schema") != kSchema) return corrupt("its schema is not " + std::string(kSchema));
    DeviceBook book;
    for (const Json& item : json.at("devices")) {
      TRY(Device device, parse_device(item));
      book.devices.push_back(std::move(device));
    }
    return book;
  } catch (const Json::exception& problem) {
    return corrupt(problem.what());
  }
}

Json to_json(const Device& device) {
  Json keys = Json::array();
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

Error not_a_book(const fs::path& path, const Error& reason) {
  return corrupt(path.string() + " is no device book: " + reason.message + "; restore it from a backup");
}

}  // namespace

Device* DeviceBook::find(std::string_view name) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [name](const Device& device) { return device.name == name; });
  return found == devices.end() ? nullptr : &*found;
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
  TRY(const std::string text, read_text_file(path, kMaxBookBytes));
  auto book = parse_book(text);
  if (!book.ok()) return not_a_book(path, book.error());
  if (const Status status = check_book(*book); !status.ok()) return not_a_book(path, status.error());
  return book;
}

Status write_device_book(const fs::path& path, const DeviceBook& book) {
  if (const Status status = check_book(book); !status.ok()) return invalid_input(status.error().message);
  Json devices = Json::array();
  for (const Device& device : book.devices) devices.push_back(to_json(device));
  const Json json = {{"schema", kSchema}, {"devices", std::move(devices)}};
  return write_file_atomically(path, json.dump(1) + "\n");
}

}  // namespace aflguard
