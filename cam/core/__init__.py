"""What things are: records, operations, plans, evidence, ranking, private spans. No I/O, no clock."""
