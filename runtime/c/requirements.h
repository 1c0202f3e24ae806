// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "runtime/c/context.h"
#include "runtime/pipeline/device_requirements.h"

// What the variants of a source need of a device.
struct kiln_requirements : kiln::c::Object {
  kiln::runtime::DeviceRequirements all;
};
