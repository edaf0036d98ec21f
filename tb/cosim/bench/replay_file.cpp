#include "cosim/bench/replay_file.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "cosim/bench/coverage.h"

namespace mrc::cosim {
namespace {

/// Of the words of a line: reads them one by one, and says what is missing or too much.
class Line {
 public:
  Line(const std::string& text, std::string place) : words_(text), place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument(fmt::format("{}: {}", place_, why));
  }
  /// Empty at the end.
  std::string next() {
    std::string word;
    words_ >> word;
    return word;
  }
  std::string word(std::string_view what) {
    std::string found = next();
    if (found.empty()) refuse(fmt::format("{} is missing", what));
    return found;
  }
  std::uint64_t number(std::string_view what) { return number_of(word(what), what); }
  std::uint64_t number_of(std::string_view text, std::string_view what) const {
    const bool hexadecimal = text.starts_with("0x");
    const std::string_view digits = hexadecimal ? text.substr(2) : text;
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      refuse(fmt::format("{}: expected a number of at most 64 bits, found {}", what, text));
    }
    return value;
  }
  void end() {
    if (const std::string more = next(); !more.empty()) refuse(fmt::format("nothing may follow, but {} does", more));
  }

 private:
  std::istringstream words_;
  std::string place_;
};

std::size_t port_named(Line& line, const std::vector<Port>& ports) {
  const std::string name = line.word("the port");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
  }
  line.refuse(fmt::format("the block has no port {}", name));
}

double load_of(Line& line) {
  const std::string text = line.word("the load");
  double load = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), load);
  if (error != std::errc() || end != text.data() + text.size() || !(load >= 0 && load <= 1)) {
    line.refuse(fmt::format("a load is 0 to 1, not {}", text));
  }
  return load;
}

Offer offer_of(Line& line, const std::vector<Port>& ports) {
  Offer offer;
  offer.port = port_named(line, ports);
  const Port& port = ports[offer.port];
  if (port.direction != Direction::in) line.refuse(fmt::format("port {} is an output of the block", port.name));
  offer.cycle = line.number("the cycle");
  for (const Field& field : port.fields) {
    const std::string word = line.next();
    if (!word.starts_with(field.name + "=")) {
      line.refuse(fmt::format("expected {}=VALUE of port {}", field.name, port.name));
    }
    offer.values.push_back(line.number_of(std::string_view(word).substr(field.name.size() + 1), field.name));
    if (!field.pin.fits(offer.values.back())) line.refuse(fmt::format("{} does not fit: {}", field.name, word));
  }
  return offer;
}

}  // namespace

void write_replay(const std::string& path, const std::string& block, const std::vector<Port>& ports,
                  const Episode& episode, const std::string& comment, const std::string& later) {
  std::string text =
      fmt::format("# {} differs: {}\n# mrcsim cosim {} --replay {}\nblock {}\nseed {}\nepisode {}\n", block, comment,
                  block, later.empty() ? path : later, block, episode.seed, episode.number);
  if (episode.draw != 0) text += fmt::format("draw {}\n", episode.draw);
  for (std::size_t i = 0; i < episode.load.size(); ++i)
    text += fmt::format("load {} {}\n", ports[i].name, episode.load[i]);
  if (episode.of_run) text += "of_run\n";
  for (const auto& [name, value] : episode.settings) text += fmt::format("setting {} {}\n", name, value);
  for (const Offer& offer : episode.offers) {
    const Port& port = ports[offer.port];
    text += fmt::format("{} {} {}", offer.in_turn ? "in_turn" : "offer", port.name, offer.cycle);
    for (std::size_t i = 0; i < offer.values.size(); ++i) {
      text += fmt::format(" {}={:#x}", port.fields[i].name, offer.values[i]);
    }
    text += '\n';
  }
  const std::string temporary = path + ".tmp";
  std::ofstream out(temporary);
  out << text;
  out.close();
  if (!out) {
    std::filesystem::remove(temporary);
    throw std::invalid_argument(fmt::format("{}: {}", path, kNotWhole));
  }
  std::filesystem::rename(temporary, path);
}

Episode read_replay(const std::string& path, const std::string& block, const std::vector<Port>& ports) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("{}: cannot be read", path));
  Episode episode;
  episode.load.assign(ports.size(), 1.0);
  std::size_t number = 0;
  for (std::string text; std::getline(file, text);) {
    Line line(text, fmt::format("{}:{}", path, ++number));
    const std::string key = line.next();
    if (key.empty() || key.starts_with('#')) continue;
    if (key == "block") {
      const std::string name = line.word("the block");
      if (name != block) line.refuse(fmt::format("a replay of {}, not of {}", name, block));
    } else if (key == "seed") {
      episode.seed = line.number("the seed");
    } else if (key == "episode") {
      episode.number = line.number("the episode");
    } else if (key == "draw") {
      episode.draw = line.number("the draw");
    } else if (key == "load") {
      const std::size_t port = port_named(line, ports);
      episode.load[port] = load_of(line);
    } else if (key == "of_run") {
      episode.of_run = true;
    } else if (key == "setting") {
      const std::string name = line.word("the setting");
      episode.settings[name] = line.number(name);
    } else if (key == "offer" || key == "in_turn") {
      episode.offers.push_back(offer_of(line, ports));
      episode.offers.back().in_turn = key == "in_turn";
    } else {
      line.refuse(
          fmt::format("unknown {}; allowed: block, seed, episode, draw, load, of_run, setting, offer, in_turn", key));
    }
    line.end();
  }
  if (file.bad()) throw std::invalid_argument(fmt::format("{}: cannot be read", path));
  return episode;
}

}  // namespace mrc::cosim
