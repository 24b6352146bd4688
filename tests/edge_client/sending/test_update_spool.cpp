#include <filesystem>
#include <fstream>

#include "core/base/byte_cursor.h"
#include "core/base/sha256.h"
#include "core/system/atomic_file.h"
#include "edge_client/sending/update_spool.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

const UpdateAuthor kAuthor{"pi-1", {4, 1, 2, 3}};
constexpr std::size_t kHeader = 8 + 8 + 32;
constexpr std::size_t kAuthorBytes = 65 + 1 + 4;

Bytes envelope_of(int value) {
  return Bytes(1000, static_cast<std::byte>(value));
}

UpdateSpool opened(const TemporaryFolder& folder) {
  auto spool = UpdateSpool::open(folder / "state");
  ASSERT_OK(spool);
  return std::move(*spool);
}

}  // namespace

TEST("An update that waits comes back after a restart with the same number and bytes") {
  const TemporaryFolder folder;
  {
    UpdateSpool spool = opened(folder);
    TEST_ASSERT_FALSE(spool.take_waiting().has_value());
    TEST_ASSERT_EQUAL_UINT64(1, spool.next_sequence());
    ASSERT_OK(spool.store(1, kAuthor, envelope_of(1)));
    TEST_ASSERT_EQUAL_UINT64(2, spool.next_sequence());
  }
  UpdateSpool spool = opened(folder);
  const auto waiting = spool.take_waiting();
  TEST_ASSERT_TRUE(waiting && waiting->sequence == 1 && waiting->envelope == envelope_of(1));
  TEST_ASSERT_TRUE(waiting->author == kAuthor);
  TEST_ASSERT_FALSE(spool.take_waiting().has_value());
  TEST_ASSERT_EQUAL_UINT64(2, spool.next_sequence());
}

TEST("An update with a verdict does not come back, and its number is not used again") {
  const TemporaryFolder folder;
  {
    UpdateSpool spool = opened(folder);
    ASSERT_OK(spool.store(1, kAuthor, envelope_of(1)));
    spool.finish(1);
    ASSERT_OK(spool.store(2, kAuthor, envelope_of(2)));
    spool.finish(2);
  }
  UpdateSpool spool = opened(folder);
  TEST_ASSERT_FALSE(spool.take_waiting().has_value());
  TEST_ASSERT_EQUAL_UINT64(3, spool.next_sequence());
  ASSERT_OK(spool.store(3, kAuthor, envelope_of(3)));
  TEST_ASSERT_FALSE_MESSAGE(fs::exists(folder / "state/2.done"), "older files go");
}

TEST("A spool file has the bytes of format 2: head, checksum, author, envelope") {
  const TemporaryFolder folder;
  UpdateSpool spool = opened(folder);
  ASSERT_OK(spool.store(7, kAuthor, envelope_of(9)));
  Bytes body;
  ByteWriter to_body(body);
  to_body.put(std::as_bytes(std::span(kAuthor.key)));
  to_body.put_little_endian(std::uint8_t{4});
  to_body.put(std::as_bytes(std::span(kAuthor.device)));
  to_body.put(envelope_of(9));
  Bytes file;
  ByteWriter to_file(file);
  to_file.put(std::as_bytes(std::span(std::string_view("AFLSPOL2"))));
  to_file.put_little_endian(std::uint64_t{7});
  const Sha256Digest checksum = sha256(body);
  to_file.put(std::as_bytes(std::span(checksum)));
  to_file.put(body);
  TEST_ASSERT_TRUE(read_file(folder / "state/7.update").value() == file);
}

