// SPDX-License-Identifier: MIT
// FrameDescription -> declarations. Names may be used before the pass that makes them, so creates
// come first, then writes as soon as what they overwrite exists, then reads.
#include "runtime/graph/file/declare_file.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/graph/declare/complete_access.h"

namespace kiln::graph {
namespace {

struct PendingWrite {
  size_t pass;
  size_t write;
};

// What the file says about a version that some pass makes.
struct VersionOrigin {
  bool temporal = false;
  const std::string* old = nullptr;  // that it overwrites; null: created
};

}  // namespace

// The state of one declaration of the file.
// All tables of one declaration in one place. They hold views of the description, which outlives
// them.
struct FrameFile::Declaring {
  const FrameDescription& frame;
  Graph& graph;
  const Versions& last;
  std::vector<PassId> passes = {};
  Versions versions = {};
  std::map<std::string, size_t, std::less<>> makers = {};         // by version: pass
  std::map<std::string_view, size_t> by_name = {};                // resources
  std::map<std::string_view, VersionOrigin> made_by = {};         // by version
  std::map<std::string_view, VkImageUsageFlags> next_usage = {};  // by version

  void Index();
  // Errors of the file go where those of declarations go, so a caller sees one list.
  void Fail(std::string_view code, std::string_view detail, std::vector<std::string> names,
            std::vector<std::string> resources) const;
  const FileResource* Describe(std::string_view name) const;
  // The described resource at the beginning of the version's chain.
  const FileResource* Root(std::string_view name) const;
  // A kept version may be used as the file uses it in the next frame.
  Keep KeepOf(bool temporal, std::string_view name) const;
  bool Register(const std::string& name, const Version& version, size_t pass);
  void Outside();
  void History(const FileResource& resource);
  void Creates();
  void Create(size_t pass, const FileAccess& create);
  void Writes();
  bool Write(const PendingWrite& pending);
  void ReportUnresolved(const std::vector<PendingWrite>& pending) const;
  void ReportCircle(const std::vector<PendingWrite>& pending,
                    const std::map<std::string_view, size_t>& makers, size_t start) const;
  void Reads();
  void Semaphores();
  void Outputs() const;
};

namespace {

std::string Quoted(std::string_view name) { return fmt::format("'{}'", name); }

// Files name semaphores and have none. The planner only compares handles, so a number does.
VkSemaphore HandleOf(size_t ordinal) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a name, never given to Vulkan
  return reinterpret_cast<VkSemaphore>(ordinal + 1);
}

}  // namespace

void FrameFile::Declaring::Fail(std::string_view code, std::string_view detail,
                                std::vector<std::string> names,
                                std::vector<std::string> resources) const {
  graph.AddError({.code = std::string(code),
                  .message = fmt::format("{}: {}", code, detail),
                  .passes = std::move(names),
                  .resources = std::move(resources),
                  .where = {}});
}

const FileResource* FrameFile::Declaring::Describe(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &frame.resources[found->second];
}

// Who makes every version of the file, and how the next frame uses those that are kept.
void FrameFile::Declaring::Index() {
  for (size_t i = 0; i < frame.resources.size(); ++i) {
    by_name.emplace(frame.resources[i].name, i);
  }
  for (const FilePass& pass : frame.passes) {
    // The passes are looked at before anything is declared, since versions may be named before they
    // are made.
    for (const FileAccess& create : pass.creates) {
      VersionOrigin& made = made_by[create.resource];
      made.temporal = made.temporal || create.temporal;
    }
    for (const FileAccess& write : pass.writes) {
      // A name may be made twice by mistake; what is kept by one of the makers counts as kept.
      VersionOrigin& made = made_by[write.result];
      made.temporal = made.temporal || write.temporal;
      made.old = &write.resource;
    }
    // What the next frame does with a kept texture must be announced when it is made, as the usage
    // of an image cannot change later.
    for (const FileAccess& read : pass.reads) {
      const FileResource* resource = Describe(read.resource);
      if (resource != nullptr && !resource->previous.empty()) {
        next_usage[resource->previous] |= UsageOf(ElementaryAccesses(read.access.accesses));
      }
    }
  }
}

const FileResource* FrameFile::Declaring::Root(std::string_view name) const {
  // A file may overwrite in a circle, so what was seen is remembered; the circle itself is reported
  // elsewhere.
  std::set<std::string_view> seen;
  while (seen.insert(name).second) {
    const auto made = made_by.find(name);
    if (made == made_by.end() || made->second.old == nullptr) {
      break;
    }
    name = *made->second.old;
  }
  return Describe(name);
}

