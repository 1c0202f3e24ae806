// SPDX-License-Identifier: MIT
// Random programs and random option values for property tests: a seed -> RPL source whose
// declarations, members, types, functions and scopes depend on options in every way that the
// language has, and now and then are wrong under some of them. Equal seeds give equal text.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "compiler/resolve/values/options.h"

namespace kiln::property {

using Random = std::mt19937_64;

// Number below `limit`, the same on every platform.
uint32_t Below(Random& random, uint32_t limit);

// Entry points are vertex_main and fragment_main. `wide`: more than 256 options.
std::string RandomProgram(uint64_t seed, bool wide = false);

// A value for every option; numbers stay close to their defaults.
resolve::OptionValues RandomValues(const resolve::Program& program, Random& random);

// Gives a few options other values.
void Mutate(const resolve::Program& program, Random& random, resolve::OptionValues& values);

}  // namespace kiln::property
