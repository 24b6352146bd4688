#include "core/system/atomic_file.h"
#include "fleet/provisioning/device_list.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
using namespace aflguard::testing;

namespace {

struct List {
  TemporaryFolder folder;
  [[nodiscard]] Result<std::vector<ListedDevice>> read(const std::string& text) const {
    ASSERT_OK(write_file_atomically(folder / "list.csv", text));
    return read_device_list(folder / "list.csv");
  }
};

}  // namespace

TEST("A list has a name on each line, and where the key is elsewhere its request") {
  const List list;
  const auto devices = list.read("# the attic\npi-1\r\n\n  pi-2 , requests/pi-2.csr\npi-3,\n").value();
  TEST_ASSERT_EQUAL_size_t(3, devices.size());
  TEST_ASSERT_EQUAL_STRING("pi-1", devices[0].name.c_str());
  TEST_ASSERT_FALSE(devices[0].request.has_value());
  TEST_ASSERT_EQUAL_STRING("pi-2", devices[1].name.c_str());
  TEST_ASSERT_EQUAL_STRING((list.folder / "requests/pi-2.csr").c_str(), devices[1].request->c_str());
  TEST_ASSERT_FALSE(devices[2].request.has_value());
}

TEST("What a list may not say is refused with its line") {
  const List list;
  ASSERT_CONTAINS(message_of(list.read("pi-1\npi-2\n#\npi-1\n")),
                  "list.csv, line 4: device 'pi-1' is on line 1 already");
  ASSERT_CONTAINS(message_of(list.read("pi-1\n../etc\n")), "list.csv, line 2");
  ASSERT_CONTAINS(message_of(list.read("gateway\n")), "the fleet's own");
  ASSERT_CONTAINS(message_of(list.read(std::string(65, 'a'))), "line 1");
  ASSERT_CONTAINS(message_of(list.read("pi-1,a,b\n")), "more commas");
  ASSERT_CONTAINS(message_of(list.read("\n# nothing\n")), "names no device");
  TEST_ASSERT_TRUE(read_device_list(list.folder / "other").error().kind == ErrorKind::kNotFound);
}

TEST("Numbered names are names of devices, as many as the book takes") {
  const auto devices = numbered_devices("pi-", 9, 2).value();
  TEST_ASSERT_EQUAL_STRING("pi-9", devices[0].name.c_str());
  TEST_ASSERT_EQUAL_STRING("pi-10", devices[1].name.c_str());
  ASSERT_CONTAINS(message_of(numbered_devices("pi-", 1, 0)), "1 to 10000000");
  ASSERT_CONTAINS(message_of(numbered_devices("pi-", 1, 10'000'001)), "is 10000001");
  ASSERT_CONTAINS(message_of(numbered_devices("a b", 1, 1)), "is not a name");
  TEST_ASSERT_TRUE(numbered_devices(std::string(63, 'a'), 1, 9).ok());
  TEST_ASSERT_FALSE(numbered_devices(std::string(63, 'a'), 1, 10).ok());
}
