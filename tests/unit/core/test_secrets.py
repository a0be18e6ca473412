import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.secrets import MASK, are_clean, find, mask


def joined(text: str) -> str:
    """The text without the dots that keep scanners of repositories from taking a sample for a real token."""
    return text.replace("·", "")


# The secret stands between ⟦ and ⟧; everything else must stay.
SECRETS = [
    "webhook 的 key 是 ⟦sk·-live-EXAMPLE7hdKq27LmZx0PvTr⟧",
    "the bot key is ⟦a93hdKq27LmZx0PvTr5Yw8Nb⟧, post to #ops",
    "群里的 key 是 ⟦a93hdKq27LmZx0PvTr5Yw8Nb⟧",
    "the deploy bot uses token ⟦gl·pat-EXAMPLEexample0000001⟧ and ⟦sk·-proj-EXAMPLE-example-000000001⟧.",
    "key ⟦sk·-abcdefghijklmnopqrstuvwx123456⟧ works",
    "⟦sk·-ant-api03-EXAMPLE_example-000⟧",
    "⟦sk·-svcacct-EXAMPLE0example0⟧ and ⟦sk·-or-v1-0123456789abcdef0123456789abcdef⟧",
    "use ⟦gh·p_EXAMPLEexample000000000000000000001⟧, please",
    "然后用⟦gh·o_EXAMPLEexample000000000000000000001⟧推送",
    "⟦git·hub_pat_11EXAMPLE0_exampleEXAMPLE0000⟧",
    "id ⟦AK·IAIOSFODNN7EXAMPLE⟧ in us-east-1",
    "aws_secret_access_key = ⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧",
    "AWS_SECRET_ACCESS_KEY=⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧ aws s3 ls",
    "maps: ⟦AI·zaSyEXAMPLEexampleEXAMPLEexample00000⟧",
    "⟦xo·xb-000000000000-EXAMPLEexample⟧ posts to #ops",
    "post to https://hooks.slack.com/⟦ser·vices/T00000000/B00000000/EXAMPLEexample00000000⟧ on failure",
    "⟦np·m_EXAMPLEexample0000000000000000000000⟧",
    "⟦py·pi-AgEIcHlwaS5vcmcEXAMPLEexample00000⟧",
    "⟦sk·_live_EXAMPLEexample00000000⟧ / ⟦rk·_test_EXAMPLEexample00000000⟧ / ⟦whs·ec_EXAMPLEexample0000⟧",
    "⟦SK·0123456789abcdef0123456789abcdef⟧",
    "⟦SG·.EXAMPLEexample00000000.EXAMPLEexampleEXAMPLEexample000000000000000⟧",
    "⟦hf·_EXAMPLEexampleEXAMPLEexample000000⟧",
    "⟦123456789:A·AEXAMPLEexampleEXAMPLEexample000000⟧ is the bot",
    "⟦ey·JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P⟧. Then",
    "⟦dck·r_pat_EXAMPLEexample0000⟧",
    "⟦hv·s.EXAMPLEexample00000000⟧",
    "⟦-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----⟧\nafter",
    "key: ⟦-----BEGIN PRIVATE KEY-----\\nMIIEvQ==\\n-----END PRIVATE KEY-----⟧ after",
    "⟦-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAA⟧\nthen prose",
    "⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----⟧",
    "postgres://app:⟦s3cret⟧@db.internal:5432/app holds the orders",
    "mongodb+srv://app:⟦p@ss:w0rd⟧@cluster0.example.net/?retryWrites=true",
    "redis://:⟦hunter2⟧@localhost:6379/0",
    "clone https://bot:⟦abcdef⟧@git.example.com/a/b.git",
    "https://⟦0123456789abcdef0123456789abcdef01234567⟧@github.com/a/b",
    "Authorization: Bearer ⟦abc123def456⟧",
    'curl -H "Authorization: Bearer ⟦EXAMPLEtoken000⟧" https://api.example.com',
    "send `Bearer ⟦0b79bab50daca910b000d4f1a2b675d604257e42⟧`",
    "Authorization: Basic ⟦dXNlcjpwYXNzd29yZA==⟧",
    "X-Api-Key: ⟦abcd1234efgh⟧",
    "Cookie: session=⟦EXAMPLEexample00000000⟧; theme=dark",
    "PGPASSWORD=⟦hunter2EXAMPLE⟧ make migrate",
    "PASSWORD=⟦swordfish⟧",
    "export DB_PASS=⟦correct-horse⟧; make up",
    "MYSQL_ROOT_PASSWORD=⟦secret⟧ docker compose up",
    "STRIPE_SECRET=⟦abcdefgh⟧ node app.js",
    "SECRET_KEY_BASE=⟦0123456789abcdef0123456789abcdef⟧",
    "the staging database password is ⟦Tr0ub4dor-and-3⟧.",
    "password is ⟦hunter2⟧",
    "the password is ⟦swordfish⟧, not the old one",
    "The admin password is '⟦open sesame now⟧'.",
    "password: ⟦swordfish⟧",
    "password: ⟦12345678⟧",
    "Password for the staging db is ⟦hunter2⟧.",
    "the password for db.example.com is ⟦hunter2⟧",
    "root password (staging): ⟦hunter2⟧",
    "we changed the password to ⟦hunter2!⟧ yesterday",
    "set the API key to ⟦abcd1234efgh⟧",
    "the new password will be ⟦Winter2024⟧",
    "login with password ⟦hunter2⟧",
    "⟦hunter2⟧ is the staging password",
    "use ⟦hunter2⟧ as the password",
    "the passwords are ⟦hunter2⟧ and ⟦swordfish1⟧",
    "api_key: ⟦EXAMPLE123⟧ is in vault",
    "the metrics API lives at https://metrics.example.com and api_key: ⟦EXAMPLE123⟧ is in vault.",
    "apiKey = '⟦abc123def⟧'",
    '{"password": "⟦hunter2⟧", "user": "app"}',
    '{\\"client_secret\\": \\"⟦abc123def456⟧\\"}',
    "'dbPassword' => '⟦correct horse⟧',",
    "password=⟦abc⟧&user=app",
    "Server=db;User Id=sa;Password=⟦Str0ng!Pass⟧;Encrypt=true",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=⟦EXAMPLEexampleEXAMPLEexample0000+/==⟧;Suffix=x",
    "https://a.blob.core.windows.net/c?sv=2022&sig=⟦EXAMPLEexample0000%2B⟧&se=2024",
    "<password>⟦hunter2⟧</password>",
    "spring.datasource.password=⟦hunter2⟧",
    "mysql --user=root --password=⟦hunter2⟧ app",
    "tool --password ⟦swordfish⟧ --user app",
    "tool --api-key ⟦abcd1234efgh⟧ run",
    "mysql -uroot -p⟦hunter2⟧ app",
    "sshpass -p ⟦hunter2⟧ ssh host",
    "curl -u admin:⟦hunter2⟧ https://example.com",
    "echo ⟦hunter2⟧ | docker login --username bot --password-stdin",
    "machine example.com login bot password ⟦qwerty⟧",
    "CREATE USER app IDENTIFIED BY '⟦hunter2⟧'",
    "数据库密码是⟦hunter2⟧，别忘了",
    "测试环境的密码已经改成⟦Winter2024⟧了",
    "密码：⟦swordfish⟧",
    "密码用⟦hunter2⟧",
    "密钥为 ⟦abcd1234efgh⟧",
    "パスワードは⟦hunter2⟧です",
    "ステージングのパスワード: ⟦hunter2⟧",
    "비밀번호는 ⟦hunter2⟧",
    "Das Passwort ist ⟦Geheim123⟧.",
    "Passwort: ⟦Geheim123⟧",
    "la contraseña es ⟦secreto123⟧",
    "la contraseña de la base es ⟦secreto123⟧",
    "le mot de passe est ⟦soleil42⟧",
    "пароль: ⟦hunter2⟧",
    "the signing secret we rotated last week reads ⟦qT7xV2mK9pL4wZ8nB3cD⟧ in both places",
    "token ⟦qT7xV2mK9pL4wZ8nB3cD⟧",
    "the recovery passphrase is '⟦correct horse battery staple⟧'",
    "PIN is ⟦4821⟧",
    "db creds: admin / ⟦S3cr3tP@ss⟧",
    "our Grafana login is admin:⟦Gr4fana!2024⟧",
    "the password's ⟦hunter2⟧",
    "the wifi password here is ⟦BlueHorse77⟧",
    "the passphrase is ⟦correct-horse-battery-staple⟧",
    "use token ⟦abcdef1234567890abcdef1234567890⟧ for the CI",
    "REDIS_URL=redis://default:⟦Zx9kLmN0pQ⟧@redis.example.com:6379",
    'setx API_SECRET "⟦a1b2c3d4e5f6⟧"',
    '$env:DB_PASSWORD = "⟦P@ssw0rd!⟧"',
    "ENV DB_PASSWORD ⟦hunter2⟧",
    "kubectl create secret generic db --from-literal=password=⟦S3cr3t⟧",
    "aws configure set aws_secret_access_key ⟦wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY⟧",
    "账号 admin 密码 ⟦Abc12345⟧",
    "パスワードを ⟦hunter2⟧ に変更しました",
    "Das Datenbank-Passwort lautet ⟦Sommer2024!⟧",
    "la clave de la API es ⟦9d8f7e6d5c4b3a2f⟧",
    "curl -H 'PRIVATE-TOKEN: ⟦abcd1234EFGH5678⟧' https://gitlab.example.com",
    "http --auth user:⟦pa55word⟧ https://example.com",
    "//registry.example.com/:_authToken=⟦3f2a9c7b-1d4e-5f60-8a9b-0c1d2e3f4a5b⟧",
    "recovery code: ⟦ABCD-EFGH-1234⟧",
]

