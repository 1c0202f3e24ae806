// SPDX-License-Identifier: MIT
// Pipelines of the C interface. The object may be used by several threads as the header says; what
// is kept here beside the C++ object are two bounds of numbers that were given out, and the last
// list of hitches.
#include "runtime/c/pipelines.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/source.h"

using namespace kiln;
using namespace kiln::c;
using runtime::PipelineId;

namespace {

// Longer waits than this are the same to everybody, and no sum of times overflows.
constexpr uint64_t kLongestWait = uint64_t{365} * 24 * 3600 * 1'000'000'000;

Duration WaitOf(uint64_t nanoseconds) {
  return std::chrono::nanoseconds(std::min(nanoseconds, kLongestWait));
}

// Ids are numbers, and one of another object may come; so the object counts those it has given.
bool Knows(const kiln_pipelines& pipelines, kiln_pipeline_id id) {
  return id.index < pipelines.ids.load(std::memory_order_acquire);
}

// The id of this object's own.
Result<PipelineId> TakeId(const kiln_pipelines* pipelines, kiln_pipeline_id id) {
  KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
  if (!Knows(*pipelines, id)) {
    return OutOfRange("pipeline", id.index, pipelines->ids.load());
  }
  return PipelineId{id.index};
}

Result<runtime::WarmTicket> TakeTicket(const kiln_pipelines* pipelines, kiln_warm_ticket ticket) {
  KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
  if (ticket.index >= pipelines->tickets.load(std::memory_order_acquire)) {
    return OutOfRange("ticket", ticket.index, pipelines->tickets.load());
  }
  return runtime::WarmTicket{ticket.index};
}

// Several threads may find pipelines at once, so the bound only grows and never falls back.
void Raise(std::atomic<uint32_t>& bound, uint32_t index) {
  uint32_t seen = bound.load();
  while (seen <= index && !bound.compare_exchange_weak(seen, index + 1)) {
  }
}

// Durations are never negative but for a clock that is broken.
uint64_t Nanoseconds(Duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  return count < 0 ? 0 : static_cast<uint64_t>(count);
}

Result<runtime::PipelinesConfig> TakeConfig(const kiln_pipelines_info& info, Context& log) {
  // Far above the cores of any machine that draws; the bound only stops numbers that nobody meant.
  constexpr uint32_t kMostThreads = 256;
  KILN_TRY_VOID(CheckNumber(info.threads, kMostThreads, "info.threads"));
  KILN_TRY_VOID(CheckNumber(info.link_fast, 1, "info.link_fast"));
  KILN_TRY(const std::string_view folder, TakeText(info.cache_folder, "info.cache_folder"));
  runtime::PipelinesConfig config;
  config.threads = info.threads;
  config.cache_folder = folder;
  config.log = &log;
  config.link_fast = info.link_fast != 0;
  // Zero means the budget of the configuration and not one of nothing.
  if (info.budget_bytes != 0) {
    config.budget_bytes = info.budget_bytes;
  }
  return config;
}

kiln_warm_progress ToC(const runtime::WarmProgress& progress) {
  return {.struct_size = 0,
          .total = progress.total,
          .done = progress.done,
          .from_cache = progress.from_cache,
          .failed = progress.failed,
          .unsupported = progress.unsupported,
          .quarantined = progress.quarantined,
          .elapsed_ns = Nanoseconds(progress.elapsed),
          .left_ns = Nanoseconds(progress.eta)};
}

// Texts and options are copied by the calls below, so a caller may build the variant on its stack.
Result<PipelineId> Find(kiln_pipelines& pipelines, const kiln_variant& variant,
                        const kiln_pass_signature* signature) {
  KILN_TRY(const std::string_view program, TakeText(variant.program, "variant.program"));
  KILN_TRY(const auto options, TakeOptions(variant.options, variant.option_count));
  KILN_TRY(const runtime::PassSignature pass, TakeSignature(signature));
  return pipelines.pipelines->Find(program, options, pass);
}

}  // namespace

