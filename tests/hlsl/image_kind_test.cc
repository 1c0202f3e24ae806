// SPDX-License-Identifier: MIT
// Every type of images and texel buffers that HLSL has beyond RPL's, and arrays of every kind of
// resource: compiled, made a pipeline by the runtime from metadata alone, dispatched under
// validation, and drawn once more by a warm-up. What is found are numbers worked out by hand from
// what device_images.h says of texels.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "runtime/preview/sampler.h"
#include "runtime/preview/upload.h"
#include "tests/hlsl/device_images.h"
#include "tests/hlsl/meaning_run.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"
#include "tests/support/pixel_rig_gpu.h"

namespace kiln::hlsl {
namespace {

using Words = std::vector<uint32_t>;

constexpr VkFormat kFloat = VK_FORMAT_R32_SFLOAT;
constexpr VkFormat kUint = VK_FORMAT_R32_UINT;
constexpr VkFormat kSint = VK_FORMAT_R32_SINT;
constexpr VkFormat kDepth = VK_FORMAT_D32_SFLOAT;

struct TexelBuffer {
  VkFormat format = kFloat;
  Words words;
  bool storage = false;
};

struct Row {
  const char* name;
  std::string type;          // of metadata, of the resource `t`
  const char* declarations;  // `t` is what is looked at
  const char* statements;    // `put (x);` adds a number to what is found
  std::vector<float> expected;
  DeviceImageInfo image = {};                              // of `t`, if it is an image
  TexelBuffer texels = {};                                 // of `t`, if it is a texel buffer
  std::map<std::string, std::vector<Words>> buffers = {};  // of each item of an array
  Words left = {};                                         // in the texels afterwards
  std::vector<std::string_view> lacks = {};                // features that lavapipe does not have
};

Words Floats(const std::vector<float>& floats) {
  Words words;
  for (const float number : floats) {
    words.push_back(std::bit_cast<uint32_t>(number));
  }
  return words;
}

std::vector<Row> SampledRows() {
  return {
      {.name = "one dimension",
       .type = "image_color_1d",
       .declarations = "Texture1D<float> t : register (t0); SamplerState s : register (s1);",
       .statements = "put (t.Load (int2 (2, 0))); put (t[3]); put (t.SampleLevel (s, 0.375, 0)); "
                     "uint w; t.GetDimensions (w); put (w);",
       .expected = {2, 3, 1, 4},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D}},
      {.name = "layers of one dimension",
       .type = "image_color_1d_array",
       .declarations = "Texture1DArray<float> t : register (t0); SamplerState s : register (s1);",
       .statements = "put (t.Load (int3 (3, 1, 0))); put (t[uint2 (0, 2)]); put (t.SampleLevel (s, "
                     "float2 (0.375, 2), 0)); uint w, e; t.GetDimensions (w, e); put (w); put (e);",
       .expected = {103, 200, 201, 4, 3},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D_ARRAY, .layers = 3}},
      {.name = "cubes, of which the second begins at layer 6",
       .type = "image_color_cube_array",
       .declarations = "TextureCubeArray<float> t : register (t0); SamplerState s : register (s1);",
       .statements =
           "put (t.SampleLevel (s, float4 (1, -0.5, -0.5, 1), 0)); put (t.SampleLevel (s, float4 "
           "(0.5, -1, 0.5, 0), 0)); uint w, h, e; t.GetDimensions (w, h, e); put (w); put (h); "
           "put (e);",
       .expected = {611, 301, 2, 2, 2},
       .image = {.view = VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, .extent = {2, 2, 1}, .layers = 12}},
      {.name = "samples",
       .type = "image_color_2d_ms",
       .declarations = "Texture2DMS<float> t : register (t0);",
       .statements = "put (t.Load (int2 (1, 0), 2)); put (t.sample[3][uint2 (0, 1)]); uint w, h, "
                     "n; t.GetDimensions (w, h, n); put (w); put (h); put (n);",
       .expected = {7, 7, 4, 2, 4},
       .image = {.extent = {4, 2, 1}, .multisampled = true}},
      {.name = "layers of samples",
       .type = "image_color_2d_ms_array",
       .declarations = "Texture2DMSArray<float> t : register (t0);",
       .statements = "put (t.Load (int3 (1, 0, 2), 1)); uint w, h, e, n; t.GetDimensions (w, h, e, "
                     "n); put (w); put (e); put (n);",
       .expected = {207, 4, 3, 4},
       .image = {.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                 .extent = {4, 2, 1},
                 .layers = 3,
                 .multisampled = true}},
      {.name = "samples that are integers",
       .type = "image_color_2d_ms",
       .declarations = "Texture2DMS<uint> t : register (t0);",
       .statements = "put (t.Load (int2 (0, 0), 3));",
       .expected = {7},
       .image = {.format = kUint, .extent = {4, 2, 1}, .multisampled = true}},
      {.name = "unsigned texels",
       .type = "image_color_2d",
       .declarations = "Texture2D<uint> t : register (t0);",
       .statements = "put (t[uint2 (3, 1)]);",
       .expected = {13},
       .image = {.format = kUint, .extent = {4, 2, 1}}},
      {.name = "signed texels in layers",
       .type = "image_color_2d_array",
       .declarations = "Texture2DArray<int> t : register (t0);",
       .statements = "put (t[uint3 (3, 1, 1)]);",
       .expected = {113},
       .image = {.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                 .format = kSint,
                 .extent = {4, 2, 1},
                 .layers = 2}},
      {.name = "depths of cubes are compared",
       .type = "image_depth_cube_array",
       .declarations = "TextureCubeArray<float> t : register (t0); SamplerComparisonState s : "
                       "register (s1);",
       .statements = "put (t.SampleCmpLevelZero (s, float4 (1, -0.5, -0.5, 0), 0.01)); put "
                     "(t.SampleCmpLevelZero (s, float4 (1, -0.5, -0.5, 0), 0.02));",
       .expected = {1, 0},
       .image = {.view = VK_IMAGE_VIEW_TYPE_CUBE_ARRAY,
                 .format = kDepth,
                 .extent = {2, 2, 1},
                 .layers = 6}},
      {.name = "depths in one dimension",
       .type = "image_depth_1d",
       .declarations = "Texture1D<float> t : register (t0); SamplerComparisonState s : register "
                       "(s1);",
       .statements = "put (t.SampleCmpLevelZero (s, 0.625, 0.001)); put (t.SampleCmpLevelZero (s, "
                     "0.625, 0.003));",
       .expected = {1, 0},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D, .format = kDepth}},
      {.name = "depths in layers of one dimension",
       .type = "image_depth_1d_array",
       .declarations = "Texture1DArray<float> t : register (t0); SamplerComparisonState s : "
                       "register (s1);",
       .statements = "put (t.SampleCmpLevelZero (s, float2 (0.625, 1), 0.1)); put "
                     "(t.SampleCmpLevelZero (s, float2 (0.625, 1), 0.2));",
       .expected = {1, 0},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D_ARRAY, .format = kDepth, .layers = 2}},
      {.name = "samples of depths",
       .type = "image_depth_2d_ms",
       .declarations = "[[kiln::depth]] Texture2DMS<float> t : register (t0);",
       .statements = "put (t.Load (int2 (1, 1), 1) * 1000);",
       .expected = {7},
       .image = {.format = kDepth, .extent = {4, 2, 1}, .multisampled = true}},
      {.name = "layers of samples of depths",
       .type = "image_depth_2d_ms_array",
       .declarations = "[[kiln::depth]] Texture2DMSArray<float> t : register (t0);",
       .statements = "put (t.Load (int3 (1, 1, 1), 1) * 1000);",
       .expected = {107},
       .image = {.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                 .format = kDepth,
                 .extent = {4, 2, 1},
                 .layers = 2,
                 .multisampled = true}},
  };
}

