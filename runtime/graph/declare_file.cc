// SPDX-License-Identifier: MIT
// FrameDescription -> declarations. Names may be used before the pass that makes them, so creates
// come first, then writes as soon as what they overwrite exists, then reads.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "runtime/graph/complete_access.h"
#include "runtime/graph/graph_file.h"

namespace kiln::graph {
namespace {

struct PendingWrite {
  size_t pass;
  size_t write;
};

}  // namespace

// The state of one declaration of the file.
struct FrameFile::Declaring {
  const FrameDescription& frame;
  Graph& graph;
  const Versions& last;
  std::vector<PassId> passes = {};
  Versions versions = {};
  std::map<std::string, size_t, std::less<>> makers = {};   // by version: pass
  std::map<std::string, size_t, std::less<>> by_name = {};  // resources

  void Fail(std::string_view code, std::string_view detail, std::vector<std::string> passes,
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
  void Reads();
  void Semaphores();
  void Outputs() const;
};

namespace {

std::string Quoted(std::string_view name) { return fmt::format("'{}'", name); }

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

const FileResource* FrameFile::Declaring::Root(std::string_view name) const {
  std::string current(name);
  std::set<std::string> seen;
  while (seen.insert(current).second) {
    std::optional<std::string> old;
    for (const FilePass& pass : frame.passes) {
      for (const FileAccess& write : pass.writes) {
        if (write.result == current) {
          old = write.resource;
        }
      }
    }
    if (!old.has_value()) {
      break;
    }
    current = *old;
  }
  return Describe(current);
}

Keep FrameFile::Declaring::KeepOf(bool temporal, std::string_view name) const {
  Keep keep{.next_frame = temporal};
  if (!temporal) {
    return keep;
  }
  for (const FilePass& pass : frame.passes) {
    for (const FileAccess& read : pass.reads) {
      const FileResource* resource = Describe(read.resource);
      if (resource != nullptr && !resource->previous.empty() && resource->previous == name) {
        keep.next_usage |= UsageOf(ElementaryAccesses(read.access.accesses));
      }
    }
  }
  return keep;
}

bool FrameFile::Declaring::Register(const std::string& name, const Version& version, size_t pass) {
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
    if (!resource.previous.empty()) {
      History(resource);
      continue;
    }
    if (!resource.imported) {
      continue;
    }
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
  const FileResource* root = Root(resource.previous);
  bool made = false;
  bool temporal = false;
  for (const FilePass& pass : frame.passes) {
    for (const FileAccess& write : pass.writes) {
      made = made || write.result == resource.previous;
      temporal = temporal || (write.result == resource.previous && write.temporal);
    }
    for (const FileAccess& create : pass.creates) {
      made = made || create.resource == resource.previous;
      temporal = temporal || (create.resource == resource.previous && create.temporal);
    }
  }
  if (!made || !temporal) {
    Fail(made ? "EXPIRED_HANDLE" : "UNKNOWN_HANDLE",
         fmt::format("resource '{}' is '{}' of the frame before, which {}", resource.name,
                     resource.previous, made ? "is not kept for the next frame" : "no pass makes"),
         {}, {resource.name, resource.previous});
    return;
  }
  const FileResource& desc = resource.described || root == nullptr ? resource : *root;
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
  if (versions.contains(create.resource)) {
    Register(create.resource, version, pass);
    return;
  }
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
  if (old == versions.end()) {
    return false;
  }
  if (versions.contains(write.result)) {
    Register(write.result, {}, pending.pass);
    return true;
  }
  // An import that states no layout has no contents to keep.
  const FileResource* import = Describe(write.resource);
  const bool blank = import != nullptr && import->imported && !import->states_layout;
  const Keep keep = KeepOf(write.temporal, write.result);
  Version version{.kind = old->second.kind, .texture = {}, .buffer = {}};
  if (version.kind == ResourceKind::kTexture) {
    version.texture = graph.WriteTexture(passes[pending.pass], {.name = write.result,
                                                                .texture = old->second.texture,
                                                                .access = write.access,
                                                                .discard = write.discard || blank,
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

void FrameFile::Declaring::Writes() {
  std::vector<PendingWrite> pending;
  for (size_t pass = 0; pass < frame.passes.size(); ++pass) {
    for (size_t write = 0; write < frame.passes[pass].writes.size(); ++write) {
      pending.push_back({pass, write});
    }
  }
  for (size_t before = pending.size() + 1; pending.size() < before;) {
    before = pending.size();
    std::erase_if(pending, [&](const PendingWrite& write) { return Write(write); });
  }
  if (!pending.empty()) {
    ReportUnresolved(pending);
  }
}

// Writes that overwrite what nobody makes, or what only follows from themselves.
void FrameFile::Declaring::ReportUnresolved(const std::vector<PendingWrite>& pending) const {
  const auto write_of = [&](const PendingWrite& item) -> const FileAccess& {
    return frame.passes[item.pass].writes[item.write];
  };
  for (const PendingWrite& start : pending) {
    // Back along the chain until a name that nobody makes, or one that was met before.
    std::vector<std::string> names;
    std::vector<std::string> resources;
    PendingWrite current = start;
    for (bool found = true; found && names.size() <= pending.size();) {
      names.push_back(frame.passes[current.pass].name);
      resources.push_back(write_of(current).resource);
      found = false;
      for (const PendingWrite& maker : pending) {
        if (!found && write_of(maker).result == write_of(current).resource) {
          current = maker;
          found = true;
        }
      }
      const bool closed = found && current.pass == start.pass && current.write == start.write;
      if (closed) {
        Fail("CYCLE",
             fmt::format("passes {} overwrite each other's results in a circle",
                         fmt::join(names, ", ")),
             names, resources);
        return;
      }
    }
  }
  for (const PendingWrite& item : pending) {
    const std::string& here = frame.passes[item.pass].name;
    const std::string& old = write_of(item).resource;
    const bool made = std::any_of(pending.begin(), pending.end(), [&](const PendingWrite& maker) {
      return write_of(maker).result == old;
    });
    if (!made) {
      Fail("UNKNOWN_HANDLE",
           fmt::format("pass '{}' writes {}, which nothing makes", here, Quoted(old)), {here},
           {old});
    }
  }
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

void FrameFile::Declare(Graph& graph) {
  graph.BeginFrame();
  Declaring declaring{.frame = description_, .graph = graph, .last = last_};
  for (const FilePass& pass : description_.passes) {
    declaring.passes.push_back(
        graph.CreatePass({.name = pass.name, .kind = pass.kind, .side_effect = pass.side_effect}));
    if (pass.kind != PassKind::kTransition) {
      graph.SetCallback(declaring.passes.back(),
                        [](runtime::Device&, const Resources&, CommandBuffer&) {});
    }
  }
  for (size_t i = 0; i < description_.resources.size(); ++i) {
    declaring.by_name.emplace(description_.resources[i].name, i);
  }
  declaring.Outside();
  declaring.Creates();
  declaring.Writes();
  declaring.Reads();
  declaring.Semaphores();
  declaring.Outputs();
  last_ = std::move(declaring.versions);
}

}  // namespace kiln::graph
