// SPDX-License-Identifier: MIT
// Every broken rule has its name, and the frame after it is planned as if nothing had happened.
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"

namespace kiln::graph {
namespace {

constexpr Access kSampled{.stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                          .accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT};
constexpr Access kStorageWrite{.accesses = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT};
constexpr Access kColorWrite{.accesses = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
constexpr Contents kWritten{.kind = ContentKind::kAllWritten, .value = {}};

TextureDesc Square(uint32_t edge, VkFormat format = VK_FORMAT_R8G8B8A8_UNORM) {
  return {.format = format, .size = {edge, edge, 1}};
}

// A graph that is being declared, with short words for what tests declare.
struct Frame {
  Graph graph;

  PassId Pass(std::string_view name, PassKind kind = PassKind::kCompute) {
    const PassId pass = graph.CreatePass({.name = name, .kind = kind, .side_effect = true});
    if (kind != PassKind::kTransition) {
      graph.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
    }
    return pass;
  }
  TextureId Create(PassId pass, std::string_view name, Keep keep = {}) {
    return graph.CreateTexture(pass, {.name = name,
                                      .desc = Square(64),
                                      .access = kStorageWrite,
                                      .contents = kWritten,
                                      .keep = keep});
  }
  TextureId Write(PassId pass, std::string_view name, TextureId old) {
    return graph.WriteTexture(
        pass,
        {.name = name, .texture = old, .access = kStorageWrite, .discard = false, .keep = {}});
  }
  TextureId Import(std::string_view name, VkImageLayout layout) {
    TextureImport import;
    import.name = name;
    import.desc = Square(64);
    import.state.layout = layout;
    return graph.ImportTexture(import);
  }
  BufferId Buffer(PassId pass, std::string_view name, MemoryKind memory, Accesses accesses) {
    return graph.CreateBuffer(pass, {.name = name,
                                     .desc = {.size = 256, .memory = memory},
                                     .access = {.accesses = accesses},
                                     .contents = kWritten,
                                     .keep = {}});
  }
};

struct Rule {
  const char* name;
  const char* code;
  std::function<void(Frame&)> declare;
};

// NOLINTNEXTLINE(performance-no-int-to-ptr)
VkSemaphore FakeSemaphore(uintptr_t value) { return reinterpret_cast<VkSemaphore>(value); }
// NOLINTNEXTLINE(performance-no-int-to-ptr)
VkImage FakeImage(uintptr_t value) { return reinterpret_cast<VkImage>(value); }

const std::vector<Rule> kRules = {
    {"two passes need each other", "CYCLE",
     [](Frame& f) {
       const PassId a = f.Pass("a");
       const PassId b = f.Pass("b");
       const TextureId x = f.Create(a, "x");
       const TextureId y = f.Create(b, "y");
       f.graph.ReadTexture(a, {y, kSampled});
       f.graph.ReadTexture(b, {x, kSampled});
     }},
    {"two writers", "DOUBLE_WRITE",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.Write(f.Pass("b"), "x1", x);
       f.Write(f.Pass("c"), "x2", x);
     }},
    {"write after temporal", "WRITE_AFTER_TEMPORAL",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x", {.next_frame = true});
       f.Write(f.Pass("b"), "x1", x);
     }},
    {"write to history", "WRITE_AFTER_TEMPORAL",
     [](Frame& f) {
       const TextureId x =
           f.graph.HistoryTexture({.name = "h", .desc = Square(64), .previous = {}});
       f.Write(f.Pass("b"), "x1", x);
     }},
    {"read and write in one pass", "READ_AND_WRITE",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       const PassId b = f.Pass("b");
       f.graph.ReadTexture(b, {x, kSampled});
       f.Write(b, "x1", x);
     }},
    {"null handle", "UNKNOWN_HANDLE",
     [](Frame& f) {
       f.graph.ReadTexture(f.Pass("a"), {TextureId{}, kSampled});
     }},
    {"foreign handle", "UNKNOWN_HANDLE",
     [](Frame& f) {
       Frame other{.graph = Graph(7)};
       const TextureId x = other.Create(other.Pass("a"), "x");
       f.graph.ReadTexture(f.Pass("a"), {x, kSampled});
     }},
    {"handle of the last frame", "EXPIRED_HANDLE",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.graph.BeginFrame();
       f.graph.ReadTexture(f.Pass("a"), {x, kSampled});
     }},
    {"temporal handle of two frames ago", "EXPIRED_TEMPORAL_HANDLE",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x", {.next_frame = true});
       f.graph.BeginFrame();
       f.graph.BeginFrame();
       f.graph.ReadTexture(f.Pass("a"), {x, kSampled});
     }},
    {"fragment shader in compute", "STAGE_NOT_IN_PASS",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.graph.ReadTexture(f.Pass("b"), {x,
                                         {.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                          .accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT}});
     }},
    {"transfer read in a shader", "ACCESS_NOT_IN_STAGE",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.graph.ReadTexture(f.Pass("b"), {x, {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
     }},
    {"write bits in a read", "WRITE_BITS_IN_READ",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.graph.ReadTexture(f.Pass("b"), {x, kStorageWrite});
     }},
    {"no write bits in a write", "NO_WRITE_BITS",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.graph.WriteTexture(f.Pass("b"), {.name = "y", .texture = x, .access = kSampled});
     }},
    {"one texel in two layouts", "LAYOUT_CONFLICT",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       const PassId b = f.Pass("b");
       f.graph.ReadTexture(b, {x, kSampled});
       f.graph.ReadTexture(b, {x, {.accesses = VK_ACCESS_2_SHADER_STORAGE_READ_BIT}});
     }},
    {"neither access nor layout", "LAYOUT_MISSING",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.graph.ReadTexture(f.Pass("b", PassKind::kTransition), {x, {}});
     }},
    {"level that is not there", "RANGE_OUT_OF_BOUNDS",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       Access access = kSampled;
       access.range = {.mip = 1, .mips = 1};
       f.graph.ReadTexture(f.Pass("b"), {x, access});
     }},
    {"no texels", "ZERO_SIZE",
     [](Frame& f) {
       f.graph.CreateTexture(
           f.Pass("a"),
           {.name = "x", .desc = Square(0), .access = kStorageWrite, .contents = kWritten});
     }},
    {"no such format", "UNSUPPORTED_FORMAT",
     [](Frame& f) {
       f.graph.CreateTexture(f.Pass("a"), {.name = "x",
                                           .desc = Square(8, VK_FORMAT_UNDEFINED),
                                           .access = kStorageWrite,
                                           .contents = kWritten});
     }},
    {"storage without contents", "CONTENTS_UNSTATED",
     [](Frame& f) {
       f.graph.CreateTexture(f.Pass("a"),
                             {.name = "x", .desc = Square(8), .access = kStorageWrite});
     }},
    {"attachments of two sizes", "ATTACHMENT_MISMATCH",
     [](Frame& f) {
       const PassId a = f.Pass("a", PassKind::kGraphics);
       f.graph.CreateTexture(a, {.name = "x", .desc = Square(8), .access = kColorWrite});
       f.graph.CreateTexture(a, {.name = "y", .desc = Square(16), .access = kColorWrite});
     }},
    {"one image twice", "IMPORTED_TWICE",
     [](Frame& f) {
       TextureImport import;
       import.name = "x";
       import.desc = Square(8);
       import.image = FakeImage(64);
       f.graph.ImportTexture(import);
       f.graph.ImportTexture(import);
     }},
    {"write to an undefined import", "IMPORT_UNDEFINED",
     [](Frame& f) { f.Write(f.Pass("a"), "y", f.Import("x", VK_IMAGE_LAYOUT_UNDEFINED)); }},
    {"read of an undefined import", "IMPORT_UNDEFINED",
     [](Frame& f) {
       f.graph.ReadTexture(f.Pass("a"), {f.Import("x", VK_IMAGE_LAYOUT_UNDEFINED), kSampled});
     }},
    {"export in the middle", "EXPORT_NOT_LAST",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.Write(f.Pass("b"), "y", x);
       f.graph.ExportTexture(x, {.layout = VK_IMAGE_LAYOUT_GENERAL});
     }},
    {"write after export", "EXPORT_NOT_LAST",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       f.graph.ExportTexture(x, {.layout = VK_IMAGE_LAYOUT_GENERAL});
       f.Write(f.Pass("b"), "y", x);
     }},
    {"unannounced use of a temporal", "TEMPORAL_USAGE",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x", {.next_frame = true});
       f.graph.BeginFrame();
       f.graph.ReadTexture(f.Pass("a"), {x, {.accesses = VK_ACCESS_2_SHADER_STORAGE_READ_BIT}});
     }},
    {"temporal import", "TEMPORAL_KIND",
     [](Frame& f) {
       const TextureId x = f.Import("x", VK_IMAGE_LAYOUT_GENERAL);
       f.graph.WriteTexture(f.Pass("a"), {.name = "y",
                                          .texture = x,
                                          .access = kStorageWrite,
                                          .discard = false,
                                          .keep = {.next_frame = true}});
     }},
    {"binary semaphore waited for twice", "SEMAPHORE_TWICE",
     [](Frame& f) {
       f.graph.WaitSemaphore(f.Pass("a"), {.semaphore = FakeSemaphore(8)});
       f.graph.WaitSemaphore(f.Pass("b"), {.semaphore = FakeSemaphore(8)});
     }},
    {"value zero", "SEMAPHORE_VALUE",
     [](Frame& f) {
       f.graph.SignalSemaphore(f.Pass("a"), {.semaphore = FakeSemaphore(8), .timeline = true});
     }},
    {"one value twice", "SEMAPHORE_VALUE",
     [](Frame& f) {
       const SemaphoreUse use{.semaphore = FakeSemaphore(8), .timeline = true, .value = 3};
       f.graph.SignalSemaphore(f.Pass("a"), use);
       f.graph.SignalSemaphore(f.Pass("b"), use);
     }},
    {"host after device", "HOST_AFTER_DEVICE",
     [](Frame& f) {
       const BufferId x = f.Buffer(f.Pass("h", PassKind::kHost), "x", MemoryKind::kUpload,
                                   VK_ACCESS_2_HOST_WRITE_BIT);
       f.graph.ReadBuffer(f.Pass("d"), {x, {.accesses = VK_ACCESS_2_UNIFORM_READ_BIT}});
       f.graph.WriteBuffer(
           f.Pass("h2", PassKind::kHost),
           {.name = "y", .buffer = x, .access = {.accesses = VK_ACCESS_2_HOST_WRITE_BIT}});
     }},
    {"host reads what the device wrote", "HOST_AFTER_DEVICE",
     [](Frame& f) {
       const BufferId x =
           f.Buffer(f.Pass("d"), "x", MemoryKind::kReadback, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
       f.graph.ReadBuffer(f.Pass("h", PassKind::kHost),
                          {x, {.accesses = VK_ACCESS_2_HOST_READ_BIT}});
     }},
    {"texture on the host", "HOST_TEXTURE",
     [](Frame& f) {
       f.graph.CreateTexture(f.Pass("h", PassKind::kHost),
                             {.name = "x",
                              .desc = Square(8),
                              .access = {.accesses = VK_ACCESS_2_HOST_WRITE_BIT},
                              .contents = kWritten});
     }},
    {"device writes upload memory", "MEMORY_KIND",
     [](Frame& f) {
       f.Buffer(f.Pass("d"), "x", MemoryKind::kUpload, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
     }},
    {"host writes device memory", "MEMORY_KIND",
     [](Frame& f) {
       f.Buffer(f.Pass("h", PassKind::kHost), "x", MemoryKind::kDevice, VK_ACCESS_2_HOST_WRITE_BIT);
     }},
    {"no callback", "CALLBACK_MISSING",
     [](Frame& f) {
       f.graph.CreatePass({.name = "a", .kind = PassKind::kCompute, .side_effect = true});
     }},
    {"callback of a transition", "CALLBACK_ON_TRANSITION",
     [](Frame& f) {
       f.graph.SetCallback(f.Pass("t", PassKind::kTransition),
                           [](runtime::Device&, const Resources&, CommandBuffer&) {});
     }},
    {"two callbacks", "CALLBACK_TWICE",
     [](Frame& f) {
       f.graph.SetCallback(f.Pass("a"), [](runtime::Device&, const Resources&, CommandBuffer&) {});
     }},
    {"presenting depth", "PRESENT_FORMAT",
     [](Frame& f) {
       const TextureId x = f.graph.CreateTexture(
           f.Pass("a", PassKind::kGraphics),
           {.name = "x",
            .desc = Square(8, VK_FORMAT_D32_SFLOAT),
            .access = {.accesses = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT}});
       Presentation presentation;
       presentation.image.name = "swapchain";
       presentation.image.desc = Square(8);
       presentation.texture = x;
       f.graph.Present(presentation);
     }},
    {"presenting twice", "PRESENT_TWICE",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       Presentation presentation;
       presentation.image.name = "swapchain";
       presentation.image.desc = Square(8);
       presentation.texture = x;
       presentation.acquire = FakeSemaphore(8);
       presentation.present = FakeSemaphore(16);
       f.graph.Present(presentation);
       f.graph.Present(presentation);
     }},
    {"too many passes", "PASS_LIMIT",
     [](Frame& f) {
       for (uint32_t i = 0; i <= kMaxPasses; ++i) {
         f.graph.CreatePass({.name = "t", .kind = PassKind::kTransition});
       }
     }},
    {"too many accesses", "RESOURCE_LIMIT",
     [](Frame& f) {
       const TextureId x = f.Create(f.Pass("a"), "x");
       const PassId b = f.Pass("b");
       for (uint32_t i = 0; i <= kMaxAccesses; ++i) {
         f.graph.ReadTexture(b, {x, kSampled});
       }
     }},
};

