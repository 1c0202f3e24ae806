// SPDX-License-Identifier: MIT
// Frames on a device: every image holds one number per texel, passes move halves and quarters of
// images about, and what is read back must equal the same done on the host in declaration order.
// The validation layer with its synchronisation checks must stay silent. spec/graph 13.4 to 13.6
#include <array>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "tests/gpu/validated_device.h"
#include "tests/support/random_frame.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kEdge = 16;
constexpr uint64_t kTexels = uint64_t{kEdge} * kEdge;
using Texels = std::array<uint32_t, kTexels>;

using GraphDevice = ValidatedDevice;

TextureDesc Image() { return {.format = VK_FORMAT_R32_UINT, .size = {kEdge, kEdge, 1}}; }

// A rectangle of an image in halves or quarters.
struct Part {
  int32_t x = 0;
  int32_t y = 0;
  uint32_t width = kEdge;
  uint32_t height = kEdge;
};

void CopyPart(const Texels& from, Texels& to, const Part& part) {
  for (uint32_t y = 0; y < part.height; ++y) {
    for (uint32_t x = 0; x < part.width; ++x) {
      const size_t at = (static_cast<size_t>(part.y) + y) * kEdge + static_cast<size_t>(part.x) + x;
      to[at] = from[at];
    }
  }
}

void RecordCopy(CommandBuffer& commands, const BoundTexture& from, const BoundTexture& to,
                const Part& part) {
  const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  const VkImageCopy region = {
      layers, {part.x, part.y, 0}, layers, {part.x, part.y, 0}, {part.width, part.height, 1}};
  commands.table().CmdCopyImage(commands.handle(), from.image, from.layout, to.image, to.layout, 1,
                                &region);
}

// A frame that exists twice: as declarations, and as texels on the host.
class Script {
 public:
  explicit Script(uint64_t seed) : seed_(seed) {}

  // Declares frame number `frame`; what must be read back is in `expected`.
  void Declare(Graph& graph, uint32_t frame) {
    test::Random random(seed_);
    graph.BeginFrame();
    ids_.clear();
    texels_.clear();
    outputs_.clear();
    AddHistory(graph);
    const uint32_t passes = 6 + random.Below(18);
    for (uint32_t i = 0; i < passes; ++i) {
      const uint32_t what = ids_.size() < 2 ? 0 : random.Below(10);
      if (what < 3) {
        Fill(graph, frame * 1000 + i);
      } else if (what < 7) {
        Join(graph, random);
      } else {
        Patch(graph, random);
      }
    }
    Keep(graph);
    for (size_t i = 0; i < ids_.size(); i += 2) {
      ReadBack(graph, i);
    }
  }