Keep FrameFile::Declaring::KeepOf(bool temporal, std::string_view name) const {
  Keep keep{.next_frame = temporal};
  const auto usage = next_usage.find(name);
  if (temporal && usage != next_usage.end()) {
    keep.next_usage |= usage->second;
  }
  return keep;
}

bool FrameFile::Declaring::Register(const std::string& name, const Version& version, size_t pass) {
  // The second writer is told and the first one stays, so that later uses have a version.
  if (!versions.emplace(name, version).second) {
    const std::string& here = frame.passes[pass].name;
    const auto maker = makers.find(name);
    const std::string other =
        maker == makers.end() ? std::string("the outside") : frame.passes[maker->second].name;
    Fail("DOUBLE_WRITE",
         fmt::format("version '{}' has two writers, '{}' and '{}'", name, other, here),
         {other, here}, {name});
    return false;
  }
  makers.emplace(name, pass);
  return true;
}

// Imports and histories.
void FrameFile::Declaring::Outside() {
  for (const FileResource& resource : frame.resources) {
    // A history is known by naming a version of the frame before.
    if (!resource.previous.empty()) {
      History(resource);
      continue;
    }
    if (!resource.imported) {
      continue;
    }
    // Only the handle of the kind is filled.
    Version version{.kind = resource.kind, .texture = {}, .buffer = {}};
    if (resource.kind == ResourceKind::kTexture) {
      TextureImport import;
      import.name = resource.name;
      import.desc = resource.texture;
      import.state = resource.state;
      version.texture = graph.ImportTexture(import);
    } else {
      BufferImport import;
      import.name = resource.name;
      import.desc = resource.buffer;
      import.state = resource.state;
      version.buffer = graph.ImportBuffer(import);
    }
    if (!versions.emplace(resource.name, version).second) {
      Fail("IMPORTED_TWICE", fmt::format("resource '{}' stands twice in the file", resource.name),
           {}, {resource.name});
    }
  }
}

void FrameFile::Declaring::History(const FileResource& resource) {
  // The version that is kept may be the last of several; what it is of is described at the first.
  const FileResource* root = Root(resource.previous);
  const auto maker = made_by.find(resource.previous);
  const bool made = maker != made_by.end();
  // Two different mistakes: nobody makes it, or it is made and not kept.
  if (!made || !maker->second.temporal) {
    Fail(made ? "EXPIRED_HANDLE" : "UNKNOWN_HANDLE",
         fmt::format("resource '{}' is '{}' of the frame before, which {}", resource.name,
                     resource.previous, made ? "is not kept for the next frame" : "no pass makes"),
         {}, {resource.name, resource.previous});
    return;
  }
  // A history may be described itself, or take the description of what it is the past of.
  const FileResource& desc = resource.described || root == nullptr ? resource : *root;
  // In the first frame there is no frame before, and the handle is null; the graph then resets the
  // history.
  const auto before = last.find(resource.previous);
  Version version{.kind = desc.kind, .texture = {}, .buffer = {}};
  if (desc.kind == ResourceKind::kTexture) {
    TextureHistory history;
    history.name = resource.name;
    history.desc = desc.texture;
    history.previous = before == last.end() ? TextureId{} : before->second.texture;
    version.texture = graph.HistoryTexture(history);
  } else {
    BufferHistory history;
    history.name = resource.name;
    history.desc = desc.buffer;
    history.previous = before == last.end() ? BufferId{} : before->second.buffer;
    version.buffer = graph.HistoryBuffer(history);
  }
  versions.emplace(resource.name, version);
}

void FrameFile::Declaring::Creates() {
  for (size_t pass = 0; pass < frame.passes.size(); ++pass) {
    for (const FileAccess& create : frame.passes[pass].creates) {
      Create(pass, create);
    }
  }
}

void FrameFile::Declaring::Create(size_t pass, const FileAccess& create) {
  const FileResource* resource = Describe(create.resource);
  const std::string& here = frame.passes[pass].name;
  if (resource == nullptr) {
    Fail("UNKNOWN_HANDLE",
         fmt::format("pass '{}' creates '{}', which 'resources' does not describe", here,
                     create.resource),
         {here}, {create.resource});
    return;
  }
  const Keep keep = KeepOf(create.temporal, create.resource);
  Version version{.kind = resource->kind, .texture = {}, .buffer = {}};
  // The second maker of a name is an error, which Register says with the names of both.
  if (versions.contains(create.resource)) {
    Register(create.resource, version, pass);
    return;
  }
  // Files have no clear values; the graph takes zeroes.
  const Contents contents{.kind = create.contents, .value = {}};
  if (resource->kind == ResourceKind::kTexture) {
    version.texture = graph.CreateTexture(passes[pass], {.name = resource->name,
                                                         .desc = resource->texture,
                                                         .access = create.access,
                                                         .contents = contents,
                                                         .keep = keep});
  } else {
    version.buffer = graph.CreateBuffer(passes[pass], {.name = resource->name,
                                                       .desc = resource->buffer,
                                                       .access = create.access,
                                                       .contents = contents,
                                                       .keep = keep});
  }
  Register(create.resource, version, pass);
}

