// SPDX-License-Identifier: MIT
// Guaranteed properties of byte layouts over random blocks: P15 to P19 of spec/layout 15, and a
// second formulation of the rules of D3D constant buffers.
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "compiler/layout/bytes.h"
#include "compiler/layout/engine/wgsl_checks.h"
#include "tests/layout/random_types.h"
#include "tests/layout/runs.h"

namespace kiln::layout {
namespace {

constexpr Rules kStrictRules[] = {Rules::kStd140, Rules::kStd430, Rules::kScalar, Rules::kC,
                                  Rules::kD3dCbuffer};

class BytesProperty : public testing::Test {
 protected:
  // Every struct of Runs() random blocks.
  void ForAllStructs(const std::function<void(TypeId)>& check,
                     RandomTypes::Scalars scalars = RandomTypes::Scalars::kAll) {
    RandomTypes random(types, 7, scalars);
    for (uint32_t i = 0; i < Runs(2000); ++i) {
      random.Block();
    }
    for (uint32_t row = 0, count = types.size(); row < count; ++row) {
      if (types[TypeId{row}].kind == TypeKind::kStruct) {
        check(TypeId{row});
      }
      if (HasFailure()) {
        FAIL() << Text(TypeId{row});
      }
    }
  }
  std::string Text(TypeId type) {
    std::string text;
    for (const Member& member : types.Members(type)) {
      text += fmt::format("{}{} {}; ", member.order == MatrixOrder::kRow ? "row " : "",
                          TypeText(types, member.type), member.name);
    }
    return text;
  }

  // Does every vector in a value that stands at `at` touch one line of 16 bytes alone?
  bool VectorsKeepToLines(const Member& value, Rules rules, uint64_t at) {
    const Type& type = types[value.type];
    const TypeLayout& layout = bytes.Of(value, rules);
    if (type.kind == TypeKind::kVector) {
      return layout.size > 16 || at / 16 == (at + layout.size - 1) / 16;
    }
    bool keep = true;
    if (type.kind == TypeKind::kArray) {
      for (uint32_t i = 0; i < type.extent; ++i) {
        const Member item{.type = type.element, .order = value.order};
        keep = keep && VectorsKeepToLines(item, rules, at + uint64_t{i} * layout.stride);
      }
    } else if (type.kind == TypeKind::kStruct) {
      for (size_t i = 0; i < types.Members(value.type).size(); ++i) {
        const Member member = types.Members(value.type)[i];
        keep = keep && VectorsKeepToLines(member, rules, at + layout.offsets[i]);
      }
    }
    return keep;
  }

