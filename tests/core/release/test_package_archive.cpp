#include "core/cbor/cbor.h"
#include "core/compression/compression.h"
#include "core/system/atomic_file.h"
#include "tests/core/release/releases.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

const std::vector<float> kStart{1, -2, 0.5F, 0, 3};

Bytes packed(const TemporaryFolder& folder) {
  ASSERT_OK(write_model_package(sample_package(), folder / "package", true));
  const auto archive = pack_package(folder / "package", kStart);
  ASSERT_OK(archive);
  return *archive;
}

Bytes archive_of(const std::string& name) {
  Bytes content;
  CborWriter writer(content);
  writer.put_map(1);
  writer.put_text(name);
  writer.put_bytes({});
  return compress(content).value();
}

}  // namespace

TEST("A package that was packed and unpacked is the same package, with the parameters to start with") {
  const TemporaryFolder folder;
  const Bytes archive = packed(folder);
  const auto package = unpack_package(archive, folder / "copy");
  ASSERT_OK(package);
  TEST_ASSERT_TRUE(package->description == sample_package().description);
  TEST_ASSERT_TRUE(package->train_graph == sample_package().train_graph);
  const auto start = read_start(folder / "copy", package->description);
  ASSERT_OK(start);
  TEST_ASSERT_TRUE(*start == kStart);
  ASSERT_OK(unpack_package(archive, folder / "copy"));
  TEST_ASSERT_TRUE(archive == packed(folder));
}

TEST("Parameters that do not fit are not packed") {
  const TemporaryFolder folder;
  ASSERT_OK(write_model_package(sample_package(), folder / "package"));
  ASSERT_CONTAINS(message_of(pack_package(folder / "package", std::vector<float>(4))),
                  "are 4 numbers, model 'small' has 5");
  ASSERT_CONTAINS(message_of(pack_package(folder / "package", std::vector<float>(5, NAN))), "not all finite");
  ASSERT_CONTAINS(message_of(pack_package(folder / "nothing", kStart)), "is not a model package");
}

TEST("A damaged archive writes nothing, and what was there stays") {
  const TemporaryFolder folder;
  const Bytes archive = packed(folder);
  ASSERT_OK(unpack_package(archive, folder / "copy"));
  for (std::size_t i = 0; i < archive.size(); i += 7) {
    Bytes damaged = archive;
    damaged[i] ^= std::byte{0x20};
    const auto package = unpack_package(damaged, folder / "copy");
    if (package.ok()) TEST_ASSERT_TRUE(package->description.hash == sample_package().description.hash);
    damaged.resize(i);
    TEST_ASSERT_FALSE(unpack_package(damaged, folder / "other").ok());
  }
  TEST_ASSERT_FALSE(std::filesystem::exists(folder / "other"));
  ASSERT_OK(read_model_package(folder / "copy"));
}

TEST("An archive writes the files of a package and no others") {
  const TemporaryFolder folder;
  for (const char* name : {"../escape", "/tmp/escape", "notes.txt", ""}) {
    ASSERT_CONTAINS(message_of(unpack_package(archive_of(name), folder / "copy")), "another file");
  }
  ASSERT_CONTAINS(message_of(unpack_package(archive_of("manifest.json"), folder / "copy")), "manifest");
}
