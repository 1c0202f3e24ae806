// SPDX-License-Identifier: MIT
// What laying out costs, alone. The same rows are part of variant_bench.
//
// usage: layout_bench [--json]
#include <string_view>

#include <fmt/format.h>

#include "tests/bench/layout_times.h"

int main(int argc, char** argv) {
  using kiln::bench::kLayoutColdGate;
  using kiln::bench::kLayoutParameters;
  using kiln::bench::kLayoutRememberedGate;
  const kiln::bench::LayoutTimes times = kiln::bench::MeasureLayout();
  if (argc > 1 && std::string_view(argv[1]) == "--json") {
    fmt::print(
        "{{\"layout\": {{\"parameters\": {}, \"cold_vulkan_us\": {:.1f}, \"cold_d3d12_us\": "
        "{:.1f}, \"remembered_type_us\": {:.4f}}}, \"gates\": {{\"layout_cold_us\": "
        "{{\"value\": {:.1f}, \"gate\": {}, \"ok\": {}}}, \"layout_remembered_us\": {{\"value\": "
        "{:.4f}, \"gate\": {}, \"ok\": {}}}}}}}\n",
        kLayoutParameters, times.cold_vulkan_us, times.cold_d3d12_us, times.remembered_us,
        times.cold_us(), kLayoutColdGate, times.cold_ok(), times.remembered_us,
        kLayoutRememberedGate, times.remembered_ok());
  } else {
    fmt::print("{} parameters, cold: vulkan {:.1f} us, d3d12 {:.1f} us (limit {})\n",
               kLayoutParameters, times.cold_vulkan_us, times.cold_d3d12_us, kLayoutColdGate);
    fmt::print("one specialised type, remembered: {:.4f} us (limit {})\n", times.remembered_us,
               kLayoutRememberedGate);
  }
  return times.cold_ok() && times.remembered_ok() ? 0 : 1;
}
