#include <fstream>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "fleet/provisioning/device_key.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning_openssl/openssl_authority.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
namespace fs = std::filesystem;

namespace {

struct BulkOffice {
  testing::TemporaryFolder temporary;
  SystemClock clock;
  OpensslAuthority authority =
      OpensslAuthority::create("f", clock.wall() - kCertificateBackdating, clock.wall() + kAuthorityLifetime)
          .value();
  fs::path root = temporary / "fleet";
  std::optional<Fleet> fleet;
  SilentProgress progress;

  BulkOffice() {
    ASSERT_OK(create_fleet(root, {.name = "greenhouse", .broker_host = "broker.example.org"}, authority,
                           std::nullopt, clock));
    fleet.emplace(Fleet::open(root).value());
  }
  Status add(const std::vector<ListedDevice>& devices) {
    return fleet->add_devices(devices, std::nullopt, authority, clock, progress);
  }
  [[nodiscard]] std::uint64_t enrolled() const { return fleet->book().state()->active; }
  [[nodiscard]] std::string read(const std::string& file) const {
    return read_text_file(root / "devices" / file).value();
  }
};

}  // namespace

TEST("Many devices get the files that each alone would have got") {
  BulkOffice office;
  ASSERT_OK(office.fleet->add_device({"one", {}, {}}, office.authority, office.clock));
  fs::create_directories(office.root / "devices/pi-2");  // an interrupted call left it behind
  ASSERT_OK(write_file_atomically(office.root / "devices/pi-2/device.key", "old"));
  ASSERT_OK(office.add(numbered_devices("pi-", 1, 1200).value()));
  TEST_ASSERT_EQUAL_UINT64(1201, office.enrolled());
  for (const char* const file :
       {"device.key", "device.crt", "ca.crt", "gateway.pem", "release.pem", "client.toml"}) {
    const fs::path single = office.root / "devices/one" / file;
    const fs::path bulk = office.root / "devices/pi-2" / file;
    TEST_ASSERT_TRUE_MESSAGE(fs::status(single).permissions() == fs::status(bulk).permissions(), file);
  }
  std::string expected = office.read("one/client.toml");
  expected.replace(expected.find("\"one\""), 5, "\"pi-1200\"");
  TEST_ASSERT_EQUAL_STRING(expected.c_str(), office.read("pi-1200/client.toml").c_str());
  TEST_ASSERT_EQUAL_STRING(office.read("one/gateway.pem").c_str(), office.read("pi-7/gateway.pem").c_str());
  TEST_ASSERT_TRUE(has_key(office.fleet->folder(), "pi-2"));
  TEST_ASSERT_TRUE(office.read("pi-2/device.key") != "old");
  ASSERT_OK(office.fleet->book().check_content());
  TEST_ASSERT_EQUAL_size_t(1201, office.fleet->next_number("pi-").value());
  TEST_ASSERT_EQUAL_size_t(1, office.fleet->next_number("cam-").value());
}

TEST("A list with one wrong device enrols none of them") {
  BulkOffice office;
  ASSERT_OK(office.fleet->add_device({"pi-5", {}, {}}, office.authority, office.clock));
  const auto access_list = fs::last_write_time(office.fleet->folder().access_list());
  const auto refused = [&](const std::vector<ListedDevice>& devices, const char* part) {
    ASSERT_CONTAINS(testing::message_of(office.add(devices)), part);
    TEST_ASSERT_EQUAL_UINT64(1, office.enrolled());
    TEST_ASSERT_EQUAL_INT(1, std::distance(fs::directory_iterator(office.root / "devices"), {}));
  };
  refused(numbered_devices("pi-", 1, 9).value(), "has a device 'pi-5' already");
  refused({{"a", {}, {}}, {"b", {}, {}}, {"a", {}, "list, line 3"}},
          "list, line 3: device 'a' is in the list twice");
  refused({{"a", {}, {}}, {"operator", {}, "list, line 2"}}, "list, line 2: device 'operator'");
  refused({{"a", {}, {}}, {"doctor", {}, {}}}, "has a viewer 'doctor'");
  refused({{"a", {}, {}}, {"b", office.temporary / "none.csr", "list, line 2"}}, "none.csr");
  ASSERT_OK(write_file_atomically(office.temporary / "bad.csr", "bad"));
  refused({{"a", {}, {}}, {"b", office.temporary / "bad.csr", {}}},
          "bad.csr: it is not a certificate signing request");
  TEST_ASSERT_TRUE(access_list == fs::last_write_time(office.fleet->folder().access_list()));
}

TEST("Devices with signing requests keep their keys, which may not be another device's") {
  BulkOffice office;
  const auto made =
      run_program({"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                   "-keyout", "own.key", "-subj", "/", "-out", "own.csr"},
                  office.temporary.path());
  if (!made.ok()) TEST_IGNORE_MESSAGE("the openssl command is not installed");
  const fs::path request = office.temporary / "own.csr";
  ASSERT_CONTAINS(testing::message_of(office.add({{"a", request, {}}, {"b", request, {}}})),
                  "belongs to device 'a' already");
  ASSERT_OK(office.add({{"a", request, {}}, {"b", {}, {}}}));
  TEST_ASSERT_FALSE(has_key(office.fleet->folder(), "a"));
  TEST_ASSERT_TRUE(has_key(office.fleet->folder(), "b"));
  ASSERT_CONTAINS(testing::message_of(office.add({{"c", request, {}}})), "belongs to device 'a' already");
}

TEST("Bundles of many devices are one archive each, which only the owner can read") {
  BulkOffice office;
  ASSERT_OK(office.add(numbered_devices("pi-", 1, 3).value()));
  ASSERT_OK(office.fleet->revoke_device("pi-2", {}, office.authority, office.clock));
  const auto names = office.fleet->active_names("pi-").value();
  TEST_ASSERT_TRUE(names == std::vector<std::string>({"pi-1", "pi-3"}));
  const fs::path out = office.temporary / "bundles";
  ASSERT_OK(write_device_bundles(*office.fleet, names, out, office.progress));
  TEST_ASSERT_TRUE(fs::status(out).permissions() == fs::perms(0700));
  TEST_ASSERT_TRUE(fs::status(out / "pi-3.tar").permissions() == fs::perms(0600));
  TEST_ASSERT_EQUAL_STRING(device_bundle(*office.fleet, "pi-1").value().c_str(),
                           read_text_file(out / "pi-1.tar").value().c_str());
  const std::vector<std::string> wrong = {"pi-1", "pi-2"};
  ASSERT_CONTAINS(testing::message_of(
                      write_device_bundles(*office.fleet, wrong, office.temporary / "x", office.progress)),
                  "is revoked");
  TEST_ASSERT_FALSE(fs::exists(office.temporary / "x"));
}