  Types types;
  ByteLayouts bytes{types};
};

TEST_F(BytesProperty, P15_MembersAreAlignedAndDisjoint) {
  ForAllStructs([this](TypeId type) {
    for (const Rules rules : kStrictRules) {
      const TypeLayout& layout = bytes.Of(type, rules);
      const auto members = types.Members(type);
      uint64_t end = 0;
      for (size_t i = 0; i < members.size(); ++i) {
        const TypeLayout& member = bytes.Of(members[i], rules);
        EXPECT_EQ(layout.offsets[i] % member.alignment, 0u);
        EXPECT_GE(layout.offsets[i], end);
        end = layout.offsets[i] + member.size;
        const bool vector = types[members[i].type].kind == TypeKind::kVector;
        if (rules == Rules::kD3dCbuffer && vector && member.size <= 16) {
          EXPECT_EQ(layout.offsets[i] / 16, (end - 1) / 16);
        }
      }
      EXPECT_GE(layout.size, end);
    }
  });
}

TEST_F(BytesProperty, P16_StridesHoldTheirItems) {
  ForAllStructs([this](TypeId type) {
    for (const Member& member : types.Members(type)) {
      for (TypeId at = member.type; IsArray(types[at]); at = types[at].element) {
        for (const Rules rules : kStrictRules) {
          const TypeLayout& array = bytes.Of(Member{.type = at, .order = member.order}, rules);
          const TypeLayout& item =
              bytes.Of(Member{.type = types[at].element, .order = member.order}, rules);
          EXPECT_GE(array.stride, item.size);
          EXPECT_EQ(array.stride % item.alignment, 0u);
          if (rules == Rules::kStd140 || rules == Rules::kD3dCbuffer) {
            EXPECT_EQ(array.stride % 16, 0u);
          }
        }
      }
    }
  });
}

TEST_F(BytesProperty, P17_TighterRulesNeverNeedMore) {
  constexpr std::pair<Rules, Rules> kTighter[] = {{Rules::kScalar, Rules::kC},
                                                  {Rules::kC, Rules::kStd430},
                                                  {Rules::kStd430, Rules::kStd140},
                                                  {Rules::kScalar, Rules::kD3dCbuffer},
                                                  {Rules::kD3dCbuffer, Rules::kStd140}};
  ForAllStructs([&](TypeId type) {
    for (const auto& [tight, wide] : kTighter) {
      const TypeLayout& a = bytes.Of(type, tight);
      const TypeLayout& b = bytes.Of(type, wide);
      EXPECT_LE(a.size, b.size) << TraitsOf(tight).name << " " << TraitsOf(wide).name;
      for (size_t i = 0; i < a.offsets.size(); ++i) {
        EXPECT_LE(a.offsets[i], b.offsets[i]) << TraitsOf(tight).name << " " << TraitsOf(wide).name;
      }
    }
  });
}

TEST_F(BytesProperty, P18_AWrappedStructKeepsItsSize) {
  ForAllStructs([this](TypeId type) {
    const Member only[] = {{.name = "only", .type = type}};
    const TypeId wrapped = types.Struct("wrapped", only);
    for (uint32_t r = 0; r < kRulesCount; ++r) {
      const auto rules = static_cast<Rules>(r);
      EXPECT_EQ(bytes.Of(wrapped, rules).size, bytes.Of(type, rules).size) << TraitsOf(rules).name;
    }
  });
}

TEST_F(BytesProperty, RelaxedVectors_KeepToTheirLinesWhereverTheyStand) {
  ForAllStructs([this](TypeId type) {
    for (const auto& [relaxed, strict] : {std::pair{Rules::kStd140Relaxed, Rules::kStd140},
                                          std::pair{Rules::kStd430Relaxed, Rules::kStd430}}) {
      const TypeLayout& a = bytes.Of(type, relaxed);
      const TypeLayout& b = bytes.Of(type, strict);
      // A struct begins a line where it must.
      EXPECT_TRUE(a.alignment == b.alignment || (a.alignment == 16 && b.alignment < 16));
      const auto members = types.Members(type);
      bool flat = true;  // no structs, which may be larger than under the strict rules
      for (size_t i = 0; i < members.size(); ++i) {
        TypeId inner = members[i].type;
        while (IsArray(types[inner])) {
          inner = types[inner].element;
        }
        flat = flat && types[inner].kind != TypeKind::kStruct;
        EXPECT_TRUE(!flat || a.offsets[i] <= b.offsets[i]);
        const Type& member = types[members[i].type];
        if (member.kind == TypeKind::kVector && ScalarSize(member.scalar) <= 4) {
          EXPECT_EQ(a.offsets[i] % ScalarSize(member.scalar), 0u);
        }
      }
      // The strides of arrays of this struct are multiples of its size.
      const uint64_t stride = RoundUp(a.size, a.alignment);
      for (uint64_t at = 0; at < 4 * stride; at += stride) {
        EXPECT_TRUE(VectorsKeepToLines({.type = type}, relaxed, at)) << TraitsOf(relaxed).name;
      }
    }
  });
}

TEST_F(BytesProperty, Std140IsUniformValidWhenExpressible) {
  ForAllStructs([this](TypeId type) {
    if (!FindNotExpressible(bytes, type, Rules::kStd140)) {
      EXPECT_TRUE(UniformIssues(bytes, type, Rules::kStd140).empty());
    }
  });
}

// D3D again: what needs a register of its own is asked first, then whether the rest of the current
// register is enough, and natural alignment only inside it.
class SecondD3d {
 public:
  SecondD3d(const Types& types, ByteLayouts& bytes) : types(types), bytes(bytes) {}

