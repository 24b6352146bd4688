#include "gateway_server/alerts/alert_book.h"
#include "tests/support/test.h"

using namespace aflguard::gateway;
using namespace std::chrono_literals;

namespace {

constexpr AlertBook::Time kStart{1000s};

/// Everything that goes at `now`: "kind device", and "over" behind it.
std::vector<std::string> told(AlertBook& book, AlertBook::Time now) {
  std::vector<std::string> all;
  while (const auto next = book.next(now)) {
    all.push_back(next->kind + " " + next->device + (next->over ? " over" : ""));
  }
  return all;
}

void expect(const std::vector<std::string>& wanted, const std::vector<std::string>& got) {
  TEST_ASSERT_EQUAL_size_t(wanted.size(), got.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) TEST_ASSERT_EQUAL_STRING(wanted[i].c_str(), got[i].c_str());
}

}  // namespace

TEST("A problem is told once, and once that it is over") {
  AlertBook book(100);
  for (int i = 0; i < 3; ++i) book.set("lost", "pi-1", "gone", kStart);
  expect({"lost pi-1"}, told(book, kStart));
  book.set("lost", "pi-1", "still gone", kStart + 60s);
  expect({}, told(book, kStart + 60s));
  book.clear("lost", "pi-1");
  book.clear("lost", "pi-1");
  expect({"lost pi-1 over"}, told(book, kStart + 70s));
  book.clear("lost", "pi-1");
  expect({}, told(book, kStart + 80s));
  book.set("lost", "pi-1", "again", kStart + 90s);
  expect({"lost pi-1"}, told(book, kStart + 90s));
}

TEST("A problem that ends before its time is not told at all") {
  AlertBook book(100);
  book.set("lost", "pi-1", "gone", kStart, 300s);
  book.set("lost", "pi-2", "gone", kStart, 300s);
  expect({}, told(book, kStart + 299s));
  book.clear("lost", "pi-1");
  expect({"lost pi-2"}, told(book, kStart + 300s));
}

TEST("Beyond the rate, messages wait; none of a problem that lasts is left out") {
  AlertBook book(2);
  for (const char* device : {"a", "b", "c", "d"}) book.set("lost", device, "gone", kStart);
  expect({"lost a", "lost b"}, told(book, kStart));
  book.clear("lost", "d");  // came back before it could be told
  expect({}, told(book, kStart + 29min));
  expect({"lost c"}, told(book, kStart + 30min + 1s));
  expect({}, told(book, kStart + 60min));
  book.clear("lost", "a");
  expect({"lost a over"}, told(book, kStart + 90min));
}

TEST("Nothing more is told of a device that has left the fleet") {
  AlertBook book(100);
  book.set("lost", "pi-1", "gone", kStart);
  book.set("certificate", "pi-1", "ends", kStart, 10s);
  book.set("disk-full", "", "full", kStart);
  expect({"disk-full ", "lost pi-1"}, told(book, kStart));
  book.forget("pi-1");
  book.clear("lost", "pi-1");
  expect({}, told(book, kStart + 20s));
}
