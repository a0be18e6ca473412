"""cam doctor: what a session would meet here, checked without changing anything that stays."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from cam.core.display import counted
from cam.core.errors import CamError
from cam.core.settings import Settings
from cam.formats.receipts import InjectionReceipt
from cam.store.identity import Project
from cam.store.memory_store import MarkdownStore
from cam.store.verify import misplaced
from cam.system.codex import Version, chosen_codex, codex_version, version_name
from cam.system.environment import Environment


class Severity(IntEnum):
    """How bad a finding is; also the exit code."""

    OK = 0
    WARNING = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked.

    Attributes:
        check: short name.
        severity: how it stands.
        text: what was found.
        advice: what to do, "" if nothing.
    """

    check: str
    severity: Severity
    text: str
    advice: str = ""


def check_codex(
    environment: Environment, settings: Settings, cache_path: str, *, asks: bool = True
) -> tuple[Finding, Version | None, str]:
    """Whether Codex is there, which release it is, and its path, "" where it cannot be started.

    Without ``asks`` it is not started: its release is the one that is remembered, if any.
    """
    program = chosen_codex(settings, environment)
    if program is None:
        name = settings["codex_binary"]
        advice = "install it, or name it: cam config set codex_binary PATH"
        return Finding("codex", Severity.CRITICAL, f"there is no program {name!r}", advice), None, ""
    if not program.executable:
        text = f"{program.path} cannot be executed"
        return Finding("codex", Severity.CRITICAL, text, "chmod +x it"), None, ""
    version = codex_version(program.path, cache_path, asks=asks)
    if version is None and not asks:
        return Finding("codex", Severity.OK, f"{program.path}; its release was not asked"), None, program.path
    if version is None:
        advice = f"run '{program.path} --version' and look at what it says"
        text = f"{program.path} does not say its release"
        return Finding("codex", Severity.WARNING, text, advice), None, program.path
    text = f"{version_name(version)} at {program.path}"
    return Finding("codex", Severity.OK, text), version, program.path


def check_settings(settings: Settings, off_reason: str) -> tuple[Finding, ...]:
    """Bad values, and whether cam is off."""
    findings = [Finding("settings", Severity.WARNING, w, "cam config edit") for w in settings.warnings]
    if off_reason:
        findings.append(Finding("off", Severity.WARNING, f"cam does nothing here: {off_reason}", "cam on"))
    return tuple(findings) or (Finding("settings", Severity.OK, "all values can be used"),)


def check_store(store: MarkdownStore) -> tuple[Finding, ...]:
    """Whether the store can be read and written, and what in it cannot be read."""
    folder = store.layout.root
    refusal = store.is_writable()
    if refusal:
        return (Finding("store", Severity.CRITICAL, f"the store cannot be written: {refusal}"),)
    try:
        count = store.count()
    except CamError as error:
        return (Finding("store", Severity.CRITICAL, str(error)),)
    found = [Finding("store", Severity.OK, f"{counted(count.active, 'active record')} in {folder}")]
    found += [
        Finding("store", Severity.WARNING, f"{p.place}: {p.reason}", p.advice)
        for p in (*count.problems, *misplaced(store.layout))
    ]
    return tuple(found)


def check_project(project: Project | None) -> Finding:
    """Which project this is."""
    if project is None:
        text = "this folder has no project (the home folder and / have none): global memory alone"
        return Finding("project", Severity.WARNING, text, "work in a project's folder")
    kind = "" if project.is_git else ", not a git repository"
    return Finding("project", Severity.OK, f"{project.id} ({project.root}{kind})")


def check_sessions(codex_home: str) -> Finding:
    """Whether Codex has left sessions to learn from."""
    folder = os.path.join(codex_home, "sessions")
    if os.path.isdir(folder):
        return Finding("sessions", Severity.OK, folder)
    return Finding("sessions", Severity.OK, f"none yet in {folder}")


def check_receipts(receipts: Iterable[InjectionReceipt], now: Version | None) -> Finding:
    """Whether memory reached the model the last time it was told something.

    Args:
        receipts: oldest first.
        now: Codex's release.
    """
    told = [receipt for receipt in receipts if receipt.arrived is not None]
    if not told:
        return Finding("receipts", Severity.OK, "no session was told anything yet")
    last = told[-1]
    if last.arrived:
        text = f"memory reached the model last time ({counted(last.tokens, 'token')})"
        return Finding("receipts", Severity.OK, text)
    text = f"memory did not reach the model last time: {last.reason}"
    release = version_name(now)
    if last.codex and release and last.codex != release:
        return Finding("receipts", Severity.OK, f"{text}; that was {last.codex}, now it is {release}")
    return Finding("receipts", Severity.WARNING, text, "cam doctor --prove")