  std::vector<uint64_t> Offsets(TypeId type) {
    std::vector<uint64_t> offsets;
    uint64_t next = 0;
    for (const Member& member : types.Members(type)) {
      const uint64_t size = SizeOf(member.type, bytes.OrderOf(member));
      const Type& row = types[member.type];
      const uint64_t used = next % 16;
      const bool vector = row.kind == TypeKind::kVector;
      const uint64_t unit = vector ? ScalarSize(row.scalar) : 16;
      const uint64_t natural = (next + unit - 1) / unit * unit;
      const bool fresh = !vector || (used != 0 && natural % 16 + size > 16 && natural % 16 != 0);
      next = fresh ? (next + 15) / 16 * 16 : natural;
      offsets.push_back(next);
      next += size;
    }
    end_ = next;
    return offsets;
  }
  uint64_t SizeOf(TypeId id, MatrixOrder order) {
    const Type& type = types[id];
    switch (type.kind) {
      case TypeKind::kVector:
        return uint64_t{ScalarSize(type.scalar)} * type.rows;
      case TypeKind::kMatrix: {
        const bool rows = order == MatrixOrder::kRow;
        const uint64_t vector =
            uint64_t{ScalarSize(type.scalar)} * (rows ? type.columns : type.rows);
        return Repeated(vector, rows ? type.rows : type.columns);
      }
      case TypeKind::kArray:
        return Repeated(SizeOf(type.element, order), type.extent);
      case TypeKind::kStruct:
        Offsets(id);
        return end_;
      default:
        return 0;
    }
  }

 private:
  static uint64_t Repeated(uint64_t size, uint64_t count) {
    return (size + 15) / 16 * 16 * (count - 1) + size;
  }
  const Types& types;
  ByteLayouts& bytes;
  uint64_t end_ = 0;
};

TEST_F(BytesProperty, D3dRegisters_AgreeWithASecondFormulation) {
  SecondD3d second(types, bytes);
  ForAllStructs([&](TypeId type) {
    const TypeLayout& layout = bytes.Of(type, Rules::kD3dCbuffer);
    EXPECT_EQ(layout.size, second.SizeOf(type, MatrixOrder::kColumn));
    EXPECT_EQ(layout.offsets, second.Offsets(type));
  });
}

// --- P19: what the SPIR-V validator says of std140 numbers ---

// A module with one uniform block, as assembly.
class BlockModule {
 public:
  BlockModule(const Types& types, ByteLayouts& bytes) : types(types), bytes(bytes) {}

  std::string Text(TypeId block) {
    const std::string type = Struct(block);
    return "OpCapability Shader\nOpCapability Float16\nOpCapability Int16\nOpCapability Int8\n"
           "OpCapability Float64\nOpCapability Int64\n"
           "OpCapability UniformAndStorageBuffer16BitAccess\n"
           "OpCapability UniformAndStorageBuffer8BitAccess\n"
           "OpExtension \"SPV_KHR_16bit_storage\"\nOpExtension \"SPV_KHR_8bit_storage\"\n"
           "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n"
           "OpExecutionMode %main LocalSize 1 1 1\n"
           "OpDecorate %var DescriptorSet 0\nOpDecorate %var Binding 0\n"
           "OpDecorate " +
           type + " Block\n" + annotations_ +
           "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n" +
           types_text_ + "%ptr = OpTypePointer Uniform " + type +
           "\n%var = OpVariable %ptr Uniform\n"
           "%main = OpFunction %void None %fn\n%label = OpLabel\nOpReturn\nOpFunctionEnd\n";
  }

