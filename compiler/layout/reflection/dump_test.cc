// SPDX-License-Identifier: MIT
#include "compiler/layout/reflection/dump.h"

#include <gtest/gtest.h>

#include "tests/support/interface_writer.h"

namespace kiln::layout {
namespace {

using ir::BufferKind;
using ir::ContainerKind;
using ir::ResourceSet;

TEST(Dump, EveryKindOfDeclaration_IsPrinted) {
  ir::Pool pool;
  InterfaceWriter w(pool);
  w.Container(ContainerKind::kVertexAttributes, "mesh",
              {{"f3", "position"}, {"f3x3", "spin", "snorm16"}});
  w.Container(ContainerKind::kState, "vary", {{"f4x4", "basis"}, {"f2", "uv"}});
  w.Container(ContainerKind::kColorOutput, "target", {{"f4", "albedo"}});
  w.Struct("gust_t", {{"f3", "axis"}, {"f1[2]", "phase"}});
  w.Buffer(BufferKind::kUniform, ResourceSet::kPass, "view", {{"f4x4[2]", "clip"}});
  w.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kObject, "wind",
           {{"gust_t[3]", "gusts"}, {"f2...", "tail"}});
  w.PushConstant("draw", {{"f4", "tint"}});
  w.BeginModule();
  w.Sampler(ResourceSet::kMaterial, "wrap");
  w.Image(ResourceSet::kMaterial, "image_color_2d[4]", "layers");

  TypeLayouts types(pool);
  EXPECT_EQ(DumpLayout(w.variant(), target::Target{}, types), R"(kiln-layout 1
target vulkan policy rpl uniform std140 storage std430 push std430
vertex_buffer mesh 0 vertex 32
  0 12 position float32x3 location 0
  12 18 spin snorm16x9 location 1
state vary
  0 basis f4x4
  4 uv f2
color_output target
  0 albedo f4
param view uniform_buffer unit u0
  leaf view uniform_buffer set0.0
  block std140 size 128 align 16
    0 128 clip f4x4[2] stride 64 matrix 16 col
param wind read_only_storage_buffer unit u0
  leaf wind read_only_storage_buffer set2.0
  block std430 size unsized align 16 tail 96 8
    0 96 gusts gust_t[3] stride 32
    0 12 gusts[0].axis f3
    12 8 gusts[0].phase f1[2] stride 4
    96 unsized tail f2... stride 8
param draw push_constant unit u0
  leaf draw push_constant push
  block std430 size 16 align 16
    0 16 tint f4
param wrap sampler unit u1
  leaf wrap sampler set1.0
param layers image_color_2d[4] unit u1
  leaf layers image_color_2d set1.1[4]
)");
}

}  // namespace
}  // namespace kiln::layout
