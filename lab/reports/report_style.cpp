#include "lab/reports/report_style.h"

namespace aflguard::lab {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light; --ink: #1d2433; --soft: #5b6475; --line: #d8dde6; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.lead, td small, figcaption, .tick, .axis { color: var(--soft); fill: var(--soft); }
table { border-collapse: collapse; margin: .8rem 0; } th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: right; }
th { background: #f3f5f9; font-weight: 600; } th.row { text-align: left; white-space: nowrap; } th[colspan] { text-align: center; } td small { display: block; font-size: .78rem; }
td.agrees { background: #d9f2df; } td.near { background: #fdf3cf; } td.differs { background: #fbdcd9; }
.key span { padding: .1rem .5rem; border: 1px solid var(--line); margin-right: .4rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; }
.table { overflow-x: auto; }
.plot { width: 100%; max-width: 42rem; height: auto; border: 1px solid var(--line); border-radius: 6px; background: #fff; }
.plot text { font: 11px system-ui, sans-serif; } .plot .title { font-size: 13px; font-weight: 600; fill: var(--ink); }
.grid { stroke: #e7eaf0; } .curve { fill: none; stroke-width: 2; } .spread { stroke-width: 1.2; opacity: .55; }
.s0 { fill: #8c6bb1; stroke: #8c6bb1; } .s1 { fill: #d95f02; stroke: #d95f02; } .s2 { fill: #b8860b; stroke: #b8860b; }
.s3 { fill: #1b9e77; stroke: #1b9e77; } .s4 { fill: #1f5fbf; stroke: #1f5fbf; } .s5 { fill: #444; stroke: #444; }
.s6 { fill: #c2185b; stroke: #c2185b; } .s7 { fill: #5d8aa8; stroke: #5d8aa8; } .s8 { fill: #6b8e23; stroke: #6b8e23; }
polyline.curve { fill: none; } rect { stroke: none; }
details { margin-top: 2rem; } pre { overflow-x: auto; background: #f6f7fa; padding: .8rem; font-size: .8rem; }
)css";

}  // namespace

const char* report_style() {
  return kStyle;
}

}  // namespace aflguard::lab
