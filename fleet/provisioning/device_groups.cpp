#include "core/base/identifier.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;

Status Fleet::check_enrolled(const NameList& names) const {
  for (const std::string& name : names) {
    TRY(const std::optional<Device> device, book_->find(name));
    if (!device) {
      return not_found("the fleet has no device '" + name + "' (aflguard device list shows all)");
    }
    if (device->revoked) return invalid_input("device '" + name + "' is revoked, and that is for good");
  }
  return {};
}

Status Fleet::pause_devices(const NameList& names, bool pause) {
  TRY_STATUS(check_enrolled(names));
  TRY(NameList list, paused());
  for (const std::string& name : names) {
    if (pause) {
      list.insert(name);
    } else {
      list.erase(name);
    }
  }
  return write_name_list(folder_.paused(), list);
}

Status Fleet::set_group(const std::string& name, const NameList& devices) {
  TRY_STATUS(check_identifier("group", name));
  TRY_STATUS(check_enrolled(devices));
  const fs::path file = folder_.group(name);
  std::error_code error;
  if (devices.empty()) {
    fs::remove(file, error);
    return error ? io_error("cannot remove " + file.string() + ": " + error.message()) : Status();
  }
  fs::create_directories(file.parent_path(), error);
  if (error) return io_error("cannot make " + file.parent_path().string() + ": " + error.message());
  return write_name_list(file, devices);
}

Result<NameList> Fleet::group(const std::string& name) const {
  TRY_STATUS(check_identifier("group", name));
  TRY(NameList devices, read_name_list(folder_.group(name)));
  if (!devices.empty()) return devices;
  return not_found("the fleet has no group '" + name + "'; make it with: aflguard device group " + name +
                   " DEVICE...");
}

}  // namespace aflguard::fleet
