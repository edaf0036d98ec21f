// What can go wrong with a study as a whole.
#pragma once

#include <stdexcept>

namespace mrc {

/// Bad input about a study, found before anything runs: one line that begins with its place.
class StudyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user ended the study; what is done is in the database.
class StudyInterrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mrc
