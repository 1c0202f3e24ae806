// SPDX-License-Identifier: MIT
// Rules that concern several declarations at once.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/complete_access.h"
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

// In a pass every cell has one state: reads agree about the layout, and nothing is written that is
// also used otherwise.
void CheckPair(Planning& planning, const AccessRow& a, const AccessRow& b) {
  if (!CellsMeet(a, b)) {
    return;
  }
  const uint32_t passes[] = {a.pass};
  const bool both_read = a.op == Op::kRead && b.op == Op::kRead;
  if (both_read) {
    if (a.layout != b.layout && planning.rows.ChainOf(a).texture()) {
      const uint32_t versions[] = {a.version};
      AddError(planning, "LAYOUT_CONFLICT", {passes, versions},
               fmt::format("is read as {} and as {}", LayoutName(a.layout), LayoutName(b.layout)));
    }
    return;
  }
  const AccessRow& read = a.op == Op::kRead ? a : b;
  const uint32_t versions[] = {read.version};
  AddError(planning, "READ_AND_WRITE", {passes, versions},
           read.op == Op::kRead ? "is read and written" : "is written twice");
}

// Accesses of one pass to one chain. Few frames have several.
void CheckSharedChains(Planning& planning, uint32_t pass) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  const std::vector<uint32_t>& accesses = planning.plan.pass_accesses;
  // marks: last access of the chain, links: the one before it in the same pass; both by place in
  // pass_accesses
  const uint32_t begin = planning.plan.pass_begin[pass];
  for (uint32_t i = begin; i < planning.plan.pass_begin[pass + 1]; ++i) {
    uint32_t& mark = scratch.marks[rows.versions[rows.accesses[accesses[i]].version].chain];
    const uint32_t before = mark != kNone && mark >= begin ? mark : kNone;
    scratch.links[i] = before;
    mark = i;
    for (uint32_t other = before; other != kNone; other = scratch.links[other]) {
      CheckPair(planning, rows.accesses[accesses[other]], rows.accesses[accesses[i]]);
    }
  }
}

void CheckPasses(Planning& planning) {
  const Declarations& rows = planning.rows;
  PlanningScratch& scratch = planning.scratch;
  const bool shared = scratch.any_shared;
  if (shared) {
    scratch.marks.assign(rows.chains.size(), kNone);
    scratch.links.resize(rows.accesses.size());
  }
  const PassNote* note = rows.pass_notes.data();
  uint32_t index = 0;
  for (const PassRow& pass : rows.passes) {
    if (shared) {
      CheckSharedChains(planning, index);
    }
    if (note->callback.call == nullptr && pass.kind != PassKind::kTransition &&
        pass.origin == Origin::kUser) {
      const uint32_t passes[] = {index};
      AddError(planning, "CALLBACK_MISSING", {passes, {}}, "has no callback");
    }
    ++note;
    ++index;
  }
}

bool IsAttachmentAccess(const AccessRow& access) {
  constexpr Accesses kAttachments = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                    VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |
                                    VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                    VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
  return (access.accesses & kAttachments) != 0;
}

// All attachments of a pass have one extent and one sample count.
void CheckAttachments(Planning& planning) {
  const Declarations& rows = planning.rows;
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    if (rows.passes[pass].kind != PassKind::kGraphics) {
      continue;
    }
    const AccessRow* first = nullptr;
    for (uint32_t i = planning.plan.pass_begin[pass]; i < planning.plan.pass_begin[pass + 1]; ++i) {
      const AccessRow& access = rows.accesses[planning.plan.pass_accesses[i]];
      if (!IsAttachmentAccess(access)) {
        continue;
      }
      if (first == nullptr) {
        first = &access;
        continue;
      }
      const ChainRow& a = rows.ChainOf(*first);
      const ChainRow& b = rows.ChainOf(access);
      const auto edge = [](uint32_t size, uint32_t mip) { return std::max(size >> mip, 1U); };
      const bool same = edge(a.extent.width, first->mip) == edge(b.extent.width, access.mip) &&
                        edge(a.extent.height, first->mip) == edge(b.extent.height, access.mip) &&
                        a.samples == b.samples;
      if (!same) {
        const uint32_t passes[] = {pass};
        const uint32_t versions[] = {first->version, access.version};
        AddError(planning, "ATTACHMENT_MISMATCH", {passes, versions},
                 "are attachments of different extents or sample counts");
      }
    }
  }
}

// Host passes run before every command of the frame.
void CheckHostPasses(Planning& planning) {
  const Declarations& rows = planning.rows;
  if (std::none_of(rows.passes.begin(), rows.passes.end(),
                   [](const PassRow& pass) { return pass.kind == PassKind::kHost; })) {
    return;
  }
  const auto check = [&](uint32_t device, uint32_t host, uint32_t version) {
    if (device != kNone && rows.passes[host].kind == PassKind::kHost &&
        rows.passes[device].kind != PassKind::kHost) {
      const uint32_t passes[] = {host, device};
      const uint32_t versions[] = {version};
      AddError(planning, "HOST_AFTER_DEVICE", {passes, versions},
               "would make the host follow the device inside the frame");
    }
  };
  for (const AccessRow& access : rows.accesses) {
    const VersionRow& version = rows.versions[access.version];
    if (access.op != Op::kCreate) {
      check(version.def, access.pass, access.version);
    }
    if (access.op == Op::kRead && version.kill != kNone) {
      check(access.pass, version.kill, access.version);
    }
  }
}

void CheckOutputs(Planning& planning) {
  const Declarations& rows = planning.rows;
  for (uint32_t version = 0; version < rows.versions.size(); ++version) {
    const VersionRow& row = rows.versions[version];
    if (row.output != 0 && row.exported == 0 && row.kill != kNone) {
      const uint32_t passes[] = {row.kill};
      const uint32_t versions[] = {version};
      AddError(planning, "EXPORT_NOT_LAST", {passes, versions},
               "is wanted after the frame but overwritten in it");
    }
  }
}

}  // namespace

void AddError(Planning& planning, std::string_view code, const ErrorNames& names,
              std::string_view detail) {
  constexpr size_t kMaxErrors = 32;
  if (planning.errors.size() >= kMaxErrors) {
    return;
  }
  GraphError error;
  error.code = code;
  error.message = fmt::format("{}:", code);
  const auto list = [&](std::string_view word, std::span<const uint32_t> ids, bool versions,
                        std::vector<std::string>& out) {
    for (size_t i = 0; i < ids.size(); ++i) {
      out.emplace_back(versions ? planning.rows.VersionName(ids[i])
                                : planning.rows.PassName(ids[i]));
      error.message += i == 0 ? fmt::format(" {}{} '{}'", word, ids.size() > 1 ? "s" : "", out[i])
                              : fmt::format(" and '{}'", out[i]);
    }
  };
  list("version", names.versions, true, error.resources);
  if (!names.versions.empty() && !names.passes.empty()) {
    error.message += " in";
  }
  list("pass", names.passes, false, error.passes);
  if (!names.passes.empty()) {
    error.where = planning.rows.pass_notes[names.passes.front()].where;
  }
  error.message += fmt::format(" {}", detail);
  planning.errors.push_back(std::move(error));
}

void Validate(Planning& planning) {
  CheckPasses(planning);
  CheckAttachments(planning);
  CheckHostPasses(planning);
  CheckOutputs(planning);
}

}  // namespace kiln::graph
