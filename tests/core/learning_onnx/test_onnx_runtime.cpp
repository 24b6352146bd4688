#include <cstdlib>

#include "core/learning_onnx/onnx_runtime.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("The pinned ONNX Runtime loads, and its telemetry is off before it does") {
  ::unsetenv("ORT_DISABLE_TELEMETRY");
  const auto runtime = OnnxRuntime::load();
  ASSERT_OK(runtime);
  TEST_ASSERT_EQUAL_STRING("1", std::getenv("ORT_DISABLE_TELEMETRY"));
  ASSERT_CONTAINS((*runtime)->version(), "1.");
  ASSERT_CONTAINS((*runtime)->path(), "libonnxruntime");
}

TEST("A missing library is an error that names the file and the variable to set") {
  const auto runtime = OnnxRuntime::load("/nonexistent/libonnxruntime.so.1");
  ASSERT_CONTAINS(testing::message_of(runtime), "/nonexistent/libonnxruntime.so.1");
  ASSERT_CONTAINS(testing::message_of(runtime), "AFLGUARD_ONNXRUNTIME");
}

TEST("The environment variable wins over every other place and is not silently passed over") {
  ::setenv("AFLGUARD_ONNXRUNTIME", "/nonexistent/other.so", 1);
  const auto runtime = OnnxRuntime::load();
  ::unsetenv("AFLGUARD_ONNXRUNTIME");
  ASSERT_CONTAINS(testing::message_of(runtime), "/nonexistent/other.so");
}

TEST("A file that is not a library is refused with the loader's reason") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "libonnxruntime.so.1", "not a library"));
  ASSERT_CONTAINS(testing::message_of(OnnxRuntime::load(folder / "libonnxruntime.so.1")),
                  "libonnxruntime.so.1");
}

TEST("A library that is too old is refused with its version and the one needed") {
  const auto runtime = OnnxRuntime::load(AFLGUARD_OLD_ONNXRUNTIME);
  ASSERT_CONTAINS(testing::message_of(runtime), "ONNX Runtime 1.19.2");
  ASSERT_CONTAINS(testing::message_of(runtime), "1.21 or later");
}
