#include <filesystem>
#include <fstream>
#include <map>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/envelope/refusal_message.h"
#include "core/system/atomic_file.h"
#include "edge_client/sending/update_spool.h"
#include "models/zoo/zoo_package.h"
#include "tests/scenarios/device_rig.h"
#include "tests/support/jumping_clock.h"
#include "tests/support/programs.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

/// A rig whose client is ready to start.
struct WideRig : DeviceRig {
  explicit WideRig(const std::string& extra = {}) : DeviceRig(wide_package()) {
    write_wide_samples(folder.path());
    write_config(kWideData, extra);
  }
};

/// One sequence number, one update: the same bytes whenever they came; no number left out.
void assert_one_update_per_number(const GatewayStandIn& gateway) {
  std::map<std::uint64_t, Bytes> by_sequence;
  for (const auto& seen : gateway.seen) {
    Bytes& known = by_sequence[seen.message.sequence];
    TEST_ASSERT_TRUE_MESSAGE(known.empty() || known == seen.envelope, "one number, two updates");
    known = seen.envelope;
  }
  TEST_ASSERT_EQUAL_UINT64(by_sequence.size(), by_sequence.rbegin()->first);
  TEST_ASSERT_EQUAL_size_t(by_sequence.size(), gateway.applied());
}

/// The service manager's end of sd_notify.
class NotifySocket final {
 public:
  explicit NotifySocket(const fs::path& path) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    TEST_ASSERT_EQUAL_INT(0, ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  }
  ~NotifySocket() { ::close(fd_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  /// True when that message has come since the last call that was true; what came before it is gone.
  [[nodiscard]] bool heard(const std::string& message) const {
    char buffer[256];
    for (ssize_t got = 0; (got = ::recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT)) >= 0;) {
      if (message == std::string_view(buffer, static_cast<std::size_t>(got))) return true;
    }
    return false;
  }

 private:
  int fd_;
};

}  // namespace

TEST("Over a real broker the client trains, is judged, and ends cleanly on SIGTERM") {
  WideRig rig;
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return rig.gateway->applied() >= 4; }, "four updates");
  rig.until([&] { return rig.status_says("\"state\":\"training\""); }, "a status");
  TEST_ASSERT_EQUAL_INT(0, rig.end_client(SIGTERM));
  rig.until([&] { return rig.status_says("\"state\":\"disconnected\""); }, "goodbye");
  assert_one_update_per_number(*rig.gateway);
  TEST_ASSERT_TRUE(rig.gateway->refused.empty());
  ASSERT_CONTAINS(rig.client_log(), "verdict 1: accepted, version 101, delay 0");
  // A slow machine may have sent one again before its verdict came.
  for (const auto& update : rig.gateway->seen) {
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(99 + update.message.sequence, update.message.base_version,
                                     "each update is computed on the model of the verdict before");
  }
}

TEST("SIGHUP: a running client follows its file; an invalid one changes nothing and says why") {
  WideRig rig("[training]\ninterval_seconds = 86400\n");
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return rig.gateway->applied() == 1; }, "the first update; the next is due tomorrow");
  rig.write_config(kWideData, "[training]\ninterval_seconds = -3\n");
  ::kill(rig.client->pid(), SIGHUP);
  rig.until([&] { return rig.client_log().find("settings stay as they are: ") != std::string::npos; },
            "a refusal");
  ASSERT_CONTAINS(rig.client_log(), "[training] interval_seconds is -3");
  TEST_ASSERT_EQUAL_size_t(1, rig.gateway->applied());
  rig.write_config(kWideData, "[training]\ninterval_seconds = 0\n[state]\nfolder = \"elsewhere\"\n");
  ::kill(rig.client->pid(), SIGHUP);
  rig.until([&] { return rig.gateway->applied() >= 3; }, "updates under the new schedule");
  ASSERT_CONTAINS(rig.client_log(),
                  "settings read again: in force now: [training] interval_seconds; in force after a "
                  "restart: [state] folder");
  TEST_ASSERT_EQUAL_INT(0, rig.end_client(SIGTERM));
}