TEST(GraphErrors, EveryBrokenRule_HasItsName) {
  TexelModel model;
  for (const Rule& rule : kRules) {
    Frame frame;
    frame.graph.BeginFrame();
    rule.declare(frame);
    Planner planner(model);
    const auto plan = planner.Compile(frame.graph, {}, Carried{});
    ASSERT_FALSE(plan.ok()) << rule.name;
    EXPECT_EQ(plan.error().reason, rule.code) << rule.name << ": " << plan.error().context;
    ASSERT_FALSE(planner.errors().empty()) << rule.name;
    const GraphError& error = planner.errors().front();
    EXPECT_EQ(error.code, rule.code) << rule.name;
    EXPECT_TRUE(error.message.starts_with(std::string(rule.code) + ": ")) << error.message;
    for (const std::string& name : error.passes) {
      EXPECT_THAT(error.message, ::testing::HasSubstr("'" + name + "'")) << rule.name;
    }
    // The same objects go on.
    frame.graph.BeginFrame();
    frame.Create(frame.Pass("fine"), "texture");
    EXPECT_TRUE(planner.Compile(frame.graph, {}, Carried{}).ok()) << rule.name;
  }
}

TEST(GraphErrors, Cycle_NamesItsPassesAndNoOthers) {
  Frame f;
  f.graph.BeginFrame();
  const PassId a = f.Pass("a");
  const PassId b = f.Pass("b");
  const PassId after = f.Pass("after");
  const TextureId x = f.Create(a, "x");
  const TextureId y = f.Create(b, "y");
  f.graph.ReadTexture(a, {y, kSampled});
  f.graph.ReadTexture(b, {x, kSampled});
  f.graph.ReadTexture(after, {x, kSampled});
  TexelModel model;
  Planner planner(model);
  ASSERT_FALSE(planner.Compile(f.graph, {}, Carried{}).ok());
  EXPECT_THAT(planner.errors()[0].passes, ::testing::UnorderedElementsAre("a", "b"));
  EXPECT_THAT(planner.errors()[0].resources, ::testing::UnorderedElementsAre("x", "y"));
}

