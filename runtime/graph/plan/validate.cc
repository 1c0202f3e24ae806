// SPDX-License-Identifier: MIT
// Rules that need the whole frame (spec/graph 4). What a single declaration can break was told when
// it was made; here passes are looked at together. All rules are checked, and each reports all that
// it finds, so an author sees everything at once.
#include "runtime/graph/plan/validate.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/declare/complete_access.h"
#include "runtime/graph/plan/cells.h"
#include "runtime/graph/plan/errors.h"

namespace kiln::graph {
namespace {

// What every rule looks at, and where it reports.
struct ValidationContext {
  const Declarations& rows;
  const PassAccesses& accesses;
  std::vector<GraphError>& errors;

  void Fail(std::string_view code, const ErrorNames& names, std::string_view detail) const {
    AddError(rows, code, names, detail, errors);
  }
};

// In a pass every cell has one state: reads agree about the layout, and nothing is written that is
// also used otherwise.
void CheckPair(const ValidationContext& checked, const AccessRow& a, const AccessRow& b) {
  if (!CellsMeet(a, b)) {
    return;
  }
  const uint32_t passes[] = {a.pass};
  const bool both_read = a.op == Op::kRead && b.op == Op::kRead;
  if (both_read) {
    if (a.layout != b.layout && checked.rows.ChainOf(a).texture()) {
      const uint32_t versions[] = {a.version};
      checked.Fail(
          "LAYOUT_CONFLICT", {passes, versions},
          fmt::format("is read as {} and as {}", LayoutName(a.layout), LayoutName(b.layout)));
    }
    return;
  }
  const AccessRow& read = a.op == Op::kRead ? a : b;
  const uint32_t versions[] = {read.version};
  checked.Fail("READ_AND_WRITE", {passes, versions},
               read.op == Op::kRead ? "is read and written" : "is written twice");
}

// Accesses of one pass to one chain. Few frames have several. Those of a chain are linked
// backwards, so each is compared with those before it in the pass and with no others: O(k²) for k
// accesses to one chain, and nothing for the usual one.
void CheckSharedChains(const ValidationContext& checked, uint32_t pass, ValidateScratch& scratch) {
  const Declarations& rows = checked.rows;
  const std::vector<uint32_t>& accesses = checked.accesses.pass_accesses;
  // A mark of another pass lies before `begin`, so marks need not be cleared between passes.
  const uint32_t begin = checked.accesses.pass_begin[pass];
  for (uint32_t i = begin; i < checked.accesses.pass_begin[pass + 1]; ++i) {
    uint32_t& mark = scratch.last_use[rows.versions[rows.accesses[accesses[i]].version].chain];
    const uint32_t before = mark != kNone && mark >= begin ? mark : kNone;
    scratch.before[i] = before;
    mark = i;
    for (uint32_t other = before; other != kNone; other = scratch.before[other]) {
      CheckPair(checked, rows.accesses[accesses[other]], rows.accesses[accesses[i]]);
    }
  }
}

// One pass over the passes for both rules, because a frame is validated each time it is planned.
void CheckPasses(const ValidationContext& checked, bool shared, ValidateScratch& scratch) {
  const Declarations& rows = checked.rows;
  if (shared) {
    scratch.last_use.assign(rows.chains.size(), kNone);
    scratch.before.resize(rows.accesses.size());
  }
  const PassNote* note = rows.pass_notes.data();
  uint32_t index = 0;
  for (const PassRow& pass : rows.passes) {
    if (shared) {
      CheckSharedChains(checked, index, scratch);
    }
    if (note->callback.call == nullptr && pass.kind != PassKind::kTransition &&
        pass.origin == Origin::kUser) {
      const uint32_t passes[] = {index};
      checked.Fail("CALLBACK_MISSING", {passes, {}}, "has no callback");
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
void CheckAttachments(const ValidationContext& checked) {
  const Declarations& rows = checked.rows;
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    if (rows.passes[pass].kind != PassKind::kGraphics) {
      continue;
    }
    const AccessRow* first = nullptr;
    for (uint32_t i = checked.accesses.pass_begin[pass]; i < checked.accesses.pass_begin[pass + 1];
         ++i) {
      const AccessRow& access = rows.accesses[checked.accesses.pass_accesses[i]];
      if (!IsAttachmentAccess(access)) {
        continue;
      }
      if (first == nullptr) {
        first = &access;
        continue;
      }
      const ChainRow& a = rows.ChainOf(*first);
      const ChainRow& b = rows.ChainOf(access);
      // The extent is that of the mip that is attached. All are compared with the first: equality
      // carries over.
      const auto edge = [](uint32_t size, uint32_t mip) { return std::max(size >> mip, 1U); };
      const bool same = edge(a.extent.width, first->mip) == edge(b.extent.width, access.mip) &&
                        edge(a.extent.height, first->mip) == edge(b.extent.height, access.mip) &&
                        a.samples == b.samples;
      if (!same) {
        const uint32_t passes[] = {pass};
        const uint32_t versions[] = {first->version, access.version};
        checked.Fail("ATTACHMENT_MISMATCH", {passes, versions},
                     "are attachments of different extents or sample counts");
      }
    }
  }
}

// Host passes run before every command of the frame.
void CheckHostPasses(const ValidationContext& checked) {
  const Declarations& rows = checked.rows;
  if (std::none_of(rows.passes.begin(), rows.passes.end(),
                   [](const PassRow& pass) { return pass.kind == PassKind::kHost; })) {
    return;
  }
  // The rule in terms of edges: a device pass must not come before a host pass.
  const auto check = [&](uint32_t device, uint32_t host, uint32_t version) {
    if (device != kNone && rows.passes[host].kind == PassKind::kHost &&
        rows.passes[device].kind != PassKind::kHost) {
      const uint32_t passes[] = {host, device};
      const uint32_t versions[] = {version};
      checked.Fail("HOST_AFTER_DEVICE", {passes, versions},
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

// A version that is wanted behind the frame must be the last of its chain (spec/graph 4.2).
void CheckOutputs(const ValidationContext& checked) {
  const Declarations& rows = checked.rows;
  for (uint32_t version = 0; version < rows.versions.size(); ++version) {
    const VersionRow& row = rows.versions[version];
    // An export is a pass of the graph that overwrites by reading, so it may come last.
    if (row.output != 0 && row.exported == 0 && row.kill != kNone) {
      const uint32_t passes[] = {row.kill};
      const uint32_t versions[] = {version};
      checked.Fail("EXPORT_NOT_LAST", {passes, versions},
                   "is wanted after the frame but overwritten in it");
    }
  }
}

}  // namespace

// Linear in accesses and versions, but for passes that use a chain several times.
void Validate(const Declarations& rows, const PassAccesses& accesses, const AccessFacts& facts,
              ValidateScratch& scratch, std::vector<GraphError>& errors) {
  const ValidationContext checked{.rows = rows, .accesses = accesses, .errors = errors};
  CheckPasses(checked, facts.any_shared, scratch);
  CheckAttachments(checked);
  CheckHostPasses(checked);
  CheckOutputs(checked);
}

}  // namespace kiln::graph
