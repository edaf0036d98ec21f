#include "engine/picture.h"

#include <map>
#include <stdexcept>
#include <string>

namespace mrc {

std::vector<Box*> boxes_in_picture(const sc_core::sc_module& module) {
  std::map<std::string, Box*> by_predecessor;
  for (sc_core::sc_object* child : module.get_child_objects()) {
    auto* box = dynamic_cast<Box*>(child);
    if (box == nullptr) continue;
    const BoxPlace& place = box->place();
    if (place.part == NicPart::none) throw std::logic_error(std::string(box->name()) + ": declares no place");
    const auto [other, is_new] = by_predecessor.try_emplace(place.behind, box);
    if (!is_new) {
      throw std::logic_error(place.full_name() + " and " + other->second->place().full_name() + ": both are behind \"" +
                             place.behind + "\"");
    }
  }
  std::vector<Box*> boxes;
  for (auto next = by_predecessor.find(""); next != by_predecessor.end();) {
    Box* box = next->second;
    boxes.push_back(box);
    by_predecessor.erase(next);
    next = by_predecessor.find(box->place().full_name());
  }
  if (!by_predecessor.empty()) {
    const auto& [behind, box] = *by_predecessor.begin();
    throw std::logic_error(box->place().full_name() + ": is behind \"" + behind + "\", which is not in the picture");
  }
  return boxes;
}

}  // namespace mrc