  struct Output {
    BufferId buffer;
    Texels texels;
  };
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  PassId Pass(Graph& graph, const char* name) {
    return graph.CreatePass({.name = name, .kind = PassKind::kTransfer});
  }
  TextureId CreateIn(Graph& graph, PassId pass, VkPipelineStageFlags2 stage,
                     bool temporal = false) {
    return graph.CreateTexture(
        pass, {.name = "image",
               .desc = Image(),
               .access = {.stages = stage, .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
               .contents = {.kind = ContentKind::kAllWritten},
               .keep = {.next_frame = temporal}});
  }
  void ReadIn(Graph& graph, PassId pass, TextureId id) {
    graph.ReadTexture(
        pass,
        {id, {.stages = VK_PIPELINE_STAGE_2_COPY_BIT, .accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
  }

  void AddHistory(Graph& graph) {
    VkClearValue initial{};
    initial.color.uint32[0] = 99;
    ids_.push_back(graph.HistoryTexture(
        {.name = "history", .desc = Image(), .initial = initial, .previous = kept_}));
    if (!has_history_) {
      history_.fill(99);
    }
    texels_.push_back(history_);
    fixed_ = 1;
  }

  void Fill(Graph& graph, uint32_t value) {
    const PassId pass = Pass(graph, "fill");
    const TextureId id = CreateIn(graph, pass, VK_PIPELINE_STAGE_2_CLEAR_BIT);
    graph.SetCallback(
        pass, [id, value](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
          const BoundTexture image = resources.Texture(id);
          VkClearColorValue color{};
          color.uint32[0] = value;
          const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
          commands.table().CmdClearColorImage(commands.handle(), image.image, image.layout, &color,
                                              1, &range);
        });
    ids_.push_back(id);
    texels_.emplace_back().fill(value);
  }

  // A new image from the left half of one and the right half of another.
  void Join(Graph& graph, test::Random& random) {
    const size_t a = random.Below(static_cast<uint32_t>(ids_.size()));
    const size_t b = random.Below(static_cast<uint32_t>(ids_.size()));
    const PassId pass = Pass(graph, "join");
    const TextureId left = ids_[a];
    const TextureId right = ids_[b];
    const TextureId id = CreateIn(graph, pass, VK_PIPELINE_STAGE_2_COPY_BIT);
    ReadIn(graph, pass, left);
    ReadIn(graph, pass, right);
    graph.SetCallback(
        pass, [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
          RecordCopy(commands, resources.Texture(left), resources.Texture(id), kLeft);
          RecordCopy(commands, resources.Texture(right), resources.Texture(id), kRight);
        });
    Texels made{};
    CopyPart(texels_[a], made, kLeft);
    CopyPart(texels_[b], made, kRight);
    ids_.push_back(id);
    texels_.push_back(made);
  }

  // Overwrites a quarter of an image; the rest must survive.
  void Patch(Graph& graph, test::Random& random) {
    const size_t a = random.Below(static_cast<uint32_t>(ids_.size()));
    const size_t b = fixed_ + random.Below(static_cast<uint32_t>(ids_.size() - fixed_));
    if (a == b) {
      return;
    }
    const PassId pass = Pass(graph, "patch");
    const TextureId from = ids_[a];
    const TextureId id =
        graph.WriteTexture(pass, {.name = "patched",
                                  .texture = ids_[b],
                                  .access = {.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                                             .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                  .discard = false,
                                  .keep = {}});
    ReadIn(graph, pass, from);
    graph.SetCallback(
        pass, [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
          RecordCopy(commands, resources.Texture(from), resources.Texture(id), kQuarter);
        });
    CopyPart(texels_[a], texels_[b], kQuarter);
    ids_[b] = id;
  }

  // The last image is kept for the next frame.
  void Keep(Graph& graph) {
    const size_t a = ids_.size() - 1;
    const PassId pass = Pass(graph, "keep");
    const TextureId from = ids_[a];
    const TextureId id = CreateIn(graph, pass, VK_PIPELINE_STAGE_2_COPY_BIT, true);
    ReadIn(graph, pass, from);
    graph.SetCallback(
        pass, [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
          RecordCopy(commands, resources.Texture(from), resources.Texture(id), Part{});
        });
    kept_ = id;
    history_ = texels_[a];
    has_history_ = true;
  }

  void ReadBack(Graph& graph, size_t i) {
    const PassId pass = Pass(graph, "read back");
    const TextureId from = ids_[i];
    const BufferId buffer =
        graph.CreateBuffer(pass, {.name = "pixels",
                                  .desc = {.size = kTexels * 4, .memory = MemoryKind::kReadback},
                                  .access = {.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                                             .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                  .contents = {.kind = ContentKind::kAllWritten},
                                  .keep = {}});
    ReadIn(graph, pass, from);
    graph.SetCallback(
        pass, [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
          const BoundTexture image = resources.Texture(from);
          const BoundBuffer pixels = resources.Buffer(buffer);
          VkBufferImageCopy region{};
          region.bufferOffset = pixels.offset;
          region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
          region.imageExtent = {kEdge, kEdge, 1};
          commands.table().CmdCopyImageToBuffer(commands.handle(), image.image, image.layout,
                                                pixels.buffer, 1, &region);
        });
    graph.ExportBuffer(
        buffer, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
    outputs_.push_back({buffer, texels_[i]});
  }

  static constexpr Part kLeft{.width = kEdge / 2};
  static constexpr Part kRight{.x = kEdge / 2, .width = kEdge / 2};
  static constexpr Part kQuarter{.x = 4, .y = 4, .width = kEdge / 2, .height = kEdge / 2};

  uint64_t seed_;
  std::vector<TextureId> ids_;
  std::vector<Texels> texels_;
  std::vector<Output> outputs_;
  size_t fixed_ = 0;  // images that cannot be overwritten
  TextureId kept_;
  Texels history_{};
  bool has_history_ = false;
};

// Runs four frames and compares every output.
void RunScript(runtime::Device& device, uint64_t seed, const PlanOptions& options,
               const ExecutorConfig& config) {
  DeviceModel model(device);
  Planner planner(model);
  auto executor = Executor::Create(device, config);
  ASSERT_TRUE(executor.ok()) << ErrorText(executor.error());
  Graph graph;
  Script script(seed);
  for (uint32_t frame = 0; frame < 4; ++frame) {
    script.Declare(graph, frame);
    const auto plan = planner.Compile(graph, options, executor->carried());
    ASSERT_TRUE(plan.ok()) << plan.error().context;
    const auto ticket = executor->Execute(**plan, graph);
    ASSERT_TRUE(ticket.ok()) << ErrorText(ticket.error());
    ASSERT_TRUE(executor->Wait(*ticket, std::chrono::seconds(30)).ok());
    EXPECT_TRUE(executor->Done(*ticket));
    for (const Script::Output& output : script.outputs()) {
      const BoundBuffer pixels = executor->Readback(graph, output.buffer);
      ASSERT_NE(pixels.mapped, nullptr);
      EXPECT_EQ(std::memcmp(pixels.mapped, output.texels.data(), sizeof(Texels)), 0)
          << "seed " << seed << " frame " << frame;
    }
  }
}

TEST_F(GraphDevice, RandomFrames_HoldWhatTheHostComputes) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    RunScript(*gpu, seed, {}, {});
  }
}

TEST_F(GraphDevice, OtherOrdersAndPlacements_GiveTheSame) {
  for (uint64_t order = 1; order <= 8; ++order) {
    RunScript(*gpu, 11, {.order = Order::kRandom, .seed = order}, {});
  }
  const PlanOptions options[] = {{.order = Order::kDeclared},
                                 {.effort = Effort::kFast},
                                 {.barriers = BarrierPlaces::kAtUse},
                                 {.cull = false},
                                 {.alias = false}};
  for (const PlanOptions& option : options) {
    RunScript(*gpu, 11, option, {.frames_in_flight = 3});
  }
}

TEST_F(GraphDevice, PassesSubmittedOneByOne_GiveTheSame) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    RunScript(*gpu, seed, {}, {.immediate = true});
  }
}

TEST_F(GraphDevice, SeveralRecordingThreads_GiveTheSame) {
  for (const uint32_t threads : {2U, 4U}) {
    RunScript(*gpu, 7, {}, {.record_threads = threads, .timestamps = true, .markers = true});
  }
}

TEST_F(GraphDevice, Timestamps_NameEveryPassInPlanOrder) {
  DeviceModel model(*gpu);
  Planner planner(model);
  auto executor = Executor::Create(*gpu, {.timestamps = true});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  Script script(5);
  std::vector<std::string> order;
  for (uint32_t frame = 0; frame < 6; ++frame) {
    script.Declare(graph, frame);
    const auto plan = planner.Compile(graph, {}, executor->carried());
    ASSERT_TRUE(plan.ok());
    ASSERT_TRUE(executor->Execute(**plan, graph).ok());
    order.clear();
    for (uint32_t position = 0; position < (*plan)->device_passes(); ++position) {
      order.emplace_back(graph.rows().PassName((*plan)->PassAt(position)));
    }
  }
  std::vector<std::string> timed;
  for (const PassTime& pass : executor->PassTimes()) {
    timed.push_back(pass.name);
    EXPECT_GE(pass.begin_ns, 0);
    EXPECT_GE(pass.nanoseconds, 0);
  }
  EXPECT_EQ(timed, order);
  EXPECT_EQ(executor->record_times().Summarize().frames, 6U);
}

TEST_F(GraphDevice, PoisonedCreates_ShowWhatNobodyWrote) {
  DeviceModel model(*gpu);
  Planner planner(model);
  auto executor = Executor::Create(*gpu, {});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  graph.SetPoison(true);
  graph.BeginFrame();
  const Access copied{.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                      .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT};
  const PassId lazy = graph.CreatePass({.name = "lazy", .kind = PassKind::kTransfer});
  graph.SetCallback(lazy, [](runtime::Device&, const Resources&, CommandBuffer&) {});
  const BufferId bytes = graph.CreateBuffer(
      lazy, {"bytes", {.size = 64}, copied, {.kind = ContentKind::kAllWritten}, {}});
  const PassId out = graph.CreatePass({.name = "out", .kind = PassKind::kTransfer});
  graph.ReadBuffer(
      out,
      {bytes, {.stages = VK_PIPELINE_STAGE_2_COPY_BIT, .accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
  const BufferId read = graph.CreateBuffer(out, {"read",
                                                 {.size = 64, .memory = MemoryKind::kReadback},
                                                 copied,
                                                 {.kind = ContentKind::kAllWritten},
                                                 {}});
  graph.SetCallback(
      out, [bytes, read](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
        const BoundBuffer from = resources.Buffer(bytes);
        const BoundBuffer to = resources.Buffer(read);
        const VkBufferCopy region = {from.offset, to.offset, 64};
        commands.table().CmdCopyBuffer(commands.handle(), from.buffer, to.buffer, 1, &region);
      });
  graph.ExportBuffer(
      read, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
  const auto plan = planner.Compile(graph, {}, executor->carried());
  ASSERT_TRUE(plan.ok()) << plan.error().context;
  const auto ticket = executor->Execute(**plan, graph);
  ASSERT_TRUE(ticket.ok()) << ErrorText(ticket.error());
  ASSERT_TRUE(executor->Wait(*ticket, std::chrono::seconds(30)).ok());
  uint32_t word = 0;
  std::memcpy(&word, executor->Readback(graph, read).mapped + 60, sizeof(word));
  EXPECT_EQ(word, 0xDEADBEEFU);
}

TEST_F(GraphDevice, UndeclaredAccess_IsAnErrorAndNothingIsSubmitted) {
  DeviceModel model(*gpu);
  Planner planner(model);
  auto executor = Executor::Create(*gpu, {});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  graph.BeginFrame();
  const auto clear = [&](const char* name) {
    const PassId pass =
        graph.CreatePass({.name = name, .kind = PassKind::kTransfer, .side_effect = true});
    const TextureId id =
        graph.CreateTexture(pass, {.name = name,
                                   .desc = Image(),
                                   .access = {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                   .contents = {.kind = ContentKind::kAllWritten},
                                   .keep = {}});
    return std::pair(pass, id);
  };
  const auto [first, image] = clear("first");
  const auto [second, other] = clear("second");
  const TextureId foreign = image;
  graph.SetCallback(first, [](runtime::Device&, const Resources&, CommandBuffer&) {});
  graph.SetCallback(second, [foreign](runtime::Device&, const Resources& resources,
                                      CommandBuffer&) { (void)resources.Texture(foreign); });
  const auto plan = planner.Compile(graph, {}, executor->carried());
  ASSERT_TRUE(plan.ok());
  const auto ticket = executor->Execute(**plan, graph);
  ASSERT_FALSE(ticket.ok());
  EXPECT_EQ(ticket.error().reason, "UNDECLARED_ACCESS");
  EXPECT_EQ(executor->carried().frame, kNone);
}

TEST_F(GraphDevice, SteadyFrames_MakeNoObjects) {
  DeviceModel model(*gpu);
  Planner planner(model);
  auto executor = Executor::Create(*gpu, {});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  Script script(5);
  for (uint32_t frame = 0; frame < 24; ++frame) {
    script.Declare(graph, frame);
    const auto plan = planner.Compile(graph, {}, executor->carried());
    ASSERT_TRUE(plan.ok());
    ASSERT_TRUE(executor->Execute(**plan, graph).ok());
    if (frame > 2) {
      EXPECT_EQ(executor->metrics().images_created, 0U) << "frame " << frame;
    }
  }
  EXPECT_GE(planner.stats().hits, 12U);
}

}  // namespace
}  // namespace kiln::graph
