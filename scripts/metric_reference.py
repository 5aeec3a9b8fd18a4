#!/usr/bin/env python3
"""Writes tests/data/metrics/reference.json: values of the metrics from scikit-learn, scipy and torchmetrics.

    python scripts/metric_reference.py        # needs scikit-learn, scipy, torch and torchmetrics

The inputs are seeded; a second run writes the same file.
"""

import json
import math
from pathlib import Path

import numpy as np
import scipy.stats
import torch
import torchmetrics.functional.classification as tm
from sklearn import metrics as sk

OUTPUT = Path(__file__).resolve().parent.parent / "tests/data/metrics/reference.json"
AVERAGES = ("micro", "macro", "weighted")


def best_f1(labels, scores):
    precision, recall, _ = sk.precision_recall_curve(labels, scores)
    both = precision + recall
    return float(np.max(np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)))


def ranking_case(labels, scores, limits):
    two_classes = len(set(labels)) == 2
    return {
        "kind": "ranking", "labels": labels, "scores": scores,
        "auc": sk.roc_auc_score(labels, scores) if two_classes else None,
        "partial_auc": {str(limit): sk.roc_auc_score(labels, scores, max_fpr=limit) if two_classes else None
                        for limit in limits},
        "average_precision": sk.average_precision_score(labels, scores) if any(labels) else None,
        "best_f1": best_f1(labels, scores) if any(labels) else 0.0,
        "mean": float(np.mean(scores)), "std": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
    }


def rankings():
    random = np.random.default_rng(11)
    for rows, share, decimals in ((2, 0.5, 3), (7, 0.4, 1), (50, 0.1, 2), (300, 0.5, 1), (999, 0.03, 6), (40, 0.5, 0)):
        labels = (random.random(rows) < share).astype(int)
        labels[:2] = 0, 1
        scores = np.round(random.normal(size=rows) + labels, decimals) + 0.0
        yield ranking_case(labels.tolist(), scores.tolist(), (0.05, 0.1, 0.5, 1.0))
    yield ranking_case([0, 0, 1, 1], [1e-300, 2e-300, 3e-300, 2e-300], (0.1,))
    yield ranking_case([0, 0, 0], [0.1, 0.2, 0.2], (0.1,))
    yield ranking_case([1, 1], [0.5, -3.0], (0.1,))


def classes_case(truth, predicted, classes):
    """Averages over the classes that occur and, as `all`, over all of them."""
    def of(metric, average, labels):
        scores = sk.precision_recall_fscore_support(truth, predicted, average=average, labels=labels, zero_division=0)
        return float(scores[("precision", "recall", "f1").index(metric)])
    present, every = sorted(set(truth) | set(predicted)), list(range(classes))
    case = {"kind": "classes", "truth": truth, "predicted": predicted, "classes": classes,
            "accuracy": sk.accuracy_score(truth, predicted),
            "balanced_accuracy": float(np.mean(sk.recall_score(truth, predicted, labels=sorted(set(truth)), average=None))),
            "confusion": sk.confusion_matrix(truth, predicted).tolist(), "confusion_labels": present}
    for metric in ("precision", "recall", "f1"):
        case[metric] = {average: of(metric, average, present) for average in AVERAGES}
        case[metric]["macro_all"] = of(metric, "macro", every)
    return case


def class_cases():
    random = np.random.default_rng(12)
    for rows, classes, wrong in ((1, 2, 0.0), (6, 3, 0.5), (40, 4, 0.3), (200, 10, 0.6), (30, 25, 0.2)):
        truth = random.integers(0, classes, rows)
        predicted = np.where(random.random(rows) < wrong, random.integers(0, classes, rows), truth)
        yield classes_case(truth.tolist(), predicted.tolist(), classes)
    yield classes_case([0, 0, 0], [1, 1, 1], 3)
    yield classes_case([2, 1, 0, 0], [2, 1, 0, 1], 8)


def layer_case(params, logits, labels, expected):
    return {"kind": "layer", "params": params, "logits": logits.tolist(), "labels": labels.tolist(),
            "expected": {name: float(value) for name, value in expected.items()}}


