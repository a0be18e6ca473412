"""Words that search treats as data: stop words and languages, and pairs that mean the same here.

Adding a language is adding a line; adding a synonym is adding a word to a group.
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    "english": frozenset(
        """
        a about after again all also am an and any are as at be because been before being both but
        by can could did do does doing done during each either else ever every few for from further
        get gets getting give go goes going got had has have having he her here hers him his how
        however i if in into is it its itself just kind let like likely many may me might mine more
        most much must my myself no nor not now of off on once one only or other our ours out over
        own please really s same shall she should show so some such t tell than that the their
        theirs them then there these they thing things this those through to too under until up upon
        us very want was we were what when where whether which while who whom whose why will with
        would you your yours yourself dont doesnt didnt isnt arent wasnt werent hasnt havent cant
        couldnt wont wouldnt shouldnt whats wheres whos hows im ive id youre youve weve theyre thats
        theres lets
        """.split()
    ),
    "german": frozenset(
        """
        aber als am an auch auf aus bei bin bis bitte das dass dein dem den der des dich die dies
        diese dieser dieses dir doch du ein eine einem einen einer eines er es für habe haben hat
        hier ich ihr im in ist ja kann kein keine man mein mich mir mit muss müssen nach nicht noch
        nur ob oder sein sich sie sind so soll sollen über um und uns unser unsere vom von vor wann
        warum was welche welcher welches wenn wer werden wie wieso wir wird wo womit woher wohin zu
        zum zur
        """.split()
    ),
    "french": frozenset(
        """
        à au aux avec ce ces cette comment dans de des du elle en est et être il ils je la le les
        leur lui ma mais me mes moi mon ne nos notre nous où on ou par pas pour pourquoi qu quand
        que quel quelle quelles quels qui quoi sa sans se ses son sont sur ta te tes toi ton tu un
        une votre vous faut combien
        """.split()
    ),
    "spanish": frozenset(
        """
        a al como cómo con cuál cuáles cuando cuándo cuánto de del dónde donde el ella en es esta
        está este esto están hay la las le lo los me mi mis muy no nos nuestra nuestro o para pero
        por porque qué que quién quien se ser si sin sobre son su sus te tu tus un una unas uno unos
        y ya yo
        """.split()
    ),
    "portuguese": frozenset(
        """
        ao aos as com como da das de do dos e é ela ele em entre era esta está este eu foi há isso
        isto já mais mas me meu minha na não nas no nos nós o onde os ou para pela pelo por porque
        qual quais quando que quem se sem ser seu sua são te tem um uma você
        """.split()
    ),
    "italian": frozenset(
        """
        a ai al alla anche che chi ci come con cosa da dal dalla dei del della delle di dove e è gli
        ha hanno i il in io la le lo ma mi nel nella non o per perché più qual quale quali quando
        quanto questa questo se si sono su sul sulla ti tu un una uno
        """.split()
    ),
    "dutch": frozenset(
        """
        aan al als bij dan dat de deze die dit een en er haar heeft hem het hij hoe hun ik in is je
        kan maar met mij mijn moet naar niet nog nu of om ons onze ook op over te tot uit van veel
        voor waar waarom wanneer was wat we welke wie wij worden wordt zijn zo
        """.split()
    ),
    "swedish": frozenset(
        """
        att av de den det du en ett för från har hur han i inte är jag kan med men när och om på så som till
        var vad vi vilka vilken
        """.split()
    ),
    "russian": frozenset(
        """
        а без бы был была было быть в вам вас во все вы где да для до его ее если есть еще же за
        здесь и из или им их к как какая какие какой когда кто куда ли мне мы на надо наш наша не
        него нет но ну о об он она они от по под почему при с сколько со так там тебя то того только
        ты у уже чего чем что чтобы эта эти это этот я
        """.split()
    ),
}
"""Function and question words by Snowball language; dropped from a query that has other words."""

CJK_STOP = frozenset(
    """
    什么 怎么 怎样 如何 哪里 哪个 哪些 哪儿 多少 几个 为何 为什 么是 是什 谁是 是谁 请问 我们 你们 他们
    这个 那个 可以 一下 的是 是否 有没 没有 什麼 怎麼 怎樣 哪裡 哪個 為何 為什 麼是 請問 我們 你們 這個
    那個 是誰 誰是 です ます すか ですか でし した して いる ある する どこ どの どう なに 何が 何を 何で
    何か だれ 誰が いつ なぜ どれ こと もの とは ので から まで
    """.split()
)
"""Two characters that ask or bind; dropped like stop words."""

SYNONYMS: tuple[tuple[str, ...], ...] = (
    # one thing under several names
    ("test", "tests", "testing", "测试", "測試", "テスト"),
    ("db", "database", "数据库", "數據庫", "資料庫", "データベース", "datenbank"),
    ("k8s", "kubernetes", "kube"),
    ("repo", "repository", "仓库", "リポジトリ"),
    ("config", "configuration", "configure", "settings", "conf", "cfg", "配置", "设置", "設定"),
    ("env", "environment", "环境", "環境"),
    ("dir", "directory", "folder", "目录", "文件夹", "ディレクトリ", "フォルダ"),
    ("dep", "deps", "dependency", "依赖", "依存"),
    ("deploy", "deployment", "rollout", "release", "ship", "publish", "部署", "发布", "デプロイ"),
    ("doc", "docs", "documentation", "manual", "guide", "readme", "文档", "ドキュメント"),
    ("auth", "authentication", "authorization", "login", "signin", "登录", "认证", "ログイン", "認証"),
    ("build", "compile", "构建", "编译", "ビルド"),
    ("format", "formatter", "formatting", "格式化"),
    ("migration", "migrate", "迁移", "マイグレーション"),
    ("ci", "pipeline", "流水线"),
    ("prod", "production", "生产", "本番"),
    ("dev", "development", "开发", "開発"),
    ("staging", "stage", "预发"),
    ("bug", "defect", "缺陷", "バグ"),
    ("port", "端口", "ポート"),
    ("branch", "分支", "ブランチ"),
    ("commit", "提交", "コミット"),
    ("password", "passwd", "pwd", "credentials", "secret", "密码", "パスワード"),
    ("frontend", "ui", "web", "client", "前端", "フロントエンド"),
    ("backend", "server", "后端", "バックエンド", "サーバー"),
    ("start", "launch", "run", "execute", "exec", "启动", "运行", "起動", "実行"),
    ("delete", "remove", "erase", "del", "rm", "删除", "削除"),
    ("create", "add", "new", "创建", "新增", "追加"),
    ("fix", "repair", "修复", "修正"),
    ("check", "verify", "validate", "检查", "検証"),
    ("convention", "style", "规范", "規約"),
    ("local", "locally", "localhost", "本地", "ローカル"),
    ("payment", "billing", "invoice", "支付"),
    ("owner", "own", "maintainer", "responsible", "负责人"),
    ("ticket", "issue", "tracker", "工单"),
    ("dashboard", "chart", "graph", "monitoring", "监控"),
    ("cron", "schedule", "job", "定时"),
    ("email", "mail", "邮件"),
    ("user", "account", "customer", "用户"),
    ("rollback", "revert", "undo", "回滚"),
    ("upgrade", "update", "bump", "升级", "更新"),
    ("install", "setup", "安装", "インストール"),
    ("url", "link", "链接"),
    ("endpoint", "route", "api", "接口"),
    ("container", "docker", "容器", "コンテナ"),
    ("queue", "broker", "队列"),
    ("translation", "i18n", "localization", "l10n", "翻译"),
    ("forbidden", "never", "avoid", "禁止"),
    ("meeting", "standup", "会议"),
    ("type", "typing", "类型"),
    ("throttle", "throttling", "ratelimit", "rate", "限流"),
    ("design", "mockup", "figma", "设计"),
    ("size", "large", "big", "大小"),
    # short and long
    ("js", "javascript"),
    ("ts", "typescript"),
    ("py", "python"),
    ("pg", "postgres", "postgresql", "psql"),
    ("mongo", "mongodb"),
    ("tf", "terraform"),
    ("pr", "mr", "pull"),
    ("addr", "address"),
    ("app", "application"),
    ("arg", "args", "argument", "param", "params", "parameter", "参数", "引数"),
    ("arr", "array"),
    ("async", "asynchronous"),
    ("attr", "attribute"),
    ("avg", "average", "mean"),
    ("bool", "boolean"),
    ("buf", "buffer"),
    ("calc", "calculate", "compute"),
    ("char", "character"),
    ("cmd", "command", "命令", "コマンド"),
    ("col", "column"),
    ("conn", "connection", "connect"),
    ("conv", "convert", "conversion"),
    ("ctx", "context"),
    ("desc", "description"),
    ("dict", "dictionary"),
    ("elem", "element"),
    ("err", "error", "exception", "failure", "crash", "错误", "エラー"),
    ("ext", "extension"),
    ("func", "fn", "function", "函数", "関数"),
    ("gen", "generate", "generator"),
    ("img", "image", "picture", "镜像"),
    ("impl", "implement", "implementation"),
    ("idx", "index"),
    ("info", "information"),
    ("init", "initialize", "initialise"),
    ("int", "integer"),
    ("iter", "iterate", "iterable", "iterator", "loop"),
    ("len", "length"),
    ("lib", "library"),
    ("log", "logger", "logging", "日志", "ログ"),
    ("max", "maximum", "largest"),
    ("mem", "memory"),
    ("min", "minimum", "smallest"),
    ("msg", "message", "消息"),
    ("num", "number", "numeric"),
    ("obj", "object"),
    ("perf", "performance", "speed", "slow", "fast", "latency", "性能"),
    ("pkg", "package", "module"),
    ("prop", "property"),
    ("proc", "process"),
    ("rand", "random"),
    ("ref", "reference"),
    ("req", "request"),
    ("resp", "response"),
    ("sec", "seconds"),
    ("spec", "specification"),
    ("str", "string"),
    ("sync", "synchronize", "synchronise"),
    ("temp", "tmp", "temporary"),
    ("txt", "text"),
    ("util", "utility"),
    ("val", "value"),
    ("var", "variable", "变量", "変数"),
    ("ver", "version", "版本"),
    ("win", "windows"),
)
"""Words a developer uses for one thing; a match through a synonym counts less than the word itself."""

TASK_WORDS = """
    add adjust apply arrange ask build call change check clean continue convert copy correct create
    debug delete describe do draw edit explain extend find fix generate get give go handle help
    implement improve install insert keep let look make move need new open parse please print put read
    refactor remove rename repair replace return review rewrite run save say see send show simplify sort
    speed start stop summarize tell think translate try turn undo update use want work write last next
    previous same other again current function class method variable file line code loop script module
    thing step part way bitte erkläre erklären mach mache machen füge ändere ändern schreibe schreiben
    zeig zeige neu neue neuen funktion klasse datei zeile ajoute ajouter corrige corriger explique écris
    écrire montre modifier nouveau nouvelle fichier fonction añade añadir explica escribe escribir
    muestra cambia nuevo nueva archivo función добавь исправь объясни напиши покажи измени функция файл
    код one two three four five first second third number take break name word example idea message
    question answer wrong right good better simple
