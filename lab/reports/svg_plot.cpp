#include "lab/reports/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace aflguard::lab {
namespace {

constexpr double kWidth = 460;
constexpr double kHeight = 300;
constexpr double kLeft = 58;
constexpr double kRight = 14;
constexpr double kTop = 34;
constexpr double kBottom = 74;          // tick labels, axis name, legend
constexpr std::size_t kMostMarks = 60;  // a longer curve is a line only
constexpr std::size_t kMostTicks = 12;

std::string number(double value, const char* format = "%.1f") {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// A round number that is at least `rough`.
double nice_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (rough <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// The vertical axis: where values go, and what stands beside it.
class Axis final {
 public:
  Axis(double lowest, double highest, bool logarithmic) : logarithmic_(logarithmic) {
    if (logarithmic_) {
      low_ = std::floor(std::log10(std::max(lowest, 1e-6)));
      high_ = std::max(low_ + 1, std::ceil(std::log10(std::max(highest, 1e-6)) - 1e-9));
      step_ = std::max(1.0, std::ceil((high_ - low_) / 6));
    } else {
      low_ = 0;
      step_ = nice_step(std::max(highest, 1e-9) / 5);
      high_ = std::ceil(std::max(highest, 1e-9) / step_ - 1e-9) * step_;
    }
  }

  [[nodiscard]] double place(double value) const {
    const double at = logarithmic_ ? std::log10(std::max(value, 1e-6)) : value;
    const double share = std::clamp((at - low_) / (high_ - low_), 0.0, 1.0);
    return kTop + (1 - share) * (kHeight - kTop - kBottom);
  }

  [[nodiscard]] std::string draw(const std::string& name) const {
    std::string out;
    for (double tick = low_; tick <= high_ + step_ * 1e-6; tick += step_) {
      const double y = place(logarithmic_ ? std::pow(10, tick) : tick);
      const std::string label = logarithmic_ ? "1e" + number(tick, "%.0f") : number(tick, "%g");
      out += "<line class='grid' x1='" + number(kLeft) + "' x2='" + number(kWidth - kRight) + "' y1='" +
             number(y) + "' y2='" + number(y) + "'/>";
      out += "<text class='tick' text-anchor='end' x='" + number(kLeft - 6) + "' y='" + number(y + 3.5) +
             "'>" + label + "</text>";
    }
    const double middle = kTop + (kHeight - kTop - kBottom) / 2;
    out += "<text class='axis' text-anchor='middle' transform='translate(14," + number(middle) +
           ") rotate(-90)'>" + escape_html(name) + "</text>";
    return out;
  }

 private:
  bool logarithmic_;
  double low_ = 0;
  double high_ = 1;
  double step_ = 1;
};

constexpr double kLetter = 6.6;       // width of a letter of the small text, at most
constexpr double kTitleLetter = 7.4;  // and of the title
constexpr double kLine = 15;

/// The title in as many lines as it takes; it stands above the plot, which it never covers.
std::vector<std::string> title_lines(const std::string& title) {
  const auto most = static_cast<std::size_t>((kWidth - 20) / kTitleLetter);
  std::vector<std::string> lines;
  std::string rest = title;
  while (rest.size() > most) {
    const std::size_t blank = rest.rfind(' ', most);
    const std::size_t cut = blank == std::string::npos || blank == 0 ? most : blank;
    lines.push_back(rest.substr(0, cut));
    rest = rest.substr(cut + (rest[cut] == ' ' ? 1 : 0));
  }
  lines.push_back(rest);
  return lines;
}

/// `below`: what stands under the plot needs so much more room than two lines of legend.
std::string open(const std::string& title, double below) {
  const std::vector<std::string> lines = title_lines(title);
  const double above = kLine * static_cast<double>(lines.size() - 1);
  std::string out = "<svg class='plot' role='img' viewBox='0 " + number(-above, "%.0f") + " " +
                    number(kWidth, "%.0f") + " " + number(kHeight + above + below, "%.0f") +
                    "' aria-label='" + escape_html(title) + "'>";
  for (std::size_t line = 0; line < lines.size(); ++line) {
    out += "<text class='title' x='10' y='" + number(18 - above + kLine * static_cast<double>(line)) + "'>" +
           escape_html(lines[line]) + "</text>";
  }
  return out;
}

using LegendEntry = std::pair<std::string, std::size_t>;  // name, colour

double legend_width(const LegendEntry& entry) {
  return 30 + kLetter * static_cast<double>(entry.first.size());
}

/// How much more room the legend needs than two lines.
double room_for_legend(const std::vector<LegendEntry>& entries) {
  double x = kLeft;
  double rows = 1;
  for (const LegendEntry& entry : entries) {
    if (x > kLeft && x + legend_width(entry) > kWidth) {
      x = kLeft;
      rows += 1;
    }
    x += legend_width(entry);
  }
  return kLine * std::max(0.0, rows - 2);
}

/// `down`: so much lower than usual.
std::string legend(const std::vector<LegendEntry>& entries, double down) {
  std::string out;
  double x = kLeft;
  double y = kHeight - 30 + down;
  for (const LegendEntry& entry : entries) {
    const auto& [name, colour] = entry;
    if (x > kLeft && x + legend_width(entry) > kWidth) {
      x = kLeft;
      y += kLine;
    }
    out += "<rect class='s" + std::to_string(colour) + "' x='" + number(x) + "' y='" + number(y) +
           "' width='10' height='10'/>";
    out += "<text class='tick' x='" + number(x + 14) + "' y='" + number(y + 9) + "'>" + escape_html(name) +
           "</text>";
    x += legend_width(entry);
  }
  return out;
}

/// Where the horizontal axis says a number: at every point of a few, at round places of many.
std::vector<double> ticks(const std::vector<double>& xs) {
  if (xs.size() <= kMostTicks) return xs;
  std::vector<double> places;
  const double step = nice_step((xs.back() - xs.front()) / 6);
  for (double x = std::ceil(xs.front() / step) * step; x <= xs.back(); x += step) places.push_back(x);
  return places;
}

std::string draw_curve(const PlotCurve& curve, const Axis& axis, auto place_x) {
  const std::string style = "s" + std::to_string(curve.colour);
  std::string line;
  std::string marks;
  for (const PlotPoint& point : curve.points) {
    const std::string x = number(place_x(point.x));
    line += x + "," + number(axis.place(point.y)) + " ";
    marks += "<line class='spread " + style + "' x1='" + x + "' x2='" + x + "' y1='" +
             number(axis.place(point.low)) + "' y2='" + number(axis.place(point.high)) + "'/>";
    if (curve.points.size() > kMostMarks) continue;
    marks += "<circle class='" + style + "' r='3' cx='" + x + "' cy='" + number(axis.place(point.y)) +
             "'><title>" + escape_html(curve.name) + ": " + number(point.y, "%.4g") + " at " +
             number(point.x, "%g") + "</title></circle>";
  }
  return "<polyline class='curve " + style + "' points='" + line + "'/>" + marks;
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg(const LinePlot& plot) {
  double lowest = 1e300;
  double highest = 0;
  std::vector<double> xs;
  std::vector<LegendEntry> names;
  for (const PlotCurve& curve : plot.curves) {
    names.emplace_back(curve.name, curve.colour);
    for (const PlotPoint& point : curve.points) {
      lowest = std::min(lowest, point.low);
      highest = std::max(highest, point.high);
      xs.push_back(point.x);
    }
  }
  if (xs.empty()) return {};
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  const Axis axis(lowest, highest, plot.logarithmic);
  const double span = std::max(xs.back() - xs.front(), 1e-12);
  const auto place_x = [&](double x) {
    return kLeft + 10 + (x - xs.front()) / span * (kWidth - kLeft - kRight - 20);
  };
  std::string out = open(plot.title, room_for_legend(names)) + axis.draw(plot.y_name);
  double last = -kWidth;
  for (const double x : ticks(xs)) {
    const double half = kLetter * static_cast<double>(number(x, "%g").size()) / 2;
    if (place_x(x) - half < last + 2) continue;  // it would cover the number before
    last = place_x(x) + half;
    out += "<text class='tick' text-anchor='middle' x='" + number(place_x(x)) + "' y='" +
           number(kHeight - kBottom + 16) + "'>" + number(x, "%g") + "</text>";
  }
  out += "<text class='axis' text-anchor='middle' x='" + number((kLeft + kWidth - kRight) / 2) + "' y='" +
         number(kHeight - kBottom + 34) + "'>" + escape_html(plot.x_name) + "</text>";
  for (const PlotCurve& curve : plot.curves) out += draw_curve(curve, axis, place_x);
  return out + legend(names, 0) + "</svg>";
}

std::string svg(const BarPlot& plot) {
  double lowest = 1e300;
  double highest = 0;
  std::vector<LegendEntry> names;
  for (const BarPlot::Series& series : plot.series) {
    names.emplace_back(series.name, series.colour);
    for (const double value : series.values) {
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }
  if (plot.groups.empty() || names.empty()) return {};
  const Axis axis(lowest, highest, plot.logarithmic);
  const double group_width = (kWidth - kLeft - kRight) / static_cast<double>(plot.groups.size());
  const double bar_width = group_width * 0.8 / static_cast<double>(names.size());
  const double floor = kHeight - kBottom;
  // Names that are wider than their group stand askew.
  std::size_t longest = 0;
  for (const std::string& group : plot.groups) longest = std::max(longest, group.size());
  const double name_width = kLetter * static_cast<double>(longest);
  const bool askew = name_width > group_width - 4;
  const double down = askew ? std::max(0.0, name_width * 0.71 - 30) : 0;
  std::string out = open(plot.title, down + room_for_legend(names)) + axis.draw(plot.y_name);
  for (std::size_t g = 0; g < plot.groups.size(); ++g) {
    const double left = kLeft + group_width * (static_cast<double>(g) + 0.1);
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
      if (g >= plot.series[s].values.size()) continue;
      const double value = plot.series[s].values[g];
      const double top = std::min(axis.place(value), floor - 1);
      out += "<rect class='s" + std::to_string(plot.series[s].colour) + "' x='" +
             number(left + bar_width * static_cast<double>(s)) + "' y='" + number(top) + "' width='" +
             number(bar_width * 0.92) + "' height='" + number(floor - top) + "'><title>" +
             escape_html(plot.series[s].name) + ", " + escape_html(plot.groups[g]) + ": " +
             number(value, "%.4g") + "</title></rect>";
    }
    const std::string x = number(left + group_width * 0.4 + (askew ? 4 : 0));
    const std::string y = number(floor + (askew ? 12 : 16));
    out += "<text class='tick' text-anchor='" + std::string(askew ? "end" : "middle") + "' x='" + x +
           "' y='" + y + "'" + (askew ? " transform='rotate(-45 " + x + " " + y + ")'" : "") + ">" +
           escape_html(plot.groups[g]) + "</text>";
  }
  return out + legend(names, down) + "</svg>";
}

}  // namespace aflguard::lab