TEST("A file of version 1, which did not note its author, comes back without one") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "state");
  Bytes file;
  ByteWriter writer(file);
  writer.put(std::as_bytes(std::span(std::string_view("AFLSPOOL"))));
  writer.put_little_endian(std::uint64_t{5});
  const Sha256Digest digest = sha256(envelope_of(1));
  writer.put(std::as_bytes(std::span(digest)));
  writer.put(envelope_of(1));
  ASSERT_OK(write_file_atomically(folder / "state/5.update", std::span<const std::byte>(file)));
  const auto waiting = opened(folder).take_waiting();
  TEST_ASSERT_TRUE(waiting && waiting->sequence == 5 && waiting->envelope == envelope_of(1));
  TEST_ASSERT_FALSE(waiting->author.has_value());
}

TEST("What the gateway has judged moves the next number up, never down") {
  const TemporaryFolder folder;
  UpdateSpool spool = opened(folder);
  spool.raise_sequence(500);
  TEST_ASSERT_EQUAL_UINT64(501, spool.next_sequence());
  spool.raise_sequence(3);
  TEST_ASSERT_EQUAL_UINT64(501, spool.next_sequence());
}

TEST("A damaged file is put aside with a warning, whichever byte is wrong, and its number counts as used") {
  const std::size_t size = kHeader + kAuthorBytes + 1000;
  for (const std::size_t position : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{20}, kHeader,
                                     kHeader + 65, kHeader + 66, kHeader + kAuthorBytes, size - 1}) {
    const TemporaryFolder folder;
    ASSERT_OK(opened(folder).store(7, kAuthor, envelope_of(1)));
    auto bytes = read_file(folder / "state/7.update");
    ASSERT_OK(bytes);
    TEST_ASSERT_EQUAL_size_t(size, bytes->size());
    (*bytes)[position] ^= std::byte{1};
    ASSERT_OK(write_file_atomically(folder / "state/7.update", std::span<const std::byte>(*bytes)));
    for (int restart = 0; restart < 2; ++restart) {
      UpdateSpool spool = opened(folder);
      TEST_ASSERT_FALSE(spool.take_waiting().has_value());
      TEST_ASSERT_EQUAL_UINT64(8, spool.next_sequence());
      TEST_ASSERT_EQUAL_size_t(restart == 0 ? 1 : 0, spool.warnings().size());
    }
  }
}

TEST("A file that is cut short or empty is damaged too") {
  for (const std::uintmax_t size : {0, 10, 47, 48, 100, 500}) {
    const TemporaryFolder folder;
    ASSERT_OK(opened(folder).store(1, kAuthor, envelope_of(1)));
    fs::resize_file(folder / "state/1.update", size);
    UpdateSpool spool = opened(folder);
    TEST_ASSERT_FALSE(spool.take_waiting().has_value());
    TEST_ASSERT_EQUAL_size_t(1, spool.warnings().size());
    TEST_ASSERT_EQUAL_UINT64(2, spool.next_sequence());
  }
}

TEST("What a killed process left half-written is cleared away; strangers' files stay") {
  const TemporaryFolder folder;
  ASSERT_OK(opened(folder).store(4, kAuthor, envelope_of(1)));
  for (const char* name : {"5.update.a1B2c3", "notes.txt", "x.update", "0.update"}) {
    std::ofstream(folder / "state" / name) << "x";
  }
  UpdateSpool spool = opened(folder);
  TEST_ASSERT_TRUE(spool.take_waiting()->sequence == 4);
  TEST_ASSERT_FALSE(fs::exists(folder / "state/5.update.a1B2c3"));
  TEST_ASSERT_TRUE(fs::exists(folder / "state/notes.txt"));
  TEST_ASSERT_EQUAL_UINT64(5, spool.next_sequence());
}

TEST("One folder serves one client at a time") {
  const TemporaryFolder folder;
  const UpdateSpool spool = opened(folder);
  const auto second = UpdateSpool::open(folder / "state");
  TEST_ASSERT_TRUE(second.error().kind == ErrorKind::kUnavailable);
  ASSERT_CONTAINS(message_of(second), "in use by another process");
}

TEST("A folder that cannot be made is an error with its name") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  ASSERT_CONTAINS(message_of(UpdateSpool::open(folder / "file/state")), "file/state");
}
