// SPDX-License-Identifier: MIT
// The shaders of the demo frame, as SPIR-V assembly: a triangle over everything, and a mix of two
// images.
#pragma once

namespace kiln::graph {

// One triangle over everything, at depth 0.5.
inline constexpr const char* kScreenVertex = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %index %clip
OpDecorate %index BuiltIn VertexIndex
OpDecorate %clip BuiltIn Position
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%one_i = OpConstant %int 1
%two_i = OpConstant %int 2
%minus = OpConstant %float -1
%four = OpConstant %float 4
%half = OpConstant %float 0.5
%one = OpConstant %float 1
%v4 = OpTypeVector %float 4
%inint = OpTypePointer Input %int
%out4 = OpTypePointer Output %v4
%index = OpVariable %inint Input
%clip = OpVariable %out4 Output
%main = OpFunction %void None %fn
%l = OpLabel
%i = OpLoad %int %index
%xi = OpBitwiseAnd %int %i %one_i
%yi = OpShiftRightLogical %int %i %one_i
%xf = OpConvertSToF %float %xi
%yf = OpConvertSToF %float %yi
%x4 = OpFMul %float %xf %four
%y4 = OpFMul %float %yf %four
%x = OpFAdd %float %x4 %minus
%y = OpFAdd %float %y4 %minus
%p = OpCompositeConstruct %v4 %x %y %half %one
OpStore %clip %p
OpReturn
OpFunctionEnd
)";

// color = a × push.x + b × push.y + push.z, sampled at the pixel; push.w is the size of a texel.
inline constexpr const char* kMixFragment = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %coord %color
OpExecutionMode %main OriginUpperLeft
OpDecorate %coord BuiltIn FragCoord
OpDecorate %color Location 0
OpDecorate %sampler DescriptorSet 0
OpDecorate %sampler Binding 0
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 1
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 2
OpDecorate %Push Block
OpMemberDecorate %Push 0 Offset 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%Push = OpTypeStruct %v4
%ppush = OpTypePointer PushConstant %Push
%pv4 = OpTypePointer PushConstant %v4
%in4 = OpTypePointer Input %v4
%out4 = OpTypePointer Output %v4
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%uimage = OpTypePointer UniformConstant %image
%sampler_type = OpTypeSampler
%usampler = OpTypePointer UniformConstant %sampler_type
%sampled = OpTypeSampledImage %image
%coord = OpVariable %in4 Input
%color = OpVariable %out4 Output
%push = OpVariable %ppush PushConstant
%a = OpVariable %uimage UniformConstant
%b = OpVariable %uimage UniformConstant
%sampler = OpVariable %usampler UniformConstant
%main = OpFunction %void None %fn
%l = OpLabel
%pa = OpAccessChain %pv4 %push %zero
%p = OpLoad %v4 %pa
%wa = OpCompositeExtract %float %p 0
%wb = OpCompositeExtract %float %p 1
%add = OpCompositeExtract %float %p 2
%texel = OpCompositeExtract %float %p 3
%c = OpLoad %v4 %coord
%xy = OpVectorShuffle %v2 %c %c 0 1
%uv = OpVectorTimesScalar %v2 %xy %texel
%s = OpLoad %sampler_type %sampler
%ia = OpLoad %image %a
%sa = OpSampledImage %sampled %ia %s
%xa = OpImageSampleImplicitLod %v4 %sa %uv
%ib = OpLoad %image %b
%sb = OpSampledImage %sampled %ib %s
%xb = OpImageSampleImplicitLod %v4 %sb %uv
%ma = OpVectorTimesScalar %v4 %xa %wa
%mb = OpVectorTimesScalar %v4 %xb %wb
%sum = OpFAdd %v4 %ma %mb
%adds = OpCompositeConstruct %v4 %add %add %add %add
%out = OpFAdd %v4 %sum %adds
OpStore %color %out
OpReturn
OpFunctionEnd
)";

}  // namespace kiln::graph
