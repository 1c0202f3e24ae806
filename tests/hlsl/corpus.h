// SPDX-License-Identifier: MIT
// Sources of tests/hlsl/corpus: what the tests of this folder mutate, compile and compare.
#pragma once

#include <string>
#include <vector>

#include "compiler/front/hlsl/settings.h"

namespace kiln::hlsl {

struct CorpusSource {
  std::string name;  // "terrain.hlsl"
  std::string text;
  Version version = Version::k2021;  // k2018 where the first lines say "dialect of 2018"
};

// In the order of their names. Fails the test if there are none.
std::vector<CorpusSource> ReadCorpus();

}  // namespace kiln::hlsl
