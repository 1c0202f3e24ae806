// SPDX-License-Identifier: MIT
// Every diagnostic of the engine (spec/layout 13), and input that is meant to hurt.
#include <chrono>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "compiler/base/test_cpu_time.h"
#include "tests/support/program_writer.h"

namespace kiln::layout {
namespace {

constexpr auto kD3d12 = Platform::kD3d12;
constexpr auto kD3d11 = Platform::kD3d11;
constexpr auto kVulkan = Platform::kVulkan;
constexpr auto kWebgpu = Platform::kWebgpu;

// A program that is wrong in one way, and what is said about it.
struct DiagnosticCase {
  Code code;
  Platform platform;
  std::function<void(ProgramWriter&)> write;
  std::string message;  // with the code
};

void TwoSpecialisations(ProgramWriter& w) {
  for (const char* name : {"a", "b"}) {
    Parameter& parameter = w.Add(name, "u32");
    parameter.role = Role::kSpecialization;
    parameter.spec_id = 4;
  }
}

std::vector<DiagnosticCase> BlockCases() {
  return {
      {Code::kLay1001, kVulkan, [](ProgramWriter& w) { w.Add("a", "f32[4294967296]"); },
       "LAY1001 size of 'a' is out of range"},
      {Code::kLay1001, kVulkan, [](ProgramWriter& w) { w.Add("a", "Texture2D[1048577]"); },
       "LAY1001 size of 'a' is out of range"},
      {Code::kLay1001, kD3d12,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "vec4<f32>"}, {"y", "f32[1073741823]"}});
         w.Add("a", "StructuredBuffer<S>");
       },
       "LAY1001 size of 'a.y' is out of range"},
      {Code::kLay1002, kVulkan,
       [](ProgramWriter& w) {
         w.StructOf("S", std::vector<Member>{{.name = "x", .type = w.types().Generic("T")}});
         w.Add("a", "ConstantBuffer<S>");
       },
       "LAY1002 size of 'a.x' depends on an unspecialised type"},
      {Code::kLay1003, kVulkan,
       [](ProgramWriter& w) {
         w.StructOf("S", {{.name = "x", .type = w.Type("f32")},
                          {.name = "y", .type = w.Type("vec3<f32>"), .offset = 20}});
         w.Add("a", "ConstantBuffer<S>");
       },
       "LAY1003 offset 20 of 'a.y' breaks its alignment 16"},
      {Code::kLay1003, kD3d11,
       [](ProgramWriter& w) {
         w.StructOf("S",
                    std::vector<Member>{{.name = "y", .type = w.Type("vec3<f32>"), .offset = 8}});
         w.Add("a", "ConstantBuffer<S>");
       },
       "LAY1003 offset 8 of 'a.y' breaks its alignment 4"},
      {Code::kLay1004, kVulkan,
       [](ProgramWriter& w) {
         w.StructOf("S", {{.name = "x", .type = w.Type("vec4<f32>"), .offset = 16},
                          {.name = "y", .type = w.Type("vec2<f32>"), .offset = 24}});
         w.Add("a", "ConstantBuffer<S>");
       },
       "LAY1004 'a.y' and 'a.x' share byte 24"},
      {Code::kLay1005, kVulkan,
       [](ProgramWriter& w) {
         w.StructOf("S", std::vector<Member>{
                             {.name = "x", .type = w.types().Array(w.Type("vec2<f32>"), 3, 6)}});
         w.Add("a", "StructuredBuffer<S>");
       },
       "LAY1005 stride 6 of 'a.x' is too small or misaligned"},
      {Code::kLay1006, kVulkan,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "f32[]"}, {"y", "f32"}});
         w.Add("a", w.types().StorageBuffer(ResourceClass::kRead, "buffer", w.Type("S")));
       },
       "LAY1006 run-time array 'a.x' must be the last member of a storage buffer"},
      {Code::kLay1006, kVulkan, [](ProgramWriter& w) { w.Add("a", "f32[]"); },
       "LAY1006 run-time array 'a' must be the last member of a storage buffer"},
      {Code::kLay3001, kVulkan,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "vec4<f32>[4097]"}});
         w.Add("a", "ConstantBuffer<S>");
       },
       "LAY3001 'a' needs 65552 bytes, vulkan allows 65536"},
      {Code::kLay3001, kVulkan,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "vec4<f32>[9]"}});
         w.Add("a", "ConstantBuffer<S>").role = Role::kPush;
       },
       "LAY3001 'a' needs 144 bytes, vulkan allows 128"},
      {Code::kLay3004, kWebgpu,
       [](ProgramWriter& w) {
         w.settings().storage_rules = Rules::kScalar;
         w.Struct("S", {{"x", "f32"}, {"y", "vec3<f32>"}});
         w.Add("a", "StructuredBuffer<S>");
       },
       "LAY3004 layout of 'a' cannot be written in WGSL at 'y': offset 4 not a multiple of 16"},
      {Code::kLay3005, kWebgpu,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "f32[4]"}});
         w.Add("a", "ConstantBuffer<S>").rules = Rules::kWgsl;
       },
       "LAY3005 uniform block 'a' needs a standard layout feature at 'x': "
       "stride 4 not a multiple of 16"},
  };
}

