"""
A pipeline for a mixed table, exported to ONNX
==============================================

Categories, missing values and numbers go through scikit-learn's preprocessors; the whole pipeline
then runs wherever ONNX does.
"""

# %%
# A typical table: two columns of numbers, one of them with missing values, and a column of words.

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import pandas as pd
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from stagenets import RVFLClassifier, register_onnx_converters

rng = np.random.default_rng(0)
table = pd.DataFrame(
    {
        "length": rng.normal(30, 8, 600),
        "weight": rng.gamma(4, 0.5, 600),
        "water": rng.choice(["lake", "river", "sea"], 600),
    }
)
taste = table["length"] / 8 + 2 * np.sin(table["weight"]) + 2 * (table["water"] == "sea")
label = np.where(taste + rng.normal(size=600) > taste.median(), "keep", "free")
table.loc[rng.random(600) < 0.1, "weight"] = np.nan
train, test, y_train, y_test = train_test_split(table, label, random_state=0)

model = make_pipeline(
    make_column_transformer(
        (SimpleImputer(), ["length", "weight"]),
        (OneHotEncoder(sparse_output=False), ["water"]),
    ),
    RVFLClassifier(n_hidden=30, random_state=0),
).fit(train, y_train)
print(f"accuracy on test data {model.score(test, y_test):.3f}")
model

# %%
# skl2onnx can convert the pipeline once our estimators are registered.

register_onnx_converters()
types = [(name, FloatTensorType([None, 1])) for name in ("length", "weight")]
types.append(("water", StringTensorType([None, 1])))
converted = to_onnx(
    model, initial_types=types, options={RVFLClassifier: {"zipmap": False}}, target_opset=17
)

session = onnxruntime.InferenceSession(converted.SerializeToString())
feed = {name: test[[name]].to_numpy(np.float32) for name in ("length", "weight")}
feed["water"] = test[["water"]].to_numpy(object)
labels, probabilities = session.run(None, feed)
print("same labels:", bool(np.all(labels == model.predict(test))))

# %%
# The graph computes in float32; the largest difference in the probabilities shows what that costs.

expected = model.predict_proba(test)[:, 1]
print(f"largest difference {np.abs(probabilities[:, 1] - expected).max():.1e}")

figure, ax = plt.subplots(figsize=(4.2, 4.2), layout="constrained")
ax.plot([0, 1], [0, 1], color="grey", linewidth=1)
ax.plot(expected, probabilities[:, 1], "o", markersize=4, alpha=0.6)
ax.set(xlabel="scikit-learn pipeline", ylabel="onnxruntime", title=f"P({model.classes_[1]})")
ax.grid(alpha=0.3)
