"""cam doctor: how memory travels to the installed Codex, what stands in its way, and whether it arrives."""

from cam.core.seams import Injection
from cam.setup.doctor import Finding, Severity
from cam.system.codex import Version
from cam.wrapper.arguments import CodexCall
from cam.wrapper.codex_config import Place, feature, hooks_are_off, own_instructions
from cam.wrapper.injectors import CUT_BYTES, HOOK_SINCE
from cam.wrapper.proof import Proof


def check_way(call: CodexCall, place: Place, version: Version | None, injection: Injection) -> list[Finding]:
    """The way in, and what on the command line or in the user's files is in conflict with it.

    Args:
        call: the command line that was asked about.
        place: where Codex would run.
        version: its release, None where it is not known.
        injection: what the injector would do.
    """
    if not call.is_session:
        text = "no session follows from this command line, so nothing is told"
        return [Finding("injection", Severity.WARNING, text, "ask about: cam doctor -- exec …")]
    severity = Severity.WARNING if injection.warning else Severity.OK
    findings = [Finding("injection", severity, injection.warning or injection.strategy)]
    if version is not None and version >= HOOK_SINCE and hooks_are_off(call, place):
        text = (
            "Codex's hooks are switched off: memory travels as developer_instructions, and a session that is "
            "resumed, forked, cleared or compacted is told nothing new"
        )
        findings.append(Finding("conflict", Severity.WARNING, text, "codex features enable hooks"))
    if feature(call, place, "memories"):
        text = "Codex's own memories are on too: the model sees both; what both say alike is told once"
        findings.append(Finding("native", Severity.OK, text, "to keep one: codex features disable memories"))
    if call.is_ephemeral:
        text = "an --ephemeral session leaves no rollout: nothing is learned from it, and there is no receipt"
        findings.append(Finding("conflict", Severity.WARNING, text, "leave --ephemeral out"))
    if any(path[0] == "hooks" for path, _, _ in call.settings) and injection.strategy != "none":
        findings.append(
            Finding("conflict", Severity.OK, "your own -c hooks… are merged with cam's and run too")
        )
    by_instructions = injection.strategy == "developer-instructions"
    if by_instructions and version is not None and own_instructions(call, place, version):
        findings.append(Finding("conflict", Severity.OK, "your developer_instructions are kept in front"))
    return findings


def check_proof(proof: Proof, *, is_new: bool) -> Finding:
    """What the model received when it was tried."""
    when = "just now" if is_new else f"on {proof.at[:10]}; --prove tries again"
    if proof.holds:
        trust = f", Codex calls the hook {proof.trust}" if proof.trust else ""
        text = f"the model received {proof.tokens:,} tokens once and whole{trust} (tried {when})"
        return Finding("proof", Severity.OK, text)
    severity = Severity.WARNING if proof.strategy == "none" else Severity.CRITICAL
    trust = f"; Codex calls the hook {proof.trust}" if proof.trust not in ("", "trusted") else ""
    return Finding("proof", severity, f"{proof.reason}{trust}", _advice(proof))


def _advice(proof: Proof) -> str:
    if "shortened" in proof.reason:
        return f"cam config set max_startup_tokens {CUT_BYTES // 4 - 100}, or update Codex"
    if proof.trust not in ("", "trusted"):
        return "update cam: this release of Codex reckons trust in another way"
    if proof.strategy == "none":
        return "update Codex: npm install -g @openai/codex"
    return "run 'codex exec hello' and look at what it says; then cam doctor --prove"