TEST("Killed in the middle of sending, the client sends the same number and bytes after its restart") {
  WideRig rig;
  rig.gateway->publish_model();
  rig.gateway->answers = false;
  for (int i = 0; i < 3; ++i) {
    rig.start_client();
    const auto pieces = rig.gateway->pieces;
    rig.until([&] { return rig.gateway->pieces > pieces; }, "a piece of an update");
    TEST_ASSERT_EQUAL_INT(128 + SIGKILL, rig.end_client(SIGKILL));
  }
  const auto spooled = UpdateSpool::open(rig.folder / "state")->take_waiting();
  TEST_ASSERT_TRUE(spooled.has_value() && spooled->sequence == 1);
  rig.gateway->answers = true;
  rig.start_client();
  rig.until([&] { return rig.gateway->applied() >= 2; }, "the next update");
  TEST_ASSERT_TRUE(rig.gateway->seen[0].envelope == spooled->envelope);
  assert_one_update_per_number(*rig.gateway);
}

TEST("Killed again and again, every update counts once and none is lost") {
  WideRig rig;
  rig.gateway->publish_model();
  Random random(5);
  for (int i = 0; i < 6; ++i) {
    rig.start_client();
    const auto wanted = rig.gateway->pieces + 1 + random.below(150);
    rig.until([&] { return rig.gateway->pieces >= wanted; }, "pieces");
    rig.end_client(SIGKILL);
  }
  rig.start_client();
  const auto before = rig.gateway->applied();
  rig.until([&] { return rig.gateway->applied() >= before + 2; }, "progress after all that");
  assert_one_update_per_number(*rig.gateway);
}

TEST("A killed client is reported lost by the broker") {
  WideRig rig;
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return rig.status_says("\"state\":\"training\""); }, "a status");
  rig.end_client(SIGKILL);
  rig.until([&] { return rig.status_says("\"state\":\"lost\""); }, "the last will");
}

TEST("Stopped at any moment, the client is disconnected and not lost") {
  WideRig rig;
  rig.gateway->publish_model();
  Random random(3);
  const std::string topic = "aflguard/v1/orchard/up/pi-1/status";
  for (int i = 0; i < 12; ++i) {
    rig.start_client();
    const auto wanted = rig.gateway->pieces + 1 + random.below(200);
    rig.until([&] { return rig.gateway->pieces >= wanted; }, "pieces");
    // The gateway goes on sending meanwhile.
    ::kill(rig.client->pid(), SIGTERM);
    rig.until([&] { return !rig.client->running(); }, "the client's end");
    // What the broker keeps now is the last word.
    const auto before = rig.gateway->retained_statuses;
    ASSERT_OK(rig.gateway_bus->subscribe(topic));
    rig.until([&] { return rig.gateway->retained_statuses > before; }, "the status that the broker keeps");
    TEST_ASSERT_TRUE_MESSAGE(rig.status_says("\"state\":\"disconnected\""), rig.status().c_str());
  }
}

TEST("A broker that is killed and comes back: the client connects again and goes on where it was") {
  WideRig rig;
  rig.gateway->publish_model();
  rig.start_client();
  for (int i = 0; i < 2; ++i) {
    const auto pieces = rig.gateway->pieces;
    rig.until([&] { return rig.gateway->pieces > pieces + 60; }, "pieces of an update");
    rig.broker.end(SIGKILL);
    rig.broker.start();
    const auto before = rig.gateway->applied();
    rig.until([&] { return rig.gateway->applied() >= before + 2; }, "updates after the broker came back");
  }
  assert_one_update_per_number(*rig.gateway);
}

TEST("A board whose clock jumps by hours and months sends on, each number once, over the same connection") {
  WideRig rig;
  JumpingClock date(rig.folder.path());
  rig.gateway->publish_model();
  auto launcher = date.environment();
  launcher.insert(launcher.begin(), "env");
  rig.start_client(launcher);
  for (const char* offset : {"+0", "+6h", "-6h", "+100d", "-100d", "+0"}) {
    date.set(offset);
    const auto before = rig.gateway->applied();
    rig.until([&] { return rig.gateway->applied() >= before + 2; }, offset);
  }
  TEST_ASSERT_TRUE_MESSAGE(rig.client_log().find("disconnected") == std::string::npos,
                           rig.client_log().c_str());
  assert_one_update_per_number(*rig.gateway);
}

