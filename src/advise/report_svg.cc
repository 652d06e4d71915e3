// The report's bars as a picture: bytes and RU/s by partition, the best key beside the present one
// (advise.h).
#include <fmt/format.h>

#include <algorithm>

#include "advise/advise.h"
#include "advise/words.h"

namespace orrery::advise {
namespace {

constexpr double kWidth = 460;
constexpr double kHeight = 150;
constexpr double kMargin = 40;
constexpr double kTitle = 56;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML has no control characters.
        out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
    }
  }
  return out;
}

void add_chart(std::string& out, double x, double y, std::string_view title,
               const std::vector<double>& shares, double most, std::string_view color) {
  out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"t\">{}</text>\n", x, y - 8, title);
  const auto count = static_cast<double>(shares.size());
  const double step = kWidth / count;
  for (size_t i = 0; i < shares.size(); ++i) {
    const double height = kHeight * shares[i] / most;
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\"><title>partition {}: {}</title></rect>\n",
        x + step * static_cast<double>(i), y + kHeight - height, std::max(0.5, step * 0.8), height,
        color, i, percent(shares[i]));
  }
  const double even = y + kHeight - kHeight / count / most;
  out +=
      fmt::format("<line x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.2f}\" y2=\"{:.2f}\" class=\"e\"/>\n",
                  x, x + kWidth, even, even);
}

}  // namespace

std::string to_svg(const Report& report) {
  const double width = 2 * kWidth + 3 * kMargin;
  const double row = kHeight + kTitle + 24;
  const double height = row * static_cast<double>(report.bars.size()) + kMargin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<title>Distribution by partition</title>\n"
      "<style>text{{font:13px sans-serif;fill:#333}}.t{{font-size:12px;fill:#666}}"
      ".k{{font-size:15px;font-weight:bold}}.e{{stroke:#888;stroke-dasharray:4 3}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  double most = 1e-9;
  for (const Bars& bars : report.bars) {
    most = std::max({most, std::ranges::max(bars.bytes), std::ranges::max(bars.ru)});
  }
  for (size_t i = 0; i < report.bars.size(); ++i) {
    const Bars& bars = report.bars[i];
    const double y = row * static_cast<double>(i) + kTitle;
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"k\">{} {}</text>\n", kMargin,
                       y - 28, escaped(bars.key), i == 0 ? "(best)" : "(present)");
    add_chart(out, kMargin, y, "bytes by partition", bars.bytes, most, "#4c78a8");
    add_chart(out, 2 * kMargin + kWidth, y, "RU/s by partition", bars.ru, most, "#f58518");
  }
  return out + "</svg>\n";
}

}  // namespace orrery::advise
