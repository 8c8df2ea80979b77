import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { openPool } from '../../src/db/pool.ts'
import { createLogger, scrub } from '../../src/platform/log.ts'
import { RepeatedWarnings } from '../../src/platform/repeated-warnings.ts'
import { openTestApp } from '../harness/app.ts'
import { openTestDatabase } from '../harness/database.ts'
import { eventually } from '../harness/eventually.ts'

/** Test numbers of the networks: Visa of 13, 16 and 19 digits, Mastercard, Amex, Diners, UnionPay. */
const CARDS = [
  '4222222222222',
  '4111111111111111',
  '4000000000000000006',
  '5555555555554444',
  '2223003122003222',
  '378282246310005',
  '30569309025904',
  '6200000000000005',
]

const inGroups = (card: string, by: string) => card.match(/.{1,4}/g)?.join(by) ?? ''

const SHAPES: Record<string, (card: string) => string> = {
  bare: (card) => card,
  spaced: (card) => inGroups(card, ' '),
  dashed: (card) => inGroups(card, '-'),
  dotted: (card) => inGroups(card, '.'),
  'spaced twice': (card) => inGroups(card, '  '),
  'with no-break spaces': (card) => inGroups(card, '\u00a0'),
  'digit by digit': (card) => [...card].join(' '),
  'in lines': (card) => inGroups(card, '\n'),
  'inside JSON': (card) => JSON.stringify({ card: { ccnumber: card, cvv: '123' } }),
  'inside JSON inside JSON': (card) => JSON.stringify(JSON.stringify({ ccnumber: card })),
  'before its expiry': (card) => `${card} 12/27`,
  'before its expiry and code': (card) => `${inGroups(card, ' ')} 12 27 123`,
  'behind an amount': (card) => `1999 ${card}`,
  'glued to other digits': (card) => `90${card}01`,
  'in a sentence': (card) => `the card ${card}, declined`,
  'in a list': (card) => `${card},${card}`,
}

/** The written digits alone: a card number that is still there shows, however it is spaced. */
const digitsOf = (text: string) => text.replace(/\\[nrt]|\D/g, '')

function openLog() {
  const lines: string[] = []
  const logger = createLogger('trace', { write: (line: string) => void lines.push(line) })
  return { logger, lines, text: () => lines.join('') }
}

describe('no card number leaves the log', () => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    test(name, () => {
      for (const card of CARDS) {
        const shown = scrub(shape(card))
        assert.ok(!digitsOf(shown).includes(card), `${shape(card)} became ${shown}`)
        assert.match(shown, /\[card number\]/)
      }
    })
  }

  test('a card number is removed from any field, message, error or cause', () => {
    const { logger, text, lines } = openLog()
    for (const card of CARDS) {
      const cause = Object.assign(new Error(`no such card ${card}`), { detail: card })
      logger.info({ reason: card }, `message ${card}`)
      logger.error({ err: new Error(`declined ${inGroups(card, ' ')}`, { cause }) }, 'failed')
      logger.error(new Error(`declined ${card}`))
      logger.warn({ other: new Error(`elsewhere ${card}`) })
      logger.child({ tenant: card }).warn('from a child')
      logger.info('by format %s and %j', card, { card })
    }
    assert.equal(lines.length, CARDS.length * 6)
    for (const card of CARDS) assert.ok(!digitsOf(text()).includes(card), card)
    for (const line of lines) JSON.parse(line)
  })

  test('other numbers stay as they are', () => {
    const kept = [
      '{"time":"2026-01-31T12:34:56.789Z","pid":4242,"ms":12.3}',
      'version 15.14 at 192.168.100.200:65535',
      '4111111111111112',
      '2026-01-31 12:34:56',
      ...Array.from({ length: 200 }, () => randomUUID()),
      '41111111-1111-4111-8111-111111111111',
    ]
    for (const text of kept) assert.equal(scrub(text), text)
  })

  test('a long run of digits takes little time', () => {
    const began = performance.now()
    scrub('1234567890'.repeat(100_000))
    // Takes some 300 ms; a quadratic search takes a minute on an idle machine.
    assert.ok(performance.now() - began < 20_000)
  })
})