// False: what it overwrites does not exist yet.
bool FrameFile::Declaring::Write(const PendingWrite& pending) {
  const FileAccess& write = frame.passes[pending.pass].writes[pending.write];
  const auto old = versions.find(write.resource);
  // Whether anybody makes it at all is told when all writes have been tried.
  if (old == versions.end()) {
    return false;
  }
  if (versions.contains(write.result)) {
    Register(write.result, {}, pending.pass);
    return true;
  }
  const Keep keep = KeepOf(write.temporal, write.result);
  Version version{.kind = old->second.kind, .texture = {}, .buffer = {}};
  if (version.kind == ResourceKind::kTexture) {
    version.texture = graph.WriteTexture(passes[pending.pass], {.name = write.result,
                                                                .texture = old->second.texture,
                                                                .access = write.access,
                                                                .discard = write.discard,
                                                                .keep = keep});
  } else {
    version.buffer = graph.WriteBuffer(passes[pending.pass], {.name = write.result,
                                                              .buffer = old->second.buffer,
                                                              .access = write.access,
                                                              .discard = write.discard,
                                                              .keep = keep});
  }
  Register(write.result, version, pending.pass);
  return true;
}

// Sweeps over the writes in the order of the file, each over those that the last one made possible.
void FrameFile::Declaring::Writes() {
  // In the order of the file: this is what the graph sees where nothing forces another one.
  std::vector<PendingWrite> writes;
  for (size_t pass = 0; pass < frame.passes.size(); ++pass) {
    for (size_t write = 0; write < frame.passes[pass].writes.size(); ++write) {
      writes.push_back({pass, write});
    }
  }
  // What cannot be written yet waits under the name of what it overwrites. So each write is tried
  // twice at most, however the file is ordered.
  std::map<std::string_view, std::vector<size_t>> waiting;  // by what they overwrite
  std::set<size_t> sweep;
  for (size_t i = 0; i < writes.size(); ++i) {
    sweep.insert(sweep.end(), i);
  }
  while (!sweep.empty()) {
    std::set<size_t> next;
    while (!sweep.empty()) {
      const size_t at = *sweep.begin();
      sweep.erase(sweep.begin());
      const FileAccess& write = frame.passes[writes[at].pass].writes[writes[at].write];
      if (!Write(writes[at])) {
        waiting[write.resource].push_back(at);
        continue;
      }
      // A write that stands further down is still done in this sweep; one that stands above waits
      // for the next. The order of declaration is thus the same for the same file.
      for (const size_t freed : std::exchange(waiting[write.result], {})) {
        (freed > at ? sweep : next).insert(freed);
      }
    }
    sweep = std::move(next);
  }
  // Sorted by their place in the file, as the tables are sorted by names.
  std::vector<size_t> stuck;
  for (const auto& [old, indices] : waiting) {
    stuck.insert(stuck.end(), indices.begin(), indices.end());
  }
  std::sort(stuck.begin(), stuck.end());
  std::vector<PendingWrite> pending;
  pending.reserve(stuck.size());
  for (const size_t index : stuck) {
    pending.push_back(writes[index]);
  }
  ReportUnresolved(pending);
}

// Writes that overwrite what nobody makes, or what only follows from themselves.
void FrameFile::Declaring::ReportUnresolved(const std::vector<PendingWrite>& pending) const {
  const auto write_of = [&](size_t item) -> const FileAccess& {
    return frame.passes[pending[item].pass].writes[pending[item].write];
  };
  std::map<std::string_view, size_t> makers;
  for (size_t i = 0; i < pending.size(); ++i) {
    // The first maker of a name counts; a second one is an error that was told.
    makers.emplace(write_of(i).result, i);
  }
  // Each walk follows the makers from one write. It ends where nothing is made, or where an earlier
  // walk was, or at itself: only the last is a circle, and every write is visited once.
  std::vector<size_t> walks(pending.size(), 0);  // which walk came here first
  for (size_t start = 0; start < pending.size(); ++start) {
    size_t current = start;
    while (walks[current] == 0) {
      walks[current] = start + 1;
      const auto maker = makers.find(write_of(current).resource);
      if (maker == makers.end()) {
        break;
      }
      current = maker->second;
    }
    // A walk that met an earlier one has no circle of its own.
    if (walks[current] == start + 1 && makers.contains(write_of(current).resource)) {
      ReportCircle(pending, makers, current);
      return;
    }
  }
  for (size_t i = 0; i < pending.size(); ++i) {
    const std::string& here = frame.passes[pending[i].pass].name;
    const std::string& old = write_of(i).resource;
    if (!makers.contains(old)) {
      Fail("UNKNOWN_HANDLE",
           fmt::format("pass '{}' writes {}, which nothing makes", here, Quoted(old)), {here},
           {old});
    }
  }
}

