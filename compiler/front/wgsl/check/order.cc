// SPDX-License-Identifier: MIT
// A walk over mentions with a stack of its own: chains of declarations are as long as a source
// makes them. A mention of what is on the stack closes a cycle. Cost: each mention once.
#include "compiler/front/wgsl/check/order.h"

#include <string>
#include <string_view>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"

namespace kiln::wgsl::front {
namespace {

// kOpen: on the stack. kLeftOut: part of a cycle, or a second declaration of a name; it is in
// no order and everything that mentions it fails in silence.
enum class State : uint8_t { kNew, kOpen, kDone, kLeftOut };

struct Step {
  uint32_t decl = 0;
  uint32_t next = 0;  // of its mentions
};

// Depth first; a declaration is put behind all that it mentions. Declarations without mentions
// of each other keep the order of the source, since roots are visited in that order.
class Walk {
 public:
  explicit Walk(CheckContext& context)
      : context_(context), states_(context.ast.decls.size(), State::kNew) {
    for (uint32_t i = 0; i < context.ast.decls.size(); ++i) {
      const syntax::Decl& decl = context.ast.decls[i];
      // Asserts have no name. They are visited like the others, as roots only.
      if (decl.kind == syntax::DeclKind::kConstAssert) {
        continue;
      }
      const std::string_view name = context.Text(decl.token);
      const auto [first, added] = names_.Insert(name, i);
      if (!added) {
        states_[i] = State::kLeftOut;
        const uint32_t token = context.ast.decls[*first].token;
        context.Say(context.At(Code::kWgsl2003, decl.token)
                        .With("name", name)
                        .Label(LabelKind::kDeclaredHere, context.Where({token, token + 1}),
                               {{"name", name}}));
      }
    }
  }

  std::vector<uint32_t> Run() {
    for (uint32_t i = 0; i < states_.size(); ++i) {
      Visit(i);
      while (!stack_.empty()) {
        CheckStop();
        Go();
      }
    }
    return std::move(order_);
  }

 private:
  // What was done before, or left out, is not looked at again.
  void Visit(uint32_t decl) {
    if (states_[decl] == State::kNew) {
      states_[decl] = State::kOpen;
      stack_.push_back({decl, 0});
    } else if (states_[decl] == State::kOpen) {
      Cycle(decl);
    }
  }

  // One step: the next mention of the top, or, if there is none left, the top is done.
  void Go() {
    Step& step = stack_.back();
    const syntax::Decl& decl = context_.ast.decls[step.decl];
    if (step.next < decl.mention_count) {
      const uint32_t token = context_.ast.mentions[decl.first_mention + step.next++];
      // A name that no declaration has is predeclared or unknown; that is told later.
      if (const uint32_t* found = names_.Find(context_.Text(token))) {
        Visit(*found);
      }
      return;
    }
    // One that became part of a cycle meanwhile is dropped instead.
    if (states_[step.decl] == State::kOpen) {
      states_[step.decl] = State::kDone;
      order_.push_back(step.decl);
    }
    stack_.pop_back();
  }

  // The cycle is the stack from that declaration to the top. All of it is left out, so each
  // cycle is told once, and the chain in the message is the way around.
  void Cycle(uint32_t decl) {
    std::string chain;
    size_t i = stack_.size();
    while (stack_[i - 1].decl != decl) {
      --i;
    }
    for (; i < stack_.size(); ++i) {
      const uint32_t through = stack_[i].decl;
      chain += (chain.empty() ? "'" : ", '");
      chain += context_.Text(context_.ast.decls[through].token);
      chain += "'";
      states_[through] = State::kLeftOut;
    }
    const uint32_t token = context_.ast.decls[decl].token;
    context_.Say(context_.At(Code::kWgsl2004, token)
                     .With("name", context_.Text(token))
                     .With("chain", chain));
  }

  CheckContext& context_;
  std::vector<State> states_;
  std::vector<Step> stack_;
  std::vector<uint32_t> order_;
  FlatMap<std::string_view, uint32_t> names_;
};

}  // namespace

std::vector<uint32_t> OrderOf(CheckContext& context) { return Walk(context).Run(); }

}  // namespace kiln::wgsl::front
