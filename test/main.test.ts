import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { describeAll, describeRole, findHelp, isRole, ROLES } from '../src/help.ts'
import { openEmptyDatabase, openTestDatabase, TEST_SECRET_KEY } from './harness/database.ts'
import { emptyFolder, postmasterPid } from './harness/embedded.ts'
import { until } from './harness/eventually.ts'
import { installedFolder } from './harness/installed-folder.ts'
import { freePort, holdPort } from './harness/ports.ts'
import { startProcess, type TestProcess } from './harness/process.ts'
import { openProxy } from './harness/proxy.ts'

const run = promisify(execFile)

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

/** On the server of all tests. Roles belong to the server, so their passwords must not change. */
const onTestServer = async (t: TestContext) => ({
  DATABASE_URL: await openEmptyDatabase(t),
  SECRET_KEY: TEST_SECRET_KEY,
})

/** The same with all migrations applied, for tests that are not about them. */
const onMigrated = async (t: TestContext) => ({
  DATABASE_URL: (await openTestDatabase(t)).url,
  SECRET_KEY: TEST_SECRET_KEY,
})

/** The output of a start. */
function readWelcome(output: string) {
  const key = /Merchant key +(\S+)/.exec(output)?.[1] ?? ''
  const [, email = '', password = ''] = /Owner +(\S+) +(\S+)/.exec(output) ?? []
  return { key, email, password }
}

/** Libraries for what many installations never do. They are loaded when it is first done. */
const LOADED_LATER = [
  '@aws-sdk/client-s3',
  'ioredis',
  'nodemailer',
  'pdfkit',
  'sharp',
  'typebox/build/value',
  'undici',
]

/** Writes the path of each file of a library that a process loads. */
const TELL_LOADED = `
  import { registerHooks } from 'node:module'
  registerHooks({
    load: (url, context, next) => {
      const path = url.split('/node_modules/')[1]
      if (path !== undefined) console.log(path)
      return next(url, context)
    },
  })`

type Welcome = ReturnType<typeof readWelcome>

