"""What a person types: one thin module per command group."""