TEST(GraphErrors, SeveralMistakes_AreReportedTogether) {
  Frame f;
  f.graph.BeginFrame();
  const PassId a = f.Pass("a");
  const TextureId x = f.graph.CreateTexture(a, {.name = "x", .desc = Square(0)});
  f.graph.ReadTexture(f.Pass("b"), {x, kSampled});  // poisoned: says nothing further
  f.graph.ReadTexture(f.Pass("c"), {TextureId{}, kSampled});
  TexelModel model;
  Planner planner(model);
  ASSERT_FALSE(planner.Compile(f.graph, {}, Carried{}).ok());
  ASSERT_EQ(planner.errors().size(), 2U);
  EXPECT_EQ(planner.errors()[0].code, "ZERO_SIZE");
  EXPECT_EQ(planner.errors()[1].code, "UNKNOWN_HANDLE");
  EXPECT_THAT(planner.errors()[0].where.file, ::testing::EndsWith("errors_test.cc"));
}

TEST(GraphErrors, MoreThanThirtyTwoMistakes_AreCutOff) {
  Frame f;
  f.graph.BeginFrame();
  for (int i = 0; i < 40; ++i) {
    f.graph.CreateTexture(f.Pass("a"), {.name = "x", .desc = Square(0)});
  }
  TexelModel model;
  Planner planner(model);
  ASSERT_FALSE(planner.Compile(f.graph, {}, Carried{}).ok());
  EXPECT_EQ(planner.errors().size(), 32U);
}

