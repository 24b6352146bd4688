#include <sys/stat.h>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "fleet/folder/viewer_identity.h"
#include "fleet/provisioning/broker_files.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning/release_key.h"
#include "fleet/provisioning_openssl/authority_files.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
namespace fs = std::filesystem;

namespace {

class StoppedClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return now; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return {}; }
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
};

struct Office {
  testing::TemporaryFolder temporary;
  StoppedClock clock;
  OpensslAuthority authority =
      OpensslAuthority::create("f", clock.now - kCertificateBackdating, clock.now + kAuthorityLifetime)
          .value();
  FleetSettings settings{.name = "greenhouse", .broker_host = "broker.example.org"};
  fs::path root = temporary / "fleet";

  Status create() { return create_fleet(root, settings, authority, std::nullopt, clock); }
  Fleet open() {
    auto fleet = Fleet::open(root);
    ASSERT_OK(fleet);
    return std::move(fleet).value();
  }
};

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

fs::perms mode(const fs::path& path) {
  return fs::status(path).permissions();
}

Viewer office_viewer(const Office& office, const std::string& name) {
  const auto book = read_viewer_book(office.root / "viewers.json");
  ASSERT_OK(book);
  const Viewer* found = book->find(name);
  TEST_ASSERT_NOT_NULL_MESSAGE(found, name.c_str());
  return *found;
}

}  // namespace

TEST("A new fleet has every file, and its keys are their owner's only") {
  Office office;
  ASSERT_OK(office.create());
  for (const char* key : {"ca/ca.key", "broker/broker.key", "gateway/gateway.key", "operator/operator.key"}) {
    TEST_ASSERT_TRUE_MESSAGE(mode(office.root / key) == fs::perms(0600), key);
  }
  TEST_ASSERT_TRUE(mode(office.root / "ca") == fs::perms(0700));
  for (const char* file :
       {"fleet.toml", "devices.db", "broker/mosquitto.conf", "broker/acl", "broker/crl.pem",
        "gateway/gateway.toml", "gateway/gateway.pem", "operator/ca.crt"}) {
    TEST_ASSERT_TRUE_MESSAGE(fs::is_regular_file(office.root / file), file);
  }
  ASSERT_CONTAINS(read_text_file(office.root / "gateway/gateway.toml").value(),
                  "host = \"broker.example.org\"");
  ASSERT_CONTAINS(read_text_file(office.root / "broker/mosquitto.conf").value(),
                  "acl_file " + (office.root / "broker/acl").string());
  TEST_ASSERT_TRUE(office.open().settings() == office.settings);
  ASSERT_OK(load_authority(FleetFolder{office.root}));
}

TEST(
    "Gateway and devices have the public half of the release key, and only the authority's folder the "
    "other") {
  Office office;
  ASSERT_OK(office.create());
  TEST_ASSERT_TRUE(mode(office.root / "ca/release.key") == fs::perms(0600));
  const std::string key = read_text_file(office.root / "ca/release.pem").value();
  TEST_ASSERT_EQUAL_STRING(key.c_str(), read_text_file(office.root / "gateway/release.pem").value().c_str());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", std::nullopt, std::nullopt}, office.authority, office.clock));
  TEST_ASSERT_EQUAL_STRING(key.c_str(),
                           read_text_file(office.root / "devices/pi-1/release.pem").value().c_str());
  for (const char* folder : {"gateway", "devices/pi-1", "broker"})
    TEST_ASSERT_FALSE(fs::exists(office.root / folder / "release.key"));
  ASSERT_CONTAINS(testing::message_of(fleet.add_device({"release", std::nullopt, std::nullopt},
                                                       office.authority, office.clock)),
                  "the fleet's own");
  ASSERT_OK(certify_release_key(FleetFolder{office.root}, office.authority, office.clock));
  TEST_ASSERT_TRUE(fs::exists(office.root / "ca/release.crt"));
}

