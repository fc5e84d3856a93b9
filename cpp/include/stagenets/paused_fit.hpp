// The fit of one process's rows among those of several, in pieces: it pauses wherever it needs a sum over the rows of
// all, and goes on when it is told that sum. Nobody waits for anybody meanwhile, so whoever runs the pieces (a scheduler
// of tasks) may do so in any order, on any thread.
//
// What a paused fit is follows from its rows and the answers it has had. One that is lost can be made again anywhere:
// start it on the same rows and give it the same answers.
#pragma once

#include <memory>

#include "stagenets/fit.hpp"

namespace stagenets {

// How the values of all processes are to be combined: value by value, or one after another (see reduction.hpp). `stop` has
// no values; the answer is one number, and anything but zero ends the fit with the stage just reported.
enum class Combine { sum, least, greatest, gather, stop };

struct Question {
  Combine how;
  VectorD values;
};

class PausedFit {
 public:
  using Work = std::function<Fit(const Reduction&, const Observer&, const Team::Poll&)>;

  // `process` is the place of these rows among all. If `steered`, the fit asks after every stage whether to stop.
  PausedFit(Index process, bool steered, Work work);
  // Gives the fit up, wherever it is.
  ~PausedFit();
  PausedFit(const PausedFit&) = delete;
  PausedFit& operator=(const PausedFit&) = delete;

  // Runs from the start to the first question, or from an answer to the next; rethrows what the fit throws.
  void start();
  void answer(VectorD combined);

  // What it asks; null when the fit is over, and then there is a result.
  const Question* question() const;
  const std::shared_ptr<const Fit>& result() const;
  // The stages that ended since the last answer.
  const std::vector<StageReport>& reports() const;

 private:
  struct Shared;
  class Pause;
  void run();

  std::shared_ptr<Shared> shared_;
};

}  // namespace stagenets
