// SPDX-License-Identifier: MIT
// How programs of meaning rows are built and run.
#pragma once

#include <cstddef>
#include <string>

#include "compiler/front/hlsl/settings.h"
#include "tests/support/compute_rig.h"

namespace kiln::hlsl {

inline constexpr uint32_t kMeaningInputs = 32;  // sets of inputs; each is one workgroup
inline constexpr size_t kMadeBytes = 192;       // of the results of a row for one of them

VariantRequest MeaningRequest(const std::string& source, Version version);

// Inputs as meaning_rows.cc promises them, and room for the results of `rows` rows.
oracle::ComputeRun MeaningRun(size_t rows);

}  // namespace kiln::hlsl