SURVIVORS = [
    "the spinner uses class sk-fading-circle-large-blue",
    "缓存的 key 是 user_profile_by_tenant",
    "password hashing uses argon2",
    "the password field is required",
    "token budget is 2000",
    "secret rotation runs weekly",
    "the password is required",
    "password is hashed with bcrypt",
    "passwords are hashed with argon2id",
    "password: required, at least 12 characters",
    "password: argon2id",
    "Passwords must be at least 12 characters long",
    "password: string;",
    "password: str = Field(...)",
    "password: Optional[str] = None",
    '"password": {"type": "string"}',
    '"password": "Password"',
    "password = request.form['password']",
    "password = os.environ['DB_PASSWORD']",
    "token = get_token(user)",
    "const token = await fetchToken();",
    "secret: process.env.JWT_SECRET",
    "PASSWORD=$DB_PASSWORD make migrate",
    "PASSWORD=${DB_PASSWORD} make migrate",
    "export API_KEY=<your key>",
    "API_KEY=YOUR_API_KEY",
    "password_file=/run/secrets/db",
    "PASSWORD_FILE=/run/secrets/db",
    "token: /run/secrets/token",
    "the token lives in ~/.config/app/token",
    "max_tokens=4096 and token_limit: 8k",
    "MAX_TOKENS=4096",
    "tokens: 2000",
    "the token is a JWT signed with RS256",
    "token: RS256",
    "tokens expire after 15m",
    "the access token is valid for 24h",
    "API key is read from the keychain",
    "api keys are kept in vault",
    "API key: see 1Password",
    "the secret is in AWS Secrets Manager",
    "secrets are encrypted with age",
    "Bearer token authentication is used",
    "Basic authentication is off",
    "Authorization: required",
    "use the --password flag",
    "tool --token-file ./token",
    "docker run -u 1000:1000 image",
    "git commit 3f786850e387550fdab836ed7e6dc881de23001b fixed the token refresh",
    "the secret rotation landed in 3f786850e387550fdab836ed7e6dc881de23001b",
    "session 0198f2c3-1b2a-7c3d-9e4f-5a6b7c8d9e0f read it",
    "the session_id 0198f2c3-1b2a-7c3d-9e4f-5a6b7c8d9e0f names the rollout",
    "session_id: 0198f2c3-1b2a-7c3d-9e4f-5a6b7c8d9e0f",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLEexample0000000000000000=="',
    "src/auth/password_reset/token_service.py:42",
    "docs/security/token-rotation-2024/README.md",
    "https://github.com/org/repo/blob/main/docs/tokens.md",
    "git@github.com:org/repo.git and ssh://git@github.com/org/repo",
    "http://localhost:3000/@scope/pkg and postgres://localhost:5432/app",
    "postgres://app:$DB_PASSWORD@db/app",
    "postgres://app@db/app",
    "the keys are sorted; the primary key is user_id2",
    "cache_key: user-42-v2",
    "public key: ssh-ed25519",
    "ask ops@example.com for the password",
    "reset your password at https://example.com/reset2",
    "the tests pass: 128 of 128",
    "--- PASS: TestLogin2 (0.00s)",
    "pwd is /home/app/project2",
    "PWD=/home/app/project2",
    "sk-learn and sk-cube-grid are names",
    "task-list, npm_config_registry, npm_lifecycle_event",
    "token bucket, token ring, secret sharing, password manager, key vault",
    "密码字段是必填的",
    "密码使用 argon2 加密",
    "token 是 JWT",
    "密钥每周轮换",
    "パスワードは必須です",
    "Das Passwort ist Pflicht",
    "la contraseña es obligatoria",
    "le mot de passe est obligatoire",
    "the password reset link is valid for 24h",
    "secret: k8s",
    "we use oauth2-proxy for tokens",
    "the secret sauce is caching",
    "node 20.11.1, python 3.12, port 5432",
    "secretsmanager:GetSecretValue on arn:aws:secretsmanager:us-east-1:123456789012:secret:app",
    "credentials: include",
    "credentials are stored in ~/.aws/credentials",
    'throw new Error("password is incorrect")',
    '"password": "Please enter your password"',
    "private_key: ./keys/dev.pem",
    "if token == expected: pass",
    "Token: refreshed hourly by cron",
    "password: ********",
    "password: [redacted]",
    "api_key: " + MASK,
    "access_token_ttl: 900",
    "secret: ${{ secrets.GITHUB_TOKEN }}",
    "password: ${DB_PASSWORD:-postgres}",
    "password: !vault |",
    "password: z.string().min(8)",
    "def login(user: str, password: str) -> Token:",
    'token := r.Header.Get("Authorization")',
    "API key header is X-Api-Key",
    "the key is to run migrations first",
    "bypass=true and passthrough=on",
    "pin: node20",
    "we moved secrets to aws-secretsmanager2",
    "the password for staging is in 1Password",
    'FATAL: password authentication failed for user "app2"',
    "tests/test_password.py::test_reset2 PASSED",
    "our secret scanning runs in CI with gitleaks v8.18.0",
    "le token est valide 24h",
    "token 过期时间是 15m",
    "Token: '#dcdccc'",
    "login is at /auth/v2",
    "password strength meter uses zxcvbn",
    '"ref":"project:active:commands:login-7-1d14aa","reason":"undo of 20261130T101112-0a1b2c3d"',
]


