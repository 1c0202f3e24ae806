// SPDX-License-Identifier: MIT
// The two public forms of a layout say the same: JSON, and the message of layout.proto as
// protobuf's own parser reads it. Programs use every field that there is.
#include <set>
#include <string>

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/layout/reflection/reflection.h"
#include "proto/kiln/v1/layout.pb.h"
#include "tests/support/program_writer.h"

namespace kiln::layout {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string Serialised(const Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

// Compares a message with an object of the JSON, and keeps the fields that were seen.
class Comparison {
 public:
  void Same(const Message& message, const Json& object, const std::string& path) {
    const Descriptor& type = *message.GetDescriptor();
    for (const auto& [key, value] : object.items()) {
      EXPECT_NE(type.FindFieldByName(key), nullptr) << path << "." << key;
    }
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const bool known = object.contains(field.name());
      Field(message, field, known ? object[field.name()] : Json(), path + "." + field.name());
    }
  }
  const std::set<std::string>& seen() const { return seen_; }

 private:
  void Field(const Message& message, const FieldDescriptor& field, const Json& value,
             const std::string& path) {
    const auto& reflection = *message.GetReflection();
    if (field.is_map()) {
      Usage(static_cast<const v1::LayoutReflection&>(message), value);
      seen_.insert(field.full_name());
    } else if (field.is_repeated()) {
      const size_t size = value.is_null() ? 0 : value.size();
      ASSERT_EQ(static_cast<size_t>(reflection.FieldSize(message, &field)), size) << path;
      for (size_t i = 0; i < size; ++i) {
        Item(message, field, static_cast<int>(i), value[i], path);
      }
    } else if (value.is_null() || (value.is_string() && field.has_presence())) {
      EXPECT_FALSE(reflection.HasField(message, &field)) << path;
    } else if (field.message_type() != nullptr) {
      ASSERT_TRUE(reflection.HasField(message, &field)) << path;
      Same(reflection.GetMessage(message, &field), value, path);
    } else {
      EXPECT_EQ(Scalar(message, field), value) << path;
      EXPECT_TRUE(!field.has_presence() || reflection.HasField(message, &field)) << path;
      if (reflection.HasField(message, &field)) {
        seen_.insert(field.full_name());
      }
    }
  }

  void Item(const Message& message, const FieldDescriptor& field, int i, const Json& value,
            const std::string& path) {
    const auto& reflection = *message.GetReflection();
    seen_.insert(field.full_name());
    if (field.message_type() != nullptr) {
      Same(reflection.GetRepeatedMessage(message, &field, i), value, path);
    } else {
      EXPECT_EQ(reflection.GetRepeatedUInt64(message, &field, i), value.get<uint64_t>()) << path;
    }
  }

  static Json Scalar(const Message& message, const FieldDescriptor& field) {
    const auto& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection.GetUInt64(message, &field);
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection.GetBool(message, &field);
      default:
        return reflection.GetString(message, &field);
    }
  }

  static void Usage(const v1::LayoutReflection& message, const Json& value) {
    ASSERT_EQ(message.usage().size(), value.size());
    for (const auto& [name, stages] : value.items()) {
      ASSERT_TRUE(message.usage().contains(name));
      const auto& list = message.usage().at(name).stages();
      EXPECT_EQ(std::vector<std::string>(list.begin(), list.end()),
                stages.get<std::vector<std::string>>());
    }
  }

  std::set<std::string> seen_;
};

void Compare(ProgramWriter& w, Platform platform, Comparison& comparison) {
  const std::vector<ParameterUsage> usage = {{"z", {"vertex", "fragment"}}, {"a", {}}};
  const ProgramLayout layout = w.Run(platform);
  ASSERT_TRUE(layout.ok()) << w.Messages(platform);
  const Bytes bytes = ReflectionBytes(w.program(), layout, w.bytes(), usage);
  v1::LayoutReflection message;
  ASSERT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(Serialised(message), AsText(bytes));
  comparison.Same(message, Json::parse(ReflectionJson(w.program(), layout, w.bytes(), usage)), "");
}

