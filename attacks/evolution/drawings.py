"""The pictures that are drawn after a run: (how, its name in the run's folder)."""

from attacks.evolution.concept_map import write_map
from attacks.evolution.plots import write_concepts, write_curve
from attacks.evolution.sheet import write_sheet

DRAWINGS = (
    (write_sheet, "artifacts/sheet.png"),
    (write_concepts, "artifacts/concepts.svg"),
    (write_curve, "artifacts/searches.svg"),
    (write_map, "artifacts/map.svg"),
)
