"""cam doctor."""

import os
from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import global_cwd
from cam.cli.integrate import machine
from cam.cli.options import Cwd, Json
from cam.context import Context, open_context
from cam.memory.review import read_queue
from cam.render.doctor import doctor_data, doctor_text
from cam.setup.continuity_check import check_continuity, check_instructions
from cam.setup.doctor import (
    Finding,
    check_codex,
    check_project,
    check_receipts,
    check_sessions,
    check_settings,
    check_store,
)
from cam.setup.health import health
from cam.setup.instruction_files import InstructionFile, fallback_names, instruction_files
from cam.setup.integrations.doctor import check_integrations
from cam.store.continuity import ContinuityStore
from cam.store.receipts import read_receipts
from cam.system.clock import now_stamp
from cam.wrapper.arguments import parse_arguments
from cam.wrapper.codex_config import Place
from cam.wrapper.injectors import choose_injector
from cam.wrapper.proof import Trial, keep_proof, known_proof, proof_key, prove
from cam.wrapper.way_in import check_proof, check_way


def doctor_command(
    codex_arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- CODEX ARGUMENTS]", help="The command line that you ask about: -- exec -c …"
        ),
    ] = None,
    proof: Annotated[
        bool | None,
        typer.Option("--prove/--no-proof", help="Prove again now, or leave the proof out."),
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Check Codex, the way memory gets in, the store and the settings; exit 0 fine, 1 warnings, 2 broken.

    With the one word health: whether memory is at work, by what cam itself noted of it.

    Memory's way in is proved: the installed Codex is started once against a
    model on this machine, without your account, in a home of its own, and
    what the model received is compared with what was sent. That takes about
    two seconds; it is done once for each release of Codex, configuration and
    budget, and kept until one of them changes.
    """
    if codex_arguments == ["health"]:
        respond("doctor.health", as_json, Access.READS, lambda: _health(cwd))
    respond("doctor", as_json, Access.READS, lambda: _doctor(cwd, tuple(codex_arguments or ()), proof))


def _doctor(cwd: str | None, arguments: tuple[str, ...], proof: bool | None) -> Answer:
    findings = findings_of(open_context(global_cwd(cwd)), arguments, proof=proof)
    code = max(finding.severity for finding in findings)
    return Answer(doctor_data(findings), doctor_text(findings), exit_code=int(code))


def _health(cwd: str | None) -> Answer:
    context = open_context(global_cwd(cwd))
    waiting = len(read_queue(context.store).waiting)
    findings = health(context.layout, context.settings, now=now_stamp(), waiting=waiting)
    code = max(finding.severity for finding in findings)
    return Answer(doctor_data(findings), doctor_text(findings), exit_code=int(code))


def findings_of(
    context: Context, arguments: tuple[str, ...] = (), *, proof: bool | None = None, asks: bool = True
) -> list[Finding]:
    """Everything that is checked, as it stands.

    Args:
        context: of the folder that is asked about.
        arguments: the command line of Codex that is asked about.
        proof: whether to prove the way in anew, or (False) not at all; None for the proof that is kept.
        asks: whether Codex and the MCP server are started; without it no program is, and nothing is proved.
    """
    cache = context.layout.cache_file("codex-version.json")
    codex, version, program = check_codex(context.environment, context.settings, cache, asks=asks)
    place = Place(context.codex_home, context.environment.cwd)
    call = parse_arguments(arguments)
    way = choose_injector(version, hook_command="true", payload="memory", place=place).inject(arguments)
    search_path = context.environment.variables.get("PATH", os.defpath)
    trial = None
    if asks and proof is not False and version is not None and call.is_session:
        tokens = context.settings["max_startup_tokens"]
        trial = Trial(program, version, call, place, tokens, search_path)
    return [
        codex,
        *(check_way(call, place, version, way) if asks or version is not None else ()),
        *(_proved(context, trial, again=bool(proof or arguments)) if trial else ()),
        check_project(context.project),
        *check_store(context.store),
        check_sessions(context.codex_home),
        check_receipts(read_receipts(context.layout), version),
        *check_continuity(_continuity(context), context.settings["session_continuity"]),
        check_instructions(found_instructions(context)),
        *(f for f in check_integrations(machine(context, asks=asks)).findings if f.check != "native"),
        *check_settings(context.settings, context.off_reason),
    ]


def _proved(context: Context, trial: Trial, *, again: bool) -> list[Finding]:
    """The proof that is kept, or a new one."""
    path, key = context.layout.cache_file("proof.json"), proof_key(trial)
    known = None if again else known_proof(path, key)
    if known is not None:
        return [check_proof(known, is_new=False)]
    folder = context.layout.cache_file(f"proof-{os.getpid()}")
    found = prove(trial, folder, now_stamp())
    if not trial.call.options:
        keep_proof(path, key, found)
    return [check_proof(found, is_new=True)]


def found_instructions(context: Context) -> tuple[InstructionFile, ...]:
    """The instruction files that apply where the command works."""
    here, home = context.environment.cwd, context.environment.home
    return instruction_files(
        here, context.project, home, context.codex_home, fallback_names(context.codex_home)
    )


def _continuity(context: Context) -> ContinuityStore | None:
    style = context.settings["session_continuity_path_style"]
    return ContinuityStore(context.store, context.project, style) if context.project else None
