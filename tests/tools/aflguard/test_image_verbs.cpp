// The real program. Images themselves take minutes and are made by ./run check image.
#include <cstdlib>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

struct ImageSession {
  testing::TemporaryFolder folder;

  [[nodiscard]] ProgramOutcome run(const std::string& script) const {
    const std::string bin = testing::programs_folder().string();
    auto outcome =
        run_program({"sh", "-c", "PATH=\"" + bin + ":$PATH\"; export PATH; " + script}, folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  [[nodiscard]] std::string expect(int code, const std::string& script) const {
    const auto outcome = run(script);
    TEST_ASSERT_EQUAL_INT_MESSAGE(code, outcome.exit_code, outcome.output.c_str());
    return outcome.last_line();
  }
  /// The program where no packages are beside it; this build may have made some.
  [[nodiscard]] std::string program_elsewhere() const {
    (void)expect(0, "mkdir elsewhere && cp \"$(command -v aflguard)\" elsewhere/");
    return (folder / "elsewhere" / "aflguard").string();
  }
  void make_fleet() const {
    (void)expect(0, "aflguard fleet init fleet --name f && aflguard device add pi-1 --fleet fleet");
  }
  /// A package with nothing in it.
  void make_package(const std::string& name, const std::string& architecture) const {
    (void)expect(0, "mkdir -p p/DEBIAN && printf 'Package: " + name +
                        "\\nVersion: 1.0\\nArchitecture: " + architecture +
                        "\\nMaintainer: a <a@example.org>\\nDescription: b\\n' >p/DEBIAN/control && " +
                        "dpkg-deb -b p " + name + "_1.0_" + architecture + ".deb && rm -r p");
  }
};

}  // namespace

TEST("What an image cannot be made of is said before any work begins") {
  const ImageSession session;
  (void)session.expect(2, "aflguard image build --fleet none");
  (void)session.expect(2, "aflguard image");
  ASSERT_CONTAINS(session.expect(1, session.program_elsewhere() + " image build --fleet none -o x.img"),
                  "./run package makes it");
  TEST_ASSERT_EQUAL_INT(2, session.run("aflguard image build --fleet none -o x.img --size 10M").exit_code);
  session.make_package("aflguard-client", "amd64");
  session.make_package("aflguard-client", "arm64");
  session.make_package("other", "arm64");
  const std::string good = " --deb aflguard-client_1.0_arm64.deb";
  const auto build = [&](const std::string& rest) {
    return session.expect(1, "aflguard image build --fleet none " + rest);
  };
  ASSERT_CONTAINS(build("-o x.img --deb aflguard-client_1.0_amd64.deb"), "is for amd64; boards need arm64");
  ASSERT_CONTAINS(build("-o x.img --deb other_1.0_arm64.deb"), "none of the packages is aflguard-client");
  ASSERT_CONTAINS(build("-o x.img --deb none.deb"), "there is no package none.deb");
  ASSERT_CONTAINS(build("-o x.img --suite sid" + good), "'sid' has not been tried");
  ASSERT_CONTAINS(build("-o x.img --compress" + good), "name ends in .xz");
  ASSERT_CONTAINS(build("-o x.img.xz" + good), "--compress makes such a file");
  ASSERT_CONTAINS(build("-o none/x.img" + good), "there is no folder");
  ASSERT_CONTAINS(build("-o /dev/null" + good), "write that to the card with dd");
  ASSERT_CONTAINS(build("-o x.img --device pi-1" + good), "needs the fleet");
  ASSERT_CONTAINS(session.expect(1, "aflguard image build --fleet fleet -o x.img" + good),
                  "not a fleet folder");
  session.make_fleet();
  ASSERT_CONTAINS(session.expect(1, "aflguard image build --fleet fleet --device pi-2 -o x.img" + good),
                  "has no device 'pi-2'");
  (void)session.expect(
      0,
      "aflguard-client --make-identity own -o own && aflguard device add own --csr own/device.csr "
      "--fleet fleet");
  ASSERT_CONTAINS(session.expect(1, "aflguard image build --fleet fleet --device own -o x.img" + good),
                  "was made on its board");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "x.img"));
}

TEST("An identity goes to cards of Raspberry Pis only") {
  const ImageSession session;
  session.make_fleet();
  ASSERT_OK(write_file_atomically(session.folder / "x.img", std::string(4096, 'x')));
  ASSERT_CONTAINS(session.expect(1, "aflguard image identity x.img --fleet fleet --device pi-1"),
                  "x.img: it has no partition table");
  ASSERT_CONTAINS(session.expect(1, "aflguard image identity y.img --fleet fleet --device pi-1"), "y.img");
  ASSERT_CONTAINS(session.expect(1, "aflguard image identity x.img --fleet fleet --device pi-2"),
                  "has no device");
}