std::vector<Row> WrittenRows() {
  return {
      {.name = "one dimension is written",
       .type = "storage_image_1d",
       .declarations = "RWTexture1D<float> t : register (u0);",
       .statements = "put (t[2]); t[1] = 50; put (t[1]); t[3] += t[2]; put (t[3]); uint w; "
                     "t.GetDimensions (w); put (w);",
       .expected = {2, 50, 5, 4},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D, .storage = true}},
      {.name = "layers of one dimension change at once",
       .type = "storage_image_1d_array",
       .declarations = "RWTexture1DArray<uint> t : register (u0);",
       .statements = "uint o; InterlockedAdd (t[uint2 (1, 2)], 5, o); put (o); put (t[uint2 (1, "
                     "2)]); uint w, e; t.GetDimensions (w, e); put (e);",
       .expected = {201, 206, 3},
       .image =
           {.view = VK_IMAGE_VIEW_TYPE_1D_ARRAY, .format = kUint, .layers = 3, .storage = true}},
      {.name = "three dimensions are written",
       .type = "storage_image_3d",
       .declarations = "RWTexture3D<int> t : register (u0);",
       .statements = "put (t[uint3 (1, 1, 1)]); t[uint3 (0, 0, 1)] = -3; put (t[uint3 (0, 0, 1)]);",
       .expected = {61, -3},
       .image =
           {.view = VK_IMAGE_VIEW_TYPE_3D, .format = kSint, .extent = {2, 2, 2}, .storage = true}},
      {.name = "a format that no shader says is read",
       .type = "storage_image_2d",
       .declarations = "[[vk::image_format (\"unknown\")]] RWTexture2D<float> t : register (u0);",
       .statements = "put (t[uint2 (1, 0)]);",
       .expected = {1},
       .image = {.storage = true},
       .lacks = {"shader_storage_image_read_without_format"}},
      {.name = "texels of a buffer",
       .type = "texel_buffer",
       .declarations = "Buffer<float> t : register (t0);",
       .statements = "put (t[1]); put (t.Load (2)); uint n; t.GetDimensions (n); put (n);",
       .expected = {8, 9, 3},
       .texels = {.words = Floats({7, 8, 9})}},
      {.name = "texels of two components, as the format of the view has them",
       .type = "texel_buffer",
       .declarations = "Buffer<float2> t : register (t0);",
       .statements = "float2 v = t[1]; put (v.x); put (v.y); uint n; t.GetDimensions (n); put (n);",
       .expected = {9, 10, 2},
       .texels = {.format = VK_FORMAT_R32G32_SFLOAT, .words = Floats({7, 8, 9, 10})}},
      {.name = "texels that are packed",
       .type = "texel_buffer",
       .declarations = "Buffer<float4> t : register (t0);",
       .statements = "put (t[1].x); put (t[1].w);",
       .expected = {1, 0},
       .texels = {.format = VK_FORMAT_R8G8B8A8_UNORM, .words = {0, 0x000000ff}}},
      {.name = "unsigned texels of a buffer",
       .type = "texel_buffer",
       .declarations = "Buffer<uint> t : register (t0);",
       .statements = "put (t[1]);",
       .expected = {6},
       .texels = {.format = kUint, .words = {5, 6}}},
      {.name = "signed texels of a buffer",
       .type = "texel_buffer",
       .declarations = "Buffer<int> t : register (t0);",
       .statements = "put (t[1]);",
       .expected = {-6},
       .texels = {.format = kSint, .words = {5, ~5U}}},
      {.name = "texels of a buffer are written",
       .type = "storage_texel_buffer",
       .declarations = "RWBuffer<float> t : register (u0);",
       .statements = "put (t[1]); t[0] = t[1] * 2; t[2] += 1; uint n; t.GetDimensions (n); put "
                     "(n);",
       .expected = {8, 3},
       .texels = {.words = Floats({7, 8, 9}), .storage = true},
       .left = Floats({16, 8, 10})},
      {.name = "texels of a buffer change at once",
       .type = "storage_texel_buffer",
       .declarations = "RWBuffer<uint> t : register (u0);",
       .statements = "uint o; InterlockedMax (t[1], 90, o); put (o); InterlockedAdd (t[0], 1);",
       .expected = {6},
       .texels = {.format = kUint, .words = {5, 6}, .storage = true},
       .left = {6, 90}},
      {.name = "texels of three components have no format of their own",
       .type = "storage_texel_buffer",
       .declarations = "RWBuffer<float3> t : register (u0);",
       .statements = "t[1] = float3 (1, 2, 3);",
       .expected = {},
       .texels = {.format = VK_FORMAT_R32G32B32A32_SFLOAT, .words = Words(8), .storage = true},
       .left = Floats({0, 0, 0, 0, 1, 2, 3, 0}),
       .lacks = {}},
  };
}

