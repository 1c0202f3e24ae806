// SPDX-License-Identifier: MIT
#include "runtime/graph/graph.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kiln::graph {
namespace {

constexpr size_t kMaxErrors = 32;

}  // namespace

Graph::Graph(uint8_t identity) : identity_(uint32_t{identity} << kSerialBits) {
  rows_.frame = identity_;
}

void Graph::BeginFrame() {
  begun_ = Now();
  std::swap(rows_, previous_);
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
  revived_.assign(previous_.versions.size(), kNone);
  captured_.clear();
  errors_.clear();
}

void Graph::NameSemaphore(VkSemaphore semaphore, std::string_view name) {
  if (std::find(named_semaphores_.begin(), named_semaphores_.end(), semaphore) !=
      named_semaphores_.end()) {
    return;
  }
  named_semaphores_.push_back(semaphore);
  semaphore_names_.emplace_back(name);
}

void Graph::AddError(GraphError error) {
  if (errors_.size() < kMaxErrors) {
    errors_.push_back(std::move(error));
  }
}

NameRef Graph::KeepName(std::string_view name) {
  const NameRef ref = {static_cast<uint32_t>(rows_.text.size()),
                       static_cast<uint32_t>(name.size())};
  rows_.text.insert(rows_.text.end(), name.begin(), name.end());
  return ref;
}

void Graph::Fail(std::string_view code, std::string_view detail, uint32_t pass, uint32_t version,
                 Where where) {
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

uint32_t Graph::AddChain(const ChainRow& chain, const ChainBinding& binding,
                         std::string_view name) {
  const auto index = static_cast<uint32_t>(rows_.chains.size());
  rows_.chains.push_back(chain);
  rows_.bindings.push_back(binding);
  rows_.chains.back().first_version = static_cast<uint32_t>(rows_.versions.size());
  return AddVersion(name, index, kNone);
}

uint32_t Graph::AddVersion(std::string_view name, uint32_t chain, uint32_t def) {
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

uint32_t Graph::AddPass(const PassDesc& desc, Origin origin, Where where) {
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

PassId Graph::CreatePass(const PassDesc& desc, Where where) {
  return {.index = AddPass(desc, Origin::kUser, where), .frame = rows_.frame};
}

void* Graph::AddCallback(PassId pass_id, size_t size, CallbackFunction call, Where where) {
  const uint32_t pass = UsePass(pass_id, where);
  if (pass == kNone) {
    return nullptr;
  }
  if (rows_.passes[pass].kind == PassKind::kTransition) {
    Fail("CALLBACK_ON_TRANSITION", "has a callback, but a transition has no commands", pass, kNone,
         where);
    return nullptr;
  }
  CallbackRow& row = rows_.pass_notes[pass].callback;
  if (row.call != nullptr) {
    Fail("CALLBACK_TWICE", "has two callbacks", pass, kNone, where);
    return nullptr;
  }
  row.call = call;
  row.offset = static_cast<uint32_t>(captured_.size());
  captured_.resize(captured_.size() + (size + sizeof(CapturedBytes) - 1) / sizeof(CapturedBytes));
  return captured_.data() + row.offset;
}

}  // namespace kiln::graph
