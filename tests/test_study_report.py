"""Tables and plots of a study, and the commands from end to end."""

import csv
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stagenets.study import _tables as tables
from stagenets.study._records import Row
from stagenets.study._results import as_table, collect, read_published
from study_problems import command, write_set

SIX = ["RVFL", "RG-RVFL", "ELM", "RG-ELM", "BLS", "RG-BLS"]


def row(dataset, model, accuracy, *, n=100, q=2, seconds=1.0):
    return Row(dataset, model, n, 4, q, accuracy, 2.0, seconds, "X", "", "[]")


@pytest.fixture
def results():
    """Six binary and five multiclass sets, RVFL and RG-RVFL; RG-RVFL lacks the last."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(11):
        shape = {"n": 100 * 3 ** (i % 4), "q": 2 if i < 6 else 4}
        accuracy = round(float(rng.uniform(60, 90)), 2)
        rows.append(row(f"s{i:02}", "RVFL", accuracy, **shape))
        if i < 10:
            rows.append(row(f"s{i:02}", "RG-RVFL", accuracy + i % 3 - 0.5, **shape))
    return collect(rows, SIX)


@pytest.fixture
def published(results, tmp_path):
    """RVFL one point below ours everywhere, RG-RVFL two points above that."""
    path = tmp_path / "published.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dataset", "RVFL", "RG-RVFL"])
        for name, accuracy in zip(results.sets, results.column("RVFL"), strict=True):
            writer.writerow([name, accuracy - 1, accuracy + 1])
    return path


def test_results_are_ordered_and_gaps_stay_gaps(results):
    assert results.models == ["RVFL", "RG-RVFL"]
    assert results.sets == sorted(results.sets)
    assert math.isnan(results.accuracy[10, 1])
    np.testing.assert_array_equal(results.complete(["RVFL", "RG-RVFL"]), np.arange(11) < 10)
    assert {name: int(mask.sum()) for name, mask in results.tasks.items()} == {
        "binary": 6,
        "multiclass": 5,
        "all": 11,
    }
    assert sum(mask.sum() for mask in results.sizes.values()) == 11


def test_summary_averages_over_sets_that_all_models_have(results, published):
    theirs = as_table(read_published(published), results)
    records = {
        (record["task"], record["metric"]): record for record in tables.summary(results, theirs)
    }
    ours, guided = results.column("RVFL")[:10], results.column("RG-RVFL")[:10]
    assert records["all (10)", "accuracy"]["RVFL"] == f"{ours.mean():.2f}"
    assert records["all (10)", "published accuracy"]["RG-RVFL"] == f"{(ours + 1).mean():.2f}"
    assert records["binary (6)", "std. dev."]["RVFL"] == "2.00"
    expected = stats.rankdata(-np.stack([ours, guided]), axis=0).mean(axis=1)
    pair = records["all (10)", "rank in pair"]
    assert [pair["RVFL"], pair["RG-RVFL"]] == [f"{rank:.2f}" for rank in expected]
    assert records["multiclass (4)", "published rank"]["RG-RVFL"] == "1.00"


def test_gains_stand_beside_the_published_ones(results, published):
    theirs = as_table(read_published(published), results)
    record = tables.gains(results, theirs)[-1]
    difference = np.array([i % 3 - 0.5 for i in range(10)])
    assert record["gain"] == f"{difference.mean():+.2f}"
    assert record["published gain"] == "+2.00"
    assert record["win / tie / loss"] == "6 / 0 / 4"
    assert record["published w / t / l"] == "10 / 0 / 0"
    assert float(record["Wilcoxon p"]) == pytest.approx(stats.wilcoxon(difference).pvalue, abs=6e-4)


def test_distances_are_those_to_the_published_figures(results, published):
    theirs = as_table(read_published(published), results)
    one_shot, guided = tables.distances(results, theirs)
    assert (one_shot["mean absolute difference"], one_shot["average, binary"]) == ("1.00", "+1.00")
    apart = np.array([i % 3 - 1.5 for i in range(10)])
    assert guided["mean absolute difference"] == f"{np.abs(apart).mean():.2f}"
    assert guided["average, all"] == f"{apart.mean():+.2f}"
    assert guided["sets"] == "10"


def test_published_models_that_are_missing_leave_gaps(results, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("dataset,RVFL\ns00,70\n")
    theirs = as_table(read_published(path), results)
    assert np.isfinite(theirs).sum() == 1
    assert [record["sets"] for record in tables.distances(results, theirs)] == ["1"]
    assert tables.gains(results, theirs)[-1]["published gain"] == "–"
    path.write_text("name,RVFL\ns00,70\n")
    with pytest.raises(ValueError, match="with a column 'dataset'"):
        read_published(path)


def test_comparisons_split_by_size(results):
    (record,) = tables.comparisons(results, [("RG-RVFL", "RVFL")])
    small = [i % 3 - 0.5 for i in range(10) if 100 * 3 ** (i % 4) < 300]
    assert record["n < 300"] == f"{np.mean(small):+.2f}"
    assert record["sets"] == "10"


def test_sure_wins_are_counted_over_the_sets_that_both_models_have(results):
    level = np.array([0.80, 0.82, 0.81, 0.79, 0.80])
    scores = {
        ("s00", "RG-RVFL"): level + np.array([0.05, 0.06, 0.04, 0.05, 0.05]),
        ("s00", "RVFL"): level,
        ("s01", "RG-RVFL"): level + np.array([0.05, -0.06, 0.04, -0.05, 0.05]),
        ("s01", "RVFL"): level,
        ("s02", "RG-RVFL"): level,
        ("s03", "RG-RVFL"): level[:3],
        ("s03", "RVFL"): level,
    }
    known = replace(results, scores=scores)
    assert tables.sure_wins_and_losses(known, "RG-RVFL", "RVFL") == (1, 0)
    assert tables.sure_wins_and_losses(known, "RVFL", "RG-RVFL") == (0, 1)


def test_untuned_and_rival_models_are_compared():
    models = ["RG-RVFL", "RG-RVFL default", "RVFL default", "MLP"]
    assert set(tables.other_pairs(models)) == {
        ("RG-RVFL default", "RVFL default"),
        ("RG-RVFL default", "RG-RVFL"),
        ("RG-RVFL", "MLP"),
        ("RG-RVFL default", "MLP"),
    }


def test_markdown_escapes_bars():
    assert tables.markdown([{"a|b": "c"}]).splitlines()[0] == "| a\\|b |"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_set(folder, "breast_cancer", n=70)
    write_set(folder, "three", n=60, q=3, seed=1)
    write_set(folder, "four", n=80, q=4, seed=2)
    return folder


TINY = [
    *("--setting", "alphas=0.1,1"),
    *("--setting", "sizes=5,10"),
    *("--setting", "activations=sigmoid"),
    *("--setting", "bls_alphas=0.1"),
    *("--setting", "bls_windows=1"),
    *("--setting", "bls_nodes=5"),
    *("--setting", "bls_enhancement=5"),
]


def is_drawn(path):
    """Whether a PNG has more than one colour in it."""
    image = pytest.importorskip("matplotlib.image").imread(path)
    return image.size > 0 and np.ptp(image[..., :3]) > 0.5


def test_the_paper_protocol_from_data_to_report(data, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    table = tmp_path / "published.csv"
    lines = [f"{name},{','.join(['80'] * 6)}" for name in ("breast_cancer", "three", "four")]
    table.write_text("\n".join([f"dataset,{','.join(SIX)}", *lines]) + "\n")
    out = tmp_path / "out"
    arguments = ["study", "--data", data, "--out", out, "--published", table, "--quiet", *TINY]
    assert command(*arguments) == 0
    assert "18 rows" in capsys.readouterr().out
    folder = out / "paper"
    report = (folder / "report.md").read_text()
    for heading in ("Averages", "Guided against one-shot", "Distance to", "All models together"):
        assert f"## {heading}" in report
    assert "alphas=0.1,1" in report
    assert str(tmp_path) not in report and str(data) not in report
    for picture in ("gains.png", "agreement.png", "ranks.png", "stages.png"):
        assert f"({picture})" in report
        assert is_drawn(folder / picture)
    with (folder / "accuracy.csv").open(newline="") as file:
        accuracy = list(csv.DictReader(file))
    assert [line["dataset"] for line in accuracy] == ["breast_cancer", "four", "three"]
    assert all(0 <= float(line[model]) <= 100 for line in accuracy for model in SIX)
    # The report can be made again from the rows alone.
    for path in folder.glob("*.png"):
        path.unlink()
    (folder / "report.md").unlink()
    again = ["--out", out, "--published", table, "--data", data, "--report-only"]
    assert command("study", *again) == 0
    assert (folder / "report.md").read_text() == report
    assert is_drawn(folder / "ranks.png")


def test_the_sound_protocol_from_data_to_report(data, tmp_path):
    models = "RVFL,RG-RVFL,RG-RVFL default,RVFL default,Nystroem+Ridge"
    arguments = ["study", "--data", data, "--out", tmp_path, "--protocol", "sound", "--quiet"]
    arguments += ["--repeats", 1, "--models", models, *TINY[:6]]
    assert command(*arguments) == 0
    report = (tmp_path / "sound" / "report.md").read_text()
    assert "## Comparisons by size of the data set" in report
    assert "| RG-RVFL default | RG-RVFL | 3 |" in report
    assert "| published" not in report


def test_without_matplotlib_there_are_tables_and_a_remark(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = ["study", "--data", data, "--out", tmp_path, "--protocol", "sound", "--quiet"]
    arguments += ["--repeats", 1, "--models", "RVFL default,Nystroem+Ridge"]
    assert command(*arguments) == 0
    assert "pip install 'stagenets[study]'" in capsys.readouterr().err
    assert ".png" not in (tmp_path / "sound" / "report.md").read_text()