// Each item of an array is a resource of its own; `id.x` is 0 and no compiler knows it.
std::vector<Row> ArrayRows() {
  return {
      {.name = "an array of constant buffers, picked by a variable",
       .type = {},
       .declarations = "struct S { float a; float b; }; ConstantBuffer<S> c[3] : register (b0);",
       .statements = "put (c[id.x + 2].b); put (c[1].a); put (c[id.x].a);",
       .expected = {31, 20, 10},
       .buffers = {{"c",
                    {Floats({10, 11, 0, 0}), Floats({20, 21, 0, 0}), Floats({30, 31, 0, 0})}}}},
      {.name = "an array of structured buffers, with a length each",
       .type = {},
       .declarations = "struct S { float a; float b; }; StructuredBuffer<S> c[2] : register (t0);",
       .statements = "put (c[id.x + 1][1].b); put (c[0][0].a); uint n, s; c[id.x + "
                     "1].GetDimensions (n, s); put (n); put (s); c[0].GetDimensions (n, s); put "
                     "(n);",
       .expected = {43, 10, 4, 8, 2},
       .buffers = {{"c", {Floats({10, 11, 12, 13}), Floats({40, 41, 42, 43, 44, 45, 46, 47})}}}},
      {.name = "an array of buffers of bytes is written",
       .type = {},
       .declarations = "RWByteAddressBuffer c[2] : register (u0);",
       .statements =
           "put (c[1].Load (4)); c[id.x].Store (0, 9); uint o; c[id.x + 1].InterlockedAdd "
           "(0, 3, o); put (o); put (c[1].Load (0)); put (c[0].Load (0)); uint n; c[id.x "
           "+ 1].GetDimensions (n); put (n);",
       .expected = {6, 5, 8, 9, 32},
       .buffers = {{"c", {{1, 2, 3, 4}, {5, 6, 7, 8, 9, 10, 11, 12}}}}},
      {.name = "an array of samplers",
       .type = "image_color_2d",
       .declarations = "Texture2D<float> t : register (t0); SamplerState s[2] : register (s1);",
       .statements = "put (t.SampleLevel (s[1], float2 (0.375, 0.5), 0));",
       .expected = {1},
       .image = {}},
      {.name = "a texture and a sampler on one number are one descriptor",
       .type = "image_color_2d",
       .declarations = "Texture2D<float> t : register (t1); SamplerState s : register (s1);",
       .statements = "put (t.SampleLevel (s, float2 (0.375, 0.5), 0)); put (t.Load (int3 (2, 0, "
                     "0)));",
       .expected = {1, 2},
       .image = {}},
      {.name = "arrays of both, as attributes say outright",
       .type = "image_color_2d_array",
       .declarations =
           "[[vk::combinedImageSampler]] [[vk::binding (3)]] Texture2DArray<float> t[2]; "
           "[[vk::combinedImageSampler]] [[vk::binding (3)]] SamplerState s[2];",
       .statements = "put (t[1].SampleLevel (s[1], float3 (0.375, 0.5, 1), 0));",
       .expected = {101},
       .image = {.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY, .layers = 2}},
      {.name = "depths and what compares them",
       .type = "image_depth_2d",
       .declarations = "Texture2D<float> t : register (t1); SamplerComparisonState s : register "
                       "(s1);",
       .statements = "put (t.SampleCmpLevelZero (s, float2 (0.625, 0.5), 0.001)); put "
                     "(t.SampleCmpLevelZero (s, float2 (0.625, 0.5), 0.003));",
       .expected = {1, 0},
       .image = {.format = kDepth}},
      {.name = "an array of texel buffers, picked by a variable",
       .type = "texel_buffer",
       .declarations = "Buffer<float> t[2] : register (t0);",
       .statements = "put (t[id.x + 1][1]);",
       .expected = {8},
       .texels = {.words = Floats({7, 8, 9})},
       .lacks = {"shader_uniform_texel_buffer_array_dynamic_indexing"}},
      {.name = "an array of texel buffers, picked by a number",
       .type = "texel_buffer",
       .declarations = "Buffer<float> t[2] : register (t0);",
       .statements = "put (t[1][1]);",
       .expected = {8},
       .texels = {.words = Floats({7, 8, 9})}},
      {.name = "an array of written texel buffers, picked by a number",
       .type = "storage_texel_buffer",
       .declarations = "RWBuffer<float> t[2] : register (u0);",
       .statements = "t[1][1] = 5; put (t[0][2]);",
       .expected = {9},
       .texels = {.words = Floats({7, 8, 9}), .storage = true},
       .left = Floats({7, 5, 9})},
      {.name = "an array of written texel buffers, picked by a variable",
       .type = "storage_texel_buffer",
       .declarations = "RWBuffer<float> t[2] : register (u0);",
       .statements = "t[id.x + 1][1] = 5;",
       .expected = {},
       .texels = {.words = Floats({7, 8, 9}), .storage = true},
       .lacks = {"shader_storage_texel_buffer_array_dynamic_indexing"}},
      {.name = "an array of images, picked by a number",
       .type = "image_color_1d_array",
       .declarations = "Texture1DArray<float> t[2] : register (t0);",
       .statements = "put (t[1][uint2 (2, 1)]);",
       .expected = {102},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D_ARRAY, .layers = 2}},
      {.name = "an array of images, picked by a variable",
       .type = "image_color_1d",
       .declarations = "Texture1D<float> t[2] : register (t0);",
       .statements = "put (t[id.x + 1][2]);",
       .expected = {2},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D},
       .lacks = {"shader_sampled_image_array_dynamic_indexing"}},
      {.name = "an array of written images, picked by a variable",
       .type = "storage_image_1d",
       .declarations = "RWTexture1D<float> t[2] : register (u0);",
       .statements = "put (t[id.x + 1][2]);",
       .expected = {2},
       .image = {.view = VK_IMAGE_VIEW_TYPE_1D, .storage = true},
       .lacks = {"shader_storage_image_array_dynamic_indexing"}},
  };
}