async function isUsable(url: string, { key, email, password }: Welcome) {
  const store = await fetch(`${url}/v1/my/store`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(store.status, 200, await store.text())
  const login = await fetch(`${url}/v1/identity/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  assert.equal(login.status, 200, await login.text())
}

async function ends(process: TestProcess, code: number) {
  const began = performance.now()
  const exit = await process.exit
  assert.equal(exit.code, code, process.output())
  // Some of them must start first, which takes time on a busy machine.
  assert.ok(performance.now() - began < 180_000)
}

test('the process needs only a folder: it starts, stops, dies and starts again', async (t) => {
  const dataDir = await emptyFolder(t)
  const first = await startProcess(t, { dataDir })
  const { url, ms } = await first.ready()
  const welcome = readWelcome(first.output())
  await isUsable(url, welcome)
  assert.match(first.output(), /API reference +http\S+\/docs/)
  assert.match(
    first.output(),
    /Gift card +[0-9A-Z]{4}(-[0-9A-Z]{4}){3} +\$50\.00 at http:\/\/demo\.localhost:\d+\n/,
  )
  const [, creditPage = ''] = /Store credit +\$15\.00 .*: (http\S+)\n/.exec(first.output()) ?? []
  assert.equal((await fetch(creditPage)).status, 200)
  for (const path of ['/readyz', '/docs', '/openapi.json']) {
    assert.equal((await fetch(url + path)).status, 200, path)
  }
  assert.equal((await fetch(`${url}/metrics`)).status, 404)
  assert.equal(await modeOf(join(dataDir, 'secrets.json')), '600')
  assert.equal(await modeOf(join(dataDir, 'demo.json')), '600')
  first.kill('SIGTERM')
  first.kill('SIGTERM')
  await ends(first, 0)

  const second = await startProcess(t, { dataDir })
  const again = await second.ready()
  assert.deepEqual(readWelcome(second.output()), welcome)
  await isUsable(again.url, welcome)
  second.kill('SIGKILL')
  assert.equal((await second.exit).signal, 'SIGKILL')

  const third = await startProcess(t, { dataDir })
  const after = await third.ready()
  await isUsable(after.url, welcome)
  third.kill('SIGINT')
  await ends(third, 0)

  const secrets = join(dataDir, 'secrets.json')
  await chmod(secrets, 0o644)
  const doctor = await startProcess(t, { dataDir, role: 'doctor' })
  await ends(doctor, 1)
  assert.match(doctor.output(), /ok +migrations[\s\S]*FAIL +secrets .* has mode 0644/)
  assert.equal(await modeOf(secrets), '644', 'the doctor mends nothing')
  await rm(secrets)
  const lost = await startProcess(t, { dataDir, role: 'doctor' })
  await ends(lost, 1)
  assert.match(
    lost.output(),
    /FAIL +server +its password is derived from[\s\S]*FAIL +secrets .* does not exist/,
  )
  await assert.rejects(stat(secrets), { code: 'ENOENT' })
  const figures = [ms, again.ms, after.ms].map((each) => `${Math.round(each)} ms`)
  t.diagnostic(`ready on a new folder after ${figures.join(', on an old one ')} (killed before)`)
})

test('a changed SECRET_KEY is reported as such by the doctor and the start, and leaves nothing running', async (t) => {
  const dataDir = await installedFolder(t)
  const env = { SECRET_KEY: 'another secret key of 32 characters or more' }
  const doctor = await startProcess(t, { dataDir, env, role: 'doctor' })
  await ends(doctor, 1)
  assert.match(doctor.output(), /^FAIL +secret key +SECRET_KEY was changed: .* Restore the former/m)
  const refused = await startProcess(t, { dataDir, env })
  await ends(refused, 1)
  assert.match(refused.output(), /^fairdock: The database in .* Restore the SECRET_KEY .*\n$/)
  await assert.rejects(postmasterPid(dataDir), { code: 'ENOENT' })
})

test('the doctor reports a missing folder, and creates nothing', async (t) => {
  const dataDir = join(await emptyFolder(t), 'typo')
  const doctor = await startProcess(t, { dataDir, role: 'doctor' })
  await ends(doctor, 1)
  assert.match(doctor.output(), /FAIL +server +there is no database in \S+typo\. Check DATA_DIR/)
  assert.match(doctor.output(), /FAIL +secrets +\S+secrets\.json does not exist/)
  await assert.rejects(stat(dataDir), { code: 'ENOENT' })
})

describe('wrong settings', () => {
  async function refuses(t: TestContext, env: Record<string, string>, role = 'serve') {
    const refused = await startProcess(t, { env, role })
    await ends(refused, 1)
    return refused.output()
  }

  test('are all named at once, with what was expected, and no value is shown', async (t) => {
    const secret = 'tooshort-secret'
    const output = await refuses(t, {
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
      TRUST_PROXY: '10.0.0.0/8, 0.0.0.0/0',
      SECRET_KEY: secret,
      DATABASE_URL: `mysql://user:${secret}@host/db`,
      REDIS_URL: `http://${secret}@host`,
      WEBHOOK_RETRY_LADDER: 'soon',
      PAYMENT_GATEWAY: 'nmi',
    })
    for (const said of [
      'PORT must be a whole number from 0 to 65535',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      'TRUST_PROXY must be a comma-separated list of addresses or CIDR ranges',
      'SECRET_KEY must be at least 32 characters',
      'DATABASE_URL must be a postgres or postgresql URL',
      'REDIS_URL must be a redis or rediss URL',
      'WEBHOOK_RETRY_LADDER must be durations such as 1m,5m,30m,2h,12h',
      'NMI_SECURITY_KEY must be set when PAYMENT_GATEWAY is nmi',
    ]) {
      assert.ok(output.includes(said), `${said} is not in ${output}`)
    }
    assert.ok(!output.includes(secret))
    assert.doesNotMatch(output, /\n {4}at /)
  })

  test('include a token that no header can carry, and one secret that is used for two purposes', async (t) => {
    const token = 'a token that is long enough for all'
    const SECRET_KEY = token
    const output = await refuses(t, {
      OPERATOR_TOKEN: `${token}\r`,
      STOREFRONT_TOKEN: token,
      SECRET_KEY,
    })
    assert.match(output, /OPERATOR_TOKEN must be at least 32 ASCII characters, without a space at/)
    assert.match(output, /STOREFRONT_TOKEN and SECRET_KEY must be three different secrets/)
    assert.ok(!output.includes(token))
  })

  test('missing secrets, and card numbers sent without TLS, are wrong settings in production', async (t) => {
    const output = await refuses(t, {
      NODE_ENV: 'production',
      NMI_URL: 'HTTP://nmi.example',
      PUBLIC_URL: 'http://shops.example',
    })
    assert.match(output, /NMI_URL must be https/)
    assert.match(output, /PUBLIC_URL must be https in production/)
    for (const name of ['OPERATOR_TOKEN', 'STOREFRONT_TOKEN', 'SECRET_KEY', 'PAYMENT_GATEWAY']) {
      assert.match(output, new RegExp(`${name} must be`))
    }
  })

  test('include an unknown role', async (t) => {
    const said = /the role must be one of serve, api, worker, storefront, migrate, seed, doctor/
    assert.match(await refuses(t, {}, 'server'), said)
  })

  test('include damaged secrets, which are neither shown nor created again', async (t) => {
    const dataDir = await emptyFolder(t)
    const path = join(dataDir, 'secrets.json')
    await writeFile(path, '{"SECRET_KEY":"half a secret')
    const refused = await startProcess(t, { dataDir })
    await ends(refused, 1)
    assert.match(refused.output(), /secrets\.json does not contain the three secrets; restore it/)
    assert.ok(!refused.output().includes('half a secret'))
    assert.equal(await readFile(path, 'utf8'), '{"SECRET_KEY":"half a secret')
  })

  test('include a port that is taken: one line, and nothing is left running', async (t) => {
    const { port, free } = await holdPort()
    t.after(free)
    const dataDir = await emptyFolder(t)
    const refused = await startProcess(t, { dataDir, env: { PORT: String(port) } })
    await ends(refused, 1)
    const said = `another program listens on 127.0.0.1:${port}, perhaps a Fairdock that runs already`
    assert.equal(
      refused.output(),
      `fairdock: ${said}; stop it, or choose another port: PORT=${port + 1}\n`,
    )
    await assert.rejects(postmasterPid(dataDir), { code: 'ENOENT' })
  })
})

