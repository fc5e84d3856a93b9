"""Watching a fit: lines on standard error, `callback`, and scikit-learn's own callbacks."""

import io
import re
import sys
import types
import warnings
from contextlib import redirect_stderr

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import problems
import stagenets
from stagenets.fitting import _progress

try:
    from sklearn.callback import ProgressBar, ScoringMonitor
except ImportError:
    ProgressBar = ScoringMonitor = None

needs_sklearn_callbacks = pytest.mark.skipif(
    ProgressBar is None, reason="scikit-learn has callbacks from 1.9 on"
)
every_estimator = pytest.mark.parametrize("cls", problems.ALL, ids=problems.name_of)


# The callback.


@every_estimator
def test_callback_hears_of_every_stage_what_the_fitted_paths_hold(cls):
    heard = []
    X, y = problems.data_for(cls)
    model = problems.small(cls, block_size=3, callback=heard.append).fit(X, y)
    assert [info.objective for info in heard] == list(model.objective_path_[1:])
    assert [info.residual_energy for info in heard] == list(model.residual_path_[1:])
    stages, counts = np.unique(model.selected_[:, 0], return_counts=True)
    assert [info.stage for info in heard] == list(stages)
    assert [info.n_units for info in heard] == list(np.cumsum(counts))
    assert {info.max_units for info in heard} == {model.n_hidden_}
    assert {info.validation_score for info in heard} == {None}
    seconds = [info.seconds for info in heard]
    assert seconds == sorted(seconds) and seconds[0] >= 0


@every_estimator
@pytest.mark.parametrize("yes", [True, np.True_])
def test_fit_stopped_by_its_callback_is_the_staged_model(cls, yes):
    X, y = problems.data_for(cls)
    full = problems.small(cls).fit(X, y)
    stopped = problems.small(cls, callback=lambda info: info.stage == 4 and yes).fit(X, y)
    assert stopped.n_iter_ == 5
    np.testing.assert_array_equal(stopped.selected_, full.selected_[: stopped.n_hidden_])
    staged = getattr(full, "staged_decision_function", None) or full.staged_predict
    np.testing.assert_allclose(problems.scores_of(stopped, X), list(staged(X))[5], atol=1e-9)


@pytest.mark.parametrize("answer", [None, False, 1, "yes", [1.0]], ids=repr)
def test_only_true_stops_a_fit(answer):
    cls = stagenets.RVFLRegressor
    model = problems.small(cls, callback=lambda info: answer).fit(*problems.data_for(cls))
    assert model.n_hidden_ == 12


@every_estimator
def test_one_shot_network_is_told_of_once_when_it_is_built(cls):
    heard = []
    X, y = problems.data_for(cls)
    model = problems.small(cls, selection="random", callback=heard.append).fit(X, y)
    (info,) = heard
    assert info.n_units == info.max_units == model.n_hidden_
    assert info.objective == model.objective_path_[-1]
    assert info.residual_energy == model.residual_path_[-1]
    assert info.stage == model.n_iter_ - 1


@every_estimator
def test_exception_of_a_callback_comes_through_and_the_model_can_be_fitted_again(cls):
    class Refusal(Exception):
        pass

    def refuse(info):
        if info.stage == 3:
            raise Refusal("enough")

    X, y = problems.data_for(cls)
    model = problems.small(cls, callback=refuse, verbose=1)
    with pytest.raises(Refusal, match="enough"):
        model.fit(X, y)
    assert not hasattr(model, "readout_")
    expected = problems.small(cls).fit(X, y)
    again = model.set_params(callback=None, verbose=0).fit(X, y)
    np.testing.assert_array_equal(again.readout_, expected.readout_)


def test_callback_is_a_parameter_like_any_other():
    heard = []
    model = stagenets.ELMClassifier(callback=heard.append)
    assert model.get_params()["callback"] == heard.append
    assert stagenets.ELMClassifier().get_params()["callback"] is None

    def stop(info):
        return True

    assert clone(model.set_params(callback=stop)).callback is stop
    X, y = problems.data_for(stagenets.ELMClassifier)
    search = GridSearchCV(model, {"callback": [None, stop], "n_hidden": [6]}, cv=2).fit(X, y)
    sizes = [clone(model).set_params(**p).fit(X, y).n_hidden_ for p in search.cv_results_["params"]]
    assert sizes == [6, 1]