std::vector<DiagnosticCase> BindingCases() {
  return {
      {Code::kLay2001, kD3d12,
       [](ProgramWriter& w) {
         w.Add("a", "Texture2D[4]").registers = {{.text = "t0", .space = 1}};
         w.Add("b", "Texture2D").registers = {{.text = "t3", .space = 1}};
       },
       "LAY2001 'b' overlaps 'a' at t3,space1"},
      {Code::kLay2001, kVulkan,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "Texture2D"}});
         w.Add("a", "Texture2D").slot = {.index = 4, .space = 1};
         w.Add("b", "ParameterBlock<S>").slot = {.space = 1};
       },
       "LAY2001 'b' overlaps 'a' at set1"},
      {Code::kLay2001, kVulkan, TwoSpecialisations, "LAY2001 'b' overlaps 'a' at spec 4"},
      {Code::kLay2001, kVulkan,
       [](ProgramWriter& w) {
         w.settings().vulkan_registers = VulkanRegisters::kShift;
         w.settings().shifts = {{.register_class = Kind::kT, .shift = 1}};
         w.Add("a", "Texture2D");
         w.Add("b", "SamplerState[2]");
         w.Add("c", "SamplerState");
       },
       "LAY2001 'c' overlaps 'a' at set0.1"},
      {Code::kLay2001, kVulkan,
       [](ProgramWriter& w) {
         w.settings().vulkan_registers = VulkanRegisters::kShift;
         w.settings().shifts = {{.register_class = Kind::kT, .shift = 0}};
         w.Struct("M", {{"t", "Texture2D"}, {"s", "SamplerState"}});
         w.Add("m", "ParameterBlock<M>");
       },
       "LAY2001 'm.s' overlaps 'm.t' at set0.0"},
      {Code::kLay2001, kD3d11,
       [](ProgramWriter& w) {
         w.Add("a", "RWTexture2D").registers = {{.text = "u1"}};
         w.Entry("main", "fragment").parameters = {{.varying = Varying{.name = "result",
                                                                       .type = w.Type("vec4<f32>"),
                                                                       .direction = Direction::kOut,
                                                                       .semantic = "SV_Target",
                                                                       .semantic_index = 1}}};
       },
       "LAY2001 'result' overlaps 'a' at u1"},
      {Code::kLay2002, kD3d12,
       [](ProgramWriter& w) {
         w.Add("a", "Texture2D").registers = {{.text = "t0"}};
         w.BeginUnit("u1");
         w.Add("a", "Texture2D").registers = {{.text = "t1"}};
       },
       "LAY2002 explicit bindings of 'a' differ: t0, t1"},
      {Code::kLay2003, kVulkan,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "f32"}, {"y", "u32"}});
         w.Add("a", "S");
         w.BeginUnit("u1");
         w.Struct("S", {{"x", "f32"}, {"y", "i32"}});
         w.Add("a", "S");
       },
       "LAY2003 type of 'a' differs between units: a.y"},
      {Code::kLay2004, kD3d12,
       [](ProgramWriter& w) { w.Add("a", "Texture2D").registers = {{.text = "b0"}}; },
       "LAY2004 'a' uses no 'b' registers"},
      {Code::kLay2005, kD3d12,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "Texture2D"}});
         w.Add("a", "ParameterBlock<S>").registers = {{.text = "t1", .space = 2}};
       },
       "LAY2005 'a' takes a whole space, it cannot have a register"},
      {Code::kLay2006, kD3d12,
       [](ProgramWriter& w) { w.Add("a", "Texture2D").registers = {{.text = "tx"}}; },
       "LAY2006 register 'tx' of 'a' is malformed or becomes negative"},
      {Code::kLay2006, kVulkan,
       [](ProgramWriter& w) {
         w.settings().vulkan_registers = VulkanRegisters::kShift;
         w.settings().shifts = {{.register_class = Kind::kT, .shift = -2}};
         w.Add("a", "Texture2D").registers = {{.text = "t1"}};
       },
       "LAY2006 register 't1' of 'a' is malformed or becomes negative"},
      {Code::kLay2007, kVulkan,
       [](ProgramWriter& w) {
         w.Entry("main", "vertex").parameters = {
             {.varying = Varying{.name = "a", .type = w.Type("f32"), .location = 0}},
             {.varying = Varying{.name = "b", .type = w.Type("f32")}}};
       },
       "LAY2007 'b' has no location while 'a' has one"},
      {Code::kLay2008, kWebgpu,
       [](ProgramWriter& w) { w.Add("a", "Texture2D").slot = {.index = 512, .space = 1}; },
       "LAY2008 binding group1.512 of 'a' lies in the reserved range"},
      {Code::kLay2008, kWebgpu,
       [](ProgramWriter& w) {
         w.settings().vulkan_registers = VulkanRegisters::kShift;
         w.settings().shifts = {{.register_class = Kind::kT, .shift = 500}};
         w.Add("a", "Texture2D").registers = {{.text = "t12", .space = 2}};
       },
       "LAY2008 binding group2.512 of 'a' lies in the reserved range"},
      {Code::kLay2009, kVulkan,
       [](ProgramWriter& w) { w.Add("a", "Texture2D").must_be_bound = true; },
       "LAY2009 resource 'a' has no set or binding"},
      {Code::kLay2010, kVulkan,
       [](ProgramWriter& w) {
         w.Add("a", "Texture2D[]");
         w.Add("b", "Texture2D");
       },
       "LAY2010 unbounded array 'a' is not the last binding of its set"},
      {Code::kLay3002, kWebgpu, [](ProgramWriter& w) { w.Add("a", "Texture2D[2]"); },
       "LAY3002 webgpu has no arrays of resources: 'a'"},
      {Code::kLay3002, kWebgpu, [](ProgramWriter& w) { w.Add("a", "SubpassInput"); },
       "LAY3002 webgpu has no subpass inputs: 'a'"},
      {Code::kLay3002, kWebgpu,
       [](ProgramWriter& w) {
         w.settings().webgpu_push = WebgpuPush::kImmediate;
         w.Struct("S", {{"x", "vec4<f32>[2]"}});
         w.Add("a", "ConstantBuffer<S>").role = Role::kPush;
       },
       "LAY3002 webgpu has no arrays in immediate data: 'a'"},
      {Code::kLay3003, kD3d11, [](ProgramWriter& w) { w.Add("a", "Texture2D[]"); },
       "LAY3003 'a' needs an unbounded array, which d3d11 lacks"},
      {Code::kLay3003, kD3d11,
       [](ProgramWriter& w) { w.Add("a", "Texture2D").registers = {{.text = "t0", .space = 1}}; },
       "LAY3003 'a' needs register spaces, which d3d11 lacks"},
      {Code::kLay3003, kWebgpu,
       [](ProgramWriter& w) { w.Add("a", "Texture2D").slot = {.index = 0, .space = 4}; },
       "LAY3003 'a' needs group 4, which webgpu lacks"},
      {Code::kLay3006, kVulkan,
       [](ProgramWriter& w) {
         w.Struct("S", {{"x", "vec4<f32>"}});
         w.Add("a", "ConstantBuffer<S>").role = Role::kPush;
         w.Add("b", "ConstantBuffer<S>").role = Role::kPush;
         w.Entry("main", "vertex");
       },
       "LAY3006 entry point 'main' sees two push constant blocks, 'b' and 'a'"},
  };
}

