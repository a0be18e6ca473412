"""Secrets in any text, known by the shape of their value; the words around them are kept.

Three ways to know one: the form that a provider gives its tokens; the place where credentials stand (a URL,
an ``Authorization`` header, a private key block); or a word for a secret followed by a value
(``api_key: X``, ``PGPASSWORD=X cmd``, ``password is X``, 密码是 X). In the third way the word alone proves
nothing: what follows must look like a value, not like prose, a type, a reference or an algorithm.

Written here rather than taken from a scanner for repositories: such tools read files line by line, name
lines instead of values, cost more to import than a whole recall, and are tuned to source code, not prose.

Only ``re`` is needed and nothing is compiled before the first call. Every step is linear in the text.
"""

import re
from dataclasses import dataclass
from functools import cache

MASK = "[masked]"
"""What stands in the place of a secret."""


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret in a text.

    Attributes:
        start: where its value begins, in characters.
        end: where it ends.
        kind: ``github-token``, ``password``, ``private-key`` …
    """

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets.

    Attributes:
        text: the text, each secret replaced by ``MASK``.
        count: how many were masked.
        kinds: what they were, each once, sorted.
    """

    text: str
    count: int = 0
    kinds: tuple[str, ...] = ()


def mask(text: str) -> Masked:
    """Mask every secret in ``text``; masking the result again changes nothing."""
    count = 0
    kinds: set[str] = set()
    for _ in range(_PASSES):
        secrets = find(text)
        if not secrets:
            break
        count += len(secrets)
        kinds.update(secret.kind for secret in secrets)
        pieces, at = [], 0
        for secret in secrets:
            pieces += [text[at : secret.start], MASK]
            at = secret.end
        text = "".join((*pieces, text[at:]))
    return Masked(text, count, tuple(sorted(kinds)))


def find(text: str) -> list[Secret]:
    """Every secret in ``text``, in order, none overlapping another."""
    found = _key_blocks(text)
    if _is_worth_reading(text):
        found += _provider_tokens(text)
        found += _placed_credentials(text)
        found += _named_values(text)
    return _merged(text, found)


_PASSES = 4
"""A masked value can uncover another; more rounds than this were never needed."""


def _merged(text: str, found: list[Secret]) -> list[Secret]:
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            if secret.end > last.end:
                merged[-1] = Secret(last.start, secret.end, last.kind)
        elif text[secret.start : secret.end] != MASK:
            merged.append(secret)
    return merged


@cache
def _hint() -> re.Pattern[str]:
    return re.compile(r"[0-9]|[=:\"'`\-]|(?i:pass|pw|secret|token|cred|phrase|pin\b)|[^\x00-\x7f]")


def _is_worth_reading(text: str) -> bool:
    return len(text) >= 4 and _hint().search(text) is not None


# --- private keys ------------------------------------------------------------------------------------

_KEY_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"


def _key_blocks(text: str) -> list[Secret]:
    """Whole blocks; one without its end goes as far as its lines look like a key."""
    if "PRIVATE" not in text and "PuTTY" not in text:
        return []
    found = []
    at, no_end = 0, False
    begin, end = re.compile(_KEY_BEGIN), re.compile(_KEY_END)
    body = re.compile(
        r"(?:[A-Za-z0-9+/=:,\-]|\\[nr]|\s(?=\s{0,8}[A-Za-z0-9+/=\\]{16})|\s(?=\s{0,8}[\w-]{1,40}: ))*"
    )
    while head := begin.search(text, at):
        tail = None if no_end else end.search(text, head.end())
        no_end = tail is None
        stop = tail.end() if tail else body.match(text, head.end()).end()  # type: ignore[union-attr]
        found.append(Secret(head.start(), stop, "private-key"))
        at = stop
    for putty in re.finditer(
        r"(?<=Private-Lines: )\d+(?:\s+[A-Za-z0-9+/=]{16,})+(?:\s+[A-Za-z0-9+/=]{1,15}=)?", text
    ):
        found.append(Secret(putty.start(), putty.end(), "private-key"))
    return found


# --- tokens with a form of their own -------------------------------------------------------------------