@every_estimator
@pytest.mark.parametrize(
    ("name", "value"), [("callback", 3), ("callback", "stop"), ("verbose", "yes"), ("verbose", -1)]
)
def test_bad_values_are_named(cls, name, value):
    X, y = problems.data_for(cls)
    with pytest.raises(ValueError, match=rf"{name} must be .*; got {re.escape(repr(value))}"):
        problems.small(cls, **{name: value}).fit(X, y)


def test_stage_info_cannot_be_changed():
    info = stagenets.StageInfo(0, 1, 2, 3.0, 4.0, None, 5.0)
    with pytest.raises(AttributeError):
        info.stage = 1


# What is shown.


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test's callback sets, in the place of the fit's own."""
    clock = types.SimpleNamespace(now=100.0)
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: clock.now)
    return clock


def fit_with_ticking_clock(clock, seconds_a_stage, verbose, stages=6):
    def tick(info):
        clock.now += seconds_a_stage

    X, y = problems.data_for(stagenets.RVFLClassifier)
    return problems.small(
        stagenets.RVFLClassifier, n_hidden=stages, verbose=verbose, callback=tick
    ).fit(X, y)


@every_estimator
def test_verbose_2_writes_a_line_a_stage_to_standard_error(cls, capsys):
    X, y = problems.data_for(cls)
    model = problems.small(cls, verbose=2).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == model.n_iter_
    units = model.n_hidden_
    for line, objective in zip(lines, model.objective_path_[1:], strict=True):
        assert line.startswith(f"[{cls.__name__}] ")
        assert f"objective {objective:.6g}," in line
    assert f"{units}/{units} units" in lines[-1]


def test_verbose_1_writes_a_line_every_ten_seconds_and_the_last(clock, capsys):
    model = fit_with_ticking_clock(clock, 4.0, verbose=1, stages=9)
    lines = capsys.readouterr().err.splitlines()
    shown = [int(re.search(r"stage (\d+)", line)[1]) for line in lines]
    assert shown == [4, 7, 9]  # 12, 24 and 32 s after the start
    assert "4/9 units" in lines[0] and "12.0 s, about 15.0 s left" in lines[0]
    assert lines[-1].endswith(f"objective {model.objective_path_[-1]:.6g}, 32.0 s")


@pytest.mark.parametrize("quiet", [0, False, np.False_])
def test_verbose_0_writes_nothing(quiet, capsys):
    cls = stagenets.ELMRegressor
    problems.small(cls, verbose=quiet).fit(*problems.data_for(cls))
    assert capsys.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore:early_stopping=.* kept no units")
@every_estimator
def test_validation_score_is_shown_and_told(cls, capsys):
    heard = []
    X, y = problems.data_for(cls)
    model = problems.small(cls, early_stopping="validation", verbose=2, callback=heard.append)
    model.fit(X, y)
    scores = [info.validation_score for info in heard]
    assert scores == list(model.validation_path_[1:])
    lines = capsys.readouterr().err.splitlines()
    assert all(f"score {score:.4g}," in line for score, line in zip(scores, lines, strict=True))


def search(verbose):
    cls = stagenets.RVFLClassifierCV
    return cls(alphas=[0.1, 1.0], max_hidden=4, pool_sizes=[5], cv=3, verbose=verbose)


def test_search_tells_a_log_how_many_fits_are_done(clock, capsys):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    search(verbose=0).fit(X, y)
    assert capsys.readouterr().err == ""
    search(verbose=1).fit(X, y)
    assert capsys.readouterr().err == "[RVFLClassifierCV] 6/6 fits, 0.0 s\n"
    with _progress.search_progress("Slow", 1) as report:
        for done in range(10):
            clock.now += 4
            report(done, 9)
    written = capsys.readouterr().err
    shown = re.findall(r"(\d)/9 fits, (\d+)", written)
    assert shown == [("2", "12"), ("5", "24"), ("8", "36"), ("9", "40")]
    left = re.findall(r"about ([\d.]+) s left", written)
    assert [float(time) for time in left] == [12 * 7 / 2, 24 * 4 / 5, 36 / 8]


def test_cross_validation_of_sizes_is_shown_before_the_stages(clock, capsys):
    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier, early_stopping="cv", verbose=2).fit(X, y)
    first, *stages = capsys.readouterr().err.splitlines()
    assert first == "[RVFLClassifier, cross-validation] 5/5 folds, 0.0 s"
    assert len(stages) == model.n_iter_
    model.set_params(verbose=0).fit(X, y)
    assert capsys.readouterr().err == ""


def test_time_left_does_not_count_the_cross_validation(clock, capsys):
    """2 s of folds and then 4 s for each of the units: half-way, as much is left as they took."""
    model = problems.small(stagenets.RVFLClassifier, verbose=2)
    with _progress.watched_fit(model, 4) as watcher:
        clock.now += 2
        watcher.folds(5, 5)
        clock.now += 8
        watcher.stage(1, 2, 4, 1.0, 1.0, np.nan)
    assert "10.0 s, about 8.0 s left" in capsys.readouterr().err


def test_terminal_sees_the_folds_in_a_line_of_their_own():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with redirect_stderr(Terminal()) as terminal:
        problems.small(stagenets.RVFLClassifier, early_stopping="cv", verbose=1).fit(X, y)
    folds, stages, _ = terminal.getvalue().split("\n")
    assert "RVFLClassifier, cross-validation" in folds and "5/5" in redrawn(folds)[-1]
    assert "stage" in stages


def test_search_tells_a_terminal_in_one_line():
    X, y = problems.data_for(stagenets.RVFLClassifier)
    with redirect_stderr(Terminal()) as terminal:
        search(verbose=1).fit(X, y)
    written = terminal.getvalue()
    assert written.count("\n") == 1 and "6/6" in redrawn(written)[-1]


class Terminal(io.StringIO):
    """Keeps what is written to it."""

    def isatty(self):
        return True


def redrawn(text):
    """The successive contents of a line that is redrawn in place."""
    return [part.strip() for part in re.split("[\r\n]", text) if part.strip()]


def test_terminal_sees_one_line_redrawn_in_place(clock):
    with redirect_stderr(Terminal()) as terminal:
        model = fit_with_ticking_clock(clock, 0.04, verbose=1, stages=12)
    written = terminal.getvalue()
    assert written.count("\n") == 1 and written.endswith("\n")
    drawn = redrawn(written)
    stages = [int(found[1]) for line in drawn if (found := re.search(r"stage (\d+),", line))]
    assert sorted(set(stages)) == [4, 7, 10, 12]  # the first three 0.12 s apart, then the last
    assert "12/12 units" in drawn[-1] and f"{model.objective_path_[-1]:.6g}" in drawn[-1]


def test_terminal_sees_a_plain_line_if_the_fit_is_over_at_once(clock):
    with redirect_stderr(Terminal()) as terminal:
        fit_with_ticking_clock(clock, 0.001, verbose=1)
    (line,) = terminal.getvalue().splitlines()
    assert line.startswith("[RVFLClassifier] 6/6 units, stage 6")


def test_live_line_is_ended_when_the_fit_fails(clock):
    def fail(info):
        clock.now += 1
        if info.stage == 3:
            raise RuntimeError("no")

    X, y = problems.data_for(stagenets.RVFLClassifier)
    model = problems.small(stagenets.RVFLClassifier, verbose=1, callback=fail)
    with redirect_stderr(Terminal()) as terminal, pytest.raises(RuntimeError):
        model.fit(X, y)
    written = terminal.getvalue()
    assert written.endswith("\n")
    assert redrawn(written)[-1].startswith("RVFLClassifier:  33%|")


def test_notebook_without_widgets_gets_a_bar_of_text_and_no_warning(monkeypatch):
    """tqdm's own choice of a bar looks for a kernel and warns if ipywidgets are missing."""

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", types.ModuleType("zmqshell"))
    for name in ("tqdm.auto", "tqdm.autonotebook"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(_progress, "find_spec", lambda name: None)
    with warnings.catch_warnings(record=True) as caught, redirect_stderr(io.StringIO()) as cell:
        warnings.simplefilter("always")
        with _progress.count_progress("work", 1, unit="row") as report:
            report(1, 2)
            report(2, 2)
    assert caught == []
    assert "2/2" in redrawn(cell.getvalue())[-1]


def test_notebook_counts_as_live(monkeypatch):
    shell = types.SimpleNamespace(kernel=object())
    assert not _progress._can_redraw()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert _progress._can_redraw()
    del shell.kernel  # IPython in a terminal that is not one
    assert not _progress._can_redraw()


# scikit-learn's callbacks.


class Recorder:
    """A callback of scikit-learn's protocol that notes what it is told, and may stop the fit."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name, context.task_id, context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.calls.append(("end", context.task_name, context.task_id))
        if context.task_name == "fit":
            self.score = fitted_estimator.score(X, y)
        return context.task_name == "stage" and context.task_id == self.stop_at


@needs_sklearn_callbacks
@every_estimator
def test_sklearn_callback_sees_the_stages_as_tasks_of_the_fit(cls):
    recorder = Recorder()
    X, y = problems.data_for(cls)
    model = problems.small(cls, block_size=3).set_callbacks(recorder).fit(X, y)
    stages = [
        call
        for stage in range(model.n_iter_)
        for call in (("begin", "stage", stage, 0), ("end", "stage", stage))
    ]
    begin = ("begin", "fit", 0, model.n_iter_)
    assert recorder.calls == [
        ("setup", "fit"),
        begin,
        *stages,
        ("end", "fit", 0),
        ("teardown", "fit"),
    ]
    assert recorder.score == model.score(X, y)


@needs_sklearn_callbacks
@every_estimator
def test_sklearn_callback_may_stop_the_fit(cls):
    X, y = problems.data_for(cls)
    model = problems.small(cls).set_callbacks(Recorder(stop_at=2)).fit(X, y)
    assert model.n_iter_ == 3


@needs_sklearn_callbacks
def test_sklearn_callback_hears_of_stages_beyond_those_planned():
    """Twins in every pool of two: without a penalty, each stage can keep but one of its pool."""

    def twins(rng, pool_size, n_features):
        weights, bias = rng.normal(size=(n_features, 1)), rng.normal()
        return np.repeat(weights, pool_size, axis=1), np.full(pool_size, bias)

    recorder = Recorder()
    X, y = problems.data_for(stagenets.ELMRegressor)
    model = stagenets.ELMRegressor(
        n_hidden=4, alpha=0.0, block_size=2, pool_size=2, weight_init=twins, random_state=0
    )
    model.set_callbacks(recorder).fit(X, y)
    assert model.n_iter_ == 4
    assert ("begin", "fit", 0, 2) in recorder.calls
    assert ("end", "stage", 3) in recorder.calls


@needs_sklearn_callbacks
def test_sklearn_callback_and_ours_both_hear_of_the_stage_that_one_of_them_stops():
    cls = stagenets.RVFLClassifier
    for stop_at, answer in [(2, None), (None, True)]:
        recorder, heard = Recorder(stop_at), []

        def ours(info, heard=heard, answer=answer):
            heard.append(info.stage)
            return answer if info.stage == 2 else None

        model = problems.small(cls, callback=ours).set_callbacks(recorder)
        assert model.fit(*problems.data_for(cls)).n_iter_ == 3
        assert heard == [0, 1, 2]
        assert ("end", "stage", 2) in recorder.calls


@needs_sklearn_callbacks
def test_sklearn_callback_is_torn_down_when_the_fit_fails():
    def fail(info):
        raise RuntimeError("no")

    recorder = Recorder()
    cls = stagenets.BLSClassifier
    X, y = problems.data_for(cls)
    model = problems.small(cls, callback=fail).set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="no"):
        model.fit(X, y)
    assert recorder.calls[-1] == ("teardown", "fit")
    model.set_params(callback=None).fit(X, y)
    assert recorder.calls[-2:] == [("end", "fit", 0), ("teardown", "fit")]


@needs_sklearn_callbacks
def test_sklearn_scoring_monitor_scores_the_fitted_model():
    cls = stagenets.RVFLClassifier
    X, y = problems.data_for(cls)
    monitor = ScoringMonitor(scoring="accuracy")
    model = problems.small(cls).set_callbacks(monitor).fit(X, y)
    assert [row["accuracy"] for row in monitor.get_logs().data] == [model.score(X, y)]


@needs_sklearn_callbacks
def test_sklearn_progress_bar_alone_and_in_a_pipeline_and_a_search(capsys):
    pytest.importorskip("rich")
    cls = stagenets.ELMClassifier
    X, y = problems.data_for(cls)
    plain = problems.small(cls).set_callbacks(ProgressBar()).fit(X, y)
    assert "ELMClassifier - fit" in capsys.readouterr().out
    make_pipeline(StandardScaler(), clone(plain).set_callbacks()).set_callbacks(ProgressBar()).fit(
        X, y
    )
    assert "ELMClassifier - fit #1" in capsys.readouterr().out
    search = GridSearchCV(problems.small(cls), {"alpha": [0.1, 1.0]}, cv=2)
    search.set_callbacks(ProgressBar()).fit(X, y)
    assert "ELMClassifier - fit #3" in capsys.readouterr().out


@pytest.mark.skipif(ProgressBar is not None, reason="for scikit-learn before 1.9")
def test_estimators_do_not_pretend_to_take_callbacks_on_an_older_sklearn():
    assert not hasattr(stagenets.RVFLClassifier(), "set_callbacks")
