import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { ERRORS } from '../../src/compose/errors.ts'
import type { ErrorCode } from '../../src/error-codes.ts'
import { readDocument } from '../../src/http/openapi.ts'
import { OPERATOR_TOKEN, openTestApp, STOREFRONT_TOKEN, type TestApp } from '../harness/app.ts'
import { type Callers, type Shot, shotsAt } from '../harness/fuzz-requests.ts'
import { startProcess } from '../harness/process.ts'
import { UUID } from '../harness/refusals.ts'

/** The test suite sends few; a run overnight sends 100,000. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 500)
/** Requests at the same time. */
const BATCH = 20
/** From this many on, every second batch goes to a process of its own, whose memory is watched. */
const MANY = 10_000
const GROWTH_MIB = 50

interface RawAnswer {
  status: number
  headers: Record<string, unknown>
  text: string
}

async function callersOf(app: TestApp): Promise<Callers> {
  const account = { email: 'fuzz@example.com', password: 'a password for tests', name: 'Fuzz' }
  const { body } = await app.anyone.post('/v1/identity/signup', account)
  return {
    public: {},
    operator: { 'x-operator-token': OPERATOR_TOKEN },
    storefront: { 'x-storefront-token': STOREFRONT_TOKEN },
    merchant: { authorization: `Bearer ${await app.key('acme')}` },
    owner: { authorization: `Bearer ${body.session.token}` },
    wrong: { authorization: 'Bearer fdk_nobody_nothing' },
  }
}

function send(url: string, agent: Agent, shot: Shot): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const { method, path, body } = shot
    // For a method without a body, the sent bytes would be read as another request.
    const lengthHeader = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const headers = { ...shot.headers, ...lengthHeader }
    // The address is set separately, because the client would normalise it.
    const sent = request({ hostname, port, path, agent, method, headers })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
      })
    })
    sent.end(body)
  })
}

/** The only 5xx that may occur: the machine may be too busy to count in time. */
const ALLOWED_FAILURES: ErrorCode[] = ['db_error']

function isWithinContract(shot: Shot, { status, headers, text }: RawAnswer) {
  const what = `${shot.method} ${shot.path}: ${status} ${text.slice(0, 300)}`
  assert.match(String(headers['x-correlation-id']), UUID, what)
  if (status < 400) return assert.ok(status === 304 || shot.declared.includes(status), what)
  assert.notEqual(status, 500, what)
  if (shot.method === 'HEAD') return
  // A page for people says that its link has ended.
  if (/^text\/html/.test(String(headers['content-type']))) return assert.equal(status, 404, what)
  const { error, ...rest } = JSON.parse(text)
  const code = error.code as ErrorCode
  assert.ok(code in ERRORS, what)
  assert.equal(status, ERRORS[code][0], what)
  assert.equal(typeof error.message, 'string', what)
  if (status >= 500) assert.ok(ALLOWED_FAILURES.includes(code), what)
  const { code: _, message, correlationId, ...others } = error
  assert.deepEqual(others, {}, what)
  if (correlationId !== undefined) assert.equal(correlationId, headers['x-correlation-id'], what)
  if (status === 401 || status === 404) assert.equal(correlationId, undefined, what)
  for (const issue of rest.issues ?? []) {
    assert.deepEqual(Object.keys(issue).toSorted(), ['message', 'path'], what)
  }
  assert.doesNotMatch(text, /node_modules|\.ts:\d|select |insert into/, what)
}

/** A process beside the app, and its memory. */
async function openOther(t: TestContext, { database }: TestApp, env: Record<string, string>) {
  const { url: DATABASE_URL, secretKey: SECRET_KEY } = database
  const secrets = { SECRET_KEY, OPERATOR_TOKEN, STOREFRONT_TOKEN }
  const started = await startProcess(t, { role: 'api', env: { ...env, ...secrets, DATABASE_URL } })
  const { url } = await started.ready()
  const mebibytes = () => {
    const status = readFileSync(`/proc/${started.child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024
  }
  return { url, mebibytes }
}

test(`none of ${RUNS} random requests gets an answer outside of the contract`, async (t) => {
  const env = { RATE_LIMIT_FAILED_PER_MINUTE: '1000000', RATE_LIMIT_MY_PER_MINUTE: '1000000' }
  const app = await openTestApp(t, { env })
  await app.store('globex')
  const callers = await callersOf(app)
  const document = await readDocument(app.app)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.after(() => agent.destroy())
  const other = RUNS < MANY ? null : await openOther(t, app, env)
  const counts = new Map<number, number>()
  let batches = 0
  const property = fc.asyncProperty(
    fc.array(shotsAt(app.app.routeTable, document, callers), {
      minLength: BATCH,
      maxLength: BATCH,
    }),
    async (batch) => {
      const url = other !== null && batches++ % 2 === 1 ? other.url : app.url
      const hits = await Promise.all(batch.map((shot) => send(url, agent, shot)))
      for (const [n, hit] of hits.entries()) {
        counts.set(hit.status, (counts.get(hit.status) ?? 0) + 1)
        isWithinContract(batch[n] as Shot, hit)
      }
    },
  )
  const shoot = (runs: number) =>
    fc.assert(property, { numRuns: Math.ceil(runs / BATCH), endOnFailure: RUNS >= MANY })
  await shoot(RUNS / 10)
  const warm = other?.mebibytes() ?? 0
  await shoot(RUNS - RUNS / 10)
  const grown = Math.round((other?.mebibytes() ?? 0) - warm)
  t.diagnostic(`statuses ${JSON.stringify(Object.fromEntries(counts))}, memory +${grown} MiB`)
  assert.ok(grown <= GROWTH_MIB, `it has grown by ${grown} MiB`)
  assert.equal((await app.anyone.get('/healthz')).status, 200)
  assert.ok((counts.get(200) ?? 0) > RUNS / 10, 'enough must be right to reach the handlers')
})
