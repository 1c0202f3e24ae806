// SPDX-License-Identifier: MIT
#include "runtime/c/pack.h"

#include <utility>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"

using namespace kiln;
using namespace kiln::c;

namespace {

Result<std::unique_ptr<pack::Pack>> Open(const kiln_pack_info& info) {
  KILN_TRY(const std::string_view path, TakeText(info.path, "info.path"));
  KILN_TRY(const auto keys, TakeArray(info.public_keys, info.public_key_count, "info.public_keys"));
  pack::ReadOptions options;
  // With at least one key a pack must be signed by one of them; without keys signatures are not
  // asked for.
  for (const kiln_text key : keys) {
    KILN_TRY(const std::string_view pem, TakeText(key, "info.public_keys"));
    KILN_TRY(const pack::PublicKey accepted, pack::PublicKey::FromPem(pem));
    options.require_signature.push_back(accepted);
  }
  if (info.base != nullptr) {
    // A delta holds only what changed; the pack it is made against has to be open for the rest.
    options.base = info.base->pack;
  }
  // Exactly one of both. Bytes are viewed and not copied: a program may have mapped or embedded
  // them, and must keep them.
  if (path.empty() == (info.bytes == nullptr)) {
    return Error{ErrorCode::kInvalidArgument, "'info' needs either a path or bytes", ""};
  }
  if (info.bytes == nullptr) {
    return pack::Pack::Open(std::string(path), options);
  }
  // Tables are read in place, and their rows have words of 64 bits.
  if (reinterpret_cast<uintptr_t>(info.bytes) % 8 != 0) {
    return Error{ErrorCode::kInvalidArgument, "'info.bytes' is not at a multiple of 8", ""};
  }
  return pack::Pack::OpenBytes({static_cast<const std::byte*>(info.bytes), info.byte_count},
                               options);
}

}  // namespace

kiln_result kiln_pack_open(kiln_context* context, const kiln_pack_info* info, kiln_pack** pack,
                           kiln_error** error) {
  return Call(context, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(context, "context"));
    KILN_TRY(const kiln_pack_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(pack, "pack"));
    auto made = std::make_unique<kiln_pack>();
    made->context = context->context;
    // The pack reads tables only; content is read when an artifact asks for it.
    KILN_TRY(made->pack, Open(given));
    const pack::Tables& tables = made->pack->tables();
    // Names are copied, because C callers get texts that end with a zero, which the pack does not
    // have.
    for (const pack::ProgramRow& row : tables.programs) {
      made->programs.emplace_back(tables.String(row.name));
    }
    *pack = made.release();
    return {};
  });
}

// Apart from opening, because it reads and hashes everything: opening checks tables only.
kiln_result kiln_pack_verify(const kiln_pack* pack, kiln_error** error) {
  return Call(pack, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(pack, "pack"));
    return pack->pack->Verify();
  });
}

uint32_t kiln_pack_program_count(const kiln_pack* pack) {
  return pack == nullptr ? 0 : static_cast<uint32_t>(pack->programs.size());
}

kiln_text kiln_pack_program_name(const kiln_pack* pack, uint32_t index) {
  // A number past the end gives an empty text, because there is no place for an error.
  return index < kiln_pack_program_count(pack) ? TextOf(pack->programs[index]) : kiln_text{};
}

void kiln_pack_destroy(kiln_pack* pack) { Destroy(pack); }
