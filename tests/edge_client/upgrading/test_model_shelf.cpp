#include "core/system/atomic_file.h"
#include "edge_client/upgrading/model_shelf.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

ModelHash hash_of(std::uint8_t content) {
  ModelHash hash;
  hash.fill(content);
  return hash;
}

struct Board {
  TemporaryFolder folder;
  Board() { put(folder / "model", "first"); }
  static void put(const fs::path& package, const std::string& content) {
    fs::create_directories(package);
    ASSERT_OK(write_file_atomically(package / "manifest.json", content));
  }
  ModelShelf open() {
    auto shelf = ModelShelf::open(folder / "models", folder / "model");
    ASSERT_OK(shelf);
    return std::move(shelf).value();
  }
};

}  // namespace

TEST("A device begins with the package of its configuration, and keeps its choice of another") {
  Board board;
  ModelShelf shelf = board.open();
  TEST_ASSERT_TRUE(shelf.current() == board.folder / "model");
  TEST_ASSERT_EQUAL_UINT64(0, shelf.number());
  Board::put(shelf.place(hash_of(2)), "second");
  TEST_ASSERT_TRUE(board.open().current() == board.folder / "model");
  ASSERT_OK(shelf.choose(hash_of(2), 7));
  const ModelShelf again = board.open();
  TEST_ASSERT_TRUE(again.current() == shelf.place(hash_of(2)));
  TEST_ASSERT_EQUAL_UINT64(7, again.number());
}

TEST("The former package stays until an update under the new one was judged, and can be gone back to") {
  Board board;
  ModelShelf shelf = board.open();
  for (const std::uint8_t model : {std::uint8_t{2}, std::uint8_t{3}}) {
    Board::put(shelf.place(hash_of(model)), "more");
    ASSERT_OK(shelf.choose(hash_of(model), model));
  }
  TEST_ASSERT_TRUE(fs::exists(shelf.place(hash_of(2))));
  TEST_ASSERT_TRUE(board.open().go_back());
  TEST_ASSERT_TRUE(board.open().current() == shelf.place(hash_of(2)));
  ASSERT_OK(shelf.choose(hash_of(3), 3));
  ASSERT_OK(write_file_atomically(shelf.part_file("abc"), "piece"));
  shelf.settle();
  TEST_ASSERT_FALSE(fs::exists(shelf.place(hash_of(2))));
  TEST_ASSERT_FALSE(fs::exists(shelf.part_file("abc")));
  TEST_ASSERT_TRUE(fs::exists(shelf.place(hash_of(3))));
  TEST_ASSERT_FALSE(board.open().go_back());
  TEST_ASSERT_TRUE(board.open().current() == shelf.place(hash_of(3)));
}

TEST("A package that its owner puts into the configuration's place counts more than an earlier choice") {
  Board board;
  ModelShelf shelf = board.open();
  Board::put(shelf.place(hash_of(2)), "second");
  ASSERT_OK(shelf.choose(hash_of(2), 2));
  Board::put(board.folder / "model", "a new bundle");
  TEST_ASSERT_TRUE(board.open().current() == board.folder / "model");
}

TEST("A damaged choice is named, and trials that never end are counted") {
  Board board;
  ASSERT_OK(board.open().choose(hash_of(2), 2));
  ASSERT_OK(write_file_atomically(board.folder / "models" / "choice", "0202 two"));
  ASSERT_CONTAINS(message_of(ModelShelf::open(board.folder / "models", board.folder / "model")),
                  "is damaged");
  fs::remove(board.folder / "models" / "choice");
  TEST_ASSERT_EQUAL_UINT64(1, board.open().begin_trial(4));
  TEST_ASSERT_EQUAL_UINT64(2, board.open().begin_trial(4));
  TEST_ASSERT_EQUAL_UINT64(1, board.open().begin_trial(5));
  board.open().end_trial();
  TEST_ASSERT_EQUAL_UINT64(1, board.open().begin_trial(5));
}
