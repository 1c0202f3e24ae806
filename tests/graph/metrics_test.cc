// SPDX-License-Identifier: MIT
// Every figure of a plan, counted by hand: frames that have something to count, and frames that
// have not. See spec/graph 11
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"

namespace kiln::graph {
namespace {

constexpr uint64_t kTexture = 16'384;  // RGBA8, 64 × 64
constexpr uint64_t kBlock = uint64_t{64} << 20;

PlanMetrics MetricsOf(const char* text, const PlanOptions& options, MemoryModel& model) {
  Result<FrameDescription> description = ParseFrame(text);
  EXPECT_TRUE(description.ok()) << description.error().context;
  FrameFile file(std::move(description).value());
  Planner planner(model);
  Graph graph;
  file.Declare(graph);
  const auto plan = planner.Compile(graph, options, {});
  EXPECT_TRUE(plan.ok()) << plan.error().context;
  return plan.ok() ? (*plan)->metrics : PlanMetrics{};
}

constexpr const char* kNothing = "{}";

// a makes t, b makes u of it, c makes v of that: v takes the bytes of t.
constexpr const char* kThree = R"({"resources": [
    {"name": "t", "format": "RGBA8", "width": 64, "height": 64},
    {"name": "u", "format": "RGBA8", "width": 64, "height": 64},
    {"name": "v", "format": "RGBA8", "width": 64, "height": 64}], "passes": [
    {"name": "a", "type": "compute", "creates": [{"resource": "t", "access": "SHADER_STORAGE_WRITE"}]},
    {"name": "b", "type": "compute", "reads": [{"resource": "t", "access": "SHADER_SAMPLED_READ"}],
     "creates": [{"resource": "u", "access": "SHADER_STORAGE_WRITE"}]},
    {"name": "c", "type": "compute", "reads": [{"resource": "u", "access": "SHADER_SAMPLED_READ"}],
     "creates": [{"resource": "v", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": ["v"]})";

// Three readers of one texture, declared before its maker; the last waits for the outside, and
// nobody needs the first.
constexpr const char* kReaders = R"({"resources": [
    {"name": "t", "format": "RGBA8", "width": 64, "height": 64},
    {"name": "x", "kind": "buffer", "bytes": 1000},
    {"name": "u", "kind": "buffer", "bytes": 1000},
    {"name": "v", "kind": "buffer", "bytes": 1000}], "passes": [
    {"name": "idle", "type": "compute", "reads": [{"resource": "t", "access": "SHADER_SAMPLED_READ"}],
     "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]},
    {"name": "b", "type": "compute", "reads": [{"resource": "t", "access": "SHADER_SAMPLED_READ"}],
     "creates": [{"resource": "u", "access": "SHADER_STORAGE_WRITE"}]},
    {"name": "c", "type": "compute", "reads": [{"resource": "t", "access": "SHADER_SAMPLED_READ"}],
     "creates": [{"resource": "v", "access": "SHADER_STORAGE_WRITE"}],
     "waits": [{"semaphore": "outside", "value": 1}]},
    {"name": "a", "type": "compute", "creates": [{"resource": "t", "access": "SHADER_STORAGE_WRITE"}]}],
    "outputs": ["u", "v"]})";

// Memory that the packer does not see.
constexpr const char* kApart = R"({"resources": [
    {"name": "up", "kind": "buffer", "bytes": 1000, "heap": "upload"},
    {"name": "down", "kind": "buffer", "bytes": 600, "heap": "readback"},
    {"name": "kept", "format": "RGBA8", "width": 64, "height": 64}], "passes": [
    {"name": "fill", "type": "host", "creates": [{"resource": "up", "access": "HOST_WRITE"}]},
    {"name": "copy", "type": "transfer", "reads": [{"resource": "up", "access": "TRANSFER_READ"}],
     "creates": [{"resource": "down", "access": "TRANSFER_WRITE"},
                 {"resource": "kept", "access": "TRANSFER_WRITE", "temporal": true}]}],
    "outputs": ["down"]})";

using Figures = std::map<std::string, uint64_t>;