describe('the database of DATABASE_URL', () => {
  test('may start later than the process, which then continues by itself', async (t) => {
    const { DATABASE_URL, SECRET_KEY } = await onTestServer(t)
    const address = new URL(DATABASE_URL)
    const proxy = await openProxy(t, Number(address.port))
    await proxy.cut()
    address.host = `127.0.0.1:${proxy.port}`
    const port = await freePort()
    const env = { DATABASE_URL: address.href, SECRET_KEY, PORT: String(port) }
    const waiting = await startProcess(t, { env })
    const base = `http://127.0.0.1:${port}`
    const statusOf = (path: string, headers = {}) =>
      fetch(base + path, { headers }).then(
        ({ status }) => status,
        () => 0,
      )
    await until('it is up', async () => (await statusOf('/healthz')) === 200)
    const ready = await fetch(`${base}/readyz`)
    assert.equal(ready.status, 503)
    const { failing } = (await ready.json()) as { failing: string[] }
    assert.ok(failing.includes('database'))
    assert.equal(await statusOf('/v1/my/store', { authorization: 'Bearer fdk_a_b' }), 503)
    await proxy.mend()
    const { url } = await waiting.ready()
    await isUsable(url, readWelcome(waiting.output()))
    assert.equal(await statusOf('/readyz'), 200)
  })

  test('a database that refuses the login is reported in one line, without a stack', async (t) => {
    const { DATABASE_URL, SECRET_KEY } = await onTestServer(t)
    const port = await freePort()
    const wrong: [Partial<URL>, RegExp][] = [
      [
        { password: 'wrong' },
        /^fairdock: password authentication failed for user "\w+"\. Check that/,
      ],
      [{ pathname: '/none' }, /^fairdock: database "none" does not exist\. Check that/],
      [{ host: `localhost:${port}` }, /^fairdock: connect ECONNREFUSED \S+\. Check that/],
    ]
    for (const [part, said] of wrong) {
      const url = Object.assign(new URL(DATABASE_URL), part)
      const env = { DATABASE_URL: url.href, SECRET_KEY }
      const once = await startProcess(t, { role: 'migrate', env })
      await ends(once, 1)
      assert.match(once.output(), said)
      assert.match(once.output(), /^[^\n]+ DATABASE_URL is correct\n$/)
    }
  })

  test('is migrated, seeded and examined by separate roles', async (t) => {
    const dataDir = await emptyFolder(t)
    const env = await onTestServer(t)
    const runs = async (role: string, code: number) => {
      const once = await startProcess(t, { role, dataDir, env })
      await ends(once, code)
      return once.output()
    }
    assert.match(await runs('doctor', 1), /FAIL +migrations +none is applied/)
    assert.match(await runs('migrate', 0), /^Applied (\d+) of \1 migrations\. .*\n$/)
    assert.match(await runs('migrate', 0), /^The database is up to date: all \d+ migrations .*\n$/)
    assert.doesNotMatch(await runs('doctor', 0), /FAIL/)
    assert.equal(await runs('seed', 0), 'Created the demo stores: demo.\n')
    const demo = await readFile(join(dataDir, 'demo.json'), 'utf8')
    assert.equal(await runs('seed', 0), 'The demo stores exist already.\n')
    assert.equal(await readFile(join(dataDir, 'demo.json'), 'utf8'), demo)

    // The state after a start that was killed before it had the key.
    const { merchant_key, ...half } = JSON.parse(demo)
    await writeFile(join(dataDir, 'demo.json'), JSON.stringify({ ...half, merchant_key: '' }))
    const env2 = { ...env, MIGRATE_ON_START: 'false' }
    const serving = await startProcess(t, { dataDir, env: env2 })
    const { url } = await serving.ready()
    const welcome = readWelcome(serving.output())
    assert.equal(welcome.password, half.owner.password)
    assert.notEqual(welcome.key, merchant_key)
    await isUsable(url, welcome)
  })
})

