// SPDX-License-Identifier: MIT
// One look at all accesses: by pass, by the versions that they make and overwrite, and in which
// layout each is done.
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

uint8_t BitsOf(const Declarations& rows, const AccessRow& access) {
  const bool host = rows.passes[access.pass].kind == PassKind::kHost;
  return static_cast<uint8_t>((access.writes() ? kWrites : 0) | (host ? kOnHost : 0) |
                              (access.whole == 0 ? kPart : 0));
}

// Which accesses make and overwrite versions. An export overwrites by reading.
void IndexVersions(Planning& planning, uint32_t index) {
  const AccessRow& access = planning.rows.accesses[index];
  const VersionRow& version = planning.rows.versions[access.version];
  PlanningScratch& scratch = planning.scratch;
  scratch.chain_of[index] = version.chain;
  if (access.result != kNone) {
    scratch.def_access[access.result] = index;
  }
  const bool exports =
      access.op == Op::kRead && version.exported != 0 && version.kill == access.pass;
  if (access.op == Op::kWrite || exports) {
    scratch.kill_access[access.version] = index;
  }
}

// Accesses that are declared out of the order of their passes.
void SortByPass(Planning& planning) {
  const Declarations& rows = planning.rows;
  std::vector<uint32_t>& next = planning.scratch.marks;
  next.assign(planning.plan.pass_begin.begin(), planning.plan.pass_begin.end());
  for (uint32_t i = 0; i < rows.accesses.size(); ++i) {
    planning.plan.pass_accesses[next[rows.accesses[i].pass]++] = i;
  }
}

// All readers of a version share one layout.
void UnifyReads(Planning& planning) {
  const Declarations& rows = planning.rows;
  constexpr Accesses kReadOnly = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                                 VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT |
                                 VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
  std::vector<VkImageLayout> layouts(rows.versions.size(), VK_IMAGE_LAYOUT_UNDEFINED);
  std::vector<uint8_t> several(rows.versions.size(), 0);
  std::vector<Accesses> accesses(rows.versions.size(), 0);
  const auto is_read = [&](const AccessRow& access) {
    return access.op == Op::kRead && access.accesses != 0 && rows.ChainOf(access).texture();
  };
  for (const AccessRow& access : rows.accesses) {
    if (is_read(access)) {
      VkImageLayout& layout = layouts[access.version];
      several[access.version] |=
          layout != VK_IMAGE_LAYOUT_UNDEFINED && layout != access.layout ? 1 : 0;
      layout = access.layout;
      accesses[access.version] |= access.accesses;
    }
  }
  for (size_t i = 0; i < rows.accesses.size(); ++i) {
    const AccessRow& access = rows.accesses[i];
    if (is_read(access) && several[access.version] != 0) {
      planning.plan.layouts[i] = (accesses[access.version] & ~kReadOnly) == 0
                                     ? VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL
                                     : VK_IMAGE_LAYOUT_GENERAL;
    }
  }
}

}  // namespace

void GroupAccesses(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  Plan& plan = planning.plan;
  const auto count = static_cast<uint32_t>(rows.accesses.size());
  plan.pass_begin.assign(rows.passes.size() + 1, 0);
  plan.pass_accesses.resize(count);
  plan.layouts.resize(count);
  scratch.chain_of.resize(count);
  scratch.access_bits.resize(count);
  scratch.def_access.assign(rows.versions.size(), kNone);
  scratch.kill_access.assign(rows.versions.size(), kNone);
  bool sorted = true;
  uint32_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const AccessRow& access = rows.accesses[i];
    IndexVersions(planning, i);
    scratch.access_bits[i] = BitsOf(rows, access);
    plan.layouts[i] = access.layout;
    plan.pass_accesses[i] = i;
    ++plan.pass_begin[access.pass + 1];
    sorted = sorted && access.pass >= last;
    last = access.pass;
  }
  for (size_t pass = 0; pass < rows.passes.size(); ++pass) {
    plan.pass_begin[pass + 1] += plan.pass_begin[pass];
  }
  if (!sorted) {
    SortByPass(planning);
  }
  if (planning.options.unify_reads) {
    UnifyReads(planning);
  }
}

}  // namespace kiln::graph
