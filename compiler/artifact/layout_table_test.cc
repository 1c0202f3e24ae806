// SPDX-License-Identifier: MIT
#include "compiler/artifact/layout_table.h"

#include <gtest/gtest.h>

namespace kiln::artifact {
namespace {

TEST(LayoutTable, Padding_IsVisible) {
  PipelineMetadata metadata;
  metadata.attribute_sources = {{.name = "mesh",
                                 .binding = 0,
                                 .block_size = 16,
                                 .attributes = {{.name = "position",
                                                 .kind = AttributeClass::kVector3,
                                                 .item_format = ItemFormat::kFloat32},
                                                {.name = "layer",
                                                 .location = 1,
                                                 .offset = 12,
                                                 .kind = AttributeClass::kVector1,
                                                 .item_format = ItemFormat::kUint16}}}};
  metadata.sets[1].buffers = {
      {.name = "table",
       .binding = 2,
       .type = BufferType::kReadOnlyStorage,
       .main_size = 128,
       .tail_item_size = 8,
       .main_parameters =
           {{.name = "size", .type = ParameterType::kF1, .offset = 0},
            {.name = "axes", .type = ParameterType::kF3x3, .offset = 16, .matrix_stride = 16},
            {.name = "weights",
             .type = ParameterType::kF2,
             .offset = 112,
             .total_item_count = 2,
             .dimensions = {2},
             .array_stride = 8}},
       .tail_offset = 128,
       .tail_field = "rest",
       .tail_type = "f2",
       .stages = {Stage::kFragment}}};
  metadata.sets[1].images = {
      {.name = "layers", .binding = 3, .image_array_size = 4, .is_array = true}};
  EXPECT_EQ(LayoutTable(metadata),
            "vertex buffer 0 mesh  16 bytes per vertex\n"
            "    offset   size stride matrix\n"
            "         0     12                position float32x3 location 0\n"
            "        12      2                layer uint16x1 location 1\n"
            "        14      2                (padding)\n"
            "set 1 material\n"
            "  set1.2 read_only_storage table  128 bytes  fragment\n"
            "    offset   size stride matrix\n"
            "         0      4                size f1\n"
            "         4     12                (padding)\n"
            "        16     48            16  axes f3x3\n"
            "        64     48                (arrays of structs)\n"
            "       112     16      8         weights f2[2]\n"
            "    tail rest f2[] from 128, stride 8\n"
            "  set1.3[4] image_color_2d layers  unused\n");
}

TEST(LayoutTable, Halves_TakeTwoBytes) {
  PipelineMetadata metadata;
  metadata.sets[1].buffers = {
      {.name = "table",
       .type = BufferType::kReadOnlyStorage,
       .main_size = 12,
       .main_parameters = {{.name = "a", .type = ParameterType::kH3, .offset = 0},
                           {.name = "b", .type = ParameterType::kH1, .offset = 6},
                           {.name = "c", .type = ParameterType::kH1, .offset = 8}},
       .stages = {Stage::kFragment}}};
  EXPECT_EQ(LayoutTable(metadata),
            "set 1 material\n"
            "  set1.0 read_only_storage table  12 bytes  fragment\n"
            "    offset   size stride matrix\n"
            "         0      6                a h3\n"
            "         6      2                b h1\n"
            "         8      2                c h1\n"
            "        10      2                (padding)\n");
}

}  // namespace
}  // namespace kiln::artifact
