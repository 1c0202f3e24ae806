// SPDX-License-Identifier: MIT
// What the runtime adds to the driver: descriptions from metadata, a start-up from a pack beside
// the bare create calls of the same pipelines, parameters by handle, binding what is ready.
// `--json` prints one object with a `gates` member; exit 1 if a gate does not hold. See spec/pso 13
//   runtime_bench [--json] [--no-device]
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "cache/pack/write/writer.h"
#include "compiler/base/test_directory.h"
#include "runtime/pipeline/create/canonical_state.h"
#include "runtime/pipeline/create/create_info.h"
#include "runtime/pipeline/driver/binary_cache.h"
#include "runtime/pipeline/pack_source.h"
#include "runtime/pipeline/parameter_block.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/preview/preview.h"
#include "tests/bench/measure.h"
#include "tests/support/built_variant.h"

namespace kiln::bench {
namespace {

using runtime::Device;
using runtime::PassSignature;
using runtime::PipelineDesc;

constexpr int kDescriptions = 10'000;
constexpr int kWrites = 200'000;
constexpr int kRounds = 9;

struct Gate {
  const char* name;
  double value;
  double gate;
  bool ok() const { return value <= gate; }
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
double Best(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

std::string ReadText(const std::string& path) {
  std::ifstream file(std::string(KILN_SOURCE_DIR) + "/examples/demo/shaders/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Variants of the demo's largest program, as an engine gets them.
std::deque<BuiltVariant> BuildVariants() {
  std::deque<BuiltVariant> variants;
  const std::vector<std::string> sources = {ReadText("passes/forward.rpl"),
                                            ReadText("materials/pbr.rpl")};
  for (const char* const skinning : {"none", "weights_4"}) {
    for (const char* const normal_map : {"false", "true"}) {
      for (const char* const alpha : {"opaque", "mask", "blend"}) {
        for (const char* const fog : {"off", "height"}) {
          variants.emplace_back(VariantRequest{
              .sources = sources,
              .entries = {"vertex:pbr_vertex", "fragment:pbr_fragment"},
              .options = {std::string("skinning=") + skinning,
                          std::string("has_normal_map=") + normal_map,
                          std::string("alpha_mode=") + alpha, std::string("fog_kind=") + fog}});
          if (!variants.back().ok()) {
            fmt::print(stderr, "{}\n", variants.back().messages());
            std::exit(70);
          }
        }
      }
    }
  }
  return variants;
}

PassSignature Signature() {
  return {.color = {VK_FORMAT_R16G16B16A16_SFLOAT}, .depth_stencil = VK_FORMAT_D32_SFLOAT};
}

// Microseconds per description, of the thread's own time.
double MeasureDescriptions(const std::deque<BuiltVariant>& variants) {
  const PassSignature signature = Signature();
  std::vector<double> rounds;
  size_t kept = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = ThreadCpuMicroseconds();
    for (int i = 0; i < kDescriptions; ++i) {
      const auto desc = runtime::DescFrom(
          "pbr/forward", variants[static_cast<size_t>(i) % variants.size()].metadata(), signature);
      kept += desc->vertex_attributes.size();
    }
    rounds.push_back((ThreadCpuMicroseconds() - start) / kDescriptions);
  }
  return kept == 0 ? 1e9 : Best(rounds);
}

// Nanoseconds per write of a matrix and of a vector.
double MeasureWrites() {
  const std::vector<artifact::Parameter> parameters = {
      {.name = "clip_from_world", .type = artifact::ParameterType::kF4x4, .matrix_stride = 16},
      {.name = "eye",
       .type = artifact::ParameterType::kF4,
       .offset = 64,
       .total_item_count = 8,
       .array_stride = 16}};
  const runtime::ParameterBlock block(parameters);
  const runtime::ParameterHandle matrix = block.Handle("clip_from_world");
  const runtime::ParameterHandle eye = block.Handle("eye");
  std::vector<std::byte> memory(64 + 8 * 16);
  std::array<float, 16> value{};
  std::vector<double> rounds;
  bool all = true;
  for (int round = 0; round < kRounds; ++round) {
    const double start = NanosecondsOf(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kWrites; ++i) {
      // Not converted: that alone takes 60 ns on processors where AVX-512 was used before.
      value[0] = std::bit_cast<float>(i);
      const auto bytes = std::as_bytes(std::span(value));
      all = matrix.Write(memory, bytes) && all;
      all = eye.Write(memory, bytes.first(16), static_cast<uint32_t>(i) % 8) && all;
    }
    rounds.push_back((NanosecondsOf(CLOCK_THREAD_CPUTIME_ID) - start) / (2.0 * kWrites));
  }
  return all ? Best(rounds) : 1e9;
}

// A pack of the variants, with all of them in its warm list.
std::string WritePack(const std::deque<BuiltVariant>& variants, const std::string& folder) {
  pack::Contents contents;
  std::map<Digest, Bytes> blobs;
  const auto keep = [&](ByteView bytes) {
    const Digest digest = DigestOf(bytes);
    blobs.emplace(digest, Bytes(bytes.begin(), bytes.end()));
    return digest;
  };
  contents.programs = {{.name = "pbr/forward", .pipeline = "graphics_classic", .options = {}}};
  contents.entries = {{.id = HashBytes(AsBytes("bench")), .target = "vk"}};
  contents.passes = {{.name = "forward",
                      .color_formats = {VK_FORMAT_R16G16B16A16_SFLOAT},
                      .depth_format = VK_FORMAT_D32_SFLOAT}};
  for (uint32_t i = 0; i < variants.size(); ++i) {
    const BuiltVariant& variant = variants[i];
    const Hash128 key = HashBytes(std::as_bytes(std::span(&i, 1)));
    contents.artifacts.push_back(
        {.live_key = key,
         .layout_hash = variant.metadata().layout_hash,
         .state_id = key,
         .code = {{1, keep(std::as_bytes(std::span(variant.words(ir::Stage::kVertex))))},
                  {2, keep(std::as_bytes(std::span(variant.words(ir::Stage::kFragment))))}},
         .metadata = keep(variant.products().metadata)});
    contents.warm.push_back({.live_key = key, .pass = "forward"});
  }
  std::string path = folder + "/bench.kpack";
  const auto written = pack::WritePack(
      contents, [&](const Digest& digest) -> Result<Bytes> { return blobs.at(digest); }, {}, path);
  if (!written.ok()) {
    fmt::print(stderr, "{}\n", ErrorText(written.error()));
    std::exit(70);
  }
  return path;
}

struct Prepared {
  PipelineDesc desc;
  runtime::LayoutSet layouts;
  std::vector<vk::UniqueShaderModule> modules;
};

// Milliseconds of the create calls alone, everything else prepared.
double BareCalls(const Device& device, const std::vector<Prepared>& all) {
  double total = 0;
  for (const Prepared& one : all) {
    std::vector<VkShaderModule> modules;
    for (const vk::UniqueShaderModule& module : one.modules) {
      modules.push_back(module.get());
    }
    const runtime::CreateInfo info(one.desc, device.caps(), modules, one.layouts.layout);
    VkPipeline pipeline = VK_NULL_HANDLE;
    const double start = ThreadCpuMicroseconds();
    const VkResult result = info.Create(device, VK_NULL_HANDLE, 0, nullptr, &pipeline);
    total += ThreadCpuMicroseconds() - start;
    if (result != VK_SUCCESS) {
      std::exit(70);
    }
    device.table().DestroyPipeline(device.handle(), pipeline, nullptr);
  }
  return total * 1e-3;
}

std::vector<Prepared> Prepare(const Device& device, runtime::PipelineLayouts& layouts,
                              const std::deque<BuiltVariant>& variants) {
  std::vector<Prepared> all;
  for (const BuiltVariant& variant : variants) {
    Prepared& one = all.emplace_back();
    one.desc = std::move(*runtime::DescFrom("pbr/forward", variant.metadata(), Signature()));
    one.layouts = *layouts.Get(one.desc);
    for (const ir::Stage stage : {ir::Stage::kVertex, ir::Stage::kFragment}) {
      VkShaderModuleCreateInfo info{};
      info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
      info.codeSize = variant.words(stage).size() * sizeof(uint32_t);
      info.pCode = variant.words(stage).data();
      VkShaderModule handle = VK_NULL_HANDLE;
      if (device.table().CreateShaderModule(device.handle(), &info, nullptr, &handle) !=
          VK_SUCCESS) {
        std::exit(70);
      }
      one.modules.emplace_back(device.table(), device.handle(), handle);
    }
  }
  return all;
}

// Milliseconds from the mapped bytes to the last create call, on one thread.
double StartFromPack(const Device& device, const std::string& path, size_t expected) {
  const double start = ThreadCpuMicroseconds();
  auto pack = pack::Pack::Open(path, {});
  auto pipelines =
      runtime::Pipelines::Create(device, {.threads = 0, .first_use = runtime::FirstUse::kOff});
  if (!pack.ok() || !pipelines.ok()) {
    std::exit(70);
  }
  (*pipelines)
      ->Load(std::make_shared<runtime::PackSource>(std::move(pack).value(),
                                                   runtime::PackSourceConfig{}));
  const auto report = (*pipelines)->Wait((*pipelines)->Warm({}), std::chrono::minutes(5));
  const double end = ThreadCpuMicroseconds();
  if (!report.ok() || (*pipelines)->Stats().ready != expected) {
    fmt::print(stderr, "{} of {} pipelines are ready\n", (*pipelines)->Stats().ready, expected);
    std::exit(70);
  }
  return (end - start) * 1e-3;
}

struct Start {
  double bare_ms = 0;
  double pack_ms = 0;
  double ratio = 0;  // median of the rounds
  size_t pipelines = 0;
};

// Both in turns, so that whatever else runs on the machine is no part of the ratio.
Start MeasureStart(const Device& device, const std::deque<BuiltVariant>& variants) {
  const TestDirectory directory;
  const std::string path = WritePack(variants, directory.path());
  runtime::PipelineLayouts layouts(device);
  const std::vector<Prepared> prepared = Prepare(device, layouts, variants);
  std::map<Hash128, int> keys;
  for (const BuiltVariant& variant : variants) {
    const auto desc = runtime::DescFrom("pbr/forward", variant.metadata(), Signature());
    const Digest code[] = {DigestOf(std::as_bytes(std::span(variant.words(ir::Stage::kVertex)))),
                           DigestOf(std::as_bytes(std::span(variant.words(ir::Stage::kFragment))))};
    ++keys[runtime::PipelineKey(*desc, code)];
  }
  Start out{.pipelines = keys.size()};
  std::vector<double> bare;
  std::vector<double> whole;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    bare.push_back(BareCalls(device, prepared) * static_cast<double>(keys.size()) /
                   static_cast<double>(prepared.size()));
    whole.push_back(StartFromPack(device, path, keys.size()));
    ratios.push_back(whole.back() / bare.back());
  }
  out.bare_ms = Median(bare);
  out.pack_ms = Median(whole);
  out.ratio = Median(ratios);
  return out;
}

// Nanoseconds of Get for a pipeline that is ready.
double MeasureGet(const Device& device, const BuiltVariant& variant) {
  runtime::Pipelines pipelines(device);
  const runtime::ModuleWords modules[] = {
      {artifact::Stage::kVertex, variant.words(ir::Stage::kVertex)},
      {artifact::Stage::kFragment, variant.words(ir::Stage::kFragment)}};
  const auto id = pipelines.Add("pbr/forward", variant.metadata(), modules, Signature());
  if (!id.ok() || pipelines.Get(*id) == VK_NULL_HANDLE) {
    std::exit(70);
  }
  std::vector<double> rounds;
  uintptr_t kept = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = NanosecondsOf(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kWrites; ++i) {
      kept += reinterpret_cast<uintptr_t>(pipelines.Get(*id));
    }
    rounds.push_back((NanosecondsOf(CLOCK_THREAD_CPUTIME_ID) - start) / kWrites);
  }
  return kept == 0 ? 1e9 : Best(rounds);
}

// A driver that is nothing but 64 MiB of cache, new ones with every save.
constexpr size_t kCacheBytes = size_t{64} << 20;
std::byte cache_fill{0};

VKAPI_ATTR VkResult VKAPI_CALL MakeCache(VkDevice /*device*/,
                                         const VkPipelineCacheCreateInfo* /*info*/,
                                         const VkAllocationCallbacks* /*callbacks*/,
                                         VkPipelineCache* cache) {
  *cache = reinterpret_cast<VkPipelineCache>(uint64_t{1});
  return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL DropCache(VkDevice /*device*/, VkPipelineCache /*cache*/,
                                     const VkAllocationCallbacks* /*callbacks*/) {}
VKAPI_ATTR VkResult VKAPI_CALL MergeCache(VkDevice /*device*/, VkPipelineCache /*into*/,
                                          uint32_t /*count*/, const VkPipelineCache* /*from*/) {
  return VK_SUCCESS;
}
VKAPI_ATTR VkResult VKAPI_CALL ReadCache(VkDevice /*device*/, VkPipelineCache /*cache*/,
                                         size_t* size, void* data) {
  if (data != nullptr) {
    std::memset(data, static_cast<int>(cache_fill), kCacheBytes);
  }
  *size = kCacheBytes;
  return VK_SUCCESS;
}

// Milliseconds of a save, which a thread of its own makes: what it computes, and with the disk and
// whatever else runs.
struct Save {
  double cpu_ms = 0;
  double wall_ms = 0;
};

Save MeasureSave() {
  vk::Table table;
  table.CreatePipelineCache = MakeCache;
  table.DestroyPipelineCache = DropCache;
  table.MergePipelineCaches = MergeCache;
  table.GetPipelineCacheData = ReadCache;
  const Device device = Device::OverTable(table, {}, {});
  const TestDirectory directory;
  NullLog log;
  const auto cache = runtime::BinaryCache::Open(device, {directory.path().string(), nullptr, &log},
                                                DigestOf("bench").id, 1);
  std::vector<double> cpu;
  std::vector<double> wall;
  for (int round = 0; round < kRounds; ++round) {
    cache_fill = std::byte(round + 1);
    const double start = NanosecondsOf(CLOCK_MONOTONIC);
    const double cpu_start = ThreadCpuMicroseconds();
    if (!cache.ok() || !(*cache)->Save().ok()) {
      std::exit(70);
    }
    cpu.push_back((ThreadCpuMicroseconds() - cpu_start) * 1e-3);
    wall.push_back((NanosecondsOf(CLOCK_MONOTONIC) - start) * 1e-6);
  }
  return {Median(cpu), Median(wall)};
}

// The first frame over the next one, which has the same pixels: where a driver compiles at the
// first draw that is what a warm-up draw is for.
struct FirstDraw {
  double cold = 0;  // medians of the rounds
  double warm = 0;
};

FirstDraw MeasureFirstDraw(Device& device, const std::deque<BuiltVariant>& variants) {
  std::vector<double> cold;
  std::vector<double> warm;
  for (int round = 0; round < kRounds; ++round) {
    const BuiltVariant& variant = variants[static_cast<size_t>(round) % variants.size()];
    const runtime::ModuleWords modules[] = {
        {artifact::Stage::kVertex, variant.words(ir::Stage::kVertex)},
        {artifact::Stage::kFragment, variant.words(ir::Stage::kFragment)}};
    for (const bool warm_up : {false, true}) {
      const auto drawn = preview::Render(device, "pbr/forward", variant.metadata(), modules,
                                         {.size = {128, 128}, .warm_up = warm_up});
      if (!drawn.ok()) {
        fmt::print(stderr, "{}\n", ErrorText(drawn.error()));
        std::exit(70);
      }
      (warm_up ? warm : cold).push_back(drawn->first_use_ms / drawn->draw_ms);
    }
  }
  return {Median(cold), Median(warm)};
}

int Run(bool json, bool with_device) {
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);  // every creation is a cold one
  const std::deque<BuiltVariant> variants = BuildVariants();
  const Save save = MeasureSave();
  std::vector<Gate> gates = {
      {"description_us", MeasureDescriptions(variants), 2.0},
      {"parameter_write_ns", MeasureWrites(), 20.0},
  };
  Start start;
  FirstDraw first;
  std::string device_name = "none";
  if (with_device) {
    auto device = Device::Create({});
    if (!device.ok()) {
      fmt::print(stderr, "{}\n", ErrorText(device.error()));
      return 4;
    }
    device_name = device->identity().name;
    start = MeasureStart(*device, variants);
    gates.push_back({"start_from_pack_ratio", start.ratio, 1.2});
    gates.push_back({"get_ns", MeasureGet(*device, variants[0]), 20.0});
    first = MeasureFirstDraw(*device, variants);
    gates.push_back({"first_draw_ratio", first.warm, 3.0});
  }
  const bool ok =
      std::all_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.ok(); });
  if (!json) {
    for (const Gate& gate : gates) {
      fmt::print("{:24} {:10.3f} of {:g}  {}\n", gate.name, gate.value, gate.gate,
                 gate.ok() ? "ok" : "MISSED");
    }
    fmt::print("{} pipelines on {}: bare calls {:.1f} ms, start {:.1f} ms\n", start.pipelines,
               device_name, start.bare_ms, start.pack_ms);
    fmt::print("a save of 64 MiB: {:.1f} ms of its thread, {:.1f} ms with the disk\n", save.cpu_ms,
               save.wall_ms);
    fmt::print("first frame over the next: {:.1f} without a warm-up draw, {:.1f} with one\n",
               first.cold, first.warm);
    return ok ? 0 : 1;
  }
  std::string text;
  for (const Gate& gate : gates) {
    text += fmt::format("{}\"{}\": {{\"value\": {:.4f}, \"gate\": {:g}, \"ok\": {}}}",
                        text.empty() ? "" : ", ", gate.name, gate.value, gate.gate, gate.ok());
  }
  fmt::print(
      "{{\"bench\": \"runtime\", \"device\": \"{}\", \"pipelines\": {}, \"bare_ms\": {:.3f}, "
      "\"start_ms\": {:.3f}, \"first_draw_ratio_cold\": {:.3f}, \"save_cpu_ms\": {:.3f}, "
      "\"save_wall_ms\": {:.3f}, "
      "\"gates\": {{{}}}}}\n",
      device_name, start.pipelines, start.bare_ms, start.pack_ms, first.cold, save.cpu_ms,
      save.wall_ms, text);
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  bool json = false;
  bool device = true;
  for (int i = 1; i < argc; ++i) {
    json = json || std::string_view(argv[i]) == "--json";
    device = device && std::string_view(argv[i]) != "--no-device";
  }
  return kiln::bench::Run(json, device);
}
