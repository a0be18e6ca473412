"""What tells secrets from prose, as data: forms of tokens, places, words, and what is no value.

Patterns are strings and compiled on first use, each only where a literal part of it occurs in a text. All are
linear: bounded repeats, and no repeat within a repeat over the same characters.
"""

FORMS = (
    # kind, what a text must hold for one to stand in it, form
    (
        "openai-key",
        "sk- sess-",
        (
            r"sk-(?:proj|svcacct|admin|None|service|or|or-v1|lf|live|test|prod|dev)-[\w-]{8,}|sk-[A-Za-z0-9]{20,}"
            r"|sk-[a-z]{2,12}-(?=[\w-]{0,64}\d)[\w-]{16,}"
            r"|sess-[A-Za-z0-9]{32,}"
        ),
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
        (
            r"gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w-]{10,}(?:\.[\w-]{2,})*"
            r"|GR1348941[\w-]{15,}"
        ),
    ),
    (
        "aws-key",
        "AKIA ASIA ABIA ACCA A3T ABSK",
        (
            r"AKIA[A-Z0-9]{12,}|(?:ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])"
            r"|ABSK[A-Za-z0-9+/=]{40,}"
        ),
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
        (
            r"gsk_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}"
            r"|tvly-[\w-]{16,}|lsv2_(?:pt|sk)_[a-z0-9_]{20,}|nvapi-[\w-]{30,}|fw_[A-Za-z0-9]{20,}"
            r"|e2b_[a-f0-9]{30,}"
        ),
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
        (
            r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/-]{16,}"
            r"|(?<=discord\.com/api/webhooks/)\d+/[\w-]{16,}"
            r"|(?<=discordapp\.com/api/webhooks/)\d+/[\w-]{16,}|(?<=/bot/v2/hook/)[\w-]{20,}"
        ),
    ),
)
"""Forms that providers document for their tokens; publishable keys and plain ids are left out."""

RAW = (
    r"(?:[^\s\"'`<>\\，。；、！？）】」』”’“‘「『《》\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]|\\(?![\"'nrt]))"
)
"""A character of a value without quotation marks."""

START = r"(?:[^\n|;]{0,240}?\s)?"
PLACES = (
    # kind, what the text must hold in lower case, form; the value may hold "@" in a URL
    (
        "url-password",
        "://",
        rf"(?<=://)[^\s/?#:@\"'`<>]{{0,256}}:(?P<value>(?:(?!/){RAW}){{1,512}})@(?=[\w.\[$-])",
    ),
    ("url-token", "://", r"(?<=://)(?P<value>[\w-]{20,256})@(?=[\w.-])"),
    (
        "url-token",
        "=",
        (
            r"[?&](?:key|sig|signature|code|auth|token|x-amz-signature|x-amz-security-token)="
            r"(?P<value>[^\s&#\"'`<>]{8,512})"
        ),
    ),
    (
        "authorization",
        "authorization",
        (
            r"authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:(?:bearer|basic|token|apikey|digest)\s{1,4})?"
            rf"(?P<value>{RAW}{{6,4096}})"
        ),
    ),
    ("authorization", "bearer", r"bearer(?<![\w-]bearer)\s{1,4}(?P<value>[A-Za-z0-9._~+/=-]{6,4096})"),
    ("authorization", "basic", r"basic(?<![\w-]basic)\s{1,4}(?P<value>[A-Za-z0-9._~+/=-]{6,4096})"),
    (
        "password",
        "-u --user --proxy-user --auth",
        (
            rf"(?:curl|wget|xh|https?)\s{START}(?:-u|--user|--proxy-user|--auth)[ =]\\?[\"']?"
            rf"[^\s:\"']{{1,64}}:"
            rf"(?P<value>{RAW}{{1,256}})"
        ),
    ),
    (
        "password",
        "-p",
        (
            rf"(?:sshpass|docker login|podman login|mongo\w{{0,8}})\s{START}-p ?[\"']?"
            rf"(?P<value>{RAW}{{1,256}})"
        ),
    ),
    (
        "password",
        "mysql mariadb",
        rf"(?:mysql|mariadb)\w{{0,8}}\s{START}-(?-i:p)[\"']?(?P<value>{RAW}{{1,256}})",
    ),
    ("password", "redis-cli", rf"redis-cli\s{START}-a [\"']?(?P<value>{RAW}{{1,256}})"),
    (
        "password",
        "--password-stdin",
        rf"echo\s(?:-n\s)?[\"']?(?P<value>{RAW}{{1,256}})[\"']?\s?\|[^\n]{{0,120}}--password-stdin",
    ),
    ("password", "login", rf"login\s{{1,4}}\S{{1,64}}\s{{1,4}}password\s{{1,4}}(?P<value>{RAW}{{1,256}})"),
    (
        "password",
        ":",
        (
            r"(?:^|(?<=\s))[^\s:/]{1,253}:(?:\d{2,5}|\*):[^\s:/\d][^\s:/]{0,63}:[^\s:/\d][^\s:/]{0,63}:"
            rf"(?P<value>{RAW}{{4,256}})"
        ),
    ),
    (
        "password",
        "identified password",
        r"(?:identified (?:\w{1,12} )?by|with password)\s{1,4}[\"'](?P<value>[^\"'\n]{1,256})[\"']",
    ),
    ("cookie", "cookie", r"cookie\s?:\s?[\w.-]{1,64}=(?P<value>[^\s;\"'`<>]{8,4096})"),
)

