// SPDX-License-Identifier: MIT
#include "tests/support/random_frame.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace kiln::test {
namespace {

using graph::Access;
using graph::FileAccess;
using graph::FilePass;
using graph::FileResource;
using graph::FrameDescription;
using graph::PassKind;
using graph::ResourceKind;

// A chain while the frame is made up.
struct Chain {
  FileResource resource;
  std::vector<std::string> versions;  // the last one may be overwritten
  bool fixed = false;                 // kept for or from another frame, or written by the host
  bool undefined = false;             // an import without contents
  bool depth = false;
};

struct Use {
  VkPipelineStageFlags2 stages;
  VkAccessFlags2 accesses;
};

class Maker {
 public:
  Maker(uint64_t seed, const RandomFrameLimits& limits) : random_(seed), limits_(limits) {}

  FrameDescription Make() {
    const uint32_t passes =
        limits_.min_passes + random_.Below(limits_.max_passes - limits_.min_passes + 1);
    for (uint32_t i = random_.Below(limits_.plain ? 2 : 4); i > 0 && !limits_.plain; --i) {
      AddImport();
    }
    for (uint32_t i = 0; i < passes; ++i) {
      AddPass(i);
    }
    AddHistories();
    AddOutputs();
    frame_.frames = 3;
    frame_.lists_outputs = true;
    return std::move(frame_);
  }

 private:
  FileResource Describe(const std::string& name) {
    FileResource out;
    out.name = name;
    out.described = true;
    const bool texture = limits_.plain || random_.Chance(70);
    out.kind = texture ? ResourceKind::kTexture : ResourceKind::kBuffer;
    if (!texture) {
      out.buffer.size = uint64_t{256} << random_.Below(18);
      return out;
    }
    const bool depth = !limits_.plain && random_.Chance(20);
    constexpr VkFormat kColors[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT,
                                    VK_FORMAT_R8_UNORM};
    constexpr VkFormat kDepths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D32_SFLOAT_S8_UINT};
    out.texture.format = depth ? kDepths[random_.Below(2)] : kColors[random_.Below(3)];
    const uint32_t edge = 8U << random_.Below(9);
    out.texture.size = {edge, edge, 1};
    if (!limits_.plain) {
      out.texture.mips = 1 + random_.Below(3);
      out.texture.layers = 1 + random_.Below(2);
    }
    return out;
  }

  static bool IsDepth(const FileResource& resource) {
    return resource.texture.format == VK_FORMAT_D32_SFLOAT ||
           resource.texture.format == VK_FORMAT_D32_SFLOAT_S8_UINT;
  }

  void AddImport() {
    Chain chain;
    chain.resource = Describe(fmt::format("import{}", frame_.resources.size()));
    chain.resource.imported = true;
    chain.depth = IsDepth(chain.resource);
    Access& state = chain.resource.state;
    state.layout = random_.Chance(30)   ? VK_IMAGE_LAYOUT_UNDEFINED
                   : random_.Chance(50) ? VK_IMAGE_LAYOUT_GENERAL
                                        : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    chain.undefined =
        chain.resource.kind == ResourceKind::kTexture && state.layout == VK_IMAGE_LAYOUT_UNDEFINED;
    switch (random_.Below(4)) {
      case 0:
        break;
      case 1:
        state.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT;
        state.accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT;
        break;
      case 2:
        state.stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
        state.accesses = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
        break;
      default:
        state.stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
        break;
    }
    chain.versions.push_back(chain.resource.name);
    frame_.resources.push_back(chain.resource);
    chains_.push_back(std::move(chain));
  }

  Use ReadUse(PassKind kind, const Chain& chain) {
    const bool texture = chain.resource.kind == ResourceKind::kTexture;
    switch (kind) {
      case PassKind::kGraphics:
        if (chain.depth && !attachment_ && random_.Chance(40)) {
          attachment_ = true;
          return {VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT,
                  VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT};
        }
        if (!texture && random_.Chance(30)) {
          return {VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT,
                  VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT};
        }
        if (random_.Chance(20)) {
          return {0, VK_ACCESS_2_SHADER_STORAGE_READ_BIT};
        }
        return {random_.Chance(50) ? VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT
                                   : VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT,
                texture ? VK_ACCESS_2_SHADER_SAMPLED_READ_BIT : VK_ACCESS_2_UNIFORM_READ_BIT};
      case PassKind::kCompute:
        if (!texture && random_.Chance(20)) {
          return {0, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT};
        }
        return {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, texture && random_.Chance(60)
                                                            ? VK_ACCESS_2_SHADER_SAMPLED_READ_BIT
                                                            : VK_ACCESS_2_SHADER_STORAGE_READ_BIT};
      case PassKind::kTransfer:
        return {random_.Chance(50) ? VK_PIPELINE_STAGE_2_COPY_BIT
                                   : VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                VK_ACCESS_2_TRANSFER_READ_BIT};
      case PassKind::kHost:
      case PassKind::kTransition:
        break;
    }
    return {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_SAMPLED_READ_BIT};
  }

