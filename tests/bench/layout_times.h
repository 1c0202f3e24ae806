// SPDX-License-Identifier: MIT
// What laying out costs: a program of 1,000 parameters from nothing, and the byte layout of a
// specialised type that is known already. Rows of variant_bench and layout_bench.
#pragma once

namespace kiln::bench {

inline constexpr int kLayoutParameters = 1000;
inline constexpr double kLayoutColdGate = 1000.0;     // microseconds
inline constexpr double kLayoutRememberedGate = 0.2;  // microseconds

struct LayoutTimes {
  // The whole program, median over fresh copies, so that nothing is remembered; negative: the
  // program was refused.
  double cold_vulkan_us = -1;
  double cold_d3d12_us = -1;
  double remembered_us = -1;  // one specialised type

  double cold_us() const { return cold_vulkan_us > cold_d3d12_us ? cold_vulkan_us : cold_d3d12_us; }
  bool cold_ok() const {
    return cold_vulkan_us >= 0 && cold_d3d12_us >= 0 && cold_us() <= kLayoutColdGate;
  }
  bool remembered_ok() const {
    return remembered_us >= 0 && remembered_us <= kLayoutRememberedGate;
  }
};

LayoutTimes MeasureLayout();

}  // namespace kiln::bench
