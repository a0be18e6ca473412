"""What a message says is no longer so, and what it leaves alone, in six languages."""

import pytest

from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.sync.review import review
from tests.unit.sync.conftest import extract

GONE = [
    (
        "The Rabbit management UI is on port 15672.",
        "rabbit's ui is 15673 on our dev machines, you tried 15672",
    ),
    ("The cluster is fen-1.", "the cluster is called fen-2, fen-1 was shut down. roll the api"),
    ("Deployment target is iOS 15.", "target is ios 17 since the spring release, ignore 15"),
    ("Dates are handled with moment.", "dates with luxon always, moment is depricated here"),
    (
        "staging 用 kubectl apply 部署。",
        "staging 的 deploy 走 argo，app 名叫 mall-stg，别再 kubectl apply 了",
    ),
    ("测试库的地址是 10.20.7.30:3306。", "请记住：测试库的地址是 10.20.7.31:3307，库名 mall_qa"),
    (
        "El servidor de pruebas es pino.lan:8080.",
        "apunta: el servidor de pruebas es roble.lan:8088, es nuevo",
    ),
    ("Deploys happen on Mondays.", "drop the note that says deploys happen on mondays, its wednesdays"),
    ("Tests run with mocha.", "we switched from mocha to vitest, fix the config"),
    ("The staging server is stg1.acme.test.", "staging is stg4.acme.test now. curl it"),
    ("Deploys happen on Thursdays.", "deploys moved to tuesdays. update the doc"),
    ("Bugs are tracked in Jira.", "bugs live in github issues now, not jira. add the link"),
    ("The main branch is develop.", "no, main branch is called trunk"),
    ("Use 2 spaces for indentation.", "4 spaces please, not 2. reformat this file"),
    ("The API listens on port 3000.", "api port is 3100 since last week. try again"),
    ("The project uses Python 3.9.", "we are on python 3.12 now, you can use match"),
    ("Commit messages are in German.", "from now on commit messages in english please"),
    ("Answer in German.", "please answer in english from now on"),
    ("The owner of billing is Anna.", "anna left, billing is owned by tomas now. put him as reviewer"),
    (
        "Always run the full test suite before committing.",
        "dont run the full test suite before committing any more, only the touched package",
    ),
    ("Add comments to every function.", "stop adding comments to every function"),
    ("The log file is /var/log/app.log.", "the log moved to /data/log/app.log. tail it"),
    ("测试用 jest。", "jest 换成 vitest 了，把配置改一下"),
    ("预发环境是 stg1.acme.test。", "预发现在是 stg5.acme.test，你再 ping 一下"),
    ("主分支是 develop。", "主分支改成 main 了，重新拉一下"),
    ("缩进用 2 个空格。", "不对，缩进是 4 个空格"),
    ("注释用英文。", "以后注释用中文写"),
    ("回答用英文。", "以后用中文回答"),
    ("每周三发版。", "现在周五发版，周三不发了"),
    ("bug 记在 jira。", "bug 都挪到 tapd 了，去那边看"),
    ("数据库端口是 3306。", "数据库端口改成 3307 了，连不上就是这个原因"),
    ("提交前跑全部测试。", "提交前不用跑全部测试了，只跑单测"),
    ("テストは jest を使う。", "jest から vitest に移行しました。直して"),
    ("ステージングは stg1.acme.test です。", "ステージングは stg3.acme.test に変わりました"),
    ("Wir benutzen npm.", "wir sind auf pnpm umgestiegen, pass das skript an"),
    ("Die API läuft auf Port 3000.", "die api läuft jetzt auf port 3100"),
    ("On utilise npm.", "on est passés à pnpm, relance"),
    ("L'API tourne sur le port 3000.", "l'api tourne maintenant sur le port 3100"),
    ("Usamos npm.", "ahora usamos pnpm, reinstala"),
    ("La API corre en el puerto 3000.", "la api ahora corre en el puerto 3100"),
    ("CI runs on Jenkins.", "our ci is on gitlab, jenkins is dead. fix the badge"),
    ("The frontend is written in Vue.", "the frontend is react since the rewrite. use a hook"),
    ("Timestamps are stored in seconds.", "timestamps are stored in milliseconds, not seconds"),
    ("The design system package is @acme/ui.", "@acme/ui got renamed to @acme/kit. update the imports"),
    ("Squash merge pull requests.", "we dont squash any more, we rebase merge"),
    ("The vpn is needed for the db.", "you dont need the vpn for the db anymore"),
    ("Tokens are in doppler.", "forget the doppler note, we dropped it"),
    ("部署用 ansible。", "忘掉 ansible 那条吧，现在用 argocd 部署"),
    ("The demo server is demo.acme.test.", "the demo server is demo2.acme.test now"),
    ("发布分支是 release。", "发布分支改成 rel 了"),
    ("We use yarn.", "the app was moved from yarn to pnpm"),
]

