// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/top_screen.h"

// The macros of curses have names such as `move` and `clear`.
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <clocale>
#include <utility>

#include "cli/commands/top/history.h"
#include "cli/commands/top/top_page.h"

namespace fathom::cli {
namespace {

constexpr std::array<double, 4> kWindows_s = {1, 5, 15, 60};
constexpr std::array<RankOrder, 4> kOrders = {RankOrder::kWaiting, RankOrder::kMpi,
                                              RankOrder::kTraffic, RankOrder::kRank};
constexpr int kEscape = 27;
using Clock = std::chrono::steady_clock;

// The terminal while curses has it.
class Curses {
 public:
  Curses() : screen_(newterm(nullptr, stdout, stdin)) {
    if (screen_ == nullptr) return;
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    set_escdelay(50);
    if (!has_colors()) return;
    start_color();
    use_default_colors();
    init_pair(1, COLOR_RED, -1);
    init_pair(2, COLOR_YELLOW, -1);
    init_pair(3, COLOR_GREEN, -1);
  }
  ~Curses() {
    if (screen_ == nullptr) return;
    endwin();
    delscreen(screen_);
  }
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;

  bool works() const { return screen_ != nullptr; }

  static int attributes_of(Style style) {
    switch (style) {
      case Style::kHeading: return A_BOLD;
      case Style::kBad: return A_BOLD | COLOR_PAIR(1);
      case Style::kWarning: return COLOR_PAIR(2);
      case Style::kGood: return COLOR_PAIR(3);
      case Style::kFaint: return A_DIM;
      default: return A_NORMAL;
    }
  }

 private:
  SCREEN* screen_;
};

class Screen {
 public:
  Screen(JobSource& source, double interval_s)
      : source_(source),
        interval_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(interval_s))) {}

  base::Result<ScreenEnd> run(live::JobState first) {
    take(std::move(first));
    for (Clock::time_point next = Clock::now() + interval_;;) {
      draw();
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
      wtimeout(stdscr, static_cast<int>(std::max<std::int64_t>(1, left.count())));
      const int key = wgetch(stdscr);
      if (key != ERR && !pressed(key)) return ScreenEnd::kQuit;
      if (Clock::now() < next) continue;
      next = Clock::now() + interval_;
      auto state = source_.read();
      if (!state) return state.error();
      if (!*state) return ScreenEnd::kJobEnded;
      if (!view_.paused) take(std::move(**state));
    }
  }

 private:
  void take(live::JobState state) {
    history_.add(std::move(state));
    verdict_ = live::judge(history_.now(), history_.before(1));
  }

  void draw() {
    view_.width = static_cast<std::size_t>(std::max(1, getmaxx(stdscr)));
    view_.height = static_cast<std::size_t>(std::max(1, getmaxy(stdscr) - 1));  // without the keys
    const auto lines = top_page(history_.now(), history_.before(view_.window_s), verdict_, view_);
    werase(stdscr);
    for (std::size_t at = 0; at < lines.size() && at < view_.height; ++at)
      put(static_cast<int>(at), Curses::attributes_of(lines[at].style), lines[at].text);
    std::string keys = fmt::format(
        "q quit  s sort: {}  arrows+enter rank: {}  c class: {}  w window: {} s  p {}",
        name_of(view_.order), view_.rank ? std::to_string(*view_.rank) : "all",
        view_.kind.empty() ? "all" : view_.kind, view_.window_s, view_.paused ? "go on" : "pause");
    keys.resize(std::max(keys.size(), view_.width), ' ');
    put(getmaxy(stdscr) - 1, A_REVERSE, keys);
    wrefresh(stdscr);
  }

  void put(int line, int attributes, const std::string& text) {
    wattrset(stdscr, attributes);
    mvwaddnstr(stdscr, line, 0, text.c_str(), -1);
    wattrset(stdscr, A_NORMAL);
  }

  // False: the user quits.
  bool pressed(int key) {
    switch (key) {
      case 'q': return false;
      case 's': view_.order = following(kOrders, view_.order); break;
      case 'w': view_.window_s = following(kWindows_s, view_.window_s); break;
      case 'c': next_kind(); break;
      case 'p':
      case ' ': view_.paused = !view_.paused; break;
      case KEY_UP: choose(-1); break;
      case KEY_DOWN: choose(1); break;
      case KEY_PPAGE: scroll(-page()); break;
      case KEY_NPAGE: scroll(page()); break;
      case '\n':
      case KEY_ENTER: choose(0); break;
      case kEscape: view_.rank.reset(); break;
      default: break;  // KEY_RESIZE: the next drawing fits
    }
    return true;
  }

  template <typename List, typename Value>
  static Value following(const List& list, const Value& value) {
    const auto found = std::ranges::find(list, value);
    return found == list.end() || found + 1 == list.end() ? list.front() : *(found + 1);
  }

  // All classes, then one after the other.
  void next_kind() {
    auto kinds = history_.kinds();
    kinds.insert(kinds.begin(), "");
    view_.kind = following(kinds, view_.kind);
  }

  std::ptrdiff_t page() const { return std::max<std::ptrdiff_t>(1, getmaxy(stdscr) / 2); }

  void scroll(std::ptrdiff_t by) {
    const auto ranks = static_cast<std::ptrdiff_t>(history_.now().ranks.size());
    view_.first_rank = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(view_.first_rank) + by, 0,
                                   std::max<std::ptrdiff_t>(0, ranks - 1)));
  }

  // The rank above or below the chosen one in the order; the first of the screen if none is chosen.
  void choose(std::ptrdiff_t by) {
    JobChange change(history_.now(), history_.before(view_.window_s), view_.kind);
    change.sort(view_.order);
    if (change.ranks.empty()) return;
    if (view_.rank && by == 0) return view_.rank.reset();
    const auto chosen = std::ranges::find_if(
        change.ranks, [&](const RankActivity& rank) { return view_.rank == rank.state->rank; });
    std::ptrdiff_t at = static_cast<std::ptrdiff_t>(view_.first_rank);
    if (chosen != change.ranks.end()) at = chosen - change.ranks.begin() + by;
    at = std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(change.ranks.size()) - 1);
    view_.rank = change.ranks[static_cast<std::size_t>(at)].state->rank;
    const auto first = static_cast<std::ptrdiff_t>(view_.first_rank);
    if (at < first || at >= first + page()) view_.first_rank = static_cast<std::size_t>(at);
  }

  JobSource& source_;
  Clock::duration interval_;
  History history_;
  live::Verdict verdict_;
  TopView view_;
};

}  // namespace

base::Result<ScreenEnd> show_screen(JobSource& source, double interval_s) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    return base::Error{
        "stdin and stdout must be a terminal; use --once to print the page once, or --json for "
        "programs"};
  auto first = source.read();
  if (!first) return first.error();
  if (!*first) return ScreenEnd::kJobEnded;
  std::setlocale(LC_CTYPE, "");
  const Curses curses;
  if (!curses.works())
    return base::Error{
        "curses does not know this type of terminal (TERM); use --once to print the page once"};
  return Screen(source, interval_s).run(std::move(**first));
}

}  // namespace fathom::cli
