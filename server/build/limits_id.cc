// SPDX-License-Identifier: MIT
#include "server/build/limits_id.h"

#include "compiler/target/target.h"

namespace kiln::build {

std::array<cache::LimitValue, 5> DeterministicLimitValues() {
  const target::Limits target;
  return {{{"nesting", 256},
           {"push_constant", target.push_constant_size},
           {"source_bytes", uint64_t{4} << 20},
           {"uniform_buffer", target.uniform_buffer_size},
           {"workgroup", target.workgroup_invocations}}};
}

Hash128 DeterministicLimits() {
  static const Hash128 id = cache::LimitsId(DeterministicLimitValues());  // asked by every request
  return id;
}

}  // namespace kiln::build
