// SPDX-License-Identifier: MIT
// What is remembered from variant to variant of a typed module changes no byte: each variant by one
// assembler, in one order and the other, against the direct path.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "compiler/ir/text/parse_generic.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/resolve/values/options.h"

namespace kiln {
namespace {

// Rows of interfaces, bodies, members of structs, places and first values depend on options.
constexpr std::string_view kModule = R"(module hlsl 6 typed
option global fog : flag = true
option global wide : flag = false
option global pick : flag = false
cexpr ?1 = name "fog"
cexpr ?2 = name "wide"
cexpr ?3 = name "pick"
cexpr ?4 = literal uint 4
struct @varyings {
  place : f4 semantic("SV_Position", 0)
  haze : f1 semantic("HAZE", 0) where ?1
  uv : f2 semantic("TEXCOORD", 0)
  more : f4 semantic("MORE", 0) where ?2
}
buffer uniform pass @frame {
  first : f4[?4]
  second : f4[?4]
}
function @make_tint() -> f4 {
  %1 = choose ?2 : f4 {
    %2 = const f4 {f1 1.0, f1 1.0, f1 1.0, f1 1.0}
    yield %2
  } {
    %3 = const f4 {f1 0.5, f1 0.5, f1 0.5, f1 1.0}
    yield %3
  }
  return %1
}
private @tint : f4 initialise @make_tint
function @of(place $list : f4[?4], in $at : u1) -> f4 {
  %1 = local $list : f4[?4]
  %2 = param $at : u1
  %3 = access %1 [%2] : f4
  %4 = load %3 : f4
  return %4
}
function @vs(in $p : f3 semantic("POSITION", 0), in $haze : f1 where ?1 semantic("HAZE", 0)) -> @varyings {
  var $out : @varyings
  variable $out, _
  %1 = param $p : f3
  %2 = const f1 1.0
  %3 = construct [%1, %2] : f4
  %4 = local $out : @varyings
  %5 = const u1 0
  %6 = access %4 [%5] : f4
  store %6, %3
  when ?1 {
    %7 = param $haze : f1
    %8 = local $out : @varyings
    %9 = const u1 1
    %10 = access %8 [%9] : f1
    store %10, %7
  }
  %11 = load %4 : @varyings
  return %11
}
function @ps(in $i : @varyings) -> f4 semantic("SV_Target", 0) {
  %1 = param $i : @varyings
  %2 = global none @frame : @frame
  %3 = const u1 0
  %4 = const u1 1
  %5 = access %2 [%3] : f4[?4]
  %6 = access %2 [%4] : f4[?4]
  %7 = choose ?3 : f4[?4] {
    yield %5
  } {
    yield %6
  }
  %8 = call @of [%7, %4] : f4
  %9 = global none @tint : f4
  %10 = load %9 : f4
  %11 = binary mul %8, %10 : f4
  return %11
}
)";

driver::LinkedProgram Linked() {
  Result<ir::Module> module = ir::ParseModule(kModule);
  EXPECT_TRUE(module.ok()) << ErrorText(module.error());
  EXPECT_TRUE(ir::VerifyIds(module->view()).ok());
  std::vector<std::shared_ptr<const ir::Module>> modules{
      std::make_shared<const ir::Module>(std::move(*module))};
  Diagnosed<driver::LinkedProgram> linked =
      driver::LinkModules(std::move(modules), {"0.kir"}, ir::PipelineType::kGraphicsClassic);
  EXPECT_TRUE(linked.ok());
  return std::move(*linked.value);
}

resolve::OptionValues ValuesOf(const driver::LinkedProgram& linked, uint32_t bits) {
  std::vector<resolve::OptionSetting> settings;
  for (const auto& [name, bit] :
       {std::pair("fog", 1U), std::pair("wide", 2U), std::pair("pick", 4U)}) {
    const std::string text = std::string(name) + ((bits & bit) != 0 ? "=true" : "=false");
    settings.push_back(std::move(driver::ReadOption(linked.program, text)).value());
  }
  return *resolve::CheckOptions(linked.program, settings).value;
}

void Agree(const driver::BuildResult& direct, const driver::BuildResult& remembered) {
  ASSERT_TRUE(direct.ok());
  ASSERT_TRUE(remembered.ok());
  ASSERT_EQ(direct.products->code.size(), remembered.products->code.size());
  for (size_t i = 0; i < direct.products->code.size(); ++i) {
    EXPECT_EQ(direct.products->code[i].words, remembered.products->code[i].words);
  }
  EXPECT_EQ(direct.products->metadata, remembered.products->metadata);
  ASSERT_EQ(direct.reads.size(), remembered.reads.size());
  for (size_t i = 0; i < direct.reads.size(); ++i) {
    EXPECT_EQ(direct.reads[i].name, remembered.reads[i].name);
  }
}

TEST(TypedMemory, RememberedVariants_AreTheDirectOnes) {
  const driver::LinkedProgram linked = Linked();
  const std::vector<resolve::EntryPoint> entries = {{ir::Stage::kVertex, "vs"},
                                                    {ir::Stage::kFragment, "ps"}};
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  std::vector<driver::BuildResult> direct;
  for (uint32_t bits = 0; bits < 8; ++bits) {
    direct.push_back(driver::BuildDirect(linked, ValuesOf(linked, bits), entries, target));
    ASSERT_TRUE(direct.back().ok()) << bits;
    EXPECT_EQ(direct.back().reads.size(), 3U);
  }
  driver::DirectBuilder again(linked, entries, target);
  driver::VariantAssembler assembler(linked, entries, target);
  for (const uint32_t bits : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 7U, 5U, 3U, 1U, 6U, 4U, 2U, 0U}) {
    SCOPED_TRACE(bits);
    Agree(direct[bits], again.Build(ValuesOf(linked, bits)));
    Agree(direct[bits], assembler.BuildCopy(ValuesOf(linked, bits)));
  }
  EXPECT_NE(direct[0].products->code[1].words, direct[4].products->code[1].words);
  EXPECT_NE(direct[0].products->metadata, direct[1].products->metadata);
  EXPECT_LT(assembler.counts().modules, 16U);
}

}  // namespace
}  // namespace kiln