const artifact::Image* ImageNamed(const artifact::PipelineMetadata& metadata,
                                  std::string_view name) {
  for (const artifact::Set& set : metadata.sets) {
    const auto found = std::ranges::find(set.images, name, &artifact::Image::name);
    if (found != set.images.end()) {
      return &*found;
    }
  }
  return nullptr;
}

class ImageKinds : public oracle::OperatorFixture {
 protected:
  static void Check(const Row& row) {
    SCOPED_TRACE(row.name);
    VariantRequest request = MeaningRequest(
        fmt::format("RWStructuredBuffer<float> made : register (u90);\nstatic uint found = 0;\n"
                    "void put (float x) {{ made[found++] = x; }}\n{}\n"
                    "[numthreads (1, 1, 1)] void main (uint3 id : SV_DispatchThreadID) {{ {} }}\n",
                    row.declarations, row.statements),
        Version::k2021);
    request.environment = "vulkan1.3";
    const BuiltVariant variant(request);
    ASSERT_TRUE(variant.ok()) << variant.messages();
    const artifact::Image* const image = ImageNamed(variant.metadata(), "t");
    ASSERT_EQ(image == nullptr ? "" : NameOf(image->type), row.type);
    std::vector<std::string_view> lacking;
    for (const std::string& feature : variant.metadata().required_features) {
      if (!bench().device().caps().HasFeature(feature)) {
        lacking.push_back(feature);
      }
    }
    ASSERT_EQ(lacking, row.lacks);
    Run(row, variant, image);
    WarmUp(variant);
  }