std::vector<DiagnosticCase> Cases() {
  std::vector<DiagnosticCase> cases = BlockCases();
  for (DiagnosticCase& binding : BindingCases()) {
    cases.push_back(std::move(binding));
  }
  return cases;
}

TEST(LayoutDiagnostics, EveryCase_SaysWhatIsWrong) {
  for (const DiagnosticCase& row : Cases()) {
    ProgramWriter w;
    row.write(w);
    EXPECT_EQ(w.Messages(row.platform), row.message);
  }
}

TEST(LayoutDiagnostics, EveryCode_HasACase) {
  std::map<std::string_view, int> count;
  for (const DiagnosticCase& row : Cases()) {
    ++count[CodeText(row.code)];
  }
  for (const Code code : AllCodes()) {
    // LAY9001 stands for a bug of the engine; no program causes it.
    if (CodeText(code).starts_with("LAY") && code != Code::kLay9001) {
      EXPECT_GE(count[CodeText(code)], 1) << CodeText(code);
    }
  }
}

TEST(LayoutDiagnostics, Errors_AreInGlobalOrder_AtMost100) {
  ProgramWriter w;
  for (int i = 0; i < 300; ++i) {
    w.Add("p" + std::to_string(i), "Texture2D").registers = {{.text = i % 2 == 0 ? "b0" : "tt"}};
  }
  const ProgramLayout layout = w.Run(kD3d12);
  ASSERT_EQ(layout.findings.size(), 100u);
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(layout.findings[i].order, i);
  }
}

