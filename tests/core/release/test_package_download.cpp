#include "core/release/package_download.h"
#include "core/system/atomic_file.h"
#include "core/transport/in_process_broker.h"
#include "tests/core/release/releases.h"

using namespace aflguard;
using namespace aflguard::testing;
using std::chrono::milliseconds;

namespace {

/// A broker that keeps the pieces of one package, and a board that fetches it.
struct Depot {
  TemporaryFolder folder;
  FleetTopics topics = FleetTopics::create("orchard").value();
  InProcessBroker broker{1};
  std::unique_ptr<MessageBus> release = broker.client("release");
  std::unique_ptr<MessageBus> board = broker.client("pi-1");
  Bytes archive;
  ReleaseMessage order;
  PackageDownload::Time now{};
  Status refusal;
  std::size_t received = 0;

  explicit Depot(std::size_t pieces) {
    const std::string text = noise(pieces);
    const auto bytes = std::as_bytes(std::span(text));
    archive.assign(bytes.begin(), bytes.end() - 100);
    order = sample_release(archive);
    ASSERT_OK(release->start());
    ASSERT_OK(board->start());
    broker.settle();
  }

  void publish(std::size_t index, bool damaged = false) {
    const auto piece = std::span(archive).subspan(index * kReleasePieceBytes);
    const auto body = piece.first(std::min(kReleasePieceBytes, piece.size()));
    Message message{topics.release_piece(release_piece_name(order.package_digest, index)),
                    Bytes(body.begin(), body.end()), /*retained=*/true};
    if (damaged) message.payload[5] ^= std::byte{1};
    ASSERT_OK(release->publish(message));
    broker.settle();
  }
  void publish_all() {
    for (std::size_t i = 0; i < order.pieces.size(); ++i) publish(i);
  }

  PackageDownload open() {
    auto download = PackageDownload::open(order, folder / "part", {.pieces_at_once = 3});
    ASSERT_OK(download);
    return std::move(download).value();
  }

  /// So many turns of an engine, 100 ms each.
  void run(PackageDownload& download, std::size_t turns) {
    for (std::size_t i = 0; i < turns && !download.complete(); ++i) {
      (void)download.step(*board, topics, now);
      broker.settle();
      while (auto event = board->next_event({})) {
        const auto* message = std::get_if<BusReceived>(&*event);
        if (message == nullptr) continue;
        const auto topic = parse_topic(message->message.topic);
        if (!topic.ok() || topic->kind != TopicKind::kReleasePiece) continue;
        ++received;
        if (Status taken = download.take(*board, topics, topic->device, message->message.payload);
            !taken.ok())
          refusal = taken;
      }
      now += milliseconds(100);
    }
  }
};

}  // namespace

TEST("A package is fetched piece by piece, each of them once") {
  Depot depot(9);
  depot.publish_all();
  PackageDownload download = depot.open();
  depot.run(download, 30);
  TEST_ASSERT_TRUE(download.complete());
  TEST_ASSERT_TRUE(download.archive().value() == depot.archive);
  TEST_ASSERT_EQUAL_size_t(9, depot.received);
}

TEST("A fetch that was interrupted goes on where it was, and drops bytes that are not the package's") {
  Depot depot(9);
  depot.publish_all();
  {
    PackageDownload download = depot.open();
    depot.run(download, 4);
    TEST_ASSERT_TRUE(download.pieces_here() >= 3 && !download.complete());
    download.stop(*depot.board, depot.topics);
    depot.broker.settle();
    while (depot.board->next_event({})) {
    }
  }
  Bytes part = read_file(depot.folder / "part").value();
  const std::size_t whole = part.size() / kReleasePieceBytes;
  part.resize(part.size() + 1000);               // a piece that a power loss cut
  part[kReleasePieceBytes + 3] ^= std::byte{1};  // and one that the disk lost
  ASSERT_OK(write_file_atomically(depot.folder / "part", part));
  depot.received = 0;
  PackageDownload download = depot.open();
  TEST_ASSERT_EQUAL_size_t(1, download.pieces_here());
  TEST_ASSERT_TRUE(whole > 1);
  depot.run(download, 30);
  TEST_ASSERT_TRUE(download.complete());
  TEST_ASSERT_TRUE(download.archive().value() == depot.archive);
  TEST_ASSERT_EQUAL_size_t(8, depot.received);
}

TEST("A damaged piece is refused and asked for again; one that is missing is waited for") {
  Depot depot(4);
  for (std::size_t i : {std::size_t{0}, std::size_t{3}}) depot.publish(i);
  depot.publish(1, /*damaged=*/true);
  PackageDownload download = depot.open();
  depot.run(download, 10);
  TEST_ASSERT_EQUAL_size_t(1, download.pieces_here());
  ASSERT_CONTAINS(message_of(depot.refusal), "piece 1 of model 'small' is not the one");
  depot.publish(1);
  depot.publish(2);
  depot.run(download, 200);
  TEST_ASSERT_TRUE(download.complete());
}

TEST("Nothing is asked for faster than the pace allows, and only a few pieces at a time") {
  Depot depot(9);  // the broker has nothing: every question stays open
  auto download = PackageDownload::open(depot.order, depot.folder / "part",
                                        {.pieces_at_once = 2, .between = milliseconds(500)});
  ASSERT_OK(download);
  TEST_ASSERT_TRUE(download->step(*depot.board, depot.topics, depot.now) == depot.now + milliseconds(500));
  TEST_ASSERT_TRUE(download->step(*depot.board, depot.topics, depot.now + milliseconds(100)) ==
                   depot.now + milliseconds(500));
  (void)download->step(*depot.board, depot.topics, depot.now + milliseconds(500));
  // Both have been asked for: the next thing is to ask again.
  TEST_ASSERT_TRUE(download->step(*depot.board, depot.topics, depot.now + milliseconds(5000)) ==
                   depot.now + milliseconds(15000));
}
