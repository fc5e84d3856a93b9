"""
Categories and missing values
=============================

A network takes a table as it is, with words and with gaps that may mean something.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from stagenets import ImportancesDisplay, RVFLRegressor

# %%
# Houses with an area, a year of construction (unknown for the oldest ones) and a quarter of
# the town. How the price depends on the area differs from quarter to quarter.

rng = np.random.default_rng(0)
n = 3000
quarter = rng.choice(["harbour", "hills", "old town", "station"], n)
area = rng.gamma(8, 15, n)
year = rng.integers(1850, 2020, n).astype(float)
slope = pd.Series(quarter).map({"harbour": 4.0, "hills": 6.0, "old town": 5.0, "station": 2.0})
price = slope * area + 150 * (year > 1990) + 200 * (year < 1900) + rng.normal(scale=40, size=n)
year[(year < 1900) & (rng.random(n) < 0.9)] = np.nan
houses = pd.DataFrame({"area": area, "year": year, "quarter": quarter})
houses["agent"] = rng.choice(["A", "B", "C"], n)  # who says nothing about the price
train, test, y_train, y_test = train_test_split(houses, price, random_state=0)
print(train.head())

# %%
# There is nothing to declare: words are categories, and NaN is a missing number.

model = RVFLRegressor(random_state=0).fit(train, y_train)
print(f"R² on test data {model.score(test, y_test):.3f}")
print(model.network_.input_names)

# %%
# A missing year tells us that a house is old. With the median alone, it would look like any other
# house of that year:

numbers, words = ["area", "year"], ["quarter", "agent"]
hidden = make_pipeline(
    make_column_transformer(
        (SimpleImputer(strategy="median"), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
    ),
    RVFLRegressor(random_state=0),
).fit(train, y_train)
print(f"R² without the input that says so {hidden.score(test, y_test):.3f}")

# %%
# Importances are those of the columns of the table, although the network has more inputs. Quarters
# that were never seen are zeros in all inputs of their column, and get a price between the others.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ImportancesDisplay.from_estimator(model, ax=axes[0])
areas = np.linspace(40, 220, 100)
for name in [*sorted(set(quarter)), "new town"]:
    rows = pd.DataFrame({"area": areas, "year": 1950.0, "quarter": name, "agent": "A"})
    style = {"color": "black", "linestyle": "--"} if name == "new town" else {}
    axes[1].plot(areas, model.predict(rows), label=name, **style)
axes[1].set(xlabel="area", ylabel="predicted price", title="in each quarter")
axes[1].legend()
axes[1].grid(alpha=0.3)