  Use WriteUse(PassKind kind, const Chain& chain) {
    const bool texture = chain.resource.kind == ResourceKind::kTexture;
    switch (kind) {
      case PassKind::kGraphics:
        if (chain.depth && !attachment_) {
          attachment_ = true;
          return {VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                      VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                  VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT};
        }
        if (texture && !chain.depth && !attachment_) {
          attachment_ = true;
          return {VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                  VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |
                      (random_.Chance(30) ? VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT : 0)};
        }
        return {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT};
      case PassKind::kCompute:
        return {0, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT |
                       (random_.Chance(30) ? VK_ACCESS_2_SHADER_STORAGE_READ_BIT : 0)};
      case PassKind::kTransfer:
        return {random_.Chance(30) ? VK_PIPELINE_STAGE_2_CLEAR_BIT : VkPipelineStageFlags2{0},
                VK_ACCESS_2_TRANSFER_WRITE_BIT};
      case PassKind::kHost:
      case PassKind::kTransition:
        break;
    }
    return {0, 0};
  }

  void ChooseRange(const Chain& chain, Access& access) {
    if (chain.resource.kind != ResourceKind::kTexture || limits_.plain || !random_.Chance(25)) {
      return;
    }
    const graph::TextureDesc& desc = chain.resource.texture;
    access.range.mip = static_cast<uint16_t>(random_.Below(desc.mips));
    access.range.mips = 1;
    if (random_.Chance(40)) {
      access.range.layer = static_cast<uint16_t>(random_.Below(desc.layers));
      access.range.layers = 1;
    }
  }

  void Create(FilePass& pass) {
    Chain chain;
    chain.resource = Describe(fmt::format("r{}", frame_.resources.size()));
    chain.depth = IsDepth(chain.resource);
    chain.versions.push_back(chain.resource.name);
    FileAccess create;
    create.resource = chain.resource.name;
    const Use use = WriteUse(pass.kind, chain);
    create.access.stages = use.stages;
    create.access.accesses = use.accesses;
    ChooseRange(chain, create.access);
    create.access.range.aspects = 0;
    if (!limits_.plain && random_.Chance(8)) {
      create.temporal = true;
      chain.fixed = true;
      kept_.push_back(chain.resource);
    } else if (!limits_.plain && random_.Chance(4) &&
               chain.resource.kind == ResourceKind::kBuffer) {
      chain.resource.buffer.memory = graph::MemoryKind::kReadback;
      chain.fixed = true;
      readback_.insert(chain.resource.name);
    }
    frame_.resources.push_back(chain.resource);
    used_.insert(chains_.size());
    chains_.push_back(std::move(chain));
    pass.creates.push_back(std::move(create));
  }

  // The chain that the pass has not used yet, or none.
  Chain* Choose() {
    for (int i = 0; i < 6 && !chains_.empty(); ++i) {
      const uint32_t recent = std::min<uint32_t>(static_cast<uint32_t>(chains_.size()), 8);
      const size_t index = random_.Chance(70)
                               ? chains_.size() - 1 - random_.Below(recent)
                               : random_.Below(static_cast<uint32_t>(chains_.size()));
      if (used_.insert(index).second) {
        return &chains_[index];
      }
    }
    return nullptr;
  }

  void Read(FilePass& pass) {
    Chain* chain = Choose();
    if (chain == nullptr || readback_.count(chain->resource.name) != 0) {
      return;
    }
    if (chain->undefined && chain->versions.size() == 1) {
      return;
    }
    FileAccess read;
    const bool older = random_.Chance(10) && chain->versions.size() > (chain->undefined ? 2U : 1U);
    read.resource = older ? chain->versions[chain->versions.size() - 2] : chain->versions.back();
    if (pass.kind == PassKind::kTransition) {
      read.access.layout = VK_IMAGE_LAYOUT_GENERAL;
      read.access.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT;
      read.access.accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT;
    } else {
      const Use use = ReadUse(pass.kind, *chain);
      read.access.stages = use.stages;
      read.access.accesses = use.accesses;
    }
    ChooseRange(*chain, read.access);
    pass.reads.push_back(std::move(read));
  }

