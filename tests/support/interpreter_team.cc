// SPDX-License-Identifier: MIT
#include "tests/support/interpreter_team.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "compiler/base/check.h"

namespace kiln::oracle::running {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;

}  // namespace

Team::Team(size_t members) : members_(members), shown_(members) {}

void Team::Enter(unsigned high, unsigned low) {
  auto* const team = std::bit_cast<Team*>(uintptr_t{high} << 32 | low);
  const size_t member = team->running_;
  (*team->body_)(member);
  team->members_[member].ended = true;
}

void Team::Prepare(Member& member) {
  member.stack.reset(new std::byte[kStackBytes]);  // not filled: most of it is never touched
  KILN_CHECK(getcontext(&member.context) == 0);
  member.context.uc_stack.ss_sp = member.stack.get();
  member.context.uc_stack.ss_size = kStackBytes;
  member.context.uc_link = &director_;
  const auto team = std::bit_cast<uintptr_t>(this);
  // The signature that makecontext calls with is that of its arguments.
  makecontext(&member.context, reinterpret_cast<void (*)()>(&Team::Enter), 2,
              static_cast<unsigned>(team >> 32), static_cast<unsigned>(team));
}

void Team::Run(std::span<const size_t> order, const std::function<void(size_t member)>& body) {
  body_ = &body;
  std::ranges::for_each(members_, [this](Member& member) { Prepare(member); });
  while (!std::ranges::all_of(members_, &Member::ended)) {
    for (const size_t i : order) {
      if (!members_[i].ended) {
        running_ = i;
        KILN_CHECK(swapcontext(&director_, &members_[i].context) == 0);
      }
    }
    const void* const point = members_[0].point;
    met_ = std::ranges::all_of(
        members_, [&](const Member& member) { return !member.ended && member.point == point; });
    agreed_ = shown_;
  }
}

std::span<const Value> Team::Meet(size_t member, const void* point, Value value) {
  shown_[member] = std::move(value);
  members_[member].point = point;
  KILN_CHECK(swapcontext(&members_[member].context, &director_) == 0);
  return met_ ? std::span<const Value>(agreed_) : std::span<const Value>();
}

}  // namespace kiln::oracle::running