_FORMS = (
    # kind, what a text must hold for one to stand in it, form
    (
        "openai-key",
        "sk- sess-",
        r"sk-(?:proj|svcacct|admin|None|service|or|or-v1|lf)-[\w-]{8,}|sk-[A-Za-z0-9]{20,}"
        r"|sess-[A-Za-z0-9]{32,}",
    ),
    (
        "anthropic-key",
        "sk-ant-",
        r"sk-ant-[\w-]{8,}",
    ),
    (
        "github-token",
        "gh github_pat_",
        r"gh[pousr]_[A-Za-z0-9_]{10,}|github_pat_[A-Za-z0-9_]{10,}",
    ),
    (
        "gitlab-token",
        "gl GR1348941",
        r"gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w-]{10,}(?:\.[\w-]{2,})*"
        r"|GR1348941[\w-]{15,}",
    ),
    (
        "aws-key",
        "AKIA ASIA ABIA ACCA A3T ABSK",
        r"AKIA[A-Z0-9]{12,}|(?:ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])"
        r"|ABSK[A-Za-z0-9+/=]{40,}",
    ),
    (
        "google-key",
        "AIza ya29. GOCSPX- 1//0 AQ.Ab",
        r"AIza[\w-]{20,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{16,}|1//0[\w-]{30,}|AQ\.Ab[\w-]{30,}",
    ),
    (
        "slack-token",
        "xox xapp-",
        r"xox[a-z](?:\.xox[a-z])?-[\w-]{8,}|xapp-\d-[\w-]{8,}",
    ),
    (
        "npm-token",
        "npm_",
        r"npm_[A-Za-z0-9]{16,}",
    ),
    (
        "pypi-token",
        "pypi-",
        r"pypi-Ag[\w-]{12,}|pypi-(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{16,}",
    ),
    (
        "stripe-key",
        "sk_ rk_ whsec_",
        r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/=]{12,}",
    ),
    (
        "twilio-key",
        "SK AC",
        r"(?:SK|AC)[0-9a-f]{32}",
    ),
    (
        "sendgrid-key",
        "SG.",
        r"SG\.[\w-]{10,}\.[\w-]{10,}",
    ),
    (
        "huggingface-token",
        "hf_ api_org_",
        r"hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z]{30,}",
    ),
    (
        "telegram-token",
        ":",
        r"\d{8,10}:[\w-]{34,36}(?![\w-])",
    ),
    (
        "jwt",
        "eyJ",
        r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}",
    ),
    (
        "digitalocean-token",
        "_v1_",
        r"do[opr]_v1_[a-f0-9]{32,}",
    ),
    (
        "databricks-token",
        "dapi",
        r"dapi[a-f0-9]{32}(?:-\d)?",
    ),
    (
        "doppler-token",
        "dp.",
        r"dp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{20,}",
    ),
    (
        "shopify-token",
        "shp",
        r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{24,}",
    ),
    (
        "square-token",
        "sq0 EAAA",
        r"sq0[a-z]{3}-[\w-]{20,}|EAAA[\w-]{56,}",
    ),
    (
        "mailgun-key",
        "key-",
        r"key-[0-9a-f]{32}|pubkey-[0-9a-f]{32}",
    ),
    (
        "mailchimp-key",
        "-us",
        r"[0-9a-f]{32}-us\d{1,2}",
    ),
    (
        "notion-token",
        "ntn_ secret_",
        r"ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}",
    ),
    (
        "linear-key",
        "lin_",
        r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}",
    ),
    (
        "figma-token",
        "fig",
        r"fig[dour]{1,2}_[\w-]{20,}",
    ),
    (
        "vault-token",
        "hv",
        r"hv[sbr]\.[\w-]{20,}",
    ),
    (
        "terraform-token",
        ".atlasv1.",
        r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}",
    ),
    (
        "grafana-token",
        "gls glc_",
        r"gl(?:sa|c)_[\w=+/-]{20,}",
    ),
    (
        "newrelic-key",
        "NRAK- NRJS-",
        r"NRAK-[A-Z0-9]{20,}|NRJS-[a-f0-9]{19}",
    ),
    (
        "sentry-token",
        "sntry",
        r"sntry[su]_[\w=+/-]{20,}",
    ),
    (
        "planetscale-token",
        "pscale_",
        r"pscale_(?:tkn|pw|oauth)_[\w.=-]{20,}",
    ),
    (
        "postman-key",
        "PMAK-",
        r"PMAK-[a-f0-9]{20,}-[a-f0-9]{20,}",
    ),
    (
        "pulumi-token",
        "pul-",
        r"pul-[a-f0-9]{32,}",
    ),
    (
        "rubygems-key",
        "rubygems_",
        r"rubygems_[a-f0-9]{32,}",
    ),
    (
        "docker-token",
        "dckr_",
        r"dckr_(?:pat|oat)_[\w-]{16,}",
    ),
    (
        "atlassian-token",
        "ATATT3 ATCTT3 ATBB BBDC-",
        r"AT(?:ATT3|CTT3)[\w=+/-]{20,}|ATBB[A-Za-z0-9]{24,}|BBDC-[A-Za-z0-9+/]{30,}",
    ),
    (
        "ai-provider-key",
        "gsk_ pplx- r8_ xai- tvly- lsv2_ nvapi- fw_ e2b_",
        r"gsk_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}"
        r"|tvly-[\w-]{16,}|lsv2_(?:pt|sk)_[a-z0-9_]{20,}|nvapi-[\w-]{30,}|fw_[A-Za-z0-9]{20,}"
        r"|e2b_[a-f0-9]{30,}",
    ),
    (
        "supabase-key",
        "sbp_ sb_secret_",
        r"sbp_[a-z0-9]{30,}|sb_secret_[\w-]{16,}",
    ),
    (
        "netlify-token",
        "nf",
        r"nf[pcou]_[A-Za-z0-9]{30,}",
    ),
    (
        "fly-token",
        "fo1_ fm1 fm2",
        r"fo1_[\w-]{30,}|fm[12][a-z]?_[A-Za-z0-9+/=,_-]{60,}",
    ),
    (
        "airtable-token",
        "pat",
        r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    ),
    (
        "facebook-token",
        "EAA",
        r"EAA[A-Za-z0-9]{60,}",
    ),
    (
        "discord-token",
        ".",
        r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}",
    ),
    (
        "age-key",
        "AGE-SECRET-KEY-1",
        r"AGE-SECRET-KEY-1[0-9A-Z]{30,}",
    ),
    (
        "tailscale-key",
        "tskey-",
        r"tskey-[a-z]{2,12}-[\w-]{16,}",
    ),
    (
        "onepassword-token",
        "ops_eyJ A3-",
        r"ops_eyJ[\w=+/-]{30,}|A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}",
    ),
    (
        "artifactory-token",
        "AKCp cmVmd",
        r"AKCp[A-Za-z0-9]{30,}|cmVmd[A-Za-z0-9]{50,}",
    ),
    (
        "nuget-key",
        "oy2",
        r"oy2[a-z0-9]{43}",
    ),
    (
        "azure-secret",
        "Q~",
        r"[\w~.]{3}[78]Q~[\w~.-]{31,34}",
    ),
    (
        "alibaba-key",
        "LTAI",
        r"LTAI[A-Za-z0-9]{12,}",
    ),
    (
        "tencent-key",
        "AKID",
        r"AKID[A-Za-z0-9]{32,}",
    ),
    (
        "yandex-key",
        "AQVN y0_ y1_ y2_ y3_",
        r"AQVN[\w-]{30,}|y[0-3]_[\w-]{50,}",
    ),
    (
        "mail-key",
        "re_ xkeysib-",
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}|xkeysib-[a-f0-9]{32,}[\w-]*",
    ),
    (
        "heroku-key",
        "HRKU-",
        r"HRKU-[\w-]{30,}",
    ),
    (
        "dynatrace-token",
        "dt0",
        r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    ),
    (
        "contentful-token",
        "CFPAT-",
        r"CFPAT-[\w-]{30,}",
    ),
    (
        "readme-key",
        "rdme_",
        r"rdme_[a-z0-9]{60,}",
    ),
    (
        "buildkite-token",
        "bk",
        r"bk(?:ua|at|ct)_[a-f0-9]{32,}",
    ),
    (
        "crates-token",
        "cio",
        r"cio[A-Za-z0-9]{32}",
    ),
    (
        "webhook",
        "hook",
        r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/-]{16,}"
        r"|(?<=discord\.com/api/webhooks/)\d+/[\w-]{16,}"
        r"|(?<=discordapp\.com/api/webhooks/)\d+/[\w-]{16,}|(?<=/bot/v2/hook/)[\w-]{20,}",
    ),
)
"""Forms that providers document for their tokens; publishable keys and plain ids are left out."""


