#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::image {

/// Debian releases that an image can be made of. Others have not been tried.
[[nodiscard]] const std::vector<std::string>& known_suites();

/// The Debian packages of a board, besides those that every Debian has.
[[nodiscard]] const std::vector<std::string>& base_packages();

/// Where this machine's own apt gets Debian's packages.
struct Mirrors {
  std::string main;
  std::string security;  ///< empty: apt has none
};

/// Reads lines of "URI CODENAME", as apt-get indextargets gives them. kNotFound when no line is a Debian
/// release's.
[[nodiscard]] Result<Mirrors> find_mirrors(const std::string& targets);

/// The package sources of a board, for sources.list.
[[nodiscard]] std::string package_sources(const Mirrors& mirrors, const std::string& suite);

/// Equal for equal bases: it is part of the cached base's file name.
[[nodiscard]] std::string base_key(const std::string& suite, const std::string& recipe);

}  // namespace aflguard::image
