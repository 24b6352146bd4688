#include <algorithm>
#include <string_view>

#include "core/base/check.h"
#include "core/http/http_request.h"
#include "fuzz/target.h"

using namespace aflguard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = http_head_end(bytes);
  const HttpRequest request = parse_http_request(bytes.substr(0, end));
  const bool served = request.status == 200;
  check(served == !request.path.empty(), "who is served names a path, nobody else does");
  if (!served) return 0;
  check(end != std::string_view::npos, "a request ends before it is served");
  check(request.path.front() == '/' && request.path.size() <= 512, "a path begins at the root and is short");
  check(std::all_of(request.path.begin(), request.path.end(),
                    [](unsigned char c) { return c > ' ' && c < 0x7F && c != '?'; }),
        "a path is visible text");
  return 0;
}
