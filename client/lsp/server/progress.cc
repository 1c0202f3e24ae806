// SPDX-License-Identifier: MIT
// The client makes the place that progress is shown at: a token is asked for, and nothing is sent
// about it before the client agreed. Spec: LSP 3.17 "Server Initiated Progress".
#include "client/lsp/server/progress.h"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::lsp {

// What was done is what is not left of the most that was ever left, so the share of it never falls
// while more comes.
void Progress::Update(size_t left, std::vector<Json>& out) {
  if (left == 0) {
    if (state_ == State::kShown) {
      Say("end", out);
    }
    // A token that is asked for and not answered yet is not used any more.
    state_ = State::kIdle;
    since_.reset();
    most_ = 0;
    done_ = 0;
    return;
  }
  most_ = std::max(most_, left + done_);
  const size_t done = most_ - left;
  const bool more = done > done_;
  done_ = std::max(done_, done);
  if (state_ == State::kShown && more) {
    Say("report", out);
    return;
  }
  if (state_ != State::kIdle) {
    return;
  }
  const Duration now = clock_.Monotonic();
  since_ = since_.value_or(now);
  if (now - *since_ >= kDelay) {
    state_ = State::kAsked;
    asked_ = next_request_++;
    token_ = fmt::format("kiln:check:{}", asked_);
    out.push_back(RequestOf(asked_, "window/workDoneProgress/create", {{"token", token_}}));
  }
}

bool Progress::Take(const RpcMessage& answer, std::vector<Json>& out) {
  if (asked_ == 0 || answer.id != asked_) {
    return false;
  }
  if (state_ == State::kAsked) {
    state_ = answer.failed ? State::kRefused : State::kShown;
    if (!answer.failed) {
      Say("begin", out);
    }
  }
  return true;
}

bool Progress::IsCancel(const Json& params) const {
  return state_ == State::kShown && TextAt(params, "token") == token_;
}

void Progress::Say(const char* kind, std::vector<Json>& out) {
  Json value{{"kind", kind}};
  const std::string_view word = kind;
  if (word == "begin") {
    value["title"] = "kiln: trying variants";
    value["cancellable"] = true;
  }
  if (word != "end") {
    value["message"] = fmt::format("{} of {} programs", done_, most_);
    value["percentage"] = done_ * 100 / most_;
  }
  out.push_back(NotificationOf("$/progress", {{"token", token_}, {"value", std::move(value)}}));
}

}  // namespace kiln::lsp