""".split()
"""What prompts are made of whatever they are about; a record that shares no more with one is not meant."""

_PACKAGES = "npm pnpm yarn bun pip uv poetry pdm conda cargo gem bundler composer maven gradle brew apt"
_DATABASES = "postgres postgresql pg mysql mariadb sqlite mongodb mongo redis dynamodb duckdb clickhouse"
_RUNNERS = "pytest vitest jest mocha playwright cypress junit rspec nose unittest"

KINDS: dict[str, str] = {
    "package": _PACKAGES,
    "manager": _PACKAGES,
    "database": _DATABASES,
    "db": _DATABASES,
    "数据库": _DATABASES,
    "linter": "eslint ruff flake8 pylint biome clippy rubocop golangci stylelint shellcheck oxlint",
    "formatter": "prettier black gofmt rustfmt ruff biome clang-format",
    "framework": f"{_RUNNERS} react next vue svelte angular django flask fastapi rails express spring",
    "runner": _RUNNERS,
    "orm": "prisma drizzle sqlalchemy typeorm sequelize hibernate activerecord",
    "bundler": "vite webpack esbuild rollup parcel turbopack",
    "cache": "redis memcached valkey",
    "queue": "kafka rabbitmq sqs celery sidekiq nats bullmq",
    "cloud": "aws gcp azure cloudflare hetzner",
    "hosting": "vercel netlify heroku render aws gcp azure cloudflare",
    "ci": "jenkins circleci buildkite gitlab actions",
    "monitoring": "grafana prometheus datadog sentry kibana",
    "browser": "chrome chromium firefox safari",
    "editor": "vim neovim emacs vscode cursor zed",
    "shell": "bash zsh fish powershell",
    "chat": "slack teams discord mattermost",
    "tracker": "jira linear asana",
    "language": "python typescript javascript rust golang java kotlin ruby elixir english german chinese",
    "runtime": "node deno bun",
    "container": "docker podman compose",
    "secrets": "vault sops doppler 1password",
}
"""What a kind of thing is called, and things of that kind: who asks for the one is glad of the other.

It holds in this direction alone: who asks for npm has not asked for yarn.
"""