TEST("A verdict that is lost: the same bytes come again until it arrives") {
  WideRig rig;
  rig.gateway->publish_model();
  rig.gateway->answers = false;
  rig.start_client();
  rig.until([&] { return rig.gateway->seen.size() >= 3; }, "repeats");
  TEST_ASSERT_EQUAL_size_t(1, rig.gateway->applied());
  rig.gateway->answers = true;
  rig.until([&] { return rig.gateway->applied() >= 2; }, "the next update");
  assert_one_update_per_number(*rig.gateway);
}

TEST("A refusal is not a verdict: the same bytes come again, and count once there is room") {
  WideRig rig;
  std::size_t refusals = 0;
  rig.gateway->answer = [&rig, &refusals] {
    RefusalMessage refusal;
    refusal.fleet = "orchard";
    refusal.device = "pi-1";
    refusal.transfer = transfer_id_of(rig.gateway->seen.back().envelope);
    refusal.reason = RefusalReason::kOverloaded;
    refusal.come_back = std::chrono::milliseconds(300);
    refusal.text = "no room";
    rig.gateway->send(refusal.device, rig.gateway->sealed(encode(refusal).value()));
    ++refusals;
  };
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return refusals >= 2; }, "the update after its refusal");
  TEST_ASSERT_TRUE(rig.gateway->seen[0].envelope == rig.gateway->seen[1].envelope);
  rig.gateway->answer = {};
  rig.until([&] { return rig.status_says("\"accepted\":1"); }, "the verdict");
  TEST_ASSERT_EQUAL_INT(0, rig.end_client(SIGTERM));
  ASSERT_CONTAINS(rig.client_log(), "refused (");
}

TEST("A model that the fleet's gateway did not sign is not trained on, retained or not") {
  WideRig rig;
  MbedtlsSigner stranger = MbedtlsSigner::generate().value();
  GatewayStandIn foreign(*rig.gateway_bus, stranger, rig.devices, rig.gateway->model());
  foreign.publish_model();
  rig.start_client();
  rig.until([&] { return rig.status_says("\"refused\":1"); }, "a refusal");
  ASSERT_CONTAINS(rig.client_log(), "message refused (unknown-key)");
  TEST_ASSERT_EQUAL_size_t(0, rig.gateway->pieces);
  rig.gateway->publish_model();
  rig.until([&] { return rig.gateway->applied() >= 1; }, "an update on the right model");
}

TEST("Samples that come while the client runs are learned from") {
  models::ZooOptions options;
  options.features = 2;
  options.classes = 2;
  DeviceRig rig(models::build_zoo_package("logistic-regression", options).value());
  rig.write_config("format = \"csv\"\nfile = \"sensor.csv\"\nfollow = true\n");
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return rig.status_says("waiting for samples"); }, "a status without samples");
  std::ofstream(rig.folder / "sensor.csv") << "a,b,label\n1,2,0\n3,4,1\n";
  rig.until([&] { return rig.gateway->applied() >= 1; }, "an update");
  TEST_ASSERT_EQUAL_UINT64(2, rig.gateway->seen[0].message.samples);
  std::ofstream(rig.folder / "sensor.csv", std::ios::app) << "5,6,1\nbroken\n";
  rig.until([&] { return rig.gateway->seen.back().message.samples == 3; }, "an update with the new sample");
  ASSERT_CONTAINS(rig.client_log(), "1 rows skipped");
}