  void Write(FilePass& pass) {
    Chain* chain = Choose();
    if (chain == nullptr || chain->fixed || pass.kind == PassKind::kTransition) {
      return;
    }
    FileAccess write;
    write.resource = chain->versions.back();
    write.result = fmt::format("{}.{}", chain->resource.name, chain->versions.size());
    const Use use = WriteUse(pass.kind, *chain);
    write.access.stages = use.stages;
    write.access.accesses = use.accesses;
    ChooseRange(*chain, write.access);
    write.discard = random_.Chance(15) || (chain->undefined && chain->versions.size() == 1);
    chain->versions.push_back(write.result);
    pass.writes.push_back(std::move(write));
  }

  void AddUpload(FilePass& pass) {
    Chain chain;
    chain.resource.name = fmt::format("r{}", frame_.resources.size());
    chain.resource.kind = ResourceKind::kBuffer;
    chain.resource.described = true;
    chain.resource.buffer = {.size = 4096, .memory = graph::MemoryKind::kUpload};
    chain.fixed = true;
    chain.versions.push_back(chain.resource.name);
    FileAccess create;
    create.resource = chain.resource.name;
    create.access.accesses = VK_ACCESS_2_HOST_WRITE_BIT;
    pass.creates.push_back(std::move(create));
    frame_.resources.push_back(chain.resource);
    chains_.push_back(std::move(chain));
  }

  void AddSemaphores(FilePass& pass) {
    if (random_.Chance(4)) {
      pass.waits.push_back({fmt::format("outside{}", semaphores_++), 0, 0});
    }
    if (random_.Chance(4)) {
      pass.signals.push_back({fmt::format("done{}", semaphores_++), 0, 0});
    }
    if (random_.Chance(5)) {
      pass.signals.push_back({"line", ++timeline_, 0});
    } else if (timeline_ > 0 && random_.Chance(5)) {
      pass.waits.push_back({"line", 1 + random_.Below(static_cast<uint32_t>(timeline_)), 0});
    }
  }

  void AddPass(uint32_t index) {
    FilePass pass;
    pass.name = fmt::format("p{}", index);
    const uint32_t kind = random_.Below(100);
    pass.kind = kind < 45                    ? PassKind::kGraphics
                : kind < 75 || limits_.plain ? PassKind::kCompute
                : kind < 92                  ? PassKind::kTransfer
                : kind < 96                  ? PassKind::kHost
                                             : PassKind::kTransition;
    pass.side_effect = random_.Chance(10);
    used_.clear();
    attachment_ = false;
    if (pass.kind == PassKind::kHost) {
      AddUpload(pass);
      frame_.passes.push_back(std::move(pass));
      return;
    }
    for (uint32_t i = 1 + random_.Below(4); i > 0; --i) {
      const uint32_t what = random_.Below(100);
      if (what < 30 && pass.kind != PassKind::kTransition) {
        Create(pass);
      } else if (what < 75) {
        Read(pass);
      } else {
        Write(pass);
      }
    }
    if (!limits_.plain) {
      AddSemaphores(pass);
    }
    frame_.passes.push_back(std::move(pass));
  }

  // Some pass reads what the last frame kept.
  void AddHistories() {
    for (const FileResource& kept : kept_) {
      if (!random_.Chance(70)) {
        continue;
      }
      FileResource history = kept;
      history.name = "last_" + kept.name;
      history.previous = kept.name;
      Chain chain;
      chain.resource = history;
      chain.depth = IsDepth(history);
      FilePass& pass = frame_.passes[random_.Below(static_cast<uint32_t>(frame_.passes.size()))];
      frame_.resources.push_back(history);
      if (pass.kind == PassKind::kHost || pass.kind == PassKind::kTransition) {
        continue;
      }
      attachment_ = true;
      FileAccess read;
      read.resource = history.name;
      const Use use = ReadUse(pass.kind, chain);
      read.access.stages = use.stages;
      read.access.accesses = use.accesses;
      ChooseRange(chain, read.access);
      pass.reads.push_back(std::move(read));
    }
  }

  void AddOutputs() {
    for (const Chain& chain : chains_) {
      if (!chain.undefined && random_.Chance(30)) {
        frame_.outputs.push_back(chain.versions.back());
      }
    }
  }