@cache
def _form(index: int) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{_FORMS[index][2]})", re.ASCII)


@cache
def _triggers() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row[1].split()) for row in _FORMS)


def _provider_tokens(text: str) -> list[Secret]:
    """Only forms whose literal part occurs are searched, so most texts cost one pass of plain search."""
    found = []
    for index, triggers in enumerate(_triggers()):
        if any(trigger in text for trigger in triggers):
            kind = _FORMS[index][0]
            found += [Secret(m.start(), m.end(), kind) for m in _form(index).finditer(text)]
    return found


# --- places where credentials stand ---------------------------------------------------------------------

_RAW = (
    r"(?:[^\s\"'`<>\\，。；、！？）】」』”’“‘「『《》\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]|\\(?![\"'nrt]))"
)
"""A character of a value without quotation marks."""

_START = r"(?:[^\n|;]{0,240}?\s)?"
_PLACES = (
    # kind, what the text must hold in lower case, form; the value may hold "@" in a URL
    (
        "url-password",
        "://",
        rf"(?<=://)[^\s/?#:@\"'`<>]{{0,256}}:(?P<value>(?:(?!/){_RAW}){{1,512}})@(?=[\w.\[$-])",
    ),
    ("url-token", "://", r"(?<=://)(?P<value>[\w-]{20,256})@(?=[\w.-])"),
    (
        "url-token",
        "=",
        r"[?&](?:key|sig|signature|code|auth|token|x-amz-signature|x-amz-security-token)="
        r"(?P<value>[^\s&#\"'`<>]{8,512})",
    ),
    (
        "authorization",
        "authorization",
        r"authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:(?:bearer|basic|token|apikey|digest)\s{1,4})?"
        rf"(?P<value>{_RAW}{{6,4096}})",
    ),
    ("authorization", "bearer", r"bearer(?<![\w-]bearer)\s{1,4}(?P<value>[A-Za-z0-9._~+/=-]{6,4096})"),
    ("authorization", "basic", r"basic(?<![\w-]basic)\s{1,4}(?P<value>[A-Za-z0-9._~+/=-]{6,4096})"),
    (
        "password",
        "-u --user --proxy-user",
        rf"(?:curl|wget|xh|http)\s{_START}(?:-u|--user|--proxy-user)[ =]\\?[\"']?[^\s:\"']{{1,64}}:(?P<value>{_RAW}{{1,256}})",
    ),
    (
        "password",
        "-p",
        rf"(?:sshpass|docker login|podman login|mongo\w{{0,8}})\s{_START}-p(?-i:(?<=p)) ?[\"']?(?P<value>{_RAW}{{1,256}})",
    ),
    (
        "password",
        "mysql mariadb",
        rf"(?:mysql|mariadb)\w{{0,8}}\s{_START}-(?-i:p)[\"']?(?P<value>{_RAW}{{1,256}})",
    ),
    ("password", "redis-cli", rf"redis-cli\s{_START}-a [\"']?(?P<value>{_RAW}{{1,256}})"),
    (
        "password",
        "--password-stdin",
        rf"echo\s(?:-n\s)?[\"']?(?P<value>{_RAW}{{1,256}})[\"']?\s?\|[^\n]{{0,120}}--password-stdin",
    ),
    ("password", "login", rf"login\s{{1,4}}\S{{1,64}}\s{{1,4}}password\s{{1,4}}(?P<value>{_RAW}{{1,256}})"),
    (
        "password",
        ":",
        r"(?:^|(?<=\s))[^\s:/]{1,253}:(?:\d{2,5}|\*):[^\s:/\d][^\s:/]{0,63}:[^\s:/\d][^\s:/]{0,63}:"
        rf"(?P<value>{_RAW}{{4,256}})",
    ),
    (
        "password",
        "identified with",
        r"(?:identified (?:\w{1,12} )?by|with password)\s{1,4}[\"'](?P<value>[^\"'\n]{1,256})[\"']",
    ),
    ("cookie", "cookie", r"cookie\s?:\s?[\w.-]{1,64}=(?P<value>[^\s;\"'`<>]{8,4096})"),
)