TEST(
    "A fleet from before release keys gets one with a refresh, and its devices too; another one changes "
    "nothing") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", std::nullopt, std::nullopt}, office.authority, office.clock));
  for (const char* file :
       {"ca/release.key", "ca/release.pem", "gateway/release.pem", "devices/pi-1/release.pem"})
    fs::remove(office.root / file);
  ASSERT_OK(fleet.add_device({"pi-2", std::nullopt, std::nullopt}, office.authority, office.clock));
  TEST_ASSERT_FALSE(fs::exists(office.root / "devices/pi-2/release.pem"));
  ASSERT_OK(fleet.refresh_broker(office.authority, office.clock));
  const std::string key = read_text_file(office.root / "ca/release.pem").value();
  for (const char* folder : {"gateway", "devices/pi-1", "devices/pi-2"}) {
    TEST_ASSERT_EQUAL_STRING(key.c_str(),
                             read_text_file(office.root / folder / "release.pem").value().c_str());
  }
  ASSERT_OK(fleet.refresh_broker(office.authority, office.clock));
  TEST_ASSERT_EQUAL_STRING(key.c_str(), read_text_file(office.root / "ca/release.pem").value().c_str());
}

TEST("A folder with something in it is never made a fleet, and nothing stays after a refusal") {
  Office office;
  fs::create_directory(office.root);
  ASSERT_OK(write_file_atomically(office.root / "diary.txt", "mine"));
  ASSERT_CONTAINS(testing::message_of(office.create()), "exists already");
  TEST_ASSERT_EQUAL_size_t(1, entries(office.root));
  office.root = office.temporary / "other";
  office.settings.name = "a b";
  ASSERT_CONTAINS(testing::message_of(office.create()), "fleet 'a b' is not a name");
  office.settings.name = "ok";
  office.settings.broker_host = "no host!";
  ASSERT_CONTAINS(testing::message_of(office.create()), "neither a host name nor an address");
  office.settings.broker_host = "h";
  ASSERT_CONTAINS(testing::message_of(create_fleet(office.root, office.settings, office.authority,
                                                   office.temporary / "no model", office.clock)),
                  "cannot copy the model package");
  TEST_ASSERT_EQUAL_size_t(1, entries(office.temporary.path()));
}

TEST("A device gets its files, its place in the book, and a configuration with the fleet's values") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", {}, 30}, office.authority, office.clock));
  const fs::path folder = office.root / "devices/pi-1";
  TEST_ASSERT_TRUE(mode(folder / "device.key") == fs::perms(0600));
  ASSERT_CONTAINS(read_text_file(folder / "client.toml").value(), "device = \"pi-1\"");
  TEST_ASSERT_EQUAL_STRING(read_text_file(office.root / "gateway/gateway.pem")->c_str(),
                           read_text_file(folder / "gateway.pem")->c_str());
  const auto device = DeviceBook::open_to_read(fleet.folder().device_book()).value().find("pi-1").value();
  TEST_ASSERT_TRUE(device.has_value());
  TEST_ASSERT_TRUE(device->keys[0].not_after ==
                   std::chrono::floor<std::chrono::seconds>(office.clock.now + std::chrono::days(30)));
}

TEST("Names are used once, and the fleet's own are not for devices") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  const auto add = [&](const std::string& name) {
    return testing::message_of(fleet.add_device({name, {}, {}}, office.authority, office.clock));
  };
  TEST_ASSERT_EQUAL_STRING("(no error)", add("pi-1").c_str());
  ASSERT_CONTAINS(add("pi-1"), "has a device 'pi-1' already");
  ASSERT_CONTAINS(add("gateway"), "the fleet's own");
  ASSERT_CONTAINS(add("../x"), "is not a name");
  ASSERT_OK(fleet.revoke_device("pi-1", {}, office.authority, office.clock));
  ASSERT_CONTAINS(add("pi-1"), "a revoked one; choose another name");
  ASSERT_CONTAINS(testing::message_of(fleet.renew_device({"pi-1", {}, {}}, office.authority, office.clock)),
                  "is revoked");
  ASSERT_CONTAINS(testing::message_of(fleet.revoke_device("pi-2", {}, office.authority, office.clock)),
                  "has no device 'pi-2'; did you mean 'pi-1'?");
}

TEST("A device that cannot be written is not in the book, and nothing of it stays") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  fs::remove(office.root / "devices");
  ASSERT_OK(write_file_atomically(office.root / "devices", "in the way"));
  const std::size_t before = entries(office.root);
  TEST_ASSERT_FALSE(fleet.add_device({"pi-1", {}, {}}, office.authority, office.clock).ok());
  TEST_ASSERT_EQUAL_size_t(0, fleet.book().state()->devices);
  TEST_ASSERT_EQUAL_size_t(before, entries(office.root));
}