 private:
  std::string Scalar(ScalarKind scalar) {
    switch (scalar) {
      case ScalarKind::kF16:
        return Once("f16", "OpTypeFloat 16");
      case ScalarKind::kF32:
        return Once("f32", "OpTypeFloat 32");
      case ScalarKind::kF64:
        return Once("f64", "OpTypeFloat 64");
      case ScalarKind::kI32:
        return Once("i32", "OpTypeInt 32 1");
      default:
        return "%uint";
    }
  }
  std::string Once(const std::string& name, const std::string& text) {
    if (known_.insert(name).second) {
      types_text_ += "%" + name + " = " + text + "\n";
    }
    return "%" + name;
  }
  std::string New(const std::string& text) {
    std::string id = fmt::format("%t{}", next_++);
    types_text_ += id + " = " + text + "\n";
    return id;
  }
  std::string Value(TypeId id, MatrixOrder order) {
    const Type& type = types[id];
    const auto vector = [&](uint32_t n) {
      const std::string scalar = Scalar(type.scalar);
      return n == 1 ? scalar
                    : Once(fmt::format("v{}_{}", n, scalar.substr(1)),
                           fmt::format("OpTypeVector {} {}", scalar, n));
    };
    if (type.kind == TypeKind::kVector) {
      return vector(type.rows);
    }
    if (type.kind == TypeKind::kMatrix) {
      const std::string column = vector(type.rows);
      return Once(fmt::format("m{}_{}", type.columns, column.substr(1)),
                  fmt::format("OpTypeMatrix {} {}", column, type.columns));
    }
    if (type.kind == TypeKind::kStruct) {
      return Struct(id);
    }
    const std::string element = Value(type.element, order);
    const std::string extent = fmt::format("n{}", type.extent);
    Once(extent, fmt::format("OpConstant %uint {}", type.extent));
    std::string array = New(fmt::format("OpTypeArray {} %{}", element, extent));
    annotations_ +=
        fmt::format("OpDecorate {} ArrayStride {}\n", array,
                    bytes.Of(Member{.type = id, .order = order}, Rules::kStd140).stride);
    return array;
  }
  std::string Struct(TypeId id) {
    const auto members = types.Members(id);
    std::string text = "OpTypeStruct";
    for (const Member& member : members) {
      text += " " + Value(member.type, bytes.OrderOf(member));
    }
    std::string self = New(text);
    const TypeLayout& layout = bytes.Of(id, Rules::kStd140);
    for (size_t i = 0; i < members.size(); ++i) {
      annotations_ += fmt::format("OpMemberDecorate {} {} Offset {}\n", self, i, layout.offsets[i]);
      if (const uint32_t stride = bytes.Of(members[i], Rules::kStd140).matrix_stride) {
        const bool row = bytes.OrderOf(members[i]) == MatrixOrder::kRow;
        annotations_ +=
            fmt::format("OpMemberDecorate {} {} {}\n", self, i, row ? "RowMajor" : "ColMajor");
        annotations_ += fmt::format("OpMemberDecorate {} {} MatrixStride {}\n", self, i, stride);
      }
    }
    return self;
  }

  const Types& types;
  ByteLayouts& bytes;
  std::string annotations_;
  std::string types_text_;
  std::set<std::string> known_;
  int next_ = 0;
};

// The validator knows 32-bit numbers and 16- and 64-bit floats of these blocks; integers of other
// widths are written as 32 bits, so blocks that have some are left out.
bool HasOtherIntegers(const Types& types, TypeId id) {
  const Type& type = types[ItemOf(types, id)];
  if (type.kind == TypeKind::kStruct) {
    for (const Member& member : types.Members(ItemOf(types, id))) {
      if (HasOtherIntegers(types, member.type)) {
        return true;
      }
    }
    return false;
  }
  const bool integer_matrix = type.kind == TypeKind::kMatrix && type.scalar != ScalarKind::kF32 &&
                              type.scalar != ScalarKind::kF16 && type.scalar != ScalarKind::kF64;
  return integer_matrix || (type.scalar != ScalarKind::kF16 && type.scalar != ScalarKind::kF64 &&
                            ScalarSize(type.scalar) != 4);
}

TEST_F(BytesProperty, P19_TheValidatorAcceptsStd140UnderAllItsRules) {
  const spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
  RandomTypes random(types, 19);
  uint32_t checked = 0;
  for (uint32_t tries = 0; checked < Runs(100); ++tries) {
    ASSERT_LT(tries, 1000 * (Runs(100) + 1));
    const TypeId block = random.Block(2);
    if (HasOtherIntegers(types, block)) {
      continue;
    }
    ++checked;
    const std::string text = BlockModule(types, bytes).Text(block);
    std::vector<uint32_t> words;
    ASSERT_TRUE(tools.Assemble(text, &words)) << text;
    for (int mode = 0; mode < 3; ++mode) {
      spvtools::ValidatorOptions options;
      options.SetUniformBufferStandardLayout(mode == 1);
      options.SetScalarBlockLayout(mode == 2);
      std::string message;
      spvtools::SpirvTools validator(SPV_ENV_VULKAN_1_2);
      validator.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                                       const char* what) { message = what; });
      ASSERT_TRUE(validator.Validate(words.data(), words.size(), options)) << message << "\n"
                                                                           << Text(block) << "\n"
                                                                           << text;
    }
  }
}

}  // namespace
}  // namespace kiln::layout