 private:
  static void Run(const Row& row, const BuiltVariant& variant, const artifact::Image* image) {
    DeviceImages images(bench());
    std::deque<vk::Buffer> buffers;
    std::deque<vk::UniqueSampler> samplers;
    oracle::ComputeRun run;
    Fill(row, image, images, buffers, run);
    for (const bool comparison : {false, true}) {
      auto sampler = preview::CreateSampler(
          bench().device(), {.filter = VK_FILTER_NEAREST, .comparison = comparison});
      ASSERT_TRUE(sampler.ok()) << ErrorText(sampler.error());
      samplers.push_back(std::move(sampler).value());
    }
    for (const artifact::Sampler& sampler : variant.metadata().sets[0].samplers) {
      run.resources[sampler.name] = samplers[sampler.comparison ? 1 : 0].get();
    }
    if (image != nullptr && !image->sampler.empty()) {
      run.resources[image->sampler] = samplers[image->comparison ? 1 : 0].get();
    }
    run.memory.buffers["made"] =
        std::vector<std::byte>(std::max(row.expected.size(), size_t{1}) * 4);
    const Result<oracle::ComputeMemory> left = oracle::RunCompute(bench(), variant, run);
    if (!row.lacks.empty()) {
      // The device is told by name and nothing is run.
      ASSERT_FALSE(left.ok());
      EXPECT_THAT(ErrorText(left.error()), ::testing::HasSubstr(std::string(row.lacks[0])));
      return;
    }
    ASSERT_TRUE(left.ok()) << ErrorText(left.error());
    std::vector<float> found(row.expected.size());
    std::memcpy(found.data(), left->buffers.find("made")->second.data(), found.size() * 4);
    EXPECT_THAT(found, ::testing::Pointwise(::testing::FloatEq(), row.expected));
    if (!row.left.empty()) {
      EXPECT_EQ(images.Words(0), row.left);
    }
  }