_ANY_VALUE = {"url-password", "password"}
"""Places where whatever stands is the credential, unless it is a reference."""


@cache
def _place(index: int) -> re.Pattern[str]:
    return re.compile(_PLACES[index][2], re.IGNORECASE)


def _placed_credentials(text: str) -> list[Secret]:
    found = []
    low = text.lower()
    for index, (kind, triggers, _) in enumerate(_PLACES):
        if not any(trigger in low for trigger in triggers.split()):
            continue
        for match in _place(index).finditer(text):
            value = match["value"]
            start = match.start("value")
            trimmed = value if kind == "url-password" else _trimmed(value)
            if _is_reference(trimmed):
                continue
            if kind in _ANY_VALUE or _is_strong(trimmed, least=8) or _is_random(trimmed, least=8):
                found.append(Secret(start, start + len(trimmed), kind))
    return found


# --- a word for a secret, and its value -------------------------------------------------------------------

_PASSWORD_WORDS = tuple(
    """
    pass[-_ ]?words?|passwds?|passcodes?|pass[-_ ]?phrases?|pwd|psw|pw|pass|密码|密碼|口令|パスワード|暗証番号|비밀번호
    passwort|kennwort|contraseña|contrasena|mot de passe|mdp|senha|wachtwoord|пароль|пароля|hasło|şifre|lösenord
    seed phrase|mnemonic|助记词
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
_KEY_WORDS = tuple(
    """
    secrets?|tokens?|credentials?|creds?|secret[-_ ]?access[-_ ]?keys?|api[-_ ]?secrets?|api[-_ ]?tokens?
    密钥|密鑰|秘钥|令牌|凭证|凭据|トークン|シークレット|apiキー|토큰|schlüssel|clave|llave|chave|clé|jeton|ключ|токен|секрет
    pin code|pin
    """.strip()
    .replace("\n    ", "|")
    .split("|")
) + tuple(
    f"{word}[-_ ]?keys?(?:[-_ ]?base)?"
    for word in (
        "api access account app auth consumer deploy encryption license master private secret service shared[-_]?access "
        "signing ssh subscription"
    ).split()
)
_ALONE = frozenset("pwd psw pw mdp cred creds clé pin".split())
"""Words that count only where no letter stands before them."""
_SUFFIXES = r"(?:[-_]?(?:\d{1,2}|dev|prod|production|staging|stage|test|local|live|old|new|base64|b64|plain|raw|value|default|root|admin))?"

_LINK_WORDS = (
    r"(?:is|are|was|were|be|equals?|reads|becomes|remains|stays|ist|lautet|sind|es|está|est|é|jest|это|är)"
    r"(?:\s(?:now|still|currently|always|just|simply|set to|changed to|jetzt|nun|ahora|maintenant|agora))?"
    r"|(?:has been |will be |should be |must be |was |is |got )?(?:now )?(?:changed |set |reset |rotated |updated |switched )?to"
    r"|(?:will|should|must) (?:now )?be"
)
_GAP_WORDS = r"for|of|on|in|at|from|used|here|there|now|value|itself|that|we|für|vom|von|der|des|de|del|para|pour|du|la|por|для|от"

_NO_VALUES = frozenset(
    """
    a an the any some no not none null nil undefined true false yes on off empty blank default optional required mandatory
    must should can cannot may might will would is are was be been being it its they this that these those what which who
    there here where when while if unless until then than as at by for from in into of off on onto out over per to up via
    with without and or nor but so because my our your their his her one ones two both all each every other another same
    different own new old first last next wrong right good bad weak strong strength short long unique secret private public
    shared plain plaintext text hash hashes salt salted hashing rotation policy field fields form input prompt manager reset
    length string str int integer number float bool boolean bytes byte char chars character characters varchar object array
    list dict map any unknown never void type types value values key keys name names file files path url uri env var variable
    environment argument arguments option options flag flags param parameter parameters placeholder example redacted
    password passwords passwd passphrase token tokens credential credentials auth login user username admin-only
    vault keychain keyring bitwarden lastpass 1password keepass doppler github gitlab google okta sso saml oauth oidc jwt jwe
    bearer basic digest opaque bcrypt scrypt argon pbkdf md sha rsa aes hmac base hex uuid md5
    wrong fine safe secure insecure invalid valid known unknown gone dead bound correct incorrect case kept held sent set
    put read lost found made done used also only still already always never just too very more less at least
    see ask use run get via stored kept managed generated unchanged missing valid expired local remote global
    pflicht erforderlich falsch leer richtig geheim obligatoria obligatorio requerida requerido obligatoire requis
    incorrecta vacía falso vide faux necesaria necesario
    self this request response config settings options args kwargs ctx props state data body payload result
    """.split()
)
_NO_VALUE_ENDS = (
    "ed ing ly able ible ory ary ive ous ful less ent ant ic tion sion ment ness wn ten ken sen ity ance ence ism"
).split()
_FUNCTION_WORDS = frozenset(
    "the a an is are was be must should can may to of for in on at by with your our my this that and or not if it no "
    "enter please at least required invalid incorrect forgot reset change new confirm too "
    "der die das ist und für le la les est et de el los es y no".split()
)
_ORDINARY = (
    r"argon2\w{0,2}|[bs]crypt|pbkdf2|sha-?\d{1,3}|md[45]|[hrpe]s(?:256|384|512)k?|oauth\d?|base(?:16|32|58|64)(?:url)?"
    r"|utf\d{1,2}|aes\d{0,3}|rsa\d{0,4}|[ex]d?25519|x509|k[38]s|i18n|l10n|a11y|ec2|s3|p12|pkcs\d{1,2}|v\d[\w.]*|uuid(?:v?\d)?"
    r"|iso\d*|rfc\d*|https?\d?|h[23]|web[23]|es\d{1,4}|\d[\d.,_+%]*(?:st|nd|rd|th|[a-z]{1,2}|min|mins|secs?|hours?|days?|weeks?"
    r"|months?|years?|chars?|characters?|bits?|bytes?|tokens?|words?|digits?)?|[12]fa|1password|python\d*|node\d*|java\d*"
    r"|log4j|neo4j|x86|amd64|arm64|win\d\d|u2f|fido2?|totp\d?|tls\d*|ssl\d*|nist\d*|q[1-4]|http2|ipv[46]|mp[34]|grpc2?|rs\d|hs\d"
)


@cache
def _words() -> re.Pattern[str]:
    """The words, for a text in lower case; each alternative begins with a letter, which makes the search quick."""
    words = sorted((*_PASSWORD_WORDS, *_KEY_WORDS), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(words)}){_SUFFIXES}(?![a-z0-9_])")


@cache
def _password_words() -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(_PASSWORD_WORDS)})(?:[^a-z]|$|{_SUFFIXES}$)")


def _lowered(text: str) -> str:
    """``text`` in lower case, each character in its place."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _counts(text: str, word: re.Match[str]) -> bool:
    """Whether the word stands as one: ``pass`` is a verb, save in ``db_pass``, ``dbPass`` and ``pass=``."""
    name, before = word[0], text[word.start() - 1 : word.start()]
    if name in _ALONE:
        return not before.isalpha()
    if name.startswith("pass") and not name.startswith(
        ("passw", "passc", "passp", "pass-", "pass_", "pass ")
    ):
        is_part = before in {"_", ".", "-"} or (before.islower() and text[word.start()] == "P")
        return is_part or (
            not before.isalpha() and re.match(r"=\S", text[word.end() : word.end() + 2]) is not None
        )
    return True


@cache
def _link() -> re.Pattern[str]:
    gap = (
        r"(?:\s?[(（][^()（）\n]{0,60}[)）])?"
        rf"(?:\s(?:{_GAP_WORDS})\b(?:[^\n.;:=!?。；]|\.(?=\S)){{0,60}}?)??"
    )
    signs = r"[ \t]{0,8}(?P<sign>=>|:=|[=!]==?|:(?!//)|：|＝|=|→|[-=]>(?=\s))[ \t]{0,8}"
    asian = r"[^\n。；;，,.:：=a-zA-Z]{0,16}?(?P<asian>设置为|設定為|设为|设成|改为|改成|換成|换成|换为|是|为|為|用|は|が|는|은)[ \t]?[:：]?[ \t]?"
    return re.compile(
        rf"(?P<close>(?:\\?[\"'`*\]]){{0,4}})(?:(?P<gap>{gap})(?:{signs}|\s{{1,4}}(?P<verb>{_LINK_WORDS})\s{{1,4}}:?\s?)|{asian}"
        r"|(?P<tag>>)|(?P<call>\(\s?)(?=[\"'])|(?P<beside>[ \t]{1,4}))",
        re.IGNORECASE,
    )


@cache
def _value() -> re.Pattern[str]:
    return re.compile(
        r"(?P<open>\\?[\"'`]|[“‘「『])(?P<quoted>[^\"'`”’」』\\\n]{1,512})\\?[\"'`”’」』]"
        rf"|(?P<lead>[*_({{]{{0,3}})(?P<raw>{_RAW}{{1,256}})"
    )


@cache
def _rest() -> re.Pattern[str]:
    return re.compile(f"{_RAW}*+")


@cache
def _clause_end() -> re.Pattern[str]:
    return re.compile(
        r"\W{0,3}(?:$|\n)|\s?[,;.!)\]}，。；！）]|\s(?:and|or|but|for|on|in|at|und|et|y|e)\b|\s?[&|#]|\s-"
    )


@cache
def _listed() -> re.Pattern[str]:
    return re.compile(r"\s?(?:,|/|、|;)?\s?(?:and |or |und |et |y |和|或)?\s?")


def _named_values(text: str) -> list[Secret]:
    found: list[Secret] = []
    at = 0
    for word in _words().finditer(_lowered(text)):
        if word.start() < at or not _counts(text, word):
            continue
        kind = "password" if _password_words().match(word[0]) else "secret"
        for secret in (
            *_value_after(text, word, kind),
            *_value_before(text, word, kind),
            *_random_after(text, word),
        ):
            found.append(secret)
            at = max(at, secret.end if secret.start >= word.end() else at)
    return found


def _value_after(text: str, word: re.Match[str], kind: str) -> list[Secret]:
    link = _link().match(text, word.end())
    if link is None or text.startswith(MASK, link.end()):
        return []
    value = _value().match(text, link.end())
    if value is None:
        return []
    how = _how(text, word, link)
    quoted = value["quoted"]
    if quoted is not None:
        if link["beside"] and kind != "password":
            return []
        fits = _fits_quoted(quoted, kind)
        return [Secret(value.start("quoted"), value.end("quoted"), kind)] if fits else []
    start = value.start("raw") if how != "tight" else value.start()
    end = value.end()
    if how == "tight" or link["tag"]:
        end = _stop_of_assignment(text, start, end)
    trimmed = _trimmed(text[start:end])
    if not trimmed or not _fits(text, start, trimmed, kind, how, word):
        return []
    if end - start >= 256:  # the pattern reads so much and no more
        found_end = _rest().match(text, end).end()  # type: ignore[union-attr]
    else:
        found_end = start + len(trimmed)
    found = [Secret(start, found_end, kind)]
    while how in {"link", "verb"} and (more := _listed().match(text, found[-1].end)) and more[0].strip():
        nearby = _value().match(text, more.end())
        if nearby is None or nearby["raw"] is None or not _is_strong(_trimmed(nearby["raw"]), least=6):
            break
        begin = nearby.start("raw")
        found.append(Secret(begin, begin + len(_trimmed(nearby["raw"])), kind))
    return found


def _how(text: str, word: re.Match[str], link: re.Match[str]) -> str:
    """How word and value are joined, from the surest to the loosest."""
    if link["tag"]:
        return "tight"
    if link["sign"]:
        is_tight = link["sign"] == "=" and link[0].endswith("=") and not link["gap"] and " " not in link[0]
        return "tight" if is_tight else "link"
    if link["beside"]:
        before = text[max(0, word.start() - 32) : word.start()]
        return "flag" if re.search(r"(?:^|\s)--?(?:[\w]+-)*$", before) else "beside"
    if link["verb"]:
        return "to" if link["verb"].lower().endswith("to") else "verb"
    return "link" if link["call"] else "verb"


def _fits(text: str, start: int, value: str, kind: str, how: str, word: re.Match[str]) -> bool:
    """Whether an unquoted ``value`` is a secret's value."""
    if _is_reference(value):
        return False
    if kind == "secret":
        if how == "beside":
            return _is_random(value, least=16)
        if how == "tight" and _is_shouted(text, word):
            return (
                not _is_no_value(value)
                and len(value) >= 4
                and not re.fullmatch(r"[\d.]{1,5}|\d+[a-z]{1,2}", value)
            )
        if word[0].startswith("pin") and re.fullmatch(r"\d{4,8}", value):
            return how in {"verb", "link", "tight"}
        return _is_strong(value, least=6 if how in {"tight", "link", "flag"} else 8)
    if how == "tight":
        return (
            not _is_no_value(value)
            or _is_shouted(text, word)
            and value.lower() in {"secret", "password", "passwd"}
        )
    if _is_strong(value):
        return True
    is_alone = _clause_end().match(text, start + len(value)) is not None
    if value.isdigit():
        return len(value) >= 4 and is_alone and how in {"link", "verb", "flag"}
    if how in {"beside", "to"} or _is_no_value(value) or not is_alone:
        return False
    return _is_plain_password(value)


def _is_shouted(text: str, word: re.Match[str]) -> bool:
    """Whether the word is part of the name of an environment variable."""
    name, before = text[word.start() : word.end()], text[word.start() - 1 : word.start()]
    return name.isupper() and not before.islower()


def _is_plain_password(value: str) -> bool:
    """Whether a word without digits can be a password: ``swordfish``, ``Swordfish``, ``four-words-joined-so``."""
    parts = value.split("-")
    if len(parts) == 2:
        return False
    if any(w in value.lower() for w in ("pass", "secret", "token", "cred", "getenv")):
        return False
    return len(value) >= 5 and all(re.fullmatch(r"[A-Z]?[a-z]+", part) for part in parts)


def _fits_quoted(value: str, kind: str) -> bool:
    if _is_reference(value) or _is_no_value(value.strip()):
        return False
    words = value.split()
    if len(words) > 1:
        is_prose = any(w.lower().strip(".,:!?") in _FUNCTION_WORDS for w in words)
        return not is_prose and (kind == "password" and len(value) >= 8 or _is_strong(value.replace(" ", "")))
    if kind == "password":
        return len(value) >= 3 and not re.search(r"(?i)passw|passwort|contrase", value) or _is_strong(value)
    return _is_strong(value, least=6) or (len(value) >= 12 and value.isalpha() and value.islower())


def _value_before(text: str, word: re.Match[str], kind: str) -> list[Secret]:
    """``X is the password``, ``X 是密码``."""
    if not _clause_end().match(text, word.end()):
        return []
    begin = max(0, word.start() - 120)
    match = _before().search(text[begin : word.start()])
    if match is None:
        return []
    value = match["value"]
    trimmed = _trimmed(value).lstrip("*_(\"'`")
    if _is_reference(trimmed) or not _is_strong(trimmed, least=5 if kind == "password" else 8):
        return []
    start = begin + match.start("value") + value.index(trimmed)
    return [Secret(start, start + len(trimmed), kind)]


@cache
def _before() -> re.Pattern[str]:
    return re.compile(
        rf"(?<!\S)(?P<value>\\?[\"'`]?{_RAW}{{5,80}}[\"'`]?)(?:\s(?:is|as|was|ist|es|est)\s(?:(?:the|our|my|your|a|das|la|le)\s)?"
        r"(?:[\w'-]{1,20}\s){0,3}|\s?(?:是|就是|作为|が|は)[^\n，。a-zA-Z0-9]{0,12})[\w.-]{0,20}$"
    )


@cache
def _long_token() -> re.Pattern[str]:
    return re.compile(r"(?<![\w/.:@-])[A-Za-z0-9+/_=~-]{20,}")


def _random_after(text: str, word: re.Match[str]) -> list[Secret]:
    """Random values further on in the same sentence; hashes and ids in hex are no secrets there."""
    reach = re.compile(r"(?:[^\n.;!?。；]|\.(?=\S)){0,160}").match(text, word.end())
    assert reach is not None
    found = []
    for token in _long_token().finditer(text, word.end(), reach.end()):
        value = token[0]
        if token.end() == reach.end():
            value = _long_token().match(text, token.start())[0]  # type: ignore[index]
        if not _is_hex(value) and _is_random(value, least=20) and not _is_reference(value):
            found.append(Secret(token.start(), token.start() + len(value), "secret"))
    return found


# --- what a value looks like --------------------------------------------------------------------------------


def _trimmed(value: str) -> str:
    """``value`` without the punctuation of the sentence around it."""
    value = value.rstrip(".,;:*?_|…")
    while (
        value and value[-1] in ")]}" and value.count(value[-1]) > value.count("([{"[")]}".index(value[-1])])
    ):
        value = value[:-1].rstrip(".,;:*?_|…")
    return value


def _stop_of_assignment(text: str, start: int, end: int) -> int:
    """``A=x;B=y`` and ``?a=x&b=y`` end a value; so does a comma before the next name."""
    stop = re.compile(r";|&(?=[\w.-]{1,40}=|&)|,(?=[\w.-]{1,40}=)|\|\|?$").search(text, start, end)
    return stop.start() if stop and stop.start() > start else end


@cache
def _reference() -> re.Pattern[str]:
    return re.compile(
        r"\$[A-Za-z_]\w*$|\$[{(]|%[A-Za-z_]\w*%|%[sd(]|\{\{?[^{}]*\}?\}?$|#\{|<|\*{3,}|[xX*•.…-]{3,}$|\?+$"
        r"|(?i:your|my|the|some|insert|replace)[-_].*|.*(?i:_here|-here)$|(?i:redacted|masked|hidden|omitted|placeholder)"
        r"|(?:process|import\.meta|os|sys|env|ENV|config|settings|self|this|req|request|secrets|vars|var|local|data|params|args"
        r"|opts|options|props|state|context|github|inputs|ctx)[.\[]"
        r"|[A-Za-z_][\w.:>-]*[(\[]|[a-z]\w*(?:\.[A-Za-z_]\w*)+$|[A-Z][A-Z]*(?:_[A-Z0-9]+)+$|@"
        r"|(?i:https?|op|vault|ssm|arn|file|gs|s3|env|secretsmanager|awssm|akv|keychain|projects):|arn:"
        r"|(?:~|\.{1,2})?/(?:[a-z0-9_.-]*[a-z][a-z0-9_.-]*/?)+$|~/|\./"
        r"|(?:[\w.-]+/)+[\w-]+\.[a-z]{1,4}$|\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$|[\w.+-]+@[\w-]+\.[\w.]+$"
    )


def _is_reference(value: str) -> bool:
    """Whether ``value`` only points to a secret, or stands in for one."""
    return not value or value == MASK or value in MASK or _reference().match(value) is not None


def _is_no_value(value: str) -> bool:
    """Whether ``value`` is a word that says something of a secret instead of being one."""
    low = value.lower().strip("!?.,:")
    if low in _NO_VALUES or _is_ordinary(low):
        return True
    if not low.replace("-", "").replace("_", "").isalpha():
        return False
    return low.rsplit("-", 1)[-1].endswith(tuple(_NO_VALUE_ENDS)) and len(low) > 4


@cache
def _ordinary() -> re.Pattern[str]:
    return re.compile(_ORDINARY)


def _is_ordinary(part: str) -> bool:
    return _ordinary().fullmatch(part) is not None and not (part.isdigit() and len(part) >= 4)


def _is_hex(value: str) -> bool:
    return (
        re.fullmatch(
            r"(?:[0-9a-f]{7,}|[0-9A-F]{7,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})", value
        )
        is not None
    )


def _is_strong(value: str, *, least: int = 5) -> bool:
    """Whether ``value`` has the mixed look of a password or a key."""
    if len(value) < least or not re.search(r"[A-Za-z]", value):
        return False
    if _is_hex(value):
        return re.search(r"[0-9]", value) is not None
    if re.search(r"[!#$^&*+=~%]", value.rstrip("!")) and not re.fullmatch(r"[\w.-]+[+*%]+|[+*%=]+\S+", value):
        return len(value) >= max(least, 6)
    for part in re.split(r"[-_./:@,!]+", value):
        has_both = re.search(r"[A-Za-z]", part) and re.search(r"[0-9]", part)
        if has_both and len(part) >= 5 and not _is_ordinary(part.lower()):
            return True
    return _is_random(value, least=16)


def _is_random(value: str, *, least: int) -> bool:
    """Whether hardly any of ``value`` reads as words."""
    bare = re.sub(r"[^A-Za-z0-9]", "", value)
    if len(bare) < least or re.fullmatch(r"[\d]+|[A-Z]+|[a-z]+", bare):
        return False
    wordy = sum(
        len(m[0])
        for m in re.finditer(r"[A-Z]?[a-z]{3,}|(?<![A-Za-z0-9])[A-Z]{2,}(?![A-Za-z0-9])", value)
        if re.search(r"[aeiouyAEIOUY]", m[0])
    )
    return wordy / len(bare) < 0.45 and len(set(bare)) >= 6
