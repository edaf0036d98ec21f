// GTKWave's saved view of a wave file of ours: which signals, in which groups and formats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mrc/types.h"
#include "results/recording.h"

namespace mrc {

struct ViewSignal {
  std::string box;  ///< "nic0.segmenter"
  std::string name;
  std::uint32_t width = 0;  ///< 0: words
};

/// The file beside `wave_path` that GTKWave takes as the saved view: the ending replaced by .gtkw.
std::string wave_view_path(const std::string& wave_path);

/// Groups, for each node: the parts of `picture`, paths and windows, switch queues. `from_ps`: where the view begins.
/// Throws OutputError.
void write_wave_view(const std::string& wave_path, const std::vector<std::string>& nodes,
                     const std::vector<RecordedBox>& picture, const std::vector<ViewSignal>& signals, TimePs from_ps);

}  // namespace mrc
