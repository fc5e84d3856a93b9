"""CSV files as people have them."""

import json

from tables import flowers


def test_words_for_missing_values_are_kept_with_the_model(run, folder):
    text = flowers().to_csv(index=False, na_rep="?")
    (folder / "table.csv").write_text(text)
    _, err = run("fit", "table.csv", "--target", "kind", "--folds", 0, "--out", "model")
    assert "column 'height' is left out: it holds 103 different texts" in err
    assert "column 'height' is read as text because of '?'" in err
    run("fit", "table.csv", "--target", "kind", "--missing", "?", "--folds", 0, "--out", "model")
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "other")
    found, _ = run("predict", "model", "table.csv")
    expected, _ = run("predict", "other", "flowers.csv")
    assert found == expected


def test_encoding(run, folder):
    text = "größe,kind\n" + "\n".join(f"{n},{'ä' if n < 20 else 'b'}" for n in range(40))
    (folder / "latin.csv").write_bytes(text.encode("latin-1"))
    _, err = run("fit", "latin.csv", "--target", "kind", "--folds", 0, "--out", "model", code=1)
    assert "latin.csv is not in UTF-8" in err and "--encoding" in err
    latin = ("latin.csv", "--encoding", "latin-1")
    run("fit", *latin, "--target", "kind", "--keep", "größe", "--folds", 0, "--out", "model")
    out, _ = run("predict", "model", *latin)
    assert out.split()[1] == "ä"
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    run("score", "model", "bom.csv")


def test_a_file_without_a_header_and_with_tabs(run, folder):
    flowers().to_csv("bare.tsv", index=False, header=False, sep="\t")
    place = str(list(flowers().columns).index("kind") + 1)
    reading = ("--no-header", "--sep", "\\t")
    run("fit", "bare.tsv", *reading, "--target", place, "--folds", 0, "--out", "model")
    run("fit", "flowers.csv", "--target", "kind", "--folds", 0, "--out", "named")
    expected = json.loads(run("score", "named", "flowers.csv", "--json")[0])
    assert json.loads(run("score", "model", "bare.tsv", *reading, "--json")[0]) == expected
    _, err = run("score", "model", "bare.tsv", code=1)
    assert "the target column '8' (if its first line holds data, add --no-header)" in err


def test_reading_a_large_file_shows_how_much_is_read(run, folder, monkeypatch):
    monkeypatch.setattr("stagenets.cli._usage._TAKES_A_WHILE", 1000)
    fit = ("fit", "flowers.csv", "--target", "kind", "--alpha", 1, "--folds", 0, "--out", "model")
    assert "[reading flowers.csv] 1/1 megabytes, " in run(*fit)[1]
    assert run(*fit, "--quiet")[1] == ""
