"""Did a model get less robust? Paired tests, the verdict, what may be compared, and how it is told."""
