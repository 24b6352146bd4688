#include "core/system/become_program.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace aflguard {

Status become_program(const std::filesystem::path& program, const std::string& called,
                      const std::vector<std::string>& arguments) {
  std::vector<char*> raw = {const_cast<char*>(called.c_str())};
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  ::execv(program.c_str(), raw.data());
  return io_error("cannot run " + program.string() + ": " + std::strerror(errno));
}

}  // namespace aflguard
