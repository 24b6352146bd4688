#pragma once

#include <string>
#include <vector>

#include "tests/architecture/source_tree.h"

namespace aflguard::testing {

enum class DefinitionKind { kType, kEnum, kAlias, kVariable, kFunction };

/// Something that a file defines at the scope of a named namespace.
struct Definition {
  DefinitionKind kind = DefinitionKind::kType;
  std::string space;       ///< "aflguard::edge"
  std::string name;        ///< "to_string"
  std::string parameters;  ///< of a function: "(DeviceState)", names and defaults left out
  std::string body;        ///< between the braces
  std::string file;

  /// What may exist once: "aflguard::edge::to_string(DeviceState)".
  [[nodiscard]] std::string full_name() const;
};

/// What the file defines, in order. Declarations, members, and what stands in an anonymous namespace are left
/// out. A scanner of braces and words, not a compiler: it expects code as clang-format leaves it.
[[nodiscard]] std::vector<Definition> definitions_in(const SourceFile& file);

}  // namespace aflguard::testing