Figures FiguresOf(const PlanMetrics& m) {
  return {{"no reuse", m.all.no_reuse},
          {"peak live", m.all.peak_live},
          {"peak epoch", m.all.peak_epoch},
          {"allocated", m.all.allocated},
          {"of images", m.images.allocated},
          {"of buffers", m.buffers.allocated},
          {"committed", m.all.committed},
          {"temporal", m.temporal_bytes},
          {"upload", m.upload_bytes},
          {"readback", m.readback_bytes},
          {"dedicated", m.dedicated_bytes},
          {"commands", m.commands},
          {"needed", m.needed},
          {"chain", m.chain},
          {"alias added", m.alias_added()},
          {"entries", m.entries},
          {"layout changes", m.layout_changes},
          {"merged reads", m.merged_reads},
          {"culled", m.culled},
          {"before a wait", m.before_wait},
          {"distance to makers", m.def_distance},
          {"declared order is valid", m.declared_order_valid ? 1U : 0U}};
}

struct Row {
  const char* name;
  const char* frame;
  PlanOptions options;
  Figures figures;  // those that are not 0
};

const Row kRows[] = {
    {"nothing", kNothing, {}, {{"declared order is valid", 1}}},
    {"a chain of three",
     kThree,
     {},
     {{"no reuse", 3 * kTexture},
      {"peak live", 2 * kTexture},
      {"peak epoch", 2 * kTexture},
      {"allocated", 2 * kTexture},
      {"of images", 2 * kTexture},
      {"committed", kBlock},
      {"commands", 3},
      {"needed", 3},
      {"chain", 3},
      {"entries", 5},  // three creates, two reads
      {"layout changes", 5},
      {"before a wait", 3},
      {"distance to makers", 2},
      {"declared order is valid", 1}}},
    {"the same without aliasing",
     kThree,
     {.alias = false},
     {{"no reuse", 3 * kTexture},
      {"peak live", 2 * kTexture},
      {"peak epoch", 2 * kTexture},
      {"allocated", 3 * kTexture},
      {"of images", 3 * kTexture},
      {"committed", kBlock},
      {"commands", 3},
      {"needed", 3},
      {"chain", 3},
      {"entries", 5},
      {"layout changes", 5},
      {"before a wait", 3},
      {"distance to makers", 2},
      {"declared order is valid", 1}}},
    {"readers that share a barrier",
     kReaders,
     {},
     {{"no reuse", kTexture + 2048},
      {"peak live", kTexture + 2048},
      {"peak epoch", kTexture + 2048},
      {"allocated", kTexture + 2048},
      {"of images", kTexture},
      {"of buffers", 2048},
      {"committed", 2 * kBlock},
      {"commands", 2},
      {"needed", 2},
      {"chain", 2},
      {"entries", 2},
      {"layout changes", 2},
      {"merged reads", 1},
      {"culled", 1},
      {"before a wait", 2},
      {"distance to makers", 3}}},
    {"memory that is not packed",
     kApart,
     {},
     {{"temporal", kTexture},
      {"upload", 1024},
      {"readback", 768},
      {"commands", 1},
      {"needed", 1},
      {"chain", 1},
      {"entries", 1},
      {"layout changes", 1},
      {"merged reads", 1},  // what the host wrote needs no barrier
      {"before a wait", 1},
      {"declared order is valid", 1}}},
};

TEST(Metrics, EveryFigure_IsWhatOneCountsByHand) {
  TexelModel model;
  for (const Row& row : kRows) {
    Figures figures = FiguresOf(MetricsOf(row.frame, row.options, model));
    std::erase_if(figures, [](const auto& figure) { return figure.second == 0; });
    EXPECT_EQ(figures, row.figures) << row.name;
  }
}

// A device that wants an allocation of its own for every texture.
class DedicatedModel final : public MemoryModel {
 public:
  bool Texture(const TextureDesc& desc, MemoryNeeds& needs) override {
    const bool known = texels_.Texture(desc, needs);
    needs.dedicated = true;
    return known;
  }
  MemoryNeeds Buffer(const BufferDesc& desc) override { return texels_.Buffer(desc); }
  uint64_t identity() const override { return 2; }

 private:
  TexelModel texels_;
};

TEST(Metrics, DedicatedTextures_AreCountedApart) {
  DedicatedModel model;
  const PlanMetrics metrics = MetricsOf(kThree, {}, model);
  EXPECT_EQ(metrics.dedicated_bytes, 3 * kTexture);
  EXPECT_EQ(metrics.all.allocated, 0U);
  EXPECT_EQ(metrics.efficiency(), 1.0);
}

}  // namespace
}  // namespace kiln::graph
