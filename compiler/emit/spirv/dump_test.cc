// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/spirv/lower_decl.h"
#include "compiler/emit/spirv/text_module.h"

namespace kiln::spirv {
namespace {

using testing::HasSubstr;

constexpr std::string_view kVariant = R"(variant graphics_classic
buffer uniform pass @frame {
  tint : f4
}
container color_output @target {
  color : f4
}
entry fragment @main "main" {
  function @main() -> void {
    region r0 {
      var $x : f4
      exit $exit
      %1 = const u1 0
      %2 = global none @frame : frame
      %3 = access %2 [%1] : f4
      %4 = load %3 : f4
      %5 = local $x : f4
      store %5, %4
      insertion_point r1
      return _
    }
    region r1 {
      %1 = local $x : f4
      %2 = load %1 : f4
      %3 = global out @target.color : f4
      store %3, %2
      %4 = stage frag_coord : f4
      %5 = load %4 : f4
    }
  }
}
)";

TEST(DumpCodeObjects, Variant_ShowsEveryCodeObjectWithNames) {
  TextModule module(kVariant);
  EXPECT_EQ(DumpCodeObjects(module.variant(), module.table()), R"(variable of @frame: 1 ids
  debug
    Name +0 "frame"
  annotations
    Decorate +0 34 <set>
    Decorate +0 33 <binding>
  declarations
    Variable {Pointer 2 (struct frame)} +0 2
variable of @target: 1 ids
  debug
    Name +0 "target.color"
  annotations
    Decorate +0 30 <location>
  declarations
    Variable {Pointer 3 (Vector (Float 32) 4)} +0 3
head of @main: 2 ids, +0 {fn @main}
  debug
    Name +0 "main"
  declarations
    Function {Void} +0 0 {Function Void}
    Label +1
region 0 of @main, in 0: 5 ids, +0 {$x} +1 {loop} +2 {loop continue}
  debug
    Name +0 "x"
  variables
    Variable {Pointer 7 (Vector (Float 32) 4)} +0 7
  code
    InBoundsAccessChain {Pointer 2 (Vector (Float 32) 4)} +3 {@frame} {Constant (Int 32 0) 0}
    Load {Vector (Float 32) 4} +4 +3
    Store +0 +4
    insertion_point 1
    Return
region 1 of @main, in 0: 2 ids
  code
    Load {Vector (Float 32) 4} +0 {$x}
    Store {@target.color out} +0
    Load {Vector (Float 32) 4} +1 {stage frag_coord}
)");
}

TEST(DumpCodeObjects, OrderOfLowering_DoesNotShow) {
  TextModule module(kVariant);
  CodeObjectTable other(*module.variant().pool, module.table().target());
  const auto& interface = module.variant().interface;
  for (size_t i = interface.size(); i-- > 0;) {
    LowerDecl(*interface[i], other);
  }
  Prepare(module.variant(), other);
  EXPECT_EQ(DumpCodeObjects(module.variant(), other),
            DumpCodeObjects(module.variant(), module.table()));
}

TEST(DumpCodeObject, Alone_NamesRows) {
  TextModule module(kVariant);
  const CodeObjectId object =
      module.table().Find(module.variant().entries[0].functions[0]->regions[1].specialised);
  EXPECT_THAT(DumpCodeObject(object, module.table()),
              HasSubstr("Load {Vector (Float 32) 4} +0 {$0}"));
}

}  // namespace
}  // namespace kiln::spirv
