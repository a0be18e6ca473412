"""cam doctor."""

from cam.cli.answer import Answer, respond
from cam.cli.app import global_cwd
from cam.cli.integrate import machine
from cam.cli.options import Cwd, Json
from cam.context import Context, open_context
from cam.render.doctor import doctor_data, doctor_text
from cam.setup.continuity_check import check_continuity, check_instructions
from cam.setup.doctor import (
    Finding,
    Severity,
    check_codex,
    check_project,
    check_receipts,
    check_sessions,
    check_settings,
    check_store,
)
from cam.setup.instruction_files import InstructionFile, fallback_names, instruction_files
from cam.setup.integrations.doctor import check_integrations
from cam.store.continuity import ContinuityStore
from cam.wrapper.codex_config import Place
from cam.wrapper.injectors import choose_injector


def doctor_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Check Codex, the way memory gets in, the store and the settings; exit 0 fine, 1 warnings, 2 broken."""
    respond("doctor", as_json, lambda: _doctor(cwd))


def _doctor(cwd: str | None) -> Answer:
    findings = findings_of(open_context(global_cwd(cwd)))
    code = max(finding.severity for finding in findings)
    return Answer(doctor_data(findings), doctor_text(findings), exit_code=int(code))


def findings_of(context: Context) -> list[Finding]:
    """Everything that is checked, as it stands."""
    cache = context.layout.cache_file("codex-version.json")
    codex, version = check_codex(context.environment, context.settings, cache)
    place = Place(context.codex_home, context.environment.cwd)
    way = choose_injector(version, hook_command="true", payload="memory", place=place).inject(())
    severity = Severity.WARNING if way.warning else Severity.OK
    return [
        codex,
        Finding("injection", severity, way.warning or way.strategy),
        check_project(context.project),
        *check_store(context.store),
        check_sessions(context.codex_home),
        check_receipts(context.layout.cache_file("receipts.jsonl")),
        *check_continuity(_continuity(context), context.settings["session_continuity"]),
        check_instructions(found_instructions(context)),
        *check_integrations(machine(context)).findings,
        *check_settings(context.settings, context.off_reason),
    ]


def found_instructions(context: Context) -> tuple[InstructionFile, ...]:
    """The instruction files that apply where the command works."""
    here, home = context.environment.cwd, context.environment.home
    return instruction_files(
        here, context.project, home, context.codex_home, fallback_names(context.codex_home)
    )


def _continuity(context: Context) -> ContinuityStore | None:
    style = context.settings["session_continuity_path_style"]
    return ContinuityStore(context.store, context.project, style) if context.project else None
