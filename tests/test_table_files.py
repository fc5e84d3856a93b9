"""Reading and writing tables: what was written is what is read, whatever the form of the file."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest

from stagenets.cli._table_files import CSVOptions, read_table, write_table
from tables import flowers

PACKINGS = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def same(found, expected):
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
@pytest.mark.parametrize("packing", [None, *PACKINGS])
def test_packed_csv_is_known_by_its_first_bytes(type_in, packing, piped):
    data = flowers().to_csv(index=False).encode()
    data = data if packing is None else PACKINGS[packing](data)
    write("table", data)
    type_in(data)
    same(read_table("-" if piped else "table").frame, flowers())


@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_parquet_and_feather_are_known_by_their_first_bytes(type_in, kind, piped):
    getattr(flowers(), f"to_{kind}")("table")
    with open("table", "rb") as file:
        type_in(file.read())
    same(read_table("-" if piped else "table").frame, flowers())


def test_zip_archives_of_one_file():
    with zipfile.ZipFile("table.zip", "w") as archive:
        archive.writestr("flowers.csv", flowers().to_csv(index=False))
    same(read_table("table.zip").frame, flowers())
    with zipfile.ZipFile("table.zip", "a") as archive:
        archive.writestr("more.csv", "a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"table.zip holds 2 files: unpack it first"):
        read_table("table.zip")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xd0\xcf\x11\xe0 old workbook", "is an Excel workbook: save the sheet as CSV"),
        (b"\x28\xb5\x2f\xfd packed", "is compressed with zstd: decompress it first"),
        (b"\x40\0\0\0\0\0\0\0" + b'{"__metadata__":{}}', "is a model, not a table"),
        ("a,b,a\n1,2,3\n", "must have different names; there are several 'a'"),
        ("a,b\n1,5,2,5\n3,5,4,5\n", "have more fields than its header"),
        ("a,b\n0,1,5\n1,2,6\n", "have more fields than its header"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "is damaged: "),
        (b"BZh91AY&SY", "is damaged: "),
        ("a;b\n1,234;1\n", "in column 'a', '1,234' may be 1234 or 1.234: give --decimal"),
        ("", "cannot be read"),
        ("a,b\n", "has no rows"),
    ],
)
def test_what_cannot_be_read_is_named(data, message):
    write("table", data)
    with pytest.raises(ValueError, match=message) as caught:
        read_table("table")
    assert "table" in str(caught.value)


def test_workbooks_and_folders_are_named(tmp_path):
    with zipfile.ZipFile("table.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(ValueError, match=r"table.xlsx is an Excel workbook"):
        read_table("table.xlsx")
    with pytest.raises(ValueError, match="is a folder"):
        read_table(str(tmp_path))


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_are_seen(separator):
    table = flowers()
    table.to_csv("table", index=False, sep=separator, decimal=",")
    read = read_table("table")
    same(read.frame, table)
    assert (read.decimal, read.remarks) == (",", ["numbers are read with a decimal comma"])


def test_decimal_commas_in_quotes_among_missing_words():
    write("table", 'x,y\n"1,5",?\n"2,5","3,5"\nNA,"4,5"\n"1.000,5",7\n')
    read = read_table("table", missing=["?"])
    expected = pd.DataFrame({"x": [1.5, 2.5, np.nan, 1000.5], "y": [np.nan, 3.5, 4.5, 7]})
    same(read.frame, expected)


def test_thousands_currencies_and_percentages():
    write("table", 'a,b,c,d\n"$1,234.50",12.3%,"1,000",007\n"-$2.00",5%,"2,000,000",010\n')
    read = read_table("table", text=["d"])
    expected = {"a": [1234.5, -2], "b": [12.3, 5], "c": [1000, 2000000], "d": ["007", "010"]}
    same(read.frame, pd.DataFrame(expected))
    assert read.remarks == [
        "column 'a' is read as numbers: '$1,234.50' is 1234.5",
        "column 'b' is read as numbers: '12.3%' is 12.3",
        "column 'c' is read as numbers: '1,000' is 1000",
    ]


@pytest.mark.parametrize(
    ("options", "usual", "value"),
    [
        (CSVOptions(decimal=","), None, 1.234),
        (CSVOptions(decimal="."), None, 1234),
        (CSVOptions(), ",", 1.234),
        (CSVOptions(), ".", 1234),
    ],
)
def test_decimal_sign_can_be_told_or_known_from_the_model(options, usual, value):
    write("table", "a;b\n1,234;1\n")
    assert read_table("table", options, usual_decimal=usual).frame["a"].tolist() == [value]


def test_points_for_thousands_in_a_file_with_decimal_commas():
    write("table", "a;b;when\n1.234;1,5;01.02.2024\n12.000;2,5;02.02.2024\n")
    found = read_table("table").frame.to_dict("list")
    assert found == {"a": [1234, 12000], "b": [1.5, 2.5], "when": ["01.02.2024", "02.02.2024"]}


def test_one_column_with_commas_does_not_change_the_points_of_others():
    write("table", 'a,b,c\n3.5,"1,5",1.234\n0.25,"2,5",2.345\n')
    read = read_table("table")
    assert read.frame.to_dict("list") == {"a": [3.5, 0.25], "b": [1.5, 2.5], "c": [1.234, 2.345]}
    assert read.remarks == ["column 'b' is read as numbers: '1,5' is 1.5"]


def test_other_columns_of_a_file_settle_the_decimal_sign():
    write("table", "a;b\n1,234;1,5\n")
    assert read_table("table").frame["a"].tolist() == [1.234]
    write("table", "a;b\n1,234;1.5\n")
    assert read_table("table").frame["a"].tolist() == [1234]


def test_files_without_header_have_numbered_columns():
    write("table", "1,x\n2,y\n")
    frame = read_table("table", CSVOptions(header=False)).frame
    assert frame.to_dict("list") == {"1": [1, 2], "2": ["x", "y"]}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_seen(separator):
    flowers().to_csv("table", index=False, sep=separator)
    same(read_table("table").frame, flowers())


@pytest.mark.parametrize("header", ["length, cm;name", "length,name"])
def test_separator_cuts_all_lines_alike(header):
    write("table", f"{header}\n" + ("1,5;a\n" * 3 if ";" in header else "1,a;b\n" * 3))
    assert read_table("table").frame.shape == (3, 2)


def test_separators_at_the_ends_of_lines_are_no_field():
    write("table", "a,b\n1,x,\n2,y,\n")
    assert read_table("table").frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


def test_unicode_text_from_spreadsheets():
    write("table", "größe\tname\n1,5\tÄ\n".encode("utf-16"))
    assert read_table("table").frame.to_dict("list") == {"größe": [1.5], "name": ["Ä"]}


@pytest.mark.parametrize("dtype", [object, "category", "string"])
def test_words_for_missing_values_mean_the_same_in_all_files(dtype):
    words = ["NA", "a", "null", "?", "N/A", "b", "", None]
    table = pd.DataFrame({"x": words, "y": range(8)})
    table.to_csv("table.csv", index=False)
    table.astype({"x": dtype}).to_parquet("table.parquet")
    kept = [None, "a", None, None, None, "b", None, None]
    for name in ("table.csv", "table.parquet"):
        frame = read_table(name, missing=["?"]).frame
        assert [None if pd.isna(x) else x for x in frame["x"]] == kept, name


def test_numerals_in_parquet_stay_texts_but_written_numbers_do_not():
    table = pd.DataFrame({"code": ["01", "02"], "price": ["$1.50", "$2.50"]})
    table.to_parquet("table.parquet")
    frame = read_table("table.parquet").frame
    assert frame.to_dict("list") == {"code": ["01", "02"], "price": [1.5, 2.5]}


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t"])
def test_written_tables_are_read_back(name):
    table = flowers().drop(columns="nothing")
    write_table(table, name)
    same(read_table(name).frame, table)