def layer_cases():
    random = torch.Generator().manual_seed(13)
    for rows, classes, top_k in ((1, 3, 1), (25, 4, 1), (25, 4, 2), (64, 7, 3), (90, 30, 5)):
        logits = torch.round(2 * torch.randn(rows, classes, generator=random), decimals=3)
        labels = torch.randint(0, classes, (rows,), generator=random)
        labels[0] = 1  # where every label is 0, torchmetrics counts classes without samples
        logits[torch.arange(rows), labels] += 1
        for average in AVERAGES:
            metrics = ["accuracy", "f1"] + (["map"] if average != "micro" else [])
            expected = {
                "accuracy": tm.multiclass_accuracy(logits, labels, classes, average="macro", top_k=top_k),
                "f1": tm.multiclass_f1_score(logits, labels, classes, average=average),
            }
            if average != "micro":
                expected["map"] = tm.multiclass_average_precision(logits, labels, classes, average=average)
            yield layer_case({"metrics": metrics, "average": average, "top_k": top_k}, logits, labels, expected)
    for rows, classes in ((1, 2), (31, 5), (80, 12)):
        logits = torch.round(2 * torch.randn(rows, classes, generator=random), decimals=3)
        labels = (torch.rand(rows, classes, generator=random) < 0.4).int()
        labels[0] = 1
        for average in AVERAGES:
            expected = {
                "accuracy": tm.multilabel_accuracy(logits.sigmoid(), labels, classes, average=average),
                "f1": tm.multilabel_f1_score(logits.sigmoid(), labels, classes, average=average),
                "map": tm.multilabel_average_precision(logits.sigmoid(), labels, classes, average="macro"),
            }
            yield layer_case({"metrics": list(expected), "average": average, "multi_label": True}, logits, labels,
                             expected)


def hmean(values):
    return float(scipy.stats.hmean(values)) if values else None


def task2_case(random, machines, sections, rows, max_fpr):
    columns = {"scores": [], "labels": [], "machine": [], "section": [], "domain": []}
    groups = {}
    for machine in machines:
        for section in sections:
            labels = (random.random(rows) < 0.4).astype(int)
            labels[:6] = 0, 0, 0, 0, 1, 1
            domains = random.integers(0, 2, rows)
            domains[:4] = 0, 1, 0, 1
            scores = np.round(random.normal(size=rows) + 0.8 * labels, 2) + 0.0
            columns["scores"] += scores.tolist()
            columns["labels"] += labels.tolist()
            columns["machine"] += [machine] * rows
            columns["section"] += [section] * rows
            columns["domain"] += [("source", "target")[domain] for domain in domains]

            def auc(domain):
                kept = (labels == 1) | (domains == domain)
                return float(np.clip(sk.roc_auc_score(labels[kept], scores[kept]), 1e-12, 1))
            group = {"auc_source": auc(0), "auc_target": auc(1),
                     "pauc": float(np.clip(sk.roc_auc_score(labels, scores, max_fpr=max_fpr), 1e-12, 1))}
            groups[f"m{machine}_s{section}"] = {**group, "hmean": hmean(list(group.values()))}
    parts = {key: [group[key] for group in groups.values()] for key in ("auc_source", "auc_target", "pauc")}
    return {"kind": "task2", **columns, "max_fpr": max_fpr, "groups": groups,
            "omega": hmean([value for values in parts.values() for value in values]),
            "mean": {key: float(np.mean(values)) for key, values in parts.items()},
            "hmean": {key: hmean(values) for key, values in parts.items()}}


def task1_case(random, rows):
    top_of = np.array([0, 0, 1, 1, 1, 2, 3, 3])
    second = random.integers(0, 8, rows)
    guess = np.where(random.random(rows) < 0.4, random.integers(0, 8, rows), second)
    seen = sorted(set(second.tolist()))
    precision, recall, fscore, _ = sk.precision_recall_fscore_support(second, guess, labels=seen, average="macro",
                                                                      zero_division=0)
    return {"kind": "task1", "true_top": top_of[second].tolist(), "true_second": second.tolist(),
            "predicted_top": top_of[guess].tolist(), "predicted_second": guess.tolist(),
            "top_level_accuracy": sk.accuracy_score(top_of[second], top_of[guess]),
            "precision": float(precision), "recall": float(recall), "fscore": float(fscore)}


def task7_case(random, rows):
    truth = random.integers(0, 5, rows)
    guess = np.where(random.random(rows) < 0.3, random.integers(0, 5, rows), truth)
    domains = [f"D{1 + domain}" for domain in random.integers(0, 3, rows)]
    balanced = {}
    for domain in sorted(set(domains)):
        kept = [i for i, of in enumerate(domains) if of == domain]
        balanced[domain] = float(np.mean(sk.recall_score(truth[kept], guess[kept], labels=sorted(set(truth[kept].tolist())),
                                                         average=None)))
    return {"kind": "task7", "truth": truth.tolist(), "predicted": guess.tolist(), "domains": domains,
            "balanced_accuracy": balanced, "average": float(np.mean(list(balanced.values())))}


def main():
    random = np.random.default_rng(14)
    cases = [*rankings(), *class_cases(), *layer_cases(),
             task2_case(random, ["fan", "ToyCar"], ["00", "01"], 40, 0.1),
             task2_case(random, ["valve"], ["03"], 150, 0.2),
             task1_case(random, 60), task7_case(random, 90),
             *({"kind": "harmonic_mean", "values": values,
                "expected": hmean([v for v in values if v > 0])}
               for values in ([0.5, 0.25], [1.0], [0.9, 0.0, 0.3, -1.0], [1e-12, 1.0], [0.0]))]
    assert not any(isinstance(value, float) and math.isnan(value) for case in cases for value in case.values())
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