describe('the log keeps plain fields only', () => {
  test('bodies, headers and buffers are not written, and none of them throws', () => {
    const { logger, text } = openLog()
    const secret = 'a-very-secret-value'
    const round: Record<string, unknown> = { secret }
    round.self = round
    for (const value of [Buffer.from(secret), new Uint8Array(4), { secret }, [{ secret }], round]) {
      logger.info({ body: value, headers: value, any: value, n: 1 }, 'plain')
      logger.info({ req: value, res: value }, 'plain')
    }
    logger.info({ big: 1n, made: () => secret, mark: Symbol(secret), when: new Date() }, 'odd')
    assert.ok(!text().includes(secret))
    assert.ok(!text().includes(Buffer.from(secret).join(',')))
    assert.match(text(), /"n":1/)
    assert.match(text(), /"msg":"odd"/)
  })

  test("an error's fields beside its message are not written", () => {
    const { logger, text } = openLog()
    const refused = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(secret@example.com) already exists.',
      parameters: ['secret@example.com'],
      config: { data: 'secret@example.com' },
    })
    logger.error({ err: refused }, 'failed')
    assert.ok(!text().includes('secret@example.com'))
    assert.match(text(), /"code":"23505"/)
  })

  test('a text that is no JSON is not quoted', () => {
    const { logger, text, lines } = openLog()
    const private_ = 'private'
    for (const json of [private_, `{"x": ${private_}}`, `["${private_}"`, `${private_}"\n"`]) {
      assert.throws(
        () => JSON.parse(json),
        (err) => {
          logger.error({ err }, 'a provider answered')
          logger.error({ err: new Error('no answer', { cause: err }) }, 'a provider answered')
          return true
        },
      )
    }
    assert.equal(lines.length, 8)
    assert.match(text(), /SyntaxError/)
    assert.ok(!text().includes(private_), text())
  })

  test('the client that the driver adds to an error never reaches the log', async (t) => {
    const { logger, text } = openLog()
    const { url } = await openTestDatabase(t)
    const seen: { error: Error; pool: string }[] = []
    const onError = (error: Error, pool: string) => {
      seen.push({ error, pool })
      logger.warn({ err: error, pool }, 'lost')
      pino({ level: 'warn' }, { write: (line) => void lines.push(line) }).warn({ err: error })
    }
    const lines: string[] = []
    const pool = openPool({ url, name: 'a pool', max: 1, onError })
    t.after(() => pool.end())
    const client = await pool.connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    client.release()
    await pool.query({ name: 'planned', text: 'select 1 as a_planned_statement' })
    const killer = openPool({ url, name: 'killer', max: 1 })
    await killer.query('select pg_terminate_backend($1)', [rows[0].pid])
    await killer.end()
    await eventually(async () => assert.equal(seen.length, 1))
    assert.equal(seen[0]?.pool, 'a pool')
    for (const told of [text(), lines.join('')]) {
      assert.match(told, /57P01/)
      assert.doesNotMatch(told, /a_planned_statement|secretKey|processID|parsedStatements/)
    }
  })

  test('any value can be logged as an error, also a cycle of causes', () => {
    const { logger, lines } = openLog()
    const round = new Error('round')
    round.cause = round
    const bundle = new AggregateError([new Error('the first of many')])
    for (const err of [round, bundle, 'text', undefined, null, 5, { a: 1 }, Buffer.from('x')]) {
      logger.error({ err }, 'failed')
    }
    assert.equal(lines.length, 8)
    assert.match(lines[1] ?? '', /the first of many/)
    assert.ok(!lines.join('').includes('"a":1'))
  })

  test('a very long message is cut', () => {
    const { logger, text } = openLog()
    logger.error({ err: new Error('x'.repeat(1_000_000)) }, 'failed')
    assert.ok(text().length < 20_000)
  })
})