void FrameFile::Declaring::ReportCircle(const std::vector<PendingWrite>& pending,
                                        const std::map<std::string_view, size_t>& makers,
                                        size_t start) const {
  std::vector<std::string> names;
  std::vector<std::string> resources;
  size_t current = start;
  // From one write of the circle along those that make what it overwrites, back to itself.
  do {
    const FilePass& pass = frame.passes[pending[current].pass];
    const std::string& old = pass.writes[pending[current].write].resource;
    names.push_back(pass.name);
    resources.push_back(old);
    current = makers.at(old);
  } while (current != start);
  Fail("CYCLE",
       fmt::format("passes {} overwrite each other's results in a circle", fmt::join(names, ", ")),
       names, resources);
}

void FrameFile::Declaring::Reads() {
  for (size_t pass = 0; pass < frame.passes.size(); ++pass) {
    for (const FileAccess& read : frame.passes[pass].reads) {
      const auto version = versions.find(read.resource);
      if (version == versions.end()) {
        const std::string& here = frame.passes[pass].name;
        Fail("UNKNOWN_HANDLE",
             fmt::format("pass '{}' reads {}, which nothing makes", here, Quoted(read.resource)),
             {here}, {read.resource});
      } else if (version->second.kind == ResourceKind::kTexture) {
        graph.ReadTexture(passes[pass],
                          {.texture = version->second.texture, .access = read.access});
      } else {
        graph.ReadBuffer(passes[pass], {.buffer = version->second.buffer, .access = read.access});
      }
    }
  }
}

void FrameFile::Declaring::Semaphores() {
  std::map<std::string, size_t, std::less<>> ordinals;
  const auto use_of = [&](const FileSemaphoreUse& use) {
    const auto [at, added] = ordinals.emplace(use.semaphore, ordinals.size());
    if (added) {
      graph.NameSemaphore(HandleOf(at->second), use.semaphore);
    }
    return SemaphoreUse{.semaphore = HandleOf(at->second),
                        .timeline = use.value != 0,
                        .value = use.value,
                        .stages = use.stages};
  };
  for (size_t pass = 0; pass < frame.passes.size(); ++pass) {
    for (const FileSemaphoreUse& use : frame.passes[pass].waits) {
      graph.WaitSemaphore(passes[pass], use_of(use));
    }
    for (const FileSemaphoreUse& use : frame.passes[pass].signals) {
      graph.SignalSemaphore(passes[pass], use_of(use));
    }
  }
}

void FrameFile::Declaring::Outputs() const {
  for (const std::string& name : frame.outputs) {
    // An output that does not exist is an error of the file and not of any pass.
    const auto version = versions.find(name);
    if (version == versions.end()) {
      Fail("UNKNOWN_HANDLE", fmt::format("output {} is made by nothing", Quoted(name)), {}, {name});
    } else if (version->second.kind == ResourceKind::kTexture) {
      graph.MarkOutput(version->second.texture);
    } else {
      graph.MarkOutput(version->second.buffer);
    }
  }
}

// The steps depend on each other in this order: versions must exist before they are used.
void FrameFile::Declare(Graph& graph) {
  // Errors of the frame before are forgotten with it.
  graph.BeginFrame();
  Declaring declaring{.frame = description_, .graph = graph, .last = last_};
  for (const FilePass& pass : description_.passes) {
    declaring.passes.push_back(
        graph.CreatePass({.name = pass.name, .kind = pass.kind, .side_effect = pass.side_effect}));
    // A pass that is live must have a callback, and the file has no commands; so it gets one that
    // records nothing.
    if (pass.kind != PassKind::kTransition) {
      graph.SetCallback(declaring.passes.back(),
                        [](runtime::Device&, const Resources&, CommandBuffer&) {});
    }
  }
  declaring.Index();
  declaring.Outside();
  declaring.Creates();
  declaring.Writes();
  declaring.Reads();
  declaring.Semaphores();
  declaring.Outputs();
  // Handles of this frame are what the next one names as the frame before.
  last_ = std::move(declaring.versions);
}

}  // namespace kiln::graph
