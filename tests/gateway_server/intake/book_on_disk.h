#pragma once

#include <string>

#include "core/identity/device_book.h"
#include "core/identity_openssl/openssl_signer.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// A device book in a file, which a test changes.
class BookOnDisk final {
 public:
  void add(const std::string& name) {
    DeviceKey key;
    key.public_key = OpensslSigner::generate().value().public_key();
    key.serial = "01";
    key.not_after = clock.wall() + std::chrono::hours(24);
    Device device;
    device.name = name;
    device.keys.push_back(key);
    book_.devices.push_back(device);
    write();
  }
  void revoke(const std::string& name) {
    book_.find(name)->revoked = true;
    write();
  }
  void write() { ASSERT_OK(write_device_book(path(), book_)); }
  [[nodiscard]] KeyId key_of(const std::string& name) const {
    return key_id_of(book_.find(name)->keys.front().public_key);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "devices.json"; }

  SetClock clock;
  KeptLog log;

 private:
  TemporaryFolder folder_;
  DeviceBook book_;
};

}  // namespace aflguard::testing
