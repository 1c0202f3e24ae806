// SPDX-License-Identifier: MIT
#include "compiler/layout/program.h"

#include "compiler/base/check.h"

namespace kiln::layout {

std::string_view PlatformName(Platform platform) {
  switch (platform) {
    case Platform::kVulkan:
      return "vulkan";
    case Platform::kD3d12:
      return "d3d12";
    case Platform::kD3d11:
      return "d3d11";
    case Platform::kWebgpu:
      return "webgpu";
  }
  KILN_UNREACHABLE();
}

// Under policy rpl the bytes never depend on the target; only push constants on WebGPU are a
// uniform buffer there.
Rules UniformRules(const Program& program) {
  const bool d3d = program.policy == Policy::kFirstFit && IsD3d(program.platform);
  return program.settings.uniform_rules.value_or(d3d ? Rules::kD3dCbuffer : Rules::kStd140);
}

// Structured buffers of D3D have the layout of C structs.
Rules StorageRules(const Program& program) {
  const bool d3d = program.policy == Policy::kFirstFit && IsD3d(program.platform);
  return program.settings.storage_rules.value_or(d3d ? Rules::kC : Rules::kStd430);
}

// Push constants are a uniform buffer where the target has no push constants.
Rules PushRules(const Program& program) {
  if (program.platform == Platform::kWebgpu &&
      program.settings.webgpu_push == WebgpuPush::kUniform) {
    return program.settings.push_rules.value_or(UniformRules(program));
  }
  const bool d3d = program.policy == Policy::kFirstFit && IsD3d(program.platform);
  return program.settings.push_rules.value_or(d3d ? Rules::kD3dCbuffer : Rules::kStd430);
}

}  // namespace kiln::layout
