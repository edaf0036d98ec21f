// What the preload offers to the provider, in the same process. C linkage, because the provider is loaded by libibverbs
// and finds these by name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "verbs/messages.h"

extern "C" {

/// Sends `request` (with its tail) and waits for the answer; `reply` has room for kMostBytes. Returns an errno: the
/// reply's, or that of a model that is gone. `fd`: a descriptor that came with the answer, -1 for none.
int mrcsim_call(mrc::verbs::Request* request, std::size_t bytes, mrc::verbs::Reply* reply, int* fd);

/// The model's number of a completion channel; 0 where `fd` is none.
std::uint32_t mrcsim_channel_of(int fd);

}  // extern "C"