describe('fairdock', () => {
  const ask = async (t: TestContext, ...args: string[]) => {
    const command = ['node', 'scripts/fairdock.mjs', ...args]
    // A configuration that every role refuses, and a folder that cannot be made.
    const env = { DATABASE_URL: 'none', PORT: 'none', DATA_DIR: '/dev/null/none' }
    const asked = await startProcess(t, { command, env })
    await ends(asked, 0)
    return asked.output()
  }

  test('explains itself and each of its roles without any configuration', async (t) => {
    const [all, ...same] = await Promise.all([ask(t), ask(t, '--help'), ask(t, 'help', 'none')])
    assert.equal(all, describeAll())
    assert.deepEqual(new Set(same), new Set([all]))
    for (const role of Object.keys(ROLES).filter(isRole)) {
      assert.match(all, new RegExp(`^  ${role} `, 'm'))
      assert.equal(findHelp(['help', role]), role)
      assert.equal(findHelp([role, '--help']), role)
      assert.equal(findHelp([role]), null)
      assert.ok(describeRole(role).startsWith(`fairdock ${role}`))
    }
    assert.equal(findHelp(['verify-ledger', 'help']), null, 'a store may have that name')
    const abouts = await Promise.all([ask(t, 'help', 'listen'), ask(t, 'doctor', '--help')])
    assert.match(abouts[0], /^fairdock listen .*--forward-to/)
    assert.equal(abouts[1], describeRole('doctor'))
  })

  test('says that its worker runs, and in production that it sends no mail', async (t) => {
    const env = {
      ...(await onMigrated(t)),
      NODE_ENV: 'production',
      OPERATOR_TOKEN: 'an operator token for the production',
      STOREFRONT_TOKEN: 'a storefront token for the production',
      PAYMENT_GATEWAY: 'simulated',
    }
    const worker = await startProcess(t, { role: 'worker', env })
    await until('it says so', () =>
      /^The worker is running, with \d+ loops\.$/m.test(worker.output()),
    )
    assert.equal(worker.output().match(/SMTP_URL is not set: mails wait/g)?.length, 1)
    worker.kill('SIGTERM')
    await ends(worker, 0)
  })
})

