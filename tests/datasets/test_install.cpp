#include <set>

#include "core/system/atomic_file.h"
#include "datasets/install.h"
#include "datasets/load.h"
#include "tests/datasets/tiny_dataset.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::datasets;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

struct Place {
  testing::TemporaryFolder folder;
  SilentProgress progress;
  InstallContext context{folder / "data", folder / "cache", progress};
  DatasetInfo info = testing::tiny_info();
};

}  // namespace

TEST("An installed data set has a manifest, passes both checks and loads") {
  Place place;
  const auto outcome = install(place.info, place.context, {"a test"}, testing::write_tiny_files);
  ASSERT_OK(outcome);
  TEST_ASSERT_FALSE(outcome->was_there);
  ASSERT_OK(check_installed(place.info, place.context.data_dir));
  ASSERT_OK(verify_installed(place.info, place.context.data_dir));
  TEST_ASSERT_EQUAL_size_t(2, load_folder(place.info, outcome->folder)->train.size());
  const auto manifest = read_manifest(outcome->folder);
  ASSERT_OK(manifest);
  TEST_ASSERT_EQUAL_STRING("a test", manifest->origin.source.c_str());
  TEST_ASSERT_EQUAL_size_t(4, manifest->files.size());
}

TEST("Installing twice does the work once, unless it is forced") {
  Place place;
  int calls = 0;
  const auto writer = [&](const fs::path& folder) {
    ++calls;
    return testing::write_tiny_files(folder);
  };
  ASSERT_OK(install(place.info, place.context, {"x"}, writer));
  TEST_ASSERT_TRUE(install(place.info, place.context, {"x"}, writer)->was_there);
  TEST_ASSERT_EQUAL_INT(1, calls);
  place.context.force = true;
  TEST_ASSERT_FALSE(install(place.info, place.context, {"x"}, writer)->was_there);
  TEST_ASSERT_EQUAL_INT(2, calls);
}

TEST("Generated data of another seed is not taken for the one that was asked for") {
  Place place;
  ASSERT_OK(install(place.info, place.context, {"x", 1}, testing::write_tiny_files));
  ASSERT_CONTAINS(message_of(install(place.info, place.context, {"x", 2}, testing::write_tiny_files)),
                  "is installed with seed 1, not 2; add --force");
}

TEST("A writer that fails half-way leaves nothing behind") {
  Place place;
  const auto outcome = install(place.info, place.context, {"x"}, [](const fs::path& folder) -> Status {
    TRY_STATUS(write_file_atomically(folder / "half", "x"));
    return io_error("the disk is full");
  });
  ASSERT_CONTAINS(message_of(outcome), "the disk is full");
  TEST_ASSERT_TRUE((names_in(place.context.data_dir) == std::set<std::string>{".lock"}));
}

TEST("Files that do not fit the catalog are refused, and an older installation stays") {
  Place place;
  ASSERT_OK(install(place.info, place.context, {"old"}, testing::write_tiny_files));
  place.context.force = true;
  place.info.test = 3;
  const auto outcome = install(place.info, place.context, {"new"}, testing::write_tiny_files);
  ASSERT_CONTAINS(message_of(outcome), "tiny test data has 2 samples, expected 3");
  TEST_ASSERT_EQUAL_STRING("old", read_manifest(place.context.data_dir / "tiny")->origin.source.c_str());
  TEST_ASSERT_TRUE((names_in(place.context.data_dir) == std::set<std::string>{".lock", "tiny"}));
}

TEST("What an interrupted installation left is removed by the next one, and nothing else") {
  Place place;
  for (const char* name :
       {"tiny.aB3dE9", "unpacked.zZ00aa", "tiny.aB3dE9.old", "tiny.notes", "other.aB3dE9"}) {
    fs::create_directories(place.context.data_dir / name);
  }
  ASSERT_OK(install(place.info, place.context, {"x"}, testing::write_tiny_files));
  TEST_ASSERT_TRUE((names_in(place.context.data_dir) ==
                    std::set<std::string>{".lock", "other.aB3dE9", "tiny", "tiny.notes"}));
}

TEST("A truncated file of an installed data set is named with both sizes, and get repairs it") {
  Place place;
  const auto outcome = install(place.info, place.context, {"x"}, testing::write_tiny_files);
  ASSERT_OK(outcome);
  const fs::path damaged = outcome->folder / "train-images-idx3-ubyte";
  fs::resize_file(damaged, 19);
  const std::string message = message_of(check_installed(place.info, place.context.data_dir));
  ASSERT_CONTAINS(message, damaged.string() + " has 19 bytes, expected 20");
  ASSERT_CONTAINS(message, "run `aflguard data get tiny`");
  TEST_ASSERT_FALSE(install(place.info, place.context, {"x"}, testing::write_tiny_files)->was_there);
  ASSERT_OK(check_installed(place.info, place.context.data_dir));
}

TEST("A changed byte keeps the size: only the thorough check notices it") {
  Place place;
  const auto outcome = install(place.info, place.context, {"x"}, testing::write_tiny_files);
  ASSERT_OK(outcome);
  ASSERT_OK(write_idx(outcome->folder / "train-labels-idx1-ubyte", {2}, std::vector<std::uint8_t>{1, 1}));
  ASSERT_OK(check_installed(place.info, place.context.data_dir));
  ASSERT_CONTAINS(message_of(verify_installed(place.info, place.context.data_dir)), "has SHA-256");
  ASSERT_CONTAINS(message_of(load_folder(place.info, outcome->folder)), "samples of 1 classes, expected 2");
}

TEST("A manifest that is damaged is an error with its path, never a crash") {
  Place place;
  const auto outcome = install(place.info, place.context, {"x"}, testing::write_tiny_files);
  ASSERT_OK(outcome);
  const fs::path path = outcome->folder / "dataset.json";
  const std::string whole = *read_text_file(path);
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    ASSERT_OK(write_file_atomically(path, whole.substr(0, length)));
    ASSERT_CONTAINS(message_of(read_manifest(outcome->folder)), path.string());
  }
  ASSERT_OK(write_file_atomically(path, R"({"format": "aflguard-dataset", "version": 2})"));
  ASSERT_CONTAINS(message_of(read_manifest(outcome->folder)), "of version 1");
  ASSERT_OK(write_file_atomically(path, R"({"format": "aflguard-dataset", "version": 1, "name": 3})"));
  TEST_ASSERT_FALSE(read_manifest(outcome->folder).ok());
}

TEST("A data set that is not installed is an error with the command that gets it") {
  const testing::TemporaryFolder folder;
  const auto split = load_dataset("mnist", folder.path());
  TEST_ASSERT_TRUE(split.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(split.error().message, "run `aflguard data get mnist`");
  ASSERT_CONTAINS(message_of(load_dataset("har", folder.path())), "`aflguard data import har FOLDER`");
  ASSERT_CONTAINS(message_of(load_dataset("imagenet", folder.path())), "unknown data set 'imagenet'");
}
