// SPDX-License-Identifier: MIT
// Environments as SPIRV-Tools names them; whoever includes this links SPIRV-Tools.
#pragma once

#include <spirv-tools/libspirv.h>

#include "compiler/base/check.h"
#include "compiler/target/target.h"

namespace kiln::target {

// The validator of this machine knows Vulkan up to 1.3.
inline spv_target_env SpirvToolsEnvironment(Environment environment) {
  switch (environment) {
    case Environment::kVulkan10:
      return SPV_ENV_VULKAN_1_0;
    case Environment::kVulkan11:
      return SPV_ENV_VULKAN_1_1;
    case Environment::kVulkan12:
      return SPV_ENV_VULKAN_1_2;
    case Environment::kVulkan13:
    case Environment::kVulkan14:
      return SPV_ENV_VULKAN_1_3;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::target