kiln_result kiln_pipelines_create(kiln_device* device, const kiln_pipelines_info* info,
                                  kiln_pipelines** pipelines, kiln_error** error) {
  return Call(device, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(device, "device"));
    KILN_TRY(const kiln_pipelines_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY(const runtime::PipelinesConfig config, TakeConfig(given, *device->context));
    auto made = std::make_unique<kiln_pipelines>();
    made->context = device->context;
    made->device = device->device;
    // Created last: its threads begin to work at once and log to the context.
    KILN_TRY(made->pipelines, runtime::Pipelines::Create(*device->device, config));
    *pipelines = made.release();
    return {};
  });
}

// A source may be loaded only once: its list would be registered again.
kiln_result kiln_pipelines_load(kiln_pipelines* pipelines, kiln_source* source,
                                kiln_load_report* report, kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY_VOID(CheckRoom(report, "report"));
    const runtime::LoadReport loaded = pipelines->pipelines->Load(source->source);
    // The report has numbers only, thus the reasons go to the log.
    // A pack may be made for more devices than this one, so a refused pipeline is no error of the
    // load.
    for (const runtime::WarmFailure& failure : loaded.refused) {
      pipelines->context->Write(LogLevel::kWarning, "pipelines", "a pipeline is refused",
                                {{"program", failure.name}, {"why", failure.error}});
    }
    Give(kiln_load_report{.struct_size = 0,
                          .listed = loaded.listed,
                          .registered = loaded.registered,
                          .unsupported = loaded.unsupported,
                          .refused = loaded.refused.size()},
         report);
    return {};
  });
}

kiln_result kiln_pipelines_find(kiln_pipelines* pipelines, const kiln_variant* variant,
                                const kiln_pass_signature* signature, kiln_pipeline_id* id,
                                kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY(const kiln_variant given, Take(variant, "variant"));
    KILN_TRY_VOID(NotNull(id, "id"));
    // Each call looks the variant up by name, so a caller keeps the id.
    KILN_TRY(const PipelineId found, Find(*pipelines, given, signature));
    // Before the id is handed out: any thread that gets it from the caller must find it known.
    Raise(pipelines->ids, found.index);
    id->index = found.index;
    return {};
  });
}

kiln_result kiln_pipelines_warm(kiln_pipelines* pipelines, const kiln_pipeline_id* ids,
                                size_t id_count, kiln_lane lane, kiln_warm_ticket* ticket,
                                kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY(const auto given, TakeArray(ids, id_count, "ids"));
    KILN_TRY_VOID(CheckNumber(lane, KILN_LANE_BACKGROUND, "lane"));
    KILN_TRY_VOID(NotNull(ticket, "ticket"));
    runtime::WarmRequest request;
    // All ids are checked before the first is queued. A wrong one leaves nothing half ordered.
    for (const kiln_pipeline_id id : given) {
      KILN_TRY(const PipelineId own, TakeId(pipelines, id));
      request.pipelines.push_back(own);
    }
    request.lane = static_cast<runtime::Lane>(lane);
    const runtime::WarmTicket made = pipelines->pipelines->Warm(request);
    // As with pipelines: the number is known before the caller has it.
    Raise(pipelines->tickets, made.index);
    ticket->index = made.index;
    return {};
  });
}

// Never waits, so it can be asked in each frame.
kiln_result kiln_pipelines_progress(const kiln_pipelines* pipelines, kiln_warm_ticket ticket,
                                    kiln_warm_progress* progress, kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY_VOID(CheckRoom(progress, "progress"));
    KILN_TRY(const runtime::WarmTicket own, TakeTicket(pipelines, ticket));
    Give(ToC(pipelines->pipelines->Progress(own)), progress);
    return {};
  });
}