TEST("What an interrupted enrolment left behind does not stand in the way") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  fs::create_directories(office.root / "devices/pi-1");
  fs::create_directories(office.root / "devices/pi-1.AbCdEf");
  ASSERT_OK(write_file_atomically(office.root / "devices/pi-1/device.key", "old"));
  ASSERT_OK(fleet.add_device({"pi-1", {}, {}}, office.authority, office.clock));
  TEST_ASSERT_EQUAL_size_t(1, entries(office.root / "devices"));
  ASSERT_CONTAINS(read_text_file(office.root / "devices/pi-1/device.key").value(), "PRIVATE KEY");
}

TEST("Renewing keeps the configuration, adds a key, and forgets those that ended") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", {}, 10}, office.authority, office.clock));
  const fs::path folder = office.root / "devices/pi-1";
  const std::string old_key = read_text_file(folder / "device.key").value();
  ASSERT_OK(write_file_atomically(folder / "client.toml", "mine"));
  ASSERT_OK(fleet.renew_device({"pi-1", {}, 100}, office.authority, office.clock));
  TEST_ASSERT_EQUAL_size_t(2, fleet.book().find("pi-1").value()->keys.size());
  TEST_ASSERT_EQUAL_STRING("mine", read_text_file(folder / "client.toml")->c_str());
  TEST_ASSERT_TRUE(read_text_file(folder / "device.key").value() != old_key);
  TEST_ASSERT_TRUE(mode(folder / "device.key") == fs::perms(0600));
  office.clock.now += std::chrono::days(11);
  ASSERT_OK(fleet.renew_device({"pi-1", {}, {}}, office.authority, office.clock));
  TEST_ASSERT_EQUAL_size_t(2, fleet.book().find("pi-1").value()->keys.size());
}

TEST("Revoked devices are in both of the broker's lists until their certificates have ended") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", {}, 10}, office.authority, office.clock));
  ASSERT_OK(fleet.add_device({"pi-2", {}, 10}, office.authority, office.clock));
  const auto empty = fs::file_size(fleet.folder().revocation_list());
  ASSERT_OK(fleet.revoke_device("pi-1", {}, office.authority, office.clock));
  // A signature in DER takes 70 to 72 bytes, an entry more than 30.
  TEST_ASSERT_TRUE(fs::file_size(fleet.folder().revocation_list()) > empty + 20);
  const std::string list = read_text_file(fleet.folder().access_list()).value();
  ASSERT_CONTAINS(list, "user pi-1\ntopic deny #\n");
  TEST_ASSERT_TRUE(list.find("user pi-2") == std::string::npos);
  office.clock.now += std::chrono::days(11);
  ASSERT_OK(fleet.refresh_broker(office.authority, office.clock));
  TEST_ASSERT_TRUE(fs::file_size(fleet.folder().revocation_list()) < empty + 20);
  ASSERT_CONTAINS(read_text_file(fleet.folder().access_list()).value(), "user pi-1\ntopic deny #\n");
}

TEST("A bundle has what goes to the board, and its key is for the owner only") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", {}, {}}, office.authority, office.clock));
  fs::create_directory(office.root / "model");
  ASSERT_OK(write_file_atomically(office.root / "model/manifest.json", std::string(1000, 'm')));
  const auto archive = device_bundle(fleet, "pi-1");
  ASSERT_OK(archive);
  ASSERT_OK(write_file_atomically(office.temporary / "b.tar", *archive, FileAccess::kOwnerOnly));
  fs::create_directory(office.temporary / "board");
  const auto unpacked = run_program({"tar", "-xvpf", "../b.tar"}, office.temporary / "board");
  ASSERT_OK(unpacked);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, unpacked->exit_code, unpacked->output.c_str());
  const fs::path board = office.temporary / "board";
  TEST_ASSERT_TRUE(mode(board / "device.key") == fs::perms(0600));
  TEST_ASSERT_EQUAL_size_t(1000, fs::file_size(board / "model/manifest.json"));
  for (const char* file : {"client.toml", "device.crt", "ca.crt", "gateway.pem", "device.key"}) {
    TEST_ASSERT_EQUAL_STRING_MESSAGE(read_text_file(office.root / "devices/pi-1" / file)->c_str(),
                                     read_text_file(board / file)->c_str(), file);
  }
  ASSERT_CONTAINS(testing::message_of(device_bundle(fleet, "pi-9")), "did you mean 'pi-1'?");
  ASSERT_OK(fleet.revoke_device("pi-1", {}, office.authority, office.clock));
  ASSERT_CONTAINS(testing::message_of(device_bundle(fleet, "pi-1")), "is revoked");
}

