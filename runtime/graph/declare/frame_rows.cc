// SPDX-License-Identifier: MIT
// Tables of one frame while it is declared. Rows are appended and never moved, handles are their
// numbers, and two frames are kept so that handles of the last one can be told from those of this
// one.
#include "runtime/graph/declare/frame_rows.h"

#include <utility>

#include <fmt/format.h>

namespace kiln::graph {
namespace {

// More are not read, and a loop that declares wrongly would otherwise fill memory.
constexpr size_t kMaxErrors = 32;

}  // namespace

// The tables of the frame before become those of this one, with their memory. Only the last frame
// is kept, as handles live for one frame more.
void FrameRows::Begin() {
  std::swap(rows_, previous_);
  // The serial wraps around within its bits; the identity of the graph stays.
  rows_.frame = identity_ | ((previous_.frame + 1) & kSerialMask);
  rows_.passes.clear();
  rows_.accesses.clear();
  rows_.versions.clear();
  rows_.chains.clear();
  rows_.semaphore_uses.clear();
  rows_.presents.clear();
  rows_.semaphores.clear();
  rows_.semaphore_timeline.clear();
  rows_.bindings.clear();
  rows_.pass_notes.clear();
  rows_.version_notes.clear();
  rows_.semaphore_names.clear();
  rows_.text.clear();
  errors_.clear();
}

// Names lie one behind the other in one text, so a frame allocates none of them by itself.
NameRef FrameRows::KeepName(std::string_view name) {
  const NameRef ref = {static_cast<uint32_t>(rows_.text.size()),
                       static_cast<uint32_t>(name.size())};
  rows_.text.insert(rows_.text.end(), name.begin(), name.end());
  return ref;
}

// A chain begins with its first version, which whoever declares it gets as the handle.
uint32_t FrameRows::AddChain(const ChainRow& chain, const ChainBinding& binding,
                             std::string_view name) {
  const auto index = static_cast<uint32_t>(rows_.chains.size());
  rows_.chains.push_back(chain);
  rows_.bindings.push_back(binding);
  rows_.chains.back().first_version = static_cast<uint32_t>(rows_.versions.size());
  return AddVersion(name, index, kNone);
}

// A version knows who makes it; who kills it is set when somebody writes it.
uint32_t FrameRows::AddVersion(std::string_view name, uint32_t chain, uint32_t def) {
  const ChainRow& row = rows_.chains[chain];
  const int bits =
      (row.texture() ? kOfTexture : 0) | (row.object == Object::kImported ? kOfImport : 0);
  rows_.versions.push_back({.chain = chain,
                            .def = def,
                            .kill = kNone,
                            .temporal = 0,
                            .output = 0,
                            .exported = 0,
                            .bits = static_cast<uint8_t>(bits)});
  rows_.version_notes.push_back({.name = KeepName(name), .next_usage = 0});
  return static_cast<uint32_t>(rows_.versions.size() - 1);
}

// Numbers of passes have few bits in handles, hence the bound. Whoever gets kPoisoned may go on
// declaring; the frame has failed.
uint32_t FrameRows::AddPass(const PassDesc& desc, Origin origin, Where where) {
  if (rows_.passes.size() >= kMaxPasses) {
    Fail("PASS_LIMIT", fmt::format("a frame has at most {} passes", kMaxPasses), kNone, kNone,
         where);
    return kPoisoned;
  }
  rows_.passes.push_back({.kind = desc.kind,
                          .queue = desc.queue,
                          .side_effect = desc.side_effect ? uint8_t{1} : uint8_t{0},
                          .origin = origin});
  rows_.pass_notes.push_back({.name = KeepName(desc.name), .where = where, .callback = {}});
  return static_cast<uint32_t>(rows_.passes.size() - 1);
}

// The text has its code first, as all messages of the graph.
void FrameRows::Fail(std::string_view code, std::string_view detail, uint32_t pass,
                     uint32_t version, Where where) {
  // Messages name what is known: a version, a pass, or neither.
  GraphError error{
      .code = std::string(code), .message = {}, .passes = {}, .resources = {}, .where = where};
  error.message = fmt::format("{}:", code);
  if (version < rows_.versions.size()) {
    error.resources.emplace_back(rows_.VersionName(version));
    error.message += fmt::format(" version '{}'", rows_.VersionName(version));
  }
  if (pass < rows_.passes.size()) {
    error.passes.emplace_back(rows_.PassName(pass));
    error.message += fmt::format("{} pass '{}'", version < rows_.versions.size() ? " in" : "",
                                 rows_.PassName(pass));
  }
  error.message += " ";
  error.message += detail;
  AddError(std::move(error));
}

void FrameRows::AddError(GraphError error) {
  if (errors_.size() < kMaxErrors) {
    errors_.push_back(std::move(error));
  }
}

// The pass that was there first is named before the one that failed.
void FrameRows::NameFirstPass(const std::string& pass) {
  if (!errors_.empty()) {
    errors_.back().passes.insert(errors_.back().passes.begin(), pass);
  }
}

}  // namespace kiln::graph