kiln_result kiln_pipelines_wait(kiln_pipelines* pipelines, kiln_warm_ticket ticket,
                                uint64_t timeout_ns, kiln_warm_progress* progress,
                                kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY_VOID(CheckRoom(progress, "progress"));
    KILN_TRY(const runtime::WarmTicket own, TakeTicket(pipelines, ticket));
    KILN_TRY(const runtime::WarmReport report, pipelines->pipelines->Wait(own, WaitOf(timeout_ns)));
    // What the caller can draw without is told in the log; the call itself succeeded.
    for (const runtime::WarmFailure& failure : report.failures) {
      pipelines->context->Write(LogLevel::kWarning, "pipelines", "a pipeline is not ready",
                                {{"program", failure.name}, {"why", failure.error}});
    }
    Give(ToC(report.progress), progress);
    return {};
  });
}

kiln_result kiln_pipelines_cancel(kiln_pipelines* pipelines, kiln_warm_ticket ticket,
                                  kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY(const runtime::WarmTicket own, TakeTicket(pipelines, ticket));
    pipelines->pipelines->Cancel(own);
    return {};
  });
}

// An id of nobody can never be drawn with, which is what "unsupported" says to a caller.
kiln_pipeline_state kiln_pipelines_state(const kiln_pipelines* pipelines, kiln_pipeline_id id) {
  return pipelines == nullptr || !Knows(*pipelines, id)
             ? static_cast<kiln_pipeline_state>(KILN_PIPELINE_UNSUPPORTED)
             : static_cast<kiln_pipeline_state>(pipelines->pipelines->State(PipelineId{id.index}));
}

kiln_result kiln_pipelines_check(const kiln_pipelines* pipelines, kiln_pipeline_id id,
                                 kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY(const PipelineId own, TakeId(pipelines, id));
    // Two questions: why it will never be there, and whether it is there yet.
    // In this order, since a pipeline that failed is not ready either.
    if (const Error* const why = pipelines->pipelines->ErrorOf(own)) {
      return *why;
    }
    if (!IsReady(pipelines->pipelines->State(own))) {
      return Error{ErrorCode::kFailedPrecondition, "the pipeline is not built yet", "NOT_READY"};
    }
    return {};
  });
}

// Called for each draw, so it answers with a number and makes no error object.
uint32_t kiln_pipelines_bind(kiln_pipelines* pipelines, VkCommandBuffer commands,
                             kiln_pipeline_id id, kiln_on_missing missing,
                             kiln_pipeline_id fallback) {
  return Answer(pipelines, uint32_t{0}, [&]() -> uint32_t {
    // Everything is checked, because this is recorded into a command buffer of the caller's, where
    // a wrong handle is no error but a crash.
    if (commands == VK_NULL_HANDLE || missing > KILN_ON_MISSING_BLOCK || !Knows(*pipelines, id) ||
        (missing == KILN_ON_MISSING_FALLBACK && !Knows(*pipelines, fallback))) {
      return 0;
    }
    runtime::OnMissing action = runtime::OnMissing::Skip();
    if (missing == KILN_ON_MISSING_FALLBACK) {
      action = runtime::OnMissing::Fallback({fallback.index});
    } else if (missing == KILN_ON_MISSING_BLOCK) {
      action = runtime::OnMissing::Block();
    }
    return pipelines->pipelines->Bind(commands, {id.index}, action).drawable ? 1 : 0;
  });
}

kiln_result kiln_pipelines_set_viewport(const kiln_pipelines* pipelines, VkCommandBuffer commands,
                                        kiln_pipeline_id id, VkExtent2D area, kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(commands, "commands"));
    KILN_TRY(const PipelineId own, TakeId(pipelines, id));
    // Where y points follows from the pipeline, so the caller gives the area only.
    runtime::SetViewportFor(pipelines->device->table(), commands, pipelines->pipelines->Desc(own),
                            area);
    return {};
  });
}