// --- input that is meant to hurt: an answer at once, and no memory for what was asked ---

class HostileLayout : public testing::Test {
 protected:
  void TearDown() override { EXPECT_LT(CpuOfThisThread() - start_, std::chrono::seconds(5)); }
  ProgramWriter w_;

 private:
  const Duration start_ = CpuOfThisThread();
};

// 2^60 members of no size.
TEST_F(HostileLayout, StructsThatDouble_AreOutOfRange) {
  w_.Struct("S0", std::vector<ProgramWriter::Field>{});
  for (int i = 1; i <= 60; ++i) {
    const std::string inner = "S" + std::to_string(i - 1);
    w_.Struct("S" + std::to_string(i), {{"a", inner}, {"b", inner}});
  }
  w_.Add("x", "ConstantBuffer<S60>");
  EXPECT_EQ(w_.Messages(kVulkan), "LAY1001 size of 'x' is out of range");
}

TEST_F(HostileLayout, ResourcesThatDouble_AreOutOfRange) {
  w_.Struct("S0", {{"t", "Texture2D"}});
  for (int i = 1; i <= 60; ++i) {
    const std::string inner = "S" + std::to_string(i - 1);
    w_.Struct("S" + std::to_string(i), {{"a", inner}, {"b", inner}});
  }
  w_.Add("x", "S60");
  EXPECT_EQ(w_.Messages(kD3d12), "LAY1001 size of 'x' is out of range");
}

TEST_F(HostileLayout, DeepNesting_IsOutOfRange) {
  std::string type = "f32";
  for (int i = 0; i < 100; ++i) {
    w_.Struct("D" + std::to_string(i), {{"m", type}});
    type = "D" + std::to_string(i);
  }
  w_.Add("x", "ConstantBuffer<" + type + ">");
  EXPECT_EQ(w_.Messages(kVulkan), "LAY1001 size of 'x' is out of range");
}

TEST_F(HostileLayout, ArraysOfBillions_AreOutOfRange) {
  for (const char* type :
       {"f32[4294967295]", "f32[18446744073709551615]", "f32[65536][65536][65536]",
        "Texture2D[4294967295]", "Texture2D[65536][65536]", "vec4<f32>[268435456]"}) {
    ProgramWriter w;
    w.Add("x", type);
    EXPECT_EQ(w.Messages(kD3d12), "LAY1001 size of 'x' is out of range") << type;
  }
}

TEST_F(HostileLayout, ZeroSizes_TakeNothing) {
  w_.Add("a", "Texture2D[0]");
  w_.Add("b", "f32[0]");
  w_.Add("c", "Texture2D");
  EXPECT_EQ(w_.Places(kD3d12), "c t0,space0");
  EXPECT_EQ(w_.Places(kVulkan), "c set0.0");
}

TEST_F(HostileLayout, SplittingAHugeArray_IsRefused) {
  w_.settings().webgpu_arrays = WebgpuArrays::kSplit;
  w_.Add("x", "Texture2D[1048576]");
  EXPECT_EQ(w_.Messages(kWebgpu), "LAY3001 'x' needs 1048575 reserved bindings, webgpu allows 487");
}

TEST_F(HostileLayout, ManyConflictingBindings_AreFoundAtOnce) {
  for (int i = 0; i < 20000; ++i) {
    w_.Add("p" + std::to_string(i), "Texture2D").registers = {{.text = "t0"}};
  }
  EXPECT_EQ(w_.Run(kD3d12).findings.size(), 100u);
}

TEST_F(HostileLayout, HighestNumbers_AreNumbers) {
  w_.Add("a", "Texture2D").registers = {{.text = "t4294967295", .space = 4294967295u}};
  w_.Add("b", "Texture2D[2]").registers = {{.text = "t4294967295"}};
  w_.Add("c", "Texture2D").registers = {{.text = "t4294967296"}};
  EXPECT_EQ(w_.Messages(kD3d12),
            "LAY1001 size of 'b' is out of range; "
            "LAY2006 register 't4294967296' of 'c' is malformed or becomes negative");
}

}  // namespace
}  // namespace kiln::layout
