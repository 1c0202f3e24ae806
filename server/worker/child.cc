// SPDX-License-Identifier: MIT
#include "server/worker/child.h"

#include <csignal>
#include <string>
#include <utility>

#include "compiler/recipe/recipe.h"
#include "server/worker/message.h"
#include "server/worker/reading.h"

namespace kiln::worker {
namespace {

// Runs a front end over a source.
Message AnswerToRead(const Message& job) {
  Result<Bytes> read = ReadSource(job.text, job.payload);
  return read.ok()
             ? Message{.kind = MessageKind::kMade, .text = {}, .payload = std::move(read).value()}
             : Message{.kind = MessageKind::kRejected, .text = read.error().context, .payload = {}};
}

// "ENVIRONMENT RECIPE" and a module -> the answer.
Message AnswerTo(const Message& job) {
  if (job.kind == MessageKind::kRead) {
    return AnswerToRead(job);
  }
  // The daemon wrote this text, and still a job that cannot be read is an answer and no end of the
  // process: a worker that dies counts against the input.
  const size_t space = job.text.find(' ');
  const auto environment = target::ParseEnvironment(job.text.substr(0, space));
  if (space == std::string::npos || !environment.has_value()) {
    return {.kind = MessageKind::kRejected, .text = "not a job", .payload = {}};
  }
  const Result<recipe::Recipe> parsed =
      recipe::ParseRecipe(job.text.substr(space + 1), *environment);
  if (!parsed.ok()) {
    return {.kind = MessageKind::kRejected, .text = parsed.error().context, .payload = {}};
  }
  recipe::RecipeResult made = recipe::Run(*parsed, job.payload);
  return {.kind = made.ok ? MessageKind::kMade : MessageKind::kRejected,
          .text = std::move(made.report),
          .payload = std::move(made.bytes)};
}

}  // namespace

int RunChild(int socket, const ChildLimits& limits) {
  (void)::signal(SIGINT, SIG_IGN);  // of the terminal; the daemon decides
  // Nothing of a job has been read up to here. A process that cannot be locked in says why and
  // ends: the daemon must know, because the answer is UNAVAILABLE and not another attempt. See
  // spec/daemon 12.2
  if (const Result<void> locked = LockIn(limits); !locked.ok()) {
    (void)Send(socket,
               {.kind = MessageKind::kUnfit, .text = locked.error().context, .payload = {}});
    return 1;
  }
  for (;;) {
    const Result<Message> job = Receive(socket);
    if (!job.ok()) {
      return job.error().code == ErrorCode::kUnavailable ? 0 : 1;
    }
    if (job->kind != MessageKind::kJob && job->kind != MessageKind::kRead) {
      return 1;
    }
    // The acknowledgement comes before the work. So the daemon can tell an end that the input is to
    // blame for from one that came before. See spec/daemon 12.3
    if (!Send(socket, {.kind = MessageKind::kTaken, .text = {}, .payload = {}}).ok() ||
        !Send(socket, AnswerTo(*job)).ok()) {
      return 0;
    }
  }
}

}  // namespace kiln::worker