TEST("Folders travel in a bundle; links, special files and names that are too long are refused") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", {}, {}}, office.authority, office.clock));
  const fs::path device = office.root / "devices/pi-1";
  fs::create_directories(device / "samples/2024");
  ASSERT_OK(write_file_atomically(device / "samples/2024/a.csv", "1,2"));
  const auto archive = device_bundle(fleet, "pi-1");
  ASSERT_OK(archive);
  ASSERT_OK(write_file_atomically(office.temporary / "b.tar", *archive));
  const auto listed = run_program({"tar", "-xOf", "b.tar", "samples/2024/a.csv"}, office.temporary.path());
  ASSERT_OK(listed);
  TEST_ASSERT_EQUAL_STRING("1,2", listed->output.c_str());

  fs::create_symlink("a.csv", device / "samples/2024/link");
  ASSERT_CONTAINS(testing::message_of(device_bundle(fleet, "pi-1")), "samples/2024/link is a link");
  fs::remove(device / "samples/2024/link");
  fs::create_directory_symlink("2024", device / "samples/latest");
  ASSERT_CONTAINS(testing::message_of(device_bundle(fleet, "pi-1")), "samples/latest is a link");
  fs::remove(device / "samples/latest");
  TEST_ASSERT_EQUAL_INT(0, ::mkfifo((device / "pipe").c_str(), 0600));
  ASSERT_CONTAINS(testing::message_of(device_bundle(fleet, "pi-1")), "pipe is a link or a special file");
  fs::remove(device / "pipe");
  const std::string name = "samples/" + std::string(93, 'n');
  ASSERT_OK(write_file_atomically(device / name, "x"));
  ASSERT_CONTAINS(testing::message_of(device_bundle(fleet, "pi-1")), "names have 1 to 100 bytes");
  fs::remove(device / name);
  ASSERT_OK(device_bundle(fleet, "pi-1"));
  fs::create_directory(office.root / "model");
  fs::create_directory(device / "model");
  ASSERT_CONTAINS(testing::message_of(device_bundle(fleet, "pi-1")), "would go to the same place");
}

TEST("A fleet's own programs get new certificates for the keys they have") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  const auto read = [&](const char* file) { return read_text_file(office.root / file).value(); };
  const std::string key = read("gateway/gateway.key");
  const std::string certificate = read("gateway/gateway.crt");
  ASSERT_OK(fleet.renew_role(FleetRole::kGateway, office.authority, office.clock));
  TEST_ASSERT_EQUAL_STRING(key.c_str(), read("gateway/gateway.key").c_str());
  TEST_ASSERT_TRUE(certificate != read("gateway/gateway.crt"));
  const std::string viewer = read("operator/operator.key");
  ASSERT_OK(fleet.renew_viewer("operator", std::nullopt, office.authority, office.clock));
  TEST_ASSERT_EQUAL_STRING(viewer.c_str(), read("operator/operator.key").c_str());
  TEST_ASSERT_EQUAL_size_t(2, office_viewer(office, "operator").certificates.size());
}

TEST("A new fleet has three viewers, each with a folder that works anywhere") {
  Office office;
  ASSERT_OK(office.create());
  for (const std::string name : {"operator", "dashboard", "doctor"}) {
    const fs::path folder = FleetFolder{office.root}.viewer(name);
    TEST_ASSERT_TRUE(mode(folder / (name + ".key")) == fs::perms(0600));
    const auto identity = read_viewer_folder(folder);
    ASSERT_OK(identity);
    TEST_ASSERT_TRUE(*identity == viewer_identity(office.settings, FleetFolder{office.root}, name));
    ASSERT_CONTAINS(read_text_file(office.root / "broker/acl").value(), "\nuser " + name + "\n");
  }
  TEST_ASSERT_TRUE(fs::exists(office.root / "operator/operator.crt"));
  ASSERT_CONTAINS(testing::message_of(read_viewer_folder(office.root)), "is not a viewer folder");
}