// What can be said in a file.
struct FileRule {
  const char* code;
  const char* json;
};

TEST(GraphFile, EveryBrokenRule_HasItsName) {
  constexpr FileRule kFiles[] = {
      {"UNKNOWN_HANDLE",
       R"({"resources": [], "passes": [{"name": "p", "type": "compute", "reads": [{"resource": "x", "access": "SHADER_SAMPLED_READ"}]}], "outputs": []})"},
      {"DOUBLE_WRITE",
       R"({"resources": [{"name": "x", "kind": "buffer", "bytes": 16}], "passes": [
         {"name": "p", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]},
         {"name": "q", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": []})"},
      {"CYCLE",
       R"({"resources": [{"name": "x", "kind": "buffer", "bytes": 16}, {"name": "y", "kind": "buffer", "bytes": 16}], "passes": [
         {"name": "p", "type": "compute", "reads": [{"resource": "y", "access": "SHADER_STORAGE_READ"}], "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]},
         {"name": "q", "type": "compute", "reads": [{"resource": "x", "access": "SHADER_STORAGE_READ"}], "creates": [{"resource": "y", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": []})"},
      {"CYCLE",
       R"({"passes": [
         {"name": "p", "type": "compute", "writes": [{"old": "a", "new": "b", "access": "SHADER_STORAGE_WRITE"}]},
         {"name": "q", "type": "compute", "writes": [{"old": "b", "new": "a", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": []})"},
      {"EXPIRED_HANDLE",
       R"({"resources": [{"name": "x", "kind": "buffer", "bytes": 16}, {"name": "h", "kind": "buffer", "bytes": 16, "from_previous_frame": "x"}],
         "passes": [{"name": "p", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}], "reads": [{"resource": "h", "access": "SHADER_STORAGE_READ"}]}], "outputs": ["x"]})"},
      {"IMPORT_UNDEFINED",
       R"({"resources": [{"name": "x", "format": "RGBA8", "width": 4, "height": 4, "imported": true, "initial_layout": "UNDEFINED"}],
         "passes": [{"name": "p", "type": "compute", "writes": [{"old": "x", "new": "y", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": []})"},
      {"UNSUPPORTED_FORMAT",
       R"({"resources": [{"name": "x", "format": "RGB17", "width": 4, "height": 4}], "passes": [
         {"name": "p", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": []})"},
      {"EXPORT_NOT_LAST",
       R"({"resources": [{"name": "x", "kind": "buffer", "bytes": 16}], "passes": [
         {"name": "p", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]},
         {"name": "q", "type": "compute", "writes": [{"old": "x", "new": "y", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": ["x"]})"},
  };
  TexelModel model;
  for (const FileRule& row : kFiles) {
    Result<FrameDescription> description = ParseFrame(row.json);
    ASSERT_TRUE(description.ok()) << description.error().context;
    FrameFile file(std::move(description).value());
    Graph graph;
    file.Declare(graph);
    Planner planner(model);
    const auto plan = planner.Compile(graph, {}, Carried{});
    ASSERT_FALSE(plan.ok()) << row.json;
    EXPECT_EQ(plan.error().reason, row.code) << plan.error().context;
  }
}

TEST(GraphFile, MalformedText_IsNoFrame) {
  for (const char* text :
       {"", "[]", "{\"passes\": 3}", "{\"passes\": [{}]}",
        R"({"passes": [{"name": "p", "type": "magic"}]})",
        R"({"passes": [{"name": "p", "reads": [{"resource": "x", "stage": "MOON"}]}]})",
        R"({"resources": [{"name": "x", "kind": "cloud"}]})"}) {
    const auto frame = ParseFrame(text);
    ASSERT_FALSE(frame.ok()) << text;
    EXPECT_EQ(frame.error().reason, "MALFORMED_FILE") << text;
  }
}

}  // namespace
}  // namespace kiln::graph
