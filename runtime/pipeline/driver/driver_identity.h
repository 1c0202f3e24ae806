// SPDX-License-Identifier: MIT
// Which driver build made something: what it says about itself, and the build id of its shared
// object, since some drivers say the same in every build. See spec/pso 8.2
#pragma once

#include "compiler/base/digest.h"
#include "runtime/vk/device.h"

namespace kiln::runtime {

// A digest of everything that can tell two drivers, devices or builds apart.
Hash128 DriverIdentity(const Device& device);

}  // namespace kiln::runtime