ANY_VALUE = {"url-password", "password"}
"""Places where whatever stands is the credential, unless it is a reference."""

PASSWORD_WORDS = tuple(
    """
    pass[-_ ]?words?|passwds?|passcodes?|pass[-_ ]?phrases?|pwd|psw|pw|pass|密码|密碼|口令|パスワード
    暗証番号|비밀번호|passwort|kennwort|contraseña|contrasena|mot de passe|mdp|senha|wachtwoord|пароль|пароля
    hasło|şifre|lösenord|seed phrase|mnemonic|助记词
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
"""After these a plain word can be the value; patterns, in lower case."""
KEY_WORDS = tuple(
    """
    secrets?|tokens?|credentials?|creds?|secret[-_ ]?access[-_ ]?keys?|api[-_ ]?secrets?|api[-_ ]?tokens?
    recovery[-_ ]?codes?|backup[-_ ]?codes?|security[-_ ]?codes?|2fa[-_ ]?codes?|otp[-_ ]?seeds?
    totp[-_ ]?seeds?|logins?|basic auth
    密钥|密鑰|秘钥|令牌|凭证|凭据|トークン|シークレット|apiキー|토큰|schlüssel|clave|llave|chave|clé|jeton|ключ|токен
    секрет|pin code|pin|的 ?keys?
    """.strip()
    .replace("\n    ", "|")
    .split("|")
) + tuple(
    f"{word}[-_ ]?keys?(?:[-_ ]?base)?"
    for word in (
        "api access account app auth consumer deploy encryption license master private secret service"
        " shared[-_]?access signing ssh subscription webhook bot"
    ).split()
)
"""After these only what looks like a key is a value."""
STEMS = tuple(
    """
    pass psw pw 密码 密碼 口令 パスワード 暗証番号 비밀번호 kennwort contrase mdp senha wachtwoord
    парол hasło şifre lösenord seed mnemonic 助记词 secret token cred recovery
    backup security 2fa login auth 密钥 密鑰 秘钥 令牌 凭证 凭据 トークン シークレット キー 토큰 schlüssel
    clave llave chave clé jeton ключ токен секрет pin key
    """.split()
)
"""Every word above holds one of these, whatever its form."""
ALONE = frozenset("pwd psw pw mdp cred creds clé pin login logins".split())
"""Words that count only where no letter stands before them."""
SUFFIXES = (
    r"(?:[-_]?(?:\d{1,2}|dev|prod|production|staging|stage|test|local|live|old|new|base64|b64|plain|raw|value"
    r"|default|root|admin))?"
)

LINK_WORDS = (
    r"(?:is|are|was|were|be|equals?|reads|becomes|remains|stays|ist|lautet|sind|es|está|est|é|jest|это|är)"
    r"(?:\s(?:now|still|currently|always|just|simply|set to|changed to|jetzt|nun|ahora|maintenant|agora))?"
    r"|(?:has been |will be |should be |must be |was |is |got )?(?:now )?"
    r"(?:changed |set |reset |rotated |updated |switched )?to"
    r"|(?:will|should|must) (?:now )?be"
)
GAP_WORDS = (
    r"for|of|on|in|at|from|used|here|there|now|value|itself|that|we|für|vom|von|der|des|de|del|para|pour|du|la|por"
    r"|для|от"
)
ASIAN_LINKS = r"设置为|設定為|设为|设成|改为|改成|換成|换成|换为|是|为|為|用|は|が|を|는|은"

NO_VALUES = frozenset(
    """
    a an the any some no not none null nil undefined true false yes on off empty blank default optional
    required mandatory must should can cannot may might will would is are was be been being it its they
    this that these those what which who there here where when while if unless until then than as at by
    for from in into of onto out over per to up via with without and or nor but so because my our your
    their his her one ones two both all each every other another same different own new old first last
    next wrong right good bad weak strong strength short long unique secret private public shared plain
    plaintext text hash hashes salt salted hashing rotation policy field fields form input prompt
    manager reset length string str int integer number float bool boolean bytes byte char chars
    character characters varchar object array list dict map unknown never void type types value values
    key keys name names file files path url uri env var variable environment argument arguments option
    options flag flags param parameter parameters placeholder example redacted password passwords passwd
    passphrase token tokens credential credentials auth login user username admin-only vault keychain
    keyring bitwarden lastpass 1password keepass doppler github gitlab google okta sso saml oauth oidc
    jwt jwe bearer basic digest opaque bcrypt scrypt argon pbkdf md sha rsa aes hmac base hex uuid md5
    fine safe secure insecure invalid valid known gone dead bound correct incorrect case kept held sent
    set put read lost found made done used also only still already always just too very more less least
    see ask use run get stored managed generated unchanged missing expired local remote global pflicht
    erforderlich falsch leer richtig obligatoria obligatorio requerida requerido obligatoire requis
    incorrecta vacía falso vide faux necesaria necesario self request response config settings args
    kwargs ctx props state data body payload result easy hard lame dumb pwd pw pass passphrases secrets
    creds api_key apikey secret_key
    """.split()
)
"""Words that say something of a secret, stand for one in code, or are a type."""
NO_VALUE_ENDS = tuple(
    """
    ed ing ly able ible ory ary ive ous ful less ent ant ic tion sion ment ness wn ten ken sen
    ity ance ence ism
    """.split()
)
"""Endings of participles, adjectives and abstract nouns: prose, not passwords."""
FUNCTION_WORDS = frozenset(
    """
    the a an is are was be must should can may to of for in on at by with your our my this that and or
    not if it no enter please at least required invalid incorrect forgot reset change new confirm too
    der die das ist und für le la les est et de el los es y no
    """.split()
)
"""A quoted phrase with one of these is a label or a message."""
ORDINARY = (
    r"argon2\w{0,2}|[bs]crypt\d*|pbkdf2|sha-?\d{1,3}|md[45]|[hrpe]s(?:256|384|512)k?|oauth\d?"
    r"|base(?:16|32|58|64)(?:url)?|utf\d{1,2}|aes\d{0,3}|rsa\d{0,4}|[ex]d?25519|x509|k[38]s|i18n|l10n|a11y|ec2|s3|p12"
    r"|pkcs\d{1,2}|v\d[\w.]*|uuid(?:v?\d)?|iso\d*|rfc\d*|https?\d?|h[23]|web[23]|es\d{1,4}"
    r"|\d[\d.,_+%]*(?:st|nd|rd|th|[a-z]{1,2}|min|mins|secs?|hours?|days?|weeks?|months?|years?|chars?|characters?"
    r"|bits?|bytes?|tokens?|words?|digits?)?|[12]fa|1password|python\d*|node\d*|java\d*|log4j|neo4j|x86|amd64|arm64"
    r"|win\d\d|u2f|fido2?|totp\d?|tls\d*|ssl\d*|nist\d*|q[1-4]|ipv[46]|mp[34]|grpc2?"
)
"""Names and measures with digits that are no part of a password."""