void AddResources(ProgramWriter& w) {
  w.settings().globals_binding = {.index = 3, .space = 2};
  w.Struct("S", {{"v", "vec3<f32>"}, {"t", "Texture2D[2]"}, {"w", "f32[3]"}});
  w.StructOf("M", {{.name = "m", .type = w.Type("mat_r2c2<f32>")},
                   {.name = "r", .type = w.Type("mat_r4c4<f32>"), .order = MatrixOrder::kRow}});
  w.Add("x", "f32").absent = true;
  w.Add("m", "ConstantBuffer<M>");
  w.Add("s", "StructuredBuffer<S>").slot = {.index = 9, .space = 1};
  w.Add("p", "ParameterBlock<S>[2]");
  w.Add("i", w.types().Resource(ResourceClass::kSubpass, "SubpassInput"));
  Parameter& d = w.Add("d", "ConstantBuffer<M>");
  d.role = Role::kPush;
  w.Add("id", "u32").role = Role::kSpecialization;
  w.Add("id2", "u32").role = Role::kSpecialization;
  w.Struct("Tail", {{"n", "u32"}, {"v", "vec4<f32>[]"}});
  w.Add("tail", w.types().StorageBuffer(ResourceClass::kRead, "ByteAddressBuffer", w.Type("Tail")));
  w.Add("u", "Texture2D[]");
  w.Entry("shade", "fragment").parameters = {
      {.varying = Varying{.name = "uv", .type = w.Type("vec2<f32>"), .interpolation = "flat"}},
      {.varying = Varying{.name = "at", .type = w.Type("vec4<f32>"), .builtin = "position"}},
      {.varying = Varying{.name = "c",
                          .type = w.Type("vec4<f32>"),
                          .direction = Direction::kOut,
                          .semantic = "SV_Target",
                          .semantic_index = 1}}};
}

std::set<std::string> FieldsOf(const Descriptor& type) {
  std::set<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->message_type() == nullptr || type.field(i)->is_repeated()) {
      names.insert(type.field(i)->full_name());
    }
  }
  for (int i = 0; i < type.nested_type_count(); ++i) {
    if (!type.nested_type(i)->options().map_entry() && type.nested_type(i)->name() != "Stages") {
      names.merge(FieldsOf(*type.nested_type(i)));
    }
  }
  return names;
}

TEST(ReflectionProto, EveryField_IsThatOfTheJson) {
  Comparison comparison;
  ProgramWriter vulkan;
  AddResources(vulkan);
  Compare(vulkan, Platform::kVulkan, comparison);
  ProgramWriter d3d12;
  AddResources(d3d12);
  Compare(d3d12, Platform::kD3d12, comparison);
  ProgramWriter webgpu;
  webgpu.settings().webgpu_arrays = WebgpuArrays::kSplit;
  webgpu.StructOf(
      "M", {{.name = "m", .type = webgpu.Type("mat_r2c2<f32>")},
            {.name = "r", .type = webgpu.Type("mat_r4c4<f32>"), .order = MatrixOrder::kRow}});
  webgpu.Add("d", "ConstantBuffer<M>").role = Role::kPush;
  webgpu.Add("t", "Texture2D[3]").slot = {.index = 2, .space = 1};
  Compare(webgpu, Platform::kWebgpu, comparison);
  ProgramWriter rpl;
  rpl.program().policy = Policy::kRpl;
  rpl.program().units[0].containers = {
      {.name = "mesh",
       .role = ContainerRole::kInstance,
       .fields = {{.name = "position", .type = rpl.Type("vec3<f32>")},
                  {.name = "normal",
                   .type = rpl.Type("vec3<f32>"),
                   .format = ItemFormat::kSnorm8}}},
      {.name = "more", .fields = {{.name = "p", .type = rpl.Type("mat_r3c3<f32>")}}}};
  Compare(rpl, Platform::kVulkan, comparison);
  EXPECT_EQ(comparison.seen(), FieldsOf(*v1::LayoutReflection::descriptor()));
}

}  // namespace
}  // namespace kiln::layout
