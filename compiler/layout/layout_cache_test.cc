// SPDX-License-Identifier: MIT
#include "compiler/layout/layout_cache.h"

#include <gtest/gtest.h>

#include "compiler/layout/rpl_adapter.h"
#include "tests/support/interface_writer.h"

namespace kiln::layout {
namespace {

using ir::BufferKind;
using ir::ResourceSet;

// An interface whose first buffer can be given other content.
class LayoutCacheTest : public testing::Test {
 protected:
  LayoutCacheTest() {
    lights_ = written_.Buffer(BufferKind::kUniform, ResourceSet::kPass, "lights", {{"f4", "a"}});
    (void)written_.Image(ResourceSet::kPass, "image_color_2d", "sky");
    (void)written_.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "bones",
                          {{"f4x4...", "m"}});
    for (const char* content : {"f4[3]", "f1", "f4[1024]", "f4[1025]", "f4..."}) {
      contents_.push_back(
          written_.Buffer(BufferKind::kUniform, ResourceSet::kObject, content, {{content, "a"}})
              .type);
    }
    written_.SortByGroup();
    variant_ = written_.variant();
    std::erase_if(variant_.interface, [](const ir::SpecialisedDecl* decl) {
      return decl->kind == ir::DeclKind::kBuffer && decl->set() == ResourceSet::kObject;
    });
  }
  // The variant with another version of the buffer.
  ir::SpecialisedProgram With(const ir::SpecialisedDecl& version) {
    ir::SpecialisedProgram variant = variant_;
    for (const ir::SpecialisedDecl*& decl : variant.interface) {
      decl = decl->decl == version.decl ? &version : decl;
    }
    return variant;
  }
  static std::string TextOf(const Diagnosed<Layout>& assigned) {
    std::string text;
    for (const Diagnostic& diagnostic : assigned.diagnostics) {
      text += std::string(CodeText(diagnostic.code)) + " " + Message(diagnostic);
    }
    return text;
  }

  ir::Pool pool_;
  InterfaceWriter written_{pool_};
  TypeLayouts types_{pool_};
  target::Target target_;
  ir::SpecialisedDecl lights_;
  std::vector<ir::TypeId> contents_;
  ir::SpecialisedProgram variant_;
};

TEST_F(LayoutCacheTest, OtherContentOfABlock_LayoutOfAssign) {
  LayoutCache memory(target_, types_);
  std::vector<ir::SpecialisedDecl> versions(contents_.size(), lights_);
  uint32_t with_messages = 0;
  for (size_t i = 0; i < versions.size(); ++i) {
    versions[i].type = contents_[i];
    const ir::SpecialisedProgram variant = With(versions[i]);
    for (int again = 0; again < 2; ++again) {
      const Diagnosed<Layout> expected = Assign(variant, target_, types_);
      const Diagnosed<Layout> assigned = memory.Assign(variant);
      EXPECT_EQ(assigned.value, expected.value);
      EXPECT_EQ(TextOf(assigned), TextOf(expected));
      with_messages += TextOf(expected).empty() ? 0 : 1;
    }
  }
  EXPECT_EQ(with_messages, 4u);  // one block is too large, one has a tail
}

TEST_F(LayoutCacheTest, OneDeclarationLess_LayoutOfAssign) {
  LayoutCache memory(target_, types_);
  (void)memory.Assign(variant_);
  ir::SpecialisedProgram fewer = variant_;
  std::erase_if(fewer.interface,
                [](const ir::SpecialisedDecl* decl) { return decl->kind == ir::DeclKind::kImage; });
  EXPECT_EQ(memory.Assign(fewer).value, Assign(fewer, target_, types_).value);
  EXPECT_EQ(memory.Assign(variant_).value, Assign(variant_, target_, types_).value);
}

}  // namespace
}  // namespace kiln::layout