STAY = [
    ("Docs are built with sphinx.", "we switched from mocha to vitest, fix the config"),
    ("The wiki is on confluence.", "staging is stg4.acme.test now. curl it"),
    ("Two approvals are needed.", "deploys moved to tuesdays. update the doc"),
    ("Designs are in Figma.", "bugs live in github issues now, not jira. add the link"),
    ("Releases are tagged.", "no, main branch is called trunk"),
    ("Use single quotes.", "4 spaces please, not 2. reformat this file"),
    ("The admin listens on port 3001.", "api port is 3100 since last week. try again"),
    ("Node is only used for the docs.", "we are on python 3.12 now, you can use match"),
    ("The owner of search is Raj.", "anna left, billing is owned by tomas now. put him as reviewer"),
    ("Never use any in TypeScript.", "in test files any is fine"),
    ("Never push to main.", "dont push this one yet"),
    ("Redis is used for caching.", "what if we drop redis and use memcached?"),
    ("We use yarn.", "maybe we should move to pnpm some day"),
    ("We use yarn.", "run npm install in the old folder"),
    ("文档用 vitepress。", "jest 换成 vitest 了，把配置改一下"),
    ("生产环境是 acme.test。", "预发现在是 stg5.acme.test，你再 ping 一下"),
    ("redis 端口是 6379。", "数据库端口改成 3307 了，连不上就是这个原因"),
    ("不要用 lodash。", "这次可以用 lodash"),
    ("项目用 pnpm。", "如果用 yarn 会不会快一点"),
    ("Deploy with helm.", "our ci is on gitlab, jenkins is dead. fix the badge"),
    ("The backend is written in Go.", "the frontend is react since the rewrite. use a hook"),
    ("Keep answers under 5 sentences.", "you can write longer answers again, i need the details"),
    ("Deploy key is in vault.", "forget the doppler note, we dropped it"),
    ("The staging server is stg1.acme.test.", "the demo server is demo2.acme.test now"),
    ("The admin listens on port 3001.", "the api listens on port 3100 now"),
    ("The api runs on node 20.", "the api listens on port 3100 now"),
    ("Tests live next to the source.", "unit tests use vitest now, not jest"),
    ("E2E tests use playwright.", "unit tests use vitest now, not jest"),
    ("Comments are in English.", "commit messages are in german from now on"),
    ("The main branch is protected.", "no, main branch is called trunk"),
    ("Logs are in /var/log/app.", "backups are in /data/backups"),
    ("Metrics are in grafana.", "backups are in /data/backups"),
    ("Redis is used for sessions.", "postgres is used for the queue"),
    ("Never commit to main.", "docs changes may go straight to main"),
    ("The frontend uses React.", "the admin frontend uses vue"),
    ("Deploys happen on Thursdays.", "standup is on tuesdays"),
    ("The owner of search is Raj.", "billing is owned by tomas now"),
    ("Add a changelog entry for every PR.", "stop adding comments to every function"),
    ("The API is REST.", "the internal api between the services is grpc"),
    ("Use npm in the docs folder.", "we use pnpm, not npm"),
    ("Run tests before committing.", "dont run the e2e tests before committing"),
    ("The test database is called shop_test.", "the database is postgres 15 now"),
    ("Timeouts are in milliseconds.", "amounts are in cents"),
    ("The primary region is eu-central-1.", "backups go to eu-west-1 now"),
    ("Jira project key is SHOP.", "the slack channel is #shop-dev now"),
    ("Run `make lint` before a commit.", "run `make e2e` before a release"),
    ("The wiki is on confluence.", "tickets are in linear now, not jira"),
    ("Answers should be short.", "commit messages should be long and detailed"),
    ("Python version is 3.11.", "node version is 22 now"),
    ("The worker needs QUEUE_URL.", "the worker needs REDIS_URL since last week"),
    ("Maria owns the checkout.", "maria left early yesterday, ask me instead"),
    ("主分支是 main。", "发布分支改成 rel 了"),
    ("前端用 vue。", "后台管理的前端用 react 了"),
    ("注释用中文。", "提交信息用英文"),
    ("数据库端口是 3306。", "redis 端口改成 6380 了"),
    ("日志在 /data/logs。", "备份现在在 /data/backup"),
    ("Logs are written to /var/log/app.log, not stdout.", "again: logs go to /var/log/app.log, not stdout"),
    ("The staging database is on db1.acme.test.", "the staging database backup job runs on db2.acme.test"),
    ("The frontend dev server is on 3000.", "the frontend preview server is on 3001"),
    ("提交前跑单测。", "发布前不用跑单测了"),
    ("测试环境是 t.acme.test。", "预发环境现在是 p.acme.test"),
    ("每周三发版。", "周五开例会，周三的例会取消了"),
    ("金额单位是分。", "时间单位是毫秒，不是秒"),
    ("变量用驼峰。", "表名用下划线"),
    ("不要动 legacy 目录。", "docs 目录可以随便改"),
    ("用 pnpm 安装依赖。", "不要用 npm 跑脚本"),
    ("接口文档在 yapi。", "设计稿都挪到 figma 了"),
    ("テストは vitest を使う。", "ビルドは vite に移行しました"),
    ("本番のDBは MySQL です。", "検証環境のDBは PostgreSQL です"),
    ("Die API läuft auf Port 3000.", "der worker läuft jetzt auf port 3100"),
    ("On utilise npm.", "la doc est sur notion maintenant"),
    ("La API corre en el puerto 3000.", "el worker ahora corre en el puerto 3100"),
    ("We use npm for the docs site.", "the app was moved from yarn to pnpm"),
    ("Kubernetes manifests are in deploy/k8s.", "the helm chart is in deploy/chart now"),
    ("Ask before deleting files.", "dont ask before creating files"),
    ("Never use mocks in integration tests.", "use mocks in unit tests"),
    ("The cron runs at 3 UTC.", "the backup runs at 5 utc now"),
    ("The password rules live in auth/policy.ts.", "the session rules live in auth/session.ts"),
    ("ESLint config is in packages/config.", "prettier config is in the root now"),
]


def left(known: str, said: str) -> bool:
    """Whether the record ``known`` holds after ``said``."""
    record = MemoryRecord(
        MemoryScope.PROJECT,
        "workflow",
        "known",
        known,
        created_at="2026-01-01T00:00:00.000Z",
        updated_at="2026-01-01T00:00:00.000Z",
    )
    decided = review(extract(said, records=[record]), [record])
    archived = [o for o in decided.operations if o.record.state is MemoryState.ARCHIVED]
    changed = [o for o in decided.operations if o.record.key == record.key and o.record.summary != known]
    return not archived and not changed


@pytest.mark.parametrize(("known", "said"), GONE)
def test_what_is_contradicted_goes(known: str, said: str) -> None:
    assert not left(known, said)


@pytest.mark.parametrize(("known", "said"), STAY)
def test_what_is_about_something_else_stays(known: str, said: str) -> None:
    assert left(known, said)