TEST("With a full disk the client says so, sends nothing unsaved, and goes on once there is room") {
  const bool root = ::geteuid() == 0;
  const std::vector<std::string> own_mounts = {"unshare", root ? "-m" : "-rm"};
  {
    auto probe = own_mounts;
    probe.insert(probe.end(), {"mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"});
    const auto outcome = run_program(probe, ".");
    if (!outcome.ok() || outcome->exit_code != 0) {
      TEST_IGNORE_MESSAGE("a small file system cannot be mounted here");
    }
  }
  WideRig rig;
  rig.gateway->publish_model();
  fs::create_directories(rig.folder / "state");
  auto launcher = own_mounts;
  launcher.insert(launcher.end(), {"sh", "-c",
                                   "mount -t tmpfs -o size=3m none state && "
                                   "head -c 2600000 /dev/zero >state/ballast && exec \"$@\"",
                                   "sh"});
  rig.start_client(launcher);
  rig.until([&] { return rig.status_says("\"state\":\"alert\""); }, "the alarm");
  ASSERT_CONTAINS(rig.status(), "cannot be saved");
  ASSERT_CONTAINS(rig.status(), "No space left");
  TEST_ASSERT_EQUAL_size_t(0, rig.gateway->pieces);
  const fs::path inside =
      "/proc/" + std::to_string(rig.client->pid()) + "/root" + (rig.folder / "state").string();
  TEST_ASSERT_TRUE(fs::remove(inside / "ballast"));
  rig.until([&] { return rig.gateway->applied() >= 1; }, "the update after there was room");
  rig.until([&] { return rig.status_says("\"state\":\"training\""); }, "the end of the alarm");
  assert_one_update_per_number(*rig.gateway);
}

TEST("--test-config says that all is well, or what is wrong, without connecting") {
  WideRig rig;
  const std::vector<std::string> test = {"--config", "client.toml", "--test-config"};
  const auto expect = [&](const char* part) {
    const auto outcome = rig.run_client(test);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, outcome.exit_code, outcome.output.c_str());
    ASSERT_CONTAINS(outcome.output, part);
  };
  const auto fine = rig.run_client(test);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, fine.exit_code, fine.output.c_str());
  ASSERT_CONTAINS(fine.output,
                  "fine: device 'pi-1' of fleet 'orchard', model logistic-regression with 200010 "
                  "parameters, 12 samples");

  rig.write_config(kWideData, "[training]\ninterval_second = 5\n[lgo]\n");
  expect("did you mean 'interval_seconds'?");
  expect("unknown section [lgo]; did you mean [log]?");
  rig.write_config("format = \"npy\"\nfeatures = \"y.npy\"\nlabels = \"y.npy\"\n");
  expect("y.npy");
  rig.write_config(kWideData, "[model]\npackage = \"nowhere\"\n");
  expect("nowhere");
  rig.write_config(kWideData);

  TEST_ASSERT_EQUAL_INT(0, ::chmod((rig.folder / "device.key").c_str(), 0644));
  expect("may be read by others (mode 0644); run: chmod 600");
  TEST_ASSERT_EQUAL_INT(0, ::chmod((rig.folder / "device.key").c_str(), 0600));
}

TEST("--test-identity looks at the identity alone: neither samples nor a model are needed") {
  WideRig rig;
  fs::remove_all(rig.folder / "model");
  rig.write_config("format = \"csv\"\nfile = \"later.csv\"\n", "[model]\npackage = \"later\"\n");
  const std::vector<std::string> test = {"--config", "client.toml", "--test-identity"};
  const auto fine = rig.run_client(test);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, fine.exit_code, fine.output.c_str());
  ASSERT_CONTAINS(fine.output, "fine: device 'pi-1' of fleet 'orchard', certificate valid from 2");
  fs::remove(rig.folder / "gateway.pem");
  const auto wrong = rig.run_client(test);
  TEST_ASSERT_EQUAL_INT(1, wrong.exit_code);
  ASSERT_CONTAINS(wrong.output, "gateway.pem");
}

TEST("A certificate that has ended, is another's or of another authority ends the start with what to do") {
  WideRig rig;
  const auto use = [&](const CertificateFiles& files) {
    install_secret(files.key, rig.folder / "device.key");
    fs::copy_file(files.certificate, rig.folder / "device.crt", fs::copy_options::overwrite_existing);
    const auto outcome = rig.run_client({"--config", "client.toml"});
    TEST_ASSERT_EQUAL_INT(1, outcome.exit_code);
    return outcome.output;
  };
  const std::string ended = use(rig.authority.issue("pi-1", CertificateUse::kClient, {}, -60));
  ASSERT_CONTAINS(ended, "the certificate ended at");
  ASSERT_CONTAINS(ended, "renew it");
  ASSERT_CONTAINS(use(rig.authority.issue("pi-2", CertificateUse::kClient)), "the certificate is for 'pi-2'");
  TestAuthority other(rig.folder.path(), "other");
  ASSERT_CONTAINS(use(other.issue("pi-1", CertificateUse::kClient)),
                  "was not issued by this fleet's authority");
  const auto good = rig.authority.issue("pi-1", CertificateUse::kClient);
  const auto wrong_key = rig.authority.issue("pi-1", CertificateUse::kClient);
  ASSERT_CONTAINS(use({good.certificate, wrong_key.key}), "do not belong together");
}

