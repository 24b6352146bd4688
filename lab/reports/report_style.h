#pragma once

namespace aflguard::lab {

/// The style sheet of every report page: tables, and plots by svg_plot.h.
[[nodiscard]] const char* report_style();

}  // namespace aflguard::lab
