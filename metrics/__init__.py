"""How adversarial examples are scored: criteria, judges, taggers, rates and diversity."""