TEST("--make-identity makes a key for its owner alone and a request, and never overwrites a key") {
  WideRig rig;
  const auto made = rig.run_client({"--make-identity", "pi-7", "-o", "new"});
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, made.exit_code, made.output.c_str());
  struct stat info {};
  TEST_ASSERT_EQUAL_INT(0, ::stat((rig.folder / "new/device.key").c_str(), &info));
  TEST_ASSERT_EQUAL_INT(0600, info.st_mode & 07777);
  TEST_ASSERT_TRUE(fs::exists(rig.folder / "new/device.csr"));
  const auto again = rig.run_client({"--make-identity", "pi-7", "-o", "new"});
  TEST_ASSERT_EQUAL_INT(1, again.exit_code);
  ASSERT_CONTAINS(again.output, "a key is never overwritten");
  TEST_ASSERT_EQUAL_INT(2, rig.run_client({"--make-identity", "pi-7"}).exit_code);
  TEST_ASSERT_EQUAL_INT(2, rig.run_client({}).exit_code);
}

TEST("Under systemd the client says when it is ready, that it lives, and that it stops") {
  WideRig rig;
  rig.gateway->publish_model();
  const NotifySocket manager(rig.folder / "notify");
  rig.start_client({"env", "NOTIFY_SOCKET=" + (rig.folder / "notify").string(), "WATCHDOG_USEC=400000"});
  const auto heard = [&](const char* line) { return [&manager, line] { return manager.heard(line); }; };
  rig.until(heard("READY=1"), "READY=1");
  for (int i = 0; i < 3; ++i) rig.until(heard("WATCHDOG=1"), "WATCHDOG=1");
  ::kill(rig.client->pid(), SIGTERM);
  rig.until(heard("STOPPING=1"), "STOPPING=1");
}

TEST("A second client on the same state folder does not start") {
  WideRig rig;
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return rig.gateway->applied() >= 1; }, "an update");
  const auto second = rig.run_client({"--config", "client.toml"});
  TEST_ASSERT_EQUAL_INT(1, second.exit_code);
  ASSERT_CONTAINS(second.output, "in use by another process");
}

TEST("The newest model is kept as a file that predicts on the board, whole at every moment of a power cut") {
  ModelPackage package =
      models::build_zoo_package("logistic-regression", {.features = 2, .classes = 2}).value();
  package.description.class_names = {"idle", "run"};
  package.description.hash = layout_hash(package.description);
  DeviceRig rig(package);
  std::string table = "\"t\";\"p\";\"state\"\r\n";
  for (int i = 0; i < 40; ++i) {
    table +=
        i % 2 == 0 ? "-1," + std::to_string(i) + ";-2;idle\r\n" : "1," + std::to_string(i) + ";2;run\r\n";
  }
  ASSERT_OK(write_file_atomically(rig.folder / "readings.csv", table));
  const std::string said = (rig.folder / "said").string();
  rig.write_config(
      "format = \"csv\"\nfile = \"readings.csv\"\n",
      "[model]\nexport = \"current.onnx\"\nexport_interval_seconds = 0\non_model = [\"touch\", \"" + said +
          "\"]\n");
  const std::vector<std::string> predict = {"predict", "--config", (rig.folder / "client.toml").string()};
  ASSERT_CONTAINS(rig.run_client(predict).output, "no exported model yet");
  rig.gateway->publish_model();
  Random random(9);
  for (int i = 0; i < 4; ++i) {
    rig.start_client();
    const auto wanted = rig.gateway->applied() + 1 + random.below(6);
    rig.until([&] { return rig.gateway->applied() >= wanted && fs::exists(rig.folder / "current.onnx"); },
              "updates");
    rig.end_client(SIGKILL);
    ASSERT_OK(write_file_atomically(rig.folder / "rows.csv", std::string_view("t;p\n-5,5;-5\n5;5\n")));
    const auto outcome = run_program({"sh", "-c",
                                      "'" + program("aflguard-client") + "' predict --config '" + predict[2] +
                                          "' <'" + (rig.folder / "rows.csv").string() + "'"},
                                     rig.folder.path());
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
    TEST_ASSERT_EQUAL_STRING("idle 0.5000\nidle 0.5000\n", outcome->output.c_str());  // theta is zero
  }
  TEST_ASSERT_TRUE(fs::exists(said));
}

