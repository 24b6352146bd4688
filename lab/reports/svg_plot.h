#pragma once

#include <string>
#include <vector>

namespace aflguard::lab {

struct PlotPoint {
  double x = 0;
  double y = 0;
  double low = 0;  ///< of the seeds
  double high = 0;
};

struct PlotCurve {
  std::string name;
  std::size_t colour = 0;         ///< class sN of the page's style sheet
  std::vector<PlotPoint> points;  ///< in order of x
};

/// Lines over a number.
struct LinePlot {
  std::string title;
  std::string x_name;
  std::string y_name;
  bool logarithmic = false;  ///< y axis by powers of ten; else from 0
  std::vector<PlotCurve> curves;
};

/// Groups of bars, one bar per series.
struct BarPlot {
  std::string title;
  std::string y_name;
  bool logarithmic = false;
  std::vector<std::string> groups;
  struct Series {
    std::string name;
    std::size_t colour = 0;
    std::vector<double> values;  ///< one per group
  };
  std::vector<Series> series;
};

/// A complete <svg> element; colours and fonts come from classes s0, s1, ... of the page's style sheet.
[[nodiscard]] std::string svg(const LinePlot& plot);
[[nodiscard]] std::string svg(const BarPlot& plot);

/// &, <, > and quotes made safe for HTML.
[[nodiscard]] std::string escape_html(const std::string& text);

}  // namespace aflguard::lab