test('a request is logged by its pattern, without its path, query, headers and body', async (t) => {
  const { logger, lines, text } = openLog()
  const app = await openTestApp(t, { logger })
  const caller = app.as({
    authorization: 'Bearer header-secret',
    cookie: '__Host-fd_session=cookie-secret',
    'x-operator-token': 'token-secret',
    'user-agent': 'agent-secret',
  })
  await caller.get('/v1/stores/path-secret/audit?token=query-secret')
  await caller.get('/nothing/here?token=query-secret')
  await caller.get('/%zz/path-secret?token=query-secret')
  await caller.post('/v1/identity/login?token=query-secret', {
    email: 'a@b.example',
    password: 'body-secret',
  })
  await caller.post('/v1/identity/login', { email: 'body-secret' })
  await app.operator.get('/v1/stores?q=query-secret')
  assert.ok(lines.length >= 5, text())
  assert.ok(!text().includes('-secret'), text())
  assert.match(text(), /"route":"\/v1\/stores\/:tenant\/audit"/)
  assert.match(text(), /"route":"none","path":"\/nothing\/here"/, 'an unknown path has no pattern')
})

test('a flood of unknown paths is logged twenty times a second, and the next line counts the others', async (t) => {
  const { logger, lines } = openLog()
  const app = await openTestApp(t, { logger })
  const unknown = () =>
    lines.filter((line) => line.includes('"route":"none"')).map((line) => JSON.parse(line))
  const began = performance.now()
  const answers = await Promise.all(Array.from({ length: 300 }, () => app.anyone.get('/nothing')))
  assert.ok(answers.every(({ status }) => status === 404))
  const logged = unknown().length
  const seconds = 2 + Math.floor((performance.now() - began) / 1_000)
  assert.ok(logged >= 20 && logged <= 20 * seconds, `${logged} lines in ${seconds} s`)
  await eventually(async () => {
    await app.anyone.get('/nothing')
    const counted = unknown().reduce((sum, line) => sum + 1 + (line.left_out ?? 0), 0)
    assert.ok(unknown().length > logged && counted > 300)
  })
})

describe('a log line', () => {
  const long = 'x'.repeat(2_000_000)

  test('has a bounded length, whatever it is about', () => {
    const { logger, lines } = openLog()
    const error = Object.assign(new Error(long, { cause: new Error(long) }), { code: long })
    error.name = long
    logger.info({ type: long, list: Array(10_000).fill(long), err: error }, long)
    logger.info(long)
    logger.info('about %s', long)
    logger.child({ bound: long }).info('a child')
    logger.warn({ tenant: long, cause: error }, long)
    assert.equal(lines.length, 5)
    for (const line of lines) {
      assert.ok(line.length < 100_000, `${line.length}`)
      JSON.parse(line)
    }
    assert.match(lines[0] ?? '', /x… \(2000000 characters\)/)
  })

  test('a log line of a warning is written once for a store and time, then with its number', async () => {
    const lines: { tenant?: string; msg: string; n: number; repeated?: number }[] = []
    const write = (line: string) => void lines.push(JSON.parse(line))
    const logger = createLogger('trace', { write }, new RepeatedWarnings(100))
    for (let n = 0; n < 1_000; n += 1) {
      logger.warn({ tenant: 'acme', n }, 'odd')
      logger.warn({ tenant_ref: 'globex', n }, 'odd')
      logger.child({ reqId: n }).warn({ tenant: 'acme', n }, 'even')
    }
    logger.warn('alone')
    logger.warn('alone')
    assert.equal(lines.length, 4)
    assert.ok(lines.every(({ repeated }) => repeated === undefined))
    for (let n = 0; n < 3; n += 1) logger.error({ tenant: 'acme', n }, 'odd')
    assert.equal(lines.length, 7, 'alerts are never held back')
    await sleep(300)
    const last = lines.slice(7)
    assert.equal(last.length, 4)
    assert.deepEqual(
      last.map(({ repeated }) => repeated).sort((a = 0, b = 0) => a - b),
      [1, 999, 999, 999],
    )
    assert.ok(last.every(({ n, msg }) => n === 999 || msg === 'alone'))
    logger.warn({ tenant: 'acme', n: 0 }, 'odd')
    assert.equal(lines.length, 12)
  })
})