@pytest.mark.parametrize("sample", SECRETS)
def test_the_value_is_masked_and_the_rest_stays(sample: str) -> None:
    sample = joined(sample)
    text = sample.replace("⟦", "").replace("⟧", "")
    want, rest = "", sample
    while "⟦" in rest:
        before, _, rest = rest.partition("⟦")
        _, _, rest = rest.partition("⟧")
        want += before + MASK
    want += rest
    got = mask(text)
    assert got.text == want
    assert got.count == sample.count("⟦")
    assert got.kinds
    assert mask(got.text).text == got.text


@pytest.mark.parametrize("text", SURVIVORS)
def test_words_about_secrets_stay(text: str) -> None:
    assert mask(text).text == text


def test_nothing_is_found_in_nothing() -> None:
    assert mask("").text == ""
    assert mask("plain words").kinds == ()


def test_places_and_kinds_are_named() -> None:
    text = joined("a gh·p_EXAMPLEexample000000000000000000001 b password=hunter2")
    found = find(text)
    assert [s.kind for s in found] == ["github-token", "password"]
    assert text[found[1].start : found[1].end] == "hunter2"


@pytest.mark.parametrize(
    "unit",
    [
        "password is ",
        "password:",
        "password=",
        "password for ",
        "a password b.c.d ",
        "://",
        "://a:",
        "://a:b",
        "-----BEGIN PRIVATE KEY-----",
        "eyJaaaaaaaa.",
        "Bearer ",
        "curl x ",
        "curl -u ",
        "密码",
        "密码是",
        "token ",
        "a1B2",
        "=",
        '"',
        "(",
        "\\",
        " ",
        "x is the password ",
        "mysql -p ",
        "a:12:b:c:",
    ],
)
def test_a_long_line_is_linear(unit: str) -> None:
    text = unit * (250_000 // len(unit))
    begin = time.process_time()
    mask(text)
    assert time.process_time() - begin < 8


CUT_SHORT = [
    "password is",
    "Authorization: Basic",
    "login ada",
    "api_key =",
    "-----BEGIN PRIVATE KEY-----",
    "=",
]


@given(
    st.lists(
        st.sampled_from([*SURVIVORS, *CUT_SHORT, "", "plain words"])
        | st.sampled_from(SECRETS).map(lambda text: joined(text).replace("⟦", "").replace("⟧", "")),
        max_size=12,
    )
)
@settings(deadline=None)
def test_many_texts_together_are_as_clean_as_each_alone(texts: list[str]) -> None:
    assert are_clean(texts) == [not find(text) for text in texts]


def test_clean_texts_of_all_kinds_are_clean_together() -> None:
    texts = [*SURVIVORS, *CUT_SHORT] * 2
    assert are_clean(texts) == [not find(text) for text in texts]