  Random random_;
  RandomFrameLimits limits_;
  FrameDescription frame_;
  std::vector<Chain> chains_;
  std::vector<FileResource> kept_;
  std::set<std::string> readback_;
  std::set<size_t> used_;    // chains of the current pass
  bool attachment_ = false;  // the current pass has one
  uint32_t semaphores_ = 0;
  uint64_t timeline_ = 0;
};

}  // namespace

FrameDescription RandomFrame(uint64_t seed, const RandomFrameLimits& limits) {
  return Maker(seed, limits).Make();
}

graph::PlanOptions RandomOptions(uint64_t seed) {
  Random random(seed ^ 0xABCDEF);
  graph::PlanOptions options;
  constexpr graph::Order kOrders[] = {graph::Order::kPriority, graph::Order::kDeclared,
                                      graph::Order::kRandom, graph::Order::kLevels};
  options.order = kOrders[random.Below(4)];
  options.seed = random.Next();
  options.effort = random.Chance(50) ? graph::Effort::kNormal : graph::Effort::kFast;
  options.barriers =
      random.Chance(80) ? graph::BarrierPlaces::kFewest : graph::BarrierPlaces::kAtUse;
  options.cull = random.Chance(70);
  options.alias = random.Chance(85);
  options.unify_reads = random.Chance(20);
  return options;
}

TypicalFrame MakeTypicalFrame(uint64_t seed, uint32_t passes) {
  Random random(seed);
  constexpr VkExtent3D kExtents[] = {
      {1920, 1080, 1}, {2560, 1440, 1}, {2048, 2048, 1}, {1024, 1024, 1}};
  constexpr VkFormat kFormats[] = {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8_UNORM,
                                   VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT,
                                   VK_FORMAT_R32G32B32A32_SFLOAT};
  TypicalFrame frame;
  for (uint32_t t = 0; t < passes; ++t) {
    TypicalFrame::Pass pass;
    pass.first_read = static_cast<uint32_t>(frame.reads.size());
    const auto read_from = [&](uint32_t source) {
      const TypicalFrame::Pass& made = frame.passes[source];
      const uint32_t texture = made.first_texture + random.Below(made.textures);
      const auto begin = frame.reads.begin() + pass.first_read;
      if (std::find(begin, frame.reads.end(), texture) == frame.reads.end()) {
        frame.reads.push_back(texture);
      }
    };
    if (t > 0 && random.Chance(80)) {
      read_from(t - 1);
    }
    constexpr uint32_t kReads[] = {0, 1, 1, 2};
    for (uint32_t i = kReads[random.Below(4)]; i > 0 && t > 0; --i) {
      const uint32_t recent = std::min(t, 6U);
      read_from(random.Chance(85) ? t - 1 - random.Below(recent) : random.Below(t));
    }
    pass.reads = static_cast<uint32_t>(frame.reads.size()) - pass.first_read;
    pass.first_texture = static_cast<uint32_t>(frame.textures.size());
    const uint32_t count = random.Below(10);
    for (uint32_t i = count < 6 ? 1 : count < 8 ? 2 : 3; i > 0; --i) {
      const VkExtent3D extent = kExtents[random.Below(4)];
      const uint32_t mip = random.Below(5);
      frame.textures.push_back({.format = kFormats[random.Below(5)],
                                .size = {extent.width >> mip, extent.height >> mip, 1}});
    }
    pass.textures = static_cast<uint32_t>(frame.textures.size()) - pass.first_texture;
    frame.passes.push_back(pass);
  }
  frame.ids.resize(frame.textures.size());
  return frame;
}

void Declare(TypicalFrame& frame, graph::Graph& graph) {
  graph.BeginFrame();
  for (const TypicalFrame::Pass& row : frame.passes) {
    const graph::PassId pass = graph.CreatePass({.name = "pass", .kind = PassKind::kCompute});
    graph.SetCallback(pass,
                      [](runtime::Device&, const graph::Resources&, graph::CommandBuffer&) {});
    for (uint32_t i = 0; i < row.reads; ++i) {
      graph.ReadTexture(pass, {.texture = frame.ids[frame.reads[row.first_read + i]],
                               .access = {.accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT}});
    }
    for (uint32_t i = row.first_texture; i < row.first_texture + row.textures; ++i) {
      frame.ids[i] =
          graph.CreateTexture(pass, {.name = "texture",
                                     .desc = frame.textures[i],
                                     .access = {.accesses = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT},
                                     .contents = {.kind = graph::ContentKind::kAllWritten},
                                     .keep = {}});
    }
  }
}

}  // namespace kiln::test
