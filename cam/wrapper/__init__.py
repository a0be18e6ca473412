"""Run Codex: compile, inject, launch, receipt, sync, report."""
