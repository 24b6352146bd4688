/* Stands in for an ONNX Runtime release that is too old: it answers the version question and offers no API table
 * from 20 on, as the real ones do. */
struct api_base {
  const void* (*get_api)(unsigned version);
  const char* (*version_string)(void);
};

static const void* get_api(unsigned version) {
  (void)version;
  return 0;
}

static const char* version_string(void) { return "1.19.2"; }

const struct api_base* OrtGetApiBase(void) {
  static const struct api_base base = {get_api, version_string};
  return &base;
}
