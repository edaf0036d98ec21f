// Memory of large models in huge pages.
#pragma once

namespace mrc {

/// For what is allocated from now on, 1 GiB, the kernel is asked for huge pages: packets touch memory all over a large
/// model, and to look up the addresses of small pages takes a tenth of a run. Only what is used takes memory. Without
/// effect where the kernel gives huge pages without being asked, or never, and with a C library other than glibc. Not
/// to be called beside other threads. A second call in a process does nothing.
void grow_heap_in_huge_pages();

}  // namespace mrc
