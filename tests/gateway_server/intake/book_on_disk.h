#pragma once

#include <string>

#include "core/book/device_book.h"
#include "core/identity_openssl/openssl_signer.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// A device book in a file, which a test changes.
class BookOnDisk final {
 public:
  BookOnDisk() { ASSERT_OK(DeviceBook::create(path())); }

  void add(const std::string& name) {
    DeviceKey key;
    key.public_key = OpensslSigner::generate().value().public_key();
    key.serial = "01";
    key.not_after = clock.wall() + std::chrono::hours(24);
    Device device;
    device.name = name;
    device.keys.push_back(key);
    ASSERT_OK(open().add({&device, 1}));
  }
  void revoke(const std::string& name) { ASSERT_OK(open().revoke(name)); }
  [[nodiscard]] KeyId key_of(const std::string& name) const {
    return key_id_of(open().find(name).value()->keys.front().public_key);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "devices.db"; }
  [[nodiscard]] DeviceBook open() const { return DeviceBook::open(path()).value(); }

  SetClock clock;
  KeptLog log;

 private:
  TemporaryFolder folder_;
};

}  // namespace aflguard::testing