  // What the row says is in `t` and in arrays of buffers.
  static void Fill(const Row& row, const artifact::Image* image, DeviceImages& images,
                   std::deque<vk::Buffer>& buffers, oracle::ComputeRun& run) {
    if (image != nullptr && !row.texels.words.empty()) {
      auto views = images.MakeTexels(row.texels.words, row.texels.format, row.texels.storage);
      ASSERT_TRUE(views.ok()) << ErrorText(views.error());
      run.resources["t"] = std::vector(image->image_array_size, views->front());
    } else if (image != nullptr) {
      auto views = images.Make(row.image);
      ASSERT_TRUE(views.ok()) << ErrorText(views.error());
      run.resources["t"] = std::vector(image->image_array_size, views->front());
    }
    for (const auto& [name, items] : row.buffers) {
      std::vector<VkBuffer> handles;
      for (const Words& words : items) {
        auto buffer = preview::UploadBuffer(
            bench().device(), bench().gpu().memory, std::as_bytes(std::span(words)),
            VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
        ASSERT_TRUE(buffer.ok()) << ErrorText(buffer.error());
        handles.push_back(buffer->handle.get());
        buffers.push_back(std::move(buffer).value());
      }
      run.resources[name] = handles;
    }
  }

  // The runtime binds something of its own to each of them before anybody draws.
  static void WarmUp(const BuiltVariant& variant) {
    auto pipelines =
        runtime::Pipelines::Create(bench().device(), {.threads = 1,
                                                      .first_use = runtime::FirstUse::kOn,
                                                      .debug_checks = runtime::DebugChecks::kOn});
    ASSERT_TRUE(pipelines.ok()) << ErrorText(pipelines.error());
    const runtime::ModuleWords modules[] = {
        {artifact::Stage::kCompute, variant.words(ir::Stage::kCompute)}};
    const auto id = (*pipelines)->Add("compute", variant.metadata(), modules, {});
    ASSERT_TRUE(id.ok()) << ErrorText(id.error());
    const auto report = (*pipelines)->Wait((*pipelines)->Warm({}), std::chrono::minutes(2));
    ASSERT_TRUE(report.ok()) << ErrorText(report.error());
    EXPECT_EQ(report->progress.first_uses,
              (*pipelines)->State(*id) == runtime::PipelineState::kUnsupported ? 0U : 1U);
  }
};

// Only a texture and a sampler, as many of one as of the other, share a number (spec/hlsl 16.3).
TEST_F(ImageKinds, OtherThings_DoNotShareANumber) {
  const struct {
    const char* declarations;
    const char* message;
  } kRows[] = {
      {"Texture2D t : register (t1); SamplerState s : register (s1);", ""},
      {"Texture2D t : register (t1); Texture2D s : register (t1);",
       "LAY2001 's' overlaps 't' at set0.1"},
      {"SamplerState t : register (s1); SamplerState s : register (s1);",
       "LAY2001 's' overlaps 't' at set0.1"},
      {"Texture2D t[2] : register (t1); SamplerState s : register (s1);",
       "LAY2001 's' overlaps 't' at set0.1"},
      {"Buffer<float> t : register (t1); SamplerState s : register (s1);",
       "LAY2001 's' overlaps 't' at set0.1"},
      {"RWTexture2D<float> t : register (u1); SamplerState s : register (s1);",
       "LAY2001 's' overlaps 't' at set0.1"},
      {"cbuffer t : register (b1) { float x; }; SamplerState s : register (s1);",
       "LAY2001 's' overlaps 't' at set0.1"},
      {"Texture2D t : register (t1); SamplerState s : register (s1); cbuffer c : register (b1) { "
       "float x; };",
       "LAY2001 's' overlaps 't' at set0.1"},
      {"Texture2D t : register (t1); SamplerState s : register (s1, space1);", ""},
      {"[[vk::combinedImageSampler]] Texture2D t;",
       "HLSL8004 't' belongs to combined samplers without a binding, which this build lacks"},
      {"[[vk::combinedImageSampler]] [[vk::binding (1)]] RWTexture2D<float> t;",
       "HLSL1049 attribute 'combinedImageSampler' does not apply to 'RWTexture2D<float>'"},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.declarations);
    const BuiltVariant variant(
        MeaningRequest(std::string(row.declarations) + "\n[numthreads (1, 1, 1)] void main () {}\n",
                       Version::k2021));
    EXPECT_EQ(variant.ok(), std::string_view(row.message).empty()) << variant.messages();
    EXPECT_THAT(variant.messages(), ::testing::HasSubstr(row.message));
  }
}

TEST_F(ImageKinds, Sampled_AreBoundAndRead) {
  for (const Row& row : SampledRows()) {
    Check(row);
  }
}
TEST_F(ImageKinds, WrittenAndTexelBuffers_AreBoundReadAndWritten) {
  for (const Row& row : WrittenRows()) {
    Check(row);
  }
}
TEST_F(ImageKinds, Arrays_HaveADescriptorForEachItem) {
  for (const Row& row : ArrayRows()) {
    Check(row);
  }
}

}  // namespace
}  // namespace kiln::hlsl
