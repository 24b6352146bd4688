#pragma once

#include <functional>

#include "core/base/result.h"

namespace CLI {
class App;
}

namespace aflguard::cli {

/// What the chosen verb does once the command line is parsed. Results go to stdout, everything else to
/// stderr. Parsing fills option variables owned by the verb's own state and sets the action; main() runs it.
using Action = std::function<Status()>;

}  // namespace aflguard::cli
