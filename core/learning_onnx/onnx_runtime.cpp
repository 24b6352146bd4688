#include "core/learning_onnx/onnx_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>
#include <vector>

#include "core/kernels/instruction_set.h"
#include "core/learning_onnx/onnx_api.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

// The oldest release whose API table has every entry that this folder calls.
constexpr int kApiVersion = 21;

std::vector<std::string> candidates(const fs::path& library) {
  if (!library.empty()) return {library.string()};
  if (const char* chosen = std::getenv("AFLGUARD_ONNXRUNTIME"); chosen != nullptr && *chosen != '\0') {
    return {chosen};
  }
  std::vector<std::string> places;
  std::error_code ignored;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", ignored); !program.empty()) {
    places.push_back((program.parent_path().parent_path() / "lib/aflguard/libonnxruntime.so.1").string());
  }
  places.insert(places.end(), {"libonnxruntime.so.1", "libonnxruntime.so.1.21", "libonnxruntime.so"});
  return places;
}

/// The loader's words without what every absent file has in common.
std::string short_reason(const std::string& reason, const std::string& place) {
  const std::string absent = place + ": cannot open shared object file: No such file or directory";
  return reason == absent ? place : reason;
}

/// Asked by name: GetApi of an old release answers on standard error, beside our own message.
bool too_old(const std::string& version) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major < 1 || (major == 1 && minor < kApiVersion);
}

struct LoadedLibrary {
  const OrtApiBase* api = nullptr;
  std::string path;
};

Result<LoadedLibrary> open_first(const std::vector<std::string>& places) {
  std::string tried;
  for (const std::string& place : places) {
    // Never unloaded: ONNX Runtime keeps threads and statics that outlive any object of ours.
    void* handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
      const char* reason = ::dlerror();
      tried += (tried.empty() ? "" : ", ") + (reason != nullptr ? short_reason(reason, place) : place);
      continue;
    }
    using GetApiBase = const OrtApiBase* (*)();
    const auto entry = reinterpret_cast<GetApiBase>(::dlsym(handle, "OrtGetApiBase"));
    if (entry == nullptr)
      return unsupported(place +
                         " is not an ONNX Runtime: it has no OrtGetApiBase; set AFLGUARD_ONNXRUNTIME to a "
                         "libonnxruntime.so");
    Dl_info info{};
    const bool known = ::dladdr(reinterpret_cast<void*>(entry), &info) != 0 && info.dli_fname != nullptr;
    return LoadedLibrary{entry(), known ? info.dli_fname : place};
  }
  return not_found(
      "no ONNX Runtime library found; tried " + tried +
      "; install ONNX Runtime 1.21 or later, or set AFLGUARD_ONNXRUNTIME to its libonnxruntime.so");
}

}  // namespace

OnnxRuntime::OnnxRuntime(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}
OnnxRuntime::~OnnxRuntime() = default;
const std::string& OnnxRuntime::version() const {
  return internals_->version;
}
const std::string& OnnxRuntime::path() const {
  return internals_->path;
}

Result<std::shared_ptr<OnnxRuntime>> OnnxRuntime::load(const fs::path& library) {
  TRY_STATUS(check_instruction_set());  // of the fused operators
  // Releases from 1.29 on report usage unless told otherwise before their environment exists.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", /*overwrite=*/1);
  TRY(const auto loaded, open_first(candidates(library)));
  const std::string version = loaded.api->GetVersionString();
  const OrtApi* api = too_old(version) ? nullptr : loaded.api->GetApi(kApiVersion);
  if (api == nullptr) {
    return unsupported("ONNX Runtime " + version + " at " + loaded.path + " is too old; install 1." +
                       std::to_string(kApiVersion) +
                       " or later, or set AFLGUARD_ONNXRUNTIME to its libonnxruntime.so");
  }
  Ort::InitApi(api);
  try {
    auto internals = std::make_unique<Internals>();
    internals->version = version;
    internals->path = loaded.path;
    // Errors come back as exceptions; its log would repeat them in many lines on standard error.
    internals->environment = Ort::Env(ORT_LOGGING_LEVEL_FATAL, "aflguard");
    internals->environment.DisableTelemetryEvents();
    return std::shared_ptr<OnnxRuntime>(new OnnxRuntime(std::move(internals)));
  } catch (const Ort::Exception& problem) {
    return internal_error("ONNX Runtime " + version + " did not start: " + problem.what());
  }
}

}  // namespace aflguard
