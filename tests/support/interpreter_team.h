// SPDX-License-Identifier: MIT
// Invocations that wait for each other: the workgroup of a barrier, the quad of a derivative. Each
// has a stack of its own; one runs at a time and in a fixed order, so that runs are equal.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <ucontext.h>
#include <vector>

#include "tests/support/interpreter.h"

namespace kiln::oracle::running {

// Not movable while it runs.
class Team {
 public:
  explicit Team(size_t members);

  // Runs `body` for every member, `order` being who runs before whom between two meetings.
  void Run(std::span<const size_t> order, const std::function<void(size_t member)>& body);

  // Called by a member: shows `value` and waits until all have come to a meeting. Returns the
  // values by member, or nothing if not everybody came to this `point`.
  std::span<const Value> Meet(size_t member, const void* point, Value value = {});

  // What the members share, by name.
  std::map<std::string, Value, std::less<>> memory;

 private:
  struct Member {
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack;
    const void* point = nullptr;
    bool ended = false;
  };

  // Entered by each member on its own stack; the halves of a pointer to the team.
  static void Enter(unsigned high, unsigned low);
  void Prepare(Member& member);

  std::vector<Member> members_;
  ucontext_t director_{};  // who lets them run
  size_t running_ = 0;
  const std::function<void(size_t)>* body_ = nullptr;
  std::vector<Value> shown_;
  std::vector<Value> agreed_;  // at the last meeting
  bool met_ = false;
};

}  // namespace kiln::oracle::running
