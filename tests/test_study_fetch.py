"""Fetching sets, with scikit-learn's own client talking to a server on this machine."""

import hashlib
import json
import re
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from stagenets.study._data import load
from study_problems import command

WEATHER = """@RELATION weather
@ATTRIBUTE row NUMERIC
@ATTRIBUTE outlook {sunny, overcast, rainy}
@ATTRIBUTE 'how warm' REAL
@ATTRIBUTE windy {no, yes}
@ATTRIBUTE play {stay, go}
@DATA
1,sunny,20,no,go
2,rainy,?,yes,stay
3,?,10,no,go
4,overcast,30,?,go
5,sunny,12,no,?
6,sunny,18,no,stay
"""
PRICES = """@RELATION prices
@ATTRIBUTE size REAL
@ATTRIBUTE price REAL
@DATA
1,2
3,4
"""
FILES = {"7": ("weather", WEATHER, "play"), "8": ("prices", PRICES, "price")}


def features(arff, target):
    found = []
    for line in arff.splitlines():
        match = re.match(r"@ATTRIBUTE ('[^']*'|\S+) (.*)", line)
        if match is None:
            continue
        name, kind = match[1].strip("'"), match[2]
        feature = {"index": str(len(found)), "name": name, "data_type": "numeric"}
        if kind.startswith("{"):
            values = [value.strip() for value in kind.strip("{}").split(",")]
            feature |= {"data_type": "nominal", "nominal_value": values}
        feature |= {
            "is_target": str(name == target).lower(),
            "is_ignore": "false",
            "is_row_identifier": str(name == "row").lower(),
            "number_of_missing_values": "0",
        }
        found.append(feature)
    return found


def answer(path):
    """What openml.org would say, or None for its error 412."""
    path = path.removeprefix("/api/v1/json")
    if match := re.match(r"/data/list/data_name/([^/]+)/", path):
        for number, (name, *_) in FILES.items():
            if match[1] == name and "/data_version/3" not in path:
                found = {"did": number, "name": name, "version": "1", "status": "active"}
                return {"data": {"dataset": [found]}}
        return None
    if match := re.match(r"/data/(features/|qualities/)?(\d+)$", path):
        kind, number = match.groups()
        if number not in FILES:
            return None
        name, arff, target = FILES[number]
        if kind == "features/":
            return {"data_features": {"feature": features(arff, target)}}
        if kind == "qualities/":
            rows = str(len(arff.partition("@DATA\n")[2].splitlines()))
            quality = [{"name": "NumberOfInstances", "value": rows}]
            return {"data_qualities": {"quality": quality}}
        return {
            "data_set_description": {
                "id": number,
                "name": name,
                "version": "1",
                "status": "active",
                "description": "",
                "format": "ARFF",
                "default_target_attribute": target,
                "file_id": number,
                "url": f"https://www.openml.org/data/v1/download/{number}/{name}.arff",
                "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
            }
        }
    match = re.match(r"/data/v1/download/(\d+)", path)
    return FILES[match[1]][1] if match else None


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        found = answer(self.path)
        text = found if isinstance(found, str) else json.dumps(found)
        self.send_response(412 if found is None else 200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


@pytest.fixture
def openml(monkeypatch):
    """Requests to openml.org go to a server of our own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def to_us(request, *arguments, **options):
        assert "openml.org" in request.full_url
        path = re.sub(r"https://[^/]+", "", request.full_url)
        return direct.open(urllib.request.Request(here + path, headers=dict(request.headers)))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", to_us)
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["weather", "weather:1", "7"])
def test_categories_are_coded_and_gaps_filled(openml, tmp_path, capsys, name):
    assert command("fetch", name, "--out", tmp_path / "sets") == 0
    said = capsys.readouterr().out
    assert "5 × 3, 2 classes, 3 missing values filled in, 1 rows without a class left out" in said
    with np.load(tmp_path / "sets" / "weather.npz", allow_pickle=False) as file:
        warm = (20 + 10 + 30 + 18) / 4
        np.testing.assert_allclose(
            file["X"], [[0, 20, 0], [2, warm, 1], [0, 10, 0], [1, 30, 0], [0, 18, 0]]
        )
        assert file["feature_names"].tolist() == ["outlook", "how warm", "windy"]
        assert file["classes"][file["y"]].tolist() == ["go", "stay", "go", "go", "stay"]
    assert load(tmp_path / "sets", "weather").n_outputs == 2


def test_categories_can_have_columns_of_their_own(openml, tmp_path):
    assert command("fetch", "weather", "--one-hot", "--out", tmp_path) == 0
    with np.load(tmp_path / "weather.npz") as file:
        names = ["outlook=sunny", "outlook=overcast", "outlook=rainy", "how warm", "windy"]
        assert file["feature_names"].tolist() == names
        np.testing.assert_array_equal(file["X"][:, :3].sum(axis=1), 1)
        np.testing.assert_array_equal(file["X"][:, 2], [0, 1, 0, 0, 0])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prices", "prices: the target must be one column of classes; got 'price'"),
        ("nothing", "nothing: No active dataset nothing found"),
        ("weather:3", "weather:3: Dataset weather with version 3 not found"),
        ("weather:new", "must be NAME, NAME:VERSION or the number of a data set"),
    ],
)
def test_a_set_that_cannot_be_fetched_does_not_stop_the_rest(
    openml, tmp_path, capsys, name, message
):
    assert command("fetch", name, "weather", "--out", tmp_path) == 1
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["weather.npz"]


def test_what_was_fetched_can_be_studied(openml, tmp_path):
    FILES["9"] = ("often", WEATHER + WEATHER.partition("@DATA\n")[2] * 9, "play")
    assert command("fetch", "often", "--out", tmp_path) == 0
    arguments = ["study", "--data", tmp_path, "--out", tmp_path / "out", "--protocol", "sound"]
    assert command(*arguments, "--models", "RVFL default", "--quiet") == 0


def test_progress_says_what_is_left_unless_quiet(openml, tmp_path, capsys):
    assert command("fetch", "weather", "7", "--out", tmp_path) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(";")[0] for line in lines] == ["[1/2] weather", "[2/2] 7"]
    assert all(re.search(r"about \d+ (s|min) left$", line) for line in lines)
    assert command("fetch", "weather", "--quiet", "--out", tmp_path) == 0
    assert capsys.readouterr().err == ""
