import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startWorker } from '../../src/compose/worker.ts'
import { sql } from '../../src/db/sql.ts'
import { createLogger } from '../../src/platform/log.ts'
import { createTransport, send, sendDue } from '../../src/platform/mail.ts'
import { openTestApp } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { startNmi } from '../harness/nmi.ts'
import { startSmtp } from '../harness/smtp.ts'
import { APPROVED, cart, checkout, openShop } from '../modules/checkout/setup.ts'

/** Longer than any line about one failure, and shorter than a client, a statement with its values or a page of rows. */
const LINE_MAX = 6_000

const SECRETS = {
  NMI_SECURITY_KEY: 'the-security-key-of-this-test-1',
  smtp: 'the-password-of-the-mail-server',
  customer: 'private.person@customers.example',
  value: 'a-value-that-a-caller-sent',
  gateway: 'the-gateway-credential-of-a-merchant',
}

/** The words of a statement, as only SQL has them beside each other. */
const STATEMENT =
  /\b(select|update|delete from|insert into)\b[^"]{0,300}\b(from|set|where|values|returning)\b/i

/** Members of the driver's client and of its errors. */
const OF_THE_DRIVER =
  /parsedStatements|connectionParameters|secretKey|processID|_ending|namedQueries|"(?:client|detail|parameters|routine|where)":/

interface Line {
  level: number
  msg: string
  code?: string
  pool?: string
  route?: string
  call?: string
  err?: { type: string; code?: string; message: string; stack?: string }
}

function watchLog() {
  const texts: string[] = []
  const logger = createLogger('trace', { write: (line: string) => void texts.push(line) })
  const lines = (): Line[] => texts.map((text) => JSON.parse(text))
  const find = (msg: string) => lines().find((line) => line.msg === msg)
  return { logger, texts, lines, find }
}

async function open(t: TestContext) {
  const log = watchLog()
  const smtp = await startSmtp(t, {
    onAuth: (_auth, _session, done) => done(null, { user: 'mailer' }),
    onRcptTo: ({ address }, _session, done) => done(new Error(`no such mailbox: ${address}`)),
  })
  const nmi = await startNmi(SECRETS.NMI_SECURITY_KEY)
  t.after(() => nmi.close())
  const mailer = new URL(smtp.url)
  mailer.username = 'mailer'
  mailer.password = SECRETS.smtp
  const app = await openTestApp(t, {
    logger: log.logger,
    env: {
      PAYMENT_GATEWAY: 'nmi',
      NMI_URL: nmi.url,
      NMI_SECURITY_KEY: SECRETS.NMI_SECURITY_KEY,
      SMTP_URL: mailer.href,
      MAIL_FROM: 'Shop <shop@fairdock.example>',
    },
  })
  const admin = await app.database.openAdmin()
  return { app, log, admin, nmi, mailer: mailer.href }
}

const BACKENDS = `from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

test('a log line about a failure names code, message and work, and holds no secret and no statement', async (t) => {
  const { app, log, admin, nmi, mailer } = await open(t)
  const shop = await openShop(app)
  const { merchant } = shop

  await t.test('the log line of an idle connection that was lost', async () => {
    await admin.query(`select pg_terminate_backend(pid) ${BACKENDS}`)
    await until('it is told', async () => log.find('a database connection was lost') !== undefined)
    const told = log.find('a database connection was lost')
    assert.deepEqual([told?.level, told?.err?.code], [40, '57P01'])
    assert.match(told?.pool ?? '', /^(app|worker|operator|limits)$/)
  })

  await t.test('the log line of a connection that was lost under a statement', async () => {
    await until('reads are served again', async () => {
      return (await merchant.get('/v1/merchant/catalog/products')).status === 200
    })
    await admin.query('begin; lock table products')
    const waiting = merchant.get('/v1/merchant/catalog/products')
    const blocked = `${BACKENDS} and wait_event_type = 'Lock'`
    await until('it waits', async () => (await admin.query(`select ${blocked}`)).rows.length > 0)
    await admin.query(`select pg_terminate_backend(pid) ${blocked}`)
    assert.equal((await waiting).status, 503)
    await admin.query('rollback')
    const told = log.find('a request failed')
    assert.deepEqual(
      [told?.route, told?.code],
      ['/v1/merchant/catalog/products', 'service_unavailable'],
    )
    assert.equal(told?.err?.code, '57P01')
  })

  await t.test('the log line of a statement that failed', async () => {
    await admin.query('alter table audit_log rename to gone')
    assert.equal((await merchant.get('/v1/my/audit')).status, 503)
    await admin.query('alter table gone rename to audit_log')
    const told = log.lines().find(({ route }) => route === '/v1/my/audit')
    assert.deepEqual([told?.err?.code, told?.code], ['42P01', 'service_unavailable'])
    const wrong = app.runtime.database.directory.run(sql`select ${SECRETS.value}::uuid`)
    await wrong.catch((err) => log.logger.error({ err }, 'a wrong value'))
    const { err } = log.find('a wrong value') ?? {}
    assert.deepEqual(
      [err?.code, err?.message],
      ['22P02', 'invalid input syntax for type uuid: "…"'],
    )
  })

  await t.test(
    "the log line of a merchant's credential that a gateway refuses, or that could not be tried",
    async () => {
      const { tenant } = shop
      const rule = `/v1/entitlements/tenants/${tenant}/features/dedicated_gateway`
      assert.equal((await app.operator.put(rule, { state: 'allow' })).status, 200)
      const set = (security_key: string) =>
        merchant.put('/v1/my/gateway', { gateway: 'nmi', credentials: { security_key } })
      assert.equal((await set(SECRETS.gateway)).status, 422)
      nmi.failNext('reset_before')
      assert.equal((await set(SECRETS.gateway)).status, 503)
      nmi.failNext({ body: `not XML: ${SECRETS.gateway}` })
      assert.equal((await set(SECRETS.gateway)).status, 503)
      const told = log.lines().filter(({ route }) => route === '/v1/my/gateway')
      assert.ok(told.some(({ code }) => code === 'gateway_unavailable'))
      assert.equal((await set(`${SECRETS.gateway}\n`)).status, 400)
    },
  )

  await t.test('the log line of a provider that is down', async () => {
    const body = { ...cart(shop.variants[1_000]), card: APPROVED, email: SECRETS.customer }
    nmi.failNext('reset_before', 'reset_before', 'reset_before')
    assert.equal((await checkout(app, shop, body)).status, 503)
    const told = log.find('a payment gateway gave no answer')
    assert.equal(told?.level, 40)
    assert.ok(told?.call, 'what was being done')
  })

  await t.test(
    'the log line of mail that is refused, and of a mail server that is down',
    async () => {
      const { database, workerDatabase } = app.runtime
      await database.directory.transaction('mail', (tx) =>
        send(tx, { to: SECRETS.customer, subject: 'Private', text: SECRETS.value }),
      )
      const worker = await startWorker(app.runtime)
      await until('it was refused', async () => {
        const { rows } = await admin.query('select last_error from mails')
        return /no such mailbox/.test(rows[0]?.last_error ?? '')
      })
      await worker.stop()
      await admin.query('update mails set next_attempt_at = now()')
      const down = new URL(mailer)
      down.port = '9'
      await sendDue(workerDatabase, createTransport(down.href, 'Shop <shop@fairdock.example>'))
    },
  )

  await t.test('the log line of any failure has no secret and no statement', () => {
    const secrets = [
      ...Object.values(SECRETS),
      decodeURIComponent(new URL(app.database.url).password),
    ]
    assert.ok(log.texts.length > 10)
    for (const text of log.texts) {
      assert.ok(text.length < LINE_MAX, `${text.length}: ${text.slice(0, 500)}`)
      for (const secret of secrets) assert.ok(secret === '' || !text.includes(secret), text)
      assert.doesNotMatch(text, OF_THE_DRIVER)
      assert.doesNotMatch(text, STATEMENT)
    }
    for (const { level, msg, err } of log.lines()) {
      if (level < 40) continue
      assert.ok(msg.length > 0)
      if (err !== undefined) assert.ok(err.type && err.message, msg)
      const [first = 'at '] = (err?.stack ?? '').split('\n').filter(Boolean)
      assert.match(first, /^at /, 'a stack without its message')
    }
  })
})