TEST(
    "A boot bundle is a folder that only its owner can read, with package, identity and cloud-init's files") {
  const ImageSession session;
  session.make_fleet();
  ASSERT_CONTAINS(
      session.expect(1, session.program_elsewhere() + " device bundle pi-1 --fleet fleet --boot -o boot"),
      "./run package");
  session.make_package("aflguard-client", "arm64");
  ASSERT_OK(write_file_atomically(session.folder / "key.pub", std::string_view("ssh-ed25519 AAAA me\n")));
  ASSERT_CONTAINS(
      session.expect(0, "aflguard device bundle pi-1 --fleet fleet --boot --ssh-key key.pub -o boot"),
      "copy everything in it");
  const fs::path boot = session.folder / "boot";
  for (const char* name : {"user-data", "meta-data", "network-config.example", "aflguard-identity.tar",
                           "aflguard/setup.sh", "aflguard/aflguard-client.deb"}) {
    TEST_ASSERT_TRUE_MESSAGE(fs::exists(boot / name), name);
  }
  TEST_ASSERT_TRUE(fs::status(boot).permissions() == fs::perms(0700));
  TEST_ASSERT_TRUE(fs::status(boot / "aflguard-identity.tar").permissions() == fs::perms(0600));
  ASSERT_CONTAINS(read_text_file(boot / "user-data").value(), "ssh-ed25519 AAAA\"");
  TEST_ASSERT_TRUE(fs::exists(boot / "ssh"));
  ASSERT_CONTAINS(session.expect(1, "aflguard device bundle pi-1 --fleet fleet --boot -o boot"), "boot");
  ASSERT_CONTAINS(
      session.expect(1, "aflguard device bundle pi-1 --fleet fleet --boot --ssh-key fleet/ca/ca.key -o b2"),
      "is not an ssh public key");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "b2"));
}

TEST("A boot bundle takes the client's package for boards only, one file per --deb") {
  const ImageSession session;
  session.make_fleet();
  session.make_package("aflguard-client", "amd64");
  session.make_package("aflguard-client", "arm64");
  session.make_package("other", "arm64");
  ASSERT_OK(write_file_atomically(session.folder / "text.deb", std::string_view("a text\n")));
  const auto bundle = [&](int code, const std::string& rest) {
    return session.expect(code, "aflguard device bundle --fleet fleet -o boot --boot " + rest);
  };
  ASSERT_CONTAINS(bundle(1, "--deb text.deb pi-1"), "text.deb: dpkg-deb: error");
  ASSERT_CONTAINS(bundle(1, "--deb other_1.0_arm64.deb pi-1"), "none of the packages is aflguard-client");
  ASSERT_CONTAINS(bundle(1, "--deb aflguard-client_1.0_amd64.deb pi-1"), "is for amd64; boards need arm64");
  ASSERT_CONTAINS(bundle(1, "--deb none.deb pi-1"), "there is no package none.deb");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "boot"));
  (void)bundle(0, "--deb other_1.0_arm64.deb --deb aflguard-client_1.0_arm64.deb pi-1");
  TEST_ASSERT_TRUE(fs::exists(session.folder / "boot/aflguard/other.deb"));
}

TEST("What goes with --boot is a mistake without it") {
  const ImageSession session;
  session.make_fleet();
  for (const char* option : {"--deb x.deb", "--ssh-key key.pub"}) {
    const auto outcome = session.run(std::string("aflguard device bundle pi-1 --fleet fleet -o b ") + option);
    TEST_ASSERT_EQUAL_INT_MESSAGE(2, outcome.exit_code, outcome.output.c_str());
    ASSERT_CONTAINS(outcome.output, "requires --boot");
  }
}

TEST("A card is not made for a device whose key is on its board") {
  const ImageSession session;
  session.make_fleet();
  session.make_package("aflguard-client", "arm64");
  (void)session.expect(
      0,
      "aflguard-client --make-identity pi-2 -o . && aflguard device add pi-2 --csr device.csr "
      "--fleet fleet");
  ASSERT_CONTAINS(session.expect(1, "aflguard device bundle pi-2 --fleet fleet --boot -o boot"),
                  "made its key on the board");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "boot"));
  ASSERT_CONTAINS(session.expect(0, "aflguard device bundle pi-2 --fleet fleet -o pi-2.tar"), "unpack it");
}

TEST("A bundle warns of samples that do not travel with it") {
  const ImageSession session;
  session.make_fleet();
  (void)session.expect(0, "sed -i 's|^file = .*|file = \"samples.csv\"|' fleet/devices/pi-1/client.toml");
  const std::string bundle = "aflguard device bundle pi-1 --fleet fleet -o b.tar";
  ASSERT_CONTAINS(session.run(bundle + " 2>&1 >b.log").output,
                  "warning: client.toml names the samples 'samples.csv'");
  TEST_ASSERT_TRUE(fs::exists(session.folder / "b.tar"));
  (void)session.expect(0, "echo 1,2,0 >fleet/devices/pi-1/samples.csv");
  TEST_ASSERT_EQUAL_STRING("", session.run(bundle + " 2>&1 >b.log").output.c_str());
}
