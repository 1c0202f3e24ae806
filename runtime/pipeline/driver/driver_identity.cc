// SPDX-License-Identifier: MIT
#include "runtime/pipeline/driver/driver_identity.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string_view>
#include <sys/stat.h>

#include "compiler/base/hash/canonical.h"

namespace kiln::runtime {
namespace {

constexpr size_t kNoteAlignment = 4;

size_t Aligned(size_t size) {
  return (size + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment;
}

// The object that has an address, and its build id once found.
struct Search {
  uintptr_t address = 0;
  ByteView build_id;
};

// Notes are name and text behind a small header, each padded to four bytes. The lengths come from a
// file, so the end is checked before anything is read.
ByteView BuildIdIn(ByteView notes) {
  // A note that ends behind the segment ends the search: its lengths cannot be trusted.
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= notes.size();) {
    const auto note = ReadLittle<ElfW(Nhdr)>(notes, at);
    const size_t name = at + sizeof(note);
    const size_t text = name + Aligned(note.n_namesz);
    const size_t end = text + Aligned(note.n_descsz);
    if (end > notes.size()) {
      return {};
    }
    if (note.n_type == NT_GNU_BUILD_ID &&
        AsText(notes.subspan(name, note.n_namesz)) == std::string_view("GNU\0", 4)) {
      return notes.subspan(text, note.n_descsz);
    }
    at = end;
  }
  return {};
}

// Called for each loaded object; the one whose segments hold the address of the driver's function
// is the driver.
int Visit(dl_phdr_info* info, size_t /*size*/, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  bool here = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    here = here || (header.p_type == PT_LOAD && search.address >= begin &&
                    search.address < begin + header.p_memsz);
  }
  // Only the notes of the object that was found are read.
  for (int i = 0; here && i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE && search.build_id.empty()) {
      const auto* const notes =
          reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr);
      search.build_id = BuildIdIn({notes, header.p_memsz});
    }
  }
  return here ? 1 : 0;
}

// The build id of the object with the function; else size and time of its file.
// A driver that was rebuilt without a new version number still has another build id. So its old
// cache is not used.
Hash128 BuildOf(PFN_vkCreateGraphicsPipelines function) {
  Search search{.address = reinterpret_cast<uintptr_t>(function)};
  dl_iterate_phdr(Visit, &search);
  CanonicalWriter writer("kiln.driver.build.1");
  if (!search.build_id.empty()) {
    return writer.Raw(1, search.build_id).Key();
  }
  Dl_info info{};
  struct stat file {};
  if (dladdr(reinterpret_cast<const void*>(function), &info) != 0 && info.dli_fname != nullptr &&
      stat(info.dli_fname, &file) == 0) {
    writer.U64(2, static_cast<uint64_t>(file.st_size))
        .U64(3, static_cast<uint64_t>(file.st_mtim.tv_sec));
  }
  return writer.Key();
}

}  // namespace

// Everything that may change what the driver makes of a pipeline. Pointer size is in it, as 32-bit
// and 64-bit drivers share uuids.
Hash128 DriverIdentity(const Device& device) {
  const DeviceIdentity& id = device.identity();
  return CanonicalWriter("kiln.driver.1")
      .U32(1, id.vendor_id)
      .U32(2, id.device_id)
      .Raw(3, std::as_bytes(std::span(id.device_uuid)))
      .U32(4, id.driver_id)
      .U32(5, id.driver_version)
      .Text(6, id.driver_info)
      .Raw(7, std::as_bytes(std::span(id.driver_uuid)))
      .Raw(8, std::as_bytes(std::span(id.pipeline_cache_uuid)))
      .U32(9, sizeof(void*))
      .Hash(10, BuildOf(device.table().CreateGraphicsPipelines))
      .Key();
}

}  // namespace kiln::runtime