describe('a process that serves', () => {
  test('finishes running requests when it is told to stop', async (t) => {
    const env = await onMigrated(t)
    const serving = await startProcess(t, { env })
    const { url } = await serving.ready()
    const { key } = readWelcome(serving.output())
    const admin = new pg.Client({ connectionString: env.DATABASE_URL })
    admin.on('error', () => {})
    await admin.connect()
    t.after(() => admin.end().catch(() => {}))
    await admin.query('begin')
    await admin.query('lock table audit_log in access exclusive mode')
    const headers = { authorization: `Bearer ${key}` }
    const slow = fetch(`${url}/v1/my/audit`, { headers })
    const isWaiting = async () => {
      // By the list or the count, whichever comes first.
      const { rowCount } = await admin.query(`
        select from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database()
           and application_name like '%:app'`)
      return rowCount !== 0
    }
    await until('the request waits for the lock', isWaiting)
    serving.kill('SIGTERM')
    serving.kill('SIGTERM')
    const isClosed = () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      )
    await until('it takes no more', isClosed)
    await admin.query('rollback')
    assert.equal((await slow).status, 200)
    await ends(serving, 0)
  })

  test('shows its metrics on their own port alone', async (t) => {
    const port = await freePort()
    const env = { ...(await onMigrated(t)), METRICS_PORT: String(port), LOG_LEVEL: 'info' }
    const serving = await startProcess(t, { env })
    const { url } = await serving.ready()
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    assert.match(metrics, /^# HELP /m)
    const page = get(url, { headers: { host: 'demo.localhost' } })
    const [answer] = await once(page, 'response')
    answer.resume()
    const counted = /^storefront_page_duration_seconds_count\{page="home",status="200"\} 1$/m
    await until('the page is counted', async () =>
      counted.test(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    )
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 404)
    assert.equal((await fetch(`${url}/metrics`)).status, 404)
    const isLogged = () => /"route":"none","path":"\/metrics"/.test(serving.output())
    await until('the request is logged, with its path', isLogged)
    await fetch(`${url}/${'a'.repeat(300)}?token=hidden`)
    await until('so is a long one', () => serving.output().includes(`"path":"/${'a'.repeat(199)}"`))
    assert.doesNotMatch(serving.output(), /hidden/)
  })

  test('loads no library that it may never need', async () => {
    const loads = ['--import', `data:text/javascript,${encodeURIComponent(TELL_LOADED)}`]
    const start = "await import('./src/serve.ts'); await import('./src/storefront.ts')"
    const { stdout } = await run(process.execPath, [...loads, '--eval', start])
    const isLoaded = (name: string) =>
      stdout.split('\n').some((path) => path.startsWith(`${name}/`))
    assert.ok(isLoaded('typebox') && isLoaded('fastify'))
    assert.deepEqual(LOADED_LATER.filter(isLoaded), [])
  })

  test('logs only what its level allows', async (t) => {
    const env = { ...(await onMigrated(t)), LOG_LEVEL: 'silent' }
    const serving = await startProcess(t, { env, role: 'api' })
    const { url } = await serving.ready()
    await fetch(`${url}/healthz`)
    serving.kill('SIGTERM')
    await ends(serving, 0)
    assert.doesNotMatch(serving.output(), /"level"/)
  })

  for (const [what, fault] of [
    [
      'an uncaught error',
      "process.on('SIGUSR2', () => { throw new Error('boom 4111111111111111') })",
    ],
    [
      'an unhandled rejection',
      "process.on('SIGUSR2', () => void Promise.reject(new Error('boom 4111111111111111')))",
    ],
  ] as const) {
    test(`ends with 1 at ${what}, and says why in one line`, async (t) => {
      const env = await onMigrated(t)
      const serving = await startProcess(t, { env, role: 'api', before: fault })
      await serving.ready()
      serving.kill('SIGUSR2')
      await ends(serving, 1)
      const last = JSON.parse(serving.output().trim().split('\n').at(-1) ?? '')
      assert.equal(last.level, 60)
      assert.equal(last.err.message, 'boom [card number]')
    })
  }
})