TEST("The error on samples that are held back is in the status, and in the file that is exported by it") {
  ModelPackage package =
      models::build_zoo_package("logistic-regression", {.features = 2, .classes = 2}).value();
  DeviceRig rig(package);
  std::string table;
  for (int i = 0; i < 200; ++i) table += std::to_string(i) + ",1," + std::to_string(i % 2) + "\n";
  ASSERT_OK(write_file_atomically(rig.folder / "readings.csv", table));
  const std::string data = "format = \"csv\"\nfile = \"readings.csv\"\n";
  const std::string best = "[model]\nexport = \"current.onnx\"\nexport_choice = \"best\"\n";
  rig.write_config(data, best);
  const auto refused = rig.run_client({"--config", (rig.folder / "client.toml").string(), "--test-config"});
  TEST_ASSERT_EQUAL_INT(1, refused.exit_code);
  ASSERT_CONTAINS(refused.output, "hold_back in [data] must be above 0");
  rig.write_config(data + "hold_back = 0.25\n", best);
  rig.gateway->publish_model();
  rig.start_client();
  rig.until(
      [&] {
        return rig.status_says("\"local_error\":{\"error\":0.") && fs::exists(rig.folder / "current.onnx");
      },
      "an error on its own samples");
  const auto file = read_file(rig.folder / "current.onnx");
  ASSERT_OK(file);
  ASSERT_CONTAINS(std::string(reinterpret_cast<const char*>(file->data()), file->size()),
                  "aflguard.local_error");
}

TEST("Rows that cannot be predicted are named, the others are, with or without labels") {
  ModelPackage package =
      models::build_zoo_package("logistic-regression", {.features = 2, .classes = 2}).value();
  DeviceRig rig(package);
  ASSERT_OK(
      write_file_atomically(rig.folder / "readings.csv", std::string_view("a,b,label\n1,2,0\n3,4,1\n")));
  rig.write_config("format = \"csv\"\nfile = \"readings.csv\"\n", "[model]\nexport = \"current.onnx\"\n");
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return fs::exists(rig.folder / "current.onnx"); }, "a model");
  const auto predict = [&](const std::string& rows, const std::string& more = "") {
    ASSERT_OK(write_file_atomically(rig.folder / "rows.csv", rows));
    const auto outcome = run_program({"sh", "-c",
                                      "'" + program("aflguard-client") + "' predict --config client.toml " +
                                          more + " <rows.csv 2>problems"},
                                     rig.folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  };
  TEST_ASSERT_EQUAL_STRING("0 0.5000\n", predict("a,b,label\n1,2,7\n").output.c_str());
  TEST_ASSERT_EQUAL_STRING("0 0.5000\n0 0.5000\n", predict("1,2\n3,4\n").output.c_str());
  const ProgramOutcome bad = predict("1,2\nx,2\n3,4\n");
  TEST_ASSERT_EQUAL_INT(1, bad.exit_code);
  TEST_ASSERT_EQUAL_STRING("0 0.5000\n?\n0 0.5000\n", bad.output.c_str());
  ASSERT_CONTAINS(read_text_file(rig.folder / "problems").value(), "line 2, column 1: 'x' is not a number");
  ASSERT_CONTAINS(predict("1,2\n", "--json").output,
                  "{\"class\": \"0\", \"number\": 0, \"probability\": 0.5");
}