TEST("Viewers are added, bundled and revoked; names belong to one device or viewer for ever") {
  Office office;
  ASSERT_OK(office.create());
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"pi-1", {}, {}}, office.authority, office.clock));
  const auto add = [&](const char* name) {
    return testing::message_of(fleet.add_viewer(name, 3, office.authority, office.clock));
  };
  ASSERT_CONTAINS(add("pi-1"), "has a device 'pi-1' already");
  ASSERT_CONTAINS(add("gateway"), "the fleet's own");
  ASSERT_CONTAINS(add("a b"), "is not a name");
  ASSERT_CONTAINS(add("doctor"), "has a viewer 'doctor' already");
  ASSERT_CONTAINS(add("anna"), "(no error)");
  ASSERT_CONTAINS(testing::message_of(fleet.add_device({"anna", {}, {}}, office.authority, office.clock)),
                  "has a viewer 'anna' already");
  ASSERT_CONTAINS(read_text_file(office.root / "broker/acl").value(), "ask/anna/history");
  ASSERT_OK(viewer_bundle(fleet, "anna"));
  TEST_ASSERT_TRUE(office_viewer(office, "anna").certificates.front().not_after <
                   office.clock.now + std::chrono::days(4));

  const auto before = read_text_file(office.root / "broker/crl.pem").value();
  ASSERT_OK(fleet.revoke_viewer("anna", {}, office.authority, office.clock));
  TEST_ASSERT_TRUE(office_viewer(office, "anna").revoked);
  TEST_ASSERT_TRUE(read_text_file(office.root / "broker/crl.pem").value().size() > before.size());
  ASSERT_CONTAINS(read_text_file(office.root / "broker/acl").value(), "user anna\ntopic deny #\n");
  ASSERT_CONTAINS(add("anna"), "a revoked one");
  ASSERT_CONTAINS(testing::message_of(viewer_bundle(fleet, "anna")), "is revoked");
  ASSERT_CONTAINS(
      testing::message_of(fleet.renew_viewer("anna", std::nullopt, office.authority, office.clock)),
      "is revoked");
  ASSERT_CONTAINS(testing::message_of(fleet.revoke_viewer("bob", {}, office.authority, office.clock)),
                  "no viewer 'bob'");
}

TEST("A fleet that is older than viewers keeps its operator, and a refresh adds the others") {
  Office office;
  ASSERT_OK(office.create());
  fs::remove(office.root / "viewers.json");
  fs::remove_all(office.root / "viewers");
  fs::remove(office.root / "operator/viewer.toml");
  auto fleet = office.open();
  ASSERT_OK(fleet.add_device({"doctor", {}, {}}, office.authority, office.clock));
  ASSERT_OK(fleet.revoke_device("doctor", {}, office.authority, office.clock));
  const auto access = [&] { return read_text_file(office.root / "broker/acl").value(); };
  ASSERT_CONTAINS(access(), "ask/operator/history");
  ASSERT_OK(fleet.refresh_broker(office.authority, office.clock));
  ASSERT_CONTAINS(access(), "ask/operator/history");
  ASSERT_CONTAINS(access(), "ask/dashboard/history");
  ASSERT_CONTAINS(access(), "user doctor\ntopic deny #");  // a device keeps its name
  ASSERT_OK(read_viewer_folder(office.root / "operator"));
  ASSERT_OK(read_viewer_folder(office.root / "viewers/dashboard"));
}

TEST("A folder that is not a fleet's, and settings that make no sense, are named") {
  Office office;
  ASSERT_CONTAINS(testing::message_of(Fleet::open(office.temporary / "none")), "is not a fleet folder");
  ASSERT_OK(office.create());
  ASSERT_OK(
      write_file_atomically(office.root / "fleet.toml", fleet_settings_text(office.settings) + "dayz = 3\n"));
  ASSERT_CONTAINS(testing::message_of(Fleet::open(office.root)), "dayz");
}

TEST("A broker for this machine only listens on loopback, and one for boards everywhere") {
  FleetSettings settings{.name = "f"};
  const FleetFolder folder{"/srv/fleet"};
  ASSERT_CONTAINS(mosquitto_configuration(settings, folder, "u").value(), "\nlistener 8883 127.0.0.1\n");
  settings.broker_host = "10.1.2.3";
  ASSERT_CONTAINS(mosquitto_configuration(settings, folder, "u").value(), "\nlistener 8883\n");
  TEST_ASSERT_FALSE(mosquitto_configuration(settings, FleetFolder{"/srv/a\nb"}, "u").ok());
  TEST_ASSERT_FALSE(mosquitto_configuration(settings, FleetFolder{"relative"}, "u").ok());
}