kiln_result kiln_pipelines_layout(const kiln_pipelines* pipelines, kiln_pipeline_id id,
                                  kiln_pipeline_layout* layout, kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(CheckRoom(layout, "layout"));
    KILN_TRY(const PipelineId own, TakeId(pipelines, id));
    const runtime::LayoutSet& from = pipelines->pipelines->Layouts(own);
    kiln_pipeline_layout out{};
    out.layout = from.layout;
    // The array of C has room for all sets that a layout can have.
    std::copy(from.sets.begin(), from.sets.end(), out.sets);
    out.set_count = from.set_count;
    out.stages = from.stages;
    out.push_size = from.push_size;
    out.generation = from.generation;
    Give(out, layout);
    return {};
  });
}

// The old pipeline is drawn until the new one is built. If it cannot be built, the old one stays,
// and kiln_pipelines_check tells why.
kiln_result kiln_pipelines_replace(kiln_pipelines* pipelines, kiln_pipeline_id id,
                                   kiln_source* source, const kiln_variant* variant,
                                   kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY(const kiln_variant given, Take(variant, "variant"));
    KILN_TRY(const PipelineId own, TakeId(pipelines, id));
    KILN_TRY(const runtime::SourceArtifact artifact, FindArtifact(*source, given));
    return pipelines->pipelines->Replace(own, artifact, source->source);
  });
}

kiln_result kiln_pipelines_end_frame(kiln_pipelines* pipelines, uint64_t frame,
                                     kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    pipelines->pipelines->EndFrame(frame);
    return {};
  });
}

// `completed` is the number of the latest frame that the device is done with.
kiln_result kiln_pipelines_collect(kiln_pipelines* pipelines, uint64_t completed,
                                   kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    pipelines->pipelines->Collect(completed);
    return {};
  });
}

uint32_t kiln_pipelines_hitch_count(kiln_pipelines* pipelines) {
  // A copy is taken when the count is asked for. The list may grow meanwhile, and the numbers have
  // to fit it.
  return Answer(pipelines, uint32_t{0}, [&] {
    pipelines->hitches = pipelines->pipelines->Hitches();
    return static_cast<uint32_t>(pipelines->hitches.size());
  });
}

kiln_result kiln_pipelines_hitch(kiln_pipelines* pipelines, uint32_t index, kiln_hitch* hitch,
                                 kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY_VOID(CheckRoom(hitch, "hitch"));
    // The list is the one of the last count; without a count it is empty.
    if (index >= pipelines->hitches.size()) {
      return OutOfRange("hitch", index, pipelines->hitches.size());
    }
    const runtime::Hitch& from = pipelines->hitches[index];
    Give(kiln_hitch{.struct_size = 0,
                    .kind = static_cast<kiln_hitch_kind>(from.kind),
                    .program = TextOf(from.name),
                    .duration_ns = Nanoseconds(from.duration),
                    .frame = from.frame},
         hitch);
    return {};
  });
}

kiln_result kiln_pipelines_get_stats(const kiln_pipelines* pipelines, kiln_pipeline_stats* stats,
                                     kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    KILN_TRY_VOID(CheckRoom(stats, "stats"));
    const runtime::PipelineStats from = pipelines->pipelines->Stats();
    Give(kiln_pipeline_stats{.struct_size = 0,
                             .added = from.added,
                             // To a caller both can be drawn with.
                             .ready = from.ready + from.ready_fast,
                             .queued = from.queued,
                             .failed = from.failed,
                             .unsupported = from.unsupported,
                             .quarantined = from.quarantined,
                             .cache_hits = from.cache_hits,
                             .replaced = from.replaced,
                             .retired = from.retired,
                             .hitches = from.hitches,
                             .missing = from.missing},
         stats);
    return {};
  });
}

kiln_result kiln_pipelines_save_cache(kiln_pipelines* pipelines, kiln_error** error) {
  return Call(pipelines, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pipelines, "pipelines"));
    return pipelines->pipelines->SaveCache();
  });
}

void kiln_pipelines_destroy(kiln_pipelines* pipelines) { Destroy(pipelines); }
