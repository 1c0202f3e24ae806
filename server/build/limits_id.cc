// SPDX-License-Identifier: MIT
#include "server/build/limits_id.h"

#include <array>

#include "cache/key.h"
#include "compiler/target/target.h"

namespace kiln::build {

Hash128 DeterministicLimits() {
  const target::Limits target;
  const std::array<cache::LimitValue, 5> limits{{{"nesting", 256},
                                                 {"push_constant", target.push_constant_size},
                                                 {"source_bytes", uint64_t{4} << 20},
                                                 {"uniform_buffer", target.uniform_buffer_size},
                                                 {"workgroup", target.workgroup_invocations}}};
  return cache::LimitsId(limits);
}

}  // namespace kiln::build
