// SPDX-License-Identifier: MIT
// A call of a method, or an index, of a resource: what all of them share.
#pragma once

#include <span>
#include <string_view>

#include "compiler/front/hlsl/check/context.h"
#include "compiler/front/hlsl/sema/method.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {

class MethodSite {
 public:
  // Requires: an expression of an object type.
  MethodSite(CheckContext& context, ExprId object, uint32_t name, TokenRange at);

  CheckContext& context() const { return context_; }
  ExprId object() const { return object_; }
  uint32_t name() const { return name_; }
  TokenRange at() const { return at_; }
  const ObjectFacts& facts() const { return facts_; }
  // What a texel or an element is; of bytes a word.
  TypeId content() const { return content_; }
  Item item() const { return context_.types()[content_].item; }

  // Whether it has levels, which a texel is then of.
  bool levelled() const {
    return !facts_.writable && !facts_.multisampled && facts_.dim != ir::ImageDim::kBuffer;
  }
  uint32_t dimensions() const;  // of a coordinate without its layer
  uint32_t coordinates() const { return dimensions() + (facts_.arrayed ? 1 : 0); }

  TypeId Floats(uint32_t count) const { return context_.types().Vector(Item::kFloat, count); }
  TypeId Integers(uint32_t count) const { return context_.types().Vector(Item::kInt, count); }
  TypeId Uint() const { return context_.types().Scalar(Item::kUint); }
  // Converted as on assignment.
  ExprId To(ExprId id, TypeId type) const;
  ExprId Constant(uint32_t value) const;

  // A row of kMethod.
  ExprId Make(Method method, TypeId type, std::span<const ExprId> arguments,
              uint32_t part = kNoRow) const;
  // `value` is kGiven 0 in `body`, and `other` kGiven 1.
  ExprId Let(ExprId value, ExprId other, ExprId body, TypeId type) const;
  // One after the other; of one or more.
  ExprId Chain(std::span<const ExprId> steps) const;

  // --- what is wrong
  ExprId NoMethod() const;                                 // HLSL4007
  ExprId NoSuch(std::span<const ExprId> arguments) const;  // HLSL2021
  ExprId Refuse(std::string_view family) const;            // HLSL8004

 private:
  CheckContext& context_;
  const ExprId object_;
  const uint32_t name_;
  const TokenRange at_;
  const ObjectFacts& facts_;
  TypeId content_;
};

}  // namespace kiln::hlsl
