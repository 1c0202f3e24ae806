// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/c/context.h"
#include "runtime/pipeline/pipeline_desc.h"

// A pipeline as plain data.
struct kiln_pipeline_desc : kiln::c::Object {
  kiln::runtime::PipelineDesc desc;
  std::vector<std::pair<uint32_t, const kiln::runtime::BindingDesc*>> bindings;  // with their set
  std::string text;
};
