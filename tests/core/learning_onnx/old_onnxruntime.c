/* Stands in for an ONNX Runtime release that is too old. It must be recognised by its version: asked for an API
 * table that they lack, the real ones write to standard error, where one line of ours should stand. */
#include <stdlib.h>

struct api_base {
  const void* (*get_api)(unsigned version);
  const char* (*version_string)(void);
};

static const void* get_api(unsigned version) {
  (void)version;
  abort();
}

static const char* version_string(void) { return "1.19.2"; }

const struct api_base* OrtGetApiBase(void) {
  static const struct api_base base = {get_api, version_string};
  return &base;
}
