// SPDX-License-Identifier: MIT
// SPIR-V for tests, as assembly: the two stages that SampleMetadata describes, and a compute
// shader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

namespace kiln::runtime {

inline std::vector<uint32_t> Assemble(const std::string& text) {
  const spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(text, &words)) << text;
  EXPECT_TRUE(tools.Validate(words)) << text;
  return words;
}

// gl_Position = view.clip_from_world * world_from_mesh * position; passes color on.
inline constexpr const char* kSampleVertex = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "vertex_main" %position %color %matrix %clip %out_color
OpDecorate %position Location 0
OpDecorate %color Location 1
OpDecorate %matrix Location 2
OpDecorate %out_color Location 0
OpDecorate %clip BuiltIn Position
OpDecorate %View Block
OpMemberDecorate %View 0 Offset 0
OpMemberDecorate %View 0 ColMajor
OpMemberDecorate %View 0 MatrixStride 16
OpDecorate %view DescriptorSet 0
OpDecorate %view Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%zero = OpConstant %int 0
%one = OpConstant %float 1
%v3 = OpTypeVector %float 3
%v4 = OpTypeVector %float 4
%m4 = OpTypeMatrix %v4 4
%in3 = OpTypePointer Input %v3
%in4 = OpTypePointer Input %v4
%inm = OpTypePointer Input %m4
%outp = OpTypePointer Output %v4
%View = OpTypeStruct %m4
%uview = OpTypePointer Uniform %View
%um = OpTypePointer Uniform %m4
%position = OpVariable %in3 Input
%color = OpVariable %in4 Input
%matrix = OpVariable %inm Input
%clip = OpVariable %outp Output
%out_color = OpVariable %outp Output
%view = OpVariable %uview Uniform
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpLoad %v3 %position
%p4 = OpCompositeConstruct %v4 %p %one
%m = OpLoad %m4 %matrix
%w = OpMatrixTimesVector %v4 %m %p4
%va = OpAccessChain %um %view %zero
%vm = OpLoad %m4 %va
%c = OpMatrixTimesVector %v4 %vm %w
OpStore %clip %c
%col = OpLoad %v4 %color
OpStore %out_color %col
OpReturn
OpFunctionEnd
)";

// radiance = color * material.tint * layers[1] sampled at the middle + push.add
inline constexpr const char* kSampleFragment = R"(
OpCapability Shader
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "fragment_main" %color %radiance
OpExecutionMode %main OriginUpperLeft
OpDecorate %color Location 0
OpDecorate %radiance Location 0
OpDecorate %Material Block
OpMemberDecorate %Material 0 Offset 0
OpDecorate %material DescriptorSet 1
OpDecorate %material Binding 0
OpDecorate %smooth DescriptorSet 1
OpDecorate %smooth Binding 1
OpDecorate %layers DescriptorSet 1
OpDecorate %layers Binding 2
OpDecorate %Push Block
OpMemberDecorate %Push 0 Offset 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%zero = OpConstant %int 0
%one = OpConstant %int 1
%three = OpConstant %uint 3
%half = OpConstant %float 0.5
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%middle = OpConstantComposite %v2 %half %half
%Material = OpTypeStruct %v4
%Push = OpTypeStruct %v4
%umat = OpTypePointer Uniform %Material
%uv4 = OpTypePointer Uniform %v4
%ppush = OpTypePointer PushConstant %Push
%pv4 = OpTypePointer PushConstant %v4
%in4 = OpTypePointer Input %v4
%out4 = OpTypePointer Output %v4
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%images = OpTypeArray %image %three
%uimages = OpTypePointer UniformConstant %images
%uimage = OpTypePointer UniformConstant %image
%sampler = OpTypeSampler
%usampler = OpTypePointer UniformConstant %sampler
%sampled = OpTypeSampledImage %image
%color = OpVariable %in4 Input
%radiance = OpVariable %out4 Output
%material = OpVariable %umat Uniform
%push = OpVariable %ppush PushConstant
%layers = OpVariable %uimages UniformConstant
%smooth = OpVariable %usampler UniformConstant
%main = OpFunction %void None %fn
%l = OpLabel
%c = OpLoad %v4 %color
%ta = OpAccessChain %uv4 %material %zero
%t = OpLoad %v4 %ta
%ia = OpAccessChain %uimage %layers %one
%i = OpLoad %image %ia
%s = OpLoad %sampler %smooth
%si = OpSampledImage %sampled %i %s
%x = OpImageSampleImplicitLod %v4 %si %middle
%aa = OpAccessChain %pv4 %push %zero
%a = OpLoad %v4 %aa
%ct = OpFMul %v4 %c %t
%ctx = OpFMul %v4 %ct %x
%sum = OpFAdd %v4 %ctx %a
OpStore %radiance %sum
OpReturn
OpFunctionEnd
)";

// values[global id] = SpecId 3 (default 4)
inline constexpr const char* kSampleCompute = R"(
OpCapability Shader
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "fill" %id
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %value SpecId 3
OpDecorate %Values Block
OpMemberDecorate %Values 0 Offset 0
OpDecorate %array ArrayStride 4
OpDecorate %values DescriptorSet 0
OpDecorate %values Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%value = OpSpecConstant %uint 4
%v3 = OpTypeVector %uint 3
%in3 = OpTypePointer Input %v3
%in1 = OpTypePointer Input %uint
%array = OpTypeRuntimeArray %uint
%Values = OpTypeStruct %array
%svalues = OpTypePointer StorageBuffer %Values
%suint = OpTypePointer StorageBuffer %uint
%id = OpVariable %in3 Input
%values = OpVariable %svalues StorageBuffer
%main = OpFunction %void None %fn
%l = OpLabel
%xa = OpAccessChain %in1 %id %zero
%x = OpLoad %uint %xa
%e = OpAccessChain %suint %values %zero %x
OpStore %e %value
OpReturn
OpFunctionEnd
)";

}  // namespace kiln::runtime
